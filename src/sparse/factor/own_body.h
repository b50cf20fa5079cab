/* own_body: LDLᴴ for one type of values. Included with T, NAME, REAL, CONJ and MUL, which are undefined at the end. */

/* Factorizes M. Returns the step at which the pivot is 0 or, where M must be positive definite, not above 0; -1: none. */
static int64_t NAME(numeric)(damo_factor *f) {
  own_ldl *s = f->state;
  const factor_matrix *m = &f->m;
  const bool positive = f->backend->method == FACTOR_CHOLESKY;
  const T *a = (const T *)(const void *)m->x;
  T *l = (T *)(void *)s->value, *x = (T *)(void *)s->x;
  int64_t *stack = s->start + s->n + 1;
  for (int64_t k = 0; k < s->n; k++) {
    s->fill[k] = s->start[k];
    s->mark[k] = -1;
    x[k] = 0;
  }
  for (int64_t k = 0; k < s->n; k++) {
    const int64_t column = s->perm[k];
    double d = 0;
    for (int64_t p = own_start(m, column); p < own_start(m, column + 1); p++) {
      const int64_t i = s->inverse[own_row(m, p)];
      if (i < k)
        x[i] = a[p];
      else if (i == k)
        d = REAL(a[p]);
    }
    /* With b = A(1…k-1, k) and u = L⁻¹·b: row k of L is (D⁻¹·u)ᴴ, and d_k = A(k, k) - Σ |u_i|²/d_i. */
    for (int64_t top = own_reach(s, m, k, stack); top < s->n; top++) {
      const int64_t i = stack[top];
      const T u = x[i], entry = CONJ(u) / s->d[i];
      x[i] = 0;
      for (int64_t p = s->start[i]; p < s->fill[i]; p++) x[s->row[p]] -= MUL(l[p], u);
      d -= REAL(MUL(entry, u));
      s->row[s->fill[i]] = k;
      l[s->fill[i]++] = entry;
    }
    if (positive ? !(d > 0) : d == 0) return k;
    s->d[k] = d;
  }
  return -1;
}

/* b = M⁻¹·b. */
static void NAME(solve_one)(const own_ldl *s, T *b) {
  const T *l = (const T *)(const void *)s->value;
  T *x = (T *)(void *)s->x;
  for (int64_t k = 0; k < s->n; k++) x[k] = b[s->perm[k]];
  for (int64_t k = 0; k < s->n; k++)
    for (int64_t p = s->start[k]; p < s->start[k + 1]; p++) x[s->row[p]] -= MUL(l[p], x[k]);
  for (int64_t k = s->n - 1; k >= 0; k--) {
    T sum = x[k] / s->d[k];
    for (int64_t p = s->start[k]; p < s->start[k + 1]; p++) sum -= MUL(CONJ(l[p]), x[s->row[p]]);
    x[k] = sum;
  }
  for (int64_t k = 0; k < s->n; k++) b[s->perm[k]] = x[k];
}

#undef T
#undef NAME
#undef REAL
#undef CONJ
#undef MUL
