/* cotangent: cotangents of sparse matrices that may have duplicates, several entries at one position.
 *
 * A cotangent g of x is read in one of two ways. Where g shares x's pattern arrays, or stores x's positions as often in
 * the other format, it is entrywise: it has the derivative by each entry of x, duplicates one by one. Any other g is
 * the matrix of derivatives by position, and all entries of x at a position have its value there. Where x has no
 * duplicates the two are the same matrix.
 *
 * AddCotangents (x, g, h) is the sum of g and h as cotangents of x. MoveCotangent (part, g, y, x) makes of g, a
 * cotangent of y, one of x, where y has x's entries in another order or among others; `part` is g moved as a matrix,
 * its duplicates kept. With the property partial, g is one of several cotangents that part is made of. Where x, or what
 * arrives at x, is known to have no duplicates, the plain sum and `part` itself are used and no node is made. Where
 * that shows at run time, the nodes cost no more than those, and x and y, which only they need, are not computed: the
 * thunks are lazy.
 */
#include "sparse_op.h"
#include "op/elem/build_arith.h"

typedef struct sp_move_cotangent_props {
  prop_value partial;
} sp_move_cotangent_props;

/* Limit of a search through ancestors, so that the gradient of a long chain takes time linear in its length. */
#define ONCE_SEARCH_STEPS 64

static op_pattern cotangent_pattern(const damo_var *x) {
  return x->owner ? x->owner->op->def->pattern : PATTERN_UNKNOWN;
}

static damo_var *cotangent_root(const damo_var *x) { return var_pattern_root(x, ONCE_SEARCH_STEPS); }

/* True when x by itself shows that it has no duplicates: by its Op, its Type's pattern or its constant value. */
static bool cotangent_is_once(const damo_var *x) {
  if (x->owner != NULL) return cotangent_pattern(x) == PATTERN_ONCE;
  if (x->type->pattern != NULL && x->type->pattern->matrix->unique) return true;
  const damo_obj *v = x->value;
  return var_is_constant(x) && v != NULL && v->kind == OBJ_SPARSE && ((const damo_sparse *)v)->unique;
}

/* A search through ancestors: the Variables still to be shown free of duplicates. */
typedef struct once_search {
  int n;
  const damo_var *todo[ONCE_SEARCH_STEPS];
} once_search;

/* Adds the sparse ones of the node's first n inputs; false when the list is full. */
static bool once_search_inputs(once_search *s, const damo_apply *node, int n) {
  for (int i = 0; i < n; i++) {
    if (!var_is_sparse(node->in[i])) continue;
    if (s->n == ONCE_SEARCH_STEPS) return false;
    s->todo[s->n++] = node->in[i];
  }
  return true;
}

/* True when x has no duplicates, provided that the Variables that are added to the search have none. */
static bool once_search_var(once_search *s, const damo_var *x) {
  const damo_apply *node = x->owner;
  switch (cotangent_pattern(x)) {
    case PATTERN_UNKNOWN: return false;
    case PATTERN_ONCE: return true;
    case PATTERN_SHARED:
    case PATTERN_FOLLOWS: return once_search_inputs(s, node, 1);
    case PATTERN_JOINS: return once_search_inputs(s, node, node->n_in);
    case PATTERN_MEETS: break;
  }
  for (int i = 0; i < node->n_in; i++) {
    if (var_is_sparse(node->in[i]) && cotangent_is_once(cotangent_root(node->in[i]))) return true;
  }
  return once_search_inputs(s, node, 1);
}

/* False only where x certainly has no duplicates. */
static bool cotangent_may_repeat(const damo_var *x) {
  once_search s = {.n = 1, .todo = {x}};
  for (int step = 0; step < ONCE_SEARCH_STEPS && s.n > 0; step++) {
    const damo_var *next = s.todo[--s.n];
    if (!cotangent_is_once(next) && !once_search_var(&s, next)) return true;
  }
  return s.n > 0;
}

bool cotangents_add_plainly(damo_var *x, damo_var *g, damo_var *h) {
  if (!cotangent_may_repeat(x) || (!cotangent_may_repeat(g) && !cotangent_may_repeat(h))) return true;
  /* on x's own pattern arrays the plain sum adds entry by entry */
  const damo_var *root = cotangent_root(x);
  return cotangent_root(g) == root && cotangent_root(h) == root && var_dtype(g) == var_dtype(h);
}

