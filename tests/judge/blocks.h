/* Blocks of the studies of rockfall. */
#ifndef TL_TESTS_JUDGE_BLOCKS_H
#define TL_TESTS_JUDGE_BLOCKS_H

#include "base/random.h"
#include "num/vec.h"

enum { JUDGE_CORNERS = 24 };
/* Corners of a truncated octahedron stretched to this box, of which it fills half. */
void judge_octahedron(const double size_m[3], TlVec3 corner_m[JUDGE_CORNERS]);
/* The same as an OBJ file. */
void judge_write_octahedron(const char *path, const double size_m[3]);

/* Every attitude is as likely. */
TlQuat judge_attitude(TlRandom *random);

#endif
