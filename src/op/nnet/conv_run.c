/* conv_run: how convolutions run: copies of samples, products of kernel/conv, and results put in their places.
 *
 * A convolution is one pass over its positions. Its transpose is one pass for each combination of residues modulo the
 * strides: the entries of x of one residue meet the same taps. Samples, groups and where these are few blocks of filters
 * are divided among threads; each entry of a result is summed by one of them. The gradient of the filters is summed over
 * chunks of samples, whose number depends on the shape alone.
 */
#include <string.h>

#include "conv.h"
#include "kernel/conv/conv.h"
#include "op/shape/shape_int.h"

#define CONV_CHUNKS 8                       /* of samples, in the gradient of the filters */
#define CONV_SUMS ((int64_t)1 << 23)        /* entries of their sums, at most */
#define CONV_RESULTS 32768                  /* entries of a strip's results */
#define CONV_DEPTH 512                      /* positions that one product sums over, about */
#define CONV_CACHED (1 << 20)               /* bytes of the samples that one product reads together */
#define CONV_PIECE_NS 10000                 /* of a product, in a call in slices */
#define CONV_MOST_SOURCE ((int64_t)1 << 40) /* entries of the copy of a sample */

/* Positions with the taps that meet them. */
typedef struct conv_pass {
  conv_grid grid;
  int64_t depth; /* taps of all channels of the source */
  int64_t *offsets;
  char *weights; /* packed, those of all groups one after the other */
} conv_pass;

/* What all shares read. */
typedef struct conv_job {
  const conv_fns *fns;
  size_t size; /* bytes of an element */
  conv_source source;
  int64_t source_size, past, groups, rows, strip;
  const char *from; /* samples: source.channels of each group */
  char *to;         /* results: rows planes of each group */
  int64_t plane_in, plane_out;
  conv_pass *passes;
  int64_t n_passes;
  int64_t blocks, block; /* of rows: a share has one sample, one group and one block */
  int64_t part;          /* rows of one product: all of a block, or fewer */
  char *workers;
  size_t worker_bytes;
  thread_pool *pool; /* or NULL */
} conv_job;

static size_t conv_align(size_t n) { return (n + 63) & ~(size_t)63; }

static const conv_fns *conv_fns_of(const frame *f, damo_dtype dtype) {
  return dtype == DAMO_FLOAT32 ? &f->ctx->isa->conv->f32 : &f->ctx->isa->conv->f64;
}

static int64_t conv_product(const int64_t *v) { return v[0] * v[1] * v[2]; }

/* Fails where a sample's copy has more entries than any memory, so that sizes made of that number do not overflow. */
static damo_status conv_check_source(damo_ctx *ctx, const conv_source *s) {
  int64_t n = s->channels;
  for (int k = 0; k < WINDOW_AXES; k++) {
    if (!i64_mul(n, s->phases[k], &n) || !i64_mul(n, s->length[k], &n) || n > CONV_MOST_SOURCE)
      return ctx_fail_memory(ctx);
  }
  return DAMO_OK;
}

/* About how many nanoseconds so many products of two numbers take. */
static double conv_ns(double products, size_t size) { return products * (double)size / 64; }

/* How many of `units`, in steps of `step`, one product gets in a call in slices, where a unit takes `each` nanoseconds. */
static int64_t conv_piece(int64_t units, int64_t step, double each) {
  const double n = CONV_PIECE_NS / each;
  if (n >= (double)units) return units;
  return n < (double)step ? step : (int64_t)n / step * step;
}

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

/* The strips of one pass for one sample and one block of rows. to: the planes of the block. */
static void conv_run_pass(const conv_job *j, const conv_pass *p, const char *source, int64_t group, int64_t first,
                          int64_t rows, char *results, char *to) {
  const int64_t pitch = j->source.length[2], slab = j->source.length[1] * pitch;
  const int64_t n = (p->grid.length[1] - 1) * pitch + p->grid.length[2];
  conv_strip s = {.depth = p->depth, .pitch = j->strip, .offsets = p->offsets, .result = results};
  for (int64_t a = 0; a < p->grid.length[0]; a++) {
    for (int64_t at = 0; at < n; at += j->strip) {
      s.n = n - at < j->strip ? n - at : j->strip;
      s.source = source + (size_t)(a * slab + at) * j->size;
      for (int64_t row = 0; row < rows; row += j->part) {
        s.rows = rows - row < j->part ? rows - row : j->part;
        s.weights = p->weights + (size_t)((group * j->rows + first + row) * p->depth) * j->size;
        j->fns->strip(&s);
        conv_put(&p->grid, j->size, a, pitch, at, s.n, s.rows, results, j->strip,
                 to + (size_t)(row * j->plane_out) * j->size);
        pool_point(j->pool);
      }
    }
  }
}

