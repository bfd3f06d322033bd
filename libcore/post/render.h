/* A picture of a frame: grains as the level sets themselves, ground and planes, ray-marched on the
 * CPU; sun with shadows, sky light with ambient occlusion, contour lines, legend, scale bar, time.
 *
 * World frame, metres. The threads take rows; each pixel is computed alone: the
 * same bytes for any thread count. Cost: 1280 x 800 with 2 x 2 rays a pixel, 300 grains on a
 * valley of 120 x 200 cells: some seconds on two cores.
 */
#ifndef TL_POST_RENDER_H
#define TL_POST_RENDER_H

#include "io/image.h"
#include "post/departures.h"
#include "post/render_camera.h"
#include "post/render_chains.h"

typedef enum TlRenderColour {
  TL_COLOUR_SPEED = 0,
  TL_COLOUR_SIZE,
  TL_COLOUR_ID,
  TL_COLOUR_HEIGHT,
  TL_COLOUR_ROTATION, /* since a frame, render_values.h */
  TL_COLOUR_STRAIN,
  TL_COLOUR_AGGREGATE,
  TL_COLOUR_FORCE /* of the chains */
} TlRenderColour;

typedef struct TlRenderOptions {
  int width, height;
  TlRenderColour colour;
  double low, high;               /* of the colour map: m/s, m, m, deg, 1 or N */
  const double *value;            /* rotation, strain: of each row of the frame; NaN: grey */
  int64_t since;                  /* the frame they are counted from */
  const TlDepartures *departures; /* of the run, for the caption; NULL: not known */
  bool blocks;                  /* of an ensemble; the caption says a density that is not of rock */
  int64_t not_started;          /* of them, for the caption */
  const TlChainDrawing *chains; /* NULL: grains; else in place of them, with colour FORCE */
  double chain_m;               /* diameter of a tube at high */
  const TlTraceTube *tube;      /* beside the grains: trajectories, bonds of nets; borrowed */
  int64_t tubes;
  double enlarge; /* grains are drawn so many times as large, about their centres, which the caption
                     says; 0: once */
  bool cut;       /* what lies before a plane is left out */
  TlVec3 cut_point_m, cut_normal; /* unit */
  double cut_depth_m; /* > 0: nor is what lies deeper than that behind it (render_trace.h) */
  bool smooth;        /* 2 x 2 rays a pixel */
  bool captions;      /* title, time, scale bar, legend */
  const char *folder; /* of the run, whose name heads a run without a title; NULL: "run" does */
  bool north_up;      /* a map, which the caption says */
  bool bare;          /* grains without nets and platens */
} TlRenderOptions;

/* x, or the least round number above; 1 when x is no positive number. */
double tl_render_round_up(double x);
/* Range of the colour map for all frames of a path, round at the upper end; rotation, strain and
 * force are left as they are. */
void tl_render_range(const TlRenderPath *path, const TlScene *scene, TlRenderOptions *options);

/* image: new, owned by the caller. */
TlStatus tl_render_frame(const TlScene *scene, const TlFrame *frame, const TlCamera *camera,
                         const TlRenderOptions *options, TlImage *image);

/* What of the frame is drawn, first what a reader must not overlook: "475 grains, 3 gone, 1
 * unresolved, 2 with penetration up to 5.1% of the radius, 38% of the mass moves, mean 3.0 m/s". TL_EINPUT: an avatar is missing. */
enum { TL_RENDER_DESCRIPTION = 512 };
TlStatus tl_render_describe(const TlScene *scene, const TlFrame *frame,
                            const TlRenderOptions *options, char text[TL_RENDER_DESCRIPTION]);
/* The run's title or, without, its folder's name; fresh memory. */
TlStatus tl_render_title(const TlScene *scene, const char *folder, char **title);
/* Into a picture: that, title, time, scale bar and colour bar. */
TlStatus tl_render_captions(TlImage *image, const TlScene *scene, const TlFrame *frame,
                            const TlCamera *camera, const TlRenderOptions *options);

#endif
