/* op_case: a test case of an op that is linear in x: values, Type, inferred shape, gradient and forward mode, each with
 * x's shape known to the graph and unknown. Gradients of sum(w * y) are compared with differences, which are exact up
 * to rounding for linear ops. A program includes this once, after setting the context. */
#ifndef DAMO_OP_CASE_H
#define DAMO_OP_CASE_H

#include "grad/grad.h"
#include "test.h"
#include "op/op.h"
#include "by_name.h"

static damo_ctx *ctx;

typedef struct op_case {
  const char *name;
  damo_var *(*make)(build *b, damo_var *x);
  int ndim;
  int64_t shape[4]; /* of x, whose entries are 1, 2, 3, … */
  int out_ndim;
  int64_t out_shape[4];
  const double *want; /* NULL: not compared */
  bool no_gradient;
} op_case;

#define WANT(...) ((const double[]){__VA_ARGS__})

static inline double case_at(const damo_array *a, int64_t i) {
  int64_t index[DAMO_MAX_NDIM] = {0};
  for (int k = a->ndim - 1; k >= 0; k--) {
    index[k] = i % array_shape(a)[k];
    i /= array_shape(a)[k];
  }
  return scalar_to_double(array_get(a, index));
}

static inline damo_array *case_value(build *b, damo_var *v, const char *name) {
  damo_obj *value = NULL;
  if (v && b->status == DAMO_OK && eager_eval(ctx, &v, 1, &value) == DAMO_OK) return (damo_array *)value;
  CHECK(!"evaluates");
  fprintf(stderr, "    %s: %s\n", name, damo_error_message(ctx));
  return NULL;
}

static inline damo_array *case_counting(int ndim, const int64_t *shape) {
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, ndim, shape);
  for (int64_t i = 0; i < array_size(a); i++) ((double *)a->data)[i] = (double)(i + 1);
  return a;
}

static inline damo_var *case_input(build *b, damo_array *x, bool known) {
  damo_type *t = type_tensor(ctx, DAMO_FLOAT64, x->ndim, known ? array_shape(x) : NULL);
  damo_var *v = build_take(b, var_shared(ctx, t, (damo_obj *)x, "x"));
  damo_release(t);
  return v;
}

/* y at x = start with `step` added to entry i, as a new array */
static inline damo_array *case_moved(const op_case *c, const damo_array *start, int64_t i, double step, bool known) {
  build b;
  build_init(&b, ctx);
  damo_array *x = array_copy(start);
  if (i >= 0) ((double *)x->data)[i] += step;
  damo_array *y = case_value(&b, c->make(&b, case_input(&b, x, known)), c->name);
  damo_array *copy = y ? array_copy(y) : NULL;
  damo_release(y), damo_release(x);
  build_end(&b);
  return copy;
}

static inline void case_infer_shape(build *b, const op_case *c, damo_var *y, const damo_array *value) {
  damo_apply *node = y->owner;
  if (!node || !node->op->def->infer_shape || node->n_in > 16 || node->n_out > 8) return;
  damo_var *dims[16][DAMO_MAX_NDIM], *const *in[16], *out[8][DAMO_MAX_NDIM], **outs[8];
  for (int i = 0; i < node->n_in; i++) {
    in[i] = dims[i];
    for (int k = 0; k < var_ndim(node->in[i]); k++) dims[i][k] = build_dim(b, node->in[i], k);
  }
  for (int o = 0; o < node->n_out; o++) outs[o] = out[o];
  if (!CHECK(node->op->def->infer_shape(b, node, in, outs) == DAMO_OK)) {
    fprintf(stderr, "    %s: infer_shape: %s\n", c->name, damo_error_message(ctx));
    return;
  }
  for (int k = 0; k < value->ndim; k++) {
    damo_array *n = case_value(b, out[y->index][k], c->name);
    if (n && !CHECK_EQ_I(scalar_to_int64(array_item(n)), array_shape(value)[k]))
      fprintf(stderr, "    %s: inferred length of axis %d\n", c->name, k + 1);
    damo_release(n);
  }
}

