/* arm64: the instructions of allocated programs for ARM64 (A64 with NEON), in the procedure call standard AAPCS64.
 *
 * x19 holds the frame's address, x20 the steps that are left; x16, x17 and v31 are scratch, x18 is the system's. Scalars
 * of floats are in the low lane of v registers, bools there too, as 64 bits of the same value. A call keeps x21 to x28 and
 * the low halves of v8 to v15.
 */
#include "jit_int.h"

#if JIT_HAS_ARM64
#include "arm64_asm.h"

#define ARM_FRAME 19
#define ARM_STEP_COUNT 20
#define ARM_LINK 30
#define ARM_SCRATCH 16
#define ARM_SCRATCH2 17
#define ARM_V_SCRATCH 31

#define ARM_DOUBLE 0x00400000u /* of scalars of floats: the bit that float64 has, and float32 has not */
#define ARM_WIDE 0x80000000u   /* of integers: the bit of 64-bit registers */

static const uint8_t arm_floats[] = {0,  1,  2,  3,  4,  5,  6,  7, 16, 17, 18, 19, 20, 21, 22, 23,
                                     24, 25, 26, 27, 28, 29, 30, 8, 9,  10, 11, 12, 13, 14, 15};
static const uint8_t arm_integers[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                       12, 13, 14, 15, 21, 22, 23, 24, 25, 26, 27, 28};
#define ARM_N_KEPT 8

static uint32_t arm_double(int type) { return type == JIT_F64 ? ARM_DOUBLE : 0; }
static uint32_t arm_wide(int type) { return type == JIT_I32 ? 0 : ARM_WIDE; }

