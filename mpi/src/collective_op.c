/* collective_op.c: the classes' callbacks. */
#include "collective_op.h"

#include <stdlib.h>
#include <string.h>

#include "derivative.h"

static const char *const class_names[] = {
    "MpiAllreduce", NULL,           "MpiReduce",   NULL,         "MpiBcast",     NULL,
    "MpiScatter",   "MpiScatterT",  "MpiGather",   "MpiGatherT", "MpiAllgather", "MpiAllgatherT",
    "MpiAlltoall",  "MpiAlltoallT", "MpiSendrecv", NULL,         "MpiHalo",      "MpiHaloT"};

static const char *const class_docs[] = {
    "a reduction over the ranks, on every rank",
    NULL,
    "a reduction over the ranks, on the root; zeros elsewhere",
    NULL,
    "the root's array, on every rank",
    NULL,
    "a block of the root's array for each rank",
    "the gradient of MpiScatter",
    "the ranks' arrays joined, on the root",
    "the gradient of MpiGather",
    "the ranks' arrays joined, on every rank",
    "the gradient of MpiAllgather: sums of blocks over the ranks",
    "blocks from every rank to every rank",
    "the gradient of MpiAlltoall",
    "an array from one rank, sent to another",
    NULL,
    "an array between layers of the neighbours' arrays",
    "the gradient of MpiHalo",
};

/* What a class's callbacks get as its user pointer. */
typedef struct collective_class {
  world *w;
  collective_kind kind;
  bool adjoint;
} collective_class;

bool collective_has_like(const form *f) { return f->adjoint || f->kind == SENDRECV; }

static form form_of(const damo_op *op) {
  const collective_class *k = damo_op_user(op);
  form f = {.kind = k->kind, .adjoint = k->adjoint};
  int64_t equal = 0;
  damo_op_get_int(op, "group", &f.group);
  damo_op_get_int(op, "seq", &f.seq);
  damo_op_get_int(op, "op", &f.op);
  damo_op_get_int(op, "root", &f.root);
  damo_op_get_int(op, "axis", &f.axis);
  damo_op_get_int(op, "axis2", &f.axis2);
  damo_op_get_int(op, "to", &f.to);
  damo_op_get_int(op, "from", &f.from);
  damo_op_get_int(op, "lo", &f.lo);
  damo_op_get_int(op, "hi", &f.hi);
  damo_op_get_int(op, "equal", &equal);
  f.equal = equal != 0;
  return f;
}

damo_var *collective_ticket(damo_ctx *ctx) {
  damo_array *zero = damo_array_scalar(ctx, DAMO_INT64, 0);
  damo_var *ticket = zero != NULL ? damo_constant(ctx, zero) : NULL;
  damo_release(zero);
  return ticket;
}

damo_apply *collective_apply(world *w, damo_ctx *ctx, const form *f, damo_var *x, damo_var *like) {
  const damo_prop props[] = {
      damo_prop_int("group", f->group), damo_prop_int("seq", w->n_collectives++), damo_prop_int("op", f->op),
      damo_prop_int("root", f->root),   damo_prop_int("axis", f->axis),           damo_prop_int("axis2", f->axis2),
      damo_prop_int("to", f->to),       damo_prop_int("from", f->from),           damo_prop_int("lo", f->lo),
      damo_prop_int("hi", f->hi),       damo_prop_int("equal", f->equal)};
  damo_op *op = damo_op_make(ctx, class_names[2 * f->kind + f->adjoint], props, (int)(sizeof props / sizeof *props));
  damo_var *ticket = op != NULL ? collective_ticket(ctx) : NULL;
  damo_apply *node = NULL;
  if (ticket != NULL) {
    damo_var *in[3] = {x, ticket, NULL};
    const bool two = collective_has_like(f);
    if (two) in[1] = like, in[2] = ticket;
    node = damo_op_apply(ctx, op, in, two ? 3 : 2);
  }
  damo_release(ticket);
  damo_release(op);
  return node;
}

