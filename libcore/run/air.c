#include "run/air.h"

#include "run/run.h"

#include <math.h>

void tl_air_drag(TlRun *run) {
  const TlSetup *setup = &run->model->setup;
  TlBodies *b = &run->state->dem.bodies;
  if (!(setup->air_kg_m3 > 0)) return;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED)) continue;
    double radius = cbrt(3 * tl_run_volume(run, i) / (4 * M_PI));
    double k = 0.5 * setup->air_drag * setup->air_kg_m3 * M_PI * radius * radius / b->mass[i];
    b->velocity[i] =
        tl_scale(1 / (1 + k * setup->time.dt_s * tl_norm(b->velocity[i])), b->velocity[i]);
  }
}
