/* short.c: recursive doubling, trees and direct messages: R. Thakur, R. Rabenseifner and W. Gropp, Optimization of
 * collective communication operations in MPICH, International Journal of High Performance Computing Applications 19
 * (2005). */
#include "short.h"

#include "board.h"

#include <string.h>

#define TAG_SHORT 31
#define TREE_MOST 32 /* children of a rank in a tree of 2^31 ranks */

bool short_enough(size_t bytes) { return bytes <= SHORT_MOST; }

static int receive_from(const short_call *c, int rank, char *to, MPI_Request *request) {
  return MPI_Irecv(to, c->count, c->type, rank, TAG_SHORT, c->g->comm, request);
}

static int send_to(const short_call *c, int rank, const char *from, MPI_Request *request) {
  return MPI_Isend(from, c->count, c->type, rank, TAG_SHORT, c->g->comm, request);
}

static damo_status send_one(const short_call *c, int rank, const char *from) {
  MPI_Request request;
  return c->wait(c->data, send_to(c, rank, from, &request), 1, &request);
}

static damo_status receive_one(const short_call *c, int rank, char *to) {
  MPI_Request request;
  return c->wait(c->data, receive_from(c, rank, to, &request), 1, &request);
}

static damo_status exchange_with(const short_call *c, int rank, const char *mine, char *theirs) {
  MPI_Request requests[2];
  int code = receive_from(c, rank, theirs, &requests[0]);
  if (code == MPI_SUCCESS) code = send_to(c, rank, mine, &requests[1]);
  return c->wait(c->data, code, 2, requests);
}

/* ---- On a board -------------------------------------------------------------------------------------------------- */

static bool reads_board(const short_call *c) {
  return c->g->board != NULL && c->bytes * (size_t)(c->g->size - 1) <= SHORT_BOARD_MOST;
}

static damo_status show(const short_call *c, const char *in) {
  char *data;
  const damo_status s = board_begin(c->g, c->ctx, &data);
  if (s != DAMO_OK) return s;
  memcpy(data, in, c->bytes);
  board_show(c->g, c->what);
  return DAMO_OK;
}

/* In order of the ranks. */
static damo_status reduce_board(const short_call *c, MPI_Op op, const char *in, char *out) {
  damo_status s = show(c, in);
  for (int r = 0; r < c->g->size && s == DAMO_OK; r++) {
    const char *from = in;
    if (r != c->g->rank && (s = board_read(c->g, c->ctx, r, c->what, &from)) != DAMO_OK) return s;
    const int code = r > 0 ? MPI_Reduce_local(from, out, c->count, c->type, op) : MPI_SUCCESS;
    if (r == 0) memcpy(out, from, c->bytes);
    if (code != MPI_SUCCESS) s = c->wait(c->data, code, 0, NULL);
  }
  return s;
}

bool short_reduces(const short_call *c) { return reads_board(c); }

damo_status short_reduce(const short_call *c, MPI_Op op, int root, const char *in, char *out) {
  return c->g->rank == root ? reduce_board(c, op, in, out) : show(c, in);
}

static damo_status gather_board(const short_call *c, const char *in, char *out) {
  damo_status s = show(c, in);
  memcpy(out + (size_t)c->g->rank * c->bytes, in, c->bytes);
  for (int r = 0; r < c->g->size && s == DAMO_OK; r++) {
    const char *from;
    if (r == c->g->rank) continue;
    s = board_read(c->g, c->ctx, r, c->what, &from);
    if (s == DAMO_OK) memcpy(out + (size_t)r * c->bytes, from, c->bytes);
  }
  return s;
}

