/* sink: writes a file that appears at its path only when it is complete, or a text in memory.
 *
 * The bytes go to a new file in the same folder (O_EXCL), which is synced to disk and renamed to the path. So a reader
 * sees either the old or the new file, and of two concurrent writers the later one wins. A process that is killed
 * leaves its temporary file, .damo-…, behind. A path that is no regular file can't be replaced like this and is written
 * directly. Without POSIX the new file is not synced, links are not followed, and every path is a regular file.
 */
#include <errno.h>
#include <string.h>

#include "io_int.h"

#if DAMO_POSIX
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#elif defined(_WIN32)
#include <windows.h>
#endif

#define LINKS_MAX 40
#define NAMES_MAX 100 /* most temporary names that are tried */
#define PART_NAME ".damo-%016llx"
#define PART_NAME_SIZE 32

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

static damo_status cant_write(const io_sink *s, int why) { return io_fail(s->ctx, s->path, why, "can't be written"); }

/* The length of a path's folder, including the slash; 0 if it has none. */
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
#if defined(_WIN32)
  const char *other = strrchr(path, '\\');
  if (other && (!slash || other > slash)) slash = other;
#endif
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Replaces the text *at by folder (n bytes) followed by name. */
static damo_status join_path(damo_ctx *ctx, const char *folder, size_t n, const char *name, char **at, size_t *size) {
  const size_t length = strlen(name), total = n + length + 1;
  char *joined = mem_alloc(ctx, total);
  if (!joined) return DAMO_EMEMORY;
  memcpy(joined, folder, n);
  memcpy(joined + n, name, length + 1);
  if (*at) mem_free(ctx, *at, *size);
  *at = joined;
  *size = total;
  return DAMO_OK;
}

static void clear_paths(io_sink *s) {
  if (s->part) mem_free(s->ctx, s->part, s->part_size);
  if (s->target) mem_free(s->ctx, s->target, s->target_size);
  s->part = s->target = NULL;
}

#if DAMO_POSIX
/* target is a symbolic link: replaces it by what the link points to; a relative link is relative to its folder. */
static damo_status follow_link(io_sink *s) {
  char to[4096];
  const ssize_t n = readlink(s->target, to, sizeof to - 1);
  if (n < 0) return cant_write(s, errno);
  if (n == sizeof to - 1) return cant_write(s, ENAMETOOLONG);
  to[n] = '\0';
  const size_t folder = to[0] == '/' ? 0 : folder_length(s->target);
  return join_path(s->ctx, s->target, folder, to, &s->target, &s->target_size);
}

