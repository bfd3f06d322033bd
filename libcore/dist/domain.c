#include "dist/domain.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { BINS = 64, ROUNDS = 4 };

/* A range of ranks on its way to being split. */
typedef struct Range {
  int low, mid, high;
  int axis;
  double from, to; /* where the cut is known to lie */
  int64_t total;   /* weight in the range */
  int64_t below;   /* weight of coordinates < from */
  int64_t inside;  /* weight of [from, to) */
} Range;

typedef struct Cutter {
  TlComm *comm;
  const TlVec3 *position;
  const int64_t *weight;
  int64_t count;
  int32_t *where; /* range of body i in this level, -1: settled */
  Range *range;
  int ranges;
  int32_t *range_of; /* by its lowest rank */
  double *box;       /* 6 a range: least x, y, z, then minus the most */
  int64_t *columns;  /* BINS a range */
} Cutter;

static double along(TlVec3 p, int axis) {
  return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

static int64_t weight_of(const Cutter *c, int64_t i) {
  return c->weight ? c->weight[i] : 1;
}

void tl_domain_free(TlDomain *domain) {
  tl_free(domain->cut);
  *domain = (TlDomain){0};
}

int tl_domain_owner(const TlDomain *domain, TlVec3 point) {
  int low = 0, high = domain->ranks;
  while (high - low > 1) {
    int mid = (low + high) / 2;
    const TlCut *cut = &domain->cut[mid];
    if (along(point, cut->axis) < cut->at)
      high = mid;
    else
      low = mid;
  }
  return low;
}

void tl_domain_region(const TlDomain *domain, int rank, double box[6]) {
  int low = 0, high = domain->ranks;
  for (int a = 0; a < 3; a++) {
    box[a] = -INFINITY;
    box[3 + a] = INFINITY;
  }
  while (high - low > 1) {
    int mid = (low + high) / 2;
    const TlCut *cut = &domain->cut[mid];
    if (rank < mid) {
      box[3 + cut->axis] = fmin(box[3 + cut->axis], cut->at);
      high = mid;
    } else {
      box[cut->axis] = fmax(box[cut->axis], cut->at);
      low = mid;
    }
  }
}

static TlStatus measure_boxes(Cutter *c) {
  for (int k = 0; k < 6 * c->ranges; k++) c->box[k] = INFINITY;
  for (int k = 0; k < c->ranges; k++) c->columns[k] = 0;
  for (int64_t i = 0; i < c->count; i++) {
    if (c->where[i] < 0) continue;
    double *box = &c->box[6 * c->where[i]];
    for (int a = 0; a < 3; a++) {
      double x = along(c->position[i], a);
      box[a] = fmin(box[a], x);
      box[3 + a] = fmin(box[3 + a], -x);
    }
    c->columns[c->where[i]] += weight_of(c, i);
  }
  TL_TRY(tl_comm_least(c->comm, c->box, 6 * c->ranges));
  return tl_comm_sum_int(c->comm, c->columns, c->ranges);
}

static void choose_axes(Cutter *c) {
  for (int k = 0; k < c->ranges; k++) {
    const double *box = &c->box[6 * k];
    Range *r = &c->range[k];
    r->total = c->columns[k];
    r->below = 0;
    r->axis = 0;
    for (int a = 1; a < 3; a++)
      if (-box[3 + a] - box[a] > -box[3 + r->axis] - box[r->axis]) r->axis = a;
    bool empty = !(box[0] <= -box[3]);
    r->from = empty ? 0 : box[r->axis];
    r->to = empty ? 0 : -box[3 + r->axis];
  }
}

static double bin_edge(const Range *r, int bin) {
  return r->from + (r->to - r->from) * ((double)bin / BINS);
}

/* The bin of x by its edges: rounding in a division could put x on the wrong side of one. */
static int bin_of(const Range *r, double x) {
  int bin = (int)((x - r->from) / (r->to - r->from) * BINS);
  bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
  while (bin > 0 && x < bin_edge(r, bin)) bin--;
  while (bin < BINS - 1 && x >= bin_edge(r, bin + 1)) bin++;
  return bin;
}

static TlStatus count_columns(Cutter *c, bool last_edge_in) {
  memset(c->columns, 0, sizeof *c->columns * (size_t)(BINS * c->ranges));
  for (int64_t i = 0; i < c->count; i++) {
    if (c->where[i] < 0) continue;
    const Range *r = &c->range[c->where[i]];
    double x = along(c->position[i], r->axis);
    if (!(r->to > r->from) || x < r->from || x > r->to || (x == r->to && !last_edge_in)) continue;
    c->columns[BINS * c->where[i] + bin_of(r, x)] += weight_of(c, i);
  }
  return tl_comm_sum_int(c->comm, c->columns, BINS * c->ranges);
}

static double target_of(const Range *r) {
  return (double)r->total * (r->mid - r->low) / (r->high - r->low);
}

static void narrow(Range *r, const int64_t *columns) {
  double target = target_of(r);
  double from = r->from, to = r->to;
  if (!(to > from)) return;
  int bin = 0;
  while (bin < BINS - 1 && (double)(r->below + columns[bin]) < target) r->below += columns[bin++];
  r->inside = columns[bin];
  r->from = bin_edge(&(Range){.from = from, .to = to}, bin);
  r->to = bin_edge(&(Range){.from = from, .to = to}, bin + 1);
}

/* Of the two edges of the last bin the one that comes nearer: bodies in a plane stay together. */
static void settle(const Cutter *c, TlDomain *domain) {
  for (int k = 0; k < c->ranges; k++) {
    const Range *r = &c->range[k];
    double target = target_of(r);
    bool low = fabs((double)r->below - target) < fabs((double)(r->below + r->inside) - target);
    domain->cut[r->mid] = (TlCut){r->axis, low ? r->from : r->to};
  }
}

static bool needs_split(int low, int high) {
  return high - low > 1;
}

/* All ranges of a level: the halving of [0, P) `level` times. */
static void list_ranges(Cutter *c, int low, int high, int level) {
  if (!needs_split(low, high)) return;
  int mid = (low + high) / 2;
  if (level == 0) {
    c->range[c->ranges++] = (Range){.low = low, .mid = mid, .high = high};
    return;
  }
  list_ranges(c, low, mid, level - 1);
  list_ranges(c, mid, high, level - 1);
}

static void place_bodies(Cutter *c, const TlDomain *domain, int level) {
  for (int r = 0; r < domain->ranks; r++) c->range_of[r] = -1;
  for (int k = 0; k < c->ranges; k++) c->range_of[c->range[k].low] = k;
  for (int64_t i = 0; i < c->count; i++) {
    int low = 0, high = domain->ranks;
    for (int l = 0; l < level && needs_split(low, high); l++) {
      int mid = (low + high) / 2;
      const TlCut *cut = &domain->cut[mid];
      if (along(c->position[i], cut->axis) < cut->at)
        high = mid;
      else
        low = mid;
    }
    c->where[i] = needs_split(low, high) ? c->range_of[low] : -1;
  }
}

static TlStatus cut_level(Cutter *c, TlDomain *domain, int level) {
  c->ranges = 0;
  list_ranges(c, 0, domain->ranks, level);
  if (c->ranges == 0) return TL_OK;
  place_bodies(c, domain, level);
  TL_TRY(measure_boxes(c));
  choose_axes(c);
  for (int round = 0; round < ROUNDS; round++) {
    TL_TRY(count_columns(c, round == 0));
    for (int k = 0; k < c->ranges; k++) narrow(&c->range[k], &c->columns[BINS * k]);
  }
  settle(c, domain);
  return TL_OK;
}

static TlStatus make_room(Cutter *c, size_t ranks) {
  TL_TRY(TL_NEW(c->where, (size_t)c->count));
  TL_TRY(TL_NEW(c->range, ranks));
  TL_TRY(TL_NEW(c->range_of, ranks));
  TL_TRY(TL_NEW(c->box, 6 * ranks));
  TL_TRY(TL_NEW(c->columns, BINS * ranks));
  return TL_OK;
}

TlStatus tl_domain_cut(TlDomain *domain, TlComm *comm, const TlVec3 *position,
                       const int64_t *weight, int64_t count) {
  Cutter c = {.comm = comm, .position = position, .weight = weight, .count = count};
  int ranks = tl_comm_size(comm);
  if (domain->ranks != ranks) {
    tl_domain_free(domain);
    TL_TRY(TL_NEW(domain->cut, (size_t)ranks));
    domain->ranks = ranks;
  }
  TlStatus status = tl_comm_agree(comm, make_room(&c, (size_t)ranks));
  for (int level = 0; status == TL_OK && (1 << level) < 2 * ranks; level++)
    status = cut_level(&c, domain, level);
  tl_free(c.where);
  tl_free(c.range);
  tl_free(c.range_of);
  tl_free(c.box);
  tl_free(c.columns);
  return status;
}
