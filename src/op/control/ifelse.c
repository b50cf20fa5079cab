/* ifelse: one of two branches, by a condition known when the function runs. Only the branch taken is computed.
 *
 * The Op IfElse has the inputs cond, a₁ … aₙ, b₁ … bₙ and n outputs, each a view of a branch's value. Compiled programs
 * jump over the branch that is not taken; run by demand, its thunks ask for cond, then for the values of one branch.
 */
#include "graph/c_emit.h"
#include "op/elem/masked.h"
#include "op/shape/shape_int.h"

typedef struct ifelse_props {
  prop_value n;
} ifelse_props;

#define MAX_RESULTS 1024

static int results_of(const damo_op *op) { return (int)OP_PROPS(op, ifelse_props)->n.u.i; }

/* ---- The class --------------------------------------------------------------------------------------------------- */

static size_t map_bytes(const damo_op *op) { return (2 * (size_t)results_of(op) + 1) * sizeof(op_alias); }

/* Output i may be a view of aᵢ or of bᵢ. */
static damo_status ifelse_init(damo_op *op) {
  int n = op->n_props == 1 && OP_PROPS(op, ifelse_props)->n.kind == PROP_INT ? results_of(op) : 0;
  if (n < 1 || n > MAX_RESULTS)
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "IfElse: n must be between 1 and %d", MAX_RESULTS);
  op_alias *views = mem_alloc(op->obj.ctx, map_bytes(op));
  if (views == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < n; i++) {
    views[2 * i] = (op_alias){(int16_t)i, (int16_t)(1 + i)};
    views[2 * i + 1] = (op_alias){(int16_t)i, (int16_t)(1 + n + i)};
  }
  views[2 * n] = (op_alias){-1, -1};
  *(op_alias **)op->data = views;
  op->view_map = views;
  return DAMO_OK;
}

static void ifelse_clear(damo_op *op) {
  op_alias *views = *(op_alias **)op->data;
  if (views != NULL) mem_free(op->obj.ctx, views, map_bytes(op));
}

static int ifelse_count(const damo_op *op, int n_in) {
  (void)n_in;
  return results_of(op);
}

/* The narrowest Type that has the values of both a and b; NULL with a type error when there is none. */
static damo_type *ifelse_unify(damo_ctx *ctx, const damo_type *a, const damo_type *b, int i) {
  if (type_is_super(a, b)) return damo_retain(a);
  if (type_is_super(b, a)) return damo_retain(b);
  bool alike = type_is_sparse(a) && type_is_sparse(b) && a->format == b->format;
  if (alike && a->dtype == b->dtype) {
    const int64_t shape[2] = {a->shape[0] == b->shape[0] ? a->shape[0] : -1,
                              a->shape[1] == b->shape[1] ? a->shape[1] : -1};
    const damo_dtype itype = dtype_promote((damo_dtype)a->itype, (damo_dtype)b->itype);
    return type_sparse(ctx, (damo_format)a->format, a->dtype, itype, shape);
  }
  if (type_is_tensor(a) && type_is_tensor(b) && a->dtype == b->dtype && a->ndim == b->ndim) {
    int64_t shape[DAMO_MAX_NDIM];
    for (int d = 0; d < a->ndim; d++) shape[d] = a->shape[d] == b->shape[d] ? a->shape[d] : -1;
    return type_tensor(ctx, a->dtype, a->ndim, shape);
  }
  char x[320], y[320];
  ctx_fail(ctx, DAMO_ETYPE, "ifelse: the branches differ: result %d is %s in the first, %s in the second", i + 1,
           type_format(x, sizeof x, a), type_format(y, sizeof y, b));
  return NULL;
}

