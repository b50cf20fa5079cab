/* sparse_rewrite_test: rewriting uses the properties that a class declares: a class declared elementwise, which no rule
 * knows by name, is moved to the positions that are read; the same class without the declaration is not. */
#include "api/api.h"
#include "leak_case.h"
#include "sparse/sparse.h"
#include "test.h"
#include "op/op.h"
#include "rewrite/rewrite.h"
#include "by_name.h"

static damo_ctx *ctx;

/* weigh(x, w, k): each entry of x times the w of its column and k. */
static damo_status weigh_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op, (void)n_in;
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

static damo_status weigh(const thunk *t, frame *f) {
  damo_sparse *x = (damo_sparse *)thunk_value(t, f, 0), *y = sparse_copy(x);
  const double *w = (const double *)thunk_in(t, f, 1)->data, *k = (const double *)thunk_in(t, f, 2)->data;
  if (y == NULL) return DAMO_EMEMORY;
  for (int64_t i = 0; i < sparse_nnz(x); i++) {
    ((double *)y->data->data)[i] *= w[((const int32_t *)x->indices->data)[i]] * *k;
  }
  damo_sparse *out = sparse_with_data(x, y->data);
  damo_release(y);
  if (out == NULL) return damo_error_status(f->ctx);
  thunk_set_out(t, f, 0, &out->obj);
  return DAMO_OK;
}

#define WEIGH(says)                                                                                    \
  {                                                                                                    \
    .name = "Weigh", .n_in = 3, .infer_type = weigh_type, .perform = weigh, .pattern = PATTERN_SHARED, \
    .entrywise = says                                                                                  \
  }
static const op_def silent_def = WEIGH(false), entrywise_def = WEIGH(true);

/* [[1, 0, 2], [0, 3, 0]] */
static damo_var *matrix(build *b) {
  damo_sparse *m = damo_sparse_from_coo(ctx, DAMO_CSR, DAMO_FLOAT64, 2, 3, 3, (const int64_t[]){0, 0, 1},
                                        (const int64_t[]){0, 2, 1}, (const double[]){1, 2, 3});
  damo_type *t = type_sparse(ctx, DAMO_CSR, DAMO_FLOAT64, DAMO_INT32, NULL);
  damo_var *v = build_take(b, var_shared(ctx, t, &m->obj, "m"));
  damo_release(t);
  damo_release(m);
  return v;
}

/* Whether the first input of the node of that class was expanded at the matrix's own positions (sparse_grad). */
static bool is_moved(const damo_fgraph *fg, const op_def *def) {
  ptrvec nodes;
  bool moved = false;
  ptrvec_init(&nodes, ctx);
  CHECK_EQ_I(fgraph_toposort(fg, &nodes), DAMO_OK);
  for (int64_t i = 0; i < nodes.n; i++) {
    const damo_apply *node = nodes.at[i];
    if (node->op->def == def) moved = op_prop(node->in[0]->owner->op, "sparse_grad")->u.i != 0;
  }
  ptrvec_clear(&nodes);
  return moved;
}

static void check(const op_def *def, bool moves) {
  build b;
  build_init(&b, ctx);
  damo_var *x = matrix(&b), *cost = build_fn1(&b, "sum", x), *g = NULL, *in[3], *out = NULL;
  damo_array *w = damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){3}, (const double[]){1, 10, 100});
  CHECK_EQ_I(damo_grad(ctx, cost, &x, 1, &g), DAMO_OK);
  in[0] = g;
  in[1] = build_value(&b, &w->obj);
  in[2] = build_scalar(&b, DAMO_FLOAT64, 2);
  damo_var *y = build_op(&b, op_new(ctx, def, NULL), in, 3);
  out = build_fn2(&b, "sparse.gather", y, x);
  damo_fgraph *fg = out != NULL ? fgraph_new(ctx, NULL, 0, &out, 1, true, NULL) : NULL;
  CHECK(fg != NULL && rewrite_run(fg, &(rewrite_query){.include = "fast_run"}) == DAMO_OK);
  if (fg != NULL) {
    damo_obj *v = NULL;
    CHECK_EQ_I(is_moved(fg, def), moves);
    CHECK_EQ_I(eager_eval(ctx, (damo_var *const *)fg->outputs.at, 1, &v), DAMO_OK);
    for (int i = 0; v != NULL && i < 3; i++) {
      CHECK_NEAR(((const double *)((damo_array *)v)->data)[i], ((const double[]){2, 200, 20})[i], 0);
    }
    damo_release(v);
  }
  damo_release(fg);
  damo_release(g);
  build_end(&b);
}

/* A class that may be moved must have the pattern of its first input. */
static void test_rows(void) {
  for (const op_def *const *const *family = sparse_classes; *family != NULL; family++) {
    for (const op_def *const *def = *family; *def != NULL; def++) {
      if ((*def)->entrywise) CHECK_EQ_I((*def)->pattern, PATTERN_SHARED);
    }
  }
}

int main(void) {
  ctx = damo_ctx_new(leak_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  const int64_t objects = damo_ctx_memory(ctx).objects;
  check(&silent_def, false);
  check(&entrywise_def, true);
  test_rows();
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, objects);
  leak_end(ctx);
  TEST_MAIN_END;
}
