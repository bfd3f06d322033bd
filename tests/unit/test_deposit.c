/* The deposit of grains in known places: thickness, extent, the radius that holds 95% of the mass.
 */
#include "support/tltest.h"

#include "base/mem.h"
#include "post/measure.h"
#include "shape/superellipsoid.h"

enum { GRAINS = 20 };
static const double R = 0.1;

typedef struct Slope {
  TlAvatar avatar;
  TlPlane plane;
  TlScene scene;
  TlBodyRow row[GRAINS];
  TlFrame frame;
  TlFrameMeasure frames[1];
  TlGrainMeasure grain[GRAINS];
  TlMeasure measure;
  TlDeposit deposit;
} Slope;

/* Spheres in a row along x, one in the middle of each cell of 1 m, each 5 cm higher than the one
 * before, above a level plane; the mass centre is said to be at x = y = 0.5. */
static void lay_out(Slope *s) {
  memset(s, 0, sizeof *s);
  CK_OK(tl_avatar_sphere(R, 0.02, 400, &s->avatar));
  s->avatar.id = 1;
  s->plane = (TlPlane){{0, 0, 0}, {0, 0, 1}};
  s->scene = (TlScene){.grain_scale = 1,
                       .density_kg_m3 = 2650,
                       .gravity_m_s2 = {0, 0, -9.81},
                       .step_s = 1e-3,
                       .avatar_count = 1,
                       .avatars = &s->avatar,
                       .plane_count = 1,
                       .planes = &s->plane};
  for (int i = 0; i < GRAINS; i++) {
    s->row[i] = (TlBodyRow){.id = i,
                            .avatar_id = 1,
                            .scale = 1,
                            .position_m = {i + 0.5, 0.5, R + 0.05 * i},
                            .rotation = {1, 0, 0, 0}};
    s->grain[i] = (TlGrainMeasure){.id = i, .radius_m = R, .top_m = 2 * R + 0.05 * i};
  }
  s->frame = (TlFrame){.count = GRAINS, .rows = s->row};
  s->frames[0].centre_m = tl_vec3(0.5, 0.5, 0);
  s->measure = (TlMeasure){.frame_count = 1,
                           .frame = s->frames,
                           .grain_count = GRAINS,
                           .grain = s->grain,
                           .deposit_centre_m = {0.5, 0.5, 0},
                           .travel_direction = {1, 0, 0},
                           .up = {0, 0, 1}};
}

static void measure(Slope *s) {
  CK_OK(tl_measure_deposit(&s->scene, &s->frame, &s->measure, 1, &s->deposit));
}

static void clear_away(Slope *s) {
  tl_free(s->deposit.top_m);
  tl_free(s->deposit.ground_m);
  tl_free(s->deposit.solid_m);
  s->deposit = (TlDeposit){0};
}

START_TEST(a_row_of_spheres_is_measured) {
  Slope s;
  double node = 3e-3; /* the highest node lies this much below the top at most */
  lay_out(&s);
  measure(&s);
  const TlDeposit *d = &s.deposit;
  double volume = s.avatar.volume_m3;
  ck_assert(d->nx == GRAINS && d->ny == 1 && d->x0_m == 0.5 && d->y0_m == 0.5);
  for (int i = 0; i < GRAINS; i++) {
    CK_NEAR(d->top_m[i], 2 * R + 0.05 * i, node);
    CK_NEAR(d->ground_m[i], 0, 0);
    CK_NEAR(d->solid_m[i] / volume, 1, 1e-9);
  }
  CK_NEAR(d->area_m2, GRAINS, 1e-12);
  CK_NEAR(d->volume_m3 / (GRAINS * volume), 1, 1e-12);
  CK_NEAR(d->length_m, GRAINS, 1e-12);
  CK_NEAR(d->breadth_m, 1, 1e-12);
  CK_NEAR(d->mean_thickness_m, 2 * R + 0.05 * 9.5, node);
  CK_NEAR(d->median_thickness_m, 2 * R + 0.05 * 9.5, node);
  CK_NEAR(d->p95_thickness_m, 2 * R + 0.05 * 0.95 * 19, node);
  CK_NEAR(d->max_thickness_m, 2 * R + 0.05 * 19, node);
  CK_NEAR(d->height_p99_m, 2 * R + 0.05 * 0.99 * 19, 1e-12);
  ck_assert(isnan(d->surface_deg)); /* a row has no plane */
  clear_away(&s);
  tl_avatar_free(&s.avatar);
}
END_TEST

/* Of 20 equal grains 0, 1, ... 19 m from the mass centre the 19th is the first that makes 95%; with
 * the farthest eight times as heavy it is the farthest; with the nearest so heavy, the 18th makes
 * 25 of 27 and the 19th 26. */
/* Of planes that are no walls the highest counts: the point below (x, y) lies on it. */
START_TEST(ground_is_the_highest_plane) {
  TlPlane planes[] = {
      {{1, 2, 3}, {0.6, 0, 0.8}}, {{1, 2, 3}, {0, -0.28, 0.96}}, {{0, 0, 9}, {1, 0, 0}}};
  TlScene scene = {.plane_count = 3, .planes = planes};
  for (int i = 0; i < 16; i++) {
    double x = i % 4, y = i / 4, z, above = INFINITY;
    ck_assert(tl_measure_ground(&scene, x, y, &z));
    for (int k = 0; k < 2; k++) {
      double beyond = tl_dot(planes[k].normal, tl_sub(tl_vec3(x, y, z), planes[k].point_m));
      ck_assert(beyond > -1e-12);
      above = fmin(above, beyond);
    }
    CK_NEAR(above, 0, 1e-12);
  }
  scene.plane_count = 0;
  ck_assert(!tl_measure_ground(&scene, 0, 0, &(double){0}));
}
END_TEST

START_TEST(the_radius_holds_95_percent_of_the_mass) {
  Slope s;
  lay_out(&s);
  measure(&s);
  CK_NEAR(s.deposit.radius_95_m, 18, 1e-12);
  clear_away(&s);
  s.row[GRAINS - 1].scale = 2;
  measure(&s);
  CK_NEAR(s.deposit.radius_95_m, 19, 1e-12);
  clear_away(&s);
  s.row[GRAINS - 1].scale = 1;
  s.row[0].scale = 2;
  measure(&s);
  CK_NEAR(s.deposit.radius_95_m, 18, 1e-12);
  clear_away(&s);
  s.measure.deposit_centre_m =
      tl_vec3(19.5, 0.5, 7); /* measured from the mass centre, horizontally */
  measure(&s);
  CK_NEAR(s.deposit.radius_95_m, 19, 1e-12);
  clear_away(&s);
  tl_avatar_free(&s.avatar);
}
END_TEST

TL_TEST_MAIN("deposit", a_row_of_spheres_is_measured, ground_is_the_highest_plane,
             the_radius_holds_95_percent_of_the_mass)
