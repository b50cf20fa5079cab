/* sparse_bmat: a matrix of blocks, some of which are missing and stand for zeros.
 *
 * Class: BlockMatrix (rows, cols: the 1-based block row and block column of each input; format; dtype, the common one
 * when nil). Every block row and every block column has a block, so lengths follow from the inputs. A matrix is put
 * together line of blocks by line of blocks along its compressed axis, where what is missing between two blocks is one
 * empty matrix: memory is that of the inputs and of the result. Its gradients are the blocks of the cotangent: two cuts
 * each.
 */
#include "sparse_op.h"

#include <string.h>

/* Axis 0: block rows; axis 1: block columns. Numbers of lines and inputs are 0-based. */
typedef struct grid {
  int n;         /* inputs */
  int lines[2];  /* block rows, block columns */
  int *first[2]; /* an input of each line: its lengths are the line's */
  int *order[2]; /* the inputs, line after line, ascending along the other axis */
} grid;

/* A run of an otherwise empty line of blocks, or a block of it. */
typedef struct segment {
  int block;      /* the input, -1: nothing is there */
  int from, past; /* lines of the other axis */
} segment;

static const char *const line_names[2] = {"row", "column"};

static int place_of(const damo_op *op, int axis, int i) { return (int)op->props[axis].u.list[i].u.i - 1; }

/* ---- The grid ---------------------------------------------------------------------------------------------------- */

static damo_status check_places(const damo_op *op, int axis, int *n) {
  const prop_value *list = &op->props[axis];
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
                      axis ? "cols" : "rows", line_names[axis]);
  }
  return DAMO_OK;
}

/* Finds how many lines there are, and the first input of each: none is empty. */
static damo_status find_first(const damo_op *op, grid *g, int axis) {
  int *first = g->first[axis];
  for (int k = 0; k < g->n; k++) first[k] = -1;
  for (int i = g->n - 1; i >= 0; i--) {
    const int k = place_of(op, axis, i);
    if (k >= g->lines[axis]) g->lines[axis] = k + 1;
    if (k < g->n) first[k] = i;
  }
  for (int k = 0; k < g->n && k < g->lines[axis]; k++) {
    if (first[k] < 0)
      return ctx_fail(op->obj.ctx, DAMO_EVALUE, "BlockMatrix: block %s %d has no block: its length is not known",
                      line_names[axis], k + 1);
  }
  return DAMO_OK;
}

/* The inputs from[] by their lines along an axis, equal ones as they come. start: n + 1 numbers. */
static void sort_inputs(const damo_op *op, const grid *g, int axis, const int *from, int *to, int *start) {
  memset(start, 0, (size_t)(g->n + 1) * sizeof *start);
  for (int i = 0; i < g->n; i++) start[place_of(op, axis, i) + 1]++;
  for (int k = 0; k < g->n; k++) start[k + 1] += start[k];
  for (int i = 0; i < g->n; i++) to[start[place_of(op, axis, from[i])]++] = from[i];
}

static damo_status check_apart(const damo_op *op, const grid *g) {
  for (int k = 1; k < g->n; k++) {
    const int a = g->order[0][k - 1], b = g->order[0][k], row = place_of(op, 0, b), col = place_of(op, 1, b);
    if (place_of(op, 0, a) == row && place_of(op, 1, a) == col)
      return ctx_fail(op->obj.ctx, DAMO_EVALUE, "BlockMatrix: two blocks stand at (%d, %d)", row + 1, col + 1);
  }
  return DAMO_OK;
}

static size_t grid_room(int n) { return 4 * (size_t)n * sizeof(int); }

static damo_status grid_init(damo_op *op) {
  damo_ctx *ctx = op->obj.ctx;
  grid *g = op->data;
  damo_format format;
  damo_dtype dtype;
  const prop_value *v = op_prop(op, "dtype");
  for (int axis = 0; axis < 2; axis++) DAMO_TRY(check_places(op, axis, &g->n));
  DAMO_TRY(format_check(ctx, "BlockMatrix", op_prop(op, "format"), &format));
  if (v->kind != PROP_NIL && (v->kind != PROP_STR || !damo_dtype_from_name(v->u.s, &dtype)))
    return ctx_fail(ctx, DAMO_EVALUE, "BlockMatrix: dtype must be the name of a dtype");
  int *all = mem_alloc(ctx, grid_room(g->n));
  if (all == NULL) return DAMO_EMEMORY;
  for (int axis = 0; axis < 2; axis++) {
    g->first[axis] = all + axis * g->n;
    g->order[axis] = all + (2 + axis) * g->n;
  }
  for (int axis = 0; axis < 2; axis++) DAMO_TRY(find_first(op, g, axis));
  const size_t room = (size_t)(3 * g->n + 1) * sizeof(int);
  int *work = mem_alloc(ctx, room);
  if (work == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < g->n; i++) work[i] = i;
  for (int axis = 0; axis < 2; axis++) {
    sort_inputs(op, g, !axis, work, work + g->n, work + 2 * g->n);
    sort_inputs(op, g, axis, work + g->n, g->order[axis], work + 2 * g->n);
  }
  mem_free(ctx, work, room);
  return check_apart(op, g);
}

