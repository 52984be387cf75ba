/* app.c: ties the parts together: what comes in, what goes out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "app.h"

#include <string.h>

#include "angle.h"
#include "clock.h"
#include "packet.h"

#define CMD_DELAY_UNIT_US 10u
#define RL_SESSION_COUNT UINT16_MAX /* the numbers that a session can have: all but 0 */

static uint64_t timeout_us(const rl_app_t *app) { return app->config.cmd_timeout_ms * UINT64_C(1000); }

void rl_app_init(rl_app_t *app, const rl_config_t *config, rl_entropy_t entropy, uint64_t now_us) {
  memset(app, 0, sizeof(*app));
  if (rl_config_check(config) == NULL) {
    app->config = *config;
  } else {
    /* Not simply the default: its limits may be wider than those that were meant. */
    app->config = rl_config_default();
    app->config.v_max = 0.0F;
    app->config.w_max = 0.0F;
  }
  app->boot_id = entropy.boot_id;
  app->sessions_left = RL_SESSION_COUNT;
  app->odom_epoch = entropy.odom_epoch;
  rl_session_init(&app->session, entropy.session_start);
  rl_safety_init(&app->safety);
  rl_motion_init(&app->motion, now_us);
  app->motion.wheels = rl_kinematics(&app->config);
  rl_drive_init(&app->drive, &app->config);
}

/* Receiving. */

/* A session number is never reused within a boot. When all are used up the next grant shows a new boot id: to a host
 * that is a reboot, and here nothing else changes. A real one would end a latched ESTOP, and waiting for rest would
 * lock somebody out. */
static void number_session(rl_app_t *app) {
  if (app->sessions_left == 0u) {
    app->sessions_left = RL_SESSION_COUNT;
    app->boot_id++;
  }
  app->sessions_left--;
}

/* Whether it wants the robot, its nonce, its versions and the holder, in that order, decide on a HELLO. Returns
 * RL_REASON_. */
static uint8_t decide(rl_app_t *app, uint64_t now_us, rl_addr_t from, const rl_hello_t *hello) {
  rl_counters_t *const counters = &app->counters;
  if (hello->want != RL_WANT_ROBOT) {
    counters->hello++;
    return RL_REASON_NOT_ASKED;
  }
  if (hello->nonce == 0u) {
    counters->hello_bad_nonce++;
    return RL_REASON_NOT_ASKED;
  }
  if ((hello->version_min > RL_VERSION_MAX) || (hello->version_max < RL_VERSION_MIN)) {
    counters->hello_refused++;
    return RL_REASON_VERSION;
  }
  bool is_new = false;
  const uint8_t reason = rl_session_hello(&app->session, hello, from, now_us, timeout_us(app), &is_new);
  if (reason != RL_REASON_GRANTED) {
    counters->hello_refused++;
    rl_events_note(&app->events, RL_EVENT_CONTENTION, now_us);
    return reason;
  }
  counters->hello++;
  if (is_new) {
    number_session(app);
    rl_safety_session(&app->safety);
  }
  return RL_REASON_GRANTED;
}

static size_t receive_hello(rl_app_t *app, uint64_t now_us, rl_addr_t from, const rl_hello_t *hello, uint8_t *reply) {
  const uint8_t reason = decide(app, now_us, from, hello);
  const uint16_t session = (reason == RL_REASON_GRANTED) ? app->session.id : 0u;
  const rl_config_t *const config = &app->config;
  rl_info_t info = {
      .header = rl_packet_header(RL_TYPE_INFO, session, hello->header.seq, now_us),
      .version_min = RL_VERSION_MIN,
      .version_max = RL_VERSION_MAX,
      .features = config->features,
      .firmware_major = config->firmware_major,
      .firmware_minor = config->firmware_minor,
      .firmware_patch = config->firmware_patch,
      .drive = config->drive,
      .nonce = hello->nonce,
      .session = session,
      .reason = reason,
      .wheel_count = config->wheel_count,
      .build_id = config->build_id,
      .boot_id = app->boot_id,
      .wheel_radius = config->wheel_radius,
      .track = config->track,
      .base = config->base,
      .v_max = config->v_max,
      .w_max = config->w_max,
      .a_lin = config->a_lin,
      .a_ang = config->a_ang,
      .cmd_timeout_ms = config->cmd_timeout_ms,
      .control_hz = config->control_hz,
      .state_hz = config->state_hz,
  };
  for (size_t i = 0; (i < sizeof(info.name)) && (config->name[i] != '\0'); i++) {
    info.name[i] = config->name[i];
  }
  memcpy(reply, &info, sizeof(info));
  rl_packet_finish(reply, sizeof(info));
  return sizeof(info);
}

