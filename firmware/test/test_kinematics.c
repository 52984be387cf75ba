/* test_kinematics.c: from the base to its wheels and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "fixture.h"
#include "kinematics.h"
#include "test.h"

#define DRIVES 4

/* Wheels of 0.1 m; track 0.4 m, base 0.6 m: a mecanum wheel's arm is 0.5 m. */
static rl_kinematics_t of(size_t drive_index) {
  static const struct {
    uint8_t drive, wheels;
  } drives[DRIVES] = {
      {RL_DRIVE_DIFFERENTIAL, 2}, {RL_DRIVE_DIFFERENTIAL, 4}, {RL_DRIVE_MECANUM, 4}, {RL_DRIVE_OMNI3, 3}};
  rl_config_t config = test_robot();
  config.drive = drives[drive_index].drive;
  config.wheel_count = drives[drive_index].wheels;
  config.wheel_radius = 0.1F;
  config.track = 0.4F;
  config.base = 0.6F;
  return rl_kinematics(&config);
}

static rl_twist_t random_twist(uint64_t *seed, size_t drive_index) {
  const rl_twist_t twist = {
      .x = (random_unit(seed) * 4.0) - 2.0,
      .y = (drive_index < 2u) ? 0.0 : ((random_unit(seed) * 4.0) - 2.0),
      .wz = (random_unit(seed) * 12.0) - 6.0,
  };
  return twist;
}

static void base_to_wheels_and_back_is_the_same_but_for_sideways_of_differential(void) {
  uint64_t seed = 1;
  for (size_t drive_index = 0; drive_index < DRIVES; drive_index++) {
    const rl_kinematics_t kinematics = of(drive_index);
    for (int i = 0; i < 1000; i++) {
      const rl_twist_t twist = random_twist(&seed, drive_index);
      rl_twist_t asked = twist;
      asked.y += (drive_index < 2u) ? 1.0 : 0.0;
      double wheel[RL_WHEELS];
      rl_kinematics_wheels(&kinematics, asked, wheel);
      const rl_twist_t back = rl_kinematics_base(&kinematics, wheel);
      CHECK_NEAR(twist.x, back.x, 1e-12);
      CHECK_NEAR(twist.y, back.y, 1e-12);
      CHECK_NEAR(twist.wz, back.wz, 1e-12);
      CHECK_NEAR(0, rl_kinematics_slip(&kinematics, wheel), 1e-12);
    }
  }
}

static void each_wheel_turns_the_way_that_kinematics_h_says(void) {
  static const double s = 0.86602540378443864676;
  const struct {
    size_t drive;
    rl_twist_t twist;
    double want[RL_WHEELS];
  } rows[] = {
      {0, {1, 0, 0}, {10, 10, 0, 0}},
      {0, {0, 1, 0}, {0, 0, 0, 0}},
      {0, {0, 0, 1}, {-2, 2, 0, 0}},
      {1, {1, 0, 0}, {10, 10, 10, 10}},
      {1, {0, 1, 0}, {0, 0, 0, 0}},
      {1, {0, 0, 1}, {-2, 2, -2, 2}},
      {2, {1, 0, 0}, {10, 10, 10, 10}},
      {2, {0, 1, 0}, {-10, 10, 10, -10}},
      {2, {0, 0, 1}, {-5, 5, -5, 5}},
      {3, {1, 0, 0}, {-10 * s, 10 * s, 0, 0}},
      {3, {0, 1, 0}, {5, 5, -10, 0}},
      {3, {0, 0, 1}, {6, 6, 6, 0}},
  };
  for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
    const rl_kinematics_t kinematics = of(rows[row].drive);
    double wheel[RL_WHEELS] = {9, 9, 9, 9};
    rl_kinematics_wheels(&kinematics, rows[row].twist, wheel);
    for (size_t i = 0; i < RL_WHEELS; i++) {
      CHECK_NEAR(rows[row].want[i], wheel[i], 1e-6);
    }
  }
}

