/* What a run leaves: scene, frames and history, written by rank 0 (store/results.h).
 *
 * Rows of a frame come to rank 0 in blocks of bounded size, rank after rank: its memory does not
 * grow with the number of bodies. Readers sort by id.
 */
#ifndef TL_RUN_OUTPUT_H
#define TL_RUN_OUTPUT_H

#include "base/comm.h"
#include "run/avatars.h"
#include "store/results.h"

typedef struct TlOutput {
  TlComm *comm;            /* borrowed */
  TlResultsWriter *writer; /* rank 0 only */
  TlBodyRow *block;
  int64_t frames; /* written so far */
} TlOutput;

/* Collective. scene matters on rank 0; its avatars are those that bodies of any rank use, or will
 * (later: more ids, sorted, the same on all ranks), taken from avatars' sources one by one. */
TlStatus tl_output_open(TlOutput *output, TlComm *comm, const char *folder, bool overwrite,
                        const TlScene *scene, const TlAvatarCache *avatars, const TlBodies *bodies,
                        const TlInts *later);
/* Collective. The owned bodies, whose derived fields must be filled. */
TlStatus tl_output_frame(TlOutput *output, const TlBodies *bodies, int64_t step, double time_s);
/* Collective: the values of rank 0 are written. */
TlStatus tl_output_history(TlOutput *output, const double *values, int count);
TlStatus tl_output_history_header(TlOutput *output, const char *header);
void tl_output_close(TlOutput *output);

#endif
