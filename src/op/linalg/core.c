/* core: Ops with a core signature: the parsed signature, Types and shapes, and the making of nodes. core_run.c runs
 * them. */
#include "core_int.h"
#include "op/shape/shape_int.h"

#include <stdio.h>
#include <string.h>

/* ---- Signatures -------------------------------------------------------------------------------------------------- */

static int8_t core_name(core_shape *s, char name) {
  int8_t i = 0;
  while (i < s->n_dims && s->names[i] != name) i++;
  damo_assert(i < CORE_DIMS);
  if (i == s->n_dims) s->names[s->n_dims++] = name;
  return i;
}

/* Reads a length; returns the text behind it. */
static const char *core_parse_length(core_shape *s, const char *p, core_length *out) {
  *out = (core_length){.name = -1, .other = -1};
  if (strncmp(p, "min(", 4) == 0) {
    *out = (core_length){.name = core_name(s, p[4]), .other = core_name(s, p[6])};
    return p + 8;
  }
  if (*p < '0' || *p > '9') {
    out->name = core_name(s, *p);
    return p + 1;
  }
  for (; *p >= '0' && *p <= '9'; p++) out->fixed = out->fixed * 10 + (*p - '0');
  return p;
}

/* Reads "(m,n),(n)" into operands; returns the text behind them. */
static const char *core_parse_side(core_shape *s, const char *p, core_operand *list, int8_t *n) {
  for (*n = 0; *p == '('; (*n)++) {
    damo_assert(*n < CORE_MOST);
    core_operand *o = &list[*n];
    for (p++; *p != ')'; p += *p == ',' ? 1 : 0) {
      damo_assert(o->rank < 2);
      p = core_parse_length(s, p, &o->length[o->rank++]);
    }
    p++;
    if (*p == ',') p++;
  }
  return p;
}

damo_status core_init(damo_op *op) {
  core_shape *s = op->data;
  const core_class *class = op->def->core;
  s->form = class->form_of != NULL ? class->form_of(op) : &class->form;
  const char *p = core_parse_side(s, s->form->signature, s->in, &s->n_in);
  s->n_in_dims = s->n_dims;
  damo_assert(p[0] == '-' && p[1] == '>');
  p = core_parse_side(s, p + 2, s->out, &s->n_out);
  damo_assert(*p == 0 && (s->n_dims == s->n_in_dims || class->lengths != NULL));
  return DAMO_OK;
}

/* ---- Lengths ----------------------------------------------------------------------------------------------------- */

static damo_status core_fail_lengths(const damo_op *op, const core_sizes *z, int i, int axis, int64_t expected) {
  const core_shape *s = core_shape_of(op);
  const core_operand *o = &s->in[i];
  const char *func = op->def->core->func;
  char text[256], other[256];
  shape_format(text, sizeof text, z->ndim[i], z->shape[i]);
  if (o->rank == 2 && axis == z->ndim[i] - 1 && o->length[0].name == o->length[1].name && o->length[0].name >= 0) {
    return ctx_fail(z->ctx, DAMO_ESHAPE, "%s: operand %d must be square in its last two axes, got shape %s", func,
                    i + 1, text);
  }
  for (int k = 0; k < i; k++) {
    for (int a = 0; a < s->in[k].rank; a++) {
      if (s->in[k].length[a].name != o->length[axis - z->lead[i]].name || o->length[axis - z->lead[i]].name < 0)
        continue;
      return ctx_fail(z->ctx, DAMO_ESHAPE,
                      "%s: operand %d has shape %s, whose axis %d must be %lld, as axis %d of operand %d of shape %s",
                      func, i + 1, text, axis + 1, (long long)expected, z->lead[k] + a + 1, k + 1,
                      shape_format(other, sizeof other, z->ndim[k], z->shape[k]));
    }
  }
  return ctx_fail(z->ctx, DAMO_ESHAPE, "%s: operand %d has shape %s, whose axis %d must be %lld", func, i + 1, text,
                  axis + 1, (long long)expected);
}

/* The length that an operand or result has along a core axis. */
static int64_t core_length_value(const core_length *l, const int64_t *dim) {
  if (l->name < 0) return l->fixed;
  const int64_t x = dim[l->name];
  if (l->other < 0) return x;
  const int64_t y = dim[l->other];
  if (x == 0 || y == 0) return 0;
  return x < 0 || y < 0 ? -1 : x < y ? x : y;
}

