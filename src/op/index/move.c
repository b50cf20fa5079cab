/* move: functions that choose entries by conditions and numbers, or put entries into a copy: compositions. */
#include "index_int.h"
#include "op/elem/build_arith.h"

#include <string.h>

/* Operand i as a bool tensor: whether its entries are not zero. */
static damo_var *condition(build *b, const fn_args *a, int i) {
  const damo_status s = fn_check_tensor(a, b->ctx, i);
  if (s != DAMO_OK) {
    b->status = s;
    return NULL;
  }
  return build_is_nonzero(b, build_strong(b, a->in[i]));
}

static damo_var *flat_positions(build *b, damo_var *mask) {
  return mask ? build_nonzero(b, build_ravel(b, mask)) : NULL;
}

damo_status fn_flatnonzero(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, flat_positions(b, condition(b, a, 0)));
}

damo_status fn_nonzero_values(build *b, const fn_args *a, ptrvec *out) {
  damo_var *at = flat_positions(b, condition(b, a, 0));
  return fn_give(b, out, at ? build_take_axis(b, build_ravel(b, build_strong(b, a->in[0])), at, 0) : NULL);
}

/* The positions along each axis as columns. A number is an array without axes: 0 columns. */
damo_status fn_argwhere(build *b, const fn_args *a, ptrvec *out) {
  damo_var *mask = condition(b, a, 0), *columns[DAMO_MAX_NDIM];
  if (!mask) return b->status;
  const int n = var_ndim(mask);
  if (n == 0) {
    damo_var *const shape[2] = {build_cast(b, mask, DAMO_INT64), build_i64(b, 0)};
    return fn_give(b, out, build_alloc(b, build_i64(b, 0), shape, 2));
  }
  damo_apply *where = build_nonzero_all(b, mask);
  for (int i = 0; where && i < n; i++) columns[i] = build_dimshuffle(b, where->out[i], (const int[]){0, -1}, 2);
  return fn_give(b, out, where && b->status == DAMO_OK ? build_join(b, "argwhere", 1, columns, n) : NULL);
}

/* ---- By conditions and numbers ----------------------------------------------------------------------------------- */

damo_status fn_compress(build *b, const fn_args *a, ptrvec *out) {
  const prop_value at = FN_OPTIONS(a, move_options)->axis;
  int axis = 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  damo_var *mask = condition(b, a, 0), *x = build_strong(b, a->in[1]);
  if (!mask || !x) return b->status;
  if (var_ndim(mask) != 1)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "compress: the condition must be a vector, got %d axes", var_ndim(mask));
  if (!prop_given(at)) x = build_ravel(b, x);
  if (prop_given(at)) DAMO_TRY(axis_check(b->ctx, "compress", prop_int_or(at, 1), var_ndim(x), &axis));
  return fn_give(b, out, build_take_axis(b, x, build_nonzero(b, mask), axis));
}

damo_status fn_extract(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  damo_var *at = flat_positions(b, condition(b, a, 0)), *x = build_ravel(b, build_strong(b, a->in[1]));
  return fn_give(b, out, at && x ? build_take_axis(b, x, at, 0) : NULL);
}

