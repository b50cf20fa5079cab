/* loop_op: the Op class Loop: Elemwise nodes over one iteration space, and reductions of their results, as one pass over
 * memory.
 *
 * Properties: `n_in`, the number of inputs; `axes`, the axes of a row as bits, 0 where nothing is reduced; `parts`, the
 * Ops with their result's dtype and space (loop_space) and the registers that they read; `outs`, the registers that are
 * results; `rows`, the inputs without the axes of a row; `inplace`, for each output the 1-based input that it overwrites,
 * 0: none; `sources`, Ops with the inputs that are their operands: the elements of the first of these are those of the
 * Op's result, which has the rank of the iteration space. Register k is input k for k < n_in, then the result of part
 * k - n_in. A part reads earlier registers alone. It is an Elemwise, a fold (a Reduce over the axes of a row), a Pick, or
 * a PickGrad or OneHot, whose positions are inputs. Parts that read what is folded over rows are over rows, or over
 * elements again.
 *
 * An input broadcasts only along axes where its static Type says 1, as those of Elemwise. Every part over elements has
 * the whole shape, so nothing is computed twice. The value of an entry is that of the separate nodes to the bit: the same
 * kernels run, over blocks that stay in L1 (loop/loop.h), and folds take the blocks that a reduction by itself takes. A
 * Loop of 0-d values runs its kernels one after the other on values, and after some runs as machine code (elem_jit.c).
 */
#include "loop_op_int.h"
#include "elem_c.h"

#include <stdio.h>
#include <string.h>

#include "build_arith.h"
#include "op/shape/shape_int.h"

/* ---- The class --------------------------------------------------------------------------------------------------- */

static bool is_register(const prop_value *v, int64_t end) { return v->kind == PROP_INT && v->u.i >= 0 && v->u.i < end; }

static bool parse_part(loop_data *d, int k, const prop_value *v) {
  if (v->kind != PROP_LIST || v->n < 4 || v->u.list[0].kind != PROP_OP || !is_register(&v->u.list[1], DAMO_N_DTYPES) ||
      !is_register(&v->u.list[2], LOOP_OTHER + 1))
    return false;
  loop_part *p = &d->parts[k];
  *p = (loop_part){
      .op = v->u.list[0].u.op, .dtype = (damo_dtype)v->u.list[1].u.i, .space = (loop_space)v->u.list[2].u.i};
  if (p->op->def != &elemwise_def && !loop_part_folds(p) && loop_part_positions(p) < 0) return false;
  if (loop_part_folds(p) ? p->space == LOOP_ELEMENTS : p->space == LOOP_OTHER) return false;
  if (loop_part_positions(p) >= 0 && (d->n_axes != 1 || p->space != (loop_part_picks(p) ? LOOP_ROWS : LOOP_ELEMENTS)))
    return false;
  if (p->op->destroy_map != NULL || v->n != 3 + loop_arity(p)) return false;
  for (int i = 0; i + 3 < v->n; i++) {
    if (!is_register(&v->u.list[i + 3], d->n_in + k)) return false;
    p->in[i] = (int16_t)v->u.list[i + 3].u.i;
    if (p->in[i] < d->n_in) continue;
    if (i == loop_part_positions(p) || (i == loop_arity(p) - 1 && loop_part_places(p))) return false;
    const loop_part *from = &d->parts[p->in[i] - d->n_in];
    if (from->space == LOOP_OTHER) return false;
    if (from->space == LOOP_ELEMENTS && p->space != LOOP_ELEMENTS && !loop_part_folds(p) && !loop_part_picks(p))
      return false;
    d->reads_folds = d->reads_folds || from->space != LOOP_ELEMENTS;
  }
  d->has_positions = d->has_positions || loop_part_positions(p) >= 0;
  if (loop_part_places(p)) d->place = p->in[loop_arity(p) - 1];
  return true;
}

