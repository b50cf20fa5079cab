/* props_test: Ops of every class of damo's own with properties that any file may name, over operands of any kind. What
 * comes of it is an error, or a node that runs and can be differentiated without reading outside of anything, which a
 * build with sanitizers sees. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "op/op.h"
#include "sparse/sparse.h"
#include "store/store_int.h"
#include "test.h"

#define MOST_FIELDS 8
#define MOST_IN 8
#define TRIES 60 /* of each class; DAMO_PROPS_TRIES says another number */
#define MEMORY_CAP ((size_t)64 << 20)

static uint64_t state = 1;
static int draw(int below) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((state >> 33) % (uint64_t)below);
}

/* ---- Properties -------------------------------------------------------------------------------------------------- */

static const int64_t numbers[] = {1, 2, 1, 2, 3, 0, 4, -1, 32, 33, 64, INT32_MAX, INT64_MAX, INT64_MIN, INT64_MAX / 4};
static const char *const words[] = {
    "",     "x",      "float64", "int64",   "bool",   "complex64", "csr",     "csc",    "sum",  "max",   "exp",
    "add",  "s111",   "i",       "l",       "is000e", "nan",       "n",       "t",      "h",    "gen",   "pos",
    "full", "r",      "valid",   "half",    "wrap",   "raise",     "cumsum",  "linear", "clip", "error", "normal",
    "cast", "argmax", "complex", "to_half", "one",    "root",      "uniform", "poisson"};

typedef struct shelf {
  prop_value lists[MOST_FIELDS][40];
  damo_type *type;
  damo_op *op;
} shelf;

static prop_value any_value(const shelf *s) {
  switch (draw(9)) {
    case 0: return prop_nil();
    case 1: return prop_bool(draw(2));
    case 2:
    case 3:
    case 4: return prop_int(numbers[draw(sizeof numbers / sizeof *numbers)]);
    case 5: return prop_num(draw(2) ? 0.5 : -1.0 / 0.0);
    case 6: return (prop_value){.kind = PROP_TYPE, .u.type = s->type};
    case 7: return (prop_value){.kind = PROP_OP, .u.op = s->op};
    default: return prop_str(words[draw(sizeof words / sizeof *words)]);
  }
}

