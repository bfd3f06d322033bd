#include "run/boundary_forces.h"

#include "base/mem.h"
#include "num/exact.h"
#include "run/run.h"

#include <stdio.h>

void tl_boundary_force_add(TlBoundaryForce *to, const TlBoundaryForce *more) {
  to->force_N = tl_add(to->force_N, more->force_N);
  to->moment_N_m = tl_add(to->moment_N_m, more->moment_N_m);
  to->normal_N += more->normal_N;
  to->contacts += more->contacts;
}

enum { TERMS = 8 }; /* force, moment, normal force, contacts */

/* side: 1 when the sums are of the contact's body itself, -1 when they are of what it touches. */
static void add_contact(TlExact *sum, const TlContactRow *row, double side) {
  TlVec3 f = tl_scale(side, row->force_N);
  TlVec3 m = tl_cross(row->point_m, f);
  const double term[TERMS] = {f.x, f.y, f.z, m.x, m.y, m.z, side * tl_dot(f, row->normal), 1};
  for (int k = 0; k < TERMS; k++) tl_exact_add(&sum[k], term[k]);
}

TlStatus tl_boundary_forces(TlRun *run, int64_t body, TlBoundaryForce *force) {
  TlContactRow *row = NULL;
  TlExact *sum = NULL;
  int64_t count = 0;
  int all = run->model->boundary_count + 1;
  TlStatus status = TL_NEW(sum, (size_t)(TERMS * all));
  if (status == TL_OK)
    status = tl_step_contacts(run->model->dem, &run->state->dem, run->work, &row, &count);
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    const TlContactRow *r = &row[i];
    TlExact *on_body = sum + TERMS * run->model->boundary_count;
    if (r->second < 0) add_contact(sum + TERMS * (-1 - r->second), r, -1);
    if (body >= 0 && r->first == body) add_contact(on_body, r, 1);
    if (body >= 0 && r->second == body) add_contact(on_body, r, -1);
  }
  tl_free(row);
  status = tl_comm_agree(run->comm, status);
  if (status == TL_OK)
    status = tl_comm_sum_int(run->comm, (int64_t *)sum, TERMS * all * TL_EXACT_LIMBS);
  for (int k = 0; status == TL_OK && k < all; k++) {
    double v[TERMS];
    for (int t = 0; t < TERMS; t++) v[t] = tl_exact_value(&sum[TERMS * k + t]);
    force[k] = (TlBoundaryForce){.force_N = {v[0], v[1], v[2]},
                                 .moment_N_m = {v[3], v[4], v[5]},
                                 .normal_N = v[6],
                                 .contacts = (int64_t)v[7]};
  }
  tl_free(sum);
  return status;
}

/* ---- boundary.csv ---- */

typedef struct Row {
  const TlRun *run;
  const TlBoundaryForce *f;
  int64_t step;
  int boundary, part;
  char name[32];
} Row;

static const char *column_name(const void *row) {
  return ((const Row *)row)->name;
}

#define COLUMNS(C)                                                                                 \
  C(time_s, "s", "time", (double)row->step * row->run->model->setup.time.dt_s)                     \
  C(step, "", "number of the step", row->step)                                                     \
  C(boundary, "", "number of the boundary, from 0; a frame's contacts call it -1 - boundary",      \
    row->boundary)                                                                                 \
  C(part, "", "part of its wall, from 0: a container has one a face", row->part)                   \
  C(force_x_N, "N", "force of the grains on the boundary, x", row->f->force_N.x)                   \
  C(force_y_N, "N", "force of the grains on the boundary, y", row->f->force_N.y)                   \
  C(force_z_N, "N", "force of the grains on the boundary, z", row->f->force_N.z)                   \
  C(moment_x_N_m, "N m", "moment of that force about the origin, x", row->f->moment_N_m.x)         \
  C(moment_y_N_m, "N m", "moment of that force about the origin, y", row->f->moment_N_m.y)         \
  C(moment_z_N_m, "N m", "moment of that force about the origin, z", row->f->moment_N_m.z)         \
  C(normal_force_N, "N", "sum of the contacts' normal forces", row->f->normal_N)                   \
  C(contacts, "", "contact points that bear a force", row->f->contacts)

COLUMNS(TL_COLUMN_GET)
static const TlColumn columns[] = {
    COLUMNS(TL_COLUMN_ROW){"name", "",
                           "terrain, planes.N or walls.N: its place in the study; an "
                           "apparatus adds its own behind the study's",
                           NULL, column_name}};
const TlColumns tl_boundary_columns = {
    "a boundary at one moment, with the forces of the step that ends there", 1, columns,
    sizeof columns / sizeof *columns};

TlStatus tl_boundary_take(TlRun *run) {
  if (!run->boundary_force)
    TL_TRY(tl_comm_agree(run->comm,
                         TL_NEW(run->boundary_force, (size_t)run->model->boundary_count + 1)));
  return tl_boundary_forces(run, -1, run->boundary_force);
}

/* Terrain, planes, walls: the order of the run's boundaries. */
static void name_row(const TlRun *run, Row *row) {
  int planes = (int)run->model->setup.planes.count, i = row->boundary - run->model->has_terrain;
  row->part = 0;
  if (i < 0) {
    snprintf(row->name, sizeof row->name, "terrain");
  } else if (i < planes) {
    snprintf(row->name, sizeof row->name, "planes.%d", i);
  } else {
    const TlWallPart *part = &run->model->walls.part[i - planes];
    snprintf(row->name, sizeof row->name, "walls.%d", part->wall);
    for (int k = i - planes; k > 0 && part[-row->part - 1].wall == part->wall; k--) row->part++;
  }
}

TlStatus tl_boundary_write(TlRun *run, int64_t step) {
  if (run->options.no_output || !run->boundary_force) return TL_OK;
  for (int k = 0; k < run->model->boundary_count; k++) {
    Row row = {.run = run, .f = &run->boundary_force[k], .step = step, .boundary = k};
    name_row(run, &row);
    TL_TRY(tl_output_row(&run->output, TL_TABLE_BOUNDARY, &tl_boundary_columns, &row));
  }
  return TL_OK;
}
