#include "dem/guide.h"

#include <math.h>

static TlStatus wrong(const TlGuide *g, const char *what, double value) {
  return tl_fail(TL_EUSAGE, "guide of body %lld: %s = %g makes no sense", (long long)g->body, what,
                 value);
}

TlStatus tl_guide_check(const TlGuide *g) {
  double length = tl_norm(g->axis);
  if (!(fabs(length - 1) < 1e-9)) return wrong(g, "length of the axis", length);
  if (!isfinite(g->speed_m_s)) return wrong(g, "speed", g->speed_m_s);
  if (!isfinite(g->load_N)) return wrong(g, "load", g->load_N);
  return TL_OK;
}

const TlGuide *tl_guide_of(const TlGuide *guides, int count, int64_t id) {
  for (int k = 0; k < count; k++)
    if (guides[k].body == id) return &guides[k];
  return NULL;
}

TlTwist tl_guided(const TlGuide *g, TlTwist free, double push) {
  double speed = g->driven ? g->speed_m_s : tl_dot(free.v, g->axis) + push * g->load_N;
  TlVec3 tilt = tl_axpy(free.w, -tl_dot(free.w, g->axis), g->axis);
  return (TlTwist){.v = tl_scale(speed, g->axis), .w = g->tilts ? tilt : (TlVec3){0, 0, 0}};
}

double tl_guide_work(const TlGuide *g, TlVec3 contact_N, TlVec3 before, TlVec3 after,
                     double step_s) {
  double way = 0.5 * step_s * tl_dot(tl_add(before, after), g->axis);
  return (g->driven ? -tl_dot(contact_N, g->axis) : g->load_N) * way;
}
