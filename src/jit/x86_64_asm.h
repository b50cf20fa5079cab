/* x86_64_asm: encodings of x86-64 with AVX, for x86_64.c and x86_64_lanes.c. Numbers in the names of arguments are
 * those of Intel's manual, volume 2: an opcode, its map (1: 0F, 2: 0F 38, 3: 0F 3A) and prefix (pp). */
#ifndef DAMO_JIT_X86_64_ASM_H
#define DAMO_JIT_X86_64_ASM_H

#include <string.h>

#include "jit_int.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

enum { PP_NONE, PP_66, PP_F3, PP_F2 };
#define ASM_256 4 /* with a prefix: ymm registers */

typedef struct assembler {
  uint8_t *code;
  size_t n, cap;
  bool full;
} assembler;

#define ASM_INDEX RDI /* the only index register */

/* The r/m operand: a register, or memory at base + disp, or at base + index * scale. */
typedef struct operand {
  int base; /* -1: a register */
  int reg;
  int32_t disp;
  int scale; /* 0: no index */
} operand;

static inline operand in_reg(int reg) { return (operand){.base = -1, .reg = reg}; }
static inline operand at_address(int base, int32_t disp) { return (operand){.base = base, .disp = disp}; }

static inline operand at_index(int base, int scale) { return (operand){.base = base, .scale = scale}; }

static inline void asm_byte(assembler *a, unsigned byte) {
  if (a->n == a->cap) {
    a->full = true;
    return;
  }
  a->code[a->n++] = (uint8_t)byte;
}

static inline void asm_bytes(assembler *a, const void *bytes, size_t n) {
  for (size_t i = 0; i < n; i++) asm_byte(a, ((const uint8_t *)bytes)[i]);
}

/* ModRM, SIB where the base or an index asks for one, displacement. */
static inline void asm_modrm(assembler *a, int reg, operand o) {
  const unsigned r = (unsigned)(reg & 7) << 3;
  if (o.base < 0) {
    asm_byte(a, 0xC0 | r | (unsigned)(o.reg & 7));
    return;
  }
  if (o.scale != 0) {
    const unsigned shift = o.scale == 8 ? 3 : o.scale == 4 ? 2 : o.scale == 2 ? 1 : 0;
    const bool zero = (o.base & 7) == RBP; /* which stands for no base without a displacement */
    asm_byte(a, (zero ? 0x44u : 0x04u) | r);
    asm_byte(a, shift << 6 | (unsigned)ASM_INDEX << 3 | (unsigned)(o.base & 7));
    if (zero) asm_byte(a, 0);
    return;
  }
  const bool is_short = o.disp >= -128 && o.disp < 128, none = o.disp == 0 && (o.base & 7) != RBP;
  asm_byte(a, (none ? 0u : is_short ? 0x40u : 0x80u) | r | (unsigned)(o.base & 7));
  if ((o.base & 7) == RSP) asm_byte(a, 0x24);
  if (none) return;
  if (is_short)
    asm_byte(a, (uint8_t)o.disp);
  else
    asm_bytes(a, &o.disp, 4);
}

static inline bool is_high(operand o) { return ((o.base < 0 ? o.reg : o.base) & 8) != 0; }

/* An AVX instruction: reg and second are registers (second 0 where there is none), o the r/m operand. */
static inline void asm_vex(assembler *a, int pp, int of_map, int w, int opcode, int reg, int second, operand o) {
  const unsigned r = reg & 8 ? 0 : 0x80, b = is_high(o) ? 0 : 0x20, v = (unsigned)(~second & 15) << 3;
  if (b != 0 && w == 0 && of_map == 1) {
    asm_byte(a, 0xC5);
    asm_byte(a, r | v | (unsigned)pp);
  } else {
    asm_byte(a, 0xC4);
    asm_byte(a, r | 0x40 | b | (unsigned)of_map);
    asm_byte(a, (unsigned)w << 7 | v | (unsigned)pp);
  }
  asm_byte(a, (unsigned)opcode);
  asm_modrm(a, reg, o);
}

/* The immediate of comparisons for a jit_relation: the quiet predicates. */
static inline unsigned asm_predicate(int relation) {
  static const uint8_t predicate[] = {[JIT_EQ] = 0,    [JIT_NE] = 4,    [JIT_LT] = 0x11,    [JIT_LE] = 0x12,
                                      [JIT_GT] = 0x1E, [JIT_GE] = 0x1D, [JIT_UNORDERED] = 3};
  return predicate[relation];
}

/* The immediate of roundings for a jit_rounding, without the inexact exception. */
static inline unsigned asm_rounding(int how) {
  static const uint8_t direction[] = {[JIT_NEAREST_EVEN] = 0, [JIT_DOWN] = 1, [JIT_UP] = 2, [JIT_TOWARDS_0] = 3};
  return 8u | direction[how];
}

/* An integer instruction of one opcode byte, or with 0x0Fxx of two. w: of 64 bits. bytes: reg is a byte register. */
static inline void asm_int(assembler *a, int w, int opcode, int reg, operand o, bool bytes) {
  const unsigned rex = (unsigned)w << 3 | (reg & 8 ? 4u : 0) | (is_high(o) ? 1u : 0);
  if (rex != 0 || (bytes && reg >= RSP)) asm_byte(a, 0x40 | rex);
  if (opcode > 0xFF) asm_byte(a, 0x0F);
  asm_byte(a, (unsigned)opcode & 0xFF);
  asm_modrm(a, reg, o);
}

static inline void asm_mov_imm(assembler *a, int reg, uint64_t x) {
  asm_byte(a, 0x48 | (reg & 8 ? 1u : 0));
  asm_byte(a, 0xB8 | (unsigned)(reg & 7));
  asm_bytes(a, &x, 8);
}

static inline void asm_push(assembler *a, int reg) {
  if (reg & 8) asm_byte(a, 0x41);
  asm_byte(a, 0x50 | (unsigned)(reg & 7));
}

static inline void asm_pop(assembler *a, int reg) {
  if (reg & 8) asm_byte(a, 0x41);
  asm_byte(a, 0x58 | (unsigned)(reg & 7));
}

/* rsp += n, n of one byte. */
static inline void asm_move_stack(assembler *a, int n) {
  asm_int(a, 1, 0x83, 0, in_reg(RSP), false);
  asm_byte(a, (uint8_t)n);
}

/* A jump on a condition (0x82: below, 0x83: not below, 0x84: zero, 0x85: not zero). Returns where its distance stands. */
static inline size_t asm_jump_if(assembler *a, int condition) {
  asm_byte(a, 0x0F);
  asm_byte(a, (unsigned)condition);
  asm_bytes(a, "\0\0\0\0", 4);
  return a->n - 4;
}

static inline void asm_jump_lands(assembler *a, size_t distance_at, size_t target) {
  const int32_t distance = (int32_t)((int64_t)target - (int64_t)distance_at - 4);
  if (!a->full) memcpy(a->code + distance_at, &distance, 4);
}

/* Pads with one-byte nops. */
static inline void asm_align(assembler *a, size_t to) {
  while (a->n % to != 0 && !a->full) asm_byte(a, 0x90);
}

#endif
