/* game: a loop of fixed steps around a model in Lua.
 *
 *     game MODEL.lua STEPS [PICTURE.png] [--fast] < EVENTS
 *
 * The model gives the token of a Function, by which the host makes its own and calls it without Lua, and `wander(t)`,
 * which the host calls in each step. When the file changes, the model is loaded again and goes on with the state of the
 * old one; a file that does not work leaves the old one. EVENTS are lines "STEP save", "STEP load" and "STEP edit FILE",
 * which puts FILE in the model's place, as an editor does. All memory of damo and of Lua comes from one allocator, which
 * counts: a step must not call it. --fast does not wait for the clock. */
#include <damo.h>
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "picture.h"

enum { DUST = 3000, MOST_STEPS = 100000, STEPS_PER_SECOND = 120, FRAMES_PER_SECOND = 60 };

typedef struct model {
  damo_function *step;
  int wander; /* in Lua's registry */
} model;

typedef struct game {
  damo_ctx *ctx;
  lua_State *L;
  size_t calls; /* of the allocator */
  model now;
  const char *path;
  struct stat seen; /* of the model's file */
  double wanderer[2], at[DUST][2];
  damo_array *wanderer_array, *at_array; /* over these */
  long steps;
  int loads;
  struct {
    long steps;
    size_t n;
    char bytes[1 << 17];
  } saved;
  long furthest;
  uint64_t hash[MOST_STEPS]; /* of the dust after each step: what follows a load must repeat them */
} game;

static void *count(void *user, void *ptr, size_t osize, size_t nsize) {
  (void)osize;
  ++((game *)user)->calls;
  if (nsize != 0) return realloc(ptr, nsize);
  free(ptr);
  return NULL;
}

static bool complain(const game *g, const char *what, const char *why) {
  printf("step %ld: %s: %s\n", g->steps, what, why);
  return false;
}

static uint64_t hash_dust(const game *g) {
  uint64_t h = 14695981039346656037u;
  const unsigned char *p = (const unsigned char *)g->at;
  for (size_t i = 0; i < sizeof g->at; i++) h = (h ^ p[i]) * 1099511628211u;
  return h;
}

/* One step of a model. Neither damo nor Lua takes memory in it. */
static bool step(game *g, const model *m) {
  lua_rawgeti(g->L, LUA_REGISTRYINDEX, m->wander);
  lua_pushnumber(g->L, (double)g->steps / STEPS_PER_SECOND);
  if (lua_pcall(g->L, 1, 2, 0) != LUA_OK) {
    complain(g, "wander", lua_tostring(g->L, -1));
    lua_pop(g->L, 1);
    return false;
  }
  for (int i = 0; i < 2; i++) g->wanderer[i] = lua_tonumber(g->L, i - 2);
  lua_pop(g->L, 2);
  damo_obj *const in[] = {(damo_obj *)g->wanderer_array}, *const out[] = {(damo_obj *)g->at_array};
  return damo_function_into(m->step, in, 1, out) == DAMO_OK || complain(g, "step", damo_error_message(g->ctx));
}

static void drop_model(game *g, model *m) {
  damo_release(m->step);
  luaL_unref(g->L, LUA_REGISTRYINDEX, m->wander);
  *m = (model){NULL, LUA_NOREF};
}

/* Gives the shared Variables of `to` the values of those of `from` that have the same names. */
static void take_over(game *g, const damo_function *from, const damo_function *to) {
  damo_var *a, *b;
  for (int64_t i = 0; (a = damo_function_shared_var(to, i)) != NULL; damo_release(a), i++) {
    for (int64_t k = 0; (b = damo_function_shared_var(from, k)) != NULL; damo_release(b), k++) {
      const char *name = damo_var_get_name(a), *other = damo_var_get_name(b);
      if (name == NULL || other == NULL || strcmp(name, other) != 0) continue;
      damo_array *value = damo_shared_value(b);
      if (damo_shared_set(a, value) != DAMO_OK) complain(g, "not taken over", damo_error_message(g->ctx));
      damo_release(value);
    }
  }
}

/* A step that is taken back: it tells whether a model works, and later ones have their memory. Lua's collector goes
 * before it, since it also frees what calls in Lua need. */
static bool rehearse(game *g, const model *m) {
  static char before[sizeof g->saved.bytes];
  size_t n;
  lua_gc(g->L, LUA_GCCOLLECT, 0); /* the graph, which a compiled Function does not need */
  if (damo_function_snapshot(m->step, before, sizeof before, &n) != DAMO_OK) {
    return complain(g, "snapshot", damo_error_message(g->ctx));
  }
  return step(g, m) && damo_function_restore(m->step, before, n) == DAMO_OK;
}

