/* Switching between fibers: what a fiber has in registers and on its stack is there when it goes on. What stacks take is
 * charged to an account. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2") /* without it no value stays in a register across a call */
#endif

#include "device/emulator/fiber.h"

#include "base/account.h"
#include "device/emulator/sanitizer.h"
#include "test.h"

#include <sys/mman.h>
#include <unistd.h>

enum { FIBERS = 3, TURNS = 50 };

static td_fiber_stacks stacks;
static td_fiber scheduler;
static int running; /* which fiber has been switched to; -1: none, and nothing is switched */
static double found[FIBERS];
static bool ended[FIBERS], aligned[FIBERS];

static __attribute__((noinline)) void switch_out(void)
{
    if (running >= 0) td_fiber_switch(&stacks.fibers[running], &scheduler);
}

/* More values alive across every switch than a processor has registers that calls keep: 14 whole numbers, 14 reals. */
static __attribute__((noinline)) double count_through_switches(int seed)
{
    uint64_t a = (uint64_t)seed, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
    uint64_t i = a + 8, j = a + 9, k = a + 10, l = a + 11, m = a + 12, n = a + 13;
    double p = seed, q = p + 0.5, r = p + 1.5, s = p + 2.5, t = p + 3.5, u = p + 4.5, v = p + 5.5, w = p + 6.5;
    double x = p + 7.5, y = p + 8.5, z = p + 9.5, o = p + 10.5, aa = p + 11.5, bb = p + 12.5;
    for (int turn = 0; turn < TURNS; turn++) {
        switch_out();
        a += b, b += c, c += d, d += e, e += f, f += g, g += h, h += i, i += j, j += k, k += l, l += m, m += n, n ^= a;
        p += q, q += r, r += s, s += t, t += u, u += v, v += w, w += x, x += y, y += z, z += o, o += aa, aa += bb;
        bb = -bb;
    }
    return (double)((a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j ^ k ^ l ^ m ^ n) >> 12) + p + q + r + s + t + u + v + w + x + y +
           z + o + aa + bb;
}

static void fiber_main(void)
{
    td_fiber_arrived();
    int self = running;
    _Alignas(16) char here[16];
    aligned[self] = (uintptr_t)__builtin_frame_address(0) % 16 == 0 && (uintptr_t)here % 16 == 0;
    found[self] = count_through_switches(self + 1);
    ended[self] = true;
    for (;;) switch_out();
}

/* One fiber after the other gets a turn; the scheduler's own values are checked as well. */
static double take_turns(int fibers)
{
    double sum = 0.25;
    uint64_t turns = 0;
    for (int i = 0; i < fibers; i++) {
        ended[i] = false;
        td_fiber_prepare(&stacks.fibers[i], fiber_main);
    }
    for (bool all = false; !all;) {
        all = true;
        for (running = 0; running < fibers; running++) {
            td_fiber_switch(&scheduler, &stacks.fibers[running]);
            all = all && ended[running];
            turns++;
            sum += 1;
        }
    }
    CHECK_EQ(turns, (uint64_t)fibers * (TURNS + 1));
    return sum;
}

static void open_stacks(void)
{
    memset(&scheduler, 0, sizeof scheduler);
    CHECK_OK(td_fiber_stacks_open(&stacks, FIBERS));
}

TEST(fibers_keep_their_registers_whoever_runs_in_between)
{
    open_stacks();
    CHECK(take_turns(FIBERS) == FIBERS * (TURNS + 1) + 0.25);
    running = -1;
    for (int i = 0; i < FIBERS; i++) CHECK(found[i] == count_through_switches(i + 1));
    CHECK(found[1] != found[0] && found[2] != found[1]);
    td_fiber_stacks_close(&stacks);
}

/* Calls rely on it: of vector instructions on x86-64, of every access through the stack pointer on arm64. */
TEST(a_fiber_starts_with_its_stack_as_a_call_would_leave_it)
{
    open_stacks();
    (void)take_turns(FIBERS);
    for (int i = 0; i < FIBERS; i++) CHECK(aligned[i]);
    td_fiber_stacks_close(&stacks);
}

/* A run under a limit keeps their room, and refuses what does not fit. */
TEST(stacks_are_charged_to_the_account_that_opens_them)
{
    enum { MANY = 100 };
    uint64_t bytes = (uint64_t)MANY * TD_FIBER_TOUCHED, before = td_memory().now;
    td_account *account = NULL, *other;
    CHECK_OK(td_account_create(&account, NULL));
    other = td_account_enter(account);
    CHECK_OK(td_fiber_stacks_open(&stacks, MANY));
    CHECK(account->now >= bytes + MANY * sizeof *stacks.fibers);
    CHECK(td_memory().now > 0);
    td_fiber_stacks_close(&stacks);
    CHECK_EQ(account->now, 0);
    account->budget = bytes - 1;
    CHECK_STATUS(td_fiber_stacks_open(&stacks, MANY), TD_NO_MEMORY);
    CHECK_CONTAINS(td_last_message(), "memory allows more");
    CHECK_EQ(account->now, 0);
    (void)td_account_enter(other);
    td_account_release(account);
    CHECK_EQ(td_memory().now, before);
}

static __attribute__((noinline)) void use_stack(void)
{
    volatile char frame[1500];
    for (size_t i = 0; i < sizeof frame; i += 64) frame[i] = (char)i;
    switch_out();
}

static void short_main(void)
{
    td_fiber_arrived();
    use_stack();
    for (;;) switch_out();
}

/* Wherever in its page a stack begins, the frames of most kernels, some 1.5 KB, stay within the page that is charged. */
TEST(most_frames_take_the_one_page_that_is_charged)
{
    enum { MANY = 64 };
    unsigned char in_memory[TD_FIBER_STACK >> 10];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (TD_ADDRESS_CHECKED || page != TD_FIBER_TOUCHED) return; /* its frames are larger */
    memset(&scheduler, 0, sizeof scheduler);
    CHECK_OK(td_fiber_stacks_open(&stacks, MANY));
    for (running = 0; running < MANY; running++) {
        td_fiber *fiber = &stacks.fibers[running];
        td_fiber_prepare(fiber, short_main);
        td_fiber_switch(&scheduler, fiber);
        size_t pages = 0;
        CHECK_EQ(mincore(fiber->stack, TD_FIBER_STACK, in_memory), 0);
        for (size_t i = 0; i < TD_FIBER_STACK / page; i++) pages += in_memory[i] & 1u;
        CHECK_EQ(pages, 1);
    }
    td_fiber_stacks_close(&stacks);
}

TEST_MAIN
