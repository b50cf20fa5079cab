/* core_run: runs of Ops with a core signature: the walk over a stack, the copies of entries that a class wants in another
 * layout, and blocks of small entries in SIMD lanes. */
#include "core_int.h"
#include "kernel/isa.h"
#include "kernel/kernel.h"
#include "kernel/lanes/lanes.h"
#include "kernel/walk.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- A run ------------------------------------------------------------------------------------------------------- */

static char core_layout(const core_form *form, bool out, int i) {
  const char *layouts = out ? form->out_layout : form->in_layout;
  return layouts != NULL ? layouts[i] : out ? 'r' : 's';
}

/* A node's run: the walk over the stack, and where each matrix of an entry comes from and goes to. Operand i of the walk
 * is operand i of the node, then come the results. */
typedef struct core_run {
  core_call call;
  nd_space space;
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 2 * CORE_MOST)];
  char *at[2 * CORE_MOST];     /* the entry's matrices as they lie in memory */
  core_mat lie[2 * CORE_MOST]; /* their strides there */
  char *copy[2 * CORE_MOST];   /* workspace for a copy, NULL: none */
  bool once[CORE_MOST];        /* the copy is the same for all entries */
  bool same[CORE_MOST];        /* the operand is the same for all entries */
  int from[CORE_MOST];         /* the operand that a result begins as, or -1 */
} core_run;

static bool core_is_columns(const core_mat *m, int64_t size) {
  if (m->rows > 1 && m->rs != size) return false;
  return m->cols <= 1 || (m->cs >= m->rows * size && m->cs % size == 0 && m->cs / size <= INT32_MAX);
}

static core_mat core_mat_transposed(core_mat m) {
  core_mat t = m;
  t.rows = m.cols, t.cols = m.rows, t.rs = m.cs, t.cs = m.rs;
  return t;
}

/* The leading dimension of a matrix that lies by columns. */
static int64_t core_ld(const core_mat *m, int64_t size) {
  const int64_t least = m->rows > 1 ? m->rows : 1;
  return m->cols <= 1 || m->cs / size < least ? least : m->cs / size;
}

/* Sets m to a contiguous copy of what lies as `lie`. */
static void core_mat_packed(core_mat *m, const core_mat *lie, bool by_rows, int64_t size) {
  *m = *lie;
  m->by_rows = by_rows && lie->rows != 1 && lie->cols != 1;
  const int64_t inner = m->by_rows ? m->cols : m->rows;
  m->rs = m->by_rows ? inner * size : size;
  m->cs = m->by_rows ? size : inner * size;
  m->ld = inner > 1 ? inner : 1;
}

/* How operand i is presented; returns whether that is a copy. */
static bool core_present(core_mat *m, const core_mat *lie, char layout) {
  const int64_t size = (int64_t)dtype_size(lie->dtype);
  const core_mat t = core_mat_transposed(*lie);
  const bool cols = core_is_columns(lie, size), rows = core_is_columns(&t, size);
  *m = *lie;
  switch (layout) {
    case 's': m->ld = 1; return false;
    case 'c':
    case 'e':
      if (cols) {
        m->ld = core_ld(lie, size);
        return false;
      }
      if (layout == 'e' && rows) {
        m->by_rows = true;
        m->ld = core_ld(&t, size);
        return false;
      }
      core_mat_packed(m, lie, layout == 'e', size);
      return true;
    case 'r':
      if (rows || cols) {
        if (cols && (lie->cols <= 1 || (lie->rows <= 1 && rows))) {
          m->ld = core_ld(lie, size);
          return false;
        }
        if (rows) {
          m->by_rows = true;
          m->ld = core_ld(&t, size);
          return false;
        }
      }
      core_mat_packed(m, lie, true, size);
      return true;
    case 'C': core_mat_packed(m, lie, false, size); return true;
    case 'R': core_mat_packed(m, lie, true, size); return true;
    default: core_mat_packed(m, lie, !cols, size); return true; /* 'E' */
  }
}

