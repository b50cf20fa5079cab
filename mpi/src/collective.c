/* collective.c: sizes, packing, and MPI's calls.
 *
 * Along an axis an array is `outer` × `length` × `inner` elements; a block of it, some of its entries along the axis,
 * travels packed, as an array of its own.
 */
#include "collective.h"

#include "board.h"
#include "short.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

typedef struct run {
  const form *f;
  group *g;
  damo_ctx *ctx;
  const damo_array *x, *like;
  damo_dtype dtype;
  MPI_Datatype type;
  size_t item;
  int ndim;
  const int64_t *shape; /* of x */
  const char *data;     /* x's elements, flat */
  const sink *to;
  damo_array *result;
} run;

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

static int64_t product(const int64_t *shape, int from, int to) {
  int64_t n = 1;
  for (int d = from; d < to; d++) n *= shape[d];
  return n;
}

static damo_status fail_run(const run *r, damo_status s, const char *text) {
  char message[300];
  snprintf(message, sizeof message, "mpi.%s: %s", collective_name(r->f->kind), text);
  return damo_fail(r->ctx, s, message);
}

static char *scratch(const run *r, size_t bytes) {
  const int64_t n = (int64_t)bytes;
  damo_array **kept = r->to->scratch;
  if (*kept == NULL || damo_array_size(*kept) < n) {
    damo_release(*kept);
    *kept = damo_array_new(r->ctx, DAMO_UINT8, 1, &n);
  }
  return *kept != NULL ? damo_array_data(*kept) : NULL;
}

static char *take_result(run *r, const int64_t *shape) {
  r->result = r->to->out(r->to->data, r->dtype, r->ndim, shape);
  return r->result != NULL ? damo_array_data(r->result) : NULL;
}

static damo_status no_memory(const run *r) {
  return damo_error_status(r->ctx) != DAMO_OK ? damo_error_status(r->ctx) : fail_run(r, DAMO_EMEMORY, "out of memory");
}

/* Copies n entries along an axis, between arrays of `outer` rows that have from_row and to_row bytes. */
static void copy_rows(char *to, size_t to_row, const char *from, size_t from_row, int64_t outer, size_t bytes) {
  for (int64_t o = 0; o < outer; o++) memcpy(to + (size_t)o * to_row, from + (size_t)o * from_row, bytes);
}

/* The requests of this place, and what they use, which must outlive them. */
static damo_status finish(run *r, int code, const char *call, int n, MPI_Request *requests) {
  damo_status s = world_check(r->g->w, r->ctx, code, call);
  if (s == DAMO_OK) s = group_wait(r->g, r->ctx, n, requests);
  if (s == DAMO_OK) return s;
  damo_retain(r->result);
  damo_retain(r->x);
  damo_retain(*r->to->scratch);
  return s;
}

static damo_status finish_messages(void *data, int code, int n, MPI_Request *requests) {
  return finish(data, code, "MPI_Isend", n, requests);
}

/* What a board's slots are marked with: the collective, what its options tell, and bytes. */
static uint64_t call_of(const run *r, int64_t option, size_t bytes) {
  return ((uint64_t)r->f->kind << 48) + ((uint64_t)option << 32) + bytes;
}

/* Messages of n elements each, for arrays that are short_enough. */
static short_call short_call_of(run *r, int64_t n) {
  const uint64_t what = call_of(r, N_REDUCTIONS * r->f->root + r->f->op, (size_t)n * r->item);
  return (short_call){r->g, r->ctx, what, r->type, (int)n, (size_t)n * r->item, finish_messages, r};
}

