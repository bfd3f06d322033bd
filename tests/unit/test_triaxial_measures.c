/* Measures of a triaxial test's curves against closed forms. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/csv_table.h"
#include "post/study_label.h"
#include "post/triaxial.h"
#include "post/triaxial_compare.h"

#include <stdio.h>

static const double PI = 3.14159265358979323846;
static const double RADIAL = 1e5, HEIGHT = 0.1, VOLUME = 5e-5;

/* ---- a test written as the solver does ---- */

static const char header[] =
    "time_s,step,stage,kind,axial_strain,volumetric_strain,axial_stress_Pa,radial_stress_Pa,"
    "deviatoric_stress_Pa,mean_stress_Pa,friction_angle_deg,void_ratio,inertia_number,"
    "unbalanced_force,platen_force_N,base_force_N,tilt_deg,escaped,kinetic_energy_J,piston_work_J,"
    "pressure_work_J,elastic_J,"
    "friction_J,viscous_J,drag_J,net_elastic_J,net_damping_J,balance_error_J,something_new,"
    "height_m,volume_m3";

typedef struct Writer {
  char *path;
  FILE *file;
  int rows;
} Writer;

static Writer begin(const char *folder) {
  Writer w = {.path = tl_format("%s/%s/triaxial.csv", tl_test_folder(), folder)};
  char *full = tl_format("%s/%s", tl_test_folder(), folder);
  CK_OK(tl_dir_make(full));
  tl_free(full);
  w.file = fopen(w.path, "w");
  ck_assert(w.file != NULL);
  fprintf(w.file, "%s\n", header);
  return w;
}

static double angle_of(double q) {
  return asin(q / (2 * RADIAL + q)) * 180 / PI;
}

static void row(Writer *w, const char *kind, double strain, double volume, double q) {
  int k = w->rows++;
  fprintf(w->file,
          "%.17g,%d,1,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,0.002,50,48,0.5,3,0,"
          "%.17g,%.17g,0,0,0,0,0,0,%.17g,7,%.17g,%.17g\n",
          0.5 * k, 100 * k, kind, strain, volume, RADIAL + q, RADIAL, q, RADIAL + q / 3,
          angle_of(q), 0.6 - volume, 1e-4 * (1 + k % 2), 10 * strain, -2 * strain, 0.01 * strain,
          HEIGHT * exp(-strain), VOLUME * exp(-volume));
}

static void done(Writer *w) {
  ck_assert_int_eq(fclose(w->file), 0);
  tl_free(w->path);
}

static TlTxTest read_back(const char *folder, TlTxOptions o) {
  char *path = tl_format("%s/%s", tl_test_folder(), folder);
  TlTxTest t;
  CK_OK(tl_tx_read(path, &o, &t));
  tl_free(path);
  return t;
}

static TlFigures measured(const TlTxTest *t, TlTxOptions o) {
  TlFigures f = {0};
  CK_OK(tl_tx_measure(t, &o, &f));
  return f;
}

#define FIGURE(name, value, tolerance) CK_NEAR(tl_figures_get(&f, name), value, tolerance)

/* ---- strength ---- */

/* q = 2 q1 x/(1 + x^2), x = e/e1: peak q1 at e1, slope 2 q1/e1 at the start, half of the peak at
 * x = 2 - sqrt 3. */
