/* grad_api.c: the part of damo.h that differentiates. Results are collected in a list of its own, so that the caller's
 * list is untouched if the call fails. */
#include <string.h>

#include "api.h"
#include "grad/grad.h"

/* Checks the public options and converts them to grad_options. */
static damo_status grad_api_options(damo_ctx *ctx, const char *func, const damo_grad_options *options,
                                    grad_options *o) {
  damo_grad_options given;
  DAMO_TRY(ctx_read_options(ctx, func, options, &given, sizeof given));
  DAMO_TRY(ctx_check_objs(ctx, func, "known_of", given.known_of, given.n_known, OBJ_VAR));
  DAMO_TRY(ctx_check_objs(ctx, func, "known", given.known, given.n_known, OBJ_VAR));
  DAMO_TRY(ctx_check_objs(ctx, func, "consider_constant", given.consider_constant, given.n_consider_constant, OBJ_VAR));
  if ((unsigned)given.disconnected_inputs > DAMO_DISCONNECTED_IGNORE ||
      (unsigned)given.return_disconnected > DAMO_RETURN_DISCONNECTED) {
    return ctx_fail(ctx, DAMO_EVALUE, "%s: disconnected_inputs or return_disconnected is none of its values", func);
  }
  *o = (grad_options){.known = given.known,
                      .known_of = given.known_of,
                      .n_known = given.n_known,
                      .constant = given.consider_constant,
                      .n_constant = given.n_consider_constant,
                      .disconnected_inputs = (disconnected_mode)given.disconnected_inputs,
                      .null_gradients_return = given.null_gradients_return,
                      .return_disconnected = (return_disconnected)given.return_disconnected};
  return DAMO_OK;
}

/* Sets out to the gradients of cost, which may be NULL. */
static damo_status grad_api_reverse(damo_ctx *ctx, damo_var *cost, damo_var *const *wrt, int64_t n,
                                    const grad_options *o, damo_var **out) {
  const size_t bytes = (size_t)n * sizeof *out;
  damo_var **found = mem_calloc(ctx, bytes);
  if (found == NULL) return DAMO_EMEMORY;
  damo_status s = grad_reverse(ctx, cost, wrt, n, o, found);
  if (s == DAMO_OK && n > 0) memcpy(out, found, bytes);
  mem_free(ctx, found, bytes);
  return s;
}

static damo_status grad_api_check(damo_ctx *ctx, const char *func, damo_var *const *wrt, int64_t n, damo_var **out) {
  DAMO_TRY(ctx_check_objs(ctx, func, "wrt", wrt, n, OBJ_VAR));
  return ctx_check_list(ctx, func, "out", out, n);
}

damo_status damo_grad(damo_ctx *ctx, damo_var *cost, damo_var *const *wrt, int64_t n, damo_var **out) {
  DAMO_TRY(ctx_check_obj(ctx, "damo_grad", "cost", cost, OBJ_VAR));
  DAMO_TRY(grad_api_check(ctx, "damo_grad", wrt, n, out));
  return grad_api_reverse(ctx, cost, wrt, n, NULL, out);
}

damo_status damo_grad_with(damo_ctx *ctx, damo_var *cost, damo_var *const *wrt, int64_t n,
                           const damo_grad_options *options, damo_var **out) {
  static const char func[] = "damo_grad_with";
  grad_options o;
  DAMO_TRY(grad_api_options(ctx, func, options, &o));
  if (cost != NULL || o.n_known == 0) DAMO_TRY(ctx_check_obj(ctx, func, "cost", cost, OBJ_VAR));
  DAMO_TRY(grad_api_check(ctx, func, wrt, n, out));
  return grad_api_reverse(ctx, cost, wrt, n, &o, out);
}

damo_status damo_lop(damo_ctx *ctx, damo_var *const *f, int64_t n_f, damo_var *const *wrt, int64_t n,
                     damo_var *const *output_grads, damo_var **out) {
  static const char func[] = "damo_lop";
  DAMO_TRY(ctx_check_objs(ctx, func, "f", f, n_f, OBJ_VAR));
  DAMO_TRY(ctx_check_objs(ctx, func, "output_grads", output_grads, n_f, OBJ_VAR));
  DAMO_TRY(grad_api_check(ctx, func, wrt, n, out));
  const grad_options o = {
      .known_of = f, .known = output_grads, .n_known = n_f, .disconnected_inputs = DISCONNECTED_IGNORE};
  return grad_api_reverse(ctx, NULL, wrt, n, &o, out);
}

damo_status damo_rop(damo_ctx *ctx, damo_var *const *f, int64_t n_f, damo_var *const *wrt, int64_t n,
                     damo_var *const *eval_points, const damo_grad_options *options, damo_var **out) {
  static const char func[] = "damo_rop";
  grad_options o;
  DAMO_TRY(ctx_check_objs(ctx, func, "f", f, n_f, OBJ_VAR));
  DAMO_TRY(ctx_check_objs(ctx, func, "wrt", wrt, n, OBJ_VAR));
  DAMO_TRY(ctx_check_objs(ctx, func, "eval_points", eval_points, n, OBJ_VAR));
  DAMO_TRY(grad_api_options(ctx, func, options, &o));
  DAMO_TRY(ctx_check_list(ctx, func, "out", out, n_f));
  const size_t bytes = (size_t)n_f * sizeof *out;
  damo_var **found = mem_calloc(ctx, bytes);
  if (found == NULL) return DAMO_EMEMORY;
  damo_status s = grad_forward(ctx, f, n_f, wrt, eval_points, n, &o, found);
  if (s == DAMO_OK && n_f > 0) memcpy(out, found, bytes);
  mem_free(ctx, found, bytes);
  return s;
}
