/* test_packet.c: the CRC, the checks that every datagram goes through, and ECHO.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "crc16.h"
#include "fixture.h"
#include "packet.h"
#include "test.h"

static void crc_is_ccitt_false(void) {
  CHECK_EQ(0x29B1, rl_crc16((const uint8_t *)"123456789", 9));
  CHECK_EQ(0xFFFF, rl_crc16(NULL, 0));
  /* Every entry of the table, against the definition bit by bit. */
  for (uint32_t byte = 0; byte < 256u; byte++) {
    uint32_t want = RL_CRC_INIT ^ (byte << 8u);
    for (int bit = 0; bit < 8; bit++) {
      want = ((want & 0x8000u) != 0u) ? ((want << 1u) ^ RL_CRC_POLY) & 0xFFFFu : want << 1u;
    }
    const uint8_t data = (uint8_t)byte;
    CHECK_EQ(want, rl_crc16(&data, 1));
  }
}

static void crc_is_the_last_field_of_a_packet(void) {
  uint8_t packet[] = {'1', '2', '3', '4', '5', '6', '7', '8', '9', 0, 0};
  rl_packet_finish(packet, sizeof(packet));
  CHECK_EQ(0xB1, packet[9]);
  CHECK_EQ(0x29, packet[10]);
}

/* Delivers `len` zero bytes with this version and type, and this much wrong with the CRC. */
static void deliver_raw(robot_t *robot, uint8_t version, uint8_t type, size_t len, uint8_t crc_error) {
  uint8_t datagram[RL_PACKET_MAX + 20] = {0};
  const host_t host = new_host(1);
  datagram[0] = version;
  datagram[1] = type;
  if (len >= 2u) {
    rl_packet_finish(datagram, len);
    datagram[len - 1u] ^= crc_error;
  }
  deliver(robot, &host, datagram, len);
}

/* Where each counter of a rejected datagram is. */
#define COUNTER(field) offsetof(rl_counters_t, field)

static void checks_are_made_in_order_and_each_has_a_counter(void) {
  enum { CMD_LEN = 32, HELLO_LEN = 96, ECHO_LEN = 66 };
  static const struct {
    uint8_t version;
    uint8_t type;
    size_t len;
    uint8_t crc_error;
    size_t counter;
  } rows[] = {
      /* One thing wrong. */
      {1, RL_TYPE_CMD, 0, 0, COUNTER(rx_short)},
      {1, RL_TYPE_CMD, 1, 0, COUNTER(rx_short)},
      {1, RL_TYPE_CMD, 17, 0, COUNTER(rx_short)},
      {1, RL_TYPE_CMD, CMD_LEN, 1, COUNTER(rx_crc)},
      {0, RL_TYPE_CMD, CMD_LEN, 0, COUNTER(rx_version)},
      {2, RL_TYPE_CMD, CMD_LEN, 0, COUNTER(rx_version)},
      {1, 0, CMD_LEN, 0, COUNTER(rx_type)},
      {1, RL_TYPE_STATE, 92, 0, COUNTER(rx_type)},
      {1, RL_TYPE_ECHO_REPLY, ECHO_LEN, 0, COUNTER(rx_type)},
      {1, RL_TYPE_INFO, HELLO_LEN, 0, COUNTER(rx_type)},
      {1, RL_TYPE_DIAG, 40, 0, COUNTER(rx_type)},
      {1, 255, CMD_LEN, 0, COUNTER(rx_type)},
      {1, RL_TYPE_CMD, 18, 0, COUNTER(rx_length)},
      {1, RL_TYPE_CMD, CMD_LEN - 1, 0, COUNTER(rx_length)},
      {1, RL_TYPE_CMD, CMD_LEN + 1, 0, COUNTER(rx_length)},
      {1, RL_TYPE_ECHO, ECHO_LEN - 1, 0, COUNTER(rx_length)},
      {1, RL_TYPE_ECHO, ECHO_LEN + 1, 0, COUNTER(rx_length)},
      {1, RL_TYPE_HELLO, HELLO_LEN - 1, 0, COUNTER(rx_length)},
      {1, RL_TYPE_HELLO, HELLO_LEN + 1, 0, COUNTER(rx_length)},
      {1, RL_TYPE_HELLO, 116, 0, COUNTER(rx_length)},
      {1, RL_TYPE_CMD, CMD_LEN, 0, COUNTER(rx_session)},
      /* That and everything after it wrong. */
      {9, 99, 17, 1, COUNTER(rx_short)},
      {9, 99, 18, 1, COUNTER(rx_crc)},
      {9, 99, 18, 0, COUNTER(rx_version)},
      {1, 99, 18, 0, COUNTER(rx_type)},
      /* HELLO and INFO have no version check, but the others. */
      {9, RL_TYPE_INFO, HELLO_LEN, 0, COUNTER(rx_type)},
      {9, RL_TYPE_HELLO, HELLO_LEN, 1, COUNTER(rx_crc)},
      {9, RL_TYPE_HELLO, HELLO_LEN - 1, 0, COUNTER(rx_length)},
      /* Fine. */
      {1, RL_TYPE_HELLO, HELLO_LEN, 0, COUNTER(hello)},
      {9, RL_TYPE_HELLO, HELLO_LEN, 0, COUNTER(hello)},
      {1, RL_TYPE_ECHO, ECHO_LEN, 0, COUNTER(echo)},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    robot_t robot;
    boot(&robot);
    deliver_raw(&robot, rows[i].version, rows[i].type, rows[i].len, rows[i].crc_error);
    uint32_t count = 0;
    memcpy(&count, (const uint8_t *)rl_app_counters(&robot.app) + rows[i].counter, sizeof(count));
    CHECK_EQ((i * 10u) + 1u, (i * 10u) + count); /* the row number shows in a failure */
    CHECK_EQ(1, rl_app_counters(&robot.app)->rx_total);
    check_counters(&robot);
    const bool fine = (rows[i].counter == COUNTER(hello)) || (rows[i].counter == COUNTER(echo));
    CHECK_EQ(fine ? rows[i].len : 0u, robot.reply_len);
  }
}

