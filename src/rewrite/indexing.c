/* indexing.c: rules for reading and writing parts of arrays: reads of reads and of writes, writes over writes, writes
 * into zeros, reads moved before elementwise nodes, reductions and products, so that less is computed.
 *
 * A rule that drops an index keeps the error of a position outside: it asks that the index is certainly inside
 * (is_sound), or leaves another read or write with the same index.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/op.h"

#include <string.h>

/* ---- Specs ------------------------------------------------------------------------------------------------------- */

static const char *spec_text(const damo_op *op) { return OP_PROPS(op, index_props)->spec.u.s; }

bool index_read_items(const damo_apply *node, int first, spec_items *out) {
  out->n = 0;
  for (const char *p = spec_text(node->op); *p != '\0';) {
    if (out->n == MOST_ITEMS) return false;
    spec_item *it = &out->item[out->n++];
    *it = (spec_item){.kind = *p++};
    if (it->kind == 'i' || it->kind == 'l') it->at = node->in[first++];
    for (int k = 0; it->kind == 's' && k < 3; k++) {
      if (*p++ == '1') it->ends[k] = node->in[first++];
    }
  }
  return true;
}

damo_var *index_build_read(build *b, damo_var *x, const spec_items *s) {
  char text[4 * MOST_ITEMS + 1], *p = text;
  damo_var *in[1 + 3 * MOST_ITEMS] = {x};
  int n = 1;
  for (int i = 0; i < s->n; i++) {
    const spec_item *it = &s->item[i];
    *p++ = it->kind;
    if (it->kind == 'i') in[n++] = it->at;
    for (int k = 0; it->kind == 's' && k < 3; k++) {
      *p++ = it->ends[k] != NULL ? '1' : '0';
      if (it->ends[k] != NULL) in[n++] = it->ends[k];
    }
  }
  *p = '\0';
  if (x == NULL) return NULL;
  return build_op(b, op_new(b->ctx, &subtensor_def, &(index_props){.spec = prop_str(text)}), in, n);
}

static bool same_operand(const damo_var *u, const damo_var *v) {
  int64_t i, j;
  return u == v || (var_static_int(u, &i) && var_static_int(v, &j) && i == j);
}

/* Whether the two nodes have the same index, with operands from inputs `fu` and `fv` on. */
static bool same_index(const damo_apply *u, int fu, const damo_apply *v, int fv) {
  if (strcmp(spec_text(u->op), spec_text(v->op)) != 0 || u->n_in - fu != v->n_in - fv) return false;
  for (int i = 0; i < u->n_in - fu; i++) {
    if (!same_operand(u->in[fu + i], v->in[fv + i])) return false;
  }
  return true;
}

bool index_resolve_range(const spec_item *it, int64_t n, int64_t *first, int64_t *count, int64_t *step) {
  int64_t start, stop;
  *step = 1;
  if (n < 0 || (it->ends[2] != NULL && !var_static_int(it->ends[2], step)) || *step == 0) return false;
  start = *step > 0 ? 1 : n;
  stop = *step > 0 ? n : 1;
  if (it->ends[0] != NULL && !var_static_int(it->ends[0], &start)) return false;
  if (it->ends[1] != NULL && !var_static_int(it->ends[1], &stop)) return false;
  if (start < 0) start += n + 1;
  if (stop < 0) stop += n + 1;
  *first = *count = 0;
  if (*step > 0 ? stop < start : stop > start) return true;
  if (start < 1 || start > n || stop < 1 || stop > n) return false;
  *first = start - 1;
  *count = (stop - start) / *step + 1;
  return true;
}

/* A known position on an axis of known length, 0-based; false if it is not known, or outside. */
static bool resolve_position(const damo_var *at, int64_t n, int64_t *out) {
  int64_t p;
  if (n < 0 || !var_static_int(at, &p)) return false;
  *out = p < 0 ? p + n : p - 1;
  return p != 0 && *out >= 0 && *out < n;
}

/* Whether the item takes the whole axis of x, in order. */
static bool is_whole(const spec_item *it, const damo_var *x, int axis) {
  int64_t k;
  if (it->kind != 's') return false;
  if (it->ends[2] != NULL && !(var_static_int(it->ends[2], &k) && k == 1)) return false;
  if (it->ends[0] != NULL && !(var_static_int(it->ends[0], &k) && k == 1)) return false;
  const damo_var *stop = it->ends[1];
  return stop == NULL || (var_static_int(stop, &k) && k == -1) || match_length(stop, x, axis);
}

