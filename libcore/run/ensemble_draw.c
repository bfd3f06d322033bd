#include "run/ensemble.h"

#include "base/mem.h"
#include "base/random.h"
#include "run/assembly_kinds.h"
#include "run/bodies.h"
#include "run/densities.h"
#include "run/materials.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Random numbers are of (seed, stream, number of the block or of the release), so a release is the same
 * in an ensemble of any size. */
enum {
  STREAM_PLACE = 7101,
  STREAM_TURN,
  STREAM_VOLUME,
  STREAM_SHAPE,
  STREAM_VELOCITY,
  STREAM_RANGE, /* and one more for each further range */
  STREAM_GROUND = 7202
};
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

bool tl_ensemble_in_area(const TlSetup *setup, const TlTerrain *terrain, double x, double y) {
  const TlReleaseSetup *r = &setup->release;
  double ground;
  if (!tl_inside_polygon(&r->polygon, x, y)) return false;
  if (r->round) { /* the circle inscribed in the box */
    double cx = 0.5 * (r->low_m[0] + r->high_m[0]), cy = 0.5 * (r->low_m[1] + r->high_m[1]);
    double radius = 0.5 * fmin(r->high_m[0] - r->low_m[0], r->high_m[1] - r->low_m[1]);
    if (hypot(x - cx, y - cy) > radius) return false;
  }
  return tl_terrain_height(terrain, x, y, &ground, NULL);
}

