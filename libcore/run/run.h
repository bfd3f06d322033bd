/* A run: from a study to results.
 *
 * tl_run_open reads catalog and terrain, makes the grains and spreads them over the ranks;
 * tl_run_go steps through time: ghosts, step of the solver, policy for grains outside, output,
 * migration, now and then new cuts and checkpoints (run/checkpoint.h). All functions are
 * collective; all ranks get the same status with the message of the first that failed. The state
 * after any step does not depend, in any bit, on the number of ranks or threads (dem/step.h); sums
 * over grains (energies) are exact and rounded once (num/exact.h), so theirs do not either.
 */
#ifndef TL_RUN_RUN_H
#define TL_RUN_RUN_H

#include "dem/shapes.h"
#include "base/provenance.h"
#include "dist/dist.h"
#include "run/assembly.h"
#include "run/avatars.h"
#include "run/departures.h"
#include "run/depth.h"
#include "run/ledger.h"
#include "run/nets.h"
#include "run/output.h"
#include "run/ground.h"
#include "run/standstill.h"
#include "run/walls.h"
#include "store/checkpoint.h"

/* What somebody may wish after a step, each a bit. */
typedef enum TlRunWish {
  TL_WISH_STOP = 1, /* save the state and end */
  TL_WISH_SAVE = 2  /* save the state and continue */
} TlRunWish;

typedef struct TlRunOptions {
  const char *study;   /* path */
  const TlTexts *sets; /* "section.key=value"; may be NULL */
  const char *catalog; /* in place of the study's; NULL: the study's */
  const char *output;  /* in place of the study's; NULL: the study's */
  bool overwrite;
  bool resume;    /* resume from the newest whole checkpoint; study may be a results folder */
  bool no_output; /* keep no results (tests) */
  const TlProvenance *provenance; /* NULL: none */
  int (*stop)(void *context);     /* asked after each step on each rank: TlRunWish, 0: continue */
  void *stop_context;
} TlRunOptions;

typedef struct TlRunTotals {
  int64_t steps, frames;
  int64_t outside, poor, jammed; /* grains that left, were poor, unresolved (run/poor.h) so far */
  double wall_s, cpu_s;          /* of the stepping; cpu over all ranks */
  double overlap_share, overlap_m, boundary_overlap_share, boundary_overlap_m; /* deepest ever */
  double kinetic_start_J, potential_start_J, kinetic_J, potential_J;
  double wall_work_J; /* of moving walls so far */
  TlLedger ledger;    /* of the penalty method */
  int64_t zero_finishes, unfinished, rest_unfinished, impulses;
  double travel_share; /* largest distance travelled by a grain in a step, over its radius */
  TlStepReport last;
  /* when the run ends */
  TlLook look;
  TlRunDepth depth;
  int64_t small; /* grains smaller across than the terrain's cell */
} TlRunTotals;

typedef struct TlRun {
  TlComm *comm; /* borrowed */
  TlRunOptions options;
  TlStudy study;
  TlSetup setup;
  char *effective, *folder;
  char *study_path, *catalog_path; /* absolute */
  TlCheckpoint *checkpoint;        /* what is resumed from; NULL: the run starts */
  double started_s, saved_s;       /* clock: start of the stepping less what was done before; of the
                                      last checkpoint */
  TlCatalog *catalog;              /* NULL: none wanted */
  TlStudyShapes shapes;
  TlSelection selection;
  bool has_terrain;
  TlTerrain terrain;
  TlPlane *planes;
  TlBoundaryPlane *plane_data;
  TlSurface *plane_surface;
  TlMaterials materials;
  TlGround ground;
  TlWalls walls;
  TlBoundary *boundaries;
  int boundary_count;
  TlAvatarCache avatars;
  TlNets nets;
  const TlApparatus *apparatus;   /* NULL: the study has none */
  unsigned char *apparatus_state; /* its state, owned; a checkpoint keeps it */
  TlInts later;                   /* sorted avatar ids of grains to come, this rank's part */
  TlDist *dist;
  TlSolver *solver;
  TlBodies bodies;
  TlOutput output;
  struct TlBoundaryForce *boundary_force; /* of the last step, where boundary.csv is due; owned */
  TlContacts contacts; /* of the last step, when a frame is due that holds them */
  int64_t poured;      /* state: grains let in so far (run/pour.h); a checkpoint keeps it */
  int64_t grains;      /* of all ranks: at the start and poured since */
  double lifted_m;
  TlVec3 start_centre; /* centre of mass at the start; of poured grains the middle of the inlet */
  TlDeparted departed; /* state */
  TlStandstill still;  /* state */
  TlRunTotals totals;
  double travel_share; /* in this step, of this rank; see TlRunTotals */
  bool warned_unstable, warned_travel;
  int64_t unsaved;      /* checkpoints that were due and could not be saved */
  int64_t unsaved_step; /* the last of them */
  char unsaved_why[1024];
} TlRun;

/* Volume of a body of this rank: of a grain by its mass; of several parts the sum over them, which
 * overlaps between them are counted twice in, as in the mass. */
static inline double tl_run_volume(const TlRun *run, int64_t body) {
  const TlMaterial *m = run->materials.material;
  const TlBodies *b = &run->bodies;
  const TlColliders *c = &b->colliders;
  double sum = 0;
  if (b->parts[body] == 0) return b->mass[body] / m[c->material[b->first[body]]].density_kg_m3;
  for (int64_t k = b->first[body]; k < b->first[body] + b->parts[body]; k++)
    sum += c->scale[k] * c->scale[k] * c->scale[k] * c->shape[k]->volume_m3;
  return sum;
}

/* Mass of one part of a body. */
static inline double tl_run_part_mass(const TlRun *run, int64_t collider) {
  const TlBodies *b = &run->bodies;
  const TlColliders *c = &b->colliders;
  double scale = c->scale[collider],
         density = run->materials.material[c->material[collider]].density_kg_m3;
  if (b->parts[c->body[collider]] == 0) return b->mass[c->body[collider]];
  return density * scale * scale * scale * c->shape[collider]->volume_m3;
}

/* Mass that a body of this rank would have if it were of the grains' material. */
static inline double tl_run_plain_mass(const TlRun *run, int64_t body) {
  const TlMaterial *m = run->materials.material;
  const TlBodies *b = &run->bodies;
  double density = m[TL_MATERIAL_GRAIN].density_kg_m3;
  if (b->parts[body] > 0) return density * tl_run_volume(run, body);
  return b->mass[body] * (density / m[b->colliders.material[b->first[body]]].density_kg_m3);
}

/* run: to be closed with tl_run_close, also after a failure. */
TlStatus tl_run_open(TlRun *run, TlComm *comm, const TlRunOptions *options);
/* What assemblies and inlets work with. */
TlPlace tl_run_place(const TlRun *run);
/* Make run->solver, with the closed forms of the study's shapes; the old one must be gone. */
TlStatus tl_run_new_solver(TlRun *run);
/* Step to the end. TL_ELIMIT when the stop hook ended it. */
TlStatus tl_run_go(TlRun *run);
/* Hash of the bodies' state over all ranks (dem/bodies.h). */
TlStatus tl_run_hash(TlRun *run, uint64_t *hash);
void tl_run_close(TlRun *run);

#endif
