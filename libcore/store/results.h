/* Results of a run: a folder with run.h5 and one closed frame_NNNNNN.h5 a frame
 * (docs/reference/results.md).
 *
 * run.h5: the scene (avatars used, terrain, planes), the effective study as text, units, captions,
 * provenance; written once, but for the records of those who resume. Frames: bodies in the order of
 * their ids (readers sort them nevertheless). Each file is written under a temporary name and
 * renamed when whole; a reader that lists the folder sees only whole frames. history.csv beside
 * them: one line every few steps. SI units, world frame of the study (the terrain's local frame).
 */
#ifndef TL_STORE_RESULTS_H
#define TL_STORE_RESULTS_H

#include "base/outfile.h"
#include "base/provenance.h"
#include "model/body_record.h"
#include "model/contact_record.h"
#include "model/material.h"
#include "store/apparatuses.h"
#include "store/results_chunks.h"
#include "shape/avatar.h"
#include "shape/terrain.h"
#include "shape/wall.h"

typedef struct TlPlane {
  TlVec3 point_m, normal; /* unit, pointing to where the grains are */
} TlPlane;

/* Tables beside the frames: history.csv of every run, one line a moment; departures.csv with a line
 * a grain that left; boundary.csv and constraint.csv with a line a boundary or constraint and moment;
 * cells.csv with a line a block and cell of the terrain's raster;
 * the table of the run's apparatus, named after it. */
typedef enum TlResultsTable {
  TL_TABLE_HISTORY = 0,
  TL_TABLE_DEPARTURES,
  TL_TABLE_BOUNDARY,
  TL_TABLE_CONSTRAINT,
  TL_TABLE_CELLS,
#define A(id, key, title, params, sections) TL_TABLE_##id,
  TL_APPARATUSES(A)
#undef A
      TL_TABLES
} TlResultsTable;

typedef struct TlScene {
  char *study;        /* effective study, YAML text, owned */
  char *title;        /* owned */
  char *provenance;   /* JSON array, owned */
  double grain_scale; /* grains are drawn this many times their scanned size: every caption */
  bool ranks_matter;  /* another number of ranks has other results: every caption */
  double density_kg_m3, gravity_m_s2[3], step_s; /* density: of the grains' material */
  TlMaterials materials; /* of bodies, by their number; none in a run of an older version, whose
                            grains all have density_kg_m3. Owned; while writing borrowed */
  int64_t body_count;
  int64_t avatar_count; /* avatars[i].id is what bodies refer to */
  TlAvatar *avatars;    /* owned; empty while writing: see tl_results_add_avatar */
  bool has_terrain;
  TlTerrain terrain; /* owned */
  int64_t plane_count;
  TlPlane *planes; /* owned */
  int64_t part_count;
  TlWallPart *parts; /* of the walls, owned */
  /* Number of the format of each table that the run writes beside its frames, 0: none such; not
   * read back. */
  int table_format[TL_TABLES];
  double *table_time_s; /* of all drives, owned; empty while writing: drives hold their own */
  TlVec3 *table_displacement_m;
} TlScene;

enum {
  TL_ROW_OUTSIDE = 1,
  TL_ROW_FROZEN = 2,
  TL_ROW_NET = 4,
  TL_ROW_EMBEDDED = 8,    /* could not be brought out of another grain or a wall */
  TL_ROW_UNRESOLVED = 16, /* had collisions to which the solver found no end */
  TL_ROW_GUIDED = 32,
  TL_ROW_FIXED = 64, /* placed as fixed by the study; frames of older versions lack it */
  TL_ROW_NO_GRAIN =
      TL_ROW_NET | TL_ROW_GUIDED | TL_ROW_FIXED /* what no measure counts as a grain */
};                                              /* bits of TlBodyRow.flags */

typedef struct TlFrameContacts {
  bool there; /* false: the frame was written without (frames.contacts of the study) */
  int64_t count;
  TlContactRow *rows; /* of the step that ends with the frame, by first, second, place; owned */
} TlFrameContacts;

typedef struct TlFrame {
  int64_t index, step;
  double time_s;
  int64_t count;
  TlBodyRow *rows; /* one a collider, sorted by id after reading, owned */
} TlFrame;

/* ---- writing (rank 0, or few writers) ---- */
typedef struct TlResultsWriter TlResultsWriter;

/* Would tl_results_create refuse the folder for what is in it? Its status and message; nothing is changed. */
TlStatus tl_results_check(const char *folder, bool overwrite);
/* Makes the folder; refuses one that already holds results unless overwrite. scene is copied out at
 * once; its avatars array is ignored: add them one by one, then tl_results_scene_done closes run.h5
 * under its final name.
 *
 * Older results stay until the new run.h5 is whole and on the disk. Then tl_results_scene_done
 * takes them away, only files that a run writes, and run.h5 takes the place of the old one last:
 * whoever looks, and whatever a kill in between leaves, finds the old run, perhaps without its last
 * frames and with nothing to resume from, or the new one, but never files of both. */
TlStatus tl_results_create(TlResultsWriter **writer, const char *folder, const TlScene *scene,
                           bool overwrite);
TlStatus tl_results_add_avatar(TlResultsWriter *writer, const TlAvatar *avatar);
TlStatus tl_results_scene_done(TlResultsWriter *writer);
/* From here on frames get their names at once, without waiting for the disk: the process may be
 * killed soon (tl_outfile_rename). */
