/* The provenance of a product: one record for each run of a tool, as JSON text.
 *
 * A record is an object {tool, version, commit, build, argv[], host, start, end, threads, ranks,
 * seed, peak_memory_bytes, inputs[{path, size_bytes, sha256}], parameters{}}; a history is a JSON
 * array of records, oldest first. Stacks and results carry their history as text; the catalog
 * (store/catalog.h) parses it into tables. Times are UTC, ISO 8601.
 */
#ifndef TL_BASE_PROVENANCE_H
#define TL_BASE_PROVENANCE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TlProvenance {
  const char *tool; /* borrowed */
  int argc;         /* borrowed argv */
  char **argv;
  char start[32];
  int threads, ranks;
  uint64_t seed;
  bool plan;        /* nothing will be made: files are not read for their digests */
  char *inputs;     /* JSON members so far, owned */
  char *parameters; /* JSON members so far, owned */
} TlProvenance;

void tl_provenance_begin(TlProvenance *p, const char *tool, int argc, char **argv);
/* Digest and size of an input file are taken now (no digest with plan, for a file may be large). A
 * folder of slices: one entry a file. */
TlStatus tl_provenance_input(TlProvenance *p, const char *path);
TlStatus tl_provenance_parameter(TlProvenance *p, const char *name, const char *value);
/* history (may be NULL or "") + this run -> new history in fresh memory. End time is now. */
TlStatus tl_provenance_append(const TlProvenance *p, const char *history, char **out);
/* Two histories as one, a first (either may be NULL or empty): for products of two inputs. The
 * catalog keeps a record that stands in both only once. */
TlStatus tl_provenance_join(const char *a, const char *b, char **out);
/* The values of a parameter in all records of a history, oldest first, joined by ", ", in fresh
 * memory; *count of them. Values are given as they stand in the JSON text. */
TlStatus tl_provenance_values(const char *history, const char *parameter, char **joined,
                              int64_t *count);
/* This run alone as one JSON object, fresh memory. */
TlStatus tl_provenance_record(const TlProvenance *p, char **json);
void tl_provenance_free(TlProvenance *p);

const char *tl_version(void); /* "0.1.0" */
const char *tl_commit(void);  /* git commit at build time, "-dirty" when it was */
const char *tl_build(void);   /* compiler and flags */

#endif
