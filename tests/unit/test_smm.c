/* Simultaneous impulses on contacts set up by hand, against closed forms and against a dense solve
 * that tries every set of active contacts. */
#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "solve/etm.h"
#include "support/impulse_rig.h"
#include "support/pack.h"

enum { MOST = 8 }; /* contacts of a dense solve */

static const TlVec3 ZERO = {0, 0, 0}, UP = {0, 0, 1};

static void rig_start(Rig *r) {
  memset(r, 0, sizeof *r);
  r->law = (TlEtmLaw){.max_rounds = 40, .tolerance_m_s = 1e-6, .entry_m_s = 1e-6};
}

/* Sliding vx' = vx - mu (1+e) vz; sticking vx' = vx - 2/7 (1 + e_t) vx; spin 2.5 of the change. */
START_TEST(one_contact_of_a_sphere_follows_the_closed_form) {
  for (int slide = 0; slide < 2; slide++)
    for (int ie = 0; ie <= 2; ie++)
      for (int it = 0; it <= 2; it++) {
        double e = 0.5 * ie, et = 0.5 * it, mu = 0.25, vz = 2, radius = 0.3;
        double border = 3.5 * mu * (1 + e) * vz / (1 + et),
               vx = slide ? 1.3 * border : 0.6 * border;
        double j = slide ? mu * (1 + e) * vz : 2.0 / 7 * (1 + et) * vx;
        Rig r;
        rig_start(&r);
        rig_add_sphere(&r, tl_vec3(0, 0, radius), 1.7, radius, tl_vec3(vx, 0, -vz), ZERO);
        rig_add_contact(&r, 0, -1, ZERO, UP, mu, e);
        r.pair_law[0].tangential_restitution = et;
        rig_solve(&r, tl_smm);
        CK_NEAR(r.twist[0].v.x, vx - j, 1e-11);
        CK_NEAR(r.twist[0].w.y, 2.5 * j / radius, 1e-11);
        CK_NEAR(r.twist[0].v.z, e * vz, 1e-11);
        CK_NEAR(r.count.stored_J, 0.5 * 1.7 * vz * vz, 1e-11);
        CK_NEAR(r.count.released_J, e * e * r.count.stored_J, 1e-11);
      }
}
END_TEST

START_TEST(slow_contacts_do_not_rebound_and_gaps_may_close) {
  Rig r;
  rig_start(&r);
  r.law.threshold_m_s = 1;
  rig_add_sphere(&r, UP, 1, 1, tl_vec3(0, 0, -0.9), ZERO);
  rig_add_contact(&r, 0, -1, ZERO, UP, 0, 1);
  rig_solve(&r, tl_smm);
  CK_NEAR(r.twist[0].v.z, 0, 1e-12);
  for (int fast = 0; fast < 2; fast++) { /* its gap takes 0.5 m/s; beyond that it is a collision */
    rig_start(&r);
    rig_add_sphere(&r, UP, 1, 1, tl_vec3(0, 0, fast ? -0.6 : -0.4), ZERO);
    rig_add_contact(&r, 0, -1, ZERO, UP, 0, 1)->allowed_speed = 0.5;
    rig_solve(&r, tl_smm);
    CK_NEAR(r.twist[0].v.z, fast ? 0.6 : -0.4, 1e-12);
    ck_assert_int_eq((int)r.count.impulses, fast);
  }
}
END_TEST

/* A cube of edge 1 on four points between x = low and 0.5. */
static void cube(Rig *r, double low, double mu, double e, TlVec3 v) {
  rig_start(r);
  rig_add_body(r, tl_vec3(0, 0, 0.5), 2, tl_vec3(1.0 / 3, 1.0 / 3, 1.0 / 3), (TlQuat){1, 0, 0, 0},
               v, ZERO);
  for (int i = 0; i < 4; i++)
    rig_add_contact(r, 0, -1, tl_vec3(i % 2 ? low : 0.5, i / 2 ? -0.5 : 0.5, 0), UP, mu, e);
}

/* Friction acts below the centre and would turn a cube that slides: those have none. */
START_TEST(a_cube_landing_flat_leaves_without_spin) {
  for (int ie = 0; ie <= 2; ie++)
    for (int mu = 0; mu < 2; mu++) {
      Rig r;
      cube(&r, -0.5, 0.4 * mu, 0.5 * ie, tl_vec3(mu ? 0 : 3, 0, -10));
      rig_solve(&r, tl_smm);
      CK_NEAR(r.twist[0].v.x, mu ? 0 : 3, 1e-9);
      CK_NEAR(r.twist[0].v.z, 5 * ie, 1e-9);
      CK_NEAR(tl_norm(r.twist[0].w), 0, 1e-9);
      ck_assert(r.count.rounds == 1 && r.count.unfinished == 0);
    }
}
END_TEST

