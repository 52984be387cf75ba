/* failsafe.c: every state in which enable, ESTOP, faults, command and ramp can be together, and what leads from one to
 * another: CMDs with all combinations of flags, from whomever, HELLOs, faults, control steps, and waiting.
 *
 * What makes the state space finite, and why that is sound for the core as it is:
 *
 * - Time goes in whole milliseconds: a control step each, or later ones, or none for 200 ms. Borders of less than that
 *   are holder.c's. Where the clock stands is free, since the core only subtracts stamps.
 * - The age of the command, and that of life, are only asked whether they have reached the timeout; they grow until set
 *   anew. Once it has, the command, MOTION_VALID and LIMITED are not looked at again: the next valid CMD sets all of
 *   them. Never commanded is the same. While MOTION_VALID is clear, command and LIMITED are not looked at either.
 * - The time since the last control step counts as far as the ramp can use it: all the way down, and two periods up.
 * - The speeds are whole numbers of what one period allows: the limits of the ramp are powers of ten, so that the
 *   doubles are exact (the key holds them bit by bit, and would show it otherwise).
 * - Of the flags seen, only ENABLE, CLEAR_FAULT and RESET_ODOM act on their edge; not seen and seen set are the same.
 * - The holder's address is only compared: whoever takes over is called the holder from then on.
 * - Session, sequence, host's clock and floor: as in holder.c. A CMD's delay is the session's smallest, or stale.
 * - Events are forgotten before each input: nothing reads them but the status. So a bit says what just happened; that
 *   it goes away after a second is not looked at here.
 *
 * As in holder.c, rule FS_REDUCTION is that objects that differ in all of that end in the same next key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "failsafe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "models.h"
#include "packet.h"

#define STEP_OLD_MS ((uint64_t)rig->v_max + 2u) /* all the way down, and two periods up; v_max is not below w_max */

/* Every field is in the key: a new one has to be put there. But for the wheels: this robot has none. */
_Static_assert(sizeof(rl_safety_t) == 16u, "rl_safety_t has changed");
_Static_assert((sizeof(void *) != 8u) || (sizeof(rl_motion_t) == 72u + sizeof(rl_kinematics_t)), "rl_motion_t has changed");

typedef struct {
  double ramp[3];
  float command[3];
  float want[2];
  uint32_t code_faults;
  uint32_t code_causes;
  uint32_t faults;
  uint32_t causes;
  uint8_t held; /* where there are two: code_ is the code's, the other the past's */
  uint8_t code_held;
  uint8_t any_used;
  uint8_t code_any_used;
  uint8_t any_valid;
  uint8_t code_any_valid;
  uint8_t differs; /* which of session, address, nonce, host's clock and sequence do; 0 if all is well */
  uint8_t life_age; /* ms, as all ages */
  uint8_t code_life_age;
  uint8_t armed;
  uint8_t code_enabled;
  uint8_t estop;
  uint8_t code_estop;
  uint8_t clear; /* those of the flags with an edge that were seen clear */
  uint8_t code_clear;
  uint8_t command_age;
  uint8_t code_command_age;
  uint8_t meant;
  uint8_t code_meant;
  uint8_t limited;
  uint8_t code_limited;
  uint8_t step_age;
  uint8_t code_step_age;
  uint8_t stepped;
  uint8_t code_stepped;
  uint8_t zero[3];
} failsafe_key_t;

_Static_assert((sizeof(failsafe_key_t) % 8u == 0u) && (sizeof(failsafe_key_t) <= KEY_MAX), "a key is whole words");

#define EDGE_FLAGS ((uint32_t)(RL_CMD_ENABLE | RL_CMD_CLEAR_FAULT | RL_CMD_RESET_ODOM))

#define OLDER_US (UINT64_C(1000) * MS)

const rig_t *rig;

static rl_app_t booted[PLACES];

static void boot(void) {
  for (size_t place = 0; place < PLACES; place++) {
    rl_config_t config = rl_config_default();
    config.drive = RL_DRIVE_DIFFERENTIAL;
    config.v_max = rig->v_max;
    config.w_max = rig->w_max;
    config.a_lin = 1000;
    config.a_ang = 1000;
    config.cmd_timeout_ms = rig->timeout_ms;
    const rl_entropy_t entropy = {.boot_id = 1, .session_start = places[place].session, .odom_epoch = 255};
    rl_app_init(&booted[place], &config, entropy, places[place].clock_us);
    if (places[place].junk) {
      booted[place].sessions_left = 1;
      booted[place].state_seq = UINT32_MAX;
    }
  }
}

