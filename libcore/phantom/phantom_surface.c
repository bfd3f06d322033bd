#include "phantom/phantom_surface.h"

#include "base/mem.h"
#include "base/random.h"
#include "shape/mesh.h"

#include <math.h>

/* The pieces that can own space near this one, itself first. */
typedef struct Around {
  const TlPhantomField *field;
  const TlPhantomPiece *piece;
  int64_t *index;
  size_t count, capacity;
} Around;

static TlStatus gather(const TlPhantomField *field, int64_t piece, Around *a) {
  *a = (Around){.field = field, .piece = &field->pieces[piece]};
  for (int64_t i = 0; i < field->piece_count; i++) {
    const TlPhantomPiece *p = &field->pieces[i];
    double reach = a->piece->shape->radius + p->shape->radius + 4;
    if (i == piece || tl_norm2(tl_sub(p->centre, a->piece->centre)) > reach * reach) continue;
    TL_TRY(TL_RESERVE(a->index, a->capacity, a->count + 1));
    a->index[a->count++] = i;
  }
  return TL_OK;
}

/* own - offset on the free surface, (own - other)/2 at a contact (about a distance there), the
 * cylinder where there is one; count <= TL_PHANTOM_BATCH points. */
static void field_at(const Around *a, int count, const TlVec3 *p, double *value) {
  float dx[TL_PHANTOM_BATCH], dy[TL_PHANTOM_BATCH], dz[TL_PHANTOM_BATCH];
  float own[TL_PHANTOM_BATCH], other[TL_PHANTOM_BATCH];
  for (int64_t k = -1; k < (int64_t)a->count; k++) {
    const TlPhantomPiece *piece = k < 0 ? a->piece : &a->field->pieces[a->index[k]];
    for (int i = 0; i < count; i++) {
      TlVec3 d = tl_sub(p[i], piece->centre);
      dx[i] = (float)d.x, dy[i] = (float)d.y, dz[i] = (float)d.z;
    }
    tl_phantom_piece_phi(piece, count, dx, dy, dz, k < 0 ? own : other);
    for (int i = 0; i < count; i++)
      value[i] = k < 0 ? (double)own[i] - a->field->offset
                       : tl_max(value[i], 0.5 * (double)(own[i] - other[i]));
  }
  if (a->field->cylinder_radius <= 0) return;
  for (int i = 0; i < count; i++)
    value[i] = tl_max(value[i], hypot(p[i].x - a->field->centre[0], p[i].y - a->field->centre[1]) -
                                    a->field->cylinder_radius);
}

static TlStatus sample(const Around *a, TlAvatar *grid) {
  const TlVec3 c = a->piece->centre;
  const double r = a->piece->shape->radius + 4;
  *grid = (TlAvatar){.spacing_m = 1, .origin_m = {floor(c.x - r), floor(c.y - r), floor(c.z - r)}};
  grid->nx = grid->ny = grid->nz = (int32_t)(2 * r) + 3;
  const int64_t n = grid->nx, all = n * n * n;
  TL_TRY(TL_NEW(grid->phi, (size_t)all));
  for (int64_t from = 0; from < all; from += TL_PHANTOM_BATCH) {
    TlVec3 p[TL_PHANTOM_BATCH];
    double value[TL_PHANTOM_BATCH];
    int count = (int)(all - from < TL_PHANTOM_BATCH ? all - from : TL_PHANTOM_BATCH);
    for (int i = 0; i < count; i++) {
      int64_t at = from + i;
      p[i] = tl_add(grid->origin_m,
                    tl_vec3((double)(at % n), (double)(at / n % n), (double)(at / (n * n))));
    }
    field_at(a, count, p, value);
    for (int i = 0; i < count; i++) grid->phi[from + i] = (float)value[i];
  }
  return TL_OK;
}

static TlVec3 gradient(const Around *a, TlVec3 p) {
  const double h = 0.05;
  TlVec3 at[6] = {{p.x + h, p.y, p.z}, {p.x - h, p.y, p.z}, {p.x, p.y + h, p.z},
                  {p.x, p.y - h, p.z}, {p.x, p.y, p.z + h}, {p.x, p.y, p.z - h}};
  double v[6] = {0};
  field_at(a, 6, at, v);
  return tl_scale(0.5 / h, tl_vec3(v[0] - v[1], v[2] - v[3], v[4] - v[5]));
}

/* Newton along the gradient; a triangle of the grid is off by a few hundredths of a voxel, more
 * where contact faces meet the free surface. */
static bool onto_surface(const Around *a, TlVec3 *p, TlVec3 *normal) {
  double value = 1;
  for (int i = 0; i < 20; i++) {
    TlVec3 g = gradient(a, *p);
    double g2 = tl_norm2(g);
    field_at(a, 1, p, &value);
    if (g2 < 1e-3) return false;
    *normal = tl_scale(1 / sqrt(g2), g);
    if (fabs(value) < 1e-4) return true;
    *p = tl_axpy(*p, -0.8 * value / g2, g);
  }
  return fabs(value) < 1e-3;
}

static TlVec3 corner(const TlMesh *m, size_t t, int k) {
  return tl_mesh_vertex(m, m->triangle[3 * t + (size_t)k]);
}

/* A uniform point of a triangle. */
static TlVec3 within(const TlMesh *m, size_t t, TlRandom *random) {
  double u = sqrt(tl_random_next(random)), v = tl_random_next(random);
  TlVec3 a = tl_scale(1 - u, corner(m, t, 0));
  return tl_axpy(tl_axpy(a, u * (1 - v), corner(m, t, 1)), u * v, corner(m, t, 2));
}

static TlStatus spread(const Around *a, const TlMesh *mesh, uint32_t label, double density,
                       TlRandom *random, TlPhantomPoint **points, size_t *count, size_t *capacity) {
  double passed = 0, next = tl_random_next(random);
  for (size_t t = 0; t < mesh->triangle_count; t++) {
    TlVec3 first = corner(mesh, t, 0);
    passed +=
        density * 0.5 *
        tl_norm(tl_cross(tl_sub(corner(mesh, t, 1), first), tl_sub(corner(mesh, t, 2), first)));
    for (; next < passed; next += 1) {
      TlVec3 p = within(mesh, t, random), n;
      if (!onto_surface(a, &p, &n)) continue;
      TL_TRY(TL_RESERVE(*points, *capacity, *count + 1));
      (*points)[(*count)++] = (TlPhantomPoint){label,      (float)p.z, (float)p.y, (float)p.x,
                                               (float)n.z, (float)n.y, (float)n.x};
    }
  }
  return TL_OK;
}

TlStatus tl_phantom_surface(const TlPhantomField *field, int64_t piece, uint32_t label,
                            double density, uint64_t seed, TlPhantomPoint **points, size_t *count,
                            size_t *capacity) {
  Around a;
  TlAvatar grid = {0};
  TlMesh mesh = {0};
  TlRandom random = {seed, 0x5f0000000u + label, 0};
  TlStatus status = gather(field, piece, &a);
  if (status == TL_OK) status = sample(&a, &grid);
  if (status == TL_OK) status = tl_mesh_from_avatar(&grid, &mesh);
  if (status == TL_OK) status = spread(&a, &mesh, label, density, &random, points, count, capacity);
  tl_mesh_free(&mesh);
  tl_free(grid.phi);
  tl_free(a.index);
  return status;
}

double tl_phantom_piece_field(const TlPhantomField *field, int64_t piece, TlVec3 p) {
  Around a;
  double value = NAN;
  if (gather(field, piece, &a) == TL_OK) field_at(&a, 1, &p, &value);
  tl_free(a.index);
  return value;
}
