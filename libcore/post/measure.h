/* Measures of a stored run: energy, runout, deposit, angle of repose, contacts, penetration.
 * Definitions with their formulas stand in docs/reference/results.md; the short form is below.
 *
 * Frames: the run's world frame, SI. "Up" is against gravity (z without gravity); horizontal means
 * across it. Body i has mass density * volume * s^3 and principal moments density * I * s^5.
 * The travel direction e is the horizontal unit vector from the mass centre of the first frame to
 * that of the last (x when it did not move). Every sum runs over bodies in order of id: same bits
 * every time. Cost: each frame is read once; the last frame's nodes are looked up in the terrain.
 */
#ifndef TL_POST_MEASURE_H
#define TL_POST_MEASURE_H

#include "post/departures.h"
#include "store/results.h"

/* Of a frame's grains that can move (not frozen, of no net) and bodies on joints, as the solver looks
 * at them (run/standstill.c); the pistons of an apparatus are left out. */
typedef struct TlFrameMotion {
  int64_t bodies;
  double mean_speed_m_s, max_speed_m_s; /* of their centres */
  double moving_fraction;               /* of their mass: what moves (shape/moving.h) */
  double largest_pace;
  bool at_rest; /* by both; false where nothing can move */
} TlFrameMotion;

/* One frame. Lengths along e are relative to the mass centre of the first frame. Grains that were
 * taken out of the run before count where they left in the potential energy and in all lengths and
 * angles; counts, mass, kinetic energy, speeds and contacts are of the grains that are there. Of a run
 * whose grains came in after the first frame (poured) potential energy, travel, drop and travel angle
 * are NaN. */
typedef struct TlFrameMeasure {
  int64_t index, step;
  double time_s;
  int64_t bodies;
  int64_t outside; /* left the terrain (or the cell) so far: taken out, or frozen where they left */
  int64_t gone;    /* taken out of the run so far: those that left, and those that were dropped */
  double mass_kg;
  TlFrameMotion motion;
  double translational_J, rotational_J;
  double potential_J;              /* -sum m g.(x - x of the first frame) */
  TlVec3 centre_m;                 /* mass centre */
  double travel_m;                 /* horizontal distance of the mass centre from its start */
  double drop_m;                   /* how far it came down */
  double front_m, tail_m, width_m; /* farthest and nearest grain centre along e, spread across */
  double travel_angle_deg; /* atan(drop/travel): the mean friction angle of the mass centre */
  double reach_angle_deg;  /* highest grain of the first frame to the front grain */
  double contacts_per_grain;
  int64_t without_contact;
} TlFrameMeasure;

/* One grain of the last frame. */
typedef struct TlGrainMeasure {
  int64_t id, avatar_id;
  TlVec3 position_m;
  double radius_m; /* of the sphere of equal volume, scaled */
  double speed_m_s;
  double top_m; /* highest node above the ground below the centre; NaN: no ground there */
  double
      penetration_m; /* deepest node below terrain, plane or wall (store/scene_depth.h); 0: none */
  bool judged;       /* false: there is a terrain, and none of the nodes has ground below it */
  int32_t contacts, flags;
} TlGrainMeasure;

/* The deposit of the last frame on a horizontal grid, cell (i, j) centred at x0 + i*cell, y0 +
 * j*cell; j*nx + i. top: highest node in the cell, NaN where no grain lies; thickness = top -
 * ground. */
typedef struct TlDeposit {
  int64_t nx, ny;
  double cell_m, x0_m, y0_m;
  double *top_m, *ground_m; /* owned */
  double *solid_m;          /* grain volume over cell area, owned */
  double area_m2, volume_m3;
  double length_m, breadth_m; /* extent of the covered cells along and across e */
  double mean_thickness_m, median_thickness_m, p95_thickness_m, max_thickness_m;
  double radius_95_m;   /* horizontal distance from the mass centre that holds 95% of the mass */
  double height_p99_m;  /* 99th percentile of the grains' top_m */
  double surface_deg;   /* plane through the tops of the covered cells: slope to the horizontal */
  double repose_deg;    /* cone through the flank of the heap; NaN when there is no heap */
  int64_t repose_cells; /* cells the cone was fitted to */
} TlDeposit;

