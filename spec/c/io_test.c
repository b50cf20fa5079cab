/* io_test: .npy, .npz and CSV files: round trips, files by other programs, and damaged files. */
#include "io/io.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "test.h"

static char dir[] = "damo_io_XXXXXX";
static char path_text[256];

static const char *path(const char *name) {
  snprintf(path_text, sizeof path_text, "%s/%s", dir, name);
  return path_text;
}

static void put(const char *name, const void *data, size_t n) {
  FILE *f = fopen(path(name), "wb");
  if (!f) return;
  fwrite(data, 1, n, f);
  fclose(f);
}

static size_t get(const char *name, char *data, size_t cap) {
  FILE *f = fopen(path(name), "rb");
  if (!f) return 0;
  size_t n = fread(data, 1, cap, f);
  fclose(f);
  return n;
}

static damo_ctx *new_ctx(void) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  array_register(ctx);
  return ctx;
}

static damo_array *counting(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape) {
  damo_array *a = array_empty(ctx, DAMO_INT64, ndim, shape);
  int64_t *p = (int64_t *)a->data;
  for (int64_t i = 0; i < array_size(a); i++) p[i] = i % 100;
  damo_array *c = array_cast(a, dtype);
  damo_release(a);
  return c;
}

/* ---- npy --------------------------------------------------------------------------------------------------------- */

static void test_npy_round_trip(damo_ctx *ctx) {
  const int64_t shapes[3] = {2, 3, 4};
  for (int dtype = 0; dtype < DAMO_N_DTYPES; dtype++) {
    for (int ndim = 0; ndim <= 3; ndim++) {
      damo_array *a = counting(ctx, (damo_dtype)dtype, ndim, shapes);
      CHECK_EQ_I(io_write_npy(IO_TO_FILE(path("a.npy")), a), DAMO_OK);
      damo_array *b = io_read_npy(ctx, IO_FROM_FILE(path("a.npy")));
      CHECK(b && array_equal(a, b, true));
      damo_release(a);
      damo_release(b);
    }
  }
  damo_array *empty = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){0, 5});
  CHECK_EQ_I(io_write_npy(IO_TO_FILE(path("a.npy")), empty), DAMO_OK);
  damo_array *back = io_read_npy(ctx, IO_FROM_FILE(path("a.npy")));
  CHECK(back && array_equal(empty, back, true));
  damo_release(empty);
  damo_release(back);
}

static size_t npy_bytes(char *out, int version, const char *dict, const void *data, size_t n) {
  const size_t head = strlen(dict);
  memcpy(out, "\x93NUMPY", 6);
  out[6] = (char)version, out[7] = 0;
  size_t at = 8;
  for (int i = 0; i < (version == 1 ? 2 : 4); i++) out[at++] = (char)(head >> (8 * i));
  memcpy(out + at, dict, head);
  memcpy(out + at + head, data, n);
  return at + head + n;
}

static void test_npy_of_others(damo_ctx *ctx) {
  char bytes[512];
  const uint8_t big[8] = {0, 1, 0, 2, 0, 3, 0, 4};
  size_t n = npy_bytes(bytes, 1, "{'descr': '>i2', 'fortran_order': False, 'shape': (4,), }\n", big, 8);
  put("big.npy", bytes, n);
  damo_array *a = io_read_npy(ctx, IO_FROM_FILE(path("big.npy")));
  if (CHECK(a && array_dtype(a) == DAMO_INT16 && a->ndim == 1)) CHECK_EQ_I(((int16_t *)a->data)[2], 3);
  damo_release(a);

  const double f[6] = {1, 4, 2, 5, 3, 6}; /* column-major [[1 2 3], [4 5 6]] */
  for (int version = 1; version <= 3; version++) {
    n = npy_bytes(bytes, version, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }\n", f, sizeof f);
    put("f.npy", bytes, n);
    a = io_read_npy(ctx, IO_FROM_FILE(path("f.npy")));
    if (CHECK(a && a->ndim == 2 && array_shape(a)[0] == 2)) {
      CHECK_NEAR(array_get(a, (const int64_t[]){0, 2}).v.f, 3, 0);
      CHECK_NEAR(array_get(a, (const int64_t[]){1, 0}).v.f, 4, 0);
    }
    damo_release(a);
  }
}

static void expect_npy_error(damo_ctx *ctx, const void *bytes, size_t n, const char *text) {
  put("bad.npy", bytes, n);
  damo_array *a = io_read_npy(ctx, IO_FROM_FILE(path("bad.npy")));
  CHECK(a == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_EIO);
  if (!CHECK(strstr(ctx->error.message, text) != NULL)) fprintf(stderr, "    %s\n", ctx->error.message);
  damo_release(a);
}

