/* What a sandboxed process tries in order to show that it cannot. */
#define _GNU_SOURCE
#include "CMediaProgram.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int result(long value) { return value < 0 ? errno : 0; }

static int open_file(void) { return result(open("/etc/passwd", O_RDONLY)); }

static int create_file(void) { return result(open("/tmp/chatbot-media-test", O_WRONLY | O_CREAT, 0600)); }

static int read_status(void) {
  struct stat status;
  return result(stat("/", &status));
}

static int open_socket(void) { return result(socket(AF_INET, SOCK_DGRAM, 0)); }

static int open_local_socket(void) { return result(socket(AF_UNIX, SOCK_STREAM, 0)); }

static int run_program(void) {
  char *const arguments[] = {"/bin/true", NULL};
  char *const variables[] = {NULL};
  return result(execve(arguments[0], arguments, variables));
}

/* The system calls themselves: what glibc does around a fork must not decide. */
static int fork_process(void) {
  long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) _exit(0);
  return result(child);
}

static void *do_nothing(void *nothing) { return nothing; }

static int start_thread(void) {
  pthread_t thread;
  int error = pthread_create(&thread, NULL, do_nothing, NULL);
  if (error == 0) pthread_join(thread, NULL);
  return error;
}

static int map_executable(void) {
  void *start = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return start == MAP_FAILED ? errno : 0;
}

static int map_shared(void) {
  void *start = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return start == MAP_FAILED ? errno : 0;
}

/* A stack is not counted as data. */
static int map_growing(void) {
  void *start = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0);
  return start == MAP_FAILED ? errno : 0;
}

static int make_executable(void) {
  void *start = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return errno;
  return result(mprotect(start, 4096, PROT_READ | PROT_EXEC));
}

static int kill_others(void) { return result(kill(getppid(), 0)); }

static int trace_parent(void) { return result(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL)); }

static int use_much_memory(void) {
  size_t size = (size_t)512 << 20;
  void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return start == MAP_FAILED ? errno : 0;
}

static int use_inherited_descriptors(void) {
  for (int descriptor = 4; descriptor < 1024; descriptor++) {
    char byte;
    if (pread(descriptor, &byte, 1, 0) >= 0 || errno != EBADF) return 0;
  }
  return EBADF;
}

static int read_environment(void) { return environ == NULL || environ[0] == NULL ? ENOENT : 0; }

static const struct {
  const char *name;
  int (*attempt)(void);
} attempts[] = {
    {"open", open_file},
    {"create", create_file},
    {"stat", read_status},
    {"socket", open_socket},
    {"local socket", open_local_socket},
    {"exec", run_program},
    {"fork", fork_process},
    {"thread", start_thread},
    {"executable mmap", map_executable},
    {"executable mprotect", make_executable},
    {"shared mmap", map_shared},
    {"growing mmap", map_growing},
    {"kill", kill_others},
    {"ptrace", trace_parent},
    {"512 MiB", use_much_memory},
    {"inherited descriptors", use_inherited_descriptors},
    {"environment", read_environment},
};

static const int attempt_count = sizeof attempts / sizeof attempts[0];

int cmediaprogram_attempt(int index) {
  return index >= 0 && index < attempt_count ? attempts[index].attempt() : EINVAL;
}

const char *cmediaprogram_attempt_name(int index) {
  return index >= 0 && index < attempt_count ? attempts[index].name : NULL;
}
