/* run.vtkhdf, by which ParaView opens a run's folder: grains as points that move, in VTK's own layout
 * of HDF5 (VTKHDF 2.0, an unstructured grid of vertices with one part a step). Columns of the frames
 * are virtual datasets, which point into the frames' files beside it, so the file is small and holds
 * no second copy; what VTK wants besides, and the radius of each grain, is its own.
 *
 * HDF5 decodes the frames here, so it is made in the sandbox (base/sandbox.h). */
#include "store/results_layout.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/sandbox.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VTK_CELL_VERTEX = 1, BLOCK_ROWS = 65536 };
static const int VTKHDF_VERSION[2] = {2, 0};

typedef struct Job {
  char *folder, *name; /* of the run; of the product, for messages. Owned */
} Job;

/* What is known of a frame before the columns that point into it are made. */
typedef struct Step {
  int64_t index, rows;
  double time_s;
} Step;

typedef struct View {
  const char *folder;
  TlH5File file;
  hid_t group, points; /* VTKHDF and VTKHDF/PointData */
  hid_t radius, types, offsets, connectivity;
  int64_t count, total; /* frames, rows of all of them */
  Step *step;
  int64_t shapes; /* of run.h5 */
  int64_t *shape_id;
  double *shape_m3;
} View;

/* ---- radii ---- */

static TlStatus read_shapes(View *v) {
  TlH5File run;
  char *path = tl_path_join(v->folder, "run.h5");
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_h5_open(&run, path);
  TL_H5_OWNED hid_t g = status == TL_OK ? H5Gopen2(run.id, "avatar", H5P_DEFAULT) : -1;
  if (status == TL_OK && g < 0) status = tl_h5_fail(&run, "opening the shapes' group");
  if (status == TL_OK) status = tl_h5_array_rows(&run, g, "id", &v->shapes);
  if (status == TL_OK) status = TL_NEW(v->shape_id, (size_t)v->shapes);
  if (status == TL_OK) status = TL_NEW(v->shape_m3, (size_t)v->shapes);
  if (status == TL_OK)
    status = tl_h5_array_read(&run, g, "id", H5T_NATIVE_INT64, 1, 0, v->shape_id, v->shapes);
  if (status == TL_OK)
    status =
        tl_h5_array_read(&run, g, "volume_m3", H5T_NATIVE_DOUBLE, 1, 0, v->shape_m3, v->shapes);
  TL_CLEAN_UP(tl_h5_close(&run));
  tl_free(path);
  return status;
}

/* Radius of the sphere of a shape's volume; 0 for a shape that run.h5 does not have. The shapes are
 * sorted by their id. */
static double radius_of(const View *v, int64_t id) {
  int64_t low = 0, high = v->shapes;
  while (low < high) {
    int64_t mid = low + (high - low) / 2;
    if (v->shape_id[mid] < id)
      low = mid + 1;
    else
      high = mid;
  }
  return low < v->shapes && v->shape_id[low] == id ? cbrt(0.75 / M_PI * v->shape_m3[low]) : 0;
}

/* Of rows [first, first + rows) of the frame. */
static TlStatus append_radii(View *v, const TlH5File *frame, int64_t first, int64_t rows) {
  int64_t *id = NULL;
  double *radius = NULL;
  TlStatus status = TL_NEW(id, (size_t)rows);
  if (status == TL_OK) status = TL_NEW(radius, (size_t)rows);
  if (status == TL_OK)
    status = tl_h5_array_read(frame, frame->id, "avatar_id", H5T_NATIVE_INT64, 1, first, id, rows);
  if (status == TL_OK)
    status = tl_h5_array_read(frame, frame->id, "scale", H5T_NATIVE_DOUBLE, 1, first, radius, rows);
  for (int64_t i = 0; status == TL_OK && i < rows; i++) radius[i] *= radius_of(v, id[i]);
  if (status == TL_OK)
    status = tl_h5_array_append(&v->file, v->radius, H5T_NATIVE_DOUBLE, 1, v->total + first, radius,
                                rows);
  tl_free(id);
  tl_free(radius);
  return status;
}

/* ---- cells: each point is one ---- */

