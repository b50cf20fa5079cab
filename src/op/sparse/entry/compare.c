/* compare: eq neq lt le gt ge, isclose and allclose, maximum and minimum.
 *
 * The SS classes compare two sparse matrices of one format, entry by entry: sparse bool, of which the true elements are
 * stored. The SD classes compare with a dense matrix, into dense bool, or with a number, into sparse bool. Absent
 * entries count as 0, so eq, le and ge of two sparse matrices are true nearly everywhere, and their result takes memory
 * for nearly every element. nan is unequal to all. isclose and allclose compute at the positions where either matrix
 * stores an entry: elsewhere 0 is close to 0. MaximumSS and MinimumSS merge two sparse matrices; with a number that
 * keeps absent entries 0, maximum and minimum compute on the stored values.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

#include <stddef.h>
#include <string.h>

#define N_RELATIONS (SPARSE_GE + 1)

typedef struct sp_relation {
  size_t kernel;           /* offset of its set in a kernel_isa */
  sparse_relation flipped; /* the relation with the operands exchanged */
} sp_relation;

static const sp_relation sp_relations[N_RELATIONS] = {
    [SPARSE_EQ] = {offsetof(kernel_isa, eq), SPARSE_EQ},    [SPARSE_LT] = {offsetof(kernel_isa, lt), SPARSE_GT},
    [SPARSE_NEQ] = {offsetof(kernel_isa, neq), SPARSE_NEQ}, [SPARSE_LE] = {offsetof(kernel_isa, le), SPARSE_GE},
    [SPARSE_GT] = {offsetof(kernel_isa, gt), SPARSE_LT},    [SPARSE_GE] = {offsetof(kernel_isa, ge), SPARSE_LE},
};

static const op_def sp_compare_ss_defs[N_RELATIONS], sp_compare_sd_defs[N_RELATIONS];

/* The kernel for operands of that dtype, NULL: not defined. */
static kernel_fn sp_compare_kernel(const kernel_isa *isa, const sp_relation *r, damo_dtype dtype) {
  const char *set = (const char *)isa + r->kernel;
  return (*(const kernel_set *const *)(const void *)set)->fn[dtype];
}

static damo_dtype sp_compare_loop_dtype(damo_var *const *in) {
  return dtype_promote(var_dtype(in[0]), var_dtype(in[1]));
}

static damo_status sp_compare_need_kernel(const damo_op *op, const sp_relation *r, damo_var *const *in) {
  if (sp_compare_kernel(op->obj.ctx->isa, r, sp_compare_loop_dtype(in)) != NULL) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s is not defined for %s", op->def->name,
                  dtype_name(sp_compare_loop_dtype(in)));
}

static damo_status sp_compare_check_shapes(const thunk *t, frame *f, const damo_sparse *x, const int64_t *y) {
  if (x->shape[0] == y[0] && x->shape[1] == y[1]) return DAMO_OK;
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: shapes (%lld, %lld) and (%lld, %lld) are not equal", t->node->op->def->name,
                  (long long)x->shape[0], (long long)x->shape[1], (long long)y[0], (long long)y[1]);
}

/* ---- Two sparse -------------------------------------------------------------------------------------------------- */

static damo_status sp_compare_ss_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_sparse(op, in, 1));
  DAMO_TRY(type_need_same_shape(op, in));
  DAMO_TRY(sp_compare_need_kernel(op, &sp_relations[op->def - sp_compare_ss_defs], in));
  if (var_format_of(in[0]) != var_format_of(in[1])) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE,
                    "%s: the operands must have one format, got %s and %s; convert one of them", op->def->name,
                    sparse_format_name(var_format_of(in[0])), sparse_format_name(var_format_of(in[1])));
  }
  return type_give_sparse(op, out, var_format_of(in[0]), DAMO_BOOL, itype_join(var_itype(in[0]), var_itype(in[1])),
                          in[0]->type->shape[0], in[0]->type->shape[1]);
}

