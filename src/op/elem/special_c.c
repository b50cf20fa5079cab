/* special_c: special functions as C expressions: by functions of libm where a few make them, else by the text of their
 * own kernels, which the file then carries. */
#include "elem_c.h"
#include "elem_int.h"
#include "kernel/elem/special_sets.h"

/* In float64. x, y, z, w: the operands. */
static const struct {
  const kernel_set *own;
  const char *name;
  const char *body; /* NULL: special_NAME of the operands */
  c_special group;
} specials[] = {
#define OWN(function, of) \
  { &special_set_##function, #function, NULL, C_SPECIAL_##of }
    {&special_set_xlogy, "xlogy", "x == 0 && y == y ? 0 : x * log(y)", C_N_SPECIALS},
    {&special_set_xlog1py, "xlog1py", "x == 0 && y == y ? 0 : x * log1p(y)", C_N_SPECIALS},
    {&special_set_entr, "entr", "x > 0 ? -x * log(x) : x == 0 ? 0 : x != x ? x : -(double)INFINITY", C_N_SPECIALS},
    {&special_set_logit, "logit", "x > 0.3 && x < 0.7 ? log1p(2 * (x - 0.5) / (0.5 - (x - 0.5))) : log(x / (1 - x))",
     C_N_SPECIALS},
    {&special_set_ndtr, "ndtr",
     "fabs(x) < 0.7 ? 0.5 + erf(x * 0.70710678118654752440) / 2 : erfc(-x * 0.70710678118654752440) / 2", C_N_SPECIALS},
    /* clang-format off */
    OWN(gammainc, GAMMA), OWN(gammaincc, GAMMA), OWN(gammainc_grad_a, GAMMA), OWN(gammainc_grad_aa, GAMMA), OWN(gammal, GAMMA), OWN(gammau, GAMMA),
    OWN(gammaincinv, GAMMA), OWN(gammainccinv, GAMMA), OWN(poch, GAMMA), OWN(binom, GAMMA), OWN(factorial, GAMMA),
    OWN(beta, BETA), OWN(betaln, BETA), OWN(betainc, BETA), OWN(betainc_grad_a, BETA), OWN(betainc_grad_b, BETA),
    OWN(betaincinv, BETA), OWN(betainc_grad_aa, BETA), OWN(betainc_grad_ab, BETA), OWN(betainc_grad_bb, BETA),
    OWN(log_ndtr, NORMAL), OWN(ndtri, NORMAL), OWN(ndtri_exp, NORMAL), OWN(sinc, NORMAL), OWN(owens_t, NORMAL),
    OWN(tetra_gamma, ZETA), OWN(hurwitz_zeta, ZETA), OWN(zeta_grad_s, ZETA), OWN(zeta_grad_ss, ZETA), OWN(riemann_zeta_grad_ss, ZETA), OWN(riemann_zeta, ZETA),
    OWN(riemann_zeta_grad, ZETA), OWN(polygamma, ZETA), OWN(expn, ZETA), OWN(expn_grad_n, ZETA), OWN(expn_grad_nn, ZETA), OWN(exp1, ZETA),
    OWN(expi, ZETA),
    OWN(lambertw_principal, ZETA), OWN(lambertw_lower, ZETA),
    OWN(i0, BESSEL), OWN(i1, BESSEL), OWN(i0e, BESSEL), OWN(i1e, BESSEL), OWN(j0, BESSEL), OWN(j1, BESSEL),
    OWN(k0, BESSEL), OWN(k1, BESSEL), OWN(y0, BESSEL), OWN(y1, BESSEL), OWN(jv, BESSEL), OWN(yv, BESSEL),
    OWN(iv, BESSEL), OWN(kv, BESSEL), OWN(ive, BESSEL), OWN(kve, BESSEL), OWN(jv_grad_v, BESSEL),
    OWN(yv_grad_v, BESSEL), OWN(ive_grad_v, BESSEL), OWN(kve_grad_v, BESSEL), OWN(jv_grad_vv, BESSEL),
    OWN(yv_grad_vv, BESSEL), OWN(ive_grad_vv, BESSEL), OWN(kve_grad_vv, BESSEL), OWN(spherical_jn, BESSEL),
    OWN(dawsn, INTEGRAL), OWN(sinint, INTEGRAL), OWN(cosint, INTEGRAL), OWN(sinhint, INTEGRAL), OWN(coshint, INTEGRAL),
    OWN(fresnels, INTEGRAL), OWN(fresnelc, INTEGRAL),
    OWN(airy_ai, AIRY), OWN(airy_ai_prime, AIRY), OWN(airy_bi, AIRY), OWN(airy_bi_prime, AIRY),
    OWN(hyp1f1, KUMMER), OWN(hyp1f1_grad_a, KUMMER), OWN(hyp1f1_grad_b, KUMMER),
    OWN(ellipkinc, ELLIPTIC), OWN(ellipeinc, ELLIPTIC), OWN(ellipdinc, ELLIPTIC), OWN(ellipkinc_grad_m, ELLIPTIC),
    OWN(jacobi_am, ELLIPTIC), OWN(jacobi_sn, ELLIPTIC), OWN(jacobi_cn, ELLIPTIC), OWN(jacobi_dn, ELLIPTIC),
    OWN(ellipk, ELLIPTIC), OWN(ellipe, ELLIPTIC), OWN(ellipd, ELLIPTIC), OWN(hyp2f1, ELLIPTIC),
    OWN(hyp2f1_grad_a, ELLIPTIC), OWN(hyp2f1_grad_b, ELLIPTIC), OWN(hyp2f1_grad_c, ELLIPTIC),
/* clang-format on */
#undef OWN
};

const char *emit_special(c_emit *e, const scalar_op *row, damo_dtype loop, const damo_dtype *in, const char *const *x,
                         damo_dtype to) {
  static const char *const parameters[] = {"", "double x", "double x, double y", "double x, double y, double z",
                                           "double x, double y, double z, double w"};
  static const char *const names[] = {"", "x", "x, y", "x, y, z", "x, y, z, w"};
  size_t k = 0;
  while (k < sizeof specials / sizeof *specials && specials[k].own != row->own) k++;
  if (k == sizeof specials / sizeof *specials || e->file->reproducible) {
    ce_refuse(e, "%s, a special function%s", row->name, e->file->reproducible ? ", in reproducible mode" : "");
    return "0";
  }
  const char *name = specials[k].name, *body = specials[k].body, *args = "";
  for (int i = 0; i < row->arity; i++) {
    const char *arg = ce_cast(e, in[i], ce_dtype(e, elemwise_operand_dtype(row, i, loop)), x[i]);
    args = ce_text(e, "%s%s%s", args, i > 0 ? ", " : "", arg);
  }
  loop = ce_dtype(e, loop);
  if (body == NULL) {
    e->file->specials |= 1u << specials[k].group;
    body = ce_text(e, "special_%s(%s)", name, names[row->arity]);
  }
  ce_helper(e, name, loop,
            ce_text(e, "static inline @ %s_~(%s) {\n  return (@)(%s);\n}\n", name, parameters[row->arity], body));
  return ce_cast(e, loop, to, ce_text(e, "%s_%s(%s)", name, ce_suffix(loop), args));
}
