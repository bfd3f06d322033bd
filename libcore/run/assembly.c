#include "run/assembly.h"

#include "base/mem.h"
#include "base/random.h"
#include "run/bodies.h"
#include "run/handout.h"
#include "run/assembly_kinds.h"
#include "run/materials.h"

#include <math.h>

/* Towards the ground phi falls by at most the distance moved: lifting by what is missing never clears
 * more than needed, and on a slope of normal n the rest shrinks by 1 - n_z a turn. */
bool tl_ground_lift(const TlTerrain *terrain, TlVec3 centre, double radius_m, double gap_m,
                    double *lift_m) {
  double need = radius_m + gap_m, start = centre.z, phi;
  enum { TURNS = 400 };
  for (int turn = 0; turn < TURNS; turn++) {
    TlTerrainSpot spot = tl_terrain_phi(terrain, centre, &phi, NULL);
    if (spot == TL_TERRAIN_OUTSIDE) return false;
    if (phi >= need) break;
    centre.z += fmax(need - phi, 1e-6 * radius_m);
  }
  *lift_m = centre.z - start;
  return true;
}

/* ---- as scanned ---- */

typedef struct Scan {
  const TlPlace *place;
  TlBodies *bodies;
  TlVec3 foot, position; /* scan point that goes to position */
  TlQuat turn;
  double lift;
  int64_t off_ground, behind;
} Scan;

static TlQuat turn_of(const double deg[3]) {
  double k = M_PI / 180;
  TlQuat x = tl_quat_from_rotation(tl_vec3(k * deg[0], 0, 0)),
         y = tl_quat_from_rotation(tl_vec3(0, k * deg[1], 0)),
         z = tl_quat_from_rotation(tl_vec3(0, 0, k * deg[2]));
  return tl_quat_unit(tl_quat_mul(z, tl_quat_mul(y, x)));
}

/* The least rotation that takes z to n. */
static TlQuat tilt_to(TlVec3 n) {
  return tl_quat_unit((TlQuat){1 + n.z, -n.y, n.x, 0});
}

static bool behind_plane(const TlSetup *setup, TlVec3 p) {
  const TlPlaneSetup *planes = setup->planes.items;
  for (int64_t i = 0; i < setup->planes.count; i++)
    if (tl_dot(tl_sub(p, tl_vec3_of(planes[i].point_m)), tl_unit(tl_vec3_of(planes[i].normal))) < 0)
      return true;
  return false;
}

static TlStatus add_scanned(void *context, const TlGrainRow *row) {
  Scan *s = context;
  const TlSetup *setup = s->place->setup;
  double scale = setup->grains.grain_scale, lift = 0;
  if (!tl_cut_keeps(&setup->release.cut, row->scan_centroid_m, row->radius_m)) return TL_OK;
  TlVec3 offset = tl_scale(scale, tl_sub(row->scan_centroid_m, s->foot));
  TlVec3 position = tl_add(s->position, tl_quat_rotate(s->turn, offset));
  TlBodies *b = s->bodies;
  TlColliders *c = &b->colliders;
  int64_t i, part;
  TL_TRY(tl_bodies_add(b, 0, 0, &i)); /* its id comes when all are counted */
  part = b->first[i];
  c->scale[part] = scale;
  c->avatar_id[part] = tl_study_shapes_stand_in(s->place->shapes, row, &c->scale[part]).id;
  c->material[part] = tl_material_of_avatar(setup, row->id);
  b->position[i] = position;
  b->rotation[i] = tl_quat_unit(tl_quat_mul(s->turn, row->scan_rotation));
  b->velocity[i] = tl_vec3_of(setup->release.velocity_m_s);
  if (behind_plane(setup, position)) s->behind++;
  if (s->place->terrain && !tl_ground_lift(s->place->terrain, position, scale * row->radius_m,
                                           setup->release.clearance_m, &lift))
    s->off_ground++;
  s->lift = fmax(s->lift, lift);
  return TL_OK;
}