/* Whether the index takes all of x. */
static bool takes_all(const spec_items *s, const damo_var *x) {
  for (int i = 0, axis = 0; i < s->n; i++) {
    if (s->item[i].kind == 'e')
      axis = var_ndim(x) - (s->n - 1 - i);
    else if (axis >= var_ndim(x) || !is_whole(&s->item[i], x, axis++))
      return false;
  }
  return true;
}

/* Whether the index, of positions and ranges from the first axis on, is certainly inside x. */
static bool is_sound(const spec_items *s, const damo_var *x) {
  int64_t first, count, step;
  for (int i = 0; i < s->n; i++) {
    const spec_item *it = &s->item[i];
    if (i >= var_ndim(x) || (it->kind != 'i' && it->kind != 's')) return false;
    if (is_whole(it, x, i)) continue;
    const int64_t n = x->type->shape[i];
    if (it->kind == 'i' ? !resolve_position(it->at, n, &first) : !index_resolve_range(it, n, &first, &count, &step))
      return false;
  }
  return true;
}

static bool sets(const damo_apply *write) {
  return prop_bool_or(OP_PROPS(write->op, index_props)->set_instead_of_inc, false);
}

static bool in_place(const damo_apply *write) { return write->op->destroy_map != NULL; }

/* The write of v by positions and ranges (`lists`: or by lists), else NULL. */
static const damo_apply *match_write(const damo_var *v, bool lists) {
  const damo_apply *write = match_class(v, &incsubtensor_def);
  if (write == NULL && lists) write = match_class(v, &advincsubtensor_def);
  return write != NULL && !in_place(write) ? write : NULL;
}

/* The Op of a write with another value of `set`. */
static damo_op *write_op(build *b, const damo_apply *write, bool set) {
  const index_props p = {.spec = OP_PROPS(write->op, index_props)->spec,
                         .set_instead_of_inc = prop_bool(set),
                         .inplace = prop_bool(false)};
  return op_new(b->ctx, write->op->def, &p);
}

/* x with y set or added at the index of `like`, a node whose operands begin at input `first`. */
static damo_var *build_write(build *b, const damo_apply *like, bool set, damo_var *x, damo_var *y) {
  damo_var *in[2 + 3 * MOST_ITEMS] = {x, y};
  if (x == NULL || y == NULL || like->n_in > 2 + 3 * MOST_ITEMS) return NULL;
  for (int i = 2; i < like->n_in; i++) in[i] = like->in[i];
  return build_op(b, write_op(b, like, set), in, like->n_in);
}

/* ---- Reads ------------------------------------------------------------------------------------------------------- */

damo_var *index_position(build *b, int64_t zero_based) { return build_scalar(b, DAMO_INT64, (double)(zero_based + 1)); }

/* Whether the item takes the whole axis backwards. */
static bool is_reversal(const spec_item *it) {
  int64_t k;
  if (it->kind != 's' || it->ends[2] == NULL || !var_static_int(it->ends[2], &k) || k != -1) return false;
  if (it->ends[0] != NULL && !(var_static_int(it->ends[0], &k) && k == -1)) return false;
  return it->ends[1] == NULL || (var_static_int(it->ends[1], &k) && k == 1);
}

/* Ranges of an axis of unknown length that only leave out the first `start` - 1 and the last `stop` - 1 positions. */
static bool read_ends(const spec_item *it, int64_t *start, int64_t *stop) {
  *start = *stop = 1;
  if (it->kind != 's' || it->ends[2] != NULL) return false;
  if (it->ends[0] != NULL && !(var_static_int(it->ends[0], start) && *start >= 1)) return false;
  if (it->ends[1] == NULL) return true;
  if (!var_static_int(it->ends[1], stop) || *stop > -1) return false;
  *stop = -*stop;
  return true;
}

/* x[{2}][{2, -2}] → x[{3, -2}]: what leaves out both. */
static bool join_ends(build *b, const spec_item *inner, const spec_item *outer, spec_item *out) {
  int64_t start, stop, more, last;
  if (!read_ends(inner, &start, &stop) || !read_ends(outer, &more, &last)) return false;
  start += more - 1;
  stop += last - 1;
  *out = (spec_item){.kind = 's'};
  if (start > 1) out->ends[0] = build_scalar(b, DAMO_INT64, (double)start);
  if (stop > 1) out->ends[1] = build_scalar(b, DAMO_INT64, (double)-stop);
  return true;
}

