#define _GNU_SOURCE
#include "CFiles.h"

#include <fcntl.h>

int cfiles_reserve(int file, long long size) {
  return fallocate(file, FALLOC_FL_KEEP_SIZE, 0, (off_t)size);
}
