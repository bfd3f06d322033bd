#include "io/stack.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/h5_stack.h"
#include "io/stack_parts.h"
#include "io/stack_slices.h"
#include "io/tiff.h"
#include "itk/itk.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tl_stack_info_free(TlStackInfo *info) {
  tl_free(info->history);
  info->history = NULL;
}

TlStatus tl_stack_volume(const char *path, const TlStackInfo *info, TlVolume *volume) {
  double bytes =
      (double)info->nx * (double)info->ny * (double)info->nz * (double)tl_voxel_size(info->type);
  double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  if (memory > 0 && bytes > memory)
    return tl_fail(
        TL_ENOMEM, "%s: %lld x %lld x %lld voxels need %.1f GB, this machine has %.1f GB", path,
        (long long)info->nx, (long long)info->ny, (long long)info->nz, bytes / 1e9, memory / 1e9);
  return tl_context(tl_volume_new(volume, info->type, info->nx, info->ny, info->nz), "%s", path);
}

/* ---- length units ---- */

double tl_stack_unit_m(const char *name, size_t length) {
  static const struct {
    const char *name;
    double metres;
  } units[] = {{"m", 1},
               {"meter", 1},
               {"metre", 1},
               {"cm", 1e-2},
               {"mm", 1e-3},
               {"millimeter", 1e-3},
               {"um", 1e-6},
               {"micron", 1e-6},
               {"microns", 1e-6},
               {"micrometer", 1e-6},
               {"micrometre", 1e-6},
               {"\xc2\xb5m", 1e-6}, /* micro sign, UTF-8 */
               {"\xce\xbcm", 1e-6}, /* Greek mu, UTF-8 */
               {"\xb5m", 1e-6},     /* micro sign, Latin-1 */
               {"\\u00B5m", 1e-6},  /* as Java and tifffile escape it */
               {"\\u00b5m", 1e-6},
               {"&#181;m", 1e-6},
               {"&#xB5;m", 1e-6},
               {"&#xb5;m", 1e-6},
               {"&#956;m", 1e-6},
               {"nm", 1e-9},
               {"inch", 0.0254},
               {"in", 0.0254}};
  while (length && name[length - 1] == ' ') length--;
  while (length && *name == ' ') name++, length--;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strlen(units[i].name) == length && strncmp(units[i].name, name, length) == 0)
      return units[i].metres;
  return 0;
}

static bool parse_positive(const char *text, double *value, const char **end) {
  char *stop;
  *value = strtod(text, &stop);
  *end = stop;
  return stop != text && isfinite(*value) && *value > 0;
}

TlStatus tl_stack_parse_voxel_um(const char *text, double voxel_um[3]) {
  const char *at = text;
  voxel_um[0] = voxel_um[1] = voxel_um[2] = 0;
  if (!text || !*text) return TL_OK;
  double size[3];
  int count = 0;
  bool good = true;
  while (good && count < 3) {
    good = parse_positive(at, &size[count++], &at);
    if (*at != ',') break;
    at++;
    good = good && count < 3;
  }
  if (!good || *at || count == 2)
    return tl_fail(TL_EUSAGE,
                   "voxel size '%s': give one positive number of micrometres, or three as X,Y,Z",
                   text);
  for (int k = 0; k < 3; k++) voxel_um[k] = size[count == 1 ? 0 : k];
  return TL_OK;
}

/* ---- formats ---- */

typedef enum Format { UNKNOWN, SLICES, TIFF_FILE, HDF5_FILE, ITK_FILE } Format;

/* HDF5 lets its signature start at 0, 512, 1024 ...: foreign files have a header in front. */
static bool is_hdf5(FILE *file) {
  unsigned char head[8];
  for (long at = 0; at <= 4096; at = at ? 2 * at : 512)
    if (fseek(file, at, SEEK_SET) == 0 && fread(head, 1, 8, file) == 8 &&
        memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0)
      return true;
  return false;
}

static bool is_tiff(const unsigned char *head) {
  return memcmp(head, "II*\0", 4) == 0 || memcmp(head, "MM\0*", 4) == 0 ||
         memcmp(head, "II+\0", 4) == 0 || memcmp(head, "MM\0+", 4) == 0;
}

