/* index_batch: reads and writes of parts over batches.
 *
 * With k leading axes before those of x, x[…] is x[:, …, :, …] where the operands of the index are shared by the batch.
 * Where positions or lists differ from entry to entry they become lists with k axes more, and the leading axes of x
 * are taken by lists of all their positions, so that entry b of the lists reads entry b of x. The lists' axes B then
 * begin with the batch. Ranges and masks that differ give parts of different lengths: these are left to a loop.
 */
#include <string.h>

#include "index_int.h"

#define BATCH_SPEC_TEXT (4 * INDEX_MAX_ITEMS + 1)

/* The read of a part over a batch: its spec and operands, and where the axes of its result go. */
typedef struct index_batch {
  int k;
  char spec[BATCH_SPEC_TEXT];
  damo_var *idx[3 * INDEX_MAX_ITEMS + DAMO_MAX_NDIM];
  int n_idx;
  int ndim;                   /* axes of a part: of the node's own, without the batch */
  int n_b, pre;               /* of a part: the axes of B, and those before the first list */
  int pattern[DAMO_MAX_NDIM]; /* axis i of the part with the leading axes in front is axis pattern[i] of what is read */
  bool is_moved;              /* they are not the same */
} index_batch;

static int index_item_operands(const index_item *it) {
  if (it->kind == ITEM_RANGE) return (it->given & 1) + (it->given >> 1 & 1) + (it->given >> 2 & 1);
  return it->kind == ITEM_POSITION || it->kind == ITEM_LIST;
}

static bool index_is_list(const index_item *it) { return it->kind == ITEM_LIST || it->kind == ITEM_POSITION; }

static bool index_is_mask(const damo_var *v) { return var_dtype(v) == DAMO_BOOL && var_ndim(v) > 0; }

/* The layout of a part of x, whose index has these operands. */
static damo_status index_part_layout(damo_ctx *ctx, const index_spec *spec, const damo_var *x, damo_var *const *idx,
                                     index_batch *w) {
  index_axes axes;
  int rank[3 * INDEX_MAX_ITEMS];
  bool listed = false;
  for (int i = 0; i < spec->n_operands; i++) rank[i] = index_is_mask(idx[i]) ? var_ndim(idx[i]) : 1;
  DAMO_TRY(index_axes_of(ctx, "index", spec, var_ndim(x), rank, &axes));
  w->n_b = w->pre = w->ndim = 0;
  for (int i = 0; i <= spec->n; i++) {
    const int fill = i == axes.fill_at ? axes.fill : 0;
    w->ndim += fill;
    if (!listed) w->pre += fill;
    if (i == spec->n) break;
    const index_item *it = &spec->item[i];
    listed = listed || index_is_list(it);
    if (it->kind == ITEM_RANGE || it->kind == ITEM_NEWAXIS) {
      w->ndim++;
      if (!listed) w->pre++;
    }
    if (it->kind != ITEM_LIST) continue;
    const int n = index_is_mask(idx[it->operand]) ? 1 : var_ndim(idx[it->operand]);
    if (n > w->n_b) w->n_b = n;
  }
  w->ndim += w->n_b;
  return DAMO_OK;
}

static void index_move(index_batch *w, const int *order, int n) {
  w->is_moved = false;
  for (int i = 0; i < n; i++) {
    w->pattern[i] = order[i];
    w->is_moved = w->is_moved || order[i] != i;
  }
}

/* The operands are shared by the batch, x has the leading axes. What is read has its axes as pre, k, B, post only if the
 * lists are not adjacent: then it has B before the leading axes. */
static damo_status index_batch_shared(const index_spec *spec, const char *text, damo_var *const *idx, index_batch *w) {
  int order[DAMO_MAX_NDIM], n = 0;
  const int first = spec->advanced && !index_lists_adjacent(spec) ? w->n_b : 0;
  for (int i = 0; i < w->k; i++) memcpy(w->spec + 4 * i, "s000", 5);
  strcat(w->spec, text);
  for (int i = 0; i < spec->n_operands; i++) w->idx[w->n_idx++] = idx[i];
  for (int i = 0; i < w->k; i++) order[n++] = first + i;
  for (int i = 0; i < first; i++) order[n++] = i;
  for (int i = first + w->k; i < w->ndim + w->k; i++) order[n++] = i;
  index_move(w, order, n);
  return DAMO_OK;
}

/* The text of the items, with batched positions as lists, behind what w->spec has. */
static void index_list_items(const index_spec *spec, const char *text, const bool *batched, index_batch *w) {
  char *to = w->spec + strlen(w->spec);
  for (int i = 0; i < spec->n; i++) {
    const index_item *it = &spec->item[i];
    const size_t n = it->kind == ITEM_RANGE ? 4 : 1;
    memcpy(to, text, n);
    if (it->kind == ITEM_POSITION && batched[it->operand]) *to = 'l';
    to += n;
    text += n;
  }
  *to = '\0';
}

