#include "device/emulator/fiber.h"

#include "base/account.h"
#include "base/alloc.h"
#include "base/size.h"
#include "device/emulator/sanitizer.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if TD_ADDRESS_CHECKED
#include <sanitizer/common_interface_defs.h>
#endif

static td_fiber *leaving, *arriving; /* the current switch */

#if defined(__x86_64__)
#define HAND_WRITTEN 1
void td_fiber_change(void **save, void *load);
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden td_fiber_change\n"
        ".globl td_fiber_change\n"
        ".type td_fiber_change, @function\n"
        "td_fiber_change:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size td_fiber_change, .-td_fiber_change\n");

/* Six registers, the address to return to, and a word so that `entry` finds the stack as a call leaves it. */
static void *first_frame(char *end, void (*entry)(void))
{
    void **top = (void **)(void *)end - 8;
    memset(top, 0, 8 * sizeof *top);
    top[6] = (void *)(uintptr_t)entry;
    return top;
}
#elif defined(__aarch64__)
#define HAND_WRITTEN 1
void td_fiber_change(void **save, void *load);
__asm__(".text\n"
        ".p2align 4\n"
        ".hidden td_fiber_change\n"
        ".globl td_fiber_change\n"
        ".type td_fiber_change, %function\n"
        "td_fiber_change:\n"
        "    stp x29, x30, [sp, -160]!\n"
        "    stp x19, x20, [sp, 16]\n    stp x21, x22, [sp, 32]\n    stp x23, x24, [sp, 48]\n"
        "    stp x25, x26, [sp, 64]\n    stp x27, x28, [sp, 80]\n"
        "    stp d8, d9, [sp, 96]\n    stp d10, d11, [sp, 112]\n"
        "    stp d12, d13, [sp, 128]\n    stp d14, d15, [sp, 144]\n"
        "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
        "    ldp x19, x20, [sp, 16]\n    ldp x21, x22, [sp, 32]\n    ldp x23, x24, [sp, 48]\n"
        "    ldp x25, x26, [sp, 64]\n    ldp x27, x28, [sp, 80]\n"
        "    ldp d8, d9, [sp, 96]\n    ldp d10, d11, [sp, 112]\n"
        "    ldp d12, d13, [sp, 128]\n    ldp d14, d15, [sp, 144]\n"
        "    ldp x29, x30, [sp], 160\n"
        "    ret\n"
        ".size td_fiber_change, .-td_fiber_change\n");

static void *first_frame(char *end, void (*entry)(void))
{
    void **top = (void **)(void *)end - 20;
    memset(top, 0, 20 * sizeof *top);
    top[1] = (void *)(uintptr_t)entry;
    return top;
}
#else
#include <ucontext.h>
#endif

#if defined(HAND_WRITTEN)
static td_status make_context(td_fiber *fiber)
{
    (void)fiber;
    return TD_OK;
}

static void free_context(td_fiber *fiber) { (void)fiber; }
static void change(td_fiber *from, td_fiber *to) { td_fiber_change(&from->top, to->top); }

static void set_entry(td_fiber *fiber, void (*entry)(void))
{
    fiber->top = first_frame(fiber->stack + fiber->bytes, entry);
}
#else
static td_status make_context(td_fiber *fiber)
{
    return TD_NEW_ZEROED((ucontext_t **)&fiber->top, 1, "fibers");
}

static void free_context(td_fiber *fiber) { td_free(fiber->top); }

static void change(td_fiber *from, td_fiber *to)
{
    ucontext_t here;
    if (!from->begun) from->top = &here;
    swapcontext(from->top, to->top);
}

static void set_entry(td_fiber *fiber, void (*entry)(void))
{
    ucontext_t *context = fiber->top;
    getcontext(context);
    context->uc_stack = (stack_t){.ss_sp = fiber->stack, .ss_size = fiber->bytes};
    makecontext(context, entry, 0);
}
#endif

