/* matrix_op.c: MpiMatrix, the node that gives a block of rows to PETSc: its values at each run, its pattern at the first.
 *
 * Out: the handle that the nodes on the matrix take, and the ticket. Where the values are those of the run before on
 * every rank, the handle stays the same, and so does what solvers have made of them. With the property constant, which is
 * the same on all ranks, runs after the first do not look at the inputs.
 */
#include "node.h"
#include "ops.h"

enum { OUT_HANDLE, OUT_TICKET, IN_TICKET = IN_HANDLE };

typedef struct matrix_state {
  matrix *m;
} matrix_state;

static void matrix_state_clear(void *state) {
  matrix_state *st = state;
  matrix_drop(st->m);
  st->m = NULL;
}

static damo_status matrix_types(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)in, (void)n_in;
  out[OUT_HANDLE] = damo_type_tensor(damo_obj_ctx(op), DAMO_INT64, 0, NULL);
  out[OUT_TICKET] = damo_retain(out[OUT_HANDLE]);
  return out[OUT_HANDLE] != NULL ? DAMO_OK : DAMO_EMEMORY;
}

/* A handle is no function of the values that has a derivative: the nodes that take it take the values too. */
static void matrix_connected(const damo_apply *node, bool *connected) {
  const int n = damo_apply_n_inputs(node) * damo_apply_n_outputs(node);
  for (int i = 0; i < n; i++) connected[i] = false;
}

static damo_status matrix_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)op, (void)node, (void)gout, (void)gin;
  return DAMO_OK;
}

static damo_status matrix_rop(const damo_op *op, damo_apply *node, damo_var *const *eval, damo_var **tangent) {
  (void)op, (void)node, (void)eval, (void)tangent;
  return DAMO_OK;
}

enum { SAME, NEW_VALUES, NEW_PATTERN };

static damo_status matrix_perform(damo_thunk *t) {
  damo_ctx *ctx = damo_thunk_ctx(t);
  library *lib = damo_op_user(damo_thunk_get_op(t));
  matrix_state *st = damo_thunk_state(t);
  block b = {0};
  bool constant = false;
  damo_status s = library_start(lib, ctx);
  if (s != DAMO_OK) return s;
  damo_op_get_bool(damo_thunk_get_op(t), "constant", &constant);
  damo_array *handle = damo_thunk_output(t, OUT_HANDLE, DAMO_INT64, 0, NULL);
  const run r = {.t = t};
  if (handle == NULL) s = DAMO_EMEMORY;
  if (s == DAMO_OK) s = run_pass_ticket(&r, IN_TICKET, OUT_TICKET);
  if (s == DAMO_OK && constant && st->m != NULL) {
    *(int64_t *)damo_array_data(handle) = matrix_handle(st->m);
    return DAMO_OK;
  }
  if (s == DAMO_OK) {
    s = block_read(ctx, damo_thunk_input(t, IN_DATA), damo_thunk_input(t, IN_INDICES), damo_thunk_input(t, IN_INDPTR),
                   damo_thunk_input(t, IN_LAYOUT), &b);
  }
  int64_t change = NEW_PATTERN;
  if (s == DAMO_OK && st->m != NULL && matrix_has_pattern(st->m, &b)) {
    change = matrix_has_values(st->m, b.data) ? SAME : NEW_VALUES;
  }
  library_doing(lib, "gives a matrix to PETSc");
  s = library_agree_max(lib, ctx, s, &change);
  if (s != DAMO_OK) return s;
  if (change == NEW_PATTERN) {
    matrix_drop(st->m);
    st->m = NULL;
    s = matrix_new(lib, ctx, DAMO_OK, &b, &st->m);
  } else if (change == NEW_VALUES) {
    s = matrix_set_values(st->m, ctx, b.data, ++st->m->last_version);
  }
  if (s == DAMO_OK) *(int64_t *)damo_array_data(handle) = matrix_handle(st->m);
  return s;
}

const damo_op_class matrix_class = {.name = "MpiMatrix",
                                    .doc = "gives a block of rows to PETSc; the handle of the distributed matrix",
                                    .props = "seq constant",
                                    .n_in = IN_TICKET + 1,
                                    .n_out = 2,
                                    .infer_type = matrix_types,
                                    .perform = matrix_perform,
                                    .state_size = sizeof(matrix_state),
                                    .state_clear = matrix_state_clear,
                                    .grad = matrix_grad,
                                    .rop = matrix_rop,
                                    .connection_pattern = matrix_connected,
                                    .impure = true};
