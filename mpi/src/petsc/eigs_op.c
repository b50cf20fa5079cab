/* eigs_op.c: MpiEigs, eigenvalues and eigenvectors of a symmetric distributed matrix by SLEPc, and MpiSimple, which a
 * gradient passes through: it adds up what the ranks ask of an eigenvalue and refuses values that are not simple.
 */
#include <math.h>
#include <slepceps.h>
#include <string.h>

#include "node.h"
#include "ops.h"
#include "solver.h"

enum { IN_TICKET = IN_OPERAND, N_IN };
enum { OUT_VALUES, OUT_VECTORS, OUT_NEXT, OUT_TICKET, N_OUT };

static damo_status eigs_types(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = damo_obj_ctx(op);
  int64_t k = 0, shape[2] = {-1, 0};
  (void)in, (void)n_in;
  if (!damo_op_get_int(op, "k", &k) || k < 1) return damo_fail(ctx, DAMO_EVALUE, "eigs: k must be 1 or more");
  shape[1] = k;
  out[OUT_VALUES] = damo_type_tensor(ctx, DAMO_FLOAT64, 1, &k);
  out[OUT_VECTORS] = damo_type_tensor(ctx, DAMO_FLOAT64, 2, shape);
  out[OUT_NEXT] = damo_type_tensor(ctx, DAMO_FLOAT64, 0, NULL);
  out[OUT_TICKET] = damo_type_tensor(ctx, DAMO_INT64, 0, NULL);
  for (int o = 0; o < N_OUT; o++) {
    if (out[o] == NULL) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

/* ---- The computation --------------------------------------------------------------------------------------------- */

typedef struct choice {
  const char *name;
  EPSWhich which;
} choice;

static const choice choices[] = {{"largest_magnitude", EPS_LARGEST_MAGNITUDE},
                                 {"smallest_magnitude", EPS_SMALLEST_MAGNITUDE},
                                 {"largest", EPS_LARGEST_REAL},
                                 {"smallest", EPS_SMALLEST_REAL},
                                 {"target", EPS_TARGET_MAGNITUDE}};

static damo_status find_choice(const run *r, bool has_sigma, EPSWhich *out) {
  const char *name = damo_op_get_string(r->op, "which");
  if (name == NULL) name = has_sigma ? "target" : "largest_magnitude";
  if ((strcmp(name, "target") == 0) != has_sigma) {
    return damo_fail(r->ctx, DAMO_EVALUE, "eigs: sigma and which = 'target' go together");
  }
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    if (strcmp(name, choices[i].name) != 0) continue;
    *out = choices[i].which;
    return DAMO_OK;
  }
  return library_fail(r->ctx, DAMO_EVALUE,
                      "eigs: which is 'largest', 'smallest', 'largest_magnitude', "
                      "'smallest_magnitude' or 'target', not '%s'",
                      name);
}

/* Values near sigma are the largest of (A - sigma)⁻¹, whose systems MUMPS solves. */
static PetscErrorCode set_shift(EPS eps, double sigma) {
  ST st;
  KSP ksp;
  PC pc;
  PetscCall(EPSSetTarget(eps, sigma));
  PetscCall(EPSGetST(eps, &st));
  PetscCall(STSetType(st, STSINVERT));
  PetscCall(STGetKSP(st, &ksp));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCLU));
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  return 0;
}

