/* op_index_test: basic and advanced indexing, reading and writing: values, Types, inferred shapes, gradients, in-place
 * forms, errors. The specs are what op/index/subtensor.c documents. */
#include "op/index/index_int.h"
#include "leak_case.h"
#include "op_options.h"
#include "op_case.h"
#include "by_name.h"

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static damo_var *ints(build *b, const int64_t *v, int n) { return build_ints(b, v, n); }
#define LIST(...) ints(b, (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / 8))

static damo_var *mask(build *b, int ndim, const int64_t *shape, const uint8_t *data) {
  return build_value(b, (damo_obj *)damo_array_from(ctx, DAMO_BOOL, ndim, shape, data));
}

/* idx ends with NULL */
static damo_var *call_at(build *b, const char *name, damo_var *x, damo_var *y, const char *spec, damo_var *const *idx) {
  damo_var *in[16] = {x, y};
  int n = y ? 2 : 1;
  for (; idx && *idx; idx++) in[n++] = *idx;
  return build_fn(b, name, in, n, WITH(index_options, .spec = prop_str(spec)));
}
#define READ(spec, ...) call_at(b, "subtensor", x, NULL, spec, (damo_var *[]){__VA_ARGS__, NULL})
#define SET(y, spec, ...) call_at(b, "set_subtensor_at", x, y, spec, (damo_var *[]){__VA_ARGS__, NULL})
#define INC(y, spec, ...) call_at(b, "inc_subtensor_at", x, y, spec, (damo_var *[]){__VA_ARGS__, NULL})
#define I(v) build_int(b, v)

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static damo_var *position(build *b, damo_var *x) { return READ("i", I(2)); }
static damo_var *last(build *b, damo_var *x) { return READ("i", I(-1)); }
static damo_var *element(build *b, damo_var *x) { return READ("ii", I(2), I(-3)); }
static damo_var *range(build *b, damo_var *x) { return READ("s110", I(2), I(3)); }
static damo_var *from(build *b, damo_var *x) { return READ("s000s100", I(-2)); }
static damo_var *backward(build *b, damo_var *x) { return READ("s001", I(-1)); }
static damo_var *backward_part(build *b, damo_var *x) { return READ("s111", I(4), I(2), I(-2)); }
static damo_var *stepped(build *b, damo_var *x) { return READ("s001", I(2)); }
static damo_var *empty_range(build *b, damo_var *x) { return READ("s110", I(4), I(2)); }
static damo_var *to_zero(build *b, damo_var *x) { return READ("s010", I(0)); }
static damo_var *past_end(build *b, damo_var *x) { return READ("s100", I(9)); }
static damo_var *ellipsis(build *b, damo_var *x) { return READ("ei", I(1)); }
static damo_var *newaxis(build *b, damo_var *x) { return READ("s000ni", I(2)); }
static damo_var *no_item(build *b, damo_var *x) { return call_at(b, "subtensor", x, NULL, "", NULL); }
/* ends computed from the shape */
static damo_var *symbolic_range(build *b, damo_var *x) {
  damo_var *n = build_index(b, build_fn1(b, "shape", x), 0, build_int(b, 0));
  return n ? READ("s110", build_fn2(b, "sub", n, I(1)), n) : NULL;
}
static damo_var *c_slice(build *b, damo_var *x) { return build_slice(b, x, 1, build_int(b, 1), build_int(b, 3), 1); }
static damo_var *c_slice_back(build *b, damo_var *x) {
  return build_slice(b, x, 0, build_int(b, 2), build_int(b, 0), -1);
}
static damo_var *list(build *b, damo_var *x) { return READ("l", LIST(2, -1, 2)); }
static damo_var *list_float(build *b, damo_var *x) {
  const double v[2] = {1, 3};
  const int64_t n = 2;
  return READ("l", build_value(b, (damo_obj *)damo_array_from(ctx, DAMO_FLOAT64, 1, &n, v)));
}
static damo_var *list_second(build *b, damo_var *x) { return READ("s000l", LIST(1, 3, 3)); }
static damo_var *two_lists(build *b, damo_var *x) { return READ("ll", LIST(1, 2), LIST(3, 1)); }
static damo_var *grid(build *b, damo_var *x) {
  const int pattern[2] = {0, -1};
  return READ("ll", build_dimshuffle(b, LIST(1, 2), pattern, 2), LIST(3, 1, 1));
}
static damo_var *list_matrix(build *b, damo_var *x) {
  const int64_t shape[2] = {2, 2}, v[4] = {1, 2, 2, 1};
  return READ("l", build_value(b, (damo_obj *)damo_array_from(ctx, DAMO_INT64, 2, shape, v)));
}
static damo_var *apart(build *b, damo_var *x) { return READ("ls000l", LIST(1, 2), LIST(2, 1)); }
static damo_var *position_apart(build *b, damo_var *x) { return READ("is000l", I(2), LIST(2, 1, 1)); }
static damo_var *position_list(build *b, damo_var *x) { return READ("s000il", I(2), LIST(2, 1, 1)); }
static damo_var *list_range(build *b, damo_var *x) { return READ("ls100", LIST(2, 1), I(2)); }
static damo_var *list_newaxis(build *b, damo_var *x) { return READ("s000nl", LIST(2, 1)); }
static damo_var *list_scalar(build *b, damo_var *x) { return READ("l", I(2)); }
static damo_var *list_empty(build *b, damo_var *x) { return READ("l", ints(b, (const int64_t[]){0}, 0)); }
static damo_var *mask_rows(build *b, damo_var *x) {
  return READ("l", mask(b, 1, (const int64_t[]){3}, (const uint8_t[]){1, 0, 1}));
}
static damo_var *mask_columns(build *b, damo_var *x) {
  return READ("s000l", mask(b, 1, (const int64_t[]){3}, (const uint8_t[]){0, 1, 1}));
}
static damo_var *mask_all(build *b, damo_var *x) {
  return READ("l", mask(b, 2, (const int64_t[]){2, 3}, (const uint8_t[]){0, 1, 0, 1, 0, 1}));
}
static damo_var *take_2(build *b, damo_var *x) {
  damo_var *in[2] = {x, LIST(3, 1)};
  prop_value axis = prop_int(2);
  return build_fn(b, "take", in, 2, IN_ORDER(b->ctx, "take", axis));
}
static damo_var *take_flat(build *b, damo_var *x) { return build_fn2(b, "take", x, LIST(1, 6, 6)); }
static damo_var *take_along(build *b, damo_var *x) {
  const int64_t shape[2] = {1, 3}, v[3] = {2, 1, 2};
  damo_var *in[2] = {x, build_value(b, (damo_obj *)damo_array_from(ctx, DAMO_INT64, 2, shape, v))};
  prop_value axis = prop_int(1);
  return build_fn(b, "take_along_axis", in, 2, IN_ORDER(b->ctx, "take_along_axis", axis));
}