static void conv_share(void *arg, int64_t share, int worker) {
  const conv_job *j = arg;
  const int64_t block = share % j->blocks, group = share / j->blocks % j->groups,
                sample = share / j->blocks / j->groups;
  const int64_t first = block * j->block, rows = j->rows - first < j->block ? j->rows - first : j->block;
  char *source = j->workers + (size_t)worker * j->worker_bytes;
  char *results = source + conv_align((size_t)(j->source_size + j->past) * j->size);
  conv_pad(&j->source, j->size,
           j->from + (size_t)((sample * j->groups + group) * j->source.channels * j->plane_in) * j->size, source,
           j->past, j->pool);
  char *to = j->to + (size_t)(((sample * j->groups + group) * j->rows + first) * j->plane_out) * j->size;
  for (const conv_pass *p = j->passes; p < j->passes + j->n_passes; p++)
    conv_run_pass(j, p, source, group, first, rows, results, to);
}

/* Sets blocks, strip, part and the bytes of a worker; returns the number of shares. depth: of a pass, about; sliced: the
 * products are short ones. */
static int64_t conv_divide(conv_job *j, const thread_pool *pool, int64_t samples, int64_t depth, bool sliced) {
  const int64_t tile = 3 * j->fns->lanes, threads = pool_size(pool);
  j->past = tile;
  j->source_size = conv_source_size(&j->source);
  j->blocks = 1;
  if (samples * j->groups < 2 * threads) j->blocks = (2 * threads + samples * j->groups - 1) / (samples * j->groups);
  j->block = (j->rows + j->blocks - 1) / j->blocks;
  j->block = (j->block + j->fns->rows - 1) / j->fns->rows * j->fns->rows;
  j->blocks = (j->rows + j->block - 1) / j->block;
  j->part = j->block;
  j->strip = CONV_RESULTS / j->block / tile * tile;
  if (j->strip < tile) j->strip = tile;
  int64_t most = 0;
  for (int64_t i = 0; i < j->n_passes; i++) {
    const int64_t *n = j->passes[i].grid.length;
    if ((n[1] - 1) * j->source.length[2] + n[2] > most) most = (n[1] - 1) * j->source.length[2] + n[2];
  }
  most = (most + tile - 1) / tile * tile;
  if (j->strip > most) j->strip = most;
  if (sliced) {
    j->strip = conv_piece(j->strip, tile, conv_ns((double)j->block * (double)depth, j->size));
    j->part = conv_piece(j->block, j->fns->rows, conv_ns((double)j->strip * (double)depth, j->size));
  }
  j->worker_bytes =
      conv_align((size_t)(j->source_size + j->past) * j->size) + conv_align((size_t)(j->part * j->strip) * j->size);
  return samples * j->groups * j->blocks;
}

/* ---- Weights ----------------------------------------------------------------------------------------------------- */

/* The place of tap t (three numbers) in a filter. */
static int64_t conv_tap_place(const conv_spec *s, const conv_lengths *l, const int64_t *t) {
  int64_t place = 0;
  for (int k = 0; k < WINDOW_AXES; k++) place = place * l->taps[k] + (s->flip ? l->taps[k] - 1 - t[k] : t[k]);
  return place;
}

/* Packs the weights of one group: entry (i, p) of `rows` × depth is from[i·row + at[p]]. */
#define CONV_PACK(T)                                                                                                  \
  static void conv_pack_##T(const T *from, int64_t rows, int64_t row, int64_t depth, const int64_t *at, int64_t most, \
                            T *to, thread_pool *pool) {                                                               \
    int64_t n, since = 0;                                                                                             \
    for (int64_t first = 0; first < rows; first += n) {                                                               \
      n = conv_panel(rows - first, most);                                                                             \
      for (int64_t p = 0; p < depth; p++, to += n)                                                                    \
        for (int64_t i = 0; i < n; i++) to[i] = from[(first + i) * row + at[p]];                                      \
      conv_point_after(pool, &since, n *depth);                                                                       \
    }                                                                                                                 \
  }
CONV_PACK(uint32_t)
CONV_PACK(uint64_t)

static void conv_pack(size_t size, const char *from, int64_t rows, int64_t row, int64_t depth, const int64_t *at,
                      int64_t most, char *to, thread_pool *pool) {
  if (size == sizeof(uint32_t))
    conv_pack_uint32_t((const void *)from, rows, row, depth, at, most, (void *)to, pool);
  else
    conv_pack_uint64_t((const void *)from, rows, row, depth, at, most, (void *)to, pool);
}

