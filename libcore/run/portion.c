#include "run/portion.h"

#include "base/mem.h"

#include <string.h>

enum { TAG_ROWS = 17, PROBES = 16 };

/* Where a writer's part begins, as far as it is known: among those of this rank's rows whose first
 * keys are those of the row there. */
typedef struct Border {
  int64_t wanted;    /* number of that row among all */
  int64_t below;     /* rows of all ranks before those among which it lies */
  int64_t from, to;  /* these, of this rank's */
  int64_t low, high; /* between which its next key lies; the values are of all ranks */
  int64_t passed;    /* rows of all ranks, of those, whose key is below `low` */
} Border;

typedef struct Lane { /* rows that came from one rank */
  const unsigned char *at, *end;
  int rank;
} Lane;

typedef struct Taking {
  TlComm *comm;
  const TlRows *rows;
  TlPortion *part;
  bool groups;  /* rows with equal keys stay together */
  size_t bytes; /* of a row */
  int borders;
  Border *border;
  int64_t *count;     /* of rows below probes; or ranges of keys */
  int64_t *to, *from; /* rows that go to each rank and come from it */
  Lane *lane;
  TlCommBatch batch;
} Taking;

int64_t tl_portion_first(const TlPortion *part, int writer) {
  int64_t blocks = (part->all + part->block - 1) / part->block,
          first = blocks * writer / part->writers * part->block;
  return first < part->all ? first : part->all;
}

/* ---- where the parts begin ---- */

/* The last key is the rank, which parts rows whose own keys are all equal. */
static int64_t key_of(const Taking *s, int64_t row, int level) {
  int64_t key = tl_comm_rank(s->comm);
  if (level < s->rows->keys)
    memcpy(&key, s->part->out + (size_t)row * s->bytes + (size_t)level * sizeof key, sizeof key);
  return key;
}

/* The first of this rank's rows among which the border lies whose key is not below the value. */
static int64_t not_below(const Taking *s, const Border *b, int level, int64_t value) {
  int64_t low = b->from, high = b->to;
  while (low < high) {
    int64_t mid = low + (high - low) / 2;
    if (key_of(s, mid, level) < value)
      low = mid + 1;
    else
      high = mid;
  }
  return low;
}

static bool is_found(const Border *b) {
  return b->below == b->wanted;
}

static int64_t probe(const Border *b, int p) {
  uint64_t span = (uint64_t)b->high - (uint64_t)b->low, n = (uint64_t)p + 1;
  return (int64_t)((uint64_t)b->low + span / PROBES * n + span % PROBES * n / PROBES);
}

static TlStatus find_ranges(Taking *s, int level) {
  for (int j = 0; j < s->borders; j++) {
    Border *b = &s->border[j];
    bool none = b->from == b->to;
    s->count[2 * j] =
        none ? INT64_MIN : -1 - key_of(s, b->from, level); /* the least, by the most */
    s->count[2 * j + 1] = none ? INT64_MIN : key_of(s, b->to - 1, level);
  }
  TL_TRY(tl_comm_most_int(s->comm, s->count, 2 * s->borders));
  for (int j = 0; j < s->borders; j++) {
    Border *b = &s->border[j];
    b->passed = b->low = b->high = 0;
    if (is_found(b)) continue;
    b->low = -1 - s->count[2 * j];
    b->high = s->count[2 * j + 1];
  }
  return TL_OK;
}

/* Of values between low and high: how many rows lie below each? */
static TlStatus shrink_ranges(Taking *s, int level, bool *left) {
  for (int j = 0; j < s->borders; j++)
    for (int p = 0; p < PROBES; p++) {
      const Border *b = &s->border[j];
      bool known = is_found(b) || b->low == b->high;
      s->count[j * PROBES + p] = known ? 0 : not_below(s, b, level, probe(b, p)) - b->from;
    }
  TL_TRY(tl_comm_sum_int(s->comm, s->count, s->borders * PROBES));
  *left = false;
  for (int j = 0; j < s->borders; j++) {
    Border *b = &s->border[j];
    const int64_t *count = &s->count[j * PROBES];
    if (is_found(b) || b->low == b->high) continue;
    int p = PROBES - 1;
    while (p >= 0 && b->below + count[p] > b->wanted) p--;
    int64_t low = p >= 0 ? probe(b, p) : b->low,
            high = p + 1 < PROBES ? probe(b, p + 1) - 1 : b->high;
    if (p >= 0) b->passed = count[p];
    b->low = low;
    b->high = high;
    *left |= low < high;
  }
  return TL_OK;
}

