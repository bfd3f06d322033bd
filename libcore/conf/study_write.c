/* The effective study and the table of keys: the schema read the other way round. */
#include "conf/study.h"

#include "base/mem.h"
#include "base/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Text {
  char *bytes;
  size_t size, capacity;
} Text;

static TlStatus say(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static TlStatus say(Text *text, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  TlStatus status = TL_RESERVE(text->bytes, text->capacity, text->size + (size_t)length + 1);
  if (status == TL_OK)
    text->size += (size_t)vsnprintf(text->bytes + text->size, (size_t)length + 1, format, again);
  va_end(again);
  return status;
}

/* JSON's double-quoted strings are YAML's. */
static TlStatus write_texts(Text *text, const TlTexts *list) {
  TlStatus status = say(text, "[");
  for (int64_t i = 0; status == TL_OK && i < list->count; i++) {
    char *quoted = tl_json_quote(list->items[i]);
    status = quoted ? say(text, "%s%s", i ? ", " : "", quoted) : TL_ENOMEM;
    tl_free(quoted);
  }
  return status == TL_OK ? say(text, "]\n") : status;
}

static TlStatus write_value(Text *text, const TlParam *param, const void *base) {
  if (param->type == TL_P_TEXTS)
    return write_texts(text, (const void *)((const char *)base + param->offset));
  char *value = tl_param_format(param, base), *quoted = NULL;
  TlStatus status = value ? TL_OK : TL_ENOMEM;
  if (status == TL_OK && (param->type == TL_P_VEC3 || param->type == TL_P_INTS))
    status = say(text, "[%s]\n", value);
  else if (status == TL_OK && param->type == TL_P_TEXT) {
    quoted = tl_json_quote(value);
    status = quoted ? say(text, "%s\n", quoted) : TL_ENOMEM;
  } else if (status == TL_OK)
    status = say(text, "%s\n", value);
  tl_free(quoted);
  tl_free(value);
  return status;
}

static bool is_unset(const TlParam *param, const void *base) {
  const void *value = (const char *)base + param->offset;
  if (param->old_form) return *(const double *)value == strtod(param->def, NULL);
  return param->type == TL_P_TEXT && !*(char *const *)value;
}

/* Nothing to say: "key:" alone would be read as a value that is missing. */
static bool is_empty(const TlStudySection *section, const void *base) {
  for (size_t i = 0; i < section->param_count; i++)
    if (section->params[i].type != TL_P_HEADING && !is_unset(&section->params[i], base))
      return false;
  return section->section_count == 0;
}

static TlStatus write_section(Text *text, const TlStudySection *section, const void *base,
                              int indent, const char *lead);

static TlStatus write_list(Text *text, const TlStudySection *section, const TlStudyList *list,
                           int indent) {
  if (list->count == 0) return say(text, "%*s%s: []\n", indent, "", section->key);
  TL_TRY(say(text, "%*s%s:\n", indent, "", section->key));
  for (int64_t i = 0; i < list->count; i++)
    TL_TRY(write_section(text, section, (char *)list->items + (size_t)i * section->size, indent + 2,
                         "- "));
  return TL_OK;
}

/* lead: "- " in front of the first key of a list's element. */
static TlStatus write_section(Text *text, const TlStudySection *section, const void *base,
                              int indent, const char *lead) {
  int inner = indent + (int)strlen(lead);
  bool first = true;
  for (size_t i = 0; i < section->param_count; i++) {
    const TlParam *param = &section->params[i];
    if (param->type == TL_P_HEADING || is_unset(param, base)) continue;
    if (first)
      TL_TRY(say(text, "%*s%s%s: ", indent, "", lead, param->key));
    else
      TL_TRY(say(text, "%*s%s: ", inner, "", param->key));
    first = false;
    TL_TRY(write_value(text, param, base));
  }
  for (size_t i = 0; i < section->section_count; i++) {
    const TlStudySection *below = &section->sections[i];
    const void *place = (const char *)base + below->offset;
    if (below->list) {
      TL_TRY(write_list(text, below, place, inner));
      continue;
    }
    if (is_empty(below, place)) continue;
    TL_TRY(say(text, "%*s%s:\n", inner, "", below->key));
    TL_TRY(write_section(text, below, place, inner + 2, ""));
  }
  return TL_OK;
}

TlStatus tl_study_write(const TlStudySection *schema, const void *values, char **text) {
  Text out = {0};
  TlStatus status = say(&out, "%s", "");
  if (status == TL_OK) status = write_section(&out, schema, values, 0, "");
  if (status != TL_OK) tl_free(out.bytes), out.bytes = NULL;
  *text = out.bytes;
  return status;
}

/* ---- the table of keys ---- */

static const char *type_name(const TlParam *param) {
  switch (param->type) {
  case TL_P_FLAG:
    return "true or false";
  case TL_P_INT:
    return "whole number";
  case TL_P_REAL:
    return "number";
  case TL_P_CHOICE:
    return NULL;
  case TL_P_VEC3:
    return "[x, y, z]";
  case TL_P_INTS:
    return "list of whole numbers";
  case TL_P_TEXTS:
    return "list of texts";
  default:
    return "text";
  }
}

/* Choices "a|b": a bar would end the column. */
static TlStatus table_choices(Text *text, const char *choices) {
  for (const char *c = choices; *c; c++)
    TL_TRY(*c == '|' ? say(text, " or ") : say(text, "%c", *c));
  return TL_OK;
}

static TlStatus table_param(Text *text, const TlParam *p) {
  TL_TRY(say(text, "| `%s` | ", p->key));
  if (type_name(p))
    TL_TRY(say(text, "%s", type_name(p)));
  else
    TL_TRY(table_choices(text, p->choices));
  if (p->zero) TL_TRY(say(text, " or %s", p->zero));
  TL_TRY(say(text, " | %s | ", p->unit));
  TL_TRY(say(text, "%s | ", !p->def ? "**required**" : p->def[0] ? p->def : "none"));
  if (p->min != 0 || p->max != 0) TL_TRY(say(text, "%g to %g", p->min, p->max));
  return say(text, " | %s |\n", p->help);
}

static TlStatus table_section(Text *text, const TlStudySection *section, const char *path) {
  char full[256];
  TL_TRY(say(text, "\n### %s%s\n\n%s.\n\n", path[0] ? path : "top level",
             section->list ? " (a list)" : "", section->help));
  if (section->param_count)
    TL_TRY(say(text,
               "| key | value | unit | default | range | meaning |\n|---|---|---|---|---|---|\n"));
  for (size_t i = 0; i < section->param_count; i++)
    if (section->params[i].type != TL_P_HEADING) TL_TRY(table_param(text, &section->params[i]));
  for (size_t i = 0; i < section->section_count; i++) {
    snprintf(full, sizeof full, "%s%s%s", path, path[0] ? "." : "", section->sections[i].key);
    TL_TRY(table_section(text, &section->sections[i], full));
  }
  return TL_OK;
}

TlStatus tl_study_table(const TlStudySection *schema, char **markdown) {
  Text out = {0};
  TlStatus status = table_section(&out, schema, "");
  if (status != TL_OK) tl_free(out.bytes), out.bytes = NULL;
  *markdown = out.bytes;
  return status;
}
