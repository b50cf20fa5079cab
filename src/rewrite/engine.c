/* engine.c: the database of rules, and the loop that applies them phase by phase.
 *
 * The local rules of a phase run from a work list. It starts with every node, inputs first; a replacement appends the
 * nodes that it made and those around it, which may match again. When the list is empty, all nodes are tried once more,
 * until nothing changes; a bound on the
 * number of replacements stops rules that undo each other for ever. An index gives the rules for a node's class and
 * scalar op; a table of nodes by Op and inputs (cons.c) gives rules the nodes that are there already.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"

#include <stdio.h>
#include <string.h>

/* ---- The database ------------------------------------------------------------------------------------------------ */

typedef struct rule_base {
  ptrvec rules;     /* rewrite_rule* */
  uint64_t changes; /* number of rules that have come or gone */
  int64_t n_hosts;  /* number of those of hosts and scripts */
  rewrite_prepare prepare;
  void *prepare_user;
} rule_base;

static rule_base *base_of(const damo_ctx *ctx) { return ctx->slots[CTX_REWRITES].data; }
static ptrvec *rules_of(const damo_ctx *ctx) { return &base_of(ctx)->rules; }

static void rules_destroy(damo_ctx *ctx, void *data) {
  ptrvec_clear(&((rule_base *)data)->rules);
  mem_free(ctx, data, sizeof(rule_base));
}

uint64_t rewrite_changes(const damo_ctx *ctx) { return base_of(ctx)->changes; }
bool rewrite_has_hosts(const damo_ctx *ctx) { return base_of(ctx)->n_hosts > 0; }

void rewrite_set_prepare(damo_ctx *ctx, rewrite_prepare fn, void *user) {
  base_of(ctx)->prepare = fn;
  base_of(ctx)->prepare_user = user;
  base_of(ctx)->changes++;
}

bool rewrite_prepares(const damo_ctx *ctx) { return base_of(ctx)->prepare != NULL; }

damo_status rewrite_prepare_inner(damo_fgraph *fg) {
  const rule_base *base = base_of(fg->obj.ctx);
  return base->prepare != NULL ? base->prepare(fg, base->prepare_user) : DAMO_OK;
}

damo_status rewrite_register(damo_ctx *ctx, const rewrite_rule *rule) {
  ptrvec *rules = rules_of(ctx);
  for (int64_t i = 0; i < rules->n; i++) {
    if (strcmp(((const rewrite_rule *)rules->at[i])->name, rule->name) == 0) {
      return ctx_fail(ctx, DAMO_EVALUE, "there is a rewrite rule '%s' already", rule->name);
    }
  }
  DAMO_TRY(ptrvec_push(rules, rule));
  base_of(ctx)->changes++;
  base_of(ctx)->n_hosts += rule->host != NULL;
  return DAMO_OK;
}

const rewrite_rule *rewrite_at(damo_ctx *ctx, int64_t i) {
  const ptrvec *rules = rules_of(ctx);
  return i >= 0 && i < rules->n ? rules->at[i] : NULL;
}

damo_status rewrite_unregister(damo_ctx *ctx, const rewrite_rule *rule) {
  ptrvec *rules = rules_of(ctx);
  if (graph_notes_of(ctx)->rewriting != NULL) {
    return ctx_fail(ctx, DAMO_ESTATE, "the rewrite rule '%s' can't go while rules are at work", rule->name);
  }
  for (int64_t i = 0; i < rules->n; i++) {
    if (rules->at[i] != rule) continue;
    memmove(&rules->at[i], &rules->at[i + 1], (size_t)(rules->n - i - 1) * sizeof(void *));
    rules->n--;
    base_of(ctx)->changes++;
    base_of(ctx)->n_hosts -= rule->host != NULL;
  }
  return DAMO_OK;
}

damo_status rewrite_register_all(damo_ctx *ctx) {
  static const rewrite_rule *const families[] = {
      merge_rules,     fold_rules,       canonicalize_rules, shape_rules,    fill_rules,
      stabilize_rules, specialize_rules, product_rules,      linalg_rules,   sparse_rules,
      sampled_rules,   variance_rules,   fusion_rules,       epilogue_rules, source_rules,
      inplace_rules,   choice_rules,     nary_rules,         identity_rules, reduction_rules,
      indexing_rules,  joining_rules,    spectral_rules,     quotient_rules, diagonal_rules};
  rule_base *base = mem_calloc(ctx, sizeof *base);
  if (base == NULL) return DAMO_EMEMORY;
  ptrvec_init(&base->rules, ctx);
  ctx->slots[CTX_REWRITES] = (ctx_slot){.data = base, .destroy = rules_destroy};
  for (size_t f = 0; f < sizeof families / sizeof *families; f++) {
    for (const rewrite_rule *r = families[f]; r->name != NULL; r++) DAMO_TRY(rewrite_register(ctx, r));
  }
  return DAMO_OK;
}

