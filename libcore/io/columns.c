#include "io/columns.h"

#include "base/mem.h"

#include <assert.h>

char *tl_columns_header(const TlColumns *c) {
  char *header = tl_strdup(c->column[0].name);
  for (int i = 1; i < c->count && header; i++) {
    char *longer = tl_format("%s,%s", header, c->column[i].name);
    tl_free(header);
    header = longer;
  }
  return header;
}

int tl_columns_fill(const TlColumns *c, const void *row, double *value, const char **text) {
  int numbers = 0;
  *text = NULL;
  for (int i = 0; i < c->count; i++) {
    if (c->column[i].text) {
      assert(i == c->count - 1);
      *text = c->column[i].text(row);
    } else {
      assert(numbers < TL_COLUMNS_MOST);
      value[numbers++] = c->column[i].get(row);
    }
  }
  return numbers;
}

char *tl_columns_text(const TlColumn *column, int count) {
  char *text = tl_strdup("");
  for (int i = 0; i < count && text; i++) {
    char *longer =
        tl_format("%s| `%s` | %s | %s |\n", text, column[i].name, column[i].unit, column[i].doc);
    tl_free(text);
    text = longer;
  }
  return text;
}
