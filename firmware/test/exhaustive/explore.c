/* explore.c: breadth-first search over all states that a model can reach.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "explore.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Memory is reserved for this many at once, and only touched as states come. Several times what the models have: one
 * that does not close ends here. */
#define STATES_MAX 3000000u
#define TABLE_SIZE (1u << 23u)
#define NO_INPUT UINT32_MAX

/* So many broken rules say it all. */
#define FAILURES_MAX 200000u

uint64_t explore_hits[RULES_MAX];

static struct {
  const model_t *model;
  uint8_t *keys;       /* STATES_MAX of them */
  uint32_t *parents;   /* the state that it was first reached from */
  uint32_t *by_inputs; /* and how */
  uint32_t *table;     /* index + 1 of the state, open addressing; 0 = free */
  uint32_t count;
  uint32_t at;    /* state that is entered */
  uint32_t input; /* that is being fed */
  bool broken;    /* a rule, by this transition */
  uint64_t failures[RULES_MAX];
  uint64_t failures_all;
  uint64_t transitions;
} search;

static const uint8_t *key_at(uint32_t state) { return &search.keys[state * search.model->key_size]; }

static void print_way(uint32_t state) {
  uint32_t way[256];
  uint32_t length = 0;
  while ((state != 0u) && (length < 256u)) {
    way[length++] = search.by_inputs[state];
    state = search.parents[state];
  }
  while (length > 0u) {
    (void)printf("      ");
    search.model->print_input(way[--length]);
    (void)printf("\n");
  }
}

void explore_broken(uint32_t rule) {
  search.broken = true;
  search.failures_all++;
  if (search.failures[rule]++ != 0u) {
    return; /* the first is the shortest */
  }
  (void)printf("  BROKEN: %s\n", search.model->rules[rule]);
  if (search.keys == NULL) {
    return;
  }
  (void)printf("    after\n");
  print_way(search.at);
  (void)printf("    in the state\n      ");
  search.model->print_key(key_at(search.at));
  if (search.input != NO_INPUT) {
    (void)printf("\n    by\n      ");
    search.model->print_input(search.input);
  }
  (void)printf("\n");
}

/* Multiplies and folds word by word; the keys are short and mostly small numbers. */
static uint32_t slot_of(const uint8_t *key) {
  uint64_t hash = UINT64_C(0x9E3779B97F4A7C15);
  for (size_t i = 0; i < search.model->key_size; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, &key[i], sizeof(word));
    hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
    hash ^= hash >> 32u;
  }
  return (uint32_t)hash & (TABLE_SIZE - 1u);
}

/* False when there is no room. */
static bool add(const uint8_t *key, uint32_t input) {
  uint32_t slot = slot_of(key);
  while (search.table[slot] != 0u) {
    if (memcmp(key_at(search.table[slot] - 1u), key, search.model->key_size) == 0) {
      return true;
    }
    slot = (slot + 1u) & (TABLE_SIZE - 1u);
  }
  if (search.count == STATES_MAX) {
    return false;
  }
  memcpy(&search.keys[search.count * search.model->key_size], key, search.model->key_size);
  search.parents[search.count] = search.at;
  search.by_inputs[search.count] = input;
  search.count++;
  search.table[slot] = search.count;
  return true;
}

bool explore_same(const void *a, const void *b) { return memcmp(a, b, search.model->key_size) == 0; }

static void begin(const model_t *model) {
  memset(&search, 0, sizeof(search));
  memset(explore_hits, 0, sizeof(explore_hits));
  search.model = model;
  search.input = NO_INPUT;
}

static tally_t verdicts(void) {
  tally_t tally = {0};
  for (uint32_t i = 0; i < search.model->rule_count; i++) {
    const bool ok = (search.failures[i] == 0u) && (explore_hits[i] != 0u);
    tally.passed += ok ? 1u : 0u;
    tally.failed += ok ? 0u : 1u;
    (void)printf("  %-6s %12" PRIu64 "  %s", ok ? "ok" : "FAILED", explore_hits[i], search.model->rules[i]);
    if (search.failures[i] != 0u) {
      (void)printf(" [%" PRIu64 " times not]", search.failures[i]);
    } else if (!ok) {
      (void)printf(" [never put to the test]");
    }
    (void)printf("\n");
  }
  return tally;
}

static double seconds_since(clock_t start) { return (double)(clock() - start) / (double)CLOCKS_PER_SEC; }

static bool is_broken_enough(void) { return search.failures_all >= FAILURES_MAX; }

/* Returns whether all states were met; *depth is where the last ones are. */
static bool run(uint32_t *depth) {
  const model_t *const model = search.model;
  uint64_t key[KEY_MAX / sizeof(uint64_t)] = {0};
  model->first(key);
  bool room = add((const uint8_t *)key, NO_INPUT);
  uint32_t level_end = search.count;
  *depth = 0;
  for (search.at = 0; room && !is_broken_enough() && (search.at < search.count); search.at++) {
    if (search.at == level_end) {
      level_end = search.count;
      (*depth)++;
    }
    search.input = NO_INPUT;
    model->enter(key_at(search.at));
    if ((model->depth_max != 0u) && (*depth >= model->depth_max)) {
      continue;
    }
    for (search.input = 0; room && (search.input < model->inputs); search.input++) {
      search.broken = false;
      if (model->step(search.input, key)) {
        search.transitions++;
        room = search.broken || add((const uint8_t *)key, search.input);
      }
    }
  }
  return room && (search.at == search.count);
}

tally_t explore(const model_t *model) {
  const clock_t start = clock();
  begin(model);
  search.keys = malloc(STATES_MAX * model->key_size);
  search.parents = malloc(STATES_MAX * sizeof(uint32_t));
  search.by_inputs = malloc(STATES_MAX * sizeof(uint32_t));
  search.table = calloc(TABLE_SIZE, sizeof(uint32_t));
  if ((search.keys == NULL) || (search.parents == NULL) || (search.by_inputs == NULL) || (search.table == NULL)) {
    (void)fprintf(stderr, "%s: no memory\n", model->name);
    exit(2);
  }
  (void)printf("%s\n", model->name);
  uint32_t depth = 0;
  const bool all = run(&depth);
  tally_t tally = verdicts();
  const char *const end = !all ? "GAVE UP" : (model->depth_max != 0u) ? "as stated" : "fixed point";
  (void)printf("  %" PRIu32 " states, %" PRIu64 " transitions, depth %" PRIu32 " (%s), %.1f s\n", search.count,
               search.transitions, depth, end, seconds_since(start));
  tally.failed += all ? 0u : 1u;
  free(search.keys);
  free(search.parents);
  free(search.by_inputs);
  free(search.table);
  return tally;
}

tally_t explore_once(const model_t *model, void (*run_once)(void)) {
  const clock_t start = clock();
  begin(model);
  (void)printf("%s\n", model->name);
  run_once();
  const tally_t tally = verdicts();
  (void)printf("  %.1f s\n", seconds_since(start));
  return tally;
}
