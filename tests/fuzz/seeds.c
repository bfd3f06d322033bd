/* Writes small valid files for every harness: fuzz-seeds FOLDER makes FOLDER/READER/seed_*. They
 * are what tests/fuzz/corpus began with; cases that were found lie beside them. */
#include "base/file.h"
#include "base/mem.h"
#include "fuzz/fuzz.h"
#include "fuzz/made.h"
#include "io/h5_dictionary.h"
#include "io/mesh.h"
#include "io/raster.h"
#include "io/stack.h"
#include "post/export_levelset.h"
#include "post/export_morphology.h"
#include "store/results.h"
#include "support/frame_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *target;

static char *seed_path(const char *reader, const char *name) {
  char *folder = tl_format("%s/%s", target, reader);
  char *path = tl_format("%s/%s/seed_%s", target, reader, name);
  if (!folder || !path) abort();
  tl_fuzz_must(tl_dir_make(folder));
  tl_free(folder);
  return path;
}

/* lead: the byte that the harness chooses by; 0: none */
static void put(const char *reader, const char *name, char lead, const void *bytes, size_t size) {
  char *path = seed_path(reader, name);
  FILE *file = fopen(path, "wb");
  if (!file || (lead && fputc(lead, file) == EOF) || fwrite(bytes, 1, size, file) != size ||
      fclose(file) != 0)
    abort();
  tl_free(path);
}

static void put_text(const char *reader, const char *name, char lead, const char *text) {
  put(reader, name, lead, text, strlen(text));
}

/* A file that was written to a scratch path. */
static void put_file(const char *reader, const char *name, char lead, const char *from) {
  char *bytes;
  size_t size;
  tl_fuzz_must(tl_file_read(from, &bytes, &size));
  put(reader, name, lead, bytes, size);
  tl_free(bytes);
  (void)remove(from);
}

/* One stored block of deflate, as zlib or gzip has it. */
static size_t packed(bool gzip, const uint8_t *bytes, uint16_t size, uint8_t *out) {
  uint32_t a = 1, b = 0, crc = 0xffffffffu;
  static const uint8_t zlib_head[] = {0x78, 0x01};
  static const uint8_t gzip_head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
  uint8_t *to = out;
  size_t head = gzip ? sizeof gzip_head : sizeof zlib_head;
  memcpy(to, gzip ? gzip_head : zlib_head, head);
  to += head;
  const uint8_t block[] = {1, (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)~size,
                           (uint8_t)(~size >> 8)};
  memcpy(to, block, sizeof block);
  memcpy(to + sizeof block, bytes, size);
  to += sizeof block + size;
  for (int i = 0; i < size; i++) {
    a = (a + bytes[i]) % 65521, b = (b + a) % 65521;
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
  }
  uint32_t tail[2] = {~crc, size};
  if (gzip) return memcpy(to, tail, 8), (size_t)(to + 8 - out);
  for (int k = 0; k < 4; k++) to[k] = (uint8_t)((b << 16 | a) >> (24 - 8 * k));
  return (size_t)(to + 4 - out);
}

static void put_packed(const char *name, char lead, const char *head, bool gzip) {
  uint8_t voxels[48], whole[1024];
  size_t length = strlen(head);
  for (int i = 0; i < 48; i++) voxels[i] = (uint8_t)i;
  memcpy(whole, head, length);
  put("volume", name, lead, whole, length + packed(gzip, voxels, 48, whole + length));
}

/* ---- stacks ---- */

static void make_volume(TlVolume *v, TlVoxelType type) {
  tl_fuzz_must(tl_volume_new(v, type, 6, 5, 4));
  for (int64_t i = 0; i < tl_volume_count(v); i++) switch (tl_voxel_size(type)) {
    case 1:
      v->u8[i] = (uint8_t)(2 * i);
      break;
    case 2:
      v->u16[i] = (uint16_t)(1000 + i);
      break;
    default:
      v->f32[i] = type == TL_F32 ? 0.5f * (float)i : 0;
      if (type != TL_F32) v->u32[i] = (uint32_t)i;
    }
  for (int k = 0; k < 3; k++) v->voxel_m[k] = 1e-5 * (k + 1);
}

