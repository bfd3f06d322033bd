/* MetaImage and NRRD: units and anisotropic spacing are carried, hostile headers are refused by
 * name, compressed voxels come through the sandbox. */
#include "support/tltest.h"

#include "base/file.h"
#include "base/mem.h"
#include "io/stack.h"
#include "io/volume_header.h"

#include <stdio.h>
#include <sys/stat.h>

static char *at(const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", tl_test_folder(), name);
  return path;
}

static void put(const char *name, const char *head, const void *bytes, size_t size) {
  FILE *file = fopen(at(name), "wb");
  ck_assert_ptr_nonnull(file);
  fwrite(head, 1, strlen(head), file);
  fwrite(bytes, 1, size, file);
  fclose(file);
}

static void put_text(const char *name, const char *text) {
  put(name, text, "", 0);
}

enum { COUNT = 24 };
static void count_up(uint16_t voxels[COUNT]) {
  for (uint16_t i = 0; i < COUNT; i++) voxels[i] = (uint16_t)(1000 + i);
}

static void put_voxels(void) {
  uint16_t voxels[COUNT];
  count_up(voxels);
  put("v.raw", "", voxels, sizeof voxels);
}

#define NRRD(more)                                                                                 \
  "NRRD0004\ntype: unsigned short\ndimension: 3\nsizes: 4 3 2\nendian: little\nencoding: raw\n"    \
  "data file: v.raw\n" more
#define META(more)                                                                                 \
  "ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\n" more                                          \
  "ElementType = MET_USHORT\nElementDataFile = v.raw\n"

START_TEST(units_make_the_voxel_size_and_axes_keep_their_own) {
  static const struct {
    const char *name, *text;
    double um[3]; /* 0: not known */
    const char *from;
  } cases[] = {
      {"space.nhdr",
       NRRD("space dimension: 3\nspace directions: (2,0,0) (0,3,0) (0,0,5)\n"
            "space units: \"um\" \"um\" \"um\"\n"),
       {2, 3, 5},
       "NRRD's space units"},
      /* turned by 3-4-5 about z: lengths, not components */
      {"turned.nhdr",
       NRRD("space dimension: 3\nspace directions: (3,4,0) (-4,3,0) (0,0,0.5)\n"
            "space units: \"mm\" \"mm\" \"mm\"\n"),
       {5000, 5000, 500},
       "NRRD's space units"},
      {"units.nhdr",
       NRRD("spacings: 0.01 0.01 0.025\nunits: \"mm\" \"mm\" \"mm\"\n"),
       {10, 10, 25},
       "NRRD's units"},
      {"mixed.nhdr",
       NRRD("spacings: 7 7 0.02\nunits: \"um\" \"\xc2\xb5m\" \"mm\"\n"),
       {7, 7, 20},
       "NRRD's units"},
      {"nounit.nhdr", NRRD("spacings: 2 2 5\n"), {0}, NULL},
      {"strange.nhdr", NRRD("spacings: 2 2 5\nunits: \"furlong\" \"furlong\" \"um\"\n"), {0}, NULL},
      {"half.nhdr",
       NRRD("space dimension: 3\nspace directions: (2,0,0) (0,2,0) (0,0,5)\n"
            "space units: \"um\" \"um\" \"\"\n"),
       {0},
       NULL},
      {"um.mhd",
       META("DistanceUnits = um\nElementSpacing = 4 5 6\n"),
       {4, 5, 6},
       "MetaImage's DistanceUnits"},
      {"cm.mhd",
       META("ElementSize = 0.1 0.1 0.2\nDistanceUnits = cm\n"),
       {1000, 1000, 2000},
       "MetaImage's DistanceUnits"},
      {"ask.mhd", META("DistanceUnits = ?\nElementSpacing = 4 5 6\n"), {0}, NULL},
      {"bare.mhd", META("ElementSpacing = 4 5 6\n"), {0}, NULL}};
  put_voxels();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TlVolumeHeader h;
    TlVolume v;
    put_text(cases[i].name, cases[i].text);
    CK_OK(tl_volume_header_read(at(cases[i].name), &h));
    ck_assert_msg((h.info.voxel_from == NULL) == (cases[i].from == NULL), "%s", cases[i].name);
    if (cases[i].from) ck_assert_str_eq(h.info.voxel_from, cases[i].from);
    ck_assert(h.plain);
    tl_volume_header_free(&h);
    CK_OK(tl_stack_read(at(cases[i].name), NULL, NULL, &v));
    for (int k = 0; k < 3; k++)
      ck_assert_msg(fabs(v.voxel_m[k] - cases[i].um[k] * 1e-6) <= 1e-15, "%s: axis %d: %g",
                    cases[i].name, k, v.voxel_m[k]);
    for (int k = 0; k < COUNT; k++) ck_assert_int_eq(v.u16[k], 1000 + k);
    tl_volume_free(&v);
  }
}
END_TEST

