/* system: op(A), the matrix itself ('n'), its transpose ('t') or its conjugate transpose ('h'), in the rules and
 * options of the Ops that solve op(A)·x = b. */
#include "decompose.h"
#include "op/shape/shape_int.h"

#include <string.h>

prop_value system_prop(char system) { return prop_str(system == 'n' ? "n" : system == 't' ? "t" : "h"); }
char system_of(prop_value v) { return v.kind == PROP_STR ? v.u.s[0] : 'n'; }

damo_var *build_of_system(build *b, char system, damo_var *d) {
  return system == 'n' ? d : system == 't' ? build_swap_last(b, d) : build_adjoint(b, d);
}

damo_var *build_adjoint_system(build *b, damo_var *a, char *system) {
  const char s = *system;
  const bool complex_a = a != NULL && dtype_is_complex(var_dtype(a));
  *system = s == 'n' ? (complex_a ? 'h' : 't') : 'n';
  return s == 't' ? build_conj_if_complex(b, a) : a;
}

/* x·yᴴ, of vectors or matrices. */
static damo_var *build_times_adjoint(build *b, damo_var *x, damo_var *y, bool vector) {
  if (x == NULL || y == NULL) return NULL;
  if (vector)
    return build_mul(b, build_as_columns(b, x), build_new_axis(b, build_conj_if_complex(b, y), var_ndim(y) - 1));
  return build_matmul(b, x, build_adjoint(b, y));
}

damo_var *build_system_gradient(build *b, char system, damo_var *g, damo_var *x, bool vector) {
  if (system == 'n') return build_neg(b, build_times_adjoint(b, g, x, vector));
  if (system == 'h') return build_neg(b, build_times_adjoint(b, x, g, vector));
  return build_neg(b, build_times_adjoint(b, build_conj_if_complex(b, x), build_conj_if_complex(b, g), vector));
}

damo_var *build_tangent_product(build *b, char system, damo_var *d, damo_var *x, bool vector) {
  d = build_of_system(b, system, d);
  return vector ? build_drop_columns(b, build_matmul(b, d, build_as_columns(b, x))) : build_matmul(b, d, x);
}

char system_option(build *b, const fn_args *a, prop_value option) {
  const char *s = prop_str_or(option, "");
  const int64_t n = option.kind == PROP_INT || option.kind == PROP_BOOL ? option.u.i : -1;
  if (option.kind == PROP_NIL || n == 0 || strcmp(s, "N") == 0 || strcmp(s, "n") == 0) return 'n';
  if (n == 1 || strcmp(s, "T") == 0 || strcmp(s, "t") == 0) return 't';
  if (n == 2 || strcmp(s, "C") == 0 || strcmp(s, "c") == 0 || strcmp(s, "H") == 0) return 'h';
  build_fail(b, DAMO_EVALUE, "%s: option 'trans' is 0 (\"N\"), 1 (\"T\") or 2 (\"C\")", a->func->name);
  return 0;
}

int vector_option(build *b, const fn_args *a, prop_value b_ndim, const damo_var *rhs) {
  if (b_ndim.kind == PROP_NIL) return type_is_tensor(rhs->type) && var_ndim(rhs) == 1;
  if (b_ndim.kind == PROP_INT && (b_ndim.u.i == 1 || b_ndim.u.i == 2)) return b_ndim.u.i == 1;
  build_fail(b, DAMO_EVALUE, "%s: option 'b_ndim' is 1 (vectors) or 2 (matrices)", a->func->name);
  return -1;
}
