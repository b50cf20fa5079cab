/* inner.c: what Ops that hold a graph have in common. */
#include "inner.h"
#include "op/op.h"
#include "rewrite/rewrite.h"

/* A feature that refuses every change of the inner graph, because Ops are immutable. */
static damo_status refuse_change(damo_fgraph *fg, void *user, damo_apply *node, int index, damo_var *old,
                                 damo_var *now) {
  (void)user;
  (void)node;
  (void)index;
  (void)old;
  (void)now;
  return ctx_fail(fg->obj.ctx, DAMO_EINCONSISTENCY, "the inner graph of an Op can't be changed; change a clone of it");
}

static const fg_feature inner_graph_frozen = {.name = "inner graph", .on_change_input = refuse_change};

damo_status inner_freeze(damo_fgraph *fg) { return fgraph_attach(fg, (fg_feature *)(uintptr_t)&inner_graph_frozen); }

/* ---- Connections ------------------------------------------------------------------------------------------------- */

typedef struct reach_sets {
  damo_ctx *ctx;
  int words;      /* 64-bit words for a Variable: one bit for each input */
  map place;      /* damo_var* → its number + 1 */
  uint64_t *bits; /* `words` words for each numbered Variable: the set of inputs that it depends on */
  size_t bytes;
  bool *connected;
  size_t cap;
} reach_sets;

static uint64_t *bits_of(reach_sets *r, const damo_var *v) {
  uintptr_t place = 0;
  return map_get(&r->place, v, &place) ? r->bits + (place - 1) * (size_t)r->words : NULL;
}

static damo_status reach_number(reach_sets *r, const damo_var *v) {
  return map_get(&r->place, v, NULL) ? DAMO_OK : map_put(&r->place, v, (uintptr_t)r->place.n + 1);
}

static damo_status reach_node(reach_sets *r, damo_apply *node) {
  size_t n = (size_t)node->n_in * (size_t)node->n_out;
  if (n > r->cap) {
    bool *grown = mem_realloc(r->ctx, r->connected, r->cap, n);
    if (grown == NULL) return DAMO_EMEMORY;
    r->connected = grown;
    r->cap = n;
  }
  for (size_t i = 0; i < n; i++) r->connected[i] = true;
  if (node->op->def->connection_pattern != NULL) node->op->def->connection_pattern(node, r->connected);
  for (int i = 0; i < node->n_in; i++) {
    const uint64_t *from = bits_of(r, node->in[i]);
    for (int o = 0; from != NULL && o < node->n_out; o++) {
      uint64_t *to = bits_of(r, node->out[o]);
      damo_assert(to != NULL && to != from); /* every output has a number of its own */
      for (int w = 0; w < r->words && r->connected[i * node->n_out + o]; w++) to[w] |= from[w];
    }
  }
  return DAMO_OK;
}

static damo_status reach_all(reach_sets *r, const damo_fgraph *fg, const ptrvec *nodes) {
  for (int64_t i = 0; i < fg->inputs.n; i++) DAMO_TRY(reach_number(r, fg->inputs.at[i]));
  for (int64_t k = 0; k < nodes->n; k++) {
    damo_apply *node = nodes->at[k];
    for (int o = 0; o < node->n_out; o++) DAMO_TRY(reach_number(r, node->out[o]));
  }
  r->bytes = r->place.n * (size_t)r->words * sizeof *r->bits;
  r->bits = mem_calloc(r->ctx, r->bytes);
  if (r->bits == NULL) return DAMO_EMEMORY;
  for (int64_t i = 0; i < fg->inputs.n; i++) bits_of(r, fg->inputs.at[i])[i / 64] |= (uint64_t)1 << (i % 64);
  for (int64_t k = 0; k < nodes->n; k++) DAMO_TRY(reach_node(r, nodes->at[k]));
  return DAMO_OK;
}

