/* The energy tracking method on contacts set up by hand: closed forms and energy balances. */
#include "support/tltest.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/random.h"
#include "solve/etm.h"
#include "solve/queue.h"
#include "support/impulse_rig.h"
#include "support/keller.h"
#include "support/pack.h"

static const RigSolve solvers[2] = {tl_etm_level, tl_etm_priority};

static void rig_start(Rig *r, int increments) {
  memset(r, 0, sizeof *r);
  r->law = (TlEtmLaw){.increments = increments,
                      .max_rounds = 100,
                      .final_sweeps = 100000,
                      .tolerance_m_s = 1e-9,
                      .similar = 0};
}

/* Two unequal spheres, central: u+ = -e u- whatever the number of increments. */
START_TEST(central_impact_of_spheres_returns_e_times_the_approach) {
  const double es[3] = {0, 0.5, 1};
  const int ks[4] = {1, 7, 30, 500};
  for (int m = 0; m < 2; m++)
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 4; k++) {
        Rig r;
        rig_start(&r, ks[k]);
        TlVec3 n = tl_unit(tl_vec3(1, 2, -2)), o = {0, 0, 0};
        int a = rig_add_sphere(&r, tl_scale(2, n), 3, 2, tl_scale(-4, n), o);
        int b = rig_add_sphere(&r, tl_scale(-1, n), 0.5, 1, tl_scale(3, n), o);
        rig_add_contact(&r, a, b, o, n, 0.4, es[i]);
        rig_solve(&r, solvers[m]);
        double u = tl_dot(n, tl_sub(r.twist[a].v, r.twist[b].v));
        CK_NEAR(u, 7 * es[i], 7e-12); /* 500 increments of rounding 1e-15 */
        CK_NEAR(tl_norm(r.twist[a].w), 0, 1e-12);
      }
}
END_TEST

/* Correction 4: sliding vx' = vx - mu (1+e) vz, w = 2.5 mu (1+e) vz/r; sticking vx' = 5/7 vx. */
START_TEST(oblique_impact_of_a_sphere_follows_the_closed_form_at_any_increment_count) {
  const int ks[5] = {1, 2, 9, 30, 200};
  const double vz = 2, radius = 0.3, o3 = 0;
  for (int m = 0; m < 2; m++)
    for (int k = 0; k < 5; k++)
      for (int slide = 0; slide < 2; slide++)
        for (int ie = 0; ie <= 2; ie++) {
          double mu = 0.25, e = 0.5 * ie, border = 3.5 * mu * (1 + e) * vz,
                 vx = slide ? 1.3 * border : 0.6 * border;
          Rig r;
          rig_start(&r, ks[k]);
          int a = rig_add_sphere(&r, tl_vec3(0, 0, radius), 1.7, radius, tl_vec3(vx, 0, -vz),
                                 tl_vec3(o3, o3, o3));
          rig_add_contact(&r, a, -1, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1), mu, e);
          rig_solve(&r, solvers[m]);
          double want = slide ? vx - mu * (1 + e) * vz : 5.0 / 7 * vx;
          double spin = slide ? 2.5 * mu * (1 + e) * vz / radius : 5.0 / 7 * vx / radius;
          CK_NEAR(r.twist[a].v.x, want, 1e-9);
          CK_NEAR(r.twist[a].w.y, spin, 1e-9);
          CK_NEAR(r.twist[a].v.z, e * vz, 1e-9);
        }
}
END_TEST

static void random_pair(Rig *r, TlRandom *x, int increments, double mu, double e) {
  rig_start(r, increments);
  TlVec3 o = {0, 0, 0}, at[2];
  TlQuat q;
  for (int i = 0; i < 2; i++) {
    q = tl_quat_unit((TlQuat){tl_random_next_normal(x), tl_random_next_normal(x),
                              tl_random_next_normal(x), tl_random_next_normal(x)});
    at[i] = tl_vec3(tl_random_next_normal(x), tl_random_next_normal(x), i ? -1 : 1);
    TlVec3 moments = {1 + tl_random_next(x), 2 + tl_random_next(x), 2.9};
    TlVec3 v = {tl_random_next_normal(x), tl_random_next_normal(x), i ? 3 : -3};
    TlVec3 w = {tl_random_next_normal(x), tl_random_next_normal(x), tl_random_next_normal(x)};
    rig_add_body(r, at[i], 1 + 3 * tl_random_next(x), tl_scale(0.3, moments), q, v, w);
  }
  TlVec3 n = tl_unit(tl_vec3(0.3 * tl_random_next_normal(x), 0.3 * tl_random_next_normal(x), 1));
  rig_add_contact(r, 0, 1, o, n, mu, e);
}