/* *out: the item that takes `outer` of what `inner` takes of axis `axis` of x; false: not known. */
static bool compose(build *b, const spec_item *inner, const spec_item *outer, const damo_var *x, int axis,
                    spec_item *out) {
  int64_t n = x->type->shape[axis], first, count, step, first2, count2, step2, p, start;
  *out = *inner;
  if (is_whole(inner, x, axis)) {
    *out = *outer;
    return true;
  }
  if (outer->kind == 's' && outer->ends[0] == NULL && outer->ends[1] == NULL && outer->ends[2] == NULL) return true;
  if (index_resolve_range(inner, n, &first, &count, &step)) {
    if (outer->kind == 'i') {
      if (!resolve_position(outer->at, count, &p)) return false;
      *out = (spec_item){.kind = 'i', .at = index_position(b, first + p * step)};
      return true;
    }
    if (!index_resolve_range(outer, count, &first2, &count2, &step2) || count2 == 0) return false;
    const int64_t from = first + first2 * step, by = step * step2;
    *out = (spec_item){.kind = 's',
                       .ends = {index_position(b, from), index_position(b, from + (count2 - 1) * by),
                                by == 1 ? NULL : build_scalar(b, DAMO_INT64, (double)by)}};
    return true;
  }
  if (is_reversal(inner)) {
    if (is_reversal(outer)) *out = (spec_item){.kind = 's'};
    if (is_reversal(outer)) return true;
    if (outer->kind != 'i' || !var_static_int(outer->at, &p) || p == 0) return false;
    *out = (spec_item){.kind = 'i', .at = build_scalar(b, DAMO_INT64, (double)-p)};
    return true;
  }
  if (join_ends(b, inner, outer, out)) return true;
  /* of an axis of unknown length: from a known start on */
  if (inner->ends[0] == NULL || inner->ends[1] != NULL || inner->ends[2] != NULL) return false;
  if (!var_static_int(inner->ends[0], &start) || start < 1) return false;
  if (outer->kind == 'i' && var_static_int(outer->at, &p) && p > 0) {
    *out = (spec_item){.kind = 'i', .at = index_position(b, start + p - 2)};
    return true;
  }
  return false;
}

bool index_is_plain(const spec_items *s) {
  for (int i = 0; i < s->n; i++) {
    if (s->item[i].kind != 'i' && s->item[i].kind != 's') return false;
  }
  return true;
}

/* x[whole] → x; x[i][j] → one read */
static damo_status join_reads(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  spec_items outer, inner, out = {.n = 0};
  damo_var *x = node->in[0];
  if (!index_read_items(node, 1, &outer)) return DAMO_OK;
  if (takes_all(&outer, x)) return rule_give(b, repl, did, x);
  const damo_apply *below = match_class(x, &subtensor_def);
  if (below == NULL || !index_read_items(below, 1, &inner) || !index_is_plain(&outer) || !index_is_plain(&inner))
    return DAMO_OK;
  x = below->in[0];
  int next = 0;
  for (int axis = 0; axis < var_ndim(x) && (axis < inner.n || next < outer.n); axis++) {
    const spec_item whole = {.kind = 's'}, *in = axis < inner.n ? &inner.item[axis] : &whole;
    spec_item *now = &out.item[out.n++];
    if (in->kind == 'i') {
      *now = *in;
      continue;
    }
    const spec_item *of = next < outer.n ? &outer.item[next] : &whole;
    next++;
    if (!compose(b, in, of, x, axis, now)) return b->status;
  }
  return rule_give(b, repl, did, index_build_read(b, x, &out));
}

/* set(x, i, y)[i] → y; inc(x, i, y)[i] → x[i] + y; set(x, 1, y)[2] → x[2] */
static damo_status read_of_write(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *write = match_write(node->in[0], false);
  spec_items s;
  if (write == NULL) return DAMO_OK;
  damo_var *x = write->in[0], *y = write->in[1], *out = node->out[0];
  if (!same_index(node, 1, write, 2)) {
    int64_t i, j;
    if (!index_read_items(write, 2, &s) || strcmp(spec_text(node->op), "i") != 0 ||
        strcmp(spec_text(write->op), "i") != 0)
      return DAMO_OK;
    if (!resolve_position(write->in[2], x->type->shape[0], &i) || !resolve_position(node->in[1], x->type->shape[0], &j))
      return DAMO_OK;
    if (i == j || !(var_ndim(y) == 0 || type_same_known_shape(y->type, out->type))) return DAMO_OK;
    return rule_give(b, repl, did, build_op(b, damo_retain(node->op), (damo_var *[]){x, node->in[1]}, 2));
  }
  if (!sets(write)) {
    damo_var *in[1 + 3 * MOST_ITEMS] = {x};
    if (node->n_in > 1 + 3 * MOST_ITEMS) return DAMO_OK;
    for (int i = 1; i < node->n_in; i++) in[i] = node->in[i];
    damo_var *part = build_op(b, damo_retain(node->op), in, node->n_in);
    return rule_give(b, repl, did, part != NULL ? build_add(b, part, y) : NULL);
  }
  if (!index_read_items(write, 2, &s) || !is_sound(&s, x)) return DAMO_OK;
  const bool same = var_ndim(y) == var_ndim(out) && (var_ndim(y) == 0 || type_same_known_shape(y->type, out->type));
  return rule_give(b, repl, did, same ? y : NULL);
}

