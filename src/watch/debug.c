/* debug.c: DEBUG mode runs each thunk and checks the result: Types, patterns, undeclared aliases, inputs that must not
 * change. It then runs the node again in other ways (with empty output cells, with operands and results of unusual
 * strides, in Lua) and compares the results.
 *
 * The inputs of a node are copied before it runs. A lazy node without all of its inputs is run once only, because
 * reruns would need the inputs that it did not ask for.
 */
#include "watch_int.h"
#include "sparse/sparse.h"

#include <stdio.h>
#include <string.h>

/* One node under examination. before and cells have an entry for each input, then for each output. */
typedef struct node_exam {
  const thunk *t;
  frame *f;
  thunk_run_fn run;
  damo_ctx *ctx;
  damo_obj **before; /* owned copies of the inputs before the run */
  cell *cells;       /* the cells of a rerun */
  int64_t n;         /* number of inputs and outputs */
} node_exam;

static damo_status exam_begin(node_exam *e, const thunk *t, frame *f, thunk_run_fn run) {
  *e = (node_exam){.t = t, .f = f, .run = run, .ctx = f->ctx, .n = (int64_t)t->n_in + t->n_out};
  size_t n = (size_t)e->n;
  e->before = mem_calloc(e->ctx, n * (sizeof *e->before + sizeof *e->cells));
  if (e->before == NULL) return DAMO_EMEMORY;
  e->cells = (cell *)(e->before + n);
  return DAMO_OK;
}

static void drop_cells(node_exam *e) {
  for (int64_t i = 0; i < e->n; i++) {
    damo_release(e->cells[i]);
    e->cells[i] = NULL;
  }
}

static void exam_end(node_exam *e) {
  if (e->before == NULL) return;
  drop_cells(e);
  for (int64_t i = 0; i < e->n; i++) damo_release(e->before[i]);
  mem_free(e->ctx, e->before, (size_t)e->n * (sizeof *e->before + sizeof *e->cells));
}

