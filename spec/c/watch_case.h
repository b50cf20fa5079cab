/* watch_case: a context, vectors of doubles and compiled functions, for the tests of compiling and running. N may be
 * defined before it is included. */
#ifndef WATCH_CASE_H
#define WATCH_CASE_H

#include <stdlib.h>

#include "api/api.h"
#include "leak_case.h"
#include "test.h"

#ifndef N
#define N 4 /* entries of the vectors here */
#endif

static damo_ctx *ctx;
static int64_t n_allocations; /* new blocks and grown ones */

static void *counting_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  if (nsize != 0) n_allocations++;
  return leak_alloc(user, ptr, osize, nsize);
}

static inline damo_var *typed(build *b, damo_dtype dtype, int ndim, const char *name) {
  damo_type *t = type_tensor(ctx, dtype, ndim, NULL);
  damo_var *v = build_take(b, var_new(ctx, t, name));
  damo_release(t);
  return v;
}
static inline damo_var *vec(build *b, const char *name) { return typed(b, DAMO_FLOAT64, 1, name); }

static inline damo_array *ramp(double from) {
  double at[N];
  for (int i = 0; i < N; i++) at[i] = from + i;
  return damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){N}, at);
}

static inline double entry(const damo_array *a, int64_t i) {
  return a != NULL && a->ndim == 1 && i < array_shape(a)[0] ? scalar_to_double(array_get(a, &i)) : NAN;
}

static inline damo_status same_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op, (void)n_in;
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

/* out = x + add, into new or reused memory. */
static inline damo_status add_run(const thunk *t, frame *f, double add) {
  const damo_array *x = thunk_in(t, f, 0);
  damo_array *out = thunk_out(t, f, 0, DAMO_FLOAT64, 1, array_shape(x));
  if (out == NULL || array_assign(out, x) != DAMO_OK) return damo_error_status(f->ctx);
  for (int64_t i = 0; i < array_shape(out)[0]; i++) ((double *)(void *)out->data)[i] += add;
  return DAMO_OK;
}

static inline damo_var *apply(build *b, const op_def *def, damo_var *const *in, int n) {
  return build_op(b, op_new(ctx, def, NULL), in, n);
}
static inline damo_var *apply1(build *b, const op_def *def, damo_var *x) { return apply(b, def, &x, 1); }

static inline damo_function *make(damo_var *const *in, int n_in, damo_var *const *out, int n_out,
                                  const compile_options *o) {
  in_spec ins[8] = {{.var = NULL}};
  out_spec outs[8] = {{.var = NULL}};
  for (int i = 0; i < n_in; i++) ins[i].var = in[i];
  for (int i = 0; i < n_out; i++) outs[i].var = out[i];
  damo_function *f = compile_function(ctx, ins, n_in, outs, n_out, o);
  if (f == NULL) fprintf(stderr, "    compile: %s\n", damo_error_message(ctx));
  return f;
}

static inline damo_status call(damo_function *f, damo_array *const *args, int n, damo_array **out) {
  return function_call(f, (damo_obj *const *)args, n, NULL, (damo_obj **)out);
}

/* The first entry of the only result of a call; nan on failure. */
static inline double first_of(damo_function *f, damo_array *const *args, int n) {
  damo_array *r = NULL;
  if (call(f, args, n, &r) != DAMO_OK) return NAN;
  double v = r->ndim == 0 ? scalar_to_double(array_item(r)) : entry(r, 0);
  damo_release(r);
  return v;
}

static inline bool says(const char *text) { return strstr(damo_error_message(ctx), text) != NULL; }

/* Runs the test in a new context, and checks that nothing is left of it. */
static inline void in_context(void (*test)(build *b)) {
  ctx = damo_ctx_new(counting_alloc, NULL);
  if (!CHECK(ctx != NULL)) return;
  build b;
  build_init(&b, ctx);
  test(&b);
  if (b.status != DAMO_OK) fprintf(stderr, "    build: %s\n", damo_error_message(ctx));
  CHECK_EQ_I(b.status, DAMO_OK);
  build_end(&b);
  ctx_clear_error(ctx);
  char left[400];
  CHECK_EQ_S(ctx_census(ctx, left, sizeof left), "");
  leak_end(ctx);
}

#endif