static damo_status ifelse_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  int n = results_of(op);
  if (n_in != 1 + 2 * n) {
    return ctx_fail(ctx, DAMO_ETYPE, "ifelse: expected a condition and 2 branches of %d, got %d operands", n, n_in);
  }
  const damo_type *c = in[0]->type;
  if (!type_is_tensor(c) || c->ndim != 0 || dtype_is_complex(c->dtype)) {
    char got[320];
    return ctx_fail(ctx, DAMO_ETYPE, "ifelse: the condition must be a scalar, got %s", type_format(got, sizeof got, c));
  }
  for (int i = 0; i < n; i++) {
    out[i] = ifelse_unify(ctx, in[1 + i]->type, in[1 + n + i]->type, i);
    if (out[i] == NULL) return damo_error_status(ctx);
  }
  return DAMO_OK;
}

static damo_status ifelse_pass(const thunk *t, frame *f, int out, int in) {
  damo_obj *v = thunk_value(t, f, in);
  if (v->kind == OBJ_ARRAY) {
    const damo_array *a = (const damo_array *)v;
    return thunk_out_view(t, f, out, a, a->ndim, array_shape(a), array_strides(a), 0);
  }
  if (v->kind == OBJ_SPARSE) return sparse_form.give(t, f, out, (damo_sparse *)damo_retain(v));
  thunk_set_out(t, f, out, damo_retain(v));
  return DAMO_OK;
}

static int ifelse_branch_of(const damo_apply *node, int i) { return i > node->n_out; }

static int ifelse_taken(const thunk *t, const frame *f) {
  return scalar_cast(array_item(thunk_in(t, f, 0)), DAMO_BOOL).v.i == 0;
}

static const op_branches ifelse_branches = {2, ifelse_branch_of, ifelse_taken};

static damo_status ifelse_run(const thunk *t, frame *f) {
  int n = t->n_out;
  if (!thunk_ready(t, f, 0)) {
    thunk_need(t, f, 0);
    return DAMO_OK;
  }
  int from = 1 + n * ifelse_taken(t, f);
  for (int i = 0; i < n; i++) {
    if (!thunk_ready(t, f, from + i)) thunk_need(t, f, from + i);
  }
  for (int i = 0; i < n && thunk_n_need(t, f) == 0; i++) DAMO_TRY(ifelse_pass(t, f, i, from + i));
  return DAMO_OK;
}

/* ---- Derivatives and shapes -------------------------------------------------------------------------------------- */

/* cond ? x[i] : y[i] for n pairs, into out. */
static damo_status ifelse_choose(build *b, damo_var *cond, damo_var *const *x, damo_var *const *y, int n,
                                 damo_var **out);

/* Zeros of x's shape to stand beside g: of g's dtype, and sparse in g's format where both are sparse, else dense. */
static damo_var *zero_of_branch(build *b, damo_var *x, damo_var *g) {
  damo_var *zero = build_zeros_of(b, x, var_dtype(g));
  bool sparse = type_is_sparse(x->type) && type_is_sparse(g->type);
  return sparse ? sparse_form.to_format(b, zero, (damo_format)g->type->format) : sparse_form.to_dense(b, zero);
}

/* g with the static lengths of the branch x that g's own Type does not know. */
static damo_var *with_lengths(build *b, damo_var *g, damo_var *x) {
  damo_var *dims[DAMO_MAX_NDIM];
  bool more = false;
  if (g == NULL || !type_is_tensor(g->type)) return g;
  for (int d = 0; d < var_ndim(g); d++) {
    bool tells = g->type->shape[d] < 0 && x->type->shape[d] >= 0;
    dims[d] = tells ? build_i64(b, x->type->shape[d]) : NULL;
    more = more || tells;
  }
  return more ? build_note_mask(b, build_specify_shape(b, g, dims), masked_of(b, g)) : g;
}

