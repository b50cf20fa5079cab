/* schedule_test: orders that need little memory (compile/schedule.c) against the best of all orders, which a search over
 * all sets of nodes finds; and whole programs: the arena of a frame against the same bound. */
#include "by_name.h"
#include "compile_case.h"
#include "compile/schedule.h"
#include "grad/grad.h"
#include "op/elem/build_arith.h"

#define MOST 640
#define MOST_FOR_ALL 20
#define MOST_EDGES (4 * MOST)

static uint32_t seed = 11;
static int32_t random_below(int32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (int32_t)((seed >> 8) % (uint32_t)n);
}

/* A problem with space for its lists. */
typedef struct problem {
  sched_problem p;
  int32_t first[3][MOST + 1], at[3][MOST_EDGES];
  double bytes[MOST];
  uint8_t kept[MOST];
} problem;

static void problem_begin(problem *q, int32_t n) {
  memset(q, 0, sizeof *q);
  q->p = (sched_problem){.n = n,
                         .n_values = 0,
                         .before = {q->first[0], q->at[0]},
                         .made = {q->first[1], q->at[1]},
                         .read = {q->first[2], q->at[2]},
                         .bytes = q->bytes,
                         .kept = q->kept};
}
static void list_add(sched_lists *l, int32_t k, int32_t it) { l->at[l->first[k + 1]++] = it; }
static void node_begin(problem *q, int32_t k) {
  q->first[0][k + 1] = q->first[0][k];
  q->first[1][k + 1] = q->first[1][k];
  q->first[2][k + 1] = q->first[2][k];
}

/* n nodes; each makes one value and reads up to three of those before it, the latest ones if `narrow`. */
static void random_problem(problem *q, int32_t n, bool narrow) {
  problem_begin(q, n);
  q->p.n_values = n;
  for (int32_t k = 0; k < n; k++) {
    node_begin(q, k);
    list_add(&q->p.made, k, k);
    q->bytes[k] = random_below(3) == 0 ? 8 : 64 * (1 + random_below(20));
    q->kept[k] = random_below(12) == 0;
    const int32_t n_read = k == 0 ? 0 : random_below(4);
    for (int32_t i = 0; i < n_read; i++) {
      const int32_t reach = narrow && k > 4 ? 4 : k, v = k - 1 - random_below(reach);
      bool has = false;
      for (int32_t j = q->first[2][k]; j < q->first[2][k + 1]; j++) has = has || q->at[2][j] == v;
      if (has) continue;
      list_add(&q->p.read, k, v);
      list_add(&q->p.before, k, v);
    }
  }
}

/* The least peak of all orders: over all sets of nodes that can have run, what lives after them, and the least peak up
 * to there. n is at most MOST_FOR_ALL. */
static double best_of_all(const sched_problem *p) {
  static double peak[1 << MOST_FOR_ALL], live[1 << MOST_FOR_ALL];
  uint32_t before[MOST_FOR_ALL] = {0}, readers[MOST] = {0};
  const uint32_t all = ((uint32_t)1 << p->n) - 1;
  for (int32_t k = 0; k < p->n; k++) {
    for (int32_t i = p->before.first[k]; i < p->before.first[k + 1]; i++) before[k] |= (uint32_t)1 << p->before.at[i];
    for (int32_t i = p->read.first[k]; i < p->read.first[k + 1]; i++) readers[p->read.at[i]] |= (uint32_t)1 << k;
  }
  for (uint32_t s = 0; s <= all; s++) peak[s] = -1;
  peak[0] = live[0] = 0;
  for (uint32_t s = 0; s < all; s++) {
    if (peak[s] < 0) continue;
    for (int32_t k = 0; k < p->n; k++) {
      if ((s >> k & 1) != 0 || (before[k] & ~s) != 0) continue;
      const uint32_t t = s | (uint32_t)1 << k;
      double now = live[s], freed = 0;
      for (int32_t i = p->made.first[k]; i < p->made.first[k + 1]; i++) {
        const int32_t v = p->made.at[i];
        now += p->bytes[v];
        if (!p->kept[v] && readers[v] == 0) freed += p->bytes[v];
      }
      for (int32_t i = p->read.first[k]; i < p->read.first[k + 1]; i++) {
        const int32_t v = p->read.at[i];
        if (!p->kept[v] && (readers[v] & ~t) == 0) freed += p->bytes[v];
      }
      const double most = now > peak[s] ? now : peak[s];
      live[t] = now - freed;
      if (peak[t] < 0 || most < peak[t]) peak[t] = most;
    }
  }
  return peak[all];
}

