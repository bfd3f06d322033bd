#include "io/vtk.h"

#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* A file is written twice over the same list of arrays: first the XML, which needs each array's
 * offset, then the raw bytes. */
typedef struct Block {
  const TlVtkArray *array;
  int64_t tuples;
} Block;

enum { MOST_BLOCKS = 40 };

typedef struct Writer {
  FILE *file;
  Block block[MOST_BLOCKS];
  int blocks;
  uint64_t offset;
} Writer;

static const char *type_name(TlVtkType type) {
  static const char *const names[] = {"Float32", "Float64", "Int32", "Int64", "UInt8"};
  return names[type];
}

static uint64_t type_bytes(TlVtkType type) {
  static const uint64_t bytes[] = {4, 8, 4, 8, 1};
  return bytes[type];
}

static uint64_t block_bytes(const Block *block) {
  return (uint64_t)block->tuples * (uint64_t)block->array->components *
         type_bytes(block->array->type);
}

static void escaped(FILE *file, const char *text) {
  for (; *text; text++) {
    switch (*text) {
    case '&':
      fputs("&amp;", file);
      break;
    case '<':
      fputs("&lt;", file);
      break;
    case '"':
      fputs("&quot;", file);
      break;
    default:
      fputc(*text, file);
    }
  }
}

static void declare(Writer *w, const TlVtkArray *array, int64_t tuples, const char *more) {
  if (w->blocks == MOST_BLOCKS) return;
  fprintf(w->file, "        <DataArray type=\"%s\" Name=\"", type_name(array->type));
  escaped(w->file, array->name);
  fprintf(w->file, "\" NumberOfComponents=\"%d\"%s format=\"appended\" offset=\"%llu\"/>\n",
          array->components, more, (unsigned long long)w->offset);
  w->block[w->blocks] = (Block){array, tuples};
  w->offset += 8 + block_bytes(&w->block[w->blocks++]);
}

static void declare_all(Writer *w, const char *kind, const TlVtkArray *array, int count,
                        int64_t tuples) {
  fprintf(w->file, "      <%s>\n", kind);
  for (int i = 0; i < count; i++) declare(w, &array[i], tuples, "");
  fprintf(w->file, "      </%s>\n", kind);
}

static void begin_xml(Writer *w, const char *type) {
  fprintf(w->file,
          "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" "
          "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <%s>\n",
          type, type);
}

static void end_xml(Writer *w, const char *type) {
  fprintf(w->file, "  </%s>\n  <AppendedData encoding=\"raw\">\n_", type);
  for (int i = 0; i < w->blocks; i++) {
    uint64_t bytes = block_bytes(&w->block[i]);
    fwrite(&bytes, sizeof bytes, 1, w->file);
    if (bytes) fwrite(w->block[i].array->values, 1, bytes, w->file);
  }
  fprintf(w->file, "\n  </AppendedData>\n</VTKFile>\n");
}

static TlStatus open_writer(Writer *w, TlOutFile *out, const char *path, bool overwrite) {
  *w = (Writer){0};
  TL_TRY(tl_outfile_begin(out, path, overwrite));
  w->file = fopen(out->temp, "wb");
  if (w->file) return TL_OK;
  TlStatus status = tl_fail_errno(path, "cannot create");
  tl_outfile_abort(out);
  return status;
}

static TlStatus close_writer(Writer *w, TlOutFile *out) {
  TlStatus status = TL_OK;
  int failed = ferror(w->file);
  if (fclose(w->file) != 0 || failed) status = tl_fail_errno(out->path, "cannot write");
  if (w->blocks == MOST_BLOCKS) status = tl_fail(TL_EINPUT, "%s: too many arrays", out->path);
  if (status == TL_OK) return tl_outfile_commit(out);
  tl_outfile_abort(out);
  return status;
}

/* ---- polygons and points ---- */

/* offsets[i] = (i + 1) * corners; connectivity of vertex cells: 0, 1, 2, ... */
static TlStatus counting(int64_t **list, int64_t count, int64_t first, int64_t step) {
  TL_TRY(TL_NEW(*list, (size_t)count));
  for (int64_t i = 0; i < count; i++) (*list)[i] = first + i * step;
  return TL_OK;
}

/* What a file's cells are: triangles, else lines, else a vertex a point. */
typedef struct Cells {
  const char *name;
  int64_t count, corners;
  const int64_t *connectivity; /* NULL: 0, 1, 2, ... */
} Cells;