/* From keys to objects and back. */

static uint8_t age_of(uint64_t clock_us, uint64_t then_us, uint64_t old_ms) {
  const uint64_t age_us = clock_us - then_us;
  return (uint8_t)((age_us < old_ms * MS) ? age_us / MS : old_ms);
}

static uint64_t aged(size_t place, uint8_t age_ms, uint64_t old_ms) {
  const bool older = places[place].junk && (age_ms >= old_ms);
  return places[place].clock_us - (age_ms * MS) - (older ? OLDER_US : 0u);
}

static seen_t seen_of(uint8_t clear, uint32_t flag, size_t place) {
  if ((clear & flag) != 0u) {
    return SEEN_CLEAR;
  }
  return places[place].junk ? SEEN_NOTHING : SEEN_SET;
}

static void build_past(const failsafe_key_t *key, size_t place, past_t *past) {
  past->held = key->held != 0u;
  past->session = places[place].session;
  past->addr = places[place].addrs[ADDR_HOLDER];
  past->nonce = places[place].nonce;
  past->heard_us = places[place].heard_us;
  past->life_us = aged(place, key->life_age, rig->timeout_ms);
  past->last = (key->any_used != 0u) ? places[place].last : 0u;
  past->any_used = key->any_used != 0u;
  past->any_valid = key->any_valid != 0u;
  past->enable = seen_of(key->clear, RL_CMD_ENABLE, place);
  past->clear_fault = seen_of(key->clear, RL_CMD_CLEAR_FAULT, place);
  past->reset_odom = seen_of(key->clear, RL_CMD_RESET_ODOM, place);
  past->armed = key->armed != 0u;
  past->estop = key->estop != 0u;
  past->faults = key->faults;
  past->causes = key->causes;
  past->commanded = (key->command_age < rig->timeout_ms) || places[place].junk;
  past->commanded_us = aged(place, key->command_age, rig->timeout_ms);
  past->meant = key->meant != 0u;
  past->want_v = key->want[0];
  past->want_w = key->want[1];
  past->limited = key->limited != 0u;
  past->stepped = key->stepped != 0u;
  past->stepped_us = aged(place, key->step_age, STEP_OLD_MS);
}

static void build_session(const failsafe_key_t *key, size_t place, rl_session_t *session) {
  if (key->code_held == 0u) {
    return; /* as booted */
  }
  const uint16_t id = places[place].session;
  session->id = (uint16_t)(id + (((key->differs & 1u) != 0u) ? 1u : 0u));
  session->next_id = (uint16_t)((id == UINT16_MAX) ? 1u : id + 1u);
  session->addr = places[place].addrs[ADDR_HOLDER];
  session->addr.port = (uint16_t)(session->addr.port + (((key->differs & 2u) != 0u) ? 7u : 0u));
  session->nonce = places[place].nonce - (((key->differs & 4u) != 0u) ? 7u : 0u);
  session->host_time_us = places[place].heard_us - (((key->differs & 8u) != 0u) ? 7u : 0u);
  session->seq = ((key->any_used != 0u) ? places[place].last : 0u) - (((key->differs & 16u) != 0u) ? 1u : 0u);
  session->alive_us = aged(place, key->code_life_age, rig->timeout_ms);
  session->any_seq = key->code_any_used != 0u;
  session->any_valid = key->code_any_valid != 0u;
  session->floor_us = places[place].floor_us;
  session->floor_at_us = places[place].clock_us;
  session->valid_seq = places[place].junk ? 4711u : 0u;
  session->delay_us = places[place].junk ? 815u : 0u;
}

static void build_motion(const failsafe_key_t *key, size_t place, rl_motion_t *motion) {
  const bool young = key->code_command_age < rig->timeout_ms;
  motion->vx = key->ramp[0];
  motion->vy = key->ramp[1];
  motion->wz = key->ramp[2];
  motion->command.vx = key->command[0];
  motion->command.vy = key->command[1];
  motion->command.wz = key->command[2];
  motion->commanded = young || places[place].junk;
  motion->command_us = aged(place, motion->commanded ? key->code_command_age : 0u, rig->timeout_ms);
  motion->motion_valid = key->code_meant != 0u;
  motion->limited = key->code_limited != 0u;
  motion->stepped = key->code_stepped != 0u;
  motion->stepped_us = aged(place, key->code_step_age, STEP_OLD_MS);
  if (places[place].junk && (!young || !motion->motion_valid)) {
    motion->motion_valid = !young;
    motion->limited = true;
    motion->command.vx = -rig->v_max;
    motion->command.wz = rig->w_max;
  }
}

