/* order.c: puts the nodes of a program into an order that needs little memory at one time (schedule.c).
 *
 * Sizes are estimates: lengths that the Types do not tell count as UNKNOWN_LENGTH. Values that share memory are one
 * value. A node that destroys a value stays after those that read it, and nodes that act on the world outside keep
 * their order. Programs without large values keep the order that they have.
 */
#include "compile_int.h"
#include "schedule.h"

#include <string.h>

#define UNKNOWN_LENGTH 100
#define LARGE_VALUE 256.0 /* bytes */

typedef struct order_scan {
  damo_ctx *ctx;
  const damo_fgraph *fg;
  const ptrvec *nodes;
  int32_t n, n_vars, n_groups;
  map number;         /* damo_var* → 1 + its number; damo_apply* → 1 + its place in nodes */
  int32_t *shares;    /* union-find over Variables: the same memory */
  int32_t *views;     /* the same, without results in place: what must be read before it is destroyed */
  int32_t *destroyer; /* per Variable that stands for its views: the node that destroys it, -1 */
  int32_t *group;     /* per Variable that stands for what shares memory: the number of the value */
  double *bytes;
  uint8_t *kept;
  ptrvec edges; /* pairs of nodes, before and after, as pointers */
} order_scan;

/* An estimate of the bytes of a value of v. */
static double bytes_of_var(const damo_var *v) {
  double bytes = type_is_tensor(v->type) ? (double)dtype_size(var_dtype(v)) : 0;
  for (int d = 0; bytes > 0 && d < var_ndim(v); d++)
    bytes *= v->type->shape[d] >= 0 ? (double)v->type->shape[d] : UNKNOWN_LENGTH;
  return bytes;
}

static bool has_large_values(const ptrvec *nodes) {
  int n = 0;
  for (int64_t k = 0; k < nodes->n && n < 3; k++) {
    const damo_apply *node = nodes->at[k];
    for (int o = 0; o < node->n_out; o++) n += bytes_of_var(node->out[o]) >= LARGE_VALUE;
  }
  return n >= 3;
}

static int32_t number_in(const order_scan *c, const void *it) {
  uintptr_t number = 0;
  map_get(&c->number, it, &number);
  return (int32_t)number - 1;
}

static int32_t root_in(int32_t *up, int32_t i) {
  while (up[i] != i) i = up[i] = up[up[i]];
  return i;
}

static damo_status number_var(order_scan *c, const damo_var *v) {
  return map_get(&c->number, v, NULL) ? DAMO_OK : map_put(&c->number, v, (uintptr_t)++c->n_vars);
}

static damo_status number_all(order_scan *c) {
  for (int32_t k = 0; k < c->n; k++) {
    const damo_apply *node = c->nodes->at[k];
    DAMO_TRY(map_put(&c->number, node, (uintptr_t)k + 1));
    for (int i = 0; i < node->n_in; i++) DAMO_TRY(number_var(c, node->in[i]));
    for (int o = 0; o < node->n_out; o++) DAMO_TRY(number_var(c, node->out[o]));
  }
  return DAMO_OK;
}

static size_t scan_bytes(const order_scan *c) { return (size_t)c->n_vars * (sizeof(double) + 4 * sizeof(int32_t) + 1); }

static damo_status alloc_scan(order_scan *c) {
  c->bytes = mem_calloc(c->ctx, scan_bytes(c));
  if (c->bytes == NULL) return DAMO_EMEMORY;
  c->shares = (int32_t *)(c->bytes + c->n_vars);
  c->views = c->shares + c->n_vars;
  c->destroyer = c->views + c->n_vars;
  c->group = c->destroyer + c->n_vars;
  c->kept = (uint8_t *)(c->group + c->n_vars);
  for (int32_t i = 0; i < c->n_vars; i++) {
    c->shares[i] = c->views[i] = i;
    c->destroyer[i] = c->group[i] = -1;
  }
  return DAMO_OK;
}

