/* parse_fuzz_test: what reads files, on bytes that were changed at random: nothing crashes, every block is given back, no
 * block is larger than the bytes account for, and an error says that it is one. In each format good bytes get flipped
 * bits, other numbers, other texts for numbers, holes, copies and early ends; half of the time the check sums are made
 * right again, so that what lies behind them is reached.
 *
 *   build/release/spec/parse_fuzz_test [ROUNDS [SEED [FORMAT]]]
 *
 * The rounds of a format follow from the seed: a failure names the round, which `ROUND@ SEED FORMAT` runs alone. Under the
 * sanitizers there are more of them, and reads outside of the bytes are told.
 */
#include <stdlib.h>
#include <zlib.h>

#include "damo.h"
#include "store/store_int.h"
#include "test.h"

#ifdef __SANITIZE_ADDRESS__
#define ROUNDS 10000
#else
#define ROUNDS 2500
#endif
#define ROOM 65536                     /* of changed bytes */
#define MOST_BYTES ((uint64_t)1 << 20) /* what a packed file may unpack to */
#define CAP ((size_t)64 << 20)
#define SLACK 65536 /* blocks of the parsers' own */

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

typedef struct counted {
  size_t live, largest;
} counted;

static void *count_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  counted *c = user;
  if (nsize > c->largest) c->largest = nsize;
  if (nsize > CAP) return NULL;
  void *to = nsize > 0 ? realloc(ptr, nsize) : NULL;
  if (nsize == 0) free(ptr);
  if (to != NULL || nsize == 0) c->live += nsize - (ptr != NULL ? osize : 0);
  return to;
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

static uint64_t random_state;
static uint64_t draw(uint64_t below) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (random_state >> 33) % below;
}

typedef struct changed {
  size_t n;
  unsigned char bytes[ROOM];
} changed;

/* Inserts `more` bytes of '0' at offset `at`; a negative number removes that many bytes there. */
static void resize(changed *c, size_t at, int64_t more) {
  if (more < 0) {
    const size_t less = (size_t)-more < c->n - at ? (size_t)-more : c->n - at;
    memmove(c->bytes + at, c->bytes + at + less, c->n - at - less);
    c->n -= less;
  } else if (c->n + (size_t)more <= ROOM) {
    memmove(c->bytes + at + more, c->bytes + at, c->n - at);
    memset(c->bytes + at, '0', (size_t)more);
    c->n += (size_t)more;
  }
}

/* A number of 1 to 8 bytes, as lengths that lie are. */
static void put_number(changed *c, size_t at) {
  const uint64_t ends[] = {0,          1,         2,          255,  256,      65535,   INT32_MAX,
                           UINT32_MAX, INT64_MAX, UINT64_MAX, c->n, c->n + 1, c->n - 1};
  const size_t width = (size_t)1 << draw(4);
  uint64_t v = ends[draw(sizeof ends / sizeof *ends)] + (draw(4) == 0 ? draw(16) : 0);
  if (draw(3) == 0) v = UINT64_C(1) << draw(64);
  for (size_t i = 0; i < width && at + i < c->n; i++) c->bytes[at + i] = (unsigned char)(v >> (8 * i));
}

/* Another text for the digits at or behind `at`. */
static void put_text(changed *c, size_t at) {
  static const char *const texts[] = {"0",     "1",   "-1",  "2147483648", "4294967296", "9223372036854775807",
                                      "1e999", "nan", "inf", "1e-9",       "0x8",        "18446744073709551616",
                                      "",      "1 1", "\"",  "}",          "-0"};
  const char *text = texts[draw(sizeof texts / sizeof *texts)];
  const size_t n = strlen(text);
  size_t digits = 0;
  while (at < c->n && (c->bytes[at] < '0' || c->bytes[at] > '9')) at++;
  while (at + digits < c->n && c->bytes[at + digits] >= '0' && c->bytes[at + digits] <= '9') digits++;
  if (digits == 0) return;
  resize(c, at, (int64_t)n - (int64_t)digits);
  if (at + n <= c->n) memcpy(c->bytes + at, text, n);
}

