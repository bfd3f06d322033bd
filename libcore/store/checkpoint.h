/* Checkpoints: the state of a run in one file, from which it continues
 * (docs/reference/checkpoint.md).
 *
 * A file checkpoint_NNNNNNNNNNNN.tck in the results folder (N: the step) is a head and any number
 * of named sections, each a table of records of one size with the text of their layout and a
 * SHA-256 over the SHA-256s of blocks of its records; the last one is "end". Numbers are in the machine's own byte order, which the head
 * marks. It is written under a temporary name, synced and renamed, so a file that has its name was
 * whole when it got it; later damage is found by the digests. The caller defines the meaning of the
 * sections (run/checkpoint.h).
 */
#ifndef TL_STORE_CHECKPOINT_H
#define TL_STORE_CHECKPOINT_H

#include "base/outfile.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TL_CHECKPOINT_VERSION = 2, TL_CHECKPOINT_NAME = 32, TL_CHECKPOINT_LAYOUT = 464 };

/* Records that have a digest together. */
enum { TL_CHECKPOINT_BLOCK = 1024 };

/* ---- writing: one process keeps the file, others may write records of it ---- */
typedef struct TlCheckpointWriter TlCheckpointWriter;

TlStatus tl_checkpoint_create(TlCheckpointWriter **writer, const char *folder, int64_t step);
/* Begin a section of so many records; layout describes a record and must be the same when it is
 * read. The section before must have all its records. */
TlStatus tl_checkpoint_section(TlCheckpointWriter *writer, const char *name, const char *layout,
                               size_t record_bytes, int64_t records);
TlStatus tl_checkpoint_rows(TlCheckpointWriter *writer, const void *rows, int64_t count);
/* In place of the next rows, whole blocks but at the section's end: other processes write them at their
 * places in the file (record i of the section at `place` + i * record_bytes, asked for once it has
 * begun) and have closed it before the commit. digests: of their blocks, TL_DIGEST_BYTES each. */
const TlOutFile *tl_checkpoint_file(const TlCheckpointWriter *writer);
TlStatus tl_checkpoint_place(const TlCheckpointWriter *writer, int64_t *place);
TlStatus tl_checkpoint_leave(TlCheckpointWriter *writer, const unsigned char *digests,
                             int64_t count);
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
/* The same in two parts, the first of which several processes can share: digests of blocks [first, first +
 * count) of all sections' blocks, TL_DIGEST_BYTES each, and whether those of all blocks are what the
 * file says. */
int64_t tl_checkpoint_blocks(const TlCheckpoint *checkpoint);
TlStatus tl_checkpoint_digest(TlCheckpoint *checkpoint, int64_t first, int64_t count,
                              unsigned char *digests);
TlStatus tl_checkpoint_verify(TlCheckpoint *checkpoint, const unsigned char *digests);
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