/* All files that voxels come from are inputs of what is made of them. */
START_TEST(data_files_are_inputs) {
  uint16_t voxels[COUNT];
  count_up(voxels);
  put_voxels();
  put("v1.raw", "", voxels, sizeof voxels / 2);
  put("v2.raw", "", voxels + COUNT / 2, sizeof voxels / 2);
  put_text("plain.nhdr", NRRD(""));
  put_text("list.mhd",
           "NDims = 3\nDimSize = 4 3 2\nElementType = MET_USHORT\nElementDataFile = LIST\n"
           "v1.raw\nv2.raw \nmissing.raw\n");
  for (int list = 0; list < 2; list++) {
    char inputs[2048];
    TlProvenance p;
    TlLayers layers;
    tl_provenance_begin(&p, "test", 0, NULL);
    CK_OK(tl_stack_open(at(list ? "list.mhd" : "plain.nhdr"), NULL, &p, &layers));
    snprintf(inputs, sizeof inputs, "%s", p.inputs);
    int count = 0;
    for (const char *c = inputs; (c = strstr(c, "\"path\"")); c++) count++;
    ck_assert_int_eq(count, list ? 3 : 2);
    ck_assert_ptr_nonnull(strstr(inputs, list ? "list.mhd\"" : "plain.nhdr\""));
    ck_assert_ptr_nonnull(strstr(inputs, list ? "v1.raw\"" : "v.raw\""));
    ck_assert(!list || strstr(inputs, "v2.raw\""));
    tl_layers_close(&layers);
    tl_free(layers.head.history);
    tl_provenance_free(&p);
  }
}
END_TEST

START_TEST(axes_are_the_nearest_of_the_scanner) {
  static const struct {
    const char *name, *text;
    int axis[3];
  } cases[] = {{"plain.nhdr", NRRD("spacings: 2 2 5\n"), {0, 0, 0}},
               {"same.nhdr", NRRD("space directions: (2,0,0) (0,3,0) (0,0,5)\n"), {1, 2, 3}},
               {"oblique.nhdr", NRRD("space directions: (3,1,0) (-1,3,0.1) (0,0,5)\n"), {1, 2, 3}},
               {"flip.nhdr", NRRD("space directions: (-2,0,0) (0,3,0) (0,0,5)\n"), {-1, 2, 3}},
               {"swap.nhdr", NRRD("space directions: (0,0,2) (0,-3,0) (5,0,0)\n"), {3, -2, 1}},
               {"same.mhd", META("TransformMatrix = 1 0 0 0 1 0 0 0 1\n"), {1, 2, 3}},
               {"flip.mhd", META("TransformMatrix = -1 0 0 0 -1 0 0 0 1\n"), {-1, -2, 3}},
               {"short.mhd", META("TransformMatrix = 1 0 0 1\n"), {0, 0, 0}}};
  put_voxels();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TlVolumeHeader h;
    put_text(cases[i].name, cases[i].text);
    CK_OK(tl_volume_header_read(at(cases[i].name), &h));
    for (int k = 0; k < 3; k++)
      ck_assert_msg(h.axis[k] == cases[i].axis[k], "%s: axis %d along %d", cases[i].name, k,
                    h.axis[k]);
    tl_volume_header_free(&h);
  }
}
END_TEST

