//go:build cyclonedds

/* Cyclone's own types ("sertype", "serdata") come from IDL through idlc, and its public interface offers
 * no way from such a type to bytes. The one below is opaque instead: a sample is a message's CDR as it is
 * on the wire, whatever its type, so that a new message costs no C. rmw_cyclonedds and Cyclone's Python
 * binding rest on the same interface.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shim.h"

#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsi/ddsi_sertype.h>
#include <dds/ddsi/q_radmin.h>
#include <stdlib.h>
#include <string.h>

/* A sample. RTPS pads payloads to 4 bytes, and copies the padding from here: size is a multiple of 4,
 * and the bytes that the message does not fill are 0. */
typedef struct {
  struct ddsi_serdata c;
  uint32_t size;
  unsigned char data[];
} sample_t;

static sample_t *sample_new(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind, size_t size)
{
  if (size > UINT32_MAX - 3)
    return NULL;
  const uint32_t padded = ((uint32_t)size + 3u) & ~3u;
  sample_t *s = malloc(sizeof *s + padded);
  if (s == NULL)
    return NULL;
  memset(s, 0, sizeof *s);
  ddsi_serdata_init(&s->c, type, kind);
  s->c.hash = type->serdata_basehash; /* no key: all samples of a topic are one instance */
  s->size = padded;
  memset(s->data + size, 0, padded - size);
  return s;
}

static void sample_free(struct ddsi_serdata *d)
{
  free(d);
}

static bool sample_eqkey(const struct ddsi_serdata *a, const struct ddsi_serdata *b)
{
  (void)a;
  (void)b;
  return true;
}

static uint32_t sample_size(const struct ddsi_serdata *d)
{
  return ((const sample_t *)d)->size;
}

/* From the network. Fragments come in order, may overlap, and together cover size bytes. */
static struct ddsi_serdata *sample_from_ser(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
                                            const struct nn_rdata *fragment, size_t size)
{
  sample_t *s = sample_new(type, kind, size);
  if (s == NULL)
    return NULL;
  size_t have = 0;
  for (; fragment != NULL; fragment = fragment->nextfrag) {
    if (fragment->min > have || fragment->maxp1 > size) {
      free(s);
      return NULL;
    }
    if (fragment->maxp1 > have) {
      const unsigned char *payload = NN_RMSG_PAYLOADOFF(fragment->rmsg, NN_RDATA_PAYLOAD_OFF(fragment));
      memcpy(s->data + have, payload + (have - fragment->min), fragment->maxp1 - have);
      have = fragment->maxp1;
    }
  }
  if (have != size) {
    free(s);
    return NULL;
  }
  return &s->c;
}

static struct ddsi_serdata *sample_from_ser_iov(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
                                                ddsrt_msg_iovlen_t count, const ddsrt_iovec_t *iov, size_t size)
{
  sample_t *s = sample_new(type, kind, size);
  if (s == NULL)
    return NULL;
  size_t have = 0;
  for (ddsrt_msg_iovlen_t i = 0; i < count; i++) {
    const size_t n = iov[i].iov_len < size - have ? iov[i].iov_len : size - have;
    memcpy(s->data + have, iov[i].iov_base, n);
    have += n;
  }
  if (have != size) {
    free(s);
    return NULL;
  }
  return &s->c;
}

static struct ddsi_serdata *sample_key(const struct ddsi_sertype *type)
{
  sample_t *s = sample_new(type, SDK_KEY, 0);
  return s == NULL ? NULL : &s->c;
}

static struct ddsi_serdata *sample_from_keyhash(const struct ddsi_sertype *type, const struct ddsi_keyhash *hash)
{
  (void)hash;
  return sample_key(type);
}

/* Only asked for keys, as when an instance is disposed of: nobody calls dds_write() here. */
static struct ddsi_serdata *sample_from_sample(const struct ddsi_sertype *type, enum ddsi_serdata_kind kind,
                                               const void *sample)
{
  (void)sample;
  return kind == SDK_DATA ? NULL : sample_key(type);
}

