/* jit: scalar programs as machine code.
 *
 * In: a jit_program, a straight line of operations on scalars in SSA form. It runs once, or once a step of a loop whose
 * carried values go from step to step. Out: a jit_code, machine code over a frame of 8-byte slots, in which the caller
 * puts operands and addresses, and finds what was carried. A program of lanes is run for each element of blocks, a
 * vector of them at a time, and its code is a kernel (kernel_fn). Always holds: a result has the bits that the
 * kernels of the context's kernel_isa give for one element (any nan is any nan: sign and payload are not told apart);
 * code fails in no case, allocates nothing and calls kernels alone; no page is writable and executable at one time; where there is no
 * code to be had, jit_compile gives NULL without an error and jit_refusal says why, and the caller runs kernels.
 *
 *   ir.c          making a program: constants once, what no step changes before the loop, dead values left out
 *   regalloc.c    registers and slots for its values
 *   x86_64.c, arm64.c    the instructions of an ISA (jit_int.h: jit_isa); x86_64_asm.h, arm64_asm.h encode them
 *   x86_64_lanes.c, arm64_lanes.c    those of programs of lanes
 *   code.c        pages for code
 */
#ifndef DAMO_JIT_H
#define DAMO_JIT_H

#include "base/base.h"
#include "kernel/isa.h"

typedef enum jit_type {
  JIT_F64,
  JIT_F32,
  JIT_I64,
  JIT_I32,
  JIT_BOOL, /* a mask in a register: all 64 bits or none; a byte, 0 or 1, in memory of arrays */
  JIT_N_TYPES
} jit_type;

/* The jit_type of values of that dtype; JIT_N_TYPES: there is none. */
jit_type jit_type_of(damo_dtype dtype);

typedef enum jit_op {
  /* floats; min, max: a < b ? a : b, a > b ? a : b, so b where one is nan; each of one float type */
  JIT_ADD,
  JIT_SUB,
  JIT_MUL,
  JIT_DIV,
  JIT_MIN,
  JIT_MAX,
  JIT_SQRT,
  JIT_ROUND,   /* imm: a jit_rounding */
  JIT_COMPARE, /* imm: a jit_relation; gives a bool */
  /* bits of floats and bools */
  JIT_AND,
  JIT_OR,
  JIT_XOR,
  /* integers, wrapping */
  JIT_IADD,
  JIT_ISUB,
  JIT_IMUL,
  JIT_IAND,
  JIT_IOR,
  JIT_IXOR,
  JIT_ICOMPARE, /* gives a bool */
  /* any type */
  JIT_SELECT,  /* a bool, then the values if it holds and if not */
  JIT_CONVERT, /* between floats and integers, to floats and between integers; of a bool to an integer */
  JIT_LOAD,    /* of an element at an address */
  JIT_STORE,   /* address, value */
  JIT_CALL,    /* a kernel on one element */
  JIT_CALL_CAST,
  /* of allocated programs alone */
  JIT_MOVE, /* between registers and slots */
  JIT_ARG,  /* to a slot, in the form of an array's element */
  JIT_N_OPS
} jit_op;

typedef enum jit_relation {
  JIT_EQ,
  JIT_NE, /* true of nan */
  JIT_LT,
  JIT_LE,
  JIT_GT,
  JIT_GE,
  JIT_UNORDERED /* of floats: one is nan */
} jit_relation;

typedef enum jit_rounding { JIT_NEAREST_EVEN, JIT_DOWN, JIT_UP, JIT_TOWARDS_0 } jit_rounding;

/* A value of a program: its number. Negative: no value, after a failure. */
typedef int32_t jit_value;

#define JIT_MOST_ARGS 4

typedef struct jit_inst {
  uint8_t op, imm;
  uint8_t type; /* of the operands; of SELECT the values'; of LOAD the result; of STORE and ARG the value */
  uint8_t to;   /* the result's */
  int32_t out;  /* the result; -1: none */
  int32_t in[JIT_MOST_ARGS];
  int32_t n_in;
  void (*fn)(void); /* of a call */
  int32_t slot;     /* of a call: the first slot of its addresses; those of its operands and its result follow */
} jit_inst;

/* Where a value comes from. */
typedef enum jit_source { JIT_OF_INST, JIT_OF_CONST, JIT_OF_SLOT, JIT_CARRIED } jit_source;

typedef struct jit_def {
  uint8_t type, source;
  bool steady;     /* the same in every step */
  bool is_first;   /* of lanes: the first element of an operand, in all lanes; else its address */
  int16_t operand; /* of lanes: from which operand of the kernel it comes */
  int32_t slot;    /* its home in the frame; -1: none yet */
  int32_t next;    /* carried: the value in the next step */
  uint64_t bits;   /* of a constant */
} jit_def;

