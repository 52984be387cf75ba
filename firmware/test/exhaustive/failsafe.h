/* failsafe.h: whether the robot may move, and how it stops: the whole core beside a past that docs/protocol.md alone
 * was read for.
 *
 * failsafe.c searches; failsafe_rules.c keeps the past and judges by what the core shows: setpoint, outputs, status,
 * counters, replies, STATE. Datagrams go in whole.
 *
 * The robots are small, so that their states are few: a control step changes the speed by exactly one unit, and there
 * are three of them to the limit, or one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FAILSAFE_H
#define FAILSAFE_H

#include "app.h"

#define MS UINT64_C(1000)
#define FAULTS 3u
#define VALUES 6u /* at most */

/* What a CMD says, and what that comes to, worked out by hand. */
typedef struct {
  const char *name;
  float v[3];
  float want_v;
  float want_w;
  bool limited;
} value_t;

/* A robot and what it is put to. Its ramps are 1000 m/s^2 and 1000 rad/s^2, its control rate is 1000 Hz, so that limits
 * are the same number in m/s or rad/s and in control steps. */
typedef struct {
  const char *name;
  uint8_t v_max;
  uint8_t w_max;
  uint8_t timeout_ms;
  uint16_t flags;         /* all combinations of these */
  uint8_t faults[FAULTS]; /* each with and without its cause; 0 = none */
  value_t values[VALUES];
  uint8_t value_count; /* the last one is what CMDs say that must not be heard */
} rig_t;

/* The one that is searched. */
extern const rig_t *rig;

/* What was seen of a flag in this session's valid CMDs: the last one, if any. */
typedef enum { SEEN_NOTHING, SEEN_CLEAR, SEEN_SET } seen_t;

/* What happened so far, as an observer of wire, clock and faults notes it. */
typedef struct {
  bool held; /* there was a grant: down to reset_odom is meant */
  uint16_t session;
  rl_addr_t addr;
  uint64_t nonce;
  uint64_t heard_us; /* host's clock */
  uint64_t life_us;  /* last valid CMD, or grant */
  uint32_t last;
  bool any_used;
  bool any_valid;
  seen_t enable;
  seen_t clear_fault;
  seen_t reset_odom;

  bool armed; /* ENABLE rose, and nothing that ends it happened since */
  bool estop;
  uint32_t faults;
  uint32_t causes;

  bool commanded; /* there was a valid CMD: down to limited is meant */
  uint64_t commanded_us;
  bool meant;   /* MOTION_VALID */
  float want_v; /* clamped */
  float want_w;
  bool limited;

  bool stepped; /* there was a control step */
  uint64_t stepped_us;
} past_t;

typedef struct {
  rl_app_t app;
  past_t past;
  uint64_t clock_us;
} failsafe_t;

/* A datagram, and what an observer knows of it. */
typedef struct {
  uint8_t bytes[RL_PACKET_MAX];
  size_t len;
  rl_addr_t from;
  bool well_formed; /* passes the checks before the session */
  bool finite;
  bool late; /* by more than the timeout above the smallest delay, if there is one */
  const value_t *value;
} datagram_t;

void failsafe_cmd(failsafe_t *robot, const datagram_t *datagram);
void failsafe_hello(failsafe_t *robot, const datagram_t *datagram);
void failsafe_control(failsafe_t *robot);
void failsafe_raise(failsafe_t *robot, uint8_t fault);
void failsafe_lower(failsafe_t *robot, uint8_t fault);

/* What has to hold at any time, whatever happened last. `events` are those of STATUS bits 2, 3, 9, 10, 13, 14 that
 * happened since the events were last forgotten. */
void failsafe_check(const failsafe_t *robot, uint32_t events);

/* From here: left alone it comes to rest in time; somebody gets it going again; but not over a cause that persists. */
void failsafe_check_ahead(const failsafe_t *robot);

