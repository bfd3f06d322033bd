/* Voxel stacks against NumPy, h5py and GDAL: order of the voxels, byte order, voxel size and
 * cylinder in the places that docs/reference/formats.md gives them. */
#include "io/stack.h"
#include "support/golden.h"

#include "base/file.h"

enum { NX = 5, NY = 4, NZ = 3 };

static void same_voxels(const char *name, const TlVolume *v, TlVoxelType type, bool mirrored) {
  bool negative = type == TL_I16 || type == TL_I32 || type == TL_F32;
  ck_assert_msg(v->type == type, "%s is of type %s", name, tl_voxel_name(v->type));
  ck_assert_msg(v->nx == NX && v->ny == NY && v->nz == NZ, "%s", name);
  for (int64_t z = 0; z < NZ; z++)
    for (int64_t y = 0; y < NY; y++)
      for (int64_t x = 0; x < NX; x++) {
        double want = (double)(100 * z + 10 * y + (mirrored ? NX - 1 - x : x));
        double found = tl_volume_value(v, tl_volume_at(v, x, y, z));
        ck_assert_msg(found == (negative ? -want : want), "%s: %g at %d %d %d", name, found, (int)x,
                      (int)y, (int)z);
      }
}

static void read_one(TlVolume *v, const char *name, TlVoxelType type, bool mirrored) {
  char *path = tl_path_join(tl_test_folder(), name);
  CK_OK(tl_stack_read(path, &(TlStackOptions){.allow_gaps = false}, NULL, v));
  same_voxels(name, v, type, mirrored);
  tl_free(path);
}

START_TEST(stacks_of_other_programs_are_read) {
  TlVolume v;
  char *arguments = tl_format("write %s", tl_test_folder());
  golden("stacks", arguments);
  tl_free(arguments);
  read_one(&v, "a.nrrd", TL_U16, false);
  CK_NEAR(v.voxel_m[0], 0, 0); /* a spacing without a unit is not taken */
  tl_volume_free(&v);
  read_one(&v, "b.nhdr", TL_F32, false);
  tl_volume_free(&v);
  read_one(&v, "c.mha", TL_I16, false);
  CK_NEAR(v.voxel_m[0], 0, 0);
  tl_volume_free(&v);
  read_one(&v, "d.mhd", TL_U32, false);
  tl_volume_free(&v);
  read_one(&v, "e.h5", TL_I32, false);
  CK_NEAR(v.voxel_m[0], 1.5e-6, 1e-18);
  CK_NEAR(v.voxel_m[1], 2.5e-6, 1e-18);
  CK_NEAR(v.voxel_m[2], 4e-6, 1e-18);
  CK_NEAR(v.cylinder[0], 2.25, 0);
  CK_NEAR(v.cylinder[1], 1.75, 0);
  CK_NEAR(v.cylinder[2], 1.5, 0);
  tl_volume_free(&v);
  read_one(&v, "e.h5:/other/two", TL_U8, true);
  tl_volume_free(&v);
  read_one(&v, "f.tif", TL_U16, false);
  tl_volume_free(&v);
}
END_TEST

START_TEST(other_programs_read_stacks_of_talus) {
  static char *command[] = {"talus-test"};
  static const char *const names[] = {"written.h5", "written.tif"};
  TlVolume v;
  CK_OK(tl_volume_new(&v, TL_I16, NX, NY, NZ));
  for (int64_t i = 0; i < tl_volume_count(&v); i++)
    v.i16[i] = (int16_t)(-(100 * (i / NX / NY) + 10 * (i / NX % NY) + i % NX));
  v.voxel_m[0] = 1.5e-6, v.voxel_m[1] = 2.5e-6, v.voxel_m[2] = 4e-6;
  v.cylinder[0] = 2.25, v.cylinder[1] = 1.75, v.cylinder[2] = 1.5;
  for (int k = 0; k < 2; k++) {
    TlProvenance p;
    tl_provenance_begin(&p, "talus-test", 1, command);
    CK_OK(tl_provenance_parameter(&p, "level", "7"));
    char *path = tl_path_join(tl_test_folder(), names[k]);
    char *arguments = tl_format("check %s", path);
    CK_OK(tl_stack_write(path, &v, &p, false));
    golden("stacks", arguments);
    tl_free(arguments);
    tl_free(path);
    tl_provenance_free(&p);
  }
  tl_volume_free(&v);
}
END_TEST

TL_TEST_MAIN("golden stacks", stacks_of_other_programs_are_read,
             other_programs_read_stacks_of_talus)
