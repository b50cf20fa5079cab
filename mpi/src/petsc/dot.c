/* dot.c: MpiDot, a distributed matrix (or its transpose) times a vector or the columns of a matrix, and MpiSample, which
 * gives of an outer product of two vectors the entries at the matrix's stored places. Each is the other's gradient.
 */
#include "node.h"
#include "ops.h"

static bool is_transposed(const damo_op *op) {
  bool transposed = false;
  damo_op_get_bool(op, "transposed", &transposed);
  return transposed;
}

static damo_status check_float64(const damo_op *op, damo_var *x, const char *what) {
  const damo_type *type = damo_var_get_type(x);
  const int ndim = damo_type_ndim(type);
  if (damo_type_dtype(type) == DAMO_FLOAT64 && !damo_type_is_sparse(type) && (ndim == 1 || ndim == 2)) return DAMO_OK;
  return library_fail(damo_obj_ctx(op), DAMO_ETYPE, "%s: %s must be a vector or a matrix of dtype float64",
                      damo_op_name(op), what);
}

/* ---- MpiDot ------------------------------------------------------------------------------------------------------ */

enum { DOT_X = IN_OPERAND, DOT_TICKET, DOT_N_IN };
enum { DOT_Y, DOT_TICKET_OUT, DOT_N_OUT };

static damo_status dot_types(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = damo_obj_ctx(op);
  const damo_type *x = damo_var_get_type(in[DOT_X]);
  (void)n_in;
  damo_status s = check_float64(op, in[DOT_X], "the operand");
  if (s != DAMO_OK) return s;
  int64_t shape[2] = {-1, damo_type_ndim(x) == 2 ? damo_type_shape(x)[1] : -1};
  out[DOT_Y] = damo_type_tensor(ctx, DAMO_FLOAT64, damo_type_ndim(x), shape);
  out[DOT_TICKET_OUT] = damo_type_tensor(ctx, DAMO_INT64, 0, NULL);
  return out[DOT_Y] != NULL && out[DOT_TICKET_OUT] != NULL ? DAMO_OK : DAMO_EMEMORY;
}

static PetscErrorCode multiply(const run *r, const double *x, double *y) {
  Vec in = r->transposed ? r->m->left : r->m->right, out = r->transposed ? r->m->right : r->m->left;
  PetscCall(VecPlaceArray(in, x));
  PetscErrorCode code = VecPlaceArray(out, y);
  if (code == 0) {
    code = r->transposed ? MatMultTranspose(r->m->mat, in, out) : MatMult(r->m->mat, in, out);
    VecResetArray(out);
  }
  VecResetArray(in);
  return code;
}

static damo_status multiply_columns(const run *r, const damo_array *x, const damo_array *y, double *room) {
  PetscErrorCode code = 0;
  const int64_t n = column_count(x);
  library_enter(r->lib);
  for (int64_t c = 0; c < n && code == 0; c++) {
    double *to = column_out(y, c, room + damo_array_shape(x)[0]);
    code = multiply(r, column_read(x, c, room), to);
    column_put(y, c, to);
  }
  const damo_status s = library_check(r->lib, r->ctx, code, "dot");
  library_leave(r->lib);
  return s;
}

static damo_status dot_perform(damo_thunk *t) {
  run r;
  damo_array *y = NULL;
  double *room = NULL;
  const damo_array *x = damo_thunk_input(t, DOT_X);
  damo_status s = run_begin(t, true, &r);
  if (s == DAMO_OK) s = column_check(r.ctx, "dot", "the operand", x, r.transposed ? r.m->m : r.m->n);
  if (s == DAMO_OK) {
    const int64_t rows = r.transposed ? r.m->n : r.m->m, shape[2] = {rows, column_count(x)};
    y = damo_thunk_output(t, DOT_Y, DAMO_FLOAT64, damo_array_ndim(x), shape);
    room = y != NULL ? damo_thunk_scratch(t, ((size_t)r.m->m + (size_t)r.m->n) * sizeof(double)) : NULL;
    s = room != NULL ? run_pass_ticket(&r, DOT_TICKET, DOT_TICKET_OUT) : DAMO_EMEMORY;
  }
  s = library_agree(r.lib, r.ctx, s, &(const agreement){"columns", s == DAMO_OK ? column_count(x) : 0});
  return s == DAMO_OK ? multiply_columns(&r, x, y, room) : s;
}

