/* Files written and read by another program: tests/golden/NAME.py, run by Debian's Python with h5py
 * and GDAL, against the readers and writers of Talus. A round trip cannot see an error that reader
 * and writer share. */
#ifndef TL_TESTS_SUPPORT_GOLDEN_H
#define TL_TESTS_SUPPORT_GOLDEN_H

#include "base/mem.h"
#include "support/tltest.h"

#include <stdio.h>

/* Runs tests/golden/SCRIPT.py with these arguments, which must succeed; its words go to the log. */
static inline void golden(const char *script, const char *arguments) {
  const char *tests = getenv("TALUS_TESTS"); /* the folder, when it is not where the test runs */
  char *command = tl_format("/usr/bin/python3 %s/golden/%s.py %s 2>&1", tests ? tests : "tests",
                            script, arguments);
  fflush(stdout);
  int status = system(command);
  ck_assert_msg(status == 0, "%s ended with status %d", command, status);
  tl_free(command);
}

/* The number of a field, row and component that golden files hold in that place. */
static inline double golden_real(int field, int64_t row, int component) {
  return 100 * field + 10 * (double)row + component + 0.25;
}

#endif
