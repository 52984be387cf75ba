/* fixture.c: an MCU and hosts that talk to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fixture.h"

#include <math.h>
#include <string.h>

#include "crc16.h"
#include "packet.h"
#include "test.h"

rl_config_t test_robot(void) {
  const rl_config_t config = {
      .name = "robot_link",
      .drive = RL_DRIVE_MECANUM,
      .wheel_count = 4,
      .wheel_radius = 0.076F,
      .track = 0.30F,
      .base = 0.30F,
      .v_max = 2.0F,
      .w_max = 6.0F,
      .a_lin = 5.0F,
      .a_ang = 10.0F,
      .wheel_speed_max = 65.0F,
      .wheel_accel_max = 150.0F,
      .counts_per_rev = 4096.0F,
      .encoder_bits = 32,
      .encoder_dir = {1, 1, 1, 1},
      .motor_dir = {1, 1, 1, 1},
      .kp = 8.0F,
      .ki = 100.0F,
      .kv = 0.32F,
      .ks = 0.6F,
      .ka = 0.13F,
      .output_max = 24.0F,
      .current_max = 12.0F,
      .motor_resistance = 1.92F,
      .battery_nominal_mv = 24000,
      .battery_low_mv = 21000,
      .battery_critical_mv = 18000,
      .cmd_timeout_ms = 150,
      .control_hz = 1000,
      .state_hz = 100,
      .firmware_minor = 1,
      .features = RL_FEATURE_ODOMETRY | RL_FEATURE_BATTERY,
  };
  return config;
}

void boot(robot_t *robot) {
  const rl_config_t config = rl_config_default();
  boot_with(robot, &config, 1234567);
}

void boot_with(robot_t *robot, const rl_config_t *config, uint64_t now_us) {
  const rl_entropy_t entropy = {.boot_id = BOOT_ID, .session_start = FIRST_SESSION, .odom_epoch = ODOM_EPOCH};
  memset(robot, 0xA5, sizeof(*robot)); /* the core must not count on zeroed memory */
  robot->now_us = now_us;
  robot->reply_len = 0;
  rl_app_init(&robot->app, config, entropy, now_us);
}

host_t new_host(uint8_t ip) {
  const host_t host = {
      .addr = {.ip = 0x0A000000u + ip, .port = RL_PORT_HOST},
      .nonce = 0x1122334455667700u + ip,
      .clock_us = 987654321000u * ip,
  };
  return host;
}

void deliver(robot_t *robot, const host_t *host, const void *datagram, size_t len) {
  memset(robot->reply, 0xA5, sizeof(robot->reply));
  robot->reply_len = rl_app_receive(&robot->app, robot->now_us, host->addr, datagram, len, robot->reply);
}

void deliver_finished(robot_t *robot, const host_t *host, void *packet, size_t len) {
  rl_packet_finish(packet, len);
  deliver(robot, host, packet, len);
}

rl_hello_t make_hello(const robot_t *robot, host_t *host) {
  host->hello_seq++;
  const rl_hello_t hello = {
      .header = rl_packet_header(RL_TYPE_HELLO, 0, host->hello_seq, robot->now_us + host->clock_us),
      .version_min = RL_VERSION_MIN,
      .version_max = RL_VERSION_MAX,
      .want = RL_WANT_ROBOT,
      .nonce = host->nonce,
  };
  return hello;
}

static void check_crc(const uint8_t *packet, size_t len) {
  CHECK_EQ(rl_crc16(packet, len - 2u), packet[len - 2u] | (packet[len - 1u] << 8u));
}

rl_info_t say(robot_t *robot, host_t *host, rl_hello_t hello) {
  rl_info_t info = {0};
  deliver_finished(robot, host, &hello, sizeof(hello));
  CHECK_EQ(sizeof(info), robot->reply_len);
  memcpy(&info, robot->reply, sizeof(info));
  CHECK_EQ(RL_TYPE_INFO, info.header.type);
  check_crc(robot->reply, sizeof(info));
  if ((info.session != 0u) && (info.session != host->session)) {
    host->session = info.session;
    host->seq = 0;
  }
  return info;
}