static int64_t *record_shape(const group *g, int rank) {
  return g->records + (size_t)rank * RECORD_WORDS + RECORD_SHAPE;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* How an array of a shape is cut along an axis into a block for each rank. */
typedef struct cut {
  const int64_t *shape; /* of the whole */
  int ndim;
  int axis;
  int64_t *lengths; /* a rank's */
} cut;

static int64_t cut_inner(const cut *c) { return product(c->shape, c->axis + 1, c->ndim); }
static int64_t cut_outer(const cut *c) { return product(c->shape, 0, c->axis); }

/* MPI's counts and displacements of the packed blocks; a value error if one is too long for MPI's int. The block of rank
 * s may have other lengths than the whole's along the other axes, then sizes[s] tells its elements. */
static damo_status list_counts(const run *r, const int64_t *sizes, int *counts, int *places) {
  int64_t at = 0;
  for (int s = 0; s < r->g->size; s++) {
    if (sizes[s] > INT_MAX || at > INT_MAX) {
      return fail_run(r, DAMO_EVALUE,
                      "a rank's array has more than 2^31 - 1 elements, which MPI can't count; send it in "
                      "several pieces");
    }
    counts[s] = (int)sizes[s];
    places[s] = (int)at;
    at += sizes[s];
  }
  return DAMO_OK;
}

/* Between a whole and its packed blocks. */
static void pack(const cut *c, size_t item, int size, char *packed, const char *whole) {
  const int64_t outer = cut_outer(c);
  const size_t row = (size_t)cut_inner(c) * item, whole_row = row * (size_t)c->shape[c->axis];
  int64_t at = 0;
  for (int s = 0; s < size; s++) {
    const size_t bytes = row * (size_t)c->lengths[s];
    copy_rows(packed, bytes, whole + (size_t)at * row, whole_row, outer, bytes);
    packed += bytes * (size_t)outer;
    at += c->lengths[s];
  }
}

static void unpack(const cut *c, size_t item, int size, char *whole, const char *packed) {
  const int64_t outer = cut_outer(c);
  const size_t row = (size_t)cut_inner(c) * item, whole_row = row * (size_t)c->shape[c->axis];
  int64_t at = 0;
  for (int s = 0; s < size; s++) {
    const size_t bytes = row * (size_t)c->lengths[s];
    copy_rows(whole + (size_t)at * row, whole_row, packed, bytes, outer, bytes);
    packed += bytes * (size_t)outer;
    at += c->lengths[s];
  }
}

static int64_t sum_of(const int64_t *v, int n) {
  int64_t sum = 0;
  for (int i = 0; i < n; i++) sum += v[i];
  return sum;
}

/* ---- Reductions and broadcast ------------------------------------------------------------------------------------ */

#define CHUNK ((int64_t)1 << 30) /* elements that one call of MPI takes */

static damo_status run_reduction(run *r) {
  const int64_t n = product(r->shape, 0, r->ndim);
  const bool all = r->f->kind == ALLREDUCE, mine = all || r->f->root == r->g->rank;
  const MPI_Op op = mpi_operation(r->g->w, r->ctx, (reduction)r->f->op, r->dtype);
  char *out = take_result(r, r->shape);
  if (out == NULL) return no_memory(r);
  if (op == MPI_OP_NULL) return damo_error_status(r->ctx);
  if (r->g->size == 1) {
    memcpy(out, r->data, (size_t)n * r->item);
    return DAMO_OK;
  }
  if (short_enough((size_t)n * r->item)) {
    const short_call c = short_call_of(r, n);
    if (all) {
      char *space = scratch(r, c.bytes + 1);
      return space != NULL ? short_allreduce(&c, op, r->data, out, space) : no_memory(r);
    }
    if (!mine && short_reduces(&c)) memset(out, 0, c.bytes);
    if (short_reduces(&c)) return short_reduce(&c, op, (int)r->f->root, r->data, out);
  }
  for (int64_t at = 0; at < n || at == 0; at += CHUNK) {
    const int count = (int)(n - at < CHUNK ? n - at : CHUNK);
    const char *from = r->data + (size_t)at * r->item;
    char *dst = out + (size_t)at * r->item;
    MPI_Request request;
    const int code = all ? MPI_Iallreduce(from, dst, count, r->type, op, r->g->comm, &request)
                         : MPI_Ireduce(from, dst, count, r->type, op, (int)r->f->root, r->g->comm, &request);
    const damo_status s = finish(r, code, all ? "MPI_Iallreduce" : "MPI_Ireduce", 1, &request);
    if (s != DAMO_OK) return s;
  }
  if (!mine) memset(out, 0, (size_t)n * r->item);
  return DAMO_OK;
}

/* The root sends its x while it copies it to its result. */
static damo_status run_bcast(run *r) {
  const int64_t n = product(r->shape, 0, r->ndim);
  const bool root = r->f->root == r->g->rank;
  char *out = take_result(r, r->shape);
  if (out == NULL) return no_memory(r);
  if (r->g->size == 1) memcpy(out, r->data, (size_t)n * r->item);
  if (r->g->size > 1 && short_enough((size_t)n * r->item)) {
    const short_call c = short_call_of(r, n);
    if (root) memcpy(out, r->data, c.bytes);
    return short_bcast(&c, (int)r->f->root, out);
  }
  for (int64_t at = 0; r->g->size > 1 && (at < n || at == 0); at += CHUNK) {
    const int count = (int)(n - at < CHUNK ? n - at : CHUNK);
    const char *mine = r->data + (size_t)at * r->item;
    char *dst = out + (size_t)at * r->item;
    MPI_Request request;
    const int code =
        MPI_Ibcast(root ? (char *)(uintptr_t)mine : dst, count, r->type, (int)r->f->root, r->g->comm, &request);
    if (root) memcpy(dst, mine, (size_t)count * r->item);
    const damo_status s = finish(r, code, "MPI_Ibcast", 1, &request);
    if (s != DAMO_OK) return s;
  }
  return DAMO_OK;
}

/* ---- Blocks to and from the ranks -------------------------------------------------------------------------------- */

/* Elements of each block of the cut. */
static void block_sizes(const cut *c, int size, int64_t *sizes) {
  const int64_t others = cut_outer(c) * cut_inner(c);
  for (int s = 0; s < size; s++) sizes[s] = c->lengths[s] * others;
}

/* Blocks of `whole` (significant at the root) go to the ranks; mine is written to `out`. */
static damo_status send_blocks(run *r, const cut *c, int64_t *sizes, const char *whole, char *out, int64_t n_out) {
  group *g = r->g;
  int *counts = g->counts, *places = g->counts + g->size;
  const bool root = r->f->root == g->rank, packs = root && cut_outer(c) > 1;
  const char *from = whole;
  MPI_Request request;
  if (n_out > INT_MAX) return list_counts(r, &n_out, counts, places);
  if (root) {
    block_sizes(c, g->size, sizes);
    const damo_status s = list_counts(r, sizes, counts, places);
    if (s != DAMO_OK) return s;
  }
  if (packs) {
    char *packed = scratch(r, (size_t)sum_of(sizes, g->size) * r->item);
    if (packed == NULL) return no_memory(r);
    pack(c, r->item, g->size, packed, whole);
    from = packed;
  }
  if (g->size == 1) {
    memcpy(out, from, (size_t)n_out * r->item);
    return DAMO_OK;
  }
  const int code =
      MPI_Iscatterv(from, counts, places, r->type, out, (int)n_out, r->type, (int)r->f->root, g->comm, &request);
  return finish(r, code, "MPI_Iscatterv", 1, &request);
}

/* Blocks of the ranks come together in `whole`, at the root or (all) on every rank. */
static damo_status join_blocks(run *r, const cut *c, int64_t *sizes, char *whole, const char *mine, int64_t n_mine,
                               bool all) {
  group *g = r->g;
  int *counts = g->counts, *places = g->counts + g->size;
  const bool here = all || r->f->root == g->rank, unpacks = here && cut_outer(c) > 1;
  const bool brief =
      all && r->f->equal && g->size > 1 && g->size <= SHORT_RANKS_MOST && short_enough((size_t)n_mine * r->item);
  char *to = whole;
  MPI_Request request;
  if (n_mine > INT_MAX) return list_counts(r, &n_mine, counts, places);
  if (here && (!brief || unpacks)) {
    block_sizes(c, g->size, sizes);
    const damo_status s = list_counts(r, sizes, counts, places);
    if (s != DAMO_OK) return s;
  }
  if (unpacks && (to = scratch(r, (size_t)sum_of(sizes, g->size) * r->item)) == NULL) return no_memory(r);
  damo_status s = DAMO_OK;
  if (g->size == 1) {
    memcpy(to, mine, (size_t)n_mine * r->item);
  } else if (brief) {
    const short_call call = short_call_of(r, n_mine);
    s = short_allgather(&call, mine, to);
  } else if (all && r->f->equal) {
    s = finish(r, MPI_Iallgather(mine, (int)n_mine, r->type, to, (int)n_mine, r->type, g->comm, &request),
               "MPI_Iallgather", 1, &request);
  } else if (all) {
    s = finish(r, MPI_Iallgatherv(mine, (int)n_mine, r->type, to, counts, places, r->type, g->comm, &request),
               "MPI_Iallgatherv", 1, &request);
  } else {
    s = finish(
        r, MPI_Igatherv(mine, (int)n_mine, r->type, to, counts, places, r->type, (int)r->f->root, g->comm, &request),
        "MPI_Igatherv", 1, &request);
  }
  if (s == DAMO_OK && unpacks) unpack(c, r->item, g->size, whole, to);
  return s;
}

static cut cut_along(const run *r, const int64_t *shape, int64_t axis, int64_t *lengths) {
  return (cut){.shape = shape, .ndim = r->ndim, .axis = (int)axis, .lengths = lengths};
}

/* The lengths of the ranks' blocks along an axis, as the records of all ranks tell. */
static void lengths_told(const run *r, int64_t axis, int64_t *lengths) {
  for (int s = 0; s < r->g->size; s++)
    lengths[s] = r->f->equal ? record_shape(r->g, 0)[axis] : record_shape(r->g, s)[axis];
}

static void lengths_even(const run *r, int64_t n, int64_t *lengths) {
  for (int s = 0; s < r->g->size; s++) lengths[s] = even_part(n, r->g->size, s);
}

/* A shape error if an operand that a gradient brings does not have that length along the axis. */
static damo_status expect_length(const run *r, int64_t got, int64_t want) {
  char text[120];
  if (got == want) return DAMO_OK;
  snprintf(text, sizeof text, "its gradient has %lld entries along axis %lld, expected %lld", (long long)got,
           (long long)r->f->axis + 1, (long long)want);
  return fail_run(r, DAMO_ESHAPE, text);
}

/* SCATTER, and GATHER's adjoint. lengths and sizes have an entry for each rank. */
static damo_status run_scatter(run *r, int64_t *lengths, int64_t *sizes) {
  const bool root = r->f->root == r->g->rank;
  const int64_t axis = r->f->axis;
  int64_t shape[DAMO_MAX_NDIM];
  if (r->f->kind == GATHER) {
    memcpy(shape, damo_array_shape(r->like), (size_t)r->ndim * sizeof *shape);
    lengths_told(r, axis, lengths);
  } else {
    memcpy(shape, record_shape(r->g, (int)r->f->root), (size_t)r->ndim * sizeof *shape);
    lengths_even(r, shape[axis], lengths);
    shape[axis] = lengths[r->g->rank];
  }
  if (root && expect_length(r, r->shape[axis], sum_of(lengths, r->g->size)) != DAMO_OK) return DAMO_ESHAPE;
  const cut c = cut_along(r, r->shape, axis, lengths);
  char *out = take_result(r, shape);
  return out != NULL ? send_blocks(r, &c, sizes, r->data, out, product(shape, 0, r->ndim)) : no_memory(r);
}

/* GATHER, and SCATTER's adjoint, whose result has like's shape on every rank, zeros but at the root. */
static damo_status run_gather(run *r, int64_t *lengths, int64_t *sizes) {
  const bool root = r->f->root == r->g->rank, adjoint = r->f->kind == SCATTER;
  const int64_t axis = r->f->axis;
  int64_t shape[DAMO_MAX_NDIM];
  memcpy(shape, adjoint ? damo_array_shape(r->like) : r->shape, (size_t)r->ndim * sizeof *shape);
  if (adjoint) {
    lengths_even(r, record_shape(r->g, (int)r->f->root)[axis], lengths);
    if (expect_length(r, r->shape[axis], lengths[r->g->rank]) != DAMO_OK) return DAMO_ESHAPE;
  } else {
    lengths_told(r, axis, lengths);
    shape[axis] = root ? sum_of(lengths, r->g->size) : 0;
  }
  const cut c = cut_along(r, shape, axis, lengths);
  char *out = take_result(r, shape);
  if (out == NULL) return no_memory(r);
  if (!root) memset(out, 0, (size_t)product(shape, 0, r->ndim) * r->item);
  return join_blocks(r, &c, sizes, out, r->data, product(r->shape, 0, r->ndim), false);
}

static damo_status run_allgather(run *r, int64_t *lengths, int64_t *sizes) {
  int64_t shape[DAMO_MAX_NDIM];
  memcpy(shape, r->shape, (size_t)r->ndim * sizeof *shape);
  lengths_told(r, r->f->axis, lengths);
  shape[r->f->axis] = sum_of(lengths, r->g->size);
  const cut c = cut_along(r, shape, r->f->axis, lengths);
  char *out = take_result(r, shape);
  if (out == NULL) return no_memory(r);
  return join_blocks(r, &c, sizes, out, r->data, product(r->shape, 0, r->ndim), true);
}

/* ALLGATHER's adjoint: the sum over the ranks of their blocks for this rank. */
static damo_status run_reduce_scatter(run *r, int64_t *lengths, int64_t *sizes) {
  group *g = r->g;
  int *counts = g->counts;
  const char *from = r->data;
  MPI_Request request;
  lengths_told(r, r->f->axis, lengths);
  damo_status s = expect_length(r, r->shape[r->f->axis], sum_of(lengths, g->size));
  if (s != DAMO_OK) return s;
  const cut c = cut_along(r, r->shape, r->f->axis, lengths);
  char *out = take_result(r, damo_array_shape(r->like));
  if (out == NULL) return no_memory(r);
  block_sizes(&c, g->size, sizes);
  s = list_counts(r, sizes, counts, counts + g->size);
  if (s != DAMO_OK) return s;
  if (g->size == 1) {
    memcpy(out, from, (size_t)sizes[0] * r->item);
    return DAMO_OK;
  }
  if (cut_outer(&c) > 1) {
    char *packed = scratch(r, (size_t)sum_of(sizes, g->size) * r->item);
    if (packed == NULL) return no_memory(r);
    pack(&c, r->item, g->size, packed, r->data);
    from = packed;
  }
  return finish(r, MPI_Ireduce_scatter(from, out, counts, r->type, MPI_SUM, g->comm, &request), "MPI_Ireduce_scatter",
                1, &request);
}

/* ALLTOALL and its adjoint. x is cut along `by`, one block for each rank; what comes is joined along `at`. */
static damo_status run_alltoall(run *r, int64_t *lengths, int64_t *sizes) {
  group *g = r->g;
  const bool adjoint = r->f->adjoint;
  const int64_t a = r->f->axis, b = r->f->axis2, by = adjoint ? b : a, at = adjoint ? a : b;
  int64_t *come = lengths + g->size, shape[DAMO_MAX_NDIM];
  const int64_t *whole = adjoint ? damo_array_shape(r->like) : r->shape; /* of what the forward collective takes here */
  int64_t *spread = adjoint ? come : lengths, *joined = adjoint ? lengths : come;
  lengths_even(r, whole[a], spread);
  for (int s = 0; s < g->size; s++) {
    const int64_t *theirs = record_shape(g, r->f->equal ? 0 : s);
    joined[s] = a == b ? even_part(theirs[a], g->size, g->rank) : theirs[b];
  }
  memcpy(shape, whole, (size_t)r->ndim * sizeof *shape);
  if (!adjoint) {
    shape[a] = spread[g->rank];
    shape[b] = sum_of(joined, g->size);
  }
  damo_status s = expect_length(r, r->shape[by], sum_of(lengths, g->size));
  if (s != DAMO_OK) return s;
  const cut out_cut = cut_along(r, shape, at, come), in_cut = cut_along(r, r->shape, by, lengths);
  const int64_t n_in = product(r->shape, 0, r->ndim), n_out = product(shape, 0, r->ndim);
  const bool packs = cut_outer(&in_cut) > 1, unpacks = cut_outer(&out_cut) > 1;
  char *out = take_result(r, shape);
  char *space = packs || unpacks ? scratch(r, (size_t)((packs ? n_in : 0) + (unpacks ? n_out : 0)) * r->item) : NULL;
  if (out == NULL || ((packs || unpacks) && space == NULL)) return no_memory(r);
  const char *from = packs ? space : r->data;
  char *to = unpacks ? space + (packs ? (size_t)n_in * r->item : 0) : out;
  int *counts = g->counts, n = g->size;
  block_sizes(&in_cut, n, sizes);
  s = list_counts(r, sizes, counts, counts + n);
  block_sizes(&out_cut, n, sizes);
  if (s == DAMO_OK) s = list_counts(r, sizes, counts + 2 * n, counts + 3 * n);
  if (s != DAMO_OK) return s;
  if (packs) pack(&in_cut, r->item, n, space, r->data);
  if (n == 1) {
    memcpy(to, from, (size_t)n_in * r->item);
  } else {
    MPI_Request request;
    const int code = MPI_Ialltoallv(from, counts, counts + n, r->type, to, counts + 2 * n, counts + 3 * n, r->type,
                                    g->comm, &request);
    s = finish(r, code, "MPI_Ialltoallv", 1, &request);
  }
  if (s == DAMO_OK && unpacks) unpack(&out_cut, r->item, n, out, to);
  return s;
}

/* ---- Neighbours -------------------------------------------------------------------------------------------------- */

/* A message to a rank and one from a rank; -1: none. To itself a rank copies. */
typedef struct message {
  int64_t to, from;
  const char *send;
  char *receive;
  int64_t n_send, n_receive;
  int tag;
} message;

static bool is_other(const run *r, int64_t rank) { return rank >= 0 && rank != r->g->rank; }

/* Whether a message of n elements goes by the board; its two ranks have the same n. */
static bool goes_by_board(const run *r, int64_t n) { return r->g->board != NULL && short_enough((size_t)n * r->item); }

/* Short messages lie one after the other in the sender's slot, also those that nobody takes. */
static damo_status show_messages(run *r, const message *m, int n) {
  bool sends = false;
  char *data;
  for (int k = 0; k < n; k++) sends = sends || (is_other(r, m[k].to) && goes_by_board(r, m[k].n_send));
  if (!sends) return DAMO_OK;
  const damo_status s = board_begin(r->g, r->ctx, &data);
  if (s != DAMO_OK) return s;
  for (int k = 0; k < n; k++) {
    const size_t bytes = (size_t)m[k].n_send * r->item;
    if (!goes_by_board(r, m[k].n_send)) continue;
    if (is_other(r, m[k].to)) memcpy(data, m[k].send, bytes);
    data += bytes;
  }
  board_show(r->g, call_of(r, 0, (size_t)m[0].n_send * r->item));
  return DAMO_OK;
}

/* The sender's messages are as long as those that this rank receives: of a halo, whose ranks all lend as many layers, and
 * of a single message. */
static damo_status read_messages(run *r, const message *m, int n) {
  size_t at = 0;
  for (int k = 0; k < n; k++) {
    const char *data;
    const size_t bytes = (size_t)m[k].n_receive * r->item;
    if (!goes_by_board(r, m[k].n_receive)) continue;
    if (is_other(r, m[k].from)) {
      const uint64_t what = call_of(r, 0, (size_t)m[0].n_receive * r->item);
      const damo_status s = board_read(r->g, r->ctx, (int)m[k].from, what, &data);
      if (s != DAMO_OK) return s;
      memcpy(m[k].receive, data + at, bytes);
    }
    at += bytes;
  }
  return DAMO_OK;
}

static damo_status exchange_messages(run *r, const message *m, int n) {
  MPI_Request requests[4];
  int n_requests = 0, code = MPI_SUCCESS;
  for (int k = 0; k < n; k++) {
    if (m[k].n_send > INT_MAX || m[k].n_receive > INT_MAX)
      return fail_run(r, DAMO_EVALUE, "more than 2^31 - 1 elements for one rank; send them in several pieces");
  }
  damo_status s = show_messages(r, m, n);
  if (s == DAMO_OK) s = read_messages(r, m, n);
  if (s != DAMO_OK) return s;
  for (int k = 0; k < n && code == MPI_SUCCESS; k++) {
    if (m[k].from == r->g->rank) {
      memcpy(m[k].receive, m[k].send, (size_t)m[k].n_send * r->item);
      continue;
    }
    if (m[k].from >= 0 && !goes_by_board(r, m[k].n_receive)) {
      code = MPI_Irecv(m[k].receive, (int)m[k].n_receive, r->type, (int)m[k].from, m[k].tag, r->g->comm,
                       &requests[n_requests]);
      n_requests += code == MPI_SUCCESS;
    }
  }
  for (int k = 0; k < n && code == MPI_SUCCESS; k++) {
    if (!is_other(r, m[k].to) || goes_by_board(r, m[k].n_send)) continue;
    code = MPI_Isend(m[k].send, (int)m[k].n_send, r->type, (int)m[k].to, m[k].tag, r->g->comm, &requests[n_requests]);
    n_requests += code == MPI_SUCCESS;
  }
  return n_requests > 0 || code != MPI_SUCCESS ? finish(r, code, "MPI_Isend", n_requests, requests) : DAMO_OK;
}

static damo_status run_sendrecv(run *r) {
  const int64_t *shape = damo_array_shape(r->like), n = product(shape, 0, r->ndim);
  char *out = take_result(r, shape);
  if (out == NULL) return no_memory(r);
  if (r->f->from < 0) memset(out, 0, (size_t)n * r->item);
  const message m = {r->f->to, r->f->from, r->data, out, product(r->shape, 0, r->ndim), n, 1};
  return exchange_messages(r, &m, 1);
}

/* A part of `outer` × length × inner elements, n layers from `start` on. */
typedef struct layers {
  char *at; /* the first layer of row 0 */
  size_t row, bytes;
  int64_t outer;
} layers;

static layers layers_of(const run *r, const char *data, const int64_t *shape, int64_t start, int64_t n) {
  const int axis = (int)r->f->axis;
  const size_t layer = (size_t)product(shape, axis + 1, r->ndim) * r->item;
  return (layers){(char *)(uintptr_t)data + (size_t)start * layer, layer * (size_t)shape[axis], layer * (size_t)n,
                  product(shape, 0, axis)};
}

static void layers_read(char *packed, layers from) {
  copy_rows(packed, from.bytes, from.at, from.row, from.outer, from.bytes);
}
static void layers_write(layers to, const char *packed) {
  copy_rows(to.at, to.row, packed, to.bytes, to.outer, to.bytes);
}

static void layers_add(const run *r, layers to, const char *packed) {
  const size_t n = to.bytes / r->item;
  for (int64_t o = 0; o < to.outer; o++)
    add_elements(r->dtype, to.at + (size_t)o * to.row, packed + (size_t)o * to.bytes, n);
}

/* HALO where all layers lie in one piece: they are sent from x and received into the result. x has n elements. */
static damo_status lend_in_place(run *r, char *out, int64_t n, int64_t n_lo, int64_t n_hi) {
  const form *f = r->f;
  const size_t bytes = (size_t)n * r->item, lo = (size_t)n_lo * r->item, hi = (size_t)n_hi * r->item;
  char *after = out + lo + bytes;
  const message m[2] = {{f->to, f->from, r->data + bytes - lo, out, n_lo, n_lo, 1},
                        {f->from, f->to, r->data, after, n_hi, n_hi, 2}};
  if (f->from < 0) memset(out, 0, lo);
  if (f->to < 0) memset(after, 0, hi);
  memcpy(out + lo, r->data, bytes);
  return exchange_messages(r, m, 2);
}

/* HALO: the result is x between lo layers of the rank before and hi layers of the next one, zeros where there is none.
 * Its adjoint gives these layers back, to be added to those that they were copies of. */
static damo_status run_halo(run *r) {
  const form *f = r->f;
  const int axis = (int)f->axis;
  const bool back = f->adjoint;
  int64_t shape[DAMO_MAX_NDIM];
  memcpy(shape, back ? damo_array_shape(r->like) : r->shape, (size_t)r->ndim * sizeof *shape);
  const int64_t length = shape[axis], others = product(shape, 0, axis) * product(shape, axis + 1, r->ndim);
  if (back && expect_length(r, r->shape[axis], length + f->lo + f->hi) != DAMO_OK) return DAMO_ESHAPE;
  if (!back) shape[axis] += f->lo + f->hi;
  char *out = take_result(r, shape);
  if (out != NULL && !back && product(shape, 0, axis) == 1)
    return lend_in_place(r, out, product(r->shape, 0, r->ndim), f->lo * others, f->hi * others);
  const size_t lo_bytes = (size_t)(f->lo * others) * r->item, hi_bytes = (size_t)(f->hi * others) * r->item;
  char *space = scratch(r, 2 * (lo_bytes + hi_bytes) + 1);
  if (out == NULL || space == NULL) return no_memory(r);
  char *up = space, *down = up + lo_bytes, *from_before = down + hi_bytes, *from_next = from_before + lo_bytes;
  const int64_t *wide = back ? r->shape : shape, *narrow = back ? shape : r->shape;
  if (back) {
    copy_rows(out, layers_of(r, out, narrow, 0, length).row, layers_of(r, r->data, wide, f->lo, length).at,
              layers_of(r, r->data, wide, 0, 0).row, product(shape, 0, axis),
              layers_of(r, out, narrow, 0, length).bytes);
    layers_read(up, layers_of(r, r->data, wide, 0, f->lo));                /* to the rank before */
    layers_read(down, layers_of(r, r->data, wide, f->lo + length, f->hi)); /* to the next */
    const message m[2] = {{f->from, f->to, up, from_before, f->lo * others, f->lo * others, 1},
                          {f->to, f->from, down, from_next, f->hi * others, f->hi * others, 2}};
    damo_status s = exchange_messages(r, m, 2);
    if (s == DAMO_OK && f->to >= 0) layers_add(r, layers_of(r, out, narrow, length - f->lo, f->lo), from_before);
    if (s == DAMO_OK && f->from >= 0) layers_add(r, layers_of(r, out, narrow, 0, f->hi), from_next);
    return s;
  }
  memset(out, 0, (size_t)product(shape, 0, r->ndim) * r->item);
  layers_write(layers_of(r, out, wide, f->lo, length), r->data);
  /* To the next, its layers from the rank before; to the rank before. A rank that nobody asks may have fewer. */
  if (f->to >= 0) layers_read(up, layers_of(r, r->data, narrow, length - f->lo, f->lo));
  if (f->from >= 0) layers_read(down, layers_of(r, r->data, narrow, 0, f->hi));
  const message m[2] = {{f->to, f->from, up, from_before, f->lo * others, f->lo * others, 1},
                        {f->from, f->to, down, from_next, f->hi * others, f->hi * others, 2}};
  const damo_status s = exchange_messages(r, m, 2);
  if (s == DAMO_OK && f->from >= 0) layers_write(layers_of(r, out, wide, 0, f->lo), from_before);
  if (s == DAMO_OK && f->to >= 0) layers_write(layers_of(r, out, wide, f->lo + length, f->hi), from_next);
  return s;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

/* Whether the lengths of all ranks must be known at each call. */
static bool needs_lengths(const form *f) {
  return f->kind == SCATTER || (!f->equal && (f->kind == GATHER || f->kind == ALLGATHER || f->kind == ALLTOALL));
}

static damo_status agree(run *r, bool check) {
  announcement *to_tell = r->to->last;
  int64_t *record = to_tell->record;
  const int64_t *like = r->like != NULL ? damo_array_shape(r->like) : r->shape;
  const int64_t *shape = r->f->adjoint && r->like != NULL ? like : r->shape;
  if (to_tell->hash == 0 || !record_is_of(record, r->f, r->dtype, r->ndim, shape, like)) {
    record_fill(record, r->f, r->dtype, r->ndim, shape, like);
    to_tell->hash = group_hash(record);
  }
  const damo_status s = group_enter(r->g, r->ctx, record);
  if (s != DAMO_OK) return s;
  const world *w = r->g->w;
  if (r->g->size == 1 || check || w->check || w->check_call || needs_lengths(r->f) ||
      !group_has_agreed(r->g, to_tell->hash))
    return group_compare(r->g, r->ctx, record);
  /* Blocks of equal lengths are as long as this rank's. */
  memcpy(r->g->records, record, record_bytes(record));
  return DAMO_OK;
}

/* x's elements without gaps: x's own memory, or an array that the caller releases. */
static damo_status flatten(run *r, damo_array **flat) {
  *flat = NULL;
  r->data = damo_array_data(r->x);
  if (is_flat(r->x)) return DAMO_OK;
  *flat = damo_array_new(r->ctx, r->dtype, r->ndim, r->shape);
  if (*flat == NULL) return no_memory(r);
  copy_flat(damo_array_data(*flat), r->x);
  r->data = damo_array_data(*flat);
  r->x = *flat;
  return DAMO_OK;
}

static damo_status dispatch(run *r) {
  const bool adjoint = r->f->adjoint;
  int64_t *lengths = r->g->lengths, *sizes = lengths + 2 * r->g->size;
  switch (r->f->kind) {
    case ALLREDUCE:
    case REDUCE: return run_reduction(r);
    case BCAST: return run_bcast(r);
    case SCATTER: return adjoint ? run_gather(r, lengths, sizes) : run_scatter(r, lengths, sizes);
    case GATHER: return adjoint ? run_scatter(r, lengths, sizes) : run_gather(r, lengths, sizes);
    case ALLGATHER: return adjoint ? run_reduce_scatter(r, lengths, sizes) : run_allgather(r, lengths, sizes);
    case ALLTOALL: return run_alltoall(r, lengths, sizes);
    case SENDRECV: return run_sendrecv(r);
    case HALO: return run_halo(r);
    case N_COLLECTIVES: break;
  }
  return fail_run(r, DAMO_EVALUE, "there is no such collective");
}

damo_status collective_run(const form *f, group *g, damo_ctx *ctx, const damo_array *x, const damo_array *like,
                           bool check, const sink *to) {
  run r = {.f = f, .g = g, .ctx = ctx, .x = x, .like = like, .dtype = damo_array_dtype(x), .to = to};
  damo_array *flat;
  r.type = mpi_type(r.dtype);
  r.item = damo_dtype_size(r.dtype);
  r.ndim = damo_array_ndim(x);
  r.shape = damo_array_shape(x);
  damo_status s = flatten(&r, &flat);
  if (s == DAMO_OK) s = agree(&r, check);
  if (s == DAMO_OK) s = dispatch(&r);
  damo_release(flat);
  return s;
}