/* ---- Selection of rules ------------------------------------------------------------------------------------------ */

/* Whether the word (of n bytes) is the rule's name or one of its tags. */
static bool rule_has_word(const rewrite_rule *r, const char *word, size_t n) {
  if (strlen(r->name) == n && memcmp(r->name, word, n) == 0) return true;
  for (const char *p = r->tags; p != NULL && *p != '\0';) {
    size_t m = strcspn(p, " ");
    if (m == n && memcmp(p, word, n) == 0) return true;
    p += m;
    while (*p == ' ') p++;
  }
  return false;
}

bool rewrite_has_tag(const rewrite_rule *rule, const char *word) { return rule_has_word(rule, word, strlen(word)); }

static const char *const phase_names[N_PHASES] = {"merge", "canonicalize", "stabilize", "specialize",
                                                  "fuse",  "loop",         "inplace"};

const char *rewrite_phase_name(rewrite_phase phase) { return phase_names[phase]; }

rewrite_phase rewrite_phase_of(const char *tags) {
  const rewrite_rule r = {.name = "", .tags = tags};
  for (int p = PHASE_MERGE + 1; p < N_PHASES; p++) {
    if (rewrite_has_tag(&r, phase_names[p])) return (rewrite_phase)p;
    if (p == PHASE_FUSE && rewrite_has_tag(&r, "fusion")) return PHASE_FUSE;
  }
  return PHASE_SPECIALIZE;
}

static bool rules_know(const ptrvec *rules, const char *word, size_t n) {
  for (int64_t i = 0; i < rules->n; i++) {
    if (rule_has_word(rules->at[i], word, n)) return true;
  }
  return false;
}

/* near: the best suggestion for word so far. Replaces it by the n letters at next if these are closer to word. */
static void keep_nearer(const char *word, char *near, size_t size, const char *next, size_t n) {
  char other[128];
  snprintf(other, sizeof other, "%.*s", (int)n, next);
  if (suggest(word, (const char *const[]){near, other, NULL}) == other) snprintf(near, size, "%s", other);
}

/* Copies the name or tag that is closest to word into near; false if none is close enough. */
static bool nearest_word(const ptrvec *rules, const char *word, char *near, size_t size) {
  near[0] = '\0';
  for (int64_t i = 0; i < rules->n; i++) {
    const rewrite_rule *r = rules->at[i];
    const char *const texts[2] = {r->name, r->tags != NULL ? r->tags : ""};
    for (int k = 0; k < 2; k++) {
      for (const char *p = texts[k]; *p != '\0'; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        keep_nearer(word, near, size, p, n);
        p += n;
      }
    }
  }
  return near[0] != '\0';
}

damo_status rewrite_check_words(damo_ctx *ctx, const char *field, const char *words) {
  const ptrvec *rules = rules_of(ctx);
  char word[128], near[128];
  for (; words != NULL && *words != '\0'; words += strspn(words, " ")) {
    const size_t n = strcspn(words, " ");
    if (n > 0 && !rules_know(rules, words, n)) {
      snprintf(word, sizeof word, "%.*s", (int)n, words);
      if (!nearest_word(rules, word, near, sizeof near)) {
        return ctx_fail(ctx, DAMO_EVALUE, "Mode: no rewrite has the name or tag '%s' of %s", word, field);
      }
      return ctx_fail(ctx, DAMO_EVALUE, "Mode: no rewrite has the name or tag '%s' of %s, did you mean '%s'?", word,
                      field, near);
    }
    words += n;
  }
  return DAMO_OK;
}

static bool rule_has_all(const rewrite_rule *r, const char *words) {
  while (words != NULL && *words != '\0') {
    size_t n = strcspn(words, " ");
    if (n > 0 && !rule_has_word(r, words, n)) return false;
    words += n;
    while (*words == ' ') words++;
  }
  return true;
}