/* ---- Types and shapes -------------------------------------------------------------------------------------------- */

static damo_status check_operand(damo_ctx *ctx, const form *f, const damo_type *type, const char *which) {
  char message[200];
  if (!damo_type_is_sparse(type) && damo_type_dtype(type) < DAMO_N_DTYPES) return DAMO_OK;
  snprintf(message, sizeof message, "mpi.%s: %s must be a dense array of numbers: send the data of a sparse matrix",
           collective_name(f->kind), which);
  return damo_fail(ctx, DAMO_ETYPE, message);
}

/* Lengths that are known before the ranks have met: -1 where another rank's array decides. */
static void static_shape(const form *f, int ndim, const int64_t *x, int64_t *shape) {
  for (int d = 0; d < ndim; d++) shape[d] = x[d];
  if (f->adjoint || f->kind <= BCAST || f->kind == SENDRECV) return;
  if (f->kind == HALO) {
    if (shape[f->axis] >= 0) shape[f->axis] += f->lo + f->hi;
    return;
  }
  if (f->kind == SCATTER) {
    for (int d = 0; d < ndim; d++) shape[d] = -1;
  }
  shape[f->axis] = -1;
  if (f->kind == ALLTOALL) shape[f->axis2] = -1;
}

static damo_status infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = damo_obj_ctx(op);
  const form f = form_of(op);
  const damo_type *x = damo_var_get_type(in[0]);
  int64_t shape[DAMO_MAX_NDIM];
  damo_status s = check_operand(ctx, &f, x, "its operand");
  const damo_type *like = n_in == 3 ? damo_var_get_type(in[1]) : x;
  if (s == DAMO_OK) s = check_operand(ctx, &f, like, "like");
  if (s != DAMO_OK) return s;
  const int ndim = damo_type_ndim(x);
  if (damo_type_ndim(like) != ndim)
    return damo_fail(ctx, DAMO_ETYPE, "mpi: the operand and `like` must have the same number of dimensions");
  static_shape(&f, ndim, damo_type_shape(like), shape);
  out[0] = damo_type_tensor(ctx, damo_type_dtype(x), ndim, shape);
  out[1] = damo_type_tensor(ctx, DAMO_INT64, 0, NULL);
  return out[0] != NULL && out[1] != NULL ? DAMO_OK : damo_error_status(ctx);
}

static damo_status infer_shape(const damo_op *op, damo_apply *node, damo_var *const *const *in, damo_var ***out) {
  const form f = form_of(op);
  const int like = damo_apply_n_inputs(node) == 3;
  const int ndim = damo_type_ndim(damo_var_get_type(damo_apply_get_output(node, 0)));
  for (int d = 0; d < ndim; d++) {
    const bool widens = f.kind == HALO && !f.adjoint && d == f.axis;
    out[0][d] = widens ? var_add_integer(in[like][d], f.lo + f.hi) : damo_retain(in[like][d]);
    if (out[0][d] == NULL) return damo_error_status(damo_obj_ctx(op));
  }
  return DAMO_OK;
}

