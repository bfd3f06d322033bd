/* Frames and their contacts. The functions that know HDF5 run in the sandbox (base/sandbox.h). */
#include "store/results_layout.h"

#include "base/file.h"
#include "base/h5_library.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "num/sort.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

void tl_frame_free(TlFrame *frame) {
  tl_free(frame->rows);
  *frame = (TlFrame){0};
}

void tl_frame_contacts_free(TlFrameContacts *contacts) {
  tl_free(contacts->rows);
  *contacts = (TlFrameContacts){0};
}

/* ---- frames ---- */

TlStatus tl_results_frames(const char *folder, int64_t **indices, int64_t *count) {
  *indices = NULL;
  *count = 0;
  DIR *list = opendir(folder);
  if (!list) return tl_fail_errno(folder, "cannot list the folder of results");
  size_t capacity = 0;
  TlStatus status = TL_OK;
  for (const char *name;
       status == TL_OK && (status = tl_dir_next(list, folder, &name)) == TL_OK && name;) {
    int64_t index = tl_results_frame_index(name);
    if (index < 0) continue;
    status = TL_RESERVE(*indices, capacity, (size_t)*count + 1);
    if (status == TL_OK) (*indices)[(*count)++] = index;
  }
  closedir(list);
  if (status == TL_OK && *count > 1) qsort(*indices, (size_t)*count, sizeof **indices, tl_by_int);
  return status;
}

static int by_body_id(const void *one, const void *two) {
  int64_t a = ((const TlBodyRow *)one)->id, b = ((const TlBodyRow *)two)->id;
  return (a > b) - (a < b);
}

typedef struct FrameJob {
  TlH5File file;
  TlFrame frame;
} FrameJob;

static TlStatus read_rows(const TlH5File *f, TlFrame *frame) {
  TL_TRY(tl_h5_check_format(f, "talus frame", TL_RESULTS_FORMAT));
  TL_TRY(tl_h5_get_int(f, f->id, "index", &frame->index));
  TL_TRY(tl_h5_get_int(f, f->id, "step", &frame->step));
  TL_TRY(tl_h5_get_real(f, f->id, "time_s", &frame->time_s, 1));
  TL_TRY(tl_h5_array_rows(f, f->id, "id", &frame->count));
  TL_TRY(TL_NEW(frame->rows, (size_t)frame->count));
  bool has_body;
  TL_TRY(tl_context(tl_h5_has(f->id, "body", &has_body), "%s", f->name));
  TlH5Column column[TL_H5_RECORD_COLUMNS];
  for (int64_t i = 0; i < frame->count; i++) frame->rows[i].aggregate = -1; /* of older versions */
  int columns = tl_h5_record_columns(&tl_body_row_record, false, column);
  TL_TRY(tl_h5_columns_read(f, f->id, column, columns, frame->rows, sizeof *frame->rows,
                            frame->count));
  for (int64_t i = 0; !has_body && i < frame->count; i++) frame->rows[i].body = frame->rows[i].id;
  qsort(frame->rows, (size_t)frame->count, sizeof *frame->rows, by_body_id);
  return TL_OK;
}

static TlStatus read_frame(const char *path, void *of) {
  FrameJob *j = of;
  TL_TRY(tl_h5_open(&j->file, path));
  return read_rows(&j->file, &j->frame);
}

static TlStatus tell_frame(TlSandbox *s, void *of) {
  TlFrame *f = &((FrameJob *)of)->frame;
  TL_TRY(tl_sandbox_pass(s, &f->index, sizeof f->index));
  TL_TRY(tl_sandbox_pass(s, &f->step, sizeof f->step));
  TL_TRY(tl_sandbox_pass(s, &f->time_s, sizeof f->time_s));
  TL_TRY(tl_sandbox_pass(s, &f->count, sizeof f->count));
  return TL_SANDBOX_PASS_ARRAY(s, f->rows, f->count);
}

static void release_frame(void *of) {
  FrameJob *j = of;
  TL_CLEAN_UP(tl_h5_close(&j->file)); /* what was read is here */
  tl_frame_free(&j->frame);
}

