/* table_image_test: tables of columns, images, compressed and mapped arrays, by damo.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "damo.h"
#include "test.h"

static char folder[] = "damo_table_image_XXXXXX";

static const char *path_of(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static const char people[] = "name,size,born\n\"Pythagoras, the elder\",1.5,570\nTheano,NA,?\nDamo,1.25,535\n";

static bool text_is(const damo_csv_table *t, int64_t i, int64_t row, const char *text) {
  size_t n = 99;
  const char *at = damo_csv_table_get_text(t, i, row, &n);
  return at != NULL && n == strlen(text) && memcmp(at, text, n) == 0;
}

static void check_people(const damo_csv_table *t) {
  if (!CHECK(t != NULL)) return;
  CHECK_EQ_I(damo_csv_table_size(t), 3);
  CHECK_EQ_I(damo_csv_table_rows(t), 3);
  CHECK_EQ_S(damo_csv_table_get_name(t, 0), "name");
  CHECK_EQ_S(damo_csv_table_get_name(t, 2), "born");
  CHECK(damo_csv_table_get_name(t, 3) == NULL && damo_csv_table_get_name(t, -1) == NULL);
  CHECK(damo_csv_table_get_numbers(t, 0) == NULL && text_is(t, 0, 0, "Pythagoras, the elder"));
  CHECK(text_is(t, 0, 1, "Theano") && text_is(t, 0, 2, "Damo"));
  CHECK(damo_csv_table_get_text(t, 0, 3, NULL) == NULL && damo_csv_table_get_text(t, 0, -1, NULL) == NULL);
  damo_array *size = damo_csv_table_get_numbers(t, 1);
  const double *v = damo_array_data(size);
  CHECK(v[0] == 1.5 && isnan(v[1]) && v[2] == 1.25 && damo_csv_table_get_text(t, 1, 0, NULL) == NULL);
  v = damo_array_data(damo_csv_table_get_numbers(t, 2));
  CHECK(v[0] == 570 && isnan(v[1]) && v[2] == 535);
}

static void test_tables(damo_ctx *ctx) {
  static const char *const missing[] = {"NA", "?"}, *const wanted[] = {"born", "name"}, *const own[] = {"a", "b"};
  damo_csv_options o = {.size = sizeof o, .missing = missing, .n_missing = 2};
  damo_csv_table *t = damo_csv_parse_table(ctx, people, sizeof people - 1, &o);
  check_people(t);
  damo_array *kept = damo_retain(damo_csv_table_get_numbers(t, 1));
  damo_csv_table_free(t);
  CHECK(damo_array_size(kept) == 3); /* outlives the table */
  damo_release(kept);
  FILE *f = fopen(path_of("people.csv"), "wb");
  CHECK(f != NULL && fwrite(people, 1, sizeof people - 1, f) == sizeof people - 1 && fclose(f) == 0);
  t = damo_csv_read_table(ctx, path_of("people.csv"), &o);
  check_people(t);
  damo_csv_table_free(t);
  o.n_missing = 1;
  t = damo_csv_parse_table(ctx, people, sizeof people - 1, &o);
  CHECK(damo_csv_table_get_numbers(t, 2) == NULL && text_is(t, 2, 1, "?"));
  damo_csv_table_free(t);
  o = (damo_csv_options){.size = sizeof o, .columns = wanted, .n_columns = 2, .missing = missing, .n_missing = 2};
  t = damo_csv_parse_table(ctx, people, sizeof people - 1, &o);
  CHECK(damo_csv_table_size(t) == 2 && strcmp(damo_csv_table_get_name(t, 0), "born") == 0 && text_is(t, 1, 2, "Damo"));
  damo_csv_table_free(t);
  o.columns = own;
  CHECK(damo_csv_parse_table(ctx, people, sizeof people - 1, &o) == NULL);
  CHECK(damo_error_status(ctx) == DAMO_EVALUE);
  t = damo_csv_parse_table(ctx, "1;2\n3;4\n", 8, &(damo_csv_options){.size = sizeof o, .delimiter = ';'});
  CHECK(damo_csv_table_rows(t) == 2 && strcmp(damo_csv_table_get_name(t, 1), "c2") == 0);
  damo_csv_table_free(t);
  CHECK(damo_csv_parse_table(ctx, "1,2\n", 4, &(damo_csv_options){.size = sizeof o, .delimiter = '-'}) == NULL);
  damo_array *a = damo_csv_parse(
      ctx, "1,NA\n", 5, &(damo_csv_options){.size = sizeof o, .skip = -1, .missing = missing, .n_missing = 1}, NULL);
  CHECK(a != NULL && isnan(((double *)damo_array_data(a))[1]));
  damo_release(a);
}

