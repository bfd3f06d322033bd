#include "run/selection.h"

#include "base/mem.h"
#include "num/sort.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void tl_selection_free(TlSelection *selection) {
  tl_free(selection->ids);
  tl_free(selection->shape);
  tl_start_free(&selection->start);
  *selection = (TlSelection){0};
}

TlStatus tl_selection_walk(const TlSelection *s, int64_t begin, int64_t end,
                           TlStatus (*visit)(void *context, const TlGrainRow *row), void *context) {
  for (; begin < end && begin < s->shape_count; begin++) {
    TlGrainRow row = tl_study_shapes_row(s->shapes, s->shape[begin]);
    TL_TRY(visit(context, &row));
  }
  if (begin >= end) return TL_OK;
  begin -= s->shape_count;
  end -= s->shape_count;
  if (!s->ids) {
    TlGrainQuery query = s->query;
    query.offset = begin;
    query.limit = end - begin;
    return tl_catalog_walk_grains(s->catalog, &query, visit, context);
  }
  for (int64_t i = begin; i < end; i++) {
    TlGrainRow row;
    TL_TRY(tl_catalog_grain(s->catalog, s->ids[i], &row));
    TL_TRY(visit(context, &row));
  }
  return TL_OK;
}

/* ---- which ---- */

static TlStatus take_ids(TlSelection *s, const TlInts *ids, const TlStudy *study) {
  TL_TRY(TL_NEW(s->ids, (size_t)ids->count));
  for (int64_t i = 0; i < ids->count; i++) {
    TlGrainRow row;
    char path[48], text[512];
    s->ids[i] = ids->items[i];
    if (tl_catalog_grain(s->catalog, ids->items[i], &row) == TL_OK) continue;
    snprintf(path, sizeof path, "grains.ids.%lld", (long long)i);
    snprintf(text, sizeof text, "%s", tl_message());
    return tl_study_fail(study, TL_EINPUT, path, "%s", text);
  }
  qsort(s->ids, (size_t)ids->count, sizeof *s->ids, tl_by_int);
  for (int64_t i = 0; i < ids->count; i++)
    if (i == 0 || s->ids[i] != s->ids[i - 1]) s->ids[s->count++] = s->ids[i];
  return TL_OK;
}

/* Falling places are rising ids. */
static int compare_falling(const void *a, const void *b) {
  return tl_by_int(b, a);
}

static TlStatus take_shapes(TlSelection *s, const TlSetup *setup) {
  const TlTexts *names = &setup->grains.shapes;
  if (!tl_setup_draws(setup)) return TL_OK;
  TL_TRY(TL_NEW(s->shape, (size_t)names->count));
  for (int64_t i = 0; i < names->count; i++)
    s->shape[i] = tl_shapes_index(&setup->shapes, names->items[i]);
  qsort(s->shape, (size_t)names->count, sizeof *s->shape, compare_falling);
  for (int64_t i = 0; i < names->count; i++)
    if (i == 0 || s->shape[i] != s->shape[i - 1]) s->shape[s->shape_count++] = s->shape[i];
  s->count += s->shape_count;
  return TL_OK;
}

static TlStatus ask(TlSelection *s, const TlGrainSetup *grains, const TlStudy *study) {
  char text[512];
  s->query = (TlGrainQuery){.sample = grains->sample,
                            .with_border = grains->with_border,
                            .least_diameter_m = grains->least_diameter_m,
                            .most_diameter_m = grains->most_diameter_m};
  TlStatus status = tl_catalog_count_grains(s->catalog, &s->query, &s->count);
  if (status == TL_EINPUT || status == TL_EUSAGE) {
    snprintf(text, sizeof text, "%s", tl_message());
    return tl_study_fail(study, TL_EINPUT, "grains.sample", "%s", text);
  }
  TL_TRY(status);
  if (s->count == 0)
    return tl_study_fail(study, TL_EINPUT, "grains.sample",
                         "no grain of '%s' is left by sample, border and diameters; "
                         "talus-catalog list shows what is there",
                         grains->sample ? grains->sample : "the catalog");
  return TL_OK;
}

/* ---- what they are like ---- */

typedef struct Part {
  double *diameter;
  int64_t count;
  double radius, low[3], high[3];
  double grid_bytes, avatars;
} Part;

static double grid_bytes(const TlGrainRow *row) {
  double points = 1;
  for (int a = 0; a < 3; a++) points *= row->axes_m[a] / row->spacing_m + 8;
  return 4 * points + 16.0 * row->node_count;
}

static TlStatus measure_row(void *context, const TlGrainRow *row) {
  Part *p = context;
  double c[3] = {row->scan_centroid_m.x, row->scan_centroid_m.y, row->scan_centroid_m.z};
  p->diameter[p->count++] = cbrt(6 * row->volume_m3 / M_PI);
  p->radius = fmax(p->radius, row->radius_m);
  for (int a = 0; a < 3; a++) {
    p->low[a] = fmin(p->low[a], c[a] - row->radius_m);
    p->high[a] = fmax(p->high[a], c[a] + row->radius_m);
  }
  p->grid_bytes += grid_bytes(row);
  p->avatars++;
  return TL_OK;
}

