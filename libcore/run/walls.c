#include "run/walls.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "run/materials.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 6 };
static const double DEG = M_PI / 180;

void tl_walls_free(TlWalls *w) {
  for (int64_t i = 0; i < w->walls; i++) {
    tl_free(w->data[i].time_s);
    tl_free(w->data[i].displacement_m);
  }
  tl_free(w->data);
  tl_free(w->part);
  tl_free(w->boundary);
  *w = (TlWalls){0};
}

/* ---- table ---- */

static TlStatus add_row(TlWallData *d, size_t *capacity, const double v[4]) {
  size_t n = (size_t)d->drive.rows + 1, time_capacity = *capacity;
  TL_TRY(TL_RESERVE(d->time_s, time_capacity, n));
  TL_TRY(TL_RESERVE(d->displacement_m, *capacity, n));
  d->time_s[n - 1] = v[0];
  d->displacement_m[n - 1] = tl_vec3(v[1], v[2], v[3]);
  d->drive.rows++;
  return TL_OK;
}

static TlStatus parse_row(const char *line, const char *path, int number, double v[4]) {
  const char *at = line;
  for (int i = 0; i < 4; i++) {
    char *end;
    v[i] = strtod(at, &end);
    bool last = i == 3;
    if (end == at || !isfinite(v[i]) || *end != (last ? '\0' : ','))
      return tl_fail(TL_EINPUT, "%s:%d: four numbers time_s,x_m,y_m,z_m are wanted, not '%s'", path,
                     number, line);
    at = end + 1;
  }
  return TL_OK;
}

static TlStatus table_line(TlWallData *d, size_t *capacity, const char *line, const char *path,
                           int number) {
  double v[4];
  if (number == 1) {
    if (strcmp(line, "time_s,x_m,y_m,z_m") == 0) return TL_OK;
    return tl_fail(TL_EINPUT, "%s:1: the header must be time_s,x_m,y_m,z_m, not '%s'", path, line);
  }
  if (line[0] == '\0') return TL_OK;
  TL_TRY(parse_row(line, path, number, v));
  if (d->drive.rows > 0 && !(v[0] > d->time_s[d->drive.rows - 1]))
    return tl_fail(TL_EINPUT, "%s:%d: times must ascend; %g s follows %g s", path, number, v[0],
                   d->time_s[d->drive.rows - 1]);
  return add_row(d, capacity, v);
}

static TlStatus parse_table(TlWallData *d, char *text, const char *path) {
  size_t capacity = 0;
  int number = 0;
  for (char *line = tl_text_unmarked(text), *next; line && *line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = '\0';
    size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\r') line[length - 1] = '\0';
    TL_TRY(table_line(d, &capacity, line, path, ++number));
  }
  if (d->drive.rows == 0) return tl_fail(TL_EINPUT, "%s: holds no rows", path);
  d->drive.time_s = d->time_s;
  d->drive.displacement_m = d->displacement_m;
  return TL_OK;
}

static TlStatus read_table(TlWallData *d, const char *path) {
  char *text;
  size_t size;
  TL_TRY(tl_file_read(path, &text, &size));
  TlStatus status = parse_table(d, text, path);
  tl_free(text);
  return status;
}

/* ---- parts ---- */

TlMat3 tl_wall_turn(const double deg[3]) {
  TlQuat x = tl_quat_from_rotation(tl_vec3(deg[0] * DEG, 0, 0)),
         y = tl_quat_from_rotation(tl_vec3(0, deg[1] * DEG, 0)),
         z = tl_quat_from_rotation(tl_vec3(0, 0, deg[2] * DEG));
  return tl_quat_matrix(tl_quat_mul(z, tl_quat_mul(y, x)));
}

/* A frame whose z is the axis. */
static TlMat3 turn_to(TlVec3 axis) {
  TlVec3 any = fabs(axis.x) < 0.5 ? tl_vec3(1, 0, 0) : tl_vec3(0, 1, 0);
  TlVec3 x = tl_unit(tl_cross(any, axis)), y = tl_cross(axis, x);
  return (TlMat3){{{x.x, y.x, axis.x}, {x.y, y.y, axis.y}, {x.z, y.z, axis.z}}};
}

typedef struct Building {
  TlWalls *walls;
  TlWallData *data;
  const TlWallSetup *setup;
  TlVec3 centre;
  TlMat3 turn;
  const TlSurface *surface;
  const TlDrive *drive;
} Building;

static void add_part(const Building *b, const TlBoundaryKind *kind, const void *data,
                     TlWallPart part) {
  part.wall = (int32_t)(b->data - b->walls->data);
  part.inside = b->setup->grains;
  if (b->drive) part.drive = *b->drive;
  b->walls->part[b->walls->count] = part;
  b->walls->boundary[b->walls->count++] =
      (TlBoundary){.kind = kind, .data = data, .surface = b->surface, .drive = b->drive};
}

