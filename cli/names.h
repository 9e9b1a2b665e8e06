/* What the tool calls options in messages: its flags. */
#ifndef TD_CLI_NAMES_H
#define TD_CLI_NAMES_H

#include "tandem.h"

extern const td_option_name td_tool_names[];

#endif