/* Runs the model's file and gives the model the state of the present one. */
static bool load_model(game *g, model *m) {
  *m = (model){NULL, LUA_NOREF};
  const bool ok = luaL_dofile(g->L, g->path) == LUA_OK && lua_istable(g->L, -1);
  if (ok) {
    lua_getfield(g->L, -1, "token");
    m->step = damo_from_token(g->ctx, lua_tostring(g->L, -1));
    lua_getfield(g->L, -2, "wander");
    m->wander = luaL_ref(g->L, LUA_REGISTRYINDEX);
  } else {
    complain(g, "the model does not load", luaL_tolstring(g->L, -1, NULL));
  }
  lua_settop(g->L, 0);
  if (!ok) return false;
  if (m->step == NULL) return complain(g, "the model's token", damo_error_message(g->ctx));
  if (g->now.step != NULL) take_over(g, g->now.step, m->step);
  return rehearse(g, m);
}

/* Loads the model if its file has changed. */
static void watch(game *g) {
  struct stat s;
  model fresh;
  if (stat(g->path, &s) != 0 || (s.st_ino == g->seen.st_ino && s.st_mtim.tv_sec == g->seen.st_mtim.tv_sec &&
                                 s.st_mtim.tv_nsec == g->seen.st_mtim.tv_nsec))
    return;
  g->seen = s;
  if (load_model(g, &fresh)) {
    drop_model(g, &g->now);
    g->now = fresh;
    g->loads++;
    printf("step %ld: the model is loaded\n", g->steps);
  } else {
    drop_model(g, &fresh);
    if (g->now.step != NULL) rehearse(g, &g->now);
  }
}

/* Does what the player and the designer did in this step. */
static bool take_events(game *g, FILE *events) {
  static char line[1024];
  static long next = -1;
  char what[16], file[900] = "";
  for (;;) {
    if (next < 0 && (fgets(line, sizeof line, events) == NULL || sscanf(line, "%ld", &next) != 1)) next = MOST_STEPS;
    if (next != g->steps) return true;
    next = -1;
    if (sscanf(line, "%*d %15s %899s", what, file) < 1) continue;
    damo_status s = DAMO_OK;
    if (strcmp(what, "save") == 0) {
      s = damo_function_snapshot(g->now.step, g->saved.bytes, sizeof g->saved.bytes, &g->saved.n);
      g->saved.steps = g->steps;
    } else if (strcmp(what, "load") == 0) {
      s = damo_function_restore(g->now.step, g->saved.bytes, g->saved.n);
      if (s == DAMO_OK) g->steps = g->saved.steps;
    } else if (rename(file, g->path) != 0) {
      return complain(g, "edit", file);
    }
    if (s != DAMO_OK) complain(g, what, damo_error_message(g->ctx));
    if (s == DAMO_OK) printf("step %ld: %s\n", g->steps, what);
  }
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Steps of a fixed length, as many as the clock has passed, then a picture of where things are. */
static bool run(game *g, long end, bool fast) {
  const double length = 1.0 / STEPS_PER_SECOND, frame = 1.0 / FRAMES_PER_SECOND;
  double last = seconds(), owed = 0;
  size_t calls = 0;
  while (g->steps < end) {
    const double now = fast ? last + frame : seconds();
    owed += now - last > 0.1 ? 0.1 : now - last; /* after a pause the game is late, not fast */
    last = now;
    for (; owed >= length && g->steps < end; owed -= length) {
      if (!take_events(g, stdin)) return false;
      watch(g);
      const size_t before = g->calls;
      if (!step(g, &g->now)) return false;
      calls += g->calls - before;
      const uint64_t h = hash_dust(g);
      if (g->steps < g->furthest && g->hash[g->steps] != h)
        return complain(g, "after the load", "other bits than before");
      if (g->steps >= g->furthest) g->hash[g->furthest++] = h;
      g->steps++;
    }
    picture_expose(g->at, DUST, g->loads);
    if (!fast) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  }
  printf("%ld steps, %zu calls of the allocator\n", g->steps, calls);
  return calls == 0;
}

int main(int argc, char **argv) {
  static game g;
  if (argc < 3 || atol(argv[2]) >= MOST_STEPS) return 2;
  g.path = argv[1];
  g.now.wander = LUA_NOREF;
  g.ctx = damo_ctx_new(count, &g);
  g.L = lua_newstate(count, &g);
  if (g.ctx == NULL || g.L == NULL || damo_lua_set_context(g.L, g.ctx) != DAMO_OK) return 1;
  luaL_openlibs(g.L);
  luaL_getsubtable(g.L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(g.L, luaopen_damo_core);
  lua_setfield(g.L, -2, "damo.core");
  lua_settop(g.L, 0);
  g.wanderer_array = damo_array_wrap(g.ctx, DAMO_FLOAT64, 1, (int64_t[]){2}, NULL, g.wanderer, false, NULL, NULL);
  g.at_array = damo_array_wrap(g.ctx, DAMO_FLOAT64, 2, (int64_t[]){DUST, 2}, NULL, g.at, true, NULL, NULL);
  watch(&g);
  bool ok = g.now.step != NULL && run(&g, atol(argv[2]), strcmp(argv[argc - 1], "--fast") == 0);
  if (ok && argc > 3 && argv[3][0] != '-') ok = picture_save(argv[3]);
  drop_model(&g, &g.now);
  damo_release(g.wanderer_array);
  damo_release(g.at_array);
  lua_close(g.L);
  damo_ctx_release(g.ctx);
  return ok ? 0 : 1;
}
