/* cumulative: cumsum and cumprod along an axis, argsort, and what is made of them: sort, diff.
 *
 * Cumulative (properties kind, axis, reverse): a running sum or product along a 1-based axis; with `reverse` it runs
 * from the end, as gradients need. Argsort (property axis): the 1-based positions that sort each 1-d slice along the
 * axis, stable, nan last. Functions convert integers to int64 or uint64 first, as sum does, so that the Op's result has
 * its operand's dtype.
 */
#include <string.h>

#include "graph/c_emit.h"
#include "op/op.h"
#include "op/complex_arith.h"
#include "op/elem/elem_c.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"
#include "loop/loop.h"
#include "kernel/kernel.h"
#include "kernel/sort.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#define PLUS(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))

#define T uint64_t /* wraps, as int64 does too */
#define SUFFIX _u64
#define ADD PLUS
#define MUL TIMES
#include "cumulative_body.h"

#define T float
#define SUFFIX _f32
#define ADD PLUS
#define MUL TIMES
#include "cumulative_body.h"

#define T double
#define SUFFIX _f64
#define ADD PLUS
#define MUL TIMES
#include "cumulative_body.h"

#define T damo_c64
#define SUFFIX _c64
#define ADD add_c64
#define MUL mul_c64
#include "cumulative_body.h"

#define T damo_c128
#define SUFFIX _c128
#define ADD add_c128
#define MUL mul_c128
#include "cumulative_body.h"

typedef struct scan_props {
  prop_value kind, axis, reverse;
} scan_props;

typedef void (*scan_fn)(const char *x, int64_t x_step, char *y, int64_t y_step, int64_t n, bool more);
static const scan_fn scan_kernels[2][DAMO_N_DTYPES] = {
    {[DAMO_INT64] = cumsum_u64,
     [DAMO_UINT64] = cumsum_u64,
     [DAMO_FLOAT32] = cumsum_f32,
     [DAMO_FLOAT64] = cumsum_f64,
     [DAMO_COMPLEX64] = cumsum_c64,
     [DAMO_COMPLEX128] = cumsum_c128},
    {[DAMO_INT64] = cumprod_u64,
     [DAMO_UINT64] = cumprod_u64,
     [DAMO_FLOAT32] = cumprod_f32,
     [DAMO_FLOAT64] = cumprod_f64,
     [DAMO_COMPLEX64] = cumprod_c64,
     [DAMO_COMPLEX128] = cumprod_c128},
};

/* ---- Cumulative -------------------------------------------------------------------------------------------------- */

static const op_def argsort_def;

/* Of a Cumulative or an Argsort. */
static int cumulative_axis(const damo_op *op) {
  const prop_value axis = op->def == &argsort_def ? OP_PROPS(op, axis_props)->axis : OP_PROPS(op, scan_props)->axis;
  return (int)axis.u.i - 1;
}

static bool is_cumprod(const damo_op *op) { return strcmp(OP_PROPS(op, scan_props)->kind.u.s, "cumprod") == 0; }
static bool is_reverse_scan(const damo_op *op) { return OP_PROPS(op, scan_props)->reverse.u.i != 0; }

static damo_status cumulative_init(damo_op *op) {
  op->terms = is_cumprod(op) ? TERMS_UNKNOWN : TERMS_LINEAR;
  return DAMO_OK;
}

static damo_status cumulative_check_operand(const damo_op *op, const damo_var *x) {
  if (type_is_tensor(x->type) && cumulative_axis(op) < var_ndim(x)) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: the operand must be a tensor with axis %d", op->def->name,
                  cumulative_axis(op) + 1);
}

static damo_status cumulative_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(cumulative_check_operand(op, in[0]));
  if (scan_kernels[0][var_dtype(in[0])] == NULL) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "Cumulative is not defined for %s", dtype_name(var_dtype(in[0])));
  }
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

