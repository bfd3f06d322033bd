/* The problem of a step as lists of fields (model/record.h): what a file of it holds, docs/reference/records.md.
 * Sweeps need no more than these; what tl_nonsmooth_prepare fills from them is there, too. Joints are not.
 */
#ifndef TL_SOLVE_NONSMOOTH_RECORD_H
#define TL_SOLVE_NONSMOOTH_RECORD_H

#include "model/record.h"
#include "solve/nonsmooth.h"

typedef enum TlNsList {
  TL_NS_BODIES = 0,
  TL_NS_PATCHES,
  TL_NS_NORMALS,
  TL_NS_ARMS,
  TL_NS_RESISTS,
  TL_NS_BONDS,
  TL_NS_LISTS
} TlNsList;
extern const TlRecord tl_ns_record[TL_NS_LISTS];

/* Rows of a list, and how many. */
void *tl_ns_rows(const TlNsProblem *problem, TlNsList list, int64_t *count);

#endif
