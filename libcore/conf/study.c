#include "conf/study.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 256 };

TlStatus tl_study_parse(TlStudy *study, const char *path, const char *text, size_t size) {
  *study = (TlStudy){.path = tl_strdup(path)};
  if (!study->path) return TL_ENOMEM;
  TL_TRY(tl_yaml_parse(path, text, size, &study->root));
  if (study->root.kind == TL_YAML_MAP) return TL_OK;
  return tl_fail(TL_EINPUT, "%s:%d:%d: not a study: keys with values are wanted, 'key: value'",
                 path, study->root.line, study->root.column);
}

TlStatus tl_study_read(TlStudy *study, const char *path) {
  char *text;
  size_t size;
  *study = (TlStudy){0};
  TL_TRY(tl_file_read(path, &text, &size));
  TlStatus status = tl_study_parse(study, path, text, size);
  tl_free(text);
  return status;
}

void tl_study_free(TlStudy *study) {
  tl_free(study->path);
  tl_yaml_free(&study->root);
  study->path = NULL;
}

/* ---- places ---- */

static const char *extend(char to[PATH_SIZE], const char *path, const char *key) {
  snprintf(to, PATH_SIZE, "%s%s%s", path, path[0] ? "." : "", key);
  return to;
}

/* Failure at a node: "file:line:column: path: text". at_key: the place of the key. */
static TlStatus fail_at(const TlStudy *study, const TlYamlNode *node, bool at_key, TlStatus code,
                        const char *path, const char *text) {
  int line = at_key && node->key_line ? node->key_line : node->line;
  int column = at_key && node->key_line ? node->key_column : node->column;
  if (line == 0) {
    if (code == TL_EINPUT) code = TL_EUSAGE; /* the command line said it */
    return tl_fail(code, "--set %s: %s", path, text);
  }
  return tl_fail(code, "%s:%d:%d: %s%s%s", study->path, line, column, path, path[0] ? ": " : "",
                 text);
}

/* Of a key that is not there: at the nearest section above it. One that --set made is no place. */
static TlStatus fail_absent(const TlStudy *study, const TlYamlNode *above, TlStatus code,
                            const char *path, const char *text) {
  if (above->line > 0) return fail_at(study, above, true, code, path, text);
  return tl_fail(code, "%s: %s: %s", study->path, path, text);
}

static TlYamlNode *child_of(const TlYamlNode *node, const char *key, size_t length) {
  if (node->kind == TL_YAML_LIST) {
    size_t index = 0;
    for (size_t i = 0; i < length; i++) {
      if (key[i] < '0' || key[i] > '9') return NULL;
      index = 10 * index + (size_t)(key[i] - '0');
    }
    return index < node->count ? &node->children[index] : NULL;
  }
  for (size_t i = 0; i < node->count; i++) {
    const char *name = node->children[i].key;
    if (name && strncmp(name, key, length) == 0 && name[length] == 0) return &node->children[i];
  }
  return NULL;
}

/* The node at this path, or the nearest above it. all: it is there. */
static const TlYamlNode *find(const TlStudy *study, const char *path, bool *all) {
  const TlYamlNode *node = &study->root, *child;
  *all = true;
  for (const char *p = path; *p; p += strcspn(p, ".") + (p[strcspn(p, ".")] ? 1 : 0)) {
    child = child_of(node, p, strcspn(p, "."));
    if (!child) {
      *all = false;
      break;
    }
    node = child;
  }
  return node;
}

TlStatus tl_study_fail(const TlStudy *study, TlStatus code, const char *path, const char *format,
                       ...) {
  char text[1536];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  bool all;
  const TlYamlNode *node = find(study, path, &all);
  return all ? fail_at(study, node, true, code, path, text)
             : fail_absent(study, node, code, path, text);
}

bool tl_study_says(const TlStudy *study, const char *path, char *place, size_t size) {
  bool all;
  const TlYamlNode *node = find(study, path, &all);
  if (!all) return false;
  if (node->line == 0)
    snprintf(place, size, "--set");
  else
    snprintf(place, size, "%s:%d:%d", study->path, node->key_line ? node->key_line : node->line,
             node->key_line ? node->key_column : node->column);
  return true;
}

/* ---- filling the structs ---- */

static const char *kind_name(const TlYamlNode *node) {
  switch (node->kind) {
  case TL_YAML_MAP:
    return "a section of keys";
  case TL_YAML_LIST:
    return "a list";
  default:
    return "a single value";
  }
}

