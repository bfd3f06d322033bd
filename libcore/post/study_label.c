#include "post/study_label.h"

#include "base/file.h"
#include "base/mem.h"
#include "conf/yaml_tree.h"

#include <stdio.h>
#include <string.h>

typedef struct Entry {
  char *key;   /* "solver.method", "triaxial.stages.0.kind"; owned */
  char *value; /* owned */
} Entry;

typedef struct Keys {
  Entry *item;
  int64_t count;
  size_t capacity;
} Keys;

static void free_keys(Keys *k) {
  for (int64_t i = 0; i < k->count; i++) {
    tl_free(k->item[i].key);
    tl_free(k->item[i].value);
  }
  tl_free(k->item);
}

static TlStatus add(Keys *k, const char *key, const char *value) {
  TL_TRY(TL_RESERVE(k->item, k->capacity, (size_t)k->count + 1));
  Entry *e = &k->item[k->count++];
  *e = (Entry){tl_strdup(key), tl_strdup(value)};
  return e->key && e->value ? TL_OK : TL_ENOMEM;
}

/* All scalars at and below a node. */
static TlStatus take(const TlYamlNode *node, const char *key, Keys *keys) {
  TlStatus status = TL_OK;
  if (node->kind == TL_YAML_SCALAR) return add(keys, key, node->text);
  for (size_t i = 0; i < node->count && status == TL_OK; i++) {
    const TlYamlNode *child = &node->children[i];
    const char *dot = *key ? "." : "";
    char *path = node->kind == TL_YAML_MAP ? tl_format("%s%s%s", key, dot, child->key)
                                           : tl_format("%s%s%zu", key, dot, i);
    status = path ? take(child, path, keys) : TL_ENOMEM;
    tl_free(path);
  }
  return status;
}

static TlStatus parse(const char *path, Keys *keys) {
  TlYamlNode root = {0};
  char *text = NULL;
  size_t size;
  TL_TRY(tl_file_read(path, &text, &size));
  TlStatus status = tl_yaml_parse(path, text, size, &root);
  if (status == TL_OK) status = take(&root, "", keys);
  tl_yaml_free(&root);
  tl_free(text);
  return status;
}

/* No keys when there is no study. */
static TlStatus read_study(const char *folder, Keys *keys) {
  char *path = tl_path_join(folder, "study.yaml");
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_file_exists(path) ? parse(path, keys) : TL_OK;
  tl_free(path);
  return status;
}

/* ---- what differs ---- */

static const char *value_of(const Keys *k, const char *key) {
  for (int64_t i = 0; i < k->count; i++)
    if (strcmp(k->item[i].key, key) == 0) return k->item[i].value;
  return NULL;
}

static bool no_matter(const char *key) {
  static const char *const those[] = {"title", "frames", "checkpoint", "parallel"};
  size_t n = strcspn(key, ".");
  for (int i = 0; i < 4; i++)
    if (strlen(those[i]) == n && strncmp(key, those[i], n) == 0) return true;
  return false;
}

static bool differs(const Keys *study, int64_t count, const char *key) {
  const char *first = value_of(&study[0], key);
  for (int64_t i = 1; i < count; i++) {
    const char *value = value_of(&study[i], key);
    if ((first == NULL) != (value == NULL) || (first && strcmp(first, value) != 0)) return true;
  }
  return false;
}

/* More of a label. */
static TlStatus append(char **label, const char *key, const char *value) {
  char *longer = tl_format("%s%s%s = %s", *label ? *label : "", *label ? ", " : "", key,
                           value ? value : "none");
  tl_free(*label);
  *label = longer;
  return longer ? TL_OK : TL_ENOMEM;
}

/* The keys that study `from` has and none before it. */
static TlStatus tell(const Keys *study, int64_t count, int64_t from, char **label) {
  for (int64_t k = 0; k < study[from].count; k++) {
    const char *key = study[from].item[k].key;
    bool told = no_matter(key) || !differs(study, count, key);
    for (int64_t i = 0; i < from && !told; i++) told = value_of(&study[i], key) != NULL;
    for (int64_t i = 0; i < count && !told; i++)
      TL_TRY(append(&label[i], key, value_of(&study[i], key)));
  }
  return TL_OK;
}

TlStatus tl_study_folder(const char *folder, char **name) {
  size_t n = strlen(folder);
  while (n > 1 && folder[n - 1] == '/') n--;
  size_t from = n;
  while (from > 0 && folder[from - 1] != '/') from--;
  *name = from < n ? tl_format("%.*s", (int)(n - from), folder + from) : tl_strdup(folder);
  return *name ? TL_OK : TL_ENOMEM;
}

static TlStatus make(const char *const *folder, int64_t count, Keys *study, char **label) {
  bool all = true;
  for (int64_t i = 0; i < count; i++) {
    TL_TRY(read_study(folder[i], &study[i]));
    all = all && study[i].count > 0;
  }
  for (int64_t i = 0; i < count && all; i++) TL_TRY(tell(study, count, i, label));
  for (int64_t i = 0; i < count; i++)
    if (!label[i]) TL_TRY(tl_study_folder(folder[i], &label[i]));
  return TL_OK;
}

TlStatus tl_study_labels(const char *const *folder, int64_t count, char **label) {
  Keys *study;
  for (int64_t i = 0; i < count; i++) label[i] = NULL;
  TL_TRY(TL_NEW(study, (size_t)count));
  TlStatus status = make(folder, count, study, label);
  for (int64_t i = 0; i < count; i++) free_keys(&study[i]);
  for (int64_t i = 0; i < count && status != TL_OK; i++) {
    tl_free(label[i]);
    label[i] = NULL;
  }
  tl_free(study);
  return status;
}
