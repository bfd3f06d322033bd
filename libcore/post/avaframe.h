/* The blocks of runs as AvaFrame reads the results of its own simulations, so that its probability maps
 * (ana4Stats/probAna) and its connector to QGIS take them: each block is one simulation.
 *
 * Into the folder "avaframe", which is the avalanche directory of AvaFrame, go
 *   Inputs/DEM.tif                                      the terrain
 *   Outputs/com1DFA/peakFiles/RELEASE_ID_C_null_talus_RESULT.tif
 *   Outputs/com1DFA/configurationFiles/RELEASE_ID_C_null_talus.ini
 * RELEASE is the run's name (without what AvaFrame parts names by), ID its number and the block's, C
 * says that the simulation is no default of AvaFrame's, null that there is neither entrainment nor
 * resistance, talus the model; RESULT is pfv, the largest speed of the mass centre in m/s, or pke, the
 * largest kinetic energy over the cell's area in kJ/m2; 0 where the block was not. Pressure and flow
 * thickness (ppr, pft) are not written: a block has none.
 *
 * Names and folders: AvaFrame's documentation (moduleAna4Stats, "To run") and its makeSimDF, probAnalysis
 * and createConfigurationInfo, as of November 2025. The connector analyses results of com1DFA
 * only, so they stand in that module's place; each .ini says what they are of.
 */
#ifndef TL_POST_AVAFRAME_H
#define TL_POST_AVAFRAME_H

#include "post/blocks.h"
#include "post/figures.h"

/* extension: tif, asc. TL_EINPUT: the folder is there already, for blocks of an older run would count in
 * it. Figure: avaframe_simulations. */
TlStatus tl_avaframe_write(const TlBlocks *blocks, const char *const *runs, const char *folder,
                           const char *extension, TlFigures *figures);

#endif