static damo_status sp_compare_ss_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0), *y = thunk_in_sparse(t, f, 1);
  DAMO_TRY(sp_compare_check_shapes(t, f, x, y->shape));
  return thunk_give_sparse(t, f, 0, sparse_relate((sparse_relation)(t->node->op->def - sp_compare_ss_defs), x, y));
}

#define SS(r, symbol, class_name, text)                                          \
  [r] = {.name = class_name "SS",                                                \
         .doc = text " two sparse matrices: sparse bool, true positions stored", \
         .n_in = 2,                                                              \
         .infer_type = sp_compare_ss_type,                                       \
         .perform = sp_compare_ss_perform,                                       \
         .grad = grad_none,                                                      \
         .rop = rop_none,                                                        \
         .infer_shape = infer_shape_same,                                        \
         .connection_pattern = connect_none,                                     \
         OP_CHECK(symbol)}

static const op_def sp_compare_ss_defs[N_RELATIONS] = {
    SS(SPARSE_EQ, eq_check, "Equal", "x = y of"),       SS(SPARSE_NEQ, neq_check, "NotEqual", "x /= y of"),
    SS(SPARSE_LT, lt_check, "LessThan", "x < y of"),    SS(SPARSE_LE, le_check, "LessEqual", "x <= y of"),
    SS(SPARSE_GT, gt_check, "GreaterThan", "x > y of"), SS(SPARSE_GE, ge_check, "GreaterEqual", "x >= y of"),
};

/* ---- Sparse and dense -------------------------------------------------------------------------------------------- */

static damo_status sp_compare_sd_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  const bool number = var_is_dense(in[1]) && var_ndim(in[1]) == 0;
  if (!number) {
    DAMO_TRY(type_need_dense(op, in, 1, 2));
    DAMO_TRY(type_need_same_shape(op, in));
  }
  DAMO_TRY(sp_compare_need_kernel(op, &sp_relations[op->def - sp_compare_sd_defs], in));
  return number ? type_give_like(op, out, in[0], DAMO_BOOL)
                : type_give_dense(op, out, DAMO_BOOL, 2, in[0]->type->shape);
}

static damo_status sp_compare_sd_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  const damo_array *y = thunk_in(t, f, 1);
  const damo_dtype loop = sp_compare_loop_dtype(t->node->in);
  const kernel_fn op = sp_compare_kernel(f->ctx->isa, &sp_relations[t->node->op->def - sp_compare_sd_defs], loop);
  if (y->ndim == 0) return thunk_give_sparse(t, f, 0, sparse_relate_number(op, loop, x, y));
  DAMO_TRY(sp_compare_check_shapes(t, f, x, array_shape(y)));
  damo_array *out = thunk_out(t, f, 0, DAMO_BOOL, 2, x->shape);
  return out != NULL ? sparse_relate_dense(op, loop, x, y, out) : DAMO_EMEMORY;
}

#define SD(r, symbol, class_name, text)                                                         \
  [r] = {.name = class_name "SD",                                                               \
         .doc = text " a sparse matrix and a dense one: dense bool; and a number: sparse bool", \
         .n_in = 2,                                                                             \
         .infer_type = sp_compare_sd_type,                                                      \
         .perform = sp_compare_sd_perform,                                                      \
         .grad = grad_none,                                                                     \
         .rop = rop_none,                                                                       \
         .infer_shape = infer_shape_same,                                                       \
         .connection_pattern = connect_none,                                                    \
         OP_CHECK(symbol)}

