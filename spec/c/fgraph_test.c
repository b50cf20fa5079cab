/* fgraph_test: features of a FunctionGraph: which callbacks each gets and in which order, and that all see a consistent
 * sequence if one of them fails. */
#include "watch_case.h"
#include "op/op.h"
#include "by_name.h"

/* A feature that records its callbacks; `refuse` names the callback that fails, at its countdown-th call. */
typedef struct listener {
  fg_feature f;
  char heard[600];
  const char *refuse;
  int countdown;
  char letter;
  bool also_back; /* fails on every later on_change_input too */
} listener;

static damo_status hear(listener *l, const char *what, const char *detail) {
  size_t n = strlen(l->heard);
  snprintf(l->heard + n, sizeof l->heard - n, "%s%s%s", n > 0 ? " " : "", what, detail);
  if (l->refuse == NULL || strcmp(l->refuse, what) != 0) return DAMO_OK;
  if (--l->countdown > 0 || (l->countdown < 0 && !l->also_back)) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "%c refuses %s %d", l->letter, what, -l->countdown);
}

/* ":exp" for a node, ":x" for a Variable. */
static char *name_of(char *dst, size_t n, const damo_apply *node) {
  snprintf(dst, n, ":%s", node != NULL ? elemwise_scalar(node->op) : "output");
  return dst;
}

static damo_status on_attach(damo_fgraph *fg, void *user) {
  (void)fg;
  return hear(user, "attach", "");
}
static void on_detach(damo_fgraph *fg, void *user) {
  (void)fg;
  (void)hear(user, "detach", "");
}
static damo_status on_import(damo_fgraph *fg, void *user, damo_apply *node) {
  char text[60];
  CHECK(fgraph_has_node(fg, node));
  return hear(user, "import", name_of(text, sizeof text, node));
}
static void on_prune(damo_fgraph *fg, void *user, damo_apply *node) {
  char text[60];
  CHECK(fgraph_has_node(fg, node));
  (void)hear(user, "prune", name_of(text, sizeof text, node));
}
static damo_status on_change(damo_fgraph *fg, void *user, damo_apply *node, int index, damo_var *old, damo_var *now) {
  char text[200], a[40], b[40], where[60];
  const damo_var *stands = node != NULL ? node->in[index] : fg->outputs.at[index];
  CHECK(stands == now); /* changed, then undone */
  snprintf(text, sizeof text, "%s.%d(%.20s>%.20s)", name_of(where, sizeof where, node), index,
           old->owner ? elemwise_scalar(old->owner->op) : var_format(a, sizeof a, old),
           now->owner ? elemwise_scalar(now->owner->op) : var_format(b, sizeof b, now));
  return hear(user, "change", text);
}
static damo_status validate(damo_fgraph *fg, void *user) {
  (void)fg;
  return hear(user, "validate", "");
}
static damo_status on_replace(damo_fgraph *fg, void *user, damo_var *old, damo_var *now, const char *reason) {
  char text[90];
  CHECK(old->owner == NULL || fgraph_has_node(fg, old->owner));
  CHECK(now->owner == NULL || fgraph_has_node(fg, now->owner));
  snprintf(text, sizeof text, ":%s", reason != NULL ? reason : "?");
  return hear(user, "replace", text);
}

static void listen(listener *l, char letter) {
  *l = (listener){.letter = letter};
  l->f = (fg_feature){.name = "listener",
                      .on_attach = on_attach,
                      .on_detach = on_detach,
                      .on_import = on_import,
                      .on_prune = on_prune,
                      .on_change_input = on_change,
                      .validate = validate,
                      .on_replace = on_replace,
                      .user = l};
}

/* The graph exp(x)·exp(x) + x with three listeners. */
typedef struct scene {
  damo_var *x, *e, *out;
  damo_fgraph *fg;
  listener l[3];
} scene;

static void scene_begin(scene *s, build *b) {
  s->x = vec(b, "x");
  s->e = build_fn1(b, "exp", s->x);
  s->out = build_fn2(b, "add", build_fn2(b, "mul", s->e, s->e), s->x);
  s->fg = fgraph_new(ctx, &s->x, 1, &s->out, 1, false, NULL);
  for (int i = 0; i < 3; i++) {
    listen(&s->l[i], (char)('A' + i));
    CHECK_EQ_I(fgraph_attach(s->fg, &s->l[i].f), DAMO_OK);
  }
}

