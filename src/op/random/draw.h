/* draw: the distributions of the random family. Private to random.c, draw.c, permutation.c. */
#ifndef DAMO_OP_RANDOM_DRAW_H
#define DAMO_OP_RANDOM_DRAW_H

#include "op/op.h"
#include "kernel/isa.h"

typedef struct random_draw_props {
  prop_value dist, dtype, sized, ndim;
} random_draw_props;

#define DRAW_MAX_PARAMS 2
#define DRAW_BLOCK 2048 /* values drawn at a time; even, since a Philox block gives two */

/* Makes values[0, n), draws of the base distribution, into draws of this one; params[i][k] is parameter i of value
 * k. */
typedef void (*draw_fn)(const draw_fns *fns, double *values, const double *const *params, int64_t n);

typedef struct distribution {
  const char *name;
  int n_params;
  const char *param[DRAW_MAX_PARAMS];
  double preset[DRAW_MAX_PARAMS];
  enum { BASE_UNIFORM, BASE_NORMAL, BASE_WORD } base;
  draw_fn draw;     /* NULL for BASE_WORD: integers between both parameters */
  damo_dtype dtype; /* where the call gives none; DAMO_N_DTYPES: floatX */
  /* NULL, or why these parameters are not allowed. */
  const char *(*refuse)(const double *params);
  /* Gradient of parameter i from the cotangent and the draw, as a formula; NULL: undefined. */
  damo_var *(*grad)(build *b, damo_var *const *params, damo_var *draw, damo_var *g, int i);
} distribution;

extern const distribution distributions[]; /* ended by a NULL name */
const distribution *distribution_find(const char *name);

/* Operand 0 of a call, a generator's state: a Variable of RandomType, or a constant uint64 vector of 3, which becomes
 * one. */
damo_var *random_state_operand(build *b, const fn_args *a);
/* Writes a state into an Array made for one. */
void state_write(damo_array *a, const philox_state *s);

/* RandomDraw: in rng, parameters, then the size's dimensions (sized); out next state, draw. props dist dtype sized
 * ndim. */
/* Permutation: in rng, x; out next state, the positions 1…x for a scalar x, else x with its first axis shuffled. */
extern const op_def random_draw_def, permutation_def;

#endif
