/* target.c: results written into objects of the caller: function_run's `into`.
 *
 * The thunks write directly into a dense target if it cannot overlap any value that they read; else the result is
 * copied into it at the end of the call. A sparse target is always written at the end: it takes the result's index
 * arrays, which never change, and the values are copied into its own data buffer if that is large enough and nothing
 * else holds it. Arrays that were taken from the matrix before keep their contents. Always holds: every target is
 * checked before anything is written; a sparse target is a valid matrix at any time.
 */
#include "compile_int.h"
#include "sparse/sparse.h"

#include <string.h>

/* ---- Holders of a matrix ----------------------------------------------------------------------------------------- */

static int64_t held_by_cells(const damo_function *f, const damo_obj *m) {
  int64_t n = 0;
  for (int64_t i = 0; i < f->program->vm.n_cells; i++) n += f->frame.frame.cells[i] == m;
  return f->companion != NULL ? n + held_by_cells(f->companion, m) : n;
}

/* A matrix may only change if nothing but the caller and f's cells holds it. */
static damo_status check_holders(const damo_function *f, int64_t i, const damo_obj *target) {
  if (target->refs <= FN_TARGET_HOLDERS || target->refs <= FN_TARGET_HOLDERS + held_by_cells(f, target)) return DAMO_OK;
  return ctx_fail(
      f->obj.ctx, DAMO_ESTATE,
      "%s: the matrix for output %lld is held by something else too (a shared variable, a default value, a borrowed "
      "result, a call under way): give a copy of it",
      function_name(f), (long long)i + 1);
}

static damo_status check_once(const damo_function *f, int64_t i, damo_obj *const *into) {
  for (int64_t k = 0; k < i; k++) {
    if (into[k] != into[i]) continue;
    return ctx_fail(f->obj.ctx, DAMO_EVALUE, "%s: outputs %lld and %lld can't both be written into one matrix",
                    function_name(f), (long long)k + 1, (long long)i + 1);
  }
  return DAMO_OK;
}

static bool is_matrix(const damo_obj *target) { return target != NULL && target->kind == OBJ_SPARSE; }

damo_status target_begin(const damo_function *f, damo_obj *const *into) {
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    if (is_matrix(into[i])) DAMO_TRY(check_once(f, i, into));
  }
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    if (is_matrix(into[i])) DAMO_TRY(check_holders(f, i, into[i]));
  }
  return DAMO_OK;
}

/* ---- Direct writes ----------------------------------------------------------------------------------------------- */

/* Whether the thunks may write output i directly into the caller's array: it is valid for the output, and overlaps no
 * input, shared value or other target. */
static bool may_write_early(const damo_function *f, int64_t i, damo_obj *const *into) {
  const fn_output *out = &f->program->outputs[i];
  if (out->copy || out->maker == NULL || into[i]->kind != OBJ_ARRAY) return false;
  const damo_array *target = (const damo_array *)into[i];
  if (!type_is_valid(out->type, into[i]) || !array_takes_writes(target)) return false;
  for (int64_t k = 0; k < f->program->vm.n_transient; k++) {
    const damo_obj *v = f->frame.frame.cells[f->program->vm.transient[k]];
    if (value_may_overlap(&target->obj, v)) return false;
  }
  for (int64_t k = 0; k < f->program->n_outputs; k++) {
    if (k != i && value_may_overlap(into[k], into[i])) return false;
  }
  return true;
}

damo_status target_offer(damo_function *f, damo_obj *const *into) {
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    const fn_output *out = &f->program->outputs[i];
    if (into[i] == NULL || !may_write_early(f, i, into)) continue;
    DAMO_TRY(thunk_fix_out(out->maker, &f->frame.frame, out->maker_index, true));
    cell_set(&f->frame.frame.cells[out->cell], damo_retain(into[i]));
  }
  return DAMO_OK;
}

void target_forget(damo_function *f, damo_obj *const *into) {
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    const fn_output *out = &f->program->outputs[i];
    if (into[i] == NULL) continue;
    if (out->maker != NULL) thunk_fix_out(out->maker, &f->frame.frame, out->maker_index, false);
    /* the next call would write into the caller's object */
    if (f->frame.frame.cells[out->cell] == into[i]) cell_set(&f->frame.frame.cells[out->cell], NULL);
  }
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static damo_status refuse_read_only(const damo_function *f, int64_t i, const char *what) {
  return ctx_fail(f->obj.ctx, DAMO_ESTATE, "%s: the %s for output %lld is read-only, or an input of a run under way",
                  function_name(f), what, (long long)i + 1);
}

/* A run may itself read what it writes at its end. */
static bool target_takes_writes(const damo_function *f, const damo_array *a) {
  return f->seen != NULL ? a->writeable : array_takes_writes(a);
}

static damo_status check_array(const damo_function *f, int64_t i, const damo_array *v, const damo_array *a) {
  bool same = a->ndim == v->ndim && a->dtype == v->dtype;
  for (int d = 0; same && d < a->ndim; d++) same = array_shape(a)[d] == array_shape(v)[d];
  if (!same) {
    char want[160], got[160];
    return ctx_fail(f->obj.ctx, a->dtype != v->dtype || a->ndim != v->ndim ? DAMO_ETYPE : DAMO_ESHAPE,
                    "%s: output %lld is %s %s, the array to write into is %s %s", function_name(f), (long long)i + 1,
                    dtype_name(array_dtype(v)), shape_format(want, sizeof want, v->ndim, array_shape(v)),
                    dtype_name(array_dtype(a)), shape_format(got, sizeof got, a->ndim, array_shape(a)));
  }
  return target_takes_writes(f, a) ? DAMO_OK : refuse_read_only(f, i, "array");
}