static size_t receive_echo(rl_app_t *app, uint64_t now_us, const rl_echo_t *echo, uint8_t *reply) {
  app->counters.echo++;
  const rl_echo_t answer = {
      .header = rl_packet_header(RL_TYPE_ECHO_REPLY, echo->header.session, echo->header.seq, now_us),
      .host_time_us = echo->host_time_us,
      .mcu_rx_us = now_us,
  };
  memcpy(reply, &answer, sizeof(answer));
  rl_packet_finish(reply, sizeof(answer));
  return sizeof(answer);
}

static void reset_odometry(rl_app_t *app) {
  rl_drive_reset_odometry(&app->drive);
  app->odom_epoch++;
}

static void receive_cmd(rl_app_t *app, uint64_t now_us, rl_addr_t from, const rl_cmd_t *cmd) {
  rl_counters_t *const counters = &app->counters;
  if ((cmd->flags & RL_CMD_ESTOP) != 0u) {
    rl_safety_estop(&app->safety); /* before anything is asked about its sender: stopping needs no permission */
  }
  uint32_t missed = 0;
  const rl_admit_t admit = rl_session_admit(&app->session, cmd, from, now_us, timeout_us(app), &missed);
  if (missed != 0u) {
    counters->cmd_gap += missed;
    rl_events_note(&app->events, RL_EVENT_SEQ_GAP, now_us);
  }
  switch (admit) {
    case RL_ADMIT_OTHER:
      counters->rx_session++;
      break;
    case RL_ADMIT_OLD:
      counters->cmd_old++;
      break;
    case RL_ADMIT_NOT_FINITE:
      counters->cmd_bad++;
      rl_events_note(&app->events, RL_EVENT_BAD_COMMAND, now_us);
      break;
    case RL_ADMIT_STALE:
      counters->cmd_stale++;
      rl_events_note(&app->events, RL_EVENT_STALE, now_us);
      break;
    case RL_ADMIT_VALID:
    default:
      counters->cmd_applied++;
      rl_motion_command(&app->motion, &app->config, cmd, now_us);
      if ((rl_safety_flags(&app->safety, cmd->flags) & RL_CMD_RESET_ODOM) != 0u) {
        reset_odometry(app);
      }
      break;
  }
}

size_t rl_app_receive(rl_app_t *app, uint64_t now_us, rl_addr_t from, const uint8_t *datagram, size_t len,
                      uint8_t reply[RL_PACKET_MAX]) {
  union {
    rl_cmd_t cmd;
    rl_echo_t echo;
    rl_hello_t hello;
  } packet;
  rl_counters_t *const counters = &app->counters;
  counters->rx_total++;
  switch (rl_packet_check(datagram, len)) {
    case RL_PACKET_SHORT:
      counters->rx_short++;
      return 0;
    case RL_PACKET_CRC:
      counters->rx_crc++;
      rl_events_note(&app->events, RL_EVENT_CRC_ERROR, now_us);
      return 0;
    case RL_PACKET_VERSION:
      counters->rx_version++;
      return 0;
    case RL_PACKET_LENGTH:
      counters->rx_length++;
      return 0;
    case RL_PACKET_CMD:
      memcpy(&packet.cmd, datagram, sizeof(packet.cmd));
      receive_cmd(app, now_us, from, &packet.cmd);
      return 0;
    case RL_PACKET_ECHO:
      memcpy(&packet.echo, datagram, sizeof(packet.echo));
      return receive_echo(app, now_us, &packet.echo, reply);
    case RL_PACKET_HELLO:
      memcpy(&packet.hello, datagram, sizeof(packet.hello));
      return receive_hello(app, now_us, from, &packet.hello, reply);
    case RL_PACKET_TYPE:
    default:
      counters->rx_type++;
      return 0;
  }
}

