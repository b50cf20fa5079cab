/* trigm: sines, cosines and tangents of square matrices, circular and hyperbolic, and the matrix sign; compositions of
 * Expm and Sqrtm, whose derivatives they have (Higham, Functions of Matrices, 2008, chapters 5 and 12). */
#include "compose.h"
#include "decompose.h"
#include "spectral.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

static damo_var *trig_operand(build *b, const fn_args *a) { return build_float(b, matrix_square_operand(b, a, 0)); }
static damo_var *trig_expm(build *b, damo_var *x) {
  return x != NULL ? build_core_first(b, &expm_def, NULL, &x, 1) : NULL;
}
static damo_var *trig_half(build *b, damo_var *x) { return build_mul(b, x, build_num(b, 0.5)); }

/* i·x */
static damo_var *times_i(build *b, damo_var *x) {
  if (x == NULL) return NULL;
  if (!dtype_is_complex(var_dtype(x))) return build_complex(b, build_zeros_like(b, x), x);
  return build_complex(b, build_neg(b, build_imag(b, x)), build_real(b, x));
}

/* cos(A) and sin(A): the parts of exp(i·A) for a real A, else half the sum and the difference of exp(±i·A). */
static damo_status circular_parts(build *b, damo_var *x, damo_var **cosine, damo_var **sine) {
  if (x == NULL) return b->status;
  damo_var *turned = times_i(b, x), *up = trig_expm(b, turned);
  if (up == NULL) return b->status;
  if (!dtype_is_complex(var_dtype(x))) {
    *cosine = build_real(b, up);
    *sine = build_imag(b, up);
    return b->status;
  }
  damo_var *down = trig_expm(b, build_neg(b, turned));
  if (down == NULL) return b->status;
  *cosine = trig_half(b, build_add(b, up, down));
  *sine = build_neg(b, times_i(b, trig_half(b, build_sub(b, up, down))));
  return b->status;
}

static damo_status hyperbolic_parts(build *b, damo_var *x, damo_var **cosine, damo_var **sine) {
  damo_var *up = trig_expm(b, x), *down = up != NULL ? trig_expm(b, build_neg(b, x)) : NULL;
  if (down == NULL) return b->status;
  *cosine = trig_half(b, build_add(b, up, down));
  *sine = trig_half(b, build_sub(b, up, down));
  return b->status;
}

typedef damo_status parts_of(build *b, damo_var *x, damo_var **cosine, damo_var **sine);
typedef enum trig_kind { TRIG_COSINE, TRIG_SINE, TRIG_TANGENT } trig_kind;

static damo_status give_trig(build *b, const fn_args *a, ptrvec *out, parts_of *parts, trig_kind kind) {
  damo_var *cosine = NULL, *sine = NULL;
  DAMO_TRY(parts(b, trig_operand(b, a), &cosine, &sine));
  return fn_give(b, out, kind == TRIG_COSINE ? cosine : kind == TRIG_SINE ? sine : build_matrix_solve(b, cosine, sine));
}

static damo_status fn_cosm(build *b, const fn_args *a, ptrvec *out) {
  return give_trig(b, a, out, circular_parts, TRIG_COSINE);
}
static damo_status fn_sinm(build *b, const fn_args *a, ptrvec *out) {
  return give_trig(b, a, out, circular_parts, TRIG_SINE);
}
static damo_status fn_tanm(build *b, const fn_args *a, ptrvec *out) {
  return give_trig(b, a, out, circular_parts, TRIG_TANGENT);
}
static damo_status fn_coshm(build *b, const fn_args *a, ptrvec *out) {
  return give_trig(b, a, out, hyperbolic_parts, TRIG_COSINE);
}
static damo_status fn_sinhm(build *b, const fn_args *a, ptrvec *out) {
  return give_trig(b, a, out, hyperbolic_parts, TRIG_SINE);
}
static damo_status fn_tanhm(build *b, const fn_args *a, ptrvec *out) {
  return give_trig(b, a, out, hyperbolic_parts, TRIG_TANGENT);
}

/* sign(A) = A·(A²)^(-1/2), equation 5.5: solved as sqrtm(A²)·S = A, since functions of A commute. */
static damo_status fn_signm(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = trig_operand(b, a), *square = x != NULL ? build_matmul(b, x, x) : NULL;
  damo_var *root = square != NULL ? build_core_first(b, &sqrtm_def, NULL, &square, 1) : NULL;
  return root != NULL ? fn_give(b, out, build_matrix_solve(b, root, x)) : b->status;
}

const op_func linalg_trigm_funcs[] = {
#define TRIG_ROW(f, text) \
  { .name = "linalg." #f, .operands = "a", .call = fn_##f, .no_method = true, .doc = text }
    TRIG_ROW(cosm, "the cosine of square matrices"),
    TRIG_ROW(sinm, "the sine of square matrices"),
    TRIG_ROW(tanm, "the tangent of square matrices, cos(a)⁻¹·sin(a)"),
    TRIG_ROW(coshm, "the hyperbolic cosine of square matrices"),
    TRIG_ROW(sinhm, "the hyperbolic sine of square matrices"),
    TRIG_ROW(tanhm, "the hyperbolic tangent of square matrices, cosh(a)⁻¹·sinh(a)"),
    TRIG_ROW(signm, "the sign of square matrices: the eigenvalues' real parts become 1 or -1; none may be 0"),
#undef TRIG_ROW
    {.name = NULL},
};

const op_def *const linalg_trigm_classes[] = {NULL};
