/* vectors: products of vectors: cross, inner, vdot; the rows of the family. */
#include "calculus_int.h"
#include "op/linalg/blas.h"

/* The components of a vector along the axis, which goes: 2 or 3; a length that is not known is 3, checked at run time. */
static damo_status components(build *b, damo_var *x, int axis, damo_var **c, int *n) {
  damo_var *dims[DAMO_MAX_NDIM] = {NULL};
  const int64_t length = x->type->shape[axis];
  if (length >= 0 && length != 2 && length != 3)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "cross: vectors of 2 or 3 entries are expected, axis %d has %lld", axis + 1,
                    (long long)length);
  dims[axis] = build_i64(b, 3);
  if (length < 0) x = build_specify_shape(b, x, dims);
  *n = length == 2 ? 2 : 3;
  for (int i = 0; i < *n && x; i++) c[i] = build_index(b, x, axis, build_i64(b, i));
  return b->status;
}

/* x_i y_j - x_j y_i; a component that is NULL is 0. */
static damo_var *minor_of(build *b, damo_var *xi, damo_var *yj, damo_var *xj, damo_var *yi) {
  damo_var *p = xi && yj ? build_mul(b, xi, yj) : NULL, *q = xj && yi ? build_mul(b, xj, yi) : NULL;
  if (!q) return p;
  return p ? build_sub(b, p, q) : build_neg(b, q);
}

