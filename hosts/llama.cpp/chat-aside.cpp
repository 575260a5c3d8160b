// Replaces the parser of common/chat.cpp, through the C interface: the markers of a model are data (a dialect), found by its chat
// template. The dialect, the tools and the answer to be continued are written as a literal into the parser that the server keeps,
// because it keeps nothing else of a request for its parser.

#include "chat-aside.h"

#include "log.h"

#include <aside.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <stdexcept>

static const std::string MARK = "aside:";

static std::string text(const aside_bytes &bytes) { return bytes.len ? std::string(bytes.at, bytes.len) : std::string(); }
static aside_bytes lend(const std::string &text) { return {text.data(), text.size()}; }

namespace {
struct stream {
    aside_answer *answer = nullptr;
    bool is_json = false; // the request has a schema for the answer
    std::string read;     // the part of the answer that has been fed
    common_chat_msg msg;

    stream() = default;
    stream(const stream &) = delete;
    ~stream() { aside_answer_free(answer); }
};

struct marker_texts {
    std::string open, close;
};
} // namespace

// Adds parts to the message. The server makes the ids that the model did not write.
static void take(common_chat_msg &msg, const aside_part *parts, size_t count)
{
    for (; count > 0; parts++, count--) {
        switch (parts->kind) {
        case ASIDE_PART_KIND_THINKING: msg.reasoning_content += text(parts->text); break;
        case ASIDE_PART_KIND_CONTENT: msg.content += text(parts->text); break;
        case ASIDE_PART_KIND_CALL:
            msg.tool_calls.emplace_back();
            msg.tool_calls.back().name = text(parts->text);
            msg.tool_calls.back().id = parts->is_made ? "" : text(parts->id);
            break;
        case ASIDE_PART_KIND_ARGUMENTS: msg.tool_calls[parts->index].arguments += text(parts->text); break;
        case ASIDE_PART_KIND_CALL_END:
            if (parts->id.len) {
                msg.tool_calls[parts->index].id = text(parts->id);
            }
            break;
        }
    }
}

// Returns an answer that is JSON without the code fence that some models write around it.
static std::string without_fence(const std::string &content, bool is_partial)
{
    static const std::string OPEN = "```json\n", CLOSE = "\n```";
    if (content.compare(0, OPEN.size(), OPEN) != 0) {
        return is_partial && OPEN.compare(0, content.size(), content) == 0 ? "" : content;
    }
    std::string body = content.substr(OPEN.size());
    for (size_t len = std::min(CLOSE.size(), body.size()); len > 0; len--) {
        const bool is_close = body.compare(body.size() - len, len, CLOSE, 0, len) == 0;
        if (is_close && (is_partial || len == CLOSE.size())) {
            return body.substr(0, body.size() - len);
        }
    }
    return body;
}

// Returns the markers around the thinking, taken from a message that the dialect writes.
static marker_texts thinking_markers(const aside_dialect *dialect)
{
    marker_texts markers;
    aside_join_options options = {};
    options.size = sizeof(options);
    options.thinking = {"t", 1};
    options.content = {"c", 1};
    size_t len = 0;
    char *joined = aside_join(dialect, &options, &len);
    aside_scanner *scanner = aside_scanner_new(dialect, nullptr);
    if (joined && scanner) {
        aside_scanner_feed(
            scanner, joined, len,
            [](void *user, const aside_event *event, const char *bytes) {
                auto &found = *static_cast<marker_texts *>(user);
                if (event->channel == ASIDE_CHANNEL_THINKING && event->kind == ASIDE_KIND_OPEN)
                    found.open.append(bytes, event->len);
                if (event->channel == ASIDE_CHANNEL_THINKING && event->kind == ASIDE_KIND_CLOSE)
                    found.close.append(bytes, event->len);
                return 0;
            },
            &markers);
    }
    aside_scanner_free(scanner);
    aside_free(joined);
    return markers;
}

static void add(std::vector<std::string> &list, const std::string &item)
{
    if (!item.empty() && std::find(list.begin(), list.end(), item) == list.end()) {
        list.push_back(item);
    }
}

// Adds the tags of a call that the dialect writes: a tag that is a special token must be in the text, or the call is not read.
static void add_call_tags(const aside_dialect *dialect, std::vector<std::string> &tags)
{
    const aside_join_call call = {{"f", 1}, {R"({"a": "b"})", 10}, {"functions.f:0", 13}};
    aside_join_options options = {};
    options.size = sizeof(options);
    options.calls = &call;
    options.call_count = 1;
    options.call_size = sizeof(call);
    size_t len = 0;
    if (char *joined = aside_join(dialect, &options, &len)) {
        static const std::regex TAG(R"(<[^<>\s]+>|\[\w+\])");
        for (std::cregex_iterator at(joined, joined + len, TAG), end; at != end; ++at) {
            add(tags, at->str());
        }
        aside_free(joined);
    }
}