/* The wall's frame with its axes in another order (still right-handed): z along axis * side. */
static TlMat3 facing(const Building *b, int axis, double side) {
  TlMat3 turn;
  for (int row = 0; row < 3; row++) {
    const double *from = b->turn.m[row];
    turn.m[row][0] = from[(axis + 1) % 3];
    turn.m[row][1] = side * from[(axis + 2) % 3];
    turn.m[row][2] = side * from[axis];
  }
  return turn;
}

/* A plane's record; size: extents of the face it stands for and, of a round one, its radius. */
static void add_plane(const Building *b, int slot, TlVec3 point, TlMat3 turn,
                      const double size[3]) {
  TlVec3 normal = {turn.m[0][2], turn.m[1][2], turn.m[2][2]};
  b->data->plane[slot] = (TlBoundaryPlane){point, normal};
  add_part(b, &tl_boundary_plane, &b->data->plane[slot],
           (TlWallPart){.kind = TL_PART_PLANE,
                        .centre = point,
                        .turn = turn,
                        .size_m = {size[0], size[1], size[2]}});
}

static bool is_open(const TlWallSetup *w, int face) {
  for (int64_t i = 0; i < w->open.count; i++)
    if (tl_wall_face(w->open.items[i]) == face) return true;
  return false;
}

/* face: of a container, for the record's axes; -1: an obstacle. */
static void add_solid(const Building *b, int slot, const TlClosedKind *kind, TlVec3 offset,
                      const double size[3], int face) {
  TlBoundarySolid *s = &b->data->solid[slot];
  *s = (TlBoundarySolid){.kind = kind,
                         .size = {size[0], size[1], size[2]},
                         .centre = tl_add(b->centre, tl_mat_vec(b->turn, offset)),
                         .turn = b->turn};
  TlWallPart part = {.kind = kind == &tl_closed_box ? TL_PART_BOX : TL_PART_CYLINDER,
                     .centre = s->centre,
                     .turn = b->turn,
                     .size_m = {size[0], size[1], size[2]}};
  if (face >= 0) part.turn = facing(b, face / 2, face % 2 ? -1 : 1);
  for (int i = 0; face >= 0 && part.kind == TL_PART_BOX && i < 3; i++)
    part.size_m[i] = size[(face / 2 + 1 + i) % 3];
  add_part(b, &tl_boundary_solid, s, part);
}

/* One face of a container: half_m from the middle along its axis; a plane, or a slab over the
 * edges of its neighbours. */
static void add_face(const Building *b, int face, double half_m, const double outer[3]) {
  int axis = face / 2;
  double t = b->setup->thickness_m, side = face % 2 ? 1 : -1;
  double normal[3] = {0, 0, 0};
  normal[axis] = side;
  TlVec3 out = {normal[0], normal[1], normal[2]};
  if (t == 0) {
    TlVec3 point = tl_axpy(b->centre, half_m, tl_mat_vec(b->turn, out));
    const double faces[3] = {outer[(axis + 1) % 3], outer[(axis + 2) % 3],
                             b->setup->kind == TL_WALL_CYLINDER ? b->setup->radius_m : 0};
    add_plane(b, face, point, facing(b, axis, -side), faces);
    return;
  }
  double size[3] = {outer[0], outer[1], outer[2]};
  size[axis] = t;
  add_solid(b, face, &tl_closed_box, tl_scale(half_m + 0.5 * t, out), size, face);
}

static void add_box(const Building *b) {
  const TlWallSetup *w = b->setup;
  if (!w->grains) {
    add_solid(b, 0, &tl_closed_box, tl_vec3(0, 0, 0), w->size_m, -1);
    return;
  }
  for (int face = 0; face < 6; face++) {
    double outer[3];
    /* a slab covers its neighbours' edges, but where an open face lets the wall end at the rim */
    for (int a = 0; a < 3; a++)
      outer[a] = w->size_m[a] + (a < 2 || face >= 4 ? 2 * w->thickness_m : 0);
    if (!is_open(w, face)) add_face(b, face, 0.5 * w->size_m[face / 2], outer);
  }
}

static void add_end(const Building *b, int face) {
  const TlWallSetup *w = b->setup;
  double t = w->thickness_m, side = face % 2 ? 1 : -1, half = 0.5 * w->length_m;
  if (t == 0) {
    const double across[3] = {2 * w->radius_m, 2 * w->radius_m, 0};
    add_face(b, face, half, across);
    return;
  }
  double size[3] = {w->radius_m + t, t, 0};
  add_solid(b, face, &tl_closed_cylinder, tl_vec3(0, 0, side * (half + 0.5 * t)), size, face);
}

