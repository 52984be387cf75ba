/* holder.c: every state in which the question "who holds the robot?" can be, and every input that the code can tell
 * from another.
 *
 * What makes the state space finite, and why that is sound for session.c as it is:
 *
 * - MCU time. The code only subtracts stamps from `now`. The key holds ages; where the clock stands is free.
 * - Age of life. It is only ever asked whether it has reached the timeout, so that all that have are one, for good: it
 *   only grows until it is set anew. Inputs are stamped up to JITTER_US before or after the clock (threads may pass a
 *   time that is somewhat older than another's), hence the margin in OLD_US.
 * - The host's clock in the record is only compared with a HELLO's, by the sign of the difference. Inputs are made
 *   relative to it, on both sides and at the far ends of 64 bits: what it is does not matter.
 * - The floor of the delays is only compared with a CMD's delay: below or equal, above by up to the timeout, above
 *   that. Inputs are relative to it, at each of these borders and as far away as 64 bits reach: what it is does not
 *   matter, nor how it relates to the last host's clock. It rises by one in 2000 us, so that its age counts only up to
 *   that, once the whole steps are added to it. One period is kept, since the age of a floor from the future is taken
 *   as 0: that must not become so, or cease to be so, by the adding.
 * - Sequence numbers. Only the difference to the last one is used, so inputs are relative to that; but a grant sets it
 *   to 0 and forgets any_seq, which the key holds.
 * - Session numbers. Compared for equality, counted up. Inputs are relative: the one in force, the one before, the
 *   next, 0. All numbers one after the other are numbers.c's.
 * - valid_seq and delay_us are only told, in STATE; nothing in session.c reads them.
 *
 * None of that is only argued: each input is fed to several objects that stand for the same key but differ in all that
 * was said not to matter (`elsewhere` below), and rule REDUCTION is that all end in the same next key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "holder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "models.h"

#define TICK_US UINT64_C(50000) /* a third of the timeout, and a multiple of RISE_US: few ages */
#define JITTER_US 1
#define OLD_US ((int64_t)TIMEOUT_US + JITTER_US)
#define RISE_US 2000 /* the floor rises by 1 us in that time */

const rl_addr_t holder_addrs[ADDRS] = {
    {.ip = 0x0A000001u, .port = 5001},
    {.ip = 0x0A000001u, .port = 5002}, /* the same machine, another socket */
    {.ip = 0x0A000002u, .port = 5001}, /* another machine */
};

/* Two hosts share the first address, and each may have restarted once; some differ in one bit, of either half. */
const uint64_t holder_nonces[NONCES] = {
    1, 2, UINT64_C(0x0000000100000001), UINT64_C(0x8000000000000001), UINT64_MAX, UINT64_MAX - 1u,
};

typedef struct {
  int64_t heard;     /* the code's minus the history's; this one, and those of the same kind, is 0 if all is well */
  int64_t floor;     /* of the values as of now */
  int32_t life_age;  /* the history's; us */
  int32_t alive_age; /* the code's */
  int32_t least_age;
  int32_t floor_age;
  uint32_t seq;     /* the code's minus the history's */
  uint16_t id;      /* the same */
  uint16_t next_id; /* minus the number after the history's */
  uint8_t held;
  uint8_t code_held;
  uint8_t addr; /* index */
  uint8_t code_addr;
  uint8_t nonce; /* index */
  uint8_t code_nonce;
  uint8_t acted;
  uint8_t any_used;
  uint8_t any_seq;
  uint8_t any_valid;
  uint8_t code_any_valid;
  uint8_t zero[5];
} holder_key_t;

_Static_assert((sizeof(holder_key_t) % 8u == 0u) && (sizeof(holder_key_t) <= KEY_MAX), "a key is whole words");

/* All that does not matter, in several ways. */
static const struct {
  uint64_t clock_us;
  uint16_t session;
  uint32_t last;       /* once a number was used up; before it is 0 */
  uint64_t heard_us;
  uint64_t least_us;
  uint64_t older_us;    /* by this much older than old is old */
  uint64_t risen_us;    /* by this much longer ago was the floor set, that much lower */
  uint64_t junk;
} elsewhere[] = {
    {.clock_us = UINT64_C(1000000000000), .session = 700, .last = 5, .heard_us = UINT64_C(9000000000),
     .least_us = UINT64_C(991000000000)},
    /* Everything is about to wrap, or just has. */
    {.clock_us = 0, .session = UINT16_MAX, .last = UINT32_MAX - 1u, .heard_us = UINT64_MAX, .least_us = UINT64_MAX,
     .older_us = UINT64_C(1) << 40u, .risen_us = UINT64_C(77) * RISE_US, .junk = UINT64_MAX},
    {.clock_us = UINT64_MAX, .session = 1, .last = INT32_MAX, .heard_us = UINT64_C(1) << 63u,
     .least_us = (UINT64_C(1) << 63u) - 1u, .older_us = 1, .risen_us = RISE_US, .junk = 12345},
};

