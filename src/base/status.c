#include "base/status.h"

#include "base/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[TD_MESSAGE_BYTES] = "";
static _Thread_local td_refusal refusal;

const char *td_version(void) { return TANDEM_VERSION; }

const char *td_status_name(td_status status)
{
    static const char *const names[] = {
#define NAME(code, text) #code,
        TD_STATUS_LIST(NAME)
#undef NAME
    };
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "UNKNOWN";
}

const char *td_status_text(td_status status)
{
    static const char *const texts[] = {
#define TEXT(code, text) text,
        TD_STATUS_LIST(TEXT)
#undef TEXT
    };
    return (size_t)status < sizeof texts / sizeof *texts ? texts[status] : "unknown status";
}

const char *td_last_message(void) { return message; }
const td_refusal *td_last_refusal(void) { return &refusal; }

void td_refusal_set(const td_refusal *refused) { refusal = *refused; }

void td_failure_keep(td_failure *out)
{
    memcpy(out->message, message, sizeof message);
    out->refusal = refusal;
}

void td_failure_set(const td_failure *failure)
{
    td_message_set(failure->message);
    refusal = failure->refusal;
}

void td_message_set(const char *text)
{
    size_t length = strnlen(text, sizeof message - 1);
    memmove(message, text, length); /* `text` may be the message itself */
    message[length] = '\0';
}

/* The arguments may point into `message`. */
static void put(char text[TD_MESSAGE_BYTES], const char *format, va_list list)
{
    char words[TD_MESSAGE_BYTES];
    vsnprintf(text, TD_MESSAGE_BYTES, td_words_in(format, words, sizeof words), list);
}

td_status td_fail(td_status status, const char *format, ...)
{
    char text[TD_MESSAGE_BYTES];
    va_list list;
    va_start(list, format);
    put(text, format, list);
    va_end(list);
    td_message_set(text);
    refusal = (td_refusal){.resource = TD_RESOURCE_NONE};
    return status;
}

td_status td_refuse(const td_refusal *refused, const char *format, ...)
{
    char text[TD_MESSAGE_BYTES];
    va_list list;
    va_start(list, format);
    put(text, format, list);
    va_end(list);
    td_message_set(text);
    refusal = *refused;
    return TD_NO_MEMORY;
}

td_status td_fail_errno(td_status status, int error, const char *format, ...)
{
    char text[TD_MESSAGE_BYTES], reason[128];
    va_list list;
    va_start(list, format);
    put(text, format, list);
    va_end(list);
    const char *words = strerror_r(error, reason, sizeof reason); /* the GNU version */
    return td_fail(status, "%s: %s", text, words);
}

/* Both texts, as far as there is room. */
static void join(const char *first, const char *second)
{
    char text[TD_MESSAGE_BYTES];
    size_t used = strnlen(first, sizeof text - 1), more = strnlen(second, sizeof text - 1 - used);
    memcpy(text, first, used);
    memcpy(text + used, second, more);
    text[used + more] = '\0';
    td_message_set(text);
}

td_status td_fail_context(td_status status, const char *format, ...)
{
    char text[TD_MESSAGE_BYTES];
    va_list list;
    va_start(list, format);
    put(text, format, list);
    va_end(list);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, ": ");
    join(text, message);
    return status;
}

td_status td_fail_add(td_status status, const char *format, ...)
{
    char text[TD_MESSAGE_BYTES];
    va_list list;
    va_start(list, format);
    put(text, format, list);
    va_end(list);
    join(message, text);
    return status;
}
