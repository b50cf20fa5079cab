/* process: what is one for the whole process: a lock, and random bytes of the system.
 *
 * The lock guards the table of tokens (compile/token.c), which is all that contexts have in common. A fork takes it
 * first, so that the child never finds it held by a thread that it has not.
 */
#include "base.h"

#if DAMO_THREADS
#include <pthread.h>
#endif
#if defined(__linux__) || defined(__APPLE__)
#include <sys/random.h>
#elif defined(_WIN32)
#include <windows.h>
#else
#include <unistd.h>
#endif

#if DAMO_THREADS
static pthread_mutex_t process_mutex = PTHREAD_MUTEX_INITIALIZER;
static void mutex_lock(void) { pthread_mutex_lock(&process_mutex); }
static void mutex_unlock(void) { pthread_mutex_unlock(&process_mutex); }
#if DAMO_POSIX
static bool process_knows_forks; /* guarded by the mutex */
#endif
#elif defined(_WIN32)
/* Without POSIX threads the host may still have contexts in several threads. */
static atomic_flag process_flag = ATOMIC_FLAG_INIT;
static void mutex_lock(void) {
  while (atomic_flag_test_and_set(&process_flag)) Sleep(0);
}
static void mutex_unlock(void) { atomic_flag_clear(&process_flag); }
#else
static void mutex_lock(void) {}
static void mutex_unlock(void) {}
#endif

void process_lock(void) {
  mutex_lock();
#if DAMO_THREADS && DAMO_POSIX
  if (!process_knows_forks) process_knows_forks = pthread_atfork(mutex_lock, mutex_unlock, mutex_unlock) == 0;
#endif
}

void process_unlock(void) { mutex_unlock(); }

#if defined(_WIN32)
unsigned char SystemFunction036(void *at, unsigned long n); /* RtlGenRandom of advapi32 */
bool process_random(void *at, size_t n) { return SystemFunction036(at, (unsigned long)n) != 0; }
#elif defined(__linux__)
bool process_random(void *at, size_t n) { return getrandom(at, n, 0) == (ssize_t)n; }
#else
bool process_random(void *at, size_t n) { return getentropy(at, n) == 0; }
#endif
