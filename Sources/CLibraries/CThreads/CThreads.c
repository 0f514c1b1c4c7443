#include "CThreads.h"

#include <time.h>

void cthreads_condition_init(pthread_cond_t *condition) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
}

void cthreads_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t nanoseconds) {
  const int64_t second = 1000000000;
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += nanoseconds / second;
  end.tv_nsec += nanoseconds % second;
  if (end.tv_nsec >= second) {
    end.tv_nsec -= second;
    end.tv_sec += 1;
  }
  pthread_cond_timedwait(condition, mutex, &end);
}

double cthreads_wall_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int64_t time_of(clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time) != 0) return 0;
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t cthreads_thread_time(void) { return time_of(CLOCK_THREAD_CPUTIME_ID); }

int64_t cthreads_process_time(void) { return time_of(CLOCK_PROCESS_CPUTIME_ID); }