START_TEST(hostile_headers_are_refused_by_file_and_line) {
  static const struct {
    const char *name, *text, *says;
  } cases[] = {
      {"zero.mhd", "NDims = 3\nDimSize = 0 0 0\nElementType = MET_UCHAR\nElementDataFile = v.raw\n",
       "line 2"},
      {"none.mhd", "NDims = 0\nDimSize = 4 3 2\nElementType = MET_UCHAR\nElementDataFile = v.raw\n",
       "line 1"},
      {"minus.mhd",
       "NDims = 3\nDimSize = 4 -3 2\nElementType = MET_UCHAR\nElementDataFile = v.raw\n", "line 2"},
      {"huge.mhd",
       "NDims = 3\nDimSize = 4294967296 4294967296 4\nElementType = MET_UCHAR\n"
       "ElementDataFile = v.raw\n",
       "more than a file can hold"},
      {"wrap.mhd",
       "NDims = 3\nDimSize = 2147483647 2147483647 4\nElementType = MET_FLOAT\n"
       "ElementDataFile = v.raw\n",
       "wrap.mhd"},
      {"many.mhd",
       "NDims = 3\nDimSize = 1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9\nElementDataFile = v.raw\n",
       "line 2"},
      {"axes.mhd", "NDims = 2000000000\nElementDataFile = v.raw\n", "line 1"},
      {"nan.mhd", META("ElementSpacing = nan 1 1\n"), "line 4"},
      {"flat.mhd", META("ElementSpacing = 1 1 0\n"), "line 4"},
      {"back.mhd", META("ElementSpacing = 1 1 -2\n"), "line 4"},
      {"two.mhd", META("DimSize = 4 3 2\n"), "comes twice"},
      {"skip.mhd", META("HeaderSize = 9223372036854775807\n"), "cut short"},
      {"skip2.mhd", META("HeaderSize = -7\n"), "line 4"},
      {"bomb.mha",
       "NDims = 3\nDimSize = 2000 2000 2000\nCompressedData = True\nElementType = MET_UCHAR\n"
       "ElementDataFile = LOCAL\nxx",
       "cannot come from a file"},
      {"machine.mhd",
       "NDims = 3\nDimSize = 2000000 2000000 200\nCompressedData = True\n"
       "ElementType = MET_UCHAR\nElementDataFile = v.raw\n",
       "this machine has"},
      {"type.mhd", "NDims = 3\nDimSize = 4 3 2\nElementType = MET_LONG\nElementDataFile = v.raw\n",
       "MET_LONG"},
      {"rgb.mhd", META("ElementNumberOfChannels = 3\n"), "grey"},
      {"folder.mhd", "NDims = 3\nDimSize = 4 3 2\nElementType = MET_UCHAR\nElementDataFile = .\n",
       "is no file"},
      {"pipe.mhd", "NDims = 3\nDimSize = 4 3 2\nElementType = MET_UCHAR\nElementDataFile = pipe\n",
       "is no file"},
      {"end.mhd", "NDims = 3\nDimSize = 4 3 2\n", "ElementDataFile"},
      {"sizes.nhdr", "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 4 0 2\n", "line 4"},
      {"dim.nhdr", "NRRD0004\ntype: uchar\ndimension: 99999\n", "line 3"},
      {"few.nhdr",
       "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 4 3\nencoding: raw\ndata file: v.raw\n",
       "2 sizes for 3 axes"},
      {"order.nhdr",
       "NRRD0004\ntype: ushort\ndimension: 3\nsizes: 4 3 2\nencoding: raw\ndata file: v.raw\n",
       "byte order"},
      {"space.nhdr", NRRD("spacings: 1 1 -1\n"), "line 8"},
      {"inf.nhdr", NRRD("spacings: inf 1 1\n"), "line 8"},
      {"dir.nhdr", NRRD("space directions: (1,0,0) (0,0,0) (0,0,1)\n"), "line 8"},
      {"dir2.nhdr", NRRD("space directions: (1,0\n"), "line 8"},
      {"unit.nhdr", NRRD("units: \"um \"\n"), "fewer than three"},
      {"unit2.nhdr", NRRD("units: \"um\n"), "line 8"},
      {"short.nrrd", "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 4 3 2\nencoding: raw\n\nabc",
       "cut short"},
      {"bomb.nrrd",
       "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2000 2000 2000\nencoding: gzip\n\nabc",
       "cannot come from a file"},
      {"tail.nrrd",
       "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 4 3 2\nencoding: raw\nbyte skip: 20\n\n"
       "012345678901234567890123",
       "cut short"},
      {"prose.nrrd", "Dear diary,\n", "not a readable NRRD"},
      {"prose.mhd", "Dear diary,\n", "not a readable MetaImage"}};
  TlVolume v;
  put_voxels();
  ck_assert(mkfifo(at("pipe"), 0600) == 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    put_text(cases[i].name, cases[i].text);
    TlStatus status = tl_stack_read(at(cases[i].name), NULL, NULL, &v);
    ck_assert_msg(status == TL_EINPUT || status == TL_ENOMEM, "%s gave %d", cases[i].name, status);
    ck_assert_msg(strstr(tl_message(), cases[i].name) && strstr(tl_message(), cases[i].says),
                  "%s: '%s' is not in: %s", cases[i].name, cases[i].says, tl_message());
    ck_assert_ptr_null(v.data);
  }
}
END_TEST