rl_info_t say_hello(robot_t *robot, host_t *host) { return say(robot, host, make_hello(robot, host)); }

rl_cmd_t make_cmd(const robot_t *robot, host_t *host, uint16_t flags) {
  host->seq++;
  const rl_cmd_t cmd = {
      .header = rl_packet_header(RL_TYPE_CMD, host->session, host->seq, robot->now_us + host->clock_us),
      .flags = flags,
  };
  return cmd;
}

void send_cmd(robot_t *robot, const host_t *host, rl_cmd_t cmd) {
  deliver_finished(robot, host, &cmd, sizeof(cmd));
  CHECK_EQ(0, robot->reply_len);
}

void tell(robot_t *robot, host_t *host, float vx, float vy, float wz, uint16_t flags) {
  rl_cmd_t cmd = make_cmd(robot, host, flags);
  cmd.vx = vx;
  cmd.vy = vy;
  cmd.wz = wz;
  send_cmd(robot, host, cmd);
}

void take(robot_t *robot, host_t *host) {
  const rl_info_t info = say_hello(robot, host);
  CHECK_EQ(RL_REASON_GRANTED, info.reason);
  tell(robot, host, 0, 0, 0, 0);
  tell(robot, host, 0, 0, 0, ENABLE);
  CHECK(all(robot, RL_STATUS_ENABLED));
}

void run(robot_t *robot, uint32_t ms) {
  for (uint32_t i = 0; i < ms; i++) {
    robot->now_us += MS;
    control(&robot->app, robot->now_us);
  }
}

void drive(robot_t *robot, host_t *host, float vx, float vy, float wz, uint16_t flags, uint32_t ms) {
  for (uint32_t i = 0; i < ms; i++) {
    if ((i % 10u) == 0u) {
      tell(robot, host, vx, vy, wz, flags);
    }
    run(robot, 1);
  }
}

rl_state_t state(robot_t *robot) {
  uint8_t out[RL_PACKET_MAX];
  rl_state_t state = {0};
  const size_t len = rl_app_state(&robot->app, robot->now_us, &robot->state_to, out);
  CHECK_EQ(sizeof(state), len);
  if (len == sizeof(state)) {
    memcpy(&state, out, sizeof(state));
    check_crc(out, sizeof(state));
  }
  return state;
}

bool all(const robot_t *robot, uint32_t bits) { return (rl_app_status(&robot->app, robot->now_us) & bits) == bits; }

bool any(const robot_t *robot, uint32_t bits) { return (rl_app_status(&robot->app, robot->now_us) & bits) != 0u; }

double speed(const robot_t *robot) {
  const rl_setpoint_t setpoint = rl_app_setpoint(&robot->app);
  return hypot((double)setpoint.vx, (double)setpoint.vy);
}

void check_counters(const robot_t *robot) {
  const rl_counters_t *const c = rl_app_counters(&robot->app);
  const uint32_t rejected = c->rx_short + c->rx_crc + c->rx_version + c->rx_type + c->rx_length + c->rx_session;
  const uint32_t cmds = c->cmd_old + c->cmd_bad + c->cmd_stale + c->cmd_applied;
  const uint32_t others = c->hello + c->hello_refused + c->hello_bad_nonce + c->echo;
  CHECK_EQ(c->rx_total, rejected + cmds + others);
}

uint64_t random_u64(uint64_t *seed) {
  *seed ^= *seed >> 12u;
  *seed ^= *seed << 25u;
  *seed ^= *seed >> 27u;
  return *seed * UINT64_C(0x2545F4914F6CDD1D);
}

uint32_t random_below(uint64_t *seed, uint32_t bound) { return (uint32_t)((random_u64(seed) >> 32u) % bound); }

double random_unit(uint64_t *seed) { return (double)(random_u64(seed) >> 11u) * 0x1p-53; }
