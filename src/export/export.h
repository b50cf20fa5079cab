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
  damo_array *const
      *shared; /* values of the shared Variables, whose shapes count, and which name_state_init does not set;
                              * NULL: those that f has */
} export_options;

/* What a result is. */
typedef struct export_result {
  damo_dtype dtype;
  int ndim;
  int64_t shape[DAMO_MAX_NDIM];
} export_result;

typedef struct export_texts {
  strbuf source, header, data;
  export_result *results; /* one an output */
  int64_t *state_at;      /* of each shared Variable: where its value lies in the state */
  int64_t n_results, n_shared;
  size_t work, state; /* bytes */
} export_texts;

/* Writes the texts; export_clear must follow. */
damo_status export_make(damo_function *f, const export_options *o, export_texts *out);
void export_clear(export_texts *t);
/* The same, into files. *has_data: there is a NAME.bin. */
damo_status export_files(damo_function *f, const export_options *o, bool *has_data);

/* As compile_function, by a C compiler: a Function of one node, which calls what the compiler has made of the exported
 * Function for the shapes of its arguments. dir: an existing folder where libraries are kept by a hash of their source;
 * NULL: none is kept. NULL on failure. */
damo_function *export_linked(damo_ctx *ctx, const in_spec *in, int64_t n_in, const out_spec *out, int64_t n_out,
                             const compile_options *options, const char *dir);
/* The Function of the virtual machine that the class of a linked Function's Op (OBJ_LINKED) holds. */
damo_function *export_linked_from(const damo_obj *linked);

#endif
