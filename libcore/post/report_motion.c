#include "post/report_motion.h"

#include "base/mem.h"
#include "num/sort.h"
#include "post/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tl_report_motion_free(TlReportMotion *m) {
  tl_free(m->index);
  tl_free(m->time_s);
  tl_free(m->id);
  tl_free(m->shape);
  tl_free(m->flags);
  tl_free(m->material);
  tl_free(m->scale);
  tl_free(m->there);
  tl_free(m->place_m);
  tl_free(m->turn);
  tl_free(m->speed_m_s);
  tl_free(m->energy_J);
  tl_free(m->force_N);
  *m = (TlReportMotion){0};
}

/* ---- who is in the run ---- */

typedef struct Member {
  int64_t id;
  int32_t shape;
  bool round;
  double scale;
  int64_t body; /* number in the motion's order */
} Member;

typedef struct Members {
  Member *item; /* by id */
  size_t count, capacity;
} Members;

static int by_id(const void *one, const void *two) {
  int64_t a = ((const Member *)one)->id, b = ((const Member *)two)->id;
  return (a > b) - (a < b);
}

static int by_order(const void *one, const void *two) {
  const Member *const *a = one, *const *b = two;
  if ((*a)->round != (*b)->round) return (*a)->round ? 1 : -1;
  if ((*a)->shape != (*b)->shape) return (*a)->shape > (*b)->shape ? 1 : -1;
  return by_id(*a, *b);
}

static Member *member_of(const Members *all, int64_t id) {
  Member key = {.id = id};
  return all->count ? bsearch(&key, all->item, all->count, sizeof key, by_id) : NULL;
}

/* A sphere: its nodes are all as far from its centre, to 4 thousandths (nodes lie
 * on the grid's surface, which is off by one of them at ten cells a radius). */
static bool is_round(const TlAvatar *a) {
  double least = INFINITY, most = 0;
  for (int32_t i = 0; i < a->node_count; i++) {
    const float *p = a->node_m + 3 * (size_t)i;
    double r = tl_norm(tl_vec3(p[0], p[1], p[2]));
    least = fmin(least, r);
    most = fmax(most, r);
  }
  return a->node_count > 0 && most - least < 4e-3 * most;
}

/* Bodies of the frame that are not among the first `known` (which are in order). */
static TlStatus add_members(const TlScene *scene, const bool *round, const TlFrame *frame,
                            Members *all) {
  size_t known = all->count;
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    Members before = {all->item, known, all->capacity};
    if (member_of(&before, row->id)) continue;
    const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
    if (!a)
      return tl_fail(TL_EINPUT, "frame %lld: body %lld refers to avatar %lld, which the run lacks",
                     (long long)frame->index, (long long)row->id, (long long)row->avatar_id);
    TL_TRY(TL_RESERVE(all->item, all->capacity, all->count + 1));
    int32_t shape = (int32_t)(a - scene->avatars);
    all->item[all->count++] =
        (Member){.id = row->id, .shape = shape, .round = round[shape], .scale = row->scale};
  }
  if (all->count > known) qsort(all->item, all->count, sizeof *all->item, by_id);
  return TL_OK;
}

/* ---- frames ---- */

static TlStatus new_motion(const Members *all, TlReportMotion *m) {
  m->bodies = (int64_t)all->count;
  size_t n = all->count, both = n * (size_t)m->frames;
  TL_TRY(TL_NEW(m->id, n));
  TL_TRY(TL_NEW(m->shape, n));
  TL_TRY(TL_NEW(m->flags, n));
  TL_TRY(TL_NEW(m->material, n));
  TL_TRY(TL_NEW(m->scale, n));
  TL_TRY(TL_NEW(m->there, both));
  TL_TRY(TL_NEW(m->place_m, both));
  TL_TRY(TL_NEW(m->turn, both));
  TL_TRY(TL_NEW(m->speed_m_s, both));
  TL_TRY(TL_NEW(m->energy_J, n));
  Member **order;
  TL_TRY(TL_NEW(order, n));
  for (size_t i = 0; i < n; i++) order[i] = &all->item[i];
  qsort(order, n, sizeof *order, by_order);
  for (size_t i = 0; i < n; i++) {
    order[i]->body = (int64_t)i;
    m->id[i] = order[i]->id;
    m->shape[i] = order[i]->shape;
    m->scale[i] = order[i]->scale;
    m->turning += !order[i]->round;
  }
  tl_free(order);
  return TL_OK;
}

