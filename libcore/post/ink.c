#include "post/ink.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Strokes as pairs of digits "xy" on a grid of 5 x 9: capitals from y = 0 to 6, descenders to 8;
 * a space lifts the pen. From ' ' to '~'. */
static const char *const glyphs[] = {"",
                                     "2024 2626",
                                     "1012 3032",
                                     "1016 3036 0242 0444",
                                     "413010010213334445361605 2026",
                                     "0640 0010110100 3545463635",
                                     "46121120310405162644",
                                     "2022",
                                     "30212536",
                                     "10212516",
                                     "2125 0244 0442",
                                     "2125 0343",
                                     "2617",
                                     "0343",
                                     "2626",
                                     "0640",
                                     "103041453616050110",
                                     "112026 1636",
                                     "01103041420646",
                                     "011030414233 13334445361605",
                                     "300444 3036",
                                     "400002324345361605",
                                     "413010010516364544331304",
                                     "004016",
                                     "103041423313020110 1304051636454433",
                                     "423313020110304145361605",
                                     "2222 2525",
                                     "2222 2516",
                                     "410345",
                                     "0242 0444",
                                     "014305",
                                     "01103041422324 2626",
                                     "343212144441301001051646",
                                     "062046 1434",
                                     "00063645443303 0030414233",
                                     "4130100105163645",
                                     "00063645413000",
                                     "40000646 0333",
                                     "400006 0333",
                                     "41301001051636454323",
                                     "0006 4046 0343",
                                     "2026 1030 1636",
                                     "4045361605",
                                     "0006 4004 1346",
                                     "000646",
                                     "0600234046",
                                     "06004640",
                                     "103041453616050110",
                                     "06003041423303",
                                     "103041453616050110 2446",
                                     "06003041423303 2346",
                                     "413010010213334445361605",
                                     "0040 2026",
                                     "000516364540",
                                     "002640",
                                     "0016233640",
                                     "0046 4006",
                                     "002340 2326",
                                     "00400646",
                                     "30202636",
                                     "0046",
                                     "10202616",
                                     "022042",
                                     "0747",
                                     "1021",
                                     "12324346 441405163645",
                                     "0006 0312324345361605",
                                     "4332120305163645",
                                     "4046 4332120305163645",
                                     "04444332120305163645",
                                     "40302126 1232",
                                     "4247381807 4332120305163645",
                                     "0006 0312324346",
                                     "2226 2020",
                                     "22271808 2020",
                                     "0006 4205 1446",
                                     "202536",
                                     "0602 03122326 23324346",
                                     "0602 0312324346",
                                     "123243453616050312",
                                     "0208 0312324345361605",
                                     "4248 4332120305163645",
                                     "0602 03123243",
                                     "43321203143445361605",
                                     "202536 1232",
                                     "0205163645 4246",
                                     "022642",
                                     "0216243642",
                                     "0246 4206",
                                     "0226 4218",
                                     "02420646",
                                     "30212213242536",
                                     "2027",
                                     "10212233242516",
                                     "04133443"};
_Static_assert(sizeof glyphs / sizeof *glyphs == 127 - 32, "a glyph for each of ' ' to '~'");
static const char unknown_glyph[] = "0040460600";

static const char *glyph_of(unsigned char c) {
  return c >= 32 && c < 127 ? glyphs[c - 32] : unknown_glyph;
}

/* Leftmost and rightmost column of a glyph; digits keep one width so that numbers stay in line. */
static void glyph_extent(unsigned char c, double *left, double *right) {
  const char *g = glyph_of(c);
  *left = 9;
  *right = 0;
  for (; *g; g += *g == ' ' ? 1 : 2) {
    if (*g == ' ') continue;
    *left = fmin(*left, g[0] - '0');
    *right = fmax(*right, g[0] - '0');
  }
  if (c == ' ' || (c >= '0' && c <= '9')) {
    *left = 0;
    *right = c == ' ' ? 1.5 : 4;
  }
}

static void mix(TlImage *image, int x, int y, TlInk ink, double cover) {
  if (x < 0 || y < 0 || x >= image->width || y >= image->height || cover <= 0) return;
  uint8_t *p = image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
  const uint8_t colour[3] = {ink.r, ink.g, ink.b};
  double a = fmin(cover, 1) * ink.opacity;
  for (int k = 0; k < 3; k++) p[k] = (uint8_t)(p[k] + a * (colour[k] - p[k]) + 0.5);
}