START_TEST(peak_modulus_and_half_of_a_hyperbola) {
  const double e1 = 0.04, q1 = 4e5;
  Writer w = begin("peak");
  for (int i = 0; i < 5; i++) row(&w, "consolidate", 0, 0, 0);
  for (int i = 0; i <= 2000; i++) {
    double x = 1e-4 * i / e1;
    row(&w, "shear", 1e-4 * i, 0, 2 * q1 * x / (1 + x * x));
  }
  done(&w);
  TlTxTest t = read_back("peak", (TlTxOptions){0});
  TlFigures f = measured(&t, (TlTxOptions){0});
  ck_assert_int_eq(t.leg_count, 1);
  FIGURE("peak_deviatoric_stress", q1, 1e-6 * q1);
  FIGURE("peak_deviatoric_strain", e1, 1e-12);
  FIGURE("peak_friction_angle", angle_of(q1), 1e-9);
  FIGURE("peak_friction_strain", e1, 1e-12);
  FIGURE("peak_stress_ratio", q1 / (RADIAL + q1 / 3), 1e-9);
  FIGURE("initial_modulus", 2 * q1 / e1, 1e-3 * 2 * q1 / e1); /* curved by x^2 = 6e-4 */
  FIGURE("secant_modulus_50", 0.5 * q1 / (e1 * (2 - sqrt(3))), 1e-4 * q1 / e1);
  FIGURE("largest_inertia_number", 2e-4, 1e-15);
  FIGURE("work_put_in", 8 * 0.2, 1e-12);
  FIGURE("energy_balance_error_share", 100 * 0.002 / 1.6, 1e-9);
  FIGURE("grains_escaped", 3, 0);
  FIGURE("platen_base_difference", 0.04, 1e-12);
  FIGURE("coulomb_inclination", 45 + 0.5 * angle_of(q1), 1e-9);
  tl_figures_free(&f);
  tl_tx_free(&t);
}
END_TEST

/* The critical angle is the mean over the last fifth, its scatter that of those rows. */
START_TEST(critical_angle_is_the_mean_of_the_last_fifth) {
  Writer w = begin("critical");
  for (int i = 0; i <= 100; i++) {
    double q = i < 80 ? 3e5 : i % 2 ? 2.2e5 : 1.8e5;
    row(&w, "shear", 1e-3 * i, 0, q);
  }
  done(&w);
  const TlTxOptions o = {.modulus_strain = 0.01};
  TlTxTest t = read_back("critical", o);
  TlFigures f = measured(&t, o);
  double high = angle_of(2.2e5), low = angle_of(1.8e5), mean = (11 * low + 10 * high) / 21;
  double sd = sqrt((11 * pow(low - mean, 2) + 10 * pow(high - mean, 2)) / 21);
  FIGURE("critical_friction_angle", mean, 1e-9);
  FIGURE("critical_friction_scatter", sd, 1e-9);
  FIGURE("critical_from_strain", 0.08, 1e-12);
  FIGURE("critical_deviatoric_stress", (11 * 1.8e5 + 10 * 2.2e5) / 21, 1e-6);
  FIGURE("softening", angle_of(3e5) - mean, 1e-9);
  tl_figures_free(&f);
  tl_tx_free(&t);
}
END_TEST

/* ---- volume ---- */

/* eps_v = a e - b e^2: d eps_v/d e = a - 2 b e, which a centred least-squares slope gives exactly;
 * the least volume is at a/(2b). */
START_TEST(dilatancy_of_a_parabola_is_exact) {
  const double a = 0.6, b = 6;
  const TlTxOptions o = {.window = 0.01};
  Writer w = begin("parabola");
  for (int i = 0; i <= 1000; i++) {
    double e = 1e-4 * i;
    row(&w, "shear", e, a * e - b * e * e, 1e5);
  }
  done(&w);
  TlTxTest t = read_back("parabola", o);
  TlFigures f = measured(&t, o);
  for (int i = 0; i <= 1000; i++) {
    double rate = -(a - 2 * b * 1e-4 * i);
    if (i < 50 || i > 950) {
      ck_assert(isnan(t.x[TL_TX_RATE][i]) && isnan(t.x[TL_TX_DILATANCY][i]));
      continue;
    }
    CK_NEAR(t.x[TL_TX_RATE][i], rate, 1e-9);
    CK_NEAR(t.x[TL_TX_DILATANCY][i], asin(rate / (2 + rate)) * 180 / PI, 1e-8);
  }
  double steepest = 2 * b * 0.095 - a, psi = asin(steepest / (2 + steepest)) * 180 / PI;
  FIGURE("peak_dilatancy_angle", psi, 1e-8);
  FIGURE("peak_dilatancy_strain", 0.095, 1e-12);
  FIGURE("roscoe_inclination", 45 + psi / 2, 1e-8);
  FIGURE("arthur_inclination", 45 + (psi + angle_of(1e5)) / 4, 1e-8);
  FIGURE("largest_contraction", a * a / (4 * b), 1e-12);
  FIGURE("largest_contraction_strain", a / (2 * b), 1e-12);
  /* over the first 0.001: slope a - b 0.001 */
  FIGURE("initial_poisson_ratio", 0.5 * (1 - (a - b * 0.001)), 1e-9);
  FIGURE("void_ratio_at_end", 0.6 - (0.1 * a - 0.01 * b), 1e-12);
  tl_figures_free(&f);
  tl_tx_free(&t);
}
END_TEST