/* The same; last: they end the frame, whose offsets are one more than it has cells. */
static TlStatus append_cells(View *v, int64_t at, int64_t first, int64_t rows, bool last) {
  int64_t *number = NULL;
  uint8_t *type = NULL;
  TlStatus status = TL_NEW(number, (size_t)rows + 1);
  if (status == TL_OK) status = TL_NEW(type, (size_t)rows);
  for (int64_t i = 0; status == TL_OK && i <= rows; i++) number[i] = first + i;
  if (status == TL_OK) memset(type, VTK_CELL_VERTEX, (size_t)rows);
  if (status == TL_OK)
    status =
        tl_h5_array_append(&v->file, v->types, H5T_NATIVE_UINT8, 1, v->total + first, type, rows);
  if (status == TL_OK)
    status = tl_h5_array_append(&v->file, v->connectivity, H5T_NATIVE_INT64, 1, v->total + first,
                                number, rows);
  if (status == TL_OK)
    status = tl_h5_array_append(&v->file, v->offsets, H5T_NATIVE_INT64, 1, v->total + at + first,
                                number, rows + last);
  tl_free(number);
  tl_free(type);
  return status;
}

/* In blocks, so that memory does not grow with the frame. */
static TlStatus append_rows(View *v, const TlH5File *frame, int64_t at, int64_t rows) {
  TlStatus status = TL_OK;
  int64_t first = 0, most = BLOCK_ROWS;
  do {
    int64_t n = rows - first < most ? rows - first : most;
    status = append_radii(v, frame, first, n);
    if (status == TL_OK) status = append_cells(v, at, first, n, first + n == rows);
    first += n;
  } while (status == TL_OK && first < rows);
  return status;
}

static TlStatus take_frame(View *v, int64_t at) {
  Step *step = &v->step[at];
  TlH5File frame;
  char *path = tl_results_frame_path(v->folder, step->index);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_h5_open(&frame, path);
  if (status == TL_OK) status = tl_h5_check_format(&frame, "talus frame", TL_RESULTS_FORMAT);
  if (status == TL_OK) status = tl_h5_get_real(&frame, frame.id, "time_s", &step->time_s, 1);
  if (status == TL_OK) status = tl_h5_array_rows(&frame, frame.id, "id", &step->rows);
  if (status == TL_OK) status = append_rows(v, &frame, at, step->rows);
  TL_CLEAN_UP(tl_h5_close(&frame));
  tl_free(path);
  v->total += step->rows;
  return status;
}

/* ---- columns that lie in the frames ---- */

/* One more frame: rows first .. of the column are the whole dataset of that name in the frame. */
static herr_t map_frame(hid_t list, hid_t space, const TlH5Column *c, const char *file,
                        int64_t first, int64_t rows) {
  char dataset[64];
  int rank = c->width > 1 ? 2 : 1;
  hsize_t start[2] = {(hsize_t)first, 0}, count[2] = {(hsize_t)rows, (hsize_t)c->width};
  TL_H5_OWNED hid_t source = H5Screate_simple(rank, count, NULL);
  snprintf(dataset, sizeof dataset, "/%s", c->name);
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL) < 0) return -1;
  return H5Pset_virtual(list, space, file, dataset, source);
}

static TlStatus make_column(const View *v, hid_t group, const char *name, const TlH5Column *c) {
  int rank = c->width > 1 ? 2 : 1;
  hsize_t size[2] = {(hsize_t)v->total, (hsize_t)c->width};
  TL_H5_OWNED hid_t space = H5Screate_simple(rank, size, NULL);
  TL_H5_OWNED hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  herr_t done = space < 0 || list < 0 ? -1 : 0;
  int64_t first = 0;
  for (int64_t i = 0; done >= 0 && i < v->count; i++) {
    char *path = tl_results_frame_path(v->folder, v->step[i].index);
    if (!path) return TL_ENOMEM;
    if (v->step[i].rows > 0)
      done = map_frame(list, space, c, strrchr(path, '/') + 1, first, v->step[i].rows);
    first += v->step[i].rows;
    tl_free(path);
  }
  if (done >= 0) H5Sselect_all(space);
  TL_H5_OWNED hid_t dataset =
      done < 0 ? -1
               : H5Dcreate2(group, name, tl_h5_type_of(c), space, H5P_DEFAULT, list, H5P_DEFAULT);
  if (dataset < 0) return tl_h5_fail(&v->file, name);
  return c->unit[0] ? tl_h5_set_text(&v->file, dataset, "unit", c->unit) : TL_OK;
}