static size_t core_bytes(const core_mat *m) {
  return (((size_t)m->rows * (size_t)m->cols * dtype_size(m->dtype)) + 63) & ~(size_t)63;
}

/* The matrix of an entry of an array, as it lies. */
static core_mat core_mat_of(const damo_array *a, const core_operand *o) {
  const int n = a->ndim;
  const int64_t *shape = array_shape(a), *stride = array_strides(a);
  core_mat m = {.rows = 1, .cols = 1, .dtype = array_dtype(a), .ld = 1};
  if (o->rank == 2) m.rows = shape[n - 2], m.rs = stride[n - 2], m.cols = shape[n - 1], m.cs = stride[n - 1];
  if (o->rank == 1) m.rows = shape[n - 1], m.rs = stride[n - 1];
  return m;
}

static void core_copy(damo_ctx *ctx, char *src, const core_mat *from, char *dst, const core_mat *to) {
  const int64_t shape[2] = {from->rows, from->cols}, ss[2] = {from->rs, from->cs}, ds[2] = {to->rs, to->cs};
  array_copy_box(ctx, src, ss, dst, ds, 2, shape, dtype_size(from->dtype));
}

/* The walk over the stack. */
static void core_run_walk(core_run *r, const core_shape *s, const core_sizes *z, const thunk *t, frame *f,
                          damo_array *const *results) {
  const int n = s->n_in + s->n_out;
  r->space = nd_space_begin(r->numbers, DAMO_MAX_NDIM, n);
  for (int axis = 0; axis < z->n_batch; axis++) {
    int64_t *stride = nd_space_next(&r->space), length;
    int own;
    for (int i = 0; i < s->n_in; i++) {
      const bool same = core_broadcasts(z, i, axis, &length, &own);
      stride[i] = same ? 0 : array_strides(thunk_in(t, f, i))[own];
    }
    for (int o = 0; o < s->n_out; o++) stride[s->n_in + o] = array_strides(results[o])[axis];
    nd_space_push(&r->space, z->batch[axis]);
  }
}

/* Decides the layout of each matrix, and where copies and the class's workspace lie in scratch: their offsets go to
 * `at`, -1 for none. Returns the bytes of scratch. */
static size_t core_run_layout(core_run *r, const core_shape *s, const core_class *class, int64_t *at) {
  const core_form *form = s->form;
  core_call *c = &r->call;
  size_t bytes = 0;
  for (int i = 0; i < s->n_in; i++) {
    const char layout = core_layout(form, false, i);
    c->in[i] = r->lie[i];
    at[i] = -1;
    r->same[i] = nd_is_same_in_all_rows(&r->space, i);
    if (layout == '-' || !core_present(&c->in[i], &r->lie[i], layout)) continue;
    at[i] = (int64_t)bytes;
    bytes += core_bytes(&c->in[i]);
    r->once[i] = r->same[i] && layout >= 'a';
  }
  for (int o = 0; o < s->n_out; o++) {
    const int k = s->n_in + o;
    const int64_t size = (int64_t)dtype_size(r->lie[k].dtype);
    core_mat_packed(&c->out[o], &r->lie[k], core_layout(form, true, o) == 'r', size);
    r->from[o] = form->from != NULL && form->from[o] != '-' ? form->from[o] - '1' : -1;
    at[k] = -1;
    if (core_layout(form, true, o) == 'r' || r->lie[k].rows <= 1 || r->lie[k].cols <= 1) continue;
    at[k] = (int64_t)bytes;
    bytes += core_bytes(&c->out[o]);
  }
  at[s->n_in + s->n_out] = (int64_t)bytes;
  return bytes + (class->workspace != NULL ? class->workspace(c) : 0);
}

/* Sets the copies' addresses, and that of the class's workspace. */
static void core_place(core_run *r, char *scratch, const int64_t *at) {
  const int n = r->call.n_in + r->call.n_out;
  for (int k = 0; k < n; k++) r->copy[k] = at[k] >= 0 ? scratch + at[k] : NULL;
  r->call.work = scratch != NULL ? scratch + at[n] : NULL;
}