/* Work 10 e over the travel h0 exp(-e): 10/h in the mean of an interval, going down as coming up; not
 * in holds and not from one to the next stage. */
START_TEST(the_piston_s_force_is_its_work_over_its_travel) {
  Writer w = begin("piston");
  row(&w, "consolidate", 0, 0, 0);
  for (int i = 0; i <= 100; i++) row(&w, "shear", 1e-3 * i, -5e-4 * i, 1e5);
  for (int i = 99; i >= 80; i--) row(&w, "shear", 1e-3 * i, -5e-4 * i, 1e5);
  for (int i = 0; i < 3; i++) row(&w, "hold", 0.08, -0.04, 1e5);
  done(&w);
  TlTxTest t = read_back("piston", (TlTxOptions){0});
  TlFigures f = measured(&t, (TlTxOptions){0});
  double sum = 0, peak = 0;
  for (int i = 0; i < t.count; i++) {
    double force = t.x[TL_TX_PISTON][i];
    ck_assert(isnan(force) == (i < 2 || i > 121) &&
              isnan(t.x[TL_TX_PISTON_FRICTION][i]) == isnan(force));
    if (isnan(force)) continue;
    double e = t.x[TL_TX_AXIAL_STRAIN][i], before = t.x[TL_TX_AXIAL_STRAIN][i - 1];
    double right = 10 * (e - before) / (HEIGHT * (exp(-before) - exp(-e)));
    double axial = right * HEIGHT * exp(-e) / (VOLUME * exp(0.5 * e));
    double angle = asin((axial - RADIAL) / (axial + RADIAL)) * 180 / PI;
    CK_NEAR(force, right, 1e-9 * right);
    CK_NEAR(t.x[TL_TX_PISTON_FRICTION][i], angle, 1e-9);
    if (i <= 101) peak = fmax(peak, angle);
    sum += right;
  }
  FIGURE("piston_over_platen_force", sum / (120 * 50), 1e-9);
  FIGURE("peak_friction_angle_by_piston", peak, 1e-9);
  ck_assert(tl_figures_get(&f, "critical_friction_angle_by_piston") < peak);
  tl_figures_free(&f);
  tl_tx_free(&t);
}
END_TEST

/* ---- cycles and holds ---- */

