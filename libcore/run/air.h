/* Drag of the air on bodies in flight and on the ground: F = C rho A v^2/2 against the velocity of the
 * mass centre, A the section of the sphere of a body's volume (study: air_kg_m3, air_drag). Between
 * two steps v becomes v/(1 + k v dt), k = C rho A/(2 m), which is exact without other forces; with
 * them the error is of first order in the step. The spin is not dragged. By impulses only. */
#ifndef TL_RUN_AIR_H
#define TL_RUN_AIR_H

struct TlRun;

/* The owned bodies of the run, after a step; nothing without air. */
void tl_air_drag(struct TlRun *run);

#endif
