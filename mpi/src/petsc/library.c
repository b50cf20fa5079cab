/* library.c: the beginning and end of PETSc and SLEPc, their errors, and agreement between ranks. */
#define DAMO_MODULE_DEFINE
#include "library.h"

#include <slepcsys.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

library *library_new(world *w) {
  library *lib = calloc(1, sizeof *lib);
  if (lib == NULL) return NULL;
  lib->w = w;
  lib->comm = MPI_COMM_NULL;
  lib->refs = 1;
  return lib;
}

void library_release(library *lib) {
  if (lib == NULL || --lib->refs > 0) return;
  while (lib->first != NULL) matrix_forget(lib->first);
  free(lib);
}

/* ---- Beginning and end ------------------------------------------------------------------------------------------- */

/* Called while MPI still runs. With several ranks nothing of PETSc is destroyed any more: MUMPS's end waits for all
 * ranks, and one that ends early must not make it wait for ever. The memory goes with the process. */
static void library_end(void *user) {
  library *lib = user;
  for (matrix *m = lib->first; m != NULL; m = m->next) {
    if (lib->size == 1) matrix_destroy_petsc(m);
    matrix_free_arrays(m);
  }
  lib->ended = true;
  if (lib->finalizes && lib->size == 1) {
    library_enter(lib);
    SlepcFinalize();
    MPI_Comm_free(&lib->comm);
  }
  library_release(lib);
}

static PetscErrorCode initialize(library *lib) {
  char name[] = "damo", quiet[] = "-no_signal_handler", no_file[] = "-skip_petscrc";
  char *list[] = {name, quiet, no_file, NULL}, **argv = list;
  int argc = 3;
  PetscBool running = PETSC_FALSE;
  PetscErrorCode code = SlepcInitialized(&running);
  if (code != 0 || running) return code;
  code = SlepcInitialize(&argc, &argv, NULL, NULL);
  if (code == 0) lib->finalizes = true;
  return code;
}

/* PETSc's own duplicate of the communicator lives as long as anything of PETSc on it. Held, it is not made and freed with
 * each lone matrix, which costs, and which finalizers of some libraries don't survive. */
static PetscErrorCode keep_inner_comm(library *lib) {
  MPI_Comm inner;
  PetscMPIInt tag;
  PetscCall(PetscCommDuplicate(lib->size == 1 ? PETSC_COMM_SELF : lib->comm, &inner, &tag));
  return 0;
}