void common_chat_aside_apply(const std::string &template_source, const common_chat_templates_inputs &inputs,
                             common_chat_params &params)
{
    const char *on = std::getenv("LLAMA_ASIDE");
    if (!on || !*on || inputs.force_pure_content) {
        return;
    }
    const aside_dialect *dialect = aside_dialect_find_for_template(template_source.data(), template_source.size(), nullptr);
    if (!dialect) {
        LOG_WRN("aside: llama.cpp's own parser reads this model: %s\n", aside_last_error());
        return;
    }
    const auto markers = thinking_markers(dialect);
    if (params.thinking_start_tag.empty()) {
        params.thinking_start_tag = markers.open;
    }
    add(params.thinking_end_tags, markers.close);
    if (!inputs.tools.empty()) {
        add_call_tags(dialect, params.preserved_tokens);
    }
    common_json request = common_json::object();
    request["dialect"] = aside_dialect_name(dialect, nullptr);
    request["tools"] = inputs.tools.empty() || inputs.tool_choice == COMMON_CHAT_TOOL_CHOICE_NONE
                           ? "[]"
                           : common_chat_tools_to_json_oaicompat(inputs.tools).dump();
    request["inline"] = inputs.reasoning_format == COMMON_REASONING_FORMAT_NONE;
    request["json"] = !inputs.json_schema.empty();
    if (inputs.continue_final_message != COMMON_CHAT_CONTINUATION_NONE && !inputs.messages.empty()
        && inputs.messages.back().role == "assistant") {
        const auto &prefill = inputs.messages.back();
        const bool is_rendered = params.generation_prompt.find(prefill.reasoning_content) != std::string::npos;
        request["content"] = prefill.render_content();
        request["reasoning"] = is_rendered ? prefill.reasoning_content : ""; // not every template writes it
        const bool is_thought = inputs.continue_final_message == COMMON_CHAT_CONTINUATION_AUTO
                                && prefill.render_content().empty();
        request["thinks"] = is_rendered
                            && (is_thought || inputs.continue_final_message == COMMON_CHAT_CONTINUATION_REASONING);
    }
    params.parser = build_peg_parser([&](common_peg_parser_builder &p) { return p.literal(MARK + request.dump()); }).save();
}

// Begins to read the answer to a request, as the literal of its parser describes it.
static std::shared_ptr<stream> begin(const std::string &literal, const std::string &generation_prompt)
{
    const auto request = common_json::parse(literal.substr(MARK.size()));
    const auto name = request.at("dialect").get<std::string>();
    const auto tools = request.at("tools").get<std::string>();

    aside_answer_options options = {};
    options.size = sizeof(options);
    options.tools = lend(tools);
    // may_take_back stays 0: a message only grows, since the server has already sent its beginning.
    if (request.at("inline").get<bool>()) {
        options.thinking = ASIDE_THINKING_INLINE;
    }

    auto s = std::make_shared<stream>();
    const aside_dialect *dialect = aside_dialect_find(name.data(), name.size());
    s->answer = aside_answer_new(dialect, &options);
    s->is_json = request.at("json").get<bool>();
    s->msg.role = "assistant";
    aside_start start;
    if (!s->answer
        || aside_answer_start_from_prompt(s->answer, generation_prompt.data(), generation_prompt.size(), &start)
               != ASIDE_OK) {
        throw std::runtime_error(std::string("aside: ") + aside_last_error());
    }
    if (request.contains("content")) { // the answer that is continued is a part of the message
        s->msg.content = request.at("content").get<std::string>();
        s->msg.reasoning_content = request.at("reasoning").get<std::string>();
        options.start = ASIDE_START_THINKING;
        if (start == ASIDE_START_CONTENT && request.at("thinks").get<bool>()) {
            // If a thought is continued, the template writes it without its opener.
            if (aside_answer *inside = aside_answer_new(dialect, &options)) {
                std::swap(s->answer, inside);
                aside_answer_free(inside);
            }
        }
    }
    return s;
}

bool common_chat_aside_parse(const common_peg_arena &parser, const std::string &input, bool is_partial,
                             const common_chat_parser_params &params, common_chat_msg &msg)
{
    const auto *literal = parser.empty() ? nullptr : std::get_if<common_peg_literal_parser>(&parser.get(parser.root()));
    if (!literal || literal->literal.rfind(MARK, 0) != 0) {
        return false;
    }
    auto kept = std::static_pointer_cast<stream>(parser.kept);
    if (!kept || input.compare(0, kept->read.size(), kept->read) != 0) {
        kept = begin(literal->literal, params.generation_prompt);
    }
    const size_t done = kept->read.size();
    const aside_part *parts = nullptr;
    size_t count = 0;
    auto status = aside_answer_feed(kept->answer, input.data() + done, input.size() - done, &parts, &count);
    take(kept->msg, parts, count);
    kept->read.append(input, done, std::string::npos);
    parser.kept = kept;
    if (!is_partial && status == ASIDE_OK) {
        count = 0;
        status = aside_answer_finish(kept->answer, ASIDE_END_REASON_UNKNOWN, &parts, &count);
        take(kept->msg, parts, count);
        parser.kept.reset();
    }
    if (status != ASIDE_OK) {
        throw std::runtime_error(std::string("aside: ") + aside_last_error());
    }
    msg = kept->msg;
    if (kept->is_json) {
        msg.content = without_fence(msg.content, is_partial);
    }
    return true;
}