static double work_held(const Rig *r) {
  double sum = 0;
  for (int i = 0; i < r->contacts; i++) sum += r->contact[i].work;
  return sum;
}

/* Kinetic energy plus stored work stays constant at every impulse of compression and release. */
START_TEST(elastic_frictionless_energy_is_constant_to_rounding) {
  TlRandom x = {11, 0, 0};
  for (int k = 1; k <= 500; k = k < 10 ? k + 1 : 2 * k) {
    Rig r;
    random_pair(&r, &x, k, 0, 1);
    TlDynamics d = rig_dynamics(&r);
    TlContact *c = &r.contact[0];
    double e0 = rig_kinetic(&r, r.twist), du = -tl_contact_un(c, r.twist) / k;
    ck_assert(du > 0);
    for (int i = 0; i < k; i++) {
      tl_etm_compress(&r.law, c, &d, du);
      CK_NEAR(rig_kinetic(&r, r.twist) + work_held(&r), e0, 1e-13 * e0 * (1 + 0.02 * k));
    }
    ck_assert(c->work > 0);
    for (bool done = false; !done;) {
      done = tl_etm_release(&r.law, c, &d, 0, du);
      CK_NEAR(rig_kinetic(&r, r.twist) + work_held(&r), e0, 1e-13 * e0 * (1 + 0.02 * k));
    }
    CK_NEAR(c->work, 0, 0);
  }
}
END_TEST

START_TEST(a_collision_of_irregular_grains_conserves_momentum_and_angular_momentum) {
  TlRandom x = {12, 0, 0};
  for (int trial = 0; trial < 200; trial++) {
    Rig r;
    random_pair(&r, &x, 20, 0.5, 0.4);
    TlVec3 p[2], l[2];
    for (int when = 0; when < 2; when++) {
      if (when == 1) rig_solve(&r, solvers[trial % 2]);
      p[when] = l[when] = (TlVec3){0, 0, 0};
      for (int i = 0; i < 2; i++) {
        TlVec3 mv = tl_scale(1 / r.inverse_mass[i], r.twist[i].v);
        p[when] = tl_add(p[when], mv);
        l[when] = tl_add(l[when], tl_cross(r.at[i], mv));
        l[when] = tl_add(l[when], tl_sym_vec(r.inertia[i], r.twist[i].w));
      }
    }
    double scale = 20; /* masses up to 4, speeds of 3, arms of 1 */
    CK_NEAR(tl_norm(tl_sub(p[1], p[0])), 0, 1e-12 * scale);
    CK_NEAR(tl_norm(tl_sub(l[1], l[0])), 0, 1e-12 * scale);
  }
}
END_TEST

/* Stronge: for grains W_released = e^2 W_stored holds by construction of the last line but one; the
 * check is that what the contact really did (n.P times mean u_n, summed outside) agrees. */
START_TEST(released_over_stored_work_is_e_squared_with_friction) {
  TlRandom x = {13, 0, 0};
  int tried = 0;
  for (int trial = 0; trial < 100; trial++) {
    Rig r;
    random_pair(&r, &x, 30, 0.6, 0.5);
    TlDynamics d = rig_dynamics(&r);
    TlContact *c = &r.contact[0];
    double du = -tl_contact_un(c, r.twist) / 30, stored = 0, released = 0;
    if (du <= 0) continue; /* a pair that does not approach */
    tried++;
    for (int i = 0; i < 30; i++) {
      double before = tl_contact_un(c, r.twist), pn = tl_etm_compress(&r.law, c, &d, du);
      stored -= 0.5 * (before + tl_contact_un(c, r.twist)) * pn;
    }
    CK_NEAR(tl_contact_un(c, r.twist), 0, 1e-12);
    c->start = -30 * du;
    tl_etm_restitute(c, &r.law, false, &r.count);
    for (bool done = false; !done;) {
      TlVec3 p = c->impulse;
      double before = tl_contact_un(c, r.twist);
      done = tl_etm_release(&r.law, c, &d, 0, du);
      double pn = tl_dot(c->n, tl_sub(c->impulse, p));
      released += 0.5 * (before + tl_contact_un(c, r.twist)) * pn;
    }
    CK_NEAR(released / stored, 0.25, 1e-11);
    CK_NEAR(r.count.released_J / r.count.stored_J, 0.25, 1e-12);
  }
  ck_assert(tried > 80);
}
END_TEST

