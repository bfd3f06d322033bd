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
#include <string.h>
#include <unistd.h>

enum { GREY_REACH = 8 };   /* planes more that dips of cubes depend on, image/label_dip.h */
enum { USUAL_DEPTH = 64 }; /* planes that a plan leaves for the halo, where there is room */
enum { AHEAD = 16 };       /* planes beyond a slab that its climbs may continue in */

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
  int64_t plane;
  uint32_t *ids, *markers; /* of a slab and AHEAD */
  uint8_t *border;
  TlProgress progress;
  bool counts; /* grains are counted only: no ids are kept */
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
  int64_t known = end + AHEAD < p->field.nz ? end + AHEAD : p->field.nz;
  TL_TRY(tl_label_field(&p->field, begin, known, &height, &clue));
  TlStatus status = p->markers ? read_markers(p, begin, known) : TL_OK;
  if (status == TL_OK)
    status = tl_relief_add(&p->relief, end, known, height, clue, p->markers, p->ids);
  tl_free(height);
  tl_free(clue);
  if (status != TL_OK || !many_slabs(p)) return status;
  if (!p->counts) TL_TRY(scratch_put(&p->scratch, p->ids, (end - begin) * p->plane));
  memmove(p->ids, p->ids + (end - begin) * p->plane,
          (size_t)((known - end) * p->plane) * sizeof *p->ids);
  return TL_OK;
}

static TlStatus second_slab(Pass *p, int64_t begin, int64_t end, const TlLayerSink *labels) {
  const TlVolume shape = {.nx = p->field.nx, .ny = p->field.ny, .nz = p->field.nz};
  if (many_slabs(p)) TL_TRY(scratch_get(&p->scratch, p->ids, (end - begin) * p->plane));
  TL_TRY(tl_label_renumber(&p->relief, p->grains.number, p->ids, (end - begin) * p->plane));
  tl_label_flag_planes(&shape, p->field.roi, begin, end, p->ids, p->border);
  return tl_sink_append(labels, end - begin, p->ids);
}

static TlStatus first_pass(Pass *p) {
  int64_t nz = p->field.nz, step = p->plan->slab_planes;
  for (int64_t z = 0; z < nz; z += step) {
    int64_t end = z + step < nz ? z + step : nz;
    TL_TRY(first_slab(p, z, end));
    tl_progress(&p->progress, end);
  }
  if (p->relief.ids == TL_RELIEF_FIRST_ID)
    return tl_fail(TL_EINPUT, "the mask is all void: there are no grains to tell apart");
  return tl_label_find_grains(&p->relief, p->options, p->field.edge, p->markers != NULL,
                              &p->grains);
}

static TlStatus second_pass(Pass *p, const TlLayerSink *labels) {
  int64_t nz = p->field.nz, step = p->plan->slab_planes;
  TL_TRY(TL_NEW(p->border, (size_t)p->grains.count + 1));
  if (many_slabs(p)) TL_TRY(scratch_rewind(&p->scratch));
  for (int64_t z = 0; z < nz; z += step) {
    int64_t end = z + step < nz ? z + step : nz;
    TL_TRY(second_slab(p, z, end, labels));
    tl_progress(&p->progress, nz + end);
  }
  return TL_OK;
}

static TlStatus pass_open(Pass *p, const char *scratch) {
  const TlLabelField *f = &p->field;
  int64_t held = p->plan->slab_planes + AHEAD < f->nz ? p->plan->slab_planes + AHEAD : f->nz;
  size_t count = (size_t)(held * p->plane);
  TL_TRY(tl_relief_open(&p->relief, f->nx, f->ny, f->nz, f->edge));
  if (many_slabs(p) && !p->counts) TL_TRY(scratch_open(&p->scratch, scratch));
  TL_TRY(TL_NEW(p->ids, count));
  return p->options->markers ? TL_NEW(p->markers, count) : TL_OK;
}

static void pass_close(Pass *p) {
  tl_free(p->border);
  tl_free(p->markers);
  tl_free(p->ids);
  scratch_close(&p->scratch);
  tl_grains_free(&p->grains);
  tl_relief_free(&p->relief);
}

