#include "run/setup_nets.h"

#include "conf/keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const TlParam tl_net_params[] = {
    VEC3(TlNetSetup, corner_m, "m", NULL, -1e8, 1e8, "centre of the sphere at the first corner"),
    VEC3(TlNetSetup, along_m, "m", NULL, -1e7, 1e7,
         "from there to the end of the first row: direction and length"),
    VEC3(TlNetSetup, across_m, "m", NULL, -1e7, 1e7,
         "from the first row to the last: length, and direction (its part at right angles to "
         "along_m); layers stack, and a pressure's outside lies, towards along_m x across_m"),
    REAL(
        TlNetSetup, tube_radius_m, "m", "0", 0, 1e4,
        "closed to a tube of this radius (centres of the first layer), the membrane of a specimen: "
        "corner_m is where its axis begins, across_m the axis with its length, along_m the "
        "direction from it to the first column; layers lie, and a pressure's outside is, outwards"),
    REAL(TlNetSetup, spacing_m, "m", NULL, 1e-9, 1e4,
         "from sphere to sphere in a row, and bond length; rows are sqrt(3)/2 of it apart; round a "
         "tube the nearest that closes"),
    REAL(TlNetSetup, radius_m, "m", NULL, 1e-9, 1e4, "of the spheres"),
    INT(TlNetSetup, columns, "0", 0, 1e6, "spheres in a row; 0: as many as along_m holds"),
    INT(TlNetSetup, rows, "0", 0, 1e6, "rows; 0: as many as across_m holds"),
    INT(TlNetSetup, layers, "1", 1, 2,
        "2: a second layer over the gaps of the first, each sphere bonded to three below"),
    REAL(TlNetSetup, layer_gap_m, "m", "0", 0, 1e4, "between two layers; 0: the spheres' diameter"),
    REAL(TlNetSetup, density_kg_m3, "kg/m3", "1000", 1e-3, 1e6, "of the spheres"),
    REAL(TlNetSetup, mass_kg, "kg", "0", 0, 1e6, "of a sphere, in place of its density"),
    REAL(TlNetSetup, stiffness_N_m, "N/m", NULL, 1e-9, 1e15, "of a bond along itself"),
    REAL(TlNetSetup, tangential_stiffness_N_m, "N/m", "-1", -1, 1e15,
         "of a bond across itself; negative: as along"),
    REAL(TlNetSetup, damping, "", "0", 0, 10,
         "of a bond, as a fraction of its pair's critical damping; the whole net's long waves are "
         "damped by contact.damping_per_s"),
    REAL(TlNetSetup, strength_N, "N", "0", 0, 1e15, "a bond pulled harder breaks; 0: never"),
    REAL(TlNetSetup, stretch_most, "", "1", 1e-3, 100,
         "a bond longer than 1 + this times its length ends the run"),
    REAL(TlNetSetup, pressure_Pa, "Pa", "0", -1e12, 1e12,
         "on the triangles of spheres, from outside; of two layers the inner bears 80%"),
    TEXT(TlNetSetup, material, "",
         "in the list of materials: what contacts of the spheres are like; none: by friction and "
         "restitution"),
    TL_OLD_FORM_ROWS(TlNetSetup, "0.5", "0", 0, "of grains, terrain and planes on the spheres"),
    TEXTS(TlNetSetup, clamped,
          "sides that never move: first-row, last-row, first-column, last-column, or all, or none; "
          "not given: all, of a tube its two rows"),
};
_Static_assert(COUNT(tl_net_params) == TL_NET_PARAMS, "setup_nets.h counts them");

typedef struct Side {
  const char *name;
  int bits;
} Side;
static const Side sides[] = {{"first-row", TL_NET_FIRST_ROW},
                             {"last-row", TL_NET_LAST_ROW},
                             {"first-column", TL_NET_FIRST_COLUMN},
                             {"last-column", TL_NET_LAST_COLUMN},
                             {"all", TL_NET_ALL_SIDES},
                             {"none", 0}};

static TlStatus fail_at(const TlStudy *study, int64_t i, const char *key, const char *text) {
  char path[64];
  snprintf(path, sizeof path, "nets.%lld.%s", (long long)i, key);
  return tl_study_fail(study, TL_EINPUT, path, "%s", text);
}

static TlStatus sides_of(const TlTexts *names, const TlStudy *study, int64_t i, int *bits) {
  *bits = names->count == 0 ? TL_NET_ALL_SIDES : 0;
  for (int64_t k = 0; k < names->count; k++) {
    size_t s = 0;
    while (s < COUNT(sides) && strcmp(names->items[k], sides[s].name) != 0) s++;
    if (s == COUNT(sides))
      return fail_at(study, i, "clamped",
                     "first-row, last-row, first-column, last-column, all or none are wanted");
    *bits |= sides[s].bits;
  }
  return TL_OK;
}

