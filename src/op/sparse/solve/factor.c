/* factor: Factorize and FactorizeQR, which make factors, and the functions that all Ops on factors share.
 *
 * A thunk keeps the factor that it made and refreshes it when it runs again: the analysis stays while the pattern does,
 * and equal values cost nothing. Always holds: a factor that has another owner (a result that a script keeps, a shared
 * value) is left as it is; then the one made before it is refreshed, or a new one is made where that has one too.
 */
#include "factor.h"
#include "op/elem/build_arith.h"

#include <stdio.h>
#include <string.h>

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

damo_status type_need_factor(const op_def *def, damo_var *const *in, int i, bool least) {
  const damo_type *t = in[i]->type;
  if (type_is_factor(t) && (t->format != 0) == least) return DAMO_OK;
  char got[320];
  return ctx_fail(t->obj.ctx, DAMO_ETYPE, "%s: operand %d must be a factor for %s, got %s", def->name, i + 1,
                  least ? "least squares" : "systems", type_format(got, sizeof got, t));
}

damo_status type_need_square_factor(const damo_op *op, damo_var *const *in) {
  DAMO_TRY(type_need_factor(op->def, in, 0, false));
  const int64_t *shape = in[0]->type->shape;
  if (shape[0] < 0 || shape[1] < 0 || shape[0] == shape[1]) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "%s: the matrix has shape (%lld, %lld), expected a square one",
                  op->def->name, (long long)shape[0], (long long)shape[1]);
}

damo_dtype dtype_of_modulus(damo_dtype dt) {
  return dt == DAMO_COMPLEX64 ? DAMO_FLOAT32 : dt == DAMO_COMPLEX128 ? DAMO_FLOAT64 : dt;
}

