/* ptrvec: a growing list of pointers. */
#include "base.h"

damo_status ptrvec_reserve(ptrvec *v, int64_t n) {
  if (n <= v->cap) return DAMO_OK;
  int64_t cap = v->cap ? v->cap : 4;
  while (cap < n && cap <= INT64_MAX / 2) cap *= 2;
  size_t bytes;
  if (cap < n || !size_mul((size_t)cap, sizeof(void *), &bytes)) return ctx_fail_memory(v->ctx);
  void **at = mem_realloc(v->ctx, v->at, (size_t)v->cap * sizeof(void *), bytes);
  if (!at) return DAMO_EMEMORY;
  v->at = at;
  v->cap = cap;
  return DAMO_OK;
}

damo_status ptrvec_push(ptrvec *v, const void *p) {
  if (v->n == v->cap) DAMO_TRY(ptrvec_reserve(v, v->n + 1));
  v->at[v->n++] = (void *)p;
  return DAMO_OK;
}

void ptrvec_clear(ptrvec *v) {
  if (v->at) mem_free(v->ctx, v->at, (size_t)v->cap * sizeof(void *));
  ptrvec_init(v, v->ctx);
}

void ptrvec_release_all(ptrvec *v) {
  /* Detached first, because a destructor may access the vector's owner. */
  ptrvec old = *v;
  ptrvec_init(v, v->ctx);
  for (int64_t i = 0; i < old.n; i++) {
    void *obj = old.at[i];
    if (i == old.n - 1) ptrvec_clear(&old); /* the last release may free the context */
    damo_release(obj);
    if (!old.at) return;
  }
  ptrvec_clear(&old);
}
