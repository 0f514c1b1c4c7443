/* Several datagrams in one system call: recvmmsg(2) and sendmmsg(2), which Swift's Glibc module does not export. */

#ifndef CDATAGRAMS_H
#define CDATAGRAMS_H

#include <sys/socket.h>

#pragma clang assume_nonnull begin

/* One datagram, with the layout of the system's `struct mmsghdr`. */
struct cdatagrams_message {
  struct msghdr header;
  /* The number of bytes that were received or sent. */
  unsigned int length;
};

/* Receives up to `count` datagrams without blocking.
 * Returns the number received, or -1 and sets errno. */
int cdatagrams_receive(int socket, struct cdatagrams_message *messages, unsigned int count);

/* Sends datagrams in order without blocking.
 * Returns the number sent, at least 1; or -1 if the first one could not be sent, and sets errno. */
int cdatagrams_send(int socket, struct cdatagrams_message *messages, unsigned int count);

#pragma clang assume_nonnull end

#endif
