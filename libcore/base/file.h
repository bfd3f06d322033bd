/* Files and folders: reading, writing, digests, paths. Files that must be whole or absent are begun
 * and committed by base/outfile.h, which this header includes. */
#ifndef TL_BASE_FILE_H
#define TL_BASE_FILE_H

#include "base/outfile.h"
#include "base/status.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False only where nothing can be, so that nothing is replaced because a disk did not answer. */
bool tl_file_exists(const char *path);
TlStatus tl_file_size(const char *path, int64_t *bytes);
/* Whole file into fresh memory, NUL-terminated; *size without the NUL. Owner: caller. */
TlStatus tl_file_read(const char *path, char **text, size_t *size);
/* Do both names lead to one file or folder? */
bool tl_same_file(const char *one, const char *other);
/* Write text as a whole file by temp + rename. */
TlStatus tl_file_write(const char *path, const void *bytes, size_t size, bool overwrite);
/* Bytes of one file into another, which is made or emptied: for a temporary. */
TlStatus tl_file_copy(const char *from, const char *to);
/* Is there a folder of this name? */
bool tl_is_folder(const char *path);
TlStatus tl_dir_make(const char *path); /* with parents; fine when it is there */
/* The next name of a folder opened by opendir (path: for the message), without "." and ".."; NULL
 * at its end. Borrowed until the next call. TL_EIO when the rest of the folder cannot be read,
 * which readdir tells by errno alone. */
TlStatus tl_dir_next(DIR *folder, const char *path, const char **name);
/* Bytes that may still be written to the disk of path, or of the nearest folder above it that is
 * there; 0 when the system does not say. */
TlStatus tl_disk_free(const char *path, int64_t *bytes);
/* Lower-case SHA-256 of a file as 64 hex digits + NUL. */
TlStatus tl_file_sha256(const char *path, char hex[65]);
/* Lower-case SHA-256 of memory; TL_ELIB when the library fails. */
TlStatus tl_sha256(const void *bytes, size_t size, char hex[65]);
/* The extension without the dot, lower case, "" when none; at most 15 characters. */
void tl_path_extension(const char *path, char extension[16]);
/* directory + "/" + name in fresh memory; NULL when memory is out. */
char *tl_path_join(const char *directory, const char *name);
/* Folder part of path ("." when none) in fresh memory. */
char *tl_path_directory(const char *path);

#endif
