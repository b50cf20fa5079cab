/* core_c: see core_c.h. */
#include "core_c.h"

#include <string.h>

#include "core_int.h"
#include "decompose.h"

c_mat c_mat_scratch(const core_source *s, int64_t rows, int64_t cols) {
  const c_value *v = ce_scratch(s->e, s->dtype, rows * cols > 0 ? rows * cols : 1);
  return (c_mat){.at = v != NULL ? ce_p(s->e, v) : "0", .rows = rows, .cols = cols, .rs = cols, .cs = 1};
}

const char *c_positions(const core_source *s, int64_t n) {
  const c_value *v = ce_scratch(s->e, DAMO_INT64, n > 0 ? n : 1);
  return v != NULL ? ce_p(s->e, v) : "0";
}

void c_mat_copy(const core_source *s, c_mat to, c_mat from) {
  ce_helper(
      s->e, "copied", s->dtype,
      "static void copied_~(ptrdiff_t m, ptrdiff_t n, const @ *x, ptrdiff_t xr, ptrdiff_t xc, @ *y, ptrdiff_t yr,\n"
      "                     ptrdiff_t yc) {\n"
      "  for (ptrdiff_t i = 0; i < m; i++)\n"
      "    for (ptrdiff_t j = 0; j < n; j++) y[i * yr + j * yc] = x[i * xr + j * xc];\n"
      "}\n");
  ce_line(s->e, "copied_%s(%lld, %lld, %s, %s);", s->suffix, (long long)from.rows, (long long)from.cols,
          c_mat_text(s->e, from), c_mat_text(s->e, to));
}

bool c_flag(const core_source *s, const char *property) {
  const prop_value *v = op_prop(s->op, property);
  return v != NULL && prop_bool_or(*v, false);
}

char c_system(const core_source *s) {
  const prop_value *v = op_prop(s->op, "trans");
  return v != NULL ? system_of(*v) : 'n';
}

/* What core_bind needs, from the operands' shapes in the code. */
static damo_status core_source_sizes(c_emit *e, const damo_apply *node, core_sizes *z) {
  const core_shape *s = core_shape_of(node->op);
  for (int i = 0; i < s->n_in; i++) {
    const c_value *v = ce_in(e, i);
    z->type[i] = node->in[i]->type, z->ndim[i] = v->ndim, z->shape[i] = v->shape;
  }
  e->status = core_bind(node->op, z);
  return e->status;
}

/* The entry's matrix in v, whose part of the nest is number k. */
static c_mat core_source_mat(c_emit *e, const c_value *v, const core_operand *o, const c_nest *nest, int k) {
  const int n = v->ndim;
  c_mat m = {.rows = 1, .cols = 1, .rs = 1, .cs = 1};
  if (o->rank == 2)
    m.rows = v->shape[n - 2], m.rs = v->strides[n - 2], m.cols = v->shape[n - 1], m.cs = v->strides[n - 1];
  if (o->rank == 1) m.rows = v->shape[n - 1], m.rs = v->strides[n - 1];
  m.at = nest != NULL ? ce_text(e, "(%s + %s)", ce_p(e, v), ce_nest_at(e, nest, k)) : ce_p(e, v);
  return m;
}

/* The results of an entry that failed, or the end of the call. */
static void core_source_failed(const core_source *s) {
  const prop_value *on_fail = op_prop(s->op, "on_fail");
  c_emit *e = s->e;
  if (on_fail == NULL || on_fail->kind != PROP_STR || strcmp(on_fail->u.s, "nan") != 0) {
    ce_fail_if(e, "bad");
    return;
  }
  const core_shape *shape = core_shape_of(s->op);
  ce_open(e, "if (bad)");
  for (int o = 0; o < s->n_out; o++) {
    const char kind = core_kind(shape->form->out, o);
    const damo_dtype dtype = core_dtype(kind, s->dtype);
    const char *nan = dtype == DAMO_FLOAT32 || dtype == DAMO_COMPLEX64 ? "(float)NAN" : "NAN";
    const char *at = s->out[o].at, *parts = dtype_is_complex(dtype) ? ce_text(e, ".re = (%s)[k].im", at) : "";
    ce_line(e, "for (ptrdiff_t k = 0; k < %lld; k++) (%s)[k]%s = %s;", (long long)(s->out[o].rows * s->out[o].cols), at,
            parts, kind == 'i' ? "1" : nan);
  }
  ce_close(e);
}

/* The loops over the stack. strides: of the operands and results along the leading axes. */
static void core_source_nest(c_emit *e, const core_shape *s, const core_sizes *z, c_value *const *out, c_nest *nest) {
  int64_t strides[2 * CORE_MOST][DAMO_MAX_NDIM];
  const int64_t *all[2 * CORE_MOST];
  for (int axis = 0; axis < z->n_batch; axis++) {
    for (int i = 0; i < s->n_in; i++) {
      int64_t length;
      int own;
      const bool same = core_broadcasts(z, i, axis, &length, &own);
      strides[i][axis] = same ? 0 : ce_in(e, i)->strides[own];
    }
    for (int o = 0; o < s->n_out; o++) strides[s->n_in + o][axis] = out[o]->strides[axis];
  }
  for (int k = 0; k < s->n_in + s->n_out; k++) all[k] = strides[k];
  ce_nest_init(e, nest, z->n_batch, z->batch, s->n_in + s->n_out, all);
  ce_nest_open(e, nest);
}

damo_status core_emit_c(c_emit *e, const damo_apply *node) {
  const core_shape *s = core_shape_of(node->op);
  const core_class *class = node->op->def->core;
  const damo_dtype common = core_common_dtype(s, node->in);
  core_sizes z = {.ctx = e->ctx};
  c_value *out[CORE_MOST];
  bool filled = false;
  int64_t shape[DAMO_MAX_NDIM];
  if (dtype_is_complex(common) && !class->emits_complex) return ce_refuse(e, "complex numbers");
  if (class->emits_complex) ce_takes_complex(e);
  if (e->file->reproducible && node->op->def->library != NULL) return ce_refuse(e, "in reproducible mode");
  DAMO_TRY(core_source_sizes(e, node, &z));
  for (int o = 0; o < s->n_out; o++) {
    const int n = core_result_shape(s, &z, o, shape);
    out[o] = ce_out(e, o, core_dtype(core_kind(s->form->out, o), common), n, shape);
    if (out[o] == NULL) return e->status;
    filled = filled || ce_size(out[o]) > 0;
  }
  if (!filled) return e->status;
  const damo_dtype dtype = ce_dtype(e, common);
  core_source c = {
      .e = e, .op = node->op, .dtype = dtype, .suffix = ce_suffix(dtype), .n_in = s->n_in, .n_out = s->n_out};
  c_nest nest;
  core_source_nest(e, s, &z, out, &nest);
  for (int i = 0; i < s->n_in; i++)
    c.in[i] = core_source_mat(e, ce_in(e, i), &s->in[i], z.n_batch > 0 ? &nest : NULL, i);
  for (int o = 0; o < s->n_out; o++)
    c.out[o] = core_source_mat(e, out[o], &s->out[o], z.n_batch > 0 ? &nest : NULL, s->n_in + o);
  e->branches = true; /* an entry that fails may leave its results as they are */
  ce_line(e, "ptrdiff_t bad = 0;");
  DAMO_TRY(class->emit_c(&c));
  core_source_failed(&c);
  ce_nest_close(e, &nest);
  return e->status;
}
