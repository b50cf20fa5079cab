/* scan_results.c: the results of a Scan: what is kept of a step, and what a loop gives at its end.
 *
 * The rows of a stacked result are put into it step by step. While the number of steps is unknown they go into an array
 * that grows, and are copied in the end. After no step the shape of a row follows from the Types, the initial values, or
 * a Function over the inner graph that computes shapes alone.
 */
#include <stdio.h>
#include <string.h>

#include "scan_frame.h"

/* ---- What is kept of a step -------------------------------------------------------------------------------------- */

static const char *output_name(char *dst, size_t n, const scan_part *p) {
  if (p->number > 0) {
    snprintf(dst, n, "output %d", p->number);
  } else {
    snprintf(dst, n, "an inner output");
  }
  return dst;
}

/* Rows below this size are copied: that costs less than to place a view. */
#define LEAST_ROW ((size_t)4096)

int64_t scan_stack_row(const scan_class *s, const scan_part *p, const scan_rows *r, int64_t k, int64_t n) {
  if (s->until) return p->tail > 0 ? k % r->cap : k;
  const int64_t row = s->flipped ? n - 1 - k : k;
  return p->tail > 0 ? row - (n - r->cap) : row;
}

/* Whether steps can write the values of part p straight into rows. A state that is written in place can't be: it stays
 * in its memory. */
static bool writes_rows(const scan_class *s, const scan_frame *w, const scan_part *p) {
  if (!w->direct || (s->until && p->tail > 0) || (p->role == SCAN_COLLECT && p->last >= 0)) return false;
  const fn_program *program = w->inner->program;
  const fn_output *out = &program->outputs[p->out];
  if (out->copy || out->twice || out->maker == NULL || out->n_along > 0 || !type_is_tensor(out->type)) return false;
  for (int k = p->first; k < p->first + p->n; k++) {
    if (program->inputs[k].destroyed) return false;
  }
  return true;
}

/* Makes space for the rows of part p, whose values look like v, for `n` steps (n known), or for more as they come. */
static damo_status stack_begin(const thunk *t, frame *f, const scan_class *s, scan_frame *w, const scan_part *p,
                               int ndim, const int64_t *row, damo_dtype dtype, int64_t n) {
  int64_t shape[DAMO_MAX_NDIM];
  scan_rows *r = &w->rows[p - s->part];
  memcpy(shape + 1, row, (size_t)ndim * sizeof *row);
  r->own = s->until;
  r->cap = p->tail > 0 && n > p->tail ? p->tail : n;
  if (s->until && r->cap > 16 && p->tail <= 0) r->cap = 16;
  shape[0] = r->cap;
  if (r->own) {
    r->a = array_empty(f->ctx, dtype, ndim + 1, shape);
  } else {
    r->a = thunk_out(t, f, p->stack, dtype, ndim + 1, shape);
  }
  if (r->a == NULL) return DAMO_EMEMORY;
  r->row_bytes = dtype_size(dtype);
  for (int k = 0; k < ndim; k++) r->row_bytes *= (size_t)row[k];
  r->direct = r->row_bytes >= LEAST_ROW && writes_rows(s, w, p);
  return DAMO_OK;
}

static damo_status stack_grow(frame *f, scan_rows *r) {
  int64_t shape[DAMO_MAX_NDIM];
  memcpy(shape, array_shape(r->a), (size_t)r->a->ndim * sizeof *shape);
  shape[0] = 2 * r->cap;
  damo_array *more = array_empty(f->ctx, array_dtype(r->a), r->a->ndim, shape);
  if (more == NULL) return DAMO_EMEMORY;
  memcpy(more->data, r->a->data, (size_t)r->cap * r->row_bytes);
  damo_release(r->a);
  r->a = more;
  r->cap *= 2;
  return DAMO_OK;
}

static damo_status refuse_shape(const thunk *t, frame *f, const scan_class *s, const scan_part *p, const damo_array *v,
                                const damo_array *rows, int64_t k) {
  char name[200], what[40], now[160], before[160];
  (void)t;
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: %s has shape %s in step %lld, and %s before",
                  scan_loop_name(name, sizeof name, s), output_name(what, sizeof what, p),
                  shape_format(now, sizeof now, v->ndim, array_shape(v)), (long long)k + 1,
                  shape_format(before, sizeof before, v->ndim, array_shape(rows) + 1));
}

