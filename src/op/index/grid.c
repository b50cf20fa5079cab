/* grid: grids of coordinates, shapes that broadcast, positions of diagonals and triangles, positions in flat tensors, and several tensors as one
 * vector: compositions.
 */
#include "index_int.h"
#include "op/elem/build_arith.h"

#include <stdio.h>
#include <string.h>

typedef struct grid_options {
  prop_value indexing, sparse, n, k, m, ndim, shape, shapes, order, mode, axes;
} grid_options;

/* of tensors that broadcast */
typedef struct broadcast_options {
  prop_value axis, arrays_are_shapes;
} broadcast_options;

/* The operands of a call, at most DAMO_MAX_NDIM, as tensors that are not weak. */
static damo_status all_operands(build *b, const fn_args *a, damo_var **v) {
  if (a->n_in > DAMO_MAX_NDIM)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: %d operands, at most %d", a->func->name, a->n_in, DAMO_MAX_NDIM);
  for (int i = 0; i < a->n_in; i++) {
    DAMO_TRY(fn_check_tensor(a, b->ctx, i));
    v[i] = build_strong(b, a->in[i]);
    if (!v[i]) return b->status;
  }
  return DAMO_OK;
}

/* A vector as axis `axis` of n. */
static damo_var *vector_as_axis(build *b, damo_var *v, int axis, int n) {
  int pattern[DAMO_MAX_NDIM];
  for (int i = 0; i < n; i++) pattern[i] = i == axis ? 0 : -1;
  return build_dimshuffle(b, v, pattern, n);
}

/* ---- Grids ------------------------------------------------------------------------------------------------------- */

static damo_status fn_meshgrid(build *b, const fn_args *a, ptrvec *out) {
  const grid_options *o = FN_OPTIONS(a, grid_options);
  const char *indexing = prop_str_or(o->indexing, "xy");
  const bool xy = strcmp(indexing, "xy") == 0;
  damo_var *v[DAMO_MAX_NDIM], *dims[DAMO_MAX_NDIM];
  DAMO_TRY(all_operands(b, a, v));
  if (!xy && strcmp(indexing, "ij") != 0)
    return ctx_fail(b->ctx, DAMO_EVALUE, "meshgrid: indexing is \"xy\" or \"ij\", got \"%s\"", indexing);
  for (int i = 0; i < a->n_in; i++) {
    const int axis = xy && a->n_in > 1 && i < 2 ? 1 - i : i;
    if (var_ndim(v[i]) > 1)
      return ctx_fail(b->ctx, DAMO_ESHAPE, "meshgrid: operand %d has %d axes, vectors are expected", i + 1,
                      var_ndim(v[i]));
    v[i] = build_ravel(b, v[i]);
    dims[axis] = build_dim(b, v[i], 0);
    v[i] = vector_as_axis(b, v[i], axis, a->n_in);
  }
  for (int i = 0; i < a->n_in && b->status == DAMO_OK; i++)
    DAMO_TRY(fn_give(b, out, prop_bool_or(o->sparse, false) ? v[i] : build_alloc(b, v[i], dims, a->n_in)));
  return b->status;
}

/* A length is that of the first operand whose Type does not say 1, which never broadcasts. */
static damo_status fn_broadcast_arrays(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[DAMO_MAX_NDIM], *dims[DAMO_MAX_NDIM];
  int n = 0;
  DAMO_TRY(all_operands(b, a, v));
  for (int i = 0; i < a->n_in; i++) n = var_ndim(v[i]) > n ? var_ndim(v[i]) : n;
  for (int k = 0; k < n; k++) {
    bool known = false;
    dims[k] = NULL;
    for (int i = 0; i < a->n_in; i++) {
      const int axis = k - (n - var_ndim(v[i]));
      if (axis < 0 || v[i]->type->shape[axis] == 1) continue;
      if (dims[k] == NULL || (!known && v[i]->type->shape[axis] >= 0)) dims[k] = build_dim(b, v[i], axis);
      known = known || v[i]->type->shape[axis] >= 0;
    }
    if (dims[k] == NULL) dims[k] = build_i64(b, 1);
  }
  for (int i = 0; i < a->n_in && b->status == DAMO_OK; i++)
    DAMO_TRY(fn_give(b, out, build_broadcast_to(b, "broadcast_arrays", v[i], dims, n)));
  return b->status;
}

