// Pango with FreeType for Swift: shapes and draws text as bitmaps of coverage.
#ifndef CPANGO_SHIM_H
#define CPANGO_SHIM_H

#include <pango/pangoft2.h>

// A macro.
static inline int chatbot_pango_scale(void) { return PANGO_SCALE; }

#endif
