/* Finished blocks on the disk, from which a stopped ensemble continues: checkpoint files
 * (store/checkpoint.h), one for so many blocks, whose step is the number of the part. */
#include "run/ensemble.h"

#include "base/file.h"
#include "base/mem.h"
#include "model/record.h"
#include "run/inputs.h"
#include "store/checkpoint.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEX = TL_INPUTS_HEX };
static const char inputs_layout[] = "SHA-256 of study and terrain, hexadecimal";

#define F(...) TL_FIELD(TlBlockPose, __VA_ARGS__)
static const TlRecordField pose_fields[] = {TL_BLOCK_POSE_FIELDS(F)};
#undef F
#define F(...) TL_FIELD(TlBlockRecord, __VA_ARGS__)
#define OF_TRUST(type, name, ...) TL_FIELD(TlBlockRecord, type, trust.name, __VA_ARGS__)
#define OF_END(type, name, ...) TL_FIELD(TlBlockRecord, type, end.name, __VA_ARGS__)
static const TlRecordField block_fields[] = {
    TL_BLOCK_RECORD_FIELDS(F) TL_RELEASE_TRUST_FIELDS(OF_TRUST) TL_BLOCK_POSE_FIELDS(OF_END)};
#undef OF_END
#undef OF_TRUST
#undef F
static const TlRecord pose_record = TL_RECORD("pose", "", TlBlockPose, pose_fields),
                      block_record = TL_RECORD("block", "", TlBlockRecord, block_fields);

/* A part holds the structs as they lie in memory. */
typedef struct Layouts {
  char block[TL_CHECKPOINT_LAYOUT], pose[TL_CHECKPOINT_LAYOUT], cell[TL_CHECKPOINT_LAYOUT];
} Layouts;

static void fill_layouts(Layouts *l) {
  tl_record_layout(&block_record, TL_SAVE, l->block, sizeof l->block);
  tl_record_layout(&pose_record, TL_SAVE, l->pose, sizeof l->pose);
  tl_record_layout(&tl_cell_row_record, TL_SAVE, l->cell, sizeof l->cell);
}

static char *folder_of(const TlEnsemble *e) {
  return tl_path_join(e->run.folder, "blocks");
}

TlStatus tl_ensemble_inputs(TlEnsemble *e) {
  char terrain[HEX];
  TL_TRY(tl_inputs_terrain(&e->run, terrain));
  char *text = tl_format("%s\nterrain %s\n", e->run.model->effective, terrain);
  TlStatus status = text ? tl_sha256(text, strlen(text), e->inputs) : TL_ENOMEM;
  tl_free(text);
  return status;
}

/* Blocks of a part. */
static int64_t first_of(const TlEnsemble *e, int64_t part) {
  return tl_ensemble_part_first(e, part) * e->together;
}

static int64_t end_of(const TlEnsemble *e, int64_t part) {
  return tl_ensemble_part_end(e, part) * e->together;
}

/* ---- saving ---- */

TlStatus tl_ensemble_make_parts(const TlEnsemble *e) {
  char *folder = folder_of(e);
  TlStatus status = folder ? tl_dir_make(folder) : TL_ENOMEM;
  tl_free(folder);
  return status;
}

static int64_t cells_of(const TlEnsemble *e, int64_t part) {
  int64_t sum = 0;
  for (int64_t r = tl_ensemble_part_first(e, part); r < tl_ensemble_part_end(e, part); r++)
    sum += tl_ensemble_cells(e, r);
  return sum;
}

static TlStatus save(const TlEnsemble *e, int64_t part, TlCheckpointWriter *w) {
  int64_t first = first_of(e, part), end = end_of(e, part), moments = 0;
  Layouts l;
  fill_layouts(&l);
  TL_TRY(tl_checkpoint_section(w, "inputs", inputs_layout, HEX, 1));
  TL_TRY(tl_checkpoint_rows(w, e->inputs, 1));
  TL_TRY(tl_checkpoint_section(w, "blocks", l.block, sizeof *e->record, end - first));
  TL_TRY(tl_checkpoint_rows(w, e->record + first, end - first));
  for (int64_t i = first; i < end; i++) moments += e->record[i].moments;
  TL_TRY(tl_checkpoint_section(w, "poses", l.pose, sizeof **e->pose, moments));
  for (int64_t i = first; i < end; i++)
    TL_TRY(tl_checkpoint_rows(w, e->pose[i], e->record[i].moments));
  TL_TRY(tl_checkpoint_section(w, "cells", l.cell, sizeof **e->cell, cells_of(e, part)));
  for (int64_t r = tl_ensemble_part_first(e, part); r < tl_ensemble_part_end(e, part); r++)
    TL_TRY(tl_checkpoint_rows(w, e->cell[r], tl_ensemble_cells(e, r)));
  return TL_OK;
}

TlStatus tl_ensemble_save_part(const TlEnsemble *e, int64_t part) {
  TlCheckpointWriter *w = NULL;
  char *folder = folder_of(e);
  TlStatus status = folder ? tl_checkpoint_create(&w, folder, part) : TL_ENOMEM;
  if (status == TL_OK) {
    status = save(e, part, w);
    if (status == TL_OK)
      status = tl_checkpoint_commit(w, true);
    else
      tl_checkpoint_abort(w);
  }
  tl_free(folder);
  return status;
}

void tl_ensemble_free_cells(const TlEnsemble *e, int64_t part) {
  for (int64_t r = tl_ensemble_part_first(e, part); r < tl_ensemble_part_end(e, part); r++)
    TL_FREE(e->cell[r]);
}

/* ---- loading ---- */

bool tl_ensemble_has_parts(const TlEnsemble *e) {
  char *folder = folder_of(e);
  bool there = folder && tl_file_exists(folder);
  tl_free(folder);
  return there;
}

