// The parser of common/chat.cpp by aside, through the C interface: the markers of a model are data there (a dialect), found by its
// chat template. The dialect, the tools and the answer that is continued are written as a literal into the parser that the server
// passes on, since it keeps nothing else of a request for its parser.

#include "chat-aside.h"

#include "log.h"

#include <aside.h>
#include <aside_unstable.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

static const std::string MARK = "aside:";

static std::string text(const aside_bytes &bytes) { return bytes.len ? std::string(bytes.at, bytes.len) : std::string(); }
static aside_bytes lend(const std::string &text) { return {text.data(), text.size()}; }

namespace {
struct stream {
    aside_scanner *scanner = nullptr;
    aside_call_writer *writer = nullptr;
    bool inline_thinking = false; // reasoning format none: the thinking stays in the content, with its markers
    bool is_json = false;         // the request has a schema for the answer
    std::string read;             // the part of the answer that the scanner has
    common_chat_msg msg;

    stream() = default;
    stream(const stream &) = delete;
    ~stream()
    {
        aside_call_writer_free(writer);
        aside_scanner_free(scanner);
    }
};

struct marker_texts {
    std::string open, close;
};
} // namespace

static void take_call(stream &s, const aside_event *event, const char *bytes)
{
    aside_call_delta delta = {};
    delta.size = sizeof(delta);
    if (aside_call_writer_feed(s.writer, event, sizeof(*event), bytes, &delta) != ASIDE_OK) {
        return; // the event has nothing for a client
    }
    auto &calls = s.msg.tool_calls;
    if (calls.size() <= delta.index) {
        calls.resize(delta.index + 1);
    }
    auto &call = calls[delta.index];
    if (delta.is_first) {
        call.name = text(delta.name);
        const auto id = text(delta.id);
        call.id = id.rfind(MARK, 0) == 0 ? "" : id; // the server makes the ids that the model did not write
    }
    if (delta.late_id.len) {
        call.id = text(delta.late_id);
    }
    call.arguments += text(delta.arguments);
}

// Adds an event to the message. Text that a later closer says was thinking stays content: a message only grows, since the server has sent
// what came before.
static int32_t take(void *user, const aside_event *event, const char *bytes)
{
    auto &s = *static_cast<stream *>(user);
    take_call(s, event, bytes);
    const bool is_text = event->kind == ASIDE_KIND_TEXT;
    if (event->channel == ASIDE_CHANNEL_THINKING && s.inline_thinking) {
        const bool is_marker = event->kind == ASIDE_KIND_OPEN || event->kind == ASIDE_KIND_CLOSE
                               || event->kind == ASIDE_KIND_FRAMING;
        if (is_text || is_marker) {
            s.msg.content.append(bytes, event->len);
        }
    } else if (event->channel == ASIDE_CHANNEL_THINKING && is_text) {
        s.msg.reasoning_content.append(bytes, event->len);
    } else if (is_text && (event->channel == ASIDE_CHANNEL_CONTENT || event->channel == ASIDE_CHANNEL_NARRATION)) {
        s.msg.content.append(bytes, event->len);
    }
    return 0;
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

// The markers around the thinking: those in a message that the dialect writes.
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
    aside_tool_trigger form = {};
    form.size = sizeof(form);
    for (size_t i = 0; !inputs.tools.empty() && aside_dialect_tool_trigger(dialect, i, &form) == ASIDE_OK; i++) {
        std::istringstream tags(text(form.preserved));
        for (std::string tag; tags >> tag;) {
            add(params.preserved_tokens, tag);
        }
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

    aside_scanner_options options = {};
    options.size = sizeof(options);
    options.calls = 1;
    aside_call_writer_options calls = {};
    calls.size = sizeof(calls);
    calls.tools = lend(tools);
    calls.id_prefix = lend(MARK);

    auto s = std::make_shared<stream>();
    const aside_dialect *dialect = aside_dialect_find(name.data(), name.size());
    s->scanner = aside_scanner_new(dialect, &options);
    s->writer = s->scanner ? aside_call_writer_new(dialect, &calls) : nullptr;
    s->inline_thinking = request.at("inline").get<bool>();
    s->is_json = request.at("json").get<bool>();
    s->msg.role = "assistant";
    aside_start start;
    if (!s->writer
        || aside_scanner_start_from_prompt(s->scanner, generation_prompt.data(), generation_prompt.size(), &start)
               != ASIDE_OK) {
        throw std::runtime_error(std::string("aside: ") + aside_last_error());
    }
    if (request.contains("content")) { // the answer that is continued is a part of the message
        s->msg.content = request.at("content").get<std::string>();
        s->msg.reasoning_content = request.at("reasoning").get<std::string>();
        options.start = ASIDE_START_THINKING;
        if (start == ASIDE_START_CONTENT && request.at("thinks").get<bool>()) {
            // The template writes a thought that is continued without its opener.
            if (aside_scanner *inside = aside_scanner_new(dialect, &options)) {
                std::swap(s->scanner, inside);
                aside_scanner_free(inside);
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
    auto status = aside_scanner_feed(kept->scanner, input.data() + done, input.size() - done, take, kept.get());
    kept->read.append(input, done, std::string::npos);
    parser.kept = kept;
    if (!is_partial && status == ASIDE_OK) {
        status = aside_scanner_finish(kept->scanner, take, kept.get());
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