/* ---- Conv -------------------------------------------------------------------------------------------------------- */

/* The copy of a sample in which tap t at position o lies at o·stride + t·dilation. */
static conv_source conv_source_of(const conv_spec *s, const conv_lengths *l) {
  conv_source source = {.channels = l->channels};
  for (int k = 0; k < WINDOW_AXES; k++) {
    const int64_t extent = (l->out[k] - 1) * s->stride[k] + (l->taps[k] - 1) * s->dilation[k] + 1;
    source.in[k] = l->in[k];
    source.first[k] = -l->pad[k][0];
    source.phases[k] = s->stride[k];
    source.length[k] = (extent + s->stride[k] - 1) / s->stride[k];
  }
  return source;
}

/* The next of the taps in C order; false after the last. */
static bool conv_next_tap(const conv_lengths *l, int64_t *t) {
  for (int k = WINDOW_AXES - 1; k >= 0; k--) {
    if (++t[k] < l->taps[k]) return true;
    t[k] = 0;
  }
  return false;
}

/* The offsets of all channels' taps. */
static void conv_offsets(const conv_spec *s, const conv_lengths *l, const conv_source *source, int64_t *offsets) {
  for (int64_t c = 0; c < l->channels; c++) {
    int64_t t[WINDOW_AXES] = {0}, at[WINDOW_AXES];
    do {
      for (int k = 0; k < WINDOW_AXES; k++) at[k] = t[k] * s->dilation[k];
      *offsets++ = conv_source_offset(source, c, at);
    } while (conv_next_tap(l, t));
  }
}

/* The places of all channels' taps in a filter. */
static void conv_places(const conv_spec *s, const conv_lengths *l, int64_t *places) {
  const int64_t all = conv_product(l->taps);
  for (int64_t c = 0; c < l->channels; c++) {
    int64_t t[WINDOW_AXES] = {0};
    do *places++ = c * all + conv_tap_place(s, l, t);
    while (conv_next_tap(l, t));
  }
}

static conv_grid conv_grid_of(const conv_lengths *l) {
  conv_grid g = {.step = {1, 1, 1}};
  for (int k = 0; k < WINDOW_AXES; k++) g.length[k] = g.shape[k] = l->out[k];
  return g;
}

/* About how many nanoseconds the products take on one thread. */
static double conv_time(const conv_lengths *l, size_t size) {
  const double products = (double)(l->batch * l->groups) * (double)(l->channels * l->filters) *
                          (double)conv_product(l->taps) * (double)conv_product(l->out);
  return conv_ns(products, size);
}

/* An output of the lengths `of` (five). */
static damo_array *conv_out(const thunk *t, frame *f, damo_dtype dtype, int ndim, int64_t first, int64_t second,
                            const int64_t *of) {
  int64_t shape[2 + WINDOW_AXES] = {first, second};
  for (int i = 2; i < ndim; i++) shape[i] = of[i - 2 + 2 + WINDOW_AXES - ndim];
  return thunk_out(t, f, 0, dtype, ndim, shape);
}

