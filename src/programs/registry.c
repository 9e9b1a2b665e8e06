#include "kernels/program.h"

#include <string.h>

#define TD_PROGRAM(name) extern const td_program td_program_##name;
#include "programs/programs.def"
#undef TD_PROGRAM

const td_program *const td_programs[] = {
#define TD_PROGRAM(name) &td_program_##name,
#include "programs/programs.def"
#undef TD_PROGRAM
    NULL,
};

const td_program *td_program_named(const char *name)
{
    for (int i = 0; td_programs[i] != NULL; i++)
        if (strcmp(td_programs[i]->info->name, name) == 0) return td_programs[i];
    return NULL;
}
