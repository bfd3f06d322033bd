/* A frame and its contacts. */
#include "fuzz/fuzz.h"

#include "store/results.h"

TL_FUZZ(h5_frame) {
  TlFrame frame;
  TlFrameContacts contacts;
  (void)tl_fuzz_file("frame_000001.h5", bytes, size);
  TlStatus status = tl_results_read_frame(tl_fuzz_folder(), 1, &frame);
  tl_fuzz_done(status);
  if (status == TL_OK) tl_frame_free(&frame);
  tl_fuzz_done(status = tl_results_read_contacts(tl_fuzz_folder(), 1, &contacts));
  if (status == TL_OK) tl_frame_contacts_free(&contacts);
}
