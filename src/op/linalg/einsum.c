/* einsum: sums of products by Einstein's convention: "ij,jk->ik".
 *
 * A letter names an axis; axes of the same name are paired; names that the output lacks are summed over. "..." stands
 * for the axes not named, aligned from the right. Without "->" the output has the names that occur once, in
 * alphabetical order. Built two operands at a time, the cheapest pair first, as tensordot (with batch axes) or as a
 * broadcast product.
 */
#include <ctype.h>
#include <string.h>

#include "blas.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

#define N_LETTERS 52
#define N_LABELS (N_LETTERS + DAMO_MAX_NDIM) /* letters, then axes under an ellipsis, the last one last */
#define MAX_TERMS 8

/* A tensor whose axis i is called label[i]. */
typedef struct einsum_term {
  damo_var *v;
  int n;
  uint8_t label[DAMO_MAX_NDIM];
} einsum_term;

/* ---- Subscripts -------------------------------------------------------------------------------------------------- */

static int label_of(char c) { return c >= 'a' ? c - 'a' + 26 : c - 'A'; }

static damo_status einsum_fail(build *b, const char *text, const char *why) {
  return ctx_fail(b->ctx, DAMO_EVALUE, "einsum: subscripts '%s': %s", text, why);
}

/* Reads the names of one tensor up to ',', '-' or the end; an ellipsis stands for n_dots axes (-1: as many as `rank`
 * leaves). */
static damo_status einsum_parse_term(build *b, const char *text, const char **at, int rank, int n_dots,
                                     einsum_term *t) {
  int letters = 0;
  bool dots = false;
  for (const char *p = *at; *p && *p != ',' && *p != '-'; p++) letters += isalpha((unsigned char)*p) != 0;
  if (n_dots < 0) n_dots = rank - letters;
  t->n = 0;
  for (; **at && **at != ',' && **at != '-'; ++*at) {
    const char c = **at;
    if (c == ' ') continue;
    if (c == '.') {
      if (strncmp(*at, "...", 3) != 0 || dots || n_dots < 0) return einsum_fail(b, text, "an ellipsis is out of place");
      dots = true;
      *at += 2;
      for (int i = 0; i < n_dots && t->n < DAMO_MAX_NDIM; i++) t->label[t->n++] = (uint8_t)(N_LABELS - n_dots + i);
    } else if (isalpha((unsigned char)c) && t->n < DAMO_MAX_NDIM) {
      t->label[t->n++] = (uint8_t)label_of(c);
    } else {
      return einsum_fail(b, text, "names of axes are letters");
    }
  }
  return DAMO_OK;
}

static int count_label(const einsum_term *t, int label) {
  int k = 0;
  for (int i = 0; i < t->n; i++) k += t->label[i] == label;
  return k;
}

static int axis_of_label(const einsum_term *t, int label) {
  for (int i = 0; i < t->n; i++) {
    if (t->label[i] == label) return i;
  }
  return -1;
}

/* The output where the subscripts have no "->": the ellipsis axes, then the names that occur once, capitals first as in
 * Python. */
static void implicit_output(const einsum_term *in, int n, einsum_term *out) {
  out->n = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int label = pass ? 0 : N_LETTERS; label < (pass ? N_LETTERS : N_LABELS); label++) {
      int uses = 0;
      for (int k = 0; k < n; k++) uses += count_label(&in[k], label);
      if ((pass ? uses == 1 : uses > 0) && out->n < DAMO_MAX_NDIM) out->label[out->n++] = (uint8_t)label;
    }
  }
}

static damo_status einsum_check_output(build *b, const char *text, const einsum_term *in, int n,
                                       const einsum_term *out) {
  for (int i = 0; i < out->n; i++) {
    int uses = 0;
    for (int k = 0; k < n; k++) uses += count_label(&in[k], out->label[i]);
    if (uses == 0) return einsum_fail(b, text, "the output names an axis that no operand has");
    if (count_label(out, out->label[i]) > 1) return einsum_fail(b, text, "the output names an axis twice");
  }
  return DAMO_OK;
}

