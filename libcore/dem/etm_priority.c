#include "dem/etm.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* The queue of one group: cached u_n of each contact, refreshed for the contacts of the two bodies
 * an impulse touched. The extreme is found by a scan of the cache, which up to some 800 contacts is
 * faster than a heap that must be mended after every impulse. */
typedef struct Queue {
  const TlEtmLaw *law;
  const TlDynamics *dynamics;
  TlContact **contact; /* all of the group */
  double *un;
  int32_t count;
  int32_t *link, *link_start, *body; /* contacts of each body: CSR over the group's bodies */
  int32_t bodies;
  double step; /* du of one impulse: |u_n(start)|/K */
} Queue;

static void queue_free(Queue *q) {
  tl_free(q->contact);
  tl_free(q->un);
  tl_free(q->link);
  tl_free(q->link_start);
  tl_free(q->body);
}

static int compare_int(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return x < y ? -1 : x > y;
}

static int32_t find_body(const Queue *q, int32_t body) {
  if (body < 0) return -1;
  int32_t *at = bsearch(&body, q->body, (size_t)q->bodies, sizeof body, compare_int);
  return at ? (int32_t)(at - q->body) : -1;
}

static void list_bodies(Queue *q) {
  int32_t n = 0;
  for (int32_t i = 0; i < q->count; i++) {
    q->body[n++] = q->contact[i]->a;
    if (q->contact[i]->b >= 0) q->body[n++] = q->contact[i]->b;
  }
  qsort(q->body, (size_t)n, sizeof *q->body, compare_int);
  for (int32_t i = 0; i < n; i++)
    if (i == 0 || q->body[i] != q->body[i - 1]) q->body[q->bodies++] = q->body[i];
}

static void link_bodies(Queue *q) {
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < q->count; i++) {
      int32_t ends[2] = {find_body(q, q->contact[i]->a), find_body(q, q->contact[i]->b)};
      for (int k = 0; k < 2; k++) {
        if (ends[k] < 0) continue;
        if (pass == 0)
          q->link_start[ends[k] + 2]++;
        else
          q->link[q->link_start[ends[k] + 1]++] = i;
      }
    }
    for (int32_t b = 2; pass == 0 && b < q->bodies + 2; b++)
      q->link_start[b] += q->link_start[b - 1];
  }
}

static TlStatus queue_make(Queue *q, const TlGroup *g) {
  int32_t pairs = g->colour_start[g->colours];
  for (int32_t i = 0; i < pairs; i++) q->count += g->pair[g->order[i]].count;
  size_t n = (size_t)q->count;
  TL_TRY(TL_NEW(q->contact, n));
  TL_TRY(TL_NEW(q->un, n));
  TL_TRY(TL_NEW(q->link, 2 * n));
  TL_TRY(TL_NEW(q->body, 2 * n));
  int32_t at = 0;
  for (int32_t i = 0; i < pairs; i++) {
    const TlPair *pair = &g->pair[g->order[i]];
    for (int32_t k = 0; k < pair->count; k++) q->contact[at++] = &g->contact[pair->first + k];
  }
  list_bodies(q);
  TL_TRY(TL_NEW(q->link_start, (size_t)q->bodies + 2));
  link_bodies(q);
  return TL_OK;
}

static void refresh_body(Queue *q, int32_t body) {
  int32_t b = find_body(q, body);
  if (b < 0) return;
  /* after the second pass link_start[b + 1] is the end of b's list and its start is [b] */
  for (int32_t i = q->link_start[b]; i < q->link_start[b + 1]; i++)
    q->un[q->link[i]] = tl_contact_un(q->contact[q->link[i]], q->dynamics->twist);
}

static void refresh(Queue *q, const TlContact *c) {
  refresh_body(q, c->a);
  refresh_body(q, c->b);
}

/* Key of contact i, 0 when it does not approach. */
static double key_of(Queue *q, int32_t i) {
  if (q->un[i] >= -q->law->tolerance_m_s) return 0;
  if (!tl_etm_enters(q->contact[i], q->law, q->dynamics->twist, q->un[i])) return 0;
  return q->contact[i]->weight * q->un[i];
}

static double least_key(Queue *q) {
  double least = 0;
  for (int32_t i = 0; i < q->count; i++) {
    double key = key_of(q, i);
    if (key < least) least = key;
  }
  return least;
}

static void start_round(Queue *q) {
  q->step = 0;
  for (int32_t i = 0; i < q->count; i++) {
    TlContact *c = q->contact[i];
    c->work = c->start = 0;
    q->un[i] = tl_contact_un(c, q->dynamics->twist);
  }
  for (int32_t i = 0; i < q->count; i++)
    if (key_of(q, i) < 0) q->step = fmax(q->step, -q->un[i] / q->law->increments);
}

/* Lift every contact whose key is similar to the least one, each by one increment. */
static int64_t lift_similar(Queue *q, double least) {
  int64_t impulses = 0;
  for (int32_t i = 0; i < q->count; i++) {
    if (!(key_of(q, i) <= least * (1 - q->law->similar))) continue;
    TlContact *c = q->contact[i];
    tl_etm_begin(c, q->dynamics->twist, q->un[i]);
    tl_etm_compress(c, q->dynamics, fmin(q->step, -q->un[i])); /* Tang 2014 Eq. 63 */
    refresh(q, c);
    impulses++;
  }
  return impulses;
}

static void compress(Queue *q, TlEtmCount *count) {
  int64_t limit = (int64_t)q->count * q->law->increments * 1000, done = 0;
  for (double least = least_key(q); least < 0; least = least_key(q)) {
    done += lift_similar(q, least);
    if (done <= limit) continue;
    count->unfinished++;
    break;
  }
  count->impulses += done;
}

static double most_work(const Queue *q) {
  double most = 0;
  for (int32_t i = 0; i < q->count; i++) most = fmax(most, q->contact[i]->work);
  return most;
}

static int64_t release_similar(Queue *q, double most) {
  int64_t impulses = 0;
  for (int32_t i = 0; i < q->count; i++) {
    TlContact *c = q->contact[i];
    if (!(c->work > 0 && c->work >= most * (1 - q->law->similar))) continue;
    tl_etm_release(c, q->dynamics, 0, q->step);
    refresh(q, c);
    impulses++;
  }
  return impulses;
}

TlStatus tl_etm_priority(const TlEtmLaw *law, const TlGroup *g, const TlDynamics *dynamics,
                         TlEtmCount *count) {
  if (g->sync) return tl_fail(TL_EUSAGE, "ETM by priority works on one rank; use the level method");
  Queue q = {.law = law, .dynamics = dynamics};
  TlStatus status;
  tl_etm_reset(g);
  TL_TRY_GOTO(status, queue_make(&q, g), done);
  int64_t round = 0;
  for (;; round++) {
    start_round(&q);
    if (q.step == 0 || round > law->max_rounds) break;
    if (round == law->max_rounds) count->zero_finishes++;
    compress(&q, count);
    for (int32_t i = 0; i < q.count; i++)
      tl_etm_restitute(q.contact[i], law, round == law->max_rounds, count);
    for (double most = most_work(&q); most > 0; most = most_work(&q))
      count->impulses += release_similar(&q, most);
  }
  if (round > count->rounds) count->rounds = round;
done:
  queue_free(&q);
  return status;
}
