#include "post/render_trajectories.h"

#include "base/mem.h"
#include "post/render_colour.h"

void tl_trajectories_free(TlTrajectories *w) {
  tl_free(w->tube);
  tl_free(w->until);
  *w = (TlTrajectories){0};
}

/* Rows of a frame are in the order of their ids. */
static void add_legs(const TlFrame *from, const TlFrame *to, const TlTraceTube *style, double low,
                     double high, TlTrajectories *w) {
  for (int64_t i = 0, k = 0; i < to->count; i++) {
    const TlBodyRow *row = &to->rows[i];
    while (k < from->count && from->rows[k].id < row->id) k++;
    if (k == from->count) break;
    TlVec3 a = from->rows[k].position_m;
    if (from->rows[k].id != row->id || row->flags & TL_ROW_NO_GRAIN ||
        !(tl_norm(tl_sub(row->position_m, a)) > style->radius_m))
      continue;
    TlTraceTube tube = *style;
    tube.from = a;
    tube.to = row->position_m;
    tube.colour = tl_colour_map((tl_norm(row->velocity_m_s) - low) / (high - low));
    w->tube[w->count++] = tube;
  }
}

TlStatus tl_trajectories_read(const char *run, const int64_t *frames, int64_t count, double thick_m,
                              double low, double high, TlTrajectories *w) {
  const TlTraceTube style = {.radius_m = 0.5 * thick_m};
  TlFrame before = {0};
  size_t capacity = 0;
  *w = (TlTrajectories){0};
  TlStatus status = TL_NEW(w->until, (size_t)count);
  for (int64_t k = 0; status == TL_OK && k < count; k++) {
    TlFrame now = {0};
    status = tl_results_read_frame(run, frames[k], &now);
    if (status == TL_OK) status = TL_RESERVE(w->tube, capacity, (size_t)(w->count + now.count));
    if (status == TL_OK && k > 0) add_legs(&before, &now, &style, low, high, w);
    w->until[k] = w->count;
    tl_frame_free(&before);
    before = now;
  }
  tl_frame_free(&before);
  if (status != TL_OK) tl_trajectories_free(w);
  return status;
}
