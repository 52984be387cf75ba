/* failsafe_rules.c: the past, and what docs/protocol.md says must follow from it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "failsafe.h"

#include <math.h>
#include <string.h>

#include "../control.h"
#include "explore.h"
#include "packet.h"

#define EVENT_BITS                                                                                              \
  ((uint32_t)(RL_STATUS_SEQ_GAP | RL_STATUS_CRC_ERROR | RL_STATUS_CONTENTION | RL_STATUS_OVERRUN |              \
              RL_STATUS_BAD_COMMAND | RL_STATUS_STALE))
#define LEVEL_BITS                                                                                              \
  ((uint32_t)(RL_STATUS_CMD_TIMEOUT | RL_STATUS_CMD_IDLE | RL_STATUS_ENABLED | RL_STATUS_ESTOP |                \
              RL_STATUS_LIMITED | RL_STATUS_FAULT | RL_STATUS_MOVING))

/* Of the unit in which all setpoints are whole numbers here. */
#define NEAR 1e-4

static int64_t age_ms(uint64_t now_us, uint64_t then_us) { return (int64_t)(now_us - then_us) / (int64_t)MS; }

static bool same_addr(rl_addr_t a, rl_addr_t b) { return (a.ip == b.ip) && (a.port == b.port); }

static bool timed_out(const failsafe_t *robot) {
  const past_t *const past = &robot->past;
  return !past->commanded || (age_ms(robot->clock_us, past->commanded_us) >= rig->timeout_ms);
}

static bool same_setpoint(rl_setpoint_t a, rl_setpoint_t b) {
  return (a.vx == b.vx) && (a.vy == b.vy) && (a.wz == b.wz);
}

static bool is_moving(rl_setpoint_t a) { return (a.vx != 0.0F) || (a.vy != 0.0F) || (a.wz != 0.0F); }

/* The command that is in force: what would be ramped to if that were allowed. */
static bool same_command(const rl_motion_t *a, const rl_motion_t *b) {
  return (a->command.vx == b->command.vx) && (a->command.vy == b->command.vy) && (a->command.wz == b->command.wz) &&
         (a->command_us == b->command_us) && (a->commanded == b->commanded) && (a->motion_valid == b->motion_valid) &&
         (a->limited == b->limited);
}

/* Whatever happened. */

void failsafe_check(const failsafe_t *robot, uint32_t events) {
  const past_t *const past = &robot->past;
  const uint32_t status = rl_app_status(&robot->app, robot->clock_us);
  const rl_setpoint_t setpoint = rl_app_setpoint(&robot->app);
  const bool enabled = (status & RL_STATUS_ENABLED) != 0u;
  const bool late = timed_out(robot);
  if (enabled) {
    expect(RULE_ENABLED_ONLY, past->armed);
  }
  if (past->armed) {
    expect(RULE_ENABLED_THEN, enabled);
  }
  expect(RULE_STATUS_TIMEOUT, ((status & RL_STATUS_CMD_TIMEOUT) != 0u) == late);
  expect(RULE_STATUS_IDLE, ((status & RL_STATUS_CMD_IDLE) != 0u) == (!late && !past->meant));
  expect(RULE_STATUS_LIMITED, ((status & RL_STATUS_LIMITED) != 0u) == (!late && past->meant && past->limited));
  expect(RULE_STATUS_MOVING, ((status & RL_STATUS_MOVING) != 0u) == is_moving(setpoint));
  expect(RULE_STATUS_EVENTS, (status & EVENT_BITS) == events);
  expect(RULE_STATUS_REST, (status & ~(EVENT_BITS | LEVEL_BITS)) == 0u);
  expect(RULE_LIMITS, (fabsf(setpoint.vx) <= rig->v_max) && (fabsf(setpoint.wz) <= rig->w_max));
  expect(RULE_LIMITS, setpoint.vy == 0.0F);
  expect(RULE_OUTPUTS, rl_app_outputs_on(&robot->app) == (past->armed || is_moving(setpoint)));
  /* Both latches, whatever it was that set or ended them. */
  const bool estop = (status & RL_STATUS_ESTOP) != 0u;
  expect(past->estop ? RULE_ESTOP_LATCHES : RULE_ESTOP_ENDS, estop == past->estop);
  const bool fault = (status & RL_STATUS_FAULT) != 0u;
  expect((past->faults != 0u) ? RULE_FAULT_LATCHES : RULE_FAULT_ENDS, fault == (past->faults != 0u));
}

