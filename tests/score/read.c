/* Phantom folders (score.h says what is in one). */
#include "score/score.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/stack.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The one file of the folder that matches; "" when none is there. */
static TlStatus find(const char *folder, const char *ending, char path[1024]) {
  char pattern[1200];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/*%s", folder, ending);
  path[0] = '\0';
  if (glob(pattern, 0, NULL, &found) != 0) return TL_OK;
  if (found.gl_pathc == 1) snprintf(path, 1024, "%s", found.gl_pathv[0]);
  size_t count = found.gl_pathc;
  globfree(&found);
  return count <= 1 ? TL_OK
                    : tl_fail(TL_EINPUT, "%s: %zu files end in %s; keep one phantom a folder",
                              folder, count, ending);
}

static TlStatus find_one(const char *folder, const char *ending, char path[1024]) {
  TL_TRY(find(folder, ending, path));
  return path[0] ? TL_OK : tl_fail(TL_EINPUT, "%s: no file ends in %s", folder, ending);
}

static TlStatus read_stack(const char *folder, const char *ending, TlVolume *stack) {
  char path[1024];
  TL_TRY(find_one(folder, ending, path));
  TL_TRY(tl_stack_read(path, &(TlStackOptions){0}, NULL, stack));
  if (stack->type == TL_U16) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: %s voxels; a phantom's are u16", path, tl_voxel_name(stack->type));
}

static bool same_size(const TlVolume *a, const TlVolume *b) {
  return a->nx == b->nx && a->ny == b->ny && a->nz == b->nz;
}

static TlStatus read_labels(const char *folder, TlVolume *labels) {
  char path[1024];
  TlVolume read;
  TL_TRY(find(folder, "_labels_u32.tif", path));
  if (!path[0]) TL_TRY(find_one(folder, "_labels_u16.tif", path));
  TL_TRY(tl_stack_read(path, &(TlStackOptions){0}, NULL, &read));
  if (read.type == TL_U32) {
    *labels = read;
    return TL_OK;
  }
  TlStatus status = read.type != TL_U16 ? tl_fail(TL_EINPUT, "%s: labels are u16 or u32", path)
                                        : tl_volume_like(labels, &read, TL_U32);
  for (int64_t i = 0; status == TL_OK && i < tl_volume_count(&read); i++)
    labels->u32[i] = read.u16[i];
  tl_volume_free(&read);
  return status;
}

static TlStatus read_stacks(const char *folder, ScorePhantom *p) {
  TL_TRY(read_stack(folder, "_clean_u16.tif", &p->clean));
  TL_TRY(read_stack(folder, "_low_u16.tif", &p->low));
  TL_TRY(read_stack(folder, "_high_u16.tif", &p->high));
  TL_TRY(read_labels(folder, &p->labels));
  if (same_size(&p->clean, &p->low) && same_size(&p->clean, &p->high) &&
      same_size(&p->clean, &p->labels))
    return TL_OK;
  return tl_fail(TL_EINPUT, "%s: the stacks are not of one size", folder);
}

/* ---- the table of grains ---- */

enum { LABEL, BORDER, GREY, VOLUME, CZ, CY, CX, I1, I2, I3, COLUMNS };
static const char *const names[COLUMNS] = {"label", "border", "grey", "volume", "cz",
                                           "cy",    "cx",     "I1",   "I2",     "I3"};

static TlStatus find_columns(const char *path, const char *header, int column[COLUMNS]) {
  for (int k = 0; k < COLUMNS; k++) {
    column[k] = -1;
    int at = 0;
    for (const char *c = header; c; at++) {
      size_t n = strcspn(c, ",\r\n");
      if (n == strlen(names[k]) && !strncmp(c, names[k], n)) column[k] = at;
      c = c[n] == ',' ? c + n + 1 : NULL;
    }
    if (column[k] < 0) return tl_fail(TL_EINPUT, "%s: no column '%s'", path, names[k]);
  }
  return TL_OK;
}

static void take_grain(const char *line, const int column[COLUMNS], double value[COLUMNS]) {
  int at = 0;
  for (const char *c = line; c; at++) {
    for (int k = 0; k < COLUMNS; k++)
      if (column[k] == at) value[k] = strtod(c, NULL);
    c = strchr(c, ',');
    if (c) c++;
  }
}

static TlStatus add_grain(ScorePhantom *p, size_t *capacity, const double v[COLUMNS],
                          const char *path) {
  TL_TRY(TL_RESERVE(p->grains, *capacity, (size_t)p->grain_count + 1));
  ScoreGrain *g = &p->grains[p->grain_count++];
  *g = (ScoreGrain){.label = (uint32_t)v[LABEL],
                    .border = v[BORDER] > 0,
                    .grey = v[GREY],
                    .volume = v[VOLUME],
                    .centroid = {v[CX], v[CY], v[CZ]},
                    .principal = {v[I1], v[I2], v[I3]}};
  if ((int64_t)g->label != p->grain_count || !(g->volume > 0))
    return tl_fail(TL_EINPUT, "%s: row %lld is not the grain %lld", path, (long long)p->grain_count,
                   (long long)p->grain_count);
  return TL_OK;
}

static TlStatus read_grains(const char *folder, ScorePhantom *p) {
  char path[1024], *text, *rest;
  size_t size, capacity = 0;
  int column[COLUMNS];
  TL_TRY(find_one(folder, "_grains.csv", path));
  TL_TRY(tl_file_read(path, &text, &size));
  char *line = strtok_r(text, "\n", &rest);
  TlStatus status = find_columns(path, line ? line : "", column);
  while (status == TL_OK && (line = strtok_r(NULL, "\n", &rest))) {
    double value[COLUMNS] = {0};
    take_grain(line, column, value);
    status = add_grain(p, &capacity, value, path);
  }
  tl_free(text);
  return status;
}

static TlStatus count_voxels(const char *folder, ScorePhantom *p) {
  for (int64_t i = 0; i < tl_volume_count(&p->labels); i++) {
    uint32_t l = p->labels.u32[i];
    if ((int64_t)l > p->grain_count)
      return tl_fail(TL_EINPUT, "%s: label %u is not in the table of %lld grains", folder, l,
                     (long long)p->grain_count);
    if (l) p->grains[l - 1].voxels++;
  }
  return TL_OK;
}

/* ---- the surface ---- */

static TlStatus take_points(const char *path, const float *record, int64_t count, ScorePhantom *p) {
  TL_TRY(TL_NEW(p->points, (size_t)count));
  TL_TRY(TL_NEW(p->first, (size_t)p->grain_count + 2));
  for (int64_t i = 0; i < count; i++) {
    double l = (double)record[7 * i];
    if (!(l >= 1 && l <= (double)p->grain_count))
      return tl_fail(TL_EINPUT, "%s: record %lld is of label %g", path, (long long)i, l);
    p->first[(int64_t)l + 1]++;
  }
  for (int64_t l = 1; l <= p->grain_count + 1; l++) p->first[l] += p->first[l - 1];
  int64_t *next;
  TL_TRY(TL_NEW(next, (size_t)p->grain_count + 2));
  memcpy(next, p->first, (size_t)(p->grain_count + 2) * sizeof *next);
  for (int64_t i = 0; i < count; i++) {
    const float *r = record + 7 * i;
    p->points[next[(int64_t)r[0]]++] =
        (ScorePoint){{(double)r[3], (double)r[2], (double)r[1]},
                     tl_unit(tl_vec3((double)r[6], (double)r[5], (double)r[4]))};
  }
  tl_free(next);
  return TL_OK;
}

static TlStatus read_surface(const char *folder, ScorePhantom *p) {
  char path[1024], *bytes;
  size_t size;
  TL_TRY(find_one(folder, "_surface_f32.raw", path));
  TL_TRY(tl_file_read(path, &bytes, &size));
  float *record = NULL;
  TlStatus status =
      size % 28 ? tl_fail(TL_EINPUT, "%s: %zu bytes are no records of 7 float32", path, size)
                : TL_NEW(record, size / 4 + 1);
  if (status == TL_OK) {
    memcpy(record, bytes, size); /* little-endian machines only, as the whole project */
    status = take_points(path, record, (int64_t)(size / 28), p);
    tl_free(record);
  }
  tl_free(bytes);
  return status;
}

TlStatus score_phantom_read(const char *folder, ScorePhantom *phantom) {
  *phantom = (ScorePhantom){.suffix = ""};
  snprintf(phantom->folder, sizeof phantom->folder, "%s", folder);
  TlStatus status = read_stacks(folder, phantom);
  if (status == TL_OK) status = read_grains(folder, phantom);
  if (status == TL_OK) status = count_voxels(folder, phantom);
  if (status == TL_OK) status = read_surface(folder, phantom);
  if (status != TL_OK) score_phantom_free(phantom);
  return status;
}

void score_phantom_free(ScorePhantom *phantom) {
  tl_volume_free(&phantom->clean);
  tl_volume_free(&phantom->low);
  tl_volume_free(&phantom->high);
  tl_volume_free(&phantom->labels);
  tl_free(phantom->grains);
  tl_free(phantom->points);
  tl_free(phantom->first);
  *phantom = (ScorePhantom){0};
}
