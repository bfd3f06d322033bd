#include "dist/together.h"

#include "base/mem.h"
#include "num/sort.h"

#include <stdlib.h>
#include <string.h>

/* A body that merges name. */
typedef struct Node {
  int64_t id;
  int32_t owned, parent; /* place among the owned bodies, -1: another rank's; in the list */
  bool between,
      shared; /* merged with one of another rank; of the root: some of its bodies are another rank's */
} Node;

/* What a rank says of a body: the lowest id that it hangs together with there. */
typedef struct Word {
  int64_t id, label;
  TlVec3 place; /* of the label's body, where this is that body and owned */
  int64_t owned;
} Word;

static Node *node_with(Node *node, int32_t count, int64_t id) {
  return bsearch(&id, node, (size_t)count, sizeof *node, tl_by_int);
}

static int32_t root_of(const Node *node, int32_t i) {
  while (node[i].parent != i) i = node[i].parent;
  return i;
}

/* The nodes of the merges, joined; lower ids are roots. node: space for two a merge. */
static int32_t list_nodes(const TlBodies *b, Node *node) {
  const TlMerge *merge = b->pairs.of[TL_MERGES].row;
  size_t merges = b->pairs.of[TL_MERGES].count;
  int32_t n = 0, kept = 0;
  for (size_t k = 0; k < merges; k++) {
    if (merge[k].high < 0) continue;
    node[n++] = (Node){.id = merge[k].low, .owned = -1};
    node[n++] = (Node){.id = merge[k].high, .owned = -1};
  }
  if (n > 1) qsort(node, (size_t)n, sizeof *node, tl_by_int);
  for (int32_t i = 0; i < n; i++)
    if (kept == 0 || node[kept - 1].id != node[i].id) node[kept++] = node[i];
  for (int32_t i = 0; i < kept; i++) node[i].parent = i;
  for (int64_t i = 0; i < b->owned; i++) {
    Node *own = node_with(node, kept, b->id[i]);
    if (own) own->owned = (int32_t)i;
  }
  for (size_t k = 0; k < merges; k++) {
    if (merge[k].high < 0) continue;
    Node *low = node_with(node, kept, merge[k].low), *high = node_with(node, kept, merge[k].high);
    int32_t x = root_of(node, (int32_t)(low - node)), y = root_of(node, (int32_t)(high - node));
    node[x < y ? y : x].parent = x < y ? x : y;
    if ((low->owned < 0) != (high->owned < 0)) low->between = high->between = true;
  }
  for (int32_t i = 0; i < kept; i++)
    if (node[i].owned < 0) node[root_of(node, i)].shared = true;
  return kept;
}

/* A label, which stands for what hangs together with it on some rank. */
typedef struct Label {
  int64_t id;
  int32_t parent;
  TlVec3 place;
} Label;

static int32_t label_root(const Label *label, int32_t i) {
  while (label[i].parent != i) i = label[i].parent;
  return i;
}

static Label *label_with(Label *label, int32_t count, int64_t id) {
  return bsearch(&id, label, (size_t)count, sizeof *label, tl_by_int);
}

/* From all words: labels of one body are one; the lowest says where. */
static int32_t join_labels(Word *word, size_t words, Label *label) {
  int32_t n = 0;
  for (size_t i = 0; i < words; i++) label[i] = (Label){.id = word[i].label};
  if (words > 1) qsort(label, words, sizeof *label, tl_by_int);
  for (size_t i = 0; i < words; i++)
    if (n == 0 || label[n - 1].id != label[i].id) label[n++] = label[i];
  for (int32_t i = 0; i < n; i++) label[i].parent = i;
  if (words > 1) qsort(word, words, sizeof *word, tl_by_int);
  for (size_t i = 0; i < words; i++) {
    Label *mine = label_with(label, n, word[i].label);
    if (word[i].owned && word[i].id == word[i].label) mine->place = word[i].place;
    if (i == 0 || word[i - 1].id != word[i].id) continue;
    int32_t x = label_root(label, (int32_t)(mine - label)),
            y = label_root(label, (int32_t)(label_with(label, n, word[i - 1].label) - label));
    label[x < y ? y : x].parent = x < y ? x : y;
  }
  return n;
}

