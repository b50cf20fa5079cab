/* window_c: convolutions and pooling as C source: plain loops over windows. */
#include <string.h>

#include "conv.h"
#include "graph/c_emit.h"
#include "op/shape/shape_int.h"
#include "pool.h"

/* The lengths of five axes, and v as an array of them. */
static const c_value *window_c_value(c_emit *e, const c_value *v, int64_t *lengths) {
  const int first = WINDOW_AXES - (v->ndim - 2);
  v = ce_contiguous(e, v);
  if (v == NULL) return NULL;
  lengths[0] = v->shape[0], lengths[1] = v->shape[1];
  for (int k = 0; k < WINDOW_AXES; k++) lengths[2 + k] = k < first ? 1 : v->shape[2 + k - first];
  return v;
}

/* The lengths of the axes after the second that the inputs from `at` on tell. */
static damo_status window_c_lengths(c_emit *e, const damo_apply *node, int at, int64_t *lengths) {
  const int n = node->n_in - at;
  for (int k = 0; k < WINDOW_AXES; k++) {
    lengths[2 + k] = 1;
    if (k >= WINDOW_AXES - n) DAMO_TRY(ce_int(e, at + k - (WINDOW_AXES - n), "a length", &lengths[2 + k]));
  }
  return e->status;
}

static c_value *window_c_out(c_emit *e, const damo_apply *node, const int64_t *lengths) {
  int64_t shape[2 + WINDOW_AXES] = {lengths[0], lengths[1]};
  const int ndim = var_ndim(node->out[0]);
  for (int i = 2; i < ndim; i++) shape[i] = lengths[i + 2 + WINDOW_AXES - ndim];
  return ce_out(e, 0, var_dtype(node->out[0]), ndim, shape);
}

/* ---- Convolution ------------------------------------------------------------------------------------------------- */

/* Opens the loop over the taps of axis k in the order of the positions that they meet, and defines t_k, their place in the
 * filter, and shift_k, what is added to the position in x. */
static void conv_c_axis(c_emit *e, const conv_spec *s, const conv_lengths *l, int k) {
  ce_for(e, ce_text(e, "tap%d", k), l->taps[k]);
  if (s->flip)
    ce_line(e, "const ptrdiff_t t%d = %lld - tap%d;", k, (long long)l->taps[k] - 1, k);
  else
    ce_line(e, "const ptrdiff_t t%d = tap%d;", k, k);
  ce_line(e, "const ptrdiff_t shift%d = tap%d * %lld - %lld;", k, k, (long long)s->dilation[k],
          (long long)l->pad[k][0]);
}

static const char *conv_c_place(c_emit *e, const char *array, const char *at, const int64_t *lengths) {
  return ce_text(e, "%s[(%s0 * %lld + %s1) * %lld + %s2]", array, at, (long long)lengths[1], at, (long long)lengths[2],
                 at);
}

