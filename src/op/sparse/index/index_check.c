/* index_check: the checks of the classes that read parts of a matrix by positions, and of their gradients. */
#include "op/sparse/exam.h"

#include "op/sparse/sparse_check.h"

static damo_var *equal_list_taken(op_exam *e, int o) {
  (void)o;
  return exam_take(e, e->in[0], e->in[1], exam_is_axis_two(e));
}
const op_check getitem_list_check = {.dense_equal = equal_list_taken};

static damo_var *equal_list_put(op_exam *e, int o) {
  (void)o;
  return exam_put(e, exam_shape(e, 0), e->in[2], exam_is_axis_two(e) ? "s000l" : "l", &e->in[1], 1);
}
const op_check getitem_list_grad_check = {.dense_equal = equal_list_put};

static damo_var *equal_elements_taken(op_exam *e, int o) {
  (void)o;
  return exam_read(e, e->in[0], "ll", &e->in[1], 2);
}
const op_check getitem_two_lists_check = {.dense_equal = equal_elements_taken};

static damo_var *equal_elements_put(op_exam *e, int o) {
  (void)o;
  return exam_put(e, exam_shape(e, 0), e->in[3], "ll", &e->in[1], 2);
}
const op_check getitem_two_lists_grad_check = {.dense_equal = equal_elements_put};

static damo_var *equal_element_taken(op_exam *e, int o) {
  (void)o;
  return exam_read(e, e->in[0], "ii", &e->in[1], 2);
}
const op_check getitem_scalar_check = {.dense_equal = equal_element_taken};

static const char *block_spec(const op_exam *e) {
  const prop_value v = exam_prop(e, "spec");
  return v.kind == PROP_STR ? v.u.s : "s111s111";
}

static damo_var *equal_block_taken(op_exam *e, int o) {
  (void)o;
  return exam_read(e, e->in[0], block_spec(e), &e->in[1], e->node->n_in - 1);
}
const op_check getitem_block_check = {.dense_equal = equal_block_taken};

static damo_var *equal_block_put(op_exam *e, int o) {
  (void)o;
  return exam_put(e, exam_shape(e, 0), e->in[1], block_spec(e), &e->in[2], e->node->n_in - 2);
}
const op_check getitem_block_grad_check = {.dense_equal = equal_block_put};
