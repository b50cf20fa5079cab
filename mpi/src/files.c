/* files.c: blocks of arrays in files. */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* nil and "what path: why". */
static int push_failure(lua_State *L, const char *what, const char *path) {
  const int why = errno;
  lua_pushnil(L);
  lua_pushfstring(L, "can't %s %s: %s", what, path, strerror(why));
  return 2;
}

static int push_true(lua_State *L) {
  lua_pushboolean(L, 1);
  return 1;
}

/* ---- Bytes ------------------------------------------------------------------------------------------------------- */

/* Writes, or reads, all n bytes; false with errno set otherwise, EIO where the file ends. */
static bool put_all(int fd, const char *at, size_t n, off_t offset) {
  while (n > 0) {
    const ssize_t done = pwrite(fd, at, n, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    n -= (size_t)done;
    offset += done;
  }
  return true;
}

static bool get_all(int fd, char *at, size_t n, off_t offset) {
  while (n > 0) {
    const ssize_t done = pread(fd, at, n, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done == 0) errno = EIO;
    if (done <= 0) return false;
    at += done;
    n -= (size_t)done;
    offset += done;
  }
  return true;
}

/* Closes fd; the result of what was done before counts first. */
static bool close_after(int fd, bool good) {
  const int why = errno;
  const bool closed = close(fd) == 0;
  if (!good) errno = why;
  return good && closed;
}

static int file_create(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  const off_t size = (off_t)luaL_checknumber(L, 2);
  const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666);
  if (fd < 0 || !close_after(fd, ftruncate(fd, size) == 0)) return push_failure(L, "create", path);
  return push_true(L);
}

static int file_size(lua_State *L) {
  struct stat about;
  const char *path = luaL_checkstring(L, 1);
  if (stat(path, &about) != 0) return push_failure(L, "read", path);
  lua_pushnumber(L, (lua_Number)about.st_size);
  return 1;
}

static int file_put(lua_State *L) {
  size_t n;
  const char *path = luaL_checkstring(L, 1), *bytes = luaL_checklstring(L, 3, &n);
  const off_t offset = (off_t)luaL_checknumber(L, 2);
  const int fd = open(path, O_WRONLY);
  if (fd < 0 || !close_after(fd, put_all(fd, bytes, n, offset))) return push_failure(L, "write", path);
  return push_true(L);
}

static int file_get(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  const off_t offset = (off_t)luaL_checknumber(L, 2);
  const size_t n = (size_t)luaL_checknumber(L, 3);
  char *bytes = lua_newuserdata(L, n > 0 ? n : 1);
  const int fd = open(path, O_RDONLY);
  if (fd < 0 || !close_after(fd, get_all(fd, bytes, n, offset))) return push_failure(L, "read", path);
  lua_pushlstring(L, bytes, n);
  return 1;
}

static int file_sync(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  const int fd = open(path, O_WRONLY);
  if (fd < 0 || !close_after(fd, fsync(fd) == 0)) return push_failure(L, "write", path);
  return push_true(L);
}

/* The folder that a path's file is in, on the stack. */
static const char *push_folder(lua_State *L, const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return lua_pushliteral(L, "."), lua_tostring(L, -1);
  lua_pushlstring(L, path, slash == path ? 1 : (size_t)(slash - path));
  return lua_tostring(L, -1);
}

static int file_publish(lua_State *L) {
  const char *from = luaL_checkstring(L, 1), *to = luaL_checkstring(L, 2);
  if (rename(from, to) != 0) return push_failure(L, "write", to);
  const int fd = open(push_folder(L, to), O_RDONLY);
  /* A file system that can't sync folders has its own way to keep names. */
  if (fd >= 0) close_after(fd, fsync(fd) == 0);
  return push_true(L);
}

static int file_remove(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  if (unlink(path) != 0 && errno != ENOENT) return push_failure(L, "remove", path);
  return push_true(L);
}

/* ---- Hashes ------------------------------------------------------------------------------------------------------ */

