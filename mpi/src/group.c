/* group.c: groups of ranks, places, comparison of records. */
#include "group.h"

#include "board.h"
#include "faults.h"
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG_NOTICE 21

/* Comparisons of a group are counted apart from its places: which ranks come to one depends on notices. */
#define COMPARISONS ((uint64_t)1 << 63)

/* ---- Making groups ----------------------------------------------------------------------------------------------- */

static void group_free(group *g, bool has_mpi) {
  if (has_mpi && g->notice != MPI_REQUEST_NULL) {
    MPI_Cancel(&g->notice);
    MPI_Request_free(&g->notice);
  }
  board_close(g, has_mpi);
  if (has_mpi && g->comm != MPI_COMM_NULL && g->comm != g->w->comm) MPI_Comm_free(&g->comm);
  if (has_mpi && g->control != MPI_COMM_NULL) MPI_Comm_free(&g->control);
  free(g->records);
  free(g->counts);
  free(g->lengths);
  free(g);
}

static int listen(group *g) {
  return MPI_Irecv(&g->notice_in, 1, MPI_INT64_T, MPI_ANY_SOURCE, TAG_NOTICE, g->control, &g->notice);
}

/* A group over comm, which it takes (MPI_COMM_NULL: of one rank). */
static group *group_over(world *w, damo_ctx *ctx, MPI_Comm comm, uint64_t key) {
  group *g = calloc(1, sizeof *g);
  if (g != NULL) {
    g->w = w;
    g->size = 1;
    g->key = key;
    g->comm = comm;
    g->control = MPI_COMM_NULL;
    g->notice = MPI_REQUEST_NULL;
  }
  int code = MPI_SUCCESS;
  if (g != NULL && comm != MPI_COMM_NULL) {
    MPI_Comm_rank(comm, &g->rank);
    MPI_Comm_size(comm, &g->size);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    code = MPI_Comm_dup(comm, &g->control);
    if (code == MPI_SUCCESS) MPI_Comm_set_errhandler(g->control, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS && g->size > 1) code = listen(g);
  }
  if (g != NULL) g->records = calloc((size_t)g->size * RECORD_WORDS, sizeof *g->records);
  if (g != NULL) g->counts = calloc((size_t)g->size * 4, sizeof *g->counts);
  if (g != NULL) g->lengths = calloc((size_t)g->size * 3, sizeof *g->lengths);
  if (g == NULL || g->records == NULL || g->counts == NULL || g->lengths == NULL || code != MPI_SUCCESS) {
    if (g != NULL) group_free(g, true);
    if (code != MPI_SUCCESS) {
      world_check(w, ctx, code, "MPI_Comm_dup");
    } else {
      damo_fail(ctx, DAMO_EMEMORY, "mpi: no memory for a group of ranks");
    }
    return NULL;
  }
  faults_join(w, g->key);
  faults_join(w, g->key + COMPARISONS);
  g->id = w->n_groups++;
  g->next = w->groups;
  w->groups = g;
  board_open(g);
  return g;
}

group *group_find(const world *w, int64_t id) {
  for (group *g = w->groups; g != NULL; g = g->next) {
    if (g->id == id) return g;
  }
  return NULL;
}

group *group_world(world *w, damo_ctx *ctx) {
  group *g = group_find(w, 0);
  return g != NULL ? g : group_over(w, ctx, w->comm, 1);
}

