/* Embedded grains (Tan 2022 5.4.4, Fig. 5.8, speaks of poor avatars): a grain lies inside another,
 * or is wedged so that nothing moves it out. The solver's own limits (rounds, sweeps) keep such a
 * step from stalling. What remains is overlap, and overlap is what is looked for: of a pair deeper
 * than embedded_fraction of the smaller radius the lesser grain is flagged at once when the centre of
 * one lies inside the other, else when both grains have been that deep for problem_steps consecutive
 * steps. The position rule, which undoes a fifth of the overlap in a step, leaves no sound pair that
 * deep for so long. The caller decides what becomes of the grain.
 *
 * An unresolved collision is the same trouble before there is overlap to see: impulses from opposite
 * sides that energy tracking cannot end, as on a ball between walls that close. The method finishes
 * such an island with restitution 0; where it had to in problem_steps consecutive steps for both
 * grains of a pair, the lesser grain is flagged.
 */
#include "solve/step_impulses.h"

#include <math.h>

/* How deep pair i lies at its deepest, as a fraction of the smaller radius; which contact. */
static double depth_of(const TlFound *found, const TlPair *pair, const TlContact **deepest) {
  double fraction = 0;
  *deepest = NULL;
  for (int32_t k = 0; k < pair->count; k++) {
    const TlContact *c = &found->contact[pair->first + k];
    if (!(-c->gap / c->size > fraction)) continue;
    fraction = -c->gap / c->size;
    *deepest = c;
  }
  return fraction;
}

static bool centre_in_grain(const TlColliders *b, int32_t of, int32_t in) {
  TlVec3 d = tl_sub(b->position[of], b->position[in]);
  TlVec3 q = tl_mat_tvec(tl_quat_matrix(b->rotation[in]), d);
  return tl_shape_phi(b->shape[in], tl_scale(1 / b->scale[in], q), NULL) < 0;
}

static bool centre_inside(const TlWorkspace *s, const TlBodies *b, const TlContact *c) {
  const TlColliders *x = &b->colliders;
  if (c->b >= 0)
    return centre_in_grain(x, c->part_a, c->part_b) || centre_in_grain(x, c->part_b, c->part_a);
  double phi;
  TlVec3 n;
  return tl_boundary_phi(&s->boundary[c->boundary], x->position[c->part_a], &phi, &n) && phi < 0;
}

static bool fixed(const TlBodies *b, int32_t i) {
  return i < 0 || b->flags[i] & TL_BODY_FROZEN;
}

/* The grain to be handled: the one that can move; the lighter; the higher id. */
static int32_t lesser(const TlBodies *b, const TlContact *c) {
  if (fixed(b, c->b)) return c->a;
  if (fixed(b, c->a)) return c->b;
  if (b->mass[c->a] != b->mass[c->b]) return b->mass[c->a] < b->mass[c->b] ? c->a : c->b;
  return b->id[c->a] > b->id[c->b] ? c->a : c->b;
}

/* Steps on end, this one included, that the pair may have been in trouble: count is strained or
 * unresolved. */
static int32_t steps_on_end(const int32_t *count, const TlContact *c) {
  int32_t steps = count[c->a];
  if (c->b >= 0 && count[c->b] < steps) steps = count[c->b];
  return steps + 1;
}

/* row says what is wrong; who it is comes from the contact. */
static TlStatus note(TlWorkspace *s, TlBodies *b, const TlContact *c, int32_t flag,
                     TlProblemRow row) {
  const TlColliders *x = &b->colliders;
  int32_t body = lesser(b, c);
  int32_t grain = body == c->a ? c->part_a : c->part_b,
          other = body == c->a ? c->part_b : c->part_a;
  if (body >= b->owned || b->flags[body] & flag) return TL_OK;
  b->flags[body] |= flag;
  row.grain = x->id[grain];
  row.avatar = x->avatar_id[grain];
  row.position_m = x->position[grain];
  row.other = other >= 0 ? x->id[other] : -1 - c->boundary;
  row.other_avatar = other >= 0 ? x->avatar_id[other] : -1;
  row.overlap_m = fmax(-c->gap, 0);
  row.fraction = row.overlap_m / c->size;
  TL_TRY(TL_RESERVE(s->problem, s->problem_capacity, s->problem_count + 1));
  s->problem[s->problem_count++] = row;
  return TL_OK;
}