static bool parse_outs(loop_data *d, const prop_value *outs, const prop_value *inplace) {
  int n = 0;
  for (int o = 0; o < d->n_out; o++) {
    if (!is_register(&outs->u.list[o], d->n_in + d->n_parts) || outs->u.list[o].u.i < d->n_in) return false;
    d->outs[o] = (int16_t)outs->u.list[o].u.i;
    if (inplace->kind != PROP_LIST || o >= inplace->n) continue;
    if (!is_register(&inplace->u.list[o], d->n_in + 1)) return false;
    if (inplace->u.list[o].u.i == 0) continue;
    d->destroy[n++] = (op_alias){(int16_t)o, (int16_t)(inplace->u.list[o].u.i - 1)};
  }
  d->destroy[n] = (op_alias)OP_ALIAS_END;
  return true;
}

int loop_source_arity(const damo_op *op) {
  if (op->def == &arange_def) return loop_range_has(prop_dtype(OP_PROPS(op, dtype_props)->dtype)) ? 3 : 0;
  return index_taken_axis(op) >= 0 ? 2 : 0;
}

static bool parse_source(loop_data *d, int k, const prop_value *v) {
  if (v->kind != PROP_LIST || v->n < 1 || v->u.list[0].kind != PROP_OP) return false;
  loop_source *s = &d->sources[k];
  s->op = v->u.list[0].u.op;
  const int n = loop_source_arity(s->op), axis = index_taken_axis(s->op);
  if (n == 0 || v->n != 1 + n) return false;
  for (int i = 0; i < n; i++) {
    if (!is_register(&v->u.list[i + 1], d->n_in)) return false;
    const int at = (int)v->u.list[i + 1].u.i;
    loop_input_use *u = &d->uses[at];
    if (u->use != USE_OPERAND || d->of_rows[at]) return false;
    s->in[i] = (int16_t)at;
    u->use = (uint8_t)(axis >= 0 ? USE_TAKEN + i : i == 0 ? USE_RANGE : USE_END);
    u->axis = (int8_t)axis;
    u->source = (int16_t)k;
  }
  return true;
}

/* What belongs to a source is read by it alone, but for the elements that it gives. */
static bool parse_sources(loop_data *d, const prop_value *sources) {
  for (int k = 0; k < d->n_sources; k++) {
    if (!parse_source(d, k, &sources->u.list[k])) return false;
  }
  for (int k = 0; k < d->n_parts; k++) {
    for (int i = 0; i < loop_arity(&d->parts[k]); i++) {
      const int r = d->parts[k].in[i];
      if (r < d->n_in && (d->uses[r].use == USE_POSITIONS || d->uses[r].use == USE_END)) return false;
    }
  }
  for (int i = 0; d->destroy[i].out >= 0; i++) {
    if (d->uses[d->destroy[i].in].use != USE_OPERAND) return false;
  }
  return true;
}

#define LOOP_MOST_REGISTERS INT16_MAX

