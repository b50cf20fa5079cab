/* jit_int.h: private to jit/. */
#ifndef DAMO_JIT_JIT_INT_H
#define DAMO_JIT_JIT_INT_H

#include "jit.h"

typedef struct jit_allocated jit_allocated;

/* The ISA of this build (DAMO_JIT 0: no machine code). */
#ifndef DAMO_JIT
#define DAMO_JIT 1
#endif
#if DAMO_JIT && DAMO_POSIX && defined(__x86_64__)
#define JIT_HAS_X86_64 1
#else
#define JIT_HAS_X86_64 0
#endif
#if DAMO_JIT && DAMO_POSIX && defined(__aarch64__) && defined(__AARCH64EL__)
#define JIT_HAS_ARM64 1
#else
#define JIT_HAS_ARM64 0
#endif

#define JIT_HAS_LANES (JIT_HAS_X86_64 || JIT_HAS_ARM64)

#define JIT_MOST_INSTS 8192 /* larger programs run otherwise */

static inline bool jit_is_float(int type) { return type == JIT_F64 || type == JIT_F32; }
static inline bool jit_is_integer(int type) { return type == JIT_I64 || type == JIT_I32; }
/* The type of addresses of operands in programs of lanes, whose integers are in vectors. */
enum { JIT_ADDRESS = JIT_N_TYPES };
/* Whether values have 64 bits; of a bool that depends on the program. */
static inline bool jit_is_long(int type) { return type == JIT_F64 || type == JIT_I64; }
static inline bool jit_is_call(const jit_inst *i) { return i->op == JIT_CALL || i->op == JIT_CALL_CAST; }

/* Leaves out instructions without effect. live: n_defs bytes, 1 afterwards for each value that is needed. */
void jit_prune(jit_program *p, uint8_t *live);

/* ---- Allocated programs ------------------------------------------------------------------------------------------ */

/* Registers are in two classes: floats, which bools are in too, and integers; in programs of lanes vectors and
 * addresses. */
typedef enum jit_class { JIT_FLOATS, JIT_INTEGERS, JIT_N_CLASSES } jit_class;
static inline jit_class jit_class_of(const jit_program *p, int type) {
  const bool is_integer = p->is_lanes ? type == JIT_ADDRESS : jit_is_integer(type);
  return is_integer ? JIT_INTEGERS : JIT_FLOATS;
}

/* Where an operand is: register r of its class, r >= 0, or slot ~r. */
typedef int32_t jit_place;
static inline bool jit_in_slot(jit_place at) { return at < 0; }

#define JIT_MOST_REGISTERS 32

/* What the allocator knows of an ISA, and the encoder. Registers are numbered as the ISA does; those not named here
 * belong to the encoder: the frame's address, the count of steps, scratch. */
typedef struct jit_isa {
  const char *name;
  int n_regs[JIT_N_CLASSES];
  const uint8_t *regs[JIT_N_CLASSES]; /* in the order of preference; those that calls keep come last */
  int n_kept[JIT_N_CLASSES];          /* how many of them a call keeps */
  /* Whether the last operand of such an instruction may be in a slot. */
  bool (*takes_slot)(const jit_inst *i);
  /* Why this CPU can't run the code; NULL: it can. */
  const char *(*refusal)(void);
  /* Writes the code. Returns its bytes; 0: it takes more than `cap`. */
  size_t (*emit)(const jit_allocated *a, uint8_t *code, size_t cap);
} jit_isa;

/* The ISA of this build, and that for programs of lanes; NULL: none. */
extern const jit_isa *const jit_isa_here;
extern const jit_isa *const jit_lanes_here;

/* A list of instructions whose operands and results are jit_places. */
typedef struct jit_list {
  jit_inst *at;
  int32_t n, cap;
} jit_list;

struct jit_allocated {
  const jit_program *program;
  /* before: once; step: each step; after: once, after the last step */
  jit_list before, step, after;
  int32_t n_slots;
  int32_t stop_slot; /* holds the mask of the last step's condition; -1: none */
};

/* Allocates registers. False: no memory. jit_allocated_clear must follow either way. */
bool jit_allocate(jit_program *p, const jit_isa *isa, jit_allocated *a);
void jit_allocated_clear(damo_ctx *ctx, jit_allocated *a);

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

/* Whole pages with the code of one program. */
typedef struct jit_block {
  void *at;
  size_t bytes;
} jit_block;
/* Copies code to where it can run. False, without an error: there is no memory for it. */
bool jit_pages_put(damo_ctx *ctx, const void *code, size_t bytes, jit_block *out);
void jit_pages_drop(damo_ctx *ctx, const jit_block *b);

#endif
