#include "run/sinks.h"

#include "base/log.h"
#include "base/mem.h"
#include "run/departures.h"
#include "run/run.h"

#include <math.h>

static bool holds(const TlSinkSetup *s, TlVec3 point) {
  TlVec3 x = tl_sub(point, tl_vec3_of(s->point_m));
  if (s->kind == TL_SINK_PLANE) return tl_dot(x, tl_vec3_of(s->normal)) < 0;
  TlVec3 own = tl_mat_tvec(tl_wall_turn(s->rotation_deg), x);
  return 2 * fabs(own.x) <= s->size_m[0] && 2 * fabs(own.y) <= s->size_m[1] &&
         2 * fabs(own.z) <= s->size_m[2];
}

int64_t tl_sink_at(const TlSetup *setup, TlVec3 point) {
  const TlSinkSetup *s = setup->sinks.items;
  for (int64_t i = 0; i < setup->sinks.count; i++)
    if (holds(&s[i], point)) return i;
  return -1;
}

const char *tl_sink_hint(const TlSetup *setup, int64_t sink) {
  const TlSinkSetup *s = (const TlSinkSetup *)setup->sinks.items + sink;
  return s->kind == TL_SINK_PLANE
             ? "a plane takes what lies behind it, and its normal points to where grains stay: is "
               "normal the other way round?"
             : "its middle is point_m, and size_m are its whole sides";
}

/* Can a sink take it? */
static bool can_sink(const TlBodies *b, int64_t i) {
  return !(b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED));
}

TlStatus tl_sinks_warn(const TlRun *run) {
  const TlBodies *b = &run->state->dem.bodies;
  const TlSetup *setup = &run->model->setup;
  size_t sinks = (size_t)setup->sinks.count;
  int64_t *grains; /* in each sink; the last: all */
  if (sinks == 0) return TL_OK;
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(grains, sinks + 1)));
  for (int64_t i = 0; i < b->owned; i++) {
    int64_t sink = can_sink(b, i) ? tl_sink_at(setup, b->position[i]) : -1;
    if (sink >= 0) grains[sink] += tl_bodies_parts(b, i);
    if (can_sink(b, i)) grains[sinks] += tl_bodies_parts(b, i);
  }
  TlStatus status = tl_comm_sum_int(run->comm, grains, (int)sinks + 1);
  for (size_t k = 0; status == TL_OK && k < sinks; k++)
    if (grains[k] > 0 && tl_comm_rank(run->comm) == 0)
      tl_log_warn("sinks.%zu: %lld of %lld grains lie in it at the start and leave in the first "
                  "step; %s",
                  k, (long long)grains[k], (long long)grains[sinks],
                  tl_sink_hint(setup, (int64_t)k));
  tl_free(grains);
  return status;
}

TlStatus tl_sinks_take(TlRun *run, int64_t step) {
  const TlBodies *b = &run->state->dem.bodies;
  const TlSetup *setup = &run->model->setup;
  int64_t grains = 0;
  unsigned char *leaves;
  if (setup->sinks.count == 0) return TL_OK;
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(leaves, (size_t)b->owned)));
  for (int64_t i = 0; i < b->owned; i++) {
    bool stays = !can_sink(b, i) || tl_sink_at(setup, b->position[i]) < 0;
    leaves[i] = stays ? TL_STAYS : TL_LEFT_BY_SINK;
    if (!stays) grains += tl_bodies_parts(b, i);
  }
  TlStatus status = tl_comm_sum_int(run->comm, &grains, 1);
  if (status == TL_OK && grains > 0) {
    run->state->totals.sunk += grains;
    status = tl_departures_take(run, leaves, true, step);
  }
  tl_free(leaves);
  return status;
}