static void change(changed *c) {
  for (uint64_t k = 1 + draw(3); k > 0 && c->n > 0; k--) {
    const size_t at = draw(4) == 0 ? draw(c->n < 64 ? c->n : 64) : draw(c->n);
    switch (draw(9)) {
      case 0: c->bytes[at] ^= (unsigned char)(1u << draw(8)); break;
      case 1: c->bytes[at] = (unsigned char)draw(256); break;
      case 2: c->bytes[at] = (unsigned char)(c->bytes[at] + draw(5) - 2); break;
      case 3: put_number(c, at); break;
      case 4: put_text(c, at); break;
      case 5: resize(c, at, -(int64_t)(1 + draw(16))); break;
      case 6: resize(c, at, (int64_t)(1 + draw(16))); break;
      case 7: { /* a copy of another part */
        const size_t from = draw(c->n), most = c->n - (from > at ? from : at), n = draw(most + 1);
        memmove(c->bytes + at, c->bytes + from, n);
        break;
      }
      default:
        if (draw(3) == 0) c->n = at;
    }
  }
}

/* ---- Check sums -------------------------------------------------------------------------------------------------- */

static uint64_t number_at(const changed *c, size_t at, size_t width) {
  uint64_t v = 0;
  for (size_t i = width; i > 0; i--) v = v << 8 | (at + i - 1 < c->n ? c->bytes[at + i - 1] : 0);
  return v;
}
static void set_number(changed *c, size_t at, uint64_t v, size_t width) {
  for (size_t i = 0; i < width && at + i < c->n; i++) c->bytes[at + i] = (unsigned char)(v >> (8 * i));
}

/* The size and the sum at the end, of graphs (size_at 12) and snapshots (24). */
static void sign_sum(changed *c, size_t size_at) {
  if (c->n < size_at + 16) return;
  set_number(c, size_at, c->n, 8);
  set_number(c, c->n - 8, bytes_check_sum(c->bytes, c->n - 8), 8);
}
static void sign_graph(changed *c) { sign_sum(c, STORE_HEAD - 8); }
static void sign_snapshot(changed *c) { sign_sum(c, 24); }

/* The sums of a zip's members, stored ones, where its directory says that they lie. */
static void sign_zip(changed *c) {
  for (size_t at = 0; at + 46 <= c->n; at++) {
    if (memcmp(c->bytes + at, "PK\1\2", 4) != 0 || number_at(c, at + 10, 2) != 0) continue;
    const size_t local = (size_t)number_at(c, at + 42, 4), n = (size_t)number_at(c, at + 20, 4);
    if (local >= c->n) continue;
    const size_t data = local + 30 + (size_t)number_at(c, local + 26, 2) + (size_t)number_at(c, local + 28, 2);
    if (data > c->n || n > c->n - data) continue;
    const uint64_t sum = crc32(crc32(0, NULL, 0), c->bytes + data, (unsigned)n);
    set_number(c, at + 16, sum, 4);
    set_number(c, local + 14, sum, 4);
  }
}

/* The sums of a PNG's chunks. */
static void sign_png(changed *c) {
  for (size_t at = 8; at + 12 <= c->n;) {
    size_t n = 0;
    for (int i = 0; i < 4; i++) n = n << 8 | c->bytes[at + (size_t)i];
    if (n > c->n - at - 12) return;
    const uint64_t sum = crc32(crc32(0, NULL, 0), c->bytes + at + 4, (unsigned)n + 4);
    for (size_t i = 0; i < 4; i++) c->bytes[at + 8 + n + i] = (unsigned char)(sum >> (24 - 8 * i));
    at += n + 12;
  }
}

/* ---- Formats ----------------------------------------------------------------------------------------------------- */

