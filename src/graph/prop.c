/* prop.c: equality, hash and text of property values. Recursion is bounded by the nesting of lists in a property, as a
 * user writes it; it does not follow a graph. */
#include "graph_int.h"

#include <string.h>

bool prop_equal(const prop_value *a, const prop_value *b) {
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case PROP_NIL: return true;
    case PROP_BOOL:
    case PROP_INT: return a->u.i == b->u.i;
    case PROP_NUM: return memcmp(&a->u.f, &b->u.f, sizeof a->u.f) == 0; /* nan equals itself, -0.0 is not 0.0 */
    case PROP_STR: return strcmp(a->u.s, b->u.s) == 0;
    case PROP_TYPE: return a->u.type == b->u.type;
    case PROP_OP: return a->u.op == b->u.op;
    case PROP_VAR: return a->u.var == b->u.var;
    case PROP_LIST:
      if (a->n != b->n) return false;
      for (int i = 0; i < a->n; i++) {
        if (!prop_equal(&a->u.list[i], &b->u.list[i])) return false;
      }
      return true;
  }
  return false;
}

uint64_t prop_hash(uint64_t h, const prop_value *v) {
  h = hash_mix(h, (uint64_t)v->kind);
  switch (v->kind) {
    case PROP_NIL: break;
    case PROP_BOOL:
    case PROP_INT: h = hash_mix(h, (uint64_t)v->u.i); break;
    case PROP_NUM: h = hash_bytes(h, &v->u.f, sizeof v->u.f); break;
    case PROP_STR: h = hash_bytes(h, v->u.s, strlen(v->u.s)); break;
    case PROP_TYPE: h = hash_mix(h, (uint64_t)(uintptr_t)v->u.type); break;
    case PROP_OP: h = hash_mix(h, (uint64_t)(uintptr_t)v->u.op); break;
    case PROP_VAR: h = hash_mix(h, (uint64_t)(uintptr_t)v->u.var); break;
    case PROP_LIST:
      for (int i = 0; i < v->n; i++) h = prop_hash(h, &v->u.list[i]);
      break;
  }
  return h;
}

void prop_format(strbuf *out, const prop_value *v) {
  char text[320];
  switch (v->kind) {
    case PROP_NIL: strbuf_add(out, "nil"); break;
    case PROP_BOOL: strbuf_add(out, v->u.i ? "true" : "false"); break;
    case PROP_INT: strbuf_addf(out, "%lld", (long long)v->u.i); break;
    case PROP_NUM: strbuf_addf(out, "%.14g", v->u.f); break;
    case PROP_STR: strbuf_add(out, v->u.s); break;
    case PROP_TYPE: strbuf_add(out, type_format(text, sizeof text, v->u.type)); break;
    case PROP_OP: op_format(out, v->u.op); break;
    case PROP_VAR: strbuf_add(out, var_format(text, sizeof text, v->u.var)); break;
    case PROP_LIST:
      strbuf_add(out, "{");
      for (int i = 0; i < v->n; i++) {
        if (i > 0) strbuf_add(out, ", ");
        prop_format(out, &v->u.list[i]);
      }
      strbuf_add(out, "}");
      break;
  }
}
