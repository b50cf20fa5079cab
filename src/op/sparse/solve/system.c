/* system: B·x = b with a factor: the property `system`, and products with B for the rules of its Ops. */
#include "system.h"
#include "op/elem/build_arith.h"

#include <string.h>

/* ---- The property `system` and the inputs ------------------------------------------------------------------------ */

factor_system system_number(const damo_op *op) {
  static const char names[] = "nth";
  return (factor_system)(strchr(names, system_name(op)) - names);
}

int system_right_axis(const damo_op *op) { return system_name(op) == 'n' ? 0 : 1; }

damo_status type_need_system(const damo_op *op, damo_var *const *in, int n_in, bool least) {
  if (n_in != 2 && n_in != 3) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: expected F, A, b or F, b, got %d inputs", op->def->name, n_in);
  }
  DAMO_TRY(type_need_factor(op->def, in, 0, least));
  return n_in == 3 ? type_need_sparse(op, in, 1) : DAMO_OK;
}

damo_status type_need_right_rows(const damo_op *op, damo_var *const *in, int n_in, int axis) {
  const damo_type *rhs = in[n_in - 1]->type;
  const int64_t *shape = in[0]->type->shape, n = shape[axis], rows = rhs->shape[0];
  char got[320];
  if (n < 0 || rows < 0 || n == rows) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ESHAPE,
                  "%s: the matrix has shape (%lld, %lld) and the right side %s, expected %lld rows", op->def->name,
                  (long long)shape[0], (long long)shape[1], shape_format(got, sizeof got, rhs->ndim, rhs->shape),
                  (long long)n);
}

/* ---- Algebra of the rules ---------------------------------------------------------------------------------------- */

static bool system_may_be_rectangular(const factor_var *v) {
  const int64_t *shape = v->f->type->shape;
  const damo_apply *made = v->f->owner;
  if (v->a == NULL || v->positive) return false;
  if (shape[0] >= 0 && shape[1] >= 0) return shape[0] != shape[1];
  if (made == NULL || made->op->def != &factorize_def) return true;
  const prop_value *assume = &OP_PROPS(made->op, factorize_props)->assume;
  return assume->kind != PROP_STR || strcmp(assume->u.s, "gen") == 0;
}

system_rule system_rule_of(build *b, const damo_apply *node) {
  const factor_var v = factor_of_node(node, 3);
  return (system_rule){b, v, system_name(node->op), system_may_be_rectangular(&v)};
}

damo_var *build_difference(build *b, damo_var *x, damo_var *y) {
  return x && y ? build_sub(b, x, y) : x ? x : y ? build_neg(b, y) : NULL;
}

static damo_var *build_system_product(const system_rule *r, damo_var *m, damo_var *x) {
  if (m == NULL || x == NULL) return NULL;
  return var_is_sparse(x) ? build_structured_dot(r->b, m, x) : build_sparse_dot(r->b, m, x);
}

damo_var *build_system_times(const system_rule *r, damo_var *d, damo_var *x) {
  if (r->system == 'h') d = build_conj_if_complex(r->b, d);
  return build_system_product(r, r->system != 'n' ? build_sparse_transpose(r->b, d) : d, x);
}

damo_var *build_system_times_adjoint(const system_rule *r, damo_var *d, damo_var *x) {
  if (r->system != 'h') d = build_conj_if_complex(r->b, d);
  return build_system_product(r, r->system == 'n' ? build_sparse_transpose(r->b, d) : d, x);
}

/* rows·colsᵀ at A's stored positions: a vector. */
static damo_var *build_system_samples(build *b, damo_var *a, damo_var *rows, damo_var *cols) {
  if (rows == NULL || cols == NULL || b->status != DAMO_OK) return NULL;
  if (var_is_sparse(rows) && var_is_sparse(cols)) return build_samples_both(b, a, rows, cols);
  return build_samples(b, a, build_toarray(b, rows), build_toarray(b, cols));
}

damo_var *build_system_entries(const system_rule *r, damo_var *rows, damo_var *cols) {
  build *b = r->b;
  if (r->system == 'h') return build_system_samples(b, r->v.a, cols, build_conj_if_complex(b, rows));
  cols = build_conj_if_complex(b, cols);
  damo_var *sum =
      r->system == 't' ? build_system_samples(b, r->v.a, cols, rows) : build_system_samples(b, r->v.a, rows, cols);
  if (!r->v.positive || sum == NULL) return sum;
  damo_var *transposed =
      r->system == 't'
          ? build_system_samples(b, r->v.a, build_conj_if_complex(b, rows), build_conj_if_complex(b, cols))
          : build_system_samples(b, r->v.a, build_conj_if_complex(b, cols), build_conj_if_complex(b, rows));
  return transposed ? build_mul(b, build_add(b, sum, transposed), build_num(b, 0.5)) : NULL;
}
