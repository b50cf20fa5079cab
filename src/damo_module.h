/* damo_module.h: damo.h for a Lua module in C that is loaded beside damo.core.
 *
 * The Lua module damo.core shows the linker none of its functions, so a second module can't be linked with them. It
 * includes this header instead of damo.h, calls damo_module_open first in its luaopen_…, and from then on uses the
 * functions of damo.h by their names: each stands for an entry of a table that damo.core hands over. One file of the
 * module defines DAMO_MODULE_DEFINE before it includes this header. Lua's headers are included before it.
 *
 * The module must be built for the same version of damo, which damo_module_open checks. In a sandbox no module can be
 * opened.
 */
#ifndef DAMO_MODULE_H
#define DAMO_MODULE_H

#include <string.h>

#include "damo.h"

/* The functions of damo.h, sorted (sh make/check-symbols --write). */
/* clang-format off */
#define DAMO_FUNCTION_MAP(X) \
  X(apply_get_input) \
  X(apply_get_op) \
  X(apply_get_output) \
  X(apply_n_inputs) \
  X(apply_n_outputs) \
  X(array_data) \
  X(array_dtype) \
  X(array_from) \
  X(array_is_writeable) \
  X(array_item) \
  X(array_ndim) \
  X(array_new) \
  X(array_scalar) \
  X(array_shape) \
  X(array_size) \
  X(array_strides) \
  X(array_wrap) \
  X(as_array) \
  X(as_op) \
  X(as_sparse) \
  X(as_var) \
  X(bytes_free) \
  X(call) \
  X(call_all) \
  X(call_begin) \
  X(call_cancel) \
  X(call_props) \
  X(call_restart) \
  X(call_result) \
  X(call_step) \
  X(call_with) \
  X(compile) \
  X(compile_with) \
  X(constant) \
  X(constant_sparse) \
  X(csv_format) \
  X(csv_parse) \
  X(csv_parse_table) \
  X(csv_read) \
  X(csv_read_table) \
  X(csv_table_free) \
  X(csv_table_get_name) \
  X(csv_table_get_numbers) \
  X(csv_table_get_text) \
  X(csv_table_rows) \
  X(csv_table_size) \
  X(csv_write) \
  X(ctx_interrupt) \
  X(ctx_is_sandbox) \
  X(ctx_memory) \
  X(ctx_new) \
  X(ctx_release) \
  X(ctx_retain) \
  X(ctx_set_memory_cap) \
  X(ctx_set_print) \
  X(ctx_set_sandbox) \
  X(ctx_set_warning) \
  X(debugprint) \
  X(dtype_from_name) \
  X(dtype_name) \
  X(dtype_size) \
  X(error_get_node) \
  X(error_kind) \
  X(error_message) \
  X(error_op) \
  X(error_operands) \
  X(error_status) \
  X(fail) \
  X(from_token) \
  X(function_call) \
  X(function_call_values) \
  X(function_copy) \
  X(function_copy_to) \
  X(function_into) \
  X(function_n_inputs) \
  X(function_n_outputs) \
  X(function_restore) \
  X(function_shared_value) \
  X(function_shared_var) \
  X(function_snapshot) \
  X(function_token) \
  X(grad) \
  X(grad_undefined) \
  X(grad_with) \
  X(graph_format) \
  X(graph_free) \
  X(graph_get) \
  X(graph_new) \
  X(graph_of_function) \
  X(graph_parse) \
  X(graph_read) \
  X(graph_size) \
  X(graph_write) \
  X(image_format) \
  X(image_parse) \
  X(image_read) \
  X(image_write) \
  X(lop) \
  X(lua_get) \
  X(lua_get_context) \
  X(lua_push) \
  X(lua_raise) \
  X(lua_set_context) \
  X(mtx_format) \
  X(mtx_parse) \
  X(mtx_read) \
  X(mtx_write) \
  X(npy_format) \
  X(npy_map) \
  X(npy_parse) \
  X(npy_read) \
  X(npy_write) \
  X(npz_find) \
  X(npz_format) \
  X(npz_format_compressed) \
  X(npz_format_sparse) \
  X(npz_free) \
  X(npz_get_array) \
  X(npz_get_metadata) \
  X(npz_get_name) \
  X(npz_parse) \
  X(npz_parse_sparse) \
  X(npz_read) \
  X(npz_read_sparse) \
  X(npz_size) \
  X(npz_write) \
  X(npz_write_compressed) \
  X(npz_write_sparse) \
  X(number) \
  X(obj_ctx) \
  X(op_apply) \
  X(op_from_graph) \
  X(op_get_bool) \
  X(op_get_int) \
  X(op_get_number) \
  X(op_get_string) \
  X(op_make) \
  X(op_name) \
  X(op_register) \
  X(op_user) \
  X(random_seed) \
  X(random_state) \
  X(release) \
  X(retain) \
  X(rop) \
  X(safetensors_format) \
  X(safetensors_parse) \
  X(safetensors_read) \
  X(safetensors_write) \
  X(shared) \
  X(shared_set) \
  X(shared_sparse) \
  X(shared_sparse_set) \
  X(shared_sparse_value) \
  X(shared_value) \
  X(sparse_dtype) \
  X(sparse_format) \
  X(sparse_from_array) \
  X(sparse_from_coo) \
  X(sparse_from_parts) \
  X(sparse_get_data) \
  X(sparse_get_indices) \
  X(sparse_get_indptr) \
  X(sparse_new) \
  X(sparse_nnz) \
  X(sparse_shape) \
  X(sparse_toarray) \
  X(sparse_with_data) \
  X(status_kind) \
  X(text_free) \
  X(thunk_ctx) \
  X(thunk_get_op) \
  X(thunk_give_sparse) \
  X(thunk_input) \
  X(thunk_input_sparse) \
  X(thunk_output) \
  X(thunk_output_inplace) \
  X(thunk_scratch) \
  X(thunk_state) \
  X(token_pin) \
  X(token_set_allocator) \
  X(token_unpin) \
  X(type_dtype) \
  X(type_is_sparse) \
  X(type_ndim) \
  X(type_pattern) \
  X(type_shape) \
  X(type_sparse) \
  X(type_sparse_like) \
  X(type_tensor) \
  X(var_get_name) \
  X(var_get_owner) \
  X(var_get_type) \
  X(var_new) \
  X(vectorize_graph)