static damo_status loop_init(damo_op *op) {
  loop_data *d = op->data;
  const loop_props *p = OP_PROPS(op, loop_props);
  bool fits = op->n_props >= 5 && p->n_in.kind == PROP_INT && is_register(&p->axes, INT64_C(1) << DAMO_MAX_NDIM) &&
              p->parts.kind == PROP_LIST && p->outs.kind == PROP_LIST && p->rows.kind == PROP_LIST &&
              p->n_in.u.i >= 0 && p->n_in.u.i + p->parts.n <= LOOP_MOST_REGISTERS && p->parts.n > 0 && p->outs.n > 0;
  if (fits) {
    const size_t parts = (size_t)p->parts.n * sizeof *d->parts, outs = (size_t)p->outs.n * sizeof *d->outs;
    const size_t outs_end = (outs + sizeof(op_alias) - 1) / sizeof(op_alias) * sizeof(op_alias);
    d->n_in = (int32_t)p->n_in.u.i;
    d->axes = (uint32_t)p->axes.u.i;
    for (int axis = 0; axis < DAMO_MAX_NDIM; axis++) d->n_axes += loop_is_row_axis(d, axis);
    d->place = -1;
    const size_t destroy = ((size_t)p->outs.n + 1) * sizeof(op_alias);
    const prop_value *sources = op->n_props > 6 && p->sources.kind == PROP_LIST ? &p->sources : NULL;
    const size_t sources_bytes = sources != NULL ? (size_t)sources->n * sizeof *d->sources : 0;
    const size_t uses = (size_t)d->n_in * sizeof *d->uses;
    d->bytes = parts + sources_bytes + outs_end + destroy + uses + (size_t)d->n_in * sizeof(bool);
    d->parts = mem_alloc(op->obj.ctx, d->bytes);
    if (d->parts == NULL) return DAMO_EMEMORY;
    d->n_parts = p->parts.n;
    d->n_out = p->outs.n;
    d->n_sources = sources != NULL ? sources->n : 0;
    d->sources = (loop_source *)(void *)((char *)d->parts + parts);
    d->outs = (int16_t *)(void *)((char *)d->sources + sources_bytes);
    d->destroy = (op_alias *)(void *)((char *)d->outs + outs_end);
    d->uses = (loop_input_use *)(void *)((char *)d->destroy + destroy);
    d->of_rows = (bool *)((char *)d->uses + uses);
    memset(d->uses, 0, uses);
    for (int i = 0; i < d->n_in; i++) d->of_rows[i] = false;
    for (int i = 0; i < p->rows.n && fits; i++) {
      fits = is_register(&p->rows.u.list[i], d->n_in);
      if (fits) d->of_rows[p->rows.u.list[i].u.i] = true;
    }
    for (int k = 0; k < d->n_parts && fits; k++) fits = parse_part(d, k, &p->parts.u.list[k]);
    fits = fits && parse_outs(d, &p->outs, op->n_props > 5 ? &p->inplace : &(prop_value){.kind = PROP_NIL});
    fits = fits && parse_sources(d, sources);
  }
  if (!fits)
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "Loop: its parts are Elemwise Ops and reductions over earlier registers");
  if (d->destroy[0].out >= 0) op->destroy_map = d->destroy;
  return DAMO_OK;
}

static void loop_clear(damo_op *op) {
  loop_data *d = op->data;
  if (d->parts != NULL) mem_free(op->obj.ctx, d->parts, d->bytes);
}

static int loop_count(const damo_op *op, int n_in) {
  (void)n_in;
  return loop_data_of(op)->n_out;
}

/* "Loop{exp(1), mul(4, 2)}": registers from 1. */
static void loop_format(strbuf *out, const damo_op *op) {
  const loop_data *d = loop_data_of(op);
  strbuf_add(out, "Loop{");
  for (int k = 0; k < d->n_sources; k++) {
    const loop_source *s = &d->sources[k];
    strbuf_addf(out, k > 0 ? ", %d = " : "%d = ", s->in[0] + 1);
    op_format(out, s->op);
    strbuf_add(out, "(");
    for (int i = 0; i < loop_source_arity(s->op); i++) strbuf_addf(out, "%s%d", i > 0 ? ", " : "", s->in[i] + 1);
    strbuf_add(out, ")");
  }
  for (int k = 0; k < d->n_parts; k++) {
    const loop_part *p = &d->parts[k];
    if (k > 0 || d->n_sources > 0) strbuf_add(out, ", ");
    if (p->op->def != &elemwise_def)
      op_format(out, p->op);
    else
      strbuf_add(out, elemwise_data_of(p->op)->row->name);
    strbuf_add(out, "(");
    for (int i = 0; i < loop_arity(p); i++) strbuf_addf(out, "%s%d", i > 0 ? ", " : "", p->in[i] + 1);
    strbuf_add(out, ")");
  }
  strbuf_add(out, op->destroy_map != NULL ? ", inplace}" : "}");
}