START_TEST(friction_never_adds_energy) {
  TlRandom x = {14, 0, 0};
  for (int trial = 0; trial < 400; trial++) {
    Rig r;
    random_pair(&r, &x, 25, 0.1 + tl_random_next(&x), tl_random_next(&x));
    double before = rig_kinetic(&r, r.twist);
    rig_solve(&r, solvers[trial % 2]);
    ck_assert_msg(rig_kinetic(&r, r.twist) <= before * (1 + 1e-12), "trial %d: %g -> %g", trial,
                  before, rig_kinetic(&r, r.twist));
    ck_assert(tl_contact_un(&r.contact[0], r.twist) >= -r.law.tolerance_m_s);
  }
}
END_TEST

static void cube_on_four_corners(Rig *r, int increments, double mu, double e, TlVec3 v) {
  rig_start(r, increments);
  double i = 1.0 / 6; /* unit cube, unit mass */
  TlVec3 o = {0, 0, 0};
  int a = rig_add_body(r, tl_vec3(0, 0, 0.5), 1, tl_vec3(i, i, i), (TlQuat){1, 0, 0, 0}, v, o);
  for (int k = 0; k < 4; k++)
    rig_add_contact(r, a, -1, tl_vec3(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, 0), tl_vec3(0, 0, 1),
                    mu, e);
}

/* Corrections 2 and 6: with stale velocities 0.54-0.57 of the energy stays, released at once the
 * spin is 0.27 rad/s. */
START_TEST(a_cube_landing_flat_on_four_corners_bounces_back_without_spin) {
  for (int m = 0; m < 2; m++) {
    Rig r;
    cube_on_four_corners(&r, 30, 0, 1, tl_vec3(0, 0, -1));
    rig_solve(&r, solvers[m]);
    CK_NEAR(rig_kinetic(&r, r.twist), 0.5,
            0.5e-9); /* "1.000"; the energy is exact, the tolerance 1e-9 is not */
    CK_NEAR(r.twist[0].v.z, 1, 1e-3);
    CK_NEAR(tl_norm(r.twist[0].w), 0, 1e-3);
  }
}
END_TEST

START_TEST(three_stacked_spheres_end_apart_with_the_energy_e_leaves) {
  for (int m = 0; m < 2; m++)
    for (int ie = 0; ie <= 2; ie++) {
      Rig r;
      TlVec3 o = {0, 0, 0}, up = {0, 0, 1};
      rig_start(&r, 30);
      for (int i = 0; i < 3; i++)
        rig_add_sphere(&r, tl_vec3(0, 0, 1 + 2 * i), 1, 1, tl_vec3(0, 0, -1), o);
      rig_add_contact(&r, 0, -1, o, up, 0.3, 0.5 * ie);
      rig_add_contact(&r, 1, 0, tl_vec3(0, 0, 2), up, 0.3, 0.5 * ie);
      rig_add_contact(&r, 2, 1, tl_vec3(0, 0, 4), up, 0.3, 0.5 * ie);
      double before = rig_kinetic(&r, r.twist);
      rig_solve(&r, solvers[m]);
      for (int i = 0; i < r.contacts; i++)
        ck_assert(tl_contact_un(&r.contact[i], r.twist) >= -r.law.tolerance_m_s);
      /* e = 1 keeps all; e = 0 stops all; between, energy is lost but less than all */
      double fraction = rig_kinetic(&r, r.twist) / before;
      if (ie == 0) CK_NEAR(fraction, 0, 1e-9);
      if (ie == 1) ck_assert(fraction > 0.05 && fraction < 0.9);
      if (ie == 2) CK_NEAR(fraction, 1, 1e-9);
      ck_assert(r.count.zero_finishes == 0 && r.count.unfinished == 0);
    }
}
END_TEST

