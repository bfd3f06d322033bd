#include "run/materials.h"

#include "base/mem.h"
#include "run/ground_kinds.h"
#include "run/shapes.h"

#include <stdio.h>
#include <string.h>

/* ---- numbers ---- */

/* In order of their numbers. */
typedef enum Kind { GRAIN = 0, BOUNDARY, LISTED, GROUND, CLASS, WALL, PLATEN, NET, KINDS } Kind;

static const char *grain_name(const TlSetup *s) {
  return s->grains.material ? s->grains.material : TL_GRAIN_MATERIAL;
}

static int64_t items_of(const TlSetup *s, Kind kind) {
  const int64_t items[KINDS] = {[GRAIN] = 1,
                                [BOUNDARY] = 1,
                                [LISTED] = s->materials.count,
                                [GROUND] = s->terrain.ground != TL_GROUND_NONE,
                                [CLASS] = s->terrain.classes.count,
                                [WALL] = s->walls.count,
                                [PLATEN] = tl_setup_apparatus(s) != NULL,
                                [NET] = s->nets.count};
  return items[kind];
}

static bool has_own(const TlOldForm *own) {
  return own->friction >= 0 || own->restitution >= 0;
}

/* Is it a material that no number before it stands for? */
static bool has_number(const TlSetup *s, Kind kind, int64_t i) {
  const TlMaterialSetup *listed = s->materials.items;
  const TlClassSetup *ground = s->terrain.classes.items;
  const TlWallSetup *wall = s->walls.items;
  const TlNetSetup *net = s->nets.items;
  switch (kind) {
  case LISTED:
    return strcmp(listed[i].name, grain_name(s)) != 0 &&
           strcmp(listed[i].name, TL_BOUNDARY_MATERIAL) != 0;
  case CLASS:
    return !ground[i].material && (ground[i].ground || has_own(&ground[i].own));
  case WALL:
    return !wall[i].material && has_own(&wall[i].own);
  case PLATEN:
    return !tl_apparatus_platen_material(s);
  case NET:
    return !net[i].material;
  default:
    return true;
  }
}

/* How many come before this one. */
static int32_t number_of(const TlSetup *s, Kind kind, int64_t item) {
  int32_t n = 0;
  for (Kind k = GRAIN; k < kind; k++)
    for (int64_t i = 0; i < items_of(s, k); i++) n += has_number(s, k, i);
  for (int64_t i = 0; i < item; i++) n += has_number(s, kind, i);
  return n;
}

static Kind kind_of(const TlSetup *s, int32_t number, int64_t *item) {
  Kind kind = GRAIN;
  for (*item = 0; kind < KINDS; kind++)
    for (*item = 0; *item < items_of(s, kind); ++*item)
      if (has_number(s, kind, *item) && number-- == 0) return kind;
  return kind;
}

/* Place in the list of materials, -1: not there. */
static int64_t place_of(const TlSetup *s, const char *name) {
  const TlMaterialSetup *m = s->materials.items;
  for (int64_t i = 0; i < s->materials.count; i++)
    if (strcmp(m[i].name, name) == 0) return i;
  return -1;
}

/* Place in that list of the material of this number, -1: not there. item: as kind_of. */
static int64_t listed_of(const TlSetup *s, int32_t number, int64_t *item) {
  switch (kind_of(s, number, item)) {
  case GRAIN:
    return place_of(s, grain_name(s));
  case BOUNDARY:
    return place_of(s, TL_BOUNDARY_MATERIAL);
  case LISTED:
    return *item;
  default:
    return -1;
  }
}

int32_t tl_material_named(const TlSetup *s, const char *name) {
  int64_t place = place_of(s, name);
  bool grains = strcmp(name, grain_name(s)) == 0;
  if (grains && (place >= 0 || strcmp(name, TL_GRAIN_MATERIAL) == 0)) return TL_MATERIAL_GRAIN;
  if (strcmp(name, TL_BOUNDARY_MATERIAL) == 0) return TL_MATERIAL_BOUNDARY;
  return place < 0 ? -1 : number_of(s, LISTED, place);
}

