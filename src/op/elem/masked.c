/* masked: the values of masked.h, and their sums. */
#include "masked.h"
#include "elem_int.h"
#include "build_arith.h"

/* ---- Notes of a scope -------------------------------------------------------------------------------------------- */

masked masked_of(const build *b, damo_var *v) {
  const build_mask *note = v != NULL ? build_mask_of(b, v) : NULL;
  if (note == NULL || !type_is_tensor(v->type)) return (masked){.raw = v};
  return (masked){.raw = note->lazy ? v : note->raw, .cond = note->cond, .inverse = note->inverse, .weak = note->weak};
}

static damo_var *keep_note(build *b, damo_var *v, damo_var *raw, masked m) {
  return build_keep_mask(b, v,
                         (build_mask){.raw = raw, .cond = m.cond, .inverse = m.inverse, .weak = m.weak, .lazy = false});
}

damo_var *build_note_mask(build *b, damo_var *v, masked m) {
  if (v == NULL || m.cond == NULL || !type_is_tensor(v->type) || build_mask_of(b, v) != NULL) return v;
  return keep_note(b, v, v, m);
}

damo_var *build_masked(build *b, masked m) {
  if (m.cond == NULL || m.raw == NULL) return m.raw;
  if (masked_same(masked_of(b, m.raw), m)) return m.raw;
  damo_var *zero = build_num(b, 0);
  damo_var *v = m.inverse ? build_switch(b, m.cond, zero, m.raw) : build_switch(b, m.cond, m.raw, zero);
  return v != NULL ? keep_note(b, v, m.raw, m) : NULL;
}

/* ---- Conditions -------------------------------------------------------------------------------------------------- */

bool masked_same(masked x, masked y) { return x.cond == y.cond && x.inverse == y.inverse; }

damo_var *mask_condition(build *b, masked m) {
  damo_var *cond = build_cast(b, m.cond, DAMO_BOOL);
  return m.inverse ? build_invert(b, cond) : cond;
}

masked mask_either(build *b, masked x, masked y) {
  const bool weak = x.weak || y.weak;
  if (masked_same(x, y)) return (masked){.cond = x.cond, .inverse = x.inverse, .weak = weak};
  return (masked){.cond = build_or_(b, mask_condition(b, x), mask_condition(b, y)), .weak = weak};
}

masked mask_of_one(build *b, masked m) {
  m.raw = NULL;
  for (int k = 0; m.cond != NULL && k < var_ndim(m.cond); k++) {
    if (!type_dim_is_one(m.cond->type, k)) m.cond = NULL;
  }
  if (m.cond != NULL && var_ndim(m.cond) > 0) m.cond = build_dimshuffle(b, m.cond, NULL, 0);
  return m;
}

masked mask_of_rank(build *b, masked m, int ndim) {
  int pattern[DAMO_MAX_NDIM];
  m.raw = NULL;
  if (m.cond == NULL || var_ndim(m.cond) >= ndim) return m;
  const int lead = ndim - var_ndim(m.cond);
  for (int k = 0; k < ndim; k++) pattern[k] = k < lead ? -1 : k - lead;
  m.cond = build_dimshuffle(b, m.cond, pattern, ndim);
  return m;
}

masked mask_any(build *b, masked m, int ndim, const int *axes, int n, bool keepdims) {
  bool summed[DAMO_MAX_NDIM] = {false};
  int own[DAMO_MAX_NDIM], n_own = 0, kept[DAMO_MAX_NDIM], n_kept = 0;
  m.raw = NULL;
  if (m.cond == NULL || m.weak) return (masked){.cond = NULL};
  for (int i = 0; i < (n < 0 ? ndim : n); i++) summed[n < 0 ? i : axes[i]] = true;
  const int lead = ndim - var_ndim(m.cond);
  for (int k = lead; k < ndim; k++) {
    if (summed[k] && !type_dim_is_one(m.cond->type, k - lead)) own[n_own++] = k - lead;
    if (!summed[k]) kept[n_kept++] = k - lead;
  }
  if (n_own > 0) {
    m.cond = build_reduce(b, REDUCE_ANY, mask_condition(b, m), own, n_own, true);
    m.inverse = false;
  }
  if (!keepdims && m.cond != NULL && n_kept < var_ndim(m.cond)) m.cond = build_dimshuffle(b, m.cond, kept, n_kept);
  return m;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

damo_var *build_within(build *b, damo_var *d, masked g) {
  const masked m = masked_of(b, d);
  if (g.cond == NULL || d == NULL || masked_same(m, g)) return d;
  if (m.cond == NULL) return build_masked(b, (masked){.raw = d, .cond = g.cond, .inverse = g.inverse, .weak = g.weak});
  damo_var *both = build_and_(b, mask_condition(b, g), mask_condition(b, m));
  return build_masked(b, (masked){.raw = m.raw, .cond = both, .weak = g.weak && m.weak});
}

damo_var *build_where(build *b, damo_var *cond, damo_var *g, bool inverse, bool weak) {
  const masked m = masked_of(b, g);
  return build_within(b, build_masked(b, (masked){m.raw, cond, inverse, weak}), m);
}

damo_var *build_masked_add(build *b, damo_var *x, damo_var *y) {
  const masked m = masked_of(b, x), o = masked_of(b, y);
  if (m.cond == NULL || o.cond == NULL) return build_add(b, x, y);
  if (masked_same(m, o)) {
    return build_masked(b, (masked){build_add(b, m.raw, o.raw), m.cond, m.inverse, m.weak && o.weak});
  }
  if (m.cond == o.cond)
    return m.inverse ? build_switch(b, m.cond, o.raw, m.raw) : build_switch(b, m.cond, m.raw, o.raw);
  return build_note_mask(b, build_add(b, x, y), mask_either(b, m, o));
}

masked mask_unbroadcast(build *b, masked m, const damo_type *g, const damo_type *like) {
  int axes[DAMO_MAX_NDIM], pattern[DAMO_MAX_NDIM];
  const int n = elemwise_summed_axes(g, like, axes);
  if (n == 0) return (masked){.cond = m.cond, .inverse = m.inverse, .weak = m.weak};
  m = mask_any(b, m, g->ndim, axes, n, true);
  if (m.cond == NULL || var_ndim(m.cond) <= like->ndim) return m;
  const int first = var_ndim(m.cond) - like->ndim;
  for (int k = 0; k < like->ndim; k++) pattern[k] = first + k;
  m.cond = build_dimshuffle(b, m.cond, pattern, like->ndim);
  return m;
}

damo_var *build_masked_unbroadcast(build *b, damo_var *v, damo_var *like) {
  int axes[DAMO_MAX_NDIM];
  masked m = masked_of(b, v);
  if (v == NULL || like == NULL || m.cond == NULL) return build_unbroadcast(b, v, like);
  if (elemwise_summed_axes(v->type, like->type, axes) > 0)
    return build_note_mask(b, build_unbroadcast(b, v, like), mask_unbroadcast(b, m, v->type, like->type));
  damo_var *raw = build_unbroadcast(b, m.raw, like);
  if (raw == m.raw) return v;
  m.raw = raw;
  return build_masked(b, m);
}