static void connection_pattern(const damo_apply *node, bool *connected) {
  const int n = damo_apply_n_inputs(node);
  for (int k = 0; k < 2 * n; k++) connected[k] = k == 0;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

typedef struct collective_state {
  bool ready;
  form f;
  group *g;
  damo_array *scratch;
  announcement last;
} collective_state;

static void state_clear(void *state) {
  collective_state *st = state;
  damo_release(st->scratch);
  st->scratch = NULL;
}

static damo_array *thunk_result(void *data, damo_dtype dtype, int ndim, const int64_t *shape) {
  return damo_thunk_output(data, 0, dtype, ndim, shape);
}

static damo_status prepare(damo_thunk *t, collective_state *st) {
  const damo_op *op = damo_thunk_get_op(t);
  const collective_class *k = damo_op_user(op);
  st->f = form_of(op);
  st->g = group_find(k->w, st->f.group);
  if (st->g == NULL) return damo_fail(damo_thunk_ctx(t), DAMO_ESTATE, "mpi: the world has been closed");
  st->ready = true;
  return DAMO_OK;
}

static damo_status perform(damo_thunk *t) {
  collective_state *st = damo_thunk_state(t);
  const collective_class *k = damo_op_user(damo_thunk_get_op(t));
  damo_ctx *ctx = damo_thunk_ctx(t);
  damo_status s = world_usable(k->w, ctx);
  if (s == DAMO_OK && !st->ready) s = prepare(t, st);
  if (s != DAMO_OK) return s;
  const bool two = collective_has_like(&st->f);
  const int64_t *ticket = damo_array_data(damo_thunk_input(t, two ? 2 : 1));
  damo_array *next = damo_thunk_output(t, 1, DAMO_INT64, 0, NULL);
  if (next == NULL) return damo_error_status(ctx);
  *(int64_t *)damo_array_data(next) = *ticket;
  const sink to = {thunk_result, t, &st->scratch, &st->last};
  return collective_run(&st->f, st->g, ctx, damo_thunk_input(t, 0), two ? damo_thunk_input(t, 1) : NULL,
                        (*ticket & TICKET_CHECK) != 0, &to);
}

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

static damo_status grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const collective_class *k = damo_op_user(op);
  const form f = form_of(op);
  if (gout[0] == NULL) return DAMO_OK;
  gin[0] = derivative_back(k->w, &f, node, gout[0]);
  return gin[0] != NULL ? DAMO_OK : damo_error_status(damo_obj_ctx(op));
}

static damo_status rop(const damo_op *op, damo_apply *node, damo_var *const *eval, damo_var **tangent) {
  const collective_class *k = damo_op_user(op);
  const form f = form_of(op);
  if (eval[0] == NULL) return DAMO_OK;
  tangent[0] = derivative_along(k->w, &f, node, eval[0]);
  return tangent[0] != NULL ? DAMO_OK : damo_error_status(damo_obj_ctx(op));
}

/* ---- Classes ----------------------------------------------------------------------------------------------------- */

static void class_free(void *user) {
  collective_class *k = user;
  world_release(k->w);
  free(k);
}

/* Whether the shape of the result follows from those of the operands. */
static bool knows_shape(const form *f) {
  return f->adjoint || f->kind <= BCAST || f->kind == SENDRECV || f->kind == HALO;
}

static damo_status register_class(world *w, damo_ctx *ctx, collective_kind kind, bool adjoint) {
  const form f = {.kind = kind, .adjoint = adjoint};
  collective_class *user = malloc(sizeof *user);
  if (user == NULL) return damo_fail(ctx, DAMO_EMEMORY, "mpi: out of memory");
  *user = (collective_class){w, kind, adjoint};
  w->refs++;
  const damo_op_class k = {.name = class_names[2 * kind + adjoint],
                           .doc = class_docs[2 * kind + adjoint],
                           .props = "group seq op root axis axis2 to from lo hi equal",
                           .n_in = collective_has_like(&f) ? 3 : 2,
                           .n_out = 2,
                           .default_output = 1,
                           .infer_type = infer_type,
                           .perform = perform,
                           .state_size = sizeof(collective_state),
                           .state_clear = state_clear,
                           .grad = grad,
                           .rop = rop,
                           .infer_shape = knows_shape(&f) ? infer_shape : NULL,
                           .connection_pattern = connection_pattern,
                           .impure = true,
                           .user = user,
                           .destroy = class_free};
  return damo_op_register(ctx, &k);
}

