#include "image/label_field.h"

#include "base/mem.h"
#include "base/par.h"
#include "image/filters.h"
#include "image/relief.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { FIRST_HALO = 24 };

/* Voxels of distance that a least dip takes off. With 0.1 as many grains stay joined as without the
 * grey, with 0.5 contacts lie 0.05 voxel farther off their place (docs/notebook/imaging.md). */
#define A_DIP 0.2F
#define LEAST_A_DIP 0.01F
#define CORE_DEPTH 2.0F

void tl_label_field_init(TlLabelField *f, const TlVolume *head, double sigma) {
  const double *voxel_m = head->voxel_m;
  *f = (TlLabelField){.nx = head->nx, .ny = head->ny, .nz = head->nz};
  bool cubes = voxel_m[0] == voxel_m[1] && voxel_m[1] == voxel_m[2];
  double unit = cbrt(voxel_m[0] * voxel_m[1] * voxel_m[2]);
  for (int a = 0; a < 3; a++) {
    f->edge[a] = cubes || !(unit > 0) ? 1 : voxel_m[a] / unit;
    f->sigma[a] = sigma / f->edge[a];
  }
  f->reach = sigma > 0 ? (int64_t)ceil(4 * f->sigma[2]) : 0;
  f->halo = FIRST_HALO;
}

/* ---- planes read at once ---- */

typedef struct Planes {
  int64_t low, high; /* [low, high) of the stack */
  uint8_t *inside;
  float *value;
  int64_t from, to; /* those wanted of them */
  TlClue *clue;     /* of these; NULL without grey */
} Planes;

static void planes_free(Planes *p) {
  tl_free(p->inside);
  tl_free(p->value);
  tl_free(p->clue);
  *p = (Planes){0};
}

static void clean_plane(const TlLabelField *f, const TlVolume *plane, int64_t z, uint8_t *inside) {
  for (int64_t i = 0; i < f->nx * f->ny; i++)
    inside[i] = tl_roi_inside(f->roi, i % f->nx, i / f->nx, z) &&
                (plane->type == TL_U8 ? plane->u8[i] > 0 : tl_volume_value(plane, i) > 0);
}

static TlStatus read_clean(const TlLabelField *f, int64_t low, int64_t high, uint8_t *inside) {
  TlVolume plane;
  TL_TRY(tl_volume_new(&plane, f->mask->head.type, f->nx, f->ny, 1));
  TlStatus status = TL_OK;
  for (int64_t z = low; z < high && status == TL_OK; z++) {
    status = tl_layers_read(f->mask, z, 1, plane.data);
    if (status == TL_OK) clean_plane(f, &plane, z, inside + (z - low) * f->nx * f->ny);
  }
  tl_volume_free(&plane);
  return status;
}

int64_t tl_label_field_margin(const TlLabelField *f) {
  return f->halo + f->reach + 1;
}

static TlStatus read_dips(const TlLabelField *f, Planes *p) {
  TL_TRY(TL_NEW(p->clue, (size_t)((p->to - p->from) * f->nx * f->ny)));
  return tl_dips_planes(&f->dips, p->from, p->to, p->clue);
}

static TlStatus read_planes(TlLabelField *f, int64_t begin, int64_t end, Planes *p) {
  int64_t margin = tl_label_field_margin(f);
  *p = (Planes){.from = begin > 0 ? begin - 1 : 0, .to = end < f->nz ? end + 1 : f->nz};
  p->low = begin > margin ? begin - margin : 0;
  p->high = end + margin < f->nz ? end + margin : f->nz;
  if (f->most_planes > 0 && p->high - p->low > f->most_planes)
    return tl_fail(TL_ELIMIT,
                   "a slab of %lld planes needs %lld beside it, for its grains are that deep: more "
                   "than the memory allowed; raise --memory",
                   (long long)(end - begin), (long long)(p->high - p->low - end + begin));
  size_t count = (size_t)((p->high - p->low) * f->nx * f->ny);
  TL_TRY(TL_NEW(p->inside, count));
  TL_TRY(TL_NEW(p->value, count));
  TL_TRY(read_clean(f, p->low, p->high, p->inside));
  return tl_distance_squared(p->inside, f->nx, f->ny, p->high - p->low, f->edge, p->value);
}

static float most_of(const float *values, int64_t count) {
  float most = 0;
  for (int64_t i = 0; i < count; i++) most = values[i] > most ? values[i] : most;
  return most;
}

