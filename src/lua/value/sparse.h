/* sparse.h: what the files lua_sparse*.c share. */
#ifndef DAMO_LUA_VALUE_SPARSE_H
#define DAMO_LUA_VALUE_SPARSE_H

#include "lua/binding_int.h"

/* Add to the table at the top: csr csc coo from_dense eye diags random (sparse_make.c); SparseTensorType,
 * csr_matrix …, as_sparse_variable … (lua/graph/sparse_var.c). */
void bind_add_sparse_values(lua_State *L);
void bind_add_sparse_makers(lua_State *L);
/* "csr" or "csc" at idx; nil: otherwise. Raises an error that names func. */
damo_format bind_check_format(lua_State *L, int idx, damo_format otherwise, const char *func);
/* Leaves `most` values on the stack; a type error where there are more that are not nil. forms: what func takes. */
void bind_check_arity(lua_State *L, int most, const char *func, const char *forms);
/* "int32" or "int64" of the option itype; DAMO_INT32 when absent. */
damo_dtype bind_option_itype(lua_State *L, int options, const char *func);
/* The two lengths of the option shape into shape; false when absent. allow_unknown: false stands for -1. */
bool bind_option_shape2(lua_State *L, int options, bool allow_unknown, int64_t *shape, const char *func);

#endif
