/* Section joints: welds, hinges, sliders and distances of bodies of the study, with motors and limits. */
#ifndef TL_RUN_SETUP_JOINTS_H
#define TL_RUN_SETUP_JOINTS_H

#include "conf/study.h"
#include "model/pair_state.h"
#include "solve/methods.h"

typedef struct TlJointSetup {
  int kind;           /* place in TL_JOINT_STATES (tl_joint_kind) */
  char *body, *other; /* other NULL: the world */
  double point_m[3], other_point_m[3], axis[3];
  double motor_rad_s, motor_most_N_m; /* hinge */
  double motor_m_s, motor_most_N;     /* slider */
  double least_deg, most_deg;         /* hinge; both 0: no limits */
  double least_m, most_m;             /* slider: likewise; distance */
} TlJointSetup;

enum { TL_JOINT_PARAMS = 14 };
extern const TlParam tl_joint_params[];
TlPairKind tl_joint_kind(const TlJointSetup *joint);

/* The name of the body that has this id, the first of the list having the id `first`; NULL: it has none,
 * or is no body of the list. */
const char *tl_bodies_name(const TlStudyList *bodies, int64_t first, int64_t id);
/* Place of the body of this name in the list of bodies, or -1. */
int64_t tl_bodies_index(const TlStudyList *bodies, const char *name);
/* What one key says against another, limits against the start; names of bodies; does the method solve
 * them? */
TlStatus tl_joints_check(const TlStudyList *joints, const TlStudyList *bodies, TlMethod method,
                         const TlStudy *study);

#endif
