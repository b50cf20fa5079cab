/* dot_loop: the Op class DotLoop: a product of matrices with a Loop as its epilogue, such as a bias, an activation, a
 * residual or the mask of a gradient.
 *
 * Properties: `product`, the Op of the product (Dot, Matmul, Gemm); `loop`, a Loop; `at`, the 0-based input of the Loop
 * that the product's result is; `types`, the Types of the node's inputs. Inputs: those of the product, then those of the
 * Loop but number `at`.
 *
 * Where the result is larger than the cache, both run on one block of rows (entries of the first axis) after the other,
 * so that the Loop reads what the product has just written. A block is large enough for BLAS, which packs the second
 * operand for each, to lose little. The product is written into the output that the Loop overwrites, if there is one,
 * else into an array of one block.
 *
 * Product and Loop are run by their own thunks over cells of this Op, whose values are views of a block's rows; so
 * shapes are checked, and errors read, as without fusion. Where shapes do not fit, nothing is cut.
 */
#include "dot_loop.h"
#include "graph/c_emit.h"
#include "blas.h"
#include "op/elem/build_arith.h"
#include "op/elem/loop_op.h"

#include <string.h>

typedef struct dot_loop_props {
  prop_value product, loop, at, types;
} dot_loop_props;

/* The nodes stand over Variables of the Types of the node's inputs. Cells are numbered: the node's inputs, the product's
 * result, the outputs. */
typedef struct dot_loop_data {
  damo_apply *product, *loop;
  int32_t n_in, n_out, at;
  int32_t over;  /* the output that the Loop writes over the product, -1 */
  int32_t *slot; /* of the Loop: inputs, then outputs */
  size_t bytes;  /* of slot */
} dot_loop_data;

static const dot_loop_data *dot_loop_of(const damo_op *op) { return (const dot_loop_data *)op->data; }

/* ---- The class --------------------------------------------------------------------------------------------------- */

bool dot_loop_takes(const damo_apply *node) {
  const op_def *def = node->op->def;
  if (def == &dot_def) return var_ndim(node->in[0]) == 2;
  return def == &matmul_def || (def == &gemm_def && node->op->destroy_map == NULL);
}

static bool dot_loop_fits(const damo_op *op) {
  const dot_loop_props *p = OP_PROPS(op, dot_loop_props);
  if (op->n_props < 4 || p->product.kind != PROP_OP || p->loop.kind != PROP_OP || p->at.kind != PROP_INT) return false;
  if (p->types.kind != PROP_LIST || p->loop.u.op->def != &loop_def || p->at.u.i < 0) return false;
  for (int i = 0; i < p->types.n; i++) {
    if (p->types.u.list[i].kind != PROP_TYPE || !type_is_tensor(p->types.u.list[i].u.type)) return false;
  }
  const int n_product = p->product.u.op->def->n_in;
  return n_product > 0 && n_product <= p->types.n && p->at.u.i <= p->types.n - n_product;
}

/* The inner nodes, over new Variables. */
static damo_status dot_loop_nodes(build *b, damo_op *op, const dot_loop_props *p) {
  dot_loop_data *d = op->data;
  const int n_product = p->product.u.op->def->n_in, n_loop = d->n_in - n_product + 1;
  damo_var **in = mem_calloc(b->ctx, (size_t)(d->n_in + 1) * sizeof *in), **rest = in + n_product;
  if (in == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < d->n_in; i++) in[i] = build_take(b, var_new(b->ctx, p->types.u.list[i].u.type, NULL));
  damo_apply *product = b->status == DAMO_OK ? build_apply(b, damo_retain(p->product.u.op), in, n_product) : NULL;
  if (product != NULL && dot_loop_takes(product)) {
    memmove(rest + d->at + 1, rest + d->at, (size_t)(n_loop - 1 - d->at) * sizeof *rest);
    rest[d->at] = product->out[0];
    damo_apply *loop = build_apply(b, damo_retain(p->loop.u.op), rest, n_loop);
    d->product = loop != NULL ? damo_retain(product) : NULL;
    d->loop = damo_retain(loop);
  }
  mem_free(b->ctx, in, (size_t)(d->n_in + 1) * sizeof *in);
  return b->status;
}

