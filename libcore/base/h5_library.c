#include "base/h5_library.h"

#include <stddef.h>

void tl_h5_start(void) {
  H5dont_atexit();
  H5open();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

TlStatus tl_h5_has(hid_t place, const char *name, bool *there) {
  htri_t found = H5Lexists(place, name, H5P_DEFAULT);
  *there = found > 0;
  if (found >= 0) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "cannot look for '%s' in it: the file is damaged, or its disk does not "
                 "answer",
                 name);
}