static damo_status bcast_board(const short_call *c, int root, char *array) {
  const char *from;
  if (c->g->rank == root) return show(c, array);
  const damo_status s = board_read(c->g, c->ctx, root, c->what, &from);
  if (s == DAMO_OK) memcpy(array, from, c->bytes);
  return s;
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

/* have := lower op have, where the other array comes from a lower rank, else have op other: in order of the ranks, so that
 * both sides of an exchange round alike. `other` is overwritten. */
static damo_status combine(const short_call *c, MPI_Op op, bool other_is_lower, char *have, char *other) {
  int code = other_is_lower ? MPI_Reduce_local(other, have, c->count, c->type, op)
                            : MPI_Reduce_local(have, other, c->count, c->type, op);
  if (code != MPI_SUCCESS) return c->wait(c->data, code, 0, NULL);
  if (!other_is_lower) memcpy(have, other, c->bytes);
  return DAMO_OK;
}

/* Of a number of ranks that is no power of two, 2·rest ranks join in pairs first; the upper one of each goes on. */
static int doubling_number(int rank, int rest) {
  if (rank >= 2 * rest) return rank - rest;
  return rank % 2 ? rank / 2 : -1;
}

static int doubling_rank(int number, int rest) { return number < rest ? 2 * number + 1 : number + rest; }

damo_status short_allreduce(const short_call *c, MPI_Op op, const char *in, char *out, char *space) {
  if (reads_board(c)) return reduce_board(c, op, in, out);
  const int rank = c->g->rank, size = c->g->size;
  int power = 1;
  while (power <= size / 2) power *= 2;
  const int rest = size - power, number = doubling_number(rank, rest);
  memcpy(out, in, c->bytes);
  if (number < 0) {
    const damo_status s = send_one(c, rank + 1, out);
    return s == DAMO_OK ? receive_one(c, rank + 1, out) : s;
  }
  damo_status s = DAMO_OK;
  if (rank < 2 * rest) {
    s = receive_one(c, rank - 1, space);
    if (s == DAMO_OK) s = combine(c, op, true, out, space);
  }
  for (int bit = 1; s == DAMO_OK && bit < power; bit *= 2) {
    const int other = doubling_rank(number ^ bit, rest);
    s = exchange_with(c, other, out, space);
    if (s == DAMO_OK) s = combine(c, op, other < rank, out, space);
  }
  return s == DAMO_OK && rank < 2 * rest ? send_one(c, rank - 1, out) : s;
}

/* ---- Broadcast and gathering ------------------------------------------------------------------------------------- */

damo_status short_bcast(const short_call *c, int root, char *array) {
  if (c->g->board != NULL) return bcast_board(c, root, array);
  MPI_Request requests[TREE_MOST];
  const int rank = c->g->rank, size = c->g->size, from_root = (rank - root + size) % size;
  int64_t bit = 1;
  while (bit < size && !(from_root & bit)) bit *= 2;
  if (bit < size) {
    const damo_status s = receive_one(c, (int)((rank - bit + size) % size), array);
    if (s != DAMO_OK) return s;
  }
  int n = 0, code = MPI_SUCCESS;
  for (bit /= 2; bit > 0 && code == MPI_SUCCESS; bit /= 2) {
    if (from_root + bit >= size) continue;
    code = send_to(c, (int)((rank + bit) % size), array, &requests[n]);
    n += code == MPI_SUCCESS;
  }
  return n > 0 || code != MPI_SUCCESS ? c->wait(c->data, code, n, requests) : DAMO_OK;
}

damo_status short_allgather(const short_call *c, const char *in, char *out) {
  if (reads_board(c)) return gather_board(c, in, out);
  MPI_Request requests[2 * SHORT_RANKS_MOST];
  const int rank = c->g->rank, size = c->g->size;
  int n = 0, code = MPI_SUCCESS;
  for (int r = 0; r < size && code == MPI_SUCCESS; r++) {
    if (r == rank) continue;
    code = receive_from(c, r, out + (size_t)r * c->bytes, &requests[n]);
    n += code == MPI_SUCCESS;
  }
  for (int k = 1; k < size && code == MPI_SUCCESS; k++) {
    code = send_to(c, (rank + k) % size, in, &requests[n]);
    n += code == MPI_SUCCESS;
  }
  memcpy(out + (size_t)rank * c->bytes, in, c->bytes);
  return c->wait(c->data, code, n, requests);
}
