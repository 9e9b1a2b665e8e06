#include "programs/gpu.h"

#include <string.h>

/* A program's kernels, and those of its second instance. */
typedef struct instances {
    const char *name;
    const td_gpu_kernels *plain, *wide;
} instances;

#define TD_PROGRAM(name) extern const td_gpu_kernels td_emulator_##name;
#define TD_WIDE(name) extern const td_gpu_kernels td_emulator_##name##_wide;
#include "programs/programs.def"
#ifdef TANDEM_HAVE_CUDA
#define TD_PROGRAM(name) extern const td_gpu_kernels td_cuda_##name;
#define TD_WIDE(name) extern const td_gpu_kernels td_cuda_##name##_wide;
#include "programs/programs.def"
#endif

static const instances emulator[] = {
#define TD_PROGRAM(name) {#name, &td_emulator_##name, NULL},
#define TD_WIDE(name) {#name, NULL, &td_emulator_##name##_wide},
#include "programs/programs.def"
    {0},
};

#ifdef TANDEM_HAVE_CUDA
static const instances cuda[] = {
#define TD_PROGRAM(name) {#name, &td_cuda_##name, NULL},
#define TD_WIDE(name) {#name, NULL, &td_cuda_##name##_wide},
#include "programs/programs.def"
    {0},
};
#endif

static const td_gpu_kernels *kernels_in(const instances *table, const td_program_info *info)
{
    for (; table->name != NULL; table++) {
        const td_gpu_kernels *kernels = info->wide ? table->wide : table->plain;
        if (kernels != NULL && strcmp(table->name, info->name) == 0) return kernels;
    }
    return NULL;
}

const td_gpu_kernels *td_gpu_kernels_of(const td_program *program, td_device_kind kind)
{
    if (kind == TD_DEVICE_EMULATOR) return kernels_in(emulator, program->info);
#ifdef TANDEM_HAVE_CUDA
    if (kind == TD_DEVICE_CUDA) return kernels_in(cuda, program->info);
#endif
    return NULL;
}
