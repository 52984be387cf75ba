/* holder_rules.c: the history, and what docs/protocol.md says must follow from it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "holder.h"

#include <math.h>

#include "explore.h"

#define HELLO_PERIOD_US UINT64_C(20000)

/* Every field is in same_record() and in holder.c's key: a new one has to be put there. */
_Static_assert((sizeof(void *) != 8u) || (sizeof(rl_session_t) == 80u), "rl_session_t has changed");

static bool same_addr(rl_addr_t a, rl_addr_t b) { return (a.ip == b.ip) && (a.port == b.port); }

static bool same_record(const rl_session_t *a, const rl_session_t *b) {
  return (a->id == b->id) && (a->next_id == b->next_id) && same_addr(a->addr, b->addr) && (a->nonce == b->nonce) &&
         (a->alive_us == b->alive_us) && (a->host_time_us == b->host_time_us) && (a->seq == b->seq) &&
         (a->any_seq == b->any_seq) && (a->any_valid == b->any_valid) && (a->valid_seq == b->valid_seq) &&
         (a->delay_us == b->delay_us) && (a->floor_us == b->floor_us) && (a->floor_at_us == b->floor_at_us);
}

uint16_t holder_after(uint16_t session) { return (session == UINT16_MAX) ? 1u : (uint16_t)(session + 1u); }

uint16_t holder_before(uint16_t session) { return (session <= 1u) ? UINT16_MAX : (uint16_t)(session - 1u); }

/* Of the time since the least delay, none if that is in the future, what a host may show to have passed: 500 ppm less,
 * since the least delay rises by that. */
static int64_t due_us(const history_t *history, uint64_t now_us) {
  const int64_t age_us = holder_age(now_us, history->least_at_us);
  return (age_us > 0) ? age_us - ((age_us * 500) / 1000000) : 0;
}

static uint64_t least_host_us(const history_t *history) { return history->least_at_us - history->least_us; }

uint64_t holder_fresh(const history_t *history, uint64_t now_us) {
  return least_host_us(history) + (uint64_t)due_us(history, now_us);
}

static bool is_silent(const history_t *history, uint64_t now_us) {
  return holder_age(now_us, history->life_us) >= (int64_t)TIMEOUT_US;
}

/* The code, asked. */

static uint8_t ask(rl_session_t *code, const hello_t *hello, bool *is_new) {
  const rl_hello_t packet = {
      .header = {.version = RL_VERSION, .type = RL_TYPE_HELLO, .time_us = hello->time_us},
      .version_min = RL_VERSION_MIN,
      .version_max = RL_VERSION_MAX,
      .want = RL_WANT_ROBOT,
      .nonce = hello->nonce,
  };
  return rl_session_hello(code, &packet, hello->from, hello->now_us, TIMEOUT_US, is_new);
}

static rl_admit_t tell(rl_session_t *code, const cmd_t *cmd, uint32_t *missed) {
  const rl_cmd_t packet = {
      .header = {.version = RL_VERSION,
                 .type = RL_TYPE_CMD,
                 .session = cmd->session,
                 .seq = cmd->seq,
                 .time_us = cmd->time_us},
      .vx = cmd->v[0],
      .vy = cmd->v[1],
      .wz = cmd->v[2],
  };
  return rl_session_admit(code, &packet, cmd->from, cmd->now_us, TIMEOUT_US, missed);
}

/* HELLO. */

/* On copies: the new session's first CMD, and one that the old session would have taken. */
static void check_new_session(const holder_t *holder, const history_t *before) {
  uint32_t missed = 0;
  const history_t *const history = &holder->history;
  cmd_t cmd = {.from = history->addr,
               .session = history->session,
               .seq = 1,
               .time_us = history->heard_us - (5u * TIMEOUT_US),
               .now_us = holder->clock_us};
  rl_session_t code = holder->code;
  expect(RULE_GRANT_FRESH, tell(&code, &cmd, &missed) == RL_ADMIT_VALID);
  if (before->held) {
    cmd.from = before->addr;
    cmd.session = before->session;
    for (uint32_t ahead = 0; ahead < 3u; ahead++) {
      cmd.seq = before->last + ahead;
      code = holder->code;
      expect(RULE_GRANT_ENDS, tell(&code, &cmd, &missed) == RL_ADMIT_OTHER);
      expect(RULE_GRANT_ENDS, same_record(&code, &holder->code));
    }
  }
}