/* CMD. */

/* Of a flag that acts on its rising edge. */
static bool rises(seen_t *seen, uint16_t flags, uint16_t flag) {
  const bool set = (flags & flag) != 0u;
  const bool rising = set && (*seen == SEEN_CLEAR);
  *seen = set ? SEEN_SET : SEEN_CLEAR;
  return rising;
}

/* A valid CMD: ENABLE is judged before CLEAR_FAULT. Returns whether RESET_ODOM rose. */
static bool note_flags(past_t *past, uint16_t flags) {
  const bool stopped = past->estop || (past->faults != 0u);
  if (rises(&past->enable, flags, RL_CMD_ENABLE) && !stopped) {
    past->armed = true;
  }
  if (past->enable == SEEN_CLEAR) {
    past->armed = false;
  }
  if (rises(&past->clear_fault, flags, RL_CMD_CLEAR_FAULT) && ((flags & RL_CMD_ESTOP) == 0u)) {
    past->estop = false;
    past->faults &= past->causes;
  }
  return rises(&past->reset_odom, flags, RL_CMD_RESET_ODOM);
}

typedef enum { HEARD_NOT, HEARD_FOREIGN, HEARD_OLD, HEARD_BAD, HEARD_STALE, HEARD } heard_t;

static heard_t hear(const past_t *past, const datagram_t *cmd, const rl_header_t *header) {
  if (!past->held || (header->session != past->session) || !same_addr(cmd->from, past->addr)) {
    return HEARD_FOREIGN;
  }
  if ((int32_t)(header->seq - past->last) <= 0) {
    return HEARD_OLD;
  }
  if (!cmd->finite) {
    return HEARD_BAD;
  }
  return (past->any_valid && cmd->late) ? HEARD_STALE : HEARD;
}

/* `counter` was 0, as all were, before the one datagram. */
static void check_counted(const rl_counters_t *counters, uint32_t counter) {
  const uint32_t sum = counters->rx_short + counters->rx_crc + counters->rx_version + counters->rx_type +
                       counters->rx_length + counters->rx_session + counters->cmd_old + counters->cmd_bad +
                       counters->cmd_stale + counters->cmd_applied + counters->hello + counters->hello_refused +
                       counters->hello_bad_nonce + counters->echo;
  expect(RULE_COUNTED, (counter == 1u) && (sum == 1u) && (counters->rx_total == 1u));
}

static void forget_counters(failsafe_t *robot) {
  const rl_counters_t none = {0};
  const rl_events_t nothing = {0};
  robot->app.counters = none;
  robot->app.events = nothing;
}

static void receive(failsafe_t *robot, const datagram_t *datagram, uint8_t reply[RL_PACKET_MAX], size_t reply_len) {
  const size_t len =
      rl_app_receive(&robot->app, robot->clock_us, datagram->from, datagram->bytes, datagram->len, reply);
  expect(RULE_COUNTED, len == reply_len);
}

static uint32_t counter_of(const rl_counters_t *counters, heard_t heard) {
  switch (heard) {
    case HEARD_FOREIGN:
      return counters->rx_session;
    case HEARD_OLD:
      return counters->cmd_old;
    case HEARD_BAD:
      return counters->cmd_bad;
    case HEARD_STALE:
      return counters->cmd_stale;
    case HEARD:
      return counters->cmd_applied;
    case HEARD_NOT:
    default:
      return counters->rx_crc + counters->rx_length + counters->rx_version;
  }
}

