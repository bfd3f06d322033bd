#include "run/constraint_forces.h"

#include "base/mem.h"
#include "run/lines.h"
#include "run/run.h"

#include <string.h>

/* A line on its way to the rank that writes it. */
typedef struct Record {
  int64_t key[4]; /* kind, low, high, number */
  TlVec3 point, force, moment;
} Record;

typedef struct Row {
  const TlRun *run;
  int64_t step;
  Record r;
} Row;

static const char *column_kind(const void *row) {
  return tl_pair_kind_name[((const Row *)row)->r.key[0]];
}

#define COLUMNS(C)                                                                                 \
  C(time_s, "s", "time", (double)row->step * row->run->model->setup.time.dt_s)                     \
  C(step, "", "number of the step", row->step)                                                     \
  C(number, "", "id of the constraint, unique among those of its kind; an apparatus' piston is 0", \
    row->r.key[3])                                                                                 \
  C(low_id, "", "id of the body that the force acts on: the lower of the two", row->r.key[1])      \
  C(high_id, "", "id of the other body, which gets the opposite; -1: the world", row->r.key[2])    \
  C(point_x_m, "m", "where the low body's anchor was (of a bond: its centre), x", row->r.point.x)  \
  C(point_y_m, "m", "the same, y", row->r.point.y)                                                 \
  C(point_z_m, "m", "the same, z", row->r.point.z)                                                 \
  C(force_x_N, "N", "force of the constraint, with its drive or load, on the low body, x",         \
    row->r.force.x)                                                                                \
  C(force_y_N, "N", "the same, y", row->r.force.y)                                                 \
  C(force_z_N, "N", "the same, z", row->r.force.z)                                                 \
  C(moment_x_N_m, "N m", "moment on the low body about that point, x", row->r.moment.x)            \
  C(moment_y_N_m, "N m", "the same, y", row->r.moment.y)                                           \
  C(moment_z_N_m, "N m", "the same, z", row->r.moment.z)

COLUMNS(TL_COLUMN_GET)
static const TlColumn columns[] = {COLUMNS(TL_COLUMN_ROW){
    "kind", "", "kind of the constraint, such as slider or bond", NULL, column_kind}};
const TlColumns tl_constraint_columns = {
    "a constraint at one moment, with force and moment of the step that ends there", 1, columns,
    sizeof columns / sizeof *columns};

TlStatus tl_constraint_begin(TlRun *run) {
  const TlPairRows *of = run->state->dem.bodies.pairs.of;
  int asks = run->model->setup.time.constraint_forces;
  int64_t count = 0;
  run->constraints.wanted = run->constraints.bonds = false;
  if (asks == TL_FORCES_NONE || run->options.no_output) return TL_OK;
  for (int kind = TL_FIRST_CONSTRAINT; kind < TL_PAIR_KINDS; kind++)
    if (kind != TL_BONDS && kind != TL_MERGES) count += (int64_t)of[kind].count;
  TL_TRY(tl_comm_sum_int(run->comm, &count, 1));
  run->constraints.bonds = asks == TL_FORCES_ALL && run->model->nets.count > 0; /* or were there */
  run->constraints.wanted = count > 0 || run->constraints.bonds;
  tl_workspace_keep_bonds(run->work, run->constraints.bonds);
  return TL_OK;
}

TlStatus tl_constraint_take(TlRun *run) {
  TlConstraintTable *t = &run->constraints;
  TL_FREE(t->row);
  t->count = 0;
  return tl_step_constraints(run->work, &t->row, &t->count);
}

static void pack(const void *of, int64_t first, int64_t count, unsigned char *to) {
  const TlConstraintRow *row = of;
  for (int64_t i = first; i < first + count; i++, to += sizeof(Record)) {
    const TlConstraintRow *c = &row[i];
    const Record r = {{(int64_t)c->kind, c->key.low, c->key.high, c->key.number},
                      c->point_m,
                      c->force_N,
                      c->moment_N_m};
    memcpy(to, &r, sizeof r);
  }
}

typedef struct Writing {
  Row row;
  TlLines lines;
} Writing;

static TlStatus take(void *context, const unsigned char *records, int64_t count) {
  Writing *w = context;
  for (int64_t i = 0; i < count; i++) {
    memcpy(&w->row.r, records + (size_t)i * sizeof w->row.r, sizeof w->row.r);
    TL_TRY(tl_lines_put(&w->lines, &w->row));
  }
  return TL_OK;
}

TlStatus tl_constraint_write(TlRun *run) {
  const TlConstraintTable *t = &run->constraints;
  Writing w = {.row = {.run = run, .step = run->state->totals.steps},
               .lines = {run->comm, &run->output, TL_TABLE_CONSTRAINT, &tl_constraint_columns}};
  const TlRows rows = tl_line_rows(sizeof(Record), 4, t->count, pack, t->row);
  return t->wanted ? tl_lines_write(&w.lines, &rows, take, &w) : TL_OK;
}
