/* The minimum cost of receiving: one UDP socket, recvmmsg, SRTP (AES-128-GCM) decryption, appending to a file. No ICE, no
 * DTLS, no RTCP, no reordering, no frames, no container. And the sender for it: each user sends 30 video frames a second in
 * 4 packets each and 50 audio packets, in total 170 packets and about 1 Mb a second. The users are not synchronised.
 *
 *   floor receive PORT FILE     until SIGTERM; then prints the packets received and lost
 *   floor send PORT USERS       until SIGTERM
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <srtp2/srtp.h>

enum {
  most_users = 1000,
  batch = 32,
  longest = 2048,
  header = 12,
  video_packets = 4,    /* of each frame */
  video_payload = 1042, /* 4 x 1042 B x 30 /s = 1 Mb/s */
  audio_payload = 160,
};

static volatile sig_atomic_t is_over;

static void end(int number) {
  (void)number;
  is_over = 1;
}

static void fail(const char *what) {
  fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int open_socket(void) {
  int handle = socket(AF_INET, SOCK_DGRAM, 0);
  if (handle < 0) fail("socket");
  int bytes = 4 << 20;
  setsockopt(handle, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  return handle;
}

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/* One session for each user, because each participant of a call has its own keys. */
static srtp_t make_session(srtp_ssrc_type_t type, unsigned user) {
  static unsigned char key[SRTP_AES_GCM_128_KEY_LEN_WSALT];
  memset(key, 0, sizeof key);
  memcpy(key, &user, sizeof user);
  srtp_policy_t policy;
  memset(&policy, 0, sizeof policy);
  srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp);
  srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp);
  policy.ssrc.type = type;
  policy.key = key;
  policy.window_size = 1024;
  srtp_t session;
  if (srtp_create(&session, &policy) != srtp_err_status_ok) {
    fprintf(stderr, "floor: libsrtp2 has no AES-GCM.\n");
    exit(1);
  }
  return session;
}

/* MARK: Receiving */

static void receive(int port, const char *path) {
  static unsigned char datagrams[batch][longest];
  static srtp_t sessions[most_users];
  static uint16_t newest[2 * most_users];
  static unsigned char is_known[2 * most_users];
  struct mmsghdr messages[batch];
  struct iovec parts[batch];
  memset(messages, 0, sizeof messages);
  for (int i = 0; i < batch; i++) {
    parts[i] = (struct iovec){.iov_base = datagrams[i], .iov_len = longest};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  int handle = open_socket();
  struct sockaddr_in own = loopback(port);
  if (bind(handle, (struct sockaddr *)&own, sizeof own) < 0) fail("bind");
  FILE *file = fopen(path, "ab");
  if (!file) fail(path);

  uint64_t packets = 0, lost = 0, refused = 0, wakeups = 0;
  while (!is_over) {
    int count = recvmmsg(handle, messages, batch, MSG_WAITFORONE, NULL);
    if (count < 0) {
      if (errno == EINTR) continue;
      fail("recvmmsg");
    }
    wakeups++;
    for (int i = 0; i < count; i++) {
      unsigned char *datagram = datagrams[i];
      int length = (int)messages[i].msg_len;
      if (length < header) continue;
      uint32_t source;
      memcpy(&source, datagram + 8, sizeof source);
      source = ntohl(source);
      if (source >= 2 * most_users) continue;
      srtp_t *session = &sessions[source / 2];
      if (!*session) *session = make_session(ssrc_any_inbound, source / 2);
      if (srtp_unprotect(*session, datagram, &length) != srtp_err_status_ok) {
        refused++;
        continue;
      }
      uint16_t number = (uint16_t)(datagram[2] << 8 | datagram[3]);
      if (is_known[source]) lost += (uint16_t)(number - newest[source] - 1);
      is_known[source] = 1;
      newest[source] = number;
      packets++;
      fwrite(datagram + header, 1, (size_t)length - header, file);
    }
  }
  fclose(file);
  printf("%llu packets, %llu lost, %llu refused, %.1f packets a wake-up\n", (unsigned long long)packets,
         (unsigned long long)lost, (unsigned long long)refused, wakeups ? (double)packets / (double)wakeups : 0.0);
}

/* MARK: Sending */

struct stream {
  uint64_t next, interval; /* ns */
  uint32_t source, timestamp, step;
  uint16_t number;
  int packets, payload;
};

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void send_frame(int handle, struct stream *stream, srtp_t session) {
  static unsigned char datagram[longest];
  for (int i = 0; i < stream->packets; i++) {
    int is_last = i == stream->packets - 1;
    uint16_t number = htons(stream->number++);
    uint32_t timestamp = htonl(stream->timestamp), source = htonl(stream->source);
    datagram[0] = 0x80;
    datagram[1] = (unsigned char)((is_last ? 0x80 : 0) | (stream->packets > 1 ? 96 : 111));
    memcpy(datagram + 2, &number, 2);
    memcpy(datagram + 4, &timestamp, 4);
    memcpy(datagram + 8, &source, 4);
    memset(datagram + header, i, (size_t)stream->payload);
    int length = header + stream->payload;
    if (srtp_protect(session, datagram, &length) == srtp_err_status_ok) send(handle, datagram, (size_t)length, 0);
  }
  stream->timestamp += stream->step;
  stream->next += stream->interval;
}

static void transmit(int port, unsigned users) {
  static struct stream streams[2 * most_users];
  static srtp_t sessions[most_users];
  int handle = open_socket();
  struct sockaddr_in remote = loopback(port);
  if (connect(handle, (struct sockaddr *)&remote, sizeof remote) < 0) fail("connect");
  uint64_t start = now() + 10000000u;
  for (unsigned user = 0; user < users; user++) {
    sessions[user] = make_session(ssrc_any_outbound, user);
    /* Spread over a second, at intervals that are not multiples of 20 ms. */
    uint64_t begun = start + (uint64_t)user * 1000000000u / users;
    streams[2 * user] = (struct stream){begun, 33333333u, 2 * user, 0, 3000, 0, video_packets, video_payload};
    streams[2 * user + 1] = (struct stream){begun + 7000000u, 20000000u, 2 * user + 1, 0, 960, 0, 1, audio_payload};
  }
  while (!is_over) {
    uint64_t present = now(), next = present + 100000000u;
    for (unsigned i = 0; i < 2 * users; i++) {
      if (streams[i].next <= present) send_frame(handle, &streams[i], sessions[i / 2]);
      if (streams[i].next < next) next = streams[i].next;
    }
    struct timespec wake = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
  }
}

int main(int count, char **arguments) {
  struct sigaction action = {.sa_handler = end};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  if (srtp_init() != srtp_err_status_ok) return 1;
  if (count == 4 && strcmp(arguments[1], "receive") == 0) {
    receive(atoi(arguments[2]), arguments[3]);
  } else if (count == 4 && strcmp(arguments[1], "send") == 0) {
    int users = atoi(arguments[3]);
    if (users < 1 || users > most_users) return 64;
    transmit(atoi(arguments[2]), (unsigned)users);
  } else {
    fprintf(stderr, "floor receive PORT FILE | floor send PORT USERS\n");
    return 64;
  }
  return 0;
}