/* What a CMD that counts leaves in the past; returns whether odometry is to be reset. */
static bool note_counting(failsafe_t *robot, const datagram_t *datagram, const rl_cmd_t *cmd, heard_t heard) {
  past_t *const past = &robot->past;
  past->last = cmd->header.seq;
  past->any_used = true;
  past->heard_us = cmd->header.time_us;
  if (heard != HEARD) {
    return false;
  }
  past->any_valid = true;
  past->life_us = robot->clock_us;
  past->commanded = true;
  past->commanded_us = robot->clock_us;
  past->meant = (cmd->flags & RL_CMD_MOTION_VALID) != 0u;
  past->want_v = datagram->value->want_v;
  past->want_w = datagram->value->want_w;
  past->limited = datagram->value->limited;
  return note_flags(past, cmd->flags);
}

void failsafe_cmd(failsafe_t *robot, const datagram_t *datagram) {
  past_t *const past = &robot->past;
  rl_cmd_t cmd;
  memcpy(&cmd, datagram->bytes, sizeof(cmd));
  const rl_motion_t motion_before = robot->app.motion;
  const rl_setpoint_t before = rl_app_setpoint(&robot->app);
  const uint32_t levels_before = rl_app_status(&robot->app, robot->clock_us) & LEVEL_BITS;
  const uint8_t epoch = robot->app.odom_epoch;
  forget_counters(robot);
  uint8_t reply[RL_PACKET_MAX];
  receive(robot, datagram, reply, 0);

  const heard_t heard = datagram->well_formed ? hear(past, datagram, &cmd.header) : HEARD_NOT;
  if (datagram->well_formed && ((cmd.flags & RL_CMD_ESTOP) != 0u)) {
    past->estop = true;
    past->armed = false;
  }
  const bool gap = (heard >= HEARD_BAD) && past->any_used && (cmd.header.seq != past->last + 1u);
  const bool reset = (heard >= HEARD_BAD) && note_counting(robot, datagram, &cmd, heard);

  uint32_t events = gap ? RL_STATUS_SEQ_GAP : 0u;
  events |= (heard == HEARD_BAD) ? RL_STATUS_BAD_COMMAND : 0u;
  events |= (heard == HEARD_STALE) ? RL_STATUS_STALE : 0u;
  events |= (robot->app.counters.rx_crc != 0u) ? RL_STATUS_CRC_ERROR : 0u;
  failsafe_check(robot, events);
  check_counted(&robot->app.counters, counter_of(&robot->app.counters, heard));
  expect(RULE_RESET_ODOM, robot->app.odom_epoch == (uint8_t)(epoch + (reset ? 1u : 0u)));
  expect(RULE_ONLY_STEPS, same_setpoint(before, rl_app_setpoint(&robot->app)));
  if (heard != HEARD) {
    expect(RULE_UNHEARD, same_command(&motion_before, &robot->app.motion));
  }
  if (heard == HEARD_NOT) {
    const uint32_t levels = rl_app_status(&robot->app, robot->clock_us) & LEVEL_BITS;
    expect(RULE_MALFORMED, levels == levels_before);
  }
}

/* HELLO. */

