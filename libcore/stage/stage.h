/* What every stage of the chain is called with. A stage does what one tool does: it reads its
 * input, works, writes its product and fills a report. The tool's main reads the command line,
 * calls the stage and prints the report; another program does the same with a struct of options:
 *
 *   TlDenoiseStage options;
 *   TL_TRY(tl_params_defaults(tl_denoise_table.rows, tl_denoise_table.count, &options));
 *   char *scan = "scan.tif";
 *   TlStageCall call = {.input = &scan, .inputs = 1, .output = "denoised.h5",
 *                       .provenance = &provenance, .report = &report};
 *   TL_TRY(tl_stage_denoise(&call, &options));
 *
 * Each struct of options has a table of its rows (conf/param.h) with key, unit, default, range and
 * meaning; the defaults stand there once. Texts of the struct belong to the caller
 * (tl_params_free). A message names an option as the command line does (--memory). Stages use all
 * threads of the process, and their products are the same for any number of them. On failure the
 * product is absent, and the report is not complete.
 */
#ifndef TL_STAGE_STAGE_H
#define TL_STAGE_STAGE_H

#include "base/provenance.h"
#include "base/report.h"
#include "conf/cli.h"
#include "conf/param.h"

typedef struct TlStageCall {
  char **input; /* paths: stack, mask, raster, catalog or run first; borrowed */
  int64_t inputs;
  const char *output; /* path of the product; NULL: none */
  bool overwrite;     /* a product that exists is replaced */
  bool dry_run;       /* check and plan only */
  uint64_t seed;
  TlProvenance *provenance; /* begun by the caller; goes into the product */
  TlReport *report;         /* results are added; the caller prints and frees it */
} TlStageCall;

/* The same call as a tool got it; report is borrowed. */
TlStageCall tl_stage_of(const TlCall *call, TlReport *report);
/* Ends a tool's run: prints the report if the stage succeeded and reported anything, and frees it.
 * Returns status, or the failure to print. */
TlStatus tl_stage_print(const TlCall *call, TlReport *report, TlStatus status);

#endif
