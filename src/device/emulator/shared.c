/* Shared memory: an arena per block. A line of source that asks for some gets it
 * once, the same for every thread of the block, filled with a pattern that is a NaN
 * as a float and out of every range as an index, between canaries that are looked
 * at whenever the block meets and when it ends. */
#include "device/emulator/machine.h"
#include "device/emulator/sanitizer.h"

#include <string.h>

enum { CANARY_BYTE = 0xc5, DYNAMIC = -1 };

static void fill_undefined(char *memory, uint32_t bytes)
{
    static const uint32_t undefined = UINT32_C(0xfff8abab);
    uint32_t at = 0;
    for (; at + 4 <= bytes; at += 4) memcpy(memory + at, &undefined, 4);
    memcpy(memory + at, &undefined, bytes - at);
}

/* The canary before the first piece; each piece brings the one behind it. */
void td_emu_shared_begin(td_emu_block *block)
{
    block->pieces = 0;
    block->shared_sum = 0;
    block->shared_end = TD_EMU_CANARY;
    TD_ALLOW(block->shared, td_emu_now->arena_bytes);
    memset(block->shared, CANARY_BYTE, TD_EMU_CANARY);
    TD_FORBID(block->shared, td_emu_now->arena_bytes);
}

static bool canary_lives(const char *canary)
{
    for (int i = 0; i < TD_EMU_CANARY; i++)
        if ((unsigned char)canary[i] != CANARY_BYTE) return false;
    return true;
}

static void check_canary(td_emu_block *block, uint32_t piece, uint32_t at, const char *side, td_site site)
{
    char *canary = block->shared + at;
    TD_ALLOW(canary, TD_EMU_CANARY);
    bool lives = canary_lives(canary);
    TD_FORBID(canary, TD_EMU_CANARY);
    const td_emu_shared_piece *of = &block->piece[piece];
    if (!lives)
        td_emu_break(site, "shared memory was written %s the %u bytes of %s:%d", side, of->bytes,
                     td_emu_file(of->site.file), of->site.line);
}

void td_emu_shared_check(td_emu_block *block, td_site site)
{
    for (uint32_t i = 0; i < block->pieces; i++) {
        if (i == 0) check_canary(block, i, 0, "before", site);
        uint32_t end = block->piece[i].begin + block->piece[i].bytes;
        check_canary(block, i, (end + 15) & ~15u, "behind", site);
    }
}

static td_emu_shared_piece *find(td_emu_block *block, td_site site)
{
    for (uint32_t i = 0; i < block->pieces; i++) {
        td_site have = block->piece[i].site;
        if (have.line == site.line && (have.file == site.file || strcmp(have.file, site.file) == 0))
            return &block->piece[i];
    }
    return NULL;
}

static td_emu_shared_piece *add(td_emu_block *block, uint64_t bytes, td_site site)
{
    uint32_t limit = td_emu_now->shared_limit;
    if (block->pieces == TD_EMU_SHARED_SITES)
        td_emu_break(site, "more than %d pieces of shared memory", TD_EMU_SHARED_SITES);
    if (bytes > limit - block->shared_sum)
        td_emu_break(site, "%llu bytes of shared memory, with %u taken; a block has %u", (unsigned long long)bytes,
                     block->shared_sum, limit);
    td_emu_shared_piece *piece = &block->piece[block->pieces++];
    *piece = (td_emu_shared_piece){site, block->shared_end, (uint32_t)bytes};
    uint32_t rounded = ((uint32_t)bytes + 15) & ~15u;
    TD_ALLOW(block->shared + piece->begin, rounded + TD_EMU_CANARY);
    fill_undefined(block->shared + piece->begin, (uint32_t)bytes);
    memset(block->shared + piece->begin + rounded, CANARY_BYTE, TD_EMU_CANARY);
    TD_FORBID(block->shared + piece->begin + bytes, rounded - bytes + TD_EMU_CANARY);
    block->shared_sum += (uint32_t)bytes;
    block->shared_end = piece->begin + rounded + TD_EMU_CANARY;
    return piece;
}

static void *take(uint64_t bytes, td_site key, td_site site)
{
    td_emu_block *block = td_emu_running->block;
    td_emu_shared_piece *piece = find(block, key);
    if (piece == NULL) piece = add(block, bytes, key);
    if (piece->bytes != bytes)
        td_emu_break(site, "%llu bytes of shared memory, where another thread of the block asked for %u",
                     (unsigned long long)bytes, piece->bytes);
    return block->shared + piece->begin;
}

/* Pieces begin at multiples of 16, as far as any type here needs. */
void *td_emu_shared(size_t bytes, size_t align, td_site site)
{
    if (align > 16) td_emu_break(site, "shared memory aligned to %zu bytes; 16 are possible", align);
    return take(bytes, site, site);
}

void *td_emu_shared_dynamic(td_site site)
{
    return take(td_emu_now->shape.shared_bytes, (td_site){"the launch's shared_bytes", DYNAMIC}, site);
}