/* Whether it was read. */
typedef bool parse_fn(damo_ctx *ctx, const void *bytes, size_t n);

static bool read_npy(damo_ctx *ctx, const void *bytes, size_t n) {
  damo_array *a = damo_npy_parse(ctx, bytes, n);
  damo_release(a);
  return a != NULL;
}
static bool read_npz(damo_ctx *ctx, const void *bytes, size_t n) {
  damo_npz *z = damo_npz_parse(ctx, bytes, n, MOST_BYTES);
  damo_npz_free(z);
  return z != NULL;
}
static bool read_npz_sparse(damo_ctx *ctx, const void *bytes, size_t n) {
  damo_sparse *a = damo_npz_parse_sparse(ctx, bytes, n);
  if (a != NULL) CHECK(sparse_check(a, NULL));
  damo_release(a);
  return a != NULL;
}
static bool read_safetensors(damo_ctx *ctx, const void *bytes, size_t n) {
  damo_npz *z = damo_safetensors_parse(ctx, bytes, n);
  damo_npz_free(z);
  return z != NULL;
}
static bool read_mtx(damo_ctx *ctx, const void *bytes, size_t n) {
  damo_obj *a = damo_mtx_parse(ctx, bytes, n, n % 2 ? DAMO_CSC : DAMO_CSR);
  if (a != NULL && a->kind == OBJ_SPARSE) CHECK(sparse_check((const damo_sparse *)a, NULL));
  damo_release(a);
  return a != NULL;
}
static bool read_csv(damo_ctx *ctx, const void *bytes, size_t n) {
  const damo_csv_options o = {.size = sizeof o, .skip = -1, .text_as_nan = n % 2 == 0};
  char *header = NULL;
  damo_array *a = damo_csv_parse(ctx, bytes, n, &o, &header);
  damo_text_free(ctx, header);
  damo_release(a);
  return a != NULL;
}
static bool read_csv_table(damo_ctx *ctx, const void *bytes, size_t n) {
  damo_csv_table *t = damo_csv_parse_table(ctx, bytes, n, NULL);
  for (int64_t i = 0; t != NULL && i < damo_csv_table_size(t); i++) {
    size_t length = 0;
    if (damo_csv_table_rows(t) > 0) (void)damo_csv_table_get_text(t, i, damo_csv_table_rows(t) - 1, &length);
    CHECK(length <= n);
  }
  damo_csv_table_free(t);
  return t != NULL;
}
static bool read_image(damo_ctx *ctx, const void *bytes, size_t n) {
  damo_array *a = damo_image_parse(ctx, bytes, n, MOST_BYTES);
  damo_release(a);
  return a != NULL;
}
static bool read_graph(damo_ctx *ctx, const void *bytes, size_t n) {
  damo_graph *g = damo_graph_parse(ctx, bytes, n, NULL, 0);
  damo_graph_free(g);
  return g != NULL;
}

/* ---- Good bytes -------------------------------------------------------------------------------------------------- */

static damo_array *some_numbers(damo_ctx *ctx, damo_dtype dtype, int ndim) {
  const int64_t shape[] = {3, 4, 2};
  const double v[24] = {1, 0, -2.5, 3e300, NAN, 0, 7, 8, 0, 0.1, 255, 3};
  damo_array *a = damo_array_from(ctx, DAMO_FLOAT64, ndim, shape, v), *b = array_cast(a, dtype);
  damo_release(a);
  return b;
}

static void take(damo_ctx *ctx, damo_status status, damo_bytes *from, changed *to) {
  to->n = 0;
  if (!CHECK_EQ_I(status, DAMO_OK) || !CHECK(from->n <= ROOM)) return;
  memcpy(to->bytes, from->at, from->n);
  to->n = from->n;
  damo_bytes_free(ctx, from);
}

