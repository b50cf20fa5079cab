/* transfer.c: copies of compiled programs in another context, which owns all that the copy consists of. The graph is
 * copied as rewriting has left it, and planned with the nodes in the order that they had. */
#include "compile_int.h"

static damo_status transfer_check(const damo_function *f, damo_ctx *ctx) {
  const fn_program *p = f->program;
  if (p->watcher == NULL && p->n_pairs == 0) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESTATE, "%s is in the mode %s: it runs only in the context that compiled it",
                  function_name(f), p->watcher != NULL ? p->watcher->mode : "of a watcher");
}

/* Makes the copies of the shared Variables, which hold the values that f reads. */
static damo_status transfer_shared(graph_copier *c, const damo_function *f, fn_program *p) {
  for (int64_t i = 0; i < p->n_shared; i++) {
    const fn_shared *from = &f->program->shared[i];
    p->shared[i] = (fn_shared){.input = from->input, .cell = -1, .update_cell = from->update_cell >= 0 ? 0 : -1};
    if (from->var == NULL) continue;
    damo_var *copy = shared_copy_to(c->ctx, from->var, function_shared(f, i));
    if (copier_keep(c, from->var, copy) == NULL) return damo_error_status(c->ctx);
    p->shared[i].var = damo_retain(copy);
  }
  return DAMO_OK;
}

static damo_status transfer_inputs(graph_copier *c, const damo_function *f, fn_program *p) {
  for (int64_t i = 0; i < p->n_inputs; i++) {
    const fn_input *from = &f->program->inputs[i];
    fn_input *in = &p->inputs[i];
    damo_type *type = copier_type(c, from->var->type);
    if (type == NULL || (in->var = var_new(c->ctx, type, from->var->name)) == NULL) return damo_error_status(c->ctx);
    in->strict = from->strict;
    in->mutable_ = from->mutable_;
    DAMO_TRY(mem_copy_text(c->ctx, from->name, &in->name));
  }
  return DAMO_OK;
}

static damo_status transfer_outputs(graph_copier *c, const fn_program *from, fn_program *p) {
  for (int64_t i = 0; i < p->n_outputs; i++) {
    damo_type *type = copier_type(c, from->outputs[i].type);
    if (type == NULL) return damo_error_status(c->ctx);
    p->outputs[i].type = damo_retain(type);
    p->outputs[i].borrow = from->outputs[i].borrow;
    DAMO_TRY(mem_copy_text(c->ctx, from->outputs[i].name, &p->outputs[i].name));
  }
  return DAMO_OK;
}

static damo_status transfer_fresh(const graph_copier *c, const fn_program *from, fn_program *p) {
  ptrvec fresh;
  ptrvec_init(&fresh, c->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < from->n_no_recycling && s == DAMO_OK; i++) {
    const damo_var *v = copier_find(c, from->no_recycling[i]);
    if (v != NULL) s = ptrvec_push(&fresh, v);
  }
  if (s == DAMO_OK) s = program_set_fresh(p, (damo_var *const *)fresh.at, fresh.n);
  ptrvec_clear(&fresh);
  return s;
}

/* The copies of the nodes in the order in which the program runs them. */
static damo_status transfer_order(const graph_copier *c, const fn_program *from, ptrvec *order) {
  for (int64_t k = 0; k < from->vm.n_thunks; k++) {
    const damo_apply *node = copier_find(c, from->vm.thunks[k]->node);
    damo_assert(node != NULL);
    DAMO_TRY(ptrvec_push(order, node));
  }
  return DAMO_OK;
}

static damo_status transfer_program(graph_copier *c, const damo_function *f, fn_program *p) {
  const fn_program *from = f->program;
  p->allow_downcast = from->allow_downcast;
  p->threads = from->threads;
  p->no_jit = from->no_jit;
  p->reproducible = from->reproducible;
  DAMO_TRY(program_fingerprint(from));
  p->fingerprint = from->fingerprint;
  DAMO_TRY(mem_copy_text(c->ctx, from->name, &p->name));
  DAMO_TRY(mem_copy_text(c->ctx, from->inner_mode, &p->inner_mode));
  DAMO_TRY(transfer_shared(c, f, p));
  p->fgraph = copier_fgraph(c, from->fgraph);
  if (p->fgraph == NULL) return damo_error_status(c->ctx);
  DAMO_TRY(transfer_inputs(c, f, p));
  DAMO_TRY(transfer_outputs(c, from, p));
  return transfer_fresh(c, from, p);
}

damo_function *function_transfer(graph_copier *c, const damo_function *f) {
  const fn_program *from = f->program;
  if (transfer_check(f, c->ctx) != DAMO_OK) return NULL;
  fn_program *p = program_new(c->ctx, from->n_inputs, from->n_outputs, from->n_shared);
  if (p == NULL) return NULL;
  const bool outer = c->ctx->reproducible;
  const char *outer_mode = c->inner_mode;
  c->inner_mode = from->inner_mode;
  ctx_set_reproducible(c->ctx, from->reproducible);
  ptrvec order;
  ptrvec_init(&order, c->ctx);
  damo_status s = transfer_program(c, f, p);
  damo_function *g = s == DAMO_OK ? function_over(c->ctx, p) : NULL;
  for (int64_t i = 0; g != NULL && i < p->n_inputs && s == DAMO_OK; i++) {
    if (f->defaults[i] == NULL) continue;
    g->defaults[i] = value_copy_to(c->ctx, f->defaults[i]);
    if (g->defaults[i] == NULL) s = damo_error_status(c->ctx);
  }
  if (g != NULL && s == DAMO_OK && plan_is_straight(from)) s = transfer_order(c, from, &order);
  if (g != NULL && s == DAMO_OK) s = plan_build(p, g, order.n > 0 ? &order : NULL);
  ptrvec_clear(&order);
  ctx_set_reproducible(c->ctx, outer);
  c->inner_mode = outer_mode;
  program_release(p, c->ctx);
  if (g != NULL && s == DAMO_OK) {
    g->lends = f->lends;
    return g;
  }
  damo_release(g);
  return NULL;
}

/* ---- What scripts see of a program of another context ------------------------------------------------------------ */

damo_fgraph *function_fgraph(damo_function *f) {
  if (f->obj.ctx == f->program->ctx || f->program->fgraph == NULL || f->graph != NULL)
    return f->graph != NULL ? f->graph : f->program->fgraph;
  graph_copier c;
  copier_init(&c, f->obj.ctx);
  f->graph = copier_fgraph(&c, f->program->fgraph);
  copier_clear(&c);
  return f->graph;
}

damo_var *function_input(damo_function *f, int64_t i) {
  damo_ctx *ctx = f->obj.ctx;
  const damo_var *v = f->program->inputs[i].var;
  if (ctx == f->program->ctx) return f->program->inputs[i].var;
  if (f->vars == NULL) f->vars = mem_calloc(ctx, (size_t)f->program->n_inputs * sizeof *f->vars);
  if (f->vars == NULL || f->vars[i] != NULL) return f->vars != NULL ? f->vars[i] : NULL;
  damo_type *type = type_copy_to(ctx, v->type);
  if (type != NULL) f->vars[i] = var_new(ctx, type, v->name);
  damo_release(type);
  return f->vars[i];
}