int loop_part_shape(const loop_data *d, const loop_part *p, int ndim, const int64_t *shape, int64_t *out) {
  int n = 0;
  if (p->space == LOOP_OTHER) return reduce_op_shape(p->op, ndim, shape, out);
  for (int axis = 0; axis < ndim; axis++) {
    const bool reduced = p->space != LOOP_ELEMENTS && loop_is_row_axis(d, axis);
    if (!reduced || p->space == LOOP_ROWS_KEPT) out[n++] = reduced ? 1 : shape[axis];
  }
  return n;
}

/* The axes of a row of a space of that rank, if they are the last ones; else 0. */
static int loop_trailing(const loop_data *d, int ndim) {
  for (int axis = ndim - d->n_axes; axis < ndim; axis++) {
    if (axis < 0 || !loop_is_row_axis(d, axis)) return 0;
  }
  return d->n_axes;
}

/* Whether a part fits a space of that rank: a reduction is over the axes of a row, or each over last axes. */
static bool loop_part_fits(const loop_data *d, const loop_part *p, int ndim) {
  if (ndim < DAMO_MAX_NDIM && d->axes >> ndim != 0) return false;
  if (loop_part_positions(p) >= 0) return loop_trailing(d, ndim) == 1;
  if (!loop_part_folds(p)) return true;
  if (p->space != LOOP_OTHER) return reduce_op_one_pass(p->op) && reduce_op_axes(p->op, ndim) == d->axes;
  const int own = reduce_op_trailing(p->op, ndim);
  return own > 0 && own != d->n_axes && loop_trailing(d, ndim) > 0;
}

/* The static length of a source that is a range, -1: it is not known. */
static damo_status range_static_length(const loop_data *d, int k, damo_var *const *in, int64_t *length) {
  const loop_source *s = &d->sources[k];
  damo_var *const own[] = {in[s->in[0]], in[s->in[1]], in[s->in[2]]};
  damo_type *type = NULL;
  DAMO_TRY(s->op->def->infer_type(s->op, own, 3, &type));
  *length = type->shape[0];
  damo_release(type);
  return DAMO_OK;
}

/* What is taken has the rank of the iteration space and int64 positions; a range has three real numbers. */
static damo_status check_source(const loop_data *d, int k, damo_var *const *in, int ndim) {
  const loop_source *s = &d->sources[k];
  const int axis = index_taken_axis(s->op), i = s->in[0];
  bool fits = loop_input_rank(d, in, i) == ndim;
  if (axis >= 0) fits = fits && axis < var_ndim(in[i]) && var_dtype(in[s->in[1]]) == DAMO_INT64;
  for (int j = 0; j < loop_source_arity(s->op) && axis < 0; j++)
    fits = fits && var_ndim(in[s->in[j]]) == 0 && !dtype_is_complex(var_dtype(in[s->in[j]]));
  return fits ? DAMO_OK
              : ctx_fail(s->op->obj.ctx, DAMO_ETYPE, "Loop: the operands of a source do not fit its iteration space");
}

static damo_status loop_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const loop_data *d = loop_data_of(op);
  damo_ctx *ctx = op->obj.ctx;
  if (n_in != d->n_in) return ctx_fail(ctx, DAMO_ETYPE, "Loop: expected %d operands, got %d", d->n_in, n_in);
  for (int i = 0; i < n_in; i++) {
    if (!type_is_tensor(in[i]->type)) return ctx_fail(ctx, DAMO_ETYPE, "Loop: operand %d must be a tensor", i + 1);
  }
  const int ndim = loop_ndim(d, in);
  for (int k = 0; k < d->n_sources; k++) DAMO_TRY(check_source(d, k, in, ndim));
  for (int k = 0; k < d->n_parts; k++) {
    if (!loop_part_fits(d, &d->parts[k], ndim))
      return ctx_fail(ctx, DAMO_ETYPE, "Loop: its reductions are over the axes of its rows");
  }
  int64_t shape[DAMO_MAX_NDIM], out_shape[DAMO_MAX_NDIM];
  for (int axis = 0; axis < ndim; axis++) {
    shape[axis] = 1;
    for (int i = 0; i < n_in; i++) {
      const int own = loop_input_axis(d, i, var_ndim(in[i]), ndim, axis);
      const int64_t length = own < 0 ? 1 : in[i]->type->shape[own];
      if (length != 1 && shape[axis] <= 1) shape[axis] = shape[axis] < 0 && length < 0 ? -1 : length;
    }
    if (axis == ndim - 1 && d->place >= 0 && shape[axis] <= 1) {
      shape[axis] = -1;
      var_static_int(in[d->place], &shape[axis]);
    }
  }
  for (int k = 0; k < d->n_sources; k++) {
    if (d->sources[k].op->def == &arange_def && shape[0] <= 1) DAMO_TRY(range_static_length(d, k, in, &shape[0]));
  }
  for (int o = 0; o < d->n_out; o++) {
    const loop_part *p = loop_part_of_out(d, o);
    const int rank = loop_part_shape(d, p, ndim, shape, out_shape);
    out[o] = type_tensor(ctx, p->dtype, rank, out_shape);
    if (out[o] == NULL) return damo_error_status(ctx);
  }
  return DAMO_OK;
}

