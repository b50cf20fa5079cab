/* segment: reductions over segments. Entry i along the first axis of x belongs to segment ids[i]; ids count from 1 and
 * need not be sorted.
 *
 * SegmentReduce{kind}(x, ids, n): row k of the result is the sum, product, maximum or minimum of the rows of x in
 * segment k = 1 … n. Each result is folded in the order of the entries, by one thread, so its bits depend on nothing
 * else. A segment without entries gives 0, 1, -inf and inf (of integers the least and the greatest). Functions convert
 * integers to int64 or uint64 first for sums and products, as sum does.
 * SegmentCount(ids, n): the number of entries of each segment. SegmentLength(ids, least): the greatest of all.
 */
#include "graph/c_emit.h"
#include "segment_int.h"
#include "kernel/kernel.h"
#include "op/batch.h"

#include <string.h>

static const char *const kind_names[] = {"sum", "prod", "max", "min", NULL};

segment_kind segment_kind_of(const damo_op *op) {
  int kind = 0;
  while (strcmp(kind_names[kind], OP_PROPS(op, segment_props)->kind.u.s) != 0) kind++;
  return (segment_kind)kind;
}

const char *segment_kind_name(segment_kind kind) { return kind_names[kind]; }

/* Of vectors of ids and of counts. */
static bool is_int64(const damo_var *v, int ndim) {
  return type_is_tensor(v->type) && var_ndim(v) == ndim && var_dtype(v) == DAMO_INT64;
}

/* The ids, contiguous: the input's memory, or a copy in scratch, which has space for them. */
static const int64_t *contiguous_ids(const frame *f, const damo_array *ids, void *scratch) {
  if (array_is_contiguous(ids)) return (const int64_t *)(const void *)ids->data;
  array_copy_box(f->ctx, ids->data, array_strides(ids), scratch, NULL, ids->ndim, array_shape(ids), sizeof(int64_t));
  return scratch;
}

static damo_status bad_id(frame *f, const char *func, const int64_t *ids, int64_t at, int64_t n) {
  return ctx_fail(f->ctx, DAMO_EINDEX, "%s: id %lld at position %lld is outside 1 … %lld", func, (long long)ids[at],
                  (long long)at + 1, (long long)n);
}

/* ---- SegmentReduce ----------------------------------------------------------------------------------------------- */

static damo_status segment_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  const segment_kind kind = segment_kind_of(op);
  const damo_type *x = in[0]->type;
  int64_t shape[DAMO_MAX_NDIM];
  if (!type_is_tensor(x) || x->ndim < 1 || !is_int64(in[1], 1) || !is_int64(in[2], 0))
    return ctx_fail(ctx, DAMO_ETYPE,
                    "segment_%s: expected a tensor with an axis, a vector of integer ids, and a number",
                    kind_names[kind]);
  if (segment_fold(kind, x->dtype) == NULL)
    return ctx_fail(ctx, DAMO_ETYPE, "segment_%s is not defined for %s", kind_names[kind], dtype_name(x->dtype));
  const int64_t entries = x->shape[0], ids = in[1]->type->shape[0];
  if (entries >= 0 && ids >= 0 && entries != ids)
    return ctx_fail(ctx, DAMO_ESHAPE, "segment_%s: %lld ids for %lld entries along the first axis", kind_names[kind],
                    (long long)ids, (long long)entries);
  memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
  DAMO_TRY(static_dims(ctx, "segment: num_segments", in + 2, 1, shape));
  out[0] = type_tensor(ctx, x->dtype, x->ndim, shape);
  return out[0] ? DAMO_OK : damo_error_status(ctx);
}

