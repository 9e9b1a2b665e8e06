#include "base/words.h"

#include "base/status.h"

#include <stdatomic.h>
#include <string.h>

static const struct {
    const char *tool, *library;
} names[] = {
    {"--memory", "td_memory_set_budget"},
    {"--threads", "td_session_create"},
    {"--source", "td_request.source and has_source"},
    {"--iterations", "td_request.iterations"},
    {"--tolerance", "td_request.tolerance"},
    {"--sync", "TD_MODE_SYNC"},
    {"--async", "TD_MODE_ASYNC"},
    {"--parents", "td_request.parents"},
    {"--engine", "td_request.engine"},
    {"--set", "td_request.settings"},
    {"--devices", "td_request.devices"},
    {"--gpu-memory", "td_request.gpu_memory"},
    {"--gpu-edges", "td_request.gpu_edges"},
    {"--checkpoint", "td_request.checkpoint"},
    {"--every", "td_request.checkpoint_every"},
    {"--resume", "td_request.resume"},
    {"--format", "td_graph_options.format"},
    {"--to", "td_graph_save's format"},
    {"--weights", "td_graph_options.weights"},
};

static _Atomic bool of_library;

void td_words_of_library(void) { of_library = true; }

/* The library's name of what begins here, and how long the tool's is; NULL if it is no option that it has. */
static const char *name_at(const char *text, size_t *length)
{
    *length = 2 + strspn(text + 2, "abcdefghijklmnopqrstuvwxyz-");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(names[i].tool, text, *length) == 0 && names[i].tool[*length] == '\0') return names[i].library;
    return NULL;
}

const char *td_word(const char *option)
{
    size_t length;
    const char *name = of_library ? name_at(option, &length) : NULL;
    return name != NULL ? name : option;
}

/* How much from here on stays as it is: up to the next option, past commands in quotes. */
static size_t plain_length(const char *text)
{
    const char *at = text;
    while (*at != '\0' && strncmp(at, "--", 2) != 0) {
        const char *quote = strncmp(at, "'tandem ", 8) == 0 ? strchr(at + 1, '\'') : NULL;
        at = quote != NULL ? quote + 1 : at + 1;
    }
    return (size_t)(at - text);
}

static bool add(char *buffer, size_t bytes, size_t *used, const char *text, size_t length)
{
    if (length >= bytes - *used) return false;
    memcpy(buffer + *used, text, length);
    *used += length;
    buffer[*used] = '\0';
    return true;
}

/* A format that would have to be cut is left alone: half a conversion is none. */
const char *td_words_in(const char *format, char *buffer, size_t bytes)
{
    size_t used = 0, length;
    if (!of_library || strstr(format, "--") == NULL) return format;
    for (const char *at = format; *at != '\0'; at += length) {
        const char *name = strncmp(at, "--", 2) == 0 ? name_at(at, &length) : NULL;
        if (strncmp(at, "--", 2) != 0) length = plain_length(at);
        if (!add(buffer, bytes, &used, name != NULL ? name : at, name != NULL ? strlen(name) : length)) return format;
    }
    return buffer;
}

bool td_message_names(const char *option) { return strstr(td_last_message(), td_word(option)) != NULL; }
