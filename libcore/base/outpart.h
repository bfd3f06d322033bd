/* Bytes of a file that another process has begun (base/outfile.h), each process those at places of its
 * own: a product of many ranks without one through whose hands all of it goes.
 *
 * Who began it tells the others its temporary's name, waits until they have closed theirs, and then
 * commits or aborts it. The folder must be one that all of them see. */
#ifndef TL_BASE_OUTPART_H
#define TL_BASE_OUTPART_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TlOutPart {
  const char *path; /* the product, for messages; borrowed until it is closed */
  bool goes;        /* after a failure the file is not kept */
  int descriptor;
} TlOutPart;

/* temp may be the path itself, of a file that has its name already and keeps it. */
TlStatus tl_outpart_open(TlOutPart *part, const char *path, const char *temp);
TlStatus tl_outpart_put(const TlOutPart *part, int64_t at, const void *bytes, size_t size);
/* sync: what was put is on the disk when this returns. Closes in any case; fine where none is open
 * (descriptor below 0). */
TlStatus tl_outpart_close(TlOutPart *part, bool sync);

#endif