/* Could a void beyond the planes read be nearer to a voxel of [from, to) than the one found? */
static bool in_doubt(const TlLabelField *f, const Planes *p, int64_t from, int64_t to) {
  int64_t plane = f->nx * f->ny;
  for (int64_t z = from; z < to; z++) {
    double beyond = INFINITY;
    if (p->low > 0) beyond = (double)(z - p->low + 1);
    if (p->high < f->nz) beyond = fmin(beyond, (double)(p->high - z));
    beyond *= f->edge[2];
    if (beyond < INFINITY &&
        (double)most_of(p->value + (z - p->low) * plane, plane) > beyond * beyond)
      return true;
  }
  return false;
}

/* By half, or as far as the memory allows where that is less. */
static void deepen_halo(TlLabelField *f, int64_t planes) {
  int64_t most = (f->most_planes - planes) / 2 - f->reach - 1, next = f->halo + f->halo / 2;
  f->halo = f->most_planes > 0 && next > most && most > f->halo ? most : next;
}

static TlStatus exact_distance(TlLabelField *f, int64_t begin, int64_t end, Planes *p) {
  int64_t from = begin - 1 - f->reach, to = end + 1 + f->reach;
  for (;;) {
    TL_TRY(read_planes(f, begin, end, p));
    if (!in_doubt(f, p, from > 0 ? from : 0, to < f->nz ? to : f->nz)) return TL_OK;
    planes_free(p);
    deepen_halo(f, end - begin);
  }
}

/* ---- the field ---- */

static TlStatus roots(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  float *value = context;
  (void)block, (void)thread;
  for (int64_t i = begin; i < end; i++) value[i] = sqrtf(value[i]);
  return TL_OK;
}

/* Never below what keeps it grain; and where all is dip, deeper ones are lower. */
static float lowered(float value, uint16_t dip) {
  float dips = (float)dip / TL_DIP_ONE, low = value - A_DIP * dips;
  float least = LEAST_A_DIP * (TL_DIP_MOST - dips);
  return low > least ? low : least;
}

typedef struct Finish { /* of the planes wanted */
  const uint8_t *inside;
  float *value;
  TlClue *clue;
} Finish;

static TlStatus mask_out(void *context, int64_t begin, int64_t end, int64_t block, int thread) {
  const Finish *p = context;
  (void)block, (void)thread;
  for (int64_t i = begin; i < end; i++) {
    float value = p->value[i] > 0 ? p->value[i] : 0;
    if (p->clue) {
      p->clue[i].core = p->inside[i] && value >= CORE_DEPTH;
      value = lowered(value, p->clue[i].dip);
    }
    p->value[i] = p->inside[i] ? value : TL_RELIEF_VOID;
  }
  return TL_OK;
}

/* The planes wanted, with those that the smoothing reaches. */
static TlStatus smooth(const TlLabelField *f, Planes *p) {
  int64_t low = p->from - f->reach, high = p->to + f->reach, plane = f->nx * f->ny;
  low = low > p->low ? low : p->low;
  high = high < p->high ? high : p->high;
  float *value = p->value + (low - p->low) * plane;
  TL_TRY(tl_par_blocks((high - low) * plane, 65536, roots, value));
  return tl_gaussian_floats(value, f->nx, f->ny, high - low, f->sigma, TL_GAUSSIAN_DIRECT);
}

static TlStatus shape(const TlLabelField *f, Planes *p) {
  int64_t plane = f->nx * f->ny, offset = (p->from - p->low) * plane;
  if (most_of(p->value, (p->high - p->low) * plane) == INFINITY)
    return tl_fail(TL_EINPUT, "the mask is all grain: there are no grains to tell apart");
  TL_TRY(smooth(f, p));
  if (f->dips.grey) TL_TRY(read_dips(f, p));
  Finish wanted = {p->inside + offset, p->value + offset, p->clue};
  return tl_par_blocks((p->to - p->from) * plane, 65536, mask_out, &wanted);
}

TlStatus tl_label_field(TlLabelField *f, int64_t begin, int64_t end, float **field, TlClue **clue) {
  Planes p = {0};
  int64_t plane = f->nx * f->ny;
  TlStatus status = exact_distance(f, begin, end, &p);
  if (status == TL_OK) status = shape(f, &p);
  if (status == TL_OK) {
    memmove(p.value, p.value + (p.from - p.low) * plane,
            (size_t)((p.to - p.from) * plane) * sizeof(float));
    *field = p.value;
    *clue = p.clue;
    p.value = NULL;
    p.clue = NULL;
  }
  planes_free(&p);
  return status;
}
