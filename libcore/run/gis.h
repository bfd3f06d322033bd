/* Release areas and places of bodies from GIS files (io/vector.h): release.polygon_file and
 * bodies.N.points_file.
 *
 * Reading them replaces the keys: the polygon gets its corners, a row of bodies becomes one row for
 * each point, in the frame in which the study gives positions (run/places.h). So the effective study
 * holds them and names no GIS file.
 */
#ifndef TL_RUN_GIS_H
#define TL_RUN_GIS_H

#include "run/setup.h"
#include "shape/terrain.h"

/* Several areas, and areas with holes, become one line of corners: each ring begins and ends at its
 * first corner and is reached from the first ring's and left for it by the same way, which is
 * crossed twice or not at all. Rings about a hole turn the other way round.
 *
 * A point without above_ground_m, in the row or as a field, stands at the height of its geometry, which is taken as
 * metres of the terrain's heights, and must be above the ground.
 *
 * The field density_kg_m3 of a point gives its body a material of that density, else like the body's own, with its
 * pairs: it is added to the lists, as "NAME, D kg/m3". Of a release area it is grains.density_kg_m3.
 *
 * In an ensemble the field volume_m3 of a release area gives all blocks this volume, least_volume_m3 and
 * most_volume_m3 the range from which theirs are drawn (the keys of section ensemble), and a field count is
 * not used: ensemble.count says how many blocks are drawn.
 *
 * Fields with the name of a key (the first 10 letters suffice, as in a shapefile, capitals or not)
 * set it: of bodies at each point, of release where the file has one feature. The log says which
 * were used and which were not. TL_EINPUT at the study's key: what tl_vector_read refuses, a field's
 * value that the key does not take, places off the terrain or below the ground, points without a height.
 * terrain: NULL without one, and then no key names a file (tl_setup_fill). */
TlStatus tl_gis_read(TlSetup *setup, const TlStudy *study, const TlTerrain *terrain,
                     char *(*beside)(void *context, const char *file), void *context);

#endif
