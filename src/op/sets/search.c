/* search: SearchSorted: where entries stand in a sorted vector; searchsorted, digitize, interp.
 *
 * SearchSorted{right, bins}(a, v), of one dtype, both int64, uint64, float32, float64 or complex128. nan is greater than
 * every number.
 */
#include "sets_int.h"
#include "graph/c_emit.h"
#include "kernel/kernel.h"
#include "op/elem/build_arith.h"

#include <math.h>
#include <string.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define SEARCH_BELOW(a, b) ((a) < (b))
#define SEARCH_NO_NAN(a) (false)

#define T int64_t
#define SUFFIX _i64
#define BEFORE SEARCH_BELOW
#define IS_NAN SEARCH_NO_NAN
#include "search_body.h"
#define T uint64_t
#define SUFFIX _u64
#define BEFORE SEARCH_BELOW
#define IS_NAN SEARCH_NO_NAN
#include "search_body.h"
#define T float
#define SUFFIX _f32
#define BEFORE SEARCH_BELOW
#define IS_NAN isnan
#include "search_body.h"
#define T double
#define SUFFIX _f64
#define BEFORE SEARCH_BELOW
#define IS_NAN isnan
#include "search_body.h"

/* By real, then by imaginary parts. */
static bool before_c128(damo_c128 a, damo_c128 b) { return a.re < b.re || (a.re == b.re && a.im < b.im); }
static bool nan_c128(damo_c128 z) { return isnan(z.re) || isnan(z.im); }
#define T damo_c128
#define SUFFIX _c128
#define BEFORE before_c128
#define IS_NAN nan_c128
#include "search_body.h"

typedef int64_t (*search_fn)(const void *sorted, int64_t n, const void *entry, bool right);
static const search_fn search_table[DAMO_N_DTYPES] = {
    [DAMO_INT64] = search_i64,   [DAMO_UINT64] = search_u64,      [DAMO_FLOAT32] = search_f32,
    [DAMO_FLOAT64] = search_f64, [DAMO_COMPLEX128] = search_c128,
};

typedef struct search_props {
  prop_value right, bins; /* bins: search_bins */
} search_props;

static damo_status search_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *a = in[0]->type, *v = in[1]->type;
  if (!type_is_tensor(a) || !type_is_tensor(v) || a->ndim != 1 || a->dtype != v->dtype || !search_table[a->dtype])
    return ctx_fail(ctx, DAMO_ETYPE, "SearchSorted: expected a vector and a tensor of one wide dtype");
  out[0] = type_tensor(ctx, DAMO_INT64, v->ndim, v->shape);
  return out[0] ? DAMO_OK : damo_error_status(ctx);
}

/* Entries that are searched for between two points: those whose places in the cache are all missed take longest. */
#define SEARCH_PART 32
#define SEARCH_BINS_PART 1024
#define SEARCH_TURN_PART 8192

/* Whether the vector rises (1) or falls (-1), equal neighbours allowed; 0 where it does neither. */
static int direction_of(damo_ctx *ctx, search_fn search, const char *a, int64_t n, int64_t size) {
  bool rises = true, falls = true;
  for (int64_t i = 0; i + 1 < n; i++) {
    const char *p = a + i * size, *q = p + size;
    rises = rises && search(p, 1, q, true) == 1;
    falls = falls && search(q, 1, p, true) == 1;
    ctx_point_each(ctx, i, SEARCH_BINS_PART);
  }
  return rises ? 1 : falls ? -1 : 0;
}