static PetscErrorCode make_eps(const run *r, EPSWhich which, EPS *out) {
  double sigma = 0, tol = PETSC_DEFAULT, max_it = PETSC_DEFAULT;
  int64_t k = 1;
  damo_op_get_int(r->op, "k", &k);
  damo_op_get_number(r->op, "tol", &tol);
  damo_op_get_number(r->op, "max_it", &max_it);
  PetscCall(EPSCreate(matrix_comm(r->m), out));
  PetscCall(EPSSetOperators(*out, r->m->mat, NULL));
  PetscCall(EPSSetProblemType(*out, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(*out, which));
  PetscCall(EPSSetDimensions(*out, (PetscInt)k, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSSetTolerances(*out, tol, (PetscInt)max_it));
  if (damo_op_get_number(r->op, "sigma", &sigma)) PetscCall(set_shift(*out, sigma));
  PetscCall(EPSSetFromOptions(*out));
  PetscCall(EPSSolve(*out));
  return 0;
}

/* The sign of an eigenvector that makes its largest entry positive, of equal ones the first: the same on any number of
 * ranks. */
static PetscErrorCode sign_of(const run *r, const double *x, double *out) {
  struct {
    double size;
    int row;
  } mine = {-1, 0}, all;
  double at = 1;
  for (PetscInt i = 0; i < r->m->m; i++) {
    if (fabs(x[i]) <= mine.size * (1 + 1e-8)) continue;
    mine.size = fabs(x[i]);
    mine.row = r->m->first_row + i;
  }
  all = mine;
  if (r->lib->size > 1) MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE_INT, MPI_MAXLOC, r->lib->comm);
  const bool own = all.row >= r->m->first_row && all.row < r->m->first_row + r->m->m;
  double sign = own && x[all.row - r->m->first_row] < 0 ? -1 : own ? 1 : 0;
  at = sign;
  if (r->lib->size > 1) MPI_Allreduce(&sign, &at, 1, MPI_DOUBLE, MPI_SUM, r->lib->comm);
  *out = at;
  return 0;
}

static PetscErrorCode read_pair(const run *r, EPS eps, PetscInt i, int64_t k, double *values, double *vectors,
                                double *room) {
  PetscScalar value;
  double sign = 1;
  PetscCall(VecPlaceArray(r->m->right, room));
  PetscErrorCode code = EPSGetEigenpair(eps, i, &value, NULL, r->m->right, NULL);
  VecResetArray(r->m->right);
  PetscCall(code);
  PetscCall(sign_of(r, room, &sign));
  values[i] = value;
  for (PetscInt j = 0; j < r->m->m; j++) vectors[j * k + i] = sign * room[j];
  return 0;
}

/* The largest of the residuals ‖A·v - λ·v‖ / ‖λ·v‖: large where A is not symmetric, whatever the method believes. */
static PetscErrorCode worst_error(EPS eps, PetscInt n, double *worst) {
  *worst = 0;
  for (PetscInt i = 0; i < n; i++) {
    PetscReal error = 0;
    PetscCall(EPSComputeError(eps, i, EPS_ERROR_BACKWARD, &error));
    if (!(error <= *worst)) *worst = error;
  }
  return 0;
}

typedef struct pairs {
  int64_t k;
  double *values, *vectors, *next, *room;
  PetscInt converged, iterations;
  EPSConvergedReason reason;
  double worst;
} pairs;

static PetscErrorCode compute(const run *r, EPSWhich which, EPS *eps, pairs *p) {
  PetscCall(make_eps(r, which, eps));
  PetscCall(EPSGetConverged(*eps, &p->converged));
  PetscCall(EPSGetIterationNumber(*eps, &p->iterations));
  PetscCall(EPSGetConvergedReason(*eps, &p->reason));
  if (p->converged < p->k) return 0;
  PetscCall(worst_error(*eps, (PetscInt)p->k, &p->worst));
  for (PetscInt i = 0; i < p->k; i++) PetscCall(read_pair(r, *eps, i, p->k, p->values, p->vectors, p->room));
  *p->next = NAN;
  if (p->converged > p->k) PetscCall(EPSGetEigenvalue(*eps, (PetscInt)p->k, p->next, NULL));
  return 0;
}

#define SYMMETRY_BOUND 1e-5

static damo_status judge(const run *r, const pairs *p) {
  if (p->converged < p->k) {
    const int at = (int)p->reason;
    return library_fail(r->ctx, DAMO_ENUMERIC, "eigs: %s: %lld of %lld eigenpairs after %lld iterations",
                        at == EPS_DIVERGED_BREAKDOWN       ? "DIVERGED_BREAKDOWN"
                        : at == EPS_DIVERGED_SYMMETRY_LOST ? "DIVERGED_SYMMETRY_LOST"
                                                           : "DIVERGED_ITS",
                        (long long)p->converged, (long long)p->k, (long long)p->iterations);
  }
  if (p->worst <= SYMMETRY_BOUND) return DAMO_OK;
  return library_fail(r->ctx, DAMO_ENUMERIC,
                      "eigs: a pair does not fulfil A·v = λ·v (backward error %.2g): the matrix "
                      "must be symmetric",
                      p->worst);
}

static damo_status eigs_run(const run *r, EPSWhich which, pairs *p) {
  PetscOptions options = NULL;
  EPS eps = NULL;
  damo_status s = library_agree(r->lib, r->ctx, solver_allow_options(r->ctx, r->op, "eigs"), NULL);
  if (s != DAMO_OK) return s;
  library_enter(r->lib);
  PetscErrorCode code = solver_parse_options(damo_op_get_string(r->op, "options"), &options);
  if (code == 0) code = PetscOptionsPush(options);
  if (code == 0) {
    code = compute(r, which, &eps, p);
    PetscOptionsPop();
  }
  s = library_check(r->lib, r->ctx, code, "eigs");
  EPSDestroy(&eps);
  library_leave(r->lib);
  if (s == DAMO_OK) s = judge(r, p);
  if (s == DAMO_OK) s = solver_check_options(r->lib, r->ctx, options, "eigs");
  PetscOptionsDestroy(&options);
  return s;
}

static damo_status check_square(const run *r, int64_t k) {
  if (r->m->M != r->m->N || r->m->m != r->m->n) {
    return library_fail(r->ctx, DAMO_ESHAPE, "eigs: the matrix is %lld × %lld, %lld × %lld on this rank: not square",
                        (long long)r->m->M, (long long)r->m->N, (long long)r->m->m, (long long)r->m->n);
  }
  if (k <= r->m->M) return DAMO_OK;
  return library_fail(r->ctx, DAMO_EVALUE, "eigs: %lld eigenpairs of a matrix of %lld rows", (long long)k,
                      (long long)r->m->M);
}

static damo_status take_outputs(const run *r, pairs *p) {
  const int64_t shape[2] = {r->m->m, p->k};
  const damo_array *values = damo_thunk_output(r->t, OUT_VALUES, DAMO_FLOAT64, 1, &p->k);
  const damo_array *vectors = values != NULL ? damo_thunk_output(r->t, OUT_VECTORS, DAMO_FLOAT64, 2, shape) : NULL;
  const damo_array *next = vectors != NULL ? damo_thunk_output(r->t, OUT_NEXT, DAMO_FLOAT64, 0, NULL) : NULL;
  if (next == NULL) return DAMO_EMEMORY;
  p->values = damo_array_data(values);
  p->vectors = damo_array_data(vectors);
  p->next = damo_array_data(next);
  p->room = damo_thunk_scratch(r->t, (size_t)r->m->m * sizeof(double) + 1);
  return p->room != NULL ? run_pass_ticket(r, IN_TICKET, OUT_TICKET) : DAMO_EMEMORY;
}

static damo_status eigs_perform(damo_thunk *t) {
  run r;
  pairs p = {0};
  double sigma;
  EPSWhich which = EPS_LARGEST_MAGNITUDE;
  damo_status s = run_begin(t, true, &r);
  damo_op_get_int(r.op, "k", &p.k);
  if (s == DAMO_OK) s = check_square(&r, p.k);
  if (s == DAMO_OK) s = find_choice(&r, damo_op_get_number(r.op, "sigma", &sigma), &which);
  if (s == DAMO_OK) s = take_outputs(&r, &p);
  s = library_agree(r.lib, r.ctx, s, &(const agreement){"eigenpairs", p.k});
  return s == DAMO_OK ? eigs_run(&r, which, &p) : s;
}

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

static damo_status eigs_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  library *lib = damo_op_user(op);
  damo_ctx *ctx = damo_obj_ctx(op);
  damo_var *values = damo_apply_get_output(node, OUT_VALUES), *vectors = damo_apply_get_output(node, OUT_VECTORS);
  if (gout[OUT_VECTORS] != NULL) {
    gin[IN_DATA] = damo_grad_undefined(ctx, "eigs has gradients of eigenvalues, not of eigenvectors");
    return gin[IN_DATA] != NULL ? DAMO_OK : damo_error_status(ctx);
  }
  if (gout[OUT_VALUES] == NULL) return DAMO_OK;
  damo_var *in[4] = {values, damo_apply_get_output(node, OUT_NEXT), gout[OUT_VALUES]};
  damo_var *asked = node_apply(lib, ctx, "MpiSimple", NULL, 0, in, 3);
  damo_var *scaled = node_call(ctx, "mul", damo_retain(vectors), asked);
  damo_var *const both[2] = {scaled, damo_retain(vectors)};
  gin[IN_DATA] = node_on_matrix(lib, "MpiSample", NULL, 0, node, both, 2);
  return gin[IN_DATA] != NULL ? DAMO_OK : damo_error_status(ctx);
}