static TlStatus wrong_kind(const TlStudy *study, const TlYamlNode *node, const char *path,
                           const char *wanted) {
  char text[256];
  snprintf(text, sizeof text, "is %s; %s is wanted", kind_name(node), wanted);
  return fail_at(study, node, false, TL_EINPUT, path, text);
}

static TlStatus parse_at(const TlStudy *study, const TlYamlNode *node, const char *path,
                         const TlParam *param, void *base, const char *text) {
  char message[1024];
  TlStatus status = tl_param_parse(param, base, text);
  if (status != TL_EINPUT) return status;
  snprintf(message, sizeof message, "%s", tl_message());
  return fail_at(study, node, false, TL_EINPUT, path, message);
}

static bool is_number(TlParamType type) {
  return type == TL_P_INT || type == TL_P_REAL || type == TL_P_VEC3 || type == TL_P_INTS;
}

static TlStatus check_scalar(const TlStudy *study, const TlYamlNode *node, const char *path,
                             const TlParam *param) {
  if (node->kind != TL_YAML_SCALAR)
    return wrong_kind(study, node, path, is_number(param->type) ? "one number" : "one value");
  if (is_number(param->type) && node->quoted)
    return fail_at(study, node, false, TL_EINPUT, path,
                   "is quoted text; a number without quotes is wanted");
  if (!node->quoted && (node->text[0] == 0 || strcmp(node->text, "~") == 0))
    return fail_at(study, node, false, TL_EINPUT, path,
                   "has no value; give one or leave the key out");
  return TL_OK;
}

/* A list of numbers: each element is checked at its own place, then all are read as "a,b,c". */
static TlStatus fill_numbers(const TlStudy *study, const TlYamlNode *node, const char *path,
                             const TlParam *param, void *base) {
  if (node->kind != TL_YAML_LIST)
    return wrong_kind(study, node, path, "a list of numbers, [a, b, c]");
  if (param->type == TL_P_VEC3 && node->count != 3) {
    char text[128];
    snprintf(text, sizeof text, "has %zu elements; [x, y, z] is wanted", node->count);
    return fail_at(study, node, false, TL_EINPUT, path, text);
  }
  TlGrowingText all = {0};
  TlStatus status = tl_text_add(&all, "", "");
  TlParam one = *param;
  one.type = param->type == TL_P_VEC3 ? TL_P_REAL : TL_P_INT;
  one.offset = 0;
  for (size_t i = 0; status == TL_OK && i < node->count; i++) {
    const TlYamlNode *element = &node->children[i];
    double scratch;
    status = check_scalar(study, element, path, &one);
    if (status == TL_OK) status = parse_at(study, element, path, &one, &scratch, element->text);
    if (status == TL_OK) status = tl_text_add(&all, i ? "," : "", element->text);
  }
  if (status == TL_OK) status = parse_at(study, node, path, param, base, all.text);
  tl_free(all.text);
  return status;
}

static TlStatus fill_texts(const TlStudy *study, const TlYamlNode *node, const char *path,
                           const TlParam *param, void *base) {
  if (node->kind != TL_YAML_LIST) return wrong_kind(study, node, path, "a list, [a, b, c]");
  for (size_t i = 0; i < node->count; i++) {
    TL_TRY(check_scalar(study, &node->children[i], path, param));
    TL_TRY(parse_at(study, &node->children[i], path, param, base, node->children[i].text));
  }
  return TL_OK;
}

static TlStatus fill_param(const TlStudy *study, const TlYamlNode *node, const char *path,
                           const TlParam *param, void *base) {
  if (param->type == TL_P_TEXTS) return fill_texts(study, node, path, param, base);
  if (param->type == TL_P_VEC3 || param->type == TL_P_INTS)
    return fill_numbers(study, node, path, param, base);
  TL_TRY(check_scalar(study, node, path, param));
  return parse_at(study, node, path, param, base, node->text);
}

static const TlParam *find_param(const TlStudySection *section, const char *key) {
  for (size_t i = 0; i < section->param_count; i++)
    if (section->params[i].type != TL_P_HEADING && strcmp(section->params[i].key, key) == 0)
      return &section->params[i];
  return NULL;
}

