/* match.c: queries about Variables that rewrite rules use. */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/op.h"

damo_apply *match_class_of(const damo_var *v, const op_def *const *defs) {
  if (v->owner == NULL) return NULL;
  while (*defs != NULL && *defs != v->owner->op->def) defs++;
  return *defs != NULL ? v->owner : NULL;
}

damo_var *match_fill(const damo_var *v) {
  if (match_class(v, &alloc_def) != NULL) return v->owner->in[0];
  return match_scalar(v, SCALAR_second) != NULL ? v->owner->in[1] : NULL;
}

/* Skips nodes that only repeat or reorder entries. */
static const damo_var *same_entries(const damo_var *v) {
  for (int steps = 0; steps < 8 && v->owner != NULL; steps++) {
    if (match_class(v, &dimshuffle_def) != NULL || match_class(v, &alloc_def) != NULL) {
      v = v->owner->in[0];
    } else if (match_scalar(v, SCALAR_second) != NULL) {
      v = v->owner->in[1];
    } else {
      break;
    }
  }
  return v;
}

bool match_constant(const damo_var *v, double value) {
  const damo_array *a = var_constant_array(same_entries(v));
  if (a == NULL || dtype_is_complex(array_dtype(a))) return false;
  int64_t n = array_size(a);
  if (n == 0 || n > 64) return false;
  array_entries e;
  for (const char *p = entries_begin(&e, a); p; p = entries_next(&e))
    if (scalar_to_double(scalar_load(array_dtype(a), p)) != value) return false;
  return true;
}

/* An axis of unknown length does not broadcast, so it has the output's length. */
bool match_fits(const damo_apply *node, int i) {
  const damo_type *in = node->in[i]->type, *out = node->out[0]->type;
  if (!type_is_tensor(in) || in->ndim != out->ndim) return false;
  for (int d = 0; d < in->ndim; d++) {
    if (type_dim_is_one(in, d) && !type_dim_is_one(out, d)) return false;
  }
  return true;
}

/* Whether target is reached from v through elementwise nodes by way of inputs that have their output's shape.
 * Breadth-first, at most 16 Variables. */
static bool reaches_shape(const damo_var *v, const damo_var *target) {
  const damo_var *queue[16] = {v};
  int n = 1;
  for (int k = 0; k < n; k++) {
    if (queue[k] == target) return true;
    const damo_apply *node = queue[k]->owner;
    if (node == NULL || node->op->def != &elemwise_def) continue;
    for (int i = 0; i < node->n_in && n < 16; i++) {
      if (match_fits(node, i)) queue[n++] = node->in[i];
    }
  }
  return false;
}

/* ---- Lengths ----------------------------------------------------------------------------------------------------- */

/* The origin of an axis's length: the number n (v NULL), the length of that axis of v, or the value of the scalar v
 * (axis -1). */
typedef struct dim_root {
  const damo_var *v;
  int axis;
  int64_t n;
} dim_root;

/* Each *_step goes from an axis of a node's output (*axis) to the operand and axis that it takes its length from, as
 * the Op's infer_shape does; false: unknown. */
static bool elemwise_step(const damo_apply *node, const damo_var **v, int *axis) {
  for (int i = 0; i < node->n_in; i++) {
    int k = *axis - (var_ndim(node->out[0]) - var_ndim(node->in[i]));
    if (k < 0 || type_dim_is_one(node->in[i]->type, k)) continue;
    *v = node->in[i];
    *axis = k;
    return true;
  }
  return false;
}

static bool dot_step(const damo_apply *node, const damo_var **v, int *axis) {
  bool first = *axis == 0 && var_ndim(node->in[0]) == 2;
  *v = node->in[first ? 0 : 1];
  *axis = first ? 0 : 1;
  return true;
}

static bool dimshuffle_step(const damo_apply *node, const damo_var **v, int *axis) {
  const prop_value *from = &OP_PROPS(node->op, dimshuffle_props)->new_order.u.list[*axis];
  if (from->kind != PROP_INT) return false;
  *v = node->in[0];
  *axis = (int)from->u.i - 1;
  return true;
}

