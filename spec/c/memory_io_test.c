/* memory_io_test: the …_parse and …_format functions of damo.h, which read and write files' bytes in memory, in a sandbox
 * too; and a save that is killed in the middle. */
#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "damo.h"
#include "test.h"

static char dir[] = "damo_memory_io_XXXXXX";

static damo_array *numbers(damo_ctx *ctx) {
  return damo_array_from(ctx, DAMO_FLOAT64, 2, (const int64_t[]){2, 3}, (const double[]){1, 0.1, -3e300, NAN, 5, 6});
}

static bool same(damo_array *a, const damo_array *b) {
  return a && b && damo_array_size(a) == damo_array_size(b) &&
         memcmp(damo_array_data(a), damo_array_data((damo_array *)(uintptr_t)b), 8 * (size_t)damo_array_size(a)) == 0;
}

static void test_npy(damo_ctx *ctx) {
  damo_array *a = numbers(ctx);
  damo_bytes bytes;
  CHECK_EQ_I(damo_npy_format(a, &bytes), DAMO_OK);
  damo_array *b = damo_npy_parse(ctx, bytes.at, bytes.n);
  CHECK(same(b, a));
  damo_release(b);
  for (size_t n = 0; n < bytes.n; n++) {
    char *cut = malloc(n + 1); /* its own block, so that a read past the end is seen */
    memcpy(cut, bytes.at, n);
    if (damo_npy_parse(ctx, n ? cut : NULL, n)) CHECK(!"what is cut short is refused");
    free(cut);
  }
  CHECK(strncmp(damo_error_message(ctx), "bytes: ", 7) == 0);
  damo_bytes_free(ctx, &bytes);
  CHECK(bytes.at == NULL);
  damo_bytes_free(ctx, &bytes);
  damo_release(a);
}

static void test_npz(damo_ctx *ctx) {
  damo_array *a = numbers(ctx);
  damo_bytes bytes;
  CHECK_EQ_I(damo_npz_format(ctx, (const char *const[]){"x"}, &a, 1, &bytes), DAMO_OK);
  damo_npz *z = damo_npz_parse(ctx, bytes.at, bytes.n, 0);
  CHECK(z && same(damo_npz_find(z, "x"), a));
  damo_npz_free(z);
  CHECK(!damo_npz_parse(ctx, bytes.at, bytes.n - 1, 0));
  damo_bytes_free(ctx, &bytes);
  damo_sparse *s = damo_sparse_from_array(a, DAMO_CSC);
  CHECK_EQ_I(damo_npz_format_sparse(s, &bytes), DAMO_OK);
  damo_sparse *t = damo_npz_parse_sparse(ctx, bytes.at, bytes.n);
  CHECK(t && damo_sparse_format(t) == DAMO_CSC && same(damo_sparse_get_data(t), damo_sparse_get_data(s)));
  damo_bytes_free(ctx, &bytes);
  damo_release(t);
  CHECK_EQ_I(damo_mtx_format((damo_obj *)s, NULL, &bytes), DAMO_OK);
  CHECK(strncmp(bytes.at, "%%MatrixMarket matrix coordinate real general\n2 3 6\n", 52) == 0);
  t = (damo_sparse *)damo_mtx_parse(ctx, bytes.at, bytes.n, DAMO_CSC);
  CHECK(t && same(damo_sparse_get_data(t), damo_sparse_get_data(s)));
  damo_bytes_free(ctx, &bytes);
  damo_release(t);
  damo_release(s);
  damo_release(a);
}

static void test_safetensors(damo_ctx *ctx) {
  damo_array *a = numbers(ctx);
  damo_bytes bytes;
  const char *const metadata[2] = {"format", "pt"};
  CHECK_EQ_I(damo_safetensors_format(ctx, (const char *const[]){"x"}, &a, 1, metadata, 1, &bytes), DAMO_OK);
  damo_npz *z = damo_safetensors_parse(ctx, bytes.at, bytes.n);
  CHECK(z && same(damo_npz_find(z, "x"), a));
  CHECK_EQ_S(damo_npz_get_metadata(z, "format"), "pt");
  damo_npz_free(z);
  damo_bytes_free(ctx, &bytes);
  CHECK_EQ_I(damo_safetensors_write(ctx, "x", NULL, NULL, 0, NULL, 0), DAMO_ESTATE);
  CHECK(!damo_safetensors_read(ctx, "x"));
  damo_release(a);
}

static void test_csv(damo_ctx *ctx) {
  damo_array *a = numbers(ctx);
  damo_bytes bytes;
  char *header = NULL;
  CHECK_EQ_I(damo_csv_format(a, (const char *const[]){"a", "b \"c\"", ""}, 3, &bytes), DAMO_OK);
  CHECK_EQ_S(bytes.at, "a,\"b \"\"c\"\"\",\"\"\n1,0.1,-3e+300\n,5,6\n");
  damo_array *b = damo_csv_parse(ctx, bytes.at, bytes.n, NULL, &header);
  CHECK(same(b, a));
  CHECK_EQ_S(header, "a\nb \"c\"\n");
  damo_text_free(ctx, header);
  damo_release(b);
  damo_bytes_free(ctx, &bytes);
  CHECK_EQ_I(damo_csv_format(a, (const char *const[]){"a"}, 1, &bytes), DAMO_ESHAPE);
  CHECK_EQ_S(damo_error_message(ctx), "bytes: the header has 1 names, the array 3 columns");
  damo_release(a);
  a = damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2}, (const double[]){1, NAN});
  CHECK_EQ_I(damo_csv_format(a, NULL, 0, &bytes), DAMO_OK);
  CHECK_EQ_S(bytes.at, "1\nnan\n");
  damo_bytes_free(ctx, &bytes);
  damo_release(a);
}

