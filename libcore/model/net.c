#include "model/net.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ROW = 0.86602540378443864676; /* sqrt(3)/2: rows over columns */

double tl_net_row_gap(double spacing_m) {
  return ROW * spacing_m;
}

TlNetPlace tl_net_place(const TlNet *net, int64_t number) {
  int64_t sheet = (int64_t)net->rows * net->columns;
  return (TlNetPlace){number / sheet, number % sheet / net->columns, number % net->columns};
}

static bool closed(const TlNet *net) {
  return net->tube_radius_m > 0;
}

/* -1: no such place. */
static int64_t number_at(const TlNet *net, int64_t layer, int64_t row, int64_t column) {
  if (closed(net)) column = (column + net->columns) % net->columns;
  if (layer < 0 || layer >= net->layers || row < 0 || row >= net->rows || column < 0 ||
      column >= net->columns)
    return -1;
  return (layer * net->rows + row) * net->columns + column;
}

int64_t tl_net_spheres(const TlNet *net) {
  return (int64_t)net->rows * net->columns * net->layers;
}

double tl_net_tube_spacing(double tube_radius_m, int32_t columns) {
  return 2 * tube_radius_m * sin(M_PI / columns);
}

static TlStatus wrong(const char *what, double value) {
  return tl_fail(TL_EUSAGE, "net: %s = %g makes no sense", what, value);
}

static bool positive(double x) {
  return x > 0 && isfinite(x);
}
static bool not_negative(double x) {
  return x >= 0 && isfinite(x);
}

static TlStatus check_tube(const TlNet *net) {
  if (!positive(net->tube_radius_m)) return wrong("tube radius", net->tube_radius_m);
  if (net->columns < 5) return wrong("columns round the tube", net->columns);
  double spacing = tl_net_tube_spacing(net->tube_radius_m, net->columns);
  if (!(fabs(net->spacing_m / spacing - 1) < 1e-9))
    return wrong("spacing round the tube", net->spacing_m);
  if (net->clamped & (TL_NET_FIRST_COLUMN | TL_NET_LAST_COLUMN))
    return wrong("a clamped column of a tube, of sides", net->clamped);
  return TL_OK;
}

TlStatus tl_net_check(const TlNet *net) {
  if (net->rows < 2 || net->columns < 2)
    return wrong("rows or columns", fmin(net->rows, net->columns));
  if (net->layers < 1 || net->layers > 2) return wrong("layers", net->layers);
  if (!positive(net->radius_m)) return wrong("radius", net->radius_m);
  if (!positive(net->mass_kg)) return wrong("mass", net->mass_kg);
  if (!positive(net->spacing_m)) return wrong("spacing", net->spacing_m);
  if (net->layers > 1 && !positive(net->layer_gap_m)) return wrong("layer gap", net->layer_gap_m);
  if (!positive(net->normal_N_m)) return wrong("stiffness", net->normal_N_m);
  if (!not_negative(net->tangential_N_m)) return wrong("tangential stiffness", net->tangential_N_m);
  if (!not_negative(net->damping)) return wrong("damping", net->damping);
  if (!not_negative(net->strength_N)) return wrong("strength", net->strength_N);
  if (!positive(net->stretch_most)) return wrong("longest stretch", net->stretch_most);
  if (!isfinite(net->pressure_Pa)) return wrong("pressure", net->pressure_Pa);
  if (net->material < 0) return wrong("material", net->material);
  if (!(fabs(tl_norm(net->along) - 1) < 1e-9 && fabs(tl_norm(net->across) - 1) < 1e-9 &&
        fabs(tl_dot(net->along, net->across)) < 1e-9))
    return wrong("angle of along and across", tl_dot(net->along, net->across));
  return net->tube_radius_m == 0 ? TL_OK : check_tube(net);
}

static bool clamped(const TlNet *net, TlNetPlace p) {
  return (net->clamped & TL_NET_FIRST_ROW && p.row == 0) ||
         (net->clamped & TL_NET_LAST_ROW && p.row == net->rows - 1) ||
         (net->clamped & TL_NET_FIRST_COLUMN && p.column == 0) ||
         (net->clamped & TL_NET_LAST_COLUMN && p.column == net->columns - 1);
}

bool tl_net_carried(const TlNet *net, TlNetPlace p) {
  return net->held && p.row == net->rows - 1;
}

/* The second layer covers the gaps of the first: its spheres lie over the triangles' middles. */
static double columns_to(TlNetPlace p) {
  return (double)p.column + 0.5 * (double)(p.row % 2) + 0.5 * (double)p.layer;
}
static double height_across(const TlNet *net, TlNetPlace p) {
  return net->spacing_m * (ROW * (double)p.row + ROW / 3 * (double)p.layer);
}
static double tube_radius(const TlNet *net, TlNetPlace p) {
  return net->tube_radius_m + (double)p.layer * net->layer_gap_m;
}