static damo_status segment_perform(const thunk *t, frame *f) {
  const segment_kind kind = segment_kind_of(t->node->op);
  const damo_array *x = thunk_in(t, f, 0), *ids = thunk_in(t, f, 1);
  const int64_t n = array_shape(ids)[0];
  const size_t size = dtype_size(x->dtype);
  const bool x_here = array_is_contiguous(x), ids_here = array_is_contiguous(ids);
  int64_t shape[DAMO_MAX_NDIM], width = 1;
  char func[16] = "segment_";
  strcat(func, kind_names[kind]);
  if (array_shape(x)[0] != n)
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: %lld ids for %lld entries along the first axis", func, (long long)n,
                    (long long)array_shape(x)[0]);
  memcpy(shape, array_shape(x), (size_t)x->ndim * sizeof *shape);
  DAMO_TRY(thunk_dims(t, f, func, 2, 1, shape));
  for (int i = 1; i < x->ndim; i++) width *= shape[i];
  const size_t ids_size = ids_here ? 0 : (size_t)n * sizeof(int64_t);
  char *scratch = thunk_scratch(t, f, ids_size + (x_here ? 0 : (size_t)array_size(x) * size) + 64);
  damo_array *out = scratch ? thunk_out(t, f, 0, array_dtype(x), x->ndim, shape) : NULL;
  if (!out) return damo_error_status(f->ctx);
  const int64_t *at = contiguous_ids(f, ids, scratch);
  const char *rows = x->data;
  if (!x_here) {
    array_copy_box(f->ctx, x->data, array_strides(x), scratch + ids_size, NULL, x->ndim, array_shape(x), size);
    rows = scratch + ids_size;
  }
  segment_clear(f->ctx, kind, array_dtype(x), out->data, array_size(out));
  const int64_t bad = segment_run(f->ctx, kind, array_dtype(x), at, n, rows, width, out->data, shape[0]);
  return bad < 0 ? DAMO_OK : bad_id(f, func, at, bad, shape[0]);
}

/* Row ids[i] of v for each entry i. */
static damo_var *of_each(build *b, const damo_apply *node, damo_var *v) {
  return build_take_axis(b, v, node->in[1], 0);
}

/* The derivative of a product by an entry is the product of the segment's other entries. Let p be the product of the
 * entries that are not 0, and n the number of zeros: it is p / x_i where n = [x_i = 0], with zeros read as 1 in the
 * quotient, and 0 elsewhere. */
static damo_var *segment_prod_derivative(build *b, const damo_apply *node) {
  damo_var *x = node->in[0], *ids = node->in[1], *n = node->in[2];
  damo_var *is_zero = build_eq(b, x, build_num(b, 0));
  damo_var *safe = build_switch(b, is_zero, build_num(b, 1), x);
  damo_var *p = of_each(b, node, build_segment(b, SEGMENT_PROD, safe, ids, n));
  damo_var *one_at_zero = build_cast(b, is_zero, DAMO_INT64);
  damo_var *zeros = of_each(b, node, build_segment(b, SEGMENT_SUM, one_at_zero, ids, n));
  return build_switch(b, build_eq(b, zeros, one_at_zero), build_true_div(b, p, safe), build_num(b, 0));
}

static damo_status segment_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0];
  if (gout[0] == NULL) return DAMO_OK;
  if (dtype_is_discrete(var_dtype(node->out[0]))) {
    gin[0] = build_zero_grad(b, x);
    return b->status;
  }
  const segment_kind kind = segment_kind_of(node->op);
  damo_var *g = of_each(b, node, gout[0]);
  if (kind == SEGMENT_PROD) g = build_mul(b, g, build_conj_if_complex(b, segment_prod_derivative(b, node)));
  if (kind == SEGMENT_MAX || kind == SEGMENT_MIN)
    g = build_switch(b, build_eq(b, x, of_each(b, node, node->out[0])), g, build_num(b, 0));
  gin[0] = g;
  return b->status;
}

