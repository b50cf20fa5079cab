/* link.c: Functions that run as C source by the machine's C compiler.
 *
 * A linked Function is a Function over one node of an Op CompiledC, whose class holds the Function of the virtual machine
 * that was compiled first. A call with new shapes exports that one for them, has it compiled, and loads the library; the
 * node's inputs are its inputs and its shared Variables, whose new values are further outputs. So arguments, updates and
 * results are treated as in any Function. A call that fails in the library is made again by the virtual machine, whose
 * error it then is.
 */
#include <stdio.h>
#include <string.h>

#if !defined(_WIN32) && !defined(__wasi__) && !defined(__EMSCRIPTEN__)
#define LINK_LOADS
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
#endif

#include "export_int.h"
#include "io/io.h"
#include "op/op.h"

typedef int (*linked_call)(const void *const *in, void *const *out, void *state, const void *data, void *work);

/* The library for one set of shapes. */
typedef struct linked_unit {
  struct linked_unit *next;
  int64_t *key; /* rank and shape of each input of the node */
  size_t key_bytes;
  void *library;
  linked_call call;
  export_texts texts; /* without its source; the data of large constants is at `data` */
  char *data;         /* aligned */
} linked_unit;

/* The class of the one Op of a linked Function. */
typedef struct linked_class {
  damo_obj obj;
  op_def def;
  damo_function *f;
  char *dir;
  linked_unit *units;
} linked_class;

static linked_class *linked_of(const damo_op *op) { return (linked_class *)op->owner; }

damo_function *export_linked_from(const damo_obj *linked) { return ((const linked_class *)linked)->f; }

#define DATA_ALIGN 64

static void unit_free(damo_ctx *ctx, linked_unit *u) {
#ifdef LINK_LOADS
  if (u->library != NULL) dlclose(u->library);
#endif
  export_clear(&u->texts);
  if (u->key != NULL) mem_free(ctx, u->key, u->key_bytes);
  mem_free(ctx, u, sizeof *u);
}

