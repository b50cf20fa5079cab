/* rounding: the rounding mode of the host's thread, and numbers rounded to nearest within a call. */
#include <fenv.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "base.h"

#if defined(__SSE2__)
#define CSR_MODE 0x6000u /* SSE has a register of its own: a host may have set it alone */

rounding rounding_enter(void) {
  rounding r = {.csr = _mm_getcsr()};
  if ((r.csr & CSR_MODE) == 0) return r;
  r.other = true;
  r.mode = fegetround();
  fesetround(FE_TONEAREST);
  return r;
}

void rounding_restore(rounding r) {
  fesetround(r.mode);
  _mm_setcsr((_mm_getcsr() & ~CSR_MODE) | (r.csr & CSR_MODE));
}
#else
rounding rounding_enter(void) {
  rounding r = {.mode = fegetround()};
  r.other = r.mode != FE_TONEAREST;
  if (r.other) fesetround(FE_TONEAREST);
  return r;
}

void rounding_restore(rounding r) { fesetround(r.mode); }
#endif