static void grid_clear(damo_op *op) {
  grid *g = op->data;
  if (g->first[0] != NULL) mem_free(op->obj.ctx, g->first[0], grid_room(g->n));
}

/* The segments of the line along the axis that begins at order[axis][*at], which moves on to the next; at most
 * 2 n + 1. */
static int next_line(const damo_op *op, int axis, int *at, segment *out) {
  const grid *g = op->data;
  const int *order = g->order[axis], line = place_of(op, axis, order[*at]);
  int n = 0, past = 0;
  for (; *at < g->n && place_of(op, axis, order[*at]) == line; ++*at) {
    const int block = order[*at], k = place_of(op, !axis, block);
    if (k > past) out[n++] = (segment){-1, past, k};
    out[n++] = (segment){block, k, k + 1};
    past = k + 1;
  }
  if (past < g->lines[!axis]) out[n++] = (segment){-1, past, g->lines[!axis]};
  return n;
}

/* ---- Types and lengths ------------------------------------------------------------------------------------------- */

static damo_format grid_format(const damo_op *op) {
  damo_format f = DAMO_CSR;
  format_check(op->obj.ctx, "BlockMatrix", op_prop(op, "format"), &f);
  return f;
}

/* Blocks of one line have one length; unknown ones are -1. */
static damo_status check_length(const damo_op *op, int axis, int i, int64_t length, int64_t of_first) {
  const grid *g = op->data;
  const int first = g->first[axis][place_of(op, axis, i)];
  if (length < 0 || of_first < 0 || length == of_first) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "BlockMatrix: block (%d, %d) has %lld %ss, block (%d, %d) has %lld",
                  place_of(op, 0, i) + 1, place_of(op, 1, i) + 1, (long long)length, line_names[axis],
                  place_of(op, 0, first) + 1, place_of(op, 1, first) + 1, (long long)of_first);
}

static damo_status static_lengths(const damo_op *op, damo_var *const *in, int64_t *shape) {
  const grid *g = op->data;
  for (int axis = 0; axis < 2; axis++) {
    for (int i = 0; i < g->n; i++) {
      const int first = g->first[axis][place_of(op, axis, i)];
      DAMO_TRY(check_length(op, axis, i, in[i]->type->shape[axis], in[first]->type->shape[axis]));
    }
    shape[axis] = 0;
    for (int k = 0; k < g->lines[axis]; k++) {
      const int64_t n = in[g->first[axis][k]]->type->shape[axis], sum = shape[axis];
      shape[axis] = sum < 0 || n < 0 || n >= INT64_MAX - sum ? -1 : sum + n;
    }
  }
  return DAMO_OK;
}

static damo_status bmat_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const grid *g = op->data;
  int64_t shape[2];
  damo_dtype itype = DAMO_INT32, dtype = DAMO_BOOL;
  if (n_in != g->n)
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "BlockMatrix: rows and cols are for %d blocks, got %d", g->n, n_in);
  for (int i = 0; i < n_in; i++) {
    DAMO_TRY(type_need_sparse(op, in, i));
    itype = itype_join(itype, var_itype(in[i]));
    dtype = i == 0 ? var_dtype(in[i]) : dtype_promote(dtype, var_dtype(in[i]));
  }
  DAMO_TRY(static_lengths(op, in, shape));
  if (op_prop(op, "dtype")->kind == PROP_STR) {
    DAMO_TRY(dtype_check_cast(op->obj.ctx, op->def->name, dtype, prop_dtype(op)));
    dtype = prop_dtype(op);
  }
  return type_give_sparse(op, out, grid_format(op), dtype, itype, shape[0], shape[1]);
}

static damo_status bmat_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  const grid *g = node->op->data;
  for (int axis = 0; axis < 2; axis++) {
    damo_var *sum = in_shape[g->first[axis][0]][axis];
    for (int k = 1; k < g->lines[axis]; k++) sum = build_fn2(b, "add", sum, in_shape[g->first[axis][k]][axis]);
    out_shape[0][axis] = sum;
  }
  return b->status;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static int64_t line_length(thunk *t, int axis, int k) {
  const grid *g = t->node->op->data;
  return thunk_in_sparse(t, g->first[axis][k])->shape[axis];
}

