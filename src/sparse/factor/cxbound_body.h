/* cxbound_body: the operations of a QR factorization, from its column counts, for one index type I. Included after
 * cxchol_body.h with the same macros; values do not matter. */

static double NAME(cx_fill_bound)(const factor_matrix *m, const void *q) {
  const SPARSE a = NAME(cx_matrix)(m);
  const I n = (I)m->cols;
  SPARSE *c = CS(permute)(&a, NULL, (const I *)q, 0);
  I *parent = c ? CS(etree)(c, 1) : NULL, *post = parent ? CS(post)(parent, n) : NULL;
  I *count = post ? CS(counts)(c, parent, post, 1) : NULL;
  double entries = 0, squares = 0;
  for (I k = 0; count && k < n; k++) {
    entries += (double)count[k];
    squares += (double)count[k] * (double)count[k];
  }
  CS(free)(count);
  CS(free)(post);
  CS(free)(parent);
  CS(spfree)(c);
  return entries > 0 ? squares / entries : 0;
}