#define CUMULATIVE_PART 16384 /* elements between two points */

static damo_status cumulative_perform(const thunk *t, frame *f) {
  const damo_op *op = t->node->op;
  const damo_array *x = thunk_in(t, f, 0);
  damo_array *y = thunk_out(t, f, 0, array_dtype(x), x->ndim, array_shape(x));
  if (y == NULL) return damo_error_status(f->ctx);
  int axis = cumulative_axis(op);
  int64_t n = array_shape(x)[axis], x_step = array_strides(x)[axis], y_step = array_strides(y)[axis];
  scan_fn scan = scan_kernels[is_cumprod(op)][array_dtype(x)];
  int64_t sign = is_reverse_scan(op) ? -1 : 1, x_first = sign < 0 ? (n - 1) * x_step : 0,
          y_first = sign < 0 ? (n - 1) * y_step : 0;
  int64_t since = 0;
  if (n == 0) return DAMO_OK;
  slice_walk w;
  for (bool more = slice_walk_begin(&w, x, y, axis); more; more = slice_walk_next(&w)) {
    char *from = w.p[0] + x_first, *to = w.p[1] + y_first;
    for (int64_t k = 0; k < w.count; k++, from += w.step[0], to += w.step[1]) {
      for (int64_t i = 0; i < n; i += CUMULATIVE_PART) {
        const int64_t part = n - i < CUMULATIVE_PART ? n - i : CUMULATIVE_PART;
        scan(from + i * sign * x_step, sign * x_step, to + i * sign * y_step, sign * y_step, part, i > 0);
        if ((since += part) < CUMULATIVE_PART) continue;
        since = 0;
        ctx_set_due(f->ctx);
        ctx_point(f->ctx);
        if (ctx_is_stopped(f->ctx)) return DAMO_OK;
      }
    }
  }
  return DAMO_OK;
}

static damo_var *build_scan(build *b, const op_def *def, const char *kind, damo_var *x, int axis, bool reverse) {
  if (b->status != DAMO_OK || x == NULL) return NULL;
  const scan_props props = {.kind = prop_str(kind), .axis = prop_int(axis + 1), .reverse = prop_bool(reverse)};
  return build_op(b, op_new(b->ctx, def, &props), &x, 1);
}

/* Let y be the cumulative product and S the cumulative sum from the other end. Where x_i is not 0 the gradient is S(g
 * y)_i / x_i. At the first 0 of a slice it is S(g y1)_i, with y1 the cumulative product in which that 0 is read as 1.
 * At later zeros it is 0, since the first 0 is a factor of every product that they are in. */
static damo_var *cumprod_gradient(build *b, damo_apply *node, damo_var *g) {
  const damo_op *op = node->op;
  const op_def *def = op->def;
  damo_var *x = node->in[0], *zero = build_num(b, 0), *one = build_num(b, 1);
  int axis = cumulative_axis(op);
  bool reverse = is_reverse_scan(op);
  damo_var *is_zero = build_eq(b, x, zero);
  damo_var *seen = build_scan(b, def, "cumsum", build_cast(b, is_zero, DAMO_INT64), axis, reverse);
  damo_var *is_first = build_and_(b, is_zero, build_eq(b, seen, build_int(b, 1)));
  damo_var *without = build_scan(b, def, "cumprod", build_switch(b, is_first, one, x), axis, reverse);
  damo_var *hidden = build_scan(b, def, "cumsum", build_mul(b, g, build_conj_if_complex(b, without)), axis, !reverse);
  damo_var *plain =
      build_scan(b, def, "cumsum", build_mul(b, g, build_conj_if_complex(b, node->out[0])), axis, !reverse);
  damo_var *quotient = build_true_div(b, plain, build_conj_if_complex(b, build_switch(b, is_zero, one, x)));
  return build_switch(b, is_zero, build_switch(b, is_first, hidden, zero), quotient);
}

