#include "post/measure.h"

#include "base/log.h"
#include "base/mem.h"
#include "post/ensemble_scene.h"
#include "shape/moving.h"
#include "store/scene_depth.h"

#include <math.h>
#include <stdio.h>

static TlStatus avatar_of(const TlScene *scene, const TlBodyRow *row, const TlAvatar **avatar,
                          double *density) {
  *avatar = tl_scene_avatar(scene, row->avatar_id);
  if (*avatar) return tl_scene_density(scene, row, density);
  return tl_fail(TL_EINPUT, "body %lld uses avatar %lld, which is not in run.h5",
                 (long long)row->id, (long long)row->avatar_id);
}

static TlVec3 gravity_of(const TlScene *scene) {
  return tl_vec3(scene->gravity_m_s2[0], scene->gravity_m_s2[1], scene->gravity_m_s2[2]);
}

static TlVec3 up_of(const TlScene *scene) {
  TlVec3 g = gravity_of(scene);
  return tl_norm(g) > 0 ? tl_scale(-1, tl_unit(g)) : tl_vec3(0, 0, 1);
}

static TlVec3 horizontal(TlVec3 v, TlVec3 up) {
  return tl_axpy(v, -tl_dot(v, up), up);
}

static double mass_of(double density, const TlAvatar *a, double s) {
  return density * a->volume_m3 * s * s * s;
}

TlStatus tl_measure_mass(const TlScene *scene, const TlBodyRow *row, double *mass_kg) {
  const TlAvatar *a;
  double density;
  TL_TRY(avatar_of(scene, row, &a, &density));
  *mass_kg = mass_of(density, a, row->scale);
  return TL_OK;
}

/* Of the spin: 1/2 sum of I_k (omega_k in the body frame)^2. */
TlStatus tl_measure_kinetic(const TlScene *scene, const TlBodyRow *row, double *translational_J,
                            double *rotational_J) {
  const TlAvatar *a;
  double density;
  TL_TRY(avatar_of(scene, row, &a, &density));
  TlVec3 w = tl_mat_tvec(tl_quat_matrix(row->rotation), row->spin_rad_s), i = a->inertia_m5;
  *translational_J = 0.5 * mass_of(density, a, row->scale) * tl_norm2(row->velocity_m_s);
  *rotational_J =
      0.5 * density * pow(row->scale, 5) * (i.x * w.x * w.x + i.y * w.y * w.y + i.z * w.z * w.z);
  return TL_OK;
}

/* Of a grain that was taken out of the run: those that were not are in the frame. */
static TlStatus departed_mass(const TlScene *scene, const TlDeparture *d, double *mass) {
  const TlAvatar *a;
  const TlBodyRow row = {.id = d->id, .avatar_id = d->avatar_id, .material = d->material};
  double density;
  TL_TRY(avatar_of(scene, &row, &a, &density));
  *mass = d->removed ? mass_of(density, a, d->scale) : 0;
  return TL_OK;
}

/* mass: of the frame's grains; centre: with those that are gone, where they left. */
static TlStatus mass_centre(const TlScene *scene, const TlFrame *frame,
                            const TlDepartures *departures, double *mass, TlVec3 *centre) {
  TlVec3 sum = {0, 0, 0};
  double all;
  *mass = 0;
  for (int64_t i = 0; i < frame->count; i++) {
    double m;
    TL_TRY(tl_measure_mass(scene, &frame->rows[i], &m));
    sum = tl_axpy(sum, m, frame->rows[i].position_m);
    *mass += m;
  }
  all = *mass;
  int64_t gone = tl_departures_until(departures, frame->step);
  for (int64_t i = 0; i < gone; i++) {
    double m;
    TL_TRY(departed_mass(scene, &departures->row[i], &m));
    sum = tl_axpy(sum, m, departures->row[i].position_m);
    all += m;
  }
  *centre = all > 0 ? tl_scale(1 / all, sum) : sum;
  return TL_OK;
}

