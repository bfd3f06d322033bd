/* The frame of a report's page: head with the security policy, styles, scripts, playback. */
#ifndef TL_POST_REPORT_PAGE_H
#define TL_POST_REPORT_PAGE_H

#include "post/departures.h"
#include "post/report.h"
#include "post/report_playback.h"

/* Head and title. line: below the title, markup. */
void tl_page_begin(TlHtml *to, const char *title, const TlHtml *line);

/* The playback's frame with the still picture of each run, to be seen where WebGL2 is not there.
 * still[i]: the last frame. note: below it, markup, NULL: none. */
typedef struct TlPageStill {
  const TlScene *scene;
  const TlFrame *frame;
  const TlCamera *camera;
  const char *folder;             /* of the run, as in TlRenderOptions */
  bool bare;                      /* without nets and pistons, which hide the grains */
  const TlDepartures *departures; /* for its caption; NULL: not known */
  bool blocks;                    /* of an ensemble */
  int64_t not_started;            /* of them */
} TlPageStill;
TlStatus tl_page_player(TlHtml *to, const TlPageStill *still, int64_t count, const char *note);

/* Bytes that tl_page_end adds beside heads and data. */
size_t tl_page_end_bytes(int64_t count);
/* Heads and data of the playback, shaders and script, the end. */
void tl_page_end(TlHtml *to, const TlHtml *head, const TlReportData *data, int64_t count);

enum { TL_STILL_WIDTH = 880, TL_STILL_HEIGHT = 510 };

#endif
