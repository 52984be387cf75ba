/* test_property.c: what holds whatever arrives, and whenever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "fixture.h"
#include "packet.h"
#include "test.h"

/* Two floats of up to 6 differ by this much more than what they stand for. */
#define FLOAT_ROUNDING 5e-7

/* What may never be otherwise. */
static void check_invariants(const robot_t *robot) {
  const rl_setpoint_t setpoint = rl_app_setpoint(&robot->app);
  CHECK(speed(robot) <= (double)robot->app.config.v_max); /* false for NaN */
  CHECK(fabsf(setpoint.wz) <= robot->app.config.w_max);
  const bool moving = (speed(robot) > 0.0) || (fabsf(setpoint.wz) > 0.0F);
  CHECK_EQ(moving, any(robot, RL_STATUS_MOVING));
  CHECK_EQ(moving || any(robot, RL_STATUS_ENABLED), rl_app_outputs_on(&robot->app));
  CHECK(!any(robot, RL_STATUS_ENABLED) || !any(robot, RL_STATUS_ESTOP | RL_STATUS_FAULT));
  CHECK(!all(robot, RL_STATUS_CMD_TIMEOUT | RL_STATUS_CMD_IDLE));
  check_counters(robot);
}

/* One control step, dt_us after the last one: never further than the ramp allows, and never faster by more than what
 * two periods allow. */
static void check_step(robot_t *robot, uint64_t dt_us) {
  const rl_config_t *const config = &robot->app.config;
  const rl_setpoint_t before = rl_app_setpoint(&robot->app);
  const double speed_before = speed(robot);
  robot->now_us += dt_us;
  control(&robot->app, robot->now_us);
  const rl_setpoint_t after = rl_app_setpoint(&robot->app);
  const double dt_s = (double)dt_us * 1e-6 * 1.0001;
  const double rise_s = fmin(dt_s, 2.0 / config->control_hz * 1.0001);
  const double dv = hypot((double)after.vx - (double)before.vx, (double)after.vy - (double)before.vy);
  const double dw = fabs((double)after.wz - (double)before.wz);
  CHECK(dv <= (dt_s * (double)config->a_lin) + FLOAT_ROUNDING);
  CHECK(dw <= (dt_s * (double)config->a_ang) + FLOAT_ROUNDING);
  CHECK(speed(robot) - speed_before <= (rise_s * (double)config->a_lin) + FLOAT_ROUNDING);
  CHECK(fabs((double)after.wz) - fabs((double)before.wz) <= (rise_s * (double)config->a_ang) + FLOAT_ROUNDING);
  check_invariants(robot);
}

static float random_velocity(uint64_t *seed) {
  static const float special[] = {0.0F,         -0.0F, NAN,     INFINITY, -INFINITY,     FLT_MAX, -FLT_MAX,
                                  FLT_TRUE_MIN, 2.0F,  -2.0F,   6.0F,     1.9999999F,    1e30F,   -1e-30F};
  const uint32_t pick = random_below(seed, 60);
  if (pick < sizeof(special) / sizeof(special[0])) {
    return special[pick];
  }
  return (float)((random_unit(seed) * 16.0) - 8.0);
}

/* A CMD of the host with anything in it; mostly such that it moves. */
static rl_cmd_t random_cmd(uint64_t *seed, const robot_t *robot, host_t *host) {
  const uint32_t kind = random_below(seed, 100);
  uint16_t flags = GO;
  if (kind < 10u) {
    flags = (uint16_t)random_below(seed, 32);
  } else if (kind < 20u) {
    flags = VALID; /* so that ENABLE can rise */
  } else if (kind < 30u) {
    flags = CLEAR;
  }
  rl_cmd_t cmd = make_cmd(robot, host, flags);
  cmd.vx = random_velocity(seed);
  cmd.vy = random_velocity(seed);
  cmd.wz = random_velocity(seed);
  if (random_below(seed, 50) == 0u) {
    cmd.header.seq += random_below(seed, 5) - 2u;
  }
  if (random_below(seed, 50) == 0u) {
    cmd.header.time_us -= random_below(seed, 400000);
  }
  if (random_below(seed, 100) == 0u) {
    cmd.header.session = (uint16_t)random_below(seed, 65536);
  }
  return cmd;
}

