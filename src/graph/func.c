/* func.c: the functions that scripts and hosts call by name: rows of the op families, found by a hash of the name. */
#include "graph_int.h"

#include <stdio.h>
#include <string.h>

typedef struct func_table {
  map by_name; /* hash of the name (probed by +4) → op_func* */
  ptrvec rows; /* in the order of registration */
} func_table;

static func_table *table_of(damo_ctx *ctx) { return ctx->slots[CTX_FUNCS].data; }

static void func_table_destroy(damo_ctx *ctx, void *data) {
  func_table *t = data;
  map_clear(&t->by_name);
  ptrvec_clear(&t->rows);
  mem_free(ctx, t, sizeof *t);
}

/* The key under which the name stands, or would stand. */
static const void *name_key(const func_table *t, const char *name) {
  uint64_t h = hash_bytes(17, name, strlen(name)) | 2;
  for (;; h += 4) {
    const op_func *f = map_get_ptr(&t->by_name, intern_key(h));
    if (f == NULL || strcmp(f->name, name) == 0) return intern_key(h);
  }
}

damo_status funcs_register(damo_ctx *ctx, const op_func *rows) {
  func_table *t = table_of(ctx);
  for (const op_func *f = rows; f->name != NULL; f++) {
    const void *key = name_key(t, f->name);
    if (map_get(&t->by_name, key, NULL))
      return ctx_fail(ctx, DAMO_EVALUE, "function '%s' is registered twice", f->name);
    DAMO_TRY(ptrvec_push(&t->rows, f));
    DAMO_TRY(map_put(&t->by_name, key, (uintptr_t)f));
  }
  return DAMO_OK;
}

const op_func *func_find(damo_ctx *ctx, const char *name) {
  func_table *t = table_of(ctx);
  return map_get_ptr(&t->by_name, name_key(t, name));
}