damo_status core_fail(core_call *c, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  vsnprintf(c->why, sizeof c->why, fmt, args);
  va_end(args);
  return DAMO_ENUMERIC;
}

/* Fills the entry's results with nan, positions with 1. */
static void core_fill_nan(core_run *r) {
  for (int o = 0; o < r->call.n_out; o++) {
    const core_mat *m = &r->lie[r->call.n_in + o];
    char *p = r->at[r->call.n_in + o];
    const int64_t n = m->rows * m->cols * (dtype_is_complex(m->dtype) ? 2 : 1);
    for (int64_t k = 0; k < n; k++) {
      if (m->dtype == DAMO_INT64)
        ((int64_t *)(void *)p)[k] = 1;
      else if (dtype_real_part(m->dtype) == DAMO_FLOAT32)
        ((float *)(void *)p)[k] = NAN;
      else
        ((double *)(void *)p)[k] = NAN;
    }
  }
}

/* The numeric error of an entry, or results of nan. */
static damo_status core_entry_failed(core_run *r, const core_class *class, const core_sizes *z, int64_t row) {
  const prop_value *on_fail = op_prop(r->call.op, "on_fail");
  int64_t index[DAMO_MAX_NDIM];
  char text[256];
  if (on_fail->kind == PROP_STR && strcmp(on_fail->u.s, "nan") == 0) {
    core_fill_nan(r);
    return DAMO_OK;
  }
  if (z->n_batch == 0) return ctx_fail(r->call.ctx, DAMO_ENUMERIC, "%s: %s", class->func, r->call.why);
  nd_index(z->n_batch, z->batch, row, index);
  for (int i = 0; i < z->n_batch; i++) index[i]++;
  return ctx_fail(r->call.ctx, DAMO_ENUMERIC, "%s: %s (entry %s of the leading axes)", class->func, r->call.why,
                  shape_format(text, sizeof text, z->n_batch, index));
}

/* Presents the entry at r->at to the class, and computes it. */
static damo_status core_run_entry(core_run *r, const core_class *class, bool first) {
  core_call *c = &r->call;
  for (int i = 0; i < c->n_in; i++) {
    c->in[i].data = r->copy[i] != NULL ? r->copy[i] : r->at[i];
    c->again[i] = !first && r->same[i];
    if (r->copy[i] != NULL && (first || !r->once[i])) core_copy(c->ctx, r->at[i], &r->lie[i], r->copy[i], &c->in[i]);
  }
  for (int o = 0; o < c->n_out; o++) {
    const int k = c->n_in + o;
    c->out[o].data = r->copy[k] != NULL ? r->copy[k] : r->at[k];
    if (r->from[o] >= 0) core_copy(c->ctx, r->at[r->from[o]], &r->lie[r->from[o]], c->out[o].data, &c->out[o]);
  }
  DAMO_TRY(class->run(c));
  for (int o = 0; o < c->n_out; o++) {
    const int k = c->n_in + o;
    if (r->copy[k] != NULL) core_copy(c->ctx, r->copy[k], &c->out[o], r->at[k], &r->lie[k]);
  }
  return DAMO_OK;
}

#define CORE_POINT 8192 /* of the measure of work below: entries without points between them take some 10 µs */

/* A point after an entry: of calls in slices each time, else after some work, by the sizes of the matrices. */
static void core_point(const core_run *r, int64_t *since) {
  const core_call *c = &r->call;
  int64_t work = 64;
  if (ctx_pace(c->ctx) == NULL) {
    for (int k = 0; k < c->n_in + c->n_out; k++) work += r->lie[k].rows * r->lie[k].cols;
  } else {
    work = CORE_POINT;
  }
  ctx_point_after(c->ctx, since, work, CORE_POINT);
}

static damo_status core_walk(core_run *r, const core_class *class, const core_sizes *z) {
  int64_t since = 0;
  nd_walk w;
  for (bool more = nd_begin(&w, &r->space), first = true; more; more = nd_next(&w, r->at), first = false) {
    damo_status s = core_run_entry(r, class, first);
    if (s == DAMO_ENUMERIC) s = core_entry_failed(r, class, z, w.row);
    if (s != DAMO_OK) return s;
    core_point(r, &since);
    if (ctx_is_stopped(r->call.ctx)) break;
  }
  return DAMO_OK;
}

