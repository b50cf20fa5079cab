/* graph_fuzz: graphs from bytes whose sum is right, compiled, run and differentiated. For libFuzzer, or alone:
 *
 *   DAMO_GRAPH_CORPUS=corpus make test SPECS="spec/op spec/linalg spec/sparse/debug_spec.lua"
 *   make MODE=asan build/asan/internal.a
 *   gcc -std=c11 -g -O1 -fsanitize=address,undefined -D_GNU_SOURCE -DDAMO_GPL=1 -DGRAPH_FUZZ_ALONE -Isrc \
 *     spec/fuzz/graph_fuzz.c build/asan/internal.a $(make -s print-libs) -o graph_fuzz
 *   ./graph_fuzz SECONDS SEED corpus/….graph
 *
 * Alone it changes bytes of the files, in processes of their own: a crash is told by its number and its input is kept in
 * crash-N.graph, which `./graph_fuzz - crash-N.graph` runs once more. Whatever the bytes are, nothing crashes, and what is
 * not a graph is an error.
 */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "kernel/kernel.h"
#include "sparse/sparse.h"
#include "store/store_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MEMORY_CAP ((size_t)256 << 20)
#define MOST_INPUTS 16
#define LENGTH 3 /* of axes whose length no Type tells */

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Small numbers that differ, so that positions, counts and probabilities are among them. */
static damo_obj *tensor_value(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *known) {
  int64_t shape[DAMO_MAX_NDIM], size = 1;
  for (int k = 0; k < ndim; k++) {
    shape[k] = known[k] < 0 ? LENGTH : known[k];
    if (shape[k] > 64) return NULL;
    size *= shape[k];
    if (size > 4096) return NULL;
  }
  damo_array *a = array_empty(ctx, dtype, ndim, shape);
  for (int64_t i = 0; a != NULL && i < size; i++) {
    const double v = dtype_is_discrete(dtype) ? (double)(i % 4 + 1) : 0.25 + 0.375 * (double)(i % 7);
    kernel_cast(DAMO_FLOAT64, dtype)(&v, a->data + i * (int64_t)dtype_size(dtype), 1);
  }
  return a != NULL ? &a->obj : NULL;
}

static damo_obj *sparse_value(damo_ctx *ctx, const damo_type *t) {
  damo_obj *a = tensor_value(ctx, t->dtype, 2, t->shape);
  damo_sparse *m = a != NULL ? damo_sparse_from_array((damo_array *)a, t->format) : NULL;
  damo_release(a);
  return m != NULL ? &m->obj : NULL;
}

static damo_obj *value_for(damo_ctx *ctx, const damo_type *t) {
  if (t->kind == TYPE_TENSOR) return tensor_value(ctx, t->dtype, t->ndim, t->shape);
  return t->kind == TYPE_SPARSE ? sparse_value(ctx, t) : NULL;
}

static void call(damo_ctx *ctx, damo_function *f, damo_var *const *in, int64_t n) {
  damo_obj *args[MOST_INPUTS] = {NULL}, *out[64] = {NULL};
  bool all = damo_function_n_outputs(f) <= 64;
  for (int64_t i = 0; i < n && all; i++) all = (args[i] = value_for(ctx, in[i]->type)) != NULL;
  for (int times = 0; times < 2 && all; times++) {
    if (damo_function_call_values(f, args, n, out) != DAMO_OK) break;
    for (size_t o = 0; o < sizeof out / sizeof *out; o++) {
      damo_release(out[o]);
      out[o] = NULL;
    }
  }
  for (int64_t i = 0; i < n; i++) damo_release(args[i]);
}

static void compile(damo_ctx *ctx, damo_var *const *in, int64_t n_in, damo_var *const *out, int64_t n_out) {
  static const char *const modes[] = {"FAST_COMPILE", "FAST_RUN"};
  for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
    damo_function *f = damo_compile(ctx, in, n_in, out, n_out, NULL, NULL, 0, modes[k]);
    if (f != NULL) call(ctx, f, in, n_in);
    damo_release(f);
  }
}

/* The gradient of the sum of the first output in the inputs. */
static void differentiate(damo_ctx *ctx, damo_var *const *in, int64_t n_in, damo_var *out) {
  damo_var *real = damo_call(ctx, "real", &out, 1), *cost = real != NULL ? damo_call(ctx, "sum", &real, 1) : NULL;
  damo_var *g[MOST_INPUTS] = {NULL};
  if (cost != NULL && damo_grad(ctx, cost, in, n_in, g) == DAMO_OK) compile(ctx, in, n_in, g, n_in);
  for (int64_t i = 0; i < n_in; i++) damo_release(g[i]);
  damo_release(cost);
  damo_release(real);
}