/* To 0.02, back by 0.001 at 2e8 Pa, up again, a hold that halves each step, and on. */
START_TEST(moduli_of_a_cycle_and_what_a_hold_relaxes) {
  Writer w = begin("cycle");
  for (int i = 0; i <= 200; i++) row(&w, "shear", 1e-4 * i, 0, 1e7 * 1e-4 * i);
  for (int i = 1; i <= 10; i++) row(&w, "shear", 0.02 - 1e-4 * i, 0, 2e5 - 2e8 * 0.5e-4 * i);
  for (int i = 9; i >= 0; i--) row(&w, "shear", 0.02 - 1e-4 * i, 0, 2e5 - 2e8 * 0.5e-4 * i);
  for (int i = 1; i <= 20; i++) row(&w, "hold", 0.02, 0, 2e5 - 1e5 * i / 20);
  for (int i = 1; i <= 200; i++) row(&w, "shear", 0.02 + 1e-4 * i, 1e-4 * i, 2e5);
  done(&w);
  TlTxTest t = read_back("cycle", (TlTxOptions){0});
  TlFigures f = measured(&t, (TlTxOptions){0});
  ck_assert_int_eq(t.leg_count, 4);
  ck_assert(t.leg[0].first == 0 && t.leg[0].last == 200 && t.leg[0].direction == 1);
  ck_assert(t.leg[1].first == 200 && t.leg[1].last == 210 && t.leg[1].direction == -1);
  ck_assert(t.leg[2].first == 210 && t.leg[2].last == 220 && t.leg[2].direction == 1);
  ck_assert(t.leg[3].first == 241 && t.leg[3].last == 440 && t.leg[3].direction == 1);
  FIGURE("unloading_1_strain", 0.02, 1e-12);
  FIGURE("unloading_1_modulus", 1e8, 1);
  FIGURE("unloading_1_tangent_modulus", 1e8, 1);
  ck_assert(isnan(tl_figures_get(&f, "unloading_2_modulus")));
  FIGURE("hold_1_stress_drop", 1e5, 1e-6);
  FIGURE("hold_1_drop_share", 0.5, 1e-12);
  FIGURE("hold_1_time", 10, 1e-12);
  FIGURE("hold_1_half_time", 5, 1e-9);
  FIGURE("initial_modulus", 1e7, 1e-3);
  FIGURE("secant_modulus_50", 1e7, 1e-3);
  /* the reload reaches no new strain: no dilatancy there */
  for (int i = 210; i < 220; i++) ck_assert(isnan(t.x[TL_TX_RATE][i]));
  CK_NEAR(t.x[TL_TX_RATE][340], -1, 1e-9);
  int64_t *line;
  CK_OK(TL_NEW(line, (size_t)t.count));
  ck_assert_int_eq(tl_tx_backbone(&t, line), 401);
  ck_assert(line[200] == 200 && line[201] == 241);
  tl_free(line);
  tl_figures_free(&f);
  tl_tx_free(&t);
}
END_TEST

START_TEST(small_steps_back_do_not_cut_a_leg_and_a_test_that_only_began_is_no_failure) {
  Writer w = begin("jitter");
  for (int i = 0; i <= 20000; i++) row(&w, "shear", 5e-6 * i - (i % 3 ? 0 : 8e-6), 0, 1e5);
  done(&w);
  TlTxTest t = read_back("jitter", (TlTxOptions){0});
  ck_assert_int_eq(t.leg_count, 1);
  tl_tx_free(&t);
  w = begin("young");
  for (int i = 0; i < 3; i++) row(&w, "consolidate", 0, 0, 0);
  done(&w);
  t = read_back("young", (TlTxOptions){0});
  TlFigures f = measured(&t, (TlTxOptions){0});
  ck_assert(isnan(tl_figures_get(&f, "peak_friction_angle")));
  ck_assert(isnan(tl_figures_get(&f, "critical_friction_angle")));
  FIGURE("unbalanced_force_consolidated", 0.002, 1e-15);
  tl_figures_free(&f);
  tl_tx_free(&t);
}
END_TEST

/* ---- what is wrong ---- */

static void write_text(const char *name, const char *text) {
  char *path = tl_format("%s/%s", tl_test_folder(), name);
  CK_OK(tl_file_write(path, text, strlen(text), true));
  tl_free(path);
}

static void refused(const char *text, const char *message) {
  const TlTxOptions o = {0};
  TlTxTest t;
  write_text("triaxial.csv", text);
  CK_FAILS(tl_tx_read(tl_test_folder(), &o, &t), TL_EINPUT, message);
  tl_tx_free(&t);
}

START_TEST(wrong_files_are_refused_with_line_and_column) {
  refused("", "empty");
  refused("time_s,stage,kind,axial_strain\n0,1,shear,0\n",
          "triaxial.csv: no column volumetric_strain");
  refused("time_s,stage\n0,1\n", "no column kind; it has time_s, stage");
  refused("time_s,kind,stage\n0,shear,1\n0,push,1\n", "triaxial.csv:3: kind is 'push'");
  refused("time_s,kind,stage\n0,shear\n", "triaxial.csv:2: 2 cells; the header has 3");
  refused("time_s,kind,stage\n0,shear,one\n", "triaxial.csv:2: stage is 'one', not a number");
  refused("time_s,kind,stage\n,shear,1\n", "triaxial.csv:2: no time_s");
  refused("time_s,kind,kind\n", "two columns are named kind");
  refused("time_s,,kind\n", "column 2 has no name");
  char *all = tl_format("%s\n", header);
  refused(all, "has no rows yet");
  tl_free(all);
}
END_TEST

