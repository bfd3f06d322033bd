#include "post/measure.h"

#include "base/mem.h"

#include <math.h>

typedef struct Floor {
  double origin[2], side[2]; /* along, across */
  int axis;                  /* along the slope: 0 x, 1 y */
  int cells, strips;
  double low;  /* height of the floor */
  double *top; /* strip by strip; low: nothing above the floor */
} Floor;

static TlStatus open_floor(const TlReposeOptions *o, Floor *f) {
  double size[2] = {o->x1_m - o->x0_m, o->y1_m - o->y0_m}, low[2] = {o->x0_m, o->y0_m};
  *f = (Floor){.cells = o->cells > 0 ? o->cells : 16,
               .strips = o->strips > 0 ? o->strips : 8,
               .low = o->z0_m};
  if (!(size[0] > 0) || !(size[1] > 0))
    return tl_fail(TL_EUSAGE, "the floor from (%g, %g) to (%g, %g) m has no area", o->x0_m, o->y0_m,
                   o->x1_m, o->y1_m);
  f->axis = o->along == TL_REPOSE_LONG ? size[1] > size[0] : o->along == TL_REPOSE_Y;
  for (int k = 0; k < 2; k++) {
    int a = k ^ f->axis;
    f->origin[k] = low[a];
    f->side[k] = size[a];
  }
  int count = f->cells * f->strips;
  TL_TRY(TL_NEW(f->top, (size_t)count));
  for (int i = 0; i < count; i++) f->top[i] = f->low;
  return TL_OK;
}

static void note(Floor *f, TlVec3 p) {
  double x[2] = {p.x, p.y};
  int i = (int)floor((x[f->axis] - f->origin[0]) / f->side[0] * f->cells),
      j = (int)floor((x[1 - f->axis] - f->origin[1]) / f->side[1] * f->strips);
  if (i < 0 || i >= f->cells || j < 0 || j >= f->strips) return;
  double *top = &f->top[j * f->cells + i];
  if (p.z > *top) *top = p.z;
}

static TlStatus note_grains(const TlScene *scene, const TlFrame *frame, Floor *f) {
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
    if (!a)
      return tl_fail(TL_EINPUT, "avatar %lld of grain %lld is not in run.h5",
                     (long long)row->avatar_id, (long long)row->id);
    TlMat3 turn = tl_quat_matrix(row->rotation);
    for (int32_t n = 0; n < a->node_count; n++) {
      const float *x = a->node_m + 3 * (size_t)n;
      note(f, tl_axpy(row->position_m, row->scale, tl_mat_vec(turn, tl_vec3(x[0], x[1], x[2]))));
    }
  }
  return TL_OK;
}

/* Slope of the line through a strip's points, rise over run. */
static double slope_of(const Floor *f, int strip, int64_t *filled) {
  double n = f->cells, sx = 0, sz = 0, sxx = 0, sxz = 0;
  for (int i = 0; i < f->cells; i++) {
    double z = f->top[strip * f->cells + i] - f->low, x = (i + 0.5) * f->side[0] / f->cells;
    if (z > 0) ++*filled;
    sx += x, sz += z, sxx += x * x, sxz += x * z;
  }
  return f->cells < 2 ? 0 : (n * sxz - sx * sz) / (n * sxx - sx * sx);
}

TlStatus tl_measure_repose(const TlScene *scene, const TlFrame *frame,
                           const TlReposeOptions *options, TlRepose *out) {
  Floor f;
  *out = (TlRepose){.least_deg = INFINITY, .most_deg = -INFINITY};
  TL_TRY(open_floor(options, &f));
  TlStatus status = note_grains(scene, frame, &f);
  double down = options->falls < 0 ? 1 : -1, squares = 0;
  for (int s = 0; status == TL_OK && s < f.strips; s++) {
    double deg = atan(down * slope_of(&f, s, &out->filled)) * TL_DEG;
    out->mean_deg += deg / f.strips;
    squares += deg * deg / f.strips;
    out->least_deg = fmin(out->least_deg, deg);
    out->most_deg = fmax(out->most_deg, deg);
  }
  out->sd_deg = sqrt(fmax(0, squares - out->mean_deg * out->mean_deg));
  tl_free(f.top);
  return status;
}
