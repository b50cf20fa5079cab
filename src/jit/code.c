/* code: machine code and the pages that it lies in.
 *
 * A region is 64 KB of address space, which the code of many programs shares: each takes whole pages of the system in
 * it. A page is written while it may not be executed, and from then on read and executed only (W^X); pages with code
 * are not touched for other code, which other threads may be running. A region without code goes back to the system. A
 * context's regions hang from its slot CTX_JIT. Where the system refuses, there is no code in this context any more.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit_int.h"

#if JIT_HAS_X86_64 || JIT_HAS_ARM64
#include <sys/mman.h>
#include <unistd.h>
#define JIT_HAS_PAGES 1
#else
#define JIT_HAS_PAGES 0
#endif

#define REGION_BYTES ((size_t)65536)

typedef struct jit_region {
  struct jit_region *next;
  char *at;
  size_t bytes;
  uint32_t taken; /* a bit a page; 1 of a larger region, which one code has alone */
} jit_region;

typedef struct jit_state {
  jit_region *regions;
  const char *refusal;
  size_t page, bytes; /* bytes: of pages with code */
  bool perf_map;      /* DAMO_PERF_MAP=1: perf learns of code */
} jit_state;

/* What a frame holds before the first run: a constant, or the address of another slot. */
typedef struct slot_content {
  int32_t slot, address_of; /* -1: bits */
  uint64_t bits;
} slot_content;

struct jit_code {
  damo_ctx *ctx;
  jit_block block;
  int64_t (*fn)(jit_slot *frame, int64_t steps);
  int32_t n_slots, stop_slot, n_contents;
  int64_t step_ns;
  slot_content contents[];
};

/* ---- The state of a context -------------------------------------------------------------------------------------- */

#if JIT_HAS_PAGES
static void region_free(damo_ctx *ctx, jit_region *r) {
  munmap(r->at, r->bytes);
  mem_free(ctx, r, sizeof *r);
}
#endif

static void jit_state_free(damo_ctx *ctx, void *data) {
  jit_state *s = data;
#if JIT_HAS_PAGES
  while (s->regions != NULL) {
    jit_region *r = s->regions;
    s->regions = r->next;
    region_free(ctx, r);
  }
#endif
  mem_free(ctx, s, sizeof *s);
}

/* Why this process makes none; NULL: it may. */
static const char *first_refusal(void) {
#if !DAMO_JIT
  return "built without (make JIT=0)";
#else
  if (jit_isa_here == NULL) return "this build has none for its CPU";
  const char *wish = getenv("DAMO_JIT");
  if (wish != NULL && strcmp(wish, "0") == 0) return "DAMO_JIT=0 in the environment";
  return jit_isa_here->refusal();
#endif
}

/* The context's state; NULL: no memory for it, and no error. */
static jit_state *jit_state_of(damo_ctx *ctx) {
  ctx_slot *slot = &ctx->slots[CTX_JIT];
  if (slot->data != NULL) return slot->data;
  jit_state *s = mem_calloc(ctx, sizeof *s);
  if (s == NULL) {
    ctx_clear_error(ctx);
    return NULL;
  }
  s->refusal = first_refusal();
#if JIT_HAS_PAGES
  s->page = (size_t)sysconf(_SC_PAGESIZE);
  const char *wish = getenv("DAMO_PERF_MAP");
  s->perf_map = wish != NULL && strcmp(wish, "1") == 0;
#endif
  *slot = (ctx_slot){s, jit_state_free};
  return s;
}

const char *jit_isa_name(void) { return jit_isa_here != NULL ? jit_isa_here->name : NULL; }

const char *jit_refusal(damo_ctx *ctx) {
  const jit_state *s = jit_state_of(ctx);
  return s != NULL ? s->refusal : "there is no memory for it";
}

bool jit_has_lanes(damo_ctx *ctx) {
  return jit_refusal(ctx) == NULL && jit_lanes_here != NULL && jit_lanes_here->refusal() == NULL;
}

