/* files: blocks of arrays at their places in a file that all ranks write or read together.
 *
 * A file holds whole arrays in C order; a rank has a block of some of them: a range of positions along one axis. What
 * blocks hold is summed up by a hash that does not depend on how an array is split: the sum, modulo 2^64, of a mix of
 * each element's bits with its number in the whole array.
 */
#ifndef DAMO_MPI_FILES_H
#define DAMO_MPI_FILES_H

#include "world.h"

/* Adds the functions below to the module's table at the top of the stack. Each gives nil and a message on failure, for
 * all ranks to agree on.
 *
 *     file_create(path, bytes)            a new file of that size, zeros
 *     file_size(path)                     bytes
 *     file_put(path, offset, string)      writes the bytes there
 *     file_get(path, offset, n)           the n bytes there
 *     file_sync(path)                     returns when the bytes are on the disk
 *     file_publish(from, to)              renames, and syncs the folder
 *     file_remove(path)
 *     hash(string)                        16 hexadecimal digits
 *     add_hashes(list)                    the hash of an array from those of its blocks
 *     block_hash(array, shape, axis, start)                  the block begins at `start` of `axis` (from 1) of `shape`
 *     block_put(path, offset, array, shape, axis, start)     writes the block of the array that begins at the offset
 *     block_get(path, offset, dtype, shape, axis, start, n)  reads one: the array and its hash
 */
void files_register(lua_State *L);

#endif
