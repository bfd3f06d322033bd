/* Plots of a run's measures over time as PNG, drawn by gnuplot through a pipe.
 *
 * Tables are CSV with a header of names that carry their units (time_s, kinetic_energy_J); each
 * column becomes a panel over time_s, and the columns in J are also drawn together. A column of
 * unknown unit is plotted without one. Empty fields are passed over; a column without any number
 * gets no panel (said in the log).
 */
#ifndef TL_POST_RENDER_PLOTS_H
#define TL_POST_RENDER_PLOTS_H

#include "base/status.h"

#include <stdbool.h>

/* folder/history.csv -> output/history.png and output/energy.png (when there are energies);
 * csv (may be NULL): one more table -> output/<its name>.png. The output folder is made.
 * TL_EINPUT: no table, no time_s column, no rows; TL_EIO: gnuplot missing or failed. */
TlStatus tl_render_plots(const char *folder, const char *csv, const char *output, bool overwrite);

/* "kinetic_energy_J" -> "kinetic energy [J]"; 96 bytes. */
void tl_plot_label(const char *column, char label[96]);

#endif
