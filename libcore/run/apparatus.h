/* Apparatus: a laboratory device of a study, at most one in a run (store/apparatuses.h lists them).
 *
 * A device is one file that owns everything about it: the section of the study and its checks, what
 * it adds to the study (walls, bodies, nets), the state that a checkpoint keeps, what it does
 * before and after a step, and the columns of its table. The file defines, for the key K,
 *
 *   const TlParam tl_K_params[], const TlStudySection tl_K_sections[], const TlApparatus tl_K
 *
 * Functions may be NULL where nothing is to be done. All are collective where they return a status.
 */
#ifndef TL_RUN_APPARATUS_H
#define TL_RUN_APPARATUS_H

#include "conf/study.h"
#include "model/record.h"
#include "run/columns.h"
#include "store/results.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct TlBodies;
struct TlRun;
struct TlSetup;
struct TlShapeSetup;
struct TlStepReport;
struct TlWallSetup;

enum {
#define A(id, key, title, params, sections) TL_APPARATUS_##id,
  TL_APPARATUSES(A)
#undef A
      TL_APPARATUS_COUNT
};

enum {
#define A(id, key, title, params, sections)                                                        \
  TL_##id##_PARAMS = (params), TL_##id##_SECTIONS = (sections),
  TL_APPARATUSES(A)
#undef A
};

/* Where the values of a device's section lie: its own struct is laid over it. */
enum { TL_APPARATUS_BYTES = 512 };
typedef union TlApparatusSection {
  max_align_t align;
  unsigned char bytes[TL_APPARATUS_BYTES];
} TlApparatusSection;

/* In a device's file: its tables have as many rows as the list says, its struct fits. */
#define TL_APPARATUS_ROWS(device, type, params, sections)                                          \
  _Static_assert(sizeof(type) <= TL_APPARATUS_BYTES, "TL_APPARATUS_BYTES holds the section");      \
  _Static_assert(sizeof(params) / sizeof *(params) == TL_##device##_PARAMS,                        \
                 "store/apparatuses.h");                                                           \
  _Static_assert(sizeof(sections) / sizeof *(sections) == TL_##device##_SECTIONS,                  \
                 "store/apparatuses.h")

typedef struct TlApparatus {
  const char *key;  /* of its section; its table is key.csv */
  const char *test; /* what is done with it, for messages: "a triaxial test" */
  TlResultsTable table;
  TlColumns columns;
  TlRecord state; /* what a checkpoint keeps, of reals and 64-bit integers; all 0 at the start */

  /* Does the study have one? */
  bool (*there)(const struct TlSetup *setup);
  /* What one key says against another; called for each study, with and without the device. */
  TlStatus (*check)(const struct TlSetup *setup, const TlStudy *study);
  /* Its parts join the lists of what the study says itself, at their ends. The effective study,
   * written before, keeps the section alone. */
  TlStatus (*expand)(struct TlSetup *setup);
  /* What its platens are made of; NULL, as without the function: none is named. */
  const char *(*platen_material)(const struct TlSetup *setup);
  /* Could a run have left this state, whose reals are finite? */
  bool (*state_is_sound)(const struct TlRun *run);

  /* The nets are known, their spheres not yet made. */
  void (*nets_open)(struct TlRun *run);
  /* Bodies were made, and first_placed is the id of the first of the section bodies. */
  TlStatus (*made)(struct TlRun *run, int64_t first_placed);
  /* The state is there, new or from a checkpoint. */
  void (*ready)(struct TlRun *run);
  /* Before a step, with fresh ghosts: lines of the table that are due, stages, what the solver is
   * told for the step. *escaped: grains of all ranks that it has found outside and flagged
   * (TL_BODY_OUTSIDE), for the study's policy. */
  TlStatus (*before_step)(struct TlRun *run, int64_t *escaped);
  /* After it, bodies and contacts still being those of the step. */
  TlStatus (*after_step)(struct TlRun *run, const struct TlStepReport *report);
  /* All stages done: the run ends. */
  bool (*finished)(const struct TlRun *run);
  /* At the end of a run, with fresh ghosts: a last line. */
  TlStatus (*end)(struct TlRun *run);
} TlApparatus;

#define A(id, key, title, params, sections)                                                        \
  extern const TlParam tl_##key##_params[];                                                        \
  extern const TlStudySection tl_##key##_sections[];                                               \
  extern const TlApparatus tl_##key;
TL_APPARATUSES(A)
#undef A

