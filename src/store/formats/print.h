/* Prints numbers faster than the C library: printing limits the speed of writers. */
#ifndef TD_STORE_PRINT_H
#define TD_STORE_PRINT_H

#include <stdint.h>

#define TD_PRINT_U64 20u /* bytes, at most */
#define TD_PRINT_F32 20u
#define TD_PRINT_F64 28u

/* Each returns the end of the text; no terminating zero. */
char *td_print_u64(char *at, uint64_t value);

/* 9 significant digits, enough to read back the same float. There is always a point or
 * an exponent, so that a reader recognises a real number. */
char *td_print_f32(char *at, float value);

/* The same of a double, in 17 digits or fewer. */
char *td_print_f64(char *at, double value);

#endif
