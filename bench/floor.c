/* floor: the plain C loops of the sparse benchmark, one for each case, as a Lua module.
 *
 * floor.NAME(n, A, …) runs the case n times and returns the seconds and the sum of the result's values, which the
 * benchmark compares with damo's. A is {rows, cols, nnz, indptr=, indices=, data=}: csr with int32 indices and float64
 * values, as pointers; dense operands are pointers to row-major float64. Each run allocates its result, as any caller
 * who wants a result must. The loops are the simple ones, without any optimization by hand.
 */
#include <lauxlib.h>
#include <lua.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COLS 64 /* columns of every dense matrix */

typedef struct csr {
  int64_t rows, cols, nnz;
  const int32_t *ptr, *idx;
  const double *val;
} csr;

/* A result: a dense block, a csr matrix of its own, or values on an existing pattern. Unused parts are NULL. */
typedef struct result {
  double *dense, *val;
  int32_t *ptr, *idx;
  int64_t n_dense, nnz;
} result;

typedef struct job {
  csr a;
  const double *x, *y, *z;
  const int64_t *list;
  int64_t n_list;
} job;

/* Without memory the benchmark ends: there is no caller to tell. */
static void *take(size_t bytes) {
  void *p = malloc(bytes ? bytes : 1);
  if (!p) abort();
  return p;
}

static result dense_result(int64_t n) { return (result){.dense = take((size_t)n * sizeof(double)), .n_dense = n}; }

static result sparse_result(int64_t rows, int64_t nnz) {
  result r = {.nnz = nnz};
  r.val = take((size_t)nnz * sizeof(double));
  r.idx = take((size_t)nnz * sizeof(int32_t));
  r.ptr = take((size_t)(rows + 1) * sizeof(int32_t));
  return r;
}

static void drop(result *r) {
  free(r->dense);
  free(r->val);
  free(r->idx);
  free(r->ptr);
}

static csr csr_of(const result *r, int64_t rows, int64_t cols) {
  return (csr){rows, cols, r->nnz, r->ptr, r->idx, r->val};
}

/* ---- Products with dense ----------------------------------------------------------------------------------------- */

static result matvec(const job *j) {
  const csr a = j->a;
  result r = dense_result(a.rows);
  for (int64_t i = 0; i < a.rows; i++) {
    double sum = 0;
    for (int32_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) sum += a.val[p] * j->x[a.idx[p]];
    r.dense[i] = sum;
  }
  return r;
}

static result matmat(const job *j) {
  const csr a = j->a;
  result r = dense_result(a.rows * COLS);
  for (int64_t i = 0; i < a.rows; i++) {
    double row[COLS] = {0};
    for (int32_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
      const double s = a.val[p], *x = j->x + (int64_t)a.idx[p] * COLS;
#pragma GCC unroll 64 /* the row stays in registers */
      for (int k = 0; k < COLS; k++) row[k] += s * x[k];
    }
    memcpy(r.dense + i * COLS, row, sizeof row);
  }
  return r;
}

static result usmm(const job *j) {
  const csr a = j->a;
  result r = dense_result(a.rows * COLS);
  for (int64_t i = 0; i < a.rows; i++) {
    double row[COLS];
    memcpy(row, j->y + i * COLS, sizeof row);
    for (int32_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
      const double s = 2 * a.val[p], *x = j->x + (int64_t)a.idx[p] * COLS;
#pragma GCC unroll 64 /* the row stays in registers */
      for (int k = 0; k < COLS; k++) row[k] += s * x[k];
    }
    memcpy(r.dense + i * COLS, row, sizeof row);
  }
  return r;
}

/* Eight independent sums, which the compiler may not make of one: it must not reorder floating-point additions. */
static double inner(const double *x, const double *y) {
  double part[8] = {0}, sum = 0;
  for (int k = 0; k < COLS; k += 8) {
    for (int c = 0; c < 8; c++) part[c] += x[k + c] * y[k + c];
  }
  for (int c = 0; c < 8; c++) sum += part[c];
  return sum;
}

