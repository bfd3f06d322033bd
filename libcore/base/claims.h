/* The files that this process reads and writes, so that no output replaces an input.
 *
 * Readers claim a file before they open it. Outputs are claimed from the command line as soon as it
 * is parsed (conf/cli.h) and asked for again when a product is begun (tl_outfile_begin). Whichever
 * comes second is refused with TL_EUSAGE and both names, so nothing has been written by then. Two
 * names mean one file when device and inode agree or their canonical paths do: symbolic links, hard
 * links, "." and ".." are seen through. What this process has made itself is no input: it may be
 * read and replaced. All of it may be called from any thread.
 */
#ifndef TL_BASE_CLAIMS_H
#define TL_BASE_CLAIMS_H

#include "base/status.h"

#include <stdbool.h>

/* The file at path is read, from now on or later. Folders, pipes and devices are not claimed, and a
 * file that is not there is left to whoever opens it. */
TlStatus tl_claim_read(const char *path);
/* The output that an option ("-o", "--preview") names. */
TlStatus tl_claim_write(const char *path, const char *option);
/* The same for a file that is written as a whole: one that is there already is refused (TL_EUSAGE)
 * unless it may be replaced. */
TlStatus tl_claim_output(const char *path, const char *option, bool replace);
/* May the file at path be replaced or removed? */
TlStatus tl_claim_replace(const char *path);
/* The file at path is a product of this process. */
TlStatus tl_claim_made(const char *path);
void tl_claims_forget(void);

#endif