/* From sphere to sphere as the crow flies. */
static double tube_length(const TlNet *net, TlNetPlace p, TlNetPlace q) {
  double r = tube_radius(net, p), s = tube_radius(net, q);
  double up = height_across(net, p) - height_across(net, q);
  double half = sin(M_PI * (columns_to(p) - columns_to(q)) / net->columns);
  return sqrt((r - s) * (r - s) + 4 * r * s * half * half + up * up);
}

static TlVec3 point_of(const TlNet *net, TlNetPlace p) {
  double second = (double)p.layer;
  double x = net->spacing_m * columns_to(p), y = height_across(net, p);
  if (closed(net)) {
    double turn = 2 * M_PI * columns_to(p) / net->columns, r = tube_radius(net, p);
    TlVec3 side = tl_cross(net->across, net->along);
    TlVec3 out = tl_axpy(tl_scale(r * cos(turn), net->along), r * sin(turn), side);
    return tl_axpy(tl_add(net->corner, out), y, net->across);
  }
  TlVec3 at = tl_axpy(tl_axpy(net->corner, x, net->along), y, net->across);
  return tl_axpy(at, second * net->layer_gap_m, tl_cross(net->along, net->across));
}

TlVec3 tl_net_point(const TlNet *net, int64_t number) {
  return point_of(net, tl_net_place(net, number));
}

static TlStatus add_sphere(const TlNet *net, TlBodies *bodies, int64_t number) {
  int64_t i;
  TlNetPlace p = tl_net_place(net, number);
  TL_TRY(tl_bodies_add(bodies, net->first_id + number, 0, &i));
  bodies->position[i] = point_of(net, p);
  bodies->flags[i] = TL_BODY_NET | (clamped(net, p) || tl_net_carried(net, p) ? TL_BODY_FROZEN : 0);
  bodies->colliders.avatar_id[bodies->first[i]] = net->shape_id;
  bodies->colliders.material[bodies->first[i]] = net->material;
  return TL_OK;
}

static int by_number(const void *one, const void *two) {
  const int64_t *a = one, *b = two;
  return *a < *b ? -1 : *a > *b;
}

/* Rows shift by half a column to and fro: the two above and below are column - 1 + odd and column +
 * odd. A sphere of the second layer rests on (row, column), (row, column + 1), (row + 1, column +
 * odd) of the first. */
int tl_net_neighbours(const TlNet *net, int64_t number, int64_t neighbour[TL_NET_NEIGHBOURS]) {
  TlNetPlace p = tl_net_place(net, number);
  int64_t k = p.layer, i = p.row, j = p.column, odd = i % 2;
  const int64_t below[] = {number_at(net, k - 1, i, j), number_at(net, k - 1, i, j + 1),
                           number_at(net, k - 1, i + 1, j + odd)};
  const int64_t same[] = {number_at(net, k, i - 1, j - 1 + odd), number_at(net, k, i - 1, j + odd),
                          number_at(net, k, i, j - 1),           number_at(net, k, i, j + 1),
                          number_at(net, k, i + 1, j - 1 + odd), number_at(net, k, i + 1, j + odd)};
  const int64_t above[] = {number_at(net, k + 1, i - 1, j - 1 + odd),
                           number_at(net, k + 1, i, j - 1), number_at(net, k + 1, i, j)};
  int n = 0;
  for (int a = 0; a < 3; a++)
    if (below[a] >= 0) neighbour[n++] = below[a];
  for (int a = 0; a < 6; a++)
    if (same[a] >= 0) neighbour[n++] = same[a];
  for (int a = 0; a < 3; a++)
    if (above[a] >= 0) neighbour[n++] = above[a];
  if (closed(net)) qsort(neighbour, (size_t)n, sizeof *neighbour, by_number); /* over the seam */
  return n;
}

double tl_net_rest_length(const TlNet *net, int64_t one, int64_t two) {
  if (closed(net)) return tube_length(net, tl_net_place(net, one), tl_net_place(net, two));
  if (tl_net_place(net, one).layer == tl_net_place(net, two).layer) return net->spacing_m;
  return sqrt(net->layer_gap_m * net->layer_gap_m + net->spacing_m * net->spacing_m / 3);
}

