/* numbers.c: the session numbers of a boot, all of them, from several starts, and what becomes of the robot when they
 * are used up. A loop, since there is only one way to get there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "models.h"
#include "packet.h"

#define NUMBERS 65535u
#define MS UINT64_C(1000)
#define PATIENCE_MS 10000u /* much longer than timeout and ramp */

#define RULES(X)                                                                                                \
  X(GRANTED, "a restarted host is granted a session, as long as there are numbers")                             \
  X(NOT_0, "no session has the number 0")                                                                       \
  X(NEW, "no number comes twice in a boot")                                                                     \
  X(USED_UP, "when all are used up nobody new is granted the robot (reason 3)")                                 \
  X(KEPT, "the last holder's own HELLO is still answered with its session")                                     \
  X(RESET_ONLY, "a reset is wanted only after somebody was refused, with nobody commanding and at rest")        \
  X(RESET_COMES, "whatever the last holder did, once it is silent and another asks, a reset is wanted in time")

enum {
#define X(name, text) RULE_##name,
  RULES(X)
#undef X
      RULE_COUNT
};

typedef struct {
  rl_app_t app;
  uint64_t now_us;
  uint16_t session;
  uint32_t seq;
} mcu_t;

static const rl_addr_t holder = {.ip = 1, .port = RL_PORT_HOST};
static const rl_addr_t other = {.ip = 2, .port = RL_PORT_HOST};

static rl_info_t ask(mcu_t *mcu, rl_addr_t from, uint64_t nonce) {
  rl_hello_t hello = {
      .header = rl_packet_header(RL_TYPE_HELLO, 0, 1, mcu->now_us + nonce),
      .version_min = RL_VERSION_MIN,
      .version_max = RL_VERSION_MAX,
      .want = RL_WANT_ROBOT,
      .nonce = nonce,
  };
  rl_packet_finish((uint8_t *)&hello, sizeof(hello));
  uint8_t reply[RL_PACKET_MAX];
  (void)rl_app_receive(&mcu->app, mcu->now_us, from, (const uint8_t *)&hello, sizeof(hello), reply);
  rl_info_t info;
  memcpy(&info, reply, sizeof(info));
  return info;
}

static void tell(mcu_t *mcu, uint16_t flags) {
  mcu->seq++;
  rl_cmd_t cmd = {
      .header = rl_packet_header(RL_TYPE_CMD, mcu->session, mcu->seq, mcu->now_us), .vx = 1, .flags = flags};
  rl_packet_finish((uint8_t *)&cmd, sizeof(cmd));
  uint8_t reply[RL_PACKET_MAX];
  (void)rl_app_receive(&mcu->app, mcu->now_us, holder, (const uint8_t *)&cmd, sizeof(cmd), reply);
}

static bool is_at_rest(const mcu_t *mcu) {
  const rl_setpoint_t setpoint = rl_app_setpoint(&mcu->app);
  return (setpoint.vx == 0.0F) && (setpoint.vy == 0.0F) && (setpoint.wz == 0.0F);
}

static bool reset_wanted(const mcu_t *mcu) { return rl_app_reset_wanted(&mcu->app, mcu->now_us); }

/* Up to the last number. */
static void use_up(mcu_t *mcu, uint16_t start) {
  static bool used[NUMBERS + 1u];
  memset(used, 0, sizeof(used));
  const rl_config_t config = rl_config_default();
  const rl_entropy_t entropy = {.session_start = start};
  memset(mcu, 0, sizeof(*mcu));
  rl_app_init(&mcu->app, &config, entropy, 0);
  for (uint32_t nonce = 1; nonce <= NUMBERS; nonce++) {
    const rl_info_t info = ask(mcu, holder, nonce);
    expect(RULE_GRANTED, info.reason == RL_REASON_GRANTED);
    expect(RULE_NOT_0, info.session != 0u);
    expect(RULE_NEW, !used[info.session]);
    used[info.session] = true;
    mcu->session = info.session;
  }
}

#define SET(flag) ((uint16_t)RL_CMD_##flag)

