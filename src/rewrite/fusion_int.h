/* fusion_int: what fusion.c (Loops of groups of nodes) and fusion_groups.c (which nodes go together) share. */
#ifndef DAMO_REWRITE_FUSION_INT_H
#define DAMO_REWRITE_FUSION_INT_H

#include "op/elem/loop_op.h"
#include "op/op.h"
#include "rewrite_int.h"

typedef enum fusion_kind {
  FUSION_NONE,
  FUSION_ELEMWISE,
  FUSION_FOLD,  /* a reduction that a Loop can do, or a Pick: one entry of each row */
  FUSION_PLACE, /* zeros but for one entry a row: PickGrad, OneHot */
  FUSION_SHIFT  /* a DimShuffle that adds axes of length 1, or drops such */
} fusion_kind;

typedef struct fusion_node {
  damo_apply *node;
  fusion_kind kind;
  uint32_t space; /* of its result; of a reduction: of what it reduces */
  /* of what has one value a row of another space, and of a reduction whose result is read there again: that space, and
   * the axes of a row as bits; else 0 */
  uint32_t row_space;
  uint32_t row_axes;
  int32_t shape;     /* number of the shape of its result; of a reduction: of what it reduces */
  int32_t row_shape; /* the same of what has row_space */
  int32_t region;    /* of graph/region.h: nodes of different regions stay apart */
  int32_t unit;      /* nodes of one unit have one level; the first node stands for it */
  int32_t more;      /* the next node of the unit, -1 */
  bool splits;       /* of the node that stands for a unit: its nodes are to be units of their own */
  int32_t edges;     /* of the node that stands for the unit: edges that wait for other units */
  int32_t level;
  int32_t group; /* a node of the same group, nearer to the one that stands for it; itself: that one */
  int32_t next;  /* the next node of the group in dependency order, -1 */
  int32_t last;  /* of the node that stands for the group: the last of its nodes */
  int32_t
      draft; /* number of the last draft that it is in, and its part there, from 1 on; of a DimShuffle its operand's */
  int32_t part;
} fusion_node;

typedef struct fusion {
  damo_fgraph *fg;
  ptrvec order;
  int32_t *units; /* units in dependency order */
  int32_t n_units;
  map shapes;    /* damo_var* → number of its shape */
  int32_t *same; /* of each number one of the same shape, itself in the end */
  int32_t n_shapes, most_shapes;
  uint64_t pass; /* the nodes have notes of it: their places in the order */
  fusion_node *nodes;
} fusion;

/* Finds the nodes of the graph and their groups. */
damo_status fusion_find_groups(fusion *f, damo_fgraph *fg);
void fusion_clear(fusion *f);

/* The node's place in the order; -1: it has none, or there is no node. */
static inline int32_t fusion_place(const fusion *f, const damo_apply *node) {
  return node != NULL && node->pass == f->pass ? node->note : -1;
}

static inline fusion_node *fusion_node_of(const fusion *f, const damo_apply *node) {
  const int32_t k = fusion_place(f, node);
  return k >= 0 ? &f->nodes[k] : NULL;
}

/* The rank of a space. */
int space_rank(uint32_t space);
/* Which operand of a Pick, PickGrad or OneHot has the positions; -1: of another node. */
int position_operand(const damo_apply *node);
/* The axes that a FUSION_FOLD is over, as bits. */
uint32_t fold_axes(const damo_apply *node);
/* Whether these are the last axes of that rank. */
bool axes_are_last(uint32_t axes, int ndim);

#endif