/* A child writes a large array over and over and is killed at different times: the file is always whole, the old or the
 * new one. */
static void test_killed(damo_ctx *ctx) {
  char path[64];
  const int64_t n = 500000;
  snprintf(path, sizeof path, "%s/a.npy", dir);
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 1, &n);
  CHECK_EQ_I(damo_npy_write(path, a), DAMO_OK);
  int ended_in_the_middle = 0;
  for (int round = 0; round < 12; round++) {
    const pid_t child = fork();
    if (child == 0) {
      double *p = damo_array_data(a);
      for (int64_t k = 1;; k++) {
        for (int64_t i = 0; i < n; i++) p[i] = (double)k;
        if (damo_npy_write(path, a) != DAMO_OK) _exit(1);
      }
    }
    nanosleep(&(const struct timespec){.tv_nsec = 2000000 + 1700000 * round}, NULL);
    CHECK_EQ_I(kill(child, SIGKILL), 0);
    waitpid(child, NULL, 0);
    damo_array *b = damo_npy_read(ctx, path);
    if (CHECK(b && damo_array_size(b) == n)) {
      const double *p = damo_array_data(b);
      bool whole = true;
      for (int64_t i = 1; i < n; i++) whole = whole && p[i] == p[0];
      CHECK(whole);
    }
    damo_release(b);
  }
  DIR *d = opendir(dir);
  for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
    char name[sizeof dir + sizeof e->d_name + 1];
    ended_in_the_middle += strncmp(e->d_name, ".damo-", 6) == 0;
    snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
    if (e->d_name[0] != '.' || e->d_name[1] == 'd') unlink(name);
  }
  if (d) closedir(d);
  CHECK(ended_in_the_middle > 0);
  rmdir(dir);
  damo_release(a);
}

/* A copy in another context has shared values of its own, which a snapshot of the first sets. */
static void test_snapshot(damo_ctx *ctx) {
  const double one = 1;
  char bytes[256];
  size_t size = 0;
  damo_array *value = damo_array_from(ctx, DAMO_FLOAT64, 0, NULL, &one);
  damo_var *s = damo_shared(ctx, value, "s");
  damo_var *both[2] = {s, s}, *twice = damo_call(ctx, "add", both, 2);
  damo_function *f = damo_compile(ctx, NULL, 0, NULL, 0, &s, &twice, 1, NULL);
  damo_ctx *other = damo_ctx_new(NULL, NULL);
  damo_function *g = damo_function_copy_to(f, other);
  CHECK_EQ_I(damo_function_call(f, NULL, 0, NULL), DAMO_OK);
  CHECK_EQ_I(damo_function_snapshot(f, NULL, 0, &size), DAMO_OK);
  CHECK(size <= sizeof bytes);
  CHECK_EQ_I(damo_function_snapshot(f, bytes, size - 1, &size), DAMO_EVALUE);
  CHECK_EQ_I(damo_function_snapshot(f, bytes, sizeof bytes, &size), DAMO_OK);
  CHECK_EQ_I(damo_function_restore(g, bytes, sizeof bytes), DAMO_OK);
  damo_array *got = damo_function_shared_value(g, s);
  CHECK(got && *(double *)damo_array_data(got) == 2);
  damo_release(got);
  CHECK_EQ_I(damo_function_call(f, NULL, 0, NULL), DAMO_OK);
  bytes[40] ^= 1;
  CHECK_EQ_I(damo_function_restore(f, bytes, size), DAMO_EVALUE);
  bytes[40] ^= 1;
  CHECK_EQ_I(damo_function_restore(f, bytes, size - 1), DAMO_EVALUE);
  got = damo_function_shared_value(f, s);
  CHECK(got && *(double *)damo_array_data(got) == 4);
  damo_release(got);
  CHECK_EQ_I(damo_function_restore(f, bytes, size), DAMO_OK);
  got = damo_function_shared_value(f, s);
  CHECK(got && *(double *)damo_array_data(got) == 2);
  damo_release(got);
  damo_release(g);
  damo_ctx_release(other);
  damo_release(f);
  damo_release(twice);
  damo_release(s);
  damo_release(value);
}

int main(void) {
  if (!mkdtemp(dir)) return 1;
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  test_killed(ctx);
  damo_ctx_set_sandbox(ctx);
  test_npy(ctx);
  test_npz(ctx);
  test_csv(ctx);
  test_safetensors(ctx);
  test_snapshot(ctx);
  damo_array *a = numbers(ctx);
  CHECK_EQ_I(damo_npy_write("x.npy", a), DAMO_ESTATE);
  CHECK_EQ_I(damo_csv_write("x.csv", a, NULL, 0), DAMO_ESTATE);
  damo_release(a);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