static void an_empty_datagram_may_have_no_address(void) {
  robot_t robot;
  boot(&robot);
  const host_t host = new_host(1);
  deliver(&robot, &host, NULL, 0);
  CHECK_EQ(1, rl_app_counters(&robot.app)->rx_short);
}

static void only_the_crc_check_sets_crc_error_and_for_one_second(void) {
  robot_t robot;
  boot(&robot);
  deliver_raw(&robot, 1, RL_TYPE_CMD, 17, 0);
  deliver_raw(&robot, 2, RL_TYPE_CMD, 32, 0);
  deliver_raw(&robot, 1, 99, 32, 0);
  deliver_raw(&robot, 1, RL_TYPE_CMD, 33, 0);
  deliver_raw(&robot, 1, RL_TYPE_CMD, 32, 0);
  CHECK(!any(&robot, RL_STATUS_CRC_ERROR));
  deliver_raw(&robot, 1, RL_TYPE_CMD, 32, 0x80);
  CHECK(all(&robot, RL_STATUS_CRC_ERROR));
  robot.now_us += SECOND - 1u;
  CHECK(all(&robot, RL_STATUS_CRC_ERROR));
  robot.now_us += 1u;
  CHECK(!any(&robot, RL_STATUS_CRC_ERROR));
}

static void reserved_bytes_are_not_looked_at(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  rl_hello_t ask = make_hello(&robot, &host);
  memset(ask.zero_a, 0xFF, sizeof(ask.zero_a));
  memset(ask.zero_b, 0xFF, sizeof(ask.zero_b));
  CHECK_EQ(RL_REASON_GRANTED, say(&robot, &host, ask).reason);
  rl_cmd_t command = make_cmd(&robot, &host, 0xFFE0); /* flags that mean nothing yet */
  send_cmd(&robot, &host, command);
  CHECK_EQ(1, rl_app_counters(&robot.app)->cmd_applied);
}

