/* faults.c: the channel, and the functions by which damo.mpi.run reaches it. */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FAULT_TAG 1
#define DEFAULT_GRACE 10.0
/* A message is short enough that every transport sends it at once, whether or not somebody receives it: Open MPI's
 * shared memory takes 4096 bytes with its own header. */
#define TEXT_MAX 1400
#define TRACE_TEXT_MAX 1100
#define MAX_GROUPS 150

typedef enum fault_what { NOTHING, FAILED, HEARD, ENDED } fault_what;

typedef struct group_count {
  uint64_t group;
  int64_t n;
} group_count;

typedef struct fault_message {
  int32_t what, rank;
  int32_t about;    /* of FAILED: the rank that the error tells of */
  int32_t status;   /* of FAILED: damo_status */
  int32_t n_groups; /* of ENDED */
  union {
    struct {
      char text[TEXT_MAX], trace[TRACE_TEXT_MAX];
    } error;
    group_count groups[MAX_GROUPS];
  } u;
} fault_message;

typedef struct peer {
  bool answered;
  fault_message *ended; /* its last message, NULL before */
} peer;

typedef struct faults {
  world *w;
  double grace;
  fault_message in; /* what the pending receive writes into */
  MPI_Request receive;
  fault_message word, last; /* FAILED or HEARD, and ENDED: both stay until the messages are gone */
  MPI_Request *sends;       /* 2 · size: of word, of last */
  peer *peers;
  int n_ended;
  fault_message first; /* the error that all ranks raise: that of the lowest rank */
  group_count groups[MAX_GROUPS];
  int n_groups;
} faults;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Who waits for others' words gives the core away after a while. */
static void nap(int round) {
  const struct timespec millisecond = {0, 1000000};
  if (round > 100) nanosleep(&millisecond, NULL);
}

