#include "CPango.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

/* As in pango/pango-types.h, pango/pango-layout.h and cairo.h, whose binary interfaces do not change. */
struct rectangle {
  int x;
  int y;
  int width;
  int height;
};
enum { scale = 1024, ellipsize_end = 3, argb32 = 0, antialias_gray = 2, hint_style_none = 1, hint_metrics_off = 1 };

/* Each function: its result, name and parameters. All are in what Pango's library for Cairo brings along. */
#define FUNCTIONS(F)                                                                         \
  F(void *, pango_cairo_font_map_new, (void))                                                \
  F(void *, pango_font_map_create_context, (void *))                                         \
  F(void, pango_context_set_round_glyph_positions, (void *, int))                            \
  F(void, pango_cairo_context_set_font_options, (void *, const void *))                      \
  F(void *, pango_font_description_new, (void))                                              \
  F(void, pango_font_description_set_family, (void *, const char *))                         \
  F(void, pango_font_description_set_absolute_size, (void *, double))                        \
  F(void, pango_font_description_set_weight, (void *, int))                                  \
  F(void, pango_font_description_free, (void *))                                             \
  F(void *, pango_layout_new, (void *))                                                      \
  F(void, pango_layout_set_font_description, (void *, const void *))                         \
  F(void, pango_layout_set_text, (void *, const char *, int))                                \
  F(void, pango_layout_set_width, (void *, int))                                             \
  F(void, pango_layout_set_ellipsize, (void *, int))                                         \
  F(void, pango_layout_set_single_paragraph_mode, (void *, int))                             \
  F(void, pango_layout_get_pixel_extents, (void *, struct rectangle *, struct rectangle *))  \
  F(void, pango_cairo_show_layout, (void *, void *))                                         \
  F(void *, cairo_font_options_create, (void))                                               \
  F(void, cairo_font_options_set_antialias, (void *, int))                                   \
  F(void, cairo_font_options_set_hint_style, (void *, int))                                  \
  F(void, cairo_font_options_set_hint_metrics, (void *, int))                                \
  F(void, cairo_font_options_destroy, (void *))                                              \
  F(void *, cairo_image_surface_create, (int, int, int))                                     \
  F(int, cairo_surface_status, (void *))                                                     \
  F(void, cairo_surface_flush, (void *))                                                     \
  F(unsigned char *, cairo_image_surface_get_data, (void *))                                 \
  F(int, cairo_image_surface_get_stride, (void *))                                           \
  F(void, cairo_surface_destroy, (void *))                                                   \
  F(void *, cairo_create, (void *))                                                          \
  F(void, cairo_set_source_rgba, (void *, double, double, double, double))                   \
  F(void, cairo_move_to, (void *, double, double))                                           \
  F(int, cairo_status, (void *))                                                             \
  F(void, cairo_destroy, (void *))                                                           \
  F(void, g_object_unref, (void *))                                                          \
  F(void *, g_log_set_default_handler, (void (*)(const char *, int, const char *, void *), void *))

#define DECLARE(result, name, parameters) result(*name) parameters;
static struct { FUNCTIONS(DECLARE) } library;
static int is_loaded;

/* What GLib logs, such as a font that is missing, would go to standard error. */
static void ignore(const char *domain, int level, const char *message, void *context) {
  (void)domain, (void)level, (void)message, (void)context;
}

