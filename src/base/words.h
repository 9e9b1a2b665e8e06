/* What an option is called.
 *
 * Messages are written in the tool's words: "--memory allows more". A program that uses the library has no such option
 * but a call or a field, and is to read that instead. So every message's format passes here on its way out and gets the
 * names that the calling thread's account has (account.h): the library's for sessions (api/words.c), the tool's where
 * it has none. Only the format is translated: what stands in for a %s is the user's, or has been through td_word. A
 * command in quotes, 'tandem convert --weights 1:100', stays as it is. */
#ifndef TD_BASE_WORDS_H
#define TD_BASE_WORDS_H

#include <stddef.h>

/* Names are a table of these that ends with a NULL tool. */
typedef struct td_option_name {
    const char *tool, *name;
    const char *of_session; /* instead, where the session's own budget leaves least room; NULL: none */
} td_option_name;

/* The name of one option, given as the tool's: for arguments of messages, and for texts that are no messages. */
const char *td_word(const char *option);

/* The format in the words of the calling thread's account: itself, or what was made of it in `buffer`. */
const char *td_words_in(const char *format, char *buffer, size_t bytes);

#endif
