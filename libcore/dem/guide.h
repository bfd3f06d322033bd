/* Guided bodies: the platen of a triaxial cell on its piston.
 *
 * A guided body moves along the guide's axis only and does not spin about it. It is pushed by a
 * load or driven at a speed; it tilts freely about directions across the axis, or not at all. Its
 * centre is the point it tilts about. It has TL_BODY_GUIDED among its flags. Of the penalty method
 * (step_penalty.c); a solver by impulses refuses guides.
 */
#ifndef TL_DEM_GUIDE_H
#define TL_DEM_GUIDE_H

#include "base/status.h"
#include "dem/contact.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct TlGuide {
  int64_t body;     /* id */
  TlVec3 axis;      /* unit */
  bool driven;      /* at speed_m_s; else pushed by load_N */
  double speed_m_s; /* along the axis */
  double load_N;    /* along the axis */
  bool tilts;
} TlGuide;

/* TL_EUSAGE names the value that makes no sense. */
TlStatus tl_guide_check(const TlGuide *guide);
/* The guide of a body; NULL: it has none. */
const TlGuide *tl_guide_of(const TlGuide *guides, int count, int64_t id);
/* The twist that a kick would give the free body, but for the load, as the guide lets it be; push:
 * speed that a newton gives in the kick, s/kg. */
TlTwist tl_guided(const TlGuide *guide, TlTwist free, double push);
/* Work that the piston does on the body in a step: contact force on the body, speeds before and
 * after. */
double tl_guide_work(const TlGuide *guide, TlVec3 contact_N, TlVec3 before, TlVec3 after,
                     double step_s);

#endif