static TlVec3 vec(const double x[3]) {
  return tl_vec3(x[0], x[1], x[2]);
}

/* How many steps of this length fit, with a part left for what was rounded. */
static int32_t fit(double length, double step) {
  double n = floor(length / step + 1e-6) + 1;
  return n < 1e6 ? (int32_t)n : 1000000;
}

/* Columns that close; rows as across_m holds. */
static TlStatus lay_tube(const TlNetSetup *s, const TlStudy *study, int64_t i, TlNet *net) {
  double round = 2 * M_PI * s->tube_radius_m / s->spacing_m;
  net->tube_radius_m = s->tube_radius_m;
  net->columns = s->columns ? (int32_t)s->columns : (int32_t)fmin(floor(round + 0.5), 1e6);
  if (net->columns < 5) return fail_at(study, i, "spacing_m", "leaves fewer than five columns");
  net->spacing_m = tl_net_tube_spacing(s->tube_radius_m, net->columns);
  return TL_OK;
}

static TlStatus lay_out(const TlNetSetup *s, const TlStudy *study, int64_t i, TlNet *net) {
  TlVec3 along = vec(s->along_m), across = vec(s->across_m);
  net->along = tl_unit(along);
  across = tl_axpy(across, -tl_dot(across, net->along), net->along);
  if (!(tl_norm(along) > 0)) return fail_at(study, i, "along_m", "has no length");
  if (!(tl_norm(across) > 1e-9 * tl_norm(along)))
    return fail_at(study, i, "across_m", "has no part at right angles to along_m");
  net->across = tl_unit(across);
  net->corner = vec(s->corner_m);
  if (s->tube_radius_m > 0)
    TL_TRY(lay_tube(s, study, i, net));
  else
    net->columns = s->columns ? (int32_t)s->columns : fit(tl_norm(along), s->spacing_m);
  net->rows = s->rows ? (int32_t)s->rows : fit(tl_norm(across), tl_net_row_gap(net->spacing_m));
  if (net->rows < 2 || net->columns < 2)
    return fail_at(study, i, "spacing_m", "leaves fewer than two rows or columns");
  return TL_OK;
}

static TlStatus check_step(const TlNet *net, double step_s, const TlStudy *study, int64_t i) {
  char text[256];
  double stable = tl_net_stable_step(net);
  if (step_s < stable) return TL_OK;
  snprintf(text, sizeof text,
           "with these springs and spheres steps below %.4g s are stable, and time.dt_s is %g; a "
           "softer or heavier net, or smaller steps",
           stable, step_s);
  return fail_at(study, i, "stiffness_N_m", text);
}

static TlStatus check_strength(const TlNet *net, const TlStudy *study, int64_t i) {
  double stretch = net->strength_N / net->normal_N_m / net->spacing_m;
  if (!(stretch > net->stretch_most)) return TL_OK;
  return fail_at(study, i, "strength_N",
                 "is reached only beyond stretch_most, where the run ends; a larger stretch_most");
}

TlStatus tl_net_setup_make(const TlStudyList *nets, int64_t i, double step_s, double mass_scale,
                           const TlStudy *study, TlNet *net) {
  const TlNetSetup *s = (const TlNetSetup *)nets->items + i;
  double r = s->radius_m, volume = 4.0 / 3 * M_PI * r * r * r;
  *net = (TlNet){.layers = (int32_t)s->layers,
                 .radius_m = r,
                 .spacing_m = s->spacing_m,
                 .layer_gap_m = s->layer_gap_m > 0 ? s->layer_gap_m : 2 * r,
                 .mass_kg = mass_scale * (s->mass_kg > 0 ? s->mass_kg : s->density_kg_m3 * volume),
                 .normal_N_m = s->stiffness_N_m,
                 .tangential_N_m = s->tangential_stiffness_N_m < 0 ? s->stiffness_N_m
                                                                   : s->tangential_stiffness_N_m,
                 .damping = s->damping,
                 .strength_N = s->strength_N,
                 .stretch_most = s->stretch_most,
                 .pressure_Pa = s->pressure_Pa};
  TL_TRY(sides_of(&s->clamped, study, i, &net->clamped));
  if (s->tube_radius_m > 0 && net->clamped == TL_NET_ALL_SIDES)
    net->clamped = TL_NET_FIRST_ROW | TL_NET_LAST_ROW;
  TL_TRY(lay_out(s, study, i, net));
  TL_TRY(check_step(net, step_s, study, i));
  TL_TRY(check_strength(net, study, i));
  return tl_net_check(net);
}
