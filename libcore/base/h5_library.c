#include "base/h5_library.h"

#include <stddef.h>

void tl_h5_start(void) {
  H5dont_atexit();
  H5open();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static TlStatus cannot_look(const char *name) {
  return tl_fail(TL_EINPUT,
                 "cannot look for '%s' in it: the file is damaged, or its disk does not answer",
                 name);
}

TlStatus tl_h5_has(hid_t place, const char *name, bool *there) {
  htri_t found = H5Lexists(place, name, H5P_DEFAULT);
  *there = found > 0;
  return found < 0 ? cannot_look(name) : TL_OK;
}

TlStatus tl_h5_has_dataset(hid_t place, const char *name, bool *there) {
  H5O_info_t info;
  TL_TRY(tl_h5_has(place, name, there));
  if (!*there) return TL_OK;
  herr_t got = H5Oget_info_by_name2(place, name, &info, H5O_INFO_BASIC, H5P_DEFAULT);
  *there = got >= 0 && info.type == H5O_TYPE_DATASET;
  return got < 0 ? cannot_look(name) : TL_OK;
}
