/* record.c: records of collectives and their comparison. */
#include "record.h"

#include <stdio.h>
#include <string.h>

/* Words of RECORD_OPTIONS. */
enum {
  OPTION_OP = RECORD_OPTIONS,
  OPTION_ROOT,
  OPTION_AXIS,
  OPTION_AXIS2,
  OPTION_EQUAL,
  OPTION_WIDTHS, /* lo · 2^32 + hi */
  OPTION_TO,
  OPTION_FROM
};

const char *collective_name(collective_kind kind) {
  static const char *const names[] = {"allreduce", "reduce",   "bcast",    "scatter", "gather",
                                      "allgather", "alltoall", "sendrecv", "halo"};
  return (unsigned)kind < N_COLLECTIVES ? names[kind] : "?";
}

const char *reduction_name(reduction op) {
  static const char *const names[] = {"sum", "prod", "max", "min"};
  return (unsigned)op < N_REDUCTIONS ? names[op] : "?";
}

size_t record_bytes(const int64_t *record) {
  const int64_t words = record[RECORD_KIND] < 0 ? RECORD_WORDS : RECORD_SHAPE + record[RECORD_NDIM];
  return (size_t)words * sizeof *record;
}

int64_t even_part(int64_t n, int size, int r) { return n / size + (r < n % size); }

void record_fill(int64_t *record, const form *f, damo_dtype dtype, int ndim, const int64_t *shape,
                 const int64_t *like) {
  memset(record, 0, RECORD_SHAPE * sizeof *record);
  record[RECORD_SEQ] = f->seq;
  record[RECORD_KIND] = 2 * f->kind + f->adjoint;
  record[RECORD_DTYPE] = dtype;
  record[RECORD_NDIM] = f->kind == SENDRECV ? 2 * ndim : ndim;
  record[OPTION_OP] = f->op;
  record[OPTION_ROOT] = f->root;
  record[OPTION_AXIS] = f->axis;
  record[OPTION_AXIS2] = f->axis2;
  record[OPTION_EQUAL] = f->equal;
  record[OPTION_WIDTHS] = f->lo * ((int64_t)1 << 32) + f->hi;
  record[OPTION_TO] = f->to;
  record[OPTION_FROM] = f->from;
  if (ndim > 0) memcpy(record + RECORD_SHAPE, shape, (size_t)ndim * sizeof *shape);
  if (ndim > 0 && f->kind == SENDRECV) memcpy(record + RECORD_SHAPE + ndim, like, (size_t)ndim * sizeof *like);
}

static bool equal_lengths(const int64_t *a, const int64_t *b, int n) {
  int d = 0;
  while (d < n && a[d] == b[d]) d++;
  return d == n;
}

bool record_is_of(const int64_t *record, const form *f, damo_dtype dtype, int ndim, const int64_t *shape,
                  const int64_t *like) {
  const int64_t *lengths = record + RECORD_SHAPE;
  const bool two = f->kind == SENDRECV;
  return record[RECORD_DTYPE] == (int64_t)dtype && record[RECORD_NDIM] == (two ? 2 * ndim : ndim) &&
         equal_lengths(lengths, shape, ndim) && (!two || equal_lengths(lengths + ndim, like, ndim));
}

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

static const int64_t *record_of(const group *g, int r) { return g->records + (size_t)r * RECORD_WORDS; }

static void write_shape(char *text, size_t size, const int64_t *record) {
  size_t n = (size_t)snprintf(text, size, "(");
  for (int64_t d = 0; d < record[RECORD_NDIM] && n < size; d++)
    n += (size_t)snprintf(text + n, size - n, "%s%lld", d > 0 ? ", " : "", (long long)record[RECORD_SHAPE + d]);
  if (n < size) snprintf(text + n, size - n, ")");
}

static void write_name(char *text, size_t size, const int64_t *record) {
  const int64_t kind = record[RECORD_KIND];
  if (kind == RECORD_SPLIT) {
    snprintf(text, size, "mpi.split");
  } else if (kind == RECORD_SAME) {
    snprintf(text, size, "the number of steps of a loop with collectives");
  } else if (kind == RECORD_BARRIER || kind == RECORD_EXCHANGE) {
    snprintf(text, size, "%.*s", RECORD_TEXT_MAX, (const char *)(record + RECORD_SHAPE));
  } else if (kind == RECORD_GONE) {
    snprintf(text, size, "a later collective");
  } else {
    const char *of = kind % 2 ? "the gradient of " : "";
    const bool reduces = kind / 2 <= REDUCE;
    snprintf(text, size, "%smpi.%s%s%s", of, collective_name((collective_kind)(kind / 2)), reduces ? " " : "",
             reduces ? reduction_name((reduction)record[OPTION_OP]) : "");
  }
}

