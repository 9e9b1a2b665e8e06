#include "base/isa.h"
#include "kernels/program.h"

#include <string.h>

enum {
#define TD_PROGRAM(name) PROGRAM_##name,
#include "programs/programs.def"
    PROGRAMS,
    BEFORE_WIDE = PROGRAMS - 1,
#define TD_WIDE(name) WIDE_##name,
#include "programs/programs.def"
    INSTANCES
};

/* The programs as compiled for each level of the instruction set, in the order of programs.def, and behind them their
 * second instances. */
#define TD_ISA(suffix, name) extern const td_program *const td_programs_##suffix[];
#include "isa_levels.def"
#undef TD_ISA

static const td_program *const *const by_level[] = {
#define TD_ISA(suffix, name) td_programs_##suffix,
#include "isa_levels.def"
#undef TD_ISA
};

static td_program chosen[INSTANCES]; /* of the level in use */

const td_program *const td_programs[] = {
#define TD_PROGRAM(name) &chosen[PROGRAM_##name],
#include "programs/programs.def"
    NULL,
};

/* Runs when the process starts or loads the library, so that engines read td_programs as if there were one level. */
__attribute__((constructor)) static void choose_level(void)
{
    const td_program *const *level = by_level[td_isa_level()];
    for (int i = 0; i < INSTANCES; i++) chosen[i] = *level[i];
#define TD_WIDE(name) chosen[PROGRAM_##name].wide = &chosen[WIDE_##name];
#include "programs/programs.def"
}

const td_program *td_program_named(const char *name)
{
    for (int i = 0; td_programs[i] != NULL; i++)
        if (strcmp(td_programs[i]->info->name, name) == 0) return td_programs[i];
    return NULL;
}
