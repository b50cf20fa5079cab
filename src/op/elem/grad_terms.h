/* grad_terms: the small terms that formulas of derivatives are made of. The results are borrowed from the scope b. */
#ifndef DAMO_OP_ELEM_GRAD_TERMS_H
#define DAMO_OP_ELEM_GRAD_TERMS_H

#include "build_arith.h"

/* c·x */
static inline damo_var *grad_scaled(build *b, damo_var *x, double c) { return build_mul(b, x, build_num(b, c)); }
/* x + 1, x - 1, 1 - x */
static inline damo_var *grad_plus_one(build *b, damo_var *x) { return build_add(b, x, build_num(b, 1)); }
static inline damo_var *grad_less_one(build *b, damo_var *x) { return build_sub(b, x, build_num(b, 1)); }
static inline damo_var *grad_one_less(build *b, damo_var *x) { return build_sub(b, build_num(b, 1), x); }

#endif