void connect_all_but_factor(const damo_apply *node, bool *connected) {
  const int n_out = node->n_out;
  for (int o = 0; o < n_out; o++) connected[o] = false;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static const char *const factor_assume_names[] = {"none", "pos", "sym", "gen"};

static int factor_assume_of(const prop_value *v) {
  if (v->kind == PROP_NIL) return FACTOR_ASSUME_NONE;
  for (int k = FACTOR_ASSUME_POS; v->kind == PROP_STR && k <= FACTOR_ASSUME_GEN; k++) {
    if (strcmp(v->u.s, factor_assume_names[k]) == 0) return k;
  }
  return -1;
}

typedef struct factorize_state {
  damo_factor *kept, *before;       /* the last one made or refreshed, and the one before where it had another owner */
  int64_t analyses, factorizations; /* of factors released before */
} factorize_state;

static void factorize_drop_kept(factorize_state *s) {
  if (s->kept == NULL) return;
  const factor_info info = factor_get_info(s->kept);
  s->analyses += info.analyses;
  s->factorizations += info.factorizations;
  damo_release(s->kept);
  s->kept = NULL;
}

static void factorize_swap_kept(factorize_state *s) {
  damo_factor *last = s->kept;
  s->kept = s->before;
  s->before = last;
}

static void factorize_clear(const thunk *t, frame *f) {
  factorize_state *s = thunk_state(t, f);
  factorize_drop_kept(s);
  factorize_swap_kept(s);
  factorize_drop_kept(s);
}

/* True when the kept factor has an owner beside the thunk and its output cell. */
static bool factorize_is_held(const thunk *t, frame *f, const factorize_state *s) {
  const damo_obj *kept = (const damo_obj *)s->kept;
  return kept != NULL && kept->refs > (thunk_result(t, f, 0) == kept ? 2 : 1);
}

static damo_factor *factorize_matrix(const thunk *t, damo_sparse *a) {
  if (t->node->op->def == &factorize_qr_def) return factor_new_least_squares(a);
  return factor_new(a, (factor_assume)factor_assume_of(&OP_PROPS(t->node->op, factorize_props)->assume));
}

/* The Op's name before the reason why this build can't factorize the matrix; other errors stay as they are. */
static damo_status factorize_name_refusal(const thunk *t, frame *f, damo_status status) {
  char why[320];
  if (status != DAMO_ENOT_IMPLEMENTED) return status;
  snprintf(why, sizeof why, "%s", damo_error_message(f->ctx));
  return ctx_fail(f->ctx, status, "%s: %s", t->node->op->def->name, why);
}

#if !DAMO_SUITESPARSE
/* Needs no matrix to know, unlike Factorize. */
static damo_status factorize_qr_prepare(damo_apply *node, const char *impl) {
  (void)impl;
  return ctx_fail(node->obj.ctx, DAMO_ENOT_IMPLEMENTED,
                  "%s: QR of a sparse matrix needs SuiteSparse, which this build is without", node->op->def->name);
}
#endif

static damo_status factorize_perform(const thunk *t, frame *f) {
  ctx_set_due(f->ctx);
  factorize_state *s = thunk_state(t, f);
  damo_sparse *a = thunk_in_sparse(t, f, 0);
  if (factorize_is_held(t, f, s)) factorize_swap_kept(s);
  if (factorize_is_held(t, f, s)) factorize_drop_kept(s);
  if (s->kept != NULL) {
    const damo_status status = factor_refresh(s->kept, a);
    if (status != DAMO_OK) return factorize_name_refusal(t, f, status);
  } else if ((s->kept = factorize_matrix(t, a)) == NULL) {
    return factorize_name_refusal(t, f, damo_error_status(f->ctx));
  }
  if (thunk_result(t, f, 0) != (damo_obj *)s->kept) thunk_set_out(t, f, 0, damo_retain(s->kept));
  return DAMO_OK;
}

void factor_counts(const thunk *t, const frame *f, int64_t *analyses, int64_t *factorizations) {
  const op_def *def = t->node->op->def;
  if (def != &factorize_def && def != &factorize_qr_def) return;
  const factorize_state *s = thunk_state(t, f);
  *analyses += s->analyses;
  *factorizations += s->factorizations;
  for (int k = 0; k < 2; k++) {
    const damo_factor *factor = k == 0 ? s->kept : s->before;
    if (factor == NULL) continue;
    const factor_info info = factor_get_info(factor);
    *analyses += info.analyses;
    *factorizations += info.factorizations;
  }
}

/* ---- The classes ------------------------------------------------------------------------------------------------- */

static damo_dtype factorize_dtype(const damo_var *a) {
  return dtype_is_discrete(var_dtype(a)) ? DAMO_FLOAT64 : var_dtype(a);
}

static damo_status factorize_init(damo_op *op) {
  if (factor_assume_of(&OP_PROPS(op, factorize_props)->assume) >= 0) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_EVALUE, "Factorize: assume is 'pos', 'sym', 'gen' or nil");
}

/* A matrix declared Hermitian is square: a known length gives the other. */
static damo_status factorize_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  const int64_t *shape = in[0]->type->shape;
  const int assume = factor_assume_of(&OP_PROPS(op, factorize_props)->assume);
  const bool square = assume == FACTOR_ASSUME_POS || assume == FACTOR_ASSUME_SYM;
  if (square && shape[0] >= 0 && shape[1] >= 0 && shape[0] != shape[1]) {
    return ctx_fail(op->obj.ctx, DAMO_ESHAPE,
                    "%s: the matrix has shape (%lld, %lld), expected a square one under assume='%s'", op->def->name,
                    (long long)shape[0], (long long)shape[1], factor_assume_names[assume]);
  }
  const int64_t rows = square && shape[0] < 0 ? shape[1] : shape[0], cols = square && shape[1] < 0 ? rows : shape[1];
  out[0] = type_factor(op->obj.ctx, factorize_dtype(in[0]), (const int64_t[2]){rows, cols}, false);
  return out[0] != NULL ? DAMO_OK : damo_error_status(op->obj.ctx);
}

static damo_status factorize_qr_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  out[0] = type_factor(op->obj.ctx, factorize_dtype(in[0]), in[0]->type->shape, true);
  return out[0] != NULL ? DAMO_OK : damo_error_status(op->obj.ctx);
}