static void stacks(void) {
  static const TlVoxelType types[] = {TL_U8, TL_U16, TL_I16, TL_U32, TL_F32};
  char name[32];
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    TlVolume v;
    make_volume(&v, types[i]);
    if (i == 1) v.history = tl_strdup("[{\"tool\": \"x\"}]");
    if (i == 2) v.cylinder[0] = v.cylinder[1] = v.cylinder[2] = 2;
    tl_fuzz_must(tl_stack_write(tl_fuzz_path("s.h5"), &v, NULL, true));
    snprintf(name, sizeof name, "%s.h5", tl_voxel_name(types[i]));
    put_file("h5_stack", name, 0, tl_fuzz_path("s.h5"));
    tl_fuzz_must(tl_stack_write(tl_fuzz_path("s.tif"), &v, NULL, true));
    snprintf(name, sizeof name, "%s.tif", tl_voxel_name(types[i]));
    put_file("tiff", name, 0, tl_fuzz_path("s.tif"));
    tl_volume_free(&v);
  }
  static const char nrrd[] = "NRRD0004\n# x\ntype: unsigned short\ndimension: 3\nsizes: 4 3 2\n"
                             "endian: little\n";
  static const char meta[] = "ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\n";
  char text[512];
#define BOTH(lead, name, head, more)                                                               \
  snprintf(text, sizeof text, "%s%s", head, more), put_text("volume", name, lead, text)
  BOTH('@', "plain.mhd", meta,
       "ElementSpacing = 1 2 3\nDistanceUnits = um\nHeaderSize = -1\n"
       "ElementType = MET_USHORT\nElementDataFile = v.raw\n");
  BOTH('@', "text.mhd", meta,
       "BinaryData = False\nElementType = MET_UCHAR\n"
       "ElementDataFile = v.raw\n");
  BOTH('@', "list.mhd", meta, "ElementType = MET_UCHAR\nElementDataFile = LIST\nv.raw\nv.raw\n");
  BOTH('A', "local.mha", meta,
       "BinaryDataByteOrderMSB = True\nElementType = MET_UCHAR\n"
       "ElementDataFile = LOCAL\n0123456789abcdef01234567");
  put_packed("zlib.mha", 'A',
             "ObjectType = Image\nNDims = 3\nDimSize = 4 3 4\nCompressedData = True\n"
             "CompressedDataSize = 59\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n",
             false);
  BOTH('B', "raw.nrrd", nrrd,
       "encoding: raw\nspacings: 1 1 nan\nunits: \"um\" \"um\" \"um\"\n\n"
       "0123456789abcdef0123456789abcdef0123456789abcdef");
  put_packed("gzip.nrrd", 'B',
             "NRRD0004\ntype: uint16\ndimension: 3\nsizes: 4 3 2\nendian: big\n"
             "encoding: gzip\nspace dimension: 3\nspace directions: (1,0,0) (0,1,0) (0,0,2)\n"
             "space units: \"mm\" \"mm\" \"mm\"\n\n",
             true);
  BOTH('B', "hex.nrrd", nrrd, "encoding: hex\n\n00112233445566778899aabbccddeeff");
  BOTH('C', "detached.nhdr", nrrd, "encoding: raw\nbyte skip: -1\ndata file: v.raw\n");
  BOTH('C', "lines.nhdr", nrrd, "encoding: raw\nline skip: 1\ndata file: v.raw\n");
  BOTH('C', "list.nhdr", nrrd, "encoding: raw\ndata file: LIST\nv.raw\nv.raw\n");
  BOTH('C', "ascii.nhdr", nrrd, "encoding: ascii\ndata file: v.raw\n");
  put_text("raw", "u8", 0, "2,3,4,u8,little\n012345678901234567890123");
  put_text("raw", "i16", 0, "1,2,2,i16,big,3\nxxx01234567");
}

/* ---- results ---- */

