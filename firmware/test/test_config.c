/* test_config.c: what a user may configure, and what INFO says of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "test.h"

static void the_default_is_sound(void) {
  const rl_config_t config = rl_config_default();
  CHECK(rl_config_check(&config) == NULL);
  CHECK(strcmp(config.name, "robot_link") == 0);
  CHECK_EQ(150, config.cmd_timeout_ms);
  CHECK_EQ(1000, config.control_hz);
  CHECK_EQ(100, config.state_hz);
}

/* The default with one field changed, and the word that the sentence about it has to start with. */
typedef struct {
  rl_config_t config;
  const char *field;
} row_t;

#define ROW(name, value) rows[count] = (row_t){rl_config_default(), #name}, rows[count++].config.name = (value)

static void what_is_wrong_is_said_in_a_sentence_that_names_the_field(void) {
  row_t rows[40];
  size_t count = 0;
  ROW(name[0], '\0');
  ROW(drive, RL_DRIVE_OMNI3 + 1);
  ROW(wheel_count, RL_WHEELS + 1);
  ROW(wheel_radius, -0.1F);
  ROW(wheel_radius, NAN);
  ROW(track, -0.1F);
  ROW(track, INFINITY);
  ROW(base, -0.1F);
  ROW(base, -INFINITY);
  ROW(v_max, 0.0F);
  ROW(v_max, -2.0F);
  ROW(v_max, INFINITY);
  ROW(v_max, NAN);
  ROW(w_max, 0.0F);
  ROW(w_max, NAN);
  ROW(a_lin, 0.0F);
  ROW(a_lin, -5.0F);
  ROW(a_ang, 0.0F);
  ROW(a_ang, INFINITY);
  ROW(cmd_timeout_ms, 0);
  ROW(cmd_timeout_ms, 1001);
  ROW(control_hz, 0);
  ROW(state_hz, 0);
  ROW(features, RL_FEATURE_AUTH);
  ROW(features, 0x8000);
  for (size_t i = 0; i < count; i++) {
    const char *const sentence = rl_config_check(&rows[i].config);
    CHECK(sentence != NULL);
    if (sentence != NULL) {
      const size_t len = strcspn(rows[i].field, "[");
      CHECK(strncmp(sentence, rows[i].field, len) == 0);
    }
  }
}

static void the_ends_of_the_ranges_are_sound(void) {
  row_t rows[40];
  size_t count = 0;
  ROW(drive, RL_DRIVE_OMNI3);
  ROW(wheel_radius, 0.0F);
  ROW(v_max, 3.4e38F);
  ROW(a_ang, 1e-30F);
  ROW(cmd_timeout_ms, 1);
  ROW(cmd_timeout_ms, 1000);
  ROW(control_hz, 65535);
  ROW(features, RL_FEATURE_ODOMETRY | RL_FEATURE_BATTERY);
  for (size_t i = 0; i < count; i++) {
    CHECK(rl_config_check(&rows[i].config) == NULL);
  }
}

#define WHEEL_ROW(name, value) rows[count] = (row_t){test_robot(), #name}, rows[count++].config.name = (value)

static void what_is_wrong_with_the_wheels_is_said_too(void) {
  row_t rows[60];
  size_t count = 0;
  WHEEL_ROW(wheel_count, 1);
  WHEEL_ROW(wheel_count, 2); /* of mecanum */
  WHEEL_ROW(wheel_count, 3);
  WHEEL_ROW(wheel_radius, 0.0F);
  WHEEL_ROW(track, 0.0F);
  WHEEL_ROW(base, 0.0F);
  WHEEL_ROW(wheel_speed_max, 0.0F);
  WHEEL_ROW(wheel_speed_max, NAN);
  WHEEL_ROW(wheel_accel_max, 0.0F);
  WHEEL_ROW(wheel_accel_max, INFINITY);
  WHEEL_ROW(counts_per_rev, 0.0F);
  WHEEL_ROW(counts_per_rev, -4096.0F);
  WHEEL_ROW(counts_per_rev, 0.9F);
  WHEEL_ROW(encoder_bits, 0);
  WHEEL_ROW(encoder_bits, 24);
  WHEEL_ROW(encoder_bits, 16), rows[count - 1].config.counts_per_rev = 160000.0F; /* 19.8 ms at 65 rad/s */
  WHEEL_ROW(encoder_dir[0], 0);
  WHEEL_ROW(encoder_dir[3], 2);
  WHEEL_ROW(motor_dir[0], -2);
  WHEEL_ROW(motor_dir[2], 0);
  WHEEL_ROW(kp, -1.0F);
  WHEEL_ROW(kp, NAN);
  WHEEL_ROW(ki, -1.0F);
  WHEEL_ROW(kv, INFINITY);
  WHEEL_ROW(ks, -0.1F);
  WHEEL_ROW(ka, NAN);
  WHEEL_ROW(output_max, 0.0F);
  WHEEL_ROW(output_max, NAN);
  WHEEL_ROW(current_max, -1.0F);
  WHEEL_ROW(motor_resistance, INFINITY);
  WHEEL_ROW(battery_nominal_mv, 0);
  for (size_t i = 0; i < count; i++) {
    const char *const sentence = rl_config_check(&rows[i].config);
    CHECK((sentence != NULL) && (strncmp(sentence, rows[i].field, strcspn(rows[i].field, "[")) == 0));
    rows[i].config.drive = RL_DRIVE_NONE; /* and nothing of it matters without wheels, but lengths */
    rows[i].config.wheel_count = 0;
    CHECK(rl_config_check(&rows[i].config) == NULL);
  }
}