const TlApparatus *tl_apparatus(int id);
/* The study's own; NULL: it has none. */
const TlApparatus *tl_setup_apparatus(const struct TlSetup *setup);
/* The checks of all devices, and that there is one at most. */
TlStatus tl_apparatus_check(const struct TlSetup *setup, const TlStudy *study);
/* The parts of the study's own. */
TlStatus tl_apparatus_expand(struct TlSetup *setup);
/* What the platens of the study's own are made of; NULL: nothing is named. */
const char *tl_apparatus_platen_material(const struct TlSetup *setup);
/* Has the run's apparatus, if it has one, done all its stages? */
bool tl_apparatus_finished(const struct TlRun *run);

/* ---- for devices ---- */

/* Of the loading of springs: TL_EINPUT unless the study's method bears forces between steps. */
TlStatus tl_apparatus_needs_force(const struct TlSetup *setup, const TlStudy *study,
                                  const char *device);
/* One more item at the end of a list of the study, zeroed; NULL: no memory. */
void *tl_apparatus_append(TlStudyList *list, size_t size);
/* An upright box or cylinder that holds grains joins the walls, last: from one height over base_m to
 * another, open above, and with open_below below, too. Its width is the caller's to fill in. NULL: no
 * memory. */
struct TlWallSetup *tl_apparatus_add_wall(struct TlSetup *setup, int kind, const double base_m[3],
                                          double low_m, double high_m, bool open_below);
/* A platen joins shapes and bodies, both last: name, kind, sizes of shape, which is copied; its
 * middle stands at position_m. */
TlStatus tl_apparatus_add_platen(struct TlSetup *setup, const struct TlShapeSetup *shape,
                                 const char *name, const double position_m[3]);
/* Collective. The platen, the last placed body, has the platens' material and slides on a vertical
 * piston, the constraint TL_PISTON; *platen: its id. */
enum { TL_PISTON = 0 };
TlStatus tl_apparatus_mark_platen(struct TlRun *run, int64_t first_placed, int64_t *platen);
/* The specimen between a base and a platen that covers its whole area; of all ranks. */
typedef struct TlApparatusSpecimen {
  double platen_N; /* weight of the platen, downwards */
  double height_m; /* from the base to the platen's lower face */
  double solid_m3; /* volume of the grains between them */
  double weight_N; /* their weight: mass times what gravity has downwards */
  int64_t grains;  /* their number */
} TlApparatusSpecimen;
/* Collective. The base's face is at base_m[2], the platen is a body of this id and thickness. A grain
 * whose middle is at or beyond a face is in neither sum: what presses on it from there presses it
 * further out. escaped, unless NULL, is the number of these, each of which is flagged TL_BODY_OUTSIDE
 * and named in a warning. */
TlStatus tl_apparatus_look(struct TlRun *run, const double base_m[3], int64_t platen,
                           double thick_m, TlApparatusSpecimen *specimen, int64_t *escaped);
/* Collective, before the first step, of the platen's height in the study: TL_EINPUT at the key height_m
 * of the device's section, or at base_m, where grains lie at or beyond a face. */
TlStatus tl_apparatus_check_specimen(struct TlRun *run, const double base_m[3], double height_m);
/* Collective. For the next step: the platen presses on the grains with load_N, of which its own weight is a part (the
 * piston pulls where the weight is more), and does not tilt; global damping, negative:
 * contact.damping_per_s. */
TlStatus tl_apparatus_press(struct TlRun *run, double load_N, double platen_weight_N,
                            double damping_per_s);
/* At the start, where there is gravity: what the platen weighs, and whether the piston has to pull up
 * under the smallest load of the test. */
void tl_apparatus_say_weight(const struct TlRun *run, double platen_weight_N, double area_m2,
                             double least_Pa);
/* Is the unbalanced force of the last step, which the device's state holds, below its bound, and is
 * kinetic energy at most a fraction of elastic? */
bool tl_apparatus_at_rest(const struct TlRun *run, double unbalanced, double most,
                          double kinetic_fraction);
/* Sums over the parts first to end - 1 of a wall of the study; end < 0: to its last. Of forces by
 * boundary (run/boundary_forces.h). */
struct TlBoundaryForce;
struct TlBoundaryForce tl_apparatus_wall_force(const struct TlRun *run,
                                               const struct TlBoundaryForce *force, int64_t wall,
                                               int first, int end);
/* Is it time for what is done every so many steps, or for a line of the table? */
bool tl_apparatus_in_turn(int64_t step, int64_t every);
bool tl_apparatus_line_in_turn(const struct TlRun *run);
/* Is a line worth writing when the run ends? Its forces are means over the steps since the last line:
 * those of a few steps scatter, and would stand as a peak that no specimen has shown. */
bool tl_apparatus_last_line(const struct TlRun *run, int64_t averaged_steps);
/* A line of the device's table, made from row. */
TlStatus tl_apparatus_line(struct TlRun *run, const void *row);
bool tl_apparatus_is_grain(const struct TlBodies *bodies, int64_t i);

#endif
