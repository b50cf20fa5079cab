/* run: runs an Elemwise node.
 *
 * In: the thunk's cells. Out: the result in its cell. A node of 0-d values calls its kernel at once. For the others a
 * plan is made once for given shapes and strides: axes that can be walked as one are merged; the innermost axis is
 * walked in blocks that stay in L1. A kernel sees contiguous blocks only: an operand that is contiguous where a block
 * lies is used in place, others (strided, repeated, of another dtype) are gathered into a buffer of the thunk's scratch
 * first; a strided result is scattered from one. Holds: all memory is taken before anything is written.
 */
#include "elem_int.h"

#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES 8192
#define SHORT_ROW 64 /* rows shorter than this are gathered several at a time */
#define MAX_OPERANDS (SCALAR_MAX_ARITY + 1)

typedef enum operand_mode {
  MODE_UNUSED, /* only its shape counts (the first operand of second) */
  MODE_WHOLE,  /* contiguous over the whole walk: used in place */
  MODE_ROW,    /* contiguous along each row, rows walked one by one: used in place */
  MODE_ONCE,   /* the same for every block: gathered once */
  MODE_GATHER  /* gathered for each block (the result: scattered) */
} operand_mode;

typedef struct plan_operand {
  operand_mode mode;
  uint8_t size;      /* bytes of an element in the array */
  uint8_t loop_size; /* bytes of an element in the kernel's block */
  bool whole;        /* contiguous over the whole walk */
  cast_fn cast;
  size_t buffer, stage; /* offsets in the scratch: the kernel's block; the same before conversion */
  int64_t *strides;     /* of the merged axes, bytes */
} plan_operand;

struct elemwise_plan {
  size_t bytes; /* of this allocation */
  bool valid;
  int32_t ndim;   /* of the result */
  int32_t n_axes; /* merged, at least 1 */
  int32_t n_in;
  int64_t total, inner, outer; /* elements; length of a row; rows */
  int64_t rows;                /* rows a block: 1, or several short ones */
  int64_t block;               /* elements a block */
  size_t scratch;
  plan_operand at[MAX_OPERANDS]; /* inputs, then the result */
  int64_t *shape;                /* of the result */
  int64_t *out_strides;
  int64_t *merged; /* lengths of the merged axes */
  int64_t *key;    /* shapes and strides of the inputs */
  int64_t numbers[];
};

void elemwise_state_clear(const thunk *t, frame *f) {
  elemwise_state *s = thunk_state(t, f);
  if (s->plan) mem_free(f->ctx, s->plan, s->plan->bytes);
  s->plan = NULL;
}

/* ---- Preparation ------------------------------------------------------------------------------------------------- */

static damo_status elemwise_prepare(const thunk *t, elemwise_state *s) {
  const damo_apply *node = t->node;
  const elemwise_data *d = elemwise_data_of(node->op);
  damo_dtype in[SCALAR_MAX_ARITY];
  for (int i = 0; i < node->n_in; i++) in[i] = var_dtype(node->in[i]);
  DAMO_TRY(elemwise_dtypes(node->op, in, &s->loop, &s->out_dtype));
  for (int i = 0; i < node->n_in; i++) {
    damo_dtype to = elemwise_operand_dtype(d->row, i, s->loop);
    s->cast[i] = in[i] == to ? NULL : kernel_cast(in[i], to);
  }
  s->fn = elemwise_kernel(d, s->loop);
  s->scalar = var_ndim(node->out[0]) == 0;
  s->ready = true;
  return DAMO_OK;
}

static int copied_operand(const thunk *t) { return t->n_in - 1; } /* of an op without a kernel */

/* ---- 0-d --------------------------------------------------------------------------------------------------------- */

