/* Columns of tables that were renamed: earlier name, present name. Readers accept both
 * (io/csv_table.h; python/talus/table.py holds the same list, and a test compares the two). */
#ifndef TL_IO_COLUMN_NAMES_H
#define TL_IO_COLUMN_NAMES_H

#define TL_COLUMN_NAMES(N)                                                                         \
  N("speed_max_m_s", "surface_speed_max_m_s")                                                      \
  N("poor", "embedded")                                                                            \
  N("jammed", "unresolved")                                                                        \
  N("energy_defect_J", "energy_balance_error_J")                                                   \
  N("defect_J", "balance_error_J")                                                                 \
  N("ram_work_J", "piston_work_J")                                                                 \
  N("fahrboeschung_deg", "reach_angle_deg")

#endif