/* The error that ranks 0 and r differ: what each of them has, in words. */
static damo_status differ(const group *g, damo_ctx *ctx, damo_status s, int a, int b, const char *has_a,
                          const char *has_b) {
  char name[100], message[900];
  write_name(name, sizeof name, record_of(g, a));
  snprintf(message, sizeof message, "%s: the ranks disagree: rank %d has %s, rank %d has %s", name, a, has_a, b, has_b);
  return damo_fail(ctx, s, message);
}

static damo_status judge_call(const group *g, damo_ctx *ctx, int r) {
  const int64_t *a = record_of(g, 0), *b = record_of(g, r);
  char has_a[200], has_b[200];
  write_name(has_a, sizeof has_a, a);
  write_name(has_b, sizeof has_b, b);
  const bool named = a[RECORD_KIND] == RECORD_EXCHANGE || a[RECORD_KIND] == RECORD_BARRIER;
  const bool same_name = !named || memcmp(a + RECORD_SHAPE, b + RECORD_SHAPE, RECORD_TEXT_MAX) == 0;
  if (a[RECORD_KIND] != b[RECORD_KIND] || a[OPTION_OP] != b[OPTION_OP] || !same_name)
    return differ(g, ctx, DAMO_EINCONSISTENCY, 0, r, has_a, has_b);
  if (a[RECORD_SEQ] != b[RECORD_SEQ]) {
    snprintf(has_a, sizeof has_a, "number %lld of its graphs", (long long)a[RECORD_SEQ]);
    snprintf(has_b, sizeof has_b, "number %lld", (long long)b[RECORD_SEQ]);
    return differ(g, ctx, DAMO_EINCONSISTENCY, 0, r, has_a, has_b);
  }
  static const struct {
    int word;
    int64_t add;
    const char *name;
  } options[] = {{OPTION_ROOT, 0, "root"},
                 {OPTION_AXIS, 1, "axis"},
                 {OPTION_AXIS2, 1, "the axis of the result"},
                 {OPTION_EQUAL, 0, "equal"},
                 {OPTION_WIDTHS, 0, "widths"}};
  for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
    if (a[options[k].word] == b[options[k].word]) continue;
    snprintf(has_a, sizeof has_a, "%s %lld", options[k].name, (long long)(a[options[k].word] + options[k].add));
    snprintf(has_b, sizeof has_b, "%s %lld", options[k].name, (long long)(b[options[k].word] + options[k].add));
    return differ(g, ctx, DAMO_EINCONSISTENCY, 0, r, has_a, has_b);
  }
  if (a[RECORD_DTYPE] == b[RECORD_DTYPE] && a[RECORD_NDIM] == b[RECORD_NDIM]) return DAMO_OK;
  snprintf(has_a, sizeof has_a, "%s of %lld dimensions", damo_dtype_name((damo_dtype)a[RECORD_DTYPE]),
           (long long)a[RECORD_NDIM]);
  snprintf(has_b, sizeof has_b, "%s of %lld dimensions", damo_dtype_name((damo_dtype)b[RECORD_DTYPE]),
           (long long)b[RECORD_NDIM]);
  return differ(g, ctx, DAMO_ETYPE, 0, r, has_a, has_b);
}

static damo_status differ_in_shape(const group *g, damo_ctx *ctx, int a, int b) {
  char has_a[300], has_b[300];
  write_shape(has_a, sizeof has_a, record_of(g, a));
  write_shape(has_b, sizeof has_b, record_of(g, b));
  return differ(g, ctx, DAMO_ESHAPE, a, b, has_a, has_b);
}

/* Whether ranks a and b have the same lengths but for one axis (-1: none). */
static bool same_lengths(const group *g, int a, int b, int64_t free_axis) {
  const int64_t *p = record_of(g, a), *q = record_of(g, b);
  for (int64_t d = 0; d < p[RECORD_NDIM]; d++) {
    if (d != free_axis && p[RECORD_SHAPE + d] != q[RECORD_SHAPE + d]) return false;
  }
  return true;
}

