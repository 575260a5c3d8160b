// Replaces the parser of common/chat.cpp. The patch next to this file adds the two calls to these functions.

#pragma once

#include "chat.h"

#include <string>

// Makes `params` of a rendered request use the dialect of its template. The server stores the parser in `params.parser` in its JSON
// like any other parser. Changes nothing, and says so in the log, if no dialect is known for the template.
void common_chat_aside_apply(const std::string &template_source, const common_chat_templates_inputs &inputs,
                             common_chat_params &params);

// Parses as much of an answer as has arrived, if `parser` was made by common_chat_aside_apply; otherwise returns false. The state
// of the answer is kept with the parser, so that only the new part of a growing text is read.
bool common_chat_aside_parse(const common_peg_arena &parser, const std::string &input, bool is_partial,
                             const common_chat_parser_params &params, common_chat_msg &msg);
