#include "store/checkpoint.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/mem.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file's layout; every field lies on its own multiple of 8, so there is no padding. */
typedef struct Head {
  char magic[8];
  uint32_t version, endian;
  int64_t step;
} Head;
typedef struct SectionHead {
  char name[TL_CHECKPOINT_NAME], layout[TL_CHECKPOINT_LAYOUT];
  uint64_t record_bytes;
  int64_t records;
} SectionHead;

static const char magic[8] = {'T', 'A', 'L', 'U', 'S', 'C', 'K', 'P'};
enum { ENDIAN_MARK = 0x01020304, SWAPPED_MARK = 0x04030201 };

/* ---- the folder ---- */

static char *path_of(const char *folder, int64_t step) {
  return tl_format("%s/checkpoint_%012lld.tck", folder, (long long)step);
}

int64_t tl_checkpoint_step(const char *name) {
  static const char lead[] = "checkpoint_";
  size_t n = sizeof lead - 1;
  if (strncmp(name, lead, n) != 0) return -1;
  size_t digits = strspn(name + n, "0123456789");
  if (digits < 12 || digits > 18 || strcmp(name + n + digits, ".tck") != 0) return -1;
  return strtoll(name + n, NULL, 10);
}

static int newest_first(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x > y ? -1 : x < y;
}

TlStatus tl_checkpoint_list(const char *folder, int64_t **steps, int64_t *count) {
  size_t capacity = 0;
  TlStatus status = TL_OK;
  *steps = NULL;
  *count = 0;
  DIR *list = opendir(folder);
  if (!list) return tl_fail_errno(folder, "cannot list the folder");
  for (const char *name;
       status == TL_OK && (status = tl_dir_next(list, folder, &name)) == TL_OK && name;) {
    int64_t step = tl_checkpoint_step(name);
    if (step < 0) continue;
    status = TL_RESERVE(*steps, capacity, (size_t)*count + 1);
    if (status == TL_OK) (*steps)[(*count)++] = step;
  }
  closedir(list);
  if (*count > 1) qsort(*steps, (size_t)*count, sizeof **steps, newest_first);
  return status;
}

static TlStatus remove_step(const char *folder, int64_t step) {
  char *path = path_of(folder, step);
  if (!path) return TL_ENOMEM;
  TlStatus status = unlink(path) == 0 ? TL_OK : tl_fail_errno(path, "cannot remove");
  tl_free(path);
  return status;
}

TlStatus tl_checkpoint_prune(const char *folder, int64_t last, int64_t keep) {
  int64_t *steps, count, kept = 0;
  TlStatus status = tl_checkpoint_list(folder, &steps, &count);
  for (int64_t i = 0; status == TL_OK && i < count; i++) {
    bool stays = (last < 0 || steps[i] <= last) && kept < keep;
    if (stays)
      kept++;
    else
      status = remove_step(folder, steps[i]);
  }
  tl_free(steps);
  return status;
}

/* ---- writing ---- */

struct TlCheckpointWriter {
  TlOutFile out;
  FILE *file;
  Head head;
  TlDigest *digest, *block; /* of the section and of its block at hand */
  bool open;                /* a section is */
  SectionHead section;
  int64_t missing, block_records; /* records still to come, and those of the block at hand */
};

static TlStatus put(TlCheckpointWriter *w, const void *bytes, size_t size) {
  if (size == 0 || fwrite(bytes, 1, size, w->file) == size) return TL_OK;
  return tl_fail_errno(w->out.path, "cannot write");
}

static TlStatus start_file(TlCheckpointWriter *w, const char *folder, int64_t step) {
  char *path = path_of(folder, step);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_outfile_begin(&w->out, path, true);
  tl_free(path);
  TL_TRY(status);
  TL_TRY(tl_digest_new(&w->digest));
  TL_TRY(tl_digest_new(&w->block));
  w->file = fopen(w->out.temp, "wb");
  if (!w->file) return tl_fail_errno(w->out.path, "cannot create");
  w->head = (Head){.version = TL_CHECKPOINT_VERSION, .endian = ENDIAN_MARK, .step = step};
  memcpy(w->head.magic, magic, sizeof magic);
  return put(w, &w->head, sizeof w->head);
}

TlStatus tl_checkpoint_create(TlCheckpointWriter **writer, const char *folder, int64_t step) {
  TL_TRY(TL_NEW(*writer, 1));
  TlStatus status = start_file(*writer, folder, step);
  if (status == TL_OK) return TL_OK;
  tl_checkpoint_abort(*writer);
  *writer = NULL;
  return status;
}

static TlStatus close_section(TlCheckpointWriter *w) {
  unsigned char value[TL_DIGEST_BYTES];
  if (!w->open) return TL_OK;
  assert(w->missing == 0);
  w->open = false;
  TL_TRY(tl_context(tl_digest_value(w->digest, value), "%s", w->out.path));
  return put(w, value, sizeof value);
}

