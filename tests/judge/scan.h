/* Grains as an imaging chain gives them, made on the spot: a noisy synthetic scan of touching grains
 * (talus-phantom) goes through denoising, binarizing, labelling and avatars with every option as the tools have it
 * by default. Whatever fails ends the program. About 10 CPU-seconds. */
#ifndef TL_TESTS_SCAN_H
#define TL_TESTS_SCAN_H

/* Makes the catalog anew, with the grains that the scan's border does not cut as the sample "scan", voxels of 10 um.
 * The stacks lie beside it. */
void judge_scan(const char *catalog);

#endif
