/* compile_case: shared by the tests of compiled functions: shared Variables, results in the caller's memory, Ops that
 * fail, destroy and view. */
#ifndef COMPILE_CASE_H
#define COMPILE_CASE_H

#define N 6 /* entries of the vectors here */
#include "watch_case.h"

static inline damo_var *shared(build *b, double from, const char *name) {
  damo_array *a = ramp(from);
  damo_var *s = build_take(b, damo_shared(ctx, a, name));
  damo_release(a);
  return s;
}

/* Whether the vector is from, from + step, … */
static inline bool is_ramp(const damo_array *a, double from, double step) {
  if (a == NULL || a->ndim != 1 || array_shape(a)[0] != N) return false;
  for (int64_t i = 0; i < N; i++) {
    if (fabs(scalar_to_double(array_get(a, &i)) - (from + step * (double)i)) > 1e-12) return false;
  }
  return true;
}
static inline bool holds(damo_var *s, double from, double step) {
  return is_ramp((const damo_array *)s->value, from, step);
}

static inline damo_status call_into(damo_function *f, damo_array *const *args, int n, damo_array *const *into,
                                    damo_array **out) {
  return function_call(f, (damo_obj *const *)args, n, (damo_obj *const *)into, (damo_obj **)out);
}

static inline void release_all(void *const *at, size_t n) {
  for (size_t i = 0; i < n; i++) damo_release(at[i]);
}
#define RELEASE(...) release_all((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

/* Ops: one that fails if fail_now is set, one that overwrites its input, one whose result is a view of it. */
static int fail_now;
static inline damo_status fragile_run(const thunk *t, frame *f) {
  if (fail_now) return ctx_fail(f->ctx, DAMO_ENUMERIC, "fragile: told to fail");
  return add_run(t, f, 0);
}

static inline damo_status destroyer_run(const thunk *t, frame *f) {
  damo_array *x = thunk_out_inplace(t, f, 0, 0);
  if (x == NULL) return damo_error_status(f->ctx);
  for (int64_t i = 0; i < array_shape(x)[0]; i++) *(double *)(x->data + i * array_strides(x)[0]) += 100;
  return DAMO_OK;
}

static inline damo_status reverse_run(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  int64_t stride = -array_strides(x)[0];
  return thunk_out_view(t, f, 0, x, 1, array_shape(x), &stride, -stride * (array_shape(x)[0] - 1));
}

static const op_alias first_of_first[] = {{0, 0}, OP_ALIAS_END};
static const op_def fragile_def = {.name = "Fragile", .n_in = 1, .infer_type = same_type, .perform = fragile_run};
static const op_def destroyer_def = {
    .name = "Destroyer", .n_in = 1, .infer_type = same_type, .perform = destroyer_run, .destroy_map = first_of_first};
static const op_def reverse_def = {
    .name = "ReverseView", .n_in = 1, .infer_type = same_type, .perform = reverse_run, .view_map = first_of_first};

/* Ends the scope, and checks that nothing is left in the context. */
static inline void compile_case_end(build *b) {
  CHECK_EQ_I(build_end(b), DAMO_OK);
  ctx_clear_error(ctx);
  char text[200];
  if (!CHECK_EQ_I(ctx->n_objects, 0)) fprintf(stderr, "    left: %s\n", ctx_census(ctx, text, sizeof text));
  leak_end(ctx);
}

#endif
