/* Kernels of joint launches: the ring, and ones that each break one rule on a line that says `here`. */
#include "emulator_kernels.h"
#include "device/joint_ring.h"

/* Without the barrier between two rounds. */
TD_KERNEL(joint_missing_barrier, ring_arguments)
{
    uint32_t threads = td_global_threads(), me = td_global_thread();
    for (uint32_t round = 0; round < a.rounds; round++) {
        uint32_t token = a.own[round % 2 * threads + me] + 1; /* here */
        a.next[(round + 1) % 2 * threads + me] = token; /* here */
    }
}

/* All blocks of one member have met, the members have not. */
TD_KERNEL(joint_grid_barrier, ring_arguments)
{
    uint32_t threads = td_global_threads(), me = td_global_thread();
    for (uint32_t round = 0; round < a.rounds; round++) {
        uint32_t token = a.own[round % 2 * threads + me] + 1; /* here */
        TD_GRID_BARRIER(false, a.wrong);
        a.next[(round + 1) % 2 * threads + me] = token; /* here */
    }
    TD_SET_BARRIER(&a.set);
}

/* One writes before a grid barrier, the other behind one of its own. */
TD_KERNEL(joint_grid_between, ring_arguments)
{
    if (td_global_thread() == 0 && a.set.member == 0) a.counts[0] = 1; /* here */
    TD_GRID_BARRIER(false, a.wrong);
    if (td_global_thread() == 0 && a.set.member == 1) a.counts[0] = 2; /* here */
    TD_SET_BARRIER(&a.set);
}

/* Both devices read it; the grid barrier of one does not hold for the other's reader. */
TD_KERNEL(joint_reader_forgotten, ring_arguments)
{
    uint32_t seen = td_global_thread() == 0 ? a.counts[0] : 0; /* here */
    TD_GRID_BARRIER(false, a.wrong);
    if (td_block() == 1 && td_thread() == 0 && a.set.member == 0) a.counts[0] = seen + 1; /* here */
    TD_SET_BARRIER(&a.set);
    if (seen == 7) a.wrong[0] = 1;
}

/* Two devices write one word plainly. */
TD_KERNEL(joint_plain_write, ring_arguments)
{
    TD_SET_BARRIER(&a.set);
    if (td_global_thread() == 0) a.counts[0] = a.set.member; /* here */
    TD_SET_BARRIER(&a.set);
}

/* One writes plainly what the other changes by an atomic. */
TD_KERNEL(joint_plain_and_atomic, ring_arguments)
{
    if (td_global_thread() == 0) {
        if (a.set.member == 0) a.counts[0] = 1; /* here */
        else TD_OR_SYSTEM(&a.counts[0], 1u); /* here */
    }
    TD_SET_BARRIER(&a.set);
}

/* Atomics that are some for the threads of one device only, in one of two ways. */
TD_KERNEL(joint_device_atomics, ring_arguments)
{
    if (td_thread() == 0) TD_OR(&a.counts[0], 1u << a.set.member); /* here */
    TD_SET_BARRIER(&a.set);
}

TD_KERNEL(joint_device_atomic, ring_arguments)
{
    for (uint32_t i = 0; i < 2 * 61 * 8; i++)
        if (a.set.member == 0) TD_OR(&a.counts[0], 1u); /* here */
        else TD_OR_SYSTEM(&a.counts[0], 2u); /* here */
    TD_SET_BARRIER(&a.set);
}

/* The other one's load comes between. */
TD_KERNEL(joint_device_atomic_loaded, ring_arguments)
{
    if (td_global_thread() == 0) {
        if (a.set.member == 0) {
            TD_OR(&a.counts[0], 1u); /* here */
            TD_OR_SYSTEM(&a.counts[1], 1u);
        } else {
            while (TD_OR_SYSTEM(&a.counts[1], 0u) == 0) {}
            if (TD_LOAD_SYSTEM(&a.counts[0]) != 9) TD_OR_SYSTEM(&a.counts[0], 2u); /* here */
        }
    }
    TD_SET_BARRIER(&a.set);
}

/* A word that one device changes, for its own threads, others may load; and change in another round. */
TD_KERNEL(joint_loaded_word, ring_arguments)
{
    uint32_t sum = 0;
    for (uint32_t round = 0; round < a.rounds; round++) {
        if (a.set.member == round % a.set.members)
            for (uint32_t i = 0; i < 200; i++) TD_ADD(&a.counts[0], 1u);
        else
            for (uint32_t i = 0; i < 200; i++) sum += TD_LOAD_SYSTEM(&a.counts[0]);
        TD_SET_BARRIER(&a.set);
    }
    if (sum == UINT32_MAX) a.wrong[0]++;
}

/* Members leave after different numbers of barriers. */
TD_KERNEL(joint_unequal, ring_arguments)
{
    for (uint32_t round = 0; round < a.rounds + a.set.member; round++)
        TD_SET_BARRIER(&a.set); /* here */
}

TD_KERNEL(joint_lines_differ, ring_arguments)
{
    if (a.set.member == 0) TD_SET_BARRIER(&a.set); /* here */
    else TD_SET_BARRIER(&a.set); /* here */
}

