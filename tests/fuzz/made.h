/* Small valid files that harnesses start from and seeds are made of. */
#ifndef TL_TESTS_FUZZ_MADE_H
#define TL_TESTS_FUZZ_MADE_H

#include "shape/avatar.h"
#include "shape/terrain.h"

/* One grain of 7 x 7 x 7 or so points; one terrain of 4 x 3 samples with a band. */
void tl_made_avatar(TlAvatar *avatar);
void tl_made_terrain(TlTerrain *terrain);
/* A catalog with both, in pages of 512 bytes. */
void tl_made_catalog(const char *path);
/* Text of a study of three balls above a plane that ends with step 6. */
extern const char tl_made_study[];
/* Runs it to step 6; results, with a checkpoint of each third step, lie in folder. */
void tl_made_run(const char *study_path, const char *folder);

/* Where the records of a checkpoint's section begin; NULL when there is none. */
unsigned char *tl_made_section(unsigned char *bytes, size_t size, const char *name);
/* Digests of a checkpoint's sections, set right in memory as far as its heads make sense: what
 * changes in a record shall be seen by who reads records, not by the digest alone. */
void tl_made_mend_checkpoint(unsigned char *bytes, size_t size);

#endif
