/* Talus as a library: level-set DEM of grains of any shape, in your own program.
 *
 * A model holds everything that stays constant while it is stepped: materials, shapes, boundaries
 * and the method, as a study describes them. A state holds everything that changes: bodies, contact
 * memory, counters. A workspace is the scratch memory of a step. One model serves any number of
 * states. One workspace can serve several states in turn; where states alternate, a workspace for
 * each of them is faster.
 *
 * Units are SI. Coordinates are those of the study. Rotations are unit quaternions (w, x, y, z)
 * from the body's frame to the world's. The centre of a body is its centre of mass.
 *
 * The library runs in one process. It neither starts MPI nor needs it; runs over several ranks are
 * left to talus-solve. Only one thread at a time may call the library, whatever objects it uses.
 * Loops inside a step use the threads that OMP_NUM_THREADS allows (talus_set_threads), and the
 * result has the same bits for any number of them. Some files that a study names (HDF5, rasters)
 * are read by a second process of the calling program, which never reaches its main().
 *
 * The library writes no files: neither results nor checkpoints. Messages go to standard error
 * (talus_set_quiet). A function that fails returns a status other than TALUS_OK, leaves its output
 * arguments unchanged, and stores a message for its thread. A state whose step failed can only be
 * freed.
 *
 * Before version 1.0 this interface may change from one version to the next: recompile your program
 * with each new version.
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
  TALUS_USAGE,   /* the call is wrong: an argument is not valid */
  TALUS_INPUT,   /* a file or a study holds something invalid */
  TALUS_IO,      /* the operating system failed: a file is missing, a disk is full */
  TALUS_MEMORY,  /* out of memory */
  TALUS_LIBRARY, /* a library that Talus uses failed */
  TALUS_LIMIT    /* the method reached a limit, such as a velocity that is not finite */
} TalusStatus;

/* The version, such as "0.1.0". The string is static. */
const char *talus_version(void);
/* The message of this thread's last failed call, "" when none has failed. Borrowed until the
 * thread's next failure. */
const char *talus_message(void);
/* Sets the number of threads of the loops inside a step, for the whole process. 0 takes the number
 * from OMP_NUM_THREADS. */
void talus_set_threads(int threads);
/* Chooses what is printed to standard error, for the whole process: nothing if quiet is not 0,
 * warnings if it is 0. Before the first call, the messages of talus-solve are printed. */
void talus_set_quiet(int quiet);

/* ---- model ---- */

/* Opens a study with everything that it names: catalog, shapes, terrain. overrides holds `count`
 * strings "section.key=value", as for talus-solve --set (NULL if count is 0). The keys of the time
 * loop (duration, frames, output) are read and checked but have no effect. The caller owns *model
 * and frees it with talus_model_free, after its states and workspaces. */
TalusStatus talus_model_open(TalusModel **model, const char *study_file,
                             const char *const *overrides, int count);
/* Opens a study that is held in memory. `name` takes the place of the file name in messages;
 * relative paths in the study start from its folder. */
TalusStatus talus_model_open_text(TalusModel **model, const char *name, const char *text,
                                  const char *const *overrides, int count);
void talus_model_free(TalusModel *model); /* accepts NULL */
/* The time step, s. */
double talus_model_step_s(const TalusModel *model);

/* ---- state ---- */

/* Creates the initial state that the study describes. The caller owns *state and frees it with
 * talus_state_free, before the model is freed. */
TalusStatus talus_state_new(TalusState **state, TalusModel *model);
/* Makes an independent copy of a state of the same model. */
TalusStatus talus_state_clone(TalusState **copy, const TalusState *state);
void talus_state_free(TalusState *state); /* accepts NULL */

/* The number of steps done so far, and the simulated time, s. */
int64_t talus_state_steps(const TalusState *state);
double talus_state_time_s(const TalusState *state);

/* The number of bodies: grains, placed bodies, spheres of membranes and nets. */
int64_t talus_state_count(const TalusState *state);
/* Views of the state's own arrays, one entry for each body: ids; centres [3 * count], m; rotations
 * [4 * count]; velocities of the centres [3 * count], m/s; angular velocities in the world's frame
 * [3 * count], rad/s. They are borrowed until the state is stepped, changed or freed. The order of
 * the bodies may change in a step: identify a body by its id. talus_state_spins_rad_s returns NULL
 * when memory runs out. */
const int64_t *talus_state_ids(const TalusState *state);
const double *talus_state_positions_m(const TalusState *state);
const double *talus_state_rotations(const TalusState *state);
const double *talus_state_velocities_m_s(const TalusState *state);
const double *talus_state_spins_rad_s(TalusState *state);

/* Sets position, rotation, velocity and angular velocity of a body. Each of them may be NULL and is
 * then left unchanged. The rotation need not have unit length. The contact memory of the body is
 * erased. Returns TALUS_USAGE if there is no such body or a number is not finite. */
TalusStatus talus_state_set_body(TalusState *state, int64_t id, const double position_m[3],
                                 const double rotation[4], const double velocity_m_s[3],
                                 const double spin_rad_s[3]);

/* The kinetic energy, and the potential energy -m g.x in the field of gravity, of all bodies that
 * can move, J. */
TalusStatus talus_state_energy(TalusState *state, double *kinetic_J, double *potential_J);
/* A hash of the bits of bodies, contact memory and constraints: equal states have equal hashes. */
TalusStatus talus_state_hash(const TalusState *state, uint64_t *hash);

/* ---- steps ---- */

/* The caller owns *workspace and frees it with talus_workspace_free, before the model is freed. */
TalusStatus talus_workspace_new(TalusWorkspace **workspace, TalusModel *model);
void talus_workspace_free(TalusWorkspace *workspace); /* accepts NULL */

/* Advances the state by `steps` time steps, exactly as talus-solve would: grains are poured,
 * devices (triaxial cell, oedometer, ...) are controlled, and grains that leave the terrain or
 * whose collisions stay unresolved are treated as the study requests. State and workspace must
 * belong to the same model. The messages of TALUS_LIMIT and TALUS_INPUT name the grain and the
 * step. */
TalusStatus talus_step(TalusState *state, TalusWorkspace *workspace, int64_t steps);

/* Figures of the workspace's last step. */
typedef struct TalusReport {
  int64_t contacts; /* contact points kept */
  int64_t islands;  /* islands of bodies in contact */
  double
      overlap_m; /* largest overlap of two grains, measured with the nodes of the contact search */
  double
      boundary_overlap_m; /* largest overlap of a grain and a boundary, measured in the same way */
  double kinetic_J;       /* as in history.csv */
  double speed_max_m_s;   /* upper bound of the speed of all surface points */
} TalusReport;
void talus_last_report(const TalusWorkspace *workspace, TalusReport *report);

#ifdef __cplusplus
}
#endif

#endif