TD_KERNEL(joint_block_leaves, ring_arguments)
{
    if (td_block() == 1 && a.set.member == 1) return;
    TD_SET_BARRIER(&a.set); /* here */
}

TD_KERNEL(joint_thread_leaves, ring_arguments)
{
    if (td_thread() == 5 && a.set.member == 1) return;
    TD_SET_BARRIER(&a.set); /* here */
}

/* What all blocks of a member wrote before its grid barrier, and all members before the set barrier, may be read. */
TD_KERNEL(joint_both_barriers, ring_arguments)
{
    uint32_t threads = td_global_threads(), me = td_global_thread();
    for (uint32_t round = 0; round < a.rounds; round++) {
        a.own[me] += 1;
        TD_GRID_BARRIER(false, a.wrong);
        uint32_t other = a.own[threads - 1 - me];
        TD_GRID_BARRIER(false, a.wrong);
        a.own[threads + me] = other;
        TD_SET_BARRIER(&a.set);
        if (a.next[threads + me] != a.own[threads - 1 - me]) TD_ADD(a.wrong, 1u);
        TD_SET_BARRIER(&a.set);
    }
}

/* The first member waits for a word that the last one sets, without a barrier. */
TD_KERNEL(joint_flag, ring_arguments)
{
    if (td_global_thread() == 0) {
        if (a.set.member + 1 == a.set.members) TD_STORE_SYSTEM(&a.counts[0], 5u);
        else
            while (TD_LOAD_SYSTEM(&a.counts[0]) != 5) {}
    }
    TD_SET_BARRIER(&a.set);
    if (td_global_thread() == 0) a.wrong[0] += TD_LOAD_SYSTEM(&a.counts[0]) != 5;
}

/* Every round, the members read what the one before them has put there in the last one: by loads that may be late. */
TD_KERNEL(joint_relay, ring_arguments)
{
    for (uint32_t round = 0; round < a.rounds; round++) {
        if (td_global_thread() == 0) TD_STORE(&a.next[round % 2], round + 1);
        TD_SET_BARRIER(&a.set);
        if (td_global_thread() == 0 && TD_LOAD(&a.own[round % 2]) != round + 1) a.wrong[0]++;
    }
}

/* A load may still show what was there before another device's store, also where an atomic has shown a later one. */
TD_KERNEL(joint_early, ring_arguments)
{
    for (uint32_t round = 0; round < a.rounds; round++) {
        if (td_global_thread() == 0) {
            if (a.set.member == 1) {
                TD_STORE(&a.next[0], round + 1);
                TD_OR_SYSTEM(&a.counts[2 + round], 1u);
            } else {
                while (TD_OR_SYSTEM(&a.counts[2 + round], 0u) == 0) {}
                a.counts[1] += TD_LOAD(&a.own[0]) == round;
            }
        }
        TD_SET_BARRIER(&a.set);
    }
}

/* The second member goes on alone behind the last barrier. */
TD_KERNEL(joint_tail, ring_arguments)
{
    TD_SET_BARRIER(&a.set);
    uint32_t sum = 0;
    for (uint32_t i = 0; a.set.member == 1 && i < 100; i++) sum += a.own[(td_global_thread() + i) % td_global_threads()];
    if (sum == UINT32_MAX) a.wrong[0] = 1;
}

/* A device sees its own store, also of a word that another device stored to in the same round. */
TD_KERNEL(joint_own_store, ring_arguments)
{
    for (uint32_t round = 0; round < a.rounds; round++) {
        if (td_global_thread() == 0) {
            uint32_t *word = &a.counts[round];
            if (a.set.member == 1) {
                TD_STORE_SYSTEM(word, 1u);
                TD_STORE_SYSTEM(&a.members[0], round + 1);
            } else if (a.set.member == 0) {
                while (TD_LOAD_SYSTEM(&a.members[0]) != round + 1) {}
                TD_STORE_SYSTEM(word, 2u);
                if (TD_LOAD_SYSTEM(word) != 2) a.wrong[0]++;
            }
        }
        TD_SET_BARRIER(&a.set);
    }
}

#define KERNEL(name) {#name, (const void *)name}
const td_kernel joint_kernels[] = {
    KERNEL(ring), KERNEL(joint_missing_barrier), KERNEL(joint_grid_barrier), KERNEL(joint_plain_write),
    KERNEL(joint_plain_and_atomic), KERNEL(joint_unequal), KERNEL(joint_lines_differ), KERNEL(joint_block_leaves),
    KERNEL(joint_thread_leaves), KERNEL(joint_both_barriers), KERNEL(joint_flag), KERNEL(joint_relay),
    KERNEL(joint_early), KERNEL(joint_device_atomics), KERNEL(joint_device_atomic), KERNEL(joint_loaded_word),
    KERNEL(joint_own_store), KERNEL(joint_grid_between), KERNEL(joint_reader_forgotten),
    KERNEL(joint_device_atomic_loaded), KERNEL(joint_tail), {NULL, NULL}};
