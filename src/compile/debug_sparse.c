/* debug_sparse.c: DEBUG mode computes what sparse nodes compute once more, with dense operands and the dense function of
 * the same meaning, and compares. Nodes whose operands are large as dense matrices, or hold what is not finite (which meets
 * stored entries alone in a sparse product), are passed over. */
#include <stdio.h>
#include <string.h>

#include "../op/op.h"
#include "compile_int.h"

/* A dense matrix of more entries is not made. */
enum { MOST_ENTRIES = 1 << 20, MOST_OPERANDS = 16 };

/* The Variable that the node's first output equals, of dense operands; NULL where there is none. */
typedef damo_var *(*dense_form)(build *b, const damo_apply *node, damo_var *const *in);

/* ---- Forms ------------------------------------------------------------------------------------------------------- */

static damo_var *same(build *b, const damo_apply *node, damo_var *const *in) {
  (void)b, (void)node;
  return in[0];
}

static damo_var *transposed(build *b, const damo_apply *node, damo_var *const *in) {
  (void)node;
  return build_fn1(b, "transpose", in[0]);
}

static damo_var *negated(build *b, const damo_apply *node, damo_var *const *in) {
  (void)node;
  return build_fn1(b, "neg", in[0]);
}

static damo_var *added(build *b, const damo_apply *node, damo_var *const *in) {
  (void)node;
  return build_fn2(b, "add", in[0], in[1]);
}

static damo_var *multiplied(build *b, const damo_apply *node, damo_var *const *in) {
  (void)node;
  return build_fn2(b, "mul", in[0], in[1]);
}

static damo_var *divided(build *b, const damo_apply *node, damo_var *const *in) {
  (void)node;
  return build_fn2(b, "true_div", in[0], in[1]);
}

static damo_var *rows_scaled(build *b, const damo_apply *node, damo_var *const *in) {
  damo_var *flipped[2] = {build_fn1(b, "transpose", in[0]), in[1]};
  return build_fn1(b, "transpose", multiplied(b, node, flipped));
}

static damo_var *product(build *b, const damo_apply *node, damo_var *const *in) {
  (void)node;
  return build_fn2(b, "dot", in[0], in[1]);
}

static damo_var *sampled(build *b, const damo_apply *node, damo_var *const *in) {
  (void)node;
  return build_fn2(b, "mul", in[2], build_fn2(b, "dot", in[0], build_fn1(b, "transpose", in[1])));
}

static damo_var *product_onto(build *b, const damo_apply *node, damo_var *const *in) {
  (void)node;
  return build_fn2(b, "add", build_fn2(b, "mul", in[0], build_fn2(b, "dot", in[1], in[2])), in[3]);
}

static damo_var *summed(build *b, const damo_apply *node, damo_var *const *in) {
  const prop_value *axis = op_prop(node->op, "axis");
  prop_value opt[4] = {*axis};
  return build_fn(b, "sum", in, 1, opt);
}

static damo_var *compared(build *b, const damo_apply *node, damo_var *const *in) {
  static const char *const names[][2] = {{"Equal", "eq"},     {"NotEqual", "neq"},   {"LessThan", "lt"},
                                         {"LessEqual", "le"}, {"GreaterThan", "gt"}, {"GreaterEqual", "ge"}};
  const char *name = node->op->def->name;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strncmp(name, names[i][0], strlen(name) - 2) == 0 && names[i][0][strlen(name) - 2] == '\0')
      return build_fn2(b, names[i][1], in[0], in[1]);
  }
  return NULL;
}

static damo_var *stacked(build *b, const damo_apply *node, damo_var *const *in) {
  return build_fn(b, node->op->def->name[0] == 'H' ? "hstack" : "vstack", in, node->n_in, NULL);
}

static damo_var *diagonal(build *b, const damo_apply *node, damo_var *const *in) {
  (void)node;
  return build_fn1(b, "diag", in[0]);
}

static damo_var *zeros(build *b, const damo_apply *node, damo_var *const *in) {
  (void)node;
  return build_zeros_like(b, in[0]);
}

