/* scan_jit_run.c: runs the machine code of a loop that scan_jit.c has made.
 *
 * Operands go into the slots of the code's frame, or their addresses do; rows of stacked results are stored by the code
 * itself, last values are read from slots. The code runs a share of the steps at a time: until the loop has to look whether
 * it was interrupted, or a stack is full, or goes on elsewhere.
 */
#include <string.h>

#include "jit/jit.h"
#include "scan_jit_int.h"

/* Elements have 8, 4 or 1 bytes. */
static jit_slot native_read(const void *at, damo_dtype dtype) {
  const size_t size = dtype_size(dtype);
  jit_slot x = {.bits = 0};
  if (size == 8)
    memcpy(&x, at, 8);
  else if (size == 4)
    memcpy(&x, at, 4);
  else
    x.bits = *(const char *)at != 0 ? UINT64_MAX : 0;
  return x;
}

static void native_write(void *at, damo_dtype dtype, jit_slot x) {
  const size_t size = dtype_size(dtype);
  if (size == 8)
    memcpy(at, &x, 8);
  else if (size == 4)
    memcpy(at, &x, 4);
  else
    *(char *)at = x.bits != 0;
}

static damo_dtype out_dtype(const scan_class *s, const scan_part *p) { return scan_inner_out(s, p->out)->type->dtype; }

void scan_native_place_sequence(const scan_class *s, const scan_part *p, const damo_array *a, scan_native *n,
                                int64_t step) {
  const native_part *at = &n->part[p - s->part];
  const int64_t stride = array_strides(a)[0];
  n->frame[at->stride].i64 = stride;
  for (int axis = 0; axis < at->ndim; axis++) n->frame[at->along[axis]].i64 = array_strides(a)[1 + axis];
  for (int k = 0; k < p->n; k++) {
    if (at->value[k] == SCAN_NO_SLOT) continue;
    n->frame[at->value[k]].address = a->data + (p->before + s->tap[p->first + k] + step) * stride;
  }
}

/* Puts a fixed value, or the past of a state, into its slots. */
static void native_load_value(const scan_part *p, const damo_array *a, const native_part *at, jit_slot *slots) {
  const bool is_one = p->role == SCAN_FIXED || p->bare;
  const int64_t columns = at->columns > 0 ? at->columns : 1, *stride = array_strides(a) + a->ndim - at->ndim;
  const int64_t down = at->ndim > 0 ? stride[0] : 0, along = at->ndim > 1 ? stride[1] : 0;
  for (int k = 0; k < (is_one ? 1 : p->span); k++) {
    const char *row = is_one ? a->data : a->data + (p->span - 1 - k) * array_strides(a)[0];
    for (int32_t j = 0; j < at->n; j++)
      slots[at->value[k * at->most + j]] = native_read(row + j / columns * down + j % columns * along, array_dtype(a));
  }
}

void scan_native_load(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w, scan_native *n) {
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed; i++) {
    const scan_part *p = &s->part[i];
    const native_part *at = &n->part[i];
    if (p->role == SCAN_SEQUENCE && i >= scan_n_read(s, w)) continue; /* fed */
    const damo_array *a = thunk_in(t, f, scan_operand(s, w, p));
    if (p->role == SCAN_SEQUENCE) {
      scan_native_place_sequence(s, p, a, n, 0);
      continue;
    }
    native_load_value(p, a, at, n->frame);
  }
}

/* The shape of that many stacked values; returns its rank. */
static int native_stack_shape(const native_part *at, int64_t rows, int64_t *shape) {
  shape[0] = rows;
  shape[1] = native_rows(at);
  shape[2] = at->columns;
  return 1 + at->ndim;
}

/* Space for the rows of the stack, `rows` of them or as many as fit before it grows. */
static damo_status native_begin_stack(const thunk *t, frame *f, const scan_class *s, const scan_part *p,
                                      native_part *at, int64_t n) {
  const damo_dtype dtype = out_dtype(s, p);
  at->cap = p->tail > 0 && n > p->tail ? p->tail : n;
  if (s->until && p->tail <= 0 && at->cap > 64) at->cap = 64;
  int64_t shape[3];
  const int ndim = native_stack_shape(at, at->cap, shape);
  damo_array *a = s->until ? array_empty(f->ctx, dtype, ndim, shape) : thunk_out(t, f, p->stack, dtype, ndim, shape);
  if (a == NULL) return DAMO_EMEMORY;
  if (s->until) at->own = a;
  at->base = a->data;
  return DAMO_OK;
}