static damo_var *sample(library *lib, damo_apply *node, damo_var *take_rows, damo_var *take_cols) {
  return node_on_matrix(lib, "MpiSample", NULL, 0, node, (damo_var *const[]){take_rows, take_cols}, 2);
}

static damo_var *dot_of(library *lib, damo_apply *node, bool transposed, damo_var *take_x) {
  const damo_prop prop = damo_prop_bool("transposed", transposed);
  return node_on_matrix(lib, "MpiDot", &prop, 1, node, &take_x, 1);
}

static damo_var *dot_with(library *lib, damo_apply *node, bool transposed, damo_var *data, damo_var *take_x) {
  const damo_prop prop = damo_prop_bool("transposed", transposed);
  return node_on_values(lib, "MpiDot", &prop, 1, node, data, &take_x, 1);
}

/* y = A·x: the gradient of A's entry (i, j) is the sum over columns of ȳ_i x_j, that of x is Aᵀ·ȳ. */
static damo_status dot_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  library *lib = damo_op_user(op);
  damo_var *x = damo_apply_get_input(node, DOT_X), *g = gout[DOT_Y];
  const bool transposed = is_transposed(op);
  if (g == NULL) return DAMO_OK;
  gin[IN_DATA] = transposed ? sample(lib, node, damo_retain(x), damo_retain(g))
                            : sample(lib, node, damo_retain(g), damo_retain(x));
  gin[DOT_X] = dot_of(lib, node, !transposed, damo_retain(g));
  return gin[IN_DATA] != NULL && gin[DOT_X] != NULL ? DAMO_OK : damo_error_status(damo_obj_ctx(op));
}

static damo_status dot_rop(const damo_op *op, damo_apply *node, damo_var *const *eval, damo_var **tangent) {
  library *lib = damo_op_user(op);
  damo_ctx *ctx = damo_obj_ctx(op);
  const bool transposed = is_transposed(op);
  damo_var *of_data = NULL, *of_x = NULL;
  if (eval[IN_DATA] != NULL) {
    of_data = dot_with(lib, node, transposed, eval[IN_DATA], damo_retain(damo_apply_get_input(node, DOT_X)));
    if (of_data == NULL) return damo_error_status(ctx);
  }
  if (eval[DOT_X] != NULL) {
    of_x = dot_of(lib, node, transposed, damo_retain(eval[DOT_X]));
    if (of_x == NULL) {
      damo_release(of_data);
      return damo_error_status(ctx);
    }
  }
  if (of_data == NULL && of_x == NULL) return DAMO_OK;
  tangent[DOT_Y] = node_sum(ctx, of_data, of_x);
  return tangent[DOT_Y] != NULL ? DAMO_OK : damo_error_status(ctx);
}

/* A gradient flows to the values and the operand alone, and from the first output alone. */
static void dot_connected(const damo_apply *node, bool *connected) {
  const int n_in = damo_apply_n_inputs(node), n_out = damo_apply_n_outputs(node);
  for (int i = 0; i < n_in; i++) {
    for (int o = 0; o < n_out; o++) connected[i * n_out + o] = o == DOT_Y && (i == IN_DATA || i == DOT_X);
  }
}

const damo_op_class dot_class = {.name = "MpiDot",
                                 .doc = "a distributed matrix, or its transpose, times a distributed vector or matrix",
                                 .props = "seq transposed",
                                 .n_in = DOT_N_IN,
                                 .n_out = DOT_N_OUT,
                                 .infer_type = dot_types,
                                 .perform = dot_perform,
                                 .grad = dot_grad,
                                 .rop = dot_rop,
                                 .connection_pattern = dot_connected,
                                 .impure = true};