static damo_status run_scalar(const thunk *t, frame *f, const elemwise_state *s) {
  const elemwise_data *d = elemwise_data_of(t->node->op);
  damo_array *out =
      d->inplace >= 0 ? thunk_out_inplace(t, f, 0, d->inplace) : thunk_out(t, f, 0, s->out_dtype, 0, NULL);
  if (out == NULL) return damo_error_status(f->ctx);
  damo_c128 converted[SCALAR_MAX_ARITY];
  void *args[MAX_OPERANDS];
  if (s->fn == NULL) {
    const damo_array *x = thunk_in(t, f, copied_operand(t));
    if (s->cast[copied_operand(t)]) {
      s->cast[copied_operand(t)](x->data, out->data, 1);
    } else {
      memmove(out->data, x->data, dtype_size(s->out_dtype));
    }
    return DAMO_OK;
  }
  for (int i = 0; i < t->n_in; i++) {
    args[i] = thunk_in(t, f, i)->data;
    if (s->cast[i] == NULL) continue;
    s->cast[i](args[i], &converted[i], 1);
    args[i] = &converted[i];
  }
  args[t->n_in] = out->data;
  s->fn(args, 1);
  return DAMO_OK;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static damo_status elemwise_fail_shapes(const thunk *t, frame *f, int axis, int ndim, int i, int64_t di, int j,
                                        int64_t dj) {
  const char *name = elemwise_data_of(t->node->op)->row->name;
  char a[256], b[256], hint[320];
  const damo_array *x = thunk_in(t, f, i), *y = thunk_in(t, f, j);
  shape_format(a, sizeof a, x->ndim, array_shape(x));
  shape_format(b, sizeof b, y->ndim, array_shape(y));
  if (di != 1 && dj != 1) {
    return ctx_fail(f->ctx, DAMO_ESHAPE,
                    "%s: shapes %s and %s do not agree: axis %d is %lld in operand %d and %lld in operand %d", name, a,
                    b, axis + 1, (long long)di, i + 1, (long long)dj, j + 1);
  }
  int one = di == 1 ? i : j;
  const damo_var *v = t->node->in[one];
  int own = axis - (ndim - var_ndim(v));
  return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: shapes %s and %s do not agree: axis %d of operand %d %s", name, a, b,
                  own + 1, one + 1, broadcast_hint(hint, sizeof hint, v->type, own));
}

/* The result's shape at run time: a dimension broadcasts only where the operand's static Type says 1. */
static damo_status broadcast_values(const thunk *t, frame *f, int ndim, int64_t *shape) {
  for (int axis = 0; axis < ndim; axis++) {
    int owner = -1;
    shape[axis] = 1;
    for (int i = 0; i < t->n_in; i++) {
      const damo_type *type = t->node->in[i]->type;
      int k = axis - (ndim - type->ndim);
      if (k < 0 || type_dim_is_one(type, k)) continue;
      int64_t d = array_shape(thunk_in(t, f, i))[k];
      if (owner >= 0 && d != shape[axis]) return elemwise_fail_shapes(t, f, axis, ndim, owner, shape[axis], i, d);
      if (owner < 0) owner = i;
      shape[axis] = d;
    }
  }
  return DAMO_OK;
}

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

static elemwise_plan *plan_new(const thunk *t, frame *f, int ndim) {
  size_t key = 0, n = (size_t)ndim;
  for (int i = 0; i < t->n_in; i++) key += 2 * (size_t)thunk_in(t, f, i)->ndim;
  size_t n_merged = n ? n : 1;
  size_t bytes = sizeof(elemwise_plan) + (key + 2 * n + n_merged * (size_t)(t->n_in + 2)) * sizeof(int64_t);
  elemwise_plan *p = mem_calloc(f->ctx, bytes);
  if (p == NULL) return NULL;
  p->bytes = bytes;
  p->ndim = ndim;
  p->n_in = t->n_in;
  int64_t *at = p->numbers;
  p->key = at, at += key;
  p->shape = at, at += n;
  p->out_strides = at, at += n;
  p->merged = at, at += n_merged;
  for (int i = 0; i <= t->n_in; i++, at += n_merged) p->at[i].strides = at;
  return p;
}

/* Compares the inputs' shapes and strides with the plan's; with `store`, keeps them. */
static bool key_matches(elemwise_plan *p, const thunk *t, frame *f, bool store) {
  int64_t *key = p->key;
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *x = thunk_in(t, f, i);
    size_t n = 2 * (size_t)x->ndim * sizeof(int64_t);
    if (store) {
      memcpy(key, x->dims, n);
    } else if (memcmp(key, x->dims, n) != 0) {
      return false;
    }
    key += 2 * x->ndim;
  }
  return true;
}

/* Strides of operand o over the result's axis: 0 where it is repeated. */
static int64_t stride_along(const elemwise_plan *p, const thunk *t, frame *f, const damo_array *out, int o, int axis) {
  if (o == p->n_in) return array_strides(out)[axis];
  const damo_array *x = thunk_in(t, f, o);
  int k = axis - (p->ndim - x->ndim);
  return k < 0 || array_shape(x)[k] == 1 ? 0 : array_strides(x)[k];
}

