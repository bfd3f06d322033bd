#include "contact/narrow.h"

#include <math.h>

static const double AGREE = 0.9;    /* cosine: normals of one cluster */
static const double LOYALTY = 1.25; /* a remembered point wins against one this much farther */

static bool is_known(const TlImpulse *known, size_t count, int64_t key) {
  for (size_t i = 0; i < count; i++)
    if (known[i].number == key) return true;
  return false;
}

/* A cluster while it is thinned: the deepest candidate that belongs to none yet, first,, and those
 * whose normals agree with its own. */
typedef struct Cluster {
  TlPoint *candidate; /* in any order: ties go to the deeper one */
  size_t count;
  const TlImpulse *known;
  size_t known_count;
  double spread;
} Cluster;

/* What makes a further point worth keeping: 1st its distance from the deepest, 2nd that from the
 * line of these two, 3rd that on the line's other side; all in the plane of the deepest's normal,
 * less what the point lies farther off. In a fast step the nodes up the side edges of a cube are
 * candidates, too: with one of them in a corner's place a cube that came down flat tipped over. */
typedef struct Score {
  TlVec3 origin, n;
  double gap;    /* of the deepest */
  TlVec3 beside; /* across the line, in the plane */
} Score;

typedef enum Measure { AWAY, EITHER_SIDE, OTHER_SIDE } Measure;

static inline double score_of(const Score *score, Measure measure, const TlPoint *c) {
  TlVec3 d = tl_sub(c->p, score->origin);
  double off = c->gap - score->gap;
  if (measure == AWAY) return tl_norm(tl_axpy(d, -tl_dot(d, score->n), score->n)) - off;
  double beside = tl_dot(d, score->beside);
  return (measure == EITHER_SIDE ? fabs(beside) : beside) - off;
}

/* Inlined for each measure: this loop is most of the manifold's work. */
static inline __attribute__((always_inline)) const TlPoint *
best(const Cluster *cluster, const Score *score, Measure measure) {
  const TlPoint *found = NULL;
  double most = 0, enough = cluster->spread;
  for (size_t i = 1; i < cluster->count; i++) { /* the deepest itself is no distance away */
    const TlPoint *c = &cluster->candidate[i];
    double s = score_of(score, measure, c);
    if (s < enough) continue;
    if (is_known(cluster->known, cluster->known_count, c->key)) s *= LOYALTY;
    if (s > most || (s == most && found && tl_point_deeper(c, found))) {
      most = s;
      found = c;
      enough = tl_max(cluster->spread, most / (LOYALTY * (1 + 1e-9)));
    }
  }
  return found;
}

static int span(const Cluster *cluster, int most, TlPoint *out) {
  const TlPoint *deepest = &cluster->candidate[0], *next;
  Score score = {.origin = deepest->p, .n = deepest->n, .gap = deepest->gap};
  out[0] = *deepest;
  if (most == 1 || !(next = best(cluster, &score, AWAY))) return 1;
  out[1] = *next;
  TlVec3 line = tl_sub(next->p, deepest->p);
  score.beside = tl_cross(score.n, tl_unit(tl_axpy(line, -tl_dot(line, score.n), score.n)));
  if (most == 2 || !(next = best(cluster, &score, EITHER_SIDE))) return 2;
  out[2] = *next;
  if (tl_dot(tl_sub(next->p, deepest->p), score.beside) > 0)
    score.beside = tl_scale(-1, score.beside);
  if (most == 3 || !(next = best(cluster, &score, OTHER_SIDE))) return 3;
  out[3] = *next;
  return TL_FACE_POINTS;
}

static bool is_among(const TlPoint *point, int count, int64_t key) {
  for (int i = 0; i < count; i++)
    if (point[i].key == key) return true;
  return false;
}

static const TlPoint *candidate_of(const Cluster *cluster, int64_t key) {
  for (size_t i = 0; i < cluster->count; i++)
    if (cluster->candidate[i].key == key) return &cluster->candidate[i];
  return NULL;
}

/* What carried load stays, however near to another. A node of either grain, one beside the other,
 * is what two rounded grains rest on: with the deeper one alone each tips its grain onto the other,
 * and a heap rocked and crept so for good (docs/notebook/engine.md). */
static int keep_loaded(const Cluster *cluster, int most, int count, TlPoint *out) {
  for (size_t i = 0; i < cluster->known_count && count < most; i++) {
    int64_t key = cluster->known[i].number;
    const TlPoint *c = is_among(out, count, key) ? NULL : candidate_of(cluster, key);
    if (c) out[count++] = *c;
  }
  return count;
}

/* The face first, then the loaded. */
static int thin(const Cluster *cluster, int capacity, TlPoint *out) {
  int face = capacity < TL_FACE_POINTS ? capacity : TL_FACE_POINTS;
  int most = capacity < TL_CLUSTER_POINTS ? capacity : TL_CLUSTER_POINTS;
  return keep_loaded(cluster, most, span(cluster, face, out), out);
}

static void swap(TlPoint *a, TlPoint *b) {
  TlPoint was = *a;
  *a = *b;
  *b = was;
}

/* Sorting them would cost more than all else here: fine grains bring a hundred. */
static void deepest_first(TlPoint *c, size_t count) {
  size_t at = 0;
  for (size_t i = 1; i < count; i++)
    if (tl_point_deeper(&c[i], &c[at])) at = i;
  if (at > 0) swap(&c[0], &c[at]);
}

/* Those that agree with the first one to the front; their number. */
static size_t agreeing_first(TlPoint *c, size_t count) {
  size_t end = 1;
  for (size_t i = 1; i < count; i++) {
    if (!(tl_dot(c[i].n, c[0].n) >= AGREE)) continue;
    if (i != end) swap(&c[i], &c[end]);
    end++;
  }
  return end;
}

static size_t below(TlPoint *c, size_t count, double limit) {
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (c[i].gap < limit) {
      if (i != kept) c[kept] = c[i];
      kept++;
    }
  return kept;
}

int tl_manifold(TlPoint *c, size_t count, double band, double spread, const TlImpulse *known,
                size_t known_count, TlPoint *kept) {
  double least = INFINITY;
  for (size_t i = 0; i < count; i++) least = tl_min(c[i].gap, least);
  count = below(c, count, tl_max(least, 0) + band);
  int total = 0;
  for (size_t i = 0; i < count && total < TL_MANIFOLD_POINTS;) {
    deepest_first(c + i, count - i);
    Cluster cluster = {c + i, agreeing_first(c + i, count - i), known, known_count, spread};
    total += thin(&cluster, TL_MANIFOLD_POINTS - total, kept + total);
    i += cluster.count;
  }
  return total;
}
