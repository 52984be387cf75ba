/* test_odometry.c: where the base is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "angle.h"
#include "fixture.h"
#include "odometry.h"
#include "test.h"

/* From the origin, `way` in so many equal steps. */
static rl_pose_t go(rl_twist_t way, int steps) {
  const rl_twist_t step = {.x = way.x / steps, .y = way.y / steps, .wz = way.wz / steps};
  rl_pose_t pose = {0};
  for (int i = 0; i < steps; i++) {
    rl_odometry_add(&pose, step);
  }
  return pose;
}

static void a_full_circle_of_1000_arcs_ends_where_it_began(void) {
  const rl_twist_t circles[] = {{3, 0, RL_TWO_PI}, {0, 3, RL_TWO_PI}, {2, -1, -RL_TWO_PI}};
  for (size_t i = 0; i < sizeof(circles) / sizeof(circles[0]); i++) {
    const rl_pose_t half = go((rl_twist_t){circles[i].x / 2, circles[i].y / 2, circles[i].wz / 2}, 500);
    CHECK_NEAR(hypot(circles[i].x, circles[i].y) / RL_PI, hypot(half.x, half.y), 1e-9); /* its diameter */
    const rl_pose_t pose = go(circles[i], 1000);
    CHECK_NEAR(0, pose.x, 1e-9);
    CHECK_NEAR(0, pose.y, 1e-9);
    CHECK_NEAR(0, sin(pose.yaw), 1e-9);
    CHECK(cos(pose.yaw) > 0.0);
  }
}

static void a_straight_way_goes_where_the_base_faces(void) {
  rl_pose_t pose = go((rl_twist_t){1.5, -0.5, 0}, 1000);
  CHECK_NEAR(1.5, pose.x, 1e-12);
  CHECK_NEAR(-0.5, pose.y, 1e-12);
  CHECK_NEAR(0, pose.yaw, 0);
  rl_odometry_add(&pose, (rl_twist_t){0, 0, RL_PI / 2});
  rl_odometry_add(&pose, (rl_twist_t){1, 0, 0}); /* forward is now left */
  rl_odometry_add(&pose, (rl_twist_t){0, 2, 0}); /* and left is back */
  CHECK_NEAR(-0.5, pose.x, 1e-12);
  CHECK_NEAR(0.5, pose.y, 1e-12);
  CHECK_NEAR(RL_PI / 2, pose.yaw, 1e-15);
}

static void a_quarter_circle_of_radius_1_ends_at_1_1(void) {
  const rl_pose_t left = go((rl_twist_t){RL_PI / 2, 0, RL_PI / 2}, 1);
  CHECK_NEAR(1, left.x, 1e-15);
  CHECK_NEAR(1, left.y, 1e-15);
  const rl_pose_t right = go((rl_twist_t){RL_PI / 2, 0, -RL_PI / 2}, 1);
  CHECK_NEAR(1, right.x, 1e-15);
  CHECK_NEAR(-1, right.y, 1e-15);
}

static void the_number_of_steps_makes_no_difference(void) {
  uint64_t seed = 4;
  for (int i = 0; i < 100; i++) {
    /* Turns from far below what the series is for to far above it. */
    const double turn = ((random_unit(&seed) * 2.0) - 1.0) * pow(10.0, (random_unit(&seed) * 8.0) - 7.5);
    const rl_twist_t way = {random_unit(&seed) - 0.5, random_unit(&seed) - 0.5, turn};
    const rl_pose_t one = go(way, 1);
    const rl_pose_t many = go(way, 1000);
    CHECK_NEAR(one.x, many.x, 1e-12);
    CHECK_NEAR(one.y, many.y, 1e-12);
    CHECK_NEAR(one.yaw, many.yaw, 1e-12);
  }
}

static void the_series_for_small_turns_meets_the_arc(void) {
  for (int sign = -1; sign <= 1; sign += 2) {
    const rl_pose_t below = go((rl_twist_t){1, 1, sign * 0.9999999e-4}, 1);
    const rl_pose_t above = go((rl_twist_t){1, 1, sign * 1.0000001e-4}, 1);
    CHECK_NEAR(below.x, above.x, 5e-11); /* 1e-11 of that are the turns' own difference */
    CHECK_NEAR(below.y, above.y, 5e-11);
  }
}

static void yaw_is_at_least_minus_pi_and_less_than_pi(void) {
  rl_pose_t pose = {0};
  uint64_t seed = 5;
  for (int i = 0; i < 100000; i++) {
    rl_odometry_add(&pose, (rl_twist_t){0, 0, (random_unit(&seed) * 20.0) - 10.0});
    CHECK((pose.yaw >= -RL_PI) && (pose.yaw < RL_PI));
    CHECK(fabs((double)rl_angle_float(pose.yaw)) < RL_PI);
  }
  pose = go((rl_twist_t){0, 0, RL_PI}, 1);
  CHECK_NEAR(-RL_PI, pose.yaw, 0);
  pose = go((rl_twist_t){0, 0, -RL_PI}, 1);
  CHECK_NEAR(-RL_PI, pose.yaw, 0);
  CHECK((double)rl_angle_float(3.14159265) < RL_PI); /* whose nearest float is above pi */
  CHECK((double)rl_angle_float(-RL_PI) >= -RL_PI);
}

const test_t *odometry_tests(void) {
  static const test_t tests[] = {
      TEST(a_full_circle_of_1000_arcs_ends_where_it_began),
      TEST(a_straight_way_goes_where_the_base_faces),
      TEST(a_quarter_circle_of_radius_1_ends_at_1_1),
      TEST(the_number_of_steps_makes_no_difference),
      TEST(the_series_for_small_turns_meets_the_arc),
      TEST(yaw_is_at_least_minus_pi_and_less_than_pi),
      TEST_END,
  };
  return tests;
}
