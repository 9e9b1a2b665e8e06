/* Kernels of joint launches on slices of one GPU, whose atomics need no more than the scope of a device. */
#include "emulator_kernels.h"
#include "device/joint_kernels.h"

#include "kernels/gpu/language.h"

/* All threads of all slices change three words in every round. */
TD_KERNEL(slices_count, ring_arguments)
{
    for (uint32_t round = 0; round < a.rounds; round++) {
        TD_ADD(&a.counts[round], 1u);
        TD_MIN(a.least, a.set.member * 1000 + td_global_thread() + 7);
        TD_OR(a.members, 1u << a.set.member);
        TD_SET_BARRIER(&a.set);
        if (td_global_thread() == 0 && TD_LOAD(&a.counts[round]) != a.set.members * td_global_threads()) a.wrong[0]++;
    }
}

/* One slice writes plainly what the others change. */
TD_KERNEL(slices_plain, ring_arguments)
{
    if (td_global_thread() == 0) {
        if (a.set.member == 1) a.counts[0] = 1; /* here */
        else TD_OR(&a.counts[0], 1u); /* here */
    }
    TD_SET_BARRIER(&a.set);
}

#define KERNEL(name) {#name, (const void *)name}
const td_kernel slice_kernels[] = {KERNEL(slices_count), KERNEL(slices_plain), {NULL, NULL}};
