/* layout.c: the ranks tell each other how many rows and columns they have. */
#include "layout.h"

/* What each rank tells. */
typedef struct extent {
  int64_t rows, cols, local_cols;
} extent;

/* The share of rank `rank` of n things that are split evenly; the first ranks have one more. */
static int64_t even_share(int64_t n, int size, int rank) { return n / size + (rank < n % size); }

static damo_status gather(library *lib, damo_ctx *ctx, const extent *mine, damo_array **out) {
  const int64_t shape[2] = {lib->size, 3};
  damo_array *all = damo_array_new(ctx, DAMO_INT64, 2, shape);
  library_doing(lib, "tells its rows");
  damo_status s = library_agree(lib, ctx, all != NULL ? DAMO_OK : DAMO_EMEMORY, NULL);
  if (s == DAMO_OK) {
    MPI_Request request;
    int code = MPI_Iallgather(mine, 3, MPI_INT64_T, damo_array_data(all), 3, MPI_INT64_T, lib->comm, &request);
    s = lib->w->calls->check(lib->w, ctx, code, "MPI_Iallgather");
    if (s == DAMO_OK) s = lib->w->calls->wait(lib->w, ctx, 1, &request);
  }
  if (s == DAMO_OK) {
    *out = all;
  } else {
    damo_release(all);
  }
  return s;
}

static void set_rows(const library *lib, const extent *e, layout *out) {
  for (int r = 0; r < lib->size; r++) {
    if (r == lib->rank) out->first_row = out->all_rows;
    out->all_rows += e[r].rows;
  }
  out->rows = e[lib->rank].rows;
}

static damo_status set_cols(const library *lib, damo_ctx *ctx, const extent *e, layout *out) {
  int64_t cols = 0;
  for (int r = 0; r < lib->size; r++) {
    if (e[r].cols != e[0].cols) {
      return library_fail(ctx, DAMO_ESHAPE,
                          "mpi.matrix: the block of rank 0 has %lld columns, that of rank %d has %lld",
                          (long long)e[0].cols, r, (long long)e[r].cols);
    }
    if ((e[r].local_cols < 0) != (e[0].local_cols < 0)) {
      return damo_fail(ctx, DAMO_ESHAPE, "mpi.matrix: some ranks give the option 'columns', others do not");
    }
    int64_t share = e[r].local_cols;
    if (share < 0) share = out->all_rows == e[0].cols ? e[r].rows : even_share(e[0].cols, lib->size, r);
    if (r == lib->rank) {
      out->first_col = cols;
      out->cols = share;
    }
    cols += share;
  }
  out->all_cols = e[0].cols;
  if (cols == e[0].cols) return DAMO_OK;
  return library_fail(ctx, DAMO_ESHAPE, "mpi.matrix: the ranks have %lld columns together, the blocks have %lld",
                      (long long)cols, (long long)e[0].cols);
}

damo_status layout_agree(library *lib, damo_ctx *ctx, int64_t rows, int64_t cols, int64_t local_cols, layout *out) {
  const extent mine = {rows, cols, local_cols};
  damo_array *all = NULL;
  damo_status s = gather(lib, ctx, &mine, &all);
  if (s != DAMO_OK) return s;
  const extent *e = damo_array_data(all);
  *out = (layout){.cols = -1, .all_cols = -1};
  set_rows(lib, e, out);
  bool is_vector = true;
  for (int r = 0; r < lib->size; r++) is_vector = is_vector && e[r].cols < 0;
  if (!is_vector) s = set_cols(lib, ctx, e, out);
  damo_release(all);
  return s;
}
