/* An ensemble: releases, each alone on the study's terrain, which is how rockfall is judged. A release
 * is one block, or several that start together and hit each other (ensemble.blocks_together). The
 * section ensemble says how many and what varies (run/setup_ensemble.h).
 *
 * Each block is a row of the list of bodies, drawn from the seed, the number of the block and that of
 * its release alone (ensemble_draw.c), so a single run of the rows of a release is the same release
 * (tl_ensemble_alone). Model, terrain and shapes are shared; each release has a state of its own, in
 * which its bodies have the ids of its run alone, and each thread a workspace. A release runs until
 * all its blocks rest (run/standstill.h) or have left the terrain, or the study's time is over. The
 * results are those of a run (docs/reference/results.md) in which block i is body i (of several parts:
 * the bodies follow each other as the blocks do): a frame holds all blocks at the same time after
 * their own release; those that stopped stay, those that left are in departures.csv. blocks.csv has a
 * line a block, with maxima over all steps.
 *
 * Finished releases are saved in parts, in the folder OUT/blocks, from which tl_ensemble_go takes them
 * when it resumes; they go when the results are whole.
 *
 * Nothing depends, in any bit, on the number of threads or ranks, nor on how often the ensemble was
 * stopped.
 */
#ifndef TL_RUN_ENSEMBLE_H
#define TL_RUN_ENSEMBLE_H

#include "base/report.h"
#include "run/run.h"
#include "shape/fate.h"

/* Fields of the structs below, and of the records of parts on the disk: F(type, name, unit,
 * attributes, meaning). */
#define TL_BLOCK_POSE_FIELDS(F)                                                                    \
  F(TlVec3, position, "m", TL_SAVE, "")                                                            \
  F(TlQuat, rotation, "", TL_SAVE, "")                                                             \
  F(TlVec3, velocity, "m/s", TL_SAVE, "")                                                          \
  F(TlVec3, momentum, "kg m2/s", TL_SAVE, "angular")                                               \
  F(int64_t, flags, "", TL_SAVE, "of the body")
#define TL_RELEASE_TRUST_FIELDS(F)                                                                 \
  F(double, travel, "", TL_SAVE, "largest displacement in a step over the radius")                 \
  F(double, overlap_share, "", TL_SAVE,                                                            \
    "deepest overlap of two blocks in any step, over the smaller's radius")                        \
  F(double, depth_share, "", TL_SAVE,                                                              \
    "deepest block in what holds it at the end, over its radius")                                  \
  F(int64_t, deep, "", TL_SAVE, "blocks then deeper than tl_deep_fraction")                        \
  F(double, inaccurate_share, "", TL_SAVE,                                                         \
    "of its steps: a solve ended far from its solution; NaN: no such method")                      \
  F(double, made_up_share, "", TL_SAVE, "energy; NaN: the method has no energy balance")           \
  F(double, missing_share, "", TL_SAVE, "likewise")
#define TL_BLOCK_RECORD_FIELDS(F)                                                                  \
  F(int64_t, id, "", TL_SAVE, "number of the block")                                               \
  F(int64_t, fate, "", TL_SAVE, "TlFate")                                                          \
  F(int64_t, leaving, "", TL_SAVE,                                                                 \
    "TlLeaving; one that stays frozen where it left the terrain has left")                         \
  F(int64_t, steps, "", TL_SAVE, "after which its release ended, or after which it left")          \
  F(int64_t, rests, "", TL_SAVE, "step from which on it was at rest; -1: it was not")              \
  F(int64_t, moments, "", TL_SAVE, "poses at frames, from step 0 on, while it ran")                \
  F(int64_t, cells, "", TL_SAVE, "of the terrain's raster in which it was (run/cells.h)")          \
  F(double, volume_m3, "m3", TL_SAVE, "")                                                          \
  F(double, mass_kg, "kg", TL_SAVE, "")                                                            \
  F(double, speed_m_s, "m/s", TL_SAVE, "largest, over all steps, as the next two")                 \
  F(double, energy_J, "J", TL_SAVE, "")                                                            \
  F(double, jump_m, "m", TL_SAVE, "of the mass centre above the ground, upright")                  \
  F(int64_t, net_broken, "", TL_SAVE, "bonds of the nets of its release that broke")               \
  F(double, net_energy_J, "J", TL_SAVE, "largest energy that their bonds held")                    \
  F(TlVec3, start, "m", TL_SAVE, "")