static void linked_destroy(damo_obj *obj) {
  linked_class *c = (linked_class *)obj;
  while (c->units != NULL) {
    linked_unit *u = c->units;
    c->units = u->next;
    unit_free(obj->ctx, u);
  }
  mem_strfree(obj->ctx, c->dir);
  damo_release(c->f);
  mem_free(obj->ctx, c, sizeof *c);
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

#ifdef LINK_LOADS

#define LINK_NAME "damo_linked"

/* Reads the source, and writes the library. The linker needs a file that it can seek in. */
static const char link_command[] =
    "t=$(mktemp) || exit 1; ${CC:-cc} -x c -std=c99 -O2 -ffp-contract=off -fPIC -shared -w -o \"$t\" - -lm && cat "
    "\"$t\";"
    " s=$?; rm -f \"$t\"; exit $s";

static damo_status link_build(damo_ctx *ctx, const strbuf *source, const char *path) {
  const char *const argv[] = {"sh", "-c", link_command, NULL};
  bool found = false;
  const damo_status s = io_draw(ctx, argv, source->at, source->n, path, &found);
  if (s == DAMO_OK && !found) return ctx_fail(ctx, DAMO_EIO, "linker \"cc\": there is no C compiler (cc)");
  if (s == DAMO_EIO) {
    char why[600];
    snprintf(why, sizeof why, "%s", damo_error_message(ctx));
    return ctx_fail(ctx, DAMO_EIO, "linker \"cc\": the C compiler failed: %s", why);
  }
  return s;
}

static bool link_exists(const char *path) { return access(path, R_OK) == 0; }

/* The library of that source, from the folder if it is there; loads it into u. */
static damo_status link_load(damo_ctx *ctx, linked_unit *u, const char *dir, const strbuf *source) {
  char folder[] = "/tmp/damo-linked-XXXXXX";
  strbuf path = {.ctx = ctx};
  damo_status s = ctx_gate(ctx, GATE_PROGRAM, "linker \"cc\"");
  if (s != DAMO_OK) return s;
  if (dir == NULL && mkdtemp(folder) == NULL)
    return ctx_fail(ctx, DAMO_EIO, "linker \"cc\": no temporary folder can be made");
  uint64_t h[2] = {hash_bytes(hash_bytes(1, link_command, sizeof link_command), source->at, source->n),
                   hash_bytes(hash_bytes(2, source->at, source->n), link_command, sizeof link_command)};
  strbuf_addf(&path, "%s/damo-%016llx%016llx.so", dir != NULL ? dir : folder, (unsigned long long)h[0],
              (unsigned long long)h[1]);
  if (path.failed) s = ctx_fail_memory(ctx);
  if (s == DAMO_OK && !link_exists(path.at)) s = link_build(ctx, source, path.at);
  if (s == DAMO_OK) {
    u->library = dlopen(path.at, RTLD_NOW | RTLD_LOCAL);
    void *symbol = u->library != NULL ? dlsym(u->library, LINK_NAME) : NULL;
    memcpy(&u->call, &symbol, sizeof symbol); /* ISO C has no conversion of a pointer to a function */
    if (symbol == NULL) s = ctx_fail(ctx, DAMO_EIO, "linker \"cc\": '%s' can't be loaded: %s", path.at, dlerror());
  }
  if (dir == NULL) {
    if (path.at != NULL) unlink(path.at);
    rmdir(folder);
  }
  strbuf_clear(&path);
  return s;
}

#endif

static damo_status unit_make(linked_class *c, linked_unit *u, damo_array *const *in) {
#ifdef LINK_LOADS
  const fn_program *p = c->f->program;
  damo_ctx *ctx = c->obj.ctx;
  const size_t n = (size_t)p->n_inputs + 1;
  const int64_t **shapes = mem_calloc(ctx, n * (sizeof *shapes + sizeof(int)));
  if (shapes == NULL) return DAMO_EMEMORY;
  int *ndims = (int *)(shapes + n);
  for (int64_t i = 0; i < p->n_inputs; i++) {
    shapes[i] = in[i]->ndim > 0 ? array_shape(in[i]) : NULL;
    ndims[i] = in[i]->ndim;
  }
  const export_options o = {
      .name = LINK_NAME, .shapes = shapes, .ndims = ndims, .n_shapes = p->n_inputs, .shared = in + p->n_inputs};
  damo_status s = export_make(c->f, &o, &u->texts);
  mem_free(ctx, shapes, n * (sizeof *shapes + sizeof(int)));
  strbuf *source = &u->texts.source, whole = {.ctx = ctx};
  if (s == DAMO_OK) { /* the header is no file here */
    const char *include = strstr(source->at, "#include \"" LINK_NAME ".h\"\n");
    strbuf_addn(&whole, source->at, (size_t)(include - source->at));
    strbuf_add(&whole, u->texts.header.at);
    strbuf_add(&whole, include + strlen("#include \"" LINK_NAME ".h\"\n"));
    s = whole.failed ? ctx_fail_memory(ctx) : link_load(ctx, u, c->dir, &whole);
  }
  strbuf_clear(&whole);
  strbuf_clear(&u->texts.source);
  strbuf_clear(&u->texts.header);
  strbuf_init(&u->texts.source, ctx);
  strbuf_init(&u->texts.header, ctx);
  if (s == DAMO_OK && u->texts.data.n > 0) { /* what is in it is aligned relative to its start */
    strbuf data = {.ctx = ctx};
    for (int i = 0; i < DATA_ALIGN; i++) strbuf_addn(&data, "", 1);
    strbuf_addn(&data, u->texts.data.at, u->texts.data.n);
    if (data.failed) return strbuf_clear(&data), ctx_fail_memory(ctx);
    const size_t shift = (DATA_ALIGN - (uintptr_t)data.at % DATA_ALIGN) % DATA_ALIGN;
    u->data = data.at + shift;
    memmove(u->data, data.at + DATA_ALIGN, u->texts.data.n);
    strbuf_clear(&u->texts.data);
    u->texts.data = data;
  }
  return s;
#else
  (void)u, (void)in;
  return ctx_fail(c->obj.ctx, DAMO_ENOT_IMPLEMENTED, "linker \"cc\": this platform loads no libraries");
#endif
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static bool unit_fits(const linked_unit *u, const thunk *t, const frame *f) {
  const int64_t *key = u->key;
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *a = thunk_in(t, f, i);
    if (*key++ != a->ndim) return false;
    for (int k = 0; k < a->ndim; k++) {
      if (*key++ != array_shape(a)[k]) return false;
    }
  }
  return true;
}

/* The unit for the shapes of these n inputs; NULL on failure. */
static linked_unit *unit_add(linked_class *c, damo_array *const *in, int64_t n) {
  damo_ctx *ctx = c->obj.ctx;
  linked_unit *u = mem_calloc(ctx, sizeof *u);
  if (u == NULL) return NULL;
  strbuf_init(&u->texts.source, ctx);
  for (int64_t i = 0; i < n; i++) u->key_bytes += (size_t)(1 + in[i]->ndim) * sizeof(int64_t);
  u->key = mem_alloc(ctx, u->key_bytes + 1);
  u->key_bytes++;
  damo_status s = u->key != NULL ? DAMO_OK : DAMO_EMEMORY;
  int64_t *key = u->key;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    *key++ = in[i]->ndim;
    for (int k = 0; k < in[i]->ndim; k++) *key++ = array_shape(in[i])[k];
  }
  if (s == DAMO_OK) s = unit_make(c, u, in);
  if (s != DAMO_OK) {
    unit_free(ctx, u);
    return NULL;
  }
  u->next = c->units;
  c->units = u;
  return u;
}

