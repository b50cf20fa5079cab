/* bucket.c: reductions that go on while others compute. */
#include "bucket.h"

#include <limits.h>
#include <stdlib.h>

#include "collective_op.h"
#include "derivative.h"

/* ---- What a running start keeps ---------------------------------------------------------------------------------- */

typedef struct bucket bucket;
struct bucket {
  world *w;
  bucket *next; /* of the world's */
  int64_t id;   /* 0: not in the list yet */
  form f;
  group *g;
  bool pending;
  MPI_Request request;
  const damo_array *x; /* while it is pending */
  damo_array *sum;
};

static bucket *bucket_find(const world *w, int64_t id) {
  bucket *b = w->buckets;
  while (b != NULL && b->id != id) b = b->next;
  return b;
}

static void bucket_add(world *w, bucket *b) {
  b->w = w;
  b->id = ++w->n_buckets;
  b->next = w->buckets;
  w->buckets = b;
}

/* A sum that is still under way keeps its arrays for good: MPI reads and writes them. */
static void bucket_clear(void *state) {
  bucket *b = state;
  if (b->id == 0) return;
  bucket **at = &b->w->buckets;
  while (*at != NULL && *at != b) at = &(*at)->next;
  if (*at == b) *at = b->next;
  if (!b->pending) damo_release(b->sum);
  b->sum = NULL;
  b->id = 0;
}

static damo_status bucket_await(bucket *b, damo_ctx *ctx) {
  if (!b->pending) return DAMO_OK;
  const damo_status s = group_wait(b->g, ctx, 1, &b->request);
  if (s != DAMO_OK) return s;
  b->pending = false;
  damo_release(b->x);
  b->x = NULL;
  return DAMO_OK;
}

/* ---- Start ------------------------------------------------------------------------------------------------------- */

static form form_of(const damo_op *op) {
  form f = {.kind = ALLREDUCE};
  damo_op_get_int(op, "seq", &f.seq);
  damo_op_get_int(op, "group", &f.group);
  damo_op_get_int(op, "op", &f.op);
  return f;
}

static bool has_shape_of(const damo_array *a, const damo_array *x) {
  const int ndim = damo_array_ndim(x);
  if (damo_array_dtype(a) != damo_array_dtype(x) || damo_array_ndim(a) != ndim) return false;
  for (int d = 0; d < ndim; d++) {
    if (damo_array_shape(a)[d] != damo_array_shape(x)[d]) return false;
  }
  return true;
}

/* An array for the result, kept from one run to the next. */
static damo_status make_room(bucket *b, damo_ctx *ctx, const damo_array *x) {
  if (damo_array_size(x) > INT_MAX)
    return damo_fail(ctx, DAMO_EVALUE, "mpi: more than 2^31 - 1 numbers; reduce them in several pieces");
  if (b->sum != NULL && has_shape_of(b->sum, x)) return DAMO_OK;
  damo_release(b->sum);
  b->sum = damo_array_new(ctx, damo_array_dtype(x), damo_array_ndim(x), damo_array_shape(x));
  return b->sum != NULL ? DAMO_OK : DAMO_EMEMORY;
}

/* Goes to the next place of the group, and compares the ranks' arrays where they have not agreed on such a one before. */
static damo_status agree_on(bucket *b, damo_ctx *ctx, const damo_array *x, bool check) {
  int64_t record[RECORD_WORDS];
  record_fill(record, &b->f, damo_array_dtype(x), damo_array_ndim(x), damo_array_shape(x), NULL);
  const damo_status s = group_enter(b->g, ctx, record);
  if (s != DAMO_OK || (!check && group_has_agreed(b->g, group_hash(record)))) return s;
  return group_compare(b->g, ctx, record);
}

/* MPI reads x itself if it has no gaps: x lives until the wait, which reads it too. */
static damo_status post_reduction(bucket *b, damo_ctx *ctx, const damo_array *x) {
  const damo_dtype dtype = damo_array_dtype(x);
  const MPI_Op op = mpi_operation(b->w, ctx, (reduction)b->f.op, dtype);
  const bool flat = is_flat(x);
  if (op == MPI_OP_NULL) return damo_error_status(ctx);
  if (!flat) copy_flat(damo_array_data(b->sum), x);
  const int code = MPI_Iallreduce(flat ? damo_array_data(x) : MPI_IN_PLACE, damo_array_data(b->sum),
                                  (int)damo_array_size(x), mpi_type(dtype), op, b->g->comm, &b->request);
  const damo_status s = world_check(b->w, ctx, code, "MPI_Iallreduce");
  if (s != DAMO_OK) return s;
  b->pending = true;
  b->x = damo_retain(x);
  return DAMO_OK;
}

