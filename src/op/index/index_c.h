/* index_c: op_def.emit_c of the index Ops. */
#ifndef DAMO_OP_INDEX_INDEX_C_H
#define DAMO_OP_INDEX_INDEX_C_H

#include "graph/c_emit.h"

damo_status subtensor_emit_c(c_emit *e, const damo_apply *node);
damo_status advsubtensor_emit_c(c_emit *e, const damo_apply *node);
damo_status index_write_emit_c(c_emit *e, const damo_apply *node);

#endif
