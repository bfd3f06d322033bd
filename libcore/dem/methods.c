#include "dem/etm.h"
#include "dem/step_impl.h"

typedef struct Row {
  TlCollisionSolve solve; /* or a step */
  TlStepMethod step;
  bool one_rank;
} Row;

static const Row rows[] = {
#define M(id, name, solve, one_rank) {solve, NULL, one_rank},
    TL_COLLISION_METHODS(M)
#undef M
#define M(id, name, step) {NULL, step, false},
        TL_STEP_METHODS(M)
#undef M
};

const char tl_method_names[] =
#define M(id, name, solve, one_rank) "|" name
    TL_COLLISION_METHODS(M)
#undef M
#define M(id, name, step) "|" name
        TL_STEP_METHODS(M);
#undef M

bool tl_method_one_rank(TlMethod method) {
  return rows[method].one_rank;
}

TlCollisionSolve tl_collision_solver(TlMethod method) {
  return rows[method].solve;
}

TlStepMethod tl_step_method(TlMethod method) {
  return rows[method].step;
}