damo_status library_start(library *lib, damo_ctx *ctx) {
  if (lib->ended) return damo_fail(ctx, DAMO_ESTATE, "mpi: the world has been closed");
  if (lib->started) return DAMO_OK;
  damo_status s = lib->w->calls->start(lib->w, ctx);
  if (s == DAMO_OK) s = lib->w->calls->check(lib->w, ctx, MPI_Comm_dup(lib->w->comm, &lib->comm), "MPI_Comm_dup");
  if (s != DAMO_OK) return s;
  lib->rank = lib->w->rank;
  lib->size = lib->w->size;
  PetscErrorCode code = initialize(lib);
  if (code == 0) code = keep_inner_comm(lib);
  if (code != 0) return library_fail(ctx, DAMO_ESTATE, "mpi: PETSc does not start (error %d)", (int)code);
  s = lib->w->calls->at_close(lib->w, ctx, library_end, lib);
  if (s != DAMO_OK) return s;
  lib->refs++;
  lib->started = true;
  return DAMO_OK;
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

damo_status library_fail(damo_ctx *ctx, damo_status s, const char *format, ...) {
  char text[900];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return damo_fail(ctx, s, text);
}

/* PETSc calls it where an error arises (with its text), and again in each function that passes the error on. */
static PetscErrorCode keep_error(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                                 PetscErrorType type, const char *text, void *user) {
  library *lib = user;
  (void)comm, (void)line, (void)file;
  if (type == PETSC_ERROR_INITIAL || lib->text[0] == '\0') {
    snprintf(lib->text, sizeof lib->text, "%s: %s", function != NULL ? function : "PETSc", text != NULL ? text : "");
  }
  return code;
}

void library_enter(library *lib) {
  lib->text[0] = '\0';
  PetscPushErrorHandler(keep_error, lib);
}

void library_leave(library *lib) {
  (void)lib;
  PetscPopErrorHandler();
}

static damo_status kind_of(PetscErrorCode code) {
  switch ((int)code) {
    case PETSC_ERR_MEM: return DAMO_EMEMORY;
    case PETSC_ERR_SUP:
    case PETSC_ERR_SUP_SYS:
    case PETSC_ERR_MISSING_FACTOR:
    case PETSC_ERR_WRONG_MPI_SIZE: return DAMO_ENOT_IMPLEMENTED;
    case PETSC_ERR_ARG_SIZ:
    case PETSC_ERR_ARG_INCOMP: return DAMO_ESHAPE;
    case PETSC_ERR_ARG_NOTSAMETYPE: return DAMO_ETYPE;
    case PETSC_ERR_ARG_WRONG:
    case PETSC_ERR_ARG_IDN:
    case PETSC_ERR_ARG_OUTOFRANGE:
    case PETSC_ERR_ARG_UNKNOWN_TYPE:
    case PETSC_ERR_USER:
    case PETSC_ERR_USER_INPUT:
    case PETSC_ERR_INT_OVERFLOW: return DAMO_EVALUE;
    case PETSC_ERR_FP:
    case PETSC_ERR_CONV_FAILED:
    case PETSC_ERR_NOT_CONVERGED:
    case PETSC_ERR_MAT_LU_ZRPVT:
    case PETSC_ERR_MAT_CH_ZRPVT: return DAMO_ENUMERIC;
    case PETSC_ERR_FILE_OPEN:
    case PETSC_ERR_FILE_READ:
    case PETSC_ERR_FILE_WRITE:
    case PETSC_ERR_FILE_UNEXPECTED:
    case PETSC_ERR_MPI: return DAMO_EIO;
    default: return DAMO_ESTATE;
  }
}

damo_status library_check(library *lib, damo_ctx *ctx, PetscErrorCode code, const char *what) {
  const char *general = NULL;
  if (code == 0) return DAMO_OK;
  PetscErrorMessage(code, &general, NULL);
  return library_fail(ctx, kind_of(code), "%s: PETSc: %s (%s)", what, general != NULL ? general : "error", lib->text);
}

/* ---- Agreement --------------------------------------------------------------------------------------------------- */

typedef struct failure {
  int32_t status;
  char text[900];
} failure;

/* Every rank raises what the rank `from` has failed with. */
static damo_status share_failure(library *lib, damo_ctx *ctx, damo_status s, int from) {
  failure f = {.status = s};
  MPI_Request request;
  if (lib->rank == from) snprintf(f.text, sizeof f.text, "%s", damo_error_message(ctx));
  int code = MPI_Ibcast(&f, (int)sizeof f, MPI_BYTE, from, lib->comm, &request);
  damo_status sent = lib->w->calls->check(lib->w, ctx, code, "MPI_Ibcast");
  if (sent == DAMO_OK) sent = lib->w->calls->wait(lib->w, ctx, 1, &request);
  if (sent != DAMO_OK) return sent;
  return library_fail(ctx, (damo_status)f.status, "rank %d: %s", from, f.text);
}

void library_doing(library *lib, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(lib->doing, sizeof lib->doing, format, args);
  va_end(args);
}

/* A positive number of a text (FNV-1a). */
static int64_t text_number(const char *text) {
  uint64_t h = 14695981039346656037u;
  for (; *text != '\0'; text++) h = (h ^ (uint8_t)*text) * 1099511628211u;
  return (int64_t)(h >> 2);
}

/* An error that tells what rank 0 does, and what the first rank does that is elsewhere. */
static damo_status tell_places(library *lib, damo_ctx *ctx) {
  const int64_t shape[2] = {lib->size, DOING_SIZE};
  damo_array *all = damo_array_new(ctx, DAMO_UINT8, 2, shape);
  if (all == NULL) return DAMO_EMEMORY;
  char *texts = damo_array_data(all);
  MPI_Request request;
  int code = MPI_Iallgather(lib->doing, DOING_SIZE, MPI_CHAR, texts, DOING_SIZE, MPI_CHAR, lib->comm, &request);
  damo_status s = lib->w->calls->check(lib->w, ctx, code, "MPI_Iallgather");
  if (s == DAMO_OK) s = lib->w->calls->wait(lib->w, ctx, 1, &request);
  int other = 1;
  while (s == DAMO_OK && other < lib->size - 1 && strcmp(texts, texts + other * DOING_SIZE) == 0) other++;
  if (s == DAMO_OK) {
    s = library_fail(ctx, DAMO_EINCONSISTENCY, "mpi: the ranks do different things here: rank 0 %s, rank %d %s", texts,
                     other, texts + other * DOING_SIZE);
  }
  damo_release(all);
  return s;
}

/* What ranks exchange: each word becomes the largest of all ranks'. The code is 0, or size - rank where a rank has failed,
 * so that the largest is the lowest rank's. A number and its negative tell whether all ranks have it. */
enum { CODE, DOING, MINUS_DOING, SAME_NUMBER, MINUS_SAME, LARGEST, N_WORDS };

static damo_status exchange(library *lib, damo_ctx *ctx, damo_status s, const agreement *same, int64_t *value) {
  const int64_t doing = text_number(lib->doing), number = same != NULL ? same->value : 0;
  const int64_t mine[N_WORDS] = {
      s == DAMO_OK ? 0 : lib->size - lib->rank, doing, -doing, number, -number, value != NULL ? *value : 0};
  int64_t all[N_WORDS];
  MPI_Request request;
  int code = MPI_Iallreduce(mine, all, N_WORDS, MPI_INT64_T, MPI_MAX, lib->comm, &request);
  damo_status sent = lib->w->calls->check(lib->w, ctx, code, "MPI_Iallreduce");
  if (sent == DAMO_OK) sent = lib->w->calls->wait(lib->w, ctx, 1, &request);
  if (sent != DAMO_OK) return sent;
  if (all[DOING] != -all[MINUS_DOING]) return tell_places(lib, ctx);
  if (all[CODE] != 0) return share_failure(lib, ctx, s, lib->size - (int)all[CODE]);
  if (all[SAME_NUMBER] != -all[MINUS_SAME]) {
    return library_fail(ctx, DAMO_ESHAPE, "the ranks have different numbers of %s: from %lld to %lld, %lld on rank %d",
                        same != NULL ? same->what : "", (long long)-all[MINUS_SAME], (long long)all[SAME_NUMBER],
                        (long long)number, lib->rank);
  }
  if (value != NULL) *value = all[LARGEST];
  return DAMO_OK;
}

static damo_status agree(library *lib, damo_ctx *ctx, damo_status s, const agreement *same, int64_t *value) {
  if (lib->size > 1 && lib->started) s = exchange(lib, ctx, s, same, value);
  lib->doing[0] = '\0';
  return s;
}

damo_status library_agree(library *lib, damo_ctx *ctx, damo_status s, const agreement *same) {
  return agree(lib, ctx, s, same, NULL);
}

damo_status library_agree_max(library *lib, damo_ctx *ctx, damo_status s, int64_t *value) {
  return agree(lib, ctx, s, NULL, value);
}

damo_status library_sum(library *lib, damo_ctx *ctx, double *values, int64_t n) {
  MPI_Request request;
  if (lib->size == 1) return DAMO_OK;
  int code = MPI_Iallreduce(MPI_IN_PLACE, values, (int)n, MPI_DOUBLE, MPI_SUM, lib->comm, &request);
  damo_status s = lib->w->calls->check(lib->w, ctx, code, "MPI_Iallreduce");
  return s == DAMO_OK ? lib->w->calls->wait(lib->w, ctx, 1, &request) : s;
}
