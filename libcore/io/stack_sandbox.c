#include "io/stack_sandbox.h"

#include "base/mem.h"

/* A request for layers is answered piece by piece: each up to the next multiple of deep. */
typedef struct Request {
  int64_t z, count;
} Request;

static int64_t next_piece(const Request *r, int64_t deep) {
  int64_t most = deep - r->z % deep;
  return r->count < most ? r->count : most;
}

static size_t layer_bytes(const TlStackInfo *i) {
  return (size_t)(i->nx * i->ny) * tl_voxel_size(i->type);
}

/* ---- both sides ---- */

TlStatus tl_stack_job_ask(TlSandbox *s, void *of) {
  return tl_sandbox_pass_text(s, &((TlStackJob *)of)->asked);
}

TlStatus tl_stack_job_tell(TlSandbox *s, void *of) {
  TlStackJob *j = of;
  TlStackInfo *i = &j->info;
  int32_t type = (int32_t)i->type;
  TL_TRY(tl_sandbox_pass(s, &i->nx, sizeof i->nx));
  TL_TRY(tl_sandbox_pass(s, &i->ny, sizeof i->ny));
  TL_TRY(tl_sandbox_pass(s, &i->nz, sizeof i->nz));
  TL_TRY(tl_sandbox_pass(s, &type, sizeof type));
  if (type < TL_U8 || type > TL_F32) return tl_fail(TL_EINPUT, "it tells of no type of voxels");
  i->type = (TlVoxelType)type;
  TL_TRY(tl_sandbox_pass(s, i->voxel_m, sizeof i->voxel_m));
  TL_TRY(tl_sandbox_pass(s, i->cylinder, sizeof i->cylinder));
  TL_TRY(tl_sandbox_pass(s, &j->deep, sizeof j->deep));
  return tl_sandbox_pass_text(s, &i->history);
}

/* ---- in the worker ---- */

void tl_stack_job_release(TlStackJob *j) {
  tl_stack_info_free(&j->info);
  tl_free(j->asked);
  j->asked = NULL;
}

TlStatus tl_stack_job_serve(TlSandbox *s, void *of,
                            TlStatus (*read)(const void *job, int64_t z, int64_t count,
                                             uint8_t *voxels)) {
  const TlStackJob *j = of;
  size_t layer = layer_bytes(&j->info);
  uint8_t *piece;
  TlStatus status = TL_NEW(piece, (size_t)j->deep * layer);
  for (Request r; tl_sandbox_next(s, &r, sizeof r);) {
    for (int64_t n; r.count > 0; r.z += n, r.count -= n) {
      n = next_piece(&r, j->deep);
      if (tl_sandbox_reply(s, piece ? read(j, r.z, n, piece) : status) != TL_OK) break;
      TL_TRY_GOTO(status, tl_sandbox_pass(s, piece, (size_t)n * layer), done);
    }
  }
done:
  tl_free(piece);
  return status;
}

/* ---- in the caller ---- */

typedef struct Reader {
  TlSandbox *sandbox;
  TlStackInfo info; /* without history */
  int64_t deep;
} Reader;

static TlStatus read_layers(void *self, int64_t z, int64_t count, void *voxels) {
  const Reader *r = self;
  Request request = {z, count};
  size_t layer = layer_bytes(&r->info);
  TL_TRY(tl_sandbox_request(r->sandbox, &request, sizeof request, count * (int64_t)layer));
  for (int64_t n; request.count > 0; request.z += n, request.count -= n) {
    n = next_piece(&request, r->deep);
    TL_TRY(tl_sandbox_answer(r->sandbox));
    TL_TRY(tl_sandbox_take(r->sandbox, voxels, (size_t)n * layer));
    voxels = (uint8_t *)voxels + (size_t)n * layer;
  }
  return TL_OK;
}

static void close_reader(void *self) {
  Reader *r = self;
  tl_sandbox_close(&r->sandbox);
  tl_free(r);
}

/* Sizes whose voxels can be counted in bytes. */
static bool is_stack(const TlStackJob *j) {
  const TlStackInfo *i = &j->info;
  int64_t bytes;
  return i->nx > 0 && i->ny > 0 && i->nz > 0 && j->deep > 0 &&
         !__builtin_mul_overflow(i->nx, i->ny, &bytes) &&
         !__builtin_mul_overflow(bytes, i->nz, &bytes) &&
         !__builtin_mul_overflow(bytes, (int64_t)tl_voxel_size(i->type), &bytes);
}

TlStatus tl_stack_sandbox_layers(const TlSandboxReader *reader, const char *path, const char *asked,
                                 int64_t more_memory, TlStackInfo *info, TlLayers *layers) {
  Reader *r;
  void *job;
  *info = (TlStackInfo){0};
  TL_TRY(TL_NEW(r, 1));
  *layers = (TlLayers){.self = r, .read = read_layers, .close = close_reader};
  TlStackJob *j = job = tl_calloc(1, reader->job_bytes);
  TlStatus status = job && (!asked || (j->asked = tl_strdup(asked))) ? TL_OK : TL_ENOMEM;
  if (status == TL_OK) status = tl_sandbox_open(&r->sandbox, reader, path, more_memory, job);
  if (status == TL_OK && !is_stack(j))
    status = tl_fail(TL_EINPUT, "%s: its sizes make no stack; it is damaged", path);
  if (status == TL_OK) {
    *info = j->info;
    j->info.history = NULL; /* handed over */
    r->info = j->info;
    r->deep = j->deep;
  } else {
    tl_layers_close(layers);
  }
  if (j) tl_stack_job_release(j);
  tl_free(job);
  return status;
}
