/* Which format a stack has, and opening it as layers. */
#include "base/claims.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/h5_stack.h"
#include "io/volume_header.h"
#include "io/picture.h"
#include "io/raw_stack.h"
#include "io/stack.h"
#include "io/stack_parts.h"
#include "io/stack_slices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void tl_stack_info_free(TlStackInfo *info) {
  tl_free(info->history);
  info->history = NULL;
}

TlStatus tl_stack_files_add(TlStackFiles *files, char *path) {
  if (!path) return TL_ENOMEM;
  TlStatus status = TL_RESERVE(files->paths, files->capacity, files->count + 1);
  if (status == TL_OK)
    files->paths[files->count++] = path;
  else
    tl_free(path);
  return status;
}

TlStatus tl_stack_files_read(const TlStackFiles *files, TlProvenance *provenance) {
  for (size_t i = 0; i < files->count; i++)
    TL_TRY(provenance ? tl_provenance_input(provenance, files->paths[i])
                      : tl_claim_read(files->paths[i]));
  return TL_OK;
}

void tl_stack_files_free(TlStackFiles *files) {
  for (size_t i = 0; i < files->count; i++) tl_free(files->paths[i]);
  tl_free(files->paths);
  *files = (TlStackFiles){0};
}

/* ---- formats ---- */

typedef enum Format { UNKNOWN, PICTURE_FILE, HDF5_FILE, ITK_FILE } Format;

/* HDF5 lets its signature start at 0, 512, 1024 ...: foreign files have a header in front. */
static bool is_hdf5(FILE *file) {
  unsigned char head[8];
  for (long at = 0; at <= 4096; at = at ? 2 * at : 512)
    if (fseek(file, at, SEEK_SET) == 0 && fread(head, 1, 8, file) == 8 &&
        memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0)
      return true;
  return false;
}

static TlStatus sniff(const char *path, Format *format) {
  unsigned char head[TL_PICTURE_HEAD] = {0};
  char extension[16];
  FILE *file = fopen(path, "rb");
  if (!file) return tl_fail_errno(path, "cannot open");
  size_t got = fread(head, 1, sizeof head, file);
  bool hdf5 = is_hdf5(file), failed = ferror(file);
  fclose(file);
  tl_path_extension(path, extension);
  if (failed) return tl_fail(TL_EIO, "%s: cannot read", path);
  if (got == 0) return tl_fail(TL_EINPUT, "%s: the file is empty", path);
  *format = hdf5 ? HDF5_FILE : tl_picture_by_content(head) >= 0 ? PICTURE_FILE : UNKNOWN;
  if (*format == UNKNOWN && (strcmp(extension, "mhd") == 0 || strcmp(extension, "mha") == 0 ||
                             strcmp(extension, "nrrd") == 0 || strcmp(extension, "nhdr") == 0))
    *format = ITK_FILE;
  if (*format != UNKNOWN) return TL_OK;
  return tl_fail(
      TL_EINPUT,
      "%s: not a TIFF, PNG, HDF5, NRRD or MetaImage file; give one of these, a folder of "
      "TIFF or PNG slices or a pattern (raw voxels: say their size and type by --raw, or write "
      "a .mhd header for them)",
      path);
}

/* file.h5:/group/data names a dataset of an HDF5 file. */
static TlStatus split_dataset(const char *path, char **file, const char **dataset) {
  const char *colon = access(path, F_OK) == 0 ? NULL : strstr(path, ":/");
  *dataset = colon ? colon + 1 : NULL;
  *file = colon ? tl_format("%.*s", (int)(colon - path), path) : tl_strdup(path);
  return *file ? TL_OK : TL_ENOMEM;
}

/* ---- voxel size ---- */

static void say_size(const char *path, const TlStackInfo *info, const TlVolume *head) {
  const double *v = head->voxel_m;
  char size[128] = "voxel size unknown";
  if (v[0] > 0)
    snprintf(size, sizeof size, "voxel %.6g x %.6g x %.6g um", v[0] * 1e6, v[1] * 1e6, v[2] * 1e6);
  tl_log_info("%s: %lld x %lld x %lld voxels (x, y, z), %s, %s%s%s", path, (long long)head->nx,
              (long long)head->ny, (long long)head->nz, tl_voxel_name(head->type), size,
              info->voxel_from && v[0] > 0 ? " from " : "",
              info->voxel_from && v[0] > 0 ? info->voxel_from : "");
}

