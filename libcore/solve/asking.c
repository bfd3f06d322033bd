#include "solve/asking.h"

enum { ASK_EVERY = 4, ASK_LATE = 2 };

TlStatus tl_asking_drop(TlAsking *a) {
  if (a->asked < 0) return TL_OK;
  a->asked = -1;
  return tl_group_least_end(a->group, a->values);
}

TlStatus tl_asking_ask(TlAsking *a, int sweeps, const double *change, bool *answered) {
  const TlGroup *g = a->group;
  bool last = sweeps == a->most;
  *answered = false;
  if (last) TL_TRY(tl_asking_drop(a));
  if (a->asked < 0 && (last || !g->large || sweeps <= 1 || (sweeps - 1) % ASK_EVERY == 0)) {
    for (int32_t i = 0; i < g->islands; i++) a->values[i] = change[i];
    a->asked = sweeps;
    a->late = last || !g->large || sweeps <= 1 ? 0 : ASK_LATE;
    TL_TRY(tl_group_least_begin(g, a->values));
  }
  if (a->asked < 0 || sweeps < a->asked + a->late) return TL_OK;
  a->asked = -1;
  *answered = true;
  return tl_group_least_end(g, a->values);
}
