/* The audit of a run (solve/audit.h) as a table: a row a rank and phase. */
#ifndef TL_RUN_AUDIT_H
#define TL_RUN_AUDIT_H

#include "run/run.h"

/* From here on, when the options ask for one. The run must not move. */
TlStatus tl_run_audit_start(TlRun *run);
/* Collective: writes the table of the steps since then, and says for each phase how the load was shared. */
TlStatus tl_run_audit_write(TlRun *run);

#endif
