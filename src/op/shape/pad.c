/* pad: entries moved along axes: roll, around the end of an axis, and pad, a border around an array.
 *
 * A constant border is an array filled with the value, whose middle is set to x; in the other modes x is read at a
 * list of positions along one axis after the other.
 */
#include "shape_int.h"
#include "op/elem/build_arith.h"
#include "op/index/index_int.h"

#include <string.h>

/* ---- Roll -------------------------------------------------------------------------------------------------------- */

damo_var *build_roll(build *b, damo_var *x, damo_var *shift, int axis) {
  if (!x || !shift) return NULL;
  damo_var *n = build_dim(b, x, axis), *cut;
  int64_t by, length;
  if (n && var_static_int(n, &length) && var_static_int(shift, &by)) {
    by = length ? ((by % length) + length) % length : 0;
    if (by == 0) return x;
    cut = build_i64(b, length - by);
  } else {
    cut = build_sub(b, n, build_mod(b, shift, n));
  }
  damo_var *parts[2] = {build_slice(b, x, axis, cut, NULL, 1), build_slice(b, x, axis, NULL, cut, 1)};
  return parts[0] && parts[1] ? build_join(b, "roll", axis, parts, 2) : NULL;
}

/* Entry i of the vector of shifts, a constant where it is one. */
static damo_var *roll_shift(build *b, damo_var *shifts, int64_t i) {
  const damo_array *v = shifts->kind == VAR_CONSTANT ? var_constant_array(shifts) : NULL;
  return v == NULL ? build_index(b, shifts, 0, build_i64(b, i)) : build_i64(b, scalar_to_int64(array_get(v, &i)));
}

/* Checks that there is one shift for each of n axes (-1: flattened), or one for all. Several of one axis add up, as NumPy has
 * it. A number that is not known must be n. */
static damo_var *roll_shifts(build *b, damo_var *shifts, int n) {
  const int64_t count = shifts->type->shape[0];
  damo_var *const length = build_i64(b, n);
  if (n <= 1 || count == 1 || count == n) return shifts;
  if (count < 0) return build_specify_shape(b, shifts, &length);
  return build_fail(b, DAMO_EVALUE, "roll: %lld shifts for %d axes", (long long)count, n);
}

/* The shift along the k-th of n axes. */
static damo_var *roll_shift_of(build *b, damo_var *shifts, int k, int n) {
  if (shifts == NULL || var_ndim(shifts) == 0) return shifts;
  const int64_t count = shifts->type->shape[0];
  const int only = 0;
  if (n > 1) return roll_shift(b, shifts, count == 1 ? 0 : k);
  return count == 1 ? roll_shift(b, shifts, 0) : build_reduce(b, REDUCE_SUM, shifts, &only, 1, false);
}

static damo_status fn_roll(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]), *shifts = build_integer(b, "roll", "the shift", a->in[1]);
  int axes[DAMO_MAX_NDIM], n;
  if (!x || !shifts) return b->status;
  if (var_ndim(shifts) > 1)
    return ctx_fail(b->ctx, DAMO_ETYPE, "roll: the shift must be a scalar or a vector, got rank %d", var_ndim(shifts));
  DAMO_TRY(axes_in_order(b->ctx, "roll", &FN_OPTIONS(a, axis_options)->axis, var_ndim(x), axes, &n));
  if (var_ndim(shifts) == 1) shifts = roll_shifts(b, shifts, n);
  if (n < 0) { /* no axis: over all entries in C order */
    damo_var *flat = build_roll(b, build_ravel(b, x), roll_shift_of(b, shifts, 0, n), 0);
    return fn_give(b, out, build_reshape_like(b, flat, x));
  }
  for (int i = 0; i < n; i++) x = build_roll(b, x, roll_shift_of(b, shifts, i, n), axes[i]);
  return fn_give(b, out, x);
}

/* ---- Pad --------------------------------------------------------------------------------------------------------- */

/* Reads pad_width: k, {before, after}, or {{before, after}, …} with a pair for each axis. */
static damo_status pad_widths(damo_ctx *ctx, const prop_value *v, int ndim, int64_t (*width)[2]) {
  for (int i = 0; i < ndim; i++) {
    const prop_value *e = v;
    if (v->kind == PROP_LIST && v->n && v->u.list[0].kind == PROP_LIST) {
      if (v->n != ndim && v->n != 1) return ctx_fail(ctx, DAMO_EVALUE, "pad: %d pairs for %d axes", v->n, ndim);
      e = &v->u.list[v->n == 1 ? 0 : i];
    }
    for (int k = 0; k < 2; k++) {
      const prop_value *w = e->kind == PROP_LIST && (e->n == 1 || e->n == 2) ? &e->u.list[e->n == 2 ? k : 0] : e;
      if (w->kind != PROP_INT || w->u.i < 0)
        return ctx_fail(ctx, DAMO_EVALUE, "pad: pad_width is a count, {before, after}, or a list of such pairs");
      width[i][k] = w->u.i;
    }
  }
  return DAMO_OK;
}

