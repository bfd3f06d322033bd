#include "run/cells.h"

#include "base/mem.h"
#include "run/lines.h"
#include "run/run.h"
#include "shape/moving.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

typedef TlCellLine Row;

/* Seven digits are what a map of 32 bits holds. */
static double short_of(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.7g", value);
  return strtod(text, NULL);
}

static double middle(const Row *row, int axis) {
  const TlTerrainGrid *g = row->grid;
  int64_t k = axis == 0 ? row->row.cell % g->nx : row->row.cell / g->nx;
  return row->origin[axis] + (axis == 0 ? g->x0_m : g->y0_m) + g->cell_m * (double)k;
}

#define COLUMNS(C)                                                                                 \
  C(id, "", "the block: the body of this id", row->row.id)                                         \
  C(east_m, "m", "middle of the cell in the terrain's CRS, east", middle(row, 0))                  \
  C(north_m, "m", "the same, north", middle(row, 1))                                               \
  C(speed_m_s, "m/s", "largest speed of the mass centre in the cell, over all steps",              \
    short_of(row->row.speed_m_s))                                                                  \
  C(energy_kJ, "kJ", "largest kinetic energy there", short_of(row->row.energy_J / 1000))           \
  C(translational_kJ, "kJ", "largest energy of translation there",                                 \
    short_of(row->row.translational_J / 1000))                                                     \
  C(rotational_kJ, "kJ", "largest energy of rotation there",                                       \
    short_of(row->row.rotational_J / 1000))                                                        \
  C(jump_height_m, "m", "largest height of the mass centre above the ground there, upright",       \
    short_of(row->row.jump_m))                                                                     \
  C(first_time_s, "s",                                                                             \
    "when it was in the cell first since the frame before (of an ensemble: "                       \
    "since its release)",                                                                          \
    row->row.time_s)                                                                               \
  C(first_east_m, "m", "where its mass centre was then, in the terrain's CRS, east",               \
    row->row.x_m + row->origin[0])                                                                 \
  C(first_north_m, "m", "the same, north", row->row.y_m + row->origin[1])                          \
  C(first_height_m, "m", "the same, height", row->row.z_m + row->origin[2])

COLUMNS(TL_COLUMN_GET)
static const TlColumn columns[] = {COLUMNS(TL_COLUMN_ROW)};
const TlColumns tl_cell_columns = {
    "a block in a cell of the terrain's raster, since the frame before", 1, columns,
    sizeof columns / sizeof *columns};

/* ---- what is kept ---- */

void tl_cells_open(TlRun *run) {
  const TlSetup *setup = &run->model->setup;
  run->cells = (TlCells){.wanted = run->model->has_terrain && setup->terrain.cells};
  if (!run->cells.wanted) return;
  run->cells.gravity_m_s2 = tl_norm(tl_setup_solver(setup).gravity_m_s2);
  run->cells.grid = tl_terrain_grid(&run->model->terrain);
}

void tl_cells_free(TlCells *c) {
  tl_free(c->slot);
  *c = (TlCells){0};
}

void tl_cells_clear(TlCells *c) {
  for (int64_t i = 0; i < c->slots; i++) c->slot[i].cell = -1;
  c->count = 0;
}

/* Where the row of this body and cell stands, or the free slot where it belongs. */
static TlCellRow *slot_of(const TlCells *c, int64_t id, int64_t cell) {
  uint64_t hash =
      ((uint64_t)id * 0x9e3779b97f4a7c15u ^ (uint64_t)cell) * UINT64_C(0xd6e8feb86659fd93);
  for (int64_t i = (int64_t)(hash >> 32) & (c->slots - 1);; i = (i + 1) & (c->slots - 1)) {
    TlCellRow *s = &c->slot[i];
    if (s->cell < 0 || (s->id == id && s->cell == cell)) return s;
  }
}

/* At most half of the slots are taken. */
static TlStatus reserve(TlCells *c) {
  enum { FIRST = 64 };
  TlCells wide = {.slots = c->slots > 0 ? 2 * c->slots : FIRST};
  if (2 * (c->count + 1) <= c->slots) return TL_OK;
  TL_TRY(TL_NEW(wide.slot, (size_t)wide.slots));
  tl_cells_clear(&wide);
  for (int64_t i = 0; i < c->slots; i++)
    if (c->slot[i].cell >= 0) *slot_of(&wide, c->slot[i].id, c->slot[i].cell) = c->slot[i];
  tl_free(c->slot);
  c->slot = wide.slot;
  c->slots = wide.slots;
  return TL_OK;
}

static void raise(TlCellRow *to, const TlCellRow *by) {
  to->speed_m_s = fmax(to->speed_m_s, by->speed_m_s);
  to->translational_J = fmax(to->translational_J, by->translational_J);
  to->rotational_J = fmax(to->rotational_J, by->rotational_J);
  to->energy_J = fmax(to->energy_J, by->energy_J);
  to->jump_m = fmax(to->jump_m, by->jump_m);
  if (by->time_s >= to->time_s) return;
  to->time_s = by->time_s;
  to->x_m = by->x_m;
  to->y_m = by->y_m;
  to->z_m = by->z_m;
}

TlStatus tl_cells_add(TlCells *c, const TlCellRow *row) {
  TL_TRY(reserve(c));
  TlCellRow *s = slot_of(c, row->id, row->cell);
  if (s->cell >= 0) {
    raise(s, row);
    return TL_OK;
  }
  *s = *row;
  c->count++;
  return TL_OK;
}