static damo_status dot_loop_slots(damo_ctx *ctx, dot_loop_data *d) {
  d->n_out = d->loop->n_out;
  d->bytes = (size_t)(d->loop->n_in + d->n_out) * sizeof *d->slot;
  d->slot = mem_alloc(ctx, d->bytes);
  if (d->slot == NULL) return DAMO_EMEMORY;
  int32_t next = d->product->n_in;
  for (int i = 0; i < d->loop->n_in; i++) d->slot[i] = i == d->at ? d->n_in : next++;
  for (int o = 0; o < d->n_out; o++) d->slot[d->loop->n_in + o] = d->n_in + 1 + o;
  d->over = -1;
  for (const op_alias *a = d->loop->op->destroy_map; a != NULL && a->out >= 0; a++) {
    if (a->in == d->at) d->over = a->out;
  }
  return DAMO_OK;
}

static damo_status dot_loop_init(damo_op *op) {
  dot_loop_data *d = op->data;
  damo_ctx *ctx = op->obj.ctx;
  if (dot_loop_fits(op)) {
    const dot_loop_props *p = OP_PROPS(op, dot_loop_props);
    build b;
    d->n_in = p->types.n;
    d->at = (int32_t)p->at.u.i;
    build_init(&b, ctx);
    damo_status s = dot_loop_nodes(&b, op, p);
    damo_status ended = build_end(&b);
    if (s != DAMO_OK || ended != DAMO_OK) return s != DAMO_OK ? s : ended;
    if (d->loop != NULL) return dot_loop_slots(ctx, d);
  }
  return ctx_fail(ctx, DAMO_EVALUE, "DotLoop: it takes a product and a Loop over its result");
}

static void dot_loop_clear(damo_op *op) {
  dot_loop_data *d = op->data;
  damo_release(d->product);
  damo_release(d->loop);
  if (d->slot != NULL) mem_free(op->obj.ctx, d->slot, d->bytes);
}

static int dot_loop_count(const damo_op *op, int n_in) {
  (void)n_in;
  return dot_loop_of(op)->n_out;
}

static void dot_loop_format(strbuf *out, const damo_op *op) {
  const dot_loop_data *d = dot_loop_of(op);
  strbuf_add(out, "DotLoop{");
  op_format(out, d->product->op);
  strbuf_add(out, ", ");
  op_format(out, d->loop->op);
  strbuf_add(out, "}");
}

static damo_var *inner_input(const dot_loop_data *d, int i) {
  if (i < d->product->n_in) return d->product->in[i];
  i -= d->product->n_in;
  return d->loop->in[i < d->at ? i : i + 1];
}

static damo_status dot_loop_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const dot_loop_data *d = dot_loop_of(op);
  damo_ctx *ctx = op->obj.ctx;
  char x[320], y[320];
  if (n_in != d->n_in) return ctx_fail(ctx, DAMO_ETYPE, "DotLoop: expected %d operands, got %d", d->n_in, n_in);
  for (int i = 0; i < n_in; i++) {
    const damo_type *want = inner_input(d, i)->type;
    if (type_is_super(want, in[i]->type)) continue;
    return ctx_fail(ctx, DAMO_ETYPE, "DotLoop: operand %d must be %s, got %s", i + 1, type_format(x, sizeof x, want),
                    type_format(y, sizeof y, in[i]->type));
  }
  for (int o = 0; o < d->n_out; o++) out[o] = damo_retain(d->loop->out[o]->type);
  return DAMO_OK;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

/* Whether input i of the node is cut along its first axis with the rows of the product. */
static bool is_cut(const dot_loop_data *d, int i) {
  const damo_type *type = inner_input(d, i)->type;
  const op_def *def = d->product->op->def;
  const int ndim = var_ndim(d->product->out[0]);
  if (i >= d->product->n_in) return type->ndim == ndim && !type_dim_is_one(type, 0);
  if (def == &dot_def) return i == 0;
  if (def == &gemm_def) return i == 0 || i == 2;
  return !type_dim_is_one(type, 0);
}

