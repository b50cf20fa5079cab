/* scan_class.c: the class of a Scan: its life, its Types, what it connects, its shapes. Classes of a context are in a
 * list, so that equal inner graphs with equal parts give one Op. */
#include <string.h>

#include "scan_int.h"

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static scan_class *first_class(const damo_ctx *ctx) { return ctx->slots[CTX_SCANS].data; }

static void unlist(scan_class *s) {
  damo_ctx *ctx = s->obj.ctx;
  scan_class *at = first_class(ctx);
  if (at == s) ctx->slots[CTX_SCANS].data = s->link;
  while (at != NULL && at->link != s) at = at->link;
  if (at != NULL) at->link = s->link;
}

static void scan_destroy(damo_obj *obj) {
  scan_class *s = (scan_class *)obj;
  damo_ctx *ctx = obj->ctx;
  unlist(s);
  mem_strfree(ctx, s->name);
  mem_strfree(ctx, s->mode);
  for (int i = 0; i < 2; i++) damo_release(s->fn[i]);
  damo_release(s->shapes);
  damo_release(s->fgraph);
  if (s->part != NULL) mem_free(ctx, s->part, (size_t)s->n_parts * sizeof *s->part);
  if (s->tap != NULL) mem_free(ctx, s->tap, (size_t)s->n_taps * sizeof *s->tap);
  if (s->updates != NULL) mem_free(ctx, s->updates, (size_t)(s->n_updates + 1) * sizeof *s->updates);
  if (s->mutable_ != NULL) mem_free(ctx, s->mutable_, (size_t)s->n_in);
  if (s->connected != NULL) mem_free(ctx, s->connected, (size_t)(1 + s->n_parts) * (size_t)s->n_out);
  obj_free(obj, sizeof *s);
}

scan_class *scan_of(const damo_op *op) {
  return op->owner != NULL && op->owner->kind == OBJ_SCAN ? (scan_class *)op->owner : NULL;
}

static void scan_op_gone(damo_op *op) { scan_at(op)->op = NULL; }

inner_graph scan_inner(scan_class *s) {
  return (inner_graph){.fgraph = s->fgraph, .name = s->def.name, .mode = s->mode, .mutable_ = s->mutable_, .fn = s->fn};
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* The Type of a result with the values of an inner output stacked. */
static damo_type *stacked_type(const scan_class *s, const scan_part *p, const damo_var *n_steps) {
  const damo_type *t = scan_inner_out(s, p->out)->type;
  int64_t shape[DAMO_MAX_NDIM], n = -1;
  damo_ctx *ctx = s->obj.ctx;
  if (s->until || !var_static_int(n_steps, &n) || n < 0) n = -1;
  shape[0] = p->tail > 0 && n > p->tail ? p->tail : n;
  if (t->kind == TYPE_RANDOM) {
    shape[1] = 3;
    return type_tensor(ctx, DAMO_UINT64, 2, shape);
  }
  if (t->ndim + 1 > DAMO_MAX_NDIM) {
    ctx_fail(ctx, DAMO_ESHAPE, "%s: output %d would have %d dimensions", s->def.name, p->number, t->ndim + 1);
    return NULL;
  }
  const damo_type *before = p->role == SCAN_STATE ? scan_inner_in(s, p->first)->type : t;
  for (int k = 0; k < t->ndim; k++) shape[1 + k] = t->shape[k] >= 0 ? t->shape[k] : before->shape[k];
  return type_tensor(ctx, t->dtype, t->ndim + 1, shape);
}

static damo_status scan_types(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const scan_class *s = scan_at(op);
  (void)n_in;
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    if (p->stack >= 0 && (out[p->stack] = stacked_type(s, p, in[0])) == NULL) return damo_error_status(op->obj.ctx);
    if (p->last < 0) continue;
    damo_type *t = p->role == SCAN_STATE ? scan_inner_in(s, p->first)->type : scan_inner_out(s, p->out)->type;
    if ((out[p->last] = type_without_pattern(t)) == NULL) return DAMO_EMEMORY;
  }
  if (s->until && (out[s->n_out - 1] = type_tensor(op->obj.ctx, DAMO_INT64, 0, NULL)) == NULL) return DAMO_EMEMORY;
  return DAMO_OK;
}

