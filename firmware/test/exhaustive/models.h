/* models.h: what is searched; main.c runs all of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MODELS_H
#define MODELS_H

#include "explore.h"

tally_t check_numbers(void);  /* session numbers: app.c */
tally_t check_holder(void);   /* who holds the robot: session.c */
tally_t check_latches(void);  /* enable, ESTOP, faults: the whole core, with hardly any ramp */
tally_t check_failsafe(void); /* how it stops: the whole core, with a longer ramp */
tally_t check_plane(void);    /* the ramp of vectors: motion.c */

#endif /* MODELS_H */