static damo_status search_perform(const thunk *t, frame *f) {
  const search_props *props = OP_PROPS(t->node->op, search_props);
  const damo_array *a = thunk_in(t, f, 0), *v = thunk_in(t, f, 1);
  const search_fn search = search_table[a->dtype];
  const int64_t n = array_shape(a)[0], size = (int64_t)dtype_size(a->dtype);
  const bool right = props->right.u.i != 0;
  char *scratch = thunk_scratch(t, f, (size_t)(n * size) + 1);
  damo_array *out = scratch ? thunk_out(t, f, 0, DAMO_INT64, v->ndim, array_shape(v)) : NULL;
  if (!out) return damo_error_status(f->ctx);
  int64_t *to = (int64_t *)(void *)out->data, *const start = to;
  const char *sorted = a->data;
  int direction = 1;
  if (!array_is_contiguous(a)) {
    array_copy_box(f->ctx, a->data, array_strides(a), scratch, NULL, 1, &n, (size_t)size);
    sorted = scratch;
  }
  if (props->bins.u.i) {
    direction = direction_of(f->ctx, search, sorted, n, size);
    if (direction == 0) return ctx_fail(f->ctx, DAMO_EVALUE, "digitize: the bins neither rise nor fall");
    if (direction < 0 && props->bins.u.i == BINS_RISE)
      return ctx_fail(f->ctx, DAMO_EVALUE, "histogram: the edges of bins must rise");
  }
  if (direction < 0) {
    const int64_t back = -array_strides(a)[0];
    kernel_copy_strided(a->data - (n - 1) * back, back, scratch, size, n, (size_t)size);
    sorted = scratch;
  }
  array_rows r;
  for (char *p = rows_begin(&r, v); p; p = rows_next(&r, p)) {
    for (int64_t k = 0; k < r.length; k++) {
      *to++ = search(sorted, n, p + k * r.step, right) + 1;
      ctx_point_each(f->ctx, to - start, SEARCH_PART);
    }
  }
  const int64_t count = array_size(out);
  for (int64_t i = 0; direction < 0 && i < count; i++) {
    start[i] = n + 2 - start[i];
    ctx_point_each(f->ctx, i, SEARCH_TURN_PART);
  }
  return DAMO_OK;
}

/* Whether a vector rises (1) or falls (-1), as direction_of. */
static const char direction_text[] =
    "static int direction_~(const @ *a, int64_t n) {\n"
    "  int rises = 1, falls = 1;\n"
    "  for (int64_t i = 0; i + 1 < n; i++) {\n"
    "    rises = rises && !orders_before_~(a[i + 1], a[i]);\n"
    "    falls = falls && !orders_before_~(a[i], a[i + 1]);\n"
    "  }\n"
    "  return rises ? 1 : falls ? -1 : 0;\n}\n";

static damo_status search_emit_c(c_emit *e, const damo_apply *node) {
  const search_props *props = OP_PROPS(node->op, search_props);
  const c_value *a = ce_contiguous(e, ce_in(e, 0)), *v = ce_in(e, 1);
  if (dtype_is_complex(v->dtype)) return ce_refuse(e, "complex numbers");
  const c_value *y = ce_out(e, 0, DAMO_INT64, v->ndim, v->shape);
  if (a == NULL || y == NULL) return e->status != DAMO_OK ? e->status : DAMO_EMEMORY;
  const long long n = a->shape[0];
  const int right = props->right.u.i != 0;
  const char *suffix = ce_suffix(a->dtype), *sorted = ce_p(e, a);
  if (ce_size(y) == 0 && !props->bins.u.i) return e->status;
  ce_helper(
      e, "search", a->dtype,
      ce_text(e,
              "/* The number of entries before v, nan being last; with right of those that are not behind it. */\n"
              "static inline int orders_before_~(@ a, @ b) { return %s; }\n"
              "static inline int64_t search_~(const @ *a, int64_t n, @ v, int right) {\n"
              "  int64_t at = 0;\n"
              "  while (n > 0) {\n"
              "    const @ m = a[at + n / 2];\n"
              "    const int behind = right ? !orders_before_~(v, m) : orders_before_~(m, v);\n"
              "    at += behind ? n / 2 + 1 : 0;\n"
              "    n = behind ? n - n / 2 - 1 : n / 2;\n"
              "  }\n"
              "  return at;\n}\n",
              dtype_is_float(a->dtype) ? "a < b || (a == a && b != b)" : "a < b"));
  const int id = e->n_labels++;
  if (props->bins.u.i) {
    ce_helper(e, "direction", a->dtype, direction_text);
    ce_line(e, "const int direction%d = direction_%s(%s, %lld);", id, suffix, sorted, n);
    ce_fail_if(e, props->bins.u.i == BINS_RISE ? "direction%d <= 0" : "direction%d == 0", id);
    const c_value *turned = ce_scratch(e, a->dtype, n);
    if (turned == NULL) return e->status;
    ce_line(e, "const %s *const bins%d = direction%d < 0 ? %s : %s;", ce_type(a->dtype), id, id, ce_p(e, turned),
            sorted);
    ce_open(e, "if (direction%d < 0)", id);
    ce_for(e, "i", n);
    ce_line(e, "%s[i] = %s[%lld - i];", ce_p(e, turned), sorted, n - 1);
    ce_close(e);
    ce_close(e);
    sorted = ce_text(e, "bins%d", id);
  }
  if (ce_size(y) == 0) return e->status;
  c_nest nest;
  ce_nest_init(e, &nest, v->ndim, v->shape, 2, (const int64_t *const[]){v->strides, y->strides});
  ce_nest_open(e, &nest);
  const char *found =
      ce_text(e, "search_%s(%s, %lld, %s[%s], %d) + 1", suffix, sorted, n, ce_p(e, v), ce_nest_at(e, &nest, 0), right);
  if (props->bins.u.i) {
    ce_line(e, "const int64_t place%d = %s;", id, found);
    found = ce_text(e, "direction%d < 0 ? %lld - place%d : place%d", id, n + 2, id, id);
  }
  ce_line(e, "%s[%s] = %s;", ce_p(e, y), ce_nest_at(e, &nest, 1), found);
  ce_nest_close(e, &nest);
  return e->status;
}

