/* Inflating gzip members with Intel's ISA-L, several times as fast as zlib. The library is loaded at first use; a build
 * without its header, or a machine without the library, has none. */
#ifndef TD_STORE_ISAL_H
#define TD_STORE_ISAL_H

#include "base/status.h"

typedef struct td_isal td_isal;

bool td_isal_found(void);
uint64_t td_isal_bytes(void); /* of memory for one decoder, and for the library */
td_status td_isal_create(td_isal **out);
void td_isal_destroy(td_isal *self); /* NULL is fine */

/* From one call to the next input and output go on where they stood; a new member begins after td_isal_reset. */
typedef struct td_isal_span {
    const uint8_t *in, *in_end; /* `in` moves behind what was consumed: at a member's end, exactly behind its trailer */
    char *out, *out_end;        /* `out` moves behind what was produced */
    bool ended;                 /* the member has ended, and its checksum and length are right */
    const char *wrong;          /* why the data are no gzip member, or NULL */
} td_isal_span;

void td_isal_reset(td_isal *self);
void td_isal_step(td_isal *self, td_isal_span *span);

/* One whole member, with room for all of its content. Without `ended` it is incomplete or wrong, or does not fit. */
void td_isal_member(td_isal *self, td_isal_span *span);

#endif