#define PLACES (sizeof(elsewhere) / sizeof(elsewhere[0]))

/* From keys to objects and back. */

static int32_t life_age(uint64_t clock_us, uint64_t then_us) {
  const int64_t age_us = holder_age(clock_us, then_us);
  return (int32_t)((age_us < OLD_US) ? age_us : OLD_US);
}

static uint64_t life_at(size_t place, int32_t age_us) {
  const uint64_t then_us = elsewhere[place].clock_us - (uint64_t)(int64_t)age_us;
  return (age_us < OLD_US) ? then_us : then_us - elsewhere[place].older_us;
}

/* The age that is kept, and the floor as of then. */
static int32_t floor_age(uint64_t clock_us, uint64_t then_us, uint64_t *floor_us) {
  const int64_t age_us = holder_age(clock_us, then_us);
  if (age_us < 2 * (int64_t)RISE_US) {
    return (int32_t)age_us;
  }
  *floor_us += (uint64_t)(age_us / RISE_US) - 1u;
  return (int32_t)(age_us % RISE_US) + RISE_US;
}

static uint64_t floor_at(size_t place, int32_t age_us, uint64_t *floor_us) {
  const uint64_t then_us = elsewhere[place].clock_us - (uint64_t)(int64_t)age_us;
  if (age_us < RISE_US) {
    return then_us;
  }
  *floor_us -= elsewhere[place].risen_us / RISE_US;
  return then_us - elsewhere[place].risen_us;
}

static void build(const holder_key_t *key, size_t place, holder_t *out) {
  history_t *const history = &out->history;
  rl_session_t *const code = &out->code;
  memset(out, 0, sizeof(*out));
  out->clock_us = elsewhere[place].clock_us;
  const uint16_t session = elsewhere[place].session;
  if (key->held == 0u) {
    rl_session_init(code, (uint16_t)(session + key->next_id));
    return;
  }
  history->held = true;
  history->session = session;
  history->addr = holder_addrs[key->addr];
  history->nonce = holder_nonces[key->nonce];
  history->life_us = life_at(place, key->life_age);
  history->heard_us = elsewhere[place].heard_us;
  history->last = (key->any_used != 0u) ? elsewhere[place].last : 0u;
  history->acted = key->acted;
  history->any_used = key->any_used != 0u;
  history->any_valid = key->any_valid != 0u;
  history->least_us = elsewhere[place].least_us;
  history->least_at_us = floor_at(place, key->least_age, &history->least_us);

  code->id = (key->code_held != 0u) ? (uint16_t)(session + key->id) : 0u;
  code->next_id = (uint16_t)(holder_after(session) + key->next_id);
  code->addr = holder_addrs[key->code_addr];
  code->nonce = holder_nonces[key->code_nonce];
  code->alive_us = life_at(place, key->alive_age);
  code->host_time_us = history->heard_us + (uint64_t)key->heard;
  code->seq = history->last + key->seq;
  code->any_seq = key->any_seq != 0u;
  code->any_valid = key->code_any_valid != 0u;
  code->valid_seq = (uint32_t)elsewhere[place].junk;
  code->delay_us = elsewhere[place].junk;
  code->floor_us = elsewhere[place].least_us + (uint64_t)key->floor;
  code->floor_at_us = floor_at(place, key->floor_age, &code->floor_us);
}

static uint8_t addr_index(rl_addr_t addr) {
  uint8_t i = 0;
  while ((i < ADDRS - 1u) && ((addr.ip != holder_addrs[i].ip) || (addr.port != holder_addrs[i].port))) {
    i++;
  }
  return i;
}

static uint8_t nonce_index(uint64_t nonce) {
  uint8_t i = 0;
  while ((i < NONCES - 1u) && (nonce != holder_nonces[i])) {
    i++;
  }
  return i;
}

