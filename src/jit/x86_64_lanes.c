/* x86_64_lanes: programs of lanes for x86-64 with AVX2: a kernel (kernel_fn) in the calling convention of System V.
 *
 * Two loops of the same instructions over the same registers: one for vectors of 256 bits, and one for the elements that
 * are left, in the low lane. A bool has as many bits as the program's floats. rdi counts the elements that are done
 * and rsi those that are left, rsp holds the frame's address, rax and ymm15 are scratch. Slots have 32 bytes. No upper
 * half of a register is left behind.
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

typedef struct lanes_emitter {
  assembler a;
  jit_type lane;
  bool packed; /* the loop of vectors */
} lanes_emitter;

static bool is_double(const lanes_emitter *e) { return e->lane == JIT_F64; }

static operand lanes_place(jit_place at) { return jit_in_slot(at) ? at_address(RSP, ~at * LANES_SLOT) : in_reg(at); }

/* Of instructions that add, compare …: ps, pd, ss, sd. */
static int float_prefix(const lanes_emitter *e) {
  return e->packed ? (is_double(e) ? PP_66 : PP_NONE) | ASM_256 : is_double(e) ? PP_F2 : PP_F3;
}

static int whole_prefix(const lanes_emitter *e, int pp) { return e->packed ? pp | ASM_256 : pp; }

/* ---- One instruction --------------------------------------------------------------------------------------------- */

static void lanes_arithmetic(lanes_emitter *e, int opcode, const jit_inst *i) {
  asm_vex(&e->a, float_prefix(e), 1, 0, opcode, i->out, i->in[0], lanes_place(i->in[1]));
}

static void lanes_compare(lanes_emitter *e, const jit_inst *i) {
  lanes_arithmetic(e, 0xC2, i);
  asm_byte(&e->a, asm_predicate(i->imm));
}

/* The operand that scalar forms of square roots and roundings take the other lanes from: none, where they are packed. */
static int other_lanes(const lanes_emitter *e, const jit_inst *i) {
  return e->packed ? 0 : jit_in_slot(i->in[0]) ? i->out : i->in[0];
}

static void lanes_round(lanes_emitter *e, const jit_inst *i) {
  const int opcode = (e->packed ? 0x08 : 0x0A) | is_double(e);
  asm_vex(&e->a, whole_prefix(e, PP_66), 3, 0, opcode, i->out, other_lanes(e, i), lanes_place(i->in[0]));
  asm_byte(&e->a, asm_rounding(i->imm));
}

static void lanes_select(lanes_emitter *e, const jit_inst *i) {
  asm_vex(&e->a, whole_prefix(e, PP_66), 3, 0, is_double(e) ? 0x4B : 0x4A, i->out, i->in[2], in_reg(i->in[1]));
  asm_byte(&e->a, (unsigned)i->in[0] << 4); /* vblendvpd, vblendvps */
}

