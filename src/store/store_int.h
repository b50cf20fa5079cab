/* store_int.h: private to store/. */
#ifndef DAMO_STORE_STORE_INT_H
#define DAMO_STORE_STORE_INT_H

#include "sparse/sparse.h"
#include "store.h"

#define STORE_MAGIC IO_GRAPH_MAGIC
#define STORE_VERSION 1
#define STORE_HEAD 20 /* magic, version, size */
#define STORE_TAIL 8  /* the sum */

enum { STORED_NATIVE, STORED_RECIPE, STORED_FOREIGN, STORED_N };

/* The flags of an input, of an output. */
enum { INPUT_MUTABLE = 1, INPUT_STRICT = 2, INPUT_VALUE = 4, INPUT_UPDATE = 8 };
enum { OUTPUT_BORROW = 1 };

/* Class number i of damo's own, NULL past the end (classes.c). */
const op_def *store_class_at(int i);

#endif