/* True when merged axis `last` and the next axis of the result, of these strides, are one axis for every operand. */
static bool can_merge(const elemwise_plan *p, int last, const int64_t *strides, int64_t length) {
  for (int o = 0; o <= p->n_in; o++) {
    if (p->at[o].strides[last] != strides[o] * length) return false;
  }
  return true;
}

static void merge_axes(elemwise_plan *p, const thunk *t, frame *f, const damo_array *out) {
  int n = 0;
  p->total = 1;
  for (int axis = 0; axis < p->ndim; axis++) {
    int64_t length = p->shape[axis], strides[MAX_OPERANDS];
    p->total *= length;
    if (length == 1) continue;
    for (int o = 0; o <= p->n_in; o++) strides[o] = stride_along(p, t, f, out, o, axis);
    bool merge = n > 0 && can_merge(p, n - 1, strides, length);
    if (!merge) n++;
    p->merged[n - 1] = merge ? p->merged[n - 1] * length : length;
    for (int o = 0; o <= p->n_in; o++) p->at[o].strides[n - 1] = strides[o];
  }
  if (n == 0) {
    n = 1;
    p->merged[0] = 1;
    for (int o = 0; o <= p->n_in; o++) p->at[o].strides[0] = p->at[o].size;
  }
  p->n_axes = n;
}

static bool is_whole(const elemwise_plan *p, const plan_operand *at) {
  int64_t step = at->size;
  for (int k = p->n_axes - 1; k >= 0; k--) {
    if (at->strides[k] != step) return false;
    step *= p->merged[k];
  }
  return true;
}

static bool is_same_in_all_rows(const elemwise_plan *p, const plan_operand *at) {
  for (int k = 0; k < p->n_axes - 1; k++) {
    if (at->strides[k] != 0) return false;
  }
  return true;
}

/* The mode of an operand when blocks are pieces of one row, or several whole rows. */
static operand_mode choose_mode(const elemwise_plan *p, const plan_operand *at, bool is_out) {
  int64_t step = at->strides[p->n_axes - 1];
  if (at->whole) return at->cast ? MODE_GATHER : MODE_WHOLE;
  if (p->rows == 1 && step == at->size && !at->cast) return MODE_ROW;
  bool by_rows = p->rows > 1 || p->block == p->inner;
  if (!is_out && is_same_in_all_rows(p, at) && (step == 0 || by_rows)) return MODE_ONCE;
  return MODE_GATHER;
}

static int64_t block_length(const elemwise_plan *p) {
  int64_t widest = 1;
  for (int o = 0; o <= p->n_in; o++) {
    if (p->at[o].loop_size > widest) widest = p->at[o].loop_size;
  }
  return BLOCK_BYTES / widest;
}

static size_t take_buffer(elemwise_plan *p, size_t bytes) {
  size_t at = p->scratch;
  p->scratch += (bytes + 63) & ~(size_t)63;
  return at;
}

/* Chooses the block and each operand's mode, and lays out the scratch. */
static void choose_blocks(elemwise_plan *p) {
  p->inner = p->merged[p->n_axes - 1];
  p->outer = p->total / p->inner;
  int64_t most = block_length(p);
  p->rows = p->inner < SHORT_ROW && p->outer > 1 ? most / p->inner : 1;
  if (p->rows > p->outer) p->rows = p->outer;
  bool buffered = false;
  p->block = p->rows > 1 ? p->rows * p->inner : p->inner < most ? p->inner : most;
  for (int o = 0; o <= p->n_in; o++) {
    plan_operand *at = &p->at[o];
    if (at->mode == MODE_UNUSED) continue;
    at->mode = choose_mode(p, at, o == p->n_in);
    buffered = buffered || at->mode > MODE_ROW;
  }
  if (!buffered && p->rows == 1) p->block = p->inner;
  p->scratch = 0;
  for (int o = 0; o <= p->n_in; o++) {
    plan_operand *at = &p->at[o];
    if (at->mode <= MODE_ROW) continue;
    at->buffer = take_buffer(p, (size_t)p->block * at->loop_size);
    if (at->cast) at->stage = take_buffer(p, (size_t)p->block * at->size);
  }
}

