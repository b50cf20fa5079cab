/* scan_recipe.c: how files have a Scan (graph/recipe.h): its options, then its parts with their taps. What follows from
 * these, such as the numbers of inner inputs and of outputs, is computed again. */
#include "graph/recipe.h"
#include "scan_int.h"

#define SCAN_MOST_STEPS (INT64_C(1) << 40)
#define SCAN_MOST_TAP (1 << 24)

enum { SCAN_IS_UNTIL = 1, SCAN_IS_FLIPPED = 2, SCAN_IS_DERIVED = 4, SCAN_HANDS_BACK = 8, SCAN_FLAGS = 16 };
enum { PART_STACK = 1, PART_LAST = 2, PART_BARE = 4, PART_UPDATE = 8, PART_FLAGS = 16 };

static damo_status tell_part(const scan_class *s, const scan_part *p, op_parts *out) {
  DAMO_TRY(parts_add_int(out, p->role));
  DAMO_TRY(parts_add_int(out, (p->stack >= 0 ? PART_STACK : 0) | (p->last >= 0 ? PART_LAST : 0) |
                                  (p->bare ? PART_BARE : 0) | (p->update ? PART_UPDATE : 0)));
  DAMO_TRY(parts_add_int(out, p->before));
  DAMO_TRY(parts_add_int(out, p->span));
  DAMO_TRY(parts_add_int(out, p->number));
  DAMO_TRY(parts_add_int(out, p->tail));
  DAMO_TRY(parts_add_int(out, p->n));
  for (int k = p->first; k < p->first + p->n; k++) DAMO_TRY(parts_add_int(out, s->tap[k]));
  return DAMO_OK;
}

static damo_status scan_tell(const damo_op *op, op_parts *out) {
  const scan_class *s = scan_at(op);
  if (s->progress != NULL) {
    ctx_fail(op->obj.ctx, DAMO_ETYPE,
             "save_graph: %s%s%s calls a function of the script (progress), which no file can hold", s->def.name,
             s->name != NULL ? " " : "", s->name != NULL ? s->name : "");
    ctx_fail_at(op->obj.ctx, s->def.name, NULL);
    return DAMO_ETYPE;
  }
  DAMO_TRY(parts_add_text(out, s->name));
  DAMO_TRY(parts_add_text(out, s->mode));
  DAMO_TRY(parts_add_int(out, (s->until ? SCAN_IS_UNTIL : 0) | (s->flipped ? SCAN_IS_FLIPPED : 0) |
                                  (s->derived ? SCAN_IS_DERIVED : 0) | (s->hands_back ? SCAN_HANDS_BACK : 0)));
  DAMO_TRY(parts_add_int(out, s->truncate));
  DAMO_TRY(parts_add_int(out, s->checkpoint));
  DAMO_TRY(parts_add_int(out, s->n_parts));
  for (int i = 0; i < s->n_parts; i++) DAMO_TRY(tell_part(s, &s->part[i], out));
  return DAMO_OK;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* The taps of a part lie in what it spans. */
static bool tap_fits(const scan_part *p, int32_t tap) {
  if (p->role == SCAN_SEQUENCE) return p->before + tap >= 0 && p->before + tap <= p->span;
  return p->role == SCAN_STATE ? tap <= -1 && tap >= -p->span : tap == 0;
}

static bool part_is_sound(const scan_part *p) {
  switch (p->role) {
    case SCAN_SEQUENCE:
      return p->n > 0 && p->stack < 0 && p->last < 0 && !p->bare && !p->update && p->before <= p->span;
    case SCAN_STATE: return p->n > 0 && p->before == 0 && p->span >= 1 && (!p->bare || p->span == 1);
    case SCAN_FIXED: return p->n == 1 && p->stack < 0 && p->last < 0 && !p->bare && !p->update && p->span == 0;
    case SCAN_COLLECT: return p->n == 0 && p->span == 0 && !p->bare && !p->update;
  }
  return false;
}

/* Reads the parts and numbers what belongs to them; they are sorted by their roles. */
static void make_parts(scan_class *s, op_parts *in) {
  int32_t *const counts[] = {&s->n_seq, &s->n_state, &s->n_fixed, &s->n_collect};
  int32_t first = 0, out = 0, node_out = 0;
  scan_role role = SCAN_SEQUENCE;
  for (int i = 0; i < s->n_parts && !in->bad; i++) {
    scan_part *p = &s->part[i];
    *p = (scan_part){.role = (scan_role)parts_int(in, role, SCAN_COLLECT), .first = first, .out = -1};
    role = p->role;
    const int64_t flags = parts_int(in, 0, PART_FLAGS - 1);
    p->before = (int32_t)parts_int(in, 0, SCAN_MOST_TAP);
    p->span = (int32_t)parts_int(in, 0, SCAN_MOST_TAP);
    p->number = (int32_t)parts_int(in, 0, INT32_MAX);
    p->tail = parts_int(in, 0, SCAN_MOST_STEPS);
    p->n = (int32_t)parts_int(in, 0, s->n_in - first);
    p->bare = (flags & PART_BARE) != 0;
    p->update = (flags & PART_UPDATE) != 0;
    p->stack = flags & PART_STACK ? node_out++ : -1;
    p->last = flags & PART_LAST ? 0 : -1;
    if (role == SCAN_STATE || role == SCAN_COLLECT) p->out = out++;
    in->bad = in->bad || !part_is_sound(p);
    for (int k = 0; k < p->n && !in->bad; k++) {
      s->tap[first + k] = (int32_t)parts_int(in, -SCAN_MOST_TAP, SCAN_MOST_TAP);
      in->bad = in->bad || !tap_fits(p, s->tap[first + k]);
    }
    first += p->n;
    ++*counts[role];
  }
  for (int i = 0; i < s->n_parts; i++) {
    if (s->part[i].last >= 0) s->part[i].last = node_out++;
  }
  s->n_out = node_out + (s->until ? 1 : 0);
  in->bad = in->bad || first != s->n_in || out + (s->until ? 1 : 0) != s->fgraph->outputs.n;
}

/* Whether the inner graph has the Types that the parts need. Operands are checked when a node is made (scan_fit). */
static bool types_are_sound(const scan_class *s) {
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *p = &s->part[i];
    const damo_type *out = p->out >= 0 ? scan_inner_out(s, p->out)->type : NULL;
    if (p->stack >= 0 && !scan_is_stacked(out)) return false;
    for (int k = p->first; k < p->first + p->n; k++) {
      const damo_type *t = scan_inner_in(s, k)->type;
      if (p->role == SCAN_STATE && !type_is_compatible(t, out)) return false;
      if (p->role != SCAN_FIXED && t != scan_inner_in(s, p->first)->type) return false;
    }
  }
  if (!s->until) return true;
  const damo_type *stop = scan_inner_out(s, (int)s->fgraph->outputs.n - 1)->type;
  return type_is_tensor(stop) && stop->ndim == 0 && stop->dtype == DAMO_BOOL;
}