static const op_case reads[] = {
    {"position", position, 2, {2, 3}, 1, {3}, WANT(4, 5, 6), false},
    {"last", last, 2, {2, 3}, 1, {3}, WANT(4, 5, 6), false},
    {"element", element, 2, {2, 3}, 0, {0}, WANT(4), false},
    {"range", range, 2, {4, 2}, 2, {2, 2}, WANT(3, 4, 5, 6), false},
    {"from", from, 2, {2, 3}, 2, {2, 2}, WANT(2, 3, 5, 6), false},
    {"backward", backward, 1, {3}, 1, {3}, WANT(3, 2, 1), false},
    {"backward part", backward_part, 1, {5}, 1, {2}, WANT(4, 2), false},
    {"stepped", stepped, 1, {5}, 1, {3}, WANT(1, 3, 5), false},
    {"empty range", empty_range, 2, {4, 2}, 2, {0, 2}, NULL, false},
    {"to zero", to_zero, 1, {4}, 1, {0}, NULL, false},
    {"past the end", past_end, 1, {4}, 1, {0}, NULL, false},
    {"ellipsis", ellipsis, 3, {2, 2, 2}, 2, {2, 2}, WANT(1, 3, 5, 7), false},
    {"newaxis", newaxis, 2, {2, 3}, 2, {2, 1}, WANT(2, 5), false},
    {"no item", no_item, 1, {2}, 1, {2}, WANT(1, 2), false},
    {"build_slice", c_slice, 2, {2, 3}, 2, {2, 2}, WANT(2, 3, 5, 6), false},
    {"build_slice backward", c_slice_back, 1, {4}, 1, {2}, WANT(3, 2), false},
    {"list", list, 2, {3, 2}, 2, {3, 2}, WANT(3, 4, 5, 6, 3, 4), false},
    {"list of whole floats", list_float, 1, {3}, 1, {2}, WANT(1, 3), false},
    {"list on axis 2", list_second, 2, {2, 3}, 2, {2, 3}, WANT(1, 3, 3, 4, 6, 6), false},
    {"two lists", two_lists, 2, {2, 3}, 1, {2}, WANT(3, 4), false},
    {"grid", grid, 2, {2, 3}, 2, {2, 3}, WANT(3, 1, 1, 6, 4, 4), false},
    {"list of rank 2", list_matrix, 1, {2}, 2, {2, 2}, WANT(1, 2, 2, 1), false},
    {"lists apart", apart, 3, {2, 2, 2}, 2, {2, 2}, WANT(2, 4, 5, 7), false},
    {"position and list apart", position_apart, 3, {2, 2, 2}, 2, {3, 2}, WANT(6, 8, 5, 7, 5, 7), false},
    {"position beside list", position_list, 3, {2, 2, 2}, 2, {2, 3}, WANT(4, 3, 3, 8, 7, 7), false},
    {"list and range", list_range, 2, {2, 3}, 2, {2, 2}, WANT(5, 6, 2, 3), false},
    {"list and newaxis", list_newaxis, 2, {2, 2}, 3, {2, 1, 2}, WANT(2, 1, 4, 3), false},
    {"0-d list", list_scalar, 2, {2, 2}, 1, {2}, WANT(3, 4), false},
    {"empty list", list_empty, 2, {2, 2}, 2, {0, 2}, NULL, false},
    {"mask", mask_rows, 2, {3, 2}, 2, {2, 2}, WANT(1, 2, 5, 6), false},
    {"mask on axis 2", mask_columns, 2, {2, 3}, 2, {2, 2}, WANT(2, 3, 5, 6), false},
    {"mask of rank 2", mask_all, 2, {2, 3}, 1, {3}, WANT(2, 4, 6), false},
    {"take", take_2, 2, {2, 3}, 2, {2, 2}, WANT(3, 1, 6, 4), false},
    {"take from all", take_flat, 2, {2, 3}, 1, {3}, WANT(1, 6, 6), false},
    {"take_along_axis", take_along, 2, {2, 3}, 2, {1, 3}, WANT(4, 2, 6), false},
    {.name = NULL},
};