static bool rule_has_any(const rewrite_rule *r, const char *words) {
  while (words != NULL && *words != '\0') {
    size_t n = strcspn(words, " ");
    if (n > 0 && rule_has_word(r, words, n)) return true;
    words += n;
    while (*words == ' ') words++;
  }
  return false;
}

static bool rule_is_selected(const rewrite_rule *r, const rewrite_query *q) {
  return (rule_has_any(r, q->include) || rule_has_any(r, q->also)) && !rule_has_any(r, q->exclude) &&
         !rule_has_any(r, q->without) && rule_has_all(r, q->require);
}

static damo_status select_rules(damo_ctx *ctx, const rewrite_query *q, rewrite_phase phase, ptrvec *out) {
  const ptrvec *rules = rules_of(ctx);
  out->n = 0;
  for (int64_t i = 0; i < rules->n; i++) {
    const rewrite_rule *r = rules->at[i];
    if (r->phase == phase && rule_is_selected(r, q)) DAMO_TRY(ptrvec_push(out, r));
  }
  return DAMO_OK;
}

/* ---- The rules for a node ---------------------------------------------------------------------------------------- */

/* For each class that a phase has met, and for each scalar op of Elemwise, the list of local rules that look at it, in
 * their order. Lists are made at first use. A class is identified by its address, so a foreign class of the same name
 * is another class. */
typedef struct rule_index {
  const ptrvec *local;            /* rewrite_rule*: the local rules of the phase */
  ptrvec lists;                   /* rewrite_rule*, each list followed by a NULL; entry 0 is unused: no list starts
                                   * there */
  map of_class;                   /* op_def* → start of its list */
  int64_t of_scalar[SCALAR_NONE]; /* start of the list for an Elemwise scalar op; 0: not made yet */
} rule_index;

static damo_status rule_index_init(rule_index *x, damo_ctx *ctx, const ptrvec *local) {
  *x = (rule_index){.local = local};
  map_init(&x->of_class, ctx);
  ptrvec_init(&x->lists, ctx);
  return ptrvec_push(&x->lists, NULL);
}

static void rule_index_clear(rule_index *x) {
  map_clear(&x->of_class);
  ptrvec_clear(&x->lists);
}

static bool rule_tracks(const rewrite_rule *r, const op_def *def) {
  for (const op_def *const *one = r->tracks; one != NULL && *one != NULL; one++) {
    if (*one == def) return true;
  }
  return r->tracks == NULL;
}

static bool rule_takes_scalar(const rewrite_rule *r, scalar_id id) {
  for (const int *one = r->scalars; one != NULL && *one >= 0; one++) {
    if (*one == (int)id) return true;
  }
  return r->scalars == NULL || id == SCALAR_NONE;
}

/* Makes the list for that class and scalar op; *first is its start. */
static damo_status rule_index_add(rule_index *x, const op_def *def, scalar_id id, int64_t *first) {
  *first = x->lists.n;
  for (int64_t i = 0; i < x->local->n; i++) {
    const rewrite_rule *r = x->local->at[i];
    if (rule_tracks(r, def) && rule_takes_scalar(r, id)) DAMO_TRY(ptrvec_push(&x->lists, r));
  }
  return ptrvec_push(&x->lists, NULL);
}

/* *first: the start of the list for nodes of that Op. */
static damo_status rule_index_find(rule_index *x, const damo_op *op, int64_t *first) {
  const scalar_id id = elemwise_scalar_id(op);
  if (id != SCALAR_NONE) {
    if (x->of_scalar[id] == 0) DAMO_TRY(rule_index_add(x, op->def, id, &x->of_scalar[id]));
    *first = x->of_scalar[id];
    return DAMO_OK;
  }
  uintptr_t at = 0;
  if (map_get(&x->of_class, op->def, &at)) return *first = (int64_t)at, DAMO_OK;
  DAMO_TRY(rule_index_add(x, op->def, id, first));
  return map_put(&x->of_class, op->def, (uintptr_t)*first);
}

/* ---- Profile ----------------------------------------------------------------------------------------------------- */

void rewrite_profile_init(rewrite_profile *p, damo_ctx *ctx) {
  *p = (rewrite_profile){.ctx = ctx};
  map_init(&p->of_rule, ctx);
}

