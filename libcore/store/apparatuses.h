/* The table of apparatus: laboratory devices that a study may have, at most one in a run.
 *
 *   id, key of its section in the study, kind of that section, its parameters, its sections
 *
 * One row here and one file in run/ (run/apparatus.h) make a device. A run with it writes the table
 * KEY.csv beside its frames, which is why the list stands on this floor. */
#ifndef TL_STORE_APPARATUSES_H
#define TL_STORE_APPARATUSES_H

#define TL_APPARATUSES(A)                                                                          \
  A(TRIAXIAL, triaxial, "A triaxial cell round the grains", 7, 2)                                  \
  A(OEDOMETER, oedometer, "An oedometer: a rigid ring and a loaded top platen", 7, 1)              \
  A(DIRECT_SHEAR, direct_shear, "A direct shear box: two half boxes and a loaded top platen", 14, 0)

#endif
