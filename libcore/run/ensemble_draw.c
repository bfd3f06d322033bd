#include "run/ensemble.h"

#include "base/mem.h"
#include "base/random.h"
#include "run/assembly_kinds.h"

#include <math.h>

/* Random numbers are of (seed, stream, number of the block), so a block is the same in an ensemble
 * of any size. */
enum { STREAM_PLACE = 7101, STREAM_TURN, STREAM_VOLUME, STREAM_SHAPE, STREAM_VELOCITY };
enum { TRIES = 1 << 20 };

typedef struct Draw {
  const TlSetup *setup;
  const TlStudy *study;
  const TlTerrain *terrain;
  TlBodySetup plain; /* what a row says that says nothing */
  int64_t places;    /* of the list of bodies */
  int64_t *row;      /* of each place; owned */
} Draw;

static double uniform(const Draw *d, int stream, int64_t index) {
  return tl_random_uniform((uint64_t)d->setup->seed, (uint64_t)stream, (uint64_t)index);
}

static double between(double low, double high, double t) {
  return low + t * (high - low);
}

/* ---- places ---- */

static bool in_area(const Draw *d, double x, double y) {
  const TlReleaseSetup *r = &d->setup->release;
  double ground;
  if (!tl_inside_polygon(&r->polygon, x, y)) return false;
  if (r->round) { /* the circle inscribed in the box */
    double cx = 0.5 * (r->low_m[0] + r->high_m[0]), cy = 0.5 * (r->low_m[1] + r->high_m[1]);
    double radius = 0.5 * fmin(r->high_m[0] - r->low_m[0], r->high_m[1] - r->low_m[1]);
    if (hypot(x - cx, y - cy) > radius) return false;
  }
  return tl_terrain_height(d->terrain, x, y, &ground, NULL);
}

/* Uniform over the area, by the first of the block's tries that lies in it. */
static TlStatus place_in_area(const Draw *d, int64_t block, double at[3]) {
  const TlReleaseSetup *r = &d->setup->release;
  for (int64_t t = 0; t < TRIES; t++) {
    int64_t index = 2 * (block * TRIES + t);
    for (int a = 0; a < 2; a++)
      at[a] = between(r->low_m[a], r->high_m[a], uniform(d, STREAM_PLACE, index + a));
    at[2] = 0;
    if (in_area(d, at[0], at[1])) return TL_OK;
  }
  return tl_study_fail(d->study, TL_EINPUT, "release",
                       "none of %d places tried for block %lld lies in the release area and on the "
                       "terrain",
                       (int)TRIES, (long long)block);
}

/* ---- blocks ---- */

/* own: of the body whose place it takes; NULL: from the area. */
static const char *name_of(const Draw *d, int64_t block, const char *own) {
  const TlShapeSetup *all = d->setup->shapes.items;
  const TlEnsembleSetup *e = &d->setup->ensemble;
  const TlTexts *names = e->shapes.count > 0 || own ? &e->shapes : &d->setup->grains.shapes;
  int64_t count = names->count > 0 ? names->count : own ? 1 : d->setup->shapes.count;
  int64_t k = (int64_t)(uniform(d, STREAM_SHAPE, block) * (double)count);
  return names->count > 0 ? names->items[k] : own ? own : all[k].name;
}

/* Axis times angle, degrees: what tl_quat_from_rotation makes a quaternion of. */
static void random_turn(const Draw *d, int64_t block, double turn_deg[3]) {
  TlQuat q = tl_random_turn((uint64_t)d->setup->seed, STREAM_TURN, (uint64_t)block);
  double sine = sqrt(q.x * q.x + q.y * q.y + q.z * q.z), angle = 2 * atan2(sine, q.w);
  double by = sine > 0 ? angle / sine * 180 / M_PI : 0;
  turn_deg[0] = by * q.x;
  turn_deg[1] = by * q.y;
  turn_deg[2] = by * q.z;
}

static double volume_of(const Draw *d, int64_t block) {
  const TlEnsembleSetup *e = &d->setup->ensemble;
  double t = uniform(d, STREAM_VOLUME, block), low = e->least_volume_m3, high = e->most_volume_m3;
  if (e->volume_law == TL_VOLUME_LOG) return low * pow(high / low, t);
  return between(low, high, t);
}

