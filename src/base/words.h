/* What an option is called.
 *
 * Messages are written in the tool's words: "--memory allows more". A program that uses the library has no such option
 * but a call or a field, and is to read that instead. So every message's format passes here on its way out, and the
 * table in words.c is the one place that knows both names. Only the format is looked at: what stands in for a %s is the
 * user's, or has been through td_word. A command in quotes, 'tandem convert --weights 1:100', stays as it is. */
#ifndef TD_BASE_WORDS_H
#define TD_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* From now on options are called what the library calls them. */
void td_words_of_library(void);

/* The name of one option, given as the tool's: for arguments of messages, and for texts that are no messages. */
const char *td_word(const char *option);

/* The format in the words of the day: itself, or what was made of it in `buffer`. */
const char *td_words_in(const char *format, char *buffer, size_t bytes);

/* Whether the last message speaks of this option, given as the tool's. */
bool td_message_names(const char *option);

#endif
