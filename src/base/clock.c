/* clock: the two clocks of the system. */
#include <time.h>

#include "base.h"

#if defined(_WIN32)
#include <windows.h>

int64_t clock_ns(void) {
  LARGE_INTEGER now, second;
  QueryPerformanceCounter(&now);
  QueryPerformanceFrequency(&second);
  const int64_t at = now.QuadPart, unit = second.QuadPart;
  return at / unit * 1000000000 + at % unit * 1000000000 / unit;
}

int64_t clock_epoch_ns(void) { /* the system counts 100 ns from 1601 */
  FILETIME now;
  GetSystemTimeAsFileTime(&now);
  const int64_t at = (int64_t)now.dwHighDateTime << 32 | now.dwLowDateTime;
  return (at - 116444736000000000) * 100;
}
#else
static int64_t nanoseconds(clockid_t id) {
  struct timespec t = {0, 0};
  clock_gettime(id, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t clock_ns(void) { return nanoseconds(CLOCK_MONOTONIC); }

int64_t clock_epoch_ns(void) { return nanoseconds(CLOCK_REALTIME); }
#endif
