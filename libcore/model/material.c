#include "model/material.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

TlStatus tl_materials_new(TlMaterials *m, int32_t count) {
  *m = (TlMaterials){0};
  TL_TRY(TL_NEW(m->law, (size_t)count * (size_t)count));
  TL_TRY(TL_NEW(m->material, (size_t)count));
  m->count = count;
  return TL_OK;
}

TlStatus tl_materials_copy(TlMaterials *to, const TlMaterials *from) {
  TL_TRY(tl_materials_new(to, from->count));
  to->slips = from->slips;
  memcpy(to->law, from->law, (size_t)from->count * (size_t)from->count * sizeof *to->law);
  if (from->material)
    memcpy(to->material, from->material, (size_t)from->count * sizeof *to->material);
  return TL_OK;
}

void tl_materials_free(TlMaterials *m) {
  tl_free(m->law);
  tl_free(m->material);
  *m = (TlMaterials){0};
}

static int same_stiffness(const TlStiffness *a, const TlStiffness *b) {
#define F(key, ...) &&a->key == b->key
  return 1 TL_STIFFNESS_FIELDS(F, F);
#undef F
}

void tl_materials_set(TlMaterials *m, int32_t one, int32_t two, const TlPairLaw *law) {
  m->law[tl_pair_law(m, one, two)] = m->law[tl_pair_law(m, two, one)] = *law;
}

void tl_materials_set_friction(TlMaterials *m, int32_t one, int32_t two, double friction) {
  m->law[tl_pair_law(m, one, two)].friction = friction;
  m->law[tl_pair_law(m, two, one)].friction = friction;
}

static double lesser(double a, double b) {
  return a < b ? a : b;
}
static double series(double a, double b) {
  return a == b ? a : a + b > 0 ? 2 * a * b / (a + b) : 0;
}

TlPairLaw tl_pair_combined(const TlPairLaw *one, const TlPairLaw *two) {
  TlPairLaw law = *one;
#define F(key, member, unit, most, rule, ...) law.member = rule(one->member, two->member);
  TL_PAIR_FIELDS(F)
#undef F
  return law;
}

void tl_hertz_combined(const TlMaterial *one, const TlMaterial *two, TlStiffness *k) {
  double a = one->young_Pa, b = two->young_Pa, nu = one->poisson, mu = two->poisson;
  k->young_Pa = a > 0 && b > 0 ? a : 0;
  k->poisson = nu;
  if (!(k->young_Pa > 0) || (a == b && nu == mu)) return;
  double normal = (1 - nu * nu) / a + (1 - mu * mu) / b;                    /* 1/E* */
  double shear = 2 * (2 - nu) * (1 + nu) / a + 2 * (2 - mu) * (1 + mu) / b; /* 1/G* */
  /* Of one material shear/normal = 2 (2 - nu)/(1 - nu). */
  double ratio = shear / normal;
  k->poisson = (ratio - 4) / (ratio - 2);
  k->young_Pa = 2 * (1 - k->poisson * k->poisson) / normal;
}

const char *tl_pair_text(char text[TL_PAIR_TEXT], const TlMaterials *m, int32_t one, int32_t two) {
  bool named = m->material && m->material[one].name[0] && m->material[two].name[0];
  if (named)
    snprintf(text, TL_PAIR_TEXT, "materials '%s' and '%s'", m->material[one].name,
             m->material[two].name);
  else
    snprintf(text, TL_PAIR_TEXT, "materials %d and %d", one, two);
  return text;
}

static TlStatus check_value(const TlMaterials *m, const char *name, int32_t one, int32_t two,
                            double value, double least, double most) {
  char pair[TL_PAIR_TEXT];
  if (value >= least && value <= most) return TL_OK; /* NaN is in no range */
  return tl_fail(TL_EUSAGE, "%s of %s = %g: must lie in [%g, %g]", name,
                 tl_pair_text(pair, m, one, two), value, least, most);
}

TlStatus tl_stiffness_check(const TlMaterials *m, int32_t one, int32_t two) {
  const TlStiffness *k = &m->law[tl_pair_law(m, one, two)].stiffness;
#define F(key, member, unit, most, rule, help, preset, least, boundary)                            \
  TL_TRY(check_value(m, #key, one, two, k->key, least, most));
  TL_STIFFNESS_FIELDS(F, F)
#undef F
  return TL_OK;
}

/* Velocity kept by a linear contact whose damping is the fraction z < 1 of the critical one, and
 * that ends when its force is zero, not when its depth is (Schwager, Poeschel 2007, Eq. 21). */
static double kept(double z) {
  double root = sqrt(1 - z * z);
  return exp(-z / root * (M_PI - atan2(2 * z * root, 1 - 2 * z * z)));
}

double tl_damping_of(double restitution) {
  double low = 0, high = 1;
  if (restitution >= 1) return 0;
  if (restitution <= TL_LEAST_RESTITUTION) return 1;
  for (int i = 0; i < 50; i++) {
    double middle = 0.5 * (low + high);
    if (kept(middle) > restitution)
      low = middle;
    else
      high = middle;
  }
  return 0.5 * (low + high);
}

TlStatus tl_materials_finish(TlMaterials *m) {
  char pair[TL_PAIR_TEXT];
  m->slips = false;
  for (int32_t i = 0; i < m->count; i++)
    for (int32_t j = 0; j < m->count; j++) {
      TlPairLaw *law = &m->law[tl_pair_law(m, i, j)];
      m->slips = m->slips || law->slip_friction > law->friction || law->drag_per_s > 0 ||
                 law->scar_modulus_Pa > 0;
      if (law->scar_modulus_Pa > 0 && law->drag_per_s > 0)
        return tl_fail(TL_EUSAGE,
                       "scar_modulus_Pa of %s: they have drag_per_s, too; each is the drag of the "
                       "ground, give one of them",
                       tl_pair_text(pair, m, i, j));
#define F(key, member, unit, most, ...) TL_TRY(check_value(m, #key, i, j, law->member, 0, most));
      TL_PAIR_FIELDS(F)
#undef F
      law->damping = tl_damping_of(law->restitution);
      law->stiffness_kind = 0; /* the number of the first law of this stiffness */
      while (!same_stiffness(&m->law[law->stiffness_kind].stiffness, &law->stiffness))
        law->stiffness_kind++;
    }
  return TL_OK;
}