void holder_hello(holder_t *holder, const hello_t *hello) {
  const rl_session_t code_before = holder->code;
  const history_t before = holder->history;
  const bool from_holder = before.held && same_addr(before.addr, hello->from);
  const bool later = (int64_t)(hello->time_us - before.heard_us) > 0;
  const bool may_take = !before.held || is_silent(&before, hello->now_us) || (from_holder && later);

  bool is_new = false;
  const uint8_t reason = ask(&holder->code, hello, &is_new);

  if (from_holder && (before.nonce == hello->nonce)) {
    expect(RULE_HELLO_SAME, (reason == RL_REASON_GRANTED) && !is_new && same_record(&code_before, &holder->code));
    return;
  }
  if (!may_take) {
    expect(RULE_HELLO_TAKEOVER, (reason == RL_REASON_HELD) && !is_new);
    expect(RULE_HELLO_REFUSED, same_record(&code_before, &holder->code));
    return;
  }
  expect(RULE_HELLO_GRANTED, (reason == RL_REASON_GRANTED) && is_new);
  const uint16_t granted = holder->code.id; /* what INFO says */
  expect(RULE_GRANT_NUMBER, (granted != 0u) && (!before.held || ((granted != before.session) &&
                                                                 (granted != holder_before(before.session)))));
  const history_t begun = {.held = true,
                           .session = granted,
                           .addr = hello->from,
                           .nonce = hello->nonce,
                           .life_us = hello->now_us,
                           .heard_us = hello->time_us};
  holder->history = begun;
  check_new_session(holder, &before);
}

/* CMD. */

/* On copies: the same again, with nothing to say against it but its number; and a stranger's HELLO just before and at
 * the moment in which the holder becomes silent. */
static void check_after_cmd(const holder_t *holder, const cmd_t *cmd, bool acted) {
  cmd_t again = *cmd;
  again.v[0] = again.v[1] = again.v[2] = 0.0F;
  again.time_us = holder_fresh(&holder->history, cmd->now_us);
  uint32_t missed = 0;
  rl_session_t code = holder->code;
  expect(RULE_CMD_USED_UP, tell(&code, &again, &missed) == RL_ADMIT_OLD);
  if (!acted) {
    bool is_new = false;
    hello_t hello = {.from = {.ip = 1, .port = 1}, .nonce = 1, .now_us = holder->history.life_us + TIMEOUT_US - 1u};
    const bool refused = ask(&code, &hello, &is_new) == RL_REASON_HELD;
    hello.now_us++;
    expect(RULE_CMD_FEEDS_NOTHING, refused && (ask(&code, &hello, &is_new) == RL_REASON_GRANTED));
  }
}

static void note_used_up(history_t *history, const cmd_t *cmd, bool acted, uint32_t ahead) {
  const uint32_t mask = (1u << ACTED_BITS) - 1u;
  const uint32_t moved = (ahead < ACTED_BITS) ? (uint32_t)history->acted << ahead : 0u;
  history->acted = (uint8_t)((moved | (acted ? 1u : 0u)) & mask);
  history->last = cmd->seq;
  history->any_used = true;
  history->heard_us = cmd->time_us;
}

/* A CMD that counts: of the holder, and its number ahead. */
static void check_counting(holder_t *holder, const cmd_t *cmd, rl_admit_t admit, uint32_t missed) {
  history_t *const history = &holder->history;
  const uint32_t ahead = cmd->seq - history->last;
  const bool finite = (isfinite(cmd->v[0]) != 0) && (isfinite(cmd->v[1]) != 0) && (isfinite(cmd->v[2]) != 0);
  /* How far the host's clock went since its fastest CMD, against how far it should have gone. */
  const int64_t went_us = holder_age(cmd->time_us, least_host_us(history));
  const int64_t due = due_us(history, cmd->now_us);
  const bool stale = history->any_valid && (went_us < due - (int64_t)TIMEOUT_US);
  const bool acted = finite && !stale;

  expect(RULE_CMD_GAP, missed == (history->any_used ? ahead - 1u : 0u));
  if (!finite) {
    expect(RULE_CMD_FINITE, admit == RL_ADMIT_NOT_FINITE);
  } else {
    expect(RULE_CMD_STALE, (admit == RL_ADMIT_STALE) == stale);
  }
  note_used_up(history, cmd, acted, ahead);
  if (acted) {
    expect(RULE_CMD_VALID, admit == RL_ADMIT_VALID);
    const bool least = !history->any_valid || (went_us >= due);
    expect(RULE_CMD_TOLD, holder->code.valid_seq == cmd->seq); /* what STATE says */
    expect(RULE_CMD_TOLD, holder->code.delay_us == (least ? 0u : (uint64_t)(due - went_us)));
    if (least) {
      history->least_us = cmd->now_us - cmd->time_us;
      history->least_at_us = cmd->now_us;
    }
    history->life_us = cmd->now_us;
    history->any_valid = true;
  }
  check_after_cmd(holder, cmd, acted);
}

