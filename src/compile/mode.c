/* mode.c: the modes in which graphs are compiled: their names, and a whole mode as text.
 *
 * A mode as text is its name, then a line for each option that is given: "optimizer none", "include TAGS", "exclude TAGS",
 * "require TAGS", "jit false". An Op that holds a graph keeps the mode of that graph in this form, which has equal texts
 * for equal modes; so does a program, for the Ops in it that name none.
 */
#include <string.h>

#include "compile_int.h"
#include "rewrite/rewrite.h"

const char *const compile_optimizers[] = {"fast_run", "fast_compile", "none", NULL};

/* ---- Words ------------------------------------------------------------------------------------------------------- */

static bool is_listed_word(const char *word, const char *const *list) {
  for (; *list != NULL; list++) {
    if (strcmp(*list, word) == 0) return true;
  }
  return false;
}

static damo_status compile_check_word(damo_ctx *ctx, const char *func, const char *what, const char *word,
                                      const char *const *list) {
  if (word == NULL || is_listed_word(word, list)) return DAMO_OK;
  const char *near = suggest(word, list);
  if (near != NULL) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: unknown %s '%s', did you mean '%s'?", func, what, word, near);
  }
  strbuf all;
  strbuf_init(&all, ctx);
  for (int i = 0; list[i] != NULL; i++) strbuf_addf(&all, "%s%s", i > 0 ? ", " : "", list[i]);
  damo_status s =
      ctx_fail(ctx, DAMO_EVALUE, "%s: unknown %s '%s'; there are %s", func, what, word, all.failed ? "others" : all.at);
  strbuf_clear(&all);
  return s;
}

static const fn_watcher *const *watchers_of(const damo_ctx *ctx) { return ctx->slots[CTX_WATCHERS].data; }

const fn_watcher *compile_watcher(const damo_ctx *ctx, const char *mode) {
  const fn_watcher *const *w = watchers_of(ctx);
  while (*w != NULL && strcmp((*w)->mode, mode) != 0) w++;
  return *w;
}

static damo_status check_mode_name(damo_ctx *ctx, const char *func, const char *mode) {
  ptrvec names;
  ptrvec_init(&names, ctx);
  damo_status s = ptrvec_push(&names, "FAST_RUN");
  if (s == DAMO_OK) s = ptrvec_push(&names, "FAST_COMPILE");
  for (const fn_watcher *const *w = watchers_of(ctx); s == DAMO_OK && *w != NULL; w++)
    s = ptrvec_push(&names, (*w)->mode);
  if (s == DAMO_OK) s = ptrvec_push(&names, NULL);
  if (s == DAMO_OK) s = compile_check_word(ctx, func, "mode", mode, (const char *const *)names.at);
  ptrvec_clear(&names);
  return s;
}

static damo_status check_mode_of(damo_ctx *ctx, const char *func, const compile_options *o) {
  if (o->mode != NULL) DAMO_TRY(check_mode_name(ctx, func, o->mode));
  DAMO_TRY(compile_check_word(ctx, func, "optimizer", o->optimizer, compile_optimizers));
  DAMO_TRY(rewrite_check_words(ctx, "include", o->include));
  DAMO_TRY(rewrite_check_words(ctx, "exclude", o->exclude));
  return rewrite_check_words(ctx, "require", o->require);
}

damo_status compile_check_options(damo_ctx *ctx, const compile_options *o) { return check_mode_of(ctx, "compile", o); }

const char *compile_optimizer_of(const compile_options *o) {
  if (o->optimizer != NULL) return o->optimizer;
  return strcmp(compile_mode_of(o), "FAST_COMPILE") == 0 ? "fast_compile" : "fast_run";
}

/* ---- As text ----------------------------------------------------------------------------------------------------- */

static void add_mode_line(strbuf *text, const char *option, const char *value) {
  if (value != NULL) strbuf_addf(text, "\n%s %s", option, value);
}

void compile_mode_text(const compile_options *o, strbuf *out) {
  strbuf_add(out, compile_mode_of(o));
  add_mode_line(out, "optimizer", o->optimizer);
  add_mode_line(out, "include", o->include);
  add_mode_line(out, "exclude", o->exclude);
  add_mode_line(out, "require", o->require);
  add_mode_line(out, "jit", o->no_jit ? "false" : NULL);
}

/* Reads "OPTION VALUE". Returns whether there is such an option. */
static bool read_mode_line(char *line, compile_options *o) {
  char *value = strchr(line, ' ');
  if (value == NULL) return false;
  *value++ = '\0';
  const char **const words[] = {&o->optimizer, &o->include, &o->exclude, &o->require};
  static const char *const names[] = {"optimizer", "include", "exclude", "require"};
  for (int i = 0; i < 4; i++) {
    if (strcmp(line, names[i]) == 0) {
      *words[i] = value;
      return true;
    }
  }
  o->no_jit = strcmp(value, "false") == 0;
  return strcmp(line, "jit") == 0 && o->no_jit;
}

damo_status compile_read_mode_text(damo_ctx *ctx, const char *func, const char *text, compile_options *o,
                                   mode_words *own) {
  own->bytes = strlen(text) + 1;
  own->at = mem_alloc(ctx, own->bytes);
  if (own->at == NULL) return DAMO_EMEMORY;
  memcpy(own->at, text, own->bytes);
  o->mode = own->at;
  for (char *line = strchr(own->at, '\n'), *next; line != NULL; line = next) {
    *line++ = '\0';
    next = strchr(line, '\n');
    if (next != NULL) *next = '\0';
    const bool known = read_mode_line(line, o);
    if (next != NULL) *next = '\n';
    if (!known) return ctx_fail(ctx, DAMO_EVALUE, "%s: a mode has no option '%s'", func, line);
  }
  return DAMO_OK;
}

void compile_free_mode_words(damo_ctx *ctx, mode_words *own) {
  if (own->at != NULL) mem_free(ctx, own->at, own->bytes);
  own->at = NULL;
}

damo_status compile_check_mode(damo_ctx *ctx, const char *func, const char *text) {
  compile_options o = {0};
  mode_words own = {0};
  damo_status s = compile_read_mode_text(ctx, func, text, &o, &own);
  if (s == DAMO_OK) s = check_mode_of(ctx, func, &o);
  compile_free_mode_words(ctx, &own);
  return s;
}

damo_status mode_of_inner(damo_ctx *ctx, const compile_options *o, const fn_watcher *watcher, char **out) {
  const bool named = compile_watcher(ctx, compile_mode_of(o)) == NULL || (watcher != NULL && watcher->watches_inner);
  compile_options inner = *o;
  inner.no_jit = false; /* frames pass that on */
  if (!named) inner.mode = NULL;
  const bool plain = strcmp(compile_mode_of(&inner), "FAST_RUN") == 0 && o->include == NULL && o->exclude == NULL &&
                     o->require == NULL && strcmp(compile_optimizer_of(&inner), "fast_run") == 0;
  if (plain) return DAMO_OK;
  strbuf text;
  strbuf_init(&text, ctx);
  compile_mode_text(&inner, &text);
  const damo_status s = text.failed ? DAMO_EMEMORY : mem_copy_text(ctx, text.at, out);
  strbuf_clear(&text);
  return s;
}
