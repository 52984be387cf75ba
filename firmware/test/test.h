/* test.h: what a test file needs. It defines tests and one function that lists them; main.c calls that.
 * Tests run in firmware/test, so that ../../common is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>

typedef struct {
  const char *name; /* the rule, as a C identifier */
  void (*run)(void);
} test_t;

#define TEST(name) {#name, name}
#define TEST_END {0, 0} /* ends a list */

/* Fails the running test if the condition is false, and goes on. */
#define CHECK(cond) test_check((cond), __FILE__, __LINE__, #cond)

/* The same for two integers, and for two numbers no more than `tolerance` apart; prints both. */
#define CHECK_EQ(want, got) test_check_eq((long long)(want), (long long)(got), __FILE__, __LINE__, #got)
#define CHECK_NEAR(want, got, tolerance) \
  test_check_near((double)(want), (double)(got), (tolerance), __FILE__, __LINE__, #got)

void test_check(bool ok, const char *file, int line, const char *what);
void test_check_eq(long long want, long long got, const char *file, int line, const char *what);
void test_check_near(double want, double got, double tolerance, const char *file, int line, const char *what);

#endif /* TEST_H */
