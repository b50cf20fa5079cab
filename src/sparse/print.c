/* print: a matrix as text: one line that describes it, then its entries. */
#include <stdio.h>

#include "sparse_int.h"

#define SHOWN_MOST 20 /* of more entries, the first and last half of so many are shown */

void sparse_describe(strbuf *buf, const damo_sparse *a) {
  strbuf_addf(buf, "<%s %s (%lld, %lld), %lld stored>", sparse_format_name(sparse_format(a)),
              dtype_name(sparse_dtype(a)), (long long)a->shape[0], (long long)a->shape[1], (long long)sparse_nnz(a));
}

/* The major vector that entry p belongs to, by bisection of indptr. */
static int64_t sp_print_major_of(const damo_sparse *a, int64_t p) {
  int64_t low = 0, high = sparse_major(a);
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (sparse_index_get(a->indptr->data, sparse_is_wide(a), middle) <= p)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static int sp_print_place(const damo_sparse *a, int64_t p, char *dst, size_t n) {
  const long long major = (long long)sp_print_major_of(a, p) + 1,
                  index = (long long)sparse_index_get(a->indices->data, sparse_is_wide(a), p) + 1;
  const bool csr = a->format == DAMO_CSR;
  return snprintf(dst, n, "(%lld, %lld)", csr ? major : index, csr ? index : major);
}

/* Prints the value through a 0-d view. */
static void sp_print_value(strbuf *buf, const damo_sparse *a, int64_t p) {
  damo_array *v = array_view(a->data, 0, NULL, NULL, p * (int64_t)dtype_size(sparse_dtype(a)));
  if (v)
    array_format(buf, v);
  else
    buf->failed = true;
  damo_release(v);
}

void sparse_print(strbuf *buf, const damo_sparse *a) {
  char place[64];
  const int64_t nnz = sparse_nnz(a), shown = nnz > SHOWN_MOST ? SHOWN_MOST : nnz;
  int width = 0;
  sparse_describe(buf, a);
  for (int64_t i = 0; i < shown; i++) {
    const int n = sp_print_place(a, i < shown / 2 ? i : nnz - shown + i, place, sizeof place);
    width = n > width ? n : width;
  }
  for (int64_t i = 0; i < shown; i++) {
    const int64_t p = i < shown / 2 ? i : nnz - shown + i;
    if (i == shown / 2 && nnz > shown) strbuf_add(buf, "\n  ...");
    sp_print_place(a, p, place, sizeof place);
    strbuf_addf(buf, "\n  %-*s  ", width, place);
    sp_print_value(buf, a, p);
  }
}
