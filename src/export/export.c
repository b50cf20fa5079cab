/* export.c: walks a compiled program and puts the file together. */
#include "export.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "graph/c_emit.h"
#include "io/io.h"
#include "vm/vm.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* Keywords of C and C++, and names that the file or its libraries use. */
static const char *const reserved_names[] = {"alignas",
                                             "alignof",
                                             "and",
                                             "and_eq",
                                             "asm",
                                             "auto",
                                             "bitand",
                                             "bitor",
                                             "bool",
                                             "break",
                                             "case",
                                             "catch",
                                             "char",
                                             "char16_t",
                                             "char32_t",
                                             "char8_t",
                                             "class",
                                             "compl",
                                             "concept",
                                             "const",
                                             "const_cast",
                                             "consteval",
                                             "constexpr",
                                             "constinit",
                                             "continue",
                                             "co_await",
                                             "co_return",
                                             "co_yield",
                                             "decltype",
                                             "default",
                                             "delete",
                                             "do",
                                             "double",
                                             "dynamic_cast",
                                             "else",
                                             "enum",
                                             "explicit",
                                             "export",
                                             "extern",
                                             "false",
                                             "float",
                                             "for",
                                             "friend",
                                             "goto",
                                             "if",
                                             "inline",
                                             "int",
                                             "long",
                                             "mutable",
                                             "namespace",
                                             "new",
                                             "noexcept",
                                             "not",
                                             "not_eq",
                                             "nullptr",
                                             "operator",
                                             "or",
                                             "or_eq",
                                             "private",
                                             "protected",
                                             "public",
                                             "register",
                                             "reinterpret_cast",
                                             "requires",
                                             "restrict",
                                             "return",
                                             "short",
                                             "signed",
                                             "sizeof",
                                             "static",
                                             "static_assert",
                                             "static_cast",
                                             "struct",
                                             "switch",
                                             "template",
                                             "this",
                                             "thread_local",
                                             "throw",
                                             "true",
                                             "try",
                                             "typedef",
                                             "typeid",
                                             "typename",
                                             "typeof",
                                             "union",
                                             "unsigned",
                                             "using",
                                             "virtual",
                                             "void",
                                             "volatile",
                                             "wchar_t",
                                             "while",
                                             "xor",
                                             "xor_eq",
                                             "main",
                                             "NULL",
                                             "NAN",
                                             "INFINITY",
                                             "in",
                                             "out",
                                             "state",
                                             "data",
                                             "work",
                                             "linux",
                                             "unix",
                                             "errno",
                                             "signbit",
                                             "isnan",
                                             "isinf",
                                             "isfinite",
                                             "memcpy",
                                             "memmove",
                                             "memset",
                                             "memcmp",
                                             "memchr",
                                             "strcpy",
                                             "strlen",
                                             "strcmp",
                                             "malloc",
                                             "free",
                                             "calloc",
                                             "realloc",
                                             "exit",
                                             "abort",
                                             "printf",
                                             "puts",
                                             "acos",
                                             "asin",
                                             "atan",
                                             "atan2",
                                             "cos",
                                             "sin",
                                             "tan",
                                             "acosh",
                                             "asinh",
                                             "atanh",
                                             "cosh",
                                             "sinh",
                                             "tanh",
                                             "exp",
                                             "exp2",
                                             "expm1",
                                             "frexp",
                                             "ilogb",
                                             "ldexp",
                                             "log",
                                             "log10",
                                             "log1p",
                                             "log2",
                                             "logb",
                                             "modf",
                                             "scalbn",
                                             "cbrt",
                                             "fabs",
                                             "hypot",
                                             "pow",
                                             "sqrt",
                                             "erf",
                                             "erfc",
                                             "lgamma",
                                             "tgamma",
                                             "ceil",
                                             "floor",
                                             "nearbyint",
                                             "rint",
                                             "lrint",
                                             "round",
                                             "lround",
                                             "trunc",
                                             "fmod",
                                             "remainder",
                                             "remquo",
                                             "copysign",
                                             "nan",
                                             "nextafter",
                                             "nexttoward",
                                             "fdim",
                                             "fmax",
                                             "fmin",
                                             "fma",
                                             "gamma",
                                             "j0",
                                             "j1",
                                             "jn",
                                             "y0",
                                             "y1",
                                             "yn",
                                             "abs",
                                             "div",
                                             "index",
                                             "signal",
                                             "read",
                                             "write",
                                             "open",
                                             "close",
                                             "select",
                                             "time",
                                             "remove",
                                             "rename",
                                             NULL};

