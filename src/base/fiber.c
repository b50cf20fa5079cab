/* fiber.c: stacks and the switch between them.
 *
 * The switch is inline assembly that tells the compiler of every register as changed, so that it alone decides what to
 * save; the code saves the stack and frame pointers, the address to go on at, and the floating-point modes, which each
 * side keeps for itself. A stack is mapped without being touched: it takes the pages that it has used. The page below
 * it can't be accessed, so that an overflow is a fault and overwrites nothing.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif
#include "fiber.h"

#if FIBER_SWITCHES

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN 1
#endif

/* BLAS and LAPACK need most of a stack: OpenBLAS keeps its tables of jobs there. */
#if defined(FIBER_ASAN) || defined(FIBER_TSAN)
#define FIBER_STACK ((size_t)4 << 20)
#else
#define FIBER_STACK ((size_t)1 << 20)
#endif
#define FIBER_CHARGE ((size_t)64 << 10) /* of a stack, what most calls touch */

struct fiber {
  void *sp;      /* of the fiber while it is left; the first member, since fiber_begin gets its address */
  void *outside; /* the stack pointer of fiber_enter's caller while the fiber runs */
  char *stack;   /* the mapping: a guard, then FIBER_STACK bytes */
  size_t guard;
  fiber_fn fn; /* NULL: no function runs on this stack */
  void *user;
#if defined(FIBER_ASAN)
  void *fake, *outside_fake;
  const void *outside_stack;
  size_t outside_bytes;
#endif
#if defined(FIBER_TSAN)
  void *tsan, *outside_tsan;
#endif
};

/* ---- The switch -------------------------------------------------------------------------------------------------- */

#if defined(__clang__)
#define FIBER_OPAQUE __attribute__((noinline))
#else
#define FIBER_OPAQUE __attribute__((noinline, noipa)) /* callers must expect every register to change */
#endif

/* Saves the registers on the stack, its address in *from, and goes on at the stack *to. A new fiber begins at the address
 * on its stack, with `to` as first argument. */
static FIBER_OPAQUE void fiber_switch(void **to, void **from) {
#if defined(__x86_64__)
#if defined(_WIN32) /* the bounds of the stack are in the thread's block, and belong to what is switched */
#define FIBER_BOUNDS_OUT "pushq %%gs:0x8\n\tpushq %%gs:0x10\n\tpushq %%gs:0x1478\n\tpushq %%gs:0x1478\n\t"
#define FIBER_BOUNDS_IN "addq $8, %%rsp\n\tpopq %%gs:0x1478\n\tpopq %%gs:0x10\n\tpopq %%gs:0x8\n\t"
  register void **first __asm__("rcx") = to;
  register void **second __asm__("rdx") = from;
#else
#define FIBER_BOUNDS_OUT ""
#define FIBER_BOUNDS_IN ""
  register void **first __asm__("rdi") = to;
  register void **second __asm__("rsi") = from;
#endif
  __asm__ __volatile__(
      "leaq -128(%%rsp), %%rsp\n\t" /* the red zone */
      "pushq %%rbp\n\tpushq %%rbx\n\t"
      "leaq 1f(%%rip), %%rax\n\tpushq %%rax\n\t" FIBER_BOUNDS_OUT
      "subq $8, %%rsp\n\tstmxcsr (%%rsp)\n\tfnstcw 4(%%rsp)\n\t"
      "movq %%rsp, (%1)\n\t"
      "movq (%0), %%rsp\n\t"
      "ldmxcsr (%%rsp)\n\tfldcw 4(%%rsp)\n\taddq $8, %%rsp\n\t" FIBER_BOUNDS_IN
      "popq %%rax\n\tjmpq *%%rax\n"
      "1:\n\t"
      "popq %%rbx\n\tpopq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp\n\t"
      : "+r"(first), "+r"(second)
      :
      : "rax", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
#if defined(_WIN32)
        "rdi", "rsi",
#else
        "rcx", "rdx",
#endif
        "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "xmm15", "cc", "memory");
#else
  register void **first __asm__("x0") = to;
  register void **second __asm__("x1") = from;
  __asm__ __volatile__(
      "sub sp, sp, #160\n\t"
      "stp x29, x30, [sp]\n\t"
      "adr x16, 1f\n\tmrs x10, fpcr\n\tstp x16, x10, [sp, #16]\n\t"
      "mov x11, sp\n\tstr x11, [%1]\n\t"
      "ldr x11, [%0]\n\tmov sp, x11\n\t"
      "ldp x16, x10, [sp, #16]\n\tmsr fpcr, x10\n\t"
      "ldp x29, x30, [sp]\n\t"
      "add sp, sp, #160\n\t"
      "br x16\n"
      "1:\n\t"
      "hint #36\n\t" /* a landing place of indirect branches */
      : "+r"(first), "+r"(second)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x19",
        "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
        "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
        "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "cc", "memory");
#endif
}

#if defined(FIBER_ASAN)
void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake, const void **bottom, size_t *size);
#endif
#if defined(FIBER_TSAN)
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#endif

/* Switches from the fiber to the caller of fiber_enter. `last` says that the fiber's function has returned, so that the
 * fiber is never entered again. */
static void fiber_switch_out(fiber *f, bool last) {
#if defined(FIBER_ASAN)
  __sanitizer_start_switch_fiber(last ? NULL : &f->fake, f->outside_stack, f->outside_bytes);
#endif
#if defined(FIBER_TSAN)
  __tsan_switch_to_fiber(f->outside_tsan, 0);
#endif
  (void)last;
  fiber_switch(&f->outside, &f->sp);
#if defined(FIBER_ASAN)
  __sanitizer_finish_switch_fiber(f->fake, &f->outside_stack, &f->outside_bytes);
#endif
}

/* The first function on the stack, which never returns. */
static void fiber_begin(fiber *f) {
#if defined(FIBER_ASAN)
  __sanitizer_finish_switch_fiber(NULL, &f->outside_stack, &f->outside_bytes);
#endif
  f->fn(f->user);
  f->fn = NULL;
  fiber_switch_out(f, true);
}

/* Lays out a stack as fiber_switch leaves one, with fiber_begin as the address to go on at. */
static void fiber_lay_out(fiber *f) {
  char *const top = f->stack + f->guard + FIBER_STACK;
  const union {
    void (*fn)(fiber *f);
    uint64_t word;
  } begin = {.fn = fiber_begin};
#if defined(__x86_64__)
  uint64_t *at = (uint64_t *)(void *)(top - 128);
  *--at = 0; /* a place where a return address would be: at entry the stack is aligned but for 8 bytes */
  *--at = begin.word;
#if defined(_WIN32)
  *--at = (uint64_t)(uintptr_t)top;
  *--at = (uint64_t)(uintptr_t)(f->stack + f->guard);
  *--at = (uint64_t)(uintptr_t)f->stack;
  *--at = 0;
#endif
  --at;
  __asm__ __volatile__("stmxcsr (%0)\n\tfnstcw 4(%0)" : : "r"(at) : "memory");
#else
  uint64_t *at = (uint64_t *)(void *)(top - 160);
  at[0] = at[1] = 0;
  at[2] = begin.word;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(at[3]));
#endif
  f->sp = at;
}