/* What the last holder says before it falls silent. */
static const struct {
  const char *name;
  uint16_t flags[4];
  uint32_t count;
  uint8_t fault;
} lives[] = {
    {"no CMD at all", {0}, 0, 0},
    {"does not enable", {0, 0}, 2, 0},
    {"enables, commands no motion", {0, SET(ENABLE)}, 2, 0},
    {"moves", {0, SET(ENABLE) | SET(MOTION_VALID)}, 2, 0},
    {"moves, then disables", {0, SET(ENABLE) | SET(MOTION_VALID), SET(MOTION_VALID)}, 3, 0},
    {"moves, then ESTOP", {0, SET(ENABLE) | SET(MOTION_VALID), SET(ESTOP)}, 3, 0},
    {"moves, then a fault", {0, SET(ENABLE) | SET(MOTION_VALID)}, 2, RL_FAULT_STALL},
};

/* With a CMD each 10 ms, the last flags repeated. */
static void live(mcu_t *mcu, size_t life) {
  for (uint32_t ms = 0; ms < 300u; ms++) {
    const uint32_t i = ms / 10u;
    const uint32_t last = lives[life].count - 1u;
    if ((lives[life].count != 0u) && (ms % 10u == 0u)) {
      tell(mcu, lives[life].flags[(i < last) ? i : last]);
    }
    mcu->now_us += MS;
    rl_app_control(&mcu->app, mcu->now_us);
    if (ms > 200u) {
      expect(RULE_USED_UP, ask(mcu, other, 7).reason == RL_REASON_HELD);
    }
    if (lives[life].count != 0u) { /* or nobody commands it */
      expect(RULE_RESET_ONLY, !reset_wanted(mcu));
    }
  }
  rl_app_fault_raise(&mcu->app, lives[life].fault);
}

static void check_life(mcu_t mcu, size_t life) {
  live(&mcu, life);
  bool wanted = false;
  for (uint32_t ms = 0; (ms < PATIENCE_MS) && !wanted; ms++) {
    mcu.now_us += MS;
    rl_app_control(&mcu.app, mcu.now_us);
    if (ms % 20u == 0u) {
      expect(RULE_USED_UP, ask(&mcu, other, 7).reason == RL_REASON_HELD);
    }
    wanted = reset_wanted(&mcu);
    expect(RULE_RESET_ONLY, !wanted || is_at_rest(&mcu));
  }
  static bool printed[sizeof(lives) / sizeof(lives[0])];
  if (!wanted && !printed[life]) {
    printed[life] = true;
    (void)printf("  numbers used up, the last holder %s, then is silent: no reset in %u ms\n", lives[life].name,
                 PATIENCE_MS);
  }
  expect(RULE_RESET_COMES, wanted);
}

static void check_used_up(mcu_t *mcu) {
  expect(RULE_RESET_ONLY, !reset_wanted(mcu)); /* nobody asked */
  const rl_info_t again = ask(mcu, holder, NUMBERS);
  expect(RULE_KEPT, (again.reason == RL_REASON_GRANTED) && (again.session == mcu->session));
  expect(RULE_RESET_ONLY, !reset_wanted(mcu));
  for (size_t life = 0; life < sizeof(lives) / sizeof(lives[0]); life++) {
    check_life(*mcu, life);
  }
  const rl_info_t refused = ask(mcu, holder, NUMBERS + 1u);
  expect(RULE_USED_UP, (refused.reason == RL_REASON_HELD) && (refused.session == 0u));
  expect(RULE_RESET_COMES, reset_wanted(mcu)); /* as booted: at rest, nobody has commanded it */
}

static void run(void) {
  static const uint16_t starts[] = {0, 1, 2, 700, 32768, 65534, 65535};
  static mcu_t mcu;
  for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
    use_up(&mcu, starts[i]);
    check_used_up(&mcu);
  }
}

tally_t check_numbers(void) {
  static const char *const rules[] = {
#define X(name, text) text,
      RULES(X)
#undef X
  };
  const model_t model = {.name = "Session numbers", .rules = rules, .rule_count = RULE_COUNT};
  return explore_once(&model, run);
}