static void eigs_connected(const damo_apply *node, bool *connected) {
  const int n_in = damo_apply_n_inputs(node), n_out = damo_apply_n_outputs(node);
  for (int i = 0; i < n_in; i++) {
    for (int o = 0; o < n_out; o++) connected[i * n_out + o] = i == IN_DATA && (o == OUT_VALUES || o == OUT_VECTORS);
  }
}

const damo_op_class eigs_class = {.name = "MpiEigs",
                                  .doc = "eigenvalues and eigenvectors of a symmetric distributed matrix",
                                  .props = "seq k which sigma tol max_it options",
                                  .n_in = N_IN,
                                  .n_out = N_OUT,
                                  .infer_type = eigs_types,
                                  .perform = eigs_perform,
                                  .grad = eigs_grad,
                                  .connection_pattern = eigs_connected,
                                  .impure = true};

/* ---- MpiSimple --------------------------------------------------------------------------------------------------- */

enum { SIMPLE_VALUES, SIMPLE_NEXT, SIMPLE_G, SIMPLE_TICKET, SIMPLE_N_IN };
enum { SIMPLE_OUT, SIMPLE_TICKET_OUT, SIMPLE_N_OUT };

static damo_status simple_types(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  out[SIMPLE_OUT] = damo_retain(damo_var_get_type(in[SIMPLE_VALUES]));
  out[SIMPLE_TICKET_OUT] = damo_type_tensor(damo_obj_ctx(op), DAMO_INT64, 0, NULL);
  return out[SIMPLE_TICKET_OUT] != NULL ? DAMO_OK : DAMO_EMEMORY;
}