static const TlBodyRow *row_of(const TlFrame *frame, int64_t id) {
  int64_t low = 0, high = frame->count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (frame->rows[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < frame->count && frame->rows[low].id == id ? &frame->rows[low] : NULL;
}

int tl_measure_still(const TlScene *scene) {
  return TL_ROW_NET | TL_ROW_FROZEN | (tl_scene_has_joints(scene) ? 0 : TL_ROW_GUIDED);
}

TlStatus tl_measure_motion(const TlScene *scene, const TlFrame *frame, int never,
                           TlFrameMotion *motion) {
  double g = tl_norm(gravity_of(scene)), mass = 0, moving = 0;
  *motion = (TlFrameMotion){0};
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i];
    const TlAvatar *a;
    double density;
    if (row->flags & never) continue;
    TL_TRY(avatar_of(scene, row, &a, &density));
    double m = mass_of(density, a, row->scale), diameter = row->scale * tl_avatar_diameter_m(a),
           pace = tl_pace(row->velocity_m_s, row->spin_rad_s, diameter, g),
           speed = tl_norm(row->velocity_m_s);
    mass += m;
    if (pace > tl_moving_pace) moving += m;
    motion->largest_pace = fmax(motion->largest_pace, pace);
    motion->mean_speed_m_s += speed;
    motion->max_speed_m_s = fmax(motion->max_speed_m_s, speed);
    motion->bodies++;
  }
  if (motion->bodies == 0) return TL_OK;
  motion->mean_speed_m_s /= (double)motion->bodies;
  if (mass > 0) motion->moving_fraction = moving / mass;
  motion->at_rest = tl_at_rest(motion->moving_fraction, motion->largest_pace, tl_resting_fraction);
  return TL_OK;
}

static TlStatus energies(const TlScene *scene, const TlFrame *first, const TlFrame *frame,
                         TlFrameMeasure *out) {
  TlVec3 g = gravity_of(scene);
  for (int64_t i = 0; i < frame->count; i++) {
    const TlBodyRow *row = &frame->rows[i], *start = row_of(first, row->id);
    const TlAvatar *a;
    double density;
    double translational, rotational;
    TL_TRY(avatar_of(scene, row, &a, &density));
    TL_TRY(tl_measure_kinetic(scene, row, &translational, &rotational));
    double m = mass_of(density, a, row->scale);
    out->translational_J += translational;
    out->rotational_J += rotational;
    if (start) out->potential_J -= m * tl_dot(g, tl_sub(row->position_m, start->position_m));
    out->contacts_per_grain += row->contacts;
    out->without_contact += row->contacts == 0;
  }
  if (frame->count) out->contacts_per_grain /= (double)frame->count;
  return TL_OK;
}

/* By departures.csv; a run without one has only flags of grains that were frozen outside. */
static TlStatus count_gone(const TlScene *scene, const TlFrame *first, const TlFrame *frame,
                           const TlDepartures *departures, TlFrameMeasure *out) {
  TlVec3 g = gravity_of(scene);
  int64_t left = tl_departures_until(departures, frame->step);
  for (int64_t i = 0; i < frame->count && !departures->there; i++)
    out->outside += frame->rows[i].flags & TL_ROW_OUTSIDE;
  for (int64_t i = 0; i < left; i++) {
    const TlDeparture *d = &departures->row[i];
    const TlBodyRow *start = row_of(first, d->id);
    double m;
    TL_TRY(departed_mass(scene, d, &m));
    out->gone += d->removed;
    out->outside += tl_departure_outside(d);
    if (start && d->removed)
      out->potential_J -= m * tl_dot(g, tl_sub(d->position_m, start->position_m));
  }
  return TL_OK;
}

typedef struct Extent {
  TlVec3 start, e, across, front; /* front: place of the farthest grain */
  double low, high, left, right;
} Extent;

static void extend(Extent *x, TlVec3 at) {
  TlVec3 d = tl_sub(at, x->start);
  double along = tl_dot(d, x->e), side = tl_dot(d, x->across);
  if (along > x->high) x->front = at;
  x->high = fmax(x->high, along);
  x->low = fmin(x->low, along);
  x->left = fmin(x->left, side);
  x->right = fmax(x->right, side);
}