static TlStatus hear(const TlSync *sync, const Word *mine, size_t count, Word **words,
                     size_t *total) {
  const unsigned char *all;
  const size_t *at, *end;
  TL_TRY(sync->gather(sync->ctx, mine, count * sizeof *mine, &all, &at, &end));
  *total = 0;
  for (int r = 0; r < sync->ranks; r++) *total += (end[r] - at[r]) / sizeof **words;
  TL_TRY(TL_NEW(*words, *total + 1));
  Word *to = *words;
  for (int r = 0; r < sync->ranks; r++) {
    memcpy(to, all + at[r], end[r] - at[r]);
    to += (end[r] - at[r]) / sizeof *to;
  }
  return TL_OK;
}

TlStatus tl_together(const TlSync *sync, const TlBodies *b, TlVec3 *place, int64_t *lowest) {
  size_t most = 2 * b->pairs.of[TL_MERGES].count + 1, count = 0, words = 0;
  Node *node = NULL;
  Word *mine = NULL, *all = NULL;
  Label *label = NULL;
  TlStatus status = TL_NEW(node, most);
  TL_TRY_GOTO(status, TL_NEW(mine, most), done);
  int32_t nodes = list_nodes(b, node);
  for (int32_t i = 0; i < nodes; i++) {
    int32_t root = root_of(node, i);
    if (!node[root].shared || !(node[i].between || i == root)) continue;
    mine[count] = (Word){.id = node[i].id, .label = node[root].id, .owned = node[i].owned >= 0};
    if (mine[count].owned) mine[count].place = b->position[node[i].owned];
    count++;
  }
  TL_TRY_GOTO(status, hear(sync, mine, count, &all, &words), done);
  TL_TRY_GOTO(status, TL_NEW(label, words + 1), done);
  int32_t labels = join_labels(all, words, label);
  for (int64_t i = 0; place && i < b->owned; i++) place[i] = b->position[i];
  for (int32_t i = 0; i < nodes; i++) {
    if (node[i].owned < 0) continue;
    const Node *root = &node[root_of(node, i)];
    Label whole = {.id = root->id};
    if (root->shared)
      whole = label[label_root(label, (int32_t)(label_with(label, labels, root->id) - label))];
    else
      whole.place = b->position[root->owned];
    if (place) place[node[i].owned] = whole.place;
    if (lowest) lowest[node[i].owned] = whole.id;
  }
done:
  tl_free(node);
  tl_free(mine);
  tl_free(all);
  tl_free(label);
  return status;
}

/* ---- bodies that leave ---- */

typedef struct Gone {
  int64_t *id; /* ascending */
  size_t count;
} Gone;

static bool is_gone(const Gone *gone, int64_t id) {
  return gone->count && bsearch(&id, gone->id, gone->count, sizeof id, tl_by_int);
}

static bool stays(const void *context, const TlPairKey *key) {
  return !is_gone(context, key->low) && (key->high < 0 || !is_gone(context, key->high));
}

TlStatus tl_together_forget(const TlSync *sync, TlBodies *b, const int64_t *gone, size_t count) {
  const unsigned char *all = (const unsigned char *)gone;
  const size_t alone[2] = {0, count * sizeof *gone}, *at = &alone[0], *end = &alone[1];
  int ranks = sync ? sync->ranks : 1;
  Gone g = {.count = 0};
  if (sync) TL_TRY(sync->gather(sync->ctx, gone, count * sizeof *gone, &all, &at, &end));
  for (int r = 0; r < ranks; r++) g.count += (end[r] - at[r]) / sizeof *g.id;
  TL_TRY(TL_NEW(g.id, g.count + 1));
  int64_t *to = g.id;
  for (int r = 0; r < ranks; r++) {
    if (end[r] > at[r]) memcpy(to, all + at[r], end[r] - at[r]);
    to += (end[r] - at[r]) / sizeof *to;
  }
  if (g.count > 1) qsort(g.id, g.count, sizeof *g.id, tl_by_int);
  tl_pair_rows_keep(&b->pairs.of[TL_MERGES], TL_MERGES, stays, &g);
  tl_free(g.id);
  return TL_OK;
}