/* What the mask alone would give. model: before it is opened. */
static TlStatus count_by_mask(const Pass *model, uint32_t *count) {
  TlLabelOptions options = *model->options;
  Pass p = *model;
  options.grey = NULL;
  options.sweep_count = 0;
  p.options = &options;
  p.field.dips = (TlDips){0};
  p.counts = true;
  p.progress = tl_progress_start("counting grains by the mask alone", p.field.nz);
  TlStatus status = pass_open(&p, NULL);
  if (status == TL_OK) status = first_pass(&p);
  *count = p.grains.count;
  tl_progress_end(&p.progress);
  pass_close(&p);
  return status;
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
  TlLabelOptions options = *o;
  Pass p = {.options = &options, .plan = plan, .plane = head->nx * head->ny};
  uint32_t mask_grains = 0;
  *result = (TlLabelResult){0};
  TL_TRY(check_markers(head, o->markers));
  tl_label_field_init(&p.field, head, o->sigma);
  p.field.mask = mask;
  p.field.roi = roi;
  p.field.most_planes = plan->most_planes;
  TlDips dips = {0};
  if (o->grey) TL_TRY(tl_dips_open(o->grey, mask, roi, p.field.edge, o->dip, &dips));
  if (dips.usable && !o->markers) TL_TRY(count_by_mask(&p, &mask_grains));
  if (dips.usable) p.field.dips = dips;
  options.grey = p.field.dips.grey;
  p.progress = tl_progress_start("labelling", 2 * head->nz);
  TlStatus status = pass_open(&p, scratch);
  if (status == TL_OK) status = first_pass(&p);
  if (status == TL_OK) status = tl_label_check_grains(&options, &p.grains);
  if (status == TL_OK) status = second_pass(&p, labels);
  if (status == TL_OK) status = tl_label_summarise(&p.grains, p.border, result);
  tl_progress_end(&p.progress);
  pass_close(&p);
  if (!o->grey) return status;
  result->grey_used = dips.usable;
  result->dip = dips.contrast > 0 ? dips.least / dips.contrast : 0;
  result->noise = dips.noise;
  result->cores = dips.cores;
  result->mask_grains = dips.usable ? mask_grains : o->markers ? 0 : result->grains;
  return status;
}

/* ---- the plan ---- */

/* What planes take at once. */
typedef struct Costs {
  int64_t fixed; /* bytes, whatever the slabs */
  int64_t wide;  /* bytes of each plane that is read */
  int64_t deep;  /* ... and those of each of the slab and ahead of it besides */
} Costs;

/* What image/label_dip.h reads for contrast and noise, before the slabs, is less than the least of
 * any slab with its halo takes. */

/* Bytes of hills and passes (0.04 seen with grains of 28 voxels, 0.004 with 60), and of a seam's
 * open portals with their passes (3 to 6 seen). What the last step makes of them comes when the
 * planes are gone. */
#define HILLS_A_VOXEL 0.05
#define SEAM_A_VOXEL 20

static Costs costs_of(const TlVolume *head, const TlLabelOptions *o) {
  int64_t plane = head->nx * head->ny, ids = (int64_t)sizeof(uint32_t);
  Costs c = {.wide = plane * TL_FIELD_BYTES, .deep = plane * ids};
  if (o->markers) c.deep += plane * ids;
  if (o->grey) c.deep += plane * TL_FIELD_GREY_BYTES;
  c.fixed = 4 * plane * ids + (int64_t)(HILLS_A_VOXEL * (double)(plane * head->nz)) + (1 << 20);
  if (o->grey)
    c.fixed += 2 * plane * ((GREY_REACH + 1) * (int64_t)sizeof(float) + (int64_t)sizeof(TlClue));
  return c;
}

/* Planes of a slab so that it fits with this halo; may be under 1. */
static int64_t slab_within(const Costs *c, int64_t bytes, int64_t margin) {
  return (bytes - c->fixed - 2 * margin * c->wide) / (c->wide + c->deep) - AHEAD;
}

TlStatus tl_label_plan(const TlVolume *head, const TlLabelOptions *o, int64_t bytes,
                       TlLabelPlan *plan) {
  TlLabelField field;
  tl_label_field_init(&field, head, o->sigma);
  Costs c = costs_of(head, o);
  int64_t least = tl_label_field_margin(&field), margin = USUAL_DEPTH + field.reach;
  *plan = (TlLabelPlan){.slab_planes = head->nz, .bytes = c.fixed + head->nz * (c.wide + c.deep)};
  if (bytes == 0 || plan->bytes <= bytes) return TL_OK;
  c.fixed += SEAM_A_VOXEL * head->nx * head->ny;
  int64_t planes = slab_within(&c, bytes, margin);
  while (planes < AHEAD && margin > least) planes = slab_within(&c, bytes, --margin);
  if (planes < 1)
    return tl_fail(TL_ELIMIT, "labelling planes of %lld x %lld voxels needs %.0f MB at least",
                   (long long)head->nx, (long long)head->ny,
                   ceil((double)(bytes + (1 - planes) * (c.wide + c.deep)) / 1e6));
  plan->slab_planes = planes < head->nz ? planes : head->nz;
  planes += AHEAD;
  plan->most_planes = (bytes - c.fixed - planes * c.deep) / c.wide;
  plan->bytes = c.fixed + planes * c.deep + plan->most_planes * c.wide;
  plan->scratch_bytes = head->nx * head->ny * head->nz;
  return TL_OK;
}
