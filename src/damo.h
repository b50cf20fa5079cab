/* damo.h: the public C API of damo, a numerical engine that compiles expression graphs.
 *
 * Rules that hold for every function here
 *
 * Names.     `damo_<noun>_<verb>`. `new` and `make_` return an owned reference, `get` a borrowed one, `take` steals its
 *            argument, `is_`/`has_` ask a question. Everything not declared here is private.
 * Errors.    A function returns a damo_status, or a pointer that is NULL on failure. The error object (kind, message,
 *            node, trace) is left in the context until the next failing call: damo_error_*. Results that go through an
 *            `out` argument are untouched on failure. Nothing here prints, exits, aborts or raises.
 * Arguments. An object of the wrong kind or of another context is a type error; a NULL argument that is required and a
 *            negative count are value errors. A query of NULL returns NULL, 0, false or DAMO_N_DTYPES; a query of an
 *            object trusts the C type of its pointer.
 * Ownership. Objects carry a reference count. Arguments are borrowed unless the name says `take`; what is returned is
 *            owned unless the name says `get`. damo_release takes NULL.
 * Options.   A struct of options begins with its size, sizeof the struct, so that a program built with an older damo.h
 *            keeps working: fields that it does not have count as 0. A field that is 0 means the default that its
 *            comment gives; NULL instead of the struct means all defaults.
 * Threads.   One thread at a time uses a context and what belongs to it. Two contexts share nothing, except for the
 *            compiled programs of damo_function_copy_to and of tokens. damo_compile_options has the threads that a call may use.
 * Numbers.   Axes, positions and indices are 0-based in C (the Lua side is 1-based, and so are the values that an index
 *            operand of an op holds). Strides are in bytes.
 *
 * Programs include this header alone; it is cut into the parts below, each of which stands by itself.
 */
#ifndef DAMO_H
#define DAMO_H

#define DAMO_VERSION "0.1.0"

#include "damo/array.h"
#include "damo/context.h"
#include "damo/file.h"
#include "damo/function.h"
#include "damo/graph.h"
#include "damo/lua.h"

#endif
