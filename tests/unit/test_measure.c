#include "support/tltest.h"
#include "support/frame_rows.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/random.h"
#include "num/quantile.h"
#include "post/export.h"
#include "post/export_walls.h"
#include "post/measure.h"
#include "shape/superellipsoid.h"
#include "shape/terrain_build.h"

static const double PI = 3.14159265358979323846;

/* A scene of one avatar (id 1) with up to one plane, standard gravity. */
static TlScene scene_of(TlAvatar *avatar, TlPlane *plane) {
  avatar->id = 1;
  return (TlScene){.study = "",
                   .title = "",
                   .provenance = "[]",
                   .grain_scale = 1,
                   .density_kg_m3 = 2650,
                   .gravity_m_s2 = {0, 0, -9.81},
                   .step_s = 1e-3,
                   .avatar_count = 1,
                   .avatars = avatar,
                   .plane_count = plane ? 1 : 0,
                   .planes = plane};
}

/* Writes a run whose body b of frame f is row(b, t); avatar 0: it is not in that frame. */
static char *write_run(const char *name, const TlScene *scene, int bodies, int frames, double dt,
                       TlBodyRow (*row)(int body, double t)) {
  char *folder = tl_path_join(tl_test_folder(), name);
  TlResultsWriter *w;
  CK_OK(tl_results_create(&w, folder, scene, false));
  CK_OK(tl_results_add_avatar(w, &scene->avatars[0]));
  CK_OK(tl_results_scene_done(w));
  for (int f = 0; f < frames; f++) {
    int there = 0;
    for (int b = 0; b < bodies; b++) there += row(b, dt * f).avatar_id != 0;
    CK_OK(tl_test_frame(w, f, 10 * f, dt * f, there));
    for (int b = bodies - 1; b >= 0; b--) {
      TlBodyRow r = row(b, dt * f);
      if (r.avatar_id != 0) CK_OK(tl_test_put_bodies(w, &r, 1));
    }
    CK_OK(tl_results_frame_end(w));
  }
  tl_results_close(w);
  return folder;
}

static TlBodyRow at_rest(int body, TlVec3 position, double scale) {
  return (TlBodyRow){.id = body,
                     .body = body,
                     .avatar_id = 1,
                     .scale = scale,
                     .position_m = position,
                     .rotation = {1, 0, 0, 0}};
}

/* Thrown with a velocity and a spin about a principal axis, both kept by free flight. */
static TlBodyRow flying(int b, double t) {
  TlBodyRow r =
      at_rest(b, tl_vec3(3 * b + 2 * t, -t, 100 + 5 * t - 0.5 * 9.81 * t * t), 1 + 0.5 * b);
  TlVec3 axis = tl_quat_rotate(tl_quat_from_rotation(tl_vec3(0.3, -0.4, b)), tl_vec3(0, 0, 1));
  r.rotation = tl_quat_mul(tl_quat_from_rotation(tl_scale(7 * t, axis)),
                           tl_quat_from_rotation(tl_vec3(0.3, -0.4, b)));
  r.velocity_m_s = tl_vec3(2, -1, 5 - 9.81 * t);
  r.spin_rad_s = tl_scale(7, axis);
  return r;
}

START_TEST(energy_of_free_flight_is_constant_and_has_its_closed_form) {
  TlAvatar a;
  CK_OK(tl_avatar_superellipsoid(0.3, 0.2, 0.15, 1, 1, 0.03, 200, &a));
  TlScene scene = scene_of(&a, NULL);
  char *folder = write_run("flight", &scene, 3, 6, 0.4, flying);
  TlMeasure m;
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  ck_assert_int_eq(m.frame_count, 6);
  double volume = 4 * PI / 3 * 0.3 * 0.2 * 0.15, translational = 0, spin = 0, mass = 0;
  for (int b = 0; b < 3; b++) {
    double s = 1 + 0.5 * b, mb = 2650 * volume * pow(s, 3);
    mass += mb;
    translational += 0.5 * mb * (4 + 1 + 25);
    spin += 0.5 * mb * (0.3 * 0.3 + 0.2 * 0.2) / 5 * s * s * 49; /* about the shortest axis */
  }
  double start = m.frame[0].translational_J + m.frame[0].rotational_J;
  CK_NEAR(m.frame[0].mass_kg, mass, 1e-12 * mass);
  CK_NEAR(m.frame[0].translational_J, translational, 1e-12 * translational);
  CK_NEAR(m.frame[0].rotational_J, spin, 1e-9 * spin);
  ck_assert(m.frame[0].potential_J == 0);
  for (int f = 0; f < 6; f++) { /* rounding of sums of about a thousand times the start energy */
    const TlFrameMeasure *x = &m.frame[f];
    CK_NEAR(x->translational_J + x->rotational_J + x->potential_J, start, 1e-11 * start);
    CK_NEAR(x->rotational_J, spin, 1e-9 * spin);
    CK_NEAR(x->travel_m, sqrt(5) * x->time_s, 1e-12);
    CK_NEAR(x->motion.max_speed_m_s, sqrt(5 + pow(5 - 9.81 * x->time_s, 2)), 1e-12);
  }
  ck_assert_int_eq(m.deposit.nx, 0); /* nothing to lie on */
  tl_measure_free(&m);
  tl_avatar_free(&a);
  tl_free(folder);
}
END_TEST

