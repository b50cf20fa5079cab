/* base_int: what the files of base share with each other only. */
#ifndef DAMO_BASE_INT_H
#define DAMO_BASE_INT_H

#include "base.h"

/* After something that may have been the last: lets go what the context holds itself when the host's references are
 * gone, and frees the context when nothing is left. Does nothing inside a drain, whose end calls it again. */
void ctx_settle(damo_ctx *ctx);

#endif
