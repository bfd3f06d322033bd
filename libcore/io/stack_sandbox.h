/* Stacks that a worker of the sandbox reads (base/sandbox.h), for the readers behind HDF5 and ITK.
 * The worker opens the file, sends its description, and answers requests for layers. */
#ifndef TL_IO_STACK_SANDBOX_H
#define TL_IO_STACK_SANDBOX_H

#include "base/sandbox.h"
#include "io/stack_parts.h"

/* The first member of a reader's job. */
typedef struct TlStackJob {
  char *asked;      /* which part of the file (a data set), or NULL. Owned */
  TlStackInfo info; /* voxel_from is left to the caller */
  int64_t deep;     /* layers that are read at once, at least 1 */
} TlStackJob;

/* For the table of a reader. release frees what TlStackJob owns. */
TlStatus tl_stack_job_ask(TlSandbox *sandbox, void *job);
TlStatus tl_stack_job_tell(TlSandbox *sandbox, void *job);
void tl_stack_job_release(TlStackJob *job);
/* Answers requests until the caller is done: read gives count layers from z, at most deep. */
TlStatus tl_stack_job_serve(TlSandbox *sandbox, void *job,
                            TlStatus (*read)(const void *job, int64_t z, int64_t count,
                                             uint8_t *voxels));

/* In the caller: open path by a reader as layers. asked may be NULL. more_memory as in
 * tl_sandbox_open. TL_EINPUT also when the description that arrived is no stack. */
TlStatus tl_stack_sandbox_layers(const TlSandboxReader *reader, const char *path, const char *asked,
                                 int64_t more_memory, TlStackInfo *info, TlLayers *layers);

#endif