static void build(const failsafe_key_t *key, size_t place, failsafe_t *out) {
  memset(out, 0, sizeof(*out));
  out->app = booted[place];
  out->clock_us = places[place].clock_us;
  build_past(key, place, &out->past);
  build_session(key, place, &out->app.session);
  build_motion(key, place, &out->app.motion);
  rl_safety_t *const safety = &out->app.safety;
  safety->enabled = key->code_enabled != 0u;
  safety->estop = key->code_estop != 0u;
  safety->faults = key->code_faults;
  safety->fault_causes = key->code_causes;
  safety->prev_flags = (uint16_t)(EDGE_FLAGS & ~(uint32_t)key->code_clear);
  if (places[place].junk) {
    safety->prev_flags = (uint16_t)(safety->prev_flags | RESERVED_FLAGS | (uint32_t)RL_CMD_MOTION_VALID | RL_CMD_ESTOP);
  }
}

static void reduce_past(const failsafe_t *in, failsafe_key_t *key) {
  const past_t *const past = &in->past;
  key->held = past->held ? 1u : 0u;
  if (past->held) {
    key->any_used = past->any_used ? 1u : 0u;
    key->any_valid = past->any_valid ? 1u : 0u;
    key->life_age = age_of(in->clock_us, past->life_us, rig->timeout_ms);
    key->clear = (uint8_t)(((past->enable == SEEN_CLEAR) ? (uint32_t)RL_CMD_ENABLE : 0u) |
                           ((past->clear_fault == SEEN_CLEAR) ? (uint32_t)RL_CMD_CLEAR_FAULT : 0u) |
                           ((past->reset_odom == SEEN_CLEAR) ? (uint32_t)RL_CMD_RESET_ODOM : 0u));
  }
  key->armed = past->armed ? 1u : 0u;
  key->estop = past->estop ? 1u : 0u;
  key->faults = past->faults;
  key->causes = past->causes;
  key->command_age = past->commanded ? age_of(in->clock_us, past->commanded_us, rig->timeout_ms) : rig->timeout_ms;
  if ((key->command_age < rig->timeout_ms) && past->meant) {
    key->meant = 1;
    key->limited = past->limited ? 1u : 0u;
    key->want[0] = past->want_v;
    key->want[1] = past->want_w;
  }
  key->stepped = past->stepped ? 1u : 0u;
  key->step_age = age_of(in->clock_us, past->stepped_us, STEP_OLD_MS);
}

static void reduce_code(const failsafe_t *in, failsafe_key_t *key) {
  const past_t *const past = &in->past;
  const rl_session_t *const session = &in->app.session;
  const rl_motion_t *const motion = &in->app.motion;
  const rl_safety_t *const safety = &in->app.safety;
  key->code_held = (session->id != 0u) ? 1u : 0u;
  if (session->id != 0u) {
    key->code_any_used = session->any_seq ? 1u : 0u;
    key->code_any_valid = session->any_valid ? 1u : 0u;
    key->code_life_age = age_of(in->clock_us, session->alive_us, rig->timeout_ms);
    const bool same_addr = (session->addr.ip == past->addr.ip) && (session->addr.port == past->addr.port);
    key->differs = (uint8_t)(((session->id != past->session) ? 1u : 0u) | (same_addr ? 0u : 2u) |
                             ((session->nonce != past->nonce) ? 4u : 0u) |
                             ((session->host_time_us != past->heard_us) ? 8u : 0u) |
                             ((session->seq != past->last) ? 16u : 0u));
  }
  key->code_enabled = safety->enabled ? 1u : 0u;
  key->code_estop = safety->estop ? 1u : 0u;
  key->code_faults = safety->faults;
  key->code_causes = safety->fault_causes;
  key->code_clear = (uint8_t)(EDGE_FLAGS & ~(uint32_t)safety->prev_flags);
  key->ramp[0] = motion->vx + 0.0; /* -0.0 is 0.0 */
  key->ramp[1] = motion->vy + 0.0;
  key->ramp[2] = motion->wz + 0.0;
  key->code_command_age = rig->timeout_ms;
  if (motion->commanded) {
    key->code_command_age = age_of(in->clock_us, motion->command_us, rig->timeout_ms);
  }
  if ((key->code_command_age < rig->timeout_ms) && motion->motion_valid) {
    key->code_meant = 1;
    key->code_limited = motion->limited ? 1u : 0u;
    key->command[0] = motion->command.vx + 0.0F;
    key->command[1] = motion->command.vy + 0.0F;
    key->command[2] = motion->command.wz + 0.0F;
  }
  key->code_stepped = motion->stepped ? 1u : 0u;
  key->code_step_age = age_of(in->clock_us, motion->stepped_us, STEP_OLD_MS);
}

