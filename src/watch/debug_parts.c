/* debug_parts.c: the dense equals of parts of sparse matrices, of what is put together from parts, and of what is
 * moved as a whole. */
#include "debug_sparse.h"
#include "op/elem/build_arith.h"

static const int64_t *exam_shape(const debug_exam *e, int i) { return debug_exam_matrix(e, i)->shape; }

/* ---- By positions ------------------------------------------------------------------------------------------------ */

static bool of_columns(const debug_exam *e) {
  const prop_value axis = debug_exam_prop(e, "axis");
  return axis.kind == PROP_INT && axis.u.i == 2;
}

static damo_var *dense_list_taken(debug_exam *e) { return debug_exam_take(e, e->in[0], e->in[1], of_columns(e)); }

static damo_var *dense_list_put(debug_exam *e) {
  return debug_exam_put(e, exam_shape(e, 0), e->in[2], of_columns(e) ? "s000l" : "l", &e->in[1], 1);
}

static damo_var *dense_elements_taken(debug_exam *e) { return debug_exam_read(e, e->in[0], "ll", &e->in[1], 2); }

static damo_var *dense_elements_put(debug_exam *e) {
  return debug_exam_put(e, exam_shape(e, 0), e->in[3], "ll", &e->in[1], 2);
}

static damo_var *dense_element_taken(debug_exam *e) { return debug_exam_read(e, e->in[0], "ii", &e->in[1], 2); }

static const char *exam_spec(const debug_exam *e) {
  const prop_value *v = op_prop(e->node->op, "spec");
  return v->kind == PROP_STR ? v->u.s : "s111s111";
}

static damo_var *dense_block_taken(debug_exam *e) {
  return debug_exam_read(e, e->in[0], exam_spec(e), &e->in[1], e->node->n_in - 1);
}

static damo_var *dense_block_put(debug_exam *e) {
  return debug_exam_put(e, exam_shape(e, 0), e->in[1], exam_spec(e), &e->in[2], e->node->n_in - 2);
}

static damo_var *dense_rows_constructed(debug_exam *e) {
  return debug_exam_put(e, array_shape((const damo_array *)e->values[0]), e->in[1], "l", &e->in[2], 1);
}

static damo_var *dense_permuted(debug_exam *e) {
  return debug_exam_take(e, debug_exam_take(e, e->in[0], e->in[1], 0), e->in[2], 1);
}

/* ---- Parts along the diagonal, parts side by side ---------------------------------------------------------------- */

static damo_var *i64(build *b, int64_t v) { return build_scalar(b, DAMO_INT64, (double)v); }

static damo_var *dense_blocks_put(debug_exam *e) {
  int64_t at[2] = {0, 0};
  const int64_t *shape = ((const damo_sparse *)e->results[0])->shape;
  damo_var *sum = debug_exam_zeros(e, var_dtype(e->node->out[0]), shape);
  for (int i = 0; i < e->node->n_in && sum != NULL; i++) {
    const int64_t *own = exam_shape(e, i);
    damo_var *ends[4] = {i64(e->b, at[0] + 1), i64(e->b, at[0] + own[0]), i64(e->b, at[1] + 1),
                         i64(e->b, at[1] + own[1])};
    if (own[0] > 0 && own[1] > 0) {
      damo_var *part = debug_exam_put(e, shape, e->in[i], "s110s110", ends, 4);
      sum = part != NULL ? build_add(e->b, sum, part) : NULL;
    }
    for (int k = 0; k < 2; k++) at[k] += own[k];
  }
  return sum;
}

/* The parts put together again. */
static damo_var *dense_split(debug_exam *e) {
  e->got = build_fn(e->b, of_columns(e) ? "hstack" : "vstack", e->out, e->node->n_out, NULL);
  return e->in[0];
}

/* ---- Diagonals --------------------------------------------------------------------------------------------------- */

/* k of tril and triu, no further than the matrix goes. */
static diagonal_options band_offset(const debug_exam *e, const char *name) {
  const int64_t most = exam_shape(e, 0)[0] + exam_shape(e, 0)[1], k = debug_exam_prop(e, name).u.i;
  return (diagonal_options){.k = prop_int(k > most ? most : k < -most ? -most : k)};
}

static damo_var *dense_band(debug_exam *e) {
  damo_var *x = e->in[0];
  const diagonal_options low = band_offset(e, "low"), high = band_offset(e, "high");
  if (debug_exam_prop(e, "low").kind != PROP_NIL) x = build_fn(e->b, "triu", &x, 1, &low);
  if (x != NULL && debug_exam_prop(e, "high").kind != PROP_NIL) x = build_fn(e->b, "tril", &x, 1, &high);
  return x;
}

static damo_var *dense_trace(debug_exam *e) { return build_fn1(e->b, "trace", e->in[0]); }

/* A scalar wherever row and column are the same. */
static damo_var *dense_scalar_eye(debug_exam *e) {
  const int64_t *shape = exam_shape(e, 1);
  const int64_t n = shape[0] < shape[1] ? shape[0] : shape[1];
  damo_array *at = array_empty(e->b->ctx, DAMO_INT64, 1, &n);
  for (int64_t k = 0; at != NULL && k < n; k++) ((int64_t *)(void *)at->data)[k] = k + 1;
  damo_var *list = build_value(e->b, at != NULL ? &at->obj : NULL);
  return list != NULL ? debug_exam_put(e, shape, e->in[0], "ll", (damo_var *[]){list, list}, 2) : NULL;
}

/* ---- Extremes ---------------------------------------------------------------------------------------------------- */

static damo_var *dense_extremum(debug_exam *e) {
  const reduce_options opt = {.axis = debug_exam_prop(e, "axis")};
  return build_fn(e->b, debug_exam_prop(e, "kind").u.s, e->in, 1, &opt);
}

const debug_dense_row debug_part_rows[] = {
    {"GetItemList", dense_list_taken},
    {"GetItemListGrad", dense_list_put},
    {"GetItem2Lists", dense_elements_taken},
    {"GetItem2ListsGrad", dense_elements_put},
    {"GetItemScalar", dense_element_taken},
    {"GetItem2d", dense_block_taken},
    {"GetItem2dGrad", dense_block_put},
    {"ConstructSparseFromList", dense_rows_constructed},
    {"Permute", dense_permuted},
    {"BlockDiag", dense_blocks_put},
    {"SparseSplit", dense_split},
    {"Band", dense_band},
    {"Trace", dense_trace},
    {"EyeLike", dense_scalar_eye},
    {"SpExtremum", dense_extremum},
    {NULL, NULL},
};
