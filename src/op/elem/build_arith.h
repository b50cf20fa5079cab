/* build_arith: builders of the scalar ops of arithmetic, comparison, logic, choice, rounding and complex parts.
 *
 * build_NAME(b, x …) applies the row NAME of arith_rows.h to its operands, sparse ones included, as a script's call
 * does. The result is borrowed from the scope b.
 */
#ifndef DAMO_OP_ELEM_BUILD_ARITH_H
#define DAMO_OP_ELEM_BUILD_ARITH_H

#include "arith_rows.h"
#include "builders.h"

#define X(name, operands, ...) SCALAR_DECLARE(operands, name)
SCALAR_ARITH_ROWS(X)
#undef X

#endif