static void forget(scene *s) {
  for (int i = 0; i < 3; i++) s->l[i].heard[0] = '\0';
}

static void scene_end(scene *s) {
  for (int i = 0; i < 3; i++) fgraph_detach(s->fg, &s->l[i].f);
  damo_release(s->fg);
}

/* The callbacks of a complete replacement. */
#define CAME "import:neg import:sin"
#define WENT "prune:sin prune:neg"
#define MOVED "change:mul.0(exp>sin) change:mul.1(exp>sin)"
#define BACK "change:mul.1(sin>exp) change:mul.0(sin>exp)"

static damo_var *sin_of_neg(build *b, scene *s) { return build_fn1(b, "sin", build_fn1(b, "neg", s->x)); }

static void test_story(build *b) {
  scene s;
  scene_begin(&s, b);
  CHECK_EQ_S(s.l[0].heard, "attach");
  forget(&s);
  CHECK_EQ_I(fgraph_replace(s.fg, s.e, sin_of_neg(b, &s), "a test"), DAMO_OK);
  for (int i = 0; i < 3; i++) CHECK_EQ_S(s.l[i].heard, CAME " " MOVED " validate replace:a test prune:exp");
  forget(&s);
  CHECK_EQ_I(fgraph_change_input(s.fg, NULL, 0, s.x, NULL), DAMO_OK);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ_S(s.l[i].heard, "change:output.0(add>x) validate replace:? prune:add prune:mul prune:sin prune:neg");
  }
  forget(&s);
  scene_end(&s);
  CHECK_EQ_S(s.l[2].heard, "detach");
}

/* The second listener fails: the callbacks that each of the three has got then. */
static void test_failures(build *b) {
  struct {
    const char *refuse;
    int at;
    const char *heard[3];
  } cases[] = {
      {"import", 1, {"import:neg prune:neg", "import:neg", ""}},
      {"import",
       2,
       {"import:neg import:sin prune:sin prune:neg", "import:neg import:sin prune:neg", "import:neg prune:neg"}},
      {"change",
       1,
       {CAME " change:mul.0(exp>sin) change:mul.0(sin>exp) " WENT, CAME " change:mul.0(exp>sin) " WENT, CAME " " WENT}},
      {"change",
       2,
       {CAME " " MOVED " " BACK " " WENT, CAME " " MOVED " change:mul.0(sin>exp) " WENT,
        CAME " change:mul.0(exp>sin) change:mul.0(sin>exp) " WENT}},
      {"validate",
       1,
       {CAME " " MOVED " validate " BACK " " WENT, CAME " " MOVED " validate " BACK " " WENT,
        CAME " " MOVED " " BACK " " WENT}},
      {"replace",
       1,
       {CAME " " MOVED " validate replace:r " BACK " " WENT, CAME " " MOVED " validate replace:r " BACK " " WENT,
        CAME " " MOVED " validate " BACK " " WENT}},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    for (int stubborn = 0; stubborn < 2; stubborn++) { /* failing while the change is undone makes no difference */
      scene s;
      scene_begin(&s, b);
      forget(&s);
      s.l[1].refuse = cases[k].refuse;
      s.l[1].countdown = cases[k].at;
      s.l[1].also_back = stubborn;
      CHECK_EQ_I(fgraph_replace(s.fg, s.e, sin_of_neg(b, &s), "r"), DAMO_EVALUE);
      char want[60];
      snprintf(want, sizeof want, "B refuses %s 0", cases[k].refuse);
      CHECK_EQ_S(damo_error_message(ctx), want); /* the first error, whatever follows it */
      for (int i = 0; i < 3; i++) {
        if (!CHECK_EQ_S(s.l[i].heard, cases[k].heard[i])) fprintf(stderr, "    case %zu, listener %d\n", k, i);
      }
      CHECK_EQ_I(fgraph_check(s.fg), DAMO_OK);
      CHECK(((damo_var *)s.fg->outputs.at[0]) == s.out && s.fg->nodes.n == 3 && fgraph_clients(s.fg, s.e)->n == 2);
      s.l[1].refuse = NULL;
      CHECK_EQ_I(fgraph_replace(s.fg, s.e, sin_of_neg(b, &s), "r"), DAMO_OK);
      CHECK_EQ_I(fgraph_check(s.fg), DAMO_OK);
      scene_end(&s);
    }
  }
}