static void sample_to_ser(const struct ddsi_serdata *d, size_t offset, size_t size, void *buffer)
{
  memcpy(buffer, ((const sample_t *)d)->data + offset, size);
}

static struct ddsi_serdata *sample_to_ser_ref(const struct ddsi_serdata *d, size_t offset, size_t size,
                                              ddsrt_iovec_t *ref)
{
  ref->iov_base = (void *)(((const sample_t *)d)->data + offset);
  ref->iov_len = size;
  return ddsi_serdata_ref(d);
}

static void sample_to_ser_unref(struct ddsi_serdata *d, const ddsrt_iovec_t *ref)
{
  (void)ref;
  ddsi_serdata_unref(d);
}

/* Nobody calls dds_read() or dds_take() here. */
static bool sample_to_sample(const struct ddsi_serdata *d, void *sample, void **buffer, void *limit)
{
  (void)d;
  (void)sample;
  (void)buffer;
  (void)limit;
  return false;
}

static struct ddsi_serdata *sample_to_untyped(const struct ddsi_serdata *d)
{
  struct ddsi_serdata *key = sample_key(d->type);
  if (key != NULL) {
    key->hash = d->hash;
    key->type = NULL;
  }
  return key;
}

static bool sample_untyped_to_sample(const struct ddsi_sertype *type, const struct ddsi_serdata *d, void *sample,
                                     void **buffer, void *limit)
{
  (void)type;
  (void)d;
  (void)sample;
  (void)buffer;
  (void)limit;
  return true;
}

static size_t sample_print(const struct ddsi_sertype *type, const struct ddsi_serdata *d, char *buffer, size_t size)
{
  (void)type;
  const int n = snprintf(buffer, size, "(%u bytes)", (unsigned)((const sample_t *)d)->size);
  return n < 0 ? 0 : (size_t)n;
}

static void sample_keyhash(const struct ddsi_serdata *d, struct ddsi_keyhash *hash, bool force_md5)
{
  (void)d;
  (void)force_md5;
  memset(hash, 0, sizeof *hash);
}

static const struct ddsi_serdata_ops sample_ops = {
  .eqkey = sample_eqkey,
  .get_size = sample_size,
  .from_ser = sample_from_ser,
  .from_ser_iov = sample_from_ser_iov,
  .from_keyhash = sample_from_keyhash,
  .from_sample = sample_from_sample,
  .to_ser = sample_to_ser,
  .to_ser_ref = sample_to_ser_ref,
  .to_ser_unref = sample_to_ser_unref,
  .to_sample = sample_to_sample,
  .to_untyped = sample_to_untyped,
  .untyped_to_sample = sample_untyped_to_sample,
  .free = sample_free,
  .print = sample_print,
  .get_keyhash = sample_keyhash,
};

/* A type is its name and nothing more: two of the same name are the same. */

static void type_free(struct ddsi_sertype *type)
{
  ddsi_sertype_fini(type);
  free(type);
}

static bool type_equal(const struct ddsi_sertype *a, const struct ddsi_sertype *b)
{
  (void)a;
  (void)b;
  return true; /* Cyclone has compared the names */
}

static uint32_t type_hash(const struct ddsi_sertype *type)
{
  (void)type;
  return 0;
}

/* The next three belong to dds_read() and loans, which nobody uses here. */

static void type_zero_samples(const struct ddsi_sertype *type, void *samples, size_t count)
{
  (void)type;
  (void)samples;
  (void)count;
}

static void type_realloc_samples(void **samples, const struct ddsi_sertype *type, void *old, size_t old_count,
                                 size_t count)
{
  (void)type;
  (void)old;
  (void)old_count;
  for (size_t i = 0; i < count; i++)
    samples[i] = NULL;
}

static void type_free_samples(const struct ddsi_sertype *type, void **samples, size_t count, dds_free_op_t op)
{
  (void)type;
  (void)samples;
  (void)count;
  (void)op;
}

static const struct ddsi_sertype_ops type_ops = {
  .version = ddsi_sertype_v0,
  .free = type_free,
  .zero_samples = type_zero_samples,
  .realloc_samples = type_realloc_samples,
  .free_samples = type_free_samples,
  .equal = type_equal,
  .hash = type_hash,
};

