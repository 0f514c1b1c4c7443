#define _GNU_SOURCE
#include "CFiles.h"

#include <fcntl.h>
#include <sys/stat.h>

int cfiles_reserve(int file, long long offset, long long length) {
  return fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)length);
}

int cfiles_read_version(const char *path, struct cfiles_version *version) {
  struct stat status;
  if (stat(path, &status) != 0) return -1;
  version->inode = (unsigned long long)status.st_ino;
  version->seconds = (long long)status.st_mtim.tv_sec;
  version->nanoseconds = (long long)status.st_mtim.tv_nsec;
  version->bytes = (long long)status.st_size;
  version->mode = (unsigned int)(status.st_mode & 07777);
  version->is_plain = S_ISREG(status.st_mode);
  return 0;
}
