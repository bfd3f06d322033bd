#include "run/assembly_start.h"

#include "base/log.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Reader {
  TlStart *start;
  const TlStudyShapes *shapes;
  TlCatalog *catalog;
  const TlStudy *study;
  char *folder;
  TlScene scene;
  TlSetup there; /* of the earlier study */
  TlFrame frame;
} Reader;

/* What tl_message() says, at a key of the study. */
static TlStatus at_key(const Reader *r, TlStatus status, const char *key) {
  char text[1024];
  if (status != TL_EINPUT && status != TL_EIO) return status;
  snprintf(text, sizeof text, "%s", tl_message());
  return tl_study_fail(r->study, TL_EINPUT, key, "%s", text);
}

/* ---- shapes ---- */

static bool close_to(double a, double b) {
  return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static bool same(const TlAvatar *there, const TlGrainRow *here) {
  TlVec3 a = there->inertia_m5, b = here->inertia_m5;
  return close_to(there->volume_m3, here->volume_m3) &&
         close_to(there->spacing_m, here->spacing_m) && close_to(a.x, b.x) && close_to(a.y, b.y) &&
         close_to(a.z, b.z);
}

static TlStatus differs(const Reader *r, const char *key, const char *name, const TlAvatar *there,
                        const TlGrainRow *here) {
  return tl_study_fail(r->study, TL_EINPUT, key,
                       "%s is another shape in %s: volume %.9g m3 on a grid of %.9g m there, %.9g "
                       "m3 and %.9g m here, or other moments",
                       name, r->folder, there->volume_m3, there->spacing_m, here->volume_m3,
                       here->spacing_m);
}

static TlStatus find_listed(const Reader *r, const TlAvatar *there, TlGrainRow *row) {
  const TlShapeSetup *theirs = r->there.shapes.items;
  int64_t number = -1 - there->id;
  char key[48], name[256];
  if (number >= r->there.shapes.count)
    return tl_study_fail(r->study, TL_EINPUT, "release.run", "%s: its study has no shape %lld",
                         r->folder, (long long)number);
  int64_t i = tl_shapes_index(&r->shapes->setup->shapes, theirs[number].name);
  if (i < 0)
    return tl_study_fail(r->study, TL_EINPUT, "release.run",
                         "%s holds grains of the shape '%s', which is not in this study's list "
                         "of shapes",
                         r->folder, theirs[number].name);
  *row = tl_study_shapes_row(r->shapes, i);
  snprintf(key, sizeof key, "shapes.%lld", (long long)i);
  snprintf(name, sizeof name, "'%s'", theirs[number].name);
  return same(there, row) ? TL_OK : differs(r, key, name, there, row);
}

static TlStatus find_stored(const Reader *r, const TlAvatar *there, TlGrainRow *row) {
  char name[48];
  if (!r->catalog)
    return tl_study_fail(r->study, TL_EINPUT, "catalog",
                         "is missing: %s holds grain %lld of a catalog", r->folder,
                         (long long)there->id);
  TL_TRY(at_key(r, tl_catalog_grain(r->catalog, there->id, row), "release.run"));
  snprintf(name, sizeof name, "grain %lld", (long long)there->id);
  return same(there, row) ? TL_OK : differs(r, "catalog", name, there, row);
}

static TlStatus find_shape(const Reader *r, const TlAvatar *there, TlGrainRow *row) {
  if (there->id == TL_BALL_ID) {
    *row = tl_study_shapes_row(r->shapes, -1 - TL_BALL_ID);
    return TL_OK;
  }
  return there->id < 0 ? find_listed(r, there, row) : find_stored(r, there, row);
}

/* ---- grains ---- */

/* The scene's avatars are sorted by id. */
static int64_t avatar_of(const TlScene *scene, int64_t id) {
  const TlAvatar *a = tl_scene_avatar(scene, id);
  return a ? a - scene->avatars : -1;
}

/* found: places of the scene's avatars in start->shapes, or -1. */
static TlStatus take_grain(const Reader *r, const TlBodyRow *body, int64_t *found) {
  TlStart *s = r->start;
  int64_t avatar = avatar_of(&r->scene, body->avatar_id);
  if (body->body != body->id)
    return tl_study_fail(r->study, TL_EINPUT, "release.run",
                         "%s holds a body of several parts (grain %lld is one of body %lld), which "
                         "an assembly of single grains cannot take; place it anew in the list of "
                         "bodies, and name a run without it",
                         r->folder, (long long)body->id, (long long)body->body);
  if (avatar < 0)
    return tl_study_fail(r->study, TL_EINPUT, "release.run", "%s: avatar %lld is not in run.h5",
                         r->folder, (long long)body->avatar_id);
  if (found[avatar] < 0) {
    TL_TRY(find_shape(r, &r->scene.avatars[avatar], &s->shapes[s->shape_count]));
    found[avatar] = s->shape_count++;
  }
  s->shape[s->count] = found[avatar];
  s->grain[s->count] = *body;
  s->grain[s->count++].avatar_id = s->shapes[found[avatar]].id;
  return TL_OK;
}

static TlStatus take_grains(const Reader *r) {
  TlStart *s = r->start;
  size_t n = (size_t)r->frame.count, avatars = (size_t)r->scene.avatar_count;
  int64_t *found = NULL, frozen = 0;
  TL_TRY(TL_NEW(s->grain, n));
  TL_TRY(TL_NEW(s->shape, n));
  TL_TRY(TL_NEW(s->shapes, avatars));
  TlStatus status = TL_NEW(found, avatars);
  for (size_t i = 0; status == TL_OK && i < avatars; i++) found[i] = -1;
  for (size_t i = 0; status == TL_OK && i < n; i++) {
    const TlBodyRow *body = &r->frame.rows[i];
    if (body->flags & (TL_ROW_NET | TL_ROW_GUIDED)) continue;
    if (body->flags & TL_ROW_FROZEN)
      frozen++;
    else
      status = take_grain(r, body, found);
  }
  tl_free(found);
  TL_TRY(status);
  if (s->count == 0)
    return tl_study_fail(r->study, TL_EINPUT, "release.frame", "frame %lld of %s holds no grain",
                         (long long)r->frame.index, r->folder);
  tl_log_info("from-run: %lld grains of frame %lld (step %lld, %g s) of %s", (long long)s->count,
              (long long)r->frame.index, (long long)r->frame.step, r->frame.time_s, r->folder);
  if (frozen > 0)
    tl_log_info("from-run: %lld frozen bodies of that frame are left out", (long long)frozen);
  return TL_OK;
}

/* ---- the earlier run ---- */

static TlStatus read_frame(Reader *r) {
  int64_t *frames = NULL, count = 0, wanted = r->shapes->setup->release.frame;
  TlStatus status = tl_results_frames(r->folder, &frames, &count);
  int64_t last = status == TL_OK && count > 0 ? frames[count - 1] : -1;
  tl_free(frames);
  TL_TRY(at_key(r, status, "release.run"));
  if (last < 0)
    return tl_study_fail(r->study, TL_EINPUT, "release.run", "%s holds no frame", r->folder);
  if (wanted > last)
    return tl_study_fail(r->study, TL_EINPUT, "release.frame",
                         "%s has no frame %lld; its last is %lld", r->folder, (long long)wanted,
                         (long long)last);
  return at_key(r, tl_results_read_frame(r->folder, wanted < 0 ? last : wanted, &r->frame),
                "release.frame");
}

static TlStatus read_there(Reader *r) {
  TlStudy study = {0};
  TL_TRY(at_key(r, tl_results_read_scene(r->folder, &r->scene), "release.run"));
  TlStatus status = tl_study_parse(&study, r->folder, r->scene.study, strlen(r->scene.study));
  if (status == TL_OK) status = tl_setup_fill(&r->there, &study);
  tl_study_free(&study);
  return at_key(r, status, "release.run");
}

static TlStatus read_all(Reader *r) {
  TlStart *s = r->start;
  const TlShapeFiles *files = &r->shapes->files;
  const char *run = r->shapes->setup->release.run;
  r->folder = files->beside ? files->beside(files->context, run) : tl_strdup(run);
  if (!r->folder) return TL_ENOMEM;
  TL_TRY(read_there(r));
  TL_TRY(read_frame(r));
  s->grain_scale = r->scene.grain_scale;
  s->provenance = tl_strdup(r->scene.provenance);
  if (!s->provenance) return TL_ENOMEM;
  return take_grains(r);
}

TlStatus tl_start_read(TlStart *start, const TlStudyShapes *shapes, TlCatalog *catalog,
                       const TlStudy *study) {
  *start = (TlStart){0};
  Reader r = {.start = start, .shapes = shapes, .catalog = catalog, .study = study};
  TlStatus status = read_all(&r);
  tl_scene_free(&r.scene);
  tl_frame_free(&r.frame);
  tl_setup_free(&r.there);
  tl_free(r.folder);
  return status;
}

void tl_start_free(TlStart *start) {
  tl_free(start->grain);
  tl_free(start->shape);
  tl_free(start->shapes);
  tl_free(start->provenance);
  *start = (TlStart){0};
}
