#include "post/render_colour.h"

#include "base/random.h"

#include <math.h>
#include <threads.h>

static double of_display(double s) { /* 0..1 */
  return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

/* Most colours are given by whole bytes, a dozen for each ray: by pow they took a quarter of a picture's time. */
static double of_byte[256];
static once_flag of_byte_made = ONCE_FLAG_INIT;

static void make_of_byte(void) {
  for (int i = 0; i < 256; i++) of_byte[i] = of_display(i / 255.0);
}

static double to_linear(double s) { /* 0..255; of_byte is made */
  int byte = s >= 0 && s <= 255 ? (int)s : 0;
  return s == byte ? of_byte[byte] : of_display(s / 255);
}
static double to_srgb(double l) {
  return l <= 0.0031308 ? 12.92 * l : 1.055 * pow(l, 1 / 2.4) - 0.055;
}

TlVec3 tl_colour_from_srgb(double r, double g, double b) {
  call_once(&of_byte_made, make_of_byte);
  return tl_vec3(to_linear(r), to_linear(g), to_linear(b));
}

static TlVec3 between(TlVec3 a, TlVec3 b, double t) {
  return tl_axpy(tl_scale(1 - t, a), t, b);
}

/* Knots of "plasma" (Smith and van der Walt, CC0), without its darkest end: grains stay visible. */
TlVec3 tl_colour_map(double t) {
  static const double knot[][3] = {{62, 4, 156},   {92, 1, 166},   {126, 3, 168},  {156, 23, 158},
                                   {182, 48, 139}, {204, 71, 120}, {222, 95, 101}, {237, 121, 83},
                                   {248, 149, 64}, {253, 180, 47}, {251, 214, 36}, {240, 249, 33}};
  enum { LAST = sizeof knot / sizeof *knot - 1 };
  double x = (t > 0 ? t < 1 ? t : 1 : 0) * LAST;
  int k = x >= LAST ? LAST - 1 : (int)x;
  double f = x - k, c[3];
  for (int i = 0; i < 3; i++) c[i] = knot[k][i] + f * (knot[k + 1][i] - knot[k][i]);
  return tl_colour_from_srgb(c[0], c[1], c[2]);
}

TlVec3 tl_colour_of_id(uint64_t id) {
  double hue = 6 * tl_random_uniform(17, 3, id), bright = 0.55 + 0.4 * tl_random_uniform(17, 4, id);
  double c[3] = {fabs(hue - 3) - 1, 2 - fabs(hue - 2), 2 - fabs(hue - 4)};
  for (int i = 0; i < 3; i++) {
    c[i] = c[i] < 0 ? 0 : c[i] > 1 ? 1 : c[i];
    c[i] = 255 * bright * (1 - 0.62 * (1 - c[i]));
  }
  return tl_colour_from_srgb(c[0], c[1], c[2]);
}

TlVec3 tl_colour_of_ground(double slope_deg, double part) {
  TlVec3 meadow = tl_colour_from_srgb(150, 152, 112), earth = tl_colour_from_srgb(164, 150, 126),
         rock = tl_colour_from_srgb(150, 147, 143);
  double steep = (slope_deg - 8) / 20;
  TlVec3 c = steep < 1 ? between(meadow, earth, steep < 0 ? 0 : steep)
                       : between(earth, rock, steep > 2 ? 1 : steep - 1);
  return tl_scale(0.88 + 0.24 * part, c);
}

void tl_colour_to_bytes(TlVec3 linear, uint8_t rgb[3]) {
  const double c[3] = {linear.x, linear.y, linear.z};
  for (int i = 0; i < 3; i++) {
    double v = c[i] < 0 ? 0 : c[i];
    if (v > 0.7) v = 0.7 + 0.3 * (1 - exp(-(v - 0.7) / 0.3));
    rgb[i] = (uint8_t)(255 * to_srgb(v) + 0.5);
  }
}

TlVec3 tl_colour_of_net(void) {
  return tl_colour_from_srgb(72, 96, 112);
}
