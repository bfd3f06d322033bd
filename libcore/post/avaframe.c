#include "post/avaframe.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "post/maps.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Export {
  const TlBlocks *blocks;
  const char *const *runs;
  const char *extension;
  char *inputs, *peaks, *settings; /* folders */
  TlTerrainGrid grid;
  char *caption;
  double *map; /* [ny][nx] */
} Export;

static TlStatus make_folders(Export *x, const char *folder) {
  char *base = tl_path_join(folder, "avaframe"), *outputs = NULL, *module = NULL;
  TlStatus status = base ? TL_OK : TL_ENOMEM;
  if (status == TL_OK && tl_file_exists(base))
    status =
        tl_fail(TL_EINPUT,
                "%s: is there already, and blocks of an older run would count in it: remove it, "
                "or give another -o",
                base);
  if (status == TL_OK) {
    outputs = tl_path_join(base, "Outputs");
    module = outputs ? tl_path_join(outputs, "com1DFA") : NULL;
    x->inputs = tl_path_join(base, "Inputs");
    x->peaks = module ? tl_path_join(module, "peakFiles") : NULL;
    x->settings = module ? tl_path_join(module, "configurationFiles") : NULL;
    if (!x->inputs || !x->peaks || !x->settings) status = TL_ENOMEM;
  }
  const char *const all[] = {folder, base, x->inputs, outputs, module, x->peaks, x->settings};
  for (size_t i = 0; status == TL_OK && i < sizeof all / sizeof *all; i++)
    status = tl_dir_make(all[i]);
  tl_free(base);
  tl_free(outputs);
  tl_free(module);
  return status;
}

static TlStatus write_ground(const Export *x) {
  const TlTerrain *t = &x->blocks->terrain;
  for (int64_t j = 0; j < x->grid.ny; j++)
    for (int64_t i = 0; i < x->grid.nx; i++) {
      double u = x->grid.x0_m + x->grid.cell_m * (double)i,
             v = x->grid.y0_m + x->grid.cell_m * (double)j, z;
      x->map[j * x->grid.nx + i] = tl_terrain_height(t, u, v, &z, NULL) ? z + t->origin[2] : NAN;
    }
  return tl_maps_raster(x->blocks,
                        &(TlMapFile){.folder = x->inputs,
                                     .extension = x->extension,
                                     .name = "DEM",
                                     .unit = "m",
                                     .meaning = "heights of the terrain"},
                        x->map);
}

/* RELEASE_ID_C_null_talus; AvaFrame parts names at "_". */
static char *name_of(const Export *x, const TlBlock *b) {
  const char *run = x->runs[b->run], *last = strrchr(run, '/');
  char release[64];
  size_t n = 0;
  for (const char *at = last && last[1] ? last + 1 : run; *at && n + 1 < sizeof release; at++)
    release[n++] = isalnum((unsigned char)*at) ? *at : '-';
  release[n] = 0;
  return tl_format("%s_r%lldb%lld_C_null_talus", release, (long long)b->run + 1, (long long)b->id);
}

static TlStatus write_settings(const Export *x, const TlBlock *b, const char *name) {
  char *file = tl_format("%s.ini", name), *path = file ? tl_path_join(x->settings, file) : NULL;
  TlOutFile out;
  TlStatus status = path ? tl_outfile_begin(&out, path, false) : TL_ENOMEM;
  if (status == TL_OK) {
    FILE *to = fopen(out.temp, "w");
    if (to)
      fprintf(to,
              "[GENERAL]\nmodelType = talus\nsimTypeActual = null\nrun = %s\nblock = %lld\n"
              "mass_kg = %.9g\nvolume_m3 = %.9g\n",
              x->runs[b->run], (long long)b->id, b->mass_kg, b->volume_m3);
    bool failed = !to || ferror(to);
    if (!to || fclose(to) != 0 || failed) {
      status = tl_fail_errno(out.temp, "cannot write");
      tl_outfile_abort(&out);
    } else {
      status = tl_outfile_commit(&out);
    }
  }
  tl_free(path);
  tl_free(file);
  return status;
}

/* cell: of this block. */
static TlStatus write_block(const Export *x, const TlBlock *b, const TlBlockCell *cell,
                            int64_t count) {
  static const struct {
    const char *result;
    TlCellValue value;
    bool over_area;
    const char *unit, *meaning;
  } peak[] = {{"pfv", TL_CELL_SPEED, false, "m/s", "largest speed of the block in the cell"},
              {"pke", TL_CELL_ENERGY, true, "kJ/m2",
               "largest kinetic energy of the block in the cell over the area of the cell"}};
  char *name = name_of(x, b);
  TlStatus status = name ? write_settings(x, b, name) : TL_ENOMEM;
  for (size_t k = 0; status == TL_OK && k < sizeof peak / sizeof *peak; k++) {
    double unit = peak[k].over_area ? 1 / (x->grid.cell_m * x->grid.cell_m) : 1;
    for (int64_t i = 0; i < x->grid.nx * x->grid.ny; i++) x->map[i] = 0;
    for (int64_t i = 0; i < count; i++) x->map[cell[i].cell] = unit * cell[i].value[peak[k].value];
    char *file = tl_format("%s_%s", name, peak[k].result);
    status = file ? tl_maps_raster(x->blocks,
                                   &(TlMapFile){.folder = x->peaks,
                                                .extension = x->extension,
                                                .name = file,
                                                .unit = peak[k].unit,
                                                .meaning = peak[k].meaning,
                                                .caption = x->caption},
                                   x->map)
                  : TL_ENOMEM;
    tl_free(file);
  }
  tl_free(name);
  return status;
}

static int by_block(const void *one, const void *two) {
  const TlBlockCell *a = one, *b = two;
  if (a->block != b->block) return a->block < b->block ? -1 : 1;
  return (a->cell > b->cell) - (a->cell < b->cell);
}

TlStatus tl_avaframe_write(const TlBlocks *blocks, const char *const *runs, const char *folder,
                           const char *extension, TlFigures *figures) {
  Export x = {.blocks = blocks,
              .runs = runs,
              .extension = extension,
              .grid = tl_terrain_grid(&blocks->terrain)};
  TlBlockCell *cell = NULL;
  int64_t cells = 0;
  double leg;
  TlStatus status = tl_maps_cells(blocks, runs, &cell, &cells, &leg);
  if (status == TL_OK) status = tl_maps_caption(blocks, runs, &x.caption);
  if (status == TL_OK) status = TL_NEW(x.map, (size_t)(x.grid.nx * x.grid.ny));
  if (status == TL_OK) status = make_folders(&x, folder);
  if (status == TL_OK) status = write_ground(&x);
  if (status == TL_OK && cells > 0) qsort(cell, (size_t)cells, sizeof *cell, by_block);
  for (int64_t i = 0, at = 0, end; status == TL_OK && i < blocks->count; i++, at = end) {
    for (end = at; end < cells && cell[end].block == i; end++)
      ;
    status = write_block(&x, &blocks->block[i], cell + at, end - at);
  }
  if (status == TL_OK)
    status = tl_figures_add(figures, "avaframe_simulations", (double)blocks->count, "",
                            "post/avaframe.h");
  tl_free(cell);
  tl_free(x.caption);
  tl_free(x.map);
  tl_free(x.inputs);
  tl_free(x.peaks);
  tl_free(x.settings);
  return status;
}