static const op_def sp_compare_sd_defs[N_RELATIONS] = {
    SD(SPARSE_EQ, eq_check, "Equal", "x = y of"),       SD(SPARSE_NEQ, neq_check, "NotEqual", "x /= y of"),
    SD(SPARSE_LT, lt_check, "LessThan", "x < y of"),    SD(SPARSE_LE, le_check, "LessEqual", "x <= y of"),
    SD(SPARSE_GT, gt_check, "GreaterThan", "x > y of"), SD(SPARSE_GE, ge_check, "GreaterEqual", "x >= y of"),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_compare(build *b, const fn_args *a, ptrvec *out) {
  const sp_relation *r = a->func->data;
  damo_var *pair[2];
  char p[320], q[320];
  DAMO_TRY(pair_operands(b, a, pair));
  const bool first = var_is_sparse(pair[0]), second = var_is_sparse(pair[1]);
  if (first && second) return fn_give(b, out, build_class(b, &sp_compare_ss_defs[r - sp_relations], pair, 2));
  if (first) return fn_give(b, out, build_class(b, &sp_compare_sd_defs[r - sp_relations], pair, 2));
  if (second)
    return fn_give(b, out, build_class(b, &sp_compare_sd_defs[r->flipped], (damo_var *[]){pair[1], pair[0]}, 2));
  build_fail(b, DAMO_ETYPE, "%s: one operand must be sparse, got %s and %s", a->func->name,
             type_format(p, sizeof p, pair[0]->type), type_format(q, sizeof q, pair[1]->type));
  return b->status;
}

/* The operands of isclose and allclose: matrices of one shape as far as that is known. */
static damo_status sp_isclose_operands(build *b, const fn_args *a, damo_var **pair) {
  char p[320], q[320];
  DAMO_TRY(pair_operands(b, a, pair));
  for (int i = 0; i < 2; i++) {
    if (var_is_sparse(pair[i]) || (var_is_dense(pair[i]) && var_ndim(pair[i]) == 2)) continue;
    build_fail(b, DAMO_ETYPE, "%s: operand %d must be a sparse or dense matrix, got %s", a->func->name, i + 1,
               type_format(p, sizeof p, pair[i]->type));
    return b->status;
  }
  if (!var_is_sparse(pair[0]) && !var_is_sparse(pair[1])) {
    build_fail(b, DAMO_ETYPE, "%s: one operand must be sparse, got %s and %s", a->func->name,
               type_format(p, sizeof p, pair[0]->type), type_format(q, sizeof q, pair[1]->type));
    return b->status;
  }
  for (int k = 0; k < 2; k++) {
    const int64_t m = pair[0]->type->shape[k], n = pair[1]->type->shape[k];
    if (m < 0 || n < 0 || m == n) continue;
    build_fail(b, DAMO_ESHAPE, "%s: shapes %s and %s are not equal", a->func->name,
               shape_format(p, sizeof p, 2, pair[0]->type->shape), shape_format(q, sizeof q, 2, pair[1]->type->shape));
    return b->status;
  }
  return DAMO_OK;
}

/* Both operands as sparse matrices of one format without duplicates. */
static void build_alike_pair(build *b, damo_var *const *pair, damo_var **alike) {
  const damo_format format = var_format_of(var_is_sparse(pair[0]) ? pair[0] : pair[1]);
  for (int i = 0; i < 2 && b->status == DAMO_OK; i++) {
    damo_var *x = build_sparse_from(b, pair[i], format);
    if (x != NULL) x = build_to_format(b, x, format);
    alike[i] = x != NULL ? build_summed(b, x) : NULL;
  }
}

/* A matrix with an entry at each position that either operand stores; at[i] is the vector of operand i's values there,
 * in the order of its entries. NULL on failure. */
static damo_var *build_either_places(build *b, damo_var *const *pair, damo_var **at) {
  damo_var *m[2] = {NULL}, *ones[2];
  build_alike_pair(b, pair, m);
  for (int i = 0; i < 2; i++) {
    damo_var *stored = m[i] != NULL ? build_data(b, m[i]) : NULL;
    damo_var *x = stored != NULL ? build_with_data(b, m[i], build_neq(b, stored, build_int(b, 0))) : NULL;
    ones[i] = x != NULL ? build_sparse_ones(b, x) : NULL;
  }
  damo_var *places = build_add(b, ones[0], ones[1]);
  for (int i = 0; i < 2; i++) at[i] = places != NULL ? build_gather(b, m[i], places) : NULL;
  return b->status == DAMO_OK ? places : NULL;
}

/* isclose at each position that either operand stores: a vector in the order of the entries of *places. */
static damo_var *build_close_places(build *b, const fn_args *a, damo_var *const *pair, damo_var **places) {
  damo_var *at[2];
  *places = build_either_places(b, pair, at);
  return *places != NULL ? build_isclose(b, at[0], at[1], FN_OPTIONS(a, close_options)) : NULL;
}

static damo_status sp_fn_allclose(build *b, const fn_args *a, ptrvec *out) {
  damo_var *pair[2], *places;
  DAMO_TRY(sp_isclose_operands(b, a, pair));
  return fn_give(b, out, build_reduce(b, REDUCE_ALL, build_close_places(b, a, pair, &places), NULL, -1, false));
}

/* The first of two dense operands, checked to have the second one's shape where one could broadcast over the other. */
static damo_var *sp_isclose_check_stretch(build *b, const fn_args *a, damo_var *const *pair) {
  bool could = false;
  for (int k = 0; k < 2 && b->status == DAMO_OK; k++)
    could = could || type_dim_is_one(pair[0]->type, k) != type_dim_is_one(pair[1]->type, k);
  return could ? build_same_shape(b, a->func->name, pair[0], pair[0], pair[1]) : pair[0];
}

/* Two sparse matrices: true everywhere but at stored positions that are not close. */
static damo_status sp_fn_isclose(build *b, const fn_args *a, ptrvec *out) {
  damo_var *pair[2], *places;
  DAMO_TRY(sp_isclose_operands(b, a, pair));
  if (var_is_sparse(pair[0]) && var_is_sparse(pair[1])) {
    damo_var *not_close = build_invert(b, build_close_places(b, a, pair, &places));
    damo_var *where = not_close != NULL ? build_with_data(b, places, not_close) : NULL;
    return fn_give(b, out, build_eq(b, where, build_int(b, 0)));
  }
  for (int i = 0; i < 2 && b->status == DAMO_OK; i++) pair[i] = build_toarray(b, pair[i]);
  pair[0] = sp_isclose_check_stretch(b, a, pair);
  return fn_give(b, out,
                 b->status == DAMO_OK ? build_isclose(b, pair[0], pair[1], FN_OPTIONS(a, close_options)) : NULL);
}

/* ---- The larger and the smaller ---------------------------------------------------------------------------------- */

static const op_def sp_extreme_ss_defs[2];

static bool sp_extreme_ss_is_maximum(const damo_op *op) { return op->def == &sp_extreme_ss_defs[0]; }

static damo_status sp_extreme_ss_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_sparse(op, in, 1));
  DAMO_TRY(type_need_same_shape(op, in));
  DAMO_TRY(sp_compare_need_kernel(op, &sp_relations[SPARSE_LT], in));
  for (int k = 0; k < 2; k++) shape[k] = in[in[0]->type->shape[k] < 0]->type->shape[k];
  return type_give_sparse(op, out, var_format_of(in[0]), sp_compare_loop_dtype(in),
                          itype_join(var_itype(in[0]), var_itype(in[1])), shape[0], shape[1]);
}