/* A group of one has its result at once. */
static damo_status run_start(bucket *b, damo_thunk *t, const damo_array *x, bool check) {
  damo_ctx *ctx = damo_thunk_ctx(t);
  damo_status s = world_usable(b->w, ctx);
  if (s == DAMO_OK) s = bucket_await(b, ctx);
  if (s == DAMO_OK) s = make_room(b, ctx, x);
  if (s == DAMO_OK) s = agree_on(b, ctx, x, check || b->w->check || b->w->check_call);
  if (s == DAMO_OK && b->g->size == 1) copy_flat(damo_array_data(b->sum), x);
  if (s == DAMO_OK && b->g->size > 1) s = post_reduction(b, ctx, x);
  /* Looking for faults has MPI move on what was started before. */
  if (s == DAMO_OK && b->w->poll != NULL) s = b->w->poll(b->w, ctx);
  return s;
}

static damo_status give_integer(damo_thunk *t, int i, int64_t value) {
  damo_array *out = damo_thunk_output(t, i, DAMO_INT64, 0, NULL);
  if (out == NULL) return damo_error_status(damo_thunk_ctx(t));
  *(int64_t *)damo_array_data(out) = value;
  return DAMO_OK;
}

static int64_t integer_input(const damo_thunk *t, int i) {
  return *(const int64_t *)damo_array_data(damo_thunk_input(t, i));
}

static damo_status start_perform(damo_thunk *t) {
  bucket *b = damo_thunk_state(t);
  const damo_array *x = damo_thunk_input(t, 0);
  const int64_t ticket = integer_input(t, 1);
  if (b->id == 0) {
    bucket_add(damo_op_user(damo_thunk_get_op(t)), b);
    b->f = form_of(damo_thunk_get_op(t));
    b->g = group_find(b->w, b->f.group);
  }
  if (b->g == NULL) return damo_fail(damo_thunk_ctx(t), DAMO_ESTATE, "mpi: the world has been closed");
  damo_status s = give_integer(t, 0, b->id);
  if (s == DAMO_OK) s = give_integer(t, 1, ticket);
  return s == DAMO_OK ? run_start(b, t, x, (ticket & TICKET_CHECK) != 0) : s;
}

static damo_status start_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = damo_obj_ctx(op);
  const damo_type *x = damo_var_get_type(in[0]);
  (void)n_in;
  if (damo_type_is_sparse(x) || damo_type_dtype(x) >= DAMO_N_DTYPES)
    return damo_fail(ctx, DAMO_ETYPE, "mpi.iallreduce: its operand must be a dense array of numbers");
  out[0] = damo_type_tensor(ctx, DAMO_INT64, 0, NULL);
  out[1] = damo_type_tensor(ctx, DAMO_INT64, 0, NULL);
  return out[0] != NULL && out[1] != NULL ? DAMO_OK : damo_error_status(ctx);
}

/* ---- Wait -------------------------------------------------------------------------------------------------------- */

static damo_status wait_perform(damo_thunk *t) {
  damo_ctx *ctx = damo_thunk_ctx(t);
  const damo_array *x = damo_thunk_input(t, 0);
  bucket *b = bucket_find(damo_op_user(damo_thunk_get_op(t)), integer_input(t, 1));
  if (b == NULL || b->sum == NULL) return damo_fail(ctx, DAMO_ESTATE, "mpi: there is no such bucket under way");
  damo_array *out = damo_thunk_output(t, 0, damo_array_dtype(x), damo_array_ndim(x), damo_array_shape(x));
  if (out == NULL) return damo_error_status(ctx);
  damo_status s = give_integer(t, 1, integer_input(t, 2));
  if (s == DAMO_OK) s = bucket_await(b, ctx);
  if (s == DAMO_OK) copy_flat(damo_array_data(out), b->sum);
  return s;
}

static damo_status wait_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = damo_obj_ctx(op);
  (void)n_in;
  out[0] = damo_retain(damo_var_get_type(in[0]));
  out[1] = damo_type_tensor(ctx, DAMO_INT64, 0, NULL);
  return out[1] != NULL ? DAMO_OK : damo_error_status(ctx);
}

static damo_status wait_shape(const damo_op *op, damo_apply *node, damo_var *const *const *in, damo_var ***out) {
  (void)op;
  const int ndim = damo_type_ndim(damo_var_get_type(damo_apply_get_output(node, 0)));
  for (int d = 0; d < ndim; d++) out[0][d] = damo_retain(in[0][d]);
  return DAMO_OK;
}

static void wait_connection(const damo_apply *node, bool *connected) {
  (void)node;
  for (int k = 0; k < 6; k++) connected[k] = k == 0;
}