/* ---- MpiSample --------------------------------------------------------------------------------------------------- */

enum { SAMPLE_U = IN_OPERAND, SAMPLE_V, SAMPLE_TICKET, SAMPLE_N_IN };
enum { SAMPLE_OUT, SAMPLE_TICKET_OUT, SAMPLE_N_OUT };

static damo_status sample_types(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = damo_obj_ctx(op);
  (void)n_in;
  damo_status s = check_float64(op, in[SAMPLE_U], "the operand by rows");
  if (s == DAMO_OK) s = check_float64(op, in[SAMPLE_V], "the operand by columns");
  if (s != DAMO_OK) return s;
  out[SAMPLE_OUT] = damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL);
  out[SAMPLE_TICKET_OUT] = damo_type_tensor(ctx, DAMO_INT64, 0, NULL);
  return out[SAMPLE_OUT] != NULL && out[SAMPLE_TICKET_OUT] != NULL ? DAMO_OK : DAMO_EMEMORY;
}

/* Adds u_i v_j of one column to each entry (i, j); ghost has the v_j of other ranks' columns. */
static void add_products(const matrix *m, const PetscInt *dj, const PetscInt *oj, const double *u, const double *v,
                         const double *ghost, double *out) {
  const PetscInt *indptr = damo_array_data(m->indptr), *slot = damo_array_data(m->slot);
  for (PetscInt r = 0; r < m->m; r++) {
    for (PetscInt k = indptr[r]; k < indptr[r + 1]; k++) {
      const PetscInt at = slot[k];
      out[k] += u[r] * (at < m->n_diag ? v[dj[at]] : ghost[oj[at - m->n_diag]]);
    }
  }
}

static PetscErrorCode sample_column(matrix *m, const double *u, const double *v, double *out) {
  const PetscInt *i, *dj, *oj = NULL;
  const PetscScalar *ghost = NULL;
  PetscCall(MatSeqAIJGetCSRAndMemType(m->diag, &i, &dj, NULL, NULL));
  if (m->off == NULL) {
    add_products(m, dj, oj, u, v, ghost, out);
    return 0;
  }
  PetscCall(MatSeqAIJGetCSRAndMemType(m->off, &i, &oj, NULL, NULL));
  PetscCall(matrix_need_ghost(m));
  PetscCall(VecPlaceArray(m->right, v));
  PetscErrorCode code = VecScatterBegin(m->scatter, m->right, m->ghost, INSERT_VALUES, SCATTER_FORWARD);
  if (code == 0) code = VecScatterEnd(m->scatter, m->right, m->ghost, INSERT_VALUES, SCATTER_FORWARD);
  VecResetArray(m->right);
  PetscCall(code);
  PetscCall(VecGetArrayRead(m->ghost, &ghost));
  add_products(m, dj, oj, u, v, ghost, out);
  PetscCall(VecRestoreArrayRead(m->ghost, &ghost));
  return 0;
}

static damo_status sample_columns(const run *r, const damo_array *u, const damo_array *v, double *out, double *room) {
  PetscErrorCode code = 0;
  const int64_t n = column_count(u);
  for (PetscInt k = 0; k < r->m->nnz; k++) out[k] = 0;
  library_enter(r->lib);
  for (int64_t c = 0; c < n && code == 0; c++) {
    code = sample_column(r->m, column_read(u, c, room), column_read(v, c, room + r->m->m), out);
  }
  const damo_status s = library_check(r->lib, r->ctx, code, "dot");
  library_leave(r->lib);
  return s;
}