static void check_image(damo_array *a, const damo_array *like) {
  if (!CHECK(a != NULL)) return;
  const size_t n = (size_t)damo_array_size(like);
  CHECK(damo_array_ndim(a) == damo_array_ndim(like) && damo_array_dtype(a) == DAMO_UINT8 &&
        (size_t)damo_array_size(a) == n);
  CHECK(memcmp(damo_array_data(a), damo_array_data((damo_array *)(uintptr_t)like), n) == 0);
  damo_release(a);
}

static void test_images(damo_ctx *ctx) {
  unsigned char pixels[2 * 3 * 3];
  for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (unsigned char)(14 * i);
  damo_array *a = damo_array_from(ctx, DAMO_UINT8, 3, (const int64_t[]){2, 3, 3}, pixels);
  static const char *const names[] = {"x.png", "x.ppm"}, *const formats[] = {"png", "ppm"};
  for (int i = 0; i < 2; i++) {
    damo_bytes bytes;
    CHECK_EQ_I(damo_image_write(path_of(names[i]), a), DAMO_OK);
    check_image(damo_image_read(ctx, path_of(names[i]), 0), a);
    CHECK(damo_image_read(ctx, path_of(names[i]), 8) == NULL); /* larger than that */
    CHECK_EQ_I(damo_image_format(a, formats[i], &bytes), DAMO_OK);
    check_image(damo_image_parse(ctx, bytes.at, bytes.n, 0), a);
    CHECK(damo_image_parse(ctx, bytes.at, bytes.n - 4, 0) == NULL && damo_error_status(ctx) == DAMO_EIO);
    damo_bytes_free(ctx, &bytes);
  }
  damo_release(a);
}

static void test_arrays(damo_ctx *ctx) {
  const int64_t n = 10000;
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 1, &n);
  memset(damo_array_data(a), 0, 8 * (size_t)n);
  ((double *)damo_array_data(a))[7] = 3;
  const char *const names[] = {"x"};
  damo_bytes plain, small;
  CHECK_EQ_I(damo_npz_format(ctx, names, &a, 1, &plain), DAMO_OK);
  CHECK_EQ_I(damo_npz_format_compressed(ctx, names, &a, 1, &small), DAMO_OK);
  CHECK(small.n < plain.n / 20);
  CHECK_EQ_I(damo_npz_write_compressed(ctx, path_of("x.npz"), names, &a, 1), DAMO_OK);
  damo_npz *read[] = {damo_npz_parse(ctx, small.at, small.n, 0), damo_npz_read(ctx, path_of("x.npz"), 0)};
  for (int i = 0; i < 2; i++) {
    damo_array *b = damo_npz_find(read[i], "x");
    CHECK(b != NULL && memcmp(damo_array_data(b), damo_array_data(a), 8 * (size_t)n) == 0);
    damo_npz_free(read[i]);
  }
  damo_bytes_free(ctx, &plain);
  damo_bytes_free(ctx, &small);
  CHECK_EQ_I(damo_npy_write(path_of("x.npy"), a), DAMO_OK);
  const size_t before = damo_ctx_memory(ctx).bytes;
  damo_array *m = damo_npy_map(ctx, path_of("x.npy"));
  CHECK(m != NULL && damo_ctx_memory(ctx).bytes < before + 4096); /* the file's pages, not memory of the context */
  CHECK(m != NULL && !damo_array_is_writeable(m) && ((const double *)damo_array_data(m))[7] == 3);
  damo_release(m);
  damo_release(a);
}

/* Paths are closed in a sandbox, memory is not. */
static void test_sandbox(void) {
  damo_ctx *boxed = damo_ctx_new(NULL, NULL);
  damo_ctx_set_sandbox(boxed);
  CHECK(damo_csv_read_table(boxed, path_of("people.csv"), NULL) == NULL && damo_error_status(boxed) == DAMO_ESTATE);
  CHECK(damo_image_read(boxed, path_of("x.png"), 0) == NULL && damo_error_status(boxed) == DAMO_ESTATE);
  CHECK(damo_npy_map(boxed, path_of("x.npy")) == NULL && damo_error_status(boxed) == DAMO_ESTATE);
  damo_csv_table *t = damo_csv_parse_table(boxed, people, sizeof people - 1, NULL);
  CHECK(damo_csv_table_rows(t) == 3);
  damo_csv_table_free(t);
  damo_ctx_release(boxed);
}

int main(void) {
  if (mkdtemp(folder) == NULL) return 1;
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  test_tables(ctx);
  test_images(ctx);
  test_arrays(ctx);
  test_sandbox();
  static const char *const names[] = {"people.csv", "x.png", "x.ppm", "x.npz", "x.npy", ""};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) CHECK_EQ_I(remove(path_of(names[i])), 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
