/* value_int32: the value kernels with int32 indices. */
#include <string.h>

#include "arith.h"
#include "sparse_tables.h"

#define I int32_t
#define IX n
#include "types.h"

const sparse_value_fns *const sparse_value_narrow[DAMO_N_DTYPES] = {
    &sp_value_fns_n_b8,  &sp_value_fns_n_i8,  &sp_value_fns_n_i16, &sp_value_fns_n_i32, &sp_value_fns_n_i64,
    &sp_value_fns_n_u8,  &sp_value_fns_n_u16, &sp_value_fns_n_u32, &sp_value_fns_n_u64, &sp_value_fns_n_f32,
    &sp_value_fns_n_f64, &sp_value_fns_n_c64, &sp_value_fns_n_c128};

#undef I
#undef IX
