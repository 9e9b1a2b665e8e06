/* Tandem: graph algorithms on all of one machine.
 *
 * The one installed header. Handles are opaque, every call that can fail
 * returns a td_status, and td_last_message() says in words what went wrong in
 * the last failed call of the calling thread. Nothing aborts; on failure
 * nothing is left allocated and output parameters are untouched.
 */
#ifndef TANDEM_H
#define TANDEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TD_API __attribute__((visibility("default")))
#else
#define TD_API
#endif

/* code, what it means */
#define TD_STATUS_LIST(X)                                    \
    X(OK, "success")                                         \
    X(NO_MEMORY, "out of memory or over the memory budget")  \
    X(INVALID, "invalid argument")                           \
    X(USAGE, "wrong usage")                                  \
    X(NOT_FOUND, "no such thing")                            \
    X(IO, "input or output failed")                          \
    X(FORMAT, "malformed input")                             \
    X(CORRUPT, "corrupt file")                               \
    X(LIMIT, "beyond a limit of Tandem")                     \
    X(UNSUPPORTED, "not supported")                          \
    X(CANCELLED, "cancelled")                                \
    X(DEVICE, "device error")                                \
    X(VERIFY, "verification failed")                         \
    X(INTERNAL, "internal error")

typedef enum td_status {
#define TD_STATUS_CODE(code, text) TD_##code,
    TD_STATUS_LIST(TD_STATUS_CODE)
#undef TD_STATUS_CODE
} td_status;

TD_API const char *td_version(void);
TD_API const char *td_status_name(td_status status); /* "NO_MEMORY" */
TD_API const char *td_status_text(td_status status); /* "out of memory ..." */
TD_API const char *td_last_message(void);            /* never NULL */

#ifdef __cplusplus
}
#endif

#endif
