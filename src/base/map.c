/* map: a hash map by open addressing with linear probing, at most three quarters full. A removal moves later entries
 * back, so that no mark of it stays: the size of the table depends on how many entries it held, not on their addresses. */
#include <string.h>

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

/* The free cell for a key that is not in the table. */
static map_cell *find_free(map_cell *cells, size_t cap, uintptr_t key) {
  size_t i = map_slot_of(key, cap);
  while (cells[i].key != 0) i = (i + 1) & (cap - 1);
  return &cells[i];
}

static damo_status map_grow(map *m) {
  size_t cap = MAP_MIN_CAP, bytes;
  if (m->cap && !size_mul(m->cap, 2, &cap)) return ctx_fail_memory(m->ctx);
  if (!size_mul(cap, sizeof(map_cell), &bytes)) return ctx_fail_memory(m->ctx);
  map_cell *cells = mem_calloc(m->ctx, bytes);
  if (!cells) return DAMO_EMEMORY;
  for (size_t i = 0; i < m->cap; i++) {
    if (m->cells[i].key != 0) *find_free(cells, cap, m->cells[i].key) = m->cells[i];
  }
  if (m->cells) mem_free(m->ctx, m->cells, m->cap * sizeof(map_cell));
  m->cells = cells;
  m->cap = cap;
  return DAMO_OK;
}

damo_status map_put(map *m, const void *key, uintptr_t value) {
  uintptr_t k = (uintptr_t)key;
  damo_assert(k != 0);
  if (m->cap == 0) DAMO_TRY(map_grow(m));
  size_t i = map_slot_of(k, m->cap);
  while (m->cells[i].key != k && m->cells[i].key != 0) i = (i + 1) & (m->cap - 1);
  map_cell *c = &m->cells[i];
  if (c->key == 0) {
    if ((m->n + 1) * 4 > m->cap * 3) {
      DAMO_TRY(map_grow(m));
      c = find_free(m->cells, m->cap, k);
    }
    c->key = k;
    m->n++;
  }
  c->value = value;
  return DAMO_OK;
}

bool map_get(const map *m, const void *key, uintptr_t *value) {
  const map_cell *entry = key != NULL ? map_find_cell(m, (uintptr_t)key) : NULL;
  if (!entry) return false;
  if (value) *value = entry->value;
  return true;
}

bool map_remove(map *m, const void *key) {
  map_cell *entry = key != NULL ? map_find_cell(m, (uintptr_t)key) : NULL;
  if (!entry) return false;
  /* An entry further along its run of full cells may be moved to the hole unless its search starts after the hole. */
  const size_t last = m->cap - 1;
  size_t hole = (size_t)(entry - m->cells);
  for (size_t i = (hole + 1) & last; m->cells[i].key != 0; i = (i + 1) & last) {
    const size_t start = map_slot_of(m->cells[i].key, m->cap);
    if (((i - start) & last) < ((i - hole) & last)) continue;
    m->cells[hole] = m->cells[i];
    hole = i;
  }
  m->cells[hole] = (map_cell){.key = 0};
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
    uint64_t word;
    memcpy(&word, p + i, sizeof word);
    h = hash_mix(h, word);
  }
  uint64_t tail = 0;
  for (int b = 0; i < n; i++, b++) tail |= (uint64_t)p[i] << (8 * b);
  return hash_mix(h, tail ^ ((uint64_t)n << 56));
}
