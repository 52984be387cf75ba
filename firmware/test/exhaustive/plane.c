/* plane.c: the ramp in the plane: how (vx, vy) and wz get from one command to the next, on a drive that can go
 * sideways.
 *
 * In the plane each turn leads to points that no other way leads to, so there is no fixed point: this one goes to a
 * stated depth. An input is a command, in force, and then one control step. The limits of the ramp are the real ones,
 * so that nothing is exact; speeds are such that they are reached in a few steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models.h"
#include "motion.h"

#define DEPTH 5u
#define MS UINT64_C(1000)
#define TIMEOUT_US UINT64_C(150000)

#define STEP_V 0.005 /* m/s that 1 ms allows */
#define STEP_W 0.010 /* rad/s */
#define V_MAX 0.016F
#define W_MAX 0.025F

#define SLACK 1e-4 /* of what the time allows: a step may be over its limit by that */
#define TINY 2e-9  /* m/s, rad/s: rounding to float at these speeds */

#define RULES(X)                                                                                               \
  X(CLAMP, "the command is clamped: not beyond the limit, in its direction, and only if it was")               \
  X(LIMITS, "the setpoint is finite and within the limits")                                                    \
  X(RAMP, "a control step changes vector and turning by at most what the time that passed allows")             \
  X(RISE, "and makes them faster by at most what two periods allow")                                           \
  X(STRAIGHT, "it goes straight towards the command, not beyond")                                              \
  X(FULL, "it goes as far as it may, and in the end is exactly there")                                         \
  X(STOPPING, "not allowed to move: slower by the full ramp, in the same direction, and exactly 0 at its end") \
  X(REST, "from every state: exactly at rest after as many steps as the speed takes, rounded up")

enum {
#define X(name, text) RULE_##name,
  RULES(X)
#undef X
      RULE_COUNT
};

typedef struct {
  double v[3];
  uint64_t stepped;
} plane_key_t;

static const float targets[][3] = {
    {0, 0, 0},
    {V_MAX, 0, W_MAX},
    {0, -V_MAX, 0},
    {-9.0F, 9.0F, -9.0F},    /* over the limits */
    {0.3F, 0.1F, 0.0251F},
    {3e38F, -3e38F, 3e38F},  /* whose squares are beyond float */
    {-0.012F, 0.009F, 0.01F},
    {0.002F, 0.001F, 0.003F}, /* less than a step away from 0 */
    {1e-30F, 1e-30F, 1e-30F}, /* whose squares are 0 in float */
};

static const uint64_t passed_ms[] = {0, 1, 2, 3, 200};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define COMMANDS (COUNT(targets) + 1u) /* the last: the first but one, and not allowed to move */

static rl_config_t config;
static rl_motion_t entered;

static double norm(const double v[3]) { return hypot(v[0], v[1]); }

static void read(const rl_motion_t *motion, double v[3]) {
  const rl_setpoint_t setpoint = rl_motion_setpoint(motion, &config);
  v[0] = (double)setpoint.vx;
  v[1] = (double)setpoint.vy;
  v[2] = (double)setpoint.wz;
}

static void check_clamp(const rl_motion_t *motion, const float target[3]) {
  const double x = (double)target[0];
  const double y = (double)target[1];
  const double length = hypot(x, y);
  const double scale = (length > (double)V_MAX) ? (double)V_MAX / length : 1.0;
  const double cx = (double)motion->command.vx;
  const double cy = (double)motion->command.vy;
  const bool same_way = (fabs(cx - (x * scale)) < TINY * 4.0) && (fabs(cy - (y * scale)) < TINY * 4.0);
  const double w = fmin(fabs((double)target[2]), (double)W_MAX);
  const bool same_turn = (double)motion->command.wz == copysign(w, (double)target[2]);
  const bool limited = (length > (double)V_MAX) || (fabs((double)target[2]) > (double)W_MAX);
  const bool as_it_was = limited || ((cx == x) && (cy == y));
  expect(RULE_CLAMP, (hypot(cx, cy) <= (double)V_MAX) && same_way && same_turn && as_it_was &&
                         (motion->limited == limited));
}