static damo_status grow_stack(frame *f, native_part *at, damo_dtype dtype) {
  const int64_t cap = 2 * at->cap;
  int64_t shape[3];
  const int ndim = native_stack_shape(at, cap, shape);
  damo_array *more = array_empty(f->ctx, dtype, ndim, shape);
  if (more == NULL) return DAMO_EMEMORY;
  memcpy(more->data, at->own->data, (size_t)(at->cap * at->n) * dtype_size(dtype));
  damo_release(at->own);
  at->own = more;
  at->base = more->data;
  at->cap = cap;
  return DAMO_OK;
}

/* Sets where step k of n stores its row, and how that moves. Returns for how many steps that is so. */
static int64_t native_place_row(const scan_class *s, const scan_part *p, scan_native *n, int64_t k, int64_t total) {
  const native_part *at = &n->part[p - s->part];
  const int64_t size = at->n * (int64_t)dtype_size(out_dtype(s, p)), left_out = total - at->cap;
  int64_t row, stride = size, steps;
  if (s->until) {
    row = p->tail > 0 && k >= at->cap ? k % at->cap : k;
    steps = at->cap - row;
  } else if (s->flipped) { /* the first rows are kept */
    row = at->cap - 1 - k;
    stride = -size;
    steps = row >= 0 ? at->cap - k : total - k;
  } else {
    row = k - left_out;
    steps = row >= 0 ? total - k : left_out - k;
  }
  n->frame[at->row].address = row >= 0 ? (void *)(at->base + row * size) : &n->frame[n->nowhere];
  n->frame[at->to].i64 = row >= 0 ? stride : 0;
  return steps;
}

int64_t scan_native_place_rows(const scan_class *s, scan_native *n, int64_t k, int64_t total) {
  int64_t steps = total - k;
  for (int i = 0; i < s->n_parts && !n->is_scalar; i++) {
    if (s->part[i].stack < 0) continue;
    const int64_t most = native_place_row(s, &s->part[i], n, k, total);
    if (most < steps) steps = most;
  }
  return steps;
}

/* Runs the steps, at most `total`; *k: the number of steps taken. */
static damo_status run_shares(frame *f, const scan_class *s, scan_native *n, int64_t total, int64_t *k) {
  int64_t share = n->known, since = 0;
  for (bool stopped = false; *k < total && !stopped;) {
    DAMO_TRY(ctx_poll(f->ctx));
    int64_t steps = total - *k < share ? total - *k : share;
    const bool whole = steps == share;
    for (int i = 0; s->until && i < s->n_parts; i++) {
      const scan_part *p = &s->part[i];
      native_part *at = &n->part[i];
      if (p->stack >= 0 && p->tail <= 0 && *k == at->cap) DAMO_TRY(grow_stack(f, at, out_dtype(s, p)));
    }
    const int64_t most = scan_native_place_rows(s, n, *k, total);
    if (most < steps) steps = most;
    if (whole && *k > 0) since = clock_ns();
    const int64_t left = jit_run(n->code, n->frame, steps);
    stopped = jit_stopped(n->code, n->frame);
    *k += steps - left;
    if (since == 0) continue;
    const int64_t took = clock_ns() - since;
    since = 0;
    if (steps == share && took < POLL_NS / 4 && share < SCAN_SHARES * n->share) share *= 2;
    if (took > POLL_NS / 2 && share > 1) share /= 2;
    n->known = share;
  }
  return DAMO_OK;
}

/* Copies the last rows of a stack whose length was unknown into the result. */
static damo_status give_own_stack(const thunk *t, frame *f, const scan_class *s, const scan_part *p,
                                  const native_part *at, int64_t n) {
  const int64_t kept = n < at->cap ? n : at->cap, first = p->tail > 0 && n > at->cap ? n % at->cap : 0;
  const size_t size = (size_t)at->n * dtype_size(out_dtype(s, p));
  int64_t shape[3];
  const int ndim = native_stack_shape(at, kept, shape);
  damo_array *out = thunk_out(t, f, p->stack, out_dtype(s, p), ndim, shape);
  if (out == NULL) return DAMO_EMEMORY;
  memcpy(out->data, at->base + (size_t)first * size, (size_t)(kept - first) * size);
  memcpy(out->data + (size_t)(kept - first) * size, at->base, (size_t)first * size);
  return DAMO_OK;
}