/* n + k; a constant where n is a constant. */
static damo_var *length_plus(build *b, damo_var *n, int64_t k) {
  int64_t known;
  if (!n || k == 0) return n;
  return var_static_int(n, &known) ? build_i64(b, known + k) : build_add(b, n, build_i64(b, k));
}

/* A constant border: the middle of an array filled with the value is set. */
static damo_var *pad_constant(build *b, damo_var *x, int64_t (*width)[2], double value) {
  damo_var *dims[DAMO_MAX_NDIM], *ends[2 * DAMO_MAX_NDIM];
  char spec[DAMO_MAX_NDIM * 4 + 1] = "";
  int n = 0;
  for (int i = 0; i < var_ndim(x); i++) {
    damo_var *length = build_dim(b, x, i);
    dims[i] = length_plus(b, length, width[i][0] + width[i][1]);
    ends[n++] = build_i64(b, width[i][0] + 1);
    ends[n++] = length_plus(b, length, width[i][0]);
    strcat(spec, "s110");
  }
  if (b->status != DAMO_OK) return NULL;
  damo_var *full = build_alloc(b, build_scalar(b, var_dtype(x), value), dims, var_ndim(x));
  return index_write(b, full, x, true, spec, ends, n);
}

/* The 1-based positions along one axis that the other modes read, from i = -before … n - 1 + after:
 * edge clips i; wrap is i mod n; symmetric mirrors with period 2n, reflect with period 2n - 2. */
static damo_var *pad_positions(build *b, const char *mode, damo_var *n, int64_t before, int64_t after) {
  damo_var *one = build_i64(b, 1), *zero = build_i64(b, 0);
  damo_var *i = build_range(b, build_i64(b, -before), length_plus(b, n, after - 1));
  damo_var *last = length_plus(b, n, -1);
  if (strcmp(mode, "edge") == 0) {
    i = build_minimum(b, build_maximum(b, i, zero), last);
  } else if (strcmp(mode, "wrap") == 0) {
    i = build_mod(b, i, n);
  } else {
    damo_var *edge = strcmp(mode, "symmetric") == 0 ? n : last;
    damo_var *period = build_mul(b, edge, build_i64(b, 2));
    damo_var *m = build_mod(b, i, period);
    damo_var *back = build_sub(b, edge == n ? build_sub(b, period, one) : period, m);
    i = build_minimum(b, m, back);
  }
  return build_add(b, i, one);
}

typedef struct pad_options {
  prop_value pad_width, mode, constant_values;
} pad_options;

static damo_status fn_pad(build *b, const fn_args *a, ptrvec *out) {
  const pad_options *o = FN_OPTIONS(a, pad_options);
  const char *mode = prop_str_or(o->mode, "constant");
  static const char *const modes[] = {"constant", "edge", "wrap", "reflect", "symmetric", NULL};
  int64_t width[DAMO_MAX_NDIM][2];
  int known = 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  if (!prop_given(o->pad_width)) return ctx_fail(b->ctx, DAMO_ETYPE, "pad: pad_width is missing");
  DAMO_TRY(pad_widths(b->ctx, &o->pad_width, var_ndim(x), width));
  while (modes[known] && strcmp(modes[known], mode) != 0) known++;
  if (!modes[known]) {
    const char *near = suggest(mode, modes);
    return ctx_fail(b->ctx, DAMO_EVALUE, "pad: unknown mode '%s'%s%s%s", mode, near ? ", did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
  }
  if (known == 0) return fn_give(b, out, pad_constant(b, x, width, prop_num_or(o->constant_values, 0)));
  for (int i = 0; x && i < var_ndim(x); i++) {
    if (width[i][0] == 0 && width[i][1] == 0) continue;
    x = build_take_axis(b, x, pad_positions(b, mode, build_dim(b, x, i), width[i][0], width[i][1]), i);
  }
  return fn_give(b, out, x);
}

const op_func pad_funcs[] = {
    {.name = "roll",
     .operands = "x shift",
     .options = OPTIONS(OPT(axis_options, axis, OPT_AXES)),
     .call = fn_roll,
     .doc = "entries shifted along axes, around their ends: by one shift, or by a list with one for each axis"},
    {.name = "pad",
     .operands = "x",
     .options = OPTIONS(OPT(pad_options, pad_width, OPT_ANY), OPT(pad_options, mode, OPT_STR),
                        OPT(pad_options, constant_values, OPT_NUM)),
     .call = fn_pad,
     .doc = "a border around x: constant, edge, wrap, reflect or symmetric"},
    {.name = NULL},
};