static damo_status remember_inputs(node_exam *e) {
  for (int i = 0; i < e->t->n_in; i++) {
    e->before[i] = spread_copy(thunk_value(e->t, e->f, i));
    if (e->before[i] == NULL) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

static damo_status accuse(const node_exam *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
static damo_status accuse(const node_exam *e, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  damo_status s = ctx_vfail(e->ctx, DAMO_EINCONSISTENCY, fmt, args);
  va_end(args);
  return s;
}

/* ---- Checks of a run --------------------------------------------------------------------------------------------- */

static const char *value_text(char *dst, size_t n, const damo_obj *v) {
  char lengths[120];
  int ndim;
  const int64_t *shape = value_shape(v, &ndim);
  if (shape == NULL && v->kind != OBJ_ARRAY) {
    snprintf(dst, n, "another kind of value");
  } else if (v->kind == OBJ_SPARSE) {
    const damo_sparse *m = (const damo_sparse *)v;
    snprintf(dst, n, "%s %s with %s indices, %s", sparse_format_name(sparse_format(m)), dtype_name(sparse_dtype(m)),
             dtype_name(sparse_itype(m)), shape_format(lengths, sizeof lengths, ndim, shape));
  } else {
    shape_format(dst, n, ndim, shape);
  }
  return dst;
}

static damo_status exam_check_types(const node_exam *e) {
  for (int o = 0; o < e->t->n_out; o++) {
    const damo_obj *v = thunk_result(e->t, e->f, o);
    const damo_var *out = e->t->node->out[o];
    char want[320];
    type_format(want, sizeof want, out->type);
    if (v == NULL) return accuse(e, "DEBUG: output %d was left empty, expected %s", o + 1, want);
    if (!type_is_valid(out->type, v)) {
      char got[200];
      return accuse(e, "DEBUG: output %d is no value of %s: %s", o + 1, want, value_text(got, sizeof got, v));
    }
    const char *why = "";
    if (v->kind == OBJ_ARRAY && !array_check((const damo_array *)v, &why))
      return accuse(e, "DEBUG: output %d is a damaged array: %s", o + 1, why);
    if (v->kind == OBJ_SPARSE && !sparse_check((const damo_sparse *)v, &why))
      return accuse(e, "DEBUG: output %d is a damaged sparse matrix: %s", o + 1, why);
  }
  return DAMO_OK;
}

/* *may: whether the outputs may have duplicates, given the Op's op_pattern and the duplicates of these inputs. */
static damo_status check_repeats(const node_exam *e, op_pattern said, bool *may) {
  const int n = said == PATTERN_JOINS || said == PATTERN_MEETS ? e->t->n_in : 1;
  *may = said == PATTERN_MEETS;
  for (int i = 0; i < n && said != PATTERN_ONCE; i++) {
    bool repeats;
    if (e->before[i]->kind != OBJ_SPARSE) continue;
    DAMO_TRY(sparse_repeats((damo_sparse *)e->before[i], &repeats));
    *may = said == PATTERN_MEETS ? *may && repeats : *may || repeats;
  }
  return DAMO_OK;
}

static damo_status check_patterns(const node_exam *e) {
  const op_pattern said = e->t->node->op->def->pattern;
  bool may = false, repeats = false;
  if (said == PATTERN_UNKNOWN) return DAMO_OK;
  DAMO_TRY(check_repeats(e, said, &may));
  for (int o = 0; o < e->t->n_out; o++) {
    damo_obj *v = thunk_result(e->t, e->f, o), *first = thunk_value(e->t, e->f, 0);
    if (v->kind != OBJ_SPARSE) continue;
    const bool shared = first->kind == OBJ_SPARSE && sparse_shares((damo_sparse *)v, (damo_sparse *)first);
    if (apply_shares_pattern(e->t->node) && !shared)
      return accuse(e, "DEBUG: output %d has not the index arrays of input 1, which the Op says", o + 1);
    if (!may) DAMO_TRY(sparse_repeats((damo_sparse *)v, &repeats));
    if (repeats)
      return accuse(e, "DEBUG: output %d stores a position more than once, which the Op says it does not", o + 1);
  }
  return DAMO_OK;
}

static damo_status exam_check_inputs(const node_exam *e) {
  const damo_op *op = e->t->node->op;
  for (int i = 0; i < e->t->n_in; i++) {
    const damo_obj *v = thunk_value(e->t, e->f, i), *was = e->before[i];
    char text[400], name[160];
    const damo_array *a = value_array(was), *b = value_array(v);
    if (op_alias_has(op->destroy_map, -1, i) || a == NULL || b == NULL || spread_equal(a, b)) continue;
    if (debug_agree(was, v, false, text, sizeof text)) text[0] = '\0';
    return accuse(e, "DEBUG: input %d (%s) was overwritten, which destroy_map does not say: %s", i + 1,
                  var_format(name, sizeof name, e->t->node->in[i]), text);
  }
  return DAMO_OK;
}

static bool share(const damo_obj *v, const damo_obj *w) {
  const damo_array *a = value_array(v), *b = value_array(w);
  if (a == NULL || b == NULL || array_size(a) == 0 || array_size(b) == 0) return false;
  return a->buf == b->buf && array_may_overlap(a, b);
}

/* Whether the Op's maps allow output o to share memory with input i: they name i, or an input that shares memory with
 * i. */
static bool is_declared(const node_exam *e, int o, int i) {
  const damo_op *op = e->t->node->op;
  for (int j = 0; j < e->t->n_in; j++) {
    if (!op_alias_has(op->view_map, o, j) && !op_alias_has(op->destroy_map, o, j)) continue;
    if (j == i || share(thunk_value(e->t, e->f, j), thunk_value(e->t, e->f, i))) return true;
  }
  return false;
}

static bool is_alias_of_something(const node_exam *e, int o) {
  const damo_op *op = e->t->node->op;
  return op_alias_has(op->view_map, o, -1) || op_alias_has(op->destroy_map, o, -1);
}

static damo_status check_aliases(const node_exam *e) {
  for (int o = 0; o < e->t->n_out; o++) {
    for (int i = 0; i < e->t->n_in; i++) {
      if (!share(thunk_result(e->t, e->f, o), thunk_value(e->t, e->f, i)) || is_declared(e, o, i)) continue;
      return accuse(e, "DEBUG: output %d shares memory with input %d, which neither view_map nor destroy_map says",
                    o + 1, i + 1);
    }
    for (int k = 0; k < o; k++) {
      if (!share(thunk_result(e->t, e->f, o), thunk_result(e->t, e->f, k))) continue;
      if (is_alias_of_something(e, o) && is_alias_of_something(e, k)) continue;
      return accuse(e, "DEBUG: outputs %d and %d share memory", k + 1, o + 1);
    }
  }
  return DAMO_OK;
}

/* ---- Reruns ------------------------------------------------------------------------------------------------------ */

/* An array of that shape whose stride along the last axis is -2 elements. */
static damo_array *strided_array(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape) {
  int64_t padded[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  if (ndim == 0 || shape[ndim - 1] == 0) return array_empty(ctx, dtype, ndim, shape);
  memcpy(padded, shape, (size_t)ndim * sizeof *padded);
  padded[ndim - 1] = 2 * shape[ndim - 1] + 1;
  damo_array *base = array_empty(ctx, dtype, ndim, padded);
  if (base == NULL) return NULL;
  memcpy(strides, array_strides(base), (size_t)ndim * sizeof *strides);
  int64_t step = strides[ndim - 1];
  strides[ndim - 1] = -2 * step;
  damo_array *strided = array_view(base, ndim, shape, strides, step * (2 * (shape[ndim - 1] - 1) + 1));
  damo_release(base);
  return strided;
}

static damo_obj *strided_copy(damo_ctx *ctx, const damo_type *type, damo_obj *v) {
  if (v->kind != OBJ_ARRAY || !type_is_tensor(type) || spread_is_large(v)) return spread_copy(v);
  const damo_array *a = (const damo_array *)v;
  damo_array *strided = strided_array(ctx, array_dtype(a), a->ndim, array_shape(a));
  if (strided != NULL && array_assign(strided, a) == DAMO_OK) return &strided->obj;
  damo_release(strided);
  return NULL;
}

/* A value for the output cell of a rerun, as an earlier call may have left it there: an array like v with unusual
 * strides, or a sparse matrix of v's pattern, filled with a constant that no result has. */
static damo_status odd_result(damo_ctx *ctx, const damo_type *type, const damo_obj *v, cell *out) {
  scalar junk = {.dtype = DAMO_FLOAT64, .v.f = 77};
  if (v != NULL && v->kind == OBJ_SPARSE) {
    damo_sparse *old = sparse_copy((const damo_sparse *)v);
    *out = (damo_obj *)old;
    return old != NULL ? array_fill(old->data, junk) : DAMO_EMEMORY;
  }
  if (v == NULL || v->kind != OBJ_ARRAY || !type_is_tensor(type) || spread_is_large(v)) return DAMO_OK;
  const damo_array *a = (const damo_array *)v;
  damo_array *strided = strided_array(ctx, array_dtype(a), a->ndim, array_shape(a));
  if (strided == NULL) return DAMO_EMEMORY;
  *out = &strided->obj;
  return array_fill(strided, junk);
}

/* A way of running a node again. */
typedef struct rerun {
  const char *how;  /* description for messages */
  const char *impl; /* implementation; NULL: the default */
  bool strided, read_only;
} rerun;

static damo_status fill_cells(node_exam *e, const rerun *r) {
  const thunk *t = e->t;
  for (int i = 0; i < t->n_in; i++) {
    damo_obj *v = r->strided ? strided_copy(e->ctx, t->node->in[i]->type, e->before[i]) : spread_copy(e->before[i]);
    if (v == NULL) return damo_error_status(e->ctx);
    e->cells[i] = v;
    if (r->read_only && value_array(v) != NULL) value_array(v)->writeable = false;
  }
  for (int o = 0; r->strided && o < t->n_out; o++) {
    DAMO_TRY(odd_result(e->ctx, t->node->out[o]->type, thunk_result(t, e->f, o), &e->cells[t->n_in + o]));
  }
  return DAMO_OK;
}

static damo_status rerun_cells(node_exam *e, const rerun *r) {
  thunk_request how = {.impl = r->impl};
  thunk_alone *again = thunk_alone_new(e->ctx, e->t->node, e->cells, NULL, &how);
  if (again == NULL) return damo_error_status(e->ctx);
  damo_status s = e->run(&again->t, &again->f);
  thunk_alone_free(again);
  if (s != DAMO_OK && s != DAMO_EMEMORY) ctx_fail_add(e->ctx, "while DEBUG mode ran the node again %s", r->how);
  return s;
}

/* *terms: debug_terms of the node's output o, looking through this node alone. */
static damo_status exam_terms(const node_exam *e, int o, damo_obj **terms) {
  damo_apply *node = e->t->node;
  ptrvec nodes;
  map values;
  ptrvec_init(&nodes, e->ctx);
  map_init(&values, e->ctx);
  damo_status s = ptrvec_push(&nodes, node);
  for (int i = 0; i < node->n_in && s == DAMO_OK; i++) s = map_put(&values, node->in[i], (uintptr_t)e->before[i]);
  if (s == DAMO_OK) s = map_put(&values, node->out[o], (uintptr_t)thunk_result(e->t, e->f, o));
  if (s == DAMO_OK) s = debug_terms(e->ctx, &nodes, node->out[o], &values, terms);
  ptrvec_clear(&nodes);
  map_clear(&values);
  return s;
}

/* If *agree is false, sets it to whether the results differ only by the rounding of their terms, as happens if these
 * are added in another order. */
static damo_status exam_allow_rounding(const node_exam *e, int o, const damo_obj *again, bool *agree) {
  char text[400];
  damo_obj *terms = NULL;
  if (*agree) return DAMO_OK;
  DAMO_TRY(exam_terms(e, o, &terms));
  *agree = terms != NULL && debug_agree_within(thunk_result(e->t, e->f, o), again, terms, false, text, sizeof text);
  damo_release(terms);
  return DAMO_OK;
}

static damo_status compare_cells(const node_exam *e, const rerun *r) {
  const thunk *t = e->t;
  char text[400];
  for (int o = 0; o < t->n_out; o++) {
    const damo_obj *again = e->cells[t->n_in + o];
    bool agree = debug_agree(thunk_result(t, e->f, o), again, false, text, sizeof text);
    DAMO_TRY(exam_allow_rounding(e, o, again, &agree));
    if (agree) continue;
    return accuse(e, "DEBUG: output %d is another one when the node runs %s: %s", o + 1, r->how, text);
  }
  return DAMO_OK;
}

static damo_status rerun_node(node_exam *e, const rerun *r) {
  damo_status s = fill_cells(e, r);
  if (s == DAMO_OK) s = rerun_cells(e, r);
  if (s == DAMO_OK) s = compare_cells(e, r);
  drop_cells(e);
  return s;
}

/* Runs the node again in every way that applies. An in-place Op copies an operand that is read-only, so read-only
 * operands make it run its plain kernel. */
static damo_status run_all_ways(node_exam *e) {
  const damo_op *op = e->t->node->op;
  bool in_place = op_prop(op, "inplace")->kind != PROP_NIL;
  const rerun plain = {.how = "without room for its results", .read_only = in_place};
  const rerun strided = {.how = "with operands and results of odd strides", .strided = true};
  const rerun lua = {.how = "in Lua", .impl = "lua"};
  if (op->def->impure) return DAMO_OK;
  DAMO_TRY(rerun_node(e, &plain));
  DAMO_TRY(rerun_node(e, &strided));
  return op->def->perform != NULL && op->def->perform_lua != NULL ? rerun_node(e, &lua) : DAMO_OK;
}

/* ---- One thunk --------------------------------------------------------------------------------------------------- */

static damo_status check_run(const node_exam *e) {
  DAMO_TRY(exam_check_types(e));
  DAMO_TRY(check_patterns(e));
  DAMO_TRY(exam_check_inputs(e));
  return check_aliases(e);
}

/* Whether a lazy thunk has all its inputs: it then asks for none and is checked like any other thunk. */
static bool has_all_inputs(const thunk *t, frame *f) {
  for (int i = 0; i < t->n_in; i++) {
    if (!thunk_ready(t, f, i)) return false;
  }
  return t->node->op->def->perform != NULL;
}

static damo_status debug_lazy(vm_frame *vf, const thunk *t, thunk_run_fn run) {
  frame *f = &vf->frame;
  node_exam e = {.t = t, .f = f, .ctx = f->ctx};
  DAMO_TRY(run(t, f));
  if (thunk_n_need(t, f) > 0) return DAMO_OK;
  DAMO_TRY(exam_check_types(&e));
  return nanguard_check_outputs(vf, t, "DEBUG");
}

damo_status debug_step_by(vm_frame *vf, const thunk *t, thunk_run_fn run) {
  frame *f = &vf->frame;
  if (thunk_is_lazy(t, f) && !has_all_inputs(t, f)) return debug_lazy(vf, t, run);
  node_exam e;
  damo_status s = exam_begin(&e, t, f, run);
  if (s == DAMO_OK) s = remember_inputs(&e);
  if (s == DAMO_OK) {
    nanguard_warn_integer_division(t, f, "DEBUG");
    s = run(t, f);
  }
  if (s == DAMO_OK) s = check_run(&e);
  if (s == DAMO_OK) s = run_all_ways(&e);
  if (s == DAMO_OK) s = debug_check_class(t, f, e.before);
  if (s == DAMO_OK) s = nanguard_check_outputs(vf, t, "DEBUG");
  exam_end(&e);
  return s;
}

damo_status debug_step(vm_frame *vf, const thunk *t) { return debug_step_by(vf, t, thunk_run); }
