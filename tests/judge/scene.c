#include "judge/scene.h"
#include "support/materials.h"
#include "support/grain_state.h"

#include "base/mem.h"
#include "judge/judge.h"
#include "shape/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TlAvatar *get_avatar(void *ctx, int64_t id) {
  const JudgeScene *scene = ctx;
  if (id >= 1 && id <= scene->avatars) return scene->avatar[id - 1];
  tl_fail(TL_EINPUT, "the scene has no avatar %lld", (long long)id);
  return NULL;
}

void judge_scene_open(JudgeScene *scene) {
  memset(scene, 0, sizeof *scene);
  scene->config = tl_test_config();
  TL_TEST_SET(&scene->config, TL_TEST_BOTH, restitution, 0.5); /* of its figures so far */
}

int64_t judge_scene_avatar(JudgeScene *scene, TlAvatar *avatar) {
  size_t n = (size_t)scene->avatars;
  TlAvatar **more = tl_realloc(scene->avatar, n, n + 1, sizeof *more), *own = NULL;
  judge_ok(more ? TL_NEW(own, 1) : TL_ENOMEM, "memory for an avatar");
  *own = *avatar;
  memset(avatar, 0, sizeof *avatar);
  scene->avatar = more;
  scene->avatar[scene->avatars++] = own;
  return scene->avatars;
}

void judge_scene_plane(JudgeScene *scene, TlVec3 point, TlVec3 normal) {
  int i = scene->planes++;
  judge_ok(i < JUDGE_PLANES ? TL_OK : tl_fail(TL_ELIMIT, "too many planes"), "judge_scene_plane");
  scene->plane[i] = (TlBoundaryPlane){point, tl_unit(normal)};
  scene->boundary[i] = (TlBoundary){&tl_boundary_plane, &scene->plane[i]};
}

void judge_scene_box(JudgeScene *scene, double x, double y) {
  TlVec3 origin = {0, 0, 0}, far = {x, y, 0};
  judge_scene_plane(scene, origin, tl_vec3(0, 0, 1));
  judge_scene_plane(scene, origin, tl_vec3(1, 0, 0));
  judge_scene_plane(scene, far, tl_vec3(-1, 0, 0));
  judge_scene_plane(scene, origin, tl_vec3(0, 1, 0));
  judge_scene_plane(scene, far, tl_vec3(0, -1, 0));
}

void judge_scene_start(JudgeScene *scene) {
  JUDGE_OK(stepper_new(&scene->solver, &scene->config, (TlAvatarSource){scene, get_avatar},
                       scene->boundary, scene->planes, NULL));
}

int64_t judge_scene_put(JudgeScene *scene, int64_t avatar, double scale, TlVec3 x, TlQuat q,
                        TlVec3 v) {
  TlGrainState state;
  memset(&state, 0, sizeof state);
  state.id = scene->bodies.total;
  state.avatar_id = avatar;
  state.scale = scale;
  state.position = x;
  state.rotation = q;
  state.velocity = v;
  JUDGE_OK(tl_test_add(&scene->bodies, &state));
  return state.id;
}

void judge_scene_heap(JudgeScene *scene, int64_t avatar, TlQuat axes, int count, TlVec3 corner) {
  char path[64];
  snprintf(path, sizeof path, "data/settled_%d.csv", count);
  FILE *file = fopen(path, "r");
  int n = 0;
  for (; file && n < count; n++) {
    TlVec3 x;
    TlQuat q;
    if (fscanf(file, "%lf %lf %lf %lf %lf %lf %lf", &x.x, &x.y, &x.z, &q.w, &q.x, &q.y, &q.z) != 7)
      break;
    judge_scene_put(scene, avatar, 1, tl_add(x, corner), tl_quat_unit(tl_quat_mul(q, axes)),
                    tl_vec3(0, 0, 0));
  }
  if (file) fclose(file);
  judge_ok(n == count ? TL_OK : tl_fail(TL_EIO, "%s: only %d poses", path, n), "the heap");
}

