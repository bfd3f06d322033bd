/* Harnesses of the readers of foreign files: one a reader, tests/fuzz/fuzz_READER.c.
 *
 * A harness gives some bytes to a reader as a whole file and releases what came of it; whatever the
 * bytes are, the reader returns a status and nothing else. libFuzzer makes the bytes (make
 * check-fuzz), or they come from tests/fuzz/corpus/READER (tests/fuzz/replay.c, in CI).
 *   TL_FUZZ(stl) { return tl_fuzz_done(tl_mesh_read(tl_fuzz_file("a.stl", bytes, size), ...)); }
 */
#ifndef TL_TESTS_FUZZ_FUZZ_H
#define TL_TESTS_FUZZ_FUZZ_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef TL_FUZZER
#define TL_FUZZ(reader)                                                                            \
  void tl_fuzz_##reader(const uint8_t *bytes, size_t size);                                        \
  int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);                                   \
  int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {                                  \
    tl_fuzz_##reader(bytes, size);                                                                 \
    return 0;                                                                                      \
  }                                                                                                \
  void tl_fuzz_##reader(const uint8_t *bytes, size_t size)
#else
#define TL_FUZZ(reader)                                                                            \
  void tl_fuzz_##reader(const uint8_t *bytes, size_t size);                                        \
  void tl_fuzz_##reader(const uint8_t *bytes, size_t size)
#endif

/* A folder of this process below TMPDIR, removed at exit; quiet log, small limits of the sandbox.
 * Borrowed. */
const char *tl_fuzz_folder(void);
/* Writes the bytes as a file of that folder; its path, borrowed until the next call. */
const char *tl_fuzz_file(const char *name, const void *bytes, size_t size);
/* Path of a file in that folder, borrowed until the next call. */
const char *tl_fuzz_path(const char *name);
/* A failure has a message; ends the process when it has none or names an error of ours. */
void tl_fuzz_done(TlStatus status);
extern bool tl_fuzz_says; /* each status is printed with its message */
/* The status of a step that must succeed: ends the process with the message when it does not. */
void tl_fuzz_must(TlStatus status);

#endif
