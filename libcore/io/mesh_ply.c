/* PLY: a header that says which elements with which properties follow, as text or binary of either
 * byte order. Of it, x, y, z of `vertex` and the list vertex_indices (or vertex_index) of `face`;
 * everything else is stepped over. */
#include "io/mesh_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 16, PROPERTIES = 64 };

typedef struct Property {
  int type, count_type; /* count_type < 0: not a list */
  int use;              /* 0, 1, 2: x, y, z; 3: the vertices of a face; -1: none */
} Property;
typedef struct Element {
  char name[32];
  int64_t count;
  Property property[PROPERTIES];
  int properties;
} Element;
typedef struct Ply {
  const char *at, *end;
  int format; /* text, little, big */
  Element element[ELEMENTS];
  int elements;
  TlTriangles *mesh;
} Ply;
enum { TEXT, LITTLE, BIG };
enum { I8, U8, I16, U16, I32, U32, F32, F64 };

static const struct {
  const char *name, *other;
  size_t size;
} types[] = {{"char", "int8", 1},     {"uchar", "uint8", 1},   {"short", "int16", 2},
             {"ushort", "uint16", 2}, {"int", "int32", 4},     {"uint", "uint32", 4},
             {"float", "float32", 4}, {"double", "float64", 8}};

/* ---- header ---- */

static int type_of(const char *name) {
  for (int i = 0; i < (int)(sizeof types / sizeof *types); i++)
    if (strcmp(name, types[i].name) == 0 || strcmp(name, types[i].other) == 0) return i;
  return -1;
}

static int use_of(const Element *e, const char *name, bool list) {
  if (strcmp(e->name, "vertex") == 0 && !list && name[0] >= 'x' && name[0] <= 'z' && !name[1])
    return name[0] - 'x';
  bool indices = strcmp(name, "vertex_indices") == 0 || strcmp(name, "vertex_index") == 0;
  return strcmp(e->name, "face") == 0 && list && indices ? 3 : -1;
}

static TlStatus add_property(Ply *ply, char words[5][32], int n) {
  bool list = n == 5 && strcmp(words[1], "list") == 0;
  if (ply->elements == 0 || (!list && n != 3)) return tl_fail(TL_EINPUT, "a wrong property line");
  Element *e = &ply->element[ply->elements - 1];
  if (e->properties == PROPERTIES) return tl_fail(TL_EINPUT, "too many properties");
  Property p = {.type = type_of(words[list ? 3 : 1]), .count_type = list ? type_of(words[2]) : -1};
  if (p.type < 0 || (list && (p.count_type < 0 || p.count_type > U32)))
    return tl_fail(TL_EINPUT, "property '%s' has no known type", words[n - 1]);
  p.use = use_of(e, words[n - 1], list);
  if (p.use == 3 && p.type > U32)
    return tl_fail(TL_EINPUT, "the vertices of a face are no whole numbers");
  e->property[e->properties++] = p;
  return TL_OK;
}

static TlStatus add_element(Ply *ply, const char *name, const char *count) {
  char *end;
  if (ply->elements == ELEMENTS) return tl_fail(TL_EINPUT, "too many elements");
  Element *e = &ply->element[ply->elements++];
  *e = (Element){.count = strtoll(count, &end, 10)};
  snprintf(e->name, sizeof e->name, "%s", name);
  return *end || e->count < 0 ? tl_fail(TL_EINPUT, "'%s' is no count", count) : TL_OK;
}

static TlStatus set_format(Ply *ply, const char *name) {
  static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
  for (ply->format = 0; ply->format < 3; ply->format++)
    if (strcmp(name, names[ply->format]) == 0) return TL_OK;
  return tl_fail(TL_EINPUT, "format '%s' is not known", name);
}

static TlStatus header_line(Ply *ply, const char *line, bool *done) {
  char words[5][32] = {{0}};
  int n =
      sscanf(line, "%31s %31s %31s %31s %31s", words[0], words[1], words[2], words[3], words[4]);
  *done = strcmp(words[0], "end_header") == 0;
  if (strcmp(words[0], "format") == 0) return set_format(ply, words[1]);
  if (strcmp(words[0], "element") == 0) return add_element(ply, words[1], words[2]);
  if (strcmp(words[0], "property") == 0) return add_property(ply, words, n);
  return TL_OK;
}

static TlStatus read_header(Ply *ply) {
  bool done = false;
  ply->format = -1;
  for (int64_t number = 1; !done; number++) {
    const char *newline = memchr(ply->at, '\n', (size_t)(ply->end - ply->at));
    char line[256];
    if (!newline) return tl_fail(TL_EINPUT, "the header has no end; the file is cut short");
    int length = (int)(newline - ply->at < 255 ? newline - ply->at : 255);
    snprintf(line, sizeof line, "%.*s", length, ply->at);
    ply->at = newline + 1;
    TL_TRY(tl_context(header_line(ply, line, &done), "line %lld", (long long)number));
  }
  return ply->format >= 0 ? TL_OK : tl_fail(TL_EINPUT, "the header does not say its format");
}

