/* The stages as functions: a chain from a synthetic scan to avatars in one process, with the options
 * of the tables and no command line. 4 CPU-seconds. */
#include "support/tltest.h"

#include "base/claims.h"
#include "base/file.h"
#include "base/mem.h"
#include "phantom/phantom.h"
#include "stage/grains.h"
#include "stage/imaging.h"
#include "stage/phantom.h"

#include <stdio.h>

static char folder[256];

static char *in_folder(const char *name) {
  char *path = tl_format("%s/%s", folder, name);
  ck_assert_ptr_nonnull(path);
  return path;
}

#define DEFAULTS(table, options) CK_OK(tl_params_defaults((table).rows, (table).count, options))

static void set_text(char **text, const char *value) {
  tl_free(*text);
  *text = tl_strdup(value);
}

/* One call of a stage, with provenance and report of its own. */
typedef struct Step {
  TlProvenance provenance;
  TlReport report;
  TlStageCall call;
  char *input, *output;
} Step;

static void begin(Step *s, const char *input, const char *output) {
  *s = (Step){.input = input ? in_folder(input) : NULL, .output = in_folder(output)};
  static char *arguments[] = {"test-stage"}; /* borrowed by the provenance */
  tl_provenance_begin(&s->provenance, "test-stage", 1, arguments);
  s->call = (TlStageCall){.input = &s->input,
                          .inputs = input != NULL,
                          .output = s->output,
                          .seed = 3,
                          .provenance = &s->provenance,
                          .report = &s->report};
}

static void end(Step *s) {
  tl_report_free(&s->report);
  tl_provenance_free(&s->provenance);
  tl_free(s->input);
  tl_free(s->output);
}

static double number(const Step *s, const char *name) {
  const char *text = tl_report_value(&s->report, name);
  ck_assert_msg(text != NULL, "the report has no '%s'", name);
  return atof(text);
}

static void make_scan(void) {
  Step s;
  TlPhantomStage o = {0};
  DEFAULTS(tl_phantom_table, &o);
  for (int k = 0; k < 3; k++) o.size[k] = 36;
  o.d50_voxels = 12;
  o.noise = 8;
  begin(&s, NULL, "scan.h5");
  s.call.overwrite =
      true; /* both tests make it, and without a process each they share the folder */
  CK_OK(tl_stage_phantom(&s.call, &o));
  ck_assert(number(&s, "grains") > 10);
  CK_NEAR(number(&s, "solid_fraction"), o.solid_fraction, 0.01);
  end(&s);
  tl_params_free(tl_phantom_table.rows, tl_phantom_table.count, &o);
}

START_TEST(a_chain_in_one_process) {
  Step s;
  snprintf(folder, sizeof folder, "%s", tl_test_folder());
  make_scan();

  TlDenoiseStage d = {0};
  DEFAULTS(tl_denoise_table, &d);
  d.method = 2; /* median */
  begin(&s, "scan.h5", "denoised.h5");
  CK_OK(tl_stage_denoise(&s.call, &d));
  ck_assert_str_eq(tl_report_value(&s.report, "output"), s.output);
  ck_assert(number(&s, "removed_rms") > 0);
  ck_assert_ptr_null(tl_report_value(&s.report, "no_such_name"));
  end(&s);

  TlBinarizeStage b = {0};
  DEFAULTS(tl_binarize_table, &b);
  begin(&s, "denoised.h5", "mask.h5");
  CK_OK(tl_stage_binarize(&s.call, &b));
  double porosity = number(&s, "porosity");
  CK_NEAR(porosity, 0.4, 0.05); /* the phantom's, less what the median rounds off */
  end(&s);

  TlLabelStage l = {0};
  DEFAULTS(tl_label_table, &l);
  begin(&s, "mask.h5", "labels.h5");
  CK_OK(tl_stage_label(&s.call, &l));
  double grains = number(&s, "grains");
  ck_assert(grains > 10);
  end(&s);

  TlAvatarsStage a = {0};
  DEFAULTS(tl_avatars_table, &a);
  a.method = 2; /* the label's smoothed distance */
  a.nodes = 40;
  set_text(&a.sample, "chain");
  a.catalog = in_folder("catalog.tals");
  begin(&s, "labels.h5", "unused");
  CK_OK(tl_stage_avatars(&s.call, &a));
  double made = number(&s, "grains");
  ck_assert(made >= 0.9 * grains && made <= grains);
  end(&s);

  begin(&s, "catalog.tals", "unused");
  CK_OK(tl_stage_catalog_list(&s.call));
  ck_assert_double_eq(number(&s, "grains"), made);
  end(&s);

  TlVolumeStage v = {0};
  DEFAULTS(tl_volume_table, &v);
  begin(&s, "labels.h5", "unused");
  CK_OK(tl_stage_volume_info(&s.call, &v));
  ck_assert_double_eq(number(&s, "provenance_records"), 4); /* phantom, denoise, binarize, label */
  ck_assert_double_eq(number(&s, "max"), grains);
  end(&s);

  tl_params_free(tl_denoise_table.rows, tl_denoise_table.count, &d);
  tl_params_free(tl_binarize_table.rows, tl_binarize_table.count, &b);
  tl_params_free(tl_label_table.rows, tl_label_table.count, &l);
  tl_params_free(tl_avatars_table.rows, tl_avatars_table.count, &a);
  tl_params_free(tl_volume_table.rows, tl_volume_table.count, &v);
  tl_claims_forget();
}
END_TEST

START_TEST(wrong_options_and_products_that_exist_are_refused) {
  Step s;
  TlDenoiseStage d = {0};
  snprintf(folder, sizeof folder, "%s", tl_test_folder());
  make_scan();
  DEFAULTS(tl_denoise_table, &d);
  d.patch = 4;
  begin(&s, "scan.h5", "wrong.h5");
  CK_FAILS(tl_stage_denoise(&s.call, &d), TL_EUSAGE, "--patch must be odd");
  ck_assert(!tl_file_exists(s.output));
  d.patch = 5;
  d.method = 2;
  s.call.dry_run = true;
  CK_OK(tl_stage_denoise(&s.call, &d));
  ck_assert(!tl_file_exists(s.output));
  ck_assert(number(&s, "slabs") == 1);
  end(&s);
  begin(&s, "scan.h5", "once.h5");
  CK_OK(tl_stage_denoise(&s.call, &d));
  CK_FAILS(tl_stage_denoise(&s.call, &d), TL_EUSAGE, "once.h5");
  s.call.overwrite = true;
  CK_OK(tl_stage_denoise(&s.call, &d));
  end(&s);

  TlImportStage i = {0};
  DEFAULTS(tl_catalog_import_table, &i);
  begin(&s, "grains.tals", "unused");
  CK_FAILS(tl_stage_catalog_import(&s.call, &i), TL_EUSAGE, "--sample=NAME wanted");
  end(&s);
  tl_params_free(tl_denoise_table.rows, tl_denoise_table.count, &d);
  tl_params_free(tl_catalog_import_table.rows, tl_catalog_import_table.count, &i);
  tl_claims_forget();
}
END_TEST

TL_TEST_MAIN("stage", a_chain_in_one_process, wrong_options_and_products_that_exist_are_refused)
