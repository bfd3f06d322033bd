#include "shape/grain_stack.h"

#include "base/mem.h"
#include "num/quantile.h"
#include "shape/drlse_box.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { NEAR = 6, SAMPLE = 4000000 };

/* ---- layers of it ---- */

static int64_t area_of(const TlGrainStack *s) {
  return s->labels->head.nx * s->labels->head.ny;
}

int64_t tl_grain_stack_bytes(const TlGrainStack *s) {
  int64_t voxel = 4; /* of labels; a grey is there as it is stored and as a float */
  if (s->grey) voxel += 4 + (int64_t)tl_voxel_size(s->grey->head.type);
  if (s->noisy) voxel += 4 + (int64_t)tl_voxel_size(s->noisy->head.type);
  return (s->at_once + 2 * NEAR) * area_of(s) * voxel;
}

static TlStatus read_labels(const TlGrainStack *s, int64_t z, int64_t count, TlVolume *out) {
  const TlVolume *head = &s->labels->head;
  TL_TRY(tl_volume_new(out, TL_U32, head->nx, head->ny, count));
  TlStatus status = tl_layers_read(s->labels, z, count, out->u32);
  if (status != TL_OK) tl_volume_free(out);
  return status;
}

static TlStatus mix(const TlGrainStack *s, int64_t z, TlVolume *grey) {
  TlVolume noisy;
  TL_TRY(tl_layers_grey(s->noisy, z, grey->nz, &noisy));
  int64_t count = tl_volume_count(grey);
  for (int64_t i = 0; i < count; i++)
    grey->f32[i] = (float)((1 - s->noisy_part) * grey->f32[i] + s->noisy_part * noisy.f32[i]);
  tl_volume_free(&noisy);
  return TL_OK;
}

