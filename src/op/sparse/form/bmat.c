/* bmat: a matrix of blocks, some of which are missing and stand for zeros.
 *
 * Class: BlockMatrix (rows, cols: the 1-based block row and block column of each input; format; dtype, the common one
 * when nil). Every block row and every block column has a block, so the lengths follow from the inputs. The result is
 * assembled in two steps: the blocks of each block row (csc: block column) are stacked into a strip, with one empty
 * matrix for each run of missing blocks; then the strips are stacked. Memory is O(inputs + result). The gradients are
 * the blocks of the cotangent, each cut out by two SparseSplits.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

#include <string.h>

typedef struct sp_bmat_props {
  prop_value rows, cols, format, dtype;
} sp_bmat_props;

/* Axis 0: block rows; axis 1: block columns. Their numbers and those of inputs are 0-based. */
typedef struct bmat_grid {
  int n;           /* inputs */
  int n_blocks[2]; /* block rows, block columns */
  int *first[2];   /* for each block row or column an input, which has its length */
  int *order[2];   /* the inputs sorted by block row or column, then by the other axis */
} bmat_grid;

/* A block of a strip, or a run of missing blocks in it. */
typedef struct bmat_segment {
  int block;      /* the input; -1: missing blocks */
  int from, past; /* along the other axis: [from, past) */
} bmat_segment;

static const char *const sp_bmat_axis_names[2] = {"row", "column"};

/* The property that lists the block row (axis 0) or block column of each block. */
static const prop_value *sp_bmat_places(const damo_op *op, int axis) {
  const sp_bmat_props *p = OP_PROPS(op, sp_bmat_props);
  return axis == 0 ? &p->rows : &p->cols;
}

static int sp_bmat_place(const damo_op *op, int axis, int i) {
  return (int)sp_bmat_places(op, axis)->u.list[i].u.i - 1;
}

/* ---- The grid ---------------------------------------------------------------------------------------------------- */

static damo_status sp_bmat_check_places(const damo_op *op, int axis, int *n) {
  const prop_value *list = sp_bmat_places(op, axis);
  damo_ctx *ctx = op->obj.ctx;
  if (list->kind != PROP_LIST || list->n < 1)
    return ctx_fail(ctx, DAMO_ETYPE, "BlockMatrix: %s must be a list of integers, one for each block",
                    axis ? "cols" : "rows");
  if (axis == 1 && list->n != *n)
    return ctx_fail(ctx, DAMO_EVALUE, "BlockMatrix: rows has entries for %d blocks, cols for %d", *n, list->n);
  *n = list->n;
  for (int i = 0; i < list->n; i++) {
    const prop_value *v = &list->u.list[i];
    if (v->kind != PROP_INT || v->u.i < 1 || v->u.i > INT32_MAX)
      return ctx_fail(ctx, DAMO_EVALUE, "BlockMatrix: entry %d of %s must be a block %s, counted from 1", i + 1,
                      axis ? "cols" : "rows", sp_bmat_axis_names[axis]);
  }
  return DAMO_OK;
}

/* Finds the number of block rows (axis 0) or columns and the first input of each; value error where one has none. */
static damo_status sp_bmat_find_first(const damo_op *op, bmat_grid *g, int axis) {
  int *first = g->first[axis];
  for (int k = 0; k < g->n; k++) first[k] = -1;
  for (int i = g->n - 1; i >= 0; i--) {
    const int k = sp_bmat_place(op, axis, i);
    if (k >= g->n_blocks[axis]) g->n_blocks[axis] = k + 1;
    if (k < g->n) first[k] = i;
  }
  for (int k = 0; k < g->n && k < g->n_blocks[axis]; k++) {
    if (first[k] < 0)
      return ctx_fail(op->obj.ctx, DAMO_EVALUE, "BlockMatrix: block %s %d has no block: its length is not known",
                      sp_bmat_axis_names[axis], k + 1);
  }
  return DAMO_OK;
}

/* A stable counting sort of the inputs from[] by block row or column into to[]. start: a workspace of n + 1
 * integers. */
static void sp_bmat_sort_inputs(const damo_op *op, const bmat_grid *g, int axis, const int *from, int *to, int *start) {
  memset(start, 0, (size_t)(g->n + 1) * sizeof *start);
  for (int i = 0; i < g->n; i++) start[sp_bmat_place(op, axis, i) + 1]++;
  for (int k = 0; k < g->n; k++) start[k + 1] += start[k];
  for (int i = 0; i < g->n; i++) to[start[sp_bmat_place(op, axis, from[i])]++] = from[i];
}

