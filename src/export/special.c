/* special.c: the texts of special functions, of tables and of draws, which a file carries where it calls one. */
#include "export_int.h"

static const char *const special_base_text[] = {
#include "special_base_text.inc"
    NULL};
static const char *const special_normal_text[] = {
#include "special_normal_text.inc"
    NULL};
static const char *const special_gamma_text[] = {
#include "special_gamma_text.inc"
    NULL};
static const char *const special_beta_text[] = {
#include "special_beta_text.inc"
    NULL};
static const char *const special_elliptic_text[] = {
#include "special_elliptic_text.inc"
    NULL};
static const char *const special_zeta_text[] = {
#include "special_zeta_text.inc"
    NULL};
static const char *const special_bessel_text[] = {
#include "special_bessel_text.inc"
    NULL};
static const char *const special_integral_text[] = {
#include "special_integral_text.inc"
    NULL};
static const char *const special_airy_text[] = {
#include "special_airy_text.inc"
    NULL};
static const char *const special_kummer_text[] = {
#include "special_kummer_text.inc"
    NULL};
static const char *const special_table_text[] = {
#include "special_table_text.inc"
    NULL};
static const char *const draw_base_text[] = {
#include "draw_base_text.inc"
    NULL};
static const char *const draw_entries_text[] = {
#include "draw_entries_text.inc"
    NULL};

void export_specials(const c_file *file, strbuf *out) {
  static const char *const *const texts[C_N_SPECIALS] = {
      [C_SPECIAL_BASE] = special_base_text,         [C_SPECIAL_NORMAL] = special_normal_text,
      [C_SPECIAL_GAMMA] = special_gamma_text,       [C_SPECIAL_BETA] = special_beta_text,
      [C_SPECIAL_ELLIPTIC] = special_elliptic_text, [C_SPECIAL_ZETA] = special_zeta_text,
      [C_SPECIAL_BESSEL] = special_bessel_text,     [C_SPECIAL_INTEGRAL] = special_integral_text,
      [C_SPECIAL_AIRY] = special_airy_text,         [C_SPECIAL_KUMMER] = special_kummer_text,
      [C_SPECIAL_TABLE] = special_table_text,       [C_SPECIAL_DRAW] = draw_base_text,
      [C_SPECIAL_DRAW_ENTRY] = draw_entries_text};
  uint32_t groups = file->specials;
  if (groups == 0) return;
  const uint32_t functions = groups & ((1u << C_SPECIAL_TABLE) - 1); /* special functions */
  if (functions != 0) groups |= 1u << C_SPECIAL_BASE;
  if ((functions >> C_SPECIAL_INTEGRAL & 1) != 0) groups |= 1u << C_SPECIAL_ZETA;
  if ((functions >> C_SPECIAL_AIRY & 1) != 0) groups |= 1u << C_SPECIAL_BESSEL;
  if (functions >> C_SPECIAL_GAMMA != 0) groups |= 1u << C_SPECIAL_GAMMA | 1u << C_SPECIAL_NORMAL;
  strbuf_add(out,
             "#include <float.h>\n#include <stdbool.h>\n#include <stddef.h>\n\n"
             "#if defined(__GNUC__)\n#define SPECIAL_MAY __attribute__((unused))\n"
             "#else\n#define SPECIAL_MAY\n#endif\n\n");
  for (int g = 0; g < C_N_SPECIALS; g++)
    for (int i = 0; (groups >> g & 1) != 0 && texts[g][i] != NULL; i++) strbuf_add(out, texts[g][i]);
}
