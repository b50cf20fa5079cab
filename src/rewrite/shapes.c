/* shapes.c: rules for nodes that only move axes or change shapes, and for lengths that are known without computing the
 * array. */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/op.h"

#include <string.h>

/* ---- DimShuffle and Reshape -------------------------------------------------------------------------------------- */

/* The input axis (0-based) that is axis i of the output; -1: a new axis. */
static int source_axis(const damo_apply *node, int i) {
  const prop_value *from = &OP_PROPS(node->op, dimshuffle_props)->new_order.u.list[i];
  return from->kind == PROP_INT ? (int)from->u.i - 1 : -1;
}

static bool keeps_axis(const damo_apply *node, int axis) {
  for (int i = 0; i < var_ndim(node->out[0]); i++) {
    if (source_axis(node, i) == axis) return true;
  }
  return false;
}

/* Drops an identity DimShuffle; joins two in a row. */
static damo_status join_dimshuffles(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  int n = var_ndim(node->out[0]), pattern[DAMO_MAX_NDIM];
  bool same = n == var_ndim(node->in[0]);
  for (int i = 0; i < n; i++) {
    pattern[i] = source_axis(node, i);
    same = same && pattern[i] == i;
  }
  if (same) return rule_give(b, repl, did, node->in[0]);
  const damo_apply *below = match_class(node->in[0], &dimshuffle_def);
  if (below == NULL) return DAMO_OK;
  for (int i = 0; i < var_ndim(below->in[0]); i++) { /* below checks the length of an axis that it drops */
    if (!type_dim_is_one(below->in[0]->type, i) && !keeps_axis(below, i)) return DAMO_OK;
  }
  for (int i = 0; i < n; i++) {
    if (pattern[i] >= 0) pattern[i] = source_axis(below, pattern[i]);
  }
  return rule_give(b, repl, did, build_dimshuffle(b, below->in[0], pattern, n));
}

/* Whether the DimShuffle only adds axes: the others keep their order. */
static bool only_adds_axes(const damo_apply *node) {
  int next = 0;
  for (int i = 0; i < var_ndim(node->out[0]); i++) {
    const int from = source_axis(node, i);
    if (from >= 0 && from != next++) return false;
  }
  return next == var_ndim(node->in[0]);
}

/* Whether this DimShuffle undoes that one: the two together are the identity. */
static bool undoes(const damo_apply *node, const damo_apply *below) {
  if (var_ndim(node->out[0]) != var_ndim(below->in[0])) return false;
  for (int i = 0; i < var_ndim(node->out[0]); i++) {
    const int from = source_axis(node, i);
    if (from < 0 || source_axis(below, from) != i) return false;
  }
  return true;
}

#define LIFT_MOST 16 /* Variables that match_lifts looks at */

/* Whether v, a value of that rank, is elementwise work that nobody else reads, and the DimShuffle can take the place of
 * v in its operands: an axis that it drops has length 1 in each. */
static bool is_lifted_over(const damo_fgraph *fg, const damo_apply *node, const damo_var *v, int ndim) {
  const damo_apply *f = match_class(v, &elemwise_def);
  if (f == NULL || f->n_in > 8 || f->op->destroy_map != NULL || !match_single_use(fg, v)) return false;
  for (int i = 0; i < f->n_in; i++) {
    if (var_ndim(f->in[i]) == 0) continue;
    if (var_ndim(f->in[i]) != ndim) return false;
    for (int k = 0; k < ndim; k++) {
      if (!type_dim_is_one(f->in[i]->type, k) && !keeps_axis(node, k)) return false;
    }
  }
  return true;
}

bool match_lifts(const damo_fgraph *fg, const damo_apply *node) {
  const int ndim = var_ndim(node->in[0]);
  const damo_var *todo[LIFT_MOST] = {node->in[0]};
  int before = 1, after = 0, n = 1;
  if (ndim == 0 || !is_lifted_over(fg, node, node->in[0], ndim)) return false;
  for (int seen = 0; n > 0; seen++) {
    const damo_var *v = todo[--n];
    if (seen == LIFT_MOST) return false;
    if (var_ndim(v) == 0 || v->kind == VAR_CONSTANT) continue;
    if (is_lifted_over(fg, node, v, ndim)) {
      if (n + v->owner->n_in > LIFT_MOST) return false;
      for (int i = 0; i < v->owner->n_in; i++) todo[n++] = v->owner->in[i];
      continue;
    }
    const damo_apply *below = match_class(v, &dimshuffle_def);
    if (below != NULL && match_single_use(fg, v)) before++;
    const bool goes_into = match_class(v, &dot_def) != NULL && match_single_use(fg, v);
    if (!goes_into && (below == NULL || !undoes(node, below))) after++;
  }
  return after < before || (only_adds_axes(node) && node->in[0]->owner->n_in == 1);
}