static damo_status fn_ix(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[DAMO_MAX_NDIM];
  DAMO_TRY(all_operands(b, a, v));
  for (int i = 0; i < a->n_in; i++) {
    if (var_ndim(v[i]) != 1)
      return ctx_fail(b->ctx, DAMO_ESHAPE, "ix_: operand %d has %d axes, vectors are expected", i + 1, var_ndim(v[i]));
    v[i] = var_dtype(v[i]) == DAMO_BOOL ? build_nonzero(b, v[i]) : build_integer(b, "ix_", "positions", v[i]);
    if (!v[i]) return b->status;
    DAMO_TRY(fn_give(b, out, vector_as_axis(b, v[i], i, a->n_in)));
  }
  return b->status;
}

/* The positions along each axis of a tensor of that shape: one tensor with a first axis for them, or with `sparse` one
 * tensor an axis, of length 1 along the others. */
static damo_status fn_indices(build *b, const fn_args *a, ptrvec *out) {
  const grid_options *o = FN_OPTIONS(a, grid_options);
  damo_var *dims[DAMO_MAX_NDIM], *at[DAMO_MAX_NDIM], *all[DAMO_MAX_NDIM], *one = build_i64(b, 1);
  const bool sparse = prop_bool_or(o->sparse, false);
  int n = 0;
  DAMO_TRY(shape_check(b, "indices", &o->shape, dims, &n));
  if (n == 0 || n >= DAMO_MAX_NDIM)
    return ctx_fail(b->ctx, DAMO_EVALUE, "indices: a shape of 1 to %d lengths is needed", DAMO_MAX_NDIM - 1);
  all[0] = one;
  for (int i = 0; i < n; i++) {
    all[i + 1] = dims[i];
    at[i] = vector_as_axis(b, build_range(b, one, dims[i]), i, n);
    if (sparse) DAMO_TRY(fn_give(b, out, at[i]));
  }
  if (sparse || b->status != DAMO_OK) return b->status;
  for (int i = 0; i < n; i++) at[i] = at[i] ? build_alloc(b, at[i], all, n + 1) : NULL;
  return b->status != DAMO_OK ? b->status : fn_give(b, out, build_join(b, "indices", 0, at, n));
}

/* ---- Shapes that broadcast --------------------------------------------------------------------------------------- */

/* The lengths of one of the operands that are broadcast; -1 where not known. */
typedef struct broadcast_side {
  int n;
  damo_var *dims[DAMO_MAX_NDIM];
  int64_t known[DAMO_MAX_NDIM];
} broadcast_side;

static damo_status side_of_tensor(build *b, damo_var *x, broadcast_side *s) {
  if (x == NULL) return b->status;
  s->n = var_ndim(x);
  for (int k = 0; k < s->n; k++) s->known[k] = x->type->shape[k];
  return build_dims(b, x, s->dims);
}

/* The operand is a vector of lengths. */
static damo_status side_of_shape(build *b, const fn_args *a, int i, broadcast_side *s) {
  damo_var *v = build_integer(b, a->func->name, "a shape", a->in[i]);
  if (v == NULL) return b->status;
  const int64_t n = var_ndim(v) == 1 ? v->type->shape[0] : -1;
  if (n < 0 || n > DAMO_MAX_NDIM)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand %d must be a vector of a known number of lengths", a->func->name,
                    i + 1);
  s->n = (int)n;
  const damo_array *values = var_constant_array(v);
  for (int64_t k = 0; k < n; k++) {
    s->known[k] = values != NULL ? scalar_to_int64(array_get(values, &k)) : -1;
    if (values != NULL && s->known[k] < 0)
      return ctx_fail(b->ctx, DAMO_EVALUE, "%s: operand %d has a length that no axis can have", a->func->name, i + 1);
    s->dims[k] = values != NULL ? build_i64(b, s->known[k]) : build_index(b, v, 0, build_i64(b, k));
  }
  return b->status;
}