void rewrite_profile_clear(rewrite_profile *p) {
  for (int64_t i = 0; i < p->n; i++) mem_strfree(p->ctx, p->rules[i].name);
  mem_free(p->ctx, p->rules, (size_t)p->cap * sizeof *p->rules);
  map_clear(&p->of_rule);
}

static damo_status profile_new_rule(rewrite_profile *p, const rewrite_rule *r) {
  if (p->n == p->cap) {
    const int64_t cap = p->cap == 0 ? 64 : 2 * p->cap;
    rewrite_use *rules = mem_realloc(p->ctx, p->rules, (size_t)p->cap * sizeof *rules, (size_t)cap * sizeof *rules);
    if (rules == NULL) return DAMO_EMEMORY;
    p->rules = rules;
    p->cap = cap;
  }
  char *name = mem_strdup(p->ctx, r->name);
  if (name == NULL) return DAMO_EMEMORY;
  p->rules[p->n] = (rewrite_use){.name = name};
  return map_put(&p->of_rule, r, (uintptr_t)p->n++);
}

/* Adds the time since `start` and these replacements to the rule's entry. p may be NULL. */
static damo_status profile_count(rewrite_profile *p, const rewrite_rule *r, int64_t start, int64_t uses) {
  uintptr_t at = 0;
  if (p == NULL) return DAMO_OK;
  const int64_t time = clock_ns() - start;
  if (!map_get(&p->of_rule, r, &at)) {
    DAMO_TRY(profile_new_rule(p, r));
    at = (uintptr_t)p->n - 1;
  }
  p->rules[at].time += time;
  p->rules[at].uses += uses;
  return DAMO_OK;
}

static int64_t profile_clock(const rewrite_profile *p) { return p != NULL ? clock_ns() : 0; }

/* ---- Local rules ------------------------------------------------------------------------------------------------- */

#define MOST_NAMED 8 /* rules that the warning about an endless rewriting names */
#define LAST_USES 64 /* replacements before the end of the budget from which it takes them */

typedef struct work_list {
  ptrvec queue; /* damo_apply*, from `head` on owned; nodes that the fgraph no longer has are skipped */
  int64_t head;
  uint64_t pass;       /* nodes in the queue have it (damo_apply.pass) */
  bool shares, filled; /* equal nodes become one; filled: `shared` has the nodes, since a rule has asked for one */
  damo_fgraph *fg;
  damo_status status; /* of filling it */
  cons_table shared;
  build_finder finder;
  int64_t sinking;          /* how many uses of rules that sink nodes are left */
  bool changed;             /* a rule has changed something since all nodes were queued */
  uint64_t draw;            /* state of the generator of a shuffled order; 0: the usual order */
  rewrite_profile *profile; /* or NULL */
} work_list;

/* A number below n from xorshift64, 0 in the usual order. */
static int64_t work_draw(work_list *w, int64_t n) {
  if (w->draw == 0 || n < 2) return 0;
  w->draw ^= w->draw << 13;
  w->draw ^= w->draw >> 7;
  w->draw ^= w->draw << 17;
  return (int64_t)(w->draw % (uint64_t)n);
}

static damo_status work_push(work_list *w, damo_apply *node) {
  if (node == NULL || node->pass == w->pass) return DAMO_OK;
  DAMO_TRY(ptrvec_push(&w->queue, node));
  node->pass = w->pass;
  damo_retain(node);
  return DAMO_OK;
}

/* v is about to be replaced: its users may match again. The users that the replacement already has are not queued,
 * because there may be very many. */
static damo_status work_touch_users(work_list *w, damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = fgraph_clients(fg, v);
  for (int32_t i = 0; c != NULL && i < c->n; i++) DAMO_TRY(work_push(w, c->at[i].node));
  return DAMO_OK;
}

/* v has replaced another Variable: its node and the nodes of that node's inputs may match again. */
static damo_status work_touch_makers(work_list *w, damo_fgraph *fg, const damo_var *v) {
  if (v->owner == NULL || !fgraph_has_node(fg, v->owner)) return DAMO_OK;
  for (int i = 0; i < v->owner->n_in; i++) {
    damo_apply *up = v->owner->in[i]->owner;
    if (up != NULL && fgraph_has_node(fg, up)) DAMO_TRY(work_push(w, up));
  }
  return work_push(w, v->owner);
}

/* Whether v certainly does not depend on the node: it is a leaf, an input of the node, or an input of a node that makes
 * one of these. */