static TlStatus read_grey(const TlGrainStack *s, int64_t z, int64_t count, TlVolume *out) {
  TL_TRY(tl_layers_grey(s->grey, z, count, out));
  TlStatus status = s->noisy ? mix(s, z, out) : TL_OK;
  if (status != TL_OK) tl_volume_free(out);
  return status;
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* ---- boxes ---- */

static void grow_box(TlLabelBox *box, int64_t x, int64_t y, int64_t z) {
  int64_t p[3] = {x, y, z};
  for (int a = 0; a < 3; a++) {
    if (box->voxels == 0 || p[a] < box->low[a]) box->low[a] = p[a];
    if (box->voxels == 0 || p[a] > box->high[a]) box->high[a] = p[a];
  }
  box->voxels++;
}

typedef struct Boxes {
  TlLabelBox *box;
  size_t capacity;
  uint32_t most;
} Boxes;

static TlStatus reserve(Boxes *b, uint32_t label) {
  if (label > (1u << 30))
    return tl_fail(TL_EINPUT, "label %u is implausibly large; is this a stack of labels?", label);
  size_t before = b->capacity;
  TL_TRY(TL_RESERVE(b->box, b->capacity, (size_t)label + 1));
  memset(b->box + before, 0, (b->capacity - before) * sizeof *b->box);
  b->most = label;
  return TL_OK;
}

static TlStatus grow_boxes(const TlVolume *part, int64_t first, Boxes *b) {
  int64_t at = 0;
  for (int64_t z = 0; z < part->nz; z++)
    for (int64_t y = 0; y < part->ny; y++)
      for (int64_t x = 0; x < part->nx; x++, at++) {
        uint32_t label = part->u32[at];
        if (label == 0) continue;
        if (label > b->most) TL_TRY(reserve(b, label));
        grow_box(&b->box[label], x, y, first + z);
      }
  return TL_OK;
}

TlStatus tl_grain_stack_boxes(const TlGrainStack *s, TlLabelBox **boxes, uint32_t *most) {
  Boxes b = {0};
  int64_t nz = s->labels->head.nz;
  TlStatus status = reserve(&b, 0);
  for (int64_t z = 0; status == TL_OK && z < nz; z += s->at_once) {
    TlVolume part;
    status = read_labels(s, z, least(s->at_once, nz - z), &part);
    if (status != TL_OK) break;
    status = grow_boxes(&part, z, &b);
    tl_volume_free(&part);
  }
  if (status != TL_OK) tl_free(b.box);
  *boxes = status == TL_OK ? b.box : NULL;
  *most = b.most;
  return status;
}

/* ---- grey levels ---- */

static uint32_t label_at(const TlGrainPart *p, int64_t x, int64_t y, int64_t z) {
  return p->labels->u32[tl_grain_part_at(p, x, y, z)];
}

/* Some grain within 6 voxels along an axis: keeps the air outside the specimen out of the median.
 */
static bool near_grain(const TlGrainPart *p, int64_t x, int64_t y, int64_t z) {
  for (int64_t m = TL_GRAIN_CORE + 1; m <= NEAR; m++) {
    if (x >= m && label_at(p, x - m, y, z)) return true;
    if (x + m < p->whole[0] && label_at(p, x + m, y, z)) return true;
    if (y >= m && label_at(p, x, y - m, z)) return true;
    if (y + m < p->whole[1] && label_at(p, x, y + m, z)) return true;
    if (z >= m && label_at(p, x, y, z - m)) return true;
    if (z + m < p->whole[2] && label_at(p, x, y, z + m)) return true;
  }
  return false;
}

typedef struct Sampler {
  float *value[2]; /* void, grain */
  int64_t count[2];
  int64_t stride, next; /* of voxels of the stack */
} Sampler;

static void sample(const TlGrainPart *p, const TlVolume *grey, int64_t first, Sampler *s) {
  const int64_t nx = grey->nx, ny = grey->ny, begin = first * nx * ny;
  for (; s->next < begin + tl_volume_count(grey); s->next += s->stride) {
    int64_t x = s->next % nx, y = s->next / nx % ny, z = s->next / nx / ny;
    uint32_t label = label_at(p, x, y, z);
    if (!tl_grain_part_core(p, x, y, z) || (!label && !near_grain(p, x, y, z))) continue;
    int phase = label != 0;
    s->value[phase][s->count[phase]++] = grey->f32[s->next - begin];
  }
}

static TlStatus sample_layers(const TlGrainStack *stack, int64_t z, int64_t count, Sampler *s) {
  const TlVolume *head = &stack->labels->head;
  int64_t low = z > NEAR ? z - NEAR : 0, high = least(head->nz, z + count + NEAR);
  TlVolume labels, grey;
  TL_TRY(read_labels(stack, low, high - low, &labels));
  const TlGrainPart part = {
      .labels = &labels, .origin = {0, 0, low}, .whole = {head->nx, head->ny, head->nz}};
  TlStatus status = read_grey(stack, z, count, &grey);
  if (status == TL_OK) {
    sample(&part, &grey, z, s);
    tl_volume_free(&grey);
  }
  tl_volume_free(&labels);
  return status;
}

static TlStatus levels_of(Sampler *s, TlGreyLevels *levels) {
  if (s->count[0] < 10 || s->count[1] < 10)
    return tl_fail(TL_EINPUT,
                   "%s is nowhere 5 voxels thick, so its grey level cannot be measured; use "
                   "--method=distance",
                   s->count[0] < 10 ? "the void" : "no grain");
  levels->void_level = tl_select(s->value[0], s->count[0], s->count[0] / 2);
  levels->grain_level = tl_select(s->value[1], s->count[1], s->count[1] / 2);
  for (int64_t i = 0; i < s->count[1]; i++)
    s->value[1][i] = fabsf(s->value[1][i] - (float)levels->grain_level);
  levels->noise = 1.4826 * tl_select(s->value[1], s->count[1], s->count[1] / 2);
  if (levels->grain_level > levels->void_level) return TL_OK;
  return tl_fail(TL_EINPUT,
                 "the grains' grey level (%g) is not above the void's (%g): do labels and "
                 "grey stack belong together?",
                 levels->grain_level, levels->void_level);
}

TlStatus tl_grain_stack_levels(const TlGrainStack *stack, TlGreyLevels *levels) {
  int64_t nz = stack->labels->head.nz, count = area_of(stack) * nz;
  Sampler s = {.stride = count / SAMPLE + 1};
  TlStatus status = TL_NEW(s.value[0], (size_t)(count / s.stride + 1));
  if (status == TL_OK) status = TL_NEW(s.value[1], (size_t)(count / s.stride + 1));
  for (int64_t z = 0; status == TL_OK && z < nz; z += stack->at_once)
    status = sample_layers(stack, z, least(stack->at_once, nz - z), &s);
  if (status == TL_OK) status = levels_of(&s, levels);
  tl_free(s.value[0]);
  tl_free(s.value[1]);
  return status;
}

/* ---- grains cut out ---- */

TlGrainCut tl_grain_cut_place(const TlGrainStack *s, const TlLabelBox *box) {
  const TlVolume *head = &s->labels->head;
  const int64_t n[3] = {head->nx, head->ny, head->nz};
  TlGrainCut cut = {0};
  for (int a = 0; a < 3; a++) {
    cut.low[a] = box->low[a] > TL_GRAIN_REACH ? box->low[a] - TL_GRAIN_REACH : 0;
    cut.size[a] = least(n[a], box->high[a] + TL_GRAIN_REACH + 1) - cut.low[a];
  }
  return cut;
}

int64_t tl_grain_cut_bytes(const TlGrainStack *s, const TlGrainCut *cut) {
  return cut->size[0] * cut->size[1] * cut->size[2] * (s->grey ? 8 : 4);
}

void tl_grain_cut_free(TlGrainCut *cut) {
  tl_volume_free(&cut->labels);
  tl_volume_free(&cut->grey);
}

static TlStatus make_cut(const TlGrainStack *s, TlGrainCut *cut) {
  const int64_t *n = cut->size;
  TL_TRY(tl_volume_new(&cut->labels, TL_U32, n[0], n[1], n[2]));
  memcpy(cut->labels.voxel_m, s->labels->head.voxel_m, sizeof cut->labels.voxel_m);
  return s->grey ? tl_volume_new(&cut->grey, TL_F32, n[0], n[1], n[2]) : TL_OK;
}

/* What of the layers [z, z + part.nz) lies in the cut. Labels and floats are four bytes both. */
static void copy_rows(const TlVolume *part, int64_t z, const TlGrainCut *cut, TlVolume *to) {
  int64_t begin = z > cut->low[2] ? z : cut->low[2];
  int64_t end = least(z + part->nz, cut->low[2] + cut->size[2]);
  for (int64_t k = begin; k < end; k++)
    for (int64_t j = 0; j < cut->size[1]; j++)
      memcpy(to->u32 + tl_volume_at(to, 0, j, k - cut->low[2]),
             part->u32 + tl_volume_at(part, cut->low[0], cut->low[1] + j, k - z),
             (size_t)cut->size[0] * 4);
}

static bool meets(const TlGrainCut *cut, int64_t z, int64_t count) {
  return cut->low[2] < z + count && cut->low[2] + cut->size[2] > z;
}

static TlStatus fill_cuts(const TlGrainStack *s, TlGrainCut *cuts, int64_t count, int64_t z,
                          int64_t layers) {
  bool wanted = false;
  for (int64_t i = 0; i < count; i++) wanted = wanted || meets(&cuts[i], z, layers);
  if (!wanted) return TL_OK;
  TlVolume part;
  TL_TRY(read_labels(s, z, layers, &part));
  for (int64_t i = 0; i < count; i++) copy_rows(&part, z, &cuts[i], &cuts[i].labels);
  tl_volume_free(&part);
  if (!s->grey) return TL_OK;
  TL_TRY(read_grey(s, z, layers, &part));
  for (int64_t i = 0; i < count; i++) copy_rows(&part, z, &cuts[i], &cuts[i].grey);
  tl_volume_free(&part);
  return TL_OK;
}

TlStatus tl_grain_cut_read(const TlGrainStack *s, TlGrainCut *cuts, int64_t count) {
  int64_t nz = s->labels->head.nz;
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < count && status == TL_OK; i++) status = make_cut(s, &cuts[i]);
  for (int64_t z = 0; z < nz && status == TL_OK; z += s->at_once)
    status = fill_cuts(s, cuts, count, z, least(s->at_once, nz - z));
  for (int64_t i = 0; i < count && status != TL_OK; i++) tl_grain_cut_free(&cuts[i]);
  return status;
}

TlGrainPart tl_grain_cut_part(const TlGrainStack *s, const TlGrainCut *cut) {
  const TlVolume *head = &s->labels->head;
  return (TlGrainPart){.grey = s->grey ? &cut->grey : NULL,
                       .labels = &cut->labels,
                       .origin = {cut->low[0], cut->low[1], cut->low[2]},
                       .whole = {head->nx, head->ny, head->nz}};
}
