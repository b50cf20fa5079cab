/* nanmask.c: tracks non-finite entries that may still be discarded by a switch, so that NANGUARD and DEBUG do not
 * report an entry of the branch that is not taken.
 *
 * A result with such entries is tolerated while it is only read by elementwise nodes (not as a switch's condition) and
 * by DimShuffle. A mask records the positions of its entries. These nodes propagate the mask, broadcast or with its
 * axes moved; a switch propagates only the entries that its condition selects. An entry that remains where any other
 * node reads the result, or at an output of the graph, is an error, attributed to the node where the entry arose.
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

/* Whether v is only read by nodes that propagate a mask, and not as a condition. */
static bool may_wait(const damo_function *f, const damo_var *v) {
  const fg_clients *c = fgraph_clients(f->program->fgraph, v);
  if (c == NULL || !type_is_tensor(v->type)) return false;
  for (int32_t i = 0; i < c->n; i++) {
    const damo_apply *node = c->at[i].node;
    if (node == NULL || (is_switch(node) && c->at[i].index == 0)) return false;
    if (node->op->def != &elemwise_def && !is_dimshuffle(node)) return false;
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
  bool fresh;                     /* some entries arose in this node; text describes the first */
  char text[400];
} mask_finding;

/* Whether the entry at this index of the result is computed from an entry in an operand's mask *from. */
static bool is_inherited(const damo_function *f, const thunk *t, int ndim, const int64_t *index,
                         const nanguard_mask **from) {
  const damo_apply *node = t->node;
  if (is_dimshuffle(node)) {
    *from = nan_mask_of(f, node->in[0]);
    return *from != NULL && is_true(moved_entry_at((*from)->at, node, index));
  }
  if (node->op->def != &elemwise_def) return false;
  int first = 0, last = node->n_in - 1;
  if (is_switch(node)) first = last = is_true(entry_at(thunk_in(t, &f->frame.frame, 0), ndim, index)) ? 1 : 2;
  for (int i = first; i <= last; i++) {
    const nanguard_mask *m = nan_mask_of(f, node->in[i]);
    if (m == NULL || !is_true(entry_at(m->at, ndim, index))) continue;
    *from = m;
    return true;
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
  for (char *p = places_begin(&e, a); p; p = places_next(&e, p)) {
    const int64_t *index = e.walk.at;
    const nanguard_mask *from = NULL;
    const bool inherited = reads && is_inherited(f, t, a->ndim, index, &from);
    const bool odd = !inherited && nanguard_is_odd(scalar_load(array_dtype(a), p), t->node->op->def->nonfinite);
    ((uint8_t *)found->at->data)[e.walk.row] = inherited || odd;
    if (inherited && found->inherited == NULL) found->inherited = from;
    if (odd && !found->fresh) nanguard_entry_text(found->text, sizeof found->text, a, index);
    found->fresh = found->fresh || odd;
  }
  return DAMO_OK;
}

/* ---- Masks of results -------------------------------------------------------------------------------------------- */

static damo_status mask_keep(damo_function *f, const damo_var *v, damo_apply *node, const mask_finding *found) {
  nanguard_mask *m = mem_calloc(f->obj.ctx, sizeof *m);
  if (m == NULL) return DAMO_EMEMORY;
  const nanguard_mask *old = found->inherited;
  *m = (nanguard_mask){.next = f->watch_state, .of = v, .at = damo_retain(found->at)};
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

damo_status nanguard_check_masks(damo_function *f, const thunk *t, int o, bool odd, const char *func) {
  const damo_array *a = value_array(thunk_result(t, &f->frame.frame, o));
  const damo_var *v = t->node->out[o];
  mask_finding found = {.at = NULL};
  char holds[200], name[160];
  if ((!odd && !reads_mask(f, t->node)) || array_size(a) == 0) return DAMO_OK;
  damo_status s = mask_find(f, t, a, &found);
  if (s == DAMO_OK && found.fresh) {
    snprintf(holds, sizeof holds, "%.199s", found.text);
    snprintf(found.text, sizeof found.text, "the result %s holds %s", var_format(name, sizeof name, v), holds);
  }
  const bool any = found.fresh || found.inherited != NULL;
  if (s == DAMO_OK && any && may_wait(f, v))
    s = mask_keep(f, v, t->node, &found);
  else if (s == DAMO_OK && found.inherited != NULL)
    s = mask_blame(f->obj.ctx, func, found.inherited->origin, found.inherited->text);
  else if (s == DAMO_OK && found.fresh)
    s = mask_blame(f->obj.ctx, func, t->node, found.text);
  damo_release(found.at);
  return s;
}
