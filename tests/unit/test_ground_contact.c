/* Contact with a relief (contact/ground.h) against an oracle that shares no node, field or search with it:
 * dense points of each grain's exact surface (oracle/star.h, closed forms) and of the raster's lines, over
 * random bilinear rasters with ridges, valleys and holes. Lengths in units of the grain's radius. */
#include "support/placed.h"
#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "contact/ground.h"
#include "oracle/star.h"
#include "shape/terrain_depth.h"

#include <stdio.h>
#include <string.h>

static const double MISS = 3e-3; /* of the radius: what the issue of missed contacts allows */
enum { SMOOTH = 1, ROUGH, BUMPY, FACETED, STARS, SPHERE = STARS, BOX, CYLINDER, SHAPES };
static const double radius = 0.5, box[3] = {0.7, 0.56, 0.45}, can[2] = {0.35, 0.7};

typedef struct Scene {
  TlShapes shapes;
  TlStar star[STARS];
  TlAvatar avatar[STARS];
  TlVec3 *point[SHAPES]; /* of the surfaces, body frames; owned from STARS on */
  int count[SHAPES];
  TlTerrain terrain;
  TlBoundary ground;
  TlBodies bodies;
  TlPoints points;
  TlMat3 turn;
} Scene;

static TlVec3 random_direction(TlRandom *r) {
  double z = 2 * tl_random_next(r) - 1, a = 6.283185307179586 * tl_random_next(r),
         s = sqrt(1 - z * z);
  return tl_vec3(s * cos(a), s * sin(a), z);
}

/* On the ray from the centre. */
static void sample_closed(Scene *s, int id, double (*phi)(const double *, TlVec3, TlVec3 *),
                          const double *size) {
  enum { POINTS = 40000 };
  TlRandom r = {.seed = 11, .stream = (uint64_t)id};
  CK_OK(TL_NEW(s->point[id], POINTS));
  s->count[id] = POINTS;
  for (int i = 0; i < POINTS; i++) {
    TlVec3 u = random_direction(&r);
    double low = 0, high = 4;
    for (int k = 0; k < 50; k++) {
      double middle = 0.5 * (low + high);
      *(phi(size, tl_scale(middle, u), NULL) < 0 ? &low : &high) = middle;
    }
    s->point[id][i] = tl_scale(low, u);
  }
  for (int i = 0; i < 4000; i++) { /* and of edges: a corner in eight points */
    TlVec3 *p = &s->point[id][i];
    if (id == BOX) {
      double *x = &p->x;
      for (int k = 0; k < 3; k++)
        if (i % 4 != k) x[k] = copysign(0.5 * size[k], x[k]);
      if (i % 32 == 3)
        *p = tl_vec3(copysign(0.5 * size[0], p->x), copysign(0.5 * size[1], p->y),
                     copysign(0.5 * size[2], p->z));
    } else if (id == CYLINDER && hypot(p->x, p->y) > 0) {
      double far = size[0] / hypot(p->x, p->y);
      *p = tl_vec3(far * p->x, far * p->y, copysign(0.5 * size[1], p->z));
    }
  }
}

static void open_scene(Scene *s) {
  static const TlStarKind kinds[] = {TL_STAR_SUPERELLIPSOID, TL_STAR_ROUGH, TL_STAR_BUMPY,
                                     TL_STAR_FACETED};
  *s = (Scene){.shapes.ground = true};
  tl_par_set_threads(1);
  for (int id = 1; id < STARS; id++) {
    CK_OK(tl_star_make(kinds[id - 1], 3 + (uint64_t)id, &s->star[id]));
    CK_OK(tl_star_avatar(&s->star[id], radius, 40, id == SMOOTH ? 250 : 800, &s->avatar[id]));
    CK_OK(tl_shapes_add(&s->shapes, id, &s->avatar[id]));
    CK_OK(TL_NEW(s->point[id], TL_STAR_POINTS));
    s->count[id] = TL_STAR_POINTS;
    for (int i = 0; i < TL_STAR_POINTS; i++)
      s->point[id][i] = tl_scale(radius, s->star[id].point[i]);
  }
  CK_OK(tl_shapes_add_closed(&s->shapes, SPHERE, &tl_closed_sphere, &radius));
  CK_OK(tl_shapes_add_closed(&s->shapes, BOX, &tl_closed_box, box));
  CK_OK(tl_shapes_add_closed(&s->shapes, CYLINDER, &tl_closed_cylinder, can));
  sample_closed(s, SPHERE, tl_closed_sphere.phi, &radius);
  sample_closed(s, BOX, tl_closed_box.phi, box);
  sample_closed(s, CYLINDER, tl_closed_cylinder.phi, can);
}