#define F(type, name, ...) type name;
/* Pose and motion of a block at one moment. */
typedef struct TlBlockPose {
  TL_BLOCK_POSE_FIELDS(F)
} TlBlockPose;

/* Whether a release is to be trusted (store/trust.h). */
typedef struct TlReleaseTrust {
  TL_RELEASE_TRUST_FIELDS(F)
} TlReleaseTrust;

/* What became of a block. */
typedef struct TlBlockRecord {
  TL_BLOCK_RECORD_FIELDS(F)
  TlReleaseTrust trust; /* of its release */
  TlBlockPose end;      /* as it stays in later frames; of one that left: where it left */
} TlBlockRecord;
#undef F

enum { TL_INPUTS_HEX = 65 };

typedef struct TlEnsemble {
  TlComm *comm;  /* borrowed; the ranks share out the blocks, and each opens the run for itself */
  TlRun run;     /* opened: the model, and a state that holds all blocks as they start */
  TlRun *worker; /* [threads], each with a workspace and no state of its own; owned */
  int threads;
  int64_t count;              /* of blocks */
  int64_t together, releases; /* blocks of a release; block i is of release i / together */
  int64_t steps, frame_steps; /* most steps of a block; from frame to frame, 0: none between */
  TlBodies start;             /* the blocks as they start, by number, owned */
  TlBlockRecord *record;      /* [count], owned */
  TlBlockPose **pose;         /* [count][record.moments], owned */
  TlCellRow *
      *cell; /* [releases][record.cells of its blocks], owned; NULL: of a part that is saved or
                       not run yet */
  char inputs[TL_INPUTS_HEX]; /* digest of study and terrain */
  double wall_s;
  int64_t resumed; /* blocks that were taken from an earlier start */
} TlEnsemble;

/* ---- from section to rows (ensemble_draw.c) ---- */

/* Puts the blocks in place of setup->bodies, and takes the release away: positions must be local and
 * GIS files read. TL_EINPUT at the study's key: no place on the terrain. */
TlStatus tl_ensemble_expand(TlSetup *setup, const TlStudy *study, const TlTerrain *terrain);
/* Does this place lie in the release area, and on the terrain? */
bool tl_ensemble_in_area(const TlSetup *setup, const TlTerrain *terrain, double x, double y);
/* The value of a range of section ensemble that this release has. */
double tl_ensemble_value(const TlSetup *setup, int64_t range, int64_t release);
/* Which draw of the ground a release has, of ensemble.grounds; and the seed of a draw. */
int64_t tl_ensemble_ground(const TlSetup *setup, int64_t release);
int64_t tl_ensemble_ground_seed(const TlSetup *setup, int64_t draw);
/* The setup of one release alone, with its values in place, a copy. all: after tl_ensemble_expand.
 * one is to be released with tl_setup_free, also after a failure. */
TlStatus tl_ensemble_setup_of(const TlSetup *all, int64_t release, TlSetup *one);
/* The study of this block's release alone, fresh memory; its paths are those of run's study.
 * TL_EUSAGE: there is no such block. run: opened with options.ensemble. */
TlStatus tl_ensemble_alone(const TlRun *run, int64_t block, char **study);

/* ---- where blocks of a release lie (ensemble_heap.c) ---- */

/* From the area, the blocks that start together are heaped around the place of their release, the
 * bounding sphere of each clear of the ground (that of the release's draw) and of those before it.
 * After tl_ensemble_expand. */
TlStatus tl_ensemble_heap(TlRun *run);

/* ---- the blocks ---- */

/* ensemble: to be closed with tl_ensemble_close, also after a failure. options->ensemble is set.
 * Collective. */