static void make_npy(damo_ctx *ctx, uint64_t which, changed *to) {
  damo_bytes bytes;
  damo_array *a = some_numbers(ctx, (damo_dtype)(which % DAMO_N_DTYPES), (int)(which % 4));
  const damo_status s = damo_npy_format(a, &bytes);
  take(ctx, s, &bytes, to);
  damo_release(a);
}

static void make_npz(damo_ctx *ctx, uint64_t which, changed *to) {
  static const char *const names[] = {"x", "format", "a longer name"};
  damo_bytes bytes;
  damo_array *a[3];
  for (int i = 0; i < 3; i++) a[i] = some_numbers(ctx, (damo_dtype)((which + (uint64_t)i) % DAMO_N_DTYPES), i);
  const damo_status s = (which % 2 ? damo_npz_format : damo_npz_format_compressed)(ctx, names, a, 3, &bytes);
  take(ctx, s, &bytes, to);
  for (int i = 0; i < 3; i++) damo_release(a[i]);
}

static void make_npz_sparse(damo_ctx *ctx, uint64_t which, changed *to) {
  damo_bytes bytes;
  damo_array *a = some_numbers(ctx, DAMO_FLOAT64, 2);
  damo_sparse *m = damo_sparse_from_array(a, which % 2 ? DAMO_CSC : DAMO_CSR);
  const damo_status s = damo_npz_format_sparse(m, &bytes);
  take(ctx, s, &bytes, to);
  damo_release(m);
  damo_release(a);
}

static void make_safetensors(damo_ctx *ctx, uint64_t which, changed *to) {
  static const damo_dtype dtypes[] = {DAMO_FLOAT32, DAMO_INT64, DAMO_UINT8};
  static const char *const names[] = {"w", "b", "layer.0.weight"}, *const metadata[] = {"format", "pt"};
  damo_bytes bytes;
  damo_array *a[3];
  for (int i = 0; i < 3; i++) a[i] = some_numbers(ctx, dtypes[(which + (uint64_t)i) % 3], i + 1);
  const damo_status s = damo_safetensors_format(ctx, names, a, 3, metadata, 1, &bytes);
  take(ctx, s, &bytes, to);
  for (int i = 0; i < 3; i++) damo_release(a[i]);
}

static void make_text(changed *to, const char *const *texts, size_t n, uint64_t which) {
  const char *text = texts[which % n];
  to->n = strlen(text);
  memcpy(to->bytes, text, to->n);
}

static void make_mtx(damo_ctx *ctx, uint64_t which, changed *to) {
  static const char *const texts[] = {
      "%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 3\n1 1 1.5\n3 4 -2e10\n2 2 7\n",
      "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n1 1 4\n2 1 -7\n3 3 9\n",
      "%%MatrixMarket matrix coordinate pattern skew-symmetric\n3 3 2\n2 1\n3 2\n",
      "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 1 0\n2 1 0.5 -1\n",
      "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6.25\n",
      "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n"};
  (void)ctx;
  make_text(to, texts, sizeof texts / sizeof *texts, which);
}

static void make_csv(damo_ctx *ctx, uint64_t which, changed *to) {
  static const char *const texts[] = {"a,b,c\n1,2,3\n4.5,,-6e7\nnan,inf,0x10\n",
                                      "1,2\n3,4\n5,6\n",
                                      "name;x\n\"a \"\"quoted\"\" one\",1\n",
                                      "\"a,b\",c\r\n1,2\r\n\"3\",4\r\n",
                                      "\xef\xbb\xbfx,y\n1,2\n\n3,4",
                                      "1e308,1e-320,0.1000000000000000055511151231257827\n"};
  (void)ctx;
  make_text(to, texts, sizeof texts / sizeof *texts, which);
}