/* Tang 2014, Fig. 7a: impulses on one side of the centre leave no spin only if some of them pull:
 * their resultant is 2 m v at the centre. */
START_TEST(a_cube_on_an_edge_leaves_without_spin_for_some_contacts_pull) {
  Rig r;
  cube(&r, 0.2, 0, 1, tl_vec3(0, 0, -10));
  rig_solve(&r, tl_smm);
  CK_NEAR(r.twist[0].v.z, 10, 1e-9);
  CK_NEAR(tl_norm(r.twist[0].w), 0, 1e-9);
  double sum = 0, moment = 0;
  for (int i = 0; i < 4; i++) {
    sum += r.contact[i].impulse.z;
    moment += r.contact[i].impulse.z * r.contact[i].ra.x;
  }
  CK_NEAR(sum, 40, 1e-8);
  CK_NEAR(moment, 0, 1e-8);
  ck_assert(r.contact[0].impulse.z < 0 && r.contact[1].impulse.z > 0);
}
END_TEST

/* ---- the dense solve ---- */

typedef struct Dense {
  int n;
  double a[MOST][MOST], u[MOST], aim[MOST]; /* u' = u + A p */
  bool equation[MOST];
} Dense;

/* du_i by a unit impulse at j, from the bodies' masses alone. */
static double coupling(const Rig *r, const TlContact *i, const TlContact *j) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    int body = side ? j->b : j->a;
    if (body < 0) continue;
    TlVec3 p = side ? tl_scale(-1, j->n) : j->n, arm = side ? j->rb : j->ra;
    TlVec3 dv = tl_scale(r->inverse_mass[body], p),
           dw = tl_sym_vec(r->inverse_inertia[body], tl_cross(arm, p));
    if (i->a == body) sum += tl_dot(i->n, tl_add(dv, tl_cross(dw, i->ra)));
    if (i->b == body) sum -= tl_dot(i->n, tl_add(dv, tl_cross(dw, i->rb)));
  }
  return sum;
}

static double normal_velocity(const TlContact *c, const TlTwist *twist) {
  TlVec3 u = tl_add(twist[c->a].v, tl_cross(twist[c->a].w, c->ra));
  if (c->b >= 0) u = tl_sub(u, tl_add(twist[c->b].v, tl_cross(twist[c->b].w, c->rb)));
  return tl_dot(c->n, u);
}

static void dense_make(Dense *d, const Rig *r, double e) {
  d->n = r->contacts;
  for (int i = 0; i < d->n; i++) {
    for (int j = 0; j < d->n; j++) d->a[i][j] = coupling(r, &r->contact[i], &r->contact[j]);
    d->u[i] = normal_velocity(&r->contact[i], r->twist);
    d->equation[i] = d->u[i] < 0;
    d->aim[i] = d->equation[i] ? -e * d->u[i] : 0;
  }
}

/* A p = aim - u over the active contacts, by elimination with pivots. False: singular. */
static bool eliminate(const Dense *d, unsigned active, double *p) {
  double a[MOST][MOST + 1];
  int at[MOST], n = 0;
  for (int i = 0; i < d->n; i++) {
    p[i] = 0;
    if (active >> i & 1) at[n++] = i;
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) a[i][j] = d->a[at[i]][at[j]];
    a[i][n] = d->aim[at[i]] - d->u[at[i]];
  }
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k; i < n; i++)
      if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
    if (fabs(a[pivot][k]) < 1e-9) return false;
    for (int j = 0; j <= n; j++) {
      double swap = a[k][j];
      a[k][j] = a[pivot][j];
      a[pivot][j] = swap;
    }
    for (int i = 0; i < n; i++) {
      double f = i == k ? 0 : a[i][k] / a[k][k];
      for (int j = k; j <= n; j++) a[i][j] -= f * a[k][j];
    }
  }
  for (int k = 0; k < n; k++) p[at[k]] = a[k][n] / a[k][k];
  return true;
}

/* The impulses with which every line of the problem is true; false: none were found. */
static bool dense_solve(const Dense *d, double *p) {
  unsigned equations = 0;
  for (int i = 0; i < d->n; i++) equations |= (unsigned)d->equation[i] << i;
  for (unsigned active = 0; active < 1u << d->n; active++) {
    if ((active & equations) != equations || !eliminate(d, active, p)) continue;
    bool good = true;
    for (int i = 0; i < d->n; i++) {
      double u = d->u[i];
      for (int j = 0; j < d->n; j++) u += d->a[i][j] * p[j];
      good &= d->equation[i] || (p[i] >= 0 && u >= d->aim[i] - 1e-10);
    }
    if (good) return true;
  }
  return false;
}