/* Whether the index takes all entries of x, some axes backwards: nothing is saved by reading before computing. */
static bool takes_each(const damo_apply *read) {
  spec_items s;
  if (!index_read_items(read, 1, &s)) return false;
  for (int i = 0; i < s.n; i++) {
    if (i >= var_ndim(read->in[0]) || !(is_reversal(&s.item[i]) || is_whole(&s.item[i], read->in[0], i))) return false;
  }
  return true;
}

/* The axis of operand x that is axis `axis` of a result of rank ndim; negative: x lacks it. */
static int axis_of_operand(const damo_var *x, int ndim, int axis) { return axis - (ndim - var_ndim(x)); }

/* Whether operand i of f broadcasts along that axis of its result. */
static bool is_stretched(const damo_apply *f, int i, int axis) {
  const int k = axis_of_operand(f->in[i], var_ndim(f->out[0]), axis);
  return k < 0 || (type_dim_is_one(f->in[i]->type, k) && !type_dim_is_one(f->out[0]->type, axis));
}

/* Whether the operands of f that do not broadcast along the axis certainly have one length there, so that a part of each
 * is as sure to fit as the whole. */
static bool has_one_length(const damo_apply *f, int axis) {
  int first = -1;
  for (int i = 0; i < f->n_in; i++) {
    if (is_stretched(f, i, axis)) continue;
    const int ndim = var_ndim(f->out[0]), k = axis_of_operand(f->in[i], ndim, axis);
    if (first >= 0 && !match_same_length(f->in[first], axis_of_operand(f->in[first], ndim, axis), f->in[i], k))
      return false;
    if (first < 0) first = i;
  }
  return first >= 0;
}

/* The part of operand i of f that its part s of the result is made of. */
static damo_var *part_of_operand(build *b, const damo_apply *f, int i, const spec_items *s) {
  spec_items own = {.n = 0};
  bool all = true;
  for (int axis = 0; axis < s->n; axis++) {
    const spec_item *it = &s->item[axis];
    if (axis_of_operand(f->in[i], var_ndim(f->out[0]), axis) < 0) continue;
    spec_item *now = &own.item[own.n++];
    *now = *it;
    if (is_stretched(f, i, axis))
      *now = it->kind == 'i' ? (spec_item){.kind = 'i', .at = index_position(b, 0)} : (spec_item){.kind = 's'};
    all = all && is_whole(now, f->in[i], own.n - 1);
  }
  return all ? f->in[i] : index_build_read(b, f->in[i], &own);
}

/* f(x, y)[i] → f(x[i], y[i]), where nobody else reads f(x, y); an operand that broadcasts along an axis is read as it
 * is. */
static damo_status read_operands(build *b, const damo_fgraph *fg, const damo_apply *node, damo_var **repl, bool *did) {
  damo_var *v = node->in[0], *in[8];
  const damo_apply *f = match_class(v, &elemwise_def);
  spec_items s;
  if (f == NULL || f->n_in > 8 || f->op->destroy_map != NULL || !match_single_use(fg, v)) return DAMO_OK;
  if (!index_read_items(node, 1, &s) || !index_is_plain(&s) || s.n > var_ndim(v)) return DAMO_OK;
  for (int axis = 0; axis < s.n; axis++) {
    if (!is_whole(&s.item[axis], v, axis) && !has_one_length(f, axis)) return DAMO_OK;
  }
  for (int i = 0; i < f->n_in; i++) in[i] = part_of_operand(b, f, i, &s);
  return rule_give(b, repl, did, b->status == DAMO_OK ? build_op(b, damo_retain(f->op), in, f->n_in) : NULL);
}

static damo_status read_of_elemwise(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  return takes_each(node) ? DAMO_OK : read_operands(b, fg, node, repl, did);
}

/* The same of all entries backwards, where elementwise nodes alone read them: then one Loop computes them and f. */
static damo_status reverse_operands(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  if (!match_is_read_by_elemwise(fg, node->out[0]) || !takes_each(node)) return DAMO_OK;
  return read_operands(b, fg, node, repl, did);
}