/* ---- body ---- */

static TlStatus cut_short(const Element *e, int64_t i) {
  return tl_fail(TL_EINPUT, "%s %lld of %lld: the file is cut short", e->name, (long long)i + 1,
                 (long long)e->count);
}

static double decode(const char *from, int type) {
  int8_t i8;
  uint8_t u8;
  int16_t i16;
  uint16_t u16;
  int32_t i32;
  uint32_t u32;
  float f32;
  double f64;
  switch (type) {
  case I8:
    return memcpy(&i8, from, 1), i8;
  case U8:
    return memcpy(&u8, from, 1), u8;
  case I16:
    return memcpy(&i16, from, 2), i16;
  case U16:
    return memcpy(&u16, from, 2), u16;
  case I32:
    return memcpy(&i32, from, 4), i32;
  case U32:
    return memcpy(&u32, from, 4), u32;
  case F32:
    return memcpy(&f32, from, 4), (double)f32;
  default:
    return memcpy(&f64, from, 8), f64;
  }
}

static bool read_text_value(Ply *ply, double *value) {
  char *end;
  *value = strtod(ply->at, &end);
  if (end == ply->at || end > ply->end) return false;
  ply->at = end;
  return true;
}

/* The machine is little-endian. */
static bool read_value(Ply *ply, int type, double *value) {
  char bytes[8];
  size_t size = types[type].size;
  if (ply->format == TEXT) return read_text_value(ply, value);
  if ((size_t)(ply->end - ply->at) < size) return false;
  for (size_t k = 0; k < size; k++) bytes[ply->format == BIG ? size - 1 - k : k] = ply->at[k];
  ply->at += size;
  *value = decode(bytes, type);
  return true;
}

static TlStatus read_list(Ply *ply, const Element *e, int64_t i, const Property *p) {
  double count, value;
  int64_t first = 0, last = 0;
  if (!read_value(ply, p->count_type, &count)) return cut_short(e, i);
  if (!(count >= 0 && count <= (double)(ply->end - ply->at)))
    return tl_fail(TL_EINPUT, "%s %lld tells of a list of %g values; the file is damaged", e->name,
                   (long long)i + 1, count);
  if (p->use == 3 && count < 3)
    return tl_fail(TL_EINPUT, "face %lld has %g corners", (long long)i + 1, count);
  for (int64_t k = 0; k < (int64_t)count; k++) {
    if (!read_value(ply, p->type, &value)) return cut_short(e, i);
    if (p->use != 3) continue;
    if (!(value >= 0 && value <= UINT32_MAX))
      return tl_fail(TL_EINPUT, "face %lld names vertex %g", (long long)i + 1, value);
    int64_t v = (int64_t)value;
    if (k == 0) first = v;
    if (k >= 2) TL_TRY(tl_triangles_add(ply->mesh, first, last, v));
    last = v;
  }
  return TL_OK;
}

static TlStatus read_item(Ply *ply, const Element *e, int64_t i) {
  double x[3] = {0}, value;
  for (int k = 0; k < e->properties; k++) {
    const Property *p = &e->property[k];
    if (p->count_type >= 0) {
      TL_TRY(read_list(ply, e, i, p));
      continue;
    }
    if (!read_value(ply, p->type, &value)) return cut_short(e, i);
    if (p->use >= 0) x[p->use] = value;
  }
  if (strcmp(e->name, "vertex") != 0) return TL_OK;
  return tl_triangles_add_vertex(ply->mesh, tl_vec3(x[0], x[1], x[2]));
}

static TlStatus check_uses(const Ply *ply) {
  int seen = 0;
  for (int i = 0; i < ply->elements; i++)
    for (int k = 0; k < ply->element[i].properties; k++)
      if (ply->element[i].property[k].use >= 0) seen |= 1 << ply->element[i].property[k].use;
  if (seen == 15) return TL_OK;
  return tl_fail(TL_EINPUT, "%s",
                 seen & 8 ? "its vertices have no x, y, z"
                          : "it has no faces (element face, vertex_indices)");
}

TlStatus tl_mesh_read_ply(const char *bytes, size_t size, TlTriangles *mesh) {
  Ply ply = {.at = bytes, .end = bytes + size, .mesh = mesh};
  TL_TRY(read_header(&ply));
  TL_TRY(check_uses(&ply));
  for (int i = 0; i < ply.elements; i++) {
    const Element *e = &ply.element[i];
    if (e->properties == 0) continue; /* takes no bytes, however many there are */
    if (e->count > ply.end - ply.at)
      return tl_fail(TL_EINPUT, "%lld of element %s cannot be in %lld bytes; the file is cut short",
                     (long long)e->count, e->name, (long long)(ply.end - ply.at));
    for (int64_t k = 0; k < e->count; k++) TL_TRY(read_item(&ply, e, k));
  }
  return TL_OK;
}