/* body: empty. */
static TlStatus make(const Draw *d, int64_t block, TlBodySetup *body) {
  const TlSetup *s = d->setup;
  const TlEnsembleSetup *e = &s->ensemble;
  const TlBodySetup *given = &d->plain;
  double step = 0;
  bool area = e->from == TL_FROM_AREA;
  if (!area) {
    int64_t place = block % d->places;
    const TlBodySetup *rows = s->bodies.items;
    given = &rows[d->row[place]];
    while (place > 0 && d->row[place - 1] == d->row[place]) {
      place--;
      step++;
    }
  }
  TL_TRY(tl_study_values_copy(&tl_body_row, given, body));
  body->count = 1;
  for (int a = 0; a < 3; a++) body->position_m[a] += step * given->step_m[a];
  if (area) {
    TL_TRY(place_in_area(d, block, body->position_m));
    body->above_ground_m = s->release.above_ground_m;
    body->scale = s->grains.grain_scale;
    for (int a = 0; a < 3; a++) body->velocity_m_s[a] = s->release.velocity_m_s[a];
  }
  if (area || body->shape || e->shapes.count > 0) {
    char *copy = tl_strdup(name_of(d, block, area ? NULL : body->shape));
    if (!copy) return TL_ENOMEM;
    tl_free(body->shape);
    body->shape = copy;
    body->grain = 0;
  }
  if (e->orientation == TL_TURN_RANDOM) random_turn(d, block, body->turn_deg);
  if (e->most_volume_m3 > 0) {
    body->volume_m3 = volume_of(d, block);
    body->scale = 1;
  }
  for (int a = 0; a < 3; a++)
    body->velocity_m_s[a] +=
        e->velocity_spread_m_s[a] * between(-1, 1, uniform(d, STREAM_VELOCITY, 3 * block + a));
  return TL_OK;
}

static TlStatus list_places(Draw *d) {
  const TlBodySetup *b = d->setup->bodies.items;
  for (int64_t i = 0; i < d->setup->bodies.count; i++) {
    if (b[i].fixed || b[i].parts.count > 0) /* by the fields of a file of points */
      return tl_study_fail(d->study, TL_EINPUT, "bodies",
                           "the blocks of an ensemble are of one shape each, and move");
    d->places += b[i].count;
  }
  TL_TRY(TL_NEW(d->row, (size_t)d->places));
  for (int64_t i = 0, n = 0; i < d->setup->bodies.count; i++)
    for (int64_t k = 0; k < b[i].count; k++) d->row[n++] = i;
  return TL_OK;
}

static void free_rows(TlStudyList *rows) {
  TlBodySetup *row = rows->items;
  for (int64_t i = 0; i < rows->count; i++) tl_study_values_free(&tl_body_row, &row[i]);
  tl_free(row);
  *rows = (TlStudyList){0};
}

TlStatus tl_ensemble_expand(TlSetup *setup, const TlStudy *study, const TlTerrain *terrain) {
  Draw d = {.setup = setup, .study = study, .terrain = terrain};
  TlStudyList blocks = {0};
  TlBodySetup *row = NULL;
  TlStatus status = tl_params_defaults(tl_body_params, TL_BODY_PARAMS, &d.plain);
  if (status == TL_OK) status = list_places(&d);
  if (status == TL_OK) status = TL_NEW(row, (size_t)setup->ensemble.count);
  blocks.items = row;
  while (status == TL_OK && blocks.count < setup->ensemble.count) {
    blocks.count++;
    status = make(&d, blocks.count - 1, &row[blocks.count - 1]);
  }
  tl_params_free(tl_body_params, TL_BODY_PARAMS, &d.plain);
  tl_free(d.row);
  if (status != TL_OK) {
    free_rows(&blocks);
    return status;
  }
  free_rows(&setup->bodies);
  setup->bodies = blocks;
  setup->release.assembly = TL_ASSEMBLY_AS_SCANNED; /* there are bodies and no assembly */
  for (int64_t i = 0; i < setup->grains.shapes.count; i++) tl_free(setup->grains.shapes.items[i]);
  TL_FREE(setup->grains.shapes.items);
  setup->grains.shapes.count = 0;
  return TL_OK;
}

TlStatus tl_ensemble_alone(const TlRun *run, int64_t block, char **study) {
  TlSetup one = run->model->setup; /* what it holds stays the run's */
  char *title = NULL;
  if (block < 0 || block >= one.bodies.count)
    return tl_fail(TL_EUSAGE, "there is no block %lld: they are numbered from 0 to %lld",
                   (long long)block, (long long)one.bodies.count - 1);
  one.bodies = (TlStudyList){(TlBodySetup *)one.bodies.items + block, 1};
  one.ensemble.count = 0;
  one.release.layers = 0;
  one.release.above_ground_m = 0;
  one.output = NULL;
  one.catalog = run->catalog_path;
  title = one.title && one.title[0] ? tl_format("%s, block %lld", one.title, (long long)block)
                                    : tl_format("block %lld", (long long)block);
  if (!title) return TL_ENOMEM;
  one.title = title;
  TlStatus status = tl_study_write(&tl_setup_schema, &one, study);
  tl_free(title);
  return status;
}
