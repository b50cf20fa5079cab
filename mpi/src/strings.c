/* strings.c: strings from every rank to every rank.
 *
 * Buffers are arrays of the context. If a wait ends by a fault they are kept for good, since MPI may still write there.
 */
#include "strings.h"

#include "group.h"

#define STRING_TAG 2
#define CHUNK ((int64_t)1 << 30) /* bytes of one message: MPI counts with an int */

#define FIRST_STRING 4 /* the place on the stack behind the list, the name and the buffer */

static int64_t *lengths_of(damo_array *a) { return damo_array_data(a); }

/* ---- All to all -------------------------------------------------------------------------------------------------- */

typedef struct exchange {
  world *w;
  damo_ctx *ctx;
  damo_array *lengths; /* 2 × size: of what goes to each rank, of what comes from it */
  damo_array *in;      /* the bytes that come, rank after rank */
  damo_array *requests;
  int n_requests;
} exchange;

static damo_array *new_bytes(damo_ctx *ctx, int64_t n) { return damo_array_new(ctx, DAMO_UINT8, 1, &n); }

static int64_t chunks_of(int64_t n) { return (n + CHUNK - 1) / CHUNK; }

static damo_status swap_lengths(exchange *x) {
  MPI_Request request;
  int64_t *out = lengths_of(x->lengths), *in = out + x->w->size;
  const int code = MPI_Ialltoall(out, 1, MPI_INT64_T, in, 1, MPI_INT64_T, x->w->comm, &request);
  const damo_status s = world_check(x->w, x->ctx, code, "MPI_Ialltoall");
  return s == DAMO_OK ? world_wait(x->w, x->ctx, 1, &request) : s;
}

static damo_status make_room(exchange *x) {
  int64_t bytes = 0, requests = 0;
  for (int r = 0; r < x->w->size; r++) {
    const int64_t out = lengths_of(x->lengths)[r], in = lengths_of(x->lengths)[x->w->size + r];
    bytes += in;
    requests += chunks_of(out) + chunks_of(in);
  }
  x->in = new_bytes(x->ctx, bytes);
  x->requests = new_bytes(x->ctx, requests * (int64_t)sizeof(MPI_Request));
  return x->in != NULL && x->requests != NULL ? DAMO_OK : DAMO_EMEMORY;
}

/* Posts the messages of one peer; at: its bytes. */
static damo_status post(exchange *x, int rank, char *at, int64_t n, bool sends) {
  MPI_Request *list = damo_array_data(x->requests);
  for (int64_t done = 0; done < n; done += CHUNK) {
    const int part = (int)(n - done < CHUNK ? n - done : CHUNK);
    MPI_Request *request = &list[x->n_requests];
    const int code = sends ? MPI_Isend(at + done, part, MPI_BYTE, rank, STRING_TAG, x->w->comm, request)
                           : MPI_Irecv(at + done, part, MPI_BYTE, rank, STRING_TAG, x->w->comm, request);
    const damo_status s = world_check(x->w, x->ctx, code, sends ? "MPI_Isend" : "MPI_Irecv");
    if (s != DAMO_OK) return s;
    x->n_requests++;
  }
  return DAMO_OK;
}

static damo_status swap_bytes(exchange *x, const char **strings) {
  const int64_t *out = lengths_of(x->lengths), *in = out + x->w->size;
  char *at = damo_array_data(x->in);
  for (int r = 0; r < x->w->size; at += in[r], r++) {
    damo_status s = post(x, r, at, in[r], false);
    if (s == DAMO_OK) s = post(x, r, (char *)(uintptr_t)strings[r], out[r], true);
    if (s != DAMO_OK) return s;
  }
  return world_wait(x->w, x->ctx, x->n_requests, damo_array_data(x->requests));
}

static void release_exchange(exchange *x) {
  damo_release(x->lengths);
  damo_release(x->in);
  damo_release(x->requests);
}

/* Pushes the strings that came as a list. */
static void push_strings(lua_State *L, const char *at, const int64_t *lengths, int n) {
  lua_createtable(L, n, 0);
  for (int r = 0; r < n; at += lengths[r], r++) {
    lua_pushlstring(L, at, (size_t)lengths[r]);
    lua_rawseti(L, -2, r + 1);
  }
}

/* Protected, so that the buffers are released if a string can't be made: pushes the list of an exchange. */
static int push_exchange(lua_State *L) {
  const exchange *x = lua_touserdata(L, 1);
  push_strings(L, damo_array_data(x->in), lengths_of(x->lengths) + x->w->size, x->w->size);
  return 1;
}

/* The strings of the list at 1, which stay on the stack, and their lengths. */
static const char **take_strings(lua_State *L, int size, size_t **lengths) {
  const char **strings = lua_newuserdata(L, (size_t)size * (sizeof *strings + sizeof **lengths));
  *lengths = (size_t *)(strings + size);
  luaL_checkstack(L, size + 10, "exchange_strings");
  for (int r = 0; r < size; r++) {
    lua_rawgeti(L, 1, r + 1);
    strings[r] = luaL_checklstring(L, -1, &(*lengths)[r]);
  }
  return strings;
}

/* Keeps the strings that MPI may still read after a fault. */
static void keep_strings(lua_State *L, int size) {
  for (int r = 0; r < size; r++) {
    lua_pushvalue(L, FIRST_STRING + r);
    luaL_ref(L, LUA_REGISTRYINDEX);
  }
}

/* core.exchange_strings(list, name): the string list[i] goes to rank i - 1; gives the list of those that came, by rank.
 * name: the function that does so, for messages. */
static int core_exchange_strings(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  world *w = world_of(L);
  if (w->size == 1) {
    lua_settop(L, 1);
    return 1;
  }
  exchange x = {.w = w, .ctx = damo_lua_get_context(L)};
  size_t *lengths;
  const char **strings = take_strings(L, w->size, &lengths);
  if (world_usable(w, x.ctx) != DAMO_OK) return damo_lua_raise(L);
  x.lengths = damo_array_new(x.ctx, DAMO_INT64, 1, (const int64_t[]){2 * (int64_t)w->size});
  if (x.lengths == NULL) return damo_lua_raise(L);
  for (int r = 0; r < w->size; r++) lengths_of(x.lengths)[r] = (int64_t)lengths[r];
  damo_status s = group_meet(group_find(w, 0), x.ctx, RECORD_EXCHANGE, luaL_optstring(L, 2, "an exchange"));
  if (s == DAMO_OK) s = swap_lengths(&x);
  if (s == DAMO_OK) s = make_room(&x);
  if (s == DAMO_OK) s = swap_bytes(&x, strings);
  if (s != DAMO_OK) {
    keep_strings(L, w->size);
    return damo_lua_raise(L);
  }
  lua_pushcfunction(L, push_exchange);
  lua_pushlightuserdata(L, &x);
  const int code = lua_pcall(L, 1, 1, 0);
  release_exchange(&x);
  return code == LUA_OK ? 1 : lua_error(L);
}

void strings_register(lua_State *L) {
  lua_pushcfunction(L, core_exchange_strings);
  lua_setfield(L, -2, "exchange_strings");
}
