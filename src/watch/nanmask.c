/* nanmask.c: tracks non-finite entries that may still be discarded by a switch, so that NANGUARD and DEBUG do not
 * report an entry of the branch that is not taken.
 *
 * A result with such entries is tolerated while it is only read by nodes that propagate a mask, which records the
 * positions of its entries: elementwise nodes and Alloc (broadcast), DimShuffle, Reshape, reductions (a group with such
 * an entry), Ops that move, sum or multiply entries (the entries of the result that are not finite either, or all of it
 * if the mask has finite ones), and softmax (all of it). A switch propagates only the entries that its condition
 * selects, and those where the condition itself is in the mask; an ifelse those of the branch taken; isnan and isinf
 * none. The false of an `and` and the true of an `or` need no other operand: gradients of nested branches put their
 * conditions together so. An entry that remains where any other node reads the result, or at an output of the graph, is
 * an error, attributed to the node where the entry arose.
 */
#include "op/elem/scalar.h"
#include "watch_int.h"
#include "op/op.h"

#include <stdio.h>
#include <string.h>

struct nanguard_mask {
  nanguard_mask *next;
  const damo_var *of; /* a Variable of the Function's graph */
  damo_array *at;     /* bool, of the value's shape: true at such entries */
  bool finite;        /* some of these entries are finite, as exp(-inf) is */
  damo_apply *origin; /* the node where the first entry arose; text describes it */
  char text[400];
};

void nanguard_clear_masks(damo_function *f) {
  while (f->watch_state != NULL) {
    nanguard_mask *m = f->watch_state;
    f->watch_state = m->next;
    damo_release(m->at);
    mem_free(f->obj.ctx, m, sizeof *m);
  }
}