static damo_status scan_fill(scan_class *s, op_parts *in) {
  damo_ctx *ctx = s->obj.ctx;
  DAMO_TRY(mem_copy_text(ctx, parts_text(in), &s->name));
  DAMO_TRY(mem_copy_text(ctx, parts_text(in), &s->mode));
  const int64_t flags = parts_int(in, 0, SCAN_FLAGS - 1);
  s->until = (flags & SCAN_IS_UNTIL) != 0;
  s->flipped = (flags & SCAN_IS_FLIPPED) != 0;
  s->derived = (flags & SCAN_IS_DERIVED) != 0;
  s->hands_back = (flags & SCAN_HANDS_BACK) != 0;
  s->truncate = parts_int(in, 0, SCAN_MOST_STEPS);
  s->checkpoint = parts_int(in, SCAN_LOG, SCAN_MOST_STEPS);
  const int32_t n_parts = (int32_t)parts_int(in, 0, in->n);
  if (in->bad) return DAMO_OK;
  s->n_in = s->n_taps = (int32_t)s->fgraph->inputs.n;
  s->part = mem_calloc(ctx, (size_t)n_parts * sizeof *s->part);
  if (s->part == NULL) return DAMO_EMEMORY;
  s->n_parts = n_parts;
  s->tap = mem_calloc(ctx, (size_t)s->n_taps * sizeof *s->tap);
  if (s->tap == NULL) return DAMO_EMEMORY;
  make_parts(s, in);
  in->bad = in->bad || !types_are_sound(s);
  if (in->bad) return DAMO_OK;
  DAMO_TRY(scan_set_updates(s));
  return inner_freeze(s->fgraph);
}

static damo_op *scan_remake(damo_ctx *ctx, op_parts *in, damo_fgraph *take_graph) {
  scan_class *s = obj_new(ctx, OBJ_SCAN, sizeof *s);
  if (s == NULL) {
    damo_release(take_graph);
    return NULL;
  }
  s->fgraph = take_graph;
  const damo_status status = scan_fill(s, in);
  if (status == DAMO_OK && !in->bad) return scan_op_of(s);
  damo_release(s);
  return NULL;
}

const op_recipe scan_recipe = {.name = "Scan", .tell = scan_tell, .make = scan_remake};
const op_recipe *const scan_recipes[] = {&scan_recipe, NULL};
const op_def *const scan_classes[] = {&scan_replay_def, &scan_bits_def, NULL};
