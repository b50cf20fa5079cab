/* draw: sparse matrices of random integers.
 *
 * Poisson draws at the stored positions of a matrix of means; Multinomial distributes counts over the stored positions
 * of each row of a csr matrix of probabilities; Binomial draws every element of a shape in time O(nonzeros). Each takes
 * a generator's state first and gives the next state and the draw, whose zeros are not stored. No draw has a
 * derivative.
 */
#include "sparse_op.h"
#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

#include "op/random/discrete.h"
#include "op/random/draw.h"

typedef struct sp_binomial_props {
  prop_value format, dtype;
} sp_binomial_props;

/* ---- Shared ------------------------------------------------------------------------------------------------------ */

static damo_status sp_draw_need_state(const damo_op *op, damo_var *const *in) {
  char text[256];
  if (in[0]->type->kind == TYPE_RANDOM) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand 1 must be a generator's state, got %s", op->def->name,
                  type_format(text, sizeof text, in[0]->type));
}

/* Gives the state after the draw and the draw, which is released on failure. */
static damo_status sp_draw_give(const thunk *t, frame *f, const philox_state *s, damo_sparse *take) {
  damo_array *next = take != NULL ? random_state_array(f->ctx, s) : NULL;
  if (next == NULL) {
    damo_release(take);
    return damo_error_status(f->ctx);
  }
  thunk_set_out(t, f, 0, &next->obj);
  thunk_set_out(t, f, 1, &take->obj);
  return DAMO_OK;
}

/* x's pattern with those values converted to dtype, zeros dropped. */
static damo_sparse *sp_draw_on_pattern(const damo_sparse *x, const double *values, damo_dtype dtype) {
  damo_array *data = array_empty(x->obj.ctx, dtype, 1, (const int64_t[]){sparse_nnz(x)});
  if (data == NULL) return NULL;
  array_cast_values(x->obj.ctx, DAMO_FLOAT64, dtype, values, data->data, sparse_nnz(x));
  damo_sparse *all = sparse_with_data(x, data), *out = all != NULL ? sparse_drop_zeros(all) : NULL;
  damo_release(data);
  damo_release(all);
  return out;
}

/* The stored values as float64 in scratch memory. NULL: memory error. */
static double *sp_draw_read_values(const thunk *t, frame *f, const damo_sparse *x) {
  const int64_t n = sparse_nnz(x);
  double *v = thunk_scratch(t, f, (size_t)(n > 0 ? n : 1) * sizeof *v);
  if (v != NULL) array_cast_values(f->ctx, sparse_dtype(x), DAMO_FLOAT64, x->data->data, v, n);
  return v;
}

static damo_status sp_draw_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[1] == NULL) return DAMO_OK;
  for (int i = 1; i < node->n_in; i++) gin[i] = build_null(b, "a random draw has no derivative");
  return b->status;
}

static damo_status sp_draw_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  for (int i = 1; i < node->n_in; i++) {
    if (eval[i] != NULL) rout[1] = build_null(b, "a random draw has no derivative");
  }
  return b->status;
}

/* The next state depends on the state alone, the draw differentiably on the parameters alone. */
static void sp_draw_connect(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++) {
    connected[2 * i] = i == 0;
    connected[2 * i + 1] = i > 0;
  }
}

static damo_status sp_draw_need_real(const damo_op *op, const damo_var *x) {
  if (!dtype_is_complex(var_dtype(x)) && var_dtype(x) != DAMO_BOOL) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: values of dtype %s can't be drawn from", op->def->name,
                  dtype_name(var_dtype(x)));
}

static damo_status sp_draw_give_like(const damo_op *op, damo_type **out, const damo_var *x) {
  DAMO_TRY(sp_draw_need_real(op, x));
  out[0] = type_random(op->obj.ctx);
  if (out[0] == NULL) return damo_error_status(op->obj.ctx);
  return type_give_like(op, out + 1, x, var_dtype(x));
}

/* ---- Poisson ----------------------------------------------------------------------------------------------------- */

