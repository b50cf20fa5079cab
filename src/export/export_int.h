/* export_int.h: private to export/. */
#ifndef DAMO_EXPORT_EXPORT_INT_H
#define DAMO_EXPORT_EXPORT_INT_H

#include "export.h"
#include "graph/c_emit.h"
#include "sparse/sparse.h"

/* names.c: a value error unless the name is a C identifier that neither C nor C++ nor the file uses. */
damo_status export_check_name(damo_ctx *ctx, const char *name);
/* A value error if that name is defined by `text`, C source in which lines of definitions begin with "static ",
 * "typedef ", "PLAIN_FN " or, at the end of a type, "}". */
damo_status export_check_clash(damo_ctx *ctx, const char *name, const char *text);

/* special.c: the texts of special functions that the file calls, with those that they call. */
void export_specials(const c_file *file, strbuf *out);

/* program.c */
/* Writes the statements of all thunks of the program; e->values has its inputs. */
damo_status export_program(c_emit *e, const fn_program *p);
/* Result k: written where its memory is made, if it can be, else copied. */
void export_output(c_emit *e, int32_t k, c_value *v);
/* Lays out the work memory; returns its bytes in *bytes. */
damo_status export_layout(c_emit *e, size_t *bytes);
/* The declarations of the pointers that the body uses. */
damo_status export_declare(c_emit *e, strbuf *out);
/* c_file.function. */
damo_status export_function(c_emit *e, const damo_function *f, const c_value *const *in, c_function *out);

#endif
