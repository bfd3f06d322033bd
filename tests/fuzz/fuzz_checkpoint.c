/* Checkpoints as files: sections, layouts, digests. */
#include "fuzz/fuzz.h"

#include "base/mem.h"
#include "store/checkpoint.h"

#include <string.h>

TL_FUZZ(checkpoint) {
  TlCheckpoint *c;
  (void)tl_fuzz_file("checkpoint_000000000003.tck", bytes, size);
  for (int verify = 0; verify < 2; verify++) {
    TlStatus status = tl_checkpoint_open(&c, tl_fuzz_folder(), 3, verify);
    tl_fuzz_done(status);
    if (status != TL_OK) return;
    const char *name;
    for (int i = 0; (name = tl_checkpoint_name(c, i)); i++) {
      int64_t records;
      char record[64];
      if (tl_checkpoint_find(c, name, "text", 1, &records) != TL_OK) continue;
      if (records > 64) records = 64;
      tl_fuzz_done(tl_checkpoint_read(c, name, 0, records, record));
    }
    (void)tl_checkpoint_has(c, "bodies");
    tl_checkpoint_close(c);
  }
}
