/* Labelling by slabs: hills and passes of each slab as it comes, their ids kept as runs in a file
 * without a name, then one pass that turns ids into labels. */
#include "base/log.h"
#include "base/mem.h"
#include "image/label_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { USUAL_DEPTH = 64 }; /* planes that a plan leaves for the halo, where there is room */

/* ---- ids in a file ---- */

typedef struct Run {
  uint32_t id, length;
} Run;

typedef struct Scratch {
  FILE *file;
  char *folder;
} Scratch;

static TlStatus scratch_open(Scratch *s, const char *folder) {
  *s = (Scratch){.folder = tl_strdup(folder)};
  char *name = tl_format("%s/talus-label-XXXXXX", folder);
  if (!s->folder || !name) {
    tl_free(name);
    return TL_ENOMEM;
  }
  int fd = mkstemp(name);
  if (fd >= 0) unlink(name);
  if (fd >= 0) s->file = fdopen(fd, "w+b");
  TlStatus status = s->file ? TL_OK : tl_fail_errno(folder, "cannot make a scratch file there");
  if (fd >= 0 && !s->file) close(fd);
  tl_free(name);
  return status;
}

static void scratch_close(Scratch *s) {
  if (s->file) fclose(s->file);
  tl_free(s->folder);
  *s = (Scratch){0};
}

static TlStatus scratch_put(Scratch *s, const uint32_t *ids, int64_t count) {
  for (int64_t i = 0; i < count;) {
    Run run = {.id = ids[i]};
    while (i < count && ids[i] == run.id && run.length < UINT32_MAX) run.length++, i++;
    if (fwrite(&run, sizeof run, 1, s->file) != 1)
      return tl_fail_errno(s->folder, "cannot write to the scratch file there");
  }
  return TL_OK;
}

static TlStatus scratch_get(Scratch *s, uint32_t *ids, int64_t count) {
  for (int64_t i = 0; i < count;) {
    Run run;
    if (fread(&run, sizeof run, 1, s->file) != 1)
      return tl_fail_errno(s->folder, "cannot read the scratch file there");
    for (uint32_t k = 0; k < run.length && i < count; k++) ids[i++] = run.id;
  }
  return TL_OK;
}

static TlStatus scratch_rewind(Scratch *s) {
  if (fflush(s->file) == 0 && fseek(s->file, 0, SEEK_SET) == 0) return TL_OK;
  return tl_fail_errno(s->folder, "cannot write to the scratch file there");
}

/* ---- the two passes ---- */

typedef struct Pass {
  const TlLabelStack *stack;
  TlLabelField field;
  TlRelief relief;
  TlGrains grains;
  Scratch scratch;
  int64_t plane, slab_planes, grain_voxels;
  uint32_t *ids, *markers; /* of a slab */
  uint8_t *border;
  TlProgress progress;
} Pass;

static TlStatus first_slab(Pass *p, int64_t begin, int64_t end) {
  float *height = NULL;
  const TlLabelStack *s = p->stack;
  TL_TRY(tl_label_field(&p->field, begin, end, &height, &p->grain_voxels));
  TlStatus status = TL_OK;
  if (s->read_markers) status = s->read_markers(s->context, begin, end, p->markers);
  if (status == TL_OK)
    status = tl_relief_add(&p->relief, end, height, s->read_markers ? p->markers : NULL, p->ids);
  tl_free(height);
  if (status == TL_OK) status = scratch_put(&p->scratch, p->ids, (end - begin) * p->plane);
  return status;
}

static TlStatus second_slab(Pass *p, const TlRoi *roi, int64_t begin, int64_t end) {
  const TlLabelStack *s = p->stack;
  const TlVolume shape = {.nx = s->nx, .ny = s->ny, .nz = s->nz};
  TL_TRY(scratch_get(&p->scratch, p->ids, (end - begin) * p->plane));
  TL_TRY(tl_label_renumber(p->grains.number, p->ids, (end - begin) * p->plane));
  tl_label_flag_planes(&shape, roi, begin, end, p->ids, p->border);
  return s->write(s->context, begin, end, p->ids);
}