/* Extent of the grain centres along and across e, and the front grain's place. */
static void extents(const TlFrame *frame, const TlDepartures *departures, TlVec3 start, TlVec3 up,
                    TlVec3 e, TlFrameMeasure *out, TlVec3 *front) {
  Extent x = {start, e, tl_cross(up, e), {0, 0, 0}, INFINITY, -INFINITY, INFINITY, -INFINITY};
  int64_t gone = tl_departures_until(departures, frame->step);
  for (int64_t i = 0; i < frame->count; i++) extend(&x, frame->rows[i].position_m);
  for (int64_t i = 0; i < gone; i++)
    if (departures->row[i].removed) extend(&x, departures->row[i].position_m);
  out->front_m = out->tail_m = out->width_m = NAN;
  if (x.low > x.high) return;
  out->front_m = x.high;
  out->tail_m = x.low;
  out->width_m = x.right - x.left;
  *front = x.front;
}

static TlVec3 highest(const TlFrame *frame, TlVec3 up) {
  TlVec3 top = frame->rows[0].position_m;
  for (int64_t i = 1; i < frame->count; i++)
    if (tl_dot(frame->rows[i].position_m, up) > tl_dot(top, up)) top = frame->rows[i].position_m;
  return top;
}

/* Slope angle of the line from one point down to another; NaN without horizontal distance. */
static double slope_deg(TlVec3 from, TlVec3 to, TlVec3 up) {
  TlVec3 d = tl_sub(from, to);
  double length = tl_norm(horizontal(d, up));
  return length > 0 ? atan2(tl_dot(d, up), length) * TL_DEG : NAN;
}

TlStatus tl_measure_frame(const TlScene *scene, const TlFrame *first, const TlFrame *frame,
                          const TlDepartures *departures, TlVec3 up, TlVec3 e,
                          TlFrameMeasure *out) {
  *out = (TlFrameMeasure){
      .index = frame->index, .step = frame->step, .time_s = frame->time_s, .bodies = frame->count};
  double mass;
  TlVec3 start, front = {0, 0, 0};
  TL_TRY(mass_centre(scene, first, departures, &mass, &start));
  TL_TRY(mass_centre(scene, frame, departures, &out->mass_kg, &out->centre_m));
  TL_TRY(energies(scene, first, frame, out));
  TL_TRY(count_gone(scene, first, frame, departures, out));
  extents(frame, departures, start, up, e, out, &front);
  TlVec3 moved = tl_sub(out->centre_m, start);
  out->travel_m = tl_norm(horizontal(moved, up));
  out->drop_m = 0 - tl_dot(moved, up); /* no -0 in tables */
  out->travel_angle_deg = slope_deg(start, out->centre_m, up);
  out->reach_angle_deg =
      isfinite(out->front_m) && first->count ? slope_deg(highest(first, up), front, up) : NAN;
  return TL_OK;
}

/* ---- grains of the last frame ---- */

bool tl_measure_ground(const TlScene *scene, double x, double y, double *z) {
  bool there = scene->has_terrain && tl_terrain_height(&scene->terrain, x, y, z, NULL);
  for (int64_t i = 0; i < scene->plane_count; i++) {
    const TlPlane *p = &scene->planes[i];
    if (p->normal.z < 0.1) continue; /* a wall */
    double height =
        p->point_m.z -
        (p->normal.x * (x - p->point_m.x) + p->normal.y * (y - p->point_m.y)) / p->normal.z;
    *z = there ? fmax(*z, height) : height;
    there = true;
  }
  return there;
}

TlStatus tl_measure_grain(const TlScene *scene, const TlPlacement *place, const TlBodyRow *row,
                          TlGrainMeasure *out) {
  const TlAvatar *a;
  double density;
  TL_TRY(avatar_of(scene, row, &a, &density));
  TlMat3 r = tl_quat_matrix(row->rotation);
  double top = -INFINITY, ground;
  TlGrainDepth depth = tl_scene_grain_depth(scene, place, a, row);
  for (int32_t n = 0; n < a->node_count; n++) {
    TlVec3 node = tl_vec3(a->node_m[3 * n], a->node_m[3 * n + 1], a->node_m[3 * n + 2]);
    TlVec3 p = tl_axpy(row->position_m, row->scale, tl_mat_vec(r, node));
    top = fmax(top, p.z);
  }
  bool below = tl_measure_ground(scene, row->position_m.x, row->position_m.y, &ground);
  *out = (TlGrainMeasure){.id = row->id,
                          .avatar_id = row->avatar_id,
                          .position_m = row->position_m,
                          .radius_m = 0.5 * row->scale * tl_avatar_diameter_m(a),
                          .speed_m_s = tl_norm(row->velocity_m_s),
                          .top_m = below ? top - ground : NAN,
                          .penetration_m = depth.depth_m,
                          .judged = depth.judged,
                          .contacts = row->contacts,
                          .flags = row->flags};
  return TL_OK;
}