/* Stacks that all ended at the same place of a page would share a few lines of the cache. Half a page is left, so that
 * most kernels' frames take one page, which is what is charged. */
static size_t colour(uint32_t fiber) { return (size_t)fiber * 13 % 32 * 64; }

td_status td_fiber_stacks_open(td_fiber_stacks *out, uint32_t count)
{
    td_status status = TD_OK;
    td_fiber_stacks made = {.count = count};
    td_account *account = td_account_current();
    size_t guard = (size_t)sysconf(_SC_PAGESIZE), each = TD_FIBER_STACK + guard;
    TD_CHECK(TD_NEW_ZEROED(&made.fibers, count, "fibers"));
    if (!td_space_take(account, (uint64_t)count * TD_FIBER_TOUCHED)) {
        char bytes[TD_NUMBER_BYTES];
        td_refusal refusal = td_memory_lack((uint64_t)count * TD_FIBER_TOUCHED);
        TD_TRY(td_refuse(&refusal, "%s of memory for the stacks of %u emulated threads; {memory} allows more",
                         td_format_size(bytes, (uint64_t)count * TD_FIBER_TOUCHED), count));
    }
    made.account = account;
    td_account_keep(account);
    made.bytes = each * count;
    made.memory = mmap(NULL, made.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made.memory == MAP_FAILED) {
        made.memory = NULL;
        TD_TRY(td_fail_errno(TD_NO_MEMORY, errno, "cannot map %zu bytes for the stacks of %u emulated threads",
                             made.bytes, count));
    }
    for (uint32_t i = 0; i < count; i++) {
        char *lowest = made.memory + i * each;
        made.fibers[i] = (td_fiber){.stack = lowest + guard, .bytes = TD_FIBER_STACK - colour(i)};
        if (mprotect(lowest, guard, PROT_NONE) != 0)
            TD_TRY(td_fail_errno(TD_NO_MEMORY, errno, "cannot guard the stacks of %u emulated threads", count));
        TD_TRY(make_context(&made.fibers[i]));
    }
done:
    if (status != TD_OK) td_fiber_stacks_close(&made);
    else *out = made;
    return status;
}

void td_fiber_stacks_close(td_fiber_stacks *stacks)
{
    for (uint32_t i = 0; stacks->fibers != NULL && i < stacks->count; i++) {
        td_fiber_drop(&stacks->fibers[i]);
        free_context(&stacks->fibers[i]);
    }
    if (stacks->memory != NULL) munmap(stacks->memory, stacks->bytes);
    if (stacks->account != NULL) {
        td_account_credit(stacks->account, (uint64_t)stacks->count * TD_FIBER_TOUCHED);
        td_account_release(stacks->account);
    }
    td_free(stacks->fibers);
    *stacks = (td_fiber_stacks){0};
}

void td_fiber_prepare(td_fiber *fiber, void (*entry)(void))
{
    set_entry(fiber, entry);
    fiber->begun = true;
}

void td_fiber_arrived(void)
{
#if TD_ADDRESS_CHECKED
    const void *bottom = NULL;
    size_t bytes = 0;
    __sanitizer_finish_switch_fiber(arriving->shadow, &bottom, &bytes);
    if (leaving->stack == NULL) {
        leaving->stack = (char *)(uintptr_t)bottom;
        leaving->bytes = bytes;
    }
#endif
}

void td_fiber_switch(td_fiber *from, td_fiber *to)
{
    leaving = from;
    arriving = to;
#if TD_ADDRESS_CHECKED
    __sanitizer_start_switch_fiber(&from->shadow, to->stack, to->bytes);
#endif
    change(from, to);
    td_fiber_arrived();
}

void td_fiber_drop(td_fiber *fiber)
{
    if (!fiber->begun) return;
    fiber->begun = false;
    fiber->shadow = NULL;
    TD_ALLOW(fiber->stack, fiber->bytes);
}
