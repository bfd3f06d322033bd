/* A YAML file as a tree in which every node knows its line and column.
 *
 * It holds the part of YAML that a study needs: maps, lists and scalars in one document. Anchors,
 * aliases, tags and a second document are refused, and so are a key that comes twice in a map,
 * nesting beyond 32 levels, texts beyond 64 KiB and more than a million values. Time is that of
 * sorting. Lines and columns count from 1; 0 marks a node that did not come from the file
 * (tl_yaml_put). */
#ifndef TL_CONF_YAML_TREE_H
#define TL_CONF_YAML_TREE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum TlYamlKind { TL_YAML_SCALAR = 0, TL_YAML_MAP, TL_YAML_LIST } TlYamlKind;

typedef struct TlYamlNode {
  TlYamlKind kind;
  char *key;  /* in a map, owned */
  char *text; /* of a scalar, owned */
  bool quoted;
  int line, column;         /* of the value */
  int key_line, key_column; /* of the key; of the value in a list */
  struct TlYamlNode *children;
  size_t count, capacity;
} TlYamlNode;

/* name stands in the messages "name:line:column: ...". An empty text gives an empty map.
 * root: to be released with tl_yaml_free, also after a failure. TL_EINPUT. */
TlStatus tl_yaml_parse(const char *name, const char *text, size_t size, TlYamlNode *root);
void tl_yaml_free(TlYamlNode *node);

/* Child of a map by key, or NULL. Borrowed. */
TlYamlNode *tl_yaml_find(const TlYamlNode *map, const char *key);
/* Replace or add the child of a map by the value that text is in YAML, without a place. */
TlStatus tl_yaml_put(TlYamlNode *map, const char *key, const char *text);
/* Take a child of a map out, if it is there. */
void tl_yaml_remove(TlYamlNode *map, const char *key);
/* Replace or add an empty map. *child borrowed. */
TlStatus tl_yaml_put_map(TlYamlNode *map, const char *key, TlYamlNode **child);

#endif