static damo_status export_check_name(damo_ctx *ctx, const char *name) {
  bool fits = name != NULL && isalpha((unsigned char)name[0]) && strlen(name) < 200;
  for (const char *p = name; fits && *p != '\0'; p++)
    fits = (isalnum((unsigned char)*p) || *p == '_') && (unsigned char)*p < 128;
  if (!fits || strstr(name, "__") != NULL)
    return ctx_fail(ctx, DAMO_EVALUE,
                    "export_c: the name '%.60s' is no C identifier (a letter, then letters, digits and single '_')",
                    name != NULL ? name : "");
  size_t n = strlen(name);
  for (int i = 0; reserved_names[i] != NULL; i++) {
    const size_t m = strlen(reserved_names[i]);
    const bool same = strcmp(name, reserved_names[i]) == 0;
    const bool of_float = n == m + 1 && strncmp(name, reserved_names[i], m) == 0 && (name[m] == 'f' || name[m] == 'l');
    if (same || of_float)
      return ctx_fail(ctx, DAMO_EVALUE, "export_c: the name '%s' is a keyword or a reserved name of C or C++", name);
  }
  n = strlen(name);
  if (n > 2 && strcmp(name + n - 2, "_t") == 0)
    return ctx_fail(ctx, DAMO_EVALUE, "export_c: the name '%s' is reserved: it ends in _t", name);
  return DAMO_OK;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* Lays out the work memory; returns its bytes in *bytes. */
static damo_status export_layout(c_emit *e, size_t *bytes) {
  const int64_t n = e->storages.n;
  damo_ctx *ctx = e->ctx;
  vm_span *spans = mem_alloc(ctx, (size_t)(n + 1) * sizeof *spans);
  void *work = mem_alloc(ctx, layout_work(n + 1));
  int64_t m = 0;
  damo_status s = spans != NULL && work != NULL ? DAMO_OK : DAMO_EMEMORY;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    const c_storage *st = e->storages.at[i];
    if (st->home == C_WORK)
      spans[m++] = (vm_span){
          .birth = st->birth, .death = st->death + 1, .bytes = arena_round((size_t)(st->bytes > 0 ? st->bytes : 1))};
  }
  *bytes = s == DAMO_OK && m > 0 ? layout_place(spans, m, work) : 0;
  m = 0;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    c_storage *st = e->storages.at[i];
    if (st->home == C_WORK) st->offset = (int64_t)spans[m++].offset;
  }
  if (work != NULL) mem_free(ctx, work, layout_work(n + 1));
  if (spans != NULL) mem_free(ctx, spans, (size_t)(n + 1) * sizeof *spans);
  return s;
}