static void join_aliases(order_scan *c) {
  for (int32_t k = 0; k < c->n; k++) {
    const damo_apply *node = c->nodes->at[k];
    for (const op_alias *a = node->op->view_map; a != NULL && a->out >= 0; a++) {
      if (a->out >= node->n_out || a->in >= node->n_in) continue;
      const int32_t in = number_in(c, node->in[a->in]), out = number_in(c, node->out[a->out]);
      c->views[root_in(c->views, out)] = root_in(c->views, in);
      c->shares[root_in(c->shares, out)] = root_in(c->shares, in);
    }
    for (const op_alias *a = node->op->destroy_map; a != NULL && a->out >= 0; a++) {
      if (a->out >= node->n_out || a->in >= node->n_in) continue;
      const int32_t in = number_in(c, node->in[a->in]), out = number_in(c, node->out[a->out]);
      c->shares[root_in(c->shares, out)] = root_in(c->shares, in);
    }
  }
  for (int32_t k = 0; k < c->n; k++) {
    const damo_apply *node = c->nodes->at[k];
    for (const op_alias *a = node->op->destroy_map; a != NULL && a->out >= 0; a++) {
      if (a->in < node->n_in) c->destroyer[root_in(c->views, number_in(c, node->in[a->in]))] = k;
    }
  }
}

/* The number of the value that v's memory is. */
static int32_t value_in(order_scan *c, const damo_var *v) {
  int32_t *group = &c->group[root_in(c->shares, number_in(c, v))];
  if (*group < 0) *group = c->n_groups++;
  return *group;
}

/* Each value counts as large as its largest member that a node makes afresh. */
static void size_values(order_scan *c) {
  for (int32_t k = 0; k < c->n; k++) {
    const damo_apply *node = c->nodes->at[k];
    for (int o = 0; o < node->n_out; o++) {
      const damo_op *op = node->op;
      const int32_t v = value_in(c, node->out[o]);
      if (op_alias_has(op->view_map, o, -1) || op_alias_has(op->destroy_map, o, -1)) continue;
      const double bytes = bytes_of_var(node->out[o]);
      if (bytes > c->bytes[v]) c->bytes[v] = bytes;
    }
  }
  for (int64_t i = 0; i < c->fg->outputs.n; i++) {
    const damo_var *v = c->fg->outputs.at[i];
    if (v->owner != NULL) c->kept[value_in(c, v)] = 1;
  }
}

static damo_status add_order_edge(order_scan *c, int32_t before, int32_t after) {
  DAMO_TRY(ptrvec_push(&c->edges, (void *)(intptr_t)before));
  return ptrvec_push(&c->edges, (void *)(intptr_t)after);
}

static damo_status find_order_edges(order_scan *c) {
  int32_t last = -1; /* of the nodes that act on the world */
  for (int32_t k = 0; k < c->n; k++) {
    const damo_apply *node = c->nodes->at[k];
    for (int i = 0; i < node->n_in; i++) {
      const damo_apply *owner = node->in[i]->owner;
      const int32_t from = owner != NULL ? number_in(c, owner) : -1;
      const int32_t destroyer = c->destroyer[root_in(c->views, number_in(c, node->in[i]))];
      if (from >= 0) DAMO_TRY(add_order_edge(c, from, k));
      if (destroyer >= 0 && destroyer != k) DAMO_TRY(add_order_edge(c, k, destroyer));
    }
    if (!node->op->def->impure && !node->op->def->one_context) continue;
    if (last >= 0) DAMO_TRY(add_order_edge(c, last, k));
    last = k;
  }
  return DAMO_OK;
}

/* ---- The problem ------------------------------------------------------------------------------------------------- */

static void fill_before(const order_scan *c, sched_lists *l, int32_t *next) {
  const int64_t n_edges = c->edges.n / 2;
  for (int64_t e = 0; e < n_edges; e++) l->first[(intptr_t)c->edges.at[2 * e + 1] + 1]++;
  for (int32_t k = 0; k < c->n; k++) l->first[k + 1] += l->first[k];
  memcpy(next, l->first, (size_t)c->n * sizeof *next);
  for (int64_t e = 0; e < n_edges; e++)
    l->at[next[(intptr_t)c->edges.at[2 * e + 1]]++] = (int32_t)(intptr_t)c->edges.at[2 * e];
}

