/* collect: native memory and Lua's collector.
 *
 * Steps. Lua counts the few bytes of a userdata, not the native memory behind it, and would collect too late. So a
 * cycle of the collector is begun once enough native memory has been allocated since the last one, and driven on by a
 * small step for each QUANTUM of further native memory: never by a whole collection at once, whose pause would be seen
 * in a frame. A marker, a userdata that is garbage from the start, tells by its finalizer how far the cycle has come,
 * whoever did the last step.
 *
 * In Lua's generational mode, which the standalone interpreter of Lua 5.4 runs in, a step is a whole young collection.
 * Objects that survive two of these are old. So young collections are spaced by the native bytes that survived the last
 * one. Old objects stay until a major collection, which Lua does of itself once its heap has doubled, but only if its
 * debt has run up, and each of our steps clears the debt. So a step is a major collection where the native memory in
 * use, or Lua's heap, has doubled since the last one.
 *
 * The second run. If the context's memory is limited and a call runs out of it, the call's error undoes its effects;
 * then Lua collects everything, and the call runs once more from its start. Nothing below the binding ever collects.
 */
#include "binding.h"
#include "op/op.h"
#include "sparse/sparse.h"

#define GC_FLOOR ((size_t)32 << 20)
/* One step per QUANTUM of native memory allocated: a cycle over a Lua heap of 20 MB ends within 5 MB. */
#define GC_QUANTUM ((size_t)64 << 10)
/* In percent of Lua's default step, which would be a pause of a millisecond if finalizers have much to free. */
#define GC_STEP_SIZE 25
/* When the next cycle begins. Garbage blocks should be collected soon, or allocation moves on to memory that is cold in
 * the cache or freshly mapped, and so slow to touch. On the other hand a cycle takes time in proportion to Lua's heap.
 * So the next cycle begins after REST of the floor has been allocated, or REST_HEAPS times the size of Lua's heap,
 * whichever is more. While cycles find little garbage the distance doubles, up to PATIENCE times as much; but it is at
 * most the floor, or the native memory in use if that is more. */
#define GC_REST(floor) ((floor) / 8)
#define GC_REST_HEAPS 3
#define GC_PATIENCE 32
/* The next cycle also begins before this many new userdata exist: Lua walks all of them in one step of a cycle. */
#define GC_FINALIZED_MOST 2000
/* The least allocation between two young collections. */
#define GC_YOUNG(floor) ((floor) / 32)
#define GC_YOUNG_PATIENCE 8
/* An incremental cycle's finalizers have run after this many steps. If not, generational mode was set in between, whose
 * steps end no cycle: the next step then begins a new cycle. */
#define GC_FINALIZING_STEPS 100
#define GC_SURVEY_MOST 1000

static const char gc_marker_key = 'c';

