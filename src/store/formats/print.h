/* Numbers into text, without the C library's detours: writers are bound by this. */
#ifndef TD_STORE_PRINT_H
#define TD_STORE_PRINT_H

#include <stdint.h>

#define TD_PRINT_U64 20u /* bytes, at most */
#define TD_PRINT_F32 20u

/* Each returns the place behind the last character; no terminating zero. */
char *td_print_u64(char *at, uint64_t value);

/* 9 significant digits, which is what it takes for the same float to come back.
 * There is always a point or an exponent, so that a reader knows a real number. */
char *td_print_f32(char *at, float value);

#endif
