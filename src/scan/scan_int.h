/* scan_int.h: private to scan/. */
#ifndef DAMO_SCAN_SCAN_INT_H
#define DAMO_SCAN_SCAN_INT_H

#include "op/elem/build_arith.h"
#include "op/op.h"
#include "scan.h"

/* The class of an Op that is known to be a Scan; scan_of checks. */
static inline scan_class *scan_at(const damo_op *op) { return (scan_class *)op->owner; }
static inline scan_part *scan_state_at(const scan_class *s, int i) { return &s->part[s->n_seq + i]; }
static inline scan_part *scan_fixed_at(const scan_class *s, int i) { return &s->part[s->n_seq + s->n_state + i]; }
static inline scan_part *scan_collect_at(const scan_class *s, int i) {
  return &s->part[s->n_seq + s->n_state + s->n_fixed + i];
}
/* The node's input of a part that has one. */
static inline int scan_in(const scan_class *s, const scan_part *p) { return 1 + (int)(p - s->part); }
/* The first inner input of a state, and of a fixed value. */
static inline int scan_first_past(const scan_class *s) {
  return s->n_seq > 0 ? s->part[s->n_seq - 1].first + s->part[s->n_seq - 1].n : 0;
}
static inline int scan_first_fixed(const scan_class *s) { return s->n_in - s->n_fixed; }
static inline damo_var *scan_inner_in(const scan_class *s, int i) { return s->fgraph->inputs.at[i]; }
static inline damo_var *scan_inner_out(const scan_class *s, int o) { return s->fgraph->outputs.at[o]; }
/* Whether values of the Type are stacked: dense arrays and states of generators. */
static inline bool scan_is_stacked(const damo_type *t) { return t->kind == TYPE_TENSOR || t->kind == TYPE_RANDOM; }

/* scan_class.c */
/* The Op of the class whose parts, taps and graph are s's (taken): s's own, or that of an equal class (owned). */
damo_op *scan_op_of(scan_class *take_s);
inner_graph scan_inner(scan_class *s);

/* scan_run.c */
damo_status scan_perform(const thunk *t, frame *f);
damo_status scan_prepare_foreign(const thunk *t, frame *f);
void scan_state_clear(const thunk *t, frame *f);
size_t scan_state_size(void);

/* scan_grad.c */
damo_status scan_l_op(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
damo_status scan_r_op(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);

/* scan_edit.c */
typedef struct scan_edit {
  damo_fgraph *fg;
  damo_apply *node;
  const scan_class *s;
  const char *rule;
  build b;             /* for what is built outside of the loop */
  scan_part *plan;     /* copies of the class's parts: stack, last: -1 where nothing reads them; tail */
  bool *live;          /* by part: it stays */
  damo_var **stack_by; /* by part that does not stay: what replaces its results */
  damo_var **last_by;
  map memo;         /* Variables of the inner graph that are replaced → by what */
  ptrvec values;    /* Variables of the inner graph whose values are collected, after those that were */
  scan_draft d;     /* may be given sequences and fixed values before the node is made */
  damo_apply *made; /* NULL: no part that computes anything stays */
  bool changed;
  damo_obj *trace;
} scan_edit;

damo_status scan_edit_init(scan_edit *e, damo_fgraph *fg, damo_apply *node, const char *rule);
damo_status scan_edit_make(scan_edit *e);
/* The stacked values number k, once the node is made. */
damo_var *scan_edit_value(const scan_edit *e, int64_t k);
damo_status scan_edit_replace(scan_edit *e);
damo_status scan_edit_end(scan_edit *e, damo_status status); /* returns status, or how the scope ended */

/* scan_rules.c */
/* Visits the Scans of the graph but the impure ones: users before what they read, so that what they leave out is left
 * out there too. */
damo_status scan_each(damo_fgraph *fg, damo_status (*visit)(damo_fgraph *fg, damo_apply *node));
damo_status scan_register_rules(damo_ctx *ctx);

#endif
