/* Resuming a run from a checkpoint whose digests are right: what is in the records is held against
 * the study before anything is made of it. */
#include "fuzz/fuzz.h"

#include "base/mem.h"
#include "fuzz/made.h"
#include "run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef TL_FUZZER
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed) {
  (void)seed;
  size = LLVMFuzzerMutate(bytes, size, most);
  tl_made_mend_checkpoint(bytes, size);
  return size;
}
#endif

TL_FUZZ(resume) {
  static char study[256], folder[256], saved[300];
  TlRun run;
  uint64_t hash;
  if (!study[0]) {
    snprintf(study, sizeof study, "%s", tl_fuzz_path("balls.yaml"));
    snprintf(folder, sizeof folder, "%s", tl_fuzz_path("balls.run"));
    snprintf(saved, sizeof saved, "%s/checkpoint_000000000003.tck", folder);
    tl_made_run(study, folder);
    char last[300]; /* the newer one, which would be taken */
    snprintf(last, sizeof last, "%s/checkpoint_000000000006.tck", folder);
    (void)remove(last);
  }
  FILE *file = fopen(saved, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
  TlRunOptions options = {.study = study, .output = folder, .resume = true};
  TlStatus status = tl_run_open(&run, NULL, &options);
  if (status == TL_OK) status = tl_run_refresh(&run);
  if (status == TL_OK) status = tl_run_hash(&run, &hash);
  tl_fuzz_done(status);
  tl_run_close(&run);
}