static TlStatus take_forces(const char *run, const Members *all, int64_t f, TlReportMotion *m) {
  TlFrameContacts contacts;
  TL_TRY(tl_results_read_contacts(run, m->index[f], &contacts));
  TlStatus status = TL_OK;
  if (contacts.there && !m->force_N) status = TL_NEW(m->force_N, (size_t)(m->bodies * m->frames));
  for (int64_t i = 0; status == TL_OK && i < contacts.count; i++) {
    const int64_t end[2] = {contacts.rows[i].first, contacts.rows[i].second};
    for (int k = 0; k < 2; k++) {
      const Member *member = end[k] >= 0 ? member_of(all, end[k]) : NULL;
      if (!member) continue;
      double *sum = &m->force_N[tl_report_motion_at(m, member->body, f)];
      *sum += tl_norm(contacts.rows[i].force_N);
    }
  }
  tl_frame_contacts_free(&contacts);
  return status;
}

static TlStatus take_rows(const TlScene *scene, const TlFrame *frame, const Members *all, int64_t f,
                          TlReportMotion *m) {
  m->time_s[f] = frame->time_s;
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    int64_t body = member_of(all, row->id)->body, at = tl_report_motion_at(m, body, f);
    m->flags[body] = row->flags;
    m->material[body] = row->material;
    m->there[at] = true;
    m->place_m[at] = row->position_m;
    m->turn[at] = row->rotation;
    m->speed_m_s[at] = tl_norm(row->velocity_m_s);
    if (!(row->flags & TL_ROW_NO_GRAIN))
      m->largest_speed_m_s = fmax(m->largest_speed_m_s, m->speed_m_s[at]);
    double translational, rotational;
    TL_TRY(tl_measure_kinetic(scene, row, &translational, &rotational));
    m->energy_J[body] = fmax(m->energy_J[body], translational + rotational);
  }
  return TL_OK;
}

/* A body that is not there stays where it was, or where it will come in. */
static void hold(TlReportMotion *m) {
  for (int64_t b = 0; b < m->bodies; b++) {
    int64_t first = 0;
    while (!m->there[tl_report_motion_at(m, b, first)]) first++;
    for (int64_t f = 0; f < m->frames; f++) {
      int64_t at = tl_report_motion_at(m, b, f),
              from = f < first ? tl_report_motion_at(m, b, first) : at - 1;
      if (m->there[at]) {
        if (m->force_N && tl_report_motion_grain(m, b))
          m->largest_force_N = fmax(m->largest_force_N, m->force_N[at]);
        continue;
      }
      m->place_m[at] = m->place_m[from];
      m->turn[at] = m->turn[from];
    }
  }
}

static TlStatus choose_frames(const char *run, int64_t stride, TlReportMotion *m) {
  int64_t *all, count;
  TL_TRY(tl_results_frames(run, &all, &count));
  TlStatus status =
      count > 0 ? TL_OK : tl_fail(TL_EINPUT, "%s: holds no frames; was the study run?", run);
  if (status == TL_OK) status = TL_NEW(m->index, (size_t)count);
  for (int64_t i = 0; status == TL_OK && i < count; i++)
    if (i % stride == 0 || i == count - 1) m->index[m->frames++] = all[i];
  if (status == TL_OK) status = TL_NEW(m->time_s, (size_t)m->frames);
  tl_free(all);
  return status;
}

/* The frames are read twice: who is there, then where they are. */
static TlStatus read_frames(const char *run, const TlScene *scene, const bool *round, Members *all,
                            TlReportMotion *m) {
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t f = 0; f < m->frames; f++) {
      TlFrame frame;
      TL_TRY(tl_results_read_frame(run, m->index[f], &frame));
      TlStatus status = TL_OK;
      if (pass == 0)
        status = add_members(scene, round, &frame, all);
      else
        status = take_rows(scene, &frame, all, f, m);
      tl_frame_free(&frame);
      if (status == TL_OK && pass == 1) status = take_forces(run, all, f, m);
      TL_TRY(tl_context(status, "%s", run));
    }
    if (pass == 0) TL_TRY(new_motion(all, m));
  }
  hold(m);
  return TL_OK;
}

