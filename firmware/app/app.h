/* app.h: the microcontroller's end of the motion link, without I/O.
 *
 * Bytes and a time go in, bytes and a state come out. The core knows no socket, clock, thread, motor or heap; a shell
 * around it has those:
 *
 *   boot          rl_app_init()
 *   a datagram    rl_app_receive(); if there is a reply: rl_echo_stamp(), and send it to where the datagram came from
 *   control_hz    rl_app_control(), with what the board measures; what it gives goes to the motors
 *   state_hz      rl_app_state(); what it returns: send it to *to
 *   a fault       rl_app_fault_raise() while its cause is there, rl_app_fault_lower() when that is gone
 *
 * docs/protocol.md says what all of this does; common/robot_link.h lays out the bytes.
 *
 * Ownership: the caller provides rl_app_t and keeps it where it is; there is no other state, so a process may run as
 * many as it likes. Its fields are for the core's own files: read them through the functions below.
 *
 * Threads: none of the functions locks, waits, or takes longer than some microseconds on a 550 MHz Cortex-M7 (what
 * there is to wait for is the CRC of one datagram). A shell that calls from several threads or interrupts puts each
 * call on one rl_app_t into the same critical section. rl_echo_stamp() touches only the reply and needs none.
 *
 * Time: now_us is microseconds of one monotonic clock since boot, for every function the same clock; it may wrap. A
 * thread may pass a time that is somewhat older than what another has passed before: what is stamped later than "now"
 * just has age 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_APP_H
#define RL_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "counters.h"
#include "drive.h"
#include "events.h"
#include "motion.h"
#include "robot_link.h"
#include "safety.h"
#include "session.h"

/* Random numbers that the shell draws at each boot. */
typedef struct {
  uint32_t boot_id;       /* shows a reboot to the host */
  uint16_t session_start; /* number of the first session; 0 counts as 1 */
  uint8_t odom_epoch;     /* shows that odometry began again */
} rl_entropy_t;

typedef struct {
  rl_config_t config;
  uint32_t boot_id;
  uint16_t sessions_left; /* numbers that no session of this boot id has had */
  uint32_t state_seq;     /* of the last STATE built */
  uint8_t odom_epoch;
  rl_session_t session;
  rl_safety_t safety;
  rl_motion_t motion;
  rl_drive_t drive;
  uint32_t seen_causes; /* of faults, as the last control step saw them; one bit for each RL_FAULT_ */
  rl_events_t events;
  rl_counters_t counters;
} rl_app_t;

/* From here nothing is held, enabled, or moving. A configuration that rl_config_check() refuses is not used: the robot
 * then shows itself with the default's figures and v_max = w_max = 0, and never moves. */
void rl_app_init(rl_app_t *app, const rl_config_t *config, rl_entropy_t entropy, uint64_t now_us);

/* Takes one datagram as it came, whole: one cut short by the shell's buffer counts as a CRC error, so that buffer
 * should hold more than RL_PACKET_MAX bytes. Returns the length of the reply, which goes to `from`; 0 = none. A reply
 * is never longer than its datagram. `reply` may be the same memory as `datagram`. */
size_t rl_app_receive(rl_app_t *app, uint64_t now_us, rl_addr_t from, const uint8_t *datagram, size_t len,
                      uint8_t reply[RL_PACKET_MAX]);

/* One control step, nominally control_hz times a second: from what the board measures now to what it is to do until
 * the next one. It uses the time that really passed; a time before the last step's counts as no time passed. Without
 * wheels (wheel_count 0) only the setpoint and `motors_on` are meant. */
void rl_app_control(rl_app_t *app, uint64_t now_us, const rl_inputs_t *in, rl_outputs_t *out);

/* Builds the next STATE, nominally state_hz times a second, for the host that holds the robot, also if it is silent.
 * Returns its length; 0 before the first grant, and then *to is not set. */
size_t rl_app_state(rl_app_t *app, uint64_t now_us, rl_addr_t *to, uint8_t out[RL_PACKET_MAX]);

/* Completes a reply just before it is sent, if it is an ECHO_REPLY: t3, the core cycles since the datagram was received
 * (0 = not measured), and the CRC again. Any other reply stays as it is. */
void rl_echo_stamp(uint8_t *reply, uint64_t tx_us, uint32_t cycles);

/* Raises RL_FAULT_ `fault`: motion is disabled, the setpoint ramps to zero. To be called once or again and again while
 * the cause is there. The fault is active until CLEAR_FAULT rises *after* rl_app_fault_lower(): while its cause is
 * there no host can clear it, and a host that holds CLEAR_FAULT meanwhile has to let it fall and rise once more.
 * What only happens (a watchdog reset) is raised and at once lowered: then it stays until it is cleared. */
void rl_app_fault_raise(rl_app_t *app, uint8_t fault);

/* The cause of RL_FAULT_ `fault` is gone. Does not end the fault. */
void rl_app_fault_lower(rl_app_t *app, uint8_t fault);

/* What the base shall do now, after clamp and ramp: always finite, never above the limits. */
rl_setpoint_t rl_app_setpoint(const rl_app_t *app);

/* RL_STATUS_ bits, as STATE would say them now. */
uint32_t rl_app_status(const rl_app_t *app, uint64_t now_us);

/* Whether the motor drivers are to be powered: while enabled, and afterwards until the setpoint has ramped to zero and
 * the wheels stand, a second later at most. Off from boot. */
bool rl_app_outputs_on(const rl_app_t *app);

/* Valid as long as `app`; counters.h says what they mean. */
const rl_counters_t *rl_app_counters(const rl_app_t *app);

#endif /* RL_APP_H */