/* Five irregular bodies and up to eight points between them at which they may or may not approach.
 */
static void cloud(Rig *r, TlRandom *x, double mu, double e) {
  rig_start(r);
  for (int i = 0; i < 5; i++) {
    TlVec3 at, v, w;
    double *to[3] = {&at.x, &v.x, &w.x};
    for (int k = 0; k < 9; k++) to[k / 3][k % 3] = tl_random_next_normal(x);
    TlQuat q = tl_quat_unit((TlQuat){tl_random_next_normal(x), tl_random_next_normal(x),
                                     tl_random_next_normal(x), tl_random_next_normal(x)});
    TlVec3 moments = {1 + tl_random_next(x), 2 + tl_random_next(x), 2.9};
    rig_add_body(r, tl_scale(2, at), 1 + 3 * tl_random_next(x), moments, q, v, w);
  }
  int contacts = 1 + (int)(MOST * tl_random_next(x));
  for (int i = 0; i < contacts; i++) {
    int a = (int)(4 * tl_random_next(x)), b = a + 1 + (int)((4 - a) * tl_random_next(x));
    TlVec3 between = tl_scale(0.5, tl_add(r->at[a], r->at[b])), off, n;
    off = tl_vec3(tl_random_next_normal(x), tl_random_next_normal(x), tl_random_next_normal(x));
    n = tl_vec3(0.4 * tl_random_next_normal(x), 0.4 * tl_random_next_normal(x),
                0.4 * tl_random_next_normal(x));
    n = tl_unit(tl_add(tl_unit(tl_sub(r->at[a], r->at[b])), n));
    rig_add_contact(r, a, b, tl_axpy(between, 0.3, off), n, mu, e);
  }
}

/* The solve ends when no contact is off by 1e-12 m/s; a system of eight magnifies that a thousand
 * times where it is nearly singular. Momentum is exact to the rounding of the impulses added up. */
START_TEST(frictionless_impacts_are_those_of_the_dense_problem) {
  TlRandom x = {21, 0, 0};
  int pulled = 0, passive = 0, solved = 0;
  for (int trial = 0; trial < 300; trial++) {
    Rig r;
    Dense d;
    double p[MOST], e = trial % 3 ? 0.5 * (trial % 3) : 0;
    cloud(&r, &x, 0, e);
    dense_make(&d, &r, e);
    if (!dense_solve(&d, p)) continue;
    rig_solve(&r, tl_smm);
    if (r.count.rounds > 1) continue; /* nearly singular: more than 1000 sweeps */
    solved++;
    TlVec3 push = ZERO, turn = ZERO;
    for (int i = 0; i < d.n; i++) {
      double u = d.u[i];
      for (int j = 0; j < d.n; j++) u += d.a[i][j] * p[j];
      CK_NEAR(normal_velocity(&r.contact[i], r.twist), u, 1e-9);
      ck_assert(normal_velocity(&r.contact[i], r.twist) >= -1e-9);
      pulled += p[i] < -0.01;
      passive += !d.equation[i] && p[i] > 0.01;
    }
    for (int b = 0; b < r.bodies; b++) {
      TlVec3 dv = tl_sub(r.twist[b].v, r.start[b].v), dw = tl_sub(r.twist[b].w, r.start[b].w);
      push = tl_axpy(push, 1 / r.inverse_mass[b], dv);
      turn = tl_add(turn, tl_axpy(tl_sym_vec(r.inertia[b], dw), 1 / r.inverse_mass[b],
                                  tl_cross(r.at[b], dv)));
    }
    CK_NEAR(tl_norm(push), 0, 1e-10);
    CK_NEAR(tl_norm(turn), 0, 1e-10);
    CK_NEAR(rig_kinetic(&r, r.twist) - rig_kinetic(&r, r.start),
            r.count.released_J - r.count.stored_J, 1e-8);
  }
  ck_assert_msg(solved >= 250 && pulled > 20 && passive > 20, "%d, %d, %d", solved, pulled,
                passive);
}
END_TEST