void failsafe_hello(failsafe_t *robot, const datagram_t *datagram) {
  past_t *const past = &robot->past;
  rl_hello_t hello;
  memcpy(&hello, datagram->bytes, sizeof(hello));
  const rl_motion_t motion_before = robot->app.motion;
  const rl_setpoint_t before = rl_app_setpoint(&robot->app);
  forget_counters(robot);
  uint8_t reply[RL_PACKET_MAX];
  receive(robot, datagram, reply, sizeof(rl_info_t));
  rl_info_t info;
  memcpy(&info, reply, sizeof(info));

  const bool from_holder = past->held && same_addr(datagram->from, past->addr);
  const bool same = from_holder && (hello.nonce == past->nonce);
  const bool silent = !past->held || (age_ms(robot->clock_us, past->life_us) >= rig->timeout_ms);
  const bool later = from_holder && ((int64_t)(hello.header.time_us - past->heard_us) > 0);
  uint8_t reason = RL_REASON_GRANTED;
  if ((hello.want != RL_WANT_ROBOT) || (hello.nonce == 0u)) {
    reason = RL_REASON_NOT_ASKED;
  } else if ((hello.version_min > 1u) || (hello.version_max < 1u)) {
    reason = RL_REASON_VERSION;
  } else if (!same && !silent && !later) {
    reason = RL_REASON_HELD;
  }
  const bool granted = reason == RL_REASON_GRANTED;
  expect(RULE_HELLO_ANSWER, (info.reason == reason) && (info.nonce == hello.nonce) &&
                                (info.header.seq == hello.header.seq) && (info.header.session == info.session));
  if (granted && same) {
    expect(RULE_HELLO_ANSWER, info.session == past->session);
  } else if (granted) {
    expect(RULE_HELLO_ANSWER, (info.session != 0u) && (!past->held || (info.session != past->session)));
    past->held = true;
    past->session = info.session;
    past->addr = datagram->from;
    past->nonce = hello.nonce;
    past->heard_us = hello.header.time_us;
    past->life_us = robot->clock_us;
    past->last = 0;
    past->any_used = false;
    past->any_valid = false;
    past->enable = past->clear_fault = past->reset_odom = SEEN_NOTHING;
    past->armed = false;
    expect(RULE_TAKEOVER, (rl_app_status(&robot->app, robot->clock_us) & RL_STATUS_ENABLED) == 0u);
  } else {
    expect(RULE_HELLO_ANSWER, info.session == 0u);
  }
  const bool refused = (reason == RL_REASON_HELD) || (reason == RL_REASON_VERSION);
  const bool no_nonce = (hello.want == RL_WANT_ROBOT) && (hello.nonce == 0u);
  const rl_counters_t *const counters = &robot->app.counters;
  check_counted(counters, refused ? counters->hello_refused : no_nonce ? counters->hello_bad_nonce : counters->hello);
  failsafe_check(robot, (reason == RL_REASON_HELD) ? RL_STATUS_CONTENTION : 0u);
  expect(RULE_TAKEOVER, same_command(&motion_before, &robot->app.motion));
  expect(RULE_ONLY_STEPS, same_setpoint(before, rl_app_setpoint(&robot->app)));
}

/* Faults. */

static uint32_t bit_of(uint8_t fault) { return (fault == 0u) ? 0u : 1u << ((fault > 31u) ? 31u : fault); }

void failsafe_raise(failsafe_t *robot, uint8_t fault) {
  const rl_setpoint_t before = rl_app_setpoint(&robot->app);
  rl_app_fault_raise(&robot->app, fault);
  robot->past.causes |= bit_of(fault);
  robot->past.faults |= bit_of(fault);
  robot->past.armed = robot->past.armed && (fault == 0u);
  failsafe_check(robot, 0);
  expect(RULE_ONLY_STEPS, same_setpoint(before, rl_app_setpoint(&robot->app)));
}

void failsafe_lower(failsafe_t *robot, uint8_t fault) {
  const rl_setpoint_t before = rl_app_setpoint(&robot->app);
  rl_app_fault_lower(&robot->app, fault);
  robot->past.causes &= ~bit_of(fault);
  failsafe_check(robot, 0);
  expect(RULE_ONLY_STEPS, same_setpoint(before, rl_app_setpoint(&robot->app)));
}

/* The control step. All in units of what one period allows. */

/* How far towards `to` from `from`: at most `step` in all, and at most `rise` of it away from 0. */
static double one_step(double from, double to, double step, double rise) {
  const double way = fabs(to - from);
  const bool towards_zero = (from * (to - from)) < 0.0;
  const double fall = towards_zero ? fmin(fabs(from), way) : 0.0;
  const double length = fmin(way, fmin(step, fall + rise));
  return from + ((to > from) ? length : -length);
}