static bool reduce_step(const damo_apply *node, const damo_var **v, int *axis) {
  const int ndim = var_ndim(node->in[0]);
  const uint32_t mask = reduce_op_axes(node->op, ndim);
  if (!prop_bool_or(OP_PROPS(node->op, reduce_props)->keepdims, false)) {
    int k = 0;
    for (int kept = *axis; k < ndim && ((mask >> k & 1) || kept-- > 0);) k++;
    *axis = k;
  }
  *v = node->in[0];
  return !(mask >> *axis & 1);
}

/* One step from *v towards the leaves; false: none is known. */
static bool root_step(const damo_var **v, int *axis) {
  const damo_apply *node = (*v)->owner;
  if (node == NULL) return false;
  if (node->op->def == &elemwise_def) return elemwise_step(node, v, axis);
  if (node->op->def == &dot_def) return dot_step(node, v, axis);
  if (node->op->def == &dimshuffle_def) return dimshuffle_step(node, v, axis);
  if (node->op->def == &reduce_def) return reduce_step(node, v, axis);
  static const op_def *const same[] = {&softmax_def, &log_softmax_def, &incsubtensor_def, &advincsubtensor_def, NULL};
  if (match_class_of(*v, same) == NULL) return false;
  *v = node->in[0];
  return true;
}

static dim_root length_root(const damo_var *d);

/* The origin of an axis's length. At an Alloc it continues with the operand that gives the length; this happens at most
 * once (through_alloc), so the functions do not recurse over the graph. */
static dim_root axis_root(const damo_var *v, int axis, bool through_alloc) {
  for (int steps = 0; steps < 64; steps++) {
    if (v->type->shape[axis] >= 0) return (dim_root){NULL, 0, v->type->shape[axis]};
    if (through_alloc && match_class(v, &alloc_def) != NULL) return length_root(v->owner->in[1 + axis]);
    if (!root_step(&v, &axis)) break;
  }
  return (dim_root){v, axis, -1};
}

static dim_root length_root(const damo_var *d) {
  int64_t n;
  if (var_static_int(d, &n)) return (dim_root){NULL, 0, n};
  const damo_apply *node = match_class(d, &shape_i_def);
  if (node == NULL) return (dim_root){d, -1, -1};
  return axis_root(node->in[0], (int)OP_PROPS(node->op, shape_i_props)->i.u.i - 1, false);
}

static bool same_root(dim_root a, dim_root b) { return a.v == b.v && a.axis == b.axis && a.n == b.n; }

bool match_length(const damo_var *d, const damo_var *v, int axis) {
  return same_root(length_root(d), axis_root(v, axis, true));
}

#define MOST_ROOTS 16 /* places that has_root looks at */

/* Whether the axis's length has that origin by one of the operands of the elementwise nodes that make v: where several
 * do not broadcast, their lengths agree when the nodes run. */
static bool has_root(const damo_var *v, int axis, dim_root root) {
  dim_root todo[MOST_ROOTS] = {{v, axis, -1}};
  for (int n = 1, k = 0; k < n; k++) {
    const dim_root at = todo[k];
    const damo_apply *node = match_class(at.v, &elemwise_def);
    if (same_root(axis_root(at.v, at.axis, true), root)) return true;
    if (node == NULL) { /* through a node that has its length from one operand, to elementwise ones below it */
      dim_root below = at;
      if (root_step(&below.v, &below.axis) && n < MOST_ROOTS) todo[n++] = below;
      continue;
    }
    for (int i = 0; i < node->n_in && n < MOST_ROOTS; i++) {
      const int d = at.axis - (var_ndim(node->out[0]) - var_ndim(node->in[i]));
      if (d >= 0 && !type_dim_is_one(node->in[i]->type, d)) todo[n++] = (dim_root){node->in[i], d, -1};
    }
  }
  return false;
}

