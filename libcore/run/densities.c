#include "run/densities.h"

#include "base/log.h"
#include "base/mem.h"
#include "shape/rock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char suffix[] = " kg/m3";

/* A copy of row i behind the last. */
static TlStatus repeat_row(const TlStudySection *section, TlStudyList *rows, int64_t i) {
  size_t size = section->size;
  unsigned char *all;
  TL_TRY(TL_NEW(all, (size_t)(rows->count + 1) * size));
  if (rows->count > 0) memcpy(all, rows->items, (size_t)rows->count * size);
  TlStatus status =
      tl_study_values_copy(section, all + (size_t)i * size, all + (size_t)rows->count * size);
  if (status != TL_OK) {
    tl_free(all);
    return status;
  }
  tl_free(rows->items);
  rows->items = all;
  rows->count++;
  return TL_OK;
}

static TlStatus call_it(char **name, const char *to) {
  char *text = tl_strdup(to);
  if (!text) return TL_ENOMEM;
  tl_free(*name);
  *name = text;
  return TL_OK;
}

/* Pairs of the one are pairs of the other, too: with third ones, with itself, and of the two. */
static TlStatus repeat_pairs(TlSetup *s, const char *of, const char *other) {
  TlStudyList *pairs = &s->pairs;
  for (int64_t i = 0, end = pairs->count; i < end; i++) {
    const TlPairSetup *p = (const TlPairSetup *)pairs->items + i;
    bool first = strcmp(p->between.items[0], of) == 0,
         second = strcmp(p->between.items[1], of) == 0;
    for (int which = 1; which < 4; which++) { /* bit 0: the first is replaced; bit 1: the second */
      if ((which & 1 && !first) || (which & 2 && !second) || (first && second && which == 2))
        continue;
      TL_TRY(repeat_row(&tl_pair_row, pairs, i));
      TlPairSetup *copy = (TlPairSetup *)pairs->items + pairs->count - 1;
      if (which & 1) TL_TRY(call_it(&copy->between.items[0], other));
      if (which & 2) TL_TRY(call_it(&copy->between.items[1], other));
    }
  }
  return TL_OK;
}

TlStatus tl_body_set_density(TlSetup *s, TlBodySetup *body, double density) {
  const TlShapeSetup *shape = s->shapes.items;
  int64_t of_shape = body->shape ? tl_shapes_index(&s->shapes, body->shape) : -1;
  const char *own = body->material                              ? body->material
                    : of_shape >= 0 && shape[of_shape].material ? shape[of_shape].material
                    : s->grains.material                        ? s->grains.material
                                                                : TL_GRAIN_MATERIAL;
  char name[TL_MATERIAL_NAME];
  if (body->parts.count > 0)
    return tl_fail(TL_EINPUT, "density_kg_m3: the body has parts, whose materials say it");
  int length = snprintf(name, sizeof name, "%s, %.6g%s", own, density, suffix);
  if (length >= (int)sizeof name)
    return tl_fail(TL_EINPUT,
                   "density_kg_m3: the name of the material '%s' is too long for one of "
                   "another density",
                   own);
  TlMaterialSetup *listed = s->materials.items;
  int64_t base = -1, known = -1;
  for (int64_t i = 0; i < s->materials.count; i++) {
    if (strcmp(listed[i].name, own) == 0) base = i;
    if (strcmp(listed[i].name, name) == 0) known = i;
  }
  if (known < 0) {
    if (base >= 0) {
      TL_TRY(repeat_row(&tl_material_row, &s->materials, base));
    } else { /* all by default */
      TL_TRY(TL_NEW(listed, (size_t)(s->materials.count + 1)));
      if (s->materials.count > 0)
        memcpy(listed, s->materials.items, (size_t)s->materials.count * sizeof *listed);
      listed[s->materials.count] = (TlMaterialSetup){.poisson = -1};
      tl_free(s->materials.items);
      s->materials.items = listed;
      s->materials.count++;
    }
    listed = (TlMaterialSetup *)s->materials.items + s->materials.count - 1;
    listed->density_kg_m3 = density;
    TL_TRY(call_it(&listed->name, name));
    TL_TRY(repeat_pairs(s, own, name));
  }
  return call_it(&body->material, name);
}

bool tl_material_has_density_of(const char *name, const char *of) {
  size_t length = strlen(of);
  if (strncmp(name, of, length) != 0) return false;
  for (const char *rest = name + length; *rest;) {
    char *end;
    if (strncmp(rest, ", ", 2) != 0) return false;
    strtod(rest + 2, &end);
    if (end == rest + 2 || strncmp(end, suffix, sizeof suffix - 1) != 0) return false;
    rest = end + sizeof suffix - 1;
  }
  return true;
}

void tl_density_warn(const TlMaterial *m, int64_t blocks) {
  double density = m->density_kg_m3;
  if (blocks == 0 || (density >= TL_ROCK_LEAST_KG_M3 && density <= TL_ROCK_MOST_KG_M3)) return;
  tl_log_warn("%lld %s of %g kg/m3 (material %s); rock has %d to %d: energies are as wrong as the "
              "density",
              (long long)blocks, blocks == 1 ? "block is" : "blocks are", density, m->name,
              TL_ROCK_LEAST_KG_M3, TL_ROCK_MOST_KG_M3);
}
