/* node.c: nodes made in C, and the parts of a run that all Ops on distributed matrices share. */
#include "node.h"

#include <string.h>

/* ---- Building ---------------------------------------------------------------------------------------------------- */

#define MAX_INPUTS 9
#define MAX_PROPS 12

int64_t node_seq(library *lib) { return lib->w->n_collectives++; }

static damo_var *new_ticket(damo_ctx *ctx) {
  damo_array *zero = damo_array_scalar(ctx, DAMO_INT64, 0);
  damo_var *ticket = zero != NULL ? damo_constant(ctx, zero) : NULL;
  damo_release(zero);
  return ticket;
}

damo_var *node_apply(library *lib, damo_ctx *ctx, const char *op_class, const damo_prop *props, int n_props,
                     damo_var **in, int n_in) {
  damo_prop all[MAX_PROPS];
  damo_var *out = NULL;
  for (int i = 0; i < n_in; i++) {
    if (in[i] == NULL) return NULL;
  }
  for (int i = 0; i < n_props; i++) all[i] = props[i];
  all[n_props] = damo_prop_int("seq", node_seq(lib));
  in[n_in] = new_ticket(ctx);
  damo_op *op = in[n_in] != NULL ? damo_op_make(ctx, op_class, all, n_props + 1) : NULL;
  damo_apply *node = op != NULL ? damo_op_apply(ctx, op, in, n_in + 1) : NULL;
  if (node != NULL) out = damo_retain(damo_apply_get_output(node, 0));
  damo_release(node);
  damo_release(op);
  damo_release(in[n_in]);
  return out;
}

static damo_var *on_matrix(library *lib, const char *op_class, const damo_prop *props, int n_props, damo_apply *like,
                           damo_var *data, damo_var *handle, damo_var *const *take, int n) {
  damo_var *in[MAX_INPUTS], *out = NULL;
  bool whole = true;
  for (int i = 0; i < IN_OPERAND; i++) in[i] = damo_apply_get_input(like, i);
  if (data != NULL) in[IN_DATA] = data;
  if (handle != NULL) in[IN_HANDLE] = handle;
  for (int i = 0; i < n; i++) {
    in[IN_OPERAND + i] = take[i];
    whole = whole && take[i] != NULL;
  }
  if (whole) out = node_apply(lib, damo_obj_ctx(like), op_class, props, n_props, in, IN_OPERAND + n);
  for (int i = 0; i < n; i++) damo_release(take[i]);
  return out;
}

damo_var *node_on_matrix(library *lib, const char *op_class, const damo_prop *props, int n_props, damo_apply *like,
                         damo_var *const *take_operands, int n) {
  return on_matrix(lib, op_class, props, n_props, like, NULL, NULL, take_operands, n);
}

damo_var *node_on_values(library *lib, const char *op_class, const damo_prop *props, int n_props, damo_apply *like,
                         damo_var *data, damo_var *const *take_operands, int n) {
  damo_var *in[MAX_INPUTS] = {data};
  for (int i = IN_INDICES; i <= IN_LAYOUT; i++) in[i] = damo_apply_get_input(like, i);
  damo_var *handle = node_apply(lib, damo_obj_ctx(like), "MpiMatrix", NULL, 0, in, IN_LAYOUT + 1);
  if (handle == NULL) {
    for (int i = 0; i < n; i++) damo_release(take_operands[i]);
    return NULL;
  }
  damo_var *out = on_matrix(lib, op_class, props, n_props, like, data, handle, take_operands, n);
  damo_release(handle);
  return out;
}

damo_var *node_call(damo_ctx *ctx, const char *func, damo_var *take_a, damo_var *take_b) {
  damo_var *both[2] = {take_a, take_b};
  damo_var *out = take_a != NULL && take_b != NULL ? damo_call(ctx, func, both, 2) : NULL;
  damo_release(take_a);
  damo_release(take_b);
  return out;
}

