#include "run/setup_shapes.h"

#include "conf/keys.h"
#include "model/closed.h"

#include <stdio.h>
#include <string.h>

const TlParam tl_shape_params[] = {
    TEXT(TlShapeSetup, name, NULL, "what bodies and grains.shapes call it"),
    CHOICE(TlShapeSetup, kind, "sphere", TL_FORMULAS(TL_FORMULA_NAME) "mesh",
           "solved in closed form:" TL_FORMULAS(TL_CLOSED_NAME) "; the others on a distance grid "
                                                                "with nodes"),
    TEXT(TlShapeSetup, file, "",
         "mesh: STL, PLY or OBJ file, from the study's folder; one closed "
         "surface"),
    TEXT(TlShapeSetup, unit, "",
         "mesh: unit of its coordinates, m, cm, mm, um or inch; it stands "
         "in no such file and is never guessed"),
    REAL(TlShapeSetup, scale, "", "1", 1e-9, 1e9, "mesh: made this many times as large"),
    REAL(TlShapeSetup, sharp_deg, "deg", "30", 1, 180,
         "mesh: edges where facets turn by more get nodes of their own"),
    REAL(TlShapeSetup, diameter_m, "m", "0", 0, 1e4,
         TL_FORMULAS(TL_FORMULA_DIAMETER) "0: not given"),
    VEC3(TlShapeSetup, size_m, "m", "0,0,0", 0, 1e4, TL_FORMULAS(TL_FORMULA_SIZE) "0: not given"),
    REAL(TlShapeSetup, length_m, "m", "0", 0, 1e4, TL_FORMULAS(TL_FORMULA_LENGTH) "0: not given"),
    REAL(TlShapeSetup, width_m, "m", "0", 0, 1e4, TL_FORMULAS(TL_FORMULA_WIDTH) "0: not given"),
    REAL(TlShapeSetup, exponent_e, "", "1", 0.1, 2,
         "superellipsoid: (|x/a|^(2/e) + |y/b|^(2/e))^(e/n) + |z/c|^(2/n) = 1; 1: ellipsoid, "
         "towards 0: box"),
    REAL(TlShapeSetup, exponent_n, "", "1", 0.1, 2, "superellipsoid: n of the same"),
    REAL(TlShapeSetup, spacing_m, "m", "0", 0, 1e3,
         "of the distance grid; 0: a tenth of the least extent (a cross: a sixth of its width, a "
         "tetrahedron: a 24th of its edge, a mesh: a thirtieth of its diameter); "
         "edges are sharp where it divides the extents"),
    TEXT(TlShapeSetup, material, "",
         "in the list of materials: of grains and bodies of this shape; none: grains.material"),
    FLAG(TlShapeSetup, gridded, "false",
         "what has a closed form: solve it on the distance grid and its nodes all the same"),
    INT(TlShapeSetup, nodes, "0", 0, 1e7, "about so many nodes; 0: spaced a tenth of the diameter"),
};
_Static_assert(COUNT(tl_shape_params) == TL_SHAPE_PARAMS, "setup_shapes.h counts them");

const TlParam tl_body_params[] = {
    TEXT(TlBodySetup, name, "", "what joints call it; not of a row of several"),
    TEXT(TlBodySetup, shape, "", "name in the list of shapes"),
    TEXT(TlBodySetup, material, "",
         "in the list of materials; none: its shape's, or grains.material"),
    INT(TlBodySetup, grain, "0", 0, 9e15, "grain of the catalog, in place of a shape"),
    VEC3(TlBodySetup, position_m, "m", "0,0,0", -1e8, 1e8,
         "centre of mass; with parts the origin that their positions count from; must be given, or "
         "points_file"),
    TEXT(TlBodySetup, points_file, "",
         "over a terrain, in place of position_m: GIS file, a path from the study's folder; a body "
         "at each of its points, whose fields take the place of this row's keys of their names"),
    VEC3(TlBodySetup, turn_deg, "deg", "0,0,0", -1e4, 1e4,
         "turned about this axis by its length, from the axes the shape's sizes (or the scan) are "
         "given in"),
    VEC3(TlBodySetup, velocity_m_s, "m/s", "0,0,0", -1e4, 1e4,
         "velocity of the centre of mass at the start"),
    VEC3(TlBodySetup, spin_rad_s, "rad/s", "0,0,0", -1e6, 1e6, "angular velocity at the start"),
    REAL(TlBodySetup, scale, "", "1", 1e-6, 1e6, "lengths times this (mass by its cube)"),
    REAL(TlBodySetup, volume_m3, "m3", "0", 0, 1e9,
         "in place of scale: as large as has this volume (with parts, the sum of theirs); 0: scale "
         "holds"),
    FLAG(TlBodySetup, fixed, "false", "never moves"),
    INT(TlBodySetup, count, "1", 1, 1e9, "so many in a row"),
    VEC3(TlBodySetup, step_m, "m", "0,0,0", -1e7, 1e7, "from one of the row to the next"),
    REAL(TlBodySetup, above_ground_m, "m", "-1", -1, 1e5,
         "over a terrain, in place of the height in position_m: the body, turned as it is, is set "
         "down on the ground from above and then lifted by this; negative: position_m holds"),
};
_Static_assert(COUNT(tl_body_params) == TL_BODY_PARAMS, "setup_shapes.h counts them");

