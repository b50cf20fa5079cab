/* jit_lanes_test: programs of lanes (src/jit) against scalar programs of the same operations, on random programs: ones
 * with more values than registers and more operands than address registers, floats, integers and masks of both widths,
 * first elements, results in an operand's memory, and every number of elements left. */
#include <stdlib.h>

#include "jit/jit.h"
#include "test.h"

static uint64_t seed = 11;
static uint32_t random_bits(void) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33);
}
static int random_below(int n) { return (int)(random_bits() % (uint32_t)n); }

enum { MOST_LENGTH = 43, MOST_OPERANDS = 13, MOST_VALUES = 200 };

/* One random program: its operations come from a seed, so that both programs have the same. */
typedef struct lanes_case {
  bool wide;
  uint64_t ops;
  int n_ops, n_in, n_out;
  jit_type type[MOST_OPERANDS];
  bool is_first[MOST_OPERANDS];
} lanes_case;

/* Values to choose from, by type. */
typedef struct pool {
  jit_value at[JIT_N_TYPES][MOST_VALUES];
  int n[JIT_N_TYPES];
} pool;

/* One of the types that a program has: floats more often than others. */
static jit_type random_type(bool wide) {
  static const jit_type types[] = {JIT_F32, JIT_I32, JIT_BOOL, JIT_F32, JIT_F64, JIT_I64, JIT_F64};
  return types[random_below(wide ? 7 : 4)];
}

static void pool_add(pool *l, const jit_program *p, jit_value v) {
  const int k = (int)jit_typeof(p, v);
  if (v >= 0 && l->n[k] < MOST_VALUES) l->at[k][l->n[k]++] = v;
}
/* One of the last n; -1 where there is none, after a failure. */
static jit_value late_one(const pool *l, jit_type type, int n) {
  const int have = l->n[type];
  return have == 0 ? -1 : l->at[type][have - 1 - random_below(have < n ? have : n)];
}
static jit_value any_of(const pool *l, jit_type type) { return late_one(l, type, MOST_VALUES); }

static jit_value random_float_op(jit_program *p, jit_type type, jit_value a, jit_value b) {
  switch (random_below(9)) {
    case 0: return jit_binary(p, JIT_SUB, a, b);
    case 1: return jit_binary(p, JIT_MUL, a, b);
    case 2: return jit_binary(p, JIT_DIV, a, b);
    case 3: return jit_binary(p, random_below(2) ? JIT_MIN : JIT_MAX, a, b);
    case 4: return jit_unary(p, JIT_SQRT, a);
    case 5: return jit_round(p, (jit_rounding)random_below(4), a);
    case 6: return jit_binary(p, JIT_AND, a, jit_const(p, type, type == JIT_F64 ? INT64_MAX : INT32_MAX));
    case 7: return jit_compare(p, (jit_relation)random_below(7), a, b);
    default: return jit_binary(p, JIT_ADD, a, b);
  }
}

static jit_value random_int_op(jit_program *p, jit_value a, jit_value b) {
  static const jit_op ops[] = {JIT_IADD, JIT_ISUB, JIT_IMUL, JIT_IAND, JIT_IOR, JIT_IXOR, JIT_IMUL};
  if (random_below(3) == 0) return jit_compare(p, (jit_relation)random_below(JIT_UNORDERED), a, b);
  return jit_binary(p, ops[random_below(7)], a, b);
}

/* A value of `from` as one of `to`, where lanes have such a conversion. */
static jit_value random_convert(jit_program *p, const pool *l, jit_type from, jit_type to) {
  const bool is_float = from == JIT_F64 || from == JIT_F32, to_float = to == JIT_F64 || to == JIT_F32;
  if ((is_float && !to_float && to != JIT_BOOL) || (from == JIT_I64 && to == JIT_F32)) to = from;
  return jit_convert(p, any_of(l, from), to);
}

static jit_value random_op(jit_program *p, const pool *l, bool wide) {
  const jit_type type = random_type(wide), other = random_type(wide);
  const jit_value a = any_of(l, type), b = any_of(l, type), c = any_of(l, JIT_BOOL);
  const int choice = random_below(6);
  if (choice == 0) return jit_select(p, c, a, b);
  if (choice == 1) return random_convert(p, l, type, other);
  if (type == JIT_BOOL)
    return random_below(4) == 0 ? jit_not(p, c) : jit_binary(p, (jit_op)(JIT_AND + random_below(3)), a, b);
  return type == JIT_F64 || type == JIT_F32 ? random_float_op(p, type, a, b) : random_int_op(p, a, b);
}

