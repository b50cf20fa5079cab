/* nanguard.c: NANGUARD mode: checks integer divisors before a thunk runs, and its floating-point outputs afterwards. */
#include "op/elem/scalar.h"
#include "watch_int.h"
#include "kernel/kernel.h"
#include "op/op.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Non-finite entries
 * ------------------------------------------------------------------------------------------- */

static bool is_finite(scalar s) {
  if (dtype_is_complex(s.dtype)) return isfinite(s.v.c.re) && isfinite(s.v.c.im);
  return !dtype_is_float(s.dtype) || isfinite(s.v.f);
}

static bool scalar_is_nan(scalar s) {
  return dtype_is_complex(s.dtype) ? isnan(s.v.c.re) || isnan(s.v.c.im) : isnan(s.v.f);
}

static const char *nonfinite_name(scalar s) {
  if (scalar_is_nan(s)) return "nan";
  if (dtype_is_complex(s.dtype)) return "inf";
  return s.v.f < 0 ? "-inf" : "inf";
}

static bool is_all_finite(const damo_array *a) {
  return array_is_contiguous(a) && kernel_all_finite(array_dtype(a), a->data, array_size(a));
}

static void index_text(char *dst, size_t n, const damo_array *a, const int64_t *index) {
  size_t at = 0;
  for (int d = 0; d < a->ndim && at + 24 < n; d++) {
    at += (size_t)snprintf(dst + at, n - at, "%s%lld", d == 0 ? " at {" : ", ", (long long)index[d] + 1);
  }
  snprintf(dst + at, n - at, "%s", a->ndim > 0 ? "}" : "");
}

bool nanguard_is_fault(scalar s, op_nonfinite allowed) {
  if (is_finite(s)) return false;
  return allowed != NONFINITE_INFINITE || scalar_is_nan(s);
}

void nanguard_entry_text(char *dst, size_t n, const damo_array *a, const int64_t *index) {
  char place[160];
  index_text(place, sizeof place, a, index);
  snprintf(dst, n, "%s%s", nonfinite_name(array_get(a, index)), place);
}

/* Describes the first non-finite entry that `allowed` does not allow as "nan at {2, 3}"; false if there is none. */
static bool find_nonfinite(const damo_array *a, op_nonfinite allowed, char *text, size_t n) {
  if (dtype_is_discrete(array_dtype(a)) || array_size(a) == 0 || is_all_finite(a)) return false;
  damo_array *once, *same;
  if (spread_once(a, a, &once, &same)) {
    const bool found = find_nonfinite(once, allowed, text, n);
    damo_release(once);
    damo_release(same);
    return found;
  }
  array_places e;
  for (char *p = places_begin(&e, a); p; p = places_next(&e, p)) {
    if (!nanguard_is_fault(scalar_load(array_dtype(a), p), allowed)) continue;
    nanguard_entry_text(text, n, a, e.walk.at);
    return true;
  }
  return false;
}

/* The same for a value; of a sparse matrix the stored entries are searched. */
static bool find_in_value(const damo_obj *v, op_nonfinite allowed, char *text, size_t n) {
  if (!find_nonfinite(value_array(v), allowed, text, n)) return false;
  const size_t used = strlen(text);
  if (v->kind == OBJ_SPARSE) snprintf(text + used, n - used, " of the stored entries");
  return true;
}

damo_status nanguard_check_outputs(const vm_frame *vf, const thunk *t, const char *func) {
  const frame *f = &vf->frame;
  const op_nonfinite allowed = t->node->op->def->nonfinite;
  if (allowed == NONFINITE_ANY) return DAMO_OK;
  for (int o = 0; o < t->n_out; o++) {
    const damo_obj *v = thunk_result(t, f, o);
    char text[200], op[160];
    if (value_array(v) == NULL || !type_has_shape(t->node->out[o]->type)) continue;
    const bool faulty = find_in_value(v, allowed, text, sizeof text);
    if (v->kind == OBJ_ARRAY) {
      DAMO_TRY(nanguard_check_masks(vf->step_user, t, o, faulty, func));
      continue;
    }
    if (!faulty) continue;
    return ctx_fail(f->ctx, DAMO_ENUMERIC, "%s: the result %s holds %s", func,
                    var_format(op, sizeof op, t->node->out[o]), text);
  }
  return DAMO_OK;
}

