#include "run/columns.h"

#include "base/mem.h"
#include "io/column_names.h"
#include "run/apparatus.h"
#include "run/boundary_forces.h"
#include "run/cells.h"
#include "run/constraint_forces.h"
#include "run/departures.h"
#include "run/ensemble.h"
#include "run/history.h"
#include "store/linefile.h"

const TlColumns *tl_table_columns(TlResultsTable table) {
  switch (table) {
  case TL_TABLE_HISTORY:
    return &tl_history_columns;
  case TL_TABLE_DEPARTURES:
    return &tl_departures_columns;
  case TL_TABLE_BOUNDARY:
    return &tl_boundary_columns;
  case TL_TABLE_CONSTRAINT:
    return &tl_constraint_columns;
  case TL_TABLE_CELLS:
    return &tl_cell_columns;
  default:
    for (int k = 0; k < TL_APPARATUS_COUNT; k++)
      if (tl_apparatus(k)->table == table) return &tl_apparatus(k)->columns;
    return NULL;
  }
}

/* ---- the reference ---- */

/* Appends; *text becomes NULL without memory, and stays so. */
static void say(char **text, const char *more) {
  char *longer = *text ? tl_format("%s%s", *text, more) : NULL;
  tl_free(*text);
  *text = longer;
}

static void say_format(char **text, char *more) {
  if (more)
    say(text, more);
  else
    TL_FREE(*text);
  tl_free(more);
}

char *tl_columns_reference(void) {
  static const char *const renamed[][2] = {
#define N(earlier, now) {earlier, now},
      TL_COLUMN_NAMES(N)
#undef N
  };
  char *text = tl_strdup(
      "# Columns of the tables of a run\n\n"
      "Written by `talus-solve --columns` and `talus-measure --columns`; `make reference` "
      "writes this page anew.\n\nEach table is a CSV file beside the frames, with the names of its "
      "columns in "
      "the first line. An\nempty field is not defined there. The group `table` of "
      "run.h5 has the format number of each table of\nthe run as an attribute with "
      "the file's name; it is raised when a column is renamed or removed.\n");
  for (int t = 0; t < TL_TABLES; t++) {
    const TlColumns *c = tl_table_columns((TlResultsTable)t);
    say_format(
        &text,
        tl_format("\n## %s\n\nA line describes %s. Format %d.\n\n| column | unit | meaning |\n"
                  "|---|---|---|\n",
                  tl_linefile(t).name, c->title, c->format));
    say_format(&text, tl_columns_text(c->column, c->count));
  }
  say_format(&text,
             tl_format("\n## blocks.csv\n\nA line describes %s (`talus-ensemble`). Format %d. "
                       "Coordinates are those of the\nterrain's CRS. After these columns "
                       "comes one for each of the study's `ensemble.ranges`, by its key.\n\n"
                       "| column | unit | meaning |\n|---|---|---|\n",
                       tl_block_columns.title, tl_block_columns.format));
  say_format(&text, tl_columns_text(tl_block_columns.column, tl_block_columns.count));
  say(&text, "\n## Earlier names\n\nResults of earlier versions have these names; `talus-measure`, "
             "`talus-render`, `talus-report` and the Python\nmodule take either for the other.\n\n"
             "| earlier | now |\n|---|---|\n");
  for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
    say_format(&text, tl_format("| `%s` | `%s` |\n", renamed[i][0], renamed[i][1]));
  return text;
}
