/* fft_op: the Fourier op. Private to the family (fft.c, fft_c.c, fft_check.c). */
#ifndef DAMO_OP_FFT_FFT_OP_H
#define DAMO_OP_FFT_FFT_OP_H

#include "kernel/fft/fft.h"
#include "op/op.h"

/* Properties of a Fourier: kind "complex", "to_half" or "from_half"; axis, 1-based; inverse: the exponent's sign is +;
 * scale of the result: "one", "root" (1/√n) or "inverse" (1/n); adjoint, of half spectra: the entries that stand for two
 * count twice in a result, half in an operand. */
typedef struct fourier_props {
  prop_value kind, axis, inverse, scale, adjoint;
} fourier_props;

fft_kind fourier_kind(const damo_op *op);
int fourier_axis(const damo_op *op); /* 0-based */
bool fourier_inverse(const damo_op *op);
double fourier_scale(const damo_op *op, int64_t n);
/* Factor of the entries of half a spectrum that stand for two. */
double fourier_interior(const damo_op *op);

extern const op_check fourier_check;
/* op_def.emit_c (fft_c.c). */
struct c_emit;
damo_status fourier_emit_c(struct c_emit *e, const damo_apply *node);

/* v cut, or filled up with zeros, to that length of the axis. */
damo_var *build_fft_fit(build *b, damo_var *v, damo_var *length, int axis);
/* The transform without a scale of n points (NULL: x's), with the exponent's sign - but from half a spectrum. */
damo_var *build_fft_along(build *b, fft_kind kind, damo_var *x, damo_var *n, int axis);
damo_status fft_check_length(build *b, const char *func, damo_var *n);

#endif