static const TlStudySection *find_section(const TlStudySection *section, const char *key) {
  for (size_t i = 0; i < section->section_count; i++)
    if (strcmp(section->sections[i].key, key) == 0) return &section->sections[i];
  return NULL;
}

/* ---- former names ---- */

static void warn_of_name(const TlStudy *study, const TlYamlNode *node, const char *path,
                         const char *key) {
  char place[PATH_SIZE + 64] = "--set";
  if (node)
    snprintf(place, sizeof place, "%s:%d:%d:", study->path, node->key_line, node->key_column);
  tl_log_warn("%s %s is called '%s' now; the next version will not read the former name", place,
              path, key);
}

/* The child of this former name, when there is one, gets today's name. */
static TlStatus rename_child(const TlStudy *study, TlYamlNode *map, const char *path,
                             const char *was, const char *key) {
  char text[512], full[PATH_SIZE];
  TlYamlNode *node = was ? tl_yaml_find(map, was) : NULL;
  if (!node) return TL_OK;
  extend(full, path, was);
  if (tl_yaml_find(map, key)) {
    snprintf(text, sizeof text, "is the former name of '%s', which is given too; leave one out",
             key);
    return fail_at(study, node, true, TL_EINPUT, full, text);
  }
  char *name = tl_strdup(key);
  if (!name) return TL_ENOMEM;
  warn_of_name(study, node, full, key);
  tl_free(node->key);
  node->key = name;
  return TL_OK;
}

static TlStatus rename_former(const TlStudy *study, const TlStudySection *section, TlYamlNode *map,
                              const char *path) {
  char full[PATH_SIZE], item[PATH_SIZE], number[24];
  if (map->kind != TL_YAML_MAP) return TL_OK; /* refused where it is read */
  for (size_t i = 0; i < section->param_count; i++)
    TL_TRY(rename_child(study, map, path, section->params[i].was, section->params[i].key));
  for (size_t i = 0; i < section->section_count; i++) {
    const TlStudySection *inner = &section->sections[i];
    TL_TRY(rename_child(study, map, path, inner->was, inner->key));
    TlYamlNode *node = tl_yaml_find(map, inner->key);
    extend(full, path, inner->key);
    if (node && !inner->list) TL_TRY(rename_former(study, inner, node, full));
    for (size_t k = 0; node && inner->list && k < node->count; k++) {
      snprintf(number, sizeof number, "%zu", k);
      TL_TRY(rename_former(study, inner, &node->children[k], extend(item, full, number)));
    }
  }
  return TL_OK;
}

/* Today's name of a key of this section, which may be given by its former one. */
static const char *name_today(const TlStudySection *section, const char *key) {
  for (size_t i = 0; section && i < section->param_count; i++)
    if (section->params[i].was && strcmp(section->params[i].was, key) == 0)
      return section->params[i].key;
  for (size_t i = 0; section && i < section->section_count; i++)
    if (section->sections[i].was && strcmp(section->sections[i].was, key) == 0)
      return section->sections[i].key;
  return key;
}

/* ---- values set by hand ---- */

/* Path of the section that knows this key, "" for the root; false: none does. */
static bool section_of(const TlStudySection *section, const char *key, char path[PATH_SIZE]) {
  if (find_param(section, key) || find_section(section, key)) return true;
  size_t length = strlen(path);
  for (size_t i = 0; i < section->section_count; i++) {
    const TlStudySection *inner = &section->sections[i];
    if (inner->list) continue;
    snprintf(path + length, PATH_SIZE - length, "%s.", inner->key);
    if (section_of(inner, key, path)) return true;
    path[length] = 0;
  }
  return false;
}

static TlStatus path_of(const TlStudySection *schema, const char *assignment,
                        char path[PATH_SIZE]) {
  char key[PATH_SIZE / 2];
  const char *equals = strchr(assignment, '=');
  if (!equals || equals == assignment || (size_t)(equals - assignment) >= sizeof key)
    return tl_fail(TL_EUSAGE, "--set %s: section.key=value is wanted", assignment);
  snprintf(key, sizeof key, "%.*s", (int)(equals - assignment), assignment);
  path[0] = 0;
  if (!strchr(key, '.')) section_of(schema, key, path);
  snprintf(path + strlen(path), PATH_SIZE - strlen(path), "%s", key);
  return TL_OK;
}