static damo_status sp_bmat_check_overlap(const damo_op *op, const bmat_grid *g) {
  for (int k = 1; k < g->n; k++) {
    const int a = g->order[0][k - 1], b = g->order[0][k], row = sp_bmat_place(op, 0, b), col = sp_bmat_place(op, 1, b);
    if (sp_bmat_place(op, 0, a) == row && sp_bmat_place(op, 1, a) == col)
      return ctx_fail(op->obj.ctx, DAMO_EVALUE, "BlockMatrix: two blocks stand at (%d, %d)", row + 1, col + 1);
  }
  return DAMO_OK;
}

static size_t sp_bmat_grid_size(int n) { return 4 * (size_t)n * sizeof(int); }

static damo_status sp_bmat_init(damo_op *op) {
  damo_ctx *ctx = op->obj.ctx;
  bmat_grid *g = op->data;
  damo_format format;
  damo_dtype dtype;
  const prop_value *v = &OP_PROPS(op, sp_bmat_props)->dtype;
  for (int axis = 0; axis < 2; axis++) DAMO_TRY(sp_bmat_check_places(op, axis, &g->n));
  DAMO_TRY(format_check(ctx, "BlockMatrix", &OP_PROPS(op, sp_bmat_props)->format, &format));
  if (v->kind != PROP_NIL && (v->kind != PROP_STR || !damo_dtype_from_name(v->u.s, &dtype)))
    return ctx_fail(ctx, DAMO_EVALUE, "BlockMatrix: dtype must be the name of a dtype");
  int *all = mem_alloc(ctx, sp_bmat_grid_size(g->n));
  if (all == NULL) return DAMO_EMEMORY;
  for (int axis = 0; axis < 2; axis++) {
    g->first[axis] = all + axis * g->n;
    g->order[axis] = all + (2 + axis) * g->n;
  }
  for (int axis = 0; axis < 2; axis++) DAMO_TRY(sp_bmat_find_first(op, g, axis));
  const size_t size = (size_t)(3 * g->n + 1) * sizeof(int);
  int *work = mem_alloc(ctx, size);
  if (work == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < g->n; i++) work[i] = i;
  for (int axis = 0; axis < 2; axis++) {
    sp_bmat_sort_inputs(op, g, !axis, work, work + g->n, work + 2 * g->n);
    sp_bmat_sort_inputs(op, g, axis, work + g->n, g->order[axis], work + 2 * g->n);
  }
  mem_free(ctx, work, size);
  return sp_bmat_check_overlap(op, g);
}

static void sp_bmat_clear(damo_op *op) {
  bmat_grid *g = op->data;
  if (g->first[0] != NULL) mem_free(op->obj.ctx, g->first[0], sp_bmat_grid_size(g->n));
}

/* The segments of the strip that begins at order[axis][*at]; *at advances to the next strip. Returns their number, at
 * most 2 n + 1. */
static int sp_bmat_next_segments(const damo_op *op, int axis, int *at, bmat_segment *out) {
  const bmat_grid *g = op->data;
  const int *order = g->order[axis], major = sp_bmat_place(op, axis, order[*at]);
  int n = 0, past = 0;
  for (; *at < g->n && sp_bmat_place(op, axis, order[*at]) == major; ++*at) {
    const int block = order[*at], k = sp_bmat_place(op, !axis, block);
    if (k > past) out[n++] = (bmat_segment){-1, past, k};
    out[n++] = (bmat_segment){block, k, k + 1};
    past = k + 1;
  }
  if (past < g->n_blocks[!axis]) out[n++] = (bmat_segment){-1, past, g->n_blocks[!axis]};
  return n;
}

/* ---- Types and lengths ------------------------------------------------------------------------------------------- */

static damo_format sp_bmat_format(const damo_op *op) {
  damo_format f = DAMO_CSR;
  format_check(op->obj.ctx, "BlockMatrix", &OP_PROPS(op, sp_bmat_props)->format, &f);
  return f;
}

/* Shape error where block i's length along the axis differs from that of the first block of its row or column; -1:
 * unknown. */
static damo_status sp_bmat_check_length(damo_ctx *ctx, const damo_op *op, int axis, int i, int64_t length,
                                        int64_t of_first) {
  const bmat_grid *g = op->data;
  const int first = g->first[axis][sp_bmat_place(op, axis, i)];
  if (length < 0 || of_first < 0 || length == of_first) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESHAPE, "BlockMatrix: block (%d, %d) has %lld %ss, block (%d, %d) has %lld",
                  sp_bmat_place(op, 0, i) + 1, sp_bmat_place(op, 1, i) + 1, (long long)length, sp_bmat_axis_names[axis],
                  sp_bmat_place(op, 0, first) + 1, sp_bmat_place(op, 1, first) + 1, (long long)of_first);
}