/* A feature that fails to attach is not attached and gets no further callbacks. */
static void test_attach(build *b) {
  scene s;
  scene_begin(&s, b);
  listener late;
  listen(&late, 'D');
  late.refuse = "attach";
  late.countdown = 1;
  CHECK_EQ_I(fgraph_attach(s.fg, &late.f), DAMO_EVALUE);
  CHECK_EQ_I(fgraph_replace(s.fg, s.e, sin_of_neg(b, &s), NULL), DAMO_OK);
  CHECK_EQ_S(late.heard, "attach");
  fgraph_detach(s.fg, &late.f); /* was never attached */
  CHECK_EQ_S(late.heard, "attach");
  late.refuse = NULL;
  CHECK_EQ_I(fgraph_attach(s.fg, &late.f), DAMO_OK);
  fgraph_detach(s.fg, &late.f);
  CHECK_EQ_S(late.heard, "attach attach detach");
  scene_end(&s);
}

/* All or none: if the second of two replacements is refused, the first is undone too. */
static void test_all_or_none(build *b) {
  scene s;
  scene_begin(&s, b);
  damo_var *product = s.out->owner->in[0];
  damo_var *old[] = {s.e, product}, *now[] = {build_fn1(b, "sin", s.x), build_fn1(b, "cos", s.x)};
  s.l[2].refuse = "change";
  s.l[2].countdown = 3;
  forget(&s);
  CHECK_EQ_I(fgraph_replace_all(s.fg, old, now, 2, "both"), DAMO_EVALUE);
  CHECK_EQ_S(s.l[0].heard, "import:sin " MOVED " import:cos change:add.0(mul>cos) change:add.0(cos>mul) " BACK
                           " prune:cos prune:sin");
  CHECK_EQ_S(s.l[2].heard, "import:sin " MOVED " import:cos change:add.0(mul>cos) " BACK " prune:cos prune:sin");
  CHECK_EQ_I(fgraph_check(s.fg), DAMO_OK);
  CHECK(s.out->owner->in[0] == product && product->owner->in[0] == s.e && product->owner->in[1] == s.e);
  scene_end(&s);
}

static void expect_flaw(const scene *s, const char *text) {
  CHECK_EQ_I(fgraph_check(s->fg), DAMO_EINCONSISTENCY);
  if (!CHECK(strstr(damo_error_message(ctx), text) != NULL)) fprintf(stderr, "    %s\n", damo_error_message(ctx));
  ctx_clear_error(ctx);
}

/* fgraph_check says what does not agree. */
static void test_check(build *b) {
  scene s;
  scene_begin(&s, b);
  damo_apply *last = s.out->owner;
  damo_var *product = last->in[0];
  CHECK_EQ_I(fgraph_check(s.fg), DAMO_OK);
  last->in[0] = s.x;
  expect_flaw(&s, "lists 3 nodes");
  last->in[0] = product;
  product->owner->in[0] = s.x;
  expect_flaw(&s, "input 1 of a Elemwise node is not noted");
  product->owner->in[0] = s.e;
  fg_clients *uses = (fg_clients *)(uintptr_t)fgraph_clients(s.fg, s.e);
  uses->n--;
  expect_flaw(&s, "is not noted as a use");
  uses->n++;
  uses = (fg_clients *)(uintptr_t)fgraph_clients(s.fg, product);
  uses->at[uses->n++] = uses->at[0];
  expect_flaw(&s, "7 uses are noted, the graph has 6");
  uses->n--;
  uses = (fg_clients *)(uintptr_t)fgraph_clients(s.fg, s.out);
  uses->at[0].index = 1;
  expect_flaw(&s, "output 1 of the graph");
  uses->at[0].index = 0;
  CHECK_EQ_I(fgraph_check(s.fg), DAMO_OK);
  scene_end(&s);
}

int main(void) {
  in_context(test_story);
  in_context(test_failures);
  in_context(test_attach);
  in_context(test_all_or_none);
  in_context(test_check);
  TEST_MAIN_END;
}
