/* Four equal spheres, one on three (config/validation/repose_pyramid.yaml): without resistance to
 * rolling they stand from friction sqrt(3) - sqrt(2) on. */
#ifndef TL_TESTS_JUDGE_PYRAMID_H
#define TL_TESTS_JUDGE_PYRAMID_H

/* Least friction at which they stand by a solver.method, to 1e-4, by halving; NAN: at none, or
 * without. */
double pyramid_least_friction(const char *method);

#endif
