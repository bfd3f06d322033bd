#include "run/boundary_forces.h"

#include "base/mem.h"
#include "num/exact.h"
#include "run/run.h"

void tl_boundary_force_add(TlBoundaryForce *to, const TlBoundaryForce *more) {
  to->force_N = tl_add(to->force_N, more->force_N);
  to->moment_N_m = tl_add(to->moment_N_m, more->moment_N_m);
  to->normal_N += more->normal_N;
  to->contacts += more->contacts;
}

enum { TERMS = 8 }; /* force, moment, normal force, contacts */

/* side: -1 when the contact's body is pressed by what the sums are of, 1 when it is that itself. */
static void add_contact(TlExact *sum, const TlContactRow *row, double side, double step_s) {
  TlVec3 f = tl_scale(side / step_s, row->impulse_N_s);
  TlVec3 m = tl_cross(row->point, f);
  const double term[TERMS] = {f.x, f.y, f.z, m.x, m.y, m.z, side * tl_dot(f, row->normal), 1};
  for (int k = 0; k < TERMS; k++) tl_exact_add(&sum[k], term[k]);
}

TlStatus tl_boundary_forces(TlRun *run, int64_t body, TlBoundaryForce *force) {
  TlContactRow *row = NULL;
  TlExact *sum = NULL;
  int64_t count = 0;
  int all = run->boundary_count + 1;
  double dt = run->setup.time.dt_s;
  TlStatus status = TL_NEW(sum, (size_t)(TERMS * all));
  if (status == TL_OK) status = tl_solver_contacts(run->solver, &run->bodies, &row, &count);
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    const TlContactRow *r = &row[i];
    TlExact *on_body = sum + TERMS * run->boundary_count;
    if (r->high < 0) add_contact(sum + TERMS * (-1 - r->high), r, -1, dt);
    if (body >= 0 && r->low == body) add_contact(on_body, r, 1, dt);
    if (body >= 0 && r->high == body) add_contact(on_body, r, -1, dt);
  }
  tl_free(row);
  status = tl_comm_agree(run->comm, status);
  if (status == TL_OK)
    status = tl_comm_sum_int(run->comm, (int64_t *)sum, TERMS * all * TL_EXACT_LIMBS);
  for (int k = 0; status == TL_OK && k < all; k++) {
    double v[TERMS];
    for (int t = 0; t < TERMS; t++) v[t] = tl_exact_value(&sum[TERMS * k + t]);
    force[k] = (TlBoundaryForce){.force_N = {v[0], v[1], v[2]},
                                 .moment_N_m = {v[3], v[4], v[5]},
                                 .normal_N = v[6],
                                 .contacts = (int64_t)v[7]};
  }
  tl_free(sum);
  return status;
}