/* Ten grains in a row along (3, 4, 0)/5; grain b slides b metres down a slope of 1:2. */
static TlBodyRow sliding(int b, double t) {
  TlBodyRow r = at_rest(b, tl_vec3(0.6 * b * t, 0.8 * b * t, 10 - 0.5 * b * t), 1);
  r.contacts = b % 3;
  r.flags = b == 9;
  return r;
}

START_TEST(runout_of_a_known_slide_is_measured) {
  TlAvatar a;
  CK_OK(tl_avatar_sphere(0.1, 0.02, 60, &a));
  TlScene scene = scene_of(&a, NULL);
  char *folder = write_run("slide", &scene, 10, 3, 2, sliding);
  TlMeasure m;
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  const TlFrameMeasure *last = &m.frame[2]; /* t = 4: grain b has slid 4 b metres */
  CK_NEAR(m.travel_direction.x, 0.6, 1e-12);
  CK_NEAR(m.travel_direction.y, 0.8, 1e-12);
  CK_NEAR(last->travel_m, 18, 1e-12);
  CK_NEAR(last->drop_m, 9, 1e-12);
  CK_NEAR(last->front_m, 36, 1e-12);
  CK_NEAR(last->tail_m, 0, 1e-12);
  CK_NEAR(last->width_m, 0, 1e-12);
  CK_NEAR(last->travel_angle_deg, atan(0.5) * 180 / PI, 1e-12);
  CK_NEAR(last->reach_angle_deg, atan(0.5) * 180 / PI, 1e-12);
  CK_NEAR(last->contacts_per_grain, 0.9, 1e-15);
  ck_assert_int_eq(last->without_contact, 4);
  ck_assert_int_eq(last->outside, 1);
  tl_measure_free(&m);
  tl_avatar_free(&a);
  tl_free(folder);
}
END_TEST

/* Six grains in a row along y. Of those that slide along x at b m/s, grain 5 leaves the terrain
 * after 1.5 s (step 15) and is taken out, grain 4 after 2.5 s and is frozen there, grain 3 is
 * dropped after 3.5 s. Grain 2 is heavy, grain 0 fixed. */
static TlBodyRow leaving(int b, double t) {
  const double until[] = {9, 9, 9, 3.5, 2.5, 1.5};
  double along = b * fmin(t, until[b]);
  TlBodyRow r = at_rest(b, tl_vec3(along, b, -along), b == 2 ? 2 : 1);
  r.velocity_m_s = tl_vec3(t < until[b] ? b : 0, 0, 0);
  if (b == 0) r.flags = TL_ROW_FROZEN;
  if (b == 4 && t > until[b]) r.flags = TL_ROW_OUTSIDE | TL_ROW_FROZEN;
  if ((b == 5 || b == 3) && t > until[b]) r.avatar_id = 0;
  return r;
}

static const char left_csv[] =
    "time_s,step,id,avatar_id,scale,mass_kg,x_m,y_m,z_m,velocity_x_m_s,velocity_y_m_s,"
    "velocity_z_m_s,removed,reason\n"
    "1.5,15,5,1,1,11,7.5,5,-7.5,5,0,0,1,left the terrain\n"
    "2.5,25,4,1,1,11,10,4,-10,4,0,0,0,left the terrain\n"
    "3.5,35,3,1,1,11,10.5,3,-10.5,3,0,0,1,unresolved collisions\n"
    "4.5,45,1,1,1,11,1"; /* half a line, of a run that was killed */

static void write_text(const char *folder, const char *name, const char *text) {
  char *path = tl_path_join(folder, name);
  CK_OK(tl_file_write(path, text, strlen(text), true));
  tl_free(path);
}