static damo_status search_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = in_shape[1][i];
  return b->status;
}

/* A sorted vector that all entries of the batch share is searched once for all. */
static damo_status search_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                damo_var **out) {
  (void)k;
  if (!batched[0]) out[0] = build_op(b, damo_retain(node->op), in, 2);
  return b->status;
}

const op_def search_def = {
    .name = "SearchSorted",
    .doc = "1-based positions at which entries would be inserted into a sorted vector",
    .props = PROPS(PROP_FLAG(search_props, right), PROP_INTEGER(search_props, bins, BINS_ANY, BINS_RISE)),
    .n_in = 2,
    .infer_type = search_infer_type,
    .perform = search_perform,
    .emit_c = search_emit_c,
    .grad = grad_none,
    .infer_shape = search_infer_shape,
    .batch = search_batch,
    .connection_pattern = connect_none,
    OP_CHECK(search_check),
};

damo_var *build_search(build *b, const char *func, damo_var *a, damo_var *v, bool right, int bins) {
  damo_var *in[2] = {a, v};
  if (!a || !v || build_resolve(b, in, 2, true, in) != DAMO_OK) return NULL;
  if (var_ndim(in[0]) != 1)
    return build_fail(b, DAMO_ESHAPE, "%s: a sorted vector is expected, got a tensor of %d axes", func,
                      var_ndim(in[0]));
  const damo_dtype dt = var_dtype(in[0]), wide = dt == DAMO_FLOAT32 ? dt : sort_wide(dt);
  const search_props p = {.right = prop_bool(right), .bins = prop_int(bins)};
  for (int i = 0; i < 2; i++) in[i] = build_cast(b, in[i], wide);
  return in[0] && in[1] ? build_op(b, op_new(b->ctx, &search_def, &p), in, 2) : NULL;
}

damo_status fn_searchsorted(build *b, const fn_args *a, ptrvec *out) {
  const char *side = prop_str_or(FN_OPTIONS(a, sets_options)->side, "left");
  const bool right = strcmp(side, "right") == 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  if (!right && strcmp(side, "left") != 0)
    return ctx_fail(b->ctx, DAMO_EVALUE, "searchsorted: side is \"left\" or \"right\", got \"%s\"", side);
  damo_var *sorted = a->in[0];
  if (a->n_in > 2 && a->in[2]) {
    DAMO_TRY(fn_check_tensor(a, b->ctx, 2));
    damo_var *sorter = build_integer(b, "searchsorted", "the sorter", a->in[2]);
    sorted = build_strong(b, sorted);
    if (!sorter || !sorted) return b->status;
    if (var_ndim(sorter) != 1 || var_ndim(sorted) != 1)
      return ctx_fail(b->ctx, DAMO_ESHAPE, "searchsorted: a vector and a sorter that is a vector are expected");
    sorted = build_take_axis(b, sorted, sorter, 0);
  }
  return fn_give(b, out, build_search(b, "searchsorted", sorted, a->in[1], right, BINS_ANY));
}

damo_status fn_digitize(build *b, const fn_args *a, ptrvec *out) {
  const bool right = prop_bool_or(FN_OPTIONS(a, sets_options)->right, BINS_ANY);
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  return fn_give(b, out, build_search(b, "digitize", a->in[1], a->in[0], !right, BINS_MONOTONE));
}

/* ---- interp ------------------------------------------------------------------------------------------------------ */

/* The points x, xp and values fp of a periodic function on one period, with a point before the first and one behind the
 * last. */
static void interp_wrap(build *b, damo_var **x, damo_var **xp, damo_var **fp, double period) {
  damo_var *p = build_num(b, period), *one = build_i64(b, 1), *first, *last;
  *x = build_mod(b, *x, p);
  *xp = build_mod(b, *xp, p);
  damo_var *order = build_argsort(b, *xp, 0);
  *xp = build_take_axis(b, *xp, order, 0);
  *fp = build_take_axis(b, *fp, order, 0);
  for (int i = 0; i < 2 && b->status == DAMO_OK; i++) {
    damo_var **v = i ? fp : xp;
    first = build_slice(b, *v, 0, NULL, one, 1);
    last = build_slice(b, *v, 0, build_i64(b, -1), NULL, 1);
    damo_var *parts[3] = {i ? last : build_sub(b, last, p), *v, i ? first : build_add(b, first, p)};
    if (b->status == DAMO_OK) *v = build_join(b, "interp", 0, parts, 3);
  }
}

