#include "run/materials.h"

int32_t tl_material_of_class(const TlSetup *s, int64_t item) {
  (void)s;
  return TL_MATERIAL_FIRST_OWN + (int32_t)item;
}

int32_t tl_material_of_wall(const TlSetup *s, int64_t item) {
  return tl_material_of_class(s, s->terrain.classes.count + item);
}

int32_t tl_material_of_platen(const TlSetup *s) {
  return tl_material_of_wall(s, s->walls.count);
}

int32_t tl_material_of_net(const TlSetup *s, int64_t item) {
  return tl_material_of_platen(s) + 1 + (int32_t)item;
}

static double or_else(double value, double otherwise) {
  return value < 0 ? otherwise : value;
}

/* What the contacts of a material are like, where it is the one that says so. */
static TlPairLaw law_of(const TlSetup *s, const TlSolverConfig *c, int32_t material) {
  const TlClassSetup *ground = s->terrain.classes.items;
  const TlWallSetup *wall = s->walls.items;
  const TlNetSetup *net = s->nets.items;
  int32_t platen = tl_material_of_platen(s), first_wall = tl_material_of_wall(s, 0);
  TlPairLaw law = {c->boundary_friction,
                   c->boundary_restitution,
                   c->boundary_tangential_restitution,
                   c->penalty.boundary,
                   0,
                   0};
  if (material == TL_MATERIAL_GRAIN) {
    law =
        (TlPairLaw){c->friction, c->restitution, c->tangential_restitution, c->penalty.grain, 0, 0};
  } else if (material > platen) {
    net += material - tl_material_of_net(s, 0);
    law = (TlPairLaw){net->friction, net->restitution, 0, c->penalty.grain, 0, 0};
  } else if (material == platen) {
    law.stiffness = c->penalty.grain;
  } else if (material >= first_wall) {
    wall += material - first_wall;
    law.friction = or_else(wall->friction, law.friction);
    law.restitution = or_else(wall->restitution, law.restitution);
  } else if (material >= TL_MATERIAL_FIRST_OWN) {
    ground += material - TL_MATERIAL_FIRST_OWN;
    law.friction = or_else(ground->friction, law.friction);
    law.restitution = or_else(ground->restitution, law.restitution);
  }
  return law;
}

TlStatus tl_setup_materials(const TlSetup *s, const TlSolverConfig *c, TlMaterials *m) {
  int32_t platen = tl_material_of_platen(s), count = tl_material_of_net(s, s->nets.count);
  TL_TRY(tl_materials_new(m, count));
  for (int32_t i = 0; i < count; i++)
    for (int32_t j = 0; j <= i; j++) {
      TlPairLaw law = law_of(s, c, j > platen ? j : i); /* of two nets the first */
      bool surface = j >= TL_MATERIAL_BOUNDARY && j < platen;
      if (surface) law.stiffness = c->penalty.boundary;
      tl_materials_set(m, i, j, &law);
    }
  return TL_OK;
}