static damo_status segment_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *x = node->in[0], *e = eval[0];
  if (e == NULL) return DAMO_OK;
  if (dtype_is_discrete(var_dtype(node->out[0]))) {
    rout[0] = build_zero_grad(b, node->out[0]);
    return b->status;
  }
  const segment_kind kind = segment_kind_of(node->op);
  if (kind == SEGMENT_PROD) e = build_mul(b, e, segment_prod_derivative(b, node));
  if (kind == SEGMENT_MAX || kind == SEGMENT_MIN)
    e = build_switch(b, build_eq(b, x, of_each(b, node, node->out[0])), e, build_num(b, 0));
  rout[0] = build_segment(b, SEGMENT_SUM, e, node->in[1], node->in[2]);
  return b->status;
}

static damo_status segment_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                       damo_var ***out_shape) {
  out_shape[0][0] = node->in[2];
  for (int i = 1; i < var_ndim(node->in[0]); i++) out_shape[0][i] = in_shape[0][i];
  return b->status;
}

/* With ids that all entries of the batch share, the leading axes go behind the axis of the entries: its rows are longer
 * then. */
static damo_status segment_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  if (batched[1] || batched[2]) return DAMO_OK;
  damo_var *x = batch_move_axis(b, in[0], k, 0);
  damo_var *y = build_segment(b, segment_kind_of(node->op), x, in[1], in[2]);
  out[0] = y ? batch_move_axis(b, y, 0, k) : NULL;
  return b->status;
}

static damo_status segment_init(damo_op *op) {
  op->terms = segment_kind_of(op) == SEGMENT_SUM ? TERMS_LINEAR : TERMS_UNKNOWN;
  return DAMO_OK;
}

void segment_emit_fold(c_emit *e, segment_kind kind, const c_value *ids, const c_value *x, const c_value *out,
                       int64_t width, bool count) {
  const char *type = ce_type(out->dtype);
  const bool is_float = dtype_is_float(out->dtype);
  const int64_t n = ce_size(ids);
  if (n == 0) return;
  ce_for(e, "i", n);
  ce_line(e, "const int64_t id = %s[i];", ce_p(e, ids));
  ce_fail_if(e, "id < 1 || id > %lld", (long long)out->shape[0]);
  if (count) {
    ce_line(e, "%s[id - 1]++;", ce_p(e, out));
  } else if (width > 0) {
    ce_for(e, "k", width);
    ce_line(e, "%s *const to = %s + (id - 1) * %lld + k;", type, ce_p(e, out), (long long)width);
    ce_line(e, "const %s a = *to, b = %s[i * %lld + k];", type, ce_p(e, x), (long long)width);
    if (kind == SEGMENT_MAX || kind == SEGMENT_MIN)
      ce_line(e, "*to = !(a %c b)%s ? a : b;", kind == SEGMENT_MAX ? '<' : '>', is_float ? " && b == b" : "");
    else if (is_float)
      ce_line(e, "*to = a %c b;", kind == SEGMENT_SUM ? '+' : '*');
    else
      ce_line(e, "*to = (%s)((uint64_t)a %c (uint64_t)b);", type, kind == SEGMENT_SUM ? '+' : '*');
    ce_close(e);
  }
  ce_close(e);
}

static damo_status segment_emit_c(c_emit *e, const damo_apply *node) {
  const segment_kind kind = segment_kind_of(node->op);
  const c_value *x = ce_contiguous(e, ce_in(e, 0)), *ids = ce_contiguous(e, ce_in(e, 1));
  int64_t shape[DAMO_MAX_NDIM], width = 1;
  if (x == NULL || ids == NULL) return e->status;
  if (x->shape[0] != ids->shape[0]) return ce_refuse(e, "there are not as many ids as entries");
  if (dtype_is_complex(x->dtype)) return ce_refuse(e, "complex numbers");
  memcpy(shape, x->shape, sizeof shape);
  DAMO_TRY(ce_int(e, 2, "a number of segments", &shape[0]));
  for (int k = 1; k < x->ndim; k++) width *= shape[k];
  const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), x->ndim, shape);
  char empty[8];
  if (out == NULL) return e->status;
  segment_clear(node->op->obj.ctx, kind, out->dtype, empty, 1);
  ce_fill(e, out, ce_number(e, out->dtype, scalar_load(out->dtype, empty)));
  segment_emit_fold(e, kind, ids, x, out, width, false);
  return e->status;
}

