/* spectra.c: one decomposition where the values are asked for with and without the vectors, as by a function of
 * eigenvalues and its gradient; values alone where nothing reads the vectors. */
#include "op/op.h"
#include "rewrite_int.h"

/* A class of values, and the one that gives them as an output beside vectors. */
typedef struct spectral_pair {
  const op_def *values, *both;
  int output;
} spectral_pair;

static const spectral_pair spectral_pairs[] = {
    {&svdvals_def, &svd_def, 1}, {&eigvalsh_def, &eigh_def, 0}, {&eigvals_def, &eig_def, 0}};
#define N_PAIRS ((int)(sizeof spectral_pairs / sizeof *spectral_pairs))

static bool same_prop(const damo_op *x, const damo_op *y, const char *name) {
  return prop_equal(op_prop(x, name), op_prop(y, name));
}

/* Whether something reads a factor of the node. */
static bool vectors_are_read(const damo_fgraph *fg, const damo_apply *node, const spectral_pair *pair) {
  for (int o = 0; o < node->n_out; o++) {
    const fg_clients *c = o != pair->output ? fgraph_clients(fg, node->out[o]) : NULL;
    if (c != NULL && c->n > 0) return true;
  }
  return false;
}

static damo_status values_of_both(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  for (const spectral_pair *pair = spectral_pairs; pair < spectral_pairs + N_PAIRS; pair++) {
    if (node->op->def != pair->values) continue;
    const fg_clients *c = fgraph_clients(fg, node->in[0]);
    for (int64_t k = 0; c != NULL && k < c->n; k++) {
      const damo_apply *other = c->at[k].node;
      if (other == NULL || other->op->def != pair->both || !vectors_are_read(fg, other, pair)) continue;
      if (same_prop(node->op, other->op, "lower") && same_prop(node->op, other->op, "on_fail"))
        return rule_give(b, repl, did, other->out[pair->output]);
    }
  }
  return b->status;
}

static damo_status values_alone(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  for (const spectral_pair *pair = spectral_pairs; pair < spectral_pairs + N_PAIRS; pair++) {
    if (node->op->def != pair->both || vectors_are_read(fg, node, pair)) continue;
    damo_var *values = build_values_alone(b, node);
    repl[pair->output] = values;
    *did = values != NULL;
  }
  return b->status;
}

const rewrite_rule spectral_rules[] = {
    {.name = "spectrum_of_decomposition",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize linalg",
     TRACKS(&svdvals_def, &eigvalsh_def, &eigvals_def),
     .local = values_of_both},
    {.name = "spectrum_alone",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize linalg",
     TRACKS(&svd_def, &eigh_def, &eig_def),
     .local = values_alone},
    {.name = NULL},
};
