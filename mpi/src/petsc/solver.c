/* solver.c: PETSc's Krylov solvers: their settings, solves with a matrix and its transpose, why one has failed. */
#include "solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct solver {
  solver *next;
  matrix *m;
  damo_op *op; /* the first Op with these settings */
  PetscOptions options;
  KSP ksp;
  bool symmetric; /* A = Aᵀ, as the script says */
  bool checked;   /* that each option was used */
  Mat transpose;  /* where the preconditioner can't be applied transposed: Aᵀ, with a solver of its own */
  KSP transpose_ksp;
  uint32_t transpose_version;
  uint32_t ready_version; /* of the values that the preconditioner was last made of */
};

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

static double number_or(const damo_op *op, const char *name, double otherwise) {
  double value = otherwise;
  damo_op_get_number(op, name, &value);
  return value;
}

static bool same_settings(const damo_op *a, const damo_op *b) {
  static const char *const texts[] = {"ksp", "pc", "assume", "options"}, *const numbers[] = {"rtol", "atol", "max_it"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    if (!same_text(damo_op_get_string(a, texts[i]), damo_op_get_string(b, texts[i]))) return false;
  }
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (number_or(a, numbers[i], -1) != number_or(b, numbers[i], -1)) return false;
  }
  return true;
}

PetscErrorCode solver_parse_options(const char *lines, PetscOptions *out) {
  char name[256], value[1024];
  PetscCall(PetscOptionsCreate(out));
  while (lines != NULL && *lines != '\0') {
    const size_t n = strcspn(lines, "\n"), n_name = strcspn(lines, " \n");
    if (n_name >= sizeof name - 1 || n - n_name >= sizeof value) return PETSC_ERR_ARG_OUTOFRANGE;
    name[0] = '-';
    memcpy(name + 1, lines, n_name);
    name[n_name + 1] = '\0';
    const size_t n_value = n > n_name ? n - n_name - 1 : 0;
    memcpy(value, lines + n - n_value, n_value);
    value[n_value] = '\0';
    PetscCall(PetscOptionsSetValue(*out, name, n_value > 0 ? value : NULL));
    lines += n + (lines[n] == '\n');
  }
  return 0;
}

damo_status solver_allow_options(damo_ctx *ctx, damo_op *op, const char *what) {
  if (!damo_ctx_is_sandbox(ctx) || damo_op_get_string(op, "options") == NULL) return DAMO_OK;
  return library_fail(ctx, DAMO_ESTATE, "%s: PETSc's options can name files, so a sandbox has none", what);
}

/* A rank without rows may have no use for an option of its own block, so that an option counts as used if any rank has
 * used it. */
