#include "phantom/phantom_grey.h"

#include "base/mem.h"
#include "base/par.h"

#include <math.h>
#include <stdbool.h>

enum { BISECTIONS = 12 };

/* ---- squared distance to the nearest marked voxel ---- */

/* Lower envelope of parabolas along one line (Felzenszwalb and Huttenlocher 2012). value: n squared
 * distances, stride apart; scratch: 3 n. */
static void envelope(float *value, int64_t n, int64_t stride, double *scratch) {
  double *from = scratch, *at = scratch + n, *start = scratch + 2 * n;
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) from[i] = (double)value[i * stride];
  for (int64_t i = 0; i < n; i++) {
    if (from[i] == INFINITY) continue;
    double begins = -INFINITY;
    for (; count > 0; count--) {
      double j = at[count - 1];
      double fj = from[(int64_t)j], fi = from[i], x = (double)i;
      begins = 0.5 * (fi - fj + x * x - j * j) / (x - j);
      if (begins > start[count - 1]) break;
    }
    at[count] = (double)i;
    start[count] = count > 0 ? begins : -INFINITY;
    count++;
  }
  for (int64_t i = 0, k = 0; i < n && count > 0; i++) {
    while (k + 1 < count && start[k + 1] < (double)i) k++;
    double away = (double)i - at[k];
    value[i * stride] = (float)(from[(int64_t)at[k]] + away * away);
  }
}

typedef struct Lines {
  TlVolume *field;
  int axis;
  double *scratch; /* 3 of the longest side a thread */
  int64_t longest;
} Lines;

static TlStatus filter_lines(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Lines *l = context;
  const int64_t nx = l->field->nx, ny = l->field->ny, nz = l->field->nz;
  (void)block;
  for (int64_t i = begin; i < end; i++) {
    double *scratch = l->scratch + 3 * l->longest * thread;
    if (l->axis == 0) envelope(l->field->f32 + i * nx, nx, 1, scratch);
    if (l->axis == 1) envelope(l->field->f32 + i / nx * nx * ny + i % nx, ny, nx, scratch);
    if (l->axis == 2) envelope(l->field->f32 + i, nz, nx * ny, scratch);
  }
  return TL_OK;
}

/* field: 0 at marked voxels, INFINITY elsewhere -> distance. */
static TlStatus distance(TlVolume *field) {
  const int64_t nx = field->nx, ny = field->ny, nz = field->nz;
  const int64_t lines[3] = {ny * nz, nx * nz, nx * ny};
  Lines l = {.field = field, .longest = nx > ny ? nx : ny};
  if (nz > l.longest) l.longest = nz;
  TlStatus status = TL_NEW(l.scratch, (size_t)(3 * l.longest * tl_par_threads()));
  for (l.axis = 0; l.axis < 3 && status == TL_OK; l.axis++)
    status = tl_par_blocks(lines[l.axis], 256, filter_lines, &l);
  for (int64_t i = 0; i < tl_volume_count(field); i++) field->f32[i] = sqrtf(field->f32[i]);
  tl_free(l.scratch);
  return status;
}

/* ---- the pores ---- */

typedef struct Pores {
  const TlVolume *labels;
  double cylinder_radius;
  TlVolume depth; /* of each pore voxel's centre: to the nearest grain's */
  double voxels;
} Pores;

static bool is_pore(const Pores *p, int64_t i) {
  const TlVolume *v = p->labels;
  if (v->u32[i] > 0) return false;
  double dx = (double)(i % v->nx) - 0.5 * (double)(v->nx - 1);
  double dy = (double)(i / v->nx % v->ny) - 0.5 * (double)(v->ny - 1);
  return p->cylinder_radius <= 0 || hypot(dx, dy) < p->cylinder_radius;
}

/* Part of a voxel on this side of a surface that lies so far from its centre (> 0: centre inside).
 */
static double part_within(double inside) {
  return fmin(fmax(inside + 0.5, 0), 1);
}

/* Part of a pore voxel in a film this thick: a grain's surface lies about half a voxel before its
 * nearest voxel's centre. */
static double in_film(const Pores *p, int64_t i, double thickness) {
  return part_within(thickness + 0.5 - (double)p->depth.f32[i]);
}

/* part with menisci of this radius, or coats of this thickness; the saturation is returned. */
static TlStatus wet(const Pores *p, TlPhantomWater water, double size, TlVolume *part,
                    double *saturation) {
  double sum = 0;
  bool menisci = water == TL_WATER_MENISCI;
  for (int64_t i = 0; menisci && i < tl_volume_count(part); i++)
    part->f32[i] = is_pore(p, i) && (double)p->depth.f32[i] >= size ? 0 : INFINITY;
  if (menisci) TL_TRY(distance(part)); /* to the nearest centre of a ball of gas */
  for (int64_t i = 0; i < tl_volume_count(part); i++) {
    double bridge = menisci ? part_within((double)part->f32[i] - size) : 0;
    double film = in_film(p, i, menisci ? TL_PHANTOM_FILM : size);
    part->f32[i] = is_pore(p, i) ? (float)fmax(bridge, film) : 0;
    sum += (double)part->f32[i];
  }
  *saturation = sum / p->voxels;
  return TL_OK;
}

static TlStatus fill_by_size(const Pores *p, TlPhantomWater water, double saturation,
                             TlVolume *part, double *reached) {
  double low = water == TL_WATER_MENISCI ? 0.5 : 0, high = 0.5;
  for (int64_t i = 0; i < tl_volume_count(part); i++)
    if (is_pore(p, i)) high = fmax(high, (double)p->depth.f32[i] + 1);
  for (int k = 0; k < BISECTIONS; k++) {
    double size = 0.5 * (low + high);
    TL_TRY(wet(p, water, size, part, reached));
    if (*reached < saturation)
      low = size;
    else
      high = size;
  }
  return wet(p, water, high, part, reached);
}

static TlStatus fill_to_level(const Pores *p, double saturation, TlVolume *part, double *reached) {
  int64_t area = part->nx * part->ny;
  double water = 0, wanted = saturation * p->voxels;
  for (int64_t z = 0; z < part->nz && water < wanted; z++)
    for (int64_t i = z * area; i < (z + 1) * area; i++) {
      part->f32[i] = is_pore(p, i);
      water += (double)part->f32[i];
    }
  *reached = water / p->voxels;
  return TL_OK;
}

static TlStatus find_depths(Pores *p) {
  TL_TRY(tl_volume_like(&p->depth, p->labels, TL_F32));
  for (int64_t i = 0; i < tl_volume_count(p->labels); i++) {
    bool pore = is_pore(p, i);
    p->depth.f32[i] = pore ? INFINITY : 0;
    p->voxels += pore;
  }
  if (p->voxels == 0) return tl_fail(TL_EINPUT, "the phantom has no pores to put water into");
  return distance(&p->depth);
}

TlStatus tl_phantom_water(const TlVolume *labels, double cylinder_radius, TlPhantomWater water,
                          double saturation, TlVolume *part, double *reached) {
  Pores p = {.labels = labels, .cylinder_radius = cylinder_radius};
  TL_TRY(tl_volume_like(part, labels, TL_F32));
  TlStatus status = find_depths(&p);
  if (status == TL_OK)
    status = water == TL_WATER_LEVEL ? fill_to_level(&p, saturation, part, reached)
                                     : fill_by_size(&p, water, saturation, part, reached);
  tl_volume_free(&p.depth);
  if (status != TL_OK) tl_volume_free(part);
  return status;
}
