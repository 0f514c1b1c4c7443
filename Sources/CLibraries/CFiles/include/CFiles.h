/* Calls for files: fallocate(2), which Swift's Glibc module does not export, and a part of stat(2), whose structure belongs to another
   module wherever SwiftNIO is imported. */

#ifndef CFILES_H
#define CFILES_H

/* Reserves disk space for a part of a file without changing its size. Returns 0, or -1 and sets errno. */
int cfiles_reserve(int file, long long offset, long long length);

/* What changes when a file does, and who may read it. */
struct cfiles_version {
  unsigned long long inode;
  long long seconds;
  long long nanoseconds;
  long long bytes;
  /* The permission bits. */
  unsigned int mode;
  int is_plain;
};

/* Describes a file, or that which a link leads to. Returns 0, or -1 and sets errno. */
int cfiles_read_version(const char *path, struct cfiles_version *version);

/* The same of an open file. */
int cfiles_read_open_version(int file, struct cfiles_version *version);

#endif