void rl_echo_stamp(uint8_t *reply, uint64_t tx_us, uint32_t cycles) {
  rl_echo_t echo;
  memcpy(&echo.header, reply, sizeof(echo.header));
  if (echo.header.type != RL_TYPE_ECHO_REPLY) {
    return;
  }
  memcpy(&echo, reply, sizeof(echo));
  echo.header.time_us = tx_us;
  echo.turnaround_cycles = cycles;
  memcpy(reply, &echo, sizeof(echo));
  rl_packet_finish(reply, sizeof(echo));
}

/* Control. */

/* A fault that is there as long as its cause is. Lowered once only: the shell may have causes of its own for it. */
static void set_cause(rl_app_t *app, uint8_t fault, bool there) {
  const uint32_t bit = 1u << fault;
  if (there) {
    rl_safety_fault_raise(&app->safety, fault);
    app->seen_causes |= bit;
  } else if ((app->seen_causes & bit) != 0u) {
    rl_safety_fault_lower(&app->safety, fault);
    app->seen_causes &= ~bit;
  }
}

static bool battery_below(const rl_app_t *app, uint16_t level_mv) {
  return (app->drive.battery_mv > 0.0) && (app->drive.battery_mv < level_mv);
}

/* Faults that only happen: whether their cause is still there shows when the wheels are tried again. */
static void note_faults(rl_app_t *app, uint32_t faults) {
  for (uint32_t fault = RL_FAULT_ENCODER_LOST; fault <= (uint32_t)RL_FAULT_OVERCURRENT; fault++) {
    if ((faults & (1u << fault)) != 0u) {
      rl_safety_fault_raise(&app->safety, (uint8_t)fault);
      rl_safety_fault_lower(&app->safety, (uint8_t)fault);
    }
  }
}

/* Enabled, or still on the ramp. */
static bool driven(const rl_app_t *app) { return app->safety.enabled || rl_motion_moving(&app->motion); }

static uint8_t leds(const rl_app_t *app, uint64_t now_us) {
  const uint32_t status = rl_app_status(app, now_us);
  const bool stopped = (status & (RL_STATUS_CMD_TIMEOUT | RL_STATUS_ESTOP | RL_STATUS_FAULT)) != 0u;
  return (uint8_t)((stopped ? RL_LED_RED : RL_LED_GREEN) | (rl_app_outputs_on(app) ? RL_LED_YELLOW : 0));
}

void rl_app_control(rl_app_t *app, uint64_t now_us, const rl_inputs_t *in, rl_outputs_t *out) {
  rl_motion_t *const motion = &app->motion;
  const double dt = (double)rl_age_us(now_us, motion->stepped_us) * 1e-6;
  if (!rl_drive_sample(&app->drive, &app->config, &motion->wheels, in, now_us, dt)) {
    reset_odometry(app);
  }
  set_cause(app, RL_FAULT_HARDWARE_ESTOP, in->estop);
  set_cause(app, RL_FAULT_BATTERY_CRITICAL, battery_below(app, app->config.battery_critical_mv));
  const bool late = rl_motion_step(motion, &app->config, app->safety.enabled, now_us, timeout_us(app));
  if (late) {
    rl_events_note(&app->events, RL_EVENT_OVERRUN, now_us);
  }
  const rl_drive_order_t order = {
      .base = {.x = motion->vx, .y = motion->vy, .wz = motion->wz},
      .power = driven(app),
      .forgive = app->safety.faults == 0u,
      .watched = !in->estop,
      .late = late,
  };
  note_faults(app, rl_drive_step(&app->drive, &app->config, &motion->wheels, &order, in, dt, out));
  out->leds = leds(app, now_us);
}

void rl_app_fault_raise(rl_app_t *app, uint8_t fault) { rl_safety_fault_raise(&app->safety, fault); }

