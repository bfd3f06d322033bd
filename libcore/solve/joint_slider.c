/* A slider on the world: a platen on its piston. The body moves along the axis only and does not spin
 * about it. It is pushed by a load or driven at a speed; it tilts freely about directions across the
 * axis, or not at all. Its centre is the point it tilts about. */
#include "solve/joints.h"

#include <math.h>

static TlStatus check(const void *row) {
  const TlSlider *s = row;
  double length = tl_norm(s->axis_high);
  if (fabs(length - 1) < 1e-9) return TL_OK;
  return tl_fail(TL_EUSAGE, "slider %lld of body %lld: the length of its axis is %g, not 1",
                 (long long)s->number, (long long)s->low, length);
}

static TlJointControl start(const void *row) {
  const TlSlider *s = row;
  return (TlJointControl){.kind = TL_SLIDERS, .number = s->number, .tilts = s->tilts != 0};
}

static TlTwist twist(const void *row, const TlJointControl *c, TlTwist free, double push) {
  TlVec3 axis = ((const TlSlider *)row)->axis_high;
  double speed = c->driven ? c->speed : tl_dot(free.v, axis) + push * c->load;
  TlVec3 tilt = tl_axpy(free.w, -tl_dot(free.w, axis), axis);
  return (TlTwist){.v = tl_scale(speed, axis), .w = c->tilts ? tilt : (TlVec3){0, 0, 0}};
}

static double work(const void *row, const TlJointControl *c, TlVec3 contact_N, TlVec3 before,
                   TlVec3 after, double step_s) {
  TlVec3 axis = ((const TlSlider *)row)->axis_high;
  double travel = 0.5 * step_s * tl_dot(tl_add(before, after), axis);
  return (c->driven ? -tl_dot(contact_N, axis) : c->load) * travel;
}

static TlVec3 anchor(const void *row) {
  return ((const TlSlider *)row)->anchor_low;
}

static double borne_N(const void *row, TlVec3 contact_N) {
  return tl_dot(contact_N, ((const TlSlider *)row)->axis_high);
}

const TlJointKind tl_joint_slider = {check, start, twist, work, anchor, borne_N};
