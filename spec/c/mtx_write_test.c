/* mtx_write_test: Matrix Market files and SciPy's .npz of sparse matrices, written and read back: every dtype and
 * symmetry, and out of memory. */
#include "mtx_case.h"

#include <stdlib.h>
#include <unistd.h>

static char dir[] = "damo_mtx_XXXXXX";
static char path_text[256];

static const char *path(const char *name) {
  snprintf(path_text, sizeof path_text, "%s/%s", dir, name);
  return path_text;
}

/* ---- Matrix Market ----------------------------------------------------------------------------------------------- */

static damo_sparse *numbers(damo_ctx *ctx, damo_dtype dtype, damo_format format) {
  philox_state s = philox_seed((uint64_t)dtype + 5);
  return sparse_random(ctx, 9, 12, 0.3, dtype, format, &s);
}

static void test_round_trips(damo_ctx *ctx) {
  for (int dtype = 0; dtype < DAMO_N_DTYPES; dtype++) {
    damo_sparse *a = numbers(ctx, (damo_dtype)dtype, (damo_format)(dtype % 2));
    damo_array *d = sparse_to_dense(a);
    const mtx_options o = {.comment = "two\nlines"};
    for (int dense = 0; dense < 2; dense++) {
      CHECK_EQ_I(io_write_mtx(IO_TO_FILE(path("a.mtx")), dense ? &d->obj : &a->obj, &o), DAMO_OK);
      damo_obj *v = io_read_mtx(ctx, IO_FROM_FILE(path("a.mtx")), DAMO_CSR);
      if (!CHECK(v && v->kind == (dense ? OBJ_ARRAY : OBJ_SPARSE))) {
        fprintf(stderr, "    %s\n", ctx->error.message);
        continue;
      }
      damo_array *back = dense ? damo_retain(v) : sparse_to_dense((damo_sparse *)v);
      damo_array *cast = array_cast(back, (damo_dtype)dtype);
      CHECK(array_equal(cast, d, true));
      damo_release(cast);
      damo_release(back);
      damo_release(v);
    }
    const mtx_options pattern = {.pattern = true};
    CHECK_EQ_I(io_write_mtx(IO_TO_FILE(path("a.mtx")), &a->obj, &pattern), DAMO_OK);
    damo_obj *v = io_read_mtx(ctx, IO_FROM_FILE(path("a.mtx")), DAMO_CSC);
    bool same = false;
    CHECK(v && sparse_same_pattern(a, (damo_sparse *)v, &same) == DAMO_OK && same);
    damo_release(v);
    damo_release(d);
    damo_release(a);
  }
  damo_array *odd = damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){6},
                                    (const double[]){NAN, INFINITY, -INFINITY, -0.0, 5e-324, 0.1 + 0.2});
  CHECK_EQ_I(io_write_mtx(IO_TO_FILE(path("a.mtx")), &odd->obj, NULL), DAMO_OK);
  damo_obj *v = io_read_mtx(ctx, IO_FROM_FILE(path("a.mtx")), DAMO_CSR);
  if (CHECK(v != NULL)) {
    const double *p = (const double *)(void *)((damo_array *)v)->data;
    CHECK(isnan(p[0]) && p[1] == INFINITY && p[2] == -INFINITY && signbit(p[3]) && p[4] == 5e-324 && p[5] == 0.1 + 0.2);
  }
  damo_release(v);
  damo_release(odd);
}