static damo_status check_sparse(const damo_function *f, int64_t i, const damo_sparse *v, const damo_sparse *m) {
  const bool same_shape = m->shape[0] == v->shape[0] && m->shape[1] == v->shape[1];
  const bool same_type =
      m->format == v->format && sparse_dtype(m) == sparse_dtype(v) && sparse_itype(m) == sparse_itype(v);
  if (!same_shape || !same_type) {
    char want[160], got[160];
    return ctx_fail(f->obj.ctx, same_type ? DAMO_ESHAPE : DAMO_ETYPE,
                    "%s: output %lld is %s %s %s with %s indices, the matrix to write into is %s %s %s with %s indices",
                    function_name(f), (long long)i + 1, sparse_format_name(sparse_format(v)),
                    dtype_name(sparse_dtype(v)), shape_format(want, sizeof want, 2, v->shape),
                    dtype_name(sparse_itype(v)), sparse_format_name(sparse_format(m)), dtype_name(sparse_dtype(m)),
                    shape_format(got, sizeof got, 2, m->shape), dtype_name(sparse_itype(m)));
  }
  return target_takes_writes(f, m->data) ? check_holders(f, i, &m->obj) : refuse_read_only(f, i, "matrix");
}

damo_status target_check(const damo_function *f, int64_t i, damo_obj *value, damo_obj *target) {
  if (target->kind == OBJ_ARRAY && value->kind == OBJ_ARRAY) {
    return check_array(f, i, (const damo_array *)value, (const damo_array *)target);
  }
  if (target->kind == OBJ_SPARSE && value->kind == OBJ_SPARSE) {
    return check_sparse(f, i, (const damo_sparse *)value, (const damo_sparse *)target);
  }
  return ctx_fail(f->obj.ctx, DAMO_ETYPE, "%s: output %lld can't be written into that object", function_name(f),
                  (long long)i + 1);
}

/* Whether writing the other targets could overwrite the result. */
static bool holds_result(const damo_function *f, int64_t i, damo_obj *const *into) {
  const damo_obj *value = f->frame.frame.cells[f->program->outputs[i].cell];
  for (int64_t k = 0; k < f->program->n_outputs; k++) {
    if (k == i) continue;
    /* the same object, which may be empty and then overlaps nothing, or the same memory */
    if (into[k] == value || value_may_overlap(into[k], value)) return true;
  }
  return false;
}

/* ---- At the end -------------------------------------------------------------------------------------------------- */

/* Whether n elements fit into the buffer of a vector, and nothing else holds that buffer. */
static bool has_space(const damo_array *a, int64_t n) {
  if (!array_is_exclusive(a)) return false;
  const size_t space = (size_t)(a->buf->data + a->buf->nbytes - a->data);
  return (size_t)n <= space / dtype_size(array_dtype(a));
}

/* Whether the result is staged, or held by its cell alone, so that a target can take over its arrays. */
static bool is_own(const damo_function *f, int64_t i, const damo_obj *value) {
  const fn_output *out = &f->program->outputs[i];
  return f->staged[i] != NULL || (!out->copy && !out->borrow && value_is_cells_alone(value));
}

bool target_must_stage(const damo_function *f, int64_t i, damo_obj *const *into) {
  const fn_output *out = &f->program->outputs[i];
  const damo_obj *value = f->frame.frame.cells[out->cell];
  if (into == NULL || into[i] == NULL) return out->copy;
  if (out->copy && holds_result(f, i, into)) return true;
  if (into[i] == value || !is_matrix(into[i]) || is_own(f, i, value)) return false;
  return !has_space(((const damo_sparse *)into[i])->data, sparse_nnz((const damo_sparse *)value));
}

static void target_put(damo_array **place, damo_array *take) {
  damo_array *old = *place;
  *place = take;
  damo_release(old);
}

/* Makes m equal to v. The values are copied into m's buffer if that has space; else m takes v's data, which belong to
 * this call alone (target_must_stage). */
static void target_write_sparse(damo_sparse *m, const damo_sparse *v) {
  damo_assert(m->format == v->format && m->shape[0] == v->shape[0] && m->shape[1] == v->shape[1]);
  const int64_t n = sparse_nnz(v);
  if (has_space(m->data, n)) {
    array_shape(m->data)[0] = n;
    if (n > 0) memcpy(m->data->data, v->data->data, (size_t)n * dtype_size(sparse_dtype(v)));
  } else {
    target_put(&m->data, damo_retain(v->data));
  }
  target_put(&m->indices, damo_retain(v->indices));
  target_put(&m->indptr, damo_retain(v->indptr));
  m->sorted = v->sorted;
  m->unique = v->unique;
  damo_assert(sparse_check(m, NULL));
}

/* Arrays first, matrices last: writing a matrix can't fail, so a call that fails while it writes the arrays leaves the
 * matrices as they were. */
damo_status target_fill(damo_function *f, damo_obj *const *into) {
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    const damo_obj *value = function_peek(f, i);
    if (into[i] == NULL || into[i] == value || into[i]->kind != OBJ_ARRAY) continue;
    DAMO_TRY(array_assign((damo_array *)into[i], (const damo_array *)value));
  }
  for (int64_t i = 0; i < f->program->n_outputs; i++) {
    const damo_obj *value = function_peek(f, i);
    if (into[i] == value || !is_matrix(into[i])) continue;
    target_write_sparse((damo_sparse *)into[i], (const damo_sparse *)value);
  }
  return DAMO_OK;
}
