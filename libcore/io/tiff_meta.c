#include "io/tiff_meta.h"

#include "base/mem.h"
#include "io/stack_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- key=value lines, as ImageJ writes them ---- */

/* The value of "key=" at the start of a line, and its length; NULL when there is none. */
static const char *line_value(const char *text, const char *key, size_t *length) {
  size_t n = strlen(key);
  for (const char *line = text; line; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    if (strncmp(line, key, n) != 0 || line[n] != '=') continue;
    *length = strcspn(line + n + 1, "\r\n");
    return line + n + 1;
  }
  return NULL;
}

/* A number that fills the whole value, or fallback. */
static double number(const char *value, size_t length, double fallback) {
  char text[64], *end;
  if (!value || length == 0 || length >= sizeof text) return fallback;
  memcpy(text, value, length);
  text[length] = 0;
  double parsed = strtod(text, &end);
  while (*end == ' ') end++;
  return *end || !isfinite(parsed) ? fallback : parsed;
}

static double line_number(const char *text, const char *key, double fallback) {
  size_t length = 0;
  const char *value = line_value(text, key, &length);
  return number(value, length, fallback);
}

static int64_t line_count(const char *text, const char *key, int64_t fallback) {
  double value = line_number(text, key, (double)fallback);
  return value >= 1 && value < 1e15 ? (int64_t)value : fallback;
}

/* Our own writer's digits, unless another tool has since changed what ImageJ reads. */
static void exact_size(const char *text, double voxel_m[3]) {
  size_t length = 0;
  double um[3];
  const char *value = line_value(text, "talus_voxel_um", &length);
  if (!value || sscanf(value, "%lf,%lf,%lf", &um[0], &um[1], &um[2]) != 3) return;
  for (int k = 0; k < 3; k++)
    if (!(fabs(um[k] * 1e-6 - voxel_m[k]) <= 1e-5 * voxel_m[k])) return;
  for (int k = 0; k < 3; k++) voxel_m[k] = um[k] * 1e-6;
}

static void imagej_size(const char *text, const double pixels_per[2], double tag_unit_m,
                        TlTiffMeta *meta) {
  size_t length = 0;
  const char *unit = line_value(text, "unit", &length);
  double unit_m = unit ? tl_stack_unit_m(unit, length) : tag_unit_m;
  if (unit_m == 0 || pixels_per[0] <= 0 || pixels_per[1] <= 0) return;
  double x = 1 / pixels_per[0], y = 1 / pixels_per[1];
  double z = fabs(line_number(text, "spacing", 0));
  if (z == 0 && x == 1 && y == 1 && unit) z = 1;
  meta->voxel_m[0] = x * unit_m;
  meta->voxel_m[1] = y * unit_m;
  meta->voxel_m[2] = z * unit_m;
  meta->voxel_from = "ImageJ's description";
  exact_size(text, meta->voxel_m);
}

static void read_cylinder(const char *text, double cylinder[3]) {
  size_t length = 0;
  double c[3];
  const char *value = line_value(text, "talus_cylinder", &length);
  if (value && sscanf(value, "%lf,%lf,%lf", &c[0], &c[1], &c[2]) == 3 &&
      isfinite(c[0] + c[1] + c[2]) && c[2] > 0)
    memcpy(cylinder, c, sizeof c);
}

static TlStatus read_imagej(const char *text, const double pixels_per[2], double tag_unit_m,
                            TlTiffMeta *meta) {
  size_t length = 0;
  meta->imagej = true;
  meta->images = line_count(text, "images", 0);
  meta->channels = line_count(text, "channels", 1);
  meta->slices = line_count(text, "slices", 1);
  meta->frames = line_count(text, "frames", 1);
  imagej_size(text, pixels_per, tag_unit_m, meta);
  read_cylinder(text, meta->cylinder);
  const char *history = line_value(text, "talus_provenance", &length);
  if (!history) return TL_OK;
  meta->history = tl_format("%.*s", (int)length, history);
  return meta->history ? TL_OK : TL_ENOMEM;
}

/* ---- OME-XML ---- */

/* The start tag of the first Pixels element (with or without a name space), or NULL. */
static const char *pixels_tag(const char *xml) {
  for (const char *p = strstr(xml, "Pixels"); p; p = strstr(p + 1, "Pixels")) {
    bool opens = p > xml && (p[-1] == '<' || p[-1] == ':');
    if (opens && strchr(" \t\r\n", p[6]) && p[6]) return p + 6;
  }
  return NULL;
}