const op_def segment_def = {
    .name = "SegmentReduce",
    .doc = "sum, product, maximum or minimum of the rows of each segment",
    .props = PROPS(PROP_WORD(segment_props, kind, "sum", "prod", "max", "min")),
    .n_in = 3,
    .init = segment_init,
    .infer_type = segment_infer_type,
    .perform = segment_perform,
    .emit_c = segment_emit_c,
    .grad = segment_grad,
    .rop = segment_rop,
    .infer_shape = segment_infer_shape,
    .batch = segment_batch,
    .connection_pattern = connect_first,
    .nonfinite = NONFINITE_INFINITE,
    OP_CHECK(segment_check),
};

damo_var *build_segment(build *b, segment_kind kind, damo_var *x, damo_var *ids, damo_var *n) {
  if (!x || !ids || !n || b->status != DAMO_OK) return NULL;
  const segment_props p = {.kind = prop_str(kind_names[kind])};
  damo_var *const in[3] = {x, ids, n};
  return build_op(b, op_new(b->ctx, &segment_def, &p), in, 3);
}

/* ---- SegmentCount, SegmentLength --------------------------------------------------------------------------------- */

static damo_status count_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  int64_t n;
  if (!is_int64(in[0], 1) || !is_int64(in[1], 0))
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: expected a vector of integer ids and a number", op->def->name);
  DAMO_TRY(static_dims(op->obj.ctx, "segment: num_segments", in + 1, 1, &n));
  out[0] = type_tensor(op->obj.ctx, DAMO_INT64, 1, &n);
  return out[0] ? DAMO_OK : damo_error_status(op->obj.ctx);
}

static damo_status count_perform(const thunk *t, frame *f) {
  const damo_array *ids = thunk_in(t, f, 0);
  int64_t n, length = array_shape(ids)[0];
  DAMO_TRY(thunk_dims(t, f, "segment: num_segments", 1, 1, &n));
  void *scratch = thunk_scratch(t, f, array_is_contiguous(ids) ? 1 : (size_t)length * sizeof(int64_t));
  damo_array *out = scratch ? thunk_out(t, f, 0, DAMO_INT64, 1, &n) : NULL;
  if (!out) return damo_error_status(f->ctx);
  const int64_t *at = contiguous_ids(f, ids, scratch);
  array_zero_bytes(f->ctx, out->data, (size_t)n * sizeof(int64_t));
  const int64_t bad = segment_count(f->ctx, at, length, (int64_t *)(void *)out->data, n);
  return bad < 0 ? DAMO_OK : bad_id(f, "bincount", at, bad, n);
}

static damo_status count_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  (void)in_shape;
  out_shape[0][0] = node->in[1];
  return b->status;
}

static damo_status segment_count_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *ids = ce_contiguous(e, ce_in(e, 0));
  int64_t n;
  (void)node;
  DAMO_TRY(ce_int(e, 1, "a number of segments", &n));
  const c_value *out = ce_out(e, 0, DAMO_INT64, 1, &n);
  if (out == NULL || ids == NULL) return e->status;
  ce_fill(e, out, "0");
  segment_emit_fold(e, SEGMENT_SUM, ids, NULL, out, 1, true);
  return e->status;
}

static const op_def segment_count_def = {
    .name = "SegmentCount",
    .doc = "the number of entries of each segment",
    .n_in = 2,
    .infer_type = count_infer_type,
    .perform = count_perform,
    .emit_c = segment_count_emit_c,
    .grad = grad_none,
    .infer_shape = count_infer_shape,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/segment.lua has results by hand and from plain loops",
};

