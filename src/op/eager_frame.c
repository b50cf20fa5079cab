/* eager_frame: the graph of an eager call, kept ready to run.
 *
 * In: a call that has succeeded, and then calls with the same key. Out: their results. The graph stands over Variables
 * of the operands' Types instead of their values; each node has a thunk_alone, all over the frame's cells. Between
 * calls a frame keeps constants, the arrays of small intermediate values and 0-d results, and the thunks' states.
 */
#include "eager_int.h"

#include <stdio.h>
#include <string.h>

#define MAX_NODES 64                   /* of a graph that is kept */
#define MAX_CONSTANT ((size_t)1 << 10) /* bytes of a constant */
#define NODE_BYTES ((size_t)2 << 10)   /* an estimate of a node with its thunk and state */
#define KEPT_RESULT ((size_t)16 << 10) /* bytes of an array that stays in its cell */

/* ---- Results ----------------------------------------------------------------------------------------------------- */

damo_status eager_results_alloc(damo_ctx *ctx, eager_results *r, int64_t n) {
  memset(r->few, 0, sizeof r->few);
  r->n = n;
  r->at = r->few;
  if (n > EAGER_FEW) r->at = mem_calloc(ctx, (size_t)n * sizeof *r->at);
  return r->at != NULL ? DAMO_OK : DAMO_EMEMORY;
}

void eager_results_free(damo_ctx *ctx, eager_results *r) {
  if (r->at != r->few) mem_free(ctx, r->at, (size_t)r->n * sizeof *r->at);
  r->at = NULL;
}

/* "the result", "result 2": of n. */
static const char *result_name(char *dst, size_t size, const char *what, int64_t i, int64_t n) {
  if (n == 1) {
    snprintf(dst, size, "%s%s", what[0] == 'r' ? "the " : "", what);
  } else {
    snprintf(dst, size, "%s %d", what, (int)i + 1);
  }
  return dst;
}

/* Whether value i may be written into its array. */
static damo_status check_target(damo_ctx *ctx, const eager_request *q, int64_t i, int64_t n, const damo_obj *value) {
  const damo_array *out = q->out[i], *a = (const damo_array *)value;
  if (q->f->is_draw && q->out[0] == NULL) n = 1; /* a script gives the array of the draw alone */
  char names[2][32], shapes[2][256];
  result_name(names[0], sizeof names[0], "result", i, n);
  result_name(names[1], sizeof names[1], "out", i, n);
  if (value->kind != OBJ_ARRAY)
    return ctx_fail(ctx, DAMO_ETYPE, "%s: out takes dense results, %s is sparse", q->f->name, names[0]);
  if (array_dtype(out) == array_dtype(a) && array_same_shape(out, a)) return DAMO_OK;
  shape_format(shapes[0], sizeof shapes[0], a->ndim, array_shape(a));
  shape_format(shapes[1], sizeof shapes[1], out->ndim, array_shape(out));
  return ctx_fail(ctx, array_dtype(out) != array_dtype(a) ? DAMO_ETYPE : DAMO_ESHAPE, "%s: %s is %s %s, %s is %s %s",
                  q->f->name, names[0], dtype_name(array_dtype(a)), shapes[0], names[1], dtype_name(array_dtype(out)),
                  shapes[1]);
}

static damo_status check_count(damo_ctx *ctx, const eager_request *q, int64_t n) {
  if (q->n_out == n) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ETYPE, "%s: out has %d Array%s, the results are %lld", q->f->name, q->n_out,
                  q->n_out == 1 ? "" : "s", (long long)n);
}

static damo_status give_all(damo_ctx *ctx, const eager_request *q, eager_results *r) {
  DAMO_TRY(check_count(ctx, q, r->n));
  for (int64_t i = 0; i < r->n; i++) {
    if (q->out[i] != NULL && r->at[i] != &q->out[i]->obj) DAMO_TRY(check_target(ctx, q, i, r->n, r->at[i]));
  }
  for (int64_t i = 0; i < r->n; i++) {
    damo_obj *value = r->at[i];
    if (q->out[i] == NULL || value == &q->out[i]->obj) continue;
    DAMO_TRY(array_assign(q->out[i], (damo_array *)value));
    r->at[i] = damo_retain(q->out[i]);
    damo_release(value);
  }
  return DAMO_OK;
}