static TlGrainMeasure without_depth(TlGrainMeasure g) {
  g.penetration_m = 0;
  g.judged = false;
  return g;
}

static TlStatus measure_placed(const TlScene *scene, const TlPlacement *place, const TlFrame *last,
                               TlMeasure *m) {
  TlDepths depths = {0};
  bool other = tl_scene_other_grounds(scene);
  TL_TRY(TL_NEW(m->grain, (size_t)last->count));
  m->grain_count = last->count;
  for (int64_t i = 0; i < last->count; i++) {
    TlGrainMeasure *g = &m->grain[i];
    TL_TRY(tl_measure_grain(scene, place, &last->rows[i], g));
    if (other) *g = without_depth(*g);
    if (g->flags & TL_ROW_FROZEN) continue; /* placed so, or left the terrain */
    m->small += scene->has_terrain && 2 * g->radius_m < scene->terrain.cell_m;
    if (other) continue;
    tl_depths_add(&depths, g->id, g->radius_m, (TlGrainDepth){g->penetration_m, g->judged});
  }
  m->unjudged = depths.unjudged;
  m->below_2_percent = depths.deep;
  m->largest_penetration_m = depths.depth_m;
  m->largest_penetration_fraction = depths.fraction;
  m->deepest_id = depths.fraction > 0 ? depths.deepest : -1;
  return TL_OK;
}

static TlStatus measure_grains(const TlScene *scene, const TlFrame *last, TlMeasure *m) {
  TlPlacement *place;
  TL_TRY(TL_NEW(place, (size_t)scene->part_count));
  for (int64_t i = 0; i < scene->part_count; i++)
    place[i] = tl_scene_place(scene, &scene->parts[i], last);
  TlStatus status = measure_placed(scene, place, last, m);
  tl_free(place);
  return status;
}

/* ---- the run ---- */

static TlStatus travel_direction(const TlScene *scene, const TlFrame *first, const TlFrame *last,
                                 TlMeasure *m) {
  double mass;
  TlVec3 from, to;
  const TlDepartures none = {.there = true};
  TL_TRY(mass_centre(scene, first, &none, &mass, &from));
  TL_TRY(mass_centre(scene, last, &none, &mass, &m->deposit_centre_m));
  TL_TRY(mass_centre(scene, last, &m->departures, &mass, &to));
  m->up = up_of(scene);
  TlVec3 e = horizontal(tl_sub(to, from), m->up);
  if (!(tl_norm(e) > 0) || last->count == 0) e = horizontal(tl_vec3(1, 0, 0), m->up);
  if (!(tl_norm(e) > 0)) e = horizontal(tl_vec3(0, 1, 0), m->up);
  m->travel_direction = tl_unit(e);
  return TL_OK;
}

/* Nets are no grains (their spheres have another density and stay where they are hung), nor are
 * bodies on pistons and joints, nor what the study placed as fixed. */
static void keep_grains(TlFrame *frame) {
  int64_t kept = 0;
  for (int64_t i = 0; i < frame->count; i++)
    if (!(frame->rows[i].flags & TL_ROW_NO_GRAIN)) frame->rows[kept++] = frame->rows[i];
  frame->count = kept;
}

static TlStatus read_grains(const char *folder, int64_t index, TlFrame *frame) {
  TL_TRY(tl_results_read_frame(folder, index, frame));
  keep_grains(frame);
  return TL_OK;
}

/* Nothing tells where those were at the start that came in later. */
static void forget_start(TlFrameMeasure *f) {
  f->potential_J = f->travel_m = f->drop_m = f->travel_angle_deg = NAN;
}

static TlStatus measure_frames(const char *folder, const TlScene *scene, const int64_t *index,
                               const TlFrame *first, TlMeasure *m) {
  int never = tl_measure_still(scene);
  for (int64_t i = 0; i < m->frame_count; i++) {
    TlFrame frame;
    TlFrameMotion motion;
    TL_TRY(tl_results_read_frame(folder, index[i], &frame));
    TlStatus status = tl_measure_motion(scene, &frame, never, &motion);
    keep_grains(&frame);
    if (status == TL_OK)
      status = tl_measure_frame(scene, first, &frame, &m->departures, m->up, m->travel_direction,
                                &m->frame[i]);
    m->frame[i].motion = motion;
    if (m->joined > 0) forget_start(&m->frame[i]);
    tl_frame_free(&frame);
    if (status != TL_OK) return tl_context(status, "%s: frame %lld", folder, (long long)index[i]);
  }
  return TL_OK;
}

