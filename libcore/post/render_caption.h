/* What is written into a picture: title, time, grain scale, scale bar, colour bar. */
#ifndef TL_POST_RENDER_CAPTION_H
#define TL_POST_RENDER_CAPTION_H

#include "post/render.h"

void tl_render_captions(TlImage *image, const TlScene *scene, const TlFrame *frame,
                        const TlCamera *camera, const TlRenderOptions *options);

#endif
