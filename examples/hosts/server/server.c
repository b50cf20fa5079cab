/* server: threads with a Lua state each run one compiled model.
 *
 *     server FOLDER [sessions] [requests]
 *
 * The first state compiles FOLDER/model.lua and keeps it; the others get its token, a string. 1, 2, 4 and 8 threads run
 * FOLDER/worker.lua, which must give the same answers; then a child of a fork runs it in the states' copies. Prints a
 * line "threads requests/s" for each number of threads, which picture.lua draws. */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 8

typedef struct worker {
  const char *path, *token;
  int sessions, requests;
  double sum;
  int ok;
} worker;

/* Runs the worker's script in that state. */
static void serve(lua_State *L, worker *w) {
  w->ok = luaL_loadfile(L, w->path) == LUA_OK;
  if (w->ok) {
    lua_pushstring(L, w->token);
    lua_pushinteger(L, w->sessions);
    lua_pushinteger(L, w->requests);
    w->ok = lua_pcall(L, 3, 1, 0) == LUA_OK;
  }
  if (w->ok) {
    w->sum = lua_tonumber(L, -1);
  } else {
    fprintf(stderr, "server: %s\n", luaL_tolstring(L, -1, NULL));
  }
  lua_settop(L, 0);
}

static void *run_worker(void *arg) {
  lua_State *L = luaL_newstate();
  if (L == NULL) return NULL;
  luaL_openlibs(L);
  serve(L, arg);
  lua_close(L);
  return NULL;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether n threads at once give the sum of `want`. */
static int run_threads(const worker *want, int n) {
  pthread_t thread[MOST];
  worker w[MOST];
  int started = 0, ok = 1;
  const double start = seconds();
  for (; started < n; started++) {
    w[started] = *want;
    w[started].ok = 0;
    if (pthread_create(&thread[started], NULL, run_worker, &w[started]) != 0) break;
  }
  for (int i = 0; i < started; i++) {
    pthread_join(thread[i], NULL);
    ok = ok && w[i].ok && w[i].sum == want->sum;
  }
  printf("%d %.0f\n", n, n * (double)want->sessions * want->requests / (seconds() - start));
  return ok && started == n;
}

/* A child goes on with its copy of the table of tokens, of the program and of the first state. */
static int run_child(lua_State *L, const worker *want) {
  int status = 1;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    worker here = *want, own = *want;
    serve(L, &here);
    run_worker(&own);
    _exit(here.ok && own.ok && here.sum == want->sum && own.sum == want->sum ? 0 : 1);
  }
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv) {
  char model[1024], path[1024];
  const char *folder = argc > 1 ? argv[1] : ".";
  snprintf(model, sizeof model, "%s/model.lua", folder);
  snprintf(path, sizeof path, "%s/worker.lua", folder);
  lua_State *L = luaL_newstate();
  if (L == NULL) return 1;
  luaL_openlibs(L);
  if (luaL_dofile(L, model) != LUA_OK) {
    fprintf(stderr, "server: %s\n", luaL_tolstring(L, -1, NULL));
    return 1;
  }
  char token[64];
  snprintf(token, sizeof token, "%s", lua_tostring(L, -1));
  worker want = {.path = path,
                 .token = token,
                 .sessions = argc > 2 ? atoi(argv[2]) : 100,
                 .requests = argc > 3 ? atoi(argv[3]) : 200};
  serve(L, &want); /* in the first state: what all others must give */
  int ok = want.ok;
  for (int n = 1; n <= MOST && ok; n *= 2) ok = run_threads(&want, n);
  ok = ok && run_child(L, &want);
  printf("server: %s\n", ok ? "every thread and the child gave the same answers" : "FAILED");
  lua_close(L);
  return ok ? 0 : 1;
}
