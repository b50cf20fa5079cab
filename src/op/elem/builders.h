/* builders: how the prototypes of build_NAME are made from the rows of scalar ops. Part of build_*.h. */
#ifndef DAMO_OP_ELEM_BUILDERS_H
#define DAMO_OP_ELEM_BUILDERS_H

#include "graph/graph.h"

/* The prototypes by a row's kind of operands. */
#define SCALAR_DECLARE_UNARY(name) damo_var *build_##name(build *b, damo_var *x);
#define SCALAR_DECLARE_BINARY(name) damo_var *build_##name(build *b, damo_var *x, damo_var *y);
#define SCALAR_DECLARE_CHOICE(name) damo_var *build_##name(build *b, damo_var *condition, damo_var *x, damo_var *y);
#define SCALAR_DECLARE_BOUNDS(name) damo_var *build_##name(build *b, damo_var *x, damo_var *min, damo_var *max);
#define SCALAR_DECLARE_PARTS(name) damo_var *build_##name(build *b, damo_var *re, damo_var *im);
#define SCALAR_DECLARE_SCALES(name) damo_var *build_##name(build *b, damo_var *x, damo_var *n);
/* Special functions, whose operands have names of their own. */
#define SCALAR_DECLARE_PARAMETER(name) damo_var *build_##name(build *b, damo_var *a, damo_var *x);
#define SCALAR_DECLARE_QUANTILE(name) damo_var *build_##name(build *b, damo_var *a, damo_var *p);
#define SCALAR_DECLARE_PAIR(name) damo_var *build_##name(build *b, damo_var *a, damo_var *second);
#define SCALAR_DECLARE_BETA(name) damo_var *build_##name(build *b, damo_var *a, damo_var *second, damo_var *x);
#define SCALAR_DECLARE_BETA_QUANTILE(name) damo_var *build_##name(build *b, damo_var *a, damo_var *second, damo_var *p);
#define SCALAR_DECLARE_STEPS(name) damo_var *build_##name(build *b, damo_var *x, damo_var *m);
#define SCALAR_DECLARE_CHOOSE(name) damo_var *build_##name(build *b, damo_var *n, damo_var *k);
#define SCALAR_DECLARE_OWEN(name) damo_var *build_##name(build *b, damo_var *h, damo_var *a);
#define SCALAR_DECLARE_ORDER(name) damo_var *build_##name(build *b, damo_var *n, damo_var *x);
#define SCALAR_DECLARE_REAL_ORDER(name) damo_var *build_##name(build *b, damo_var *v, damo_var *x);
#define SCALAR_DECLARE_ZETA(name) damo_var *build_##name(build *b, damo_var *s, damo_var *q);
#define SCALAR_DECLARE_ANGLE(name) damo_var *build_##name(build *b, damo_var *phi, damo_var *m);
#define SCALAR_DECLARE_MODULUS(name) damo_var *build_##name(build *b, damo_var *u, damo_var *m);
#define SCALAR_DECLARE_KUMMER(name) damo_var *build_##name(build *b, damo_var *a, damo_var *second, damo_var *x);
#define SCALAR_DECLARE_HYPER(name) \
  damo_var *build_##name(build *b, damo_var *a, damo_var *second, damo_var *c, damo_var *x);
/* The row cast has an option; elemwise.c has its builder, build_cast. */
#define SCALAR_DECLARE_CASTS(name)
#define SCALAR_DECLARE(operands, name) SCALAR_DECLARE_##operands(name)

#endif
