#include "post/packing_strain.h"

#include "base/mem.h"
#include "num/hull.h"

static const double REACH = 2.5;

/* The grains of both frames. */
typedef struct Pairing {
  int64_t count;
  int64_t *before, *now; /* [count] indices, owned */
  TlVec3 *start;         /* [count] first centres, owned */
} Pairing;

static void free_pairing(Pairing *p) {
  tl_free(p->before);
  tl_free(p->now);
  tl_free(p->start);
}

static TlStatus pair_up(const TlPacking *before, const TlPacking *now, Pairing *p) {
  int64_t b = 0;
  TL_TRY(TL_NEW(p->before, (size_t)now->grain_count));
  TL_TRY(TL_NEW(p->now, (size_t)now->grain_count));
  TL_TRY(TL_NEW(p->start, (size_t)now->grain_count));
  for (int64_t i = 0; i < now->grain_count; i++) {
    while (b < before->grain_count && before->grain[b].id < now->grain[i].id) b++;
    if (b == before->grain_count || before->grain[b].id != now->grain[i].id) continue;
    p->before[p->count] = b;
    p->now[p->count] = i;
    p->start[p->count++] = before->grain[b].centre_m;
  }
  return TL_OK;
}

/* ---- gradients ---- */

/* Sum over a grain's cells of volume times F, rows; and of the volumes. */
typedef struct Sum {
  TlVec3 row[3];
  double volume;
} Sum;

static bool too_long(const TlPacking *before, const Pairing *p, const TlCell *c) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < i; j++) {
      const TlPackGrain *a = &before->grain[p->before[c->corner[i]]],
                        *b = &before->grain[p->before[c->corner[j]]];
      double reach = REACH * 0.5 * (a->diameter_m + b->diameter_m);
      if (tl_norm2(tl_sub(a->centre_m, b->centre_m)) > reach * reach) return true;
    }
  return false;
}

/* Volume times F: with first edges e_k and second f_k, F = sum f_k (x) g_k, g_1 = e_2 x e_3/(6 V)
 * and so on round. A flat cell adds next to nothing. */
static void add_cell(const TlPacking *now, const Pairing *p, const TlCell *c, Sum *sum) {
  TlVec3 e[3], f[3], g[3];
  TlVec3 x0 = p->start[c->corner[0]], y0 = now->grain[p->now[c->corner[0]]].centre_m;
  for (int k = 0; k < 3; k++) {
    e[k] = tl_sub(p->start[c->corner[k + 1]], x0);
    f[k] = tl_sub(now->grain[p->now[c->corner[k + 1]]].centre_m, y0);
  }
  for (int k = 0; k < 3; k++) g[k] = tl_cross(e[(k + 1) % 3], e[(k + 2) % 3]);
  double volume = tl_dot(e[0], g[0]);
  for (int i = 0; i < 4; i++) {
    Sum *to = &sum[c->corner[i]];
    to->volume += volume;
    for (int k = 0; k < 3; k++) {
      to->row[0] = tl_axpy(to->row[0], f[k].x, g[k]);
      to->row[1] = tl_axpy(to->row[1], f[k].y, g[k]);
      to->row[2] = tl_axpy(to->row[2], f[k].z, g[k]);
    }
  }
}

static void strain_of(const Sum *s, double *deviatoric, double *volumetric) {
  TlSym3 c = {0};
  double value[3], h[3];
  TlMat3 axes;
  TlVec3 r[3];
  if (!(s->volume > 0)) return;
  for (int k = 0; k < 3; k++) {
    r[k] = tl_scale(1 / s->volume, s->row[k]);
    c.xx += r[k].x * r[k].x, c.yy += r[k].y * r[k].y, c.zz += r[k].z * r[k].z;
    c.xy += r[k].x * r[k].y, c.xz += r[k].x * r[k].z, c.yz += r[k].y * r[k].z;
  }
  if (!(tl_dot(r[0], tl_cross(r[1], r[2])) > 0)) return; /* turned inside out */
  tl_sym_eigen(c, value, &axes);
  for (int k = 0; k < 3; k++) h[k] = 0.5 * log(value[k]);
  double mean = (h[0] + h[1] + h[2]) / 3;
  for (int k = 0; k < 3; k++) h[k] -= mean;
  *deviatoric = sqrt(2.0 / 3 * (h[0] * h[0] + h[1] * h[1] + h[2] * h[2]));
  *volumetric = -3 * mean;
}

static TlStatus sum_up(const TlPacking *before, const TlPacking *now, const Pairing *p, Sum *sum,
                       TlStrains *s) {
  TlCell *cell;
  int64_t cells;
  TlStatus status = tl_delaunay(p->start, p->count, &cell, &cells);
  if (status == TL_EINPUT) return TL_OK; /* no cells: no strains */
  for (int64_t k = 0; k < cells && status == TL_OK; k++) {
    if (too_long(before, p, &cell[k])) continue;
    add_cell(now, p, &cell[k], sum);
    s->cells++;
  }
  tl_free(cell);
  for (int64_t i = 0; i < p->count && status == TL_OK; i++)
    strain_of(&sum[i], &s->deviatoric[p->now[i]], &s->volumetric[p->now[i]]);
  return status;
}

static TlStatus fill(const TlPacking *before, const TlPacking *now, TlStrains *s) {
  Pairing p = {0};
  Sum *sum = NULL;
  TL_TRY(TL_NEW(s->deviatoric, (size_t)now->grain_count));
  TL_TRY(TL_NEW(s->volumetric, (size_t)now->grain_count));
  for (int64_t i = 0; i < now->grain_count; i++) s->deviatoric[i] = s->volumetric[i] = NAN;
  TlStatus status = pair_up(before, now, &p);
  if (status == TL_OK) status = TL_NEW(sum, (size_t)p.count);
  if (status == TL_OK) status = sum_up(before, now, &p, sum, s);
  tl_free(sum);
  free_pairing(&p);
  return status;
}

TlStatus tl_strains_of(const TlPacking *before, const TlPacking *now, TlStrains *strains) {
  *strains = (TlStrains){0};
  TlStatus status = fill(before, now, strains);
  if (status != TL_OK) tl_strains_free(strains);
  return status;
}

void tl_strains_free(TlStrains *s) {
  tl_free(s->deviatoric);
  tl_free(s->volumetric);
  *s = (TlStrains){0};
}
