/* print: arrays as NumPy's str() writes them, with true and false as Lua writes them.
 *
 * A first walk over the elements to be shown finds the column widths; a second writes them row by row, breaking lines
 * at LINE_WIDTH. Of an array of more than THRESHOLD elements, three elements from each end of an axis are shown.
 */
#include <stdio.h>
#include <string.h>

#include "array_int.h"
#include "number_text.h"

#define LINE_WIDTH 75
#define THRESHOLD 1000
#define EDGE 3

typedef struct printer {
  strbuf *buf;
  const damo_array *a;
  bool cut;             /* only the ends of long axes are shown */
  int width;            /* column width of integers and booleans */
  number_column re, im; /* column of floats and real parts; column of imaginary parts */
  int line;             /* characters on the line being written */
} printer;

static bool axis_is_cut(const printer *p, int axis) { return p->cut && array_shape(p->a)[axis] > 2 * EDGE; }

/* The number of elements shown along an axis, and the index of the i-th of them. */
static int64_t printer_shown(const printer *p, int axis) {
  return axis_is_cut(p, axis) ? 2 * EDGE : array_shape(p->a)[axis];
}

static int64_t printer_place(const printer *p, int axis, int64_t i) {
  return axis_is_cut(p, axis) && i >= EDGE ? array_shape(p->a)[axis] - 2 * EDGE + i : i;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static int integer_text(scalar s, char *dst, size_t n) {
  if (dtype_kind_of(s.dtype) == KIND_UINT) return snprintf(dst, n, "%llu", (unsigned long long)s.v.u);
  return snprintf(dst, n, "%lld", (long long)s.v.i);
}

static bool printer_is_single(damo_dtype dt) { return dt == DAMO_FLOAT32 || dt == DAMO_COMPLEX64; }

/* Inserts "j" behind the digits, before the padding. */
static void put_imaginary_unit(char *text, int n) {
  int end = n;
  while (end > 0 && text[end - 1] == ' ') end--;
  memmove(text + end + 1, text + end, (size_t)(n - end) + 1);
  text[end] = 'j';
}

/* The padded text of an element; dst has 2 * NUMBER_TEXT_MAX bytes. */
static void printer_word(const printer *p, scalar s, char *dst) {
  char text[NUMBER_TEXT_MAX];
  switch (dtype_kind_of(s.dtype)) {
    case KIND_BOOL: snprintf(dst, NUMBER_TEXT_MAX, "%*s", p->width, s.v.i ? "true" : "false"); break;
    case KIND_INT:
    case KIND_UINT:
      integer_text(s, text, sizeof text);
      snprintf(dst, NUMBER_TEXT_MAX, "%*s", p->width, text);
      break;
    case KIND_FLOAT: number_column_text(&p->re, s.v.f, dst); break;
    case KIND_COMPLEX: {
      int n = number_column_text(&p->re, s.v.c.re, dst);
      put_imaginary_unit(dst + n, number_column_text(&p->im, s.v.c.im, dst + n));
      break;
    }
  }
}

/* ---- Widths ------------------------------------------------------------------------------------------------------ */

static void printer_scale(printer *p, scalar s) {
  char text[NUMBER_TEXT_MAX];
  switch (dtype_kind_of(s.dtype)) {
    case KIND_BOOL: p->width = 5; break;
    case KIND_INT:
    case KIND_UINT: {
      int n = integer_text(s, text, sizeof text);
      if (n > p->width) p->width = n;
      break;
    }
    case KIND_FLOAT: number_column_scale(&p->re, s.v.f); break;
    case KIND_COMPLEX:
      number_column_scale(&p->re, s.v.c.re);
      number_column_scale(&p->im, s.v.c.im);
      break;
  }
}

static void printer_measure(printer *p, scalar s) {
  if (dtype_kind_of(s.dtype) == KIND_FLOAT) {
    number_column_measure(&p->re, s.v.f);
  } else if (dtype_kind_of(s.dtype) == KIND_COMPLEX) {
    number_column_measure(&p->re, s.v.c.re);
    number_column_measure(&p->im, s.v.c.im);
  }
}

/* Calls visit for every element that is shown, in C order. */
static void each_shown(printer *p, void (*visit)(printer *p, scalar s)) {
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 0)], index[DAMO_MAX_NDIM];
  nd_space s = nd_space_begin(numbers, DAMO_MAX_NDIM, 0);
  nd_walk w;
  for (int i = 0; i < p->a->ndim; i++) nd_space_push_unmerged(&s, printer_shown(p, i));
  for (bool more = nd_begin(&w, &s); more; more = nd_next(&w, NULL)) {
    for (int i = 0; i < p->a->ndim; i++) index[i] = printer_place(p, i, w.at[i]);
    visit(p, array_get(p->a, index));
  }
}