static damo_status sp_extreme_ss_perform(const thunk *t, frame *f) {
  const sparse_merge_op op = sp_extreme_ss_is_maximum(t->node->op) ? SPARSE_MAX : SPARSE_MIN;
  return thunk_give_sparse(t, f, 0, sparse_merge(op, thunk_in_sparse(t, f, 0), thunk_in_sparse(t, f, 1)));
}

/* The dense node of the same function over the vectors of both operands' values at the positions that either stores.
 * Its derivatives are the node's. NULL on failure. */
static damo_apply *build_extreme_ss(build *b, damo_apply *node, damo_var **places) {
  damo_var *at[2];
  *places = build_either_places(b, node->in, at);
  damo_var *v = NULL;
  if (*places != NULL)
    v = sp_extreme_ss_is_maximum(node->op) ? build_maximum(b, at[0], at[1]) : build_minimum(b, at[0], at[1]);
  return v != NULL ? v->owner : NULL;
}

static damo_status sp_extreme_ss_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *places, *part[2] = {NULL, NULL};
  if (gout[0] == NULL) return DAMO_OK;
  for (int i = 0; i < 2; i++) gin[i] = build_flat_zeros(b, node, i);
  if (gin[0] != NULL && gin[1] != NULL) return b->status;
  damo_apply *dense = build_extreme_ss(b, node, &places);
  damo_var *g = dense != NULL ? build_gather(b, gout[0], places) : NULL;
  if (g == NULL) return b->status;
  DAMO_TRY(dense->op->def->grad(b, dense, &g, part));
  for (int i = 0; i < 2; i++) {
    if (gin[i] == NULL) gin[i] = build_with_data(b, places, part[i]);
  }
  return b->status;
}

