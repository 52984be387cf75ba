/* test_vectors.c: the golden packets in common/vectors, by the structs of common/robot_link.h.
 *
 * Go and Python read the same files. Each says in its head how to read it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crc16.h"
#include "packet.h"
#include "test.h"

#ifndef VECTORS
#define VECTORS "../../common/vectors" /* the folder, from where the tests run */
#endif

#define LINE_MAX_LEN 2048u     /* the longest line has 800 */
#define DATAGRAM_MAX_LEN 256u  /* of bad datagrams, too */

typedef struct {
  const char *name; /* as in the file */
  size_t offset;
  size_t size;
} field_t;

typedef struct {
  const char *name; /* as in the file */
  size_t size;
  const field_t *fields; /* in the order of the file; the CRC last */
  size_t count;
} kind_t;

#define FIELD(packet, member) {#member, offsetof(packet, member), sizeof(((packet *)0)->member)}
#define HEADER_FIELDS(packet)                                                                    \
  FIELD(packet, header.version), FIELD(packet, header.type), FIELD(packet, header.session),      \
      FIELD(packet, header.seq), FIELD(packet, header.time_us)

static const field_t cmd_fields[] = {
    HEADER_FIELDS(rl_cmd_t), FIELD(rl_cmd_t, vx),    FIELD(rl_cmd_t, vy),
    FIELD(rl_cmd_t, wz),     FIELD(rl_cmd_t, flags), FIELD(rl_cmd_t, crc),
};

static const field_t state_fields[] = {
    HEADER_FIELDS(rl_state_t),
    FIELD(rl_state_t, wheel_vel[0]),
    FIELD(rl_state_t, wheel_vel[1]),
    FIELD(rl_state_t, wheel_vel[2]),
    FIELD(rl_state_t, wheel_vel[3]),
    FIELD(rl_state_t, wheel_pos[0]),
    FIELD(rl_state_t, wheel_pos[1]),
    FIELD(rl_state_t, wheel_pos[2]),
    FIELD(rl_state_t, wheel_pos[3]),
    FIELD(rl_state_t, odom_x),
    FIELD(rl_state_t, odom_y),
    FIELD(rl_state_t, odom_yaw),
    FIELD(rl_state_t, twist_vx),
    FIELD(rl_state_t, twist_vy),
    FIELD(rl_state_t, twist_wz),
    FIELD(rl_state_t, status),
    FIELD(rl_state_t, cmd_seq),
    FIELD(rl_state_t, cmd_age_us),
    FIELD(rl_state_t, cmd_delay),
    FIELD(rl_state_t, battery_mv),
    FIELD(rl_state_t, odom_epoch),
    FIELD(rl_state_t, fault),
    FIELD(rl_state_t, crc),
};

static const field_t echo_fields[] = {
    HEADER_FIELDS(rl_echo_t),
    FIELD(rl_echo_t, host_time_us),
    FIELD(rl_echo_t, mcu_rx_us),
    FIELD(rl_echo_t, turnaround_cycles),
    FIELD(rl_echo_t, crc),
};

static const field_t hello_fields[] = {
    HEADER_FIELDS(rl_hello_t), FIELD(rl_hello_t, version_min), FIELD(rl_hello_t, version_max),
    FIELD(rl_hello_t, want),   FIELD(rl_hello_t, nonce),       FIELD(rl_hello_t, crc),
};

static const field_t info_fields[] = {
    HEADER_FIELDS(rl_info_t),
    FIELD(rl_info_t, version_min),
    FIELD(rl_info_t, version_max),
    FIELD(rl_info_t, features),
    FIELD(rl_info_t, firmware_major),
    FIELD(rl_info_t, firmware_minor),
    FIELD(rl_info_t, firmware_patch),
    FIELD(rl_info_t, drive),
    FIELD(rl_info_t, nonce),
    FIELD(rl_info_t, session),
    FIELD(rl_info_t, reason),
    FIELD(rl_info_t, wheel_count),
    FIELD(rl_info_t, build_id),
    FIELD(rl_info_t, boot_id),
    FIELD(rl_info_t, name),
    FIELD(rl_info_t, wheel_radius),
    FIELD(rl_info_t, track),
    FIELD(rl_info_t, base),
    FIELD(rl_info_t, v_max),
    FIELD(rl_info_t, w_max),
    FIELD(rl_info_t, a_lin),
    FIELD(rl_info_t, a_ang),
    FIELD(rl_info_t, cmd_timeout_ms),
    FIELD(rl_info_t, control_hz),
    FIELD(rl_info_t, state_hz),
    FIELD(rl_info_t, crc),
};

#define KIND(name) {#name, sizeof(rl_##name##_t), name##_fields, sizeof(name##_fields) / sizeof(name##_fields[0])}

static const kind_t kinds[] = {KIND(cmd), KIND(state), KIND(echo), KIND(hello), KIND(info)};

/* Fails the running test, and says which line of the file it is about. */
static void check_line(bool ok, const char *name, const char *what) {
  if (!ok) {
    (void)printf("%s: %s\n", name, what);
  }
  CHECK(ok);
}

/* Reads the hex digits into `data`; returns how many bytes they are, 0 if they are none or too many. */
static size_t unhex(const char *text, uint8_t *data, size_t room) {
  size_t len = 0;
  while ((text[0] != '\0') && (text[1] != '\0') && (len < room)) {
    const char digits[3] = {text[0], text[1], '\0'};
    char *end = NULL;
    data[len] = (uint8_t)strtoul(digits, &end, 16);
    if (*end != '\0') {
      return 0;
    }
    len++;
    text += 2;
  }
  return (text[0] == '\0') ? len : 0;
}

