/* Files that are whole or absent: write under a temporary name, sync, rename.
 *
 * Usage: tl_outfile_begin(&out, path, overwrite); write to out.temp with any library; then
 * tl_outfile_commit(&out) (fsync file, rename, fsync directory), or tl_outfile_abort(&out), which
 * removes the temporary. The temporary lies beside the product, on the same disk, and is named
 * "<path>.<host>-<process>-<its start>-<random>.tmp"; it is made by tl_outfile_begin as a new file
 * that no symbolic link can lead elsewhere. The temporaries of a killed process are removed by the
 * next process of the same user on the same machine that begins a product in that folder; a
 * temporary of a process that still runs, or of another machine, stays. */
#ifndef TL_BASE_OUTFILE_H
#define TL_BASE_OUTFILE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct TlOutFile {
  char *path; /* the product */
  char *temp; /* what to write to: an empty file by now */
  bool overwrite;
} TlOutFile;

/* Fails (TL_EUSAGE) when path exists and overwrite is false, when it is an input of this process
 * (base/claims.h), and when it is a folder, a device or anything else that is no file; TL_EIO when
 * the folder is missing or not writable. */
TlStatus tl_outfile_begin(TlOutFile *out, const char *path, bool overwrite);
/* Without overwrite exactly one of several writers succeeds; the others get TL_EUSAGE. */
TlStatus tl_outfile_commit(TlOutFile *out);
/* Commits without waiting for the disk: from here on the product is whole for everyone, whatever
 * becomes of this process, but a machine that crashes before tl_disk_sync returns may lose it. For
 * a process that is about to be killed, and for readers that see what is damaged. */
TlStatus tl_outfile_rename(TlOutFile *out);
void tl_outfile_abort(TlOutFile *out); /* also fine after commit: then it does nothing */

/* Removes what killed processes left in the folder, for who begins no product there. */
void tl_outfile_clear(const char *folder);

/* Is name (without folders) that of a temporary? Then *length is that of its product's name. */
bool tl_outfile_is_temp(const char *name, size_t *length);
/* Ways to give a finished file its name only if that is free, the best first. File systems that
 * lack one of them (NFS has no RENAME, FAT no LINK) fall through to the next. */
typedef enum TlPlaceWay { TL_PLACE_RENAME, TL_PLACE_LINK, TL_PLACE_RESERVE } TlPlaceWay;
/* TL_EUSAGE when there is something at `to`; `from` stays then. */
TlStatus tl_file_place(const char *from, const char *to, TlPlaceWay first);
/* Entries of a folder are on the disk when this returns. */
TlStatus tl_dir_sync(const char *path);
/* What was written of this file, or to all of the disk that holds this folder, is on the disk when
 * this returns. */
TlStatus tl_file_sync(const char *path);
TlStatus tl_disk_sync(const char *folder);

#endif
