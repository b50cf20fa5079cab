/* nary.c: one form for products and sums of any number of operands.
 *
 * A tree of products, signs and divisions by constants is read as a list of factors and written back: constants as one,
 * equal factors as a power, exponentials as one, the others in one order, those of fewer axes first, so that scalars are
 * multiplied before arrays are. Other quotients stay where they are, since x·y may overflow where x/z·y does not. A tree
 * of sums and differences becomes terms with coefficients: constants as one, equal terms as one. A sum of three or more
 * terms is put into order too; one with differences is not, since compensated summation relies on their order.
 *
 * Equal terms with coefficients of opposite sign, and equal factors above and below a line, are joined only where the
 * operand is certainly finite and nonzero in exact arithmetic. A tree with a constant that is 0, infinite or so large or
 * small that another order could overflow stays as it is.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/linalg/decompose.h"
#include "op/op.h"

#include <math.h>
#include <string.h>

static bool is_number(const damo_var *v) {
  return type_is_tensor(v->type) && var_dtype(v) != DAMO_BOOL && !dtype_is_complex(var_dtype(v));
}

static bool is_floating(const damo_var *v) { return type_is_tensor(v->type) && dtype_is_float(var_dtype(v)); }

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* Where an operand stands: by its number of axes that are not of length 1, then constants, leaves, nodes of the user's
 * graph, these by age (origin), and nodes that rules have made, by a hash of their Ops and of the Types of their leaves
 * down to a depth, and where these are alike by the ages of their leaves. None of it depends on the order in which rules
 * have made the nodes, nor on what the context has made before the graph: ids are compared, never hashed. */
typedef struct place {
  int axes, kind;
  uint64_t key;
  const damo_var *v;
} place;

#define PLACE_DEPTH 3

/* Lists of a property hold no lists. */
static uint64_t prop_key(uint64_t h, const prop_value *p) {
  h = hash_mix(h, (uint64_t)p->kind);
  if (p->kind == PROP_LIST) {
    for (int i = 0; i < p->n; i++) h = prop_key(h, &p->u.list[i]);
    return h;
  }
  if (p->kind == PROP_STR) return hash_bytes(h, p->u.s, strlen(p->u.s));
  return p->kind == PROP_BOOL || p->kind == PROP_INT || p->kind == PROP_NUM ? hash_mix(h, (uint64_t)p->u.i) : h;
}

/* Recursion ends at PLACE_DEPTH, whatever the graph. */
static uint64_t place_key(const damo_var *v, int depth) {
  const damo_array *a = var_constant_array(v);
  if (a != NULL && array_is_contiguous(a)) {
    const size_t bytes = (size_t)array_size(a) * dtype_size(array_dtype(a));
    return hash_bytes(3, a->data, bytes < 64 ? bytes : 64);
  }
  if (v->owner == NULL) return hash_mix(11, (uint64_t)var_ndim(v) << 8 | (uint64_t)var_dtype(v));
  const damo_op *op = v->owner->op;
  uint64_t h = hash_mix(hash_bytes(5, op->def->name, strlen(op->def->name)), (uint64_t)v->index);
  for (int i = 0; i < op->n_props; i++) h = hash_mix(h, prop_key(h, &op->props[i]));
  uint64_t sum = 0; /* in any order of the inputs, as products and sums have them in any order */
  for (int i = 0; depth > 1 && i < v->owner->n_in && i < 8; i++)
    sum += hash_mix(7, place_key(v->owner->in[i], depth - 1));
  return hash_mix(h, sum);
}

static place operand_order(const damo_var *v) {
  place p = {.kind = 2, .key = v->origin, .v = v};
  if (v->kind == VAR_CONSTANT) {
    p.kind = 0;
    p.key = place_key(v, 1);
  } else if (v->owner == NULL) {
    p.kind = 1;
    p.key = v->id;
  } else if (v->origin == 0) {
    p.kind = 3;
    p.key = place_key(v, PLACE_DEPTH);
  }
  for (int d = 0; d < var_ndim(v); d++) p.axes += !type_dim_is_one(v->type, d);
  return p;
}

#define PLACE_LEAVES 16