static bool is_near(const damo_apply *node, const damo_var *v) {
  if (v->owner == NULL || v->owner == node) return true;
  for (int i = 0; i < node->n_in; i++) {
    const damo_apply *up = node->in[i]->owner;
    if (v == node->in[i]) return true;
    for (int k = 0; up != NULL && k < up->n_in; k++) {
      if (v == up->in[k]) return true;
    }
  }
  return false;
}

/* Walks over the nodes that a host's rule has just made (ids from first_id on) and gives them the node's trace. *near:
 * everything that they are made from passes is_near, so that no cycle can arise and the check can be omitted. */
static damo_status adopt_host_nodes(damo_fgraph *fg, damo_apply *node, damo_var **repl, uint64_t first_id, bool *near) {
  map seen;
  ptrvec stack;
  map_init(&seen, fg->obj.ctx);
  ptrvec_init(&stack, fg->obj.ctx);
  *near = true;
  damo_status s = DAMO_OK;
  for (int i = 0; i < node->n_out && s == DAMO_OK; i++) {
    if (repl[i] != NULL) s = ptrvec_push(&stack, repl[i]);
  }
  while (stack.n > 0 && s == DAMO_OK) {
    damo_var *v = stack.at[--stack.n];
    damo_apply *up = v->owner;
    if (up == NULL || up->id < first_id || fgraph_has_node(fg, up)) {
      *near = *near && is_near(node, v);
      continue;
    }
    if (map_get(&seen, up, NULL)) continue;
    if (node->trace != NULL) {
      damo_release(up->trace);
      up->trace = damo_retain(node->trace);
    }
    s = map_put(&seen, up, 1);
    for (int i = 0; i < up->n_in && s == DAMO_OK; i++) s = ptrvec_push(&stack, up->in[i]);
  }
  ptrvec_clear(&stack);
  map_clear(&seen);
  return s;
}

/* Whether the replacement v of output i is the node itself, made again. */
static bool is_same_again(const damo_apply *node, const damo_var *v, int i) {
  const damo_apply *up = v->owner;
  if (up == NULL || up->op != node->op || v->index != i || up->n_in != node->n_in) return false;
  return memcmp(up->in, node->in, (size_t)node->n_in * sizeof *node->in) == 0;
}

/* Applies a rule's replacements, unless one has a Type that the old Variable's Type does not include. */
static damo_status apply_replacements(damo_fgraph *fg, damo_apply *node, damo_var **repl, bool trusted, work_list *w,
                                      const char *name, bool *changed) {
  damo_var *old[REWRITE_MAX_OUT], *now[REWRITE_MAX_OUT];
  int n = 0;
  for (int i = 0; i < node->n_out; i++) {
    if (repl[i] == NULL || repl[i] == node->out[i] || is_same_again(node, repl[i], i)) continue;
    if (!type_is_super(node->out[i]->type, repl[i]->type)) return DAMO_OK;
    if (fgraph_clients(fg, node->out[i]) == NULL) continue;
    old[n] = node->out[i];
    now[n++] = repl[i];
  }
  if (n == 0) return DAMO_OK;
  *changed = true;
  damo_assert(fgraph_has_node(fg, node));
  for (int i = 0; i < n; i++) DAMO_TRY(work_touch_users(w, fg, old[i]));
  DAMO_TRY(trusted ? fgraph_replace_trusted(fg, old, now, n, name) : fgraph_replace_all(fg, old, now, n, name));
  for (int i = 0; i < n; i++) DAMO_TRY(work_touch_makers(w, fg, now[i]));
  return DAMO_OK;
}

/* Ends the scope of what a rule has built, and begins one for the next. */
static damo_status renew_scope(build *b) {
  const build_finder *finder = b->finder;
  const damo_status s = build_end(b);
  build_init(b, b->ctx);
  b->finder = finder;
  return s;
}

