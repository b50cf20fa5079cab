/* reduce_c: reductions as C source, with the order of sums of kernel/reduce: blocks of REDUCE_FOLD_BLOCK elements, each in
 * lanes that are folded by halves, combined in a binary tree. */
#include "op/elem/elem_c.h"

#include "reduce_int.h"

#define LANES_BYTES 64

/* Writes the helper functions of a reduction: a block in lanes, and with `tree` the carry of the tree. */
static void fold_helpers(c_emit *e, const char *name, damo_dtype acc, const char *op, int lanes, bool tree) {
  const char *block =
      ce_text(e,
              "static inline @ %s_at_~(@ a, @ b) { %s }\n"
              "static @ %s_block_~(const @ *x, ptrdiff_t n) {\n"
              "  @ acc[%d] = {0};\n"
              "  ptrdiff_t i, l;\n"
              "  for (l = 0; l < %d && l < n; l++) acc[l] = x[l];\n"
              "  for (i = %d; i + %d <= n; i += %d)\n"
              "    for (l = 0; l < %d; l++) acc[l] = %s_at_~(acc[l], x[i + l]);\n"
              "  for (l = 0; i + l < n; l++) acc[l] = %s_at_~(acc[l], x[i + l]);\n"
              "  for (ptrdiff_t half = %d; half > 0; half /= 2)\n"
              "    for (l = 0; l < half && l + half < n; l++) acc[l] = %s_at_~(acc[l], acc[l + half]);\n"
              "  return acc[0];\n"
              "}\n",
              name, op, name, lanes, lanes, lanes, lanes, lanes, lanes, name, name, lanes / 2, name);
  ce_helper(e, ce_text(e, "fold_%s", name), acc, block);
  if (!tree) return;
  const char *carry = ce_text(e,
                              "static inline void %s_push_~(@ *tree, ptrdiff_t count, @ value) {\n"
                              "  int level = 0;\n"
                              "  for (; count >> level & 1; level++) value = %s_at_~(tree[level], value);\n"
                              "  tree[level] = value;\n"
                              "}\n"
                              "static inline @ %s_end_~(@ *tree, ptrdiff_t count) {\n"
                              "  @ value = {0};\n"
                              "  int any = 0;\n"
                              "  for (int level = 0; count >> level != 0; level++) {\n"
                              "    if (!(count >> level & 1)) continue;\n"
                              "    value = any ? %s_at_~(tree[level], value) : tree[level];\n"
                              "    any = 1;\n"
                              "  }\n"
                              "  return value;\n"
                              "}\n",
                              name, name, name, name);
  ce_helper(e, ce_text(e, "tree_%s", name), acc, carry);
}

static const char *empty_value(reduce_kind kind) {
  return kind == REDUCE_PROD || kind == REDUCE_ALL ? "1" : kind == REDUCE_LOGSUMEXP ? "(-INFINITY)" : "0";
}

/* Writes the loops of one pass; returns the result as an expression. x: the element as an expression. */
static const char *emit_pass(c_emit *e, const char *name, damo_dtype acc, const c_nest *in, int64_t n, const char *x) {
  const int id = e->n_labels++;
  const char *suffix = ce_suffix(acc);
  const bool tree = n > REDUCE_FOLD_BLOCK;
  ce_line(e, "%s t%d[%d], r%d;", ce_type(acc), id, (int)(tree ? REDUCE_FOLD_BLOCK : n), id);
  if (tree) ce_line(e, "%s tree%d[64];", ce_type(acc), id);
  ce_line(e, tree ? "ptrdiff_t n%d = 0, count%d = 0;" : "ptrdiff_t n%d = 0;", id, id);
  ce_nest_open(e, in);
  ce_line(e, "t%d[n%d++] = %s;", id, id, x);
  if (tree) {
    ce_open(e, "if (n%d == %d)", id, REDUCE_FOLD_BLOCK);
    ce_line(e, "%s_push_%s(tree%d, count%d++, %s_block_%s(t%d, n%d));", name, suffix, id, id, name, suffix, id, id);
    ce_line(e, "n%d = 0;", id);
    ce_close(e);
  }
  ce_nest_close(e, in);
  if (tree) {
    ce_line(e, "if (n%d > 0) %s_push_%s(tree%d, count%d++, %s_block_%s(t%d, n%d));", id, name, suffix, id, id, name,
            suffix, id, id);
    ce_line(e, "r%d = %s_end_%s(tree%d, count%d);", id, name, suffix, id, id);
  } else {
    ce_line(e, "r%d = %s_block_%s(t%d, n%d);", id, name, suffix, id, id);
  }
  return ce_text(e, "r%d", id);
}

