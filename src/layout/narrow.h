/* Lists of vertices in fewer bits, for the way over a link: what a warp of a GPU makes whole again in a stride
 * (kernels/gpu/decompress.h).
 *
 * Targets go in groups of 1024, whatever list they are in, and groups in blocks of 32. Of every target the difference
 * to the one before it is kept, its sign in the lowest bit. A block has two widths: most differences are of neighbours
 * in a sorted list and take few bits, some, of other lists' begins and of far neighbours, take many; a bit tells which.
 * Words of 32 bits, lowest bits first:
 *
 *     the target before the group's first
 *     16 words: of every block the two widths, 6 bits each, in a half word
 *     for every block whose widths differ a word: the bits of those that take the larger width
 *     for every block its differences, from a word's begin on
 */
#ifndef TD_LAYOUT_NARROW_H
#define TD_LAYOUT_NARROW_H

#include "base/status.h"

enum {
    TD_NARROW_BLOCK = 32,
    TD_NARROW_GROUP = 1024,
    TD_NARROW_HEAD = 1 + TD_NARROW_GROUP / TD_NARROW_BLOCK / 2, /* words */
    TD_NARROW_MOST = TD_NARROW_HEAD + TD_NARROW_GROUP,          /* words that a group takes at most */
};

/* Writes the group of up to 1024 targets that begins here, behind the target `before`; returns its words. out NULL:
 * nothing is written. */
uint32_t td_narrow_group(const uint32_t *targets, uint32_t count, uint32_t before, uint32_t *out);

#endif