/* Passes an operand on as the result. */
static damo_status pass_on(damo_thunk *t, int operand) {
  const damo_sparse *sparse = damo_thunk_input_sparse(t, operand);
  if (sparse != NULL) return damo_thunk_give_sparse(t, 0, damo_retain(sparse));
  return damo_thunk_output_inplace(t, 0, operand) != NULL ? DAMO_OK : damo_error_status(damo_thunk_ctx(t));
}

/* The result's lengths are those of an operand, x. */
static damo_status pass_shape_on(damo_apply *node, damo_var *const *x, damo_var **out) {
  const int ndim = damo_type_ndim(damo_var_get_type(damo_apply_get_output(node, 0)));
  for (int d = 0; d < ndim; d++) out[d] = damo_retain(x[d]);
  return DAMO_OK;
}

/* x, computed after what its ticket comes from. */
static damo_status after_perform(damo_thunk *t) { return pass_on(t, 0); }

static void after_connection(const damo_apply *node, bool *connected) {
  (void)node;
  connected[1] = false;
}

static damo_status after_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)op;
  (void)node;
  gin[0] = damo_retain(gout[0]);
  return DAMO_OK;
}

static damo_status after_shape(const damo_op *op, damo_apply *node, damo_var *const *const *in, damo_var ***out) {
  (void)op;
  return pass_shape_on(node, in[0], out[0]);
}

static damo_status register_after(damo_ctx *ctx) {
  static const damo_alias same[] = {{0, 0}, {-1, -1}};
  const damo_op_class k = {.name = "MpiAfter",
                           .doc = "x, computed after the collectives that its ticket comes from",
                           .n_in = 2,
                           .perform = after_perform,
                           .grad = after_grad,
                           .infer_shape = after_shape,
                           .connection_pattern = after_connection,
                           .impure = true,
                           .destroy_map = same};
  return damo_op_register(ctx, &k);
}

/* x; as its second operand, so that what its ticket comes from is computed before. */
static damo_status before_perform(damo_thunk *t) { return pass_on(t, 1); }

static damo_status before_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op;
  (void)n_in;
  out[0] = damo_retain(damo_var_get_type(in[1]));
  return DAMO_OK;
}

static damo_status before_shape(const damo_op *op, damo_apply *node, damo_var *const *const *in, damo_var ***out) {
  (void)op;
  return pass_shape_on(node, in[1], out[0]);
}

/* For graphs whose derivatives have been taken. */
static damo_status register_before(damo_ctx *ctx) {
  static const damo_alias same[] = {{0, 1}, {-1, -1}};
  const damo_op_class k = {.name = "MpiBefore",
                           .doc = "x, of which what its ticket comes from is computed before",
                           .n_in = 2,
                           .infer_type = before_type,
                           .perform = before_perform,
                           .infer_shape = before_shape,
                           .impure = true,
                           .destroy_map = same};
  return damo_op_register(ctx, &k);
}

static damo_status ticket_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)in;
  (void)n_in;
  out[0] = damo_type_tensor(damo_obj_ctx(op), DAMO_INT64, 0, NULL);
  return out[0] != NULL ? DAMO_OK : damo_error_status(damo_obj_ctx(op));
}

/* The ticket of a node whose Op holds a graph with collectives: that of the collective before it. */
static damo_status ticket_perform(damo_thunk *t) {
  damo_array *next = damo_thunk_output(t, 0, DAMO_INT64, 0, NULL);
  if (next == NULL) return damo_error_status(damo_thunk_ctx(t));
  *(int64_t *)damo_array_data(next) = *(const int64_t *)damo_array_data(damo_thunk_input(t, 1));
  return DAMO_OK;
}

