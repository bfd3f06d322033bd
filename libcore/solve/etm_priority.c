#include "base/mem.h"
#include "num/sort.h"
#include "solve/etm.h"
#include "solve/step_impulses.h"
#include "solve/queue.h"

#include <math.h>
#include <stdlib.h>

/* One group by priority. The queue holds the keys of compression, then -W of separation; an impulse
 * renews the keys of the contacts of the two bodies it touched. */
typedef struct Reference {
  const TlEtmLaw *law;
  const TlDynamics *dynamics;
  const TlGroup *group;
  TlContact **contact; /* all of the group */
  double *un;
  int32_t count;
  int32_t *end[2];                   /* local number of the bodies of each contact; -1: none */
  int32_t *link, *link_start, *body; /* contacts of each body: CSR over the group's bodies */
  int32_t bodies;
  TlQueue queue;
  double step;   /* du of one impulse: |u_n(start)|/K */
  bool given_up; /* compression has met its limit */
} Reference;

static void reference_free(Reference *r) {
  tl_free(r->contact);
  tl_free(r->un);
  tl_free(r->end[0]);
  tl_free(r->end[1]);
  tl_free(r->link);
  tl_free(r->link_start);
  tl_free(r->body);
  tl_free(r->queue.key);
  tl_free(r->queue.heap);
  tl_free(r->queue.slot);
  tl_free(r->queue.found);
}

static int32_t find_body(const Reference *r, int32_t body) {
  if (body < 0) return -1;
  int32_t *at = bsearch(&body, r->body, (size_t)r->bodies, sizeof body, tl_by_int32);
  return at ? (int32_t)(at - r->body) : -1;
}

static void number_bodies(Reference *r) {
  int32_t n = 0;
  for (int32_t i = 0; i < r->count; i++) {
    r->body[n++] = r->contact[i]->a;
    if (r->contact[i]->b >= 0) r->body[n++] = r->contact[i]->b;
  }
  qsort(r->body, (size_t)n, sizeof *r->body, tl_by_int32);
  for (int32_t i = 0; i < n; i++)
    if (i == 0 || r->body[i] != r->body[i - 1]) r->body[r->bodies++] = r->body[i];
  for (int32_t i = 0; i < r->count; i++) {
    r->end[0][i] = find_body(r, r->contact[i]->a);
    r->end[1][i] = find_body(r, r->contact[i]->b);
  }
}

/* After the second pass link_start[b + 1] is the end of b's list and its start is [b]. */
static void link_bodies(Reference *r) {
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < r->count; i++)
      for (int k = 0; k < 2; k++) {
        int32_t b = r->end[k][i];
        if (b < 0) continue;
        if (pass == 0)
          r->link_start[b + 2]++;
        else
          r->link[r->link_start[b + 1]++] = i;
      }
    for (int32_t b = 2; pass == 0 && b < r->bodies + 2; b++)
      r->link_start[b] += r->link_start[b - 1];
  }
}

static TlStatus reference_make(Reference *r, const TlGroup *g) {
  int32_t pairs = g->pairs;
  for (int32_t i = 0; i < pairs; i++) r->count += g->pair[i].count;
  size_t n = (size_t)r->count;
  TL_TRY(TL_NEW(r->contact, n));
  TL_TRY(TL_NEW(r->un, n));
  TL_TRY(TL_NEW(r->end[0], n));
  TL_TRY(TL_NEW(r->end[1], n));
  TL_TRY(TL_NEW(r->link, 2 * n));
  TL_TRY(TL_NEW(r->body, 2 * n));
  TL_TRY(TL_NEW(r->queue.key, n));
  TL_TRY(TL_NEW(r->queue.heap, n));
  TL_TRY(TL_NEW(r->queue.slot, n));
  TL_TRY(TL_NEW(r->queue.found, n));
  r->queue.count = r->count;
  r->queue.is_heap = r->count >= TL_QUEUE_HEAP_FROM;
  int32_t at = 0;
  for (int32_t i = 0; i < pairs; i++) {
    const TlPair *pair = &g->pair[i];
    for (int32_t k = 0; k < pair->count; k++) r->contact[at++] = &g->contact[pair->first + k];
  }
  number_bodies(r);
  TL_TRY(TL_NEW(r->link_start, (size_t)r->bodies + 2));
  link_bodies(r);
  return TL_OK;
}

/* Key of contact i, 0 when it does not approach. */
static double key_of(Reference *r, int32_t i) {
  r->un[i] = tl_contact_un(r->contact[i], r->dynamics->twist);
  if (r->un[i] >= -r->law->tolerance_m_s) return 0;
  if (!tl_etm_enters(r->contact[i], r->law, r->dynamics->twist, r->un[i])) return 0;
  return r->contact[i]->weight * r->un[i];
}