size_t jit_pages_bytes(const damo_ctx *ctx) {
  const jit_state *s = ctx->slots[CTX_JIT].data;
  return s != NULL ? s->bytes : 0;
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

#if JIT_HAS_PAGES
/* A bit for each of the pages of code of that size. */
static uint32_t pages_mask(const jit_state *s, size_t bytes, size_t first) {
  const size_t n = bytes / s->page;
  return bytes > REGION_BYTES ? 1 : ((n < 32 ? (uint32_t)1 << n : 0) - 1) << first;
}

/* The first of free pages in a row for that many bytes; -1: there are none. */
static int free_pages(const jit_region *r, const jit_state *s, size_t bytes) {
  for (size_t first = 0; r->bytes == REGION_BYTES && first * s->page + bytes <= REGION_BYTES; first++) {
    if ((r->taken & pages_mask(s, bytes, first)) == 0) return (int)first;
  }
  return -1;
}

static const char no_pages[] = "the system gives no memory for code";

/* A region for code of that many bytes at least. */
static jit_region *region_new(damo_ctx *ctx, jit_state *s, size_t bytes) {
  jit_region *r = mem_calloc(ctx, sizeof *r);
  if (r == NULL) {
    ctx_clear_error(ctx);
    return NULL;
  }
  r->bytes = bytes > REGION_BYTES ? bytes : REGION_BYTES;
  void *at = mmap(NULL, r->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    s->refusal = no_pages;
    mem_free(ctx, r, sizeof *r);
    return NULL;
  }
  r->at = at;
  r->next = s->regions;
  s->regions = r;
  return r;
}

/* Gives regions without code back. */
static void drop_empty_regions(damo_ctx *ctx, jit_state *s) {
  for (jit_region **at = &s->regions; *at != NULL;) {
    jit_region *r = *at;
    if (r->taken != 0) {
      at = &r->next;
      continue;
    }
    *at = r->next;
    region_free(ctx, r);
  }
}

/* Writes the code into pages that nothing has, then makes them executable. */
static bool write_pages(char *at, size_t bytes, const void *code, size_t n) {
  if (mprotect(at, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  memcpy(at, code, n);
  if (mprotect(at, bytes, PROT_READ | PROT_EXEC) != 0) {
    mprotect(at, bytes, PROT_NONE);
    return false;
  }
  __builtin___clear_cache(at, at + n);
  return true;
}

bool jit_pages_put(damo_ctx *ctx, const void *code, size_t n, jit_block *out) {
  jit_state *s = jit_state_of(ctx);
  const size_t bytes = (n + s->page - 1) / s->page * s->page;
  if (mem_charge(ctx, bytes) != DAMO_OK) {
    ctx_clear_error(ctx);
    return false;
  }
  jit_region *r = s->regions;
  int first = -1;
  for (; r != NULL && (first = free_pages(r, s, bytes)) < 0; r = r->next) {}
  if (r == NULL) {
    r = region_new(ctx, s, bytes);
    first = 0;
  }
  char *at = r != NULL ? r->at + (size_t)first * s->page : NULL;
  const bool written = r != NULL && write_pages(at, bytes, code, n);
  if (!written) {
    if (r != NULL) s->refusal = no_pages;
    mem_uncharge(ctx, bytes);
    drop_empty_regions(ctx, s);
    return false;
  }
  r->taken |= pages_mask(s, bytes, (size_t)first);
  s->bytes += bytes;
  *out = (jit_block){at, bytes};
  return true;
}

void jit_pages_drop(damo_ctx *ctx, const jit_block *b) {
  jit_state *s = jit_state_of(ctx);
  mprotect(b->at, b->bytes, PROT_NONE);
  for (jit_region *r = s->regions; r != NULL; r = r->next) {
    const char *at = b->at;
    if (at < r->at || at >= r->at + r->bytes) continue;
    r->taken &= ~pages_mask(s, b->bytes, (size_t)(at - r->at) / s->page);
  }
  s->bytes -= b->bytes;
  mem_uncharge(ctx, b->bytes);
  drop_empty_regions(ctx, s);
}

/* Adds the code to the file in which perf looks for the names of code that no library has. */
static void tell_perf(damo_ctx *ctx, const char *name, const void *at, size_t n) {
  if (!jit_state_of(ctx)->perf_map) return;
  if (ctx_gate(ctx, GATE_FILE, "DAMO_PERF_MAP") != DAMO_OK) {
    ctx_clear_error(ctx);
    return;
  }
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
  FILE *names = fopen(path, "a");
  if (names == NULL) return;
  fprintf(names, "%lx %zx damo:%s\n", (unsigned long)(uintptr_t)at, n, name != NULL ? name : "code");
  fclose(names);
}
#else
static void tell_perf(damo_ctx *ctx, const char *name, const void *at, size_t n) {
  (void)ctx, (void)name, (void)at, (void)n;
}

bool jit_pages_put(damo_ctx *ctx, const void *code, size_t n, jit_block *out) {
  (void)ctx, (void)code, (void)n, (void)out;
  return false;
}

void jit_pages_drop(damo_ctx *ctx, const jit_block *b) { (void)ctx, (void)b; }

const jit_isa *const jit_isa_here = NULL;
#endif

#if !JIT_HAS_LANES
const jit_isa *const jit_lanes_here = NULL;
#endif

/* ---- Code -------------------------------------------------------------------------------------------------------- */

static int32_t count_addresses(const jit_list *l) {
  int32_t n = 0;
  for (int32_t i = 0; i < l->n; i++) n += l->at[i].op == JIT_CALL ? l->at[i].n_in + 1 : 0;
  return n;
}

static void note_addresses(jit_code *c, const jit_list *l) {
  for (int32_t i = 0; i < l->n; i++) {
    const jit_inst *at = &l->at[i];
    for (int32_t k = 0; at->op == JIT_CALL && k <= at->n_in; k++)
      c->contents[c->n_contents++] = (slot_content){at->slot + k, at->slot + at->n_in + 1 + k, 0};
  }
}

static size_t code_bytes(int32_t n_contents) { return sizeof(jit_code) + (size_t)n_contents * sizeof(slot_content); }

static jit_code *code_new(const jit_program *p, const jit_allocated *a) {
  int32_t n = count_addresses(&a->before) + count_addresses(&a->step);
  for (jit_value v = 0; v < p->n_defs; v++) n += p->def[v].source == JIT_OF_CONST;
  jit_code *c = mem_alloc(p->ctx, code_bytes(n));
  if (c == NULL) {
    ctx_clear_error(p->ctx);
    return NULL;
  }
  *c = (jit_code){.ctx = p->ctx, .n_slots = a->n_slots, .stop_slot = a->stop_slot};
  for (jit_value v = 0; v < p->n_defs; v++) {
    const jit_def *d = &p->def[v];
    if (d->source == JIT_OF_CONST) c->contents[c->n_contents++] = (slot_content){d->slot, -1, d->bits};
  }
  note_addresses(c, &a->before);
  note_addresses(c, &a->step);
  c->step_ns = 1 + a->step.n / 2 + 30 * (int64_t)p->n_calls;
  return c;
}

/* No instruction takes more bytes. */
#define MOST_INST_BYTES 64

static bool emit_code(jit_code *c, const jit_isa *isa, const jit_allocated *a, const char *name) {
  const size_t insts = (size_t)(a->before.n + 2 * a->step.n + a->after.n); /* lanes have two loops of the step */
  const size_t cap = 256 + (insts + (a->program->is_lanes ? (size_t)a->program->n_defs : 0)) * MOST_INST_BYTES;
  uint8_t *text = mem_alloc(c->ctx, cap);
  if (text == NULL) {
    ctx_clear_error(c->ctx);
    return false;
  }
  const size_t n = isa->emit(a, text, cap);
  const bool done = n > 0 && jit_pages_put(c->ctx, text, n, &c->block);
  mem_free(c->ctx, text, cap);
  if (done) tell_perf(c->ctx, name, c->block.at, n);
  memcpy(&c->fn, &c->block.at, sizeof c->fn);
  return done;
}

jit_code *jit_compile(jit_program *p) {
  jit_allocated a;
  if (p->failed || jit_refusal(p->ctx) != NULL || (p->is_lanes && !jit_has_lanes(p->ctx))) return NULL;
  const jit_isa *isa = p->is_lanes ? jit_lanes_here : jit_isa_here;
  jit_code *c = jit_allocate(p, isa, &a) ? code_new(p, &a) : NULL;
  if (c != NULL && !emit_code(c, isa, &a, p->name)) {
    mem_free(p->ctx, c, code_bytes(c->n_contents));
    c = NULL;
  }
  jit_allocated_clear(p->ctx, &a);
  return c;
}

void jit_code_free(jit_code *c) {
  if (c == NULL) return;
  jit_pages_drop(c->ctx, &c->block);
  mem_free(c->ctx, c, code_bytes(c->n_contents));
}

int32_t jit_n_slots(const jit_code *c) { return c->n_slots; }

void jit_frame_init(const jit_code *c, jit_slot *frame) {
  memset(frame, 0, (size_t)c->n_slots * sizeof *frame);
  for (int32_t i = 0; i < c->n_contents; i++) {
    const slot_content *s = &c->contents[i];
    if (s->address_of >= 0)
      frame[s->slot].address = &frame[s->address_of];
    else
      frame[s->slot].bits = s->bits;
  }
}

int64_t jit_run(const jit_code *c, jit_slot *frame, int64_t steps) { return c->fn(frame, steps); }

kernel_fn jit_kernel(const jit_code *c) {
  kernel_fn fn;
  memcpy(&fn, &c->block.at, sizeof fn);
  return fn;
}

bool jit_stopped(const jit_code *c, const jit_slot *frame) {
  return c->stop_slot >= 0 && frame[c->stop_slot].bits != 0;
}

int64_t jit_step_ns(const jit_code *c) { return c->step_ns; }
