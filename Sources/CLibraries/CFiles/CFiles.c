#define _GNU_SOURCE
#include "CFiles.h"

#include <fcntl.h>
#include <sys/stat.h>

int cfiles_reserve(int file, long long offset, long long length) {
  return fallocate(file, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)length);
}

static int cfiles_describe(struct stat status, struct cfiles_version *version) {
  version->inode = (unsigned long long)status.st_ino;
  version->seconds = (long long)status.st_mtim.tv_sec;
  version->nanoseconds = (long long)status.st_mtim.tv_nsec;
  version->bytes = (long long)status.st_size;
  version->mode = (unsigned int)(status.st_mode & 07777);
  version->is_plain = S_ISREG(status.st_mode);
  return 0;
}

int cfiles_read_version(const char *path, struct cfiles_version *version) {
  struct stat status;
  if (stat(path, &status) != 0) return -1;
  return cfiles_describe(status, version);
}

int cfiles_read_open_version(int file, struct cfiles_version *version) {
  struct stat status;
  if (fstat(file, &status) != 0) return -1;
  return cfiles_describe(status, version);
}
