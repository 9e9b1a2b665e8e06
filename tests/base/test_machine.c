/* What the system says about the machine has to make sense. */
#include "base/machine.h"
#include "base/processors.h"

#include "test.h"

TEST(the_machine_is_described_sensibly)
{
    td_machine machine;
    td_machine_describe(&machine);
    CHECK(machine.processor[0] != '\0');
    CHECK(machine.usable >= 1 && machine.usable <= machine.processors);
    CHECK(machine.cores >= (td_processors_available() ? 1 : 0) && machine.cores <= machine.processors);
    CHECK(machine.numa_nodes >= 1);
    CHECK(machine.memory >= (uint64_t)1 << 26);
    CHECK(machine.memory_free <= machine.memory);
    CHECK(machine.huge_pages[0] != '\0');
}

TEST_MAIN
