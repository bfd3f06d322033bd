/* What must be known of a run before its pictures and maps are trusted: at rest or not, grains that are gone, blocks
 * that never started, unresolved collisions, penetration, as captions say it (tl_render_describe). */
#ifndef TL_POST_RUN_CAPTION_H
#define TL_POST_RUN_CAPTION_H

#include "base/status.h"

#include <stdint.h>

/* Blocks of an ensemble that never started, as its blocks.csv says; 0 of other runs. */
TlStatus tl_run_not_started(const char *run, int64_t *count);
/* "TITLE, at 12.5 s: 170 blocks, 30 gone, 2 never started, at rest (mean 0 m/s)": of the last frame; fresh memory.
 * TL_EINPUT: no frame. */
TlStatus tl_run_caption(const char *run, char **text);

#endif