TlBondLaw tl_net_bond_law(const TlNet *net) {
  return (TlBondLaw){.normal_N_m = net->normal_N_m,
                     .tangential_N_m = net->tangential_N_m,
                     .normal_N_s_m = net->damping * sqrt(2 * net->normal_N_m * net->mass_kg),
                     .tangential_N_s_m =
                         net->damping * sqrt(2 * net->tangential_N_m * net->mass_kg),
                     .strength_N = net->strength_N,
                     .stretch_most = net->stretch_most};
}

TlStatus tl_net_add(const TlNet *net, TlBodies *bodies, int64_t begin, int64_t end) {
  TL_TRY(tl_bodies_reserve(bodies, bodies->total + end - begin));
  for (int64_t i = begin; i < end; i++) {
    int64_t neighbour[TL_NET_NEIGHBOURS], me = net->first_id + i;
    TL_TRY(add_sphere(net, bodies, i));
    int n = tl_net_neighbours(net, i, neighbour);
    for (int k = 0; k < n; k++) {
      int64_t other = net->first_id + neighbour[k];
      if (other < me && neighbour[k] >= begin) continue; /* it added the bond */
      TlBond bond = {.low = me < other ? me : other, .high = me < other ? other : me};
      int64_t low = bond.low - net->first_id, high = bond.high - net->first_id;
      bond.number = tl_net_bond_id(net, low, high);
      bond.length = tl_net_rest_length(net, low, high);
      bond.law = net->bond_law;
      TL_TRY(tl_pair_state_add(&bodies->pairs, TL_BONDS, &bond));
    }
  }
  return TL_OK;
}

int64_t tl_net_bond_id(const TlNet *net, int64_t low, int64_t high) {
  int64_t neighbour[TL_NET_NEIGHBOURS];
  int n = tl_net_neighbours(net, low, neighbour), k = 0;
  while (k < n && neighbour[k] != high) k++;
  assert(k < n);
  return (net->first_id + low) * TL_NET_NEIGHBOURS + k;
}

double tl_net_longest_bond(const TlNet *net) {
  int64_t sheet = (int64_t)net->rows * net->columns;
  double length = net->spacing_m;
  if (net->layers > 1) length = fmax(length, tl_net_rest_length(net, 0, sheet));
  if (net->layers > 1 && closed(net)) /* round the outer layer */
    length = fmax(length, tl_net_rest_length(net, sheet, sheet + 1));
  return length;
}

double tl_net_stable_step(const TlNet *net) {
  double bonds = net->layers > 1 ? TL_NET_NEIGHBOURS : 6, m = net->mass_kg,
         inertia = 0.4 * m * net->radius_m * net->radius_m, length = tl_net_longest_bond(net);
  double kn = net->normal_N_m, kt = net->tangential_N_m;
  double omega = sqrt(2 * bonds * fmax(kn / m, kt * (1 / m + 0.25 * length * length / inertia)));
  /* c/k = 2 damping sqrt(m/(2k)): the softer spring has the longer time */
  double beta = 2 * net->damping * sqrt(0.5 * m / (kt > 0 ? fmin(kn, kt) : kn));
  double zeta = 0.5 * beta * omega;
  return 2 / omega * (sqrt(1 + zeta * zeta) - zeta);
}

const TlNet *tl_net_of(const TlNet *nets, int count, int64_t id) {
  for (int k = 0; k < count; k++)
    if (id >= nets[k].first_id && id < nets[k].first_id + tl_net_spheres(&nets[k])) return &nets[k];
  return NULL;
}

bool tl_net_bonded(const TlPairState *pairs, int64_t one, int64_t two) {
  size_t count;
  int64_t low = one < two ? one : two, high = one < two ? two : one;
  return tl_pair_rows_find(&pairs->of[TL_BONDS], TL_BONDS, low, high, &count) != NULL;
}

void tl_net_round(const TlNet *net, int64_t number, int64_t round[7]) {
  TlNetPlace p = tl_net_place(net, number);
  int64_t k = p.layer, i = p.row, j = p.column, odd = i % 2;
  round[0] = round[6] = number_at(net, k, i, j + 1);
  round[1] = number_at(net, k, i + 1, j + odd);
  round[2] = number_at(net, k, i + 1, j - 1 + odd);
  round[3] = number_at(net, k, i, j - 1);
  round[4] = number_at(net, k, i - 1, j - 1 + odd);
  round[5] = number_at(net, k, i - 1, j + odd);
}

void tl_net_corners(int64_t number, const int64_t round[7], int t, int64_t corner[3]) {
  int64_t c[3] = {number, round[t], round[t + 1]};
  int first = c[0] < c[1] ? (c[0] < c[2] ? 0 : 2) : (c[1] < c[2] ? 1 : 2);
  for (int k = 0; k < 3; k++) corner[k] = c[(first + k) % 3];
}