damo_status inner_connections(const damo_fgraph *fg, bool *connected) {
  damo_ctx *ctx = fg->obj.ctx;
  const int64_t n_in = fg->inputs.n, n_out = fg->outputs.n;
  reach_sets r = {.ctx = ctx, .words = (int)((n_in + 63) / 64)};
  ptrvec nodes;
  map_init(&r.place, ctx);
  ptrvec_init(&nodes, ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  if (s == DAMO_OK) s = reach_all(&r, fg, &nodes);
  for (int64_t i = 0; i < n_in && s == DAMO_OK; i++) {
    for (int64_t o = 0; o < n_out; o++) {
      const uint64_t *bits = bits_of(&r, fg->outputs.at[o]);
      connected[i * n_out + o] = bits != NULL && (bits[i / 64] >> (i % 64) & 1) != 0;
    }
  }
  if (r.bits != NULL) mem_free(ctx, r.bits, r.bytes);
  mem_free(ctx, r.connected, r.cap);
  map_clear(&r.place);
  ptrvec_clear(&nodes);
  return s;
}

static const damo_apply *node_at(const damo_fgraph *fg, size_t i) {
  const uintptr_t key = fg->nodes.cells[i].key;
  return key == 0 ? NULL : (const damo_apply *)key;
}

inner_traits inner_traits_of(const damo_fgraph *fg) {
  inner_traits t = {.shapes_known = true, .folds = true};
  for (size_t i = 0; i < fg->nodes.cap; i++) {
    const damo_apply *node = node_at(fg, i);
    if (node == NULL) continue;
    const op_def *def = node->op->def;
    t.shapes_known = t.shapes_known && def->infer_shape != NULL;
    t.impure = t.impure || def->impure;
    t.folds = t.folds && !def->impure && (def->do_constant_folding == NULL || def->do_constant_folding(node));
  }
  for (int64_t o = 0; o < fg->outputs.n; o++) { /* an output may be non-finite if its inner node may */
    const damo_apply *maker = ((damo_var *)fg->outputs.at[o])->owner;
    if (maker != NULL && maker->op->def->nonfinite > t.nonfinite) t.nonfinite = maker->op->def->nonfinite;
  }
  return t;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_function *compile_graph(const inner_graph *g, const damo_fgraph *fg, const char *mode, bool reproducible) {
  damo_ctx *ctx = fg->obj.ctx;
  damo_function *f = NULL;
  const size_t n_in = (size_t)fg->inputs.n * sizeof(in_spec), n_out = (size_t)fg->outputs.n * sizeof(out_spec);
  in_spec *in = mem_calloc(ctx, n_in);
  out_spec *out = in != NULL ? mem_calloc(ctx, n_out) : NULL;
  if (out != NULL) {
    for (int64_t i = 0; i < fg->inputs.n; i++) {
      in[i].var = fg->inputs.at[i];
      in[i].mutable_ = g->mutable_ != NULL && g->mutable_[i];
    }
    for (int64_t o = 0; o < fg->outputs.n; o++) out[o].var = fg->outputs.at[o];
    compile_options options = {.name = g->name, .on_unused_input = UNUSED_IGNORE, .reproducible = reproducible};
    mode_words words = {0};
    if (mode == NULL || compile_read_mode_text(ctx, g->name, mode, &options, &words) == DAMO_OK)
      f = compile_function(ctx, in, fg->inputs.n, out, fg->outputs.n, &options);
    compile_free_mode_words(ctx, &words);
    if (f == NULL) ctx_fail_add(ctx, "while compiling the inner graph of %s", g->name);
    mem_free(ctx, out, n_out);
  }
  if (in != NULL) mem_free(ctx, in, n_in);
  return f;
}

/* The graph as it is compiled, owned: a copy where something prepares it. NULL on failure. */
static damo_fgraph *prepared(const inner_graph *g) {
  const damo_fgraph *fg = g->fgraph;
  damo_ctx *ctx = fg->obj.ctx;
  if (!rewrite_prepares(ctx)) return damo_retain(fg);
  damo_fgraph *copy = fgraph_new(ctx, (damo_var *const *)fg->inputs.at, fg->inputs.n, (damo_var *const *)fg->outputs.at,
                                 fg->outputs.n, true, NULL);
  damo_status s = copy != NULL ? rewrite_prepare_inner(copy) : damo_error_status(ctx);
  if (s == DAMO_OK && (copy->inputs.n != fg->inputs.n || copy->outputs.n != fg->outputs.n)) {
    s = ctx_fail(ctx, DAMO_EVALUE, "%s: preparing its graph has changed how many inputs or outputs it has", g->name);
  }
  if (s == DAMO_OK) return copy;
  damo_release(copy);
  return NULL;
}

static damo_function *inner_compile(const inner_graph *g, const char *mode, bool reproducible) {
  damo_fgraph *fg = prepared(g);
  damo_function *f = fg != NULL ? compile_graph(g, fg, mode, reproducible) : NULL;
  damo_release(fg);
  return f;
}

damo_function *inner_function(const inner_graph *g, bool reproducible) {
  damo_function **fn = &g->fn[reproducible];
  if (*fn != NULL && !(*fn)->freed) return *fn;
  damo_release(*fn);
  *fn = NULL;
  damo_function *f = inner_compile(g, g->mode, reproducible);
  if (*fn == NULL) {
    *fn = f;
  } else { /* a callback during compilation has compiled it already */
    damo_release(f);
  }
  return *fn;
}

/* The Function (taken) for a thunk that runs in f. NULL on failure. */
static damo_function *inner_in_frame(damo_function *take_inner, const frame *f) {
  take_inner->lends = true;
  take_inner->frame.frame.silent = f->silent;
  take_inner->frame.frame.no_jit |= f->no_jit;
  if (!f->profiled || function_profile(take_inner) == DAMO_OK) return take_inner;
  damo_release(take_inner);
  return NULL;
}

damo_function *inner_function_for(const inner_graph *g, frame *f) {
  damo_ctx *ctx = g->fgraph->obj.ctx;
  damo_function *inner = NULL;
  const bool by_frame = f->inner_mode != NULL && g->mode == NULL, reproducible = f->ctx->reproducible;
  damo_function *own = by_frame ? inner_compile(g, f->inner_mode, reproducible) : NULL; /* for this frame alone */
  const damo_function *fn = by_frame ? own : inner_function(g, reproducible);
  if (own != NULL && f->ctx == ctx) return inner_in_frame(own, f);
  if (fn != NULL) inner = function_copy_to(fn, f->ctx);
  if (fn == NULL && f->ctx != ctx) ctx_fail(f->ctx, damo_error_status(ctx), "%s", damo_error_message(ctx));
  damo_release(own);
  return inner != NULL ? inner_in_frame(inner, f) : NULL;
}

damo_status inner_copy_to(graph_copier *c, const inner_graph *g, damo_function **fn) {
  damo_ctx *home = g->fgraph->obj.ctx;
  const bool reproducible = c->ctx->reproducible;
  const bool by_copier = c->inner_mode != NULL && g->mode == NULL;
  damo_function *own = by_copier ? inner_compile(g, c->inner_mode, reproducible) : NULL;
  const damo_function *f = by_copier ? own : inner_function(g, reproducible);
  if (f == NULL) return ctx_fail(c->ctx, damo_error_status(home), "%s", damo_error_message(home));
  fn[reproducible] = function_transfer(c, f);
  damo_release(own);
  return fn[reproducible] != NULL ? DAMO_OK : damo_error_status(c->ctx);
}

/* ---- Cotangents of outputs --------------------------------------------------------------------------------------- */

static damo_status pass_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)op;
  (void)n_in;
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

static damo_status pass_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  gin[0] = gout[0];
  return b->status;
}

static const op_def pass_def = {
    .name = "Pass",
    .n_in = 1,
    .infer_type = pass_type,
    .grad = pass_grad,
    OP_CHECK(same_check),
};

damo_var *inner_pass(build *b, damo_var *y) { return build_op(b, op_new(b->ctx, &pass_def, NULL), &y, 1); }

const op_def *const inner_classes[] = {&pass_def, NULL};
