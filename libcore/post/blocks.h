/* The blocks of one run, or of several over the same terrain, with where they were in each frame.
 *
 * A block is a body: a grain, or several parts that move as one (mass centre, mass and energy are of
 * all of them). Nets, pistons, and bodies that never move (frozen in the first frame they are in) are
 * no blocks. A block that was taken out has one moment more than frames, at the place where it left
 * (departures.csv), with the values it had in its last frame.
 *
 * Runs of one raster count together also when each has its own roughness below the cells.
 */
#ifndef TL_POST_BLOCKS_H
#define TL_POST_BLOCKS_H

#include "base/status.h"
#include "num/vec.h"
#include "shape/fate.h"
#include "shape/terrain.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlBlockMoment {
  double time_s;
  TlVec3 place_m; /* of the mass centre, in the terrain's local coordinates */
  double speed_m_s, translational_kJ, rotational_kJ;
  bool moves; /* shape/moving.h */
} TlBlockMoment;

/* A block in a cell of the terrain's raster: the largest values there, and when and where its mass
 * centre was in it first since the frame before. */
typedef enum TlCellValue {
  TL_CELL_SPEED = 0,     /* m/s */
  TL_CELL_ENERGY,        /* kJ */
  TL_CELL_TRANSLATIONAL, /* kJ */
  TL_CELL_ROTATIONAL,    /* kJ */
  TL_CELL_JUMP,          /* m */
  TL_CELL_VALUES
} TlCellValue;
typedef struct TlBlockCell {
  int64_t cell, block; /* its number in the grid; place among the blocks */
  double value[TL_CELL_VALUES];
  double time_s; /* NaN: the file does not say it (of a run of an older version) */
  TlVec3 place_m;
} TlBlockCell;

typedef struct TlBlock {
  int64_t run, id; /* place among the runs; of the body */
  int64_t release; /* its number in the run; each block counts as one but in ensembles whose blocks
                           start together */
  int64_t first, count; /* of its moments */
  double mass_kg, volume_m3;
  double radius_m; /* of a sphere about the mass centre that holds it */
  TlFate end;      /* by the last frame it is in, and departures.csv */
  bool frozen;     /* in that frame */
  int64_t last;    /* place of its last moment while the frames are read */
} TlBlock;

typedef struct TlBlocks {
  TlTerrain terrain; /* owned */
  int64_t count;
  TlBlock *block;           /* by run, then id */
  TlBlockMoment *moment;    /* block by block, by time */
  int64_t releases;         /* of all runs */
  double releases_per_year; /* as the studies say (release.releases_per_year, or of single blocks
                               blocks_per_year); 0: they do not, or differ */
  double gravity_m_s2;      /* of the first run */
  int64_t runs;
  int64_t
      *run_end; /* [runs] behind the run's blocks, which begin where those of the run before end */
  bool *every_step; /* [runs] the run has cells.csv (run/cells.h), which holds every step */
} TlBlocks;

/* TL_EINPUT: no terrain, terrains that differ, no frames. */
TlStatus tl_blocks_read(const char *const *runs, int64_t count, TlBlocks *blocks);
void tl_blocks_free(TlBlocks *blocks);
/* Rows of the cells.csv of those runs that have one, in no order: a block may have several of a
 * cell. Fresh memory. TL_EINPUT names file and line. */
TlStatus tl_blocks_read_cells(const TlBlocks *blocks, const char *const *runs, TlBlockCell **cell,
                              int64_t *count);

/* The paths of the blocks cell by cell: the moments of the frames and, where the rows of cells.csv say
 * them, those at which a block came into a cell, by time; speed and energies of these are linear
 * between the frames. */
typedef struct TlBlockPaths {
  int64_t *first; /* [blocks + 1] */
  TlBlockMoment *moment;
} TlBlockPaths;
TlStatus tl_blocks_paths(const TlBlocks *blocks, const TlBlockCell *cell, int64_t count,
                         TlBlockPaths *paths);
void tl_block_paths_free(TlBlockPaths *paths);

/* The part t of the way from a to b, 0 to 1: place, speed and energies are linear. */
TlBlockMoment tl_block_between(const TlBlockMoment *a, const TlBlockMoment *b, double t);
/* How many blocks have the number, size and path (as far as both go) of a block of a run before theirs:
 * they are the same draws and count twice. *other: the first run with such; unchanged where there is none. */
int64_t tl_blocks_twice(const TlBlocks *blocks, int64_t *other);
/* Are they of one release? Those of one stand behind each other among the blocks. */
bool tl_blocks_together(const TlBlock *one, const TlBlock *other);
/* Whether the ground under its last place was filled in (shape/terrain.h); of one that left: measured. */
TlGroundFilled tl_block_on_filled(const TlBlocks *blocks, const TlBlock *block);
/* How many stopped on filled ground, those that never started among them; NaN: not known. */
double tl_blocks_stopped_on_filled(const TlBlocks *blocks);
/* Height of the mass centre above the ground, upright, not below 0; 0 off the raster. */
double tl_block_jump(const TlBlocks *blocks, TlVec3 place_m);

#endif
