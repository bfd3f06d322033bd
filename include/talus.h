/* Talus as a library: level-set DEM of grains of any shape, in your own program.
 *
 * A model is what a study says and what stays constant while it is stepped: materials, shapes,
 * boundaries, the method. A state is what changes: bodies, contact memory, counters. A workspace is
 * what a step scribbles on. One model serves any number of states, and one workspace serves them one
 * after another; a workspace of its own for each state is faster where states take turns.
 *
 * Units are SI. Coordinates are those of the study. Rotations are unit quaternions w, x, y, z from
 * the body's frame to the world's. The centre of a body is its centre of mass.
 *
 * One process, one rank: the library neither starts MPI nor needs it; several ranks are the matter
 * of talus-solve. Loops inside of a step use the threads that OMP_NUM_THREADS allows, and the
 * result has the same bits for any number of them. Calls for one model, its states and its
 * workspaces come from one thread at a time; different models may be used by different threads at
 * once, each of which should then run alone (talus_set_threads(1)).
 *
 * Nothing is written: neither results nor checkpoints. Warnings go to standard error
 * (talus_set_quiet). A function that fails returns something other than TALUS_OK, changes no output
 * argument, and leaves a message for its thread. A state whose step failed may only be freed.
 *
 * Before version 1.0 this interface may change from one version to the next: compile anew.
 */
#ifndef TALUS_H
#define TALUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TalusModel TalusModel;
typedef struct TalusState TalusState;
typedef struct TalusWorkspace TalusWorkspace;

typedef enum TalusStatus {
  TALUS_OK = 0,
  TALUS_USAGE,   /* a call that makes no sense */
  TALUS_INPUT,   /* a file or a study says something that cannot be worked with */
  TALUS_IO,      /* the operating system refused: a file is missing, a disk is full */
  TALUS_MEMORY,  /* memory is out */
  TALUS_LIBRARY, /* a library that Talus uses failed */
  TALUS_LIMIT    /* a bound of the method was met, as a velocity that is not finite */
} TalusStatus;

/* Version, "0.1.0". Static. */
const char *talus_version(void);
/* What went wrong in the last call of this thread that failed; "" when none did. Borrowed until the
 * thread's next failure. */
const char *talus_message(void);
/* Threads of the loops inside of a step, for the whole process; 0: what OMP_NUM_THREADS says. */
void talus_set_threads(int threads);
/* quiet not 0: neither warnings nor progress on standard error. For the whole process; at the start
 * it is quiet but for warnings. */
void talus_set_quiet(int quiet);

/* ---- model ---- */

/* Opens a study with everything that it names: catalog, shapes, terrain. overrides: `count` texts
 * "section.key=value" as for talus-solve --set (NULL with 0). The time loop's keys (duration, frames,
 * output) are read and checked, and have no effect. *model is the caller's: talus_model_free, after
 * its states and workspaces. */
TalusStatus talus_model_open(TalusModel **model, const char *study_file,
                             const char *const *overrides, int count);
/* The same of a study in memory. name stands for the file in messages, and its folder is where
 * relative paths of the study count from. */
TalusStatus talus_model_open_text(TalusModel **model, const char *name, const char *text,
                                  const char *const *overrides, int count);
void talus_model_free(TalusModel *model); /* NULL: nothing */
/* Length of a time step, s. */
double talus_model_step_s(const TalusModel *model);

/* ---- state ---- */

/* The start that the study describes. *state is the caller's: talus_state_free, before its model's
 * end. */
TalusStatus talus_state_new(TalusState **state, TalusModel *model);
/* A copy, of the same model, that goes its own way. */
TalusStatus talus_state_clone(TalusState **copy, const TalusState *state);
void talus_state_free(TalusState *state); /* NULL: nothing */

/* Steps done, and the time they make, s. */
int64_t talus_state_steps(const TalusState *state);
double talus_state_time_s(const TalusState *state);

/* Number of bodies: grains, placed bodies, spheres of nets. */
int64_t talus_state_count(const TalusState *state);
/* Views of the state's own arrays, by body: ids; centres [3 * count], m; rotations [4 * count];
 * velocities of the centres [3 * count], m/s; angular velocities in the world's frame [3 * count],
 * rad/s. Borrowed until the state is stepped, set or freed. The order of the bodies may change in a
 * step: the id tells who is who. spins: NULL when memory is out. */
const int64_t *talus_state_ids(const TalusState *state);
const double *talus_state_positions_m(const TalusState *state);
const double *talus_state_rotations(const TalusState *state);
const double *talus_state_velocities_m_s(const TalusState *state);
const double *talus_state_spins_rad_s(TalusState *state);

/* Put a body elsewhere, or set it in motion: each of the four may be NULL and is then left as it is.
 * The rotation need not have unit length. What the body's contacts remember of the last step is
 * forgotten. TALUS_USAGE: there is no such body, or a number is not finite. */
TalusStatus talus_state_set_body(TalusState *state, int64_t id, const double position_m[3],
                                 const double rotation[4], const double velocity_m_s[3],
                                 const double spin_rad_s[3]);

/* Energy of the bodies that can move: of motion, and -m g.x in the field of gravity, J. */
TalusStatus talus_state_energy(TalusState *state, double *kinetic_J, double *potential_J);
/* A number that is the same for the same bits of bodies, contact memory and constraints. */
TalusStatus talus_state_hash(const TalusState *state, uint64_t *hash);

/* ---- steps ---- */

/* *workspace is the caller's: talus_workspace_free, before its model's end. */
TalusStatus talus_workspace_new(TalusWorkspace **workspace, TalusModel *model);
void talus_workspace_free(TalusWorkspace *workspace); /* NULL: nothing */

/* `steps` time steps of the state, as talus-solve would make them: grains are poured, devices
 * (triaxial cell, oedometer, ...) press and drive, what leaves the terrain or cannot be brought apart
 * is treated as the study says. State and workspace must be of one model. TALUS_LIMIT and
 * TALUS_INPUT name the grain and the step. */
TalusStatus talus_step(TalusState *state, TalusWorkspace *workspace, int64_t steps);

/* What the workspace's last step told. */
typedef struct TalusReport {
  int64_t contacts;          /* contact points kept */
  int64_t islands;           /* islands of bodies in contact */
  double overlap_m;          /* deepest overlap of two grains */
  double boundary_overlap_m; /* deepest overlap of a grain and a boundary */
  double kinetic_J;          /* as history.csv has it */
  double speed_max_m_s;      /* bound of the surfaces' speed */
} TalusReport;
void talus_last_report(const TalusWorkspace *workspace, TalusReport *report);

#ifdef __cplusplus
}
#endif

#endif
