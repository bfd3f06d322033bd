#include "run/ensemble.h"

#include "base/claims.h"
#include "base/mem.h"
#include "io/csv.h"
#include "run/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the folder ---- */

static char *table_path(const TlEnsemble *e) {
  return tl_path_join(e->run.folder, "blocks.csv");
}

/* An older table would stand beside frames of another ensemble. */
TlStatus tl_ensemble_begin_results(TlEnsemble *e) {
  const TlRunOptions *o = &e->run.options;
  char *path = table_path(e);
  TlStatus status = path ? TL_OK : TL_ENOMEM;
  bool there = path && tl_file_exists(path);
  if (there && o->resume)
    status = tl_fail(TL_EUSAGE,
                     "%s: is there, so the ensemble is finished; --overwrite runs it anew", path);
  else if (there && !o->overwrite)
    status = tl_fail(TL_EUSAGE, "%s: exists already; give --overwrite to replace it", path);
  else if (o->resume && !tl_ensemble_has_parts(e))
    status =
        tl_fail(TL_EUSAGE, "%s: holds no blocks of an ensemble that was stopped", e->run.folder);
  else if (!o->resume && !o->overwrite && tl_ensemble_has_parts(e))
    status =
        tl_fail(TL_EUSAGE,
                "%s: holds finished blocks of an ensemble that was stopped; --resume continues "
                "it, --overwrite starts anew",
                e->run.folder);
  if (status == TL_OK && there) status = tl_claim_replace(path);
  if (status == TL_OK && o->overwrite) status = tl_ensemble_drop_parts(e);
  e->run.options.overwrite |= o->resume;
  if (status == TL_OK) status = tl_run_begin_output(&e->run);
  if (status == TL_OK) status = tl_ensemble_make_parts(e);
  if (status == TL_OK && there && unlink(path) != 0) status = tl_fail_errno(path, "cannot remove");
  tl_free(path);
  return status;
}

/* ---- frames ---- */

/* Is it in no frame after it left? */
static bool removed(const TlEnsemble *e, const TlBlockRecord *r) {
  if (r->leaving == TL_LEFT_TERRAIN) return e->run.model->setup.outside == TL_OUTSIDE_REMOVE;
  return r->leaving != TL_STAYS;
}

/* Where block i is after so many steps; false: no more in the run. */
static bool pose_at(const TlEnsemble *e, int64_t i, int64_t step, TlBlockPose *pose) {
  const TlBlockRecord *r = &e->record[i];
  if (step < r->steps || step == 0) {
    *pose = e->pose[i][e->frame_steps > 0 ? step / e->frame_steps : 0];
    return true;
  }
  *pose = r->end;
  if (r->fate != TL_FATE_LEFT && r->fate != TL_FATE_UNRESOLVED) return true;
  pose->flags |= TL_BODY_FROZEN;
  pose->velocity = pose->momentum = tl_vec3(0, 0, 0);
  return !removed(e, r);
}

static TlStatus add(const TlEnsemble *e, int64_t i, const TlBlockPose *pose, TlBodies *bodies) {
  int64_t at = bodies->total;
  TL_TRY(tl_bodies_add_copy(bodies, &e->start, i));
  bodies->position[at] = pose->position;
  bodies->rotation[at] = pose->rotation;
  bodies->velocity[at] = pose->velocity;
  bodies->momentum[at] = pose->momentum;
  bodies->flags[at] = (int32_t)pose->flags;
  return tl_bodies_check(bodies, at);
}

/* A line of departures.csv: the block alone in a state takes its leave. */
static TlStatus depart(TlEnsemble *e, const TlBlockRecord *r) {
  TlRun *run = &e->run;
  TlRunState *all = run->state,
             gone = {.departed = all->departed, .start_centre = all->start_centre};
  unsigned char leaves = (unsigned char)r->leaving;
  run->state = &gone;
  tl_workspace_reset(run->work);
  TlStatus status = add(e, r->id, &r->end, &gone.dem.bodies);
  if (status == TL_OK) status = tl_run_refresh(run);
  if (status == TL_OK) status = tl_departures_take(run, &leaves, removed(e, r), r->steps);
  run->state = all;
  if (removed(e, r)) all->departed = gone.departed;
  if (r->leaving == TL_LEFT_TERRAIN) all->totals.outside++;
  tl_state_free(&gone.dem);
  return status;
}

