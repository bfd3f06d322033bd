#include "post/report_data.h"

#include "base/mem.h"
#include "base/zlib_bytes.h"

#include <string.h>

void tl_data_free(TlReportData *data) {
  for (size_t i = 0; i < data->count; i++) tl_free(data->section[i].packed);
  tl_free(data->section);
  *data = (TlReportData){0};
}

TlStatus tl_data_add(TlReportData *data, const char *name, const void *bytes, size_t size) {
  TL_TRY(TL_RESERVE(data->section, data->capacity, data->count + 1));
  TlSection *s = &data->section[data->count];
  *s = (TlSection){.size = size};
  strncpy(s->name, name, sizeof s->name - 1);
  TL_TRY(tl_zlib_pack(bytes, size, &s->packed, &s->packed_size));
  data->count++;
  data->packed_size += s->packed_size;
  return TL_OK;
}

TlStatus tl_data_add_series(TlReportData *data, const char *name, const uint8_t *bytes,
                            size_t size) {
  uint8_t *difference, *packed = NULL;
  size_t packed_size = 0;
  TL_TRY(tl_data_add(data, name, bytes, size));
  TL_TRY(TL_NEW(difference, size));
  for (size_t i = 0; i < size; i++)
    difference[i] = (uint8_t)(bytes[i] - (i > 0 ? bytes[i - 1] : 0));
  TlStatus status = tl_zlib_pack(difference, size, &packed, &packed_size);
  TlSection *s = &data->section[data->count - 1];
  if (status == TL_OK && packed_size < s->packed_size) {
    uint8_t *larger = s->packed;
    data->packed_size -= s->packed_size - packed_size;
    s->packed = packed;
    s->packed_size = packed_size;
    s->difference = true;
    packed = larger;
  }
  tl_free(packed);
  tl_free(difference);
  return status;
}

void tl_data_table(const TlReportData *data, TlHtml *to) {
  size_t at = 0;
  tl_html(to, "[");
  for (size_t i = 0; i < data->count; i++) {
    const TlSection *s = &data->section[i];
    tl_html(to, "%s{\"name\":\"%s\",\"at\":%zu,\"packed\":%zu,\"size\":%zu,\"difference\":%s}",
            i ? "," : "", s->name, at, s->packed_size, s->size, s->difference ? "true" : "false");
    at += s->packed_size;
  }
  tl_html(to, "]");
}

void tl_data_base64(const TlReportData *data, TlHtml *to) {
  uint8_t *all;
  size_t at = 0;
  if (to->status != TL_OK) return;
  to->status = TL_NEW(all, data->packed_size);
  if (to->status != TL_OK) return;
  for (size_t i = 0; i < data->count; i++) {
    memcpy(all + at, data->section[i].packed, data->section[i].packed_size);
    at += data->section[i].packed_size;
  }
  tl_html_base64(to, all, at);
  tl_free(all);
}