/* The length of a source that is a range; NULL: it is no range. */
static damo_var *range_length_of(build *b, const loop_data *d, int k, damo_var *const *in) {
  damo_var *length = NULL, **lengths = &length;
  if (d->sources[k].op->def != &arange_def) return NULL;
  damo_var *range = build_source(b, &d->sources[k], in);
  if (range != NULL) arange_def.infer_shape(b, range->owner, NULL, &lengths);
  return length;
}

static damo_status loop_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                    damo_var ***out_shape) {
  const loop_data *d = loop_data_of(node->op);
  const int ndim = loop_ndim(d, node->in);
  damo_var *length[DAMO_MAX_NDIM];
  for (int axis = 0; axis < ndim; axis++) {
    length[axis] = NULL;
    for (int i = 0; i < node->n_in && !length[axis]; i++) {
      const int k = loop_input_axis(d, i, var_ndim(node->in[i]), ndim, axis);
      if (k >= 0 && !type_dim_is_one(node->in[i]->type, k)) length[axis] = in_shape[i][k];
    }
    if (!length[axis] && axis == ndim - 1 && d->place >= 0)
      length[axis] = build_cast(b, node->in[d->place], DAMO_INT64);
    for (int k = 0; k < d->n_sources && !length[axis]; k++) length[axis] = range_length_of(b, d, k, node->in);
    if (!length[axis]) length[axis] = build_i64(b, 1);
  }
  for (int o = 0; o < node->n_out; o++) {
    const loop_part *p = loop_part_of_out(d, o);
    const int end = p->space == LOOP_OTHER ? ndim - reduce_op_trailing(p->op, ndim) : ndim;
    int n = 0;
    for (int axis = 0; axis < ndim && n < var_ndim(node->out[o]); axis++) {
      const bool reduced =
          p->space == LOOP_OTHER ? axis >= end : p->space != LOOP_ELEMENTS && loop_is_row_axis(d, axis);
      if (reduced && p->space == LOOP_ROWS) continue;
      out_shape[o][n++] = reduced ? build_i64(b, 1) : length[axis];
    }
  }
  return b->status;
}

/* The register whose block register r is: parts that copy have none of their own. */
static int loop_root(const loop_data *d, int r) {
  while (r >= d->n_in) {
    const loop_part *p = &d->parts[r - d->n_in];
    if (p->op->def != &elemwise_def || elemwise_data_of(p->op)->row->kernel != KERNEL_NONE) break;
    r = p->in[loop_arity(p) - 1];
  }
  return r;
}

/* Marks the parts that output o needs. */
static void loop_mark_needed(const loop_data *d, int o, bool *needed) {
  memset(needed, 0, (size_t)d->n_parts * sizeof *needed);
  needed[d->outs[o] - d->n_in] = true;
  for (int k = d->outs[o] - d->n_in; k >= 0; k--) {
    for (int j = 0; needed[k] && j < loop_arity(&d->parts[k]); j++) {
      if (d->parts[k].in[j] >= d->n_in) needed[d->parts[k].in[j] - d->n_in] = true;
    }
  }
}

