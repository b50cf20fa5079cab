/* host_op: a C program with an Op of its own, which its Lua script uses by name.
 *
 * SoftClip{low, high} maps a value smoothly into (low, high). The host registers the class with its computation, its
 * gradient and its shape. The script then fits a vector with it, through damo.grad and damo.compile. From the root of
 * the tree:
 *
 *   make && cc -std=c11 -Isrc examples/host_op.c build/release/libdamo.a $(pkg-config --cflags --libs lua5.4) \
 *     $(make -s print-libs) -o build/host_op && ./build/host_op
 */
#include <damo.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <math.h>
#include <stdio.h>

/* ---- The Op ------------------------------------------------------------------------------------------------------ */

typedef struct limits {
  double low, high;
} limits;

static limits limits_of(const damo_op *op) {
  limits l = {0, 1}; /* the defaults */
  damo_op_get_number(op, "low", &l.low);
  damo_op_get_number(op, "high", &l.high);
  return l;
}

static damo_status infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_type *type = damo_var_get_type(in[0]);
  (void)n_in;
  if (damo_type_dtype(type) != DAMO_FLOAT64) {
    return damo_fail(damo_obj_ctx(op), DAMO_ETYPE, "SoftClip: the input must be of dtype float64");
  }
  out[0] = damo_retain(type);
  return DAMO_OK;
}

/* y = low + (high - low) / (1 + exp(-x)). The input may have any strides, so the loops follow its shape. */
static void clip_axis(limits l, const char *x, const int64_t *shape, const int64_t *strides, int ndim, double **y) {
  if (ndim == 0) {
    *(*y)++ = l.low + (l.high - l.low) / (1 + exp(-*(const double *)x));
    return;
  }
  for (int64_t i = 0; i < shape[0]; i++) clip_axis(l, x + i * strides[0], shape + 1, strides + 1, ndim - 1, y);
}

static damo_status perform(damo_thunk *t) {
  const damo_array *x = damo_thunk_input(t, 0);
  int ndim = damo_array_ndim(x);
  damo_array *out = damo_thunk_output(t, 0, DAMO_FLOAT64, ndim, damo_array_shape(x));
  if (out == NULL) return DAMO_EMEMORY;
  double *y = damo_array_data(out);
  clip_axis(limits_of(damo_thunk_get_op(t)), damo_array_data(x), damo_array_shape(x), damo_array_strides(x), ndim, &y);
  return DAMO_OK;
}

/* Calls a function of damo with two operands, and releases those that are `own`. */
static damo_var *combine(damo_ctx *ctx, const char *func, damo_var *a, bool own_a, damo_var *b, bool own_b) {
  damo_var *both[2] = {a, b};
  damo_var *v = a != NULL && b != NULL ? damo_call(ctx, func, both, 2) : NULL;
  if (own_a) damo_release(a);
  if (own_b) damo_release(b);
  return v;
}

/* dy/dx = (y - low) (high - y) / (high - low), a graph of the node's output. */
static damo_status grad(const damo_op *op, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_ctx *ctx = damo_obj_ctx(op);
  limits l = limits_of(op);
  damo_var *y = damo_apply_get_output(node, 0);
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *above = combine(ctx, "sub", y, false, damo_number(ctx, l.low), true);
  damo_var *below = combine(ctx, "sub", damo_number(ctx, l.high), true, y, false);
  damo_var *slope = combine(ctx, "mul", above, true, below, true);
  slope = combine(ctx, "true_div", slope, true, damo_number(ctx, l.high - l.low), true);
  gin[0] = combine(ctx, "mul", slope, true, gout[0], false);
  return gin[0] != NULL ? DAMO_OK : damo_error_status(ctx);
}

static damo_status infer_shape(const damo_op *op, damo_apply *node, damo_var *const *const *in, damo_var ***out) {
  int ndim = damo_type_ndim(damo_var_get_type(damo_apply_get_input(node, 0)));
  (void)op;
  for (int axis = 0; axis < ndim; axis++) out[0][axis] = damo_retain(in[0][axis]);
  return DAMO_OK;
}

static const damo_op_class soft_clip = {.name = "SoftClip",
                                        .doc = "bends values smoothly into (low, high)",
                                        .props = "low high",
                                        .n_in = 1,
                                        .infer_type = infer_type,
                                        .perform = perform,
                                        .grad = grad,
                                        .infer_shape = infer_shape};

/* ---- The script -------------------------------------------------------------------------------------------------- */

static const char script[] =
    "local damo = require 'damo'\n"
    "local clip = damo.ops.SoftClip{low = -2, high = 2}\n"
    "local w, target = damo.shared(damo.zeros({3}), 'w'), damo.dvector('target')\n"
    "local cost = damo.sum(damo.sqr(clip(w) - target))\n"
    "local step = damo.compile({target}, cost, {updates = {[w] = w - 0.3 * damo.grad(cost, w)}})\n"
    "local loss\n"
    "for i = 1, 400 do loss = step(damo.array{-1, 0.5, 1.5}) end\n"
    "damo.verify_grad(clip, {damo.array{{-1, 0.3}, {2, 0}}})\n"
    "print(clip)\n"
    "print('fitted', clip(damo.constant(w:get_value())):eval())\n"
    "assert(loss < 1e-12, loss)\n"
    "local ok, e = pcall(clip, damo.ivector())\n"
    "print(e.kind, e.message)\n";

int main(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  lua_State *L = luaL_newstate();
  if (ctx == NULL || L == NULL) return 1;
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE); /* damo.core is in this program */
  lua_pushcfunction(L, luaopen_damo_core);
  lua_setfield(L, -2, "damo.core");
  lua_settop(L, 0);
  bool ok = damo_lua_set_context(L, ctx) == DAMO_OK && damo_op_register(ctx, &soft_clip) == DAMO_OK;
  if (!ok) fprintf(stderr, "%s\n", damo_error_message(ctx));
  if (ok && (luaL_loadstring(L, script) != LUA_OK || lua_pcall(L, 0, 0, 0) != LUA_OK)) {
    fprintf(stderr, "%s\n", luaL_tolstring(L, -1, NULL));
    ok = false;
  }
  lua_close(L);
  damo_ctx_release(ctx);
  return ok ? 0 : 1;
}