static damo_status wait_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const form f = form_of(op);
  if (gout[0] == NULL) return DAMO_OK;
  gin[0] = derivative_back(damo_op_user(op), &f, node, gout[0]);
  return gin[0] != NULL ? DAMO_OK : damo_error_status(damo_obj_ctx(op));
}

static damo_status wait_rop(const damo_op *op, damo_apply *node, damo_var *const *eval, damo_var **tangent) {
  const form f = form_of(op);
  if (eval[0] == NULL) return DAMO_OK;
  tangent[0] = derivative_along(damo_op_user(op), &f, node, eval[0]);
  return tangent[0] != NULL ? DAMO_OK : damo_error_status(damo_obj_ctx(op));
}

static void start_connection(const damo_apply *node, bool *connected) {
  (void)node;
  for (int k = 0; k < 4; k++) connected[k] = false;
}

/* A handle carries no derivative: that of the result is a matter of the wait, which has x. */
static damo_status start_grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)op;
  (void)node;
  (void)gout;
  (void)gin;
  return DAMO_OK;
}

/* ---- Classes ----------------------------------------------------------------------------------------------------- */

static void drop_world(void *user) { world_release(user); }

damo_status bucket_register(world *w, damo_ctx *ctx) {
  damo_op_class start = {.name = "MpiBucketStart",
                         .doc = "begins to reduce an array over the ranks",
                         .props = "seq group op",
                         .n_in = 2,
                         .n_out = 2,
                         .infer_type = start_type,
                         .perform = start_perform,
                         .state_size = sizeof(bucket),
                         .state_clear = bucket_clear,
                         .grad = start_grad,
                         .rop = start_grad,
                         .connection_pattern = start_connection,
                         .impure = true,
                         .user = w,
                         .destroy = drop_world};
  damo_op_class wait = {.name = "MpiBucketWait",
                        .doc = "the result of what an MpiBucketStart has begun",
                        .props = "seq group op",
                        .n_in = 3,
                        .n_out = 2,
                        .default_output = 1,
                        .infer_type = wait_type,
                        .perform = wait_perform,
                        .grad = wait_grad,
                        .rop = wait_rop,
                        .infer_shape = wait_shape,
                        .connection_pattern = wait_connection,
                        .impure = true,
                        .user = w,
                        .destroy = drop_world};
  w->refs += 2;
  const damo_status s = damo_op_register(ctx, &start);
  if (s == DAMO_OK) return damo_op_register(ctx, &wait);
  world_release(w);
  return s;
}

/* ---- Scripts ----------------------------------------------------------------------------------------------------- */

/* Pushes output 0 of a new node of the class; in[n_in - 1] is left for the ticket. Group and reduction are the numbers at
 * `at` and after it, 0 if not given. */
static int push_node(lua_State *L, const char *name, damo_var **in, int n_in, int at) {
  world *w = world_of(L);
  damo_ctx *ctx = damo_lua_get_context(L);
  const damo_prop props[] = {damo_prop_int("seq", w->n_collectives++),
                             damo_prop_int("group", (int64_t)lua_tointeger(L, at)),
                             damo_prop_int("op", (int64_t)lua_tointeger(L, at + 1))};
  damo_op *op = damo_op_make(ctx, name, props, 3);
  damo_var *ticket = in[n_in - 1] = op != NULL ? collective_ticket(ctx) : NULL;
  damo_apply *node = ticket != NULL ? damo_op_apply(ctx, op, in, n_in) : NULL;
  damo_release(ticket);
  damo_release(op);
  if (node == NULL) return damo_lua_raise(L);
  damo_var *out = damo_retain(damo_apply_get_output(node, 0));
  damo_release(node);
  damo_lua_push(L, out);
  damo_release(out);
  return 1;
}

/* core.bucket_start(x, group, op): begins to reduce an array over the ranks; gives a handle. */
static int core_bucket_start(lua_State *L) {
  damo_var *in[2] = {damo_as_var(damo_lua_get(L, 1)), NULL};
  return push_node(L, "MpiBucketStart", in, 2, 2);
}

/* core.bucket_wait(x, handle, group, op): the result. */
static int core_bucket_wait(lua_State *L) {
  damo_var *in[3] = {damo_as_var(damo_lua_get(L, 1)), damo_as_var(damo_lua_get(L, 2)), NULL};
  return push_node(L, "MpiBucketWait", in, 3, 3);
}

void bucket_register_functions(lua_State *L) {
  lua_pushcfunction(L, core_bucket_start);
  lua_setfield(L, -2, "bucket_start");
  lua_pushcfunction(L, core_bucket_wait);
  lua_setfield(L, -2, "bucket_wait");
}