static damo_status sp_poisson_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(sp_draw_need_state(op, in));
  DAMO_TRY(type_need_sparse(op, in, 1));
  return sp_draw_give_like(op, out, in[1]);
}

#define SP_DRAW_PART 32 /* draws between two points */

static damo_status sp_poisson_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 1);
  philox_state state = random_state_read(thunk_in(t, f, 0));
  double *v = sp_draw_read_values(t, f, x);
  if (v == NULL) return DAMO_EMEMORY;
  for (int64_t p = 0; p < sparse_nnz(x); p++) {
    if (!(v[p] >= 0 && v[p] <= 0x1p62)) {
      return ctx_fail(f->ctx, DAMO_EVALUE, "Poisson: a mean must be 0 or more, stored entry %lld is %g",
                      (long long)p + 1, number_shown(v[p]));
    }
    philox_words words = philox_words_of(&state, (uint64_t)p);
    v[p] = draw_poisson(&words, v[p]);
    ctx_point_each(f->ctx, p, SP_DRAW_PART);
  }
  philox_advance(&state, (uint64_t)sparse_nnz(x));
  return sp_draw_give(t, f, &state, sp_draw_on_pattern(x, v, sparse_dtype(x)));
}

static damo_status sp_draw_like_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  for (int k = 0; k < 2; k++) out_shape[1][k] = in_shape[node->n_in - 1][k];
  return b->status;
}

static const op_def sp_poisson_def = {
    .name = "Poisson",
    .doc = "integers from Poisson distributions whose means a sparse matrix stores; and the generator's next state",
    .n_in = 2,
    .n_out = 2,
    .infer_type = sp_poisson_type,
    .perform = sp_poisson_perform,
    .grad = sp_draw_grad,
    .rop = sp_draw_rop,
    .infer_shape = sp_draw_like_shape,
    .connection_pattern = sp_draw_connect,
    .pattern = PATTERN_JOINS,
    .no_check = "a draw has no other definition: spec/sparse/draw_spec.lua has its moments and known draws",
};

/* ---- Multinomial ------------------------------------------------------------------------------------------------- */

static damo_status sp_multinomial_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  char text[256];
  damo_ctx *ctx = op->obj.ctx;
  DAMO_TRY(sp_draw_need_state(op, in));
  if (!type_is_tensor(in[1]->type) || var_ndim(in[1]) > 1 || !dtype_is_integer(var_dtype(in[1]))) {
    return ctx_fail(ctx, DAMO_ETYPE, "Multinomial: n must be an integer or a vector of them, got %s",
                    type_format(text, sizeof text, in[1]->type));
  }
  DAMO_TRY(type_need_sparse(op, in, 2));
  if (var_format_of(in[2]) != DAMO_CSR || !dtype_is_float(var_dtype(in[2]))) {
    return ctx_fail(ctx, DAMO_ETYPE, "Multinomial: p must be a csr matrix of floats, got %s",
                    type_format(text, sizeof text, in[2]->type));
  }
  if (var_ndim(in[1]) == 1) DAMO_TRY(type_need_same_length(op, in, 1, 0, 2, 0));
  return sp_draw_give_like(op, out, in[2]);
}

/* Distributes n draws over the probabilities p[0, m) by conditional binomial draws; p becomes the counts. The last
 * entry takes the rest: its probability is 1 less the others'. Entry k takes the words of block k from the state on. */
static void sp_multinomial_draw_row(philox_state state, double n, double *p, int64_t m) {
  double rest = 1;
  for (int64_t k = 0; k < m; k++) {
    const double probability = p[k], share = rest > 0 ? probability / rest : 1;
    philox_words words = philox_words_of(&state, (uint64_t)k);
    p[k] = k == m - 1 ? n : draw_binomial(&words, n, share < 1 ? share : 1);
    n -= p[k];
    rest -= probability;
  }
}

/* Value error unless the probabilities p[0, m) are 0 or more and add up to at most 1 + slack, the rounding of their
 * dtype. */