static int by_keys(const void *one, const void *two) {
  const TlCellRow *a = one, *b = two;
  if (a->id != b->id) return a->id < b->id ? -1 : 1;
  return (a->cell > b->cell) - (a->cell < b->cell);
}

TlStatus tl_cells_sorted(const TlCells *c, TlCellRow **row) {
  int64_t n = 0;
  TL_TRY(TL_NEW(*row, (size_t)c->count));
  for (int64_t i = 0; i < c->slots; i++)
    if (c->slot[i].cell >= 0) (*row)[n++] = c->slot[i];
  if (n > 0) qsort(*row, (size_t)n, sizeof **row, by_keys);
  return TL_OK;
}

/* ---- steps ---- */

TlBodyMotion tl_body_motion(const TlRun *run, int64_t i) {
  const TlBodies *b = &run->state->dem.bodies;
  TlVec3 x = b->position[i];
  double v2 = tl_norm2(b->velocity[i]), ground;
  TlBodyMotion m = {.speed_m_s = sqrt(v2),
                    .translational_J = 0.5 * b->mass[i] * v2,
                    .rotational_J = 0.5 * tl_dot(b->momentum[i], tl_bodies_spin(b, i))};
  if (tl_terrain_height(&run->model->terrain, x.x, x.y, &ground, NULL))
    m.jump_m = fmax(0, x.z - ground);
  return m;
}

TlStatus tl_cells_take(TlRun *run, int64_t step) {
  TlCells *c = &run->cells;
  const TlBodies *b = &run->state->dem.bodies;
  if (!c->wanted) return TL_OK;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED)) continue;
    TlVec3 x = b->position[i];
    int64_t cell = tl_terrain_grid_at(&c->grid, x.x, x.y);
    if (cell < 0) continue;
    double diameter = cbrt(6 * tl_run_volume(run, i) / M_PI);
    double pace = tl_pace(b->velocity[i], tl_bodies_spin(b, i), diameter, c->gravity_m_s2);
    if (step > 0 && !(pace > tl_moving_pace)) continue;
    TlBodyMotion m = tl_body_motion(run, i);
    TlCellRow row = {.id = b->id[i] + run->first_id,
                     .cell = cell,
                     .rank = tl_comm_rank(run->comm),
                     .speed_m_s = m.speed_m_s,
                     .translational_J = m.translational_J,
                     .rotational_J = m.rotational_J,
                     .energy_J = m.translational_J + m.rotational_J,
                     .jump_m = m.jump_m,
                     .time_s = (double)step * run->model->setup.time.dt_s,
                     .x_m = x.x,
                     .y_m = x.y,
                     .z_m = x.z};
    TL_TRY(tl_cells_add(c, &row));
  }
  return TL_OK;
}

/* ---- packed ---- */

#define F(...) TL_FIELD(TlCellRow, __VA_ARGS__)
static const TlRecordField row_fields[] = {TL_CELL_ROW_FIELDS(F)};
#undef F
const TlRecord tl_cell_row_record =
    TL_RECORD("cell", "The largest values of a body in a cell.", TlCellRow, row_fields);

static void pack(const void *of, int64_t first, int64_t count, unsigned char *to) {
  for (int64_t i = first; i < first + count; i++)
    to = tl_record_pack(&tl_cell_row_record, TL_SAVE, of, i, to);
}

TlRows tl_cell_rows(const TlCellRow *row, int64_t count) {
  return (TlRows){.record = &tl_cell_row_record,
                  .attributes = TL_SAVE,
                  .keys = 3,
                  .count = count,
                  .pack = pack,
                  .of = row};
}

/* ---- lines ---- */

typedef struct Writing {
  const TlRun *run;
  TlLines lines;
  TlCellRow held; /* not written yet, for the next may be of the same body and cell */
  bool holds;
} Writing;

static TlStatus put_held(Writing *w) {
  TlCellLine line = {w->run->model->terrain.origin, &w->run->cells.grid, w->held};
  return w->holds ? tl_lines_put(&w->lines, &line) : TL_OK;
}

static TlStatus take(void *context, const unsigned char *records, int64_t count) {
  Writing *w = context;
  for (int64_t i = 0; i < count; i++) {
    TlCellRow row;
    records = tl_record_unpack(&tl_cell_row_record, TL_SAVE, &row, 0, records);
    if (w->holds && w->held.id == row.id && w->held.cell == row.cell) {
      raise(&w->held, &row);
      continue;
    }
    TL_TRY(put_held(w));
    w->held = row;
    w->holds = true;
  }
  return count == 0 ? put_held(w) : TL_OK;
}

TlStatus tl_cells_write(TlRun *run, bool keep) {
  TlCells *c = &run->cells;
  TlCellRow *row = NULL;
  if (!c->wanted) return TL_OK;
  TlStatus status = tl_comm_agree(run->comm, tl_cells_sorted(c, &row));
  Writing w = {.run = run, .lines = {run->comm, &run->output, TL_TABLE_CELLS, &tl_cell_columns}};
  TlRows rows = tl_cell_rows(row, c->count);
  rows.keys = 2; /* of a body in a cell, whichever rank saw it */
  if (status == TL_OK) status = tl_lines_write(&w.lines, &rows, take, &w);
  tl_free(row);
  if (status == TL_OK && !keep) tl_cells_clear(c);
  return status;
}
