/* The numbers behind a report's 3-D playback: sections of bytes, each packed by zlib, put one after
 * the other into the page; a table of them (name, place, sizes) goes with its JSON. Little-endian.
 */
#ifndef TL_POST_REPORT_DATA_H
#define TL_POST_REPORT_DATA_H

#include "post/html.h"

#include <stdbool.h>

typedef struct TlSection {
  char name[16];
  bool difference; /* bytes are differences to the byte before */
  size_t size, packed_size;
  uint8_t *packed; /* owned */
} TlSection;

typedef struct TlReportData {
  TlSection *section; /* owned */
  size_t count, capacity;
  size_t packed_size; /* of all */
} TlReportData;

/* Packs as they are. */
TlStatus tl_data_add(TlReportData *data, const char *name, const void *bytes, size_t size);
/* Packs as they are, or as differences to the byte before, whichever is smaller. */
TlStatus tl_data_add_series(TlReportData *data, const char *name, const uint8_t *bytes,
                            size_t size);
void tl_data_free(TlReportData *data);
/* [{"name":...,"at":...,"packed":...,"size":...,"difference":false}, ...] */
void tl_data_table(const TlReportData *data, TlHtml *to);
/* All sections as one text in base 64. */
void tl_data_base64(const TlReportData *data, TlHtml *to);

#endif