TlStatus tl_ensemble_open(TlEnsemble *ensemble, TlComm *comm, const TlRunOptions *options);
/* Runs the blocks, each part of them on one rank, and writes the results on rank 0, which has all
 * records afterwards. Parts pass through the folder OUT/blocks. Collective. */
TlStatus tl_ensemble_go(TlEnsemble *ensemble);
/* Runs the first releases, as many as some seconds allow, and keeps no result: mean wall time of a
 * block on one thread. The ensemble is to be closed then. */
TlStatus tl_ensemble_trial(TlEnsemble *ensemble, double *block_s);
void tl_ensemble_close(TlEnsemble *ensemble);

/* ---- what comes of them ---- */

/* Frames, tables and blocks.csv into the folder that was begun (ensemble_write.c). */
TlStatus tl_ensemble_begin_results(TlEnsemble *ensemble);
TlStatus tl_ensemble_write(TlEnsemble *ensemble);
/* Columns of blocks.csv; a row is a TlBlockRow. */
typedef struct TlBlockRow {
  const TlEnsemble *ensemble;
  const TlBlockRecord *record;
} TlBlockRow;
extern const TlColumns tl_block_columns;
/* The ground under its end; of a block that left: measured. */
TlGroundFilled tl_block_ends_on(const TlEnsemble *ensemble, const TlBlockRecord *record);
/* Distance in plan from the start to the end. */
double tl_block_runout(const TlBlockRecord *record);

/* Parts of finished blocks in OUT/blocks (ensemble_parts.c). */
/* So many releases a part: enough parts for many ranks, and no more than 128 blocks, or one release, to
 * lose. */
static inline int64_t tl_ensemble_part_releases(const TlEnsemble *e) {
  enum { PARTS = 64, MOST_BLOCKS = 128 };
  int64_t most = e->together < MOST_BLOCKS ? MOST_BLOCKS / e->together : 1;
  return e->releases >= PARTS * most ? most : (e->releases + PARTS - 1) / PARTS;
}
static inline int64_t tl_ensemble_parts(const TlEnsemble *e) {
  int64_t size = tl_ensemble_part_releases(e);
  return (e->releases + size - 1) / size;
}
/* The releases [first, end) of a part. */
static inline int64_t tl_ensemble_part_first(const TlEnsemble *e, int64_t part) {
  return part * tl_ensemble_part_releases(e);
}
static inline int64_t tl_ensemble_part_end(const TlEnsemble *e, int64_t part) {
  int64_t end = tl_ensemble_part_first(e, part + 1);
  return end < e->releases ? end : e->releases;
}
/* Cells of all blocks of a release. */
int64_t tl_ensemble_cells(const TlEnsemble *ensemble, int64_t release);
TlStatus tl_ensemble_inputs(TlEnsemble *ensemble);           /* fills the digest */
TlStatus tl_ensemble_make_parts(const TlEnsemble *ensemble); /* the folder */
bool tl_ensemble_has_parts(const TlEnsemble *ensemble);
TlStatus tl_ensemble_save_part(const TlEnsemble *ensemble, int64_t part);
/* Those that are not done yet; done[i]: 1 then for each that was there. TL_EINPUT: it is of another study, or damaged. */
TlStatus tl_ensemble_load_parts(TlEnsemble *ensemble, unsigned char *done);
/* The cells of the part's releases back into memory, where they are not; and out of it. */
TlStatus tl_ensemble_load_cells(TlEnsemble *ensemble, int64_t part);
void tl_ensemble_free_cells(const TlEnsemble *ensemble, int64_t part);
TlStatus tl_ensemble_drop_parts(const TlEnsemble *ensemble);

/* Figures of all blocks: how they ended, runout with mean and quantiles and their standard errors
 * (ensemble_report.c). Warns of what they do not bear. */
TlStatus tl_ensemble_report(const TlEnsemble *ensemble, TlReport *report);
void tl_ensemble_warn(const TlEnsemble *ensemble);

#endif