static void test_symmetries(damo_ctx *ctx) {
  static const struct {
    const char *file;
    mtx_symmetry symmetry;
  } cases[] = {{"mtx/494_bus.mtx", MTX_SYMMETRIC},
               {"mtx_forms/cha.mtx", MTX_GENERAL}, /* called hermitian, but its diagonal is not real */
               {"mtx_forms/rza.mtx", MTX_SKEW},
               {"mtx_forms/skew_fp64.mtx", MTX_SKEW},
               {"mtx_forms/full_symmetric.mtx", MTX_SYMMETRIC},
               {"mtx_forms/fullrza.mtx", MTX_SKEW},
               {"mtx_forms/full_symmetric.mtx", MTX_HERMITIAN}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char at[256];
    snprintf(at, sizeof at, DATA "%s", cases[i].file);
    damo_obj *a = io_read_mtx(ctx, IO_FROM_FILE(at), DAMO_CSR);
    const mtx_options o = {.symmetry = cases[i].symmetry};
    CHECK_EQ_I(io_write_mtx(IO_TO_FILE(path("s.mtx")), a, &o), DAMO_OK);
    damo_obj *b = io_read_mtx(ctx, IO_FROM_FILE(path("s.mtx")), DAMO_CSR);
    bool same = false;
    if (!CHECK(b && a->kind == b->kind)) continue;
    if (a->kind == OBJ_SPARSE)
      CHECK(sparse_equal((damo_sparse *)a, (damo_sparse *)b, true, &same) == DAMO_OK && same);
    else
      CHECK(array_equal((damo_array *)a, (damo_array *)b, true));
    damo_release(a);
    damo_release(b);
  }
  damo_obj *z = parse(ctx, "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 3 0\n2 1 1 4\n");
  const mtx_options h = {.symmetry = MTX_HERMITIAN}, s = {.symmetry = MTX_SYMMETRIC};
  CHECK_EQ_I(io_write_mtx(IO_TO_FILE(path("s.mtx")), z, &h), DAMO_OK);
  damo_obj *again = io_read_mtx(ctx, IO_FROM_FILE(path("s.mtx")), DAMO_CSR);
  bool same = false;
  CHECK(again && sparse_equal((damo_sparse *)z, (damo_sparse *)again, true, &same) == DAMO_OK && same);
  CHECK_EQ_I(io_write_mtx(IO_TO_FILE(path("s.mtx")), z, &s), DAMO_EVALUE);
  CHECK(strstr(ctx->error.message, "the matrix is not symmetric") != NULL);
  damo_release(again);
  damo_release(z);
}

/* ---- npz --------------------------------------------------------------------------------------------------------- */

static bool contains(const char *text, size_t n, const char *part) {
  const size_t m = strlen(part);
  for (size_t i = 0; i + m <= n; i++) {
    if (memcmp(text + i, part, m) == 0) return true;
  }
  return false;
}

static void test_npz(damo_ctx *ctx) {
  for (int dtype = 0; dtype < DAMO_N_DTYPES; dtype++) {
    damo_sparse *a = numbers(ctx, (damo_dtype)dtype, (damo_format)(dtype % 2));
    bool same = false;
    CHECK_EQ_I(io_write_sparse_npz(IO_TO_FILE(path("a.npz")), a), DAMO_OK);
    damo_sparse *b = io_read_sparse_npz(ctx, IO_FROM_FILE(path("a.npz")));
    CHECK(b && b->format == a->format && sparse_equal(a, b, true, &same) == DAMO_OK && same);
    damo_release(a);
    damo_release(b);
  }
  char text[4096];
  FILE *f = fopen(path("a.npz"), "rb");
  const size_t n = fread(text, 1, sizeof text, f);
  fclose(f);
  CHECK(contains(text, n, "{'descr': '|S3', 'fortran_order': False")); /* text as NumPy writes bytes */
  CHECK(contains(text, n, "_is_array.npy") && contains(text, n, "'descr': '|b1', 'fortran_order': False, 'shape': ()"));
  /* The member "format" with 4-byte characters, as str arrays have, and an unknown format. */
  damo_sparse *a = numbers(ctx, DAMO_FLOAT32, DAMO_CSC);
  damo_array *shape = damo_array_from(ctx, DAMO_INT64, 1, (const int64_t[]){2}, a->shape);
  const char *const names[] = {"format", "shape", "data", "indices", "indptr"};
  const uint32_t csc[] = {'c', 's', 'c'}, lil[] = {'l', 'i', 'l'};
  for (int i = 0; i < 2; i++) {
    damo_array *format = damo_array_from(ctx, DAMO_UINT32, 1, (const int64_t[]){3}, i ? lil : csc);
    CHECK_EQ_I(io_write_npz(ctx, IO_TO_FILE(path("b.npz")), names,
                            (damo_array *const[]){format, shape, a->data, a->indices, a->indptr}, 5),
               DAMO_OK);
    damo_sparse *b = io_read_sparse_npz(ctx, IO_FROM_FILE(path("b.npz")));
    CHECK(i == 0 ? b && b->format == DAMO_CSC : !b && strstr(ctx->error.message, "the sparse format is 'lil'"));
    damo_release(b);
    if (i == 0) {
      CHECK_EQ_I(io_write_npz(ctx, IO_TO_FILE(path("b.npz")), names,
                              (damo_array *const[]){format, shape, a->data, a->indptr, a->indptr}, 5),
                 DAMO_OK);
      CHECK(!io_read_sparse_npz(ctx, IO_FROM_FILE(path("b.npz"))));
      CHECK_EQ_I(ctx->error.status, DAMO_EIO);
      CHECK_EQ_I(io_write_npz(ctx, IO_TO_FILE(path("b.npz")), names,
                              (damo_array *const[]){format, shape, a->data, a->indices}, 4),
                 DAMO_OK);
      CHECK(!io_read_sparse_npz(ctx, IO_FROM_FILE(path("b.npz"))));
      CHECK(strstr(ctx->error.message, "the member 'indptr' of a sparse matrix is missing") != NULL);
    }
    damo_release(format);
  }
  damo_release(shape);
  damo_release(a);
}

