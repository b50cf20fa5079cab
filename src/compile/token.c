/* token.c: programs by name: the one table that all contexts of the process have in common.
 *
 * f:token() copies f's program into a context of its own, which nothing changes afterwards, and gives a random name for
 * that program with the values that f's shared Variables and defaults have. A Function made by that name, in whatever
 * context, is a foreign frame over the program (vm_frame_init): it counts itself on the group, and touches no count of
 * what the program consists of.
 *
 * A group is a program and its names. What holds it: the program that it was copied from, every Function over its own,
 * and pins. Each name has a Function without a frame, the source, which holds the values; sources hold the group like
 * other Functions, but don't keep it alive. Whoever takes away the last other hold removes the names from the table, by
 * which nobody can find the group any more, and frees it on its own thread.
 *
 * The lock guards the table, the counts and fn_program.group. Lists of names only grow while their group is held.
 */
#include "compile_int.h"

#include <stdio.h>
#include <string.h>

typedef struct token_entry {
  char name[TOKEN_LENGTH + 1];
  char *form;
  struct token_group *group;
  damo_function *source; /* in a context of its own, or in the group's; it has no frame */
  int64_t pins;
  struct token_entry *next_in_table, *next_in_group;
} token_entry;

struct token_group {
  damo_ctx *ctx;
  const fn_program *program;
  int64_t holds, sources, pins;
  token_entry *entries;
};

#define TABLE_SIZE 256

/* Guarded by the lock of the process. */
static struct {
  token_entry *at[TABLE_SIZE];
  int64_t n;
  damo_alloc_fn alloc;
  void *user;
} token_table;

/* ---- The table: callers hold the lock ---------------------------------------------------------------------------- */

