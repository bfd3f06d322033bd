/* Checkpoints: the state of a run in one file, from which it continues
 * (docs/reference/checkpoint.md).
 *
 * A file checkpoint_NNNNNNNNNNNN.tck in the results folder (N: the step) is a head and any number
 * of named sections, each a table of records of one size with the text of their layout and a
 * SHA-256; the last one is "end". Numbers are in the machine's own byte order, which the head
 * marks. It is written under a temporary name, synced and renamed, so a file that has its name was
 * whole when it got it; later damage is found by the digests. The caller defines the meaning of the
 * sections (run/checkpoint.h).
 */
#ifndef TL_STORE_CHECKPOINT_H
#define TL_STORE_CHECKPOINT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TL_CHECKPOINT_VERSION = 1, TL_CHECKPOINT_NAME = 32, TL_CHECKPOINT_LAYOUT = 464 };

/* ---- writing, by one process ---- */
typedef struct TlCheckpointWriter TlCheckpointWriter;

TlStatus tl_checkpoint_create(TlCheckpointWriter **writer, const char *folder, int64_t step);
/* Begin a section of so many records; layout describes a record and must be the same when it is
 * read. The section before must have all its records. */
TlStatus tl_checkpoint_section(TlCheckpointWriter *writer, const char *name, const char *layout,
                               size_t record_bytes, int64_t records);
TlStatus tl_checkpoint_rows(TlCheckpointWriter *writer, const void *rows, int64_t count);
/* Close the file and give it its name; sync: it is on the disk before (else tl_disk_sync is still
 * to come: base/file.h). Releases the writer, also after a failure. */
TlStatus tl_checkpoint_commit(TlCheckpointWriter *writer, bool sync);
void tl_checkpoint_abort(TlCheckpointWriter *writer); /* nothing is left; NULL is fine */

/* ---- reading ---- */
typedef struct TlCheckpoint TlCheckpoint;

/* verify: read it all and hold the digests against it. TL_EINPUT names the file and what is wrong
 * with it. */
TlStatus tl_checkpoint_open(TlCheckpoint **checkpoint, const char *folder, int64_t step,
                            bool verify);
const char *tl_checkpoint_path(const TlCheckpoint *checkpoint);
bool tl_checkpoint_has(const TlCheckpoint *checkpoint, const char *name);
/* Name of section i, NULL behind the last. */
const char *tl_checkpoint_name(const TlCheckpoint *checkpoint, int i);
/* Number of records. TL_EINPUT when the section is missing or laid out otherwise. */
TlStatus tl_checkpoint_find(const TlCheckpoint *checkpoint, const char *name, const char *layout,
                            size_t record_bytes, int64_t *records);
/* Records [first, first + count) of a section that was found. */
TlStatus tl_checkpoint_read(TlCheckpoint *checkpoint, const char *name, int64_t first,
                            int64_t count, void *rows);
void tl_checkpoint_close(TlCheckpoint *checkpoint);

/* ---- the folder ---- */

/* The step when name is that of a checkpoint, else -1. */
int64_t tl_checkpoint_step(const char *name);
/* Steps of the checkpoints in the folder, newest first, fresh memory. */
TlStatus tl_checkpoint_list(const char *folder, int64_t **steps, int64_t *count);
/* Remove the checkpoints of steps above `last` (-1: none), and of the others all but the `keep`
 * newest. */
TlStatus tl_checkpoint_prune(const char *folder, int64_t last, int64_t keep);

#endif