static damo_status stack_put(const thunk *t, frame *f, const scan_class *s, scan_frame *w, const scan_part *p,
                             int64_t k, int64_t n) {
  const damo_array *v = (damo_array *)w->fresh[p->out];
  scan_rows *r = &w->rows[p - s->part];
  if (r->a == NULL) DAMO_TRY(stack_begin(t, f, s, w, p, v->ndim, array_shape(v), array_dtype(v), n));
  bool same = r->a->ndim == v->ndim + 1;
  for (int d = 0; same && d < v->ndim; d++) same = array_shape(v)[d] == array_shape(r->a)[d + 1];
  if (!same) return refuse_shape(t, f, s, p, v, r->a, k);
  if (s->until && p->tail <= 0 && k >= r->cap) DAMO_TRY(stack_grow(f, r));
  const int64_t row = scan_stack_row(s, p, r, k, n);
  if (row < 0) return DAMO_OK;
  char *to = r->a->data + (size_t)row * r->row_bytes;
  if (v->data == to && v->buf == r->a->buf) { /* it is the row, which no step may write over */
    ((damo_array *)w->fresh[p->out])->writeable = false;
    return DAMO_OK;
  }
  if (array_is_contiguous(v)) {
    memcpy(to, v->data, r->row_bytes);
    return DAMO_OK;
  }
  damo_array *at = array_view(r->a, v->ndim, array_shape(v), array_strides(r->a) + 1, to - r->a->data);
  if (at == NULL) return DAMO_EMEMORY;
  const damo_status status = array_assign(at, v);
  damo_release(at);
  return status;
}

void scan_turn_rings(const scan_class *s, scan_frame *w) {
  for (int i = 0; i < s->n_state; i++) {
    const scan_part *p = scan_state_at(s, i);
    damo_obj **ring = w->ring + w->ring_at[i];
    damo_obj *oldest = ring[p->span - 1];
    memmove(ring + 1, ring, (size_t)(p->span - 1) * sizeof *ring);
    ring[0] = w->fresh[p->out];
    w->fresh[p->out] = NULL;
    scan_drop(&w->spare[p->out]);
    w->spare[p->out] = oldest;
  }
}

damo_status scan_keep(const thunk *t, frame *f, const scan_class *s, scan_frame *w, int64_t k, int64_t n, bool *stop) {
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    if (p->stack >= 0) DAMO_TRY(stack_put(t, f, s, w, p, k, n));
  }
  for (int i = 0; i < s->n_collect; i++) {
    const scan_part *p = scan_collect_at(s, i);
    if (p->last >= 0) thunk_set_out(t, f, p->last, damo_retain(w->fresh[p->out]));
  }
  if (s->until) {
    const damo_array *cond = (damo_array *)w->fresh[s->fgraph->outputs.n - 1];
    *stop = scalar_to_double(array_item(cond)) != 0;
  }
  scan_turn_rings(s, w);
  for (int64_t o = 0; o < s->fgraph->outputs.n; o++) {
    if (w->fresh[o] == NULL) continue;
    scan_drop(&w->spare[o]);
    w->spare[o] = w->fresh[o];
    w->fresh[o] = NULL;
  }
  return DAMO_OK;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* The Function that gives the shapes of the collected values, from a step's inputs, borrowed. Rewriting leaves of the
 * inner graph what shapes depend on. */
static damo_function *shapes_function(scan_class *s) {
  damo_ctx *ctx = s->obj.ctx;
  if (s->shapes != NULL) return s->shapes;
  const size_t n_in = (size_t)s->n_in * sizeof(in_spec), n_out = (size_t)s->n_collect * sizeof(out_spec);
  build b;
  build_init(&b, ctx);
  in_spec *in = mem_calloc(ctx, n_in);
  out_spec *out = in != NULL ? mem_calloc(ctx, n_out) : NULL;
  for (int i = 0; out != NULL && i < s->n_in; i++) in[i].var = scan_inner_in(s, i);
  for (int i = 0; out != NULL && i < s->n_collect; i++) {
    damo_var *v = scan_inner_out(s, scan_collect_at(s, i)->out);
    out[i].var = type_is_tensor(v->type) ? build_shape(&b, v) : build_scalar(&b, DAMO_INT64, 0);
  }
  const compile_options options = {.name = s->def.name, .on_unused_input = UNUSED_IGNORE, .no_default_updates = true};
  if (out != NULL && b.status == DAMO_OK) s->shapes = compile_function(ctx, in, s->n_in, out, s->n_collect, &options);
  if (out != NULL) mem_free(ctx, out, n_out);
  if (in != NULL) mem_free(ctx, in, n_in);
  build_end(&b);
  return s->shapes;
}

/* Puts zeros for the rows of sequences that there are not. */
static damo_status no_rows(const thunk *t, frame *f, const scan_class *s, scan_frame *w) {
  for (int i = 0; i < scan_n_read(s, w); i++) {
    const scan_part *p = &s->part[i];
    const damo_array *a = thunk_in(t, f, scan_operand(s, w, p));
    for (int k = p->first; k < p->first + p->n; k++) {
      damo_array *row = array_empty(f->ctx, array_dtype(a), a->ndim - 1, array_shape(a) + 1);
      if (row == NULL || array_fill(row, (scalar){.dtype = DAMO_INT64}) != DAMO_OK) {
        damo_release(row);
        return DAMO_EMEMORY;
      }
      damo_release(w->views[k]);
      w->views[k] = row;
      w->args[k] = &row->obj;
    }
  }
  return DAMO_OK;
}

/* The class whose shapes_function runs in that frame, borrowed: s, or a copy of it. NULL on failure. */
static scan_class *shaper_in(frame *f, scan_class *s, scan_frame *w) {
  if (f->ctx == s->obj.ctx) return s;
  if (w->shaper != NULL) return w->shaper;
  graph_copier c;
  copier_init(&c, f->ctx);
  w->shaper = scan_class_copy_to(&c, s);
  copier_clear(&c);
  return w->shaper;
}