static TlStatus passes(Pass *p, const TlRoi *roi, const TlLabelOptions *o) {
  int64_t nz = p->stack->nz, step = p->slab_planes;
  for (int64_t z = 0; z < nz; z += step) {
    TL_TRY(first_slab(p, z, z + step < nz ? z + step : nz));
    tl_progress(&p->progress, z);
  }
  if (p->grain_voxels == 0) return tl_label_all_void();
  TL_TRY(tl_label_find_grains(&p->relief, o, p->field.edge, p->stack->read_markers != NULL,
                              &p->grains));
  TL_TRY(TL_NEW(p->border, (size_t)p->grains.count + 1));
  TL_TRY(scratch_rewind(&p->scratch));
  for (int64_t z = 0; z < nz; z += step) {
    TL_TRY(second_slab(p, roi, z, z + step < nz ? z + step : nz));
    tl_progress(&p->progress, nz + z);
  }
  return TL_OK;
}

TlStatus tl_label_stack(const TlLabelStack *s, const TlRoi *roi, const TlLabelOptions *o,
                        int64_t slab_planes, int64_t most_planes, TlLabelResult *result) {
  Pass p = {.stack = s, .plane = s->nx * s->ny, .slab_planes = slab_planes};
  p.field = (TlLabelField){.nx = s->nx,
                           .ny = s->ny,
                           .nz = s->nz,
                           .most_planes = most_planes,
                           .read = s->read,
                           .context = s->context};
  *result = (TlLabelResult){0};
  tl_label_field_init(&p.field, s->voxel_m, o->sigma);
  size_t count = (size_t)(slab_planes * p.plane);
  p.progress = tl_progress_start("labelling", 2 * s->nz);
  TlStatus status = tl_relief_open(&p.relief, s->nx, s->ny, s->nz, p.field.edge);
  if (status == TL_OK) status = scratch_open(&p.scratch, s->scratch);
  if (status == TL_OK) status = TL_NEW(p.ids, count);
  if (status == TL_OK && s->read_markers) status = TL_NEW(p.markers, count);
  if (status == TL_OK) status = passes(&p, roi, o);
  if (status == TL_OK) status = tl_label_summarise(&p.grains, p.border, result);
  tl_progress_end(&p.progress);
  tl_free(p.border);
  tl_free(p.markers);
  tl_free(p.ids);
  scratch_close(&p.scratch);
  tl_grains_free(&p.grains);
  tl_relief_free(&p.relief);
  return status;
}

/* ---- the plan ---- */

TlStatus tl_label_plan(const TlLabelStack *s, double sigma, int64_t bytes, TlLabelPlan *plan) {
  TlLabelField field = {.nx = s->nx, .ny = s->ny, .nz = s->nz};
  tl_label_field_init(&field, s->voxel_m, sigma);
  int64_t plane = s->nx * s->ny, least = field.halo + field.reach + 1;
  int64_t read = plane * (int64_t)(sizeof(float) + sizeof(uint8_t));
  int64_t own = plane * (int64_t)(s->read_markers ? 2 : 1) * (int64_t)sizeof(uint32_t);
  int64_t fixed = 3 * plane * (int64_t)sizeof(uint32_t) + s->nx * s->ny * s->nz / 40;
  int64_t room = bytes - fixed;
  if (bytes == 0 || s->nz * (read + own) <= room) {
    *plan = (TlLabelPlan){.slab_planes = s->nz, .bytes = fixed + s->nz * (read + own)};
    return TL_OK;
  }
  int64_t depth = USUAL_DEPTH + field.reach;
  int64_t planes = (room - 2 * depth * read) / (read + own);
  if (planes < depth) planes = (room - 2 * least * read) / (read + own) / 2;
  if (planes < 1)
    return tl_fail(TL_ELIMIT, "labelling planes of %lld x %lld voxels needs %.0f MiB at least",
                   (long long)s->nx, (long long)s->ny,
                   (double)(fixed + 2 * least * read + 2 * (read + own)) / 1048576.0);
  *plan = (TlLabelPlan){.slab_planes = planes < s->nz ? planes : s->nz};
  plan->most_planes = (room - plan->slab_planes * own) / read;
  plan->slabs = (s->nz + plan->slab_planes - 1) / plan->slab_planes;
  plan->bytes = fixed + plan->slab_planes * own + plan->most_planes * read;
  plan->scratch_bytes = plane * s->nz;
  return TL_OK;
}