/* Equal eigenvalues have no derivative by themselves; their sum has one, so equal weights are allowed where all of them
 * were computed. */
static damo_status check_simple(damo_ctx *ctx, int64_t k, const double *values, double next, const double *g) {
  double scale = 0;
  for (int64_t i = 0; i < k; i++) scale = fmax(scale, fabs(values[i]));
  const double close = 1e-8 * scale;
  for (int64_t i = 0; i < k; i++) {
    bool multiple = g[i] != 0 && fabs(values[i] - next) <= close;
    for (int64_t j = 0; j < k; j++) multiple = multiple || (g[i] != g[j] && fabs(values[i] - values[j]) <= close);
    if (!multiple) continue;
    return library_fail(ctx, DAMO_ENUMERIC,
                        "gradient of eigs: the eigenvalue %.10g is not simple, so it has no gradient", values[i]);
  }
  return DAMO_OK;
}

static damo_status simple_perform(damo_thunk *t) {
  damo_ctx *ctx = damo_thunk_ctx(t);
  library *lib = damo_op_user(damo_thunk_get_op(t));
  const run r = {.t = t};
  const damo_array *values = damo_thunk_input(t, SIMPLE_VALUES), *g = damo_thunk_input(t, SIMPLE_G);
  const int64_t k = damo_array_size(values);
  damo_status s = column_check(ctx, "gradient of eigs", "the gradient", g, k);
  damo_array *out = s == DAMO_OK ? damo_thunk_output(t, SIMPLE_OUT, DAMO_FLOAT64, 1, &k) : NULL;
  if (s == DAMO_OK) s = out != NULL ? run_pass_ticket(&r, SIMPLE_TICKET, SIMPLE_TICKET_OUT) : DAMO_EMEMORY;
  library_doing(lib, "runs MpiSimple");
  s = library_agree(lib, ctx, s, &(const agreement){"eigenvalues", k});
  if (s != DAMO_OK) return s;
  double *sum = damo_array_data(out);
  const double *own = column_read(g, 0, sum);
  if (own != sum) memcpy(sum, own, (size_t)k * sizeof *sum);
  s = library_sum(lib, ctx, sum, k);
  if (s != DAMO_OK) return s;
  return check_simple(ctx, k, damo_array_data(values),
                      *(const double *)damo_array_data(damo_thunk_input(t, SIMPLE_NEXT)), sum);
}

static damo_status simple_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *in[4] = {damo_apply_get_input(node, SIMPLE_VALUES), damo_apply_get_input(node, SIMPLE_NEXT),
                     gout[SIMPLE_OUT]};
  if (gout[SIMPLE_OUT] == NULL) return DAMO_OK;
  gin[SIMPLE_G] = node_apply(damo_op_user(op), damo_obj_ctx(op), "MpiSimple", NULL, 0, in, 3);
  return gin[SIMPLE_G] != NULL ? DAMO_OK : damo_error_status(damo_obj_ctx(op));
}

static void simple_connected(const damo_apply *node, bool *connected) {
  const int n_in = damo_apply_n_inputs(node), n_out = damo_apply_n_outputs(node);
  for (int i = 0; i < n_in; i++) {
    for (int o = 0; o < n_out; o++) connected[i * n_out + o] = i == SIMPLE_G && o == SIMPLE_OUT;
  }
}

const damo_op_class simple_class = {.name = "MpiSimple",
                                    .doc = "the sum over ranks of gradients of simple eigenvalues",
                                    .props = "seq",
                                    .n_in = SIMPLE_N_IN,
                                    .n_out = SIMPLE_N_OUT,
                                    .infer_type = simple_types,
                                    .perform = simple_perform,
                                    .grad = simple_grad,
                                    .connection_pattern = simple_connected,
                                    .impure = true};
