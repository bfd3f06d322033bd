#include "run/sense.h"

#include "base/log.h"

#include <stdio.h>

/* ---- ground ---- */

/* A plane stops what falls onto its front. */
static bool faces(const double normal[3], TlVec3 gravity) {
  return tl_dot(tl_vec3_of(normal), gravity) < 0;
}

static bool stops_grains(const TlSetup *s, TlVec3 gravity) {
  const TlPlaneSetup *plane = s->planes.items;
  const TlWallSetup *wall = s->walls.items;
  const TlSinkSetup *sink = s->sinks.items;
  const TlBodySetup *body = s->bodies.items;
  if (s->terrain.name && gravity.z < 0) return true;
  for (int64_t i = 0; i < s->planes.count; i++)
    if (faces(plane[i].normal, gravity)) return true;
  for (int64_t i = 0; i < s->walls.count; i++)
    if (wall[i].kind != TL_WALL_PLANE || faces(wall[i].normal, gravity) ||
        tl_norm(tl_vec3_of(wall[i].spin_rad_s)) > 0)
      return true;
  for (int64_t i = 0; i < s->sinks.count; i++)
    if (sink[i].kind != TL_SINK_PLANE || faces(sink[i].normal, gravity)) return true;
  for (int64_t i = 0; i < s->bodies.count; i++)
    if (body[i].fixed) return true;
  return s->nets.count > 0 || tl_setup_apparatus(s);
}

static TlStatus check_ground(const TlSetup *s, const TlStudy *study) {
  TlVec3 g = tl_vec3_of(s->gravity_m_s2);
  if (tl_norm(g) == 0 || s->free_fall || stops_grains(s, g)) return TL_OK;
  if (stops_grains(s, tl_scale(-1, g)))
    return tl_study_fail(
        study, TL_EINPUT, "gravity_m_s2",
        "[%g, %g, %g] points away from all that could stop the grains (heights and "
        "the z axis count upwards): did you mean [%g, %g, %g]? free_fall: yes lets "
        "them fall for ever",
        g.x, g.y, g.z, 0 - g.x, 0 - g.y, 0 - g.z);
  return tl_study_fail(
      study, TL_EINPUT, "planes",
      "there is no ground: no terrain, plane, wall, sink, net or fixed body that could "
      "stop grains which fall along gravity [%g, %g, %g]; add one, e.g. planes: "
      "[{point_m: [0, 0, 0], normal: [0, 0, 1]}], or give gravity_m_s2: [0, 0, 0], "
      "or free_fall: yes when they are to fall for ever",
      g.x, g.y, g.z);
}

/* ---- density ---- */

static void check_density(const TlSetup *s) {
  enum { LIGHT = 25, HEAVY = 25000 }; /* lighter: foams and aerogels; heavier than any metal */
  const TlMaterialSetup *m = s->materials.items;
  for (int64_t i = -1; i < s->materials.count; i++) {
    double density = i < 0 ? s->grains.density_kg_m3 : m[i].density_kg_m3;
    char key[64] = "grains.density_kg_m3";
    if (i >= 0) snprintf(key, sizeof key, "materials.%lld.density_kg_m3", (long long)i);
    if (density > 0 && density < LIGHT)
      tl_log_warn("%s: %g kg/m3 is that of a foam; did you mean %g (%g g/cm3)?", key, density,
                  1000 * density, density);
    if (density > HEAVY)
      tl_log_warn("%s: %g kg/m3 is more than any metal has; did you mean %g?", key, density,
                  density / 1000);
  }
}

TlStatus tl_sense_setup(const TlSetup *setup, const TlStudy *study) {
  check_density(setup);
  return check_ground(setup, study);
}

/* ---- step ---- */

/* 1.234e-3 -> 1.2e-3 */
static double rounded_down(double x) {
  double unit = pow(10, floor(log10(x)) - 1);
  return floor(x / unit * (1 + 1e-12)) * unit;
}

double tl_sense_shorter(double dt_s, double travel) {
  return rounded_down(0.5 * dt_s * tl_long_travel / travel);
}

TlStatus tl_sense_step(const TlSetup *s, const TlStudy *study, double diameter_m) {
  enum { USUAL = 50, LONG = 10 }; /* steps to move by a diameter at that speed */
  double g = tl_norm(tl_vec3_of(s->gravity_m_s2)), dt = s->time.dt_s;
  if (!(g > 0) || !(diameter_m > 0)) return TL_OK;
  double moves = dt * sqrt(2 * g / diameter_m), usual = rounded_down(dt / moves / USUAL);
  if (moves > 1)
    return tl_study_fail(
        study, TL_EINPUT, tl_setup_step_key(s).path,
        "%g s is too long: the smallest grain, %.3g m across, moves by %.3g times "
        "its diameter in a step once it has fallen that far, and would pass through "
        "others; %g s would do",
        dt, diameter_m, moves, usual);
  if (moves * LONG > 1)
    tl_log_warn("%s: %g s is long: the smallest grain, %.3g m across, moves by %.2g of its "
                "diameter in a step once it has fallen that far; %g s is usual",
                tl_setup_step_key(s).path, dt, diameter_m, moves, usual);
  return TL_OK;
}