static void results(void) {
  TlScene scene = {.study = (char *)(uintptr_t) "time: {steps: 1}\n",
                   .title = (char *)(uintptr_t) "seed",
                   .provenance = (char *)(uintptr_t) "[]",
                   .grain_scale = 1,
                   .density_kg_m3 = 2650,
                   .step_s = 1e-3,
                   .body_count = 2,
                   .plane_count = 1,
                   .planes = &(TlPlane){{0, 0, 0}, {0, 0, 1}},
                   .has_terrain = true};
  double time_s[3] = {0, 1, 2};
  TlVec3 displacement_m[3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}};
  TlWallPart part[2] = {{.kind = TL_PART_BOX, .size_m = {1, 1, 1}},
                        {.kind = TL_PART_RING,
                         .size_m = {1, 1, 0.1},
                         .drive = {.rows = 3, .time_s = time_s, .displacement_m = displacement_m}}};
  TlResultsWriter *w;
  TlAvatar avatar;
  TlBodyRow row[2] = {{.id = 1, .avatar_id = 3, .scale = 1}, {.id = 2, .avatar_id = 3, .scale = 2}};
  TlContactRow contact = {.first = 1, .second = 2};
  scene.part_count = 2;
  scene.parts = part;
  tl_made_terrain(&scene.terrain);
  tl_made_avatar(&avatar);
  avatar.id = 3;
  const char *folder = tl_fuzz_path("results");
  tl_fuzz_must(tl_results_create(&w, folder, &scene, true));
  tl_fuzz_must(tl_results_add_avatar(w, &avatar));
  tl_fuzz_must(tl_results_scene_done(w));
  tl_fuzz_must(tl_test_frame(w, 1, 10, 0.1, 2));
  tl_fuzz_must(tl_test_put_bodies(w, row, 2));
  tl_fuzz_must(tl_results_frame_table(w, &tl_frame_contacts, &tl_contact_row_record, 1));
  tl_fuzz_must(tl_test_put_contacts(w, &contact, 1));
  tl_fuzz_must(tl_results_frame_end(w));
  tl_fuzz_must(tl_test_frame(w, 2, 20, 0.2, 0));
  tl_fuzz_must(tl_results_frame_end(w));
  tl_results_close(w);
  put_file("h5_run", "run.h5", 0, tl_fuzz_path("results/run.h5"));
  put_file("h5_frame", "contacts.h5", 0, tl_fuzz_path("results/frame_000001.h5"));
  put_file("h5_frame", "empty.h5", 0, tl_fuzz_path("results/frame_000002.h5"));
  tl_terrain_free(&scene.terrain);
  tl_avatar_free(&avatar);
}

static void dictionary(void) {
  TlDictionary d = {.factor = 2,
                    .dims = 2,
                    .codes = 3,
                    .atoms = 16,
                    .pairs = 100,
                    .tolerance = 1,
                    .noise_gain = 1,
                    .noise_grey = 2};
  tl_fuzz_must(tl_dictionary_alloc(&d));
  for (int64_t i = 0; i < d.atoms; i++) d.low[2 * i] = 1;
  d.history = tl_strdup("[]");
  tl_fuzz_must(tl_dictionary_write(tl_fuzz_path("d.h5"), &d, NULL, true));
  put_file("h5_dictionary", "small.h5", 0, tl_fuzz_path("d.h5"));
  tl_dictionary_free(&d);
}

/* ---- meshes, rasters, grains ---- */