static damo_status sp_multinomial_check_row(damo_ctx *ctx, int64_t row, const double *p, int64_t m, double slack) {
  double sum = 0;
  for (int64_t k = 0; k < m; k++) {
    if (!(p[k] >= 0)) {
      return ctx_fail(ctx, DAMO_EVALUE, "Multinomial: a probability must be 0 or more, row %lld has %g",
                      (long long)row + 1, number_shown(p[k]));
    }
    sum += p[k];
  }
  if (sum <= 1 + slack) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "Multinomial: the probabilities of row %lld add up to %.9g, more than 1",
                  (long long)row + 1, sum);
}

static int64_t sp_multinomial_row_start(const damo_sparse *x, int64_t i) {
  if (sparse_is_wide(x)) return ((const int64_t *)(const void *)x->indptr->data)[i];
  return ((const int32_t *)(const void *)x->indptr->data)[i];
}

static damo_status sp_multinomial_perform(const thunk *t, frame *f) {
  const damo_array *n = thunk_in(t, f, 1);
  const damo_sparse *x = thunk_in_sparse(t, f, 2);
  const double slack = sparse_dtype(x) == DAMO_FLOAT32 ? 1e-5 : 1e-12;
  philox_state state = random_state_read(thunk_in(t, f, 0));
  if (n->ndim == 1 && array_size(n) != x->shape[0]) {
    return ctx_fail(f->ctx, DAMO_ESHAPE, "Multinomial: n has %lld entries for the %lld rows of p",
                    (long long)array_size(n), (long long)x->shape[0]);
  }
  int64_t since = 0;
  double *v = sp_draw_read_values(t, f, x);
  if (v == NULL) return DAMO_EMEMORY;
  for (int64_t i = 0; i < x->shape[0]; i++) {
    const int64_t from = sp_multinomial_row_start(x, i), m = sp_multinomial_row_start(x, i + 1) - from;
    const int64_t count = scalar_to_int64(n->ndim == 0 ? array_item(n) : array_get(n, &i));
    if (count < 0) return ctx_fail(f->ctx, DAMO_EVALUE, "Multinomial: n must be 0 or more, got %lld", (long long)count);
    DAMO_TRY(sp_multinomial_check_row(f->ctx, i, v + from, m, slack));
    sp_multinomial_draw_row(state, (double)count, v + from, m);
    philox_advance(&state, (uint64_t)m);
    ctx_point_after(f->ctx, &since, m + 1, SP_DRAW_PART);
  }
  return sp_draw_give(t, f, &state, sp_draw_on_pattern(x, v, sparse_dtype(x)));
}

static const op_def sp_multinomial_def = {
    .name = "Multinomial",
    .doc =
        "n draws for each row of a csr matrix of probabilities, counted at its stored positions; and the generator's "
        "next state",
    .n_in = 3,
    .n_out = 2,
    .infer_type = sp_multinomial_type,
    .perform = sp_multinomial_perform,
    .grad = sp_draw_grad,
    .rop = sp_draw_rop,
    .infer_shape = sp_draw_like_shape,
    .connection_pattern = sp_draw_connect,
    .pattern = PATTERN_JOINS,
    .no_check = "a draw has no other definition: spec/sparse/draw_spec.lua has its moments and known draws",
};

/* ---- Binomial ---------------------------------------------------------------------------------------------------- */

static damo_format sp_binomial_format(const damo_op *op) {
  damo_format f = DAMO_CSR;
  const prop_value *v = &OP_PROPS(op, sp_binomial_props)->format;
  if (v->kind != PROP_NIL) format_check(op->obj.ctx, "Binomial", v, &f);
  return f;
}

static damo_dtype sp_binomial_dtype(const damo_op *op) {
  damo_dtype dtype = op->obj.ctx->config.floatX;
  const prop_value *v = &OP_PROPS(op, sp_binomial_props)->dtype;
  if (v->kind == PROP_STR) damo_dtype_from_name(v->u.s, &dtype);
  return dtype;
}