const op_def factorize_def = {
    .name = "Factorize",
    .library = "SuiteSparse",
    .doc = "the factor of a sparse matrix, by QR of a rectangular one; assume: 'pos', 'sym', 'gen' or nil (found out)",
    .props = PROPS(PROP(factorize_props, assume)),
    .n_in = 1,
    .init = factorize_init,
    .infer_type = factorize_type,
    .perform = factorize_perform,
    .state_size = sizeof(factorize_state),
    .state_clear = factorize_clear,
    .grad = grad_none,
    .rop = rop_none,
    .connection_pattern = connect_none,
    .do_constant_folding = fold_never,
    OP_CHECK(factorize_check),
};

const op_def factorize_qr_def = {
    .name = "FactorizeQR",
    .library = "SuiteSparse",
    .doc = "the QR factor of a sparse matrix of any shape, for least squares",
    .n_in = 1,
    .infer_type = factorize_qr_type,
#if !DAMO_SUITESPARSE
    .prepare_node = factorize_qr_prepare,
#endif
    .perform = factorize_perform,
    .state_size = sizeof(factorize_state),
    .state_clear = factorize_clear,
    .grad = grad_none,
    .rop = rop_none,
    .connection_pattern = connect_none,
    .do_constant_folding = fold_never,
    OP_CHECK(factorize_check),
};

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

static bool sp_fail_factor_option(build *b, const fn_args *a) {
  build_fail(b, DAMO_EVALUE, "%s: option 'assume' is for a matrix: this factor is made already", a->func->name);
  return false;
}

bool check_on_fail(build *b, const fn_args *a) {
  const prop_value *v = &FN_OPTIONS(a, factor_options)->on_fail;
  if (v->kind == PROP_NIL || strcmp(v->u.s, "raise") == 0 || strcmp(v->u.s, "return") == 0) return true;
  build_fail(b, DAMO_EVALUE, "%s: option 'on_fail' is 'raise' or 'return', not '%s'", a->func->name, v->u.s);
  return false;
}

bool factor_operand(build *b, const fn_args *a, factor_var *out) {
  damo_var *x = a->n_in > 0 && b->status == DAMO_OK ? a->in[0] : NULL;
  const prop_value *v = &FN_OPTIONS(a, factor_options)->assume;
  *out = (factor_var){.f = NULL};
  if (x == NULL || !check_on_fail(b, a)) return false;
  if (type_is_factor(x->type)) {
    const bool known = x->owner != NULL && x->owner->op->def == &factorize_def;
    if (v->kind != PROP_NIL) return sp_fail_factor_option(b, a);
    if (known) v = &OP_PROPS(x->owner->op, factorize_props)->assume;
    *out = (factor_var){x, known ? x->owner->in[0] : NULL, known && factor_assume_of(v) == FACTOR_ASSUME_POS};
    return true;
  }
  if (factor_assume_of(v) < 0) {
    build_fail(b, DAMO_EVALUE, "%s: option 'assume' is 'pos', 'sym' or 'gen', not '%s'", a->func->name,
               v->kind == PROP_STR ? v->u.s : "another value");
    return false;
  }
  x = sparse_operand(b, a, 0);
  if (x == NULL) return false;
  damo_var *f = build_op(b, op_new(b->ctx, &factorize_def, v), &x, 1);
  *out = (factor_var){f, x, factor_assume_of(v) == FACTOR_ASSUME_POS};
  return f != NULL;
}

damo_apply *build_factor_apply(build *b, const op_def *def, const void *props, const factor_var *v,
                               damo_var *const *more, int n) {
  damo_var *in[6] = {v->f, v->a};
  int n_in = v->a != NULL ? 2 : 1;
  if (b->status != DAMO_OK) return NULL;
  for (int i = 0; i < n; i++) {
    if (more[i] == NULL) return NULL;
    in[n_in++] = more[i];
  }
  return build_apply(b, op_new(b->ctx, def, props), in, n_in);
}

damo_apply *build_on_factor(build *b, const op_def *def, const factor_var *v, damo_var *const *more, int n) {
  const prop_value p = prop_bool(v->positive);
  return build_factor_apply(b, def, &p, v, more, n);
}