static rl_echo_t make_echo(const host_t *host) {
  rl_echo_t echo = {
      .header = rl_packet_header(RL_TYPE_ECHO, 0xBEEF, 0xFFFFFFFF, 111),
      .host_time_us = host->clock_us + 222u,
      .mcu_rx_us = 333,
      .turnaround_cycles = 444,
  };
  memset(echo.reserved, 0xFF, sizeof(echo.reserved));
  return echo;
}

static void echo_is_answered_in_any_session_with_four_time_stamps(void) {
  robot_t robot;
  boot(&robot);
  const host_t host = new_host(1);
  rl_echo_t echo = make_echo(&host);
  deliver_finished(&robot, &host, &echo, sizeof(echo));
  CHECK_EQ(sizeof(rl_echo_t), robot.reply_len);

  rl_echo_stamp(robot.reply, robot.now_us + 7u, 3850);
  rl_echo_t reply;
  memcpy(&reply, robot.reply, sizeof(reply));
  CHECK_EQ(RL_VERSION, reply.header.version);
  CHECK_EQ(RL_TYPE_ECHO_REPLY, reply.header.type);
  CHECK_EQ(0xBEEF, reply.header.session);
  CHECK_EQ(0xFFFFFFFF, reply.header.seq);
  CHECK_EQ(robot.now_us + 7u, reply.header.time_us);
  CHECK_EQ(host.clock_us + 222u, reply.host_time_us);
  CHECK_EQ(robot.now_us, reply.mcu_rx_us);
  CHECK_EQ(3850, reply.turnaround_cycles);
  for (size_t i = 0; i < sizeof(reply.reserved); i++) {
    CHECK_EQ(0, reply.reserved[i]);
  }
  CHECK_EQ(rl_crc16(robot.reply, sizeof(reply) - 2u), reply.crc);
}

static void an_echo_reply_is_right_even_without_its_stamp(void) {
  robot_t robot;
  boot(&robot);
  const host_t host = new_host(1);
  rl_echo_t echo = make_echo(&host);
  deliver_finished(&robot, &host, &echo, sizeof(echo));
  rl_echo_t reply;
  memcpy(&reply, robot.reply, sizeof(reply));
  CHECK_EQ(robot.now_us, reply.header.time_us);
  CHECK_EQ(0, reply.turnaround_cycles);
  CHECK_EQ(rl_crc16(robot.reply, sizeof(reply) - 2u), reply.crc);
}

static void stamping_leaves_other_replies_alone(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  (void)say_hello(&robot, &host);
  uint8_t before[RL_PACKET_MAX];
  memcpy(before, robot.reply, sizeof(before));
  rl_echo_stamp(robot.reply, 1, 2);
  CHECK(memcmp(before, robot.reply, sizeof(before)) == 0);
}

static void a_reply_may_be_written_over_its_datagram(void) {
  robot_t robot;
  boot(&robot);
  host_t host = new_host(1);
  union {
    rl_hello_t hello;
    uint8_t bytes[RL_PACKET_MAX];
  } buffer = {.hello = make_hello(&robot, &host)};
  rl_packet_finish(buffer.bytes, sizeof(buffer.hello));
  CHECK_EQ(96, rl_app_receive(&robot.app, robot.now_us, host.addr, buffer.bytes, 96, buffer.bytes));
  rl_info_t info;
  memcpy(&info, buffer.bytes, sizeof(info));
  CHECK_EQ(host.nonce, info.nonce);
  CHECK_EQ(FIRST_SESSION, info.session);
}

const test_t *packet_tests(void) {
  static const test_t tests[] = {
      TEST(crc_is_ccitt_false),
      TEST(crc_is_the_last_field_of_a_packet),
      TEST(checks_are_made_in_order_and_each_has_a_counter),
      TEST(an_empty_datagram_may_have_no_address),
      TEST(only_the_crc_check_sets_crc_error_and_for_one_second),
      TEST(reserved_bytes_are_not_looked_at),
      TEST(echo_is_answered_in_any_session_with_four_time_stamps),
      TEST(an_echo_reply_is_right_even_without_its_stamp),
      TEST(stamping_leaves_other_replies_alone),
      TEST(a_reply_may_be_written_over_its_datagram),
      TEST_END,
  };
  return tests;
}
