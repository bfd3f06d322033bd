/* Densities of rock: outside of them the density of blocks is likely a mistake, of which summaries,
 * captions and reports tell. */
#ifndef TL_SHAPE_ROCK_H
#define TL_SHAPE_ROCK_H

enum { TL_ROCK_LEAST_KG_M3 = 2300, TL_ROCK_MOST_KG_M3 = 3000 };

#endif