static damo_status fn_cross(build *b, const fn_args *a, ptrvec *out) {
  const int64_t at = prop_int_or(FN_OPTIONS(a, axis_options)->axis, -1);
  damo_var *v[2], *x[3] = {NULL}, *y[3] = {NULL}, *parts[3];
  int axis[2], n[2];
  for (int i = 0; i < 2; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  DAMO_TRY(build_resolve(b, a->in, 2, true, v));
  for (int i = 0; i < 2; i++) {
    if (var_ndim(v[i]) == 0) return ctx_fail(b->ctx, DAMO_ESHAPE, "cross: operand %d has no axis", i + 1);
    DAMO_TRY(axis_check(b->ctx, "cross", at, var_ndim(v[i]), &axis[i]));
    DAMO_TRY(components(b, v[i], axis[i], i ? y : x, &n[i]));
  }
  damo_var *z = minor_of(b, x[0], y[1], x[1], y[0]);
  if (n[0] == 2 && n[1] == 2) return fn_give(b, out, z);
  parts[0] = minor_of(b, x[1], y[2], x[2], y[1]);
  parts[1] = minor_of(b, x[2], y[0], x[0], y[2]);
  parts[2] = z;
  if (b->status != DAMO_OK) return b->status;
  int last;
  DAMO_TRY(axis_check(b->ctx, "cross", at, var_ndim(z) + 1, &last));
  for (int i = 0; i < 3; i++) parts[i] = build_new_axis(b, parts[i], last);
  return fn_give(b, out, b->status == DAMO_OK ? build_join(b, "cross", last, parts, 3) : NULL);
}

static damo_status fn_inner(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2];
  for (int i = 0; i < 2; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  DAMO_TRY(build_resolve(b, a->in, 2, true, v));
  const int m = var_ndim(v[0]), n = var_ndim(v[1]);
  if (m == 0 || n == 0) return fn_give(b, out, build_mul(b, v[0], v[1]));
  if (m == 1 && n == 1) return fn_give(b, out, build_dot(b, v[0], v[1]));
  return fn_give(b, out, build_tensordot(b, v[0], v[1], 1, (const int[]){m - 1}, (const int[]){n - 1}));
}

static damo_status fn_vdot(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2];
  for (int i = 0; i < 2; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  DAMO_TRY(build_resolve(b, a->in, 2, true, v));
  damo_var *x = build_ravel(b, build_conj_if_complex(b, v[0]));
  return fn_give(b, out, build_dot(b, x, build_ravel(b, v[1])));
}

const op_func calculus_funcs[] = {
    {.name = "cross",
     .operands = "x y",
     .options = OPTIONS(OPT(axis_options, axis, OPT_INT)),
     .call = fn_cross,
     .doc = "the vector product along an axis (default -1) of 3 entries; of 2 and 2 entries the third component alone"},
    {.name = "inner",
     .operands = "x y",
     .call = fn_inner,
     .doc = "products summed over the last axes; of a scalar the product"},
    {.name = "vdot",
     .operands = "x y",
     .call = fn_vdot,
     .doc = "the sum of the products of all entries, those of x conjugated"},
    {.name = "convolve",
     .operands = "x y",
     .options = OPTIONS(OPT(calculus_options, mode, OPT_STR)),
     .call = fn_convolve,
     .doc =
         "the convolution of two vectors: \"full\" (the default), \"same\": as long as the longer one, or \"valid\": "
         "where they overlap whole"},
    {.name = "correlate",
     .operands = "x y",
     .options = OPTIONS(OPT(calculus_options, mode, OPT_STR)),
     .call = fn_convolve,
     .doc = "the cross-correlation of two vectors, y conjugated; mode as convolve's, \"valid\" by default"},
    {.name = "polyval",
     .operands = "p x",
     .call = fn_polyval,
     .doc = "the polynomial with coefficients p, the highest power first, at each entry of x"},
    {.name = "polyfit",
     .operands = "x y",
     .options = OPTIONS(OPT(calculus_options, deg, OPT_INT), OPT(calculus_options, rcond, OPT_NUM),
                        OPT(calculus_options, w, OPT_ANY)),
     .call = fn_polyfit,
     .doc =
         "the coefficients, the highest power first, of the polynomial of degree deg that fits the values y, or each "
         "of their columns, at x by least squares; w: weights of the residuals"},
    {.name = "roots",
     .operands = "p",
     .call = fn_roots,
     .doc = "the zeros, complex, of the polynomial with coefficients p, the highest power first"},
    {.name = "polyadd",
     .operands = "p q",
     .call = fn_polyadd,
     .doc = "the sum of two polynomials by their coefficients, the highest power first; leading zeros stay"},
    {.name = "polysub",
     .operands = "p q",
     .call = fn_polyadd,
     .doc = "the difference of two polynomials by their coefficients, the highest power first"},
    {.name = "polymul",
     .operands = "p q",
     .call = fn_polymul,
     .doc = "the product of two polynomials by their coefficients, the highest power first"},
    {.name = "polyder",
     .operands = "p",
     .options = OPTIONS(OPT(calculus_options, m, OPT_INT)),
     .call = fn_polyder,
     .doc = "the coefficients of a polynomial's derivative of order m (default 1), the highest power first"},
    {.name = "polyint",
     .operands = "p",
     .options = OPTIONS(OPT(calculus_options, m, OPT_INT), OPT(calculus_options, k, OPT_ANY)),
     .call = fn_polyint,
     .doc =
         "the coefficients of a polynomial's integral of order m (default 1), the highest power first; k: the constant "
         "of each integration (default 0)"},
    {.name = "trapezoid",
     .operands = "y [x]",
     .options = OPTIONS(OPT(calculus_options, dx, OPT_NUM), OPT(calculus_options, axis, OPT_INT)),
     .call = fn_trapezoid,
     .doc = "the integral of samples along an axis (default -1) by the trapezoidal rule, at the points x, or dx apart"},
    {.name = "gradient",
     .operands = "f",
     .options = OPTIONS(OPT(calculus_options, spacing, OPT_ANY), OPT(calculus_options, axis, OPT_AXES),
                        OPT(calculus_options, edge_order, OPT_INT)),
     .call = fn_gradient,
     .doc = "the derivatives of samples by finite differences, one result an axis; spacing: their distance or "
            "coordinates, or a list of one each. (Of a graph it is damo.grad.)",
     .no_method = true},
    {.name = NULL},
};

const op_def *const calculus_classes[] = {&convolve_def, &polyval_def, NULL};
