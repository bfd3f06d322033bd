/* A run's packings measured and written. */
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/csv.h"
#include "io/vtk.h"
#include "post/packing_plot.h"
#include "post/packing_write.h"
#include "post/packing_chains.h"
#include "post/packing_sides.h"
#include "post/packing_stress.h"
#include "post/triaxial.h"

#include <stdio.h>
#include <string.h>

typedef struct Writing {
  TlPackWriting to;
  const char *run;
  const TlScene *scene;
  const TlPackingOptions *options;
  TlFigures *figures; /* borrowed */
  int values;         /* in a line of packing.csv */
  TlBand band;        /* the best one of the last frame */
  TlPacking first;    /* rotations and strains are counted from it; owned */
  int64_t empty;      /* frames without a grain in the region */
  TlTxTest cell;      /* of a triaxial test without a region: the specimen's volume; owned */
} Writing;

/* ---- a line a frame ---- */

static TlStatus header_of(char **header, int *values) {
  const TlPackMeasure *m;
  *header = tl_strdup("frame,step,time_s");
  *values = 3;
  for (int k = 0; (m = tl_pack_measure(k)); k++) {
    *values += m->count;
    for (int i = 0; i < m->count && *header; i++) {
      char *longer = tl_format("%s,%s", *header, m->column[i].name);
      tl_free(*header);
      *header = longer;
    }
  }
  return *header ? TL_OK : TL_ENOMEM;
}

static TlStatus put_line(const Writing *w, TlCsv *csv, const TlFrame *frame, const TlPacking *p,
                         const TlRegion *region) {
  const TlPackMeasure *m;
  double *value;
  int n = 3;
  TL_TRY(TL_NEW(value, (size_t)w->values));
  value[0] = (double)frame->index;
  value[1] = (double)frame->step;
  value[2] = frame->time_s;
  TlStatus status = TL_OK;
  for (int k = 0; (m = tl_pack_measure(k)) && status == TL_OK; k++, n += m->count)
    status = tl_pack_values(m, p, region, value + n);
  if (status == TL_OK) status = tl_csv_row(csv, value, n);
  tl_free(value);
  return status;
}

/* ---- the last frame ---- */

static TlStatus put_grains(TlCsv *csv, const TlPacking *p, const TlSym3 *sigma) {
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < p->grain_count && status == TL_OK; i++) {
    const TlPackGrain *g = &p->grain[i];
    const TlSym3 *s = &sigma[i];
    TlStress t = tl_stress_of(*s);
    const double row[] = {(double)g->id,
                          g->centre_m.x,
                          g->centre_m.y,
                          g->centre_m.z,
                          s->xx,
                          s->yy,
                          s->zz,
                          s->xy,
                          s->xz,
                          s->yz,
                          t.mean_Pa,
                          t.deviatoric_Pa,
                          t.principal_Pa[0],
                          t.major.x,
                          t.major.y,
                          t.major.z};
    status = tl_csv_row(csv, row, sizeof row / sizeof *row);
  }
  return status;
}

static TlStatus write_grains(const Writing *w, const TlPacking *p) {
  TlCsv csv;
  TlSym3 *sigma;
  TL_TRY(TL_NEW(sigma, (size_t)p->grain_count));
  tl_stress_grains(p, sigma);
  TlStatus status = tl_pack_begin(
      &w->to, "grain_stress.csv",
      "id,x_m,y_m,z_m,stress_xx_Pa,stress_yy_Pa,stress_zz_Pa,stress_xy_Pa,stress_xz_Pa,"
      "stress_yz_Pa,mean_stress_Pa,deviatoric_stress_Pa,stress_1_Pa,major_x,major_y,major_z",
      &csv);
  if (status == TL_OK) status = tl_pack_finish(&csv, put_grains(&csv, p, sigma));
  tl_free(sigma);
  return status;
}

static TlStatus write_fabric(const Writing *w, const TlPacking *p, const TlRegion *region,
                             TlPackingPlot *plot) {
  TlCsv csv;
  TL_TRY(tl_pack_begin(&w->to, "fabric.csv",
                       "kind,cos_low,cos_high,azimuth_low_deg,azimuth_high_deg,count,density",
                       &csv));
  TlStatus status = TL_OK;
  for (int kind = 0; kind < TL_FABRIC_KINDS && status == TL_OK; kind++) {
    TlVec3 *direction;
    int64_t n;
    status = tl_fabric_directions(p, region, (TlFabricKind)kind, &direction, &n);
    if (status != TL_OK) break;
    plot->anisotropy[kind] = tl_fabric_of(direction, n).anisotropy;
    status = tl_pack_put_cells(&csv, NULL, 0, kind, direction, n);
    tl_free(direction);
  }
  return tl_pack_finish(&csv, status);
}

