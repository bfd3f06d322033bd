#include "io/mesh_read.h"

#include "base/file.h"
#include "base/mem.h"

#include <string.h>

static TlStatus parse(const char *path, const char *bytes, size_t size, TlTriangles *mesh) {
  char extension[16];
  tl_path_extension(path, extension);
  if (size == 0) return tl_fail(TL_EINPUT, "the file is empty");
  if (size > 4 && strncmp(bytes, "ply", 3) == 0 && (bytes[3] == '\n' || bytes[3] == '\r'))
    return tl_mesh_read_ply(bytes, size, mesh);
  if (strcmp(extension, "ply") == 0)
    return tl_fail(TL_EINPUT, "does not begin with the line 'ply'");
  if (strcmp(extension, "obj") == 0) return tl_mesh_read_obj(bytes, size, mesh);
  if (strcmp(extension, "stl") == 0) return tl_mesh_read_stl(bytes, size, mesh);
  return tl_fail(TL_EINPUT, "no known kind of mesh; .stl, .ply or .obj wanted");
}

TlStatus tl_mesh_read(const char *path, TlTriangles *mesh) {
  char *bytes;
  size_t size;
  *mesh = (TlTriangles){0};
  TL_TRY(tl_file_read(path, &bytes, &size));
  TlStatus status = parse(path, bytes, size, mesh);
  if (status == TL_OK && mesh->triangles == 0) status = tl_fail(TL_EINPUT, "no triangles");
  tl_free(bytes);
  return tl_context(status, "%s", path);
}
