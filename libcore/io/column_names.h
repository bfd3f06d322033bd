/* Columns of tables that were renamed: earlier name, present name. Readers accept both
 * (io/csv_table.h; python/talus/table.py holds the same list, and a test compares the two). */
#ifndef TL_IO_COLUMN_NAMES_H
#define TL_IO_COLUMN_NAMES_H

#define TL_COLUMN_NAMES(N) N("speed_max_m_s", "surface_speed_max_m_s")

#endif