static bool loop_part_reads(const loop_data *d, int k, int i) {
  for (int j = 0; j < loop_arity(&d->parts[k]); j++) {
    if (loop_root(d, d->parts[k].in[j]) == i) return true;
  }
  return false;
}

/* Where parts read what is folded, they run in passes: then all that reads the input must be needed for the output. */
bool loop_may_overwrite(const damo_op *op, int o, int i) {
  const loop_data *d = loop_data_of(op);
  const int made = d->outs[o] - d->n_in;
  if (loop_part_of_out(d, o)->space != LOOP_ELEMENTS || d->uses[i].use != USE_OPERAND) return false;
  for (int k = made + 1; k < d->n_parts; k++) {
    if (loop_part_reads(d, k, i)) return false;
  }
  if (!d->reads_folds) return true;
  bool *needed = mem_alloc(op->obj.ctx, (size_t)d->n_parts * sizeof *needed);
  if (needed == NULL) return false;
  loop_mark_needed(d, o, needed);
  bool may = true;
  for (int k = 0; k < made; k++) may = may && (needed[k] || !loop_part_reads(d, k, i));
  mem_free(op->obj.ctx, needed, (size_t)d->n_parts * sizeof *needed);
  return may;
}

bool loop_keeps_first_axis(const damo_op *op, int ndim) {
  const loop_data *d = loop_data_of(op);
  if (d->n_sources > 0 || (d->reads_folds && d->n_axes >= ndim)) return false;
  if (loop_is_row_axis(d, 0) && loop_trailing(d, ndim) == 0) return false;
  for (int i = 0; i < d->n_in; i++) {
    if (d->of_rows[i]) return false;
  }
  return true;
}

damo_op *loop_op_inplace(const damo_op *op, const int *in) {
  const loop_data *d = loop_data_of(op);
  damo_ctx *ctx = op->obj.ctx;
  const size_t bytes = (size_t)d->n_out * sizeof(prop_value);
  prop_value *list = mem_alloc(ctx, bytes);
  if (list == NULL) return NULL;
  for (int o = 0; o < d->n_out; o++) list[o] = prop_int(in[o]);
  loop_props p = *OP_PROPS(op, loop_props);
  p.inplace = prop_list(list, d->n_out);
  damo_op *made = op_new(ctx, &loop_def, &p);
  mem_free(ctx, list, bytes);
  return made;
}

/* ---- As separate nodes ------------------------------------------------------------------------------------------- */

/* v, which lies in the space `from`, as an operand of a part in the space `to`. */
static damo_var *loop_align(build *b, const loop_data *d, damo_var *v, loop_space from, loop_space to) {
  int pattern[DAMO_MAX_NDIM], n = 0;
  if (v == NULL || (from == LOOP_ROWS) == (to == LOOP_ROWS)) return v;
  const int ndim = from == LOOP_ROWS ? var_ndim(v) + d->n_axes : var_ndim(v);
  for (int axis = 0; axis < ndim; axis++) {
    const bool of_row = loop_is_row_axis(d, axis);
    if (from == LOOP_ROWS)
      pattern[n++] = of_row ? -1 : loop_kept_before(d, axis);
    else if (!of_row)
      pattern[n++] = axis;
  }
  return build_dimshuffle(b, v, pattern, n);
}

/* The space in which part p reads operand i, and that of the register: inputs are aligned as they are. */
static loop_space loop_reads_in(const loop_part *p, int i) {
  if (loop_part_folds(p)) return LOOP_ELEMENTS;
  if (loop_part_picks(p)) return i == 0 ? LOOP_ELEMENTS : LOOP_ROWS;
  return loop_part_places(p) ? LOOP_ROWS : p->space;
}

