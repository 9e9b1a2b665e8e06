/* Memory that kernels may touch: what was allocated on the emulated devices that
 * were opened together, and host memory pinned for them, in the order of addresses. */
#ifndef TD_DEVICE_EMULATOR_REGIONS_H
#define TD_DEVICE_EMULATOR_REGIONS_H

#include "device/emulator/watch.h"

/* The range that a kernel's plain reads, or writes, of host memory span, and how many bytes they were. */
typedef struct td_hull {
    uintptr_t begin, end;
    uint64_t bytes;
} td_hull;

typedef struct td_region {
    uintptr_t begin, end;
    const td_device *device; /* NULL: host memory, pinned for all of them */
    int number;              /* of the device */
    uint32_t pins;           /* how often host memory was pinned */
    td_emu_cell *cells;
    uint64_t id;             /* as many regions came before it: the same in every run */
    uint32_t used;           /* tick of the last kernel that touched it */
    td_hull reads, writes;   /* of that kernel */
    bool suspect;            /* a copy or fill is not ordered before the kernel that runs */
} td_region;

enum { TD_REGIONS_REMEMBERED = 64 };

typedef struct td_regions {
    td_region *list;
    uint64_t count, room;
    td_region past[TD_REGIONS_REMEMBERED]; /* the last ones freed, for messages */
    uint64_t freed, added;
    uint32_t tick, era; /* the watch's time; how often it began again */
} td_regions;

/* Ticks begin again, with all cells cleared, before an operation that finds them past this. */
#define TD_TICKS_MOST (UINT32_MAX / 2)

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