/* A key on the way that is not there, or that nothing is under. */
static TlStatus set_misses(const TlYamlNode *node, const TlYamlNode *child, const char *key,
                           const char *assignment) {
  size_t n = node->count;
  if (node->kind != TL_YAML_LIST || child)
    return tl_fail(TL_EUSAGE, "--set %s: '%s' holds no further keys", assignment, key);
  if (n == 0) return tl_fail(TL_EUSAGE, "--set %s: that list has no entries", assignment);
  if (n == 1)
    return tl_fail(TL_EUSAGE, "--set %s: that list has 1 entry, 0; not '%s'", assignment, key);
  return tl_fail(TL_EUSAGE, "--set %s: that list has %zu entries, 0 to %zu; not '%s'", assignment,
                 n, n - 1, key);
}

TlStatus tl_study_set(TlStudy *study, const TlStudySection *schema, const char *assignment) {
  char path[PATH_SIZE];
  TL_TRY(rename_former(study, schema, &study->root, ""));
  TL_TRY(path_of(schema, assignment, path));
  const char *value = strchr(assignment, '=') + 1;
  const TlStudySection *section = schema; /* NULL where the schema knows no further */
  TlYamlNode *node = &study->root;
  char *rest = path;
  const char *key;
  for (;;) {
    const char *given = strsep(&rest, ".");
    key = node->kind == TL_YAML_LIST ? given : name_today(section, given);
    if (key != given) warn_of_name(study, NULL, given, key);
    if (!rest) break;
    TlYamlNode *child = child_of(node, key, strlen(key));
    if (!child && node->kind == TL_YAML_MAP) TL_TRY(tl_yaml_put_map(node, key, &child));
    if (!child || child->kind == TL_YAML_SCALAR) return set_misses(node, child, key, assignment);
    if (node->kind == TL_YAML_MAP && section) section = find_section(section, key);
    node = child;
  }
  if (node->kind != TL_YAML_MAP)
    return tl_fail(TL_EUSAGE, "--set %s: '%s' is not a key of a map", assignment, key);
  if (value[0] == 0) return tl_yaml_remove(node, key), TL_OK;
  TlStatus status = tl_yaml_put(node, key, value);
  if (status == TL_EINPUT) status = TL_EUSAGE;
  return tl_context(status, "--set %s", assignment);
}

/* ---- unknown keys ---- */

/* The section that knows this key, for a key that was put in the wrong one. */
static const TlStudySection *home_of(const TlStudySection *root, const char *key) {
  if (find_param(root, key)) return root;
  for (size_t i = 0; i < root->section_count; i++) {
    const TlStudySection *home = home_of(&root->sections[i], key);
    if (home) return home;
  }
  return NULL;
}

static const char *nearest(const TlStudySection *section, const char *key) {
  enum { MOST = 64 };
  TlParam names[MOST];
  size_t count = 0;
  for (size_t i = 0; i < section->param_count && count < MOST; i++)
    names[count++] = section->params[i];
  for (size_t i = 0; i < section->section_count && count < MOST; i++)
    names[count++] = (TlParam){.key = section->sections[i].key};
  return tl_param_nearest(names, count, key);
}

/* "point_m, size_m, ...": the keys of a section. */
static void list_keys(const TlStudySection *section, char *text, size_t size) {
  size_t used = 0;
  for (size_t i = 0; i < section->param_count && used < size; i++)
    if (section->params[i].type != TL_P_HEADING && !section->params[i].old_form)
      used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                               section->params[i].key);
  for (size_t i = 0; i < section->section_count && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                             section->sections[i].key);
}

static TlStatus unknown(const TlStudy *study, const TlStudySection *root,
                        const TlStudySection *section, const TlYamlNode *node, const char *path) {
  char text[1024], keys[900];
  const char *near = nearest(section, node->key);
  const TlStudySection *home = near ? NULL : home_of(root, node->key);
  list_keys(section, keys, sizeof keys);
  if (near)
    snprintf(text, sizeof text, "no such key; did you mean '%s'?", near);
  else if (home &&
           section->list) /* an item of a list is what it is: its keys say how it is given */
    snprintf(text, sizeof text, "no such key here; an item of '%s' has %s", section->key, keys);
  else if (home)
    snprintf(text, sizeof text, "no such key here; it belongs %s%s%s",
             home->key[0] ? "in section '" : "at the top level", home->key,
             home->key[0] ? "'" : "");
  else
    snprintf(text, sizeof text, "no such key (talus-solve --keys lists them)");
  return fail_at(study, node, true, TL_EINPUT, path, text);
}

