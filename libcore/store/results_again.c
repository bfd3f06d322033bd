/* What a run that goes on adds to run.h5. */
#include "store/results.h"
#include "store/results_h5.h"

#include "base/file.h"
#include "base/mem.h"

static TlStatus add_record(const TlH5File *f, const TlProvenance *run) {
  char *before = NULL, *after = NULL;
  TlStatus status = tl_h5_read_text(f, f->id, "provenance", &before);
  if (status == TL_OK) status = tl_provenance_append(run, before, &after);
  if (status == TL_OK) status = tl_h5_replace_text(f, f->id, "provenance", after);
  tl_free(before);
  tl_free(after);
  return status;
}

static TlStatus change(const TlOutFile *out, const TlProvenance *run) {
  TlH5File file;
  TL_TRY(tl_file_copy(out->path, out->temp));
  TL_TRY(tl_h5_change(&file, out->temp, out->path));
  TlStatus status = add_record(&file, run);
  TlStatus closed = tl_h5_close(&file);
  return status == TL_OK ? closed : status;
}

TlStatus tl_results_add_run(const char *folder, const TlProvenance *run) {
  TlOutFile out;
  char *path = tl_path_join(folder, "run.h5");
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_outfile_begin(&out, path, true);
  tl_free(path);
  TL_TRY(status);
  status = change(&out, run);
  if (status == TL_OK) return tl_outfile_commit(&out);
  tl_outfile_abort(&out);
  return status;
}
