/* scan_frame.h: private to scan/: the data of a loop while it runs, and what a run consists of:
 *
 *     scan_check_lengths, scan_frame_function, scan_frame_reserve, scan_drop_last, scan_start, scan_begin;
 *     for each step: scan_set_args, scan_step, scan_keep, scan_advance;
 *     scan_end, scan_give, scan_frame_release (keep).
 */
#ifndef DAMO_SCAN_SCAN_FRAME_H
#define DAMO_SCAN_SCAN_FRAME_H

#include "scan_int.h"

/* The rows of one stacked result. */
typedef struct scan_rows {
  damo_array *a; /* the result, or while its length is unknown an array of `cap` rows, then owned; NULL: not yet */
  int64_t cap;
  bool own;
  bool direct; /* steps write straight into their rows, through a view that is among the spare objects */
  bool fixed;  /* the thunk that makes the value is told so */
  size_t row_bytes;
} scan_rows;

typedef struct scan_frame {
  damo_function *inner;
  void *block;
  size_t bytes;
  damo_obj **args;     /* n_in, borrowed: the values of the step */
  damo_array **views;  /* n_in: for taps of sequences, owned */
  damo_obj **ring;     /* per state its past values, owned, newest first */
  damo_obj **fresh;    /* inner outputs of the step, owned */
  damo_obj **spare;    /* per inner output: an object to be written over, owned, or NULL */
  int32_t *ring_at;    /* per state its first entry of `ring`; then their number */
  scan_rows *rows;     /* per part */
  scan_native *native; /* machine code of the loop; NULL: not made */
  bool scalars;        /* it runs by scan_native_run_scalars */
  int64_t seen;        /* steps before it was tried; -1: it was */
  scan_class *shaper;  /* in a frame over a frozen program: a copy of the class, which has `shapes`; NULL: none yet */
  bool direct;         /* the inner thunks run without a call */
  int64_t n_run;       /* steps since scan_begin */
  /* Where the operands are among the node's inputs: from first_in on, as those of a Scan. */
  int32_t first_in;
  int32_t n_fed; /* of the last sequences, which are no operands: the caller sets their args before each step */
} scan_frame;

/* The node's input that is the operand of a part. */
static inline int scan_operand(const scan_class *s, const scan_frame *w, const scan_part *p) {
  const int i = (int)(p - s->part);
  return w->first_in + 1 + (i < s->n_seq ? i : i - w->n_fed);
}
/* The number of sequences that are operands. */
static inline int scan_n_read(const scan_class *s, const scan_frame *w) { return s->n_seq - w->n_fed; }

/* The Function of the inner graph, made at the first call. NULL on failure. */
damo_function *scan_frame_function(scan_class *s, scan_frame *w, frame *f);
damo_status scan_frame_reserve(const scan_class *s, scan_frame *w, damo_ctx *ctx);
/* Releases what a run holds. keep: views and spare objects stay for the next one. */
void scan_frame_release(const scan_class *s, scan_frame *w, bool keep);
/* Releases everything. */
void scan_frame_clear(const scan_class *s, scan_frame *w, damo_ctx *ctx);

/* Releases *at and empties it. */
void scan_drop(damo_obj **at);
/* The name by which messages call the loop, written to dst, which it returns: "Scan", "Scan{rnn}". */
char *scan_loop_name(char *dst, size_t n, const scan_class *s);

/* Checks that the sequences are long enough for n steps. */
damo_status scan_check_lengths(const thunk *t, frame *f, const scan_class *s, const scan_frame *w, int64_t n);
damo_status scan_start(const thunk *t, frame *f, const scan_class *s, scan_frame *w);
/* Empties the cells of last values, so that no result of an earlier call is written over. */
void scan_drop_last(const thunk *t, frame *f, const scan_class *s);
damo_status scan_begin(frame *f, scan_frame *w);
void scan_end(frame *f, scan_frame *w);

/* Sets the values of states and fixed values for the next step. */
void scan_set_args(const thunk *t, const frame *f, const scan_class *s, scan_frame *w);
/* Computes w->fresh of step k of n from w->args. */
damo_status scan_step(frame *f, const scan_class *s, scan_frame *w, int64_t k, int64_t n);
/* Puts w->fresh of step k of n into the results and rings. *stop: the condition says so. */
damo_status scan_keep(const thunk *t, frame *f, const scan_class *s, scan_frame *w, int64_t k, int64_t n, bool *stop);
/* Makes the new value of each state the newest of its ring. */
void scan_turn_rings(const scan_class *s, scan_frame *w);
void scan_advance(const thunk *t, const frame *f, const scan_class *s, scan_frame *w);
/* Moves the views of sequences to step k. */
void scan_seek(const thunk *t, const frame *f, const scan_class *s, scan_frame *w, int64_t k);
/* The row of a stacked result for step k of n; -1: it is not kept. */
int64_t scan_stack_row(const scan_class *s, const scan_part *p, const scan_rows *r, int64_t k, int64_t n);
/* Puts results after n steps into the cells. */
damo_status scan_give(const thunk *t, frame *f, scan_class *s, scan_frame *w, int64_t n);

/* Steps after which machine code is made: about what its making costs. */
#define SCAN_NATIVE_STEPS 200
/* Whether steps may run the thunks of the inner Function without a call. */
bool scan_is_direct(const damo_function *inner);
/* Whether the initial values have the rows that the taps reach. */
bool scan_has_past(const thunk *t, const frame *f, const scan_class *s, const scan_frame *w);

/* scan_replay_jit.c: the two loops of a ScanGrad, forward and reverse, as machine code. */
#define SCAN_REPLAY_MOST_FED 64
/* Whether there is code for both, with these operands: it is made where so many steps are worth it. */
bool scan_replay_has_code(const thunk *t, const frame *f, const scan_class *forward, scan_frame *go,
                          const scan_class *reverse, scan_frame *back, int64_t steps);
/* Goes back over the steps from `end` to `begin`, at least one, and gives all results. */
damo_status scan_replay_run_code(const thunk *t, frame *f, const scan_class *forward, scan_frame *go,
                                 const scan_class *reverse, scan_frame *back, int64_t begin, int64_t end);

/* When a loop polls: after `every` steps, which take about half of POLL_NS. */
typedef struct loop_clock {
  int64_t every, left, since;
} loop_clock;
damo_status scan_poll(damo_ctx *ctx, loop_clock *c);

#endif
