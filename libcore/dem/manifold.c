#include "dem/narrow.h"

#include <math.h>
#include <stdlib.h>

static const double AGREE = 0.9;    /* cosine: normals of one cluster */
static const double LOYALTY = 1.25; /* a remembered point wins against one this much farther */

static int compare_point(const void *a, const void *b) {
  const TlPoint *x = a, *y = b;
  if (x->gap != y->gap) return x->gap < y->gap ? -1 : 1;
  return x->key < y->key ? -1 : x->key > y->key;
}

static bool is_known(const TlTouch *known, size_t count, int64_t key) {
  for (size_t i = 0; i < count; i++)
    if (known[i].key == key) return true;
  return false;
}

/* A cluster while it is thinned: those of the candidates that agree with the deepest one's normal
 * and belong to no cluster yet (a candidate that was used has no normal). */
typedef struct Cluster {
  TlPoint *candidate;
  size_t count;
  TlVec3 n;
  const TlTouch *known;
  size_t known_count;
  double spread;
} Cluster;

static bool belongs(const Cluster *cluster, const TlPoint *c) {
  return tl_dot(c->n, cluster->n) >= AGREE;
}

typedef double (*Score)(const TlPoint *const *kept, const TlPoint *candidate);

static double from_point(const TlPoint *const *kept, const TlPoint *c) {
  return tl_norm(tl_sub(c->p, kept[0]->p));
}

/* Signed distance from the line of the first two, seen along the first's normal. */
static double beside_line(const TlPoint *const *kept, const TlPoint *c) {
  TlVec3 line = tl_unit(tl_sub(kept[1]->p, kept[0]->p));
  return tl_dot(tl_cross(line, tl_sub(c->p, kept[0]->p)), kept[0]->n);
}
static double either_side(const TlPoint *const *kept, const TlPoint *c) {
  return fabs(beside_line(kept, c));
}
static double other_side(const TlPoint *const *kept, const TlPoint *c) {
  double first = beside_line(kept, kept[2]);
  return first > 0 ? -beside_line(kept, c) : beside_line(kept, c);
}

static const TlPoint *best(const Cluster *cluster, Score score, const TlPoint *const *kept) {
  const TlPoint *found = NULL;
  double most = 0;
  for (size_t i = 0; i < cluster->count; i++) {
    const TlPoint *c = &cluster->candidate[i];
    if (!belongs(cluster, c)) continue;
    double s = score(kept, c);
    if (s < cluster->spread) continue;
    if (is_known(cluster->known, cluster->known_count, c->key)) s *= LOYALTY;
    if (s > most) {
      most = s;
      found = c;
    }
  }
  return found;
}

/* Deepest, farthest from it, farthest from their line, farthest on the line's other side. */
static int thin(const Cluster *cluster, const TlPoint *deepest, TlPoint *out) {
  static const Score scores[] = {from_point, either_side, other_side};
  const TlPoint *kept[TL_CLUSTER_POINTS] = {deepest};
  int count = 1;
  for (int i = 0; i < TL_CLUSTER_POINTS - 1; i++) {
    const TlPoint *next = best(cluster, scores[i], kept);
    if (!next) break;
    kept[count++] = next;
  }
  for (int i = 0; i < count; i++) out[i] = *kept[i];
  return count;
}

int tl_manifold(TlPoint *c, size_t count, double band, double spread, const TlTouch *known,
                size_t known_count, TlPoint *kept) {
  if (count == 0) return 0;
  qsort(c, count, sizeof *c, compare_point);
  double limit = fmax(c[0].gap, 0) + band;
  while (c[count - 1].gap > limit) count--;
  int total = 0;
  for (size_t i = 0; i < count && total + TL_CLUSTER_POINTS <= TL_MANIFOLD_POINTS; i++) {
    if (tl_norm2(c[i].n) == 0) continue;
    Cluster cluster = {c, count, c[i].n, known, known_count, spread};
    total += thin(&cluster, &c[i], kept + total);
    for (size_t k = i; k < count; k++)
      if (belongs(&cluster, &c[k])) c[k].n = (TlVec3){0, 0, 0};
  }
  return total;
}
