/* How fast is this machine, beside the one on which the peers' figures were recorded?
 *
 * A fixed loop of arithmetic (dependent and independent multiplications and additions, a square
 * root) and as many reads of memory in a scattered order over 32 MB is timed in CPU seconds of the
 * thread, the fastest of nine. The reads are nine tenths of its time and more, and vary with what
 * else runs on a shared machine (docs/performance.md). Its time on the reference machine (two cores
 * of a shared AMD EPYC, family 25 model 1, idle) stands in calibrate.c. A recorded figure of a peer
 * times judge_machine_factor() is what the peer would need here.
 */
#ifndef TL_TESTS_CALIBRATE_H
#define TL_TESTS_CALIBRATE_H

/* CPU seconds of the loop here over those on the reference machine; measured once, then kept. */
double judge_machine_factor(void);

/* A peer's recorded time (any unit) as it would be here; adds the note "recorded: what". */
double judge_recorded(double value, const char *unit, const char *what);

#endif