static damo_status sp_bmat_static_shape(const damo_op *op, damo_var *const *in, int64_t *shape) {
  const bmat_grid *g = op->data;
  for (int axis = 0; axis < 2; axis++) {
    for (int i = 0; i < g->n; i++) {
      const int first = g->first[axis][sp_bmat_place(op, axis, i)];
      DAMO_TRY(sp_bmat_check_length(op->obj.ctx, op, axis, i, in[i]->type->shape[axis], in[first]->type->shape[axis]));
    }
    shape[axis] = 0;
    for (int k = 0; k < g->n_blocks[axis]; k++) {
      const int64_t n = in[g->first[axis][k]]->type->shape[axis], sum = shape[axis];
      shape[axis] = sum < 0 || n < 0 || n >= INT64_MAX - sum ? -1 : sum + n;
    }
  }
  return DAMO_OK;
}

static damo_status sp_bmat_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const bmat_grid *g = op->data;
  int64_t shape[2];
  damo_dtype itype = DAMO_INT32, dtype = DAMO_BOOL;
  if (n_in != g->n)
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "BlockMatrix: rows and cols are for %d blocks, got %d", g->n, n_in);
  for (int i = 0; i < n_in; i++) {
    DAMO_TRY(type_need_sparse(op, in, i));
    itype = itype_join(itype, var_itype(in[i]));
    dtype = i == 0 ? var_dtype(in[i]) : dtype_promote(dtype, var_dtype(in[i]));
  }
  DAMO_TRY(sp_bmat_static_shape(op, in, shape));
  if (OP_PROPS(op, sp_bmat_props)->dtype.kind == PROP_STR) {
    DAMO_TRY(dtype_check_cast(op->obj.ctx, op->def->name, dtype, prop_dtype(OP_PROPS(op, sp_bmat_props)->dtype)));
    dtype = prop_dtype(OP_PROPS(op, sp_bmat_props)->dtype);
  }
  return type_give_sparse(op, out, sp_bmat_format(op), dtype, itype, shape[0], shape[1]);
}

static damo_status sp_bmat_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  const bmat_grid *g = node->op->data;
  for (int axis = 0; axis < 2; axis++) {
    damo_var *sum = in_shape[g->first[axis][0]][axis];
    for (int k = 1; k < g->n_blocks[axis]; k++) sum = build_add(b, sum, in_shape[g->first[axis][k]][axis]);
    out_shape[0][axis] = sum;
  }
  return b->status;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static int64_t sp_bmat_strip_length(const thunk *t, frame *f, int axis, int k) {
  const bmat_grid *g = t->node->op->data;
  return thunk_in_sparse(t, f, g->first[axis][k])->shape[axis];
}

static damo_status sp_bmat_check_lengths(const thunk *t, frame *f) {
  const damo_op *op = t->node->op;
  const bmat_grid *g = op->data;
  for (int axis = 0; axis < 2; axis++) {
    int64_t sum = 0;
    for (int i = 0; i < g->n; i++)
      DAMO_TRY(sp_bmat_check_length(f->ctx, op, axis, i, thunk_in_sparse(t, f, i)->shape[axis],
                                    sp_bmat_strip_length(t, f, axis, sp_bmat_place(op, axis, i))));
    for (int k = 0; k < g->n_blocks[axis]; k++) {
      const int64_t n = sp_bmat_strip_length(t, f, axis, k);
      if (n > INT64_MAX - 1 - sum)
        return ctx_fail(f->ctx, DAMO_ESHAPE, "BlockMatrix: the blocks are longer than an axis can be");
      sum += n;
    }
  }
  return DAMO_OK;
}

/* An empty matrix in place of a run of missing blocks of strip `major`. */
static damo_sparse *sp_bmat_empty_block(const thunk *t, frame *f, int axis, int major, const bmat_segment *s) {
  const damo_format format = sp_bmat_format(t->node->op);
  int64_t shape[2] = {0, 0};
  shape[axis] = sp_bmat_strip_length(t, f, axis, major);
  for (int k = s->from; k < s->past; k++) shape[!axis] += sp_bmat_strip_length(t, f, !axis, k);
  const damo_dtype itype = sparse_itype_for(DAMO_INT32, shape[0], shape[1], 0);
  damo_sparse *y = sparse_empty(f->ctx, format, var_dtype(t->node->out[0]), itype, shape, 0);
  if (y == NULL) return NULL;
  memset(y->indptr->data, 0, (size_t)array_size(y->indptr) * dtype_size(itype));
  y->sorted = y->unique = true;
  return y;
}

