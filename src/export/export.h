/* export: compiled Functions as C source.
 *
 * In: a Function, a name, shapes of its inputs. Out: NAME.c, NAME.h and, where constants are large, NAME.bin. Always
 * holds: nothing is written unless all of it can be; the code calls neither damo nor malloc; the Function is unchanged.
 */
#ifndef DAMO_EXPORT_H
#define DAMO_EXPORT_H

#include "compile/compile.h"

typedef struct export_options {
  const char *name, *dir;
  const int64_t *const *shapes; /* of each input; NULL, or an entry NULL: its Type's, which then must be static */
  const int *ndims;
  int64_t n_shapes;
  bool single; /* float64 becomes float32 */
} export_options;

typedef struct export_texts {
  strbuf source, header, data;
} export_texts;

/* Writes the texts; export_clear must follow. */
damo_status export_make(damo_function *f, const export_options *o, export_texts *out);
void export_clear(export_texts *t);
/* The same, into files. *has_data: there is a NAME.bin. */
damo_status export_files(damo_function *f, const export_options *o, bool *has_data);

#endif