static void limits_and_ramp_hold_whatever_is_sent_and_whenever_control_runs(void) {
  for (uint64_t run_seed = 1; run_seed <= 40u; run_seed++) {
    uint64_t seed = run_seed;
    rl_config_t config = rl_config_default();
    config.drive = (uint8_t)random_below(&seed, 4);
    robot_t robot;
    boot_with(&robot, &config, UINT64_MAX - random_below(&seed, 5000000)); /* the clock wraps during most runs */
    host_t host = new_host((uint8_t)run_seed);
    take(&robot, &host);
    uint32_t moved = 0;
    for (int i = 0; i < 4000; i++) {
      if (random_below(&seed, 4) == 0u) {
        send_cmd(&robot, &host, random_cmd(&seed, &robot, &host));
      }
      if (random_below(&seed, 500) == 0u) {
        host.nonce++;
        (void)say_hello(&robot, &host);
      }
      if (random_below(&seed, 300) == 0u) {
        const uint8_t fault = (uint8_t)random_below(&seed, 10);
        rl_app_fault_raise(&robot.app, fault);
        rl_app_fault_lower(&robot.app, fault);
      }
      const uint32_t kind = random_below(&seed, 100);
      const uint32_t dt_us = (kind < 90u) ? 500u + random_below(&seed, 1000) : random_below(&seed, 20);
      check_step(&robot, (kind < 99u) ? dt_us : random_below(&seed, 300000));
      moved += any(&robot, RL_STATUS_MOVING) ? 1u : 0u;
    }
    CHECK(moved > 1000u); /* or it would prove little */
  }
}

static void whatever_moves_is_at_rest_within_the_stop_bound_of_the_last_valid_cmd(void) {
  for (uint64_t run_seed = 1; run_seed <= 300u; run_seed++) {
    uint64_t seed = run_seed * 977u;
    robot_t robot;
    boot(&robot);
    host_t host = new_host(1);
    take(&robot, &host);
    for (uint32_t i = 0; i < 20u + random_below(&seed, 60); i++) {
      const float scale = (float)(random_unit(&seed) * 3.0);
      tell(&robot, &host, scale * (float)(random_unit(&seed) - 0.5), scale, 4.0F - (scale * 2.0F), GO);
      run(&robot, 10);
    }
    /* The last valid CMD came 10 ms ago; from here on only what must not count. */
    const double v = speed(&robot);
    const double w = fabs((double)rl_app_setpoint(&robot.app).wz);
    CHECK(any(&robot, RL_STATUS_MOVING));
    const uint64_t last_us = robot.now_us - (10u * MS);
    const uint64_t step_us = 200u + random_below(&seed, 1800);
    const rl_cmd_t copy = make_cmd(&robot, &host, GO); /* held back, and too late when it comes */
    double v_top = v; /* it may still be on its way up, while the last CMD holds */
    double w_top = w;
    while (any(&robot, RL_STATUS_MOVING) && (robot.now_us - last_us < 10u * SECOND)) {
      check_step(&robot, step_us);
      v_top = fmax(v_top, speed(&robot));
      w_top = fmax(w_top, fabs((double)rl_app_setpoint(&robot.app).wz));
      if (robot.now_us - last_us > 200u * MS) {
        send_cmd(&robot, &host, copy);
      }
      host_t other = host;
      other.addr.port++;
      tell(&robot, &other, 2, 0, 0, GO);
      tell(&robot, &host, NAN, 0, 0, GO);
    }
    const double bound_us = (fmax(v_top / 5.0, w_top / 10.0) * 1e6) + 150000.0 + (double)step_us;
    CHECK((double)(robot.now_us - last_us) <= bound_us + 1.0);
    for (int i = 0; i < 100; i++) { /* and stays there */
      check_step(&robot, step_us);
      CHECK(!any(&robot, RL_STATUS_MOVING));
    }
  }
}

static void random_bytes_do_no_harm_and_each_is_counted_once(void) {
  uint64_t seed = 42;
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  take(&robot, &host);
  for (uint32_t i = 0; i < 200000u; i++) {
    uint8_t datagram[RL_PACKET_MAX + 24u];
    const size_t len = random_below(&seed, sizeof(datagram) + 1u);
    for (size_t k = 0; k < len; k++) {
      datagram[k] = (uint8_t)random_u64(&seed);
    }
    if ((len >= RL_PACKET_MIN) && (random_below(&seed, 4) != 0u)) { /* most get past the CRC, and some further */
      datagram[0] = RL_VERSION;
      datagram[1] = (uint8_t)random_below(&seed, 9);
      rl_packet_finish(datagram, len);
    }
    deliver(&robot, &host, datagram, len);
    CHECK(robot.reply_len <= len); /* a reply is never larger than its question */
    CHECK_EQ(i + 3u + 1u, rl_app_counters(&robot.app)->rx_total);
    check_step(&robot, 1000);
  }
}

