/* export.c: walks a compiled program and puts the file together. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "export_int.h"
#include "io/io.h"

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
static damo_status export_shared(c_emit *e, const damo_function *f, const export_options *o, size_t *state,
                                 int64_t *at) {
  const fn_program *p = f->program;
  for (int64_t i = 0; i < p->n_shared; i++) {
    const fn_shared *sh = &p->shared[i];
    if (sh->var == NULL) return ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: an input with an update");
    const damo_obj *value = o->shared != NULL ? (const damo_obj *)o->shared[i] : function_shared(f, i);
    if (value == NULL || value->kind != OBJ_ARRAY)
      return ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: shared value %lld is no array", (long long)i + 1);
    const damo_array *a = (const damo_array *)value;
    c_value *v = ce_value(e, C_STATE, (int32_t)i, ce_dtype(e, array_dtype(a)), a->ndim, array_shape(a));
    if (v == NULL) return e->status;
    c_storage *s = ce_storage(e, v);
    s->offset = at[i] = (int64_t)*state;
    *state = arena_round(*state + (size_t)s->bytes);
    if (sh->cell >= 0) e->values[sh->cell] = v;
  }
  return DAMO_OK;
}

/* The new shared values, all of them computed, go to the state at the end. */
static void export_updates(c_emit *e, const fn_program *p, const ptrvec *states) {
  c_value **staged = c_file_alloc(e->file, (size_t)(p->n_shared + 1) * sizeof *staged);
  if (staged == NULL) return;
  for (int64_t i = 0; i < p->n_shared && e->status == DAMO_OK; i++) {
    if (p->shared[i].update_cell < 0) continue;
    c_value *v = e->values[p->shared[i].update_cell];
    const c_value *to = states->at[i];
    ce_settle(e, v);
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

static damo_status export_body(c_emit *e, damo_function *f, const export_options *o, export_texts *t) {
  const fn_program *p = f->program;
  ptrvec states;
  for (int64_t i = 0; i < p->n_outputs; i++) {
    char text[160];
    const damo_type *type = p->outputs[i].type;
    if (type_is_tensor(type) || type->kind == TYPE_RANDOM) continue;
    return ctx_fail(e->ctx, DAMO_ENOT_IMPLEMENTED, "export_c: output %lld is %s, which can't be exported",
                    (long long)i + 1, type_format(text, sizeof text, type));
  }
  DAMO_TRY(export_inputs(e, f, o));
  DAMO_TRY(export_shared(e, f, o, &t->state, t->state_at));
  DAMO_TRY(export_program(e, p));
  ptrvec_init(&states, e->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < p->n_shared && s == DAMO_OK; i++) {
    c_value *v = p->shared[i].cell >= 0 ? e->values[p->shared[i].cell] : NULL;
    if (v == NULL) { /* only written: found by its storage */
      for (int64_t k = 0; k < e->pointers.n; k++) {
        const c_pointer *q = e->pointers.at[k];
        const c_storage *st = e->storages.at[q->storage];
        if (st->home != C_STATE || st->number != i) continue;
        const damo_array *a = o->shared != NULL ? o->shared[i] : (const damo_array *)function_shared(f, i);
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
    "#if defined(__GNUC__) && !defined(__clang__)\n"
    "#pragma GCC optimize (\"fp-contract=off\", \"tree-vectorize\", \"vect-cost-model=dynamic\")\n"
    "#else\n#pragma STDC FP_CONTRACT OFF\n#endif\n"
    "/* Before short loops; and before loops whose iterations touch no element in common. Others find both out. */\n"
    "#if defined(__GNUC__) && __GNUC__ >= 8 && !defined(__clang__)\n"
    "#define UNROLLED _Pragma(\"GCC unroll 16\")\n#define APART _Pragma(\"GCC ivdep\")\n"
    "#else\n#define UNROLLED\n#define APART\n#endif\n";

static const char bessel_switch[] = "#ifndef _XOPEN_SOURCE\n#define _XOPEN_SOURCE 700 /* j0, j1, y0, y1 */\n#endif\n";

static const char complex_types[] =
    "#include <complex.h>\n\ntypedef struct c64 {\n  float re, im;\n} c64;\n"
    "typedef struct c128 {\n  double re, im;\n} c128;\n\n";

/* The functions of kernel/plain, which a file carries in reproducible mode where it calls one. */
static const char *const plain_text[] = {
#include "plain_text.inc"
};

static void export_header(strbuf *out, const char *name, const damo_function *f, const c_emit *e) {
  char guard[256];
  snprintf(guard, sizeof guard, "%s", name);
  for (char *p = guard; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
  strbuf_addf(out,
              "/* Made by damo. Arrays are C-contiguous%s. */\n#ifndef %s_H\n#define %s_H\n\n#include <stddef.h>\n\n",
              e->file->complex ? "; c128 and c64 are pairs of double or float" : "", guard, guard);
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
  size_t work = 0;
  strbuf declared = {.ctx = e->ctx}, init = {.ctx = e->ctx}, specials = {.ctx = e->ctx};
  damo_status s = export_body(e, f, o, t);
  if (s == DAMO_OK) s = export_layout(e, &work);
  if (s == DAMO_OK) s = export_declare(e, &declared);
  if (s == DAMO_OK && o->shared == NULL) s = export_state_init(e, f, &init);
  export_specials(file, &specials);
  const char *const parts[] = {specials.at, file->constants.at, file->helpers.at, file->functions.at, complex_types};
  for (int i = 0; i < (file->complex ? 5 : 4) && s == DAMO_OK; i++) s = export_check_clash(e->ctx, o->name, parts[i]);
  for (size_t i = 0; file->plain && i < sizeof plain_text / sizeof *plain_text && s == DAMO_OK; i++)
    s = export_check_clash(e->ctx, o->name, plain_text[i]);
  if (s == DAMO_OK) {
    const char *n = o->name;
    strbuf_add(&t->source, "/* Made by damo. */\n");
    if ((file->specials & (1u << C_SPECIAL_BESSEL | 1u << C_SPECIAL_AIRY)) != 0) strbuf_add(&t->source, bessel_switch);
    strbuf_addf(&t->source, "#include \"%s.h\"\n\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n\n%s\n",
                n, contraction);
    for (size_t i = 0; file->plain && i < sizeof plain_text / sizeof *plain_text; i++)
      strbuf_add(&t->source, plain_text[i]);
    strbuf_add(&t->source, specials.at != NULL ? specials.at : "");
    if (file->complex) strbuf_add(&t->source, complex_types);
    strbuf_add(&t->source, file->constants.at != NULL ? file->constants.at : "");
    strbuf_add(&t->source, "\n");
    strbuf_add(&t->source, file->helpers.at != NULL ? file->helpers.at : "");
    strbuf_add(&t->source, file->functions.at != NULL ? file->functions.at : "");
    strbuf_addf(&t->source, "size_t %s_work_size(void) { return %llu; }\n\n", n, (unsigned long long)work);
    strbuf_addf(&t->source, "size_t %s_state_size(void) { return %llu; }\n\n", n, (unsigned long long)t->state);
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
    t->work = work;
    for (int64_t i = 0; i < t->n_results; i++) {
      const c_value *v = e->values[f->program->outputs[i].cell];
      t->results[i] = (export_result){.dtype = v->dtype, .ndim = v->ndim};
      memcpy(t->results[i].shape, v->shape, sizeof v->shape);
    }
    if (file->data.n > 0) strbuf_addn(&t->data, file->data.at, file->data.n);
    if (t->source.failed || t->header.failed || t->data.failed || file->constants.failed || file->helpers.failed ||
        e->body.failed || declared.failed || init.failed || specials.failed)
      s = ctx_fail_memory(e->ctx);
  }
  strbuf_clear(&declared);
  strbuf_clear(&init);
  strbuf_clear(&specials);
  return s;
}

damo_status export_make(damo_function *f, const export_options *o, export_texts *out) {
  damo_ctx *ctx = f->obj.ctx;
  c_file file;
  c_emit e;
  *out = (export_texts){.n_results = 0};
  strbuf_init(&out->source, ctx);
  strbuf_init(&out->header, ctx);
  strbuf_init(&out->data, ctx);
  if (f->freed) return ctx_fail(ctx, DAMO_ESTATE, "the function was freed");
  DAMO_TRY(export_check_name(ctx, o->name));
  const fn_program *p = f->program;
  out->results = mem_calloc(ctx, (size_t)(p->n_outputs + 1) * sizeof *out->results);
  if (out->results == NULL) return DAMO_EMEMORY;
  out->n_results = p->n_outputs;
  out->state_at = mem_calloc(ctx, (size_t)(p->n_shared + 1) * sizeof *out->state_at);
  if (out->state_at == NULL) return DAMO_EMEMORY;
  out->n_shared = p->n_shared;
  c_file_init(&file, ctx, o->name);
  file.single = o->single;
  file.function = export_function;
  file.reproducible = f->program->reproducible;
  damo_status s = c_emit_init(&e, &file, f->program->vm.n_cells);
  if (s == DAMO_OK) {
    const bool outer = function_enter_mode(f); /* for what is computed while exporting */
    const rounding host = rounding_enter(file.reproducible);
    s = export_assemble(&e, f, o, out);
    rounding_leave(host);
    function_leave_mode(f, outer);
    c_emit_clear(&e);
  }
  c_file_clear(&file);
  return s;
}

void export_clear(export_texts *t) {
  damo_ctx *ctx = t->source.ctx;
  if (t->results != NULL) mem_free(ctx, t->results, (size_t)(t->n_results + 1) * sizeof *t->results);
  if (t->state_at != NULL) mem_free(ctx, t->state_at, (size_t)(t->n_shared + 1) * sizeof *t->state_at);
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