TlStatus tl_checkpoint_section(TlCheckpointWriter *w, const char *name, const char *layout,
                               size_t record_bytes, int64_t records) {
  TL_TRY(close_section(w));
  assert(strlen(name) < TL_CHECKPOINT_NAME && strlen(layout) < TL_CHECKPOINT_LAYOUT);
  w->section = (SectionHead){.record_bytes = record_bytes, .records = records};
  snprintf(w->section.name, sizeof w->section.name, "%s", name);
  snprintf(w->section.layout, sizeof w->section.layout, "%s", layout);
  w->open = true;
  w->missing = records;
  tl_digest_restart(w->block);
  w->block_records = 0;
  tl_digest_restart(w->digest); /* the file's head too: it has no digest of its own */
  tl_digest_add(w->digest, &w->head, sizeof w->head);
  tl_digest_add(w->digest, &w->section, sizeof w->section);
  return put(w, &w->section, sizeof w->section);
}

static TlStatus end_block(TlCheckpointWriter *w) {
  unsigned char value[TL_DIGEST_BYTES];
  TL_TRY(tl_context(tl_digest_value(w->block, value), "%s", w->out.path));
  tl_digest_add(w->digest, value, sizeof value);
  tl_digest_restart(w->block);
  w->block_records = 0;
  return TL_OK;
}

TlStatus tl_checkpoint_rows(TlCheckpointWriter *w, const void *rows, int64_t count) {
  const unsigned char *from = rows;
  size_t bytes = w->section.record_bytes;
  assert(w->open && count <= w->missing);
  for (int64_t left = count; left > 0;) {
    int64_t n = TL_CHECKPOINT_BLOCK - w->block_records;
    if (n > left) n = left;
    tl_digest_add(w->block, from, (size_t)n * bytes);
    from += (size_t)n * bytes;
    left -= n;
    w->block_records += n;
    w->missing -= n;
    if (w->block_records == TL_CHECKPOINT_BLOCK || w->missing == 0) TL_TRY(end_block(w));
  }
  return put(w, rows, (size_t)count * bytes);
}

const TlOutFile *tl_checkpoint_file(const TlCheckpointWriter *w) {
  return &w->out;
}

TlStatus tl_checkpoint_place(const TlCheckpointWriter *w, int64_t *place) {
  *place = ftell(w->file);
  return *place >= 0 ? TL_OK : tl_fail_errno(w->out.path, "cannot write");
}

TlStatus tl_checkpoint_leave(TlCheckpointWriter *w, const unsigned char *digests, int64_t count) {
  assert(w->open && count <= w->missing && w->block_records == 0);
  int64_t blocks = (count + TL_CHECKPOINT_BLOCK - 1) / TL_CHECKPOINT_BLOCK;
  tl_digest_add(w->digest, digests, (size_t)blocks * TL_DIGEST_BYTES);
  w->missing -= count;
  if (fseek(w->file, (long)((size_t)count * w->section.record_bytes), SEEK_CUR) == 0) return TL_OK;
  return tl_fail_errno(w->out.path, "cannot write");
}

static TlStatus finish(TlCheckpointWriter *w, bool sync) {
  TL_TRY(tl_checkpoint_section(w, "end", "", 0, 0));
  TL_TRY(close_section(w));
  FILE *file = w->file;
  w->file = NULL;
  if (fclose(file) != 0) return tl_fail_errno(w->out.path, "cannot write");
  return sync ? tl_outfile_commit(&w->out) : tl_outfile_rename(&w->out);
}

TlStatus tl_checkpoint_commit(TlCheckpointWriter *w, bool sync) {
  TlStatus status = finish(w, sync);
  tl_checkpoint_abort(w);
  return status;
}

void tl_checkpoint_abort(TlCheckpointWriter *w) {
  if (!w) return;
  if (w->file) fclose(w->file);
  tl_outfile_abort(&w->out);
  tl_digest_free(w->digest);
  tl_digest_free(w->block);
  tl_free(w);
}

/* ---- reading ---- */

typedef struct Section {
  SectionHead head;
  int64_t start; /* of the records, bytes from the file's begin */
} Section;

struct TlCheckpoint {
  char *path;
  FILE *file;
  int64_t size;
  Head head;
  Section *section;
  size_t count, capacity;
};

static TlStatus damaged(const TlCheckpoint *c, const char *what) {
  return tl_fail(TL_EINPUT, "%s: damaged: %s", c->path, what);
}

static TlStatus get(TlCheckpoint *c, void *bytes, size_t size) {
  if (size == 0 || fread(bytes, 1, size, c->file) == size) return TL_OK;
  return ferror(c->file) ? tl_fail_errno(c->path, "cannot read") : damaged(c, "it is cut short");
}

