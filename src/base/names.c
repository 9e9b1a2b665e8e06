#include "base/names.h"

#include "base/account.h"

#include <string.h>

/* The face's name of an option, NULL if its table has none. */
static const char *find(const td_option_name *names, const char *option, size_t length)
{
    for (; names != NULL && names->option != NULL; names++)
        if (strncmp(names->option, option, length) == 0 && names->option[length] == '\0') return names->name;
    return NULL;
}

/* Memory is limited by two budgets; a face may have a name for the session's, which counts where it leaves least. */
static const char *name_of(const char *option, size_t length)
{
    static const char memory[] = "memory", of_session[] = "session_memory";
    const td_account *account = td_account_current();
    const char *name = NULL;
    if (length == sizeof memory - 1 && strncmp(option, memory, length) == 0 && td_account_binding(account) == account)
        name = find(account->names, of_session, sizeof of_session - 1);
    return name != NULL ? name : find(account->names, option, length);
}

const char *td_named(const char *option)
{
    const char *name = name_of(option, strlen(option));
    return name != NULL ? name : option;
}

/* The length of the reference's name that begins behind this brace, 0 if none does. */
static size_t reference_at(const char *brace)
{
    size_t length = strspn(brace + 1, "abcdefghijklmnopqrstuvwxyz_");
    return brace[1 + length] == '}' ? length : 0;
}

static const char *next_reference(const char *text)
{
    do text = strchr(text, '{');
    while (text != NULL && reference_at(text) == 0 && *++text != '\0');
    return text != NULL && *text != '\0' ? text : NULL;
}

static bool add(char *buffer, size_t bytes, size_t *used, const char *text, size_t length)
{
    if (length >= bytes - *used) return false;
    memcpy(buffer + *used, text, length);
    *used += length;
    buffer[*used] = '\0';
    return true;
}

const char *td_names_in(const char *text, char *buffer, size_t bytes)
{
    size_t used = 0;
    const char *at = text, *brace = next_reference(text);
    if (brace == NULL) return text;
    for (; brace != NULL; brace = next_reference(at)) {
        size_t length = reference_at(brace);
        const char *name = name_of(brace + 1, length);
        if (!add(buffer, bytes, &used, at, (size_t)(brace - at)) ||
            !add(buffer, bytes, &used, name != NULL ? name : brace + 1, name != NULL ? strlen(name) : length))
            return text;
        at = brace + length + 2;
    }
    return add(buffer, bytes, &used, at, strlen(at)) ? buffer : text;
}

bool td_names_first(const char *text, char option[TD_OPTION_BYTES])
{
    const char *brace = next_reference(text);
    size_t length = brace != NULL ? reference_at(brace) : 0;
    if (length == 0 || length >= TD_OPTION_BYTES) return false;
    memcpy(option, brace + 1, length);
    option[length] = '\0';
    return true;
}
