/* program: makes a picture by running a program that reads a text and writes the picture (gnuplot, Graphviz's dot).
 *
 * The program gets no shell and no path: it reads its standard input and writes its standard output. The picture is
 * read through a pipe, because these programs do not report a full disk. Standard input and standard error are unlinked
 * temporary files: with three pipes, a program that exits early would raise SIGPIPE in the host, and one that writes
 * much to standard error could deadlock with the host.
 */
#include "io_int.h"

#if DAMO_POSIX
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAID_MAX 600  /* most bytes of standard error that go into an error */
#define FIRST_FREE 3  /* first descriptor after the standard ones, which are replaced in the child */
#define NOT_FOUND 127 /* exit status of a child whose exec has failed */

extern char **environ;

/* The child's three standard streams, and the read end of its output pipe. */
typedef struct program_streams {
  FILE *in, *said;
  int at[3];
  int out;
} program_streams;

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static void close_fd(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static void close_streams(program_streams *s) {
  for (int i = 0; i < 3; i++) close_fd(&s->at[i]);
  close_fd(&s->out);
  if (s->in) fclose(s->in);
  if (s->said) fclose(s->said);
}

static bool fill_input(FILE *in, const char *text, size_t n) {
  return fwrite(text, 1, n, in) == n && fflush(in) == 0 && lseek(fileno(in), 0, SEEK_SET) == 0;
}

/* *to: a copy of a descriptor, above the standard ones and closed on exec. */
static bool move_up(int from, int *to) {
  *to = fcntl(from, F_DUPFD_CLOEXEC, FIRST_FREE);
  return *to >= 0;
}

static bool open_pipe(program_streams *s) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const bool ok = move_up(ends[0], &s->out) && move_up(ends[1], &s->at[1]);
  close(ends[0]);
  close(ends[1]);
  return ok;
}

/* close_streams must follow, on failure too. */
static damo_status open_streams(program_streams *s, const io_sink *sink, const char *text, size_t n) {
  *s = (program_streams){.in = tmpfile(), .said = tmpfile(), .at = {-1, -1, -1}, .out = -1};
  const bool ok = s->in && s->said && fill_input(s->in, text, n) && move_up(fileno(s->in), &s->at[0]) &&
                  move_up(fileno(s->said), &s->at[2]) && open_pipe(s);
  return ok ? DAMO_OK : io_fail(sink->ctx, sink->path, errno, "no temporary file can be made");
}

/* ---- The child --------------------------------------------------------------------------------------------------- */

/* The environment without LD_PRELOAD, since a library preloaded into the host (an overlay, a sanitizer) is not meant
 * for the program. *n pointers, freed with mem_free; NULL: memory error. */
static char **child_environment(damo_ctx *ctx, size_t *n) {
  static const char preload[] = "LD_PRELOAD=";
  for (*n = 1; environ[*n - 1]; ++*n) {}
  char **kept = mem_alloc(ctx, *n * sizeof *kept);
  if (!kept) return NULL;
  size_t k = 0;
  for (size_t i = 0; environ[i]; i++) {
    if (strncmp(environ[i], preload, sizeof preload - 1) != 0) kept[k++] = environ[i];
  }
  kept[k] = NULL;
  return kept;
}

/* Starts the program; returns 0 or an errno value. The signal mask and SIGPIPE have their defaults, whatever the host
 * has set. */
