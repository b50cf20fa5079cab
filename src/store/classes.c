/* classes.c: the Op classes that files know by name: those of the families, of scans, and of graphs that Ops hold. */
#include "compile/inner.h"
#include "op/op.h"
#include "scan/scan.h"
#include "store_int.h"

static const op_def *const *const lists[] = {scan_classes, inner_classes, NULL};

const op_def *store_class_at(int i) {
  const op_def *def = op_class_at(i);
  if (def != NULL) return def;
  for (int n = 0; op_class_at(n) != NULL; n++) i--;
  for (const op_def *const *const *l = lists; *l != NULL; l++) {
    for (const op_def *const *at = *l; *at != NULL; at++) {
      if (i-- == 0) return *at;
    }
  }
  return NULL;
}
