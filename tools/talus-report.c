/* talus-report: runs or a scan as one HTML file. */
#include "base/file.h"
#include "base/report.h"
#include "conf/cli.h"
#include "post/report.h"

typedef struct Options {
  double max_mb;
  char *title, *compare;
  TlTexts label, stack;
} Options;

static const TlParam params[] = {
    {"max-mb", TL_P_REAL, offsetof(Options, max_mb), "MB", "20", 0.1, 2000, NULL,
     "largest size of the file, in 10^6 bytes: where it is not enough, the playback gets coarser "
     "surfaces, then fewer frames, and the page says so",
     NULL},
    {"title", TL_P_TEXT, offsetof(Options, title), "", "", 0, 0, NULL,
     "title of the page; default: that of the first run's study", "TEXT"},
    {"label", TL_P_TEXTS, offsetof(Options, label), "", "", 0, 0, NULL,
     "name of a run in tables and plots, in the order of the runs, one for each; default: the keys "
     "in which their studies differ",
     "TEXT"},
    {"compare", TL_P_TEXT, offsetof(Options, compare), "", "", 0, 0, NULL,
     "of triaxial tests: a laboratory curve to draw with theirs (columns as for talus-measure "
     "--compare)",
     "FILE.csv"},
    {"stack", TL_P_TEXTS, offsetof(Options, stack), "", "", 0, 0, NULL,
     "of a scan: the stack of a stage, in order from the raw one; give it again for each; default: "
     "the raw stack that the provenance names, denoised.h5, mask.h5 and labels.h5 beside the "
     "catalog",
     "FILE"},
};

static const char *given(const char *text) {
  return text && text[0] ? text : NULL;
}

static TlStatus run(const TlCall *call) {
  const Options *o = call->values;
  TlReportOptions options = {.max_mb = o->max_mb,
                             .title = given(o->title),
                             .label = o->label.items,
                             .labels = o->label.count,
                             .measured = given(o->compare),
                             .stack = o->stack.items,
                             .stacks = o->stack.count};
  TlHtml page;
  TlReportSize size;
  TlReport report = {0};
  if (!call->overwrite && tl_file_exists(call->output))
    return tl_fail(TL_EUSAGE, "%s: exists already; give --overwrite to replace it", call->output);
  TL_TRY(tl_report_make(call->argv, call->argc, &options, &page, &size));
  TlStatus status = tl_file_write(call->output, page.text, page.size, call->overwrite);
  tl_html_free(&page);
  if (status == TL_OK) status = tl_report_text(&report, "output", call->output);
  if (status == TL_OK) status = tl_report_real(&report, "size", size.mb, "MB");
  if (status == TL_OK) status = tl_report_int(&report, "cells_along_a_grain", size.cells, "");
  if (status == TL_OK)
    status = tl_report_int(&report, "playback_has_every_nth_frame", size.frame_every, "");
  if (status == TL_OK) status = tl_report_int(&report, "warnings", size.warnings, "");
  if (status == TL_OK) status = tl_report_print(&report, call->json);
  tl_report_free(&report);
  return status;
}

static const TlParamTable table = TL_PARAM_TABLE(params, Options);

static const TlTool tool = {
    .name = "talus-report",
    .purpose = "Write one HTML file about runs or a scan: warnings, playback in 3-D, plots, maps",
    .arguments = "RUN...",
    .description =
        "RUN is a folder that talus-solve wrote; several runs of one kind are compared: each plot\n"
        "has a curve a run, each table a column. For a scan it is a catalog of grains, or the\n"
        "folder of a pipeline with catalog.tals in it.\n"
        "\n"
        "The page is one file. It opens from the disk in any browser, without a network, and\n"
        "loads nothing. It says first what should not be trusted (grains not at rest, grains that\n"
        "left, unresolved collisions, penetration), then shows\n"
        "  of runs       a 3-D playback of the level-set grains, figures, plots over time,\n"
        "                quantiles over the grains, maps with coordinates, and what ran\n"
        "  of tests      the same with the curves of triaxial.csv, oedometer.csv or "
        "direct_shear.csv in\n"
        "                place of maps\n"
        "  of a scan     slices before and after each stage, grey levels, grading, form,\n"
        "                residuals of the avatars, the grains where they lay\n"
        "The playback needs WebGL2; without it the page shows a picture of the last frame.\n"
        "The same input gives the same bytes.",
    .example = "  talus-report out/run -o out/report.html\n"
               "  talus-report out/dense out/loose -o tests.html --compare=lab.csv\n"
               "  talus-report out/catalog.tals -o scan.html --max-mb=5",
    .least_arguments = 1,
    .most_arguments = -1,
    .takes = TL_NEEDS_OUTPUT | TL_TAKES_JSON,
    .options = &table,
    .run = run,
};

int main(int argc, char **argv) {
  return tl_cli_main(&tool, argc, argv);
}