damo_status nanguard_check_inputs(const damo_function *f, const char *func) {
  char text[200], name[160];
  for (int64_t i = 0; i < f->program->n_inputs; i++) {
    const damo_obj *v = f->program->inputs[i].cell >= 0 ? f->frame.frame.cells[f->program->inputs[i].cell] : NULL;
    if (value_array(v) == NULL || !type_has_shape(f->program->inputs[i].var->type)) continue;
    if (!find_in_value(v, NONFINITE_NEVER, text, sizeof text)) continue;
    return ctx_fail(f->obj.ctx, DAMO_ENUMERIC, "%s: input %lld (%s) of %s holds %s", func, (long long)i + 1,
                    var_format(name, sizeof name, f->program->inputs[i].var), function_name(f), text);
  }
  for (int64_t i = 0; i < f->program->n_shared; i++) {
    const damo_var *v = f->program->shared[i].var;
    if (v == NULL || f->program->shared[i].cell < 0 || value_array(v->value) == NULL || !type_has_shape(v->type))
      continue;
    if (!find_in_value(v->value, NONFINITE_NEVER, text, sizeof text)) continue;
    return ctx_fail(f->obj.ctx, DAMO_ENUMERIC, "%s: the shared value %s of %s holds %s", func,
                    var_format(name, sizeof name, v), function_name(f), text);
  }
  return DAMO_OK;
}

/* ---- Integer division -------------------------------------------------------------------------------------------- */

/* The strides of an operand along the broadcast shape, which has rank ndim. */
static void dividend_strides(const damo_array *a, int ndim, int64_t *strides) {
  for (int d = 0; d < ndim; d++) {
    const int own = d - (ndim - a->ndim);
    strides[d] = own < 0 || array_shape(a)[own] == 1 ? 0 : array_strides(a)[own];
  }
}

static bool is_smallest(scalar s) {
  if (!dtype_is_signed(s.dtype)) return false;
  int bits = 8 * (int)dtype_size(s.dtype);
  return s.v.i == (bits == 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1)));
}

/* What to warn of when x is divided by y; NULL: nothing. */
static const char *oddity(scalar x, scalar y, bool quotient) {
  if (scalar_to_int64(y) == 0)
    return quotient ? "an integer divided by zero (the result is 0)"
                    : "the remainder of an integer divided by zero (the result is 0)";
  bool wraps = quotient && is_smallest(x) && dtype_is_signed(y.dtype) && y.v.i == -1;
  return wraps ? "the smallest integer divided by -1 (the result wraps)" : NULL;
}

void nanguard_warn_integer_division(const thunk *t, frame *f, const char *func) {
  const scalar_id id = elemwise_scalar_id(t->node->op);
  const bool quotient = id == SCALAR_floor_div;
  if (!quotient && id != SCALAR_mod) return;
  if (!dtype_is_discrete(var_dtype(t->node->out[0])) || t->n_in != 2) return;
  const damo_array *x = thunk_in(t, f, 0), *y = thunk_in(t, f, 1);
  int64_t shape[DAMO_MAX_NDIM], strides[2][DAMO_MAX_NDIM], numbers[ND_NUMBERS(DAMO_MAX_NDIM, 2)];
  char *p[2] = {x->data, y->data};
  nd_space space;
  nd_walk w;
  int ndim;
  if (!shape_broadcast(x->ndim, array_shape(x), y->ndim, array_shape(y), &ndim, shape)) return;
  dividend_strides(x, ndim, strides[0]);
  dividend_strides(y, ndim, strides[1]);
  nd_space_init(&space, numbers, ndim, shape, 2, (const int64_t *const[]){strides[0], strides[1]});
  for (bool more = nd_begin(&w, &space); more; more = nd_next(&w, p)) {
    const char *what = oddity(scalar_load(array_dtype(x), p[0]), scalar_load(array_dtype(y), p[1]), quotient);
    if (what != NULL) {
      const damo_trace *trace = t->node->trace;
      int line = trace != NULL ? (int)strcspn(trace->text, "\n") : 0;
      ctx_warn(f->ctx, "numeric", "%s: %s: %s%s%.*s", func, quotient ? "floor_div" : "mod", what,
               line > 0 ? ", made at " : "", line, line > 0 ? trace->text : "");
      return;
    }
  }
}

/* ---- The mode ---------------------------------------------------------------------------------------------------- */

static damo_status nanguard_step(vm_frame *vf, const thunk *t) {
  frame *f = &vf->frame;
  if (!thunk_is_lazy(t, f)) nanguard_warn_integer_division(t, f, "NANGUARD");
  DAMO_TRY(thunk_run(t, f));
  return thunk_n_need(t, f) == 0 ? nanguard_check_outputs(vf, t, "NANGUARD") : DAMO_OK;
}

static damo_status nanguard_prepare(damo_function *f, damo_obj *const *args, int64_t n_args) {
  (void)args, (void)n_args;
  nanguard_clear_masks(f);
  return nanguard_check_inputs(f, "NANGUARD");
}

/* Without fusion, so that an error names the node whose result is not finite. */
const fn_watcher nanguard_watcher = {.leaves_out = "fuse_elemwise fuse_product read_at_source",
                                     .mode = "NANGUARD",
                                     .prepare = nanguard_prepare,
                                     .step = nanguard_step,
                                     .clear = nanguard_clear_masks};
