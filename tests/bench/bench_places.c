/* Contact by places (contact/places.h) beside the node search of the solver (contact/near.h).
 *
 * Random pairs: two grains of one shape at random attitudes, depths of 0.1 to 3% of the radius, each
 * found from nothing; how far both searches report less than an oracle that shares nothing with them
 * (oracle/star.h for smooth grains, post/overlap_convex.h for cubes). Warm: touching pairs that slide and
 * turn by 0.1 to 1% of the radius a step, CPU a query of either search in one run, and what the
 * places kept from step to step report less than a search from nothing at the same poses. One thread.
 */
#include "judge/judge.h"
#include "num/sort.h"
#include "support/grain_state.h"

#include "base/par.h"
#include "base/random.h"
#include "contact/near.h"
#include "contact/places.h"
#include "oracle/star.h"
#include "post/overlap_convex.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = 2000, TIMED = 100, STEPS = 48, REPEATS = 5 };
static const double SIZE = 0.01, MISS = 3e-3, MARGIN = 0.01, BAND = 0.02;

typedef struct Case {
  const char *name;
  TlStarKind kind;
  int32_t cells, nodes;        /* 0: a cube in closed form instead */
  double warm_goal, miss_goal; /* CPU over the node search's; % of pairs */
} Case;

typedef struct Scene {
  bool cube;
  TlStar star;
  TlAvatar avatar;
  TlShapes shapes;
  const TlPlaceShape *place;
  TlBodies bodies;
  TlPoints points;
  double rms, most; /* of the spline on the star's true surface, % of SIZE */
} Scene;

typedef struct Pose {
  TlVec3 shift, slide, spin; /* of b seen from a; directions of motion */
  TlQuat turn;
  double depth; /* by the oracle, of the radius */
} Pose;

static void add_body(Scene *s, int64_t id) {
  TlGrainState state = {.id = id, .avatar_id = 1, .scale = 1, .rotation = {1, 0, 0, 0}};
  JUDGE_OK(tl_test_add(&s->bodies, &state));
  s->bodies.colliders.shape[id] = tl_shapes_find(&s->shapes, 1);
  s->bodies.radius[id] = s->bodies.colliders.shape[id]->radius_m;
}

static void scene_open(Scene *s, const Case *c) {
  *s = (Scene){.cube = c->nodes == 0, .shapes = {.places = true}};
  double side = 2 * SIZE / sqrt(3);
  if (s->cube) {
    JUDGE_OK(tl_shapes_add_closed(&s->shapes, 1, &tl_closed_box, (double[]){side, side, side}));
  } else {
    JUDGE_OK(tl_star_make(c->kind, 7, &s->star));
    JUDGE_OK(tl_star_avatar(&s->star, SIZE, c->cells, c->nodes, &s->avatar));
    JUDGE_OK(tl_shapes_add(&s->shapes, 1, &s->avatar));
  }
  s->place = tl_shapes_find(&s->shapes, 1)->place;
  add_body(s, 0);
  add_body(s, 1);
  for (int i = 0; i < TL_STAR_POINTS && !s->cube; i++) {
    double off =
        tl_spline_phi(&s->place->spline, tl_scale(SIZE, s->star.point[i]), NULL, NULL) / SIZE;
    s->rms += 1e4 * off * off / TL_STAR_POINTS;
    s->most = tl_max(s->most, 100 * fabs(off));
  }
  s->rms = sqrt(s->rms);
}

static void scene_close(Scene *s) {
  tl_points_free(&s->points);
  tl_bodies_free(&s->bodies);
  tl_shapes_free(&s->shapes);
  tl_avatar_free(&s->avatar);
  tl_star_free(&s->star);
}

static TlVec3 random_unit(uint64_t stream, uint64_t i) {
  return tl_unit(tl_vec3(tl_random_normal(stream, 0, i), tl_random_normal(stream, 1, i),
                         tl_random_normal(stream, 2, i)));
}

/* Of radius 1, as a star's. */
static double cube_depth(TlVec3 shift, TlMat3 turn) {
  TlVec3 n, point, half = tl_scale(1 / sqrt(3), tl_vec3(1, 1, 1));
  TlConvex a = tl_convex_box(half), b = tl_convex_placed(&a, 1, turn, shift);
  return tl_convex_depth(&a, &b, &n, &point);
}