/* The operations, after the inputs; the results' values into out. */
static void make_ops(jit_program *p, const lanes_case *c, pool *l, jit_value *out) {
  const uint64_t now = seed;
  seed = c->ops;
  for (int t = 0; t < JIT_N_TYPES; t++) {
    if (!c->wide && (t == JIT_F64 || t == JIT_I64)) continue;
    const bool is_float = t == JIT_F64 || t == JIT_F32;
    for (int k = 0; k < 2; k++)
      pool_add(l, p,
               is_float ? jit_const_float(p, (jit_type)t, k ? 0.75 : -2)
                        : jit_const(p, (jit_type)t,
                                    t == JIT_BOOL  ? 1
                                    : k            ? 3
                                    : t == JIT_I64 ? UINT64_MAX - 6
                                                   : UINT32_MAX - 6));
  }
  for (int k = 0; k < c->n_ops; k++) pool_add(l, p, random_op(p, l, c->wide));
  for (int o = 0; o < c->n_out; o++) out[o] = late_one(l, c->type[c->n_in + o], 8);
  seed = now;
}

static jit_code *make_kernel(damo_ctx *ctx, const lanes_case *c) {
  jit_program p;
  pool l = {.n = {0}};
  jit_value out[MOST_OPERANDS];
  jit_begin_lanes(&p, ctx, c->wide);
  for (int k = 0; k < c->n_in; k++)
    pool_add(&l, &p, c->is_first[k] ? jit_first(&p, c->type[k], k) : jit_element(&p, c->type[k], k));
  make_ops(&p, c, &l, out);
  for (int o = 0; o < c->n_out; o++) jit_result(&p, c->n_in + o, out[o]);
  jit_code *code = jit_compile(&p);
  jit_end(&p);
  return code;
}

/* The same for one element: addresses of operands in slots `at`. */
static jit_code *make_scalar(damo_ctx *ctx, const lanes_case *c, int32_t *at) {
  jit_program p;
  pool l = {.n = {0}};
  jit_value out[MOST_OPERANDS], address[MOST_OPERANDS];
  jit_begin(&p, ctx);
  for (int k = 0; k < c->n_in + c->n_out; k++) at[k] = jit_home(&p, address[k] = jit_input(&p, JIT_I64));
  for (int k = 0; k < c->n_in; k++) pool_add(&l, &p, jit_load(&p, c->type[k], address[k]));
  make_ops(&p, c, &l, out);
  for (int o = 0; o < c->n_out; o++) jit_store(&p, address[c->n_in + o], out[o]);
  jit_code *code = jit_compile(&p);
  jit_end(&p);
  return code;
}

static size_t size_of(jit_type type) { return type == JIT_BOOL ? 1 : type == JIT_F64 || type == JIT_I64 ? 8 : 4; }

static void random_float(jit_type type, char *to) {
  static const double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.5, 1e300, 1e-310, 2.5, -3.5};
  const double x = random_below(3) == 0 ? special[random_below(12)] : (double)random_bits() / 1e9 - 1;
  const float narrow = (float)x;
  memcpy(to, type == JIT_F64 ? (const void *)&x : (const void *)&narrow, size_of(type));
}

/* Small ones and such of all magnitudes. */
static void random_integer(jit_type type, char *to) {
  static const int64_t special[] = {0, -1, 1, INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, 1LL << 53, (1LL << 62) + 1};
  const uint64_t all = (uint64_t)random_bits() << 33 | (uint64_t)random_bits() << 8 | (random_bits() & 0xFF);
  const int64_t far = (int64_t)all >> random_below(64);
  const int64_t x = random_below(4) == 0 ? special[random_below(9)] : random_below(2) ? far : random_below(7) - 3;
  const int32_t narrow = (int32_t)(uint32_t)(uint64_t)x;
  memcpy(to, type == JIT_I64 ? (const void *)&x : (const void *)&narrow, size_of(type));
}

static void random_element(jit_type type, char *to) {
  if (type == JIT_BOOL)
    *to = random_bits() & 1;
  else if (type == JIT_F64 || type == JIT_F32)
    random_float(type, to);
  else
    random_integer(type, to);
}

static bool same_element(jit_type type, const char *a, const char *b) {
  if (memcmp(a, b, size_of(type)) == 0) return true;
  double x = 0, y = 0;
  float f = 0, g = 0;
  if (type == JIT_F64) memcpy(&x, a, 8), memcpy(&y, b, 8);
  if (type == JIT_F32) memcpy(&f, a, 4), memcpy(&g, b, 4);
  return (isnan(x) && isnan(y)) || (isnan(f) && isnan(g));
}

static char block[2][MOST_OPERANDS][(MOST_LENGTH + 2) * 8]; /* of the kernel, of the scalar program; with guards */

static void fill_blocks(const lanes_case *c) {
  for (int k = 0; k < c->n_in + c->n_out; k++) {
    for (int64_t i = 0; i < MOST_LENGTH + 2; i++)
      random_element(c->type[k], block[0][k] + (size_t)i * size_of(c->type[k]));
    memcpy(block[1][k], block[0][k], sizeof block[0][k]);
  }
}