static result sampling(const job *j) {
  const csr a = j->a;
  result r = {.val = take((size_t)a.nnz * sizeof(double)), .nnz = a.nnz};
  for (int64_t i = 0; i < a.rows; i++) {
    for (int32_t p = a.ptr[i]; p < a.ptr[i + 1]; p++)
      r.val[p] = a.val[p] * inner(j->x + i * COLS, j->y + (int64_t)a.idx[p] * COLS);
  }
  return r;
}

/* The gradient of Y = A·X with the cotangent G in y: G·Xᵀ at A's entries, and Aᵀ·G, in one pass. */
static result dot_grad(const job *j) {
  const csr a = j->a;
  result r = {.nnz = a.nnz, .n_dense = a.cols * COLS};
  r.val = take((size_t)a.nnz * sizeof(double));
  r.dense = calloc((size_t)r.n_dense, sizeof(double));
  if (!r.dense) abort();
  for (int64_t i = 0; i < a.rows; i++) {
    const double *g = j->y + i * COLS;
    for (int32_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
      double *restrict out = r.dense + (int64_t)a.idx[p] * COLS;
      const double s = a.val[p];
      r.val[p] = inner(g, j->x + (int64_t)a.idx[p] * COLS);
      for (int k = 0; k < COLS; k++) out[k] += s * g[k];
    }
  }
  return r;
}

/* ---- Moves ------------------------------------------------------------------------------------------------------- */

/* The csr storage of Aᵀ, which is A's csc storage. */
static result tocsc(const job *j) {
  const csr a = j->a;
  result r = sparse_result(a.cols, a.nnz);
  memset(r.ptr, 0, (size_t)(a.cols + 1) * sizeof(int32_t));
  for (int64_t p = 0; p < a.nnz; p++) r.ptr[a.idx[p] + 1]++;
  for (int64_t k = 0; k < a.cols; k++) r.ptr[k + 1] += r.ptr[k];
  for (int64_t i = 0; i < a.rows; i++) {
    for (int32_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
      const int32_t at = r.ptr[a.idx[p]]++;
      r.idx[at] = (int32_t)i;
      r.val[at] = a.val[p];
    }
  }
  memmove(r.ptr + 1, r.ptr, (size_t)a.cols * sizeof(int32_t));
  r.ptr[0] = 0;
  return r;
}

static result hstack(const job *j) {
  const csr a = j->a;
  result r = sparse_result(a.rows, 10 * a.nnz);
  int32_t n = 0;
  for (int64_t i = 0; i < a.rows; i++) {
    const int32_t length = a.ptr[i + 1] - a.ptr[i];
    r.ptr[i] = n;
    for (int k = 0; k < 10; k++, n += length) {
      const int32_t offset = (int32_t)(k * a.cols), *idx = a.idx + a.ptr[i];
      for (int32_t p = 0; p < length; p++) r.idx[n + p] = idx[p] + offset;
      memcpy(r.val + n, a.val + a.ptr[i], (size_t)length * sizeof(double));
    }
  }
  r.ptr[a.rows] = n;
  return r;
}

static result vstack(const job *j) {
  const csr a = j->a;
  result r = sparse_result(10 * a.rows, 10 * a.nnz);
  r.ptr[0] = 0;
  for (int k = 0; k < 10; k++) {
    memcpy(r.idx + k * a.nnz, a.idx, (size_t)a.nnz * sizeof(int32_t));
    memcpy(r.val + k * a.nnz, a.val, (size_t)a.nnz * sizeof(double));
    for (int64_t i = 1; i <= a.rows; i++) r.ptr[k * a.rows + i] = (int32_t)(k * a.nnz) + a.ptr[i];
  }
  return r;
}