static damo_status cumulative_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0], *g = gout[0];
  if (g == NULL) return DAMO_OK;
  if (dtype_is_discrete(var_dtype(node->out[0]))) {
    gin[0] = build_zero_grad(b, x);
  } else if (is_cumprod(node->op)) {
    gin[0] = build_unbroadcast(b, cumprod_gradient(b, node, g), x);
  } else {
    gin[0] = build_scan(b, node->op->def, "cumsum", g, cumulative_axis(node->op), !is_reverse_scan(node->op));
  }
  return b->status;
}

static damo_status cumulative_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                    damo_var **out) {
  const scan_props *p = OP_PROPS(node->op, scan_props);
  (void)batched;
  out[0] = build_scan(b, node->op->def, p->kind.u.s, in[0], k + cumulative_axis(node->op), is_reverse_scan(node->op));
  return b->status;
}

void emit_slices(c_emit *e, c_nest *nest, const c_value *x, const c_value *y, int axis) {
  int64_t shape[DAMO_MAX_NDIM];
  memcpy(shape, x->shape, sizeof shape);
  shape[axis] = 1;
  ce_nest_init(e, nest, x->ndim, shape, 2, (const int64_t *const[]){x->strides, y->strides});
  ce_nest_open(e, nest);
}

static damo_status cumulative_emit_c(c_emit *e, const damo_apply *node) {
  const int axis = cumulative_axis(node->op);
  const c_value *x = ce_in(e, 0), *y = ce_out(e, 0, var_dtype(node->out[0]), x->ndim, x->shape);
  if (y == NULL || ce_size(y) == 0) return e->status;
  const long long n = (long long)x->shape[axis], xs = (long long)x->strides[axis], ys = (long long)y->strides[axis];
  const char *type = ce_type(y->dtype), op = is_cumprod(node->op) ? '*' : '+';
  const char *wide = dtype_is_float(y->dtype) ? type : "uint64_t";
  c_nest nest;
  emit_slices(e, &nest, x, y, axis);
  if (nest.n_axes == 0) ce_open(e, "%s", "");
  ce_line(e, "%s sum = %d;", wide, op == '*');
  ce_for(e, "i", n);
  ce_line(e, "const ptrdiff_t at = %s;", is_reverse_scan(node->op) ? ce_text(e, "%lld - i", n - 1) : "i");
  const char *item = ce_text(e, "(%s)%s[%s + at * %lld]", wide, ce_p(e, x), ce_nest_at(e, &nest, 0), xs);
  ce_line(e, "sum = i == 0 ? %s : sum %c %s;", item, op, item);
  ce_line(e, "%s[%s + at * %lld] = (%s)sum;", ce_p(e, y), ce_nest_at(e, &nest, 1), ys, type);
  ce_close(e);
  if (nest.n_axes == 0) ce_close(e);
  ce_nest_close(e, &nest);
  return e->status;
}

static const op_def cumulative_def = {
    .name = "Cumulative",
    .doc = "running sum or product along an axis",
    .props = PROPS(PROP_WORD(scan_props, kind, "cumsum", "cumprod"), PROP_AXIS(scan_props, axis),
                   PROP_FLAG(scan_props, reverse)),
    .n_in = 1,
    .init = cumulative_init,
    .infer_type = cumulative_infer_type,
    .perform = cumulative_perform,
    .emit_c = cumulative_emit_c,
    .grad = cumulative_grad,
    .infer_shape = infer_shape_same,
    .batch = cumulative_batch,
    .masks = MASKS_SUMMED,
    .no_check = "dense: spec/op/rows/cumulative.lua has results by hand and from plain loops",
};

/* ---- Argsort ----------------------------------------------------------------------------------------------------- */

static damo_status argsort_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(cumulative_check_operand(op, in[0]));
  const damo_type *t = in[0]->type;
  out[0] = type_tensor(op->obj.ctx, DAMO_INT64, t->ndim, t->shape);
  return out[0] ? DAMO_OK : damo_error_status(op->obj.ctx);
}