static dds_entity_t topic_new(dds_entity_t participant, const char *topic, const char *type_name,
                              struct ddsi_sertype **type)
{
  struct ddsi_sertype *t = calloc(1, sizeof *t);
  if (t == NULL)
    return DDS_RETCODE_OUT_OF_RESOURCES;
  ddsi_sertype_init_flags(t, type_name, &type_ops, &sample_ops, DDSI_SERTYPE_FLAG_TOPICKIND_NO_KEY);
  t->allowed_data_representation = DDS_DATA_REPRESENTATION_FLAG_XCDR1; /* all that Humble speaks */
  const dds_entity_t e = dds_create_topic_sertype(participant, topic, &t, NULL, NULL, NULL);
  if (e < 0)
    ddsi_sertype_unref(t); /* on success Cyclone has taken it over, or has given us the one it knew */
  *type = t;
  return e;
}

static dds_qos_t *qos_new(rb_qos_t q)
{
  dds_qos_t *qos = dds_create_qos();
  dds_qset_writer_data_lifecycle(qos, false); /* a writer that leaves disposes of nothing */
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, q.depth);
  if (q.reliable)
    dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, q.max_blocking_ns);
  else
    dds_qset_reliability(qos, DDS_RELIABILITY_BEST_EFFORT, 0);
  if (q.transient_local) {
    /* What a late reader gets is the durability service's history, not the writer's. */
    dds_qset_durability(qos, DDS_DURABILITY_TRANSIENT_LOCAL);
    dds_qset_durability_service(qos, 0, DDS_HISTORY_KEEP_LAST, q.depth, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED,
                                DDS_LENGTH_UNLIMITED);
  } else {
    dds_qset_durability(qos, DDS_DURABILITY_VOLATILE);
  }
  return qos;
}

extern void rbLog(uint32_t priority, char *message, size_t size);

static void log_sink(void *arg, const dds_log_data_t *line)
{
  (void)arg;
  if (line->priority & (DDS_LC_FATAL | DDS_LC_ERROR | DDS_LC_WARNING))
    rbLog(line->priority, (char *)line->message, line->size);
}

void rb_log_to_go(void)
{
  dds_set_log_sink(log_sink, NULL);
}

dds_entity_t rb_participant(dds_domainid_t domain, const char *user_data)
{
  dds_qos_t *qos = dds_create_qos();
  dds_qset_userdata(qos, user_data, strlen(user_data));
  const dds_entity_t e = dds_create_participant(domain, qos, NULL);
  dds_delete_qos(qos);
  return e;
}

dds_entity_t rb_writer(dds_entity_t participant, const char *topic, const char *type_name, rb_qos_t q,
                       struct ddsi_sertype **type)
{
  const dds_entity_t t = topic_new(participant, topic, type_name, type);
  if (t < 0)
    return t;
  dds_qos_t *qos = qos_new(q);
  const dds_entity_t e = dds_create_writer(participant, t, qos, NULL);
  dds_delete_qos(qos);
  (void)dds_delete(t); /* the writer keeps it alive */
  return e;
}

dds_entity_t rb_reader(dds_entity_t participant, const char *topic, const char *type_name, rb_qos_t q,
                       dds_entity_t *condition)
{
  struct ddsi_sertype *type;
  const dds_entity_t t = topic_new(participant, topic, type_name, &type);
  if (t < 0)
    return t;
  dds_qos_t *qos = qos_new(q);
  const dds_entity_t e = dds_create_reader(participant, t, qos, NULL);
  dds_delete_qos(qos);
  (void)dds_delete(t); /* the reader keeps it alive */
  if (e < 0)
    return e;
  *condition = dds_create_readcondition(e, DDS_ANY_STATE);
  if (*condition < 0) {
    (void)dds_delete(e);
    return *condition;
  }
  return e;
}

