#include "run/setup_ensemble.h"

#include "base/mem.h"
#include "conf/keys.h"
#include "run/setup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const TlParam tl_ensemble_params[] = {
    INT(TlEnsembleSetup, count, "0", 0, 1e7,
        "so many releases, numbered from 0, each of one block or of blocks_together; 0: the study "
        "is "
        "no ensemble"),
    INT(TlEnsembleSetup, blocks_together, "1", 1, 1e5,
        "so many blocks make up a release: they start together and hit each other, but never a "
        "block "
        "of another release; 1: each block is alone"),
    REAL(TlEnsembleSetup, together_within_m, "m", "0", 0, 1e5,
         "from the area, of blocks_together: the blocks of a release start within this distance in "
         "plan of its place, in the area and not in each other; one that finds no room on the "
         "ground "
         "starts above others; 0: the cube root of their volume together"),
    CHOICE(TlEnsembleSetup, from, "area", "area|bodies",
           "area: anywhere in the release area (release.low_m, high_m, round, polygon, "
           "polygon_file), each place as likely as any other, on the ground and "
           "release.above_ground_m above it; bodies: at the places of the list of bodies, in turn, "
           "so that a release of blocks_together takes so many"),
    TEXTS(TlEnsembleSetup, shapes,
          "names in the list of shapes, each as likely; none: from the area grains.shapes, or all "
          "of the list; from bodies, those of the bodies"),
    REAL(TlEnsembleSetup, least_volume_m3, "m3", "0", 0, 1e9,
         "volumes are drawn from here; 0: sizes as the shapes and grains.grain_scale, or the "
         "bodies, have them"),
    REAL(TlEnsembleSetup, most_volume_m3, "m3", "0", 0, 1e9, "to here"),
    CHOICE(TlEnsembleSetup, volume_law, "even", "even|log",
           "even: each volume of the range is as likely; log: each logarithm of a volume is, so "
           "that small blocks are more frequent"),
    CHOICE(TlEnsembleSetup, orientation, "random", "random|as-given",
           "random: every orientation is as likely; as-given: turn_deg of the bodies, from the "
           "area the shapes' own axes"),
    VEC3(TlEnsembleSetup, velocity_spread_m_s, "m/s", "0,0,0", 0, 1e3,
         "each component of the velocity at the start (release.velocity_m_s, or that of the body) "
         "is drawn evenly from this much below to this much above"),
    INT(TlEnsembleSetup, grounds, "1", 1, 10000,
        "so many draws of the ground's roughness (terrain.roughness_m) and of the stems of the "
        "forest, which the releases take in turn; the first is that of the seed. Each rough ground "
        "takes the time and the memory of one"),
};
static const TlParam range_params[] = {
    TEXT(TlRangeSetup, key, NULL,
         "what varies: " TL_RANGE_DENSITY " of the blocks; terrain.ground_shift; or a value of "
         "contacts without stiffness, as contact.boundary_friction or pairs.0.friction"),
    REAL(TlRangeSetup, low, "", NULL, 0, 0, "drawn from here, in the unit of the key"),
    REAL(TlRangeSetup, high, "", NULL, 0, 0, "to here"),
    CHOICE(TlRangeSetup, law, "even", "even|log",
           "even: each value is as likely; log: each logarithm of a value is"),
};
const TlStudySection tl_ensemble_sections[] = {{"ranges", offsetof(TlEnsembleSetup, ranges),
                                                sizeof(TlRangeSetup), true,
                                                "Numbers that are drawn anew for each release; "
                                                "blocks.csv has a column for each, and the summary "
                                                "says how runout and energy depend on it",
                                                range_params, COUNT(range_params), NULL, 0}};
_Static_assert(COUNT(tl_ensemble_sections) == TL_ENSEMBLE_SECTIONS, "setup_ensemble.h counts them");
_Static_assert(COUNT(tl_ensemble_params) == TL_ENSEMBLE_PARAMS, "setup_ensemble.h counts them");

static TlStatus check_bodies(const TlSetup *s, const TlStudy *study) {
  const TlBodySetup *b = s->bodies.items;
  char path[48];
  bool from = s->ensemble.from == TL_FROM_BODIES, shapes = s->ensemble.shapes.count > 0;
  if (from && s->bodies.count == 0)
    return tl_study_fail(study, TL_EINPUT, "ensemble.from",
                         "the study has no list of bodies to take the places from");
  if (!from && s->bodies.count > 0)
    return tl_study_fail(study, TL_EINPUT, "ensemble.from",
                         "bodies have no part in an ensemble from the release area; "
                         "from: bodies takes their places");
  for (int64_t i = 0; i < s->bodies.count; i++) {
    snprintf(path, sizeof path, "bodies.%lld.%s", (long long)i, b[i].fixed ? "fixed" : "parts");
    if (b[i].fixed) return tl_study_fail(study, TL_EINPUT, path, "the blocks of an ensemble move");
    if (b[i].parts.count > 0 && shapes)
      return tl_study_fail(study, TL_EINPUT, path,
                           "a block of several parts keeps its shapes: leave ensemble.shapes out, "
                           "or the parts");
  }
  return TL_OK;
}

