/* A run: from a study to results.
 *
 * tl_run_open reads catalog and terrain, makes the grains and spreads them over the ranks;
 * tl_run_go steps through time: ghosts, step of the solver, policy for grains outside, output,
 * migration, now and then new cuts and checkpoints (run/checkpoint.h). All functions are
 * collective; all ranks get the same status with the message of the first that failed. The state
 * after any step does not depend, in any bit, on the number of ranks or threads (solve/step.h); sums
 * over grains (energies) are exact and rounded once (num/exact.h), so theirs do not either.
 */
#ifndef TL_RUN_RUN_H
#define TL_RUN_RUN_H

#include "model/shapes.h"
#include "base/provenance.h"
#include "base/shared.h"
#include "dist/dist.h"
#include "solve/audit.h"
#include "run/assembly.h"
#include "run/constraint_forces.h"
#include "run/avatars.h"
#include "run/cells.h"
#include "run/departures.h"
#include "run/deep.h"
#include "run/depth.h"
#include "run/energy_balance.h"
#include "run/nets.h"
#include "run/contacts.h"
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
  const char *text;    /* the study itself, `study` being its name alone; NULL: read the file */
  const TlTexts *sets; /* "section.key=value"; may be NULL */
  const char *catalog; /* in place of the study's; NULL: the study's */
  const char *output;  /* in place of the study's; NULL: the study's */
  bool overwrite;
  bool resume;    /* resume from the newest whole checkpoint; study may be a results folder */
  bool no_output; /* keep no results (tests) */
  bool ensemble;  /* the blocks of the study's section ensemble become its bodies (run/ensemble.h);
                     else a study with such a section is refused */
  const TlProvenance *provenance; /* NULL: none */
  const char *audit; /* file for what each phase costs each rank (run/audit.h); NULL: none */
  int (*stop)(void *context); /* asked after each step on each rank: TlRunWish, 0: continue */
  void *stop_context;
} TlRunOptions;

typedef struct TlRunTotals {
  int64_t steps, frames;
  int64_t outside;              /* grains so far that left */
  int64_t sunk;                 /* grains so far that sinks took */
  double sunk_kg;               /* their mass, when the run ends */
  int64_t embedded, unresolved; /* grains so far of each kind (run/problems.c) */
  double wall_s, cpu_s;         /* of the stepping; cpu over all ranks */
  double overlap_share, overlap_m, boundary_overlap_share, boundary_overlap_m; /* deepest ever */
  double kinetic_start_J, potential_start_J, kinetic_J, potential_J;
  double wall_work_J;      /* of moving walls so far */
  double sleep_J;          /* kinetic energy of grains that fell asleep so far */
  TlEnergyBalance balance; /* of the methods that have one */
  int64_t zero_finishes, unfinished, rest_unfinished, impulses;
  int64_t unconverged_steps, inaccurate_steps; /* see store/trust.h */
  double unconverged_m_s;                      /* largest residual of the former */
  int64_t merges, splits;                      /* of the model reduction, so far */
  double anchor_N_s[3];   /* impulse of boundaries on what they take along, so far */
  double travel_fraction; /* largest distance travelled by a grain in a step, over its radius */
  TlStepReport last;
  /* when the run ends */
  TlLook look;
  TlRunDepth depth;
  int64_t small; /* grains smaller across than the terrain's cell */
} TlRunTotals;

/* What is constant while a run lasts: the study, and everything that was read and made for it. It
 * serves one state after another. Shapes are loaded when a state first asks for them. */
typedef struct TlRunModel {
  TlStudy study;
  TlSetup setup;
  char *effective;    /* the study with every value said */
  TlCatalog *catalog; /* NULL: none wanted */
  TlShared
      *shared; /* shapes' arrays in common with other ranks of this machine; owned; NULL: none */
  bool shared_warned;
  TlStudyShapes shapes;
  TlSelection selection;
  bool has_terrain;
  TlTerrain terrain;
  TlTerrain
      *rough; /* [rough_count] the terrain with further draws of its roughness, of an ensemble;
                       owned */
  int64_t rough_count;
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
  const TlApparatus *apparatus; /* NULL: the study has none */
  int64_t platens;              /* bodies that it adds, which are no grains */
  TlModel *dem;                 /* of all this, what the solver is told */
} TlRunModel;

/* What changes from step to step: what a checkpoint saves. */
typedef struct TlRunState {
  TlState dem;              /* bodies, their contact memory and constraints, number of steps */
  unsigned char *apparatus; /* the apparatus' state, owned; NULL: there is none */
  int64_t poured;           /* grains let in so far (run/pour.h) */
  int64_t grains;           /* of all ranks, platens among them: at the start and poured since */
  double lifted_m;
  TlVec3 start_centre; /* centre of mass at the start; of poured grains the middle of the inlet */
  TlDeparted departed;
  TlStandstill still;
  TlRunTotals totals;
} TlRunState;

