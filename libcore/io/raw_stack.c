#include "io/raw_stack.h"

#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct Spec {
  TlStackInfo info;
  bool swap;
  long long offset;
} Spec;

void tl_swap_bytes(uint8_t *bytes, int64_t count, size_t size) {
  for (int64_t i = 0; i < count; i++, bytes += size)
    for (size_t k = 0; k < size / 2; k++) {
      uint8_t low = bytes[k];
      bytes[k] = bytes[size - 1 - k];
      bytes[size - 1 - k] = low;
    }
}

static bool type_named(const char *name, TlStackInfo *info) {
  TlVoxelType *type = &info->type;
  info->bits = strcmp(name, "f64") == 0 ? 64 : 0;
  if (info->bits) *type = TL_F32;
  if (info->bits) return true;
  for (*type = TL_U8; *type <= TL_F32; (*type)++)
    if (strcmp(tl_voxel_name(*type), name) == 0) return true;
  return false;
}

static bool machine_is_big(void) {
  const uint16_t one = 1;
  uint8_t first;
  memcpy(&first, &one, 1);
  return first == 0;
}

static TlStatus parse(const char *text, Spec *spec) {
  long long nz = 0, ny = 0, nx = 0;
  char type[8] = "", endian[8] = "";
  int used = 0, more = 0;
  *spec = (Spec){0};
  bool good =
      sscanf(text, "%lld,%lld,%lld,%7[a-z0-9],%7[a-z]%n", &nz, &ny, &nx, type, endian, &used) == 5;
  if (good && text[used])
    good = sscanf(text + used, ",%lld%n", &spec->offset, &more) == 1 && !text[used + more];
  bool big = strcmp(endian, "big") == 0;
  if (!good || !type_named(type, &spec->info) || (!big && strcmp(endian, "little") != 0) ||
      nz < 1 || ny < 1 || nx < 1 || nz > INT32_MAX || ny > INT32_MAX || nx > INT32_MAX ||
      spec->offset < 0)
    return tl_fail(TL_EUSAGE,
                   "raw voxels '%s': give NZ,NY,NX,TYPE,ENDIAN[,OFFSET], such as "
                   "1000,800,800,u16,little (types: u8 i8 u16 i16 u32 i32 f32 f64)",
                   text);
  spec->info.nz = nz;
  spec->info.ny = ny;
  spec->info.nx = nx;
  spec->swap = big != machine_is_big();
  return TL_OK;
}

static TlStatus check_size(const char *path, const Spec *spec) {
  const TlStackInfo *i = &spec->info;
  double want = (double)i->nz * (double)i->ny * (double)i->nx * (double)tl_stack_stored_size(i) +
                (double)spec->offset;
  int64_t bytes;
  TL_TRY(tl_file_size(path, &bytes));
  if ((double)bytes == want) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "%s: holds %lld bytes, %lld x %lld x %lld voxels (z, y, x) of %s after %lld bytes "
                 "make %.0f; give the true size, type and offset",
                 path, (long long)bytes, (long long)i->nz, (long long)i->ny, (long long)i->nx,
                 tl_stack_stored_name(i), spec->offset, want);
}

typedef struct Reader {
  FILE *file;
  char *path;
  Spec spec;
} Reader;

static TlStatus read_stored(Reader *r, int64_t first, int64_t count, void *stored) {
  size_t size = tl_stack_stored_size(&r->spec.info);
  errno = EIO;
  if (fseeko(r->file, (off_t)r->spec.offset + (off_t)first * (off_t)size, SEEK_SET) ||
      fread(stored, size, (size_t)count, r->file) != (size_t)count)
    return tl_fail_errno(r->path, "cannot read its voxels");
  if (r->spec.swap) tl_swap_bytes(stored, count, size);
  return TL_OK;
}

static TlStatus read_layers(void *self, int64_t z, int64_t count, void *voxels) {
  Reader *r = self;
  int64_t layer = r->spec.info.nx * r->spec.info.ny;
  if (r->spec.info.bits != 64) return read_stored(r, z * layer, count * layer, voxels);
  double *wide;
  float *narrow = voxels;
  TL_TRY(TL_NEW(wide, (size_t)layer));
  TlStatus status = TL_OK;
  for (int64_t k = 0; k < count && status == TL_OK; k++, narrow += layer) {
    status = read_stored(r, (z + k) * layer, layer, wide);
    for (int64_t i = 0; i < layer && status == TL_OK; i++) narrow[i] = (float)wide[i];
  }
  tl_free(wide);
  return status;
}

static void close_layers(void *self) {
  Reader *r = self;
  if (r->file) fclose(r->file);
  tl_free(r->path);
  tl_free(r);
}

static TlStatus open_voxels(const char *path, const Spec *spec, TlLayers *layers) {
  Reader *r;
  TL_TRY(TL_NEW(r, 1));
  *layers = (TlLayers){.self = r, .read = read_layers, .close = close_layers};
  r->spec = *spec;
  r->path = tl_strdup(path);
  r->file = r->path ? fopen(path, "rb") : NULL;
  if (r->file) return TL_OK;
  TlStatus status = r->path ? tl_fail_errno(path, "cannot open") : TL_ENOMEM;
  tl_layers_close(layers);
  return status;
}

TlStatus tl_raw_layers(const char *path, const char *text, TlStackInfo *info, TlLayers *layers) {
  Spec spec;
  TL_TRY(parse(text, &spec));
  TL_TRY(check_size(path, &spec));
  *info = spec.info;
  return open_voxels(path, &spec, layers);
}

TlStatus tl_raw_layers_at(const char *path, const TlStackInfo *info, bool big_endian,
                          int64_t offset, TlLayers *layers) {
  Spec spec = {.info = *info, .swap = big_endian != machine_is_big(), .offset = offset};
  return open_voxels(path, &spec, layers);
}
