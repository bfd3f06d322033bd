/* Meshes as STL, and whether they bound a body. */
#include "fuzz/fuzz.h"

#include "io/mesh_read.h"

TL_FUZZ(stl) {
  TlTriangles mesh;
  TlTrianglesReport report;
  TlStatus status = tl_mesh_read(tl_fuzz_file("a.stl", bytes, size), &mesh);
  if (status == TL_OK) status = tl_triangles_make_body(&mesh, &report);
  tl_fuzz_done(status);
  tl_triangles_free(&mesh);
}
