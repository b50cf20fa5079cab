/* picture: dust as a camera sees it, whose light fades. It is written as a PNG with zlib, which damo links as well. */
#ifndef PICTURE_H
#define PICTURE_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { WIDTH = 640, HEIGHT = 360, SCALE = 100 /* pixels a unit */ };
static float light[HEIGHT][WIDTH][3];

/* One frame: what was there fades, and each grain adds its light in the colour of its model. */
static void picture_expose(double (*at)[2], int n, int models) {
  static const float colours[][3] = {{1.0f, 0.55f, 0.22f}, {0.25f, 0.6f, 1.0f}, {0.5f, 1.0f, 0.5f}};
  const float *colour = colours[(models + 2) % 3];
  for (int i = 0; i < HEIGHT * WIDTH * 3; i++) ((float *)light)[i] *= 0.995f;
  for (int i = 0; i < n; i++) {
    const double x = WIDTH / 2 + SCALE * at[i][0], y = HEIGHT / 2 - SCALE * at[i][1];
    if (!(x >= 0 && x < WIDTH - 1 && y >= 0 && y < HEIGHT - 1)) continue;
    const int column = (int)x, row = (int)y;
    const float fx = (float)(x - column), fy = (float)(y - row);
    for (int c = 0; c < 3; c++) { /* shared out over four pixels */
      light[row][column][c] += (1 - fx) * (1 - fy) * colour[c];
      light[row][column + 1][c] += fx * (1 - fy) * colour[c];
      light[row + 1][column][c] += (1 - fx) * fy * colour[c];
      light[row + 1][column + 1][c] += fx * fy * colour[c];
    }
  }
}

static void png_word(unsigned char *p, uint32_t w) {
  for (int i = 0; i < 4; i++) p[i] = (unsigned char)(w >> (24 - 8 * i));
}

static void png_chunk(FILE *f, const char *kind, const unsigned char *data, size_t n) {
  unsigned char word[4];
  png_word(word, (uint32_t)n);
  fwrite(word, 1, 4, f);
  fwrite(kind, 1, 4, f);
  fwrite(data, 1, n, f);
  png_word(word, (uint32_t)crc32(crc32(0, (const unsigned char *)kind, 4), data, (unsigned)n));
  fwrite(word, 1, 4, f);
}

static bool picture_save(const char *path) {
  static unsigned char rows[HEIGHT][1 + 3 * WIDTH], packed[sizeof rows + 4096];
  unsigned char head[13] = {[8] = 8, [9] = 2}; /* 8 bits, RGB */
  for (int y = 0; y < HEIGHT; y++) {
    for (int i = 0; i < 3 * WIDTH; i++) {
      const float v = ((float *)light[y])[i];
      rows[y][1 + i] = (unsigned char)(255 * powf(1 - expf(-0.14f * v), 0.6f));
    }
  }
  unsigned long n = sizeof packed;
  FILE *f = fopen(path, "wb");
  if (f == NULL) return false;
  png_word(head, WIDTH);
  png_word(head + 4, HEIGHT);
  fwrite("\x89PNG\r\n\x1a\n", 1, 8, f);
  png_chunk(f, "IHDR", head, sizeof head);
  const bool ok = compress2(packed, &n, (unsigned char *)rows, sizeof rows, 9) == Z_OK;
  png_chunk(f, "IDAT", packed, n);
  png_chunk(f, "IEND", head, 0);
  return (fclose(f) == 0) && ok;
}
#endif