/* One axis, or the vector as one: `from` and `to` are points of the plane. */
static void check_step(const double from[2], const double to[2], const double want[2], uint64_t ms, double step,
                       bool allowed) {
  const double before = hypot(from[0], from[1]);
  const double after = hypot(to[0], to[1]);
  const double moved = hypot(to[0] - from[0], to[1] - from[1]);
  const double all = step * (double)ms;
  const double two = step * fmin((double)ms, 2.0);
  const double slack = (all * SLACK) + TINY;
  const double way = hypot(want[0] - from[0], want[1] - from[1]);
  const double left = hypot(want[0] - to[0], want[1] - to[1]);
  expect(RULE_RAMP, moved <= all + slack);
  expect(RULE_RISE, after - before <= two + slack);
  expect(RULE_STRAIGHT, moved + left <= way + slack);
  if (allowed) {
    const bool exactly = (to[0] == want[0]) && (to[1] == want[1]);
    /* A late step may be used for falling only; how far that goes depends on the way. */
    const bool far_enough = (ms <= 2u) ? (moved >= all - slack) : (moved >= two - slack);
    expect(RULE_FULL, exactly || (far_enough && (way > two - slack)));
  } else {
    const double rest = fmax(before - all, 0.0);
    expect(RULE_STOPPING, (after <= before) && (fabs(after - rest) <= slack) && ((rest > 0.0) || (after == 0.0)) &&
                              (fabs((from[0] * to[1]) - (from[1] * to[0])) <= before * slack));
  }
}

static void first(void *key) { memset(key, 0, sizeof(plane_key_t)); }

static void enter(const void *bytes) {
  plane_key_t key;
  memcpy(&key, bytes, sizeof(key));
  rl_motion_init(&entered, 0);
  entered.vx = key.v[0];
  entered.vy = key.v[1];
  entered.wz = key.v[2];
  entered.stepped = key.stepped != 0u;

  double v[3];
  rl_motion_t run = entered;
  read(&run, v);
  double steps = rl_motion_moving(&run) ? 1.0 : 0.0;
  steps = fmax(steps, fmax(ceil(norm(v) / STEP_V), ceil(fabs(v[2]) / STEP_W)));
  uint64_t now_us = 0;
  for (uint32_t i = 0; i < (uint32_t)steps; i++) {
    now_us += MS;
    (void)rl_motion_step(&run, &config, false, now_us, TIMEOUT_US);
  }
  expect(RULE_REST, !rl_motion_moving(&run));
}

static bool step(uint32_t input, void *next) {
  const uint64_t ms = passed_ms[input % COUNT(passed_ms)];
  const uint32_t command = input / COUNT(passed_ms);
  const bool enabled = command < COUNT(targets);
  const float *const target = targets[enabled ? command : 1u];
  const rl_cmd_t cmd = {.vx = target[0], .vy = target[1], .wz = target[2], .flags = RL_CMD_MOTION_VALID};
  rl_motion_t motion = entered;
  double before[3];
  double after[3];
  read(&motion, before);
  rl_motion_command(&motion, &config, &cmd, 0);
  check_clamp(&motion, target);
  (void)rl_motion_step(&motion, &config, enabled, ms * MS, TIMEOUT_US);
  read(&motion, after);
  expect(RULE_LIMITS, (norm(after) <= (double)V_MAX) && (fabs(after[2]) <= (double)W_MAX));

  const bool allowed = enabled && ((ms * MS) < TIMEOUT_US);
  const double want[3] = {allowed ? (double)motion.command.vx : 0.0, allowed ? (double)motion.command.vy : 0.0,
                          allowed ? (double)motion.command.wz : 0.0};
  check_step(before, after, want, ms, STEP_V, allowed);
  const double turn_before[2] = {before[2], 0};
  const double turn_after[2] = {after[2], 0};
  const double turn_want[2] = {want[2], 0};
  check_step(turn_before, turn_after, turn_want, ms, STEP_W, allowed);

  const plane_key_t key = {.v = {motion.vx + 0.0, motion.vy + 0.0, motion.wz + 0.0}, .stepped = 1};
  memcpy(next, &key, sizeof(key));
  return true;
}

static void print_input(uint32_t input) {
  const uint32_t command = input / COUNT(passed_ms);
  const float *const target = targets[(command < COUNT(targets)) ? command : 1u];
  (void)printf("command %g %g %g%s, control step after %u ms", (double)target[0], (double)target[1],
               (double)target[2], (command < COUNT(targets)) ? "" : ", disabled",
               (unsigned)passed_ms[input % COUNT(passed_ms)]);
}

static void print_key(const void *bytes) {
  plane_key_t key;
  memcpy(&key, bytes, sizeof(key));
  (void)printf("setpoint %.9g %.9g %.9g", key.v[0], key.v[1], key.v[2]);
}

tally_t check_plane(void) {
  static const char *const rules[] = {
#define X(name, text) text,
      RULES(X)
#undef X
  };
  config = rl_config_default();
  config.drive = RL_DRIVE_MECANUM;
  config.v_max = V_MAX;
  config.w_max = W_MAX;
  const model_t model = {
      .name = "The ramp in the plane",
      .rules = rules,
      .rule_count = RULE_COUNT,
      .key_size = sizeof(plane_key_t),
      .inputs = COMMANDS * COUNT(passed_ms),
      .depth_max = DEPTH,
      .first = first,
      .enter = enter,
      .step = step,
      .print_input = print_input,
      .print_key = print_key,
  };
  return explore(&model);
}