/* Uniform over the area, by the first of the release's tries that lies in it. */
static TlStatus place_in_area(const Draw *d, int64_t release, double at[3]) {
  const TlReleaseSetup *r = &d->setup->release;
  for (int64_t t = 0; t < TRIES; t++) {
    int64_t index = 2 * (release * TRIES + t);
    for (int a = 0; a < 2; a++)
      at[a] = between(r->low_m[a], r->high_m[a], uniform(d, STREAM_PLACE, index + a));
    at[2] = 0;
    if (tl_ensemble_in_area(d->setup, d->terrain, at[0], at[1])) return TL_OK;
  }
  return tl_study_fail(d->study, TL_EINPUT, "release",
                       "none of %d places tried for release %lld lies in the release area and on "
                       "the terrain",
                       (int)TRIES, (long long)release);
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

static double by_law(int law, double low, double high, double t) {
  return law == TL_VOLUME_LOG ? low * pow(high / low, t) : between(low, high, t);
}

static double volume_of(const Draw *d, int64_t block) {
  const TlEnsembleSetup *e = &d->setup->ensemble;
  return by_law(e->volume_law, e->least_volume_m3, e->most_volume_m3,
                uniform(d, STREAM_VOLUME, block));
}

/* ---- ranges ---- */

static bool is_density(const TlRangeSetup *range) {
  return strcmp(range->key, TL_RANGE_DENSITY) == 0;
}

/* The middle of one of so many equal parts of the range, in the digits of the material's name: a
 * density is a material, and results hold the laws of every two materials. */
static double density_of(const TlRangeSetup *range, double t) {
  enum { PARTS = 20 };
  char text[32];
  t = (floor(PARTS * t) + 0.5) / PARTS;
  snprintf(text, sizeof text, "%.6g", by_law(range->law, range->low, range->high, t));
  return strtod(text, NULL);
}

double tl_ensemble_value(const TlSetup *setup, int64_t range, int64_t release) {
  const TlRangeSetup *r = (const TlRangeSetup *)setup->ensemble.ranges.items + range;
  double t =
      tl_random_uniform((uint64_t)setup->seed, STREAM_RANGE + (uint64_t)range, (uint64_t)release);
  return is_density(r) ? density_of(r, t) : by_law(r->law, r->low, r->high, t);
}

/* A pair's copies for materials of another density (run/densities.h) vary with it. */
static void vary_copies(TlSetup *s, const char *key, double value) {
  const TlPairSetup *pair = s->pairs.items;
  const char *field = strrchr(key, '.') + 1;
  char path[96];
  int64_t of = strtoll(key + strlen("pairs."), NULL, 10);
  for (int64_t i = 0; i < s->pairs.count; i++) {
    const TlParam *param;
    bool copy = true;
    for (int k = 0; k < 2; k++)
      copy =
          copy && tl_material_has_density_of(pair[i].between.items[k], pair[of].between.items[k]);
    if (!copy) continue;
    snprintf(path, sizeof path, "pairs.%lld.%s", (long long)i, field);
    *(double *)tl_study_value(&tl_setup_schema, s, path, &param) = value;
  }
}

static void set_value(TlSetup *s, const char *key, double value) {
  const TlParam *param;
  if (strncmp(key, "pairs.", strlen("pairs.")) == 0)
    vary_copies(s, key, value);
  else
    *(double *)tl_study_value(&tl_setup_schema, s, key, &param) = value;
}

int64_t tl_ensemble_ground(const TlSetup *setup, int64_t release) {
  return release % setup->ensemble.grounds;
}

int64_t tl_ensemble_ground_seed(const TlSetup *setup, int64_t draw) {
  static const uint64_t MOST = 9000000000000000; /* that a study may say */
  if (draw == 0) return setup->seed;
  return (int64_t)(tl_random_bits((uint64_t)setup->seed, STREAM_GROUND, (uint64_t)draw) % MOST);
}

TlStatus tl_ensemble_setup_of(const TlSetup *all, int64_t release, TlSetup *one) {
  TlSetup view = *all; /* what it holds stays where it is */
  const TlRangeSetup *range = all->ensemble.ranges.items;
  int64_t blocks = all->ensemble.blocks_together;
  view.bodies = (TlStudyList){(TlBodySetup *)all->bodies.items + release * blocks, blocks};
  TL_TRY(tl_study_values_copy(&tl_setup_schema, &view, one));
  one->seed = tl_ensemble_ground_seed(all, tl_ensemble_ground(all, release));
  for (int64_t r = 0; r < all->ensemble.ranges.count; r++)
    if (!is_density(&range[r])) /* which is the body's material */
      set_value(one, range[r].key, tl_ensemble_value(all, r, release));
  return TL_OK;
}

static bool same_law(const TlMaterials *low, const TlMaterials *high, int32_t a, int32_t b) {
  int32_t law = tl_pair_law(low, a, b);
  return memcmp(&low->law[law], &high->law[law], sizeof *low->law) == 0;
}

/* Materials of the blocks, or of their parts, fresh memory. */
static TlStatus materials_of(const TlSetup *one, int32_t **material, int64_t *count) {
  const TlBodySetup *body = one->bodies.items;
  *count = 0;
  TL_TRY(TL_NEW(*material, (size_t)tl_placed_count(one)));
  for (int64_t k = 0; k < one->bodies.count; k++) {
    if (body[k].parts.count == 0) (*material)[(*count)++] = tl_material_of_body(one, k);
    for (int64_t p = 0; p < body[k].parts.count; p++)
      (*material)[(*count)++] = tl_material_of_part(one, k, p);
  }
  return TL_OK;
}

/* Does this number matter where the blocks of `one` meet the ground or each other? */
static TlStatus matters(const TlSetup *one, const TlRangeSetup *range, bool *answer) {
  TlSetup set = {0};
  TlMaterials low = {0}, high = {0};
  int32_t *block = NULL;
  int64_t blocks = 0;
  TlStatus status = tl_study_values_copy(&tl_setup_schema, one, &set);
  if (status == TL_OK) {
    set_value(&set, range->key, range->low);
    status = tl_setup_materials(&set, &low);
    set_value(&set, range->key, range->high);
  }
  if (status == TL_OK) status = tl_setup_materials(&set, &high);
  if (status == TL_OK) status = materials_of(one, &block, &blocks);
  for (int64_t k = 0; status == TL_OK && !*answer && k < blocks; k++) {
    for (int64_t i = -1; i < one->terrain.classes.count; i++) {
      int32_t ground = i < 0 ? tl_material_of_terrain(one) : tl_material_of_class(one, i);
      *answer = *answer || !same_law(&low, &high, block[k], ground);
    }
    for (int64_t i = 0; one->bodies.count > 1 && i < k; i++)
      *answer = *answer || !same_law(&low, &high, block[k], block[i]);
  }
  tl_free(block);
  tl_materials_free(&low);
  tl_materials_free(&high);
  tl_setup_free(&set);
  return status;
}

/* A range without any effect is a mistake of the study, as that of boundary_friction on a ground
 * that has a friction of its own. */
static TlStatus check_effect(const TlSetup *s, const TlStudy *study) {
  enum { ENOUGH = 1000 };
  const TlRangeSetup *range = s->ensemble.ranges.items;
  for (int64_t r = 0; r < s->ensemble.ranges.count; r++) {
    bool effect = is_density(&range[r]) || range[r].low == range[r].high;
    TlStatus status = TL_OK;
    for (int64_t k = 0; status == TL_OK && !effect && k < s->ensemble.count && k < ENOUGH; k++) {
      TlSetup one = {0};
      status = tl_ensemble_setup_of(s, k, &one);
      if (status == TL_OK) status = matters(&one, &range[r], &effect);
      tl_setup_free(&one);
    }
    TL_TRY(status);
    char path[64];
    snprintf(path, sizeof path, "ensemble.ranges.%lld.key", (long long)r);
    if (!effect)
      return tl_study_fail(study, TL_EINPUT, path,
                           "'%s' changes nothing where blocks of this study touch its ground%s: a "
                           "kind of ground, a listed pair or a class says it otherwise",
                           range[r].key, s->ensemble.blocks_together > 1 ? " or each other" : "");
  }
  return TL_OK;
}

/* body: empty. From the area it lies at the place of its release. */
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
    TL_TRY(place_in_area(d, block / e->blocks_together, body->position_m));
    body->above_ground_m = s->release.above_ground_m;
    body->scale = s->grains.grain_scale;
    for (int a = 0; a < 3; a++) body->velocity_m_s[a] = s->release.velocity_m_s[a];
  }
  if (body->parts.count == 0 && (area || body->shape || e->shapes.count > 0)) {
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
    if (b[i].fixed) /* by the fields of a file of points */
      return tl_study_fail(d->study, TL_EINPUT, "bodies", "the blocks of an ensemble move");
    d->places += b[i].count;
  }
  TL_TRY(TL_NEW(d->row, (size_t)d->places));
  for (int64_t i = 0, n = 0; i < d->setup->bodies.count; i++)
    for (int64_t k = 0; k < b[i].count; k++) d->row[n++] = i;
  return TL_OK;
}

