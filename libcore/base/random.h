/* Counter-based random numbers: a pure function of (seed, stream, index), so results depend on
 * neither threads nor ranks nor call order. SplitMix64 finaliser over a Weyl sequence
 * (Steele, Lea, Flood 2014); good to well beyond what phantoms and placements ask. */
#ifndef TL_BASE_RANDOM_H
#define TL_BASE_RANDOM_H

#include <math.h>
#include <stdint.h>

static inline uint64_t tl_random_mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static inline uint64_t tl_random_bits(uint64_t seed, uint64_t stream, uint64_t index) {
  uint64_t key = tl_random_mix(seed + 0x9e3779b97f4a7c15u) ^ tl_random_mix(~stream);
  return tl_random_mix(tl_random_mix(key) + 0x9e3779b97f4a7c15u * (index + 1));
}
/* Uniform in [0, 1), 53 bits. */
static inline double tl_random_uniform(uint64_t seed, uint64_t stream, uint64_t index) {
  return (double)(tl_random_bits(seed, stream, index) >> 11) * 0x1p-53;
}
/* Standard normal (Box-Muller; uses indices 2i and 2i+1 of the stream). */
static inline double tl_random_normal(uint64_t seed, uint64_t stream, uint64_t index) {
  double u = 1.0 - tl_random_uniform(seed, stream, 2 * index);
  double v = tl_random_uniform(seed, stream, 2 * index + 1);
  return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

/* The same as a stream with its own counter. */
typedef struct TlRandom {
  uint64_t seed, stream, index;
} TlRandom;
static inline double tl_random_next(TlRandom *random) {
  return tl_random_uniform(random->seed, random->stream, random->index++);
}
static inline double tl_random_next_normal(TlRandom *random) {
  double x = tl_random_normal(random->seed, random->stream, random->index);
  random->index++;
  return x;
}

#endif
