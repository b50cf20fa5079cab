/* operands: what the operands of a failing node are, for its error: "float64 (2, 3), csr float64 (3, 4), RandomType". */
#include <stdio.h>
#include <string.h>

#include "graph.h"
#include "graph_int.h"
#include "sparse/sparse.h"
#include "thunk.h"

#define OPERANDS_MOST 8

typedef struct operand_text {
  char text[ERROR_OPERANDS_MAX];
  int n; /* operands written */
} operand_text;

/* Appends one operand; a text that does not fit ends with "…". */
static void operand_add(operand_text *o, const char *one) {
  size_t at = strlen(o->text);
  const size_t room = sizeof o->text - sizeof ", …" - at;
  const bool fits = o->n < OPERANDS_MOST && strlen(one) + 2 <= room;
  if (o->n > OPERANDS_MOST) return;
  o->n = fits ? o->n + 1 : OPERANDS_MOST + 1;
  snprintf(o->text + at, sizeof o->text - at, "%s%s", at > 0 ? ", " : "", fits ? one : "…");
}

static void operand_add_shaped(operand_text *o, const char *format, damo_dtype dtype, int ndim, const int64_t *shape) {
  char dims[160], one[200];
  snprintf(one, sizeof one, "%s%s%s %s", format, format[0] ? " " : "", dtype_name(dtype),
           shape_format(dims, sizeof dims, ndim, shape));
  operand_add(o, one);
}

static void operand_add_type(operand_text *o, const damo_type *t) {
  char one[200];
  if (t->kind == TYPE_TENSOR)
    operand_add_shaped(o, "", t->dtype, t->ndim, t->shape);
  else if (t->kind == TYPE_SPARSE)
    operand_add_shaped(o, sparse_format_name((damo_format)t->format), t->dtype, t->ndim, t->shape);
  else
    operand_add(o, type_format(one, sizeof one, t));
}

/* A generator's state is an Array, too: its Type says what it is. */
static void operand_add_value(operand_text *o, const damo_obj *value, const damo_type *t) {
  if (value != NULL && value->kind == OBJ_ARRAY && t->kind == TYPE_TENSOR) {
    const damo_array *a = (const damo_array *)value;
    operand_add_shaped(o, "", array_dtype(a), a->ndim, array_shape(a));
  } else if (value != NULL && value->kind == OBJ_SPARSE) {
    const damo_sparse *m = (const damo_sparse *)value;
    operand_add_shaped(o, sparse_format_name(sparse_format(m)), sparse_dtype(m), 2, m->shape);
  } else {
    operand_add_type(o, t);
  }
}

void graph_fail_operands(damo_ctx *ctx, damo_var *const *in, int n) {
  operand_text o = {.n = 0};
  for (int i = 0; i < n; i++) {
    if (in[i] != NULL) operand_add_value(&o, in[i]->value, in[i]->type);
  }
  ctx_fail_operands(ctx, o.text);
}

void operands_format(char dst[ERROR_OPERANDS_MAX], damo_obj *const *objects, int n) {
  static const damo_type tensor = {.kind = TYPE_TENSOR};
  operand_text o = {.n = 0};
  for (int i = 0; i < n; i++) {
    const damo_var *v = objects[i]->kind == OBJ_VAR ? (const damo_var *)objects[i] : NULL;
    operand_add_value(&o, v ? v->value : objects[i], v ? v->type : &tensor);
  }
  memcpy(dst, o.text, sizeof o.text);
}

void thunk_fail_operands(const thunk *t, const frame *f) {
  operand_text o = {.n = 0};
  for (int i = 0; i < t->n_in; i++) operand_add_value(&o, thunk_value(t, f, i), t->node->in[i]->type);
  ctx_fail_operands(f->ctx, o.text);
}