static void find_widths(printer *p) {
  bool single = printer_is_single(array_dtype(p->a));
  number_column_begin(&p->re, single, false);
  number_column_begin(&p->im, single, true);
  each_shown(p, printer_scale);
  number_column_choose(&p->re);
  number_column_choose(&p->im);
  each_shown(p, printer_measure);
  number_column_end(&p->re);
  number_column_end(&p->im);
}

/* ---- Layout ------------------------------------------------------------------------------------------------------ */

static void new_lines(printer *p, int n, int indent) {
  for (int i = 0; i < n; i++) strbuf_add(p->buf, "\n");
  for (int i = 0; i < indent; i++) strbuf_add(p->buf, " ");
}

static void strip_spaces(strbuf *b) {
  while (b->n > 0 && b->at[b->n - 1] == ' ') b->at[--b->n] = '\0';
}

/* Appends a word of a row at that depth, on a new line if the current one is full. */
static void add_word(printer *p, int depth, const char *word) {
  int indent = depth + 1, n = (int)strlen(word);
  if (p->line > indent && p->line + n > LINE_WIDTH - depth - 1) {
    if (!p->buf->failed) strip_spaces(p->buf);
    new_lines(p, 1, indent);
    p->line = indent;
  }
  strbuf_addn(p->buf, word, (size_t)n);
  p->line += n;
}

static void add_space(printer *p) {
  strbuf_add(p->buf, " ");
  p->line++;
}

/* Prints along the last axis; index holds the position along the others. */
static void print_row(printer *p, int64_t *index) {
  char word[2 * NUMBER_TEXT_MAX + 2];
  int axis = p->a->ndim - 1;
  int64_t n = printer_shown(p, axis);
  p->line = axis + 1;
  for (int64_t i = 0; i < n; i++) {
    if (i > 0) add_space(p);
    if (i == EDGE && axis_is_cut(p, axis)) {
      add_word(p, axis, "...");
      add_space(p);
    }
    index[axis] = printer_place(p, axis, i);
    printer_word(p, array_get(p->a, index), word);
    add_word(p, axis, word);
  }
}

/* The recursion depth is the rank. */
static void print_axis(printer *p, int axis, int64_t *index) {
  strbuf_add(p->buf, "[");
  if (axis == p->a->ndim - 1) {
    print_row(p, index);
  } else {
    int64_t n = printer_shown(p, axis);
    int gap = p->a->ndim - 1 - axis;
    for (int64_t i = 0; i < n; i++) {
      if (i > 0) new_lines(p, gap, axis + 1);
      if (i == EDGE && axis_is_cut(p, axis)) {
        strbuf_add(p->buf, "...");
        new_lines(p, gap, axis + 1);
      }
      index[axis] = printer_place(p, axis, i);
      print_axis(p, axis + 1, index);
    }
  }
  strbuf_add(p->buf, "]");
}

/* ---- Single values ----------------------------------------------------------------------------------------------- */

static void print_complex(strbuf *buf, damo_c128 z, bool single) {
  char re[NUMBER_TEXT_MAX], im[NUMBER_TEXT_MAX];
  number_text(z.re, single, true, re);
  number_text(z.im, single, true, im);
  if (strcmp(re, "0") == 0) {
    strbuf_addf(buf, "%sj", im);
  } else {
    strbuf_addf(buf, "(%s%s%sj)", re, im[0] == '-' ? "" : "+", im);
  }
}

static void print_scalar(strbuf *buf, scalar s) {
  char text[NUMBER_TEXT_MAX];
  switch (dtype_kind_of(s.dtype)) {
    case KIND_BOOL: strbuf_add(buf, s.v.i ? "true" : "false"); return;
    case KIND_INT:
    case KIND_UINT: integer_text(s, text, sizeof text); break;
    case KIND_FLOAT: number_text(s.v.f, s.dtype == DAMO_FLOAT32, false, text); break;
    case KIND_COMPLEX: print_complex(buf, s.v.c, s.dtype == DAMO_COMPLEX64); return;
  }
  strbuf_add(buf, text);
}

void array_format(strbuf *buf, const damo_array *a) {
  int64_t index[DAMO_MAX_NDIM] = {0}, size = array_size(a);
  if (size == 0) {
    strbuf_add(buf, "[]");
  } else if (a->ndim == 0) {
    print_scalar(buf, array_item(a));
  } else {
    printer p = {.buf = buf, .a = a, .cut = size > THRESHOLD};
    find_widths(&p);
    print_axis(&p, 0, index);
  }
}