static void arm_move(arm_assembler *a, int to, int from) {
  if (to != from) arm_three(a, 0xAA0003E0u, to, 0, from); /* orr to, xzr, from */
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

typedef enum arm_access { ARM_LOAD_INT, ARM_STORE_INT, ARM_LOAD_FLOAT, ARM_STORE_FLOAT } arm_access;

/* Loads or stores the 64 bits of a slot. */
static void arm_slot(arm_assembler *a, arm_access how, int reg, jit_place slot) {
  static const uint32_t scaled[] = {0xF9400000u, 0xF9000000u, 0xFD400000u, 0xFD000000u};      /* [base, imm * 8] */
  static const uint32_t by_register[] = {0xF8606800u, 0xF8206800u, 0xFC606800u, 0xFC206800u}; /* [base, register] */
  const uint32_t number = (uint32_t)~slot;
  if (number < 4096) {
    arm_imm(a, scaled[how], reg, ARM_FRAME, number);
    return;
  }
  arm_constant(a, ARM_SCRATCH2, (uint64_t)number * sizeof(jit_slot));
  arm_three(a, by_register[how], reg, ARM_FRAME, ARM_SCRATCH2);
}

static void arm_slot_address(arm_assembler *a, int to, int32_t slot) {
  const uint64_t offset = (uint64_t)slot * sizeof(jit_slot);
  if (offset < 4096) {
    arm_imm(a, 0x91000000u, to, ARM_FRAME, (uint32_t)offset); /* add */
    return;
  }
  arm_constant(a, ARM_SCRATCH2, offset);
  arm_three(a, 0x8B000000u, to, ARM_FRAME, ARM_SCRATCH2);
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

static void mask_to_int(arm_assembler *a, int to, int v) { arm_two(a, 0x9E660000u, to, v); /* fmov */ }

/* The mask as 0 or 1. */
static void mask_to_bit(arm_assembler *a, int to, int v) {
  mask_to_int(a, to, v);
  arm_two(a, 0x92400000u, to, to); /* and 1 */
}

/* All bits if the condition holds. */
static void condition_to_mask(arm_assembler *a, int v, arm_condition c) {
  arm_word(a, 0xDA9F03E0u | ((uint32_t)c ^ 1) << 12 | ARM_SCRATCH); /* csetm: csinv with the opposite condition */
  arm_two(a, 0x9E670000u, v, ARM_SCRATCH);                          /* fmov */
}

static void int_to_mask(arm_assembler *a, int v, int from) {
  arm_imm(a, 0xF1000000u, ARM_ZERO, from, 0); /* cmp from, 0 */
  condition_to_mask(a, v, ARM_IF_NE);
}

/* ---- One instruction --------------------------------------------------------------------------------------------- */

static void arm_emit_move(arm_assembler *a, const jit_inst *i) {
  const jit_place to = i->out, from = i->in[0];
  const bool is_int = jit_is_integer(i->type);
  if (jit_in_slot(to) && jit_in_slot(from)) {
    arm_slot(a, ARM_LOAD_INT, ARM_SCRATCH, from);
    arm_slot(a, ARM_STORE_INT, ARM_SCRATCH, to);
  } else if (jit_in_slot(to)) {
    arm_slot(a, is_int ? ARM_STORE_INT : ARM_STORE_FLOAT, from, to);
  } else if (jit_in_slot(from)) {
    arm_slot(a, is_int ? ARM_LOAD_INT : ARM_LOAD_FLOAT, to, from);
  } else if (is_int) {
    arm_move(a, to, from);
  } else {
    arm_two(a, 0x1E604000u, to, from); /* fmov */
  }
}

static void arm_emit_arg(arm_assembler *a, const jit_inst *i) {
  if (i->type != JIT_BOOL) {
    arm_emit_move(a, i);
    return;
  }
  mask_to_bit(a, ARM_SCRATCH, i->in[0]);
  arm_slot(a, ARM_STORE_INT, ARM_SCRATCH, i->out);
}

/* a < b ? a : b and a > b ? a : b: fmin and fmax differ for nan and for zeros of two signs. */
static void arm_emit_extreme(arm_assembler *a, const jit_inst *i) {
  arm_three(a, 0x1E202000u | arm_double(i->type), 0, i->in[0], i->in[1]); /* fcmp */
  arm_choose(a, 0x1E200C00u | arm_double(i->type), i->op == JIT_MIN ? ARM_IF_MI : ARM_IF_GT, i->out, i->in[0],
             i->in[1]);
}

static void arm_emit_compare(arm_assembler *a, const jit_inst *i) {
  const uint32_t equal = 0x5E20E400u, at_least = 0x7E20E400u, greater = 0x7EA0E400u; /* fcmeq, fcmge, fcmgt */
  const uint32_t type = arm_double(i->type);
  const int x = i->in[0], y = i->in[1], out = i->out;
  switch ((jit_relation)i->imm) {
    case JIT_EQ:
    case JIT_NE: arm_three(a, equal | type, out, x, y); break;
    case JIT_LT: arm_three(a, greater | type, out, y, x); break;
    case JIT_LE: arm_three(a, at_least | type, out, y, x); break;
    case JIT_GT: arm_three(a, greater | type, out, x, y); break;
    case JIT_GE: arm_three(a, at_least | type, out, x, y); break;
    case JIT_UNORDERED:
      arm_three(a, equal | type, ARM_V_SCRATCH, x, x);
      arm_three(a, equal | type, out, y, y);
      arm_three(a, 0x0E201C00u, out, out, ARM_V_SCRATCH); /* and */
      break;
  }
  if (i->type == JIT_F32) arm_two(a, 0x0E040400u, out, out);                          /* dup: 64 bits of mask */
  if (i->imm == JIT_NE || i->imm == JIT_UNORDERED) arm_two(a, 0x2E205800u, out, out); /* not */
}

static void arm_emit_compare_ints(arm_assembler *a, const jit_inst *i) {
  static const uint8_t condition[] = {[JIT_EQ] = ARM_IF_EQ, [JIT_NE] = ARM_IF_NE, [JIT_LT] = ARM_IF_LT,
                                      [JIT_LE] = ARM_IF_LE, [JIT_GT] = ARM_IF_GT, [JIT_GE] = ARM_IF_GE};
  arm_three(a, 0x6B000000u | arm_wide(i->type), ARM_ZERO, i->in[0], i->in[1]); /* cmp */
  condition_to_mask(a, i->out, (arm_condition)condition[i->imm]);
}

static void arm_emit_select(arm_assembler *a, const jit_inst *i) {
  const int c = i->in[0], x = i->in[1], y = i->in[2];
  if (jit_is_integer(i->type)) {
    mask_to_int(a, ARM_SCRATCH, c);
    arm_imm(a, 0xF1000000u, ARM_ZERO, ARM_SCRATCH, 0);
    arm_choose(a, 0x9A800000u, ARM_IF_NE, i->out, x, y);
  } else if (i->out == y && i->out != c) {
    arm_three(a, 0x2EA01C00u, y, x, c); /* bit: takes the bits of x where c has them */
  } else if (i->out == x && i->out != c) {
    arm_three(a, 0x2EE01C00u, x, y, c); /* bif: takes the bits of y where c has none */
  } else {
    if (i->out != c) arm_two(a, 0x1E604000u, i->out, c);
    arm_three(a, 0x2E601C00u, i->out, x, y); /* bsl: the mask is in the result */
  }
}

static void arm_emit_convert(arm_assembler *a, const jit_inst *i) {
  const int x = i->in[0];
  if (jit_is_float(i->type)) {
    arm_two(a, i->type == JIT_F64 ? 0x1E624000u : 0x1E22C000u, i->out, x); /* fcvt */
  } else if (i->type == JIT_BOOL) {
    mask_to_bit(a, i->out, x);
  } else if (jit_is_float(i->to)) {
    arm_two(a, 0x1E220000u | arm_double(i->to) | arm_wide(i->type), i->out, x); /* scvtf */
  } else if (i->to == JIT_I64) {
    arm_two(a, 0x93407C00u, i->out, x); /* sxtw */
  } else {
    arm_move(a, i->out, x);
  }
}

/* Memory at the address in a register. */
static uint32_t arm_memory(int type, bool stores) {
  static const uint32_t load[] = {[JIT_F64] = 0xFD400000u,
                                  [JIT_F32] = 0xBD400000u,
                                  [JIT_I64] = 0xF9400000u,
                                  [JIT_I32] = 0xB9400000u,
                                  [JIT_BOOL] = 0x39400000u};
  return stores ? load[type] & ~0x00400000u : load[type];
}

static void arm_emit_load(arm_assembler *a, const jit_inst *i) {
  const bool is_bool = i->type == JIT_BOOL;
  arm_two(a, arm_memory(i->type, false), is_bool ? ARM_SCRATCH : i->out, i->in[0]);
  if (is_bool) int_to_mask(a, i->out, ARM_SCRATCH);
}

static void arm_emit_store(arm_assembler *a, const jit_inst *i) {
  int v = i->in[1];
  if (i->type == JIT_BOOL) {
    mask_to_bit(a, ARM_SCRATCH, v);
    v = ARM_SCRATCH;
  }
  arm_two(a, arm_memory(i->type, true), v, i->in[0]);
}

static void arm_emit_call(arm_assembler *a, const jit_inst *i) {
  const int32_t result = i->slot + 2 * i->n_in + 1;
  if (i->op == JIT_CALL) {
    arm_slot_address(a, 0, i->slot);
    arm_constant(a, 1, 1);
  } else {
    arm_slot_address(a, 0, ~i->in[0]);
    arm_slot_address(a, 1, result);
    arm_constant(a, 2, 1);
  }
  arm_constant(a, ARM_SCRATCH, (uint64_t)(uintptr_t)i->fn);
  arm_two(a, 0xD63F0000u, 0, ARM_SCRATCH); /* blr */
  if (i->to == JIT_BOOL) {
    arm_slot_address(a, ARM_SCRATCH, result);
    arm_two(a, arm_memory(JIT_BOOL, false), ARM_SCRATCH, ARM_SCRATCH);
    int_to_mask(a, i->out, ARM_SCRATCH);
  } else {
    arm_slot(a, jit_is_float(i->to) ? ARM_LOAD_FLOAT : ARM_LOAD_INT, i->out, ~result);
  }
}

static void arm_emit_inst(arm_assembler *a, const jit_inst *i) {
  static const uint32_t arithmetic[] = {
      [JIT_ADD] = 0x1E202800u, [JIT_SUB] = 0x1E203800u, [JIT_MUL] = 0x1E200800u, [JIT_DIV] = 0x1E201800u};
  static const uint32_t bits[] = {[JIT_AND] = 0x0E201C00u, [JIT_OR] = 0x0EA01C00u, [JIT_XOR] = 0x2E201C00u};
  static const uint32_t integers[] = {[JIT_IADD] = 0x0B000000u, [JIT_ISUB] = 0x4B000000u, [JIT_IMUL] = 0x1B007C00u,
                                      [JIT_IAND] = 0x0A000000u, [JIT_IOR] = 0x2A000000u,  [JIT_IXOR] = 0x4A000000u};
  static const uint32_t round_to[] = {[JIT_NEAREST_EVEN] = 0x1E244000u,
                                      [JIT_DOWN] = 0x1E254000u,
                                      [JIT_UP] = 0x1E24C000u,
                                      [JIT_TOWARDS_0] = 0x1E25C000u};
  switch ((jit_op)i->op) {
    case JIT_ADD:
    case JIT_SUB:
    case JIT_MUL:
    case JIT_DIV: arm_three(a, arithmetic[i->op] | arm_double(i->type), i->out, i->in[0], i->in[1]); break;
    case JIT_MIN:
    case JIT_MAX: arm_emit_extreme(a, i); break;
    case JIT_SQRT: arm_two(a, 0x1E21C000u | arm_double(i->type), i->out, i->in[0]); break;
    case JIT_ROUND: arm_two(a, round_to[i->imm] | arm_double(i->type), i->out, i->in[0]); break;
    case JIT_COMPARE: arm_emit_compare(a, i); break;
    case JIT_AND:
    case JIT_OR:
    case JIT_XOR: arm_three(a, bits[i->op], i->out, i->in[0], i->in[1]); break;
    case JIT_IADD:
    case JIT_ISUB:
    case JIT_IMUL:
    case JIT_IAND:
    case JIT_IOR:
    case JIT_IXOR: arm_three(a, integers[i->op] | arm_wide(i->type), i->out, i->in[0], i->in[1]); break;
    case JIT_ICOMPARE: arm_emit_compare_ints(a, i); break;
    case JIT_SELECT: arm_emit_select(a, i); break;
    case JIT_CONVERT: arm_emit_convert(a, i); break;
    case JIT_LOAD: arm_emit_load(a, i); break;
    case JIT_STORE: arm_emit_store(a, i); break;
    case JIT_CALL:
    case JIT_CALL_CAST: arm_emit_call(a, i); break;
    case JIT_MOVE: arm_emit_move(a, i); break;
    case JIT_ARG: arm_emit_arg(a, i); break;
    case JIT_N_OPS: break;
  }
}

/* ---- The function: int64_t (jit_slot *frame, int64_t steps), which returns the steps left ------------------------ */

static void arm_emit_list(arm_assembler *a, const jit_list *l) {
  for (int32_t i = 0; i < l->n; i++) arm_emit_inst(a, &l->at[i]);
}

/* The registers of a class that the lists write, a bit each. */
static uint32_t arm_written(const jit_allocated *p, jit_class c) {
  const jit_list *lists[] = {&p->before, &p->step, &p->after};
  uint32_t written = 0;
  for (int k = 0; k < 3; k++) {
    for (int32_t i = 0; i < lists[k]->n; i++) {
      const jit_inst *at = &lists[k]->at[i];
      if (at->out >= 0 && jit_class_of(p->program, at->to) == c) written |= 1u << at->out;
    }
  }
  return written;
}

/* Stores or loads the registers that the caller wants back, from the stack pointer on. Returns their number. */
static uint32_t arm_save(arm_assembler *a, uint32_t integers, uint32_t floats, bool loads) {
  const uint32_t load = loads ? 0x00400000u : 0;
  uint32_t n = 0;
  for (int r = 0; r < 32; r++) {
    if (integers >> r & 1) arm_imm(a, 0xF9000000u | load, r, ARM_SP, n++);
  }
  for (int r = 0; r < 32; r++) {
    if (floats >> r & 1) arm_imm(a, 0xFD000000u | load, r, ARM_SP, n++);
  }
  return n;
}

static uint32_t arm_count(uint32_t x) {
  uint32_t n = 0;
  for (; x != 0; x &= x - 1) n++;
  return n;
}

static size_t arm64_emit(const jit_allocated *p, uint8_t *code, size_t cap) {
  arm_assembler as = {.code = code, .cap = cap}, *a = &as;
  const uint32_t kept = 0x1FE00000u /* x21 … x28 */, kept_floats = 0xFF00u /* v8 … v15 */;
  const uint32_t integers =
      (arm_written(p, JIT_INTEGERS) & kept) | 1u << ARM_FRAME | 1u << ARM_STEP_COUNT | 1u << ARM_LINK;
  const uint32_t floats = arm_written(p, JIT_FLOATS) & kept_floats;
  const uint32_t stack =
      (arm_count(integers) + arm_count(floats) + 1) / 2 * 16; /* a multiple of 16, as calls want it */
  arm_imm(a, 0xD1000000u, ARM_SP, ARM_SP, stack);             /* sub */
  arm_save(a, integers, floats, false);
  arm_move(a, ARM_FRAME, 0);
  arm_move(a, ARM_STEP_COUNT, 1);
  arm_emit_list(a, &p->before);
  while (a->n % 16 != 0 && !a->full) arm_word(a, 0xD503201Fu); /* nop */
  const size_t head = a->n;
  arm_emit_list(a, &p->step);
  arm_imm(a, 0xF1000000u, ARM_STEP_COUNT, ARM_STEP_COUNT, 1); /* subs */
  if (p->stop_slot < 0) {
    arm_land(a, arm_branch(a, 0x54000000u | ARM_IF_NE), head);
  } else {
    const size_t out = arm_branch(a, 0x54000000u | ARM_IF_EQ);
    arm_slot(a, ARM_LOAD_INT, ARM_SCRATCH, ~p->stop_slot);
    arm_land(a, arm_branch(a, 0xB4000000u | ARM_SCRATCH), head); /* cbz */
    arm_land(a, out, a->n);
  }
  arm_emit_list(a, &p->after);
  arm_move(a, 0, ARM_STEP_COUNT);
  arm_save(a, integers, floats, true);
  arm_imm(a, 0x91000000u, ARM_SP, ARM_SP, stack); /* add */
  arm_word(a, 0xD65F03C0u);                       /* ret */
  return a->full ? 0 : a->n;
}

/* ---- The ISA ----------------------------------------------------------------------------------------------------- */

static bool arm64_takes_slot(const jit_inst *i) {
  (void)i;
  return false;
}

static const char *arm64_refusal(void) { return NULL; }

static const jit_isa arm64_isa = {
    .name = "arm64",
    .n_regs = {[JIT_FLOATS] = sizeof arm_floats, [JIT_INTEGERS] = sizeof arm_integers},
    .regs = {[JIT_FLOATS] = arm_floats, [JIT_INTEGERS] = arm_integers},
    .n_kept = {[JIT_FLOATS] = ARM_N_KEPT, [JIT_INTEGERS] = ARM_N_KEPT},
    .takes_slot = arm64_takes_slot,
    .refusal = arm64_refusal,
    .emit = arm64_emit,
};

const jit_isa *const jit_isa_here = &arm64_isa;
#endif