static damo_status einsum_parse(build *b, const char *text, damo_var *const *xs, int n, einsum_term *in,
                                einsum_term *out) {
  const char *at = text;
  int dots = 0;
  for (int k = 0; k < n; k++) {
    in[k].v = xs[k];
    DAMO_TRY(einsum_parse_term(b, text, &at, var_ndim(xs[k]), -1, &in[k]));
    if (in[k].n != var_ndim(xs[k])) {
      return ctx_fail(b->ctx, DAMO_EVALUE, "einsum: subscripts '%s' name %d axes of operand %d, which has %d", text,
                      in[k].n, k + 1, var_ndim(xs[k]));
    }
    int here = 0;
    for (int i = 0; i < in[k].n; i++) here += in[k].label[i] >= N_LETTERS;
    if (here > dots) dots = here;
    if (k + 1 < n && *at++ != ',') return einsum_fail(b, text, "there are more operands than subscripts");
  }
  if (*at == ',') return einsum_fail(b, text, "there are fewer operands than subscripts");
  if (*at == '\0') {
    implicit_output(in, n, out);
  } else {
    if (at[0] != '-' || at[1] != '>') return einsum_fail(b, text, "'->' is expected before the output");
    at += 2;
    DAMO_TRY(einsum_parse_term(b, text, &at, 0, dots, out));
    if (*at) return einsum_fail(b, text, "something follows the output");
  }
  return einsum_check_output(b, text, in, n, out);
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static void drop_label(einsum_term *t, int axis) {
  memmove(t->label + axis, t->label + axis + 1, (size_t)(t->n - axis - 1));
  t->n--;
}

static void einsum_sum_axis(build *b, einsum_term *t, int axis) {
  t->v = build_reduce(b, REDUCE_SUM, t->v, &axis, 1, false);
  drop_label(t, axis);
}

/* Casts t back to the operands' dtype, since a sum of integers widens it. */
static void keep_dtype(build *b, einsum_term *t, damo_dtype dtype) {
  if (t->v && var_dtype(t->v) != dtype) t->v = build_cast(b, t->v, dtype);
}

/* Replaces two axes with the same name by their diagonal, which becomes the last axis, until all names differ. */
static void take_diagonals(build *b, einsum_term *t) {
  for (int i = 0; i < t->n && t->v; i++) {
    for (int j = t->n - 1; j > i && t->v; j--) {
      const uint8_t label = t->label[i];
      if (t->label[j] != label) continue;
      t->v = build_diagonal(b, t->v, 0, i, j);
      drop_label(t, j);
      drop_label(t, i);
      t->label[t->n++] = label;
      i = -1; /* positions have changed: start again */
      break;
    }
  }
}

/* True when the output or an operand from `from` on has an axis of that name. */
static bool is_wanted(const einsum_term *in, int from, int n, const einsum_term *out, int label) {
  if (axis_of_label(out, label) >= 0) return true;
  for (int k = from; k < n; k++) {
    if (axis_of_label(&in[k], label) >= 0) return true;
  }
  return false;
}

/* Drops those axes of length 1 of operand k that broadcast against a longer axis of the same name in another
 * operand. */
static void drop_ones(build *b, einsum_term *in, int n, int k) {
  for (int i = in[k].n - 1; i >= 0 && in[k].v; i--) {
    bool longer = false;
    for (int j = 0; j < n; j++) {
      const int axis = axis_of_label(&in[j], in[k].label[i]);
      if (j != k && axis >= 0 && in[j].v && !type_dim_is_one(in[j].v->type, axis)) longer = true;
    }
    if (longer && type_dim_is_one(in[k].v->type, i)) einsum_sum_axis(b, &in[k], i);
  }
}

/* Sums over the axes of t whose names are neither in the output, nor in an operand from `from` on, nor in `other`. */
static void sum_unwanted(build *b, einsum_term *t, const einsum_term *in, int from, int n, const einsum_term *other,
                         const einsum_term *out) {
  for (int i = t->n - 1; i >= 0 && t->v; i--) {
    const bool shared = other && axis_of_label(other, t->label[i]) >= 0;
    if (!shared && !is_wanted(in, from, n, out, t->label[i])) einsum_sum_axis(b, t, i);
  }
}

/* x becomes x times y with all names kept: axes of the same name are aligned, y's other axes come last. */
static void einsum_multiply(build *b, einsum_term *x, const einsum_term *y) {
  int px[DAMO_MAX_NDIM], py[DAMO_MAX_NDIM], n = x->n;
  for (int i = 0; i < x->n; i++) px[i] = i, py[i] = axis_of_label(y, x->label[i]);
  for (int i = 0; i < y->n && n < DAMO_MAX_NDIM; i++) {
    if (axis_of_label(x, y->label[i]) >= 0) continue;
    px[n] = -1;
    py[n++] = i;
  }
  for (int i = x->n; i < n; i++) x->label[i] = y->label[py[i]];
  x->v = build_mul(b, build_dimshuffle(b, x->v, px, n), build_dimshuffle(b, y->v, py, n));
  x->n = n;
}

/* x becomes the product of x and y, summed over the shared names that neither the output nor an operand from `from` on
 * has; the other shared names are batch axes. */
static void einsum_combine(build *b, einsum_term *x, const einsum_term *y, const einsum_term *in, int from, int n,
                           const einsum_term *out) {
  int ax[DAMO_MAX_NDIM], ay[DAMO_MAX_NDIM], bx[DAMO_MAX_NDIM], by[DAMO_MAX_NDIM], na = 0, nb = 0;
  einsum_term z = {.n = 0};
  for (int i = 0; i < x->n; i++) {
    const int j = axis_of_label(y, x->label[i]);
    if (j < 0) continue;
    if (is_wanted(in, from, n, out, x->label[i]))
      bx[nb] = i, by[nb++] = j;
    else
      ax[na] = i, ay[na++] = j;
  }
  if (na == 0) {
    einsum_multiply(b, x, y);
    return;
  }
  for (int i = 0; i < nb; i++) z.label[z.n++] = x->label[bx[i]];
  for (int i = 0; i < x->n; i++) {
    if (axis_of_label(y, x->label[i]) < 0) z.label[z.n++] = x->label[i];
  }
  for (int j = 0; j < y->n && z.n < DAMO_MAX_NDIM; j++) {
    if (axis_of_label(x, y->label[j]) < 0) z.label[z.n++] = y->label[j];
  }
  z.v =
      nb ? build_tensordot_batched(b, x->v, y->v, na, ax, ay, nb, bx, by) : build_tensordot(b, x->v, y->v, na, ax, ay);
  *x = z;
}

#define EINSUM_UNKNOWN 64 /* what an axis of unknown length counts as when an order is chosen */

/* The products that a contraction of x with y takes, about. */
static double einsum_cost(const einsum_term *x, const einsum_term *y) {
  double cost = 1;
  for (int i = 0; i < x->n; i++) {
    const int64_t length = x->v->type->shape[i];
    cost *= length >= 0 ? (double)length : EINSUM_UNKNOWN;
  }
  for (int i = 0; i < y->n; i++) {
    const int64_t length = y->v->type->shape[i];
    if (axis_of_label(x, y->label[i]) < 0) cost *= length >= 0 ? (double)length : EINSUM_UNKNOWN;
  }
  return cost;
}

/* Moves the pair whose contraction is cheapest to the front, in its order; the first such pair. */
static void einsum_choose_pair(einsum_term *in, int n) {
  int first = 0, second = 1;
  for (int i = 0; i < n; i++) {
    for (int j = i + 1; j < n; j++) {
      if (einsum_cost(&in[i], &in[j]) < einsum_cost(&in[first], &in[second])) first = i, second = j;
    }
  }
  const einsum_term x = in[first], y = in[second];
  memmove(in + second, in + second + 1, (size_t)(n - second - 1) * sizeof *in);
  memmove(in + first, in + first + 1, (size_t)(n - first - 2) * sizeof *in);
  memmove(in + 2, in, (size_t)(n - 2) * sizeof *in);
  in[0] = x, in[1] = y;
}

/* Contracts pair by pair, always the cheapest one, which need not be the best order of all (NumPy's optimize="greedy" is
 * of this kind too). */
static damo_var *einsum_contract(build *b, einsum_term *in, int n, const einsum_term *out) {
  const damo_dtype dtype = var_dtype(in[0].v);
  int pattern[DAMO_MAX_NDIM];
  for (int k = 0; k < n; k++) take_diagonals(b, &in[k]);
  for (int k = 0; k < n; k++) drop_ones(b, in, n, k);
  while (n > 1 && b->status == DAMO_OK) {
    einsum_choose_pair(in, n);
    sum_unwanted(b, &in[0], in, 1, n, NULL, out);
    sum_unwanted(b, &in[1], in, 2, n, &in[0], out);
    keep_dtype(b, &in[0], dtype);
    keep_dtype(b, &in[1], dtype);
    if (b->status == DAMO_OK) einsum_combine(b, &in[0], &in[1], in, 2, n, out);
    memmove(in + 1, in + 2, (size_t)(n - 2) * sizeof *in);
    n--;
  }
  if (b->status != DAMO_OK || in[0].v == NULL) return NULL;
  sum_unwanted(b, &in[0], in, 1, 1, NULL, out);
  keep_dtype(b, &in[0], dtype);
  for (int i = 0; i < out->n; i++) pattern[i] = axis_of_label(&in[0], out->label[i]);
  return build_dimshuffle(b, in[0].v, pattern, out->n);
}

damo_status fn_einsum(build *b, const fn_args *a, ptrvec *out) {
  einsum_term in[MAX_TERMS], result;
  damo_var *xs[MAX_TERMS];
  const char *text = prop_str_or(FN_OPTIONS(a, einsum_options)->subscripts, NULL);
  if (text == NULL) return ctx_fail(b->ctx, DAMO_ETYPE, "einsum: subscripts, a string, are needed");
  if (a->n_in < 1 || a->n_in > MAX_TERMS) {
    return ctx_fail(b->ctx, DAMO_ETYPE, "einsum: 1 to %d operands are possible, got %d", MAX_TERMS, a->n_in);
  }
  for (int i = 0; i < a->n_in; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  DAMO_TRY(build_resolve(b, a->in, a->n_in, true, xs));
  DAMO_TRY(einsum_parse(b, text, xs, a->n_in, in, &result));
  damo_var *v = einsum_contract(b, in, a->n_in, &result);
  return v ? ptrvec_push(out, v) : b->status;
}