/* The option wins over the file, and is said to when they differ. */
static void settle_size(const char *path, const double voxel_um[3], TlStackInfo *info,
                        TlVolume *head) {
  double *file = info->voxel_m;
  bool whole = file[0] > 0 && file[1] > 0 && file[2] > 0, given = voxel_um[0] > 0;
  if (!whole && !given && file[0] > 0)
    tl_log_warn("%s: %s gives pixels of %.6g x %.6g um but no slice spacing, so the voxel size is "
                "taken as unknown; give --voxel-size-um",
                path, info->voxel_from, file[0] * 1e6, file[1] * 1e6);
  for (int k = 0; k < 3; k++) {
    head->voxel_m[k] = given ? voxel_um[k] * 1e-6 : whole ? file[k] : 0;
    if (whole && given && fabs(head->voxel_m[k] - file[k]) > 1e-6 * file[k])
      tl_log_warn("%s: voxel size along %c: %.6g um as given, not %.6g um from %s", path, "xyz"[k],
                  head -> voxel_m[k] * 1e6, file[k] * 1e6, info -> voxel_from);
  }
  if (given) info->voxel_from = "the command line";
}

/* ---- slices: the list lives as long as its layers ---- */

typedef struct Slices {
  TlStackFiles list;
  TlLayers layers;
} Slices;

static TlStatus slices_layers(void *self, int64_t z, int64_t count, void *voxels) {
  const Slices *s = self;
  return tl_layers_read(&s->layers, z, count, voxels);
}

static void slices_close(void *self) {
  Slices *s = self;
  tl_layers_close(&s->layers);
  tl_stack_files_free(&s->list);
  tl_free(s);
}

static TlStatus open_slices(const char *path, bool allow_gaps, TlProvenance *provenance,
                            TlStackInfo *info, TlLayers *layers) {
  Slices *s;
  TL_TRY(TL_NEW(s, 1));
  *layers = (TlLayers){.self = s, .read = slices_layers, .close = slices_close};
  TlStatus status = tl_slices_find(path, allow_gaps, &s->list);
  if (status == TL_OK) status = tl_stack_files_read(&s->list, NULL);
  if (status == TL_OK) status = tl_slices_layers(&s->list, info, &s->layers);
  if (status == TL_OK) status = tl_stack_files_read(&s->list, provenance);
  if (status != TL_OK) tl_layers_close(layers);
  return status;
}

/* ---- all of them ---- */

/* others: files beside this one that hold the voxels, claimed. */
static TlStatus open_format(const char *file, const char *dataset, const char *raw,
                            TlStackFiles *others, TlStackInfo *info, TlLayers *layers) {
  Format format = UNKNOWN;
  if (raw && raw[0]) return tl_raw_layers(file, raw, info, layers);
  TL_TRY(sniff(file, &format));
  if (dataset && format != HDF5_FILE)
    return tl_fail(TL_EINPUT, "%s: only an HDF5 file has datasets such as %s", file, dataset);
  if (format == PICTURE_FILE) return tl_picture_layers(file, info, layers);
  if (format == HDF5_FILE) return tl_h5_layers(file, dataset, info, layers);
  return tl_itk_layers(file, others, info, layers);
}

static TlStatus open_file(const char *path, const char *raw, TlProvenance *provenance,
                          TlStackInfo *info, TlLayers *layers) {
  char *file;
  const char *dataset;
  TlStackFiles others = {0};
  TL_TRY(split_dataset(path, &file, &dataset));
  TlStatus status = tl_claim_read(file);
  if (status == TL_OK) status = open_format(file, dataset, raw, &others, info, layers);
  if (status == TL_OK && provenance) {
    status = tl_provenance_input(provenance, file);
    if (status == TL_OK) status = tl_stack_files_read(&others, provenance);
    if (status != TL_OK) {
      tl_stack_info_free(info);
      tl_layers_close(layers);
    }
  }
  tl_stack_files_free(&others);
  tl_free(file);
  return status;
}

TlStatus tl_stack_open(const char *path, const TlStackOptions *options, TlProvenance *provenance,
                       TlLayers *layers) {
  static const TlStackOptions plain = {0};
  TlStackInfo info = {0};
  const TlStackOptions *o = options ? options : &plain;
  *layers = (TlLayers){0};
  TL_TRY(tl_slices_is(path) ? open_slices(path, o->allow_gaps, provenance, &info, layers)
                            : open_file(path, o->raw, provenance, &info, layers));
  TlVolume *head = &layers->head;
  *head = (TlVolume){.nx = info.nx, .ny = info.ny, .nz = info.nz, .type = info.type};
  head->history = info.history; /* handed over */
  memcpy(head->cylinder, info.cylinder, sizeof head->cylinder);
  settle_size(path, o->voxel_um, &info, head);
  say_size(path, &info, head);
  return TL_OK;
}