static Cells cells_of(const TlVtkPoly *p) {
  if (p->triangle_count) return (Cells){"Polys", p->triangle_count, 3, p->triangle};
  if (p->line_count) return (Cells){"Lines", p->line_count, 2, p->line};
  return (Cells){"Verts", p->point_count, 1, NULL};
}

static long long count_of(const Cells *c, const char *name) {
  return strcmp(c->name, name) == 0 ? (long long)c->count : 0;
}

static void poly_xml(Writer *w, const TlVtkPoly *p, const Cells *c, const TlVtkArray geometry[4]) {
  begin_xml(w, "PolyData");
  fprintf(w->file, "    <FieldData>\n");
  declare(w, &geometry[3], 1, " NumberOfTuples=\"1\"");
  fprintf(w->file, "    </FieldData>\n");
  fprintf(w->file,
          "    <Piece NumberOfPoints=\"%lld\" NumberOfVerts=\"%lld\" NumberOfLines=\"%lld\" "
          "NumberOfStrips=\"0\" NumberOfPolys=\"%lld\">\n",
          (long long)p->point_count, count_of(c, "Verts"), count_of(c, "Lines"),
          count_of(c, "Polys"));
  declare_all(w, "PointData", p->point_array, p->point_arrays, p->point_count);
  declare_all(w, "CellData", p->cell_array, p->cell_arrays, c->count);
  declare_all(w, "Points", &geometry[0], 1, p->point_count);
  fprintf(w->file, "      <%s>\n", c->name);
  declare(w, &geometry[1], c->corners * c->count, "");
  declare(w, &geometry[2], c->count, "");
  fprintf(w->file, "      </%s>\n    </Piece>\n", c->name);
  end_xml(w, "PolyData");
}

TlStatus tl_vtk_write_poly(const char *path, bool overwrite, const TlVtkPoly *p) {
  int64_t *offset = NULL, *vertex = NULL;
  Cells cells = cells_of(p);
  Writer w;
  TlOutFile out;
  TlStatus status = counting(&offset, cells.count, cells.corners, cells.corners);
  if (status == TL_OK && !cells.connectivity) status = counting(&vertex, cells.count, 0, 1);
  if (status == TL_OK) status = open_writer(&w, &out, path, overwrite);
  if (status == TL_OK) {
    const TlVtkArray geometry[4] = {
        {"Points", TL_VTK_F64, 3, p->point},
        {"connectivity", TL_VTK_I64, 1, vertex ? vertex : cells.connectivity},
        {"offsets", TL_VTK_I64, 1, offset},
        {"TimeValue", TL_VTK_F64, 1, &p->time_s}};
    poly_xml(&w, p, &cells, geometry);
    status = close_writer(&w, &out);
  }
  tl_free(offset);
  tl_free(vertex);
  return status;
}

/* ---- grids ---- */

TlStatus tl_vtk_write_image(const char *path, bool overwrite, const TlVtkImage *image) {
  Writer w;
  TlOutFile out;
  TL_TRY(open_writer(&w, &out, path, overwrite));
  const int64_t *n = image->size;
  char extent[100];
  snprintf(extent, sizeof extent, "0 %lld 0 %lld 0 %lld", (long long)n[0] - 1, (long long)n[1] - 1,
           (long long)n[2] - 1);
  fprintf(w.file,
          "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" "
          "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
          "  <ImageData WholeExtent=\"%s\" Origin=\"%.17g %.17g %.17g\" "
          "Spacing=\"%.17g %.17g %.17g\">\n    <Piece Extent=\"%s\">\n",
          extent, image->origin[0], image->origin[1], image->origin[2], image->spacing[0],
          image->spacing[1], image->spacing[2], extent);
  declare_all(&w, "PointData", image->point_array, image->point_arrays, n[0] * n[1] * n[2]);
  fprintf(w.file, "    </Piece>\n");
  end_xml(&w, "ImageData");
  return close_writer(&w, &out);
}

TlStatus tl_vtk_write_pvd(const char *path, bool overwrite, const char *const *file,
                          const double *time_s, int64_t count) {
  Writer w;
  TlOutFile out;
  TL_TRY(open_writer(&w, &out, path, overwrite));
  fprintf(w.file, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                  "byte_order=\"LittleEndian\">\n  <Collection>\n");
  for (int64_t i = 0; i < count; i++) {
    fprintf(w.file, "    <DataSet timestep=\"%.17g\" part=\"0\" file=\"", time_s[i]);
    escaped(w.file, file[i]);
    fprintf(w.file, "\"/>\n");
  }
  fprintf(w.file, "  </Collection>\n</VTKFile>\n");
  return close_writer(&w, &out);
}