static TlStatus judge_pair(const TlStep *s, TlBodies *b, const TlContact *c) {
  if (fixed(b, c->a) && fixed(b, c->b)) return TL_OK;
  bool free_pair = !fixed(b, c->a) && (c->b < 0 || !fixed(b, c->b));
  bool inside = free_pair && centre_inside(s->work, b, c);
  int32_t steps = steps_on_end(b->strained, c);
  if (!inside && steps < s->model->impulses.problem_steps) return TL_OK;
  return note(s->work, b, c, TL_BODY_EMBEDDED, (TlProblemRow){.steps = steps, .inside = inside});
}

/* Flags and counters of owned bodies only; a ghost's counter is its owner's of the last step, so
 * that both ranks judge a pair alike. */
TlStatus tl_step_embedded(const TlStep *s) {
  TlBodies *b = &s->state->bodies;
  const TlFound *found = &s->work->found;
  unsigned char *deep = tl_arena_push(&s->work->arena, (size_t)b->total + 1, 1);
  if (!deep) return TL_ENOMEM;
  s->work->problem_count = 0;
  for (int64_t i = 0; i < b->total; i++) {
    b->flags[i] &= ~TL_BODY_EMBEDDED;
    deep[i] = 0;
  }
  for (int32_t i = 0; i < found->pairs; i++) {
    const TlPair *pair = &found->pair[i];
    const TlContact *deepest;
    double fraction = depth_of(found, pair, &deepest);
    if (!(fraction > s->model->impulses.embedded_fraction)) continue;
    deep[pair->a] = 1;
    if (pair->b >= 0) deep[pair->b] = 1;
    TL_TRY(judge_pair(s, b, deepest));
  }
  for (int64_t i = 0; i < b->owned; i++) b->strained[i] = deep[i] ? b->strained[i] + 1 : 0;
  return TL_OK;
}

/* ---- unresolved collisions ---- */

/* The point of the pair that was hit hardest. */
static const TlContact *hardest_hit(const TlFound *found, const TlPair *pair) {
  const TlContact *most = &found->contact[pair->first];
  for (const TlContact *c = most + 1; c < &found->contact[pair->first + pair->count]; c++)
    if (tl_norm2(c->impulse) > tl_norm2(most->impulse)) most = c;
  return most;
}

static TlStatus judge_unresolved(const TlStep *s, TlBodies *b, const TlContact *c) {
  int32_t steps = steps_on_end(b->unresolved, c);
  if (steps < s->model->impulses.problem_steps || (fixed(b, c->a) && fixed(b, c->b))) return TL_OK;
  return note(s->work, b, c, TL_BODY_UNRESOLVED,
              (TlProblemRow){.steps = steps, .unresolved = true});
}

TlStatus tl_step_unresolved(const TlStep *s, int64_t *number) {
  TlBodies *b = &s->state->bodies;
  const TlFound *found = &s->work->found;
  size_t before = s->work->problem_count;
  unsigned char *stuck = tl_arena_push(&s->work->arena, (size_t)b->total + 1, 1);
  if (!stuck) return TL_ENOMEM;
  for (int64_t i = 0; i < b->total; i++) stuck[i] = 0;
  for (int32_t i = 0; i < found->pairs; i++) {
    const TlPair *pair = &found->pair[i];
    if (!pair->stuck) continue;
    stuck[pair->a] = 1;
    if (pair->b >= 0) stuck[pair->b] = 1;
    TL_TRY(judge_unresolved(s, b, hardest_hit(found, pair)));
  }
  for (int64_t i = 0; i < b->owned; i++) b->unresolved[i] = stuck[i] ? b->unresolved[i] + 1 : 0;
  *number = (int64_t)(s->work->problem_count - before);
  return TL_OK;
}