bool match_same_length(const damo_var *u, int i, const damo_var *v, int k) {
  const dim_root x = axis_root(u, i, true), y = axis_root(v, k, true);
  return same_root(x, y) || has_root(v, k, x) || has_root(u, i, y);
}

static bool same_roots(const damo_var *u, const damo_var *v) {
  if (!type_is_tensor(u->type) || !type_is_tensor(v->type) || var_ndim(u) != var_ndim(v)) return false;
  for (int d = 0; d < var_ndim(u); d++) {
    if (!match_same_length(u, d, v, d)) return false;
  }
  return true;
}

bool match_same_shape(const damo_var *u, const damo_var *v) {
  return u == v || same_roots(u, v) || reaches_shape(u, v) || reaches_shape(v, u);
}

#define MOST_LENGTHS 16

bool match_length_value(const damo_var *v) {
  const damo_var *todo[MOST_LENGTHS] = {v};
  bool any = false;
  for (int n = 1, seen = 0; n > 0; seen++) {
    const damo_var *u = todo[--n];
    const damo_apply *sum = match_scalar(u, SCALAR_add);
    int64_t c;
    if (seen == MOST_LENGTHS) return false;
    if (match_class(u, &shape_i_def) != NULL) {
      any = true;
    } else if (sum != NULL && n + 2 <= MOST_LENGTHS) {
      todo[n++] = sum->in[0];
      todo[n++] = sum->in[1];
    } else if (!var_static_int(u, &c) || c < 0 || c > INT32_MAX) {
      return false;
    }
  }
  return any;
}

bool match_single_entry(const damo_var *v) {
  for (int d = 0; d < var_ndim(v); d++) {
    if (!type_dim_is_one(v->type, d)) return false;
  }
  return true;
}

/* The repeated value itself proves nothing about the shape: that it agrees is checked when the fill runs. */
bool match_fill_shape(const damo_var *v, const damo_var *fill) {
  const damo_apply *node = fill->owner;
  if (node->op->def != &elemwise_def || match_single_entry(node->in[1])) return match_same_shape(v, fill);
  return match_fits(node, 0) && match_same_shape(v, node->in[0]);
}

/* ---- Users ------------------------------------------------------------------------------------------------------- */

bool match_single_use(const damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = fgraph_clients(fg, v);
  return c != NULL && c->n == 1 && c->at[0].node != NULL;
}

bool match_is_read_by_elemwise(const damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = fgraph_clients(fg, v);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    const damo_apply *user = c->at[i].node;
    if (user == NULL || user->op->def != &elemwise_def || var_ndim(user->out[0]) != var_ndim(v)) return false;
  }
  return c != NULL && c->n > 0;
}

static bool is_rounding(const damo_op *op) {
  const scalar_id id = elemwise_scalar_id(op);
  return id == SCALAR_ceil || id == SCALAR_floor || id == SCALAR_trunc || id == SCALAR_round_half_to_even ||
         id == SCALAR_round_half_away_from_zero;
}

bool match_whole(const damo_var *v) { return v->owner != NULL && is_rounding(v->owner->op); }

bool match_rounded(const damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = fgraph_clients(fg, v);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    if (c->at[i].node != NULL && is_rounding(c->at[i].node->op)) return true;
  }
  return false;
}

static bool is_view(const damo_var *v) {
  return v->owner != NULL && op_alias_has(v->owner->op->view_map, v->index, -1);
}

static bool is_viewed(const damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = fgraph_clients(fg, v);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    const op_alias *a = c->at[i].node != NULL ? c->at[i].node->op->view_map : NULL;
    for (; a != NULL && a->out >= 0; a++) {
      if (a->in == c->at[i].index) return true;
    }
  }
  return false;
}

bool rewrite_must_last(const damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = fgraph_clients(fg, v);
  return (v->owner == NULL && !v->given_away) || is_view(v) || (c != NULL && c->n > 1) || is_viewed(fg, v);
}
