/* map: a hash map by open addressing with linear probing. A removed cell stays as a tombstone until the table is
 * rebuilt. At most three quarters of the cells are live or tombstones. */
#include "base.h"

#define MAP_MIN_CAP 8

static size_t map_slot_of(uintptr_t key, size_t cap) {
  uint64_t h = (uint64_t)key * 0x9e3779b97f4a7c15ULL;
  return (size_t)((h ^ (h >> 32)) & (cap - 1));
}

/* The cell of the key, or NULL. */
static map_cell *map_find_cell(const map *m, uintptr_t key) {
  if (!m->cap) return NULL;
  for (size_t i = map_slot_of(key, m->cap);; i = (i + 1) & (m->cap - 1)) {
    if (m->cells[i].key == key) return &m->cells[i];
    if (m->cells[i].key == 0) return NULL;
  }
}

/* The first tombstone or free cell for a key that is not in the table. */
static map_cell *find_free(map_cell *cells, size_t cap, uintptr_t key) {
  size_t i = map_slot_of(key, cap);
  while (cells[i].key > MAP_TOMBSTONE) i = (i + 1) & (cap - 1);
  return &cells[i];
}

static damo_status map_grow(map *m) {
  size_t cap = m->cap ? m->cap : MAP_MIN_CAP, bytes;
  if (m->n * 2 >= m->cap && m->cap && !size_mul(cap, 2, &cap)) return ctx_fail_memory(m->ctx);
  if (!size_mul(cap, sizeof(map_cell), &bytes)) return ctx_fail_memory(m->ctx);
  map_cell *cells = mem_calloc(m->ctx, bytes);
  if (!cells) return DAMO_EMEMORY;
  for (size_t i = 0; i < m->cap; i++) {
    if (m->cells[i].key > MAP_TOMBSTONE) *find_free(cells, cap, m->cells[i].key) = m->cells[i];
  }
  if (m->cells) mem_free(m->ctx, m->cells, m->cap * sizeof(map_cell));
  m->cells = cells;
  m->cap = cap;
  m->used = m->n;
  return DAMO_OK;
}

damo_status map_put(map *m, const void *key, uintptr_t value) {
  uintptr_t k = (uintptr_t)key;
  damo_assert(k > MAP_TOMBSTONE);
  map_cell *entry = map_find_cell(m, k);
  if (entry) {
    entry->value = value;
    return DAMO_OK;
  }
  if ((m->used + 1) * 4 > m->cap * 3) DAMO_TRY(map_grow(m));
  entry = find_free(m->cells, m->cap, k);
  if (entry->key == 0) m->used++;
  m->n++;
  damo_assert(m->used < m->cap && m->n <= m->used);
  *entry = (map_cell){.key = k, .value = value};
  return DAMO_OK;
}

bool map_get(const map *m, const void *key, uintptr_t *value) {
  const map_cell *entry = (uintptr_t)key > MAP_TOMBSTONE ? map_find_cell(m, (uintptr_t)key) : NULL;
  if (!entry) return false;
  if (value) *value = entry->value;
  return true;
}

bool map_remove(map *m, const void *key) {
  map_cell *entry = (uintptr_t)key > MAP_TOMBSTONE ? map_find_cell(m, (uintptr_t)key) : NULL;
  if (!entry) return false;
  *entry = (map_cell){.key = MAP_TOMBSTONE};
  m->n--;
  return true;
}

void map_clear(map *m) {
  if (m->cells) mem_free(m->ctx, m->cells, m->cap * sizeof(map_cell));
  map_init(m, m->ctx);
}

uint64_t hash_bytes(uint64_t h, const void *data, size_t n) {
  const unsigned char *p = data;
  size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t word = 0;
    for (int b = 0; b < 8; b++) word |= (uint64_t)p[i + (size_t)b] << (8 * b);
    h = hash_mix(h, word);
  }
  uint64_t tail = 0;
  for (int b = 0; i < n; i++, b++) tail |= (uint64_t)p[i] << (8 * b);
  return hash_mix(h, tail ^ ((uint64_t)n << 56));
}