static damo_status core_bind_operand(const damo_op *op, core_sizes *z, int i) {
  const core_shape *s = core_shape_of(op);
  char text[256];
  if (z->ndim[i] < s->in[i].rank) {
    return ctx_fail(z->ctx, DAMO_ESHAPE, "%s: operand %d must have at least %d %s, got shape %s", op->def->core->func,
                    i + 1, s->in[i].rank, s->in[i].rank == 1 ? "axis" : "axes",
                    shape_format(text, sizeof text, z->ndim[i], z->shape[i]));
  }
  z->lead[i] = z->ndim[i] - s->in[i].rank;
  for (int a = 0; a < s->in[i].rank; a++) {
    const core_length *l = &s->in[i].length[a];
    const int64_t got = z->shape[i][z->lead[i] + a];
    if (got > INT32_MAX) {
      return ctx_fail(z->ctx, DAMO_ESHAPE, "%s: operand %d has shape %s: LAPACK takes lengths up to 2147483647",
                      op->def->core->func, i + 1, shape_format(text, sizeof text, z->ndim[i], z->shape[i]));
    }
    if (got < 0) continue;
    const int64_t expected = core_length_value(l, z->dim);
    if (expected < 0) {
      z->dim[l->name] = got;
    } else if (expected != got) {
      return core_fail_lengths(op, z, i, z->lead[i] + a, expected);
    }
  }
  return DAMO_OK;
}

bool core_broadcasts(const core_sizes *z, int i, int axis, int64_t *length, int *own) {
  const int at = axis - (z->n_batch - z->lead[i]);
  *own = at;
  *length = at < 0 ? 1 : z->shape[i][at];
  return at < 0 || type_dim_is_one(z->type[i], at);
}

static damo_status core_bind_batch(const damo_op *op, core_sizes *z) {
  const core_shape *s = core_shape_of(op);
  char x[256], y[256], hint[320];
  z->n_batch = 0;
  for (int i = 0; i < s->n_in; i++) z->n_batch = z->lead[i] > z->n_batch ? z->lead[i] : z->n_batch;
  for (int axis = 0; axis < z->n_batch; axis++) {
    int from = -1, own;
    z->batch[axis] = 1;
    for (int i = 0; i < s->n_in; i++) {
      int64_t length;
      if (core_broadcasts(z, i, axis, &length, &own)) continue;
      if (from < 0 || z->batch[axis] < 0) {
        z->batch[axis] = length;
        from = i;
      } else if (length >= 0 && length != z->batch[axis]) {
        const int bad = length == 1 ? i : z->batch[axis] == 1 ? from : -1;
        hint[0] = 0;
        if (bad >= 0) {
          core_broadcasts(z, bad, axis, &length, &own);
          snprintf(hint, sizeof hint, ": axis %d of operand %d ", own + 1, bad + 1);
          broadcast_hint(hint + strlen(hint), sizeof hint - strlen(hint), z->type[bad], own);
        }
        return ctx_fail(z->ctx, DAMO_ESHAPE,
                        "%s: the leading axes of operand %d of shape %s and operand %d of shape %s do not agree%s",
                        op->def->core->func, from + 1, shape_format(x, sizeof x, z->ndim[from], z->shape[from]), i + 1,
                        shape_format(y, sizeof y, z->ndim[i], z->shape[i]), hint);
      }
    }
  }
  return DAMO_OK;
}

damo_status core_bind(const damo_op *op, core_sizes *z) {
  const core_shape *s = core_shape_of(op);
  for (int k = 0; k < s->n_dims; k++) z->dim[k] = -1;
  if (op->def->core->lengths != NULL) op->def->core->lengths(op, z->dim);
  for (int i = 0; i < s->n_in; i++) DAMO_TRY(core_bind_operand(op, z, i));
  DAMO_TRY(core_bind_batch(op, z));
  return op->def->core->check != NULL ? op->def->core->check(z->ctx, op, z->dim) : DAMO_OK;
}

