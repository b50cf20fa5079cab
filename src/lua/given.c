/* given: what a failing call was given, for errors that no Op has raised: dtypes and shapes of the Variables, Arrays and
 * sparse matrices among its arguments, as those of an Op's operands.
 *
 * The call is the one that the user's line makes: the outermost of damo's functions below it. Those in Lua tell their
 * parameters. A C function has no such list: bind_again notes how many arguments the innermost call has, and values above
 * them on its stack are its own.
 */
#include "binding.h"

#define GIVEN_MOST 9 /* operands that are looked at: one more than an error tells */
#define GIVEN_MAX_LEVELS 64

typedef struct given_operands {
  damo_obj *at[GIVEN_MOST];
  int n;
} given_operands;

void bind_note_args(lua_State *L, int n) {
  bind_state *st = bind_get(L);
  st->args_of = L;
  st->n_args = n;
}

/* Adds the value at the top if it is an operand. */
static bool given_add_object(lua_State *L, given_operands *g) {
  const bind_box *box = bind_box_at(L, -1);
  if (box == NULL || box->obj == NULL || g->n == GIVEN_MOST) return false;
  if (box->kind != OBJ_VAR && box->kind != OBJ_ARRAY && box->kind != OBJ_SPARSE) return false;
  g->at[g->n++] = box->obj;
  return true;
}

/* Adds the value at the top, or the entries of a list, and pops it: the caller's frame keeps it alive. */
static void given_take(lua_State *L, given_operands *g) {
  const int n = lua_istable(L, -1) ? (int)lua_rawlen(L, -1) : 0;
  if (!given_add_object(L, g)) {
    for (int i = 1; i <= n && i <= GIVEN_MOST; i++) {
      lua_rawgeti(L, -1, i);
      given_add_object(L, g);
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
}

/* Adds the locals from 1 to n of the level, or from -1 to n. */
static void given_take_locals(lua_State *L, const lua_Debug *ar, int n, given_operands *g) {
  const int step = n < 0 ? -1 : 1;
  for (int i = step; i * step <= n * step && g->n < GIVEN_MOST && lua_getlocal(L, ar, i) != NULL; i += step)
    given_take(L, g);
}

/* Adds what the Lua function at the level was given; nothing before Lua 5.2, which does not tell the number of its
 * parameters. */
static void given_take_parameters(lua_State *L, lua_Debug *ar, given_operands *g) {
#if LUA_VERSION_NUM >= 502
  lua_getinfo(L, "u", ar);
  given_take_locals(L, ar, ar->nparams, g);
  if (ar->isvararg) given_take_locals(L, ar, -GIVEN_MOST, g);
#else
  (void)L, (void)ar, (void)g;
#endif
}

static void given_find(lua_State *L, const bind_state *st, given_operands *g) {
  lua_Debug ar, call;
  bool in_lua = false;
  for (int level = 0; level < GIVEN_MAX_LEVELS && lua_getstack(L, level, &ar); level++) {
    lua_getinfo(L, "Sl", &ar);
    if (ar.currentline <= 0) continue;
    if (!bind_is_own_source(st, ar.source)) break;
    call = ar;
    in_lua = true;
  }
  if (in_lua)
    given_take_parameters(L, &call, g);
  else if (st->args_of == L && lua_getstack(L, 0, &call))
    given_take_locals(L, &call, st->n_args, g);
}

void bind_set_operands(lua_State *L, bind_state *st) {
  BIND_HEIGHT(L);
  given_operands g = {.n = 0};
  char text[ERROR_OPERANDS_MAX];
  luaL_checkstack(L, 8, "damo");
  given_find(L, st, &g);
  operands_format(text, g.at, g.n);
  if (g.n > 0) {
    lua_pushstring(L, text);
    lua_setfield(L, -2, "operands");
  }
  BIND_LEAVES(L, 0);
}
