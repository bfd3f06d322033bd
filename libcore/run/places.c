#include "run/places.h"

#include "base/log.h"

#include <stdio.h>

typedef struct Places {
  const TlStudy *study;
  const TlTerrain *terrain;
  bool crs;
} Places;

bool tl_places_on(const TlTerrain *t, double x, double y) {
  double u = (x - t->x0_m) / t->cell_m, v = (y - t->y0_m) / t->cell_m;
  return u >= -0.5 && v >= -0.5 && u <= (double)t->nx - 0.5 && v <= (double)t->ny - 0.5;
}

static TlStatus from_crs(const Places *p, const char *path, double *x, double *y) {
  const TlTerrain *t = p->terrain;
  double east = *x, north = *y;
  *x -= t->origin[0];
  *y -= t->origin[1];
  if (tl_places_on(t, *x, *y)) return TL_OK;
  double far_x = t->origin[0] + t->x0_m, far_y = t->origin[1] + t->y0_m;
  if (tl_places_on(t, east, north))
    return tl_study_fail(p->study, TL_EINPUT, path,
                         "x = %.10g, y = %.10g m are coordinates of the terrain's local frame, and "
                         "this study says crs: terrain: write east %.10g, north %.10g",
                         east, north, east + t->origin[0], north + t->origin[1]);
  if (tl_places_on(t, north - t->origin[0], east - t->origin[1]))
    return tl_study_fail(p->study, TL_EINPUT, path,
                         "%.10g, %.10g lies on the terrain when east and north are exchanged: east "
                         "comes first, then north (the terrain covers east %.10g to %.10g, north "
                         "%.10g to %.10g)",
                         east, north, far_x, far_x + (double)(t->nx - 1) * t->cell_m, far_y,
                         far_y + (double)(t->ny - 1) * t->cell_m);
  return TL_OK;
}

static TlStatus check_local(const Places *p, const char *path, double x, double y) {
  const TlTerrain *t = p->terrain;
  double east = x - t->origin[0], north = y - t->origin[1];
  if (tl_places_on(t, x, y)) return TL_OK;
  if (tl_places_on(t, y - t->origin[0], x - t->origin[1]))
    return tl_study_fail(
        p->study, TL_EINPUT, path,
        "%.10g, %.10g are coordinates of the terrain's CRS, with north before east: write crs: "
        "terrain at the top of the study, and east %.10g, north %.10g",
        x, y, y, x);
  if (!tl_places_on(t, east, north)) return TL_OK;
  return tl_study_fail(
      p->study, TL_EINPUT, path,
      "x = %.10g, y = %.10g m are coordinates of the terrain's CRS; positions are "
      "in its local frame, whose origin is east %.10g, north %.10g, height %.10g m: "
      "write crs: terrain at the top of the study to give all positions in the CRS, or subtract "
      "the origin and write x = %.10g, y = %.10g (talus-catalog show prints the origin)",
      x, y, t->origin[0], t->origin[1], t->origin[2], east, north);
}

enum { HIGH = 100 }; /* metres above the ground: more than blocks are dropped from */

static void warn_of_drop(const char *key, double above_ground_m) {
  if (above_ground_m > HIGH)
    tl_log_warn(
        "%s: starts %g m above the ground: it is counted from the ground, not from sea level", key,
        above_ground_m);
}

/* z: NULL where it is no height of its own. */
static TlStatus settle(const Places *p, const char *path, double *x, double *y, double *z) {
  if (!p->crs) return check_local(p, path, *x, *y);
  TL_TRY(from_crs(p, path, x, y));
  if (z) *z -= p->terrain->origin[2];
  return TL_OK;
}

static TlStatus settle_item(const Places *p, const char *list, int64_t i, const char *key,
                            double at[3]) {
  char path[80];
  snprintf(path, sizeof path, "%s.%lld.%s", list, (long long)i, key);
  return settle(p, path, &at[0], &at[1], &at[2]);
}

static TlStatus settle_release(const Places *p, bool draws, TlReleaseSetup *r) {
  TlCorner *corner = r->polygon.items;
  bool boxed = r->assembly == TL_ASSEMBLY_LATTICE || r->assembly == TL_ASSEMBLY_DRAWN ||
               r->assembly == TL_ASSEMBLY_POURED;
  bool follows = r->layers > 0 || (r->assembly == TL_ASSEMBLY_DRAWN && r->depth_m > 0);
  double *low = r->low_m, *high = r->high_m;
  if (r->assembly == TL_ASSEMBLY_AS_SCANNED && draws)
    TL_TRY(settle(p, "release.position_m", &r->position_m[0], &r->position_m[1], NULL));
  if (boxed) TL_TRY(settle(p, "release.low_m", &low[0], &low[1], follows ? NULL : &low[2]));
  if (boxed) TL_TRY(settle(p, "release.high_m", &high[0], &high[1], follows ? NULL : &high[2]));
  for (int64_t i = 0; i < r->polygon.count; i++) {
    char path[80];
    snprintf(path, sizeof path, "release.polygon.%lld.x_m", (long long)i);
    TL_TRY(settle(p, path, &corner[i].x_m, &corner[i].y_m, NULL));
  }
  warn_of_drop("release.above_ground_m", r->above_ground_m);
  return TL_OK;
}

