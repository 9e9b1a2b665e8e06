/* What a face calls an option.
 *
 * A message refers to an option by its neutral name in braces: "{memory} allows more". Every face of Tandem has names
 * of its own: the tool says --memory, the C API td_memory_set_budget, a binding for another language memory=. A face
 * gives its table to the sessions that it opens (tandem.h: td_session_options.names), and the format of a message is
 * put into the words of the account that the thread works for (account.h). An option that the table lacks keeps its
 * neutral name. Only formats and texts of the library have references: what stands in for a %s is the user's and stays
 * as it is. */
#ifndef TD_BASE_NAMES_H
#define TD_BASE_NAMES_H

#include "tandem.h"

/* The name of one option, for arguments of messages and for texts that are no messages. */
const char *td_named(const char *option);

/* A text of the library, or a format, with the names of the options that it refers to: itself if it refers to none,
 * otherwise made in `buffer`. A text that would be cut is returned as it is: half a conversion is none. */
const char *td_names_in(const char *text, char *buffer, size_t bytes);

/* The neutral name of the first option that a text refers to; false: there is none. */
enum { TD_OPTION_BYTES = sizeof((td_refusal){0}.option) };
bool td_names_first(const char *text, char option[TD_OPTION_BYTES]);

#endif