static damo_status sp_binomial_init(damo_op *op) {
  damo_format f;
  damo_dtype dtype = DAMO_FLOAT64;
  const prop_value *format = &OP_PROPS(op, sp_binomial_props)->format, *v = &OP_PROPS(op, sp_binomial_props)->dtype;
  if (format->kind != PROP_NIL) DAMO_TRY(format_check(op->obj.ctx, "Binomial", format, &f));
  const bool known = v->kind == PROP_NIL || (v->kind == PROP_STR && damo_dtype_from_name(v->u.s, &dtype));
  if (known && !dtype_is_complex(dtype) && dtype != DAMO_BOOL) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE, "Binomial: dtype must be the name of a real dtype, got '%s'",
                  v->kind == PROP_STR ? v->u.s : "another value");
}

static damo_status sp_binomial_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  int64_t shape[2] = {-1, -1};
  damo_ctx *ctx = op->obj.ctx;
  DAMO_TRY(sp_draw_need_state(op, in));
  DAMO_TRY(type_need_dense(op, in, 1, 0));
  DAMO_TRY(type_need_dense(op, in, 2, 0));
  DAMO_TRY(type_need_dense(op, in, 3, 1));
  if (!dtype_is_integer(var_dtype(in[1])) || !dtype_is_integer(var_dtype(in[3])) || dtype_is_complex(var_dtype(in[2])))
    return ctx_fail(ctx, DAMO_ETYPE, "Binomial: n and the shape are integers, p is a real number");
  const damo_array *known = var_constant_array(in[3]);
  for (int64_t k = 0; known != NULL && array_size(known) == 2 && k < 2; k++) {
    shape[k] = scalar_to_int64(array_get(known, &k));
    if (shape[k] < 0)
      return ctx_fail(ctx, DAMO_ESHAPE, "Binomial: a length must be 0 or more, got %lld", (long long)shape[k]);
  }
  out[0] = type_random(ctx);
  if (out[0] == NULL) return damo_error_status(ctx);
  return type_give_sparse(op, out + 1, sp_binomial_format(op), sp_binomial_dtype(op), DAMO_INT32, shape[0], shape[1]);
}

/* Converts literals and lists to the Types that the Op takes. */
static damo_apply *sp_binomial_node(build *b, damo_op *op, damo_var *const *in, int n_in) {
  damo_type *out[2] = {NULL, NULL};
  if (n_in != 4) return build_fail(b, DAMO_ETYPE, "Binomial: expected rng, n, p and the shape"), NULL;
  damo_var *own[4] = {in[0], build_integer(b, "Binomial", "n", in[1]), build_strong(b, in[2]),
                      build_integer(b, "Binomial", "the shape", in[3])};
  if (own[2] != NULL && !dtype_is_float(var_dtype(own[2])) && dtype_is_discrete(var_dtype(own[2])))
    own[2] = build_cast(b, own[2], DAMO_FLOAT64);
  if (b->status != DAMO_OK) return NULL;
  damo_apply *node = sp_binomial_type(op, own, 4, out) == DAMO_OK ? apply_new(b->ctx, op, own, 4, out, 2) : NULL;
  damo_release(out[0]);
  damo_release(out[1]);
  return node;
}

typedef struct binomial_call {
  double n, p, log_none; /* log of the probability of a 0: at most 0 */
  int64_t shape[2], total, minor;
} binomial_call;