static void run_scalar(const jit_code *code, const lanes_case *c, const int32_t *at, int64_t n) {
  jit_slot *frame = calloc((size_t)jit_n_slots(code), sizeof *frame);
  jit_frame_init(code, frame);
  for (int64_t i = 0; i < n; i++) {
    for (int k = 0; k < c->n_in + c->n_out; k++) {
      const size_t element = (size_t)(k < c->n_in && c->is_first[k] ? 0 : i);
      frame[at[k]].address = block[1][k] + element * size_of(c->type[k]);
    }
    jit_run(code, frame, 1);
  }
  free(frame);
}

/* in_place: the first result is written over the first input, which has its type. */
static bool check_lengths(const lanes_case *c, const jit_code *code, const jit_code *scalar, const int32_t *at,
                          bool in_place) {
  bool same = true;
  for (int64_t n = 0; n <= MOST_LENGTH; n++) {
    void *args[MOST_OPERANDS];
    fill_blocks(c);
    for (int k = 0; k < c->n_in + c->n_out; k++) args[k] = block[0][k];
    if (in_place) args[c->n_in] = block[0][0];
    jit_kernel(code)(args, n);
    run_scalar(scalar, c, at, n);
    for (int k = c->n_in; k < c->n_in + c->n_out; k++) {
      const size_t size = size_of(c->type[k]);
      const char *got = args[k];
      for (int64_t i = 0; i < n && same; i++)
        same = same_element(c->type[k], got + (size_t)i * size, block[1][k] + (size_t)i * size);
      const char *behind = k == c->n_in && in_place ? block[1][0] : block[1][k];
      same = same && memcmp(got + (size_t)n * size, behind + (size_t)n * size, size) == 0;
    }
  }
  return same;
}

static void check_case(damo_ctx *ctx, int n_ops) {
  lanes_case c = {.wide = random_below(2), .n_ops = n_ops};
  const bool floats_alone = random_below(4) == 0;
  const jit_type most = c.wide ? JIT_F64 : JIT_F32;
  c.ops = random_bits();
  c.n_in = 1 + random_below(9);
  c.n_out = 1 + random_below(MOST_OPERANDS - c.n_in < 4 ? MOST_OPERANDS - c.n_in : 4);
  for (int k = 0; k < c.n_in + c.n_out; k++) {
    c.type[k] = floats_alone ? (k != 0 && k != c.n_in && random_below(4) == 0 ? JIT_BOOL : most) : random_type(c.wide);
    c.is_first[k] = k > 0 && k < c.n_in && c.type[k] != JIT_BOOL && random_below(4) == 0;
  }
  int32_t at[MOST_OPERANDS];
  jit_code *code = make_kernel(ctx, &c), *scalar = make_scalar(ctx, &c, at);
  if (CHECK(code != NULL && scalar != NULL)) {
    CHECK(check_lengths(&c, code, scalar, at, false));
    if (c.type[0] == c.type[c.n_in]) CHECK(check_lengths(&c, code, scalar, at, true));
  }
  jit_code_free(code);
  jit_code_free(scalar);
}

/* int64 to float32 would be rounded twice, and 32 bits hold no 64: such programs have no code. */
static void test_types(damo_ctx *ctx) {
  jit_program p;
  for (int wide = 0; wide < 2; wide++) {
    jit_begin_lanes(&p, ctx, wide);
    const jit_value x = jit_element(&p, JIT_I64, 0);
    jit_result(&p, 1, wide ? jit_convert(&p, x, JIT_F32) : x);
    CHECK(jit_compile(&p) == NULL);
    CHECK_EQ_I(damo_error_status(ctx), DAMO_OK);
    jit_end(&p);
  }
}

static void test_no_memory(damo_ctx *ctx) {
  const lanes_case c = {.wide = true, .n_ops = 20, .n_in = 2, .n_out = 1, .ops = 5};
  for (int64_t k = 0; k < 20; k++) {
    ctx->fail_after = k;
    jit_code *code = make_kernel(ctx, &c);
    ctx->fail_after = -1;
    CHECK_EQ_I(damo_error_status(ctx), DAMO_OK);
    jit_code_free(code);
  }
}

static void no_kernel(void *const *args, int64_t n) { (void)args, (void)n; }

/* Lanes call nothing. */
static void test_calls(damo_ctx *ctx) {
  jit_program p;
  jit_begin_lanes(&p, ctx, true);
  const jit_value x = jit_element(&p, JIT_F64, 0);
  jit_result(&p, 1, jit_call(&p, no_kernel, &x, 1, JIT_F64));
  CHECK(jit_compile(&p) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_OK);
  jit_end(&p);
}

int main(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  if (!jit_has_lanes(ctx)) {
    const lanes_case c = {.wide = true, .n_ops = 5, .n_in = 1, .n_out = 1};
    CHECK(make_kernel(ctx, &c) == NULL);
  } else {
    for (int i = 0; i < 800; i++) check_case(ctx, 1 + random_below(i % 4 == 0 ? 120 : 12));
    test_no_memory(ctx);
    test_calls(ctx);
    test_types(ctx);
  }
  CHECK_EQ_I((int64_t)jit_pages_bytes(ctx), 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}
