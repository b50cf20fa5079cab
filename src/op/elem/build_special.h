/* build_special: builders of the scalar ops of the error, gamma and Bessel functions.
 *
 * build_NAME(b, x …) applies the row NAME of special_rows.h to its operands, sparse ones included, as a script's call
 * does. The result is borrowed from the scope b.
 */
#ifndef DAMO_OP_ELEM_BUILD_SPECIAL_H
#define DAMO_OP_ELEM_BUILD_SPECIAL_H

#include "special_rows.h"
#include "builders.h"

#define X(name, operands, ...) SCALAR_DECLARE(operands, name)
SCALAR_SPECIAL_ROWS(X)
#undef X

#endif
