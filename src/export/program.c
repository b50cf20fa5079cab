/* program.c: the thunks of a program as statements, the graphs of loops as functions of their own, and where values lie. */
#include <stdlib.h>
#include <string.h>

#include "export_int.h"

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

#define LOCAL_MOST 512   /* bytes of an array that lies on the stack, where a compiler can keep it in registers */
#define LOCAL_TOTAL 4096 /* of all of them */

/* Chooses arrays that become local: small ones of one type, no bytes, which are memory for other functions. */
static void export_choose_locals(c_emit *e) {
  int64_t total = 0;
  for (int64_t i = 0; i < e->storages.n; i++) {
    c_storage *s = e->storages.at[i];
    s->local = s->home == C_WORK && s->read && s->bytes > 0 && s->bytes <= LOCAL_MOST;
  }
  for (int64_t i = 0; i < e->pointers.n; i++) {
    const c_pointer *p = e->pointers.at[i];
    c_storage *s = e->storages.at[p->storage];
    if (s->home != C_WORK) continue;
    if (s->number < 0) s->number = (int32_t)p->dtype;
    if (s->number != (int32_t)p->dtype || p->dtype == DAMO_UINT8) s->local = false;
  }
  for (int64_t i = 0; i < e->storages.n; i++) {
    c_storage *s = e->storages.at[i];
    s->local = s->local && total + s->bytes <= LOCAL_TOTAL;
    total += s->local ? s->bytes : 0;
  }
}

/* Whether it lies in the caller's memory: what nothing reads is not written either. */
static bool export_is_laid_out(const c_storage *s) { return s->home == C_WORK && s->read && !s->local; }

damo_status export_layout(c_emit *e, size_t *bytes) {
  const int64_t n = e->storages.n;
  export_choose_locals(e);
  damo_ctx *ctx = e->ctx;
  vm_span *spans = mem_alloc(ctx, (size_t)(n + 1) * sizeof *spans);
  void *work = mem_alloc(ctx, layout_work(n + 1));
  int64_t m = 0;
  damo_status s = spans != NULL && work != NULL ? DAMO_OK : DAMO_EMEMORY;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    const c_storage *st = e->storages.at[i];
    if (export_is_laid_out(st))
      spans[m++] = (vm_span){
          .birth = st->birth, .death = st->death + 1, .bytes = arena_round((size_t)(st->bytes > 0 ? st->bytes : 1))};
  }
  *bytes = s == DAMO_OK && m > 0 ? layout_place(spans, m, work) : 0;
  m = 0;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    c_storage *st = e->storages.at[i];
    if (export_is_laid_out(st)) st->offset = (int64_t)spans[m++].offset;
  }
  if (work != NULL) mem_free(ctx, work, layout_work(n + 1));
  if (spans != NULL) mem_free(ctx, spans, (size_t)(n + 1) * sizeof *spans);
  return s;
}

/* The pointer with which a line begins, before `mark`; NULL: none. *after: what follows the mark. */
static c_pointer *export_line_pointer(const c_emit *e, const char *line, const char *mark, const char **after) {
  const char *p = line + strspn(line, " ");
  char *end = NULL;
  const long k = *p == 'v' && p[1] >= '0' && p[1] <= '9' ? strtol(p + 1, &end, 10) : -1;
  if (k < 0 || k >= e->pointers.n || strncmp(end, mark, strlen(mark)) != 0) return NULL;
  *after = end + strlen(mark);
  return e->pointers.at[k];
}

static const char *export_line_end(const char *line) {
  const char *end = strchr(line, '\n');
  return end != NULL ? end + 1 : line + strlen(line);
}

