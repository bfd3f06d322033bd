#include "run/safe_step.h"

#include "base/log.h"

#include <math.h>

TlStatus tl_safe_step(TlRun *run, double *safe_s) {
  *safe_s = INFINITY;
  if (!tl_setup_method(&run->model->setup)->safe_step) return TL_OK;
  TL_TRY(tl_comm_agree(run->comm, tl_run_refresh(run)));
  *safe_s = tl_step_longest(run->model->dem, &run->state->dem);
  return tl_comm_least(run->comm, safe_s, 1);
}

void tl_safe_step_say(const TlRun *run, double safe_s) {
  double k = tl_setup_choice(&run->model->setup).mass_scale,
         density = run->model->materials.material[TL_MATERIAL_GRAIN].density_kg_m3;
  if (!isfinite(safe_s)) return;
  tl_log_info("penalty: steps up to %.4g s are safe for all grains, time.dt_s is %g", safe_s,
              run->model->setup.time.dt_s);
  if (k != 1)
    tl_log_info("mass_scale %g: all moves with %g times its mass (grains as if of %g kg/m3) and "
                "gravity/%g, so weights stay; without it the safe step would be %.4g s; inertia "
                "numbers are %.4g times those without",
                k, k, density, k, safe_s / sqrt(k), sqrt(k));
}
