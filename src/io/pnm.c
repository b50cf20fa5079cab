/* pnm: Netpbm's images: P1 and P4 black and white, P2 and P5 gray, P3 and P6 RGB; 1 to 3 as text. Values are pnm_scaled to
 * the range of their dtype where the file's largest value is another. */
#include "image.h"

#include <string.h>

typedef struct pnm {
  damo_ctx *ctx;
  const char *path;
  const unsigned char *at, *end;
  int kind; /* 1 to 6 */
  int64_t most;
  image_form form;
} pnm;

static damo_status pnm_fail(const pnm *p, const char *what) { return io_fail(p->ctx, p->path, 0, "%s", what); }

static bool is_pnm_blank(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void pnm_skip_blanks(pnm *p) {
  while (p->at < p->end && (is_pnm_blank(*p->at) || *p->at == '#')) {
    if (*p->at == '#') {
      while (p->at < p->end && *p->at != '\n') p->at++;
    } else {
      p->at++;
    }
  }
}

/* The next number, at most `most`; -1: there is none. */
static int64_t pnm_number(pnm *p, int64_t most) {
  pnm_skip_blanks(p);
  int64_t v = 0;
  const unsigned char *start = p->at;
  for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++) {
    v = 10 * v + (*p->at - '0');
    if (v > most) return -1;
  }
  return p->at > start ? v : -1;
}

static damo_status pnm_head(pnm *p) {
  if (p->end - p->at < 3 || p->at[0] != 'P' || p->at[1] < '1' || p->at[1] > '6')
    return pnm_fail(p, "this is no image of Netpbm");
  p->kind = p->at[1] - '0';
  p->at += 2;
  p->form.width = pnm_number(p, IMAGE_MOST);
  p->form.height = pnm_number(p, IMAGE_MOST);
  p->form.channels = p->kind % 3 == 0 ? 3 : 1;
  p->most = p->kind % 3 == 1 ? 1 : pnm_number(p, 65535);
  p->form.wide = p->most > 255;
  if (p->form.width <= 0 || p->form.height <= 0 || p->most <= 0) return pnm_fail(p, "the image's head is damaged");
  if (p->kind <= 3) return DAMO_OK;
  if (p->at == p->end || !is_pnm_blank(*p->at)) return pnm_fail(p, "the image's head is damaged");
  p->at++;
  return DAMO_OK;
}

static unsigned pnm_scaled(const pnm *p, unsigned v) {
  const unsigned full = p->form.wide ? 65535 : 255;
  return p->most == full ? v : (v * full + (unsigned)p->most / 2) / (unsigned)p->most;
}

static void pnm_put(const pnm *p, damo_array *a, int64_t i, unsigned v) {
  if (p->form.wide)
    ((uint16_t *)(void *)a->data)[i] = (uint16_t)pnm_scaled(p, v);
  else
    ((uint8_t *)a->data)[i] = (uint8_t)pnm_scaled(p, v);
}

static damo_status pnm_digits(pnm *p, damo_array *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    pnm_skip_blanks(p);
    int64_t v;
    if (p->kind == 1) { /* digits may stand without spaces; 1 is black */
      v = p->at < p->end && (*p->at == '0' || *p->at == '1') ? '1' - *p->at++ : -1;
    } else {
      v = pnm_number(p, p->most);
    }
    if (v < 0) return pnm_fail(p, "the image is cut short, or has a wrong number");
    pnm_put(p, a, i, (unsigned)v);
  }
  return DAMO_OK;
}

static damo_status pnm_bits(pnm *p, damo_array *a) {
  const int64_t row = (p->form.width + 7) / 8;
  for (int64_t y = 0; y < p->form.height; y++) {
    for (int64_t x = 0; x < p->form.width; x++)
      a->data[y * p->form.width + x] = (char)(p->at[y * row + x / 8] >> (7 - x % 8) & 1 ? 0 : 255);
  }
  return DAMO_OK;
}

static damo_status pnm_numbers(pnm *p, damo_array *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const unsigned v = p->form.wide ? (unsigned)p->at[2 * i] << 8 | p->at[2 * i + 1] : p->at[i];
    if (v > p->most) return pnm_fail(p, "the image has a value past its largest one");
    pnm_put(p, a, i, v);
  }
  return DAMO_OK;
}

/* The least number of bytes that the pixels take in the file. */
static uint64_t pnm_least_bytes(const pnm *p) {
  image_form f = p->form;
  if (p->kind == 4) f.width = (f.width + 7) / 8;
  if (p->kind <= 3) f.wide = false;
  return image_bytes(&f);
}

static damo_array *pnm_pixels(pnm *p, uint64_t max_bytes) {
  if ((uint64_t)(p->end - p->at) < pnm_least_bytes(p)) {
    pnm_fail(p, "the image is cut short");
    return NULL;
  }
  damo_array *a = image_new(p->ctx, p->path, &p->form, max_bytes);
  if (a == NULL) return NULL;
  const int64_t n = array_size(a);
  const damo_status s = p->kind == 4 ? pnm_bits(p, a) : p->kind < 4 ? pnm_digits(p, a, n) : pnm_numbers(p, a, n);
  if (s == DAMO_OK) return a;
  damo_release(a);
  return NULL;
}

damo_array *io_read_pnm(damo_ctx *ctx, const io_from *from, uint64_t max_bytes) {
  strbuf file;
  cell_text text;
  damo_array *a = NULL;
  strbuf_init(&file, ctx);
  if (io_whole_text(ctx, from, &file, &text) == DAMO_OK) {
    const unsigned char *at = (const unsigned char *)text.at;
    pnm p = {.ctx = ctx, .path = from->path, .at = at, .end = at + text.n};
    if (pnm_head(&p) == DAMO_OK) a = pnm_pixels(&p, max_bytes);
  }
  strbuf_clear(&file);
  return a;
}

damo_status io_write_pnm(const io_to *to, const damo_array *a) {
  image_form f;
  strbuf text;
  DAMO_TRY(image_form_of("save", a, 3, &f));
  damo_array *c = array_as_contiguous(a, array_dtype(a));
  if (c == NULL) return DAMO_EMEMORY;
  strbuf_init(&text, a->obj.ctx);
  strbuf_addf(&text, "P%d\n%lld %lld\n%d\n", f.channels == 3 ? 6 : 5, (long long)f.width, (long long)f.height,
              f.wide ? 65535 : 255);
  const size_t head = text.n, bytes = (size_t)image_bytes(&f);
  strbuf_addn(&text, c->data, bytes);
  damo_status s = text.failed ? DAMO_EMEMORY : DAMO_OK;
  if (s == DAMO_OK && f.wide) image_to_big((unsigned char *)text.at + head, bytes / 2);
  if (s == DAMO_OK) s = io_write_bytes(a->obj.ctx, to, text.at, text.n);
  strbuf_clear(&text);
  damo_release(c);
  return s;
}
