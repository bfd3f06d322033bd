#include "io/h5_parts.h"

#include "base/h5_library.h"
#include "base/h5_read.h"

#include <stdio.h>
#include <string.h>

/* A failed write comes with time, descriptor and addresses; what a reader wants is errno's text. */
static void keep_reason(char *text) {
  char *reason = strstr(text, "error message = '");
  if (!reason) return;
  reason += strlen("error message = '");
  size_t length = strcspn(reason, "'");
  memmove(text, reason, length);
  text[length] = 0;
}

TlStatus tl_h5_fails(TlStatus code, const char *name, const char *what) {
  char text[512] = "";
  tl_h5_words(text, sizeof text);
  keep_reason(text);
  return tl_fail(code, "%s: %s%s%s", name, what, text[0] ? ": " : "", text);
}

TlH5Quiet tl_h5_quiet(void) {
  TlH5Quiet quiet = {0};
  tl_h5_start();
  H5Eget_auto2(H5E_DEFAULT, &quiet.print, &quiet.data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return quiet;
}

void tl_h5_loud(TlH5Quiet quiet) {
  H5Eset_auto2(H5E_DEFAULT, quiet.print, quiet.data);
}

bool tl_h5_write_attribute(hid_t object, const char *name, hid_t file_type, hid_t type,
                           hsize_t count, const void *values) {
  hid_t space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
  hid_t attribute = H5Acreate2(object, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool written = attribute >= 0 && H5Awrite(attribute, type, values) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  H5Sclose(space);
  return written;
}

bool tl_h5_write_history(hid_t file, const char *history) {
  if (!history) return true;
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, strlen(history) + 1);
  hid_t dataset =
      H5Dcreate2(file, "/provenance", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool written =
      dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, history) >= 0;
  if (dataset >= 0) written = H5Dclose(dataset) >= 0 && written;
  H5Sclose(space);
  H5Tclose(type);
  return written;
}