static TlStatus write_forces(const Writing *w, const TlPacking *p, const TlRegion *region,
                             TlPackingPlot *plot) {
  TlCsv csv;
  int64_t count[TL_FORCES_BINS];
  TL_TRY(tl_pack_begin(&w->to, "forces.csv", "force_low,force_high,count,density", &csv));
  plot->spread = tl_forces_of(p, region);
  tl_forces_histogram(p, region, count);
  TlStatus status = TL_OK;
  for (int k = 0; k < TL_FORCES_BINS && status == TL_OK; k++) {
    double all = (double)plot->spread.pairs * TL_FORCES_BIN;
    const double row[] = {k * TL_FORCES_BIN, k + 1 < TL_FORCES_BINS ? (k + 1) * TL_FORCES_BIN : NAN,
                          (double)count[k], all > 0 ? (double)count[k] / all : NAN};
    status = tl_csv_row(&csv, row, 4);
  }
  return tl_pack_finish(&csv, status);
}

/* ---- chains ---- */

static TlStatus put_chains(TlCsv *csv, const TlPacking *p, const TlChains *c) {
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < c->count && status == TL_OK; i++) {
    const TlChain *chain = &c->chain[i];
    const TlPackGrain *a = &p->grain[c->member[chain->first]],
                      *b = &p->grain[c->member[chain->first + chain->count - 1]];
    const double row[] = {(double)i,        (double)chain->count, chain->length_m, chain->force_N,
                          chain->steep_deg, (double)a->id,        (double)b->id};
    status = tl_csv_row(csv, row, 7);
  }
  return status;
}

typedef struct Lines {
  double *point;
  int64_t *line, *number;
  double *force;
  int64_t count;
} Lines;

static TlStatus make_lines(const TlPacking *p, const TlChains *c, Lines *l) {
  size_t n = (size_t)c->member_count;
  TL_TRY(TL_NEW(l->point, 3 * n));
  TL_TRY(TL_NEW(l->line, 2 * n));
  TL_TRY(TL_NEW(l->number, n));
  TL_TRY(TL_NEW(l->force, n));
  for (size_t i = 0; i < n; i++) {
    TlVec3 x = p->grain[c->member[i]].centre_m;
    l->point[3 * i] = x.x, l->point[3 * i + 1] = x.y, l->point[3 * i + 2] = x.z;
  }
  for (int64_t k = 0; k < c->count; k++)
    for (int64_t i = c->chain[k].first; i + 1 < c->chain[k].first + c->chain[k].count; i++) {
      l->line[2 * l->count] = i;
      l->line[2 * l->count + 1] = i + 1;
      l->number[l->count] = k;
      l->force[l->count++] = c->link_N[i];
    }
  return TL_OK;
}

static TlStatus write_lines(const Writing *w, const TlPacking *p, const TlChains *c,
                            double time_s) {
  Lines l = {0};
  char *path = tl_path_join(w->to.folder, "chains.vtp");
  TlStatus status = path ? make_lines(p, c, &l) : TL_ENOMEM;
  const TlVtkArray cell[2] = {{"force_N", TL_VTK_F64, 1, l.force},
                              {"chain", TL_VTK_I64, 1, l.number}};
  TlVtkPoly poly = {.point_count = c->member_count,
                    .point = l.point,
                    .line_count = l.count,
                    .line = l.line,
                    .cell_arrays = 2,
                    .cell_array = cell,
                    .time_s = time_s};
  if (status == TL_OK) status = tl_vtk_write_poly(path, w->to.overwrite, &poly);
  tl_free(path);
  tl_free(l.point);
  tl_free(l.line);
  tl_free(l.number);
  tl_free(l.force);
  return status;
}

static TlStatus write_chains(const Writing *w, const TlPacking *p, const TlRegion *region,
                             double time_s) {
  TlCsv csv;
  TlChains chains;
  TL_TRY(tl_chains_find(p, region, &chains));
  TlStatus status =
      tl_pack_begin(&w->to, "chains.csv",
                    "chain,grains,length_m,mean_normal_force_N,from_vertical_deg,first_grain,"
                    "last_grain",
                    &csv);
  if (status == TL_OK) status = tl_pack_finish(&csv, put_chains(&csv, p, &chains));
  if (status == TL_OK) status = write_lines(w, p, &chains, time_s);
  tl_chains_free(&chains);
  return status;
}

static TlStatus draw(const Writing *w, TlPackingPlot *plot) {
  char *fabric = tl_path_join(w->to.folder, "fabric.csv"),
       *forces = tl_path_join(w->to.folder, "forces.csv"),
       *picture = tl_path_join(w->to.folder, "packing.png");
  plot->fabric = fabric;
  plot->forces = forces;
  TlStatus status =
      fabric && forces && picture ? tl_packing_plot(plot, picture, w->to.overwrite) : TL_ENOMEM;
  tl_free(fabric);
  tl_free(forces);
  tl_free(picture);
  return status;
}