/* The operands from `from` on, of one dtype; mem_free(n entries) when done. NULL: the scope has failed. */
static damo_var **common_operands(build *b, const fn_args *a, int from, int n, damo_var *last) {
  const int total = n + (last != NULL);
  damo_var **v = mem_alloc(b->ctx, (size_t)(n + 1) * sizeof *v);
  if (!v) {
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  for (int i = 0; i < n; i++) v[i] = a->in[from + i];
  v[n] = last;
  damo_status s = DAMO_OK;
  for (int i = 0; i < total && s == DAMO_OK; i++)
    if (!type_is_tensor(v[i]->type))
      s = ctx_fail(b->ctx, DAMO_ETYPE, "%s: choice %d must be a tensor", a->func->name, i + 1);
  if (s == DAMO_OK) s = build_resolve(b, v, total, true, v);
  if (s == DAMO_OK) return v;
  mem_free(b->ctx, v, (size_t)(n + 1) * sizeof *v);
  b->status = s;
  return NULL;
}

damo_status fn_choose(build *b, const fn_args *a, ptrvec *out) {
  const int n = a->n_in - 1;
  position_mode mode;
  DAMO_TRY(position_mode_read(b->ctx, "choose", FN_OPTIONS(a, move_options)->mode, &mode));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  if (n < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "choose: there are no choices");
  damo_var *x = build_integer(b, "choose", "the numbers", a->in[0]);
  if (!x) return b->status;
  x = build_resolved_positions(b, "choose", x, build_i64(b, n), mode == POSITION_RAISE ? POSITION_STRICT : mode);
  damo_var **choice = common_operands(b, a, 1, n, NULL);
  if (!choice) return b->status;
  damo_var *y = choice[n - 1]; /* chosen from twice where it is alone, for x's shape */
  bool same = true;
  for (int k = 0; k < n; k++) same = same && choice[k] == y;
  for (int k = n > 1 ? n - 1 : 1; k >= 1; k--) y = build_switch(b, build_eq(b, x, build_int(b, k)), choice[k - 1], y);
  /* Where all choices are one value nothing reads x, whose check must stay. */
  if (same) y = build_assert(b, y, build_ge(b, x, build_int(b, 1)), "choose: a number is outside the choices");
  mem_free(b->ctx, choice, (size_t)(n + 1) * sizeof *choice);
  return fn_give(b, out, y);
}

damo_status fn_select(build *b, const fn_args *a, ptrvec *out) {
  const prop_value given = FN_OPTIONS(a, select_default_options)->otherwise;
  const int n = a->n_in / 2;
  if (n < 1 || a->n_in % 2)
    return ctx_fail(b->ctx, DAMO_EVALUE, "select: %d operands, not as many conditions as choices", a->n_in);
  damo_var *otherwise = given.kind == PROP_VAR ? given.u.var : build_int(b, 0);
  damo_var **choice = otherwise ? common_operands(b, a, n, n, otherwise) : NULL;
  if (!choice) return b->status;
  damo_var *y = choice[n];
  for (int k = n - 1; k >= 0; k--) {
    damo_var *hold = condition(b, a, k);
    y = hold ? build_switch(b, hold, choice[k], y) : NULL;
  }
  mem_free(b->ctx, choice, (size_t)(n + 1) * sizeof *choice);
  return fn_give(b, out, y);
}

/* ---- Into a copy ------------------------------------------------------------------------------------------------- */

/* The n entries of values in order, from the first again where there are fewer; values alone where there are as many. */
static damo_var *repeated(build *b, damo_var *values, damo_var *n) {
  damo_var *flat = build_ravel(b, values), *have = build_dim(b, flat, 0), *zero = build_i64(b, 0);
  int64_t want, known;
  if (flat && n && var_static_int(n, &want) && var_static_int(have, &known) && want == known) return flat;
  damo_var *k = build_range(b, zero, build_length_sub(b, n, build_i64(b, 1)));
  return build_take_axis(b, flat, build_add(b, build_mod(b, k, have), build_i64(b, 1)), 0);
}

damo_status fn_put(build *b, const fn_args *a, ptrvec *out) {
  position_mode mode;
  DAMO_TRY(position_mode_read(b->ctx, "put", FN_OPTIONS(a, move_options)->mode, &mode));
  for (int i = 0; i < 3; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  damo_var *x = build_strong(b, a->in[0]), *at = build_integer(b, "put", "the indices", a->in[1]);
  damo_var *values = x ? index_value(b, "put", x, a->in[2]) : NULL;
  if (!at || !values) return b->status;
  damo_var *flat = build_ravel(b, x);
  at = build_ravel(b, at);
  if (mode != POSITION_RAISE) at = build_resolved_positions(b, "put", at, build_dim(b, flat, 0), mode);
  if (var_ndim(values) > 0) values = repeated(b, values, build_dim(b, at, 0));
  if (b->status != DAMO_OK) return b->status;
  return fn_give(b, out, build_reshape_like(b, index_write(b, flat, values, true, "l", &at, 1), x));
}

/* The diagonal is every step-th of all entries in order, with step 1 + the sum of the products of the last lengths; of
 * a matrix of n columns without wrap only among the first n² entries. */
damo_status fn_fill_diagonal(build *b, const fn_args *a, ptrvec *out) {
  const bool wrap = prop_bool_or(FN_OPTIONS(a, move_options)->wrap, false);
  for (int i = 0; i < 2; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  damo_var *x = build_strong(b, a->in[0]), *value = x ? index_value(b, "fill_diagonal", x, a->in[1]) : NULL;
  damo_var *dims[DAMO_MAX_NDIM], *one = build_i64(b, 1);
  if (!value) return b->status;
  const int n = var_ndim(x);
  if (n < 2) return ctx_fail(b->ctx, DAMO_ESHAPE, "fill_diagonal: expected at least 2 axes, got %d", n);
  for (int i = 1; i < n && n > 2; i++) {
    const int64_t d = x->type->shape[i], e = x->type->shape[0];
    if (d >= 0 && e >= 0 && d != e)
      return ctx_fail(b->ctx, DAMO_ESHAPE,
                      "fill_diagonal: the lengths of more than 2 axes must be equal, got %lld, %lld", (long long)e,
                      (long long)d);
  }
  DAMO_TRY(build_dims(b, x, dims));
  for (int i = 1; i < n && n > 2; i++) {
    if (x->type->shape[i] >= 0 && x->type->shape[0] >= 0) continue;
    x = build_assert(b, x, build_eq(b, dims[i], dims[0]),
                     "fill_diagonal: the lengths of more than 2 axes must be equal");
    if (!x) return b->status;
  }
  damo_var *step = one, *product = one;
  for (int i = n - 1; i > 0; i--) {
    product = build_length_mul(b, product, dims[i]);
    step = build_length_add(b, step, product);
  }
  damo_var *flat = build_ravel(b, x), *stop = build_dim(b, flat, 0);
  if (n == 2 && !wrap) stop = build_minimum(b, stop, build_length_mul(b, dims[1], dims[1]));
  damo_var *const ends[3] = {one, stop, step};
  if (var_ndim(value) > 0) {
    damo_var *last = build_length_sub(b, stop, one);
    value = repeated(b, value, build_add(b, build_floor_div(b, last, step), one));
  }
  if (b->status != DAMO_OK) return b->status;
  return fn_give(b, out, build_reshape_like(b, index_write(b, flat, value, true, "s111", ends, 3), x));
}