/* The shape of the product; false where its operands, or the Loop's, do not fit. */
static bool dot_loop_shape(const dot_loop_data *d, const thunk *t, frame *f, int64_t *shape) {
  const op_def *def = d->product->op->def;
  const int ndim = var_ndim(d->product->out[0]), first = def == &gemm_def ? 2 : 0;
  const damo_array *x = thunk_in(t, f, first), *y = thunk_in(t, f, first + 1);
  const int64_t *sx = array_shape(x), *sy = array_shape(y);
  if (sx[x->ndim - 1] != sy[y->ndim > 1 ? y->ndim - 2 : 0]) return false;
  for (int i = 0; i < ndim; i++) shape[i] = sx[i];
  for (int i = 0; i < ndim - 2; i++) {
    if (type_dim_is_one(d->product->in[0]->type, i)) shape[i] = sy[i];
  }
  for (int i = 0; i < ndim - 2; i++) {
    const damo_type *other = d->product->in[1]->type;
    if (!type_dim_is_one(other, i) && sy[i] != shape[i]) return false;
  }
  if (y->ndim > 1) shape[ndim - 1] = sy[y->ndim - 1];
  if (def == &gemm_def && array_shape(thunk_in(t, f, 0))[1] != shape[1]) return false;
  for (int i = 0; i < d->n_in; i++) {
    const damo_array *a = thunk_in(t, f, i);
    const damo_type *type = inner_input(d, i)->type;
    if (is_cut(d, i) && array_shape(a)[0] != shape[0]) return false;
    for (int k = 0; i >= d->product->n_in && k < a->ndim; k++) {
      if (!type_dim_is_one(type, k) && array_shape(a)[k] != shape[k + ndim - a->ndim]) return false;
    }
  }
  return true;
}

#define DOT_LOOP_BLOCK ((int64_t)256 << 10) /* of the product's result, so that it stays in the L2 cache */
#define DOT_LOOP_MOST ((int64_t)2 << 20)    /* a larger block would not stay there */
#define DOT_LOOP_LEAST_ROWS 256
#define SMALL_OPERAND 128 /* entries: the result of two such matrices has at most 128 x 128, which are not cut */

/* Entries of the first axis that a block has; all of them where cutting would not pay. BLAS packs the second operand, of
 * k rows, for each block, which takes as long as multiplying 10 to 20 rows; what is saved is a pass over the result,
 * which takes as long as 10 to 20 of k: so the blocks of a matrix have k / 2 rows at least. */
static int64_t block_rows(const dot_loop_data *d, int ndim, const int64_t *shape, int64_t k, int64_t size) {
  int64_t row = size;
  for (int i = 1; i < ndim; i++) row *= shape[i];
  if (row == 0 || shape[0] <= 2 * DOT_LOOP_BLOCK / row) return shape[0];
  int64_t rows = DOT_LOOP_BLOCK / row;
  const int64_t least = d->product->op->def == &matmul_def ? 1
                        : k / 2 > DOT_LOOP_LEAST_ROWS      ? k / 2
                                                           : DOT_LOOP_LEAST_ROWS;
  if (rows < least) rows = least;
  return rows > DOT_LOOP_MOST / row || shape[0] < 2 * rows ? shape[0] : rows;
}

/* ---- The inner thunks -------------------------------------------------------------------------------------------- */

typedef struct inner_thunk {
  thunk t;
  frame f;
  thunk_local local;
} inner_thunk;

/* Loops plan for one shape: the whole, a block and the last, shorter one have thunks of their own. */
typedef enum cut_kind { CUT_NONE, CUT_BLOCK, CUT_LAST, N_CUTS } cut_kind;

typedef struct dot_loop_kept {
  size_t bytes;
  inner_thunk product[N_CUTS], loop[N_CUTS];
  damo_array *block; /* where blocks of the product go that no output takes; or NULL */
  cell *cells;
  damo_array **view; /* of each cell, or NULL */
  int32_t *numbers;  /* slots of the product */
} dot_loop_kept;

typedef struct dot_loop_state {
  dot_loop_kept *kept; /* NULL before the first run */
} dot_loop_state;

static int n_cells(const dot_loop_data *d) { return d->n_in + 1 + d->n_out; }

static void inner_init(inner_thunk *r, damo_apply *node, const int32_t *slots, damo_ctx *ctx, cell *cells,
                       void *state) {
  const op_def *def = node->op->def;
  damo_assert(def->perform != NULL && def->make_thunk == NULL && def->prepare_node == NULL);
  r->t = (thunk){.run = def->perform, .node = node, .n_in = node->n_in, .n_out = node->n_out, .in = slots};
  r->t.out = slots + node->n_in;
  r->t.impl = "c";
  r->local = (thunk_local){.state = state};
  r->f = (frame){.ctx = ctx, .cells = cells, .locals = &r->local};
}