START_TEST(grains_that_left_count_where_they_left) {
  TlAvatar a;
  CK_OK(tl_avatar_sphere(0.1, 0.02, 60, &a));
  TlScene scene = scene_of(&a, NULL);
  char *folder = write_run("left", &scene, 6, 5, 1, leaving);
  TlMeasure m;
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  ck_assert_int_eq(m.lost, 2); /* an older run: they are gone, nobody knows where */
  CK_NEAR(m.frame[4].front_m + 0.5, 10.5, 0.6);
  tl_measure_free(&m);
  write_text(folder, "departures.csv", left_csv);
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  ck_assert_int_eq(m.lost, 0);
  const int64_t outside[] = {0, 0, 1, 2, 2}, gone[] = {0, 0, 1, 1, 2}, there[] = {6, 6, 5, 5, 4};
  double one = 2650 * a.volume_m3, g = 9.81;
  for (int f = 0; f < 5; f++) {
    const TlFrameMeasure *x = &m.frame[f];
    double along[] = {0, f, 2 * f, 3 * fmin(f, 3.5), 4 * fmin(f, 2.5), 5 * fmin(f, 1.5)};
    double mass[] = {one, one, 8 * one, one, one, one}, all = 13 * one, centre = 0, front = 0,
           start = 0, moving = 0;
    for (int b = 0; b < 6; b++) {
      centre += mass[b] * along[b] / all;
      front = fmax(front, along[b]);
      start += mass[b] * b / all; /* y of the first centre: no way in x there */
      moving += b == 1 || b == 2 ? mass[b] : 0;
    }
    ck_assert_int_eq(x->outside, outside[f]);
    ck_assert_int_eq(x->gone, gone[f]);
    ck_assert_int_eq(x->bodies, there[f]);
    CK_NEAR(x->centre_m.x, centre, 1e-12);
    CK_NEAR(x->centre_m.y, start, 1e-12);
    CK_NEAR(x->travel_m, centre, 1e-12);
    CK_NEAR(x->drop_m, centre, 1e-12);
    CK_NEAR(x->front_m, front, 1e-12);
    CK_NEAR(x->potential_J, -all * g * centre, 1e-9 * all * g * 10);
    CK_NEAR(x->mass_kg, f < 2 ? all : f < 4 ? 12 * one : 11 * one, 1e-9 * all);
    if (f == 4) { /* only 1 and 2 still slide; 0 and 4 are fixed, 3 and 5 gone */
      CK_NEAR(x->motion.moving_fraction, moving / (9 * one), 1e-12);
      CK_NEAR(x->motion.mean_speed_m_s, 1.5, 1e-12);
      ck_assert(!x->motion.at_rest);
    }
  }
  ck_assert_int_eq(m.departures.count, 3);
  tl_measure_free(&m);
  write_text(folder, "departures.csv", "time_s,id\n1,5\n");
  CK_FAILS(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m), TL_EINPUT, "no column step");
  tl_avatar_free(&a);
  tl_free(folder);
}
END_TEST

/* Spheres 0.2 m across, sqrt(g d) = 1.4007 m/s: 0 at 0.009 of it, 1 at 0.011, 2 turning so that its
 * surface has 0.011, the others still. */
static TlBodyRow slow(int b, double t) {
  TlBodyRow r = at_rest(b, tl_vec3(b, 0, 0), 1);
  double pace = sqrt(9.81 * 0.2);
  r.velocity_m_s.x = b == 0 ? 0.009 * pace : b == 1 ? 0.011 * pace : 0;
  r.spin_rad_s.y = b == 2 ? 0.011 * pace / 0.1 : 0;
  if (b == 1 && t > 0.5) r.velocity_m_s.x = 0.11 * pace;
  return r;
}

START_TEST(rest_is_a_share_of_the_mass_and_the_fastest_grain) {
  TlAvatar a;
  CK_OK(tl_avatar_sphere(0.1, 0.01, 60, &a));
  TlScene scene = scene_of(&a, NULL);
  char *folder = write_run("slow", &scene, 50, 2, 1, slow);
  TlMeasure m;
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  CK_NEAR(m.frame[0].motion.moving_fraction, 0.04, 1e-12);
  CK_NEAR(m.frame[0].motion.largest_pace, 0.011, 1e-4);
  ck_assert(m.frame[0].motion.at_rest);
  CK_NEAR(m.frame[1].motion.moving_fraction, 0.04, 1e-12);
  ck_assert(!m.frame[1].motion.at_rest); /* one still rolls, be it 2% of the mass */
  tl_measure_free(&m);
  tl_free(folder);
  folder = write_run("fewer", &scene, 30, 1, 1, slow);
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  CK_NEAR(m.frame[0].motion.moving_fraction, 2.0 / 30, 1e-12);
  ck_assert(!m.frame[0].motion.at_rest);
  tl_measure_free(&m);
  tl_avatar_free(&a);
  tl_free(folder);
}
END_TEST

/* Two grains are poured, after 1 s and 2 s: the front counts from where the first one is. */
static TlBodyRow poured(int b, double t) {
  TlBodyRow r = at_rest(b, tl_vec3(100 + t, 50, 0), 1);
  if (t < b + 0.5) r.avatar_id = 0;
  return r;
}