/* Adds the ids of the leaves above v that are no constants, ascending, to the n in ids; the new n, at most PLACE_LEAVES. */
static int leaf_ids(const damo_var *v, int depth, uint64_t *ids, int n) {
  if (v->kind == VAR_CONSTANT || n == PLACE_LEAVES) return n;
  if (v->owner == NULL) {
    int k = n;
    for (; k > 0 && ids[k - 1] > v->id; k--) ids[k] = ids[k - 1];
    ids[k] = v->id;
    return n + 1;
  }
  for (int i = 0; depth > 1 && i < v->owner->n_in && i < 8; i++) n = leaf_ids(v->owner->in[i], depth - 1, ids, n);
  return n;
}

/* Of two nodes whose hashes are equal: the one with the older leaves; where these are the same, the older one, since
 * a form would otherwise not be the only one. */
static bool leaves_before(const damo_var *u, const damo_var *v) {
  uint64_t x[PLACE_LEAVES], y[PLACE_LEAVES];
  const int nx = leaf_ids(u, PLACE_DEPTH, x, 0), ny = leaf_ids(v, PLACE_DEPTH, y, 0);
  for (int k = 0; k < nx && k < ny; k++) {
    if (x[k] != y[k]) return x[k] < y[k];
  }
  return nx != ny ? nx < ny : u->id < v->id;
}

static bool place_before(const place *a, const place *b) {
  if (a->axes != b->axes) return a->axes < b->axes;
  if (a->kind != b->kind) return a->kind < b->kind;
  if (a->key != b->key) return a->key < b->key;
  return a->kind == 3 ? leaves_before(a->v, b->v) : a->v->id < b->v->id;
}