START_TEST(what_does_not_end_by_itself_is_finished_with_e_zero_and_counted) {
  for (int m = 0; m < 2; m++) {
    Rig r;
    TlVec3 o = {0, 0, 0}, up = {0, 0, 1};
    rig_start(&r, 10);
    r.law.max_rounds = m == 0 ? 2 : 0; /* this chain takes 4 rounds by level, 1 by priority */
    for (int i = 0; i < 6; i++)
      rig_add_sphere(&r, tl_vec3(0, 0, 1 + 2 * i), i % 2 ? 0.2 : 1 + 0.3 * i, 1,
                     tl_vec3(0, 0, -1 - i), o);
    rig_add_contact(&r, 0, -1, o, up, 0, 0.9);
    for (int i = 1; i < 6; i++) rig_add_contact(&r, i, i - 1, tl_vec3(0, 0, 2 * i), up, 0, 0.9);
    double before = rig_kinetic(&r, r.twist);
    rig_solve(&r, solvers[m]);
    ck_assert_int_eq((int)r.count.zero_finishes, 1);
    ck_assert(rig_kinetic(&r, r.twist) <= before);
    for (int i = 0; i < r.contacts; i++)
      ck_assert(tl_contact_un(&r.contact[i], r.twist) >= -r.law.tolerance_m_s);
  }
}
END_TEST

/* Symmetric loads: four corners, and a sphere that hits two at once. Order is not physics there. */
START_TEST(level_and_priority_agree_where_order_is_not_physics) {
  TlTwist end[2][3];
  for (int m = 0; m < 2; m++) {
    Rig r;
    TlVec3 o = {0, 0, 0};
    double s = sqrt(0.5);
    rig_start(&r, 200);
    rig_add_sphere(&r, tl_vec3(0, 0, 0), 1, 1, tl_vec3(0, 0, -2), o);
    rig_add_sphere(&r, tl_vec3(2 * s, 0, -2 * s), 2, 1, o, o);
    rig_add_sphere(&r, tl_vec3(-2 * s, 0, -2 * s), 2, 1, o, o);
    rig_add_contact(&r, 0, 1, tl_vec3(s, 0, -s), tl_vec3(-s, 0, s), 0.2, 0.6);
    rig_add_contact(&r, 0, 2, tl_vec3(-s, 0, -s), tl_vec3(s, 0, s), 0.2, 0.6);
    rig_solve(&r, solvers[m]);
    memcpy(end[m], r.twist, sizeof end[m]);
  }
  /* one increment is 2/200: both walk the same path with steps of that size */
  for (int i = 0; i < 3; i++) {
    CK_NEAR(tl_norm(tl_sub(end[0][i].v, end[1][i].v)), 0, 0.01);
    CK_NEAR(tl_norm(tl_sub(end[0][i].w, end[1][i].w)), 0, 0.01);
  }
}
END_TEST

START_TEST(the_weighted_key_orders_and_nothing_else) {
  for (int m = 0; m < 2; m++) {
    TlVec3 v[2];
    for (int weighted = 0; weighted < 2; weighted++) {
      TlRandom x = {15, 0, 0};
      Rig r;
      random_pair(&r, &x, 20, 0.3, 0.5);
      if (weighted) r.contact[0].weight = 0.37;
      rig_solve(&r, solvers[m]);
      v[weighted] = r.twist[0].v;
    }
    CK_NEAR(tl_norm(tl_sub(v[0], v[1])), 0, 1e-12);
  }
}
END_TEST

/* A dense impact needs hundreds of sweeps after the last level (its width squared, by diffusion):
 * stopped after 2 K of them this pack keeps 0.066 of its speed as approach. */
START_TEST(after_a_dense_impact_nothing_approaches) {
  const double es[2] = {0, 0.5};
  for (int i = 0; i < 4; i++) {
    Pack p;
    if (i % 2)
      CK_OK(pack_shaken(&p, 8, 2.3, 0.3, es[i / 2]));
    else
      CK_OK(pack_jammed(&p, 5, 0.3, es[i / 2]));
    ck_assert_int_eq(p.groups.count, 1);
    TlDynamics d = pack_dynamics(&p);
    TlEtmCount count = {0};
    TlEtmLaw law = {
        .increments = 20, .max_rounds = 40, .final_sweeps = 100000, .tolerance_m_s = 1e-4};
    double before = pack_kinetic(&p);
    CK_OK(tl_etm_level(&law, &p.groups.group[0], &d, &count));
    ck_assert_msg(pack_approach(&p) <= law.tolerance_m_s, "case %d: %g", i, pack_approach(&p));
    ck_assert_int_eq((int)count.unfinished, 0);
    ck_assert(pack_kinetic(&p) < before);
    if (es[i / 2] == 0) ck_assert_int_eq((int)count.rounds, 1);
    pack_free(&p);
  }
}
END_TEST

