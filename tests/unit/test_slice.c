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

TL_TEST_MAIN("slice", grey_is_stretched_and_zoomed, labels_keep_their_colour_and_void_is_dark)
