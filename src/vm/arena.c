/* arena.c: the arena of a frame, one block for all arrays that do not leave a call.
 *
 * A program tells for each such array, its home, from which thunk to which it lives. Its size is known once a call with
 * these input shapes has run. So the first call at a set of shapes takes memory from the context, gives it back where
 * lives end, and notes the sizes; before the next one each home gets an offset in the arena (layout.c). From then on
 * each cell holds an array over its part of the arena, which a thunk finds as it would find any array of its own: such a
 * call runs nothing of this file but a comparison of shapes, and allocates nothing. If there is an arena already, of
 * other shapes, the first call takes from it what fits, and borrows its array objects.
 *
 * A layout is kept for each set of shapes, with its array objects; they share the one arena. What is kept for other
 * shapes than the call's, including the memory by which the arena is too large for it, is at most config.plan_cap bytes;
 * what was used least recently goes first. An array that grows (its size follows from values, not from shapes) gets
 * memory of its own for that call, and a larger part before the next.
 *
 * Always holds: arrays of the arena are in cells of homes and in the layouts' lists. A value that something else still
 * holds after the call keeps the arena; the frame then takes another, and never again puts that home into it.
 */
#include <string.h>

#include "vm.h"

/* Arrays below this size keep memory of their own in their cells. */
#define HOME_LEAST ((size_t)256)

/* Where the homes are for one set of shapes. */
typedef struct vm_layout {
  struct vm_layout *next; /* used before this one */
  size_t bytes;           /* of this allocation */
  size_t held;            /* of the array objects in `out` */
  size_t size;            /* of the arena */
  bool is_new;            /* no call has used it yet */
  bool grew;              /* some home needs more than it has: to be placed again */
  int64_t seated;         /* the arena that its arrays point into (vm_arena.generation) */
  int64_t n_key;
  int64_t *key;     /* the shapes of the inputs, one after the other */
  size_t *need;     /* per home: the most bytes seen, 0 for an array with memory of its own */
  size_t *space;    /* per home: bytes in the arena, 0: none */
  size_t *offset;   /* per home */
  damo_array **out; /* per home: its array while another layout is in use */
} vm_layout;

struct vm_arena {
  vm_layout *layouts;  /* the latest first */
  vm_layout *used;     /* its arrays are in the cells */
  damo_buffer *buffer; /* the arena */
  int64_t generation;  /* counts arenas */
  size_t cap;          /* what config.plan_cap was when layouts were last counted */
  int64_t swept;       /* in this call: the first entries of by_death, whose lives have ended */
  size_t outside;      /* in this call: bytes of homes beside the arena */
  bool begun;          /* a call is under way whose layout is `used` */
  bool lost;           /* something else holds the arena */
  bool learning;       /* in this call: the layout in use is new, and takes its places as they are asked for */
  vm_gaps gaps;        /* while learning: what is free in the arena */
  vm_layout *lender;   /* while learning: the layout whose array objects are used, or NULL */
  uint8_t barred[];    /* per home: something held its value after a call */
};

static damo_ctx *ctx_of(const vm_frame *vf) { return vf->frame.ctx; }
static int64_t n_homes_of(const vm_frame *vf) { return vf->program->n_homes; }
static cell *cell_of_home(const vm_frame *vf, int64_t h) { return &vf->frame.cells[vf->program->homes[h].slot]; }

/* The array in the home's cell, if it lies in the arena. */
static damo_array *part_in(const vm_frame *vf, int64_t h) {
  damo_obj *v = *cell_of_home(vf, h);
  return v != NULL && v->kind == OBJ_ARRAY && array_is_part((damo_array *)v) ? (damo_array *)v : NULL;
}

static bool is_alone(const damo_array *a) { return a->obj.refs == 1 && a->buf->obj.refs == 1; }

