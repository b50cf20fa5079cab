/* arm64_asm: encodings of A64 instructions, for arm64.c and arm64_lanes.c. Base codes are those of Arm's manual (DDI
 * 0487, C6 and C7), registers and immediates are put into their fields. */
#ifndef DAMO_JIT_ARM64_ASM_H
#define DAMO_JIT_ARM64_ASM_H

#include <string.h>

#include "jit_int.h"

#define ARM_ZERO 31 /* as an operand; as a base it is the stack pointer */
#define ARM_SP 31

typedef enum arm_condition {
  ARM_IF_EQ = 0,
  ARM_IF_NE = 1,
  ARM_IF_MI = 4, /* of floats: less, and not unordered */
  ARM_IF_GE = 10,
  ARM_IF_LT = 11,
  ARM_IF_GT = 12, /* of floats: not if unordered either */
  ARM_IF_LE = 13
} arm_condition;

typedef struct arm_assembler {
  uint8_t *code;
  size_t n, cap;
  bool full;
} arm_assembler;

static inline void arm_word(arm_assembler *a, uint32_t word) {
  if (a->cap - a->n < 4) {
    a->full = true;
    return;
  }
  memcpy(a->code + a->n, &word, 4);
  a->n += 4;
}

/* An instruction of up to three registers: d = n op m. */
static inline void arm_three(arm_assembler *a, uint32_t base, int d, int n, int m) {
  arm_word(a, base | (uint32_t)m << 16 | (uint32_t)n << 5 | (uint32_t)d);
}
static inline void arm_two(arm_assembler *a, uint32_t base, int d, int n) { arm_three(a, base, d, n, 0); }

/* d = condition ? n : m; csel, fcsel. */
static inline void arm_choose(arm_assembler *a, uint32_t base, arm_condition c, int d, int n, int m) {
  arm_three(a, base | (uint32_t)c << 12, d, n, m);
}

/* An instruction with an unsigned immediate of 12 bits. */
static inline void arm_imm(arm_assembler *a, uint32_t base, int d, int n, uint32_t imm) {
  arm_two(a, base | imm << 10, d, n);
}

/* A constant in as few parts of 16 bits as it has. */
static inline void arm_constant(arm_assembler *a, int d, uint64_t x) {
  arm_word(a, 0xD2800000u | (uint32_t)(x & 0xFFFF) << 5 | (uint32_t)d); /* movz */
  for (uint32_t part = 1; part < 4; part++) {
    const uint32_t bits = (uint32_t)(x >> (16 * part)) & 0xFFFF;
    if (bits != 0) arm_word(a, 0xF2800000u | part << 21 | bits << 5 | (uint32_t)d); /* movk */
  }
}

/* A branch that arm_land gives its target: base is b.cond, or cbz of a register. Returns where it stands. */
static inline size_t arm_branch(arm_assembler *a, uint32_t base) {
  arm_word(a, base);
  return a->n - 4;
}

static inline void arm_land(arm_assembler *a, size_t branch, size_t target) {
  uint32_t word;
  if (a->full) return;
  memcpy(&word, a->code + branch, 4);
  word |= ((uint32_t)(((int64_t)target - (int64_t)branch) / 4) & 0x7FFFF) << 5;
  memcpy(a->code + branch, &word, 4);
}

#endif
