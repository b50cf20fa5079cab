/* sparse_value_wide: the value loops with int64 indices. */
#include <string.h>

#include "sparse_arith.h"
#include "sparse_value.h"

#define I int64_t
#define IX w
#include "sparse_types.h"

const sparse_value_fns *const sparse_value_wide[DAMO_N_DTYPES] = {
    &value_fns_w_b8,  &value_fns_w_i8,  &value_fns_w_i16, &value_fns_w_i32, &value_fns_w_i64,
    &value_fns_w_u8,  &value_fns_w_u16, &value_fns_w_u32, &value_fns_w_u64, &value_fns_w_f32,
    &value_fns_w_f64, &value_fns_w_c64, &value_fns_w_c128};
