/* Many datagrams in one system call: recvmmsg(2) and sendmmsg(2), which Glibc's module does not show to Swift. */

#ifndef CDATAGRAMS_H
#define CDATAGRAMS_H

#include <sys/socket.h>

#pragma clang assume_nonnull begin

/* One datagram: the system's `struct mmsghdr`. */
struct cdatagrams_message {
  struct msghdr header;
  /* Its bytes, once it has come or left. */
  unsigned int length;
};

/* Takes what has come to a socket, as many datagrams at most as there are messages, without waiting for any.
 * Gives their number, or -1 and errno. */
int cdatagrams_receive(int socket, struct cdatagrams_message *messages, unsigned int count);

/* Sends datagrams in order, without waiting for room.
 * Gives how many were sent, at least one, or -1 and errno of the first. */
int cdatagrams_send(int socket, struct cdatagrams_message *messages, unsigned int count);

#pragma clang assume_nonnull end

#endif