static bool is_order(const sched_problem *p, const int32_t *order) {
  static int32_t place[MOST];
  for (int32_t k = 0; k < p->n; k++) place[k] = -1;
  for (int32_t j = 0; j < p->n; j++) {
    if (order[j] < 0 || order[j] >= p->n || place[order[j]] >= 0) return false;
    place[order[j]] = j;
  }
  for (int32_t k = 0; k < p->n; k++) {
    for (int32_t i = p->before.first[k]; i < p->before.first[k + 1]; i++) {
      if (place[p->before.at[i]] > place[k]) return false;
    }
  }
  return true;
}

/* Improves 0, 1, …; returns the peak then. */
static double improved(problem *q, double *given) {
  int32_t order[MOST], left[MOST];
  for (int32_t k = 0; k < q->p.n; k++) order[k] = k;
  *given = schedule_peak(&q->p, order, left);
  CHECK_EQ_I(schedule_improve(ctx, &q->p, order), DAMO_OK);
  CHECK(is_order(&q->p, order));
  return schedule_peak(&q->p, order, left);
}

static void test_against_all(void) {
  static problem q;
  double worst = 1, sum = 0, sum_given = 0;
  for (int round = 0; round < 600; round++) {
    random_problem(&q, 3 + random_below(9), round % 2 == 0);
    double given;
    const double peak = improved(&q, &given), best = best_of_all(&q.p);
    CHECK(peak >= best && peak <= given);
    if (peak / best > worst) worst = peak / best;
    sum += peak / best;
    sum_given += given / best;
  }
  CHECK(worst < 1.05);
  CHECK(sum / 600 < 1.01 && sum_given / 600 > 1.1);
}

static void test_large(void) {
  static problem q;
  double sum = 0;
  for (int round = 0; round < 40; round++) {
    random_problem(&q, 20 + random_below(MOST - 20), round % 2 == 0);
    double given;
    const double peak = improved(&q, &given);
    CHECK(peak <= given);
    sum += peak / given;
  }
  CHECK(sum / 40 < 0.95);
}

