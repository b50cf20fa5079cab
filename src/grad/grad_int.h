/* grad_int.h: what reverse and forward mode share. */
#ifndef DAMO_GRAD_INT_H
#define DAMO_GRAD_INT_H

#include "grad.h"

/* connected[i * n_out + o], as the op declares. */
void grad_connections(const damo_apply *node, bool *connected);

#endif
