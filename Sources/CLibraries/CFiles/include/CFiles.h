/* Room for a file before it is written: fallocate(2), which Glibc's module does not show to Swift. */

#ifndef CFILES_H
#define CFILES_H

/* Reserves room for a part of a file, which stays as long as it is. Gives 0, or -1 and errno. */
int cfiles_reserve(int file, long long offset, long long length);

#endif