/* zlib: one stored block. */
static size_t deflated(const uint8_t *bytes, uint16_t size, uint8_t *out) {
  uint32_t a = 1, b = 0;
  uint8_t head[] = {
      0x78, 0x01, 0x01, (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)~size, (uint8_t)(~size >> 8)};
  for (int i = 0; i < size; i++) a = (a + bytes[i]) % 65521, b = (b + a) % 65521;
  uint8_t tail[] = {(uint8_t)(b >> 8), (uint8_t)b, (uint8_t)(a >> 8), (uint8_t)a};
  memcpy(out, head, sizeof head);
  memcpy(out + sizeof head, bytes, size);
  memcpy(out + sizeof head + size, tail, sizeof tail);
  return sizeof head + size + sizeof tail;
}

/* What ITK unpacks comes by layers in any order; what it cannot is refused. */
START_TEST(packed_voxels_come_through_the_sandbox) {
  static const char head[] = "ObjectType = Image\nNDims = 3\nBinaryData = True\n"
                             "BinaryDataByteOrderMSB = False\nCompressedData = True\n"
                             "CompressedDataSize = 59\nDistanceUnits = um\n"
                             "ElementSpacing = 3 3 4\nDimSize = 4 3 2\nElementType = MET_USHORT\n"
                             "ElementDataFile = LOCAL\n";
  uint16_t voxels[COUNT], layer[12];
  uint8_t packed[128];
  TlLayers layers;
  TlVolume v;
  count_up(voxels);
  size_t size = deflated((const uint8_t *)voxels, sizeof voxels, packed);
  ck_assert_uint_eq(size, 59);
  put("packed.mha", head, packed, size);
  CK_OK(tl_stack_open(at("packed.mha"), NULL, NULL, &layers));
  ck_assert(layers.head.voxel_m[0] == 3e-6 && layers.head.voxel_m[2] == 4e-6);
  for (int z = 1; z >= 0; z--) {
    CK_OK(tl_layers_read(&layers, z, 1, layer));
    for (int k = 0; k < 12; k++) ck_assert_int_eq(layer[k], 1000 + 12 * z + k);
  }
  tl_layers_close(&layers);
  put_text("list.nhdr", "NRRD0004\ntype: unsigned short\ndimension: 3\nsizes: 4 3 2\n"
                        "endian: little\nencoding: raw\ndata file: LIST\nlow.raw\nhigh.raw\n");
  put("low.raw", "", voxels, 24);
  put("high.raw", "", voxels + 12, 24);
  CK_OK(tl_stack_read(at("list.nhdr"), NULL, NULL, &v));
  for (int k = 0; k < COUNT; k++) ck_assert_int_eq(v.u16[k], 1000 + k);
  tl_volume_free(&v);
  packed[9] ^= 0x40;
  packed[0] = 0;
  put("spoilt.mha", head, packed, size);
  CK_FAILS(tl_stack_read(at("spoilt.mha"), NULL, NULL, &v), TL_EINPUT, "spoilt.mha");
}
END_TEST

TL_TEST_MAIN("volume header", units_make_the_voxel_size_and_axes_keep_their_own,
             data_files_are_inputs, axes_are_the_nearest_of_the_scanner,
             hostile_headers_are_refused_by_file_and_line, packed_voxels_come_through_the_sandbox)