/* In reproducible mode: the sum of a tap's terms over all samples and positions, in the order of conv_run.c. */
static void conv_c_sum(c_emit *e, const conv_spec *s, const conv_lengths *l, const char *type, size_t size) {
  const conv_order o = conv_sum_order(s, l, size);
  const long long in = (long long)(l->in[0] * l->in[1] * l->in[2]),
                  out = (long long)(l->out[0] * l->out[1] * l->out[2]);
  const char *ends = "";
  for (int64_t k = 0; k <= o.chunks; k++)
    ends = ce_text(e, "%s%s%lld", ends, k > 0 ? ", " : "", (long long)pool_share_first(l->batch, k, o.chunks));
  ce_line(e, "static const ptrdiff_t chunks[] = {%s};", ends);
  ce_line(e, "double total = 0;");
  ce_for(e, "chunk", o.chunks);
  ce_line(e, "const ptrdiff_t end = chunks[chunk + 1];");
  ce_line(e, "%s sum = 0;", type);
  ce_open(e, "for (ptrdiff_t first = chunks[chunk]; first < end; first += %lld)", (long long)o.together);
  ce_line(e, "const ptrdiff_t last = first + %lld < end ? first + %lld : end;", (long long)o.together,
          (long long)o.together);
  ce_for(e, "o0", l->out[0]);
  ce_line(e, "const ptrdiff_t i0 = o0 * %lld + shift0;", (long long)s->stride[0]);
  ce_line(e, "if (i0 < 0 || i0 >= %lld) continue;", (long long)l->in[0]);
  ce_open(e, "for (ptrdiff_t from = 0; from < %lld; from += %lld)", (long long)o.slab, (long long)o.depth);
  ce_line(e, "const ptrdiff_t to = from + %lld < %lld ? from + %lld : %lld;", (long long)o.depth, (long long)o.slab,
          (long long)o.depth, (long long)o.slab);
  ce_line(e, "%s part = 0;", type);
  ce_open(e, "for (ptrdiff_t n = first; n < last; n++)");
  ce_line(e, "const %s *const xn = xp + n * %lld, *const yn = yp + n * %lld;", type,
          (long long)(l->groups * l->channels) * in, (long long)(l->groups * l->filters) * out);
  ce_open(e, "for (ptrdiff_t p = from; p < to; p++)");
  ce_line(e, "const ptrdiff_t o1 = p / %lld, o2 = p %% %lld;", (long long)o.pitch, (long long)o.pitch);
  for (int k = 1; k < WINDOW_AXES; k++) {
    ce_line(e, "const ptrdiff_t i%d = o%d * %lld + shift%d;", k, k, (long long)s->stride[k], k);
    ce_line(e, "if (i%d < 0 || i%d >= %lld) continue;", k, k, (long long)l->in[k]);
  }
  ce_line(e, "if (o2 < %lld) part += %s * %s;", (long long)l->out[2], conv_c_place(e, "xn", "i", l->in),
          conv_c_place(e, "yn", "o", l->out));
  ce_close(e);
  ce_close(e);
  ce_line(e, "sum += part;");
  for (int k = 0; k < 3; k++) ce_close(e);
  ce_line(e, "total += (double)sum;");
  ce_close(e);
  ce_line(e, "*wp = (%s)total;", type);
}

/* The terms of all positions of a sample, added to the results: those of y and x get theirs in the order of channels and
 * taps, as conv_run.c has it. to: 'y', 'x' or 'w'. */
static void conv_c_terms(c_emit *e, const conv_spec *s, const conv_lengths *l, char to, const char *type) {
  ce_line(e, to == 'w' ? "%s sum = 0;" : "const %s tap = *wp;", type);
  for (int k = 0; k < WINDOW_AXES; k++) {
    ce_for(e, ce_text(e, "o%d", k), l->out[k]);
    ce_line(e, "const ptrdiff_t i%d = o%d * %lld + shift%d;", k, k, (long long)s->stride[k], k);
    ce_line(e, "if (i%d < 0 || i%d >= %lld) continue;", k, k, (long long)l->in[k]);
  }
  const char *xi = conv_c_place(e, "xp", "i", l->in), *yi = conv_c_place(e, "yp", "o", l->out);
  if (to == 'w')
    ce_line(e, "sum += %s * %s;", xi, yi);
  else
    ce_line(e, "%s += tap * %s;", to == 'y' ? yi : xi, to == 'y' ? xi : yi);
  for (int k = 0; k < WINDOW_AXES; k++) ce_close(e);
  if (to == 'w') ce_line(e, "*wp += sum;");
}

static damo_status conv_c(c_emit *e, const damo_op *op, const c_value *x, const int64_t *of_x, const c_value *w,
                          const int64_t *of_w, const c_value *y, const c_value *to) {
  const conv_spec *s = conv_spec_of(op);
  conv_lengths l;
  const damo_status status = conv_lengths_of(e->ctx, op, of_x, of_w, &l);
  if (status != DAMO_OK) return e->status = status;
  ce_fill(e, to, "0");
  if (ce_size(x) == 0 || ce_size(w) == 0 || ce_size(y) == 0) return e->status;
  const char *const names[] = {"n", "g", "f", "c"}, *type = ce_type(x->dtype), *n = "n";
  const int64_t counts[] = {l.batch, l.groups, l.filters, l.channels};
  const bool inside = to == w && e->file->reproducible; /* samples are summed there */
  const int first = inside ? 1 : 0;
  if (inside) n = "0";
  for (int i = first; i < 4; i++) ce_for(e, names[i], counts[i]);
  for (int k = 0; k < WINDOW_AXES; k++) conv_c_axis(e, s, &l, k);
  const long long in = (long long)(l.in[0] * l.in[1] * l.in[2]), out = (long long)(l.out[0] * l.out[1] * l.out[2]);
  const long long taps = (long long)(l.taps[0] * l.taps[1] * l.taps[2]);
  const long long channels = (long long)l.channels, filters = (long long)l.filters, groups = (long long)l.groups;
  ce_line(e, "%s%s *const xp = %s + ((%s * %lld + g) * %lld + c) * %lld;", to == x ? "" : "const ", type, ce_p(e, x), n,
          groups, channels, in);
  ce_line(e, "%s%s *const yp = %s + ((%s * %lld + g) * %lld + f) * %lld;", to == y ? "" : "const ", type, ce_p(e, y), n,
          groups, filters, out);
  ce_line(e, "%s%s *const wp = %s + ((g * %lld + f) * %lld + c) * %lld + (t0 * %lld + t1) * %lld + t2;",
          to == w ? "" : "const ", type, ce_p(e, w), filters, channels, taps, (long long)l.taps[1],
          (long long)l.taps[2]);
  if (inside)
    conv_c_sum(e, s, &l, type, dtype_size(x->dtype));
  else
    conv_c_terms(e, s, &l, to == y ? 'y' : to == x ? 'x' : 'w', type);
  for (int k = first; k < WINDOW_AXES + 4; k++) ce_close(e);
  return e->status;
}