static damo_status check_lengths(thunk *t) {
  const damo_op *op = t->node->op;
  const grid *g = op->data;
  for (int axis = 0; axis < 2; axis++) {
    int64_t sum = 0;
    for (int i = 0; i < g->n; i++)
      DAMO_TRY(
          check_length(op, axis, i, thunk_in_sparse(t, i)->shape[axis], line_length(t, axis, place_of(op, axis, i))));
    for (int k = 0; k < g->lines[axis]; k++) {
      const int64_t n = line_length(t, axis, k);
      if (n > INT64_MAX - 1 - sum)
        return ctx_fail(t->ctx, DAMO_ESHAPE, "BlockMatrix: the blocks are longer than an axis can be");
      sum += n;
    }
  }
  return DAMO_OK;
}

/* Nothing, in place of the blocks of a line that are missing. */
static damo_sparse *empty_block(thunk *t, int axis, int line, const segment *s) {
  const damo_format format = grid_format(t->node->op);
  int64_t shape[2] = {0, 0};
  shape[axis] = line_length(t, axis, line);
  for (int k = s->from; k < s->past; k++) shape[!axis] += line_length(t, !axis, k);
  const damo_dtype itype = sparse_itype_for(DAMO_INT32, shape[0], shape[1], 0);
  damo_sparse *y = sparse_empty(t->ctx, format, var_dtype(t->node->out[0]), itype, shape, 0);
  if (y == NULL) return NULL;
  memset(y->indptr->data, 0, (size_t)array_size(y->indptr) * dtype_size(itype));
  y->sorted = y->unique = true;
  return y;
}

/* The blocks of a line put together. parts: room for n. NULL: the pending error. */
static damo_sparse *make_strip(thunk *t, int axis, int line, const segment *segments, int n, damo_sparse **parts) {
  damo_sparse *strip = NULL;
  int made = 0;
  for (; made < n; made++) {
    const segment *s = &segments[made];
    parts[made] = s->block < 0 ? empty_block(t, axis, line, s) : damo_retain(thunk_in_sparse(t, s->block));
    if (parts[made] == NULL) break;
  }
  if (made == n)
    strip = sparse_stack(t->ctx, "BlockMatrix", !axis, n, parts, grid_format(t->node->op), var_dtype(t->node->out[0]));
  while (made > 0) damo_release(parts[--made]);
  return strip;
}