static int32_t named_or(const TlSetup *s, const char *name, int32_t otherwise) {
  return name ? tl_material_named(s, name) : otherwise;
}

int32_t tl_material_of_terrain(const TlSetup *s) {
  return named_or(s, s->terrain.material,
                  s->terrain.ground ? number_of(s, GROUND, 0) : TL_MATERIAL_BOUNDARY);
}

int32_t tl_material_of_class(const TlSetup *s, int64_t item) {
  const TlClassSetup *ground = s->terrain.classes.items;
  int32_t own = has_number(s, CLASS, item) ? number_of(s, CLASS, item) : tl_material_of_terrain(s);
  return named_or(s, ground[item].material, own);
}

int32_t tl_material_of_plane(const TlSetup *s, int64_t item) {
  return named_or(s, ((const TlPlaneSetup *)s->planes.items)[item].material, TL_MATERIAL_BOUNDARY);
}

int32_t tl_material_of_wall(const TlSetup *s, int64_t item) {
  const TlWallSetup *wall = s->walls.items;
  return named_or(s, wall[item].material,
                  has_number(s, WALL, item) ? number_of(s, WALL, item) : TL_MATERIAL_BOUNDARY);
}

int32_t tl_material_of_platen(const TlSetup *s) {
  return named_or(s, tl_apparatus_platen_material(s), number_of(s, PLATEN, 0));
}

int32_t tl_material_of_net(const TlSetup *s, int64_t item) {
  return named_or(s, ((const TlNetSetup *)s->nets.items)[item].material, number_of(s, NET, item));
}

int32_t tl_material_of_avatar(const TlSetup *s, int64_t avatar_id) {
  int64_t shape = -1 - avatar_id;
  if (shape < 0 || shape >= s->shapes.count) return TL_MATERIAL_GRAIN;
  return named_or(s, ((const TlShapeSetup *)s->shapes.items)[shape].material, TL_MATERIAL_GRAIN);
}

int32_t tl_material_of_body(const TlSetup *s, int64_t item) {
  const TlBodySetup *body = (const TlBodySetup *)s->bodies.items + item;
  int64_t shape = body->shape ? tl_shapes_index(&s->shapes, body->shape) : -1;
  return named_or(s, body->material,
                  shape < 0 ? TL_MATERIAL_GRAIN
                            : tl_material_of_avatar(s, tl_study_shape_id(shape)));
}

int32_t tl_material_of_part(const TlSetup *s, int64_t item, int64_t number) {
  const TlBodySetup *body = (const TlBodySetup *)s->bodies.items + item;
  const TlPartSetup *part = (const TlPartSetup *)body->parts.items + number;
  int64_t shape = tl_shapes_index(&s->shapes, part->shape);
  return named_or(s, part->material ? part->material : body->material,
                  tl_material_of_avatar(s, tl_study_shape_id(shape)));
}

/* ---- what is of which material ---- */

static bool is_of_body(const TlSetup *s, int64_t item, int32_t number) {
  int64_t parts = ((const TlBodySetup *)s->bodies.items)[item].parts.count;
  if (parts == 0) return tl_material_of_body(s, item) == number;
  for (int64_t k = 0; k < parts; k++)
    if (tl_material_of_part(s, item, k) == number) return true;
  return false;
}

/* Of a body that is placed, of a shape of the grains, or of a net: of whatever a body is but a grain of the catalog. */
static bool is_of_some_body(const TlSetup *s, int32_t number) {
  bool used = false;
  int64_t platen = tl_setup_apparatus(s) ? s->bodies.count - 1 : -1; /* tl_apparatus_add_platen */
  for (int64_t i = 0; i < s->bodies.count; i++)
    used = used || (i != platen && is_of_body(s, i, number));
  for (int64_t i = 0; i < s->grains.shapes.count; i++)
    used = used || tl_material_of_avatar(s, tl_study_shape_id(tl_shapes_index(
                                                &s->shapes, s->grains.shapes.items[i]))) == number;
  for (int64_t i = 0; i < s->shapes.count; i++) /* those of an earlier run */
    used = used || (s->release.assembly == TL_ASSEMBLY_FROM_RUN &&
                    tl_material_of_avatar(s, tl_study_shape_id(i)) == number);
  for (int64_t i = 0; i < s->nets.count; i++) used = used || tl_material_of_net(s, i) == number;
  return used;
}