/* The unit for the shapes of the inputs, made where there is none; NULL on failure. */
static linked_unit *unit_for(linked_class *c, const thunk *t, frame *f) {
  for (linked_unit *u = c->units; u != NULL; u = u->next) {
    if (unit_fits(u, t, f)) return u;
  }
  damo_array **in = mem_alloc(f->ctx, (size_t)(t->n_in + 1) * sizeof *in);
  if (in == NULL) return NULL;
  for (int i = 0; i < t->n_in; i++) in[i] = thunk_in(t, f, i);
  linked_unit *u = unit_add(c, in, t->n_in);
  mem_free(f->ctx, in, (size_t)(t->n_in + 1) * sizeof *in);
  return u;
}

/* Makes the unit where all shapes are static. */
static damo_status linked_prepare(linked_class *c) {
  const fn_program *p = c->f->program;
  damo_ctx *ctx = c->obj.ctx;
  const int64_t n = p->n_inputs + p->n_shared;
  bool is_static = true;
  for (int64_t i = 0; i < p->n_inputs; i++) {
    const damo_type *type = p->inputs[i].var->type;
    for (int k = 0; k < type->ndim; k++) is_static = is_static && type->shape[k] >= 0;
  }
  if (!is_static) return DAMO_OK;
  damo_array **in = mem_calloc(ctx, (size_t)(n + 1) * sizeof *in);
  damo_status s = in != NULL ? DAMO_OK : DAMO_EMEMORY;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    const damo_type *type = i < p->n_inputs ? p->inputs[i].var->type : NULL;
    in[i] = type != NULL ? array_empty(ctx, type->dtype, type->ndim, type->shape)
                         : damo_retain((damo_array *)function_shared(c->f, i - p->n_inputs));
    if (in[i] == NULL) s = DAMO_EMEMORY;
  }
  if (s == DAMO_OK && unit_add(c, in, n) == NULL) s = damo_error_status(ctx);
  for (int64_t i = 0; in != NULL && i < n; i++) damo_release(in[i]);
  if (in != NULL) mem_free(ctx, in, (size_t)(n + 1) * sizeof *in);
  return s;
}