static void test_npy_damaged(damo_ctx *ctx) {
  char bytes[512];
  const double data[2] = {1, 2};
  expect_npy_error(ctx, "", 0, "cut short");
  expect_npy_error(ctx, "hello, this is text", 19, "not an .npy file");
  size_t n = npy_bytes(bytes, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", data, sizeof data);
  expect_npy_error(ctx, bytes, n, "cut short");
  n = npy_bytes(bytes, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", data,
                sizeof data);
  expect_npy_error(ctx, bytes, n, "out of range");
  n = npy_bytes(bytes, 1, "{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", data, sizeof data);
  expect_npy_error(ctx, bytes, n, "dtype O");
  n = npy_bytes(bytes, 1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", data, sizeof data);
  expect_npy_error(ctx, bytes, n, "structured");
  n = npy_bytes(bytes, 1, "{'descr': '<f8', 'shape': (2,), }", data, sizeof data);
  expect_npy_error(ctx, bytes, n, "fortran_order");
  n = npy_bytes(bytes, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2", data, sizeof data);
  expect_npy_error(ctx, bytes, n, "shape");
  bytes[8] = (char)0xff, bytes[9] = (char)0xff;
  expect_npy_error(ctx, bytes, n, "length");
  n = npy_bytes(bytes, 9, "{}", data, sizeof data);
  expect_npy_error(ctx, bytes, n, "version");
  CHECK(io_read_npy(ctx, IO_FROM_FILE(path("nothing.npy"))) == NULL);
  CHECK(strstr(ctx->error.message, "nothing.npy: can't be opened: ") != NULL);
  CHECK(io_read_npy(ctx, IO_FROM_FILE(dir)) == NULL);
}

/* ---- npz --------------------------------------------------------------------------------------------------------- */

static void write_two(damo_ctx *ctx, const char *name) {
  const char *names[2] = {"weights", "b"};
  damo_array *a = counting(ctx, DAMO_FLOAT32, 2, (const int64_t[]){5, 7}), *b = counting(ctx, DAMO_INT8, 0, NULL);
  CHECK_EQ_I(io_write_npz(ctx, IO_TO_FILE(path(name)), names, (damo_array *const[]){a, b}, 2), DAMO_OK);
  damo_release(a);
  damo_release(b);
}

static void test_npz_round_trip(damo_ctx *ctx) {
  npz z;
  write_two(ctx, "a.npz");
  if (CHECK_EQ_I(io_read_npz(ctx, IO_FROM_FILE(path("a.npz")), 0, &z), DAMO_OK)) {
    damo_array *a = counting(ctx, DAMO_FLOAT32, 2, (const int64_t[]){5, 7});
    CHECK_EQ_I(z.n, 2);
    CHECK_EQ_S(z.at[0].name, "weights");
    CHECK_EQ_S(z.at[1].name, "b");
    CHECK(array_equal(a, z.at[0].array, true));
    damo_release(a);
    npz_clear(&z);
  }
  CHECK(access(path("a.npz.part"), F_OK) != 0);
  CHECK_EQ_I(io_write_npz(ctx, IO_TO_FILE(path("none.npz")), NULL, NULL, 0), DAMO_OK);
  if (CHECK_EQ_I(io_read_npz(ctx, IO_FROM_FILE(path("none.npz")), 0, &z), DAMO_OK)) {
    CHECK_EQ_I(z.n, 0);
    npz_clear(&z);
  }
}

static void little(char *p, uint32_t v, int bytes) {
  for (int i = 0; i < bytes; i++) p[i] = (char)(v >> (8 * i));
}

/* An archive with one deflated member, whose sizes are in a data descriptor after it. */
static size_t deflated_zip(char *out, const char *name, const void *data, size_t n) {
  char packed[4096];
  z_stream z = {.next_in = (Bytef *)(uintptr_t)data,
                .avail_in = (uInt)n,
                .next_out = (Bytef *)packed,
                .avail_out = sizeof packed};
  deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  deflate(&z, Z_FINISH);
  const uint32_t size = (uint32_t)z.total_out, crc = (uint32_t)crc32(0, data, (uInt)n), length = (uint32_t)strlen(name);
  deflateEnd(&z);
  memset(out, 0, 200);
  little(out, 0x04034b50, 4), little(out + 4, 20, 2), little(out + 6, 8, 2), little(out + 8, 8, 2),
      little(out + 26, length, 2);
  char *p = out + 30;
  memcpy(p, name, length), p += length;
  memcpy(p, packed, size), p += size;
  little(p, 0x08074b50, 4), little(p + 4, crc, 4), little(p + 8, size, 4), little(p + 12, (uint32_t)n, 4), p += 16;
  char *start = p;
  memset(p, 0, 46 + length + 22);
  little(p, 0x02014b50, 4), little(p + 8, 8, 2), little(p + 10, 8, 2), little(p + 16, crc, 4), little(p + 20, size, 4);
  little(p + 24, (uint32_t)n, 4), little(p + 28, length, 2);
  memcpy(p + 46, name, length), p += 46 + length;
  little(p, 0x06054b50, 4), little(p + 8, 1, 2), little(p + 10, 1, 2), little(p + 12, (uint32_t)(p - start), 4);
  little(p + 16, (uint32_t)(start - out), 4);
  return (size_t)(p + 22 - out);
}

static void test_npz_deflated(damo_ctx *ctx) {
  char npy[2048], bytes[8192];
  double data[200];
  npz z;
  for (int i = 0; i < 200; i++) data[i] = i % 5;
  const size_t n = npy_bytes(npy, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (200,), }", data, sizeof data);
  const size_t all = deflated_zip(bytes, "x.npy", npy, n);
  put("d.npz", bytes, all);
  if (CHECK_EQ_I(io_read_npz(ctx, IO_FROM_FILE(path("d.npz")), 0, &z), DAMO_OK)) {
    CHECK_EQ_I(z.n, 1);
    CHECK_EQ_S(z.at[0].name, "x");
    CHECK_NEAR(((double *)z.at[0].array->data)[198], 3, 0);
    npz_clear(&z);
  }
  /* Every truncation and every changed byte gives an error or a valid array, never a crash. */
  for (size_t i = 0; i < all; i++) {
    put("t.npz", bytes, i);
    CHECK(io_read_npz(ctx, IO_FROM_FILE(path("t.npz")), 0, &z) != DAMO_OK);
    bytes[i] ^= (char)0x5a;
    put("t.npz", bytes, all);
    if (io_read_npz(ctx, IO_FROM_FILE(path("t.npz")), 0, &z) == DAMO_OK) npz_clear(&z);
    bytes[i] ^= (char)0x5a;
  }
}

/* The inflated size of deflated members is bounded; stored members take as many bytes as the file has. */
static void test_npz_bound(damo_ctx *ctx) {
  char npy[2048], bytes[8192];
  const double data[200] = {0};
  npz z;
  const size_t n = npy_bytes(npy, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (200,), }", data, sizeof data);
  const size_t all = deflated_zip(bytes, "x.npy", npy, n);
  CHECK(all < 400);
  put("d.npz", bytes, all);
  CHECK_EQ_I(io_read_npz(ctx, IO_FROM_FILE(path("d.npz")), n - 1, &z), DAMO_EIO);
  CHECK(strstr(ctx->error.message, "d.npz: inflated, the archive has more than ") != NULL);
  CHECK(strstr(ctx->error.message, "the option max_bytes (default 1073741824) allows more") != NULL);
  CHECK_EQ_I(io_read_npz(ctx, IO_FROM_FILE(path("d.npz")), n, &z), DAMO_OK);
  npz_clear(&z);
  write_two(ctx, "a.npz");
  CHECK_EQ_I(io_read_npz(ctx, IO_FROM_FILE(path("a.npz")), 1, &z), DAMO_OK);
  npz_clear(&z);
  put("d.npz", bytes, deflated_zip(bytes, "x\1.npy", npy, n));
  for (size_t i = 0; i + 1 < sizeof bytes; i++) {
    if (bytes[i] == 'x' && bytes[i + 1] == 1) bytes[i + 1] = 0;
  }
  put("d.npz", bytes, all + 2);
  CHECK_EQ_I(io_read_npz(ctx, IO_FROM_FILE(path("d.npz")), 0, &z), DAMO_EIO);
  CHECK(strstr(ctx->error.message, "a member has a zero byte") != NULL);
}

static void test_npz_damaged(damo_ctx *ctx) {
  char bytes[4096];
  npz z;
  write_two(ctx, "a.npz");
  const size_t n = get("a.npz", bytes, sizeof bytes);
  bytes[150] ^= 1; /* an entry of weights */
  put("bad.npz", bytes, n);
  CHECK_EQ_I(io_read_npz(ctx, IO_FROM_FILE(path("bad.npz")), 0, &z), DAMO_EIO);
  CHECK(strstr(ctx->error.message, "member 'weights.npy': the data are damaged") != NULL);
  bytes[150] ^= 1;
  for (size_t i = 0; i < n; i++) {
    for (int k = 0; k < 2; k++) {
      const char old = bytes[i];
      bytes[i] = k ? (char)0xff : (char)(bytes[i] ^ 0x21);
      put("bad.npz", bytes, n);
      if (io_read_npz(ctx, IO_FROM_FILE(path("bad.npz")), 0, &z) == DAMO_OK) npz_clear(&z);
      bytes[i] = old;
    }
  }
  put("bad.npz", "PK\5\6", 4);
  CHECK_EQ_I(io_read_npz(ctx, IO_FROM_FILE(path("bad.npz")), 0, &z), DAMO_EIO);
  CHECK_EQ_I(io_write_npz(ctx, IO_TO_FILE("damo_no_such_dir/x.npz"), NULL, NULL, 0), DAMO_EIO);
  CHECK(strstr(ctx->error.message, "damo_no_such_dir/x.npz: can't be written: ") != NULL);
}

/* ---- CSV --------------------------------------------------------------------------------------------------------- */

static damo_array *csv_of(damo_ctx *ctx, const char *text, const csv_options *o, char **header) {
  put("a.csv", text, strlen(text));
  return io_read_csv(ctx, IO_FROM_FILE(path("a.csv")), o, header);
}

static double at(const damo_array *a, int64_t i, int64_t j) {
  return scalar_to_double(array_get(a, (const int64_t[]){i, j}));
}

static void test_csv_values(damo_ctx *ctx) {
  char *header = NULL;
  damo_array *a =
      csv_of(ctx, "\xEF\xBB\xBFname, \"a \"\"b\"\"\" ,c\r\n1,2.5,-3e2\r\n\r\n 4 ,\"5\",\n.5,6.,+inf\n", NULL, &header);
  if (CHECK(a && a->ndim == 2)) {
    CHECK_EQ_I(array_shape(a)[0], 3);
    CHECK_EQ_I(array_shape(a)[1], 3);
    CHECK_EQ_S(header, "name\na \"b\"\nc");
    CHECK_NEAR(at(a, 0, 1), 2.5, 0);
    CHECK_NEAR(at(a, 0, 2), -300, 0);
    CHECK_NEAR(at(a, 1, 1), 5, 0);
    CHECK(isnan(at(a, 1, 2)));
    CHECK_NEAR(at(a, 2, 0), 0.5, 0);
    CHECK(isinf(at(a, 2, 2)));
  }
  mem_strfree(ctx, header);
  damo_release(a);
  a = csv_of(ctx, "1,2\n3,4", NULL, &header);
  CHECK(header == NULL);
  CHECK(a && array_shape(a)[0] == 2 && at(a, 1, 1) == 4);
  damo_release(a);
}

static void test_csv_digits(damo_ctx *ctx) {
  char text[64];
  for (int i = 0; i < 2000; i++) {
    const double v = ldexp((double)(i * 7919 % 10007) + 1.0 / (i + 3), (i * 37) % 400 - 200);
    snprintf(text, sizeof text, i % 2 ? "%.17g,0\n" : "%.6e,0\n", i % 3 ? v : -v);
    damo_array *a = csv_of(ctx, text, NULL, NULL);
    if (!a || at(a, 0, 0) != strtod(text, NULL)) CHECK(!"read as strtod reads it");
    damo_release(a);
    if (i % 50 == 0) CHECK(true);
  }
}

/* A number may have any number of digits: 767 digits determine a double, one more whether it is past a tie. */
static void test_csv_long(damo_ctx *ctx) {
  const size_t n = 5000000;
  char *text = malloc(n + 64);
  if (!text) return;
  memset(text, '3', n);
  memcpy(text + 1, ".", 1);
  strcpy(text + n, ",1\n");
  damo_array *a = csv_of(ctx, text, NULL, NULL);
  if (CHECK(a && array_shape(a)[0] == 1 && array_shape(a)[1] == 2)) CHECK_NEAR(at(a, 0, 0), 10.0 / 3, 0);
  damo_release(a);
  memset(text, '0', n);
  memcpy(text, "-0.", 3);
  strcpy(text + n, "25e5000000");
  a = csv_of(ctx, text, NULL, NULL);
  if (CHECK(a && array_shape(a)[0] == 1)) CHECK_NEAR(at(a, 0, 0), -250, 0);
  damo_release(a);
  memset(text, '7', n);
  text[n] = '\0';
  a = csv_of(ctx, text, NULL, NULL);
  if (CHECK(a && array_shape(a)[0] == 1)) CHECK(isinf(at(a, 0, 0)));
  damo_release(a);
  /* 1 + 2^-53 is a tie, rounded to 1; a nonzero digit after the 800th rounds up */
  strcpy(text, "1.00000000000000011102230246251565404236316680908203125");
  for (int last = 0; last < 2; last++) {
    const size_t end = strlen("1.00000000000000011102230246251565404236316680908203125");
    memset(text + end, '0', 2000);
    text[end + 2000] = last ? '1' : '0';
    text[end + 2001] = '\0';
    a = csv_of(ctx, text, NULL, NULL);
    if (CHECK(a != NULL)) CHECK_NEAR(at(a, 0, 0), last ? 1 + 0x1p-52 : 1, 0);
    damo_release(a);
  }
  free(text);
}

static void test_csv_options(damo_ctx *ctx) {
  csv_options o = {.delimiter = ';', .skip = 1, .dtype = DAMO_INT64};
  char *header = NULL;
  damo_array *a = csv_of(ctx, "7;8;9\n9007199254740993;-2\n1e3;4\n", &o, &header);
  if (CHECK(a && array_dtype(a) == DAMO_INT64)) {
    CHECK_EQ_S(header, "7\n8\n9");
    CHECK_EQ_I(((int64_t *)a->data)[0], 9007199254740993);
    CHECK_EQ_I(((int64_t *)a->data)[2], 1000);
  }
  mem_strfree(ctx, header);
  damo_release(a);
  o = (csv_options){.skip = 0, .dtype = DAMO_FLOAT32, .text_as_nan = true};
  a = csv_of(ctx, "1,hello\n2,3\n", &o, NULL);
  if (CHECK(a != NULL)) CHECK(isnan(at(a, 0, 1)));
  damo_release(a);
}

static void expect_csv_error(damo_ctx *ctx, const char *text, const csv_options *o, const char *message) {
  damo_array *a = csv_of(ctx, text, o, NULL);
  CHECK(a == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_EIO);
  if (!CHECK(strstr(ctx->error.message, message) != NULL)) fprintf(stderr, "    %s\n", ctx->error.message);
  damo_release(a);
}

static void test_csv_damaged(damo_ctx *ctx) {
  const csv_options bytes = {.skip = 0, .dtype = DAMO_UINT8};
  expect_csv_error(ctx, "a,b,c\n1,2,3\n4,5\n", NULL, "a.csv: line 3 has 2 cells, line 1 has 3");
  expect_csv_error(ctx, "1,2\n3,x\n", NULL, "line 2, cell 2: 'x' is not a number");
  expect_csv_error(ctx, "1,\"2\n3,4", NULL, "line 1: a quoted cell does not end");
  expect_csv_error(ctx, "1,\"2\"x\n", NULL, "line 1: text follows a closing quote");
  expect_csv_error(ctx, "", NULL, "no data");
  put("a.csv", "a\0b,c\n1,2\n", 10);
  CHECK(!io_read_csv(ctx, IO_FROM_FILE(path("a.csv")), NULL, NULL));
  CHECK(strstr(ctx->error.message, "line 1, cell 1: 'a' has a zero byte in it") != NULL);
  expect_csv_error(ctx, "255\n256\n", &bytes, "line 2, cell 1: '256' is outside");
  expect_csv_error(ctx, "1\n1.5\n", &bytes, "'1.5' is not a value");
  expect_csv_error(ctx, "1,\n", &bytes, "has no value as an integer");
  expect_csv_error(ctx, "-1\n", &bytes, "outside");
}

static void remove_all(void) {
  static const char *const names[] = {"a.npy",    "big.npy", "f.npy", "bad.npy", "a.npz",
                                      "none.npz", "d.npz",   "t.npz", "bad.npz", "a.csv"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(path(names[i]));
  rmdir(dir);
}

int main(void) {
  if (!mkdtemp(dir)) return 1;
  damo_ctx *ctx = new_ctx();
  test_npy_round_trip(ctx);
  test_npy_of_others(ctx);
  test_npy_damaged(ctx);
  test_npz_round_trip(ctx);
  test_npz_deflated(ctx);
  test_npz_bound(ctx);
  test_npz_damaged(ctx);
  test_csv_values(ctx);
  test_csv_digits(ctx);
  test_csv_long(ctx);
  test_csv_options(ctx);
  test_csv_damaged(ctx);
  remove_all();
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
  CHECK_EQ_I(damo_ctx_memory(ctx).bytes, 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
