#include "solve/controls.h"

#include "base/mem.h"

#include <math.h>

TlStatus tl_controls_new(TlControls *c, const TlModel *model) {
  *c = (TlControls){.damping_per_s = model->damping_per_s, .net_count = model->net_count};
  TL_TRY(TL_NEW(c->pressure_Pa, (size_t)model->net_count));
  for (int k = 0; k < model->net_count; k++) c->pressure_Pa[k] = model->nets[k].pressure_Pa;
  return TL_OK;
}

void tl_controls_free(TlControls *c) {
  tl_free(c->pressure_Pa);
  tl_free(c->friction);
  tl_free(c->joint);
  *c = (TlControls){0};
}

static bool same_pair(const TlFrictionControl *f, int32_t one, int32_t two) {
  return (f->one == one && f->two == two) || (f->one == two && f->two == one);
}

TlStatus tl_controls_set_friction(TlControls *c, int32_t one, int32_t two, double friction) {
  size_t k = 0;
  while (k < c->friction_count && !same_pair(&c->friction[k], one, two)) k++;
  TL_TRY(TL_RESERVE(c->friction, c->friction_capacity, k + 1));
  c->friction[k] = (TlFrictionControl){one, two, friction};
  if (k == c->friction_count) c->friction_count++;
  return TL_OK;
}

TlStatus tl_controls_set_joint(TlControls *c, const TlJointControl *joint) {
  size_t k = 0;
  while (k < c->joint_count &&
         (c->joint[k].kind != joint->kind || c->joint[k].number != joint->number))
    k++;
  TL_TRY(TL_RESERVE(c->joint, c->joint_capacity, k + 1));
  c->joint[k] = *joint;
  if (k == c->joint_count) c->joint_count++;
  return TL_OK;
}

double tl_controls_friction(const TlControls *c, const TlMaterials *m, int32_t one, int32_t two) {
  for (size_t k = 0; k < c->friction_count; k++)
    if (same_pair(&c->friction[k], one, two)) return c->friction[k].friction;
  return m->law[tl_pair_law(m, one, two)].friction;
}

TlStatus tl_controls_check(const TlControls *c, const TlModel *model) {
  if (!(c->damping_per_s >= 0 && c->damping_per_s * model->step_s <= 1))
    return tl_fail(TL_EUSAGE, "a damping of %g 1/s times the step of %g s must lie in [0, 1]",
                   c->damping_per_s, model->step_s);
  if (c->net_count != model->net_count)
    return tl_fail(TL_EUSAGE, "controls of %d nets do not fit a model of %d", c->net_count,
                   model->net_count);
  for (int k = 0; k < c->net_count; k++)
    if (!isfinite(c->pressure_Pa[k]))
      return tl_fail(TL_EUSAGE, "the pressure on net %d is not a finite number", k);
  for (size_t k = 0; k < c->friction_count; k++) {
    const TlFrictionControl *f = &c->friction[k];
    int32_t most = model->materials.count;
    if (f->one < 0 || f->one >= most || f->two < 0 || f->two >= most)
      return tl_fail(TL_EUSAGE, "friction of materials %d and %d: there are %d", f->one, f->two,
                     most);
    if (!(f->friction >= 0 && isfinite(f->friction)))
      return tl_fail(TL_EUSAGE,
                     "friction = %g of materials %d and %d: must be finite, and 0 or more",
                     f->friction, f->one, f->two);
  }
  for (size_t k = 0; k < c->joint_count; k++) {
    const TlJointControl *j = &c->joint[k];
    double value = j->driven ? j->speed : j->load;
    if (!isfinite(value))
      return tl_fail(TL_EUSAGE, "%s %lld: its %s is not a finite number",
                     tl_pair_kind_name[j->kind], (long long)j->number,
                     j->driven ? "speed" : "load");
  }
  return TL_OK;
}