static int hex_digit(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

/* Names are hexadecimal digits, random ones: the first two choose the list. NULL: it is no name. */
static token_entry **table_list(const char *name) {
  if (strlen(name) != TOKEN_LENGTH) return NULL;
  const int high = hex_digit(name[0]), low = hex_digit(name[1]);
  return high >= 0 && low >= 0 ? &token_table.at[high * 16 + low] : NULL;
}

static token_entry *table_find(const char *name) {
  token_entry **list = table_list(name);
  token_entry *e = list != NULL ? *list : NULL;
  while (e != NULL && strcmp(e->name, name) != 0) e = e->next_in_table;
  return e;
}

static void table_add(token_entry *e) {
  token_entry **list = table_list(e->name);
  e->next_in_table = *list;
  *list = e;
  e->next_in_group = e->group->entries;
  e->group->entries = e;
  e->group->sources++;
  token_table.n++;
}

static void table_remove(const token_entry *e) {
  token_entry **at = table_list(e->name);
  while (*at != e) at = &(*at)->next_in_table;
  *at = e->next_in_table;
  token_table.n--;
}

/* Whether the group has lost its last hold; its names are then gone from the table. */
static bool group_ends(token_group *g) {
  if (g->holds > g->sources || g->pins > 0) return false;
  for (const token_entry *e = g->entries; e != NULL; e = e->next_in_group) table_remove(e);
  return true;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void entry_free(token_entry *e) {
  damo_ctx *ctx = e->source->obj.ctx;
  const bool own = ctx != e->group->ctx;
  damo_function *source = e->source;
  ctx->frozen = false;
  e->group->sources--;
  mem_strfree(ctx, e->form);
  mem_free(ctx, e, sizeof *e);
  damo_release(source);
  if (own) damo_ctx_release(ctx);
}

/* Frees a group that nobody else knows of. */
static void group_free(token_group *g) {
  damo_ctx *ctx = g->ctx;
  fn_program *p = (fn_program *)(uintptr_t)g->program;
  ctx->frozen = false;
  g->pins = 1; /* it does not end once more when its sources are released */
  while (g->entries != NULL) {
    token_entry *e = g->entries;
    g->entries = e->next_in_group;
    entry_free(e);
  }
  p->group = NULL;
  p->named = false;
  program_release(p, ctx);
  mem_free(ctx, g, sizeof *g);
  damo_ctx_release(ctx);
}

void token_hold(token_group *g) {
  process_lock();
  g->holds++;
  process_unlock();
}

void token_release(token_group *g) {
  process_lock();
  g->holds--;
  const bool ends = group_ends(g);
  process_unlock();
  if (ends) group_free(g);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* An error of another context becomes ctx's, unless that has the error itself. */
static damo_status pass_error(damo_ctx *ctx, const damo_ctx *from) {
  if (damo_error_status(from) == DAMO_OK) return damo_error_status(ctx);
  const damo_status s = ctx_fail(ctx, damo_error_status(from), "%s", damo_error_message(from));
  ctx_fail_at(ctx, damo_error_op(from), NULL);
  return s;
}

static damo_ctx *token_ctx(damo_ctx *ctx, token_ctx_fn new_ctx) {
  process_lock();
  const damo_alloc_fn alloc = token_table.alloc;
  void *user = token_table.user;
  process_unlock();
  damo_ctx *own = new_ctx(alloc, user);
  if (own == NULL) ctx_fail_memory(ctx);
  return own;
}

/* The copy of f's program in a context of its own, whose first Function becomes the source of the first name. */
static token_group *group_new(const damo_function *f, token_ctx_fn new_ctx, damo_function **source) {
  damo_ctx *ctx = token_ctx(f->obj.ctx, new_ctx);
  if (ctx == NULL) return NULL;
  graph_copier c;
  copier_init(&c, ctx);
  *source = function_transfer(&c, f);
  copier_clear(&c);
  token_group *g = *source != NULL ? mem_calloc(ctx, sizeof *g) : NULL;
  if (g == NULL) {
    pass_error(f->obj.ctx, ctx);
    damo_release(*source);
    damo_ctx_release(ctx);
    return NULL;
  }
  vm_frame_clear(&(*source)->frame);
  /* What the source held is the group's from here on; the holds are the source's and that of f's program. */
  *g = (token_group){.ctx = ctx, .program = (*source)->program, .holds = 2};
  fn_program *p = (fn_program *)(uintptr_t)g->program;
  p->group = g;
  p->named = true;
  return g;
}

/* A Function without a frame, in a context of its own, with f's values. */
static damo_function *source_new(const damo_function *f, const token_group *g, token_ctx_fn new_ctx) {
  damo_ctx *ctx = token_ctx(f->obj.ctx, new_ctx);
  if (ctx == NULL) return NULL;
  damo_function *source = function_over(ctx, g->program);
  if (source != NULL && function_copy_values(f, source) == DAMO_OK) {
    source->lends = f->lends;
    return source;
  }
  pass_error(f->obj.ctx, ctx);
  damo_release(source);
  damo_ctx_release(ctx);
  return NULL;
}

static bool same_values(const damo_function *f, const damo_function *source) {
  const fn_program *p = f->program;
  for (int64_t i = 0; i < p->n_shared; i++) {
    const damo_var *v = function_shared_var(f, i);
    if (v != NULL && !type_values_equal(v->type, v->value, function_shared(source, i))) return false;
  }
  for (int64_t i = 0; i < p->n_inputs; i++) {
    const damo_obj *a = f->defaults[i], *b = source->defaults[i];
    if ((a == NULL) != (b == NULL) || (a != NULL && !type_values_equal(p->inputs[i].var->type, a, b))) return false;
  }
  return true;
}

static const token_entry *entry_like(token_group *g, const damo_function *f, const char *form) {
  process_lock();
  const token_entry *e = g->entries;
  process_unlock();
  while (e != NULL && (strcmp(e->form, form) != 0 || !same_values(f, e->source))) e = e->next_in_group;
  return e;
}

static bool name_make(char *name) {
  static const char digits[] = "0123456789abcdef";
  uint8_t bytes[TOKEN_LENGTH / 2];
  if (!process_random(bytes, sizeof bytes)) return false;
  for (size_t i = 0; i < sizeof bytes; i++) {
    name[2 * i] = digits[bytes[i] >> 4];
    name[2 * i + 1] = digits[bytes[i] & 15];
  }
  name[TOKEN_LENGTH] = '\0';
  return true;
}

/* An entry over take_source. NULL on failure, which frees the source and, if it is its own, its context. */
static token_entry *entry_new(damo_ctx *ctx, token_group *g, damo_function *take_source, const char *form) {
  damo_ctx *own = take_source->obj.ctx;
  token_entry *e = mem_calloc(own, sizeof *e);
  if (e != NULL) {
    e->group = g;
    e->source = take_source;
    if (!name_make(e->name)) ctx_fail(own, DAMO_ESTATE, "token: the system gives no random bytes");
    if (e->name[0] != '\0' && mem_copy_text(own, form, &e->form) == DAMO_OK) return e;
    mem_free(own, e, sizeof *e);
  }
  pass_error(ctx, own);
  damo_release(take_source);
  if (own != g->ctx) damo_ctx_release(own);
  return NULL;
}

/* Publishes the entry. *g, if it is new, becomes the group of the program p, unless p has one meanwhile, which *g is
 * then. */
static void publish(const fn_program *p, token_group **g, token_entry *e, bool fresh) {
  e->source->obj.ctx->frozen = true;
  process_lock();
  token_group *other = fresh ? p->group : NULL;
  if (other == NULL) {
    table_add(e);
    if (fresh) ((fn_program *)(uintptr_t)p)->group = *g;
  }
  process_unlock();
  if (other == NULL) return;
  (*g)->entries = e;
  e->next_in_group = NULL;
  (*g)->sources = 1;
  group_free(*g);
  *g = other;
}

static token_group *token_group_of(const fn_program *p) {
  process_lock();
  token_group *g = p->group;
  process_unlock();
  return g;
}

damo_status function_token(const damo_function *f, token_ctx_fn new_ctx, const char *form, char *name) {
  damo_ctx *ctx = f->obj.ctx;
  if (f->freed) return ctx_fail(ctx, DAMO_ESTATE, "the function was freed");
  for (;;) {
    token_group *g = token_group_of(f->program);
    const bool fresh = g == NULL;
    const token_entry *known = fresh ? NULL : entry_like(g, f, form);
    if (known != NULL) {
      memcpy(name, known->name, sizeof known->name);
      return DAMO_OK;
    }
    damo_function *source = NULL;
    if (fresh) {
      g = group_new(f, new_ctx, &source);
    } else {
      source = source_new(f, g, new_ctx);
    }
    if (source == NULL || g == NULL) return damo_error_status(ctx);
    token_entry *e = entry_new(ctx, g, source, form);
    if (e == NULL) {
      if (fresh) token_release(g);
      return damo_error_status(ctx);
    }
    const token_group *made = g;
    publish(f->program, &g, e, fresh);
    if (g != made) continue; /* another thread was faster */
    memcpy(name, e->name, sizeof e->name);
    return DAMO_OK;
  }
}

/* ---- Using ------------------------------------------------------------------------------------------------------- */

static damo_status no_such_token(damo_ctx *ctx, const char *func) {
  return ctx_fail(ctx, DAMO_ESTATE,
                  "%s: no program of this process has that token, or all Functions of the program are gone", func);
}

damo_function *function_from_token(damo_ctx *ctx, const char *name, const char **form) {
  process_lock();
  const token_entry *e = table_find(name);
  if (e != NULL) e->group->holds++; /* until the Function has its own */
  process_unlock();
  if (e == NULL) {
    no_such_token(ctx, "from_token");
    return NULL;
  }
  damo_function *f = function_copy_to(e->source, ctx);
  if (form != NULL) *form = e->form;
  token_release(e->group);
  return f;
}

damo_status token_pin(damo_ctx *ctx, const char *name, bool pinned) {
  const char *func = pinned ? "damo_token_pin" : "damo_token_unpin";
  process_lock();
  token_entry *e = table_find(name);
  const bool off = e != NULL && !pinned && e->pins == 0;
  bool ends = false;
  token_group *g = e != NULL ? e->group : NULL;
  if (e != NULL && !off) {
    e->pins += pinned ? 1 : -1;
    g->pins += pinned ? 1 : -1;
    ends = group_ends(g);
  }
  process_unlock();
  if (e == NULL) return no_such_token(ctx, func);
  if (off) return ctx_fail(ctx, DAMO_ESTATE, "%s: the token is not pinned", func);
  if (ends) group_free(g);
  return DAMO_OK;
}

bool token_set_allocator(damo_alloc_fn alloc, void *user) {
  process_lock();
  const bool may = token_table.alloc == NULL && token_table.n == 0;
  if (may) {
    token_table.alloc = alloc;
    token_table.user = user;
  }
  process_unlock();
  return may;
}
