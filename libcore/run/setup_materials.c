#include "run/setup_materials.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf/keys.h"
#include "run/materials.h"
#include "run/triaxial.h"

#include <stdio.h>
#include <string.h>

const TlParam tl_material_params[] = {
    TEXT(TlMaterialSetup, name, NULL,
         "what `material` keys and pairs call it; 'grain' and 'boundary' are what grains and "
         "boundaries without such a key are of"),
    REAL(TlMaterialSetup, density_kg_m3, "kg/m3", "0", 0, 1e5,
         "density of grains and bodies of it; 0: grains.density_kg_m3"),
    REAL(TlMaterialSetup, young_Pa, "Pa", "0", 0, 1e15,
         "Young's modulus, for law hertz of the methods penalty and nonsmooth; 0: that of the "
         "method's section"),
    REAL(TlMaterialSetup, poisson, "", "-1", -1, 0.5,
         "Poisson's ratio, likewise; -1: that of the method's section"),
};
_Static_assert(COUNT(tl_material_params) == TL_MATERIAL_PARAMS, "setup_materials.h counts them");

const TlParam tl_pair_params[] = {
    TEXTS(TlPairSetup, between, "the two materials, which may be the same one twice"),
#define F(key, member, unit, most, rule, help, ...)                                                \
  REAL(TlPairSetup, key, unit, "-1", -1, most, help "; negative: combined"),
    TL_PAIR_FIELDS(F)
#undef F
};
_Static_assert(COUNT(tl_pair_params) == TL_PAIR_PARAMS, "setup_materials.h counts them");

const TlStudySection tl_material_row = {.key = "materials",
                                        .size = sizeof(TlMaterialSetup),
                                        .list = true,
                                        .help = "",
                                        .params = tl_material_params,
                                        .param_count = TL_MATERIAL_PARAMS};
const TlStudySection tl_pair_row = {.key = "pairs",
                                    .size = sizeof(TlPairSetup),
                                    .list = true,
                                    .help = "",
                                    .params = tl_pair_params,
                                    .param_count = TL_PAIR_PARAMS};

/* ---- names ---- */

static TlStatus check_names(const TlSetup *s, const TlStudy *study) {
  const TlMaterialSetup *m = s->materials.items;
  char path[64];
  for (int64_t i = 0; i < s->materials.count; i++) {
    snprintf(path, sizeof path, "materials.%lld.name", (long long)i);
    if (m[i].name[0] == 0 || strlen(m[i].name) >= TL_MATERIAL_NAME)
      return tl_study_fail(study, TL_EINPUT, path, "a name has 1 to %d bytes",
                           TL_MATERIAL_NAME - 1);
    for (int64_t k = 0; k < i; k++)
      if (strcmp(m[k].name, m[i].name) == 0)
        return tl_study_fail(study, TL_EINPUT, path, "there is already a material '%s'", m[i].name);
    snprintf(path, sizeof path, "materials.%lld.poisson", (long long)i);
    if (m[i].poisson != -1 && m[i].poisson < -0.99)
      return tl_study_fail(study, TL_EINPUT, path,
                           "%g is below -0.99 (-1: that of the method's section)", m[i].poisson);
  }
  return TL_OK;
}

static TlStatus check_name(const TlSetup *s, const char *name, const char *path,
                           const TlStudy *study) {
  if (!name || tl_material_named(s, name) >= 0) return TL_OK;
  TlStatus status = TL_OK;
  TlGrowingText known = {0};
  const TlMaterialSetup *m = s->materials.items;
  for (int64_t i = 0; status == TL_OK && i < s->materials.count; i++)
    status = tl_text_add(&known, ", ", m[i].name);
  if (status == TL_OK)
    status = tl_study_fail(
        study, TL_EINPUT, path, "there is no material '%s' in the list of materials%s%s", name,
        known.text ? "; it has " : ", which is empty", known.text ? known.text : "");
  tl_free(known.text);
  return status;
}

/* ---- what has a material ---- */

/* One that may have friction and restitution of its own, from before materials came. */
typedef struct Owner {
  const TlSetup *setup;
  const TlStudy *study;
  bool warned;
} Owner;

static TlStatus check_owner(Owner *o, const char *place, const char *name) {
  static const char *const own[] = {"friction", "restitution"};
  char path[96];
  snprintf(path, sizeof path, "%s.material", place);
  TL_TRY(check_name(o->setup, name, path, o->study));
  for (size_t k = 0; k < 2; k++) {
    char where[160];
    snprintf(path, sizeof path, "%s.%s", place, own[k]);
    if (!tl_study_says(o->study, path, where, sizeof where)) continue;
    if (name)
      return tl_study_fail(o->study, TL_EINPUT, path,
                           "the material '%s' says it, in the list of pairs: leave this out, or "
                           "the material",
                           name);
    if (!o->warned)
      tl_log_warn("%s: %s is an old form: give a material there, and its values in the list of "
                  "pairs (talus-solve --keys lists the keys)",
                  where, path);
    o->warned = true;
  }
  return TL_OK;
}

