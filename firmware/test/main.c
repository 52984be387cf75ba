/* main.c: runs all tests, or those whose names contain an argument.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test.h"

/* A new test file: declare its list here and add it to `lists`. The Makefile finds test_*.c by itself. */
const test_t *packet_tests(void);
const test_t *config_tests(void);
const test_t *session_tests(void);
const test_t *cmd_tests(void);
const test_t *safety_tests(void);
const test_t *motion_tests(void);
const test_t *status_tests(void);
const test_t *kinematics_tests(void);
const test_t *encoder_tests(void);
const test_t *odometry_tests(void);
const test_t *wheel_tests(void);
const test_t *drive_tests(void);
const test_t *board_tests(void);
const test_t *property_tests(void);
const test_t *vector_tests(void);

static const test_t *(*const lists[])(void) = {
    packet_tests, config_tests, session_tests, cmd_tests, safety_tests, motion_tests, status_tests,
    kinematics_tests, encoder_tests, odometry_tests, wheel_tests, drive_tests, board_tests, property_tests,
    vector_tests,
};

#define PRINTED_MAX 5 /* failures of one test; a loop may fail a million times */

static const char *running;
static int failures; /* of the running test */

void test_check(bool ok, const char *file, int line, const char *what) {
  if (!ok && (failures++ < PRINTED_MAX)) {
    (void)printf("%s:%d: %s: %s\n", file, line, running, what);
  }
}

void test_check_eq(long long want, long long got, const char *file, int line, const char *what) {
  if ((want != got) && (failures++ < PRINTED_MAX)) {
    (void)printf("%s:%d: %s: %s is %lld, not %lld\n", file, line, running, what, got, want);
  }
}

void test_check_near(double want, double got, double tolerance, const char *file, int line, const char *what) {
  const bool near = fabs(want - got) <= tolerance; /* false for NaN */
  if (!near && (failures++ < PRINTED_MAX)) {
    (void)printf("%s:%d: %s: %s is %.9g, not %.9g\n", file, line, running, what, got, want);
  }
}

int main(int argc, char **argv) {
  const char *const wanted = (argc > 1) ? argv[1] : "";
  int passed = 0;
  int failed = 0;
  for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
    for (const test_t *test = lists[i](); test->name != NULL; test++) {
      if (strstr(test->name, wanted) == NULL) {
        continue;
      }
      running = test->name;
      failures = 0;
      test->run();
      passed += (failures == 0) ? 1 : 0;
      failed += (failures == 0) ? 0 : 1;
    }
  }
  (void)printf("%d passed, %d failed\n", passed, failed);
  return ((failed == 0) && (passed > 0)) ? 0 : 1;
}