static TlStatus sniff(const char *path, Format *format) {
  unsigned char head[4] = {0};
  char extension[16];
  FILE *file = fopen(path, "rb");
  if (!file) return tl_fail_errno(path, "cannot open");
  size_t got = fread(head, 1, 4, file);
  bool hdf5 = is_hdf5(file), failed = ferror(file);
  fclose(file);
  tl_path_extension(path, extension);
  if (failed) return tl_fail(TL_EIO, "%s: cannot read", path);
  if (got == 0) return tl_fail(TL_EINPUT, "%s: the file is empty", path);
  *format = hdf5 ? HDF5_FILE : got == 4 && is_tiff(head) ? TIFF_FILE : UNKNOWN;
  if (*format == UNKNOWN && (strcmp(extension, "mhd") == 0 || strcmp(extension, "mha") == 0 ||
                             strcmp(extension, "nrrd") == 0 || strcmp(extension, "nhdr") == 0))
    *format = ITK_FILE;
  if (*format != UNKNOWN) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "%s: not a TIFF, HDF5, NRRD or MetaImage file; give one of these, a folder of "
                 "TIFF slices or a pattern (raw voxels: write a .mhd header for them)",
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

static void say_size(const char *path, const TlStackInfo *info, const TlVolume *volume) {
  const double *v = volume->voxel_m;
  char size[128] = "voxel size unknown";
  if (v[0] > 0)
    snprintf(size, sizeof size, "voxel %.6g x %.6g x %.6g um", v[0] * 1e6, v[1] * 1e6, v[2] * 1e6);
  tl_log_info("%s: %lld x %lld x %lld voxels (x, y, z), %s, %s%s%s", path, (long long)volume->nx,
              (long long)volume->ny, (long long)volume->nz, tl_voxel_name(volume->type), size,
              info->voxel_from && v[0] > 0 ? " from " : "",
              info->voxel_from && v[0] > 0 ? info->voxel_from : "");
}

/* The option wins over the file, and is said to when they differ. */
static void settle_size(const char *path, const double voxel_um[3], TlStackInfo *info,
                        TlVolume *volume) {
  double *file = info->voxel_m;
  bool whole = file[0] > 0 && file[1] > 0 && file[2] > 0, given = voxel_um && voxel_um[0] > 0;
  if (!whole && !given && file[0] > 0)
    tl_log_warn("%s: %s gives pixels of %.6g x %.6g um but no slice spacing, so the voxel size is "
                "taken as unknown; give --voxel-size-um",
                path, info->voxel_from, file[0] * 1e6, file[1] * 1e6);
  for (int k = 0; k < 3; k++) {
    volume->voxel_m[k] = given ? voxel_um[k] * 1e-6 : whole ? file[k] : 0;
    if (whole && given && fabs(volume->voxel_m[k] - file[k]) > 1e-6 * file[k])
      tl_log_warn("%s: voxel size along %c: %.6g um as given, not %.6g um from %s", path, "xyz"[k],
                  volume -> voxel_m[k] * 1e6, file[k] * 1e6, info -> voxel_from);
  }
  if (given) info->voxel_from = "the command line";
}

/* ---- reading ---- */

static TlStatus read_tiff(const char *path, TlStackInfo *info, TlVolume *volume) {
  TlTiff *tiff;
  TL_TRY(tl_tiff_open(path, &tiff));
  *info = *tl_tiff_info(tiff);
  TlStatus status =
      info->history && !(info->history = tl_strdup(info->history)) ? TL_ENOMEM : TL_OK;
  if (status == TL_OK) status = tl_stack_volume(path, info, volume);
  if (status == TL_OK) status = tl_tiff_read(tiff, volume->data);
  tl_tiff_close(tiff);
  return status;
}

/* MetaImage and NRRD have a spacing but no unit that tools agree on, so it is shown, not taken. */
static TlStatus read_itk(const char *path, TlVolume *volume) {
  TL_TRY(tl_itk_read(path, 1, volume));
  double *v = volume->voxel_m;
  if (v[0] != 1 || v[1] != 1 || v[2] != 1)
    tl_log_info("%s: spacing %.6g x %.6g x %.6g in a unit that the file does not say; give "
                "--voxel-size-um",
                path, v[0], v[1], v[2]);
  v[0] = v[1] = v[2] = 0;
  return TL_OK;
}

static TlStatus read_slices(const char *path, bool allow_gaps, TlProvenance *provenance,
                            TlStackInfo *info, TlVolume *volume) {
  TlSliceList list;
  TL_TRY(tl_slices_find(path, allow_gaps, &list));
  TlStatus status = tl_slices_read(&list, info, volume);
  for (size_t i = 0; status == TL_OK && provenance && i < list.count; i++)
    status = tl_provenance_input(provenance, list.paths[i]);
  tl_slices_free(&list);
  return status;
}

static TlStatus read_file(const char *path, TlProvenance *provenance, TlStackInfo *info,
                          TlVolume *volume) {
  char *file;
  const char *dataset;
  Format format = UNKNOWN;
  TL_TRY(split_dataset(path, &file, &dataset));
  TlStatus status = sniff(file, &format);
  if (status == TL_OK && dataset && format != HDF5_FILE)
    status = tl_fail(TL_EINPUT, "%s: only an HDF5 file has datasets such as %s", file, dataset);
  if (status == TL_OK)
    status = format == TIFF_FILE   ? read_tiff(file, info, volume)
             : format == HDF5_FILE ? tl_h5_stack_read(file, dataset, info, volume)
                                   : read_itk(file, volume);
  if (status == TL_OK && provenance) status = tl_provenance_input(provenance, file);
  tl_free(file);
  return status;
}

TlStatus tl_stack_read(const char *path, const TlStackOptions *options, TlProvenance *provenance,
                       TlVolume *volume) {
  TlStackInfo info = {0};
  *volume = (TlVolume){0};
  TlStatus status = tl_slices_is(path) ? read_slices(path, options && options->allow_gaps,
                                                     provenance, &info, volume)
                                       : read_file(path, provenance, &info, volume);
  if (status != TL_OK) {
    tl_stack_info_free(&info);
    tl_volume_free(volume);
    return status;
  }
  volume->history = info.history;
  settle_size(path, options ? options->voxel_um : NULL, &info, volume);
  say_size(path, &info, volume);
  return TL_OK;
}

TlStatus tl_stack_need_voxel_size(const char *path, const TlVolume *volume) {
  if (volume->voxel_m[0] > 0 && volume->voxel_m[1] > 0 && volume->voxel_m[2] > 0) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: the voxel size is not known; give --voxel-size-um", path);
}

/* ---- writing ---- */

static Format output_format(const char *path) {
  char extension[16];
  tl_path_extension(path, extension);
  if (strcmp(extension, "h5") == 0 || strcmp(extension, "hdf5") == 0) return HDF5_FILE;
  if (strcmp(extension, "tif") == 0 || strcmp(extension, "tiff") == 0) return TIFF_FILE;
  return UNKNOWN;
}

TlStatus tl_stack_check_output(const char *path, bool overwrite) {
  TlOutFile out;
  if (output_format(path) == UNKNOWN)
    return tl_fail(TL_EUSAGE, "%s: the name of a stack ends in .h5 or .tif", path);
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  tl_outfile_abort(&out);
  return TL_OK;
}

static TlStatus full_history(const TlVolume *volume, const TlProvenance *provenance,
                             char **history) {
  *history = NULL;
  if (provenance) return tl_provenance_append(provenance, volume->history, history);
  if (volume->history && !(*history = tl_strdup(volume->history))) return TL_ENOMEM;
  return TL_OK;
}

TlStatus tl_stack_write(const char *path, const TlVolume *volume, const TlProvenance *provenance,
                        bool overwrite) {
  TlOutFile out;
  char *history;
  TL_TRY(tl_stack_check_output(path, overwrite));
  TL_TRY(tl_outfile_begin(&out, path, overwrite));
  TlStatus status = full_history(volume, provenance, &history);
  if (status == TL_OK)
    status = output_format(path) == HDF5_FILE ? tl_h5_stack_write(out.temp, path, volume, history)
                                              : tl_tiff_write(out.temp, path, volume, history);
  tl_free(history);
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}
