#include "io/volume_header.h"

#include "base/log.h"
#include "io/raw_stack.h"
#include "io/stack_sandbox.h"
#include "itk/itk.h"

#include <stdlib.h>
#include <string.h>

/* ---- in the sandbox ---- */

typedef struct Job {
  TlStackJob stack;
  TlVolume volume;
} Job;

static TlStatus read_whole(const char *path, void *of) {
  Job *j = of;
  const TlVolume *v = &j->volume;
  TL_TRY(tl_itk_read(path, 0, &j->volume));
  j->stack.info = (TlStackInfo){.nx = v->nx, .ny = v->ny, .nz = v->nz, .type = v->type};
  j->stack.deep = 1;
  return TL_OK;
}

static TlStatus read_piece(const void *of, int64_t z, int64_t count, uint8_t *voxels) {
  const TlVolume *v = &((const Job *)of)->volume;
  size_t layer = (size_t)(v->nx * v->ny) * tl_voxel_size(v->type);
  memcpy(voxels, v->u8 + (size_t)z * layer, (size_t)count * layer);
  return TL_OK;
}

static TlStatus serve(TlSandbox *s, void *of) {
  return tl_stack_job_serve(s, of, read_piece);
}

static void release(void *of) {
  Job *j = of;
  tl_volume_free(&j->volume);
  tl_stack_job_release(&j->stack);
}

static const TlSandboxReader itk_reader = {.name = "MetaImage or NRRD",
                                           .job_bytes = sizeof(Job),
                                           .ask = tl_stack_job_ask,
                                           .read = read_whole,
                                           .tell = tl_stack_job_tell,
                                           .serve = serve,
                                           .release = release};
TL_SANDBOX_READER(itk_reader)

/* ---- in the caller ---- */

/* ITK reads the header again; it must find the volume that was checked. */
static TlStatus read_packed(const char *path, const TlVolumeHeader *h, TlStackInfo *info,
                            TlLayers *layers) {
  const TlStackInfo *want = &h->info;
  int64_t bytes = want->nx * want->ny * want->nz * (int64_t)tl_stack_stored_size(want);
  TL_TRY(tl_stack_sandbox_layers(&itk_reader, path, NULL, 3 * bytes, info, layers));
  if (info->nx == want->nx && info->ny == want->ny && info->nz == want->nz &&
      info->type == want->type)
    return TL_OK;
  tl_stack_info_free(info);
  tl_layers_close(layers);
  return tl_fail(TL_EINPUT, "%s: its header can be read in two ways; write it anew", path);
}

/* Axes of the voxels that run along other axes of the scanner, or against them. */
static void say_axes(const char *path, const int axis[3]) {
  static const char *const name[] = {"-z", "-y", "-x", "", "x", "y", "z"};
  int p[3], flips = 0;
  for (int k = 0; k < 3; k++) {
    p[k] = abs(axis[k]);
    flips += axis[k] < 0;
  }
  bool in_order = p[0] == 1 && p[1] == 2 && p[2] == 3;
  /* not said, or so oblique that two are nearest to one */
  if (p[0] + p[1] + p[2] != 6 || p[0] * p[1] * p[2] != 6 || (in_order && flips == 0)) return;
  bool cyclic = p[1] == p[0] % 3 + 1; /* a turn; else two of them are exchanged */
  tl_log_warn("%s: its axes are %s (those of the voxels run along %s, %s, %s of the scanner); "
              "voxels are taken in the order in which they lie, so grains %s the scanner's frame",
              path,
              in_order     ? "flipped"
              : flips == 0 ? "exchanged"
                           : "flipped and exchanged",
              name[axis[0] + 3], name[axis[1] + 3], name[axis[2] + 3],
              cyclic == (flips % 2 == 1) ? "are mirror images of those in" : "are turned against");
}

TlStatus tl_itk_layers(const char *path, TlStackFiles *files, TlStackInfo *info, TlLayers *layers) {
  TlVolumeHeader h;
  *info = (TlStackInfo){0};
  TlStatus status = tl_volume_header_read(path, &h);
  if (status == TL_OK) status = tl_stack_files_read(&h.files, NULL);
  if (status == TL_OK) say_axes(path, h.axis);
  const double *s = h.spacing;
  if (status == TL_OK && !h.info.voxel_from && s[0] > 0 && s[1] > 0 && s[2] > 0 &&
      (s[0] != 1 || s[1] != 1 || s[2] != 1))
    tl_log_info("%s: spacing %.6g x %.6g x %.6g in a unit that the file does not say; give "
                "--voxel-size-um",
                path, s[0], s[1], s[2]);
  if (status == TL_OK)
    status = h.plain ? tl_context(tl_raw_layers_at(h.data, &h.info, h.big_endian, h.offset, layers),
                                  "%s", path)
                     : read_packed(path, &h, info, layers);
  if (status == TL_OK) {
    if (h.plain) *info = h.info;
    memcpy(info->voxel_m, h.info.voxel_m, sizeof info->voxel_m);
    info->voxel_from = h.info.voxel_from;
    *files = h.files; /* handed over */
    h.files = (TlStackFiles){0};
  }
  tl_volume_header_free(&h);
  return status;
}