static bool export_is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Finds which pointers the body names, other than to set them: an expression may have been left out. */
static void export_find_used(c_emit *e) {
  for (int64_t i = 0; i < e->pointers.n; i++) ((c_pointer *)e->pointers.at[i])->used = false;
  bool inside = false; /* of an identifier or a number */
  for (const char *line = e->body.at; line != NULL && *line != '\0'; line = export_line_end(line)) {
    const char *p = line;
    (void)export_line_pointer(e, line, " = ", &p);
    for (const char *end = export_line_end(line); p < end; p++) {
      const bool word = export_is_word(*p);
      if (word && !inside && *p == 'v') {
        char *after;
        const long n = strtol(p + 1, &after, 10);
        const bool is_pointer = after > p + 1 && p[1] >= '0' && p[1] <= '9' && *after != '_';
        if (is_pointer && n < e->pointers.n) ((c_pointer *)e->pointers.at[n])->used = true;
      }
      inside = word;
    }
  }
}

/* Leaves out the lines "v7 = …;" of pointers that nothing reads; returns whether there was one. */
static bool export_drop_unset(c_emit *e) {
  size_t to = 0;
  for (size_t i = 0; i < e->body.n;) {
    const char *line = e->body.at + i, *after;
    const c_pointer *p = export_line_pointer(e, line, " = ", &after);
    const size_t n = (size_t)(export_line_end(line) - line);
    i += n;
    if (p != NULL && p->moves && !p->used) continue;
    memmove(e->body.at + to, line, n);
    to += n;
  }
  const bool dropped = to < e->body.n;
  if (e->body.at != NULL) e->body.at[e->body.n = to] = '\0';
  return dropped;
}

/* How often the name stands in the text. */
static int export_count(const char *text, const char *end, const char *name, size_t n) {
  int count = 0;
  for (const char *p = text; p + n <= end; p++)
    count += memcmp(p, name, n) == 0 && (p == text || !export_is_word(p[-1])) && !export_is_word(p[n]);
  return count;
}

/* The variable that a line writes, x being what follows "v7["; NULL: an expression. */
static const char *export_written(const char *x, size_t *n) {
  const char *name = x + strcspn(x, "=\n");
  if (*name != '=' || !(name[2] >= 'a' && name[2] <= 'z')) return NULL;
  name += 2;
  for (*n = 0; export_is_word(name[*n]);) ++*n;
  return name[*n] == ';' ? name : NULL;
}

/* Leaves out the lines "v7[…] = …;" that write what nothing reads. A variable that only such a line reads, of which
 * compilers may warn, is read by "(void)e5;". */
static void export_drop_unread(c_emit *e) {
  size_t to = 0, block = 0; /* block: where the text of the innermost block begins */
  for (size_t i = 0; i < e->body.n;) {
    char *const at = e->body.at;
    const char *line = at + i, *next = export_line_end(line), *x = NULL;
    const c_pointer *p = export_line_pointer(e, line, "[", &x);
    const c_storage *s = p != NULL ? e->storages.at[p->storage] : NULL;
    const size_t n = (size_t)(next - line), indent = strspn(line, " ");
    i += n;
    if (s == NULL || s->home != C_WORK || s->read) {
      memmove(at + to, line, n);
      to += n;
      if (n >= 2 && at[to - 2] == '{') block = to;
      continue;
    }
    size_t length;
    const char *name = export_written(x, &length), *end = next + strcspn(next, "}");
    if (name == NULL || export_count(at + block, at + to, name, length) != 1 ||
        export_count(next, end, name, length) > 0)
      continue;
    memmove(at + to, line, indent); /* the new line is shorter */
    memcpy(at + to + indent, "(void)", 6);
    memmove(at + to + indent + 6, name, length);
    to += indent + 6 + length;
    memcpy(at + to, ";\n", 2);
    to += 2;
  }
  if (e->body.at != NULL) e->body.at[e->body.n = to] = '\0';
}

/* The arrays of the function that the body uses. With branches they start as 0, since compilers may not see that one
 * which is read has been written. */