static int start(const char *const *argv, char *const *environment, const program_streams *s, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, usual;
  int why = posix_spawn_file_actions_init(&actions);
  if (why) return why;
  why = posix_spawnattr_init(&attributes);
  if (why) {
    posix_spawn_file_actions_destroy(&actions);
    return why;
  }
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  for (int i = 0; i < 3 && why == 0; i++) why = posix_spawn_file_actions_adddup2(&actions, s->at[i], i);
  if (why == 0) why = posix_spawnattr_setsigmask(&attributes, &none);
  if (why == 0) why = posix_spawnattr_setsigdefault(&attributes, &usual);
  if (why == 0) why = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (why == 0) why = posix_spawnp(pid, argv[0], &actions, &attributes, (char *const *)argv, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return why;
}

/* Waits for the child. Returns its exit status, or -1 if it was killed. *unknown: the host has reaped it, so its output
 * must tell whether it succeeded. */
static int wait_for(pid_t pid, bool *unknown) {
  int status = 0;
  pid_t got;
  do { got = waitpid(pid, &status, 0); } while (got < 0 && errno == EINTR);
  *unknown = got < 0;
  return got > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Reads the program's standard error as one line. */
static void read_said(FILE *said, char text[SAID_MAX]) {
  size_t n = 0;
  bool gap = false;
  rewind(said);
  for (int c = fgetc(said); c != EOF && n + 2 < SAID_MAX; c = fgetc(said)) {
    const bool blank = c < 33 || c == 127;
    if (!blank && gap && n > 0) text[n++] = ' ';
    if (!blank) text[n++] = (char)c;
    gap = blank;
  }
  text[n] = '\0';
}

static damo_status drawing_failed(const io_sink *sink, const char *program, FILE *said) {
  char text[SAID_MAX];
  read_said(said, text);
  return io_fail(sink->ctx, sink->path, 0, "%s failed to draw it%s%s", program, text[0] ? ": " : "", text);
}

/* Copies the program's output into the sink, until its end. */
static damo_status copy_output(io_sink *sink, int fd) {
  char chunk[16384];
  damo_status status = DAMO_OK;
  for (;;) {
    const ssize_t n = read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return status;
    if (status == DAMO_OK) status = sink_write(sink, chunk, (size_t)n);
  }
}

static damo_status program_run(io_sink *sink, const char *const *argv, program_streams *s, bool *found) {
  pid_t pid = 0;
  bool unknown = false;
  size_t n;
  char **environment = child_environment(sink->ctx, &n);
  if (!environment) return DAMO_EMEMORY;
  const int why = start(argv, environment, s, &pid);
  mem_free(sink->ctx, environment, n * sizeof *environment);
  *found = why != ENOENT;
  if (why == ENOENT) return DAMO_EIO;
  if (why) return io_fail(sink->ctx, sink->path, why, "%s can't be started", argv[0]);
  close_fd(&s->at[1]); /* else the pipe would never reach its end */
  const damo_status status = copy_output(sink, s->out);
  const int exit_status = wait_for(pid, &unknown);
  *found = exit_status != NOT_FOUND;
  if (!*found) return DAMO_EIO;
  if (status != DAMO_OK) return status;
  if (sink->written > 0 && (exit_status == 0 || unknown)) return DAMO_OK;
  return drawing_failed(sink, argv[0], s->said);
}

damo_status io_draw(damo_ctx *ctx, const char *const *argv, const char *text, size_t n, const char *path, bool *found) {
  io_sink sink;
  program_streams s;
  *found = true;
  DAMO_TRY(ctx_gate(ctx, GATE_PROGRAM, argv[0]));
  DAMO_TRY(sink_open(&sink, ctx, IO_TO_FILE(path)));
  damo_status status = open_streams(&s, &sink, text, n);
  if (status == DAMO_OK) status = program_run(&sink, argv, &s, found);
  close_streams(&s);
  status = sink_close(&sink, status);
  return *found ? status : DAMO_OK;
}
#else
damo_status io_draw(damo_ctx *ctx, const char *const *argv, const char *text, size_t n, const char *path, bool *found) {
  (void)text, (void)n, (void)path;
  *found = true;
  DAMO_TRY(ctx_gate(ctx, GATE_PROGRAM, argv[0]));
  return ctx_fail(ctx, DAMO_ENOT_IMPLEMENTED, "%s can't be run: this build is without processes", argv[0]);
}
#endif
