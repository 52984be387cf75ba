/* explore.h: breadth-first search over all states that a model can reach, and the bookkeeping of its rules.
 *
 * A model wraps real code: it turns a key (a state, canonical, as bytes) into live objects, feeds them one input,
 * checks rules on what happened, and turns what came out into the next key. The search keeps whole keys, not their
 * hashes: no state is missed because two of them collide. It ends when no new key appears (a fixed point) or at a
 * stated depth.
 *
 * One search at a time: the state of the search is one static object, so that expect() costs next to nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RULES_MAX 64u
#define KEY_MAX 128u /* bytes */

typedef struct {
  const char *name;
  const char *const *rules; /* what each rule says, one line */
  uint32_t rule_count;
  size_t key_size; /* a multiple of 8, at most KEY_MAX; all bytes count, padding too: start from zeroed memory */
  uint32_t inputs;
  uint32_t depth_max; /* states at this depth are entered, but get no input; 0 = up to the fixed point */
  void (*first)(void *key);
  /* Called once for each state, before its inputs. Checks what needs a search of its own from here. */
  void (*enter)(const void *key);
  /* Feeds one input to the entered state. False: this input does not exist here. */
  bool (*step)(uint32_t input, void *next);
  void (*print_input)(uint32_t input);
  void (*print_key)(const void *key);
} model_t;

typedef struct {
  uint32_t passed; /* rules */
  uint32_t failed;
} tally_t;

/* Searches, prints the outcome, and for each broken rule one shortest way to it. A rule that no state ever put to the
 * test counts as failed: it would prove nothing. */
tally_t explore(const model_t *model);

/* For checks that are a loop, not a search: the same bookkeeping around `run`. Of `model` only the name and the rules
 * are looked at. */
tally_t explore_once(const model_t *model, void (*run)(void));

/* Whether two keys are the same state. */
bool explore_same(const void *a, const void *b);

extern uint64_t explore_hits[RULES_MAX];

void explore_broken(uint32_t rule);

/* `rule` was put to the test, and held or not. A transition that breaks one leads no further. */
static inline void expect(uint32_t rule, bool holds) {
  explore_hits[rule]++;
  if (!holds) {
    explore_broken(rule);
  }
}

#endif /* EXPLORE_H */
