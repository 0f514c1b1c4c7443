#include "CChecksums.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

/* tables[k][b]: the state after byte b and k zero bytes. */
static uint32_t tables[8][256];

__attribute__((constructor)) static void make_tables(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t state = byte;
    for (int bit = 0; bit < 8; bit++) state = (state >> 1) ^ (state & 1 ? 0x82F63B78u : 0);
    tables[0][byte] = state;
  }
  for (int zeros = 1; zeros < 8; zeros++)
    for (int byte = 0; byte < 256; byte++) {
      uint32_t before = tables[zeros - 1][byte];
      tables[zeros][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
}

uint32_t cchecksums_crc32c_by_table(uint32_t state, const void *bytes, size_t count) {
  const uint8_t *next = bytes;
  for (; count >= 8; count -= 8, next += 8) {
    uint32_t low = state ^ ((uint32_t)next[0] | (uint32_t)next[1] << 8 | (uint32_t)next[2] << 16 | (uint32_t)next[3] << 24);
    state = tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^ tables[4][low >> 24] ^
            tables[3][next[4]] ^ tables[2][next[5]] ^ tables[1][next[6]] ^ tables[0][next[7]];
  }
  for (; count > 0; count--) state = (state >> 8) ^ tables[0][(state ^ *next++) & 0xFF];
  return state;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t state, const uint8_t *next, size_t count) {
  uint64_t wide = state;
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, sizeof word);
    wide = _mm_crc32_u64(wide, word);
  }
  state = (uint32_t)wide;
  for (; count > 0; count--) state = _mm_crc32_u8(state, *next++);
  return state;
}

uint32_t cchecksums_crc32c(uint32_t state, const void *bytes, size_t count) {
  if (__builtin_cpu_supports("sse4.2")) return by_instruction(state, bytes, count);
  return cchecksums_crc32c_by_table(state, bytes, count);
}

#elif defined(__ARM_FEATURE_CRC32)

uint32_t cchecksums_crc32c(uint32_t state, const void *bytes, size_t count) {
  const uint8_t *next = bytes;
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, sizeof word);
    state = __crc32cd(state, word);
  }
  for (; count > 0; count--) state = __crc32cb(state, *next++);
  return state;
}

#else

uint32_t cchecksums_crc32c(uint32_t state, const void *bytes, size_t count) {
  return cchecksums_crc32c_by_table(state, bytes, count);
}

#endif