/* DimShuffle(f(x, y)) → f(DimShuffle(x), DimShuffle(y)). */
static damo_status put_into_operands(build *b, const damo_apply *node, damo_var **repl, bool *did) {
  damo_var *in[8];
  int pattern[DAMO_MAX_NDIM];
  const damo_apply *f = node->in[0]->owner;
  for (int k = 0; k < var_ndim(node->out[0]); k++) pattern[k] = source_axis(node, k);
  for (int i = 0; i < f->n_in; i++) {
    in[i] = var_ndim(f->in[i]) == 0 ? f->in[i] : build_dimshuffle(b, f->in[i], pattern, var_ndim(node->out[0]));
  }
  return rule_give(b, repl, did, b->status == DAMO_OK ? build_op(b, damo_retain(f->op), in, f->n_in) : NULL);
}

/* The same if nobody else reads f(x, y) and fewer DimShuffles are left in the end, or axes are only added. */
static damo_status lift_dimshuffle(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  return match_lifts(fg, node) ? put_into_operands(b, node, repl, did) : DAMO_OK;
}

/* How many different operands of f have two or more axes that are no single entry. */
static int count_wide(const damo_apply *f) {
  int n = 0;
  for (int i = 0; i < f->n_in; i++) {
    int axes = 0, before = 0;
    for (int k = 0; k < var_ndim(f->in[i]); k++) axes += !type_dim_is_one(f->in[i]->type, k);
    while (before < i && f->in[before] != f->in[i]) before++;
    n += axes > 1 && before == i;
  }
  return n;
}

/* The same where elementwise nodes alone read the result: then one Loop computes them and f(x, y). It reads operands
 * across the order in which they lie: of more than one that takes longer than to make f(x, y) and to read that. */
static damo_status transpose_operands(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const int ndim = var_ndim(node->in[0]);
  if (ndim < 2 || var_ndim(node->out[0]) != ndim || dimshuffle_op_keeps_order(node->op, ndim)) return DAMO_OK;
  if (!is_lifted_over(fg, node, node->in[0], ndim) || !match_is_read_by_elemwise(fg, node->out[0])) return DAMO_OK;
  if (count_wide(node->in[0]->owner) > 1) return DAMO_OK;
  return put_into_operands(b, node, repl, did);
}

/* Whether the shape operand is x's own shape. */
static bool is_shape_of(const damo_var *shape, const damo_var *x) {
  const damo_apply *node = match_class(shape, &shape_def);
  if (node != NULL) return match_same_shape(node->in[0], x);
  node = match_class(shape, &makevector_def);
  if (node == NULL || node->n_in != var_ndim(x)) return false;
  for (int i = 0; i < node->n_in; i++) {
    if (!match_length(node->in[i], x, i)) return false;
  }
  return true;
}

/* Whether the shape is ones and a single -1, which every array fits. */
static bool fits_any(const damo_array *shape) {
  int open = 0;
  if (shape == NULL || shape->ndim != 1) return false;
  for (int64_t i = 0; i < array_size(shape); i++) {
    const int64_t n = scalar_to_int64(array_get(shape, &i));
    if (n != 1 && n != -1) return false;
    open += n == -1;
  }
  return open == 1;
}

/* Whether the Reshape node certainly can't fail: its shape is {-1} with ones, or the static shapes of input and output
 * and the shape operand are all known. */
static bool reshape_is_sound(const damo_apply *node) {
  int64_t n;
  const damo_array *shape = var_constant_array(node->in[1]);
  if (fits_any(shape)) return true;
  for (int k = 0; k < 2; k++) {
    const damo_type *t = k == 0 ? node->in[0]->type : node->out[0]->type;
    for (int d = 0; d < t->ndim; d++) {
      if (t->shape[d] < 0) return false;
    }
  }
  const damo_apply *vector = match_class(node->in[1], &makevector_def);
  for (int i = 0; vector != NULL && i < vector->n_in; i++) {
    if (!var_static_int(vector->in[i], &n)) return false;
  }
  return vector != NULL || shape != NULL;
}

/* Drops a Reshape to x's own shape, and the first of two in a row unless it might raise an error. */
static damo_status join_reshapes(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0];
  int n = var_ndim(node->out[0]);
  if (type_same_known_shape(x->type, node->out[0]->type)) return rule_give(b, repl, did, x);
  if (n == var_ndim(x) && is_shape_of(node->in[1], x)) return rule_give(b, repl, did, x);
  if (n == 1 && var_ndim(x) == 1 && fits_any(var_constant_array(node->in[1]))) return rule_give(b, repl, did, x);
  const damo_apply *below = match_class(x, &reshape_def);
  if (below != NULL && !reshape_is_sound(below)) return DAMO_OK;
  return rule_give(b, repl, did, below != NULL ? build_reshape(b, below->in[0], node->in[1], n) : NULL);
}

