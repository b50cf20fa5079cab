/* arm64_lanes: programs of lanes for ARM64 with NEON: a kernel (kernel_fn) in the procedure call standard AAPCS64.
 *
 * Two loops of the same instructions over the same registers: one for vectors of 128 bits, and one for the elements that
 * are left, which differs in how many elements it loads and stores. A vector has 2 lanes of 64 bits in a wide program,
 * else 4 of 32. Values of 32 bits in a wide program fill the low 64 bits of a register, side by side; a bool always has
 * as many bits as a lane. x0 counts the bytes of lanes that are done, x17 the elements, x1 the elements that are left;
 * x15, x16, v30 and v31 are scratch. Slots have 16 bytes, from the stack pointer on. No register is used that a call
 * keeps.
 */
#include "jit_int.h"

#if JIT_HAS_ARM64
#include "arm64_asm.h"

#define LANES_DONE 0
#define LANES_LEFT 1
#define LANES_SCRATCH 16
#define LANES_SCRATCH2 15
#define LANES_ELEMENTS 17
#define LANES_V 31
#define LANES_V2 30
#define LANES_SLOT 16
#define LANES_MOST_SLOTS 2048 /* that an instruction reaches */

static const uint8_t lanes_floats[] = {0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
static const uint8_t lanes_integers[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

typedef struct lanes_emitter {
  arm_assembler a;
  bool wide;
  bool packed; /* the loop of vectors */
} lanes_emitter;

/* Whether a value of the type fills half a lane. Instructions over such values compute those of the upper half of the
 * register too, which nobody reads. */
static bool is_half(const lanes_emitter *e, int type) { return e->wide && (type == JIT_F32 || type == JIT_I32); }

/* Two or three registers, of floats or integers of the type. */
static uint32_t long_bit(int type) { return jit_is_long(type) ? 0x00400000u : 0; }
static void lanes_three(lanes_emitter *e, const jit_inst *i, uint32_t base, int d, int n, int m) {
  arm_three(&e->a, base | long_bit(i->type), d, n, m);
}

enum { /* of all bits */
       VECTOR_AND = 0x4E201C00,
       VECTOR_ORR = 0x4EA01C00,
       VECTOR_EOR = 0x6E201C00,
       VECTOR_BSL = 0x6E601C00, /* d = d ? n : m, bit by bit */
       VECTOR_NOT = 0x6E205800
};

enum { /* from 32 bits to 64 and back, of the low half of a register */
       VECTOR_SXTL = 0x0F20A400,
       VECTOR_XTN = 0x0EA12800,
       VECTOR_FCVTL = 0x0E617800,
       VECTOR_FCVTN = 0x0E616800
};

static void copy_vector(lanes_emitter *e, int to, int from) {
  if (to != from) arm_three(&e->a, VECTOR_ORR, to, from, from);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

typedef enum lanes_access { LOAD_ADDRESS, STORE_ADDRESS, LOAD_VECTOR, STORE_VECTOR } lanes_access;

static void lanes_slot(lanes_emitter *e, lanes_access how, int reg, int32_t slot) {
  static const uint32_t base[] = {0xF9400000u, 0xF9000000u, 0x3DC00000u, 0x3D800000u}; /* [sp, imm * size] */
  if (slot >= LANES_MOST_SLOTS) {
    e->a.full = true;
    return;
  }
  arm_imm(&e->a, base[how], reg, ARM_SP, (uint32_t)slot * (how <= STORE_ADDRESS ? LANES_SLOT / 8 : 1));
}

static void lanes_move(lanes_emitter *e, const jit_inst *i) {
  const bool is_address = i->type == JIT_ADDRESS;
  if (jit_in_slot(i->out))
    lanes_slot(e, is_address ? STORE_ADDRESS : STORE_VECTOR, i->in[0], ~i->out);
  else if (jit_in_slot(i->in[0]))
    lanes_slot(e, is_address ? LOAD_ADDRESS : LOAD_VECTOR, i->out, ~i->in[0]);
  else if (is_address)
    arm_three(&e->a, 0xAA0003E0u, i->out, 0, i->in[0]);
  else
    copy_vector(e, i->out, i->in[0]);
}

/* ---- One instruction --------------------------------------------------------------------------------------------- */

#define FLOAT_EQ 0x4E20E400u
#define FLOAT_GE 0x6E20E400u
#define FLOAT_GT 0x6EA0E400u

#define INT_EQ 0x6EA08C00u
#define INT_GE 0x4EA03C00u
#define INT_GT 0x4EA03400u

/* Base codes of comparisons: for integers those of 32 bits. */
typedef struct lanes_relations {
  uint32_t eq, ge, gt;
} lanes_relations;

static void lanes_compare(lanes_emitter *e, const jit_inst *i) {
  const bool is_float = jit_is_float(i->type);
  const lanes_relations r =
      is_float ? (lanes_relations){FLOAT_EQ, FLOAT_GE, FLOAT_GT} : (lanes_relations){INT_EQ, INT_GE, INT_GT};
  const int a = i->in[0], b = i->in[1], out = i->out;
  switch ((int)i->imm) {
    case JIT_LT: lanes_three(e, i, r.gt, out, b, a); break;
    case JIT_LE: lanes_three(e, i, r.ge, out, b, a); break;
    case JIT_GT: lanes_three(e, i, r.gt, out, a, b); break;
    case JIT_GE: lanes_three(e, i, r.ge, out, a, b); break;
    case JIT_EQ: lanes_three(e, i, r.eq, out, a, b); break;
    case JIT_NE:
      lanes_three(e, i, r.eq, out, a, b);
      arm_two(&e->a, VECTOR_NOT, out, out);
      break;
    default: /* JIT_UNORDERED: not both equal themselves */
      lanes_three(e, i, FLOAT_EQ, LANES_V, a, a);
      lanes_three(e, i, FLOAT_EQ, LANES_V2, b, b);
      arm_three(&e->a, VECTOR_AND, out, LANES_V, LANES_V2);
      arm_two(&e->a, VECTOR_NOT, out, out);
      break;
  }
  if (is_half(e, i->type)) arm_two(&e->a, VECTOR_SXTL, out, out);
}

/* out = the mask in LANES_V ? x : y */
static void lanes_choose(lanes_emitter *e, int out, int x, int y) {
  arm_three(&e->a, VECTOR_BSL, LANES_V, x, y);
  copy_vector(e, out, LANES_V);
}

static void lanes_round(lanes_emitter *e, const jit_inst *i) {
  static const uint32_t base[] = {[JIT_NEAREST_EVEN] = 0x4E218800u,
                                  [JIT_DOWN] = 0x4E219800u,
                                  [JIT_UP] = 0x4EA18800u,
                                  [JIT_TOWARDS_0] = 0x4EA19800u};
  arm_two(&e->a, base[i->imm] | long_bit(i->type), i->out, i->in[0]);
}

static void lanes_select(lanes_emitter *e, const jit_inst *i) {
  if (is_half(e, i->type))
    arm_two(&e->a, VECTOR_XTN, LANES_V, i->in[0]);
  else
    copy_vector(e, LANES_V, i->in[0]);
  lanes_choose(e, i->out, i->in[1], i->in[2]);
}

/* There are no products of 64 bits but those of the integer registers. */
static void multiply_long(lanes_emitter *e, const jit_inst *i) {
  arm_assembler *a = &e->a;
  for (uint32_t lane = 0; lane < 2; lane++) {
    arm_two(a, 0x4E083C00u | lane << 20, LANES_SCRATCH, i->in[0]); /* umov */
    arm_two(a, 0x4E083C00u | lane << 20, LANES_SCRATCH2, i->in[1]);
    arm_three(a, 0x9B007C00u, LANES_SCRATCH, LANES_SCRATCH, LANES_SCRATCH2); /* mul */
    arm_two(a, 0x4E081C00u | lane << 20, LANES_V, LANES_SCRATCH);            /* ins */
  }
  copy_vector(e, i->out, LANES_V);
}

static void lanes_convert(lanes_emitter *e, const jit_inst *i) {
  arm_assembler *a = &e->a;
  const int out = i->out, v = i->in[0];
  if (i->type == JIT_F32) {
    arm_two(a, VECTOR_FCVTL, out, v);
  } else if (i->type == JIT_F64) {
    arm_two(a, VECTOR_FCVTN, out, v);
  } else if (i->to == JIT_I32) {
    arm_two(a, VECTOR_XTN, out, v);
  } else if (i->to == JIT_F32) {
    arm_two(a, 0x4E21D800u, out, v); /* scvtf */
  } else {
    if (i->type == JIT_I32) arm_two(a, VECTOR_SXTL, out, v);
    if (i->to == JIT_F64) arm_two(a, 0x4E61D800u, out, i->type == JIT_I32 ? out : v);
  }
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

/* Loads into, or stores from, a v register the elements of all lanes, or one. */
static void lanes_elements_at(lanes_emitter *e, bool stores, int type, int v, int address) {
  const uint32_t one = jit_is_long(type) ? 0xFC606800u : 0xBC606800u, half = 0xFC606800u, whole = 0x3CE06800u;
  const uint32_t base = !e->packed ? one : is_half(e, type) ? half : whole;
  int done = LANES_DONE;
  if (is_half(e, type)) {
    arm_two(&e->a, 0xD37EF400u, LANES_SCRATCH, LANES_ELEMENTS); /* lsl by 2 */
    done = LANES_SCRATCH;
  }
  arm_three(&e->a, stores ? base - 0x00400000u : base, v, address, done);
}

/* Bytes, 0 or 1, to masks. */
static void load_bools(lanes_emitter *e, int out, int address) {
  arm_assembler *a = &e->a;
  const uint32_t load = !e->packed ? 0x38606800u : e->wide ? 0x78606800u : 0xB8606800u; /* ldrb, ldrh, ldr */
  arm_three(a, load, LANES_SCRATCH, address, LANES_ELEMENTS);
  arm_two(a, 0x1E270000u, LANES_V, LANES_SCRATCH); /* fmov */
  arm_two(a, 0x2F08A400u, LANES_V, LANES_V);       /* ushll: bytes to 16 bits, */
  arm_two(a, 0x2F10A400u, LANES_V, LANES_V);       /* to 32, */
  if (e->wide) arm_two(a, 0x2F20A400u, LANES_V, LANES_V);
  arm_two(a, e->wide ? 0x6EE0B800u : 0x6EA0B800u, out, LANES_V); /* neg */
}

/* Masks to bytes, 0 or 1. */
static void store_bools(lanes_emitter *e, int v, int address) {
  arm_assembler *a = &e->a;
  int from = v;
  if (e->wide) {
    arm_two(a, 0x0EA12800u, LANES_V, from); /* xtn: 64 bits to 32, */
    from = LANES_V;
  }
  arm_two(a, 0x0E612800u, LANES_V, from);    /* to 16, */
  arm_two(a, 0x0E212800u, LANES_V, LANES_V); /* to bytes */
  arm_two(a, 0x0E20B800u, LANES_V, LANES_V); /* abs */
  arm_two(a, 0x1E260000u, LANES_SCRATCH, LANES_V);
  const uint32_t store = !e->packed ? 0x38206800u : e->wide ? 0x78206800u : 0xB8206800u;
  arm_three(a, store, LANES_SCRATCH, address, LANES_ELEMENTS);
}

static void lanes_load(lanes_emitter *e, const jit_inst *i) {
  if (i->type == JIT_BOOL)
    load_bools(e, i->out, i->in[0]);
  else
    lanes_elements_at(e, false, i->type, i->out, i->in[0]);
}

static void lanes_store(lanes_emitter *e, const jit_inst *i) {
  if (i->type == JIT_BOOL)
    store_bools(e, i->in[1], i->in[0]);
  else
    lanes_elements_at(e, true, i->type, i->in[1], i->in[0]);
}

static void lanes_inst(lanes_emitter *e, const jit_inst *i) {
  const int a = i->in[0], b = i->in[1];
  switch ((int)i->op) {
    case JIT_ADD: lanes_three(e, i, 0x4E20D400u, i->out, a, b); break;
    case JIT_SUB: lanes_three(e, i, 0x4EA0D400u, i->out, a, b); break;
    case JIT_MUL: lanes_three(e, i, 0x6E20DC00u, i->out, a, b); break;
    case JIT_DIV: lanes_three(e, i, 0x6E20FC00u, i->out, a, b); break;
    case JIT_MIN:
      lanes_three(e, i, FLOAT_GT, LANES_V, b, a);
      lanes_choose(e, i->out, a, b);
      break;
    case JIT_MAX:
      lanes_three(e, i, FLOAT_GT, LANES_V, a, b);
      lanes_choose(e, i->out, a, b);
      break;
    case JIT_SQRT: arm_two(&e->a, 0x6EA1F800u | long_bit(i->type), i->out, a); break;
    case JIT_ROUND: lanes_round(e, i); break;
    case JIT_COMPARE:
    case JIT_ICOMPARE: lanes_compare(e, i); break;
    case JIT_AND:
    case JIT_IAND: arm_three(&e->a, VECTOR_AND, i->out, a, b); break;
    case JIT_OR:
    case JIT_IOR: arm_three(&e->a, VECTOR_ORR, i->out, a, b); break;
    case JIT_XOR:
    case JIT_IXOR: arm_three(&e->a, VECTOR_EOR, i->out, a, b); break;
    case JIT_IADD: lanes_three(e, i, 0x4EA08400u, i->out, a, b); break;
    case JIT_ISUB: lanes_three(e, i, 0x6EA08400u, i->out, a, b); break;
    case JIT_IMUL:
      if (i->type == JIT_I64)
        multiply_long(e, i);
      else
        arm_three(&e->a, 0x4EA09C00u, i->out, a, b);
      break;
    case JIT_SELECT: lanes_select(e, i); break;
    case JIT_CONVERT: lanes_convert(e, i); break;
    case JIT_LOAD: lanes_load(e, i); break;
    case JIT_STORE: lanes_store(e, i); break;
    case JIT_MOVE: lanes_move(e, i); break;
    default: damo_assert(false); break; /* a call: no program of lanes has one */
  }
}

static void lanes_list(lanes_emitter *e, const jit_list *l) {
  for (int32_t i = 0; i < l->n; i++) lanes_inst(e, &l->at[i]);
}

/* ---- The function: void (void *const *args, int64_t n) ----------------------------------------------------------- */

/* The slot's contents: a constant in all lanes, the first element of an operand in all lanes, or its address. */
static void lanes_fill_slot(lanes_emitter *e, const jit_def *d) {
  arm_assembler *a = &e->a;
  const bool is_long = jit_is_long(d->type);
  if (d->source == JIT_OF_CONST) {
    arm_constant(a, LANES_SCRATCH, d->bits);
    arm_two(a, is_long ? 0x4E080C00u : 0x4E040C00u, LANES_V, LANES_SCRATCH); /* dup */
    lanes_slot(e, STORE_VECTOR, LANES_V, d->slot);
    return;
  }
  arm_imm(a, 0xF9400000u, LANES_SCRATCH, LANES_DONE, (uint32_t)d->operand); /* x0 is still the address of args */
  if (!d->is_first) {
    lanes_slot(e, STORE_ADDRESS, LANES_SCRATCH, d->slot);
    return;
  }
  arm_two(a, is_long ? 0x4D40CC00u : 0x4D40C800u, LANES_V, LANES_SCRATCH); /* ld1r */
  lanes_slot(e, STORE_VECTOR, LANES_V, d->slot);
}

#define ARM_ADD_IMM 0x91000000u
#define ARM_SUBS_IMM 0xF1000000u
#define ARM_IF_LOWER 0x54000003u
#define ARM_IF_NOT_LOWER 0x54000002u

/* A loop over the step while `width` elements or more are left. */
static void lanes_loop(lanes_emitter *e, const jit_allocated *p, uint32_t width) {
  arm_assembler *a = &e->a;
  arm_imm(a, ARM_SUBS_IMM, LANES_LEFT, LANES_LEFT, width);
  const size_t none = arm_branch(a, ARM_IF_LOWER), head = a->n;
  lanes_list(e, &p->step);
  arm_imm(a, ARM_ADD_IMM, LANES_DONE, LANES_DONE, width * (e->wide ? 8 : 4));
  arm_imm(a, ARM_ADD_IMM, LANES_ELEMENTS, LANES_ELEMENTS, width);
  arm_imm(a, ARM_SUBS_IMM, LANES_LEFT, LANES_LEFT, width);
  arm_land(a, arm_branch(a, ARM_IF_NOT_LOWER), head);
  arm_land(a, none, a->n);
  arm_imm(a, ARM_ADD_IMM, LANES_LEFT, LANES_LEFT, width);
}

/* sp += or -= the bytes of the slots: add, sub of an extended register. */
static void move_stack(arm_assembler *a, uint32_t base, int32_t n_slots) {
  arm_constant(a, LANES_SCRATCH, (uint64_t)n_slots * LANES_SLOT);
  arm_three(a, base, ARM_SP, ARM_SP, LANES_SCRATCH);
}

static size_t arm64_lanes_emit(const jit_allocated *p, uint8_t *code, size_t cap) {
  lanes_emitter em = {.a = {.code = code, .cap = cap}, .wide = p->program->is_wide, .packed = true}, *e = &em;
  arm_assembler *a = &e->a;
  move_stack(a, 0xCB206000u, p->n_slots);
  for (jit_value v = 0; v < p->program->n_defs; v++) {
    const jit_def *d = &p->program->def[v];
    if (d->source == JIT_OF_CONST || d->source == JIT_OF_SLOT) lanes_fill_slot(e, d);
  }
  arm_constant(a, LANES_DONE, 0);
  arm_constant(a, LANES_ELEMENTS, 0);
  lanes_list(e, &p->before);
  lanes_loop(e, p, e->wide ? 2 : 4);
  e->packed = false;
  lanes_loop(e, p, 1);
  move_stack(a, 0x8B206000u, p->n_slots);
  arm_word(a, 0xD65F03C0u); /* ret */
  return a->full ? 0 : a->n;
}

/* ---- The ISA ----------------------------------------------------------------------------------------------------- */

static bool arm64_lanes_takes_slot(const jit_inst *i) { return (void)i, false; }
static const char *arm64_lanes_refusal(void) { return NULL; }

static const jit_isa arm64_lanes_isa = {
    .name = "ARM64",
    .n_regs = {[JIT_FLOATS] = sizeof lanes_floats, [JIT_INTEGERS] = sizeof lanes_integers},
    .regs = {[JIT_FLOATS] = lanes_floats, [JIT_INTEGERS] = lanes_integers},
    .takes_slot = arm64_lanes_takes_slot,
    .refusal = arm64_lanes_refusal,
    .emit = arm64_lanes_emit,
};

const jit_isa *const jit_lanes_here = &arm64_lanes_isa;
#endif