/* What is left where ranks can't be told of an error, or do not answer. */
static void abort_job(void) {
  fflush(NULL); /* MPI_Abort need not */
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static void send_all(faults *f, const fault_message *m, MPI_Request *sends) {
  for (int r = 0; r < f->w->size; r++) {
    if (r == f->w->rank) continue;
    /* What can't be sent is for a rank that is gone; the launcher ends the job then. */
    MPI_Isend(m, (int)sizeof *m, MPI_BYTE, r, FAULT_TAG, f->w->control, &sends[r]);
  }
}

static void listen_on(faults *f) {
  const int code =
      MPI_Irecv(&f->in, (int)sizeof f->in, MPI_BYTE, MPI_ANY_SOURCE, FAULT_TAG, f->w->control, &f->receive);
  if (code != MPI_SUCCESS) f->receive = MPI_REQUEST_NULL;
}

/* The error of the lowest rank is everybody's. */
static void take_failed(faults *f, const fault_message *m) {
  if (f->first.what == NOTHING || m->rank < f->first.rank) f->first = *m;
}

static void take(faults *f, const fault_message *m) {
  if (m->rank < 0 || m->rank >= f->w->size) return;
  peer *p = &f->peers[m->rank];
  p->answered = true;
  if (m->what == FAILED) take_failed(f, m);
  if (m->what != ENDED || p->ended != NULL) return;
  p->ended = malloc(sizeof *m);
  if (p->ended == NULL) abort_job();
  *p->ended = *m;
  f->n_ended++;
}

/* Takes the messages that have come. */
static void take_messages(faults *f) {
  int came = 1;
  while (came && f->receive != MPI_REQUEST_NULL) {
    if (MPI_Test(&f->receive, &came, MPI_STATUS_IGNORE) != MPI_SUCCESS || !came) return;
    take(f, &f->in);
    listen_on(f);
  }
}

/* ---- Counts ------------------------------------------------------------------------------------------------------ */

static group_count *find_group(faults *f, uint64_t group) {
  for (int i = 0; i < f->n_groups; i++) {
    if (f->groups[i].group == group) return &f->groups[i];
  }
  /* Groups past the last place have no counts: who waits for an ended member of one waits for the launcher. */
  if (f->n_groups == MAX_GROUPS) return NULL;
  f->groups[f->n_groups] = (group_count){group, 0};
  return &f->groups[f->n_groups++];
}

void faults_join(world *w, uint64_t group) {
  if (w->faults != NULL) find_group(w->faults, group);
}

void faults_count(world *w, uint64_t group) {
  group_count *g = w->faults != NULL ? find_group(w->faults, group) : NULL;
  if (g != NULL) g->n++;
}

/* Whether this rank has begun something that the ended rank of that message takes no part in. */
static bool is_missed(const faults *f, const fault_message *ended) {
  for (int i = 0; i < ended->n_groups; i++) {
    for (int k = 0; k < f->n_groups; k++) {
      if (f->groups[k].group == ended->u.groups[i].group && f->groups[k].n > ended->u.groups[i].n) return true;
    }
  }
  return false;
}

/* The rank that has ended and is waited for, -1 if there is none. */
static int find_missed(const faults *f) {
  for (int r = 0; f->n_ended > 0 && r < f->w->size; r++) {
    if (f->peers[r].ended != NULL && is_missed(f, f->peers[r].ended)) return r;
  }
  return -1;
}

/* ---- A fault ----------------------------------------------------------------------------------------------------- */

static bool all_answered(const faults *f) {
  for (int r = 0; r < f->w->size; r++) {
    if (r != f->w->rank && !f->peers[r].answered) return false;
  }
  return true;
}

/* Breaks the world: says this rank's word, if it has said none, and waits for that of the others. */
static void settle(faults *f, fault_what word) {
  f->w->broken = true;
  if (f->word.what != NOTHING) return;
  f->word.what = word;
  f->word.rank = f->w->rank;
  if (word == FAILED) take_failed(f, &f->word);
  send_all(f, &f->word, f->sends);
  const double until = seconds() + f->grace;
  for (int round = 0; !all_answered(f) && seconds() < until; round++) {
    take_messages(f);
    nap(round);
  }
}

/* The ways of a rank's own error: `about` is the rank that it tells of. */
static void fail_all(faults *f, int about, damo_status status, const char *text, const char *trace) {
  if (f->word.what == NOTHING) {
    f->word.about = about;
    f->word.status = (int32_t)status;
    snprintf(f->word.u.error.text, TEXT_MAX, "%s", text);
    snprintf(f->word.u.error.trace, TRACE_TEXT_MAX, "%s", trace);
  }
  settle(f, FAILED);
}

static damo_status fail_first(const faults *f, damo_ctx *ctx) {
  char message[TEXT_MAX + TRACE_TEXT_MAX + 100];
  const fault_message *m = &f->first;
  const char *trace = m->u.error.trace;
  int n = snprintf(message, sizeof message, "rank %d: %s", m->about, m->u.error.text);
  if (trace[0]) snprintf(message + n, sizeof message - (size_t)n, "\ntrace of rank %d:\n%s", m->about, trace);
  return damo_fail(ctx, (damo_status)m->status, message);
}

static damo_status poll_faults(world *w, damo_ctx *ctx) {
  faults *f = w->faults;
  take_messages(f);
  const int missed = f->first.what == NOTHING ? find_missed(f) : -1;
  if (missed >= 0) {
    fail_all(
        f, missed, DAMO_ESTATE,
        "it has ended while others wait for it; if it failed, its own output tells why (mpi.run and damo.mpi.launch "
        "tell all ranks)",
        "");
  } else if (f->first.what != NOTHING) {
    settle(f, HEARD);
  }
  return f->first.what != NOTHING ? fail_first(f, ctx) : world_usable(w, ctx);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static bool all_ended(const faults *f) { return f->n_ended == f->w->size - 1; }

static void say_ended(faults *f) {
  fault_message *m = &f->last;
  m->what = ENDED;
  m->rank = f->w->rank;
  m->n_groups = f->n_groups;
  for (int i = 0; i < f->n_groups; i++) m->u.groups[i] = f->groups[i];
  send_all(f, m, f->sends + f->w->size);
}

/* Waits until every rank has ended. Messages of communication that this rank has had its part in go on meanwhile. After
 * a fault nobody is waited for longer than the grace, and MPI_Finalize, which waits for all, is left out. */
static void end_faults(world *w) {
  faults *f = w->faults;
  double until = -1;
  fflush(NULL); /* after a fault the launcher ends the ranks that are left once one has exited */
  say_ended(f);
  for (int round = 0; !all_ended(f); round++) {
    take_messages(f);
    if (f->first.what != NOTHING) w->broken = true;
    if (w->broken && until < 0) until = seconds() + f->grace;
    if (w->broken && seconds() > until) abort_job();
    nap(round);
  }
  if (w->broken) {
    w->uses_mpi = false;
    return;
  }
  if (f->receive != MPI_REQUEST_NULL) {
    MPI_Cancel(&f->receive);
    MPI_Wait(&f->receive, MPI_STATUS_IGNORE);
  }
  MPI_Waitall(2 * w->size, f->sends, MPI_STATUSES_IGNORE);
  for (int r = 0; r < w->size; r++) free(f->peers[r].ended);
  free(f->peers);
  free(f->sends);
  free(f);
  w->faults = NULL;
  w->poll = NULL;
}

damo_status faults_open(world *w, damo_ctx *ctx) {
  if (!w->uses_mpi || w->size < 2 || w->faults != NULL) return DAMO_OK;
  faults *f = calloc(1, sizeof *f);
  peer *peers = calloc((size_t)w->size, sizeof *peers);
  MPI_Request *sends = malloc(2 * (size_t)w->size * sizeof *sends);
  if (f == NULL || peers == NULL || sends == NULL) {
    free(f);
    free(peers);
    free(sends);
    return damo_fail(ctx, DAMO_EMEMORY, NULL);
  }
  f->w = w;
  f->grace = DEFAULT_GRACE;
  f->peers = peers;
  f->sends = sends;
  for (int i = 0; i < 2 * w->size; i++) sends[i] = MPI_REQUEST_NULL;
  listen_on(f);
  w->faults = f;
  w->poll = poll_faults;
  w->end = end_faults;
  faults_join(w, FAULTS_WORLD);
  return DAMO_OK;
}

/* ---- Scripts ----------------------------------------------------------------------------------------------------- */

static damo_status status_of_kind(const char *kind) {
  for (int s = DAMO_OK + 1; s <= DAMO_ECALLBACK; s++) {
    if (strcmp(damo_status_kind((damo_status)s), kind) == 0) return (damo_status)s;
  }
  return DAMO_ECALLBACK;
}

/* core.fault(): the error that broke the world, as rank, kind, message, trace and the rank that told it; nothing if there is none. */
static int core_fault(lua_State *L) {
  world *w = world_of(L);
  faults *f = w->faults;
  if (f != NULL) take_messages(f);
  if (f == NULL || f->first.what == NOTHING) return 0;
  lua_pushinteger(L, f->first.about);
  lua_pushstring(L, damo_status_kind((damo_status)f->first.status));
  lua_pushstring(L, f->first.u.error.text);
  lua_pushstring(L, f->first.u.error.trace);
  lua_pushinteger(L, f->first.rank);
  return 5;
}

/* core.raise(kind, message, trace): tells all ranks of an error of this one, and gives the one that all raise, as fault
 * does; nothing in a world of one rank. */
static int core_raise(lua_State *L) {
  world *w = world_of(L);
  const char *kind = luaL_checkstring(L, 1), *text = luaL_checkstring(L, 2), *trace = luaL_checkstring(L, 3);
  if (w->faults == NULL || w->closed) return 0;
  fail_all(w->faults, w->rank, status_of_kind(kind), text, trace);
  return core_fault(L);
}

/* core.grace(seconds): how long a rank that has failed waits for the others. */
static int core_grace(lua_State *L) {
  world *w = world_of(L);
  if (w->faults != NULL) w->faults->grace = luaL_checknumber(L, 1);
  return 0;
}

void faults_register(lua_State *L) {
  static const luaL_Reg functions[] = {{"fault", core_fault}, {"raise", core_raise}, {"grace", core_grace}};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    lua_pushcfunction(L, functions[i].func);
    lua_setfield(L, -2, functions[i].name);
  }
}