TlStatus tl_report_motion_read(const char *run, const TlScene *scene, int64_t stride,
                               TlReportMotion *m) {
  Members all = {0};
  bool *round = NULL;
  *m = (TlReportMotion){0};
  TlStatus status = TL_NEW(round, (size_t)scene->avatar_count);
  for (int64_t i = 0; status == TL_OK && i < scene->avatar_count; i++)
    round[i] = is_round(&scene->avatars[i]);
  if (status == TL_OK) status = choose_frames(run, stride, m);
  if (status == TL_OK) status = read_frames(run, scene, round, &all, m);
  tl_free(round);
  tl_free(all.item);
  if (status != TL_OK) tl_report_motion_free(m);
  return status;
}

/* ---- packing ---- */

TlReportMotionSteps tl_report_motion_steps(const TlReportMotion *m, const TlScene *scene) {
  TlReportMotionSteps s = {.step_m = 0, .low_m = {INFINITY, INFINITY, INFINITY}};
  double high = 0, *radius = tl_calloc((size_t)m->bodies + 1, sizeof *radius);
  int64_t grains = 0;
  for (int64_t i = 0; i < m->bodies * m->frames; i++) {
    TlVec3 p = m->place_m[i];
    s.low_m = tl_vec3(fmin(s.low_m.x, p.x), fmin(s.low_m.y, p.y), fmin(s.low_m.z, p.z));
  }
  for (int64_t i = 0; i < m->bodies * m->frames; i++) {
    TlVec3 d = tl_sub(m->place_m[i], s.low_m);
    high = fmax(high, fmax(d.x, fmax(d.y, d.z)));
  }
  for (int64_t b = 0; radius && b < m->bodies; b++)
    if (tl_report_motion_grain(m, b))
      radius[grains++] = 0.5 * m->scale[b] * tl_avatar_diameter_m(&scene->avatars[m->shape[b]]);
  if (radius) qsort(radius, (size_t)grains, sizeof *radius, tl_by_real);
  if (radius && grains > 0) s.step_m = radius[grains / 2] / 128;
  tl_free(radius);
  /* differences of places have to fit into 32 bits */
  s.step_m = fmax(s.step_m, high / 100e6);
  if (!(s.step_m > 0)) s.step_m = 1e-6;
  return s;
}

static uint32_t zigzag(int64_t x) {
  return (uint32_t)(x < 0 ? -2 * x - 1 : 2 * x);
}

/* value n of an array of count, into the planes of its bytes */
static void put_planes(uint8_t *to, int64_t count, int64_t n, uint32_t value, int bytes) {
  for (int b = 0; b < bytes; b++) to[b * count + n] = (uint8_t)(value >> 8 * b);
}

static int64_t foretold(const int64_t *q, int64_t f, int order) {
  if (f < order) order = (int)f;
  switch (order) {
  case 0:
    return 0;
  case 1:
    return q[f - 1];
  case 2:
    return 2 * q[f - 1] - q[f - 2];
  default:
    return 3 * q[f - 1] - 3 * q[f - 2] + q[f - 3];
  }
}

