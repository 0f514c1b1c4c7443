/* Functions with `struct timespec`, which several of Swift's modules declare: waiting with a timeout, and the wall
 * clock. */

#ifndef CTHREADS_H
#define CTHREADS_H

#include <pthread.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/* Initializes a condition variable whose timeouts use the monotonic clock, so that setting the wall clock does not
 * affect them. */
void cthreads_condition_init(pthread_cond_t *condition);

/* Waits for a signal, for at most `nanoseconds`. The mutex must be locked. */
void cthreads_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds);

/* Returns the wall clock in seconds since 1970-01-01 00:00 UTC. */
double cthreads_wall_clock(void);

// The processor time of the calling thread, in nanoseconds.
int64_t cthreads_thread_time(void);

// The processor time of this process, in nanoseconds.
int64_t cthreads_process_time(void);

#pragma clang assume_nonnull end

#endif