static void close_scene(Scene *s) {
  tl_points_free(&s->points);
  tl_bodies_free(&s->bodies);
  tl_shapes_free(&s->shapes);
  tl_free(s->terrain.height_m);
  for (int id = 1; id < SHAPES; id++) tl_free(s->point[id]);
  for (int id = 1; id < STARS; id++) {
    tl_star_free(&s->star[id]);
    tl_avatar_free(&s->avatar[id]);
  }
}

enum { N = 14 };

/* Heights of this standard deviation times the cell, on a slope; holes: here and there no height. */
static void make_raster(Scene *s, double cell, double rough, bool holes, uint64_t seed) {
  TlRandom r = {.seed = seed};
  tl_free(s->terrain.height_m);
  s->terrain = (TlTerrain){.nx = N, .ny = N, .cell_m = cell, .x0_m = -3, .y0_m = 5};
  CK_OK(TL_NEW(s->terrain.height_m, N * N));
  double slope = 1.2 * (tl_random_next(&r) - 0.5);
  for (int i = 0; i < N * N; i++) {
    double z = cell * (rough * 3.46 * (tl_random_next(&r) - 0.5) + slope * (i % N));
    s->terrain.height_m[i] = holes && tl_random_next(&r) < 0.06 ? NAN : (float)z;
  }
  s->ground = (TlBoundary){.kind = &tl_boundary_terrain, .data = &s->terrain};
}

static TlVec3 in_world(const Scene *s, TlVec3 p) {
  return tl_add(s->bodies.position[0], tl_mat_vec(s->turn, p));
}

/* Puts the grain where no sample of its surface lies below the ground and one lies on it, then this much
 * lower. False: no ground under it. */
static bool place(Scene *s, int id, double x, double y, TlQuat q, double lower) {
  tl_bodies_clear(&s->bodies);
  TlGrainState g = {.id = 0, .avatar_id = id, .scale = 1, .position = {x, y, 0}, .rotation = q};
  tl_test_place(&s->bodies, &s->shapes, g, 0);
  s->turn = tl_quat_matrix(q);
  double lift = -INFINITY;
  for (int i = 0; i < s->count[id]; i++) {
    TlVec3 p = in_world(s, s->point[id][i]);
    double z;
    if (tl_terrain_height(&s->terrain, p.x, p.y, &z, NULL)) lift = fmax(lift, z - p.z);
  }
  s->bodies.position[0].z = lift - lower;
  return lift > -INFINITY;
}

static double own_phi(const Scene *s, int id, TlVec3 x) {
  TlVec3 p = tl_mat_tvec(s->turn, tl_sub(x, s->bodies.position[0]));
  if (id == SPHERE) return tl_closed_sphere.phi(&radius, p, NULL);
  if (id == BOX) return tl_closed_box.phi(box, p, NULL);
  if (id == CYLINDER) return tl_closed_cylinder.phi(can, p, NULL);
  double far = tl_norm(p);
  double surface = radius * tl_star_radius(&s->star[id], tl_unit(p));
  return far < surface ? tl_avatar_phi(&s->avatar[id], p, NULL) : far - surface;
}

/* The deepest sample of the surface below the ground, and of the lines between neighbouring samples of the
 * raster inside the grain. */
static double true_depth(const Scene *s, int id) {
  const TlTerrain *t = &s->terrain;
  double depth = 0, cell = t->cell_m;
  for (int i = 0; i < s->count[id]; i++) {
    double d = tl_terrain_depth(t, in_world(s, s->point[id][i]), depth);
    if (d > depth) depth = d;
  }
  TlVec3 c = s->bodies.position[0];
  double r = s->bodies.radius[0];
  for (int k = 0; k < 2 * N * N; k++) {
    int i = k / 2 % N, j = k / 2 / N, along = k & 1, i1 = i + along, j1 = j + !along;
    if (i1 >= N || j1 >= N) continue;
    double z0 = (double)t->height_m[j * N + i], z1 = (double)t->height_m[j1 * N + i1];
    int fine = (int)(cell / r * 200) + 20;
    if (isnan(z0 + z1)) continue;
    for (int m = 0; m <= fine; m++) {
      double f = (double)m / fine;
      TlVec3 p = tl_vec3(t->x0_m + cell * (i + f * along), t->y0_m + cell * (j + f * !along),
                         z0 + f * (z1 - z0));
      double z;
      if (tl_norm2(tl_sub(p, c)) > r * r || !tl_terrain_height(t, p.x, p.y, &z, NULL)) continue;
      depth = fmax(depth, -own_phi(s, id, p));
    }
  }
  return depth;
}

