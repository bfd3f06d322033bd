#include "run/setup_ensemble.h"

#include "base/mem.h"
#include "conf/keys.h"
#include "run/setup.h"

#include <stdio.h>

const TlParam tl_ensemble_params[] = {
    INT(TlEnsembleSetup, count, "0", 0, 1e7,
        "so many blocks, numbered from 0; 0: the study is no ensemble"),
    CHOICE(TlEnsembleSetup, from, "area", "area|bodies",
           "area: anywhere in the release area (release.low_m, high_m, round, polygon, "
           "polygon_file), each place as likely as any other, on the ground and "
           "release.above_ground_m above it; bodies: at the places of the list of bodies, in turn"),
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
};
_Static_assert(COUNT(tl_ensemble_params) == TL_ENSEMBLE_PARAMS, "setup_ensemble.h counts them");

static TlStatus check_bodies(const TlSetup *s, const TlStudy *study) {
  const TlBodySetup *b = s->bodies.items;
  char path[48];
  bool from = s->ensemble.from == TL_FROM_BODIES;
  if (from && s->bodies.count == 0)
    return tl_study_fail(study, TL_EINPUT, "ensemble.from",
                         "the study has no list of bodies to take the places from");
  if (!from && s->bodies.count > 0)
    return tl_study_fail(study, TL_EINPUT, "ensemble.from",
                         "bodies have no part in an ensemble from the release area; "
                         "from: bodies takes their places");
  for (int64_t i = 0; i < s->bodies.count; i++) {
    snprintf(path, sizeof path, "bodies.%lld.%s", (long long)i, b[i].fixed ? "fixed" : "parts");
    if (b[i].fixed || b[i].parts.count > 0)
      return tl_study_fail(study, TL_EINPUT, path,
                           b[i].fixed ? "the blocks of an ensemble move"
                                      : "the blocks of an ensemble are of one shape each");
  }
  return TL_OK;
}

static TlStatus check_sizes(const TlEnsembleSetup *e, const TlStudy *study) {
  if ((e->least_volume_m3 > 0) != (e->most_volume_m3 > 0))
    return tl_study_fail(study, TL_EINPUT,
                         e->least_volume_m3 > 0 ? "ensemble.most_volume_m3"
                                                : "ensemble.least_volume_m3",
                         "a range of volumes has two ends; equal ones give all blocks one volume");
  if (e->most_volume_m3 < e->least_volume_m3)
    return tl_study_fail(study, TL_EINPUT, "ensemble.most_volume_m3", "is below least_volume_m3");
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
      {s->nets.count > 0, "nets", "are not possible in an ensemble: a net would catch one block"},
      {s->grains.sample || s->grains.ids.count > 0, "grains",
       "an ensemble draws from the list of shapes; a grain of the catalog can be one of the bodies "
       "(ensemble.from: bodies)"},
      {s->release.assembly == TL_ASSEMBLY_POURED || s->release.assembly == TL_ASSEMBLY_FROM_RUN,
       "release.assembly", "an ensemble releases one block at a time: leave this out"},
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
  TL_TRY(check_sizes(&s->ensemble, study));
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
