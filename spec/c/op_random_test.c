/* op_random_test: draws take a state and return the next one; the same state gives the same numbers; they have their
 * distribution. */
#include "leak_case.h"
#include "op_check.h"
#include "op/random/draw.h"
#include "by_name.h"

typedef struct drawn {
  damo_array *next, *draw;
} drawn;

/* name(state, parameters…, {size = shape}). */
static drawn draw(damo_ctx *ctx, const char *name, damo_array *state, damo_array *const *params, int n, int ndim,
                  const int64_t *size, const char *dtype) {
  damo_array *in[4] = {state}, *out[2] = {NULL};
  prop_value dims[4], opt[2] = {prop_nil(), dtype ? prop_str(dtype) : prop_nil()};
  for (int i = 0; i < n; i++) in[1 + i] = params[i];
  for (int i = 0; i < ndim; i++) dims[i] = prop_int(size[i]);
  if (size) opt[0] = prop_list(dims, ndim);
  if (op_call(ctx, name, in, 1 + n, opt, out) != 2) return (drawn){NULL, NULL};
  return (drawn){out[0], out[1]};
}

static void drop(drawn d) {
  damo_release(d.next);
  damo_release(d.draw);
}

static double mean_of(const damo_array *a, double *deviation) {
  damo_array *d = array_cast(a, DAMO_FLOAT64);
  const double *p = (double *)d->data;
  const int64_t n = array_size(d);
  double s = 0, q = 0;
  for (int64_t i = 0; i < n; i++) s += p[i];
  s /= (double)n;
  for (int64_t i = 0; i < n; i++) q += (p[i] - s) * (p[i] - s);
  *deviation = sqrt(q / (double)n);
  damo_release(d);
  return s;
}

/* The moments of 20,000 values, within four standard errors. */
static void check_moments(damo_ctx *ctx, const char *name, double p0, double p1, int n, double mean, double deviation) {
  const int64_t size[2] = {100, 200};
  damo_array *state = random_seed_array(ctx, 11);
  damo_array *p[2] = {damo_array_scalar(ctx, DAMO_FLOAT64, p0), damo_array_scalar(ctx, DAMO_FLOAT64, p1)};
  drawn d = draw(ctx, name, state, p, n, 2, size, NULL);
  if (CHECK(d.draw && d.draw->ndim == 2 && array_size(d.draw) == 20000)) {
    double dev = 0;
    const double m = mean_of(d.draw, &dev);
    CHECK_NEAR(m, mean, 4 * deviation / sqrt(20000) + 1e-12);
    CHECK_NEAR(dev, deviation, 0.05 * deviation);
  } else {
    fprintf(stderr, "    %s: %s\n", name, ctx->error.message);
  }
  drop(d);
  damo_release(state);
  damo_release(p[0]);
  damo_release(p[1]);
}

static void test_moments(damo_ctx *ctx) {
  check_moments(ctx, "normal", 3, 2, 2, 3, 2);
  check_moments(ctx, "normal", 0, 1, 0, 0, 1);
  check_moments(ctx, "uniform", -1, 3, 2, 1, 4 / sqrt(12));
  check_moments(ctx, "bernoulli", 0.3, 0, 1, 0.3, sqrt(0.21));
  check_moments(ctx, "exponential", 2, 0, 1, 2, 2);
  check_moments(ctx, "gumbel", 0, 1, 2, 0.5772156649, 1.2825498302);
}