static damo_status sp_extreme_ss_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *places, *part[2] = {NULL, NULL}, *tangent = NULL;
  if (eval[0] == NULL && eval[1] == NULL) return DAMO_OK;
  damo_apply *dense = build_extreme_ss(b, node, &places);
  for (int i = 0; i < 2 && dense != NULL; i++) {
    if (eval[i] != NULL) part[i] = build_gather(b, eval[i], places);
  }
  if (b->status != DAMO_OK) return b->status;
  DAMO_TRY(dense->op->def->rop(b, dense, part, &tangent));
  if (tangent != NULL) rout[0] = build_with_data(b, places, tangent);
  return b->status;
}

#define CHOICE(class_name, symbol, which)                                                                        \
  {                                                                                                              \
    .name = class_name, .doc = "the " which " of two sparse matrices entry by entry, in the first one's format", \
    .n_in = 2, .infer_type = sp_extreme_ss_type, .perform = sp_extreme_ss_perform, .grad = sp_extreme_ss_grad,   \
    .rop = sp_extreme_ss_rop, .infer_shape = infer_shape_same, .pattern = PATTERN_ONCE, OP_CHECK(symbol)         \
  }

static const op_def sp_extreme_ss_defs[2] = {CHOICE("MaximumSS", maximum_check, "larger"),
                                             CHOICE("MinimumSS", minimum_check, "smaller")};

static bool sp_fn_is_maximum(const fn_args *a) { return a->func->data == &sp_extreme_ss_defs[0]; }

/* True when y is a constant number of 0 or less (maximum) or 0 or more (minimum), so that absent entries stay 0. */
static bool sp_bound_keeps_zero(const fn_args *a, const damo_var *y) {
  const damo_array *v = var_constant_array(y);
  if (v == NULL || v->ndim != 0) return false;
  const damo_c128 z = scalar_cast(array_item(v), DAMO_COMPLEX128).v.c; /* ordered by real parts, then imaginary ones */
  const double number = z.re != 0 ? z.re : z.im;
  return sp_fn_is_maximum(a) ? number <= 0 : number >= 0;
}

#define REMEDY                                                                                                      \
  "damo.sparse.structured_%s(x, y) to compute on the stored entries alone, or x:toarray() to compute on the dense " \
  "matrix"

static damo_status sp_fail_extreme(build *b, const fn_args *a, const damo_var *y) {
  const char *name = sp_fn_is_maximum(a) ? "maximum" : "minimum", *side = sp_fn_is_maximum(a) ? "above" : "below";
  if (!var_is_dense(y) || var_ndim(y) != 0) {
    build_fail(b, DAMO_ETYPE, "%s: a sparse operand would give a dense result: use " REMEDY, name, name);
  } else if (var_constant_array(y) != NULL) {
    build_fail(b, DAMO_ETYPE, "%s: a sparse matrix and a number %s 0 give a dense result: use " REMEDY, name, side,
               name);
  } else {
    build_fail(b, DAMO_ETYPE,
               "%s: a sparse matrix and a Variable, which may be %s 0, may give a dense result: use a constant, "
               "%s for 0, " REMEDY,
               name, side, sp_fn_is_maximum(a) ? "damo.relu(x)" : "-damo.relu(-x)", name);
  }
  return b->status;
}