/* The same call by the virtual machine. */
static damo_status linked_again(linked_class *c, const thunk *t, frame *f) {
  const fn_program *p = c->f->program;
  damo_ctx *ctx = f->ctx;
  const size_t bytes = (size_t)(p->n_inputs + p->n_outputs + 1) * sizeof(damo_obj *);
  damo_obj **args = mem_calloc(ctx, bytes);
  if (args == NULL) return DAMO_EMEMORY;
  damo_obj **results = args + p->n_inputs;
  for (int64_t i = 0; i < p->n_inputs; i++) args[i] = thunk_value(t, f, (int)i);
  const damo_status s = function_call(c->f, args, p->n_inputs, NULL, results);
  for (int64_t i = 0; i < p->n_outputs && s == DAMO_OK; i++) thunk_set_out(t, f, (int)i, results[i]);
  int o = (int)p->n_outputs;
  for (int64_t i = 0; i < p->n_shared && s == DAMO_OK; i++) {
    if (p->shared[i].update_cell >= 0) thunk_set_out(t, f, o++, damo_retain(function_shared(c->f, i)));
  }
  mem_free(ctx, args, bytes);
  return s;
}

static size_t linked_round(size_t n) { return (n + DATA_ALIGN - 1) & ~(size_t)(DATA_ALIGN - 1); }

/* Copies the elements of a, in C order. */
static damo_status linked_put(const damo_array *a, char *to) {
  damo_array *copy = array_is_contiguous(a) ? NULL : array_copy(a);
  if (copy == NULL && !array_is_contiguous(a)) return DAMO_EMEMORY;
  const size_t n = (size_t)array_size(a) * dtype_size(a->dtype);
  if (n > 0) memcpy(to, copy != NULL ? copy->data : a->data, n);
  damo_release(copy);
  return DAMO_OK;
}

static damo_status linked_perform(const thunk *t, frame *f) {
  linked_class *c = linked_of(t->node->op);
  const fn_program *p = c->f->program;
  const linked_unit *u = unit_for(c, t, f);
  if (u == NULL) return damo_error_status(f->ctx);
  const size_t pointers = linked_round((size_t)(t->n_in + t->n_out) * sizeof(void *));
  size_t bytes = pointers + linked_round(u->texts.state) + linked_round(u->texts.work) + DATA_ALIGN;
  for (int64_t i = 0; i < p->n_inputs; i++) {
    const damo_array *a = thunk_in(t, f, (int)i);
    if (!array_is_contiguous(a)) bytes += linked_round((size_t)array_size(a) * dtype_size(a->dtype));
  }
  char *scratch = thunk_scratch(t, f, bytes);
  if (scratch == NULL) return DAMO_EMEMORY;
  scratch += (DATA_ALIGN - (uintptr_t)scratch % DATA_ALIGN) % DATA_ALIGN;
  const void **in = (const void **)(void *)scratch;
  void **out = (void **)(void *)(scratch + (size_t)t->n_in * sizeof(void *));
  char *state = scratch + pointers, *work = state + linked_round(u->texts.state),
       *copies = work + linked_round(u->texts.work);
  for (int64_t i = 0; i < p->n_outputs; i++) {
    const export_result *r = &u->texts.results[i];
    damo_array *a = thunk_out(t, f, (int)i, r->dtype, r->ndim, r->shape);
    if (a == NULL) return DAMO_EMEMORY;
    out[i] = a->data;
  }
  for (int64_t i = 0, o = p->n_outputs; i < p->n_shared; i++) {
    if (p->shared[i].update_cell < 0) continue;
    const damo_array *now = thunk_in(t, f, (int)(p->n_inputs + i));
    damo_array *a = thunk_out(t, f, (int)o, array_dtype(now), now->ndim, array_shape(now));
    if (a == NULL) return DAMO_EMEMORY;
    out[o++] = a->data;
  }
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *a = thunk_in(t, f, i);
    const bool is_shared = i >= p->n_inputs;
    char *to = is_shared ? state + u->texts.state_at[i - p->n_inputs] : copies;
    in[i] = a->data;
    if (!is_shared && array_is_contiguous(a)) continue;
    DAMO_TRY(linked_put(a, to));
    if (is_shared) continue;
    in[i] = to;
    copies += linked_round((size_t)array_size(a) * dtype_size(a->dtype));
  }
  if (u->call(in, out, state, u->data, work) != 0) return linked_again(c, t, f);
  for (int64_t i = 0, o = p->n_outputs; i < p->n_shared; i++) {
    if (p->shared[i].update_cell < 0) continue;
    const damo_array *a = thunk_in(t, f, (int)(p->n_inputs + i));
    memcpy(out[o++], state + u->texts.state_at[i], (size_t)array_size(a) * dtype_size(a->dtype));
  }
  return DAMO_OK;
}

