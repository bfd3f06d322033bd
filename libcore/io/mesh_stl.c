/* STL: each facet brings its own three corners; normals are not read (they follow from the corners,
 * and many writers leave them 0). */
#include "io/mesh_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { HEAD = 84, RECORD = 50 };

static TlStatus add_facet(TlTriangles *mesh, const TlVec3 p[3]) {
  for (int k = 0; k < 3; k++)
    TL_TRY(tl_context(tl_triangles_add_vertex(mesh, p[k]), "facet %lld",
                      (long long)mesh->triangles + 1));
  int64_t n = mesh->vertices;
  return tl_triangles_add(mesh, n - 3, n - 2, n - 1);
}

/* Little-endian on disk, as the machines we build for. */
static TlStatus read_binary(const char *bytes, uint32_t count, TlTriangles *mesh) {
  for (uint32_t i = 0; i < count; i++) {
    float x[12];
    TlVec3 p[3];
    memcpy(x, bytes + HEAD + (size_t)RECORD * i, sizeof x);
    for (int k = 0; k < 3; k++) p[k] = tl_vec3(x[3 + 3 * k], x[4 + 3 * k], x[5 + 3 * k]);
    TL_TRY(add_facet(mesh, p));
  }
  return TL_OK;
}

typedef struct Words {
  const char *at;
  int64_t line;
} Words;

static bool next_word(Words *w, char word[64]) {
  size_t n = 0;
  for (; isspace((unsigned char)*w->at); w->at++) w->line += *w->at == '\n';
  for (; *w->at && !isspace((unsigned char)*w->at); w->at++)
    if (n < 63) word[n++] = *w->at;
  word[n] = 0;
  return n > 0;
}

static TlStatus bad_line(const Words *w, const char *wanted, const char *got) {
  return tl_fail(TL_EINPUT, "line %lld: '%s' where %s is wanted", (long long)w->line, got, wanted);
}

static TlStatus read_vertex(Words *w, TlVec3 *p) {
  char word[64], *end;
  double x[3];
  for (int k = 0; k < 3; k++) {
    if (!next_word(w, word)) return bad_line(w, "a number", "the end of the file");
    x[k] = strtod(word, &end);
    if (*end) return bad_line(w, "a number", word);
  }
  *p = tl_vec3(x[0], x[1], x[2]);
  return TL_OK;
}

static TlStatus read_text(const char *bytes, TlTriangles *mesh) {
  Words w = {bytes, 1};
  char word[64];
  TlVec3 p[3];
  int corners = 0;
  bool ended = false;
  while (next_word(&w, word)) {
    ended = strcasecmp(word, "endsolid") == 0;
    if (strcasecmp(word, "endloop") == 0) {
      if (corners != 3) return bad_line(&w, "a facet of three vertices", word);
      corners = 0;
      TL_TRY(add_facet(mesh, p));
    }
    if (strcasecmp(word, "vertex") != 0) continue;
    if (corners == 3) return bad_line(&w, "the end of a facet of three vertices", word);
    TL_TRY(read_vertex(&w, &p[corners++]));
  }
  /* a name may follow the last word */
  if (corners != 0 || (!ended && !strstr(bytes, "endsolid") && !strstr(bytes, "ENDSOLID")))
    return tl_fail(TL_EINPUT, "the text ends before 'endsolid'; the file is cut short");
  return TL_OK;
}

TlStatus tl_mesh_read_stl(const char *bytes, size_t size, TlTriangles *mesh) {
  uint32_t count = 0;
  if (size >= HEAD) memcpy(&count, bytes + 80, sizeof count);
  if (size >= HEAD && size == HEAD + (size_t)RECORD * count) return read_binary(bytes, count, mesh);
  bool text = strncasecmp(bytes, "solid", 5) == 0 && strlen(bytes) == size;
  if (text) return read_text(bytes, mesh);
  if (size < HEAD) return tl_fail(TL_EINPUT, "%zu bytes are no STL file", size);
  return tl_fail(TL_EINPUT,
                 "the header speaks of %u facets, %zu bytes, and the file has %zu; it is cut short "
                 "or no STL",
                 count, HEAD + (size_t)RECORD * count, size);
}
