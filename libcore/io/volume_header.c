#include "io/volume_header.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum {
  MOST_HEADER = 1 << 20, /* bytes; a header with long comments has some 10 kB */
  MOST_AXES = 16,
  MOST_KEYS = 16,
  MOST_EXPANSION = 2000 /* deflate gives at most 1,032 bytes for one */
};

void tl_volume_header_free(TlVolumeHeader *h) {
  tl_stack_info_free(&h->info);
  tl_free(h->data);
  tl_stack_files_free(&h->files);
  *h = (TlVolumeHeader){0};
}

/* What the keys say. Zero is what they say when they are not there. */
typedef struct Reader {
  const char *path;
  TlVolumeHeader *header;
  char *text, *at;     /* the file's first bytes, owned, ended; the next line */
  size_t size;         /* of text */
  int64_t line, bytes; /* number of the line at hand; size of the file */
  int axes, sizes, spacings, units;
  int64_t size_of[MOST_AXES];
  double spacing[MOST_AXES], unit_m[MOST_AXES];
  double direction[MOST_AXES][3], space_unit_m[3]; /* NRRD: axes as vectors of a space */
  int directions, space_units;
  bool typed, element_spacing, big, ordered, packed, skips_lines;
  int64_t skip;         /* bytes before the voxels; -1: the voxels end the file */
  bool seen[MOST_KEYS]; /* by place in the format's table */
  char *data;           /* name of the data file; NULL: behind the header. In text */
} Reader;