static const struct {
  const char *op;
  dense_form form;
} forms[] = {
    {"DenseFromSparse", same},
    {"SparseFromDense", same},
    {"ToFormat", same},
    {"Cast", same},
    {"SumDuplicates", same},
    {"EnsureSortedIndices", same},
    {"Remove0", same},
    {"Transpose", transposed},
    {"Neg", negated},
    {"AddSS", added},
    {"AddSD", added},
    {"AddSSData", added},
    {"MulSS", multiplied},
    {"MulSD", multiplied},
    {"MulSV", multiplied},
    {"ColScaleCSC", multiplied},
    {"RowScaleCSC", rows_scaled},
    {"DivSD", divided},
    {"Dot", product},
    {"StructuredDot", product},
    {"TrueDot", product},
    {"SamplingDot", sampled},
    {"Usmm", product_onto},
    {"UsmmCscDense", product_onto},
    {"UsmmCsrDense", product_onto},
    {"SpSum", summed},
    {"HStack", stacked},
    {"VStack", stacked},
    {"Diag", diagonal},
    {"SquareDiagonal", diagonal},
    {"SparseZeros", zeros},
    {"EqualSS", compared},
    {"NotEqualSS", compared},
    {"LessThanSS", compared},
    {"LessEqualSS", compared},
    {"GreaterThanSS", compared},
    {"GreaterEqualSS", compared},
    {"EqualSD", compared},
    {"NotEqualSD", compared},
    {"LessThanSD", compared},
    {"LessEqualSD", compared},
    {"GreaterThanSD", compared},
    {"GreaterEqualSD", compared},
};

static dense_form form_of(const damo_apply *node) {
  bool sparse = type_is_sparse(node->out[0]->type);
  for (int i = 0; i < node->n_in && !sparse; i++) sparse = type_is_sparse(node->in[i]->type);
  for (size_t i = 0; sparse && i < sizeof forms / sizeof *forms; i++) {
    if (strcmp(forms[i].op, node->op->def->name) == 0) return forms[i].form;
  }
  return NULL;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* Small and finite. */
static bool will_do(const damo_obj *v) {
  char text[200];
  int ndim;
  const int64_t *shape = v != NULL ? value_shape(v, &ndim) : NULL;
  const damo_array *a = value_array(v);
  if (a == NULL) return false;
  double entries = 1;
  for (int d = 0; d < ndim; d++) entries *= (double)shape[d];
  return entries <= MOST_ENTRIES && !find_nonfinite(a, text, sizeof text);
}

static damo_obj *dense_value(damo_obj *v) {
  return v->kind == OBJ_SPARSE ? (damo_obj *)sparse_to_dense((const damo_sparse *)v) : damo_retain(v);
}

/* The node's first output by way of dense operands, as a Variable over constants. */
static damo_var *build_dense(build *b, const damo_apply *node, damo_obj *const *inputs) {
  damo_var *in[MOST_OPERANDS];
  for (int i = 0; i < node->n_in; i++) in[i] = build_value(b, dense_value(inputs[i]));
  damo_var *y = b->status == DAMO_OK ? form_of(node)(b, node, in) : NULL;
  const damo_dtype dtype = var_dtype(node->out[0]);
  return y != NULL && var_dtype(y) != dtype ? build_cast(b, y, dtype) : y;
}

static damo_status compare(thunk *t, damo_obj *dense) {
  char text[400];
  damo_obj *mine = dense_value(*t->out[0]);
  if (mine == NULL) return DAMO_EMEMORY;
  const bool agree = debug_agree(mine, dense, true, text, sizeof text);
  damo_release(mine);
  if (agree) return DAMO_OK;
  return ctx_fail(t->ctx, DAMO_EINCONSISTENCY, "DEBUG: output 1 is another one with dense operands: %s", text);
}

damo_status debug_dense_equal(thunk *t, damo_obj *const *inputs) {
  const damo_apply *node = t->node;
  if (form_of(node) == NULL || node->n_in > MOST_OPERANDS || !will_do(*t->out[0])) return DAMO_OK;
  for (int i = 0; i < node->n_in; i++) {
    if (!will_do(inputs[i])) return DAMO_OK;
  }
  build b;
  damo_obj *dense = NULL;
  build_init(&b, t->ctx);
  damo_var *y = build_dense(&b, node, inputs);
  if (y != NULL) b.status = eager_eval(t->ctx, &y, 1, &dense);
  if (dense != NULL) b.status = compare(t, dense);
  damo_release(dense);
  return build_end(&b);
}
