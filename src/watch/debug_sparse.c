/* debug_sparse.c: DEBUG mode computes what sparse nodes compute once more, with dense operands and the dense function
 * of the same meaning, and compares. Nodes whose operands are large as dense matrices are passed over; where the
 * dense function gives nan or inf, it says nothing of the sparse one: an absent entry meets no nan, a dense 0 does. */
#include "debug_sparse.h"
#include "op/elem/build_arith.h"

#include <stdio.h>
#include <string.h>

/* ---- Forms ------------------------------------------------------------------------------------------------------- */

static damo_var *dense_same(debug_exam *e) { return e->in[0]; }

static damo_var *dense_transposed(debug_exam *e) { return build_fn1(e->b, "transpose", e->in[0]); }

static damo_var *dense_negated(debug_exam *e) { return build_neg(e->b, e->in[0]); }

static damo_var *dense_added(debug_exam *e) { return build_add(e->b, e->in[0], e->in[1]); }

static damo_var *dense_multiplied(debug_exam *e) { return build_mul(e->b, e->in[0], e->in[1]); }

static damo_var *dense_divided(debug_exam *e) { return build_true_div(e->b, e->in[0], e->in[1]); }

static damo_var *dense_rows_scaled(debug_exam *e) {
  build *b = e->b;
  return build_fn1(b, "transpose", build_mul(b, build_fn1(b, "transpose", e->in[0]), e->in[1]));
}

static damo_var *dense_product(debug_exam *e) { return build_fn2(e->b, "dot", e->in[0], e->in[1]); }

static damo_var *dense_sampled(debug_exam *e) {
  build *b = e->b;
  return build_mul(b, e->in[2], build_fn2(b, "dot", e->in[0], build_fn1(b, "transpose", e->in[1])));
}

static damo_var *dense_product_onto(debug_exam *e) {
  build *b = e->b;
  return build_add(b, build_mul(b, e->in[0], build_fn2(b, "dot", e->in[1], e->in[2])), e->in[3]);
}

static damo_var *dense_summed(debug_exam *e) {
  const reduce_options opt = {.axis = debug_exam_prop(e, "axis")};
  return build_fn(e->b, "sum", e->in, 1, &opt);
}

static damo_var *dense_compared(debug_exam *e) {
  static const char *const names[][2] = {{"Equal", "eq"},     {"NotEqual", "neq"},   {"LessThan", "lt"},
                                         {"LessEqual", "le"}, {"GreaterThan", "gt"}, {"GreaterEqual", "ge"}};
  const char *name = e->node->op->def->name;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strncmp(name, names[i][0], strlen(name) - 2) == 0 && names[i][0][strlen(name) - 2] == '\0')
      return build_fn2(e->b, names[i][1], e->in[0], e->in[1]);
  }
  return NULL;
}

static damo_var *dense_larger(debug_exam *e) { return build_maximum(e->b, e->in[0], e->in[1]); }

static damo_var *dense_smaller(debug_exam *e) { return build_minimum(e->b, e->in[0], e->in[1]); }

static damo_var *dense_stacked(debug_exam *e) {
  return build_fn(e->b, e->node->op->def->name[0] == 'H' ? "hstack" : "vstack", e->in, e->node->n_in, NULL);
}

static damo_var *dense_diagonal(debug_exam *e) { return build_fn1(e->b, "diag", e->in[0]); }

static damo_var *dense_zeros(debug_exam *e) { return build_zeros_like(e->b, e->in[0]); }