/* ---- Small entries in SIMD lanes --------------------------------------------------------------------------------- */

/* Entries of a stack by blocks of LANE_COUNT, whose matrices are gathered into lanes and scattered out of them. */
typedef struct core_blocks {
  const core_run *r;
  const core_class *class;
  core_lane_plan plan;
  int64_t rows, shares;
  thread_pool *pool; /* or NULL */
  char *scratch;     /* `bytes` for each thread */
  size_t bytes;
  uint8_t *failed; /* one for each entry */
} core_blocks;

static size_t core_lane_bytes(const core_mat *m, damo_dtype dtype) {
  return (size_t)m->rows * (size_t)m->cols * LANE_COUNT * dtype_size(dtype);
}

/* Where the elements of a matrix lie, in the order in which lanes hold them. */
typedef struct core_lie {
  bool is_index; /* positions, which lanes hold as floats */
  int n;
  int32_t at[CORE_LANE_MOST * CORE_LANE_MOST];
} core_lie;

static void core_lie_of(core_lie *lie, const core_mat *m, bool transposed) {
  const int64_t rows = transposed ? m->cols : m->rows, cols = transposed ? m->rows : m->cols;
  const int64_t rs = transposed ? m->cs : m->rs, cs = transposed ? m->rs : m->cs;
  lie->is_index = m->dtype == DAMO_INT64;
  lie->n = 0;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < cols; j++) lie->at[lie->n++] = i * rs + j * cs;
  }
}

#define CORE_MOVE(name, type)                                                                                     \
  static void core_gather_##name(char *const *at, const core_lie *lie, void *lanes) {                             \
    for (int l = 0; l < LANE_COUNT; l++) {                                                                        \
      type *restrict to = (type *)lanes + l;                                                                      \
      const char *restrict from = at[l];                                                                          \
      if (lie->is_index) {                                                                                        \
        for (int e = 0; e < lie->n; e++)                                                                          \
          to[e * LANE_COUNT] = (type)(*(const int64_t *)(const void *)(from + lie->at[e]));                       \
      } else {                                                                                                    \
        for (int e = 0; e < lie->n; e++) to[e * LANE_COUNT] = *(const type *)(const void *)(from + lie->at[e]);   \
      }                                                                                                           \
    }                                                                                                             \
  }                                                                                                               \
  static void core_scatter_##name(char *const *at, const core_lie *lie, const void *lanes, const uint8_t *failed, \
                                  int n) {                                                                        \
    for (int l = 0; l < n; l++) {                                                                                 \
      const type *restrict from = (const type *)lanes + l;                                                        \
      char *restrict to = at[l];                                                                                  \
      if (failed[l]) continue;                                                                                    \
      if (lie->is_index) {                                                                                        \
        for (int e = 0; e < lie->n; e++) *(int64_t *)(void *)(to + lie->at[e]) = (int64_t)from[e * LANE_COUNT];   \
      } else {                                                                                                    \
        for (int e = 0; e < lie->n; e++) *(type *)(void *)(to + lie->at[e]) = from[e * LANE_COUNT];               \
      }                                                                                                           \
    }                                                                                                             \
  }
CORE_MOVE(f32, float)
CORE_MOVE(f64, double)
#undef CORE_MOVE