bool fiber_enter(fiber *f, fiber_fn fn, void *user) {
  if (f->fn == NULL) {
    f->fn = fn;
    f->user = user;
    fiber_lay_out(f);
  }
#if defined(FIBER_TSAN)
  f->outside_tsan = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(f->tsan, 0);
#endif
#if defined(FIBER_ASAN)
  __sanitizer_start_switch_fiber(&f->outside_fake, f->stack + f->guard, FIBER_STACK);
#endif
  fiber_switch(&f->sp, &f->outside);
#if defined(FIBER_ASAN)
  __sanitizer_finish_switch_fiber(f->outside_fake, NULL, NULL);
#endif
  return f->fn == NULL;
}

void fiber_leave(fiber *f) { fiber_switch_out(f, false); }

/* ---- Stacks ------------------------------------------------------------------------------------------------------ */

#if defined(_WIN32)
static bool fiber_map(fiber *f) {
  f->guard = 4096;
  f->stack = VirtualAlloc(NULL, f->guard + FIBER_STACK, MEM_RESERVE, PAGE_NOACCESS);
  if (f->stack != NULL && VirtualAlloc(f->stack + f->guard, FIBER_STACK, MEM_COMMIT, PAGE_READWRITE) != NULL)
    return true;
  if (f->stack != NULL) VirtualFree(f->stack, 0, MEM_RELEASE);
  return false;
}

static void fiber_unmap(fiber *f) { VirtualFree(f->stack, 0, MEM_RELEASE); }
#else
static bool fiber_map(fiber *f) {
  const long page = sysconf(_SC_PAGESIZE);
  f->guard = page > 0 ? (size_t)page : 65536;
  void *at = mmap(NULL, f->guard + FIBER_STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  f->stack = at;
  if (mprotect(f->stack + f->guard, FIBER_STACK, PROT_READ | PROT_WRITE) == 0) return true;
  munmap(at, f->guard + FIBER_STACK);
  return false;
}

static void fiber_unmap(fiber *f) { munmap(f->stack, f->guard + FIBER_STACK); }
#endif

fiber *fiber_new(damo_ctx *ctx) {
  if (mem_charge(ctx, FIBER_CHARGE) != DAMO_OK) return NULL;
  fiber *f = mem_calloc(ctx, sizeof *f);
  if (f != NULL && fiber_map(f)) {
#if defined(FIBER_TSAN)
    f->tsan = __tsan_create_fiber(0);
#endif
    return f;
  }
  if (f != NULL) {
    mem_free(ctx, f, sizeof *f);
    ctx_fail_memory(ctx);
  }
  mem_uncharge(ctx, FIBER_CHARGE);
  return NULL;
}

void fiber_free(damo_ctx *ctx, fiber *f) {
  if (f == NULL) return;
  damo_assert(f->fn == NULL);
#if defined(FIBER_TSAN)
  __tsan_destroy_fiber(f->tsan);
#endif
  fiber_unmap(f);
  mem_free(ctx, f, sizeof *f);
  mem_uncharge(ctx, FIBER_CHARGE);
}

#else

fiber *fiber_new(damo_ctx *ctx) {
  (void)ctx;
  return NULL;
}

void fiber_free(damo_ctx *ctx, fiber *f) { (void)ctx, (void)f; }

bool fiber_enter(fiber *f, fiber_fn fn, void *user) {
  (void)f;
  fn(user);
  return true;
}

void fiber_leave(fiber *f) { (void)f; }

#endif