/* The position of the first best element; a nan is better than any number. */
static const char *emit_position(c_emit *e, damo_dtype dtype, bool most, const c_nest *in, const char *x) {
  const int id = e->n_labels++;
  ce_line(e, "%s best%d = 0;", ce_type(dtype), id);
  ce_line(e, "int64_t n%d = 0, at%d = 0;", id, id);
  ce_nest_open(e, in);
  ce_line(e, "const %s x%d = %s;", ce_type(dtype), id, x);
  const char *nan = dtype_is_float(dtype) ? ce_text(e, " || (x%d != x%d && best%d == best%d)", id, id, id, id) : "";
  ce_open(e, "if (n%d == 0 || x%d %s best%d%s)", id, id, most ? ">" : "<", id, nan);
  ce_line(e, "best%d = x%d;", id, id);
  ce_line(e, "at%d = n%d;", id, id);
  ce_close(e);
  ce_line(e, "n%d++;", id);
  ce_nest_close(e, in);
  return ce_text(e, "at%d + 1", id);
}

damo_status emit_reduction(c_emit *e, reduce_kind kind, uint32_t axes, damo_dtype given, const c_value *v,
                           const c_value *out) {
  if (v == NULL || out == NULL) return e->status != DAMO_OK ? e->status : DAMO_EMEMORY;
  int64_t kept_shape[DAMO_MAX_NDIM], kept[DAMO_MAX_NDIM], to[DAMO_MAX_NDIM], shape[DAMO_MAX_NDIM], steps[DAMO_MAX_NDIM];
  int n_kept = 0, n_reduced = 0;
  int64_t n_per = 1, step = 1;
  for (int k = 0; k < v->ndim; k++) {
    if (axes >> k & 1) {
      shape[n_reduced] = v->shape[k];
      steps[n_reduced++] = v->strides[k];
      n_per *= v->shape[k];
    } else {
      kept_shape[n_kept] = v->shape[k];
      kept[n_kept++] = v->strides[k];
    }
  }
  for (int k = n_kept - 1; k >= 0; k--) {
    to[k] = step;
    step *= kept_shape[k];
  }
  if (step == 0) return e->status;
  if (n_per == 0) {
    if (kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN) return ce_refuse(e, "an extreme of nothing");
    ce_fill(e, out, empty_value(kind));
    return e->status;
  }
  const bool logic = kind == REDUCE_ANY || kind == REDUCE_ALL;
  const bool sum =
      kind == REDUCE_SUM || kind == REDUCE_SUM_SQR || kind == REDUCE_SUM_SQR_DEV || kind == REDUCE_LOGSUMEXP;
  const bool most = kind == REDUCE_MAX || kind == REDUCE_ANY;
  damo_dtype acc = logic ? DAMO_BOOL : ce_dtype(e, reduce_out_dtype(kind, given));
  const bool complex = dtype_is_complex(acc);
  if (dtype_is_complex(given) && kind != REDUCE_SUM && kind != REDUCE_PROD) return ce_refuse(e, "complex numbers");
  const int lanes = dtype_is_float(acc) || complex ? LANES_BYTES / (int)dtype_size(acc) : 1;
  const char *name = sum ? "sum" : kind == REDUCE_PROD ? "prod" : most ? "max" : "min";
  const char *sign = most ? ">" : "<";
  const char *op = complex && sum        ? "return (@){a.re + b.re, a.im + b.im};"
                   : complex             ? "return (@){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};"
                   : sum                 ? dtype_is_float(acc) ? "return a + b;" : "return (@)((#)a + (#)b);"
                   : *name == 'p'        ? dtype_is_float(acc) ? "return a * b;" : "return (@)((#)a * (#)b);"
                   : dtype_is_float(acc) ? ce_text(e, "return ((a %s b) | (a != a)) ? a : b;", sign)
                                         : ce_text(e, "return a %s b ? a : b;", sign);
  if (kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN)
    acc = v->dtype;
  else
    fold_helpers(e, name, acc, op, lanes, n_per > REDUCE_FOLD_BLOCK);
  c_nest over, in;
  ce_nest_init(e, &over, n_kept, kept_shape, 2, (const int64_t *const[]){kept, to});
  ce_nest_init(e, &in, n_reduced, shape, 1, (const int64_t *const[]){steps});
  ce_nest_open(e, &over);
  ce_open(e, "%s", "");
  const char *x = ce_text(e, "%s[%s + %s]", ce_p(e, v), ce_nest_at(e, &over, 0), ce_nest_at(e, &in, 0));
  x = ce_cast(e, v->dtype, acc, x);
  const char *result;
  if (kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN) {
    result = emit_position(e, acc, kind == REDUCE_ARGMAX, &in, x);
  } else if (kind == REDUCE_SUM_SQR) {
    result = emit_pass(e, name, acc, &in, n_per, ce_text(e, "%s * %s", x, x));
  } else if (kind == REDUCE_SUM_SQR_DEV) {
    const char *mean = emit_pass(e, name, acc, &in, n_per, x);
    ce_line(e, "%s /= (%s)%lld;", mean, ce_type(acc), (long long)n_per);
    ce_nest_init(e, &in, n_reduced, shape, 1, (const int64_t *const[]){steps});
    x = ce_cast(e, v->dtype, acc,
                ce_text(e, "%s[%s + %s]", ce_p(e, v), ce_nest_at(e, &over, 0), ce_nest_at(e, &in, 0)));
    result = emit_pass(e, name, acc, &in, n_per, ce_text(e, "(%s - %s) * (%s - %s)", x, mean, x, mean));
  } else if (kind == REDUCE_LOGSUMEXP) {
    const char *f = acc == DAMO_FLOAT32 ? "f" : "";
    fold_helpers(e, "max", acc, "return ((a > b) | (a != a)) ? a : b;", lanes, n_per > REDUCE_FOLD_BLOCK);
    const char *top = emit_pass(e, "max", acc, &in, n_per, x);
    ce_line(e, "if (!(fabs%s(%s) < INFINITY)) %s = 0;", f, top, top);
    ce_nest_init(e, &in, n_reduced, shape, 1, (const int64_t *const[]){steps});
    x = ce_cast(e, v->dtype, acc,
                ce_text(e, "%s[%s + %s]", ce_p(e, v), ce_nest_at(e, &over, 0), ce_nest_at(e, &in, 0)));
    const char *total =
        emit_pass(e, name, acc, &in, n_per, emit_function(e, "exp", acc, ce_text(e, "%s - %s", x, top)));
    result = ce_text(e, "%s + %s", emit_function(e, "log", acc, total), top);
  } else {
    result = emit_pass(e, name, acc, &in, n_per, x);
  }
  ce_line(e, "%s[%s] = %s;", ce_p(e, out), ce_nest_at(e, &over, 1), result);
  ce_close(e);
  ce_nest_close(e, &over);
  return e->status;
}

damo_status reduce_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const c_value *x = ce_in(e, 0);
  int64_t shape[DAMO_MAX_NDIM];
  const damo_status s = reduce_op_check(e->ctx, node->op, x->ndim, x->shape);
  if (s != DAMO_OK) return e->status = s;
  const int ndim = reduce_op_shape(node->op, x->ndim, x->shape, shape);
  c_value *out = ce_out(e, 0, var_dtype(node->out[0]), ndim, shape);
  return emit_reduction(e, reduce_op_kind(node->op), reduce_op_axes(node->op, x->ndim), var_dtype(node->in[0]), x, out);
}
