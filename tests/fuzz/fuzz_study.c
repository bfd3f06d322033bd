/* Studies: YAML, the tables of keys, and what one key says against another; then written again. */
#include "fuzz/fuzz.h"

#include "base/mem.h"
#include "run/setup.h"

TL_FUZZ(study) {
  TlStudy study = {0};
  TlSetup setup = {0};
  char *text = NULL;
  (void)tl_fuzz_folder();
  TlStatus status = tl_study_parse(&study, "a.yaml", (const char *)bytes, size);
  if (status == TL_OK) status = tl_setup_fill(&setup, &study);
  if (status == TL_OK) status = tl_study_write(&tl_setup_schema, &setup, &text);
  tl_fuzz_done(status);
  tl_free(text);
  tl_setup_free(&setup);
  tl_study_free(&study);
}
