#include "base/words.h"

#include "base/account.h"

#include <string.h>

/* Which of the two calls would allow more memory depends on the budget that leaves least room. */
static const char *name_of(const td_option_name *name)
{
    const td_account *account = td_account_current();
    bool own = name->of_session != NULL && td_account_binding(account) == account;
    return own ? name->of_session : name->name;
}

/* The name in these words of the option that begins here, and how long the tool's is; NULL if they have none. */
static const char *name_at(const td_option_name *words, const char *text, size_t *length)
{
    *length = 2 + strspn(text + 2, "abcdefghijklmnopqrstuvwxyz-");
    for (; words->tool != NULL; words++)
        if (strncmp(words->tool, text, *length) == 0 && words->tool[*length] == '\0') return name_of(words);
    return NULL;
}

const char *td_word(const char *option)
{
    size_t length;
    const td_option_name *words = td_account_current()->words;
    const char *name = words != NULL ? name_at(words, option, &length) : NULL;
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
    const td_option_name *words = td_account_current()->words;
    if (words == NULL || strstr(format, "--") == NULL) return format;
    for (const char *at = format; *at != '\0'; at += length) {
        const char *name = strncmp(at, "--", 2) == 0 ? name_at(words, at, &length) : NULL;
        if (strncmp(at, "--", 2) != 0) length = plain_length(at);
        if (!add(buffer, bytes, &used, name != NULL ? name : at, name != NULL ? strlen(name) : length)) return format;
    }
    return buffer;
}