static TlStatus write_last(Writing *w, const TlPacking *p, const TlRegion *region, double time_s) {
  TlPackingPlot plot = {.time_s = time_s};
  TL_TRY(write_grains(w, p));
  TL_TRY(tl_packing_bands(&w->to, p, region, w->options, w->figures, &w->band));
  TL_TRY(write_fabric(w, p, region, &plot));
  TL_TRY(write_forces(w, p, region, &plot));
  TL_TRY(write_chains(w, p, region, time_s));
  if (!w->options->plot) return TL_OK;
  const char *const title = "all";
  TL_TRY(tl_fabric_plot(p, region, &title, 1, w->to.folder, "fabric.png", w->to.overwrite));
  return draw(w, &plot);
}

/* ---- the run ---- */

static TlStatus no_contacts(const char *run, int64_t frame) {
  return tl_fail(TL_EINPUT,
                 "%s: frame %lld has no contacts; run the study with frames: {contacts: true}", run,
                 (long long)frame);
}

TlStatus tl_packing_read(const char *run, const TlScene *scene, int64_t index, TlFrame *frame,
                         TlPacking *p) {
  TlFrameContacts contacts = {0};
  *p = (TlPacking){0};
  TL_TRY(tl_results_read_frame(run, index, frame));
  TlStatus status = tl_results_read_contacts(run, index, &contacts);
  if (status == TL_OK && !contacts.there) status = no_contacts(run, index);
  if (status == TL_OK)
    status = tl_context(tl_packing_make(scene, frame, &contacts, p), "%s: frame %lld", run,
                        (long long)index);
  tl_frame_contacts_free(&contacts);
  if (status != TL_OK) tl_frame_free(frame);
  return status;
}

/* Before and after the rows of the test as at their ends. */
static double cell_volume(const TlTxTest *cell, double time_s) {
  const double *t = cell->x[TL_TX_TIME];
  int64_t k = 0;
  double within = tl_max(t[0], tl_min(time_s, t[cell->count - 1]));
  return tl_tx_between(t, cell->x[TL_TX_VOLUME], cell->count, within, &k);
}

static TlRegion region_at(const Writing *w, const TlPacking *p, double time_s) {
  if (w->options->region) return *w->options->region;
  TlRegion region = tl_packing_bounds(p);
  if (w->cell.count > 0) region.whole_m3 = cell_volume(&w->cell, time_s);
  return region;
}

static bool holds_none(const TlPacking *p, const TlRegion *region) {
  for (int64_t i = 0; i < p->grain_count; i++)
    if (tl_packing_in(p, region, i)) return false;
  return true;
}

/* A region in other units than m, or beside the grains, has measures of nothing. */
static void warn_of_empty(const Writing *w, const TlPacking *p, int64_t frames) {
  TlRegion all = tl_packing_bounds(p);
  if (w->empty == 0) return;
  tl_log_warn(
      "%s: in %lld of %lld frames no grain has its centre in the region that is measured, and "
      "their measures say nothing; in the last frame the grains reach from x = %g, y = %g, "
      "z = %g to x = %g, y = %g, z = %g m",
      w->run, (long long)w->empty, (long long)frames, all.low.x, all.low.y, all.low.z, all.high.x,
      all.high.y, all.high.z);
}

static TlStatus measure_frame(Writing *w, TlCsv *csv, const int64_t *frame_of, int64_t i,
                              int64_t count) {
  const int64_t index = frame_of[i];
  const bool last = i == count - 1;
  TlFrame frame = {0};
  TlPacking p = {0};
  TlStatus status = tl_packing_read(w->run, w->scene, index, &frame, &p);
  p.first = &w->first;
  TlRegion region = region_at(w, &p, frame.time_s);
  if (status == TL_OK) status = put_line(w, csv, &frame, &p, &region);
  if (status == TL_OK && w->options->region) w->empty += holds_none(&p, &region);
  if (status == TL_OK && last) warn_of_empty(w, &p, count);
  if (status == TL_OK && last) status = write_last(w, &p, &region, frame.time_s);
  tl_packing_free(&p);
  tl_frame_free(&frame);
  return status;
}

/* ---- both sides of the band ---- */

static TlStatus side_frame(const Writing *w, TlCsv *csv, int64_t index) {
  TlFrame frame = {0};
  TlPacking p = {0};
  TlStatus status = tl_packing_read(w->run, w->scene, index, &frame, &p);
  TlRegion region = region_at(w, &p, frame.time_s);
  if (status == TL_OK) status = tl_sides_line(csv, &frame, &p, &region, &w->band);
  tl_packing_free(&p);
  tl_frame_free(&frame);
  return status;
}