static double overlap(double low, double high, int pixel) {
  return fmax(0, fmin(high, pixel + 1) - fmax(low, pixel));
}

void tl_ink_box(TlImage *image, double x, double y, double width, double height, TlInk ink) {
  int x0 = (int)fmax(0, floor(x)), x1 = (int)fmin(image->width, ceil(x + width));
  int y0 = (int)fmax(0, floor(y)), y1 = (int)fmin(image->height, ceil(y + height));
  for (int j = y0; j < y1; j++)
    for (int i = x0; i < x1; i++)
      mix(image, i, j, ink, overlap(x, x + width, i) * overlap(y, y + height, j));
}

static double segment_distance(double px, double py, const double s[4]) {
  double dx = s[2] - s[0], dy = s[3] - s[1], length2 = dx * dx + dy * dy;
  double t = length2 > 0 ? ((px - s[0]) * dx + (py - s[1]) * dy) / length2 : 0;
  t = fmin(1, fmax(0, t));
  return hypot(px - s[0] - t * dx, py - s[1] - t * dy);
}

/* Round-ended strokes of one colour: a pixel takes the nearest one, so that joints do not darken.
 */
static void draw_strokes(TlImage *image, const double (*s)[4], int count, double width, TlInk ink) {
  double low[2] = {1e30, 1e30}, high[2] = {-1e30, -1e30};
  for (int k = 0; k < count; k++)
    for (int c = 0; c < 4; c++) {
      low[c % 2] = fmin(low[c % 2], s[k][c] - width);
      high[c % 2] = fmax(high[c % 2], s[k][c] + width);
    }
  int x0 = (int)fmax(0, floor(low[0] - 1)), x1 = (int)fmin(image->width - 1, ceil(high[0] + 1));
  int y0 = (int)fmax(0, floor(low[1] - 1)), y1 = (int)fmin(image->height - 1, ceil(high[1] + 1));
  for (int y = y0; y <= y1; y++)
    for (int x = x0; x <= x1; x++) {
      double nearest = 1e30;
      for (int k = 0; k < count; k++)
        nearest = fmin(nearest, segment_distance(x + 0.5, y + 0.5, s[k]));
      mix(image, x, y, ink, 0.5 * width + 0.5 - nearest);
    }
}

static void draw_glyph(TlImage *image, double x, double y, double unit, const char *g, TlInk ink) {
  double s[24][4];
  int count = 0;
  bool down = false;
  double px = 0, py = 0;
  for (; *g; g += *g == ' ' ? 1 : 2) {
    if (*g == ' ') {
      down = false;
      continue;
    }
    double qx = x + unit * (g[0] - '0'), qy = y + unit * (g[1] - '0');
    if (down && count < 24) memcpy(s[count++], (double[4]){px, py, qx, qy}, sizeof s[0]);
    px = qx;
    py = qy;
    down = true;
  }
  if (count > 0) draw_strokes(image, (const double(*)[4])s, count, fmax(1.1, 0.85 * unit), ink);
}

double tl_ink_text_width(const char *text, double size) {
  double unit = size / 6, width = 0, left, right;
  for (; *text; text++) {
    glyph_extent((unsigned char)*text, &left, &right);
    width += unit * (right - left + 2);
  }
  return width;
}

void tl_ink_text(TlImage *image, double x, double y, double size, const char *text, TlInk ink) {
  double unit = size / 6, left, right;
  for (; *text; text++) {
    glyph_extent((unsigned char)*text, &left, &right);
    draw_glyph(image, x - unit * left, y, unit, glyph_of((unsigned char)*text), ink);
    x += unit * (right - left + 2);
  }
}

double tl_ink_nice(double x) {
  double p = pow(10, floor(log10(x))), f = x / p;
  double nice = f >= 5 ? 5 : f >= 2 ? 2 : 1;
  /* log10 of a power of ten may come out a hair low or high */
  return f < 0.9999999 ? 0.5 * p : f >= 9.9999999 ? 10 * p : nice * p;
}

void tl_ink_length(double metres, char text[32]) {
  double a = fabs(metres);
  if (a < 1e-3 && a > 0)
    snprintf(text, 32, "%.4g um", metres * 1e6);
  else if (a < 0.5 && a > 0)
    snprintf(text, 32, "%.4g mm", metres * 1e3);
  else if (a < 10000)
    snprintf(text, 32, "%.4g m", metres);
  else
    snprintf(text, 32, "%.4g km", metres * 1e-3);
}