static TlStatus measure_all(const char *folder, const TlScene *scene,
                            const TlMeasureOptions *options, const int64_t *index,
                            const TlFrame *first, const TlFrame *last, TlMeasure *m) {
  TL_TRY(tl_context(travel_direction(scene, first, last, m), "%s", folder));
  TL_TRY(TL_NEW(m->frame, (size_t)m->frame_count));
  for (int64_t i = 0; i < last->count; i++) m->joined += row_of(first, last->rows[i].id) == NULL;
  for (int64_t i = 0; i < m->departures.count; i++)
    m->joined += m->departures.row[i].removed && row_of(first, m->departures.row[i].id) == NULL;
  TL_TRY(measure_frames(folder, scene, index, first, m));
  TL_TRY(tl_context(measure_grains(scene, last, m), "%s", folder));
  if (!tl_scene_is_ensemble(scene)) TL_TRY(tl_measure_overlap(scene, last, m));
  for (int64_t i = 0; i < first->count && !m->departures.there; i++)
    m->lost += row_of(last, first->rows[i].id) == NULL;
  m->has_ground = scene->has_terrain || scene->plane_count > 0;
  m->has_solid = (m->has_ground || scene->part_count > 0) && !tl_scene_other_grounds(scene);
  if (!m->has_ground || last->count == 0) return TL_OK;
  return tl_measure_deposit(scene, last, m, options->cell_m, &m->deposit);
}

/* Frames are numbered without gaps: of one that is not there nothing is in the tables. */
static void warn_of_missing(const char *folder, const int64_t *index, int64_t count) {
  char list[200] = "";
  size_t used = 0;
  int64_t missing = 0;
  for (int64_t i = 1; i < count; i++) {
    int64_t from = index[i - 1] + 1, to = index[i] - 1;
    if (from > to) continue;
    missing += to - from + 1;
    if (used + 48 > sizeof list) continue; /* the list ends, the number counts all */
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%lld", used ? ", " : "",
                             (long long)from);
    if (to > from)
      used += (size_t)snprintf(list + used, sizeof list - used, " to %lld", (long long)to);
  }
  if (missing > 0)
    tl_log_warn(
        "%s: frames between the first and the last are missing (%s; %lld in all): the tables "
        "have no lines of them",
        folder, list, (long long)missing);
}

TlStatus tl_measure_run(const char *folder, const TlScene *scene, const TlMeasureOptions *options,
                        TlMeasure *m) {
  *m = (TlMeasure){0};
  int64_t *index;
  TlFrame first = {0}, last = {0};
  TL_TRY(tl_results_frames(folder, &index, &m->frame_count));
  TlStatus status = TL_OK;
  if (m->frame_count == 0)
    status = tl_fail(TL_EINPUT, "%s: holds no frames; was the study run?", folder);
  warn_of_missing(folder, index, m->frame_count);
  if (status == TL_OK) status = tl_departures_read(folder, &m->departures);
  for (int64_t i = 0; status == TL_OK && i < m->frame_count && first.count == 0; i++) {
    tl_frame_free(&first); /* of poured grains the first frames may hold none */
    status = read_grains(folder, index[i], &first);
  }
  if (status == TL_OK) status = read_grains(folder, index[m->frame_count - 1], &last);
  if (status == TL_OK) status = measure_all(folder, scene, options, index, &first, &last, m);
  tl_frame_free(&first);
  tl_frame_free(&last);
  tl_free(index);
  if (status != TL_OK) tl_measure_free(m);
  return status;
}

void tl_measure_free(TlMeasure *m) {
  tl_free(m->frame);
  tl_free(m->grain);
  tl_departures_free(&m->departures);
  tl_free(m->deposit.top_m);
  tl_free(m->deposit.ground_m);
  tl_free(m->deposit.solid_m);
  *m = (TlMeasure){0};
}
