/* peer.c: another program in the same DDS domain, made the ordinary way: types from IDL through idlc,
 * samples as C structs. For each type of types.inc it reads a message on rt/to_peer/<name>, and writes
 * what it has read on rt/from_peer/<name>, so that Cyclone's own reader and writer judge our bytes.
 *
 * Domain and network come from the environment, as for any DDS program. It ends with its parent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dds/dds.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "types.h" /* made by the test: one TYPE(name, descriptor) per message */

static const struct {
  const char *name;
  const dds_topic_descriptor_t *descriptor;
} types[] = {
#define TYPE(name, descriptor) {#name, &descriptor},
  TYPES
#undef TYPE
};

enum { TYPE_COUNT = sizeof types / sizeof types[0] };

static dds_entity_t must(dds_entity_t e, const char *what)
{
  if (e < 0) {
    fprintf(stderr, "peer: %s: %s\n", what, dds_strretcode(e));
    exit(1);
  }
  return e;
}

int main(int argc, char **argv)
{
  if (argc != 2)
    return 2;
  const dds_entity_t participant = must(dds_create_participant((dds_domainid_t)atoi(argv[1]), NULL, NULL), "participant");
  const dds_entity_t waitset = must(dds_create_waitset(participant), "waitset");
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(1));
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 100);

  static dds_entity_t readers[TYPE_COUNT], writers[TYPE_COUNT];
  for (int i = 0; i < TYPE_COUNT; i++) {
    char name[200];
    snprintf(name, sizeof name, "rt/to_peer/%s", types[i].name);
    dds_entity_t topic = must(dds_create_topic(participant, types[i].descriptor, name, NULL, NULL), name);
    readers[i] = must(dds_create_reader(participant, topic, qos, NULL), name);
    must(dds_set_status_mask(readers[i], DDS_DATA_AVAILABLE_STATUS), name);
    must(dds_waitset_attach(waitset, readers[i], i), name);
    snprintf(name, sizeof name, "rt/from_peer/%s", types[i].name);
    topic = must(dds_create_topic(participant, types[i].descriptor, name, NULL, NULL), name);
    writers[i] = must(dds_create_writer(participant, topic, qos, NULL), name);
  }

  for (;;) {
    dds_attach_t ready[TYPE_COUNT];
    const int n = must(dds_waitset_wait(waitset, ready, TYPE_COUNT, DDS_MSECS(200)), "wait");
    if (n == 0 && getppid() == 1)
      return 0; /* the test is gone */
    for (int k = 0; k < n && k < TYPE_COUNT; k++) {
      const int i = (int)ready[k];
      void *sample = NULL;
      dds_sample_info_t info;
      while (must(dds_take(readers[i], &sample, &info, 1, 1), "take") > 0) {
        if (info.valid_data)
          must(dds_write(writers[i], sample), "write");
        must(dds_return_loan(readers[i], &sample, 1), "return");
      }
    }
  }
}
