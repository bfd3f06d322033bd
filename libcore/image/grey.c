#include "image/slabs.h"

#include "base/mem.h"

#include <assert.h>
#include <math.h>

static float rounded(float grey, float low, float high) {
  float whole = rintf(grey);
  return whole < low ? low : whole > high ? high : whole;
}

#define STORE(member, element, low, high)                                                          \
  for (int64_t i = 0; i < count; i++)                                                              \
    out->member[i] = (element)rounded(grey->f32[i], (low), (high));                                \
  break

static void store(const TlVolume *grey, TlVolume *out) {
  int64_t count = tl_volume_count(grey);
  switch (out->type) {
  case TL_U8:
    STORE(u8, uint8_t, 0, 255);
  case TL_I8:
    STORE(i8, int8_t, -128, 127);
  case TL_U16:
    STORE(u16, uint16_t, 0, 65535);
  case TL_I16:
    STORE(i16, int16_t, -32768, 32767);
  default:
    for (int64_t i = 0; i < count; i++) out->f32[i] = grey->f32[i];
  }
}

TlStatus tl_grey_store(const TlVolume *grey, TlVoxelType type, TlVolume *out) {
  assert(grey->type == TL_F32);
  TL_TRY(tl_volume_like(out, grey, type == TL_U32 || type == TL_I32 ? TL_F32 : type));
  store(grey, out);
  if (grey->history && !(out->history = tl_strdup(grey->history))) {
    tl_volume_free(out);
    return TL_ENOMEM;
  }
  return TL_OK;
}