static damo_status argsort_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  int axis = cumulative_axis(t->node->op);
  damo_dtype dt = array_dtype(x), wide = sort_wide(dt);
  size_t n = (size_t)array_shape(x)[axis], item = dtype_size(dt), wide_item = dtype_size(wide);
  sort_item *items = thunk_scratch(t, f, n * (2 * sizeof *items + wide_item + item) + 64);
  damo_array *y = items ? thunk_out(t, f, 0, DAMO_INT64, x->ndim, array_shape(x)) : NULL;
  if (y == NULL) return damo_error_status(f->ctx);
  if (n == 0) return DAMO_OK;
  int64_t since = 0;
  char *numbers = (char *)(items + 2 * n), *slice = numbers + n * wide_item;
  cast_fn cast = dt == wide ? NULL : kernel_cast(dt, wide);
  slice_walk w;
  for (bool more = slice_walk_begin(&w, x, y, axis); more; more = slice_walk_next(&w)) {
    for (int64_t k = 0; k < w.count; k++) {
      const char *from = w.p[0] + k * w.step[0];
      char *raw = cast ? slice : numbers, *positions = w.p[1] + k * w.step[1];
      for (size_t i = 0; i < n; i += SORT_PART) {
        const size_t part = n - i < SORT_PART ? n - i : SORT_PART;
        kernel_copy_strided(from + (int64_t)i * array_strides(x)[axis], array_strides(x)[axis], raw + i * item,
                            (int64_t)item, (int64_t)part, item);
        if (cast) cast(raw + i * item, numbers + i * wide_item, (int64_t)part);
        for (size_t j = i; j < i + part; j++) items[j].at = (int64_t)j + 1;
        if (part < n) ctx_point(f->ctx);
      }
      const sort_item *sorted = sort_by(f->ctx, numbers, wide, 1, items, items + n, (int64_t)n);
      for (size_t i = 0; i < n; i++) {
        *(int64_t *)(positions + (int64_t)i * array_strides(y)[axis]) = sorted[i].at;
        if (i % SORT_PART == SORT_PART - 1) ctx_point(f->ctx);
      }
      if ((since += (int64_t)n) >= SORT_PART / 8) {
        since = 0;
        ctx_set_due(f->ctx);
        ctx_point(f->ctx);
      }
      if (ctx_is_stopped(f->ctx)) return DAMO_OK;
    }
  }
  return DAMO_OK;
}

static damo_status argsort_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  (void)batched;
  out[0] = build_argsort(b, in[0], k + cumulative_axis(node->op));
  return b->status;
}

