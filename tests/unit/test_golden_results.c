/* Results against h5py: what it wrote by docs/reference/results.md is read as it stands there, and
 * what Talus writes it finds where the document says. */
#include "support/golden.h"
#include "support/frame_rows.h"
#include "support/same.h"

#include "base/file.h"
#include "store/results.h"

enum { BODIES = 3, CONTACTS = 2, PARTS = 2, TABLE = 3 };

static TlVec3 vec(int field, int64_t row) {
  return tl_vec3(golden_real(field, row, 0), golden_real(field, row, 1),
                 golden_real(field, row, 2));
}

static TlQuat turn(int64_t i) {
  return i % 2 ? (TlQuat){0.3, -0.9, 0.3, 0.1} : (TlQuat){0.1, 0.7, 0.5, -0.5};
}

static TlBodyRow body(int64_t i) {
  static const int32_t flags[] = {0, 2, 1};
  static TlBodyRow row; /* zero between its members, for it is compared as bytes */
  row.id = 4 + i;
  row.avatar_id = 8 + i % 2;
  row.body = i < 2 ? 4 : row.id; /* a body of two parts */
  row.aggregate = i == 1 ? -1 : 4;
  row.position_m = vec(1, i);
  row.rotation = turn(i);
  row.velocity_m_s = vec(2, i);
  row.spin_rad_s = vec(3, i);
  row.scale = golden_real(4, i, 0);
  row.contacts = (int32_t)golden_real(5, i, 0);
  row.flags = flags[i];
  row.material = i > 0;
  return row;
}

static TlContactRow contact(int64_t i) {
  return (TlContactRow){.first = 4 + i,
                        .second = i ? -2 : 6,
                        .point_m = vec(6, i),
                        .normal = i ? tl_vec3(0, -1, 0) : tl_vec3(0.6, 0, 0.8),
                        .force_N = vec(7, i),
                        .gap_m = golden_real(8, i, 0),
                        .friction = golden_real(9, i, 0)};
}

typedef struct Scene {
  TlScene scene;
  TlPlane plane[2];
  TlMaterial material[2];
  TlPairLaw law[4];
  TlWallPart part[PARTS];
  double time_s[TABLE];
  TlVec3 displacement_m[TABLE];
  float height[6], band[5];
  int32_t low[4], count[4];
  int64_t start[4];
  uint8_t filled[6];
} Scene;