/* A run in hand: a model and a state, what steps them, and what becomes of the results. */
typedef struct TlRun {
  TlComm *comm; /* borrowed */
  TlRunOptions options;
  TlRunModel *model; /* owned */
  TlRunState *state; /* owned */
  /* what a step works with */
  TlControls controls; /* filled by the apparatus before each step */
  TlWorkspace *work;
  TlDist *dist;
  TlAudit *audit;       /* owned; NULL: none */
  int64_t audited_from; /* step */
  /* where results go, and when */
  char *folder;
  char *study_path, *catalog_path; /* absolute */
  TlCheckpoint *checkpoint;        /* what is resumed from; NULL: the run starts */
  double started_s, saved_s;       /* clock: start of the stepping less what was done before; of the
                                      last checkpoint */
  int64_t
      first_id; /* in results and messages a body has its id and this: of a release of an ensemble,
                       whose bodies are numbered from 0 as those of its run alone are */
  int64_t first_placed; /* id of the first of the study's bodies; -1: not known */
  TlInts later;         /* sorted avatar ids of grains to come, this rank's part */
  TlOutput output;
  struct TlBoundaryForce *boundary_force; /* of the last step, where boundary.csv is due; owned */
  TlConstraintTable constraints;
  TlContacts contacts;    /* of the last step, when a frame is due that holds them */
  TlCells cells;          /* what is not in cells.csv yet */
  double travel_fraction; /* in this step, of this rank; see TlRunTotals */
  TlRunDeep deep;
  bool warned_unstable, warned_travel, warned_step;
  int64_t
      waited; /* most grains at once that were due by release.rate_per_s and found no place in the inlet,
                           since the start or the resume */
  int64_t unsaved;      /* checkpoints that were due and could not be saved */
  int64_t unsaved_step; /* the last of them */
  char unsaved_why[1024];
} TlRun;

/* Of all ranks: at the start and poured since, without platens. */
static inline int64_t tl_run_grains(const TlRun *run) {
  return run->state->grains - run->model->platens;
}

/* Mass of one part of a body. */
static inline double tl_run_part_mass(const TlRun *run, int64_t collider) {
  const TlBodies *b = &run->state->dem.bodies;
  const TlColliders *c = &b->colliders;
  double scale = c->scale[collider],
         density = run->model->materials.material[c->material[collider]].density_kg_m3;
  if (b->parts[c->body[collider]] == 0) return b->mass[c->body[collider]];
  return density * scale * scale * scale * c->shape[collider]->volume_m3;
}

/* Volume of a body of this rank: of a grain by its mass; of several parts the sum over them, which
 * counts overlaps twice, as the mass does. */
static inline double tl_run_volume(const TlRun *run, int64_t body) {
  const TlMaterial *m = run->model->materials.material;
  const TlBodies *b = &run->state->dem.bodies;
  const TlColliders *c = &b->colliders;
  double sum = 0;
  if (b->parts[body] == 0) return b->mass[body] / m[c->material[b->first[body]]].density_kg_m3;
  for (int64_t k = b->first[body]; k < b->first[body] + b->parts[body]; k++)
    sum += c->scale[k] * c->scale[k] * c->scale[k] * c->shape[k]->volume_m3;
  return sum;
}

/* Mass that a body of this rank would have if it were of the grains' material. */
static inline double tl_run_plain_mass(const TlRun *run, int64_t body) {
  const TlMaterial *m = run->model->materials.material;
  const TlBodies *b = &run->state->dem.bodies;
  double density = m[TL_MATERIAL_GRAIN].density_kg_m3;
  if (b->parts[body] > 0) return density * tl_run_volume(run, body);
  return b->mass[body] * (density / m[b->colliders.material[b->first[body]]].density_kg_m3);
}

/* run: to be closed with tl_run_close, also after a failure. */
TlStatus tl_run_open(TlRun *run, TlComm *comm, const TlRunOptions *options);
/* What assemblies and inlets work with. */
TlPlace tl_run_place(const TlRun *run);
/* The terrain with this draw of its roughness (ensemble.grounds). */
const TlTerrain *tl_run_ground(const TlRun *run, int64_t draw);
/* Make the solver's model, with the closed forms of the study's shapes, and a workspace; the old
 * ones must be gone. */
TlStatus tl_run_new_solver(TlRun *run);
void tl_run_free_solver(TlRun *run);
/* Derived fields of the run's bodies (tl_step_refresh); collective. */
TlStatus tl_run_refresh(TlRun *run);
/* Collective. The bodies, whose derived fields must be filled, and, if the study wants them, the
 * contacts that were taken (run/contacts.h). */
TlStatus tl_run_write_frame(TlRun *run, int64_t step);
/* Bring the state to where the first step begins: grains poured at the start, shapes, derived fields,
 * the checks that a step would fail. Collective. */
TlStatus tl_run_begin(TlRun *run);
/* The folder with run.h5 and the headers of its tables; nothing when no_output is set. Collective. */
TlStatus tl_run_begin_output(TlRun *run);
/* The part of a step up to where bodies have moved: pouring, fresh ghosts, the apparatus, the solver.
 * What the study says of grains that left or cannot be brought apart is still to be done. */
TlStatus tl_run_advance(TlRun *run);
/* One step as tl_run_go makes it, between what it writes: pouring, fresh ghosts, the apparatus, the
 * solver, rest; then what the study says of grains that left or cannot be brought apart, and bodies
 * go to the ranks that own them. No output but departures. Collective. */
TlStatus tl_run_step(TlRun *run);
/* Step to the end. TL_ELIMIT when the stop hook ended it. */
TlStatus tl_run_go(TlRun *run);
/* Does the study let the number of ranks decide (solver.deterministic: no)? */
bool tl_run_ranks_matter(const TlRun *run);
/* Hash of the bodies' state over all ranks (model/bodies.h). */
TlStatus tl_run_hash(TlRun *run, uint64_t *hash);
/* A copy with memory of its own, into a new state. */
TlStatus tl_run_state_copy(TlRunState **copy, const TlRunState *state, const TlRunModel *model);
void tl_run_state_free(TlRunState *state); /* NULL: nothing */
void tl_run_close(TlRun *run);

#endif
