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

/* What makes a further point worth keeping: 1st its distance from the deepest, 2nd that from the
 * line of these two, 3rd that on the line's other side; all in the plane of the deepest's normal,
 * less what the point lies farther off. In a fast step the nodes up the side edges of a cube are
 * candidates, too: with one of them in a corner's place a cube that came down flat tipped over. */
typedef struct Score {
  TlVec3 origin, line, n;
  double gap;  /* of the deepest */
  double sign; /* 0: distance from the origin */
  bool either; /* side */
} Score;

static double score_of(const Score *score, const TlPoint *c) {
  TlVec3 d = tl_sub(c->p, score->origin);
  d = tl_axpy(d, -tl_dot(d, score->n), score->n);
  double off = c->gap - score->gap;
  if (score->sign == 0) return tl_norm(d) - off;
  double beside = tl_dot(tl_cross(score->line, d), score->n);
  return (score->either ? fabs(beside) : score->sign * beside) - off;
}

static const TlPoint *best(const Cluster *cluster, const Score *score) {
  const TlPoint *found = NULL;
  double most = 0;
  for (size_t i = 0; i < cluster->count; i++) {
    const TlPoint *c = &cluster->candidate[i];
    if (!belongs(cluster, c)) continue;
    double s = score_of(score, c);
    if (s < cluster->spread || !(LOYALTY * s > most)) continue;
    if (is_known(cluster->known, cluster->known_count, c->key)) s *= LOYALTY;
    if (s > most) {
      most = s;
      found = c;
    }
  }
  return found;
}

static int thin(const Cluster *cluster, const TlPoint *deepest, TlPoint *out) {
  Score score = {.origin = deepest->p, .n = deepest->n, .gap = deepest->gap};
  int count = 0;
  for (const TlPoint *next = deepest; next; next = best(cluster, &score)) {
    out[count++] = *next;
    if (count == TL_CLUSTER_POINTS) break;
    if (count == 2) {
      TlVec3 d = tl_sub(next->p, deepest->p);
      score.line = tl_unit(tl_axpy(d, -tl_dot(d, score.n), score.n));
      score.sign = 1;
      score.either = true;
    }
    if (count == 3) {
      score.either = false;
      TlVec3 d = tl_sub(next->p, deepest->p);
      score.sign = tl_dot(tl_cross(score.line, d), score.n) > 0 ? -1 : 1;
    }
  }
  return count;
}

/* Those under the limit, deepest first: a handful nearly always. */
static size_t sorted(TlPoint *c, size_t count, double limit) {
  enum { HANDFUL = 32 };
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (c[i].gap < limit) c[kept++] = c[i];
  if (kept > HANDFUL) {
    qsort(c, kept, sizeof *c, compare_point);
    return kept;
  }
  for (size_t i = 1; i < kept; i++) {
    TlPoint point = c[i];
    size_t at = i;
    for (; at > 0 && compare_point(&point, &c[at - 1]) < 0; at--) c[at] = c[at - 1];
    c[at] = point;
  }
  return kept;
}

int tl_manifold(TlPoint *c, size_t count, double band, double spread, const TlTouch *known,
                size_t known_count, TlPoint *kept) {
  double least = INFINITY;
  for (size_t i = 0; i < count; i++) least = tl_min(c[i].gap, least);
  count = sorted(c, count, tl_max(least, 0) + band);
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