/* Converts the derivatives of both branches to one format, or dense, and to one dtype. */
static void ifelse_bring_together(build *b, damo_var **dx, damo_var **dy) {
  if (type_is_sparse((*dx)->type) && type_is_sparse((*dy)->type)) {
    *dy = sparse_form.to_format(b, *dy, (damo_format)(*dx)->type->format);
  } else {
    *dx = sparse_form.to_dense(b, *dx);
    *dy = sparse_form.to_dense(b, *dy);
  }
  if (b->status != DAMO_OK) return;
  damo_dtype dtype = dtype_promote(var_dtype(*dx), var_dtype(*dy));
  *dx = build_cast(b, *dx, dtype);
  *dy = build_cast(b, *dy, dtype);
}

damo_var *build_ifelse_zero(build *b, damo_var *cond, damo_var *g, bool inverse, damo_var *x) {
  damo_var *result = NULL, *zero = g != NULL ? zero_of_branch(b, x, g) : NULL;
  if (zero == NULL) return NULL;
  ifelse_choose(b, cond, inverse ? &zero : &g, inverse ? &g : &zero, 1, &result);
  if (result == NULL) return NULL;
  return build_keep_mask(b, result, (build_mask){.raw = g, .cond = cond, .inverse = inverse, .lazy = true});
}

damo_var *build_ifelse_add(build *b, damo_var *x, damo_var *g, damo_var *h) {
  const build_mask *m = build_mask_of(b, g), *o = build_mask_of(b, h);
  damo_var *result = NULL, *gr, *hr;
  if (m == NULL || o == NULL || !m->lazy || !o->lazy || m->cond != o->cond) return NULL;
  gr = m->raw, hr = o->raw;
  if (m->inverse == o->inverse)
    return build_ifelse_zero(b, m->cond, sparse_form.add_cotangents(b, x, gr, hr), m->inverse, x);
  const masked g_mask = masked_of(b, gr), h_mask = masked_of(b, hr);
  ifelse_bring_together(b, &gr, &hr);
  ifelse_choose(b, m->cond, m->inverse ? &hr : &gr, m->inverse ? &gr : &hr, 1, &result);
  return masked_same(g_mask, h_mask) ? build_note_mask(b, result, g_mask) : result;
}

/* Each branch gets the gradient where it is taken, zeros of its own shape where it is not. */
static damo_status ifelse_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  int n = node->n_out;
  for (int i = 0; i < n && b->status == DAMO_OK; i++) {
    damo_var *g = gout[i], **of_x = &gin[1 + i], **of_y = &gin[1 + n + i];
    if (g == NULL) continue;
    if (!type_has_shape(g->type)) { /* an undefined gradient is one in both branches */
      *of_x = *of_y = g;
      continue;
    }
    damo_var *x = node->in[1 + i], *y = node->in[1 + n + i];
    *of_x = build_ifelse_zero(b, node->in[0], with_lengths(b, g, x), false, x);
    *of_y = build_ifelse_zero(b, node->in[0], with_lengths(b, g, y), true, y);
  }
  return b->status;
}

static damo_status ifelse_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  int n = node->n_out;
  for (int i = 0; i < n && b->status == DAMO_OK; i++) {
    damo_var *dx = eval[1 + i], *dy = eval[1 + n + i];
    if (dx == NULL && dy == NULL) continue;
    if (dx == NULL || dy == NULL) {
      damo_var *d = dx != NULL ? dx : dy, *other = node->in[dx != NULL ? 1 + n + i : 1 + i];
      rout[i] = build_ifelse_zero(b, node->in[0], d, dx == NULL, other);
      continue;
    }
    const masked x = masked_of(b, dx), y = masked_of(b, dy);
    if (b->status == DAMO_OK) ifelse_bring_together(b, &dx, &dy);
    DAMO_TRY(ifelse_choose(b, node->in[0], &dx, &dy, 1, &rout[i]));
    if (masked_same(x, y)) build_note_mask(b, rout[i], x);
  }
  return b->status;
}

