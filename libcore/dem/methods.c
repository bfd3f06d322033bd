#include "dem/etm.h"

typedef struct Row {
  TlCollisionSolve solve;
  bool one_rank;
} Row;

static const Row rows[] = {
#define M(id, name, solve, one_rank) {solve, one_rank},
    TL_COLLISION_METHODS(M)
#undef M
};

const char tl_collision_names[] =
#define M(id, name, solve, one_rank) "|" name
    TL_COLLISION_METHODS(M);
#undef M

bool tl_collision_one_rank(TlCollisionMethod method) {
  return rows[method].one_rank;
}

TlCollisionSolve tl_collision_solver(TlCollisionMethod method) {
  return rows[method].solve;
}