static void use(damo_ctx *ctx, const damo_graph *g) {
  damo_var *in[MOST_INPUTS], *out[MOST_INPUTS];
  const int64_t n_in = damo_graph_size(g, DAMO_GRAPH_INPUTS), n_out = damo_graph_size(g, DAMO_GRAPH_OUTPUTS);
  if (n_in > MOST_INPUTS || n_out < 1 || n_out > MOST_INPUTS) return;
  for (int64_t i = 0; i < n_in; i++) in[i] = damo_graph_get(g, DAMO_GRAPH_INPUTS, i);
  for (int64_t i = 0; i < n_out; i++) out[i] = damo_graph_get(g, DAMO_GRAPH_OUTPUTS, i);
  compile(ctx, in, n_in, out, n_out);
  differentiate(ctx, in, n_in, out[0]);
}

/* The bytes with the size and the sum that they should have. */
static void sign(unsigned char *bytes, size_t n) {
  byte_writer size = {.at = bytes + STORE_HEAD - 8}, tail = {.at = bytes + n - STORE_TAIL};
  bytes_put(&size, n, 8);
  bytes_put(&tail, bytes_check_sum(bytes, n - STORE_TAIL), 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  if (n < STORE_HEAD + STORE_TAIL) return 0;
  unsigned char *bytes = malloc(n);
  if (bytes == NULL) return 0;
  memcpy(bytes, data, n);
  sign(bytes, n);
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_ctx_set_memory_cap(ctx, MEMORY_CAP);
  damo_graph *g = damo_graph_parse(ctx, bytes, n, NULL, 0);
  if (g != NULL) use(ctx, g);
  damo_graph_free(g);
  damo_ctx_release(ctx);
  free(bytes);
  return 0;
}

/* ---- Alone ------------------------------------------------------------------------------------------------------- */

#ifdef GRAPH_FUZZ_ALONE
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROOM (1 << 20)
#define SHARE 100     /* inputs of one process */
#define MOST_TIME 10u /* seconds of one input: a loop may be long */

typedef struct current {
  size_t n;
  unsigned char bytes[ROOM];
} current;

static uint64_t state;
static uint64_t draw(uint64_t below) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (state >> 33) % below;
}

static bool take_file(const char *path, current *c) {
  FILE *f = fopen(path, "rb");
  c->n = f != NULL ? fread(c->bytes, 1, ROOM / 2, f) : 0;
  if (f != NULL) fclose(f);
  return c->n > STORE_HEAD + STORE_TAIL && c->n < ROOM / 2;
}

/* One to four bytes become others: small numbers mostly, which counts, kinds, axes and references are. Now and then bytes
 * come in or go away. */
static void change(current *c) {
  static const unsigned char ends[] = {0, 1, 2, 63, 64, 65, 127, 128, 255};
  for (uint64_t k = 1 + draw(4); k > 0; k--) {
    const size_t at = STORE_HEAD + draw(c->n - STORE_HEAD - STORE_TAIL);
    const uint64_t how = draw(16);
    if (how == 0) {
      memmove(c->bytes + at + 1, c->bytes + at, c->n++ - at);
      c->bytes[at] = (unsigned char)draw(10);
    } else if (how == 1 && c->n > STORE_HEAD + STORE_TAIL + 8) {
      memmove(c->bytes + at, c->bytes + at + 1, --c->n - at);
    } else {
      c->bytes[at] = how < 10   ? (unsigned char)draw(12)
                     : how < 13 ? ends[draw(sizeof ends)]
                                : (unsigned char)(c->bytes[at] + draw(5) - 2);
    }
  }
}

static void share(current *c, char *const *files, int n_files, uint64_t seed) {
  state = seed;
  for (int i = 0; i < SHARE; i++) {
    if (!take_file(files[draw((uint64_t)n_files)], c)) continue;
    change(c);
    alarm(MOST_TIME);
    LLVMFuzzerTestOneInput(c->bytes, c->n);
  }
  fflush(NULL);
  _exit(0);
}

static void keep(const current *c, int number) {
  char path[64];
  snprintf(path, sizeof path, "crash-%d.graph", number);
  FILE *f = fopen(path, "wb");
  if (f == NULL) return;
  fwrite(c->bytes, 1, c->n, f);
  fclose(f);
}

int main(int argc, char **argv) {
  current *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (argc < 3 || c == MAP_FAILED) return 2;
  if (strcmp(argv[1], "-") == 0) return take_file(argv[2], c) ? LLVMFuzzerTestOneInput(c->bytes, c->n) : 2;
  if (argc < 4) return 2;
  const time_t end = time(NULL) + atol(argv[1]);
  int shares = 0, crashes = 0, slow = 0;
  for (uint64_t seed = strtoull(argv[2], NULL, 10); time(NULL) < end; seed++, shares++) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) share(c, argv + 3, argc - 3, seed);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
      slow++;
      continue;
    }
    keep(c, crashes++);
  }
  printf("graph_fuzz: %d shares of %d inputs, %d crashes, %d too slow\n", shares, SHARE, crashes, slow);
  return crashes != 0;
}
#endif
