/* rounding: sets rounding to nearest during a call, and restores the mode of the host's thread. */
#include <fenv.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "base.h"

#if defined(__SSE2__)
#define CSR_MODE 0x6000u  /* rounding bits of MXCSR, which a host may set without changing the x87 mode */
#define CSR_FLUSH 0x8040u /* flush-to-zero, denormals-are-zero */

bool rounding_is_default(bool strict) { return (_mm_getcsr() & (strict ? CSR_MODE | CSR_FLUSH : CSR_MODE)) == 0; }

rounding rounding_enter(bool strict) {
  const unsigned csr = _mm_getcsr(), mask = strict ? CSR_MODE | CSR_FLUSH : CSR_MODE;
  if ((csr & mask) == 0) return (rounding){.other = false}; /* made in registers: every call comes here */
  const rounding r = {.csr = csr, .mask = mask, .other = true, .mode = fegetround()};
  fesetround(FE_TONEAREST);
  _mm_setcsr(_mm_getcsr() & ~r.mask);
  return r;
}

void rounding_restore(rounding r) {
  fesetround(r.mode);
  _mm_setcsr((_mm_getcsr() & ~r.mask) | (r.csr & r.mask));
}
#else
#if defined(__aarch64__) && defined(__GNUC__)
#define FPCR_FLUSH 0x1080003u /* FZ, FZ16, and of newer CPUs FIZ and AH */

static unsigned fpcr_get(void) {
  uint64_t r;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(r));
  return (unsigned)r;
}
static void fpcr_set(unsigned r) { __asm__ __volatile__("msr fpcr, %0" : : "r"((uint64_t)r)); }
#else
#define FPCR_FLUSH 0u
static unsigned fpcr_get(void) { return 0; }
static void fpcr_set(unsigned r) { (void)r; }
#endif

bool rounding_is_default(bool strict) {
  return fegetround() == FE_TONEAREST && (!strict || (fpcr_get() & FPCR_FLUSH) == 0);
}

rounding rounding_enter(bool strict) {
  rounding r = {.mode = fegetround(), .mask = strict ? FPCR_FLUSH : 0};
  r.csr = strict ? fpcr_get() & r.mask : 0;
  r.other = r.mode != FE_TONEAREST || r.csr != 0;
  if (r.mode != FE_TONEAREST) fesetround(FE_TONEAREST);
  if (r.csr != 0) fpcr_set(fpcr_get() & ~r.mask);
  return r;
}

void rounding_restore(rounding r) {
  fesetround(r.mode);
  if (r.csr != 0) fpcr_set(fpcr_get() | r.csr);
}
#endif
