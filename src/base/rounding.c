/* rounding: sets rounding to nearest during a call, and restores the mode of the host's thread. */
#include <fenv.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "base.h"

#if defined(__SSE2__)
#define CSR_MODE 0x6000u /* rounding bits of MXCSR, which a host may set without changing the x87 mode */

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