static damo_status sp_binomial_read(const thunk *t, frame *f, binomial_call *c) {
  const damo_array *shape = thunk_in(t, f, 3);
  const int64_t n = array_int(thunk_in(t, f, 1));
  c->p = scalar_to_double(array_item(thunk_in(t, f, 2)));
  if (n < 0) return ctx_fail(f->ctx, DAMO_EVALUE, "Binomial: n must be 0 or more, got %lld", (long long)n);
  if (!(c->p >= 0 && c->p <= 1))
    return ctx_fail(f->ctx, DAMO_EVALUE, "Binomial: p must lie between 0 and 1, got %g", number_shown(c->p));
  if (array_size(shape) != 2)
    return ctx_fail(f->ctx, DAMO_ESHAPE, "Binomial: the shape has %lld entries, not 2", (long long)array_size(shape));
  for (int64_t k = 0; k < 2; k++) {
    c->shape[k] = scalar_to_int64(array_get(shape, &k));
    if (c->shape[k] >= 0 && c->shape[k] < INT64_MAX) continue;
    return ctx_fail(f->ctx, DAMO_ESHAPE, "Binomial: a length must be 0 or more, got %lld", (long long)c->shape[k]);
  }
  if (!i64_mul(c->shape[0], c->shape[1], &c->total)) {
    return ctx_fail(f->ctx, DAMO_EVALUE, "Binomial: shape (%lld, %lld) has more than 2^63 - 1 elements",
                    (long long)c->shape[0], (long long)c->shape[1]);
  }
  c->n = (double)n;
  c->log_none = n > 0 && c->p > 0 ? c->n * draw_log1p(-c->p) : 0;
  return DAMO_OK;
}

/* The number, in the order of storage, of the next element after `place` that is not 0; c->total when there is none.
 * The zeros between two such elements are geometrically distributed. */
static int64_t sp_binomial_next_place(const binomial_call *c, philox_words *words, int64_t place) {
  const int64_t left = c->total - place - 1;
  if (!(c->log_none < 0) || left <= 0) return c->total;
  const double gap = floor(draw_log(1 - philox_unit(words)) / c->log_none);
  return gap < (double)left && (int64_t)gap < left ? place + 1 + (int64_t)gap : c->total;
}

#define BINOMIAL_ENTRY_BYTES 24.0 /* bytes for each entry as it is drawn: major and minor index and value */
#define BINOMIAL_SURE_ENTRIES 1e6 /* so few are drawn without a check of memory */

/* Memory error where the expected entries, less eight standard deviations, do not fit: before they are counted, which
 * takes time for each of them. */
static damo_status sp_binomial_check_memory(damo_ctx *ctx, const binomial_call *c) {
  const double expected = -draw_expm1(c->log_none) * (double)c->total, least = expected - 8 * sqrt(expected);
  const double bytes = least * BINOMIAL_ENTRY_BYTES;
  if (!(least > BINOMIAL_SURE_ENTRIES)) return DAMO_OK;
  void *trial = bytes < 0x1p62 ? mem_alloc(ctx, (size_t)bytes) : NULL;
  if (trial != NULL) {
    mem_free(ctx, trial, (size_t)bytes);
    return DAMO_OK;
  }
  return ctx_fail(
      ctx, DAMO_EMEMORY,
      "Binomial: out of memory: about %.3g of the elements of shape (%lld, %lld) would not be 0, which takes "
      "%.3g bytes; use a smaller shape, n or p",
      expected, (long long)c->shape[0], (long long)c->shape[1], bytes);
}

static int64_t sp_binomial_count_places(damo_ctx *ctx, const binomial_call *c, const philox_state *state) {
  int64_t n = 0, at = -1;
  for (;; n++) {
    philox_words words = philox_words_of(state, (uint64_t)n);
    at = sp_binomial_next_place(c, &words, at);
    if (at >= c->total) return n;
    ctx_point_each(ctx, n, SP_DRAW_PART);
  }
}

/* Entry k takes the words of block k: the first for the gap before it, the others for its value. Gaps are drawn twice,
 * first to count. */