static const TlSandboxReader frame_reader = {.name = "frame",
                                             .job_bytes = sizeof(FrameJob),
                                             .prepare = tl_h5_prepare,
                                             .read = read_frame,
                                             .tell = tell_frame,
                                             .release = release_frame};
TL_SANDBOX_READER(frame_reader)

TlStatus tl_results_read_frame(const char *folder, int64_t index, TlFrame *frame) {
  FrameJob job = {0};
  char *path = tl_results_frame_path(folder, index);
  *frame = (TlFrame){0};
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_sandbox_read(&frame_reader, path, 0, &job);
  if (status == TL_OK && !job.frame.rows)
    status = tl_fail(TL_EINPUT, "%s: its rows are missing", path);
  tl_free(path);
  if (status == TL_OK)
    *frame = job.frame;
  else
    tl_frame_free(&job.frame);
  return status;
}

/* ---- contacts ---- */

typedef struct ContactJob {
  TlH5File file;
  TlFrameContacts contacts;
} ContactJob;

static TlStatus read_contact_rows(const TlH5File *f, hid_t g, TlFrameContacts *c) {
  double friction = 0; /* of all contacts, in frames of older versions */
  if (H5Aexists(g, "friction") > 0) TL_TRY(tl_h5_get_real(f, g, "friction", &friction, 1));
  TL_TRY(tl_h5_array_rows(f, g, "first", &c->count));
  TL_TRY(TL_NEW(c->rows, (size_t)c->count));
  for (int64_t i = 0; i < c->count; i++) c->rows[i].friction = friction;
  TlH5Column column[TL_H5_RECORD_COLUMNS];
  int columns = tl_h5_record_columns(&tl_contact_row_record, false, column);
  return tl_h5_columns_read(f, g, column, columns, c->rows, sizeof *c->rows, c->count);
}

static TlStatus read_contacts(const char *path, void *of) {
  ContactJob *j = of;
  const TlH5File *f = &j->file;
  TL_TRY(tl_h5_open(&j->file, path));
  TL_TRY(tl_h5_check_format(f, "talus frame", TL_RESULTS_FORMAT));
  bool there;
  TL_TRY(tl_context(tl_h5_has(f->id, "contact", &there), "%s", f->name));
  if (!there) return TL_OK;
  TL_H5_OWNED hid_t g = H5Gopen2(f->id, "contact", H5P_DEFAULT);
  if (g < 0) return tl_h5_fail(f, "opening the contacts' group");
  return read_contact_rows(f, g, &j->contacts);
}

/* Without contacts there are no rows. */
static TlStatus tell_contacts(TlSandbox *s, void *of) {
  TlFrameContacts *c = &((ContactJob *)of)->contacts;
  TL_TRY(tl_sandbox_pass(s, &c->count, sizeof c->count));
  TL_TRY(TL_SANDBOX_PASS_ARRAY(s, c->rows, c->count));
  c->there = c->rows != NULL;
  if (!c->there) c->count = 0;
  return TL_OK;
}

static void release_contacts(void *of) {
  ContactJob *j = of;
  TL_CLEAN_UP(tl_h5_close(&j->file)); /* what was read is here */
  tl_frame_contacts_free(&j->contacts);
}

static const TlSandboxReader contact_reader = {.name = "contacts of a frame",
                                               .job_bytes = sizeof(ContactJob),
                                               .prepare = tl_h5_prepare,
                                               .read = read_contacts,
                                               .tell = tell_contacts,
                                               .release = release_contacts};
TL_SANDBOX_READER(contact_reader)

TlStatus tl_results_read_contacts(const char *folder, int64_t index, TlFrameContacts *contacts) {
  ContactJob job = {0};
  char *path = tl_results_frame_path(folder, index);
  *contacts = (TlFrameContacts){0};
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_sandbox_read(&contact_reader, path, 0, &job);
  tl_free(path);
  if (status == TL_OK)
    *contacts = job.contacts;
  else
    tl_frame_contacts_free(&job.contacts);
  return status;
}