static TlStatus set_density(TlSetup *setup, int64_t block, TlBodySetup *body) {
  const TlRangeSetup *range = setup->ensemble.ranges.items;
  for (int64_t r = 0; r < setup->ensemble.ranges.count; r++)
    if (is_density(&range[r]))
      return tl_body_set_density(
          setup, body, tl_ensemble_value(setup, r, block / setup->ensemble.blocks_together));
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
  if (setup->ensemble.blocks_together > 1 && setup->release.blocks_per_year > 0)
    return tl_study_fail(study, TL_EINPUT, "release.blocks_per_year",
                         "counts single blocks, and %lld start together here: say "
                         "releases_per_year, how often such a release comes",
                         (long long)setup->ensemble.blocks_together);
  TlStudyList blocks = {0};
  TlBodySetup *row = NULL;
  int64_t count = setup->ensemble.count * setup->ensemble.blocks_together;
  TlStatus status = tl_params_defaults(tl_body_params, TL_BODY_PARAMS, &d.plain);
  if (status == TL_OK) status = list_places(&d);
  if (status == TL_OK) status = TL_NEW(row, (size_t)count);
  blocks.items = row;
  while (status == TL_OK && blocks.count < count) {
    blocks.count++;
    status = make(&d, blocks.count - 1, &row[blocks.count - 1]);
    if (status == TL_OK) status = set_density(setup, blocks.count - 1, &row[blocks.count - 1]);
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
  return check_effect(setup, study);
}

TlStatus tl_ensemble_alone(const TlRun *run, int64_t block, char **study) {
  const TlSetup *all = &run->model->setup;
  int64_t together = all->ensemble.blocks_together, release = block / together;
  TlSetup one = {0};
  if (block < 0 || block >= all->bodies.count)
    return tl_fail(TL_EUSAGE, "there is no block %lld: they are numbered from 0 to %lld",
                   (long long)block, (long long)all->bodies.count - 1);
  TlStatus status = tl_ensemble_setup_of(all, release, &one);
  one.ensemble.count = 0;
  one.release.layers = 0;
  one.release.above_ground_m = 0;
  TlSetup said = one; /* what it holds is that of `one` */
  said.ensemble.ranges = (TlStudyList){0};
  said.output = NULL;
  said.catalog = run->catalog_path;
  said.title =
      tl_format("%s%s%s %lld", one.title ? one.title : "", one.title && one.title[0] ? ", " : "",
                together > 1 ? "release" : "block", (long long)release);
  if (status == TL_OK) status = said.title ? TL_OK : TL_ENOMEM;
  if (status == TL_OK) status = tl_study_write(&tl_setup_schema, &said, study);
  tl_free(said.title);
  tl_setup_free(&one);
  return status;
}
