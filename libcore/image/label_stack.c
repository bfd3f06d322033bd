/* Labelling by slabs: hills and passes of each slab as it comes, their ids kept as runs in a file
 * without a name, then one pass that turns ids into labels. */
#include "base/log.h"
#include "base/mem.h"
#include "image/label_impl.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { GREY_REACH = 8 };   /* planes more that dips of cubes depend on, image/label_dip.h */
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
  const TlLabelOptions *options;
  const TlLabelPlan *plan;
  TlLabelField field;
  TlRelief relief;
  TlGrains grains;
  Scratch scratch;
  int64_t plane, grain_voxels;
  uint32_t *ids, *markers; /* of a slab */
  uint8_t *border;
  TlProgress progress;
} Pass;

static bool many_slabs(const Pass *p) {
  return p->plan->slab_planes < p->field.nz;
}

static TlStatus read_markers(const Pass *p, int64_t begin, int64_t end) {
  TlVolume layer;
  const TlLayers *from = p->options->markers;
  TL_TRY(tl_volume_new(&layer, from->head.type, p->field.nx, p->field.ny, 1));
  TlStatus status = TL_OK;
  for (int64_t z = begin; z < end && status == TL_OK; z++) {
    uint32_t *to = p->markers + (z - begin) * p->plane;
    status = tl_layers_read(from, z, 1, layer.data);
    for (int64_t i = 0; i < p->plane && status == TL_OK; i++) {
      double value = tl_volume_value(&layer, i);
      to[i] = value > 0 ? (uint32_t)value : 0;
    }
  }
  tl_volume_free(&layer);
  return status;
}

static TlStatus first_slab(Pass *p, int64_t begin, int64_t end) {
  float *height = NULL;
  TlClue *clue = NULL;
  TL_TRY(tl_label_field(&p->field, begin, end, &height, &clue, &p->grain_voxels));
  TlStatus status = p->markers ? read_markers(p, begin, end) : TL_OK;
  if (status == TL_OK) status = tl_relief_add(&p->relief, end, height, clue, p->markers, p->ids);
  tl_free(height);
  tl_free(clue);
  if (status == TL_OK && many_slabs(p))
    status = scratch_put(&p->scratch, p->ids, (end - begin) * p->plane);
  return status;
}

static TlStatus second_slab(Pass *p, int64_t begin, int64_t end, const TlLayerSink *labels) {
  const TlVolume shape = {.nx = p->field.nx, .ny = p->field.ny, .nz = p->field.nz};
  if (many_slabs(p)) TL_TRY(scratch_get(&p->scratch, p->ids, (end - begin) * p->plane));
  TL_TRY(tl_label_renumber(p->grains.number, p->ids, (end - begin) * p->plane));
  tl_label_flag_planes(&shape, p->field.roi, begin, end, p->ids, p->border);
  return tl_sink_append(labels, end - begin, p->ids);
}

static TlStatus passes(Pass *p, const TlLayerSink *labels) {
  int64_t nz = p->field.nz, step = p->plan->slab_planes;
  for (int64_t z = 0; z < nz; z += step) {
    int64_t end = z + step < nz ? z + step : nz;
    TL_TRY(first_slab(p, z, end));
    tl_progress(&p->progress, end);
  }
  if (p->grain_voxels == 0)
    return tl_fail(TL_EINPUT, "the mask is all void: there are no grains to tell apart");
  TL_TRY(
      tl_label_find_grains(&p->relief, p->options, p->field.edge, p->markers != NULL, &p->grains));
  TL_TRY(TL_NEW(p->border, (size_t)p->grains.count + 1));
  if (many_slabs(p)) TL_TRY(scratch_rewind(&p->scratch));
  for (int64_t z = 0; z < nz; z += step) {
    int64_t end = z + step < nz ? z + step : nz;
    TL_TRY(second_slab(p, z, end, labels));
    tl_progress(&p->progress, nz + end);
  }
  return TL_OK;
}

