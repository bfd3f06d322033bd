/* The stages that read a finished run (stage/stage.h): measures as numbers and tables, pictures and
 * plots. The first input is the folder of the run, which is not changed. Lengths are in metres in
 * the frame of the run, angles in degrees. A member that is a choice is the index into the choices
 * of its row; unit, default, range and meaning of each member stand in the row of the table.
 * TL_EUSAGE: an option is wrong; TL_EINPUT: the run lacks what is asked for. */
#ifndef TL_STAGE_RESULTS_H
#define TL_STAGE_RESULTS_H

#include "stage/stage.h"

typedef struct TlMeasureStage {
  double cell_m, repose_low_m[3], repose_high_m[3];
  int repose_along; /* TlReposeSide */
  bool packing, plot;
  int64_t from_frame;
  double box_low_m[3], box_high_m[3], cylinder_foot_m[3], cylinder_axis_m[3], cylinder_radius_m;
  bool triaxial, columns;
  double strain_window, modulus_strain;
  char *compare;
  TlTexts with, label;
  bool overlap;
  char *overlap_frames;
  int maps, trajectories;
  const char *fences;
  double release_per_year;
  const char *danger;
  int avaframe;
} TlMeasureStage;
extern const TlParamTable tl_measure_table;
/* Writes the tables of the run's measures into the folder call->output and reports a summary. */
TlStatus tl_stage_measure(const TlStageCall *call, const TlMeasureStage *options);

typedef struct TlRenderStage {
  char *frame, *since, *cut, *view, *from, *at, *csv;
  int colour, zoom;
  int64_t width, height;
  double fov_deg, colour_high, cut_depth_m;
  bool chains, trajectories, plots, smooth, captions, bare;
  double enlarge;
} TlRenderStage;
extern const TlParamTable tl_render_table;
/* Draws a frame into the PNG call->output, or all frames or plots of history.csv into that folder.
 */
TlStatus tl_stage_render(const TlStageCall *call, const TlRenderStage *options);

#endif