double judge_exponent(int n, const double *x, const double *y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i < n; i++) {
    double u = log(x[i]), v = log(y[i]);
    sx += u, sy += v, sxx += u * u, sxy += u * v;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

void judge_scene_steps(JudgeScene *scene, int steps) {
  for (int i = 0; i < steps; i++)
    JUDGE_OK(stepper_step(scene->solver, &scene->bodies, &scene->report));
}

uint64_t judge_scene_hash(const JudgeScene *scene) {
  uint64_t hash;
  JUDGE_OK(tl_bodies_hash(&scene->bodies, &hash));
  return hash;
}

void judge_scene_close(JudgeScene *scene) {
  stepper_free(scene->solver);
  tl_bodies_free(&scene->bodies);
  for (int i = 0; i < scene->avatars; i++) {
    tl_avatar_free(scene->avatar[i]);
    tl_free(scene->avatar[i]);
  }
  tl_free(scene->avatar);
  memset(scene, 0, sizeof *scene);
}

TlQuat judge_turned(TlRandom *random) {
  double w = tl_random_next_normal(random), x = tl_random_next_normal(random);
  double y = tl_random_next_normal(random), z = tl_random_next_normal(random);
  return tl_quat_unit((TlQuat){w, x, y, z});
}

/* ---- irregular grains ---- */

enum { SHAPE_CELLS = 40 }; /* units of a shape, whatever the grid: equal shapes at all of them */

/* phi of the shape in cells, step shape units each, its origin in the middle of a cube of side
 * points. */
static void sample(const TlPhantomShape *shape, float step, int32_t side, float *phi) {
  float x[TL_PHANTOM_BATCH], y[TL_PHANTOM_BATCH], z[TL_PHANTOM_BATCH];
  const float middle = 0.5f * (float)(side - 1);
  for (int32_t k = 0; k < side; k++)
    for (int32_t j = 0; j < side; j++)
      for (int32_t first = 0; first < side; first += TL_PHANTOM_BATCH) {
        int count = side - first < TL_PHANTOM_BATCH ? side - first : TL_PHANTOM_BATCH;
        for (int i = 0; i < count; i++) {
          x[i] = step * ((float)(first + i) - middle);
          y[i] = step * ((float)j - middle);
          z[i] = step * ((float)k - middle);
        }
        float *row = &phi[((int64_t)k * side + j) * side + first];
        tl_phantom_shape_phi(shape, count, x, y, z, row);
        for (int i = 0; i < count; i++) row[i] /= step;
      }
}

void judge_grain(TlGrainKind kind, double diameter_m, double cells, int32_t nodes, uint64_t seed,
                 TlAvatar *out) {
  TlRandom random = {seed, 1, 0};
  TlPhantomShape shape;
  tl_phantom_shape_make(&shape, kind, SHAPE_CELLS, &random);
  double step = SHAPE_CELLS / cells;
  int32_t side = 2 * (int32_t)ceil(shape.radius / step + 4) + 1;
  TlPhiGrid grid = {side, side, side, NULL};
  JUDGE_OK(TL_NEW(grid.phi, (size_t)tl_grid_count(&grid)));
  sample(&shape, (float)step, side, grid.phi);
  const int64_t corner[3] = {0, 0, 0};
  TlBuildOptions options = {.nodes = {.count = nodes}};
  JUDGE_OK(tl_avatar_build_from_phi(&grid, corner, diameter_m / cells, 0, false, &options, out));
  tl_free(grid.phi);
  double middle = 0.5 * (side - 1) * diameter_m / cells;
  out->scan_centroid_m = tl_sub(out->scan_centroid_m, tl_vec3(middle, middle, middle));
}

void judge_same_pose(const TlAvatar *from, const TlAvatar *to, double scale, TlVec3 *position,
                     TlQuat *rotation) {
  TlQuat shape = tl_quat_mul(*rotation, tl_quat_conj(from->scan_rotation));
  TlVec3 between = tl_sub(to->scan_centroid_m, from->scan_centroid_m);
  *position = tl_axpy(*position, scale, tl_quat_rotate(shape, between));
  *rotation = tl_quat_unit(tl_quat_mul(shape, to->scan_rotation));
}

static void *copy_of(const void *from, size_t count, size_t size) {
  void *to = tl_calloc(count, size);
  judge_ok(to ? TL_OK : TL_ENOMEM, "a copy of an avatar");
  return memcpy(to, from, count * size);
}

void judge_avatar_copy(const TlAvatar *from, TlAvatar *to) {
  size_t nodes = (size_t)from->node_count;
  *to = *from;
  to->phi =
      copy_of(from->phi, (size_t)from->nx * (size_t)from->ny * (size_t)from->nz, sizeof *to->phi);
  to->node_m = copy_of(from->node_m, 3 * nodes, sizeof *to->node_m);
  to->node_area_m2 = copy_of(from->node_area_m2, nodes, sizeof *to->node_area_m2);
}