static TlStatus defaults_of(const TlStudySection *section, void *base) {
  TL_TRY(tl_params_defaults(section->params, section->param_count, base));
  for (size_t i = 0; i < section->section_count; i++)
    if (!section->sections[i].list)
      TL_TRY(defaults_of(&section->sections[i], (char *)base + section->sections[i].offset));
  return TL_OK;
}

static TlStatus missing(const TlStudy *study, const TlStudySection *section, const TlYamlNode *map,
                        const TlYamlNode *nearest_map, const char *path) {
  char text[512], full[PATH_SIZE];
  for (size_t i = 0; i < section->param_count; i++) {
    const TlParam *p = &section->params[i];
    if (p->type == TL_P_HEADING || p->def || (map && tl_yaml_find(map, p->key))) continue;
    snprintf(text, sizeof text, "is missing: %s%s%s%s", p->help, p->unit[0] ? " [" : "", p->unit,
             p->unit[0] ? "]" : "");
    return fail_absent(study, nearest_map, TL_EINPUT, extend(full, path, p->key), text);
  }
  return TL_OK;
}

static TlStatus fill_section(const TlStudy *study, const TlStudySection *root,
                             const TlStudySection *section, const TlYamlNode *map,
                             const TlYamlNode *above, const char *path, void *base);

static TlStatus fill_list(const TlStudy *study, const TlStudySection *root,
                          const TlStudySection *section, const TlYamlNode *node, const char *path,
                          TlStudyList *list) {
  if (node->kind != TL_YAML_LIST)
    return wrong_kind(study, node, path, "a list of sections ('- key: value')");
  TL_TRY(TL_NEW(list->items, node->count * section->size));
  for (size_t i = 0; i < node->count; i++) {
    char full[PATH_SIZE], number[24];
    char *item = (char *)list->items + i * section->size;
    snprintf(number, sizeof number, "%zu", i);
    extend(full, path, number);
    list->count++;
    if (node->children[i].kind != TL_YAML_MAP)
      return wrong_kind(study, &node->children[i], full, "a section of keys");
    TL_TRY(defaults_of(section, item));
    TL_TRY(fill_section(study, root, section, &node->children[i], &node->children[i], full, item));
  }
  return TL_OK;
}

/* map: NULL when the study does not have this section; above: the nearest map that it has. */
static TlStatus fill_section(const TlStudy *study, const TlStudySection *root,
                             const TlStudySection *section, const TlYamlNode *map,
                             const TlYamlNode *above, const char *path, void *base) {
  char full[PATH_SIZE];
  for (size_t i = 0; map && i < map->count; i++) {
    const TlYamlNode *node = &map->children[i];
    const TlParam *param = find_param(section, node->key);
    extend(full, path, node->key);
    if (param)
      TL_TRY(fill_param(study, node, full, param, base));
    else if (!find_section(section, node->key))
      return unknown(study, root, section, node, full);
  }
  TL_TRY(missing(study, section, map, above, path));
  for (size_t i = 0; i < section->section_count; i++) {
    const TlStudySection *inner = &section->sections[i];
    const TlYamlNode *node = map ? tl_yaml_find(map, inner->key) : NULL;
    void *place = (char *)base + inner->offset;
    extend(full, path, inner->key);
    if (inner->list) {
      if (node) TL_TRY(fill_list(study, root, inner, node, full, place));
      continue;
    }
    if (node && node->kind != TL_YAML_MAP)
      return wrong_kind(study, node, full, "a section of keys ('key: value' lines, set in)");
    TL_TRY(fill_section(study, root, inner, node, node ? node : above, full, place));
  }
  return TL_OK;
}

TlStatus tl_study_fill(TlStudy *study, const TlStudySection *schema, void *values) {
  TL_TRY(defaults_of(schema, values));
  if (study->root.count == 0)
    return tl_fail(TL_EINPUT, "%s: the study is empty: keys with values are wanted, 'key: value'",
                   study->path);
  TL_TRY(rename_former(study, schema, &study->root, ""));
  return fill_section(study, schema, schema, &study->root, &study->root, "", values);
}

