#include "judge/judge.h"
#include "score/score.h"
#include <stdlib.h>
int main(int argc, char **argv) {
  judge_open("phantom", argc, argv);
  ScorePhantom p;
  JUDGE_OK(score_phantom_read(getenv("TALUS_PHANTOM"), &p));
  double v = 0;
  int64_t n = 0, whole = 0, lv = 0;
  for (int64_t i = 0; i < p.grain_count; i++)
    v += p.grains[i].volume, n += p.grains[i].voxels >= 500, whole += !p.grains[i].border,
        lv += p.grains[i].voxels;
  printf("%g %g %ld %ld %ld\n", v / 2097152, (double)lv / 2097152, n, whole,
         p.first[p.grain_count + 1]);
  TlVolume a, b, c;
  score_grey(&p.clean, &a);
  score_grey(&p.low, &b);
  score_grey(&p.high, &c);
  printf("%g %g\n", score_psnr(&b, &a), score_psnr(&c, &a));
  ScoreLabels s;
  score_labels(&p, &p.labels, &s);
  printf("%g %ld %ld %ld %ld\n", s.ari, s.wanted, s.matched, s.splits, s.merges);
  return judge_close();
}
