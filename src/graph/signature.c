/* signature.c: parses the operands and options of a row when it is registered. */
#include "graph_int.h"

#include <stdio.h>
#include <string.h>

const char *option_kind_name(fn_option_kind kind) {
  static const char *const names[] = {
      [OPT_INT] = "int",   [OPT_NUM] = "num",   [OPT_BOOL] = "bool",   [OPT_STR] = "str", [OPT_DTYPE] = "dtype",
      [OPT_AXES] = "axes", [OPT_INTS] = "ints", [OPT_SHAPE] = "shape", [OPT_VAR] = "var", [OPT_ANY] = "any"};
  return names[kind];
}

const fn_option *signature_option(const fn_signature *f, const char *name) {
  for (int i = 0; i < f->n_options; i++) {
    if (strcmp(f->func->options[i].name, name) == 0) return &f->func->options[i];
  }
  return NULL;
}

void signature_format_options(strbuf *out, const fn_signature *f) {
  for (int i = 0; i < f->n_options; i++) {
    const fn_option *o = &f->func->options[i];
    strbuf_addf(out, "%s%s:%s", i > 0 ? " " : "", o->name, option_kind_name((fn_option_kind)o->kind));
  }
}

/* Counts and checks the options: they must have distinct places in one struct, so that the caller's struct and the
 * function's are the same. */
static damo_status signature_read_options(damo_ctx *ctx, fn_signature *f) {
  const fn_option *all = f->func->options;
  uint32_t places = 0;
  for (const fn_option *o = all; o != NULL && o->name != NULL; o++) {
    if (o->place >= FN_MAX_OPTIONS || places >> o->place & 1 || o->kind > OPT_ANY || strcmp(o->type, all->type) != 0)
      return ctx_fail(ctx, DAMO_EVALUE, "function '%s': the option '%s' does not fit the others", f->name, o->name);
    places |= UINT32_C(1) << o->place;
    f->n_options++;
  }
  return DAMO_OK;
}

/* Parses "x", "[y]" or "zs..." in place: word is in the signature's own copy of the text, and the operand's name stays
 * there. */
static damo_status signature_read_operand(damo_ctx *ctx, fn_signature *f, char *word) {
  fn_operand *o = &f->operand[f->n_operands++];
  size_t n = strlen(word);
  o->optional = n > 2 && word[0] == '[' && word[n - 1] == ']';
  o->list = n > 3 && strcmp(word + n - 3, "...") == 0;
  if (o->optional) word++, n -= 2;
  if (o->list) n -= 3;
  word[n] = '\0';
  o->name = word;
  const bool required = !o->optional && !o->list, late = required && f->n_required + f->list + 1 < f->n_operands;
  if (n == 0 || strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != n ||
      (o->list && f->list) || late)
    return ctx_fail(ctx, DAMO_EVALUE, "function '%s': the operands '%s' are written wrong", f->name, f->func->operands);
  f->n_required = (uint8_t)(f->n_required + required);
  f->list = f->list || o->list;
  return DAMO_OK;
}

/* Parses the n words of the text, the signature's own copy of the row's. */
static damo_status signature_read_operands(damo_ctx *ctx, fn_signature *f, char *text, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char *end = text + strcspn(text, " ");
    *end = '\0';
    DAMO_TRY(signature_read_operand(ctx, f, text));
    text = end + 1;
  }
  return DAMO_OK;
}

fn_signature *signature_new(damo_ctx *ctx, const op_func *row) {
  const char *text = row->operands != NULL ? row->operands : "";
  size_t n = *text != '\0';
  for (const char *p = text; *p != '\0'; p++) n += *p == ' ';
  if (n > FN_MAX_OPERANDS) {
    ctx_fail(ctx, DAMO_EVALUE, "function '%s': more than %d operands", row->name, FN_MAX_OPERANDS);
    return NULL;
  }
  const size_t size = sizeof(fn_signature) + n * sizeof(fn_operand), words = strlen(text) + 1;
  fn_signature *f = mem_calloc(ctx, size + words);
  if (f == NULL) return NULL;
  *f = (fn_signature){.func = row, .name = row->name, .size = size + words};
  f->asks_sparse = !row->any_type && strncmp(row->name, "sparse.", 7) != 0;
  memcpy((char *)f + size, text, words);
  f->is_draw = strncmp(text, "rng", 3) == 0 && (text[3] == ' ' || text[3] == '\0');
  if (signature_read_options(ctx, f) == DAMO_OK && signature_read_operands(ctx, f, (char *)f + size, n) == DAMO_OK)
    return f;
  mem_free(ctx, f, f->size);
  return NULL;
}

/* ---- Sparse rows of plain ones ----------------------------------------------------------------------------------- */

/* The row "sparse.NAME", "sparse.structured_NAME" …; NULL: none. */
static const fn_signature *signature_sparse_row(damo_ctx *ctx, const char *prefix, const char *name) {
  char text[96];
  snprintf(text, sizeof text, "sparse.%s%s", prefix, name);
  return func_find(ctx, text);
}

void signature_link_sparse(damo_ctx *ctx, fn_signature *f) {
  if (!f->asks_sparse) return;
  const char *dot = strchr(f->name, '.'), *name = dot != NULL ? dot + 1 : f->name;
  f->sparse = signature_sparse_row(ctx, "", name);
  f->structured = signature_sparse_row(ctx, "structured_", name);
  if (f->structured == NULL) f->structured = signature_sparse_row(ctx, "sp_", name);
  for (int i = 0; i < f->n_options && f->sparse != NULL; i++) {
    const fn_option *o = &f->func->options[i], *same = signature_option(f->sparse, o->name);
    f->sparse_place[o->place] = same != NULL ? (int8_t)same->place : -1;
  }
}