dds_return_t rb_write(dds_entity_t writer, const struct ddsi_sertype *type, const void *cdr, uint32_t size)
{
  sample_t *s = sample_new(type, SDK_DATA, size);
  if (s == NULL)
    return DDS_RETCODE_OUT_OF_RESOURCES;
  memcpy(s->data, cdr, size);
  /* Sets status info and time stamp, and consumes the reference, whatever it returns: it keeps it only
   * where the writer does not exist, which the caller rules out. */
  return dds_writecdr(writer, &s->c);
}

dds_return_t rb_take(dds_entity_t reader, rb_sample_t *out)
{
  for (;;) {
    struct ddsi_serdata *d = NULL;
    dds_sample_info_t info;
    const dds_return_t n = dds_takecdr(reader, &d, 1, &info, DDS_ANY_STATE);
    if (n <= 0)
      return n;
    if (info.valid_data) {
      const sample_t *s = (const sample_t *)d;
      *out = (rb_sample_t){.data = s->data, .size = s->size, .writer = info.publication_handle, .ref = d};
      return 1;
    }
    ddsi_serdata_unref(d); /* news of the instance's state, not data */
  }
}

void rb_release(rb_sample_t *sample)
{
  ddsi_serdata_unref(sample->ref);
}

dds_entity_t rb_endpoints(dds_entity_t participant, bool writers)
{
  const dds_entity_t topic = writers ? DDS_BUILTIN_TOPIC_DCPSPUBLICATION : DDS_BUILTIN_TOPIC_DCPSSUBSCRIPTION;
  return dds_create_reader(participant, topic, NULL, NULL);
}

static int64_t bound(dds_duration_t d)
{
  return d == DDS_INFINITY ? 0 : d;
}

static void endpoint_qos(rb_endpoint_t *out, const dds_qos_t *qos)
{
  dds_reliability_kind_t reliability;
  dds_durability_kind_t durability;
  dds_liveliness_kind_t liveliness;
  dds_duration_t duration;
  out->reliable = dds_qget_reliability(qos, &reliability, &duration) && reliability == DDS_RELIABILITY_RELIABLE;
  out->transient_local = dds_qget_durability(qos, &durability) && durability != DDS_DURABILITY_VOLATILE;
  if (dds_qget_deadline(qos, &duration))
    out->deadline_ns = bound(duration);
  if (dds_qget_liveliness(qos, &liveliness, &duration)) {
    out->liveliness = (uint8_t)liveliness;
    out->lease_ns = bound(duration);
  }
}

dds_return_t rb_take_endpoint(dds_entity_t reader, rb_endpoint_t *out)
{
  void *loan = NULL;
  dds_sample_info_t info;
  const dds_return_t n = dds_take(reader, &loan, &info, 1, 1);
  if (n <= 0)
    return n;
  memset(out, 0, sizeof *out);
  out->handle = info.instance_handle;
  out->alive = info.valid_data && info.instance_state == DDS_ALIVE_INSTANCE_STATE;
  if (out->alive) {
    const dds_builtintopic_endpoint_t *e = loan;
    out->guid = e->key;
    out->participant = e->participant_key;
    (void)snprintf(out->topic, sizeof out->topic, "%s", e->topic_name); /* DDS allows 255 */
    (void)snprintf(out->type, sizeof out->type, "%s", e->type_name);
    endpoint_qos(out, e->qos);
  }
  const dds_return_t code = dds_return_loan(reader, &loan, n);
  return code < 0 ? code : 1;
}

int rb_matched(dds_entity_t endpoint, bool writer)
{
  if (writer) {
    dds_publication_matched_status_t s;
    return dds_get_publication_matched_status(endpoint, &s) < 0 ? 0 : (int)s.current_count;
  }
  dds_subscription_matched_status_t s;
  return dds_get_subscription_matched_status(endpoint, &s) < 0 ? 0 : (int)s.current_count;
}

int rb_incompatible(dds_entity_t endpoint, bool writer)
{
  if (writer) {
    dds_offered_incompatible_qos_status_t s;
    return dds_get_offered_incompatible_qos_status(endpoint, &s) < 0 ? 0 : (int)s.total_count;
  }
  dds_requested_incompatible_qos_status_t s;
  return dds_get_requested_incompatible_qos_status(endpoint, &s) < 0 ? 0 : (int)s.total_count;
}