static result rows(const job *j) {
  const csr a = j->a;
  int64_t nnz = 0;
  for (int64_t k = 0; k < j->n_list; k++) nnz += a.ptr[j->list[k]] - a.ptr[j->list[k] - 1];
  result r = sparse_result(j->n_list, nnz);
  r.ptr[0] = 0;
  for (int64_t k = 0; k < j->n_list; k++) {
    const int32_t from = a.ptr[j->list[k] - 1], length = a.ptr[j->list[k]] - from, at = r.ptr[k];
    memcpy(r.idx + at, a.idx + from, (size_t)length * sizeof(int32_t));
    memcpy(r.val + at, a.val + from, (size_t)length * sizeof(double));
    r.ptr[k + 1] = at + length;
  }
  return r;
}

/* ---- Sparse with sparse ------------------------------------------------------------------------------------------ */

static result add_transpose(const job *j) {
  const csr a = j->a;
  result t = tocsc(j), r = sparse_result(a.rows, 2 * a.nnz);
  int32_t n = 0;
  r.ptr[0] = 0;
  for (int64_t i = 0; i < a.rows; i++) {
    int32_t p = a.ptr[i], q = t.ptr[i];
    while (p < a.ptr[i + 1] || q < t.ptr[i + 1]) {
      const int32_t k = p < a.ptr[i + 1] ? a.idx[p] : INT32_MAX, l = q < t.ptr[i + 1] ? t.idx[q] : INT32_MAX;
      r.idx[n] = k < l ? k : l;
      r.val[n] = (k <= l ? a.val[p] : 0) + (l <= k ? t.val[q] : 0);
      n += r.val[n] != 0;
      p += k <= l;
      q += l <= k;
    }
    r.ptr[i + 1] = n;
  }
  r.nnz = n;
  drop(&t);
  return r;
}

/* A·Aᵀ row by row; mark[k] is the position of column k in the current row. Memory is for one entry per product. */
static result gram(const job *j) {
  const csr a = j->a;
  result t = tocsc(j);
  const csr b = csr_of(&t, a.cols, a.rows);
  int64_t most = 0, n = 0;
  for (int64_t p = 0; p < a.nnz; p++) most += b.ptr[a.idx[p] + 1] - b.ptr[a.idx[p]];
  result r = sparse_result(a.rows, most);
  int32_t *mark = take((size_t)b.cols * sizeof(int32_t));
  memset(mark, 0xff, (size_t)b.cols * sizeof(int32_t));
  r.ptr[0] = 0;
  for (int64_t i = 0; i < a.rows; i++) {
    const int64_t start = n;
    for (int32_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) {
      const double s = a.val[p];
      for (int32_t q = b.ptr[a.idx[p]]; q < b.ptr[a.idx[p] + 1]; q++) {
        const int32_t k = b.idx[q];
        if (mark[k] >= start) {
          r.val[mark[k]] += s * b.val[q];
        } else {
          mark[k] = (int32_t)n;
          r.idx[n] = k;
          r.val[n++] = s * b.val[q];
        }
      }
    }
    r.ptr[i + 1] = (int32_t)n;
  }
  r.nnz = n;
  free(mark);
  drop(&t);
  return r;
}

/* ---- Values and sums --------------------------------------------------------------------------------------------- */

static result values_result(const csr *a) {
  return (result){.val = take((size_t)a->nnz * sizeof(double)), .nnz = a->nnz};
}

static result col_scale(const job *j) {
  const csr a = j->a;
  result r = values_result(&a);
  for (int64_t p = 0; p < a.nnz; p++) r.val[p] = a.val[p] * j->x[a.idx[p]];
  return r;
}

static result structured_exp(const job *j) {
  result r = values_result(&j->a);
  for (int64_t p = 0; p < r.nnz; p++) r.val[p] = exp(j->a.val[p]);
  return r;
}

