/* stream_copy_avx2: long copies on x86-64 with AVX2. */
#include <string.h>

#include "stream_copy.h"

#if defined(__x86_64__)
#define BYTES 32
#define NAME(f) f##_avx2
#include "stream_copy_body.h"
#else
typedef int stream_copy_avx2_is_for_other_machines;
#endif