/* Results of an earlier version, read by the name of today, and the other way round. */
START_TEST(renamed_columns_are_found_by_both_names) {
  TlTable t;
  char *path = tl_format("%s/r.csv", tl_test_folder());
  write_text("r.csv", "time_s,speed_max_m_s\n0,1\n");
  CK_OK(tl_table_read(path, &t));
  ck_assert_int_eq(tl_table_column(&t, "surface_speed_max_m_s"), 1);
  ck_assert_int_eq(tl_table_column(&t, "speed_max_m_s"), 1);
  ck_assert_int_eq(tl_table_column(&t, "speed"), -1);
  tl_table_free(&t);
  write_text("r.csv", "surface_speed_max_m_s,time_s\n0,1\n");
  CK_OK(tl_table_read(path, &t));
  ck_assert_int_eq(tl_table_column(&t, "speed_max_m_s"), 0);
  tl_table_free(&t);
  tl_free(path);
}
END_TEST

START_TEST(tables_from_spreadsheets_are_read) {
  TlTable t;
  double x;
  int c;
  write_text("t.csv", "\xEF\xBB\xBF\"a b\" , c\r\n# said\r\n\r\n 1.5 ,\"two\"\r\n,-3e2");
  char *path = tl_format("%s/t.csv", tl_test_folder());
  CK_OK(tl_table_read(path, &t));
  ck_assert_int_eq(t.columns, 2);
  ck_assert_int_eq(t.rows, 2);
  ck_assert_str_eq(t.name[0], "a b");
  CK_OK(tl_table_need(&t, "c", &c));
  ck_assert_str_eq(tl_table_text(&t, 0, c), "two");
  CK_FAILS(tl_table_number(&t, 0, c, &x), TL_EINPUT, "t.csv:4: c is 'two', not a number");
  CK_OK(tl_table_number(&t, 0, 0, &x));
  CK_NEAR(x, 1.5, 0);
  CK_OK(tl_table_number(&t, 1, 0, &x));
  ck_assert(isnan(x));
  CK_OK(tl_table_number(&t, 1, c, &x));
  CK_NEAR(x, -300, 0);
  tl_table_free(&t);
  tl_free(path);
}
END_TEST

/* ---- a measured curve ---- */

static TlMeasured measure(const char *text) {
  TlMeasured m;
  write_text("lab.csv", text);
  char *path = tl_format("%s/lab.csv", tl_test_folder());
  CK_OK(tl_measured_read(path, &m));
  tl_free(path);
  return m;
}

static TlTxTest line_test(void) {
  Writer w = begin("line");
  for (int i = 0; i <= 100; i++) row(&w, "shear", 1e-3 * i, -1e-3 * i, 1e6 * 1e-3 * i);
  done(&w);
  return read_back("line", (TlTxOptions){0});
}

/* Against q = 1e6 e: an offset has itself as rms; a difference that grows from 0 to d has d/sqrt 3,
 * whatever points stand for it. */
