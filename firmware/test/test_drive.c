/* test_drive.c: all wheels together, through rl_app_control(), with a robot of four motors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "drive.h"

#include <math.h>
#include <string.h>

#include "fixture.h"
#include "motor.h"
#include "test.h"

#define STEP_S 1e-3

/* A robot with its board and motors, and the host that holds it. */
typedef struct {
  robot_t robot;
  host_t host;
  motor_t motor[RL_WHEELS];
  rl_inputs_t in;
  rl_outputs_t out;
  bool dead[RL_WHEELS]; /* the encoder does not count any more */
} plant_t;

static const rl_config_t *config_of(const plant_t *plant) { return &plant->robot.app.config; }

static void start(plant_t *plant, const rl_config_t *config) {
  memset(plant, 0, sizeof(*plant));
  boot_with(&plant->robot, config, 0);
  for (size_t i = 0; i < RL_WHEELS; i++) {
    plant->motor[i] = new_motor(config, 1, 1, 1);
  }
  plant->in.battery_mv = 24000;
  plant->host = new_host(1);
  take(&plant->robot, &plant->host);
}

static void start_default(plant_t *plant) {
  const rl_config_t config = test_robot();
  start(plant, &config);
}

static void step(plant_t *plant) {
  const rl_config_t *const config = config_of(plant);
  for (size_t i = 0; i < config->wheel_count; i++) {
    motor_t *const motor = &plant->motor[i];
    const double coasting = motor->kv * motor->velocity;
    const double volts = (double)plant->out.duty[i] * config->motor_dir[i] * 1e-3 * plant->in.battery_mv;
    motor_turn(motor, plant->out.motors_on ? volts : coasting, STEP_S);
    plant->in.current[i] = (float)(motor->amps * config->motor_dir[i]);
    if (!plant->dead[i]) {
      plant->in.count[i] = (uint32_t)(int64_t)(motor_counts(motor, config) * config->encoder_dir[i]);
    }
  }
  plant->robot.now_us += MS;
  rl_app_control(&plant->robot.app, plant->robot.now_us, &plant->in, &plant->out);
}

static void coast(plant_t *plant, int ms) {
  for (int i = 0; i < ms; i++) {
    step(plant);
  }
}

static void go(plant_t *plant, rl_setpoint_t command, uint16_t flags, int ms) {
  for (int i = 0; i < ms; i++) {
    if ((i % 10) == 0) {
      tell(&plant->robot, &plant->host, command.vx, command.vy, command.wz, flags);
    }
    step(plant);
  }
}

static const rl_setpoint_t ahead = {.vx = 0.5F};
static const rl_setpoint_t rest = {0};

static void check_off(const plant_t *plant) {
  CHECK(!plant->out.motors_on);
  CHECK(!rl_app_outputs_on(&plant->robot.app));
  for (size_t i = 0; i < RL_WHEELS; i++) {
    CHECK_NEAR(0, plant->out.duty[i], 0);
  }
}

static void odometry_is_valid_from_the_first_step_with_wheels(void) {
  plant_t plant;
  start_default(&plant);
  CHECK(!any(&plant.robot, RL_STATUS_ODOM_VALID));
  step(&plant);
  CHECK(all(&plant.robot, RL_STATUS_ODOM_VALID));
  robot_t robot;
  boot(&robot);
  run(&robot, 10);
  CHECK(!any(&robot, RL_STATUS_ODOM_VALID));
}