START_TEST(a_first_frame_without_grains_is_no_start) {
  TlAvatar a;
  CK_OK(tl_avatar_sphere(0.1, 0.02, 60, &a));
  TlScene scene = scene_of(&a, NULL);
  char *folder = write_run("poured", &scene, 2, 4, 1, poured);
  TlMeasure m;
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  CK_NEAR(m.frame[3].front_m, 2, 1e-12);
  ck_assert_int_eq(m.joined, 1);
  for (int f = 0; f < 4; f++)
    ck_assert(isnan(m.frame[f].potential_J) && isnan(m.frame[f].travel_m) &&
              isnan(m.frame[f].drop_m) && isnan(m.frame[f].travel_angle_deg));
  ck_assert_int_eq(m.frame[3].gone + m.lost, 0);
  tl_measure_free(&m);
  tl_avatar_free(&a);
  tl_free(folder);
}
END_TEST

enum { RING = 15, CELLS = 2 * RING + 1 };

/* One grain in each cell of 1 m, tops on a cone of 30 degrees, 8 m high. */
static TlBodyRow in_heap(int b, double t) {
  (void)t;
  double x = b % CELLS - RING + 0.5, y = b / CELLS - RING + 0.5;
  double z = 8 - tan(PI / 6) * hypot(x - 0.5, y - 0.5);
  return at_rest(b, tl_vec3(x, y, fmax(z, 0.1)), 1);
}

START_TEST(angle_of_repose_of_a_cone_is_its_angle) {
  TlAvatar a;
  TlPlane floor = {{0, 0, 0}, {0, 0, 1}};
  CK_OK(tl_avatar_sphere(0.1, 0.02, 300, &a));
  TlScene scene = scene_of(&a, &floor);
  char *folder = write_run("heap", &scene, CELLS * CELLS, 1, 1, in_heap);
  TlMeasure m;
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){.cell_m = 1}, &m));
  const TlDeposit *d = &m.deposit;
  ck_assert_int_eq(d->nx, CELLS);
  CK_NEAR(d->area_m2, CELLS * CELLS, 1e-9);
  /* The tops lie one radius above the centres, to the nodes' spacing: a constant, no slope. The
   * mass centre is the axis up to rounding of float nodes. */
  CK_NEAR(d->repose_deg, 30, 0.01);
  CK_NEAR(d->surface_deg, 0, 1e-3);
  CK_NEAR(d->max_thickness_m, 8.1, 0.01);
  CK_NEAR(d->height_p99_m, 8.1 - tan(PI / 6) * 1.7,
          0.6); /* the 10 highest of 961 lie within 1.8 m */
  double solid = 0;
  for (int64_t c = 0; c < d->nx * d->ny; c++) solid += d->solid_m[c] * d->cell_m * d->cell_m;
  double volume = CELLS * CELLS * 4 * PI / 3 * 1e-3;
  CK_NEAR(solid, volume, 1e-6 * volume);
  CK_NEAR(d->volume_m3, volume, 1e-12 * volume);
  /* 95% of a square of half side h: the radius with area pi r^2 - corners; bounds by squares */
  ck_assert(d->radius_95_m > RING && d->radius_95_m < sqrt(2) * RING);
  tl_measure_free(&m);
  tl_avatar_free(&a);
  tl_free(folder);
}
END_TEST

/* Spheres of radius 0.1 s with centres at s (0.1 - fraction 0.1): sunk by a fraction of their radius. */
static const double fractions[] = {0, 0.01, 0.03, 0.5};

static TlBodyRow sunk(int b, double t) {
  (void)t;
  double s = 1 + b;
  return at_rest(b, tl_vec3(10 * b, 0, s * 0.1 * (1 - fractions[b])), s);
}

/* Grains strewn over a floor, tops by chance: no heap. */
static TlBodyRow strewn(int b, double t) {
  TlBodyRow r = in_heap(b, t);
  r.position_m.z = 0.1 + tl_random_uniform(5, 6, (uint64_t)b);
  return r;
}

START_TEST(strewn_grains_have_no_angle_of_repose) {
  TlAvatar a;
  TlPlane floor = {{0, 0, 0}, {0, 0, 1}};
  CK_OK(tl_avatar_sphere(0.1, 0.02, 60, &a));
  TlScene scene = scene_of(&a, &floor);
  char *folder = write_run("strewn", &scene, CELLS * CELLS, 1, 1, strewn);
  TlMeasure m;
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){.cell_m = 1}, &m));
  ck_assert_int_gt(m.deposit.repose_cells, 100);
  ck_assert(isnan(m.deposit.repose_deg));
  tl_measure_free(&m);
  tl_avatar_free(&a);
  tl_free(folder);
}
END_TEST