/* softmax(x)[i] → softmax(x[i]) of rows: the index leaves the axis whole. */
static damo_status read_of_softmax(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  static const op_def *const classes[] = {&softmax_def, &log_softmax_def, NULL};
  const damo_apply *softmax = match_class_of(node->in[0], classes);
  spec_items s;
  if (softmax == NULL || !match_single_use(fg, node->in[0]) || takes_each(node)) return DAMO_OK;
  const prop_value *prop = &OP_PROPS(softmax->op, softmax_props)->axis;
  if (prop->kind != PROP_INT || !index_read_items(node, 1, &s) || !index_is_plain(&s)) return DAMO_OK;
  int axis = (int)prop->u.i - 1, now = axis;
  if (axis < s.n && !is_whole(&s.item[axis], node->in[0], axis)) return DAMO_OK;
  for (int k = 0; k < s.n && k < axis; k++) now -= s.item[k].kind == 'i';
  damo_var *x = index_build_read(b, softmax->in[0], &s);
  return rule_give(b, repl, did, x != NULL ? build_softmax_of(b, softmax->op->def, x, now) : NULL);
}

/* x.T[i] → x[{all, i}], a new axis read at its only place is not there: the DimShuffle goes over the read, or away. */
static damo_status read_of_dimshuffle(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *v = node->in[0];
  const damo_apply *moved = match_class(v, &dimshuffle_def);
  spec_items s, own = {.n = 0};
  int pattern[DAMO_MAX_NDIM], n = 0, gone_before[DAMO_MAX_NDIM] = {0};
  int64_t p;
  if (moved == NULL || !index_read_items(node, 1, &s) || !index_is_plain(&s) || takes_each(node)) return DAMO_OK;
  damo_var *x = moved->in[0];
  const prop_value *order = OP_PROPS(moved->op, dimshuffle_props)->new_order.u.list;
  own.n = var_ndim(x);
  for (int k = 0; k < own.n; k++) own.item[k] = (spec_item){.kind = 's'};
  for (int axis = 0; axis < s.n; axis++) {
    if (order[axis].kind == PROP_INT) {
      own.item[order[axis].u.i - 1] = s.item[axis];
    } else if (s.item[axis].kind == 'i') {
      if (!var_static_int(s.item[axis].at, &p) || (p != 1 && p != -1)) return DAMO_OK;
    } else if (!is_whole(&s.item[axis], v, axis)) {
      return DAMO_OK;
    }
  }
  for (int k = 0, gone = 0; k < own.n; k++) {
    gone_before[k] = gone;
    gone += own.item[k].kind == 'i';
  }
  for (int axis = 0; axis < var_ndim(v); axis++) {
    if (axis < s.n && s.item[axis].kind == 'i') continue;
    const int from = order[axis].kind == PROP_INT ? (int)order[axis].u.i - 1 : -1;
    pattern[n++] = from < 0 ? -1 : from - gone_before[from];
  }
  while (own.n > 0 && is_whole(&own.item[own.n - 1], x, own.n - 1)) own.n--;
  damo_var *part = own.n > 0 ? index_build_read(b, x, &own) : x;
  return rule_give(b, repl, did, part != NULL ? build_dimshuffle(b, part, pattern, n) : NULL);
}

/* sum(x, axis)[i] → sum(x[i, with the axis whole], axis), any reduction. */
static damo_status read_of_reduction(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const damo_apply *reduce = match_class(node->in[0], &reduce_def);
  spec_items s, out = {.n = 0};
  if (reduce == NULL || !match_single_use(fg, node->in[0]) ||
      prop_bool_or(OP_PROPS(reduce->op, reduce_props)->keepdims, false))
    return DAMO_OK;
  if (!index_read_items(node, 1, &s) || !index_is_plain(&s)) return DAMO_OK;
  damo_var *x = reduce->in[0];
  const int ndim = var_ndim(x);
  const uint32_t mask = reduce_op_axes(reduce->op, ndim);
  int axes[DAMO_MAX_NDIM], n_axes = 0, next = 0, gone = 0;
  for (int k = 0; k < ndim; k++) {
    const bool reduced = mask >> k & 1;
    if (reduced) axes[n_axes++] = k - gone;
    const bool more = !reduced && next < s.n;
    out.item[out.n++] = more ? s.item[next++] : (spec_item){.kind = 's'};
    if (more && out.item[out.n - 1].kind == 'i') gone++;
  }
  damo_var *part = index_build_read(b, x, &out);
  return rule_give(b, repl, did,
                   part != NULL ? build_reduce(b, reduce_op_kind(reduce->op), part, axes, n_axes, false) : NULL);
}