static damo_status bmat_perform(thunk *t) {
  const damo_op *op = t->node->op;
  const grid *g = op->data;
  const damo_format format = grid_format(op);
  const int axis = format == DAMO_CSC, lines = g->lines[axis], most = 2 * g->n + 1;
  damo_sparse **strips = thunk_scratch(t, (size_t)(lines + most) * sizeof *strips + (size_t)most * sizeof(segment));
  if (strips == NULL) return DAMO_EMEMORY;
  DAMO_TRY(check_lengths(t));
  damo_sparse **parts = strips + lines, *out = NULL;
  segment *segments = (segment *)(void *)(parts + most);
  int made = 0;
  for (int at = 0; made < lines; made++) {
    const int n = next_line(op, axis, &at, segments);
    strips[made] = make_strip(t, axis, made, segments, n, parts);
    if (strips[made] == NULL) break;
  }
  if (made == lines) {
    const damo_dtype dtype = var_dtype(t->node->out[0]);
    out = lines == 1 ? damo_retain(strips[0]) : sparse_stack(t->ctx, "BlockMatrix", axis, lines, strips, format, dtype);
  }
  while (made > 0) damo_release(strips[--made]);
  return thunk_give_sparse(t, 0, out);
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

static damo_var *length_var(build *b, const damo_apply *node, int axis, int k) {
  const grid *g = node->op->data;
  return build_dim(b, node->in[g->first[axis][k]], axis);
}

/* Where the lines of an axis begin and where the last ends, each a sum with one more length: a run's length is one
 * difference. starts: room for one more than there are; the first is 0 and not made. */
static void list_starts(build *b, const damo_apply *node, int axis, damo_var **starts) {
  const grid *g = node->op->data;
  starts[0] = NULL;
  for (int k = 0; k < g->lines[axis]; k++) {
    damo_var *length = length_var(b, node, axis, k);
    starts[k + 1] = k == 0 ? length : build_fn2(b, "add", starts[k], length);
  }
}

static damo_var *run_length(build *b, const damo_apply *node, int axis, damo_var *const *starts, const segment *s) {
  if (s->past == s->from + 1) return length_var(b, node, axis, s->from);
  return s->from == 0 ? starts[s->past] : build_fn2(b, "sub", starts[s->past], starts[s->from]);
}

/* The part of a cotangent's line for each of its n segments: it is cut where there are several. */
static void take_parts(build *b, damo_apply *node, damo_var *strip, int axis, damo_var *const *starts,
                       const segment *segments, int n, damo_var **parts) {
  for (int i = 0; i < n; i++) parts[i] = n > 1 ? run_length(b, node, axis, starts, &segments[i]) : strip;
  damo_apply *cut = n > 1 ? build_sparse_split(b, strip, axis, parts, n) : NULL;
  for (int i = 0; i < n && n > 1; i++) parts[i] = cut != NULL ? cut->out[i] : NULL;
}

static damo_status bmat_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  const grid *g = node->op->data;
  const damo_format format = grid_format(node->op);
  const int axis = format == DAMO_CSC, lines = g->lines[axis], most = 2 * g->n + 1;
  const int across = g->lines[!axis] + 1;
  const size_t room = (size_t)(lines + across + most) * sizeof(damo_var *) + (size_t)most * sizeof(segment);
  damo_var **strips = mem_alloc(b->ctx, room);
  if (strips == NULL) return b->status = DAMO_EMEMORY;
  damo_var **starts = strips + lines, **parts = starts + across;
  segment *segments = (segment *)(void *)(parts + most);
  damo_var *all = var_is_sparse(gout[0]) ? build_to_format(b, gout[0], format) : build_sparse_from(b, gout[0], format);
  list_starts(b, node, !axis, starts);
  for (int k = 0; k < lines; k++) strips[k] = length_var(b, node, axis, k);
  damo_apply *cut = lines > 1 ? build_sparse_split(b, all, axis, strips, lines) : NULL;
  for (int k = 0, at = 0; k < lines && b->status == DAMO_OK; k++) {
    const int n = next_line(node->op, axis, &at, segments);
    take_parts(b, node, cut != NULL ? cut->out[k] : all, !axis, starts, segments, n, parts);
    for (int i = 0; i < n && b->status == DAMO_OK; i++) {
      const int block = segments[i].block;
      if (block < 0 || (gin[block] = build_truncated_zeros(b, node, block)) != NULL) continue;
      gin[block] = build_move_cotangent(b, parts[i], gout[0], node->out[0], node->in[block]);
    }
  }
  mem_free(b->ctx, strips, room);
  return b->status;
}

static damo_status bmat_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  return rop_of_parts(b, node, eval, rout, grid_format(node->op));
}

static const op_def bmat_def = {
    .name = "BlockMatrix",
    .doc = "a matrix of sparse blocks, zeros where there is none",
    .props = "rows cols format dtype",
    .n_in = OP_VARIADIC,
    .data_size = sizeof(grid),
    .init = grid_init,
    .clear = grid_clear,
    .infer_type = bmat_type,
    .perform = bmat_perform,
    .grad = bmat_grad,
    .rop = bmat_rop,
    .infer_shape = bmat_shape,
    .pattern = PATTERN_JOINS,
    .terms = TERMS_LINEAR,
};

/* ---- Function ---------------------------------------------------------------------------------------------------- */

static damo_status fn_bmat(build *b, const fn_args *a, ptrvec *out) {
  if (a->n_in < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: there are no blocks", a->func->name);
  for (int i = 0; i < a->n_in; i++) {
    if (sparse_operand(b, a, i) == NULL) return b->status;
  }
  if (a->opt[0].kind == PROP_NIL || a->opt[1].kind == PROP_NIL)
    return ctx_fail(b->ctx, DAMO_EVALUE,
                    "%s: a table of rows of blocks is wanted, or a list of blocks with rows= and cols=", a->func->name);
  prop_value props[4] = {a->opt[0], a->opt[1], a->opt[2], a->opt[3]};
  if (props[2].kind == PROP_NIL) props[2] = prop_str(sparse_format_name(var_format_of(a->in[0])));
  return fn_give(b, out, build_op(b, op_new(b->ctx, &bmat_def, props, 4), a->in, a->n_in));
}

const op_func sparse_bmat_funcs[] = {
    {.name = "sparse.bmat",
     .operands = "blocks...",
     .options = "rows:ints cols:ints format:str dtype:dtype",
     .call = fn_bmat,
     .doc = "a matrix of sparse blocks, in the first one's format: a table of rows {{A, B}, {false, C}}, false where "
            "there is none; or a list, with the block row and block column of each",
     .no_method = true},
    {.name = NULL},
};

const op_def *const sparse_bmat_classes[] = {&bmat_def, NULL};