/* Strip `major`: its segments stacked. parts: a workspace of n pointers. NULL: the pending error. */
static damo_sparse *sp_bmat_make_strip(const thunk *t, frame *f, int axis, int major, const bmat_segment *segments,
                                       int n, damo_sparse **parts) {
  damo_sparse *strip = NULL;
  int made = 0;
  for (; made < n; made++) {
    const bmat_segment *s = &segments[made];
    parts[made] =
        s->block < 0 ? sp_bmat_empty_block(t, f, axis, major, s) : damo_retain(thunk_in_sparse(t, f, s->block));
    if (parts[made] == NULL) break;
  }
  if (made == n)
    strip =
        sparse_stack(f->ctx, "BlockMatrix", !axis, n, parts, sp_bmat_format(t->node->op), var_dtype(t->node->out[0]));
  while (made > 0) damo_release(parts[--made]);
  return strip;
}

static damo_status sp_bmat_perform(const thunk *t, frame *f) {
  const damo_op *op = t->node->op;
  const bmat_grid *g = op->data;
  const damo_format format = sp_bmat_format(op);
  const int axis = format == DAMO_CSC, n_major = g->n_blocks[axis], most = 2 * g->n + 1;
  damo_sparse **strips =
      thunk_scratch(t, f, (size_t)(n_major + most) * sizeof *strips + (size_t)most * sizeof(bmat_segment));
  if (strips == NULL) return DAMO_EMEMORY;
  DAMO_TRY(sp_bmat_check_lengths(t, f));
  damo_sparse **parts = strips + n_major, *out = NULL;
  bmat_segment *segments = (bmat_segment *)(void *)(parts + most);
  int made = 0;
  for (int at = 0; made < n_major; made++) {
    const int n = sp_bmat_next_segments(op, axis, &at, segments);
    strips[made] = sp_bmat_make_strip(t, f, axis, made, segments, n, parts);
    if (strips[made] == NULL) break;
  }
  if (made == n_major) {
    const damo_dtype dtype = var_dtype(t->node->out[0]);
    out = n_major == 1 ? damo_retain(strips[0])
                       : sparse_stack(f->ctx, "BlockMatrix", axis, n_major, strips, format, dtype);
  }
  while (made > 0) damo_release(strips[--made]);
  return thunk_give_sparse(t, f, 0, out);
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

static damo_var *build_strip_length(build *b, const damo_apply *node, int axis, int k) {
  const bmat_grid *g = node->op->data;
  return build_dim(b, node->in[g->first[axis][k]], axis);
}

/* starts[k]: the sum of the first k lengths of the axis, so that the length of a run is one difference. It has one
 * entry more than the axis has block rows or columns; starts[0] is NULL and stands for 0. */
static void build_strip_starts(build *b, const damo_apply *node, int axis, damo_var **starts) {
  const bmat_grid *g = node->op->data;
  starts[0] = NULL;
  for (int k = 0; k < g->n_blocks[axis]; k++) {
    damo_var *length = build_strip_length(b, node, axis, k);
    starts[k + 1] = k == 0 ? length : build_add(b, starts[k], length);
  }
}

static damo_var *bmat_segment_length(build *b, const damo_apply *node, int axis, damo_var *const *starts,
                                     const bmat_segment *s) {
  if (s->past == s->from + 1) return build_strip_length(b, node, axis, s->from);
  return s->from == 0 ? starts[s->past] : build_sub(b, starts[s->past], starts[s->from]);
}

/* Splits a strip of the cotangent into the parts of its n segments. */
static void build_segment_parts(build *b, damo_apply *node, damo_var *strip, int axis, damo_var *const *starts,
                                const bmat_segment *segments, int n, damo_var **parts) {
  for (int i = 0; i < n; i++) parts[i] = n > 1 ? bmat_segment_length(b, node, axis, starts, &segments[i]) : strip;
  damo_apply *cut = n > 1 ? build_sparse_split(b, strip, axis, parts, n) : NULL;
  for (int i = 0; i < n && n > 1; i++) parts[i] = cut != NULL ? cut->out[i] : NULL;
}

static damo_status sp_bmat_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  const bmat_grid *g = node->op->data;
  const damo_format format = sp_bmat_format(node->op);
  const int axis = format == DAMO_CSC, n_major = g->n_blocks[axis], most = 2 * g->n + 1;
  const int across = g->n_blocks[!axis] + 1;
  const size_t size = (size_t)(n_major + across + most) * sizeof(damo_var *) + (size_t)most * sizeof(bmat_segment);
  damo_var **strips = mem_alloc(b->ctx, size);
  if (strips == NULL) return b->status = DAMO_EMEMORY;
  damo_var **starts = strips + n_major, **parts = starts + across;
  bmat_segment *segments = (bmat_segment *)(void *)(parts + most);
  damo_var *all = var_is_sparse(gout[0]) ? build_to_format(b, gout[0], format) : build_sparse_from(b, gout[0], format);
  build_strip_starts(b, node, !axis, starts);
  for (int k = 0; k < n_major; k++) strips[k] = build_strip_length(b, node, axis, k);
  damo_apply *cut = n_major > 1 ? build_sparse_split(b, all, axis, strips, n_major) : NULL;
  for (int k = 0, at = 0; k < n_major && b->status == DAMO_OK; k++) {
    const int n = sp_bmat_next_segments(node->op, axis, &at, segments);
    build_segment_parts(b, node, cut != NULL ? cut->out[k] : all, !axis, starts, segments, n, parts);
    for (int i = 0; i < n && b->status == DAMO_OK; i++) {
      const int block = segments[i].block;
      if (block < 0 || (gin[block] = build_truncated_zeros(b, node, block)) != NULL) continue;
      gin[block] = build_move_cotangent(b, parts[i], gout[0], node->out[0], node->in[block]);
    }
  }
  mem_free(b->ctx, strips, size);
  return b->status;
}

