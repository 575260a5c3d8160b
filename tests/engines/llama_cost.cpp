// Measures the processor time of parsing for each token of an answer: with llama.cpp's own parser, with the parser of
// hosts/llama.cpp in its place, and with aside's scanner alone, without llama.cpp's interface, which needs the whole message at
// each token. Prints a line for each length: "llama", the tokens, how many of them were timed, and the microseconds for a token of
// each parser, the shortest of five rounds. Usage: parse-cost TEMPLATE

#include "chat.h"
#include "log.h"

#include <aside.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

static const size_t TOKEN = 4; // bytes

static int32_t append(void *user, const aside_event *event, const char *bytes)
{
    if (event->kind == ASIDE_KIND_TEXT) {
        static_cast<std::string *>(user)[event->channel].append(bytes, event->len);
    }
    return 0;
}

static double since(clock_t start, size_t count) { return double(clock() - start) / CLOCKS_PER_SEC * 1e6 / count; }

// Parses as the server does: at each token the whole text so far, and then the difference from the message before.
static double parse(const common_chat_templates *templates, const std::string &text, size_t step, common_chat_msg &last)
{
    common_chat_templates_inputs inputs;
    common_chat_msg user;
    user.role = "user";
    user.content = "Hello";
    common_chat_tool tool;
    tool.name = "read";
    tool.parameters = R"({"type":"object","properties":{"path":{"type":"string"}}})";
    inputs.messages = {user};
    inputs.tools = {tool};
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    const auto request = common_chat_templates_apply(templates, inputs);
    common_chat_parser_params params(request);
    params.parser.load(request.parser);
    params.reasoning_format = inputs.reasoning_format;
    common_chat_parse("", true, params);
    last = {};
    size_t count = 0;
    const clock_t start = clock();
    for (size_t len = step * TOKEN; len <= text.size(); len += step * TOKEN, count++) {
        auto now = common_chat_parse(text.substr(0, len), true, params);
        common_chat_msg_diff::compute_diffs(last, now);
        last = now;
    }
    return since(start, count);
}

int main(int, char **arguments)
{
    std::ifstream file(arguments[1]);
    std::stringstream source;
    source << file.rdbuf();
    const auto templates = common_chat_templates_init(nullptr, source.str());
    const aside_dialect *dialect = aside_dialect_find("qwen3", 5);
    for (const size_t tokens : {1000, 4000, 16000, 64000}) {
        std::string text = "<think>\n";
        while (text.size() < tokens * TOKEN - 400)
            text += "so the next step of the plan is to read it ";
        text += "now.</think>\n\n";
        while (text.size() < tokens * TOKEN)
            text += "The answer. ";
        text.resize(tokens * TOKEN - 1);
        text += "."; // parsers trim blanks at the end differently

        // At the last length, timing all tokens would take llama.cpp's parser a minute, so only some tokens are timed, spread over
        // the answer.
        const size_t step = tokens <= 4000 ? 1 : tokens / 400;
        common_chat_msg own, ours;
        double theirs = INFINITY, patched = INFINITY, alone = INFINITY;
        for (int round = 0; round < 5; round++) {
            unsetenv("LLAMA_ASIDE");
            theirs = std::min(theirs, parse(templates.get(), text, step, own));
            setenv("LLAMA_ASIDE", "1", 1);
            patched = std::min(patched, parse(templates.get(), text, 1, ours));

            std::string channels[ASIDE_CHANNEL_TOOL + 1];
            aside_scanner *scanner = aside_scanner_new(dialect, nullptr);
            const clock_t start = clock();
            for (size_t at = 0; at < text.size(); at += TOKEN)
                aside_scanner_feed(scanner, text.data() + at, TOKEN, append, channels);
            alone = std::min(alone, since(start, tokens));
            aside_scanner_free(scanner);
        }
        if (own != ours || own.reasoning_content.empty() || own.content.empty()) {
            throw std::runtime_error("the two parsers differ");
        }
        std::cout << "llama\t" << tokens << '\t' << tokens / step << '\t' << theirs << '\t' << patched << '\t' << alone
                  << std::endl;
    }
}