static void ifelse_connection(const damo_apply *node, bool *connected) {
  int n = node->n_out;
  for (int i = 0; i < node->n_in; i++) {
    for (int o = 0; o < n; o++) connected[i * n + o] = i > 0 && (i - 1) % n == o;
  }
}

static damo_status ifelse_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  int n = node->n_out;
  for (int i = 0; i < n; i++) {
    int ndim = type_is_tensor(node->out[i]->type) ? var_ndim(node->out[i]) : 0;
    for (int d = 0; d < ndim && b->status == DAMO_OK; d++) {
      damo_var *x = in_shape[1 + i][d], *y = in_shape[1 + n + i][d];
      int64_t length = node->out[i]->type->shape[d];
      if (x == y || length >= 0) {
        out_shape[i][d] = x == y ? x : build_i64(b, length);
      } else {
        DAMO_TRY(ifelse_choose(b, node->in[0], &x, &y, 1, &out_shape[i][d]));
      }
    }
  }
  return b->status;
}

/* A condition that differs from entry to entry leaves the choice to a loop. */
static damo_status ifelse_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                damo_var **out) {
  const int n = node->n_out;
  if (batched[0]) return b->status;
  for (int i = 0; i < n; i++) {
    const bool of[2] = {batched[1 + i], batched[1 + n + i]};
    damo_var *pair[2] = {in[1 + i], in[1 + n + i]};
    if (!of[0] && !of[1]) continue;
    if (!type_is_tensor(pair[0]->type) || !type_is_tensor(pair[1]->type)) return b->status;
    DAMO_TRY(batch_agree(b, pair, of, 2, k, true));
    in[1 + i] = pair[0];
    in[1 + n + i] = pair[1];
  }
  return batch_apply(b, damo_retain(node->op), node, in, out);
}

static damo_status ifelse_emit_c(c_emit *e, const damo_apply *node) {
  const int n = node->n_out;
  const c_value *condition = ce_in(e, 0);
  ce_takes_complex(e);
  const char *c = condition->known != NULL ? "" : ce_text(e, "*%s", ce_p(e, condition));
  for (int i = 0; i < n; i++) {
    const c_value *x = ce_in(e, 1 + i), *y = ce_in(e, 1 + n + i);
    bool same = x->ndim == y->ndim && x->dtype == y->dtype;
    for (int k = 0; same && k < x->ndim; k++) same = x->shape[k] == y->shape[k];
    if (!same) return ce_refuse(e, "its branches have results of different shapes");
    const c_value *taken = condition->known == NULL                                        ? NULL
                           : scalar_cast(array_item(condition->known), DAMO_BOOL).v.i != 0 ? x
                                                                                           : y;
    if (taken != NULL && taken->known != NULL) {
      DAMO_TRY(ce_out_known(e, i, damo_retain(taken->known)));
      continue;
    }
    const c_value *out = ce_out(e, i, x->dtype, x->ndim, x->shape);
    if (out == NULL) return e->status;
    if (ce_size(out) == 0) continue;
    if (taken != NULL) {
      ce_copy(e, out, taken);
      continue;
    }
    ce_open(e, "if (%s != 0)", c);
    ce_copy(e, out, x);
    ce_close(e);
    ce_open(e, "else");
    ce_copy(e, out, y);
    ce_close(e);
  }
  return e->status;
}