/* Whether an operand of that Type can be the sequence, or the past of a state, of which the inner input is one row. */
static bool is_stack_of(const damo_type *row, const damo_type *t) {
  if (row->kind == TYPE_RANDOM) return type_is_tensor(t) && t->dtype == DAMO_UINT64 && t->ndim == 2;
  bool fits = type_is_tensor(row) && type_is_tensor(t) && t->dtype == row->dtype && t->ndim == row->ndim + 1;
  for (int k = 0; fits && k < row->ndim; k++)
    fits = row->shape[k] < 0 || t->shape[k + 1] < 0 || row->shape[k] == t->shape[k + 1];
  return fits;
}

damo_var *scan_fit(build *b, const scan_class *s, const scan_part *p, damo_var *x) {
  damo_var *row = scan_inner_in(s, p->first);
  const bool rows = p->role == SCAN_SEQUENCE || (p->role == SCAN_STATE && !p->bare);
  damo_var *fit[2] = {row, x};
  if (x->weak && build_resolve(b, fit, 2, false, fit) != DAMO_OK) return NULL;
  x = fit[1];
  const bool tensors = type_is_tensor(row->type) && type_is_tensor(x->type);
  if (tensors && var_dtype(x) != var_dtype(row) && dtype_can_cast_safely(var_dtype(x), var_dtype(row)))
    x = build_cast(b, x, var_dtype(row));
  if (x == NULL || (rows ? is_stack_of(row->type, x->type) : type_is_compatible(row->type, x->type))) return x;
  char want[320], got[320], name[160];
  return build_fail(b, DAMO_ETYPE, "%s: %s%s must be %s%s, got %s", s->def.name,
                    p->role == SCAN_STATE ? "the initial value of " : "", var_format(name, sizeof name, x),
                    rows ? "an array whose rows are " : "", type_format(want, sizeof want, row->type),
                    type_format(got, sizeof got, x->type));
}

static damo_apply *scan_make_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  const scan_class *s = scan_at(op);
  const int n = 1 + s->n_seq + s->n_state + s->n_fixed;
  if (n_in != n) {
    build_fail(b, DAMO_ETYPE, "%s: expected %d inputs, got %d", s->def.name, n, n_in);
    return NULL;
  }
  const size_t bytes = ((size_t)n + (size_t)s->n_out) * sizeof(void *);
  damo_var **all = mem_calloc(b->ctx, bytes);
  if (all == NULL) {
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  damo_type **types = (damo_type **)(all + n);
  all[0] = build_cast(b, in[0], DAMO_INT64);
  for (int i = 1; i < n; i++) all[i] = scan_fit(b, s, &s->part[i - 1], in[i]);
  damo_status status = b->status == DAMO_OK ? scan_types(op, all, n, types) : b->status;
  damo_apply *node = status == DAMO_OK ? apply_new(b->ctx, op, all, n, types, s->n_out) : NULL;
  if (node == NULL && b->status == DAMO_OK) b->status = damo_error_status(b->ctx);
  for (int o = 0; o < s->n_out; o++) damo_release(types[o]);
  mem_free(b->ctx, all, bytes);
  return node;
}