/* Sets row to the shape that the collected value p would have. Where that can't be told without a step, row stays. */
static damo_status shape_of_none(const thunk *t, frame *f, scan_class *s, scan_frame *w, const scan_part *p,
                                 int64_t *row) {
  if (f->ctx != s->obj.ctx && !s->obj.ctx->frozen) return DAMO_OK; /* another thread may use the class */
  scan_class *own = shaper_in(f, s, w);
  damo_function *g = own != NULL ? shapes_function(own) : NULL;
  if (g == NULL) return damo_error_status(f->ctx);
  DAMO_TRY(no_rows(t, f, s, w));
  scan_set_args(t, f, s, w);
  damo_status status = function_run(g, w->args, s->n_in, NULL);
  if (status == DAMO_OK) {
    const damo_array *shape = (damo_array *)function_peek(g, p - scan_collect_at(s, 0));
    for (int64_t d = 0; d < array_shape(shape)[0]; d++) row[d] = scalar_to_int64(array_get(shape, &d));
    function_finish(g);
  } else if (status != DAMO_EMEMORY) {
    ctx_clear_error(f->ctx);
    status = DAMO_OK;
  }
  return status;
}

/* A stacked result after no step. Lengths that can't be known are 0. */
static damo_status give_empty(const thunk *t, frame *f, scan_class *s, scan_frame *w, const scan_part *p) {
  int64_t row[DAMO_MAX_NDIM];
  const damo_type *type = t->node->out[p->stack]->type;
  const int ndim = type->ndim - 1;
  for (int d = 0; d < ndim; d++) row[d] = type->shape[d + 1] >= 0 ? type->shape[d + 1] : 0;
  if (p->role == SCAN_STATE && scan_inner_in(s, p->first)->type->kind == TYPE_TENSOR) {
    const damo_array *v = (damo_array *)w->ring[w->ring_at[p - scan_state_at(s, 0)]];
    memcpy(row, array_shape(v), (size_t)ndim * sizeof *row);
  }
  bool unknown = false;
  for (int d = 0; p->role == SCAN_COLLECT && d < ndim; d++) unknown = unknown || type->shape[d + 1] < 0;
  if (unknown) DAMO_TRY(shape_of_none(t, f, s, w, p, row));
  return stack_begin(t, f, s, w, p, ndim, row, type->dtype, 0);
}

/* Copies the n rows that were kept while their number was unknown into the result. */
static damo_status give_grown(const thunk *t, frame *f, const scan_part *p, scan_rows *r, int64_t n) {
  int64_t shape[DAMO_MAX_NDIM];
  memcpy(shape, array_shape(r->a), (size_t)r->a->ndim * sizeof *shape);
  const int64_t kept = n < r->cap ? n : r->cap, first = p->tail > 0 && n > r->cap ? n % r->cap : 0;
  shape[0] = kept;
  damo_array *out = thunk_out(t, f, p->stack, array_dtype(r->a), r->a->ndim, shape);
  if (out == NULL) return DAMO_EMEMORY;
  memcpy(out->data, r->a->data + (size_t)first * r->row_bytes, (size_t)(kept - first) * r->row_bytes);
  memcpy(out->data + (size_t)(kept - first) * r->row_bytes, r->a->data, (size_t)first * r->row_bytes);
  return DAMO_OK;
}

static damo_status give_last(const thunk *t, frame *f, const scan_class *s, scan_frame *w, const scan_part *p) {
  if (p->role == SCAN_COLLECT) {
    if (thunk_result(t, f, p->last) != NULL) return DAMO_OK;
    char what[40];
    return ctx_fail(f->ctx, DAMO_EVALUE, "%s: %s has no last value after no step", s->def.name,
                    output_name(what, sizeof what, p));
  }
  damo_obj *v = w->ring[w->ring_at[p - scan_state_at(s, 0)]];
  const damo_array *a = value_array(v);
  const bool ours = v->kind != OBJ_ARRAY || (a->writeable && a->obj.refs == 1);
  damo_obj *give = ours ? damo_retain(v) : value_copy(v);
  if (give == NULL) return DAMO_EMEMORY;
  thunk_set_out(t, f, p->last, give);
  return DAMO_OK;
}

damo_status scan_give(const thunk *t, frame *f, scan_class *s, scan_frame *w, int64_t n) {
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    scan_rows *r = &w->rows[i];
    if (p->stack >= 0) {
      if (r->a == NULL) DAMO_TRY(give_empty(t, f, s, w, p));
      if (r->own) DAMO_TRY(give_grown(t, f, p, r, n));
    }
    if (p->last >= 0) DAMO_TRY(give_last(t, f, s, w, p));
  }
  if (!s->until) return DAMO_OK;
  damo_array *steps = thunk_out(t, f, s->n_out - 1, DAMO_INT64, 0, NULL);
  if (steps == NULL) return DAMO_EMEMORY;
  array_set(steps, NULL, (scalar){.dtype = DAMO_INT64, .v.i = n});
  return DAMO_OK;
}