/* What the rule allows more often than not. */
static prop_value value_of(const op_field *f, shelf *s, int at) {
  const prop_rule *r = f->rule;
  if (r != NULL && draw(8) != 0) {
    if (r->words != NULL) {
      int n = 0;
      while (r->words[n] != NULL) n++;
      return prop_str(r->words[draw(n)]);
    }
    if (r->kinds & PROP_IS(PROP_INT)) return prop_int(draw(2) || draw(2) ? 1 + draw(3) : draw(2) ? r->least : r->most);
    if (r->kinds & PROP_IS(PROP_BOOL)) return prop_bool(draw(2));
  }
  if (draw(3) != 0 && (r == NULL || (r->kinds & PROP_IS(PROP_LIST)) == 0)) return any_value(s);
  const int n = draw(8) == 0 ? draw(40) : draw(5);
  for (int i = 0; i < n; i++) s->lists[at][i] = draw(4) != 0 ? prop_int(1 + draw(3)) : any_value(s);
  return prop_list(s->lists[at], n);
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

typedef struct operands {
  damo_var *var[MOST_IN];
  damo_obj *value[MOST_IN];
  int n;
} operands;

static damo_array *small_array(damo_ctx *ctx) {
  static const damo_dtype dtypes[] = {DAMO_FLOAT64, DAMO_FLOAT64, DAMO_FLOAT64, DAMO_INT64,     DAMO_INT64,
                                      DAMO_BOOL,    DAMO_FLOAT32, DAMO_INT8,    DAMO_COMPLEX128};
  const damo_dtype dtype = dtypes[draw(sizeof dtypes / sizeof *dtypes)];
  int64_t shape[4], size = 1;
  const int ndim = draw(8) == 0 ? 4 : draw(4);
  for (int k = 0; k < ndim; k++) size *= shape[k] = draw(3) ? 3 : draw(4);
  double v[256];
  for (int64_t i = 0; i < size; i++) v[i] = dtype_is_discrete(dtype) ? draw(5) - 1 : draw(9) / 4.0;
  damo_array *whole = damo_array_from(ctx, DAMO_FLOAT64, ndim, shape, v);
  damo_array *a = whole != NULL ? array_cast(whole, dtype) : NULL;
  damo_release(whole);
  return a;
}

static damo_obj *small_value(damo_ctx *ctx) {
  damo_array *a = small_array(ctx);
  if (a == NULL || a->ndim != 2 || draw(2)) return a != NULL ? &a->obj : NULL;
  damo_sparse *m = damo_sparse_from_array(a, draw(2) ? DAMO_CSR : DAMO_CSC);
  damo_release(a);
  return m != NULL ? &m->obj : NULL;
}

static damo_type *open_type(damo_ctx *ctx, const damo_obj *v, bool known) {
  if (v->kind == OBJ_SPARSE) {
    const damo_sparse *m = (const damo_sparse *)v;
    return type_sparse(ctx, sparse_format(m), sparse_dtype(m), DAMO_INT32, known ? m->shape : NULL);
  }
  const damo_array *a = (const damo_array *)v;
  return damo_type_tensor(ctx, a->dtype, a->ndim, known ? array_shape(a) : NULL);
}

static void take_operands(damo_ctx *ctx, operands *o, int n) {
  o->n = 0;
  for (; o->n < n; o->n++) {
    damo_obj *v = o->n > 0 && draw(3) == 0 ? damo_retain(o->value[draw(o->n)]) : small_value(ctx);
    damo_type *t = v != NULL ? open_type(ctx, v, draw(2)) : NULL;
    damo_var *x = NULL;
    if (t != NULL && (v->kind != OBJ_ARRAY || draw(3) != 0))
      x = damo_var_new(ctx, t, NULL);
    else if (t != NULL)
      x = damo_constant(ctx, (damo_array *)v);
    CHECK(x != NULL);
    damo_release(t);
    o->value[o->n] = v;
    o->var[o->n] = x;
  }
}

static void drop_operands(operands *o) {
  for (int i = 0; i < o->n; i++) {
    damo_release(o->var[i]);
    damo_release(o->value[i]);
  }
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Returns whether it was compiled. */
static bool run(damo_ctx *ctx, const operands *o, damo_var *const *out, int64_t n_out, const char *mode) {
  damo_var *in[MOST_IN];
  damo_obj *args[MOST_IN], *results[32] = {NULL};
  int64_t n = 0;
  for (int i = 0; i < o->n; i++) {
    if (o->var[i]->kind != VAR_PLAIN) continue;
    in[n] = o->var[i];
    args[n++] = o->value[i];
  }
  damo_function *f = damo_compile(ctx, in, n, out, n_out, NULL, NULL, 0, mode);
  if (f != NULL && damo_function_call_values(f, args, n, results) == DAMO_OK) {
    for (int i = 0; i < n_out; i++) damo_release(results[i]);
  }
  damo_release(f);
  return f != NULL;
}

static void differentiate(damo_ctx *ctx, const operands *o, damo_var *y) {
  damo_var *real = damo_call(ctx, "real", &y, 1), *cost = real != NULL ? damo_call(ctx, "sum", &real, 1) : NULL;
  damo_var *wrt[MOST_IN], *g[MOST_IN] = {NULL};
  int64_t n = 0;
  for (int i = 0; i < o->n; i++) {
    if (o->var[i]->kind == VAR_PLAIN) wrt[n++] = o->var[i];
  }
  if (cost != NULL && n > 0 && damo_grad(ctx, cost, wrt, n, g) == DAMO_OK) {
    for (int64_t i = 0; i < n; i++) {
      run(ctx, o, &g[i], 1, "FAST_RUN");
      damo_release(g[i]);
    }
  }
  damo_release(cost);
  damo_release(real);
}

/* One Op with drawn properties over drawn operands; returns whether there was a node. */
static bool attempt(damo_ctx *ctx, const op_def *def, shelf *s) {
  prop_value props[MOST_FIELDS];
  operands o;
  const int fields = op_fields_count(def->props);
  CHECK(fields <= MOST_FIELDS);
  for (int k = 0; k < fields; k++) props[k] = value_of(&def->props[k], s, k);
  damo_op *op = op_new(ctx, def, props);
  if (op == NULL) return false;
  take_operands(ctx, &o, def->n_in == OP_VARIADIC ? draw(7) : def->n_in);
  damo_apply *node = op_apply(ctx, op, o.var, o.n);
  if (node != NULL && node->n_out > 0 && node->n_out <= 32) {
    run(ctx, &o, node->out, node->n_out, "FAST_COMPILE");
    run(ctx, &o, node->out, node->n_out, "FAST_RUN");
    differentiate(ctx, &o, node->out[0]);
  }
  const bool made = node != NULL;
  damo_release(node);
  damo_release(op);
  drop_operands(&o);
  return made;
}

int main(void) {
  const char *asked = getenv("DAMO_PROPS_TRIES"), *seed = getenv("DAMO_PROPS_SEED");
  const int tries = asked != NULL ? atoi(asked) : TRIES;
  const op_def *def;
  int nodes = 0;
  if (seed != NULL) state = (uint64_t)atoi(seed);
  for (int i = 0; (def = store_class_at(i)) != NULL; i++) {
    if (op_fields_count(def->props) > MOST_FIELDS) continue;
    damo_ctx *ctx = damo_ctx_new(NULL, NULL);
    damo_ctx_set_memory_cap(ctx, MEMORY_CAP);
    shelf s = {.type = damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL), .op = op_new(ctx, &shape_def, NULL)};
    for (int k = 0; k < tries; k++) {
      if (getenv("DAMO_PROPS_TELL") != NULL) fprintf(stderr, "%s %d\n", def->name, k);
      nodes += attempt(ctx, def, &s);
    }
    damo_release(s.type);
    damo_release(s.op);
    damo_ctx_release(ctx);
  }
  CHECK(nodes > 500 * tries / TRIES);
  TEST_MAIN_END;
}