/* All blocks as they are after so many steps. */
static TlStatus assemble(TlEnsemble *e, int64_t step) {
  TlRun *run = &e->run;
  TlBodies *b = &run->state->dem.bodies;
  TlBlockPose pose;
  tl_bodies_free(b);
  for (int64_t i = 0; i < e->count; i++)
    if (pose_at(e, i, step, &pose)) TL_TRY(add(e, i, &pose, b));
  TL_TRY(
      tl_nets_make(&run->model->nets, run->comm, b)); /* each release has its own: as they hang */
  run->state->totals.steps = step;
  tl_workspace_reset(run->work);
  return tl_run_refresh(run);
}

static TlStatus write_frame(TlEnsemble *e, int64_t step) {
  TlRun *run = &e->run;
  TL_TRY(assemble(e, step));
  if (step == 0) {
    TlMeasure m;
    TL_TRY(tl_history_measure(run, &m));
    run->state->start_centre = m.centre;
    run->state->totals.kinetic_start_J = m.kinetic;
    run->state->totals.potential_start_J = m.potential;
  }
  TL_TRY(tl_run_write_frame(run, step));
  return tl_history_write(run, step, 0);
}

static int by_leaving(const void *a, const void *b) {
  const TlBlockRecord *x = *(TlBlockRecord *const *)a, *y = *(TlBlockRecord *const *)b;
  if (x->steps != y->steps) return x->steps < y->steps ? -1 : 1;
  return (x->id > y->id) - (x->id < y->id);
}

static TlStatus write_frames(TlEnsemble *e) {
  const TlBlockRecord **gone;
  int64_t left = 0, next = 0, last = 0;
  TL_TRY(TL_NEW(gone, (size_t)e->count));
  for (int64_t i = 0; i < e->count; i++) {
    last = e->record[i].steps > last ? e->record[i].steps : last;
    if (e->record[i].leaving != TL_STAYS) gone[left++] = &e->record[i];
  }
  if (left > 0) qsort(gone, (size_t)left, sizeof *gone, by_leaving);
  int64_t every = e->frame_steps > 0 ? e->frame_steps : last;
  TlStatus status = TL_OK;
  for (int64_t step = 0; status == TL_OK;) {
    while (status == TL_OK && next < left && gone[next]->steps <= step)
      status = depart(e, gone[next++]);
    if (status == TL_OK) status = write_frame(e, step);
    if (step >= last) break;
    step = step + every < last ? step + every : last;
  }
  tl_free(gone);
  return status;
}

/* ---- cells.csv ---- */

static TlStatus write_cells(TlEnsemble *e, int64_t part) {
  TL_TRY(tl_ensemble_load_cells(e, part));
  for (int64_t r = tl_ensemble_part_first(e, part); r < tl_ensemble_part_end(e, part); r++)
    for (int64_t k = 0; e->cell[r] && k < tl_ensemble_cells(e, r); k++) {
      TlCellLine line = {e->run.model->terrain.origin, &e->run.cells.grid, e->cell[r][k]};
      TL_TRY(tl_output_line(&e->run.output, TL_TABLE_CELLS, &tl_cell_columns, &line));
    }
  tl_ensemble_free_cells(e, part);
  return TL_OK;
}

/* ---- blocks.csv ---- */

typedef TlBlockRow Row;

static double speed_of(TlVec3 v) {
  return tl_norm(v);
}

static TlVec3 crs_of(const Row *row, TlVec3 x) {
  const double *o = row->ensemble->run.model->terrain.origin;
  return tl_add(x, tl_vec3(o[0], o[1], o[2]));
}

static const TlBodySetup *body_of(const Row *row) {
  return (const TlBodySetup *)row->ensemble->run.model->setup.bodies.items + row->record->id;
}

