// libpng for Swift: its simplified API, which does not use longjmp across the caller's stack frames.
#ifndef CPNG_SHIM_H
#define CPNG_SHIM_H

#include <png.h>
#include <string.h>

// Reads the header of an image from memory. Returns 0 if it is invalid; `image->message` contains the reason.
static inline int chatbot_png_begin(png_image *image, const void *bytes, size_t size) {
  memset(image, 0, sizeof *image);
  image->version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(image, bytes, size)) return 0;
  image->format = PNG_FORMAT_RGBA;
  // Channels of 16 bits are sRGB, as in other programs, unless the file specifies otherwise.
  image->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  return 1;
}

// Reads the pixels: 4 bytes each, red, green, blue, alpha, row by row without padding. Frees the memory that
// `chatbot_png_begin` allocated.
static inline int chatbot_png_finish(png_image *image, void *pixels) {
  return png_image_finish_read(image, 0, pixels, (png_int_32)(image->width * 4), 0);
}

static inline void chatbot_png_free(png_image *image) { png_image_free(image); }

#endif