START_TEST(rms_difference_is_the_mean_over_the_strain) {
  TlTxTest t = line_test();
  TlDifference d;
  TlMeasured m = measure("axial_strain_percent,deviatoric_stress_kPa,volumetric_strain\n"
                         "2,30,-0.02\n2.1,31,-0.021\n5,60,-0.05\n20,210,-0.2\n");
  CK_OK(tl_measured_difference(&t, &m, TL_TX_Q, &d));
  CK_NEAR(d.rms, 1e4, 1e-6);
  CK_NEAR(d.low, 0.02, 1e-12);
  CK_NEAR(d.high, 0.1, 1e-12);
  CK_OK(tl_measured_difference(&t, &m, TL_TX_VOLUME_STRAIN, &d));
  CK_NEAR(d.rms, 0, 1e-12);
  tl_measured_free(&m);
  /* a cycle in the measured curve is left out; empty cells are no points */
  m = measure("deviatoric_stress_MPa,axial_strain\n0,0\n0.06,0.05\n0,0.03\n,0.06\n0.12,0.1\n");
  CK_OK(tl_measured_difference(&t, &m, TL_TX_Q, &d));
  CK_NEAR(d.rms, 2e4 / sqrt(3), 1e-6);
  TlFigures f = {0};
  CK_OK(tl_measured_figures(&t, &m, &f));
  FIGURE("rms_deviatoric_stress", 2e4 / sqrt(3), 1e-6);
  FIGURE("rms_deviatoric_stress_to", 0.1, 1e-12);
  ck_assert(isnan(tl_figures_get(&f, "rms_volumetric_strain")));
  tl_figures_free(&f);
  tl_measured_free(&m);
  tl_tx_free(&t);
}
END_TEST

START_TEST(engineering_strains_and_radians_are_converted) {
  TlMeasured m =
      measure("engineering_axial_strain_percent,friction_angle_rad,"
              "engineering_volumetric_strain,stress_ratio\n10,0.5,-0.05,1\n20,1,0.05,2\n");
  CK_NEAR(m.x[TL_TX_AXIAL_STRAIN][0], -log(0.9), 1e-15);
  CK_NEAR(m.x[TL_TX_VOLUME_STRAIN][0], -log(1.05), 1e-15);
  CK_NEAR(m.x[TL_TX_FRICTION][0], 0.5 * 180 / PI, 1e-12);
  CK_NEAR(m.x[TL_TX_STRESS_RATIO][1], 2, 0);
  tl_measured_free(&m);
}
END_TEST

static void unmeasured(const char *text, const char *message) {
  TlMeasured m;
  write_text("lab.csv", text);
  char *path = tl_format("%s/lab.csv", tl_test_folder());
  CK_FAILS(tl_measured_read(path, &m), TL_EINPUT, message);
  tl_free(path);
}

/* Spreadsheets' separators and decimal commas, symbols, units in brackets, columns that are not compared. */
START_TEST(headers_of_laboratories_are_understood) {
  static const char *const text[] = {
      "Axial strain [%];q (kPa);\xCE\xB5v [%];Time [s]\n0;0;0;1\n0,5;4,25;-0,1;2\n",
      "Axial-Strain (-)\tDeviator stress [ MPa ]\teps_v [-]\n0\t0\t0\n0.005\t0.00425\t-0.001\n",
      "eps_a_percent,q_kPa,volumetric strain percent\n0,0,0\n0.5,4.25,-0.1\n",
      "axial_strain,deviatoric_stress [kN/m2],Volume strain [%]\n0,0,0\n5e-3,4.25,-.1\n"};
  for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
    TlMeasured m = measure(text[k]);
    ck_assert_int_eq(m.count, 2);
    CK_NEAR(m.x[TL_TX_AXIAL_STRAIN][1], 0.005, 1e-15);
    CK_NEAR(m.x[TL_TX_Q][1], 4250, 1e-9);
    CK_NEAR(m.x[TL_TX_VOLUME_STRAIN][1], -0.001, 1e-15);
    tl_measured_free(&m);
  }
}
END_TEST