/* The value of an attribute of the tag, and its length; NULL when it has none. */
static const char *attribute(const char *tag, const char *name, size_t *length) {
  size_t n = strlen(name);
  const char *end = strchr(tag, '>');
  for (const char *p = strstr(tag, name); p && (!end || p < end); p = strstr(p + 1, name)) {
    const char *value = p + n + strspn(p + n, " \t\r\n");
    if (!strchr(" \t\r\n", p[-1]) || *value != '=') continue;
    value += 1 + strspn(value + 1, " \t\r\n");
    if (*value != '"' && *value != '\'') continue;
    const char *close = strchr(value + 1, *value);
    if (!close) return NULL;
    *length = (size_t)(close - value - 1);
    return value + 1;
  }
  return NULL;
}

static double ome_length(const char *tag, char axis) {
  char name[32];
  size_t length = 0;
  snprintf(name, sizeof name, "PhysicalSize%cUnit", axis);
  const char *unit = attribute(tag, name, &length);
  double unit_m = unit ? tl_stack_unit_m(unit, length) : 1e-6; /* the schema's default */
  snprintf(name, sizeof name, "PhysicalSize%c", axis);
  const char *value = attribute(tag, name, &length);
  double size = value ? number(value, length, 0) : 0;
  return size > 0 ? size * unit_m : 0;
}

static int64_t ome_count(const char *tag, const char *name) {
  size_t length = 0;
  const char *value = attribute(tag, name, &length);
  double count = value ? number(value, length, 1) : 1;
  return count >= 1 && count < 1e15 ? (int64_t)count : 1;
}

static void read_ome(const char *tag, TlTiffMeta *meta) {
  for (int k = 0; k < 3; k++) meta->voxel_m[k] = ome_length(tag, "XYZ"[k]);
  if (meta->voxel_m[0] > 0) meta->voxel_from = "OME-XML";
  meta->channels = ome_count(tag, "SizeC");
  meta->slices = ome_count(tag, "SizeZ");
  meta->frames = ome_count(tag, "SizeT");
}

TlStatus tl_tiff_meta(const char *description, const double pixels_per[2], double tag_unit_m,
                      TlTiffMeta *meta) {
  *meta = (TlTiffMeta){.channels = 1, .slices = 1, .frames = 1};
  const char *tag = description && strstr(description, "OME") ? pixels_tag(description) : NULL;
  if (tag) read_ome(tag, meta);
  if (description && strncmp(description, "ImageJ=", 7) == 0)
    TL_TRY(read_imagej(description, pixels_per, tag_unit_m, meta));
  if (meta->voxel_from || tag_unit_m == 0) return TL_OK;
  for (int k = 0; k < 2; k++)
    if (pixels_per[k] > 0) meta->voxel_m[k] = tag_unit_m / pixels_per[k];
  if (meta->voxel_m[0] > 0) meta->voxel_from = "the resolution tags";
  return TL_OK;
}

TlStatus tl_tiff_describe(const TlVolume *head, const char *history, char **out) {
  const double *voxel_m = head->voxel_m, *c = head->cylinder;
  char size[256] = "", cylinder[128] = "";
  if (c[2] > 0)
    snprintf(cylinder, sizeof cylinder, "talus_cylinder=%.17g,%.17g,%.17g\n", c[0], c[1], c[2]);
  if (voxel_m[0] > 0 && voxel_m[1] > 0 && voxel_m[2] > 0)
    snprintf(size, sizeof size, "unit=um\nspacing=%.17g\ntalus_voxel_um=%.17g,%.17g,%.17g\n",
             voxel_m[2] * 1e6, voxel_m[0] * 1e6, voxel_m[1] * 1e6, voxel_m[2] * 1e6);
  *out = tl_format("ImageJ=1.53t\nimages=%lld\nslices=%lld\nloop=false\n%s%s%s%s%s",
                   (long long)head->nz, (long long)head->nz, size, cylinder,
                   history ? "talus_provenance=" : "", history ? history : "", history ? "\n" : "");
  if (!*out) return TL_ENOMEM;
  /* The history is JSON on one line; a line break in it would end our key. */
  char *line = history ? strstr(*out, "talus_provenance=") : NULL;
  size_t length = history ? strlen(history) : 0;
  for (size_t i = 0; line && i < length; i++)
    if (line[17 + i] == '\n' || line[17 + i] == '\r') line[17 + i] = ' ';
  return TL_OK;
}