static int scan_count_out(const damo_op *op, int n_in) {
  (void)n_in;
  return scan_at(op)->n_out;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

static damo_fgraph *scan_inner_graph(const damo_op *op) { return scan_at(op)->fgraph; }

static void scan_connections(const damo_apply *node, bool *connected) {
  const scan_class *s = scan_at(node->op);
  memcpy(connected, s->connected, (size_t)node->n_in * (size_t)node->n_out);
}

static bool scan_folds(const damo_apply *node) {
  const scan_class *s = scan_at(node->op);
  return s->n_updates == 0 && inner_traits_of(s->fgraph).folds;
}

static void scan_format(strbuf *out, const damo_op *op) {
  const scan_class *s = scan_at(op);
  strbuf_add(out, s->def.name);
  if (s->name != NULL) strbuf_addf(out, "{%s}", s->name);
}

/* Derives which inputs of a node reach which outputs, through any number of steps. reach: inner inputs * inner
 * outputs. */
static damo_status find_connections(scan_class *s) {
  damo_ctx *ctx = s->obj.ctx;
  const int n_inner = (int)s->fgraph->outputs.n, n_node = 1 + s->n_parts;
  const size_t bytes = (size_t)s->n_in * (size_t)n_inner, parts = (size_t)s->n_parts * (size_t)n_inner;
  bool *reach = mem_calloc(ctx, bytes + parts);
  if (reach == NULL) return DAMO_EMEMORY;
  bool *of_part = reach + bytes; /* part i reaches inner output o */
  const damo_status status = inner_connections(s->fgraph, reach);
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    for (int k = p->first; k < p->first + p->n; k++)
      for (int o = 0; o < n_inner; o++) of_part[i * n_inner + o] |= reach[k * n_inner + o];
  }
  for (int j = 0; j < s->n_state; j++) { /* Warshall's closure over the states */
    const scan_part *p = scan_state_at(s, j);
    const int state = (int)(p - s->part);
    for (int i = 0; i < s->n_parts; i++) {
      if (!of_part[i * n_inner + p->out]) continue;
      for (int o = 0; o < n_inner; o++) of_part[i * n_inner + o] |= of_part[state * n_inner + o];
    }
  }
  s->connected = mem_calloc(ctx, (size_t)n_node * (size_t)s->n_out);
  for (int i = 0; s->connected != NULL && i < s->n_parts; i++) {
    for (int k = 0; k < s->n_parts; k++) {
      const scan_part *p = &s->part[k];
      if (p->out < 0) continue;
      const bool is = of_part[i * n_inner + p->out];
      if (p->stack >= 0) s->connected[(1 + i) * s->n_out + p->stack] = is;
      if (p->last >= 0) s->connected[(1 + i) * s->n_out + p->last] = is || i == k;
    }
  }
  mem_free(ctx, reach, bytes + parts);
  return status != DAMO_OK ? status : s->connected != NULL ? DAMO_OK : DAMO_EMEMORY;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

/* A value of the shape of a row of x, whose first axis may be known to be empty. */
static damo_var *row_for_shape(build *b, damo_var *x) {
  damo_var *dims[DAMO_MAX_NDIM];
  if (x->type->shape[0] != 0) return build_index(b, x, 0, build_scalar(b, DAMO_INT64, 0));
  for (int k = 1; k < var_ndim(x); k++) dims[k - 1] = build_dim(b, x, k);
  return build_alloc(b, build_scalar(b, var_dtype(x), 0), dims, var_ndim(x) - 1);
}

/* The first step's inner outputs over the node's inputs, of which only shapes are asked. */
static damo_status first_step(build *b, const scan_class *s, damo_apply *node, damo_var **out) {
  map memo;
  map_init(&memo, b->ctx);
  damo_status status = b->status;
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed && status == DAMO_OK; i++) {
    const scan_part *p = &s->part[i];
    damo_var *x = node->in[1 + i];
    if ((p->role == SCAN_SEQUENCE || (p->role == SCAN_STATE && !p->bare)) &&
        type_is_tensor(scan_inner_in(s, p->first)->type))
      x = row_for_shape(b, x);
    if (x == NULL) status = b->status;
    for (int k = p->first; k < p->first + p->n && status == DAMO_OK; k++)
      status = map_put(&memo, scan_inner_in(s, k), (uintptr_t)x);
  }
  const int64_t n = s->fgraph->outputs.n;
  if (status == DAMO_OK)
    status = graph_clone(b->ctx, (damo_var *const *)s->fgraph->outputs.at, n, &memo, true, NULL, out);
  for (int64_t o = 0; o < n && status == DAMO_OK; o++) {
    if (build_take(b, out[o]) == NULL) status = b->status;
  }
  map_clear(&memo);
  return status;
}