static TlStatus query(Scene *s, bool all, double margin, TlNearWall **list) {
  TlGroundQuery q = {.colliders = &s->bodies.colliders,
                     .turn = &s->turn,
                     .boundary = &s->ground,
                     .list = list,
                     .all = all};
  TlWanted wanted = {margin, margin, INFINITY, margin};
  s->points.count = 0;
  return tl_ground_points(&q, &wanted, &s->points);
}

static double found_depth(const Scene *s) {
  double depth = 0;
  for (size_t i = 0; i < s->points.count; i++) depth = fmax(depth, -s->points.point[i].gap);
  return depth;
}

static TlQuat random_turn(TlRandom *r) {
  TlVec3 a = random_direction(r), b = random_direction(r);
  return tl_quat_unit((TlQuat){a.x, a.y, a.z, b.x});
}

typedef struct Count {
  int seen, missed, misread;
  double most_missed, most_misread;
} Count;

/* Grains pressed by up to 3% of their radius into rasters of this many radii a cell. */
static Count count_misses(Scene *s, int id, double cell, double rough, bool holes, int trials) {
  Count n = {0};
  TlRandom r = {.seed = 5, .stream = (uint64_t)id};
  for (int k = 0; k < trials; k++) {
    if (k % 10 == 0) make_raster(s, cell * radius, rough, holes, 100 + (uint64_t)k);
    double span = s->terrain.cell_m * (N - 1);
    double x = s->terrain.x0_m + span * (0.15 + 0.7 * tl_random_next(&r)),
           y = s->terrain.y0_m + span * (0.15 + 0.7 * tl_random_next(&r));
    if (k % 3 == 0) /* near a line */
      x = s->terrain.x0_m + s->terrain.cell_m * floor((x - s->terrain.x0_m) / s->terrain.cell_m) +
          0.5 * radius * (tl_random_next(&r) - 0.5);
    double lower = radius * 0.03 * tl_random_next(&r);
    if (!place(s, id, x, y, random_turn(&r), lower)) continue;
    double z, want = true_depth(s, id);
    /* a centre in a pit or over a hole is no contact */
    if (!tl_terrain_height(&s->terrain, x, y, &z, NULL) || !(s->bodies.position[0].z > z) ||
        want > 0.06 * radius)
      continue;
    CK_OK(query(s, false, 0.02 * radius, NULL));
    double have = found_depth(s), error = (have - want) / radius;
    n.seen++;
    n.missed += error < -MISS;
    n.misread += error > MISS;
    n.most_missed = fmax(n.most_missed, -error);
    n.most_misread = fmax(n.most_misread, error);
  }
  return n;
}

/* ---- tests ---- */

START_TEST(signed_distances_are_those_of_all_patches) {
  TL_NOT_SANITIZED();
  Scene s;
  open_scene(&s);
  TlRandom r = {.seed = 1};
  for (int raster = 0; raster < 4; raster++) {
    make_raster(&s, 2, raster < 2 ? 0.3 : 1.5, raster & 1, 7 + (uint64_t)raster);
    TlHeightfield f = {N, N, s.terrain.height_m, 1 / s.terrain.cell_m};
    for (int k = 0; k < 3000; k++) {
      TlVec3 p = {14 * tl_random_next(&r) - 0.5, 14 * tl_random_next(&r) - 0.5, 0}, n;
      TlPatch patch;
      double u, v, phi, reach = 3 * tl_random_next(&r);
      bool there = tl_heightfield_locate(&f, p.x, p.y, &patch, &u, &v);
      double z = there ? patch.a + patch.b * u + patch.c * v + patch.d * u * v : 0;
      double above = 4 * pow(tl_random_next(&r) - 0.5, 3) * 8;
      p.z = z + above;
      ck_assert(tl_heightfield_signed(&f, p, reach, &phi, &n) == there);
      if (!there || above < -TL_SURFACE_DEEP) continue;
      double far = fmin(tl_heightfield_distance(&f, p, 9), fabs(above));
      if (above >= 0 && far >= reach)
        ck_assert(phi >= reach);
      else
        CK_NEAR(phi, copysign(far, above), 3e-7);
      double quick;
      tl_heightfield_signed(&f, p, reach, &quick, NULL);
      ck_assert((quick < reach) == (phi < reach));
      if (above < 0 || far >= reach || far < 1e-3) continue;
      /* the normal leads away from the surface */
      double off;
      TlVec3 m;
      if (tl_heightfield_signed(&f, tl_axpy(p, -0.5 * phi, n), 9, &off, &m))
        ck_assert_msg(fabs(off - 0.5 * phi) < 1e-5, "%g of %g", off, phi);
    }
  }
  close_scene(&s);
}
END_TEST