/* (Some of these names are dense Ops' too.) */
static const debug_dense_row dense_forms[] = {
    {"DenseFromSparse", dense_same},
    {"SparseFromDense", dense_same},
    {"ToFormat", dense_same},
    {"Cast", dense_same},
    {"SumDuplicates", dense_same},
    {"EnsureSortedIndices", dense_same},
    {"Remove0", dense_same},
    {"Transpose", dense_transposed},
    {"Neg", dense_negated},
    {"AddSS", dense_added},
    {"AddSD", dense_added},
    {"AddSSData", dense_added},
    {"MulSS", dense_multiplied},
    {"MulSD", dense_multiplied},
    {"MulSV", dense_multiplied},
    {"ColScaleCSC", dense_multiplied},
    {"RowScaleCSC", dense_rows_scaled},
    {"DivSD", dense_divided},
    {"SparseDot", dense_product},
    {"StructuredDot", dense_product},
    {"TrueDot", dense_product},
    {"SamplingDot", dense_sampled},
    {"Usmm", dense_product_onto},
    {"UsmmCscDense", dense_product_onto},
    {"UsmmCsrDense", dense_product_onto},
    {"SpSum", dense_summed},
    {"HStack", dense_stacked},
    {"VStack", dense_stacked},
    {"Diag", dense_diagonal},
    {"SquareDiagonal", dense_diagonal},
    {"SparseZeros", dense_zeros},
    {"MaximumSS", dense_larger},
    {"MinimumSS", dense_smaller},
    {"EqualSS", dense_compared},
    {"NotEqualSS", dense_compared},
    {"LessThanSS", dense_compared},
    {"LessEqualSS", dense_compared},
    {"GreaterThanSS", dense_compared},
    {"GreaterEqualSS", dense_compared},
    {"EqualSD", dense_compared},
    {"NotEqualSD", dense_compared},
    {"LessThanSD", dense_compared},
    {"LessEqualSD", dense_compared},
    {"GreaterThanSD", dense_compared},
    {"GreaterEqualSD", dense_compared},
    {NULL, NULL},
};

static bool is_of_sparse(const damo_apply *node) {
  bool sparse = type_is_sparse(node->out[0]->type);
  for (int i = 0; i < node->n_in && !sparse; i++) sparse = type_is_sparse(node->in[i]->type);
  return sparse;
}

static debug_dense_form form_among(const debug_dense_row *rows, const damo_op *op) {
  while (rows->op != NULL && !op_is(op, rows->op)) rows++;
  return rows->form;
}

static debug_dense_form form_of(const damo_apply *node) {
  debug_dense_form form = form_among(debug_entry_rows, node->op);
  if (form != NULL || !is_of_sparse(node)) return form;
  form = form_among(debug_part_rows, node->op);
  return form != NULL ? form : form_among(dense_forms, node->op);
}

/* ---- Builders of forms ------------------------------------------------------------------------------------------- */

damo_var *debug_exam_zeros(debug_exam *e, damo_dtype dtype, const int64_t *shape) {
  damo_array *z = damo_array_new(e->b->ctx, dtype, 2, shape);
  return build_value(e->b, z != NULL ? &z->obj : NULL);
}

damo_var *debug_exam_read(debug_exam *e, damo_var *x, const char *spec, damo_var *const *idx, int n) {
  damo_var *in[1 + DEBUG_MOST_OPERANDS] = {x};
  const index_options opt = {.spec = prop_str(spec)};
  for (int i = 0; i < n; i++) in[1 + i] = idx[i];
  return x != NULL && e->b->status == DAMO_OK ? build_fn(e->b, "subtensor", in, 1 + n, &opt) : NULL;
}

damo_var *debug_exam_put(debug_exam *e, const int64_t *shape, damo_var *x, const char *spec, damo_var *const *idx,
                         int n) {
  if (x == NULL || e->b->status != DAMO_OK) return NULL;
  const damo_dtype dtype = var_dtype(x), wide = dtype == DAMO_BOOL ? DAMO_INT64 : dtype;
  damo_var *in[2 + DEBUG_MOST_OPERANDS] = {debug_exam_zeros(e, wide, shape), build_cast(e->b, x, wide)};
  const index_options opt = {.spec = prop_str(spec)};
  for (int i = 0; i < n; i++) in[2 + i] = idx[i];
  if (e->b->status != DAMO_OK) return NULL;
  damo_var *y = build_fn(e->b, "inc_subtensor_at", in, 2 + n, &opt);
  return y != NULL ? build_cast(e->b, y, dtype) : NULL;
}

