#include "post/overlap.h"

#include "base/mem.h"
#include "io/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TlStatus begin(TlCsv *csv, const char *folder, const char *name, bool overwrite,
                      const char *header) {
  char *path = tl_path_join(folder, name);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_csv_begin(csv, path, overwrite, header);
  tl_free(path);
  return status;
}

static TlStatus finish(TlCsv *csv, TlStatus status) {
  if (status == TL_OK) return tl_csv_commit(csv);
  tl_csv_abort(csv);
  return status;
}

static TlStatus write_rows(const TlOverlapRows *rows, const char *folder, bool overwrite) {
  enum { NUMBERS = 10 };
  TlCsv csv;
  bool good = true;
  TL_TRY(begin(&csv, folder, "overlap.csv", overwrite,
               "frame,first,second,overlap_m,overlap_share,nodes_overlap_m,radius_m,x_m,y_m,z_m,"
               "normal_x,normal_y,normal_z,test"));
  for (int64_t i = 0; i < rows->count && good; i++) {
    const TlOverlapRow *r = &rows->row[i];
    bool there = r->depth_m > 0;
    const double value[NUMBERS] = {r->depth_m,
                                   r->fraction,
                                   r->nodes_m,
                                   r->radius_m,
                                   there ? r->point_m.x : NAN,
                                   there ? r->point_m.y : NAN,
                                   there ? r->point_m.z : NAN,
                                   there ? r->normal.x : NAN,
                                   there ? r->normal.y : NAN,
                                   there ? r->normal.z : NAN};
    good = fprintf(csv.file, "%lld,%lld,%lld", (long long)r->frame, (long long)r->first,
                   (long long)r->second) > 0;
    for (int k = 0; k < NUMBERS && good; k++) {
      char text[40];
      tl_csv_real(text, value[k]);
      good = fprintf(csv.file, ",%s", text) > 0;
    }
    good = good && fprintf(csv.file, ",%s\n", tl_overlap_test_name[r->test]) > 0;
  }
  return finish(&csv, good ? TL_OK : tl_fail_errno(csv.out.path, "cannot write"));
}

static TlStatus write_frames(const TlOverlapRows *rows, const TlFrame *frame, int64_t frames,
                             const char *folder, bool overwrite) {
  TlCsv csv;
  TL_TRY(begin(&csv, folder, "overlap_frames.csv", overwrite,
               "frame,step,time_s,ground,touching,largest_m,largest_share,median_share,p90_share,"
               "p99_share,over_1_percent,over_2_percent,nodes_touching,nodes_largest_share,"
               "nodes_over_1_percent,nodes_over_2_percent"));
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < 2 * frames && status == TL_OK; i++) {
    const TlFrame *f = &frame[i / 2];
    TlOverlapSums s;
    status = tl_overlap_sums(rows, f->index, i % 2, &s);
    const double row[] = {(double)f->index,
                          (double)f->step,
                          f->time_s,
                          (double)(i % 2),
                          (double)s.touching,
                          s.largest_m,
                          s.largest_fraction,
                          s.median_fraction,
                          s.p90_fraction,
                          s.p99_fraction,
                          (double)s.over_1_percent,
                          (double)s.over_2_percent,
                          (double)s.nodes_touching,
                          s.nodes_largest_fraction,
                          (double)s.nodes_over_1_percent,
                          (double)s.nodes_over_2_percent};
    if (status == TL_OK) status = tl_csv_row(&csv, row, sizeof row / sizeof *row);
  }
  return finish(&csv, status);
}

static TlStatus add(TlFigures *figures, const char *of, const char *name, double value,
                    const char *unit) {
  char whole[64];
  snprintf(whole, sizeof whole, "%s_%s", of, name);
  return tl_figures_add(figures, whole, value, unit, "post/overlap.h");
}