START_TEST(grains_on_random_rasters_are_not_missed) {
  static const char *const name[] = {"",        "superellipsoid", "rough", "bumpy",
                                     "faceted", "sphere",         "box",   "cylinder"};
  static const double cells[] = {10, 2.5, 0.9};
  Scene s;
  open_scene(&s);
  int missed = 0, misread = 0, seen = 0;
  for (int id = 1; id < SHAPES; id++)
    for (int c = 0; c < 3; c++)
      for (int steep = 0; steep < 2; steep++) {
        Count n = count_misses(&s, id, cells[c], steep ? 0.5 : 0.15, steep, 24);
        printf("%s, cell of %g radii, %s: of %d missed %d (%.2f%%), misread %d (%.2f%%)\n",
               name[id], cells[c], steep ? "steep with holes" : "hills", n.seen, n.missed,
               100 * n.most_missed, n.misread, 100 * n.most_misread);
        seen += n.seen;
        missed += n.missed;
        /* where edges cross, the translation that parts two is longer than the way out of a point */
        if (id != BOX && id != CYLINDER && id != FACETED) misread += n.misread;
      }
  ck_assert_msg(seen > 700, "%d", seen);
  ck_assert_msg(missed * 100 <= seen, "missed %d of %d", missed, seen);
  ck_assert_msg(misread * 100 <= seen, "misread %d of %d", misread, seen);
  close_scene(&s);
}
END_TEST

/* A rim over a strongly twisted patch is lowest where no single normal leads, and has no nodes. */
START_TEST(rims_on_twisted_patches_are_not_missed) {
  Scene s;
  open_scene(&s);
  static const double cells[] = {0.8, 1.5};
  int missed = 0, seen = 0;
  for (int c = 0; c < 2; c++) {
    Count n = count_misses(&s, CYLINDER, cells[c], 1, false, 150);
    printf("cylinder, cell of %g radii, twisted: of %d missed %d (%.2f%%)\n", cells[c], n.seen,
           n.missed, 100 * n.most_missed);
    seen += n.seen;
    missed += n.missed;
  }
  ck_assert_int_ge(seen, 100);
  ck_assert_msg(missed * 100 <= seen, "missed %d of %d", missed, seen);
  close_scene(&s);
}
END_TEST

static int by_key(const void *one, const void *two) {
  const TlPoint *a = one, *b = two;
  return a->key < b->key ? -1 : a->key > b->key;
}

