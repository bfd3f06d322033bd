#include "dist/domain.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { BINS = 64, ROUNDS = 4, AXES = 3 };
static const double ALIKE =
    0.05; /* of the weights: a longer side, or to stay as it was, is worth that much */

/* A range of ranks on its way to being split: where its plane lies along each axis. */
typedef struct Search {
  double from, to; /* where the cut is known to lie */
  int64_t below;   /* weight of coordinates < from */
  int64_t inside;  /* weight of [from, to) */
  double side;     /* of the weights' box */
} Search;

typedef struct Range {
  int low, mid, high;
  int64_t total[TL_WEIGHT_KINDS]; /* weight in the range */
  Search search[AXES];
} Range;

typedef struct Cutter {
  TlComm *comm;
  const TlWeight *weight;
  int64_t count;
  int32_t *where; /* range of weight i in this level, -1: settled */
  Range *range;
  int ranges;
  int32_t *range_of; /* by its lowest rank */
  bool again;        /* the domain was cut before */
  double *box;       /* 6 a range: least x, y, z, then minus the most */
  int64_t *columns;  /* AXES * BINS a range */
} Cutter;

static double along(TlVec3 p, int axis) {
  return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
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

static TlStatus measure(Cutter *c) {
  int64_t *total = c->columns;
  for (int k = 0; k < 6 * c->ranges; k++) c->box[k] = INFINITY;
  for (int k = 0; k < TL_WEIGHT_KINDS * c->ranges; k++) total[k] = 0;
  for (int64_t i = 0; i < c->count; i++) {
    if (c->where[i] < 0) continue;
    double *box = &c->box[6 * c->where[i]];
    for (int a = 0; a < AXES; a++) {
      double x = along(c->weight[i].at, a);
      box[a] = fmin(box[a], x);
      box[3 + a] = fmin(box[3 + a], -x);
    }
    total[TL_WEIGHT_KINDS * c->where[i] + (int)c->weight[i].kind] += c->weight[i].weight;
  }
  TL_TRY(tl_comm_least(c->comm, c->box, 6 * c->ranges));
  TL_TRY(tl_comm_sum_int(c->comm, total, TL_WEIGHT_KINDS * c->ranges));
  for (int k = 0; k < c->ranges; k++) {
    Range *r = &c->range[k];
    const double *box = &c->box[6 * k];
    bool empty = !(box[0] <= -box[3]);
    for (int q = 0; q < TL_WEIGHT_KINDS; q++) r->total[q] = total[TL_WEIGHT_KINDS * k + q];
    for (int a = 0; a < AXES; a++) {
      double from = empty ? 0 : box[a], to = empty ? 0 : -box[3 + a];
      r->search[a] = (Search){.from = from, .to = to, .side = to - from};
    }
  }
  return TL_OK;
}

static double bin_edge(const Search *s, int bin) {
  return s->from + (s->to - s->from) * ((double)bin / BINS);
}

/* The bin of x by its edges: rounding in a division could put x on the wrong side of one. */
static int bin_of(const Search *s, double x) {
  int bin = (int)((x - s->from) / (s->to - s->from) * BINS);
  bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
  while (bin > 0 && x < bin_edge(s, bin)) bin--;
  while (bin < BINS - 1 && x >= bin_edge(s, bin + 1)) bin++;
  return bin;
}

static TlStatus count_columns(Cutter *c, bool last_edge_in) {
  size_t columns = (size_t)(AXES * BINS * c->ranges);
  memset(c->columns, 0, columns * sizeof *c->columns);
  for (int64_t i = 0; i < c->count; i++)
    for (int a = 0; c->where[i] >= 0 && a < AXES; a++) {
      const Search *s = &c->range[c->where[i]].search[a];
      double x = along(c->weight[i].at, a);
      if (!(s->to > s->from) || x < s->from || x > s->to || (x == s->to && !last_edge_in)) continue;
      c->columns[BINS * (AXES * c->where[i] + a) + bin_of(s, x)] += c->weight[i].weight;
    }
  return tl_comm_sum_int(c->comm, c->columns, (int)columns);
}

/* Of the lower ranks. */
static double part_of(const Range *r) {
  return (double)(r->mid - r->low) / (r->high - r->low);
}

static double target_of(const Range *r) {
  double total = 0;
  for (int q = 0; q < TL_WEIGHT_KINDS; q++) total += (double)r->total[q];
  return total * part_of(r);
}

static void narrow(Search *s, double target, const int64_t *columns) {
  const Search before = *s;
  if (!(s->to > s->from)) return;
  int bin = 0;
  while (bin < BINS - 1 && (double)(s->below + columns[bin]) < target) s->below += columns[bin++];
  s->inside = columns[bin];
  s->from = bin_edge(&before, bin);
  s->to = bin_edge(&before, bin + 1);
}

/* Of the two edges of the last bin the one that comes nearer: bodies in a plane stay together. */
static double edge_of(const Search *s, double target) {
  bool low = fabs((double)s->below - target) < fabs((double)(s->below + s->inside) - target);
  return low ? s->from : s->to;
}

/* What both sides wait for if the range is cut there, over what it would be if all were shared evenly: of each
 * kind the side that has more for its number of ranks. */
static double waits(const Range *r, const int64_t *below) {
  double sum = 0, even = 0;
  for (int q = 0; q < TL_WEIGHT_KINDS; q++) {
    double low = (double)below[q] / part_of(r);
    double high = (double)(r->total[q] - below[q]) / (1 - part_of(r));
    sum += fmax(low, high);
    even += (double)r->total[q];
  }
  return even > 0 ? sum / even : 1;
}

static TlStatus settle(Cutter *c, TlDomain *domain) {
  int64_t *below = c->columns; /* [ranges][axes][kinds] */
  int counts = TL_WEIGHT_KINDS * AXES * c->ranges;
  memset(below, 0, (size_t)counts * sizeof *below);
  for (int64_t i = 0; i < c->count; i++) {
    if (c->where[i] < 0) continue;
    const Range *r = &c->range[c->where[i]];
    for (int a = 0; a < AXES; a++)
      if (along(c->weight[i].at, a) < edge_of(&r->search[a], target_of(r)))
        below[TL_WEIGHT_KINDS * (AXES * c->where[i] + a) + (int)c->weight[i].kind] +=
            c->weight[i].weight;
  }
  TL_TRY(tl_comm_sum_int(c->comm, below, counts));
  for (int k = 0; k < c->ranges; k++) {
    const Range *r = &c->range[k];
    double wait[AXES], least = INFINITY, longest = -1;
    int axis = 0;
    for (int a = 0; a < AXES; a++) {
      wait[a] = waits(r, &below[TL_WEIGHT_KINDS * (AXES * k + a)]);
      least = fmin(least, wait[a]);
    }
    for (int a = 0; a < AXES; a++) {
      if (wait[a] > least + ALIKE || r->search[a].side <= longest) continue;
      longest = r->search[a].side;
      axis = a;
    }
    int before = domain->cut[r->mid].axis;
    if (c->again && wait[before] <= least + ALIKE) axis = before;
    domain->cut[r->mid] = (TlCut){axis, edge_of(&r->search[axis], target_of(r))};
  }
  return TL_OK;
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
      if (along(c->weight[i].at, cut->axis) < cut->at)
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
  TL_TRY(measure(c));
  for (int round = 0; round < ROUNDS; round++) {
    TL_TRY(count_columns(c, round == 0));
    for (int k = 0; k < AXES * c->ranges; k++) {
      Range *r = &c->range[k / AXES];
      narrow(&r->search[k % AXES], target_of(r), &c->columns[BINS * k]);
    }
  }
  return settle(c, domain);
}

static TlStatus reserve(Cutter *c, size_t ranks) {
  TL_TRY(TL_NEW(c->where, (size_t)c->count));
  TL_TRY(TL_NEW(c->range, ranks));
  TL_TRY(TL_NEW(c->range_of, ranks));
  TL_TRY(TL_NEW(c->box, 6 * ranks));
  TL_TRY(TL_NEW(c->columns, AXES * BINS * ranks));
  return TL_OK;
}

TlStatus tl_domain_cut(TlDomain *domain, TlComm *comm, const TlWeight *weight, int64_t count) {
  Cutter c = {.comm = comm, .weight = weight, .count = count, .again = true};
  int ranks = tl_comm_size(comm);
  if (domain->ranks != ranks) {
    tl_domain_free(domain);
    TL_TRY(TL_NEW(domain->cut, (size_t)ranks));
    domain->ranks = ranks;
    c.again = false;
  }
  TlStatus status = tl_comm_agree(comm, reserve(&c, (size_t)ranks));
  for (int level = 0; status == TL_OK && (1 << level) < 2 * ranks; level++)
    status = cut_level(&c, domain, level);
  tl_free(c.where);
  tl_free(c.range);
  tl_free(c.range_of);
  tl_free(c.box);
  tl_free(c.columns);
  return status;
}
