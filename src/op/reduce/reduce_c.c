/* reduce_c: reductions as C source, with the order of sums of kernel/reduce: blocks of REDUCE_FOLD_BLOCK elements, each in
 * lanes that are folded by halves, combined in a binary tree. */
#include "op/elem/elem_c.h"

#include "reduce_int.h"

#define LANES_BYTES 64

#define FOLD_TEXT 32 /* elements that are folded by one expression */

static int fold_lanes(damo_dtype acc) {
  return dtype_is_float(acc) || dtype_is_complex(acc) ? LANES_BYTES / (int)dtype_size(acc) : 1;
}

/* Writes the helper functions of a reduction of n elements: op of two, a block in lanes, the carry of the tree. */
static void fold_helpers(c_emit *e, const char *name, damo_dtype acc, const char *op, int64_t n) {
  const int lanes = fold_lanes(acc);
  const bool tree = n > REDUCE_FOLD_BLOCK, text = n <= FOLD_TEXT;
  if (!text || (n > 1 && (*name != 's' || !dtype_is_float(acc))))
    ce_helper(e, ce_text(e, "at_%s", name), acc, ce_text(e, "static inline @ %s_at_~(@ a, @ b) { %s }\n", name, op));
  if (text) return;
  strbuf halves = {.ctx = e->ctx};
  for (int half = lanes / 2; half > 0; half /= 2)
    strbuf_addf(&halves, "  UNROLLED\n  for (ptrdiff_t l = 0; l < %d; l++) acc[l] = %s_at_~(acc[l], acc[l + %d]);\n",
                half, name, half);
  /* indices of lanes are constants once loops are unrolled, so that lanes are registers */
  const char *block = ce_text(e,
                              "static @ %s_block_~(const @ *x, ptrdiff_t n) {\n"
                              "  @ acc[%d] = {0};\n"
                              "  if (n < %d) {\n"
                              "    for (ptrdiff_t l = 0; l < n; l++) acc[l] = x[l];\n"
                              "    for (ptrdiff_t half = %d; half > 0; half /= 2)\n"
                              "      for (ptrdiff_t l = 0; l < half && l + half < n; l++)\n"
                              "        acc[l] = %s_at_~(acc[l], acc[l + half]);\n"
                              "    return acc[0];\n"
                              "  }\n"
                              "  ptrdiff_t i = %d;\n"
                              "  UNROLLED\n"
                              "  for (ptrdiff_t l = 0; l < %d; l++) acc[l] = x[l];\n"
                              "  for (; i + %d <= n; i += %d) {\n"
                              "    UNROLLED\n"
                              "    for (ptrdiff_t l = 0; l < %d; l++) acc[l] = %s_at_~(acc[l], x[i + l]);\n"
                              "  }\n"
                              "  UNROLLED\n"
                              "  for (ptrdiff_t l = 0; l < %d; l++)\n"
                              "    if (i + l < n) acc[l] = %s_at_~(acc[l], x[i + l]);\n"
                              "%s  return acc[0];\n"
                              "}\n",
                              name, lanes, lanes, lanes / 2, name, lanes, lanes, lanes, lanes, lanes, name, lanes, name,
                              halves.at != NULL ? halves.at : "");
  strbuf_clear(&halves);
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

/* The fold of n elements of t as an expression, in the order of the helper's blocks. */
static const char *fold_text(c_emit *e, const char *name, damo_dtype acc, int lanes, const char *t, int64_t n) {
  const char *lane[FOLD_TEXT], *suffix = ce_suffix(acc);
  const bool sum = *name == 's' && dtype_is_float(acc);
  for (int k = 0; k < (int)n; k++) {
    const char *x = ce_text(e, "%s[%d]", t, k);
    lane[k % lanes] = k < lanes ? x
                      : sum     ? ce_text(e, "(%s + %s)", lane[k % lanes], x)
                                : ce_text(e, "%s_at_%s(%s, %s)", name, suffix, lane[k % lanes], x);
  }
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half && l + half < (int)n; l++)
      lane[l] = sum ? ce_text(e, "(%s + %s)", lane[l], lane[l + half])
                    : ce_text(e, "%s_at_%s(%s, %s)", name, suffix, lane[l], lane[l + half]);
  return lane[0];
}

/* Writes the loops of one pass; returns the result as an expression. x: the element as an expression; row: where n elements
 * lie one after the other that are to be folded as they are, else NULL. */
