/* Compressed targets, for transfers over a link. The format lets a warp of a GPU decompress a group
 * (kernels/gpu/decompress.h).
 *
 * The targets of all lists are divided into groups of 1024, and groups into blocks of 32. A target is stored as its
 * difference to the previous one, with the sign in the lowest bit. A block has two widths: most differences are between
 * neighbours in a sorted list and take few bits; those at the begin of a list and to distant neighbours take many. One
 * bit per difference selects its width. Words of 32 bits, lowest bits first:
 *
 *     the target before the group's first
 *     16 words: for every block the two widths, 6 bits each, in a half word
 *     a word for every block whose widths differ: the bitmap of the differences with the larger width
 *     the differences of every block, starting at a word
 */
#ifndef TD_LAYOUT_COMPRESSED_H
#define TD_LAYOUT_COMPRESSED_H

#include "base/status.h"

#include <stdbool.h>

enum {
    TD_COMPRESS_BLOCK = 32,
    TD_COMPRESS_GROUP = 1024,
    TD_COMPRESS_HEAD = 1 + TD_COMPRESS_GROUP / TD_COMPRESS_BLOCK / 2, /* words */
    TD_COMPRESS_MOST = TD_COMPRESS_HEAD + TD_COMPRESS_GROUP,          /* words that a group takes at most */
};

/* Compresses a group of up to 1024 targets; `before` is the target before the first. Returns its number of words. out
 * NULL: only computes the number. */
uint32_t td_compress_group(const uint32_t *targets, uint32_t count, uint32_t before, uint32_t *out);

/* Expands a group of `length` words into its first `count` targets. False: the words are no group of that length, so that
 * a kernel would read beyond them. */
bool td_expand_group(const uint32_t *words, uint32_t length, uint32_t count, uint32_t *targets);

#endif
