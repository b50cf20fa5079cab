/* world.c: MPI's beginning and end, and waiting. */
#include "world.h"

#include "group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Beginning and end ------------------------------------------------------------------------------------------- */

/* Whether a launcher started this process: Open MPI's and PMIx's, and those that speak PMI (MPICH's, srun). A variable
 * that Slurm sets in every shell of a job is no sign, since MPI_Init in such a shell may end the process. */
static bool is_launched(void) {
  static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    if (getenv(signs[i]) != NULL) return true;
  }
  return false;
}

static const world_calls calls = {
    .start = world_start,
    .wait = world_wait,
    .check = world_check,
    .at_close = world_at_close,
};

world *world_new(void) {
  world *w = calloc(1, sizeof *w);
  if (w == NULL) return NULL;
  w->calls = &calls;
  w->comm = w->control = MPI_COMM_NULL;
  for (int k = 0; k < WORLD_OWN_OPERATIONS; k++) w->operations[k] = MPI_OP_NULL;
  w->size = 1;
  w->refs = 1;
  return w;
}

void world_release(world *w) {
  if (w == NULL || --w->refs > 0) return;
  world_close(w);
  free(w);
}

/* The first error among those of a few calls. */
static int first_error(int a, int b) { return a != MPI_SUCCESS ? a : b; }

static int begin_mpi(world *w) {
  int running = 0, ended = 0, level = 0;
  MPI_Finalized(&ended);
  if (ended) return MPI_ERR_OTHER;
  MPI_Initialized(&running);
  if (!running) {
    /* Workers of damo and of BLAS never call MPI. */
    const int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    if (code != MPI_SUCCESS) return code;
    w->owns_mpi = true;
    /* Open MPI asks its handler where what fails belongs to no communicator that it knows, such as a test of requests. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  w->uses_mpi = true;
  int code = MPI_Comm_dup(MPI_COMM_WORLD, &w->comm);
  code = first_error(code, MPI_Comm_dup(MPI_COMM_WORLD, &w->control));
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_set_errhandler(w->comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(w->control, MPI_ERRORS_RETURN);
  code = MPI_Comm_rank(w->comm, &w->rank);
  return first_error(code, MPI_Comm_size(w->comm, &w->size));
}

int world_open(world *w) {
  int running = 0;
  MPI_Initialized(&running);
  return running || is_launched() ? begin_mpi(w) : MPI_SUCCESS;
}

damo_status world_start(world *w, damo_ctx *ctx) {
  if (w->closed) return damo_fail(ctx, DAMO_ESTATE, "mpi: the world has been closed");
  if (w->uses_mpi) return DAMO_OK;
  return world_check(w, ctx, begin_mpi(w), "MPI_Init");
}

void world_close(world *w) {
  if (w->closed) return;
  w->closed = true;
  if (w->uses_mpi && w->end != NULL) w->end(w);
  /* After a fault, what would wait for all ranks is left to the end of the process. */
  while (w->n_at_close > 0 && !w->broken) {
    w->n_at_close--;
    w->at_close[w->n_at_close].fn(w->at_close[w->n_at_close].user);
  }
  int ended = 0;
  MPI_Finalized(&ended);
  groups_close(w, w->uses_mpi && !ended);
  if (w->uses_mpi && !ended) {
    for (int k = 0; k < WORLD_OWN_OPERATIONS; k++) {
      if (w->operations[k] != MPI_OP_NULL) MPI_Op_free(&w->operations[k]);
    }
    if (w->comm != MPI_COMM_NULL) MPI_Comm_free(&w->comm);
    if (w->control != MPI_COMM_NULL) MPI_Comm_free(&w->control);
    if (w->owns_mpi) MPI_Finalize();
  }
  w->uses_mpi = false;
}

damo_status world_at_close(world *w, damo_ctx *ctx, void (*fn)(void *user), void *user) {
  if (w->n_at_close == WORLD_MAX_AT_CLOSE) return damo_fail(ctx, DAMO_ESTATE, "mpi: too much is to be done at the end");
  w->at_close[w->n_at_close].fn = fn;
  w->at_close[w->n_at_close++].user = user;
  return DAMO_OK;
}

/* ---- Errors and waiting ------------------------------------------------------------------------------------------ */

damo_status world_check(world *w, damo_ctx *ctx, int code, const char *call) {
  char text[MPI_MAX_ERROR_STRING] = "", message[MPI_MAX_ERROR_STRING + 100];
  int n = 0;
  if (code == MPI_SUCCESS) return DAMO_OK;
  if (MPI_Error_string(code, text, &n) != MPI_SUCCESS) text[0] = '\0';
  snprintf(message, sizeof message, "mpi: %s failed on rank %d: %s", call, w->rank, text);
  return damo_fail(ctx, DAMO_EIO, message);
}

damo_status world_usable(const world *w, damo_ctx *ctx) {
  if (w->closed) return damo_fail(ctx, DAMO_ESTATE, "mpi: the world has been closed");
  if (w->broken) {
    return damo_fail(ctx, DAMO_ESTATE, "mpi: an earlier error ended the work of all ranks together; start them again");
  }
  return DAMO_OK;
}

/* Every so many tests for the work a test for a fault: a test is a few hundred nanoseconds, and MPI_Testall has already
 * made the library's progress, which brings the message of a fault too. */
#define TESTS_A_POLL 32

damo_status world_look(world *w, damo_ctx *ctx, damo_status (*look)(void *data), void *data) {
  const damo_status s = w->poll != NULL ? w->poll(w, ctx) : DAMO_OK;
  return s == DAMO_OK && look != NULL ? look(data) : s;
}

damo_status world_wait_looking(world *w, damo_ctx *ctx, int n, MPI_Request *requests, damo_status (*look)(void *data),
                               void *data) {
  for (int tests = 1;; tests++) {
    int done = 0;
    const int code = MPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) return world_check(w, ctx, code, "MPI_Testall");
    if (done) return DAMO_OK;
    if (tests < TESTS_A_POLL) continue;
    tests = 0;
    const damo_status s = world_look(w, ctx, look, data);
    if (s != DAMO_OK) return s;
  }
}

damo_status world_wait(world *w, damo_ctx *ctx, int n, MPI_Request *requests) {
  return world_wait_looking(w, ctx, n, requests, NULL, NULL);
}
