#include "io/picture.h"

#include "base/file.h"
#include "io/tiff.h"

#include <stdio.h>
#include <string.h>

static bool is_tiff(const unsigned char *head) {
  return memcmp(head, "II*\0", 4) == 0 || memcmp(head, "MM\0*", 4) == 0 ||
         memcmp(head, "II+\0", 4) == 0 || memcmp(head, "MM\0+", 4) == 0;
}

static bool is_png(const unsigned char *head) {
  return memcmp(head, "\x89PNG\r\n\x1a\n", TL_PICTURE_HEAD) == 0;
}

static const struct {
  const char *name, *extensions[2];
  bool (*is)(const unsigned char *head);
  TlStatus (*open)(const char *path, TlStackInfo *info, TlLayers *layers);
} kinds[TL_PICTURE_KINDS] = {{"TIFF", {"tif", "tiff"}, is_tiff, tl_tiff_layers},
                             {"PNG", {"png", "png"}, is_png, tl_png_layers}};

const char *tl_picture_kind(int kind) {
  return kinds[kind].name;
}

int tl_picture_by_name(const char *name) {
  char extension[16];
  tl_path_extension(name, extension);
  for (int k = 0; k < TL_PICTURE_KINDS; k++)
    for (int e = 0; e < 2; e++)
      if (strcmp(extension, kinds[k].extensions[e]) == 0) return k;
  return -1;
}

int tl_picture_by_content(const unsigned char head[TL_PICTURE_HEAD]) {
  for (int k = 0; k < TL_PICTURE_KINDS; k++)
    if (kinds[k].is(head)) return k;
  return -1;
}

TlStatus tl_picture_layers(const char *path, TlStackInfo *info, TlLayers *layers) {
  unsigned char head[TL_PICTURE_HEAD] = {0};
  FILE *file = fopen(path, "rb");
  if (!file) return tl_fail_errno(path, "cannot open");
  size_t got = fread(head, 1, sizeof head, file);
  fclose(file);
  int kind = got > 0 ? tl_picture_by_content(head) : -1;
  return kinds[kind < 0 ? 0 : kind].open(path, info, layers);
}
