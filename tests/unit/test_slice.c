#include "support/tltest.h"

#include "post/slice.h"

START_TEST(grey_is_stretched_and_zoomed) {
  TlVolume v;
  TlImage image;
  CK_OK(tl_volume_new(&v, TL_U16, 4, 3, 2));
  for (int i = 0; i < 12; i++) v.u16[12 + i] = (uint16_t)(1000 + 100 * i);
  TlSliceStyle style = {.z = 1, .zoom = 2, .low = 1000, .high = 2100};
  CK_OK(tl_slice_draw(&v, &style, &image));
  ck_assert_int_eq(image.width, 8);
  ck_assert_int_eq(image.height, 6);
  ck_assert_int_eq(image.rgb[0], 0);
  ck_assert_int_eq(image.rgb[3 * (5 * 8 + 7)], 255);
  ck_assert_int_eq(image.rgb[3 * (2 * 8 + 2)], (int)(255 * 5 / 11.0 + 0.5)); /* voxel (1, 1) */
  tl_image_free(&image);
  style.z = 2;
  CK_FAILS(tl_slice_draw(&v, &style, &image), TL_EUSAGE, "0 to 1");
  tl_volume_free(&v);
}
END_TEST

START_TEST(labels_keep_their_colour_and_void_is_dark) {
  TlVolume v;
  TlImage image;
  CK_OK(tl_volume_new(&v, TL_U32, 4, 1, 1));
  v.u32[1] = 7, v.u32[2] = 8, v.u32[3] = 7;
  TlSliceStyle style = {.z = -1, .zoom = 1};
  CK_OK(tl_slice_draw(&v, &style, &image));
  ck_assert_int_eq(image.rgb[0], 15);
  ck_assert_mem_eq(image.rgb + 3, image.rgb + 9, 3);
  ck_assert(memcmp(image.rgb + 3, image.rgb + 6, 3) != 0);
  tl_image_free(&image);
  tl_volume_free(&v);
}
END_TEST

static void ramp(TlVolume *v, TlVoxelType type, int64_t nx, int64_t ny, int64_t nz) {
  CK_OK(tl_volume_new(v, type, nx, ny, nz));
  for (int64_t i = 0; i < tl_volume_count(v); i++) {
    int64_t x = i % nx, y = i / nx % ny, z = i / nx / ny;
    if (type == TL_U8) v->u8[i] = (uint8_t)(x + 2 * y + 3 * z);
    if (type == TL_U16) v->u16[i] = (uint16_t)(100 * (x + 2 * y + 3 * z));
  }
}

static const uint8_t *pixel(const TlImage *image, int x, int y) {
  return image->rgb + 3 * (y * image->width + x);
}

/* Panels start at (26, 26); columns are the widest plane and 12 apart. */
START_TEST(a_preview_shows_the_middle_slices_and_the_change) {
  TlVolume before, after;
  TlLayers one, two;
  TlImage image;
  ramp(&before, TL_U16, 40, 30, 20);
  ramp(&after, TL_U16, 40, 30, 20);
  after.u16[tl_volume_at(&after, 7, 5, 10)] += 500;  /* in xy, 15th row: not in xz, nor yz */
  after.u16[tl_volume_at(&after, 20, 15, 3)] -= 250; /* in xz and yz */
  tl_layers_of(&before, &one);
  tl_layers_of(&after, &two);
  CK_OK(tl_preview_draw(&one, &two, 0, &image));
  ck_assert_int_eq(image.width, 3 * 52 + 26);
  ck_assert_int_eq(image.height, 26 + 42 + 32 + 32);
  int third = 26 + 2 * 52;
  ck_assert_int_eq(pixel(&image, third + 7, 26 + 5)[0], 255);
  ck_assert_int_eq(pixel(&image, third + 8, 26 + 5)[0], 128);
  ck_assert_int_eq(pixel(&image, third + 20, 26 + 42 + 3)[0], 0); /* the most of this plane */
  ck_assert_int_eq(pixel(&image, third + 15, 26 + 42 + 32 + 3)[0], 0);
  ck_assert_int_eq(pixel(&image, 26, 26)[0], 0); /* darkest corner, alike before and after */
  ck_assert_mem_eq(pixel(&image, 26 + 9, 26 + 9), pixel(&image, 26 + 52 + 9, 26 + 9), 3);
  tl_image_free(&image);
  CK_OK(tl_preview_draw(&one, &two, 110, &image)); /* three pixels a voxel; margins stay */
  ck_assert_int_eq(image.width, 3 * 132 + 26);
  ck_assert_int_eq(image.height, 26 + 102 + 72 + 72);
  third = 26 + 2 * 132;
  for (int k = 0; k < 9; k++)
    ck_assert_int_eq(pixel(&image, third + 21 + k % 3, 26 + 15 + k / 3)[0], 255);
  ck_assert_int_eq(pixel(&image, third + 24, 26 + 15)[0], 128);
  ck_assert_int_eq(pixel(&image, third + 62, 26 + 102 + 11)[0], 0);
  tl_image_free(&image);
  tl_volume_free(&after);
  ramp(&after, TL_U8, 40, 30, 19);
  tl_layers_of(&after, &two);
  CK_FAILS(tl_preview_draw(&one, &two, 0, &image), TL_EINPUT, "one size");
  tl_volume_free(&after);
  tl_volume_free(&before);
}
END_TEST

START_TEST(a_preview_of_a_mask_draws_its_border) {
  TlVolume before, mask;
  TlLayers one, two;
  TlImage image;
  ramp(&before, TL_U16, 1300, 10, 4); /* thinned by 3 */
  CK_OK(tl_volume_new(&mask, TL_U8, 1300, 10, 4));
  for (int64_t i = 0; i < tl_volume_count(&mask); i++) mask.u8[i] = i % 1300 >= 600;
  tl_layers_of(&before, &one);
  tl_layers_of(&mask, &two);
  CK_OK(tl_preview_draw(&one, &two, 0, &image));
  int third = 26 + 2 * (434 + 12);
  ck_assert_int_eq(image.width, 3 * (434 + 12) + 26);
  ck_assert(pixel(&image, third + 199, 26)[2] == 0 && pixel(&image, third + 199, 26)[0] == 255);
  ck_assert(pixel(&image, third + 200, 26)[2] == pixel(&image, third + 200, 26)[0]);
  tl_image_free(&image);
  tl_volume_free(&mask);
  tl_volume_free(&before);
}
END_TEST

TL_TEST_MAIN("slice", a_preview_shows_the_middle_slices_and_the_change,
             a_preview_of_a_mask_draws_its_border, grey_is_stretched_and_zoomed,
             labels_keep_their_colour_and_void_is_dark)
