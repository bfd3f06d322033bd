#include "image/slabs.h"

#include "base/log.h"
#include "base/mem.h"

/* Bytes of a voxel: of its file's type on the way in (with the halo), and out; of the two floats.
 */
static double slab_bytes(const TlVolume *head, int64_t layers, int64_t halo, double own) {
  double with_halo = (double)(layers + 2 * halo < head->nz ? layers + 2 * halo : head->nz);
  double layer = (double)head->nx * (double)head->ny, type = (double)tl_voxel_size(head->type);
  double filter = with_halo * (8 + own), in = with_halo * (type + 4), out = (double)layers * type;
  return layer * (out + (filter > in ? filter : in));
}

TlStatus tl_slabs_plan(const TlVolume *head, int64_t halo, double bytes_per_voxel,
                       int64_t fixed_bytes, int64_t memory, TlSlabPlan *plan) {
  int64_t layers = head->nz;
  double free_bytes = (double)(memory - fixed_bytes);
  while (memory > 0 && layers >= 1 && slab_bytes(head, layers, halo, bytes_per_voxel) > free_bytes)
    layers = layers > 64 ? layers - layers / 64 : layers - 1;
  if (layers < 1)
    return tl_fail(TL_EUSAGE,
                   "%.0f MB of memory are too few: one layer of %lld x %lld voxels with %lld more "
                   "on both sides takes %.0f",
                   (double)memory / 1e6, (long long)head->nx, (long long)head->ny, (long long)halo,
                   ((double)fixed_bytes + slab_bytes(head, 1, halo, bytes_per_voxel)) / 1e6 + 1);
  int64_t slabs = (head->nz + layers - 1) / layers;
  layers = (head->nz + slabs - 1) / slabs; /* even slabs */
  slabs = (head->nz + layers - 1) / layers;
  *plan = (TlSlabPlan){.slabs = slabs, .layers = layers, .halo = halo};
  plan->bytes = fixed_bytes + (int64_t)slab_bytes(head, layers, halo, bytes_per_voxel);
  for (int64_t z = 0; z < head->nz; z += layers) {
    int64_t begin = z > halo ? z - halo : 0;
    int64_t end = z + layers + halo < head->nz ? z + layers + halo : head->nz;
    plan->filtered += end - begin;
  }
  return TL_OK;
}

static TlStatus store(const TlSlabRun *run, const TlVolume *out, int64_t first, int64_t layers,
                      const TlLayerSink *sink) {
  TlVolume part = *out, stored;
  part.nz = layers;
  part.history = NULL;
  part.f32 = out->f32 + first * out->nx * out->ny;
  TL_TRY(tl_grey_store(&part, run->type, &stored));
  TlStatus status = tl_sink_append(sink, layers, stored.data);
  tl_volume_free(&stored);
  return status;
}

static TlStatus run_slab(const TlSlabPlan *plan, const TlSlabRun *run, const TlLayers *stack,
                         const TlRoi *roi, int64_t z, const TlLayerSink *sink) {
  int64_t nz = stack->head.nz, begin = z > plan->halo ? z - plan->halo : 0;
  int64_t layers = z + plan->layers < nz ? plan->layers : nz - z;
  int64_t end = z + layers + plan->halo < nz ? z + layers + plan->halo : nz;
  TlVolume grey, out;
  TlRoi here = *roi;
  here.first_z = roi->first_z + begin;
  TL_TRY(tl_layers_grey(stack, begin, end - begin, &grey));
  TlStatus status = run->filter(run->context, &grey, &here, &out);
  int64_t layer = grey.nx * grey.ny;
  for (int64_t k = z; status == TL_OK && run->seen && k < z + layers; k++)
    run->seen(run->seen_context, k, grey.f32 + (k - begin) * layer, out.f32 + (k - begin) * layer);
  tl_volume_free(&grey);
  if (status != TL_OK) return status;
  status = store(run, &out, z - begin, layers, sink);
  tl_volume_free(&out);
  return status;
}

TlStatus tl_slabs_run(const TlSlabPlan *plan, const TlSlabRun *run, const TlLayers *stack,
                      const TlRoi *roi, const TlLayerSink *sink) {
  for (int64_t z = 0, k = 1; z < stack->head.nz; z += plan->layers, k++) {
    if (plan->slabs > 1)
      tl_log_info(
          "slab %lld of %lld: layers %lld to %lld", (long long)k, (long long)plan->slabs,
          (long long)z,
          (long long)(z + plan->layers < stack->head.nz ? z + plan->layers : stack->head.nz) - 1);
    TL_TRY(run_slab(plan, run, stack, roi, z, sink));
  }
  return TL_OK;
}
