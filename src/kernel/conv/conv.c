/* conv: the copies that convolutions make before and after their products. */
#include "conv.h"

#include <string.h>

int64_t conv_source_size(const conv_source *s) {
  int64_t n = s->channels;
  for (int k = 0; k < CONV_AXES; k++) n *= s->phases[k] * s->length[k];
  return n;
}

int64_t conv_source_offset(const conv_source *s, int64_t channel, const int64_t *at) {
  int64_t phase = 0, place = 0, all = 1;
  for (int k = 0; k < CONV_AXES; k++) {
    phase = phase * s->phases[k] + at[k] % s->phases[k];
    place = place * s->length[k] + at[k] / s->phases[k];
    all *= s->length[k];
  }
  return channel * (conv_source_size(s) / s->channels) + phase * all + place;
}

/* A row of a phase: to[j] = x[first + j·step] where that lies in 0 … n - 1, else 0. */
static void conv_pad_row(size_t size, const char *x, int64_t n, int64_t first, int64_t step, char *to, int64_t length) {
  int64_t from = first < 0 ? (-first + step - 1) / step : 0;
  int64_t end = first < n ? (n - first + step - 1) / step : 0;
  if (from > length) from = length;
  if (end > length) end = length;
  if (end < from) end = from;
  memset(to, 0, (size_t)from * size);
  memset(to + (size_t)end * size, 0, (size_t)(length - end) * size);
  if (end == from) return;
  const char *at = x + (first + from * step) * (int64_t)size;
  char *p = to + (size_t)from * size;
  if (step == 1) {
    memcpy(p, at, (size_t)(end - from) * size);
  } else if (size == 4) {
    for (int64_t j = from; j < end; j++, p += 4, at += 4 * step) memcpy(p, at, 4);
  } else {
    for (int64_t j = from; j < end; j++, p += 8, at += 8 * step) memcpy(p, at, 8);
  }
}

void conv_pad(const conv_source *s, size_t size, const void *x, void *to, int64_t past, thread_pool *pool) {
  const int64_t *in = s->in, *length = s->length, *phases = s->phases;
  const size_t row = (size_t)length[2] * size;
  int64_t since = 0;
  char *p = to;
  for (int64_t channel = 0; channel < s->channels; channel++) {
    const char *plane = (const char *)x + (size_t)(channel * in[0] * in[1] * in[2]) * size;
    for (int64_t phase = 0; phase < phases[0] * phases[1] * phases[2]; phase++) {
      const int64_t start[CONV_AXES] = {phase / (phases[1] * phases[2]) + s->first[0],
                                        phase / phases[2] % phases[1] + s->first[1], phase % phases[2] + s->first[2]};
      for (int64_t a = 0; a < length[0]; a++) {
        const int64_t i = start[0] + a * phases[0];
        for (int64_t b = 0; b < length[1]; b++, p += row) {
          const int64_t j = start[1] + b * phases[1];
          if (i < 0 || i >= in[0] || j < 0 || j >= in[1])
            memset(p, 0, row);
          else
            conv_pad_row(size, plane + (size_t)((i * in[1] + j) * in[2]) * size, in[2], start[2], phases[2], p,
                         length[2]);
          conv_point_after(pool, &since, length[2]);
        }
      }
    }
  }
  memset(p, 0, (size_t)past * size);
}

/* The run of positions of one row of the grid that begins at number `at`, at most `n` of them. */
typedef struct conv_run {
  int64_t b, c, n;
} conv_run;

/* False where none of the n positions from `at` on, up to the end of a row of `pitch`, belongs to the grid. *skip: how many
 * positions that row has. */
static bool conv_next_run(const conv_grid *g, int64_t pitch, int64_t at, int64_t n, conv_run *run, int64_t *skip) {
  run->b = at / pitch;
  run->c = at % pitch;
  *skip = pitch - run->c < n ? pitch - run->c : n;
  run->n = g->length[2] - run->c < *skip ? g->length[2] - run->c : *skip;
  return run->n > 0 && run->b < g->length[1];
}

void conv_put(const conv_grid *g, size_t size, int64_t a, int64_t pitch, int64_t from, int64_t n, int64_t rows,
              const void *results, int64_t row, void *to) {
  const int64_t plane = g->shape[0] * g->shape[1] * g->shape[2], step = g->step[2];
  conv_run run;
  int64_t skip;
  for (int64_t at = 0; at < n; at += skip) {
    if (!conv_next_run(g, pitch, from + at, n - at, &run, &skip)) continue;
    const int64_t place =
        ((g->origin[0] + a * g->step[0]) * g->shape[1] + g->origin[1] + run.b * g->step[1]) * g->shape[2] +
        g->origin[2] + run.c * step;
    for (int64_t i = 0; i < rows; i++) {
      const char *src = (const char *)results + (size_t)(i * row + at) * size;
      char *dst = (char *)to + (size_t)(i * plane + place) * size;
      if (step == 1)
        memcpy(dst, src, (size_t)run.n * size);
      else if (size == 4)
        for (int64_t c = 0; c < run.n; c++) memcpy(dst + 4 * c * step, src + 4 * c, 4);
      else
        for (int64_t c = 0; c < run.n; c++) memcpy(dst + 8 * c * step, src + 8 * c, 8);
    }
  }
}

#define CONV_TRANSPOSE(T)                                                                                       \
  static void conv_transpose_##T(const T *from, int64_t plane, int64_t n, int64_t rows, T *to, int64_t width) { \
    for (int64_t c = 0; c < n; c++, from++, to += width) {                                                      \
      int64_t i = 0;                                                                                            \
      for (; i < rows; i++) to[i] = from[i * plane];                                                            \
      for (; i < width; i++) to[i] = 0;                                                                         \
    }                                                                                                           \
  }
CONV_TRANSPOSE(uint32_t)
CONV_TRANSPOSE(uint64_t)

void conv_transpose_slab(const conv_grid *g, size_t size, int64_t a, int64_t pitch, int64_t rows, const void *planes,
                         int64_t width, void *to, thread_pool *pool) {
  const int64_t plane = g->shape[0] * g->shape[1] * g->shape[2];
  int64_t since = 0;
  char *p = to;
  for (int64_t b = 0; b < g->length[1]; b++) {
    const char *from = (const char *)planes + (size_t)((a * g->shape[1] + b) * g->shape[2]) * size;
    if (size == 4)
      conv_transpose_uint32_t((const void *)from, plane, g->length[2], rows, (void *)p, width);
    else
      conv_transpose_uint64_t((const void *)from, plane, g->length[2], rows, (void *)p, width);
    p += (size_t)(g->length[2] * width) * size;
    conv_point_after(pool, &since, g->length[2] * width);
    if (b + 1 < g->length[1]) {
      const size_t gap = (size_t)((pitch - g->length[2]) * width) * size;
      memset(p, 0, gap);
      p += gap;
    }
  }
}