static void state_tells_what_the_motors_do(void) {
  for (int dirs = 0; dirs < 4; dirs++) {
    rl_config_t config = test_robot();
    for (size_t i = 0; i < RL_WHEELS; i++) {
      config.motor_dir[i] = ((dirs & 1) != 0) ? -1 : 1;
      config.encoder_dir[i] = (((dirs & 2) != 0) && (i != 1u)) ? -1 : 1;
    }
    plant_t plant;
    start(&plant, &config);
    go(&plant, (rl_setpoint_t){0.4F, -0.3F, 0.5F}, GO, 1000);
    const rl_state_t seen = state(&plant.robot);
    CHECK_EQ(0, seen.fault);
    CHECK_NEAR(0.4, seen.twist_vx, 0.01);
    CHECK_NEAR(-0.3, seen.twist_vy, 0.01);
    CHECK_NEAR(0.5, seen.twist_wz, 0.03);
    CHECK_EQ(24000, seen.battery_mv);
    double angle[RL_WHEELS];
    for (size_t i = 0; i < RL_WHEELS; i++) {
      angle[i] = plant.motor[i].angle;
      CHECK_NEAR(plant.motor[i].velocity, seen.wheel_vel[i], 0.1);
      CHECK_NEAR(0, remainder(angle[i] - (double)seen.wheel_pos[i], RL_TWO_PI), 0.002);
      CHECK((plant.out.duty[i] < 0.0F) == ((plant.motor[i].velocity * config.motor_dir[i]) < 0.0));
    }
    const rl_kinematics_t wheels = rl_kinematics(&config);
    CHECK_NEAR(rl_kinematics_base(&wheels, angle).wz, seen.odom_yaw, 1e-3);
    CHECK_NEAR(hypot(0.45, 0.02), hypot((double)seen.odom_x, (double)seen.odom_y), 0.05); /* 0.5 m/s for 1 s, less the ramp */
    CHECK(seen.odom_x > 0.3F);
    CHECK(seen.odom_y < -0.1F);
  }
}

static void outputs_are_off_once_the_wheels_stand_after_whatever_stops_them(void) {
  for (int how = 0; how < 4; how++) {
    plant_t plant;
    start_default(&plant);
    CHECK(!plant.out.motors_on);
    go(&plant, ahead, GO, 500);
    CHECK(plant.out.motors_on);
    CHECK_EQ(RL_LED_GREEN | RL_LED_YELLOW, plant.out.leds);
    if (how == 0) {
      go(&plant, rest, 0, 10);
    } else if (how == 1) {
      go(&plant, rest, ESTOP, 10);
    } else if (how == 2) {
      rl_app_fault_raise(&plant.robot.app, RL_FAULT_WATCHDOG_RESET);
    }
    CHECK(plant.out.motors_on); /* it brakes */
    coast(&plant, 900);
    CHECK_NEAR(0, plant.motor[0].velocity, 0.1);
    if (how == 3) { /* a timeout alone leaves it enabled, and powered */
      CHECK(plant.out.motors_on);
      CHECK_EQ(RL_LED_RED | RL_LED_YELLOW, plant.out.leds);
      continue;
    }
    check_off(&plant);
    CHECK_EQ(RL_LED_RED, plant.out.leds);
  }
}

static void outputs_stay_on_for_wheels_that_still_turn_but_not_for_more_than_a_second(void) {
  plant_t plant;
  start_default(&plant);
  go(&plant, ahead, GO, 500);
  tell(&plant.robot, &plant.host, 0, 0, 0, 0);
  coast(&plant, 95); /* of 100 */
  int on_ms = 0;
  while (plant.out.motors_on && (on_ms < 2000)) {
    plant.motor[0].velocity = 3.0; /* somebody pushes it */
    CHECK(rl_app_outputs_on(&plant.robot.app));
    step(&plant);
    on_ms++;
  }
  CHECK_NEAR(1005, on_ms, 2);
  check_off(&plant);
}