/* Of bodies, or (surfaces) of terrain, planes, walls and platens. */
static bool is_used(const TlSetup *s, int32_t number, bool surfaces) {
  int64_t platen = tl_setup_apparatus(s) ? s->bodies.count - 1 : -1;
  bool used = (number == TL_MATERIAL_GRAIN && tl_setup_draws(s)) || is_of_some_body(s, number);
  if (!surfaces) return used;
  used = (s->terrain.name && tl_material_of_terrain(s) == number) ||
         (platen >= 0 && tl_material_of_platen(s) == number);
  for (int64_t i = 0; i < s->terrain.classes.count; i++)
    used = used || tl_material_of_class(s, i) == number;
  for (int64_t i = 0; i < s->planes.count; i++) used = used || tl_material_of_plane(s, i) == number;
  for (int64_t i = 0; i < s->walls.count; i++) used = used || tl_material_of_wall(s, i) == number;
  return used;
}

/* As is_used has it, but for grains.material where all grains are of shapes that have one of their own. */
static bool moves(const TlSetup *s, int32_t number) {
  bool plain = tl_setup_draws_catalog(s) ||
               (tl_setup_draws(s) && s->release.assembly == TL_ASSEMBLY_FROM_RUN);
  return (number == TL_MATERIAL_GRAIN && plain) || is_of_some_body(s, number);
}

bool tl_materials_meet(const TlSetup *s, int32_t one, int32_t two) {
  bool a = moves(s, one), b = moves(s, two);
  return (a && b) || (a && is_used(s, two, true)) || (b && is_used(s, one, true));
}

bool tl_materials_bound(const TlSetup *s, int32_t one, int32_t two) {
  return (is_used(s, one, false) && is_used(s, two, true)) ||
         (is_used(s, two, false) && is_used(s, one, true));
}

/* ---- laws ---- */

static double or_else(double value, double otherwise) {
  return value < 0 ? otherwise : value;
}

/* Takes what a pair of the list says. */
static void take(const TlPairSetup *pair, TlPairLaw *law) {
#define F(key, member, ...) law->member = or_else(pair->key, law->member);
  TL_PAIR_FIELDS(F)
#undef F
}

static const TlPairSetup *listed_pair(const TlSetup *s, int32_t one, int32_t two) {
  const TlPairSetup *pair = s->pairs.items;
  for (int64_t i = 0; i < s->pairs.count; i++) {
    int32_t a = tl_material_named(s, pair[i].between.items[0]),
            b = tl_material_named(s, pair[i].between.items[1]);
    if ((a == one && b == two) || (a == two && b == one)) return &pair[i];
  }
  return NULL;
}

/* A material as section contact and the old forms have it. */
typedef struct Entry {
  Kind kind;
  bool surface;  /* only boundaries are of it */
  TlPairLaw law; /* with itself; of an old form with whatever touches it */
} Entry;

/* Grain on grain and on boundaries where nothing else is said. */
typedef struct Base {
  TlPairLaw grain, boundary;
} Base;

static Base base_of(const TlSetup *s) {
  TlMethodChoice choice = tl_setup_choice(s);
  Base base = {{.stiffness = choice.grain}, {.stiffness = choice.boundary}};
  tl_contact_laws(&s->contact, &base.grain, &base.boundary);
  return base;
}

/* What an old form says of its own. */
static void take_old(const TlOldForm *own, TlPairLaw *law) {
  law->friction = or_else(own->friction, law->friction);
  law->restitution = or_else(own->restitution, law->restitution);
}

