/* Study files: YAML checked against schema tables into plain C structs.
 *
 * A schema is a tree of sections; a section is a map of parameters (conf/param.h) and of further
 * sections, or a list of such maps. Refused, each as "file:line:column: path: what is wrong and
 * what would be right": an unknown key (with the nearest known one), a wrong type, text after a
 * number, a number that is not finite or out of range, a key that comes twice, a key that is
 * missing. A value set by hand (tl_study_set) has no place in the file and is named "--set path".
 * The effective study (tl_study_write) is the same YAML with every default filled in; reading it
 * gives the same bits.
 */
#ifndef TL_CONF_STUDY_H
#define TL_CONF_STUDY_H

#include "conf/param.h"
#include "conf/yaml_tree.h"

typedef struct TlStudyList {
  void *items; /* count structs of the section's size, owned */
  int64_t count;
} TlStudyList;

typedef struct TlStudySection {
  const char *key; /* of this section in its parent */
  size_t offset;   /* in the parent's struct: of the section's struct, or of a TlStudyList */
  size_t size;     /* of the section's struct */
  bool list;
  const char *help; /* one sentence */
  const TlParam *params;
  size_t param_count;
  const struct TlStudySection *sections;
  size_t section_count;
  const char *was; /* the key in the version before, as TlParam has it; or NULL */
} TlStudySection;

typedef struct TlStudy {
  char *path; /* as given, for the messages, owned */
  TlYamlNode root;
} TlStudy;

/* Parse only. study: to be released with tl_study_free, also after a failure. */
TlStatus tl_study_read(TlStudy *study, const char *path);
TlStatus tl_study_parse(TlStudy *study, const char *path, const char *text, size_t size);
void tl_study_free(TlStudy *study);

/* "section.key=value" over what the file says (the value in YAML); without a value the key is taken
 * out, so that its default holds. A key without its section is looked up in the schema (lists left
 * out). TL_EUSAGE. */
TlStatus tl_study_set(TlStudy *study, const TlStudySection *schema, const char *assignment);

/* Defaults, then the study's values, into the struct of the schema's root (zeroed by the caller);
 * release with tl_study_values_free, also after a failure. Keys with a
 * former name are given today's, with a warning each; a key that comes by both is refused. */
TlStatus tl_study_fill(TlStudy *study, const TlStudySection *schema, void *values);
/* A deep copy; *to needs no initial value and is to be released, also after a failure. */
TlStatus tl_study_values_copy(const TlStudySection *schema, const void *from, void *to);
void tl_study_values_free(const TlStudySection *schema, void *values);

/* Where the value of this path ("contact.friction", "pairs.2.friction") lies in the struct, and its
 * row; NULL: the schema has no such key, or the list no such entry. */
void *tl_study_value(const TlStudySection *schema, void *values, const char *path,
                     const TlParam **param);

/* The effective study as YAML text, fresh memory. */
TlStatus tl_study_write(const TlStudySection *schema, const void *values, char **text);

/* tl_fail with the place of a key in front, e.g. "avalanche.yaml:12:3: grains.sample: ...".
 * path: "section.key", "planes.2.normal" (counted from 0). A key the file does not name is placed
 * at the nearest section that it does. */
TlStatus tl_study_fail(const TlStudy *study, TlStatus code, const char *path, const char *format,
                       ...) __attribute__((format(printf, 4, 5)));

/* Does the file, or a value set by hand, say this key? Then its place, "avalanche.yaml:12:3" or
 * "--set". */
bool tl_study_says(const TlStudy *study, const char *path, char *place, size_t size);

/* The schema as a Markdown table (docs/reference/study.md), fresh memory. */
TlStatus tl_study_table(const TlStudySection *schema, char **markdown);

#endif