damo_status conv_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0), *w = thunk_in(t, f, 1);
  const conv_spec *s = conv_spec_of(t->node->op);
  const damo_dtype dtype = array_dtype(x);
  int64_t xs[2 + WINDOW_AXES], ws[2 + WINDOW_AXES];
  conv_lengths l;
  window_lengths(x, xs);
  window_lengths(w, ws);
  DAMO_TRY(conv_lengths_of(f->ctx, t->node->op, xs, ws, &l));
  damo_array *y = conv_out(t, f, dtype, x->ndim, l.batch, l.groups * l.filters, l.out);
  if (y == NULL) return DAMO_EMEMORY;
  if (array_size(y) == 0) return DAMO_OK;
  if (l.channels == 0) {
    array_zero_bytes(f->ctx, y->data, (size_t)array_size(y) * dtype_size(dtype));
    return DAMO_OK;
  }
  thread_pool *pool = ctx_pool(f->ctx, conv_time(&l, dtype_size(dtype)));
  conv_pass pass = {.grid = conv_grid_of(&l), .depth = l.channels * conv_product(l.taps)};
  conv_job j = {.fns = conv_fns_of(f, dtype),
                .size = dtype_size(dtype),
                .source = conv_source_of(s, &l),
                .groups = l.groups,
                .rows = l.filters,
                .plane_in = conv_product(l.in),
                .plane_out = conv_product(l.out),
                .to = y->data,
                .passes = &pass,
                .n_passes = 1};
  DAMO_TRY(conv_check_source(f->ctx, &j.source));
  j.pool = pool;
  const int64_t shares = conv_divide(&j, pool, l.batch, pass.depth, ctx_pace(f->ctx) != NULL);
  const size_t lists = conv_align((size_t)pass.depth * sizeof(int64_t)),
               weights = conv_align((size_t)(l.groups * l.filters * pass.depth) * j.size), copy = window_copy_bytes(x);
  char *scratch =
      thunk_scratch(t, f, 2 * lists + weights + copy + window_copy_bytes(w) + j.worker_bytes * (size_t)pool_size(pool));
  if (scratch == NULL) return DAMO_EMEMORY;
  int64_t *places = (int64_t *)(void *)(scratch + lists);
  pass.offsets = (int64_t *)(void *)scratch;
  pass.weights = scratch + 2 * lists;
  j.from = window_contiguous(x, pass.weights + weights);
  const char *wd = window_contiguous(w, pass.weights + weights + copy);
  j.workers = pass.weights + weights + copy + window_copy_bytes(w);
  conv_offsets(s, &l, &j.source, pass.offsets);
  conv_places(s, &l, places);
  const size_t group = (size_t)(l.filters * pass.depth) * j.size;
  for (int64_t g = 0; g < l.groups; g++)
    conv_pack(j.size, wd + (size_t)g * group, l.filters, pass.depth, pass.depth, places, j.fns->rows,
              pass.weights + (size_t)g * group, pool);
  pool_run(pool, shares, conv_share, &j);
  return DAMO_OK;
}

/* ---- ConvGradInput ----------------------------------------------------------------------------------------------- */

/* Along one axis, the entries i of x with (i + pad) mod stride = residue: i = q·stride + residue - pad for q in first … last.
 * They meet the taps t with t·dilation = residue + m·stride, at position q - m. */
typedef struct conv_residue {
  int64_t residue, first, last;
} conv_residue;