damo_var *build_segment_count(build *b, damo_var *ids, damo_var *n) {
  damo_var *const in[2] = {ids, n};
  if (!ids || !n || b->status != DAMO_OK) return NULL;
  return build_op(b, op_new(b->ctx, &segment_count_def, NULL), in, 2);
}

static damo_status length_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  if (!type_is_tensor(in[0]->type) || var_dtype(in[0]) != DAMO_INT64 || !is_int64(in[1], 0))
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "SegmentLength: expected integer ids and a number");
  out[0] = type_tensor(op->obj.ctx, DAMO_INT64, 0, NULL);
  return out[0] ? DAMO_OK : damo_error_status(op->obj.ctx);
}

#define LENGTH_PART 8192 /* ids between two points */

static damo_status length_perform(const thunk *t, frame *f) {
  const damo_array *ids = thunk_in(t, f, 0);
  damo_array *out = thunk_out(t, f, 0, DAMO_INT64, 0, NULL);
  if (!out) return damo_error_status(f->ctx);
  int64_t most = array_int(thunk_in(t, f, 1));
  array_rows r;
  for (char *p = rows_begin(&r, ids); p; p = rows_next(&r, p)) {
    for (int64_t k = 0; k < r.length; k++) {
      const int64_t id = *(const int64_t *)(const void *)(p + k * r.step);
      most = id > most ? id : most;
      ctx_point_each(f->ctx, k, LENGTH_PART);
    }
  }
  *(int64_t *)(void *)out->data = most;
  return DAMO_OK;
}

static const op_def segment_length_def = {
    .name = "SegmentLength",
    .doc = "the greatest of integers, and of one more",
    .n_in = 2,
    .infer_type = length_infer_type,
    .perform = length_perform,
    .grad = grad_none,
    .infer_shape = infer_shape_scalars,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/segment.lua has results by hand and from plain loops",
};

damo_var *build_segment_length(build *b, damo_var *ids, damo_var *least) {
  damo_var *const in[2] = {ids, least};
  if (!ids || !least || b->status != DAMO_OK) return NULL;
  return build_op(b, op_new(b->ctx, &segment_length_def, NULL), in, 2);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct segment_options {
  prop_value num_segments, minlength;
} segment_options;

/* The operands of a call: x, the ids, and their number: that of the option, else the greatest id. */
static damo_status segment_call(build *b, const fn_args *a, damo_var **x, damo_var **ids, damo_var **n) {
  const prop_value given = FN_OPTIONS(a, segment_options)->num_segments;
  damo_var *dims[DAMO_MAX_NDIM];
  int count = 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  *x = build_strong(b, a->in[0]);
  *ids = build_integer(b, a->func->name, "the ids", a->in[1]);
  if (!*x || !*ids) return b->status;
  if (var_ndim(*x) < 1 || var_ndim(*ids) != 1)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: expected a tensor with an axis and a vector of ids, got %d and %d axes",
                    a->func->name, var_ndim(*x), var_ndim(*ids));
  if (!prop_given(given)) {
    *n = build_segment_length(b, *ids, build_i64(b, 0));
    return b->status;
  }
  DAMO_TRY(shape_check(b, a->func->name, &given, dims, &count));
  if (count != 1) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: num_segments is one integer", a->func->name);
  *n = dims[0];
  return DAMO_OK;
}

static damo_status fn_segment(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *ids, *n;
  int kind = 0;
  DAMO_TRY(segment_call(b, a, &x, &ids, &n));
  while (strcmp(kind_names[kind], a->func->name + strlen("segment_")) != 0) kind++;
  if (kind == SEGMENT_SUM || kind == SEGMENT_PROD) x = build_cast(b, x, reduce_out_dtype(REDUCE_SUM, var_dtype(x)));
  return fn_give(b, out, build_segment(b, (segment_kind)kind, x, ids, n));
}