/* Takes axis `axis` of all operands but 1 into *dim, which is NULL where all are 1. */
static damo_status side_add(build *b, const char *func, const broadcast_side *s, int axis, damo_var **dim,
                            int64_t *known) {
  if (axis < 0 || s->known[axis] == 1) return DAMO_OK;
  const int64_t n = s->known[axis];
  if (*dim == NULL) {
    *dim = s->dims[axis], *known = n;
    return DAMO_OK;
  }
  if (n >= 0 && *known >= 0 && n != *known)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: lengths %lld and %lld do not broadcast", func, (long long)*known,
                    (long long)n);
  if (n >= 0 && *known >= 0) return DAMO_OK;
  char text[120];
  snprintf(text, sizeof text, "%s: the lengths of an axis differ; a length 1 must be known to broadcast", func);
  *dim = build_assert(b, n >= 0 ? s->dims[axis] : *dim, build_eq(b, *dim, s->dims[axis]), text);
  *known = n >= 0 ? n : *known;
  return b->status;
}

static damo_status fn_broadcast_shape(build *b, const fn_args *a, ptrvec *out) {
  const bool shapes = prop_bool_or(FN_OPTIONS(a, broadcast_options)->arrays_are_shapes, false);
  damo_var *dims[DAMO_MAX_NDIM];
  int n = 0;
  if (a->n_in > DAMO_MAX_NDIM)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: %d operands, at most %d", a->func->name, a->n_in, DAMO_MAX_NDIM);
  broadcast_side *sides = mem_alloc(b->ctx, (size_t)(a->n_in + 1) * sizeof *sides);
  if (!sides) return DAMO_EMEMORY;
  damo_status s = DAMO_OK;
  for (int i = 0; i < a->n_in && s == DAMO_OK; i++) {
    s = fn_check_tensor(a, b->ctx, i);
    if (s == DAMO_OK)
      s = shapes ? side_of_shape(b, a, i, &sides[i]) : side_of_tensor(b, build_strong(b, a->in[i]), &sides[i]);
    if (s == DAMO_OK && sides[i].n > n) n = sides[i].n;
  }
  for (int k = 0; k < n && s == DAMO_OK; k++) {
    int64_t known = 1;
    dims[k] = NULL;
    for (int i = 0; i < a->n_in && s == DAMO_OK; i++)
      s = side_add(b, a->func->name, &sides[i], k - (n - sides[i].n), &dims[k], &known);
    if (dims[k] == NULL) dims[k] = build_i64(b, 1);
  }
  mem_free(b->ctx, sides, (size_t)(a->n_in + 1) * sizeof *sides);
  return s == DAMO_OK ? fn_give(b, out, n > 0 ? build_vector(b, dims, n) : build_ints(b, NULL, 0)) : s;
}

