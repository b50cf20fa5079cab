/* suggest: the nearest word of a list, for "did you mean …?".
 *
 * The distance is that of optimal string alignment: the number of insertions, deletions, changes and swaps of
 * neighbours. Case is ignored.
 */
#include <ctype.h>
#include <string.h>

#include "base.h"

#define WORD_MAX 48

static int lower(char c) { return tolower((unsigned char)c); }

static int min2(int a, int b) { return a < b ? a : b; }

/* Dynamic programming over the last three rows of the distance matrix. Both words have at most WORD_MAX letters. */
static int edit_distance(const char *a, int na, const char *b, int nb) {
  int rows[3][WORD_MAX + 1];
  int *before = rows[0], *last = rows[1], *now = rows[2];
  memset(rows, 0, sizeof rows);
  for (int j = 0; j <= nb; j++) last[j] = j;
  for (int i = 1; i <= na; i++) {
    now[0] = i;
    for (int j = 1; j <= nb; j++) {
      int change = last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
      int d = min2(change, min2(last[j], now[j - 1]) + 1);
      bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      now[j] = swapped ? min2(d, before[j - 2] + 1) : d;
    }
    int *t = before;
    before = last;
    last = now;
    now = t;
  }
  return last[nb];
}

static const char *nearest(const char *word, const char *const *list, int limit) {
  size_t n = strlen(word);
  if (n == 0 || n > WORD_MAX) return NULL;
  const char *best = NULL;
  int best_distance = limit + 1;
  for (; *list; list++) {
    size_t m = strlen(*list);
    if (m > WORD_MAX) continue;
    int d = edit_distance(word, (int)n, *list, (int)m);
    if (d < best_distance && (size_t)d < n) {
      best = *list;
      best_distance = d;
    }
  }
  return best;
}

const char *suggest(const char *word, const char *const *list) {
  size_t n = strlen(word);
  return nearest(word, list, n <= 4 ? 1 : n <= 5 ? 2 : (int)n / 3 + 1);
}

const char *suggest_misspelt(const char *word, const char *const *list) {
  size_t n = strlen(word);
  return nearest(word, list, n <= 4 ? 0 : n <= 8 ? 1 : 2);
}
