/* Waiting for a condition with a time limit, and the wall clock: `struct timespec` does not belong to one module for Swift. */

#ifndef CTHREADS_H
#define CTHREADS_H

#include <pthread.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/* Makes a condition whose waits go by the monotonic clock: a wall clock that is set neither wakes nor delays anybody. */
void cthreads_condition_init(pthread_cond_t *condition);

/* Waits for a signal, or until so many nanoseconds have passed. The mutex must be locked. */
void cthreads_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds);

/* What the wall clock reads, in seconds since 1970-01-01 00:00 UTC. */
double cthreads_wall_clock(void);

#pragma clang assume_nonnull end

#endif
