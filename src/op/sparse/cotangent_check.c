/* cotangent_check: the checks of the classes that add and move cotangents. They are checked where the matrix has no
 * duplicates: there cotangents are ordinary matrices. */
#include "op/sparse/exam.h"

#include "op/elem/build_arith.h"
#include "sparse_check.h"

static damo_var *equal_cotangents_added(op_exam *e, int o) {
  (void)o;
  return exam_has_duplicates(e->values[0]) ? NULL : build_add(e->b, e->in[1], e->in[2]);
}
const op_check add_cotangents_check = {.dense_equal = equal_cotangents_added};

static damo_var *equal_cotangent_moved(op_exam *e, int o) {
  (void)o;
  return exam_has_duplicates(e->values[3]) ? NULL : e->in[0];
}
const op_check move_cotangent_check = {.dense_equal = equal_cotangent_moved};