static void dot_loop_state_clear(const thunk *t, frame *f) {
  const dot_loop_data *d = dot_loop_of(t->node->op);
  dot_loop_state *state = thunk_state(t, f);
  dot_loop_kept *k = state->kept;
  if (k == NULL) return;
  for (int c = 0; c < N_CUTS; c++) {
    thunk_leave(&k->product[c].t, &k->product[c].f);
    thunk_leave(&k->loop[c].t, &k->loop[c].f);
  }
  for (int i = 0; i < n_cells(d); i++) damo_release(k->view[i]);
  damo_release(k->block);
  mem_free(f->ctx, k, k->bytes);
  state->kept = NULL;
}

static damo_status dot_loop_keep(const thunk *t, frame *f) {
  const dot_loop_data *d = dot_loop_of(t->node->op);
  dot_loop_state *state = thunk_state(t, f);
  const size_t n = (size_t)n_cells(d), n_product = (size_t)d->product->n_in + 1;
  const size_t each = (thunk_state_size(&(thunk){.node = d->loop}) + 15) & ~(size_t)15;
  const size_t head = (sizeof(dot_loop_kept) + 15) & ~(size_t)15;
  const size_t bytes = head + N_CUTS * each + 2 * n * sizeof(void *) + n_product * sizeof(int32_t);
  char *m = mem_calloc(f->ctx, bytes);
  if (m == NULL) return DAMO_EMEMORY;
  damo_assert(thunk_state_size(&(thunk){.node = d->product}) == 0);
  dot_loop_kept *k = (dot_loop_kept *)(void *)m;
  k->bytes = bytes;
  k->cells = (cell *)(void *)(m + head + N_CUTS * each);
  k->view = (damo_array **)(void *)(k->cells + n);
  k->numbers = (int32_t *)(void *)(k->view + n);
  for (size_t i = 0; i < n_product; i++) k->numbers[i] = (int32_t)i;
  k->numbers[n_product - 1] = d->n_in;
  for (size_t c = 0; c < N_CUTS; c++) {
    inner_init(&k->product[c], d->product, k->numbers, f->ctx, k->cells, NULL);
    inner_init(&k->loop[c], d->loop, d->slot, f->ctx, k->cells, m + head + c * each);
  }
  state->kept = k;
  damo_status s = DAMO_OK;
  for (int c = CUT_BLOCK; c < N_CUTS && s == DAMO_OK; c++) {
    s = thunk_fix_out(&k->product[c].t, &k->product[c].f, 0, true);
    for (int o = 0; o < d->n_out && s == DAMO_OK; o++) s = thunk_fix_out(&k->loop[c].t, &k->loop[c].f, o, true);
  }
  if (s != DAMO_OK) dot_loop_state_clear(t, f); /* blocks would be written elsewhere */
  return s;
}

/* ---- The run ----------------------------------------------------------------------------------------------------- */

static damo_status run_both(dot_loop_kept *k, cut_kind cut) {
  DAMO_TRY(thunk_run(&k->product[cut].t, &k->product[cut].f));
  return thunk_run(&k->loop[cut].t, &k->loop[cut].f);
}

/* Moves the values of the node's output cells into the inner ones, or back. */
static void move_outputs(const dot_loop_data *d, const thunk *t, frame *f, dot_loop_kept *k, bool back) {
  for (int o = 0; o < d->n_out; o++) {
    cell *outer = &f->cells[t->out[o]], *inner = &k->cells[d->n_in + 1 + o];
    if (back)
      *outer = *inner, *inner = NULL;
    else
      *inner = *outer, *outer = NULL;
  }
}