static void export_declare_locals(const c_emit *e, strbuf *out) {
  for (int64_t i = 0; i < e->storages.n; i++) {
    const c_storage *s = e->storages.at[i];
    bool used = false;
    damo_dtype dtype = DAMO_FLOAT64;
    for (int64_t k = 0; k < e->pointers.n && s->local && !used; k++) {
      const c_pointer *p = e->pointers.at[k];
      used = p->used && p->storage == i;
      dtype = p->dtype;
    }
    if (used)
      strbuf_addf(out, "  %s w%d[%lld]%s;\n", ce_type(dtype), (int)i,
                  (long long)(s->bytes / (int64_t)dtype_size(dtype)), e->branches ? " = {0}" : "");
  }
}

damo_status export_declare(c_emit *e, strbuf *out) {
  export_drop_unread(e);
  do export_find_used(e);
  while (export_drop_unset(e));
  export_declare_locals(e, out);
  for (int64_t i = 0; i < e->pointers.n; i++) {
    const c_pointer *p = e->pointers.at[i];
    c_storage *s = e->storages.at[p->storage];
    if (!p->used) continue;
    const char *type = ce_type(p->dtype);
    const bool writes = s->home == C_WORK || s->home == C_OUTPUT;
    if (p->moves) {
      strbuf_addf(out, "  %s%s *v%d = 0;\n", writes ? "" : "const ", type, (int)i);
      continue;
    }
    strbuf_addf(out, "  %s%s *const v%d = ", writes ? "" : "const ", type, (int)i);
    switch (s->home) {
      case C_INPUT: strbuf_addf(out, "(const %s *)in[%d]", type, s->number); break;
      case C_OUTPUT: strbuf_addf(out, "(%s *)out[%d]", type, s->number); break;
      case C_WORK:
        if (s->local)
          strbuf_addf(out, "w%d", (int)p->storage);
        else
          strbuf_addf(out, "(%s *)(void *)(work_bytes + %lld)", type, (long long)s->offset);
        break;
      case C_STATE:
        strbuf_addf(out, "(const %s *)(const void *)(state_bytes + %lld)", type, (long long)s->offset);
        break;
      case C_CONSTANT:
        if (s->number < 0 && s->offset < 0) DAMO_TRY(c_file_constant(e->file, s));
        if (s->offset >= 0)
          strbuf_addf(out, "(const %s *)(const void *)((const unsigned char *)data + %lld)", type,
                      (long long)s->offset);
        else
          strbuf_addf(out, "c%d", s->number);
        break;
    }
    if (p->offset != 0) strbuf_addf(out, " + %lld", (long long)p->offset);
    strbuf_add(out, ";\n");
  }
  return DAMO_OK;
}
/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

#define FOLD_BYTES 65536 /* results of at most so many bytes, of known operands, are computed while exporting */