static double seconds(const Row *row, int64_t steps) {
  return steps < 0 ? NAN : (double)steps * row->ensemble->run.model->setup.time.dt_s;
}

static double start_scale(const Row *row) {
  const TlBodies *b = &row->ensemble->start;
  int64_t i = row->record->id;
  return b->parts[i] > 0 ? NAN : b->colliders.scale[b->first[i]];
}

static double of_nets(const Row *row, double value) {
  return row->ensemble->run.model->nets.count > 0 ? value : NAN;
}

#define FIRST(C)                                                                                   \
  C(id, "",                                                                                        \
    "of the block's body: its number, from 0 on; where blocks have several parts, the parts "      \
    "before "                                                                                      \
    "it are counted",                                                                              \
    row->ensemble->start.id[row->record->id])
#define COLUMNS(C)                                                                                 \
  C(scale, "", "its size over that of the shape; empty: it has several parts", start_scale(row))   \
  C(volume_m3, "m3", "its volume", row->record->volume_m3)                                         \
  C(mass_kg, "kg", "its mass", row->record->mass_kg)                                               \
  C(start_east_m, "m", "mass centre at the release, in the terrain's CRS, east",                   \
    crs_of(row, row->record->start).x)                                                             \
  C(start_north_m, "m", "the same, north", crs_of(row, row->record->start).y)                      \
  C(start_height_m, "m", "the same, height", crs_of(row, row->record->start).z)                    \
  C(start_speed_m_s, "m/s", "speed of the mass centre at the release",                             \
    speed_of(row->ensemble->start.velocity[row->record->id]))                                      \
  C(end_east_m, "m", "mass centre where the block stopped, left, or was at the end, east",         \
    crs_of(row, row->record->end.position).x)                                                      \
  C(end_north_m, "m", "the same, north", crs_of(row, row->record->end.position).y)                 \
  C(end_height_m, "m", "the same, height", crs_of(row, row->record->end.position).z)               \
  C(time_s, "s", "time for which the block was followed", seconds(row, row->record->steps))        \
  C(stop_time_s, "s", "time from which on it was at rest; empty: it was not",                      \
    seconds(row, row->record->rests))                                                              \
  C(runout_m, "m", "distance in plan from start to end", tl_block_runout(row->record))             \
  C(drop_m, "m", "how much lower the end is than the start",                                       \
    row->record->start.z - row->record->end.position.z)                                            \
  C(largest_speed_m_s, "m/s", "of the mass centre, over all steps", row->record->speed_m_s)        \
  C(largest_energy_kJ, "kJ", "kinetic, of translation and rotation, over all steps",               \
    row->record->energy_J / 1000)                                                                  \
  C(largest_jump_height_m, "m", "of the mass centre above the ground, upright, over all steps",    \
    row->record->jump_m)                                                                           \
  C(on_filled, "",                                                                                 \
    "1: the ground under the end had no data in the raster and was filled in; 0: it had; empty: "  \
    "the catalog does not say which samples were filled",                                          \
    tl_ground_filled_number(tl_block_ends_on(row->ensemble, row->record)))                         \
  C(release, "",                                                                                   \
    "number of its release: those of one release started together and hit each other",             \
    row->record->id / row->ensemble->together)                                                     \
  C(net_bonds_broken, "", "bonds of its release's nets that broke; empty: the study has none",     \
    of_nets(row, (double)row->record->net_broken))                                                 \
  C(largest_net_energy_kJ, "kJ", "largest energy that the bonds of these nets held; likewise",     \
    of_nets(row, row->record->net_energy_J / 1000))                                                \
  C(release_overlap_share, "",                                                                     \
    "deepest overlap of two blocks of its release in any step, over the radius of the smaller; "   \
    "empty: it starts alone",                                                                      \
    row->ensemble->together > 1 ? row->record->trust.overlap_share : NAN)                          \
  C(release_depth_share, "",                                                                       \
    "how deep a block of its release lies in the ground or a wall at the end, over its radius",    \
    row->record->trust.depth_share)                                                                \
  C(release_inaccurate_share, "",                                                                  \
    "share of the steps of its release with a solve that ended far from its solution; empty: "     \
    "the method has no such solve",                                                                \
    row->record->trust.inaccurate_share)                                                           \
  C(release_made_up_energy_share, "",                                                              \
    "energy that contact damping gave in its release, over what was turned over; empty: the "      \
    "method has no energy balance",                                                                \
    row->record->trust.made_up_share)                                                              \
  C(release_balance_error_share, "", "energy missing from the balance of its release, likewise",   \
    row->record->trust.missing_share)