/* Sets target to path with all links followed. A dangling link determines where the file is created. */
static damo_status resolve(io_sink *s) {
  struct stat info;
  DAMO_TRY(join_path(s->ctx, "", 0, s->path, &s->target, &s->target_size));
  for (int i = 0; lstat(s->target, &info) == 0 && S_ISLNK(info.st_mode); i++) {
    if (i == LINKS_MAX) return cant_write(s, ELOOP);
    DAMO_TRY(follow_link(s));
  }
  return DAMO_OK;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Creates a new file with an unused name in target's folder, open as *fd. */
static damo_status make_part(io_sink *s, mode_t mode, int *fd) {
  char name[PART_NAME_SIZE];
  const uint64_t seed = hash_mix((uint64_t)getpid(), (uint64_t)(uintptr_t)s);
  for (int i = 0; i < NAMES_MAX; i++) {
    const uint64_t tag = hash_mix(seed + (uint64_t)i, (uint64_t)clock_epoch_ns());
    snprintf(name, sizeof name, PART_NAME, (unsigned long long)tag);
    DAMO_TRY(join_path(s->ctx, s->target, folder_length(s->target), name, &s->part, &s->part_size));
    *fd = open(s->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (*fd >= 0) return DAMO_OK;
    if (errno != EEXIST) break;
  }
  const int why = errno;
  mem_free(s->ctx, s->part, s->part_size);
  s->part = NULL;
  return cant_write(s, why);
}

/* Creates the replacement of a regular file: readable by its owner alone at first, then with the old file's mode. */
static damo_status open_replacing(io_sink *s, const struct stat *old, int *fd) {
  if (access(s->target, W_OK) != 0) return cant_write(s, errno);
  DAMO_TRY(make_part(s, 0600, fd));
  return fchmod(*fd, old->st_mode & 0777) == 0 ? DAMO_OK : cant_write(s, errno);
}

/* Writing to a pipe without a reader raises SIGPIPE, which would kill the host: this thread blocks the signal while it
 * writes. */
static void hold_signal(io_sink *s) {
  sigset_t pipe, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigemptyset(&pending);
  sigpending(&pending);
  s->was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe, &s->signals);
}

static void release_signal(io_sink *s) {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  if (!s->was_pending) {
    const struct timespec now = {0, 0};
    while (sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR) {}
  }
  pthread_sigmask(SIG_SETMASK, &s->signals, NULL);
}

static damo_status open_through(io_sink *s, int *fd) {
  *fd = open(s->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  return *fd >= 0 ? DAMO_OK : cant_write(s, errno);
}

static damo_status open_target(io_sink *s, int *fd) {
  struct stat info;
  DAMO_TRY(resolve(s));
  if (stat(s->target, &info) != 0) return errno == ENOENT ? make_part(s, 0666, fd) : cant_write(s, errno);
  if (S_ISDIR(info.st_mode)) return cant_write(s, EISDIR);
  return S_ISREG(info.st_mode) ? open_replacing(s, &info, fd) : open_through(s, fd);
}

static damo_status open_file_sink(io_sink *s) {
  int fd = -1;
  damo_status status = open_target(s, &fd);
  if (status == DAMO_OK) {
    s->f = fdopen(fd, "wb");
    if (s->f && !s->part) hold_signal(s);
    if (s->f) return DAMO_OK;
    status = cant_write(s, errno);
  }
  if (fd >= 0) close(fd);
  if (fd >= 0 && s->part) unlink(s->part);
  return status;
}

/* Flushes and syncs, before the file gets its name. EINVAL: a file system without support for fsync. */
static damo_status flush(io_sink *s) {
  if (fflush(s->f) == 0 && (!s->part || fsync(fileno(s->f)) == 0 || errno == EINVAL)) return DAMO_OK;
  return io_fail(s->ctx, s->path, errno, "writing failed");
}

static bool sink_replace(const io_sink *s) { return rename(s->part, s->target) == 0; }
#else
#if defined(_WIN32)
static bool sink_replace(const io_sink *s) { return MoveFileExA(s->part, s->target, MOVEFILE_REPLACE_EXISTING) != 0; }
#else
static bool sink_replace(const io_sink *s) { return rename(s->part, s->target) == 0; }
#endif

static damo_status open_file_sink(io_sink *s) {
  char name[PART_NAME_SIZE];
  DAMO_TRY(join_path(s->ctx, "", 0, s->path, &s->target, &s->target_size));
  const uint64_t tag = hash_mix((uint64_t)(uintptr_t)s, (uint64_t)clock_epoch_ns());
  snprintf(name, sizeof name, PART_NAME, (unsigned long long)tag);
  DAMO_TRY(join_path(s->ctx, s->target, folder_length(s->target), name, &s->part, &s->part_size));
  s->f = fopen(s->part, "wbx");
  return s->f != NULL ? DAMO_OK : cant_write(s, errno);
}

static damo_status flush(io_sink *s) {
  return fflush(s->f) == 0 ? DAMO_OK : io_fail(s->ctx, s->path, errno, "writing failed");
}
#endif

damo_status sink_open(io_sink *s, damo_ctx *ctx, const io_to *to) {
  *s = (io_sink){.ctx = ctx, .path = to->path, .text = to->text};
  if (to->text) {
    s->text_start = to->text->n;
    return DAMO_OK;
  }
  DAMO_TRY(ctx_gate(ctx, GATE_FILE, to->path));
  const damo_status status = open_file_sink(s);
  if (status != DAMO_OK) clear_paths(s);
  return status;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

damo_status sink_write(io_sink *s, const void *data, size_t n) {
  if (s->text) {
    strbuf_addn(s->text, data, n);
    s->written += n;
    return s->text->failed ? DAMO_EMEMORY : DAMO_OK;
  }
  if (n > 0 && fwrite(data, 1, n, s->f) != n) return io_fail(s->ctx, s->path, errno, "writing failed");
  s->written += n;
  return DAMO_OK;
}

damo_status sink_close(io_sink *s, damo_status status) {
  if (s->text) {
    if (status != DAMO_OK) s->text->n = s->text_start;
    return status;
  }
  if (status == DAMO_OK) status = flush(s);
  if (fclose(s->f) != 0 && status == DAMO_OK) status = io_fail(s->ctx, s->path, errno, "writing failed");
#if DAMO_POSIX
  if (!s->part) release_signal(s);
#endif
  if (s->part && status == DAMO_OK && !sink_replace(s)) status = cant_write(s, errno);
  if (s->part && status != DAMO_OK) remove(s->part);
  clear_paths(s);
  return status;
}

damo_status io_write_bytes(damo_ctx *ctx, const io_to *to, const void *bytes, size_t n) {
  io_sink sink;
  DAMO_TRY(sink_open(&sink, ctx, to));
  return sink_close(&sink, sink_write(&sink, bytes, n));
}

damo_status io_write_text(damo_ctx *ctx, const char *path, const char *text, size_t n) {
  return io_write_bytes(ctx, IO_TO_FILE(path), text, n);
}
