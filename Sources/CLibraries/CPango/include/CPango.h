/* Text as bitmaps of coverage, by Pango and Cairo. The libraries are loaded when they are first needed: linked, they would
 * cost each start of the program 2 ms and 0.4 MiB. */

#ifndef CPANGO_H
#define CPANGO_H

#include <stdint.h>

#pragma clang assume_nonnull begin

struct cpango_drawer;

/* The coverage of each pixel, row by row without padding, to be released with cpango_release. */
struct cpango_bitmap {
  int width;
  int height;
  uint8_t *_Nullable coverage;
};

struct cpango_style {
  /* The size of the font's em square, in pixels. */
  double size;
  /* 400 is normal, 700 bold. */
  int weight;
  /* A longer line is cut, with an ellipsis at its end. */
  int maximum_width;
  /* What is higher is cut. */
  int maximum_height;
};

/* Loads the libraries. Returns 0, or -1 if they are missing. For one thread at a time. */
int cpango_load(void);

/* Returns NULL if the libraries are missing or there is no memory. A drawer is for one thread at a time. */
struct cpango_drawer *_Nullable cpango_create(void);

void cpango_destroy(struct cpango_drawer *drawer);

/* Draws UTF-8 in one line, without any markup. Colours become greys. Returns 0, or -1. */
int cpango_draw(struct cpango_drawer *drawer, const char *text, int bytes, struct cpango_style style,
                struct cpango_bitmap *bitmap);

void cpango_release(struct cpango_bitmap *bitmap);

#pragma clang assume_nonnull end

#endif
