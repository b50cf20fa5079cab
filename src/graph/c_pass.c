/* c_pass: passes over elements in C source. A pass over the same shape as the one that the text ends with is joined to it:
 * one loop, where what the first has written and the second reads is a variable of the loop's body. */
#include <string.h>

#include "c_emit.h"

#define PASS_MOST 64 /* operands of a joined pass */

/* One operand: where its elements lie, and the variable that holds the element; NULL: none does. */
typedef struct pass_access {
  int32_t storage;
  int64_t offset, low, high; /* the first element, and the least and greatest that it touches */
  damo_dtype dtype;
  bool writes;
  const int64_t *step; /* of the nest's axes, n_ops apart */
  int32_t n_ops;
  const char *text;
} pass_access;

/* The pass that the text ends with. */
struct c_pass {
  size_t cut, end; /* where its statements end, and where its last line does */
  int indent, n;
  c_nest nest;
  pass_access access[PASS_MOST];
};

static pass_access access_of(const c_emit *e, const c_nest *n, int op, const c_value *v, bool writes) {
  const c_pointer *p = e->pointers.at[v->pointer];
  pass_access a = {.storage = p->storage,
                   .offset = p->offset,
                   .low = p->offset,
                   .high = p->offset,
                   .dtype = v->dtype,
                   .writes = writes,
                   .step = n->step + op,
                   .n_ops = n->n_ops};
  for (int k = 0; k < n->n_axes; k++) {
    const int64_t reach = (n->length[k] - 1) * a.step[k * a.n_ops];
    a.low += reach < 0 ? reach : 0;
    a.high += reach > 0 ? reach : 0;
  }
  return a;
}

static bool access_is_same(const pass_access *a, const pass_access *b, int n_axes) {
  bool same = a->storage == b->storage && a->dtype == b->dtype && a->offset == b->offset;
  for (int k = 0; k < n_axes && same; k++) same = a->step[k * a->n_ops] == b->step[k * b->n_ops];
  return same;
}

/* Whether a and b touch no element in common but each other's of the same iteration. */
static bool access_is_apart(const pass_access *a, const pass_access *b, int n_axes) {
  if (a->storage != b->storage || (!a->writes && !b->writes)) return true;
  if (a->dtype != b->dtype) return false;
  if (a->high < b->low || b->high < a->low) return true;
  for (int k = 0; k < n_axes; k++)
    if (a->step[k * a->n_ops] == 0) return false;
  return access_is_same(a, b, n_axes);
}

/* Whether between the pass's last line and the end of the text blocks close, and as many open. */
static bool pass_ends_text(const c_emit *e, const c_pass *p) {
  int closed = 0, opened = 0;
  if (p->end == 0 || p->end > e->body.n || e->body.at == NULL) return false;
  for (size_t i = p->end; i < e->body.n; i++) {
    const char c = e->body.at[i];
    if ((c == '}' && opened > 0) || strchr("{} \n", c) == NULL) return false;
    closed += c == '}';
    opened += c == '{';
  }
  return closed == opened;
}

static bool pass_joins(const c_emit *e, const c_pass *p, const c_nest *n, const pass_access *made, int n_made) {
  if (e->indent != p->indent || n->n_axes == 0 || n->n_axes != p->nest.n_axes || p->n + n_made > PASS_MOST)
    return false;
  for (int k = 0; k < n->n_axes; k++)
    if (n->length[k] != p->nest.length[k]) return false;
  if (!pass_ends_text(e, p)) return false;
  for (int i = 0; i < n_made; i++)
    for (int j = 0; j < p->n; j++)
      if (!access_is_apart(&made[i], &p->access[j], n->n_axes)) return false;
  return true;
}

#define UNROLLED_MOST 16

static void pass_loops(c_emit *e, const c_nest *n, bool apart) {
  int64_t copies = 1;
  int first = n->n_axes; /* of the axes that are unrolled */
  while (first > 0 && copies * n->length[first - 1] <= UNROLLED_MOST) copies *= n->length[--first];
  for (int k = 0; k < n->n_axes; k++) {
    if (k >= first)
      ce_line(e, "UNROLLED");
    else if (k == n->n_axes - 1 && apart)
      ce_line(e, "APART");
    ce_for(e, ce_text(e, "i%d_%d", n->id, k), n->length[k]);
  }
}

