/* Drawing of boxes and text into a picture, with a stroke font (ASCII) and smooth edges.
 *
 * Coordinates in pixels, x to the right, y down, (0, 0) the corner of the top left pixel. Text is
 * placed by the left end of its capitals' top; its size is the height of the capitals. Bytes
 * outside ASCII 32..126 draw a box. Nothing fails: what lies outside the picture is cut.
 */
#ifndef TL_POST_INK_H
#define TL_POST_INK_H

#include "io/image.h"

typedef struct TlInk {
  uint8_t r, g, b;
  double opacity; /* 0..1 */
} TlInk;

void tl_ink_box(TlImage *image, double x, double y, double width, double height, TlInk ink);
double tl_ink_text_width(const char *text, double size);
void tl_ink_text(TlImage *image, double x, double y, double size, const char *text, TlInk ink);

/* Largest of 1, 2, 5 times a power of ten that is <= x (x > 0). */
double tl_ink_nice(double x);

/* "12 m", "0.5 mm": a length with the unit that suits it, shortest exact digits. */
void tl_ink_length(double metres, char text[32]);

#endif