static void test_streams(damo_ctx *ctx) {
  const int64_t seven = 7, many = 5000, first = 2048;
  damo_array *state = random_seed_array(ctx, 5), *other = random_seed_array(ctx, 6);
  drawn a = draw(ctx, "normal", state, NULL, 0, 1, &seven, NULL),
        b = draw(ctx, "normal", state, NULL, 0, 1, &seven, NULL);
  if (CHECK(a.draw && b.draw)) {
    CHECK(array_equal(a.draw, b.draw, false) && array_equal(a.next, b.next, false));
    CHECK(!array_equal(a.next, state, false));
    drawn c = draw(ctx, "normal", a.next, NULL, 0, 1, &seven, NULL),
          d = draw(ctx, "normal", other, NULL, 0, 1, &seven, NULL);
    CHECK(!array_equal(a.draw, c.draw, false));
    CHECK(!array_equal(a.draw, d.draw, false));
    drop(c);
    drop(d);
  }
  drop(a);
  drop(b);
  /* a long draw begins like a short one: blocks are not visible */
  a = draw(ctx, "uniform", state, NULL, 0, 1, &many, NULL);
  b = draw(ctx, "uniform", state, NULL, 0, 1, &first, NULL);
  if (CHECK(a.draw && b.draw)) {
    double whole[5000];
    const philox_state s = random_state_read(state);
    philox_uniform_f64(ctx->isa, &s, whole, many);
    CHECK(memcmp(a.draw->data, whole, sizeof whole) == 0);
    CHECK(memcmp(a.draw->data, b.draw->data, (size_t)first * sizeof(double)) == 0);
  }
  drop(a);
  drop(b);
  a = draw(ctx, "uniform", state, NULL, 0, 1, &many, "float32");
  if (CHECK(a.draw && array_dtype(a.draw) == DAMO_FLOAT32)) {
    bool below_one = true;
    for (int i = 0; i < 5000; i++)
      below_one = below_one && ((float *)a.draw->data)[i] < 1 && ((float *)a.draw->data)[i] >= 0;
    CHECK(below_one);
  }
  drop(a);
  damo_release(state);
  damo_release(other);
}

static void test_integers(damo_ctx *ctx) {
  const int64_t n = 6000;
  int seen[7] = {0};
  damo_array *state = random_seed_array(ctx, 5);
  damo_array *p[2] = {damo_array_scalar(ctx, DAMO_INT64, 1), damo_array_scalar(ctx, DAMO_INT64, 6)},
             *swapped[2] = {p[1], p[0]};
  drawn d = draw(ctx, "integers", state, p, 2, 1, &n, NULL);
  if (CHECK(d.draw && array_dtype(d.draw) == DAMO_INT64)) {
    for (int i = 0; i < 6000; i++) {
      const int64_t v = ((int64_t *)d.draw->data)[i];
      seen[v >= 1 && v <= 6 ? v : 0]++;
    }
    CHECK_EQ_I(seen[0], 0);
    for (int i = 1; i <= 6; i++) CHECK(seen[i] > 850 && seen[i] < 1150);
  }
  drop(d);
  d = draw(ctx, "integers", state, swapped, 2, 1, &n, NULL);
  CHECK(d.draw == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_EVALUE);
  damo_release(p[0]);
  damo_release(p[1]);
  damo_release(state);
}

static void test_permutation(damo_ctx *ctx) {
  damo_array *state = random_seed_array(ctx, 5), *n = damo_array_scalar(ctx, DAMO_INT64, 50);
  damo_array *m = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){50, 3}, 3);
  drawn d = draw(ctx, "permutation", state, &n, 1, 0, NULL, NULL),
        r = draw(ctx, "permutation", state, &m, 1, 0, NULL, NULL);
  if (CHECK(d.draw && r.draw && array_dtype(d.draw) == DAMO_INT64 && d.draw->ndim == 1)) {
    bool seen[51] = {false}, same = true;
    int moved = 0;
    for (int i = 0; i < 50; i++) {
      const int64_t k = ((int64_t *)d.draw->data)[i];
      if (!CHECK(k >= 1 && k <= 50 && !seen[k])) break;
      seen[k] = true;
      moved += k != i + 1;
      same = same && memcmp(r.draw->data + i * 24, m->data + (k - 1) * 24, 24) == 0;
    }
    CHECK(moved > 30);
    CHECK(same);
    CHECK(array_equal(d.next, r.next, false) && !array_equal(d.next, state, false));
  }
  drop(d);
  drop(r);
  damo_release(state);
  damo_release(n);
  damo_release(m);
}

