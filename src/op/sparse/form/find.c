/* find: the coordinates of the stored entries.
 *
 * Class: Coordinates: the 1-based row and column of each stored entry, int64 vectors in the order of storage.
 */
#include "op/sparse/sparse_op.h"

#define FIND_PART 8192 /* entries between two points */

static damo_status sp_coordinates_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const int64_t unknown = -1;
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  for (int i = 0; i < 2; i++) DAMO_TRY(type_give_dense(op, out + i, DAMO_INT64, 1, &unknown));
  return DAMO_OK;
}

static damo_status sp_coordinates_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0);
  const int64_t n = sparse_nnz(x);
  int64_t *at[2];
  for (int i = 0; i < 2; i++) {
    damo_array *out = thunk_out(t, f, i, DAMO_INT64, 1, &n);
    if (out == NULL) return DAMO_EMEMORY;
    at[i] = (int64_t *)(void *)out->data;
  }
  sparse_coordinates(x, at[0], at[1]);
  for (int i = 0; i < 2; i++) {
    for (int64_t k = 0; k < n; k++) {
      at[i][k]++;
      ctx_point_each(f->ctx, k, FIND_PART);
    }
  }
  return DAMO_OK;
}

static const op_def sp_coordinates_def = {
    .name = "Coordinates",
    .doc = "the 1-based rows and columns of a sparse matrix's entries",
    .n_in = 1,
    .n_out = 2,
    .infer_type = sp_coordinates_type,
    .perform = sp_coordinates_perform,
    .grad = grad_none,
    .rop = rop_none,
    .connection_pattern = connect_none,
    OP_CHECK(coordinates_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* Rows and columns of the elements that are not 0; with `values` also their values. */
static damo_status sp_fn_places(build *b, const fn_args *a, ptrvec *out, bool values) {
  damo_var *x = sparse_operand(b, a, 0);
  if (x != NULL) x = build_without_zeros(b, build_summed(b, x));
  if (x == NULL) return b->status;
  damo_apply *node = build_apply(b, op_new(b->ctx, &sp_coordinates_def, NULL), &x, 1);
  if (node == NULL) return b->status;
  for (int i = 0; i < 2; i++) DAMO_TRY(fn_give(b, out, node->out[i]));
  return values ? fn_give(b, out, build_data(b, x)) : DAMO_OK;
}

static damo_status sp_fn_find(build *b, const fn_args *a, ptrvec *out) { return sp_fn_places(b, a, out, true); }
static damo_status sp_fn_nonzero(build *b, const fn_args *a, ptrvec *out) { return sp_fn_places(b, a, out, false); }

const op_func sparse_find_funcs[] = {
    {.name = "sparse.find",
     .operands = "x",
     .call = sp_fn_find,
     .doc = "rows, columns and values of the elements that are not 0, in the order of storage: what coo takes"},
    {.name = "sparse.nonzero",
     .operands = "x",
     .call = sp_fn_nonzero,
     .doc = "rows and columns of the elements that are not 0"},
    {.name = NULL},
};

const op_def *const sparse_find_classes[] = {&sp_coordinates_def, NULL};