/* clang-format on */

/* A pointer to each of them. */
typedef struct damo_functions {
  size_t size;         /* sizeof(damo_functions) of the library that filled it */
  const char *version; /* its DAMO_VERSION */
#define X(name) __typeof__(DAMO_SYMBOL(name)) *name;
  DAMO_FUNCTION_MAP(X)
#undef X
} damo_functions;

/* DAMO_MODULE_TABLE is defined by the library alone, in the file that fills the table. */
#ifndef DAMO_MODULE_TABLE

#ifdef DAMO_MODULE_DEFINE
const damo_functions *damo_module_functions;
#else
extern const damo_functions *damo_module_functions;
#endif

#undef DAMO_SYMBOL
#define DAMO_SYMBOL(name) (damo_module_functions->name)

/* Loads damo and takes its functions. Raises a Lua error if damo is of another version. */
static inline void damo_module_open(lua_State *L) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "damo");
  lua_call(L, 1, 0);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "damo.core");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "system");
  lua_getfield(L, -1, "functions");
  lua_call(L, 0, 1);
  const damo_functions *functions = (const damo_functions *)lua_touserdata(L, -1);
  lua_pop(L, 3);
  if (functions == NULL || strcmp(functions->version, DAMO_VERSION) != 0 || functions->size != sizeof *functions) {
    luaL_error(L,
               "this module is built for damo %s, and damo.core is of another version or build: build the module anew",
               DAMO_VERSION);
    return;
  }
  damo_module_functions = functions;
}

#endif
#endif
