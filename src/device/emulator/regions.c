#include "device/emulator/regions.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

enum { NEAR = 4096 }; /* an address this close to a region has probably missed it */

void td_regions_close(td_regions *regions)
{
    td_free(regions->list);
    *regions = (td_regions){0};
}

td_status td_region_expect(td_regions *regions)
{
    if (regions->count < regions->room) return TD_OK;
    uint64_t room = regions->room * 2 + 16;
    TD_CHECK(TD_RESIZE(&regions->list, room, "table of device memory"));
    regions->room = room;
    return TD_OK;
}

/* How many regions begin at or before the address. */
static uint64_t rank(const td_regions *regions, uintptr_t at)
{
    uint64_t low = 0, high = regions->count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (regions->list[middle].begin <= at) low = middle + 1;
        else high = middle;
    }
    return low;
}

void td_region_add(td_regions *regions, td_region region)
{
    uint64_t at = rank(regions, region.begin);
    memmove(regions->list + at + 1, regions->list + at, (regions->count - at) * sizeof *regions->list);
    region.id = ++regions->added;
    regions->list[at] = region;
    regions->count++;
}

bool td_region_remove(td_regions *regions, uintptr_t begin, td_region *out)
{
    uint64_t at = rank(regions, begin);
    if (at == 0 || regions->list[at - 1].begin != begin) return false;
    *out = regions->list[at - 1];
    memmove(regions->list + at - 1, regions->list + at, (regions->count - at) * sizeof *regions->list);
    regions->count--;
    regions->past[regions->freed++ % TD_REGIONS_REMEMBERED] = *out;
    return true;
}

td_region *td_region_find(const td_regions *regions, uintptr_t begin, uint64_t bytes)
{
    uint64_t at = rank(regions, begin);
    if (at == 0) return NULL;
    td_region *region = &regions->list[at - 1];
    return begin < region->end && bytes <= region->end - begin ? region : NULL;
}

bool td_region_overlaps(const td_regions *regions, uintptr_t begin, uint64_t bytes)
{
    uint64_t at = rank(regions, begin);
    return (at > 0 && begin < regions->list[at - 1].end) ||
           (at < regions->count && regions->list[at].begin - begin < bytes);
}

static const char *describe_place(const td_region *region, uintptr_t at, const char *what, char words[TD_EMU_WORDS])
{
    unsigned long long bytes = region->end - region->begin;
    unsigned long long from = at < region->begin ? region->begin - at : at - region->begin;
    if (at < region->begin) snprintf(words, TD_EMU_WORDS, "%llu bytes before %s of %llu bytes", from, what, bytes);
    else snprintf(words, TD_EMU_WORDS, "at byte %llu of %s of %llu bytes", from, what, bytes);
    return words;
}

const char *td_region_describe(const td_regions *regions, uintptr_t at, char words[TD_EMU_WORDS])
{
    uint64_t past = regions->freed < TD_REGIONS_REMEMBERED ? regions->freed : TD_REGIONS_REMEMBERED;
    for (uint64_t i = 1; i <= past; i++) {
        const td_region *region = &regions->past[(regions->freed - i) % TD_REGIONS_REMEMBERED];
        if (region->begin <= at && at < region->end)
            return describe_place(region, at, region->device == NULL ? "unpinned host memory" : "freed device memory",
                                  words);
    }
    uint64_t after = rank(regions, at);
    const td_region *below = after > 0 ? &regions->list[after - 1] : NULL;
    const td_region *above = after < regions->count ? &regions->list[after] : NULL;
    if (below != NULL && at < below->end + NEAR)
        return describe_place(below, at, below->device == NULL ? "pinned host memory" : "device memory", words);
    if (above != NULL && above->begin - at < NEAR)
        return describe_place(above, at, above->device == NULL ? "pinned host memory" : "device memory", words);
    snprintf(words, TD_EMU_WORDS, "at an address that is neither the device's memory nor pinned host memory");
    return words;
}

void td_regions_clear_cells(td_regions *regions)
{
    for (uint64_t i = 0; i < regions->count; i++) {
        td_region *region = &regions->list[i];
        uint64_t cells = (region->end - region->begin + 3) / 4;
        region->used = 0;
        if (region->cells != NULL) memset(region->cells, 0, cells * sizeof *region->cells);
    }
}