static double cube_touch(TlVec3 along, TlMat3 turn) {
  double low = 0, high = 2;
  for (int i = 0; i < 30; i++) {
    double middle = 0.5 * (low + high);
    if (cube_depth(tl_scale(middle, along), turn) > 0)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static Pose pose_of(const Scene *s, uint64_t i) {
  TlVec3 along = random_unit(11, i);
  Pose p = {.turn = tl_quat_from_rotation(
                tl_scale(2 * M_PI * tl_random_uniform(12, 3, i), random_unit(12, i))),
            .spin = random_unit(13, i)};
  p.slide = tl_unit(tl_cross(along, random_unit(14, i)));
  double wanted = 0.001 + 0.029 * tl_random_uniform(15, 0, i);
  TlMat3 turn = tl_quat_matrix(p.turn);
  double touch = s->cube ? cube_touch(along, turn) : tl_star_touch(&s->star, &s->star, along, turn);
  p.shift = tl_scale(touch - wanted, along);
  p.depth = s->cube ? cube_depth(p.shift, turn) : tl_star_depth(&s->star, &s->star, p.shift, turn);
  p.shift = tl_scale(SIZE, p.shift);
  return p;
}

/* Step k of a motion to and fro about the pose: `part` of the radius a step, sliding and turning. */
static void place_at(Scene *s, const Pose *p, double part, int k, TlMat3 turn[2]) {
  int phase = k % 24;
  double travel = part * (phase < 6 ? phase : phase < 18 ? 12 - phase : phase - 24);
  TlQuat spin = tl_quat_from_rotation(tl_scale(0.7 * travel, p->spin));
  TlColliders *c = &s->bodies.colliders;
  c->position[0] = tl_vec3(0.3, -0.2, 0.1);
  c->position[1] = tl_add(c->position[0], tl_axpy(p->shift, 0.7 * travel * SIZE, p->slide));
  c->rotation[0] = (TlQuat){1, 0, 0, 0};
  c->rotation[1] = tl_quat_unit(tl_quat_mul(spin, p->turn));
  for (int i = 0; i < 2; i++) turn[i] = tl_quat_matrix(c->rotation[i]);
}

static double nodes_gap(Scene *s, TlNearPair **pair, const TlMat3 turn[2], double travel) {
  TlNearQuery q = {.colliders = &s->bodies.colliders,
                   .a = 0,
                   .b = 1,
                   .turn_a = &turn[0],
                   .turn_b = &turn[1],
                   .both = true,
                   .travel = travel,
                   .size = SIZE,
                   .band = BAND * SIZE};
  TlWanted wanted = {.margin = MARGIN * SIZE, .band = BAND * SIZE, .least = INFINITY};
  s->points.count = 0;
  JUDGE_OK(tl_near_points(pair, &q, &wanted, &s->points));
  double least = INFINITY;
  for (size_t i = 0; i < s->points.count; i++) least = tl_min(least, s->points.point[i].gap);
  return least;
}

typedef struct Memory {
  TlPlacePair pair;
  TlPlaceCache *cache;
} Memory;

static double places_gap(Scene *s, Memory *memory, const TlMat3 turn[2], double travel) {
  TlPlaceQuery q = {.colliders = &s->bodies.colliders,
                    .a = 0,
                    .b = 1,
                    .turn_a = &turn[0],
                    .turn_b = &turn[1],
                    .margin = MARGIN * SIZE,
                    .travel = travel};
  s->points.count = 0;
  JUDGE_OK(tl_places_query(&memory->pair, &memory->cache, &q, &s->points, NULL));
  double least = INFINITY;
  for (size_t i = 0; i < s->points.count; i++) least = tl_min(least, s->points.point[i].gap);
  return least;
}

typedef struct Under {
  double miss, unseen, median, p99, most; /* % of pairs; % of the radius */
} Under;

/* less[i]: oracle's depth minus the reported one, of the radius. */
static Under under_of(const Pose *pose, double *less, int count) {
  Under u = {0};
  for (int i = 0; i < count; i++) u.miss += 100.0 * (less[i] > MISS) / count;
  for (int i = 0; i < count; i++) u.unseen += 100.0 * (less[i] >= pose[i].depth) / count;
  for (int i = 0; i < count; i++) less[i] = fabs(less[i]);
  qsort(less, (size_t)count, sizeof *less, tl_by_real);
  u.median = 100 * less[count / 2];
  u.p99 = 100 * less[(int)(0.99 * count)];
  u.most = 100 * less[count - 1];
  return u;
}

static void random_pairs(Scene *s, const Case *c, const Pose *pose, int pairs) {
  double *less[2];
  char name[80];
  for (int k = 0; k < 2; k++) less[k] = calloc((size_t)pairs, sizeof **less);
  int64_t lookups = 0;
  for (int i = 0; i < pairs; i++) {
    TlMat3 turn[2];
    TlNearPair *near = NULL;
    Memory place = {0};
    place_at(s, &pose[i], 0, 0, turn);
    less[0][i] = pose[i].depth + tl_min(nodes_gap(s, &near, turn, 0.001 * SIZE), 0) / SIZE;
    int64_t before = s->points.lookups;
    less[1][i] = pose[i].depth + tl_min(places_gap(s, &place, turn, 0.001 * SIZE), 0) / SIZE;
    lookups += s->points.lookups - before;
    if (getenv("PLACES_TRACE") && less[1][i] > MISS)
      fprintf(stderr, "%s %d: depth %.4f, places %.4f less\n", c->name, i, pose[i].depth,
              less[1][i]);
    tl_place_cache_free(place.cache);
    tl_near_pair_free(near);
  }
  Under nodes = under_of(pose, less[0], pairs), places = under_of(pose, less[1], pairs);
  snprintf(name, sizeof name, "places_missed_%s", c->name);
  judge_at_most(JUDGE_GOAL, name, places.miss, "%", c->miss_goal);
  judge_note(
      "%s, %d pairs (%s; the grid's own surface is off by %.3f%% rms, %.2f%% at most): over "
      "0.3%% of the radius less than the oracle by nodes %.2f%% of the pairs (not seen at all "
      "%.1f%%; median error %.3f%%, p99 %.3f%%, most %.3f%% of the radius), by places %.2f%% "
      "(%.2f%%; %.4f, %.3f, %.3f); %.0f evaluations a search.",
      c->name, pairs, s->place->convex ? "convex" : "not convex", s->rms, s->most, nodes.miss,
      nodes.unseen, nodes.median, nodes.p99, nodes.most, places.miss, places.unseen, places.median,
      places.p99, places.most, (double)lookups / pairs);
  for (int k = 0; k < 2; k++) free(less[k]);
}

typedef struct Warm {
  double nodes_ns, places_ns, nodes_lookups, places_lookups, searches, missed;
} Warm;

/* Where b is at a step, as the bodies hold it. */
typedef struct Stand {
  TlVec3 position;
  TlQuat rotation;
  TlMat3 turn[2];
} Stand;

/* CPU of one search over all steps of one pair; the first half round warms it up. */
static double run(Scene *s, bool places, const Stand *stand, double travel, double *gap,
                  TlPoints *count) {
  TlNearPair *near = NULL;
  Memory place = {0};
  double start = 0;
  TlPoints before = {0};
  for (int k = 0; k < STEPS + 24; k++) {
    if (k == 24) {
      before = s->points;
      start = judge_thread_cpu_s();
    }
    s->bodies.colliders.position[1] = stand[k].position;
    s->bodies.colliders.rotation[1] = stand[k].rotation;
    gap[k] = places ? places_gap(s, &place, stand[k].turn, travel)
                    : nodes_gap(s, &near, stand[k].turn, travel);
  }
  start = judge_thread_cpu_s() - start;
  count->lookups += s->points.lookups - before.lookups;
  count->lists += s->points.lists - before.lists;
  tl_place_cache_free(place.cache);
  tl_near_pair_free(near);
  return start;
}

static Warm warm(Scene *s, const Pose *pose, double part) {
  double spent[2][REPEATS] = {{0}}, travel = 1.4 * part * SIZE, per_query = 1.0 / (TIMED * STEPS);
  TlPoints count[2] = {{0}};
  int missed = 0;
  for (int r = 0; r < REPEATS; r++)
    for (int i = 0; i < TIMED; i++) {
      Stand stand[STEPS + 24];
      double gap[2][STEPS + 24];
      for (int k = 0; k < STEPS + 24; k++) {
        place_at(s, &pose[i], part, k, stand[k].turn);
        stand[k].position = s->bodies.colliders.position[1];
        stand[k].rotation = s->bodies.colliders.rotation[1];
      }
      for (int how = 0; how < 2; how++)
        spent[how][r] += 1e9 * per_query * run(s, how, stand, travel, gap[how], &count[how]);
      for (int k = 24; k < STEPS + 24 && r == 0; k++) {
        Memory fresh = {0};
        s->bodies.colliders.position[1] = stand[k].position;
        s->bodies.colliders.rotation[1] = stand[k].rotation;
        missed += places_gap(s, &fresh, stand[k].turn, travel) < gap[1][k] - MISS * SIZE;
        tl_place_cache_free(fresh.cache);
      }
    }
  for (int how = 0; how < 2; how++) qsort(spent[how], REPEATS, sizeof spent[how][0], tl_by_real);
  return (Warm){spent[0][REPEATS / 2],
                spent[1][REPEATS / 2],
                per_query * (double)count[0].lookups / REPEATS,
                per_query * (double)count[1].lookups / REPEATS,
                per_query * (double)count[1].lists / REPEATS,
                100 * per_query * missed};
}

static void study(const Case *c) {
  static const double part[] = {0, 0.001, 0.003, 0.01};
  Scene s;
  char name[80];
  double worst = 0, missed = 0;
  Pose *pose = calloc(PAIRS, sizeof *pose);
  scene_open(&s, c);
  for (int i = 0; i < PAIRS; i++) pose[i] = pose_of(&s, (uint64_t)i);
  random_pairs(&s, c, pose, PAIRS);
  for (int k = 0; k < 4; k++) {
    Warm w = warm(&s, pose, part[k]);
    judge_note(
        "%s, %.1f%% of the radius a step: nodes %.0f ns (%.1f look-ups), places %.0f ns (%.1f "
        "evaluations, %.3f searches), ratio %.2f; %.2f%% of warm queries read over 0.3%% less "
        "than a search from nothing.",
        c->name, 100 * part[k], w.nodes_ns, w.nodes_lookups, w.places_ns, w.places_lookups,
        w.searches, w.places_ns / w.nodes_ns, w.missed);
    missed = tl_max(missed, w.missed);
    if (k > 0) worst = tl_max(worst, w.places_ns / w.nodes_ns);
    snprintf(name, sizeof name, "places_rest_%s", c->name);
    if (k == 0) judge_at_most(JUDGE_GOAL, name, w.places_ns - w.nodes_ns, "ns", 100);
  }
  snprintf(name, sizeof name, "places_warm_%s", c->name);
  judge_at_most(JUDGE_GOAL, name, worst, "1", c->warm_goal);
  snprintf(name, sizeof name, "places_warm_missed_%s", c->name);
  judge_at_most(JUDGE_GOAL, name, missed, "%", c->miss_goal);
  free(pose);
  scene_close(&s);
}

int main(int argc, char **argv) {
  static const Case cases[] = {{"superellipsoid", TL_STAR_SUPERELLIPSOID, 28, 250, 0.3, 0.2},
                               {"rough", TL_STAR_ROUGH, 40, 800, 1.1, 0.2},
                               {"bumpy", TL_STAR_BUMPY, 40, 800, 1.1, 0.2},
                               {"faceted", TL_STAR_FACETED, 40, 800, 1.4, 0.5},
                               {"cube", 0, 0, 0, 1.4, 0.5}};
  judge_open("places", argc, argv);
  tl_par_set_threads(1);
  for (int i = 0; i < 5; i++) study(&cases[i]);
  return judge_close();
}