static void a_16_bit_counter_is_enough_for_20_ms(void) {
  rl_config_t config = test_robot();
  config.encoder_bits = 16;
  config.counts_per_rev = 158000.0F; /* 20.05 ms */
  CHECK(rl_config_check(&config) == NULL);
}

static void the_users_robot_is_sound(void) {
  const rl_config_t config = rl_config_robot();
  const char *const why = rl_config_check(&config);
  CHECK(why == NULL);
  if (why != NULL) {
    printf("firmware/app/robot_config.h: %s\n", why);
  }
}

static void each_drive_has_the_wheels_and_the_lengths_that_it_needs(void) {
  /* One bit for each wheel_count that fits. */
  static const unsigned fitting[] = {1u << 0u, (1u << 0u) | (1u << 2u) | (1u << 4u), (1u << 0u) | (1u << 4u),
                                     (1u << 0u) | (1u << 3u)};
  for (uint32_t drive_type = RL_DRIVE_NONE; drive_type <= (uint32_t)RL_DRIVE_OMNI3; drive_type++) {
    for (uint32_t wheels = 0; wheels <= (uint32_t)RL_WHEELS; wheels++) {
      rl_config_t config = test_robot();
      config.drive = (uint8_t)drive_type;
      config.wheel_count = (uint8_t)wheels;
      CHECK_EQ((fitting[drive_type] >> wheels) & 1u, rl_config_check(&config) == NULL);
    }
  }
  rl_config_t differential = test_robot();
  differential.drive = RL_DRIVE_DIFFERENTIAL;
  differential.base = 0.0F;
  CHECK(rl_config_check(&differential) == NULL);
  rl_config_t omni = test_robot();
  omni.drive = RL_DRIVE_OMNI3;
  omni.wheel_count = 3;
  omni.track = 0.0F;
  CHECK(rl_config_check(&omni) == NULL);
  omni.base = 0.0F;
  CHECK(rl_config_check(&omni) != NULL);
}

static void the_robot_of_robot_config_h_is_sound_and_the_ends_of_its_ranges_too(void) {
  row_t rows[20];
  size_t count = 0;
  WHEEL_ROW(wheel_count, 4);
  WHEEL_ROW(encoder_bits, 16);
  WHEEL_ROW(encoder_dir[1], -1);
  WHEEL_ROW(motor_dir[3], -1);
  WHEEL_ROW(kp, 0.0F);
  WHEEL_ROW(ki, 0.0F);
  WHEEL_ROW(kv, 0.0F);
  WHEEL_ROW(ks, 0.0F);
  WHEEL_ROW(ka, 0.0F);
  WHEEL_ROW(current_max, 0.0F);
  WHEEL_ROW(motor_resistance, 0.0F);
  WHEEL_ROW(battery_low_mv, 0);
  WHEEL_ROW(battery_critical_mv, 0);
  for (size_t i = 0; i < count; i++) {
    CHECK(rl_config_check(&rows[i].config) == NULL);
  }
}

