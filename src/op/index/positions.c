/* positions: ResolvePositions: positions of an axis of length n as 1 … n, those outside checked, wrapped or clipped.
 *
 * A negative position counts from the end, except where the mode is strict, which refuses it, and clip, which makes it 1.
 * There is no position 0.
 */
#include "graph/c_emit.h"
#include "index_int.h"
#include "kernel/kernel.h"

#include <string.h>

typedef struct positions_props {
  prop_value mode, func;
} positions_props;

static const char *const mode_names[] = {"raise", "strict", "wrap", "clip"};

static damo_status resolve_positions_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  for (int i = 0; i < 2; i++) {
    if (type_is_tensor(in[i]->type) && var_dtype(in[i]) == DAMO_INT64 && (i == 0 || var_ndim(in[i]) == 0)) continue;
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "ResolvePositions: expected int64 positions and a length");
  }
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

/* p as one of 1 … n, 0 where it is none. */
static int64_t position_in(int64_t p, int64_t n, position_mode mode) {
  if (p == 0 || n == 0) return 0;
  if (mode == POSITION_CLIP) return p < 1 ? 1 : p > n ? n : p;
  if (mode == POSITION_WRAP) {
    const int64_t at = p > 0 ? (p - 1) % n : n - 1 - (-(p + 1)) % n;
    return at + 1;
  }
  if (p < 0) p = mode == POSITION_RAISE && p >= -n ? p + n + 1 : 0;
  return p <= n ? p : 0;
}

#define POSITIONS_PART 2048 /* positions between two points */

static damo_status resolve_positions_perform(const thunk *t, frame *f) {
  const positions_props *props = OP_PROPS(t->node->op, positions_props);
  const damo_array *p = thunk_in(t, f, 0);
  const int64_t n = array_int(thunk_in(t, f, 1));
  damo_array *out = thunk_out(t, f, 0, DAMO_INT64, p->ndim, array_shape(p));
  if (!out) return damo_error_status(f->ctx);
  position_mode mode = POSITION_RAISE;
  while (strcmp(mode_names[mode], props->mode.u.s) != 0) mode++;
  int64_t *to = (int64_t *)(void *)out->data, *const first = to;
  array_rows r;
  for (char *row = rows_begin(&r, p); row; row = rows_next(&r, row)) {
    for (int64_t k = 0; k < r.length; k++) {
      const int64_t given = *(const int64_t *)(const void *)(row + k * r.step), at = position_in(given, n, mode);
      if (at == 0)
        return ctx_fail(f->ctx, DAMO_EINDEX, "%s: position %lld is outside 1 … %lld%s", props->func.u.s,
                        (long long)given, (long long)n, given == 0 ? "; positions count from 1" : "");
      *to++ = at;
      ctx_point_each(f->ctx, to - first, POSITIONS_PART);
    }
  }
  return DAMO_OK;
}

static damo_status resolve_positions_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *p = ce_in(e, 0), *out = ce_out(e, 0, DAMO_INT64, p->ndim, p->shape);
  const char *mode = OP_PROPS(node->op, positions_props)->mode.u.s;
  int64_t n;
  DAMO_TRY(ce_int(e, 1, "a length", &n));
  if (out == NULL || ce_size(out) == 0) return e->status;
  c_nest nest;
  ce_nest_init(e, &nest, p->ndim, p->shape, 2, (const int64_t *const[]){p->strides, out->strides});
  ce_nest_open(e, &nest);
  ce_line(e, "const int64_t k%d = %s[%s];", nest.id, ce_p(e, p), ce_nest_at(e, &nest, 0));
  const char *k = ce_text(e, "k%d", nest.id), *at;
  const long long m = (long long)n;
  if (strcmp(mode, mode_names[POSITION_CLIP]) == 0)
    at = ce_text(e, "%s < 1 ? 1 : %s > %lld ? %lld : %s", k, k, m, m, k);
  else if (strcmp(mode, mode_names[POSITION_WRAP]) == 0)
    at = ce_text(e, "%s > 0 ? (%s - 1) %% %lld + 1 : %lld - -(%s + 1) %% %lld", k, k, m, m, k, m);
  else if (strcmp(mode, mode_names[POSITION_RAISE]) == 0)
    at = ce_text(e, "%s < 0 && %s >= -%lld ? %s + %lld : %s", k, k, m, k, m + 1, k);
  else
    at = k;
  ce_fail_if(e, "%s == 0 || %lld == 0", k, m);
  ce_line(e, "const int64_t at%d = %s;", nest.id, at);
  ce_fail_if(e, "at%d < 1 || at%d > %lld", nest.id, nest.id, m);
  ce_line(e, "%s[%s] = at%d;", ce_p(e, out), ce_nest_at(e, &nest, 1), nest.id);
  ce_nest_close(e, &nest);
  return e->status;
}

const op_def resolve_positions_def = {
    .name = "ResolvePositions",
    .doc = "positions of an axis as 1 … n",
    .props =
        PROPS(PROP_WORD(positions_props, mode, "raise", "strict", "wrap", "clip"), PROP_TEXT(positions_props, func)),
    .n_in = 2,
    .infer_type = resolve_positions_infer_type,
    .perform = resolve_positions_perform,
    .emit_c = resolve_positions_emit_c,
    .grad = grad_none,
    .infer_shape = infer_shape_same,
    .batch = batch_same_op,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/index.lua has results by hand and from plain loops",
};

damo_var *build_resolved_positions(build *b, const char *func, damo_var *positions, damo_var *n, position_mode mode) {
  if (!positions || !n || b->status != DAMO_OK) return NULL;
  const positions_props p = {.mode = prop_str(mode_names[mode]), .func = prop_str(func)};
  damo_var *const in[2] = {positions, n};
  return build_op(b, op_new(b->ctx, &resolve_positions_def, &p), in, 2);
}

damo_status position_mode_read(damo_ctx *ctx, const char *func, prop_value option, position_mode *mode) {
  const char *name = prop_str_or(option, "raise");
  for (*mode = POSITION_RAISE; *mode <= POSITION_CLIP; ++*mode)
    if (*mode != POSITION_STRICT && strcmp(mode_names[*mode], name) == 0) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "%s: the mode is \"raise\", \"wrap\" or \"clip\", got \"%s\"", func, name);
}