static Entry entry_of(const TlSetup *s, const Base *base, int32_t number) {
  int64_t item;
  Entry e = {.kind = kind_of(s, number, &item)};
  e.surface = e.kind == BOUNDARY || e.kind == GROUND || e.kind == CLASS || e.kind == WALL ||
              (e.kind == LISTED && is_used(s, number, true) && !is_used(s, number, false));
  e.law = e.surface || e.kind == PLATEN ? base->boundary : base->grain;
  if (e.kind == PLATEN) e.law.stiffness = base->grain.stiffness;
  if (e.kind == NET) {
    take_old(&((const TlNetSetup *)s->nets.items)[item].own, &e.law);
    e.law.tangential_restitution = 0;
  } else if (e.kind == WALL) {
    take_old(&((const TlWallSetup *)s->walls.items)[item].own, &e.law);
  } else if (e.kind == GROUND) {
    tl_ground_law((TlGroundKind)s->terrain.ground, s->terrain.ground_shift, &e.law);
  } else if (e.kind == CLASS) {
    const TlClassSetup *ground = (const TlClassSetup *)s->terrain.classes.items + item;
    take_old(&ground->own, &e.law);
    tl_ground_law((TlGroundKind)ground->ground, s->terrain.ground_shift, &e.law);
  }
  return e;
}

/* Says its law to whatever touches it. */
static bool rules(const Entry *e) {
  return e->kind != GRAIN && e->kind != LISTED;
}

/* Hertz's values of a material where the stiffness is otherwise `base`. */
static TlMaterial elastic(const TlMaterial *own, const TlStiffness *base) {
  TlMaterial m = *own;
  if (!(m.young_Pa > 0)) m.young_Pa = base->young_Pa;
  if (!(m.poisson > -1)) m.poisson = base->poisson;
  return m;
}

static void fill_material(const TlSetup *s, int32_t number, TlMaterial *m) {
  int64_t item, place = listed_of(s, number, &item);
  Kind kind = kind_of(s, number, &item);
  const TlMaterialSetup *listed = s->materials.items;
  *m = (TlMaterial){.poisson = -1, .density_kg_m3 = tl_material_density(s, number)};
  if (place >= 0) {
    m->young_Pa = listed[place].young_Pa;
    m->poisson = listed[place].poisson;
  }
  switch (kind) {
  case GROUND:
    snprintf(m->name, sizeof m->name, "%s ground", tl_ground_name((TlGroundKind)s->terrain.ground));
    break;
  case CLASS:
    snprintf(m->name, sizeof m->name, "terrain.classes.%lld", (long long)item);
    break;
  case WALL:
    snprintf(m->name, sizeof m->name, "walls.%lld", (long long)item);
    break;
  case PLATEN:
    snprintf(m->name, sizeof m->name, "%s platen", tl_setup_apparatus(s)->key);
    break;
  case NET:
    snprintf(m->name, sizeof m->name, "nets.%lld", (long long)item);
    break;
  default:
    snprintf(m->name, sizeof m->name, "%s",
             place >= 0      ? listed[place].name
             : kind == GRAIN ? TL_GRAIN_MATERIAL
                             : TL_BOUNDARY_MATERIAL);
  }
}

/* Stiffness where nothing else is said. */
static const TlStiffness *stiffness_of(const Base *base, bool surface) {
  return surface ? &base->boundary.stiffness : &base->grain.stiffness;
}

static TlPairLaw law_of(const TlSetup *s, const Base *of, const TlMaterials *m, const Entry *entry,
                        int32_t i, int32_t j) {
  Entry high = entry[i], low = entry[j];
  const TlStiffness *base = stiffness_of(of, high.surface || low.surface);
  const TlPairSetup *pair;
  TlPairLaw law;
  if (rules(&high) || rules(&low)) {
    bool by_low = !rules(&high) || (high.kind == NET && low.kind == NET);
    law = by_low ? low.law : high.law;
    law.stiffness = *base;
  } else {
    if ((pair = listed_pair(s, i, i))) take(pair, &high.law);
    if ((pair = listed_pair(s, j, j))) take(pair, &low.law);
    law = tl_pair_combined(&high.law, &low.law);
  }
  TlMaterial a = elastic(&m->material[i], base), b = elastic(&m->material[j], base);
  tl_hertz_combined(&a, &b, &law.stiffness);
  if ((pair = listed_pair(s, i, j))) take(pair, &law);
  return law;
}