static void check_axis(double before, double after, double want, double passed, bool allowed) {
  const double rise = fmin(passed, 2.0);
  expect(RULE_RAMP, fabs(after - before) <= passed + NEAR);
  expect(RULE_RISE, fabs(after) - fabs(before) <= rise + NEAR);
  if (!allowed) {
    const double left = fmax(fabs(before) - passed, 0.0);
    const bool right_way = (after * before >= 0.0) && (fabs(after) <= fabs(before));
    expect(RULE_STOPPING, right_way && (fabs(fabs(after) - left) < NEAR) && ((left != 0.0) || (after == 0.0)));
  } else {
    const double there = one_step(before, want, passed, rise);
    const double low = fmin(before, want);
    const double high = fmax(before, want);
    expect(RULE_FOLLOWING, (after >= low) && (after <= high) && (fabs(after - there) < NEAR) &&
                               ((there != want) || (after == want)));
  }
}

void failsafe_control(failsafe_t *robot) {
  past_t *const past = &robot->past;
  const rl_setpoint_t before = rl_app_setpoint(&robot->app);
  const rl_motion_t motion_before = robot->app.motion;
  const double passed = (double)age_ms(robot->clock_us, past->stepped_us);
  forget_counters(robot);
  control(&robot->app, robot->clock_us);
  const rl_setpoint_t after = rl_app_setpoint(&robot->app);
  const bool allowed = past->armed && !timed_out(robot) && past->meant;
  check_axis((double)before.vx, (double)after.vx, (double)past->want_v, passed, allowed);
  check_axis((double)before.wz, (double)after.wz, (double)past->want_w, passed, allowed);
  expect(RULE_UNHEARD, same_command(&motion_before, &robot->app.motion));
  const bool overrun = past->stepped && (passed > 2.0);
  past->stepped = true;
  past->stepped_us = robot->clock_us;
  failsafe_check(robot, overrun ? RL_STATUS_OVERRUN : 0u);
}

/* Searches ahead. */

static void check_state(const failsafe_t *robot) {
  const past_t *const past = &robot->past;
  rl_app_t app = robot->app;
  rl_addr_t to = {0};
  uint8_t out[RL_PACKET_MAX];
  const size_t len = rl_app_state(&app, robot->clock_us, &to, out);
  if (!past->held) {
    expect(RULE_STATE_TO, len == 0u);
    return;
  }
  rl_state_t state;
  memcpy(&state, out, sizeof(state));
  expect(RULE_STATE_TO, (len == sizeof(state)) && same_addr(to, past->addr) && (state.header.session == past->session));
  uint8_t fault = 0;
  for (uint8_t i = 31; i > 0u; i--) {
    fault = ((past->faults & bit_of(i)) != 0u) ? i : fault;
  }
  expect(RULE_STATE_SAYS, (state.fault == fault) && (state.status == rl_app_status(&robot->app, robot->clock_us)));
  if (!past->any_valid) {
    expect(RULE_STATE_SAYS, state.cmd_age_us == RL_AGE_NONE);
  } else {
    const uint64_t age_us = robot->clock_us - past->life_us;
    expect(RULE_STATE_SAYS, state.cmd_age_us == ((age_us < RL_AGE_NONE) ? age_us : RL_AGE_NONE));
  }
}