void ce_pass_open(c_emit *e, c_nest *n, const c_value *const *operand, int n_read) {
  pass_access made[PASS_MOST];
  int n_made = 0;
  bool simple = n->n_ops <= PASS_MOST && n->step != NULL && e->status == DAMO_OK, apart = true;
  if (e->pass == NULL) e->pass = c_file_alloc(e->file, sizeof *e->pass);
  if (e->pass == NULL) e->status = DAMO_EMEMORY;
  for (int i = 0; i < n->n_ops && simple; i++) {
    if (operand[i] == NULL) continue;
    simple = operand[i]->sparse == NULL && !((const c_pointer *)e->pointers.at[operand[i]->pointer])->moves;
    made[n_made++] = access_of(e, n, i, operand[i], i >= n_read);
  }
  for (int i = 0; i < n_made; i++)
    for (int j = 0; j < i; j++) apart = apart && access_is_apart(&made[i], &made[j], n->n_axes);
  n->pass = simple;
  if (e->pass == NULL) return;
  c_pass *p = e->pass;
  if (simple && apart && pass_joins(e, p, n, made, n_made)) {
    e->body.n = p->cut;
    e->indent = p->indent + n->n_axes;
    n->id = p->nest.id;
  } else {
    *p = (c_pass){.indent = e->indent, .nest = *n};
    pass_loops(e, n, simple && apart);
  }
  for (int i = 0; i < n_made; i++) {
    const pass_access *a = &made[i];
    for (int j = 0; j < p->n && made[i].text == NULL; j++)
      if (access_is_same(a, &p->access[j], n->n_axes)) made[i].text = p->access[j].text;
  }
  for (int i = 0; i < n_made; i++) p->access[p->n++] = made[i];
  for (int i = 0; i < p->n; i++) { /* memory that one of its operands had given back is still in use */
    c_storage *s = e->storages.at[p->access[i].storage];
    if (s->death < e->at) s->death = e->at;
  }
}

const char *ce_pass_read(c_emit *e, const c_nest *n, int op, const c_value *v) {
  if (n->pass && n->n_axes > 0 && e->status == DAMO_OK) {
    const pass_access a = access_of(e, n, op, v, false);
    for (int i = 0; i < e->pass->n; i++)
      if (e->pass->access[i].text != NULL && access_is_same(&a, &e->pass->access[i], n->n_axes))
        return e->pass->access[i].text;
  }
  return ce_text(e, "%s[%s]", ce_p(e, v), ce_nest_at(e, n, op));
}

/* Whether x is a variable, or a number with a point, which may stand where the variable could. */
static bool pass_is_simple(const char *x) {
  bool point = *x >= 'a' && *x <= 'z';
  for (const char *c = x; *c != '\0'; c++) {
    if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_' || *c == '.')) return false;
    point = point || *c == '.';
  }
  return point;
}

void ce_pass_write(c_emit *e, const c_nest *n, int op, const c_value *v, const char *x) {
  if (e->status != DAMO_OK) return;
  c_pointer *p = e->pointers.at[v->pointer];
  c_storage *s = e->storages.at[p->storage];
  p->used = true;
  if (s->death < e->at) s->death = e->at;
  if (n->n_axes == 0 || !n->pass) s->read = true;
  const char *name = pass_is_simple(x) ? x : NULL;
  if (name == NULL && n->pass && n->n_axes > 0) {
    name = ce_text(e, "e%d", e->n_labels++);
    ce_line(e, "const %s %s = %s;", ce_type(v->dtype), name, x);
    x = name;
  }
  ce_line(e, "v%d[%s] = %s;", (int)v->pointer, ce_nest_at(e, n, op), x);
  if (!n->pass || n->n_axes == 0) return;
  const pass_access a = access_of(e, n, op, v, true);
  for (int i = 0; i < e->pass->n; i++)
    if (access_is_same(&a, &e->pass->access[i], n->n_axes)) e->pass->access[i].text = name;
}

void ce_pass_close(c_emit *e, const c_nest *n) {
  const size_t cut = e->body.n;
  ce_nest_close(e, n);
  if (e->pass == NULL) return;
  e->pass->cut = cut;
  e->pass->end = n->pass && n->n_axes > 0 && e->status == DAMO_OK ? e->body.n : 0;
}