/* One rule on a node, whose outputs have no replacements in repl yet, nor after it. */
static damo_status try_rule(const rewrite_rule *r, damo_fgraph *fg, damo_apply *node, work_list *w, build *b,
                            damo_var **repl, bool *changed) {
  const uint64_t first_id = fg->obj.ctx->next_id;
  bool did = false, trusted = true;
  damo_status s = r->local != NULL ? r->local(b, fg, node, repl, &did) : r->host(r, b, fg, node, repl, &did);
  if (s == DAMO_OK) s = b->status;
  if (s == DAMO_OK) s = w->status;
  if (s == DAMO_OK && did && r->host != NULL) s = adopt_host_nodes(fg, node, repl, first_id, &trusted);
  if (s == DAMO_OK && did) s = apply_replacements(fg, node, repl, trusted, w, r->name, changed);
  if (b->owned.n > 0 || b->first_mask != NULL || s != DAMO_OK) {
    const damo_status ended = renew_scope(b);
    if (s == DAMO_OK) s = ended;
  }
  repl[0] = NULL;
  for (int i = 1; i < node->n_out; i++) repl[i] = NULL;
  if (s != DAMO_OK) {
    ctx_fail_add(fg->obj.ctx, "while rewriting by %s", r->name);
    ctx_fail_at(fg->obj.ctx, node->op->def->name, node);
  }
  return s;
}

/* Queues every node that a replacement imports. */
static damo_status work_import(damo_fgraph *fg, void *user, damo_apply *node) {
  work_list *w = user;
  (void)fg;
  if (w->filled) DAMO_TRY(cons_add(&w->shared, node));
  return work_push(w, node);
}

static void work_prune(damo_fgraph *fg, void *user, damo_apply *node) {
  work_list *w = user;
  (void)fg;
  if (w->filled) cons_remove(&w->shared, node);
}

static damo_status work_input_changed(damo_fgraph *fg, void *user, damo_apply *node, int index, damo_var *old,
                                      damo_var *now) {
  work_list *w = user;
  (void)fg;
  return w->filled && node != NULL ? cons_input_changed(&w->shared, node, index, old, now) : DAMO_OK;
}

static damo_status fill_node_table(work_list *w) {
  ptrvec nodes;
  ptrvec_init(&nodes, w->fg->obj.ctx);
  damo_status s = fgraph_toposort(w->fg, &nodes);
  for (int64_t i = 0; i < nodes.n && s == DAMO_OK; i++) s = cons_add(&w->shared, nodes.at[i]);
  ptrvec_clear(&nodes);
  w->filled = true;
  return w->status = s;
}

/* build_finder: the table is made when the first rule asks, since most phases find nothing to do. */
static damo_apply *find_equal_node(void *user, const damo_op *op, damo_var *const *in, int n_in) {
  work_list *w = user;
  if (!w->filled && fill_node_table(w) != DAMO_OK) return NULL; /* try_rule sees w->status */
  return cons_find(&w->shared, op, in, n_in);
}

/* If the graph has an equal node, that one takes the node's place. */
static damo_status merge_into_twin(damo_fgraph *fg, damo_apply *node, work_list *w, bool *changed) {
  damo_apply *twin = w->filled ? cons_find(&w->shared, node->op, node->in, node->n_in) : NULL;
  if (twin == NULL || twin == node || twin->n_out != node->n_out) return DAMO_OK;
  for (int i = 0; i < node->n_out; i++) {
    if (!type_is_super(node->out[i]->type, twin->out[i]->type)) return DAMO_OK;
  }
  const int64_t start = profile_clock(w->profile);
  DAMO_TRY(merge_traces(fg->obj.ctx, twin, node));
  for (int i = 0; i < node->n_out; i++) DAMO_TRY(work_touch_users(w, fg, node->out[i]));
  DAMO_TRY(fgraph_replace_trusted(fg, node->out, twin->out, node->n_out, "merge"));
  *changed = true;
  return profile_count(w->profile, &merge_rules[0], start, 1);
}

/* Tries the rules of the node's list until one changes it; *used: that rule. What they build has the node's trace. */
static damo_status try_rules(damo_fgraph *fg, damo_apply *node, void *const *list, work_list *w,
                             const rewrite_rule **used) {
  int64_t n = 0;
  bool changed = false;
  damo_var *repl[REWRITE_MAX_OUT];
  build b;
  *used = NULL;
  while (list[n] != NULL) n++;
  const int64_t first = work_draw(w, n);
  for (int i = 0; i < node->n_out; i++) repl[i] = NULL;
  build_init(&b, fg->obj.ctx);
  if (w->shares) b.finder = &w->finder;
  damo_obj **trace = &graph_notes_of(fg->obj.ctx)->trace, *outer = *trace;
  *trace = node->trace != NULL ? &node->trace->obj : NULL;
  damo_status s = DAMO_OK;
  for (int64_t k = 0; k < n && !changed && s == DAMO_OK; k++) {
    const rewrite_rule *r = list[(first + k) % n];
    if (r->sinks && w->sinking == 0) continue;
    const int64_t start = profile_clock(w->profile);
    s = try_rule(r, fg, node, w, &b, repl, &changed);
    if (s == DAMO_OK && w->profile != NULL) s = profile_count(w->profile, r, start, changed);
    if (changed) *used = r;
  }
  *trace = outer;
  build_end(&b);
  return s;
}

