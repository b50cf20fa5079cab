/* test: the checks of C tests. A program includes this once, calls its tests and ends with TEST_MAIN_END. */
#ifndef DAMO_TEST_H
#define DAMO_TEST_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int test_passed, test_failed;

static inline bool test_report(bool ok, const char *file, int line, const char *what) {
  if (ok) {
    test_passed++;
  } else {
    test_failed++;
    fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
  }
  return ok;
}

static inline bool test_eq_i(int64_t a, int64_t b, const char *file, int line, const char *what) {
  if (!test_report(a == b, file, line, what)) fprintf(stderr, "    %lld and %lld\n", (long long)a, (long long)b);
  return a == b;
}

static inline bool test_near(double a, double b, double tol, const char *file, int line, const char *what) {
  bool ok = a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tol;
  if (!test_report(ok, file, line, what)) fprintf(stderr, "    %.17g and %.17g, tolerance %g\n", a, b, tol);
  return ok;
}

static inline bool test_eq_s(const char *a, const char *b, const char *file, int line, const char *what) {
  bool ok = a && b && strcmp(a, b) == 0;
  if (!test_report(ok, file, line, what)) fprintf(stderr, "    \"%s\"\n    \"%s\"\n", a ? a : "NULL", b ? b : "NULL");
  return ok;
}

/* Each check returns whether it passed, so that a test can stop if continuing makes no sense. */
#define CHECK(cond) test_report((cond), __FILE__, __LINE__, #cond)
#define CHECK_EQ_I(a, b) test_eq_i((int64_t)(a), (int64_t)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_NEAR(a, b, tol) test_near((a), (b), (tol), __FILE__, __LINE__, #a " near " #b)
#define CHECK_EQ_S(a, b) test_eq_s((a), (b), __FILE__, __LINE__, #a " is " #b)

/* The end of main: `TEST_MAIN_END;` */
#define TEST_MAIN_END                                           \
  do {                                                          \
    printf("%d passed, %d failed\n", test_passed, test_failed); \
    return test_failed ? 1 : 0;                                 \
  } while (0)

#endif