static void reset_odom_zeroes_the_pose_and_steps_the_epoch(void) {
  plant_t plant;
  start_default(&plant);
  go(&plant, (rl_setpoint_t){0.5F, 0.2F, 1.0F}, GO, 800);
  const rl_state_t before = state(&plant.robot);
  CHECK((before.odom_x > 0.1F) && (before.odom_y > 0.05F) && (before.odom_yaw > 0.3F));
  CHECK_EQ(ODOM_EPOCH, before.odom_epoch);
  tell(&plant.robot, &plant.host, 0.5F, 0.2F, 1.0F, GO | RESET);
  const rl_state_t after = state(&plant.robot);
  CHECK_NEAR(0, fabsf(after.odom_x) + fabsf(after.odom_y) + fabsf(after.odom_yaw), 0);
  CHECK_EQ(ODOM_EPOCH + 1, after.odom_epoch);
  CHECK(after.twist_vx > 0.4F); /* it goes on */
}

static void the_e_stop_input_is_fault_8_which_nobody_clears_before_its_release(void) {
  plant_t plant;
  start_default(&plant);
  go(&plant, ahead, GO, 500);
  plant.in.estop = true;
  step(&plant);
  CHECK_EQ(RL_FAULT_HARDWARE_ESTOP, state(&plant.robot).fault);
  CHECK(!any(&plant.robot, RL_STATUS_ENABLED));
  go(&plant, rest, 0, 10);
  go(&plant, rest, CLEAR, 10);
  CHECK_EQ(RL_FAULT_HARDWARE_ESTOP, state(&plant.robot).fault);
  plant.in.estop = false;
  go(&plant, rest, CLEAR, 10);
  CHECK_EQ(RL_FAULT_HARDWARE_ESTOP, state(&plant.robot).fault); /* held, it is no edge */
  go(&plant, rest, 0, 10);
  go(&plant, rest, CLEAR, 10);
  CHECK_EQ(RL_FAULT_NONE, state(&plant.robot).fault);
  go(&plant, ahead, GO, 500);
  CHECK_NEAR(0.5, state(&plant.robot).twist_vx, 0.02);
}

static void with_the_e_stop_pressed_wheels_need_not_obey(void) {
  plant_t plant;
  start_default(&plant);
  go(&plant, ahead, GO, 500);
  plant.in.estop = true;
  for (size_t i = 0; i < RL_WHEELS; i++) {
    plant.motor[i].blocked = true; /* brakes */
  }
  coast(&plant, 1000);
  CHECK_EQ(1u << RL_FAULT_HARDWARE_ESTOP, plant.robot.app.safety.faults);
}

static void battery_low_and_critical(void) {
  plant_t plant;
  start_default(&plant);
  coast(&plant, 10);
  plant.in.battery_mv = 17000;
  coast(&plant, 100);
  CHECK(!any(&plant.robot, RL_STATUS_LOW_BATTERY | RL_STATUS_FAULT)); /* a start takes it down */
  plant.in.battery_mv = 20000;
  coast(&plant, 5000);
  CHECK(all(&plant.robot, RL_STATUS_LOW_BATTERY));
  CHECK(!any(&plant.robot, RL_STATUS_FAULT));
  plant.in.battery_mv = 17000;
  coast(&plant, 5000);
  CHECK_EQ(RL_FAULT_BATTERY_CRITICAL, state(&plant.robot).fault);
  CHECK_NEAR(17000, state(&plant.robot).battery_mv, 50);
  plant.in.battery_mv = 24000;
  coast(&plant, 5000);
  tell(&plant.robot, &plant.host, 0, 0, 0, CLEAR);
  CHECK(!any(&plant.robot, RL_STATUS_LOW_BATTERY | RL_STATUS_FAULT));
  plant.in.battery_mv = 0; /* not measured: known to be nothing, at once */
  step(&plant);
  CHECK_EQ(0, state(&plant.robot).battery_mv);
  CHECK(!any(&plant.robot, RL_STATUS_LOW_BATTERY | RL_STATUS_FAULT));
}