damo_status conv_emit_c(c_emit *e, const damo_apply *node) {
  int64_t of_x[5], of_w[5], of_y[5];
  const c_value *x = window_c_value(e, ce_in(e, 0), of_x), *w = window_c_value(e, ce_in(e, 1), of_w);
  conv_lengths l;
  if (x == NULL || w == NULL) return e->status;
  const damo_status s = conv_lengths_of(e->ctx, node->op, of_x, of_w, &l);
  if (s != DAMO_OK) return e->status = s;
  of_y[0] = of_x[0], of_y[1] = of_w[0];
  for (int k = 0; k < WINDOW_AXES; k++) of_y[2 + k] = l.out[k];
  const c_value *y = window_c_out(e, node, of_y);
  return y != NULL ? conv_c(e, node->op, x, of_x, w, of_w, y, y) : e->status;
}

damo_status conv_grad_input_emit_c(c_emit *e, const damo_apply *node) {
  int64_t of_x[5], of_w[5], of_y[5];
  const c_value *y = window_c_value(e, ce_in(e, 0), of_y), *w = window_c_value(e, ce_in(e, 1), of_w);
  if (y == NULL || w == NULL) return e->status;
  of_x[0] = of_y[0];
  of_x[1] = of_w[1] * conv_spec_of(node->op)->groups;
  DAMO_TRY(window_c_lengths(e, node, 2, of_x));
  for (int k = 0; k < WINDOW_AXES; k++) {
    if (conv_positions(e->ctx, node->op, k, of_x[2 + k], of_w[2 + k]) != of_y[2 + k])
      return ce_refuse(e, "lengths that do not belong together");
  }
  const c_value *x = window_c_out(e, node, of_x);
  return x != NULL ? conv_c(e, node->op, x, of_x, w, of_w, y, x) : e->status;
}

damo_status conv_grad_filter_emit_c(c_emit *e, const damo_apply *node) {
  int64_t of_x[5], of_w[5], of_y[5];
  const c_value *x = window_c_value(e, ce_in(e, 0), of_x), *y = window_c_value(e, ce_in(e, 1), of_y);
  if (x == NULL || y == NULL) return e->status;
  of_w[0] = of_y[1];
  of_w[1] = of_x[1] / conv_spec_of(node->op)->groups;
  DAMO_TRY(window_c_lengths(e, node, 2, of_w));
  for (int k = 0; k < WINDOW_AXES; k++) {
    if (conv_positions(e->ctx, node->op, k, of_x[2 + k], of_w[2 + k]) != of_y[2 + k])
      return ce_refuse(e, "lengths that do not belong together");
  }
  const c_value *w = window_c_out(e, node, of_w);
  return w != NULL ? conv_c(e, node->op, x, of_x, w, of_w, y, w) : e->status;
}

/* ---- Pooling ----------------------------------------------------------------------------------------------------- */

