#include "io/stack.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/h5_stack.h"
#include "io/stack_parts.h"
#include "io/tiff.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tl_stack_stored_name(const TlStackInfo *info) {
  static _Thread_local char text[4][24];
  static _Thread_local int turn;
  if (info->bits == 0) return tl_voxel_name(info->type);
  turn = (turn + 1) % 4;
  snprintf(text[turn], sizeof text[turn], "%d-bit%s", info->bits,
           info->type == TL_F32 ? " float" : "");
  return text[turn];
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

/* ---- reading ---- */

/* The kernel would kill the tool without a word. */
TlStatus tl_stack_check_memory(const char *path, const TlStackInfo *i) {
  double bytes = (double)i->nx * (double)i->ny * (double)i->nz * (double)tl_voxel_size(i->type);
  double memory = (double)tl_mem_machine_bytes();
  if (memory <= 0 || bytes <= memory) return TL_OK;
  return tl_fail(TL_ENOMEM, "%s: %lld x %lld x %lld voxels need %.1f GB, this machine has %.1f GB",
                 path, (long long)i->nx, (long long)i->ny, (long long)i->nz, bytes / 1e9,
                 memory / 1e9);
}

/* So many layers at a time that a bar moves and a chunk of a file is unpacked once. */
enum { AT_ONCE = 16 };

static TlStatus read_all(const TlLayers *layers, TlVolume *volume) {
  size_t layer = (size_t)(volume->nx * volume->ny) * tl_voxel_size(volume->type);
  TlStatus status = TL_OK;
  TlProgress progress = tl_progress_start("reading", volume->nz);
  for (int64_t z = 0; z < volume->nz && status == TL_OK; z += AT_ONCE) {
    int64_t count = volume->nz - z < AT_ONCE ? volume->nz - z : AT_ONCE;
    status = tl_layers_read(layers, z, count, volume->u8 + (size_t)z * layer);
    tl_progress(&progress, z + count);
  }
  tl_progress_end(&progress);
  return status;
}

static TlStatus read_opened(const char *path, TlLayers *layers, TlVolume *volume) {
  TlVolume *head = &layers->head;
  TL_TRY(tl_stack_check_memory(
      path, &(TlStackInfo){.nx = head->nx, .ny = head->ny, .nz = head->nz, .type = head->type}));
  TL_TRY(tl_context(tl_volume_like(volume, head, head->type), "%s", path));
  volume->history = head->history;
  head->history = NULL; /* handed over */
  return read_all(layers, volume);
}

TlStatus tl_stack_read(const char *path, const TlStackOptions *options, TlProvenance *provenance,
                       TlVolume *volume) {
  TlLayers layers;
  *volume = (TlVolume){0};
  TL_TRY(tl_stack_open(path, options, provenance, &layers));
  TlStatus status = read_opened(path, &layers, volume);
  if (status != TL_OK) tl_volume_free(volume);
  tl_layers_close(&layers);
  return status;
}

TlStatus tl_stack_need_voxel_size(const char *path, const TlVolume *volume) {
  if (volume->voxel_m[0] > 0 && volume->voxel_m[1] > 0 && volume->voxel_m[2] > 0) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: the voxel size is not known; give --voxel-size-um", path);
}

/* ---- writing ---- */

typedef enum Format { UNKNOWN, TIFF_FILE, HDF5_FILE } Format;

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

typedef struct Product {
  TlOutFile out;
  TlLayerSink sink; /* of the format, into out.temp */
  int64_t nz, z;    /* layers promised, layers written */
} Product;

static TlStatus append(void *self, int64_t count, const void *voxels) {
  Product *p = self;
  assert(p->z + count <= p->nz);
  p->z += count;
  return tl_sink_append(&p->sink, count, voxels);
}

static TlStatus finish(void *self) {
  Product *p = self;
  assert(p->z == p->nz);
  TlStatus status = tl_sink_end(&p->sink, TL_OK);
  if (status == TL_OK)
    status = tl_outfile_commit(&p->out);
  else
    tl_outfile_abort(&p->out);
  tl_free(p);
  return status;
}

static void drop(void *self) {
  Product *p = self;
  TL_CLEAN_UP(tl_sink_end(&p->sink, TL_EIO));
  tl_outfile_abort(&p->out);
  tl_free(p);
}

static TlStatus begin_format(Product *p, const TlVolume *head, const char *history) {
  return output_format(p->out.path) == HDF5_FILE
             ? tl_h5_begin(p->out.temp, p->out.path, head, history, &p->sink)
             : tl_tiff_begin(p->out.temp, p->out.path, head, history, &p->sink);
}

TlStatus tl_stack_begin(const char *path, const TlVolume *head, const TlProvenance *provenance,
                        bool overwrite, TlLayerSink *sink) {
  Product *p;
  char *history;
  *sink = (TlLayerSink){0};
  TL_TRY(tl_stack_check_output(path, overwrite));
  TL_TRY(TL_NEW(p, 1));
  p->nz = head->nz;
  TlStatus status = tl_outfile_begin(&p->out, path, overwrite);
  if (status != TL_OK) {
    tl_free(p);
    return status;
  }
  status = full_history(head, provenance, &history);
  if (status == TL_OK) status = begin_format(p, head, history);
  tl_free(history);
  if (status == TL_OK)
    *sink = (TlLayerSink){p, append, finish, drop};
  else
    drop(p);
  return status;
}

static TlStatus append_all(const TlLayerSink *sink, const TlVolume *volume) {
  size_t layer = (size_t)(volume->nx * volume->ny) * tl_voxel_size(volume->type);
  TlStatus status = TL_OK;
  TlProgress progress = tl_progress_start("writing", volume->nz);
  for (int64_t z = 0; z < volume->nz && status == TL_OK; z += AT_ONCE) {
    int64_t count = volume->nz - z < AT_ONCE ? volume->nz - z : AT_ONCE;
    status = tl_sink_append(sink, count, volume->u8 + (size_t)z * layer);
    tl_progress(&progress, z + count);
  }
  tl_progress_end(&progress);
  return status;
}

TlStatus tl_stack_write(const char *path, const TlVolume *volume, const TlProvenance *provenance,
                        bool overwrite) {
  TlLayerSink sink;
  TL_TRY(tl_stack_begin(path, volume, provenance, overwrite, &sink));
  return tl_sink_end(&sink, append_all(&sink, volume));
}

size_t tl_stack_stored_size(const TlStackInfo *info) {
  return info->bits == 64 ? 8 : tl_voxel_size(info->type);
}
