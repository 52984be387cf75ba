/* failsafe_inputs.c: what can happen to the robot: control steps, waiting, faults, HELLOs, and CMDs with all flags.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "failsafe.h"
#include "packet.h"

const place_t places[PLACES] = {
    {.clock_us = UINT64_C(1000000000), .session = 700, .last = 5, .heard_us = UINT64_C(9000000000),
     .floor_us = UINT64_C(991000000000), .nonce = 1,
     .addrs = {{.ip = 1, .port = 5001}, {.ip = 1, .port = 5002}, {.ip = 2, .port = 5001}}},
    /* Everything has just wrapped, or is about to. */
    {.clock_us = 0, .session = UINT16_MAX, .last = UINT32_MAX - 1u, .heard_us = UINT64_MAX, .floor_us = UINT64_MAX,
     .nonce = UINT64_MAX,
     .addrs = {{.ip = UINT32_MAX, .port = 1}, {.ip = UINT32_MAX, .port = 257}, {.ip = UINT32_MAX - 256u, .port = 1}},
     .junk = true},
};

typedef enum { INPUT_CONTROL, INPUT_WAIT, INPUT_RAISE, INPUT_LOWER, INPUT_HELLO, INPUT_CMD } input_kind_t;

typedef struct {
  input_kind_t kind;
  uint32_t ms;
  uint8_t fault;
  uint32_t form;  /* index of hello_forms[] or cmd_forms[] */
  uint32_t value; /* of the rig's values */
  uint16_t flags;
} input_t;

/* 200 ms is beyond all that is remembered. */
static const input_t steps[] = {
    {.kind = INPUT_CONTROL, .ms = 1},   {.kind = INPUT_CONTROL, .ms = 2}, {.kind = INPUT_CONTROL, .ms = 3},
    {.kind = INPUT_CONTROL, .ms = 200}, {.kind = INPUT_WAIT, .ms = 1},    {.kind = INPUT_WAIT, .ms = 200},
};

static const struct {
  const char *name;
  uint32_t addr;
  int32_t nonce; /* 0: the holder's, 1: another; -1: none */
  int64_t later_us;
  uint8_t want;
  uint8_t version;
} hello_forms[] = {
    {"of the holder, again", ADDR_HOLDER, 0, -1, 1, 1},
    {"of the holder, restarted", ADDR_HOLDER, 1, 1, 1, 1},
    {"from the holder's address, not later", ADDR_HOLDER, 1, 0, 1, 1},
    {"from another port with the holder's nonce", ADDR_OTHER_PORT, 0, 1, 1, 1},
    {"from another address", ADDR_OTHER, 1, 1, 1, 1},
    {"that only asks", ADDR_HOLDER, 1, 1, 0, 1},
    {"with nonce 0", ADDR_HOLDER, -1, 1, 1, 1},
    {"of version 2", ADDR_HOLDER, 1, 1, 1, 2},
};

enum { SESSION_HELD, SESSION_BEFORE, SESSION_NONE, SESSIONS };

enum { WELL_FORMED, WRONG_CRC, WRONG_LENGTH, WRONG_VERSION };

/* How many flags and values a form comes with: all, since it is heard; all flags, since the place in the code where it
 * stops being heard is next to that; some flags. */
typedef enum { ALL, ALL_FLAGS, SOME_FLAGS } variety_t;