static result sum_columns(const job *j) {
  const csr a = j->a;
  result r = dense_result(a.cols);
  memset(r.dense, 0, (size_t)a.cols * sizeof(double));
  for (int64_t p = 0; p < a.nnz; p++) r.dense[a.idx[p]] += a.val[p];
  return r;
}

static result sum_rows(const job *j) {
  const csr a = j->a;
  result r = dense_result(a.rows);
  for (int64_t i = 0; i < a.rows; i++) {
    double sum = 0;
    for (int32_t p = a.ptr[i]; p < a.ptr[i + 1]; p++) sum += a.val[p];
    r.dense[i] = sum;
  }
  return r;
}

static result sum_all(const job *j) {
  result r = dense_result(1);
  double part[8] = {0};
  int64_t p = 0;
  for (; p + 8 <= j->a.nnz; p += 8) {
    for (int c = 0; c < 8; c++) part[c] += j->a.val[p + c];
  }
  for (; p < j->a.nnz; p++) part[0] += j->a.val[p];
  r.dense[0] = 0;
  for (int c = 0; c < 8; c++) r.dense[0] += part[c];
  return r;
}

/* ---- Lua --------------------------------------------------------------------------------------------------------- */

static const void *pointer_field(lua_State *L, const char *name) {
  lua_getfield(L, 2, name);
  const void *p = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return p;
}

static int64_t integer_at(lua_State *L, int i) {
  lua_rawgeti(L, 2, i);
  const int64_t value = luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  return value;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double total(const result *r) {
  double sum = 0;
  for (int64_t i = 0; i < r->n_dense; i++) sum += r->dense[i];
  for (int64_t i = 0; i < r->nnz; i++) sum += r->val[i];
  return sum;
}

typedef struct floor_case {
  const char *name;
  result (*run)(const job *j);
} floor_case;

static const floor_case floor_cases[] = {
    {"matvec", matvec},           {"matmat", matmat},     {"dot_grad", dot_grad}, {"gram", gram},
    {"sampling", sampling},       {"usmm", usmm},         {"tocsc", tocsc},       {"add_transpose", add_transpose},
    {"sum_columns", sum_columns}, {"sum_rows", sum_rows}, {"sum_all", sum_all},   {"col_scale", col_scale},
    {"hstack", hstack},           {"vstack", vstack},     {"rows", rows},         {"structured_exp", structured_exp}};

/* floor.NAME(n, A, x, y): x and y are pointers if the case has dense operands; for "rows", x points to int64 positions
 * from 1 and y is their number. */
static int run_case(lua_State *L) {
  const floor_case *c = lua_touserdata(L, lua_upvalueindex(1));
  const int64_t n = luaL_checkinteger(L, 1);
  job j = {.a = {integer_at(L, 1), integer_at(L, 2), integer_at(L, 3), NULL, NULL, NULL}};
  j.a.ptr = pointer_field(L, "indptr");
  j.a.idx = pointer_field(L, "indices");
  j.a.val = pointer_field(L, "data");
  j.x = lua_touserdata(L, 3);
  j.y = lua_touserdata(L, 4);
  j.list = lua_touserdata(L, 3);
  j.n_list = lua_tointeger(L, 4);
  double sum = 0;
  const double start = seconds();
  for (int64_t k = 0; k < n - 1; k++) {
    result r = c->run(&j);
    drop(&r);
  }
  result r = c->run(&j);
  const double spent = seconds() - start;
  sum = total(&r);
  drop(&r);
  lua_pushnumber(L, spent);
  lua_pushnumber(L, sum);
  return 2;
}

int luaopen_floor(lua_State *L);

int luaopen_floor(lua_State *L) {
  lua_newtable(L);
  for (size_t k = 0; k < sizeof floor_cases / sizeof *floor_cases; k++) {
    lua_pushlightuserdata(L, (void *)(uintptr_t)&floor_cases[k]);
    lua_pushcclosure(L, run_case, 1);
    lua_setfield(L, -2, floor_cases[k].name);
  }
  return 1;
}
