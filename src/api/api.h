/* api: the door: damo_ctx_new, which registers every layer and op family, and the public functions of damo.h that stand
 * for graph, grad and compile. */
#ifndef DAMO_API_H
#define DAMO_API_H

#include "../compile/compile.h"

#endif