/* With a control step every `period` ms and nothing else. */
static void check_rest(const failsafe_t *robot, uint32_t period) {
  failsafe_t run = *robot;
  const past_t *const past = &robot->past;
  const double limit = (double)rig->timeout_ms + rig->v_max + rig->w_max + (2.0 * period);
  rl_setpoint_t setpoint = rl_app_setpoint(&run.app);
  /* How long ago the last valid CMD was, as far as that still counts. */
  double passed = timed_out(robot) ? (double)rig->timeout_ms : (double)age_ms(run.clock_us, past->commanded_us);
  double moved_until = is_moving(setpoint) ? passed : 0.0;
  double v_top = fabs((double)setpoint.vx);
  double w_top = fabs((double)setpoint.wz);
  while (passed < limit) {
    run.clock_us += period * MS;
    passed += period;
    control(&run.app, run.clock_us);
    setpoint = rl_app_setpoint(&run.app);
    moved_until = is_moving(setpoint) ? passed : moved_until;
    v_top = fmax(v_top, fabs((double)setpoint.vx));
    w_top = fmax(w_top, fabs((double)setpoint.wz));
  }
  expect(RULE_REST_IN_TIME, moved_until + period <= fmax(v_top, w_top) + rig->timeout_ms + period);
  run.clock_us += 1000u * MS;
  control(&run.app, run.clock_us);
  const bool off = !rl_app_outputs_on(&run.app);
  expect(RULE_REST_STAYS, !is_moving(rl_app_setpoint(&run.app)) && (off == !past->armed));
}

static void tell(failsafe_t *robot, rl_addr_t from, uint16_t session, uint32_t *seq, uint16_t flags) {
  rl_cmd_t cmd = {
      .header = rl_packet_header(RL_TYPE_CMD, session, ++*seq, robot->clock_us), .vx = rig->v_max, .flags = flags};
  rl_packet_finish((uint8_t *)&cmd, sizeof(cmd));
  uint8_t reply[RL_PACKET_MAX];
  (void)rl_app_receive(&robot->app, robot->clock_us, from, (const uint8_t *)&cmd, sizeof(cmd), reply);
}

/* What an honest host does, once the holder has been silent for long enough. */
static void get_going(failsafe_t *robot) {
  const rl_addr_t from = {.ip = 42, .port = 42};
  robot->clock_us += rig->timeout_ms * MS;
  control(&robot->app, robot->clock_us);
  rl_hello_t hello = {.header = rl_packet_header(RL_TYPE_HELLO, 0, 1, robot->clock_us),
                      .version_min = 1,
                      .version_max = 1,
                      .want = RL_WANT_ROBOT,
                      .nonce = 42};
  rl_packet_finish((uint8_t *)&hello, sizeof(hello));
  uint8_t reply[RL_PACKET_MAX];
  (void)rl_app_receive(&robot->app, robot->clock_us, from, (const uint8_t *)&hello, sizeof(hello), reply);
  rl_info_t info;
  memcpy(&info, reply, sizeof(info));
  static const uint16_t flags[] = {0, RL_CMD_CLEAR_FAULT, 0, RL_CMD_ENABLE, RL_CMD_ENABLE | RL_CMD_MOTION_VALID};
  uint32_t seq = 0;
  for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
    tell(robot, from, info.session, &seq, flags[i]);
  }
  for (uint32_t i = 0; i < 2u * rig->v_max; i++) {
    robot->clock_us += MS;
    control(&robot->app, robot->clock_us);
    tell(robot, from, info.session, &seq, RL_CMD_ENABLE | RL_CMD_MOTION_VALID);
  }
}

void failsafe_check_ahead(const failsafe_t *robot) {
  check_state(robot);
  for (uint32_t period = 1; period <= 3u; period++) {
    check_rest(robot, period);
  }
  failsafe_t run = *robot;
  if (robot->past.causes != 0u) {
    get_going(&run);
    expect(RULE_CAUSE_HOLDS, !is_moving(rl_app_setpoint(&run.app)) && !rl_app_outputs_on(&run.app));
    run = *robot;
    for (uint8_t fault = 1; fault < 32u; fault++) {
      rl_app_fault_lower(&run.app, fault);
    }
  }
  get_going(&run);
  expect(RULE_RECOVERS, rl_app_setpoint(&run.app).vx == (float)rig->v_max);
}