static void reduce(const holder_t *in, size_t place, holder_key_t *key) {
  const history_t *const history = &in->history;
  const rl_session_t *const code = &in->code;
  memset(key, 0, sizeof(*key));
  if (!history->held) {
    key->next_id = (uint16_t)(code->next_id - elsewhere[place].session);
    return;
  }
  key->held = 1;
  key->code_held = (code->id != 0u) ? 1u : 0u;
  key->id = (code->id != 0u) ? (uint16_t)(code->id - history->session) : 0u;
  key->next_id = (uint16_t)(code->next_id - holder_after(history->session));
  key->addr = addr_index(history->addr);
  key->code_addr = addr_index(code->addr);
  key->nonce = nonce_index(history->nonce);
  key->code_nonce = nonce_index(code->nonce);
  key->life_age = life_age(in->clock_us, history->life_us);
  key->alive_age = life_age(in->clock_us, code->alive_us);
  key->heard = (int64_t)(code->host_time_us - history->heard_us);
  key->seq = code->seq - history->last;
  key->acted = history->acted;
  key->any_used = history->any_used ? 1u : 0u;
  key->any_seq = code->any_seq ? 1u : 0u;
  key->any_valid = history->any_valid ? 1u : 0u;
  key->code_any_valid = code->any_valid ? 1u : 0u;
  uint64_t least_us = history->least_us;
  uint64_t floor_us = code->floor_us;
  if (history->any_valid) {
    key->least_age = floor_age(in->clock_us, history->least_at_us, &least_us);
  }
  if (code->any_valid) {
    key->floor_age = floor_age(in->clock_us, code->floor_at_us, &floor_us);
  }
  if (history->any_valid && code->any_valid) {
    key->floor = (int64_t)(floor_us - least_us);
  }
}

/* Inputs. */

typedef enum { INPUT_WAIT, INPUT_HELLO, INPUT_CMD } input_kind_t;

typedef struct {
  input_kind_t kind;
  int32_t jitter_us;
  uint32_t addr;
  uint32_t nonce;
  int64_t relative_us; /* WAIT: how long; HELLO: to the host's last clock; CMD: delay above the smallest */
  uint32_t session;
  uint32_t ahead; /* of the last number */
  uint32_t values;
} input_t;

enum { SESSION_HELD, SESSION_BEFORE, SESSION_NEXT, SESSION_NONE, SESSIONS };

/* The host's clock is as far as can be from what it was at the smallest delay: one more, and it would be on the other
 * side, or on both. */
#define AHEAD_US (-INT64_MAX)
#define BEHIND_US INT64_MAX

