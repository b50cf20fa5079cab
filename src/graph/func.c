/* func.c: the registered functions, found by a hash of the name, and their calls. */
#include "graph_int.h"

#include <stdio.h>
#include <string.h>

typedef struct func_table {
  /* Two kinds of keys lead to a fn_signature*: the hash of the name (bit 1 set; collisions: +4), and the row's address,
   * whose low bits are 0. */
  map found;
  ptrvec rows; /* in the order of registration, owned */
} func_table;

static func_table *table_of(damo_ctx *ctx) { return ctx->slots[CTX_FUNCS].data; }

static void func_table_destroy(damo_ctx *ctx, void *data) {
  func_table *t = data;
  for (int64_t i = 0; i < t->rows.n; i++) {
    fn_signature *f = t->rows.at[i];
    mem_free(ctx, f, f->size);
  }
  map_clear(&t->found);
  ptrvec_clear(&t->rows);
  mem_free(ctx, t, sizeof *t);
}

/* The key of the name in by_name, whether or not it is there: the first key from its hash on that is free or has that
 * name. */
static const void *name_key(const func_table *t, const char *name) {
  uint64_t h = hash_bytes(17, name, strlen(name)) | 2;
  for (;; h += 4) {
    const fn_signature *f = map_get_ptr(&t->found, intern_key(h));
    if (f == NULL || strcmp(f->name, name) == 0) return intern_key(h);
  }
}

static damo_status func_register(damo_ctx *ctx, func_table *t, const op_func *row) {
  const void *key = name_key(t, row->name);
  if (map_get(&t->found, key, NULL)) return ctx_fail(ctx, DAMO_EVALUE, "function '%s' is registered twice", row->name);
  DAMO_TRY(ptrvec_reserve(&t->rows, t->rows.n + 1));
  fn_signature *f = signature_new(ctx, row);
  if (f == NULL) return damo_error_status(ctx);
  DAMO_TRY(ptrvec_push(&t->rows, f));
  DAMO_TRY(map_put(&t->found, row, (uintptr_t)f));
  return map_put(&t->found, key, (uintptr_t)f);
}

damo_status funcs_register(damo_ctx *ctx, const op_func *rows) {
  for (const op_func *row = rows; row->name != NULL; row++) DAMO_TRY(func_register(ctx, table_of(ctx), row));
  return DAMO_OK;
}

void funcs_link_sparse(damo_ctx *ctx) {
  func_table *t = table_of(ctx);
  for (int64_t i = 0; i < t->rows.n; i++) signature_link_sparse(ctx, t->rows.at[i]);
}

const fn_signature *func_find(damo_ctx *ctx, const char *name) {
  func_table *t = table_of(ctx);
  return map_get_ptr(&t->found, name_key(t, name));
}

const fn_signature *func_of_row(damo_ctx *ctx, const op_func *row) { return map_get_ptr(&table_of(ctx)->found, row); }

