/* sparse_norm: the Frobenius norm, the largest sum of a column and of a row.
 *
 * Built of other ops on the stored values; the result is dense, its gradient at the stored places. The one class,
 * NarrowMinor, leaves out lines across that store nothing where the axis is far longer than the entries are many: sums
 * along it would not fit in memory.
 */
#include "sparse_op.h"

#include <math.h>
#include <string.h>

/* ---- NarrowMinor ------------------------------------------------------------------------------------------------- */

static damo_status narrow_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(need_sparse(op, in, 0));
  int64_t shape[2] = {in[0]->type->shape[0], in[0]->type->shape[1]};
  shape[var_format_of(in[0]) == DAMO_CSR] = -1;
  return give_sparse(op, out, var_format_of(in[0]), var_dtype(in[0]), var_itype(in[0]), shape[0], shape[1]);
}

/* One line across is left at least, for reductions over them. */
static damo_status narrow_perform(thunk *t) {
  damo_array *used = NULL;
  damo_sparse *x = damo_retain(thunk_in_sparse(t, 0));
  damo_status s = sparse_narrow_one(&x, &used);
  if (s == DAMO_OK && used != NULL && sparse_minor(x) == 0) x->shape[sparse_format(x) == DAMO_CSR] = 1;
  damo_release(used);
  if (s == DAMO_OK) return thunk_give_sparse(t, 0, x);
  damo_release(x);
  return s;
}

/* Entries stay what they are, in their order. */
static damo_status narrow_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[0] = sparse_with(b, node->in[0], sparse_gather(b, gout[0], node->out[0]));
  return b->status;
}

static damo_status narrow_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = sparse_with(b, node->out[0], sparse_gather(b, eval[0], node->in[0]));
  return b->status;
}

static const op_alias view_of_first[] = {{0, 0}, OP_ALIAS_END};

static const op_def narrow_def = {
    .name = "NarrowMinor",
    .doc = "a sparse matrix without the columns (csr) or rows (csc) that store nothing, where they are by far the most",
    .n_in = 1,
    .view_map = view_of_first,
    .infer_type = narrow_type,
    .perform = narrow_perform,
    .grad = narrow_grad,
    .rop = narrow_rop,
    .pattern = PATTERN_FOLLOWS,
};

/* ---- Norms ------------------------------------------------------------------------------------------------------- */

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
    const bool across = (order == '1') == (var_format_of(x) == DAMO_CSR);
    x = build_fn1(b, "sparse.abs", across ? build_class(b, &narrow_def, &x, 1) : x);
    damo_var *sums = build_sp_sum(b, x, order == '1' ? 0 : 1, true);
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

const op_def *const sparse_norm_classes[] = {&narrow_def, NULL};
