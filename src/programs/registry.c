#include "base/isa.h"
#include "kernels/program.h"

#include <string.h>

enum {
#define TD_PROGRAM(name) PROGRAM_##name,
#include "programs/programs.def"
#undef TD_PROGRAM
    PROGRAMS
};

/* The programs as compiled for each level of the instruction set, in the order of programs.def. */
#define TD_ISA(suffix, name) extern const td_program *const td_programs_##suffix[];
#include "isa_levels.def"
#undef TD_ISA

static const td_program *const *const by_level[] = {
#define TD_ISA(suffix, name) td_programs_##suffix,
#include "isa_levels.def"
#undef TD_ISA
};

static td_program chosen[PROGRAMS]; /* the programs of the level in use */

const td_program *const td_programs[] = {
#define TD_PROGRAM(name) &chosen[PROGRAM_##name],
#include "programs/programs.def"
#undef TD_PROGRAM
    NULL,
};

/* Runs when the process starts or loads the library, so that engines read td_programs as if there were one level. */
__attribute__((constructor)) static void choose_level(void)
{
    const td_program *const *level = by_level[td_isa_level()];
    for (int i = 0; i < PROGRAMS; i++) chosen[i] = *level[i];
}

const td_program *td_program_named(const char *name)
{
    for (int i = 0; td_programs[i] != NULL; i++)
        if (strcmp(td_programs[i]->info->name, name) == 0) return td_programs[i];
    return NULL;
}