static void make_plan(elemwise_plan *p, const thunk *t, frame *f, const elemwise_state *s, const damo_array *out) {
  const scalar_op *row = elemwise_data_of(t->node->op)->row;
  for (int o = 0; o <= p->n_in; o++) {
    plan_operand *at = &p->at[o];
    damo_dtype dt = o == p->n_in ? array_dtype(out) : array_dtype(thunk_in(t, f, o));
    at->cast = o == p->n_in ? NULL : s->cast[o];
    at->size = (uint8_t)dtype_size(dt);
    at->loop_size = at->cast ? (uint8_t)dtype_size(elemwise_operand_dtype(row, o, s->loop)) : at->size;
    at->mode = s->fn == NULL && o < p->n_in && o != copied_operand(t) ? MODE_UNUSED : MODE_WHOLE;
  }
  memcpy(p->out_strides, array_strides(out), (size_t)p->ndim * sizeof(int64_t));
  merge_axes(p, t, f, out);
  if (p->total > 0) {
    for (int o = 0; o <= p->n_in; o++) p->at[o].whole = is_whole(p, &p->at[o]);
    choose_blocks(p);
  }
  key_matches(p, t, f, true);
  p->valid = true;
}

/* ---- Walking ----------------------------------------------------------------------------------------------------- */

typedef struct block_walk {
  const elemwise_plan *p;
  char *base[MAX_OPERANDS]; /* first elements */
  char *scratch;
} block_walk;

/* Bytes from the first element to the first of a row. */
static int64_t row_offset(const elemwise_plan *p, const plan_operand *at, int64_t row) {
  int64_t offset = 0;
  for (int k = p->n_axes - 2; k > 0; k--) {
    int64_t q = row / p->merged[k];
    offset += (row - q * p->merged[k]) * at->strides[k];
    row = q;
  }
  return p->n_axes > 1 ? offset + row * at->strides[0] : 0;
}

/* Elements [pos, pos + n) of row `row`, or n / inner whole rows from it on, between the array and a contiguous block.
 */
static void move_block(const block_walk *w, int o, int64_t row, int64_t pos, int64_t n, char *block, bool gather) {
  const elemwise_plan *p = w->p;
  const plan_operand *at = &p->at[o];
  int64_t step = at->strides[p->n_axes - 1], length = p->rows > 1 ? p->inner : n;
  for (int64_t done = 0; done < n; done += length, row++) {
    char *x = w->base[o] + row_offset(p, at, row) + pos * step;
    char *y = block + done * at->size;
    if (gather) {
      kernel_copy_strided(x, step, y, at->size, length, at->size);
    } else {
      kernel_copy_strided(y, at->size, x, step, length, at->size);
    }
  }
}

/* Where the operand lies contiguous as it is: the address of element pos of that row; NULL elsewhere. */
static char *contiguous_at(const block_walk *w, int o, int64_t row, int64_t pos) {
  const plan_operand *at = &w->p->at[o];
  if (at->whole) return w->base[o] + (row * w->p->inner + pos) * at->size;
  if (at->mode == MODE_ROW) return w->base[o] + row_offset(w->p, at, row) + pos * at->size;
  return NULL;
}

/* The kernel's block of input o. */
static char *load_block(const block_walk *w, int o, int64_t row, int64_t pos, int64_t n) {
  const plan_operand *at = &w->p->at[o];
  char *x = contiguous_at(w, o, row, pos);
  if (at->mode == MODE_WHOLE || at->mode == MODE_ROW) return x;
  char *buffer = w->scratch + at->buffer;
  if (x == NULL) {
    x = at->cast ? w->scratch + at->stage : buffer;
    move_block(w, o, row, pos, n, x, true);
  }
  if (at->cast) at->cast(x, buffer, n);
  return buffer;
}

static void run_block(const block_walk *w, kernel_fn fn, void **args, int64_t row, int64_t pos, int64_t n) {
  const elemwise_plan *p = w->p;
  for (int o = 0; o < p->n_in; o++) {
    if (p->at[o].mode != MODE_ONCE && p->at[o].mode != MODE_UNUSED) args[o] = load_block(w, o, row, pos, n);
  }
  char *out = contiguous_at(w, p->n_in, row, pos);
  args[p->n_in] = out ? out : w->scratch + p->at[p->n_in].buffer;
  if (fn) {
    fn(args, n);
  } else {
    memmove(args[p->n_in], args[p->n_in - 1], (size_t)n * p->at[p->n_in].size);
  }
  if (!out) move_block(w, p->n_in, row, pos, n, args[p->n_in], false);
}