/* Two points in place of each, a good half radius to either side; every third pair without
 * friction; inertia over `easy`. */
static void double_points(Pack *p, double easy) {
  TlDynamics d = pack_dynamics(p);
  for (int64_t b = 0; b < p->bodies.total; b++)
    p->inverse_inertia[b] = (TlSym3){.xx = 2.5 * easy, .yy = 2.5 * easy, .zz = 2.5 * easy};
  TlContact *twice = tl_arena_push(&p->arena, 2 * (size_t)p->pairs, sizeof *twice);
  ck_assert(twice != NULL);
  for (int32_t i = 0; i < p->pairs; i++) {
    TlPair *pair = &p->pair[i];
    for (int k = 0; k < 2; k++) {
      TlContact *c = &twice[2 * i + k];
      *c = p->contact[pair->first];
      TlVec3 aside = tl_scale(k ? 0.7 : -0.6, tl_unit(tl_cross(c->n, tl_vec3(0.3, 0.5, 0.8))));
      c->ra = tl_add(c->ra, aside);
      if (c->b >= 0) c->rb = tl_add(c->rb, aside);
      if (i % 3 == 0) c->law = &p->law[1];
      tl_contact_prepare(c, &d);
    }
    pair->first = 2 * i;
    pair->count = 2;
  }
  p->contact = twice;
  for (int32_t g = 0; g < p->groups.count; g++) p->groups.group[g].contact = twice;
}

typedef struct End {
  TlTwist *twist; /* [bodies] */
  int64_t bodies;
  TlEtmCount count;
} End;

static End end_of_shaken(double mu, double e, double twice, double rebound) {
  Pack p;
  CK_OK(pack_shaken(&p, 6, 2.3, mu, e));
  if (twice > 0) double_points(&p, twice);
  p.law[0].tangential_restitution = p.law[1].tangential_restitution = rebound;
  TlDynamics d = pack_dynamics(&p);
  End end = {.bodies = p.bodies.total};
  TlEtmLaw law = {.increments = 10, .max_rounds = 1, .final_sweeps = 100000, .tolerance_m_s = 1e-2};
  CK_OK(tl_etm_level(&law, &p.groups.group[0], &d, &end.count));
  CK_OK(TL_NEW(end.twist, (size_t)end.bodies));
  memcpy(end.twist, p.twist, (size_t)end.bodies * sizeof *end.twist);
  pack_free(&p);
  return end;
}

/* A box of random sides that comes down on a corner, or a body of random moments that touches off its
 * centre; a velocity towards the plane z = 0 and any spin. */
static void random_impact(Rig *r, TlRandom *x, bool box, double mu, double e) {
  TlQuat q = tl_quat_unit((TlQuat){tl_random_next_normal(x), tl_random_next_normal(x),
                                   tl_random_next_normal(x), tl_random_next_normal(x)});
  TlVec3 side = {0.5 + tl_random_next(x), 0.5 + tl_random_next(x), 0.5 + tl_random_next(x)};
  TlVec3 square = {side.x * side.x, side.y * side.y, side.z * side.z};
  TlVec3 moments = {(square.y + square.z) / 12, (square.x + square.z) / 12,
                    (square.x + square.y) / 12};
  TlVec3 corner = {0.3 * tl_random_next_normal(x), 0.3 * tl_random_next_normal(x), -1};
  if (box) {
    TlMat3 m = tl_quat_matrix(q);
    corner = tl_vec3(0, 0, 0);
    for (int i = 0; i < 8; i++) {
      TlVec3 at =
          tl_mat_vec(m, tl_vec3(side.x * (i & 1 ? 0.5 : -0.5), side.y * (i & 2 ? 0.5 : -0.5),
                                side.z * (i & 4 ? 0.5 : -0.5)));
      if (at.z < corner.z) corner = at;
    }
  } else {
    moments = tl_scale(0.4, moments);
  }
  TlVec3 w = {tl_random_next_normal(x), tl_random_next_normal(x), tl_random_next_normal(x)};
  TlVec3 u = {tl_random_next_normal(x), tl_random_next_normal(x), -1 - tl_random_next(x)};
  int a = rig_add_body(r, tl_scale(-1, corner), 0.5 + tl_random_next(x), moments, q,
                       tl_sub(u, tl_cross(w, corner)), w);
  rig_add_contact(r, a, -1, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1), mu, e);
}

