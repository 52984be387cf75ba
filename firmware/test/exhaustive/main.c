/* main.c: runs all searches, or those whose names are given, each in a process of its own so that two cores are of use.
 * What they print comes one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models.h"

static const struct {
  const char *name;
  tally_t (*check)(void);
} models[] = {
    {"numbers", check_numbers}, {"holder", check_holder}, {"latches", check_latches}, {"failsafe", check_failsafe},
    {"plane", check_plane},
};

#define MODELS (sizeof(models) / sizeof(models[0]))

typedef struct {
  pid_t pid; /* 0 = not run */
  FILE *printed;
  int result; /* the reading end of a pipe with one tally_t */
} process_t;

static bool is_wanted(const char *name, int argc, char **argv) {
  bool wanted = argc < 2;
  for (int i = 1; i < argc; i++) {
    wanted = wanted || (strcmp(argv[i], name) == 0);
  }
  return wanted;
}

/* False if the system does not give what it needs. */
static bool start(size_t model, process_t *process) {
  int ends[2];
  process->printed = tmpfile();
  if ((process->printed == NULL) || (pipe(ends) != 0)) {
    return false;
  }
  (void)fflush(stdout); /* or the child would print it again */
  process->pid = fork();
  if (process->pid < 0) {
    return false;
  }
  if (process->pid == 0) {
    if (dup2(fileno(process->printed), STDOUT_FILENO) < 0) {
      _exit(2);
    }
    const tally_t tally = models[model].check();
    const bool written = (fflush(stdout) == 0) && (write(ends[1], &tally, sizeof(tally)) == (ssize_t)sizeof(tally));
    _exit(written ? 0 : 2);
  }
  (void)close(ends[1]); /* ours is not used: the child's end is the only one, and read() sees it close */
  process->result = ends[0];
  return true;
}

/* A child that died counts as one failure. */
static tally_t finish(const process_t *process) {
  tally_t tally = {0};
  int status = 0;
  const bool read_all = read(process->result, &tally, sizeof(tally)) == (ssize_t)sizeof(tally);
  const bool ended = waitpid(process->pid, &status, 0) == process->pid;
  rewind(process->printed);
  int c = 0;
  while ((c = fgetc(process->printed)) != EOF) {
    (void)putchar(c);
  }
  (void)fflush(stdout);
  if (!read_all || !ended || (status != 0)) {
    (void)printf("  DIED, status %d\n", status);
    const tally_t died = {.failed = 1};
    return died;
  }
  return tally;
}

int main(int argc, char **argv) {
  static process_t processes[MODELS];
  for (size_t i = 0; i < MODELS; i++) {
    if (is_wanted(models[i].name, argc, argv) && !start(i, &processes[i])) {
      perror(models[i].name);
      return 2;
    }
  }
  tally_t all = {0};
  for (size_t i = 0; i < MODELS; i++) {
    if (processes[i].pid != 0) {
      const tally_t tally = finish(&processes[i]);
      all.passed += tally.passed;
      all.failed += tally.failed;
    }
  }
  (void)printf("%u passed, %u failed\n", (unsigned)all.passed, (unsigned)all.failed);
  return ((all.failed == 0u) && (all.passed != 0u)) ? 0 : 1;
}