START_TEST(one_pass_lists_and_every_node_give_the_same_points) {
  Scene s;
  open_scene(&s);
  TlRandom r = {.seed = 21};
  int points = 0;
  TlPoints other = {0};
  for (int k = 0; k < 400; k++) {
    int id = 1 + k % (SHAPES - 1);
    if (k % 8 == 0) make_raster(&s, (k / 8 % 3 ? 5 : 0.8) * radius, 0.4, k & 16, (uint64_t)k);
    double span = s.terrain.cell_m * (N - 1);
    if (!place(&s, id, s.terrain.x0_m + span * tl_random_next(&r),
               s.terrain.y0_m + span * tl_random_next(&r), random_turn(&r), 0.01 * radius))
      continue;
    CK_OK(query(&s, true, 0.1 * radius, NULL));
    qsort(s.points.point, s.points.count, sizeof *s.points.point, by_key);
    CK_OK(TL_RESERVE(other.point, other.capacity, s.points.count));
    if (s.points.count) memcpy(other.point, s.points.point, s.points.count * sizeof *other.point);
    other.count = s.points.count;
    points += (int)other.count;
    TlNearWall *list = NULL;
    for (int m = 0; m < 3; m++) {
      CK_OK(query(&s, false, 0.1 * radius, m ? &list : NULL));
      qsort(s.points.point, s.points.count, sizeof *s.points.point, by_key);
      ck_assert_msg(s.points.count == other.count, "%zu points for %zu", s.points.count,
                    other.count);
      for (size_t i = 0; i < other.count; i++) {
        const TlPoint *a = &s.points.point[i], *b = &other.point[i];
        ck_assert(a->key == b->key && a->gap == b->gap && tl_norm(tl_sub(a->p, b->p)) == 0 &&
                  tl_norm(tl_sub(a->n, b->n)) == 0);
        ck_assert(i == 0 || a->key != s.points.point[i - 1].key);
      }
    }
    tl_near_wall_free(list);
  }
  ck_assert_msg(points > 2000, "%d points", points);
  tl_points_free(&other);
  close_scene(&s);
}
END_TEST

/* Gap and normal of the deepest point change no faster than the grain moves. */
START_TEST(a_grain_crosses_ridges_and_valleys_smoothly) {
  TL_NOT_SANITIZED();
  Scene s;
  open_scene(&s);
  TlRandom r = {.seed = 31};
  static const int ids[] = {SPHERE, SMOOTH, ROUGH};
  for (int k = 0; k < 3; k++) {
    double most = 0, two = 0;
    for (int walk = 0; walk < 20; walk++) {
      make_raster(&s, 6 * radius, 0.3, false, 40 + (uint64_t)walk);
      TlQuat q = random_turn(&r);
      double before = INFINITY, step = 2e-3 * radius, y = s.terrain.y0_m + 6.3 * s.terrain.cell_m;
      if (walk % 2) y += 0.4 * radius - 0.3 * s.terrain.cell_m;
      double x = s.terrain.x0_m + 5.8 * s.terrain.cell_m;
      if (!place(&s, ids[k], x, y, q, 0.01 * radius)) continue;
      double z0, z;
      tl_terrain_height(&s.terrain, x, y, &z0, NULL);
      for (int i = 0; i < 600; i++) {
        tl_terrain_height(&s.terrain, x + i * step, y, &z, NULL);
        s.bodies.position[0].x = x + i * step;
        s.bodies.position[0].z += z - z0;
        double travel = hypot(step, z - z0);
        z0 = z;
        CK_OK(query(&s, false, 0.6 * radius, NULL));
        double gap = INFINITY;
        for (size_t m = 0; m < s.points.count; m++) gap = fmin(gap, s.points.point[m].gap);
        if (before < INFINITY) most = fmax(most, (fabs(gap - before) - travel) / radius);
        before = gap;
        if (ids[k] != SPHERE) continue;
        TlHeightfield f = {N, N, s.terrain.height_m, 1 / s.terrain.cell_m};
        TlVec3 c = s.bodies.position[0];
        double d = tl_heightfield_distance(&f,
                                           tl_vec3((c.x - s.terrain.x0_m) * f.per_metre,
                                                   (c.y - s.terrain.y0_m) * f.per_metre,
                                                   c.z * f.per_metre),
                                           9);
        if (gap < 0.6 * radius)
          CK_NEAR(gap, d * s.terrain.cell_m - radius, 1e-6 * s.terrain.cell_m);
        two += s.points.count > 1;
      }
    }
    printf("shape %d: the gap jumps by %.4f%% of the radius at most\n", ids[k], 100 * most);
    ck_assert_msg(most < (ids[k] == SPHERE ? 1e-6 : 2e-3), "shape %d: %g", ids[k], most);
    if (ids[k] == SPHERE) ck_assert(two > 200); /* in valleys it touches either side */
  }
  close_scene(&s);
}
END_TEST

TL_TEST_MAIN("ground_contact", signed_distances_are_those_of_all_patches,
             grains_on_random_rasters_are_not_missed, rims_on_twisted_patches_are_not_missed,
             one_pass_lists_and_every_node_give_the_same_points,
             a_grain_crosses_ridges_and_valleys_smoothly)