static const struct {
  const char *name;
  uint32_t addr;
  uint32_t session;
  uint32_t ahead;
  uint32_t form;
  variety_t variety;
  bool stale;
  float add[3]; /* to the values */
} cmd_forms[] = {
    {"", ADDR_HOLDER, SESSION_HELD, 1, WELL_FORMED, ALL, false, {0}},
    {"seq + 3", ADDR_HOLDER, SESSION_HELD, 3, WELL_FORMED, SOME_FLAGS, false, {0}},
    {"from another address", ADDR_OTHER, SESSION_HELD, 1, WELL_FORMED, ALL_FLAGS, false, {0}},
    {"from another port", ADDR_OTHER_PORT, SESSION_HELD, 1, WELL_FORMED, SOME_FLAGS, false, {0}},
    {"of the session before", ADDR_HOLDER, SESSION_BEFORE, 1, WELL_FORMED, SOME_FLAGS, false, {0}},
    {"of session 0", ADDR_HOLDER, SESSION_NONE, 1, WELL_FORMED, SOME_FLAGS, false, {0}},
    {"seq + 0", ADDR_HOLDER, SESSION_HELD, 0, WELL_FORMED, SOME_FLAGS, false, {0}},
    {"seq - 1", ADDR_HOLDER, SESSION_HELD, UINT32_MAX, WELL_FORMED, SOME_FLAGS, false, {0}},
    {"stale", ADDR_HOLDER, SESSION_HELD, 1, WELL_FORMED, SOME_FLAGS, true, {0}},
    {"vx not a number", ADDR_HOLDER, SESSION_HELD, 1, WELL_FORMED, ALL_FLAGS, false, {NAN, 0, 0}},
    {"vy infinite", ADDR_HOLDER, SESSION_HELD, 1, WELL_FORMED, SOME_FLAGS, false, {0, INFINITY, 0}},
    {"wz not a number, stale", ADDR_HOLDER, SESSION_HELD, 1, WELL_FORMED, SOME_FLAGS, true, {0, 0, NAN}},
    {"wrong CRC", ADDR_HOLDER, SESSION_HELD, 1, WRONG_CRC, SOME_FLAGS, false, {0}},
    {"wrong length", ADDR_HOLDER, SESSION_HELD, 1, WRONG_LENGTH, SOME_FLAGS, false, {0}},
    {"wrong version", ADDR_HOLDER, SESSION_HELD, 1, WRONG_VERSION, SOME_FLAGS, false, {0}},
};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define INPUTS_MAX 512u
#define HISTORIES 2u /* without and with a number used up */

/* Datagrams are made once, since their places stay where they are. */
static input_t inputs[INPUTS_MAX];
static uint32_t input_count;
static datagram_t datagrams[INPUTS_MAX][PLACES][HISTORIES];

static datagram_t make_hello(const input_t *input, size_t place) {
  const uint32_t form = input->form;
  const uint64_t nonces[] = {places[place].nonce, places[place].nonce ^ 0x100000000u};
  rl_hello_t hello = {
      .header = rl_packet_header(RL_TYPE_HELLO, 0, 9, places[place].heard_us + (uint64_t)hello_forms[form].later_us),
      .version_min = hello_forms[form].version,
      .version_max = hello_forms[form].version,
      .want = hello_forms[form].want,
      .nonce = (hello_forms[form].nonce >= 0) ? nonces[hello_forms[form].nonce] : 0u,
  };
  rl_packet_finish((uint8_t *)&hello, sizeof(hello));
  datagram_t out = {.len = sizeof(hello), .from = places[place].addrs[hello_forms[form].addr], .well_formed = true};
  memcpy(out.bytes, &hello, sizeof(hello));
  return out;
}

static datagram_t make_cmd(const input_t *input, size_t place, uint32_t history) {
  const uint32_t form = input->form;
  const value_t *const value = &rig->values[input->value];
  const uint16_t id = places[place].session;
  const uint16_t sessions[SESSIONS] = {id, (uint16_t)((id > 1u) ? id - 1u : UINT16_MAX), 0};
  const uint32_t last = (history != 0u) ? places[place].last : 0u;
  const uint64_t delay_us = cmd_forms[form].stale ? (rig->timeout_ms * MS) + 1u : 0u;
  rl_cmd_t cmd = {
      .header = rl_packet_header(RL_TYPE_CMD, sessions[cmd_forms[form].session], last + cmd_forms[form].ahead,
                                 places[place].clock_us - places[place].floor_us - delay_us),
      .vx = value->v[0] + cmd_forms[form].add[0],
      .vy = value->v[1] + cmd_forms[form].add[1],
      .wz = value->v[2] + cmd_forms[form].add[2],
      .flags = (uint16_t)(input->flags | (places[place].junk ? RESERVED_FLAGS : 0u)),
  };
  cmd.header.version = (cmd_forms[form].form == WRONG_VERSION) ? 2u : RL_VERSION;
  datagram_t out = {
      .len = sizeof(cmd) + ((cmd_forms[form].form == WRONG_LENGTH) ? 1u : 0u),
      .from = places[place].addrs[cmd_forms[form].addr],
      .well_formed = cmd_forms[form].form == WELL_FORMED,
      .finite = (isfinite(cmd.vx) != 0) && (isfinite(cmd.vy) != 0) && (isfinite(cmd.wz) != 0),
      .late = cmd_forms[form].stale,
      .value = value,
  };
  memcpy(out.bytes, &cmd, sizeof(cmd));
  rl_packet_finish(out.bytes, out.len);
  out.bytes[sizeof(rl_header_t)] ^= (cmd_forms[form].form == WRONG_CRC) ? 1u : 0u;
  return out;
}