damo_status factor_fields_init(damo_op *op, const prop_value *system, const prop_value *positive,
                               const prop_value *minimum_norm) {
  factor_fields *d = op->data;
  const bool named = system != NULL && system->kind != PROP_NIL;
  if (named && (system->kind != PROP_STR || strlen(system->u.s) != 1 || strchr("nth", system->u.s[0]) == NULL))
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "%s: system is 'n', 't' or 'h'", op->def->name);
  d->system = named ? system->u.s[0] : 'n';
  d->positive = positive != NULL && positive->kind == PROP_BOOL && positive->u.i != 0;
  d->by_rank = minimum_norm != NULL && minimum_norm->kind == PROP_BOOL;
  d->minimum_norm = d->by_rank && minimum_norm->u.i != 0;
  return DAMO_OK;
}

factor_var factor_of_node(const damo_apply *node, int with) {
  return (factor_var){node->in[0], node->n_in >= with ? node->in[1] : NULL, factor_fields_of(node->op)->positive};
}

damo_var *build_columns(build *b, damo_var *x) {
  return x && var_ndim(x) == 1 ? build_dimshuffle(b, x, (const int[]){0, -1}, 2) : x;
}

damo_var *build_counting_part(build *b, const factor_var *v, damo_var *x) {
  if (!v->positive || x == NULL || b->status != DAMO_OK) return x;
  damo_var *adjoint = build_to_format(b, build_sparse_transpose(b, build_conj_if_complex(b, x)), var_format_of(x));
  damo_var *sum = adjoint ? build_add(b, x, adjoint) : NULL;
  return sum ? build_mul(b, build_scalar(b, dtype_of_modulus(var_dtype(x)), 0.5), sum) : NULL;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_factorize(build *b, const fn_args *a, ptrvec *out) {
  factor_var v;
  if (!factor_operand(b, a, &v)) return b->status;
  return fn_give(b, out, v.f);
}

static damo_status sp_factor_rcond_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_square_factor(op, in));
  return type_give_dense(op, out, DAMO_FLOAT64, 0, NULL);
}

static damo_status sp_factor_rcond_perform(const thunk *t, frame *f) {
  damo_array *out = thunk_out(t, f, 0, DAMO_FLOAT64, 0, NULL);
  scalar value = {.dtype = DAMO_FLOAT64};
  if (out == NULL) return DAMO_EMEMORY;
  DAMO_TRY(factor_rcond(thunk_in_factor(t, f, 0), &value.v.f));
  array_set(out, NULL, value);
  return DAMO_OK;
}

static const op_def sp_factor_rcond_def = {
    .name = "FactorRcond",
    .library = "SuiteSparse",
    .doc = "an estimate of a factor's reciprocal condition number",
    .n_in = 1,
    .infer_type = sp_factor_rcond_type,
    .perform = sp_factor_rcond_perform,
    .grad = grad_none,
    .rop = rop_none,
    .infer_shape = infer_shape_scalars,
    .connection_pattern = connect_none,
    OP_CHECK(factor_rcond_check),
};

static damo_status sp_fn_rcond(build *b, const fn_args *a, ptrvec *out) {
  factor_var v;
  if (!factor_operand(b, a, &v)) return b->status;
  return fn_give(b, out, build_class(b, &sp_factor_rcond_def, &v.f, 1));
}

const op_func sparse_factor_funcs[] = {
    {.name = "sparse.factorize",
     .operands = "A",
     .options = OPTIONS(OPT(factor_options, assume, OPT_STR), OPT(factor_options, on_fail, OPT_STR)),
     .call = sp_fn_factorize,
     .doc = "the factor of a sparse matrix, for many systems (QR of a rectangular one); assume: 'pos', 'sym' or 'gen'; "
            "the "
            "function takes progress of values: true, or what is called with the stage and the number of stages"},
    {.name = "sparse.rcond",
     .operands = "A",
     .options = OPTIONS(OPT(factor_options, assume, OPT_STR), OPT(factor_options, on_fail, OPT_STR)),
     .call = sp_fn_rcond,
     .doc = "an estimate of the reciprocal condition number of a sparse matrix or its factor"},
    {.name = NULL},
};

const op_def *const sparse_factor_classes[] = {&factorize_def, &factorize_qr_def, &sp_factor_rcond_def, NULL};
