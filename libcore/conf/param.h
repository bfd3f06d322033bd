/* One table for every parameter: key, type, unit, default, range, help. Command lines (cli.h) and
 * study files (study.h) read their values through the same tables into plain C structs.
 */
#ifndef TL_CONF_PARAM_H
#define TL_CONF_PARAM_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum TlParamType {
  TL_P_FLAG,   /* bool; on a command line --key / --no-key */
  TL_P_INT,    /* int64_t */
  TL_P_REAL,   /* double, finite */
  TL_P_TEXT,   /* char *, owned by the struct (tl_params_free) */
  TL_P_CHOICE, /* int: index into choices "a|b|c" */
  TL_P_VEC3,   /* double[3]: "x,y,z" on a command line, [x, y, z] in a study */
  TL_P_INTS,   /* TlInts, owned: "1,2,3" on a command line, [1, 2, 3] in a study */
  TL_P_TEXTS,  /* TlTexts, owned: an option that may be given again and again, [a, b] in a study */
  TL_P_HEADING /* no value: a line of its own in the help */
} TlParamType;

/* What a tool does with the file that a TL_P_TEXT option names. The command line claims these files
 * (base/claims.h), so that no input is replaced and no two outputs are one. */
typedef enum TlParamRole {
  TL_ROLE_NONE = 0, /* the text is no output */
  TL_ROLE_REPLACES, /* writes it as a whole; one that exists needs --overwrite */
  TL_ROLE_CHANGES   /* adds to it: a catalog */
} TlParamRole;

typedef struct TlInts {
  int64_t *items;
  int64_t count;
} TlInts;
typedef struct TlTexts {
  char **items;
  int64_t count;
} TlTexts;

typedef struct TlParam {
  const char *key; /* "voxel-size-um" on command lines, "dt_s" in studies */
  TlParamType type;
  size_t offset;    /* of the value in the struct */
  const char *unit; /* "" when none */
  const char *def;  /* default as text; NULL: required in a study; "" text/none otherwise */
  double min, max;  /* inclusive range for INT, REAL, VEC3 elements; both 0: any finite value */
  const char *choices;
  const char *help; /* one sentence, no full stop needed */
  const char *arg;  /* name of the value in the help, e.g. "FILE"; NULL: by type */
  TlParamRole role;
  const char *zero; /* of TL_P_INT: the word for 0, such as "auto", also when written; or NULL */
  bool old_form; /* of TL_P_REAL: another key has taken its place. The effective study says it only
                    where it is not the default, so that whether a study says it can be asked. */
  const char *was; /* the key's name in the version before, which studies may still use; or NULL */
} TlParam;

/* The parameters of one struct. Declared where the struct is declared, so that a tool and another
 * program take the same rows and defaults: tl_params_defaults(table->rows, table->count, &values).
 */
typedef struct TlParamTable {
  const TlParam *rows;
  size_t count, size; /* number of rows; sizeof the struct */
} TlParamTable;
#define TL_PARAM_TABLE(rows, Type)                                                                 \
  { rows, sizeof(rows) / sizeof *(rows), sizeof(Type) }

/* Parse text into the value of the parameter inside base. The message says what was wrong and what
 * would be right; the caller puts the place in front. */
TlStatus tl_param_parse(const TlParam *param, void *base, const char *text);
/* Set all defaults (those with def != NULL). */
TlStatus tl_params_defaults(const TlParam *params, size_t count, void *base);
/* Release TL_P_TEXT, TL_P_INTS and TL_P_TEXTS values. */
void tl_params_free(const TlParam *params, size_t count, void *base);
/* The value as text (what the effective study and the provenance say), fresh memory. Numbers in
 * the fewest digits that read back to the same bits. */
char *tl_param_format(const TlParam *param, const void *base);
/* The key nearest to text by edit distance, or NULL when none is close (> a third of its length).
 */
const char *tl_param_nearest(const TlParam *params, size_t count, const char *text);
const char *tl_param_choice_name(const TlParam *param, int index, char *buffer, size_t size);

/* What stands for the value in a help text, "FILE" or "a|b"; NULL: of a flag. */
const char *tl_param_value_name(const TlParam *param);

/* Strict number parsing: the whole text must be one finite number. */
TlStatus tl_parse_real(const char *text, double *value);
TlStatus tl_parse_int(const char *text, int64_t *value);

#endif