/* ---- Writing: x is the target and, halved, the value ------------------------------------------------------------- */

static damo_var *half(build *b, damo_var *part) { return part ? build_fn2(b, "mul", part, build_num(b, 0.5)) : NULL; }

static damo_var *set_row(build *b, damo_var *x) { return SET(half(b, last(b, x)), "i", I(1)); }
static damo_var *inc_row(build *b, damo_var *x) { return INC(half(b, last(b, x)), "i", I(1)); }
static damo_var *set_number(build *b, damo_var *x) { return SET(build_num(b, 9), "s110", I(1), I(2)); }
static damo_var *inc_broadcast(build *b, damo_var *x) { return INC(half(b, last(b, x)), "s000", NULL); }
static damo_var *inc_backward(build *b, damo_var *x) { return INC(half(b, x), "s001", I(-1)); }
static damo_var *set_list(build *b, damo_var *x) { return SET(half(b, position(b, x)), "l", LIST(3, 1)); }
static damo_var *inc_repeated(build *b, damo_var *x) { return INC(half(b, x), "l", LIST(2, 2, -1)); }
static damo_var *inc_columns(build *b, damo_var *x) { return INC(half(b, x), "s000l", LIST(1, 1)); }
static damo_var *set_mask(build *b, damo_var *x) {
  return SET(build_num(b, 0), "l", mask(b, 2, (const int64_t[]){2, 2}, (const uint8_t[]){1, 0, 0, 1}));
}
static damo_var *inc_mask(build *b, damo_var *x) {
  return INC(half(b, last(b, x)), "l", mask(b, 1, (const int64_t[]){3}, (const uint8_t[]){1, 0, 1}));
}
static damo_var *set_apart(build *b, damo_var *x) {
  return SET(half(b, apart(b, x)), "ls000l", LIST(2, 1), LIST(2, 1));
}
static damo_var *set_part(build *b, damo_var *x) {
  return build_fn2(b, "set_subtensor", position(b, x), build_int(b, 0));
}
static damo_var *inc_part(build *b, damo_var *x) { return build_fn2(b, "inc_subtensor", list(b, x), build_int(b, 1)); }

