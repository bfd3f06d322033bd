/* What a run that continues adds to run.h5. Also there HDF5 decodes what a file holds, so the
 * change is made in the sandbox (base/sandbox.h), to a copy. */
#include "store/results.h"
#include "store/results_h5.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/sandbox.h"

typedef struct Job {
  char *name;   /* of the product, for messages. Owned, as the next one */
  char *record; /* a JSON array of this run alone */
} Job;

static TlStatus ask(TlSandbox *s, void *of) {
  Job *j = of;
  TL_TRY(tl_sandbox_pass_text(s, &j->name));
  return tl_sandbox_pass_text(s, &j->record);
}

static TlStatus add_record(const TlH5File *f, const char *record) {
  char *before = NULL, *after = NULL;
  TlStatus status = tl_h5_read_text(f, f->id, "provenance", &before);
  if (status == TL_OK) status = tl_provenance_join(before, record, &after);
  if (status == TL_OK) status = tl_h5_replace_text(f, f->id, "provenance", after);
  tl_free(before);
  tl_free(after);
  return status;
}

/* path: the copy */
static TlStatus change(const char *path, void *of) {
  const Job *j = of;
  TlH5File file;
  TL_TRY(tl_h5_change(&file, path, j->name));
  TlStatus status = add_record(&file, j->record);
  TlStatus closed = tl_h5_close(&file);
  return status == TL_OK ? closed : status;
}

static TlStatus tell(TlSandbox *s, void *of) {
  (void)s;
  (void)of;
  return TL_OK;
}

static void release(void *of) {
  Job *j = of;
  tl_free(j->name);
  tl_free(j->record);
}

static const TlSandboxReader run_changer = {.name = "change of run.h5",
                                            .writes = true,
                                            .job_bytes = sizeof(Job),
                                            .prepare = tl_h5_prepare,
                                            .ask = ask,
                                            .read = change,
                                            .tell = tell,
                                            .release = release};
TL_SANDBOX_READER(run_changer)

TlStatus tl_results_add_run(const char *folder, const TlProvenance *run) {
  TlOutFile out;
  Job job = {0};
  char *path = tl_path_join(folder, "run.h5");
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_outfile_begin(&out, path, true);
  tl_free(path);
  TL_TRY(status);
  job.name = tl_strdup(out.path);
  status = job.name ? tl_provenance_append(run, NULL, &job.record) : TL_ENOMEM;
  if (status == TL_OK) status = tl_file_copy(out.path, out.temp);
  if (status == TL_OK) status = tl_sandbox_read(&run_changer, out.temp, 0, &job);
  release(&job);
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}