void tl_study_values_free(const TlStudySection *schema, void *values) {
  tl_params_free(schema->params, schema->param_count, values);
  for (size_t i = 0; i < schema->section_count; i++) {
    const TlStudySection *inner = &schema->sections[i];
    char *place = (char *)values + inner->offset;
    if (!inner->list) {
      tl_study_values_free(inner, place);
      continue;
    }
    TlStudyList *list = (TlStudyList *)(void *)place;
    for (int64_t k = 0; k < list->count; k++)
      tl_study_values_free(inner, (char *)list->items + (size_t)k * inner->size);
    tl_free(list->items);
    *list = (TlStudyList){0};
  }
}

/* What the struct owns is not the copy's. */
static void disown(const TlStudySection *schema, void *values) {
  for (size_t i = 0; i < schema->param_count; i++) {
    void *value = (char *)values + schema->params[i].offset;
    if (schema->params[i].type == TL_P_TEXT) *(char **)value = NULL;
    if (schema->params[i].type == TL_P_INTS) *(TlInts *)value = (TlInts){0};
    if (schema->params[i].type == TL_P_TEXTS) *(TlTexts *)value = (TlTexts){0};
  }
  for (size_t i = 0; i < schema->section_count; i++) {
    char *place = (char *)values + schema->sections[i].offset;
    if (schema->sections[i].list)
      *(TlStudyList *)(void *)place = (TlStudyList){0};
    else
      disown(&schema->sections[i], place);
  }
}

static TlStatus copy_owned(const TlStudySection *schema, const void *from, void *to) {
  for (size_t i = 0; i < schema->param_count; i++) {
    const TlParam *p = &schema->params[i];
    const void *value = (const char *)from + p->offset;
    if (p->type == TL_P_TEXT && *(char *const *)value)
      TL_TRY(tl_param_parse(p, to, *(char *const *)value));
    if (p->type == TL_P_INTS && ((const TlInts *)value)->count > 0) {
      char *text = tl_param_format(p, from);
      TlStatus status = text ? tl_param_parse(p, to, text) : TL_ENOMEM;
      tl_free(text);
      TL_TRY(status);
    }
    const TlTexts *texts = value;
    for (int64_t k = 0; p->type == TL_P_TEXTS && k < texts->count; k++)
      TL_TRY(tl_param_parse(p, to, texts->items[k]));
  }
  for (size_t i = 0; i < schema->section_count; i++) {
    const TlStudySection *inner = &schema->sections[i];
    const char *was = (const char *)from + inner->offset;
    char *is = (char *)to + inner->offset;
    if (!inner->list) {
      TL_TRY(copy_owned(inner, was, is));
      continue;
    }
    const TlStudyList *list = (const TlStudyList *)(const void *)was;
    TlStudyList *copy = (TlStudyList *)(void *)is;
    TL_TRY(TL_NEW(copy->items, (size_t)list->count * inner->size));
    for (int64_t k = 0; k < list->count; k++) {
      size_t at = (size_t)k * inner->size;
      copy->count++;
      TL_TRY(tl_study_values_copy(inner, (const char *)list->items + at, (char *)copy->items + at));
    }
  }
  return TL_OK;
}

TlStatus tl_study_values_copy(const TlStudySection *schema, const void *from, void *to) {
  memcpy(to, from, schema->size);
  disown(schema, to);
  return copy_owned(schema, from, to);
}

/* Takes a part of the path, up to the next dot. NULL: nothing is left, or it is too long. */
static const char *next_part(const char **path, char part[64]) {
  size_t length = strcspn(*path, ".");
  if (length == 0 || length >= 64) return NULL;
  memcpy(part, *path, length);
  part[length] = 0;
  *path += length + ((*path)[length] == '.');
  return part;
}

void *tl_study_value(const TlStudySection *section, void *values, const char *path,
                     const TlParam **param) {
  char *base = values;
  char part[64];
  while (next_part(&path, part)) {
    if (*path == 0) {
      *param = find_param(section, part);
      return *param ? base + (*param)->offset : NULL;
    }
    section = find_section(section, part);
    if (!section) return NULL;
    base += section->offset;
    if (!section->list) continue;
    const TlStudyList *list = (const TlStudyList *)(const void *)base;
    int64_t index;
    if (!next_part(&path, part) || tl_parse_int(part, &index) != TL_OK || index < 0 ||
        index >= list->count)
      return NULL;
    base = (char *)list->items + (size_t)index * section->size;
  }
  return NULL;
}