void tl_results_hurry(TlResultsWriter *writer);
/* A frame: begin; tables one after the other, each with its packed rows in any number of blocks; end
 * (rename). A table's columns are the fields of a record that have one, its rows packed as TL_FRAME
 * (model/record.h); what they are the writer does not know. */
typedef struct TlFrameTable {
  const char *group;    /* where its datasets lie; NULL: at the root */
  const char *count_as; /* attribute of the root that says how many rows there are; NULL: none */
} TlFrameTable;
extern const TlFrameTable tl_frame_bodies, tl_frame_contacts; /* of TlBodyRow, TlContactRow */
TlStatus tl_results_frame_begin(TlResultsWriter *writer, int64_t index, int64_t step,
                                double time_s);
TlStatus tl_results_frame_table(TlResultsWriter *writer, const TlFrameTable *table,
                                const TlRecord *record, int64_t count);
/* stride: bytes from one row to the next. */
TlStatus tl_results_frame_rows(TlResultsWriter *writer, const unsigned char *rows, size_t stride,
                               int64_t count);
/* In place of the next rows, whole blocks but at the table's end: another process has them as chunks
 * of these sizes (store/results_chunks.h), and writes each at its place in the frame's file. It has
 * closed the file before the frame ends, and synced it but in a hurry. */
TlStatus tl_results_frame_reserve(TlResultsWriter *writer, int64_t rows, const int64_t *size,
                                  int64_t chunks, int64_t *place);
const TlOutFile *tl_results_frame_file(const TlResultsWriter *writer, bool *hurry);
TlStatus tl_results_frame_end(TlResultsWriter *writer);
/* Header once ("time_s,kinetic_energy_J,..."), then lines; flushed each. NaN is an empty field;
 * text (NULL: none) is the last column. */
TlStatus tl_results_table_header(TlResultsWriter *writer, TlResultsTable table, const char *header);
TlStatus tl_results_table_line(TlResultsWriter *writer, TlResultsTable table, const double *values,
                               int count, const char *text);
/* Bytes of the table so far, 0 when it was not begun; sync: they are on the disk when this
 * returns. */
TlStatus tl_results_table_bytes(TlResultsWriter *writer, TlResultsTable table, bool sync,
                                int64_t *bytes);
/* For other processes that write lines behind the last one: the file, both names being its own
 * (borrowed); they have written so many bytes; what they wrote is to go. */
TlOutFile tl_results_table_file(const TlResultsWriter *writer, TlResultsTable table);
TlStatus tl_results_table_pass(TlResultsWriter *writer, TlResultsTable table, int64_t bytes);
TlStatus tl_results_table_cut(TlResultsWriter *writer, TlResultsTable table);

/* What of a table stays when a run continues. */
typedef struct TlTableKept {
  const char *header; /* NULL: the run has no such table */
  int64_t bytes;
} TlTableKept;

/* Resume in a folder that holds results: frames from `frames` on, what tables hold beyond what is
 * kept and checkpoints after `step` are taken away, study.yaml is written anew; run.h5 stays (see
 * tl_results_add_run). TL_EINPUT when the folder lacks what must be there. */
TlStatus tl_results_resume(TlResultsWriter **writer, const char *folder, const char *study,
                           const TlTableKept kept[TL_TABLES], int64_t step, int64_t frames);
/* One more record at the end of run.h5's provenance, while a writer holds the folder. The file is
 * written anew and renamed, so a kill leaves the old one or the new; the disk must hold a copy. */
TlStatus tl_results_add_run(const char *folder, const TlProvenance *run);
/* The run as ParaView opens it (results_paraview.c): a small file that points into the frames that
 * are there now. It takes the place of an older one. */
#define TL_PARAVIEW_FILE "run.vtkhdf"
TlStatus tl_results_write_paraview(const char *folder);
void tl_results_close(TlResultsWriter *writer); /* an unfinished frame is removed */

/* ---- reading ---- */
/* Nothing that the folder holds of a run may be replaced by this process (base/claims.h). Reading
 * the scene does so too. */
TlStatus tl_results_claim(const char *folder);
TlStatus tl_results_read_scene(const char *folder, TlScene *scene);
void tl_scene_free(TlScene *scene);
/* Indices of the whole frames, ascending, fresh memory. */
TlStatus tl_results_frames(const char *folder, int64_t **indices, int64_t *count);
TlStatus tl_results_read_frame(const char *folder, int64_t index, TlFrame *frame);
void tl_frame_free(TlFrame *frame);
/* Its contacts; none are there (no error) in frames written without. A grain that left the run at
 * the end of the step is named by its contacts, but not among the frame's bodies. */
TlStatus tl_results_read_contacts(const char *folder, int64_t index, TlFrameContacts *contacts);
void tl_frame_contacts_free(TlFrameContacts *contacts);
/* Where a wall is at a frame, and whether it is there. */
TlPlacement tl_scene_place(const TlScene *scene, const TlWallPart *part, const TlFrame *frame);
/* Density of a body's material. TL_EINPUT: run.h5 does not have that material. */
TlStatus tl_scene_density(const TlScene *scene, const TlBodyRow *row, double *density_kg_m3);
/* Avatar by id (binary search over scene->avatars, sorted by id); NULL when absent. */
const TlAvatar *tl_scene_avatar(const TlScene *scene, int64_t id);

#endif