FIRST(TL_COLUMN_GET)
COLUMNS(TL_COLUMN_GET)

static const char *column_shape(const void *of) {
  static const char grain[] = "grain of the catalog";
  const TlBodySetup *body = body_of(of);
  return body->parts.count > 0 ? "several parts" : body->shape ? body->shape : grain;
}
static const char *column_end(const void *of) {
  return tl_fate_names[((const Row *)of)->record->fate];
}

static const TlColumn columns[] = {
    FIRST(TL_COLUMN_ROW){"shape", "", "its shape, by the name in the study; several parts", NULL,
                         column_shape},
    {"end", "",
     "stopped; moving when time was over; left the terrain; not started: at rest within its "
     "diameter of the start, in plan; unresolved: frozen or taken out, as the study's section "
     "unresolved says",
     NULL, column_end},
    COLUMNS(TL_COLUMN_ROW)};
const TlColumns tl_block_columns = {"a block of an ensemble", 1, columns,
                                    sizeof columns / sizeof *columns};

static bool put_row(const TlBlockRow *row, FILE *to) {
  const TlSetup *setup = &row->ensemble->run.model->setup;
  char text[40];
  bool whole = true;
  for (int c = 0; whole && c < tl_block_columns.count; c++) {
    const TlColumn *column = &tl_block_columns.column[c];
    if (!column->text) tl_csv_real(text, column->get(row));
    whole = c == 0 || fputc(',', to) != EOF;
    whole =
        whole && (column->text ? tl_csv_put_text(to, column->text(row)) : fputs(text, to) != EOF);
  }
  for (int64_t r = 0; whole && r < setup->ensemble.ranges.count; r++) {
    tl_csv_real(text,
                tl_ensemble_value(setup, r, row->record->id / setup->ensemble.blocks_together));
    whole = fputc(',', to) != EOF && fputs(text, to) != EOF;
  }
  return whole && fputc('\n', to) != EOF;
}

/* The columns of every ensemble, then one for each of its ranges, by the range's key. */
static char *header_of(const TlEnsemble *e) {
  const TlStudyList *ranges = &e->run.model->setup.ensemble.ranges;
  char *header = tl_columns_header(&tl_block_columns);
  for (int64_t r = 0; header && r < ranges->count; r++) {
    char *longer = tl_format("%s,%s", header, ((const TlRangeSetup *)ranges->items)[r].key);
    tl_free(header);
    header = longer;
  }
  return header;
}

static TlStatus write_table(const TlEnsemble *e) {
  TlCsv csv;
  char *path = table_path(e), *header = header_of(e);
  TlStatus status = path && header ? TL_OK : TL_ENOMEM;
  if (status == TL_OK) status = tl_csv_begin(&csv, path, e->run.options.overwrite, header);
  if (status == TL_OK) {
    for (int64_t i = 0; status == TL_OK && i < e->count; i++)
      if (!put_row(&(TlBlockRow){.ensemble = e, .record = &e->record[i]}, csv.file))
        status = tl_fail_errno(path, "cannot write");
    if (status == TL_OK)
      status = tl_csv_commit(&csv);
    else
      tl_csv_abort(&csv);
  }
  tl_free(path);
  tl_free(header);
  return status;
}

TlStatus tl_ensemble_write(TlEnsemble *e) {
  TL_TRY(write_frames(e));
  for (int64_t part = 0; e->run.cells.wanted && part < tl_ensemble_parts(e); part++)
    TL_TRY(write_cells(e, part));
  TL_TRY(tl_output_sync(&e->run.output));
  tl_output_view(&e->run.output, e->run.folder);
  return write_table(e);
}
