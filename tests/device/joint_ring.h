/* The ring of joint_kernels.h, for every compiler of kernels. */
#include "device/joint_kernels.h"

#include "kernels/gpu/language.h"

TD_KERNEL(ring, ring_arguments)
{
    uint32_t threads = td_global_threads(), me = td_global_thread();
    for (uint32_t round = 0; round < a.rounds; round++) {
        uint32_t token = a.own[round % 2 * threads + me] + 1;
        if (round == a.leaves) return;
        a.next[(round + 1) % 2 * threads + me] = token;
        if (td_thread() == 0) {
            TD_ADD_SYSTEM(&a.counts[round], 1u);
            TD_MIN_SYSTEM(a.least, td_block() + 7);
            TD_OR_SYSTEM(a.members, 1u << a.set.member);
        }
        TD_SET_BARRIER(&a.set);
        if (me == 0) {
            if (TD_LOAD_SYSTEM(&a.counts[round]) != a.set.members * td_blocks()) a.wrong[0]++;
            a.clocks[round] = TD_CLOCK();
        }
    }
}