/* Of the grains of a frame, about where they lie there. */
static void measure_start(const TlStart *s, Part *p) {
  for (int64_t i = 0; i < s->count; i++) {
    const TlBodyRow *g = &s->grain[i];
    const TlGrainRow *row = &s->shapes[s->shape[i]];
    double scale = g->scale / s->grain_scale, r = g->scale * row->radius_m;
    double c[3] = {g->position_m.x, g->position_m.y, g->position_m.z};
    p->diameter[p->count++] = scale * cbrt(6 * row->volume_m3 / M_PI);
    p->radius = fmax(p->radius, scale * row->radius_m);
    for (int a = 0; a < 3; a++) {
      p->low[a] = fmin(p->low[a], c[a] - r);
      p->high[a] = fmax(p->high[a], c[a] + r);
    }
  }
  for (int64_t i = 0; i < s->shape_count; i++) p->grid_bytes += grid_bytes(&s->shapes[i]);
  p->avatars += (double)s->shape_count;
}

/* The middle of all ranks' values by halving their range: counts travel, values do not. */
static TlStatus median(TlComm *comm, const Part *part, int64_t count, double *middle) {
  double range[2] = {INFINITY, INFINITY};
  for (int64_t i = 0; i < part->count; i++) {
    range[0] = fmin(range[0], part->diameter[i]);
    range[1] = fmin(range[1], -part->diameter[i]);
  }
  TL_TRY(tl_comm_least(comm, range, 2));
  double low = range[0], high = -range[1];
  while (high - low > 1e-9 * high) {
    double mid = 0.5 * (low + high);
    int64_t below = 0;
    for (int64_t i = 0; i < part->count; i++) below += part->diameter[i] <= mid;
    TL_TRY(tl_comm_sum_int(comm, &below, 1));
    if (2 * below >= count)
      high = mid;
    else
      low = mid;
  }
  *middle = high;
  return TL_OK;
}

static TlStatus measure(TlSelection *s, TlComm *comm, Part *part) {
  int64_t me = tl_comm_rank(comm), ranks = tl_comm_size(comm);
  int64_t begin = s->count * me / ranks, end = s->count * (me + 1) / ranks;
  if (s->start.count > 0) begin = 0, end = s->start.count;
  TlStatus status = TL_NEW(part->diameter, (size_t)(end - begin));
  if (s->shapes->setup->release.assembly == TL_ASSEMBLY_FROM_RUN)
    measure_start(&s->start, part);
  else if (status == TL_OK)
    status = tl_selection_walk(s, begin, end, measure_row, part);
  TL_TRY(tl_comm_agree(comm, status));
  double most[4] = {part->radius, part->high[0], part->high[1], part->high[2]};
  TL_TRY(tl_comm_most(comm, most, 4));
  TL_TRY(tl_comm_least(comm, part->low, 3));
  TL_TRY(tl_comm_sum(comm, &part->grid_bytes, 1));
  TL_TRY(tl_comm_sum(comm, &part->avatars, 1));
  s->radius_m = most[0];
  s->low_m = tl_vec3_of(part->low);
  s->high_m = tl_vec3(most[1], most[2], most[3]);
  s->grid_bytes = (int64_t)part->grid_bytes;
  s->avatars = (int64_t)part->avatars;
  return median(comm, part, s->count, &s->median_diameter_m);
}

static TlStatus take(TlSelection *s, const TlSetup *setup, const TlStudy *study) {
  if (tl_setup_draws_catalog(setup))
    TL_TRY(setup->grains.ids.count > 0 ? take_ids(s, &setup->grains.ids, study)
                                       : ask(s, &setup->grains, study));
  return take_shapes(s, setup);
}

static TlStatus take_start(TlSelection *s, TlComm *comm, const TlStudy *study) {
  TlStatus status = TL_OK;
  if (tl_comm_rank(comm) == 0) status = tl_start_read(&s->start, s->shapes, s->catalog, study);
  TL_TRY(tl_comm_agree(comm, status));
  s->count = s->start.count;
  return tl_comm_sum_int(comm, &s->count, 1);
}

TlStatus tl_selection_open(TlSelection *s, TlComm *comm, TlCatalog *catalog,
                           const TlStudyShapes *shapes, const TlStudy *study) {
  *s = (TlSelection){.catalog = catalog, .shapes = shapes};
  bool from_run = shapes->setup->release.assembly == TL_ASSEMBLY_FROM_RUN;
  if (!from_run)
    TL_TRY(tl_comm_agree(comm, take(s, shapes->setup, study)));
  else
    TL_TRY(take_start(s, comm, study));
  if (s->count == 0) return TL_OK;
  Part part = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
  TlStatus status = measure(s, comm, &part);
  tl_free(part.diameter);
  return status;
}
