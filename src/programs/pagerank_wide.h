/* The second instance of pagerank: ranks of 8 bytes (docs/design/precision.md). */
#define PROGRAM_WIDE 1
#include "programs/pagerank.h"
