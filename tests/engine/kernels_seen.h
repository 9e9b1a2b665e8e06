/* Which kernels have been launched, by the instance of a program that they belong to ("sssp", "sssp_wide") and their name,
 * on emulated and CUDA GPUs alike. */
#ifndef TD_TEST_KERNELS_SEEN_H
#define TD_TEST_KERNELS_SEEN_H

#include "device/launched.h"
#include "kernels/gpu/table.h"
#include "kernels/program.h"
#include "programs/gpu.h"
#include "test.h"

/* A table of kernels as a list. */
typedef struct kernel_entry {
    td_kernel kernel;
    const void *takes;
} kernel_entry;
enum { KERNELS = offsetof(td_gpu_kernels, again) / sizeof(kernel_entry), KERNEL_INSTANCES = 32 };
_Static_assert(offsetof(td_gpu_kernels, again) % sizeof(kernel_entry) == 0, "kernels of a table are a list");

typedef struct kernel_instance {
    char name[32];
    const td_program *program;
    const kernel_entry *entries[2]; /* emulated, CUDA (NULL: not in this build) */
} kernel_instance;

typedef struct kernel_set {
    bool has[KERNEL_INSTANCES][KERNELS];
} kernel_set;

static kernel_instance kernel_instances[KERNEL_INSTANCES];
static int kernel_instance_count;
static kernel_set kernels_launched; /* since kernels_forget */

static inline void add_instance(const td_program *program)
{
    CHECK(kernel_instance_count < KERNEL_INSTANCES);
    kernel_instance *one = &kernel_instances[kernel_instance_count++];
    snprintf(one->name, sizeof one->name, "%s%s", program->info->name, program->info->wide ? "_wide" : "");
    one->program = program;
    one->entries[0] = (const kernel_entry *)td_gpu_kernels_of(program, TD_DEVICE_EMULATOR);
    one->entries[1] = (const kernel_entry *)td_gpu_kernels_of(program, TD_DEVICE_CUDA);
}

static inline void note_kernel(const td_device *device, const td_kernel *kernel)
{
    (void)device;
    for (int i = 0; i < kernel_instance_count; i++)
        for (int k = 0; k < 2; k++) {
            uintptr_t at = (uintptr_t)kernel, first = (uintptr_t)kernel_instances[i].entries[k];
            if (first != 0 && at >= first && at < first + KERNELS * sizeof(kernel_entry))
                kernels_launched.has[i][(at - first) / sizeof(kernel_entry)] = true;
        }
}

static inline void kernels_forget(void) { kernels_launched = (kernel_set){0}; }

/* From here on, launches are noted; host threads that launch at the same time may do so. */
static inline void kernels_watch(void)
{
    kernel_instance_count = 0;
    for (int i = 0; td_programs[i] != NULL; i++) {
        add_instance(td_programs[i]);
        if (td_programs[i]->wide != NULL) add_instance(td_programs[i]->wide);
    }
    kernels_forget();
    td_devices_watch_launches(note_kernel);
}

/* The kernel's name; NULL: the instance has none at this place. */
static inline const char *kernel_name(int instance, int kernel)
{
    return kernel_instances[instance].entries[0][kernel].kernel.name;
}

/* The kernels that the runs of engine/kernel_runs.h launch, by engine. */
typedef struct kernel_listed {
    const char *engine, *kernel, *instances; /* separated by blanks */
} kernel_listed;

static const kernel_listed kernels_listed[] = {
#define LAUNCHES(...) {__VA_ARGS__},
#include "engine/kernels_launched.def"
#undef LAUNCHES
};
enum { KERNELS_LISTED = sizeof kernels_listed / sizeof *kernels_listed };

static inline bool has_name(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == ' ' || at[length] == 0)) return true;
    return false;
}

static inline bool is_listed(const char *engine, int instance, int kernel)
{
    const char *name = kernel_name(instance, kernel);
    for (int i = 0; i < KERNELS_LISTED; i++)
        if (strcmp(kernels_listed[i].engine, engine) == 0 && strcmp(kernels_listed[i].kernel, name) == 0)
            return has_name(kernels_listed[i].instances, kernel_instances[instance].name);
    return false;
}

/* The names of kernels that were launched and are not in the engine's list; returns how many. */
static inline int kernels_not_listed(const char *engine, char *names, size_t room)
{
    int count = 0;
    names[0] = 0;
    for (int i = 0; i < kernel_instance_count; i++)
        for (int k = 0; k < KERNELS; k++) {
            size_t used = strlen(names);
            if (!kernels_launched.has[i][k] || is_listed(engine, i, k)) continue;
            count++;
            snprintf(names + used, room - used, " %.31s/%.31s", kernel_instances[i].name, kernel_name(i, k));
        }
    return count;
}

static inline int kernels_in(const kernel_set *set)
{
    int count = 0;
    for (int i = 0; i < kernel_instance_count; i++)
        for (int k = 0; k < KERNELS; k++) count += set->has[i][k];
    return count;
}

#endif