/* Operands differ from entry to entry; with_x: x has the leading axes, else it is shared. */
static damo_status index_batch_listed(build *b, const index_spec *spec, const char *text, damo_var *x, bool with_x,
                                      damo_var *const *idx, const bool *batched, index_batch *w) {
  int order[DAMO_MAX_NDIM], pattern[DAMO_MAX_NDIM], n = 0;
  index_spec now;
  const int k = w->k, b_ndim = k + w->n_b;
  if (b_ndim > DAMO_MAX_NDIM) return batch_pad(b, x, 0, b_ndim), b->status; /* fails */
  for (int a = 0; a < (with_x ? k : 0); a++) {
    for (int i = 0; i < b_ndim; i++) pattern[i] = i == a ? 0 : -1;
    w->idx[w->n_idx++] = build_dimshuffle(b, build_range(b, build_i64(b, 1), build_dim(b, x, a)), pattern, b_ndim);
    strcat(w->spec, "l");
  }
  index_list_items(spec, text, batched, w);
  for (int i = 0; i < spec->n_operands; i++) w->idx[w->n_idx++] = batched[i] ? batch_pad(b, idx[i], k, w->n_b) : idx[i];
  DAMO_TRY(index_spec_parse(b->ctx, w->spec, &now));
  /* What is read: pre, batch, B, post where its lists are adjacent, else batch, B, pre, post. */
  const bool adjacent = index_lists_adjacent(&now);
  const int first = adjacent && !with_x ? w->pre : 0;
  const int behind = !adjacent && w->n_b > 0 && index_lists_adjacent(spec) ? w->pre : 0;
  for (int i = 0; i < k; i++) order[n++] = first + i;
  for (int i = 0; i < first; i++) order[n++] = i;
  for (int i = 0; i < behind; i++) order[n++] = k + w->n_b + i;
  for (int i = 0; i < w->n_b; i++) order[n++] = first + k + i;
  for (int i = first + k + w->n_b + behind; i < w->ndim + k; i++) order[n++] = i;
  index_move(w, order, n);
  return b->status;
}

/* The read over the batch of the part of x0, the node's own operand, that the node's operands idx0 give. *can: whether
 * there is a rule. */
static damo_status index_batch_plan(build *b, const damo_op *op, const damo_var *x0, damo_var *const *idx0, damo_var *x,
                                    bool with_x, damo_var *const *idx, const bool *batched, index_batch *w, bool *can) {
  const index_spec *spec = op->data;
  const char *text = OP_PROPS(op, index_props)->spec.u.s;
  bool any = false;
  w->n_idx = 0;
  w->spec[0] = '\0';
  *can = spec->n + w->k <= INDEX_MAX_ITEMS;
  DAMO_TRY(index_part_layout(b->ctx, spec, x0, idx0, w));
  for (int i = 0; i < spec->n; i++) {
    const index_item *it = &spec->item[i];
    for (int k = 0; k < index_item_operands(it); k++) {
      if (!batched[it->operand + k]) continue;
      any = true;
      *can = *can && index_is_list(it) && !index_is_mask(idx0[it->operand]);
    }
  }
  if (w->ndim + w->k > DAMO_MAX_NDIM) return batch_pad(b, x, 0, w->ndim + w->k), b->status; /* fails */
  if (!*can) return b->status;
  return any ? index_batch_listed(b, spec, text, x, with_x, idx, batched, w) : index_batch_shared(spec, text, idx, w);
}

damo_status index_read_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                             damo_var **out) {
  index_batch w = {.k = k};
  bool can;
  if (batched[0]) DAMO_TRY(batch_agree(b, in, batched, node->n_in, k, false));
  DAMO_TRY(index_batch_plan(b, node->op, node->in[0], node->in + 1, in[0], batched[0], in + 1, batched + 1, &w, &can));
  damo_var *r = can ? index_read(b, in[0], w.spec, w.idx, w.n_idx) : NULL;
  out[0] = r != NULL && w.is_moved ? build_dimshuffle(b, r, w.pattern, w.ndim + k) : r;
  return b->status;
}

damo_status index_write_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                              damo_var **out) {
  index_batch w = {.k = k};
  damo_var *lengths[DAMO_MAX_NDIM];
  int back[DAMO_MAX_NDIM];
  bool can;
  DAMO_TRY(batch_lengths(b, in, batched, node->n_in, k, lengths));
  in[0] = batch_expand(b, in[0], batched[0], k, lengths);
  DAMO_TRY(index_batch_plan(b, node->op, node->in[0], node->in + 2, in[0], true, in + 2, batched + 2, &w, &can));
  if (!can) return b->status;
  damo_var *y = batched[1] ? batch_pad(b, in[1], k, w.ndim) : in[1];
  if (w.is_moved && y != NULL) {
    const int own = var_ndim(y), lead = w.ndim + k - own;
    for (int i = 0; i < w.ndim + k; i++) back[w.pattern[i]] = i < lead ? -1 : i - lead;
    y = build_dimshuffle(b, y, back, w.ndim + k);
  }
  out[0] =
      index_write(b, in[0], y, OP_PROPS(node->op, index_props)->set_instead_of_inc.u.i != 0, w.spec, w.idx, w.n_idx);
  return b->status;
}
