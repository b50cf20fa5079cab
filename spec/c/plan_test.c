/* plan_test: the checks that debug builds make of programs and of what their thunks leave: each says what was broken. */
#include "by_name.h"
#include "compile_case.h"
#include "compile/compile_int.h"
#include "op/op.h"

typedef struct scene {
  damo_function *f;
  fn_program *p;
  vm_program *vm;
  int32_t x, s, neg, destroyed, view, sum; /* cells */
} scene;

static thunk *thunk_of(const scene *c, const char *name) {
  for (int64_t k = 0; k < c->vm->n_thunks; k++) {
    if (strcmp(thunk_name(c->vm->thunks[k]), name) == 0) return c->vm->thunks[k];
  }
  return NULL;
}
/* (Slots are fixed for all but a test that breaks them.) */
static int32_t *in_of(const scene *c, const char *name, int i) {
  return (int32_t *)(uintptr_t)&thunk_of(c, name)->in[i];
}
static int32_t *out_of(const scene *c, const char *name) { return (int32_t *)(uintptr_t)&thunk_of(c, name)->out[0]; }

static const op_def give_def = {.name = "Give", .n_in = 1, .infer_type = same_type, .perform = fragile_run};
static const op_def reader_def = {.name = "Reader", .n_in = 1, .infer_type = same_type, .perform = fragile_run};
static const op_def last_def = {.name = "Last", .n_in = 1, .infer_type = same_type, .perform = fragile_run};

/* Of x and a shared s: Give makes a vector, Destroyer writes over it, ReverseView shows that, Last reads the view. Reader
 * reads what Give made. */
static scene scene_begin(build *b) {
  damo_var *s = shared(b, 10, "s"), *x = vec(b, "x"), *k[2];
  for (int i = 0; i < 2; i++) k[i] = build_num(b, 3 + i);
  damo_var *given = apply1(b, &give_def, x), *view = apply1(b, &reverse_def, apply1(b, &destroyer_def, given));
  damo_var *sum = build_fn2(b, "add", build_fn2(b, "add", s, k[0]), k[1]);
  damo_var *out[] = {apply1(b, &last_def, view), view, sum, x, apply1(b, &reader_def, given)};
  compile_options o = {.update_of = &s, .update_to = &sum, .n_updates = 1, .optimizer = "none"};
  scene c = {.f = make(&x, 1, out, 5, &o)};
  c.p = (fn_program *)(uintptr_t)c.f->program;
  c.vm = &c.p->vm;
  c.x = c.p->inputs[0].cell;
  c.s = c.p->shared[0].cell;
  c.neg = *out_of(&c, "Give");
  c.destroyed = *out_of(&c, "Destroyer");
  c.view = *out_of(&c, "ReverseView");
  c.sum = c.p->outputs[2].cell;
  return c;
}

static void expect(const scene *c, const char *text, int line) {
  const damo_status s = plan_check(c->p);
  if (!CHECK(s == DAMO_EINCONSISTENCY && strstr(damo_error_message(ctx), text) != NULL))
    fprintf(stderr, "    line %d: %s\n", line, s == DAMO_OK ? "nothing found" : damo_error_message(ctx));
  ctx_clear_error(ctx);
}

/* Sets the number or pointer at `place` to `value`, expects that, puts it back. */
#define BROKEN(place, value, text)           \
  do {                                       \
    const __typeof__(place) kept_ = (place); \
    (place) = (value);                       \
    expect(&c, text, __LINE__);              \
    (place) = kept_;                         \
  } while (0)

static void test_cells(build *b) {
  scene c = scene_begin(b);
  vm_program *p = c.vm;
  CHECK_EQ_I(plan_check(c.p), DAMO_OK);
  CHECK(p->n_constants == 2 && p->n_views == 2);
  BROKEN(thunk_of(&c, "Last")->number, 0, "has another number");
  BROKEN(*out_of(&c, "ReverseView"), c.neg, "fills, as another does,");
  BROKEN(*out_of(&c, "Last"), (int32_t)p->n_cells, "fills what is no cell");
  BROKEN(*in_of(&c, "Give", 0), c.view, "reads before it is filled");
  BROKEN(*in_of(&c, "Last", 0), -1, "reads what is no cell");
  BROKEN(p->n_transient, 0, "never filled");
  BROKEN(p->constants[0].slot, c.neg, "is a constant's, and a thunk fills it");
  BROKEN(p->constants[0].slot, p->constants[1].slot, "is listed twice among the constants");
  BROKEN(p->constants[0].slot, c.s, "is a constant's, and would be emptied");
  BROKEN(p->n_constants, 1, "never filled");
  BROKEN(p->views[0], p->views[1], "is listed twice among the views");
  BROKEN(p->views[0], c.x, "is listed as a view, and no thunk's");
  BROKEN(p->n_views, 1, "makes a view, which is not listed");
  damo_release(c.f);
}

