/* Checksums that processors compute in hardware. */

#ifndef CCHECKSUMS_H
#define CCHECKSUMS_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/* Returns the state of a CRC32c (Castagnoli, reflected) after `count` more bytes. The state before the first byte is
 * 0xFFFFFFFF; the checksum is the inverted state after the last one. */
uint32_t cchecksums_crc32c(uint32_t state, const void *_Nullable bytes, size_t count);

/* The same by tables, for processors without the instruction; exposed for tests. */
uint32_t cchecksums_crc32c_by_table(uint32_t state, const void *_Nullable bytes, size_t count);

#pragma clang assume_nonnull end

#endif