/* The borders' key of this level, and the rows that share it. */
static TlStatus find_keys(Taking *s, int level) {
  bool left = true;
  TL_TRY(find_ranges(s, level));
  while (left) TL_TRY(shrink_ranges(s, level, &left));
  for (int j = 0; j < s->borders; j++) {
    Border *b = &s->border[j];
    if (is_found(b)) continue;
    b->from = not_below(s, b, level, b->low);
    if (b->low < INT64_MAX) b->to = not_below(s, b, level, b->low + 1);
    b->below += b->passed;
  }
  return TL_OK;
}

static TlStatus find_borders(Taking *s) {
  bool left = s->borders > 0;
  int levels = s->rows->keys + !s->groups;
  for (int level = 0; left && level < levels; level++) {
    TL_TRY(find_keys(s, level));
    left = false;
    for (int j = 0; j < s->borders; j++) left |= !is_found(&s->border[j]);
  }
  if (s->groups) return TL_OK;           /* whose first rows are at `from` */
  for (int j = 0; j < s->borders; j++) { /* of one rank's equal rows the first ones come before */
    Border *b = &s->border[j];
    if (b->from < b->to) b->from += b->wanted - b->below;
  }
  return TL_OK;
}

/* ---- rows on their way ---- */

static int64_t cut(const Taking *s, int writer) {
  if (writer == 0) return 0;
  return writer <= s->borders ? s->border[writer - 1].from : s->rows->count;
}

static TlStatus exchange(Taking *s) {
  int me = tl_comm_rank(s->comm), ranks = tl_comm_size(s->comm);
  unsigned char *in = s->part->in;
  for (int r = 0; r < ranks; r++) {
    size_t size = (size_t)s->from[r] * s->bytes;
    const unsigned char *own = s->part->out + (size_t)cut(s, r) * s->bytes;
    s->lane[r] = r == me ? (Lane){own, own + size, r} : (Lane){in, in + size, r};
    if (r == me || size == 0) continue;
    TL_TRY(tl_comm_receive(s->comm, &s->batch, r, TAG_ROWS, in, size));
    in += size;
  }
  for (int r = 0; r < s->part->writers; r++)
    if (r != me && s->to[r] > 0)
      TL_TRY(tl_comm_send(s->comm, &s->batch, r, TAG_ROWS,
                          s->part->out + (size_t)cut(s, r) * s->bytes,
                          (size_t)s->to[r] * s->bytes));
  return tl_comm_wait(s->comm, &s->batch);
}

/* ---- one order ---- */

static bool comes_first(const Taking *s, const Lane *a, const Lane *b) {
  int keys = s->rows->keys;
  if (tl_rows_before(keys, a->at, b->at)) return true;
  return a->rank < b->rank && !tl_rows_before(keys, b->at, a->at);
}

/* A heap of lanes by their next rows: the one at `at` may come after its children. */
static void sink(const Taking *s, int lanes, int at) {
  for (;;) {
    int first = at, left = 2 * at + 1;
    for (int child = left; child <= left + 1 && child < lanes; child++)
      if (comes_first(s, &s->lane[child], &s->lane[first])) first = child;
    if (first == at) return;
    Lane lane = s->lane[at];
    s->lane[at] = s->lane[first];
    s->lane[first] = lane;
    at = first;
  }
}

static void merge(Taking *s) {
  int lanes = 0;
  const unsigned char **row = s->part->row;
  for (int r = 0; r < tl_comm_size(s->comm); r++)
    if (s->lane[r].at < s->lane[r].end) s->lane[lanes++] = s->lane[r];
  for (int k = lanes / 2; k >= 0; k--) sink(s, lanes, k);
  while (lanes > 0) {
    *row++ = s->lane[0].at;
    s->lane[0].at += s->bytes;
    if (s->lane[0].at == s->lane[0].end) s->lane[0] = s->lane[--lanes];
    sink(s, lanes, 0);
  }
}

/* ---- all of it ---- */

static void pack_sorted(const void *of, int64_t first, int64_t count, unsigned char *to) {
  const TlPortion *part = of;
  size_t bytes = tl_rows_bytes(&part->rows);
  for (int64_t i = 0; i < count; i++) memcpy(to + (size_t)i * bytes, part->row[first + i], bytes);
}

static TlStatus pack_own(Taking *s) {
  size_t ranks = (size_t)tl_comm_size(s->comm), borders = (size_t)s->borders;
  TL_TRY(TL_NEW(s->part->out, (size_t)s->rows->count * s->bytes));
  TL_TRY(TL_NEW(s->border, borders));
  TL_TRY(TL_NEW(s->count, borders * PROBES));
  TL_TRY(TL_NEW(s->to, ranks));
  TL_TRY(TL_NEW(s->from, ranks));
  TL_TRY(TL_NEW(s->lane, ranks));
  TL_TRY(tl_comm_batch_reserve(&s->batch, 2 * ranks));
  s->rows->pack(s->rows->of, 0, s->rows->count, s->part->out);
  for (int j = 0; j < s->borders; j++)
    s->border[j] = (Border){.wanted = tl_portion_first(s->part, j + 1), .to = s->rows->count};
  return TL_OK;
}