/* The entry k of a shape operand as a scalar; NULL if it is not known without computing it. */
static damo_var *known_shape_entry(build *b, const damo_var *shape, int k) {
  const damo_apply *vector = match_class(shape, &makevector_def);
  if (vector != NULL) return k < vector->n_in ? vector->in[k] : NULL;
  const damo_array *a = var_constant_array(shape);
  if (a == NULL || a->ndim != 1 || k >= array_size(a)) return NULL;
  return build_scalar(b, DAMO_INT64, (double)scalar_to_int64(array_get(a, &(int64_t){k})));
}

/* A Reshape that only adds or drops axes of length 1 → DimShuffle. */
static damo_status reshape_to_dimshuffle(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0];
  const damo_type *t = node->out[0]->type;
  int pattern[DAMO_MAX_NDIM], axis = 0;
  for (int k = 0; k < t->ndim; k++) {
    while (axis < var_ndim(x) && type_dim_is_one(x->type, axis)) axis++;
    if (type_dim_is_one(t, k)) {
      pattern[k] = -1;
      continue;
    }
    const damo_var *length = known_shape_entry(b, node->in[1], k);
    if (axis == var_ndim(x) || length == NULL || !match_length(length, x, axis)) return b->status;
    pattern[k] = axis++;
  }
  while (axis < var_ndim(x) && type_dim_is_one(x->type, axis)) axis++;
  return rule_give(b, repl, did, axis == var_ndim(x) ? build_dimshuffle(b, x, pattern, t->ndim) : NULL);
}

/* Reshape(f(Reshape(x))) → f(Reshape(Reshape(x))) for an f of one operand, so that two Reshapes meet. */
static damo_status lift_reshape(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const damo_apply *f = match_class(node->in[0], &elemwise_def);
  if (f == NULL || f->n_in != 1 || f->op->destroy_map != NULL || !match_single_use(fg, node->in[0])) return DAMO_OK;
  if (match_class(f->in[0], &reshape_def) == NULL) return DAMO_OK;
  damo_var *x = build_reshape(b, f->in[0], node->in[1], var_ndim(node->out[0]));
  return rule_give(b, repl, did, x != NULL ? build_op(b, damo_retain(f->op), &x, 1) : NULL);
}

/* Alloc(Alloc(v, lengths), more lengths) → Alloc(v, more lengths), where the lengths of the first certainly broadcast. */
static damo_status join_allocs(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *v = node->in[0];
  const damo_apply *below = match_class(v, &alloc_def);
  const int n = node->n_in - 1, lead = n - var_ndim(v);
  if (below == NULL) return DAMO_OK;
  for (int k = 0; k < var_ndim(v); k++) {
    int64_t i, j;
    damo_var *inner = below->in[1 + k], *outer = node->in[1 + lead + k];
    const bool same = inner == outer || (var_static_int(inner, &i) && var_static_int(outer, &j) && i == j);
    if (!same && !type_dim_is_one(v->type, k)) return DAMO_OK;
  }
  return rule_give(b, repl, did, build_alloc(b, below->in[0], node->in + 1, n));
}

/* ---- Lengths ----------------------------------------------------------------------------------------------------- */

/* Arrays for the shapes of a node's inputs and outputs, one Variable for each axis. */
typedef struct dims {
  damo_var ***at; /* n_in arrays for the inputs, then n_out for the outputs */
  size_t bytes;
} dims;

static int rank_of(const damo_var *v) { return type_has_shape(v->type) ? var_ndim(v) : 0; }

static damo_status dims_init(dims *d, damo_ctx *ctx, const damo_apply *node) {
  int n = node->n_in + node->n_out;
  size_t total = 0;
  for (int i = 0; i < n; i++) total += (size_t)rank_of(i < node->n_in ? node->in[i] : node->out[i - node->n_in]);
  d->bytes = (size_t)n * sizeof(damo_var **) + total * sizeof(damo_var *);
  d->at = mem_calloc(ctx, d->bytes);
  if (d->at == NULL) return DAMO_EMEMORY;
  damo_var **next = (damo_var **)(d->at + n);
  for (int i = 0; i < n; i++) {
    d->at[i] = next;
    next += rank_of(i < node->n_in ? node->in[i] : node->out[i - node->n_in]);
  }
  return DAMO_OK;
}