static TlStatus load_poses(TlEnsemble *e, TlCheckpoint *c, int64_t first, int64_t end,
                           int64_t poses) {
  int64_t at = 0;
  for (int64_t i = first; i < end; i++) {
    const TlBlockRecord *r = &e->record[i];
    if (r->id != i || r->moments < 1 || r->moments > poses - at || r->fate < 0 ||
        r->fate >= TL_FATES || r->leaving < 0 || r->leaving >= TL_LEAVINGS || r->steps < 0 ||
        r->steps > e->steps || r->cells < 0 ||
        r->cells > e->run.cells.grid.nx * e->run.cells.grid.ny)
      return tl_fail(TL_EINPUT, "%s: block %lld is no block of this study", tl_checkpoint_path(c),
                     (long long)i);
    TL_TRY(TL_NEW(e->pose[i], (size_t)r->moments));
    TL_TRY(tl_checkpoint_read(c, "poses", at, r->moments, e->pose[i]));
    at += r->moments;
  }
  return TL_OK;
}

static TlStatus load(TlEnsemble *e, int64_t part, TlCheckpoint *c) {
  int64_t first = first_of(e, part), end = end_of(e, part), inputs, blocks, poses;
  Layouts l;
  char saved[HEX];
  fill_layouts(&l);
  TL_TRY(tl_checkpoint_find(c, "inputs", inputs_layout, HEX, &inputs));
  TL_TRY(tl_checkpoint_find(c, "blocks", l.block, sizeof *e->record, &blocks));
  TL_TRY(tl_checkpoint_find(c, "poses", l.pose, sizeof **e->pose, &poses));
  if (inputs != 1 || blocks != end - first)
    return tl_fail(TL_EINPUT, "%s: is no part of this ensemble", tl_checkpoint_path(c));
  TL_TRY(tl_checkpoint_read(c, "inputs", 0, 1, saved));
  if (memcmp(e->inputs, saved, HEX) != 0)
    return tl_fail(TL_EINPUT,
                   "%s: is of another study or terrain, or of other --set options; give what the "
                   "ensemble began with, or start it anew with --overwrite",
                   tl_checkpoint_path(c));
  TL_TRY(tl_checkpoint_read(c, "blocks", 0, blocks, e->record + first));
  return load_poses(e, c, first, end, poses);
}

/* Those of a release come block by block. */
static bool are_cells(const TlEnsemble *e, int64_t release) {
  const TlCellRow *cell = e->cell[release];
  int64_t all = e->run.cells.grid.nx * e->run.cells.grid.ny;
  for (int64_t k = 0; k < e->together; k++) {
    int64_t i = release * e->together + k;
    for (int64_t n = 0; n < e->record[i].cells; n++, cell++)
      if (cell->id != e->start.id[i] || cell->cell < 0 || cell->cell >= all) return false;
  }
  return true;
}

static TlStatus read_cells(TlEnsemble *e, TlCheckpoint *c, int64_t first, int64_t end) {
  int64_t count, at = 0;
  Layouts l;
  fill_layouts(&l);
  TL_TRY(tl_checkpoint_find(c, "cells", l.cell, sizeof **e->cell, &count));
  for (int64_t r = first; r < end; r++) {
    int64_t n = tl_ensemble_cells(e, r);
    bool sound = n <= count - at;
    TL_TRY(TL_NEW(e->cell[r], (size_t)n));
    if (sound) TL_TRY(tl_checkpoint_read(c, "cells", at, n, e->cell[r]));
    if (!sound || !are_cells(e, r))
      return tl_fail(TL_EINPUT, "%s: cells of release %lld are not those of this study",
                     tl_checkpoint_path(c), (long long)r);
    at += n;
  }
  return TL_OK;
}

TlStatus tl_ensemble_load_cells(TlEnsemble *e, int64_t part) {
  int64_t first = tl_ensemble_part_first(e, part);
  TlCheckpoint *c = NULL;
  if (!e->run.cells.wanted || e->cell[first]) return TL_OK;
  char *folder = folder_of(e);
  TlStatus status = folder ? tl_checkpoint_open(&c, folder, part, false) : TL_ENOMEM;
  if (status == TL_OK) status = read_cells(e, c, first, tl_ensemble_part_end(e, part));
  tl_checkpoint_close(c);
  tl_free(folder);
  return status;
}

TlStatus tl_ensemble_load_parts(TlEnsemble *e, unsigned char *done) {
  int64_t *parts = NULL, count = 0;
  char *folder = folder_of(e);
  TlStatus status = folder ? TL_OK : TL_ENOMEM;
  if (status == TL_OK && tl_file_exists(folder))
    status = tl_checkpoint_list(folder, &parts, &count);
  for (int64_t k = 0; status == TL_OK && k < count; k++) {
    TlCheckpoint *c = NULL;
    if (parts[k] >= tl_ensemble_parts(e) || done[parts[k]]) continue;
    status = tl_checkpoint_open(&c, folder, parts[k], true);
    if (status == TL_OK) status = load(e, parts[k], c);
    tl_checkpoint_close(c);
    done[parts[k]] = status == TL_OK;
  }
  tl_free(parts);
  tl_free(folder);
  return status;
}

TlStatus tl_ensemble_drop_parts(const TlEnsemble *e) {
  char *folder = folder_of(e);
  TlStatus status = folder ? TL_OK : TL_ENOMEM;
  if (status == TL_OK && tl_file_exists(folder)) {
    status = tl_checkpoint_prune(folder, -1, 0);
    rmdir(folder); /* stays where something else lies in it */
  }
  tl_free(folder);
  return status;
}
