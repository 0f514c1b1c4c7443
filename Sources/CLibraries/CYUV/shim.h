// libyuv for Swift: nothing needs a helper. Debian's package has no pkg-config file; the module map links it.
#ifndef CYUV_SHIM_H
#define CYUV_SHIM_H

#include <libyuv/convert.h>
#include <libyuv/planar_functions.h>
#include <libyuv/rotate.h>
#include <libyuv/scale.h>

#endif