static void a_refused_configuration_leaves_a_robot_that_shows_itself_but_never_moves(void) {
  rl_config_t config = rl_config_default();
  config.v_max = 0.5F;
  config.a_ang = NAN;
  robot_t robot;
  boot_with(&robot, &config, 0);
  host_t host = new_host(1);
  take(&robot, &host);
  const rl_info_t info = say_hello(&robot, &host);
  CHECK_NEAR(0, info.v_max, 0);
  CHECK_NEAR(0, info.w_max, 0);
  CHECK(info.a_ang > 0.0F);
  drive(&robot, &host, 1, 1, 1, GO, 500);
  CHECK(!any(&robot, RL_STATUS_MOVING));
  CHECK(all(&robot, RL_STATUS_LIMITED));
}

static void info_tells_the_configuration(void) {
  rl_config_t config = test_robot();
  memcpy(config.name, "sixteen bytes ok", RL_NAME_SIZE);
  config.drive = RL_DRIVE_MECANUM;
  config.wheel_count = 4;
  config.wheel_radius = 0.05F;
  config.track = 0.3F;
  config.base = 0.25F;
  config.v_max = 1.5F;
  config.w_max = 4.5F;
  config.a_lin = 2.5F;
  config.a_ang = 7.5F;
  config.cmd_timeout_ms = 200;
  config.control_hz = 500;
  config.state_hz = 50;
  config.firmware_major = 3;
  config.firmware_minor = 4;
  config.firmware_patch = 5;
  config.build_id = 0xDEADBEEF;
  config.features = RL_FEATURE_ODOMETRY;
  robot_t robot;
  boot_with(&robot, &config, 5000);
  host_t host = new_host(1);
  const rl_info_t info = say_hello(&robot, &host);
  CHECK_EQ(RL_VERSION, info.header.version);
  CHECK_EQ(RL_VERSION_MIN, info.version_min);
  CHECK_EQ(RL_VERSION_MAX, info.version_max);
  CHECK_EQ(5000, info.header.time_us);
  CHECK_EQ(RL_FEATURE_ODOMETRY, info.features);
  CHECK_EQ(3, info.firmware_major);
  CHECK_EQ(4, info.firmware_minor);
  CHECK_EQ(5, info.firmware_patch);
  CHECK_EQ(RL_DRIVE_MECANUM, info.drive);
  CHECK_EQ(4, info.wheel_count);
  CHECK_EQ(0xDEADBEEF, info.build_id);
  CHECK_EQ(BOOT_ID, info.boot_id);
  CHECK(memcmp(info.name, config.name, RL_NAME_SIZE) == 0);
  CHECK_NEAR(0.05F, info.wheel_radius, 0);
  CHECK_NEAR(0.3F, info.track, 0);
  CHECK_NEAR(0.25F, info.base, 0);
  CHECK_NEAR(1.5F, info.v_max, 0);
  CHECK_NEAR(4.5F, info.w_max, 0);
  CHECK_NEAR(2.5F, info.a_lin, 0);
  CHECK_NEAR(7.5F, info.a_ang, 0);
  CHECK_EQ(200, info.cmd_timeout_ms);
  CHECK_EQ(500, info.control_hz);
  CHECK_EQ(50, info.state_hz);
}

static void the_name_is_padded_with_zeros(void) {
  rl_config_t config = rl_config_default();
  memcpy(config.name, "ab\0left over....", RL_NAME_SIZE);
  robot_t robot;
  boot_with(&robot, &config, 0);
  host_t host = new_host(1);
  const rl_info_t info = say_hello(&robot, &host);
  CHECK(memcmp(info.name, "ab\0\0\0\0\0\0\0\0\0\0\0\0\0\0", RL_NAME_SIZE) == 0);
}

const test_t *config_tests(void) {
  static const test_t tests[] = {
      TEST(the_default_is_sound),
      TEST(what_is_wrong_is_said_in_a_sentence_that_names_the_field),
      TEST(the_ends_of_the_ranges_are_sound),
      TEST(what_is_wrong_with_the_wheels_is_said_too),
      TEST(a_16_bit_counter_is_enough_for_20_ms),
      TEST(the_users_robot_is_sound),
      TEST(each_drive_has_the_wheels_and_the_lengths_that_it_needs),
      TEST(the_robot_of_robot_config_h_is_sound_and_the_ends_of_its_ranges_too),
      TEST(a_refused_configuration_leaves_a_robot_that_shows_itself_but_never_moves),
      TEST(info_tells_the_configuration),
      TEST(the_name_is_padded_with_zeros),
      TEST_END,
  };
  return tests;
}