static TlStatus judge(const Scan *s) {
  const TlPlace *place = s->place;
  int64_t counts[3] = {s->off_ground, s->behind, s->bodies->owned};
  TL_TRY(tl_comm_sum_int(place->comm, counts, 3));
  if (counts[0])
    return tl_study_fail(place->study, TL_EINPUT, "release.position_m",
                         "%lld of %lld grains have no terrain below them; move the assembly or "
                         "make it smaller",
                         (long long)counts[0], (long long)counts[2]);
  if (counts[1])
    return tl_study_fail(place->study, TL_EINPUT, "release.position_m",
                         "%lld of %lld grains lie behind a plane (planes' normals point to the "
                         "grains)",
                         (long long)counts[1], (long long)counts[2]);
  return tl_cut_judge(&place->setup->release.cut, counts[2], place->selection->count, place->study);
}

/* In catalog order over the ranks, without gaps. */
static TlStatus number(const Scan *s) {
  TlComm *comm = s->place->comm;
  int64_t *counts, id = 0;
  TL_TRY(tl_comm_agree(comm, TL_NEW(counts, (size_t)tl_comm_size(comm))));
  TlStatus status = tl_comm_gather_all(comm, &s->bodies->owned, counts, sizeof *counts);
  for (int r = 0; r < tl_comm_rank(comm); r++) id += counts[r];
  for (int64_t i = 0; i < s->bodies->owned; i++) s->bodies->id[i] = id + i;
  tl_free(counts);
  return status;
}

static TlStatus stand(Scan *s) {
  const TlPlace *place = s->place;
  const TlReleaseSetup *release = &place->setup->release;
  const TlSelection *sel = place->selection;
  TlVec3 normal = tl_vec3(0, 0, 1);
  double ground = 0;
  s->foot = tl_vec3(0.5 * (sel->low_m.x + sel->high_m.x), 0.5 * (sel->low_m.y + sel->high_m.y),
                    sel->low_m.z);
  if (release->cut.kind != TL_CUT_NONE) s->foot = tl_cut_foot(&release->cut);
  s->position = tl_vec3_of(release->position_m);
  s->turn = turn_of(release->rotation_deg);
  if (!place->terrain) return TL_OK;
  if (!tl_terrain_height(place->terrain, s->position.x, s->position.y, &ground, &normal))
    return tl_study_fail(
        place->study, TL_EINPUT, "release.position_m",
        "there is no terrain at x = %g m, y = %g m (it covers x %g to %g, y %g to "
        "%g)",
        s->position.x, s->position.y, place->terrain->x0_m,
        place->terrain->x0_m + (double)(place->terrain->nx - 1) * place->terrain->cell_m,
        place->terrain->y0_m,
        place->terrain->y0_m + (double)(place->terrain->ny - 1) * place->terrain->cell_m);
  s->position.z += ground + release->above_ground_m;
  if (release->along_ground) s->turn = tl_quat_unit(tl_quat_mul(tilt_to(normal), s->turn));
  return TL_OK;
}

static TlStatus make_scanned(const TlPlace *place, TlBodies *bodies, double *lifted_m) {
  int64_t n = place->selection->count, me = tl_comm_rank(place->comm),
          ranks = tl_comm_size(place->comm);
  Scan s = {.place = place, .bodies = bodies};
  TlStatus status = stand(&s);
  if (status == TL_OK)
    status =
        tl_selection_walk(place->selection, n * me / ranks, n * (me + 1) / ranks, add_scanned, &s);
  TL_TRY(tl_comm_agree(place->comm, status));
  TL_TRY(judge(&s));
  TL_TRY(number(&s));
  TL_TRY(tl_comm_most(place->comm, &s.lift, 1));
  for (int64_t i = 0; i < bodies->owned; i++) bodies->position[i].z += s.lift;
  *lifted_m = s.lift;
  return TL_OK;
}

/* ---- from an earlier run ---- */

