/* rules: rules that the classes of many families have in common. */
#include "op/shape/shape_int.h"
#include "op/elem/build_arith.h"
#include "graph/op_check.h"

#include <string.h>

damo_status thunk_pass(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  if (x->obj.kind == OBJ_ARRAY) return thunk_out_view(t, f, 0, x, x->ndim, array_shape(x), array_strides(x), 0);
  thunk_set_out(t, f, 0, damo_retain(thunk_value(t, f, 0)));
  return DAMO_OK;
}

bool fold_never(const damo_apply *node) {
  (void)node;
  return false;
}

const op_alias alias_first[] = {{0, 0}, OP_ALIAS_END};

damo_var *build_conj_if_complex(build *b, damo_var *x) {
  return x && dtype_is_complex(var_dtype(x)) ? build_conj(b, x) : x;
}

damo_var *build_add_present(build *b, damo_var *x, damo_var *y) { return x && y ? build_add(b, x, y) : x ? x : y; }

damo_status infer_shape_same(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = in_shape[0][i];
  return b->status;
}

void connect_first(const damo_apply *node, bool *connected) {
  for (int i = 1; i < node->n_in; i++)
    for (int o = 0; o < node->n_out; o++) connected[i * node->n_out + o] = false;
}

void connect_none(const damo_apply *node, bool *connected) {
  memset(connected, 0, (size_t)(node->n_in * node->n_out) * sizeof *connected);
}

void connect_second(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++)
    for (int o = 0; o < node->n_out; o++) connected[i * node->n_out + o] = i == 1;
}

damo_status grad_none(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node, (void)gout, (void)gin;
  return b->status;
}

damo_status grad_pass(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  gin[0] = gout[0];
  return b->status;
}

damo_status rop_none(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  (void)node, (void)eval, (void)rout;
  return b->status;
}

damo_status rop_pass(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  (void)node;
  rout[0] = eval[0];
  return b->status;
}

damo_status rop_again(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *in[4] = {eval[0]};
  damo_assert(node->n_in <= 4);
  for (int i = 1; i < node->n_in; i++) in[i] = node->in[i];
  if (eval[0] != NULL) rout[0] = build_op(b, damo_retain(node->op), in, node->n_in);
  return b->status;
}

damo_status infer_shape_scalars(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  (void)node, (void)in_shape, (void)out_shape;
  return b->status;
}

damo_status infer_shape_product(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  int n = 0;
  if (var_ndim(node->in[0]) == 2) out_shape[0][n++] = in_shape[0][0];
  if (var_ndim(node->in[1]) == 2) out_shape[0][n++] = in_shape[1][1];
  return b->status;
}

damo_status infer_shape_lengths(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  (void)in_shape;
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = node->in[i];
  return b->status;
}

damo_status infer_shape_value_lengths(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  (void)in_shape;
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = node->in[i + 1];
  return b->status;
}

damo_dtype prop_dtype(prop_value v) {
  damo_dtype dt = DAMO_FLOAT64;
  damo_dtype_from_name(v.u.s, &dt);
  return dt;
}

static damo_var *equal_same(op_exam *e, int o) {
  (void)o;
  return e->in[0];
}

const op_check same_check = {.dense_equal = equal_same};
