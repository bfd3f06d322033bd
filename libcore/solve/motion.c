#include "solve/motion.h"

#include "base/par.h"

#include <math.h>
#include <string.h>

enum { BODY_NS = 100 }; /* work on a body, about */

TlStatus tl_motion_start(const TlBodies *b, TlArena *arena, TlMotion *m) {
  size_t n = (size_t)b->total;
  TlSym3 *inverse = tl_arena_push(arena, n, sizeof *inverse);
  m->carried = NULL;
  m->start_spin = tl_arena_push(arena, n, sizeof *m->start_spin);
  m->real.twist = tl_arena_push(arena, n, sizeof(TlTwist));
  m->pseudo.twist = tl_arena_push(arena, n, sizeof(TlTwist));
  if (!inverse || !m->start_spin || !m->real.twist || !m->pseudo.twist) return TL_ENOMEM;
  memset(m->pseudo.twist, 0, n * sizeof(TlTwist));
  m->real.inverse_mass = m->pseudo.inverse_mass = b->inverse_mass;
  m->real.inverse_inertia = m->pseudo.inverse_inertia = inverse;
#pragma omp parallel for schedule(static) if (tl_par_pays(b->total, BODY_NS))
  for (int64_t i = 0; i < b->total; i++) {
    bool fixed = b->flags[i] & TL_BODY_FROZEN;
    if (b->asleep[i]) { /* nothing acts on it; were it to wake, the twists are started anew */
      inverse[i] = (TlSym3){0};
      m->start_spin[i] = (TlVec3){0, 0, 0};
      m->real.twist[i] = (TlTwist){0};
      continue;
    }
    inverse[i] = tl_bodies_rotated(b, i, b->inverse_inertia[i]);
    m->start_spin[i] = tl_bodies_spin(b, i);
    m->real.twist[i] =
        (TlTwist){.v = fixed ? (TlVec3){0, 0, 0} : b->velocity[i], .w = m->start_spin[i]};
  }
  return TL_OK;
}

static bool finite_twist(const TlTwist *t) {
  return isfinite(t->v.x + t->v.y + t->v.z + t->w.x + t->w.y + t->w.z);
}

TlStatus tl_motion_check_poses(const TlBodies *b, int64_t step) {
  for (int64_t i = 0; i < b->total; i++) {
    if (b->asleep[i]) continue;
    TlVec3 x = b->position[i];
    TlQuat q = b->rotation[i];
    if (!isfinite(x.x + x.y + x.z + q.w + q.x + q.y + q.z))
      return tl_fail(TL_ELIMIT, "grain %lld: its pose is not finite in step %lld",
                     (long long)b->id[i], (long long)step);
  }
  return TL_OK;
}

TlStatus tl_motion_check_twists(const TlBodies *b, const TlMotion *m, int64_t step) {
  for (int64_t i = 0; i < b->owned; i++)
    if (!finite_twist(&m->real.twist[i]) || !finite_twist(&m->pseudo.twist[i]))
      return tl_fail(TL_ELIMIT,
                     "grain %lld: its velocity is not finite in step %lld; look at its shape, its "
                     "neighbours and the time step",
                     (long long)b->id[i], (long long)step);
  return TL_OK;
}

static TlQuat turned(TlQuat q, TlVec3 spin, double dt) {
  return tl_quat_unit(tl_quat_mul(tl_quat_from_rotation(tl_scale(dt, spin)), q));
}

