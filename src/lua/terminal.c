/* terminal: what the command `damo` needs of a terminal and its signals; nothing else uses it. core.terminal has raw
 * mode, bytes of keys as they come, the width, a file of its own for the history, and SIGINT during a running script.
 * Where there are no POSIX terminals (Windows, WASI) is_terminal is always false, and the other functions raise. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* struct winsize */
#endif
#include "binding_int.h"

#if !defined(_WIN32) && !defined(__wasi__)
#define TERMINAL_POSIX 1
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#else
#define TERMINAL_POSIX 0
#endif

#if TERMINAL_POSIX

/* is_terminal(fd) */
static int term_is_terminal(lua_State *L) {
  lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
  return 1;
}

/* ---- Raw mode ---------------------------------------------------------------------------------------------------- */

/* The settings of the terminal before raw mode; given back by leave(), or when the userdata is collected. */
typedef struct term_settings {
  struct termios before;
  bool entered;
} term_settings;

#define TERM_SETTINGS "damo.terminal"

static int term_leave(lua_State *L) {
  term_settings *s = luaL_checkudata(L, 1, TERM_SETTINGS);
  if (s->entered) tcsetattr(STDIN_FILENO, TCSADRAIN, &s->before);
  s->entered = false;
  return 0;
}

/* enter(): keys come as bytes, unechoed, and Ctrl-C is one of them. Returns what leave(settings) takes; nil if standard
 * input is no terminal. */
static int term_enter(lua_State *L) {
  bind_gate(L, GATE_FILE, "terminal");
  term_settings *s = lua_newuserdatauv(L, sizeof *s, 1);
  memset(s, 0, sizeof *s);
  luaL_getmetatable(L, TERM_SETTINGS);
  lua_setmetatable(L, -2);
  if (tcgetattr(STDIN_FILENO, &s->before) != 0) return 0;
  struct termios raw = s->before;
  raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
  raw.c_cflag |= CS8;
  raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) != 0) return 0;
  s->entered = true;
  return 1;
}

/* read(ms): the bytes of standard input that are there, waiting for them so long (negative: for ever). "" when the time
 * is over or a signal came; nil at the end of the input. */
static int term_read(lua_State *L) {
  char bytes[1024];
  struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
  bind_gate(L, GATE_FILE, "terminal");
  const int ready = poll(&in, 1, (int)luaL_optinteger(L, 1, -1));
  if (ready <= 0) {
    lua_pushliteral(L, "");
    return 1;
  }
  const ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
    lua_pushliteral(L, "");
    return 1;
  }
  if (n <= 0) return 0;
  lua_pushlstring(L, bytes, (size_t)n);
  return 1;
}

/* write(text): all of it to standard output, past Lua's buffer. */
static int term_write(lua_State *L) {
  size_t n, done = 0;
  const char *text = luaL_checklstring(L, 1, &n);
  bind_gate(L, GATE_FILE, "terminal");
  fflush(stdout);
  while (done < n) {
    const ssize_t k = write(STDOUT_FILENO, text + done, n - done);
    if (k < 0 && errno == EINTR) continue;
    if (k < 0 && errno == EAGAIN) {
      struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
      poll(&out, 1, 100);
      continue;
    }
    if (k <= 0) break;
    done += (size_t)k;
  }
  lua_pushboolean(L, done == n);
  return 1;
}

/* width(): the columns of the terminal at standard output; nil if it does not say. */
static int term_width(lua_State *L) {
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 0;
  lua_pushinteger(L, size.ws_col);
  return 1;
}

/* ---- A file of its own -------------------------------------------------------------------------------------------- */

/* Makes the folders of the path that do not exist, for their owner alone. */
static void term_make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0700); /* it may be there; what is missing in the end, open tells */
    *slash = '/';
  }
}

/* append(path, text): adds the text to the file, which is made, with its folders, readable to its owner alone. Returns
 * whether that was done. */