/* Joined along an axis after all other axes were broadcast. */
static damo_status fn_concat_with_broadcast(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[DAMO_MAX_NDIM], *dims[DAMO_MAX_NDIM];
  int axis;
  DAMO_TRY(all_operands(b, a, v));
  if (a->n_in == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: there is no operand", a->func->name);
  const int n = var_ndim(v[0]);
  for (int i = 1; i < a->n_in; i++) {
    if (var_ndim(v[i]) != n)
      return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operands of %d and %d axes", a->func->name, n, var_ndim(v[i]));
  }
  if (n == 0) return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: the operands have no axis", a->func->name);
  DAMO_TRY(axis_check(b->ctx, a->func->name, prop_int_or(FN_OPTIONS(a, broadcast_options)->axis, 1), n, &axis));
  for (int k = 0; k < n; k++) {
    int from = 0;
    while (from < a->n_in - 1 && v[from]->type->shape[k] == 1) from++;
    dims[k] = build_dim(b, v[from], k);
  }
  for (int i = 0; i < a->n_in && b->status == DAMO_OK; i++) {
    damo_var *own[DAMO_MAX_NDIM];
    memcpy(own, dims, (size_t)n * sizeof *own);
    own[axis] = build_dim(b, v[i], axis);
    v[i] = build_broadcast_to(b, a->func->name, v[i], own, n);
  }
  return b->status != DAMO_OK ? b->status : fn_give(b, out, build_concatenate(b, a->func->name, axis, v, a->n_in));
}

/* ---- Positions of triangles and diagonals ------------------------------------------------------------------------ */

/* An integer scalar out of an option (absent: NULL). */
static damo_status scalar_option(build *b, const char *func, const char *name, const prop_value *v, damo_var **out) {
  damo_var *dims[DAMO_MAX_NDIM];
  int n = 0;
  *out = NULL;
  if (!prop_given(*v)) return DAMO_OK;
  DAMO_TRY(shape_check(b, func, v, dims, &n));
  if (n != 1) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: %s is one integer", func, name);
  *out = dims[0];
  return DAMO_OK;
}

/* n, the operand or the option. */
static damo_status read_n(build *b, const fn_args *a, damo_var **n) {
  const char *f = a->func->name;
  DAMO_TRY(scalar_option(b, f, "n", &FN_OPTIONS(a, grid_options)->n, n));
  if (a->n_in > 0 && a->in[0]) *n = build_integer(b, f, "n", a->in[0]);
  if (b->status != DAMO_OK) return b->status;
  if (!*n) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: n is missing", f);
  return var_ndim(*n) ? ctx_fail(b->ctx, DAMO_ETYPE, "%s: n must be a scalar", f) : DAMO_OK;
}

/* The positions in a triangle of an n by m matrix. */
static damo_status give_triangle(build *b, const fn_args *a, ptrvec *out, damo_var *n, damo_var *m, bool lower) {
  const int64_t k = prop_int_or(FN_OPTIONS(a, grid_options)->k, 0);
  damo_var *mask = build_tri(b, n, m, build_i64(b, lower || k == INT64_MIN ? k : k - 1), DAMO_BOOL);
  damo_apply *where = build_nonzero_all(b, lower || !mask ? mask : build_invert(b, mask));
  for (int i = 0; where && i < 2; i++) DAMO_TRY(fn_give(b, out, where->out[i]));
  return b->status;
}
static damo_status triangle_positions(build *b, const fn_args *a, ptrvec *out, bool lower) {
  damo_var *n, *m;
  DAMO_TRY(read_n(b, a, &n));
  DAMO_TRY(scalar_option(b, a->func->name, "m", &FN_OPTIONS(a, grid_options)->m, &m));
  return give_triangle(b, a, out, n, m ? m : n, lower);
}
static damo_status fn_tril_indices(build *b, const fn_args *a, ptrvec *out) {
  return triangle_positions(b, a, out, true);
}
static damo_status fn_triu_indices(build *b, const fn_args *a, ptrvec *out) {
  return triangle_positions(b, a, out, false);
}

static damo_status triangle_positions_from(build *b, const fn_args *a, ptrvec *out, bool lower) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  if (var_ndim(x) != 2)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: a matrix is expected, got %d axes", a->func->name, var_ndim(x));
  return give_triangle(b, a, out, build_dim(b, x, 0), build_dim(b, x, 1), lower);
}
static damo_status fn_tril_indices_from(build *b, const fn_args *a, ptrvec *out) {
  return triangle_positions_from(b, a, out, true);
}
static damo_status fn_triu_indices_from(build *b, const fn_args *a, ptrvec *out) {
  return triangle_positions_from(b, a, out, false);
}

