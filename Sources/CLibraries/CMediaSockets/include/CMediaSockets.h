/* Messages between processes on one machine: pairs of sockets that keep the borders of messages, descriptors in messages, and
 * shared memory of a fixed size. The macros of cmsg(3) and fcntl(2) are not in Swift's Glibc module. */

#ifndef CMEDIASOCKETS_H
#define CMEDIASOCKETS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The most descriptors in one message. */
#define CMEDIA_MAXIMUM_DESCRIPTORS 4

/* Makes a connected pair of sockets. Each message is received whole. No child inherits them. Returns 0 or an error number. */
int cmedia_pair(int ends[2]);

/* Makes shared memory of `size` bytes, of zeros. Nobody can change its size, so no access to it fails. Returns a descriptor, or
 * the negative of an error number. */
int cmedia_memory(size_t size);

/* Whether a descriptor is of such memory, and of at least `size` bytes. */
int cmedia_is_memory(int descriptor, size_t size);

/* Sends a message with copies of descriptors. It never waits and never raises SIGPIPE. Returns 0 or an error number. */
int cmedia_send(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count);

/*
 * Receives a message, and waits for at most `milliseconds`, or for ever if that is negative.
 *
 * `descriptor_count` has the room in `descriptors`, and afterwards the number of received ones; if it is NULL, the kernel
 * discards descriptors. Returns the number of bytes, 0 if the other side has closed, or the negative of an error number: ETIMEDOUT, EMSGSIZE for
 * a message above `capacity` or with too many descriptors.
 */
ssize_t cmedia_receive(int socket, void *bytes, size_t capacity, int milliseconds, int *descriptors,
                       int *descriptor_count);

/*
 * Starts a program with an empty environment: descriptor 3 is a copy of `socket`, 2 one of `errors`, 0 and 1 are /dev/null, and
 * there are no others. No signal is blocked or ignored. Returns 0 or an error number.
 */
int cmedia_start(const char *path, int socket, int errors, pid_t *child);

/* The CPU time of a process, in nanoseconds; -1 if it is not known. */
int64_t cmedia_processor_time(pid_t process);

#endif