static const char *emit_pass(c_emit *e, const char *name, damo_dtype acc, const c_nest *in, int64_t n, const char *x,
                             const char *row) {
  const int id = e->n_labels++;
  const char *suffix = ce_suffix(acc), *type = ce_type(acc);
  const bool tree = n > REDUCE_FOLD_BLOCK;
  if (tree) {
    ce_line(e, "%s tree%d[64];", type, id);
    ce_line(e, "ptrdiff_t count%d = 0;", id);
  }
  if (row != NULL) {
    ce_line(e, "const %s *const t%d = %s;", type, id, row);
    if (tree) {
      ce_open(e, "for (ptrdiff_t n%d = 0; n%d < %lld; n%d += %d)", id, id, (long long)n, id, REDUCE_FOLD_BLOCK);
      ce_line(e, "const ptrdiff_t left = %lld - n%d;", (long long)n, id);
      ce_line(e, "%s_push_%s(tree%d, count%d++, %s_block_%s(t%d + n%d, left < %d ? left : %d));", name, suffix, id, id,
              name, suffix, id, id, REDUCE_FOLD_BLOCK, REDUCE_FOLD_BLOCK);
      ce_close(e);
    }
  } else {
    ce_line(e, "%s t%d[%d];", type, id, (int)(tree ? REDUCE_FOLD_BLOCK : n));
    if (tree || in->n_axes != 1) ce_line(e, "ptrdiff_t n%d = 0;", id);
    ce_nest_open(e, in);
    if (!tree && in->n_axes == 1)
      ce_line(e, "t%d[i%d_0] = %s;", id, (int)in->id, x);
    else
      ce_line(e, "t%d[n%d++] = %s;", id, id, x);
    if (tree) {
      ce_open(e, "if (n%d == %d)", id, REDUCE_FOLD_BLOCK);
      ce_line(e, "%s_push_%s(tree%d, count%d++, %s_block_%s(t%d, n%d));", name, suffix, id, id, name, suffix, id, id);
      ce_line(e, "n%d = 0;", id);
      ce_close(e);
    }
    ce_nest_close(e, in);
    if (tree)
      ce_line(e, "if (n%d > 0) %s_push_%s(tree%d, count%d++, %s_block_%s(t%d, n%d));", id, name, suffix, id, id, name,
              suffix, id, id);
  }
  const char *made = tree             ? ce_text(e, "%s_end_%s(tree%d, count%d)", name, suffix, id, id)
                     : n <= FOLD_TEXT ? fold_text(e, name, acc, fold_lanes(acc), ce_text(e, "t%d", id), n)
                                      : ce_text(e, "%s_block_%s(t%d, %lld)", name, suffix, id, (long long)n);
  ce_line(e, "%s r%d = %s;", type, id, made);
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
    fold_helpers(e, name, acc, op, n_per);
  c_nest over, in;
  ce_nest_init(e, &over, n_kept, kept_shape, 2, (const int64_t *const[]){kept, to});
  ce_nest_init(e, &in, n_reduced, shape, 1, (const int64_t *const[]){steps});
  ce_nest_open(e, &over);
  ce_open(e, "%s", "");
  const char *x = ce_text(e, "%s[%s + %s]", ce_p(e, v), ce_nest_at(e, &over, 0), ce_nest_at(e, &in, 0));
  const bool in_rows = v->dtype == acc && (in.n_axes == 0 || (in.n_axes == 1 && in.step[0] == 1));
  const char *row = in_rows ? ce_text(e, "%s + %s", ce_p(e, v), ce_nest_at(e, &over, 0)) : NULL;
  x = ce_cast(e, v->dtype, acc, x);
  const char *result;
  if (kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN) {
    result = emit_position(e, acc, kind == REDUCE_ARGMAX, &in, x);
  } else if (kind == REDUCE_SUM_SQR) {
    result = emit_pass(e, name, acc, &in, n_per, ce_text(e, "%s * %s", x, x), NULL);
  } else if (kind == REDUCE_SUM_SQR_DEV) {
    const char *mean = emit_pass(e, name, acc, &in, n_per, x, row);
    ce_line(e, "%s /= (%s)%lld;", mean, ce_type(acc), (long long)n_per);
    ce_nest_init(e, &in, n_reduced, shape, 1, (const int64_t *const[]){steps});
    x = ce_cast(e, v->dtype, acc,
                ce_text(e, "%s[%s + %s]", ce_p(e, v), ce_nest_at(e, &over, 0), ce_nest_at(e, &in, 0)));
    result = emit_pass(e, name, acc, &in, n_per, ce_text(e, "(%s - %s) * (%s - %s)", x, mean, x, mean), NULL);
  } else if (kind == REDUCE_LOGSUMEXP) {
    const char *f = acc == DAMO_FLOAT32 ? "f" : "";
    fold_helpers(e, "max", acc, "return ((a > b) | (a != a)) ? a : b;", n_per);
    const char *top = emit_pass(e, "max", acc, &in, n_per, x, row);
    ce_line(e, "if (!(fabs%s(%s) < INFINITY)) %s = 0;", f, top, top);
    ce_nest_init(e, &in, n_reduced, shape, 1, (const int64_t *const[]){steps});
    x = ce_cast(e, v->dtype, acc,
                ce_text(e, "%s[%s + %s]", ce_p(e, v), ce_nest_at(e, &over, 0), ce_nest_at(e, &in, 0)));
    const char *total =
        emit_pass(e, name, acc, &in, n_per, emit_function(e, "exp", acc, ce_text(e, "%s - %s", x, top)), NULL);
    result = ce_text(e, "%s + %s", emit_function(e, "log", acc, total), top);
  } else {
    result = emit_pass(e, name, acc, &in, n_per, x, row);
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