START_TEST(units_are_never_guessed) {
  unmeasured("axial_strain,deviatoric_stress\n0,1\n1,2\n",
             "column deviatoric_stress says no unit of its quantity; allowed");
  unmeasured("axial_strain,q [bar]\n0,1\n1,2\n", "column q [bar] says no unit of its quantity");
  unmeasured("axial_strain,hardness_kPa\n0,1\n1,2\n", "nothing beside the axial strain");
  unmeasured("axial_strain_pct,stress_ratio\n0,1\n1,2\n", "column axial_strain_pct says no unit");
  unmeasured("axial_strain,stress_ratio_deg\n0,1\n1,2\n", "column stress_ratio_deg says no unit");
  unmeasured("axial_strain,q [kPa]\n0,1\n2.5,2\n",
             "lab.csv:3: axial_strain is 2.5, and its name says no unit");
  unmeasured("void_ratio,stress_ratio\n0,1\n1,2\n", "no axial strain; allowed are");
  unmeasured("axial_strain\n0\n1\n", "nothing beside the axial strain");
  unmeasured("axial_strain,axial_strain_percent\n0,1\n1,2\n", "axial_strain a second time");
  unmeasured("engineering_axial_strain,void_ratio\n0,1\n1,2\n", "below 1");
  unmeasured("axial_strain,void_ratio\n0,1\n,2\n", "lab.csv:3: no axial_strain");
  TlTxTest t = line_test();
  TlDifference d;
  TlMeasured m = measure("axial_strain,void_ratio\n0.2,0.6\n0.3,0.6\n");
  CK_FAILS(tl_measured_difference(&t, &m, TL_TX_VOID, &d), TL_EINPUT, "nothing in common");
  tl_measured_free(&m);
  tl_tx_free(&t);
}
END_TEST

/* ---- labels ---- */

static void write_study(const char *folder, const char *text) {
  char *full = tl_format("%s/%s", tl_test_folder(), folder),
       *path = tl_format("%s/study.yaml", full);
  CK_OK(tl_dir_make(full));
  CK_OK(tl_file_write(path, text, strlen(text), true));
  tl_free(full);
  tl_free(path);
}

static void labels_are(const char *const names[3], const char *const want[3]) {
  char *folder[3], *label[3];
  for (int i = 0; i < 3; i++) folder[i] = tl_format("%s/%s", tl_test_folder(), names[i]);
  CK_OK(tl_study_labels((const char *const *)folder, 3, label));
  for (int i = 0; i < 3; i++) {
    ck_assert_str_eq(label[i], want[i]);
    tl_free(folder[i]);
    tl_free(label[i]);
  }
}

START_TEST(runs_are_labelled_by_the_keys_that_differ) {
  write_study("r1", "title: \"a\"\ncontact:\n  friction: 0.5\n  damping: 1\nwalls:\n  - kind: box\n"
                    "    friction: 1\n  - kind: box\n    friction: 2\nframes:\n  contacts: true\n");
  write_study("r2",
              "title: \"b\"\ncontact:\n  friction: 0.6\n  damping: 1\nwalls:\n  - kind: box\n"
              "    friction: 1\n  - kind: box\n    friction: 3\nframes:\n  contacts: false\n");
  write_study("r3", "contact:\n  friction: 0.5\n  damping: 1\nwalls:\n  - kind: box\n"
                    "    friction: 1\n  - kind: box\n    friction: 2\n    extra: 1\n");
  labels_are(
      (const char *const[]){"r1", "r2", "r3"},
      (const char *const[]){"contact.friction = 0.5, walls.1.friction = 2, walls.1.extra = none",
                            "contact.friction = 0.6, walls.1.friction = 3, walls.1.extra = none",
                            "contact.friction = 0.5, walls.1.friction = 2, walls.1.extra = 1"});
  labels_are((const char *const[]){"r1", "r1/", "r1"}, (const char *const[]){"r1", "r1", "r1"});
  labels_are((const char *const[]){"r1", "none/there/", "r2"},
             (const char *const[]){"r1", "there", "r2"});
}
END_TEST

TL_TEST_MAIN("triaxial_measures", peak_modulus_and_half_of_a_hyperbola,
             critical_angle_is_the_mean_of_the_last_fifth,
             the_piston_s_force_is_its_work_over_its_travel, dilatancy_of_a_parabola_is_exact,
             moduli_of_a_cycle_and_what_a_hold_relaxes,
             small_steps_back_do_not_cut_a_leg_and_a_test_that_only_began_is_no_failure,
             wrong_files_are_refused_with_line_and_column, tables_from_spreadsheets_are_read,
             renamed_columns_are_found_by_both_names, rms_difference_is_the_mean_over_the_strain,
             engineering_strains_and_radians_are_converted, headers_of_laboratories_are_understood,
             units_are_never_guessed, runs_are_labelled_by_the_keys_that_differ)