static int term_append(lua_State *L) {
  size_t n, n_path;
  const char *path = luaL_checklstring(L, 1, &n_path), *text = luaL_checklstring(L, 2, &n);
  bind_gate(L, GATE_FILE, "terminal");
  bind_text(L, 1, "terminal: path");
  char *folders = lua_newuserdatauv(L, n_path + 1, 0);
  memcpy(folders, path, n_path + 1);
  if (n_path > 0) term_make_folders(folders);
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
  bool done = false;
  if (fd >= 0) {
    done = write(fd, text, n) == (ssize_t)n; /* at once, so that the lines of two prompts do not mix */
    done = close(fd) == 0 && done;
  }
  lua_pushboolean(L, done);
  return 1;
}

/* ---- Ctrl-C while a script runs ----------------------------------------------------------------------------------- */

/* What the handler of SIGINT reaches: the state whose script runs. A handler has no argument for it. */
static lua_State *volatile term_running;
static volatile sig_atomic_t term_pending; /* interrupts that no hook has answered */

enum { TERM_PATIENCE = 1 }; /* interrupts that may go unanswered; after two, the next one ends the process */

static void term_on_interrupt(int sig);

static void term_catch(struct sigaction *before) {
  struct sigaction act;
  memset(&act, 0, sizeof act);
  act.sa_handler = term_on_interrupt;
  sigemptyset(&act.sa_mask);
  term_pending = 0;
  sigaction(SIGINT, &act, before);
}

static void term_stop(lua_State *L, lua_Debug *ar) {
  (void)ar;
  lua_sethook(L, NULL, 0, 0);
  term_catch(NULL);
  luaL_error(L, "interrupted");
}

/* lua_sethook may be called in a handler (lua.c does). */
static void term_on_interrupt(int sig) {
  lua_State *L = term_running;
  term_pending = term_pending + 1;
  if (term_pending > TERM_PATIENCE) signal(sig, SIG_DFL);
  if (L) lua_sethook(L, term_stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/* run(handler, fn, …): xpcall, during which Ctrl-C raises the error "interrupted" in what runs on this coroutine. Returns
 * true and the results, or false and what the handler gives. */
static int term_run(lua_State *L) {
  struct sigaction before;
  lua_State *outer = term_running;
  bind_gate(L, GATE_PROGRAM, "terminal");
  luaL_checkany(L, 2);
  term_running = L;
  term_catch(&before);
  const int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
  sigaction(SIGINT, &before, NULL);
  term_running = outer;
  lua_sethook(L, NULL, 0, 0);
  if (status == LUA_OK) {
    lua_pushboolean(L, true);
    lua_replace(L, 1); /* in the place of the handler */
    return lua_gettop(L);
  }
  lua_pushboolean(L, false);
  lua_insert(L, -2);
  return 2;
}

#else

static int term_is_terminal(lua_State *L) {
  lua_pushboolean(L, false);
  return 1;
}

static int term_nothing(lua_State *L) {
  return bind_raise(L, DAMO_ENOT_IMPLEMENTED, "there are no terminals on this system");
}

#define term_enter term_nothing
#define term_leave term_nothing
#define term_read term_nothing
#define term_write term_nothing
#define term_width term_nothing
#define term_append term_nothing
#define term_run term_nothing

#endif

void bind_open_terminal(lua_State *L) {
  static const luaL_Reg functions[] = {{"is_terminal", term_is_terminal},
                                       {"enter", term_enter},
                                       {"leave", term_leave},
                                       {"read", term_read},
                                       {"write", term_write},
                                       {"width", term_width},
                                       {"append", term_append},
                                       {"run", term_run},
                                       {NULL, NULL}};
#if TERMINAL_POSIX
  luaL_newmetatable(L, TERM_SETTINGS);
  lua_pushcfunction(L, term_leave);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
#endif
  lua_newtable(L);
  luaL_setfuncs(L, functions, 0);
  lua_setfield(L, -2, "terminal");
}
