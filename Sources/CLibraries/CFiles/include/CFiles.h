/* Preallocation of disk space: fallocate(2), which Swift's Glibc module does not export. */

#ifndef CFILES_H
#define CFILES_H

/* Reserves disk space for a part of a file without changing its size. Returns 0, or -1 and sets errno. */
int cfiles_reserve(int file, long long offset, long long length);

#endif
