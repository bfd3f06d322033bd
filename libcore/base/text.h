/* Numbers as text. */
#ifndef TL_BASE_TEXT_H
#define TL_BASE_TEXT_H

/* With the fewest of 15 to 17 digits that read back as the same number. */
void tl_text_real(char text[40], double value);

#endif