/* ---- Out of memory ----------------------------------------------------------------------------------------------- */

static bool read_forms(damo_ctx *ctx) {
  static const char *const names[] = {"coo_array_float64", "dia_array_float32", "bsr_array_int16"};
  bool ok = true;
  for (size_t i = 0; ok && i < sizeof names / sizeof *names; i++) {
    char at[256];
    snprintf(at, sizeof at, DATA "npz/%s.npz", names[i]);
    damo_sparse *a = io_read_sparse_npz(ctx, IO_FROM_FILE(at));
    ok = a && sparse_check(a, NULL);
    damo_release(a);
  }
  return ok;
}

static bool run_program(damo_ctx *ctx) {
  damo_obj *a = io_read_mtx(ctx, IO_FROM_FILE(DATA "mtx_forms/cha.mtx"), DAMO_CSR);
  damo_obj *b = a ? io_read_mtx(ctx, IO_FROM_FILE(DATA "mtx_forms/full_symmetric.mtx"), DAMO_CSR) : NULL;
  bool ok = b && io_write_mtx(IO_TO_FILE(path("f.mtx")), a, NULL) == DAMO_OK &&
            io_write_mtx(IO_TO_FILE(path("f.mtx")), b, NULL) == DAMO_OK &&
            io_write_sparse_npz(IO_TO_FILE(path("f.npz")), (damo_sparse *)a) == DAMO_OK;
  damo_sparse *c = ok ? io_read_sparse_npz(ctx, IO_FROM_FILE(path("f.npz"))) : NULL;
  damo_release(a);
  damo_release(b);
  damo_release(c);
  return c != NULL && read_forms(ctx);
}

static void test_failing_allocations(damo_ctx *ctx) {
  int64_t n = 0;
  for (bool done = false; !done && n < 10000; n++) {
    ctx_clear_error(ctx);
    ctx->fail_after = n;
    done = run_program(ctx);
    ctx->fail_after = -1;
    if (!done && ctx->error.status != DAMO_EMEMORY) CHECK_EQ_I(ctx->error.status, DAMO_EMEMORY);
    if (ctx->n_objects != 0 || ctx->bytes != 0) CHECK_EQ_I(ctx->bytes, 0);
  }
  CHECK(n > 20 && n < 10000);
}

int main(void) {
  damo_ctx *ctx = new_ctx();
  if (!mkdtemp(dir)) return 1;
  test_round_trips(ctx);
  test_symmetries(ctx);
  test_npz(ctx);
  test_failing_allocations(ctx);
  end_ctx(ctx);
  const char *const names[] = {"a.mtx", "s.mtx", "f.mtx", "a.npz", "b.npz", "f.npz"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) remove(path(names[i]));
  rmdir(dir);
  TEST_MAIN_END;
}
