#include "judge/scan.h"

#include "base/claims.h"
#include "base/mem.h"
#include "base/text.h"
#include "judge/judge.h"
#include "stage/grains.h"
#include "stage/imaging.h"
#include "stage/phantom.h"

#include <stdio.h>

enum { SIDE = 80 };                     /* voxels */
static const double ACROSS_VOXELS = 26; /* of the median grain: six to nine voxels a radius */

/* One call of a stage, with provenance and report of its own. */
typedef struct Step {
  TlProvenance provenance;
  TlReport report;
  TlStageCall call;
} Step;

static TlStageCall *begin(Step *s, char **input, const char *output) {
  static char *arguments[] = {"judge-scan"}; /* borrowed by the provenance */
  *s = (Step){.report = {0}};
  tl_provenance_begin(&s->provenance, "judge-scan", 1, arguments);
  s->call = (TlStageCall){.input = input,
                          .inputs = input != NULL,
                          .output = output,
                          .overwrite = true,
                          .seed = 5,
                          .provenance = &s->provenance,
                          .report = &s->report};
  return &s->call;
}

static void end(Step *s) {
  tl_report_free(&s->report);
  tl_provenance_free(&s->provenance);
}

static char *beside(const char *catalog, const char *name) {
  char *path = tl_format("%s.%s.h5", catalog, name);
  judge_ok(path ? TL_OK : TL_ENOMEM, "a path");
  return path;
}

static char *copy(const char *text) {
  char *own = tl_strdup(text);
  judge_ok(own ? TL_OK : TL_ENOMEM, "a text");
  return own;
}

static void set_text(char **text, const char *value) {
  tl_free(*text);
  *text = copy(value);
}

#define DEFAULTS(table, options) JUDGE_OK(tl_params_defaults((table).rows, (table).count, options))
#define FREE(table, options) tl_params_free((table).rows, (table).count, options)

void judge_scan(const char *catalog) {
  char *scan = beside(catalog, "scan"), *denoised = beside(catalog, "denoised"),
       *mask = beside(catalog, "mask"), *labels = beside(catalog, "labels");
  Step s;
  TlPhantomStage phantom = {0};
  DEFAULTS(tl_phantom_table, &phantom);
  for (int k = 0; k < 3; k++) phantom.size[k] = SIDE;
  phantom.d50_voxels = ACROSS_VOXELS;
  JUDGE_OK(tl_stage_phantom(begin(&s, NULL, scan), &phantom));
  end(&s);
  FREE(tl_phantom_table, &phantom);

  TlDenoiseStage denoise = {0};
  DEFAULTS(tl_denoise_table, &denoise);
  JUDGE_OK(tl_stage_denoise(begin(&s, &scan, denoised), &denoise));
  end(&s);
  FREE(tl_denoise_table, &denoise);

  TlBinarizeStage binarize = {0};
  DEFAULTS(tl_binarize_table, &binarize);
  JUDGE_OK(tl_stage_binarize(begin(&s, &denoised, mask), &binarize));
  end(&s);
  FREE(tl_binarize_table, &binarize);

  TlLabelStage label = {0};
  DEFAULTS(tl_label_table, &label);
  set_text(&label.grey, denoised);
  JUDGE_OK(tl_stage_label(begin(&s, &mask, labels), &label));
  end(&s);
  FREE(tl_label_table, &label);

  TlAvatarsStage avatars = {0};
  DEFAULTS(tl_avatars_table, &avatars);
  set_text(&avatars.grey, denoised);
  set_text(&avatars.raw, scan);
  set_text(&avatars.sample, "scan");
  set_text(&avatars.catalog, catalog);
  avatars.with_border = false;
  remove(catalog);
  JUDGE_OK(tl_stage_avatars(begin(&s, &labels, catalog), &avatars));
  end(&s);
  FREE(tl_avatars_table, &avatars);
  tl_claims_forget();
  tl_free(scan);
  tl_free(denoised);
  tl_free(mask);
  tl_free(labels);
}