void emit_argsort(c_emit *e, const c_nest *nest, const c_value *x, const c_value *y, int axis, const char *how) {
  const c_value *work = ce_scratch(e, DAMO_INT64, 2 * x->shape[axis]);
  if (work == NULL) return;
  ce_helper(e, "sorts_before", x->dtype,
            dtype_is_float(x->dtype)
                ? "static inline int sorts_before_~(@ a, @ b) { return a < b || (a == a && b != b); }\n"
                : "static inline int sorts_before_~(@ a, @ b) { return a < b; }\n");
  ce_helper(
      e, "argsort", x->dtype,
      "/* A merge sort of positions, stable, nan last, or with `down` the greatest first. again: in out's order "
      "before.\n"
      " * work: 2 n entries. */\n"
      "static void argsort_~(const @ *x, ptrdiff_t step, ptrdiff_t n, int64_t *out, ptrdiff_t out_step, int64_t "
      "*work,\n"
      "                      int down, int again, ptrdiff_t count) {\n"
      "  int64_t *from = work, *to = work + n;\n"
      "  for (ptrdiff_t i = 0; i < n; i++) from[i] = again ? out[i * out_step] - 1 : i;\n"
      "  for (ptrdiff_t width = 1; width < n; width *= 2) {\n"
      "    for (ptrdiff_t first = 0; first < n; first += 2 * width) {\n"
      "      const ptrdiff_t mid = n - first < width ? n : first + width, end = n - mid < width ? n : mid + width;\n"
      "      ptrdiff_t i = first, j = mid;\n"
      "      for (ptrdiff_t k = first; k < end; k++) {\n"
      "        int right = i == mid;\n"
      "        if (i < mid && j < end) {\n"
      "          const @ a = x[from[i] * step], b = x[from[j] * step];\n"
      "          right = down ? sorts_before_~(a, b) : sorts_before_~(b, a);\n"
      "        }\n"
      "        to[k] = right ? from[j++] : from[i++];\n"
      "      }\n"
      "    }\n"
      "    int64_t *swap = from;\n"
      "    from = to;\n"
      "    to = swap;\n"
      "  }\n"
      "  for (ptrdiff_t i = 0; i < count; i++) out[i * out_step] = from[i] + 1;\n"
      "}\n");
  ce_line(e, "argsort_%s(%s + %s, %lld, %lld, %s + %s, %lld, %s, %s, %lld);", ce_suffix(x->dtype), ce_p(e, x),
          ce_nest_at(e, nest, 0), (long long)x->strides[axis], (long long)x->shape[axis], ce_p(e, y),
          ce_nest_at(e, nest, 1), (long long)y->strides[axis], ce_p(e, work), how, (long long)y->shape[axis]);
}

static damo_status argsort_emit_c(c_emit *e, const damo_apply *node) {
  const int axis = cumulative_axis(node->op);
  const c_value *x = ce_in(e, 0), *y = ce_out(e, 0, DAMO_INT64, x->ndim, x->shape);
  if (y == NULL || ce_size(y) == 0) return e->status;
  c_nest nest;
  emit_slices(e, &nest, x, y, axis);
  emit_argsort(e, &nest, x, y, axis, "0, 0");
  ce_nest_close(e, &nest);
  return e->status;
}

static const op_def argsort_def = {
    .name = "Argsort",
    .doc = "1-based positions that sort each vector along the axis, stable",
    .props = PROPS(PROP_AXIS(axis_props, axis)),
    .n_in = 1,
    .infer_type = argsort_infer_type,
    .perform = argsort_perform,
    .emit_c = argsort_emit_c,
    .grad = grad_none,
    .connection_pattern = connect_none,
    .infer_shape = infer_shape_same,
    .batch = argsort_batch,
    .no_check = "dense: spec/op/rows/cumulative.lua has results by hand and from plain loops",
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct scan_options {
  prop_value axis, n, stable;
} scan_options;

/* Operand 0 and the axis (0-based). Where no axis is given, the operand is flattened if `flat`, else the axis is the
 * last. */
static damo_status cumulative_read_call(build *b, const fn_args *a, bool flat, damo_var **x, int *axis) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(build_resolve(b, a->in, 1, false, x));
  const scan_options *o = FN_OPTIONS(a, scan_options);
  const int64_t at = prop_int_or(o->axis, flat ? 1 : -1);
  bool reshape = var_ndim(*x) == 0 || (flat && !prop_given(o->axis) && var_ndim(*x) != 1);
  if (reshape) *x = build_reshape(b, *x, build_ints(b, (const int64_t[1]){-1}, 1), 1);
  if (*x == NULL) return b->status;
  return axis_check(b->ctx, a->func->name, at, var_ndim(*x), axis);
}

damo_var *build_cumulative(build *b, const char *kind, damo_var *x, int axis, bool reverse) {
  return build_scan(b, &cumulative_def, kind, x, axis, reverse);
}

