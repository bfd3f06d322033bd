#include "run/shapes.h"

#include "base/mem.h"

#include <stdio.h>

static bool is_closed(const TlShapeSetup *s) {
  return !s->gridded && (s->kind == TL_FORMULA_SPHERE || s->kind == TL_FORMULA_BOX ||
                         s->kind == TL_FORMULA_CYLINDER);
}

static TlStatus make(TlStudyShapes *shapes, int64_t i, const TlStudy *study) {
  const TlShapeSetup *setup = shapes->setup->shapes.items;
  TlFormula formula = tl_shape_formula(&setup[i]);
  char path[48], text[512];
  TlStatus status = is_closed(&setup[i]) ? tl_formula_avatar_as_given(&formula, &shapes->avatar[i])
                                         : tl_formula_avatar(&formula, &shapes->avatar[i]);
  shapes->avatar[i].id = tl_study_shape_id(i);
  if (status != TL_EUSAGE && status != TL_EINPUT) return status;
  snprintf(path, sizeof path, "shapes.%lld", (long long)i);
  snprintf(text, sizeof text, "%s", tl_message());
  return tl_study_fail(study, TL_EINPUT, path, "'%s': %s", setup[i].name, text);
}

TlStatus tl_study_shapes_open(TlStudyShapes *shapes, const TlSetup *setup, const TlStudy *study) {
  *shapes = (TlStudyShapes){.setup = setup};
  if (setup->shapes.count > TL_SHAPES_MOST)
    return tl_study_fail(study, TL_EINPUT, "shapes", "are more than %d", TL_SHAPES_MOST);
  TL_TRY(TL_NEW(shapes->avatar, (size_t)setup->shapes.count));
  for (int64_t i = 0; i < setup->shapes.count; i++) {
    shapes->count++;
    TL_TRY(make(shapes, i, study));
  }
  return TL_OK;
}

void tl_study_shapes_free(TlStudyShapes *shapes) {
  for (int64_t i = 0; i < shapes->count; i++) tl_avatar_free(&shapes->avatar[i]);
  tl_free(shapes->avatar);
  *shapes = (TlStudyShapes){0};
}

const TlAvatar *tl_study_shapes_get(const TlStudyShapes *shapes, int64_t id) {
  return id < 0 && -1 - id < shapes->count ? &shapes->avatar[-1 - id] : NULL;
}

double tl_study_shapes_ball(const TlStudyShapes *shapes, int64_t id) {
  if (!tl_study_shapes_get(shapes, id)) return 0;
  const TlShapeSetup *s = (const TlShapeSetup *)shapes->setup->shapes.items + (-1 - id);
  return is_closed(s) && s->kind == TL_FORMULA_SPHERE ? s->diameter_m / 2 : 0;
}

TlGrainRow tl_study_shapes_row(const TlStudyShapes *shapes, int64_t index) {
  const TlAvatar *a = &shapes->avatar[index];
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

static TlStatus add(TlSolver *solver, int64_t id, const TlShapeSetup *s) {
  double round[2] = {s->diameter_m / 2, s->length_m};
  switch (s->kind) {
  case TL_FORMULA_SPHERE:
    return tl_solver_add_closed(solver, id, &tl_closed_sphere, round);
  case TL_FORMULA_BOX:
    return tl_solver_add_closed(solver, id, &tl_closed_box, s->size_m);
  default:
    return tl_solver_add_closed(solver, id, &tl_closed_cylinder, round);
  }
}

TlStatus tl_study_shapes_register(const TlStudyShapes *shapes, TlSolver *solver) {
  const TlShapeSetup *setup = shapes->setup->shapes.items;
  for (int64_t i = 0; i < shapes->count; i++)
    if (is_closed(&setup[i])) TL_TRY(add(solver, tl_study_shape_id(i), &setup[i]));
  return TL_OK;
}