static void test_destroyed(build *b) {
  scene c = scene_begin(b);
  BROKEN(*in_of(&c, "Last", 0), c.neg, "may be destroyed by then");
  BROKEN(*in_of(&c, "Destroyer", 0), c.x, "is an input's, and is destroyed unsaid");
  int32_t *reads = in_of(&c, "Elemwise", 1);
  const int32_t constant = *reads;
  *reads = c.s;
  BROKEN(*in_of(&c, "Destroyer", 0), constant, "constant's, and is destroyed");
  *reads = constant;
  BROKEN(c.p->outputs[0].cell, c.neg, "is a result's, and is destroyed");
  c.p->inputs[0].destroyed = true;
  c.p->shared[0].cell = c.x;
  BROKEN(*in_of(&c, "Destroyer", 0), c.x, "is a shared value's, and is destroyed");
  c.p->inputs[0].destroyed = false;
  c.p->shared[0].cell = c.s;
  /* By demand a reader may come after the destroyer; what the destroyer needs itself does not. */
  CHECK(thunk_of(&c, "Reader")->number < thunk_of(&c, "Destroyer")->number);
  BROKEN(c.vm->by_demand, true, ", Reader, reads, although it may be destroyed by then,");
  c.vm->by_demand = true;
  *in_of(&c, "Reader", 0) = c.x;
  CHECK_EQ_I(plan_check(c.p), DAMO_OK);
  c.vm->by_demand = false;
  damo_release(c.f);
}

static void test_results(build *b) {
  scene c = scene_begin(b);
  fn_output *out = c.p->outputs;
  CHECK(out[1].copy && out[2].copy && out[3].copy && !out[0].copy && !c.p->shared[0].copy);
  BROKEN(out[0].cell, -1, "is a result's, and is none");
  BROKEN(out[1].copy, false, "is a view's, and is given away");
  BROKEN(out[2].copy, false, "is given away twice");
  BROKEN(out[3].copy, false, "is a leaf's, and is given away");
  BROKEN(out[0].maker, thunk_of(&c, "Give"), "has another maker");
  BROKEN(out[0].maker_index, 1, "is another output of its maker");
  BROKEN(c.p->inputs[0].cell, c.neg, "is an input's, and is kept");
  BROKEN(c.p->shared[0].cell, c.vm->constants[0].slot, "is a shared value's, and is kept");
  damo_release(c.f);
}

/* ---- What thunks leave ------------------------------------------------------------------------------------------- */

static damo_status damaged_run(const thunk *t, frame *f) {
  DAMO_TRY(add_run(t, f, 0));
  array_shape((damo_array *)thunk_result(t, f, 0))[0] = 1 << 20;
  return DAMO_OK;
}
static const op_def damaged_def = {.name = "Damaged", .n_in = 1, .infer_type = same_type, .perform = damaged_run};

static void expect_unsound(const scene *c, const char *text) {
  CHECK_EQ_I(thunk_check(thunk_of(c, "Give"), &c->f->frame.frame), DAMO_EINCONSISTENCY);
  if (!CHECK(strstr(damo_error_message(ctx), text) != NULL)) fprintf(stderr, "    %s\n", damo_error_message(ctx));
  ctx_clear_error(ctx);
}

static void test_thunks(build *b) {
  scene c = scene_begin(b);
  damo_array *a = ramp(1), *r[5] = {NULL};
  expect_unsound(&c, "left empty");
  CHECK_EQ_I(call_into(c.f, &a, 1, NULL, r), DAMO_OK);
  CHECK_EQ_I(thunk_check(thunk_of(&c, "Give"), &c.f->frame.frame), DAMO_OK);
  damo_array *left = (damo_array *)c.f->frame.frame.cells[c.neg];
  left->dtype = DAMO_INT64;
  expect_unsound(&c, "no value of its Type");
  left->dtype = DAMO_FLOAT64;
  array_shape(left)[0] = 1 << 20;
  expect_unsound(&c, "past the buffer");
  array_shape(left)[0] = N;
  release_all((void *const *)r, 5);
  RELEASE(a, c.f);
}

/* Only a debug build asks after each run. */
static void test_damaged(build *b) {
#ifdef DAMO_DEBUG
  damo_var *x = vec(b, "x"), *y = apply1(b, &damaged_def, x);
  damo_function *f = make(&x, 1, &y, 1, NULL);
  damo_array *a = ramp(1), *r = NULL;
  CHECK_EQ_I(call_into(f, &a, 1, NULL, &r), DAMO_EINCONSISTENCY);
  CHECK(strstr(damo_error_message(ctx), "Damaged: its output 1 is unsound: ") != NULL);
  RELEASE(a, f);
#else
  (void)b, (void)damaged_def;
#endif
}

int main(void) {
  ctx = damo_ctx_new(counting_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  build b;
  build_init(&b, ctx);
  test_cells(&b);
  test_destroyed(&b);
  test_results(&b);
  test_thunks(&b);
  test_damaged(&b);
  compile_case_end(&b);
  TEST_MAIN_END;
}
