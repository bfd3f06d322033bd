#include "conf/yaml_tree.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* More than any study has; they bound recursion, memory and time on what was made to harm. */
enum {
  DEEPEST = 32,         /* nesting; also of the recursion */
  LONGEST = 1 << 16,    /* bytes of one key or value */
  MOST_NODES = 1000000, /* keys with their values, and elements of lists */
  MOST_BYTES = 64 << 20 /* of the whole text */
};

typedef struct Reader {
  yaml_parser_t parser;
  const char *name;
  const char *text; /* size bytes */
  size_t size, nodes;
} Reader;

static int line_of(yaml_mark_t mark) {
  return (int)mark.line + 1;
}
static int column_of(yaml_mark_t mark) {
  return (int)mark.column + 1;
}

static TlStatus refuse(const Reader *reader, yaml_mark_t mark, const char *what) {
  return tl_fail(TL_EINPUT, "%s:%d:%d: %s", reader->name, line_of(mark), column_of(mark), what);
}

/* Column of the first tab with which this line is set in, from 1; 0: it has none. */
static int tab_of(const Reader *reader, int line) {
  const char *at = reader->text, *end = at + reader->size;
  for (int l = 1; l < line && at; l++) {
    at = memchr(at, '\n', (size_t)(end - at));
    at = at ? at + 1 : NULL;
  }
  for (const char *c = at; c && c < end && strchr(" \t-", *c) && *c; c++)
    if (*c == '\t') return (int)(c - at) + 1;
  return 0;
}

static TlStatus next_event(Reader *reader, yaml_event_t *event) {
  if (yaml_parser_parse(&reader->parser, event)) return TL_OK;
  const yaml_parser_t *p = &reader->parser;
  if (p->error == YAML_READER_ERROR)
    return tl_fail(TL_EINPUT, "%s: not readable as YAML text at byte %zu: %s", reader->name,
                   p->problem_offset, p->problem ? p->problem : "unknown encoding");
  int line = line_of(p->problem_mark), column = tab_of(reader, line);
  if (column > 0)
    return tl_fail(TL_EINPUT,
                   "%s:%d:%d: a tab; YAML sets lines in with spaces: put spaces in its place",
                   reader->name, line, column);
  return tl_fail(TL_EINPUT, "%s:%d:%d: not YAML: %s%s%s", reader->name, line_of(p->problem_mark),
                 column_of(p->problem_mark), p->context ? p->context : "", p->context ? ", " : "",
                 p->problem ? p->problem : "unknown error");
}

static TlStatus count_node(Reader *reader, const yaml_event_t *event) {
  if (++reader->nodes <= MOST_NODES) return TL_OK;
  return refuse(reader, event->start_mark, "more than 1,000,000 values; a study has fewer");
}

static TlStatus add_child(TlYamlNode *parent, TlYamlNode **child) {
  TL_TRY(TL_RESERVE(parent->children, parent->capacity, parent->count + 1));
  *child = &parent->children[parent->count++];
  **child = (TlYamlNode){0};
  return TL_OK;
}

static TlStatus read_value(Reader *reader, yaml_event_t *event, TlYamlNode *node, int depth);

static TlStatus read_scalar(const Reader *reader, const yaml_event_t *event, TlYamlNode *node) {
  if (event->data.scalar.anchor || event->data.scalar.tag)
    return refuse(reader, event->start_mark, "anchors and tags are not used in studies");
  const char *text = (const char *)event->data.scalar.value;
  if (event->data.scalar.length > LONGEST)
    return refuse(reader, event->start_mark, "a value of more than 65,536 bytes");
  if (strlen(text) != event->data.scalar.length)
    return refuse(reader, event->start_mark, "a NUL byte inside a text");
  node->kind = TL_YAML_SCALAR;
  node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
  node->text = tl_strdup(text);
  return node->text ? TL_OK : TL_ENOMEM;
}

