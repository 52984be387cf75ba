//go:build cyclonedds

/* shim.h: Cyclone DDS as package cyclone needs it: topics whose samples are serialized messages, as bytes.
 *
 * Every function may be called from any thread. What returns a dds_entity_t or dds_return_t is negative
 * on failure, a Cyclone return code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROSBUS_SHIM_H
#define ROSBUS_SHIM_H

#if !__has_include(<dds/dds.h>)
#error "Cyclone DDS is not installed: apt-get install cyclonedds-dev (0.10), or build without -tags cyclonedds"
#endif

#include <dds/dds.h>
#include <stdbool.h>
#include <stdint.h>

struct ddsi_sertype;
struct ddsi_serdata;

/* What the two ends of a topic agree on; keep last. */
typedef struct {
  bool reliable;
  bool transient_local;
  int32_t depth;
  int64_t max_blocking_ns; /* how long a reliable write may wait for a slow reader */
} rb_qos_t;

/* One taken sample. data and size are valid until rb_release(). */
typedef struct {
  const void *data;
  uint32_t size;
  dds_instance_handle_t writer; /* its rb_endpoint_t.handle */
  struct ddsi_serdata *ref;
} rb_sample_t;

/* A writer or a reader somewhere in the domain, this participant's too. Times are 0 where they have no bound.
 * If not alive, it has gone, and only the handle counts. */
typedef struct {
  dds_instance_handle_t handle;
  bool alive;
  dds_guid_t guid;
  dds_guid_t participant;
  char topic[256];
  char type[256];
  bool reliable;
  bool transient_local;
  uint8_t liveliness; /* a dds_liveliness_kind_t */
  int64_t deadline_ns;
  int64_t lease_ns;
} rb_endpoint_t;

/* Sends Cyclone's log lines, errors and warnings only, to rbLog() in Go instead of stderr. */
void rb_log_to_go(void);

/* user_data is what rmw_cyclonedds looks for: "enclave=/;" */
dds_entity_t rb_participant(dds_domainid_t domain, const char *user_data);

/* Creates a writer; *type is what rb_write() wants, and lives as long as the writer. */
dds_entity_t rb_writer(dds_entity_t participant, const char *topic, const char *type_name, rb_qos_t qos,
                       struct ddsi_sertype **type);

/* Creates a reader and a condition that is true while it has samples; the condition goes with the reader. */
dds_entity_t rb_reader(dds_entity_t participant, const char *topic, const char *type_name, rb_qos_t qos,
                       dds_entity_t *condition);

/* Writes size bytes, encapsulation header included, at least 4. The writer must not be deleted meanwhile. */
dds_return_t rb_write(dds_entity_t writer, const struct ddsi_sertype *type, const void *cdr, uint32_t size);

/* Takes the oldest sample: 1, 0 if there is none, or negative. */
dds_return_t rb_take(dds_entity_t reader, rb_sample_t *sample);
void rb_release(rb_sample_t *sample);

/* Creates a reader that tells of all writers, or all readers, there are, and then of each that comes or goes. */
dds_entity_t rb_endpoints(dds_entity_t participant, bool writers);

/* Takes one piece of its news: 1, 0 if there is none, or negative. */
dds_return_t rb_take_endpoint(dds_entity_t reader, rb_endpoint_t *endpoint);

/* Matched peers now, and those that QoS has refused so far. */
int rb_matched(dds_entity_t endpoint, bool writer);
int rb_incompatible(dds_entity_t endpoint, bool writer);

#endif