START_TEST(penetration_is_the_share_of_the_grains_own_radius) {
  TlAvatar a;
  TlPlane floor = {{0, 0, 0}, {0, 0, 1}};
  CK_OK(tl_avatar_sphere(0.1, 0.01, 40, &a)); /* so few that they see nothing of 3% */
  TlScene scene = scene_of(&a, &floor);
  char *folder = write_run("sunk", &scene, 4, 1, 1, sunk);
  TlMeasure m;
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  for (int b = 0; b < 4; b++) {
    const TlGrainMeasure *g = &m.grain[b];
    CK_NEAR(g->radius_m, 0.1 * (1 + b), 1e-9);
    CK_NEAR(g->penetration_m / g->radius_m, fractions[b], 1e-9);
  }
  ck_assert_int_eq(m.deepest_id, 3);
  ck_assert_int_eq(m.below_2_percent, 2);
  CK_NEAR(m.largest_penetration_fraction, 0.5, 1e-9);
  tl_measure_free(&m);
  tl_avatar_free(&a);
  tl_free(folder);
}
END_TEST

/* The same grains over a wall that has risen by 0.01 m, and over one that vanished before. */
START_TEST(penetration_counts_the_walls_that_are_there) {
  TlAvatar a;
  CK_OK(tl_avatar_sphere(0.1, 0.01, 1500, &a));
  TlScene scene = scene_of(&a, NULL);
  TlWallPart part[2] = {
      {.kind = TL_PART_PLANE, .turn = tl_quat_matrix((TlQuat){1, 0, 0, 0}), .centre = {0, 0, -1}},
      {.kind = TL_PART_PLANE, .turn = tl_quat_matrix((TlQuat){1, 0, 0, 0}), .centre = {0, 0, 9}}};
  part[0].drive.velocity_m_s = tl_vec3(0, 0, 100); /* 10 steps of 1 ms */
  part[1].drive.until_s = 5e-3;
  scene.parts = part;
  scene.part_count = 2;
  TlMeasure m;
  char *folder = write_run("walls", &scene, 4, 2, 1, sunk);
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  ck_assert(m.has_solid && !m.has_ground);
  CK_NEAR(m.largest_penetration_fraction, 0.5, 1e-9);
  ck_assert_int_eq(m.deepest_id, 3);
  ck_assert_int_eq(m.below_2_percent, 2);
  tl_measure_free(&m);
  tl_avatar_free(&a);
  tl_free(folder);
}
END_TEST

/* A row of spheres of radius 0.1 s, s = 1 and 2 in turn; the gaps are 0.05, 0 and -0.02. */
static TlBodyRow in_row(int b, double t) {
  (void)t;
  const double x[] = {0, 0.35, 0.65, 0.93};
  return at_rest(b, tl_vec3(x[b], 0.1, 0.2), b % 2 ? 2 : 1);
}

START_TEST(overlap_of_two_grains_is_found_and_measured_by_the_smaller) {
  TlAvatar a;
  CK_OK(tl_avatar_sphere(0.1, 0.01, 1500, &a));
  TlScene scene = scene_of(&a, NULL);
  char *folder = write_run("row", &scene, 4, 1, 1, in_row);
  TlMeasure m;
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  CK_NEAR(m.largest_overlap_m, 0.02, 1e-12); /* balls: in closed form, whatever their nodes */
  CK_NEAR(m.largest_overlap_fraction, 0.2, 1e-9);
  ck_assert_int_ge(m.overlapping_pairs, 1);
  ck_assert_int_le(m.overlapping_pairs, 2); /* the touching pair by rounding */
  tl_measure_free(&m);
  a.inertia_m5.x *= 1.001; /* no ball any more: by its nodes */
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  /* as for the plane: half a node spacing aside of the line of centres, and the trilinear surface,
   * here on both grains: h^2/(8 r) of each */
  double d = 0.1 * sqrt(4 * PI / 1500), less = d * d / (4 * 0.1) + 2 * 0.02 * 0.02 / (8 * 0.2);
  ck_assert_msg(m.largest_overlap_m <= 0.02 + 1e-4 && m.largest_overlap_m >= 0.02 - less,
                "overlap %g", m.largest_overlap_m);
  CK_NEAR(m.largest_overlap_fraction, m.largest_overlap_m / 0.1, 1e-9);
  ck_assert_int_ge(m.overlapping_pairs, 1);
  ck_assert_int_le(m.overlapping_pairs, 2);
  tl_measure_free(&m);
  tl_avatar_free(&a);
  tl_free(folder);
}
END_TEST

START_TEST(a_run_without_frames_or_with_an_unknown_avatar_is_refused) {
  TlAvatar a;
  CK_OK(tl_avatar_sphere(0.1, 0.02, 60, &a));
  TlScene scene = scene_of(&a, NULL);
  TlMeasure m;
  char *none = write_run("none", &scene, 1, 0, 1, sliding);
  CK_FAILS(tl_measure_run(none, &scene, &(TlMeasureOptions){0}, &m), TL_EINPUT, "no frames");
  char *folder = write_run("alien", &scene, 2, 2, 1, sliding);
  a.id = 4;
  CK_FAILS(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m), TL_EINPUT, "avatar 1");
  tl_avatar_free(&a);
  tl_free(none);
  tl_free(folder);
}
END_TEST