/* The node to look at next, which leaves the queue; owned. */
static damo_apply *work_pop(work_list *w) {
  const int64_t k = w->head + work_draw(w, w->queue.n - w->head);
  damo_apply *node = w->queue.at[k];
  w->queue.at[k] = w->queue.at[w->head];
  w->queue.at[w->head++] = node;
  node->pass = 0;
  return node;
}

/* Warns that these rules, the last ones used, go on for ever. */
static void warn_endless(damo_ctx *ctx, const rewrite_rule *const *last, int64_t n_last) {
  const char *names[MOST_NAMED];
  char text[512] = "";
  int n = 0;
  for (int64_t i = 0; i < n_last && n < MOST_NAMED; i++) {
    bool known = last[i] == NULL;
    for (int k = 0; k < n; k++) known = known || names[k] == last[i]->name;
    if (!known) names[n++] = last[i]->name;
  }
  for (int k = 0; k < n; k++) {
    const size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "%s%s", k == 0 ? "" : k == n - 1 ? " and " : ", ", names[k]);
  }
  if (n == 1) {
    ctx_warn(ctx, "rewrite", "rewriting was cut off: the rule %s goes on for ever", text);
  } else {
    ctx_warn(ctx, "rewrite", "rewriting was cut off: the rules %s go on for ever, each undoing what another does",
             text);
  }
}

/* Queues every node, in dependency order; the queue is empty. */
static damo_status queue_all(damo_fgraph *fg, work_list *w) {
  w->changed = false;
  w->head = w->queue.n = 0;
  const damo_status s = fgraph_toposort(fg, &w->queue);
  if (s != DAMO_OK) w->queue.n = 0;
  for (int64_t i = 0; i < w->queue.n; i++) {
    damo_apply *node = damo_retain(w->queue.at[i]);
    node->pass = w->pass;
  }
  return s;
}

static void queue_clear(work_list *w) {
  while (w->head < w->queue.n) damo_release(w->queue.at[w->head++]);
  ptrvec_clear(&w->queue);
}

/* Merges the node into an equal one, or tries its rules; *used: the one that has changed it, or NULL. */
static damo_status work_visit(damo_fgraph *fg, rule_index *index, work_list *w, damo_apply *node,
                              const rewrite_rule **used) {
  bool merged = false;
  int64_t first = 0;
  *used = NULL;
  if (!fgraph_has_node(fg, node) || node->n_out > REWRITE_MAX_OUT) return DAMO_OK;
  DAMO_TRY(merge_into_twin(fg, node, w, &merged));
  if (merged) return DAMO_OK; /* not counted: each takes a node away */
  DAMO_TRY(rule_index_find(index, node->op, &first));
  return try_rules(fg, node, index->lists.at + first, w, used);
}

/* Once the queue is empty, every node is queued once more: rules look further than at the nodes around a replacement,
 * so that what one of them has seen may have changed. */
static damo_status run_work(damo_fgraph *fg, rule_index *index, work_list *w) {
  int64_t budget = 1000 + 20 * (int64_t)fg->nodes.n;
  w->sinking = budget;
  const rewrite_rule *last[LAST_USES] = {NULL};
  while (budget > 0) {
    if (w->head == w->queue.n && w->changed) DAMO_TRY(queue_all(fg, w));
    if (w->head == w->queue.n) break;
    damo_apply *node = work_pop(w);
    const rewrite_rule *used;
    const damo_status s = work_visit(fg, index, w, node, &used);
    damo_release(node);
    DAMO_TRY(s);
    if (used == NULL) continue;
    w->changed = true;
    if (used->sinks) {
      w->sinking--;
      continue;
    }
    last[--budget % LAST_USES] = used;
  }
  if (w->head < w->queue.n) warn_endless(fg->obj.ctx, last, LAST_USES);
  return DAMO_OK;
}