static TlStatus reserve_part(Taking *s) {
  int me = tl_comm_rank(s->comm);
  int64_t coming = 0;
  for (int r = 0; r < tl_comm_size(s->comm); r++) coming += r == me ? 0 : s->from[r];
  s->part->rows.count = coming + s->from[me];
  TL_TRY(TL_NEW(s->part->in, (size_t)coming * s->bytes));
  return TL_NEW(s->part->row, (size_t)s->part->rows.count);
}

/* Memory is asked for where ranks can still leave together. */
static TlStatus take(Taking *s) {
  TL_TRY(tl_comm_agree(s->comm, pack_own(s)));
  TL_TRY(find_borders(s));
  for (int r = 0; r < s->part->writers; r++) s->to[r] = cut(s, r + 1) - cut(s, r);
  TL_TRY(tl_comm_swap_counts(s->comm, s->to, s->from));
  TL_TRY(tl_comm_agree(s->comm, reserve_part(s)));
  TL_TRY(exchange(s));
  merge(s);
  return TL_OK;
}

static TlStatus take_part(TlComm *comm, const TlRows *rows, int64_t block, bool groups,
                          TlPortion *part) {
  int ranks = tl_comm_size(comm), me = tl_comm_rank(comm);
  *part = (TlPortion){.rows = *rows, .all = rows->count, .writers = 1, .block = block};
  if (ranks == 1) return TL_OK;
  TL_TRY(tl_comm_sum_int(comm, &part->all, 1));
  if (part->all == 0) return TL_OK;
  int64_t blocks = (part->all + block - 1) / block;
  part->writers = blocks < ranks ? (int)blocks : ranks;
  part->rows.pack = pack_sorted;
  part->rows.of = part;
  part->first = tl_portion_first(part, me < part->writers ? me : part->writers);
  Taking s = {.comm = comm,
              .rows = rows,
              .part = part,
              .groups = groups,
              .bytes = tl_rows_bytes(rows),
              .borders = part->writers - 1};
  TlStatus status = take(&s);
  tl_free(s.border);
  tl_free(s.count);
  tl_free(s.to);
  tl_free(s.from);
  tl_free(s.lane);
  tl_comm_batch_free(&s.batch);
  if (status != TL_OK) tl_portion_free(part);
  return status;
}

TlStatus tl_portion_take(TlComm *comm, const TlRows *rows, int64_t block, TlPortion *part) {
  return take_part(comm, rows, block, false, part);
}

TlStatus tl_portion_take_groups(TlComm *comm, const TlRows *rows, int64_t block, TlPortion *part) {
  return take_part(comm, rows, block, true, part);
}

void tl_portion_free(TlPortion *part) {
  tl_free(part->out);
  tl_free(part->in);
  tl_free(part->row);
  *part = (TlPortion){0};
}

/* ---- the file ---- */

TlStatus tl_shared_file_tell(TlComm *comm, const TlOutFile *file, bool sync, TlSharedFile *shared) {
  if (shared->names) return TL_OK;
  int64_t said[3] = {0};
  if (tl_comm_rank(comm) == 0) {
    said[0] = (int64_t)strlen(file->path) + 1;
    said[1] = (int64_t)strlen(file->temp) + 1;
    said[2] = sync;
  }
  TL_TRY(tl_comm_broadcast(comm, said, sizeof said, 0));
  TL_TRY(tl_comm_agree(comm, TL_NEW(shared->names, (size_t)(said[0] + said[1]))));
  if (tl_comm_rank(comm) == 0) {
    memcpy(shared->names, file->path, (size_t)said[0]);
    memcpy(shared->names + said[0], file->temp, (size_t)said[1]);
  }
  TL_TRY(tl_comm_broadcast(comm, shared->names, (size_t)(said[0] + said[1]), 0));
  shared->temp = shared->names + said[0];
  shared->sync = said[2];
  shared->part.descriptor = -1;
  return TL_OK;
}

TlStatus tl_shared_file_part(TlSharedFile *shared, const TlOutPart **part) {
  *part = &shared->part;
  if (shared->part.descriptor >= 0) return TL_OK;
  return tl_outpart_open(&shared->part, shared->names, shared->temp);
}

TlStatus tl_shared_file_close(TlSharedFile *shared) {
  TlStatus status = shared->names ? tl_outpart_close(&shared->part, shared->sync) : TL_OK;
  tl_free(shared->names);
  *shared = (TlSharedFile){0};
  return status;
}