/* Six times the volume inside the triangles of a part, and what tl_part_phi says of them: corners
 * lie on the wall, a step off each triangle's middle along its normal on the grains' side. */
static double part_volume(const TlScene *scene, const TlFrame *frame, const TlWallMesh *m,
                          int32_t part) {
  double volume = 0;
  TlPlacement place = tl_scene_place(scene, &scene->parts[part], frame);
  for (int64_t t = 0; t < m->triangles; t++) {
    if (m->part[t] != part) continue;
    TlVec3 p[3], middle = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
      const double *at = m->point + 3 * m->corner[3 * t + k];
      p[k] = tl_vec3(at[0], at[1], at[2]);
      CK_NEAR(tl_part_phi(&scene->parts[part], &place, p[k]), 0, 1e-12);
      middle = tl_axpy(middle, 1.0 / 3, p[k]);
    }
    TlVec3 n = tl_cross(tl_sub(p[1], p[0]), tl_sub(p[2], p[0]));
    volume += tl_dot(n, middle) / 3;
    TlVec3 off = tl_axpy(middle, 0.02, tl_unit(n)); /* farther than a chord lies off its arc */
    ck_assert(tl_part_phi(&scene->parts[part], &place, off) > 0);
    ck_assert_int_eq(m->wall[t], scene->parts[part].wall);
  }
  return volume / 2;
}

START_TEST(exported_walls_lie_on_the_walls_and_face_the_grains) {
  TlMat3 turn = tl_quat_matrix(tl_quat_from_rotation(tl_vec3(0.3, -0.7, 1.1)));
  const TlDrive spin = {
      .spin_rad_s = {1, 2, -1}, .pivot_m = {0.2, 0, 0}, .velocity_m_s = {1, 0, 3}};
  TlWallPart part[] = {
      {.wall = 0, .kind = TL_PART_BOX, .size_m = {1, 2, 3}, .turn = turn, .drive = spin},
      {.wall = 1, .kind = TL_PART_CYLINDER, .size_m = {0.5, 2}, .turn = turn, .centre = {4, 5, 6}},
      {.wall = 2, .kind = TL_PART_RING, .size_m = {0.5, 2, 0.1}, .turn = turn, .drive = spin},
      {.wall = 3, .kind = TL_PART_TUBE, .size_m = {0.5, 2}, .turn = turn, .drive = spin},
      {.wall = 4, .kind = TL_PART_PLANE, .size_m = {1, 2}, .turn = turn, .drive = spin},
      {.wall = 4, .kind = TL_PART_PLANE, .size_m = {2, 2, 1}, .turn = turn, .centre = {1, 2, 3}},
      {.wall = 5, .kind = TL_PART_PLANE, .turn = turn, .centre = {1, 2, 3}},
      {.wall = 6, .kind = TL_PART_BOX, .size_m = {1, 1, 1}, .turn = turn, .drive = {.until_s = 1}}};
  enum { PARTS = sizeof part / sizeof *part };
  TlScene scene = {.step_s = 1e-3, .parts = part, .part_count = PARTS};
  const TlFrame frame = {.step = 1500};
  TlWallMesh m;
  CK_OK(tl_walls_mesh(&scene, &frame, tl_vec3(-1, -1, -1), tl_vec3(1, 1, 1), &m));
  double round = 64 * sin(2 * PI / 64) / 2; /* a polygon of 64 sides over its radius squared */
  CK_NEAR(part_volume(&scene, &frame, &m, 0), 6, 1e-12);
  CK_NEAR(part_volume(&scene, &frame, &m, 1), round * 0.25 * 2, 1e-12);
  CK_NEAR(part_volume(&scene, &frame, &m, 2), round * (0.36 - 0.25) * 2, 1e-12);
  for (int32_t i = 3; i < 7; i++) part_volume(&scene, &frame, &m, i);
  int there[PARTS] = {0};
  for (int64_t t = 0; t < m.triangles; t++) there[m.part[t]]++;
  for (int i = 0; i < PARTS; i++) ck_assert_int_eq(there[i] > 0, i < 7);
  tl_walls_mesh_free(&m);
  const TlPlane floor = {{0, 0, -3}, {0, 0.6, 0.8}};
  scene = (TlScene){.step_s = 1e-3, .plane_count = 1, .planes = (TlPlane *)&floor};
  CK_OK(tl_walls_mesh(&scene, &frame, tl_vec3(9, 9, 9), tl_vec3(9, 9, 9.5), &m));
  ck_assert_int_eq(m.triangles, 2);
  TlVec3 corners = {0, 0, 0};
  for (int64_t i = 0; i < m.points; i++) {
    TlVec3 p = {m.point[3 * i], m.point[3 * i + 1], m.point[3 * i + 2]};
    CK_NEAR(tl_dot(tl_sub(p, floor.point_m), floor.normal), 0, 1e-12);
    corners = tl_axpy(corners, 0.25, p);
  }
  /* an endless plane is drawn below the middle of what is there: aside by none along the plane */
  TlVec3 aside = tl_cross(tl_sub(corners, tl_vec3(9, 9, 9.25)), floor.normal);
  ck_assert_int_eq(m.points, 4);
  CK_NEAR(tl_norm(aside), 0, 1e-12);
  tl_walls_mesh_free(&m);
}
END_TEST

