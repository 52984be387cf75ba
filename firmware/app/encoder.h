/* encoder.h: a wheel's position and velocity from a counter that wraps.
 *
 * Velocity, at one count per control period as well as at full speed, is by set membership over a window that adapts
 * (after Janabi-Sharifi, Hayward and Chen, "Discrete-time adaptive windowing for velocity estimation", 2000). A count
 * says where the wheel is to within one count, so two samples say how fast it was to within one count over the time
 * between them. The estimator asks ever older samples whether *one* velocity agrees with all of them, takes the
 * middle of what agrees, and stops where nothing does. A steady wheel is measured over the whole window (an error of
 * 1.25 counts over 32 periods: 4 % at one count per period, 0.1 % at 40), a wheel that accelerates over as little as
 * it takes, so that there is hardly any lag. Counting per period alone is off by up to one count in every period;
 * timing single counts needs a capture unit for each wheel and ends at high speed; a tracking loop has to choose
 * between lag and ripple once and for all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RL_ENCODER_H
#define RL_ENCODER_H

#include <stdbool.h>
#include <stdint.h>

#define RL_ENCODER_WINDOW 32u /* samples; a power of two */

typedef struct {
  double rad_per_count; /* with its sign: a wheel mounted the other way round counts down */
  uint32_t mask;        /* the counter's bits */
  uint32_t raw;         /* the counter, last time */
  int64_t count;        /* counts since the first sample */
  int32_t moved;        /* counts in the last step */
  uint32_t next;        /* place of the next sample */
  uint32_t samples;     /* how many there are, up to the window */
  int64_t counts[RL_ENCODER_WINDOW];
  uint64_t times_us[RL_ENCODER_WINDOW];
} rl_encoder_t;

/* `bits` is 16 or 32, `dir` +1 or -1. */
void rl_encoder_init(rl_encoder_t *encoder, double counts_per_rev, uint8_t bits, int8_t dir);

/* The counter as it is now. Returns how far the wheel has turned since the last sample, rad; 0 for the first one. Right
 * as long as the wheel turned by less than half the counter's range in between. */
double rl_encoder_sample(rl_encoder_t *encoder, uint32_t raw, uint64_t now_us);

/* What rl_encoder_sample() returned last. */
double rl_encoder_moved(const rl_encoder_t *encoder);

/* rad/s at the newest sample; 0 before the second one. */
double rl_encoder_velocity(const rl_encoder_t *encoder);

/* rad since the first sample, wrapped to [-pi, pi): exact after any time. */
double rl_encoder_position(const rl_encoder_t *encoder);

#endif /* RL_ENCODER_H */