static const int64_t waits_us[] = {TICK_US, TIMEOUT_US};
static const int64_t laters_us[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
static const int64_t delays_us[] = {-1, 0, 1, TIMEOUT_US, TIMEOUT_US + 1u, AHEAD_US, BEHIND_US};
static const uint32_t aheads[] = {0x80000000u, UINT32_MAX - 1u, UINT32_MAX, 0, 1, 2, INT32_MAX};
static const float values[][3] = {{0, 0, 0}, {NAN, 0, 0}, {0, INFINITY, 0}, {0, 0, -INFINITY}};
static const int32_t jitters_us[] = {-JITTER_US, 0, JITTER_US};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define HELLOS (COUNT(jitters_us) * COUNT(laters_us) * ADDRS * NONCES)
#define CMDS (COUNT(jitters_us) * COUNT(delays_us) * ADDRS * SESSIONS * COUNT(aheads) * COUNT(values))
#define INPUTS (COUNT(waits_us) + HELLOS + CMDS)

static input_t inputs[INPUTS];

/* The next digit of *number, in base `count`. */
static uint32_t digit(uint32_t *number, uint32_t count) {
  const uint32_t result = *number % count;
  *number /= count;
  return result;
}

static void make_inputs(void) {
  input_t *input = inputs;
  for (uint32_t i = 0; i < COUNT(waits_us); i++) {
    input->kind = INPUT_WAIT;
    input->relative_us = waits_us[i];
    input++;
  }
  for (uint32_t i = 0; i < HELLOS; i++) {
    uint32_t number = i;
    input->kind = INPUT_HELLO;
    input->jitter_us = jitters_us[digit(&number, COUNT(jitters_us))];
    input->relative_us = laters_us[digit(&number, COUNT(laters_us))];
    input->addr = digit(&number, ADDRS);
    input->nonce = digit(&number, NONCES);
    input++;
  }
  for (uint32_t i = 0; i < CMDS; i++) {
    uint32_t number = i;
    input->kind = INPUT_CMD;
    input->jitter_us = jitters_us[digit(&number, COUNT(jitters_us))];
    input->relative_us = delays_us[digit(&number, COUNT(delays_us))];
    input->addr = digit(&number, ADDRS);
    input->session = digit(&number, SESSIONS);
    input->ahead = aheads[digit(&number, COUNT(aheads))];
    input->values = digit(&number, COUNT(values));
    input++;
  }
}

static void feed_hello(holder_t *holder, const input_t *input, size_t place) {
  const uint64_t heard_us = holder->history.held ? holder->history.heard_us : elsewhere[place].heard_us;
  const hello_t hello = {.from = holder_addrs[input->addr],
                         .nonce = holder_nonces[input->nonce],
                         .time_us = heard_us + (uint64_t)input->relative_us,
                         .now_us = holder->clock_us + (uint64_t)(int64_t)input->jitter_us};
  holder_hello(holder, &hello);
}

static uint64_t cmd_time(const history_t *history, int64_t delay_us, uint64_t now_us) {
  if ((delay_us == AHEAD_US) || (delay_us == BEHIND_US)) {
    return history->least_at_us - history->least_us - (uint64_t)delay_us;
  }
  return holder_fresh(history, now_us) - (uint64_t)delay_us;
}

static void feed_cmd(holder_t *holder, const input_t *input, size_t place) {
  const history_t *const history = &holder->history;
  const uint16_t session = history->held ? history->session : elsewhere[place].session;
  const uint16_t sessions[SESSIONS] = {session, holder_before(session), holder_after(session), 0};
  const uint64_t now_us = holder->clock_us + (uint64_t)(int64_t)input->jitter_us;
  const cmd_t cmd = {
      .from = holder_addrs[input->addr],
      .session = sessions[input->session],
      .seq = history->last + input->ahead,
      .time_us = cmd_time(history, input->relative_us, now_us),
      .v = {values[input->values][0], values[input->values][1], values[input->values][2]},
      .now_us = now_us,
  };
  holder_cmd(holder, &cmd);
}

/* The model. */

static holder_t entered[PLACES];

static void first(void *key) { memset(key, 0, sizeof(holder_key_t)); }

static void enter(const void *key) {
  for (size_t place = 0; place < PLACES; place++) {
    build(key, place, &entered[place]);
    holder_nobody_is_locked_out(&entered[place]);
  }
}

static bool step(uint32_t number, void *next) {
  const input_t *const input = &inputs[number];
  for (size_t place = 0; place < PLACES; place++) {
    holder_t holder = entered[place];
    switch (input->kind) {
      case INPUT_WAIT:
        holder.clock_us += (uint64_t)input->relative_us;
        break;
      case INPUT_HELLO:
        feed_hello(&holder, input, place);
        break;
      case INPUT_CMD:
      default:
        feed_cmd(&holder, input, place);
        break;
    }
    holder_key_t key;
    reduce(&holder, place, &key);
    if (place == 0u) {
      memcpy(next, &key, sizeof(key));
    } else {
      expect(RULE_REDUCTION, explore_same(next, &key));
    }
  }
  return true;
}

static void print_input(uint32_t number) {
  static const char *const sessions[SESSIONS] = {"held", "before", "next", "0"};
  const input_t *const input = &inputs[number];
  switch (input->kind) {
    case INPUT_WAIT:
      (void)printf("%lld us pass", (long long)input->relative_us);
      break;
    case INPUT_HELLO:
      (void)printf("HELLO from address %u with nonce %u, host's clock last + %lld, at %+d us", (unsigned)input->addr,
                   (unsigned)input->nonce, (long long)input->relative_us, (int)input->jitter_us);
      break;
    case INPUT_CMD:
    default:
      (void)printf("CMD from address %u, session %s, seq last + %d, delay smallest + %lld, values %g %g %g, at %+d us",
                   (unsigned)input->addr, sessions[input->session], (int)input->ahead, (long long)input->relative_us,
                   (double)values[input->values][0], (double)values[input->values][1],
                   (double)values[input->values][2], (int)input->jitter_us);
      break;
  }
}

static void print_key(const void *bytes) {
  holder_key_t key;
  memcpy(&key, bytes, sizeof(key));
  if (key.held == 0u) {
    (void)printf("nobody holds the robot");
    return;
  }
  (void)printf("held by address %u with nonce %u, life %d us ago, %s used up, %s valid", (unsigned)key.addr,
               (unsigned)key.nonce, (int)key.life_age, (key.any_used != 0u) ? "some" : "none",
               (key.any_valid != 0u) ? "some" : "none");
}

tally_t check_holder(void) {
  static const char *const rules[] = {
#define X(name, text) text,
      HOLDER_RULES(X)
#undef X
  };
  const model_t model = {
      .name = "Who holds the robot",
      .rules = rules,
      .rule_count = HOLDER_RULE_COUNT,
      .key_size = sizeof(holder_key_t),
      .inputs = INPUTS,
      .first = first,
      .enter = enter,
      .step = step,
      .print_input = print_input,
      .print_key = print_key,
  };
  make_inputs();
  return explore(&model);
}
