/* hessenberg: Hessenberg: A = Q·H·Qᴴ with a unitary Q and an H that is 0 below its first subdiagonal, by Householder
 * reflections; of a matrix of order 2 or less A itself. */
#include "compose.h"
#include "core_c.h"
#include "decompose.h"
#include "schur_form.h"

#include <string.h>

typedef struct hessenberg_props {
  prop_value on_fail;
} hessenberg_props;

/* ---- LAPACK ------------------------------------------------------------------------------------------------------- */

typedef void hessenberg_reduce(lapack_in n, lapack_in ilo, lapack_in ihi, void *a, lapack_in lda, void *tau, void *work,
                               lapack_in lwork, lapack_int *info);

#if DAMO_BLAS
extern hessenberg_reduce sgehrd_, dgehrd_, cgehrd_, zgehrd_, sorghr_, dorghr_, cunghr_, zunghr_;
static hessenberg_reduce *const gehrd_of[4] = {sgehrd_, dgehrd_, cgehrd_, zgehrd_};
static hessenberg_reduce *const orghr_of[4] = {sorghr_, dorghr_, cunghr_, zunghr_};
#else
/* The class is refused before it runs (core_class.needs_lapack). */
static hessenberg_reduce *const gehrd_of[4], *const orghr_of[4];
#endif

static int hessenberg_place(damo_dtype t) {
  return t == DAMO_FLOAT32 ? 0 : t == DAMO_FLOAT64 ? 1 : t == DAMO_COMPLEX64 ? 2 : 3;
}

typedef struct hessenberg_space {
  char *tau, *work;
  lapack_int lwork;
  size_t total;
} hessenberg_space;

static hessenberg_space hessenberg_plan(const core_call *c) {
  carving w = {.data = c->work};
  const lapack_int n = (lapack_int)c->out[0].rows, one = 1, query = -1, ld = n > 0 ? n : 1;
  const int at = hessenberg_place(c->dtype);
  hessenberg_space s = {.lwork = 1};
  double answer[2] = {1, 0};
  lapack_int info = 0;
  if (n > 0) {
    gehrd_of[at](&n, &one, &n, NULL, &ld, NULL, answer, &query, &info);
    s.lwork = lapack_work_length(c->dtype, answer);
    orghr_of[at](&n, &one, &n, NULL, &ld, NULL, answer, &query, &info);
    const lapack_int more = lapack_work_length(c->dtype, answer);
    if (more > s.lwork) s.lwork = more;
  }
  s.tau = carve(&w, (size_t)ld * dtype_size(c->dtype));
  s.work = carve(&w, (size_t)s.lwork * dtype_size(c->dtype));
  s.total = w.used;
  return s;
}

static size_t hessenberg_workspace(const core_call *c) { return hessenberg_plan(c).total; }

static damo_status hessenberg_run(core_call *c) {
  const core_mat *h = &c->out[0], *q = &c->out[1];
  const lapack_int n = (lapack_int)h->rows, ldh = (lapack_int)h->ld, ldq = (lapack_int)q->ld, one = 1;
  const int at = hessenberg_place(c->dtype);
  const size_t size = dtype_size(c->dtype);
  lapack_int info = 0;
  if (n == 0) return DAMO_OK;
  const hessenberg_space s = hessenberg_plan(c);
  DAMO_TRY(spectral_check_finite(c, h));
  gehrd_of[at](&n, &one, &n, h->data, &ldh, s.tau, s.work, &s.lwork, &info);
  DAMO_TRY(spectral_outcome(c, info, "LAPACK refuses the matrix"));
  for (int64_t j = 0; j < n; j++) {
    char *column = h->data + j * h->cs;
    memcpy(q->data + j * q->cs, column, (size_t)n * size);
    if (j + 2 < n) memset(column + (size_t)(j + 2) * size, 0, (size_t)(n - j - 2) * size);
  }
  orghr_of[at](&n, &one, &n, q->data, &ldq, s.tau, s.work, &s.lwork, &info);
  return spectral_outcome(c, info, "LAPACK refuses the matrix");
}

static const core_class hessenberg_class = {
    .func = "hessenberg",
    .needs_lapack = core_needs_lapack,
    .form = {.signature = "(n,n)->(n,n),(n,n)", .in_layout = "-", .out_layout = "cc", .from = "1-"},
    .workspace = hessenberg_workspace,
    .run = hessenberg_run,
    .emit_c = hessenberg_emit_c,
    .emits_complex = true};

static damo_status hessenberg_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node;
  if (gout[0] != NULL || gout[1] != NULL)
    gin[0] = build_null(b, "the Hessenberg form has no gradient here; write the function without it");
  return b->status;
}

const op_def hessenberg_def = {
    .name = "Hessenberg",
    .library = "LAPACK",
    .doc = "Hessenberg forms of a stack of square matrices",
    .props = PROPS(PROP_WORD_OR_NIL(hessenberg_props, on_fail, "nan")),
    .n_in = 1,
    .n_out = 2,
    CORE_OP(hessenberg_class),
    .grad = hessenberg_grad,
    .emit_c = core_emit_c,
    OP_CHECK(hessenberg_check),
};

/* ---- Functions ------------------------------------------------------------------------------------------------------ */

typedef struct hessenberg_options {
  prop_value calc_q, on_fail;
} hessenberg_options;

static damo_status fn_hessenberg(build *b, const fn_args *a, ptrvec *out) {
  const hessenberg_options *o = FN_OPTIONS(a, hessenberg_options);
  hessenberg_props props = {.on_fail = prop_nil()};
  if (!core_on_fail(b, a, o->on_fail, &props.on_fail)) return b->status;
  const damo_apply *node = build_core(b, &hessenberg_def, &props, a->in, 1);
  if (node == NULL) return b->status;
  DAMO_TRY(ptrvec_push(out, node->out[0]));
  return prop_bool_or(o->calc_q, false) ? ptrvec_push(out, node->out[1]) : b->status;
}

const op_func linalg_hessenberg_funcs[] = {
    {.name = "linalg.hessenberg",
     .operands = "a",
     .options = OPTIONS(OPT(hessenberg_options, calc_q, OPT_BOOL), OPT(hessenberg_options, on_fail, OPT_STR)),
     .call = fn_hessenberg,
     .no_method = true,
     .doc = "h of a = q·h·qᴴ, which is 0 below its first subdiagonal, and with calc_q=true the unitary q"},
    {.name = NULL},
};

const op_def *const linalg_hessenberg_classes[] = {&hessenberg_def, NULL};
