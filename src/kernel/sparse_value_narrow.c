/* sparse_value_narrow: the value loops with int32 indices. */
#include <string.h>

#include "sparse_arith.h"
#include "sparse_value.h"

#define I int32_t
#define IX n
#include "sparse_types.h"

const sparse_value_fns *const sparse_value_narrow[DAMO_N_DTYPES] = {
    &value_fns_n_b8,  &value_fns_n_i8,  &value_fns_n_i16, &value_fns_n_i32, &value_fns_n_i64,
    &value_fns_n_u8,  &value_fns_n_u16, &value_fns_n_u32, &value_fns_n_u64, &value_fns_n_f32,
    &value_fns_n_f64, &value_fns_n_c64, &value_fns_n_c128};
