#include "image/nlm.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"

#include <assert.h>
#include <math.h>

enum { EDGE = 28, MARGIN = 3, CUBES = 4, MOST_TRIES = 400 };

static const TlNlmStrength DEFAULT_STRENGTH = {0.5, 0};
static const double PROBE = 0.1; /* e over sigma: small against the noise, large against rounding */
static const TlNlmStrength strengths[] = TL_NLM_STRENGTHS;
enum { STRENGTHS = sizeof strengths / sizeof *strengths };

static const TlRoi whole = {.kind = TL_ROI_ALL};

static int64_t edge_of(int64_t n) {
  return n < EDGE ? n : EDGE;
}

/* All eight corners and the centre in the region. */
static bool cube_inside(const TlRoi *roi, const int64_t at[3], const int64_t edge[3]) {
  for (int c = 0; c < 8; c++)
    if (!tl_roi_inside(roi, at[0] + (c & 1 ? edge[0] - 1 : 0), at[1] + (c & 2 ? edge[1] - 1 : 0),
                       at[2] + (c & 4 ? edge[2] - 1 : 0)))
      return false;
  return tl_roi_inside(roi, at[0] + edge[0] / 2, at[1] + edge[1] / 2, at[2] + edge[2] / 2) != 0;
}

static TlStatus cut_cube(const TlLayers *stack, const int64_t at[3], const int64_t edge[3],
                         TlVolume *cube) {
  TlVolume band;
  TL_TRY(tl_layers_grey(stack, at[2], edge[2], &band));
  TlStatus status = tl_volume_new(cube, TL_F32, edge[0], edge[1], edge[2]);
  for (int64_t i = 0; status == TL_OK && i < tl_volume_count(cube); i++) {
    int64_t x = i % edge[0], y = i / edge[0] % edge[1], z = i / edge[0] / edge[1];
    cube->f32[i] = band.f32[tl_volume_at(&band, at[0] + x, at[1] + y, z)];
  }
  tl_volume_free(&band);
  return status;
}

static float sign_of(int64_t i) {
  return tl_random_bits(1, 1, (uint64_t)i) & 1 ? 1 : -1;
}

/* Sum of the risk over the inner voxels of a cube; *n counts them. Borders of the cube, where
 * candidates are missing, would ask for a stronger filter. */
static double sum_risk(const TlVolume *cube, const TlVolume *out, const TlVolume *probed,
                       double sigma, double *n) {
  double sum = 0, e = PROBE * sigma;
  for (int64_t z = MARGIN; z < cube->nz - MARGIN; z++)
    for (int64_t y = MARGIN; y < cube->ny - MARGIN; y++)
      for (int64_t x = MARGIN; x < cube->nx - MARGIN; x++) {
        int64_t i = tl_volume_at(cube, x, y, z);
        double removed = (double)cube->f32[i] - (double)out->f32[i];
        double change = (double)probed->f32[i] - (double)out->f32[i];
        sum += removed * removed - sigma * sigma + 2 * sigma * sigma * sign_of(i) * change / e;
        *n += 1;
      }
  return sum;
}

static TlStatus judge_cube(const TlVolume *cube, const TlNlmOptions *options,
                           double risk[STRENGTHS], double *n) {
  TlVolume shaken, out = {0}, probed = {0};
  TlNlmOptions o = *options;
  o.quiet = true;
  TL_TRY(tl_volume_like(&shaken, cube, TL_F32));
  for (int64_t i = 0; i < tl_volume_count(cube); i++)
    shaken.f32[i] = cube->f32[i] + (float)(PROBE * o.sigma) * sign_of(i);
  TlStatus status = TL_OK;
  for (int k = 0; k < STRENGTHS && status == TL_OK; k++) {
    double inner = 0;
    o.h_factor = strengths[k].h_factor;
    o.reach = strengths[k].reach;
    status = tl_nlm(cube, &whole, &o, &out);
    if (status == TL_OK) status = tl_nlm(&shaken, &whole, &o, &probed);
    if (status == TL_OK) risk[k] += sum_risk(cube, &out, &probed, o.sigma, &inner);
    if (k == 0) *n += inner;
    tl_volume_free(&out);
    tl_volume_free(&probed);
  }
  tl_volume_free(&shaken);
  return status;
}

TlStatus tl_nlm_choose_strength_layers(const TlLayers *stack, const TlRoi *roi,
                                       TlNlmOptions *options) {
  assert(options->sigma > 0);
  int64_t n[3] = {stack->head.nx, stack->head.ny, stack->head.nz}, edge[3], places[3];
  double risk[STRENGTHS] = {0}, count = 0;
  for (int a = 0; a < 3; a++) {
    edge[a] = edge_of(n[a]);
    places[a] = n[a] - edge[a] + 1;
  }
  for (int t = 0, used = 0; t < MOST_TRIES && used < CUBES; t++) {
    int64_t at[3];
    for (int a = 0; a < 3; a++)
      at[a] = (int64_t)(tl_random_uniform(2, (uint64_t)a, (uint64_t)t) * (double)places[a]);
    if (!cube_inside(roi, at, edge)) continue;
    TlVolume cube;
    TL_TRY(cut_cube(stack, at, edge, &cube));
    TlStatus status = judge_cube(&cube, options, risk, &count);
    tl_volume_free(&cube);
    TL_TRY(status);
    used++;
  }
  int best = 0;
  for (int k = 0; k < STRENGTHS && count > 0; k++) {
    tl_log_debug("strength %.2f, reach %.2f: estimated rms error %.4g grey", strengths[k].h_factor,
                 strengths[k].reach, sqrt(fmax(risk[k] / count, 0)));
    if (risk[k] < risk[best]) best = k;
  }
  TlNlmStrength chosen = count > 0 ? strengths[best] : DEFAULT_STRENGTH;
  options->h_factor = chosen.h_factor;
  options->reach = chosen.reach;
  return TL_OK;
}

TlStatus tl_nlm_choose_strength(const TlVolume *grey, const TlRoi *roi, TlNlmOptions *options) {
  TlLayers layers;
  tl_layers_of(grey, &layers);
  return tl_nlm_choose_strength_layers(&layers, roi, options);
}