bool cotangent_moves_plainly(damo_var *g, damo_var *x) { return !cotangent_may_repeat(x) || !cotangent_may_repeat(g); }

/* Requests those of a lazy thunk's inputs first … last that are not computed; true when all are. */
static bool cotangents_are_ready(const thunk *t, frame *f, int first, int last) {
  bool ready = true;
  for (int i = first; i <= last; i++) {
    if (thunk_ready(t, f, i)) continue;
    thunk_need(t, f, i);
    ready = false;
  }
  return ready;
}

/* ---- AddCotangents ----------------------------------------------------------------------------------------------- */

static damo_status sp_add_cotangents_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  for (int i = 0; i < 3; i++) DAMO_TRY(type_need_sparse(op, in, i));
  const damo_format x = var_format_of(in[0]), g = var_format_of(in[1]), h = var_format_of(in[2]);
  return type_give_sparse(op, out, g == x || h == x ? x : g, dtype_promote(var_dtype(in[1]), var_dtype(in[2])),
                          itype_join(var_itype(in[1]), var_itype(in[2])), in[0]->type->shape[0], in[0]->type->shape[1]);
}

/* g's value for each entry of x: of that entry where g is entrywise (one_by_one), else of its position. */
static damo_array *cotangent_values_at(damo_sparse *g, const damo_sparse *x, bool one_by_one) {
  return one_by_one ? sparse_pair(g, x) : sparse_at_summed(g, x);
}

/* The sum as an entrywise cotangent, in that format. */
static damo_sparse *cotangents_sum_at(damo_sparse *x, damo_format format, damo_sparse *const *in,
                                      const bool *one_by_one) {
  damo_sparse *at = sparse_to_format(x, format), *terms[2] = {NULL, NULL}, *sum = NULL;
  for (int i = 0; at != NULL && i < 2; i++) {
    damo_array *values = cotangent_values_at(in[i], at, one_by_one[i]);
    terms[i] = values ? sparse_with_data(at, values) : NULL;
    damo_release(values);
  }
  if (terms[0] != NULL && terms[1] != NULL) sum = sparse_merge(SPARSE_ADD, terms[0], terms[1]);
  damo_release(at);
  damo_release(terms[0]);
  damo_release(terms[1]);
  return sum;
}

/* The sum of two cotangents of x; x is NULL where neither has duplicates. NULL: the pending error. */
static damo_sparse *cotangents_sum(damo_sparse *x, damo_format format, damo_sparse *const *in) {
  bool one_by_one[2] = {false, false}, repeats = false;
  const bool first = sparse_format(in[0]) == format;
  if (x == NULL || x->unique || (sparse_shares(in[0], x) && sparse_shares(in[1], x)))
    return sparse_merge(SPARSE_ADD, in[!first], in[first]);
  for (int i = 0; i < 2; i++) {
    if (sparse_one_by_one(in[i], x, &one_by_one[i]) != DAMO_OK) return NULL;
  }
  if ((one_by_one[0] || one_by_one[1]) && sparse_repeats(x, &repeats) != DAMO_OK) return NULL;
  return repeats ? cotangents_sum_at(x, format, in, one_by_one) : sparse_merge(SPARSE_ADD, in[!first], in[first]);
}

static damo_status sp_add_cotangents_perform(const thunk *t, frame *f) {
  if (!cotangents_are_ready(t, f, 1, 2)) return DAMO_OK;
  const bool plain = thunk_in_sparse(t, f, 1)->unique && thunk_in_sparse(t, f, 2)->unique;
  if (!plain && !cotangents_are_ready(t, f, 0, 0)) return DAMO_OK;
  const damo_dtype dtype = var_dtype(t->node->out[0]);
  damo_sparse *in[2] = {sparse_cast(thunk_in_sparse(t, f, 1), dtype), sparse_cast(thunk_in_sparse(t, f, 2), dtype)},
              *sum = NULL;
  if (in[0] != NULL && in[1] != NULL)
    sum = cotangents_sum(plain ? NULL : thunk_in_sparse(t, f, 0), var_format_of(t->node->out[0]), in);
  damo_release(in[0]);
  damo_release(in[1]);
  return thunk_give_sparse(t, f, 0, sum);
}