int core_result_shape(const core_shape *s, const core_sizes *z, int o, int64_t *shape) {
  int n = 0;
  for (; n < z->n_batch; n++) shape[n] = z->batch[n];
  for (int a = 0; a < s->out[o].rank; a++) shape[n++] = core_length_value(&s->out[o].length[a], z->dim);
  return n;
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

static damo_dtype dtype_complex_of(damo_dtype d) {
  return d == DAMO_FLOAT32 ? DAMO_COMPLEX64 : d == DAMO_FLOAT64 ? DAMO_COMPLEX128 : d;
}

damo_dtype core_dtype(char kind, damo_dtype d) {
  switch (kind) {
    case 'r': return dtype_real_part(d);
    case 'c': return dtype_complex_of(d);
    case 'i': return DAMO_INT64;
    default: return d;
  }
}

damo_dtype core_common_dtype(const core_shape *s, damo_var *const *in) {
  for (int i = 0; i < s->n_in; i++) {
    if (core_kind(s->form->in, i) == 'f') return var_dtype(in[i]);
  }
  for (int i = 0; i < s->n_in; i++) {
    if (core_kind(s->form->in, i) != 'i') return var_dtype(in[i]);
  }
  return DAMO_FLOAT64;
}

damo_status core_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const core_shape *s = core_shape_of(op);
  const char *func = op->def->core->func;
  core_sizes z = {.ctx = op->obj.ctx};
  char text[256];
  int64_t shape[DAMO_MAX_NDIM];
  if (n_in != s->n_in)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: expected %d operands, got %d", func, s->n_in, n_in);
  for (int i = 0; i < n_in; i++) {
    if (!type_is_tensor(in[i]->type)) {
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand %d must be a tensor, got %s", func, i + 1,
                      type_format(text, sizeof text, in[i]->type));
    }
  }
  const damo_dtype common = core_common_dtype(s, in);
  if (op->def->core->only_double && common != DAMO_FLOAT64)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operands must be of dtype float64, got %s", func, dtype_name(common));
  for (int i = 0; i < n_in; i++) {
    const damo_dtype expected = core_dtype(core_kind(s->form->in, i), common);
    if (dtype_is_discrete(common) || var_dtype(in[i]) != expected) {
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand %d must be of dtype %s, got %s", func, i + 1,
                      dtype_is_discrete(expected) && expected != DAMO_INT64 ? "float64" : dtype_name(expected),
                      dtype_name(var_dtype(in[i])));
    }
    z.type[i] = in[i]->type;
    z.ndim[i] = in[i]->type->ndim;
    z.shape[i] = in[i]->type->shape;
  }
  DAMO_TRY(core_bind(op, &z));
  for (int o = 0; o < s->n_out; o++) {
    if (z.n_batch + s->out[o].rank > DAMO_MAX_NDIM)
      return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "%s: too many axes", func);
    const int n = core_result_shape(s, &z, o, shape);
    out[o] = type_tensor(op->obj.ctx, core_dtype(core_kind(s->form->out, o), common), n, shape);
    if (out[o] == NULL) return op->obj.ctx->error.status;
  }
  return DAMO_OK;
}

static damo_var *core_length_var(build *b, const core_length *l, damo_var *const *dim) {
  if (l->name < 0) return build_i64(b, l->fixed);
  return l->other < 0 ? dim[l->name] : build_minimum(b, dim[l->name], dim[l->other]);
}

damo_status core_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  const core_shape *s = core_shape_of(node->op);
  damo_var *dim[CORE_DIMS] = {NULL}, *batch[DAMO_MAX_NDIM] = {NULL};
  int n_batch = 0;
  if (node->op->def->core->lengths != NULL) {
    int64_t given[CORE_DIMS];
    for (int k = 0; k < s->n_dims; k++) given[k] = -1;
    node->op->def->core->lengths(node->op, given);
    for (int k = 0; k < s->n_dims; k++) dim[k] = given[k] >= 0 ? build_i64(b, given[k]) : NULL;
  }
  for (int i = 0; i < s->n_in; i++) {
    const int lead = var_ndim(node->in[i]) - s->in[i].rank;
    n_batch = lead > n_batch ? lead : n_batch;
    for (int a = 0; a < s->in[i].rank; a++) {
      const int8_t name = s->in[i].length[a].name;
      if (name >= 0 && dim[name] == NULL) dim[name] = in_shape[i][lead + a];
    }
  }
  for (int axis = 0; axis < n_batch; axis++) {
    for (int i = 0; i < s->n_in && batch[axis] == NULL; i++) {
      const int at = axis - (n_batch - (var_ndim(node->in[i]) - s->in[i].rank));
      if (at >= 0 && !type_dim_is_one(node->in[i]->type, at)) batch[axis] = in_shape[i][at];
    }
    if (batch[axis] == NULL) batch[axis] = build_i64(b, 1);
  }
  for (int o = 0; o < s->n_out; o++) {
    for (int axis = 0; axis < n_batch; axis++) out_shape[o][axis] = batch[axis];
    for (int a = 0; a < s->out[o].rank; a++) out_shape[o][n_batch + a] = core_length_var(b, &s->out[o].length[a], dim);
  }
  return b->status;
}

