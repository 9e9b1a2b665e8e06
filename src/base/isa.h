/* Levels of the instruction set: those for which this build has CPU kernels, and the one in use.
 *
 * The build writes isa_levels.def (scripts/isa.cmake): a level per line, ascending, TD_ISA(suffix of symbols, name).
 * Ordinary code is compiled for the first level. Kernels are compiled once per level; programs/registry.c takes those
 * of the level in use, once, when the process starts. */
#ifndef TD_BASE_ISA_H
#define TD_BASE_ISA_H

#include "base/status.h"

#include <stdbool.h>

int td_isa_count(void);
const char *td_isa_name(int level); /* "x86-64", "x86-64-v3", "armv8-a", "native" */
bool td_isa_usable(int level);      /* the processor has every feature of the level, and the system lets it be used */

/* The level in use: the highest usable one, or the one that the environment variable TANDEM_ISA named when the process
 * started. */
int td_isa_level(void);

/* Fails where TANDEM_ISA names a level that this build or this processor does not have. */
td_status td_isa_check(void);

#endif