static TlStatus make_columns(const View *v) {
  TlH5Column columns[TL_H5_RECORD_COLUMNS];
  int count = tl_h5_record_columns(&tl_body_row_record, false, columns);
  for (int c = 0; c < count; c++) {
    const TlH5Column *column = &columns[c];
    bool place = strcmp(column->name, "position_m") == 0;
    TL_TRY(make_column(v, place ? v->group : v->points, place ? "Points" : column->name, column));
  }
  return TL_OK;
}

/* ---- steps ---- */

/* A number a step; all steps have the datasets of the same name in several groups. */
static TlStatus put_numbers(const View *v, hid_t group, const char *name, hid_t type,
                            const void *values) {
  hid_t dataset;
  TlStatus status = tl_h5_array_create(&v->file, group, name, "", type, 0, 1, &dataset);
  if (status == TL_OK) status = tl_h5_array_append(&v->file, dataset, type, 1, 0, values, v->count);
  if (dataset >= 0) H5Dclose(dataset);
  return status;
}

static TlStatus put_offsets(const View *v, hid_t steps, const int64_t *first) {
  TL_H5_OWNED hid_t g =
      H5Gcreate2(steps, "PointDataOffsets", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (g < 0) return tl_h5_fail(&v->file, "making the group of offsets");
  TL_TRY(put_numbers(v, g, "radius_m", H5T_NATIVE_INT64, first));
  TlH5Column column[TL_H5_RECORD_COLUMNS];
  int count = tl_h5_record_columns(&tl_body_row_record, false, column);
  for (int c = 0; c < count; c++)
    if (strcmp(column[c].name, "position_m") != 0)
      TL_TRY(put_numbers(v, g, column[c].name, H5T_NATIVE_INT64, first));
  return TL_OK;
}

typedef struct Numbers {
  int64_t *part, *one, *first, *rows;
  double *time_s;
} Numbers;

static TlStatus put_steps(const View *v, const Numbers *n) {
  static const char *const counts[] = {"NumberOfPoints", "NumberOfCells",
                                       "NumberOfConnectivityIds"},
                           *const starts[] = {"PointOffsets", "CellOffsets",
                                              "ConnectivityIdOffsets"};
  TL_H5_OWNED hid_t steps = H5Gcreate2(v->group, "Steps", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (steps < 0) return tl_h5_fail(&v->file, "making the group of steps");
  TL_TRY(tl_h5_set_int(&v->file, steps, "NSteps", v->count));
  TL_TRY(put_numbers(v, steps, "Values", H5T_NATIVE_DOUBLE, n->time_s));
  TL_TRY(put_numbers(v, steps, "PartOffsets", H5T_NATIVE_INT64, n->part));
  TL_TRY(put_numbers(v, steps, "NumberOfParts", H5T_NATIVE_INT64, n->one));
  for (int i = 0; i < 3; i++) {
    TL_TRY(put_numbers(v, v->group, counts[i], H5T_NATIVE_INT64, n->rows));
    TL_TRY(put_numbers(v, steps, starts[i], H5T_NATIVE_INT64, n->first));
  }
  return put_offsets(v, steps, n->first);
}

static TlStatus make_steps(const View *v) {
  Numbers n = {0};
  size_t count = (size_t)v->count;
  TlStatus status = TL_NEW(n.part, count);
  if (status == TL_OK) status = TL_NEW(n.one, count);
  if (status == TL_OK) status = TL_NEW(n.first, count);
  if (status == TL_OK) status = TL_NEW(n.rows, count);
  if (status == TL_OK) status = TL_NEW(n.time_s, count);
  int64_t first = 0;
  for (int64_t i = 0; status == TL_OK && i < v->count; i++) {
    n.part[i] = i, n.one[i] = 1, n.first[i] = first;
    n.rows[i] = v->step[i].rows, n.time_s[i] = v->step[i].time_s;
    first += v->step[i].rows;
  }
  if (status == TL_OK) status = put_steps(v, &n);
  tl_free(n.part);
  tl_free(n.one);
  tl_free(n.first);
  tl_free(n.rows);
  tl_free(n.time_s);
  return status;
}

/* ---- the file ---- */

/* VTK takes the type's text in ASCII without an end only. */
static TlStatus write_attributes(const View *v) {
  static const char kind[] = "UnstructuredGrid";
  const hsize_t two = 2;
  TL_H5_OWNED hid_t scalar = H5Screate(H5S_SCALAR), pair = H5Screate_simple(1, &two, NULL),
                    text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, sizeof kind - 1);
  H5Tset_strpad(text, H5T_STR_NULLPAD);
  TL_H5_OWNED hid_t type = H5Acreate2(v->group, "Type", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
  TL_H5_OWNED hid_t version =
      H5Acreate2(v->group, "Version", H5T_NATIVE_INT, pair, H5P_DEFAULT, H5P_DEFAULT);
  if (type < 0 || version < 0 || H5Awrite(type, text, kind) < 0 ||
      H5Awrite(version, H5T_NATIVE_INT, VTKHDF_VERSION) < 0)
    return tl_h5_fail(&v->file, "writing type and version");
  return TL_OK;
}

static TlStatus start_file(View *v) {
  const TlH5File *f = &v->file;
  v->group = H5Gcreate2(f->id, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (v->group < 0) return tl_h5_fail(f, "making its group");
  v->points = H5Gcreate2(v->group, "PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (v->points < 0) return tl_h5_fail(f, "making the points' group");
  TL_TRY(write_attributes(v));
  TL_TRY(tl_h5_array_create(f, v->group, "Types", "", H5T_NATIVE_UINT8, 0, 1, &v->types));
  TL_TRY(tl_h5_array_create(f, v->group, "Offsets", "", H5T_NATIVE_INT64, 0, 1, &v->offsets));
  TL_TRY(tl_h5_array_create(f, v->group, "Connectivity", "", H5T_NATIVE_INT64, 0, 1,
                            &v->connectivity));
  return tl_h5_array_create(f, v->points, "radius_m", "m", H5T_NATIVE_DOUBLE, 0, 1, &v->radius);
}

static TlStatus list_frames(View *v) {
  int64_t *index;
  TlStatus status = tl_results_frames(v->folder, &index, &v->count);
  if (status == TL_OK) status = TL_NEW(v->step, (size_t)v->count);
  for (int64_t i = 0; status == TL_OK && i < v->count; i++) v->step[i].index = index[i];
  tl_free(index);
  return status;
}

static void close_file(View *v) {
  hid_t *const all[] = {&v->radius,       &v->types,  &v->offsets,
                        &v->connectivity, &v->points, &v->group};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) tl_h5_give_back(all[i]);
  tl_free(v->step);
  tl_free(v->shape_id);
  tl_free(v->shape_m3);
}

/* path: the temporary */
static TlStatus make(const char *path, void *of) {
  const Job *j = of;
  View v = {.folder = j->folder,
            .group = -1,
            .points = -1,
            .radius = -1,
            .types = -1,
            .offsets = -1,
            .connectivity = -1};
  TL_TRY(tl_h5_create(&v.file, path, j->name));
  TlStatus status = start_file(&v);
  if (status == TL_OK) status = read_shapes(&v);
  if (status == TL_OK) status = list_frames(&v);
  for (int64_t i = 0; status == TL_OK && i < v.count; i++) status = take_frame(&v, i);
  if (status == TL_OK) status = make_columns(&v);
  if (status == TL_OK) status = make_steps(&v);
  close_file(&v);
  TlStatus closed = tl_h5_close(&v.file);
  return status == TL_OK ? closed : status;
}

static TlStatus ask(TlSandbox *s, void *of) {
  Job *j = of;
  TL_TRY(tl_sandbox_pass_text(s, &j->folder));
  return tl_sandbox_pass_text(s, &j->name);
}

static TlStatus tell(TlSandbox *s, void *of) {
  (void)s;
  (void)of;
  return TL_OK;
}

static void release(void *of) {
  Job *j = of;
  tl_free(j->folder);
  tl_free(j->name);
}

static const TlSandboxReader view_maker = {.name = "view of a run for ParaView",
                                           .writes = true,
                                           .job_bytes = sizeof(Job),
                                           .prepare = tl_h5_prepare,
                                           .ask = ask,
                                           .read = make,
                                           .tell = tell,
                                           .release = release};
TL_SANDBOX_READER(view_maker)

TlStatus tl_results_write_paraview(const char *folder) {
  TlOutFile out;
  Job job = {0};
  char *path = tl_path_join(folder, TL_PARAVIEW_FILE);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_outfile_begin(&out, path, true);
  tl_free(path);
  TL_TRY(status);
  job.folder = tl_strdup(folder);
  job.name = tl_strdup(out.path);
  status = job.folder && job.name ? tl_sandbox_read(&view_maker, out.temp, 0, &job) : TL_ENOMEM;
  release(&job);
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}
