/* The map of a report: relief of the terrain with contour lines, the grains' paths, where they
 * started, stopped, still move or were last seen, north arrow, scale and coordinates; and maps of
 * what the frames, or the steps, saw in each cell. SVG, the relief as one JPEG inside it.
 */
#ifndef TL_POST_REPORT_MAP_H
#define TL_POST_REPORT_MAP_H

#include "post/blocks.h"
#include "post/measure.h"
#include "post/report_motion.h"

/* Cells of a horizontal grid, local frame; cell (i, j) at j*nx + i spans x0 + i cell to
 * x0 + (i + 1) cell. From the frames, joined by straight lines: what happens between two frames is
 * not in it; or of every step. */
typedef struct TlMapGrid {
  int64_t nx, ny;
  double x0_m, y0_m, cell_m;
  bool every_step;
  double *speed_m_s; /* the largest that a grain had over the cell; NaN: none came; owned */
  double *passed;    /* how many grains came over the cell; owned */
  double *energy_kJ, *jump_m; /* the largest, likewise; NULL unless of every step; owned */
  double largest_speed_m_s, most_passed, largest_energy_kJ, largest_jump_m;
} TlMapGrid;

/* Over the grains' paths. cell_m 0: chosen so that the longer side has some 120 cells, but none
 * under a grain's radius. */
TlStatus tl_map_grid(const TlScene *scene, const TlReportMotion *motion, double cell_m,
                     TlMapGrid *grid);
/* The same of every step, on whole numbers of the terrain's cells. cell: [count], sorted by block, in any order of
 * cells; several of one block and cell may be there. */
TlStatus tl_map_grid_of_steps(const TlTerrain *terrain, const TlBlockCell *cell, int64_t count,
                              TlMapGrid *grid);
void tl_map_grid_free(TlMapGrid *grid);

/* Grains at rest in the last frame whose ground was filled in (shape/terrain.h); NaN: not known which
 * was. moving: [bodies]. */
double tl_report_on_filled(const TlScene *scene, const TlReportMotion *motion, const bool *moving);

/* The part of the terrain that is worth showing: about the paths; the whole where that is most of
 * it. Local frame. */
typedef struct TlMapRegion {
  double x0, x1, y0, y1;
} TlMapRegion;
TlMapRegion tl_map_region(const TlScene *scene, const TlReportMotion *motion);

/* The maps of a run with a terrain, as figures. moving: [bodies] of the last frame. id: marks the
 * elements of this run on the page. */
TlStatus tl_report_maps(TlHtml *to, const TlScene *scene, const TlReportMotion *motion,
                        const TlMeasure *measure, const TlMapGrid *grid, const bool *moving,
                        int id);

#endif