/* A program in the making. All fields are the layer's own. A failure sticks: what follows it does nothing. */
typedef struct jit_program {
  damo_ctx *ctx;
  jit_def *def;
  int32_t n_defs, defs_cap;
  jit_inst *inst; /* of steps */
  int32_t n_insts, insts_cap;
  jit_inst *before; /* steady ones, once before the first step */
  int32_t n_before, before_cap;
  jit_value stop; /* bool: the loop ends with the step in which it holds; -1: none */
  int32_t stop_slot;
  int32_t n_slots, n_calls; /* calls in steps */
  const char *name;         /* for profilers, set by the caller; NULL: none */
  bool is_lanes;
  bool is_wide; /* of lanes: a lane has 64 bits, and values of 32 bits fill half of one; else it has 32 bits */
  bool failed;
} jit_program;

typedef union jit_slot {
  double f64;
  float f32;
  int64_t i64;
  int32_t i32;
  uint64_t bits;
  void *address;
} jit_slot;

void jit_begin(jit_program *p, damo_ctx *ctx);
void jit_end(jit_program *p);
/* A program of lanes, which has no calls and carried values. wide: it may have values of 64 bits; else half as many
 * lanes are in a vector. */
void jit_begin_lanes(jit_program *p, damo_ctx *ctx, bool wide);

/* A constant: its bits; of a bool 0 or 1. */
jit_value jit_const(jit_program *p, jit_type type, uint64_t bits);
jit_value jit_const_float(jit_program *p, jit_type type, double x);
/* A value that the caller puts into its slot (jit_home) before a run; of a bool 0 or all bits. */
jit_value jit_input(jit_program *p, jit_type type);
/* A value that goes from step to step: its slot holds the first one before a run, and after it the value that the last
 * step has carried on. */
jit_value jit_carried(jit_program *p, jit_type type);
void jit_carry(jit_program *p, jit_value carried, jit_value next);
/* The slot of an input or a carried value. */
int32_t jit_home(const jit_program *p, jit_value v);
jit_type jit_typeof(const jit_program *p, jit_value v);

jit_value jit_unary(jit_program *p, jit_op op, jit_value a);
jit_value jit_binary(jit_program *p, jit_op op, jit_value a, jit_value b);
jit_value jit_round(jit_program *p, jit_rounding how, jit_value a);
jit_value jit_compare(jit_program *p, jit_relation r, jit_value a, jit_value b); /* floats or integers */
jit_value jit_select(jit_program *p, jit_value condition, jit_value a, jit_value b);
/* To another type, as C converts; not of floats to integers. A program of lanes fails at int64 to float32. */
jit_value jit_convert(jit_program *p, jit_value a, jit_type to);
jit_value jit_not(jit_program *p, jit_value condition);
/* address: an I64 */
jit_value jit_load(jit_program *p, jit_type type, jit_value address);
void jit_store(jit_program *p, jit_value address, jit_value v);
/* A kernel, or a cast, of kernel_cast, on one element. */
jit_value jit_call(jit_program *p, kernel_fn fn, const jit_value *in, int n_in, jit_type to);
jit_value jit_call_cast(jit_program *p, void (*cast)(const void *from, void *to, int64_t n), jit_value a, jit_type to);
/* Of lanes: the element in hand of the kernel's operand k; the first element of operand k; v as that of operand k. All
 * results are stored after all elements have been loaded. */
jit_value jit_element(jit_program *p, jit_type type, int k);
jit_value jit_first(jit_program *p, jit_type type, int k);
void jit_result(jit_program *p, int k, jit_value v);
/* Ends the loop with the step in which the bool holds. */
void jit_stop_if(jit_program *p, jit_value condition);

/* How many operations a step has that are no calls. */
int32_t jit_n_plain(const jit_program *p);

/* ---- Code -------------------------------------------------------------------------------------------------------- */

typedef struct jit_code jit_code;

/* The program as machine code, owned; NULL: it runs otherwise. Never leaves an error. */
jit_code *jit_compile(jit_program *p);
void jit_code_free(jit_code *c);
/* The number of a frame's slots, and their first contents. A frame stays where it was initialised. */
int32_t jit_n_slots(const jit_code *c);
void jit_frame_init(const jit_code *c, jit_slot *frame);
/* Runs at most `steps` steps (at least 1). Returns how many are left; with a stop, jit_stopped tells whether its value
 * held in the last one. */
int64_t jit_run(const jit_code *c, jit_slot *frame, int64_t steps);
bool jit_stopped(const jit_code *c, const jit_slot *frame);
/* Of lanes: the kernel, which threads may run at once. */
kernel_fn jit_kernel(const jit_code *c);
/* A rough guess of the nanoseconds of a step. */
int64_t jit_step_ns(const jit_code *c);

/* The name of the ISA that code is made for; NULL: this build has none. */
const char *jit_isa_name(void);
/* Why there is no machine code in this context; NULL: there is. */
const char *jit_refusal(damo_ctx *ctx);
/* Whether there are programs of lanes in this context. */
bool jit_has_lanes(damo_ctx *ctx);
/* The bytes of pages that the context's code has. */
size_t jit_pages_bytes(const damo_ctx *ctx);

#endif
