/* mask.c: how the masks of derivatives (op/elem/masked.h) pass nodes whose rules do not know of them. */
#include "grad_int.h"
#include "op/elem/build_arith.h"
#include "op/elem/masked.h"
#include "op/op.h"

damo_var *grad_cast(build *b, damo_var *x, damo_dtype dtype, bool take_real) {
  if (var_dtype(x) == dtype) return x;
  masked m = masked_of(b, x);
  if (take_real && dtype_is_complex(var_dtype(m.raw)) && !dtype_is_complex(dtype)) m.raw = build_real(b, m.raw);
  m.raw = m.raw != NULL ? build_cast(b, m.raw, dtype) : NULL;
  return build_masked(b, m);
}

bool grad_ends_masks(const op_def *def, bool forward) { return def->impure || (!forward && def->masks == MASKS_END); }

const build_mask *grad_branch_of(const build *b, damo_var *const *v, int n) {
  const build_mask *all = NULL;
  for (int i = 0; i < n; i++) {
    if (v[i] == NULL) continue;
    const build_mask *own = build_mask_of(b, v[i]);
    if (own == NULL || !own->lazy) return NULL;
    if (all != NULL && (all->cond != own->cond || all->inverse != own->inverse)) return NULL;
    all = own;
  }
  return all;
}

/* The scalar condition outside which all of v are 0; without a condition if there is none. */
static masked scalar_mask(build *b, damo_var *const *v, int n) {
  masked all = {.cond = NULL};
  for (int i = 0; i < n; i++) {
    if (v[i] == NULL) continue;
    const masked own = mask_of_one(b, masked_of(b, v[i]));
    if (own.cond == NULL) return own;
    all = all.cond == NULL ? own : mask_either(b, all, own);
  }
  return all;
}

/* The mask of v as a value of v's shape, 1 where v may differ from 0: bool, or of v's dtype. */
static damo_var *mask_value(build *b, damo_var *v, bool as_bool) {
  const masked m = masked_of(b, v);
  const damo_dtype dtype = as_bool ? DAMO_BOOL : var_dtype(v);
  if (m.cond == NULL) return build_fill(b, v, build_scalar(b, dtype, 1));
  return build_fill(b, v, build_cast(b, mask_condition(b, m), dtype));
}

/* An Op that moves or sums entries, applied to the masks, gives the places that a nonzero entry reaches.
 * workspace: n_from + n_to, NULL. */
static damo_status pass_moved(build *b, damo_apply *node, bool forward, damo_var *const *from, int n_from,
                              damo_var **to, int n_to, damo_var **workspace) {
  const op_def *def = node->op->def;
  damo_var **mask = workspace, **moved = workspace + n_from;
  for (int i = 0; i < n_from; i++) {
    if (from[i] != NULL) mask[i] = mask_value(b, from[i], def->masks == MASKS_MOVED);
  }
  if (b->status != DAMO_OK) return b->status;
  DAMO_TRY(forward ? grad_rop(b, node, mask, moved) : def->grad(b, node, mask, moved));
  for (int i = 0; i < n_to && b->status == DAMO_OK; i++) {
    damo_var *v = to[i], *m = moved[i];
    if (v == NULL || m == NULL || !type_is_tensor(v->type) || !type_is_tensor(m->type)) continue;
    if (var_ndim(v) != var_ndim(m)) continue;
    if (var_dtype(m) != DAMO_BOOL) m = build_neq(b, m, build_num(b, 0));
    build_note_mask(b, v, (masked){.cond = m});
  }
  return b->status;
}

damo_status grad_pass_masks(build *b, damo_apply *node, bool forward, damo_var *const *from, int n_from, damo_var **to,
                            int n_to) {
  const op_def *def = node->op->def;
  bool any = false, weak = false, dense = true;
  if (b->first_mask == NULL || def->masks == MASKS_OWN || def->masks == MASKS_END || def->impure) return b->status;
  for (int i = 0; i < n_from; i++) {
    if (from[i] == NULL) continue;
    const masked m = masked_of(b, from[i]);
    any = any || m.cond != NULL;
    weak = weak || (m.cond != NULL && m.weak);
    dense = dense && type_is_tensor(from[i]->type);
  }
  if (!any || !dense) return b->status;
  const masked one = scalar_mask(b, from, n_from);
  for (int i = 0; i < n_to && one.cond != NULL; i++) {
    if (to[i] == NULL || !type_is_tensor(to[i]->type) || build_mask_of(b, to[i]) != NULL) continue;
    to[i] = build_masked(b, (masked){to[i], one.cond, one.inverse, one.weak});
  }
  const bool moves =
      def->masks == MASKS_MOVED || (def->masks == MASKS_SUMMED && node->op->terms == TERMS_LINEAR && !weak);
  if (one.cond != NULL || !moves || def->grad == NULL) return b->status;
  const size_t bytes = (size_t)(n_from + n_to) * sizeof(damo_var *);
  damo_var **workspace = mem_calloc(b->ctx, bytes);
  if (workspace == NULL) return b->status = DAMO_EMEMORY;
  damo_status s = pass_moved(b, node, forward, from, n_from, to, n_to, workspace);
  mem_free(b->ctx, workspace, bytes);
  return s == DAMO_OK ? b->status : s;
}