static damo_status infer_dims(build *b, damo_apply *node, dims *d) {
  for (int i = 0; i < node->n_in; i++) {
    for (int k = 0; k < rank_of(node->in[i]); k++) d->at[i][k] = build_dim(b, node->in[i], k);
  }
  if (b->status != DAMO_OK) return b->status;
  return node->op->def->infer_shape(b, node, (damo_var *const *const *)d->at, d->at + node->n_in);
}

/* Puts the lengths of v's axes, by its node's infer_shape, into out (NULL: that one is unknown). *known: the Op has an
 * infer_shape. */
static damo_status infer_lengths(build *b, const damo_var *v, damo_var **out, bool *known) {
  damo_apply *node = v->owner;
  *known = node != NULL && node->op->def->infer_shape != NULL;
  if (!*known) return DAMO_OK;
  dims d;
  DAMO_TRY(dims_init(&d, b->ctx, node));
  damo_status s = infer_dims(b, node, &d);
  for (int k = 0; k < var_ndim(v); k++) out[k] = s == DAMO_OK ? d.at[node->n_in + v->index][k] : NULL;
  mem_free(b->ctx, d.at, d.bytes);
  return s;
}

/* Shape_i of a node's output → an expression of the node's input lengths. */
static damo_status infer_length(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *out[DAMO_MAX_NDIM];
  const damo_var *x = node->in[0];
  int axis = (int)OP_PROPS(node->op, shape_i_props)->i.u.i - 1;
  bool known;
  if (x->type->shape[axis] >= 0) return rule_give(b, repl, did, build_dim(b, node->in[0], axis));
  DAMO_TRY(infer_lengths(b, x, out, &known));
  return rule_give(b, repl, did, known ? out[axis] : NULL);
}

/* Shape(x) → a vector of lengths, each constant where it is static. */
static damo_status shape_as_lengths(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0], *out[DAMO_MAX_NDIM];
  if (!type_has_shape(x->type)) return DAMO_OK;
  for (int k = 0; k < var_ndim(x); k++) out[k] = build_dim(b, x, k);
  if (b->status != DAMO_OK) return b->status;
  return rule_give(b, repl, did, build_vector(b, out, var_ndim(x)));
}

/* An entry of a vector of lengths at a constant position: x.shape[2]. */
static damo_status take_length(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *vector = match_class(node->in[0], &makevector_def);
  int64_t i;
  if (vector == NULL || node->n_in != 2 || strcmp(OP_PROPS(node->op, index_props)->spec.u.s, "i") != 0) return DAMO_OK;
  if (!var_static_int(node->in[1], &i)) return DAMO_OK;
  if (i < 0) i += vector->n_in + 1;
  return rule_give(b, repl, did, i >= 1 && i <= vector->n_in ? vector->in[i - 1] : NULL);
}

#define RULE(rule_name, rule_phase, rule_tags, fn, ...) \
  { .name = rule_name, .phase = rule_phase, .tags = rule_tags, .local = fn, __VA_ARGS__ }
#define CANONICAL PHASE_CANONICALIZE, "fast_run canonicalize shape"
#define CHEAP PHASE_CANONICALIZE, "fast_run fast_compile canonicalize shape"
#define AGAIN PHASE_SPECIALIZE, "fast_run specialize shape"
#define ROW(...) RULE(__VA_ARGS__)

const rewrite_rule shape_rules[] = {
    ROW("join_dimshuffles", CHEAP, join_dimshuffles, TRACKS(&dimshuffle_def)),
    ROW("lift_dimshuffle", CANONICAL, lift_dimshuffle, TRACKS(&dimshuffle_def)),
    ROW("reshape_to_dimshuffle", CANONICAL, reshape_to_dimshuffle, TRACKS(&reshape_def)),
    ROW("lift_reshape", CANONICAL, lift_reshape, TRACKS(&reshape_def)),
    ROW("join_allocs", CANONICAL, join_allocs, TRACKS(&alloc_def)),
    ROW("join_reshapes", CANONICAL, join_reshapes, TRACKS(&reshape_def)),
    ROW("infer_length", CANONICAL, infer_length, TRACKS(&shape_i_def)),
    ROW("infer_shape", CANONICAL, shape_as_lengths, TRACKS(&shape_def)),
    ROW("take_length", CANONICAL, take_length, TRACKS(&subtensor_def)),
    ROW("infer_length_again", AGAIN, infer_length, TRACKS(&shape_i_def)),
    ROW("transpose_operands", PHASE_FUSE, "fast_run fuse fusion", transpose_operands, TRACKS(&dimshuffle_def),
        .sinks = true),
    {.name = NULL},
};

#undef RULE
#undef ROW
#undef CANONICAL
#undef CHEAP
#undef AGAIN
