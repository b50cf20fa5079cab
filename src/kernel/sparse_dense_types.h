/* sparse_dense_types: the dense products for both index types and all float and complex types, and their table.
 * Included with BYTES and TABLE. */
#define I int32_t
#define IX n
#include "sparse_dense_values.h"
#undef I
#undef IX
#define I int64_t
#define IX w
#include "sparse_dense_values.h"
#undef I
#undef IX

const sparse_dense_table TABLE = {{{matmat_n_f32, matmat_t_n_f32, sample_n_f32, both_n_f32},
                                   {matmat_n_f64, matmat_t_n_f64, sample_n_f64, both_n_f64},
                                   {matmat_n_c64, matmat_t_n_c64, NULL, NULL},
                                   {matmat_n_c128, matmat_t_n_c128, NULL, NULL}},
                                  {{matmat_w_f32, matmat_t_w_f32, sample_w_f32, both_w_f32},
                                   {matmat_w_f64, matmat_t_w_f64, sample_w_f64, both_w_f64},
                                   {matmat_w_c64, matmat_t_w_c64, NULL, NULL},
                                   {matmat_w_c128, matmat_t_w_c128, NULL, NULL}}};
