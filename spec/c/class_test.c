/* class_test: every Op class of damo has a unique name and the fields that a class must have. */
#include <string.h>

#include "op/op.h"
#include "test.h"

static bool is_listed_before(const op_def *def, int n) {
  for (int i = 0; i < n; i++) {
    if (op_class_at(i) == def) return true;
  }
  return false;
}

static bool is_named_before(const op_def *def, int n) {
  for (int i = 0; i < n; i++) {
    if (strcmp(op_class_at(i)->name, def->name) == 0) return true;
  }
  return false;
}

static void test_classes(void) {
  int n = 0;
  for (const op_def *def; (def = op_class_at(n)) != NULL; n++) {
    if (CHECK(def->name != NULL && !is_named_before(def, n) && !is_listed_before(def, n)) &&
        CHECK(!def->foreign && def->user == NULL) && CHECK(def->doc != NULL) && CHECK(op_can_run(def)) &&
        CHECK(def->infer_type != NULL || def->make_node != NULL) &&
        CHECK(def->n_out != OP_VARIADIC || def->count_out != NULL)) {
      continue;
    }
    fprintf(stderr, "    %s\n", def->name != NULL ? def->name : "a class without a name");
  }
  CHECK(n > 130 && op_class_at(n + 1) == NULL);
}

int main(void) {
  test_classes();
  TEST_MAIN_END;
}