static const op_case writes[] = {
    {"set a row", set_row, 2, {2, 2}, 2, {2, 2}, WANT(1.5, 2, 3, 4), false},
    {"inc a row", inc_row, 2, {2, 2}, 2, {2, 2}, WANT(2.5, 4, 3, 4), false},
    {"set a number", set_number, 2, {3, 1}, 2, {3, 1}, WANT(9, 9, 3), true},
    {"inc broadcasts", inc_broadcast, 2, {2, 2}, 2, {2, 2}, WANT(2.5, 4, 4.5, 6), false},
    {"inc backward", inc_backward, 1, {3}, 1, {3}, WANT(2.5, 3, 3.5), false},
    {"set a list", set_list, 2, {3, 1}, 2, {3, 1}, WANT(1, 2, 1), false},
    {"inc repeated", inc_repeated, 1, {3}, 1, {3}, WANT(1, 3.5, 4.5), false},
    {"inc a column twice", inc_columns, 2, {2, 2}, 2, {2, 2}, WANT(2.5, 2, 6.5, 4), false},
    {"set a mask", set_mask, 2, {2, 2}, 2, {2, 2}, WANT(0, 2, 3, 0), true},
    {"inc a mask", inc_mask, 2, {3, 2}, 2, {3, 2}, WANT(3.5, 5, 3, 4, 7.5, 9), false},
    {"set lists apart", set_apart, 3, {2, 2, 2}, 3, {2, 2, 2}, WANT(2.5, 2, 3.5, 4, 5, 1, 7, 2), false},
    {"set_subtensor of a part", set_part, 2, {2, 2}, 2, {2, 2}, WANT(1, 2, 0, 0), true},
    {"inc_subtensor of a part", inc_part, 2, {3, 1}, 2, {3, 1}, WANT(1, 4, 4), true},
    {.name = NULL},
};

/* ---- In place ---------------------------------------------------------------------------------------------------- */

/* Runs the in-place form of y's Op over x0; the value may be a view of x0. */
static void check_in_place(const char *name, damo_var *(*make)(build *b, damo_var *x), damo_array *x0, damo_array *y0) {
  build b;
  build_init(&b, ctx);
  damo_var *y = make(&b, case_input(&b, x0, true));
  damo_array *want = case_value(&b, y, name);
  if (!want || !CHECK(y->owner != NULL)) {
    build_end(&b);
    return;
  }
  prop_value props[3] = {y->owner->op->props[0], y->owner->op->props[1], prop_bool(true)};
  damo_op *op = op_new(ctx, y->owner->op->def, props);
  CHECK(op->destroy_map && op->destroy_map[0].out == 0 && op->destroy_map[0].in == 0);
  damo_apply *node = op_apply(ctx, op, y->owner->in, y->owner->n_in);
  cell values[9] = {damo_retain(x0), damo_retain(y0)}, *out = &values[node->n_in];
  for (int i = 2; i < node->n_in; i++) values[i] = damo_retain(node->in[i]->value);
  thunk_alone *a = thunk_alone_new(ctx, node, values, NULL, NULL);
  if (CHECK(a && thunk_run(&a->t, &a->f) == DAMO_OK)) {
    CHECK(*out == (damo_obj *)x0);
    if (!CHECK(array_equal((damo_array *)*out, want, false))) fprintf(stderr, "    %s\n", name);
  }
  thunk_alone_free(a);
  for (int i = 0; i < 9; i++) damo_release(values[i]);
  damo_release(node), damo_release(op), damo_release(want);
  build_end(&b);
}