/* Coulomb's law at the end, contact by contact. */
START_TEST(friction_keeps_to_the_cone_and_opposes_what_slides) {
  TlRandom x = {22, 0, 0};
  int stuck = 0, slid = 0, ended = 0;
  for (int trial = 0; trial < 300; trial++) {
    Rig r;
    double mu = 0.1 + 0.5 * tl_random_next(&x);
    cloud(&r, &x, mu, trial % 2 ? 0.5 : 0);
    rig_solve(&r, tl_smm);
    if (r.count.rounds > 1) continue;
    ended++;
    for (int i = 0; i < r.contacts; i++) {
      const TlContact *c = &r.contact[i];
      TlVec3 u = tl_contact_velocity(c, r.twist);
      double pn = tl_dot(c->n, c->impulse), un = tl_dot(c->n, u);
      TlVec3 pt = tl_axpy(c->impulse, -pn, c->n), ut = tl_axpy(u, -un, c->n);
      ck_assert(un >= -1e-9);
      ck_assert(tl_norm(pt) <= mu * tl_max(pn, 0) + 1e-10);
      if (tl_norm(pt) < mu * pn - 1e-6) {
        CK_NEAR(tl_norm(ut), 0, 1e-9);
        stuck++;
      } else if (pn > 1e-3 && tl_norm(ut) > 1e-3) {
        CK_NEAR(tl_dot(ut, pt), -tl_norm(ut) * tl_norm(pt), 1e-9);
        slid++;
      }
    }
  }
  ck_assert_msg(ended >= 200 && stuck > 50 && slid > 50, "%d, %d, %d", ended, stuck, slid);
}
END_TEST

/* Two points of one place that ask for different rebounds: the greater one holds. */
START_TEST(equations_without_a_solution_become_inequalities) {
  Rig r;
  rig_start(&r);
  rig_add_sphere(&r, UP, 1, 1, tl_vec3(0, 0, -2), ZERO);
  rig_add_contact(&r, 0, -1, ZERO, UP, 0, 0.2);
  rig_add_contact(&r, 0, -1, ZERO, UP, 0, 0.7);
  rig_solve(&r, tl_smm);
  CK_NEAR(r.twist[0].v.z, 1.4, 1e-9);
  ck_assert(r.count.rounds == 2 && r.count.zero_finishes == 0 && r.count.unfinished == 0);
}
END_TEST

START_TEST(a_sphere_between_walls_that_close_is_counted) {
  Rig r;
  rig_start(&r);
  rig_add_sphere(&r, ZERO, 1, 1, ZERO, ZERO);
  for (int side = 0; side < 2; side++) {
    double s = side ? 1 : -1;
    TlContact *c = rig_add_contact(&r, 0, -1, tl_vec3(0, 0, s), tl_vec3(0, 0, -s), 0, 0.5);
    TlDynamics d = rig_dynamics(&r);
    c->wall = tl_vec3(0, 0, -s);
    tl_contact_prepare(c, &d);
  }
  rig_solve(&r, tl_smm);
  ck_assert(r.count.zero_finishes == 1 && r.count.unfinished == 1 && r.pair[0].stuck);
  ck_assert(fabs(r.twist[0].v.z) <= 2); /* no faster than the walls close */
}
END_TEST

/* A block of 500 spheres that touch falls on a floor: all at once, on one and two threads. With
 * friction Gauss-Seidel wanders; sequential impulses end it. */
START_TEST(threads_change_no_bit_and_nothing_approaches_after_a_dense_impact) {
  for (int i = 0; i < 4; i++) {
    TlTwist *end[2];
    bool rough = i / 2;
    for (int k = 0; k < 2; k++) {
      tl_par_set_threads(k + 1);
      Pack p;
      CK_OK(pack_jammed(&p, 5, rough ? 0.3 : 0, 0.5 * (i % 2)));
      TlDynamics d = pack_dynamics(&p);
      TlEtmCount count = {0};
      TlEtmLaw law = {.max_rounds = 20, .tolerance_m_s = 1e-3};
      double before = pack_kinetic(&p);
      CK_OK(tl_smm(&law, &p.groups.group[0], &d, &count));
      ck_assert_int_eq((int)count.unfinished, 0);
      ck_assert_int_eq((int)count.zero_finishes, rough);
      ck_assert_msg(pack_approach(&p) <= law.tolerance_m_s, "%g", pack_approach(&p));
      ck_assert(pack_kinetic(&p) <= before);
      size_t size = (size_t)p.bodies.total * sizeof(TlTwist);
      end[k] = tl_calloc(1, size);
      memcpy(end[k], p.twist, size);
      if (k) ck_assert(memcmp(end[0], end[1], size) == 0);
      pack_free(&p);
    }
    tl_par_set_threads(1);
    tl_free(end[0]);
    tl_free(end[1]);
  }
}
END_TEST

TL_TEST_MAIN("simultaneous impulses", one_contact_of_a_sphere_follows_the_closed_form,
             slow_contacts_do_not_rebound_and_gaps_may_close,
             a_cube_landing_flat_leaves_without_spin,
             a_cube_on_an_edge_leaves_without_spin_for_some_contacts_pull,
             frictionless_impacts_are_those_of_the_dense_problem,
             friction_keeps_to_the_cone_and_opposes_what_slides,
             equations_without_a_solution_become_inequalities,
             a_sphere_between_walls_that_close_is_counted,
             threads_change_no_bit_and_nothing_approaches_after_a_dense_impact)
