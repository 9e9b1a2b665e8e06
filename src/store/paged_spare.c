/* Memory that goes from blocks that are not needed any more to blocks that are read: what would be given back to the
 * system, taken again, cleared page by page and overwritten is moved instead. Blocks stand at their natural places and
 * every run of them that was moved is a mapping of its own, so that memory goes by units of a few blocks; what a page
 * has only a part of a unit of comes and goes as any memory. */
#include "base/account.h"
#include "base/alloc.h"
#include "store/paged_inside.h"

enum { SMALLEST_UNIT = 4 };                /* blocks */
static const uint64_t MOST_UNITS = 24000;  /* a process may have 65530 mappings, two of them for a unit */

void td_paged_start_spares(td_paged *self)
{
    uint64_t blocks = 0;
    for (int i = 0; i < 4; i++) blocks += self->sections[i].space_bytes / TD_PACKED_BLOCK;
    self->unit = SMALLEST_UNIT;
    while (self->unit > 0 && blocks / self->unit > MOST_UNITS)
        self->unit = self->unit < TD_READ_BLOCKS ? 2 * self->unit : 0;
}

static uint64_t unit_bytes(const td_paged *self) { return self->unit * TD_PACKED_BLOCK; }

/* The next unit's worth of the blocks; whether it is a whole one. */
static bool next_piece(const td_paged *self, const td_paged_section *section, td_blocks *rest, td_blocks *piece)
{
    uint64_t end = self->unit > 0 ? (rest->first / self->unit + 1) * self->unit : rest->end;
    *piece = (td_blocks){rest->first, end < rest->end ? end : rest->end};
    rest->first = piece->end;
    return self->unit > 0 && td_block_bytes_of(section, *piece) == unit_bytes(self);
}

static char *place_of(const td_paged_section *section, td_blocks piece)
{
    return section->space + piece.first * TD_PACKED_BLOCK;
}

/* Dropping. */

void td_paged_drop_spares(td_paged *self, uint64_t left)
{
    while (self->spare_count > left) td_space_drop(self->payer, self->spares[--self->spare_count], unit_bytes(self));
}

void td_paged_free_blocks(td_paged *self, const td_paged_section *section, td_blocks blocks)
{
    td_blocks piece, together = {blocks.first, blocks.first}; /* dropped in one call */
    self->held -= td_block_bytes_of(section, blocks);
    while (blocks.first < blocks.end) {
        bool aside = next_piece(self, section, &blocks, &piece) && self->spare_count < TD_PAGED_SPARES;
        if (aside) self->spares[self->spare_count++] = place_of(section, piece);
        if (!aside) together.end = piece.end;
        if (together.first < together.end && (aside || blocks.first == blocks.end))
            td_space_drop(self->payer, place_of(section, together), td_block_bytes_of(section, together));
        if (aside || blocks.first == blocks.end) together = (td_blocks){blocks.first, blocks.first};
    }
}

/* Reading. */

/* The index of the spare that contains the place, or the number of spares. */
static uint32_t spare_at(const td_paged *self, const char *place)
{
    uint32_t i = 0;
    while (i < self->spare_count && !(place >= self->spares[i] && place < self->spares[i] + unit_bytes(self))) i++;
    return i;
}

/* Counts the whole units among the blocks. Frees a spare of which only a part will be read: it will contain data and
 * must not be reused. */
static uint64_t count_units(td_paged *self, const td_paged_section *section, td_blocks blocks)
{
    uint64_t units = 0;
    td_blocks piece;
    while (blocks.first < blocks.end) {
        bool whole = next_piece(self, section, &blocks, &piece);
        uint32_t at = whole ? self->spare_count : spare_at(self, place_of(section, piece));
        units += whole;
        if (at == self->spare_count) continue;
        td_space_drop(self->payer, self->spares[at], unit_bytes(self));
        self->spares[at] = self->spares[--self->spare_count];
    }
    return units;
}

/* Gives a unit the memory of a spare; its own if that is one. */
static void hand_on(td_paged *self, char *unit)
{
    uint32_t own = spare_at(self, unit);
    char *spare = self->spares[--self->spare_count];
    if (own < self->spare_count) self->spares[own] = spare;
    else if (spare != unit && !td_space_move(unit, spare, unit_bytes(self))) self->moves_failed = true;
}

static bool take(td_paged *self, uint64_t bytes, uint64_t spares)
{
    if (td_space_take(self->payer, bytes)) return true;
    td_paged_drop_spares(self, spares);
    return td_space_take(self->payer, bytes);
}

/* Another session may use the graph from one run to the next: when no page is there, it begins to pay. */
static void choose_payer(td_paged *self)
{
    td_account *account = td_account_current();
    if (self->payer == account || (self->payer != NULL && self->held + self->spare_count > 0)) return;
    td_account_keep(account);
    td_account_release(self->payer);
    self->payer = account;
}

bool td_paged_find_memory(td_paged *self, const td_paged_section *section, td_blocks blocks)
{
    choose_payer(self);
    uint64_t bytes = td_block_bytes_of(section, blocks), units = count_units(self, section, blocks);
    uint64_t reused = units < self->spare_count ? units : self->spare_count;
    uint64_t free_units = self->unit > 0 && self->room > self->held + bytes
                              ? (self->room - self->held - bytes) / unit_bytes(self)
                              : 0;
    td_paged_drop_spares(self, reused + free_units);
    if (!take(self, bytes - reused * unit_bytes(self), reused)) return false;
    self->held += bytes;
    self->counts.reused += reused * unit_bytes(self);
    for (td_blocks piece; reused > 0 && blocks.first < blocks.end;)
        if (next_piece(self, section, &blocks, &piece)) {
            hand_on(self, place_of(section, piece));
            reused--;
        }
    if (!self->moves_failed) return true;
    td_paged_drop_spares(self, 0);
    self->unit = 0;
    return true;
}