/* What is the same for all blocks: filled for the longest one. */
static void load_constants(const block_walk *w, void **args) {
  const elemwise_plan *p = w->p;
  for (int o = 0; o < p->n_in; o++) {
    if (p->at[o].mode == MODE_ONCE) args[o] = load_block(w, o, 0, 0, p->block);
  }
}

/* A copy, or a conversion of one contiguous array: without blocks. True when done. */
static bool run_copy(const block_walk *w, const thunk *t, frame *f, const elemwise_state *s, damo_array *out) {
  const elemwise_plan *p = w->p;
  const plan_operand *x = &p->at[p->n_in - 1], *y = &p->at[p->n_in];
  if (s->cast[p->n_in - 1] == NULL) {
    int64_t strides[DAMO_MAX_NDIM];
    for (int k = 0; k < p->ndim; k++) strides[k] = stride_along(p, t, f, out, p->n_in - 1, k);
    if (out->data == w->base[p->n_in - 1]) return true; /* in place */
    kernel_copy_nd(w->base[p->n_in - 1], strides, out->data, array_strides(out), p->ndim, p->shape, y->size);
    return true;
  }
  if (!x->whole || !y->whole) return false;
  s->cast[p->n_in - 1](w->base[p->n_in - 1], out->data, p->total);
  return true;
}

static void run_plan(const block_walk *w, kernel_fn fn) {
  const elemwise_plan *p = w->p;
  void *args[MAX_OPERANDS] = {NULL};
  load_constants(w, args);
  for (int64_t row = 0; row < p->outer; row += p->rows) {
    if (p->rows > 1) {
      int64_t rows = p->outer - row < p->rows ? p->outer - row : p->rows;
      run_block(w, fn, args, row, 0, rows * p->inner);
      continue;
    }
    for (int64_t pos = 0; pos < p->inner; pos += p->block) {
      run_block(w, fn, args, row, pos, p->inner - pos < p->block ? p->inner - pos : p->block);
    }
  }
}

/* The result's array: the destroyed operand where it has the result's shape. */
static damo_array *elemwise_result(const thunk *t, frame *f, const elemwise_state *s, const elemwise_plan *p) {
  int j = elemwise_data_of(t->node->op)->inplace;
  if (j >= 0) {
    const damo_array *x = thunk_in(t, f, j);
    size_t n = (size_t)p->ndim * sizeof(int64_t);
    if (x->ndim == p->ndim && memcmp(array_shape(x), p->shape, n) == 0) return thunk_out_inplace(t, f, 0, j);
  }
  return thunk_out_strided(t, f, 0, s->out_dtype, p->ndim, p->shape);
}

damo_status elemwise_perform(const thunk *t, frame *f) {
  elemwise_state *s = thunk_state(t, f);
  if (!s->ready) DAMO_TRY(elemwise_prepare(t, s));
  if (s->scalar) return run_scalar(t, f, s);
  int ndim = var_ndim(t->node->out[0]);
  if (s->plan == NULL && (s->plan = plan_new(t, f, ndim)) == NULL) return damo_error_status(f->ctx);
  elemwise_plan *p = s->plan;
  if (p->valid && !key_matches(p, t, f, false)) p->valid = false;
  if (!p->valid) DAMO_TRY(broadcast_values(t, f, ndim, p->shape));
  damo_array *out = elemwise_result(t, f, s, p);
  if (out == NULL) return damo_error_status(f->ctx);
  if (!p->valid || memcmp(p->out_strides, array_strides(out), (size_t)ndim * sizeof(int64_t)) != 0) {
    make_plan(p, t, f, s, out);
  }
  if (p->total == 0) return DAMO_OK;
  block_walk w = {.p = p};
  for (int o = 0; o < p->n_in; o++) w.base[o] = thunk_in(t, f, o)->data;
  w.base[p->n_in] = out->data;
  if (s->fn == NULL && run_copy(&w, t, f, s, out)) return DAMO_OK;
  if (p->scratch > 0 && (w.scratch = thunk_scratch(t, f, p->scratch)) == NULL) return damo_error_status(f->ctx);
  run_plan(&w, s->fn);
  return DAMO_OK;
}
