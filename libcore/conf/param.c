#include "conf/param.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *value_of(const TlParam *param, void *base) {
  return (char *)base + param->offset;
}

static bool only_space(const char *text) {
  while (isspace((unsigned char)*text)) text++;
  return *text == 0;
}

TlStatus tl_parse_real(const char *text, double *value) {
  char *end;
  errno = 0;
  double x = strtod(text, &end);
  if (end == text || only_space(text)) return tl_fail(TL_EINPUT, "'%s' is not a number", text);
  if (!only_space(end))
    return tl_fail(TL_EINPUT, "'%s' is not a number: '%s' follows it", text, end);
  if (!isfinite(x)) return tl_fail(TL_EINPUT, "'%s' is not a finite number", text);
  *value = x;
  return TL_OK;
}

TlStatus tl_parse_int(const char *text, int64_t *value) {
  char *end;
  errno = 0;
  long long x = strtoll(text, &end, 10);
  if (end == text || !only_space(end))
    return tl_fail(TL_EINPUT, "'%s' is not a whole number", text);
  if (errno == ERANGE) return tl_fail(TL_EINPUT, "'%s' is too large a number", text);
  *value = x;
  return TL_OK;
}

static TlStatus check_range(const TlParam *param, double x) {
  if ((param->min == 0 && param->max == 0) || (x >= param->min && x <= param->max)) return TL_OK;
  return tl_fail(TL_EINPUT, "%g is out of range; allowed: %g to %g%s%s", x, param->min, param->max,
                 param->unit && param->unit[0] ? " " : "", param->unit ? param->unit : "");
}

static TlStatus parse_int(const TlParam *param, int64_t *value, const char *text) {
  int64_t x = 0;
  bool word = param->zero && strcmp(text, param->zero) == 0;
  if (!word && tl_parse_int(text, &x) != TL_OK)
    return param->zero ? tl_fail(TL_EINPUT, "%s, nor '%s'", tl_message(), param->zero) : TL_EINPUT;
  TL_TRY(check_range(param, (double)x));
  return *value = x, TL_OK;
}

static TlStatus parse_flag(bool *value, const char *text) {
  static const char *yes[] = {"true", "yes", "on"}, *no[] = {"false", "no", "off"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, yes[i]) == 0) return *value = true, TL_OK;
    if (strcmp(text, no[i]) == 0) return *value = false, TL_OK;
  }
  return tl_fail(TL_EINPUT, "'%s' is neither true nor false", text);
}

static int choice_index(const char *choices, const char *text, size_t length) {
  int index = 0;
  for (const char *p = choices;; index++) {
    const char *bar = strchr(p, '|');
    size_t n = bar ? (size_t)(bar - p) : strlen(p);
    if (n == length && strncmp(p, text, n) == 0) return index;
    if (!bar) return -1;
    p = bar + 1;
  }
}

const char *tl_param_choice_name(const TlParam *param, int index, char *buffer, size_t size) {
  const char *p = param->choices;
  for (int i = 0; i < index; i++) p = strchr(p, '|') + 1;
  snprintf(buffer, size, "%.*s", (int)strcspn(p, "|"), p);
  return buffer;
}

static TlStatus parse_vec3(const TlParam *param, double *value, const char *text) {
  char copy[256];
  if (strlen(text) >= sizeof copy) return tl_fail(TL_EINPUT, "'%s' is not three numbers", text);
  snprintf(copy, sizeof copy, "%s", text);
  char *rest = copy;
  for (int k = 0; k < 3; k++) {
    char *part = strsep(&rest, ",");
    if (!part || (k < 2 && !rest) || (k == 2 && rest))
      return tl_fail(TL_EINPUT, "'%s' is not three numbers x,y,z", text);
    TL_TRY(tl_parse_real(part, &value[k]));
    TL_TRY(check_range(param, value[k]));
  }
  return TL_OK;
}

static TlStatus parse_ints(const TlParam *param, TlInts *value, const char *text) {
  char *copy = tl_strdup(text), *rest = copy;
  int64_t *items = copy ? tl_calloc(strlen(text) / 2 + 1, sizeof *items) : NULL, count = 0;
  TlStatus status = items ? TL_OK : TL_ENOMEM;
  while (status == TL_OK && text[0] && rest) {
    status = tl_parse_int(strsep(&rest, ","), &items[count]);
    if (status == TL_OK) status = check_range(param, (double)items[count++]);
  }
  tl_free(copy);
  if (status != TL_OK) return tl_free(items), status;
  tl_free(value->items);
  *value = (TlInts){items, count};
  return TL_OK;
}

static TlStatus append_text(TlTexts *value, const char *text) {
  char *copy = tl_strdup(text);
  size_t count = (size_t)value->count;
  if (!copy) return TL_ENOMEM;
  if ((count & (count - 1)) == 0) { /* full at each power of two */
    char **items = tl_realloc(value->items, count, count ? 2 * count : 1, sizeof *value->items);
    if (!items) return tl_free(copy), TL_ENOMEM;
    value->items = items;
  }
  value->items[value->count++] = copy;
  return TL_OK;
}

