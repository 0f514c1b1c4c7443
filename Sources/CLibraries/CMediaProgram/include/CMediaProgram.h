/* What the program chatbot-media needs of the kernel: its parent process isolates itself and forks, and each child confines
 * itself before it reads anything that others wrote. */

#ifndef CMEDIAPROGRAM_H
#define CMEDIAPROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What a process may use. */
struct cmediaprogram_limits {
  /* Private memory, in bytes. */
  uint64_t memory;
  /* Descriptors, those that are open included. */
  uint64_t descriptors;
  /* The size of a file that it writes, in bytes; 0 for none, UINT64_MAX without a limit. */
  uint64_t file;
  /* Whether it may start threads. */
  int has_threads;
  /* Whether it may write at any position of its descriptors, and wait for room on a disk. */
  int writes;
};

/*
 * For the parent: an empty environment, network, mount and IPC namespaces of its own, an empty file system, no core dumps, and the first to be killed if
 * the machine has no memory left. Each step that the system does not allow is left out. Returns the steps that were taken:
 * the sum of 1 (namespaces) and 2 (file system).
 */
int cmediaprogram_isolate(void);

/* The number of threads of this process; -1 if it is not known. */
int cmediaprogram_threads(void);

/* Forks. Returns 0 in the child, its id in the parent, or the negative of an error number. */
pid_t cmediaprogram_fork(void);

/*
 * For a child, before it reads anything: makes `descriptor` number 3, closes all above it, gives up all privileges, ends with its
 * parent, sets limits, and admits only the system calls that its work needs. Returns 0, or an error number; then the child must end.
 */
int cmediaprogram_confine(int descriptor, pid_t parent, struct cmediaprogram_limits limits);

/* Ignores SIGHUP, SIGINT and SIGTERM, which a service manager sends to all processes of a service at once. This process ends with its
 * socket instead. */
void cmediaprogram_outlive_signals(void);

/* Waits for the end of a child. Returns what cmediaprogram_end returns. */
int cmediaprogram_wait(pid_t child);

/* Kills a child and waits for its end. Returns its exit code, or the negative number of the signal that ended it: the first that
 * did, if it had ended before; 256 if that is not known. */
int cmediaprogram_end(pid_t child);

/* Maps shared memory; NULL if that fails. */
void *cmediaprogram_map(int descriptor, size_t size);

/*
 * Tries something that the sandbox refuses, for a test from inside. Returns 0 if it was done, or the number of the error. Of some
 * attempts the kernel ends the process with SIGSYS.
 */
int cmediaprogram_attempt(int index);

/* The name of an attempt; NULL behind the last one. */
const char *cmediaprogram_attempt_name(int index);

/* FFmpeg's log is replaced: the first errors of each request are kept. Nothing is written. */
void cmediaprogram_log_start(void);

/* Forgets what was logged. */
void cmediaprogram_log_reset(void);

/* The first error since then, without its line end; empty if there was none. */
const char *cmediaprogram_log_text(void);

/* The first error of a decoder that means that samples are damaged or missing, in the same form. */
const char *cmediaprogram_log_damage(void);

#endif
