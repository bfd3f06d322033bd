#include "store/results_layout.h"
#include "store/results_tables.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define AVATAR(member) offsetof(TlAvatarRow, avatar.member)
#define PART(member) offsetof(TlPartRow, part.member)
#define DRIVE(member) offsetof(TlPartRow, part.drive.member)

const TlH5Column tl_material_columns[TL_MATERIAL_COLUMNS] = {
    {"density_kg_m3", "kg/m3", TL_H5_F64, 1, offsetof(TlMaterial, density_kg_m3)},
    {"young_Pa", "Pa", TL_H5_F64, 1, offsetof(TlMaterial, young_Pa)},
    {"poisson", "1", TL_H5_F64, 1, offsetof(TlMaterial, poisson)},
};

const TlH5Column tl_pair_columns[TL_PAIR_COLUMNS] = {
    {"first", "", TL_H5_I32, 1, offsetof(TlPairRow, first)},
    {"second", "", TL_H5_I32, 1, offsetof(TlPairRow, second)},
#define F(key, member, unit, ...)                                                                  \
  {#key, unit[0] ? unit : "1", TL_H5_F64, 1, offsetof(TlPairRow, law.member), true},
    TL_PAIR_FIELDS(F) TL_STIFFNESS_FIELDS(TL_NO_FIELD, F)
#undef F
};

const TlH5Column tl_avatar_columns[TL_AVATAR_COLUMNS] = {
    {"id", "", TL_H5_I64, 1, AVATAR(id)},
    {"label", "", TL_H5_U32, 1, AVATAR(label)},
    {"border", "", TL_H5_U8, 1, offsetof(TlAvatarRow, border)},
    {"nx", "", TL_H5_I32, 1, AVATAR(nx)},
    {"ny", "", TL_H5_I32, 1, AVATAR(ny)},
    {"nz", "", TL_H5_I32, 1, AVATAR(nz)},
    {"node_count", "", TL_H5_I32, 1, AVATAR(node_count)},
    {"phi_start", "", TL_H5_I64, 1, offsetof(TlAvatarRow, phi_start)},
    {"node_start", "", TL_H5_I64, 1, offsetof(TlAvatarRow, node_start)},
    {"spacing_m", "m", TL_H5_F64, 1, AVATAR(spacing_m)},
    {"origin_m", "m", TL_H5_F64, 3, AVATAR(origin_m)},
    {"phi_error_m", "m", TL_H5_F64, 1, AVATAR(phi_error_m)},
    {"gradient_max", "1", TL_H5_F64, 1, AVATAR(gradient_max)},
    {"volume_m3", "m3", TL_H5_F64, 1, AVATAR(volume_m3)},
    {"area_m2", "m2", TL_H5_F64, 1, AVATAR(area_m2)},
    {"inertia_m5", "m5", TL_H5_F64, 3, AVATAR(inertia_m5)},
    {"radius_m", "m", TL_H5_F64, 1, AVATAR(radius_m)},
    {"scan_centroid_m", "m", TL_H5_F64, 3, AVATAR(scan_centroid_m)},
    {"scan_rotation_wxyz", "1", TL_H5_F64, 4, AVATAR(scan_rotation)},
    {"axes_m", "m", TL_H5_F64, 3, AVATAR(axes_m)},
};

const TlH5Column tl_part_columns[TL_PART_COLUMNS] = {
    {"wall", "", TL_H5_I32, 1, PART(wall)},
    {"kind", "", TL_H5_I32, 1, PART(kind)},
    {"inside", "", TL_H5_I32, 1, PART(inside)},
    {"centre_m", "m", TL_H5_F64, 3, PART(centre)},
    {"axis_x", "1", TL_H5_F64, 3, offsetof(TlPartRow, axis[0])},
    {"axis_y", "1", TL_H5_F64, 3, offsetof(TlPartRow, axis[1])},
    {"axis_z", "1", TL_H5_F64, 3, offsetof(TlPartRow, axis[2])},
    {"size_m", "m", TL_H5_F64, 3, PART(size_m)},
    {"from_s", "s", TL_H5_F64, 1, DRIVE(from_s)},
    {"until_s", "s", TL_H5_F64, 1, DRIVE(until_s)},
    {"velocity_m_s", "m/s", TL_H5_F64, 3, DRIVE(velocity_m_s)},
    {"spin_rad_s", "rad/s", TL_H5_F64, 3, DRIVE(spin_rad_s)},
    {"pivot_m", "m", TL_H5_F64, 3, DRIVE(pivot_m)},
    {"table_rows", "", TL_H5_I64, 1, DRIVE(rows)},
    {"table_start", "", TL_H5_I64, 1, offsetof(TlPartRow, table_start)},
};

char *tl_results_frame_path(const char *folder, int64_t index) {
  return tl_format("%s/frame_%06lld.h5", folder, (long long)index);
}

/* The number in the name of a file PREFIX_000123.h5; < 0: it is none. */
static int64_t number_in(const char *name, const char *prefix) {
  size_t length = strlen(prefix);
  if (strncmp(name, prefix, length) != 0) return -1;
  size_t digits = strspn(name + length, "0123456789");
  if (digits < 6 || digits > 18 || strcmp(name + length + digits, ".h5") != 0) return -1;
  return strtoll(name + length, NULL, 10);
}

int64_t tl_results_frame_index(const char *name) {
  return number_in(name, "frame_");
}

char *tl_results_problem_path(const char *folder, int64_t step) {
  return tl_format("%s/problem_%06lld.h5", folder, (long long)step);
}

int64_t tl_results_problem_step(const char *name) {
  return number_in(name, "problem_");
}
