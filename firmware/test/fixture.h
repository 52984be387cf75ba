/* fixture.h: an MCU and hosts that talk to it, with the time in the test's hands.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "app.h"
#include "control.h"

#define MS UINT64_C(1000)
#define SECOND UINT64_C(1000000)

#define ENABLE ((uint16_t)RL_CMD_ENABLE)
#define VALID ((uint16_t)RL_CMD_MOTION_VALID)
#define ESTOP ((uint16_t)RL_CMD_ESTOP)
#define CLEAR ((uint16_t)RL_CMD_CLEAR_FAULT)
#define RESET ((uint16_t)RL_CMD_RESET_ODOM)
#define GO ((uint16_t)(RL_CMD_ENABLE | RL_CMD_MOTION_VALID))

#define FIRST_SESSION 700
#define BOOT_ID 0xB0071D00u
#define ODOM_EPOCH 250

/* An MCU under test, and its last reply. */
typedef struct {
  rl_app_t app;
  uint64_t now_us;
  uint8_t reply[RL_PACKET_MAX];
  size_t reply_len;
  rl_addr_t state_to; /* where the last STATE went */
} robot_t;

/* A host. Its clock is the MCU's plus clock_us, which may be anything. */
typedef struct {
  rl_addr_t addr;
  uint64_t nonce;
  uint64_t clock_us;
  uint32_t hello_seq; /* last sent */
  uint16_t session;   /* granted; 0 = none */
  uint32_t seq;       /* of the last CMD */
} host_t;

/* A robot on wheels. It is the tests' own: robot_config.h is the user's. */
rl_config_t test_robot(void);

/* Boots with the default configuration, or another one, or at another time. */
void boot(robot_t *robot);
void boot_with(robot_t *robot, const rl_config_t *config, uint64_t now_us);

/* A host at 10.0.0.`ip`, port 5001, that has not said anything. */
host_t new_host(uint8_t ip);

/* Delivers `len` bytes from the host, as they are; or after giving them their CRC. The reply is in `robot`. */
void deliver(robot_t *robot, const host_t *host, const void *datagram, size_t len);
void deliver_finished(robot_t *robot, const host_t *host, void *packet, size_t len);

/* The next HELLO of this host, ready to be changed; and that HELLO delivered: its INFO. What is granted the host takes,
 * its CMD sequence then begins again. */
rl_hello_t make_hello(const robot_t *robot, host_t *host);
rl_info_t say(robot_t *robot, host_t *host, rl_hello_t hello);
rl_info_t say_hello(robot_t *robot, host_t *host);

/* The next CMD of this host, ready to be changed; and that CMD delivered. */
rl_cmd_t make_cmd(const robot_t *robot, host_t *host, uint16_t flags);
void send_cmd(robot_t *robot, const host_t *host, rl_cmd_t cmd);
void tell(robot_t *robot, host_t *host, float vx, float vy, float wz, uint16_t flags);

/* Takes and enables the robot: HELLO, a CMD with no flag, one with ENABLE. */
void take(robot_t *robot, host_t *host);

/* Lets time pass, with a control step each millisecond; and with a CMD each 10 ms, the first at once. */
void run(robot_t *robot, uint32_t ms);
void drive(robot_t *robot, host_t *host, float vx, float vy, float wz, uint16_t flags, uint32_t ms);

/* The next STATE; and whether all of these status bits are set, or any of them is. */
rl_state_t state(robot_t *robot);
bool all(const robot_t *robot, uint32_t bits);
bool any(const robot_t *robot, uint32_t bits);

/* |(vx, vy)| of the setpoint. */
double speed(const robot_t *robot);

/* Checks the equation of counters.h. */
void check_counters(const robot_t *robot);

/* xorshift64*: *seed is any number but 0. And a number below `bound`, and one in [0, 1). */
uint64_t random_u64(uint64_t *seed);
uint32_t random_below(uint64_t *seed, uint32_t bound);
double random_unit(uint64_t *seed);

#endif /* FIXTURE_H */