static void duty_is_the_share_of_the_battery_or_else_of_its_nominal_voltage(void) {
  static const uint16_t battery_mv[] = {24000, 12000, 0, 3000};
  static const double share[] = {1, 2, 1, 8};
  for (size_t i = 0; i < 4; i++) {
    rl_config_t config = test_robot();
    config.battery_critical_mv = 0;
    plant_t plant;
    start(&plant, &config);
    plant.in.battery_mv = battery_mv[i];
    rl_app_control(&plant.robot.app, plant.robot.now_us + MS, &plant.in, &plant.out);
    plant.robot.app.drive.wheel[0].integral = 6.0;
    plant.robot.app.drive.wheel[1].integral = -6.0;
    rl_app_control(&plant.robot.app, plant.robot.now_us + (2u * MS), &plant.in, &plant.out);
    CHECK_NEAR(fmin(0.25 * share[i], 1.0), plant.out.duty[0], 1e-6);
    CHECK_NEAR(-fmin(0.25 * share[i], 1.0), plant.out.duty[1], 1e-6);
  }
}

static void a_wheel_with_a_fault_stops_the_robot_and_is_tried_again_after_clear_and_enable(void) {
  plant_t plant;
  start_default(&plant);
  go(&plant, ahead, GO, 500);
  plant.dead[2] = true;
  go(&plant, ahead, GO, 100);
  CHECK_EQ(RL_FAULT_ENCODER_LOST, state(&plant.robot).fault);
  CHECK(!any(&plant.robot, RL_STATUS_ENABLED | RL_STATUS_ODOM_VALID));
  CHECK_NEAR(0, plant.out.duty[2], 0);
  coast(&plant, 1000);
  check_off(&plant);
  plant.dead[2] = false;
  go(&plant, rest, 0, 10);
  go(&plant, rest, CLEAR, 10);
  CHECK(!any(&plant.robot, RL_STATUS_FAULT));
  CHECK(all(&plant.robot, RL_STATUS_ODOM_VALID));
  go(&plant, ahead, GO, 500);
  CHECK_EQ(RL_FAULT_NONE, state(&plant.robot).fault);
  CHECK_NEAR(0.5, state(&plant.robot).twist_vx, 0.02);
  CHECK(plant.out.duty[2] > 0.0F);
}

static void a_wheel_is_tried_again_though_the_outputs_never_went_off(void) {
  plant_t plant;
  start_default(&plant);
  go(&plant, ahead, GO, 500);
  plant.dead[2] = true;
  int ms = 0;
  while (!any(&plant.robot, RL_STATUS_FAULT) && (ms++ < 100)) {
    step(&plant);
  }
  plant.dead[2] = false;
  go(&plant, ahead, 0, 10);
  go(&plant, ahead, CLEAR, 10);
  CHECK(plant.out.motors_on);
  CHECK(!any(&plant.robot, RL_STATUS_FAULT));
  go(&plant, ahead, GO, 500);
  CHECK_EQ(RL_FAULT_NONE, state(&plant.robot).fault);
  CHECK_NEAR(6.6, plant.motor[2].velocity, 0.3);
}

static void a_command_beyond_wheel_speed_max_is_scaled_in_all_three_and_says_limited(void) {
  rl_config_t config = test_robot();
  config.wheel_speed_max = 10.0F; /* 0.76 m/s at the rim */
  plant_t plant;
  start(&plant, &config);
  go(&plant, (rl_setpoint_t){0.8F, -0.4F, 1.0F}, GO, 1000); /* asks for 1.5 m/s */
  const rl_setpoint_t setpoint = rl_app_setpoint(&plant.robot.app);
  CHECK_NEAR(0.8 * 0.76 / 1.5, setpoint.vx, 1e-5);
  CHECK_NEAR(-0.4 * 0.76 / 1.5, setpoint.vy, 1e-5);
  CHECK_NEAR(1.0 * 0.76 / 1.5, setpoint.wz, 1e-5);
  CHECK(all(&plant.robot, RL_STATUS_LIMITED));
  go(&plant, (rl_setpoint_t){0.3F, -0.3F, 1.0F / 3.0F}, GO, 1000); /* 0.7 */
  CHECK_NEAR(0.3F, rl_app_setpoint(&plant.robot.app).vx, 0);
  CHECK(!any(&plant.robot, RL_STATUS_LIMITED));
}