static uint64_t mixed(uint64_t a, uint64_t b) {
  const uint64_t h = (a ^ (b + 1) * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  return h ^ h >> 31;
}

static uint64_t part_key(const group *g, int color) {
  return mixed(mixed(g->key, (uint64_t)g->place), (uint64_t)color) & ~COMPARISONS;
}

damo_status group_split(group *g, damo_ctx *ctx, int color, int key, group **out) {
  MPI_Comm part = MPI_COMM_NULL;
  int64_t record[RECORD_WORDS] = {0};
  record[RECORD_KIND] = RECORD_SPLIT;
  record[RECORD_SEQ] = -1;
  damo_status s = group_enter(g, ctx, record);
  if (s == DAMO_OK) s = group_compare(g, ctx, record);
  if (s != DAMO_OK) return s;
  if (g->comm != MPI_COMM_NULL) {
    const int code = MPI_Comm_split(g->comm, color < 0 ? MPI_UNDEFINED : color, key, &part);
    if (code != MPI_SUCCESS) return world_check(g->w, ctx, code, "MPI_Comm_split");
  }
  *out = NULL;
  if (color < 0) {
    g->w->n_groups++; /* numbers stay equal on all ranks */
    return DAMO_OK;
  }
  *out = group_over(g->w, ctx, part, part_key(g, color));
  return *out != NULL ? DAMO_OK : DAMO_EMEMORY;
}

void groups_close(world *w, bool has_mpi) {
  while (w->groups != NULL) {
    group *g = w->groups;
    w->groups = g->next;
    group_free(g, has_mpi);
  }
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static int64_t *history_of(group *g, int64_t place) { return g->history[place % GROUP_HISTORY]; }

damo_status group_enter(group *g, damo_ctx *ctx, int64_t *record) {
  const damo_status s = world_usable(g->w, ctx);
  if (s != DAMO_OK) return s;
  if (g->broken) {
    return damo_fail(
        ctx, DAMO_ESTATE,
        "mpi: the ranks of this group went apart after an earlier error of a collective; start them again");
  }
  faults_count(g->w, g->key);
  record[RECORD_PLACE] = ++g->place;
  if (g->board != NULL) board_enter(g);
  record[RECORD_SENT] = 0;
  memcpy(history_of(g, g->place), record, record_bytes(record));
  return DAMO_OK;
}

uint64_t group_hash(const int64_t *record) {
  uint64_t h = 14695981039346656037u;
  for (int i = RECORD_SEQ; i < RECORD_SHAPE + record[RECORD_NDIM]; i++) {
    h = (h ^ (uint64_t)record[i]) * 1099511628211u;
    h ^= h >> 29;
  }
  return h != 0 ? h : 1;
}

static int slot_of(const group *g, uint64_t h) {
  int at = (int)(h % (2 * GROUP_MAX_AGREED));
  while (g->agreed[at] != 0 && g->agreed[at] != h) at = (at + 1) % (2 * GROUP_MAX_AGREED);
  return at;
}

bool group_has_agreed(const group *g, uint64_t hash) { return !g->doubts && g->agreed[slot_of(g, hash)] != 0; }

void groups_doubt(world *w) {
  for (group *g = w->groups; g != NULL; g = g->next) g->doubts = true;
}

static void note_agreed(group *g, const int64_t *record) {
  const uint64_t h = group_hash(record);
  if (g->n_agreed == GROUP_MAX_AGREED) {
    memset(g->agreed, 0, sizeof g->agreed);
    g->n_agreed = 0;
  }
  const int at = slot_of(g, h);
  if (g->agreed[at] == 0) g->n_agreed++;
  g->agreed[at] = h;
}

/* ---- Comparison -------------------------------------------------------------------------------------------------- */

/* Reads the notices that have come. A notice of a place that has been compared is old. */
static damo_status read_notices(group *g, damo_ctx *ctx) {
  for (;;) {
    int there = 0;
    int code = MPI_Test(&g->notice, &there, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !there) return DAMO_OK;
    if (code == MPI_SUCCESS) {
      const int64_t place = g->notice_in;
      if (place > g->compared && (g->told == 0 || place < g->told)) g->told = place;
      code = listen(g);
    }
    if (code != MPI_SUCCESS) return world_check(g->w, ctx, code, "MPI_Test");
  }
}

static damo_status send_notices(group *g, damo_ctx *ctx) {
  g->notice_out = g->place;
  for (int r = 0; r < g->size; r++) {
    if (r == g->rank) continue;
    /* 8 bytes: MPI sends them at once, without the receiver. */
    const int code = MPI_Send(&g->notice_out, 1, MPI_INT64_T, r, TAG_NOTICE, g->control);
    if (code != MPI_SUCCESS) return world_check(g->w, ctx, code, "MPI_Send");
  }
  return DAMO_OK;
}

/* One round: every rank's record goes to all. */
static damo_status exchange(group *g, damo_ctx *ctx, const int64_t *record) {
  MPI_Request request;
  faults_count(g->w, g->key + COMPARISONS);
  const int code =
      MPI_Iallgather(record, RECORD_WORDS, MPI_INT64_T, g->records, RECORD_WORDS, MPI_INT64_T, g->control, &request);
  const damo_status s = world_check(g->w, ctx, code, "MPI_Iallgather");
  return s == DAMO_OK ? world_wait(g->w, ctx, 1, &request) : s;
}

/* The records of the last round: their lowest place, whether all have it, and whether any rank has sent data. */
typedef struct round_facts {
  int64_t lowest;
  bool same, sent;
} round_facts;

static round_facts facts_of(const group *g) {
  round_facts f = {INT64_MAX, true, false};
  for (int r = 0; r < g->size; r++) {
    const int64_t *record = g->records + r * RECORD_WORDS;
    if (record[RECORD_PLACE] < f.lowest) f.lowest = record[RECORD_PLACE];
  }
  for (int r = 0; r < g->size; r++) {
    const int64_t *record = g->records + r * RECORD_WORDS;
    if (record[RECORD_PLACE] != f.lowest) f.same = false;
    if (record[RECORD_SENT]) f.sent = true;
  }
  return f;
}

/* The record of a place that this rank has come to. */
static void remember(group *g, int64_t place, int64_t *record) {
  memcpy(record, history_of(g, place), RECORD_WORDS * sizeof *record);
  if (place == g->place) return;
  record[RECORD_SENT] = 1;
  if (record[RECORD_PLACE] == place) return;
  record[RECORD_PLACE] = place;
  record[RECORD_KIND] = RECORD_GONE;
}

/* Rounds until the records of one place are compared: that of `from`, or an earlier one. */
static damo_status compare_from(group *g, damo_ctx *ctx, int64_t from, int64_t *compared) {
  int64_t record[RECORD_WORDS];
  for (int64_t place = from;;) {
    remember(g, place, record);
    damo_status s = exchange(g, ctx, record);
    if (s != DAMO_OK) return s;
    const round_facts f = facts_of(g);
    if (f.lowest < place) place = f.lowest;
    if (!f.same) continue;
    *compared = g->compared = place;
    if (place == g->place) g->doubts = false;
    if (g->told <= place) g->told = 0;
    s = records_judge(g, ctx);
    if (s == DAMO_OK) {
      note_agreed(g, record);
    } else if (f.sent) {
      g->broken = true; /* data is under way that nobody will take */
    }
    return s;
  }
}

damo_status group_compare(group *g, damo_ctx *ctx, int64_t *record) {
  if (g->size == 1) {
    memcpy(g->records, record, record_bytes(record));
    return records_judge(g, ctx);
  }
  damo_status s = send_notices(g, ctx);
  for (int64_t compared = 0; s == DAMO_OK && compared < g->place;) s = compare_from(g, ctx, g->place, &compared);
  return s == DAMO_OK ? read_notices(g, ctx) : s; /* else those of the others would pile up in MPI */
}

damo_status group_meet(group *g, damo_ctx *ctx, int64_t kind, const char *name) {
  int64_t record[RECORD_WORDS] = {0};
  record[RECORD_SEQ] = -1;
  record[RECORD_KIND] = kind;
  snprintf((char *)(record + RECORD_SHAPE), RECORD_TEXT_MAX, "%s", name);
  const damo_status s = group_enter(g, ctx, record);
  return s == DAMO_OK ? group_compare(g, ctx, record) : s;
}

typedef struct waiting {
  group *g;
  damo_ctx *ctx;
} waiting;

static damo_status look_for_notices(void *data) {
  const waiting *at = data;
  group *g = at->g;
  int64_t compared;
  const damo_status s = read_notices(g, at->ctx);
  if (s != DAMO_OK || g->told == 0 || g->told > g->place) return s;
  return compare_from(g, at->ctx, g->told, &compared);
}

damo_status group_wait(group *g, damo_ctx *ctx, int n, MPI_Request *requests) {
  waiting at = {g, ctx};
  group_note_sent(g);
  return world_wait_looking(g->w, ctx, n, requests, look_for_notices, &at);
}

void group_note_sent(group *g) { history_of(g, g->place)[RECORD_SENT] = 1; }

damo_status group_look(group *g, damo_ctx *ctx) {
  waiting at = {g, ctx};
  return world_look(g->w, ctx, look_for_notices, &at);
}
