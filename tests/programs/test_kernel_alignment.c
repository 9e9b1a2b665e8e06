/* CPU kernels begin a line of the instruction cache, so that what is linked before them does not decide where their loops
 * lie (scripts/isa.cmake). */
#include "test.h"

#include "kernels/cpu/job.h"

#include <stddef.h>

#define KERNEL(name) {#name, offsetof(td_cpu_kernels, name)}
static const struct kernel {
    const char *name;
    size_t at;
} kernels[] = {KERNEL(init), KERNEL(pull), KERNEL(pull_hit), KERNEL(push), KERNEL(push_high_degree), KERNEL(bucket),
               KERNEL(sweep), KERNEL(sample), KERNEL(between), KERNEL(peel), KERNEL(gather)};

static uint64_t address_of(const td_cpu_kernels *table, const struct kernel *kernel)
{
    uint64_t address = 0;
    memcpy(&address, (const char *)table + kernel->at, sizeof(td_cpu_kernel));
    return address;
}

TEST(kernels_begin_a_line_of_the_instruction_cache)
{
    uint64_t seen = 0;
#ifndef TANDEM_ALIGNS_FUNCTIONS
    SKIP("the compiler has no option for it");
#endif
    for (int p = 0; td_programs[p] != NULL; p++)
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            uint64_t address = address_of(&td_programs[p]->cpu[TD_WEIGHT_NONE], &kernels[k]);
            seen += address != 0;
            if (address % 64 != 0) TEST_FAIL("%s of %s", kernels[k].name, td_programs[p]->info->name);
        }
    CHECK(seen > 30);
}

TEST_MAIN