void rl_app_fault_lower(rl_app_t *app, uint8_t fault) { rl_safety_fault_lower(&app->safety, fault); }

rl_setpoint_t rl_app_setpoint(const rl_app_t *app) { return rl_motion_setpoint(&app->motion, &app->config); }

bool rl_app_outputs_on(const rl_app_t *app) {
  return driven(app) || app->drive.on;
}

/* Telling. */

static bool odom_valid(const rl_app_t *app) {
  return app->drive.sampled && ((app->safety.faults & (1u << RL_FAULT_ENCODER_LOST)) == 0u);
}

/* The part of STATE that is measured; all of it 0 without wheels. */
static void tell_drive(const rl_app_t *app, rl_state_t *state) {
  const rl_drive_t *const drive = &app->drive;
  for (size_t i = 0; i < app->motion.wheels.wheels; i++) {
    state->wheel_vel[i] = (float)drive->velocity[i];
    state->wheel_pos[i] = rl_angle_float(rl_encoder_position(&drive->encoder[i]));
  }
  state->odom_x = (float)drive->pose.x;
  state->odom_y = (float)drive->pose.y;
  state->odom_yaw = rl_angle_float(drive->pose.yaw);
  state->twist_vx = (float)drive->twist.x;
  state->twist_vy = (float)drive->twist.y;
  state->twist_wz = (float)drive->twist.wz;
  state->battery_mv = (uint16_t)(drive->battery_mv + 0.5);
}

uint32_t rl_app_status(const rl_app_t *app, uint64_t now_us) {
  const bool timed_out = rl_motion_timed_out(&app->motion, now_us, timeout_us(app));
  const struct {
    bool set;
    uint32_t bit;
  } levels[] = {
      {timed_out, RL_STATUS_CMD_TIMEOUT},
      {!timed_out && !app->motion.motion_valid, RL_STATUS_CMD_IDLE},
      {!timed_out && app->motion.motion_valid && app->motion.limited, RL_STATUS_LIMITED},
      {app->safety.enabled, RL_STATUS_ENABLED},
      {app->safety.estop, RL_STATUS_ESTOP},
      {app->safety.faults != 0u, RL_STATUS_FAULT},
      {rl_motion_moving(&app->motion), RL_STATUS_MOVING},
      {odom_valid(app), RL_STATUS_ODOM_VALID},
      {battery_below(app, app->config.battery_low_mv), RL_STATUS_LOW_BATTERY},
  };
  uint32_t status = rl_events_bits(&app->events, now_us);
  for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
    status |= levels[i].set ? levels[i].bit : 0u;
  }
  return status;
}

size_t rl_app_state(rl_app_t *app, uint64_t now_us, rl_addr_t *to, uint8_t out[RL_PACKET_MAX]) {
  const rl_session_t *const session = &app->session;
  if (session->id == 0u) {
    return 0;
  }
  app->counters.tx_state++;
  app->state_seq++;
  rl_state_t state = {
      .header = rl_packet_header(RL_TYPE_STATE, session->id, app->state_seq, now_us),
      .status = rl_app_status(app, now_us),
      .cmd_age_us = RL_AGE_NONE,
      .odom_epoch = app->odom_epoch,
      .fault = rl_safety_fault(&app->safety),
  };
  tell_drive(app, &state);
  if (session->any_valid) {
    const uint64_t age_us = rl_age_us(now_us, session->alive_us);
    const uint64_t delay = session->delay_us / CMD_DELAY_UNIT_US;
    state.cmd_seq = session->valid_seq;
    state.cmd_age_us = (age_us < RL_AGE_NONE) ? (uint32_t)age_us : RL_AGE_NONE;
    state.cmd_delay = (delay < UINT16_MAX) ? (uint16_t)delay : UINT16_MAX;
  }
  memcpy(out, &state, sizeof(state));
  rl_packet_finish(out, sizeof(state));
  *to = session->addr;
  return sizeof(state);
}

const rl_counters_t *rl_app_counters(const rl_app_t *app) { return &app->counters; }