/* The addresses of the next n entries of each matrix; lanes without an entry get the last one's. */
static void core_lane_addresses(nd_walk *w, char **at, int n_mats, int n, char *where[][LANE_COUNT]) {
  const nd_space *s = w->space;
  const int axis = s->n_axes - s->n_core - 1;
  if (n == LANE_COUNT && axis >= 0 && w->at[axis] + n < s->shape[axis]) {
    const int64_t *stride = s->stride + (int64_t)axis * s->pitch;
    for (int k = 0; k < n_mats; k++) {
      for (int l = 0; l < LANE_COUNT; l++) where[k][l] = at[k] + l * stride[k];
      at[k] += LANE_COUNT * stride[k];
    }
    w->at[axis] += LANE_COUNT;
    w->row += LANE_COUNT;
    return;
  }
  for (int l = 0; l < LANE_COUNT; l++) {
    for (int k = 0; k < n_mats; k++) where[k][l] = l < n ? at[k] : where[k][n - 1];
    if (l < n) nd_next(w, at);
  }
}

/* The blocks of one share. */
static void core_share(void *arg, int64_t share, int worker) {
  const core_blocks *p = arg;
  const core_run *r = p->r;
  const core_call *c = &r->call;
  const bool single = c->dtype == DAMO_FLOAT32;
  const int n_mats = c->n_in + c->n_out;
  char *scratch = p->scratch + (size_t)worker * p->bytes, *at[2 * CORE_MOST], *where[2 * CORE_MOST][LANE_COUNT];
  core_lanes lanes = {.fns = &c->ctx->isa->lanes[single ? 0 : 1]};
  core_lie lie[2 * CORE_MOST];
  nd_walk w;
  const int64_t blocks = (p->rows + LANE_COUNT - 1) / LANE_COUNT;
  const int64_t first = pool_share_first(blocks, share, p->shares) * LANE_COUNT;
  int64_t last = pool_share_first(blocks, share + 1, p->shares) * LANE_COUNT;
  last = last < p->rows ? last : p->rows;
  for (int k = 0; k < n_mats; k++) {
    *(k < c->n_in ? &lanes.in[k] : &lanes.out[k - c->n_in]) = scratch;
    core_lie_of(&lie[k], &r->lie[k], k < c->n_in ? p->plan.transposed_in[k] : p->plan.transposed_out[k - c->n_in]);
    scratch += core_lane_bytes(&r->lie[k], c->dtype);
    at[k] = r->at[k];
  }
  lanes.spare = scratch;
  if (first >= last) return;
  nd_begin(&w, &r->space);
  nd_seek(&w, first, at);
  for (int64_t row = first; row < last; row += LANE_COUNT) {
    const int n = last - row < LANE_COUNT ? (int)(last - row) : LANE_COUNT;
    uint8_t failed[LANE_COUNT] = {0};
    core_lane_addresses(&w, at, n_mats, n, where);
    lanes.failed = failed;
    for (int i = 0; i < c->n_in; i++) (single ? core_gather_f32 : core_gather_f64)(where[i], &lie[i], lanes.in[i]);
    p->class->run_lanes(c, &lanes);
    for (int o = 0; o < c->n_out; o++) {
      const int k = c->n_in + o;
      (single ? core_scatter_f32 : core_scatter_f64)(where[k], &lie[k], lanes.out[o], failed, n);
    }
    memcpy(p->failed + row, failed, (size_t)n);
    pool_point(p->pool);
  }
}

/* Whether the entries are small enough, and the class takes them; sets *plan. */
static bool core_takes_lanes(const core_run *r, const core_class *class, const core_sizes *z, core_lane_plan *plan) {
  const core_call *c = &r->call;
  if (class->plan_lanes == NULL || z->n_batch == 0 || !dtype_is_float(c->dtype)) return false;
  for (int k = 0; k < c->n_in + c->n_out; k++) {
    if (r->lie[k].rows > CORE_LANE_MOST || r->lie[k].cols > CORE_LANE_MOST || r->lie[k].rows * r->lie[k].cols == 0)
      return false;
  }
  return class->plan_lanes(c, plan);
}