static void make_image(damo_ctx *ctx, uint64_t which, changed *to) {
  const int64_t shape[] = {5, 7, 1 + (int64_t)(which / 2 % 4)};
  damo_bytes bytes;
  damo_array *a = damo_array_new(ctx, which % 3 ? DAMO_UINT8 : DAMO_UINT16, shape[2] == 1 ? 2 : 3, shape);
  const bool png = which % 2 || shape[2] % 2 == 0;
  const damo_status s = damo_image_format(a, png ? "png" : "ppm", &bytes);
  take(ctx, s, &bytes, to);
  damo_release(a);
}

static damo_var *applied(damo_ctx *ctx, const char *name, damo_var *a, damo_var *b) {
  damo_var *y = damo_call(ctx, name, (damo_var *const[]){a, b}, b != NULL ? 2 : 1);
  CHECK(y != NULL);
  damo_release(a);
  return y;
}

/* x, shared w, and a result of several kinds of nodes. */
static void make_variables(damo_ctx *ctx, damo_var **x, damo_var **w, damo_var **y) {
  damo_type *vector = damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL);
  damo_array *a = some_numbers(ctx, DAMO_FLOAT64, 1), *c = some_numbers(ctx, DAMO_FLOAT32, 1);
  damo_var *constant = damo_constant(ctx, c);
  *x = damo_var_new(ctx, vector, "x");
  *w = damo_shared(ctx, a, "w");
  damo_var *t = applied(ctx, "exp", damo_retain(*x), NULL);
  t = applied(ctx, "mul", t, *w);
  t = applied(ctx, "add", t, constant);
  t = applied(ctx, "cumsum", t, NULL);
  *y = applied(ctx, "dot", t, *x);
  damo_release(constant);
  damo_release(vector);
  damo_release(a);
  damo_release(c);
}

static void make_graph(damo_ctx *ctx, uint64_t which, changed *to) {
  damo_var *x, *w, *y;
  damo_bytes bytes = {.n = 0};
  make_variables(ctx, &x, &w, &y);
  damo_var *next = applied(ctx, "tanh", damo_retain(w), NULL);
  damo_graph *g = damo_graph_new(ctx, &x, 1, &y, 1, &w, &next, which % 2);
  const damo_status s = damo_graph_format(g, which % 3 == 0, &bytes);
  take(ctx, s, &bytes, to);
  damo_graph_free(g);
  damo_release(next);
  damo_release(y);
  damo_release(w);
  damo_release(x);
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

typedef struct format {
  const char *name;
  void (*make)(damo_ctx *ctx, uint64_t which, changed *to);
  parse_fn *read;
  void (*sign)(changed *c);
  bool sparse;   /* memory follows from the shape, too: the cap bounds it */
  size_t packed; /* bytes that unpacking may take besides */
} format;

static const format formats[] = {
    {"npy", make_npy, read_npy, NULL, false, 0},
    {"npz", make_npz, read_npz, sign_zip, false, (size_t)MOST_BYTES},
    {"npz_sparse", make_npz_sparse, read_npz_sparse, sign_zip, true, (size_t)MOST_BYTES},
    {"safetensors", make_safetensors, read_safetensors, NULL, false, 0},
    {"mtx", make_mtx, read_mtx, NULL, true, 0},
    {"csv", make_csv, read_csv, NULL, false, 0},
    {"csv_table", make_csv, read_csv_table, NULL, false, 0},
    {"image", make_image, read_image, sign_png, false, (size_t)MOST_BYTES},
    {"graph", make_graph, read_graph, sign_graph, false, 0},
};

/* Reads a block of its own, so that the sanitizers tell a read outside. */
static bool read_apart(const format *f, damo_ctx *ctx, const changed *c) {
  unsigned char *block = malloc(c->n > 0 ? c->n : 1);
  if (block == NULL) return false;
  memcpy(block, c->bytes, c->n);
  const bool read = f->read(ctx, block, c->n);
  free(block);
  return read;
}

/* Returns whether changed bytes were read. */
static bool run_round(const format *f, damo_ctx *ctx, counted *memory, uint64_t seed, uint64_t round) {
  static changed c;
  random_state = seed * UINT64_C(0x9E3779B97F4A7C15) + round;
  for (int i = 0; i < 4; i++) draw(2);
  f->make(ctx, draw(1000), &c);
  change(&c);
  if (f->sign != NULL && draw(2) == 0) f->sign(&c);
  const int failed = test_failed;
  const int64_t objects = damo_ctx_memory(ctx).objects;
  memory->largest = 0;
  const bool read = read_apart(f, ctx, &c);
  const size_t most = SLACK + 64 * c.n + f->packed;
  if (!f->sparse) CHECK(memory->largest <= most);
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, objects);
  if (!read) CHECK(damo_error_message(ctx) != NULL && damo_error_message(ctx)[0] != '\0');
  if (test_failed > failed)
    fprintf(stderr, "    %s, round %llu@ of seed %llu: a block of %zu bytes for %zu\n", f->name,
            (unsigned long long)round, (unsigned long long)seed, memory->largest, c.n);
  return read;
}