static void renew(Reference *r, int32_t i) {
  for (int k = 0; k < 2; k++) {
    int32_t b = r->end[k][i];
    if (b < 0 || r->dynamics->inverse_mass[r->body[b]] == 0) continue; /* fixed: nothing changed */
    for (int32_t j = r->link_start[b]; j < r->link_start[b + 1]; j++)
      tl_queue_set(&r->queue, r->link[j], key_of(r, r->link[j]));
  }
}

static void start_round(Reference *r) {
  r->step = 0;
  for (int32_t i = 0; i < r->count; i++) {
    r->contact[i]->work = r->contact[i]->start = 0;
    r->queue.key[i] = key_of(r, i);
    if (r->queue.key[i] < 0) r->step = fmax(r->step, -r->un[i] / r->law->increments);
  }
  tl_queue_build(&r->queue);
}

/* Lift every contact whose key is similar to the least one, each by one increment. */
static int64_t lift_similar(Reference *r, double least) {
  double bound = least * (1 - r->law->similar);
  int32_t similar = tl_queue_under(&r->queue, bound);
  int64_t impulses = 0;
  for (int32_t k = 0; k < similar; k++) {
    int32_t i = r->queue.found[k];
    if (!(r->queue.key[i] <= bound)) continue; /* lifted along with another */
    TlContact *c = r->contact[i];
    tl_etm_begin(c, r->dynamics->twist, r->un[i]);
    tl_etm_compress(r->law, c, r->dynamics, fmin(r->step, -r->un[i])); /* Tang 2014 Eq. 63 */
    tl_etm_trace(r->law, TL_TRACE_COMPRESS, r->group, r->dynamics);
    renew(r, i);
    impulses++;
  }
  return impulses;
}

/* Ends as the levels do: a full impulse from u < -T takes at least m_eff T^2/2 out of the motion.
 * The limit is a guard. */
static void compress(Reference *r, TlEtmCount *count) {
  int64_t limit = (int64_t)r->count * r->law->increments * 1000, done = 0;
  for (double least; (least = tl_queue_least(&r->queue)) < 0;) {
    done += lift_similar(r, least);
    if (done <= limit) continue;
    count->unfinished++;
    tl_etm_mark_stuck(r->law, r->group, r->dynamics->twist, NULL);
    r->given_up = true;
    break;
  }
  count->impulses += done;
}

static void restitute(Reference *r, bool zero, TlEtmCount *count) {
  for (int32_t i = 0; i < r->count; i++)
    r->queue.key[i] = -tl_etm_restitute(r->contact[i], r->law, zero, count);
  tl_queue_build(&r->queue);
}

static int64_t release_similar(Reference *r, double least) {
  double bound = least * (1 - r->law->similar);
  int32_t similar = tl_queue_under(&r->queue, bound);
  for (int32_t k = 0; k < similar; k++) {
    TlContact *c = r->contact[r->queue.found[k]];
    tl_etm_release(r->law, c, r->dynamics, 0, r->step);
    tl_etm_trace(r->law, TL_TRACE_RELEASE, r->group, r->dynamics);
    tl_queue_set(&r->queue, r->queue.found[k], -c->work);
  }
  return similar;
}

static void run_rounds(Reference *r, TlEtmCount *count) {
  int64_t round = 0;
  for (;; round++) {
    start_round(r);
    if (r->step == 0 || round > r->law->max_rounds) break;
    bool last = round == r->law->max_rounds;
    if (last) {
      count->zero_finishes++;
      tl_etm_mark_stuck(r->law, r->group, r->dynamics->twist, NULL);
    }
    compress(r, count);
    restitute(r, last || r->given_up, count);
    if (r->given_up) break;
    for (double least; (least = tl_queue_least(&r->queue)) < 0;)
      count->impulses += release_similar(r, least);
  }
  if (round > count->rounds) count->rounds = round;
}

TlStatus tl_etm_priority(const TlEtmLaw *law, const TlGroup *g, const TlDynamics *dynamics,
                         TlEtmCount *count) {
  if (g->share)
    return tl_fail(TL_EUSAGE, "ETM by priority works on one rank; use the level method");
  Reference r = {.law = law, .dynamics = dynamics, .group = g};
  TlStatus status = TL_OK;
  tl_etm_reset(g);
  TL_TRY_GOTO(status, reference_make(&r, g), done);
  run_rounds(&r, count);
done:
  reference_free(&r);
  return status;
}

const TlMethodKind tl_method_etm_priority = {.most_ranks = 1, TL_BY_IMPULSES(tl_etm_priority)};