/* A slope of 45 degrees falling to the east, 40 m square; grains touch it, sunk by fraction b. */
static TlBodyRow on_slope(int b, double t) {
  double depth = fractions[b] * 0.5, x = 10 + 4 * b + t, y = 20;
  TlBodyRow r = at_rest(b, tl_vec3(x, y, 0), 1);
  r.position_m.z = 20 - x + (0.5 - depth) * sqrt(2); /* along the normal (1, 0, 1)/sqrt 2 */
  r.velocity_m_s = tl_vec3(1, 0, -1);
  r.contacts = 1;
  return r;
}

static void make_slope(TlTerrain *terrain) {
  double height[41 * 41];
  for (int i = 0; i < 41 * 41; i++) height[i] = 1000 + 20 - i % 41;
  const TlTerrainSource source = {.name = "slope",
                                  .crs = "",
                                  .nx = 41,
                                  .ny = 41,
                                  .cell_m = 1,
                                  .east_m = 1e6,
                                  .north_m = 5e6,
                                  .height_m = height};
  CK_OK(tl_terrain_build(terrain, &source, &(TlTerrainOptions){.band_cells = 3, .refine = 1}));
}

/* Also writes its run for the command-line tests, into the folder $TALUS_KEEP_RUN. */
START_TEST(penetration_into_terrain_is_along_its_normal) {
  TlAvatar a;
  TlTerrain slope = {0};
  TlMeasure m;
  int64_t files;
  CK_OK(tl_avatar_sphere(0.5, 0.05, 1500, &a));
  make_slope(&slope);
  TlScene scene = scene_of(&a, NULL);
  scene.has_terrain = true;
  scene.terrain = slope;
  TlWallPart gate = {.kind = TL_PART_BOX,
                     .centre = {30, 20, 0},
                     .turn = tl_quat_matrix((TlQuat){1, 0, 0, 0}),
                     .size_m = {1, 2, 4},
                     .drive = {.until_s = 2e-3, .velocity_m_s = {0, 0, 100}}};
  scene.parts = &gate; /* at frames 0, 1, 2: at rest, 0.1 m up, gone */
  scene.part_count = 1;
  double lift = 0, ground; /* the local origin's height is the terrain's business */
  ck_assert(tl_terrain_height(&slope, 10, 20, &ground, NULL));
  lift = ground - 10;
  const char *keep = getenv("TALUS_KEEP_RUN");
  char *folder = keep ? tl_strdup(keep) : tl_path_join(tl_test_folder(), "slope");
  TlResultsWriter *w;
  CK_OK(tl_results_create(&w, folder, &scene, false));
  CK_OK(tl_results_add_avatar(w, &a));
  CK_OK(tl_results_scene_done(w));
  for (int f = 0; f < 3; f++) {
    CK_OK(tl_test_frame(w, f, f, 0.25 * f, 4));
    for (int b = 0; b < 4; b++) {
      TlBodyRow r = on_slope(b, 0.25 * f);
      r.position_m.z += lift;
      CK_OK(tl_test_put_bodies(w, &r, 1));
    }
    CK_OK(tl_results_frame_end(w));
  }
  tl_results_close(w);
  CK_OK(tl_measure_run(folder, &scene, &(TlMeasureOptions){0}, &m));
  double d = sqrt(4 * PI / 1500), less = d * d / 4 + 0.1 * 0.1 / 8;
  for (int b = 0; b < 4; b++) {
    double fraction = m.grain[b].penetration_m / m.grain[b].radius_m;
    ck_assert_msg(fraction <= fractions[b] + 1e-4 && fraction >= fmax(0, fractions[b] - less),
                  "fraction %g of %g", fraction, fractions[b]);
  }
  CK_NEAR(m.frame[2].travel_angle_deg, 45, 1e-9);
  CK_NEAR(m.deposit.surface_deg, 45, 2); /* four grains: tops within a node spacing */
  char *out = tl_path_join(tl_test_folder(), "vtk");
  CK_OK(tl_export_run(folder, &scene, &(TlExportOptions){.surfaces = true, .cells = 10}, out, false,
                      &files));
  ck_assert_int_eq(files, 4 + 1 + 4); /* grains, ground, walls */
  CK_FAILS(tl_export_run(folder, &scene, &(TlExportOptions){0}, out, false, &files), TL_EUSAGE,
           "--overwrite");
  CK_OK(tl_export_run(folder, &scene, &(TlExportOptions){0}, out, true, &files));
  tl_measure_free(&m);
  tl_terrain_free(&slope);
  tl_avatar_free(&a);
  tl_free(folder);
  tl_free(out);
}
END_TEST