static void what_no_motion_of_the_base_explains_is_slip(void) {
  const rl_kinematics_t mecanum = of(2);
  const double wheel[RL_WHEELS] = {1, 1, -1, -1}; /* fronts against rears */
  CHECK_NEAR(0.1, rl_kinematics_slip(&mecanum, wheel), 1e-8);
  const rl_twist_t still = rl_kinematics_base(&mecanum, wheel);
  CHECK_NEAR(0, fabs(still.x) + fabs(still.y) + fabs(still.wz), 1e-12);
  const double one[RL_WHEELS] = {4, 0, 0, 0};
  CHECK_NEAR(0.1, rl_kinematics_slip(&mecanum, one), 1e-8); /* a quarter of its square */
  const rl_kinematics_t omni = of(3);
  CHECK_NEAR(0, rl_kinematics_slip(&omni, one), 1e-12);
}

static void without_wheels_nothing_turns_slips_or_limits(void) {
  rl_config_t config = test_robot();
  config.drive = RL_DRIVE_NONE; /* whatever wheel_count says */
  const rl_kinematics_t none = rl_kinematics(&config);
  CHECK_EQ(0, none.wheels);
  const rl_twist_t twist = {1, 1, 1};
  double wheel[RL_WHEELS] = {9, 9, 9, 9};
  rl_kinematics_wheels(&none, twist, wheel);
  for (size_t i = 0; i < RL_WHEELS; i++) {
    CHECK_NEAR(0, wheel[i], 0);
  }
  CHECK_NEAR(0, rl_kinematics_slip(&none, wheel), 0);
  CHECK_NEAR(0, rl_kinematics_rim(&none, 1, 1, 1), 0);
}

static void rim_is_at_least_what_any_wheel_does_and_just_that_but_for_omni3(void) {
  uint64_t seed = 2;
  for (size_t drive_index = 0; drive_index < DRIVES; drive_index++) {
    const rl_kinematics_t kinematics = of(drive_index);
    for (int i = 0; i < 1000; i++) {
      const rl_twist_t twist = random_twist(&seed, drive_index);
      double wheel[RL_WHEELS];
      rl_kinematics_wheels(&kinematics, twist, wheel);
      double most = 0.0;
      for (size_t j = 0; j < RL_WHEELS; j++) {
        most = fmax(most, fabs(wheel[j] * kinematics.radius));
      }
      const double rim = rl_kinematics_rim(&kinematics, twist.x, twist.y, twist.wz);
      CHECK(rim >= most - 1e-12);
      CHECK((drive_index == 3u) || (rim <= most + 1e-12));
      CHECK(rim <= 2.0 * most);
    }
  }
}

static void rim_never_rises_when_the_way_gets_shorter_or_the_turn_smaller(void) {
  uint64_t seed = 3;
  for (size_t drive_index = 0; drive_index < DRIVES; drive_index++) {
    const rl_kinematics_t kinematics = of(drive_index);
    for (int i = 0; i < 1000; i++) {
      const rl_twist_t twist = random_twist(&seed, drive_index);
      const double part = random_unit(&seed);
      const double turn = random_unit(&seed);
      const double rim = rl_kinematics_rim(&kinematics, twist.x, twist.y, twist.wz);
      CHECK(rl_kinematics_rim(&kinematics, twist.x * part, twist.y * part, twist.wz) <= rim);
      CHECK(rl_kinematics_rim(&kinematics, twist.x, twist.y, -twist.wz * turn) <= rim);
    }
  }
}

const test_t *kinematics_tests(void) {
  static const test_t tests[] = {
      TEST(base_to_wheels_and_back_is_the_same_but_for_sideways_of_differential),
      TEST(each_wheel_turns_the_way_that_kinematics_h_says),
      TEST(what_no_motion_of_the_base_explains_is_slip),
      TEST(without_wheels_nothing_turns_slips_or_limits),
      TEST(rim_is_at_least_what_any_wheel_does_and_just_that_but_for_omni3),
      TEST(rim_never_rises_when_the_way_gets_shorter_or_the_turn_smaller),
      TEST_END,
  };
  return tests;
}