damo_status eager_give(damo_ctx *ctx, const eager_request *q, eager_results *r) {
  damo_status s = give_all(ctx, q, r);
  for (int64_t i = 0; s != DAMO_OK && i < r->n; i++) {
    damo_release(r->at[i]);
    r->at[i] = NULL;
  }
  return s;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* A graph being made into a frame. */
typedef struct making {
  build b;
  const eager_key *key;
  const eager_request *q;
  damo_var *in[EAGER_KEY_WORDS]; /* NULL: absent */
  ptrvec outputs, nodes;
  map place; /* damo_var* → its cell's number + 1 */
  int32_t n_cells;
} making;

static damo_type *operand_type(const eager_key *k, const damo_array *a) {
  int64_t shape[DAMO_MAX_NDIM];
  for (int i = 0; i < a->ndim; i++) shape[i] = k->elementwise && array_shape(a)[i] != 1 ? -1 : array_shape(a)[i];
  return type_tensor(a->obj.ctx, array_dtype(a), a->ndim, shape);
}

damo_var *eager_key_operand(build *b, const eager_key *k, const eager_operand *x) {
  if (x->value != NULL) {
    damo_type *t = operand_type(k, (const damo_array *)x->value);
    damo_var *v = t != NULL ? var_new(b->ctx, t, NULL) : NULL;
    damo_release(t);
    return build_take(b, v);
  }
  damo_array *a = array_from_scalar(b->ctx, x->literal);
  damo_var *v = a != NULL ? var_constant(b->ctx, NULL, &a->obj) : NULL;
  damo_release(a);
  if (v != NULL) v->weak = true;
  return build_take(b, v);
}

static damo_status make_graph(making *m) {
  damo_ctx *ctx = m->b.ctx;
  for (int i = 0; i < m->q->n_in; i++) {
    m->in[i] = m->q->in[i].absent ? NULL : eager_key_operand(&m->b, m->key, &m->q->in[i]);
  }
  DAMO_TRY(m->b.status);
  DAMO_TRY(func_call(&m->b, m->q->f, m->in, m->q->n_in, m->q->options, &m->outputs));
  return graph_toposort(ctx, (damo_var *const *)m->outputs.at, m->outputs.n, NULL, 0, &m->nodes);
}

/* Whether the graph gives results of the same kind as the call that it was made for, and all its nodes can be kept. */
static bool graph_is_kept(const making *m, const eager_results *r) {
  if (m->outputs.n != r->n || r->n == 0 || r->n > EAGER_FEW || m->nodes.n > MAX_NODES) return false;
  for (int64_t i = 0; i < r->n; i++) {
    const damo_var *v = m->outputs.at[i];
    const damo_array *a = (const damo_array *)r->at[i];
    if (!type_is_tensor(v->type) || a->obj.kind != OBJ_ARRAY) return false;
    if (var_dtype(v) != array_dtype(a) || var_ndim(v) != a->ndim) return false;
  }
  for (int64_t k = 0; k < m->nodes.n; k++) {
    const damo_apply *node = m->nodes.at[k];
    const op_def *def = node->op->def;
    if (def->lazy || (def->state_clear != NULL && def != &elemwise_def) || node->op->destroy_map != NULL) return false;
    for (int i = 0; i < node->n_out; i++) {
      if (!type_is_tensor(node->out[i]->type)) return false;
    }
  }
  return true;
}

/* In an elementwise function's frame a literal's value changes between calls: there it must be an input of the only
 * node, in the place of its operand. */
static bool literals_are_inputs(const making *m) {
  bool any = false;
  for (int i = 0; i < m->q->n_in; i++) any = any || m->q->in[i].value == NULL;
  if (!m->key->elementwise || !any) return true;
  const damo_apply *node = m->nodes.n == 1 ? m->nodes.at[0] : NULL;
  return node != NULL && node->op->def == &elemwise_def && node->n_in == m->q->n_in;
}

static damo_status eager_place_leaf(making *m, const damo_var *v) {
  if (map_get(&m->place, v, NULL)) return DAMO_OK;
  const damo_array *a = var_constant_array(v);
  if (a == NULL || (size_t)array_size(a) * dtype_size(array_dtype(a)) > MAX_CONSTANT)
    return ctx_fail(m->b.ctx, DAMO_ESTATE, "a constant of this graph is not kept");
  return map_put(&m->place, v, (uintptr_t)++m->n_cells);
}

/* Numbers the cells: the operands' first, then constants and results of nodes. */
static damo_status place_all(making *m) {
  m->n_cells = m->q->n_in;
  for (int i = 0; i < m->q->n_in; i++) {
    const bool variable = m->q->in[i].value != NULL;
    if (variable) DAMO_TRY(map_put(&m->place, m->in[i], (uintptr_t)(i + 1)));
    if (variable || !m->key->elementwise) continue;
    const damo_apply *node = m->nodes.at[0];
    DAMO_TRY(map_put(&m->place, node->in[i], (uintptr_t)(i + 1)));
  }
  for (int64_t k = 0; k < m->nodes.n; k++) {
    const damo_apply *node = m->nodes.at[k];
    for (int i = 0; i < node->n_in; i++) DAMO_TRY(eager_place_leaf(m, node->in[i]));
    for (int i = 0; i < node->n_out; i++) DAMO_TRY(map_put(&m->place, node->out[i], (uintptr_t)++m->n_cells));
  }
  for (int64_t i = 0; i < m->outputs.n; i++) DAMO_TRY(eager_place_leaf(m, m->outputs.at[i]));
  return DAMO_OK;
}

static int32_t eager_place_of(const making *m, const damo_var *v) {
  uintptr_t at = 0;
  map_get(&m->place, v, &at);
  return (int32_t)at - 1;
}

/* One allocation for the frame, its key and its lists; NULL: no memory. */
static eager_frame *eager_frame_alloc(damo_ctx *ctx, const eager_key *k, int n_out, int n_nodes, int n_cells) {
  const size_t words = (size_t)k->n * sizeof(uint64_t), cells = (size_t)n_cells * sizeof(cell),
               thunks = (size_t)n_nodes * sizeof(thunk_alone *), outs = (size_t)n_out * sizeof(int32_t),
               size = sizeof(eager_frame) + words + cells + thunks + outs + (size_t)n_cells;
  eager_frame *f = mem_calloc(ctx, size);
  if (f == NULL) return NULL;
  char *at = (char *)(f + 1);
  f->hash = k->hash;
  f->size = f->bytes = size;
  f->words = (uint64_t *)(void *)at;
  f->cells = (cell *)(void *)(at + words);
  f->thunks = (thunk_alone **)(void *)(at + words + cells);
  f->out = (int32_t *)(void *)(at + words + cells + thunks);
  f->kinds = (uint8_t *)(at + words + cells + thunks + outs);
  f->n_words = k->n;
  f->n_out = n_out;
  f->n_cells = n_cells;
  f->elementwise = k->elementwise;
  memcpy(f->words, k->words, words);
  return f;
}

eager_frame *eager_frame_none(damo_ctx *ctx, const eager_key *k) { return eager_frame_alloc(ctx, k, 0, 0, 0); }

static damo_status frame_add_thunk(const making *m, eager_frame *f, damo_apply *node) {
  int32_t few[16], *slots = few;
  const int n = node->n_in + node->n_out;
  const size_t bytes = (size_t)n * sizeof *slots;
  if (n > (int)(sizeof few / sizeof *few) && (slots = mem_alloc(m->b.ctx, bytes)) == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < node->n_in; i++) slots[i] = eager_place_of(m, node->in[i]);
  for (int i = 0; i < node->n_out; i++) {
    slots[node->n_in + i] = eager_place_of(m, node->out[i]);
    f->kinds[slots[node->n_in + i]] = CELL_RESULT;
  }
  thunk_alone *a = thunk_alone_new(m->b.ctx, node, f->cells, slots, NULL);
  if (slots != few) mem_free(m->b.ctx, slots, bytes);
  if (a == NULL) return damo_error_status(m->b.ctx);
  f->thunks[f->n_nodes++] = a;
  f->bytes += NODE_BYTES;
  return DAMO_OK;
}

/* Puts a constant into its cell; of a literal operand a copy, which calls write. */
static damo_status frame_add_constant(const making *m, eager_frame *f, const damo_var *v) {
  const int32_t at = eager_place_of(m, v);
  if (v->kind != VAR_CONSTANT || f->cells[at] != NULL) return DAMO_OK;
  const bool literal = at < f->n_in;
  f->kinds[at] = literal ? CELL_LITERAL : CELL_CONSTANT;
  f->cells[at] = literal ? (damo_obj *)array_copy((const damo_array *)v->value) : damo_retain(v->value);
  f->bytes += MAX_CONSTANT / 4;
  return f->cells[at] != NULL ? DAMO_OK : damo_error_status(m->b.ctx);
}

static damo_status frame_fill(const making *m, eager_frame *f) {
  f->n_in = m->q->n_in;
  for (int i = 0; i < f->n_in; i++) f->kinds[i] = CELL_OPERAND;
  for (int64_t k = 0; k < m->nodes.n; k++) {
    damo_apply *node = m->nodes.at[k];
    for (int i = 0; i < node->n_in; i++) DAMO_TRY(frame_add_constant(m, f, node->in[i]));
    DAMO_TRY(frame_add_thunk(m, f, node));
  }
  for (int64_t i = 0; i < m->outputs.n; i++) {
    const damo_var *v = m->outputs.at[i];
    DAMO_TRY(frame_add_constant(m, f, v));
    f->out[i] = eager_place_of(m, v);
    f->is_view = f->is_view || eager_is_view(m->q, m->in, v);
  }
  f->direct = m->outputs.n == 1 && !f->is_view && ((damo_var *)m->outputs.at[0])->owner != NULL;
  return DAMO_OK;
}

static eager_frame *frame_of_graph(making *m, const eager_results *r) {
  damo_ctx *ctx = m->b.ctx;
  if (make_graph(m) != DAMO_OK) return NULL;
  if (!graph_is_kept(m, r) || !literals_are_inputs(m)) return NULL;
  if (place_all(m) != DAMO_OK) return NULL;
  eager_frame *f = eager_frame_alloc(ctx, m->key, (int)m->outputs.n, (int)m->nodes.n, m->n_cells);
  if (f == NULL || frame_fill(m, f) == DAMO_OK) return f;
  eager_frame_free(ctx, f);
  return NULL;
}

eager_frame *eager_frame_new(damo_ctx *ctx, const eager_key *k, const eager_request *q, const eager_results *r) {
  making m = {.key = k, .q = q};
  build_init(&m.b, ctx);
  ptrvec_init(&m.outputs, ctx);
  ptrvec_init(&m.nodes, ctx);
  map_init(&m.place, ctx);
  eager_frame *f = frame_of_graph(&m, r);
  map_clear(&m.place);
  ptrvec_clear(&m.nodes);
  ptrvec_clear(&m.outputs);
  build_end(&m.b);
  return f;
}

void eager_frame_free(damo_ctx *ctx, eager_frame *f) {
  for (int32_t i = 0; i < f->n_nodes; i++) thunk_alone_free(f->thunks[i]);
  for (int32_t i = 0; i < f->n_cells; i++) damo_release(f->cells[i]);
  mem_free(ctx, f, f->size);
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static bool same_layout(const damo_array *a, const damo_array *b) {
  return a->data == b->data && a->dtype == b->dtype && a->ndim == b->ndim &&
         memcmp(a->dims, b->dims, 2 * (size_t)a->ndim * sizeof *a->dims) == 0;
}

/* Whether the last node may write its result into the caller's array while it reads the operands: where they share no
 * memory, or an elementwise node reads each element before it writes it. */
static bool writes_directly(const eager_frame *f, const eager_request *q) {
  if (q->n_out != 1 || q->out[0] == NULL || !f->direct) return false;
  for (int32_t i = 0; i < f->n_in; i++) {
    const damo_array *a = (const damo_array *)q->in[i].value;
    if (a == NULL || (f->elementwise && f->n_nodes == 1 && same_layout(a, q->out[0]))) continue;
    if (array_may_overlap(a, q->out[0])) return false;
  }
  return true;
}

static void write_literal(damo_array *a, scalar x) {
  if (array_dtype(a) == DAMO_FLOAT64) {
    *(double *)(void *)a->data = scalar_to_double(x);
  } else {
    array_set(a, NULL, scalar_cast(x, array_dtype(a)));
  }
}

static void frame_take_operands(eager_frame *f, const eager_request *q) {
  for (int32_t i = 0; i < f->n_in; i++) {
    if (f->kinds[i] == CELL_OPERAND) f->cells[i] = q->in[i].value;
    if (f->kinds[i] == CELL_LITERAL) write_literal((damo_array *)f->cells[i], q->in[i].literal);
  }
}

static damo_status frame_run_thunks(const damo_ctx *ctx, const eager_frame *f) {
  damo_status s = DAMO_OK;
  const rounding host = rounding_enter(false);
  for (int32_t i = 0; i < f->n_nodes && s == DAMO_OK; i++) {
    s = thunk_run(&f->thunks[i]->t, &f->thunks[i]->f);
    if (s == DAMO_OK) s = ctx->stop;
  }
  rounding_leave(host);
  return s;
}

/* Empties the cell of a node's result, but for an array that the next call can write again and no more than that. */
static size_t cell_settle(cell *c) {
  damo_array *a = (damo_array *)*c;
  if (a == NULL) return 0;
  if (a->obj.refs == 1 && a->buf != NULL && a->buf->obj.refs > 1) {
    array_detach(a); /* a view of an operand */
    return sizeof *a;
  }
  const bool own = a->buf == NULL || a->buf->obj.refs == 1;
  const size_t bytes = a->buf != NULL ? a->buf->block_size : 0;
  if (own && (a->obj.refs == 1 || a->ndim == 0) && bytes <= KEPT_RESULT) return sizeof *a + bytes;
  *c = NULL;
  damo_release(a);
  return 0;
}

/* Takes the operands out of the cells, and what else is not kept; sets the bytes of what is. */
static void frame_settle(eager_frame *f) {
  size_t kept = f->size + (size_t)f->n_nodes * NODE_BYTES;
  for (int32_t i = 0; i < f->n_cells; i++) {
    if (f->kinds[i] == CELL_OPERAND) f->cells[i] = NULL;
    if (f->kinds[i] == CELL_RESULT) kept += cell_settle(&f->cells[i]);
    if (f->kinds[i] == CELL_LITERAL || f->kinds[i] == CELL_CONSTANT) kept += MAX_CONSTANT / 4;
  }
  for (int32_t i = 0; i < f->n_nodes; i++) kept += f->thunks[i]->local.scratch_size;
  f->bytes = kept;
}

/* The results, retained. An array that is given away leaves its cell; that of a 0-d result stays, since scripts read
 * the number alone. */
static void frame_take_results(eager_frame *f, eager_results *r) {
  for (int32_t j = 0; j < f->n_out; j++) r->at[j] = damo_retain(f->cells[f->out[j]]);
}

static void frame_give_away(eager_frame *f) {
  for (int32_t j = 0; j < f->n_out; j++) {
    cell *c = &f->cells[f->out[j]];
    const damo_array *a = (const damo_array *)*c;
    if (f->kinds[f->out[j]] != CELL_RESULT || a == NULL || a->ndim == 0) continue;
    damo_release(*c);
    *c = NULL;
  }
}

/* The caller's array in the cell of the only result. */
static damo_status frame_lend_out(eager_frame *f, damo_array *out, bool lend) {
  thunk_alone *last = f->thunks[f->n_nodes - 1];
  cell *c = &f->cells[f->out[0]];
  const int i = f->out[0] - last->t.out[0];
  if (lend) {
    DAMO_TRY(thunk_fix_out(&last->t, &last->f, i, true));
    damo_release(*c);
    *c = damo_retain(out);
    return DAMO_OK;
  }
  thunk_fix_out(&last->t, &last->f, i, false);
  return DAMO_OK;
}

damo_status eager_frame_run(damo_ctx *ctx, eager_frame *f, const eager_request *q, eager_results *r) {
  if (q->n_out > 0 && f->is_view) return ctx_fail(ctx, DAMO_ETYPE, "%s: the result is a view", q->f->name);
  const bool direct = writes_directly(f, q);
  DAMO_TRY(eager_results_alloc(ctx, r, f->n_out));
  if (direct) DAMO_TRY(frame_lend_out(f, q->out[0], true));
  f->busy = true;
  frame_take_operands(f, q);
  damo_status s = frame_run_thunks(ctx, f);
  if (s == DAMO_OK) frame_take_results(f, r);
  if (s == DAMO_OK && q->n_out > 0) s = eager_give(ctx, q, r);
  if (direct) frame_lend_out(f, NULL, false);
  if (direct || q->n_out == 0) frame_give_away(f);
  frame_settle(f);
  f->busy = false;
  return s;
}
