/* The tables that a run writes beside its frames (io/columns.h). */
#ifndef TL_RUN_COLUMNS_H
#define TL_RUN_COLUMNS_H

#include "io/columns.h"
#include "store/results.h"

/* Of every table of results.h; each run writes some of them. */
const TlColumns *tl_table_columns(TlResultsTable table);
/* All of them as a page of Markdown (docs/reference/columns.md), fresh memory; NULL: no memory. */
char *tl_columns_reference(void);

#endif
