#include "post/packing.h"

#include "base/mem.h"
/* ---- the table of measures ---- */

const TlPackMeasure *tl_pack_measure(int number) {
  static const TlPackMeasure *const all[] = {
#define M(name) &tl_pack_##name,
      TL_PACK_MEASURES(M)
#undef M
  };
  return number < (int)(sizeof all / sizeof *all) ? all[number] : NULL;
}

TlStatus tl_pack_values(const TlPackMeasure *m, const TlPacking *p, const TlRegion *region,
                        double *values) {
  unsigned char *row;
  TL_TRY(TL_NEW(row, m->size));
  TlStatus status = m->measure(p, region, row);
  for (int i = 0; status == TL_OK && i < m->count; i++) values[i] = m->column[i].get(row);
  tl_free(row);
  return status;
}

char *tl_pack_reference(void) {
  char *text = tl_strdup(
      "\n## packing.csv\n\nWritten by `talus-measure --packing`, whose option `--columns` prints "
      "this section. A line describes the\npacking in a frame; its formulas and sources stand in "
      "[results](results.md).\n\n| column | unit | meaning |\n|---|---|---|\n"
      "| `frame` |  | number of the frame |\n| `step` |  | number of the step |\n"
      "| `time_s` | s | time |\n");
  for (int k = 0; text && tl_pack_measure(k); k++) {
    char *rows = tl_columns_text(tl_pack_measure(k)->column, tl_pack_measure(k)->count);
    char *longer = rows ? tl_format("%s%s", text, rows) : NULL;
    tl_free(rows);
    tl_free(text);
    text = longer;
  }
  return text;
}

void tl_packing_free(TlPacking *p) {
  tl_free(p->grain);
  tl_free(p->contact);
  tl_free(p->pair);
  *p = (TlPacking){0};
}

/* ---- from a frame ---- */

/* Of the least moment of inertia, when it is told from the next. */
static TlVec3 long_axis(const TlAvatar *a, TlQuat rotation) {
  const double apart = 0.01;
  TlVec3 i = a->inertia_m5;
  if (!(i.y - i.x > apart * i.y)) return tl_vec3(0, 0, 0);
  return tl_quat_rotate(rotation, tl_vec3(1, 0, 0));
}

static TlStatus take_grain(const TlScene *scene, const TlBodyRow *row, TlPackGrain *g) {
  const TlAvatar *a = tl_scene_avatar(scene, row->avatar_id);
  if (!a)
    return tl_fail(TL_EINPUT, "grain %lld uses avatar %lld, which is not in run.h5",
                   (long long)row->id, (long long)row->avatar_id);
  double density;
  TL_TRY(tl_scene_density(scene, row, &density));
  double s = row->scale, volume = a->volume_m3 * s * s * s;
  *g = (TlPackGrain){.id = row->id,
                     .centre_m = row->position_m,
                     .velocity_m_s = row->velocity_m_s,
                     .long_axis = long_axis(a, row->rotation),
                     .volume_m3 = volume,
                     .mass_kg = density * volume,
                     .diameter_m = s * tl_avatar_diameter_m(a),
                     .fixed = row->flags & (TL_ROW_FROZEN | TL_ROW_GUIDED),
                     .avatar = a,
                     .scale = s,
                     .rotation = row->rotation};
  return TL_OK;
}