static damo_status fn_diag_indices(build *b, const fn_args *a, ptrvec *out) {
  const int64_t ndim = prop_int_or(FN_OPTIONS(a, grid_options)->ndim, 2);
  damo_var *n;
  DAMO_TRY(read_n(b, a, &n));
  if (ndim < 1 || ndim > DAMO_MAX_NDIM)
    return ctx_fail(b->ctx, DAMO_EVALUE, "diag_indices: ndim is %lld, of 1 to %d", (long long)ndim, DAMO_MAX_NDIM);
  damo_var *at = build_range(b, build_i64(b, 1), n);
  for (int i = 0; i < ndim; i++) DAMO_TRY(fn_give(b, out, at));
  return b->status;
}

/* ---- Positions in flat tensors ----------------------------------------------------------------------------------- */

/* The lengths that the option shape gives, in the order in which positions run through them: the axis that changes
 * fastest first; axis[i]: which one that is. */
static damo_status flat_order(build *b, const fn_args *a, damo_var **dims, int *axis, int *n) {
  const grid_options *o = FN_OPTIONS(a, grid_options);
  const char *order = prop_str_or(o->order, "C");
  damo_var *given[DAMO_MAX_NDIM];
  if (strcmp(order, "C") != 0 && strcmp(order, "F") != 0)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the order is \"C\" or \"F\", got \"%s\"", a->func->name, order);
  DAMO_TRY(shape_check(b, a->func->name, &o->shape, given, n));
  for (int i = 0; i < *n; i++) {
    axis[i] = order[0] == 'F' ? i : *n - 1 - i;
    dims[i] = given[axis[i]];
  }
  return DAMO_OK;
}

static damo_status fn_unravel_index(build *b, const fn_args *a, ptrvec *out) {
  damo_var *dims[DAMO_MAX_NDIM], *one = build_i64(b, 1), *size = one, *at[DAMO_MAX_NDIM];
  int axis[DAMO_MAX_NDIM], n = 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(flat_order(b, a, dims, axis, &n));
  for (int i = 0; i < n; i++) size = build_length_mul(b, size, dims[i]);
  damo_var *p = build_integer(b, "unravel_index", "positions", a->in[0]);
  p = build_resolved_positions(b, "unravel_index", p, size, POSITION_STRICT);
  damo_var *left = p ? build_sub(b, p, one) : NULL;
  for (int i = 0; i < n && left; i++) {
    at[axis[i]] = build_add(b, build_mod(b, left, dims[i]), one);
    left = build_floor_div(b, left, dims[i]);
  }
  for (int i = 0; i < n && b->status == DAMO_OK; i++) DAMO_TRY(fn_give(b, out, at[i]));
  return b->status;
}

static damo_status fn_ravel_multi_index(build *b, const fn_args *a, ptrvec *out) {
  const prop_value *modes = &FN_OPTIONS(a, grid_options)->mode;
  damo_var *v[DAMO_MAX_NDIM], *dims[DAMO_MAX_NDIM], *one = build_i64(b, 1), *flat = one, *step = one;
  int axis[DAMO_MAX_NDIM], n = 0;
  DAMO_TRY(all_operands(b, a, v));
  DAMO_TRY(flat_order(b, a, dims, axis, &n));
  if (n != a->n_in || (modes->kind == PROP_LIST && modes->n != n))
    return ctx_fail(b->ctx, DAMO_EVALUE, "ravel_multi_index: %d tensors of positions for %d axes", a->n_in, n);
  for (int i = 0; i < n; i++) {
    position_mode mode;
    DAMO_TRY(position_mode_read(b->ctx, "ravel_multi_index", modes->kind == PROP_LIST ? modes->u.list[axis[i]] : *modes,
                                &mode));
    damo_var *p = build_integer(b, "ravel_multi_index", "positions", v[axis[i]]);
    p = build_resolved_positions(b, "ravel_multi_index", p, dims[i], mode == POSITION_RAISE ? POSITION_STRICT : mode);
    flat = build_add(b, flat, build_mul(b, build_sub(b, p, one), step));
    step = build_length_mul(b, step, dims[i]);
    if (b->status != DAMO_OK) return b->status;
  }
  return fn_give(b, out, flat);
}

