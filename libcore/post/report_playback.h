/* The 3-D playback of a report: the input of the page's script, as a head in JSON and packed
 * sections (report/data.js decodes them). A run's frames, or grains as they lay in their scan. */
#ifndef TL_POST_REPORT_PLAYBACK_H
#define TL_POST_REPORT_PLAYBACK_H

#include "post/render_camera.h"
#include "post/report_map.h"
#include "post/report_motion.h"

enum { TL_PLAYBACK_LEVELS = 3 };

/* A number of each grain and frame by which grains may be coloured, beside size, speed and force.
 */
typedef struct TlPlaybackField {
  const char *key, *label, *unit, *note; /* plain text; key: also the section's name */
  const double *value;                   /* [bodies * frames], >= 0; NaN: none there */
  double high;                           /* the largest */
  double shown;                          /* where the colours end; 0: there */
} TlPlaybackField;

typedef struct TlPlayback {
  const TlScene *scene;
  const TlReportMotion *motion;
  const char *label;                 /* of the run among several */
  int32_t cells[TL_PLAYBACK_LEVELS]; /* along the grains' longest axes, finest first */
  double most_error; /* of the radius, how far the finest surface may be off; 0: as cells say */
  int64_t stride;    /* every n-th frame of the run was read */
  TlCamera camera;   /* as the view begins */
  double fov_deg;
  bool paths;         /* show the grains' paths from the start */
  bool speeds;        /* the motion has speeds that mean something */
  bool forces_first;  /* grains are coloured by force at first, where frames hold contacts */
  const char *moment; /* said in place of the time where there is one frame; NULL: nothing */
  const TlPlaybackField *field;
  int fields;
  const TlMapGrid *grid; /* to lay over the ground; NULL: none */
} TlPlayback;

/* head: the JSON of one run. data: its sections; to be freed by the caller, also after a failure.
 */
TlStatus tl_playback_pack(const TlPlayback *how, TlHtml *head, TlReportData *data);

#endif
