/* Grains as text: LS-DEM's and LAMMPS' (the first byte says which). */
#include "fuzz/fuzz.h"

#include "post/export_levelset.h"
#include "post/export_morphology.h"

TL_FUZZ(morphology) {
  TlAvatar avatar = {0};
  if (size < 1) return;
  const char *path = tl_fuzz_file("grain.txt", bytes + 1, size - 1);
  tl_fuzz_done(bytes[0] % 2 ? tl_morphology_read(path, 1e-4, 1, &avatar)
                            : tl_lammps_read(path, 1e3, 50, &avatar));
  tl_avatar_free(&avatar);
}