/* ---- Permutations ------------------------------------------------------------------------------------------------ */

/* The positions that sort p, which are its inverse if the sorted entries are 1 … n. */
static damo_status fn_inverse_permutation(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *p = build_integer(b, "inverse_permutation", "positions", a->in[0]);
  if (!p) return b->status;
  const int last = var_ndim(p) - 1;
  if (last < 0) return ctx_fail(b->ctx, DAMO_ESHAPE, "inverse_permutation: a scalar is no permutation");
  damo_var *q = build_argsort(b, p, last), *sorted = build_take_along_axis(b, p, q, last);
  damo_var *places = build_range(b, build_i64(b, 1), build_dim(b, p, last));
  damo_var *fits = sorted && places ? build_eq(b, sorted, places) : NULL;
  return fn_give(b, out, build_assert(b, q, fits, "inverse_permutation: the entries are not 1 … n, each once"));
}

/* ---- rot90 ------------------------------------------------------------------------------------------------------- */

static damo_status fn_rot90(build *b, const fn_args *a, ptrvec *out) {
  const grid_options *o = FN_OPTIONS(a, grid_options);
  const int64_t k = ((prop_int_or(o->k, 1) % 4) + 4) % 4;
  int axes[DAMO_MAX_NDIM] = {0, 1}, n = -1, pattern[DAMO_MAX_NDIM];
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  const int ndim = var_ndim(x);
  if (ndim < 2) return ctx_fail(b->ctx, DAMO_ESHAPE, "rot90: expected at least 2 axes, got %d", ndim);
  DAMO_TRY(axes_in_order(b->ctx, "rot90", &o->axes, ndim, axes, &n));
  if (n != -1 && n != 2) return ctx_fail(b->ctx, DAMO_EVALUE, "rot90: 2 axes make a plane, got %d", n);
  for (int i = 0; i < ndim; i++) pattern[i] = i == axes[0] ? axes[1] : i == axes[1] ? axes[0] : i;
  if (k == 1 || k == 2) x = build_slice(b, x, axes[1], NULL, NULL, -1);
  if (k == 2) x = build_slice(b, x, axes[0], NULL, NULL, -1);
  if (k == 1 || k == 3) x = build_dimshuffle(b, x, pattern, ndim);
  if (k == 3) x = build_slice(b, x, axes[1], NULL, NULL, -1);
  return fn_give(b, out, x);
}

/* ---- pack, unpack ------------------------------------------------------------------------------------------------ */

static damo_status fn_pack(build *b, const fn_args *a, ptrvec *out) {
  if (a->n_in == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "pack: there is no operand");
  damo_var **v = mem_alloc(b->ctx, (size_t)a->n_in * sizeof *v);
  damo_status s = v ? DAMO_OK : DAMO_EMEMORY;
  for (int i = 0; i < a->n_in && s == DAMO_OK; i++) {
    s = fn_check_tensor(a, b->ctx, i);
    if (s == DAMO_OK) v[i] = build_ravel(b, build_strong(b, a->in[i]));
    if (s == DAMO_OK) s = b->status;
  }
  if (s == DAMO_OK) s = fn_give(b, out, build_concatenate(b, "pack", 0, v, a->n_in));
  if (v) mem_free(b->ctx, v, (size_t)a->n_in * sizeof *v);
  return s;
}