int cpango_load(void) {
  if (is_loaded) return 0;
  void *handle = dlopen("libpangocairo-1.0.so.0", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) return -1;
#define FIND(result, name, parameters)               \
  *(void **)&library.name = dlsym(handle, #name);    \
  if (library.name == NULL) {                        \
    dlclose(handle);                                 \
    return -1;                                       \
  }
  FUNCTIONS(FIND)
  library.g_log_set_default_handler(ignore, NULL);
  is_loaded = 1;
  return 0;
}

struct cpango_drawer {
  void *map;
  void *context;
};

struct cpango_drawer *cpango_create(void) {
  if (!is_loaded) return NULL;
  struct cpango_drawer *drawer = calloc(1, sizeof *drawer);
  if (drawer == NULL) return NULL;
  drawer->map = library.pango_cairo_font_map_new();
  drawer->context = drawer->map ? library.pango_font_map_create_context(drawer->map) : NULL;
  if (drawer->context == NULL) {
    cpango_destroy(drawer);
    return NULL;
  }
  /* The same bitmaps whatever the settings of the desktop are. */
  void *options = library.cairo_font_options_create();
  library.cairo_font_options_set_antialias(options, antialias_gray);
  library.cairo_font_options_set_hint_style(options, hint_style_none);
  library.cairo_font_options_set_hint_metrics(options, hint_metrics_off);
  library.pango_cairo_context_set_font_options(drawer->context, options);
  library.cairo_font_options_destroy(options);
  library.pango_context_set_round_glyph_positions(drawer->context, 0);
  return drawer;
}

void cpango_destroy(struct cpango_drawer *drawer) {
  if (drawer->context) library.g_object_unref(drawer->context);
  if (drawer->map) library.g_object_unref(drawer->map);
  free(drawer);
}

static int smaller(int one, int other) { return one < other ? one : other; }
static int greater(int one, int other) { return one > other ? one : other; }

/* Draws the part of a layout that is in a box into a new bitmap. */
static int render(void *layout, struct rectangle box, struct cpango_bitmap *bitmap) {
  int result = -1;
  void *surface = library.cairo_image_surface_create(argb32, box.width, box.height);
  void *cairo = library.cairo_create(surface);
  if (library.cairo_surface_status(surface) == 0 && library.cairo_status(cairo) == 0) {
    library.cairo_set_source_rgba(cairo, 1, 1, 1, 1);
    library.cairo_move_to(cairo, -box.x, -box.y);
    library.pango_cairo_show_layout(cairo, layout);
    library.cairo_surface_flush(surface);
    const unsigned char *rows = library.cairo_image_surface_get_data(surface);
    int stride = library.cairo_image_surface_get_stride(surface);
    uint8_t *coverage = malloc((size_t)box.width * (size_t)box.height);
    if (library.cairo_status(cairo) == 0 && rows != NULL && coverage != NULL) {
      for (int y = 0; y < box.height; y++) {
        const uint32_t *row = (const uint32_t *)(const void *)(rows + (ptrdiff_t)y * stride);
        for (int x = 0; x < box.width; x++) {
          /* Colours are premultiplied with alpha. The weights are those of BT.601, of 256. */
          uint32_t red = row[x] >> 16 & 0xFF, green = row[x] >> 8 & 0xFF, blue = row[x] & 0xFF;
          coverage[(size_t)y * (size_t)box.width + (size_t)x] = (uint8_t)((77 * red + 150 * green + 29 * blue) >> 8);
        }
      }
      *bitmap = (struct cpango_bitmap){box.width, box.height, coverage};
      result = 0;
    } else {
      free(coverage);
    }
  }
  library.cairo_destroy(cairo);
  library.cairo_surface_destroy(surface);
  return result;
}

int cpango_draw(struct cpango_drawer *drawer, const char *text, int bytes, struct cpango_style style,
                struct cpango_bitmap *bitmap) {
  void *layout = library.pango_layout_new(drawer->context);
  if (layout == NULL) return -1;
  void *font = library.pango_font_description_new();
  library.pango_font_description_set_family(font, "sans-serif");
  library.pango_font_description_set_absolute_size(font, style.size * scale);
  library.pango_font_description_set_weight(font, style.weight);
  library.pango_layout_set_font_description(layout, font);
  library.pango_font_description_free(font);
  library.pango_layout_set_single_paragraph_mode(layout, 1);
  library.pango_layout_set_ellipsize(layout, ellipsize_end);
  library.pango_layout_set_width(layout, style.maximum_width * scale);
  library.pango_layout_set_text(layout, text, bytes);

  /* Ink may stick out of the line at its sides. Above and below it is cut: marks can be stacked without end. */
  struct rectangle ink = {0, 0, 0, 0}, line = {0, 0, 0, 0};
  library.pango_layout_get_pixel_extents(layout, &ink, &line);
  int left = ink.width > 0 ? smaller(ink.x, line.x) : line.x;
  int right = greater(line.x + line.width, ink.width > 0 ? ink.x + ink.width : line.x);
  struct rectangle box = {left, line.y, right - left, line.height};
  box.width = greater(1, smaller(box.width, style.maximum_width));
  box.height = greater(1, smaller(box.height, style.maximum_height));
  int result = render(layout, box, bitmap);
  library.g_object_unref(layout);
  return result;
}

void cpango_release(struct cpango_bitmap *bitmap) {
  free(bitmap->coverage);
  bitmap->coverage = NULL;
}
