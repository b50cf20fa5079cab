/* direct: calls of Functions of one node on operands wherever they lie, without the frame's cells. They allocate nothing but
 * results, can't fail and call nothing back: what may do so is left to function_run. */
#include "compile_int.h"

/* ---- What can be called so --------------------------------------------------------------------------------------- */

/* The number, from 0, of the one output of the program that is the thunk's output o; -1: none, or several are. */
static int direct_result(const fn_program *p, const thunk *t, int o) {
  int found = -1;
  for (int64_t i = 0; i < p->n_outputs; i++) {
    if (p->outputs[i].cell != t->out[o]) continue;
    if (found >= 0) return -1;
    found = (int)i;
  }
  return found;
}

static int direct_input(const fn_program *p, const thunk *t, int i) {
  for (int64_t k = 0; k < p->n_inputs; k++) {
    if (p->inputs[k].cell == t->in[i]) return (int)k;
  }
  return -1;
}

/* Whether all inputs and results are 0-d float64. */
static bool are_doubles(const damo_function *f) {
  const fn_program *p = f->program;
  if (!function_takes_scalars(f)) return false;
  for (int64_t i = 0; i < p->n_inputs; i++) {
    if (p->inputs[i].var->type->dtype != DAMO_FLOAT64) return false;
  }
  for (int64_t i = 0; i < p->n_outputs; i++) {
    if (p->outputs[i].type->dtype != DAMO_FLOAT64) return false;
  }
  return true;
}

/* Whether inputs and results are Arrays that a call reads and writes as they are. An input that is no operand would not be
 * checked. A borrowed result stays in its cell. */
static bool are_arrays(const damo_function *f, const fn_direct *d) {
  const fn_program *p = f->program;
  for (int64_t i = 0; i < p->n_inputs; i++) {
    const fn_input *in = &p->inputs[i];
    bool read = false;
    for (int k = 0; k < d->n_operands; k++) read = read || d->place[k] == i;
    if (!read || !type_is_tensor(in->var->type) || in->mutable_ || in->destroyed) return false;
  }
  for (int64_t i = 0; i < p->n_outputs; i++) {
    if (!type_is_tensor(p->outputs[i].type) || p->outputs[i].borrow || p->outputs[i].copy) return false;
  }
  return true;
}

fn_direct function_direct(const damo_function *f) {
  const fn_program *p = f->program;
  const fn_direct none = {.t = NULL};
  if (!function_is_pure(f) || !function_is_one_thunk(&f->frame)) return none;
  const thunk *t = p->vm.thunks[0];
  if (t->node == NULL || t->n_out != p->n_outputs || t->n_in + t->n_out > FN_DIRECT_MOST ||
      p->n_inputs + p->n_outputs > FN_DIRECT_MOST)
    return none;
  const op_def *def = t->node->op->def;
  fn_direct d = {.t = t, .n_operands = (int8_t)(t->n_in + t->n_out)};
  for (int i = 0; i < t->n_in; i++) d.place[i] = (int8_t)direct_input(p, t, i);
  for (int o = 0; o < t->n_out; o++) {
    const int r = direct_result(p, t, o);
    if (r < 0) return none;
    d.place[t->n_in + o] = (int8_t)(p->n_inputs + r);
  }
  d.doubles = def->perform_at != NULL && are_doubles(f);
  d.again = def->perform_again != NULL && t->node->op->destroy_map == NULL && are_arrays(f, &d);
  return d;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Whether a call may be made that neither looks whether it must end nor counts. */
static bool is_ready(const damo_function *f) {
  return !f->running && !f->freed && f->profile == NULL && !ctx_is_due(f->obj.ctx) &&
         rounding_is_default(f->program->reproducible);
}

bool function_run_at(damo_function *f, const fn_direct *d, char *const *numbers) {
  const cell *cells = f->frame.frame.cells;
  char *at[FN_DIRECT_MOST];
  if (!d->doubles || !is_ready(f)) return false;
  for (int i = 0; i < d->n_operands; i++)
    at[i] = d->place[i] >= 0 ? numbers[d->place[i]] : ((const damo_array *)cells[d->t->in[i]])->data;
  if (!d->t->node->op->def->perform_at(d->t, &f->frame.frame, at)) return false;
  f->n_calls++;
  return true;
}

static bool is_of_type(const damo_array *a, const damo_type *t) { return a->dtype == t->dtype && a->ndim == t->ndim; }

/* Whether the arrays of results lie apart from all operands and each other. */
static bool lie_apart(damo_array *const *operands, int n_in, int n) {
  for (int o = n_in; o < n; o++) {
    for (int i = 0; i < o; i++) {
      if (operands[o] != NULL && operands[i] != NULL && array_may_overlap(operands[o], operands[i])) return false;
    }
  }
  return true;
}

/* Puts the results that a call is to write into after the inputs: targets, and for 0-d ones the frame's arrays. */
static bool place_targets(const damo_function *f, const fn_direct *d, damo_array *const *results,
                          damo_array **operands) {
  const fn_program *p = f->program;
  for (int i = d->t->n_in; i < d->n_operands; i++) {
    const int64_t r = d->place[i] - p->n_inputs;
    const damo_type *type = p->outputs[r].type;
    operands[i] = results[r];
    if (operands[i] == NULL && type->ndim > 0) continue;
    if (operands[i] != NULL) {
      if (!is_of_type(operands[i], type) || !array_takes_writes(operands[i])) return false;
      continue;
    }
    operands[i] = (damo_array *)f->frame.frame.cells[p->outputs[r].cell];
    if (operands[i] == NULL || !is_of_type(operands[i], type) || !array_is_exclusive(operands[i])) return false;
  }
  return true;
}

bool function_run_again(damo_function *f, const fn_direct *d, damo_array *const *args, damo_array **results) {
  const fn_program *p = f->program;
  const cell *cells = f->frame.frame.cells;
  damo_array *operands[FN_DIRECT_MOST];
  if (!d->again || !is_ready(f)) return false;
  for (int i = 0; i < d->t->n_in; i++) {
    const int place = d->place[i];
    operands[i] = place >= 0 ? args[place] : (damo_array *)cells[d->t->in[i]];
    if (place >= 0 && !is_of_type(operands[i], p->inputs[place].var->type)) return false;
  }
  if (!place_targets(f, d, results, operands) || !lie_apart(operands, d->t->n_in, d->n_operands)) return false;
  if (!d->t->node->op->def->perform_again(d->t, &f->frame.frame, operands)) return false;
  for (int i = d->t->n_in; i < d->n_operands; i++) results[d->place[i] - p->n_inputs] = operands[i];
  f->n_calls++;
  return true;
}
