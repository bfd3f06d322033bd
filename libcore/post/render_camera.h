/* The camera of the pictures: a pinhole, placed by hand or automatically.
 *
 * World frame of the study (z up, metres). Automatic: looks upslope at three quarters from the
 * side to which the grains moved (else the terrain's fall line), far enough that the whole path and
 * the ground about it are in the frame, and high enough that no ridge hides the grains.
 */
#ifndef TL_POST_RENDER_CAMERA_H
#define TL_POST_RENDER_CAMERA_H

#include "store/results.h"

typedef struct TlCamera {
  TlVec3 from, right, up, forward; /* orthonormal */
  double tan_x, tan_y;             /* of half the field of view */
  double focus_m;                  /* distance at which the scale bar holds */
} TlCamera;

/* fov_deg: of the height. */
TlCamera tl_camera_look(TlVec3 from, TlVec3 at, double fov_deg, int width, int height);

/* Unit direction through the point (x, y) of the picture, pixels. */
TlVec3 tl_camera_ray(const TlCamera *camera, double x, double y, int width, int height);
/* Where a world point lands; false behind the camera. */
bool tl_camera_project(const TlCamera *camera, TlVec3 p, int width, int height, double *x,
                       double *y);

/* Where the grains have been: filled frame by frame. */
typedef struct TlRenderPath {
  TlVec3 *points; /* owned */
  size_t count, capacity;
  bool bare; /* set before: nets and platens need not be in view */
  int64_t frames;
  TlVec3 first, last; /* mean position in the first and the last frame */
  double largest_m;   /* largest bounding radius */
  double speed_max_m_s, height_min_m, height_max_m, size_min_m, size_max_m;
} TlRenderPath;

/* At most 400 grains a frame are kept; those flagged outside the terrain are passed over. */
TlStatus tl_render_path_add(TlRenderPath *path, const TlScene *scene, const TlFrame *frame);
void tl_render_path_free(TlRenderPath *path);

/* close: frame the grains only, not the ground about them. An empty path frames the terrain. */
TlStatus tl_camera_automatic(const TlScene *scene, const TlRenderPath *path, bool close,
                             double fov_deg, int width, int height, TlCamera *camera);
/* From a side: azimuth counter-clockwise from +x and elevation above the horizon say where the
 * camera stands, seen from the grains; as far off as the whole path needs. */
TlStatus tl_camera_from_side(const TlScene *scene, const TlRenderPath *path, double azimuth_deg,
                             double elevation_deg, double fov_deg, int width, int height,
                             TlCamera *camera);

#endif