damo_status pool_emit_c(c_emit *e, const damo_apply *node) {
  const damo_op *op = node->op;
  const op_def *def = op->def;
  const pool_window *w = pool_window_of(op);
  const bool spreads = def == &max_pool_grad_def || def == &avg_pool_grad_def,
             at_maxima = node->n_in == 2 && def != &avg_pool_grad_def;
  const bool mean = def == &avg_pool_def || def == &avg_pool_grad_def;
  int64_t of_a[5], of_x[5], of_y[5];
  const c_value *a = window_c_value(e, ce_in(e, 0), of_a), *x = at_maxima ? window_c_value(e, ce_in(e, 1), of_x) : a;
  if (a == NULL || x == NULL) return e->status;
  if (!at_maxima) memcpy(of_x, of_a, sizeof of_x);
  if (def == &avg_pool_grad_def) DAMO_TRY(window_c_lengths(e, node, 1, of_x));
  of_y[0] = of_x[0], of_y[1] = of_x[1];
  for (int k = 0; k < WINDOW_AXES; k++) {
    const int64_t padded = of_x[2 + k] + w->pad[k][0] + w->pad[k][1];
    if (of_x[2 + k] <= 0 || padded < w->size[k]) return ce_refuse(e, "a window that is longer than its axis");
    of_y[2 + k] = (padded - w->size[k]) / w->stride[k] + 1;
  }
  for (int i = 0; i < 5; i++) {
    if (of_a[i] != (spreads ? of_y : of_x)[i]) return ce_refuse(e, "its operands' shapes do not agree");
  }
  const c_value *out = window_c_out(e, node, spreads ? of_x : of_y);
  if (out == NULL) return e->status;
  if (spreads) ce_fill(e, out, "0");
  if (ce_size(x) == 0 || ce_size(out) == 0) return e->status;
  const char *type = ce_type(out->dtype);
  const long long in = (long long)(of_x[2] * of_x[3] * of_x[4]);
  ce_for(e, "n", of_x[0] * of_x[1]);
  for (int k = 0; k < WINDOW_AXES; k++) {
    ce_for(e, ce_text(e, "o%d", k), of_y[2 + k]);
    ce_line(e, "const ptrdiff_t begin%d = o%d * %lld - %lld, end%d = begin%d + %lld;", k, k, (long long)w->stride[k],
            (long long)w->pad[k][0], k, k, (long long)w->size[k]);
    ce_line(e, "const ptrdiff_t from%d = begin%d < 0 ? 0 : begin%d, to%d = end%d > %lld ? %lld : end%d;", k, k, k, k, k,
            (long long)of_x[2 + k], (long long)of_x[2 + k], k);
  }
  ce_line(e, "const ptrdiff_t o = ((n * %lld + o0) * %lld + o1) * %lld + o2;", (long long)of_y[2], (long long)of_y[3],
          (long long)of_y[4]);
  if (mean) {
    ce_line(e, "const %s count = %s;", type,
            w->include_pad ? ce_text(e, "%lld", (long long)(w->size[0] * w->size[1] * w->size[2]))
                           : ce_text(e, "(%s)((to0 - from0) * (to1 - from1) * (to2 - from2))", type));
    if (spreads)
      ce_line(e, "const %s part = %s[o] / count;", type, ce_p(e, a));
    else
      ce_line(e, "%s sum = 0;", type);
  } else {
    ce_line(e, "ptrdiff_t best = (from0 * %lld + from1) * %lld + from2;", (long long)of_x[3], (long long)of_x[4]);
    ce_line(e, "const %s *const plane = %s + n * %lld;", type, ce_p(e, x), in);
  }
  for (int k = 0; k < WINDOW_AXES; k++) ce_open(e, "for (ptrdiff_t i%d = from%d; i%d < to%d; i%d++)", k, k, k, k, k);
  ce_line(e, "const ptrdiff_t i = (i0 * %lld + i1) * %lld + i2;", (long long)of_x[3], (long long)of_x[4]);
  if (mean && spreads)
    ce_line(e, "%s[n * %lld + i] += part;", ce_p(e, out), in);
  else if (mean)
    ce_line(e, "sum += %s[n * %lld + i];", ce_p(e, a), in);
  else
    ce_line(e, "if (plane[i] > plane[best] || (plane[i] != plane[i] && plane[best] == plane[best])) best = i;");
  for (int k = 0; k < WINDOW_AXES; k++) ce_close(e);
  if (mean && !spreads) ce_line(e, "%s[o] = sum / count;", ce_p(e, out));
  if (def == &max_pool_def) ce_line(e, "%s[o] = plane[best];", ce_p(e, out));
  if (def == &max_pool_at_def) ce_line(e, "%s[o] = %s[n * %lld + best];", ce_p(e, out), ce_p(e, a), in);
  if (def == &max_pool_grad_def) ce_line(e, "%s[n * %lld + best] += %s[o];", ce_p(e, out), in, ce_p(e, a));
  for (int k = 0; k <= WINDOW_AXES; k++) ce_close(e);
  return e->status;
}
