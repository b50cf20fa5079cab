/* store: graphs as bytes, in files and in memory.
 *
 * In: the Variables of a graph, or a Function. Out: bytes, or a graph made of bytes (owned). Always holds: the same graph
 * gives the same bytes on every machine; reading runs no code of the file, and takes memory in proportion to its size;
 * an Op's properties are judged when it is made, and nodes are made by their Ops, which check operands and infer Types, so
 * that a graph that was read is sound, whoever wrote the bytes.
 *
 * The bytes. Magic, version (4 bytes), size of all (8), records, a sum over all before it (8), little-endian. Records
 * refer to earlier ones by their numbers, each kind counting for itself, so that a file is read in one pass. Integers in
 * records are of 7 bits a byte, the lowest ones first, the last byte below 128; a text is its length and its bytes.
 *   T  a Type: kind, dtype, rank, dimensions + 1 (0: unknown), format, index dtype, 1 + pattern (a value), reason
 *   V  a value (sparse/bytes.h), preceded by its number of bytes
 *   L  lines of the user: how many nodes they made, text
 *   C  a class: 0 of damo, 1 with a recipe, 2 of a script or a host; name; names of properties
 *   (  the Variables that follow belong to the inner graph of the Op whose record ends it
 *   O  an Op: its class; with a recipe the inputs and outputs of its inner graph; its properties or parts
 *   S  a shared Variable: Type, name, value
 *   X  a Variable without a node: a Type, kind, name, value; or a shared Variable
 *   N  a node: its Op, 1 + lines, inputs, outputs with Types and names. A Variable is referred to by how many of its
 *      graph there are after it
 *   E  the end: inputs, outputs, updates, default updates
 */
#ifndef DAMO_STORE_H
#define DAMO_STORE_H

#include "compile/compile.h"
#include "graph/recipe.h"
#include "io/io.h"

/* A graph to be written, or one that was read. All is owned. */
struct damo_graph {
  damo_ctx *ctx;
  in_spec *in;
  out_spec *out;
  int64_t n_in, n_out;
  ptrvec update_of, update_to; /* shared Variables and their new values */
  ptrvec shared;               /* of a graph that was read: the shared Variables in the order of the file */
  bool handed_on;              /* whoever has its Variables drops their default updates, which may hold them in turn */
  bool foreign;                /* of a graph that was read: it has Ops of a script or a host */
  bool all_updates;            /* it is a Function's: other default updates than those listed are not written */
};

/* A graph with n_in inputs and no outputs, to be filled. */
damo_graph *store_graph_new(damo_ctx *ctx, int64_t n_in);
void store_graph_free(damo_graph *g);
damo_status store_set_n_outputs(damo_graph *g, int64_t n); /* once */
/* Each takes a copy of what the spec holds. A type error where an update is of a Type that compiling refuses. */
damo_status store_set_input(damo_graph *g, int64_t i, const in_spec *spec);
damo_status store_set_output(damo_graph *g, int64_t i, const out_spec *spec);
damo_status store_add_update(damo_graph *g, damo_var *of, damo_var *to);
/* What f was compiled from. A state error if f was freed, or holds no such graph, as a copy in another context. */
damo_graph *store_graph_of(const damo_function *f);

/* A type error that names the Variable or the Op if something can't be written; then there is no file. Without lines
 * the user's lines are left out. */
damo_status store_write(const damo_graph *g, bool lines, const io_to *to);

/* Where Ops come from that are not damo's. */
typedef struct store_class {
  const op_def *def;
  damo_obj *owner; /* of def, or NULL */
  damo_op *op;     /* of a class with one Op: it; else NULL */
} store_class;
typedef struct store_env {
  /* Finds the class of that name; false: there is none. NULL: there are none. */
  bool (*find)(void *user, const char *name, store_class *out);
  void *user;
  const op_recipe *const *recipes; /* of the layers above, ended by NULL */
} store_env;

/* An io error for bytes that are damaged, or that an unknown version has written; a value error for a class that is
 * not there. NULL on failure. */
damo_graph *store_read(damo_ctx *ctx, const io_from *from, const store_env *env);
bool store_is_graph(const void *bytes, size_t n);

#endif
