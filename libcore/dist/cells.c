#include "dist/cells.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { AXES = 3 };
static const double WIDEST = 65536; /* so that places in a row are whole numbers below 2^53 */

void tl_cell_cuts_free(TlCellCuts *c) {
  tl_domain_free(&c->domain);
  *c = (TlCellCuts){.wide = 0};
}

/* On an axis that is not the first of a row: cells beyond the box stand with those at its side. */
static double within_box(const TlCellCuts *c, const TlSweepCell *cell, int axis) {
  double x = (double)(cell->at[axis] - c->low[axis]);
  return fmin(fmax(x, 0), c->wide - 1);
}

static double place_in_row(const TlCellCuts *c, const TlSweepCell *cell, int axis) {
  double x = (double)(cell->at[axis] - c->low[axis]);
  double y = within_box(c, cell, (axis + 1) % AXES), z = within_box(c, cell, (axis + 2) % AXES);
  return (x * c->wide + y) * c->wide + z;
}

static TlVec3 places(const TlCellCuts *c, const TlSweepCell *cell) {
  return tl_vec3(place_in_row(c, cell, 0), place_in_row(c, cell, 1), place_in_row(c, cell, 2));
}

int tl_cell_cuts_owner(const TlCellCuts *c, const TlSweepCell *cell) {
  return tl_domain_owner(&c->domain, places(c, cell));
}

void tl_cell_cuts_region(const TlCellCuts *c, int rank, double box[6]) {
  double plane = c->wide * c->wide;
  tl_domain_region(&c->domain, rank, box);
  for (int a = 0; a < AXES; a++) {
    box[a] = floor(box[a] / plane) + (double)c->low[a];
    box[AXES + a] = floor(box[AXES + a] / plane) + (double)c->low[a];
  }
}

static TlStatus measure(TlCellCuts *c, TlComm *comm, const TlSweepCell *pair, int64_t count) {
  double box[2 * AXES];
  for (int a = 0; a < 2 * AXES; a++) box[a] = INFINITY;
  for (int64_t i = 0; i < count; i++)
    for (int a = 0; a < AXES; a++) {
      box[a] = fmin(box[a], (double)pair[i].at[a]);
      box[AXES + a] = fmin(box[AXES + a], -(double)pair[i].at[a]);
    }
  TL_TRY(tl_comm_least(comm, box, 2 * AXES));
  c->wide = 1;
  for (int a = 0; a < AXES && isfinite(box[a]); a++) {
    c->low[a] = (int64_t)box[a];
    c->wide = fmin(fmax(c->wide, 1 - box[AXES + a] - box[a]), WIDEST);
  }
  return TL_OK;
}

/* The axes of the bodies' cuts, from which tl_domain_cut departs only where that pays. */
static TlStatus begin_with(TlDomain *d, const TlDomain *bodies) {
  size_t ranks = (size_t)bodies->ranks;
  tl_domain_free(d);
  TL_TRY(TL_NEW(d->cut, ranks));
  memcpy(d->cut, bodies->cut, ranks * sizeof *d->cut);
  d->ranks = bodies->ranks;
  return TL_OK;
}

TlStatus tl_cell_cuts_make(TlCellCuts *c, TlComm *comm, const TlDomain *bodies,
                           const TlSweepCell *pair, int64_t count) {
  TlWeight *weight = NULL;
  TlStatus status = TL_NEW(weight, (size_t)count);
  TL_TRY_GOTO(status, tl_comm_agree(comm, status), done);
  TL_TRY_GOTO(status, tl_comm_agree(comm, begin_with(&c->domain, bodies)), done);
  TL_TRY_GOTO(status, measure(c, comm, pair, count), done);
  for (int64_t i = 0; i < count; i++)
    weight[i] = (TlWeight){places(c, &pair[i]), 1, TL_WEIGHT_SOLVE};
  status = tl_domain_cut(&c->domain, comm, weight, count);
done:
  tl_free(weight);
  return status;
}
