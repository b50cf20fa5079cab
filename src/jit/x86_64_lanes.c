/* x86_64_lanes: programs of lanes for x86-64 with AVX2: a kernel (kernel_fn) in the calling convention of System V.
 *
 * Two loops of the same instructions over the same registers: one for vectors of 256 bits, and one for the elements that
 * are left, in the low lane. A vector has 4 lanes of 64 bits in a wide program, else 8 of 32. Values of 32 bits in a
 * wide program fill the low 128 bits of a register, side by side; a bool always has as many bits as a lane. rdi counts
 * the elements that are done and rsi those that are left, rsp holds the frame's address, rax and ymm15 are scratch.
 * Slots have 32 bytes. No upper half of a register is left behind.
 */
#include "jit_int.h"

#if JIT_HAS_X86_64
#include "x86_64_asm.h"

#define LANES_DONE ASM_INDEX
#define LANES_LEFT RSI
#define LANES_SLOT 32
#define LANES_SCRATCH 15

static const uint8_t lanes_floats[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
static const uint8_t lanes_integers[] = {RCX, RDX, R8, R9, R10, R11, RBX, R12, R13, R14, R15};
static const int lanes_saved[] = {RBP, RBX, R12, R13, R14, R15};
#define LANES_N_SAVED ((int)(sizeof lanes_saved / sizeof *lanes_saved))

/* Of conversions of int64: 2^52, whose low 32 bits an integer's low half fills; 2^84 + 2^63, whose low 32 bits its high
 * half, xored with them, fills, as a multiple of 2^32; 2^84 + 2^63 + 2^52. */
static const uint64_t lanes_magic[] = {0x4330000000000000u, 0x4530000080000000u, 0x4530000080100000u};
enum { MAGIC_LOW, MAGIC_HIGH, MAGIC_ALL, N_MAGIC };

typedef struct lanes_emitter {
  assembler a;
  bool wide;
  bool packed;     /* the loop of vectors */
  int32_t n_slots; /* of the program; those of lanes_magic follow */
} lanes_emitter;

static operand lanes_slot(int32_t slot) { return at_address(RSP, slot * LANES_SLOT); }
static operand lanes_place(jit_place at) { return jit_in_slot(at) ? lanes_slot(~at) : in_reg(at); }

/* Whether a value of the type fills half a lane. */
static bool is_half(const lanes_emitter *e, int type) { return e->wide && (type == JIT_F32 || type == JIT_I32); }

/* The prefix of packed instructions of values of the type: of all lanes, or of at least the low one. */
static int whole_prefix(const lanes_emitter *e, int type, int pp) {
  return e->packed && !is_half(e, type) ? pp | ASM_256 : pp;
}

/* Of instructions that add, compare …: ps, pd, ss, sd. */
static int float_prefix(const lanes_emitter *e, int type) {
  if (!e->packed) return type == JIT_F64 ? PP_F2 : PP_F3;
  return whole_prefix(e, type, type == JIT_F64 ? PP_66 : PP_NONE);
}

/* Of instructions over 256 bits where the loop is one of vectors, for results that have as many bits as lanes. */
static int lane_prefix(const lanes_emitter *e, int pp) { return e->packed ? pp | ASM_256 : pp; }

/* ---- One instruction --------------------------------------------------------------------------------------------- */

static void lanes_arithmetic(lanes_emitter *e, int opcode, const jit_inst *i) {
  asm_vex(&e->a, float_prefix(e, i->type), 1, 0, opcode, i->out, i->in[0], lanes_place(i->in[1]));
}

/* Masks of 32 bits, of values that fill half a lane, become as long as lanes. */
static void widen_mask(lanes_emitter *e, const jit_inst *i) {
  if (is_half(e, i->type)) asm_vex(&e->a, lane_prefix(e, PP_66), 2, 0, 0x25, i->out, 0, in_reg(i->out)); /* vpmovsxdq */
}

static void lanes_compare(lanes_emitter *e, const jit_inst *i) {
  lanes_arithmetic(e, 0xC2, i);
  asm_byte(&e->a, asm_predicate(i->imm));
  widen_mask(e, i);
}

/* The operand that scalar forms of square roots and roundings take the other lanes from: none, where they are packed. */
static int other_lanes(const lanes_emitter *e, const jit_inst *i) {
  return e->packed ? 0 : jit_in_slot(i->in[0]) ? i->out : i->in[0];
}

static void lanes_round(lanes_emitter *e, const jit_inst *i) {
  const int opcode = (e->packed ? 0x08 : 0x0A) | (i->type == JIT_F64);
  asm_vex(&e->a, whole_prefix(e, i->type, PP_66), 3, 0, opcode, i->out, other_lanes(e, i), lanes_place(i->in[0]));
  asm_byte(&e->a, asm_rounding(i->imm));
}

/* The low halves of 64-bit lanes, side by side; in the low lane they are there. */
static void low_halves(lanes_emitter *e, int out, int v) {
  if (!e->packed) {
    if (out != v) asm_vex(&e->a, PP_NONE, 1, 0, 0x28, out, 0, in_reg(v));
    return;
  }
  const int t = LANES_SCRATCH;
  asm_vex(&e->a, PP_66 | ASM_256, 3, 0, 0x19, v, 0, in_reg(t)); /* vextractf128: the upper half */
  asm_byte(&e->a, 1);
  asm_vex(&e->a, PP_NONE, 1, 0, 0xC6, out, v, in_reg(t)); /* vshufps */
  asm_byte(&e->a, 0x88);
}

static void lanes_select(lanes_emitter *e, const jit_inst *i) {
  const bool half = is_half(e, i->type);
  const int mask = half && e->packed ? LANES_SCRATCH : i->in[0], opcode = e->wide && !half ? 0x4B : 0x4A;
  if (mask == LANES_SCRATCH) low_halves(e, mask, i->in[0]);
  asm_vex(&e->a, whole_prefix(e, i->type, PP_66), 3, 0, opcode, i->out, i->in[2], in_reg(i->in[1]));
  asm_byte(&e->a, (unsigned)mask << 4); /* vblendvpd, vblendvps */
}

static void lanes_move(lanes_emitter *e, const jit_inst *i) {
  const operand to = lanes_place(i->out), from = lanes_place(i->in[0]);
  if (i->type == JIT_ADDRESS) {
    if (to.base >= 0)
      asm_int(&e->a, 1, 0x89, from.reg, to, false);
    else
      asm_int(&e->a, 1, 0x8B, to.reg, from, false);
  } else if (to.base >= 0) {
    asm_vex(&e->a, PP_NONE | ASM_256, 1, 0, 0x11, from.reg, 0, to);
  } else {
    asm_vex(&e->a, PP_NONE | ASM_256, 1, 0, 0x10, to.reg, 0, from);
  }
}

/* ---- Integers ---------------------------------------------------------------------------------------------------- */

static void int_three(lanes_emitter *e, const jit_inst *i, int of_map, int opcode, int out, int x, int y) {
  asm_vex(&e->a, whole_prefix(e, i->type, PP_66), of_map, 0, opcode, out, x, in_reg(y));
}

/* A product of 64 bits: that of the low halves, and the sum of the mixed ones 32 bits higher. */
static void multiply_long(lanes_emitter *e, const jit_inst *i) {
  const int t = LANES_SCRATCH, whole = whole_prefix(e, i->type, PP_66);
  asm_vex(&e->a, whole, 1, 0, 0x70, t, 0, in_reg(i->in[1])); /* vpshufd: the halves change places */
  asm_byte(&e->a, 0xB1);
  int_three(e, i, 2, 0x40, t, t, i->in[0]);           /* vpmulld */
  int_three(e, i, 2, 0x02, t, t, t);                  /* vphaddd */
  asm_vex(&e->a, whole, 1, 0, 0x70, t, 0, in_reg(t)); /* vpshufd: the first two, each twice */
  asm_byte(&e->a, 0x50);
  asm_vex(&e->a, whole, 1, 0, 0x73, 6, t, in_reg(t)); /* vpsllq */
  asm_byte(&e->a, 32);
  int_three(e, i, 1, 0xF4, i->out, i->in[0], i->in[1]); /* vpmuludq */
  int_three(e, i, 1, 0xD4, i->out, i->out, t);          /* vpaddq */
}

static void lanes_ints(lanes_emitter *e, const jit_inst *i) {
  const bool is_long = i->type == JIT_I64;
  const int x = i->in[0], y = i->in[1];
  switch ((int)i->op) {
    case JIT_IADD: int_three(e, i, 1, is_long ? 0xD4 : 0xFE, i->out, x, y); break;
    case JIT_ISUB: int_three(e, i, 1, is_long ? 0xFB : 0xFA, i->out, x, y); break;
    case JIT_IAND: int_three(e, i, 1, 0xDB, i->out, x, y); break;
    case JIT_IOR: int_three(e, i, 1, 0xEB, i->out, x, y); break;
    case JIT_IXOR: int_three(e, i, 1, 0xEF, i->out, x, y); break;
    default:
      if (is_long)
        multiply_long(e, i);
      else
        int_three(e, i, 2, 0x40, i->out, x, y); /* vpmulld */
  }
}

/* AVX2 compares integers for equal and for greater. The other relations swap the operands, negate the result, or both. */
static void lanes_compare_ints(lanes_emitter *e, const jit_inst *i) {
  const bool is_long = i->type == JIT_I64, swaps = i->imm == JIT_LT || i->imm == JIT_GE;
  const bool negates = i->imm == JIT_NE || i->imm == JIT_LE || i->imm == JIT_GE,
             equal = i->imm == JIT_EQ || i->imm == JIT_NE;
  const int x = swaps ? i->in[1] : i->in[0], y = swaps ? i->in[0] : i->in[1], t = LANES_SCRATCH;
  if (equal)
    int_three(e, i, is_long ? 2 : 1, is_long ? 0x29 : 0x76, i->out, x, y);
  else
    int_three(e, i, is_long ? 2 : 1, is_long ? 0x37 : 0x66, i->out, x, y);
  if (negates) {
    int_three(e, i, 1, 0x76, t, t, t); /* all bits */
    int_three(e, i, 1, 0xEF, i->out, i->out, t);
  }
  widen_mask(e, i);
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

/* The halves of the integer are parts of two doubles, whose sum is rounded once. */
static void long_to_double(lanes_emitter *e, const jit_inst *i) {
  assembler *a = &e->a;
  const int t = LANES_SCRATCH, v = i->in[0], whole = lane_prefix(e, PP_66);
  asm_vex(a, whole, 1, 0, 0x73, 2, t, in_reg(v)); /* vpsrlq */
  asm_byte(a, 32);
  asm_vex(a, whole, 1, 0, 0xEF, t, t, lanes_slot(e->n_slots + MAGIC_HIGH));
  asm_vex(a, whole, 1, 0, 0x5C, t, t, lanes_slot(e->n_slots + MAGIC_ALL));      /* vsubpd */
  asm_vex(a, whole, 3, 0, 0x0E, i->out, v, lanes_slot(e->n_slots + MAGIC_LOW)); /* vpblendw: the high halves of 2^52 */
  asm_byte(a, 0xCC);
  asm_vex(a, whole, 1, 0, 0x58, i->out, i->out, in_reg(t)); /* vaddpd */
}

static void lanes_convert(lanes_emitter *e, const jit_inst *i) {
  assembler *a = &e->a;
  const operand v = in_reg(i->in[0]);
  const int all = lane_prefix(e, PP_NONE);
  if (i->type == JIT_F32)
    asm_vex(a, e->packed ? all : PP_F3, 1, 0, 0x5A, i->out, e->packed ? 0 : v.reg, v); /* vcvtps2pd, vcvtss2sd */
  else if (i->type == JIT_F64)
    asm_vex(a, e->packed ? all | PP_66 : PP_F2, 1, 0, 0x5A, i->out, e->packed ? 0 : v.reg,
            v); /* vcvtpd2ps, vcvtsd2ss */
  else if (i->type == JIT_I64 && i->to == JIT_F64)
    long_to_double(e, i);
  else if (i->type == JIT_I64)
    low_halves(e, i->out, v.reg);
  else if (i->to == JIT_I64)
    asm_vex(a, all | PP_66, 2, 0, 0x25, i->out, 0, v); /* vpmovsxdq */
  else if (i->to == JIT_F64)
    asm_vex(a, all | PP_F3, 1, 0, 0xE6, i->out, 0, v); /* vcvtdq2pd */
  else
    asm_vex(a, whole_prefix(e, i->to, PP_NONE), 1, 0, 0x5B, i->out, 0, v); /* vcvtdq2ps */
}

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static operand element_of(int address, int type) {
  return at_index(address, type == JIT_BOOL ? 1 : jit_is_long(type) ? 8 : 4);
}

/* Bytes, 0 or 1, to masks. */
static void load_bools(lanes_emitter *e, int out, operand from) {
  assembler *a = &e->a;
  if (!e->packed) {
    asm_int(a, 0, 0x0FB6, RAX, from, false);            /* movzx eax */
    asm_int(a, 1, 0xF7, 3, in_reg(RAX), false);         /* neg rax */
    asm_vex(a, PP_66, 1, 1, 0x6E, out, 0, in_reg(RAX)); /* vmovq */
    return;
  }
  const int zero = LANES_SCRATCH;
  asm_vex(a, PP_66 | ASM_256, 2, 0, e->wide ? 0x22 : 0x21, out, 0, from);           /* vpmovsxbq, vpmovsxbd */
  asm_vex(a, PP_66, 1, 0, 0xEF, zero, zero, in_reg(zero));                          /* vpxor */
  asm_vex(a, PP_66 | ASM_256, 1, 0, e->wide ? 0xFB : 0xFA, out, zero, in_reg(out)); /* vpsubq, vpsubd */
}

/* Masks to bytes, 0 or 1. */
static void store_bools(lanes_emitter *e, int v, operand to) {
  assembler *a = &e->a;
  const int t = LANES_SCRATCH;
  if (!e->packed) {
    asm_vex(a, PP_66, 1, 1, 0x7E, v, 0, in_reg(RAX)); /* vmovq */
    asm_int(a, 0, 0x83, 4, in_reg(RAX), false);       /* and eax, 1 */
    asm_byte(a, 1);
    asm_int(a, 0, 0x88, RAX, to, true);
    return;
  }
  if (e->wide) {
    low_halves(e, t, v);
    asm_vex(a, PP_66, 1, 0, 0x6B, t, t, in_reg(t)); /* vpackssdw */
  } else {
    asm_vex(a, PP_66 | ASM_256, 3, 0, 0x19, v, 0, in_reg(t)); /* vextractf128: the upper half */
    asm_byte(a, 1);
    asm_vex(a, PP_66, 1, 0, 0x6B, t, v, in_reg(t));
  }
  asm_vex(a, PP_66, 1, 0, 0x63, t, t, in_reg(t));           /* vpacksswb */
  asm_vex(a, PP_66, 2, 0, 0x1C, t, 0, in_reg(t));           /* vpabsb */
  asm_vex(a, PP_66, 1, 0, e->wide ? 0x7E : 0xD6, t, 0, to); /* vmovd, vmovq */
}

/* Of other values: vmovups of all lanes, vmovsd, vmovss of the low one. */
static void move_elements(lanes_emitter *e, int opcode, int type, int v, operand at) {
  const int prefix = e->packed ? whole_prefix(e, type, PP_NONE) : jit_is_long(type) ? PP_F2 : PP_F3;
  asm_vex(&e->a, prefix, 1, 0, opcode, v, 0, at);
}

static void lanes_load(lanes_emitter *e, const jit_inst *i) {
  const operand from = element_of(i->in[0], i->type);
  if (i->type == JIT_BOOL)
    load_bools(e, i->out, from);
  else
    move_elements(e, 0x10, i->type, i->out, from);
}

static void lanes_store(lanes_emitter *e, const jit_inst *i) {
  const operand to = element_of(i->in[0], i->type);
  if (i->type == JIT_BOOL)
    store_bools(e, i->in[1], to);
  else
    move_elements(e, 0x11, i->type, i->in[1], to);
}

static void lanes_inst(lanes_emitter *e, const jit_inst *i) {
  switch ((int)i->op) {
    case JIT_ADD: lanes_arithmetic(e, 0x58, i); break;
    case JIT_SUB: lanes_arithmetic(e, 0x5C, i); break;
    case JIT_MUL: lanes_arithmetic(e, 0x59, i); break;
    case JIT_DIV: lanes_arithmetic(e, 0x5E, i); break;
    case JIT_MIN: lanes_arithmetic(e, 0x5D, i); break;
    case JIT_MAX: lanes_arithmetic(e, 0x5F, i); break;
    case JIT_SQRT:
      asm_vex(&e->a, float_prefix(e, i->type), 1, 0, 0x51, i->out, other_lanes(e, i), lanes_place(i->in[0]));
      break;
    case JIT_ROUND: lanes_round(e, i); break;
    case JIT_COMPARE: lanes_compare(e, i); break;
    case JIT_AND: asm_vex(&e->a, PP_NONE | ASM_256, 1, 0, 0x54, i->out, i->in[0], lanes_place(i->in[1])); break;
    case JIT_OR: asm_vex(&e->a, PP_NONE | ASM_256, 1, 0, 0x56, i->out, i->in[0], lanes_place(i->in[1])); break;
    case JIT_XOR: asm_vex(&e->a, PP_NONE | ASM_256, 1, 0, 0x57, i->out, i->in[0], lanes_place(i->in[1])); break;
    case JIT_IADD:
    case JIT_ISUB:
    case JIT_IMUL:
    case JIT_IAND:
    case JIT_IOR:
    case JIT_IXOR: lanes_ints(e, i); break;
    case JIT_ICOMPARE: lanes_compare_ints(e, i); break;
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

/* The bits, or the 64-bit element at rax, in all lanes of the slot. */
static void fill_lanes(lanes_emitter *e, operand slot, bool is_long, const uint64_t *bits) {
  assembler *a = &e->a;
  const int t = LANES_SCRATCH, broadcast = is_long ? 0x19 : 0x18; /* vbroadcastsd, vbroadcastss */
  if (bits != NULL) {
    asm_mov_imm(a, RAX, *bits);
    asm_vex(a, PP_66, 1, 1, 0x6E, t, 0, in_reg(RAX)); /* vmovq */
  }
  asm_vex(a, PP_66 | ASM_256, 2, 0, broadcast, t, 0, bits != NULL ? in_reg(t) : at_address(RAX, 0));
  asm_vex(a, PP_NONE | ASM_256, 1, 0, 0x11, t, 0, slot);
}

/* The slot's contents: a constant in all lanes, the first element of an operand in all lanes, or its address. */
static void lanes_fill_slot(lanes_emitter *e, const jit_def *d) {
  const operand slot = lanes_slot(d->slot);
  const bool is_long = jit_is_long(d->type);
  if (d->source == JIT_OF_CONST) {
    fill_lanes(e, slot, is_long, &d->bits);
    return;
  }
  asm_int(&e->a, 1, 0x8B, RAX, at_address(RDI, d->operand * (int)sizeof(void *)), false);
  if (d->is_first)
    fill_lanes(e, slot, is_long, NULL);
  else
    asm_int(&e->a, 1, 0x89, RAX, slot, false);
}

static void asm_int_imm(assembler *a, int extension, int reg, int32_t x) {
  asm_int(a, 1, 0x81, extension, in_reg(reg), false);
  asm_bytes(a, &x, 4);
}

enum { IMM_ADD = 0, IMM_AND = 4, IMM_SUB = 5 }; /* extensions of opcode 81 */

/* A loop over the step while `width` elements or more are left. */
static void lanes_loop(lanes_emitter *e, const jit_allocated *p, int32_t width) {
  assembler *a = &e->a;
  asm_int_imm(a, IMM_SUB, LANES_LEFT, width);
  const size_t none = asm_jump_if(a, 0x82);
  asm_align(a, 16);
  const size_t head = a->n;
  lanes_list(e, &p->step);
  asm_int_imm(a, IMM_ADD, LANES_DONE, width);
  asm_int_imm(a, IMM_SUB, LANES_LEFT, width);
  asm_jump_lands(a, asm_jump_if(a, 0x83), head);
  asm_jump_lands(a, none, a->n);
  asm_int_imm(a, IMM_ADD, LANES_LEFT, width);
}

/* Whether an int64 is converted to float64. */
static bool has_long_to_double(const jit_allocated *p) {
  const jit_list *lists[] = {&p->before, &p->step};
  bool has = false;
  for (int k = 0; k < 2; k++) {
    for (int32_t i = 0; i < lists[k]->n; i++) {
      const jit_inst *at = &lists[k]->at[i];
      has = has || (at->op == JIT_CONVERT && at->type == JIT_I64 && at->to == JIT_F64);
    }
  }
  return has;
}

static size_t x86_64_lanes_emit(const jit_allocated *p, uint8_t *code, size_t cap) {
  lanes_emitter em = {.a = {.code = code, .cap = cap}, .wide = p->program->is_wide, .packed = true}, *e = &em;
  assembler *a = &e->a;
  const int32_t n_magic = has_long_to_double(p) ? N_MAGIC : 0;
  e->n_slots = p->n_slots;
  for (int k = 0; k < LANES_N_SAVED; k++) asm_push(a, lanes_saved[k]);
  asm_int(a, 1, 0x8B, RBP, in_reg(RSP), false);
  asm_int_imm(a, IMM_SUB, RSP, (p->n_slots + n_magic) * LANES_SLOT);
  asm_int_imm(a, IMM_AND, RSP, -LANES_SLOT);
  for (jit_value v = 0; v < p->program->n_defs; v++) {
    const jit_def *d = &p->program->def[v];
    if (d->source == JIT_OF_CONST || d->source == JIT_OF_SLOT) lanes_fill_slot(e, d);
  }
  for (int32_t k = 0; k < n_magic; k++) fill_lanes(e, lanes_slot(p->n_slots + k), true, &lanes_magic[k]);
  asm_int(a, 0, 0x33, LANES_DONE, in_reg(LANES_DONE), false); /* xor */
  lanes_list(e, &p->before);
  lanes_loop(e, p, e->wide ? 4 : 8);
  e->packed = false;
  lanes_loop(e, p, 1);
  asm_bytes(a, "\xC5\xF8\x77", 3); /* vzeroupper */
  asm_int(a, 1, 0x8B, RSP, in_reg(RBP), false);
  for (int k = LANES_N_SAVED - 1; k >= 0; k--) asm_pop(a, lanes_saved[k]);
  asm_byte(a, 0xC3);
  return a->full ? 0 : a->n;
}

/* ---- The ISA ----------------------------------------------------------------------------------------------------- */

static bool x86_64_lanes_takes_slot(const jit_inst *i) { return i->op <= JIT_XOR; }

static const char *x86_64_lanes_refusal(void) { return __builtin_cpu_supports("avx2") ? NULL : "this CPU has no AVX2"; }

static const jit_isa x86_64_lanes_isa = {
    .name = "x86-64",
    .n_regs = {[JIT_FLOATS] = sizeof lanes_floats, [JIT_INTEGERS] = sizeof lanes_integers},
    .regs = {[JIT_FLOATS] = lanes_floats, [JIT_INTEGERS] = lanes_integers},
    .takes_slot = x86_64_lanes_takes_slot,
    .refusal = x86_64_lanes_refusal,
    .emit = x86_64_lanes_emit,
};

const jit_isa *const jit_lanes_here = &x86_64_lanes_isa;
#endif