/* K from the body's mass and moments, one unit impulse after the other. */
static Keller keller_of(const Rig *r, double mu, double e) {
  static const int axis[3] = {2, 0, 1}; /* n is z */
  Keller s = {.mu = mu, .e = e};
  TlVec3 ra = tl_scale(-1, r->at[0]), u = tl_add(r->twist[0].v, tl_cross(r->twist[0].w, ra));
  for (int j = 0; j < 3; j++) {
    double unit[3] = {axis[j] == 0, axis[j] == 1, axis[j] == 2};
    TlVec3 p = {unit[0], unit[1], unit[2]};
    TlVec3 du = tl_axpy(tl_cross(tl_sym_vec(r->inverse_inertia[0], tl_cross(ra, p)), ra),
                        r->inverse_mass[0], p);
    double rate[3] = {du.x, du.y, du.z}, velocity[3] = {u.x, u.y, u.z};
    for (int i = 0; i < 3; i++) s.k[i][j] = rate[axis[i]];
    s.u[j] = velocity[axis[j]];
  }
  return s;
}

/* Friction opposes the sliding velocity while that turns: against Keller's equations, integrated
 * for themselves. The error falls with the square of the increment; the direction of the trial,
 * which Tang 2014 has, keeps an error of its own at any number of them. */
START_TEST(sliding_velocities_that_turn_follow_kellers_equations) {
  static const struct {
    int increments;
    bool along_trial;
  } runs[] = {{20, false}, {200, false}, {200, true}};
  for (int m = 0; m < 2; m++) {
    double worst[3] = {0}, turned = 0;
    TlRandom x = {1986, 0, 0};
    for (int i = 0; i < 48; i++) {
      TlRandom start = x;
      for (int k = 0; k < 3; k++) {
        Rig r;
        rig_start(&r, runs[k].increments);
        r.law.friction_along_trial = runs[k].along_trial;
        x = start;
        random_impact(&r, &x, i < 24, 0.3, 0.5);
        Keller want = keller_of(&r, 0.3, 0.5);
        TlVec3 v = r.twist[0].v;
        keller_impact(&want, 20000);
        rig_solve(&r, solvers[m]);
        TlVec3 p = tl_scale(1 / r.inverse_mass[0], tl_sub(r.twist[0].v, v));
        TlVec3 off = tl_sub(p, tl_vec3(want.impulse[1], want.impulse[2], want.impulse[0]));
        worst[k] = fmax(worst[k], tl_norm(off) / tl_norm(p));
        turned = fmax(turned, want.turned);
      }
    }
    ck_assert_double_gt(turned, 0.5); /* radians; what is asked for happens */
    /* 3.3e-2 at 20 where sliding all but stops and turns by 172 degrees; the next is 1.8e-3 */
    ck_assert_double_lt(worst[0], 4e-2);
    ck_assert_double_lt(worst[1], 2e-3);
    ck_assert_double_gt(worst[2], 2e-2);
  }
}
END_TEST

/* The tail has the impulses of compression a second time, for its own layout. A tangential
 * restitution of 1e-300 aims at the same velocities and sends every pair the ordinary way, through
 * tl_etm_compress. Speeds are of order 1 and a body has hundreds of impulses, each rounded to
 * 1e-16, in the tail without compensation; seen: 6e-16. The last case needs the guard of sliding;
 * in its million impulses sliding nearly stops again and again, which magnifies rounding; seen: 4e-10.
 */
