/* print.c: graphs as text: a tree (debugprint), one line (pprint), and names for messages. Both walks keep their own
 * stack. */
#include "graph_int.h"
#include "sparse/sparse.h"

#include <stdio.h>
#include <string.h>

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* Copies text into dst; a text that does not fit is cut with "…". */
static void copy_cut(char *dst, size_t n, const char *text) {
  size_t len = strlen(text);
  if (len < n) {
    memcpy(dst, text, len + 1);
  } else {
    snprintf(dst, n, "%.*s…", (int)n - 4, text);
  }
}

static void format_constant(char *dst, size_t n, const damo_var *v) {
  const damo_array *a = var_constant_array(v);
  if (v->value->kind == OBJ_SPARSE) {
    strbuf text;
    strbuf_init(&text, v->obj.ctx);
    sparse_describe(&text, (const damo_sparse *)v->value);
    copy_cut(dst, n, text.failed || text.at == NULL ? "a sparse constant" : text.at);
    strbuf_clear(&text);
    return;
  }
  if (a == NULL) {
    snprintf(dst, n, type_is_factor(v->type) ? "a factor" : "a generic constant");
    return;
  }
  if (array_size(a) > 16) {
    char type[320];
    snprintf(dst, n, "a constant of %s", type_format(type, sizeof type, v->type));
    return;
  }
  strbuf text;
  strbuf_init(&text, v->obj.ctx);
  array_format(&text, a);
  copy_cut(dst, n, text.failed || text.at == NULL ? "constant" : text.at);
  for (char *p = dst; *p != '\0'; p++) {
    if (*p == '\n') *p = ' ';
  }
  strbuf_clear(&text);
}

char *var_format(char *dst, size_t n, const damo_var *v) {
  if (v->name != NULL) {
    copy_cut(dst, n, v->name);
  } else if (v->kind == VAR_CONSTANT && v->value != NULL) {
    format_constant(dst, n, v);
  } else if (v->owner != NULL) {
    strbuf text;
    strbuf_init(&text, v->obj.ctx);
    op_format(&text, v->owner->op);
    strbuf_addf(&text, ".%d", v->index + 1);
    copy_cut(dst, n, text.failed ? v->owner->op->def->name : text.at);
    strbuf_clear(&text);
  } else {
    char type[320];
    snprintf(dst, n, "<%s>", type_format(type, sizeof type, v->type));
  }
  return dst;
}

/* ---- The tree ---------------------------------------------------------------------------------------------------- */

typedef struct tree_item {
  const damo_var *v;
  int32_t depth;
} tree_item;

typedef struct print_tree {
  damo_ctx *ctx;
  const print_options *options;
  strbuf *out;
  map ids;      /* damo_apply* or leaf damo_var* → number from 1 */
  map told;     /* damo_op* among inner → 1 */
  ptrvec inner; /* damo_op* whose graphs are to be printed */
  tree_item *stack;
  int64_t n, cap;
} print_tree;

/* Appends the number as letters: A, B, … Z, AA, AB, … */
static void add_letters(strbuf *out, uintptr_t number) {
  char text[16];
  int i = (int)sizeof text;
  text[--i] = '\0';
  for (; number > 0; number = (number - 1) / 26) text[--i] = (char)('A' + (number - 1) % 26);
  strbuf_addf(out, " [id %s]", text + i);
}

static void add_id(const print_tree *t, const damo_var *v, uintptr_t number) {
  uint64_t id = v->owner != NULL ? v->owner->id : v->id;
  switch (t->options->id_type) {
    case PRINT_ID_CHAR: add_letters(t->out, number); break;
    case PRINT_ID_INT: strbuf_addf(t->out, " [id %llu]", (unsigned long long)number); break;
    case PRINT_ID_OBJECT: strbuf_addf(t->out, " [id %llu]", (unsigned long long)id); break;
    case PRINT_ID_NONE: break;
  }
}

static damo_status tree_item_push(print_tree *t, const damo_var *v, int32_t depth) {
  if (t->n == t->cap) {
    int64_t cap = t->cap == 0 ? 64 : 2 * t->cap;
    tree_item *stack = mem_realloc(t->ctx, t->stack, (size_t)t->cap * sizeof *stack, (size_t)cap * sizeof *stack);
    if (stack == NULL) return DAMO_EMEMORY;
    t->stack = stack;
    t->cap = cap;
  }
  t->stack[t->n++] = (tree_item){v, depth};
  return DAMO_OK;
}

