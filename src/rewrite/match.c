/* match.c: the questions that rewrite rules ask of Variables. */
#include "rewrite_int.h"

#include <string.h>

damo_apply *match_elemwise(const damo_var *v, const char *name) {
  if (v->owner == NULL || v->owner->op->def != &elemwise_def) return NULL;
  const char *own = elemwise_scalar(v->owner->op);
  return own != NULL && strcmp(own, name) == 0 ? v->owner : NULL;
}

damo_apply *match_op(const damo_var *v, const char *class_name) {
  return v->owner != NULL && strcmp(v->owner->op->def->name, class_name) == 0 ? v->owner : NULL;
}

/* Looks through nodes that only repeat or reorder entries. */
static const damo_var *same_entries(const damo_var *v) {
  for (int steps = 0; steps < 8 && v->owner != NULL; steps++) {
    const char *name = v->owner->op->def->name;
    if (strcmp(name, "DimShuffle") == 0 || strcmp(name, "Alloc") == 0) {
      v = v->owner->in[0];
    } else if (match_elemwise(v, "second") != NULL) {
      v = v->owner->in[1];
    } else {
      break;
    }
  }
  return v;
}

bool match_constant(const damo_var *v, double value) {
  const damo_array *a = var_constant_array(same_entries(v));
  if (a == NULL || dtype_is_complex(array_dtype(a))) return false;
  int64_t n = array_size(a);
  if (n == 0 || n > 64) return false;
  int64_t index[DAMO_MAX_NDIM] = {0};
  for (int64_t k = 0; k < n; k++) {
    if (scalar_to_double(array_get(a, index)) != value) return false;
    for (int d = a->ndim - 1; d >= 0 && ++index[d] == array_shape(a)[d]; d--) index[d] = 0;
  }
  return true;
}

/* Elementwise output v has the shape of its input i: same rank, and no dimension that Types let another input stretch.
 * (A dimension of unknown length does not broadcast, so it is the output's.) */
static bool input_has_shape(const damo_apply *node, int i) {
  const damo_type *in = node->in[i]->type, *out = node->out[0]->type;
  if (!type_is_tensor(in) || in->ndim != out->ndim) return false;
  for (int d = 0; d < in->ndim; d++) {
    if (type_dim_is_one(in, d) && !type_dim_is_one(out, d)) return false;
  }
  return true;
}

/* Steps from v to inputs of its shape; a bounded look, wide first. */
static bool reaches_shape(const damo_var *v, const damo_var *target) {
  const damo_var *queue[16] = {v};
  int n = 1;
  for (int k = 0; k < n; k++) {
    if (queue[k] == target) return true;
    const damo_apply *node = queue[k]->owner;
    if (node == NULL || node->op->def != &elemwise_def) continue;
    for (int i = 0; i < node->n_in && n < 16; i++) {
      if (input_has_shape(node, i)) queue[n++] = node->in[i];
    }
  }
  return false;
}

static bool same_static_shape(const damo_type *a, const damo_type *b) {
  if (!type_is_tensor(a) || !type_is_tensor(b) || a->ndim != b->ndim) return false;
  for (int d = 0; d < a->ndim; d++) {
    if (a->shape[d] < 0 || a->shape[d] != b->shape[d]) return false;
  }
  return true;
}

bool match_same_shape(const damo_var *u, const damo_var *v) {
  return u == v || same_static_shape(u->type, v->type) || reaches_shape(u, v) || reaches_shape(v, u);
}