/* A value is made by the first node that has it among its outputs, in the given order; the others, which view it or work
 * in place, read it. seen: per value 1 + the last node that is listed with it; made by: 0 before. */
static void fill_values(order_scan *c, sched_problem *p, int32_t *seen, uint8_t *is_made) {
  int32_t n_made = 0, n_read = 0;
  for (int32_t k = 0; k < c->n; k++) {
    const damo_apply *node = c->nodes->at[k];
    for (int o = 0; o < node->n_out; o++) {
      const int32_t v = value_in(c, node->out[o]);
      if (is_made[v] || op_alias_has(node->op->view_map, o, -1) || op_alias_has(node->op->destroy_map, o, -1)) continue;
      is_made[v] = 1;
      seen[v] = k + 1;
      p->made.at[n_made++] = v;
    }
    for (int i = 0; i < node->n_in + node->n_out; i++) {
      const damo_var *x = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
      const int32_t v = value_in(c, x);
      if (seen[v] == k + 1 || !is_made[v]) continue;
      seen[v] = k + 1;
      p->read.at[n_read++] = v;
    }
    p->made.first[k + 1] = n_made;
    p->read.first[k + 1] = n_read;
  }
}

static void reorder(ptrvec *nodes, const int32_t *order, void **space) {
  memcpy(space, nodes->at, (size_t)nodes->n * sizeof *space);
  for (int64_t j = 0; j < nodes->n; j++) nodes->at[j] = space[order[j]];
}

static damo_status solve_order(order_scan *c, ptrvec *nodes) {
  const size_t n = (size_t)c->n, n_edges = (size_t)c->edges.n / 2, n_vars = (size_t)c->n_vars;
  size_t n_uses = 0;
  for (int32_t k = 0; k < c->n; k++)
    n_uses += (size_t)((const damo_apply *)nodes->at[k])->n_in + (size_t)((const damo_apply *)nodes->at[k])->n_out;
  const size_t bytes =
      n * sizeof(void *) + (3 * (n + 1) + 2 * n + n_edges + 2 * n_uses + n_vars) * sizeof(int32_t) + n_vars;
  void **space = mem_calloc(c->ctx, bytes);
  if (space == NULL) return DAMO_EMEMORY;
  int32_t *order = (int32_t *)(space + n), *next = order + n, *seen = next + n;
  sched_problem p = {.n = c->n, .bytes = c->bytes, .kept = c->kept};
  p.before.first = seen + n_vars;
  p.made.first = p.before.first + n + 1;
  p.read.first = p.made.first + n + 1;
  p.before.at = p.read.first + n + 1;
  p.made.at = p.before.at + n_edges;
  p.read.at = p.made.at + n_uses;
  fill_before(c, &p.before, next);
  fill_values(c, &p, seen, (uint8_t *)(p.read.at + n_uses));
  p.n_values = c->n_groups;
  for (int32_t k = 0; k < c->n; k++) order[k] = k;
  const damo_status s = schedule_improve(c->ctx, &p, order);
  if (s == DAMO_OK) reorder(nodes, order, space);
  mem_free(c->ctx, space, bytes);
  return s;
}

damo_status order_for_memory(const damo_fgraph *fg, ptrvec *nodes) {
  if (!has_large_values(nodes) || nodes->n > INT32_MAX / 2) return DAMO_OK;
  order_scan c = {.ctx = fg->obj.ctx, .fg = fg, .nodes = nodes, .n = (int32_t)nodes->n};
  map_init(&c.number, c.ctx);
  ptrvec_init(&c.edges, c.ctx);
  damo_status s = number_all(&c);
  if (s == DAMO_OK) s = alloc_scan(&c);
  if (s == DAMO_OK) {
    join_aliases(&c);
    size_values(&c);
    s = find_order_edges(&c);
  }
  if (s == DAMO_OK) s = solve_order(&c, nodes);
  if (c.bytes != NULL) mem_free(c.ctx, c.bytes, scan_bytes(&c));
  map_clear(&c.number);
  ptrvec_clear(&c.edges);
  return s;
}