static void lanes_move(lanes_emitter *e, const jit_inst *i) {
  const operand to = lanes_place(i->out), from = lanes_place(i->in[0]);
  if (jit_is_integer(i->type)) {
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

/* ---- Elements ---------------------------------------------------------------------------------------------------- */

static operand element_of(const lanes_emitter *e, int address, int type) {
  return at_index(address, type == JIT_BOOL ? 1 : is_double(e) ? 8 : 4);
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
  asm_vex(a, PP_66 | ASM_256, 2, 0, is_double(e) ? 0x22 : 0x21, out, 0, from);           /* vpmovsxbq, vpmovsxbd */
  asm_vex(a, PP_66, 1, 0, 0xEF, zero, zero, in_reg(zero));                               /* vpxor */
  asm_vex(a, PP_66 | ASM_256, 1, 0, is_double(e) ? 0xFB : 0xFA, out, zero, in_reg(out)); /* vpsubq, vpsubd */
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
  asm_vex(a, PP_66 | ASM_256, 3, 0, 0x19, v, 0, in_reg(t)); /* vextractf128: the upper half */
  asm_byte(a, 1);
  if (is_double(e)) {
    asm_vex(a, PP_NONE, 1, 0, 0xC6, t, v, in_reg(t)); /* vshufps: the low 32 bits of each mask */
    asm_byte(a, 0x88);
    asm_vex(a, PP_66, 1, 0, 0x6B, t, t, in_reg(t)); /* vpackssdw */
  } else {
    asm_vex(a, PP_66, 1, 0, 0x6B, t, v, in_reg(t));
  }
  asm_vex(a, PP_66, 1, 0, 0x63, t, t, in_reg(t));                /* vpacksswb */
  asm_vex(a, PP_66, 2, 0, 0x1C, t, 0, in_reg(t));                /* vpabsb */
  asm_vex(a, PP_66, 1, 0, is_double(e) ? 0x7E : 0xD6, t, 0, to); /* vmovd, vmovq */
}

static void lanes_load(lanes_emitter *e, const jit_inst *i) {
  const operand from = element_of(e, i->in[0], i->type);
  if (i->type == JIT_BOOL)
    load_bools(e, i->out, from);
  else if (e->packed)
    asm_vex(&e->a, PP_NONE | ASM_256, 1, 0, 0x10, i->out, 0, from); /* vmovups */
  else
    asm_vex(&e->a, float_prefix(e), 1, 0, 0x10, i->out, 0, from); /* vmovsd, vmovss */
}

static void lanes_store(lanes_emitter *e, const jit_inst *i) {
  const operand to = element_of(e, i->in[0], i->type);
  if (i->type == JIT_BOOL)
    store_bools(e, i->in[1], to);
  else if (e->packed)
    asm_vex(&e->a, PP_NONE | ASM_256, 1, 0, 0x11, i->in[1], 0, to);
  else
    asm_vex(&e->a, float_prefix(e), 1, 0, 0x11, i->in[1], 0, to);
}

static void lanes_inst(lanes_emitter *e, const jit_inst *i) {
  switch ((int)i->op) {
    case JIT_ADD: lanes_arithmetic(e, 0x58, i); break;
    case JIT_SUB: lanes_arithmetic(e, 0x5C, i); break;
    case JIT_MUL: lanes_arithmetic(e, 0x59, i); break;
    case JIT_DIV: lanes_arithmetic(e, 0x5E, i); break;
    case JIT_MIN: lanes_arithmetic(e, 0x5D, i); break;
    case JIT_MAX: lanes_arithmetic(e, 0x5F, i); break;
    case JIT_SQRT: asm_vex(&e->a, float_prefix(e), 1, 0, 0x51, i->out, other_lanes(e, i), lanes_place(i->in[0])); break;
    case JIT_ROUND: lanes_round(e, i); break;
    case JIT_COMPARE: lanes_compare(e, i); break;
    case JIT_AND: asm_vex(&e->a, PP_NONE | ASM_256, 1, 0, 0x54, i->out, i->in[0], lanes_place(i->in[1])); break;
    case JIT_OR: asm_vex(&e->a, PP_NONE | ASM_256, 1, 0, 0x56, i->out, i->in[0], lanes_place(i->in[1])); break;
    case JIT_XOR: asm_vex(&e->a, PP_NONE | ASM_256, 1, 0, 0x57, i->out, i->in[0], lanes_place(i->in[1])); break;
    case JIT_SELECT: lanes_select(e, i); break;
    case JIT_LOAD: lanes_load(e, i); break;
    case JIT_STORE: lanes_store(e, i); break;
    case JIT_MOVE: lanes_move(e, i); break;
    default: damo_assert(false); break; /* of integers, or a call: no program of lanes has one */
  }
}

static void lanes_list(lanes_emitter *e, const jit_list *l) {
  for (int32_t i = 0; i < l->n; i++) lanes_inst(e, &l->at[i]);
}

/* ---- The function: void (void *const *args, int64_t n) ----------------------------------------------------------- */

/* The slot's contents: a constant in all lanes, the first element of an operand in all lanes, or its address. */
static void lanes_fill_slot(lanes_emitter *e, const jit_def *d) {
  assembler *a = &e->a;
  const operand slot = at_address(RSP, d->slot * LANES_SLOT);
  const int t = LANES_SCRATCH, broadcast = is_double(e) ? 0x19 : 0x18; /* vbroadcastsd, vbroadcastss */
  if (d->source == JIT_OF_CONST) {
    asm_mov_imm(a, RAX, d->bits);
    asm_vex(a, PP_66, 1, 1, 0x6E, t, 0, in_reg(RAX));
    asm_vex(a, PP_66 | ASM_256, 2, 0, broadcast, t, 0, in_reg(t));
  } else {
    asm_int(a, 1, 0x8B, RAX, at_address(RDI, d->operand * (int)sizeof(void *)), false);
    if (!d->is_first) {
      asm_int(a, 1, 0x89, RAX, slot, false);
      return;
    }
    asm_vex(a, PP_66 | ASM_256, 2, 0, broadcast, t, 0, at_address(RAX, 0));
  }
  asm_vex(a, PP_NONE | ASM_256, 1, 0, 0x11, t, 0, slot);
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

static size_t x86_64_lanes_emit(const jit_allocated *p, uint8_t *code, size_t cap) {
  lanes_emitter em = {.a = {.code = code, .cap = cap}, .lane = (jit_type)p->program->lane, .packed = true}, *e = &em;
  assembler *a = &e->a;
  for (int k = 0; k < LANES_N_SAVED; k++) asm_push(a, lanes_saved[k]);
  asm_int(a, 1, 0x8B, RBP, in_reg(RSP), false);
  asm_int_imm(a, IMM_SUB, RSP, p->n_slots * LANES_SLOT);
  asm_int_imm(a, IMM_AND, RSP, -LANES_SLOT);
  for (jit_value v = 0; v < p->program->n_defs; v++) {
    const jit_def *d = &p->program->def[v];
    if (d->source == JIT_OF_CONST || d->source == JIT_OF_SLOT) lanes_fill_slot(e, d);
  }
  asm_int(a, 0, 0x33, LANES_DONE, in_reg(LANES_DONE), false); /* xor */
  lanes_list(e, &p->before);
  lanes_loop(e, p, is_double(e) ? 4 : 8);
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
