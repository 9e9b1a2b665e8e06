/* Traits that a program leaves out. Included behind its header. */
#ifndef PROGRAM_HAS_PRIORITY
#define PROGRAM_HAS_PRIORITY 0
#endif
#ifndef PROGRAM_PEELS
#define PROGRAM_PEELS 0
#endif
#ifndef PROGRAM_LOOPLESS
#define PROGRAM_LOOPLESS 0
#endif
#ifndef PROGRAM_BEGINS
#define PROGRAM_BEGINS 0
#endif
#ifndef PROGRAM_SHARES
#define PROGRAM_SHARES 0
#endif
#ifndef PROGRAM_OWN_VALUE
#define PROGRAM_OWN_VALUE 0
#endif
#ifndef PROGRAM_LINEAR
#define PROGRAM_LINEAR 0
#endif
#ifndef PROGRAM_PROPORTIONAL
#define PROGRAM_PROPORTIONAL PROGRAM_LINEAR
#endif
#ifndef PROGRAM_COLLECTS_EDGES
#define PROGRAM_COLLECTS_EDGES 0
#endif
#ifndef PROGRAM_LIGHT_FIRST
#define PROGRAM_LIGHT_FIRST 0
#endif