static damo_status call_scan(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = NULL;
  int axis = 0;
  DAMO_TRY(cumulative_read_call(b, a, true, &x, &axis));
  x = build_cast(b, x, reduce_out_dtype(REDUCE_SUM, var_dtype(x)));
  return fn_give(b, out, build_scan(b, &cumulative_def, a->func->name, x, axis, false));
}

damo_var *build_argsort(build *b, damo_var *x, int axis) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  const axis_props props = {.axis = prop_int(axis + 1)};
  return build_op(b, op_new(b->ctx, &argsort_def, &props), &x, 1);
}

static damo_status call_argsort(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = NULL;
  int axis = 0;
  DAMO_TRY(cumulative_read_call(b, a, false, &x, &axis));
  return fn_give(b, out, build_argsort(b, x, axis));
}

static damo_status call_sort(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = NULL;
  int axis = 0;
  DAMO_TRY(cumulative_read_call(b, a, false, &x, &axis));
  return fn_give(b, out, build_take_along_axis(b, x, build_argsort(b, x, axis), axis));
}

enum { DIFF_MOST = 1000 }; /* each difference is nodes of its own, and the coefficients of 1030 overflow */

/* Differences of neighbours, x[i + 1] - x[i], taken n times; of bools whether they differ. */
static damo_status call_diff(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = NULL;
  int axis = 0;
  int64_t n = prop_int_or(FN_OPTIONS(a, scan_options)->n, 1);
  DAMO_TRY(cumulative_read_call(b, a, false, &x, &axis));
  if (n < 0) return ctx_fail(b->ctx, DAMO_EVALUE, "diff: n is %lld, and must not be negative", (long long)n);
  const int64_t length = x->type->shape[axis];
  if (length >= 0 && n > length) n = length; /* nothing is left */
  if (n > DIFF_MOST) return ctx_fail(b->ctx, DAMO_EVALUE, "diff: n is %lld, of at most %d", (long long)n, DIFF_MOST);
  for (; n > 0 && x; n--) {
    damo_var *one = build_i64(b, 1);
    damo_var *upper = build_slice(b, x, axis, one, NULL, 1);
    int64_t known = x->type->shape[axis];
    damo_var *stop = known > 0 ? build_i64(b, known - 1) : build_sub(b, build_dim(b, x, axis), one);
    damo_var *lower = build_slice(b, x, axis, NULL, stop, 1);
    x = var_dtype(x) == DAMO_BOOL ? build_neq(b, upper, lower) : build_sub(b, upper, lower);
  }
  return fn_give(b, out, x);
}

const op_func cumulative_funcs[] = {
    {.name = "cumsum",
     .operands = "x",
     .options = OPTIONS(OPT(scan_options, axis, OPT_INT)),
     .call = call_scan,
     .doc = "running sum along an axis; nil: of x flattened"},
    {.name = "cumprod",
     .operands = "x",
     .options = OPTIONS(OPT(scan_options, axis, OPT_INT)),
     .call = call_scan,
     .doc = "running product along an axis; nil: of x flattened"},
    {.name = "sort",
     .operands = "x",
     .options = OPTIONS(OPT(scan_options, axis, OPT_INT)),
     .call = call_sort,
     .doc = "sorted along an axis (default -1), nan last"},
    {.name = "argsort",
     .operands = "x",
     .options = OPTIONS(OPT(scan_options, axis, OPT_INT), OPT(scan_options, stable, OPT_BOOL)),
     .call = call_argsort,
     .doc = "1-based positions that sort along an axis (default -1), always stable"},
    {.name = "diff",
     .operands = "x",
     .options = OPTIONS(OPT(scan_options, axis, OPT_INT), OPT(scan_options, n, OPT_INT)),
     .call = call_diff,
     .doc = "differences of neighbours along an axis (default -1), n times; of bools whether they differ"},
    {.name = NULL},
};

const op_def *const cumulative_classes[] = {&cumulative_def, &argsort_def, NULL};

#undef PASTE
#undef PASTE_
#undef PLUS
#undef TIMES