static TlStatus write_sides(const Writing *w, const int64_t *index, int64_t count) {
  TlCsv csv;
  char *header = tl_sides_header();
  TlStatus status = header ? tl_pack_begin(&w->to, "band_frames.csv", header, &csv) : TL_ENOMEM;
  tl_free(header);
  TL_TRY(status);
  for (int64_t i = 0; i < count && status == TL_OK; i++) status = side_frame(w, &csv, index[i]);
  TL_TRY(tl_pack_finish(&csv, status));
  return w->options->plot ? tl_sides_plot(w->to.folder, w->to.overwrite) : TL_OK;
}

/* ---- all frames ---- */

/* Index of the frame that rotations and strains are counted from. */
static TlStatus reference(const Writing *w, const int64_t *index, int64_t count, int64_t *at) {
  int64_t number = w->options->from_frame;
  double time_s = w->options->from_s;
  *at = index[0];
  for (int64_t i = 0; i < count && number >= 0; i++)
    if (index[i] == number) {
      *at = number;
      return TL_OK;
    }
  if (number >= 0)
    return tl_fail(TL_EINPUT, "%s: holds no frame %lld; its frames are %lld to %lld", w->run,
                   (long long)number, (long long)index[0], (long long)index[count - 1]);
  for (int64_t i = 0; i < count && !isnan(time_s); i++) {
    TlFrame frame;
    TL_TRY(tl_results_read_frame(w->run, index[i], &frame));
    bool after = frame.time_s > time_s;
    tl_frame_free(&frame);
    if (after) break;
    *at = index[i];
  }
  return TL_OK;
}

static TlStatus measure_frames(Writing *w, TlCsv *csv, const int64_t *index, int64_t count) {
  TlFrame frame = {0};
  int64_t from;
  TL_TRY(reference(w, index, count, &from));
  TlStatus status = tl_packing_read(w->run, w->scene, from, &frame, &w->first);
  tl_frame_free(&frame);
  if (status == TL_OK)
    status = tl_figures_add(w->figures, "bands_from_frame", (double)from, "", "");
  for (int64_t i = 0; i < count && status == TL_OK; i++)
    status = measure_frame(w, csv, index, i, count);
  tl_packing_free(&w->first);
  return status;
}

static TlStatus measure_all(Writing *w, const int64_t *index, int64_t count) {
  TlCsv csv;
  char *header;
  TL_TRY(header_of(&header, &w->values));
  TlStatus status = tl_pack_begin(&w->to, "packing.csv", header, &csv);
  tl_free(header);
  TL_TRY(status);
  TL_TRY(tl_pack_finish(&csv, measure_frames(w, &csv, index, count)));
  return w->band.found ? write_sides(w, index, count) : TL_OK;
}

TlStatus tl_packing_check(const char *run) {
  int64_t *index, count;
  TlFrameContacts contacts = {0};
  TL_TRY(tl_results_frames(run, &index, &count));
  TlStatus status = TL_OK;
  if (count == 0) status = tl_fail(TL_EINPUT, "%s: holds no frames; was the study run?", run);
  if (status == TL_OK) status = tl_results_read_contacts(run, index[count - 1], &contacts);
  if (status == TL_OK && !contacts.there) status = no_contacts(run, index[count - 1]);
  tl_frame_contacts_free(&contacts);
  tl_free(index);
  return status;
}

static TlStatus read_cell(Writing *w) {
  TlTxOptions options = {0};
  char *path = tl_path_join(w->run, "triaxial.csv");
  if (!path) return TL_ENOMEM;
  bool there = tl_file_exists(path);
  tl_free(path);
  return there ? tl_tx_read(w->run, &options, &w->cell) : TL_OK;
}

TlStatus tl_packing_run(const char *run, const TlScene *scene, const TlPackingOptions *options,
                        const char *folder, bool overwrite, TlFigures *figures) {
  Writing w = {.to = {folder, overwrite},
               .run = run,
               .scene = scene,
               .options = options,
               .figures = figures};
  int64_t *index, count;
  TL_TRY(tl_results_frames(run, &index, &count));
  TlStatus status = TL_OK;
  if (count == 0) status = tl_fail(TL_EINPUT, "%s: holds no frames; was the study run?", run);
  if (status == TL_OK && !options->region) status = read_cell(&w);
  if (status == TL_OK) status = tl_dir_make(folder);
  if (status == TL_OK) status = measure_all(&w, index, count);
  tl_tx_free(&w.cell);
  tl_free(index);
  return status;
}