typedef struct TlMeasure {
  int64_t frame_count;
  TlFrameMeasure *frame; /* owned */
  int64_t grain_count;
  TlGrainMeasure *grain; /* last frame, by id, owned */
  TlVec3 travel_direction, up;
  TlVec3 deposit_centre_m; /* mass centre of the grains of the last frame alone */
  TlDepartures departures; /* owned */
  int64_t joined;          /* grains that the first frame with grains does not have: poured later */
  int64_t lost;            /* grains of the first frame that are not in the last, while the run
                              does not say where they left (no departures.csv) */
  /* of grains that are not frozen */
  double largest_penetration_m, largest_penetration_fraction; /* fraction of the grain's radius_m */
  int64_t deepest_id;      /* the grain with the largest fraction; -1: none */
  int64_t below_2_percent; /* grains deeper than 2% of their radius */
  int64_t unjudged;        /* grains with no node over the terrain */
  int64_t small;           /* grains smaller across than the terrain's cell */
  double largest_overlap_m,
      largest_overlap_fraction; /* of two grains; fraction of the smaller radius. Of two balls in closed form,
                                   of others by their nodes */
  int64_t overlapping_pairs;
  bool has_ground;   /* terrain or planes under the grains */
  bool has_solid;    /* ground or walls to measure penetration against */
  TlDeposit deposit; /* nx = 0 without ground */
} TlMeasure;

typedef struct TlMeasureOptions {
  double cell_m; /* of the deposit's grid; 0: twice the median grain diameter */
} TlMeasureOptions;

/* TL_EINPUT when there are no frames, or a body's avatar is not in run.h5. */
TlStatus tl_measure_run(const char *folder, const TlScene *scene, const TlMeasureOptions *options,
                        TlMeasure *measure);
void tl_measure_free(TlMeasure *measure);

/* frames.csv (energy, runout, contacts), grains.csv, deposit.csv into a folder. */
TlStatus tl_measure_write(const TlMeasure *measure, const char *folder, bool overwrite);

/* ---- parts, for tests and for pictures ---- */

/* One frame against the first one, both of grains alone, without its motion. e: travel direction. */
TlStatus tl_measure_frame(const TlScene *scene, const TlFrame *first, const TlFrame *frame,
                          const TlDepartures *departures, TlVec3 up, TlVec3 e, TlFrameMeasure *out);
/* Of a whole frame. never: bits of the rows that do not count, tl_measure_still(scene). */
TlStatus tl_measure_motion(const TlScene *scene, const TlFrame *frame, int never,
                           TlFrameMotion *motion);
int tl_measure_still(const TlScene *scene);
/* By the density of its material. */
TlStatus tl_measure_mass(const TlScene *scene, const TlBodyRow *row, double *mass_kg);
/* Kinetic energy of one row: of its centre, and of its spin about it. */
TlStatus tl_measure_kinetic(const TlScene *scene, const TlBodyRow *row, double *translational_J,
                            double *rotational_J);
/* place: of each of the scene's parts of walls (tl_scene_place). */
TlStatus tl_measure_grain(const TlScene *scene, const TlPlacement *place, const TlBodyRow *row,
                          TlGrainMeasure *out);
TlStatus tl_measure_deposit(const TlScene *scene, const TlFrame *frame, const TlMeasure *measure,
                            double cell_m, TlDeposit *out);
/* Overlaps of grains in a frame whose avatars are all there, into the three members of m. */
TlStatus tl_measure_overlap(const TlScene *scene, const TlFrame *frame, TlMeasure *m);
/* Deepest node of body a inside body b, metres, by b's trilinear phi; 0: none. What lies between the
 * nodes is not seen: post/overlap.h measures the surfaces. */
double tl_measure_nodes_inside(const TlAvatar *a, const TlBodyRow *row_a, const TlAvatar *b,
                               const TlBodyRow *row_b);
/* Ground under (x, y): terrain or the highest plane that faces up; false where there is none. */
bool tl_measure_ground(const TlScene *scene, double x, double y, double *z);

/* Angle of repose of grains against a wall, as Tang 2014 section 7.4 (Fig. 14) measures it.
 *
 * The floor's rectangle is cut into `cells` along the slope and `strips` across it. In each
 * cell stands the highest surface node of any grain; in each strip a line is fitted through the
 * points (middle of the cell, height of the node) by least squares. The angle of repose is the mean
 * of the strips' slopes, its error bar the least and the largest. A cell without a node stands at
 * the floor's height. Slopes fall towards `falls`: +1 to the end of
 * that side, -1 to its beginning. Nodes outside the rectangle do not count.
 */
typedef enum TlReposeSide { TL_REPOSE_LONG, TL_REPOSE_X, TL_REPOSE_Y } TlReposeSide;

typedef struct TlReposeOptions {
  double x0_m, y0_m, x1_m, y1_m; /* corners of the floor */
  double z0_m;                   /* its height */
  int cells, strips;             /* 0: 16 and 8 */
  int falls;                     /* 0: +1 */
  TlReposeSide along;            /* which side the slope falls along; the longer one */
} TlReposeOptions;

typedef struct TlRepose {
  double mean_deg, least_deg, most_deg;
  double sd_deg;  /* standard deviation of the strips' slopes about their mean */
  int64_t filled; /* cells with a node above the floor */
} TlRepose;

/* z is up. TL_EUSAGE: a floor without area; TL_EINPUT: an avatar is missing. */
TlStatus tl_measure_repose(const TlScene *scene, const TlFrame *frame,
                           const TlReposeOptions *options, TlRepose *out);

#endif
