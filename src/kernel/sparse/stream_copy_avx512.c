/* stream_copy_avx512: long copies on x86-64 with AVX-512. A store of a whole cache line need not read it first. */
#include <string.h>

#include "stream_copy.h"

#if defined(__x86_64__)
#define BYTES 64
#define NAME(f) f##_avx512
#include "stream_copy_body.h"
#else
typedef int stream_copy_avx512_is_for_other_machines;
#endif