/* of: what the figures' names begin with. */
static TlStatus add_figures(TlFigures *f, const char *of, const TlOverlapSums *s) {
  TL_TRY(add(f, of, "touching", (double)s->touching, ""));
  TL_TRY(add(f, of, "largest", s->largest_m, "m"));
  TL_TRY(add(f, of, "median", s->median_m, "m"));
  TL_TRY(add(f, of, "p90", s->p90_m, "m"));
  TL_TRY(add(f, of, "p99", s->p99_m, "m"));
  TL_TRY(add(f, of, "largest_of_radius", 100 * s->largest_fraction, "percent"));
  TL_TRY(add(f, of, "median_of_radius", 100 * s->median_fraction, "percent"));
  TL_TRY(add(f, of, "p90_of_radius", 100 * s->p90_fraction, "percent"));
  TL_TRY(add(f, of, "p99_of_radius", 100 * s->p99_fraction, "percent"));
  TL_TRY(add(f, of, "over_1_percent", (double)s->over_1_percent, ""));
  TL_TRY(add(f, of, "over_2_percent", (double)s->over_2_percent, ""));
  if (s->touching > 0) {
    TL_TRY(add(f, of, "deepest_first", (double)s->first, ""));
    TL_TRY(add(f, of, "deepest_second", (double)s->second, ""));
  }
  TL_TRY(add(f, of, "nodes_touching", (double)s->nodes_touching, ""));
  TL_TRY(add(f, of, "nodes_largest", s->nodes_largest_m, "m"));
  TL_TRY(add(f, of, "nodes_largest_of_radius", 100 * s->nodes_largest_fraction, "percent"));
  TL_TRY(add(f, of, "nodes_over_1_percent", (double)s->nodes_over_1_percent, ""));
  return add(f, of, "nodes_over_2_percent", (double)s->nodes_over_2_percent, "");
}

/* Which of the run's frames "last", "all" or a number means: *count of them from *first on. */
static TlStatus choose(const char *run, const char *frames, const int64_t *index, int64_t all,
                       int64_t *first, int64_t *count) {
  if (all == 0) return tl_fail(TL_EINPUT, "%s: holds no frames; was the study run?", run);
  *first = strcmp(frames, "all") == 0 ? 0 : all - 1;
  *count = all - *first;
  if (strcmp(frames, "all") == 0 || strcmp(frames, "last") == 0) return TL_OK;
  char *end;
  long long wanted = strtoll(frames, &end, 10);
  if (end == frames || *end != '\0')
    return tl_fail(TL_EUSAGE, "--overlap-frames: '%s' is neither last nor all nor a number",
                   frames);
  *count = 1;
  for (*first = 0; *first < all; ++*first)
    if (index[*first] == wanted) return TL_OK;
  return tl_fail(TL_EUSAGE, "--overlap-frames: %s holds no frame %lld; its frames are %lld to %lld",
                 run, wanted, (long long)index[0], (long long)index[all - 1]);
}

static TlStatus measure(const char *run, const TlScene *scene, const int64_t *index, int64_t count,
                        TlFrame *frame, TlOverlapRows *rows) {
  TlOverlapShape *shapes;
  TL_TRY(tl_overlap_shapes(scene, &shapes));
  TlStatus status = TL_OK;
  for (int64_t i = 0; i < count && status == TL_OK; i++) {
    status = tl_results_read_frame(run, index[i], &frame[i]);
    if (status == TL_OK) status = tl_overlap_frame(scene, shapes, &frame[i], rows);
    tl_free(frame[i].rows); /* its numbers are wanted still */
    frame[i].rows = NULL;
  }
  tl_overlap_shapes_free(shapes, scene->avatar_count);
  return status;
}

TlStatus tl_overlap_run(const char *run, const TlScene *scene, const char *frames,
                        const char *folder, bool overwrite, TlFigures *figures) {
  TlOverlapRows rows = {0};
  TlOverlapSums pairs, ground;
  TlFrame *frame = NULL;
  int64_t *index, all, first = 0, count = 0;
  TL_TRY(tl_results_frames(run, &index, &all));
  TlStatus status = choose(run, frames, index, all, &first, &count);
  if (status == TL_OK) status = TL_NEW(frame, (size_t)count);
  if (status == TL_OK) status = measure(run, scene, index + first, count, frame, &rows);
  if (status == TL_OK) status = tl_dir_make(folder);
  if (status == TL_OK) status = write_rows(&rows, folder, overwrite);
  if (status == TL_OK) status = write_frames(&rows, frame, count, folder, overwrite);
  if (status == TL_OK) status = tl_overlap_sums(&rows, -1, false, &pairs);
  if (status == TL_OK) status = tl_overlap_sums(&rows, -1, true, &ground);
  if (status == TL_OK) status = add_figures(figures, "overlap", &pairs);
  if (status == TL_OK && tl_overlap_boundaries(scene) > 0)
    status = add_figures(figures, "ground_overlap", &ground);
  tl_free(frame);
  tl_overlap_rows_free(&rows);
  tl_free(index);
  return status;
}
