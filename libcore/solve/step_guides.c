#include "solve/step_guides.h"

#include "solve/step_impulses.h"

#include <string.h>

/* A body that is driven and tilts has next to no inverse mass: none at all would make it a fixed one,
 * whose spin no impulse changes. */
static const double HEAVY = 1e-13;

/* What contacts find of bodies that are guided differs from what these are. */
typedef struct Own {
  double *inverse_mass;
  TlSym3 *inverse_inertia;
} Own;

static TlStatus make_own(const TlStep *s, TlMotion *motion, TlGuides *guides, Own *own) {
  TlArena *arena = &s->work->arena;
  TlDynamics *d = &motion->real;
  size_t joints = tl_joints_count(&s->state->bodies.pairs), n = (size_t)s->state->bodies.total;
  guides->guide = tl_arena_push(arena, joints + 1, sizeof *guides->guide);
  s->work->joint_row = tl_arena_push(arena, joints + 1, sizeof *s->work->joint_row);
  own->inverse_mass = tl_arena_push(arena, n, sizeof *own->inverse_mass);
  own->inverse_inertia = tl_arena_push(arena, n, sizeof *own->inverse_inertia);
  if (!guides->guide || !s->work->joint_row || !own->inverse_mass || !own->inverse_inertia)
    return TL_ENOMEM;
  memset(s->work->joint_row, 0, (joints + 1) * sizeof *s->work->joint_row);
  s->work->joint_rows = joints;
  memcpy(own->inverse_mass, d->inverse_mass, n * sizeof *own->inverse_mass);
  memcpy(own->inverse_inertia, d->inverse_inertia, n * sizeof *own->inverse_inertia);
  d->inverse_mass = motion->pseudo.inverse_mass = own->inverse_mass;
  d->inverse_inertia = motion->pseudo.inverse_inertia = own->inverse_inertia;
  return TL_OK;
}

TlStatus tl_guides_start(const TlStep *s, TlMotion *motion, TlGuides *guides) {
  const TlBodies *b = &s->state->bodies;
  Own own;
  *guides = (TlGuides){0};
  if (tl_joints_count(&b->pairs) == 0) return TL_OK;
  TL_TRY(make_own(s, motion, guides, &own));
  for (int64_t i = 0; i < b->total; i++) {
    TlGuide g = {.body = i, .before = motion->real.twist[i].v};
    g.joint = tl_joint_of(&b->pairs, s->controls, b->id[i]);
    if (!g.joint.kind) continue;
    if (g.joint.control.driven) own.inverse_mass[i] *= g.joint.control.tilts ? HEAVY : 0;
    if (!g.joint.control.tilts) own.inverse_inertia[i] = (TlSym3){0};
    guides->guide[guides->count++] = g;
  }
  tl_guides_hold(guides, &motion->real);
  return TL_OK;
}

static void let(const TlGuide *g, const TlJointControl *control, const TlDynamics *d, double push) {
  TlTwist *twist = &d->twist[g->body];
  TlTwist guided = g->joint.kind->twist(g->joint.row, control, *twist, push);
  twist->v = guided.v;
  twist->w = guided.w;
}

void tl_guides_kick(const TlStep *s, const TlGuides *guides, const TlDynamics *d) {
  for (int64_t k = 0; k < guides->count; k++) {
    const TlGuide *g = &guides->guide[k];
    let(g, &g->joint.control, d, s->model->step_s * d->inverse_mass[g->body]);
  }
}

void tl_guides_hold(const TlGuides *guides, const TlDynamics *d) {
  for (int64_t k = 0; k < guides->count; k++)
    let(&guides->guide[k], &guides->guide[k].joint.control, d, 0);
}

void tl_guides_hold_push(const TlGuides *guides, const TlDynamics *pseudo) {
  for (int64_t k = 0; k < guides->count; k++) {
    TlJointControl still = guides->guide[k].joint.control;
    still.speed = 0; /* what is driven is where its drive has it */
    let(&guides->guide[k], &still, pseudo, 0);
  }
}

/* ---- the report ---- */

static void add(TlExact *sum, double term) {
  if (term != 0) tl_exact_add(sum, term);
}

/* Impulse of the contacts on a body. */
static TlVec3 contact_impulse(const TlFound *found, int64_t body) {
  TlVec3 sum = {0, 0, 0};
  for (int32_t k = 0; k < found->contacts; k++) {
    const TlContact *c = &found->contact[k];
    if (c->a == body) sum = tl_add(sum, tl_step_impulse(c));
    if (c->b == body) sum = tl_sub(sum, tl_step_impulse(c));
  }
  return sum;
}

static void note_guide(TlStep *s, const TlGuide *g, const TlMotion *motion) {
  const TlBodies *b = &s->state->bodies;
  double step_s = s->model->step_s;
  int64_t i = g->body;
  TlVec3 contact_N = tl_scale(1 / step_s, contact_impulse(&s->work->found, i));
  TlVec3 after = motion->real.twist[i].v;
  TlVec3 gained_N = tl_scale(b->mass[i] / step_s, tl_sub(after, g->before));
  const TlJointKind *kind = g->joint.kind;
  add(&s->sums.guide_N, kind->borne_N(g->joint.row, contact_N));
  add(&s->sums.wall_work_J,
      kind->work(g->joint.row, &g->joint.control, contact_N, g->before, after, step_s));
  TlVec3 weight_N = tl_scale(b->mass[i], s->model->gravity_m_s2);
  s->work->joint_row[g->joint.place] = (TlConstraintRow){
      .kind = g->joint.control.kind,
      .key = *(const TlPairKey *)g->joint.row,
      .point_m = tl_add(b->position[i], tl_quat_rotate(b->rotation[i], kind->anchor(g->joint.row))),
      .force_N = tl_sub(tl_sub(gained_N, contact_N), weight_N)};
}

static void note_contacts(TlStep *s) {
  const TlBodies *b = &s->state->bodies;
  double per_s = 1 / s->model->step_s;
  for (int32_t k = 0; k < s->work->found.contacts; k++) {
    const TlContact *c = &s->work->found.contact[k];
    if (c->a >= b->owned) continue;
    TlVec3 force = tl_scale(per_s, tl_step_impulse(c));
    add(&s->sums.contact_N, tl_norm(force));
    if (c->b < 0) add(&s->sums.boundary_N, tl_dot(force, c->n));
  }
}

/* Of grains: a net's spheres are kicked between two solves. */
static void note_grains(TlStep *s, const TlMotion *motion, TlStepReport *r) {
  const TlBodies *b = &s->state->bodies;
  for (int64_t i = 0; i < b->owned; i++) {
    if (b->flags[i] & (TL_BODY_FROZEN | TL_BODY_NET | TL_BODY_GUIDED)) continue;
    TlVec3 gained = tl_sub(motion->real.twist[i].v, b->velocity[i]);
    add(&s->sums.resultant_N, b->mass[i] / s->model->step_s * tl_norm(gained));
    r->moving++;
  }
}

void tl_guides_note(TlStep *s, const TlGuides *guides, const TlMotion *motion, TlStepReport *r) {
  if (tl_joints_count(&s->state->bodies.pairs) == 0) return;
  for (int64_t k = 0; k < guides->count; k++) note_guide(s, &guides->guide[k], motion);
  note_contacts(s);
  note_grains(s, motion, r);
  r->whole = TL_LOSSES_UNKNOWN; /* what friction and restitution take is not booked */
}