static void empty_cell(cell *c) {
  damo_obj *v = *c;
  *c = NULL;
  damo_release(v);
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

/* The numbers by which layouts differ, of a value from outside. */
static int numbers_of(const damo_obj *v, const int64_t **at) {
  if (v == NULL || v->kind != OBJ_ARRAY) return 0;
  *at = array_shape((const damo_array *)v);
  return ((const damo_array *)v)->ndim;
}

static int64_t count_key(const vm_frame *vf) {
  const int64_t *at;
  int64_t n = 0;
  for (int64_t i = 0; i < vf->program->n_transient; i++)
    n += numbers_of(vf->frame.cells[vf->program->transient[i]], &at);
  return n;
}

static void fill_key(const vm_frame *vf, int64_t *key) {
  const int64_t *at;
  for (int64_t i = 0; i < vf->program->n_transient; i++) {
    const int n = numbers_of(vf->frame.cells[vf->program->transient[i]], &at);
    for (int k = 0; k < n; k++) *key++ = at[k];
  }
}

static bool has_key(const vm_frame *vf, const vm_layout *l) {
  const int64_t *at;
  int64_t j = 0;
  for (int64_t i = 0; i < vf->program->n_transient; i++) {
    const int n = numbers_of(vf->frame.cells[vf->program->transient[i]], &at);
    for (int k = 0; k < n; k++, j++) {
      if (j >= l->n_key || l->key[j] != at[k]) return false;
    }
  }
  return j == l->n_key;
}

/* ---- Layouts ----------------------------------------------------------------------------------------------------- */

static vm_layout *layout_new(const vm_frame *vf) {
  const size_t n = (size_t)n_homes_of(vf), n_key = (size_t)count_key(vf);
  const size_t bytes = sizeof(vm_layout) + n_key * sizeof(int64_t) + n * (3 * sizeof(size_t) + sizeof(damo_array *));
  vm_layout *l = mem_calloc(ctx_of(vf), bytes);
  if (l == NULL) return NULL;
  l->bytes = bytes;
  l->is_new = true;
  l->n_key = (int64_t)n_key;
  l->out = (damo_array **)(l + 1);
  l->need = (size_t *)(l->out + n);
  l->space = l->need + n;
  l->offset = l->space + n;
  l->key = (int64_t *)(l->offset + n);
  fill_key(vf, l->key);
  return l;
}

/* Empties the cells with arrays of the arena. */
static void drop_parts(const vm_frame *vf) {
  for (int64_t h = 0; h < n_homes_of(vf); h++) {
    if (part_in(vf, h) != NULL) empty_cell(cell_of_home(vf, h));
  }
}

/* Takes the layout, which is not in use, out of the list and frees it. */
static void layout_drop(const vm_frame *vf, vm_layout *l) {
  vm_arena *m = vf->arena;
  vm_layout **at = &m->layouts;
  damo_assert(l != m->used);
  while (*at != l) at = &(*at)->next;
  *at = l->next;
  for (int64_t h = 0; h < n_homes_of(vf); h++) damo_release(l->out[h]);
  mem_free(ctx_of(vf), l, l->bytes);
}

static size_t bytes_of_object(const damo_array *a) {
  return sizeof *a + 2 * (size_t)a->ndim * sizeof(int64_t) + sizeof(damo_buffer);
}

/* Moves the arrays of the layout in use from the cells to its list. */
static void layout_put_away(const vm_frame *vf) {
  vm_layout *l = vf->arena->used;
  vf->arena->used = NULL;
  if (l == NULL) return;
  l->held = 0;
  for (int64_t h = 0; h < n_homes_of(vf); h++) {
    damo_array *a = part_in(vf, h);
    if (a == NULL) continue;
    damo_assert(is_alone(a) && l->out[h] == NULL);
    l->out[h] = a;
    l->held += bytes_of_object(a);
    *cell_of_home(vf, h) = NULL;
  }
}

static void layout_take_up(const vm_frame *vf, vm_layout *l) {
  vf->arena->used = l;
  for (int64_t h = 0; h < n_homes_of(vf); h++) {
    if (l->out[h] == NULL) continue;
    empty_cell(cell_of_home(vf, h));
    *cell_of_home(vf, h) = &l->out[h]->obj;
    l->out[h] = NULL;
  }
}

/* Gives each home a place in the arena. Without the memory for that, the homes keep the places that they have. */
static void layout_place_homes(const vm_frame *vf, vm_layout *l) {
  const vm_program *p = vf->program;
  const size_t bytes = (size_t)p->n_homes * sizeof(vm_span) + layout_work(p->n_homes);
  vm_span *spans = mem_alloc(ctx_of(vf), bytes);
  if (spans == NULL) {
    ctx_clear_error(ctx_of(vf));
    return;
  }
  int64_t n = 0;
  for (int64_t h = 0; h < p->n_homes; h++) {
    l->space[h] = arena_round(l->need[h]);
    if (l->need[h] > 0) spans[n++] = (vm_span){p->homes[h].birth, p->homes[h].death, l->space[h], 0};
  }
  l->size = layout_place(spans, n, spans + p->n_homes);
  n = 0;
  for (int64_t h = 0; h < p->n_homes; h++) {
    if (l->need[h] > 0) l->offset[h] = spans[n++].offset;
  }
  mem_free(ctx_of(vf), spans, bytes);
  l->grew = false;
  l->seated = -1;
}

/* ---- The arena --------------------------------------------------------------------------------------------------- */

static size_t arena_bytes(const vm_arena *m) { return m->buffer != NULL ? m->buffer->nbytes : 0; }

static void arena_drop(vm_arena *m) {
  damo_release(m->buffer);
  m->buffer = NULL;
  m->lost = false;
  m->generation++;
}

/* The bytes that layouts which are not in use keep, without the arena; *most: the arena that all of them need. */
static size_t kept_by_others(const vm_arena *m, size_t *most) {
  size_t bytes = 0;
  *most = m->used != NULL ? m->used->size : 0;
  for (const vm_layout *l = m->layouts; l != NULL; l = l->next) {
    if (l == m->used) continue;
    bytes += l->bytes + l->held;
    if (l->size > *most) *most = l->size;
  }
  return bytes;
}

/* Frees layouts, and the arena if it is too large, until at most `cap` bytes are kept for other shapes. */
static void arena_bound(const vm_frame *vf, size_t cap) {
  vm_arena *m = vf->arena;
  const size_t own = m->used != NULL ? m->used->size : 0;
  size_t most, others = kept_by_others(m, &most);
  while (others + (most - own) > cap) {
    vm_layout *last = NULL;
    for (vm_layout *l = m->layouts; l != NULL; l = l->next) last = l != m->used ? l : last;
    damo_assert(last != NULL);
    layout_drop(vf, last);
    others = kept_by_others(m, &most);
  }
  if (arena_bytes(m) > own && others + (arena_bytes(m) - own) > cap) arena_drop(m);
}

/* Sees that there is an arena for the layout in use, and that its arrays point into it. */
static void arena_fit(const vm_frame *vf) {
  vm_arena *m = vf->arena;
  vm_layout *l = m->used;
  if (arena_bytes(m) < l->size) {
    arena_drop(m);
    m->buffer = buffer_new(ctx_of(vf), l->size);
    if (m->buffer == NULL) { /* the call takes its memory piece by piece, and fails only if that is not there either */
      ctx_clear_error(ctx_of(vf));
      drop_parts(vf);
      memset(l->space, 0, (size_t)n_homes_of(vf) * sizeof *l->space);
      l->size = 0;
      l->grew = true;
    }
  }
  if (l->seated == m->generation) return;
  for (int64_t h = 0; h < n_homes_of(vf); h++) {
    damo_array *a = part_in(vf, h);
    if (a != NULL) array_part_move(a, m->buffer, l->offset[h], l->space[h], array_shape(a));
  }
  l->seated = m->generation;
}

/* The thunks' workspaces fit the last call's shapes: they are dropped with the layouts, together. */
static void drop_workspaces(vm_frame *vf, size_t cap) {
  size_t bytes = 0;
  for (int64_t k = 0; k < vf->program->n_thunks; k++) bytes += vf->frame.locals[k].scratch_size;
  for (int64_t k = 0; bytes > cap && k < vf->program->n_thunks; k++)
    thunk_drop_scratch(vf->program->thunks[k], &vf->frame);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

/* Puts the layout for the shapes of this call first in the list. NULL: memory error. */
static vm_layout *layout_for_call(vm_frame *vf) {
  vm_arena *m = vf->arena;
  vm_layout **at = &m->layouts, *l;
  while (*at != NULL && !has_key(vf, *at)) at = &(*at)->next;
  l = *at;
  if (l != NULL) {
    *at = l->next;
  } else if ((l = layout_new(vf)) == NULL) {
    return NULL;
  }
  l->next = m->layouts;
  m->layouts = l;
  return l;
}

static size_t gap_bytes(const vm_frame *vf) { return (size_t)(n_homes_of(vf) + 1) * sizeof(vm_gap); }

/* Lets the layout in use, a new one, learn its sizes in the arena of the layouts before it. */
static void begin_learning(const vm_frame *vf, vm_layout *lender) {
  vm_arena *m = vf->arena;
  if (m->buffer == NULL) return;
  if (m->gaps.at == NULL) m->gaps.at = mem_alloc(ctx_of(vf), gap_bytes(vf));
  if (m->gaps.at == NULL) {
    ctx_clear_error(ctx_of(vf));
    return;
  }
  m->gaps.n = 0;
  m->gaps.top = m->gaps.most = 0;
  m->learning = true;
  m->lender = lender;
}

/* A place for the home among what is free, and an array object for it if there is one. False without a place. */
static bool learn_place(vm_frame *vf, int64_t h, size_t bytes, const int64_t *shape) {
  vm_arena *m = vf->arena;
  cell *c = cell_of_home(vf, h);
  const size_t size = arena_round(bytes), most = m->gaps.most, at = gap_take(&m->gaps, size);
  if (at + size > m->buffer->nbytes) {
    gap_release(&m->gaps, at, size);
    m->gaps.most = most;
    return false;
  }
  m->used->offset[h] = at;
  m->used->space[h] = size;
  if (m->lender != NULL && m->lender->out[h] != NULL) {
    empty_cell(c);
    *c = &m->lender->out[h]->obj;
    m->lender->out[h] = NULL;
  }
  if (part_in(vf, h) != NULL) array_part_move(part_in(vf, h), m->buffer, at, size, shape);
  return true;
}

/* Gives the array objects back, without a shape that the lender may have no space for. */
static void end_learning(const vm_frame *vf) {
  static const int64_t empty[DAMO_MAX_NDIM];
  vm_arena *m = vf->arena;
  m->learning = false;
  m->used->size = m->gaps.most;
  for (int64_t h = 0; m->lender != NULL && h < n_homes_of(vf); h++) {
    damo_array *a = part_in(vf, h);
    if (a == NULL) continue;
    damo_assert(m->lender->out[h] == NULL);
    array_refit(a, empty);
    m->lender->out[h] = a;
    m->lender->seated = -1;
    *cell_of_home(vf, h) = NULL;
  }
}

void vm_arena_begin(vm_frame *vf) {
  vm_arena *m = vf->arena;
  const size_t cap = ctx_of(vf)->config.plan_cap;
  const bool same = m->used != NULL && has_key(vf, m->used);
  m->begun = true;
  m->swept = 0;
  m->outside = 0;
  if (same && !m->used->grew && m->used->seated == m->generation && m->cap == cap) return;
  vm_layout *l = same ? m->used : layout_for_call(vf), *former = m->used;
  if (l == NULL) ctx_clear_error(ctx_of(vf));
  if (l != m->used) {
    if (m->used != NULL) drop_workspaces(vf, cap); /* else a thunk may be running, and have its workspace */
    layout_put_away(vf);
    if (l != NULL) layout_take_up(vf, l);
  }
  if (l != NULL && l->grew) layout_place_homes(vf, l);
  arena_bound(vf, cap);
  m->cap = cap;
  if (l == NULL) return;
  arena_fit(vf);
  if (l->is_new) begin_learning(vf, m->layouts->next == former ? former : NULL); /* if it was not dropped */
  l->is_new = false;
}

/* Something else holds an array of the arena: the array keeps the arena from now on. */
static void hand_over(vm_arena *m, damo_array *a, int64_t h) {
  array_part_keep(a, m->buffer);
  m->barred[h] = 1;
  m->lost = true;
  if (m->used != NULL) m->used->need[h] = m->used->space[h] = 0;
}

void vm_arena_end(vm_frame *vf) {
  vm_arena *m = vf->arena;
  if (!m->begun) return;
  m->begun = false;
  const vm_layout *l = m->used;
  for (int64_t h = 0; l != NULL && h < n_homes_of(vf); h++) {
    cell *c = cell_of_home(vf, h);
    damo_array *a = (damo_array *)*c;
    if (l->need[h] == 0 || a == NULL || a->obj.kind != OBJ_ARRAY || a->buf == NULL) continue;
    if (array_is_part(a) && is_alone(a)) continue;
    if (array_is_part(a)) hand_over(m, a, h);
    empty_cell(c);
  }
  if (m->learning) end_learning(vf);
  if (m->lost) arena_drop(m);
}

/* Where lives have ended before thunk k, frees the memory of homes beside the arena, and while learning the places in
 * it. */
static void free_dead_homes(vm_frame *vf, int32_t k) {
  const vm_program *p = vf->program;
  vm_arena *m = vf->arena;
  for (; m->swept < p->n_homes && p->homes[p->by_death[m->swept]].death < k; m->swept++) {
    const int32_t h = p->by_death[m->swept];
    cell *c = cell_of_home(vf, h);
    const damo_array *a = (const damo_array *)*c;
    if (m->learning && m->used->space[h] > 0) gap_release(&m->gaps, m->used->offset[h], m->used->space[h]);
    if (m->used->need[h] == 0 || a == NULL || a->obj.kind != OBJ_ARRAY || array_is_part(a)) continue;
    const int32_t g = p->homes[h].group;
    for (int32_t i = p->alias_first[g]; i < p->alias_first[g + 1]; i++) empty_cell(&vf->frame.cells[p->aliases[i]]);
    if (a->buf != NULL && m->outside >= a->buf->nbytes) m->outside -= a->buf->nbytes;
    empty_cell(c);
  }
}

/* Whether the call has a layout; makes the frame's vm_arena if need be. */
static bool has_layout(vm_frame *vf) {
  if (vf->arena == NULL) {
    vf->arena = mem_calloc(ctx_of(vf), sizeof *vf->arena + (size_t)n_homes_of(vf));
    if (vf->arena == NULL) ctx_clear_error(ctx_of(vf));
  }
  if (vf->arena != NULL && !vf->arena->begun) vm_arena_begin(vf);
  return vf->arena != NULL && vf->arena->used != NULL;
}

/* The home's part of the arena, as an array for output i. */
static damo_array *take_part(vm_frame *vf, const thunk *t, int i, int32_t h, damo_dtype dtype, int ndim,
                             const int64_t *shape) {
  vm_arena *m = vf->arena;
  const vm_layout *l = m->used;
  damo_array *a = part_in(vf, h);
  if (a != NULL && is_alone(a)) {
    array_refit(a, shape);
    return a;
  }
  a = array_part_new(m->buffer, l->offset[h], l->space[h], dtype, ndim, shape);
  if (a != NULL) thunk_set_out(t, &vf->frame, i, (damo_obj *)a);
  return a;
}

/* An array that the shape asks for; false where it is too large for any. */
static bool bytes_of_shape(damo_dtype dtype, int ndim, const int64_t *shape, size_t *bytes) {
  *bytes = dtype_size(dtype);
  for (int k = 0; k < ndim; k++) {
    if (shape[k] < 0 || !size_mul(*bytes, (size_t)shape[k], bytes)) return false;
  }
  return true;
}

/* frame.make_out */
static damo_array *arena_make_out(frame *f, const thunk *t, int i, damo_dtype dtype, int ndim, const int64_t *shape) {
  vm_frame *vf = (vm_frame *)f;
  const int32_t h = vf->program->home_of[t->out[i]];
  size_t bytes;
  if (h < 0 || !bytes_of_shape(dtype, ndim, shape, &bytes)) return thunk_out_own(t, f, i, dtype, ndim, shape);
  if ((bytes < HOME_LEAST && part_in(vf, h) == NULL) || !has_layout(vf) || vf->arena->barred[h])
    return thunk_out_own(t, f, i, dtype, ndim, shape);
  vm_arena *m = vf->arena;
  damo_array *part = part_in(vf, h);
  if (part != NULL && !is_alone(part)) {
    hand_over(m, part, h);
    return thunk_out_own(t, f, i, dtype, ndim, shape);
  }
  if (bytes > 0 && bytes <= m->used->space[h]) return take_part(vf, t, i, h, dtype, ndim, shape);
  if (bytes >= HOME_LEAST && bytes > m->used->need[h]) {
    m->used->need[h] = bytes;
    m->used->grew = true;
  }
  free_dead_homes(vf, t->number);
  if (m->learning && bytes >= HOME_LEAST && m->used->space[h] == 0 && learn_place(vf, h, bytes, shape))
    return take_part(vf, t, i, h, dtype, ndim, shape);
  damo_array *a = thunk_out_own(t, f, i, dtype, ndim, shape);
  if (a != NULL) m->outside += a->buf->nbytes;
  return a;
}

/* ---- Frames ------------------------------------------------------------------------------------------------------ */

void vm_arena_attach(vm_frame *vf) {
  if (vf->program->n_homes > 0 && !ctx_stress(ctx_of(vf), STRESS_MOVE)) vf->frame.make_out = arena_make_out;
}

void vm_arena_trim(vm_frame *vf) {
  drop_workspaces(vf, 0);
  if (vf->arena != NULL) arena_bound(vf, 0);
}

void vm_arena_free(vm_frame *vf) {
  vm_arena *m = vf->arena;
  if (m == NULL) return;
  m->begun = m->used != NULL;
  vm_arena_end(vf);
  drop_parts(vf);
  m->used = NULL;
  while (m->layouts != NULL) layout_drop(vf, m->layouts);
  damo_release(m->buffer);
  if (m->gaps.at != NULL) mem_free(ctx_of(vf), m->gaps.at, gap_bytes(vf));
  mem_free(ctx_of(vf), m, sizeof *m + (size_t)n_homes_of(vf));
  vf->arena = NULL;
}

size_t vm_arena_held(const vm_frame *vf) {
  const vm_arena *m = vf->arena;
  return m != NULL ? arena_bytes(m) + m->outside : 0;
}

bool vm_arena_holds(const vm_frame *vf, int32_t slot) {
  const vm_arena *m = vf->arena;
  if (m == NULL || m->used == NULL) return false;
  const int32_t h = vf->program->home_of[slot];
  return h >= 0 && m->used->need[h] > 0;
}