damo_status solver_check_options(library *lib, damo_ctx *ctx, PetscOptions options, const char *what) {
  char **names = NULL, **values = NULL, unused[200] = "";
  PetscInt n = 0;
  library_enter(lib);
  damo_status s = library_check(lib, ctx, PetscOptionsLeftGet(options, &n, &names, &values), what);
  if (s == DAMO_OK && n > 0) snprintf(unused, sizeof unused, "%s", names[0]);
  if (s == DAMO_OK) PetscOptionsLeftRestore(options, &n, &names, &values);
  library_leave(lib);
  int64_t used = unused[0] == '\0';
  library_doing(lib, "looks at the options of %s", what);
  s = library_agree_max(lib, ctx, s, &used);
  if (s != DAMO_OK || used) return s;
  return library_fail(ctx, DAMO_EVALUE, "%s: PETSc has no use for the option '%s' with this solver", what, unused);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static bool is_direct(const char *pc) {
  return pc != NULL && (strcmp(pc, "mumps") == 0 || strcmp(pc, "lu") == 0 || strcmp(pc, "cholesky") == 0);
}

/* ILU and ICC work on one rank's block: on several ranks they precondition each block by itself. */
static PetscErrorCode set_block_pc(solver *v, PC pc, const char *name) {
  PetscBool given = PETSC_FALSE;
  PetscCall(PCSetType(pc, PCBJACOBI));
  PetscCall(PetscOptionsHasName(v->options, NULL, "-sub_pc_type", &given));
  if (!given) PetscCall(PetscOptionsSetValue(v->options, "-sub_pc_type", name));
  return 0;
}

static PetscErrorCode set_pc(solver *v, PC pc, const char *name) {
  if (name == NULL) return 0;
  if (strcmp(name, "mumps") == 0) {
    PetscCall(PCSetType(pc, v->symmetric ? PCCHOLESKY : PCLU));
    PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
    return 0;
  }
  if (v->m->lib->size > 1 && (strcmp(name, "ilu") == 0 || strcmp(name, "icc") == 0)) return set_block_pc(v, pc, name);
  PetscCall(PCSetType(pc, name));
  return 0;
}

static PetscErrorCode configure(solver *v, Mat mat, KSP *out) {
  const char *ksp_name = damo_op_get_string(v->op, "ksp"), *pc_name = damo_op_get_string(v->op, "pc");
  const char *assume = damo_op_get_string(v->op, "assume");
  const bool positive = assume != NULL && strcmp(assume, "pos") == 0;
  PC pc;
  if (ksp_name == NULL && pc_name == NULL) pc_name = "mumps";
  if (ksp_name == NULL) ksp_name = is_direct(pc_name) ? KSPPREONLY : positive ? KSPCG : KSPGMRES;
  if (positive) PetscCall(MatSetOption(mat, MAT_SPD, PETSC_TRUE));
  if (v->symmetric) PetscCall(MatSetOption(mat, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(KSPCreate(matrix_comm(v->m), out));
  PetscCall(KSPSetOperators(*out, mat, mat));
  PetscCall(KSPSetType(*out, ksp_name));
  PetscCall(KSPSetTolerances(*out, number_or(v->op, "rtol", 1e-10), number_or(v->op, "atol", PETSC_DEFAULT),
                             PETSC_DEFAULT, (PetscInt)number_or(v->op, "max_it", PETSC_DEFAULT)));
  PetscCall(KSPGetPC(*out, &pc));
  PetscCall(set_pc(v, pc, pc_name));
  PetscCall(KSPSetFromOptions(*out));
  return 0;
}

static PetscErrorCode solver_make(solver *v) {
  const char *assume = damo_op_get_string(v->op, "assume");
  v->symmetric = assume != NULL && (strcmp(assume, "pos") == 0 || strcmp(assume, "sym") == 0);
  PetscCall(solver_parse_options(damo_op_get_string(v->op, "options"), &v->options));
  PetscCall(PetscOptionsPush(v->options));
  PetscErrorCode code = configure(v, v->m->mat, &v->ksp);
  PetscOptionsPop();
  return code;
}

solver *solver_get(matrix *m, damo_ctx *ctx, damo_op *op) {
  for (solver *v = m->solvers; v != NULL; v = v->next) {
    if (v->op == op || same_settings(v->op, op)) return v;
  }
  solver *v = calloc(1, sizeof *v);
  damo_status s = v != NULL ? solver_allow_options(ctx, op, "solve") : damo_fail(ctx, DAMO_EMEMORY, NULL);
  library_doing(m->lib, "makes a solver");
  s = library_agree(m->lib, ctx, s, NULL);
  if (s != DAMO_OK) {
    free(v);
    return NULL;
  }
  v->m = m;
  v->op = damo_retain(op);
  v->next = m->solvers;
  m->solvers = v;
  library_enter(m->lib);
  s = library_check(m->lib, ctx, solver_make(v), "solve");
  library_leave(m->lib);
  if (s == DAMO_OK) return v;
  solver_free(m);
  return NULL;
}

void solver_free(matrix *m) {
  solver *v = m->solvers;
  m->solvers = v->next;
  KSPDestroy(&v->transpose_ksp);
  MatDestroy(&v->transpose);
  KSPDestroy(&v->ksp);
  PetscOptionsDestroy(&v->options);
  damo_release(v->op);
  free(v);
}

void solver_release_ops(matrix *m) {
  for (solver *v = m->solvers; v != NULL; v = v->next) {
    damo_release(v->op);
    v->op = NULL;
  }
}

void solver_forget(matrix *m) {
  while (m->solvers != NULL) {
    solver *v = m->solvers;
    m->solvers = v->next;
    free(v);
  }
}

/* ---- Solving ----------------------------------------------------------------------------------------------------- */

/* Aᵀ with a solver of its own, whose preconditioner is of the same kind. */
static PetscErrorCode need_transpose(solver *v) {
  if (v->transpose == NULL) {
    PetscCall(MatTranspose(v->m->mat, MAT_INITIAL_MATRIX, &v->transpose));
    PetscCall(configure(v, v->transpose, &v->transpose_ksp));
  } else if (v->transpose_version != v->m->version) {
    PetscCall(MatTranspose(v->m->mat, MAT_REUSE_MATRIX, &v->transpose));
  }
  v->transpose_version = v->m->version;
  return 0;
}

static bool is_among(const char *name, const char *const *list) {
  for (; name != NULL && *list != NULL; list++) {
    if (strcmp(name, *list) == 0) return true;
  }
  return false;
}

/* Whether the preconditioners of this rank's blocks are of the kinds that can be applied transposed. */
static PetscErrorCode blocks_can_transpose(PC pc, bool overlapping, bool *can) {
  static const char *const able[] = {PCNONE, PCJACOBI, PCLU, PCCHOLESKY, PCILU, PCICC, NULL};
  KSP *blocks = NULL;
  PetscInt n = 0;
  if (overlapping) {
    PetscCall(PCASMGetSubKSP(pc, &n, NULL, &blocks));
  } else {
    PetscCall(PCBJacobiGetSubKSP(pc, &n, NULL, &blocks));
  }
  for (PetscInt i = 0; i < n; i++) {
    const char *type = NULL;
    PC sub;
    PetscCall(KSPGetPC(blocks[i], &sub));
    PetscCall(PCGetType(sub, &type));
    *can = *can && is_among(type, able);
  }
  return 0;
}

/* Whether the preconditioner can be applied transposed. Not all can that say so: BoomerAMG gives zeros on its coarsest
 * level, SuperLU_DIST solves with A itself. */
static PetscErrorCode can_transpose(KSP ksp, bool *can) {
  static const char *const able[] = {PCNONE, PCJACOBI, PCLU,      PCCHOLESKY, PCILU, PCICC,
                                     PCGAMG, PCMG,     PCBJACOBI, PCASM,      NULL};
  const char *type = NULL;
  MatSolverType solver_type = NULL;
  PC pc;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &type));
  *can = is_among(type, able);
  if (!*can) return 0;
  if (strcmp(type, PCLU) == 0) {
    PetscCall(PCFactorGetMatSolverType(pc, &solver_type));
    *can = solver_type == NULL || strcmp(solver_type, MATSOLVERSUPERLU_DIST) != 0;
  }
  const bool overlapping = strcmp(type, PCASM) == 0;
  if (overlapping || strcmp(type, PCBJACOBI) == 0) PetscCall(blocks_can_transpose(pc, overlapping, can));
  return 0;
}

static PetscErrorCode solve_with(solver *v, bool transposed, Vec b, Vec x, KSP *used) {
  bool can = true;
  *used = v->ksp;
  if (!transposed || v->symmetric) {
    PetscCall(KSPSolve(v->ksp, b, x));
    return 0;
  }
  PetscCall(KSPSetUp(v->ksp)); /* makes the blocks' preconditioners */
  PetscCall(can_transpose(v->ksp, &can));
  if (can) {
    PetscCall(KSPSolveTranspose(v->ksp, b, x));
    return 0;
  }
  PetscCall(need_transpose(v));
  *used = v->transpose_ksp;
  PetscCall(KSPSolve(v->transpose_ksp, b, x));
  return 0;
}

/* Columns and rows of a square matrix have one partition, so left and right vectors are alike. */
static PetscErrorCode solve_arrays(solver *v, bool transposed, const double *b, double *x, KSP *used) {
  Vec in = v->m->left, out = v->m->right;
  PetscCall(VecPlaceArray(in, b));
  PetscErrorCode code = VecPlaceArray(out, x);
  if (code == 0) {
    code = solve_with(v, transposed, in, out, used);
    VecResetArray(out);
  }
  VecResetArray(in);
  return code;
}

/* Why the preconditioner could not be made, or "". */
static const char *pc_reason(KSP ksp, int reason) {
  PCFailedReason why = PC_NOERROR;
  PC pc;
  if (reason != KSP_DIVERGED_PC_FAILED || KSPGetPC(ksp, &pc) != 0 || PCGetFailedReason(pc, &why) != 0) return "";
  return (int)why >= 0 ? PCFailedReasons[why] : "";
}

/* What MUMPS itself says: its manual lists the numbers. */
static void mumps_reason(KSP ksp, char *text, size_t size) {
  MatSolverType type = NULL;
  PetscInt error = 0, detail = 0;
  Mat factor;
  PC pc;
  text[0] = '\0';
  if (KSPGetPC(ksp, &pc) != 0 || PCFactorGetMatSolverType(pc, &type) != 0) return;
  if (type == NULL || strcmp(type, MATSOLVERMUMPS) != 0 || PCFactorGetMatrix(pc, &factor) != 0) return;
  if (MatMumpsGetInfog(factor, 1, &error) != 0 || MatMumpsGetInfog(factor, 2, &detail) != 0 || error >= 0) return;
  snprintf(text, size, ", INFOG %lld %lld of MUMPS", (long long)error, (long long)detail);
}

static damo_status tell_failure(damo_ctx *ctx, KSP ksp, const solve_report *report) {
  const char *reason = "", *ksp_type = "", *pc_type = "";
  const char *why = pc_reason(ksp, report->reason);
  char mumps[80];
  PC pc;
  mumps_reason(ksp, mumps, sizeof mumps);
  KSPGetConvergedReasonString(ksp, &reason);
  KSPGetType(ksp, &ksp_type);
  if (KSPGetPC(ksp, &pc) == 0) PCGetType(pc, &pc_type);
  return library_fail(ctx, DAMO_ENUMERIC, "solve: %s%s%s%s after %lld iterations, residual %.3g (ksp %s, pc %s%s)",
                      reason, *why != '\0' ? " (" : "", why, *why != '\0' ? ")" : "", (long long)report->iterations,
                      report->residual, ksp_type, pc_type, mumps);
}

static PetscErrorCode read_report(KSP ksp, solve_report *report) {
  KSPConvergedReason reason;
  PetscInt iterations = 0;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetResidualNorm(ksp, &report->residual));
  report->reason = (int)reason;
  report->iterations = iterations;
  return 0;
}