damo_var *node_sum(damo_ctx *ctx, damo_var *take_a, damo_var *take_b) {
  if (take_a == NULL) return take_b;
  if (take_b == NULL) return take_a;
  return node_call(ctx, "add", take_a, take_b);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static const char *setting(const damo_op *op, const char *name) {
  const char *value = damo_op_get_string(op, name);
  return value != NULL ? value : "-";
}

/* A number of what must be alike on all ranks but would be too long for a message. */
static uint32_t settings_number(const run *r) {
  static const char *const names[] = {"rtol", "atol", "max_it", "sigma", "tol"};
  uint32_t h = 2166136261u;
  for (const char *at = setting(r->op, "options"); *at != '\0'; at++) h = (h ^ (uint8_t)*at) * 16777619u;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    double value = -1;
    damo_op_get_number(r->op, names[i], &value);
    unsigned char bytes[sizeof value];
    memcpy(bytes, &value, sizeof value);
    for (size_t k = 0; k < sizeof bytes; k++) h = (h ^ bytes[k]) * 16777619u;
  }
  return h;
}

/* What must be alike on all ranks before PETSc is called: a text, since a mistake is told in words. */
static void tell_doing(const run *r, int64_t id) {
  int64_t k = 0;
  damo_op_get_int(r->op, "k", &k);
  library_doing(r->lib, "runs %s%s (matrix %lld, ksp %s, pc %s, assume %s, which %s, k %lld, other options %08x)",
                damo_op_name(r->op), r->transposed ? " transposed" : "", (long long)id, setting(r->op, "ksp"),
                setting(r->op, "pc"), setting(r->op, "assume"), setting(r->op, "which"), (long long)k,
                (unsigned)settings_number(r));
}

damo_status run_begin(damo_thunk *t, bool needs_values, run *r) {
  *r = (run){.t = t, .ctx = damo_thunk_ctx(t), .op = damo_thunk_get_op(t)};
  r->lib = damo_op_user(r->op);
  damo_op_get_bool(r->op, "transposed", &r->transposed);
  const damo_array *handle = damo_thunk_input(t, IN_HANDLE);
  tell_doing(r, *(const int64_t *)damo_array_data(handle) >> 32);
  return matrix_find(r->lib, r->ctx, *(const int64_t *)damo_array_data(handle),
                     needs_values ? damo_thunk_input(t, IN_DATA) : NULL, &r->m);
}

damo_status run_pass_ticket(const run *r, int in, int out) {
  damo_array *ticket = damo_thunk_output(r->t, out, DAMO_INT64, 0, NULL);
  if (ticket == NULL) return DAMO_EMEMORY;
  *(int64_t *)damo_array_data(ticket) = *(const int64_t *)damo_array_data(damo_thunk_input(r->t, in));
  return DAMO_OK;
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

int64_t column_count(const damo_array *a) { return damo_array_ndim(a) == 2 ? damo_array_shape(a)[1] : 1; }

damo_status column_check(damo_ctx *ctx, const char *func, const char *what, const damo_array *a, int64_t rows) {
  if (a == NULL || damo_array_dtype(a) != DAMO_FLOAT64 || damo_array_ndim(a) < 1 || damo_array_ndim(a) > 2) {
    return library_fail(ctx, DAMO_ETYPE, "%s: %s must be a vector or a matrix of dtype float64", func, what);
  }
  if (damo_array_shape(a)[0] == rows) return DAMO_OK;
  return library_fail(ctx, DAMO_ESHAPE, "%s: %s has %lld rows on this rank, the matrix's partition has %lld", func,
                      what, (long long)damo_array_shape(a)[0], (long long)rows);
}

const double *column_read(const damo_array *a, int64_t c, double *room) {
  const int64_t *strides = damo_array_strides(a), rows = damo_array_shape(a)[0];
  const char *at = (const char *)damo_array_data(a) + (damo_array_ndim(a) == 2 ? c * strides[1] : 0);
  if (strides[0] == (int64_t)sizeof(double) || rows <= 1) return (const double *)(const void *)at;
  for (int64_t i = 0; i < rows; i++) room[i] = *(const double *)(const void *)(at + i * strides[0]);
  return room;
}

double *column_out(const damo_array *a, int64_t c, double *room) {
  return column_count(a) == 1 ? (double *)damo_array_data(a) + c : room;
}

void column_put(const damo_array *a, int64_t c, const double *from) {
  const int64_t n = column_count(a), rows = damo_array_shape(a)[0];
  double *to = (double *)damo_array_data(a) + c;
  if (n == 1) return;
  for (int64_t i = 0; i < rows; i++) to[i * n] = from[i];
}