static bool same(TlVec3 a, TlVec3 b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* w: the spin at the first guess of the half-turned attitude. Converges by the turn of a step a
 * round: three to five rounds. */
static TlVec3 centred_spin(TlBodies *b, int64_t i, TlQuat start, TlVec3 w, double dt) {
  enum { ROUNDS = 30 };
  for (int round = 0; round < ROUNDS; round++) {
    TlVec3 before = w;
    b->rotation[i] = turned(start, w, 0.5 * dt);
    w = tl_bodies_spin(b, i);
    if (dt * tl_norm(tl_sub(w, before)) <= 1e-14) break;
  }
  return w;
}

/* exp of a turn by less than a tenth of a radian, to the last digit by its series. */
static TlQuat small_turn(TlVec3 r) {
  double h = 0.25 * tl_norm2(r); /* of half the angle, squared */
  double s = 1 - h / 6 * (1 - h / 20 * (1 - h / 42 * (1 - h / 72)));
  double c = 1 - h / 2 * (1 - h / 12 * (1 - h / 30 * (1 - h / 56)));
  return (TlQuat){c, 0.5 * s * r.x, 0.5 * s * r.y, 0.5 * s * r.z};
}

/* By the spin and, on top of it, a pseudo-velocity. Of a round body the spin stays. */
static void turn(TlBodies *b, int64_t i, TlVec3 pseudo, double dt) {
  TlQuat start = b->rotation[i];
  if (tl_bodies_round(b, i)) {
    TlVec3 turned = tl_scale(dt, tl_axpy(pseudo, b->inverse_inertia[i].x, b->momentum[i]));
    TlQuat q = tl_norm2(turned) < 0.01 ? small_turn(turned) : tl_quat_from_rotation(turned);
    b->rotation[i] = tl_quat_unit(tl_quat_mul(q, start));
    return;
  }
  b->rotation[i] = turned(start, tl_bodies_spin(b, i), 0.5 * dt);
  TlVec3 middle = centred_spin(b, i, start, tl_bodies_spin(b, i), dt);
  b->rotation[i] = turned(start, tl_add(middle, pseudo), dt);
}

void tl_motion_turn(TlBodies *b, int64_t i, double dt) {
  turn(b, i, tl_vec3(0, 0, 0), dt);
}

/* A correction of overlap that lifts a body against gravity gives it potential energy. Its motion pays
 * for that: a grain that rocks in a hollow runs a little into it in each step and is lifted out again,
 * and would swing ever higher. */
static void pay_for_lift(TlBodies *b, int64_t i, TlVec3 pseudo, TlVec3 gravity, double dt) {
  double lift = -b->mass[i] * dt * tl_dot(gravity, pseudo);
  if (!(lift > 0)) return;
  double kinetic =
      0.5 * (b->mass[i] * tl_norm2(b->velocity[i]) + tl_dot(b->momentum[i], tl_bodies_spin(b, i)));
  double left = lift < kinetic ? sqrt(1 - lift / kinetic) : 0;
  b->velocity[i] = tl_scale(left, b->velocity[i]);
  b->momentum[i] = tl_scale(left, b->momentum[i]);
}

static void move_body(TlBodies *b, const TlMotion *m, int64_t i, TlVec3 gravity, double dt) {
  const TlTwist *t = &m->real.twist[i], *p = &m->pseudo.twist[i];
  if (!same(t->w, m->start_spin[i])) /* without torque L keeps its bits */
    b->momentum[i] = tl_add(b->momentum[i], tl_sym_vec(tl_bodies_rotated(b, i, b->inertia[i]),
                                                       tl_sub(t->w, m->start_spin[i])));
  b->velocity[i] = t->v;
  b->position[i] = tl_axpy(b->position[i], dt, tl_add(t->v, p->v));
  turn(b, i, p->w, dt);
  pay_for_lift(b, i, p->v, gravity, dt);
}

void tl_motion_flag_outside(TlBodies *b, int64_t i, const TlBoundary *boundary, int count) {
  b->flags[i] &= ~TL_BODY_OUTSIDE;
  if (b->flags[i] & TL_BODY_NET) return; /* a net may hang over the terrain's edge */
  for (int k = 0; k < count; k++) {
    double phi;
    TlVec3 n;
    if (boundary[k].kind->has_outside && !tl_boundary_phi(&boundary[k], b->position[i], &phi, &n))
      b->flags[i] |= TL_BODY_OUTSIDE;
  }
}

TlStatus tl_motion_finish(TlBodies *b, const TlMotion *m, const TlBoundary *boundary,
                          int boundary_count, TlVec3 gravity_m_s2, double step_s, int64_t step) {
  TL_TRY(tl_motion_check_twists(b, m, step));
#pragma omp parallel for schedule(static) if (tl_par_pays(b->total, BODY_NS))
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->asleep[i]) continue;
    if (!(b->flags[i] & TL_BODY_FROZEN) && !(m->carried && m->carried[i]))
      move_body(b, m, i, gravity_m_s2, step_s);
    tl_motion_flag_outside(b, i, boundary, boundary_count);
  }
  return TL_OK;
}

void tl_motion_nudge(TlBodies *b, const TlDynamics *pseudo, TlVec3 gravity_m_s2, double step_s) {
  for (int64_t i = 0; i < b->owned; i++) {
    const TlTwist *p = &pseudo->twist[i];
    if (p->hit == 0) continue;
    b->position[i] = tl_axpy(b->position[i], step_s, p->v);
    b->rotation[i] = turned(b->rotation[i], p->w, step_s);
    pay_for_lift(b, i, p->v, gravity_m_s2, step_s);
  }
}