static void add_aliases(strbuf *out, const char *what, const op_alias *a) {
  if (a == NULL || a->out < 0) return;
  strbuf_addf(out, " %s={", what);
  for (; a->out >= 0; a++) strbuf_addf(out, "[%d]={%d}%s", a->out + 1, a->in + 1, a[1].out >= 0 ? ", " : "");
  strbuf_add(out, "}");
}

/* The indentation of a chain of n nodes would take O(n²) characters: below a certain level the depth is printed as a
 * number instead. */
static void add_branch(strbuf *out, int32_t depth) {
  if (depth > 40) {
    strbuf_addf(out, " (%d) ├─ ", depth);
    return;
  }
  for (int32_t i = 1; i < depth; i++) strbuf_add(out, " │");
  if (depth > 0) strbuf_add(out, " ├─ ");
}

/* Appends the name of v and the details of its node; "···" if its inputs were printed before. */
static void tree_add_node(const print_tree *t, const damo_var *v, bool first) {
  const damo_apply *node = v->owner;
  if (v->name != NULL) strbuf_addf(t->out, " '%s'", v->name);
  if (t->options->print_destroy_map) add_aliases(t->out, "d", node->op->destroy_map);
  if (t->options->print_view_map) add_aliases(t->out, "v", node->op->view_map);
  if (!first && node->n_in > 0) strbuf_add(t->out, " ···");
}

/* Prints the line of one item; *first: this is the first occurrence of its node (or leaf). */
static damo_status tree_line(print_tree *t, const tree_item *item, bool *first) {
  const damo_var *v = item->v;
  const void *key = v->owner != NULL ? (const void *)v->owner : (const void *)v;
  uintptr_t id = 0;
  char text[320];
  *first = !map_get(&t->ids, key, &id);
  if (*first) {
    id = t->ids.n + 1;
    DAMO_TRY(map_put(&t->ids, key, id));
  }
  add_branch(t->out, item->depth);
  if (v->owner != NULL) {
    op_format(t->out, v->owner->op);
    if (v->owner->n_out > 1) strbuf_addf(t->out, ".%d", v->index + 1);
  } else {
    strbuf_add(t->out, var_format(text, sizeof text, v));
  }
  add_id(t, v, id);
  if (t->options->print_type) strbuf_addf(t->out, " <%s>", type_format(text, sizeof text, v->type));
  if (v->owner != NULL) tree_add_node(t, v, *first);
  if (t->options->storage != NULL) t->options->storage(t->out, v, t->options->user);
  strbuf_add(t->out, "\n");
  return DAMO_OK;
}

/* Queues the inner graph of an Op, once, to be printed at the end. */
static damo_status note_inner(print_tree *t, const damo_op *op) {
  if (op->def->inner_graph == NULL || map_get(&t->told, op, NULL)) return DAMO_OK;
  DAMO_TRY(map_put(&t->told, op, 1));
  return ptrvec_push(&t->inner, op);
}

static damo_status tree_print(print_tree *t, const damo_var *root, int32_t depth) {
  DAMO_TRY(tree_item_push(t, root, depth));
  while (t->n > 0) {
    tree_item item = t->stack[--t->n];
    bool first;
    DAMO_TRY(tree_line(t, &item, &first));
    const damo_apply *node = item.v->owner;
    if (node == NULL || !first) continue;
    DAMO_TRY(note_inner(t, node->op));
    if (t->options->stop_on_name && item.v->name != NULL) continue;
    if (t->options->depth > 0 && item.depth + 1 >= t->options->depth) continue;
    for (int i = node->n_in - 1; i >= 0; i--) DAMO_TRY(tree_item_push(t, node->in[i], item.depth + 1));
  }
  return DAMO_OK;
}

/* Prints the inner graphs; the list grows while it is processed, by the graphs inside them. */
static damo_status print_inner(print_tree *t) {
  for (int64_t k = 0; k < t->inner.n; k++) {
    const damo_op *op = t->inner.at[k];
    const damo_fgraph *fg = op->def->inner_graph(op);
    strbuf_add(t->out, k == 0 ? "\nInner graphs:\n\n" : "\n");
    op_format(t->out, op);
    strbuf_add(t->out, "\n");
    for (int64_t i = 0; i < fg->outputs.n; i++) DAMO_TRY(tree_print(t, fg->outputs.at[i], 1));
  }
  return DAMO_OK;
}