/* The axis along which lengths may differ; -1: none. */
static int64_t free_axis_of(const int64_t *record) {
  if (record[OPTION_EQUAL]) return -1;
  const int64_t kind = record[RECORD_KIND] / 2;
  if (kind == GATHER || kind == ALLGATHER) return record[OPTION_AXIS];
  return kind == ALLTOALL ? record[OPTION_AXIS2] : -1;
}

static damo_status judge_pair(const group *g, damo_ctx *ctx, int r) {
  const int64_t *a = record_of(g, r);
  const int64_t to = a[OPTION_TO], from = a[OPTION_FROM];
  char has_a[300], has_b[300];
  if (to >= 0 && record_of(g, (int)to)[OPTION_FROM] != r) {
    snprintf(has_a, sizeof has_a, "something to send to rank %lld", (long long)to);
    snprintf(has_b, sizeof has_b, "from = %lld", (long long)record_of(g, (int)to)[OPTION_FROM]);
    return differ(g, ctx, DAMO_EINCONSISTENCY, r, (int)to, has_a, has_b);
  }
  if (from < 0) return DAMO_OK;
  const int64_t *b = record_of(g, (int)from);
  if (b[OPTION_TO] != r) {
    snprintf(has_a, sizeof has_a, "from = %lld", (long long)from);
    snprintf(has_b, sizeof has_b, "to = %lld", (long long)b[OPTION_TO]);
    return differ(g, ctx, DAMO_EINCONSISTENCY, r, (int)from, has_a, has_b);
  }
  if (a[RECORD_KIND] / 2 == HALO) {
    const int64_t axis = a[OPTION_AXIS], lo = a[OPTION_WIDTHS] >> 32, hi = a[OPTION_WIDTHS] & 0x7fffffff;
    if (!same_lengths(g, r, (int)from, axis)) return differ_in_shape(g, ctx, r, (int)from);
    if (b[RECORD_SHAPE + axis] >= lo && a[RECORD_SHAPE + axis] >= hi) return DAMO_OK;
    snprintf(has_a, sizeof has_a, "%lld layers along axis %lld", (long long)a[RECORD_SHAPE + axis],
             (long long)axis + 1);
    snprintf(has_b, sizeof has_b, "%lld, and a halo takes %lld and %lld of them", (long long)b[RECORD_SHAPE + axis],
             (long long)lo, (long long)hi);
    return differ(g, ctx, DAMO_ESHAPE, r, (int)from, has_a, has_b);
  }
  const int64_t ndim = a[RECORD_NDIM] / 2;
  for (int64_t d = 0; d < ndim; d++) {
    if (a[RECORD_SHAPE + ndim + d] == b[RECORD_SHAPE + d]) continue;
    snprintf(has_a, sizeof has_a, "room for %lld entries along axis %lld", (long long)a[RECORD_SHAPE + ndim + d],
             (long long)d + 1);
    snprintf(has_b, sizeof has_b, "%lld to send", (long long)b[RECORD_SHAPE + d]);
    return differ(g, ctx, DAMO_ESHAPE, r, (int)from, has_a, has_b);
  }
  return DAMO_OK;
}

static damo_status judge_same(const group *g, damo_ctx *ctx) {
  char has_a[40], has_b[40];
  for (int r = 1; r < g->size; r++) {
    const int64_t a = record_of(g, 0)[RECORD_SHAPE], b = record_of(g, r)[RECORD_SHAPE];
    if (a == b) continue;
    snprintf(has_a, sizeof has_a, "%lld", (long long)a);
    snprintf(has_b, sizeof has_b, "%lld", (long long)b);
    return differ(g, ctx, DAMO_EVALUE, 0, r, has_a, has_b);
  }
  return DAMO_OK;
}

damo_status records_judge(const group *g, damo_ctx *ctx) {
  damo_status s = DAMO_OK;
  for (int r = 1; r < g->size && s == DAMO_OK; r++) s = judge_call(g, ctx, r);
  const int64_t *first = record_of(g, 0);
  if (s == DAMO_OK && first[RECORD_KIND] == RECORD_SAME) return judge_same(g, ctx);
  if (s != DAMO_OK || first[RECORD_KIND] < 0) return s;
  const int64_t kind = first[RECORD_KIND] / 2;
  for (int r = 0; r < g->size && s == DAMO_OK; r++) {
    if (kind == SENDRECV || kind == HALO) {
      s = judge_pair(g, ctx, r);
    } else if (kind != SCATTER && !same_lengths(g, 0, r, free_axis_of(first))) {
      s = differ_in_shape(g, ctx, 0, r);
    }
  }
  return s;
}