/* Everything at once. An array that the Loop overwrites goes from its output to the product and back. */
static damo_status run_whole(const dot_loop_data *d, const thunk *t, frame *f, dot_loop_kept *k) {
  inner_thunk *product = &k->product[CUT_NONE], *loop = &k->loop[CUT_NONE];
  cell *result = &k->cells[d->n_in];
  for (int i = 0; i < d->n_in; i++) k->cells[i] = thunk_value(t, f, i);
  const bool any_fixed = thunk_local_of(t, f)->out_fixed != NULL;
  for (int o = 0; any_fixed && o < d->n_out; o++) {
    const bool fixed = thunk_out_is_fixed(t, f, o);
    DAMO_TRY(thunk_fix_out(&loop->t, &loop->f, o, fixed));
    if (o == d->over) DAMO_TRY(thunk_fix_out(&product->t, &product->f, 0, fixed));
  }
  move_outputs(d, t, f, k, false);
  if (d->over >= 0) {
    *result = k->cells[d->n_in + 1 + d->over];
    k->cells[d->n_in + 1 + d->over] = NULL;
  } else {
    *result = (damo_obj *)k->block;
    k->block = NULL;
  }
  damo_status s = run_both(k, CUT_NONE);
  if (d->over < 0) {
    k->block = (damo_array *)*result;
  } else if (k->cells[d->n_in + 1 + d->over] == NULL) { /* it has failed */
    k->cells[d->n_in + 1 + d->over] = *result;
  } else {
    damo_release(*result);
  }
  *result = NULL;
  move_outputs(d, t, f, k, true);
  return s;
}

/* Cell i becomes a view of n rows of the array from row `row` on. */
static damo_status view_rows(dot_loop_kept *k, int i, const damo_array *a, int64_t row, int64_t n) {
  int64_t shape[DAMO_MAX_NDIM];
  const int64_t offset = row * array_strides(a)[0];
  memcpy(shape, array_shape(a), (size_t)a->ndim * sizeof *shape);
  shape[0] = n;
  if (k->view[i] != NULL && k->view[i]->ndim == a->ndim) {
    array_reseat(k->view[i], a, shape, array_strides(a), offset);
  } else {
    damo_release(k->view[i]);
    k->view[i] = array_view(a, a->ndim, shape, array_strides(a), offset);
  }
  k->cells[i] = (damo_obj *)k->view[i];
  return k->view[i] != NULL ? DAMO_OK : DAMO_EMEMORY;
}

/* The array of one block that the product is written into. */
static damo_array *block_of(dot_loop_kept *k, frame *f, damo_dtype dtype, int ndim, const int64_t *shape,
                            int64_t rows) {
  int64_t block[DAMO_MAX_NDIM];
  memcpy(block, shape, (size_t)ndim * sizeof *block);
  block[0] = rows;
  const damo_array *old = k->block;
  if (old != NULL && old->ndim == ndim && memcmp(array_shape(old), block, (size_t)ndim * sizeof *block) == 0)
    return k->block;
  damo_release(k->block);
  return k->block = array_empty(f->ctx, dtype, ndim, block);
}

