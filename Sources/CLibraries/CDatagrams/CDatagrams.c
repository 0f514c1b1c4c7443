#define _GNU_SOURCE
#include "CDatagrams.h"

#include <stddef.h>

_Static_assert(sizeof(struct cdatagrams_message) == sizeof(struct mmsghdr), "layout of struct mmsghdr");
_Static_assert(offsetof(struct cdatagrams_message, length) == offsetof(struct mmsghdr, msg_len), "layout of struct mmsghdr");

int cdatagrams_receive(int socket, struct cdatagrams_message *messages, unsigned int count) {
  return recvmmsg(socket, (struct mmsghdr *)messages, count, MSG_DONTWAIT, NULL);
}

int cdatagrams_send(int socket, struct cdatagrams_message *messages, unsigned int count) {
  return sendmmsg(socket, (struct mmsghdr *)messages, count, MSG_DONTWAIT);
}