/* A tree whose heavy branch must run first, a fan that must be folded as it grows. */
static void test_known(void) {
  static problem q;
  double given;
  problem_begin(&q, 4); /* 0 makes 10, 2 reads 1 (100) and makes 10, 3 reads 0 and 2 */
  q.p.n_values = 4;
  const double bytes[] = {10, 100, 10, 1};
  for (int32_t k = 0; k < 4; k++) {
    node_begin(&q, k);
    list_add(&q.p.made, k, k);
    q.bytes[k] = bytes[k];
    if (k < 2) continue;
    list_add(&q.p.read, k, k - 1);
    list_add(&q.p.before, k, k - 1);
    if (k == 3) list_add(&q.p.read, k, 0), list_add(&q.p.before, k, 0);
  }
  CHECK_NEAR(improved(&q, &given), 110, 0);
  CHECK_NEAR(given, 120, 0);
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

/* The problem of a program that has run: its homes, at the sizes that its cells have. */
static void program_problem(problem *q, const damo_function *f) {
  const vm_program *p = &f->program->vm;
  problem_begin(q, (int32_t)p->n_thunks);
  q->p.n_values = (int32_t)p->n_homes;
  for (int32_t k = 0; k < p->n_thunks; k++) {
    const thunk *t = p->thunks[k];
    node_begin(q, k);
    for (int i = 0; i < t->n_in; i++) {
      for (int32_t m = 0; m < k; m++) {
        for (int o = 0; o < p->thunks[m]->n_out; o++) {
          if (p->thunks[m]->out[o] == t->in[i]) list_add(&q->p.before, k, m);
        }
      }
    }
    for (int32_t h = 0; h < p->n_homes; h++) {
      const vm_home *home = &p->homes[h];
      const damo_array *a = (const damo_array *)f->frame.frame.cells[home->slot];
      bool reads = false;
      for (int i = 0; i < t->n_in + t->n_out; i++) {
        const int32_t slot = i < t->n_in ? t->in[i] : t->out[i - t->n_in];
        reads = reads || slot == home->slot;
        for (int32_t j = p->alias_first[home->group]; j < p->alias_first[home->group + 1]; j++)
          reads = reads || slot == p->aliases[j];
      }
      if (home->birth == k) list_add(&q->p.made, k, h);
      if (home->birth < k && reads) list_add(&q->p.read, k, h);
      if (a != NULL && a->buf != NULL) q->bytes[h] = (double)array_size(a) * 8;
      q->kept[h] = home->death == p->n_thunks;
    }
  }
}

static damo_array *square(int64_t n) {
  damo_array *a = array_empty(ctx, DAMO_FLOAT64, 2, (int64_t[]){n, n});
  for (int64_t i = 0; i < n * n; i++) ((double *)a->data)[i] = 1.0 / (double)(n * (1 + i % 3));
  return a;
}

static damo_var *dot(build *b, damo_var *x, damo_var *y) { return build_fn2(b, "dot", x, y); }
static damo_var *tanh_of(build *b, damo_var *x) { return build_fn1(b, "tanh", x); }

/* Graphs of products, whose operands no rule joins: a chain, a balanced tree, a fan of large values that each give a
 * small one, a chain with its gradient, and values that many read. */
static damo_var *graph_of(build *b, int which, damo_var *x) {
  damo_var *k[8], *y = x;
  switch (which) {
    case 0:
      for (int i = 0; i < 5; i++) y = tanh_of(b, dot(b, y, x));
      return build_fn1(b, "sum", y);
    case 1:
      for (int i = 0; i < 4; i++) k[i] = dot(b, x, build_mul(b, x, build_num(b, i + 2)));
      return build_fn1(b, "sum", dot(b, tanh_of(b, dot(b, k[0], k[1])), dot(b, k[2], k[3])));
    case 2:
      y = dot(b, x, x);
      for (int i = 0; i < 4; i++) k[i] = build_fn1(b, "max", dot(b, y, build_mul(b, x, build_num(b, i + 2))));
      return build_add(b, build_add(b, k[0], k[1]), build_add(b, k[2], k[3]));
    case 3:
      for (int i = 0; i < 3; i++) y = tanh_of(b, dot(b, y, x));
      damo_var *g;
      if (grad_reverse(ctx, build_fn1(b, "sum", y), &x, 1, NULL, &g) != DAMO_OK) return NULL;
      g = build_take(b, g);
      return build_fn1(b, "sum", dot(b, g, g));
    default:
      k[0] = dot(b, x, x);
      k[1] = dot(b, k[0], x);
      k[2] = dot(b, k[1], k[0]);
      k[3] = dot(b, k[2], k[1]);
      return build_fn1(b, "sum", dot(b, dot(b, k[3], k[0]), dot(b, k[2], k[1])));
  }
}

static void test_programs(build *b) {
  static problem q;
  for (int which = 0; which < 5; which++) {
    damo_var *x = typed(b, DAMO_FLOAT64, 2, "x");
    damo_var *y = graph_of(b, which, x);
    damo_function *f = make(&x, 1, &y, 1, NULL);
    damo_array *a = square(40), *out[1];
    for (int call = 0; call < 3; call++) {
      CHECK_EQ_I(call_into(f, &a, 1, NULL, out), DAMO_OK);
      damo_release(out[0]);
    }
    program_problem(&q, f);
    if (!CHECK(q.p.n <= MOST_FOR_ALL)) return;
    const double best = best_of_all(&q.p), held = (double)vm_arena_held(&f->frame);
    if (!CHECK(held <= 1.2 * best && best > 0)) fprintf(stderr, "    graph %d: %.0f of %.0f\n", which, held, best);
    RELEASE(a, f);
  }
}

int main(void) {
  ctx = damo_ctx_new(counting_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  test_known();
  test_against_all();
  test_large();
  build b;
  build_init(&b, ctx);
  test_programs(&b);
  compile_case_end(&b);
  TEST_MAIN_END;
}
