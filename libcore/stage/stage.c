#include "stage/stage.h"

TlStageCall tl_stage_of(const TlCall *call, TlReport *report) {
  return (TlStageCall){.input = call->argv,
                       .inputs = call->argc,
                       .output = call->output,
                       .overwrite = call->overwrite,
                       .dry_run = call->dry_run,
                       .seed = call->seed,
                       .provenance = call->provenance,
                       .report = report};
}

TlStatus tl_stage_print(const TlCall *call, TlReport *report, TlStatus status) {
  if (status == TL_OK && report->count > 0) status = tl_report_print(report, call->json);
  tl_report_free(report);
  return status;
}