static double component(TlVec3 p, int axis) {
  return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

static TlStatus pack_places(const TlReportMotion *m, const TlReportMotionSteps *s,
                            TlReportData *data) {
  int64_t n = m->bodies * m->frames, *q = NULL;
  uint8_t *planes = NULL, *order = NULL;
  TlStatus status = TL_NEW(planes, 12 * (size_t)n);
  if (status == TL_OK) status = TL_NEW(order, 3 * (size_t)m->bodies);
  if (status == TL_OK) status = TL_NEW(q, (size_t)m->frames);
  for (int64_t line = 0; status == TL_OK && line < 3 * m->bodies; line++) {
    int axis = (int)(line / m->bodies), best = 1;
    int64_t b = line % m->bodies;
    double least = INFINITY, low = component(s->low_m, axis);
    for (int64_t f = 0; f < m->frames; f++)
      q[f] = llround((component(m->place_m[tl_report_motion_at(m, b, f)], axis) - low) / s->step_m);
    for (int k = 1; k <= 3; k++) {
      double bits = 0;
      for (int64_t f = 0; f < m->frames; f++)
        bits += log2(1 + (double)zigzag(q[f] - foretold(q, f, k)));
      if (bits < least) {
        least = bits;
        best = k;
      }
    }
    order[line] = (uint8_t)best;
    for (int64_t f = 0; f < m->frames; f++)
      put_planes(planes, 3 * n, line * m->frames + f, zigzag(q[f] - foretold(q, f, best)), 4);
  }
  if (status == TL_OK) status = tl_data_add(data, "place", planes, 12 * (size_t)n);
  if (status == TL_OK) status = tl_data_add(data, "order", order, 3 * (size_t)m->bodies);
  tl_free(planes);
  tl_free(order);
  tl_free(q);
  return status;
}

/* The component left out, and the other three in steps. */
static int turn_steps(TlQuat q, int32_t steps[3]) {
  const double c[4] = {q.w, q.x, q.y, q.z};
  int left = 0, k = 0;
  for (int i = 1; i < 4; i++)
    if (fabs(c[i]) > fabs(c[left])) left = i;
  for (int i = 0; i < 4; i++) {
    if (i == left) continue;
    double x = (c[left] < 0 ? -c[i] : c[i]) * M_SQRT2;
    steps[k++] = (int32_t)lround(0.5 * (fmin(1, fmax(-1, x)) + 1) * (TL_TURN_STEPS - 1));
  }
  return left;
}

static TlStatus pack_turns(const TlReportMotion *m, TlReportData *data) {
  int64_t n = m->turning * m->frames;
  uint8_t *planes = NULL, *left = NULL, *slow = NULL;
  TlStatus status = TL_NEW(planes, 6 * (size_t)n);
  if (status == TL_OK) status = TL_NEW(left, (size_t)n);
  if (status == TL_OK) status = TL_NEW(slow, (size_t)m->turning);
  for (int64_t b = 0; status == TL_OK && b < m->turning; b++) {
    double bits = 0, plain = log2(TL_TURN_STEPS);
    for (int pass = 0; pass < 2; pass++) {
      int32_t now[3] = {0, 0, 0}, before[3] = {0, 0, 0};
      for (int64_t f = 0; f < m->frames; f++) {
        int64_t at = tl_report_motion_at(m, b, f);
        left[at] = (uint8_t)turn_steps(m->turn[at], now);
        for (int c = 0; c < 3; c++) {
          int32_t d = now[c] - before[c];
          if (d > TL_TURN_STEPS / 2) d -= TL_TURN_STEPS;
          if (d < -TL_TURN_STEPS / 2) d += TL_TURN_STEPS;
          if (pass == 0)
            bits += log2(1 + (double)zigzag(d)) - plain;
          else
            put_planes(planes, 3 * n, c * n + at, slow[b] ? zigzag(d) : (uint32_t)now[c], 2);
          before[c] = now[c];
        }
      }
      slow[b] = bits < 0;
    }
  }
  if (status == TL_OK) status = tl_data_add(data, "turn", planes, 6 * (size_t)n);
  if (status == TL_OK) status = tl_data_add(data, "left", left, (size_t)n);
  if (status == TL_OK) status = tl_data_add(data, "slow", slow, (size_t)m->turning);
  tl_free(planes);
  tl_free(left);
  tl_free(slow);
  return status;
}

static TlStatus pack_scalar(const TlReportMotion *m, const char *name, const double *value,
                            double largest, TlReportData *data) {
  int64_t n = m->bodies * m->frames;
  uint8_t *bytes;
  TL_TRY(TL_NEW(bytes, (size_t)n));
  for (int64_t i = 0; i < n; i++)
    if (m->there[i])
      bytes[i] = (uint8_t)(1 + lround(254 * sqrt(fmin(1, largest > 0 ? value[i] / largest : 0))));
  TlStatus status = tl_data_add_series(data, name, bytes, (size_t)n);
  tl_free(bytes);
  return status;
}

TlStatus tl_report_motion_pack(const TlReportMotion *m, const TlReportMotionSteps *steps,
                               TlReportData *data) {
  TL_TRY(pack_places(m, steps, data));
  TL_TRY(pack_turns(m, data));
  TL_TRY(pack_scalar(m, "speed", m->speed_m_s, m->largest_speed_m_s, data));
  if (!m->force_N) return TL_OK;
  return pack_scalar(m, "force", m->force_N, m->largest_force_N, data);
}
