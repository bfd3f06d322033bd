#include "run/shapes.h"

#include "base/mem.h"
#include "io/mesh_body.h"
#include "shape/avatar_shared.h"
#include "shape/from_mesh.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The closed form that the solver knows the shape by, with its sizes; NULL: none. */
static const TlClosedKind *closed_form(const TlShapeSetup *s, double size[TL_CLOSED_SIZES]) {
  if (s->gridded || s->kind == TL_SHAPE_MESH) return NULL;
  TlFormula formula = tl_shape_formula(s);
  const TlClosedKind *kind = tl_closed_kind(tl_formula_name(formula.kind));
  if (kind) kind->sizes(&formula, size);
  return kind;
}

static bool is_closed(const TlShapeSetup *s) {
  double size[TL_CLOSED_SIZES];
  return closed_form(s, size) != NULL;
}

/* What went wrong with shape i, at its key (NULL: the shape as a whole) of the study. */
static TlStatus at_key(TlStatus status, const TlStudyShapes *shapes, int64_t i, const char *key,
                       const TlStudy *study) {
  const TlShapeSetup *s = (const TlShapeSetup *)shapes->setup->shapes.items + i;
  char path[64], text[1024];
  if (status != TL_EUSAGE && status != TL_EINPUT && !(key && status == TL_EIO)) return status;
  snprintf(path, sizeof path, "shapes.%lld%s%s", (long long)i, key ? "." : "", key ? key : "");
  snprintf(text, sizeof text, "%s", tl_message());
  return tl_study_fail(study, TL_EINPUT, path, "'%s': %s", s->name, text);
}

static TlStatus make_formula(const TlShapeSetup *s, TlAvatar *avatar) {
  TlFormula formula = tl_shape_formula(s);
  if (s->file || s->unit)
    return tl_fail(TL_EUSAGE, "%s is a mesh's; kind: mesh wanted", s->file ? "file" : "unit");
  return is_closed(s) ? tl_formula_avatar_as_given(&formula, avatar)
                      : tl_formula_avatar(&formula, avatar);
}

/* ---- meshes ---- */

static const char *formula_size(const TlShapeSetup *s) {
  if (s->diameter_m != 0) return "diameter_m";
  if (s->size_m[0] != 0 || s->size_m[1] != 0 || s->size_m[2] != 0) return "size_m";
  if (s->length_m != 0) return "length_m";
  return s->width_m != 0 ? "width_m" : NULL;
}

/* avatar: NULL where it is there, and only what the mesh holds is to be said. */
static TlStatus read_mesh(const TlShapeSetup *s, double unit_m, const TlShapeFiles *files,
                          TlAvatar *avatar) {
  TlTriangles mesh = {0};
  const TlFromMesh how = {
      .spacing_m = s->spacing_m, .nodes = (int32_t)s->nodes, .sharp_deg = s->sharp_deg};
  char *path = files->beside(files->context, s->file);
  TlStatus status =
      path ? tl_mesh_read_body(path, unit_m * s->scale, files->speak, &mesh) : TL_ENOMEM;
  if (status == TL_OK && avatar)
    status = tl_context(tl_avatar_from_mesh(&mesh, &how, avatar), "%s", path);
  tl_triangles_free(&mesh);
  tl_free(path);
  return status;
}

static TlStatus make_mesh(const TlStudyShapes *shapes, int64_t i, const TlStudy *study,
                          TlAvatar *avatar) {
  const TlShapeSetup *s = (const TlShapeSetup *)shapes->setup->shapes.items + i;
  double unit_m = 1;
  const char *size = formula_size(s);
  if (size)
    return at_key(tl_fail(TL_EUSAGE, "a mesh has no %s: its size is the file's, times scale", size),
                  shapes, i, size, study);
  if (!s->file) return at_key(tl_fail(TL_EUSAGE, "a mesh wants file"), shapes, i, NULL, study);
  TL_TRY(at_key(tl_mesh_unit(s->unit, &unit_m), shapes, i, s->unit ? "unit" : NULL, study));
  return at_key(read_mesh(s, unit_m, &shapes->files, avatar), shapes, i, "file", study);
}

/* ---- all ---- */

typedef struct Making {
  const TlStudyShapes *shapes;
  const TlStudy *study;
  bool made; /* here */
} Making;

static TlStatus make(void *context, int64_t id, TlAvatar *avatar) {
  Making *m = context;
  int64_t i = -1 - id;
  const TlShapeSetup *s = (const TlShapeSetup *)m->shapes->setup->shapes.items + i;
  m->made = true;
  if (s->kind == TL_SHAPE_MESH)
    TL_TRY(make_mesh(m->shapes, i, m->study, avatar));
  else
    TL_TRY(at_key(make_formula(s, avatar), m->shapes, i, NULL, m->study));
  avatar->id = id;
  return TL_OK;
}

/* Shapes that another rank of this machine makes are left for the end. */
static TlStatus make_all(TlStudyShapes *shapes, const TlStudy *study) {
  const TlShapeSetup *setup = shapes->setup->shapes.items;
  int64_t n = shapes->count,
          start = n * tl_shared_rank(shapes->shared) / tl_shared_ranks(shapes->shared);
  for (int wait = 0; wait < 2; wait++)
    for (int64_t k = 0; k < n; k++) {
      int64_t i = (k + start) % n;
      Making m = {shapes, study, false};
      const TlAvatarMaker maker = {&m, make};
      bool there;
      if (shapes->avatar[i].id != 0) continue;
      TL_TRY(tl_avatar_share(shapes->shared, tl_study_shape_id(i), TL_SHARED_AVATAR, wait, &maker,
                             &shapes->avatar[i], &there));
      bool silent = there && !m.made && shapes->files.speak && setup[i].kind == TL_SHAPE_MESH;
      if (silent) TL_TRY(make_mesh(shapes, i, study, NULL));
    }
  return TL_OK;
}