static void make_scene(Scene *s) {
  memset(s, 0, sizeof *s);
  s->filled[4] = 1;
  for (int i = 0; i < 2; i++) {
    s->plane[i] = (TlPlane){vec(9, i), i ? tl_vec3(0.6, 0, 0.8) : tl_vec3(0, 0, 1)};
    s->part[i] = (TlWallPart){
        .wall = i,
        .kind = i ? TL_PART_TUBE : TL_PART_BOX,
        .inside = i,
        .centre = vec(10, i),
        .size_m = {golden_real(11, i, 0), golden_real(11, i, 1), golden_real(11, i, 2)},
        .drive = {.from_s = golden_real(12, i, 0),
                  .until_s = golden_real(13, i, 0),
                  .velocity_m_s = vec(14, i),
                  .spin_rad_s = vec(15, i),
                  .pivot_m = vec(16, i)}};
  }
  const char *const names[2] = {"sand", "f\xc3\xbcr Stahl"};
  for (int i = 0; i < 2; i++) {
    strcpy(s->material[i].name, names[i]);
    s->material[i].density_kg_m3 = golden_real(35, i, 0);
    s->material[i].young_Pa = golden_real(36, i, 0);
    s->material[i].poisson = golden_real(37, i, 0);
  }
  s->scene.materials = (TlMaterials){.count = 2, .law = s->law, .material = s->material};
  for (int k = 0; k < 3; k++) {
    const TlPairLaw law = {.friction = golden_real(38, k, 0),
                           .restitution = golden_real(39, k, 0),
                           .tangential_restitution = golden_real(40, k, 0),
                           .slip_friction = golden_real(46, k, 0),
                           .slip_per_m = golden_real(47, k, 0),
                           .slip_decay_per_s = golden_real(48, k, 0),
                           .drag_per_s = golden_real(49, k, 0),
                           .rolling = golden_real(50, k, 0),
                           .twisting = golden_real(51, k, 0),
                           .adhesion_N = golden_real(52, k, 0),
                           .adhesive_overlap_m = golden_real(53, k, 0),
                           .restitution_half_m_s = golden_real(54, k, 0),
                           .restitution_power = golden_real(55, k, 0),
                           .scar_modulus_Pa = golden_real(56, k, 0),
                           .scar_density_kg_m3 = golden_real(57, k, 0),
                           .scar_coefficient = golden_real(58, k, 0),
                           .stiffness = {golden_real(41, k, 0), golden_real(42, k, 0),
                                         golden_real(44, k, 0), golden_real(45, k, 0),
                                         golden_real(43, k, 0)}};
    tl_materials_set(&s->scene.materials, k / 2, (k + 1) / 2, &law);
  }
  /* columns: the part's axes in the world */
  s->part[0].turn = (TlMat3){{{1, 0, 0}, {0, 0.6, -0.8}, {0, 0.8, 0.6}}};
  s->part[1].turn = (TlMat3){{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
  for (int i = 0; i < TABLE; i++)
    s->time_s[i] = golden_real(17, i, 0), s->displacement_m[i] = vec(18, i);
  s->part[1].drive.rows = TABLE;
  s->part[1].drive.time_s = s->time_s;
  s->part[1].drive.displacement_m = s->displacement_m;
  for (int i = 0; i < 6; i++) s->height[i] = (float)golden_real(19, i, 0);
  for (int i = 0; i < 5; i++) s->band[i] = (float)golden_real(20, i, 0);
  memcpy(s->low, (int32_t[]){-1, 0, 1, 2}, sizeof s->low);
  memcpy(s->count, (int32_t[]){2, 0, 3, 0}, sizeof s->count);
  memcpy(s->start, (int64_t[]){0, 2, 2, 5}, sizeof s->start);
  static char name[] = "hill", crs[] = "EPSG:2056", study[] = "title: golden\n", title[] = "golden",
              provenance[] = "[]";
  s->scene = (TlScene){.study = study,
                       .materials = s->scene.materials,
                       .title = title,
                       .provenance = provenance,
                       .grain_scale = 1.5,
                       .density_kg_m3 = 2650,
                       .gravity_m_s2 = {0.5, -1, -9.75},
                       .step_s = 1e-3,
                       .body_count = BODIES,
                       .plane_count = 2,
                       .planes = s->plane,
                       .part_count = PARTS,
                       .parts = s->part,
                       .has_terrain = true,
                       .terrain = {.id = 2,
                                   .name = name,
                                   .crs = crs,
                                   .origin = {6e5, 5e6, 1e3},
                                   .nx = 3,
                                   .ny = 2,
                                   .cell_m = 5,
                                   .x0_m = -5,
                                   .y0_m = -2.5,
                                   .height_m = s->height,
                                   .holes_filled = 1,
                                   .filled = s->filled,
                                   .band_m = 4,
                                   .band_spacing_m = 2.5,
                                   .z0_m = -7,
                                   .bnx = 2,
                                   .bny = 2,
                                   .k_low = s->low,
                                   .k_count = s->count,
                                   .start = s->start,
                                   .band_count = 5,
                                   .band_phi = s->band}};
}

/* Arrays of the two avatars follow each other in the file: rows count on. */
static void make_avatar(int i, TlAvatar *a) {
  *a = (TlAvatar){.id = 8 + i,
                  .label = (uint32_t)golden_real(21, i, 0),
                  .border = i == 1,
                  .nx = i ? 6 : 5,
                  .ny = i ? 5 : 6,
                  .nz = i ? 5 : 7,
                  .node_count = 4 + i,
                  .spacing_m = golden_real(22, i, 0),
                  .origin_m = vec(23, i),
                  .phi_error_m = golden_real(24, i, 0),
                  .gradient_max = golden_real(25, i, 0),
                  .volume_m3 = golden_real(26, i, 0),
                  .area_m2 = golden_real(27, i, 0),
                  .inertia_m5 = vec(28, i),
                  .radius_m = golden_real(29, i, 0),
                  .scan_centroid_m = vec(30, i),
                  .scan_rotation = turn(i + 1),
                  .axes_m = {golden_real(31, i, 0), golden_real(31, i, 1), golden_real(31, i, 2)}};
  int64_t points = (int64_t)a->nx * a->ny * a->nz, point = i ? 5 * 6 * 7 : 0, node = i ? 4 : 0;
  CK_OK(TL_NEW(a->phi, (size_t)points));
  CK_OK(TL_NEW(a->node_m, 3 * (size_t)a->node_count));
  CK_OK(TL_NEW(a->node_area_m2, (size_t)a->node_count));
  for (int64_t k = 0; k < points; k++) a->phi[k] = (float)golden_real(32, point + k, 0);
  for (int k = 0; k < a->node_count; k++) {
    for (int c = 0; c < 3; c++) a->node_m[3 * k + c] = (float)golden_real(33, node + k, c);
    a->node_area_m2[k] = (float)golden_real(34, node + k, 0);
  }
}

static char *new_folder(const char *name) {
  char *path = tl_path_join(tl_test_folder(), name);
  CK_OK(tl_dir_make(path));
  return path;
}

START_TEST(what_talus_writes_another_program_reads) {
  TlResultsWriter *writer;
  Scene s;
  make_scene(&s);
  char *folder = tl_path_join(tl_test_folder(), "written.run");
  CK_OK(tl_results_create(&writer, folder, &s.scene, false));
  for (int i = 0; i < 2; i++) {
    TlAvatar avatar;
    make_avatar(i, &avatar);
    CK_OK(tl_results_add_avatar(writer, &avatar));
    tl_avatar_free(&avatar);
  }
  CK_OK(tl_results_scene_done(writer));
  CK_OK(tl_test_frame(writer, 3, 17, 0.017, BODIES));
  for (int64_t i = 0; i < BODIES; i++) {
    TlBodyRow row = body(i);
    CK_OK(tl_test_put_bodies(writer, &row, 1));
  }
  CK_OK(tl_results_frame_table(writer, &tl_frame_contacts, &tl_contact_row_record, CONTACTS));
  for (int64_t i = 0; i < CONTACTS; i++) {
    TlContactRow row = contact(i);
    CK_OK(tl_test_put_contacts(writer, &row, 1));
  }
  CK_OK(tl_results_frame_end(writer));
  tl_results_close(writer);
  char *arguments = tl_format("check %s", folder);
  golden("results", arguments);
  tl_free(arguments);
  tl_free(folder);
}
END_TEST

static void same_part(const TlWallPart *is, const TlWallPart *want) {
  ck_assert(is->wall == want->wall && is->kind == want->kind && is->inside == want->inside);
  SAME(is->centre, want->centre);
  SAME(is->turn, want->turn);
  SAME(is->size_m, want->size_m);
  SAME(is->drive.from_s, want->drive.from_s);
  SAME(is->drive.until_s, want->drive.until_s);
  SAME(is->drive.velocity_m_s, want->drive.velocity_m_s);
  SAME(is->drive.spin_rad_s, want->drive.spin_rad_s);
  SAME(is->drive.pivot_m, want->drive.pivot_m);
  ck_assert_int_eq(is->drive.rows, want->drive.rows);
  for (int64_t i = 0; i < want->drive.rows; i++) {
    SAME(is->drive.time_s[i], want->drive.time_s[i]);
    SAME(is->drive.displacement_m[i], want->drive.displacement_m[i]);
  }
}

START_TEST(what_another_program_writes_talus_reads) {
  char *folder = new_folder("golden.run"), *arguments = tl_format("write %s", folder);
  TlScene scene;
  TlFrame frame;
  TlFrameContacts contacts;
  Scene want;
  golden("results", arguments);
  make_scene(&want);
  CK_OK(tl_results_read_scene(folder, &scene));
  ck_assert_str_eq(scene.study, want.scene.study);
  ck_assert_str_eq(scene.title, want.scene.title);
  SAME(scene.grain_scale, want.scene.grain_scale);
  SAME(scene.density_kg_m3, want.scene.density_kg_m3);
  SAME(scene.gravity_m_s2, want.scene.gravity_m_s2);
  SAME(scene.step_s, want.scene.step_s);
  ck_assert_int_eq(scene.plane_count, 2);
  SAME(scene.planes[0], want.plane[0]);
  SAME(scene.planes[1], want.plane[1]);
  ck_assert_int_eq(scene.part_count, PARTS);
  for (int i = 0; i < PARTS; i++) same_part(&scene.parts[i], &want.part[i]);
  ck_assert_int_eq(scene.terrain.id, want.scene.terrain.id);
  same_terrain(&scene.terrain, &want.scene.terrain);
  ck_assert_int_eq(scene.materials.count, 2);
  for (int i = 0; i < 2; i++) SAME(scene.materials.material[i], want.material[i]);
  for (int i = 0; i < 4; i++) SAME(scene.materials.law[i].stiffness, want.law[i].stiffness);
  for (int i = 0; i < 4; i++) SAME(scene.materials.law[i].friction, want.law[i].friction);
  for (int i = 0; i < 4; i++) SAME(scene.materials.law[i].restitution, want.law[i].restitution);
  for (int i = 0; i < 4; i++)
    SAME(scene.materials.law[i].tangential_restitution, want.law[i].tangential_restitution);
  for (int i = 0; i < 4; i++) SAME(scene.materials.law[i].slip_friction, want.law[i].slip_friction);
  for (int i = 0; i < 4; i++) {
    SAME(scene.materials.law[i].drag_per_s, want.law[i].drag_per_s);
    SAME(scene.materials.law[i].adhesive_overlap_m, want.law[i].adhesive_overlap_m);
    SAME(scene.materials.law[i].restitution_half_m_s, want.law[i].restitution_half_m_s);
    SAME(scene.materials.law[i].scar_coefficient, want.law[i].scar_coefficient);
  }
  ck_assert_int_eq(scene.avatar_count, 2);
  for (int i = 0; i < 2; i++) {
    TlAvatar avatar;
    make_avatar(i, &avatar);
    ck_assert_int_eq(scene.avatars[i].id, avatar.id);
    same_avatar(&scene.avatars[i], &avatar);
    tl_avatar_free(&avatar);
  }
  CK_OK(tl_results_read_frame(folder, 3, &frame));
  ck_assert(frame.index == 3 && frame.step == 17 && frame.time_s == 0.017);
  ck_assert_int_eq(frame.count, BODIES);
  for (int64_t i = 0; i < BODIES; i++) {
    TlBodyRow row = body(i);
    SAME(frame.rows[i], row);
  }
  CK_OK(tl_results_read_contacts(folder, 3, &contacts));
  ck_assert(contacts.there);
  ck_assert_int_eq(contacts.count, CONTACTS);
  for (int64_t i = 0; i < CONTACTS; i++) {
    TlContactRow row = contact(i);
    SAME(contacts.rows[i], row);
  }
  tl_frame_contacts_free(&contacts);
  tl_frame_free(&frame);
  tl_scene_free(&scene);
  tl_free(arguments);
  tl_free(folder);
}
END_TEST

START_TEST(results_of_before_materials_are_read) {
  char *folder = new_folder("older.run"), *arguments = tl_format("older %s", folder);
  TlScene scene;
  TlFrame frame;
  double density;
  golden("results", arguments);
  CK_OK(tl_results_read_scene(folder, &scene));
  CK_OK(tl_results_read_frame(folder, 3, &frame));
  ck_assert_int_eq(scene.materials.count, 0);
  ck_assert_int_eq(frame.count, BODIES);
  for (int64_t i = 0; i < BODIES; i++) {
    ck_assert_int_eq(frame.rows[i].material, 0);
    ck_assert_int_eq(frame.rows[i].body, frame.rows[i].id);
    ck_assert_int_eq(frame.rows[i].aggregate, -1);
    CK_OK(tl_scene_density(&scene, &frame.rows[i], &density));
    CK_NEAR(density, 2650, 0);
  }
  /* one coefficient for all contacts stood in an attribute */
  TlFrameContacts contacts;
  CK_OK(tl_results_read_contacts(folder, 3, &contacts));
  ck_assert_int_eq(contacts.count, CONTACTS);
  for (int64_t i = 0; i < contacts.count; i++) CK_NEAR(contacts.rows[i].friction, 0.4, 0);
  tl_frame_contacts_free(&contacts);
  tl_frame_free(&frame);
  tl_scene_free(&scene);
  tl_free(arguments);
  tl_free(folder);
}
END_TEST

START_TEST(a_pair_of_a_material_that_is_not_there_is_refused) {
  char *folder = new_folder("wrong.run"), *arguments = tl_format("wrong %s", folder);
  TlScene scene;
  golden("results", arguments);
  CK_FAILS(tl_results_read_scene(folder, &scene), TL_EINPUT,
           "run.h5: pair 2 is of materials 1 and 7 of 2");
  tl_free(arguments);
  tl_free(folder);
}
END_TEST

TL_TEST_MAIN("golden results", a_pair_of_a_material_that_is_not_there_is_refused,
             results_of_before_materials_are_read, what_talus_writes_another_program_reads,
             what_another_program_writes_talus_reads)