static TlStatus read_at(TlCheckpoint *c, int64_t at, void *bytes, size_t size) {
  if (fseek(c->file, at, SEEK_SET) != 0) return tl_fail_errno(c->path, "cannot read");
  return get(c, bytes, size);
}

static TlStatus read_head(TlCheckpoint *c, int64_t step) {
  TL_TRY(get(c, &c->head, sizeof c->head));
  if (memcmp(c->head.magic, magic, sizeof magic) != 0)
    return tl_fail(TL_EINPUT, "%s: not a checkpoint", c->path);
  if (c->head.endian == SWAPPED_MARK)
    return tl_fail(TL_EINPUT, "%s: written on a machine of the other byte order", c->path);
  if (c->head.endian != ENDIAN_MARK) return damaged(c, "its head");
  if (c->head.version != TL_CHECKPOINT_VERSION)
    return tl_fail(TL_EINPUT, "%s: format version %u, and this program reads version %d", c->path,
                   c->head.version, TL_CHECKPOINT_VERSION);
  return c->head.step == step ? TL_OK : damaged(c, "its step is not that of its name");
}

static TlStatus check_section(const TlCheckpoint *c, const SectionHead *h, int64_t start) {
  bool sane = h->name[TL_CHECKPOINT_NAME - 1] == 0 && h->layout[TL_CHECKPOINT_LAYOUT - 1] == 0 &&
              h->records >= 0 && h->record_bytes <= (uint64_t)c->size;
  int64_t left = c->size - start - TL_DIGEST_BYTES;
  if (!sane) return damaged(c, "the head of a section");
  if (left < 0 || (h->record_bytes && h->records > left / (int64_t)h->record_bytes))
    return damaged(c, "it is cut short");
  return TL_OK;
}

/* The sections' heads up to "end", without their records. */
static TlStatus read_sections(TlCheckpoint *c) {
  for (;;) {
    TL_TRY(TL_RESERVE(c->section, c->capacity, c->count + 1));
    Section *s = &c->section[c->count];
    TL_TRY(get(c, &s->head, sizeof s->head));
    s->start = ftell(c->file);
    if (s->start < 0) return tl_fail_errno(c->path, "cannot read");
    TL_TRY(check_section(c, &s->head, s->start));
    c->count++;
    int64_t end = s->start + (int64_t)s->head.record_bytes * s->head.records + TL_DIGEST_BYTES;
    if (fseek(c->file, end, SEEK_SET) != 0) return tl_fail_errno(c->path, "cannot read");
    if (strcmp(s->head.name, "end") == 0)
      return end == c->size ? TL_OK : damaged(c, "something follows its end");
  }
}

static int64_t records_of(const Section *s) {
  return s->head.record_bytes > 0 ? s->head.records : 0;
}

static int64_t blocks_of(const Section *s) {
  return (records_of(s) + TL_CHECKPOINT_BLOCK - 1) / TL_CHECKPOINT_BLOCK;
}

int64_t tl_checkpoint_blocks(const TlCheckpoint *c) {
  int64_t blocks = 0;
  for (size_t i = 0; i < c->count; i++) blocks += blocks_of(&c->section[i]);
  return blocks;
}

/* What blocks are digested with, one after the other. */
typedef struct Digester {
  TlDigest *digest;
  unsigned char *bytes;
  size_t capacity;
} Digester;

static TlStatus digest_block(TlCheckpoint *c, const Section *s, int64_t block, Digester *d,
                             unsigned char *value) {
  int64_t first = block * TL_CHECKPOINT_BLOCK, n = records_of(s) - first;
  if (n > TL_CHECKPOINT_BLOCK) n = TL_CHECKPOINT_BLOCK;
  size_t size = (size_t)n * s->head.record_bytes;
  TL_TRY(TL_RESERVE(d->bytes, d->capacity, size));
  TL_TRY(read_at(c, s->start + first * (int64_t)s->head.record_bytes, d->bytes, size));
  tl_digest_restart(d->digest);
  tl_digest_add(d->digest, d->bytes, size);
  return tl_context(tl_digest_value(d->digest, value), "%s", c->path);
}

TlStatus tl_checkpoint_digest(TlCheckpoint *c, int64_t first, int64_t count,
                              unsigned char *digests) {
  Digester d = {0};
  int64_t before = 0; /* blocks of the sections passed */
  TlStatus status = tl_digest_new(&d.digest);
  for (size_t i = 0; i < c->count; before += blocks_of(&c->section[i++])) {
    const Section *s = &c->section[i];
    int64_t from = first > before ? first - before : 0, to = first + count - before;
    if (to > blocks_of(s)) to = blocks_of(s);
    for (int64_t k = from; status == TL_OK && k < to; k++, digests += TL_DIGEST_BYTES)
      status = digest_block(c, s, k, &d, digests);
  }
  tl_digest_free(d.digest);
  tl_free(d.bytes);
  return status;
}

