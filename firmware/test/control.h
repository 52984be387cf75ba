/* control.h: a control step of a robot without wheels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CONTROL_H
#define CONTROL_H

#include "app.h"

static inline void control(rl_app_t *app, uint64_t now_us) {
  const rl_inputs_t nothing = {0};
  rl_outputs_t out;
  rl_app_control(app, now_us, &nothing, &out);
}

#endif /* CONTROL_H */