static void run_format(const format *f, uint64_t first, uint64_t rounds, uint64_t seed) {
  counted memory = {0};
  int read = 0;
  damo_ctx *ctx = damo_ctx_new(count_alloc, &memory);
  damo_ctx_set_memory_cap(ctx, CAP);
  for (uint64_t k = first; k < first + rounds; k++) read += run_round(f, ctx, &memory, seed, k);
  damo_ctx_release(ctx);
  CHECK_EQ_I(memory.live, 0);
  if (rounds >= 1000) CHECK(read > 0 && (uint64_t)read < rounds); /* some changes are seen, some are not */
}

/* Restoring changed states: the Function's values are the old ones, or others of the same kind. */
static void run_snapshots(uint64_t first, uint64_t rounds, uint64_t seed) {
  static changed c;
  counted memory = {0};
  damo_var *x, *w, *y;
  int read = 0;
  damo_ctx *ctx = damo_ctx_new(count_alloc, &memory);
  damo_ctx_set_memory_cap(ctx, CAP);
  make_variables(ctx, &x, &w, &y);
  damo_function *f = damo_compile(ctx, &x, 1, &y, 1, NULL, NULL, 0, NULL);
  for (uint64_t k = first; CHECK(f != NULL) && k < first + rounds; k++) {
    random_state = seed * UINT64_C(0x9E3779B97F4A7C15) + k;
    CHECK_EQ_I(damo_function_snapshot(f, c.bytes, ROOM, &c.n), DAMO_OK);
    change(&c);
    if (draw(2) == 0) sign_snapshot(&c);
    unsigned char *block = malloc(c.n > 0 ? c.n : 1);
    memcpy(block, c.bytes, c.n);
    memory.largest = 0;
    read += damo_function_restore(f, block, c.n) == DAMO_OK;
    if (!CHECK(memory.largest <= SLACK + 64 * c.n))
      fprintf(stderr, "    snapshot, round %llu@ of seed %llu\n", (unsigned long long)k, (unsigned long long)seed);
    free(block);
  }
  if (rounds >= 1000) CHECK(read > 0 && (uint64_t)read < rounds);
  damo_release(f);
  damo_release(y);
  damo_release(w);
  damo_release(x);
  damo_ctx_release(ctx);
  CHECK_EQ_I(memory.live, 0);
}

int main(int argc, char **argv) {
  const char *text = argc > 1 ? argv[1] : "", *only = argc > 3 ? argv[3] : NULL;
  const bool single = strchr(text, '@') != NULL;
  const uint64_t number = strtoull(text, NULL, 10), seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  const uint64_t first = single ? number : 0, rounds = single ? 1 : argc > 1 ? number : ROUNDS;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (only == NULL || strcmp(only, formats[i].name) == 0) run_format(&formats[i], first, rounds, seed);
  if (only == NULL || strcmp(only, "snapshot") == 0) run_snapshots(first, rounds, seed);
  TEST_MAIN_END;
}