static void test_shapes(damo_ctx *ctx) {
  const double loc[3] = {-100, 0, 100}, bad[2] = {1, -1};
  const int64_t size[2] = {4, 3}, wrong = 4;
  damo_array *state = random_seed_array(ctx, 5), *l = damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){3}, loc);
  damo_array *s = damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2}, bad), *p[2] = {l, s};
  drawn d = draw(ctx, "normal", state, &l, 1, 0, NULL, NULL);
  CHECK(d.draw && d.draw->ndim == 1 && array_shape(d.draw)[0] == 3);
  drop(d);
  d = draw(ctx, "normal", state, &l, 1, 2, size, NULL);
  if (CHECK(d.draw != NULL)) {
    for (int i = 0; i < 12; i++) CHECK_NEAR(((double *)d.draw->data)[i], loc[i % 3], 10);
  }
  drop(d);
  d = draw(ctx, "normal", state, &l, 1, 1, &wrong, NULL);
  CHECK(d.draw == NULL && ctx->error.status == DAMO_ESHAPE);
  d = draw(ctx, "normal", state, p, 2, 0, NULL, NULL);
  CHECK(d.draw == NULL && ctx->error.status == DAMO_ESHAPE);
  damo_array *zero = damo_array_scalar(ctx, DAMO_FLOAT64, 0), *q[2] = {zero, s};
  d = draw(ctx, "normal", state, q, 2, 0, NULL, NULL);
  CHECK(d.draw == NULL && ctx->error.status == DAMO_EVALUE);
  CHECK(strstr(ctx->error.message, "normal: scale must not be negative, got loc=0, scale=-1") != NULL);
  d = draw(ctx, "normal", l, NULL, 0, 0, NULL, NULL);
  CHECK(d.draw == NULL && ctx->error.status == DAMO_ETYPE);
  damo_release(zero);
  damo_release(state);
  damo_release(l);
  damo_release(s);
}

/* ---- Gradients: with the state held fixed a draw is a smooth function of its parameters -------------------------- */

typedef struct draw_case {
  const char *name;
  damo_array *state;
} draw_case;

static damo_var *draw_formula(build *b, damo_var *const *x, const void *user) {
  const draw_case *c = user;
  const prop_value dims[2] = {prop_int(4), prop_int(3)}, opt[2] = {prop_list(dims, 2), prop_nil()};
  damo_var *in[3] = {build_take(b, var_constant(b->ctx, NULL, (damo_obj *)c->state)), x[0], x[1]};
  ptrvec out;
  ptrvec_init(&out, b->ctx);
  func_call(b, func_find(b->ctx, c->name), in, strcmp(c->name, "exponential") == 0 ? 2 : 3, opt, &out);
  damo_var *draw = out.n == 2 ? out.at[1] : NULL;
  ptrvec_clear(&out);
  return strcmp(c->name, "exponential") == 0 ? build_fn2(b, "mul", draw, x[1]) : draw;
}

static void test_gradients(damo_ctx *ctx) {
  const double low[3] = {-1, 0.5, 2};
  damo_array *state = random_seed_array(ctx, 5),
             *v[2] = {damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){3}, low),
                      damo_array_scalar(ctx, DAMO_FLOAT64, 3)};
  static const char *const names[] = {"normal", "uniform", "gumbel"};
  for (int i = 0; i < 3; i++) op_check_gradient(ctx, draw_formula, &(draw_case){names[i], state}, v, 2, false);
  damo_array *w[2] = {v[1], v[0]};
  op_check_gradient(ctx, draw_formula, &(draw_case){"exponential", state}, w, 2, false);
  damo_release(v[0]);
  damo_release(v[1]);
  damo_release(state);
}

int main(void) {
  damo_ctx *ctx = damo_ctx_new(leak_alloc, NULL);
  test_moments(ctx);
  test_streams(ctx);
  test_integers(ctx);
  test_permutation(ctx);
  test_shapes(ctx);
  test_gradients(ctx);
  leak_end(ctx);
  TEST_MAIN_END;
}