/* Factorizes anew, with more memory, where MUMPS has run out of what it had estimated: which ranks take which part of the
 * work is settled as it goes on, and on a busy machine that may need much more on some of them. ICNTL(14) of MUMPS is the
 * percentage by which it exceeds its estimate. *anew: it did. */
static PetscErrorCode give_memory(const solver *v, bool *anew) {
  static const char *const percentages[] = {"100", "400", "1600"};
  for (size_t i = 0; i < sizeof percentages / sizeof *percentages; i++) {
    PCFailedReason why = PC_NOERROR;
    MatSolverType type = NULL;
    PC pc;
    PetscCall(KSPGetPC(v->ksp, &pc));
    PetscCall(PCGetFailedReason(pc, &why));
    if (why != PC_FACTOR_OUTMEMORY) return 0;
    PetscCall(PCFactorGetMatSolverType(pc, &type));
    if (type == NULL || strcmp(type, MATSOLVERMUMPS) != 0) return 0;
    PetscCall(PetscOptionsSetValue(v->options, "-mat_mumps_icntl_14", percentages[i]));
    *anew = true;
    PetscCall(KSPReset(v->ksp));
    PetscCall(KSPSetOperators(v->ksp, v->m->mat, v->m->mat));
    PetscCall(KSPSetUp(v->ksp));
  }
  return 0;
}