/* Calls `each` with the words of every line that is no comment; returns how many lines those are. */
static size_t read_lines(const char *path, void (*each)(char *line)) {
  static char line[LINE_MAX_LEN];
  FILE *const file = fopen(path, "r");
  check_line(file != NULL, path, "cannot be opened");
  if (file == NULL) {
    return 0;
  }
  size_t lines = 0;
  while (fgets(line, sizeof(line), file) != NULL) {
    char *const end = strchr(line, '\n');
    check_line(end != NULL, path, "a line is too long");
    if ((end == NULL) || (line[0] == '#')) {
      continue;
    }
    *end = '\0';
    lines++;
    each(line);
  }
  (void)fclose(file);
  return lines;
}

/* The next word of a line, "" if there is none. */
static const char *next_word(char **rest) {
  char *const word = *rest;
  char *const end = strchr(word, ' ');
  *rest = (end == NULL) ? word + strlen(word) : end + 1;
  if (end != NULL) {
    *end = '\0';
  }
  return word;
}

/* The value of a "field=value", as the bytes that it has on the wire; false if the field is another one. */
static bool field_value(const field_t *field, const char *word, uint8_t *value) {
  const size_t len = strlen(field->name);
  if ((strncmp(word, field->name, len) != 0) || (word[len] != '=')) {
    return false;
  }
  const char *const text = &word[len + 1u];
  if (field->size > sizeof(uint64_t)) { /* the name */
    return unhex(text, value, field->size) == field->size;
  }
  char *end = NULL;
  const uint64_t number = strtoull(text, &end, 0);
  memcpy(value, &number, field->size); /* little endian, as robot_link.h asserts */
  return (*end == '\0') && ((field->size == sizeof(number)) || ((number >> (8u * field->size)) == 0u));
}

static void golden_packet(char *rest) {
  const char *const name = next_word(&rest);
  const char *const kind_name = next_word(&rest);
  const kind_t *kind = NULL;
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    kind = (strcmp(kinds[i].name, kind_name) == 0) ? &kinds[i] : kind;
  }
  check_line(kind != NULL, name, "unknown kind");
  if (kind == NULL) {
    return;
  }
  uint8_t golden[DATAGRAM_MAX_LEN] = {0};
  uint8_t built[RL_PACKET_MAX] = {0};
  check_line(unhex(next_word(&rest), golden, sizeof(golden)) == kind->size, name, "length");

  for (size_t i = 0; i < kind->count; i++) {
    const field_t *const field = &kind->fields[i];
    uint8_t value[RL_NAME_SIZE] = {0};
    check_line(field_value(field, next_word(&rest), value), name, field->name);
    check_line(memcmp(&golden[field->offset], value, field->size) == 0, name, field->name);
    if (i + 1u < kind->count) { /* the CRC is for rl_packet_finish() */
      memcpy(&built[field->offset], value, field->size);
    }
  }
  check_line(rest[0] == '\0', name, "more fields than the struct has");

  rl_packet_finish(built, kind->size);
  check_line(memcmp(golden, built, kind->size) == 0, name, "does not encode to its bytes");
  check_line(rl_crc16(golden, kind->size - 2u) == (golden[kind->size - 2u] | (golden[kind->size - 1u] << 8u)), name,
             "CRC");
}

static void golden_packets_are_the_structs_byte_for_byte(void) {
  CHECK(read_lines(VECTORS "/packets.txt", golden_packet) > 100u);
}

static size_t verdicts_seen[RL_PACKET_HELLO + 1];

static void golden_check(char *rest) {
  const char *const name = next_word(&rest);
  const char *const receiver = next_word(&rest);
  const char *const verdict = next_word(&rest);
  const char *const text = next_word(&rest);
  if (strcmp(receiver, "mcu") != 0) {
    return; /* the host's, which is not in C */
  }
  uint8_t datagram[DATAGRAM_MAX_LEN];
  const size_t len = unhex((strcmp(text, "-") == 0) ? "" : text, datagram, sizeof(datagram));
  check_line((len > 0u) == (strcmp(text, "-") != 0), name, "hex");

  /* A copy of just that size, so that the address sanitizer sees a read past its end. */
  uint8_t *const exact = malloc((len > 0u) ? len : 1u);
  if (exact == NULL) {
    check_line(false, name, "no memory");
    return;
  }
  memcpy(exact, datagram, len);
  const rl_verdict_t got = rl_packet_check(exact, len);
  free(exact);

  static const char *const names[] = {"short", "crc", "version", "type", "length", "ok", "ok", "ok"};
  check_line(strcmp(names[got], verdict) == 0, name, verdict);
  verdicts_seen[got]++;
}

static void golden_datagrams_get_their_verdict(void) {
  CHECK(read_lines(VECTORS "/checks.txt", golden_check) > 100u);
  for (size_t i = 0; i < sizeof(verdicts_seen) / sizeof(verdicts_seen[0]); i++) {
    CHECK(verdicts_seen[i] > 0u);
  }
}

const test_t *vector_tests(void) {
  static const test_t tests[] = {
      TEST(golden_packets_are_the_structs_byte_for_byte),
      TEST(golden_datagrams_get_their_verdict),
      TEST_END,
  };
  return tests;
}