/* The entries of one of the shapes: their product; its lengths into dims. */
static damo_status unpack_size(build *b, const prop_value *shape, damo_var **dims, int *n, damo_var **size) {
  DAMO_TRY(shape_check(b, "unpack", shape, dims, n));
  *size = build_i64(b, 1);
  for (int k = 0; k < *n; k++) *size = build_length_mul(b, *size, dims[k]);
  return b->status;
}

static damo_status fn_unpack(build *b, const fn_args *a, ptrvec *out) {
  const prop_value *shapes = &FN_OPTIONS(a, grid_options)->shapes;
  damo_var *dims[DAMO_MAX_NDIM], *at = build_i64(b, 0), *all = build_i64(b, 0);
  int64_t need = 0;
  int n = 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *v = build_strong(b, a->in[0]);
  if (!v) return b->status;
  if (var_ndim(v) != 1) return ctx_fail(b->ctx, DAMO_ESHAPE, "unpack: a vector is expected, got %d axes", var_ndim(v));
  if (shapes->kind != PROP_LIST) return ctx_fail(b->ctx, DAMO_ETYPE, "unpack: shapes is a list of shapes");
  const int64_t have = v->type->shape[0];
  for (int i = 0; i < shapes->n; i++) {
    damo_var *size;
    DAMO_TRY(unpack_size(b, &shapes->u.list[i], dims, &n, &size));
    all = build_length_add(b, all, size);
  }
  if (all == NULL) return b->status;
  if (have >= 0 && var_static_int(all, &need) && need != have)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "unpack: the shapes have %lld entries, the vector %lld", (long long)need,
                    (long long)have);
  if (have < 0 || !var_static_int(all, &need)) v = build_specify_shape(b, v, &all); /* told when it runs */
  for (int i = 0; i < shapes->n && v != NULL; i++) {
    damo_var *size;
    DAMO_TRY(unpack_size(b, &shapes->u.list[i], dims, &n, &size));
    damo_var *end = build_length_add(b, at, size);
    damo_var *part = end != NULL ? build_slice(b, v, 0, at, end, 1) : NULL;
    DAMO_TRY(fn_give(b, out, part ? build_reshape(b, part, build_vector(b, dims, n), n) : NULL));
    at = end;
  }
  return b->status;
}

