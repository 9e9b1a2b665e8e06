/* Memory that kernels may touch: what was allocated on the emulated devices that
 * were opened together, and host memory pinned for them, in the order of addresses. */
#ifndef TD_DEVICE_EMULATOR_REGIONS_H
#define TD_DEVICE_EMULATOR_REGIONS_H

#include "device/emulator/watch.h"

typedef struct td_region {
    uintptr_t begin, end;
    const td_device *device; /* NULL: host memory, pinned for all of them */
    int number;              /* of the device */
    uint32_t pins;           /* how often host memory was pinned */
    td_emu_cell *cells;
} td_region;

enum { TD_REGIONS_REMEMBERED = 64 };

typedef struct td_regions {
    td_region *list;
    uint64_t count, room;
    td_region past[TD_REGIONS_REMEMBERED]; /* the last ones freed, for messages */
    uint64_t freed;
    uint32_t tick, era; /* the watch's time; how often it began again */
} td_regions;

void td_regions_close(td_regions *regions);

/* Of memory that is already there: room was made by td_region_expect, so adding cannot fail. */
td_status td_region_expect(td_regions *regions);
void td_region_add(td_regions *regions, td_region region);
bool td_region_remove(td_regions *regions, uintptr_t begin, td_region *out);

/* Whether some of these bytes are in a region. */
bool td_region_overlaps(const td_regions *regions, uintptr_t begin, uint64_t bytes);

/* The region that holds all these bytes, or NULL. */
td_region *td_region_find(const td_regions *regions, uintptr_t begin, uint64_t bytes);

/* Where an address lies that no region holds. */
const char *td_region_describe(const td_regions *regions, uintptr_t at, char words[TD_EMU_WORDS]);

/* Starts all cells afresh, because ticks do. */
void td_regions_clear_cells(td_regions *regions);

#endif