const op_def ifelse_def = {
    .name = "IfElse",
    .emit_c = ifelse_emit_c,
    .doc = "one of two branches; the other is not computed",
    .props = PROPS(PROP(ifelse_props, n)),
    .n_in = OP_VARIADIC,
    .n_out = OP_VARIADIC,
    .data_size = sizeof(op_alias *),
    .init = ifelse_init,
    .clear = ifelse_clear,
    .count_out = ifelse_count,
    .infer_type = ifelse_type,
    .perform = ifelse_run,
    .lazy = true,
    .branches = &ifelse_branches,
    .grad = ifelse_grad,
    .rop = ifelse_rop,
    .infer_shape = ifelse_shape,
    .batch = ifelse_batch,
    .connection_pattern = ifelse_connection,
    .masks = MASKS_OWN,
    .no_check = "hands on a branch as it is",
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* in: cond, then space for the n values of both branches. */
static damo_status ifelse_choose_in(build *b, damo_var **in, damo_var *const *x, damo_var *const *y, int n,
                                    damo_var **out) {
  for (int i = 0; i < n; i++) {
    damo_var *pair[2] = {x[i], y[i]};
    DAMO_TRY(build_resolve(b, pair, 2, true, pair));
    in[1 + i] = pair[0];
    in[1 + n + i] = pair[1];
  }
  const ifelse_props p = {.n = prop_int(n)};
  damo_apply *node = build_apply(b, op_new(b->ctx, &ifelse_def, &p), in, 1 + 2 * n);
  for (int i = 0; node != NULL && i < n; i++) out[i] = node->out[i];
  return b->status;
}

static damo_status ifelse_choose(build *b, damo_var *cond, damo_var *const *x, damo_var *const *y, int n,
                                 damo_var **out) {
  if (b->status != DAMO_OK) return b->status;
  damo_var *few[9];
  size_t bytes = (1 + 2 * (size_t)n) * sizeof(damo_var *);
  damo_var **in = n <= 4 ? few : mem_alloc(b->ctx, bytes);
  if (in == NULL) return b->status = DAMO_EMEMORY;
  in[0] = build_strong(b, cond);
  damo_status s = in[0] != NULL ? ifelse_choose_in(b, in, x, y, n, out) : b->status;
  if (in != few) mem_free(b->ctx, in, bytes);
  return s;
}

damo_var *build_ifelse(build *b, damo_var *cond, damo_var *x, damo_var *y) {
  damo_var *out = NULL;
  if (cond == NULL || x == NULL || y == NULL) return NULL;
  return ifelse_choose(b, cond, &x, &y, 1, &out) == DAMO_OK ? out : NULL;
}

static damo_status fn_ifelse(build *b, const fn_args *a, ptrvec *out) {
  damo_var *result = NULL;
  DAMO_TRY(ifelse_choose(b, a->in[0], &a->in[1], &a->in[2], 1, &result));
  return fn_give(b, out, result);
}

/* The operands are cond, the values of the first branch, those of the second. */
static damo_status fn_ifelse_list(build *b, const fn_args *a, ptrvec *out) {
  int n = (a->n_in - 1) / 2;
  if (a->n_in != 1 + 2 * n || n < 1 || n > MAX_RESULTS) {
    return ctx_fail(b->ctx, DAMO_EVALUE, "ifelse: the branches must be lists of one length, at most %d", MAX_RESULTS);
  }
  size_t bytes = (size_t)n * sizeof(damo_var *);
  damo_var **result = mem_calloc(b->ctx, bytes);
  if (result == NULL) return DAMO_EMEMORY;
  damo_status s = ifelse_choose(b, a->in[0], a->in + 1, a->in + 1 + n, n, result);
  for (int i = 0; i < n && s == DAMO_OK; i++) s = fn_give(b, out, result[i]);
  mem_free(b->ctx, result, bytes);
  return s;
}

const op_func ifelse_funcs[] = {
    {.name = "ifelse",
     .operands = "cond a b",
     .call = fn_ifelse,
     .no_method = true,
     .any_type = true,
     .doc =
         "a where the scalar cond is true, else b: only that branch is computed when a compiled function runs. The "
         "branches may be lists of one length, which give several results, or a list of them with {return_list=true}"},
    {.name = "ifelse_list",
     .operands = "operands...",
     .call = fn_ifelse_list,
     .no_method = true,
     .any_type = true,
     .doc = "ifelse over a flat list: cond, the values of the first branch, those of the second"},
    {.name = NULL},
};

const op_def *const ifelse_classes[] = {&ifelse_def, NULL};