/* Frames of earlier runs may hold some. */
static bool wants_ball(const TlSetup *setup) {
  return setup->grains.as_spheres || setup->release.assembly == TL_ASSEMBLY_FROM_RUN;
}

static TlStatus make_ball(TlAvatar *ball) {
  const TlFormula unit = {.kind = TL_FORMULA_SPHERE, .diameter_m = 1};
  TL_TRY(tl_formula_avatar_as_given(&unit, ball));
  ball->id = TL_BALL_ID;
  return TL_OK;
}

TlStatus tl_study_shapes_open(TlStudyShapes *shapes, const TlSetup *setup, const TlStudy *study,
                              const TlShapeFiles *files, TlShared *shared) {
  *shapes = (TlStudyShapes){.setup = setup, .shared = shared};
  if (files) shapes->files = *files;
  if (setup->shapes.count > TL_SHAPES_MOST)
    return tl_study_fail(study, TL_EINPUT, "shapes", "are more than %d", TL_SHAPES_MOST);
  TL_TRY(TL_NEW(shapes->avatar, (size_t)setup->shapes.count));
  shapes->count = setup->shapes.count;
  TL_TRY(make_all(shapes, study));
  return wants_ball(setup) ? make_ball(&shapes->ball) : TL_OK;
}

void tl_study_shapes_free(TlStudyShapes *shapes) {
  for (int64_t i = 0; i < shapes->count; i++)
    tl_avatar_unshare(shapes->shared, TL_SHARED_AVATAR, &shapes->avatar[i]);
  tl_free(shapes->avatar);
  tl_avatar_free(&shapes->ball);
  *shapes = (TlStudyShapes){0};
}

const TlAvatar *tl_study_shapes_get(const TlStudyShapes *shapes, int64_t id) {
  if (id == TL_BALL_ID && shapes->ball.node_count > 0) return &shapes->ball;
  return id < 0 && -1 - id < shapes->count ? &shapes->avatar[-1 - id] : NULL;
}

double tl_study_shapes_ball(const TlStudyShapes *shapes, int64_t id) {
  if (!tl_study_shapes_get(shapes, id)) return 0;
  if (id == TL_BALL_ID) return 0.5;
  const TlShapeSetup *s = (const TlShapeSetup *)shapes->setup->shapes.items + (-1 - id);
  double size[TL_CLOSED_SIZES];
  return closed_form(s, size) == &tl_closed_sphere ? size[0] : 0;
}

bool tl_study_shapes_gridded(const TlStudyShapes *shapes, int64_t id) {
  const TlShapeSetup *s = shapes->setup->shapes.items;
  return id < 0 && -1 - id < shapes->count && !is_closed(&s[-1 - id]);
}

TlGrainRow tl_study_shapes_row(const TlStudyShapes *shapes, int64_t index) {
  const TlAvatar *a = tl_study_shapes_get(shapes, tl_study_shape_id(index));
  return (TlGrainRow){.id = a->id,
                      .volume_m3 = a->volume_m3,
                      .area_m2 = a->area_m2,
                      .radius_m = a->radius_m,
                      .spacing_m = a->spacing_m,
                      .inertia_m5 = a->inertia_m5,
                      .axes_m = {a->axes_m[0], a->axes_m[1], a->axes_m[2]},
                      .scan_rotation = a->scan_rotation,
                      .node_count = a->node_count};
}

TlGrainRow tl_study_shapes_stand_in(const TlStudyShapes *shapes, const TlGrainRow *row,
                                    double *scale) {
  if (!shapes->setup->grains.as_spheres || row->id == TL_BALL_ID) return *row;
  *scale *= cbrt(6 * row->volume_m3 / M_PI);
  return tl_study_shapes_row(shapes, -1 - TL_BALL_ID);
}

void tl_study_shapes_mass(const TlStudyShapes *shapes, int64_t index, double *volume_m3,
                          TlVec3 *inertia_m5) {
  const TlShapeSetup *s = (const TlShapeSetup *)shapes->setup->shapes.items + index;
  const TlAvatar *a = &shapes->avatar[index];
  double size[TL_CLOSED_SIZES];
  const TlClosedKind *kind = closed_form(s, size);
  TlClosedMass mass = {.volume_m3 = a->volume_m3, .inertia_m5 = a->inertia_m5};
  if (kind) mass = kind->mass(size);
  *volume_m3 = mass.volume_m3;
  *inertia_m5 = mass.inertia_m5;
}

TlStatus tl_study_shapes_register(const TlStudyShapes *shapes, TlModel *model) {
  const TlShapeSetup *setup = shapes->setup->shapes.items;
  for (int64_t i = 0; i < shapes->count; i++) {
    double size[TL_CLOSED_SIZES];
    const TlClosedKind *kind = closed_form(&setup[i], size);
    if (kind) TL_TRY(tl_model_add_closed(model, tl_study_shape_id(i), kind, size));
  }
  return shapes->ball.node_count > 0 ? tl_model_add_sphere(model, TL_BALL_ID, 0.5) : TL_OK;
}