static TlStatus check_markers(const TlVolume *mask, const TlLayers *markers) {
  if (!markers) return TL_OK;
  const TlVolume *m = &markers->head;
  if (m->type == TL_F32)
    return tl_fail(TL_EINPUT, "the markers are f32: give whole numbers, one for each grain");
  return tl_label_one_stack("the markers are", m, mask);
}

TlStatus tl_label_layers(const TlLayers *mask, const TlRoi *roi, const TlLabelOptions *o,
                         const TlLabelPlan *plan, const char *scratch, const TlLayerSink *labels,
                         TlLabelResult *result) {
  assert(o->h_voxels > 0 && o->h_relative >= 0 && o->neck >= 0);
  const TlVolume *head = &mask->head;
  Pass p = {.options = o, .plan = plan, .plane = head->nx * head->ny};
  *result = (TlLabelResult){0};
  TL_TRY(check_markers(head, o->markers));
  tl_label_field_init(&p.field, head, o->sigma);
  p.field.mask = mask;
  p.field.roi = roi;
  p.field.most_planes = plan->most_planes;
  if (o->grey) TL_TRY(tl_dips_open(o->grey, mask, roi, p.field.edge, o->dip, &p.field.dips));
  assert(!o->grey || o->dip > 0);
  size_t count = (size_t)(plan->slab_planes * p.plane);
  p.progress = tl_progress_start("labelling", 2 * head->nz);
  TlStatus status = tl_relief_open(&p.relief, head->nx, head->ny, head->nz, p.field.edge);
  if (status == TL_OK && many_slabs(&p)) status = scratch_open(&p.scratch, scratch);
  if (status == TL_OK) status = TL_NEW(p.ids, count);
  if (status == TL_OK && o->markers) status = TL_NEW(p.markers, count);
  if (status == TL_OK) status = passes(&p, labels);
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

TlStatus tl_label_plan(const TlVolume *head, const TlLabelOptions *o, int64_t bytes,
                       TlLabelPlan *plan) {
  TlLabelField field;
  tl_label_field_init(&field, head, o->sigma);
  int64_t plane = head->nx * head->ny, least = field.halo + field.reach + 1;
  int64_t read = plane * (int64_t)(sizeof(float) + sizeof(uint8_t)); /* of a plane */
  int64_t grey = o->grey ? (int64_t)(sizeof(float) + tl_voxel_size(o->grey->head.type)) : 0;
  if (o->grey) read += plane * (grey + (int64_t)sizeof(TlClue));
  int64_t own = plane * (o->markers ? 2 : 1) * (int64_t)sizeof(uint32_t);
  /* Three planes of ids, and hills and passes as phantoms have them (0.3 in a thousand voxels). */
  int64_t fixed = 3 * plane * (int64_t)sizeof(uint32_t) + plane * head->nz / 20 + (1 << 20);
  fixed += 2 * GREY_REACH * plane * grey;
  int64_t room = bytes - fixed;
  *plan = (TlLabelPlan){.slab_planes = head->nz, .bytes = fixed + head->nz * (read + own)};
  if (bytes == 0 || plan->bytes <= bytes) return TL_OK;
  int64_t depth = USUAL_DEPTH + field.reach;
  int64_t planes = (room - 2 * depth * read) / (read + own);
  if (planes < depth) planes = (room - 2 * least * read) / (read + own) / 2;
  if (planes < 1)
    return tl_fail(TL_ELIMIT, "labelling planes of %lld x %lld voxels needs %.0f MB at least",
                   (long long)head->nx, (long long)head->ny,
                   ceil((double)(fixed + 2 * least * read + 2 * (read + own)) / 1e6));
  plan->slab_planes = planes < head->nz ? planes : head->nz;
  plan->most_planes = (room - plan->slab_planes * own) / read;
  plan->bytes = fixed + plan->slab_planes * own + plan->most_planes * read;
  plan->scratch_bytes = plane * head->nz;
  return TL_OK;
}
