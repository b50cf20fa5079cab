/* recipe.c: lists of values that Ops are made of. */
#include "recipe.h"

#include <string.h>

void parts_clear(op_parts *p) {
  if (p->at != NULL) mem_free(p->ctx, p->at, (size_t)p->cap * sizeof *p->at);
  parts_init(p, p->ctx);
}

damo_status parts_add(op_parts *p, prop_value v) {
  if (p->n == p->cap) {
    const int32_t cap = 2 * p->cap + 16;
    prop_value *at = mem_realloc(p->ctx, p->at, (size_t)p->cap * sizeof *at, (size_t)cap * sizeof *at);
    if (at == NULL) return DAMO_EMEMORY;
    p->at = at;
    p->cap = cap;
  }
  p->at[p->n++] = v;
  return DAMO_OK;
}

damo_status parts_add_text(op_parts *p, const char *text) {
  return parts_add(p, text != NULL ? prop_str(text) : prop_nil());
}

/* The next value if it is of that kind; NULL if it is nil, or bad. */
static const prop_value *next_part(op_parts *p, prop_kind kind, bool may_be_nil) {
  const prop_value *v = p->next < p->n ? &p->at[p->next++] : NULL;
  if (v != NULL && v->kind == kind) return v;
  if (v == NULL || v->kind != PROP_NIL || !may_be_nil) p->bad = true;
  return NULL;
}

int64_t parts_int(op_parts *p, int64_t least, int64_t most) {
  const prop_value *v = next_part(p, PROP_INT, false);
  if (v != NULL && v->u.i >= least && v->u.i <= most) return v->u.i;
  p->bad = true;
  return least;
}

const char *parts_text(op_parts *p) {
  const prop_value *v = next_part(p, PROP_STR, true);
  return v != NULL ? v->u.s : NULL;
}

damo_op *parts_op(op_parts *p) {
  const prop_value *v = next_part(p, PROP_OP, true);
  return v != NULL ? v->u.op : NULL;
}

damo_type *parts_type(op_parts *p) {
  const prop_value *v = next_part(p, PROP_TYPE, true);
  return v != NULL ? v->u.type : NULL;
}

damo_var *parts_var(op_parts *p) {
  const prop_value *v = next_part(p, PROP_VAR, false);
  return v != NULL ? v->u.var : NULL;
}