/* High above the ground, perhaps just above it when the origin's height is subtracted. position_m: local by now. */
static void warn_of_height(const Places *p, const TlBodySetup *body, int64_t i) {
  const TlTerrain *t = p->terrain;
  const double *at = body->position_m;
  double ground, z = at[2];
  char key[64];
  snprintf(key, sizeof key, "bodies.%lld.above_ground_m", (long long)i);
  warn_of_drop(key, body->above_ground_m);
  if (body->above_ground_m >= 0 || !tl_terrain_height(t, at[0], at[1], &ground, NULL) ||
      z <= ground + HIGH)
    return;
  if (!p->crs && z - t->origin[2] >= ground && z - t->origin[2] <= ground + HIGH)
    tl_log_warn("bodies.%lld.position_m: z = %g m is %g m above the ground; did you mean %g, in "
                "the terrain's local frame, whose origin has the height %g m? above_ground_m: 1 "
                "sets a body down 1 m above the ground",
                (long long)i, z, z - ground, z - t->origin[2], t->origin[2]);
  else
    tl_log_warn(
        "bodies.%lld.position_m: starts %.4g m above the ground, at x = %.10g, y = %.10g, z = "
        "%.10g m%s; above_ground_m: 1 sets a body down 1 m above the ground",
        (long long)i, z - ground, at[0] + (p->crs ? t->origin[0] : 0),
        at[1] + (p->crs ? t->origin[1] : 0), z + (p->crs ? t->origin[2] : 0),
        p->crs ? " of the CRS" : "");
}

/* A body that nothing could stop. */
static TlStatus check_ground(const Places *p, const TlSetup *s, int64_t i) {
  const TlBodySetup *body = (const TlBodySetup *)s->bodies.items + i;
  const TlTerrain *t = p->terrain;
  char path[80];
  if (s->planes.count + s->walls.count + s->nets.count > 0 || s->free_fall ||
      body->above_ground_m >= 0 || /* which says so itself */
      tl_places_on(t, body->position_m[0], body->position_m[1]))
    return TL_OK;
  snprintf(path, sizeof path, "bodies.%lld.position_m", (long long)i);
  return tl_study_fail(p->study, TL_EINPUT, path,
                       "lies off the terrain, at x = %.10g, y = %.10g m (east %.10g, north %.10g), "
                       "and there is no other ground; the terrain covers x %.10g to %.10g, y %.10g "
                       "to %.10g (talus-catalog show prints it)",
                       body->position_m[0], body->position_m[1], body->position_m[0] + t->origin[0],
                       body->position_m[1] + t->origin[1], t->x0_m,
                       t->x0_m + (double)(t->nx - 1) * t->cell_m, t->y0_m,
                       t->y0_m + (double)(t->ny - 1) * t->cell_m);
}

TlStatus tl_places_settle(TlSetup *s, const TlStudy *study, const TlTerrain *terrain) {
  const Places p = {study, terrain, s->crs == TL_CRS_TERRAIN};
  TlPlaneSetup *plane = s->planes.items;
  TlWallSetup *wall = s->walls.items;
  TlBodySetup *body = s->bodies.items;
  TlNetSetup *net = s->nets.items;
  const TlApparatus *apparatus = tl_setup_apparatus(s);
  s->crs = TL_CRS_LOCAL;
  if (p.crs && !terrain)
    return tl_study_fail(study, TL_EINPUT, "crs",
                         "positions are to be in the terrain's CRS, and this study names no "
                         "terrain: give terrain: {name: ...}, or leave crs out");
  if (p.crs && apparatus)
    return tl_study_fail(study, TL_EINPUT, "crs",
                         "section %s counts in the local frame: leave crs out", apparatus->key);
  if (!terrain) return TL_OK;
  TL_TRY(settle_release(&p, tl_setup_draws(s), &s->release));
  for (int64_t i = 0; i < s->planes.count; i++)
    TL_TRY(settle_item(&p, "planes", i, "point_m", plane[i].point_m));
  for (int64_t i = 0; i < s->walls.count; i++)
    TL_TRY(settle_item(&p, "walls", i, "point_m", wall[i].point_m));
  for (int64_t i = 0; i < s->bodies.count; i++) {
    TL_TRY(settle_item(&p, "bodies", i, "position_m", body[i].position_m));
    TL_TRY(check_ground(&p, s, i));
    warn_of_height(&p, &body[i], i);
  }
  for (int64_t i = 0; i < s->nets.count; i++)
    TL_TRY(settle_item(&p, "nets", i, "corner_m", net[i].corner_m));
  return TL_OK;
}