static loop_space loop_operand_space(const loop_data *d, const loop_part *p, int i) {
  return p->in[i] < d->n_in ? loop_reads_in(p, i) : d->parts[p->in[i] - d->n_in].space;
}

/* The registers as Variables, over the node's inputs; owned memory. */
static damo_var **loop_registers(build *b, const damo_apply *node) {
  const loop_data *d = loop_data_of(node->op);
  damo_var **reg = mem_alloc(b->ctx, (size_t)(d->n_in + d->n_parts) * sizeof *reg);
  if (reg == NULL) return NULL;
  memcpy(reg, node->in, (size_t)d->n_in * sizeof *reg);
  for (int k = 0; k < d->n_sources; k++) { reg[d->sources[k].in[0]] = build_source(b, &d->sources[k], node->in); }
  for (int k = 0; k < d->n_parts; k++) {
    const loop_part *p = &d->parts[k];
    damo_var *in[LOOP_PART_MOST_IN];
    for (int i = 0; i < loop_arity(p); i++)
      in[i] = loop_align(b, d, reg[p->in[i]], loop_operand_space(d, p, i), loop_reads_in(p, i));
    reg[d->n_in + k] = build_op(b, damo_retain(p->op), in, loop_arity(p));
    if (b->status != DAMO_OK) break;
  }
  return reg;
}

static void loop_registers_free(build *b, const damo_apply *node, damo_var **reg) {
  const loop_data *d = loop_data_of(node->op);
  if (reg != NULL) mem_free(b->ctx, reg, (size_t)(d->n_in + d->n_parts) * sizeof *reg);
}

damo_status build_loop_parts(build *b, const damo_apply *node, damo_var **out) {
  const loop_data *d = loop_data_of(node->op);
  damo_var **reg = loop_registers(b, node);
  if (reg == NULL) return b->status = DAMO_EMEMORY;
  for (int o = 0; o < d->n_out && b->status == DAMO_OK; o++) out[o] = reg[d->outs[o]];
  loop_registers_free(b, node, reg);
  return b->status;
}

/* Reverse mode through the parts, last first. */
static damo_status loop_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const loop_data *d = loop_data_of(node->op);
  const size_t bytes = (size_t)(d->n_in + d->n_parts) * sizeof(damo_var *);
  damo_var **reg = loop_registers(b, node), **g = mem_calloc(b->ctx, bytes);
  if (reg == NULL || g == NULL) b->status = DAMO_EMEMORY;
  for (int o = 0; o < d->n_out && b->status == DAMO_OK; o++) g[d->outs[o]] = gout[o];
  for (int k = d->n_in + d->n_parts - 1; k >= d->n_in && b->status == DAMO_OK; k--) {
    damo_apply *part = reg[k]->owner;
    damo_var *part_gin[LOOP_PART_MOST_IN] = {NULL};
    if (g[k] == NULL || part->op->def->grad(b, part, &g[k], part_gin) != DAMO_OK) continue;
    for (int i = 0; i < part->n_in; i++) {
      const loop_part *p = &d->parts[k - d->n_in];
      damo_var **sum = &g[p->in[i]];
      part_gin[i] = loop_align(b, d, part_gin[i], loop_reads_in(p, i), loop_operand_space(d, p, i));
      *sum = build_add_present(b, *sum, part_gin[i]);
    }
  }
  for (int k = 0; k < d->n_sources && b->status == DAMO_OK; k++) {
    const loop_source *s = &d->sources[k];
    damo_var *elements = g[s->in[0]], *source_gin[LOOP_SOURCE_MOST_IN] = {NULL};
    damo_apply *source = reg[s->in[0]]->owner;
    g[s->in[0]] = NULL;
    if (elements == NULL || source->op->def->grad(b, source, &elements, source_gin) != DAMO_OK) continue;
    for (int i = 0; i < source->n_in; i++) g[s->in[i]] = source_gin[i];
  }
  for (int i = 0; i < d->n_in && b->status == DAMO_OK; i++) gin[i] = g[i];
  loop_registers_free(b, node, reg);
  if (g != NULL) mem_free(b->ctx, g, bytes);
  return b->status;
}