const op_func grid_funcs[] = {
    {.name = "meshgrid",
     .operands = "xs...",
     .options = OPTIONS(OPT(grid_options, indexing, OPT_STR), OPT(grid_options, sparse, OPT_BOOL)),
     .call = fn_meshgrid,
     .doc = "a tensor of coordinates for each vector, on the grid of all; indexing \"xy\" swaps the first two axes, "
            "\"ij\" "
            "does not; sparse: of length 1 along the other axes",
     .no_method = true,
     .bare_list = true},
    {.name = "broadcast_arrays",
     .operands = "xs...",
     .call = fn_broadcast_arrays,
     .doc = "the tensors broadcast to one shape; read-only views",
     .no_method = true,
     .bare_list = true},
    {.name = "broadcast_shape",
     .operands = "xs...",
     .options = OPTIONS(OPT(broadcast_options, arrays_are_shapes, OPT_BOOL)),
     .call = fn_broadcast_shape,
     .doc = "the shape to which the tensors broadcast, a vector; arrays_are_shapes: the operands are shapes themselves",
     .no_method = true,
     .bare_list = true},
    {.name = "concat_with_broadcast",
     .operands = "xs...",
     .options = OPTIONS(OPT(broadcast_options, axis, OPT_INT)),
     .call = fn_concat_with_broadcast,
     .doc = "the tensors joined along an axis (default 1), after their other axes were broadcast",
     .no_method = true,
     .bare_list = true},
    {.name = "indices",
     .operands = "",
     .options = OPTIONS(OPT(grid_options, shape, OPT_SHAPE), OPT(grid_options, sparse, OPT_BOOL)),
     .call = fn_indices,
     .doc = "the positions along each axis of a tensor of that shape, with a first axis for them; sparse: a tensor an "
            "axis, of length 1 along the others",
     .no_method = true},
    {.name = "ix_",
     .operands = "positions...",
     .call = fn_ix,
     .doc = "the vectors of positions, or masks, each along an axis of its own: x[{ix_(rows, columns)}] is a block",
     .no_method = true,
     .bare_list = true},
    {.name = "tril_indices",
     .operands = "[n]",
     .options =
         OPTIONS(OPT(grid_options, k, OPT_INT), OPT(grid_options, m, OPT_SHAPE), OPT(grid_options, n, OPT_SHAPE)),
     .call = fn_tril_indices,
     .doc = "the rows and columns of the entries on and below the k-th diagonal of an n by m matrix",
     .no_method = true},
    {.name = "triu_indices",
     .operands = "[n]",
     .options =
         OPTIONS(OPT(grid_options, k, OPT_INT), OPT(grid_options, m, OPT_SHAPE), OPT(grid_options, n, OPT_SHAPE)),
     .call = fn_triu_indices,
     .doc = "the rows and columns of the entries on and above the k-th diagonal of an n by m matrix",
     .no_method = true},
    {.name = "tril_indices_from",
     .operands = "x",
     .options = OPTIONS(OPT(grid_options, k, OPT_INT)),
     .call = fn_tril_indices_from,
     .doc = "the rows and columns of the entries of a matrix on and below its k-th diagonal",
     .no_method = true},
    {.name = "triu_indices_from",
     .operands = "x",
     .options = OPTIONS(OPT(grid_options, k, OPT_INT)),
     .call = fn_triu_indices_from,
     .doc = "the rows and columns of the entries of a matrix on and above its k-th diagonal",
     .no_method = true},
    {.name = "diag_indices",
     .operands = "[n]",
     .options = OPTIONS(OPT(grid_options, ndim, OPT_INT), OPT(grid_options, n, OPT_SHAPE)),
     .call = fn_diag_indices,
     .doc = "the positions of the diagonal of a tensor of ndim axes (default 2) of length n",
     .no_method = true},
    {.name = "unravel_index",
     .operands = "positions",
     .options = OPTIONS(OPT(grid_options, shape, OPT_SHAPE), OPT(grid_options, order, OPT_STR)),
     .call = fn_unravel_index,
     .doc = "positions among all entries of a tensor of that shape as positions along each axis; order \"C\": the last "
            "axis changes fastest, \"F\": the first"},
    {.name = "inverse_permutation",
     .operands = "p",
     .call = fn_inverse_permutation,
     .doc = "the permutation, of the positions along the last axis, that undoes p: p[q] and q[p] are 1, 2, 3 …"},
    {.name = "ravel_multi_index",
     .operands = "positions...",
     .options = OPTIONS(OPT(grid_options, shape, OPT_SHAPE), OPT(grid_options, mode, OPT_ANY),
                        OPT(grid_options, order, OPT_STR)),
     .call = fn_ravel_multi_index,
     .doc =
         "positions along each axis as positions among all entries of a tensor of that shape; mode, or one an axis: as "
         "take's",
     .no_method = true,
     .bare_list = true},
    {.name = "rot90",
     .operands = "x",
     .options = OPTIONS(OPT(grid_options, k, OPT_INT), OPT(grid_options, axes, OPT_AXES)),
     .call = fn_rot90,
     .doc = "x rotated k times by 90 degrees, from the first of two axes (default 1, 2) to the second"},
    {.name = "pack",
     .operands = "xs...",
     .call = fn_pack,
     .doc = "the entries of several tensors as one vector; damo.pack(x, y) gives the list of shapes for unpack, too",
     .no_method = true,
     .bare_list = true},
    {.name = "unpack",
     .operands = "x",
     .options = OPTIONS(OPT(grid_options, shapes, OPT_ANY)),
     .call = fn_unpack,
     .doc = "the tensors of these shapes that a vector holds one after the other"},
    {.name = NULL},
};