static damo_status sample_perform(damo_thunk *t) {
  run r;
  damo_array *out = NULL;
  double *room = NULL;
  const damo_array *u = damo_thunk_input(t, SAMPLE_U), *v = damo_thunk_input(t, SAMPLE_V);
  damo_status s = run_begin(t, false, &r);
  if (s == DAMO_OK) s = column_check(r.ctx, "gradient of dot", "the operand by rows", u, r.m->m);
  if (s == DAMO_OK) s = column_check(r.ctx, "gradient of dot", "the operand by columns", v, r.m->n);
  if (s == DAMO_OK && column_count(u) != column_count(v)) {
    s = damo_fail(r.ctx, DAMO_ESHAPE, "gradient of dot: the operands have different numbers of columns");
  }
  if (s == DAMO_OK) {
    const int64_t nnz = r.m->nnz;
    out = damo_thunk_output(t, SAMPLE_OUT, DAMO_FLOAT64, 1, &nnz);
    room = out != NULL ? damo_thunk_scratch(t, ((size_t)r.m->m + (size_t)r.m->n) * sizeof(double)) : NULL;
    s = room != NULL ? run_pass_ticket(&r, SAMPLE_TICKET, SAMPLE_TICKET_OUT) : DAMO_EMEMORY;
  }
  s = library_agree(r.lib, r.ctx, s, &(const agreement){"columns", s == DAMO_OK ? column_count(u) : 0});
  return s == DAMO_OK ? sample_columns(&r, u, v, damo_array_data(out), room) : s;
}

/* The sum of g times the entries is uᵀ·G·v with G, the matrix of values g: the gradients are G·v and Gᵀ·u. */
static damo_status sample_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  library *lib = damo_op_user(op);
  damo_var *u = damo_apply_get_input(node, SAMPLE_U), *v = damo_apply_get_input(node, SAMPLE_V);
  if (gout[SAMPLE_OUT] == NULL) return DAMO_OK;
  gin[SAMPLE_U] = dot_with(lib, node, false, gout[SAMPLE_OUT], damo_retain(v));
  gin[SAMPLE_V] = dot_with(lib, node, true, gout[SAMPLE_OUT], damo_retain(u));
  return gin[SAMPLE_U] != NULL && gin[SAMPLE_V] != NULL ? DAMO_OK : damo_error_status(damo_obj_ctx(op));
}

static damo_status sample_rop(const damo_op *op, damo_apply *node, damo_var *const *eval, damo_var **tangent) {
  library *lib = damo_op_user(op);
  damo_ctx *ctx = damo_obj_ctx(op);
  damo_var *u = damo_apply_get_input(node, SAMPLE_U), *v = damo_apply_get_input(node, SAMPLE_V);
  damo_var *of_u = NULL, *of_v = NULL;
  if (eval[SAMPLE_U] == NULL && eval[SAMPLE_V] == NULL) return DAMO_OK;
  if (eval[SAMPLE_U] != NULL) {
    of_u = sample(lib, node, damo_retain(eval[SAMPLE_U]), damo_retain(v));
    if (of_u == NULL) return damo_error_status(ctx);
  }
  if (eval[SAMPLE_V] != NULL) {
    of_v = sample(lib, node, damo_retain(u), damo_retain(eval[SAMPLE_V]));
    if (of_v == NULL) {
      damo_release(of_u);
      return damo_error_status(ctx);
    }
  }
  tangent[SAMPLE_OUT] = node_sum(ctx, of_u, of_v);
  return tangent[SAMPLE_OUT] != NULL ? DAMO_OK : damo_error_status(ctx);
}

static void sample_connected(const damo_apply *node, bool *connected) {
  const int n_in = damo_apply_n_inputs(node), n_out = damo_apply_n_outputs(node);
  for (int i = 0; i < n_in; i++) {
    for (int o = 0; o < n_out; o++) connected[i * n_out + o] = o == SAMPLE_OUT && (i == SAMPLE_U || i == SAMPLE_V);
  }
}

const damo_op_class sample_class = {.name = "MpiSample",
                                    .doc = "the products u_i v_j at the stored places of a distributed matrix",
                                    .props = "seq",
                                    .n_in = SAMPLE_N_IN,
                                    .n_out = SAMPLE_N_OUT,
                                    .infer_type = sample_types,
                                    .perform = sample_perform,
                                    .grad = sample_grad,
                                    .rop = sample_rop,
                                    .connection_pattern = sample_connected,
                                    .impure = true};
