/* strbuf: a growing text, zero-terminated once something has been added. */
#include <stdio.h>
#include <string.h>

#include "base.h"

/* Makes space for n more bytes and the terminating zero. */
static bool reserve(strbuf *b, size_t n) {
  if (b->failed) return false;
  size_t want;
  if (!size_add(b->n, n, &want) || !size_add(want, 1, &want)) {
    ctx_fail_memory(b->ctx);
    b->failed = true;
    return false;
  }
  if (want <= b->cap) return true;
  size_t cap = b->cap ? b->cap : 64;
  while (cap < want) cap = cap <= SIZE_MAX / 2 ? cap * 2 : want;
  char *at = mem_realloc(b->ctx, b->at, b->cap, cap);
  if (!at) {
    b->failed = true;
    return false;
  }
  b->at = at;
  b->cap = cap;
  return true;
}

void strbuf_addn(strbuf *b, const char *s, size_t n) {
  if (!reserve(b, n)) return;
  if (n) memcpy(b->at + b->n, s, n);
  b->n += n;
  b->at[b->n] = '\0';
  damo_assert(b->n < b->cap);
}

void strbuf_add(strbuf *b, const char *s) { strbuf_addn(b, s, strlen(s)); }

void strbuf_addf(strbuf *b, const char *fmt, ...) {
  if (!reserve(b, 0)) return;
  va_list args, again;
  va_start(args, fmt);
  va_copy(again, args);
  int len = vsnprintf(b->at + b->n, b->cap - b->n, fmt, args);
  if (len >= 0 && (size_t)len >= b->cap - b->n) {
    b->at[b->n] = '\0';
    if (reserve(b, (size_t)len)) {
      vsnprintf(b->at + b->n, b->cap - b->n, fmt, again);
      b->n += (size_t)len;
    }
  } else if (len >= 0) {
    b->n += (size_t)len;
  }
  va_end(again);
  va_end(args);
}

void strbuf_clear(strbuf *b) {
  if (b->at) mem_free(b->ctx, b->at, b->cap);
  strbuf_init(b, b->ctx);
}