/* Entries in lanes, then one by one those that the class has left out. */
static damo_status core_walk_lanes(core_run *r, const core_class *class, const core_sizes *z,
                                   const core_lane_plan *plan, const thunk *t, frame *f, size_t bytes,
                                   const int64_t *at) {
  const core_call *c = &r->call;
  core_blocks p = {.r = r, .class = class, .plan = *plan, .rows = r->space.rows};
  double entries = 0;
  for (int k = 0; k < c->n_in + c->n_out; k++) {
    p.bytes += core_lane_bytes(&r->lie[k], c->dtype);
    entries += (double)(r->lie[k].rows * r->lie[k].cols);
  }
  p.bytes += (size_t)plan->spare * LANE_COUNT * dtype_size(c->dtype);
  thread_pool *pool = ctx_pool(f->ctx, (double)p.rows * entries * (double)r->lie[0].rows);
  p.pool = pool;
  p.shares = pool_shares(pool, (p.rows + LANE_COUNT - 1) / LANE_COUNT, 16);
  /* The workspace of run, for what is left, lies before. */
  const size_t flags = ((size_t)p.rows + 63) & ~(size_t)63, before = (bytes + 63) & ~(size_t)63;
  char *scratch = thunk_scratch(t, f, before + flags + (size_t)pool_size(pool) * p.bytes);
  if (scratch == NULL) return DAMO_EMEMORY;
  core_place(r, scratch, at);
  p.failed = (uint8_t *)scratch + before;
  p.scratch = scratch + before + flags;
  pool_run_all(pool, p.shares, core_share, &p);
  nd_walk w;
  nd_begin(&w, &r->space);
  for (int64_t row = 0; row < p.rows; row++) {
    if (!p.failed[row]) continue;
    nd_seek(&w, row, r->at);
    damo_status s = core_run_entry(r, class, true);
    if (s == DAMO_ENUMERIC) s = core_entry_failed(r, class, z, row);
    if (s != DAMO_OK) return s;
  }
  return DAMO_OK;
}

damo_status core_perform(const thunk *t, frame *f) {
  const damo_op *op = t->node->op;
  const core_shape *s = core_shape_of(op);
  const core_class *class = op->def->core;
  core_run r = {.call = {.op = op, .ctx = f->ctx, .n_in = s->n_in, .n_out = s->n_out}};
  core_sizes z = {.ctx = f->ctx};
  damo_array *results[CORE_MOST];
  int64_t shape[DAMO_MAX_NDIM], at[2 * CORE_MOST + 1];
  bool filled = false;
  for (int i = 0; i < s->n_in; i++) {
    const damo_array *a = thunk_in(t, f, i);
    z.type[i] = t->node->in[i]->type, z.ndim[i] = a->ndim, z.shape[i] = array_shape(a);
  }
  DAMO_TRY(core_bind(op, &z));
  r.call.dtype = core_common_dtype(s, t->node->in);
  memcpy(r.call.dim, z.dim, sizeof z.dim);
  for (int o = 0; o < s->n_out; o++) {
    const int n = core_result_shape(s, &z, o, shape);
    results[o] = thunk_out(t, f, o, core_dtype(core_kind(s->form->out, o), r.call.dtype), n, shape);
    if (results[o] == NULL) return DAMO_EMEMORY;
    r.lie[s->n_in + o] = core_mat_of(results[o], &s->out[o]);
    r.at[s->n_in + o] = results[o]->data;
    filled = filled || array_size(results[o]) > 0;
  }
  if (!filled && !class->runs_empty) return DAMO_OK;
  for (int i = 0; i < s->n_in; i++) {
    r.lie[i] = core_mat_of(thunk_in(t, f, i), &s->in[i]);
    r.at[i] = thunk_in(t, f, i)->data;
  }
  core_run_walk(&r, s, &z, t, f, results);
  const size_t bytes = core_run_layout(&r, s, class, at);
  core_lane_plan plan = {.spare = 0};
  const bool in_lanes = core_takes_lanes(&r, class, &z, &plan);
  if (in_lanes && r.space.rows > 0) return core_walk_lanes(&r, class, &z, &plan, t, f, bytes, at);
  char *scratch = bytes > 0 ? thunk_scratch(t, f, bytes) : NULL;
  if (bytes > 0 && scratch == NULL) return DAMO_EMEMORY;
  core_place(&r, scratch, at);
  ctx_set_due(f->ctx);
  return core_walk(&r, class, &z);
}
