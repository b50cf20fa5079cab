/* reducers_base: the reducers for every machine of an architecture. */
#define ISA base
#include "reducers_body.h"
