/* build_math: builders of the scalar ops of exponentials, logarithms, angles and hyperbolic functions.
 *
 * build_NAME(b, x …) applies the row NAME of math_rows.h to its operands, sparse ones included, as a script's call
 * does. The result is borrowed from the scope b.
 */
#ifndef DAMO_OP_ELEM_BUILD_MATH_H
#define DAMO_OP_ELEM_BUILD_MATH_H

#include "math_rows.h"
#include "builders.h"

#define X(name, operands, ...) SCALAR_DECLARE(operands, name)
SCALAR_MATH_ROWS(X)
#undef X

#endif