/* Computes the node where all of its inputs are known. *done: it was. */
static damo_status export_fold(c_emit *e, const thunk *t, bool *done) {
  const op_def *def = t->node->op->def;
  damo_ctx *ctx = e->ctx;
  *done = false;
  if (def->perform == NULL || def->impure || op_is_foreign(t->node->op)) return DAMO_OK;
  if (def->do_constant_folding != NULL && !def->do_constant_folding(t->node)) return DAMO_OK;
  for (int i = 0; i < t->n_in; i++)
    if (e->values[t->in[i]] == NULL || e->values[t->in[i]]->known == NULL || !type_is_tensor(t->node->in[i]->type))
      return DAMO_OK;
  for (int o = 0; o < t->n_out; o++)
    if (!type_is_tensor(t->node->out[o]->type)) return DAMO_OK;
  /* in single precision, what has no float64 in it */
  for (int i = 0; i < t->n_in + t->n_out && e->file->single; i++)
    if (ce_dtype(e, (i < t->n_in ? t->node->in[i] : t->node->out[i - t->n_in])->type->dtype) !=
        (i < t->n_in ? t->node->in[i] : t->node->out[i - t->n_in])->type->dtype)
      return DAMO_OK;
  const size_t n = (size_t)(t->n_in + t->n_out);
  cell *cells = mem_calloc(ctx, (n + 1) * sizeof *cells);
  if (cells == NULL) return DAMO_EMEMORY;
  damo_status s = DAMO_OK;
  for (int i = 0; i < t->n_in && s == DAMO_OK; i++) {
    cells[i] = (damo_obj *)array_copy(e->values[t->in[i]]->known);
    if (cells[i] == NULL) s = DAMO_EMEMORY;
  }
  thunk_alone *a = s == DAMO_OK ? thunk_alone_new(ctx, t->node, cells, NULL, NULL) : NULL;
  if (s == DAMO_OK) s = a != NULL ? thunk_run(&a->t, &a->f) : damo_error_status(ctx);
  size_t bytes = 0;
  for (int o = 0; o < t->n_out && s == DAMO_OK; o++) {
    const damo_array *made = (const damo_array *)cells[t->n_in + o];
    bytes += (size_t)array_size(made) * dtype_size(made->dtype);
  }
  /* what fails may stand in a branch that no call takes: its code is to fail where it runs */
  if (s != DAMO_OK && s != DAMO_EMEMORY && def->emit_c != NULL) {
    ctx_clear_error(ctx);
    s = DAMO_OK;
  } else {
    *done = s == DAMO_OK && (bytes <= FOLD_BYTES || def->emit_c == NULL);
  }
  for (int o = 0; o < t->n_out && *done && s == DAMO_OK; o++)
    s = ce_out_known(e, o, array_copy((const damo_array *)cells[t->n_in + o]));
  thunk_alone_free(a);
  for (size_t i = 0; i < n; i++) damo_release(cells[i]);
  mem_free(ctx, cells, (n + 1) * sizeof *cells);
  return s;
}