static TlStatus check_together(const TlEnsembleSetup *e, const TlStudy *study) {
  static const double MOST_BLOCKS = 1e7;
  if ((double)e->count * (double)e->blocks_together > MOST_BLOCKS)
    return tl_study_fail(study, TL_EINPUT, "ensemble.blocks_together",
                         "%lld releases of %lld blocks are more than %g blocks",
                         (long long)e->count, (long long)e->blocks_together, MOST_BLOCKS);
  if (e->together_within_m > 0 && e->blocks_together == 1)
    return tl_study_fail(study, TL_EINPUT, "ensemble.together_within_m",
                         "is for releases of several blocks, and blocks_together is 1");
  if (e->together_within_m > 0 && e->from == TL_FROM_BODIES)
    return tl_study_fail(study, TL_EINPUT, "ensemble.together_within_m",
                         "is for releases from the area; the bodies say where their blocks start");
  return TL_OK;
}

static TlStatus check_grounds(const TlSetup *s, const TlStudy *study) {
  if (s->ensemble.grounds == 1 || s->terrain.roughness_m > 0 || tl_forest_stands(s)) return TL_OK;
  return tl_study_fail(
      study, TL_EINPUT, "ensemble.grounds",
      "draws the roughness of the ground and the stems of a forest, and this study "
      "has neither (terrain.roughness_m, stems_per_ha)");
}

TlStatus tl_ensemble_check_sizes(const TlEnsembleSetup *e, const TlStudy *study) {
  if ((e->least_volume_m3 > 0) != (e->most_volume_m3 > 0))
    return tl_study_fail(study, TL_EINPUT,
                         e->least_volume_m3 > 0 ? "ensemble.most_volume_m3"
                                                : "ensemble.least_volume_m3",
                         "a range of volumes has two ends; equal ones give all blocks one volume");
  if (e->most_volume_m3 < e->least_volume_m3)
    return tl_study_fail(study, TL_EINPUT, "ensemble.most_volume_m3", "is below least_volume_m3");
  return TL_OK;
}

/* ---- ranges ---- */

/* A value of contacts that pair laws have, apart from stiffness? */
static bool is_contact_field(const char *key) {
  static const char *const fields[] = {
#define F(field, ...) #field,
      TL_CONTACT_FIELDS(F)
#undef F
  };
  for (size_t i = 0; i < COUNT(fields); i++)
    if (strcmp(key, fields[i]) == 0) return true;
  return false;
}

static bool may_vary(const char *key) {
  static const char boundary[] = "boundary_";
  const char *last = strrchr(key, '.');
  if (strcmp(key, TL_RANGE_DENSITY) == 0 || strcmp(key, "terrain.ground_shift") == 0) return true;
  if (!last) return false;
  last++;
  if (strncmp(key, "pairs.", 6) == 0) return is_contact_field(last);
  if (strncmp(key, "contact.", 8) != 0) return false;
  if (strncmp(last, boundary, sizeof boundary - 1) == 0)
    return is_contact_field(last + sizeof boundary - 1);
  return strcmp(last, "friction") == 0 || strcmp(last, "restitution") == 0 ||
         strcmp(last, "tangential_restitution") == 0; /* grains on grains have no more */
}

/* The row of the key, for its limits; NULL: there is no such number. */
static const TlParam *row_of(TlSetup *s, const char *key) {
  const TlParam *param = NULL;
  if (strcmp(key, TL_RANGE_DENSITY) == 0) key = "grains.density_kg_m3";
  return tl_study_value(&tl_setup_schema, s, key, &param) ? param : NULL;
}

