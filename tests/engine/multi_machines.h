/* Small emulated machines with several GPUs: their kernels are as hard on the engine as those of large ones, and a launch
 * of all blocks takes less time here. */
#ifndef TD_TEST_MULTI_MACHINES_H
#define TD_TEST_MULTI_MACHINES_H

#include "engine/ways.h"

/* What --devices calls these GPUs. `file` must differ from machine to machine. */
static inline const char *machine_of(const char *file, int gpus, const char *links, const char *more)
{
    enum { MACHINES = 8, ROOM = 640 };
    static char names[MACHINES][ROOM];
    static int made;
    char text[6000], *name = names[made++ % MACHINES];
    int used = snprintf(text, sizeof text, "gpus %d\nmultiprocessors 1\nresident-threads 1024\n%s%s", gpus, more, links);
    CHECK(used < (int)sizeof text);
    snprintf(name, ROOM, "emu:%d%s", gpus, emulated(file, text) + strlen("emu"));
    return name;
}

/* Every GPU is linked with every other. `more`: further lines of the topology. */
static inline const char *linked_gpus(const char *file, int gpus, const char *more)
{
    char links[4000] = "";
    int used = 0;
    for (int i = 0; i < gpus; i++)
        for (int j = i + 1; j < gpus; j++)
            used += snprintf(links + used, sizeof links - (size_t)used, "link %d %d 100GB/s 1us\n", i, j);
    return machine_of(file, gpus, links, more);
}

/* Eight GPUs with the links of a DGX-1: each has four neighbours. */
static inline const char *cube_mesh(const char *file, const char *more)
{
    return machine_of(file, 8,
                      "link 0 1 25GB/s 2us\nlink 0 2 25GB/s 2us\nlink 0 3 50GB/s 2us\nlink 0 4 50GB/s 2us\n"
                      "link 1 2 50GB/s 2us\nlink 1 3 25GB/s 2us\nlink 1 5 50GB/s 2us\nlink 2 3 50GB/s 2us\n"
                      "link 2 6 25GB/s 2us\nlink 3 7 25GB/s 2us\nlink 4 5 25GB/s 2us\nlink 4 6 25GB/s 2us\n"
                      "link 4 7 50GB/s 2us\nlink 5 6 50GB/s 2us\nlink 5 7 25GB/s 2us\nlink 6 7 50GB/s 2us\n",
                      more);
}

#endif