/* The finalizer of SplitMix64 (Steele, Lea and Flood 2014): each bit of x reaches each bit of the result. */
static uint64_t mixed(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

#define GOLDEN 0x9e3779b97f4a7c15u

/* The sum for n elements of `size` bytes (1 to 16), of which the first has the number `first` in its array. */
static uint64_t hash_elements(const char *at, int64_t n, size_t size, int64_t first) {
  uint64_t sum = 0;
  const size_t low = size < 8 ? size : 8;
  for (int64_t i = 0; i < n; i++, at += size) {
    uint64_t bits = 0, place = ((uint64_t)(first + i) + 1) * GOLDEN;
    memcpy(&bits, at, low);
    sum += mixed(mixed(bits + place) ^ place);
    if (size > 8) {
      memcpy(&bits, at + 8, 8);
      sum += mixed(mixed(bits ^ ~place) + place);
    }
  }
  return sum;
}

static void push_hash(lua_State *L, uint64_t hash) {
  char text[17];
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  lua_pushstring(L, text);
}

static int core_hash(lua_State *L) {
  size_t n;
  const char *bytes = luaL_checklstring(L, 1, &n);
  push_hash(L, hash_elements(bytes, (int64_t)n, 1, 0) + mixed(n));
  return 1;
}

static int core_add_hashes(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  uint64_t sum = 0;
  for (int i = 1;; i++) {
    lua_rawgeti(L, 1, i);
    const char *text = lua_tostring(L, -1);
    if (text == NULL) break;
    sum += strtoull(text, NULL, 16);
    lua_pop(L, 1);
  }
  push_hash(L, sum);
  return 1;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

/* A block lies in its array as `outer` runs of `run` elements, each `stride` elements behind the last. */
typedef struct block {
  int64_t outer, run, stride, first;
  size_t size; /* bytes of an element */
  int ndim;
  int64_t shape[DAMO_MAX_NDIM]; /* of the block */
} block;

/* Reads shape, axis and start at the stack's index and the two behind; n: the block's length along the axis. */
static void read_block(lua_State *L, int at, damo_dtype dtype, int64_t n, block *b) {
  luaL_checktype(L, at, LUA_TTABLE);
  const int axis = (int)luaL_checkinteger(L, at + 1) - 1;
  const int64_t start = (int64_t)luaL_checknumber(L, at + 2) - 1;
  *b = (block){.outer = 1, .size = damo_dtype_size(dtype)};
  for (; b->ndim < DAMO_MAX_NDIM; b->ndim++) {
    lua_rawgeti(L, at, b->ndim + 1);
    if (lua_isnil(L, -1)) break;
    b->shape[b->ndim] = (int64_t)lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  int64_t inner = 1;
  for (int d = 0; d < axis && d < b->ndim; d++) b->outer *= b->shape[d];
  for (int d = axis + 1; d < b->ndim; d++) inner *= b->shape[d];
  const int64_t whole = b->ndim > 0 ? b->shape[axis] : 1;
  luaL_argcheck(L, b->ndim == 0 || (axis >= 0 && axis < b->ndim), at + 1, "no axis");
  luaL_argcheck(L, start >= 0 && start + n <= whole, at + 2, "outside of the array");
  b->stride = whole * inner;
  b->run = n * inner;
  b->first = start * inner;
  if (b->ndim > 0) b->shape[axis] = n;
}

static uint64_t hash_block(const block *b, const char *at) {
  uint64_t sum = 0;
  for (int64_t o = 0; o < b->outer; o++, at += (size_t)b->run * b->size)
    sum += hash_elements(at, b->run, b->size, o * b->stride + b->first);
  return sum;
}

/* The length of a contiguous array at the stack's index along an axis, which is given at another index. */
static damo_array *check_contiguous(lua_State *L, int at, int axis_at, int64_t *n) {
  damo_array *a = damo_as_array(damo_lua_get(L, at));
  luaL_argcheck(L, a != NULL, at, "an Array is expected");
  int64_t stride = (int64_t)damo_dtype_size(damo_array_dtype(a));
  const int ndim = damo_array_ndim(a), axis = (int)luaL_checkinteger(L, axis_at) - 1;
  for (int d = ndim - 1; d >= 0 && damo_array_size(a) > 0; d--) {
    const int64_t length = damo_array_shape(a)[d];
    luaL_argcheck(L, length <= 1 || damo_array_strides(a)[d] == stride, at, "a contiguous Array is expected");
    stride *= length;
  }
  *n = ndim > 0 && axis >= 0 && axis < ndim ? damo_array_shape(a)[axis] : 1;
  return a;
}

static int block_hash(lua_State *L) {
  block b;
  int64_t n;
  const damo_array *a = check_contiguous(L, 1, 3, &n);
  read_block(L, 2, damo_array_dtype(a), n, &b);
  push_hash(L, hash_block(&b, damo_array_data(a)));
  return 1;
}

static bool put_block(int fd, const block *b, const char *at, off_t offset) {
  const size_t bytes = (size_t)b->run * b->size;
  bool good = true;
  for (int64_t o = 0; good && o < b->outer; o++, at += bytes)
    good = put_all(fd, at, bytes, offset + (off_t)((size_t)(o * b->stride + b->first) * b->size));
  return good;
}

static int block_put(lua_State *L) {
  block b;
  int64_t n;
  const char *path = luaL_checkstring(L, 1);
  const off_t offset = (off_t)luaL_checknumber(L, 2);
  const damo_array *a = check_contiguous(L, 3, 5, &n);
  read_block(L, 4, damo_array_dtype(a), n, &b);
  const int fd = open(path, O_WRONLY);
  if (fd < 0 || !close_after(fd, put_block(fd, &b, damo_array_data(a), offset))) return push_failure(L, "write", path);
  return push_true(L);
}

static bool get_block(int fd, const block *b, char *at, off_t offset) {
  const size_t bytes = (size_t)b->run * b->size;
  bool good = true;
  for (int64_t o = 0; good && o < b->outer; o++, at += bytes)
    good = get_all(fd, at, bytes, offset + (off_t)((size_t)(o * b->stride + b->first) * b->size));
  return good;
}

static int block_get(lua_State *L) {
  block b;
  damo_dtype dtype;
  const char *path = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 3);
  const off_t offset = (off_t)luaL_checknumber(L, 2);
  luaL_argcheck(L, damo_dtype_from_name(name, &dtype), 3, "no dtype");
  read_block(L, 4, dtype, (int64_t)luaL_checknumber(L, 7), &b);
  damo_array *a = damo_array_new(damo_lua_get_context(L), dtype, b.ndim, b.shape);
  if (a == NULL) return damo_lua_raise(L);
  damo_lua_push(L, a);
  damo_release(a); /* the value on the stack keeps it */
  char *at = damo_array_data(a);
  const int fd = open(path, O_RDONLY);
  if (fd < 0 || !close_after(fd, get_block(fd, &b, at, offset))) return push_failure(L, "read", path);
  push_hash(L, hash_block(&b, at));
  return 2;
}

/* The function that is the upvalue, where the context may open files. */
static int outside_sandbox(lua_State *L) {
  damo_ctx *ctx = damo_lua_get_context(L);
  if (damo_ctx_is_sandbox(ctx)) {
    damo_fail(ctx, DAMO_ESTATE, "mpi: the sandbox forbids opening files");
    return damo_lua_raise(L);
  }
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

void files_register(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"file_create", file_create}, {"file_size", file_size}, {"file_put", file_put},
      {"file_get", file_get},       {"file_sync", file_sync}, {"file_publish", file_publish},
      {"file_remove", file_remove}, {"hash", core_hash},      {"add_hashes", core_add_hashes},
      {"block_hash", block_hash},   {"block_put", block_put}, {"block_get", block_get},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    lua_pushcfunction(L, functions[i].func);
    lua_pushcclosure(L, outside_sandbox, 1);
    lua_setfield(L, -2, functions[i].name);
  }
}