static TlStatus read_list(Reader *reader, TlYamlNode *node, int depth) {
  node->kind = TL_YAML_LIST;
  for (;;) {
    yaml_event_t event;
    TL_TRY(next_event(reader, &event));
    if (event.type == YAML_SEQUENCE_END_EVENT) return yaml_event_delete(&event), TL_OK;
    TlYamlNode *child;
    TlStatus status = count_node(reader, &event);
    if (status == TL_OK) status = add_child(node, &child);
    if (status == TL_OK) status = read_value(reader, &event, child, depth + 1);
    yaml_event_delete(&event);
    if (status != TL_OK) return status;
    child->key_line = child->line;
    child->key_column = child->column;
  }
}

/* The key of one map entry; a node is added under it. */
static TlStatus read_key(Reader *reader, const yaml_event_t *event, TlYamlNode *map,
                         TlYamlNode **child) {
  if (event->type != YAML_SCALAR_EVENT)
    return refuse(reader, event->start_mark, "a key must be a word");
  if (event->data.scalar.length > LONGEST)
    return refuse(reader, event->start_mark, "a key of more than 65,536 bytes");
  const char *key = (const char *)event->data.scalar.value;
  if (strlen(key) != event->data.scalar.length)
    return refuse(reader, event->start_mark, "a NUL byte inside a key");
  TL_TRY(count_node(reader, event));
  TL_TRY(add_child(map, child));
  (*child)->key_line = line_of(event->start_mark);
  (*child)->key_column = column_of(event->start_mark);
  (*child)->key = tl_strdup(key);
  return (*child)->key ? TL_OK : TL_ENOMEM;
}

static int by_key(const void *a, const void *b) {
  const TlYamlNode *x = *(const TlYamlNode *const *)a, *y = *(const TlYamlNode *const *)b;
  int order = strcmp(x->key, y->key);
  return order ? order : (x > y) - (x < y); /* in the order of the file */
}

/* A key that comes twice: the first such in the file. Sorted, for a map may have many keys. */
static TlStatus check_keys(const Reader *reader, const TlYamlNode *map) {
  const TlYamlNode **sorted, *again = NULL, *first = NULL;
  TL_TRY(TL_NEW(sorted, map->count));
  for (size_t i = 0; i < map->count; i++) sorted[i] = &map->children[i];
  if (map->count) qsort(sorted, map->count, sizeof *sorted, by_key);
  for (size_t i = 1; i < map->count; i++)
    if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0 && (!again || sorted[i] < again)) {
      first = sorted[i - 1];
      again = sorted[i];
    }
  tl_free(sorted);
  if (!again) return TL_OK;
  return tl_fail(TL_EINPUT, "%s:%d:%d: '%s' comes twice (first in line %d); keep one of them",
                 reader->name, again->key_line, again->key_column, again->key, first->key_line);
}

static TlStatus read_map(Reader *reader, TlYamlNode *node, int depth) {
  node->kind = TL_YAML_MAP;
  for (;;) {
    yaml_event_t event;
    TlYamlNode *child = NULL;
    TL_TRY(next_event(reader, &event));
    if (event.type == YAML_MAPPING_END_EVENT)
      return yaml_event_delete(&event), check_keys(reader, node);
    TlStatus status = read_key(reader, &event, node, &child);
    yaml_event_delete(&event);
    TL_TRY(status);
    TL_TRY(next_event(reader, &event));
    status = read_value(reader, &event, child, depth + 1);
    yaml_event_delete(&event);
    TL_TRY(status);
  }
}

static TlStatus read_value(Reader *reader, yaml_event_t *event, TlYamlNode *node, int depth) {
  node->line = line_of(event->start_mark);
  node->column = column_of(event->start_mark);
  if (depth > DEEPEST) return refuse(reader, event->start_mark, "nested too deeply");
  switch (event->type) {
  case YAML_SCALAR_EVENT:
    return read_scalar(reader, event, node);
  case YAML_SEQUENCE_START_EVENT:
    if (event->data.sequence_start.anchor || event->data.sequence_start.tag) break;
    return read_list(reader, node, depth);
  case YAML_MAPPING_START_EVENT:
    if (event->data.mapping_start.anchor || event->data.mapping_start.tag) break;
    return read_map(reader, node, depth);
  default:
    break;
  }
  return refuse(reader, event->start_mark, "anchors, aliases and tags are not used in studies");
}