#undef REMEDY

/* pair[at] is sparse, the other operand a number that keeps absent entries 0: computes on the stored values. */
static damo_status sp_extreme_of_stored(build *b, const fn_args *a, damo_var **pair, int at, ptrvec *out) {
  damo_var *x = build_summed(b, pair[at]);
  pair[at] = x != NULL ? build_data(b, x) : NULL;
  if (pair[at] == NULL) return b->status;
  damo_var *v = sp_fn_is_maximum(a) ? build_maximum(b, pair[0], pair[1]) : build_minimum(b, pair[0], pair[1]);
  return fn_give(b, out, v != NULL ? build_without_zeros(b, build_with_data(b, x, v)) : NULL);
}

/* max(x, y) or min(x, y) of two sparse matrices, or of one and a number; zeros are not stored. */
static damo_status sp_fn_extreme(build *b, const fn_args *a, ptrvec *out) {
  damo_var *pair[2];
  DAMO_TRY(pair_operands(b, a, pair));
  const int other = var_is_sparse(pair[0]);
  if (!var_is_sparse(pair[other])) {
    if (other == 0 && !var_is_sparse(pair[1])) return sp_fail_extreme(b, a, pair[0]);
    if (!sp_bound_keeps_zero(a, pair[other])) return sp_fail_extreme(b, a, pair[other]);
    return sp_extreme_of_stored(b, a, pair, !other, out);
  }
  DAMO_TRY(sp_isclose_operands(b, a, pair));
  return fn_give(b, out, build_class(b, &sp_extreme_ss_defs[!sp_fn_is_maximum(a)], pair, 2));
}

#define ROW(r, fn, sign)                                                                          \
  {                                                                                               \
    .name = "sparse." fn, .operands = "x y", .call = sp_fn_compare, .data = &sp_relations[r],     \
    .doc = "x " sign " y: sparse bool; dense bool with a dense matrix; absent entries count as 0" \
  }

#define CHOOSE(fn, class_def, which, bound)                                                        \
  {                                                                                                \
    .name = "sparse." fn, .operands = "x y", .call = sp_fn_extreme, .data = class_def,             \
    .doc = "the " which " of x and y entry by entry, both sparse, or one a constant number " bound \
           "; absent entries count as 0"                                                           \
  }

const op_func sparse_compare_funcs[] = {
    ROW(SPARSE_EQ, "eq", "=="),
    ROW(SPARSE_NEQ, "neq", "~="),
    ROW(SPARSE_LT, "lt", "<"),
    ROW(SPARSE_LE, "le", "<="),
    ROW(SPARSE_GT, "gt", ">"),
    ROW(SPARSE_GE, "ge", ">="),
    {.name = "sparse.isclose",
     .operands = "x y",
     .options = CLOSE_OPTIONS,
     .call = sp_fn_isclose,
     .doc = "|x - y| <= atol + rtol |y|: sparse bool; dense bool with a dense matrix; absent entries count as 0"},
    {.name = "sparse.allclose",
     .operands = "x y",
     .options = CLOSE_OPTIONS,
     .call = sp_fn_allclose,
     .doc = "isclose at every position, in memory for the stored entries; the other matrix may be dense"},
    CHOOSE("maximum", &sp_extreme_ss_defs[0], "larger", "of 0 or less"),
    CHOOSE("minimum", &sp_extreme_ss_defs[1], "smaller", "of 0 or more"),
    {.name = NULL},
};

#define BOTH(r) &sp_compare_ss_defs[SPARSE_##r], &sp_compare_sd_defs[SPARSE_##r]

const op_def *const sparse_compare_classes[] = {
    BOTH(EQ), BOTH(NEQ), BOTH(LT), BOTH(LE), BOTH(GT), BOTH(GE), &sp_extreme_ss_defs[0], &sp_extreme_ss_defs[1], NULL};

#undef SS
#undef SD
#undef CHOICE
#undef ROW
#undef CHOOSE
#undef BOTH
#undef REMEDY
