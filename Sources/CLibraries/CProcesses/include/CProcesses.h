/* Child processes with pipes, by posix_spawn(3): pipe2(2) and the macros of wait(2) are not in Swift's Glibc module. */

#ifndef CPROCESSES_H
#define CPROCESSES_H

#include <sys/types.h>

/*
 * Starts a program without a shell. `arguments` ends with NULL; the first one is a path, or a name that is looked up in PATH.
 *
 * The child leads a process group of its own. Its signals have their default actions and none is blocked. It inherits the
 * working directory, the environment unless `variables` (which ends with NULL) replaces it, and of the descriptors only 0, 1 and 2: pipes, whose other ends are returned in `ends`.
 * These are not inherited by further children. With `only_errors` there is a pipe for 2 only: the child reads from and writes to
 * /dev/null, and the first two of `ends` are -1.
 *
 * Returns 0, or an error number; then nothing was started and no descriptor is left open.
 */
int cprocesses_start(char *const *arguments, char *const *variables, int only_errors, int ends[3],
                     pid_t *child);

/*
 * Starts a program in a session of its own, which outlives this process. `arguments` begins with a path and ends with NULL, as does
 * `variables`. Standard input is `input`, standard output and standard error are `output`; both are above 2 and remain open here. The
 * child inherits no other descriptor.
 *
 * Returns 0, or an error number; then nothing was started.
 */
int cprocesses_start_session(char *const *arguments, char *const *variables, int input, int output, pid_t *child);

/* Reaps a child if it has ended: returns 1 and in `result` what cprocesses_reap returns. Returns 0 while it lives. */
int cprocesses_reap_ended(pid_t child, int *result);

/* Waits until a child has ended, but leaves it to be reaped, so that its id is not used again. Returns 0 or an error number. */
int cprocesses_wait(pid_t child);

/*
 * Reaps a child that has ended. Returns its exit code, the negative number of the signal that ended it, or 256 if neither is
 * known.
 */
int cprocesses_reap(pid_t child);

/* Sends a signal to all processes of the group that the child leads. */
void cprocesses_signal(pid_t child, int number);

/*
 * Returns a descriptor of a process that need not be a child (pidfd_open(2)), which is not inherited: what is sent to it reaches this
 * process or none, also when its id is used again. Returns -1 and sets errno if there is no such process, or no such call.
 */
int cprocesses_open(pid_t process);

/* Sends a signal to the process of such a descriptor. Returns 0, or -1 and sets errno. */
int cprocesses_send(int descriptor, int number);

/* Overwrites the values of the environment variables whose names begin with `prefix`, where they stand in memory. */
void cprocesses_overwrite_variables(const char *prefix);

#endif