static inline void case_gradient(build *b, const op_case *c, damo_var *x, damo_var *y, const damo_array *x0,
                                 const damo_array *value, bool known) {
  damo_var *g = NULL, *rop = NULL, *e = build_value(b, (damo_obj *)case_counting(x0->ndim, array_shape(x0)));
  damo_array *w = case_counting(value->ndim, array_shape(value)), *got = NULL, *forward = NULL;
  damo_var *cost = build_fn2(b, "mul", y, build_value(b, (damo_obj *)w));
  cost = build_reduce(b, REDUCE_SUM, cost, NULL, -1, false);
  if (CHECK(cost && grad_reverse(ctx, cost, &x, 1, NULL, &g) == DAMO_OK))
    got = case_value(b, g, c->name);
  else
    fprintf(stderr, "    %s: gradient: %s\n", c->name, damo_error_message(ctx));
  for (int64_t i = 0; got && i < array_size(x0); i++) {
    damo_array *up = case_moved(c, x0, i, 1, known);
    double want = 0;
    for (int64_t k = 0; up && k < array_size(up); k++) want += (double)(k + 1) * (case_at(up, k) - case_at(value, k));
    if (!CHECK_NEAR(case_at(got, i), want, 1e-9 * (1 + fabs(want)))) fprintf(stderr, "    %s: gradient\n", c->name);
    damo_release(up);
  }
  if (CHECK(grad_forward(ctx, &y, 1, &x, &e, 1, NULL, &rop) == DAMO_OK) && rop) forward = case_value(b, rop, c->name);
  if (forward) {
    damo_array *twice = array_copy(x0);
    for (int64_t i = 0; i < array_size(x0); i++) ((double *)twice->data)[i] *= 2;
    damo_array *moved = case_moved(c, twice, -1, 0, known);
    for (int64_t k = 0; moved && k < array_size(value); k++)
      if (!CHECK_NEAR(case_at(forward, k), case_at(moved, k) - case_at(value, k), 1e-9))
        fprintf(stderr, "    %s: forward\n", c->name);
    damo_release(moved), damo_release(twice);
  }
  damo_release(got), damo_release(g), damo_release(rop), damo_release(forward);
}

static inline void case_run(const op_case *c, bool known) {
  build b;
  build_init(&b, ctx);
  damo_array *x0 = case_counting(c->ndim, c->shape);
  damo_var *x = case_input(&b, x0, known), *y = c->make(&b, x);
  damo_array *value = case_value(&b, y, c->name);
  if (value) {
    bool same = CHECK_EQ_I(value->ndim, c->out_ndim);
    for (int k = 0; same && k < c->out_ndim; k++) same = CHECK_EQ_I(array_shape(value)[k], c->out_shape[k]);
    same = same && CHECK(type_is_valid(y->type, (damo_obj *)value));
    for (int k = 0; same && known && k < c->out_ndim; k++) same = CHECK(y->type->shape[k] >= 0);
    for (int64_t i = 0; same && c->want && i < array_size(value); i++)
      same = CHECK_NEAR(case_at(value, i), c->want[i], 1e-12);
    if (!same) fprintf(stderr, "    %s, shape %s\n", c->name, known ? "known" : "unknown");
    case_infer_shape(&b, c, y, value);
    if (same && !c->no_gradient) case_gradient(&b, c, x, y, x0, value, known);
  }
  damo_release(value), damo_release(x0);
  build_end(&b);
}

static inline void case_run_all(const op_case *cases) {
  for (; cases->name; cases++) {
    case_run(cases, true);
    case_run(cases, false);
  }
}

/* A call that must fail with this status and exactly this message. */
typedef struct error_case {
  damo_var *(*make)(build *b, damo_var *x);
  int ndim;
  int64_t shape[4];
  damo_status status;
  const char *message;
} error_case;

static inline void case_errors(const error_case *cases) {
  for (; cases->make; cases++) {
    build b;
    build_init(&b, ctx);
    damo_array *x0 = case_counting(cases->ndim, cases->shape);
    damo_obj *value = NULL;
    damo_var *y = cases->make(&b, case_input(&b, x0, true));
    CHECK(y == NULL);
    CHECK_EQ_I(damo_error_status(ctx), cases->status);
    CHECK_EQ_S(damo_error_message(ctx), cases->message);
    build_end(&b);
    ctx_clear_error(ctx);
    build_init(&b, ctx);
    y = cases->make(&b, case_input(&b, x0, false)); /* if the shape is not known, the run must refuse */
    if (y) CHECK(eager_eval(ctx, &y, 1, &value) == cases->status);
    damo_release(value), damo_release(x0);
    build_end(&b);
  }
}

#endif