static damo_sparse *sp_binomial_draw(damo_ctx *ctx, const binomial_call *c, damo_format format, damo_dtype dtype,
                                     philox_state *state) {
  const int64_t n = sp_binomial_count_places(ctx, c, state), minor = c->shape[format == DAMO_CSR];
  damo_array *major_at = array_empty(ctx, DAMO_INT64, 1, &n);
  damo_array *minor_at = major_at ? array_empty(ctx, DAMO_INT64, 1, &n) : NULL;
  damo_array *values = minor_at ? array_empty(ctx, DAMO_FLOAT64, 1, &n) : NULL;
  damo_array *cast = values;
  damo_sparse *out = NULL;
  if (values != NULL) {
    int64_t *major = (int64_t *)(void *)major_at->data, *minor_of = (int64_t *)(void *)minor_at->data, at = -1;
    double *v = (double *)(void *)values->data;
    for (int64_t k = 0; k < n; k++) {
      philox_words words = philox_words_of(state, (uint64_t)k);
      at = sp_binomial_next_place(c, &words, at);
      major[k] = at / minor;
      minor_of[k] = at % minor;
      v[k] = draw_binomial_positive(&words, c->n, c->p);
      ctx_point_each(ctx, k, SP_DRAW_PART);
    }
    cast = array_cast(values, dtype);
  }
  if (cast != NULL) {
    const int64_t *major = (const int64_t *)(void *)major_at->data, *minor_of = (const int64_t *)(void *)minor_at->data;
    const bool csr = format == DAMO_CSR;
    out = sparse_from_places(ctx, format, dtype, c->shape, n, csr ? major : minor_of, csr ? minor_of : major,
                             cast->data, DAMO_INT32, true);
    damo_release(cast);
  }
  if (c->total > 0) philox_advance(state, (uint64_t)n + 1);
  damo_release(major_at);
  damo_release(minor_at);
  damo_release(values);
  return out;
}

static damo_status sp_binomial_perform(const thunk *t, frame *f) {
  binomial_call c;
  philox_state state = random_state_read(thunk_in(t, f, 0));
  DAMO_TRY(sp_binomial_read(t, f, &c));
  DAMO_TRY(sp_binomial_check_memory(f->ctx, &c));
  const damo_var *drawn = t->node->out[1];
  damo_sparse *out = sp_binomial_draw(f->ctx, &c, var_format_of(drawn), var_dtype(drawn), &state);
  return sp_draw_give(t, f, &state, out);
}

static damo_status sp_binomial_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  (void)in_shape;
  for (int k = 0; k < 2; k++) out_shape[1][k] = build_index(b, node->in[3], 0, build_i64(b, k));
  return b->status;
}

/* n and the shape are integers. */
static damo_status sp_binomial_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  if (gout[1] != NULL) gin[2] = build_null(b, "a random draw has no derivative");
  return b->status;
}

static void sp_binomial_connect(const damo_apply *node, bool *connected) {
  for (int i = 0; i < node->n_in; i++) {
    connected[2 * i] = i == 0;
    connected[2 * i + 1] = i == 2;
  }
}