/* The declarations of the pointers that the body uses. */
static damo_status export_declare(c_emit *e, strbuf *out) {
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
      case C_WORK: strbuf_addf(out, "(%s *)(void *)(work_bytes + %lld)", type, (long long)s->offset); break;
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
  if (def->perform == NULL || def->impure || op_is_foreign(t->node->op) || e->file->single) return DAMO_OK;
  if (def->do_constant_folding != NULL && !def->do_constant_folding(t->node)) return DAMO_OK;
  for (int i = 0; i < t->n_in; i++)
    if (e->values[t->in[i]] == NULL || e->values[t->in[i]]->known == NULL || !type_is_tensor(t->node->in[i]->type))
      return DAMO_OK;
  for (int o = 0; o < t->n_out; o++)
    if (!type_is_tensor(t->node->out[o]->type) || dtype_is_complex(t->node->out[o]->type->dtype)) return DAMO_OK;
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
  *done = s == DAMO_OK && (bytes <= FOLD_BYTES || def->emit_c == NULL);
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
  damo_status s = t->node->op->def->emit_c(e, t->node);
  ce_close(e);
  if (s == DAMO_OK && e->body.n == (size_t)before + 8) e->body.n = (size_t)before; /* no statements: an empty block */
  if (e->body.at != NULL) e->body.at[e->body.n] = '\0';
  return e->status != DAMO_OK ? e->status : s;
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static damo_status export_inputs(c_emit *e, const damo_function *f, const export_options *o) {
  const fn_program *p = f->program;
  damo_ctx *ctx = e->ctx;
  if (o->shapes != NULL && o->n_shapes != p->n_inputs)
    return ctx_fail(ctx, DAMO_EVALUE, "export_c: shapes has %lld entries for %lld inputs", (long long)o->n_shapes,
                    (long long)p->n_inputs);
  for (int64_t i = 0; i < p->n_inputs; i++) {
    const damo_type *type = p->inputs[i].var->type;
    const int64_t *shape = type->shape;
    char text[160];
    if (!type_is_tensor(type))
      return ctx_fail(ctx, DAMO_ENOT_IMPLEMENTED, "export_c: input %lld is %s, which can't be exported",
                      (long long)i + 1, type_format(text, sizeof text, type));
    if (o->shapes != NULL && o->shapes[i] != NULL) {
      if (o->ndims[i] != type->ndim)
        return ctx_fail(ctx, DAMO_ESHAPE, "export_c: the shape of input %lld has %d entries, expected %d",
                        (long long)i + 1, o->ndims[i], type->ndim);
      for (int k = 0; k < type->ndim; k++) {
        if (o->shapes[i][k] >= 0 && (type->shape[k] < 0 || type->shape[k] == o->shapes[i][k])) continue;
        return ctx_fail(ctx, DAMO_ESHAPE, "export_c: axis %d of input %lld can't have length %lld: it is %s", k + 1,
                        (long long)i + 1, (long long)o->shapes[i][k], type_format(text, sizeof text, type));
      }
      shape = o->shapes[i];
    }
    for (int k = 0; k < type->ndim; k++)
      if (shape[k] < 0)
        return ctx_fail(ctx, DAMO_EVALUE,
                        "export_c: the length of axis %d of input %lld is not known: shapes must be given", k + 1,
                        (long long)i + 1);
    c_value *v = ce_value(e, C_INPUT, (int32_t)i, ce_dtype(e, type->dtype), type->ndim, shape);
    if (v == NULL) return e->status;
    if (p->inputs[i].cell >= 0) e->values[p->inputs[i].cell] = v;
  }
  return DAMO_OK;
}

/* Shared values lie in the state, one after the other. */
static damo_status export_shared(c_emit *e, const damo_function *f, size_t *state) {
  const fn_program *p = f->program;
  for (int64_t i = 0; i < p->n_shared; i++) {
    const fn_shared *sh = &p->shared[i];
    if (sh->var == NULL) return ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: an input with an update");
    const damo_obj *value = function_shared(f, i);
    if (value == NULL || value->kind != OBJ_ARRAY)
      return ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: shared value %lld is no array", (long long)i + 1);
    const damo_array *a = (const damo_array *)value;
    c_value *v = ce_value(e, C_STATE, (int32_t)i, ce_dtype(e, array_dtype(a)), a->ndim, array_shape(a));
    if (v == NULL) return e->status;
    c_storage *s = ce_storage(e, v);
    s->offset = (int64_t)*state;
    *state = arena_round(*state + (size_t)s->bytes);
    if (sh->cell >= 0) e->values[sh->cell] = v;
  }
  return DAMO_OK;
}

/* Result k: written where its memory is made, if it can be, else copied. */
static void export_output(c_emit *e, int32_t k, c_value *v) {
  if (v == NULL || e->status != DAMO_OK) return;
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

/* The new shared values, all of them computed, go to the state at the end. */
static void export_updates(c_emit *e, const fn_program *p, const ptrvec *states) {
  c_value **staged = c_file_alloc(e->file, (size_t)(p->n_shared + 1) * sizeof *staged);
  if (staged == NULL) return;
  for (int64_t i = 0; i < p->n_shared && e->status == DAMO_OK; i++) {
    if (p->shared[i].update_cell < 0) continue;
    c_value *v = e->values[p->shared[i].update_cell];
    const c_value *to = states->at[i];
    if (v == NULL || v->ndim != to->ndim || ce_size(v) != ce_size(to)) {
      ce_refuse(e, "shared value %lld changes its shape", (long long)i + 1);
      return;
    }
    if (ce_storage(e, v)->home == C_STATE || !ce_is_contiguous(v)) {
      c_value *copy = ce_scratch_like(e, v->dtype, v->ndim, v->shape);
      ce_copy(e, copy, v);
      v = copy;
    }
    staged[i] = v;
  }
  for (int64_t i = 0; i < p->n_shared && e->status == DAMO_OK; i++) {
    if (staged[i] == NULL) continue;
    const c_storage *s = ce_storage(e, states->at[i]);
    if (s->bytes > 0)
      ce_line(e, "memcpy(state_bytes + %lld, %s, %lld);", (long long)s->offset, ce_p(e, staged[i]),
              (long long)s->bytes);
  }
}

static damo_status export_body(c_emit *e, damo_function *f, const export_options *o, size_t *state) {
  const fn_program *p = f->program;
  const vm_program *vm = &p->vm;
  ptrvec states;
  if (p->watcher != NULL)
    return ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: a Function of mode %s", p->watcher->mode);
  if (vm->by_demand || vm->n_segments > 0) return ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: IfElse");
  DAMO_TRY(export_inputs(e, f, o));
  DAMO_TRY(export_shared(e, f, state));
  for (int64_t i = 0; i < vm->n_constants; i++) {
    const damo_obj *value = vm->constants[i].value;
    if (value->kind == OBJ_ARRAY) {
      if (dtype_is_complex(((const damo_array *)value)->dtype))
        return ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: a constant of complex numbers");
      e->values[vm->constants[i].slot] = ce_constant(e, damo_retain((damo_array *)(uintptr_t)value));
    }
    if (e->status != DAMO_OK) return e->status;
  }
  for (int64_t k = 0; k < vm->n_thunks; k++) {
    const thunk *t = vm->thunks[k];
    for (int i = 0; i < t->n_in; i++) {
      if (e->values[t->in[i]] != NULL) continue;
      e->node = t->node;
      return ce_refuse(e, "an operand that is no array");
    }
    const damo_status s = export_thunk(e, t, (int32_t)k + 1);
    if (s != DAMO_OK) return s;
  }
  e->node = NULL;
  e->at = (int32_t)vm->n_thunks + 1;
  ptrvec_init(&states, e->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < p->n_shared && s == DAMO_OK; i++) {
    c_value *v = p->shared[i].cell >= 0 ? e->values[p->shared[i].cell] : NULL;
    if (v == NULL) { /* only written: found by its storage */
      for (int64_t k = 0; k < e->pointers.n; k++) {
        const c_pointer *q = e->pointers.at[k];
        const c_storage *st = e->storages.at[q->storage];
        if (st->home != C_STATE || st->number != i) continue;
        const damo_array *a = (const damo_array *)function_shared(f, i);
        v = c_file_alloc(e->file, sizeof *v);
        if (v == NULL) break;
        *v = (c_value){.dtype = q->dtype, .ndim = a->ndim, .pointer = (int32_t)k};
        memcpy(v->shape, array_shape(a), (size_t)a->ndim * sizeof(int64_t));
        break;
      }
    }
    s = v != NULL ? ptrvec_push(&states, v) : DAMO_EMEMORY;
  }
  for (int64_t i = 0; i < p->n_outputs && s == DAMO_OK; i++)
    export_output(e, (int32_t)i, e->values[p->outputs[i].cell]);
  if (s == DAMO_OK) export_updates(e, p, &states);
  ptrvec_clear(&states);
  return e->status != DAMO_OK ? e->status : s;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static const char contraction[] =
    "/* The results have the bits of damo's virtual machine: no product and sum may become one operation. */\n"
    "#if defined(__FAST_MATH__)\n#error \"this file must be compiled without -ffast-math\"\n#endif\n"
    "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC optimize (\"fp-contract=off\")\n"
    "#else\n#pragma STDC FP_CONTRACT OFF\n#endif\n";

static void export_header(strbuf *out, const char *name, const damo_function *f, const c_emit *e) {
  char guard[256];
  snprintf(guard, sizeof guard, "%s", name);
  for (char *p = guard; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
  strbuf_addf(out,
              "/* Made by damo. Arrays are C-contiguous. */\n#ifndef %s_H\n#define %s_H\n\n#include <stddef.h>\n\n",
              guard, guard);
  strbuf_add(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  for (int kind = 0; kind < 2; kind++) {
    const int64_t n = kind == 0 ? f->program->n_inputs : f->program->n_outputs;
    for (int64_t i = 0; i < n; i++) {
      const c_value *v = NULL;
      if (kind == 1) { v = e->values[f->program->outputs[i].cell]; }
      char text[400];
      const damo_type *type = kind == 0 ? f->program->inputs[i].var->type : f->program->outputs[i].type;
      if (v != NULL)
        strbuf_addf(out, "/* out[%lld]: %s %s */\n", (long long)i, ce_type(v->dtype),
                    shape_format(text, sizeof text, v->ndim, v->shape));
      else
        strbuf_addf(out, "/* in[%lld]: %s */\n", (long long)i, ce_type(ce_dtype(e, type->dtype)));
    }
  }
  strbuf_addf(
      out,
      "\n/* Bytes of the memory that the caller passes, aligned as malloc's. */\n"
      "size_t %s_work_size(void);\nsize_t %s_state_size(void);\n"
      "/* Sets the state to its first values. data: the bytes of %s.bin, or NULL if there is none. 0 for success. */\n"
      "int %s_state_init(void *state, const void *data);\n"
      "/* 0 for success; else the state is unchanged, and the results are undefined. */\n"
      "int %s(const void *const *in, void *const *out, void *state, const void *data, void *work);\n\n"
      "#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
      name, name, name, name, name);
}

/* Copies of the first shared values, written by state_init. */
static damo_status export_state_init(c_emit *e, const damo_function *f, strbuf *out) {
  const fn_program *p = f->program;
  for (int64_t i = 0; i < e->storages.n; i++) {
    const c_storage *s = e->storages.at[i];
    if (s->home != C_STATE || s->bytes == 0) continue;
    c_value *v = ce_constant(e, array_copy((const damo_array *)function_shared(f, s->number)));
    if (v == NULL) return e->status;
    c_storage *from = ce_storage(e, v);
    DAMO_TRY(c_file_constant(e->file, from));
    if (from->offset >= 0)
      strbuf_addf(out, "  memcpy((unsigned char *)state + %lld, (const unsigned char *)data + %lld, %lld);\n",
                  (long long)s->offset, (long long)from->offset, (long long)s->bytes);
    else
      strbuf_addf(out, "  memcpy((unsigned char *)state + %lld, c%d, %lld);\n", (long long)s->offset, from->number,
                  (long long)s->bytes);
  }
  (void)p;
  return DAMO_OK;
}

static damo_status export_assemble(c_emit *e, damo_function *f, const export_options *o, export_texts *t) {
  c_file *file = e->file;
  size_t work = 0, state = 0;
  strbuf declared = {.ctx = e->ctx}, init = {.ctx = e->ctx};
  damo_status s = export_body(e, f, o, &state);
  if (s == DAMO_OK) s = export_layout(e, &work);
  if (s == DAMO_OK) s = export_declare(e, &declared);
  if (s == DAMO_OK) s = export_state_init(e, f, &init);
  if (s == DAMO_OK) {
    const char *n = o->name;
    strbuf_addf(
        &t->source,
        "/* Made by damo. */\n#include \"%s.h\"\n\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n\n%s\n",
        n, contraction);
    strbuf_add(&t->source, file->constants.at != NULL ? file->constants.at : "");
    strbuf_add(&t->source, "\n");
    strbuf_add(&t->source, file->helpers.at != NULL ? file->helpers.at : "");
    strbuf_add(&t->source, file->functions.at != NULL ? file->functions.at : "");
    strbuf_addf(&t->source, "size_t %s_work_size(void) { return %llu; }\n\n", n, (unsigned long long)work);
    strbuf_addf(&t->source, "size_t %s_state_size(void) { return %llu; }\n\n", n, (unsigned long long)state);
    strbuf_addf(&t->source,
                "int %s_state_init(void *state, const void *data) {\n"
                "  (void)state, (void)data;\n"
                "  { /* whether the compiler keeps products and sums apart */\n"
                "    volatile double a = 1.0 + 0x1p-30, b = 1.0 - 0x1p-30, c = -1.0;\n"
                "    const double x = a, y = b, z = c;\n"
                "    if (x * y + z != 0) return 1;\n  }\n%s  return 0;\n}\n\n",
                n, init.at != NULL ? init.at : "");
    strbuf_addf(
        &t->source,
        "int %s(const void *const *in, void *const *out, void *state, const void *data, void *work) {\n"
        "  unsigned char *const state_bytes = (unsigned char *)state, *const work_bytes = (unsigned char *)work;\n"
        "  (void)in, (void)out, (void)data, (void)state_bytes, (void)work_bytes;\n%s%s  return 0;\n}\n",
        n, declared.at != NULL ? declared.at : "", e->body.at != NULL ? e->body.at : "");
    export_header(&t->header, n, f, e);
    if (file->data.n > 0) strbuf_addn(&t->data, file->data.at, file->data.n);
    if (t->source.failed || t->header.failed || t->data.failed || file->constants.failed || file->helpers.failed ||
        e->body.failed || declared.failed || init.failed)
      s = ctx_fail_memory(e->ctx);
  }
  strbuf_clear(&declared);
  strbuf_clear(&init);
  return s;
}

damo_status export_make(damo_function *f, const export_options *o, export_texts *out) {
  damo_ctx *ctx = f->obj.ctx;
  c_file file;
  c_emit e;
  strbuf_init(&out->source, ctx);
  strbuf_init(&out->header, ctx);
  strbuf_init(&out->data, ctx);
  if (f->freed) return ctx_fail(ctx, DAMO_ESTATE, "the function was freed");
  DAMO_TRY(export_check_name(ctx, o->name));
  c_file_init(&file, ctx, o->name);
  file.single = o->single;
  damo_status s = c_emit_init(&e, &file, f->program->vm.n_cells);
  if (s == DAMO_OK) {
    s = export_assemble(&e, f, o, out);
    c_emit_clear(&e);
  }
  c_file_clear(&file);
  return s;
}

void export_clear(export_texts *t) {
  strbuf_clear(&t->source);
  strbuf_clear(&t->header);
  strbuf_clear(&t->data);
}

static damo_status export_write(damo_ctx *ctx, const export_options *o, const char *ending, const strbuf *text) {
  strbuf path = {.ctx = ctx};
  strbuf_addf(&path, "%s/%s.%s", o->dir != NULL ? o->dir : ".", o->name, ending);
  damo_status s =
      path.failed ? ctx_fail_memory(ctx) : io_write_text(ctx, path.at, text->at != NULL ? text->at : "", text->n);
  strbuf_clear(&path);
  return s;
}

damo_status export_files(damo_function *f, const export_options *o, bool *has_data) {
  damo_ctx *ctx = f->obj.ctx;
  export_texts t;
  damo_status s = export_make(f, o, &t);
  *has_data = t.data.n > 0;
  if (s == DAMO_OK && *has_data) s = export_write(ctx, o, "bin", &t.data);
  if (s == DAMO_OK) s = export_write(ctx, o, "h", &t.header);
  if (s == DAMO_OK) s = export_write(ctx, o, "c", &t.source);
  export_clear(&t);
  return s;
}