static nanguard_mask *nan_mask_of(const damo_function *f, const damo_var *v) {
  nanguard_mask *m = f->watch_state;
  while (m != NULL && m->of != v) m = m->next;
  return m;
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

static bool is_switch(const damo_apply *node) { return elemwise_scalar_id(node->op) == SCALAR_switch; }

static bool is_dimshuffle(const damo_apply *node) { return node->op->def == &dimshuffle_def; }

/* Whether every entry of the results is not finite that depends on an operand's entry that is not. */
static bool keeps_nonfinite(const damo_apply *node) {
  const op_def *def = node->op->def;
  if (def == &dot_def || def == &matmul_def || def == &tensordot_def) return true;
  if (def == &gemm_def || def == &gemv_def || def == &ger_def) return true;
  return def->masks == MASKS_MOVED || (def->masks == MASKS_SUMMED && node->op->terms == TERMS_LINEAR);
}

/* Whether the node propagates masks of float operands, and has no errors that depend on their values. */
static bool propagates(const damo_apply *node) {
  const op_def *def = node->op->def;
  return keeps_nonfinite(node) || def->masks == MASKS_SUMMED || (def->masks == MASKS_OWN && def != &ifelse_def) ||
         def == &softmax_grad_def || def == &log_softmax_grad_def;
}

static bool reads_shape_alone(const damo_apply *node) {
  return node->op->def == &shape_def || node->op->def == &shape_i_def;
}

/* Whether v is only read by nodes that propagate a mask. */
static bool may_wait(const damo_function *f, const damo_var *v) {
  const fg_clients *c = fgraph_clients(f->program->fgraph, v);
  if (c == NULL || !type_is_tensor(v->type)) return false;
  for (int32_t i = 0; i < c->n; i++) {
    const damo_apply *node = c->at[i].node;
    if (node == NULL) return false;
    if (node->op->def == &elemwise_def || reads_shape_alone(node)) continue;
    if (node->op->def == &ifelse_def && node->n_out == 1 && c->at[i].index > 0) continue;
    if (dtype_is_discrete(var_dtype(v)) || !propagates(node)) return false;
  }
  return true;
}

/* The entry of an operand that is broadcast to that index, of rank ndim. */
static scalar entry_at(const damo_array *a, int ndim, const int64_t *index) {
  int64_t own[DAMO_MAX_NDIM];
  for (int d = 0; d < a->ndim; d++) own[d] = array_shape(a)[d] == 1 ? 0 : index[d + ndim - a->ndim];
  return array_get(a, own);
}

/* The entry of a DimShuffle's operand that is moved to that index of its result. */
static scalar moved_entry_at(const damo_array *a, const damo_apply *node, const int64_t *index) {
  const prop_value *order = &OP_PROPS(node->op, dimshuffle_props)->new_order;
  int64_t own[DAMO_MAX_NDIM] = {0};
  for (int d = 0; d < order->n; d++) {
    if (order->u.list[d].kind == PROP_INT) own[order->u.list[d].u.i - 1] = index[d];
  }
  return array_get(a, own);
}

static bool is_true(scalar s) { return scalar_cast(s, DAMO_BOOL).v.i != 0; }

/* The mask of one result while it is computed. */
typedef struct mask_finding {
  damo_array *at;
  const nanguard_mask *inherited; /* the first operand's mask that contributes an entry */
  bool finite;                    /* some of them are finite */
  bool fresh;                     /* some entries arose in this node; text describes the first */
  char text[400];
} mask_finding;

/* The mask that operand i has at this entry of the result, or NULL. */
static const nanguard_mask *operand_mask(const damo_function *f, const damo_apply *node, int i, int ndim,
                                         const int64_t *index) {
  const nanguard_mask *m = nan_mask_of(f, node->in[i]);
  return m != NULL && is_true(entry_at(m->at, ndim, index)) ? m : NULL;
}

/* isnan, isinf and their likes: they ask for what the mask records. */
static bool is_test(const damo_apply *node) {
  const scalar_id id = elemwise_scalar_id(node->op);
  return id == SCALAR_isnan || id == SCALAR_isinf || id == SCALAR_isfinite || id == SCALAR_isposinf ||
         id == SCALAR_isneginf;
}

/* Whether an operand that is not in a mask decides the entry of an `and` or an `or` of bool. */
static bool is_decided(const damo_function *f, const thunk *t, int ndim, const int64_t *index) {
  const damo_apply *node = t->node;
  const scalar_id id = elemwise_scalar_id(node->op);
  if ((id != SCALAR_and_ && id != SCALAR_or_) || var_dtype(node->out[0]) != DAMO_BOOL) return false;
  for (int i = 0; i < 2; i++) {
    if (operand_mask(f, node, i, ndim, index) != NULL) continue;
    if (is_true(entry_at(thunk_in(t, &f->frame.frame, i), ndim, index)) == (id == SCALAR_or_)) return true;
  }
  return false;
}

/* Sets the entries of `at`, of the shape of a reduction's result, whose groups have an entry in the operand's mask. */
static void mark_groups(const damo_apply *node, const nanguard_mask *m, damo_array *at) {
  const reduce_props *p = OP_PROPS(node->op, reduce_props);
  const bool keepdims = prop_bool_or(p->keepdims, false);
  bool reduced[DAMO_MAX_NDIM] = {false};
  array_places e;
  for (int k = 0; k < m->at->ndim && p->axis.kind == PROP_NIL; k++) reduced[k] = true;
  for (int i = 0; p->axis.kind == PROP_LIST && i < p->axis.n; i++) reduced[p->axis.u.list[i].u.i - 1] = true;
  for (char *place = places_begin(&e, m->at); place; place = places_next(&e, place)) {
    if (*place == 0) continue;
    int64_t row = 0;
    for (int k = 0, d = 0; k < m->at->ndim; k++) {
      if (reduced[k] && !keepdims) continue;
      row = row * array_shape(at)[d++] + (reduced[k] ? 0 : e.walk.at[k]);
    }
    ((uint8_t *)at->data)[row] = 1;
  }
}

/* Whether the entry at this index of the result, the row-th in C order, is computed from an entry in an operand's mask
 * *from. */
static bool is_inherited(const damo_function *f, const thunk *t, const damo_array *at, const int64_t *index,
                         int64_t row, bool is_finite, const nanguard_mask **from) {
  const damo_apply *node = t->node;
  const op_def *def = node->op->def;
  const int ndim = at->ndim;
  if (def == &ifelse_def) {
    *from = node->n_out == 1
                ? operand_mask(f, node, is_true(array_item(thunk_in(t, &f->frame.frame, 0))) ? 1 : 2, ndim, index)
                : NULL;
    return *from != NULL;
  }
  if (def != &elemwise_def) {
    if (reads_shape_alone(node) || !propagates(node)) return false;
    bool finite = false;
    for (int i = node->n_in - 1; i >= 0; i--) {
      const nanguard_mask *m = nan_mask_of(f, node->in[i]);
      if (m != NULL) *from = m;
      finite = finite || (m != NULL && m->finite);
    }
    if (*from == NULL) return false;
    if (is_dimshuffle(node)) return is_true(moved_entry_at((*from)->at, node, index));
    if (def == &reshape_def) return ((uint8_t *)(*from)->at->data)[row] != 0;
    if (def == &alloc_def) return is_true(entry_at((*from)->at, ndim, index));
    if (def == &reduce_def) return ((uint8_t *)at->data)[row] != 0;
    return finite || !is_finite || !keeps_nonfinite(node);
  }
  int first = 0, last = node->n_in - 1;
  if (is_test(node) || is_decided(f, t, ndim, index)) return false;
  if (is_switch(node)) {
    *from = operand_mask(f, node, 0, ndim, index);
    if (*from != NULL) return true;
    first = last = is_true(entry_at(thunk_in(t, &f->frame.frame, 0), ndim, index)) ? 1 : 2;
  }
  for (int i = first; i <= last; i++) {
    *from = operand_mask(f, node, i, ndim, index);
    if (*from != NULL) return true;
  }
  return false;
}

static bool reads_mask(const damo_function *f, const damo_apply *node) {
  for (int i = 0; i < node->n_in && f->watch_state != NULL; i++) {
    if (nan_mask_of(f, node->in[i]) != NULL) return true;
  }
  return false;
}

static damo_status mask_find(const damo_function *f, const thunk *t, const damo_array *a, mask_finding *found) {
  array_places e;
  const bool reads = reads_mask(f, t->node);
  found->at = array_empty(f->obj.ctx, DAMO_BOOL, a->ndim, array_shape(a));
  if (found->at == NULL) return DAMO_EMEMORY;
  memset(found->at->data, 0, (size_t)array_size(found->at));
  const nanguard_mask *of = t->node->op->def == &reduce_def ? nan_mask_of(f, t->node->in[0]) : NULL;
  if (of != NULL) mark_groups(t->node, of, found->at);
  for (char *p = places_begin(&e, a); p; p = places_next(&e, p)) {
    const int64_t *index = e.walk.at;
    const nanguard_mask *from = NULL;
    const bool is_finite = !nanguard_is_fault(scalar_load(array_dtype(a), p), NONFINITE_NEVER);
    const bool inherited = reads && is_inherited(f, t, found->at, index, e.walk.row, is_finite, &from);
    const bool faulty = !inherited && nanguard_is_fault(scalar_load(array_dtype(a), p), t->node->op->def->nonfinite);
    ((uint8_t *)found->at->data)[e.walk.row] = inherited || faulty;
    if (inherited && found->inherited == NULL) found->inherited = from;
    found->finite = found->finite || (inherited && is_finite);
    if (faulty && !found->fresh) nanguard_entry_text(found->text, sizeof found->text, a, index);
    found->fresh = found->fresh || faulty;
  }
  return DAMO_OK;
}

/* ---- Masks of results -------------------------------------------------------------------------------------------- */

static damo_status mask_keep(damo_function *f, const damo_var *v, damo_apply *node, const mask_finding *found) {
  nanguard_mask *m = mem_calloc(f->obj.ctx, sizeof *m);
  if (m == NULL) return DAMO_EMEMORY;
  const nanguard_mask *old = found->inherited;
  *m = (nanguard_mask){.next = f->watch_state, .of = v, .at = damo_retain(found->at)};
  m->finite = found->finite;
  m->origin = old != NULL ? old->origin : node;
  snprintf(m->text, sizeof m->text, "%s", old != NULL ? old->text : found->text);
  f->watch_state = m;
  return DAMO_OK;
}

static damo_status mask_blame(damo_ctx *ctx, const char *func, damo_apply *node, const char *text) {
  const damo_status s = ctx_fail(ctx, DAMO_ENUMERIC, "%s: %s", func, text);
  ctx_fail_at(ctx, node->op->def->name, node);
  return s;
}

/* Adds to text what a message says, without the mode at its start, on the same line. */
static void add_inside(char *text, size_t n, const char *message, const char *func) {
  const size_t mode = strlen(func) + 2, from = strlen(text);
  const char *what = strncmp(message, func, mode - 2) == 0 && strlen(message) > mode ? message + mode : message;
  snprintf(text + from, n - from, ": %s", what);
  for (char *p = text + from; *p != '\0'; p++) *p = *p == '\n' ? ' ' : *p;
}

damo_status nanguard_check_masks(damo_function *f, const thunk *t, int o, bool faulty, const char *func) {
  const damo_array *a = value_array(thunk_result(t, &f->frame.frame, o));
  const damo_var *v = t->node->out[o];
  mask_finding found = {.at = NULL};
  char holds[200], name[160];
  if ((!faulty && !reads_mask(f, t->node)) || array_size(a) == 0) return DAMO_OK;
  damo_status s = mask_find(f, t, a, &found);
  bool inside = false;
  if (s == DAMO_OK && found.fresh) {
    snprintf(holds, sizeof holds, "%.199s", found.text);
    snprintf(found.text, sizeof found.text, "the result %s holds %s", var_format(name, sizeof name, v), holds);
    s = nanguard_look_inside(t, &f->frame.frame, &inside);
  }
  const bool any = found.fresh || found.inherited != NULL, waits = any && may_wait(f, v);
  if (inside && (waits || found.inherited != NULL)) {
    add_inside(found.text, sizeof found.text, damo_error_message(f->obj.ctx), func);
    ctx_clear_error(f->obj.ctx);
  }
  if (s == DAMO_OK && waits)
    s = mask_keep(f, v, t->node, &found);
  else if (s == DAMO_OK && found.inherited != NULL)
    s = mask_blame(f->obj.ctx, func, found.inherited->origin, found.inherited->text);
  else if (s == DAMO_OK && found.fresh)
    s = inside ? DAMO_ENUMERIC : mask_blame(f->obj.ctx, func, t->node, found.text);
  damo_release(found.at);
  return s;
}
