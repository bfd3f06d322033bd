/* Ground as rockfall engineers name it: seven kinds from extra soft to extra hard, each with friction
 * that rises with the distance slid, drag while a block touches it, and no restitution (Leine and others
 * 2014; docs/theory/ground.md). Which of the values were compared with a source: shape/ground_sources.h.
 * A kind is a row:
 *
 *   enumerator, name in studies, friction at first, decay 1/s, rise 1/m, drag 1/s
 */
#ifndef TL_RUN_GROUND_KINDS_H
#define TL_RUN_GROUND_KINDS_H

#include "model/material.h"

#define TL_GROUND_KINDS(K)                                                                         \
  K(TL_GROUND_EXTRA_SOFT, "extra-soft", 0.20, 50, 1, 0.9)                                          \
  K(TL_GROUND_SOFT, "soft", 0.25, 100, 1.25, 0.8)                                                  \
  K(TL_GROUND_MEDIUM_SOFT, "medium-soft", 0.30, 125, 1.5, 0.7)                                     \
  K(TL_GROUND_MEDIUM, "medium", 0.35, 150, 2, 0.6)                                                 \
  K(TL_GROUND_MEDIUM_HARD, "medium-hard", 0.40, 175, 2.5, 0.5)                                     \
  K(TL_GROUND_HARD, "hard", 0.55, 185, 3, 0.4)                                                     \
  K(TL_GROUND_EXTRA_HARD, "extra-hard", 0.80, 200, 4, 0.3)
#define TL_GROUND_MOST_FRICTION 2 /* after long sliding, of all kinds */

typedef enum TlGroundKind {
  TL_GROUND_NONE = 0,
#define K(id, ...) id,
  TL_GROUND_KINDS(K)
#undef K
} TlGroundKind;
#define TL_GROUND_CHOICES "none|extra-soft|soft|medium-soft|medium|medium-hard|hard|extra-hard"

const char *tl_ground_name(TlGroundKind kind);
/* Of a block on this ground; with TL_GROUND_NONE the law stays as it is. shift: so many kinds towards
 * extra hard (below 0: extra soft), straight between two kinds, no farther than the last. */
void tl_ground_law(TlGroundKind kind, double shift, TlPairLaw *law);

#endif