damo_status graph_debugprint(damo_ctx *ctx, damo_var *const *outputs, int64_t n, const print_options *options,
                             strbuf *out) {
  static const print_options plain = {0};
  print_tree t = {.ctx = ctx, .options = options != NULL ? options : &plain, .out = out};
  map_init(&t.ids, ctx);
  map_init(&t.told, ctx);
  ptrvec_init(&t.inner, ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) s = tree_print(&t, outputs[i], 0);
  if (s == DAMO_OK) s = print_inner(&t);
  map_clear(&t.ids);
  map_clear(&t.told);
  ptrvec_clear(&t.inner);
  mem_free(ctx, t.stack, (size_t)t.cap * sizeof *t.stack);
  if (s == DAMO_OK && out->failed) s = ctx_fail_memory(ctx);
  return s;
}

/* ---- One line ---------------------------------------------------------------------------------------------------- */

#define PPRINT_MAX 2000 /* characters, past which "…" ends the line */

static op_notation notation_of(const damo_apply *node) {
  op_notation how = {.name = node->op->def->name};
  if (node->op->def->notate != NULL) node->op->def->notate(node, &how);
  return how;
}

/* A pending piece of output: a text, or a Variable inside an operator of precedence `level`. */
typedef struct print_piece {
  const char *text;
  const damo_var *v;
  int level; /* OPERAND: before the brackets of x[…]; POSITIONS: inside them */
} print_piece;

enum { OPERAND = 100, POSITIONS = 101 };

typedef struct print_line {
  damo_ctx *ctx;
  const damo_var *whole; /* the Variable to print: it is printed as an expression even if it has a name */
  print_piece *stack;
  int64_t n, cap;
} print_line;

static damo_status line_push(print_line *l, print_piece p) {
  if (l->n == l->cap) {
    int64_t cap = l->cap == 0 ? 64 : 2 * l->cap;
    print_piece *stack = mem_realloc(l->ctx, l->stack, (size_t)l->cap * sizeof *stack, (size_t)cap * sizeof *stack);
    if (stack == NULL) return DAMO_EMEMORY;
    l->stack = stack;
    l->cap = cap;
  }
  l->stack[l->n++] = p;
  return DAMO_OK;
}

static damo_status push_infix(print_line *l, const damo_apply *node, const op_notation *how, int outer) {
  bool wrap = how->level < outer;
  if (wrap) DAMO_TRY(line_push(l, (print_piece){")", NULL, 0}));
  DAMO_TRY(line_push(l, (print_piece){NULL, node->in[1], how->level + 1}));
  DAMO_TRY(line_push(l, (print_piece){how->infix, NULL, 0}));
  DAMO_TRY(line_push(l, (print_piece){NULL, node->in[0], how->level}));
  return wrap ? line_push(l, (print_piece){"(", NULL, 0}) : DAMO_OK;
}

static damo_status push_call(print_line *l, const damo_apply *node) {
  DAMO_TRY(line_push(l, (print_piece){")", NULL, 0}));
  for (int i = node->n_in - 1; i >= 0; i--) {
    DAMO_TRY(line_push(l, (print_piece){NULL, node->in[i], 0}));
    if (i > 0) DAMO_TRY(line_push(l, (print_piece){", ", NULL, 0}));
  }
  return DAMO_OK;
}

/* ---- Parts: x[2], x[{{1, 3}, idx{1, 2}}], set_subtensor(x[2], y) ---- */

/* The number of operands of an index spec, -1 if it is malformed. The letters are those of op/index/spec.c: i an
 * integer, l a list, n newaxis, e ellipsis, s and three digits a slice (1: start, stop, step is an operand). */
static int spec_operands(const char *spec) {
  int n = 0;
  for (; *spec != '\0'; spec++) {
    if (*spec == 's' && strspn(spec + 1, "01") >= 3) {
      for (int k = 0; k < 3; k++) n += *++spec == '1';
    } else if (*spec == 'i' || *spec == 'l') {
      n++;
    } else if (*spec != 'n' && *spec != 'e') {
      return -1;
    }
  }
  return n;
}

#define SPEC_MAX 128 /* characters: a longer spec prints as a call */

/* Whether the node is printed as a part: it has a spec, which agrees with its number of inputs. */
static bool is_part(const damo_apply *node, const op_notation *how) {
  return how->spec != NULL && strlen(how->spec) <= SPEC_MAX && spec_operands(how->spec) == node->n_in - how->first;
}