/* Stream start, one document, stream end. */
static TlStatus read_stream(Reader *reader, TlYamlNode *root) {
  bool seen = false;
  for (;;) {
    yaml_event_t event;
    TL_TRY(next_event(reader, &event));
    TlStatus status = TL_OK;
    yaml_event_type_t type = event.type;
    bool value = type == YAML_SCALAR_EVENT || type == YAML_SEQUENCE_START_EVENT ||
                 type == YAML_MAPPING_START_EVENT || type == YAML_ALIAS_EVENT;
    if (value && seen)
      status = refuse(reader, event.start_mark, "a second document; a study is one");
    else if (value)
      status = read_value(reader, &event, root, 0);
    seen = seen || value;
    yaml_event_delete(&event);
    if (status != TL_OK || type == YAML_STREAM_END_EVENT) return status;
  }
}

TlStatus tl_yaml_parse(const char *name, const char *text, size_t size, TlYamlNode *root) {
  Reader reader = {.name = name, .text = text, .size = size};
  *root = (TlYamlNode){.kind = TL_YAML_MAP, .line = 1, .column = 1};
  if (size > MOST_BYTES)
    return tl_fail(TL_EINPUT, "%s: has %zu bytes; a study has at most %d", name, size, MOST_BYTES);
  if (!yaml_parser_initialize(&reader.parser))
    return tl_fail(TL_ENOMEM, "%s: out of memory for the YAML parser", name);
  yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, size);
  TlStatus status = read_stream(&reader, root);
  yaml_parser_delete(&reader.parser);
  return status;
}

void tl_yaml_free(TlYamlNode *node) {
  for (size_t i = 0; i < node->count; i++) tl_yaml_free(&node->children[i]);
  tl_free(node->children);
  tl_free(node->key);
  tl_free(node->text);
  *node = (TlYamlNode){0};
}

TlYamlNode *tl_yaml_find(const TlYamlNode *map, const char *key) {
  for (size_t i = 0; i < map->count; i++)
    if (map->children[i].key && strcmp(map->children[i].key, key) == 0) return &map->children[i];
  return NULL;
}

static void forget_places(TlYamlNode *node) {
  node->line = node->column = node->key_line = node->key_column = 0;
  for (size_t i = 0; i < node->count; i++) forget_places(&node->children[i]);
}

static TlStatus put(TlYamlNode *map, const char *key, TlYamlNode *value, TlYamlNode **child) {
  value->key = tl_strdup(key);
  if (!value->key) return TL_ENOMEM;
  *child = tl_yaml_find(map, key);
  if (*child)
    tl_yaml_free(*child);
  else
    TL_TRY(add_child(map, child));
  **child = *value;
  *value = (TlYamlNode){0};
  return TL_OK;
}

TlStatus tl_yaml_put(TlYamlNode *map, const char *key, const char *text) {
  TlYamlNode value, *child;
  TlStatus status = tl_yaml_parse("value", text, strlen(text), &value);
  if (status == TL_OK) {
    forget_places(&value);
    status = put(map, key, &value, &child);
  }
  tl_yaml_free(&value);
  return status;
}

void tl_yaml_remove(TlYamlNode *map, const char *key) {
  TlYamlNode *child = tl_yaml_find(map, key);
  if (!child) return;
  tl_yaml_free(child);
  *child = map->children[--map->count];
}

TlStatus tl_yaml_put_map(TlYamlNode *map, const char *key, TlYamlNode **child) {
  TlYamlNode value = {.kind = TL_YAML_MAP};
  TlStatus status = put(map, key, &value, child);
  tl_yaml_free(&value);
  return status;
}