static TlStatus check_used(const TlSetup *s, const TlStudy *study) {
  const TlBodySetup *body = s->bodies.items;
  const TlShapeSetup *shape = s->shapes.items;
  const TlPlaneSetup *plane = s->planes.items;
  const TlWallSetup *wall = s->walls.items;
  const TlClassSetup *ground = s->terrain.classes.items;
  const TlNetSetup *net = s->nets.items;
  const TlTriaxialSetup *triaxial = tl_triaxial_section(s);
  Owner owner = {s, study, false};
  char place[80];
#define PLACE(...) (snprintf(place, sizeof place, __VA_ARGS__), place)
  TL_TRY(check_name(s, s->grains.material, "grains.material", study));
  TL_TRY(check_name(s, s->terrain.material, "terrain.material", study));
  TL_TRY(check_name(s, triaxial->platen_material, "triaxial.platen_material", study));
  for (int64_t i = 0; i < s->shapes.count; i++)
    TL_TRY(check_name(s, shape[i].material, PLACE("shapes.%lld.material", (long long)i), study));
  for (int64_t i = 0; i < s->bodies.count; i++) {
    const TlPartSetup *part = body[i].parts.items;
    TL_TRY(check_name(s, body[i].material, PLACE("bodies.%lld.material", (long long)i), study));
    for (int64_t k = 0; k < body[i].parts.count; k++)
      TL_TRY(check_name(s, part[k].material,
                        PLACE("bodies.%lld.parts.%lld.material", (long long)i, (long long)k),
                        study));
  }
  for (int64_t i = 0; i < s->planes.count; i++)
    TL_TRY(check_name(s, plane[i].material, PLACE("planes.%lld.material", (long long)i), study));
  for (int64_t i = 0; i < s->walls.count; i++)
    TL_TRY(check_owner(&owner, PLACE("walls.%lld", (long long)i), wall[i].material));
  for (int64_t i = 0; i < s->terrain.classes.count; i++)
    TL_TRY(check_owner(&owner, PLACE("terrain.classes.%lld", (long long)i), ground[i].material));
  for (int64_t i = 0; i < s->nets.count; i++)
    TL_TRY(check_owner(&owner, PLACE("nets.%lld", (long long)i), net[i].material));
  return check_owner(&owner, "triaxial.membrane", triaxial->membrane.material);
#undef PLACE
}

/* ---- pairs ---- */

static TlStatus check_pairs(const TlSetup *s, const TlStudy *study) {
  const TlPairSetup *p = s->pairs.items;
  char path[64];
  for (int64_t i = 0; i < s->pairs.count; i++) {
    snprintf(path, sizeof path, "pairs.%lld.between", (long long)i);
    if (p[i].between.count != 2)
      return tl_study_fail(study, TL_EINPUT, path, "has %lld names; [one, other] is wanted",
                           (long long)p[i].between.count);
    const char *one = p[i].between.items[0], *two = p[i].between.items[1];
    for (int k = 0; k < 2; k++) {
      char name[80];
      snprintf(name, sizeof name, "%s.%d", path, k);
      TL_TRY(check_name(s, p[i].between.items[k], name, study));
    }
    if ((p[i].slip_friction > 0 || p[i].drag_per_s > 0) &&
        !tl_materials_bound(s, tl_material_named(s, one), tl_material_named(s, two)))
      return tl_study_fail(study, TL_EINPUT, path,
                           "slip_friction and drag_per_s are of a body on a boundary: one of these "
                           "materials must be that of terrain, planes or walls");
    for (int64_t k = 0; k < i; k++) {
      char *const *other = p[k].between.items;
      if ((strcmp(other[0], one) == 0 && strcmp(other[1], two) == 0) ||
          (strcmp(other[0], two) == 0 && strcmp(other[1], one) == 0))
        return tl_study_fail(study, TL_EINPUT, path, "the pair %s and %s is entry %lld already",
                             one, two, (long long)k);
    }
  }
  return TL_OK;
}

TlStatus tl_materials_check(const TlSetup *setup, const TlStudy *study) {
  TL_TRY(check_names(setup, study));
  TL_TRY(check_used(setup, study));
  return check_pairs(setup, study);
}

/* ---- laws ---- */

/* Does a law pull within this overlap? material: one of the two; -1: any. */
static bool pulls(const TlMaterials *m, double overlap_m, int32_t material) {
  for (int32_t i = 0; i < m->count; i++)
    for (int32_t j = 0; j < m->count; j++) {
      const TlPairLaw *law = &m->law[tl_pair_law(m, i, j)];
      if (law->adhesion_N > 0 && law->adhesive_overlap_m == overlap_m &&
          (material < 0 || i == material))
        return true;
    }
  return false;
}

TlStatus tl_materials_check_laws(const TlSetup *s, const TlMaterials *m, const TlStudy *study) {
  static const char why[] =
      "no contact pulls within this overlap: give its adhesion_N, too, or leave this out";
  const TlPairSetup *p = s->pairs.items;
  const TlContactSetup *c = &s->contact;
  for (int64_t i = 0; i < s->pairs.count; i++) {
    char path[64];
    int32_t one = tl_material_named(s, p[i].between.items[0]),
            two = tl_material_named(s, p[i].between.items[1]);
    if (!(p[i].adhesive_overlap_m > 0) || m->law[tl_pair_law(m, one, two)].adhesion_N > 0 ||
        (one == two && pulls(m, p[i].adhesive_overlap_m, one)))
      continue;
    snprintf(path, sizeof path, "pairs.%lld.adhesive_overlap_m", (long long)i);
    return tl_study_fail(study, TL_EINPUT, path, "%s", why);
  }
  if (c->adhesive_overlap_m > 0 && !pulls(m, c->adhesive_overlap_m, -1))
    return tl_study_fail(study, TL_EINPUT, "contact.adhesive_overlap_m", "%s", why);
  if (c->boundary_adhesive_overlap_m > 0 && !pulls(m, c->boundary_adhesive_overlap_m, -1))
    return tl_study_fail(study, TL_EINPUT, "contact.boundary_adhesive_overlap_m", "%s", why);
  return TL_OK;
}
