/* draw: the distributions of the random family. Private to this folder. */
#ifndef DAMO_OP_RANDOM_DRAW_H
#define DAMO_OP_RANDOM_DRAW_H

#include "op/op.h"
#include "kernel/isa.h"

typedef struct random_draw_props {
  prop_value dist, dtype, sized, ndim;
} random_draw_props;

#define DRAW_MAX_PARAMS 4
#define DRAW_BLOCK 512 /* values drawn at a time; even, since a Philox block gives two */

/* Makes values[0, n), draws of the base distribution, into draws of this one; params[i][k] is parameter i of value
 * k. */
typedef void (*draw_fn)(const draw_fns *fns, double *values, const double *const *params, int64_t n);
/* One value from its own words. */
typedef double (*draw_entry_fn)(philox_words *w, const double *params);
/* n values, value k from the words of block k. */
typedef void (*draw_block_fn)(const draw_fns *fns, const philox_state *at, double *values, const double *const *params,
                              int64_t n);

/* What a parameter must be. */
typedef enum param_demand {
  DEMAND_NONE,
  DEMAND_FINITE,
  DEMAND_POSITIVE,
  DEMAND_NONNEGATIVE,
  DEMAND_PROBABILITY, /* 0 to 1 */
  DEMAND_CHANCE,      /* the same without 0 */
  DEMAND_COUNT,       /* an integer >= 0 */
  DEMAND_RATE,        /* a mean of counts that a double holds */
} param_demand;

typedef struct distribution {
  const char *name;
  int n_params;
  const char *param[DRAW_MAX_PARAMS];
  double preset[DRAW_MAX_PARAMS];
  param_demand demand[DRAW_MAX_PARAMS];
  enum { BASE_UNIFORM, BASE_NORMAL, BASE_WORD, BASE_ENTRY } base;
  draw_fn draw;        /* BASE_UNIFORM, BASE_NORMAL; integers between both parameters: BASE_WORD */
  draw_entry_fn entry; /* BASE_ENTRY: values take as many words as they need */
  draw_block_fn block; /* BASE_ENTRY: in its place, where many values are drawn faster at once */
  damo_dtype dtype;    /* where the call gives none; DAMO_N_DTYPES: floatX */
  bool rounds_down;    /* to float32, so that a value below the upper bound stays below it */
  /* NULL, or why these parameters are not allowed; each has fulfilled its demand. */
  const char *(*refuse)(const double *params);
  /* Gradient of parameter i from the cotangent and the draw, as a formula; NULL, the function or its result:
   * undefined. */
  damo_var *(*grad)(build *b, damo_var *const *params, damo_var *draw, damo_var *g, int i);
} distribution;

extern const distribution distributions[]; /* ended by a NULL name */
const distribution *distribution_find(const char *name);

/* Operand 0 of a call, a generator's state: a Variable of RandomType, or a constant uint64 vector of 3, which becomes
 * one. */
damo_var *random_state_operand(build *b, const fn_args *a);
/* Blocks of the counter that a draw of n values takes. */
uint64_t draw_blocks(const distribution *d, int64_t n);
/* draw_c.c: op_def.emit_c of RandomDraw of that distribution; rank: of the draw when sized. */
struct c_emit;
damo_status draw_emit_c(struct c_emit *e, const damo_apply *node, const distribution *d, bool sized, int rank);

/* Writes a state into an Array made for one. */
void state_write(damo_array *a, const philox_state *s);

/* RandomDraw: in rng, parameters, then the size's dimensions (sized); out next state, draw. props dist dtype sized
 * ndim. */
/* Permutation: in rng, x; out next state, the positions 1…x for a scalar x, else x with its first axis shuffled. */
extern const op_def random_draw_def, permutation_def;

#endif