static damo_status loop_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const loop_data *d = loop_data_of(node->op);
  const size_t bytes = (size_t)(d->n_in + d->n_parts) * sizeof(damo_var *);
  damo_var **reg = loop_registers(b, node), **t = mem_calloc(b->ctx, bytes);
  if (reg == NULL || t == NULL) b->status = DAMO_EMEMORY;
  for (int i = 0; i < d->n_in && b->status == DAMO_OK; i++) t[i] = eval[i];
  for (int k = 0; k < d->n_sources && b->status == DAMO_OK; k++) {
    const int16_t *in = d->sources[k].in;
    damo_apply *source = reg[in[0]]->owner;
    damo_var *source_eval[LOOP_SOURCE_MOST_IN] = {t[in[0]]};
    t[in[0]] = NULL;
    if (source_eval[0] != NULL && source->op->def->rop != NULL) source->op->def->rop(b, source, source_eval, &t[in[0]]);
  }
  for (int k = 0; k < d->n_parts && b->status == DAMO_OK; k++) {
    const loop_part *p = &d->parts[k];
    damo_var *part_eval[LOOP_PART_MOST_IN];
    for (int i = 0; i < loop_arity(p); i++)
      part_eval[i] = loop_align(b, d, t[p->in[i]], loop_operand_space(d, p, i), loop_reads_in(p, i));
    damo_apply *part = reg[d->n_in + k]->owner;
    part->op->def->rop(b, part, part_eval, &t[d->n_in + k]);
  }
  for (int o = 0; o < d->n_out && b->status == DAMO_OK; o++) rout[o] = t[d->outs[o]];
  loop_registers_free(b, node, reg);
  if (t != NULL) mem_free(b->ctx, t, bytes);
  return b->status;
}

static const char *loop_library(const damo_apply *node, const damo_op **of) {
  const loop_data *d = loop_data_of(node->op);
  for (int k = 0; k < d->n_parts; k++) {
    const loop_part *p = &d->parts[k];
    if (p->op->def != &elemwise_def) continue;
    damo_dtype in[LOOP_PART_MOST_IN], loop, result;
    for (int i = 0; i < loop_arity(p); i++) {
      const int r = p->in[i];
      in[i] = r < d->n_in ? loop_input_dtype(d, node->in, r) : d->parts[r - d->n_in].dtype;
    }
    if (elemwise_dtypes(p->op, in, p->dtype, &loop, &result) != DAMO_OK) continue; /* making the thunk fails */
    *of = p->op;
    const char *library = elemwise_library(node->obj.ctx, elemwise_data_of(p->op), loop);
    if (library != NULL) return library;
  }
  return NULL;
}

const op_def loop_def = {
    .name = "Loop",
    .doc = "elementwise Ops over one iteration space, in one pass over memory",
    .props = PROPS(PROP(loop_props, n_in), PROP(loop_props, axes), PROP(loop_props, parts), PROP(loop_props, outs),
                   PROP(loop_props, rows), PROP(loop_props, inplace), PROP(loop_props, sources)),
    .n_in = OP_VARIADIC,
    .least_in = OP_NO_INPUT,
    .n_out = OP_VARIADIC,
    .data_size = sizeof(loop_data),
    .init = loop_init,
    .clear = loop_clear,
    .count_out = loop_count,
    .infer_type = loop_infer_type,
    .perform = loop_perform,
    .perform_at = loop_perform_at,
    .perform_again = loop_perform_again,
    .library_of = loop_library,
    .emit_c = loop_emit_c,
    .state_size = sizeof(loop_state),
    .state_clear = loop_state_clear,
    .grad = loop_grad,
    .rop = loop_rop,
    .infer_shape = loop_infer_shape,
    .format = loop_format,
    .no_check = "its parts: spec/op/loop_spec.lua compares random Loops with them, to the bit",
};

const op_def *const loop_classes[] = {&loop_def, NULL};
