#include "run/assembly.h"

#include "base/mem.h"
#include "base/random.h"
#include "run/drawn.h"
#include "run/lattice.h"

#include <math.h>

/* Towards the ground phi falls by at most the way gone: lifting by what is missing never clears
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
  int64_t id;
  double lift;
  int64_t off_ground, behind, first_off;
} Scan;

static TlQuat turn_of(const double deg[3]) {
  double k = 3.14159265358979323846 / 180;
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
  TlVec3 offset = tl_scale(scale, tl_sub(row->scan_centroid_m, s->foot));
  TlBodyState state = {.id = s->id++, .avatar_id = row->id, .scale = scale};
  state.position = tl_add(s->position, tl_quat_rotate(s->turn, offset));
  state.rotation = tl_quat_unit(tl_quat_mul(s->turn, row->scan_rotation));
  state.velocity = tl_vec3_of(setup->release.velocity_m_s);
  if (behind_plane(setup, state.position)) s->behind++;
  if (s->place->terrain && !tl_ground_lift(s->place->terrain, state.position, scale * row->radius_m,
                                           setup->release.clearance_m, &lift))
    s->off_ground++;
  s->lift = fmax(s->lift, lift);
  return tl_bodies_add(s->bodies, &state);
}

static TlStatus judge_scanned(const Scan *s) {
  TlComm *comm = s->place->comm;
  int64_t counts[2] = {s->off_ground, s->behind};
  TL_TRY(tl_comm_sum_int(comm, counts, 2));
  if (counts[0])
    return tl_study_fail(s->place->study, TL_EINPUT, "release.position_m",
                         "%lld of %lld grains have no terrain below them; move the assembly or "
                         "make it smaller",
                         (long long)counts[0], (long long)s->place->selection->count);
  if (counts[1])
    return tl_study_fail(s->place->study, TL_EINPUT, "release.position_m",
                         "%lld of %lld grains lie behind a plane (planes' normals point to the "
                         "grains)",
                         (long long)counts[1], (long long)s->place->selection->count);
  return TL_OK;
}

static TlStatus stand(Scan *s) {
  const TlPlace *place = s->place;
  const TlReleaseSetup *release = &place->setup->release;
  const TlSelection *sel = place->selection;
  TlVec3 normal = tl_vec3(0, 0, 1);
  double ground = 0;
  s->foot = tl_vec3(0.5 * (sel->low_m.x + sel->high_m.x), 0.5 * (sel->low_m.y + sel->high_m.y),
                    sel->low_m.z);
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
  s->position.z += ground;
  if (release->along_ground) s->turn = tl_quat_unit(tl_quat_mul(tilt_to(normal), s->turn));
  return TL_OK;
}

static TlStatus make_scanned(const TlPlace *place, TlBodies *bodies, double *lifted_m) {
  int64_t n = place->selection->count, me = tl_comm_rank(place->comm),
          ranks = tl_comm_size(place->comm);
  Scan s = {.place = place, .bodies = bodies, .id = n * me / ranks};
  TlStatus status = stand(&s);
  if (status == TL_OK)
    status = tl_selection_walk(place->selection, s.id, n * (me + 1) / ranks, add_scanned, &s);
  TL_TRY(tl_comm_agree(place->comm, status));
  TL_TRY(judge_scanned(&s));
  TL_TRY(tl_comm_most(place->comm, &s.lift, 1));
  for (int64_t i = 0; i < bodies->owned; i++) bodies->position[i].z += s.lift;
  *lifted_m = s.lift;
  return TL_OK;
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
  default:
    return make_scanned(place, bodies, lifted_m);
  }
}