static damo_status scan_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                    damo_var ***out_shape) {
  const scan_class *s = scan_at(node->op);
  const size_t bytes = (size_t)s->fgraph->outputs.n * sizeof(damo_var *);
  damo_var **value = NULL;
  if (s->shapes_known && s->n_collect > 0) {
    value = mem_calloc(b->ctx, bytes);
    damo_status status = value != NULL ? first_step(b, s, node, value) : DAMO_EMEMORY;
    if (status != DAMO_OK && b->status == DAMO_OK) b->status = status;
  }
  for (int i = 0; i < s->n_parts && b->status == DAMO_OK; i++) {
    const scan_part *p = &s->part[i];
    if (p->stack < 0) continue;
    damo_var **shape = out_shape[p->stack];
    const damo_type *t = scan_inner_out(s, p->out)->type;
    damo_var *n = build_cast(b, node->in[0], DAMO_INT64);
    if (!s->until) shape[0] = p->tail > 0 ? build_minimum(b, n, build_scalar(b, DAMO_INT64, (double)p->tail)) : n;
    if (t->kind == TYPE_RANDOM) {
      shape[1] = build_scalar(b, DAMO_INT64, 3);
      continue;
    }
    for (int k = 0; k < t->ndim; k++) {
      if (p->role == SCAN_STATE) {
        shape[1 + k] = in_shape[scan_in(s, p)][p->bare ? k : k + 1];
      } else if (value != NULL) {
        shape[1 + k] = build_dim(b, value[p->out], k);
      }
    }
  }
  if (value != NULL) mem_free(b->ctx, value, bytes);
  return b->status;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static damo_op *scan_copy_to(graph_copier *c, const damo_op *op);

static void scan_set_def(scan_class *s) {
  const inner_traits traits = inner_traits_of(s->fgraph);
  s->shapes_known = traits.shapes_known;
  s->def = (op_def){.name = "Scan",
                    .doc = "a loop over time",
                    .n_in = OP_VARIADIC,
                    .least_in = OP_NO_INPUT,
                    .n_out = OP_VARIADIC,
                    .clear = scan_op_gone,
                    .count_out = scan_count_out,
                    .infer_type = scan_types,
                    .make_node = scan_make_node,
                    .perform = scan_perform,
                    .state_size = scan_state_size(),
                    .state_clear = scan_state_clear,
                    .grad = scan_l_op,
                    .rop = scan_r_op,
                    .infer_shape = scan_infer_shape,
                    .batch = scan_vectorize,
                    .connection_pattern = scan_connections,
                    .do_constant_folding = scan_folds,
                    .inner_graph = scan_inner_graph,
                    .format = scan_format,
                    .emit_c = scan_emit_c,
                    .impure = traits.impure || s->progress != NULL,
                    .nonfinite = traits.nonfinite,
                    .update_map = s->updates,
                    .updates_again = s->derived,
                    .updates_by_hand = s->hands_back,
                    .one_context = s->progress != NULL,
                    .prepare_foreign = scan_prepare_foreign,
                    .copy_to = scan_copy_to,
                    .recipe = &scan_recipe,
                    .no_check = "in DEBUG mode its inner graph runs in that mode"};
}

/* A state's oldest value may be overwritten: it is read for the last time. */
static damo_status scan_set_mutable(scan_class *s) {
  s->mutable_ = mem_calloc(s->obj.ctx, (size_t)s->n_in);
  if (s->mutable_ == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < s->n_state; i++) {
    const scan_part *p = scan_state_at(s, i);
    for (int k = p->first; k < p->first + p->n; k++)
      s->mutable_[k] = s->tap[k] == -p->span && type_is_tensor(scan_inner_in(s, k)->type);
  }
  return DAMO_OK;
}

static bool same_text(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

static bool same_scan_part(const scan_part *a, const scan_part *b) {
  return a->role == b->role && a->first == b->first && a->n == b->n && a->before == b->before && a->span == b->span &&
         a->out == b->out && a->stack == b->stack && a->last == b->last && a->number == b->number &&
         a->tail == b->tail && a->bare == b->bare && a->update == b->update;
}

static uint64_t class_hash(const scan_class *s) {
  uint64_t h = hash_mix(83, (uint64_t)s->n_parts * 64 + (uint64_t)s->n_in);
  h = hash_mix(h, (uint64_t)s->truncate + ((uint64_t)s->checkpoint << 20) + (uint64_t)s->until + 2U * s->flipped);
  for (int i = 0; i < s->n_in; i++) h = hash_mix(h, (uint64_t)(uintptr_t)scan_inner_in(s, i)->type);
  for (int64_t o = 0; o < s->fgraph->outputs.n; o++) {
    const damo_apply *maker = scan_inner_out(s, (int)o)->owner;
    h = hash_mix(h, maker != NULL ? (uint64_t)(uintptr_t)maker->op : 7);
  }
  return hash_mix(h, (uint64_t)s->fgraph->nodes.n);
}

static damo_status same_class(const scan_class *a, const scan_class *b, bool *same) {
  *same = false;
  if (a->hash != b->hash || a->n_parts != b->n_parts || a->n_in != b->n_in || a->n_out != b->n_out ||
      a->until != b->until || a->flipped != b->flipped || a->derived != b->derived || a->hands_back != b->hands_back ||
      a->truncate != b->truncate || a->checkpoint != b->checkpoint || a->progress != NULL || b->progress != NULL ||
      !same_text(a->name, b->name) || !same_text(a->mode, b->mode))
    return DAMO_OK;
  for (int i = 0; i < a->n_parts; i++) {
    if (!same_scan_part(&a->part[i], &b->part[i])) return DAMO_OK;
  }
  for (int i = 0; i < a->n_in; i++) {
    if (scan_inner_in(a, i)->type != scan_inner_in(b, i)->type) return DAMO_OK;
  }
  if (memcmp(a->tap, b->tap, (size_t)scan_first_fixed(a) * sizeof *a->tap) != 0) return DAMO_OK;
  return graph_equal(a->obj.ctx, (damo_var *const *)a->fgraph->outputs.at, (damo_var *const *)b->fgraph->outputs.at,
                     a->fgraph->outputs.n, (damo_var *const *)a->fgraph->inputs.at,
                     (damo_var *const *)b->fgraph->inputs.at, a->n_in, same);
}

/* The Op of an equal class that is alive (owned), NULL: none, or an error (*status). */
static damo_op *equal_op(const scan_class *s, damo_status *status) {
  for (scan_class *at = first_class(s->obj.ctx); at != NULL; at = at->link) {
    bool same = false;
    if (at->op == NULL) continue;
    *status = same_class(at, s, &same);
    if (*status != DAMO_OK) return NULL;
    if (same) return damo_retain(at->op);
  }
  return NULL;
}

damo_op *scan_op_of(scan_class *s) {
  damo_ctx *ctx = s->obj.ctx;
  scan_set_def(s);
  s->hash = class_hash(s);
  damo_status status = DAMO_OK;
  damo_op *op = equal_op(s, &status);
  if (op == NULL && status == DAMO_OK) status = find_connections(s);
  if (op == NULL && status == DAMO_OK) status = scan_set_mutable(s);
  if (op == NULL && status == DAMO_OK) {
    op = op_new_owned(ctx, &s->def, &s->obj, NULL);
    s->op = op;
    if (op != NULL) {
      s->link = first_class(ctx);
      ctx->slots[CTX_SCANS].data = s;
    }
  }
  damo_release(s);
  return op;
}

/* ---- Copies in another context ----------------------------------------------------------------------------------- */

static void *copy_bytes(damo_ctx *ctx, const void *from, size_t n) {
  void *copy = from != NULL ? mem_alloc(ctx, n) : NULL;
  if (copy != NULL) memcpy(copy, from, n);
  return copy;
}

/* What scan_op_of needs. */
static damo_status scan_fill_copy(graph_copier *c, scan_class *s, const scan_class *from) {
  damo_ctx *ctx = c->ctx;
  const damo_obj own = s->obj;
  *s = *from;
  s->obj = own;
  s->link = NULL;
  s->op = NULL;
  s->name = s->mode = NULL;
  s->fgraph = NULL;
  s->fn[0] = s->fn[1] = s->shapes = NULL;
  s->mutable_ = s->connected = NULL;
  s->updates = copy_bytes(ctx, from->updates, (size_t)(s->n_updates + 1) * sizeof *s->updates);
  s->part = copy_bytes(ctx, from->part, (size_t)s->n_parts * sizeof *s->part);
  s->tap = copy_bytes(ctx, from->tap, (size_t)s->n_taps * sizeof *s->tap);
  s->user = NULL;
  if ((from->updates != NULL) > (s->updates != NULL) || (from->part != NULL) > (s->part != NULL) ||
      (from->tap != NULL) > (s->tap != NULL))
    return DAMO_EMEMORY;
  for (int i = 0; i < s->n_parts; i++) s->part[i].outer = s->part[i].next = NULL;
  DAMO_TRY(mem_copy_text(ctx, from->name, &s->name));
  DAMO_TRY(mem_copy_text(ctx, from->mode != NULL ? from->mode : c->inner_mode, &s->mode));
  s->fgraph = copier_fgraph(c, from->fgraph);
  return s->fgraph != NULL ? inner_freeze(s->fgraph) : damo_error_status(ctx);
}

scan_class *scan_class_copy_to(graph_copier *c, const scan_class *from) {
  scan_class *s = obj_new(c->ctx, OBJ_SCAN, sizeof *s);
  if (s == NULL || scan_fill_copy(c, s, from) == DAMO_OK) return s;
  damo_release(s);
  return NULL;
}

static damo_op *scan_copy_to(graph_copier *c, const damo_op *op) {
  scan_class *from = scan_at(op), *s = scan_class_copy_to(c, from);
  if (s == NULL) return NULL;
  damo_op *copy = scan_op_of(s);
  if (copy == NULL || scan_at(copy)->fn[c->ctx->reproducible] != NULL) return copy;
  const inner_graph inner = scan_inner(from);
  if (inner_copy_to(c, &inner, scan_at(copy)->fn) == DAMO_OK) return copy;
  damo_release(copy);
  return NULL;
}

damo_status scan_register(damo_ctx *ctx) {
  ctx_register_kind(ctx, OBJ_SCAN, scan_destroy, NULL);
  DAMO_TRY(scan_register_replay_rules(ctx));
  return scan_register_rules(ctx);
}
