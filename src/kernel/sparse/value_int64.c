/* value_int64: the value kernels with int64 indices. */
#include <string.h>

#include "arith.h"
#include "sparse_tables.h"

#define I int64_t
#define IX w
#include "types.h"

const sparse_value_fns *const sparse_value_wide[DAMO_N_DTYPES] = {
    &sp_value_fns_w_b8,  &sp_value_fns_w_i8,  &sp_value_fns_w_i16, &sp_value_fns_w_i32, &sp_value_fns_w_i64,
    &sp_value_fns_w_u8,  &sp_value_fns_w_u16, &sp_value_fns_w_u32, &sp_value_fns_w_u64, &sp_value_fns_w_f32,
    &sp_value_fns_w_f64, &sp_value_fns_w_c64, &sp_value_fns_w_c128};

#undef I
#undef IX
