/* pty COLUMNS ROWS SECONDS COMMAND …: runs the command on a pseudo-terminal of that size and plays the keys that
 * standard input tells, a step a line:
 *
 *   send TEXT          types the text: \n \r \t \e \\ and \xHH are what they are in C
 *   wait TEXT          until the program has written the text since the last wait
 *   size COLUMNS ROWS  another window size
 *   pause MS
 *
 * All that the program writes goes to standard output. The last line of standard error is "status N", the program's
 * exit status, 128 + N after a signal N; a wait that takes longer than SECONDS says so before it and ends the program. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static int master;
static char *seen; /* what the program wrote; `from` is where the last wait ended */
static size_t n_seen, from;

static long now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000L + t.tv_nsec / 1000000L;
}

/* Reads what comes within so many ms; 0 when the program has closed the terminal. */
static int pump(int ms) {
  char bytes[4096];
  struct pollfd p = {.fd = master, .events = POLLIN};
  if (poll(&p, 1, ms) <= 0) return 1;
  const ssize_t n = read(master, bytes, sizeof bytes);
  if (n <= 0) return n < 0 && (errno == EINTR || errno == EAGAIN);
  fwrite(bytes, 1, (size_t)n, stdout);
  seen = realloc(seen, n_seen + (size_t)n + 1);
  if (seen == NULL) exit(3);
  memcpy(seen + n_seen, bytes, (size_t)n);
  n_seen += (size_t)n;
  return 1;
}

static size_t unescape(char *s) {
  char *to = s;
  for (const char *at = s; *at != '\0'; at++) {
    char c = *at;
    if (c == '\\' && at[1] != '\0') {
      c = *++at;
      if (c == 'x') {
        char hex[3] = {at[1], at[2], '\0'};
        c = (char)strtol(hex, NULL, 16);
        at += 2;
      } else {
        c = c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c == 'e' ? 27 : c;
      }
    }
    *to++ = c;
  }
  *to = '\0';
  return (size_t)(to - s);
}

static int wait_for(const char *text, size_t n, long limit_ms) {
  const long end = now_ms() + limit_ms;
  for (;;) {
    char *at = n_seen > from ? memmem(seen + from, n_seen - from, text, n) : NULL;
    if (at != NULL) {
      from = (size_t)(at - seen) + n;
      return 1;
    }
    if (now_ms() >= end || !pump(20)) return 0;
  }
}

static void resize(const char *text) {
  struct winsize size = {0};
  if (sscanf(text, "%hu %hu", &size.ws_col, &size.ws_row) == 2) ioctl(master, TIOCSWINSZ, &size);
}

int main(int argc, char **argv) {
  char line[8192], size[64];
  int status = 0, failed = 0;
  if (argc < 5) return 2;
  const long limit_ms = atol(argv[3]) * 1000;
  master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return 2;
  snprintf(size, sizeof size, "%s %s", argv[1], argv[2]);
  resize(size);
  const pid_t child = fork();
  if (child < 0) return 2;
  if (child == 0) {
    setsid();
    const int slave = open(ptsname(master), O_RDWR);
    if (slave < 0) _exit(126);
    ioctl(slave, TIOCSCTTY, 0);
    dup2(slave, 0);
    dup2(slave, 1);
    dup2(slave, 2);
    if (slave > 2) close(slave);
    close(master);
    execvp(argv[4], argv + 4);
    _exit(127);
  }
  while (!failed && fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char *text = strchr(line, ' ');
    if (text == NULL) continue;
    *text++ = '\0';
    if (strcmp(line, "size") == 0) {
      resize(text);
    } else if (strcmp(line, "pause") == 0) {
      for (const long end = now_ms() + atol(text); now_ms() < end;) pump(10);
    } else {
      const size_t n = unescape(text);
      if (strcmp(line, "send") == 0) failed = write(master, text, n) != (ssize_t)n;
      if (strcmp(line, "wait") == 0 && !wait_for(text, n, limit_ms)) {
        fprintf(stderr, "the program has not written: %s\n", text);
        failed = 1;
      }
    }
  }
  for (const long end = now_ms() + limit_ms; !failed && now_ms() < end && pump(20);) continue;
  fflush(stdout);
  if (failed) kill(child, SIGKILL);
  for (const long end = now_ms() + limit_ms; waitpid(child, &status, WNOHANG) == 0;) {
    if (now_ms() >= end) {
      kill(child, SIGKILL);
      fprintf(stderr, "the program has not ended\n");
      waitpid(child, &status, 0);
      break;
    }
    usleep(10000);
  }
  fprintf(stderr, "status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return failed;
}