START_TEST(the_tails_own_impulses_are_those_of_the_levels) {
  static const struct {
    double mu, e, twice, bound;
  } cases[] = {{0, 0, 0, 1e-13},   {0, 0.5, 0, 1e-13},   {0.3, 0, 0, 1e-13},  {0.3, 0.5, 0, 1e-13},
               {0.3, 0, 1, 1e-13}, {0.3, 0.5, 1, 1e-13}, {0.66, 0, 100, 1e-8}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    End fast = end_of_shaken(cases[i].mu, cases[i].e, cases[i].twice, 0);
    End slow = end_of_shaken(cases[i].mu, cases[i].e, cases[i].twice, 1e-300);
    ck_assert_int_eq(fast.count.impulses, slow.count.impulses);
    CK_NEAR(fast.count.stored_J, slow.count.stored_J, 1e-10); /* of some 100 J */
    for (int64_t b = 0; b < fast.bodies; b++) {
      CK_NEAR(tl_norm(tl_sub(fast.twist[b].v, slow.twist[b].v)), 0, cases[i].bound);
      CK_NEAR(tl_norm(tl_sub(fast.twist[b].w, slow.twist[b].w)), 0, cases[i].bound);
    }
    tl_free(fast.twist);
    tl_free(slow.twist);
  }
}
END_TEST

/* Sequential impulses against energy tracking: alike for one contact; for a flat cube the corners
 * taken one after the other leave a spin that energy tracking does not. */
START_TEST(sequential_impulses_agree_for_one_contact_and_turn_a_flat_cube) {
  for (int i = 0; i <= 2; i++) {
    TlVec3 end[2];
    for (int m = 0; m < 2; m++) {
      Rig r;
      rig_start(&r, 30);
      int a = rig_add_sphere(&r, tl_vec3(0, 0, 0.3), 1.7, 0.3, tl_vec3(1, 0, -2), tl_vec3(0, 0, 0));
      rig_add_contact(&r, a, -1, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1), 0.1, 0.5 * i);
      rig_solve(&r, m ? tl_sqm : tl_etm_level);
      end[m] = r.twist[0].v;
      CK_NEAR(r.count.released_J, 0.25 * i * i * r.count.stored_J, 1e-12);
      CK_NEAR(r.count.stored_J, 0.5 * 1.7 * 4, 1e-12);
    }
    CK_NEAR(tl_norm(tl_sub(end[0], end[1])), 0, 1e-12);
  }
  double spin[2];
  for (int m = 0; m < 2; m++) {
    Rig r;
    cube_on_four_corners(&r, 30, 0, 1, tl_vec3(0, 0, -1));
    rig_solve(&r, m ? tl_sqm : tl_etm_level);
    spin[m] = tl_norm(r.twist[0].w);
    CK_NEAR(rig_kinetic(&r, r.twist), 0.5, 1e-9);
  }
  CK_NEAR(spin[0], 0, 1e-12); /* equal points move at once */
  ck_assert(spin[1] > 0.1);
}
END_TEST

/* Walton's model: a contact that sticks ends at -e_t u_t; sliding is as without. */
START_TEST(tangential_restitution_turns_the_sliding_velocity_and_makes_no_energy) {
  const int ks[4] = {1, 3, 20, 300};
  for (int m = 0; m < 3; m++)
    for (int k = 0; k < 4; k++)
      for (int it = 0; it <= 2; it++) {
        double et = 0.5 * it, vx = 1, vz = 2, mu = 0.4, e = 0.5, radius = 0.3;
        double j = 2.0 / 7 * (1 + et) * vx; /* < mu (1+e) vz = 1.2: sticks */
        Rig r;
        rig_start(&r, ks[k]);
        int a = rig_add_sphere(&r, tl_vec3(0, 0, radius), 1.7, radius, tl_vec3(vx, 0, -vz),
                               tl_vec3(0, 0, 0));
        rig_add_contact(&r, a, -1, tl_vec3(0, 0, 0), tl_vec3(0, 0, 1), mu, e);
        r.pair_law[0].tangential_restitution = et;
        rig_solve(&r, m == 2 ? tl_sqm : solvers[m]);
        CK_NEAR(r.twist[a].v.x, vx - j, 1e-9);
        CK_NEAR(r.twist[a].w.y, 2.5 * j / radius, 1e-9);
        CK_NEAR(r.twist[a].v.z, e * vz, 1e-9);
      }
  TlRandom x = {16, 0, 0};
  for (int trial = 0; trial < 400; trial++) { /* irregular grains, also e = e_t = 1 */
    Rig r;
    double e = trial % 4 ? tl_random_next(&x) : 1;
    random_pair(&r, &x, 25, 0.1 + tl_random_next(&x), e);
    r.pair_law[0].tangential_restitution = trial % 4 ? tl_random_next(&x) : 1;
    double before = rig_kinetic(&r, r.twist);
    rig_solve(&r, solvers[trial % 2]);
    ck_assert_msg(rig_kinetic(&r, r.twist) <= before * (1 + 1e-9), "trial %d: %g -> %g", trial,
                  before, rig_kinetic(&r, r.twist));
  }
}
END_TEST