/* The leading axes of the batch are further ones of the stacks. */
damo_status core_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k, damo_var **out) {
  const core_shape *s = core_shape_of(node->op);
  int lead = 0;
  for (int i = 0; i < s->n_in; i++) {
    const int own = var_ndim(node->in[i]) - s->in[i].rank;
    lead = own > lead ? own : lead;
  }
  for (int i = 0; i < s->n_in; i++) {
    if (batched[i]) in[i] = batch_pad(b, in[i], k, lead + s->in[i].rank);
  }
  return b->status == DAMO_OK ? batch_apply(b, damo_retain(node->op), node, in, out) : b->status;
}

/* ---- Making nodes ------------------------------------------------------------------------------------------------ */

bool core_needs_lapack(const damo_op *op) {
  (void)op;
  return true;
}

damo_status core_prepare(damo_apply *node, const char *impl) {
  const core_class *class = node->op->def->core;
  (void)impl;
  if (DAMO_BLAS || class->needs_lapack == NULL || !class->needs_lapack(node->op)) return DAMO_OK;
  return ctx_fail(node->obj.ctx, DAMO_ENOT_IMPLEMENTED, "%s (linalg.%s) needs LAPACK, which this build is without",
                  node->op->def->name, class->func);
}

/* The dtype that operands 'f' get. */
static damo_dtype core_promoted(const core_form *form, damo_var *const *in, int n_in) {
  damo_dtype common = DAMO_BOOL;
  for (int i = 0; i < n_in; i++) {
    if (core_kind(form->in, i) != 'i') common = dtype_promote(common, var_dtype(in[i]));
  }
  return dtype_is_discrete(common) ? DAMO_FLOAT64 : common;
}

damo_apply *build_core(build *b, const op_def *def, const void *props, damo_var *const *in, int n_in) {
  damo_var *use[CORE_MOST];
  damo_op *op = b->status == DAMO_OK ? op_new(b->ctx, def, props) : NULL;
  char text[256];
  damo_assert(n_in <= CORE_MOST);
  if (op == NULL) return build_apply(b, op, in, n_in);
  const core_form *form = core_shape_of(op)->form;
  for (int i = 0; i < n_in; i++) {
    if (in[i] != NULL && type_is_tensor(in[i]->type)) continue;
    if (in[i] != NULL) {
      build_fail(b, DAMO_ETYPE, "%s: operand %d must be a tensor, got %s", def->core->func, i + 1,
                 type_format(text, sizeof text, in[i]->type));
    }
    damo_release(op);
    return NULL;
  }
  if (build_resolve(b, in, n_in, false, use) == DAMO_OK) {
    const damo_dtype common = core_promoted(form, use, n_in);
    for (int i = 0; i < n_in; i++) {
      const char kind = core_kind(form->in, i);
      snprintf(text, sizeof text, "operand %d", i + 1);
      use[i] = kind == 'i' ? build_integer(b, def->core->func, text, use[i])
                           : build_cast(b, use[i], core_dtype(kind, common));
    }
  }
  return build_apply(b, op, use, n_in);
}

damo_var *build_core_first(build *b, const op_def *def, const void *props, damo_var *const *in, int n_in) {
  const damo_apply *node = build_core(b, def, props, in, n_in);
  return node != NULL ? node->out[0] : NULL;
}

bool core_on_fail(build *b, const fn_args *a, prop_value option, prop_value *property) {
  const char *s = prop_str_or(option, "raise");
  *property = strcmp(s, "nan") == 0 ? option : prop_nil();
  if (strcmp(s, "raise") == 0 || strcmp(s, "return") == 0 || strcmp(s, "nan") == 0) return true;
  build_fail(b, DAMO_EVALUE, "%s: option 'on_fail' is 'raise', 'return' or 'nan', not '%s'", a->func->name, s);
  return false;
}

/* ---- For rules --------------------------------------------------------------------------------------------------- */

damo_var *build_adjoint(build *b, damo_var *x) {
  return x != NULL ? build_swap_last(b, build_conj_if_complex(b, x)) : NULL;
}

damo_var *build_as_columns(build *b, damo_var *x) { return x != NULL ? build_new_axis(b, x, var_ndim(x)) : NULL; }

damo_var *build_drop_columns(build *b, damo_var *x) {
  int pattern[DAMO_MAX_NDIM];
  if (x == NULL) return NULL;
  const int n = var_ndim(x) - 1;
  for (int i = 0; i < n; i++) pattern[i] = i;
  return build_dimshuffle(b, x, pattern, n);
}
