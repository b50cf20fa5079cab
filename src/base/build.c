/* build: the id of this build. make/build-id makes it of the sources and gives it to the compiler; a context holds it, and
 * so do the Lua files (lua/damo/build_id.lua), so that parts of two builds are told apart. */
#include "base.h"

#ifndef DAMO_BUILD_ID
#define DAMO_BUILD_ID "unknown"
#endif

const char ctx_build_id[CTX_BUILD_SIZE] = DAMO_BUILD_ID;
