/* encoder.c: a wheel's position and velocity from a counter that wraps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "encoder.h"

#include <math.h>
#include <string.h>

#include "angle.h"
#include "clock.h"

/* How far two samples of a wheel may be from the truth together: one count, and a quarter for edges that are not quite
 * where they should be. */
#define UNSURE_COUNTS 1.25

void rl_encoder_init(rl_encoder_t *encoder, double counts_per_rev, uint8_t bits, int8_t dir) {
  memset(encoder, 0, sizeof(*encoder));
  encoder->rad_per_count = ((dir < 0) ? -RL_TWO_PI : RL_TWO_PI) / counts_per_rev;
  encoder->mask = (bits == 16u) ? UINT16_MAX : UINT32_MAX;
}

/* Of a counter that wraps: the shorter way round. */
static int32_t difference(const rl_encoder_t *encoder, uint32_t raw) {
  const uint32_t ahead = (raw - encoder->raw) & encoder->mask;
  const uint32_t half = (encoder->mask >> 1u) + 1u;
  return (ahead < half) ? (int32_t)ahead : (int32_t)-((int64_t)(encoder->mask - ahead) + 1);
}

double rl_encoder_sample(rl_encoder_t *encoder, uint32_t raw, uint64_t now_us) {
  encoder->moved = (encoder->samples != 0u) ? difference(encoder, raw) : 0;
  encoder->raw = raw;
  encoder->count += encoder->moved;
  encoder->counts[encoder->next] = encoder->count;
  encoder->times_us[encoder->next] = now_us;
  encoder->next = (encoder->next + 1u) % RL_ENCODER_WINDOW;
  if (encoder->samples < RL_ENCODER_WINDOW) {
    encoder->samples++;
  }
  return rl_encoder_moved(encoder);
}

double rl_encoder_moved(const rl_encoder_t *encoder) { return encoder->moved * encoder->rad_per_count; }

double rl_encoder_velocity(const rl_encoder_t *encoder) {
  /* All of the older samples would say little more than these. */
  static const uint8_t backs[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, RL_ENCODER_WINDOW - 1u};
  const uint32_t newest = (encoder->next - 1u) % RL_ENCODER_WINDOW;
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
  for (size_t i = 0; (i < sizeof(backs)) && (backs[i] < encoder->samples); i++) {
    const uint32_t then = (newest - backs[i]) % RL_ENCODER_WINDOW;
    const uint64_t passed_us = rl_age_us(encoder->times_us[newest], encoder->times_us[then]);
    if (passed_us == 0u) {
      continue;
    }
    const double moved = (double)(encoder->counts[newest] - encoder->counts[then]);
    const double per_s = 1e6 / (double)passed_us;
    const double next_low = fmax(low, (moved - UNSURE_COUNTS) * per_s);
    const double next_high = fmin(high, (moved + UNSURE_COUNTS) * per_s);
    if (next_low > next_high) {
      break;
    }
    low = next_low;
    high = next_high;
  }
  return isinf(low) ? 0.0 : (0.5 * (low + high) * encoder->rad_per_count);
}

double rl_encoder_position(const rl_encoder_t *encoder) {
  return rl_wrap_angle((double)encoder->count * encoder->rad_per_count);
}