static void add_cylinder(const Building *b) {
  const TlWallSetup *w = b->setup;
  TlVec3 axis = tl_unit(tl_vec3_of(w->axis));
  if (!w->grains) {
    const double size[3] = {w->radius_m, w->length_m, 0};
    add_solid(b, 0, &tl_closed_cylinder, tl_vec3(0, 0, 0), size, -1);
    return;
  }
  b->data->tube = (TlBoundaryTube){b->centre, axis, w->radius_m};
  b->data->ring = (TlBoundaryRing){b->centre, axis, w->radius_m, w->length_m, w->thickness_m};
  TlWallPart part = {.kind = w->thickness_m > 0 ? TL_PART_RING : TL_PART_TUBE,
                     .centre = b->centre,
                     .turn = b->turn,
                     .size_m = {w->radius_m, w->length_m, w->thickness_m}};
  if (w->thickness_m > 0)
    add_part(b, &tl_boundary_ring, &b->data->ring, part);
  else
    add_part(b, &tl_boundary_tube, &b->data->tube, part);
  for (int face = 4; face < 6; face++)
    if (!is_open(w, face)) add_end(b, face);
}

static bool driven(const TlWallSetup *w) {
  return w->table || w->moves > 0 || w->from_s > 0 || w->until_s > 0 ||
         tl_norm(tl_vec3_of(w->velocity_m_s)) > 0 || tl_norm(tl_vec3_of(w->spin_rad_s)) > 0 ||
         tl_norm(tl_vec3_of(w->surface_velocity_m_s)) > 0;
}

static void add_wall(TlWalls *walls, TlWallData *d, const TlWallSetup *w) {
  Building b = {walls, d, w, tl_vec3_of(w->point_m), {{{0}}}, NULL, NULL};
  b.turn = w->kind == TL_WALL_CYLINDER ? turn_to(tl_unit(tl_vec3_of(w->axis)))
                                       : tl_wall_turn(w->rotation_deg);
  b.surface = &d->surface;
  if (driven(w)) b.drive = &d->drive;
  if (w->kind == TL_WALL_PLANE) {
    const double endless[3] = {0, 0, 0};
    add_plane(&b, 0, b.centre, turn_to(tl_unit(tl_vec3_of(w->normal))), endless);
  }
  if (w->kind == TL_WALL_BOX) add_box(&b);
  if (w->kind == TL_WALL_CYLINDER) add_cylinder(&b);
}

static void set_drive(TlWallData *d, const TlWallSetup *w) {
  d->drive.from_s = w->from_s;
  d->drive.until_s = w->until_s;
  d->drive.velocity_m_s = tl_vec3_of(w->velocity_m_s);
  d->drive.spin_rad_s = tl_vec3_of(w->spin_rad_s);
  d->drive.surface_m_s = tl_vec3_of(w->surface_velocity_m_s);
  d->drive.pivot_m = tl_add(tl_vec3_of(w->point_m), tl_vec3_of(w->pivot_m));
}

static TlStatus take_moves(TlWallData *d, const TlWallSetup *w) {
  size_t capacity = 0;
  for (int k = 0; k < w->moves; k++) {
    const double *x = w->move_m[k];
    TL_TRY(add_row(d, &capacity, (const double[4]){w->move_time_s[k], x[0], x[1], x[2]}));
  }
  d->drive.time_s = d->time_s;
  d->drive.displacement_m = d->displacement_m;
  return TL_OK;
}

static TlStatus open_table(TlWallData *d, const char *table, const TlStudy *study, int64_t place,
                           TlTablePath table_path, void *context) {
  char key[48], text[1024];
  char *path = table_path(context, table);
  if (!path) return TL_ENOMEM;
  TlStatus status = read_table(d, path);
  tl_free(path);
  if (status == TL_OK || status == TL_ENOMEM) return status;
  snprintf(key, sizeof key, "walls.%lld.table", (long long)place);
  snprintf(text, sizeof text, "%s", tl_message());
  return tl_study_fail(study, TL_EINPUT, key, "%s", text);
}

TlStatus tl_walls_open(TlWalls *walls, const TlSetup *setup, const TlStudy *study,
                       TlTablePath table_path, void *context) {
  const TlWallSetup *w = setup->walls.items;
  int64_t n = setup->walls.count;
  *walls = (TlWalls){0};
  TL_TRY(TL_NEW(walls->data, (size_t)n));
  walls->walls = n;
  TL_TRY(TL_NEW(walls->boundary, (size_t)n * MOST_PARTS));
  TL_TRY(TL_NEW(walls->part, (size_t)n * MOST_PARTS));
  for (int64_t i = 0; i < n; i++) {
    set_drive(&walls->data[i], &w[i]);
    walls->data[i].surface.material = tl_material_of_wall(setup, i);
    if (w[i].table) TL_TRY(open_table(&walls->data[i], w[i].table, study, i, table_path, context));
    if (w[i].moves > 0) TL_TRY(take_moves(&walls->data[i], &w[i]));
    add_wall(walls, &walls->data[i], &w[i]);
  }
  return TL_OK;
}