static damo_status run_local(damo_fgraph *fg, const ptrvec *rules, const rewrite_query *q, rewrite_phase phase) {
  damo_ctx *ctx = fg->obj.ctx;
  work_list w = {.fg = fg, .draw = q->shuffle, .profile = q->profile, .pass = ++ctx->walks};
  rule_index index;
  ptrvec_init(&w.queue, ctx);
  map_init(&w.shared.of_key, ctx);
  w.shares = phase < PHASE_LOOP && rule_is_selected(&merge_rules[0], q);
  w.finder = (build_finder){.find = find_equal_node, .user = &w};
  damo_status s = rule_index_init(&index, ctx, rules);
  if (s == DAMO_OK) s = queue_all(fg, &w);
  fg_feature feature = {.name = "work list",
                        .on_import = work_import,
                        .on_prune = work_prune,
                        .on_change_input = work_input_changed,
                        .user = &w};
  if (s == DAMO_OK) s = fgraph_attach(fg, &feature);
  if (s == DAMO_OK) s = run_work(fg, &index, &w);
  fgraph_detach(fg, &feature);
  rule_index_clear(&index);
  map_clear(&w.shared.of_key);
  queue_clear(&w);
  return s;
}

/* ---- Phases ------------------------------------------------------------------------------------------------------ */

static damo_status run_phase(damo_fgraph *fg, const rewrite_query *q, rewrite_phase phase, ptrvec *rules) {
  DAMO_TRY(select_rules(fg->obj.ctx, q, phase, rules));
  int64_t n = 0; /* number of local rules, which run after the global ones */
  for (int64_t i = 0; i < rules->n; i++) {
    const rewrite_rule *r = rules->at[i];
    if (r->global == NULL) {
      rules->at[n++] = rules->at[i];
      continue;
    }
    const uint64_t before = fg->changes;
    const int64_t start = profile_clock(q->profile);
    DAMO_TRY(r->global(fg));
    DAMO_TRY(profile_count(q->profile, r, start, (int64_t)(fg->changes - before)));
  }
  rules->n = n;
  if (n > 0) DAMO_TRY(run_local(fg, rules, q, phase));
  DAMO_TRY_DEBUG(fgraph_check(fg));
  return DAMO_OK;
}

static damo_status run_phase_timed(damo_fgraph *fg, const rewrite_query *q, rewrite_phase phase, ptrvec *rules) {
  const int64_t start = profile_clock(q->profile);
  const damo_status s = run_phase(fg, q, phase, rules);
  if (q->profile != NULL) q->profile->phase_time[phase] += clock_ns() - start;
  return s;
}

#define MOST_ROUNDS 3 /* of canonicalizing what was stabilized */

damo_status rewrite_run(damo_fgraph *fg, const rewrite_query *query) {
  ptrvec rules;
  damo_obj *outer = graph_notes_of(fg->obj.ctx)->rewriting;
  graph_notes_of(fg->obj.ctx)->rewriting = &fg->obj;
  ptrvec_init(&rules, fg->obj.ctx);
  damo_status s = DAMO_OK;
  for (int phase = 0; phase < N_PHASES && s == DAMO_OK; phase++) {
    uint64_t before = fg->changes;
    s = run_phase_timed(fg, query, (rewrite_phase)phase, &rules);
    /* stable forms may have signs and constants that canonical ones don't */
    for (int round = 0; phase == PHASE_STABILIZE && round < MOST_ROUNDS && s == DAMO_OK; round++) {
      const uint64_t now = fg->changes;
      if (now == before) break;
      s = run_phase_timed(fg, query, PHASE_CANONICALIZE, &rules);
      if (s != DAMO_OK || fg->changes == now) break;
      s = run_phase_timed(fg, query, PHASE_STABILIZE, &rules);
    }
    /* new nodes may be equal to existing ones */
    if (s == DAMO_OK && phase != PHASE_MERGE && fg->changes != before)
      s = run_phase_timed(fg, query, PHASE_MERGE, &rules);
  }
  damo_assert(graph_notes_of(fg->obj.ctx)->rewriting == &fg->obj);
  if (query->profile != NULL) map_clear(&query->profile->of_rule);
  ptrvec_clear(&rules);
  graph_notes_of(fg->obj.ctx)->rewriting = outer;
  return s;
}
