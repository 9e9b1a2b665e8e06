/* The second instance of sssp: distances of 8 bytes (docs/design/precision.md). */
#define PROGRAM_WIDE 1
#include "programs/sssp.h"