static damo_status sp_add_cotangents_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  gin[1] = gin[2] = gout[0];
  return b->status;
}

static damo_status sp_add_cotangents_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  rout[0] = eval[1] && eval[2] ? build_add_cotangents(b, node->in[0], eval[1], eval[2]) : eval[eval[1] ? 1 : 2];
  return b->status;
}

static void sp_add_cotangents_connect(const damo_apply *node, bool *connected) {
  (void)node;
  connected[0] = false;
}

const op_def sp_add_cotangents_def = {
    .name = "AddCotangents",
    .doc = "the sum of two cotangents of a sparse matrix, which may be derivatives of its entries one by one",
    .n_in = 3,
    .infer_type = sp_add_cotangents_type,
    .lazy = true,
    .perform = sp_add_cotangents_perform,
    .grad = sp_add_cotangents_grad,
    .rop = sp_add_cotangents_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = sp_add_cotangents_connect,
    .pattern = PATTERN_JOINS,
    .terms = TERMS_LINEAR,
    OP_CHECK(add_cotangents_check),
};

/* Whether a dense g and a sparse h, added as matrices, would lose what h has for duplicates of x one by one. A matrix
 * that was given, not made, has no entries that a cotangent goes on to. */
static bool cotangent_loses_entries(const damo_var *x, const damo_var *g, const damo_var *h) {
  return var_is_sparse(x) && x->owner != NULL && !var_is_sparse(g) && var_is_sparse(h) && cotangent_may_repeat(x) &&
         cotangent_may_repeat(h);
}

damo_var *build_add_cotangents(build *b, damo_var *x, damo_var *g, damo_var *h) {
  if (g == NULL || h == NULL || b->status != DAMO_OK) return NULL;
  if (cotangent_loses_entries(x, g, h)) g = build_structured(b, g, x);
  if (g != NULL && cotangent_loses_entries(x, h, g)) h = build_structured(b, h, x);
  if (g == NULL || h == NULL) return NULL;
  const bool sparse = var_is_sparse(x) && var_is_sparse(g) && var_is_sparse(h);
  if (!sparse || cotangents_add_plainly(x, g, h)) return build_add(b, g, h);
  return build_class(b, &sp_add_cotangents_def, (damo_var *[]){cotangent_root(x), g, h}, 3);
}

/* ---- MoveCotangent ----------------------------------------------------------------------------------------------- */

static damo_status sp_move_cotangent_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  for (int i = 0; i < 4; i++) DAMO_TRY(type_need_sparse(op, in, i));
  /* (the index dtype is x's, whose arrays the result may share) */
  const int64_t *shape = in[0]->type->shape;
  return type_give_sparse(op, out, var_format_of(in[0]), var_dtype(in[0]), var_itype(in[3]), shape[0], shape[1]);
}

/* part, which has one value for each entry of x in another order, on x's pattern in part's format. NULL: the pending
 * error. */
static damo_sparse *cotangent_paired(damo_sparse *part, damo_sparse *x) {
  damo_sparse *at = sparse_to_format(x, sparse_format(part));
  damo_array *data = at ? sparse_pair(part, at) : NULL;
  damo_sparse *out = data ? sparse_with_data(at, data) : NULL;
  damo_release(at);
  damo_release(data);
  return out;
}

/* part passes where g or x has no duplicates. Else: part is entrywise for x if g is for y (one_by_one), and would be
 * read as such if it shares x's arrays (seems). Where the two differ, part is matched with x's entries, or its
 * duplicates are summed. A partial part that shares x's arrays is left: another of its cotangents may be entrywise. */
