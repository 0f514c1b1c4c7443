#define _GNU_SOURCE
#include "CMediaSockets.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

int cmedia_pair(int ends[2]) {
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) return 0;
  ends[0] = ends[1] = -1;
  return errno;
}

int cmedia_memory(size_t size) {
  int descriptor = memfd_create("chatbot-media", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return -errno;
  if (ftruncate(descriptor, (off_t)size) != 0 ||
      fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    int error = errno;
    close(descriptor);
    return -error;
  }
  return descriptor;
}

int cmedia_is_memory(int descriptor, size_t size) {
  struct stat status;
  int seals = fcntl(descriptor, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(descriptor, &status) == 0 &&
         status.st_size >= 0 && (size_t)status.st_size >= size;
}

int cmedia_send(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(CMEDIA_MAXIMUM_DESCRIPTORS * sizeof(int))];
  } control;
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor_count < 0 || descriptor_count > CMEDIA_MAXIMUM_DESCRIPTORS) return EINVAL;
  if (descriptor_count > 0) {
    size_t length = (size_t)descriptor_count * sizeof(int);
    memset(&control, 0, sizeof control);
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(length);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(length);
    memcpy(CMSG_DATA(header), descriptors, length);
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

static int wait_for(int socket, int milliseconds) {
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += milliseconds / 1000;
  end.tv_nsec += (milliseconds % 1000) * 1000000L;
  int left = milliseconds;
  for (;;) {
    struct pollfd poll_descriptor = {.fd = socket, .events = POLLIN};
    int ready = poll(&poll_descriptor, 1, left);
    if (ready > 0) return 0;
    if (ready == 0) return ETIMEDOUT;
    if (errno != EINTR) return errno;
    clock_gettime(CLOCK_MONOTONIC, &now);
    left = (int)((end.tv_sec - now.tv_sec) * 1000 + (end.tv_nsec - now.tv_nsec) / 1000000);
    if (left < 0) left = 0;
  }
}

ssize_t cmedia_receive(int socket, void *bytes, size_t capacity, int milliseconds, int *descriptors,
                       int *descriptor_count) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(CMEDIA_MAXIMUM_DESCRIPTORS * sizeof(int))];
  } control;
  int room = descriptor_count == NULL ? 0 : *descriptor_count;
  if (descriptor_count != NULL) *descriptor_count = 0;
  if (milliseconds >= 0) {
    int error = wait_for(socket, milliseconds);
    if (error != 0) return -error;
  }
  struct iovec part = {.iov_base = bytes, .iov_len = capacity};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (room > 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
  }
  ssize_t received;
  do {
    received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (milliseconds >= 0 ? MSG_DONTWAIT : 0));
  } while (received < 0 && errno == EINTR);
  if (received < 0) return errno == EAGAIN ? -ETIMEDOUT : -errno;
  int found = 0;
  int excess = 0;
  if (room > 0) {
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL;
         header = CMSG_NXTHDR(&message, header)) {
      if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
      size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; i++) {
        int descriptor;
        memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
        if (found < room) {
          descriptors[found++] = descriptor;
        } else {
          close(descriptor);
          excess = 1;
        }
      }
    }
  }
  if ((message.msg_flags & MSG_TRUNC) != 0 || (room > 0 && (message.msg_flags & MSG_CTRUNC) != 0)) excess = 1;
  if (excess) {
    while (found > 0) close(descriptors[--found]);
    return -EMSGSIZE;
  }
  if (descriptor_count != NULL) *descriptor_count = found;
  return received;
}

int cmedia_start(const char *path, int socket, int errors, pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  char *const arguments[] = {(char *)path, NULL};
  char *const variables[] = {NULL};
  sigemptyset(&none);
  sigfillset(&all);
  /* Above 3, so that redirecting one does not overwrite the other. */
  int moved_socket = fcntl(socket, F_DUPFD_CLOEXEC, 4);
  if (moved_socket < 0) return errno;
  int moved_errors = fcntl(errors, F_DUPFD_CLOEXEC, 4);
  if (moved_errors < 0) {
    int error = errno;
    close(moved_socket);
    return error;
  }
  int error = posix_spawn_file_actions_init(&actions);
  if (error == 0) {
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
      if (error == 0) error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
      if (error == 0) error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
      if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, moved_errors, 2);
      if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, moved_socket, 3);
      if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, 4);
      if (error == 0) error = posix_spawnattr_setpgroup(&attributes, 0);
      if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
      if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &all);
      if (error == 0) {
        error = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
      }
      if (error == 0) error = posix_spawn(child, path, &actions, &attributes, arguments, variables);
      posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  close(moved_socket);
  close(moved_errors);
  return error;
}

int64_t cmedia_processor_time(pid_t process) {
  clockid_t clock;
  struct timespec time;
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return -1;
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