static TlStatus check_range(TlSetup *s, int64_t i, const TlStudy *study) {
  const TlRangeSetup *all = s->ensemble.ranges.items, *r = &all[i];
  char at[3][64];
  static const char *const ends[] = {"key", "low", "high"};
  for (int k = 0; k < 3; k++)
    snprintf(at[k], sizeof at[k], "ensemble.ranges.%lld.%s", (long long)i, ends[k]);
  if (!r->key)
    return tl_study_fail(study, TL_EINPUT, at[0], "is missing: the key of the number that varies");
  const TlParam *param = may_vary(r->key) ? row_of(s, r->key) : NULL;
  if (!param)
    return tl_study_fail(study, TL_EINPUT, at[0],
                         "'%s' cannot vary in this ensemble; " TL_RANGE_DENSITY
                         ", terrain.ground_shift, values of section contact "
                         "(contact.boundary_friction) and of listed pairs (pairs.0.friction) can, "
                         "but for stiffness",
                         r->key);
  for (int64_t k = 0; k < i; k++)
    if (strcmp(all[k].key, r->key) == 0)
      return tl_study_fail(study, TL_EINPUT, at[0], "'%s' comes twice", r->key);
  for (int k = 1; k < 3; k++) {
    bool shift = strcmp(r->key, "terrain.ground_shift") == 0;
    double value = k == 1 ? r->low : r->high, least = shift ? param->min : fmax(param->min, 0);
    if (value < least || value > param->max)
      return tl_study_fail(study, TL_EINPUT, at[k], "%g is out of the range of %s, %g to %g", value,
                           r->key, least, param->max);
  }
  const TlBodySetup *b = s->bodies.items;
  for (int64_t k = 0; strcmp(r->key, TL_RANGE_DENSITY) == 0 && k < s->bodies.count; k++)
    if (b[k].parts.count > 0)
      return tl_study_fail(study, TL_EINPUT, at[0],
                           "bodies.%lld has parts, whose materials say how dense they are",
                           (long long)k);
  if (r->high < r->low) return tl_study_fail(study, TL_EINPUT, at[2], "is below low");
  if (r->law == TL_VOLUME_LOG && !(r->low > 0))
    return tl_study_fail(study, TL_EINPUT, at[1], "must be above 0 where law is log");
  if (strcmp(r->key, "terrain.ground_shift") == 0 && !tl_setup_has_ground(s))
    return tl_study_fail(study, TL_EINPUT, at[0],
                         "moves kinds of ground, and this study names none (terrain.ground, or "
                         "ground of a class)");
  return TL_OK;
}

static TlStatus check_ranges(TlSetup *s, const TlStudy *study) {
  if (s->ensemble.ranges.count > TL_MOST_RANGES)
    return tl_study_fail(study, TL_EINPUT, "ensemble.ranges", "has %lld entries; %d are the most",
                         (long long)s->ensemble.ranges.count, (int)TL_MOST_RANGES);
  for (int64_t i = 0; i < s->ensemble.ranges.count; i++) TL_TRY(check_range(s, i, study));
  return TL_OK;
}

/* Sections that an ensemble leaves no place for. */
static TlStatus check_others(const TlSetup *s, const TlStudy *study) {
  const struct {
    bool there;
    const char *path, *why;
  } no[] = {
      {!s->terrain.name, "ensemble.count",
       "an ensemble is of blocks on a terrain, and this study names none"},
      {tl_setup_apparatus(s) != NULL, "ensemble.count", "a laboratory test is no ensemble"},
      {s->joints.count > 0, "joints",
       "are not possible in an ensemble: its blocks are free; what belongs together can be the "
       "parts "
       "of one block"},
      {s->sinks.count > 0, "sinks",
       "are not possible in an ensemble: its blocks end at rest or where they leave the terrain"},
      {s->grains.sample || s->grains.ids.count > 0, "grains",
       "an ensemble draws from the list of shapes; a grain of the catalog can be one of the bodies "
       "(ensemble.from: bodies)"},
      {s->release.assembly == TL_ASSEMBLY_POURED || s->release.assembly == TL_ASSEMBLY_FROM_RUN,
       "release.assembly", "an ensemble draws its blocks itself: leave this out"},
      {s->frames.contacts, "frames.contacts", "frames of an ensemble hold no contacts"},
      {s->time.boundary_forces, "time.boundary_forces",
       "an ensemble has no forces that add up: leave this out"}};
  for (size_t i = 0; i < COUNT(no); i++)
    if (no[i].there) return tl_study_fail(study, TL_EINPUT, no[i].path, "%s", no[i].why);
  return TL_OK;
}

TlStatus tl_ensemble_settle(TlSetup *s, const TlStudy *study) {
  if (s->ensemble.count == 0 && s->wants_ensemble)
    return tl_study_fail(study, TL_EINPUT, "ensemble.count",
                         "is missing: how many blocks to release (ensemble: {count: ...} in the "
                         "study, or --set ensemble.count=1000)");
  if (s->ensemble.count == 0) return TL_OK;
  TL_TRY(check_others(s, study));
  TL_TRY(check_bodies(s, study));
  TL_TRY(check_together(&s->ensemble, study));
  TL_TRY(check_grounds(s, study));
  TL_TRY(tl_ensemble_check_sizes(&s->ensemble, study));
  TL_TRY(check_ranges(s, study));
  TL_TRY(tl_shapes_check_names(&s->shapes, &s->ensemble.shapes, "ensemble.shapes", study));
  bool area = s->ensemble.from == TL_FROM_AREA;
  if (area && s->shapes.count == 0)
    return tl_study_fail(study, TL_EINPUT, "shapes", "is missing: what the blocks look like");
  s->time.until_rest = true;
  s->release.assembly = area ? TL_ASSEMBLY_LATTICE : TL_ASSEMBLY_AS_SCANNED;
  s->release.layers = area; /* the area follows the ground, whatever low and high z */
  if (area) return TL_OK;
  for (int64_t i = 0; i < s->grains.shapes.count; i++) tl_free(s->grains.shapes.items[i]);
  TL_FREE(s->grains.shapes.items);
  s->grains.shapes.count = 0;
  return TL_OK;
}