static int64_t floor_quotient(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/* The residues of axis k that taps have, with entries of x; and the range lo … hi of positions that they meet. */
static int64_t conv_residues(const conv_spec *s, const conv_lengths *l, int k, conv_residue *found, int64_t *lo,
                             int64_t *hi) {
  const int64_t stride = s->stride[k], pad = l->pad[k][0];
  int64_t n = 0;
  *lo = INT64_MAX, *hi = INT64_MIN;
  for (int64_t t = 0; t < l->taps[k]; t++) {
    const int64_t residue = t * s->dilation[k] % stride, m = t * s->dilation[k] / stride;
    const int64_t first = -floor_quotient(residue - pad, stride),
                  last = floor_quotient(l->in[k] - 1 + pad - residue, stride);
    if (last < first) continue;
    if (first - m < *lo) *lo = first - m;
    if (last - m > *hi) *hi = last - m;
    bool known = false;
    for (int64_t i = 0; i < n; i++) known = known || found[i].residue == residue;
    if (!known) found[n++] = (conv_residue){residue, first, last};
  }
  return n;
}

/* Makes the pass of one combination of residues: its taps' offsets, and their places in w. */
static void conv_make_pass(const conv_spec *s, const conv_lengths *l, const conv_source *source,
                           const conv_residue *const *r, conv_pass *p, int64_t *places) {
  const int64_t all = conv_product(l->taps);
  p->depth = 0;
  for (int k = 0; k < WINDOW_AXES; k++) {
    p->grid.length[k] = r[k]->last - r[k]->first + 1;
    p->grid.origin[k] = r[k]->first * s->stride[k] + r[k]->residue - l->pad[k][0];
    p->grid.step[k] = s->stride[k];
    p->grid.shape[k] = l->in[k];
  }
  for (int64_t filter = 0; filter < l->filters; filter++) {
    int64_t t[WINDOW_AXES] = {0}, at[WINDOW_AXES];
    do {
      bool meets = true;
      for (int k = 0; k < WINDOW_AXES; k++) {
        const int64_t shift = t[k] * s->dilation[k];
        meets = meets && shift % s->stride[k] == r[k]->residue;
        at[k] = r[k]->first - shift / s->stride[k] - source->first[k];
      }
      if (!meets) continue;
      p->offsets[p->depth] = conv_source_offset(source, filter, at);
      places[p->depth++] = filter * l->channels * all + conv_tap_place(s, l, t);
    } while (conv_next_tap(l, t));
  }
}

/* Checks that positions `got` of y are those of l. axis: the first of y's axes that count. */
static damo_status conv_check_positions(damo_ctx *ctx, const thunk *t, const int64_t *got, const conv_lengths *l) {
  for (int k = 0; k < WINDOW_AXES; k++) {
    if (got[k] == l->out[k]) continue;
    return ctx_fail(ctx, DAMO_ESHAPE, "%s: a length of %lld on axis %d gives %lld positions, the operand has %lld",
                    t->node->op->def->name, (long long)l->in[k], k - WINDOW_AXES + conv_spec_of(t->node->op)->n + 3,
                    (long long)l->out[k], (long long)got[k]);
  }
  return DAMO_OK;
}

/* The residues of the three axes, and the copy of cotangents that their passes read. Memory for the lists: taps. */
typedef struct conv_residue_set {
  conv_residue *of[WINDOW_AXES];
  int64_t n[WINDOW_AXES];
  conv_source source;
  bool leaves; /* entries of x that no tap meets */
} conv_residue_set;

static void conv_find_residues(const conv_spec *s, const conv_lengths *l, conv_residue *list, conv_residue_set *set) {
  set->source = (conv_source){.channels = l->filters};
  set->leaves = false;
  for (int k = 0; k < WINDOW_AXES; k++) {
    int64_t lo, hi;
    set->of[k] = list;
    set->n[k] = conv_residues(s, l, k, list, &lo, &hi);
    list += l->taps[k];
    set->leaves = set->leaves || set->n[k] < s->stride[k];
    set->source.in[k] = l->out[k];
    set->source.phases[k] = 1;
    set->source.first[k] = set->n[k] > 0 ? lo : 0;
    set->source.length[k] = set->n[k] > 0 ? hi - lo + 1 : 1;
  }
}

damo_status conv_grad_input_perform(const thunk *t, frame *f) {
  const damo_array *y = thunk_in(t, f, 0), *w = thunk_in(t, f, 1);
  const conv_spec *s = conv_spec_of(t->node->op);
  const damo_dtype dtype = array_dtype(y);
  int64_t ys[2 + WINDOW_AXES], ws[2 + WINDOW_AXES], xs[2 + WINDOW_AXES] = {1, 1, 1, 1, 1};
  conv_lengths l;
  window_lengths(y, ys);
  window_lengths(w, ws);
  DAMO_TRY(thunk_dims(t, f, t->node->op->def->name, 2, s->n, xs + 2 + WINDOW_AXES - s->n));
  xs[0] = ys[0];
  DAMO_TRY(conv_input_channels(f->ctx, t->node->op, ws[1], &xs[1]));
  DAMO_TRY(conv_lengths_of(f->ctx, t->node->op, xs, ws, &l));
  if (ys[1] != ws[0]) {
    return ctx_fail(f->ctx, DAMO_ESHAPE,
                    "nn.conv%dd_transpose: axis 2 of operand 1 (x) is %lld, axis 1 of operand 2 (w) "
                    "is %lld",
                    s->n, (long long)ys[1], (long long)ws[0]);
  }
  DAMO_TRY(conv_check_positions(f->ctx, t, ys + 2, &l));
  damo_array *x = conv_out(t, f, dtype, y->ndim, l.batch, l.groups * l.channels, l.in);
  if (x == NULL) return DAMO_EMEMORY;
  if (array_size(x) == 0) return DAMO_OK;

  conv_job j = {.fns = conv_fns_of(f, dtype),
                .size = dtype_size(dtype),
                .groups = l.groups,
                .rows = l.channels,
                .plane_in = conv_product(l.out),
                .plane_out = conv_product(l.in),
                .to = x->data};
  const int64_t all = conv_product(l.taps), taps = l.filters * all;
  int64_t most = 1; /* passes */
  for (int k = 0; k < WINDOW_AXES; k++) most *= l.taps[k] < s->stride[k] ? l.taps[k] : s->stride[k];
  const size_t residues = conv_align((size_t)(l.taps[0] + l.taps[1] + l.taps[2]) * sizeof(conv_residue)),
               passes = conv_align((size_t)most * sizeof(conv_pass)),
               lists = conv_align((size_t)taps * sizeof(int64_t)),
               weights = conv_align((size_t)(l.groups * l.channels * taps) * j.size),
               copies = window_copy_bytes(y) + window_copy_bytes(w);
  const size_t fixed = residues + passes + 2 * lists + weights + copies;
  char *scratch = thunk_scratch(t, f, fixed);
  if (scratch == NULL) return DAMO_EMEMORY;
  conv_residue_set set;
  conv_find_residues(s, &l, (conv_residue *)(void *)scratch, &set);
  j.source = set.source;
  DAMO_TRY(conv_check_source(f->ctx, &j.source));
  j.passes = (conv_pass *)(void *)(scratch + residues);
  if (set.leaves || taps == 0) array_zero_bytes(f->ctx, x->data, (size_t)array_size(x) * j.size);
  if (taps == 0) return DAMO_OK;
  /* The lengths of all passes decide how much a worker needs; then the memory may move, and they are made again. */
  for (int64_t i = 0; i < set.n[0] * set.n[1] * set.n[2]; i++) {
    const conv_residue *r[3] = {&set.of[0][i / (set.n[1] * set.n[2])], &set.of[1][i / set.n[2] % set.n[1]],
                                &set.of[2][i % set.n[2]]};
    for (int k = 0; k < WINDOW_AXES; k++) j.passes[i].grid.length[k] = r[k]->last - r[k]->first + 1;
    j.n_passes++;
  }
  thread_pool *pool = ctx_pool(f->ctx, conv_time(&l, j.size));
  j.pool = pool;
  const int64_t shares = conv_divide(&j, pool, l.batch, (taps + j.n_passes - 1) / j.n_passes, ctx_pace(f->ctx) != NULL);
  scratch = thunk_scratch(t, f, fixed + j.worker_bytes * (size_t)pool_size(pool));
  if (scratch == NULL) return DAMO_EMEMORY;
  conv_find_residues(s, &l, (conv_residue *)(void *)scratch, &set);
  j.passes = (conv_pass *)(void *)(scratch + residues);
  int64_t *offsets = (int64_t *)(void *)(scratch + residues + passes),
          *places = (int64_t *)(void *)(scratch + residues + passes + lists);
  char *packed = scratch + residues + passes + 2 * lists;
  j.from = window_contiguous(y, packed + weights);
  const char *wd = window_contiguous(w, packed + weights + window_copy_bytes(y));
  j.workers = packed + weights + copies;
  for (int64_t i = 0; i < j.n_passes; i++) {
    const conv_residue *const r[3] = {&set.of[0][i / (set.n[1] * set.n[2])], &set.of[1][i / set.n[2] % set.n[1]],
                                      &set.of[2][i % set.n[2]]};
    conv_pass *p = &j.passes[i];
    p->offsets = offsets;
    p->weights = packed;
    conv_make_pass(s, &l, &j.source, r, p, places);
    for (int64_t g = 0; g < l.groups; g++, packed += (size_t)(l.channels * p->depth) * j.size)
      conv_pack(j.size, wd + (size_t)(g * l.filters * l.channels * all) * j.size, l.channels, all, p->depth, places,
                j.fns->rows, packed, pool);
    offsets += p->depth;
  }
  pool_run(pool, shares, conv_share, &j);
  return DAMO_OK;
}

/* ---- ConvGradFilter ---------------------------------------------------------------------------------------------- */

/* Sums over chunks of samples, of each group: [chunk][group][taps of all channels][width]. */
typedef struct conv_sums {
  const conv_fns *fns;
  size_t size;
  const conv_lengths *l;
  conv_source source;
  conv_grid grid;
  int64_t source_size, past, taps, width;
  int64_t blocks, block; /* of taps: a share has one chunk, one group and one block */
  int64_t part;          /* taps of one product: all of a block, or fewer */
  conv_order order;
  const int64_t *offsets;
  const char *x, *y;
  char *sums, *workers;
  size_t worker_bytes;
  thread_pool *pool; /* or NULL */
} conv_sums;

static void conv_sum_share(void *arg, int64_t share, int worker) {
  const conv_sums *j = arg;
  const conv_lengths *l = j->l;
  const int64_t block = share % j->blocks, group = share / j->blocks % l->groups, chunk = share / j->blocks / l->groups;
  const int64_t first = block * j->block, rows = j->taps - first < j->block ? j->taps - first : j->block;
  const int64_t pitch = j->source.length[2], slab = j->source.length[1] * pitch, in = conv_product(l->in),
                out = conv_product(l->out), one = j->source_size + j->past,
                end = pool_share_first(l->batch, chunk + 1, j->order.chunks);
  const int64_t depth = j->order.depth;
  char *source = j->workers + (size_t)worker * j->worker_bytes;
  char *transposed = source + conv_align((size_t)(j->order.together * one) * j->size);
  char *sums = j->sums + (size_t)(((chunk * l->groups + group) * j->taps + first) * j->width) * j->size;
  memset(sums, 0, (size_t)(rows * j->width) * j->size);
  conv_outer o = {
      .n = j->width, .source_step = one, .b_step = j->order.slab * j->width, .b_row = j->width, .c_row = j->width};
  for (int64_t sample = pool_share_first(l->batch, chunk, j->order.chunks); sample < end; sample += o.segments) {
    o.segments = end - sample < j->order.together ? end - sample : j->order.together;
    for (int64_t i = 0; i < o.segments; i++)
      conv_pad(&j->source, j->size, j->x + (size_t)(((sample + i) * l->groups + group) * l->channels * in) * j->size,
               source + (size_t)(i * one) * j->size, j->past, j->pool);
    for (int64_t a = 0; a < l->out[0]; a++) {
      for (int64_t i = 0; i < o.segments; i++)
        conv_transpose_slab(&j->grid, j->size, a, pitch, l->filters,
                            j->y + (size_t)(((sample + i) * l->groups + group) * l->filters * out) * j->size, j->width,
                            transposed + (size_t)(i * o.b_step) * j->size, j->pool);
      for (int64_t at = 0; at < j->order.slab; at += depth) {
        o.depth = j->order.slab - at < depth ? j->order.slab - at : depth;
        o.source = source + (size_t)(a * slab + at) * j->size;
        o.b = transposed + (size_t)(at * j->width) * j->size;
        for (int64_t row = 0; row < rows; row += j->part) {
          o.rows = rows - row < j->part ? rows - row : j->part;
          o.offsets = j->offsets + first + row;
          o.c = sums + (size_t)(row * j->width) * j->size;
          j->fns->outer(&o);
          pool_point(j->pool);
        }
      }
    }
  }
}

static double conv_load_float(size_t size, const char *p) {
  float single;
  double whole;
  if (size == sizeof single) {
    memcpy(&single, p, sizeof single);
    return (double)single;
  }
  memcpy(&whole, p, sizeof whole);
  return whole;
}

/* Adds the chunks' sums in their order, and puts them in their places in w: 16 filters at a time, whose sums lie next to
 * each other. */
static void conv_collect(const conv_sums *j, const int64_t *places, char *w) {
  const conv_lengths *l = j->l;
  int64_t since = 0;
  const int64_t one = j->taps * j->width, at_once = 16, blocks = (l->filters + at_once - 1) / at_once;
  for (int64_t n = 0; n < l->groups * blocks * j->taps; n++) {
    const int64_t p = n % j->taps, group = n / j->taps / blocks, first = n / j->taps % blocks * at_once;
    for (int64_t k = first; k < first + at_once && k < l->filters; k++) {
      const char *from = j->sums + (size_t)((group * j->taps + p) * j->width + k) * j->size;
      double sum = 0;
      for (int64_t chunk = 0; chunk < j->order.chunks; chunk++)
        sum += conv_load_float(j->size, from + (size_t)(chunk * l->groups * one) * j->size);
      char *to = w + (size_t)((group * l->filters + k) * j->taps + places[p]) * j->size;
      if (j->size == sizeof(float))
        memcpy(to, &(const float){(float)sum}, sizeof(float));
      else
        memcpy(to, &sum, sizeof sum);
    }
    conv_point_after(j->pool, &since, at_once * j->order.chunks);
  }
}

#define CONV_MOST_LANES 16 /* of a vector of any instruction set */

conv_order conv_sum_order(const conv_spec *s, const conv_lengths *l, size_t size) {
  const conv_source source = conv_source_of(s, l);
  const int64_t width = (l->filters + CONV_MOST_LANES - 1) / CONV_MOST_LANES * CONV_MOST_LANES;
  const int64_t sums = l->groups * l->channels * conv_product(l->taps) * width;
  conv_order o = {.pitch = source.length[2], .slab = (l->out[1] - 1) * source.length[2] + l->out[2]};
  o.chunks = l->batch * l->out[0] * o.slab / (2 * CONV_DEPTH);
  if (o.chunks > CONV_CHUNKS) o.chunks = CONV_CHUNKS;
  if (o.chunks > l->batch) o.chunks = l->batch;
  while (o.chunks > 1 && o.chunks * sums > CONV_SUMS) o.chunks--;
  if (o.chunks < 1) o.chunks = 1;
  const int64_t sample = (conv_source_size(&source) + 3 * CONV_MOST_LANES + o.slab * width) * (int64_t)size;
  o.together = (CONV_DEPTH + o.slab - 1) / o.slab;
  if (o.together > CONV_CACHED / sample) o.together = CONV_CACHED / sample;
  if (o.together > (l->batch + o.chunks - 1) / o.chunks) o.together = (l->batch + o.chunks - 1) / o.chunks;
  if (o.together < 1) o.together = 1;
  o.depth = CONV_DEPTH / o.together > 64 ? CONV_DEPTH / o.together : 64;
  return o;
}

/* The order of sums, and blocks and parts of taps; returns the number of shares. */
static int64_t conv_divide_sums(conv_sums *j, const conv_spec *s, const thread_pool *pool, bool sliced) {
  const conv_lengths *l = j->l;
  const int64_t lanes = j->fns->lanes, threads = pool_size(pool);
  j->order = conv_sum_order(s, l, j->size);
  j->past = 3 * lanes;
  j->source_size = conv_source_size(&j->source);
  j->blocks = j->order.chunks * l->groups < 2 * threads
                  ? (2 * threads + j->order.chunks * l->groups - 1) / (j->order.chunks * l->groups)
                  : 1;
  j->block = (j->taps + j->blocks - 1) / j->blocks;
  j->block = (j->block + j->fns->rows - 1) / j->fns->rows * j->fns->rows;
  j->blocks = (j->taps + j->block - 1) / j->block;
  const double terms = (double)(j->order.depth < j->order.slab ? j->order.depth : j->order.slab);
  const double each = conv_ns(terms * (double)j->order.together * (double)j->width, j->size);
  j->part = sliced ? conv_piece(j->block, j->fns->rows, each) : j->block;
  j->worker_bytes = conv_align((size_t)(j->order.together * (j->source_size + j->past)) * j->size) +
                    conv_align((size_t)(j->order.together * j->order.slab * j->width) * j->size);
  return j->order.chunks * l->groups * j->blocks;
}

damo_status conv_grad_filter_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0), *y = thunk_in(t, f, 1);
  const conv_spec *s = conv_spec_of(t->node->op);
  const damo_dtype dtype = array_dtype(x);
  int64_t xs[2 + WINDOW_AXES], ys[2 + WINDOW_AXES], ws[2 + WINDOW_AXES] = {1, 1, 1, 1, 1};
  conv_lengths l;
  window_lengths(x, xs);
  window_lengths(y, ys);
  DAMO_TRY(thunk_dims(t, f, t->node->op->def->name, 2, s->n, ws + 2 + WINDOW_AXES - s->n));
  ws[0] = ys[1];
  ws[1] = xs[1] / s->groups;
  DAMO_TRY(conv_lengths_of(f->ctx, t->node->op, xs, ws, &l));
  if (xs[0] != ys[0]) {
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: axis 1 of operand 1 is %lld, of operand 2 %lld", t->node->op->def->name,
                    (long long)xs[0], (long long)ys[0]);
  }
  DAMO_TRY(conv_check_positions(f->ctx, t, ys + 2, &l));
  damo_array *w = conv_out(t, f, dtype, x->ndim, ws[0], ws[1], l.taps);
  if (w == NULL) return DAMO_EMEMORY;
  if (array_size(w) == 0) return DAMO_OK;
  if (l.batch == 0) {
    array_zero_bytes(f->ctx, w->data, (size_t)array_size(w) * dtype_size(dtype));
    return DAMO_OK;
  }
  conv_sums j = {.fns = conv_fns_of(f, dtype),
                 .size = dtype_size(dtype),
                 .l = &l,
                 .source = conv_source_of(s, &l),
                 .grid = conv_grid_of(&l),
                 .taps = l.channels * conv_product(l.taps)};
  DAMO_TRY(conv_check_source(f->ctx, &j.source));
  const int64_t lanes = j.fns->lanes;
  j.width = (l.filters + lanes - 1) / lanes * lanes;
  thread_pool *pool = ctx_pool(f->ctx, conv_time(&l, j.size));
  j.pool = pool;
  const int64_t shares = conv_divide_sums(&j, s, pool, ctx_pace(f->ctx) != NULL), sums = l.groups * j.taps * j.width;
  const size_t lists = conv_align((size_t)j.taps * sizeof(int64_t)),
               all = conv_align((size_t)(j.order.chunks * sums) * j.size),
               copies = window_copy_bytes(x) + window_copy_bytes(y);
  char *scratch = thunk_scratch(t, f, 2 * lists + all + copies + j.worker_bytes * (size_t)pool_size(pool));
  if (scratch == NULL) return DAMO_EMEMORY;
  int64_t *offsets = (int64_t *)(void *)scratch, *places = (int64_t *)(void *)(scratch + lists);
  conv_offsets(s, &l, &j.source, offsets);
  conv_places(s, &l, places);
  j.offsets = offsets;
  j.sums = scratch + 2 * lists;
  j.x = window_contiguous(x, j.sums + all);
  j.y = window_contiguous(y, j.sums + all + window_copy_bytes(x));
  j.workers = j.sums + all + copies;
  pool_run(pool, shares, conv_sum_share, &j);
  conv_collect(&j, places, w->data);
  return DAMO_OK;
}
