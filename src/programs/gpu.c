#include "programs/gpu.h"

#include <string.h>

#define TD_PROGRAM(name) extern const td_gpu_kernels td_emulator_##name;
#include "programs/programs.def"
#undef TD_PROGRAM
#ifdef TANDEM_HAVE_CUDA
#define TD_PROGRAM(name) extern const td_gpu_kernels td_cuda_##name;
#include "programs/programs.def"
#undef TD_PROGRAM
#endif

static const td_gpu_kernels *const emulator[] = {
#define TD_PROGRAM(name) &td_emulator_##name,
#include "programs/programs.def"
#undef TD_PROGRAM
};

#ifdef TANDEM_HAVE_CUDA
static const td_gpu_kernels *const cuda[] = {
#define TD_PROGRAM(name) &td_cuda_##name,
#include "programs/programs.def"
#undef TD_PROGRAM
};
#endif

const td_gpu_kernels *td_gpu_kernels_of(const td_program *program, td_device_kind kind)
{
    for (int i = 0; td_programs[i] != NULL; i++) {
        if (strcmp(td_programs[i]->info->name, program->info->name) != 0) continue;
        if (kind == TD_DEVICE_EMULATOR) return emulator[i];
#ifdef TANDEM_HAVE_CUDA
        if (kind == TD_DEVICE_CUDA) return cuda[i];
#endif
    }
    return NULL;
}
