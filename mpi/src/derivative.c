/* derivative.c: adjoints of what is linear, and the product rule and the choice of an extreme. */
#include "derivative.h"

#include "collective_op.h"

damo_var *var_call(damo_ctx *ctx, const char *name, damo_var *a, damo_var *b, damo_var *c) {
  damo_var *in[3] = {a, b, c};
  const int n = c != NULL ? 3 : b != NULL ? 2 : 1;
  return a != NULL ? damo_call(ctx, name, in, n) : NULL;
}

damo_var *var_add_integer(damo_var *v, int64_t n) {
  damo_ctx *ctx = damo_obj_ctx(v);
  damo_array *value = damo_array_scalar(ctx, DAMO_INT64, (double)n);
  damo_var *constant = value != NULL ? damo_constant(ctx, value) : NULL;
  damo_var *sum = constant != NULL ? var_call(ctx, "add", v, constant, NULL) : NULL;
  damo_release(constant);
  damo_release(value);
  return sum;
}

/* The result of a collective over x, owned; x and like are borrowed, NULL x gives NULL. */
static damo_var *collect(world *w, const form *f, damo_var *x, damo_var *like) {
  if (x == NULL) return NULL;
  damo_apply *node = collective_apply(w, damo_obj_ctx(x), f, x, like);
  damo_var *y = node != NULL ? damo_retain(damo_apply_get_output(node, 0)) : NULL;
  damo_release(node);
  return y;
}

static damo_var *reduce_all(world *w, const form *f, reduction op, damo_var *x) {
  const form all = {.kind = ALLREDUCE, .group = f->group, .op = op};
  return collect(w, &all, x, NULL);
}

/* Takes the reference of `take`, and returns its argument `keep`. */
static damo_var *drop(damo_var *take, damo_var *keep) {
  damo_release(take);
  return keep;
}

/* choose ? a : b, elementwise. */
static damo_var *pick(damo_var *choose, damo_var *a, damo_var *b) {
  if (choose == NULL || a == NULL || b == NULL) return NULL;
  return var_call(damo_obj_ctx(choose), "switch", choose, a, b);
}

/* For each entry the product over all other ranks, without a division by zero: an entry that alone is zero gets the
 * product of the others, and where several are, everybody gets zero. */
static damo_var *product_of_others(world *w, const form *f, damo_var *x) {
  damo_ctx *ctx = damo_obj_ctx(x);
  damo_var *zero = damo_number(ctx, 0), *one = damo_number(ctx, 1);
  damo_var *zeros = var_call(ctx, "zeros_like", x, NULL, NULL), *ones = var_call(ctx, "ones_like", x, NULL, NULL);
  damo_var *is_zero = zero != NULL ? var_call(ctx, "eq", x, zero, NULL) : NULL;
  damo_var *factor = pick(is_zero, ones, x), *flag = pick(is_zero, ones, zeros);
  damo_var *all = reduce_all(w, f, PROD, factor), *n_zero = reduce_all(w, f, SUM, flag);
  damo_var *alone = n_zero != NULL && one != NULL ? var_call(ctx, "eq", n_zero, one, NULL) : NULL;
  damo_var *none = n_zero != NULL && zero != NULL ? var_call(ctx, "eq", n_zero, zero, NULL) : NULL;
  damo_var *quotient = all != NULL && factor != NULL ? var_call(ctx, "true_div", all, factor, NULL) : NULL;
  damo_var *at_zero = pick(alone, all, zeros), *elsewhere = pick(none, quotient, zeros);
  damo_var *result = pick(is_zero, at_zero, elsewhere);
  damo_var *const used[] = {zero, one,    zeros, ones, is_zero,  factor,  flag,
                            all,  n_zero, alone, none, quotient, at_zero, elsewhere};
  for (size_t i = 0; i < sizeof used / sizeof *used; i++) damo_release(used[i]);
  return result;
}

/* A reduction's result on every rank: REDUCE has it on the root alone. */
static damo_var *everywhere(world *w, const form *f, damo_var *y) {
  const form bcast = {.kind = BCAST, .group = f->group, .root = f->root};
  return f->kind == REDUCE ? collect(w, &bcast, y, NULL) : damo_retain(y);
}

/* v where x is the extreme, zero elsewhere. */
static damo_var *where_extreme(world *w, const form *f, damo_apply *node, damo_var *v) {
  damo_ctx *ctx = damo_obj_ctx(v);
  damo_var *extreme = everywhere(w, f, damo_apply_get_output(node, 0));
  damo_var *is_it = extreme != NULL ? var_call(ctx, "eq", damo_apply_get_input(node, 0), extreme, NULL) : NULL;
  damo_var *zeros = var_call(ctx, "zeros_like", v, NULL, NULL), *result = pick(is_it, v, zeros);
  damo_release(extreme);
  damo_release(is_it);
  return drop(zeros, result);
}

static damo_var *times(damo_var *a, damo_var *b) {
  return a != NULL && b != NULL ? var_call(damo_obj_ctx(a), "mul", a, b, NULL) : NULL;
}

/* The gradient of a reduction: the sum of all ranks' gradients of the result, where it comes from this rank's x. */
static damo_var *reduction_back(world *w, const form *f, damo_apply *node, damo_var *g) {
  damo_var *sum = f->kind == REDUCE ? everywhere(w, f, g) : reduce_all(w, f, SUM, g), *result = NULL;
  if (sum == NULL || f->op == SUM) return sum;
  if (f->op == PROD) {
    damo_var *others = product_of_others(w, f, damo_apply_get_input(node, 0));
    damo_var *conjugate = others != NULL ? var_call(damo_obj_ctx(g), "conj", others, NULL, NULL) : NULL;
    result = times(sum, conjugate);
    damo_release(conjugate);
    damo_release(others);
  } else {
    result = where_extreme(w, f, node, sum);
  }
  return drop(sum, result);
}

static damo_var *reduction_along(world *w, const form *f, damo_apply *node, damo_var *tangent) {
  form linear = *f;
  linear.op = SUM;
  if (f->op == SUM) return collect(w, &linear, tangent, NULL);
  damo_var *others = f->op == PROD ? product_of_others(w, f, damo_apply_get_input(node, 0)) : NULL;
  damo_var *term = f->op == PROD ? times(others, tangent) : where_extreme(w, f, node, tangent);
  damo_release(others);
  return drop(term, collect(w, &linear, term, NULL));
}

damo_var *derivative_back(world *w, const form *f, damo_apply *node, damo_var *g) {
  damo_var *x = damo_apply_get_input(node, 0);
  form back = *f;
  switch (f->kind) {
    case ALLREDUCE:
    case REDUCE: return reduction_back(w, f, node, g);
    case BCAST: back.kind = REDUCE, back.op = SUM; return collect(w, &back, g, NULL);
    case SENDRECV: back.to = f->from, back.from = f->to; return collect(w, &back, g, x);
    case SCATTER:
    case GATHER:
    case ALLGATHER:
    case ALLTOALL:
    case HALO:
    case N_COLLECTIVES: break;
  }
  back.adjoint = !f->adjoint;
  return collect(w, &back, g, back.adjoint ? x : NULL);
}

damo_var *derivative_along(world *w, const form *f, damo_apply *node, damo_var *tangent) {
  if (f->kind == ALLREDUCE || f->kind == REDUCE) return reduction_along(w, f, node, tangent);
  return collect(w, f, tangent, collective_has_like(f) ? damo_apply_get_input(node, 1) : NULL);
}