/* On [xp_j, xp_j+1] it is fp_j + (x - xp_j) (fp_j+1 - fp_j) / (xp_j+1 - xp_j). */
damo_status fn_interp(build *b, const fn_args *a, ptrvec *out) {
  const interp_options *o = FN_OPTIONS(a, interp_options);
  damo_var *in[3];
  for (int i = 0; i < 3; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  DAMO_TRY(build_resolve(b, a->in, 3, true, in));
  const damo_dtype dt = dtype_is_discrete(var_dtype(in[0])) ? DAMO_FLOAT64 : var_dtype(in[0]);
  if (dtype_is_complex(var_dtype(a->in[0])) || dtype_is_complex(var_dtype(a->in[1])))
    return ctx_fail(b->ctx, DAMO_ETYPE, "interp: the points must be real");
  for (int i = 0; i < 3; i++) in[i] = build_cast(b, in[i], dt);
  damo_var *x = in[0], *xp = in[1], *fp = in[2];
  if (b->status != DAMO_OK) return b->status;
  if (dtype_is_complex(dt)) {
    x = build_real(b, x);
    xp = build_real(b, xp);
  }
  if (var_ndim(xp) != 1 || var_ndim(fp) != 1)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "interp: xp and fp must be vectors, got %d and %d axes", var_ndim(xp),
                    var_ndim(fp));
  const int64_t n_xp = xp->type->shape[0], n_fp = fp->type->shape[0];
  if ((n_xp >= 0 && n_fp >= 0 && n_xp != n_fp) || n_xp == 0)
    return ctx_fail(b->ctx, n_xp ? DAMO_ESHAPE : DAMO_EVALUE, "interp: %lld points xp and %lld values fp",
                    (long long)n_xp, (long long)n_fp);
  if (n_xp < 0 || n_fp < 0)
    fp = build_assert(b, fp, build_eq(b, build_dim(b, xp, 0), build_dim(b, fp, 0)),
                      "interp: xp and fp must have the same length");
  if (!fp) return b->status;
  const double period = prop_num_or(o->period, 0);
  if (prop_given(o->period) && !(fabs(period) > 0))
    return ctx_fail(b->ctx, DAMO_EVALUE, "interp: the period must not be 0");
  if (prop_given(o->period)) interp_wrap(b, &x, &xp, &fp, fabs(period));
  damo_var *one = build_i64(b, 1), *n = build_dim(b, xp, 0);
  damo_var *at = build_sub(b, build_search(b, "interp", xp, x, true, BINS_ANY), one);
  damo_var *low = build_maximum(b, build_minimum(b, at, build_sub(b, n, one)), one);
  damo_var *high = build_minimum(b, build_add(b, low, one), n);
  damo_var *x0 = build_take_axis(b, xp, low, 0), *x1 = build_take_axis(b, xp, high, 0);
  damo_var *y0 = build_take_axis(b, fp, low, 0), *y1 = build_take_axis(b, fp, high, 0);
  damo_var *width = build_sub(b, x1, x0);
  width = build_switch(b, build_eq(b, width, build_num(b, 0)), build_num(b, 1), width);
  damo_var *y = build_add(b, y0, build_mul(b, build_sub(b, x, x0), build_true_div(b, build_sub(b, y1, y0), width)));
  if (prop_given(o->period)) return fn_give(b, out, y);
  damo_var *first = build_index(b, xp, 0, build_i64(b, 0)), *last = build_index(b, xp, 0, build_i64(b, -1));
  damo_var *f_first = build_index(b, fp, 0, build_i64(b, 0)), *f_last = build_index(b, fp, 0, build_i64(b, -1));
  damo_var *left = prop_given(o->left) ? build_num(b, prop_num_or(o->left, 0)) : f_first;
  damo_var *right = prop_given(o->right) ? build_num(b, prop_num_or(o->right, 0)) : f_last;
  y = build_switch(b, build_eq(b, x, last), f_last, y);
  y = build_switch(b, build_gt(b, x, last), right, y);
  return fn_give(b, out, build_switch(b, build_lt(b, x, first), left, y));
}

#undef PASTE
#undef PASTE_
#undef SEARCH_BELOW
#undef SEARCH_NO_NAN
