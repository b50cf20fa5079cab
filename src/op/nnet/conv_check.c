/* conv_check: the definition of a convolution, term by term, in double. */
#include <math.h>

#include "conv.h"

/* A result under examination: which of x, w and y it is, and the sums for its entries. */
typedef struct conv_exam {
  window_view role[3]; /* x, w, y */
  int result;
  double *sum, *terms;
} conv_exam;

enum { ROLE_X, ROLE_W, ROLE_Y };

/* The number of an entry in C order. */
static int64_t conv_place(const window_view *v, int64_t i, int64_t j, const int64_t *at) {
  int64_t place = i * v->dim[1] + j;
  for (int k = 0; k < WINDOW_AXES; k++) place = place * v->dim[2 + k] + at[k];
  return place;
}

/* Adds the terms of filter k, channel c of its group, position o and tap t of example n. */
static void conv_add_term(conv_exam *e, const conv_spec *s, const conv_lengths *l, const int64_t *index) {
  const int64_t n = index[0], k = index[1], c = index[2], *o = index + 3, *t = index + 6;
  const int64_t channel = k / l->filters * l->channels + c;
  int64_t at[WINDOW_AXES], tap[WINDOW_AXES];
  for (int a = 0; a < WINDOW_AXES; a++) {
    at[a] = o[a] * s->stride[a] + t[a] * s->dilation[a] - l->pad[a][0];
    tap[a] = s->flip ? l->taps[a] - 1 - t[a] : t[a];
    if (at[a] < 0 || at[a] >= l->in[a]) return;
  }
  double product = 1;
  int64_t place = 0;
  for (int role = ROLE_X; role <= ROLE_Y; role++) {
    const int64_t i = role == ROLE_W ? k : n, j = role == ROLE_X ? channel : role == ROLE_W ? c : k;
    const int64_t *position = role == ROLE_X ? at : role == ROLE_W ? tap : o;
    if (role == e->result)
      place = conv_place(&e->role[role], i, j, position);
    else
      product *= window_entry(&e->role[role], i, j, position);
  }
  e->sum[place] += product;
  e->terms[place] += fabs(product);
}

static double conv_worst(const conv_exam *e) {
  const window_view *v = &e->role[e->result];
  int64_t at[2 + WINDOW_AXES] = {0}, place = 0;
  double worst = 0;
  for (;;) {
    const double got = window_entry(v, at[0], at[1], at + 2), wanted = e->sum[place];
    const double apart = fabs(got - wanted) / (e->terms[place] > 0 ? e->terms[place] : 1);
    if (isfinite(wanted) && !(apart <= worst)) worst = isnan(apart) ? INFINITY : apart;
    place++;
    int k = 2 + WINDOW_AXES - 1;
    while (k >= 0 && ++at[k] == v->dim[k]) at[k--] = 0;
    if (k < 0) return worst;
  }
}

/* result: which of x, w, y the node gives; the others are its operands in this order, but y before w. */
static double conv_judge(const op_exam *e, int result) {
  conv_exam exam = {.result = result};
  conv_lengths l;
  const damo_array *given[2] = {exam_array(e, 0), exam_array(e, 1)}, *got = (const damo_array *)e->results[0];
  const damo_array *of[3] = {result == ROLE_X ? got : given[0], result == ROLE_W ? got : given[1],
                             result == ROLE_Y ? got : given[result == ROLE_W]};
  double work = 1;
  int64_t index[9] = {0}, dim[9], entries = 1;
  for (int role = 0; role < 3; role++) {
    exam.role[role] = window_view_of(of[role]);
    for (int k = 0; k < 2 + WINDOW_AXES; k++)
      if (exam.role[role].dim[k] == 0) return 0;
  }
  for (int k = 0; k < 2 + WINDOW_AXES; k++) entries *= exam.role[result].dim[k];
  damo_ctx *ctx = e->node->op->obj.ctx;
  if (conv_lengths_of(ctx, e->node->op, exam.role[ROLE_X].dim, exam.role[ROLE_W].dim, &l) != DAMO_OK) return INFINITY;
  const int64_t bounds[9] = {
      l.batch, l.groups * l.filters, l.channels, l.out[0], l.out[1], l.out[2], l.taps[0], l.taps[1], l.taps[2]};
  for (int k = 0; k < 9; k++) {
    dim[k] = bounds[k];
    work *= (double)dim[k];
  }
  if (work > 3e7) return -1;
  exam.sum = mem_calloc(ctx, (size_t)entries * 2 * sizeof(double));
  if (exam.sum == NULL) return -1;
  exam.terms = exam.sum + entries;
  for (int k = 0; k >= 0;) {
    conv_add_term(&exam, conv_spec_of(e->node->op), &l, index);
    for (k = 8; k >= 0 && ++index[k] == dim[k]; k--) index[k] = 0;
  }
  const double worst = conv_worst(&exam);
  mem_free(ctx, exam.sum, (size_t)entries * 2 * sizeof(double));
  return worst;
}

static double judge_conv(const op_exam *e) { return conv_judge(e, ROLE_Y); }
static double judge_conv_grad_input(const op_exam *e) { return conv_judge(e, ROLE_X); }
static double judge_conv_grad_filter(const op_exam *e) { return conv_judge(e, ROLE_W); }

#define CONV_JUDGED "an entry is apart from the sum of its terms"
const op_check conv_check = {.judge = judge_conv, .judged = CONV_JUDGED};
const op_check conv_grad_input_check = {.judge = judge_conv_grad_input, .judged = CONV_JUDGED};
const op_check conv_grad_filter_check = {.judge = judge_conv_grad_filter, .judged = CONV_JUDGED};