static damo_status sp_bmat_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  return rop_of_parts(b, node, eval, rout, sp_bmat_format(node->op));
}

static const op_def sp_bmat_def = {
    .name = "BlockMatrix",
    .doc = "a matrix of sparse blocks, zeros where there is none",
    .props = PROPS(PROP(sp_bmat_props, rows), PROP(sp_bmat_props, cols), PROP(sp_bmat_props, format),
                   PROP(sp_bmat_props, dtype)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(bmat_grid),
    .init = sp_bmat_init,
    .clear = sp_bmat_clear,
    .infer_type = sp_bmat_type,
    .perform = sp_bmat_perform,
    .grad = sp_bmat_grad,
    .rop = sp_bmat_rop,
    .infer_shape = sp_bmat_shape,
    .pattern = PATTERN_JOINS,
    .terms = TERMS_LINEAR,
    OP_CHECK(bmat_check),
};

/* ---- Function ---------------------------------------------------------------------------------------------------- */

typedef struct bmat_options {
  prop_value rows, cols, format, dtype;
} bmat_options;

static damo_status sp_fn_bmat(build *b, const fn_args *a, ptrvec *out) {
  const bmat_options *o = FN_OPTIONS(a, bmat_options);
  if (a->n_in < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: there are no blocks", a->func->name);
  for (int i = 0; i < a->n_in; i++) {
    if (sparse_operand(b, a, i) == NULL) return b->status;
  }
  if (!prop_given(o->rows) || !prop_given(o->cols))
    return ctx_fail(b->ctx, DAMO_EVALUE,
                    "%s: a table of rows of blocks is wanted, or a list of blocks with rows= and cols=", a->func->name);
  sp_bmat_props props = {.rows = o->rows, .cols = o->cols, .format = o->format, .dtype = o->dtype};
  if (!prop_given(o->format)) props.format = prop_str(sparse_format_name(var_format_of(a->in[0])));
  return fn_give(b, out, build_op(b, op_new(b->ctx, &sp_bmat_def, &props), a->in, a->n_in));
}

const op_func sparse_bmat_funcs[] = {
    {.name = "sparse.bmat",
     .operands = "blocks...",
     .options = OPTIONS(OPT(bmat_options, rows, OPT_INTS), OPT(bmat_options, cols, OPT_INTS),
                        OPT(bmat_options, format, OPT_STR), OPT(bmat_options, dtype, OPT_DTYPE)),
     .call = sp_fn_bmat,
     .doc = "a matrix of sparse blocks, in the first one's format: a table of rows {{A, B}, {false, C}}, false where "
            "there is none; or a list, with the block row and block column of each",
     .no_method = true},
    {.name = NULL},
};

const op_def *const sparse_bmat_classes[] = {&sp_bmat_def, NULL};
