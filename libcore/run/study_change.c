#include "run/inputs.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Keys that move no bit of what was done so far; "section." stands for all of it. */
static bool may_change(const char *path) {
  static const char *const free_keys[] = {"title",           "output",     "catalog",
                                          "time.duration_s", "time.steps", "time.until_rest",
                                          "frames.",         "parallel.",  "checkpoint."};
  for (size_t i = 0; i < sizeof free_keys / sizeof *free_keys; i++) {
    size_t n = strlen(free_keys[i]);
    if (strncmp(path, free_keys[i], n) == 0 && (path[n] == 0 || free_keys[i][n - 1] == '.'))
      return true;
  }
  return false;
}

static void say_node(char text[128], const TlYamlNode *node) {
  if (!node)
    snprintf(text, 128, "nothing");
  else if (node->kind == TL_YAML_SCALAR)
    snprintf(text, 128, "%s", node->text);
  else
    snprintf(text, 128, "%s of %zu", node->kind == TL_YAML_MAP ? "a section" : "a list",
             node->count);
}

static void compare_nodes(const TlYamlNode *was, const TlYamlNode *is, const char *path,
                          TlStudyChange *d);

static const TlYamlNode *partner(const TlYamlNode *in, const TlYamlNode *child, size_t i) {
  if (in->kind == TL_YAML_MAP) return tl_yaml_find((TlYamlNode *)(uintptr_t)in, child->key);
  return i < in->count ? &in->children[i] : NULL;
}

/* Children of `a` against their partners in `b`; swapped: a is the new one, and what both have was
 * compared before. */
static void compare_children(const TlYamlNode *a, const TlYamlNode *b, const char *path,
                             bool swapped, TlStudyChange *d) {
  char below[256], number[24];
  for (size_t i = 0; i < a->count && !d->found; i++) {
    const TlYamlNode *child = &a->children[i], *other = partner(b, child, i);
    snprintf(number, sizeof number, "%zu", i);
    snprintf(below, sizeof below, "%s%s%s", path, path[0] ? "." : "",
             a->kind == TL_YAML_MAP ? child->key : number);
    if (!swapped)
      compare_nodes(child, other, below, d);
    else if (!other)
      compare_nodes(NULL, child, below, d);
  }
}

static void compare_nodes(const TlYamlNode *was, const TlYamlNode *is, const char *path,
                          TlStudyChange *d) {
  if (d->found || may_change(path)) return;
  bool same = was && is && was->kind == is->kind &&
              (was->kind != TL_YAML_SCALAR || strcmp(was->text, is->text) == 0);
  if (!same) {
    d->found = true;
    snprintf(d->path, sizeof d->path, "%s", path);
    say_node(d->was, was);
    say_node(d->is, is);
    return;
  }
  if (was->kind == TL_YAML_SCALAR) return;
  compare_children(was, is, path, false, d);
  compare_children(is, was, path, true, d);
}

void tl_study_change(const TlYamlNode *was, const TlYamlNode *is, TlStudyChange *change) {
  *change = (TlStudyChange){.found = false};
  compare_nodes(was, is, "", change);
}