static void test_in_place(void) {
  damo_array *x0 = case_counting(1, (const int64_t[]){3}), *y0 = array_copy(x0);
  for (int i = 0; i < 3; i++) ((double *)y0->data)[i] *= 0.5;
  check_in_place("inc in place", inc_backward, x0, y0);
  damo_release(x0);
  x0 = case_counting(1, (const int64_t[]){3});
  check_in_place("advanced inc in place", inc_repeated, x0, y0);
  damo_release(x0), damo_release(y0);
  /* the value shares memory with the target */
  x0 = case_counting(1, (const int64_t[]){3});
  build b;
  build_init(&b, ctx);
  damo_var *x = case_input(&b, x0, true), *in[3] = {x, x, build_int(&b, -1)};
  prop_value spec = prop_str("s001");
  damo_var *y = build_fn(&b, "set_subtensor_at", in, 3, IN_ORDER(b.ctx, "set_subtensor_at", spec));
  prop_value props[3] = {spec, prop_bool(true), prop_bool(true)};
  if (CHECK(y && y->owner)) {
    damo_op *op = op_new(ctx, &incsubtensor_def, props);
    damo_apply *node = op_apply(ctx, op, y->owner->in, 3);
    cell cells[3] = {damo_retain(x0), damo_retain(node->in[2]->value), NULL};
    thunk_alone *a = thunk_alone_new(ctx, node, cells, (const int32_t[]){0, 0, 1, 2}, NULL);
    CHECK(a && thunk_run(&a->t, &a->f) == DAMO_OK);
    for (int i = 0; i < 3; i++) CHECK_NEAR(case_at(x0, i), 3 - i, 0);
    thunk_alone_free(a);
    for (int i = 0; i < 3; i++) damo_release(cells[i]);
    damo_release(node), damo_release(op);
  }
  damo_release(x0);
  build_end(&b);
}

/* ---- No gradient ------------------------------------------------------------------------------------------------- */

static void test_positions(void) {
  build b_, *b = &b_;
  build_init(b, ctx);
  damo_var *in[2] = {LIST(2, 1), build_int(b, 3)};
  prop_value int8 = prop_str("int8");
  damo_array *v = case_value(b, build_fn(b, "one_hot", in, 2, IN_ORDER(b->ctx, "one_hot", int8)), "one_hot");
  const double want[6] = {0, 1, 0, 1, 0, 0};
  if (v && CHECK_EQ_I(array_dtype(v), DAMO_INT8) && CHECK_EQ_I(array_size(v), 6))
    for (int i = 0; i < 6; i++) CHECK_NEAR(case_at(v, i), want[i], 0);
  damo_release(v);
  damo_var *m = mask(b, 2, (const int64_t[]){2, 2}, (const uint8_t[]){0, 1, 1, 0});
  ptrvec out;
  ptrvec_init(&out, ctx);
  if (CHECK(func_call(b, func_find(ctx, "nonzero"), &m, 1, NULL, &out) == DAMO_OK) && CHECK_EQ_I(out.n, 2)) {
    damo_array *rows = case_value(b, out.at[0], "nonzero"), *columns = case_value(b, out.at[1], "nonzero");
    CHECK(rows && case_at(rows, 0) == 1 && case_at(rows, 1) == 2);
    CHECK(columns && case_at(columns, 0) == 2 && case_at(columns, 1) == 1);
    damo_release(rows), damo_release(columns);
  }
  ptrvec_clear(&out);
  build_end(b);
}