START_TEST(quantiles_are_those_of_the_order_statistics) {
  double x[] = {4, 1, 3, 2, 5};
  CK_NEAR(tl_quantile(x, 5, 0.5), 3, 0);
  CK_NEAR(tl_quantile(x, 5, 0.25), 2, 0);
  CK_NEAR(tl_quantile(x, 5, 0.95), 4.8, 1e-15);
  CK_NEAR(tl_quantile(x, 5, 1), 5, 0);
  ck_assert(isnan(tl_quantile(x, 0, 0.5)));
}
END_TEST

/* Small spheres with their tops on planes of 31 degrees, of 20 in one of the strips; one more ball
 * high up outside the floor. Each cell (10 x 10 cm) holds 4 x 4 of them, whose highest lies a fixed
 * distance from its middle, so slopes are exact but for the nodes: 16 cells of a spread of 1 mm a strip.
 */
START_TEST(repose_is_the_mean_slope_of_the_strips) {
  enum { NX = 64, NY = 32, COUNT = NX * NY + 1 };
  static TlBodyRow rows[COUNT];
  TlAvatar ball;
  TlRepose r;
  CK_OK(tl_avatar_sphere(0.005, 0.001, 60, &ball));
  TlScene scene = scene_of(&ball, NULL);
  TlFrame frame = {.count = COUNT, .rows = rows};
  for (int k = 0; k < NX * NY; k++) {
    double x = (k % NX + 0.5) / 40, y = (k / NX + 0.5) / 40;
    double slope = tan((y > 0.3 && y < 0.4 ? 20 : 31) * PI / 180);
    rows[k] = at_rest(k, tl_vec3(x, y, 5 - slope * x), 1);
  }
  rows[COUNT - 1] = at_rest(COUNT, tl_vec3(1.7, 0.4, 9), 1);
  TlReposeOptions floor = {.x1_m = 1.6, .y1_m = 0.8};
  CK_OK(tl_measure_repose(&scene, &frame, &floor, &r));
  ck_assert_int_eq(r.filled, 16 * 8);
  CK_NEAR(r.mean_deg, (7 * 31 + 20) / 8.0, 0.01);
  CK_NEAR(r.least_deg, 20, 0.01);
  CK_NEAR(r.most_deg, 31, 0.01);
  CK_NEAR(r.sd_deg, 11 * sqrt(7) / 8, 0.01);
  floor.falls = -1;
  CK_OK(tl_measure_repose(&scene, &frame, &floor, &r));
  CK_NEAR(r.most_deg, -20, 0.01);
  floor = (TlReposeOptions){.x1_m = 0.4, .y1_m = 0.8, .cells = 4, .along = TL_REPOSE_X};
  CK_OK(tl_measure_repose(&scene, &frame, &floor, &r)); /* wider than long */
  CK_NEAR(r.mean_deg, (7 * 31 + 20) / 8.0, 0.01);
  for (int k = 0; k < COUNT; k++) { /* the long side along y */
    TlVec3 p = rows[k].position_m;
    rows[k].position_m = tl_vec3(p.y, p.x, p.z);
  }
  floor = (TlReposeOptions){.x1_m = 0.8, .y1_m = 1.6};
  CK_OK(tl_measure_repose(&scene, &frame, &floor, &r));
  CK_NEAR(r.least_deg, 20, 0.01);
  floor.z0_m = 9; /* all lie under it: an empty floor is flat */
  CK_OK(tl_measure_repose(&scene, &frame, &floor, &r));
  ck_assert_int_eq(r.filled, 0);
  CK_NEAR(r.most_deg, 0, 1e-12);
  CK_FAILS(tl_measure_repose(&scene, &frame, &(TlReposeOptions){0}, &r), TL_EUSAGE, "no area");
  tl_avatar_free(&ball);
}
END_TEST

TL_TEST_MAIN("measure", repose_is_the_mean_slope_of_the_strips,
             energy_of_free_flight_is_constant_and_has_its_closed_form,
             runout_of_a_known_slide_is_measured, angle_of_repose_of_a_cone_is_its_angle,
             strewn_grains_have_no_angle_of_repose,
             penetration_is_the_share_of_the_grains_own_radius,
             penetration_counts_the_walls_that_are_there,
             exported_walls_lie_on_the_walls_and_face_the_grains,
             penetration_into_terrain_is_along_its_normal,
             overlap_of_two_grains_is_found_and_measured_by_the_smaller,
             a_run_without_frames_or_with_an_unknown_avatar_is_refused,
             quantiles_are_those_of_the_order_statistics, grains_that_left_count_where_they_left,
             rest_is_a_share_of_the_mass_and_the_fastest_grain,
             a_first_frame_without_grains_is_no_start)
