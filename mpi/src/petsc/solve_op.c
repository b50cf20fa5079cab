/* solve_op.c: MpiSolve, the solution of a distributed linear system by PETSc. */
#include "node.h"
#include "ops.h"
#include "solver.h"

enum { IN_B = IN_OPERAND, IN_TICKET, N_IN };
enum { OUT_X, OUT_REPORT, OUT_TICKET, N_OUT };
enum { REPORT_ITERATIONS, REPORT_RESIDUAL, REPORT_REASON, REPORT_SIZE };

static damo_status solve_types(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = damo_obj_ctx(op);
  damo_type *b = damo_var_get_type(in[IN_B]);
  const int64_t size = REPORT_SIZE;
  (void)n_in;
  if (damo_type_dtype(b) != DAMO_FLOAT64 || damo_type_is_sparse(b) || damo_type_ndim(b) < 1 || damo_type_ndim(b) > 2) {
    return damo_fail(ctx, DAMO_ETYPE, "MpiSolve: the right-hand side must be a vector or a matrix of dtype float64");
  }
  out[OUT_X] = damo_retain(b);
  out[OUT_REPORT] = damo_type_tensor(ctx, DAMO_FLOAT64, 1, &size);
  out[OUT_TICKET] = damo_type_tensor(ctx, DAMO_INT64, 0, NULL);
  return out[OUT_REPORT] != NULL && out[OUT_TICKET] != NULL ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status check_square(const run *r) {
  if (r->m->M != r->m->N) {
    return library_fail(r->ctx, DAMO_ESHAPE, "solve: the matrix is %lld × %lld, not square", (long long)r->m->M,
                        (long long)r->m->N);
  }
  if (r->m->m == r->m->n) return DAMO_OK;
  return library_fail(r->ctx, DAMO_ESHAPE,
                      "solve: this rank has %lld rows but %lld columns: a system needs one partition "
                      "of both (leave out the option 'columns' of mpi.matrix)",
                      (long long)r->m->m, (long long)r->m->n);
}

static damo_status solve_columns(const run *r, const damo_array *b, const damo_array *x, double *room, double *report) {
  solver *v = solver_get(r->m, r->ctx, r->op);
  damo_status s = v != NULL ? DAMO_OK : damo_error_status(r->ctx);
  report[REPORT_ITERATIONS] = report[REPORT_RESIDUAL] = report[REPORT_REASON] = 0;
  for (int64_t c = 0; c < column_count(b) && s == DAMO_OK; c++) {
    solve_report one = {0};
    double *to = column_out(x, c, room + r->m->m);
    s = solver_run(v, r->ctx, r->transposed, column_read(b, c, room), to, &one);
    column_put(x, c, to);
    if ((double)one.iterations > report[REPORT_ITERATIONS]) report[REPORT_ITERATIONS] = (double)one.iterations;
    if (one.residual > report[REPORT_RESIDUAL]) report[REPORT_RESIDUAL] = one.residual;
    report[REPORT_REASON] = one.reason;
  }
  return s;
}

static damo_status solve_perform(damo_thunk *t) {
  run r;
  damo_array *x = NULL, *report = NULL;
  double *room = NULL;
  const int64_t size = REPORT_SIZE;
  const damo_array *b = damo_thunk_input(t, IN_B);
  damo_status s = run_begin(t, true, &r);
  if (s == DAMO_OK) s = check_square(&r);
  if (s == DAMO_OK) s = column_check(r.ctx, "solve", "the right-hand side", b, r.m->m);
  if (s == DAMO_OK) {
    x = damo_thunk_output(t, OUT_X, DAMO_FLOAT64, damo_array_ndim(b), damo_array_shape(b));
    report = x != NULL ? damo_thunk_output(t, OUT_REPORT, DAMO_FLOAT64, 1, &size) : NULL;
    room = report != NULL ? damo_thunk_scratch(t, 2 * (size_t)r.m->m * sizeof(double) + 1) : NULL;
    s = room != NULL ? run_pass_ticket(&r, IN_TICKET, OUT_TICKET) : DAMO_EMEMORY;
  }
  s = library_agree(r.lib, r.ctx, s, &(const agreement){"columns", s == DAMO_OK ? column_count(b) : 0});
  return s == DAMO_OK ? solve_columns(&r, b, x, room, damo_array_data(report)) : s;
}

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

#define N_SETTINGS 8

static damo_prop text_prop(const damo_op *op, const char *name) {
  const char *value = damo_op_get_string(op, name);
  return value != NULL ? damo_prop_string(name, value) : (damo_prop){.name = name, .kind = DAMO_PROP_NIL};
}

static damo_prop number_prop(const damo_op *op, const char *name) {
  double value;
  return damo_op_get_number(op, name, &value) ? damo_prop_number(name, value)
                                              : (damo_prop){.name = name, .kind = DAMO_PROP_NIL};
}

/* A solve with the same matrix and settings. */
static damo_var *solve_of(library *lib, const damo_op *op, damo_apply *node, bool transposed, damo_var *take_b) {
  const damo_prop props[N_SETTINGS] = {damo_prop_bool("transposed", transposed),
                                       text_prop(op, "ksp"),
                                       text_prop(op, "pc"),
                                       text_prop(op, "assume"),
                                       text_prop(op, "options"),
                                       number_prop(op, "rtol"),
                                       number_prop(op, "atol"),
                                       number_prop(op, "max_it")};
  return node_on_matrix(lib, "MpiSolve", props, N_SETTINGS, node, &take_b, 1);
}

static bool is_transposed(const damo_op *op) {
  bool transposed = false;
  damo_op_get_bool(op, "transposed", &transposed);
  return transposed;
}

/* A·x = b: with Aᵀ·λ = x̄ the gradient of b is λ, that of A's entry (i, j) is -λ_i x_j. Aᵀ·x = b: -x_i λ_j. */
static damo_status solve_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  library *lib = damo_op_user(op);
  damo_ctx *ctx = damo_obj_ctx(op);
  damo_var *x = damo_apply_get_output(node, OUT_X);
  const bool transposed = is_transposed(op);
  if (gout[OUT_X] == NULL) return DAMO_OK;
  damo_var *lambda = solve_of(lib, op, node, !transposed, damo_retain(gout[OUT_X]));
  if (lambda == NULL) return damo_error_status(ctx);
  damo_var *minus = damo_call(ctx, "neg", &lambda, 1), *own_x = damo_retain(x);
  gin[IN_DATA] = node_on_matrix(lib, "MpiSample", NULL, 0, node,
                                transposed ? (damo_var *const[]){own_x, minus} : (damo_var *const[]){minus, own_x}, 2);
  gin[IN_B] = lambda;
  return gin[IN_DATA] != NULL ? DAMO_OK : damo_error_status(ctx);
}

