// The parser of common/chat.cpp by aside: the two places where that file calls it. The patch next to this file has them.

#pragma once

#include "chat.h"

#include <string>

// Makes `params` of a rendered request use the dialect of its template. The parser that `params.parser` then has passes through
// the server's JSON as any other. Changes nothing, and says so in the log, if no dialect is known for the template.
void common_chat_aside_apply(const std::string &template_source, const common_chat_templates_inputs &inputs,
                             common_chat_params &params);

// Parses an answer as far as it is there, if `parser` was made by common_chat_aside_apply; returns false if it was not. The scanner
// is kept with the parser, so that of a text that grows only what is new is read.
bool common_chat_aside_parse(const common_peg_arena &parser, const std::string &input, bool is_partial,
                             const common_chat_parser_params &params, common_chat_msg &msg);