static void check_ramps(float a_ang, float accel) {
  rl_config_t config = test_robot();
  config.wheel_speed_max = 8.0F;
  config.wheel_accel_max = accel;
  config.a_ang = a_ang;
  robot_t robot;
  boot_with(&robot, &config, 0);
  host_t host = new_host(1);
  take(&robot, &host);
  const rl_drive_t *const wheels = &robot.app.drive;
  uint64_t seed = 8;
  double before[RL_WHEELS] = {0};
  double most = 0.0;
  for (int i = 0; i < 100000; i++) {
    if ((i % 100) == 0) {
      /* Often one that only turns or only goes, so that one grows while the other falls. */
      const uint32_t kind = random_below(&seed, 3);
      const float vx = (kind == 0u) ? 0.0F : (float)((random_unit(&seed) * 3.0) - 1.5);
      const float vy = (kind == 0u) ? 0.0F : (float)((random_unit(&seed) * 3.0) - 1.5);
      const float wz = (kind == 1u) ? 0.0F : (float)((random_unit(&seed) * 12.0) - 6.0);
      tell(&robot, &host, vx, vy, wz, GO);
    }
    run(&robot, 1);
    CHECK(robot.app.safety.enabled || (robot.app.safety.faults != 0u));
    robot.app.safety.faults = 0; /* nothing turns here: no matter */
    robot.app.safety.enabled = true;
    for (size_t j = 0; j < RL_WHEELS; j++) {
      most = fmax(most, fabs(wheels->setpoint[j]));
      CHECK(fabs(wheels->setpoint[j]) <= 8.0);
      CHECK(fabs(wheels->setpoint[j] - before[j]) <= (double)accel * 1e-3 * 1.0001);
      before[j] = wheels->setpoint[j];
    }
  }
  CHECK(most > 7.99);
}

static void no_ramp_asks_a_wheel_for_more_than_its_limits(void) {
  check_ramps(10.0F, 30.0F);
  check_ramps(10.0F, 300.0F);
  check_ramps(60.0F, 300.0F); /* turning grows faster than going falls */
}

static void what_is_beyond_a_wheels_limit_already_still_brakes_by_its_ramp(void) {
  plant_t plant;
  start_default(&plant);
  plant.robot.app.motion.vx = 10.0; /* 65 rad/s are 4.94 m/s */
  plant.robot.app.motion.wz = 1.0;
  coast(&plant, 1);
  CHECK_NEAR(9.995, plant.robot.app.motion.vx, 1e-6);
  CHECK_NEAR(0.99, plant.robot.app.motion.wz, 1e-6);
}

static void disabled_at_rest_the_outputs_are_off_after_200_ms(void) {
  plant_t plant;
  start_default(&plant);
  coast(&plant, 10);
  CHECK(plant.out.motors_on);
  tell(&plant.robot, &plant.host, 0, 0, 0, 0);
  coast(&plant, 199);
  CHECK(plant.out.motors_on);
  coast(&plant, 2);
  check_off(&plant);
}

static void a_timeout_brakes_by_a_lin_and_a_ang_whatever_wheel_accel_max_says(void) {
  rl_config_t config = test_robot();
  config.wheel_accel_max = 10.0F;
  plant_t plant;
  start(&plant, &config);
  go(&plant, (rl_setpoint_t){0.5F, 0, 1.0F}, GO, 3000);
  CHECK_NEAR(0.5F, rl_app_setpoint(&plant.robot.app).vx, 0);
  coast(&plant, 141 + 50);
  CHECK(all(&plant.robot, RL_STATUS_CMD_TIMEOUT));
  CHECK_NEAR(0.5 - (0.005 * 51), rl_app_setpoint(&plant.robot.app).vx, 0.0051);
  CHECK_NEAR(1.0 - (0.010 * 51), rl_app_setpoint(&plant.robot.app).wz, 0.0101);
}