static const TlParam part_params[] = {
    TEXT(TlPartSetup, shape, NULL, "name in the list of shapes"),
    TEXT(TlPartSetup, material, "",
         "in the list of materials; none: the body's, its shape's, or grains.material"),
    VEC3(TlPartSetup, position_m, "m", "0,0,0", -1e7, 1e7,
         "centre of mass of the part, from the body's position, before the body is turned and "
         "scaled"),
    VEC3(TlPartSetup, turn_deg, "deg", "0,0,0", -1e4, 1e4,
         "turned about this axis by its length, from the axes the shape's sizes are given in, "
         "before the body is turned"),
    REAL(TlPartSetup, scale, "", "1", 1e-6, 1e6, "lengths times this, and the body's scale"),
};
const TlStudySection tl_body_sections[] = {
    {"parts", offsetof(TlBodySetup, parts), sizeof(TlPartSetup), true,
     "Parts that make up one rigid body, in place of its shape: a bucket, an aggregate. Its mass "
     "and moments of inertia are the sums over them (where parts overlap, the overlap counts for "
     "each); they do not touch each other",
     part_params, COUNT(part_params), NULL, 0}};
_Static_assert(COUNT(tl_body_sections) == TL_BODY_SECTIONS, "setup_shapes.h counts them");

const TlStudySection tl_body_row = {.key = "bodies",
                                    .size = sizeof(TlBodySetup),
                                    .list = true,
                                    .help = "",
                                    .params = tl_body_params,
                                    .param_count = TL_BODY_PARAMS,
                                    .sections = tl_body_sections,
                                    .section_count = TL_BODY_SECTIONS};

int64_t tl_shapes_index(const TlStudyList *shapes, const char *name) {
  const TlShapeSetup *s = shapes->items;
  for (int64_t i = 0; i < shapes->count; i++)
    if (strcmp(s[i].name, name) == 0) return i;
  return -1;
}

static TlStatus check_name(const TlStudyList *shapes, const char *name, const char *path,
                           const TlStudy *study) {
  if (tl_shapes_index(shapes, name) >= 0) return TL_OK;
  return tl_study_fail(study, TL_EINPUT, path, "there is no '%s' in the list of shapes", name);
}

TlStatus tl_shapes_check_names(const TlStudyList *shapes, const TlTexts *names, const char *key,
                               const TlStudy *study) {
  for (int64_t i = 0; i < names->count; i++) {
    char path[64];
    snprintf(path, sizeof path, "%s.%lld", key, (long long)i);
    TL_TRY(check_name(shapes, names->items[i], path, study));
  }
  return TL_OK;
}

static TlStatus check_fixed(const TlBodySetup *b, int64_t i, const TlStudy *study) {
  bool goes = b->velocity_m_s[0] != 0 || b->velocity_m_s[1] != 0 || b->velocity_m_s[2] != 0,
       turns = b->spin_rad_s[0] != 0 || b->spin_rad_s[1] != 0 || b->spin_rad_s[2] != 0;
  char path[64];
  if (!b->fixed || (!goes && !turns)) return TL_OK;
  snprintf(path, sizeof path, "bodies.%lld.%s", (long long)i, goes ? "velocity_m_s" : "spin_rad_s");
  return tl_study_fail(study, TL_EINPUT, path,
                       "a fixed body never moves; leave this out or fixed: false (a wall, in the "
                       "list of walls, can be driven)");
}

