#include "base/status.h"

#include "base/names.h"

#include <errno.h>
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

/* The bytes of the control character that the text begins with; 0: none. */
static size_t control_bytes(const unsigned char *at)
{
    if (*at < 0x20 || *at == 0x7f) return 1;
    if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) return 2;
    if (at[0] == 0xe2 && at[1] == 0x80 && ((at[2] >= 0xaa && at[2] <= 0xae) || at[2] == 0x8e || at[2] == 0x8f)) return 3;
    return at[0] == 0xe2 && at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9 ? 3 : 0;
}

char *td_mask(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != '\0';) {
        size_t bytes = control_bytes(at);
        if (bytes > 0) memset(at, '?', bytes);
        at += bytes > 0 ? bytes : 1;
    }
    return text;
}

/* The arguments may point into `message`. */
static void put(char text[TD_MESSAGE_BYTES], const char *format, va_list list)
{
    char named[TD_MESSAGE_BYTES];
    vsnprintf(text, TD_MESSAGE_BYTES, td_names_in(format, named, sizeof named), list);
    td_mask(text);
}

/* A shortage of a resource that an option limits is about that option, whatever else the message suggests. */
static const char *option_of(td_resource resource)
{
    switch (resource) {
    case TD_RESOURCE_SESSION_BUDGET:
    case TD_RESOURCE_PROCESS_BUDGET: return "memory";
    case TD_RESOURCE_DEVICE_MEMORY: return "gpu_memory";
    case TD_RESOURCE_DEVICE_EDGES: return "gpu_edges";
    case TD_RESOURCE_THREADS: return "threads";
    default: return NULL;
    }
}

static void set_refusal(const td_refusal *refused, const char *format)
{
    refusal = *refused;
    const char *option = option_of(refusal.resource);
    if (refusal.option[0] != '\0') return;
    if (option != NULL) snprintf(refusal.option, sizeof refusal.option, "%s", option);
    else (void)td_names_first(format, refusal.option);
}

static void refuse_with(const td_refusal *refused, const char *format, va_list list)
{
    char text[TD_MESSAGE_BYTES];
    put(text, format, list);
    td_message_set(text);
    set_refusal(refused, format);
}

td_status td_fail(td_status status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    refuse_with(&(td_refusal){.resource = TD_RESOURCE_NONE}, format, list);
    va_end(list);
    return status;
}

td_status td_refuse(const td_refusal *refused, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    refuse_with(refused, format, list);
    va_end(list);
    return TD_NO_MEMORY;
}

td_status td_refuse_as(td_status status, const td_refusal *refused, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    refuse_with(refused, format, list);
    va_end(list);
    return status;
}

td_status td_refuse_thread(int error, uint64_t threads, const char *format, ...)
{
    char text[TD_MESSAGE_BYTES];
    va_list list;
    va_start(list, format);
    put(text, format, list);
    va_end(list);
    td_fail_errno(TD_NO_MEMORY, error, "%s", text);
    set_refusal(&(td_refusal){.resource = TD_RESOURCE_THREADS, .needed = threads}, format);
    return TD_NO_MEMORY;
}

td_status td_see(const char *topic, td_status status)
{
    size_t used = strlen(refusal.topics);
    if (status != TD_OK)
        snprintf(refusal.topics + used, sizeof refusal.topics - used, "%s%s", used > 0 ? " " : "", topic);
    return status;
}

/* Which resource an errno value says is short. */
static td_resource resource_of(int error)
{
    switch (error) {
    case ENOMEM: return TD_RESOURCE_SYSTEM_MEMORY;
    case EMFILE:
    case ENFILE: return TD_RESOURCE_FILES;
    case ENOSPC:
    case EDQUOT: return TD_RESOURCE_DISK;
    default: return TD_RESOURCE_NONE;
    }
}

td_status td_fail_errno(td_status status, int error, const char *format, ...)
{
    char text[TD_MESSAGE_BYTES], reason[128];
    va_list list;
    va_start(list, format);
    put(text, format, list);
    va_end(list);
    const char *words = strerror_r(error, reason, sizeof reason); /* the GNU version */
    td_fail(status, "%s: %s", text, words);
    set_refusal(&(td_refusal){.resource = resource_of(error)}, format);
    return status;
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
    set_refusal(&refusal, format);
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
    set_refusal(&refusal, format);
    return status;
}