static damo_status sp_move_cotangent_perform(const thunk *t, frame *f) {
  if (!cotangents_are_ready(t, f, 0, 1)) return DAMO_OK;
  damo_sparse *part = thunk_in_sparse(t, f, 0), *g = thunk_in_sparse(t, f, 1);
  if (!g->unique && !cotangents_are_ready(t, f, 3, 3)) return DAMO_OK;
  damo_sparse *x = g->unique ? NULL : thunk_in_sparse(t, f, 3);
  if (x == NULL || x->unique) return thunk_give_sparse(t, f, 0, damo_retain(part));
  if (!cotangents_are_ready(t, f, 2, 2)) return DAMO_OK;
  damo_sparse *y = thunk_in_sparse(t, f, 2);
  const bool seems = sparse_shares(part, x), partial = OP_PROPS(t->node->op, sp_move_cotangent_props)->partial.u.i != 0;
  bool one_by_one = false, repeats = false;
  if (!y->unique) DAMO_TRY(sparse_one_by_one(g, y, &one_by_one));
  if (one_by_one != seems && !(seems && partial)) DAMO_TRY(sparse_repeats(x, &repeats));
  if (repeats && one_by_one) return thunk_give_sparse(t, f, 0, cotangent_paired(part, x));
  return thunk_give_sparse(t, f, 0, repeats ? sparse_sum_duplicates(part) : damo_retain(part));
}

static damo_status sp_move_cotangent_init(damo_op *op) {
  if (OP_PROPS(op, sp_move_cotangent_props)->partial.kind == PROP_BOOL) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "MoveCotangent: partial is true or false");
}

static damo_var *build_move(build *b, damo_var *part, damo_var *g, damo_var *y, damo_var *x, bool partial);

/* The matching of entries is its own adjoint, with part and result exchanged. */
static damo_status sp_move_cotangent_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *part = node->in[0], *g = build_sparse_from(b, gout[0], var_format_of(part));
  gin[0] = build_move(b, g, g, node->out[0], part, OP_PROPS(node->op, sp_move_cotangent_props)->partial.u.i != 0);
  return b->status;
}

static damo_status sp_move_cotangent_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                           damo_var ***out_shape) {
  (void)node;
  for (int k = 0; k < 2; k++) out_shape[0][k] = in_shape[3][k];
  return b->status;
}

const op_def sp_move_cotangent_def = {
    .name = "MoveCotangent",
    .doc = "a matrix's cotangent, moved, for a matrix that has its entries in another order: duplicates one to one",
    .props = PROPS(PROP(sp_move_cotangent_props, partial)),
    .n_in = 4,
    .init = sp_move_cotangent_init,
    .view_map = alias_first,
    .infer_type = sp_move_cotangent_type,
    .lazy = true,
    .perform = sp_move_cotangent_perform,
    .grad = sp_move_cotangent_grad,
    .rop = rop_again,
    .infer_shape = sp_move_cotangent_shape,
    .connection_pattern = connect_first,
    .pattern = PATTERN_JOINS,
    .terms = TERMS_LINEAR,
    OP_CHECK(move_cotangent_check),
};

static damo_var *build_move(build *b, damo_var *part, damo_var *g, damo_var *y, damo_var *x, bool partial) {
  if (part == NULL || g == NULL || b->status != DAMO_OK) return part;
  if (!var_is_sparse(part) || !var_is_sparse(g) || cotangent_moves_plainly(g, x)) return part;
  const sp_move_cotangent_props p = {.partial = prop_bool(partial)};
  damo_var *in[4] = {part, g, cotangent_root(y), cotangent_root(x)};
  return build_op(b, op_new(b->ctx, &sp_move_cotangent_def, &p), in, 4);
}

damo_var *build_move_cotangent(build *b, damo_var *part, damo_var *g, damo_var *y, damo_var *x) {
  return build_move(b, part, g, y, x, false);
}

void cotangent_unmoved(damo_var **g, damo_var **y) {
  const damo_apply *node = (*g)->owner;
  if (node == NULL || node->op->def != &sp_move_cotangent_def || node->in[0] != node->in[1]) return;
  *g = node->in[1];
  *y = node->in[2];
}

damo_var *build_move_tangent(build *b, damo_var *part, const damo_apply *node, damo_var *const *eval) {
  for (int i = 0; i < node->n_in; i++) {
    if (eval[i] != NULL && var_is_sparse(node->in[i]))
      part = build_move(b, part, eval[i], node->in[i], node->out[0], true);
  }
  return part;
}

damo_var *build_move_outputs(build *b, damo_var *part, const damo_apply *node, damo_var *const *gout) {
  for (int o = 0; o < node->n_out; o++) part = build_move(b, part, gout[o], node->out[o], node->in[0], true);
  return part;
}

const op_def *const sparse_cotangent_classes[] = {&sp_add_cotangents_def, &sp_move_cotangent_def, NULL};
