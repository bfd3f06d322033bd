/* Tables of numbers as CSV: a header line with units in the names ("time_s,kinetic_energy_J"),
 * then one line a row, written under a temporary name and renamed when whole. Reals are printed
 * with the fewest of 15 to 17 digits that read back as the same number; NaN as an empty field. */
#ifndef TL_IO_CSV_H
#define TL_IO_CSV_H

#include "base/file.h"

#include <stdio.h>

typedef struct TlCsv {
  TlOutFile out;
  FILE *file;
  int columns;
} TlCsv;

TlStatus tl_csv_begin(TlCsv *csv, const char *path, bool overwrite, const char *header);
/* count must be the number of columns of the header. */
TlStatus tl_csv_row(TlCsv *csv, const double *values, int count);
/* TL_EIO when anything before could not be written. */
TlStatus tl_csv_commit(TlCsv *csv);
void tl_csv_abort(TlCsv *csv); /* also fine after commit */

/* As a cell in quotation marks, those inside doubled; control characters are shown as escapes
 * (base/text.h), so that a row stays a line. False: it could not be written (ferror knows it too).
 */
bool tl_csv_put_text(FILE *to, const char *text);
/* value as text; "" for NaN. */
void tl_csv_real(char text[40], double value);

#endif