damo_var *debug_exam_take(debug_exam *e, damo_var *x, damo_var *list, int axis) {
  const axis_options opt = {.axis = prop_int(axis + 1)};
  return x != NULL && list != NULL ? build_fn(e->b, "take", (damo_var *[]){x, list}, 2, &opt) : NULL;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

bool debug_is_small(const damo_obj *v) {
  int ndim;
  const int64_t *shape = v != NULL && value_array(v) != NULL ? value_shape(v, &ndim) : NULL;
  double entries = 1;
  if (shape == NULL) return false;
  for (int d = 0; d < ndim; d++) entries *= (double)shape[d];
  return entries <= DEBUG_MOST_ENTRIES;
}

static bool will_do(const damo_obj *v) { return debug_is_small(v) && array_size(value_array(v)) <= DEBUG_MOST_ENTRIES; }

/* Entries that meet at one place are converted to a wider dtype one by one, or as their sum: of whole numbers that wrap
 * those are different things. */
static bool wraps(const debug_exam *e, int i) {
  const damo_sparse *m = debug_exam_matrix(e, i);
  if (e->values[i]->kind != OBJ_SPARSE || m->unique || !dtype_is_discrete(sparse_dtype(m))) return false;
  return sparse_dtype(m) != var_dtype(e->node->out[0]);
}

static bool is_fit(debug_exam *e) {
  const damo_apply *node = e->node;
  for (int i = 0; i < node->n_in; i++) {
    if (!will_do(e->values[i]) || wraps(e, i)) return false;
  }
  for (int o = 0; o < node->n_out; o++) {
    if (!will_do(e->results[o])) return false;
  }
  return true;
}

static damo_obj *dense_value(damo_obj *v) {
  return v->kind == OBJ_SPARSE ? (damo_obj *)sparse_to_dense((const damo_sparse *)v) : damo_retain(v);
}

/* The operands' moduli in place of the operands. */
static void take_moduli(debug_exam *e) {
  for (int i = 0; i < e->node->n_in; i++) {
    if (e->in[i] == NULL || dtype_is_discrete(var_dtype(e->in[i]))) continue;
    damo_var *size = build_abs(e->b, e->in[i]);
    if (size != NULL) e->in[i] = size;
  }
}

/* pair: what the dense function gives, what the node gave. With `bounded`, both have the size of the terms that they
 * are sums of added, so that what cancelled counts no more than it was. */
static bool build_pair(debug_exam *e, bool bounded, damo_var *pair[2]) {
  const debug_dense_form form = form_of(e->node);
  build *b = e->b;
  for (int i = 0; i < e->node->n_in; i++) e->in[i] = build_value(b, dense_value(e->values[i]));
  for (int o = 0; o < e->node->n_out; o++) e->out[o] = build_value(b, dense_value(e->results[o]));
  if (b->status != DAMO_OK) return false;
  e->got = e->out[0];
  damo_var *want = form(e);
  pair[1] = e->got;
  if (want != NULL && bounded) {
    take_moduli(e);
    damo_var *bound = b->status == DAMO_OK ? form(e) : NULL;
    want = bound != NULL ? build_add(b, want, bound) : NULL;
    pair[1] = bound != NULL ? build_add(b, pair[1], bound) : NULL;
  }
  if (want == NULL || pair[1] == NULL) return false;
  pair[0] = build_cast(b, want, var_dtype(pair[1]));
  return b->status == DAMO_OK;
}

/* Whether dense and node agree; *text says where not. */
static damo_status dense_agree(debug_exam *e, bool bounded, bool *same_values, char *text, size_t n) {
  build b;
  damo_var *pair[2];
  damo_obj *values[2] = {NULL, NULL};
  damo_ctx *ctx = e->node->obj.ctx;
  build_init(&b, ctx);
  e->b = &b;
  *same_values = true;
  if (build_pair(e, bounded, pair)) b.status = eager_eval(ctx, pair, 2, values);
  if (values[0] != NULL && b.status == DAMO_OK) {
    *same_values = debug_agree(values[0], values[1], true, text, n);
    char turned[400];
    if (!*same_values && !debug_agree(values[1], values[0], true, turned, sizeof turned))
      snprintf(text, n, "%s", turned);
  }
  for (int i = 0; i < 2; i++) damo_release(values[i]);
  return build_end(&b);
}

damo_status debug_dense_equal(const thunk *t, frame *f, damo_obj *const *inputs) {
  const damo_apply *node = t->node;
  char text[400], other[400];
  bool same_values = true;
  DAMO_TRY(debug_solution(t, f, inputs));
  if (form_of(node) == NULL || node->n_in > DEBUG_MOST_OPERANDS || node->n_out > DEBUG_MOST_OPERANDS) return DAMO_OK;
  debug_exam e = {.node = node, .values = inputs};
  for (int o = 0; o < node->n_out; o++) e.results[o] = thunk_result(t, f, o);
  if (!is_fit(&e)) return DAMO_OK;
  DAMO_TRY(dense_agree(&e, false, &same_values, text, sizeof text));
  if (!same_values && !dtype_is_discrete(var_dtype(node->out[0])))
    DAMO_TRY(dense_agree(&e, true, &same_values, other, sizeof other));
  if (same_values) return DAMO_OK;
  return ctx_fail(f->ctx, DAMO_EINCONSISTENCY, "DEBUG: output 1 is another one with dense operands: %s", text);
}