static void meshes(void) {
  static const float vertex[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  static const int32_t corner[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
  tl_fuzz_must(tl_stl_write(tl_fuzz_path("t.stl"), true, "seed", vertex, corner, 4, 1));
  put_file("stl", "binary.stl", 0, tl_fuzz_path("t.stl"));
  put_text("stl", "text.stl", 0,
           "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\n"
           "endloop\nendfacet\nendsolid x\n");
  tl_fuzz_must(tl_ply_write(tl_fuzz_path("t.ply"), true, "seed", vertex, 4, corner, 4, 1));
  put_file("ply", "binary.ply", 0, tl_fuzz_path("t.ply"));
  put_text(
      "ply", "text.ply", 0,
      "ply\nformat ascii 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\n"
      "property float z\nproperty uchar red\nelement face 4\n"
      "property list uchar int vertex_indices\nend_header\n"
      "0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n");
  put_text(
      "obj", "tetra.obj", 0,
      "# x\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1//2 2//1 4//3\nf -3 -2 -1\nf 1 4 3\n");
}

static void rasters(void) {
  double height[6] = {1, 2, 3, 4, NAN, 6};
  TlRaster raster = {.nx = 3,
                     .ny = 2,
                     .cell_m = 2,
                     .height_m = height,
                     .crs = (char *)(uintptr_t) "",
                     .no_data = 1};
  tl_fuzz_must(tl_raster_write(&raster, tl_fuzz_path("r.asc"), true));
  put_file("raster", "small.asc", '2', tl_fuzz_path("r.asc")); /* '2' % 5 is 0 */
  tl_fuzz_must(tl_raster_write(&raster, tl_fuzz_path("r.tif"), true));
  put_file("raster", "small.tif", '3', tl_fuzz_path("r.tif"));
  put_text(
      "raster", "centre.asc", '2',
      "NCOLS 2\nNROWS 2\nXLLCENTER 10\nYLLCENTER 20\nCELLSIZE 5\nNODATA_VALUE -1\n1 2\n3 -1\n");
  put_text("raster", "small.xyz", (char)(unsigned char)133, "0 0 1\n2 0 2\n0 2 3\n2 2 4\n");
  put_text(
      "raster", "small.vrt", (char)(unsigned char)132,
      "<VRTDataset rasterXSize=\"2\" rasterYSize=\"2\"><GeoTransform>0,2,0,4,0,-2</GeoTransform>"
      "<VRTRasterBand dataType=\"Float32\" band=\"1\"><SimpleSource><SourceFilename "
      "relativeToVRT=\"1\">b.asc</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>");
}

static void vectors(void) { /* '0' and '6' are GeoJSON (% 3), '6' wants areas (& 4) */
  put_text("vector", "points.geojson", '0',
           "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"properties\":"
           "{\"volume_m3\":0.6,\"shape\":\"slab\"},\"geometry\":{\"type\":\"Point\","
           "\"coordinates\":[8.6,46.9]}}]}");
  put_text("vector", "area.geojson", '6',
           "{\"type\":\"Feature\",\"properties\":{\"count\":12},\"geometry\":{\"type\":\"Polygon\","
           "\"coordinates\":[[[8.6,46.9],[8.7,46.9],[8.7,47],[8.6,47],[8.6,46.9]],[[8.62,46.92],[8."
           "62,46.94],[8.64,46.94],[8.62,46.92]]]}}");
}

static void grains(void) {
  TlAvatar avatar;
  tl_made_avatar(&avatar);
  tl_fuzz_must(tl_morphology_write(tl_fuzz_path("g.txt"), true, &avatar));
  put_file("morphology", "grain.txt", '1', tl_fuzz_path("g.txt"));
  tl_fuzz_must(tl_lammps_write(tl_fuzz_path("g.grid"), true, &avatar, 1e3));
  put_file("morphology", "grain.grid", '0', tl_fuzz_path("g.grid"));
  tl_avatar_free(&avatar);
}

/* ---- texts, catalogs, checkpoints ---- */

static void texts(void) {
  put_text("csv", "table.csv", 0, "time_s,kinetic_energy_J,\"x\"\n# y\n0,1.5,-1e3\n\n1,,nan\n");
  put_text("csv", "mark.csv", 0, "\xEF\xBB\xBFtime_s\r\n1\r\n2\r\n");
  put_text("study", "balls.yaml", 0, tl_made_study);
}

static void catalogs(void) {
  tl_made_catalog(tl_fuzz_path("c.tals"));
  put_file("catalog", "small.tals", 0, tl_fuzz_path("c.tals"));
  put_text("catalog_rows", "terrain", 0, "UPDATE terrain SET nx = 4294967296, ny = 4294967296");
  put_text("catalog_rows", "avatar", 0, "UPDATE avatar SET nx = 1 << 30, ny = 1 << 30, nz = 16");
  put_text("catalog_rows", "spacing", 0, "UPDATE avatar SET spacing_m = 0, volume_m3 = -1");
  put_text("catalog_rows", "blob", 0,
           "UPDATE avatar_blob SET raw_bytes = raw_bytes + 4, data = zeroblob(9), crc32 = 0;"
           "INSERT INTO terrain_blob SELECT terrain_id, kind, 1, 4, 0, data FROM terrain_blob");
  put_text("catalog_rows", "trigger", 0,
           "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM avatar; END");
  put_text("catalog_rows", "view", 0,
           "DROP VIEW run_command; CREATE VIEW run_command AS WITH RECURSIVE n(i) AS (SELECT 1"
           " UNION ALL SELECT i + 1 FROM n) SELECT i AS run_id, i AS command FROM n");
  put_text("catalog_rows", "schema", 0,
           "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = 'CREATE TABLE avatar(x)',"
           " rootpage = 2 WHERE name = 'avatar'");
  put_text("catalog_rows", "band", 0,
           "UPDATE terrain SET bnx = 1, bny = 1, band_count = -1, cell_m = 9e999, z0_m = 1e300;"
           "UPDATE run SET record = '[[[', argv = '{'; DELETE FROM run_history");
}

static void checkpoints(void) {
  char study[256], folder[256], saved[300];
  snprintf(study, sizeof study, "%s", tl_fuzz_path("balls.yaml"));
  snprintf(folder, sizeof folder, "%s", tl_fuzz_path("balls.run"));
  tl_made_run(study, folder);
  snprintf(saved, sizeof saved, "%s/checkpoint_000000000003.tck", folder);
  char *bytes;
  size_t size;
  tl_fuzz_must(tl_file_read(saved, &bytes, &size));
  put("checkpoint", "balls.tck", 0, bytes, size);
  put("resume", "balls.tck", 0, bytes, size);
  tl_free(bytes);
}

int main(int argc, char **argv) {
  if (argc != 2) return fprintf(stderr, "fuzz-seeds FOLDER\n"), 2;
  target = argv[1];
  stacks();
  results();
  dictionary();
  meshes();
  rasters();
  vectors();
  grains();
  texts();
  catalogs();
  checkpoints();
  return 0;
}