TlStatus tl_setup_materials(const TlSetup *s, TlMaterials *m) {
  const Base base = base_of(s);
  int32_t count = number_of(s, KINDS, 0);
  Entry *entry;
  *m = (TlMaterials){0};
  TL_TRY(TL_NEW(entry, (size_t)count));
  TlStatus status = tl_materials_new(m, count);
  for (int32_t i = 0; status == TL_OK && i < count; i++) {
    fill_material(s, i, &m->material[i]);
    entry[i] = entry_of(s, &base, i);
  }
  for (int32_t i = 0; status == TL_OK && i < count; i++)
    for (int32_t j = 0; j <= i; j++) {
      TlPairLaw law = law_of(s, &base, m, entry, i, j);
      tl_materials_set(m, i, j, &law);
    }
  /* what the results hold is what was taken */
  for (int32_t i = 0; status == TL_OK && i < count; i++)
    m->material[i] = elastic(&m->material[i], stiffness_of(&base, entry[i].surface));
  tl_free(entry);
  return status;
}

/* ---- where a value is from ---- */

/* Of a law; NULL: it has no such value. */
static const double *law_value(const TlPairLaw *law, const char *key) {
#define F(name, member, ...)                                                                       \
  if (strcmp(key, #name) == 0) return &law->member;
  TL_PAIR_FIELDS(F)
#undef F
  return NULL;
}

/* What an entry of the list of pairs says; negative: nothing. */
static double pair_value(const TlPairSetup *pair, const char *key) {
#define F(name, ...)                                                                               \
  if (pair && strcmp(key, #name) == 0) return pair->name;
  TL_PAIR_FIELDS(F)
#undef F
  return -1;
}

const char *tl_pair_key_path(char path[96], const TlSetup *s, const TlMaterials *m, int32_t one,
                             int32_t two, const char *key) {
  const double *value = law_value(&m->law[tl_pair_law(m, one, two)], key);
  const TlPairSetup *listed[] = {listed_pair(s, one, two), listed_pair(s, one, one),
                                 listed_pair(s, two, two)};
  for (int k = 0; value && k < 3; k++) {
    if (pair_value(listed[k], key) < 0 || pair_value(listed[k], key) != *value) continue;
    snprintf(path, 96, "pairs.%lld.%s",
             (long long)(listed[k] - (const TlPairSetup *)s->pairs.items), key);
    return path;
  }
  const Base base = base_of(s);
  bool contact = value && value < (const double *)&m->law[tl_pair_law(m, one, two)].stiffness;
  bool surface = (!is_used(s, one, false) && is_used(s, one, true)) ||
                 (!is_used(s, two, false) && is_used(s, two, true)) ||
                 one == TL_MATERIAL_BOUNDARY || two == TL_MATERIAL_BOUNDARY;
  if (contact && surface && *law_value(&base.boundary, key) != *value) surface = false;
  if (contact && !surface && *law_value(&base.grain, key) != *value) surface = true;
  snprintf(path, 96, "%s.%s%s", contact ? "contact" : tl_method_name((TlMethod)s->solver.method),
           contact && surface ? "boundary_" : "", key);
  return path;
}

double tl_material_density(const TlSetup *s, int32_t material) {
  int64_t item, place = listed_of(s, material, &item);
  const TlMaterialSetup *m = s->materials.items;
  /* what is not listed is as dense as the grains: the platen of a cell */
  if (place < 0) place = place_of(s, grain_name(s));
  double density = place >= 0 ? m[place].density_kg_m3 : 0;
  return tl_setup_choice(s).mass_scale * (density > 0 ? density : s->grains.density_kg_m3);
}

double tl_grain_friction(const TlSetup *s) {
  const TlPairSetup *pair = listed_pair(s, TL_MATERIAL_GRAIN, TL_MATERIAL_GRAIN);
  return pair && pair->friction >= 0 ? pair->friction : s->contact.friction;
}
