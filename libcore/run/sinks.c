#include "run/sinks.h"

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

TlStatus tl_sinks_take(TlRun *run, int64_t step) {
  const TlBodies *b = &run->state->dem.bodies;
  const TlSetup *setup = &run->model->setup;
  int64_t grains = 0;
  unsigned char *leaves;
  if (setup->sinks.count == 0) return TL_OK;
  TL_TRY(tl_comm_agree(run->comm, TL_NEW(leaves, (size_t)b->owned)));
  for (int64_t i = 0; i < b->owned; i++) {
    bool stays = b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED) ||
                 tl_sink_at(setup, b->position[i]) < 0;
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