/* Makes the preconditioner, its blocks on each rank included, and agrees: a block that one rank can't factorize must not
 * leave the others waiting inside the solve. */
static damo_status get_ready(solver *v, damo_ctx *ctx) {
  library *lib = v->m->lib;
  bool anew = false;
  if (v->ready_version == v->m->version) return DAMO_OK;
  library_enter(lib);
  PetscErrorCode code = PetscOptionsPush(v->options);
  if (code == 0) {
    code = KSPSetUp(v->ksp);
    if (code == 0) code = give_memory(v, &anew);
    if (code == 0) code = KSPSetUpOnBlocks(v->ksp);
    PetscOptionsPop();
  }
  damo_status s = library_check(lib, ctx, code, "solve");
  library_leave(lib);
  library_doing(lib, "sets a solver up");
  s = library_agree(lib, ctx, s, NULL);
  if (s == DAMO_OK) v->ready_version = v->m->version;
  return s;
}

/* A system without unknowns is solved; not every method of PETSc's takes it: MUMPS refuses to factorize nothing. */
static bool is_solved(const solver *v, solve_report *report) {
  PetscInt rows = 1;
  if (MatGetSize(v->m->mat, &rows, NULL) != 0 || rows > 0) return false;
  *report = (solve_report){.reason = KSP_CONVERGED_ATOL};
  return true;
}

damo_status solver_run(solver *v, damo_ctx *ctx, bool transposed, const double *b, double *x, solve_report *report) {
  library *lib = v->m->lib;
  KSP used = v->ksp;
  if (is_solved(v, report)) return DAMO_OK;
  const damo_status ready = get_ready(v, ctx);
  if (ready != DAMO_OK) return ready;
  library_enter(lib);
  PetscErrorCode code = PetscOptionsPush(v->options);
  if (code == 0) {
    bool anew = false;
    code = solve_arrays(v, transposed, b, x, &used);
    /* A solve factorizes where PETSc's matrix is newer than the preconditioner. */
    if (code == 0 && used == v->ksp) code = give_memory(v, &anew);
    if (code == 0 && anew) code = solve_arrays(v, transposed, b, x, &used);
    PetscOptionsPop();
  }
  if (code == 0) code = read_report(used, report);
  damo_status s = library_check(lib, ctx, code, "solve");
  if (s == DAMO_OK && report->reason <= 0) s = tell_failure(ctx, used, report);
  library_leave(lib);
  if (s != DAMO_OK || v->checked) return s;
  v->checked = true;
  return solver_check_options(lib, ctx, v->options, "solve");
}