/* ---- The class --------------------------------------------------------------------------------------------------- */

static int linked_count(const damo_op *op, int n_in) {
  const fn_program *p = linked_of(op)->f->program;
  int n = (int)p->n_outputs;
  (void)n_in;
  for (int64_t i = 0; i < p->n_shared; i++) n += p->shared[i].update_cell >= 0;
  return n;
}

static damo_status linked_types(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  const fn_program *p = linked_of(op)->f->program;
  int o = 0;
  (void)in, (void)n_in;
  for (int64_t i = 0; i < p->n_outputs; i++) out[o++] = damo_retain(p->outputs[i].type);
  for (int64_t i = 0; i < p->n_shared; i++) {
    if (p->shared[i].update_cell >= 0) out[o++] = damo_retain(p->shared[i].var->type);
  }
  return DAMO_OK;
}

static bool linked_never(const damo_apply *node) {
  (void)node;
  return false;
}

static bool linked_takes(const damo_type *t) { return type_is_tensor(t) || t->kind == TYPE_RANDOM; }

/* Refuses what no shapes would make exportable. */
static damo_status linked_check(damo_ctx *ctx, const damo_function *f) {
  const fn_program *p = f->program;
  char text[160];
  for (int64_t i = 0; i < p->n_inputs; i++) {
    if (!type_is_tensor(p->inputs[i].var->type))
      return ctx_fail(ctx, DAMO_ENOT_IMPLEMENTED, "linker \"cc\": input %lld is %s", (long long)i + 1,
                      type_format(text, sizeof text, p->inputs[i].var->type));
  }
  for (int64_t i = 0; i < p->n_outputs; i++) {
    if (!linked_takes(p->outputs[i].type))
      return ctx_fail(ctx, DAMO_ENOT_IMPLEMENTED, "linker \"cc\": output %lld is %s", (long long)i + 1,
                      type_format(text, sizeof text, p->outputs[i].type));
  }
  for (int64_t i = 0; i < p->n_shared; i++) {
    if (p->shared[i].var == NULL) return ctx_fail(ctx, DAMO_ENOT_IMPLEMENTED, "linker \"cc\": an input with an update");
    if (!linked_takes(p->shared[i].var->type))
      return ctx_fail(ctx, DAMO_ENOT_IMPLEMENTED, "linker \"cc\": a shared Variable that is no array");
  }
  for (int64_t k = 0; k < p->vm.n_thunks; k++) {
    const damo_op *op = p->vm.thunks[k]->node->op;
    if (op->def->emit_c != NULL) continue;
    bool known = true; /* it may be computed while exporting */
    for (int i = 0; i < p->vm.thunks[k]->n_in; i++) known = known && p->vm.thunks[k]->node->in[i]->kind == VAR_CONSTANT;
    if (known) continue;
    strbuf name = {.ctx = ctx};
    op_format(&name, op);
    ctx_fail(ctx, DAMO_ENOT_IMPLEMENTED, "linker \"cc\": %.200s: there is no C source for it",
             name.at != NULL ? name.at : op->def->name);
    ctx_fail_at(ctx, op->def->name, p->vm.thunks[k]->node);
    strbuf_clear(&name);
    return DAMO_ENOT_IMPLEMENTED;
  }
  return DAMO_OK;
}

