#define _GNU_SOURCE
#include "CProcesses.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void close_all(int pipes[3][2]) {
  for (int i = 0; i < 3; i++) {
    for (int side = 0; side < 2; side++) {
      if (pipes[i][side] >= 0) close(pipes[i][side]);
      pipes[i][side] = -1;
    }
  }
}

/* Both ends get numbers above 2, where redirecting one cannot overwrite another. */
static int open_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) {
    ends[0] = ends[1] = -1;
    return errno;
  }
  for (int side = 0; side < 2; side++) {
    if (ends[side] > 2) continue;
    int moved = fcntl(ends[side], F_DUPFD_CLOEXEC, 3);
    if (moved < 0) return errno;
    close(ends[side]);
    ends[side] = moved;
  }
  return 0;
}

static int spawn(char *const *arguments, char *const *variables, int only_errors, int pipes[3][2],
                 pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  error = posix_spawnattr_init(&attributes);
  if (error != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  if (only_errors) {
    if (error == 0) error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  } else {
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1);
  }
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2);
  if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  if (error == 0) error = posix_spawnattr_setpgroup(&attributes, 0);
  if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
  if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &all);
  if (error == 0) {
    error = posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  if (error == 0) error = posix_spawnp(child, arguments[0], &actions, &attributes, arguments,
                                         variables == NULL ? environ : variables);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

int cprocesses_start(char *const *arguments, char *const *variables, int only_errors, int ends[3],
                     pid_t *child) {
  int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
  int error = arguments[0] == NULL ? EINVAL : 0;
  for (int i = only_errors ? 2 : 0; i < 3 && error == 0; i++) error = open_pipe(pipes[i]);
  if (error == 0) error = spawn(arguments, variables, only_errors, pipes, child);
  if (error != 0) {
    close_all(pipes);
    return error;
  }
  ends[0] = pipes[0][1];
  ends[1] = pipes[1][0];
  ends[2] = pipes[2][0];
  if (!only_errors) {
    close(pipes[0][0]);
    close(pipes[1][1]);
  }
  close(pipes[2][1]);
  return 0;
}

int cprocesses_start_session(char *const *arguments, char *const *variables, int input, int output, pid_t *child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  if (arguments[0] == NULL || input < 3 || output < 3) return EINVAL;
  int error = posix_spawn_file_actions_init(&actions);
  if (error != 0) return error;
  error = posix_spawnattr_init(&attributes);
  if (error != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, input, 0);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, 1);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, 2);
  if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  if (error == 0) error = posix_spawnattr_setsigmask(&attributes, &none);
  if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &all);
  if (error == 0) {
    error = posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  if (error == 0) error = posix_spawn(child, arguments[0], &actions, &attributes, arguments, variables);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

int cprocesses_reap_ended(pid_t child, int *result) {
  int status = 0;
  pid_t found;
  do {
    found = waitpid(child, &status, WNOHANG);
  } while (found < 0 && errno == EINTR);
  if (found == 0) return 0;
  *result = found != child ? 256
            : WIFEXITED(status) ? WEXITSTATUS(status)
            : WIFSIGNALED(status) ? -WTERMSIG(status)
                                  : 256;
  return 1;
}

int cprocesses_wait(pid_t child) {
  siginfo_t info;
  while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int cprocesses_reap(pid_t child) {
  int status = 0;
  pid_t found;
  do {
    found = waitpid(child, &status, 0);
  } while (found < 0 && errno == EINTR);
  if (found != child) return 256;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : 256;
}

void cprocesses_signal(pid_t child, int number) {
  if (child <= 1) return;
  kill(-child, number);
  // It may have joined another group.
  kill(child, number);
}

/* Their numbers are the same on all architectures; the C library has functions for them since 2.36. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

int cprocesses_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int cprocesses_send(int descriptor, int number) {
  return (int)syscall(SYS_pidfd_send_signal, descriptor, number, NULL, 0);
}

void cprocesses_overwrite_variables(const char *prefix) {
  size_t length = strlen(prefix);
  for (char **variable = environ; variable && *variable; variable++) {
    char *value = strchr(*variable, '=');
    if (value && !strncmp(*variable, prefix, length)) memset(value + 1, 0, strlen(value + 1));
  }
}