/* Where it is and how large, each said once. */
static TlStatus check_place(const TlBodySetup *b, int64_t i, bool terrain, const TlStudy *study) {
  char path[64], points[64], place[512];
  snprintf(path, sizeof path, "bodies.%lld.position_m", (long long)i);
  snprintf(points, sizeof points, "bodies.%lld.points_file", (long long)i);
  bool placed = tl_study_says(study, path, place, sizeof place);
  if (!placed && !b->points_file)
    return tl_study_fail(study, TL_EINPUT, path,
                         "is missing: the centre of mass [m], or points_file, a GIS file with "
                         "points");
  if (placed && b->points_file)
    return tl_study_fail(study, TL_EINPUT, points,
                         "takes the place of position_m: keep one of them");
  if (b->points_file && !terrain)
    return tl_study_fail(study, TL_EINPUT, points,
                         "its points lie on a terrain, and this study names none");
  snprintf(path, sizeof path, "bodies.%lld.scale", (long long)i);
  if (b->volume_m3 > 0 && tl_study_says(study, path, place, sizeof place) && b->scale != 1)
    return tl_study_fail(study, TL_EINPUT, path, "and volume_m3 both say how large: keep one");
  return TL_OK;
}

TlStatus tl_shapes_check(const TlStudyList *shapes, const TlStudyList *bodies, bool terrain,
                         const TlStudy *study) {
  const TlShapeSetup *s = shapes->items;
  const TlBodySetup *b = bodies->items;
  char path[80];
  for (int64_t i = 0; i < shapes->count; i++) {
    snprintf(path, sizeof path, "shapes.%lld.name", (long long)i);
    if (tl_shapes_index(shapes, s[i].name) != i)
      return tl_study_fail(study, TL_EINPUT, path, "'%s' comes twice", s[i].name);
  }
  for (int64_t i = 0; i < bodies->count; i++) {
    const TlPartSetup *part = b[i].parts.items;
    snprintf(path, sizeof path, "bodies.%lld.shape", (long long)i);
    int kinds = (b[i].shape != NULL) + (b[i].grain > 0) + (b[i].parts.count > 0);
    if (kinds != 1 && !(kinds == 0 && b[i].points_file))
      return tl_study_fail(study, TL_EINPUT, path,
                           "a body wants either a shape, a grain of the catalog or a list of "
                           "parts, and only one of them");
    if (b[i].shape) TL_TRY(check_name(shapes, b[i].shape, path, study));
    if (b[i].parts.count > TL_BODY_PARTS) {
      snprintf(path, sizeof path, "bodies.%lld.parts", (long long)i);
      return tl_study_fail(study, TL_EINPUT, path, "are more than %d", TL_BODY_PARTS);
    }
    for (int64_t k = 0; k < b[i].parts.count; k++) {
      snprintf(path, sizeof path, "bodies.%lld.parts.%lld.shape", (long long)i, (long long)k);
      TL_TRY(check_name(shapes, part[k].shape, path, study));
    }
    TL_TRY(check_fixed(&b[i], i, study));
    snprintf(path, sizeof path, "bodies.%lld.above_ground_m", (long long)i);
    if (b[i].above_ground_m >= 0 && !terrain)
      return tl_study_fail(study, TL_EINPUT, path, "this study has no terrain to stand on");
    TL_TRY(check_place(&b[i], i, terrain, study));
  }
  return TL_OK;
}

TlFormula tl_shape_formula(const TlShapeSetup *s) {
  return (TlFormula){.kind = (TlFormulaKind)s->kind,
                     .diameter_m = s->diameter_m,
                     .size_m = {s->size_m[0], s->size_m[1], s->size_m[2]},
                     .length_m = s->length_m,
                     .width_m = s->width_m,
                     .exponent_e = s->exponent_e,
                     .exponent_n = s->exponent_n,
                     .spacing_m = s->spacing_m,
                     .nodes = (int32_t)s->nodes};
}
