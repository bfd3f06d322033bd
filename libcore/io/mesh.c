#include "io/mesh.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void facet(const float *vertex, const int32_t *triangle, double scale, float out[12]) {
  for (int v = 0; v < 3; v++)
    for (int c = 0; c < 3; c++)
      out[3 + 3 * v + c] = (float)(scale * vertex[3 * (size_t)triangle[v] + (size_t)c]);
  double a[3], b[3], n[3];
  for (int c = 0; c < 3; c++) {
    a[c] = (double)out[6 + c] - out[3 + c];
    b[c] = (double)out[9 + c] - out[3 + c];
  }
  for (int c = 0; c < 3; c++)
    n[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
  double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int c = 0; c < 3; c++) out[c] = (float)(length > 0 ? n[c] / length : 0);
}

/* Little-endian on disk; the machines we build for are (x86-64, arm64). */
static bool write_facets(FILE *file, const char *title, const float *vertex,
                         const int32_t *triangle, size_t triangles, double scale) {
  char head[84] = {0};
  uint32_t count = (uint32_t)triangles;
  snprintf(head, 80, "%s", title);
  memcpy(head + 80, &count, 4);
  bool good = fwrite(head, sizeof head, 1, file) == 1;
  for (size_t t = 0; t < triangles && good; t++) {
    char record[50] = {0};
    float numbers[12];
    facet(vertex, triangle + 3 * t, scale, numbers);
    memcpy(record, numbers, sizeof numbers);
    good = fwrite(record, sizeof record, 1, file) == 1;
  }
  return good;
}

TlStatus tl_stl_write(const char *path, bool overwrite, const char *title, const float *vertex,
                      const int32_t *triangle, size_t triangles, double scale) {
  if (triangles > UINT32_MAX)
    return tl_fail(TL_EINPUT, "%s: %zu triangles are more than an STL file can hold", path,
                   triangles);
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  FILE *file = fopen(out.temp, "wb");
  TlStatus status = TL_OK;
  if (!file) {
    status = tl_fail_errno(path, "cannot create");
  } else {
    bool good = write_facets(file, title, vertex, triangle, triangles, scale);
    if (fclose(file) != 0 || !good) status = tl_fail_errno(path, "cannot write");
  }
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}

static bool write_ply(FILE *file, const char *title, const float *vertex, size_t vertices,
                      const int32_t *triangle, size_t triangles, double scale) {
  fprintf(file,
          "ply\nformat binary_little_endian 1.0\ncomment %s\nelement vertex %zu\n"
          "property float x\nproperty float y\nproperty float z\nelement face %zu\n"
          "property list uchar int vertex_indices\nend_header\n",
          title, vertices, triangles);
  for (size_t i = 0; i < vertices; i++) {
    float p[3];
    for (size_t c = 0; c < 3; c++) p[c] = (float)(scale * vertex[3 * i + c]);
    if (fwrite(p, sizeof p, 1, file) != 1) return false;
  }
  for (size_t t = 0; t < triangles; t++) {
    char record[13] = {3};
    memcpy(record + 1, triangle + 3 * t, 12);
    if (fwrite(record, sizeof record, 1, file) != 1) return false;
  }
  return !ferror(file);
}

TlStatus tl_ply_write(const char *path, bool overwrite, const char *title, const float *vertex,
                      size_t vertices, const int32_t *triangle, size_t triangles, double scale) {
  TlOutFile out;
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  FILE *file = fopen(out.temp, "wb");
  TlStatus status = TL_OK;
  if (!file) {
    status = tl_fail_errno(path, "cannot create");
  } else {
    bool good = write_ply(file, title, vertex, vertices, triangle, triangles, scale);
    if (fclose(file) != 0 || !good) status = tl_fail_errno(path, "cannot write");
  }
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}