static void one_flipped_bit_is_always_found(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  rl_cmd_t cmd = make_cmd(&robot, &host, GO);
  rl_packet_finish((uint8_t *)&cmd, sizeof(cmd));
  for (size_t bit = 0; bit < sizeof(cmd) * 8u; bit++) {
    uint8_t datagram[sizeof(cmd)];
    memcpy(datagram, &cmd, sizeof(cmd));
    datagram[bit / 8u] ^= (uint8_t)(1u << (bit % 8u));
    deliver(&robot, &host, datagram, sizeof(datagram));
  }
  CHECK_EQ(sizeof(cmd) * 8u, rl_app_counters(&robot.app)->rx_crc);
}

/* Two hosts repeat HELLO and send CMDs over a network that loses, doubles and delays: the robot never does what the
 * one that does not hold it said. */
static void only_the_holder_moves_the_robot_on_a_hostile_network(void) {
  enum { IN_FLIGHT = 32 };
  for (uint64_t run_seed = 1; run_seed <= 30u; run_seed++) {
    uint64_t seed = run_seed * 31337u;
    robot_t robot;
    boot(&robot);
    host_t hosts[2] = {new_host(1), new_host(2)};
    struct {
      rl_cmd_t cmd;
      uint64_t due_us;
      int host;
    } air[IN_FLIGHT] = {0};
    uint32_t moved = 0;
    for (uint32_t ms = 0; ms < 5000u; ms++) {
      const int who = (int)random_below(&seed, 2);
      host_t *const host = &hosts[who];
      if (random_below(&seed, 30) == 0u) {
        host->nonce += random_below(&seed, 2); /* now and then as a restarted process */
        (void)say_hello(&robot, host);
      }
      if (random_below(&seed, 5) == 0u) { /* host 0 only goes forward, host 1 only back */
        rl_cmd_t cmd = make_cmd(&robot, host, (random_below(&seed, 10) == 0u) ? VALID : GO);
        cmd.vx = (who == 0) ? 1.0F : -1.0F;
        for (uint32_t copies = random_below(&seed, 3); copies > 0u; copies--) {
          const uint32_t slot = random_below(&seed, IN_FLIGHT);
          air[slot].cmd = cmd;
          air[slot].host = who;
          air[slot].due_us = robot.now_us + random_below(&seed, 60000);
        }
      }
      for (size_t i = 0; i < IN_FLIGHT; i++) {
        if ((air[i].cmd.header.type != 0u) && (air[i].due_us <= robot.now_us)) {
          send_cmd(&robot, &hosts[air[i].host], air[i].cmd);
          air[i].cmd.header.type = 0;
        }
      }
      const float before = rl_app_setpoint(&robot.app).vx;
      check_step(&robot, 1000);
      const float change = rl_app_setpoint(&robot.app).vx - before;
      if (any(&robot, RL_STATUS_ENABLED)) {
        (void)state(&robot);
        const bool first = robot.state_to.ip == hosts[0].addr.ip;
        CHECK(first ? ((change >= 0.0F) || (before > 1.0F) || any(&robot, RL_STATUS_CMD_TIMEOUT))
                    : ((change <= 0.0F) || any(&robot, RL_STATUS_CMD_TIMEOUT)));
        moved++;
      }
    }
    CHECK(moved > 100u);
  }
}

const test_t *property_tests(void) {
  static const test_t tests[] = {
      TEST(limits_and_ramp_hold_whatever_is_sent_and_whenever_control_runs),
      TEST(whatever_moves_is_at_rest_within_the_stop_bound_of_the_last_valid_cmd),
      TEST(random_bytes_do_no_harm_and_each_is_counted_once),
      TEST(one_flipped_bit_is_always_found),
      TEST(only_the_holder_moves_the_robot_on_a_hostile_network),
      TEST_END,
  };
  return tests;
}