static const op_def sp_binomial_def = {
    .name = "Binomial",
    .doc = "integers from a binomial distribution for every element of a shape; and the generator's next state",
    .props = PROPS(PROP(sp_binomial_props, format), PROP(sp_binomial_props, dtype)),
    .n_in = 4,
    .n_out = 2,
    .init = sp_binomial_init,
    .infer_type = sp_binomial_type,
    .make_node = sp_binomial_node,
    .perform = sp_binomial_perform,
    .grad = sp_binomial_grad,
    .rop = sp_draw_rop,
    .infer_shape = sp_binomial_shape,
    .connection_pattern = sp_binomial_connect,
    .pattern = PATTERN_ONCE,
    .no_check = "a draw has no other definition: spec/sparse/draw_spec.lua has its moments and known draws",
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_give_draw(build *b, damo_apply *node, ptrvec *out) {
  if (node == NULL) return b->status;
  DAMO_TRY(ptrvec_push(out, node->out[0]));
  return ptrvec_push(out, node->out[1]);
}

static damo_status sp_fn_poisson(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[2] = {random_state_operand(b, a), sparse_operand(b, a, 1)};
  if (b->status != DAMO_OK) return b->status;
  return sp_fn_give_draw(b, build_apply(b, op_new(b->ctx, &sp_poisson_def, NULL), in, 2), out);
}

static damo_status sp_fn_multinomial(build *b, const fn_args *a, ptrvec *out) {
  damo_var *in[3] = {random_state_operand(b, a), build_integer(b, "multinomial", "n", a->in[1]),
                     sparse_operand(b, a, 2)};
  if (b->status != DAMO_OK) return b->status;
  return sp_fn_give_draw(b, build_apply(b, op_new(b->ctx, &sp_multinomial_def, NULL), in, 3), out);
}

/* The format and dtype of csr_fbinomial and its likes. */
typedef struct binomial_kind {
  const char *format, *dtype;
} binomial_kind;

static const binomial_kind sp_binomial_kinds[] = {
    {"csr", "float32"}, {"csr", "float64"}, {"csc", "float32"}, {"csc", "float64"}};

/* The option shape; the Type of a vector Variable need not say that it has two entries. */
static damo_var *sp_binomial_shape_operand(build *b, const fn_args *a) {
  const prop_value *v = &FN_OPTIONS(a, shape_options)->shape;
  damo_var *dims[DAMO_MAX_NDIM], *vector = v->kind == PROP_VAR ? v->u.var : NULL;
  int n = 0;
  if (v->kind == PROP_NIL) return build_fail(b, DAMO_ETYPE, "%s: the shape is missing", a->func->name);
  if (vector != NULL && type_is_tensor(vector->type) && var_ndim(vector) == 1 && vector->type->shape[0] < 0)
    return build_integer(b, a->func->name, "the shape", vector);
  if (shape_check(b, a->func->name, v, dims, &n) != DAMO_OK) return build_take(b, NULL);
  if (n != 2) return build_fail(b, DAMO_ESHAPE, "%s: the shape has %d lengths, not 2", a->func->name, n);
  return build_vector(b, dims, 2);
}

static damo_status sp_fn_binomial(build *b, const fn_args *a, ptrvec *out) {
  const binomial_kind *kind = a->func->data;
  const sp_binomial_props props = {.format = prop_str(kind->format), .dtype = prop_str(kind->dtype)};
  damo_var *in[4] = {random_state_operand(b, a), a->in[1], a->in[2], NULL};
  if (b->status == DAMO_OK) in[3] = sp_binomial_shape_operand(b, a);
  if (b->status != DAMO_OK) return b->status;
  return sp_fn_give_draw(b, build_apply(b, op_new(b->ctx, &sp_binomial_def, &props), in, 4), out);
}

#define BINOMIAL(own, i, form, dt)                                                                          \
  {                                                                                                         \
    .name = "sparse." own, .operands = "rng n p", .options = OPTIONS(OPT(shape_options, shape, OPT_SHAPE)), \
    .call = sp_fn_binomial, .data = &sp_binomial_kinds[i], .no_method = true,                               \
    .doc = "binomial draws over a shape as " form ", " dt "; with rng it gives the next state and the draw" \
  }

const op_func sparse_draw_funcs[] = {
    {.name = "sparse.poisson",
     .operands = "rng x",
     .call = sp_fn_poisson,
     .no_method = true,
     .doc = "Poisson draws whose means are x's stored values; with rng it gives the next state and the draw"},
    {.name = "sparse.multinomial",
     .operands = "rng n p",
     .call = sp_fn_multinomial,
     .no_method = true,
     .doc = "n draws (a number, or one for each row) over the stored probabilities of each row of p, csr; with rng it "
            "gives the "
            "next state and the counts"},
    BINOMIAL("csr_fbinomial", 0, "csr", "float32"),
    BINOMIAL("csr_dbinomial", 1, "csr", "float64"),
    BINOMIAL("csc_fbinomial", 2, "csc", "float32"),
    BINOMIAL("csc_dbinomial", 3, "csc", "float64"),
    {.name = NULL},
};

const op_def *const sparse_draw_classes[] = {&sp_poisson_def, &sp_multinomial_def, &sp_binomial_def, NULL};

#undef BINOMIAL