typedef struct Again {
  const TlPlace *place;
  TlQuat turn;
  double grow;   /* over the size there */
  int64_t *kept; /* rows of the start; rank 0 */
  int64_t count;
} Again;

static TlStatus cut_start(Again *a) {
  const TlStart *s = &a->place->selection->start;
  TL_TRY(TL_NEW(a->kept, (size_t)s->count));
  for (int64_t i = 0; i < s->count; i++) {
    double radius = s->grain[i].scale * s->shapes[s->shape[i]].radius_m;
    if (tl_cut_keeps(&a->place->setup->release.cut, s->grain[i].position_m, radius))
      a->kept[a->count++] = i;
  }
  return TL_OK;
}

static TlStatus add_again(void *context, int64_t number, TlBodies *b) {
  const Again *a = context;
  const TlSetup *setup = a->place->setup;
  const TlStart *s = &a->place->selection->start;
  const TlBodyRow *g = &s->grain[a->kept[number]];
  const TlGrainRow *shape = &s->shapes[s->shape[a->kept[number]]];
  TlVec3 offset = tl_quat_rotate(a->turn, tl_scale(a->grow, g->position_m));
  TlColliders *c = &b->colliders;
  int64_t i, part;
  TL_TRY(tl_bodies_add(b, number, 0, &i));
  part = b->first[i];
  c->scale[part] = a->grow * g->scale;
  TlGrainRow row = tl_study_shapes_stand_in(a->place->shapes, shape, &c->scale[part]);
  c->avatar_id[part] = row.id;
  c->material[part] = tl_material_of_avatar(setup, shape->id);
  b->position[i] = tl_add(tl_vec3_of(setup->release.position_m), offset);
  b->rotation[i] = tl_quat_unit(tl_quat_mul(a->turn, g->rotation));
  b->velocity[i] = tl_vec3_of(setup->release.velocity_m_s);
  if (!setup->release.keep_velocities) return TL_OK;
  b->velocity[i] = tl_quat_rotate(a->turn, g->velocity_m_s);
  b->momentum[i] = tl_placed_momentum(b->rotation[i], c->scale[part], &row,
                                      tl_material_density(setup, c->material[part]),
                                      tl_quat_rotate(a->turn, g->spin_rad_s));
  return TL_OK;
}

static TlStatus make_again(const TlPlace *place, TlBodies *bodies) {
  const TlReleaseSetup *release = &place->setup->release;
  const TlStart *start = &place->selection->start;
  bool first = tl_comm_rank(place->comm) == 0;
  Again a = {.place = place, .turn = turn_of(release->rotation_deg)};
  Scan s = {.place = place, .bodies = bodies};
  if (first) a.grow = place->setup->grains.grain_scale / start->grain_scale;
  TlStatus status = first ? cut_start(&a) : TL_OK;
  status = tl_comm_agree(place->comm, status);
  if (status == TL_OK) status = tl_hand_out(place->comm, a.count, add_again, &a, bodies);
  for (int64_t i = 0; i < bodies->owned; i++)
    s.behind += behind_plane(place->setup, bodies->position[i]);
  if (status == TL_OK) status = judge(&s);
  tl_free(a.kept);
  return status;
}

TlStatus tl_assembly_make(const TlPlace *place, TlBodies *bodies, double *lifted_m) {
  *lifted_m = 0;
  if (place->selection->count == 0) return TL_OK; /* a study of placed bodies alone */
  switch (place->setup->release.assembly) {
  case TL_ASSEMBLY_LATTICE:
    return tl_lattice_make(place, bodies);
  case TL_ASSEMBLY_DRAWN:
    return tl_drawn_make(place, bodies);
  case TL_ASSEMBLY_POURED: /* they come during the run: run/pour.h */
    return TL_OK;
  case TL_ASSEMBLY_FROM_RUN:
    return make_again(place, bodies);
  default:
    return make_scanned(place, bodies, lifted_m);
  }
}
