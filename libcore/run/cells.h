/* cells.csv: what each block does in each cell of the terrain's raster, from every step.
 *
 * After each step a body that moves (shape/moving.h) and whose mass centre is in a cell gives that
 * cell its speed, energies and height above the ground; of each body and cell the largest values are
 * kept, and when and where it was there first. They are written, sorted by body and cell, with each frame and at the end, so that memory
 * holds what happened since the last frame; a body that stays in a cell over several frames has a
 * row of each. Maps (post/maps.h) take the largest of them.
 *
 * A maximum does not depend on the order in which its values come: the file has the same bytes for
 * any ranks, threads, and after a resume (what was not written yet is in the checkpoint).
 */
#ifndef TL_RUN_CELLS_H
#define TL_RUN_CELLS_H

#include "io/columns.h"
#include "model/record.h"
#include "num/vec.h"
#include "shape/terrain.h"

#include <stddef.h>

struct TlRun;

/* Motion of a body at one moment. */
typedef struct TlBodyMotion {
  double speed_m_s, translational_J, rotational_J;
  double jump_m; /* of the mass centre above the ground, upright; 0 where there is no ground */
} TlBodyMotion;
TlBodyMotion tl_body_motion(const struct TlRun *run, int64_t body);

/* The largest values of a body in a cell. */
#define TL_CELL_ROW_FIELDS(F)                                                                      \
  F(int64_t, id, "", TL_SAVE, "of the body")                                                       \
  F(int64_t, cell, "", TL_SAVE, "number in the raster (shape/terrain.h)")                          \
  F(int64_t, rank, "", TL_SAVE, "that saw it: a body that went to another rank has rows of both")  \
  F(double, speed_m_s, "m/s", TL_SAVE, "")                                                         \
  F(double, translational_J, "J", TL_SAVE, "")                                                     \
  F(double, rotational_J, "J", TL_SAVE, "")                                                        \
  F(double, energy_J, "J", TL_SAVE, "of both")                                                     \
  F(double, jump_m, "m", TL_SAVE, "of the mass centre above the ground")                           \
  F(double, time_s, "s", TL_SAVE, "after the first step in the cell")                              \
  F(double, x_m, "m", TL_SAVE, "of the mass centre then")                                          \
  F(double, y_m, "m", TL_SAVE, "")                                                                 \
  F(double, z_m, "m", TL_SAVE, "")

#define F(type, name, ...) type name;
typedef struct TlCellRow {
  TL_CELL_ROW_FIELDS(F)
} TlCellRow;
#undef F
extern const TlRecord tl_cell_row_record; /* of a TlCellRow */
/* These rows in order, as sections of checkpoints and messages hold them. */
TlRows tl_cell_rows(const TlCellRow *row, int64_t count);

typedef struct TlCells {
  bool wanted;
  double gravity_m_s2;
  TlTerrainGrid grid;
  TlCellRow *slot; /* [slots], a hash table by body and cell; cell < 0: free. Owned */
  int64_t slots, count;
} TlCells;

/* A line of the table. */
typedef struct TlCellLine {
  const double *origin; /* of the terrain */
  const TlTerrainGrid *grid;
  TlCellRow row;
} TlCellLine;
extern const TlColumns tl_cell_columns;

/* Of an opened run, if it has a terrain and its study wants them (terrain.cells): else nothing is
 * kept, and nothing written. */
void tl_cells_open(struct TlRun *run);
/* A row into those that are kept; the larger values stay, and the place of the earlier time. */
TlStatus tl_cells_add(TlCells *cells, const TlCellRow *row);
/* What is kept, sorted by its keys, fresh memory. */
TlStatus tl_cells_sorted(const TlCells *cells, TlCellRow **row);
void tl_cells_clear(TlCells *cells);
void tl_cells_free(TlCells *cells);

/* The owned bodies of the run after this step, or before the first (0: also those that rest). Each
 * rank for itself. */
TlStatus tl_cells_take(struct TlRun *run, int64_t step);
/* Collective. Lines of what is kept, which is forgotten unless keep says that a run that resumes
 * from here is to write it again. */
TlStatus tl_cells_write(struct TlRun *run, bool keep);

#endif
