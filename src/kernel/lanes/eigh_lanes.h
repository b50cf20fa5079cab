/* eigh_lanes: eigenvalues and eigenvectors of many small symmetric matrices, one a lane. */
#ifndef DAMO_KERNEL_LANES_EIGH_LANES_H
#define DAMO_KERNEL_LANES_EIGH_LANES_H

#include "kernel/isa.h"

extern const eigh_lanes_fns eigh_lanes_base;
#if defined(__x86_64__)
extern const eigh_lanes_fns eigh_lanes_avx2, eigh_lanes_avx512;
#endif

#endif