void bind_collect_init(bind_state *st) {
  st->gc = (bind_collector){.floor = GC_FLOOR, .due = GC_YOUNG(GC_FLOOR), .spacing = SIZE_MAX, .patience = 1};
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

/* Whether the collector is neither stopped nor running at this moment. Lua 5.1 cannot tell. */
static bool gc_is_running(lua_State *L) {
#ifdef LUA_GCISRUNNING
  return lua_gc(L, LUA_GCISRUNNING, 0) > 0;
#else
  (void)L;
  return true;
#endif
}

/* Does a small step; true if it ended a cycle. In Lua 5.4 the step multiplier sets the size of a step; older versions
 * do steps of a kilobyte or two, of which this many do about as much. */
static bool gc_step(lua_State *L) {
#if LUA_VERSION_NUM >= 504
  const int usual = lua_gc(L, LUA_GCSETSTEPMUL, GC_STEP_SIZE);
  const bool ended = lua_gc(L, LUA_GCSTEP, 0) > 0;
  lua_gc(L, LUA_GCSETSTEPMUL, usual);
  return ended;
#else
  for (int i = 0; i < 64; i++) {
    if (lua_gc(L, LUA_GCSTEP, 0) > 0) return true;
  }
  return false;
#endif
}

static int gc_marker_gc(lua_State *L) {
  bind_state **st = lua_touserdata(L, 1);
  if (!(*st)->closed) (*st)->gc.marked = false;
  return 0;
}

static void gc_drop_marker(lua_State *L, bind_state *st) {
  bind_state **at = lua_newuserdatauv(L, sizeof *at, 0);
  *at = st;
  bind_set_gc(L, gc_marker_gc, &gc_marker_key);
  lua_pop(L, 1);
  st->gc.marked = true;
}

/* A view's share of its buffer: otherwise each view of one large matrix would count as the whole. */
static size_t gc_array_bytes(const damo_array *a) {
  return a && a->buf ? a->buf->nbytes / (size_t)a->buf->obj.refs : 0;
}

static size_t gc_native_bytes(const damo_obj *obj) {
  if (obj && obj->kind == OBJ_VAR) obj = ((const damo_var *)obj)->value;
  if (obj && obj->kind == OBJ_ARRAY) return gc_array_bytes((const damo_array *)obj);
  if (!obj || obj->kind != OBJ_SPARSE) return 0;
  const damo_sparse *m = (const damo_sparse *)obj;
  return gc_array_bytes(m->data) + gc_array_bytes(m->indices) + gc_array_bytes(m->indptr);
}

/* The native bytes of the live objects whose userdata were made since the last cycle; the newest SURVEY_MOST of them.
 */
static size_t gc_survivors(const bind_state *st) {
  size_t bytes = 0;
  int n = 0;
  for (const bind_box *box = st->boxes; box && box != st->gc.newest && n < GC_SURVEY_MOST; box = box->after, n++) {
    bytes += gc_native_bytes(box->obj);
  }
  return bytes;
}

static size_t gc_larger(size_t a, size_t b) { return a > b ? a : b; }
static size_t gc_smaller(size_t a, size_t b) { return a < b ? a : b; }

/* The native memory in use at which the next cycle begins; gc->low was in use after the last one. */
static size_t gc_next_cycle(lua_State *L, const bind_collector *gc) {
  if (gc->generational) return gc->low + gc->spacing;
  const size_t heaps = GC_REST_HEAPS * ((size_t)lua_gc(L, LUA_GCCOUNT, 0) << 10);
  const size_t rest = gc_larger(gc_smaller(heaps, gc->spacing), GC_REST(gc->floor)),
               most = gc_larger(gc->low, gc->floor);
  return gc->low + (rest > most / gc->patience ? most : rest * gc->patience);
}

/* The spacing of young collections in generational mode: twice the bytes that survived the last one. That is too little
 * if the garbage came all at once: what survives two collections in a row is old, and memory grows with each. Then the
 * spacing doubles, within the floor, until what survives one collection has died by the next. */
static size_t gc_young_spacing(bind_state *st) {
  bind_collector *gc = &st->gc;
  const size_t twice = 2 * gc_survivors(st), young = GC_YOUNG(gc->floor);
  const bool aging = st->ctx->bytes > gc->low + twice / 16 + young / 8;
  if (aging && gc->aging && gc->patience < GC_YOUNG_PATIENCE) gc->patience *= 2;
  gc->aging = aging;
  if (!aging && gc->patience * twice < young) gc->patience = 1;
  return gc_larger(gc_larger(twice, young), gc_smaller(gc->patience * twice, gc->floor));
}

static void gc_begin_cycle(lua_State *L, bind_state *st) {
  gc_drop_marker(L, st);
  st->gc.cycling = true;
  st->gc.finalizing = false;
  st->gc.begun = st->ctx->bytes;
  st->gc.steps = 0;
}

static size_t gc_incremental_spacing(bind_state *st) {
  bind_collector *gc = &st->gc;
  const size_t grown = gc->begun > gc->low ? gc->begun - gc->low : 0;
  const bool little = st->ctx->bytes + grown / 2 > gc->begun;
  gc->patience = !little ? 1 : gc->patience < GC_PATIENCE ? 2 * gc->patience : GC_PATIENCE;
  return grown / (gc->made + 1) * GC_FINALIZED_MOST;
}

static void gc_end_cycle(lua_State *L, bind_state *st) {
  bind_collector *gc = &st->gc;
  gc->spacing = gc->generational ? gc_young_spacing(st) : gc_incremental_spacing(st);
  gc->made = 0;
  gc->newest = st->boxes;
  gc->cycling = false;
  gc->low = st->ctx->bytes;
  gc->due = gc_next_cycle(L, gc);
}

static void gc_settle(lua_State *L, bind_state *st) {
  st->gc.settled = st->ctx->bytes;
  st->gc.settled_heap = lua_gc(L, LUA_GCCOUNT, 0);
}

/* Does one step of a cycle; true if the cycle is over. A single step that finalizes the marker but ends no cycle is
 * either a young collection of the generational mode, or, with a small heap, the whole of an incremental cycle except
 * its finalizers. So only two such steps in a row count as generational mode. */
static bool gc_step_of_cycle(lua_State *L, bind_state *st) {
  bind_collector *gc = &st->gc;
  const bool ended = gc_step(L);
  gc->steps++;
  if (gc->marked) {
    gc->generational = gc->suspect = false;
    return false;
  }
  if (!gc->finalizing && gc->steps > 1) gc->steps = 2; /* from here on counts the steps of the finalizers */
  gc->finalizing = true;
  if (gc->steps > GC_FINALIZING_STEPS) gc->cycling = false;
  if (ended) gc->generational = gc->suspect = false;
  if (ended || gc->steps > 1) return ended;
  if (gc->suspect && !gc->generational) {
    gc->patience = 1; /* it was that of incremental cycles */
    gc_settle(L, st);
  }
  gc->generational = gc->suspect;
  gc->suspect = true;
  if (!gc->generational) gc->cycling = false; /* the next step begins a new cycle with its own marker */
  return gc->generational;
}

/* In generational mode: whether as much has come since the last major collection as was left by it. */
static bool gc_is_major_due(lua_State *L, const bind_state *st) {
  const bind_collector *gc = &st->gc;
  return st->ctx->bytes > gc->settled + gc_larger(gc->settled, gc->floor) ||
         lua_gc(L, LUA_GCCOUNT, 0) / 2 > gc->settled_heap;
}

static void gc_take_steps(lua_State *L, bind_state *st) {
  bind_collector *gc = &st->gc;
  if (gc->generational && gc_is_major_due(L, st)) {
    lua_gc(L, LUA_GCCOLLECT, 0);
    gc_end_cycle(L, st);
    gc_settle(L, st);
    return;
  }
  size_t owed = gc->cycling ? (st->ctx->bytes - gc->due) / GC_QUANTUM + 1 : 1; /* a new cycle owes no earlier steps */
  for (; owed > 0; owed--) {
    if (!gc->cycling || (!gc->marked && !gc->finalizing)) gc_begin_cycle(L, st); /* Lua's own steps finalized it */
    if (gc_step_of_cycle(L, st)) {
      gc_end_cycle(L, st);
      return;
    }
  }
  gc->due = st->ctx->bytes + GC_QUANTUM;
}

void bind_gc_pressure(lua_State *L) {
  bind_state *st = bind_get(L);
  if (ctx_stress(st->ctx, STRESS_COLLECT) && gc_is_running(L)) lua_gc(L, LUA_GCCOLLECT, 0);
  bind_collector *gc = &st->gc;
  if (st->ctx->bytes >= gc->due) {
    if (gc_is_running(L)) {
      gc_take_steps(L, st);
    } else {
      gc->due = st->ctx->bytes + GC_QUANTUM;
    }
  }
  if (st->ctx->bytes >= gc->low) return;
  gc->low = st->ctx->bytes; /* much was freed without our steps: the next cycle comes sooner */
  gc->settled = gc_smaller(gc->settled, gc->low);
  if (gc->generational) gc->spacing = gc_smaller(gc->spacing, gc_larger(2 * gc->low, GC_YOUNG(gc->floor)));
  const size_t next = gc->cycling ? gc->low + GC_QUANTUM : gc_next_cycle(L, gc);
  if (next < gc->due) gc->due = next;
}

void bind_set_gc_floor(lua_State *L, size_t bytes) {
  bind_collector *gc = &bind_get(L)->gc;
  gc->floor = bytes;
  gc->low = bind_ctx(L)->bytes;
  gc->due = gc_next_cycle(L, gc);
}

/* ---- The second run ---------------------------------------------------------------------------------------------- */

/* Does a whole collection, unless Lua's collector is stopped, and drops the frames of eager calls; true if native
 * memory was freed. */
static bool gc_collect(lua_State *L, bind_state *st) {
  bind_collector *gc = &st->gc;
  const size_t before = st->ctx->bytes;
  eager_forget(st->ctx);
  if (!gc_is_running(L)) return st->ctx->bytes < before;
  lua_gc(L, LUA_GCCOLLECT, 0);
  gc->cycling = false;
  gc->low = st->ctx->bytes;
  gc->due = gc_next_cycle(L, gc);
  return st->ctx->bytes < before;
}

/* Calls the body with copies of the arguments, protected. n_upvalues < 0: as bind_again_kept says. Returns Lua's status,
 * with the results or the error on the stack. */
static int gc_first_run(lua_State *L, bind_state *st, lua_CFunction body, int n_upvalues, int n) {
  luaL_checkstack(L, n + (n_upvalues > 0 ? n_upvalues : 0) + 2, "damo");
  if (n_upvalues < 0) { /* bind_again_kept: the closure is there */
    lua_pushvalue(L, lua_upvalueindex(2 - n_upvalues));
  } else {
    for (int i = 1; i <= n_upvalues; i++) lua_pushvalue(L, lua_upvalueindex(i));
    lua_pushcclosure(L, body, n_upvalues);
  }
  for (int i = 1; i <= n; i++) lua_pushvalue(L, i);
  const bool outer = st->gc.trying;
  st->gc.trying = true;
  const int status = lua_pcall(L, n, LUA_MULTRET, 0);
  st->gc.trying = outer;
  return status;
}

/* There is no second run of what has had effects outside: a collective would meet the next one of the other ranks. If the
 * second run of a nested call has failed for memory, another run of this one would fail alike; without this test
 * nested calls would double the number of runs at each level. */
static int gc_run_again(lua_State *L, bind_state *st, lua_CFunction body, int n_upvalues) {
  const int n = lua_gettop(L);
  const bool outer = st->gc.trying, outer_second = st->gc.second;
  const uint64_t effects = st->ctx->n_effects;
  st->gc.second = false;
  if (gc_first_run(L, st, body, n_upvalues, n) == LUA_OK) {
    st->gc.second = outer_second;
    return lua_gettop(L) - n;
  }
  if (!bind_is_memory_error(L, st, -1) || st->gc.second || st->ctx->n_effects != effects || !gc_collect(L, st)) {
    st->gc.second = st->gc.second || outer_second;
    return lua_error(L);
  }
  lua_settop(L, n);
  st->gc.trying = false;
  st->gc.second = true;
  st->args_of = L;
  st->n_args = n;
  const int n_results = body(L);
  st->gc.trying = outer;
  st->gc.second = outer_second;
  return n_results;
}

/* Runs a call, whose arguments an error tells (given.c). An error leaves the note of an inner call, which the next call
 * writes anew. */
static int gc_run(lua_State *L, bind_state *st, lua_CFunction body, int n_upvalues) {
  lua_State *outer = st->args_of;
  const int n_outer = st->n_args;
  st->args_of = L;
  st->n_args = lua_gettop(L);
  const int n_results = st->closed || !st->ctx->limited ? body(L) : gc_run_again(L, st, body, n_upvalues);
  st->args_of = outer;
  st->n_args = n_outer;
  return n_results;
}

int bind_again(lua_State *L, lua_CFunction body, int n_upvalues) {
  return gc_run(L, lua_touserdata(L, lua_upvalueindex(n_upvalues + 1)), body, n_upvalues);
}

int bind_again_bare(lua_State *L, lua_CFunction body, int n_upvalues) {
  return gc_run(L, lua_touserdata(L, lua_upvalueindex(n_upvalues + 1)), body, 0);
}

int bind_again_kept(lua_State *L, lua_CFunction body, int n_upvalues) {
  return gc_run(L, lua_touserdata(L, lua_upvalueindex(n_upvalues + 1)), body, -n_upvalues);
}

void bind_pushkept(lua_State *L, lua_CFunction function, lua_CFunction body, int n_upvalues) {
  const int first = lua_gettop(L) - n_upvalues + 1;
  luaL_checkstack(L, n_upvalues + 2, "damo");
  lua_pushlightuserdata(L, bind_get(L));
  for (int i = 0; i < n_upvalues; i++) lua_pushvalue(L, first + i);
  lua_pushcclosure(L, body, n_upvalues);
  lua_pushcclosure(L, function, n_upvalues + 2);
}

void bind_pushclosure(lua_State *L, lua_CFunction function, int n_upvalues) {
  lua_pushlightuserdata(L, bind_get(L));
  lua_pushcclosure(L, function, n_upvalues + 1);
}

/* Upvalues: the function, the bind_state. */
static int gc_call_again(lua_State *L) {
  return gc_run(L, lua_touserdata(L, lua_upvalueindex(2)), lua_tocfunction(L, lua_upvalueindex(1)), 0);
}

void bind_pushfunction(lua_State *L, lua_CFunction function) {
  lua_pushcfunction(L, function);
  lua_pushlightuserdata(L, bind_get(L));
  lua_pushcclosure(L, gc_call_again, 2);
}

void bind_setfuncs(lua_State *L, const luaL_Reg *functions) {
  luaL_checkstack(L, 4, "damo");
  for (; functions->name; functions++) {
    bind_pushfunction(L, functions->func);
    lua_setfield(L, -2, functions->name);
  }
}