static void reduce(const failsafe_t *in, failsafe_key_t *key) {
  memset(key, 0, sizeof(*key));
  reduce_past(in, key);
  reduce_code(in, key);
}

/* The model. */

static failsafe_t entered[PLACES];

static void first(void *out) {
  failsafe_t robot = {.app = booted[0], .clock_us = places[0].clock_us};
  robot.past.stepped_us = robot.clock_us;
  failsafe_key_t key;
  reduce(&robot, &key);
  memcpy(out, &key, sizeof(key));
}

static void enter(const void *bytes) {
  failsafe_key_t key;
  memcpy(&key, bytes, sizeof(key));
  for (size_t place = 0; place < PLACES; place++) {
    build(&key, place, &entered[place]);
    failsafe_check(&entered[place], 0);
    failsafe_check_ahead(&entered[place]);
  }
}

static bool step(uint32_t number, void *next) {
  for (size_t place = 0; place < PLACES; place++) {
    failsafe_t robot = entered[place];
    failsafe_feed(&robot, number, place);
    failsafe_key_t key;
    reduce(&robot, &key);
    if (place == 0u) {
      memcpy(next, &key, sizeof(key));
    } else {
      expect(RULE_FS_REDUCTION, explore_same(next, &key));
    }
  }
  return true;
}

static void print_key(const void *bytes) {
  failsafe_key_t key;
  memcpy(&key, bytes, sizeof(key));
  (void)printf("%s, %s%s%s%s, setpoint %g %g, command %s %g %g, %u ms old, last step %u ms ago",
               (key.held != 0u) ? "held" : "not held", (key.armed != 0u) ? "enabled" : "disabled",
               (key.estop != 0u) ? ", ESTOP" : "", (key.faults != 0u) ? ", FAULT" : "",
               (key.causes != 0u) ? " with a cause" : "", key.ramp[0], key.ramp[2],
               (key.meant != 0u) ? "meant" : "not meant", (double)key.want[0], (double)key.want[1],
               (unsigned)key.command_age, (unsigned)key.step_age);
}

static const char *const rules[] = {
#define X(name, text) text,
    FAILSAFE_RULES(X)
#undef X
};

static tally_t check(const rig_t *which) {
  rig = which;
  boot();
  const model_t model = {
      .name = rig->name,
      .rules = rules,
      .rule_count = FAILSAFE_RULE_COUNT,
      .key_size = sizeof(failsafe_key_t),
      .inputs = failsafe_make_inputs(),
      .first = first,
      .enter = enter,
      .step = step,
      .print_input = failsafe_print_input,
      .print_key = print_key,
  };
  return explore(&model);
}

/* All of the ramp, with one fault; RESET_ODOM has no part in it. */
tally_t check_failsafe(void) {
  static const rig_t ramp = {
      .name = "Failsafe: the ramp",
      .v_max = 3,
      .w_max = 2,
      .timeout_ms = 4,
      .flags = RL_CMD_MOTION_VALID | RL_CMD_ENABLE | RL_CMD_ESTOP | RL_CMD_CLEAR_FAULT,
      .faults = {RL_FAULT_STALL, 0, 0},
      .values = {{"0 0", {0, 0, 0}, 0, 0, false},
                 {"+3 +2", {3, 0, 2}, 3, 2, false},
                 {"-9 -1", {-9, 0, -1}, -3, -1, true},
                 {"+1 -9", {1, 0, -9}, 1, -2, true},
                 {"sideways", {0, 1, 0}, 0, 0, true},
                 {"+9 +9", {9, 0, 9}, 3, 2, true}},
      .value_count = 6,
  };
  return check(&ramp);
}

/* All flags, and three faults, of which one has a number that there isn't; with hardly any ramp. */
tally_t check_latches(void) {
  static const rig_t latches = {
      .name = "Failsafe: enable, ESTOP, faults",
      .v_max = 1,
      .w_max = 1,
      .timeout_ms = 2,
      .flags = 31,
      .faults = {RL_FAULT_ENCODER_LOST, RL_FAULT_HARDWARE_ESTOP, 200},
      .values = {{"0 0", {0, 0, 0}, 0, 0, false}, {"+1 0", {1, 0, 0}, 1, 0, false}, {"+9 0", {9, 0, 0}, 1, 0, true}},
      .value_count = 3,
  };
  return check(&latches);
}
