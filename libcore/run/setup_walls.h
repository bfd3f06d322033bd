/* Section walls: rigid walls of any kind, that may move, appear and vanish. */
#ifndef TL_RUN_SETUP_WALLS_H
#define TL_RUN_SETUP_WALLS_H

#include "conf/study.h"
#include "run/setup_materials.h"

typedef enum TlWallShape { TL_WALL_PLANE = 0, TL_WALL_BOX, TL_WALL_CYLINDER } TlWallShape;

typedef struct TlWallSetup {
  int kind;   /* TlWallShape */
  int grains; /* 0 outside, 1 inside */
  double point_m[3], normal[3], axis[3], size_m[3], rotation_deg[3];
  double radius_m, length_m, thickness_m;
  TlTexts open;
  char *material;
  TlOldForm own; /* < 0: contact.boundary_* */
  double velocity_m_s[3], spin_rad_s[3], pivot_m[3], surface_velocity_m_s[3];
  char *table;
  double from_s, until_s;
  /* Of an apparatus, in place of a table: displacements at ascending times, linear between. */
  int moves;
  double move_time_s[3], move_m[3][3];
} TlWallSetup;

enum { TL_WALL_PARAMS = 21 };
extern const TlParam tl_wall_params[];

/* Faces of a box, ends of a cylinder as named in `open`: bit 2*axis + (1 for +); -1: no such. */
int tl_wall_face(const char *name);
/* What one key says against another. */
TlStatus tl_walls_check(const TlStudyList *walls, const TlStudy *study);

#endif