static damo_status register_ticket(damo_ctx *ctx) {
  const damo_op_class k = {.name = "MpiTicket",
                           .doc = "a ticket after x",
                           .n_in = 2,
                           .infer_type = ticket_type,
                           .perform = ticket_perform,
                           .impure = true};
  return damo_op_register(ctx, &k);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void drop_world(void *user) { world_release(user); }

static damo_status pass_ticket(damo_thunk *t) {
  damo_array *next = damo_thunk_output(t, 0, DAMO_INT64, 0, NULL);
  if (next == NULL) return damo_error_status(damo_thunk_ctx(t));
  *(int64_t *)damo_array_data(next) = *(const int64_t *)damo_array_data(damo_thunk_input(t, 0));
  return DAMO_OK;
}

/* If the call before has not come to its end here, it may have on other ranks. */
static damo_status begin_perform(damo_thunk *t) {
  world *w = damo_op_user(damo_thunk_get_op(t));
  if (w->in_call) groups_doubt(w);
  w->in_call = true;
  w->check_call = (*(const int64_t *)damo_array_data(damo_thunk_input(t, 0)) & TICKET_CHECK) != 0;
  return pass_ticket(t);
}

static damo_status end_perform(damo_thunk *t) {
  world *w = damo_op_user(damo_thunk_get_op(t));
  w->in_call = w->check_call = false;
  return pass_ticket(t);
}

static damo_status register_calls(world *w, damo_ctx *ctx) {
  damo_op_class k = {.name = "MpiBegin",
                     .doc = "the first ticket of a call",
                     .n_in = 1,
                     .infer_type = ticket_type,
                     .perform = begin_perform,
                     .impure = true,
                     .user = w,
                     .destroy = drop_world};
  w->refs++;
  const damo_status s = damo_op_register(ctx, &k);
  if (s != DAMO_OK) return s;
  k.name = "MpiEnd";
  k.doc = "the last ticket of a call";
  k.perform = end_perform;
  w->refs++;
  return damo_op_register(ctx, &k);
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static damo_status same_perform(damo_thunk *t) {
  const damo_op *op = damo_thunk_get_op(t);
  damo_ctx *ctx = damo_thunk_ctx(t);
  const int64_t n = *(const int64_t *)damo_array_data(damo_thunk_input(t, 0));
  int64_t group_id = 0, record[RECORD_WORDS] = {0};
  damo_op_get_int(op, "group", &group_id);
  damo_op_get_int(op, "seq", &record[RECORD_SEQ]);
  record[RECORD_KIND] = RECORD_SAME;
  record[RECORD_NDIM] = 1;
  record[RECORD_SHAPE] = n;
  damo_array *out = damo_thunk_output(t, 0, DAMO_INT64, 0, NULL);
  group *g = group_find(damo_op_user(op), group_id);
  if (out == NULL) return damo_error_status(ctx);
  if (g == NULL) return damo_fail(ctx, DAMO_ESTATE, "mpi: the world has been closed");
  *(int64_t *)damo_array_data(out) = n;
  const damo_status s = group_enter(g, ctx, record);
  return s == DAMO_OK ? group_compare(g, ctx, record) : s;
}

static damo_status register_same(world *w, damo_ctx *ctx) {
  const damo_op_class k = {.name = "MpiSame",
                           .doc = "a number of steps, which must be the same on all ranks",
                           .props = "group seq",
                           .n_in = 2,
                           .infer_type = ticket_type,
                           .perform = same_perform,
                           .impure = true,
                           .user = w,
                           .destroy = drop_world};
  w->refs++;
  return damo_op_register(ctx, &k);
}

damo_status collective_register(world *w, damo_ctx *ctx) {
  damo_status s = register_after(ctx);
  if (s == DAMO_OK) s = register_before(ctx);
  if (s == DAMO_OK) s = register_ticket(ctx);
  if (s == DAMO_OK) s = register_same(w, ctx);
  if (s == DAMO_OK) s = register_calls(w, ctx);
  for (int k = 0; k < 2 * N_COLLECTIVES && s == DAMO_OK; k++) {
    if (class_names[k] != NULL) s = register_class(w, ctx, (collective_kind)(k / 2), k % 2);
  }
  return s;
}
