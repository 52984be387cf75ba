/* numbers.c: the session numbers of a boot, all of them, from several starts, and what becomes of the robot when they
 * are used up. A loop, since there is only one way to get there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "../control.h"
#include "models.h"
#include "packet.h"

#define NUMBERS 65535u
#define MS UINT64_C(1000)
#define BOOT_ID 77u

#define RULES(X)                                                                                          \
  X(GRANTED, "a restarted host is granted a session, whatever number it is")                              \
  X(NOT_0, "no session has the number 0")                                                                 \
  X(NEW, "no number comes twice with the same boot id")                                                   \
  X(KEPT, "the boot id stays as long as there are numbers")                                               \
  X(HOLDERS, "the last holder's own HELLO is still answered with its session and boot id")                \
  X(REFUSED, "somebody who is refused changes nothing")                                                   \
  X(RENEWED, "the grant after the last number shows another boot id")                                     \
  X(LATCHED, "that ends neither ESTOP nor a fault, and enables nothing")                                   \
  X(AT_ONCE, "whatever the last holder did, another gets the robot as soon as it is silent, not before")

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
  uint64_t nonce;
} mcu_t;

static const rl_addr_t holder = {.ip = 1, .port = RL_PORT_HOST};
static const rl_addr_t other = {.ip = 2, .port = RL_PORT_HOST};

static void boot(mcu_t *mcu, uint16_t start) {
  const rl_config_t config = rl_config_default();
  const rl_entropy_t entropy = {.boot_id = BOOT_ID, .session_start = start};
  memset(mcu, 0, sizeof(*mcu));
  rl_app_init(&mcu->app, &config, entropy, 0);
}

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

/* All the numbers of one boot id, the last of which the robot's holder then has. */
static void use_up(mcu_t *mcu, uint32_t boot_id) {
  static bool used[NUMBERS + 1u];
  memset(used, 0, sizeof(used));
  for (uint32_t i = 0; i < NUMBERS; i++) {
    mcu->nonce++;
    const rl_info_t info = ask(mcu, holder, mcu->nonce);
    expect(RULE_GRANTED, info.reason == RL_REASON_GRANTED);
    expect(RULE_NOT_0, info.session != 0u);
    expect(RULE_NEW, !used[info.session]);
    expect(RULE_KEPT, info.boot_id == boot_id);
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
    control(&mcu->app, mcu->now_us);
    if (lives[life].count != 0u) { /* or it is silent */
      const rl_info_t info = ask(mcu, other, 7);
      expect(RULE_REFUSED, (info.reason == RL_REASON_HELD) && (info.boot_id == BOOT_ID));
    }
  }
  rl_app_fault_raise(&mcu->app, lives[life].fault);
}

static void check_life(mcu_t mcu, size_t life) {
  const uint32_t latches = RL_STATUS_ESTOP | RL_STATUS_FAULT;
  live(&mcu, life);
  const uint64_t silent_us = mcu.app.session.alive_us + (mcu.app.config.cmd_timeout_ms * MS);
  const uint32_t before = rl_app_status(&mcu.app, mcu.now_us) & latches;
  while (mcu.now_us < silent_us) {
    expect(RULE_AT_ONCE, ask(&mcu, other, 7).reason == RL_REASON_HELD);
    mcu.now_us += MS;
    control(&mcu.app, mcu.now_us);
  }
  const rl_info_t info = ask(&mcu, other, 7);
  expect(RULE_AT_ONCE, info.reason == RL_REASON_GRANTED);
  expect(RULE_RENEWED, info.boot_id != BOOT_ID);
  const uint32_t after = rl_app_status(&mcu.app, mcu.now_us);
  expect(RULE_LATCHED, (before == (after & latches)) && ((after & RL_STATUS_ENABLED) == 0u));
}

static void check_used_up(mcu_t *mcu) {
  const rl_info_t again = ask(mcu, holder, mcu->nonce);
  expect(RULE_HOLDERS, (again.reason == RL_REASON_GRANTED) && (again.session == mcu->session));
  expect(RULE_HOLDERS, again.boot_id == BOOT_ID);
  for (size_t life = 0; life < sizeof(lives) / sizeof(lives[0]); life++) {
    check_life(*mcu, life);
  }
}

static void run(void) {
  static const uint16_t starts[] = {0, 1, 2, 700, 32768, 65534, 65535};
  static mcu_t mcu;
  for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
    boot(&mcu, starts[i]);
    use_up(&mcu, BOOT_ID);
    check_used_up(&mcu);
    use_up(&mcu, BOOT_ID + 1u);
    use_up(&mcu, BOOT_ID + 2u);
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