void holder_cmd(holder_t *holder, const cmd_t *cmd) {
  const rl_session_t before = holder->code;
  const history_t *const history = &holder->history;
  const bool mine = history->held && (cmd->session == history->session) && same_addr(cmd->from, history->addr);
  const bool ahead = (int32_t)(cmd->seq - history->last) > 0;

  uint32_t missed = 0;
  const rl_admit_t admit = tell(&holder->code, cmd, &missed);

  const uint32_t behind = history->last - cmd->seq;
  if (mine && (behind < ACTED_BITS) && (((uint32_t)history->acted >> behind) & 1u) != 0u) {
    expect(RULE_CMD_ONCE, admit != RL_ADMIT_VALID);
  }
  if (mine && ahead) {
    check_counting(holder, cmd, admit, missed);
    return;
  }
  if (!mine) {
    expect(RULE_CMD_HOLDER, admit == RL_ADMIT_OTHER);
  } else {
    expect(RULE_CMD_AHEAD, admit == RL_ADMIT_OLD);
  }
  expect(RULE_CMD_NO_TRACE, (missed == 0u) && same_record(&before, &holder->code));
}

/* Nobody is locked out. */

/* All that the others may send without counting as alive. */
static void make_noise(rl_session_t *code, const history_t *history, uint32_t *last, uint64_t now_us) {
  uint32_t missed = 0;
  bool is_new = false;
  const hello_t hello = {
      .from = history->addr, .nonce = history->nonce, .time_us = history->heard_us + now_us, .now_us = now_us};
  (void)ask(code, &hello, &is_new);
  cmd_t cmd = {.from = history->addr,
               .session = history->session,
               .seq = *last,
               .time_us = history->heard_us,
               .now_us = now_us};
  (void)tell(code, &cmd, &missed); /* old */
  cmd.session = holder_before(history->session);
  cmd.seq = *last + 1u;
  (void)tell(code, &cmd, &missed); /* foreign */
  cmd.session = history->session;
  cmd.v[1] = NAN;
  (void)tell(code, &cmd, &missed);
  (*last)++;
  if (history->any_valid) { /* or it would be the first, and fresh */
    cmd.v[1] = 0.0F;
    cmd.seq = *last + 1u;
    cmd.time_us = holder_fresh(history, now_us) - TIMEOUT_US - 1u; /* stale */
    (void)tell(code, &cmd, &missed);
    (*last)++;
  }
}

static void check_asking(const holder_t *holder, rl_addr_t from, uint64_t nonce, uint64_t time_us, bool noise) {
  const history_t *const history = &holder->history;
  rl_session_t code = holder->code;
  uint32_t last = history->last;
  hello_t hello = {.from = from, .nonce = nonce, .time_us = time_us, .now_us = holder->clock_us};
  bool is_new = false;
  bool granted = ask(&code, &hello, &is_new) == RL_REASON_GRANTED;
  while (!granted && !is_silent(history, hello.now_us)) {
    hello.time_us += HELLO_PERIOD_US;
    hello.now_us += HELLO_PERIOD_US;
    if (noise) {
      make_noise(&code, history, &last, hello.now_us);
    }
    granted = ask(&code, &hello, &is_new) == RL_REASON_GRANTED;
  }
  expect(noise ? RULE_LIVE_NOISE : RULE_LIVE_TIMEOUT, granted);
  uint32_t missed = 0;
  const cmd_t cmd = {.from = from,
                     .session = code.id,
                     .seq = is_new ? 1u : last + 1u,
                     .time_us = holder_fresh(history, hello.now_us),
                     .now_us = hello.now_us};
  expect(RULE_LIVE_DRIVES, tell(&code, &cmd, &missed) == RL_ADMIT_VALID);
}

void holder_nobody_is_locked_out(const holder_t *holder) {
  const history_t *const history = &holder->history;
  const uint64_t starts_us[] = {history->heard_us + 1u, history->heard_us - UINT64_C(1000000),
                                history->heard_us - (uint64_t)INT64_MAX};
  for (uint32_t i = 0; i < ADDRS * NONCES; i++) {
    for (size_t k = 0; k < sizeof(starts_us) / sizeof(starts_us[0]); k++) {
      check_asking(holder, holder_addrs[i / NONCES], holder_nonces[i % NONCES], starts_us[k], false);
      if (history->held) {
        check_asking(holder, holder_addrs[i / NONCES], holder_nonces[i % NONCES], starts_us[k], true);
      }
    }
  }
  if (history->held) {
    const hello_t hello = {
        .from = history->addr, .nonce = 99, .time_us = history->heard_us + 1u, .now_us = holder->clock_us};
    bool is_new = false;
    rl_session_t code = holder->code;
    expect(RULE_LIVE_RESTART, (ask(&code, &hello, &is_new) == RL_REASON_GRANTED) && is_new);
  }
}
