#define _GNU_SOURCE
#include "CFiles.h"

#include <fcntl.h>

int cfiles_reserve(int file, long long offset, long long length) {
  return fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)length);
}