/* Ends computed from the shape: no length is static, but the length is still inferred. */
static void test_symbolic(void) {
  const op_case c = {"symbolic range", symbolic_range, 1, {4}, 1, {2}, WANT(3, 4), false};
  case_run(&c, false);
  build b;
  build_init(&b, ctx);
  damo_type *t = type_tensor(ctx, DAMO_FLOAT64, 1, NULL);
  damo_var *x = build_take(&b, var_new(ctx, t, "x"));
  damo_var *y = from(&b, build_dimshuffle(&b, x, (const int[]){-1, 0}, 2)); /* the last two of an unknown number */
  if (CHECK(y)) CHECK_EQ_I(y->type->shape[1], 2);
  damo_release(t);
  build_end(&b);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static damo_var *bad_position(build *b, damo_var *x) { return READ("i", I(9)); }
static damo_var *zero_position(build *b, damo_var *x) { return READ("s000i", I(0)); }
static damo_var *bad_stop(build *b, damo_var *x) { return READ("s110", I(1), I(9)); }
static damo_var *bad_start(build *b, damo_var *x) { return READ("s100", I(0)); }
static damo_var *bad_step(build *b, damo_var *x) { return READ("s001", I(0)); }
static damo_var *too_many(build *b, damo_var *x) { return READ("iii", I(1), I(1), I(1)); }
static damo_var *bad_list(build *b, damo_var *x) { return READ("l", LIST(1, 5)); }
static damo_var *bad_lists(build *b, damo_var *x) { return READ("ll", LIST(1, 1), LIST(1, 1, 1)); }
static damo_var *bad_mask(build *b, damo_var *x) {
  return READ("l", mask(b, 1, (const int64_t[]){3}, (const uint8_t[]){1, 0, 1}));
}
static damo_var *bad_value(build *b, damo_var *x) { return INC(LIST(1, 2, 3), "s110", I(1), I(2)); }
static damo_var *not_a_part(build *b, damo_var *x) { return build_fn2(b, "set_subtensor", x, build_int(b, 1)); }
static damo_var *fraction(build *b, damo_var *x) { return READ("i", build_num(b, 1.5)); }

static const error_case errors[] = {
    {bad_position, 2, {4, 3}, DAMO_EINDEX, "index: position 9 is outside axis 1 of length 4"},
    {zero_position,
     2,
     {4, 3},
     DAMO_EINDEX,
     "index: position 0 is outside axis 2 of length 3; positions count from 1, from the end from -1"},
    {bad_stop, 1, {4}, DAMO_EINDEX, "index: the range's stop, 9, is outside axis 1 of length 4"},
    {bad_start,
     1,
     {4},
     DAMO_EINDEX,
     "index: the range's start, 0, is outside axis 1 of length 4; positions count from 1, from the end from -1"},
    {bad_step, 1, {4}, DAMO_EVALUE, "index: the step of a range on axis 1 is 0"},
    {too_many, 2, {4, 3}, DAMO_EINDEX, "index: too many indices: 3 for an operand with 2 axes"},
    {bad_list, 1, {4}, DAMO_EINDEX, "index: position 5 is outside axis 1 of length 4"},
    {bad_lists, 2, {4, 3}, DAMO_EINDEX, "index: lists of lengths 2 and 3 do not broadcast together"},
    {bad_mask, 1, {4}, DAMO_EINDEX, "index: a mask of length 3 on axis 1 of length 4"},
    {bad_value,
     1,
     {4},
     DAMO_ESHAPE,
     "inc_subtensor: a value of shape (3,) does not broadcast to the indexed part of shape (2,)"},
    {not_a_part, 1, {4}, DAMO_ETYPE, "set_subtensor: the first argument must be a part of a Variable, x[…]"},
    {fraction, 1, {4}, DAMO_ETYPE, "index: positions and ends of ranges must be integers, got float64 with a fraction"},
    {.make = NULL},
};

int main(void) {
  ctx = damo_ctx_new(leak_alloc, NULL);
  if (!CHECK(ctx != NULL)) return 1;
  case_run_all(reads);
  case_run_all(writes);
  test_in_place();
  test_positions();
  test_symbolic();
  case_errors(errors);
  ctx_clear_error(ctx);
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
  leak_end(ctx);
  TEST_MAIN_END;
}
