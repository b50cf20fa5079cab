/* params: the params that an Op's perform gets (params.c). */
#ifndef DAMO_LUA_OP_PARAMS_H
#define DAMO_LUA_OP_PARAMS_H

#include "lua/binding_int.h"

/* Pushes the params of the node: the results of get_params, converted as params_type says; without get_params the
 * properties; nil if there are none. */
void bind_push_params(lua_State *L, const damo_apply *node);
/* Converts a number or boolean to a 0-d value of that dtype: an integer fits every numeric dtype, a fraction no integer
 * dtype, a boolean only bool. */
bool bind_scalar_fits_dtype(lua_State *L, int idx, damo_dtype dtype, scalar *s);

#endif
