#include "post/packing_write.h"

#include "base/mem.h"
#include "post/packing_fabric.h"

#include <assert.h>

TlStatus tl_pack_begin(const TlPackWriting *to, const char *name, const char *header, TlCsv *csv) {
  char *path = tl_path_join(to->folder, name);
  if (!path) return TL_ENOMEM;
  TlStatus status = tl_csv_begin(csv, path, to->overwrite, header);
  tl_free(path);
  return status;
}

TlStatus tl_pack_finish(TlCsv *csv, TlStatus status) {
  if (status == TL_OK) return tl_csv_commit(csv);
  tl_csv_abort(csv);
  return status;
}

TlStatus tl_pack_put_cells(TlCsv *csv, const double *lead, int leads, int kind,
                           const TlVec3 *direction, int64_t count) {
  enum { CELLS = TL_FABRIC_BANDS * TL_FABRIC_SECTORS, LEADS = 4 };
  const double turn = 360.0 / TL_FABRIC_SECTORS, even = (double)count / CELLS;
  int64_t cell[CELLS];
  tl_fabric_histogram(direction, count, cell);
  assert(leads <= LEADS);
  for (int k = 0; k < CELLS; k++) {
    int band = k / TL_FABRIC_SECTORS, sector = k % TL_FABRIC_SECTORS;
    double row[LEADS + 7];
    for (int i = 0; i < leads; i++) row[i] = lead[i];
    const double rest[7] = {kind,
                            (double)band / TL_FABRIC_BANDS,
                            (double)(band + 1) / TL_FABRIC_BANDS,
                            turn * sector,
                            turn * (sector + 1),
                            (double)cell[k],
                            count ? (double)cell[k] / even : NAN};
    for (int i = 0; i < 7; i++) row[leads + i] = rest[i];
    TL_TRY(tl_csv_row(csv, row, leads + 7));
  }
  return TL_OK;
}
