/* sparse: declarations shared by the files about sparse matrices. */
#ifndef DAMO_LUA_VALUE_SPARSE_H
#define DAMO_LUA_VALUE_SPARSE_H

#include "lua/binding_int.h"

/* Both add to the table at the top: bind_add_sparse_values csr, csc, coo, from_dense, eye, diags and random_from
 * (sparse_make.c); bind_add_sparse_makers SparseTensorType, csr_matrix …, as_sparse_variable …
 * (lua/graph/sparse_var.c). */
void bind_add_sparse_values(lua_State *L);
void bind_add_sparse_makers(lua_State *L);
/* Reads "csr" or "csc" at idx; nil gives `otherwise`. Errors name func. */
damo_format bind_check_format(lua_State *L, int idx, damo_format otherwise, const char *func);
/* Sets the stack to `most` values; a type error if there are more that are not nil. forms: the accepted arguments, for
 * the message. */
void bind_check_arity(lua_State *L, int most, const char *func, const char *forms);
/* The option itype, "int32" or "int64"; DAMO_INT32 if absent. */
damo_dtype bind_option_itype(lua_State *L, int options, const char *func);
/* Reads the option shape, two lengths; false if it is absent. allow_unknown: a length may be false, read as -1. */
bool bind_option_shape2(lua_State *L, int options, bool allow_unknown, int64_t *shape, const char *func);

#endif