static damo_op *linked_op(damo_ctx *ctx, damo_function *f, const char *dir) {
  ctx_register_kind(ctx, OBJ_LINKED, linked_destroy, NULL);
  linked_class *c = obj_new(ctx, OBJ_LINKED, sizeof *c);
  if (c == NULL) return NULL;
  c->f = damo_retain(f);
  c->def = (op_def){.name = "CompiledC",
                    .doc = "a Function as a C compiler has compiled it",
                    .n_in = OP_VARIADIC,
                    .least_in = OP_NO_INPUT,
                    .n_out = OP_VARIADIC,
                    .count_out = linked_count,
                    .infer_type = linked_types,
                    .perform = linked_perform,
                    .do_constant_folding = linked_never,
                    .nonfinite = NONFINITE_ANY,
                    .unique = true,
                    .one_context = true,
                    .foreign = true,
                    .no_check = "it is compiled C"};
  damo_op *op = mem_copy_text(ctx, dir, &c->dir) == DAMO_OK ? op_new_owned(ctx, &c->def, &c->obj, NULL) : NULL;
  damo_release(c);
  return op;
}

/* The Function over the node of op (stolen). */
static damo_function *linked_function(build *b, damo_op *op, const fn_program *p, const in_spec *in,
                                      const out_spec *out, const compile_options *options) {
  const int n_in = (int)(p->n_inputs + p->n_shared), n_out = linked_count(op, n_in);
  const size_t bytes = (size_t)(n_in + 2 * n_out + 1) * sizeof(damo_var *) + (size_t)(n_out + 1) * sizeof(out_spec);
  damo_var **vars = mem_calloc(b->ctx, bytes);
  if (vars == NULL) return damo_release(op), NULL;
  damo_var **of = vars + n_in, **to = of + n_out;
  out_spec *outs = (out_spec *)(void *)(to + n_out + 1);
  for (int64_t i = 0; i < p->n_inputs; i++) vars[i] = in[i].var;
  for (int64_t i = 0; i < p->n_shared; i++) vars[p->n_inputs + i] = p->shared[i].var;
  const damo_apply *node = build_apply(b, op, vars, n_in);
  damo_function *g = NULL;
  if (node != NULL) {
    int64_t n = 0;
    for (int64_t i = 0; i < p->n_outputs; i++) {
      outs[i] = out[i];
      outs[i].var = node->out[i];
    }
    for (int64_t i = 0; i < p->n_shared; i++) {
      if (p->shared[i].update_cell < 0) continue;
      of[n] = p->shared[i].var;
      to[n] = node->out[p->n_outputs + n];
      n++;
    }
    compile_options o = *options;
    o.mode = NULL;
    o.optimizer = "none";
    o.include = o.exclude = o.require = NULL;
    o.update_of = of;
    o.update_to = to;
    o.n_updates = n;
    o.n_givens = 0;
    o.no_default_updates = true;
    o.on_unused_input = UNUSED_IGNORE;
    g = compile_function(b->ctx, in, p->n_inputs, outs, p->n_outputs, &o);
  }
  mem_free(b->ctx, vars, bytes);
  return g;
}

damo_function *export_linked(damo_ctx *ctx, const in_spec *in, int64_t n_in, const out_spec *out, int64_t n_out,
                             const compile_options *options, const char *dir) {
  damo_function *f = compile_function(ctx, in, n_in, out, n_out, options), *g = NULL;
  if (f == NULL) return NULL;
  if (linked_check(ctx, f) == DAMO_OK) {
    build b;
    build_init(&b, ctx);
    damo_op *op = linked_op(ctx, f, dir);
    if (op != NULL && linked_prepare(linked_of(op)) != DAMO_OK) {
      damo_release(op);
      op = NULL;
    }
    if (op != NULL) g = linked_function(&b, op, f->program, in, out, options);
    if (build_end(&b) != DAMO_OK) {
      damo_release(g);
      g = NULL;
    }
  }
  damo_release(f);
  return g;
}