const op_func *func_at(damo_ctx *ctx, int64_t i) {
  const ptrvec *rows = &table_of(ctx)->rows;
  return i >= 0 && i < rows->n ? rows->at[i] : NULL;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

typedef struct func_arity {
  int required, most;
} func_arity; /* most -1: a list of any length ends the operands */

static func_arity operand_count(const op_func *f) {
  func_arity a = {0, 0};
  const char *p = f->operands;
  while (p != NULL && *p != '\0') {
    size_t n = strcspn(p, " ");
    bool optional = *p == '[', list = n > 3 && memcmp(p + n - 3, "...", 3) == 0;
    if (list) return (func_arity){a.required, -1};
    a.required += !optional;
    a.most++;
    p += n;
    while (*p == ' ') p++;
  }
  return a;
}

#define FUNC_MAX_OPTIONS 16 /* of one function; every row has fewer */

/* ---- Sparse operands --------------------------------------------------------------------------------------------- */

static bool has_sparse_operand(damo_var *const *in, int n_in) {
  for (int i = 0; i < n_in; i++) {
    if (in[i] != NULL && type_is_sparse(in[i]->type)) return true;
  }
  return false;
}

/* The row "sparse.NAME", "sparse.structured_NAME" …; NULL: none. */
static const op_func *sparse_row(damo_ctx *ctx, const char *prefix, const char *name) {
  char text[96];
  snprintf(text, sizeof text, "sparse.%s%s", prefix, name);
  return func_find(ctx, text);
}

/* The place of an option among "axis:int keepdims:bool", -1 when it is not there; n: the name's length. */
static int signature_option_place(const char *options, const char *name, size_t n) {
  int place = 0;
  for (const char *p = options; p != NULL && *p != '\0'; place++) {
    size_t whole = strcspn(p, " "), own = strcspn(p, ":");
    if (own == n && memcmp(p, name, n) == 0) return place;
    p += whole;
    while (*p == ' ') p++;
  }
  return -1;
}

/* f's options in the order in which g has them. */
static damo_status carry_options(build *b, const op_func *f, const op_func *g, const prop_value *opt, prop_value *out) {
  int place = 0;
  for (const char *p = f->options; p != NULL && *p != '\0'; place++) {
    size_t n = strcspn(p, ":");
    int at = signature_option_place(g->options, p, n);
    if (opt[place].kind != PROP_NIL && at < 0) {
      build_fail(b, DAMO_EVALUE, "%s: option '%.*s' is not for a sparse operand", f->name, (int)n, p);
      return b->status;
    }
    if (at >= 0) out[at] = opt[place];
    p += strcspn(p, " ");
    while (*p == ' ') p++;
  }
  return DAMO_OK;
}

/* What does for a sparse operand what a function without a sparse form does. */
static const char *remedy(const char *name) {
  static const char *const table[][2] = {
      {"take", "damo.sparse.get_item_list(x, list, {axis=}) takes rows or columns"},
      {"matvec", "damo.dot(x, y) is the product"},
      {"tensordot", "damo.dot(x, y) is the product"},
      {"einsum", "damo.dot(x, y) is the product"},
      {"switch", "x * mask keeps x where a sparse mask is true"},
      {"where", "x * mask keeps x where a sparse mask is true"},
      {"clip", "damo.maximum(x, a) and damo.minimum(x, b) take constants that leave 0 as it is"},
      {"softmax", "of the stored values it is e / e:sum {axis=2, keepdims=true}, e = damo.sparse.structured_exp(x)"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (strcmp(name, table[i][0]) == 0) return table[i][1];
  }
  return NULL;
}

static damo_status refuse_sparse(build *b, const op_func *f) {
  const op_func *structured = sparse_row(b->ctx, "structured_", f->name);
  if (structured == NULL) structured = sparse_row(b->ctx, "sp_", f->name);
  const char *other = remedy(f->name);
  const bool two = structured != NULL && strchr(structured->operands, ' ') != NULL;
  /* a row without options that is made from another one of one operand: elementwise */
  const bool monoid = f->data != NULL && f->options == NULL && strcmp(f->operands, "x") == 0;
  if (structured == NULL && monoid) {
    build_fail(b, DAMO_ETYPE,
               "%s: a sparse operand would give a dense result: use damo.sparse.structured_monoid(damo.%s)(x) to "
               "compute on the stored entries alone, or x:toarray() to compute on the dense matrix",
               f->name, f->name);
  } else if (structured != NULL) {
    build_fail(
        b, DAMO_ETYPE,
        "%s: a sparse operand would give a dense result: use damo.%s(%s) to compute on the stored entries alone, "
        "or x:toarray() to compute on the dense matrix",
        f->name, structured->name, two ? "x, y" : "x");
  } else {
    build_fail(
        b, DAMO_ETYPE,
        "%s: not defined for a sparse operand: use x:toarray() to compute on the dense matrix, or x.data for the "
        "vector of its stored values%s%s",
        f->name, other != NULL ? "; " : "", other != NULL ? other : "");
  }
  return b->status;
}

damo_status func_call(build *b, const op_func *f, damo_var *const *in, int n_in, const prop_value *opt, ptrvec *out) {
  if (b->status != DAMO_OK) return b->status;
  func_arity a = operand_count(f);
  if (n_in < a.required || (a.most >= 0 && n_in > a.most)) {
    build_fail(b, DAMO_ETYPE, "%s: expected %d operand%s%s (%s), got %d", f->name, a.required,
               a.required == 1 ? "" : "s", a.most != a.required ? " or more" : "", f->operands ? f->operands : "",
               n_in);
    return b->status;
  }
  prop_value none[FUNC_MAX_OPTIONS] = {{.kind = PROP_NIL}};
  fn_args args = {.func = f, .n_in = n_in, .in = in, .opt = opt != NULL ? opt : none};
  prop_value carried[FUNC_MAX_OPTIONS] = {{.kind = PROP_NIL}};
  if (!f->any_type && strchr(f->name, '.') == NULL && has_sparse_operand(in, n_in)) {
    const op_func *g = sparse_row(b->ctx, "", f->name);
    if (g == NULL) return refuse_sparse(b, f);
    if (opt != NULL) DAMO_TRY(carry_options(b, f, g, opt, carried));
    f = g;
    args.func = f;
    args.opt = carried;
  }
  damo_var *padded[8] = {NULL};
  if (a.most > 0 && n_in < a.most && a.most <= 8) { /* absent optional operands read as NULL */
    memcpy(padded, in, (size_t)n_in * sizeof *in);
    args.in = padded;
  }
  damo_status s = f->call(b, &args, out);
  if (s != DAMO_OK && b->status == DAMO_OK) b->status = s;
  if (b->status != DAMO_OK) ctx_fail_at(b->ctx, f->name, NULL);
  return b->status;
}

damo_status func_register_table(damo_ctx *ctx) {
  func_table *t = mem_calloc(ctx, sizeof *t);
  if (t == NULL) return DAMO_EMEMORY;
  map_init(&t->by_name, ctx);
  ptrvec_init(&t->rows, ctx);
  ctx->slots[CTX_FUNCS] = (ctx_slot){.data = t, .destroy = func_table_destroy};
  return DAMO_OK;
}

damo_status graph_register(damo_ctx *ctx) {
  DAMO_TRY(type_register(ctx));
  DAMO_TRY(op_register(ctx));
  DAMO_TRY(var_register(ctx));
  DAMO_TRY(fgraph_register(ctx));
  return func_register_table(ctx);
}