static damo_status native_give_number(const thunk *t, frame *f, int out, damo_dtype dtype, jit_slot x) {
  damo_array *a = thunk_out_scalar(t, f, out, dtype);
  if (a == NULL) return DAMO_EMEMORY;
  native_write(a->data, dtype, x);
  return DAMO_OK;
}

static damo_status native_give_steps(const thunk *t, frame *f, int out, int64_t steps) {
  return native_give_number(t, f, out, DAMO_INT64, (jit_slot){.i64 = steps});
}

/* The last value: entry k of it is in slots[at->value[k]]. */
static damo_status native_give_last(const thunk *t, frame *f, const scan_part *p, const native_part *at,
                                    damo_dtype dtype, const jit_slot *slots) {
  int64_t shape[3];
  const int ndim = native_stack_shape(at, 0, shape) - 1;
  damo_array *a = thunk_out(t, f, p->last, dtype, ndim, shape + 1);
  if (a == NULL) return DAMO_EMEMORY;
  for (int32_t k = 0; k < at->n; k++) native_write(a->data + (size_t)k * dtype_size(dtype), dtype, slots[at->value[k]]);
  return DAMO_OK;
}

damo_status scan_native_give(const thunk *t, frame *f, const scan_class *s, const scan_native *n, int64_t steps) {
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    const native_part *at = &n->part[i];
    if (at->own != NULL) DAMO_TRY(give_own_stack(t, f, s, p, at, steps));
    if (p->last < 0) continue;
    DAMO_TRY(native_give_last(t, f, p, at, out_dtype(s, p), n->frame));
  }
  if (!s->until) return DAMO_OK;
  return native_give_steps(t, f, scan_out_steps(s), steps);
}

damo_status scan_native_begin_stacks(const thunk *t, frame *f, const scan_class *s, scan_native *n, int64_t total) {
  damo_status status = DAMO_OK;
  for (int i = 0; i < s->n_parts && status == DAMO_OK; i++) {
    if (s->part[i].stack >= 0) status = native_begin_stack(t, f, s, &s->part[i], &n->part[i], total);
  }
  return status;
}

damo_status scan_native_run(const thunk *t, frame *f, const scan_class *s, const scan_frame *w, int64_t total,
                            int64_t *taken) {
  scan_native *n = w->native;
  *taken = 0;
  scan_native_load(t, f, s, w, n);
  damo_status status = scan_native_begin_stacks(t, f, s, n, total);
  if (status == DAMO_OK) status = run_shares(f, s, n, total, taken);
  if (status == DAMO_OK) status = scan_native_give(t, f, s, n, *taken);
  for (int i = 0; i < s->n_parts; i++) {
    damo_release(n->part[i].own);
    n->part[i].own = NULL;
  }
  return status;
}

damo_status scan_native_run_scalars(const thunk *t, frame *f, const scan_class *s, scan_native *n, int64_t total,
                                    int64_t *taken) {
  *taken = 0;
  for (const native_number *x = n->reads, *end = x + n->n_reads; x < end; x++)
    n->frame[x->slot] = native_read(((const damo_array *)f->cells[x->at])->data, x->dtype);
  DAMO_TRY(ctx_poll(f->ctx));
  const int64_t first = total < n->known ? total : n->known;
  *taken = first - jit_run(n->code, n->frame, first);
  if (*taken == first && first < total && !jit_stopped(n->code, n->frame)) DAMO_TRY(run_shares(f, s, n, total, taken));
  for (const native_number *x = n->gives, *end = x + n->n_gives; x < end; x++)
    DAMO_TRY(native_give_number(t, f, x->at, x->dtype, n->frame[x->slot]));
  return s->until ? native_give_steps(t, f, scan_out_steps(s), *taken) : DAMO_OK;
}
