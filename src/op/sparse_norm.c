/* sparse_norm: the Frobenius norm, the largest sum of a column and of a row.
 *
 * Built of other ops on the stored values, so there is no class; the result is dense, its gradient at the stored
 * places.
 */
#include "sparse_op.h"

#include <math.h>
#include <string.h>

/* "fro" (nil), 1 or inf (a number or "inf"); 0 for none of them. */
static int read_order(const prop_value *v) {
  if (v->kind == PROP_NIL || (v->kind == PROP_STR && strcmp(v->u.s, "fro") == 0)) return 'f';
  if ((v->kind == PROP_INT && v->u.i == 1) || (v->kind == PROP_NUM && v->u.f == 1)) return '1';
  if ((v->kind == PROP_STR && strcmp(v->u.s, "inf") == 0) || (v->kind == PROP_NUM && isinf(v->u.f) && v->u.f > 0))
    return 'i';
  return 0;
}

static damo_status fn_norm(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  const int order = read_order(&a->opt[0]);
  if (x == NULL) return b->status;
  if (order == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: ord must be 'fro', 1 or 'inf'", a->func->name);
  if (dtype_is_discrete(var_dtype(x))) x = build_sparse_cast(b, x, dtype_to_float(var_dtype(x)));
  x = build_summed(b, x);
  if (order != 'f') {
    damo_var *sums = build_sp_sum(b, build_fn1(b, "sparse.abs", x), order == '1' ? 0 : 1, true);
    return fn_give(b, out, build_fn1(b, "max", sums));
  }
  damo_var *data = sparse_data(b, x);
  if (data == NULL) return b->status;
  damo_var *squares = build_fn1(b, "sqr", build_fn1(b, "real", data));
  if (dtype_is_complex(var_dtype(data)))
    squares = build_fn2(b, "add", squares, build_fn1(b, "sqr", build_fn1(b, "imag", data)));
  return fn_give(b, out, build_fn1(b, "sqrt", build_fn1(b, "sum", squares)));
}

const op_func sparse_norm_funcs[] = {
    {.name = "sparse.norm",
     .operands = "x",
     .options = "ord:any",
     .call = fn_norm,
     .doc = "norm of a sparse matrix: 'fro' (default), 1 (largest column sum), 'inf' (largest row sum)"},
    {.name = NULL},
};