static TlStatus verify_section(TlCheckpoint *c, const Section *s, TlDigest *digest,
                               const unsigned char *blocks) {
  unsigned char value[TL_DIGEST_BYTES], stored[TL_DIGEST_BYTES];
  tl_digest_restart(digest);
  tl_digest_add(digest, &c->head, sizeof c->head);
  tl_digest_add(digest, &s->head, sizeof s->head);
  tl_digest_add(digest, blocks, (size_t)blocks_of(s) * TL_DIGEST_BYTES);
  TL_TRY(tl_context(tl_digest_value(digest, value), "%s", c->path));
  TL_TRY(read_at(c, s->start + (int64_t)s->head.record_bytes * s->head.records, stored,
                 sizeof stored));
  if (memcmp(value, stored, sizeof value) == 0) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: damaged: section '%s' does not match its digest", c->path,
                 s->head.name);
}

TlStatus tl_checkpoint_verify(TlCheckpoint *c, const unsigned char *digests) {
  TlDigest *digest;
  TlStatus status = tl_digest_new(&digest);
  for (size_t i = 0; status == TL_OK && i < c->count; i++) {
    status = verify_section(c, &c->section[i], digest, digests);
    digests += (size_t)blocks_of(&c->section[i]) * TL_DIGEST_BYTES;
  }
  tl_digest_free(digest);
  return status;
}

static TlStatus verify_all(TlCheckpoint *c) {
  unsigned char *digests;
  int64_t blocks = tl_checkpoint_blocks(c);
  TL_TRY(TL_NEW(digests, (size_t)blocks * TL_DIGEST_BYTES));
  TlStatus status = tl_checkpoint_digest(c, 0, blocks, digests);
  if (status == TL_OK) status = tl_checkpoint_verify(c, digests);
  tl_free(digests);
  return status;
}

static TlStatus read_file(TlCheckpoint *c, const char *folder, int64_t step, bool verify) {
  c->path = path_of(folder, step);
  if (!c->path) return TL_ENOMEM;
  TL_TRY(tl_file_size(c->path, &c->size));
  c->file = fopen(c->path, "rb");
  if (!c->file) return tl_fail_errno(c->path, "cannot open");
  TL_TRY(read_head(c, step));
  TL_TRY(read_sections(c));
  return verify ? verify_all(c) : TL_OK;
}

TlStatus tl_checkpoint_open(TlCheckpoint **checkpoint, const char *folder, int64_t step,
                            bool verify) {
  TL_TRY(TL_NEW(*checkpoint, 1));
  TlStatus status = read_file(*checkpoint, folder, step, verify);
  if (status == TL_OK) return TL_OK;
  tl_checkpoint_close(*checkpoint);
  *checkpoint = NULL;
  return status;
}

const char *tl_checkpoint_path(const TlCheckpoint *c) {
  return c->path;
}

static const Section *section_of(const TlCheckpoint *c, const char *name) {
  for (size_t i = 0; i < c->count; i++)
    if (strcmp(c->section[i].head.name, name) == 0) return &c->section[i];
  return NULL;
}

bool tl_checkpoint_has(const TlCheckpoint *c, const char *name) {
  return section_of(c, name) != NULL;
}

const char *tl_checkpoint_name(const TlCheckpoint *c, int i) {
  return (size_t)i + 1 < c->count ? c->section[i].head.name : NULL; /* without "end" */
}

TlStatus tl_checkpoint_find(const TlCheckpoint *c, const char *name, const char *layout,
                            size_t record_bytes, int64_t *records) {
  const Section *s = section_of(c, name);
  if (!s)
    return tl_fail(
        TL_EINPUT,
        "%s: has no section '%s', which this program needs; resume with the program that "
        "wrote it",
        c->path, name);
  if (strcmp(s->head.layout, layout) != 0 || s->head.record_bytes != record_bytes)
    return tl_fail(TL_EINPUT,
                   "%s: section '%s' is laid out as '%s', and this program knows '%s'; resume with "
                   "the program that wrote it",
                   c->path, name, s->head.layout, layout);
  *records = s->head.records;
  return TL_OK;
}

TlStatus tl_checkpoint_read(TlCheckpoint *c, const char *name, int64_t first, int64_t count,
                            void *rows) {
  const Section *s = section_of(c, name);
  assert(s && first >= 0 && first + count <= s->head.records);
  return read_at(c, s->start + first * (int64_t)s->head.record_bytes, rows,
                 (size_t)count * s->head.record_bytes);
}

void tl_checkpoint_close(TlCheckpoint *c) {
  if (!c) return;
  if (c->file) fclose(c->file);
  tl_free(c->section);
  tl_free(c->path);
  tl_free(c);
}