/* (x·y)[{i, j}] → x[i]·y[{all, j}] for a part of the rows and columns. */
static damo_status read_of_dot(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const damo_apply *dot = match_class(node->in[0], &dot_def);
  spec_items s;
  if (dot == NULL || !match_single_use(fg, node->in[0]) || takes_each(node)) return DAMO_OK;
  damo_var *x = dot->in[0], *y = dot->in[1];
  if (!index_read_items(node, 1, &s) || s.n < 1 || s.n > var_ndim(node->in[0]) || !index_is_plain(&s)) return DAMO_OK;
  const int rows = var_ndim(x) == 2 ? 0 : -1, cols = var_ndim(y) == 2 ? rows + 1 : -1;
  if (rows == 0 && !is_whole(&s.item[0], node->in[0], 0))
    x = index_build_read(b, x, &(spec_items){.item = {s.item[0]}, .n = 1});
  if (cols >= 0 && cols < s.n && !is_whole(&s.item[cols], node->in[0], cols))
    y = index_build_read(b, y, &(spec_items){.item = {{.kind = 's'}, s.item[cols]}, .n = 2});
  return rule_give(b, repl, did, x != NULL && y != NULL ? build_dot(b, x, y) : NULL);
}

/* A part of a repeated value → the value, repeated as often as the part has entries. */
static damo_status read_of_fill(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *value = match_fill(node->in[0]), *out = node->out[0], *dims[DAMO_MAX_NDIM];
  spec_items s;
  if (value == NULL || var_ndim(value) != 0 || !index_read_items(node, 1, &s) || !is_sound(&s, node->in[0]))
    return DAMO_OK;
  if (var_ndim(out) == 0) return rule_give(b, repl, did, value);
  for (int k = 0; k < var_ndim(out); k++) {
    if (out->type->shape[k] < 0) return DAMO_OK;
    dims[k] = build_scalar(b, DAMO_INT64, (double)out->type->shape[k]);
  }
  return rule_give(b, repl, did, build_alloc(b, value, dims, var_ndim(out)));
}

/* A range of a vector of lengths, x.shape[{1, 2}] → the vector of those. */
static damo_status range_of_lengths(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *vector = match_class(node->in[0], &makevector_def);
  damo_var *in[DAMO_MAX_NDIM];
  spec_items s;
  int64_t first, count, step;
  if (vector == NULL || vector->n_in > DAMO_MAX_NDIM || !index_read_items(node, 1, &s) || s.n != 1 ||
      s.item[0].kind != 's')
    return DAMO_OK;
  if (!index_resolve_range(&s.item[0], vector->n_in, &first, &count, &step) || count == 0) return DAMO_OK;
  for (int64_t i = 0; i < count; i++) in[i] = vector->in[first + i * step];
  return rule_give(b, repl, did, build_vector(b, in, (int)count));
}

/* x[{idx{2, 4, 6}}] → x[{{2, 6, 2}}]: positions in even steps are a range, and a range is a view. */
static damo_status list_as_range(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  spec_items s;
  if (!index_read_items(node, 1, &s) || s.n < 1 || s.item[0].kind != 'l') return DAMO_OK;
  for (int i = 1; i < s.n; i++) {
    const spec_item *it = &s.item[i];
    if (it->kind != 's' || it->ends[0] != NULL || it->ends[1] != NULL || it->ends[2] != NULL) return DAMO_OK;
  }
  const damo_array *a = var_constant_array(s.item[0].at);
  const int64_t n = a != NULL && a->ndim == 1 ? array_size(a) : 0;
  if (n < 1 || n > 4096 || !dtype_is_integer(array_dtype(a))) return DAMO_OK;
  const int64_t first = scalar_to_int64(array_get(a, &(int64_t){0})),
                last = scalar_to_int64(array_get(a, &(int64_t){n - 1}));
  const int64_t step = n > 1 ? scalar_to_int64(array_get(a, &(int64_t){1})) - first : 1;
  if (step == 0 || first == 0 || (first > 0) != (last > 0) || last == 0) return DAMO_OK;
  for (int64_t i = 0; i < n; i++) {
    if (scalar_to_int64(array_get(a, &i)) != first + i * step) return DAMO_OK;
  }
  const spec_items range = {
      .item = {{.kind = 's',
                .ends = {build_scalar(b, DAMO_INT64, (double)first), build_scalar(b, DAMO_INT64, (double)last),
                         step == 1 ? NULL : build_scalar(b, DAMO_INT64, (double)step)}}},
      .n = 1};
  return rule_give(b, repl, did, index_build_read(b, node->in[0], &range));
}