/* Index of the grain; -1: none of the packing's. */
static int64_t index_of(const TlPacking *p, int64_t id) {
  int64_t low = 0, high = p->grain_count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (p->grain[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < p->grain_count && p->grain[low].id == id ? low : -1;
}

/* What is no grain is a boundary: ids of boundaries stay as they are, others are put behind. */
static int64_t outside(int64_t id) {
  return id < 0 ? id : -1 - (INT64_C(1) << 32) - id;
}

static void take_contact(TlPacking *p, const TlContactRow *c) {
  int64_t a = index_of(p, c->first), b = index_of(p, c->second);
  TlPackContact *to = &p->contact[p->contact_count];
  if (a < 0 && b < 0) return;
  *to = (TlPackContact){
      a, b < 0 ? outside(c->second) : b, c->point_m, c->normal, c->force_N, c->friction};
  if (a < 0)
    *to = (TlPackContact){b,
                          outside(c->first),
                          c->point_m,
                          tl_scale(-1, c->normal),
                          tl_scale(-1, c->force_N),
                          c->friction};
  p->contact_count++;
}

/* Grains that are parts of one body; row: of each grain. */
static TlStatus join_bodies(TlPacking *p, const TlBodyRow *const *row) {
  TlPackGrain *g = p->grain;
  TlVec3 *moment;
  double *mass = NULL, *volume = NULL;
  bool any = false;
  for (int64_t i = 0; i < p->grain_count; i++) {
    int64_t whole = row[i]->body == g[i].id ? -1 : index_of(p, row[i]->body);
    if (whole < 0) continue;
    g[i].part_of = g[whole].part_of = 1 + whole;
    any = true;
  }
  if (!any) return TL_OK;
  TlStatus status = TL_NEW(moment, (size_t)p->grain_count);
  if (status == TL_OK) status = TL_NEW(mass, (size_t)p->grain_count);
  if (status == TL_OK) status = TL_NEW(volume, (size_t)p->grain_count);
  for (int64_t i = 0; status == TL_OK && i < p->grain_count; i++) {
    int64_t whole = tl_pack_body(g, i);
    moment[whole] = tl_axpy(moment[whole], g[i].mass_kg, g[i].centre_m);
    mass[whole] += g[i].mass_kg;
    volume[whole] += g[i].volume_m3;
  }
  for (int64_t i = 0; status == TL_OK && i < p->grain_count; i++) {
    int64_t whole = tl_pack_body(g, i);
    if (!g[i].part_of) continue;
    g[i].arm_m = tl_sub(g[i].centre_m, tl_scale(1 / mass[whole], moment[whole]));
    g[i].whole_m3 = volume[whole];
  }
  tl_free(moment);
  tl_free(mass);
  tl_free(volume);
  return status;
}

static TlStatus fill(const TlScene *scene, const TlFrame *frame, const TlFrameContacts *contacts,
                     TlPacking *p) {
  TL_TRY(TL_NEW(p->grain, (size_t)frame->count));
  TL_TRY(TL_NEW(p->contact, (size_t)contacts->count));
  const TlBodyRow **row;
  TL_TRY(TL_NEW(row, (size_t)frame->count));
  TlStatus status = TL_OK;
  for (int64_t i = 0; status == TL_OK && i < frame->count; i++) {
    if (frame->rows[i].flags & TL_ROW_NO_GRAIN) continue;
    row[p->grain_count] = &frame->rows[i];
    status = take_grain(scene, &frame->rows[i], &p->grain[p->grain_count++]);
  }
  if (status == TL_OK) status = join_bodies(p, row);
  tl_free(row);
  TL_TRY(status);
  for (int64_t i = 0; i < contacts->count; i++) take_contact(p, &contacts->rows[i]);
  return tl_packing_pairs(p);
}

TlStatus tl_packing_make(const TlScene *scene, const TlFrame *frame,
                         const TlFrameContacts *contacts, TlPacking *packing) {
  const double *g = scene->gravity_m_s2;
  *packing =
      (TlPacking){.density_kg_m3 = scene->density_kg_m3, .gravity_m_s2 = tl_vec3(g[0], g[1], g[2])};
  TlStatus status = fill(scene, frame, contacts, packing);
  if (status != TL_OK) tl_packing_free(packing);
  return status;
}

/* ---- pairs ---- */

static void add_point(TlPackPair *pair, const TlPackContact *c) {
  double n = tl_dot(c->force_N, c->normal);
  pair->normal = tl_axpy(pair->normal, n, c->normal);
  pair->force_N = tl_add(pair->force_N, c->force_N);
  pair->normal_N += n;
  pair->tangent_N += tl_norm(tl_axpy(c->force_N, -n, c->normal));
}

TlStatus tl_packing_pairs(TlPacking *p) {
  tl_free(p->pair);
  TL_TRY(TL_NEW(p->pair, (size_t)p->contact_count));
  p->pair_count = 0;
  for (int64_t i = 0; i < p->contact_count; i++) {
    const TlPackContact *c = &p->contact[i], *last = i ? c - 1 : NULL;
    if (!last || last->a != c->a || last->b != c->b)
      p->pair[p->pair_count++] = (TlPackPair){.a = c->a, .b = c->b, .friction = c->friction};
    add_point(&p->pair[p->pair_count - 1], c);
  }
  for (int64_t k = 0; k < p->pair_count; k++) p->pair[k].normal = tl_unit(p->pair[k].normal);
  return TL_OK;
}

/* ---- bounds ---- */

static void widen(TlRegion *r, TlVec3 x) {
  r->low = tl_vec3(fmin(r->low.x, x.x), fmin(r->low.y, x.y), fmin(r->low.z, x.z));
  r->high = tl_vec3(fmax(r->high.x, x.x), fmax(r->high.y, x.y), fmax(r->high.z, x.z));
}

TlRegion tl_packing_bounds(const TlPacking *p) {
  TlRegion r = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
  for (int64_t i = 0; i < p->grain_count; i++) {
    const TlPackGrain *g = &p->grain[i];
    TlMat3 turn = tl_quat_matrix(g->rotation);
    widen(&r, g->centre_m);
    for (int32_t n = 0; g->avatar && n < g->avatar->node_count; n++) {
      const float *x = g->avatar->node_m + 3 * (size_t)n;
      widen(&r, tl_axpy(g->centre_m, g->scale, tl_mat_vec(turn, tl_vec3(x[0], x[1], x[2]))));
    }
  }
  return r;
}