/* The reference's heap gives what its scan gives. */
START_TEST(keys_in_a_heap_and_in_a_list_give_the_same_entries) {
  enum { N = 300 };
  static double key[2][N];
  static int32_t memory[6][N];
  TlQueue q[2];
  TlRandom x = {17, 0, 0};
  for (int k = 0; k < 2; k++)
    q[k] = (TlQueue){.key = key[k],
                     .heap = memory[3 * k],
                     .slot = memory[3 * k + 1],
                     .found = memory[3 * k + 2],
                     .count = N,
                     .is_heap = k};
  for (int i = 0; i < N; i++) key[0][i] = key[1][i] = -tl_random_next(&x);
  for (int k = 0; k < 2; k++) tl_queue_build(&q[k]);
  for (int trial = 0; trial < 2000; trial++) {
    int32_t i = (int32_t)(N * tl_random_next(&x));
    double value = trial % 3 ? -tl_random_next(&x) : 0;
    for (int k = 0; k < 2; k++) tl_queue_set(&q[k], i, value);
    ck_assert_double_eq(tl_queue_least(&q[0]), tl_queue_least(&q[1]));
    double bound = 0.95 * tl_queue_least(&q[0]);
    int32_t count = tl_queue_under(&q[0], bound);
    ck_assert_int_eq(count, tl_queue_under(&q[1], bound));
    ck_assert(count >= 1 &&
              memcmp(q[0].found, q[1].found, (size_t)count * sizeof *q[0].found) == 0);
  }
}
END_TEST

START_TEST(a_method_is_known_by_its_name_and_has_a_solver) {
  ck_assert_str_eq(TL_METHOD_CHOICES, "etm-level|etm|sqm|smm|penalty|nonsmooth");
  ck_assert(tl_method(TL_ETM_LEVEL)->collide == tl_etm_level);
  ck_assert(tl_method(TL_SQM)->collide == tl_sqm);
  ck_assert(tl_method(TL_SMM)->collide == tl_smm);
  ck_assert(tl_method(TL_ETM_PRIORITY)->most_ranks == 1 &&
            tl_method(TL_ETM_LEVEL)->most_ranks == 0);
}
END_TEST

/* A dense impact on one and two threads. */
START_TEST(threads_change_no_bit_of_a_pack) {
  TlTwist *end[2];
  for (int k = 0; k < 2; k++) {
    tl_par_set_threads(k + 1);
    Pack p;
    CK_OK(pack_jammed(&p, 5, 0.3, 0)); /* 500 spheres: pairs enough for a team */
    TlDynamics d = pack_dynamics(&p);
    TlEtmCount count = {0};
    TlEtmLaw law = {.increments = 5, .max_rounds = 4, .final_sweeps = 100000, .tolerance_m_s = 0.1};
    CK_OK(tl_etm_level(&law, &p.groups.group[0], &d, &count));
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
END_TEST

TL_TEST_MAIN("energy tracking", sequential_impulses_agree_for_one_contact_and_turn_a_flat_cube,
             tangential_restitution_turns_the_sliding_velocity_and_makes_no_energy,
             keys_in_a_heap_and_in_a_list_give_the_same_entries,
             a_method_is_known_by_its_name_and_has_a_solver, threads_change_no_bit_of_a_pack,
             after_a_dense_impact_nothing_approaches,
             the_tails_own_impulses_are_those_of_the_levels,
             sliding_velocities_that_turn_follow_kellers_equations,
             central_impact_of_spheres_returns_e_times_the_approach,
             oblique_impact_of_a_sphere_follows_the_closed_form_at_any_increment_count,
             elastic_frictionless_energy_is_constant_to_rounding,
             a_collision_of_irregular_grains_conserves_momentum_and_angular_momentum,
             released_over_stored_work_is_e_squared_with_friction, friction_never_adds_energy,
             a_cube_landing_flat_on_four_corners_bounces_back_without_spin,
             three_stacked_spheres_end_apart_with_the_energy_e_leaves,
             what_does_not_end_by_itself_is_finished_with_e_zero_and_counted,
             level_and_priority_agree_where_order_is_not_physics,
             the_weighted_key_orders_and_nothing_else)
