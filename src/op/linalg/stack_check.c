/* stack_check: the walk over the entries of a stack, with plain indices. */
#include "stack_check.h"

static int stack_lead(const op_exam *e) {
  const core_shape *s = e->node->op->data;
  return stack_result(e, 0)->ndim - s->out[0].rank;
}

bool stack_exam_begin(stack_exam *s, const op_exam *e) {
  *s = (stack_exam){.e = e, .row = -1, .rows = 1};
  for (int i = 0; i < e->node->n_in; i++) {
    if (!exam_is_small(e->values[i])) return false;
  }
  for (int d = 0; d < stack_lead(e); d++) s->rows *= array_shape(stack_result(e, 0))[d];
  return true;
}

bool stack_exam_next(stack_exam *s) {
  const core_shape *shape = s->e->node->op->data;
  const int64_t *lengths = array_shape(stack_result(s->e, 0));
  const int lead = stack_lead(s->e);
  int64_t index[DAMO_MAX_NDIM], rest = ++s->row;
  if (s->row >= s->rows) return false;
  for (int d = lead - 1; d >= 0; d--) index[d] = rest % lengths[d], rest /= lengths[d];
  for (int k = 0; k < shape->n_in + shape->n_out; k++) {
    const bool is_in = k < shape->n_in;
    const damo_array *a = is_in ? stack_operand(s->e, k) : stack_result(s->e, k - shape->n_in);
    const int own = a->ndim - (is_in ? shape->in[k].rank : shape->out[k - shape->n_in].rank);
    const char *p = a->data;
    for (int d = 0; d < own; d++) p += array_shape(a)[d] == 1 ? 0 : index[d + lead - own] * array_strides(a)[d];
    *(is_in ? &s->in[k] : &s->out[k - shape->n_in]) = p;
  }
  return true;
}