#define FAILSAFE_RULES(X)                                                                                             \
  X(ENABLED_ONLY, "ENABLED only after ENABLE rose in this session, since the last fall, ESTOP, fault and takeover")   \
  X(ENABLED_THEN, "and then always: a command timeout, say, does not disable")                                        \
  X(ESTOP_LATCHES, "ESTOP latches by the flag in any well-formed CMD, whoever sent it")                               \
  X(ESTOP_ENDS, "ESTOP ends when the holder's CLEAR_FAULT rises with its ESTOP flag clear, and by nothing else")      \
  X(FAULT_LATCHES, "FAULT latches when a cause comes up, and outlasts it")                                            \
  X(FAULT_ENDS, "FAULT ends when the same CLEAR_FAULT rises, except those whose cause is still there")                \
  X(MALFORMED, "a CMD with a wrong CRC, length or version does nothing at all, ESTOP or not")                         \
  X(UNHEARD, "a CMD that is foreign, old, stale or not finite leaves command and setpoint as they are")               \
  X(TAKEOVER, "a takeover disables, and leaves ESTOP, faults, command and setpoint as they are")                      \
  X(HELLO_ANSWER, "INFO gives the right reason, and the session only when granted")                                   \
  X(LIMITS, "the setpoint is finite and within the limits, and a differential drive's never sideways")                \
  X(ONLY_STEPS, "nothing but a control step changes the setpoint")                                                    \
  X(RAMP, "a control step changes the setpoint by at most what the time that passed allows")                          \
  X(RISE, "and makes it faster by at most what two periods allow")                                                    \
  X(STOPPING, "not allowed to move: slower by the full ramp, never faster or the other way, and exactly 0 at its end")\
  X(FOLLOWING, "allowed to move: towards the command by the full ramp, never beyond, and exactly there at its end")   \
  X(OUTPUTS, "the outputs are on if enabled or moving, off at rest when disabled")                                    \
  X(STATUS_TIMEOUT, "CMD_TIMEOUT: no valid CMD yet, or the last one is as old as the timeout")                        \
  X(STATUS_IDLE, "CMD_IDLE: the last valid CMD is younger, and its MOTION_VALID is clear")                            \
  X(STATUS_LIMITED, "LIMITED: it is younger, meant, and was clamped")                                                 \
  X(STATUS_MOVING, "MOVING: the setpoint is not zero")                                                                \
  X(STATUS_EVENTS, "SEQ_GAP, CRC_ERROR, CONTENTION, OVERRUN, BAD_COMMAND, STALE: what just happened, no more")        \
  X(STATUS_REST, "no other status bit is ever set")                                                                   \
  X(COUNTED, "each datagram adds one to the counter that is meant, and to no other")                                  \
  X(RESET_ODOM, "odom_epoch steps when RESET_ODOM rises in a session, and by nothing else")                           \
  X(STATE_TO, "STATE goes to the holder, with its session; nowhere before the first grant")                           \
  X(STATE_SAYS, "STATE's status, first fault and cmd_age_us are right")                                               \
  X(REST_IN_TIME, "from every state, left alone: at rest within the stop bound of the last valid CMD")                \
  X(REST_STAYS, "and then at rest for good")                                                                          \
  X(RECOVERS, "from every state, with no cause left: HELLO, CMDs, CLEAR_FAULT, ENABLE get it to full speed")          \
  X(CAUSE_HOLDS, "from every state with a cause left: the same gets nothing moving")                                  \
  X(FS_REDUCTION, "the same step from elsewhere in time and numbers, with other junk, leads to the same state")

enum {
#define X(name, text) RULE_##name,
  FAILSAFE_RULES(X)
#undef X
      FAILSAFE_RULE_COUNT
};

/* Inputs: failsafe_inputs.c. */

enum { ADDR_HOLDER, ADDR_OTHER_PORT, ADDR_OTHER, ADDRS };

/* All that is said not to matter, in some ways: keys become objects at each of these places. */
typedef struct {
  uint64_t clock_us;
  uint16_t session;
  uint32_t last;     /* once a number was used up; before it is 0 */
  uint64_t heard_us; /* host's clock */
  uint64_t floor_us; /* smallest delay */
  uint64_t nonce;
  rl_addr_t addrs[ADDRS];
  bool junk; /* in whatever is not looked at */
} place_t;

#define PLACES 2u
#define RESERVED_FLAGS 0xFFE0u

extern const place_t places[PLACES];

/* For `rig`; returns how many there are. */
uint32_t failsafe_make_inputs(void);

void failsafe_feed(failsafe_t *robot, uint32_t number, size_t place);
void failsafe_print_input(uint32_t number);

#endif /* FAILSAFE_H */