/* ---- Writes ------------------------------------------------------------------------------------------------------ */

/* set(x, whole, y) → y in x's shape; inc(x, whole, y) → x + y; set(x, i, x[i]) → x; set(x, i, x[i] + y) → inc(x, i, y) */
static damo_status useless_write(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *x = node->in[0], *y = node->in[1];
  spec_items s;
  if (in_place(node) || !index_read_items(node, 2, &s)) return DAMO_OK;
  if (takes_all(&s, x)) return rule_give(b, repl, did, sets(node) ? build_second(b, x, y) : build_add(b, x, y));
  if (!sets(node)) return DAMO_OK;
  const damo_apply *read = match_class(y, &subtensor_def);
  if (read != NULL && read->in[0] == x && same_index(read, 1, node, 2))
    return rule_give(b, repl, did, is_sound(&s, x) ? x : NULL);
  const damo_apply *sum = match_scalar(y, SCALAR_add);
  for (int i = 0; sum != NULL && match_single_use(fg, y) && i < 2; i++) {
    read = match_class(sum->in[i], &subtensor_def);
    if (read == NULL || read->in[0] != x || !same_index(read, 1, node, 2) || var_dtype(sum->in[1 - i]) != var_dtype(x))
      continue;
    if (!match_fits(sum, i)) continue;
    return rule_give(b, repl, did, build_write(b, node, false, x, sum->in[1 - i]));
  }
  return DAMO_OK;
}

/* set(set(x, i, y), i, z) → set(x, i, z), by lists too; inc(set(x, i, y), i, z) → set(x, i, y + z) */
static damo_status write_over_set(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const damo_apply *below = match_write(node->in[0], true);
  if (in_place(node) || below == NULL || !match_single_use(fg, node->in[0]) || below->op->def != node->op->def ||
      !same_index(node, 2, below, 2))
    return DAMO_OK;
  damo_var *x = below->in[0], *y = below->in[1], *z = node->in[1];
  if (sets(node)) {
    const bool fits = var_ndim(y) == 0 || (var_ndim(y) == var_ndim(z) && match_same_shape(y, z));
    return rule_give(b, repl, did, fits ? build_write(b, node, true, x, z) : NULL);
  }
  const bool by_places = node->op->def == &incsubtensor_def; /* a list may name a place twice */
  return rule_give(b, repl, did, by_places && sets(below) ? build_write(b, node, true, x, build_add(b, y, z)) : NULL);
}

/* inc(inc(x, i, y), i, z) → inc(x, i, y + z); lists too, which may name a position twice */
static damo_status inc_over_inc(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const damo_apply *below = match_write(node->in[0], true);
  if (in_place(node) || below == NULL || sets(node) || sets(below) || below->op->def != node->op->def) return DAMO_OK;
  if (!match_single_use(fg, node->in[0]) || !same_index(node, 2, below, 2)) return DAMO_OK;
  return rule_give(b, repl, did, build_write(b, node, false, below->in[0], build_add(b, below->in[1], node->in[1])));
}

/* inc(x, i, 0) → x; inc(zeros, i, y) → set(zeros, i, y), by positions and ranges */
static damo_status inc_of_zeros(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  spec_items s;
  if (in_place(node) || sets(node)) return DAMO_OK;
  if (var_ndim(node->in[1]) == 0 && match_constant(node->in[1], 0))
    return rule_give(b, repl, did, index_read_items(node, 2, &s) && is_sound(&s, node->in[0]) ? node->in[0] : NULL);
  return rule_give(b, repl, did,
                   match_constant(node->in[0], 0) ? build_write(b, node, true, node->in[0], node->in[1]) : NULL);
}

/* Whether x has the shape of the zeros. */
static bool has_shape_of_zeros(const damo_var *x, const damo_var *zeros) {
  return match_fill(zeros) != NULL ? var_ndim(x) == var_ndim(zeros) && match_fill_shape(x, zeros)
                                   : type_same_known_shape(x->type, zeros->type);
}

#define MOST_WRITES 64 /* that are looked through */

/* The writes of the chain v that begins with zeros, the last one first, each read by the next alone; 0: it is none. */
static int chain_of_writes(const damo_fgraph *fg, const damo_var *v, const damo_apply **chain) {
  int n = 0;
  for (; n < MOST_WRITES && (chain[n] = match_write(v, true)) != NULL && match_single_use(fg, v); n++) {
    v = chain[n]->in[0];
    if (match_constant(v, 0)) return n + 1;
    if (sets(chain[n])) return 0;
  }
  return 0;
}