/* The outputs, whole: rows of the product, along whose axes they lie, or ones where a reduction keeps its axis. */
static damo_status take_outputs(const dot_loop_data *d, const thunk *t, frame *f, const int64_t *shape) {
  for (int o = 0; o < d->n_out; o++) {
    const damo_type *type = d->loop->out[o]->type;
    int64_t own[DAMO_MAX_NDIM];
    for (int i = 0; i < type->ndim; i++) own[i] = type_dim_is_one(type, i) ? 1 : shape[i];
    if (thunk_out(t, f, o, type->dtype, type->ndim, own) == NULL) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

static damo_status run_rows(const dot_loop_data *d, const thunk *t, frame *f, dot_loop_kept *k, int64_t row, int64_t n,
                            cut_kind cut) {
  for (int i = 0; i < d->n_in; i++) {
    k->cells[i] = thunk_value(t, f, i);
    if (is_cut(d, i)) DAMO_TRY(view_rows(k, i, thunk_in(t, f, i), row, n));
  }
  for (int o = 0; o < d->n_out; o++)
    DAMO_TRY(view_rows(k, d->n_in + 1 + o, (const damo_array *)thunk_result(t, f, o), row, n));
  if (d->over >= 0)
    k->cells[d->n_in] = k->cells[d->n_in + 1 + d->over];
  else
    DAMO_TRY(view_rows(k, d->n_in, k->block, 0, n));
  return run_both(k, cut);
}

static damo_status run_blocks(const dot_loop_data *d, const thunk *t, frame *f, dot_loop_kept *k, const int64_t *shape,
                              int64_t rows) {
  const damo_var *result = d->product->out[0];
  if (d->over < 0 && block_of(k, f, var_dtype(result), var_ndim(result), shape, rows) == NULL) return DAMO_EMEMORY;
  damo_status s = DAMO_OK;
  ctx_set_due(f->ctx);
  for (int64_t row = 0; row < shape[0] && s == DAMO_OK; row += rows) {
    const int64_t n = shape[0] - row < rows ? shape[0] - row : rows;
    s = run_rows(d, t, f, k, row, n, n == rows ? CUT_BLOCK : CUT_LAST);
    ctx_point(f->ctx);
    if (ctx_is_stopped(f->ctx)) break;
  }
  for (int i = 0; i < n_cells(d); i++) {
    k->cells[i] = NULL;
    if (k->view[i] != NULL && k->view[i]->buf != NULL) array_detach(k->view[i]);
  }
  return s;
}

static damo_status dot_loop_perform(const thunk *t, frame *f) {
  const dot_loop_data *d = dot_loop_of(t->node->op);
  dot_loop_state *state = thunk_state(t, f);
  const damo_var *result = d->product->out[0];
  int64_t shape[DAMO_MAX_NDIM];
  if (state->kept == NULL) DAMO_TRY(dot_loop_keep(t, f));
  const int first = d->product->op->def == &gemm_def ? 2 : 0;
  const damo_array *x = thunk_in(t, f, first), *y = thunk_in(t, f, first + 1);
  const bool small = array_size(x) <= SMALL_OPERAND && array_size(y) <= SMALL_OPERAND;
  if (small && !ctx_stress(f->ctx, STRESS_BLOCK)) return run_whole(d, t, f, state->kept);
  if (!dot_loop_shape(d, t, f, shape)) return run_whole(d, t, f, state->kept);
  int64_t rows =
      block_rows(d, var_ndim(result), shape, array_shape(x)[x->ndim - 1], (int64_t)dtype_size(var_dtype(result)));
  if (ctx_stress(f->ctx, STRESS_BLOCK)) rows = 3;
  DAMO_TRY(take_outputs(d, t, f, shape)); /* from the frame, whose memory is planned */
  if (rows >= shape[0]) return run_whole(d, t, f, state->kept);
  return run_blocks(d, t, f, state->kept, shape, rows);
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* Product and Loop as separate nodes over the node's inputs. */
typedef struct apart {
  damo_apply *product, *loop;
  damo_var **loop_in; /* n_loop, then n_loop more entries for the caller */
  size_t bytes;
} apart;

static damo_status apart_init(build *b, apart *a, const damo_apply *node) {
  const dot_loop_data *d = dot_loop_of(node->op);
  const int n_product = d->product->n_in, n_loop = d->loop->n_in;
  *a = (apart){.bytes = 2 * (size_t)n_loop * sizeof *a->loop_in};
  a->loop_in = mem_calloc(b->ctx, a->bytes);
  if (a->loop_in == NULL) return b->status = DAMO_EMEMORY;
  a->product = build_apply(b, damo_retain(d->product->op), node->in, n_product);
  if (a->product == NULL) return b->status;
  for (int i = 0, next = n_product; i < n_loop; i++) a->loop_in[i] = i == d->at ? a->product->out[0] : node->in[next++];
  a->loop = build_apply(b, damo_retain(d->loop->op), a->loop_in, n_loop);
  return b->status;
}

static void apart_clear(build *b, apart *a) {
  if (a->loop_in != NULL) mem_free(b->ctx, a->loop_in, a->bytes);
}

static damo_status dot_loop_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const dot_loop_data *d = dot_loop_of(node->op);
  apart a;
  if (apart_init(b, &a, node) == DAMO_OK) {
    const int n_loop = d->loop->n_in;
    damo_var **g = a.loop_in + n_loop;
    damo_status s = loop_def.grad(b, a.loop, gout, g);
    if (s == DAMO_OK && g[d->at] != NULL) s = d->product->op->def->grad(b, a.product, &g[d->at], gin);
    for (int i = 0, next = d->product->n_in; i < n_loop; i++) {
      if (i != d->at) gin[next++] = g[i];
    }
    if (b->status == DAMO_OK) b->status = s;
  }
  apart_clear(b, &a);
  return b->status;
}

static damo_status dot_loop_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                        damo_var ***out_shape) {
  const dot_loop_data *d = dot_loop_of(node->op);
  const int n_loop = d->loop->n_in, n_product = d->product->n_in;
  damo_var *result[DAMO_MAX_NDIM], **one = result;
  const size_t bytes = (size_t)n_loop * sizeof(damo_var *const *);
  damo_var *const **shapes = mem_alloc(b->ctx, bytes);
  if (shapes == NULL) return b->status = DAMO_EMEMORY;
  damo_status s = d->product->op->def->infer_shape(b, d->product, in_shape, &one);
  for (int i = 0, next = n_product; i < n_loop; i++) shapes[i] = i == d->at ? result : in_shape[next++];
  if (s == DAMO_OK) s = loop_def.infer_shape(b, d->loop, shapes, out_shape);
  mem_free(b->ctx, shapes, bytes);
  return s;
}

static damo_status dot_loop_emit_c(c_emit *e, const damo_apply *node) {
  const dot_loop_data *d = dot_loop_of(node->op);
  const int n = d->n_in + 1 + d->n_out;
  c_value **cells = c_file_alloc(e->file, (size_t)(n + d->loop->n_in) * sizeof *cells);
  if (cells == NULL) return DAMO_EMEMORY;
  c_value **in = cells + n;
  ce_takes_complex(e); /* if both of its nodes do */
  for (int i = 0; i < d->n_in; i++) cells[i] = ce_in(e, i);
  DAMO_TRY(ce_node(e, d->product, cells, &cells[d->n_in]));
  for (int i = 0; i < d->loop->n_in; i++) in[i] = cells[d->slot[i]];
  DAMO_TRY(ce_node(e, d->loop, in, &cells[d->n_in + 1]));
  for (int o = 0; o < d->n_out; o++) ce_out_same(e, o, cells[d->n_in + 1 + o]);
  return e->status;
}

const op_def dot_loop_def = {
    .name = "DotLoop",
    .doc = "a product of matrices with a Loop as its epilogue, row block by row block",
    .props = PROPS(PROP(dot_loop_props, product), PROP(dot_loop_props, loop), PROP(dot_loop_props, at),
                   PROP(dot_loop_props, types)),
    .n_in = OP_VARIADIC,
    .n_out = OP_VARIADIC,
    .data_size = sizeof(dot_loop_data),
    .init = dot_loop_init,
    .clear = dot_loop_clear,
    .count_out = dot_loop_count,
    .infer_type = dot_loop_infer_type,
    .perform = dot_loop_perform,
    .emit_c = dot_loop_emit_c,
    .state_size = sizeof(dot_loop_state),
    .state_clear = dot_loop_state_clear,
    .grad = dot_loop_grad,
    .infer_shape = dot_loop_infer_shape,
    .format = dot_loop_format,
    .no_check = "its product and its Loop: spec/op/dot_loop_spec.lua compares it with them",
};

/* ---- Builder ----------------------------------------------------------------------------------------------------- */

damo_apply *build_dot_loop(build *b, const damo_apply *product, damo_op *take_loop, damo_var *const *in, int n_in,
                           int at) {
  damo_apply *node = NULL;
  const int n = product->n_in + n_in - 1;
  const size_t bytes = (size_t)n * (sizeof(damo_var *) + sizeof(prop_value));
  char *memory = take_loop != NULL && b->status == DAMO_OK ? mem_alloc(b->ctx, bytes) : NULL;
  if (memory != NULL) {
    prop_value *types = (prop_value *)(void *)memory;
    damo_var **all = (damo_var **)(void *)(types + n);
    int k = 0;
    for (int i = 0; i < product->n_in; i++) all[k++] = product->in[i];
    for (int i = 0; i < n_in; i++) {
      if (i != at) all[k++] = in[i];
    }
    for (int i = 0; i < n; i++) types[i] = (prop_value){.kind = PROP_TYPE, .u.type = all[i]->type};
    const dot_loop_props p = {.product = {.kind = PROP_OP, .u.op = product->op},
                              .loop = {.kind = PROP_OP, .u.op = take_loop},
                              .at = prop_int(at),
                              .types = prop_list(types, n)};
    node = build_apply(b, op_new(b->ctx, &dot_loop_def, &p), all, n);
    mem_free(b->ctx, memory, bytes);
  } else if (b->status == DAMO_OK) {
    b->status = damo_error_status(b->ctx);
  }
  damo_release(take_loop);
  return node;
}