static void add_input(input_t input) {
  for (size_t place = 0; place < PLACES; place++) {
    for (uint32_t history = 0; history < HISTORIES; history++) {
      datagram_t *const datagram = &datagrams[input_count][place][history];
      if (input.kind == INPUT_HELLO) {
        *datagram = make_hello(&input, place);
      } else if (input.kind == INPUT_CMD) {
        *datagram = make_cmd(&input, place, history);
      }
    }
  }
  inputs[input_count++] = input;
}

static void add_cmds(uint32_t form, uint32_t value) {
  static const uint16_t some[] = {0, RL_CMD_ENABLE | RL_CMD_MOTION_VALID, RL_CMD_CLEAR_FAULT, RL_CMD_ESTOP, 31};
  input_t input = {.kind = INPUT_CMD, .form = form, .value = value};
  for (uint32_t flags = 0; (flags <= rig->flags) && (cmd_forms[form].variety != SOME_FLAGS); flags++) {
    input.flags = (uint16_t)flags;
    if ((flags & ~(uint32_t)rig->flags) == 0u) {
      add_input(input);
    }
  }
  for (uint32_t i = 0; (i < COUNT(some)) && (cmd_forms[form].variety == SOME_FLAGS); i++) {
    input.flags = (uint16_t)(some[i] & rig->flags);
    add_input(input);
  }
}

uint32_t failsafe_make_inputs(void) {
  input_count = 0;
  for (uint32_t i = 0; i < COUNT(steps); i++) {
    add_input(steps[i]);
  }
  for (uint32_t i = 0; i < FAULTS; i++) {
    input_t input = {.kind = INPUT_RAISE, .fault = rig->faults[i]};
    add_input(input);
    input.kind = INPUT_LOWER;
    add_input(input);
  }
  for (uint32_t i = 0; i < COUNT(hello_forms); i++) {
    const input_t input = {.kind = INPUT_HELLO, .form = i};
    add_input(input);
  }
  for (uint32_t i = 0; i < COUNT(cmd_forms); i++) {
    const uint32_t last = rig->value_count - 1u;
    for (uint32_t value = (cmd_forms[i].variety == ALL) ? 0u : last; value <= last; value++) {
      add_cmds(i, value);
    }
  }
  return input_count;
}

void failsafe_feed(failsafe_t *robot, uint32_t number, size_t place) {
  const input_t *const input = &inputs[number];
  const datagram_t *const datagram = &datagrams[number][place][robot->past.any_used ? 1 : 0];
  switch (input->kind) {
    case INPUT_CONTROL:
      robot->clock_us += input->ms * MS;
      failsafe_control(robot);
      break;
    case INPUT_WAIT:
      robot->clock_us += input->ms * MS;
      break;
    case INPUT_RAISE:
      failsafe_raise(robot, input->fault);
      break;
    case INPUT_LOWER:
      failsafe_lower(robot, input->fault);
      break;
    case INPUT_HELLO:
      failsafe_hello(robot, datagram);
      break;
    case INPUT_CMD:
    default:
      failsafe_cmd(robot, datagram);
      break;
  }
}

static void print_cmd(const input_t *input) {
  static const char *const names[] = {"MOTION_VALID", "ENABLE", "ESTOP", "CLEAR_FAULT", "RESET_ODOM"};
  (void)printf("CMD %s %s:", rig->values[input->value].name, cmd_forms[input->form].name);
  for (uint32_t i = 0; i < COUNT(names); i++) {
    if (((input->flags >> i) & 1u) != 0u) {
      (void)printf(" %s", names[i]);
    }
  }
}

void failsafe_print_input(uint32_t number) {
  const input_t *const input = &inputs[number];
  switch (input->kind) {
    case INPUT_CONTROL:
      (void)printf("control step after %u ms", (unsigned)input->ms);
      break;
    case INPUT_WAIT:
      (void)printf("no control step for %u ms", (unsigned)input->ms);
      break;
    case INPUT_RAISE:
      (void)printf("fault %u raised", (unsigned)input->fault);
      break;
    case INPUT_LOWER:
      (void)printf("fault %u lowered", (unsigned)input->fault);
      break;
    case INPUT_HELLO:
      (void)printf("HELLO %s", hello_forms[input->form].name);
      break;
    case INPUT_CMD:
    default:
      print_cmd(input);
      break;
  }
}