/* (u + a) + z → u + b, where a and z are writes to zeros of one shape, one after the other, u's shape is not known, and b
 * has the writes of both. NULL: x + v is no such sum. */
static damo_var *add_to_written(build *b, const damo_fgraph *fg, damo_var *x, const damo_var *v) {
  const damo_apply *sum = match_scalar(x, SCALAR_add), *chain[MOST_WRITES], *other[MOST_WRITES];
  const int n = sum != NULL && sum->n_in == 2 && match_single_use(fg, x) ? chain_of_writes(fg, v, chain) : 0;
  for (int i = 0; n > 0 && i < 2; i++) {
    damo_var *to = sum->in[i];
    const int m = var_dtype(to) == var_dtype(v) ? chain_of_writes(fg, to, other) : 0;
    if (m == 0 || m + n > MOST_WRITES || !has_shape_of_zeros(other[m - 1]->in[0], chain[n - 1]->in[0])) continue;
    for (int k = n - 1; k >= 0; k--) to = build_write(b, chain[k], false, to, chain[k]->in[1]);
    return build_add(b, sum->in[1 - i], to);
  }
  return NULL;
}

/* x + inc(zeros, i, y) → inc(x, i, y), as sums of gradients of parts have it; x + inc(z, i, y) → inc(x + z, i, y), so that
 * such sums are added first and written to last. */
static damo_status add_of_write(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  for (int i = 1; i >= 0; i--) {
    damo_var *v = node->in[i], *x = node->in[1 - i];
    const damo_apply *write = match_write(v, true);
    if (write == NULL || !match_single_use(fg, v) || var_dtype(x) != var_dtype(v) ||
        var_dtype(v) != var_dtype(node->out[0]))
      continue;
    damo_var *z = write->in[0];
    const bool zeros = match_constant(z, 0), single = match_single_entry(x) && var_ndim(x) <= var_ndim(v);
    if (sets(write) && (write->op->def != &incsubtensor_def || !zeros)) continue;
    if (!single && !(zeros ? has_shape_of_zeros(x, z) : var_ndim(x) == var_ndim(z) && match_same_shape(x, z))) {
      damo_var *sum = add_to_written(b, fg, x, v);
      if (sum == NULL) continue;
      return rule_give(b, repl, did, sum);
    }
    if (!zeros) {
      x = build_add(b, x, z);
    } else if (single) {
      x = build_second(b, z, x);
    }
    return rule_give(b, repl, did, build_write(b, write, false, x, write->in[1]));
  }
  return DAMO_OK;
}

#define RULE(rule_name, extra, fn, ...) \
  { .name = rule_name, .phase = PHASE_CANONICALIZE, .tags = "fast_run canonicalize" extra, .local = fn, __VA_ARGS__ }

const rewrite_rule indexing_rules[] = {
    RULE("join_reads", "", join_reads, TRACKS(&subtensor_def)),
    RULE("read_of_write", "", read_of_write, TRACKS(&subtensor_def)),
    RULE("read_of_elemwise", "", read_of_elemwise, TRACKS(&subtensor_def), .sinks = true),
    RULE("read_of_softmax", "", read_of_softmax, TRACKS(&subtensor_def)),
    RULE("read_of_dimshuffle", "", read_of_dimshuffle, TRACKS(&subtensor_def)),
    RULE("read_of_reduction", "", read_of_reduction, TRACKS(&subtensor_def)),
    RULE("read_of_fill", "", read_of_fill, TRACKS(&subtensor_def)),
    RULE("list_as_range", "", list_as_range, TRACKS(&advsubtensor_def)),
    RULE("range_of_lengths", "", range_of_lengths, TRACKS(&subtensor_def)),
    RULE("read_of_dot", " inexact", read_of_dot, TRACKS(&subtensor_def)),
    RULE("useless_write", "", useless_write, TRACKS(&incsubtensor_def)),
    RULE("write_over_set", "", write_over_set, TRACKS(&incsubtensor_def, &advincsubtensor_def)),
    RULE("inc_over_inc", " inexact", inc_over_inc, TRACKS(&incsubtensor_def, &advincsubtensor_def)),
    RULE("inc_of_zeros", " inexact", inc_of_zeros, TRACKS(&incsubtensor_def)),
    RULE("add_of_write", " inexact", add_of_write, ELEMWISE(SCALAR_add)),
    {.name = "reverse_operands",
     .phase = PHASE_FUSE,
     .tags = "fast_run fuse fusion",
     .local = reverse_operands,
     TRACKS(&subtensor_def),
     .sinks = true},
    {.name = NULL},
};

#undef RULE