static void a_setpoint_that_is_beyond_a_wheels_limit_all_the_same_is_scaled_for_all_wheels(void) {
  const rl_config_t config = test_robot();
  const rl_kinematics_t wheels = rl_kinematics(&config);
  rl_drive_t driven;
  rl_drive_init(&driven, &config);
  rl_inputs_t in = {.battery_mv = 24000};
  rl_outputs_t out;
  CHECK(rl_drive_sample(&driven, &config, &wheels, &in, 0, 0.0));
  const rl_drive_order_t order = {.base = {.x = 7.0, .y = 3.0}, .power = true};
  CHECK_EQ(0, rl_drive_step(&driven, &config, &wheels, &order, &in, STEP_S, &out));
  static const double want[] = {26, 65, 65, 26};
  for (size_t i = 0; i < RL_WHEELS; i++) {
    CHECK_NEAR(want[i], driven.setpoint[i], 1e-9);
    CHECK(driven.setpoint[i] <= 65.0);
  }
}

static void a_step_so_late_that_a_counter_may_have_gone_round_resets_odometry(void) {
  for (int bits = 16; bits <= 32; bits += 16) {
    rl_config_t config = test_robot();
    config.encoder_bits = (uint8_t)bits;
    plant_t plant;
    start(&plant, &config);
    go(&plant, ahead, GO, 500);
    plant.robot.now_us += 700u * MS; /* 65 rad/s are 32768 counts in 773 ms */
    step(&plant);
    CHECK_EQ(ODOM_EPOCH, state(&plant.robot).odom_epoch);
    CHECK(state(&plant.robot).odom_x > 0.1F);
    plant.robot.now_us += 800u * MS;
    step(&plant);
    CHECK_EQ((bits == 16) ? (ODOM_EPOCH + 1) : ODOM_EPOCH, state(&plant.robot).odom_epoch);
    CHECK_EQ(bits == 32, state(&plant.robot).odom_x > 0.1F);
  }
}

const test_t *drive_tests(void) {
  static const test_t tests[] = {
      TEST(odometry_is_valid_from_the_first_step_with_wheels),
      TEST(state_tells_what_the_motors_do),
      TEST(outputs_are_off_once_the_wheels_stand_after_whatever_stops_them),
      TEST(outputs_stay_on_for_wheels_that_still_turn_but_not_for_more_than_a_second),
      TEST(reset_odom_zeroes_the_pose_and_steps_the_epoch),
      TEST(the_e_stop_input_is_fault_8_which_nobody_clears_before_its_release),
      TEST(with_the_e_stop_pressed_wheels_need_not_obey),
      TEST(battery_low_and_critical),
      TEST(duty_is_the_share_of_the_battery_or_else_of_its_nominal_voltage),
      TEST(a_wheel_with_a_fault_stops_the_robot_and_is_tried_again_after_clear_and_enable),
      TEST(a_wheel_is_tried_again_though_the_outputs_never_went_off),
      TEST(a_command_beyond_wheel_speed_max_is_scaled_in_all_three_and_says_limited),
      TEST(no_ramp_asks_a_wheel_for_more_than_its_limits),
      TEST(what_is_beyond_a_wheels_limit_already_still_brakes_by_its_ramp),
      TEST(disabled_at_rest_the_outputs_are_off_after_200_ms),
      TEST(a_timeout_brakes_by_a_lin_and_a_ang_whatever_wheel_accel_max_says),
      TEST(a_setpoint_that_is_beyond_a_wheels_limit_all_the_same_is_scaled_for_all_wheels),
      TEST(a_step_so_late_that_a_counter_may_have_gone_round_resets_odometry),
      TEST_END,
  };
  return tests;
}