TlStatus tl_param_parse(const TlParam *param, void *base, const char *text) {
  void *value = value_of(param, base);
  switch (param->type) {
  case TL_P_FLAG:
    return parse_flag(value, text);
  case TL_P_INT:
    return parse_int(param, value, text);
  case TL_P_REAL: {
    double x;
    TL_TRY(tl_parse_real(text, &x));
    TL_TRY(check_range(param, x));
    return *(double *)value = x, TL_OK;
  }
  case TL_P_TEXT: {
    char *copy = tl_strdup(text);
    if (!copy) return TL_ENOMEM;
    tl_free(*(char **)value);
    return *(char **)value = copy, TL_OK;
  }
  case TL_P_CHOICE: {
    int index = choice_index(param->choices, text, strlen(text));
    if (index < 0) return tl_fail(TL_EINPUT, "'%s' is not one of %s", text, param->choices);
    return *(int *)value = index, TL_OK;
  }
  case TL_P_VEC3:
    return parse_vec3(param, value, text);
  case TL_P_INTS:
    return parse_ints(param, value, text);
  case TL_P_TEXTS:
    return append_text(value, text);
  case TL_P_HEADING:
    break;
  }
  return TL_OK;
}

TlStatus tl_params_defaults(const TlParam *params, size_t count, void *base) {
  for (size_t i = 0; i < count; i++) {
    if (params[i].type == TL_P_HEADING || !params[i].def) continue;
    bool empty =
        params[i].type == TL_P_TEXT || params[i].type == TL_P_INTS || params[i].type == TL_P_TEXTS;
    if (empty && !params[i].def[0]) continue; /* stays NULL */
    TL_TRY(tl_context(tl_param_parse(&params[i], base, params[i].def), "default of %s",
                      params[i].key));
  }
  return TL_OK;
}

void tl_params_free(const TlParam *params, size_t count, void *base) {
  for (size_t i = 0; i < count; i++) {
    if (params[i].type == TL_P_TEXT) {
      char **text = value_of(&params[i], base);
      tl_free(*text);
      *text = NULL;
    } else if (params[i].type == TL_P_INTS) {
      TlInts *list = value_of(&params[i], base);
      tl_free(list->items);
      *list = (TlInts){0};
    } else if (params[i].type == TL_P_TEXTS) {
      TlTexts *list = value_of(&params[i], base);
      for (int64_t k = 0; k < list->count; k++) tl_free(list->items[k]);
      tl_free(list->items);
      *list = (TlTexts){0};
    }
  }
}

const char *tl_param_value_name(const TlParam *param) {
  if (param->arg) return param->arg;
  switch (param->type) {
  case TL_P_INT:
    return "N";
  case TL_P_REAL:
    return "X";
  case TL_P_TEXT:
    return "TEXT";
  case TL_P_CHOICE:
    return param->choices;
  case TL_P_VEC3:
    return "X,Y,Z";
  default:
    return NULL;
  }
}

static const char *shortest(double x, char text[40]) {
  tl_text_real(text, x);
  return text;
}

/* NULL when memory is out, as the other texts. */
static char *format_ints(const TlInts *list) {
  TlGrowingText all = {0};
  TlStatus status = tl_text_add(&all, "", "");
  for (int64_t i = 0; status == TL_OK && i < list->count; i++) {
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)list->items[i]);
    status = tl_text_add(&all, i ? "," : "", number);
  }
  if (status != TL_OK) tl_free(all.text);
  return status == TL_OK ? all.text : NULL;
}

static char *format_texts(const TlTexts *list) {
  TlGrowingText all = {0};
  TlStatus status = tl_text_add(&all, "", "");
  for (int64_t i = 0; status == TL_OK && i < list->count; i++)
    status = tl_text_add(&all, i ? " " : "", list->items[i]);
  if (status != TL_OK) tl_free(all.text);
  return status == TL_OK ? all.text : NULL;
}

char *tl_param_format(const TlParam *param, const void *base) {
  const void *value = (const char *)base + param->offset;
  char name[64], text[3][40];
  switch (param->type) {
  case TL_P_FLAG:
    return tl_strdup(*(const bool *)value ? "true" : "false");
  case TL_P_INT:
    if (param->zero && *(const int64_t *)value == 0) return tl_strdup(param->zero);
    return tl_format("%lld", (long long)*(const int64_t *)value);
  case TL_P_REAL:
    return tl_strdup(shortest(*(const double *)value, text[0]));
  case TL_P_TEXT:
    return tl_strdup(*(char *const *)value ? *(char *const *)value : "");
  case TL_P_CHOICE:
    return tl_strdup(tl_param_choice_name(param, *(const int *)value, name, sizeof name));
  case TL_P_VEC3: {
    const double *x = value;
    return tl_format("%s,%s,%s", shortest(x[0], text[0]), shortest(x[1], text[1]),
                     shortest(x[2], text[2]));
  }
  case TL_P_INTS:
    return format_ints(value);
  case TL_P_TEXTS:
    return format_texts(value);
  case TL_P_HEADING:
    break;
  }
  return tl_strdup("");
}

static size_t edit_distance(const char *a, const char *b) {
  enum { LONGEST = 63 };
  size_t n = strlen(a), m = strlen(b), row[LONGEST + 1];
  if (n > LONGEST || m > LONGEST) return LONGEST;
  for (size_t j = 0; j <= m; j++) row[j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      size_t best = diagonal + (a[i - 1] != b[j - 1]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[m];
}

const char *tl_param_nearest(const TlParam *params, size_t count, const char *text) {
  const char *best = NULL;
  size_t least = strlen(text) / 3 + 2;
  for (size_t i = 0; i < count; i++) {
    if (params[i].type == TL_P_HEADING) continue;
    size_t distance = edit_distance(text, params[i].key), length = strlen(text);
    if (strncmp(params[i].key, text, length) == 0 && strchr("_-", params[i].key[length]))
      distance = 1; /* the unit was left away */
    if (distance >= least) continue;
    least = distance;
    best = params[i].key;
  }
  return best;
}
