/* Wavefront OBJ: of it, v and f. Vertex numbers count from 1, or back from the last when negative;
 * what follows a slash (texture, normal) is not read. */
#include "io/mesh_read.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *p) {
  while (*p == ' ' || *p == '\t') p++;
  return p;
}

static TlStatus read_vertex(const char *p, TlTriangles *mesh) {
  double x[3];
  for (int k = 0; k < 3; k++) {
    char *end;
    p = skip_blanks(p);
    bool more = *p != '\n' && *p != '\r'; /* strtod would continue to the next line */
    x[k] = more ? strtod(p, &end) : 0;
    if (!more || end == p) return tl_fail(TL_EINPUT, "three coordinates wanted");
    p = end;
  }
  return tl_triangles_add_vertex(mesh, tl_vec3(x[0], x[1], x[2]));
}

static TlStatus read_face(const char *p, TlTriangles *mesh) {
  int64_t first = -1, last = -1;
  int corners = 0;
  for (p = skip_blanks(p); *p && *p != '\n' && *p != '\r' && *p != '#'; p = skip_blanks(p)) {
    char *end;
    int64_t v = strtoll(p, &end, 10);
    if (end == p || v == 0) return tl_fail(TL_EINPUT, "a vertex number wanted");
    v = v > 0 ? v - 1 : mesh->vertices + v;
    if (++corners == 1) first = v;
    if (corners > 2) TL_TRY(tl_triangles_add(mesh, first, last, v));
    last = v;
    for (p = end; *p && !isspace((unsigned char)*p); p++) {
    } /* "/texture/normal" */
  }
  return corners >= 3 ? TL_OK : tl_fail(TL_EINPUT, "a face of %d corners", corners);
}

TlStatus tl_mesh_read_obj(const char *bytes, size_t size, TlTriangles *mesh) {
  int64_t line = 1;
  if (strlen(bytes) != size) return tl_fail(TL_EINPUT, "not a text; an OBJ file is one");
  for (const char *p = bytes; *p; line++) {
    TlStatus status = TL_OK;
    const char *word = skip_blanks(p);
    if (word[0] == 'v' && (word[1] == ' ' || word[1] == '\t')) status = read_vertex(word + 1, mesh);
    if (word[0] == 'f' && (word[1] == ' ' || word[1] == '\t')) status = read_face(word + 1, mesh);
    TL_TRY(tl_context(status, "line %lld", (long long)line));
    p += strcspn(p, "\n");
    p += *p == '\n';
  }
  return TL_OK;
}