bool operand_before(const damo_var *u, const damo_var *v) {
  const place x = operand_order(u), y = operand_order(v);
  return place_before(&x, &y);
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

/* A coefficient: exact modulo 2^64 for integers. */
typedef struct coefficient {
  double f;
  int64_t i;
} coefficient;

/* Whether v is a constant with one entry, for a float far from overflow and underflow (or 0 if `zero`). */
static bool read_coefficient(const damo_var *v, bool zero, coefficient *c) {
  const damo_array *a = var_constant_array(v);
  if (a == NULL || array_size(a) != 1 || !is_number(v)) return false;
  const scalar s = array_get(a, (const int64_t[DAMO_MAX_NDIM]){0});
  *c = (coefficient){scalar_to_double(s), dtype_is_discrete(var_dtype(v)) ? scalar_to_int64(s) : 0};
  if (dtype_is_discrete(var_dtype(v))) return true;
  const double most = var_dtype(v) == DAMO_FLOAT32 ? 0x1p60 : 0x1p500, size = fabs(c->f);
  return size <= most && (size >= 1 / most || (zero && size == 0));
}

static damo_var *build_coefficient(build *b, damo_dtype dtype, coefficient c) {
  if (!dtype_is_discrete(dtype)) return build_scalar(b, dtype, c.f);
  return build_value(
      b, (damo_obj *)array_from_scalar(b->ctx, scalar_cast((scalar){.dtype = DAMO_INT64, .v.i = c.i}, dtype)));
}

static bool is_coefficient(coefficient c, damo_dtype dtype, int value) {
  return dtype_is_discrete(dtype) ? c.i == value : c.f == value;
}

static coefficient times(coefficient x, coefficient y) {
  return (coefficient){x.f * y.f, (int64_t)((uint64_t)x.i * (uint64_t)y.i)};
}

static coefficient plus(coefficient x, coefficient y) {
  return (coefficient){x.f + y.f, (int64_t)((uint64_t)x.i + (uint64_t)y.i)};
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

void factor_list_remove(factor_list *p, int k) {
  p->n--;
  p->at[k] = p->at[p->n];
  p->below[k] = p->below[p->n];
}

/* Insertion sort: those above come first. Stable, so equal places keep their order. */
static void factor_list_sort(factor_list *p) {
  place places[FACTOR_LIST_MAX];
  for (int k = 0; k < p->n; k++) {
    damo_var *v = p->at[k];
    const bool below = p->below[k];
    const place at = operand_order(v);
    int i = k;
    for (; i > 0; i--) {
      const bool before = below != p->below[i - 1] ? !below : place_before(&at, &places[i - 1]);
      if (!before) break;
      p->at[i] = p->at[i - 1];
      p->below[i] = p->below[i - 1];
      places[i] = places[i - 1];
    }
    p->at[i] = v;
    p->below[i] = below;
    places[i] = at;
  }
}

static bool opens_product(const damo_var *v) {
  if (match_scalar(v, SCALAR_mul) || match_scalar(v, SCALAR_neg)) return is_number(v);
  return is_floating(v) && (match_scalar(v, SCALAR_true_div) || match_scalar(v, SCALAR_reciprocal));
}

/* As opens_product, but of quotients only those by a constant. */
static bool opens_factors(const damo_var *v) {
  coefficient c;
  if (match_scalar(v, SCALAR_mul) || match_scalar(v, SCALAR_neg)) return is_number(v);
  const damo_apply *quotient = match_scalar(v, SCALAR_true_div);
  return quotient != NULL && is_floating(v) && read_coefficient(quotient->in[1], false, &c) && match_fits(quotient, 0);
}

static bool opens_sum(const damo_var *v) {
  return is_number(v) && (match_scalar(v, SCALAR_add) || match_scalar(v, SCALAR_sub) || match_scalar(v, SCALAR_neg));
}

/* The list of v alone; what is behind its length is not set, since lists are made by the thousand. */
static void factor_list_begin(factor_list *p, damo_var *v) {
  p->at[0] = v;
  p->below[0] = p->negative = false;
  p->n = 1;
  p->n_gone = 0;
}

/* Splits v into the operands of its tree, through nodes of its dtype that have no other use; false if there are too
 * many. */
static bool collect(const damo_fgraph *fg, damo_var *v, bool (*opens)(const damo_var *v), bool product,
                    factor_list *p) {
  factor_list_begin(p, v);
  for (int k = 0; k < p->n;) {
    damo_var *f = p->at[k];
    if (!opens(f) || (f != v && !match_single_use(fg, f)) || var_dtype(f) != var_dtype(v)) {
      k++;
      continue;
    }
    const damo_apply *node = f->owner;
    p->at[k] = node->in[0];
    if (node->n_in == 1) {
      if (match_scalar(f, SCALAR_reciprocal) || (match_scalar(f, SCALAR_neg) && !product))
        p->below[k] = !p->below[k];
      else
        p->negative = !p->negative;
      continue;
    }
    if (p->n == FACTOR_LIST_MAX) return false;
    p->at[p->n] = node->in[1];
    p->below[p->n++] = p->below[k] != (match_scalar(f, SCALAR_true_div) || match_scalar(f, SCALAR_sub));
  }
  return true;
}

/* Whether all constants of the list may be joined in any order. */
static bool have_moderate_constants(const factor_list *p, bool zero) {
  coefficient c;
  for (int k = 0; k < p->n; k++) {
    if (p->at[k]->kind == VAR_CONSTANT && !read_coefficient(p->at[k], zero, &c)) return false;
  }
  return true;
}

bool factor_list_collect(const damo_fgraph *fg, damo_var *v, factor_list *p) {
  return collect(fg, v, opens_product, true, p);
}

/* Whether v is an inner node of a larger tree, whose root is looked at instead. */
static bool is_inner(const damo_fgraph *fg, const damo_var *v, bool (*opens)(const damo_var *v)) {
  const fg_clients *c = fgraph_clients(fg, v);
  if (c == NULL || c->n != 1 || c->at[0].node == NULL) return false;
  const damo_var *up = c->at[0].node->out[0];
  return opens(up) && var_dtype(up) == var_dtype(v);
}

bool factor_list_is_inner(const damo_fgraph *fg, const damo_var *v) { return is_inner(fg, v, opens_product); }

bool term_list_collect(const damo_fgraph *fg, damo_var *v, factor_list *p) {
  return opens_sum(v) && collect(fg, v, opens_sum, false, p);
}

static bool have_dtype(const factor_list *p, damo_dtype dtype) {
  for (int k = 0; k < p->n; k++) {
    if (!type_is_tensor(p->at[k]->type) || var_dtype(p->at[k]) != dtype) return false;
  }
  return true;
}

/* Whether v is the chain ((f1·f2)·f3)·… of the n operands, each product with its operands in either order. */
static bool is_chain(const damo_var *v, scalar_id id, damo_var *const *f, int n) {
  for (int k = n - 1; k > 0; k--) {
    const damo_apply *node = match_scalar(v, id);
    if (node == NULL || (node->in[0] != f[k] && node->in[1] != f[k])) return false;
    v = node->in[1] == f[k] ? node->in[0] : node->in[1];
  }
  return n > 0 && v == f[0];
}

static damo_var *build_chain(build *b, scalar_id id, damo_var *const *f, int n) {
  damo_var *v = n > 0 ? f[0] : NULL;
  for (int k = 1; k < n; k++) v = build_scalar_op(b, id, (damo_var *[]){v, f[k]});
  return v;
}

static int count_above(const factor_list *p) {
  int n = 0;
  while (n < p->n && !p->below[n]) n++;
  return n;
}

/* `now` with the shape that it has if the operands left out still broadcast against it. NULL: their dtype differs. */
static damo_var *fill_to_gone(build *b, damo_var *now, const factor_list *p) {
  for (int k = 0; k < p->n_gone && now != NULL; k++) {
    if (match_single_entry(p->gone[k]) && var_ndim(now) >= var_ndim(p->gone[k])) continue;
    if (!match_same_shape(now, p->gone[k])) now = build_second(b, p->gone[k], now);
  }
  return now;
}

/* Takes axes of length 1 off operands beside one that has the result's rank. */
static bool strip_operands(build *b, factor_list *p, int ndim) {
  bool any = false;
  for (int k = 0; ndim > 0 && k < p->n && b->status == DAMO_OK; k++) {
    bool other = false;
    for (int i = 0; i < p->n; i++)
      other = other || (i != k && var_ndim(p->at[i]) == ndim && !match_single_entry(p->at[i]));
    damo_var *bare = other ? rule_without_new_axes(b, p->at[k]) : NULL;
    if (bare == NULL) continue;
    p->at[k] = bare;
    any = true;
  }
  return any;
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* Whether v is the determinant of a matrix that the graph inverts: it is not 0 where the inverse does not fail. The
 * gradient of log(det(A)) has such a quotient, and A's determinant may overflow. */
static bool is_det_of_inverted(const damo_fgraph *fg, const damo_var *v) {
  const damo_apply *det = match_class(v, &det_def);
  const fg_clients *c = det != NULL ? fgraph_clients(fg, det->in[0]) : NULL;
  for (int i = 0; c != NULL && i < c->n; i++) {
    const damo_apply *node = c->at[i].node;
    if (node != NULL && node->op->def == &inv_def && !prop_given(OP_PROPS(node->op, inverse_props)->on_fail))
      return true;
  }
  return false;
}

/* sign(d)·d / |d| → 1 for a real determinant d. */
static void cancel_sign_of_det(const damo_fgraph *fg, factor_list *p) {
  for (int k = 0; k < p->n; k++) {
    const damo_apply *abs = p->below[k] ? match_scalar(p->at[k], SCALAR_abs) : NULL;
    if (abs == NULL || !is_det_of_inverted(fg, abs->in[0]) || var_dtype(abs->in[0]) != var_dtype(p->at[k])) continue;
    int det = -1, sign = -1;
    for (int i = 0; i < p->n; i++) {
      const damo_apply *s = match_scalar(p->at[i], SCALAR_sign);
      if (p->below[i]) continue;
      if (p->at[i] == abs->in[0]) det = i;
      if (s != NULL && s->in[0] == abs->in[0]) sign = i;
    }
    if (det < 0 || sign < 0) continue;
    p->gone[p->n_gone++] = p->at[k];
    for (int i = p->n - 1; i >= 0; i--) {
      if (i == k || i == det || i == sign) factor_list_remove(p, i);
    }
    return;
  }
}

void factor_list_cancel(const damo_fgraph *fg, factor_list *p) {
  cancel_sign_of_det(fg, p);
  for (int i = 0; i < p->n; i++) {
    for (int j = i + 1; j < p->n; j++) {
      if (p->at[i] != p->at[j] || p->below[i] == p->below[j]) continue;
      if (!match_facts(p->at[i], FACT_FINITE | FACT_NONZERO) && !is_det_of_inverted(fg, p->at[i])) continue;
      p->gone[p->n_gone++] = p->at[i];
      factor_list_remove(p, j);
      factor_list_remove(p, i);
      i = -1;
      break;
    }
  }
}

damo_var *factor_list_multiply(build *b, const factor_list *p, damo_dtype dtype) {
  damo_var *above = NULL, *below = NULL;
  for (int k = 0; k < p->n; k++) {
    damo_var **side = p->below[k] ? &below : &above;
    *side = *side != NULL ? build_mul(b, *side, p->at[k]) : p->at[k];
  }
  if (above == NULL) above = build_scalar(b, dtype, 1);
  if (below != NULL) above = build_true_div(b, above, below);
  return p->negative ? build_neg(b, above) : above;
}

/* Takes the constants out of the list, if there are two or more or a sign to take in; *c is their product. */
static bool join_coefficients(factor_list *p, coefficient *c) {
  int n = 0;
  coefficient one;
  for (int k = 0; k < p->n; k++) n += read_coefficient(p->at[k], false, &one);
  *c = (coefficient){1, 1};
  if (n == p->n || (n < 2 && !(n == 1 && p->negative))) return false;
  for (int k = p->n - 1; k >= 0; k--) {
    if (!read_coefficient(p->at[k], false, &one)) continue;
    if (p->below[k]) one.f = 1 / one.f;
    *c = times(*c, one);
    factor_list_remove(p, k);
  }
  if (p->negative) *c = times(*c, (coefficient){-1, -1});
  p->negative = false;
  return true;
}

#define MOST_POWER 64

/* v as base to a small power: sqr(u), u^k; else v^1. */
static damo_var *power_base(const damo_fgraph *fg, damo_var *v, int *power) {
  coefficient k;
  *power = 1;
  if (match_scalar(v, SCALAR_sqr) && match_single_use(fg, v) && var_dtype(v->owner->in[0]) == var_dtype(v)) {
    *power = 2;
    return v->owner->in[0];
  }
  const damo_apply *pow = match_scalar(v, SCALAR_pow);
  if (pow == NULL || !match_single_use(fg, v) || !match_fits(pow, 0) || var_dtype(pow->in[0]) != var_dtype(v)) return v;
  if (!read_coefficient(pow->in[1], false, &k) || !(k.f >= 1 && k.f <= MOST_POWER && k.f == floor(k.f))) return v;
  *power = (int)k.f;
  return pow->in[0];
}

/* x·x·y → x²·y: equal factors of one side. */
static bool join_powers(build *b, const damo_fgraph *fg, factor_list *p) {
  bool any = false;
  for (int i = 0; i < p->n && b->status == DAMO_OK; i++) {
    int power, more, n = 1;
    damo_var *base = power_base(fg, p->at[i], &power);
    if (var_constant_array(base) != NULL) continue;
    for (int j = p->n - 1; j > i; j--) {
      if (p->below[j] != p->below[i] || power_base(fg, p->at[j], &more) != base || power + more > MOST_POWER) continue;
      power += more;
      n++;
      factor_list_remove(p, j);
    }
    if (n == 1) continue;
    p->at[i] = power == 2 ? build_sqr(b, base) : build_pow(b, base, build_scalar(b, var_dtype(base), power));
    any = true;
  }
  return any;
}

static bool is_negative_of(const damo_var *x, const damo_var *y) {
  const damo_apply *neg = match_scalar(x, SCALAR_neg);
  return neg != NULL && neg->in[0] == y;
}

/* exp(x)·sigmoid(-x) → sigmoid(x), exp(x)·sigmoid(-x)² → sigmoid(x)·sigmoid(-x) */
static bool join_sigmoids(build *b, const damo_fgraph *fg, factor_list *p) {
  bool any = false;
  for (int i = 0; i < p->n && b->status == DAMO_OK; i++) {
    const damo_apply *e = match_scalar(p->at[i], SCALAR_exp);
    if (e == NULL || p->below[i] || var_dtype(e->in[0]) != var_dtype(p->at[i])) continue;
    for (int j = 0; j < p->n; j++) {
      int power;
      damo_var *s = power_base(fg, p->at[j], &power), *x = e->in[0];
      const damo_apply *sigmoid = match_scalar(s, SCALAR_sigmoid);
      if (sigmoid == NULL || p->below[j] || power > 2) continue;
      damo_var *u = sigmoid->in[0];
      if (!is_negative_of(x, u) && !is_negative_of(u, x)) continue;
      p->at[i] = build_sigmoid(b, x);
      if (power == 2)
        p->at[j] = s;
      else
        factor_list_remove(p, j);
      any = true;
      i = -1;
      break;
    }
  }
  return any;
}

/* exp(x)·exp(y) → exp(x + y) */
static bool join_exponentials(build *b, const damo_fgraph *fg, factor_list *p) {
  damo_var *at[FACTOR_LIST_MAX];
  int n = 0;
  for (int k = 0; k < p->n; k++) {
    const damo_apply *e = match_scalar(p->at[k], SCALAR_exp);
    if (e == NULL || !match_single_use(fg, p->at[k]) || var_dtype(e->in[0]) != var_dtype(p->at[k])) continue;
    at[n++] = p->at[k];
  }
  if (n < 2) return false;
  damo_var *sum = at[0]->owner->in[0];
  for (int i = 1; i < n; i++) sum = build_add(b, sum, at[i]->owner->in[0]);
  for (int k = p->n - 1; k >= 0; k--) {
    for (int i = 0; i < n; i++) {
      if (p->at[k] != at[i]) continue;
      factor_list_remove(p, k);
      break;
    }
  }
  p->at[p->n] = build_exp(b, sum);
  p->below[p->n++] = false;
  return true;
}

/* Whether v is the product in the form that product_form writes. */
static bool is_product_form(const damo_var *v, const factor_list *p) {
  const int above = count_above(p);
  if (p->negative) {
    const damo_apply *neg = match_scalar(v, SCALAR_neg);
    if (neg == NULL) return false;
    v = neg->in[0];
  }
  if (above == p->n) return is_chain(v, SCALAR_mul, p->at, p->n);
  const damo_apply *node = match_scalar(v, above > 0 ? SCALAR_true_div : SCALAR_reciprocal);
  if (node == NULL) return false;
  return (above == 0 || is_chain(node->in[0], SCALAR_mul, p->at, above)) &&
         is_chain(node->in[above > 0 ? 1 : 0], SCALAR_mul, p->at + above, p->n - above);
}

static damo_var *build_product(build *b, const factor_list *p, damo_dtype dtype) {
  const int above = count_above(p);
  damo_var *top = build_chain(b, SCALAR_mul, p->at, above),
           *bottom = build_chain(b, SCALAR_mul, p->at + above, p->n - above);
  if (b->status != DAMO_OK) return NULL;
  if (top == NULL)
    top = bottom != NULL ? build_reciprocal(b, bottom) : build_scalar(b, dtype, 1);
  else if (bottom != NULL)
    top = build_true_div(b, top, bottom);
  return p->negative ? build_neg(b, top) : top;
}

damo_var *factor_list_build(build *b, factor_list *p, damo_dtype dtype) {
  factor_list_sort(p);
  return build_product(b, p, dtype);
}

/* The product v as a list without its constant (*c): false if it has none, or v is read elsewhere too. */
static bool split_numerator(const damo_fgraph *fg, damo_var *v, factor_list *p, coefficient *c) {
  factor_list_begin(p, v);
  if (v->owner != NULL && (!match_single_use(fg, v) || !opens_factors(v) || !collect(fg, v, opens_factors, true, p)))
    return false;
  for (int k = 0; k < p->n; k++) {
    if (!have_dtype(p, var_dtype(v)) || p->below[k] || !read_coefficient(p->at[k], false, c)) continue;
    factor_list_remove(p, k);
    return true;
  }
  return false;
}

/* 2·(3·y/x) → 6·y/x: the sign and the constants go into the first quotient that has a constant above the line. */
static bool join_into_quotient(build *b, const damo_fgraph *fg, factor_list *p) {
  coefficient c = {1, 1}, one;
  factor_list above;
  int n = p->negative;
  for (int k = 0; k < p->n; k++) n += read_coefficient(p->at[k], false, &one);
  for (int q = 0; q < p->n && n > 0; q++) {
    damo_var *v = p->at[q];
    const damo_apply *quotient = p->below[q] ? NULL : match_scalar(v, SCALAR_true_div);
    if (quotient == NULL || !match_single_use(fg, v) || var_dtype(quotient->in[1]) != var_dtype(v)) continue;
    if (!split_numerator(fg, quotient->in[0], &above, &c) || above.n + 2 > FACTOR_LIST_MAX) continue;
    for (int k = p->n - 1; k >= 0; k--) {
      if (!read_coefficient(p->at[k], false, &one)) continue;
      if (p->below[k]) one.f = 1 / one.f;
      c = times(c, one);
      factor_list_remove(p, k);
    }
    if (p->negative != above.negative) c = times(c, (coefficient){-1, -1});
    p->negative = above.negative = false;
    above.at[above.n] = quotient->in[1];
    above.below[above.n++] = true;
    if (c.f != 1) {
      above.at[above.n] = build_coefficient(b, var_dtype(v), c);
      above.below[above.n++] = false;
    }
    for (q = 0; p->at[q] != v;) q++;
    p->at[q] = factor_list_build(b, &above, var_dtype(v));
    return p->at[q] == NULL || var_ndim(p->at[q]) == var_ndim(v);
  }
  return false;
}

/* Whether a product is a part of another one. What is scaled to be rounded is no part of the scaling: it has its own form,
 * as where the script rounds its value. */
static bool is_inner_product(const damo_fgraph *fg, const damo_var *v) {
  return is_inner(fg, v, opens_factors) && !match_rounded(fg, fgraph_clients(fg, v)->at[0].node->out[0]);
}

static damo_status product_form(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *out = node->out[0];
  const damo_dtype dtype = var_dtype(out);
  factor_list p;
  coefficient c;
  if (is_inner_product(fg, out) || !opens_factors(out) || match_rounded(fg, out)) return DAMO_OK;
  if (!collect(fg, out, opens_factors, true, &p) || !have_dtype(&p, dtype) || !have_moderate_constants(&p, false))
    return DAMO_OK;
  const int n = p.n;
  bool joined = dtype_is_float(dtype) && join_sigmoids(b, fg, &p);
  if (dtype_is_float(dtype) && b->status == DAMO_OK && join_exponentials(b, fg, &p)) joined = true;
  if (join_powers(b, fg, &p)) joined = true;
  if (strip_operands(b, &p, var_ndim(out))) joined = true;
  if (b->status == DAMO_OK && join_into_quotient(b, fg, &p)) joined = true;
  if (b->status != DAMO_OK) return b->status;
  if (join_coefficients(&p, &c)) {
    joined = true;
    if (is_coefficient(c, dtype, -1))
      p.negative = true;
    else if (!is_coefficient(c, dtype, 1))
      p.at[p.n] = build_coefficient(b, dtype, c), p.below[p.n++] = false;
  }
  if (b->status != DAMO_OK || (!joined && n < 3 && !p.negative)) return b->status;
  factor_list_sort(&p);
  if (!joined && is_product_form(out, &p)) return DAMO_OK;
  damo_var *now = build_product(b, &p, dtype);
  if (now == NULL || var_ndim(now) != var_ndim(out)) return b->status;
  return rule_give(b, repl, did, now);
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

/* v as a coefficient times a term: c·u; else 1·v. */
static damo_var *split_coefficient(const damo_fgraph *fg, damo_var *v, coefficient *c) {
  *c = (coefficient){1, 1};
  const damo_apply *mul = match_scalar(v, SCALAR_mul);
  for (int i = 0; mul != NULL && match_single_use(fg, v) && i < 2; i++) {
    coefficient k;
    if (!read_coefficient(mul->in[i], false, &k) || !match_fits(mul, 1 - i)) continue;
    if (var_dtype(mul->in[1 - i]) != var_dtype(v) || var_constant_array(mul->in[1 - i]) != NULL) continue;
    *c = k;
    return mul->in[1 - i];
  }
  return v;
}

static bool may_join_signs(const damo_var *u, coefficient x, coefficient y) {
  if (!dtype_is_float(var_dtype(u)) || (x.f > 0) == (y.f > 0)) return true;
  return match_facts(u, FACT_FINITE | FACT_NONZERO);
}

/* 2·x + y + x → 3·x + y: equal terms as one. */
static bool join_terms(build *b, const damo_fgraph *fg, factor_list *p) {
  bool any = false;
  for (int i = 0; i < p->n && b->status == DAMO_OK; i++) {
    coefficient sum, c;
    damo_var *u = split_coefficient(fg, p->at[i], &sum);
    int n = 1;
    if (var_constant_array(u) != NULL) continue;
    if (p->below[i]) sum = times(sum, (coefficient){-1, -1});
    for (int j = p->n - 1; j > i; j--) {
      if (split_coefficient(fg, p->at[j], &c) != u) continue;
      if (p->below[j]) c = times(c, (coefficient){-1, -1});
      if (!may_join_signs(u, sum, c)) continue;
      sum = plus(sum, c);
      n++;
      factor_list_remove(p, j);
    }
    if (n == 1) continue;
    any = true;
    const damo_dtype dtype = var_dtype(u);
    if (is_coefficient(sum, dtype, 0)) {
      p->gone[p->n_gone++] = u;
      factor_list_remove(p, i--);
      continue;
    }
    const bool minus = is_coefficient(sum, dtype, -1), one = minus || is_coefficient(sum, dtype, 1);
    p->at[i] = one ? u : build_mul(b, build_coefficient(b, dtype, sum), u);
    p->below[i] = minus;
  }
  return any;
}

/* Takes the constants out of the list if there are two or more; *c is their sum. */
static bool join_constant_terms(factor_list *p, coefficient *c) {
  int n = 0;
  coefficient one;
  for (int k = 0; k < p->n; k++) n += read_coefficient(p->at[k], true, &one);
  if (n < 2 || n == p->n) return false;
  *c = (coefficient){0, 0};
  for (int k = p->n - 1; k >= 0; k--) {
    if (!read_coefficient(p->at[k], true, &one)) continue;
    *c = plus(*c, p->below[k] ? times(one, (coefficient){-1, -1}) : one);
    factor_list_remove(p, k);
  }
  return true;
}

static damo_var *build_sum(build *b, const factor_list *p, damo_dtype dtype) {
  const int above = count_above(p);
  damo_var *sum = build_chain(b, SCALAR_add, p->at, above);
  if (sum == NULL && p->n > 0) {
    damo_var *below = build_chain(b, SCALAR_add, p->at, p->n);
    return below != NULL ? build_neg(b, below) : NULL;
  }
  for (int k = above; k < p->n; k++) sum = build_sub(b, sum, p->at[k]);
  return sum != NULL || b->status != DAMO_OK ? sum : build_scalar(b, dtype, 0);
}

damo_var *term_list_build(build *b, factor_list *p, damo_dtype dtype) {
  factor_list_sort(p);
  return build_sum(b, p, dtype);
}

static damo_status sum_form(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *out = node->out[0];
  const damo_dtype dtype = var_dtype(out);
  factor_list p;
  coefficient c = {0, 0};
  if (!opens_sum(out) || is_inner(fg, out, opens_sum)) return DAMO_OK;
  if (!collect(fg, out, opens_sum, false, &p) || p.n < 2 || !have_dtype(&p, dtype)) return DAMO_OK;
  if (!have_moderate_constants(&p, true)) return DAMO_OK;
  bool joined = join_terms(b, fg, &p);
  if (b->status == DAMO_OK && strip_operands(b, &p, var_ndim(out))) joined = true;
  if (b->status != DAMO_OK) return b->status;
  const bool constant = join_constant_terms(&p, &c);
  if (!joined && !constant && (p.n < 3 || count_above(&p) < p.n)) return DAMO_OK;
  if (constant && (!is_coefficient(c, dtype, 0) || p.n == 0)) {
    p.at[p.n] = build_coefficient(b, dtype, c);
    p.below[p.n++] = false;
  }
  if (b->status != DAMO_OK) return b->status;
  factor_list_sort(&p);
  if (!joined && !constant && is_chain(out, SCALAR_add, p.at, p.n)) return DAMO_OK;
  damo_var *now = fill_to_gone(b, build_sum(b, &p, dtype), &p);
  if (now == NULL || var_ndim(now) != var_ndim(out)) return b->status;
  return rule_give(b, repl, did, now);
}

#define RULE(rule_name, fn, ...) \
  { .name = rule_name, .phase = PHASE_CANONICALIZE, .tags = "fast_run canonicalize inexact", .local = fn, __VA_ARGS__ }

const rewrite_rule nary_rules[] = {
    RULE("product_form", product_form, ELEMWISE(SCALAR_mul, SCALAR_true_div, SCALAR_neg)),
    RULE("sum_form", sum_form, ELEMWISE(SCALAR_add, SCALAR_sub)),
    {.name = NULL},
};

#undef RULE
