/* x86_64: the instructions of allocated programs for x86-64 with AVX, in the calling convention of System V.
 *
 * rbx holds the frame's address, r12 the steps that are left, rax and xmm15 are scratch. Scalars of floats are in the
 * low lane of xmm registers, bools there too, as 64 bits of the same value. AVX instructions of 128 bits leave no upper
 * halves behind, so that none has to be cleared before kernels run.
 */
#include "jit_int.h"

#if JIT_HAS_X86_64
#include "x86_64_asm.h"

#define FRAME RBX
#define STEP_COUNT R12
#define XMM_SCRATCH 15

static const uint8_t x86_floats[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
static const uint8_t x86_integers[] = {RCX, RDX, RSI, RDI, R8, R9, R10, R11, RBP, R13, R14, R15};
#define N_KEPT 4

static operand x86_place(jit_place at) {
  return jit_in_slot(at) ? at_address(FRAME, ~at * (int32_t)sizeof(jit_slot)) : in_reg(at);
}

static int scalar_prefix(int type) { return type == JIT_F64 ? PP_F2 : PP_F3; }
static int x86_wide(int type) { return type != JIT_I32; }

static void vex_floats(assembler *a, int type, int opcode, int out, int x, operand y) {
  asm_vex(a, scalar_prefix(type), 1, 0, opcode, out, x, y);
}

/* Copies a register of 64 bits. */
static void x86_move_int(assembler *a, int to, operand from) {
  if (from.base < 0 && from.reg == to) return;
  asm_int(a, 1, 0x8B, to, from, false);
}

static void mask_to_rax(assembler *a, int xmm) { asm_vex(a, PP_66, 1, 1, 0x7E, xmm, 0, in_reg(RAX)); }
static void rax_to_mask(assembler *a, int xmm) { asm_vex(a, PP_66, 1, 1, 0x6E, xmm, 0, in_reg(RAX)); }

/* The byte in rax's low 8 bits as a mask: all bits if it is not 0. */
static void byte_to_mask(assembler *a, int xmm) {
  asm_byte(a, 0x3C); /* cmp al, 1: carries if al is 0 */
  asm_byte(a, 1);
  asm_int(a, 1, 0x1B, RAX, in_reg(RAX), false); /* sbb rax, rax */
  asm_int(a, 1, 0xF7, 2, in_reg(RAX), false);   /* not rax */
  rax_to_mask(a, xmm);
}

static void and_rax_1(assembler *a) {
  asm_int(a, 0, 0x83, 4, in_reg(RAX), false);
  asm_byte(a, 1);
}

/* ---- One instruction --------------------------------------------------------------------------------------------- */

static void emit_move(assembler *a, const jit_inst *i) {
  const operand to = x86_place(i->out), from = x86_place(i->in[0]);
  const bool is_int = jit_is_integer(i->type);
  if (to.base >= 0 && from.base >= 0) {
    x86_move_int(a, RAX, from);
    asm_int(a, 1, 0x89, RAX, to, false);
  } else if (is_int) {
    if (to.base >= 0)
      asm_int(a, 1, 0x89, from.reg, to, false);
    else
      x86_move_int(a, to.reg, from);
  } else if (to.base >= 0) {
    asm_vex(a, PP_F2, 1, 0, 0x11, from.reg, 0, to);
  } else if (from.base >= 0) {
    asm_vex(a, PP_F2, 1, 0, 0x10, to.reg, 0, from);
  } else {
    asm_vex(a, PP_NONE, 1, 0, 0x28, to.reg, 0, from);
  }
}

static void emit_arg(assembler *a, const jit_inst *i) {
  if (i->type != JIT_BOOL) {
    emit_move(a, i);
    return;
  }
  mask_to_rax(a, i->in[0]);
  and_rax_1(a);
  asm_int(a, 1, 0x89, RAX, x86_place(i->out), false);
}

static void emit_compare(assembler *a, const jit_inst *i) {
  vex_floats(a, i->type, 0xC2, i->out, i->in[0], x86_place(i->in[1]));
  asm_byte(a, asm_predicate(i->imm));
  if (i->type == JIT_F32) asm_vex(a, PP_F3, 1, 0, 0x12, i->out, 0, in_reg(i->out)); /* vmovsldup: 64 bits of mask */
}

static void emit_compare_ints(assembler *a, const jit_inst *i) {
  static const uint8_t condition[] = {
      [JIT_EQ] = 4, [JIT_NE] = 5, [JIT_LT] = 12, [JIT_LE] = 14, [JIT_GT] = 15, [JIT_GE] = 13};
  asm_int(a, x86_wide(i->type), 0x3B, i->in[0], x86_place(i->in[1]), false);
  asm_int(a, 0, 0x0F90 | condition[i->imm], 0, in_reg(RAX), true); /* setcc al */
  asm_int(a, 0, 0x0FB6, RAX, in_reg(RAX), true);                   /* movzx eax, al */
  asm_int(a, 1, 0xF7, 3, in_reg(RAX), false);                      /* neg rax */
  rax_to_mask(a, i->out);
}

static void emit_ints(assembler *a, const jit_inst *i) {
  static const int opcode[] = {[JIT_IADD] = 0x03, [JIT_ISUB] = 0x2B, [JIT_IMUL] = 0x0FAF,
                               [JIT_IAND] = 0x23, [JIT_IOR] = 0x0B,  [JIT_IXOR] = 0x33};
  const operand y = x86_place(i->in[1]);
  const int at = y.base < 0 && y.reg == i->out && i->in[0] != i->out ? RAX : i->out;
  x86_move_int(a, at, in_reg(i->in[0]));
  asm_int(a, x86_wide(i->type), opcode[i->op], at, y, false);
  if (at != i->out) x86_move_int(a, i->out, in_reg(RAX));
}

static void emit_select(assembler *a, const jit_inst *i) {
  const int c = i->in[0], x = i->in[1], y = i->in[2];
  if (!jit_is_integer(i->type)) {
    asm_vex(a, PP_66, 3, 0, 0x4B, i->out, y, in_reg(x)); /* vblendvpd */
    asm_byte(a, (unsigned)c << 4);
    return;
  }
  mask_to_rax(a, c);
  asm_int(a, 1, 0x85, RAX, in_reg(RAX), false); /* test */
  if (i->out == x) {
    asm_int(a, 1, 0x0F44, x, in_reg(y), false); /* cmovz */
    return;
  }
  x86_move_int(a, i->out, in_reg(y));
  asm_int(a, 1, 0x0F45, i->out, in_reg(x), false); /* cmovnz */
}

static void emit_convert(assembler *a, const jit_inst *i) {
  const operand x = x86_place(i->in[0]);
  if (jit_is_float(i->type)) { /* between floats */
    vex_floats(a, i->type, 0x5A, i->out, x.base < 0 ? x.reg : i->out, x);
  } else if (i->type == JIT_BOOL) {
    mask_to_rax(a, i->in[0]);
    and_rax_1(a);
    x86_move_int(a, i->out, in_reg(RAX));
  } else if (jit_is_float(i->to)) {
    asm_vex(a, PP_NONE, 1, 0, 0x57, i->out, i->out, in_reg(i->out)); /* vxorps: no wait for what the register held */
    asm_vex(a, scalar_prefix(i->to), 1, x86_wide(i->type), 0x2A, i->out, i->out, x);
  } else if (i->to == JIT_I64) {
    asm_int(a, 1, 0x63, i->out, x, false); /* movsxd */
  } else {
    x86_move_int(a, i->out, x);
  }
}

static void emit_load(assembler *a, const jit_inst *i) {
  const operand from = at_address(i->in[0], 0);
  if (jit_is_float(i->type)) {
    asm_vex(a, scalar_prefix(i->type), 1, 0, 0x10, i->out, 0, from);
  } else if (i->type == JIT_BOOL) {
    asm_int(a, 0, 0x0FB6, RAX, from, false);
    byte_to_mask(a, i->out);
  } else {
    asm_int(a, x86_wide(i->type), 0x8B, i->out, from, false);
  }
}

static void emit_store(assembler *a, const jit_inst *i) {
  const operand to = at_address(i->in[0], 0);
  const int v = i->in[1];
  if (jit_is_float(i->type)) {
    asm_vex(a, scalar_prefix(i->type), 1, 0, 0x11, v, 0, to);
  } else if (i->type == JIT_BOOL) {
    mask_to_rax(a, v);
    and_rax_1(a);
    asm_int(a, 0, 0x88, RAX, to, true);
  } else {
    asm_int(a, x86_wide(i->type), 0x89, v, to, false);
  }
}

static void emit_call(assembler *a, const jit_inst *i) {
  const operand result = x86_place(~(i->slot + 2 * i->n_in + 1));
  if (i->op == JIT_CALL) {
    asm_int(a, 1, 0x8D, RDI, x86_place(~i->slot), false); /* lea: the addresses */
    asm_byte(a, 0xBE);                                    /* mov esi, 1 */
    asm_bytes(a, "\1\0\0\0", 4);
  } else {
    asm_int(a, 1, 0x8D, RDI, x86_place(i->in[0]), false);
    asm_int(a, 1, 0x8D, RSI, result, false);
    asm_byte(a, 0xBA); /* mov edx, 1 */
    asm_bytes(a, "\1\0\0\0", 4);
  }
  asm_mov_imm(a, RAX, (uint64_t)(uintptr_t)i->fn);
  asm_int(a, 0, 0xFF, 2, in_reg(RAX), false);
  if (i->to == JIT_BOOL) {
    asm_int(a, 0, 0x0FB6, RAX, result, false);
    byte_to_mask(a, i->out);
  } else if (jit_is_float(i->to)) {
    asm_vex(a, scalar_prefix(i->to), 1, 0, 0x10, i->out, 0, result);
  } else {
    asm_int(a, x86_wide(i->to), 0x8B, i->out, result, false);
  }
}

static void emit_inst(assembler *a, const jit_inst *i) {
  static const uint8_t arithmetic[] = {
      [JIT_ADD] = 0x58, [JIT_SUB] = 0x5C, [JIT_MUL] = 0x59, [JIT_DIV] = 0x5E, [JIT_MIN] = 0x5D, [JIT_MAX] = 0x5F};
  static const uint8_t bits[] = {[JIT_AND] = 0x54, [JIT_OR] = 0x56, [JIT_XOR] = 0x57};
  switch ((jit_op)i->op) {
    case JIT_ADD:
    case JIT_SUB:
    case JIT_MUL:
    case JIT_DIV:
    case JIT_MIN:
    case JIT_MAX: vex_floats(a, i->type, arithmetic[i->op], i->out, i->in[0], x86_place(i->in[1])); break;
    case JIT_SQRT:
      vex_floats(a, i->type, 0x51, i->out, jit_in_slot(i->in[0]) ? i->out : i->in[0], x86_place(i->in[0]));
      break;
    case JIT_ROUND:
      asm_vex(a, PP_66, 3, 0, i->type == JIT_F64 ? 0x0B : 0x0A, i->out, jit_in_slot(i->in[0]) ? i->out : i->in[0],
              x86_place(i->in[0]));
      asm_byte(a, asm_rounding(i->imm));
      break;
    case JIT_COMPARE: emit_compare(a, i); break;
    case JIT_AND:
    case JIT_OR:
    case JIT_XOR: asm_vex(a, PP_NONE, 1, 0, bits[i->op], i->out, i->in[0], x86_place(i->in[1])); break;
    case JIT_IADD:
    case JIT_ISUB:
    case JIT_IMUL:
    case JIT_IAND:
    case JIT_IOR:
    case JIT_IXOR: emit_ints(a, i); break;
    case JIT_ICOMPARE: emit_compare_ints(a, i); break;
    case JIT_SELECT: emit_select(a, i); break;
    case JIT_CONVERT: emit_convert(a, i); break;
    case JIT_LOAD: emit_load(a, i); break;
    case JIT_STORE: emit_store(a, i); break;
    case JIT_CALL:
    case JIT_CALL_CAST: emit_call(a, i); break;
    case JIT_MOVE: emit_move(a, i); break;
    case JIT_ARG: emit_arg(a, i); break;
    case JIT_N_OPS: break;
  }
}

/* ---- The function: int64_t (jit_slot *frame, int64_t steps), which returns the steps left ------------------------ */

static void emit_list(assembler *a, const jit_list *l) {
  for (int32_t i = 0; i < l->n; i++) emit_inst(a, &l->at[i]);
}

/* Which registers the lists write, a bit each, of integers. */
static unsigned written_integers(const jit_allocated *p) {
  const jit_list *lists[] = {&p->before, &p->step, &p->after};
  unsigned written = 0;
  for (int k = 0; k < 3; k++) {
    for (int32_t i = 0; i < lists[k]->n; i++) {
      const jit_inst *at = &lists[k]->at[i];
      if (at->out >= 0 && jit_is_integer(at->to)) written |= 1u << at->out;
    }
  }
  return written;
}

static size_t x86_64_emit(const jit_allocated *p, uint8_t *code, size_t cap) {
  static const int kept[] = {RBX, R12, RBP, R13, R14, R15};
  assembler as = {.code = code, .cap = cap}, *a = &as;
  const unsigned saved = written_integers(p) | 1u << RBX | 1u << R12;
  int n = 0;
  for (int k = 0; k < 6; k++) {
    if ((saved >> kept[k] & 1) == 0) continue;
    asm_push(a, kept[k]);
    n++;
  }
  if (n % 2 == 0) asm_move_stack(a, -8); /* calls find the stack on a multiple of 16 */
  x86_move_int(a, FRAME, in_reg(RDI));
  x86_move_int(a, STEP_COUNT, in_reg(RSI));
  emit_list(a, &p->before);
  asm_align(a, 16);
  const size_t head = a->n;
  emit_list(a, &p->step);
  asm_int(a, 1, 0xFF, 1, in_reg(STEP_COUNT), false); /* dec */
  if (p->stop_slot < 0) {
    asm_jump_lands(a, asm_jump_if(a, 0x85), head);
  } else {
    const size_t out = asm_jump_if(a, 0x84);
    asm_int(a, 1, 0x83, 7, x86_place(~p->stop_slot), false); /* cmp, 0 */
    asm_byte(a, 0);
    asm_jump_lands(a, asm_jump_if(a, 0x84), head);
    asm_jump_lands(a, out, a->n);
  }
  emit_list(a, &p->after);
  x86_move_int(a, RAX, in_reg(STEP_COUNT));
  if (n % 2 == 0) asm_move_stack(a, 8);
  for (int k = 5; k >= 0; k--) {
    if (saved >> kept[k] & 1) asm_pop(a, kept[k]);
  }
  asm_byte(a, 0xC3);
  return a->full ? 0 : a->n;
}

/* ---- The ISA ----------------------------------------------------------------------------------------------------- */

/* Not operations on bits, which would read 16 bytes. */
static bool x86_64_takes_slot(const jit_inst *i) {
  return i->op <= JIT_COMPARE || (i->op >= JIT_IADD && i->op <= JIT_ICOMPARE) ||
         (i->op == JIT_CONVERT && i->type != JIT_BOOL);
}

static const char *x86_64_refusal(void) { return __builtin_cpu_supports("avx") ? NULL : "this CPU has no AVX"; }

static const jit_isa x86_64_isa = {
    .name = "x86-64",
    .n_regs = {[JIT_FLOATS] = sizeof x86_floats, [JIT_INTEGERS] = sizeof x86_integers},
    .regs = {[JIT_FLOATS] = x86_floats, [JIT_INTEGERS] = x86_integers},
    .n_kept = {[JIT_INTEGERS] = N_KEPT},
    .takes_slot = x86_64_takes_slot,
    .refusal = x86_64_refusal,
    .emit = x86_64_emit,
};

const jit_isa *const jit_isa_here = &x86_64_isa;
#endif
