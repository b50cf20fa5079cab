/* parts: what a build takes from libraries and from the system. Each is 1 or 0 and may be given to the compiler. The
 * defaults of the tree's own build are all 1; those of the amalgamation, the one file that needs libm alone, are 0 for
 * libraries, and for the system what the target has. Where a part is 0, damo has its own code for it, or the functions
 * that need it are not_implemented. */
#ifndef DAMO_BASE_PARTS_H
#define DAMO_BASE_PARTS_H

#ifdef DAMO_AMALGAMATION
#define DAMO_WITH_LIBRARIES 0
#else
#define DAMO_WITH_LIBRARIES 1
#endif

#ifndef DAMO_BLAS /* BLAS and LAPACK; else kernel/blas */
#define DAMO_BLAS DAMO_WITH_LIBRARIES
#endif
#ifndef DAMO_SUITESPARSE /* solvers of sparse systems; else an LDLᵀ of damo's own */
#define DAMO_SUITESPARSE DAMO_WITH_LIBRARIES
#endif
#if !DAMO_SUITESPARSE
#undef DAMO_GPL
#endif
#ifndef DAMO_GPL /* those parts of SuiteSparse that have that licence */
#define DAMO_GPL DAMO_SUITESPARSE
#endif
#ifndef DAMO_ZLIB /* else archives are stored, not deflated */
#define DAMO_ZLIB DAMO_WITH_LIBRARIES
#endif
#ifndef DAMO_SLEEF /* vectors of elementary functions; else libm's scalar ones */
#define DAMO_SLEEF DAMO_WITH_LIBRARIES
#endif

#ifndef DAMO_POSIX /* processes, descriptors, mmap; else C's own streams */
#if defined(_WIN32) || defined(__wasi__)
#define DAMO_POSIX 0
#else
#define DAMO_POSIX 1
#endif
#endif
#ifndef DAMO_THREADS /* POSIX threads; else one thread computes */
#if !DAMO_POSIX || (defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__))
#define DAMO_THREADS 0
#else
#define DAMO_THREADS 1
#endif
#endif

#endif
