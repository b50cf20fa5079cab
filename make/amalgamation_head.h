/* damo.c: damo @VERSION@, a numerical engine that compiles expression graphs, as one file.
 *
 * Its header is damo.h. `cc -O2 -c damo.c` needs no library but libm. What it takes from libraries instead is set by
 * macros: -DDAMO_BLAS=1 (BLAS and LAPACK), -DDAMO_SUITESPARSE=1, -DDAMO_ZLIB=1, -DDAMO_SLEEF=1; -DDAMO_THREADS=0,
 * -DDAMO_POSIX=0 and -DDAMO_JIT=0 leave out threads, POSIX and machine code. docs/amalgamation.md tells more.
 *
 * This file is generated from damo's sources by `make amalgamation`: change those.
 */
#ifndef DAMO_AMALGAMATION
#define DAMO_AMALGAMATION 1
#endif
#define DAMO_BUILD_ID "@BUILD@"
#if defined(_WIN32)
#ifndef __USE_MINGW_ANSI_STDIO
#define __USE_MINGW_ANSI_STDIO 1
#endif
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#define NOGDI
#include <windows.h>
#undef near /* words that its header takes away */
#undef far
#undef small
#undef NEAR
#undef FAR
#undef IN
#undef OUT
#else
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1
#endif
#endif

/* A product and a sum are two operations: results are the same on all machines. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#if defined(__FAST_MATH__)
#error "damo needs the arithmetic of IEEE 754: compile damo.c without -ffast-math"
#endif

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wmissing-field-initializers" /* fields that are left out are 0 */
#pragma clang diagnostic ignored "-Wunused-function"            /* inline functions of headers, which this file has */
#endif

#include "damo.h"

