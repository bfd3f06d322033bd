#include "io/image.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* libjpeg's own handler would end the process. */
typedef struct Handler {
  struct jpeg_error_mgr base;
  jmp_buf back;
  char message[JMSG_LENGTH_MAX];
} Handler;

static void give_up(j_common_ptr info) {
  Handler *handler = (Handler *)info->err;
  handler->base.format_message(info, handler->message);
  longjmp(handler->back, 1);
}

TlStatus tl_image_jpeg(const TlImage *image, int quality, uint8_t **jpeg, size_t *size) {
  struct jpeg_compress_struct info;
  Handler handler;
  unsigned char *volatile bytes = NULL; /* libjpeg's, by malloc */
  unsigned long count = 0;
  info.err = jpeg_std_error(&handler.base);
  handler.base.error_exit = give_up;
  *jpeg = NULL;
  if (setjmp(handler.back)) {
    jpeg_destroy_compress(&info);
    free(bytes);
    return tl_fail(TL_ELIB, "libjpeg: %s", handler.message);
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, (unsigned char **)(uintptr_t)&bytes, &count);
  info.image_width = (JDIMENSION)image->width;
  info.image_height = (JDIMENSION)image->height;
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  info.optimize_coding = TRUE;
  info.dct_method = JDCT_ISLOW;
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = image->rgb + 3 * (size_t)info.next_scanline * (size_t)image->width;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  TlStatus status = TL_NEW(*jpeg, count);
  if (status == TL_OK) memcpy(*jpeg, bytes, count);
  *size = count;
  free(bytes);
  return status;
}
