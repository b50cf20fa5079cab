/* names.c: what names of exported functions may be. */
#include <ctype.h>
#include <string.h>

#include "export_int.h"

/* Keywords of C and C++, and names that the file or its libraries use. */
static const char reserved_words[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t"
    " class compl concept const const_cast consteval constexpr constinit continue co_await co_return co_yield"
    " decltype default delete do double dynamic_cast else enum explicit export extern false float for friend"
    " goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private"
    " protected public register reinterpret_cast requires restrict return short signed sizeof static"
    " static_assert static_cast struct switch template this thread_local throw true try typedef typeid"
    " typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq main NULL NAN"
    " INFINITY in out state data work linux unix errno signbit isnan isinf isfinite memcpy memmove memset"
    " memcmp memchr strcpy strlen strcmp malloc free calloc realloc exit abort printf puts abs div index"
    " signal read write open close select time remove rename UNROLLED APART";
/* The same with f and l behind them. */
static const char reserved_math[] =
    " acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log"
    " log10 log1p log2 logb modf scalbn cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint"
    " rint lrint round lround trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin fma"
    " gamma j0 j1 jn y0 y1 yn";

/* Whether the n characters are one of the words of a list. */
static bool export_has_word(const char *list, const char *name, size_t n) {
  for (const char *p = list; *p != '\0'; p += strcspn(p, " ")) {
    p += strspn(p, " ");
    if (strcspn(p, " ") == n && memcmp(name, p, n) == 0) return true;
  }
  return false;
}

damo_status export_check_name(damo_ctx *ctx, const char *name) {
  bool fits = name != NULL && isalpha((unsigned char)name[0]) && strlen(name) < 200;
  for (const char *p = name; fits && *p != '\0'; p++)
    fits = (isalnum((unsigned char)*p) || *p == '_') && (unsigned char)*p < 128;
  if (!fits || strstr(name, "__") != NULL)
    return ctx_fail(ctx, DAMO_EVALUE,
                    "export_c: the name '%.60s' is no C identifier (a letter, then letters, digits and single '_')",
                    name != NULL ? name : "");
  const size_t n = strlen(name);
  const bool suffixed = name[n - 1] == 'f' || name[n - 1] == 'l';
  if (export_has_word(reserved_words, name, n) || export_has_word(reserved_math, name, n) ||
      (suffixed && export_has_word(reserved_math, name, n - 1)))
    return ctx_fail(ctx, DAMO_EVALUE, "export_c: the name '%s' is a keyword or a reserved name of C or C++", name);
  if (n > 2 && strcmp(name + n - 2, "_t") == 0)
    return ctx_fail(ctx, DAMO_EVALUE, "export_c: the name '%s' is reserved: it ends in _t", name);
  return DAMO_OK;
}

damo_status export_check_clash(damo_ctx *ctx, const char *name, const char *text) {
  const size_t n = strlen(name);
  for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, "static ", 7) != 0 && strncmp(line, "typedef ", 8) != 0 && strncmp(line, "PLAIN_FN ", 9) != 0 &&
        *line != '}')
      continue;
    const char *end = line + strcspn(line, "([=;\n"), *start;
    while (end > line && end[-1] == ' ') end--;
    for (start = end; start > line && (isalnum((unsigned char)start[-1]) || start[-1] == '_');) start--;
    if ((size_t)(end - start) == n && memcmp(start, name, n) == 0)
      return ctx_fail(ctx, DAMO_EVALUE, "export_c: the name '%s' is that of a function or a type that the file needs",
                      name);
  }
  return DAMO_OK;
}