/* The sum of each segment by the number of its entries; 0 where there are none. */
static damo_status fn_segment_mean(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *ids, *n;
  int pattern[DAMO_MAX_NDIM];
  DAMO_TRY(segment_call(b, a, &x, &ids, &n));
  if (dtype_is_discrete(var_dtype(x))) x = build_cast(b, x, DAMO_FLOAT64);
  damo_var *sum = build_segment(b, SEGMENT_SUM, x, ids, n);
  damo_var *count = build_maximum(b, build_segment_count(b, ids, n), build_int(b, 1));
  if (!sum || !count) return b->status;
  for (int i = 0; i < var_ndim(x); i++) pattern[i] = i ? -1 : 0;
  return fn_give(b, out,
                 build_true_div(b, sum, build_dimshuffle(b, build_cast(b, count, var_dtype(x)), pattern, var_ndim(x))));
}

static damo_status fn_bincount(build *b, const fn_args *a, ptrvec *out) {
  const int64_t least = prop_int_or(FN_OPTIONS(a, segment_options)->minlength, 0);
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_integer(b, "bincount", "the operand", a->in[0]);
  if (!x) return b->status;
  if (var_ndim(x) != 1)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "bincount: the operand must be a vector, got %d axes", var_ndim(x));
  if (least < 0) return ctx_fail(b->ctx, DAMO_EVALUE, "bincount: minlength is %lld", (long long)least);
  damo_var *n = build_segment_length(b, x, build_i64(b, least));
  if (a->n_in < 2 || !a->in[1]) return fn_give(b, out, build_segment_count(b, x, n));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  damo_var *weights = build_strong(b, a->in[1]);
  if (!weights) return b->status;
  if (var_ndim(weights) != 1)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "bincount: the weights must be a vector, got %d axes", var_ndim(weights));
  weights = build_cast(b, weights, reduce_out_dtype(REDUCE_SUM, var_dtype(weights)));
  return fn_give(b, out, build_segment(b, SEGMENT_SUM, weights, x, n));
}

const op_func segment_funcs[] = {
#define SEGMENT_ROW(row_name, function, text)                                                                 \
  {                                                                                                           \
    .name = row_name, .operands = "x ids", .options = OPTIONS(OPT(segment_options, num_segments, OPT_SHAPE)), \
    .call = function, .doc = text " along the first axis; ids from 1 to num_segments (default: the greatest)" \
  }
    SEGMENT_ROW("segment_sum", fn_segment, "the sum of the entries with each id"),
    SEGMENT_ROW("segment_prod", fn_segment, "the product of the entries with each id"),
    SEGMENT_ROW("segment_max", fn_segment, "the greatest of the entries with each id"),
    SEGMENT_ROW("segment_min", fn_segment, "the least of the entries with each id"),
    SEGMENT_ROW("segment_mean", fn_segment_mean, "the mean of the entries with each id, 0 of none,"),
#undef SEGMENT_ROW
    {.name = "bincount",
     .operands = "x [weights]",
     .options = OPTIONS(OPT(segment_options, minlength, OPT_INT)),
     .call = fn_bincount,
     .doc = "how often each of 1, 2 … occurs in a vector, or the sum of the weights at its places"},
    {.name = "scatter_add",
     .operands = "x ids values",
     .call = fn_scatter,
     .doc = "x with values added at positions along its first axis, repeated ones adding up"},
    {.name = "scatter_max",
     .operands = "x ids values",
     .call = fn_scatter,
     .doc = "the maximum of x and of the values at positions along its first axis"},
    {.name = "scatter_min",
     .operands = "x ids values",
     .call = fn_scatter,
     .doc = "the minimum of x and of the values at positions along its first axis"},
    {.name = NULL},
};

const op_def *const segment_classes[] = {&segment_def, &segment_count_def, &segment_length_def, &scatter_def, NULL};