static damo_status export_thunk(c_emit *e, const thunk *t, int32_t number) {
  bool done = false;
  e->node = t->node;
  e->in = t->in;
  e->out = t->out;
  e->at = number;
  DAMO_TRY(export_fold(e, t, &done));
  if (done) return e->status;
  if (t->node->op->def->emit_c == NULL) return ce_refuse(e, "there is no C source for it");
  const int64_t before = (int64_t)e->body.n;
  ce_open(e, "%s", "");
  for (int i = t->node->op->def->emit_c_settles ? 1 : 0; i < t->n_in; i++) ce_settle(e, e->values[t->in[i]]);
  damo_status s = ce_emit(e, t->node);
  ce_close(e);
  if (s == DAMO_OK && e->body.n == (size_t)before + 8 && memcmp(e->body.at + before, "  {\n  }\n", 8) == 0)
    e->body.n = (size_t)before; /* no statements: an empty block */
  if (e->body.at != NULL) e->body.at[e->body.n] = '\0';
  return e->status != DAMO_OK ? e->status : s;
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

void export_output(c_emit *e, int32_t k, c_value *v) {
  if (v == NULL || e->status != DAMO_OK) return;
  ce_settle(e, v);
  c_storage *s = ce_storage(e, v);
  const c_pointer *p = e->pointers.at[v->pointer];
  if (s->home == C_WORK && !p->moves && p->offset == 0 && ce_is_contiguous(v) &&
      s->bytes == ce_size(v) * (int64_t)dtype_size(v->dtype)) {
    s->home = C_OUTPUT;
    s->number = k;
    return;
  }
  c_value *to = ce_value(e, C_OUTPUT, k, v->dtype, v->ndim, v->shape);
  if (to != NULL) ce_copy(e, to, v);
}

/* Whether the thunk of a chooser takes that branch, as an expression. */
static const char *export_guard(c_emit *e, const thunk *chooser, int branch) {
  const c_value *condition = e->values[chooser->in[0]];
  if (condition->known != NULL) {
    const bool is = scalar_cast(array_item(condition->known), DAMO_BOOL).v.i != 0;
    return is == (branch == 0) ? "1" : "0";
  }
  return ce_text(e, "*%s %s 0", ce_p(e, condition), branch == 0 ? "!=" : "==");
}

/* Whether the region is needed, once its choosers' conditions have their values. */
static void export_decision(c_emit *e, const vm_program *vm, int32_t r) {
  strbuf text = {.ctx = e->ctx};
  for (int32_t i = vm->regions[r].first; i < vm->regions[r].end; i++) {
    const vm_guard *g = &vm->guards[i];
    strbuf_add(&text, i > vm->regions[r].first ? " || " : "");
    if (g->region >= 0) strbuf_addf(&text, "(need%d && ", (int)g->region);
    strbuf_addf(&text, g->region >= 0 ? "%s)" : "%s", export_guard(e, vm->thunks[g->thunk], g->branch));
  }
  ce_line(e, "need%d = %s;", (int)r, text.at != NULL ? text.at : "1");
  strbuf_clear(&text);
}

static damo_status export_segment(c_emit *e, const vm_program *vm, const vm_segment *g) {
  e->at = (int32_t)g->first + 1;
  if (g->region >= 0 && g->decides) export_decision(e, vm, g->region);
  if (g->region >= 0) ce_open(e, "if (need%d)", (int)g->region);
  for (int64_t k = g->first; k < g->end; k++) {
    const thunk *t = vm->thunks[k];
    for (int i = 0; i < t->n_in; i++) {
      if (e->values[t->in[i]] != NULL) continue;
      e->node = t->node;
      return ce_refuse(e, "an operand that is no array");
    }
    DAMO_TRY(export_thunk(e, t, (int32_t)k + 1));
  }
  if (g->region >= 0) ce_close(e);
  e->node = NULL;
  return e->status;
}

static damo_status export_constants(c_emit *e, const fn_program *p) {
  for (int64_t i = 0; i < p->vm.n_constants; i++) {
    const damo_obj *value = p->vm.constants[i].value;
    if (value->kind == OBJ_SPARSE) {
      const damo_sparse *a = (const damo_sparse *)value;
      c_value *v = ce_value(e, C_CONSTANT, -1, ce_dtype(e, array_dtype(a->data)), 2, a->shape);
      if (v == NULL) return e->status;
      v->sparse = a;
      e->values[p->vm.constants[i].slot] = v;
    }
    if (value->kind != OBJ_ARRAY) continue;
    damo_obj *own = p->ctx != e->ctx ? value_lend(e->ctx, value) : damo_retain((damo_obj *)(uintptr_t)value);
    e->values[p->vm.constants[i].slot] = ce_constant(e, (damo_array *)own);
    if (e->status != DAMO_OK) return e->status;
  }
  return DAMO_OK;
}

/* The last thunks that read each slot: those of results and of new shared values are read at the end. */
static damo_status export_lives(c_emit *e, const fn_program *p) {
  int32_t *last = c_file_alloc(e->file, (size_t)(e->n_values + 1) * sizeof *last);
  if (last == NULL) return DAMO_EMEMORY;
  for (int64_t k = 0; k < p->vm.n_thunks; k++)
    for (int i = 0; i < p->vm.thunks[k]->n_in; i++) last[p->vm.thunks[k]->in[i]] = (int32_t)k + 1;
  for (int64_t o = 0; o < p->n_outputs; o++) last[p->outputs[o].cell] = INT32_MAX;
  for (int64_t i = 0; i < p->n_shared; i++)
    if (p->shared[i].update_cell >= 0) last[p->shared[i].update_cell] = INT32_MAX;
  e->last = last;
  return DAMO_OK;
}

damo_status export_program(c_emit *e, const fn_program *p) {
  const vm_program *vm = &p->vm;
  if (p->watcher != NULL)
    return ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: a Function of mode %s", p->watcher->mode);
  if (vm->by_demand) return ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: Ops that ask for their inputs");
  DAMO_TRY(export_constants(e, p));
  DAMO_TRY(export_lives(e, p));
  e->branches = vm->n_regions > 0;
  if (vm->n_regions > 0) {
    strbuf names = {.ctx = e->ctx};
    for (int64_t r = 0; r < vm->n_regions; r++) strbuf_addf(&names, "%sneed%d = 0", r > 0 ? ", " : "", (int)r);
    ce_line(e, "int %s;", names.at != NULL ? names.at : "none");
    strbuf_clear(&names);
  }
  for (int64_t i = 0; i < vm->n_segments; i++) DAMO_TRY(export_segment(e, vm, &vm->segments[i]));
  if (vm->n_segments == 0) DAMO_TRY(export_segment(e, vm, &(vm_segment){.end = vm->n_thunks, .region = -1}));
  e->at = (int32_t)vm->n_thunks + 1;
  return e->status;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* Input i of the inner function: what is known of the argument, behind a pointer of its own. */
static c_value *export_argument(c_emit *e, int32_t i, const c_value *x) {
  if (x->known != NULL) return ce_constant(e, damo_retain(x->known));
  c_value *v = ce_value(e, C_INPUT, i, x->dtype, x->ndim, x->shape);
  if (v != NULL) memcpy(v->strides, x->strides, sizeof v->strides);
  return v;
}

static damo_status export_inner(c_emit *e, const damo_function *f, const c_value *const *in, c_function *out) {
  const fn_program *p = f->program;
  strbuf declared = {.ctx = e->ctx};
  size_t work = 0;
  if (p->n_shared > 0)
    return ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: a graph with shared values of its own");
  for (int64_t i = 0; i < p->n_inputs; i++) {
    if (p->inputs[i].cell < 0) continue;
    e->values[p->inputs[i].cell] = export_argument(e, (int32_t)i, in[i]);
    if (e->values[p->inputs[i].cell] == NULL) return e->status;
  }
  DAMO_TRY(export_program(e, p));
  out->n_out = (int32_t)p->n_outputs;
  out->out = c_file_alloc(e->file, (size_t)(p->n_outputs + 1) * sizeof *out->out);
  if (out->out == NULL) return DAMO_EMEMORY;
  for (int64_t o = 0; o < p->n_outputs; o++) {
    out->out[o] = e->values[p->outputs[o].cell];
    if (out->out[o] == NULL) return ce_refuse(e, "a result that is no array");
    export_output(e, (int32_t)o, out->out[o]);
  }
  DAMO_TRY(e->status);
  DAMO_TRY(export_layout(e, &work));
  DAMO_TRY(export_declare(e, &declared));
  out->work = (int64_t)work;
  out->number = e->file->n_functions++;
  strbuf_addf(&e->file->functions,
              "static int s%d(const void *const *in, void *const *out, const void *data, unsigned char *work_bytes) {\n"
              "  (void)in, (void)out, (void)data, (void)work_bytes;\n%s%s  return 0;\n}\n\n",
              (int)out->number, declared.at != NULL ? declared.at : "", e->body.at != NULL ? e->body.at : "");
  const bool failed = declared.failed || e->body.failed || e->file->functions.failed;
  strbuf_clear(&declared);
  return failed ? ctx_fail_memory(e->ctx) : DAMO_OK;
}

damo_status export_function(c_emit *e, const damo_function *f, const c_value *const *in, c_function *out) {
  c_emit inner;
  *out = (c_function){.number = -1};
  damo_status s = c_emit_init(&inner, e->file, f->program->vm.n_cells);
  if (s == DAMO_OK) {
    s = export_inner(&inner, f, in, out);
    c_emit_clear(&inner);
  }
  if (s != DAMO_OK && e->status == DAMO_OK) e->status = s;
  return e->status;
}