/* A·ẋ = ḃ - Ȧ·x. */
static damo_status solve_rop(const damo_op *op, damo_apply *node, damo_var *const *eval, damo_var **tangent) {
  library *lib = damo_op_user(op);
  damo_ctx *ctx = damo_obj_ctx(op);
  const damo_prop prop = damo_prop_bool("transposed", is_transposed(op));
  damo_var *right = NULL;
  if (eval[IN_DATA] == NULL && eval[IN_B] == NULL) return DAMO_OK;
  if (eval[IN_DATA] != NULL) {
    damo_var *x = damo_retain(damo_apply_get_output(node, OUT_X));
    damo_var *moved = node_on_values(lib, "MpiDot", &prop, 1, node, eval[IN_DATA], &x, 1);
    right = moved != NULL ? damo_call(ctx, "neg", &moved, 1) : NULL;
    damo_release(moved);
    if (right == NULL) return damo_error_status(ctx);
  }
  right = node_sum(ctx, right, damo_retain(eval[IN_B]));
  tangent[OUT_X] = solve_of(lib, op, node, is_transposed(op), right);
  return tangent[OUT_X] != NULL ? DAMO_OK : damo_error_status(ctx);
}

static void solve_connected(const damo_apply *node, bool *connected) {
  const int n_in = damo_apply_n_inputs(node), n_out = damo_apply_n_outputs(node);
  for (int i = 0; i < n_in; i++) {
    for (int o = 0; o < n_out; o++) connected[i * n_out + o] = o == OUT_X && (i == IN_DATA || i == IN_B);
  }
}

static damo_status solve_shape(const damo_op *op, damo_apply *node, damo_var *const *const *in, damo_var ***out) {
  damo_ctx *ctx = damo_obj_ctx(op);
  const int ndim = damo_type_ndim(damo_var_get_type(damo_apply_get_input(node, IN_B)));
  damo_array *size = damo_array_scalar(ctx, DAMO_INT64, REPORT_SIZE);
  for (int axis = 0; axis < ndim; axis++) out[OUT_X][axis] = damo_retain(in[IN_B][axis]);
  out[OUT_REPORT][0] = size != NULL ? damo_constant(ctx, size) : NULL;
  damo_release(size);
  return out[OUT_REPORT][0] != NULL ? DAMO_OK : DAMO_EMEMORY;
}

const damo_op_class solve_class = {.name = "MpiSolve",
                                   .doc = "x of A·x = b for a distributed matrix, and iterations, residual and reason",
                                   .props = "seq transposed ksp pc assume options rtol atol max_it",
                                   .n_in = N_IN,
                                   .n_out = N_OUT,
                                   .infer_type = solve_types,
                                   .perform = solve_perform,
                                   .grad = solve_grad,
                                   .rop = solve_rop,
                                   .infer_shape = solve_shape,
                                   .connection_pattern = solve_connected,
                                   .impure = true};
