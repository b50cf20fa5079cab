/* vectors: the Ops behind draws of positions, vectors and matrices. Private to src/op/random.
 *
 * All have core signatures (op/linalg/core.h). `word` is a random integer an entry of the stack, from which the entry's
 * own stream is seeded, so that no entry depends on another.
 */
#ifndef DAMO_OP_RANDOM_VECTORS_H
#define DAMO_OP_RANDOM_VECTORS_H

#include "op/linalg/core.h"

extern const op_def categorical_def; /* word, p: a position from 1 */
extern const op_def multinomial_def; /* word, n, p: counts */
extern const op_def dirichlet_def;   /* word, a: the draw, and the logarithms of the gamma draws that it is made of */
extern const op_def choice_def;      /* word, weights, as many as wanted: distinct positions, in the order of drawing */
/* The factor L of L·Lᵀ by damo's own arithmetic, for draws; a column whose pivot is 0 is 0. */
extern const op_def draw_factor_def;
extern const op_def draw_transform_def; /* L, z: L·z for a lower triangle L */
extern const op_def bartlett_def;       /* word, df, a matrix of the size: the triangle of Bartlett's decomposition */
extern const op_def draw_square_def;    /* L, B: (L·B)·(L·B)ᵀ for lower triangles */

#endif