static TlStatus wrong(const Reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static TlStatus wrong(const Reader *r, const char *format, ...) {
  char what[512];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return tl_fail(TL_EINPUT, "%s: line %lld: %s", r->path, (long long)r->line, what);
}

/* ---- lines and words ---- */

/* The next line, ended, without its line break; NULL at the end. */
static char *next_line(Reader *r) {
  char *line = r->at;
  if (!*line) return NULL;
  char *end = line + strcspn(line, "\n");
  r->at = *end ? end + 1 : end;
  *end = 0;
  if (end > line && end[-1] == '\r') end[-1] = 0;
  r->line++;
  return line;
}

static bool next_real(char **at, double *value) {
  char *end;
  *value = strtod(*at, &end);
  bool read =
      end != *at && (*end == 0 || isspace((unsigned char)*end) || *end == ',' || *end == ')');
  *at = end;
  return read;
}

/* Numbers that fill the value: how many, or -1. */
static int reals(char *at, double *value, int most) {
  int n = 0;
  for (at = tl_text_trim(at); *at; at += strspn(at, " \t"))
    if (n == most || !next_real(&at, &value[n++]) || *at == ',' || *at == ')') return -1;
  return n;
}

static int counts(char *at, int64_t *value, int most) {
  int n = 0;
  for (at = tl_text_trim(at); *at; at += strspn(at, " \t")) {
    char *end;
    if (n == most) return -1;
    value[n++] = strtoll(at, &end, 10);
    if (end == at || (*end && !isspace((unsigned char)*end))) return -1;
    at = end;
  }
  return n;
}

/* Which of the scanner's axes each of ours is nearest to. */
static void place_axes(TlVolumeHeader *h, double direction[][3]) {
  for (int k = 0; k < 3; k++) {
    const double *d = direction[k];
    int j = fabs(d[1]) > fabs(d[0]) ? 1 : 0;
    if (fabs(d[2]) > fabs(d[j])) j = 2;
    h->axis[k] = d[j] > 0 ? j + 1 : d[j] < 0 ? -j - 1 : 0;
  }
}

static TlStatus take_axes(Reader *r, char *value) {
  int64_t axes;
  if (counts(value, &axes, 1) != 1 || axes < 1 || axes > MOST_AXES)
    return wrong(r, "'%s' is no number of axes from 1 to %d", value, MOST_AXES);
  r->axes = (int)axes;
  return TL_OK;
}

static TlStatus take_sizes(Reader *r, char *value) {
  r->sizes = counts(value, r->size_of, MOST_AXES);
  for (int k = 0; k < r->sizes; k++)
    if (r->size_of[k] < 1) r->sizes = -1;
  return r->sizes > 0 ? TL_OK : wrong(r, "'%s' are no sizes of at least 1", value);
}

static TlStatus check_spacing(const Reader *r, const double *spacing, int n) {
  for (int k = 0; k < n; k++)
    if (!isfinite(spacing[k]) || !(spacing[k] > 0))
      return wrong(r, "a spacing of %g; it must be a number above 0", spacing[k]);
  return TL_OK;
}

static TlStatus take_skip(Reader *r, char *value) {
  if (counts(value, &r->skip, 1) == 1 && r->skip >= -1) return TL_OK;
  return wrong(r, "'%s' is no number of bytes to step over (-1: the voxels end the file)", value);
}

static TlStatus take_data(Reader *r, char *value) {
  r->data = value;
  return *value ? TL_OK : wrong(r, "the data file has no name");
}

typedef struct Name {
  const char *name;
  TlVoxelType type;
} Name;

static bool find_type(const Name *names, const char *name, TlVoxelType *type) {
  for (; names->name; names++)
    if (strcmp(names->name, name) == 0) return *type = names->type, true;
  return false;
}

static TlStatus unread_type(const Reader *r, const char *name) {
  return wrong(r, "voxels of type '%s'; store it as 8-, 16- or 32-bit integers or as float", name);
}

/* A key of a format and what takes its value. */
typedef struct Key {
  const char *name;
  TlStatus (*take)(Reader *r, char *value);
} Key;

static TlStatus take_key(Reader *r, const Key *keys, const char *name, char *value) {
  for (int k = 0; keys[k].name; k++) {
    if (strcmp(keys[k].name, name) != 0) continue;
    if (r->seen[k]) return wrong(r, "'%s' comes twice; keep one of them", name);
    r->seen[k] = true;
    return keys[k].take(r, value);
  }
  return TL_OK;
}

/* ---- MetaImage ---- */

static TlStatus is_image(Reader *r, char *value) {
  return strcmp(value, "Image") == 0 ? TL_OK : wrong(r, "is a %s, not an Image", value);
}

static TlStatus truth(const Reader *r, const char *value, bool *is) {
  *is = value[0] == 'T' || value[0] == 't' || value[0] == '1'; /* as MetaIO takes it */
  if (*is || value[0] == 'F' || value[0] == 'f' || value[0] == '0') return TL_OK;
  return wrong(r, "'%s' is neither True nor False", value);
}

static TlStatus take_binary(Reader *r, char *value) {
  bool binary;
  TL_TRY(truth(r, value, &binary));
  r->packed |= !binary;
  return TL_OK;
}

static TlStatus take_compressed(Reader *r, char *value) {
  bool compressed;
  TL_TRY(truth(r, value, &compressed));
  r->packed |= compressed;
  return TL_OK;
}

static TlStatus take_order(Reader *r, char *value) {
  return truth(r, value, &r->big);
}

static TlStatus take_spacings(Reader *r, char *value) {
  r->element_spacing = true;
  r->spacings = reals(value, r->spacing, MOST_AXES);
  if (r->spacings < 1) return wrong(r, "'%s' are no spacings", value);
  return check_spacing(r, r->spacing, r->spacings);
}

/* Stands for the spacing where that is missing. */
static TlStatus take_element_size(Reader *r, char *value) {
  double size[MOST_AXES];
  int n = reals(value, size, MOST_AXES);
  if (n < 1) return wrong(r, "'%s' are no sizes of an element", value);
  TL_TRY(check_spacing(r, size, n));
  if (r->element_spacing) return TL_OK;
  memcpy(r->spacing, size, sizeof size);
  r->spacings = n;
  return TL_OK;
}

static TlStatus take_distance_unit(Reader *r, char *value) {
  double unit = tl_stack_unit_m(value, strlen(value)); /* "?" is none */
  for (int k = 0; k < MOST_AXES; k++) r->unit_m[k] = unit;
  r->units = MOST_AXES;
  return TL_OK;
}

static TlStatus take_channels(Reader *r, char *value) {
  int64_t n;
  if (counts(value, &n, 1) == 1 && n == 1) return TL_OK;
  return wrong(r, "'%s' values a voxel; a grey or label volume has one", value);
}

/* Rows are the directions of the axes. Another count of numbers is not used. */
static TlStatus take_matrix(Reader *r, char *value) {
  double m[3][3];
  if (reals(value, m[0], 9) == 9) place_axes(r->header, m);
  return TL_OK;
}

static TlStatus take_meta_type(Reader *r, char *value) {
  static const Name names[] = {
      {"MET_UCHAR", TL_U8},  {"MET_CHAR", TL_I8},    {"MET_USHORT", TL_U16},
      {"MET_SHORT", TL_I16}, {"MET_UINT", TL_U32},   {"MET_INT", TL_I32},
      {"MET_FLOAT", TL_F32}, {"MET_DOUBLE", TL_F32}, {NULL, TL_U8}};
  r->typed = find_type(names, value, &r->header->info.type);
  if (r->typed && strcmp(value, "MET_DOUBLE") == 0) r->header->info.bits = 64;
  return r->typed ? TL_OK : unread_type(r, value);
}

/* The last key: what follows it are the voxels (LOCAL), or nothing. */
static TlStatus take_meta_data(Reader *r, char *value) {
  TL_TRY(take_data(r, value));
  if (strcasecmp(value, "LOCAL") == 0) r->data = NULL;
  if (strncmp(value, "LIST", 4) == 0 || strchr(value, '%')) r->packed = true;
  return TL_OK;
}

static TlStatus read_meta(Reader *r) {
  static const Key keys[] = {{"ObjectType", is_image},
                             {"NDims", take_axes},
                             {"DimSize", take_sizes},
                             {"BinaryData", take_binary},
                             {"CompressedData", take_compressed},
                             {"BinaryDataByteOrderMSB", take_order},
                             {"ElementByteOrderMSB", take_order},
                             {"ElementSpacing", take_spacings},
                             {"TransformMatrix", take_matrix},
                             {"ElementSize", take_element_size},
                             {"DistanceUnits", take_distance_unit},
                             {"ElementNumberOfChannels", take_channels},
                             {"ElementType", take_meta_type},
                             {"HeaderSize", take_skip},
                             {"ElementDataFile", take_meta_data},
                             {NULL, NULL}};
  _Static_assert(sizeof keys / sizeof *keys <= MOST_KEYS, "a key has its place in seen");
  bool any = false;
  for (char *line; (line = next_line(r));) {
    char *mark = line + strcspn(line, "=:");
    if (!*tl_text_trim(line)) continue;
    if (!*mark)
      return any ? wrong(r, "'Key = value' is wanted")
                 : tl_fail(TL_EINPUT, "%s: not a readable MetaImage header", r->path);
    any = true;
    *mark = 0;
    const char *name = tl_text_trim(line);
    TL_TRY(take_key(r, keys, name, tl_text_trim(mark + 1)));
    if (strcmp(name, "ElementDataFile") != 0) continue;
    r->ordered = true; /* little-endian where it is not said */
    return TL_OK;
  }
  return tl_fail(TL_EINPUT, "%s: the header has no ElementDataFile; it is cut short", r->path);
}

/* ---- NRRD ---- */

static TlStatus take_nrrd_type(Reader *r, char *value) {
  static const Name names[] = {{"signed char", TL_I8},
                               {"int8", TL_I8},
                               {"int8_t", TL_I8},
                               {"uchar", TL_U8},
                               {"unsigned char", TL_U8},
                               {"uint8", TL_U8},
                               {"uint8_t", TL_U8},
                               {"short", TL_I16},
                               {"short int", TL_I16},
                               {"signed short", TL_I16},
                               {"signed short int", TL_I16},
                               {"int16", TL_I16},
                               {"int16_t", TL_I16},
                               {"ushort", TL_U16},
                               {"unsigned short", TL_U16},
                               {"unsigned short int", TL_U16},
                               {"uint16", TL_U16},
                               {"uint16_t", TL_U16},
                               {"int", TL_I32},
                               {"signed int", TL_I32},
                               {"int32", TL_I32},
                               {"int32_t", TL_I32},
                               {"uint", TL_U32},
                               {"unsigned int", TL_U32},
                               {"uint32", TL_U32},
                               {"uint32_t", TL_U32},
                               {"float", TL_F32},
                               {"double", TL_F32},
                               {NULL, TL_U8}};
  r->typed = find_type(names, value, &r->header->info.type);
  if (r->typed && strcmp(value, "double") == 0) r->header->info.bits = 64;
  return r->typed ? TL_OK : unread_type(r, value);
}

static TlStatus take_endian(Reader *r, char *value) {
  r->ordered = true;
  r->big = strcasecmp(value, "big") == 0;
  return r->big || strcasecmp(value, "little") == 0
             ? TL_OK
             : wrong(r, "'%s' is neither little nor big", value);
}

static TlStatus take_encoding(Reader *r, char *value) {
  r->packed |= strcasecmp(value, "raw") != 0;
  return TL_OK;
}

/* NaN stands for "not said". */
static TlStatus take_nrrd_spacings(Reader *r, char *value) {
  r->spacings = reals(value, r->spacing, MOST_AXES);
  if (r->spacings < 1) return wrong(r, "'%s' are no spacings", value);
  for (int k = 0; k < r->spacings; k++) {
    if (isnan(r->spacing[k]))
      r->spacing[k] = 0;
    else
      TL_TRY(check_spacing(r, &r->spacing[k], 1));
  }
  return TL_OK;
}

/* Words in quotation marks; what is no length gives 0. */
static int units(char *at, double *unit_m, int most) {
  int n = 0;
  for (at = tl_text_trim(at); *at; at += strspn(at, " \t")) {
    char *end = *at == '"' ? strchr(at + 1, '"') : NULL;
    if (!end || n == most) return -1;
    unit_m[n++] = tl_stack_unit_m(at + 1, (size_t)(end - at - 1));
    at = end + 1;
  }
  return n;
}

static TlStatus take_units(Reader *r, char *value) {
  r->units = units(value, r->unit_m, MOST_AXES);
  return r->units > 0 ? TL_OK : wrong(r, "a unit for each axis is wanted, in quotation marks");
}

static TlStatus take_space_units(Reader *r, char *value) {
  r->space_units = units(value, r->space_unit_m, 3);
  return r->space_units > 0 ? TL_OK
                            : wrong(r, "a unit for each of three axes of space is wanted, in "
                                       "quotation marks");
}

/* "(1,0,0) (0,1,0) (0,0,2)", or "none" for an axis that is not in space. */
static TlStatus take_directions(Reader *r, char *value) {
  char *at = tl_text_trim(value);
  for (; *at && r->directions < MOST_AXES; r->directions++, at += strspn(at, " \t")) {
    double *d = r->direction[r->directions];
    if (strncmp(at, "none", 4) == 0) {
      at += 4;
      continue;
    }
    if (*at++ != '(') break;
    for (int k = 0; k < 3; k++) {
      if (!next_real(&at, &d[k]) || !isfinite(d[k]) || *at != (k < 2 ? ',' : ')'))
        return wrong(r, "three finite numbers are wanted for each direction, (x,y,z)");
      at++;
    }
    double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    TL_TRY(check_spacing(r, &length, 1));
  }
  return *at || r->directions == 0 ? wrong(r, "directions of axes as (x,y,z) are wanted") : TL_OK;
}

static TlStatus take_nrrd_data(Reader *r, char *value) {
  TL_TRY(take_data(r, value));
  if (strncmp(value, "LIST", 4) == 0 || strchr(value, '%')) r->packed = true;
  return TL_OK;
}

static TlStatus take_line_skip(Reader *r, char *value) {
  int64_t lines;
  if (counts(value, &lines, 1) != 1 || lines < 0)
    return wrong(r, "'%s' is no number of lines to step over", value);
  r->skips_lines = lines > 0;
  return TL_OK;
}

/* Field names are written with blanks or without, in any case. */
static void plain_name(char *name) {
  char *to = name;
  for (const char *c = name; *c; c++)
    if (!isspace((unsigned char)*c)) *to++ = (char)tolower((unsigned char)*c);
  *to = 0;
}

static TlStatus read_nrrd(Reader *r) {
  static const Key keys[] = {{"type", take_nrrd_type},
                             {"dimension", take_axes},
                             {"sizes", take_sizes},
                             {"endian", take_endian},
                             {"encoding", take_encoding},
                             {"spacings", take_nrrd_spacings},
                             {"units", take_units},
                             {"spacedirections", take_directions},
                             {"spaceunits", take_space_units},
                             {"datafile", take_nrrd_data},
                             {"lineskip", take_line_skip},
                             {"byteskip", take_skip},
                             {NULL, NULL}};
  _Static_assert(sizeof keys / sizeof *keys <= MOST_KEYS, "a key has its place in seen");
  char *line = next_line(r);
  if (!line || strncmp(line, "NRRD000", 7) != 0)
    return tl_fail(TL_EINPUT, "%s: not a readable NRRD header", r->path);
  while ((line = next_line(r)) && *line) {
    char *mark = strchr(line, ':');
    if (*line == '#' || (mark && mark[1] == '=')) continue;
    if (!mark) return wrong(r, "'field: value' is wanted");
    *mark = 0;
    plain_name(line);
    TL_TRY(take_key(r, keys, line, tl_text_trim(mark + 1)));
    if (r->data && strncmp(r->data, "LIST", 4) == 0) break; /* names of files follow */
  }
  if (!line && !r->data)
    return tl_fail(TL_EINPUT, "%s: the header has no end; the file is cut short", r->path);
  if (!r->ordered && r->typed && tl_voxel_size(r->header->info.type) == 1) r->ordered = true;
  return TL_OK;
}

/* ---- what they say together ---- */

static TlStatus take_shape(Reader *r) {
  TlStackInfo *i = &r->header->info;
  int64_t bytes;
  if (!r->typed) return tl_fail(TL_EINPUT, "%s: the header says no type of voxels", r->path);
  if (r->sizes < 1 || r->sizes != r->axes)
    return tl_fail(TL_EINPUT, "%s: the header has %d sizes for %d axes", r->path, r->sizes,
                   r->axes);
  for (int k = 3; k < r->axes; k++) /* a fourth of one element: writers of single time steps */
    if (r->size_of[k] != 1)
      return tl_fail(TL_EINPUT, "%s: has %d axes; a volume has three", r->path, r->axes);
  if (r->axes < 3)
    return tl_fail(TL_EINPUT, "%s: has %d axes; a volume has three", r->path, r->axes);
  i->nx = r->size_of[0];
  i->ny = r->size_of[1];
  i->nz = r->size_of[2];
  if (i->nx > INT32_MAX || i->ny > INT32_MAX || i->nz > INT32_MAX ||
      __builtin_mul_overflow(i->nx * i->ny, i->nz, &bytes) ||
      __builtin_mul_overflow(bytes, (int64_t)tl_stack_stored_size(i), &bytes))
    return tl_fail(TL_EINPUT, "%s: %lld x %lld x %lld voxels are more than a file can hold",
                   r->path, (long long)i->nx, (long long)i->ny, (long long)i->nz);
  return TL_OK;
}

/* Spacing without a unit is shown; with one it is the voxel size. */
static TlStatus take_spacing(Reader *r, bool nrrd) {
  TlVolumeHeader *h = r->header;
  bool vectors = r->directions >= 3;
  if ((r->spacings > 0 && r->spacings < 3) || (r->directions > 0 && r->directions < 3) ||
      (r->units > 0 && r->units < 3))
    return tl_fail(TL_EINPUT, "%s: the header has spacings or units for fewer than three axes",
                   r->path);
  if (vectors) place_axes(h, r->direction);
  for (int k = 0; k < 3; k++) {
    double spacing2 = 0, metres2 = 0;
    for (int j = 0; j < 3 && vectors; j++) {
      double d = r->direction[k][j], m = r->space_units == 3 ? d * r->space_unit_m[j] : 0;
      spacing2 += d * d;
      metres2 += m * m;
      if (d != 0 && m == 0) metres2 = NAN; /* a part of it has no unit */
    }
    h->spacing[k] = vectors ? sqrt(spacing2) : r->spacing[k];
    h->info.voxel_m[k] =
        vectors && r->space_units == 3 ? sqrt(metres2) : h->spacing[k] * r->unit_m[k];
  }
  const double *m = h->info.voxel_m;
  if (isfinite(m[0] + m[1] + m[2]) && m[0] > 0 && m[1] > 0 && m[2] > 0)
    h->info.voxel_from = !nrrd                            ? "MetaImage's DistanceUnits"
                         : vectors && r->space_units == 3 ? "NRRD's space units"
                                                          : "NRRD's units";
  else
    memset(h->info.voxel_m, 0, sizeof h->info.voxel_m);
  return TL_OK;
}

/* Compressed voxels, text or lists of files: ITK finds them and reads them whole. */
static TlStatus take_packed(const Reader *r, int64_t voxels) {
  const TlStackInfo *i = &r->header->info;
  TL_TRY(tl_stack_check_memory(r->path, i));
  if (r->data || voxels / MOST_EXPANSION <= r->bytes) return TL_OK;
  return tl_fail(TL_EINPUT, "%s: %lld bytes of voxels cannot come from a file of %lld bytes",
                 r->path, (long long)voxels, (long long)r->bytes);
}

static TlStatus take_place(Reader *r) {
  TlVolumeHeader *h = r->header;
  const TlStackInfo *i = &h->info;
  struct stat file;
  int64_t voxels = i->nx * i->ny * i->nz * (int64_t)tl_stack_stored_size(i);
  int64_t header = r->data ? 0 : r->at - r->text, skip = r->skip > 0 ? r->skip : 0;
  h->big_endian = r->big;
  h->plain = !r->packed && !r->skips_lines;
  if (!h->plain) return take_packed(r, voxels);
  if (!r->ordered)
    return tl_fail(TL_EINPUT, "%s: the header does not say its byte order (endian)", r->path);
  if (r->data && r->data[0] != '/') {
    char *folder = tl_path_directory(r->path);
    h->data = folder ? tl_path_join(folder, r->data) : NULL;
    tl_free(folder);
  } else {
    h->data = tl_strdup(r->data ? r->data : r->path);
  }
  if (!h->data) return TL_ENOMEM;
  if (stat(h->data, &file) != 0)
    return tl_fail(TL_EINPUT, "%s: cannot open its data file %s: %s", r->path, h->data,
                   strerror(errno));
  if (!S_ISREG(file.st_mode))
    return tl_fail(TL_EINPUT, "%s: its data file %s is no file", r->path, h->data);
  int64_t rest = (int64_t)file.st_size - header;
  if (skip > rest || voxels > rest - skip)
    return tl_fail(TL_EINPUT,
                   "%s: %s holds %lld bytes of voxels, and the header needs %lld%s; it is cut "
                   "short, or the header says wrong sizes",
                   r->path, h->data, (long long)rest, (long long)voxels,
                   skip ? " behind those that are stepped over" : "");
  h->offset = r->skip < 0 ? (int64_t)file.st_size - voxels : header + skip;
  return TL_OK;
}

/* The rest of the header are the names, where they are a list. */
static TlStatus take_files(Reader *r) {
  if (!r->data) return TL_OK;
  if (strncmp(r->data, "LIST", 4) == 0 && r->size == MOST_HEADER)
    return tl_fail(TL_EINPUT, "%s: its list of files is longer than %d bytes", r->path,
                   MOST_HEADER);
  return tl_header_files_find(r->path, r->data, r->at, &r->header->files);
}

static TlStatus read_start(Reader *r) {
  TL_TRY(tl_file_size(r->path, &r->bytes));
  FILE *file = fopen(r->path, "rb");
  if (!file) return tl_fail_errno(r->path, "cannot open");
  TlStatus status = TL_NEW(r->text, MOST_HEADER + 1);
  if (status == TL_OK) {
    r->size = fread(r->text, 1, MOST_HEADER, file);
    if (ferror(file)) status = tl_fail_errno(r->path, "cannot read");
  }
  fclose(file);
  r->at = r->text;
  return status;
}

TlStatus tl_volume_header_read(const char *path, TlVolumeHeader *header) {
  Reader r = {.path = path, .header = header};
  char extension[16];
  *header = (TlVolumeHeader){0};
  tl_path_extension(path, extension);
  bool nrrd = strcmp(extension, "nrrd") == 0 || strcmp(extension, "nhdr") == 0;
  TlStatus status = read_start(&r);
  if (status == TL_OK) status = nrrd ? read_nrrd(&r) : read_meta(&r);
  if (status == TL_OK) status = take_shape(&r);
  if (status == TL_OK) status = take_spacing(&r, nrrd);
  if (status == TL_OK) status = take_files(&r);
  if (status == TL_OK) status = take_place(&r);
  tl_free(r.text);
  return status;
}
