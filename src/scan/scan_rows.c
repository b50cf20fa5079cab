/* scan_rows.c: what is known of the rows of a sequence while the graph is compiled. */
#include <string.h>

#include "op/elem/scalar.h"
#include "scan_int.h"

#define ROWS_DEPTH 16 /* nodes that are looked through */

/* Whether the node reads all of its operand in reverse order of the first axis. */
static bool is_flip(const damo_apply *node) {
  int64_t step;
  return node != NULL && node->op->def == &subtensor_def && node->n_in == 2 &&
         strcmp(OP_PROPS(node->op, index_props)->spec.u.s, "s001") == 0 && var_static_int(node->in[1], &step) &&
         step == -1;
}

damo_var *scan_flip_rows(build *b, damo_var *x) {
  if (x != NULL && is_flip(x->owner)) return x->owner->in[0];
  return x != NULL ? build_slice(b, x, 0, NULL, NULL, -1) : NULL;
}

/* Whether the operand of the Subtensor of ranges has its first axis cut to n rows: [1 … n], or [first … first + n - 1]. */
static bool cuts_to(const damo_apply *node, const damo_var *n) {
  const char *spec = OP_PROPS(node->op, index_props)->spec.u.s;
  if (strncmp(spec, "s010", 4) == 0) return node->in[1] == n;
  int64_t start, other;
  const damo_apply *add = strncmp(spec, "s110", 4) == 0 ? match_scalar(node->in[2], SCALAR_add) : NULL;
  if (add == NULL || add->n_in != 2 || !var_static_int(node->in[1], &start)) return false;
  for (int i = 0; i < 2; i++) {
    if (add->in[i] == n && var_static_int(add->in[1 - i], &other) && other == start - 1) return true;
  }
  return false;
}

/* A Variable whose first axis is as long as v's, and nearer to the leaves; NULL: none is known. */
static const damo_var *as_long(const damo_var *v) {
  const damo_apply *node = v->owner;
  if (node == NULL || !type_is_tensor(v->type)) return NULL;
  const op_def *def = node->op->def;
  if (is_flip(node) || def == &incsubtensor_def || def == &softmax_def) return node->in[0];
  if (def == &dot_def && var_ndim(v) > 0 && var_ndim(node->in[0]) == 2) return node->in[0];
  if (def == &dimshuffle_def) {
    const prop_value *order = &OP_PROPS(node->op, dimshuffle_props)->new_order;
    return order->n > 0 && order->u.list[0].kind == PROP_INT && order->u.list[0].u.i == 1 ? node->in[0] : NULL;
  }
  for (int i = 0; def == &elemwise_def && i < node->n_in; i++) {
    const damo_type *t = node->in[i]->type;
    if (t->ndim == v->type->ndim && t->ndim > 0 && (v->type->shape[0] == 1 || t->shape[0] != 1)) return node->in[i];
  }
  return NULL;
}

/* Whether x has exactly n rows. */
static bool has_exactly(const damo_var *x, const damo_var *n) {
  const damo_var *of = NULL;
  if (n->owner != NULL && n->owner->op->def == &shape_i_def && OP_PROPS(n->owner->op, shape_i_props)->i.u.i == 1)
    of = n->owner->in[0];
  for (int k = 0; k < ROWS_DEPTH && of != NULL && as_long(of) != NULL; k++) of = as_long(of);
  for (int k = 0; k < ROWS_DEPTH && x != NULL; k++, x = as_long(x)) {
    const damo_apply *node = x->owner;
    if (x == of) return true;
    if (node == NULL) return false;
    const scan_class *s = scan_of(node->op);
    if (node->op->def == &subtensor_def && node->n_in > 1 && cuts_to(node, n)) return true;
    if (node->op->def == &alloc_def && node->n_in > 1 && node->in[1] == n) return true;
    for (int i = 0; s != NULL && i < s->n_parts && !s->until; i++) {
      const scan_part *p = &s->part[i];
      if (p->stack >= 0 && node->out[p->stack] == x && p->tail == 0 && node->in[0] == n) return true;
    }
  }
  return false;
}

bool scan_has_rows(const damo_var *x, const damo_var *n, bool *exact) {
  int64_t steps;
  *exact = false;
  if (type_is_tensor(x->type) && x->type->shape[0] >= 0 && var_static_int(n, &steps)) {
    *exact = x->type->shape[0] == steps;
    return x->type->shape[0] >= steps;
  }
  if (has_exactly(x, n)) return *exact = true;
  const damo_apply *least = match_scalar(n, SCALAR_minimum);
  bool any = false, ignored;
  for (int i = 0; least != NULL && i < least->n_in && !any; i++) any = scan_has_rows(x, least->in[i], &ignored);
  return any;
}