const fn_signature *func_at(damo_ctx *ctx, int64_t i) {
  const ptrvec *rows = &table_of(ctx)->rows;
  return i >= 0 && i < rows->n ? rows->at[i] : NULL;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static damo_status func_check_count(build *b, const fn_signature *f, int n_in) {
  if (n_in >= f->n_required && (f->list || n_in <= f->n_operands)) return DAMO_OK;
  const bool more = f->list || f->n_operands != f->n_required;
  build_fail(b, DAMO_ETYPE, "%s: expected %d operand%s%s (%s), got %d", f->name, f->n_required,
             f->n_required == 1 ? "" : "s", more ? " or more" : "", f->func->operands ? f->func->operands : "", n_in);
  return b->status;
}

static bool func_has_sparse_operand(damo_var *const *in, int n_in) {
  for (int i = 0; i < n_in; i++) {
    if (in[i] != NULL && type_is_sparse(in[i]->type)) return true;
  }
  return false;
}

/* Copies f's options to their places in the struct of its sparse row. */
static damo_status func_carry_options(build *b, const fn_signature *f, const prop_value *given, prop_value *out) {
  for (const fn_option *o = f->func->options; o != NULL && o->name != NULL; o++) {
    const int at = f->sparse_place[o->place];
    if (given[o->place].kind == PROP_NIL) continue;
    if (at < 0) {
      build_fail(b, DAMO_EVALUE, "%s: option '%s' is not for a sparse operand", f->name, o->name);
      return b->status;
    }
    out[at] = given[o->place];
  }
  return DAMO_OK;
}

static damo_status func_refuse_sparse(build *b, const fn_signature *f) {
  const fn_signature *s = f->structured;
  const char *form = f->func->stored_form, *other = f->func->remedy;
  char text[128];
  if (s != NULL) {
    snprintf(text, sizeof text, "damo.%s(%s)", s->name, s->n_operands > 1 ? "x, y" : "x");
    form = text;
  }
  if (form != NULL) {
    build_fail(b, DAMO_ETYPE,
               "%s: a sparse operand would give a dense result: use %s to compute on the stored entries alone, or "
               "x:toarray() to compute on the dense matrix",
               f->name, form);
  } else {
    build_fail(b, DAMO_ETYPE,
               "%s: not defined for a sparse operand: use x:toarray() to compute on the dense matrix, or x.data for "
               "the vector of its stored values%s%s",
               f->name, other != NULL ? "; " : "", other != NULL ? other : "");
  }
  return b->status;
}

damo_status func_call(build *b, const fn_signature *f, damo_var *const *in, int n_in, const void *options,
                      ptrvec *out) {
  static const prop_value none[FN_MAX_OPTIONS]; /* all of them nil */
  prop_value carried[FN_MAX_OPTIONS];
  damo_var *padded[FN_MAX_OPERANDS];
  if (b->status != DAMO_OK) return b->status;
  DAMO_TRY(func_check_count(b, f, n_in));
  if (f->asks_sparse && func_has_sparse_operand(in, n_in)) {
    if (f->sparse == NULL) return func_refuse_sparse(b, f);
    if (options != NULL) {
      memset(carried, 0, sizeof carried);
      DAMO_TRY(func_carry_options(b, f, options, carried));
      options = carried;
    }
    f = f->sparse;
  }
  fn_args args = {f->func, f, n_in, in, options != NULL ? options : none};
  if (n_in < f->n_operands && !f->list) { /* absent optional operands are passed as NULL */
    for (int i = 0; i < f->n_operands; i++) padded[i] = i < n_in ? in[i] : NULL;
    args.in = padded;
  }
  damo_status s = f->func->call(b, &args, out);
  if (s != DAMO_OK && b->status == DAMO_OK) b->status = s;
  if (b->status != DAMO_OK) {
    ctx_fail_at(b->ctx, f->name, NULL);
    graph_fail_operands(b->ctx, in, n_in);
  }
  return b->status;
}

damo_status func_register_table(damo_ctx *ctx) {
  func_table *t = mem_calloc(ctx, sizeof *t);
  if (t == NULL) return DAMO_EMEMORY;
  map_init(&t->found, ctx);
  ptrvec_init(&t->rows, ctx);
  ctx->slots[CTX_FUNCS] = (ctx_slot){.data = t, .destroy = func_table_destroy};
  return DAMO_OK;
}

static void graph_notes_destroy(damo_ctx *ctx, void *notes) { mem_free(ctx, notes, sizeof(graph_notes)); }

static damo_status graph_notes_register(damo_ctx *ctx) {
  graph_notes *notes = mem_alloc(ctx, sizeof *notes);
  if (notes == NULL) return DAMO_EMEMORY;
  *notes = (graph_notes){.compute_test_value = TEST_VALUE_OFF, .traceback_limit = 8};
  ctx->slots[CTX_GRAPH] = (ctx_slot){notes, graph_notes_destroy};
  return DAMO_OK;
}

damo_status graph_register(damo_ctx *ctx) {
  DAMO_TRY(graph_notes_register(ctx));
  DAMO_TRY(type_register(ctx));
  DAMO_TRY(op_register(ctx));
  DAMO_TRY(var_register(ctx));
  DAMO_TRY(fgraph_register(ctx));
  DAMO_TRY(trace_register(ctx));
  return func_register_table(ctx);
}