/* Appends the pieces of one index item to the list, in reading order; returns the rest of the spec. */
static const char *list_item(const char *spec, damo_var *const **operand, print_piece *list, int *n) {
  if (*spec == 'n' || *spec == 'e') list[(*n)++] = (print_piece){*spec == 'n' ? "newaxis" : "ellipsis", NULL, 0};
  if (*spec == 'i' || *spec == 'l') list[(*n)++] = (print_piece){NULL, *(*operand)++, POSITIONS};
  if (*spec != 's') return spec + 1;
  int last = 3;
  while (last > 0 && spec[last] == '0') last--;
  list[(*n)++] = (print_piece){"{", NULL, 0};
  for (int k = 1; k <= last; k++) {
    if (k > 1) list[(*n)++] = (print_piece){", ", NULL, 0};
    list[(*n)++] = spec[k] == '1' ? (print_piece){NULL, *(*operand)++, POSITIONS} : (print_piece){"nil", NULL, 0};
  }
  list[(*n)++] = (print_piece){"}", NULL, 0};
  return spec + 4;
}

static damo_status line_push_part(print_line *l, const damo_apply *node, const op_notation *how, strbuf *out) {
  print_piece list[2 * SPEC_MAX + 8];
  damo_var *const *operand = node->in + how->first;
  const char *spec = how->spec;
  const bool single = spec[0] != '\0' && spec[1] == '\0' && strchr("il", spec[0]) != NULL;
  int n = 0;
  if (how->write != NULL) strbuf_add(out, how->write);
  list[n++] = (print_piece){NULL, node->in[0], OPERAND};
  list[n++] = (print_piece){single ? "[" : "[{", NULL, 0};
  for (const char *from = spec; *spec != '\0';) {
    if (spec != from) list[n++] = (print_piece){", ", NULL, 0};
    spec = list_item(spec, &operand, list, &n);
  }
  list[n++] = (print_piece){single ? "]" : "}]", NULL, 0};
  if (how->write != NULL) {
    list[n++] = (print_piece){", ", NULL, 0};
    list[n++] = (print_piece){NULL, node->in[1], 0};
    list[n++] = (print_piece){")", NULL, 0};
  }
  while (n > 0) DAMO_TRY(line_push(l, list[--n]));
  return DAMO_OK;
}

/* An index Variable without the cast that indexing has put around it. */
static const damo_var *without_cast(const damo_var *v) {
  const damo_apply *node = v->owner;
  return node != NULL && v->name == NULL && notation_of(node).is_cast ? node->in[0] : v;
}

/* Prints a constant integer vector as idx{1, 2}; false if v is no such constant. */
static bool add_list(strbuf *out, const damo_var *v) {
  const damo_array *a = var_constant_array(v);
  if (a == NULL || v->name != NULL || a->ndim != 1 || !dtype_is_integer(array_dtype(a)) || array_size(a) > 16) {
    return false;
  }
  strbuf_add(out, "idx{");
  for (int64_t i = 0; i < array_size(a); i++) {
    strbuf_addf(out, "%s%lld", i > 0 ? ", " : "", (long long)scalar_to_int64(array_get(a, &i)));
  }
  strbuf_add(out, "}");
  return true;
}

static damo_status line_var(print_line *l, const print_piece *p, strbuf *out) {
  const damo_var *v = p->level == POSITIONS ? without_cast(p->v) : p->v;
  const damo_apply *node = v->owner;
  if (p->level == POSITIONS && add_list(out, v)) return DAMO_OK;
  if (node == NULL || (v->name != NULL && v != l->whole)) {
    char text[320];
    strbuf_add(out, var_format(text, sizeof text, v));
    return DAMO_OK;
  }
  const op_notation how = notation_of(node);
  if (is_part(node, &how)) return line_push_part(l, node, &how, out);
  if (how.infix != NULL) return push_infix(l, node, &how, p->level == POSITIONS ? 0 : p->level);
  strbuf_add(out, how.name);
  if (node->n_out > 1) strbuf_addf(out, ".%d", v->index + 1);
  strbuf_add(out, "(");
  return push_call(l, node);
}

damo_status graph_pprint(damo_ctx *ctx, const damo_var *v, strbuf *out) {
  print_line l = {.ctx = ctx, .whole = v};
  size_t from = out->n;
  damo_status s = line_push(&l, (print_piece){NULL, v, 0});
  while (l.n > 0 && s == DAMO_OK) {
    print_piece p = l.stack[--l.n];
    if (out->n - from > PPRINT_MAX) {
      strbuf_add(out, "…");
      break;
    }
    if (p.text != NULL) {
      strbuf_add(out, p.text);
    } else {
      s = line_var(&l, &p, out);
    }
  }
  mem_free(ctx, l.stack, (size_t)l.cap * sizeof *l.stack);
  if (s == DAMO_OK && out->failed) s = ctx_fail_memory(ctx);
  return s;
}
