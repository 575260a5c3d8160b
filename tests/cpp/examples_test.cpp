// The C++ examples must work as described: requests one after the other, and a server with many streams at the same time. Their
// event streams, joined, must be the scanner's result for the whole text.
#include "heard.hpp"

#include <gtest/gtest.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using nlohmann::json;

namespace {

struct Answer {
    std::string reasoning, content, finish_reason;
    std::size_t deltas = 0;
};

/// Reads an event stream and returns its answers by id. Throws if an event is not JSON or not a chunk of an answer.
std::map<std::string, Answer> read(const std::string &stream)
{
    std::map<std::string, Answer> answers;
    std::istringstream lines(stream);
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line == "data: [DONE]")
            continue;
        const json chunk = json::parse(line.substr(line.find("data: ") == 0 ? 6 : 0));
        const json &choice = chunk.at("choices").at(0);
        Answer &answer = answers[chunk.at("id")];
        EXPECT_EQ(answer.finish_reason, "") << "a chunk behind the last one";
        answer.reasoning += choice.at("delta").value("reasoning_content", "");
        answer.content += choice.at("delta").value("content", "");
        if (choice.at("finish_reason").is_string())
            answer.finish_reason = choice.at("finish_reason");
        answer.deltas++;
    }
    return answers;
}

TEST(Streams, KeepRequestsApart)
{
    const std::vector<std::string> names = {"qwen3", "qwen3-tool", "qwen3-cut"};
    std::string command = STREAMS " qwen3";
    for (const std::string &name : names)
        command += " '" RECORDINGS "/" + name + ".txt'";
    FILE *const program = popen(command.c_str(), "r");
    ASSERT_NE(program, nullptr);
    std::string printed;
    for (char buffer[4096]; const std::size_t len = std::fread(buffer, 1, sizeof buffer, program);)
        printed.append(buffer, len);
    EXPECT_EQ(pclose(program), 0);

    std::map<std::string, Answer> answers = read(printed);
    EXPECT_EQ(answers.size(), names.size());
    for (std::size_t at = 0; at < names.size(); at++) {
        std::ifstream file(RECORDINGS "/" + names[at] + ".txt", std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        aside::AnswerOptions options;
        options.tools = "[]";
        aside::Answer parts(aside::Dialect::find("qwen3"), options);
        std::string thinking, content;
        const auto add = [&](const aside::Parts &some) {
            for (const aside::Part &part : some)
                (part.kind == aside::PartKind::thinking ? thinking : content) += part.text;
        };
        add(parts.feed(text));
        add(parts.finish(aside::EndReason::ended));
        const Answer &answer = answers["chatcmpl-" + std::to_string(at + 1)];
        EXPECT_NE(answer.reasoning, "");
        EXPECT_EQ(answer.reasoning, thinking) << names[at];
        EXPECT_EQ(answer.content, content) << names[at];
        EXPECT_EQ(answer.finish_reason, "stop");
    }
    // The streams are mixed: every answer begins before any answer ends.
    EXPECT_LT(printed.find("chatcmpl-3"), printed.find("[DONE]"));
}

/// The server as a separate process.
class Server {
public:
    Server()
    {
        int ends[2];
        if (pipe(ends) != 0)
            return;
        process_ = fork();
        if (process_ == 0) {
            dup2(ends[1], STDOUT_FILENO);
            close(ends[0]);
            close(ends[1]);
            execl(SERVER, SERVER, "0", static_cast<char *>(nullptr));
            _exit(127);
        }
        close(ends[1]);
        FILE *const said = fdopen(ends[0], "r");
        if (std::fscanf(said, "listening on 127.0.0.1:%d", &port_) != 1)
            port_ = 0;
        std::fclose(said);
    }
    ~Server()
    {
        if (process_ > 0) {
            kill(process_, SIGTERM);
            waitpid(process_, nullptr, 0);
        }
    }
    Server(const Server &) = delete;

    int port() const { return port_; }

private:
    pid_t process_ = -1;
    int port_ = 0;
};

json request_of(const std::string &text, const char *model = "qwen3")
{
    return {{"model", model}, {"stream", true}, {"messages", {{{"role", "user"}, {"content", text}}}}};
}

/// Returns the relay's output for this answer, including its counts.
std::string relayed(const std::string &arguments)
{
    const std::string command =
        "printf 'data: {\"choices\":[{\"delta\":{\"content\":\"<think>hm</think>Yes.\"}}]}\\n\\n' | " RELAY " " + arguments
        + " 2>&1";
    FILE *const program = popen(command.c_str(), "r");
    std::string printed;
    for (int c; program != nullptr && (c = std::fgetc(program)) != EOF;)
        printed += static_cast<char>(c);
    EXPECT_TRUE(program != nullptr && pclose(program) == 0) << printed;
    return printed;
}

TEST(Relay, SplitsWhatIsForARewriter)
{
    const std::string split = relayed("qwen3 '/v1/chat/completions?a' 'Text/Event-Stream; charset=utf-8'");
    EXPECT_NE(split.find("\"reasoning_content\":\"hm\""), std::string::npos) << split;
    EXPECT_NE(split.find("1 events, 2 bytes of thinking, 4 of content\n"), std::string::npos) << split;
    for (const char *other : {"qwen3 /v1/models text/event-stream", "qwen3 /v1/chat/completions text/event-stream-x"}) {
        const std::string passed = relayed(other);
        EXPECT_NE(passed.find("<think>hm</think>Yes."), std::string::npos) << passed;
        EXPECT_NE(passed.find("0 events, 0 bytes of thinking, 0 of content\n"), std::string::npos) << passed;
    }
}

TEST(Server, ServesAHundredStreamsAtOnce)
{
    constexpr int count = 100;
    Server server;
    ASSERT_GT(server.port(), 0);

    // No client continues before all clients have begun to read, so that all streams are open at the same time.
    std::mutex mutex;
    std::condition_variable changed;
    int begun = 0;
    const auto wait_for_all = [&] {
        std::unique_lock<std::mutex> lock(mutex);
        begun++;
        changed.notify_all();
        return changed.wait_for(lock, std::chrono::seconds(60), [&] { return begun >= count; });
    };

    std::vector<std::string> streams(count), problems(count);
    std::vector<std::string> reasonings, contents;
    std::vector<std::thread> clients;
    for (int at = 0; at < count; at++) {
        std::string reasoning = "Request " + std::to_string(at)
                                + ": \"\xe2\x80\x9cquoted\xe2\x80\x9d\"\n\\ \xf0\x9f\xa7\xa0 <b>";
        for (int line = 0; line < at; line++)
            reasoning += "\nline " + std::to_string(line) + " <thi </thin";
        reasonings.push_back(reasoning);
        contents.push_back("Answer \t" + std::to_string(at) + " \xc3\xa4\xe4\xb8\xad\xf0\x9f\x98\x80 <thin");
    }
    for (int at = 0; at < count; at++)
        clients.emplace_back([&, at, i = static_cast<std::size_t>(at)] {
            httplib::Client client("127.0.0.1", server.port());
            client.set_read_timeout(60);
            httplib::Request request;
            request.method = "POST";
            request.path = "/v1/chat/completions";
            request.set_header("Content-Type", "application/json");
            request.body = request_of("<think>\n" + reasonings[i] + "\n</think>\n\n" + contents[i]).dump();
            request.content_receiver = [&](const char *data, std::size_t len, std::uint64_t, std::uint64_t) {
                if (streams[i].empty() && !wait_for_all())
                    problems[i] = "of all, began " + std::to_string(begun);
                streams[i].append(data, len);
                return true;
            };
            const httplib::Result result = client.send(request);
            if (!result)
                problems[i] = "no response: " + httplib::to_string(result.error());
            else if (result->status != 200 || result->get_header_value("Content-Type") != "text/event-stream")
                problems[i] = "status " + std::to_string(result->status);
        });
    for (std::thread &client : clients)
        client.join();

    std::map<std::string, int> ids;
    for (std::size_t at = 0; at < count; at++) {
        ASSERT_EQ(problems[at], "") << at;
        const std::string &stream = streams[at];
        const std::string end = "data: [DONE]\n\n";
        ASSERT_GT(stream.size(), end.size());
        EXPECT_EQ(stream.substr(stream.size() - end.size()), end);
        const std::map<std::string, Answer> answers = read(stream);
        ASSERT_EQ(answers.size(), 1u);
        ids[answers.begin()->first]++;
        const Answer &answer = answers.begin()->second;
        EXPECT_EQ(answer.reasoning, reasonings[at]);
        EXPECT_EQ(answer.content, contents[at]);
        EXPECT_EQ(answer.finish_reason, "stop");
        EXPECT_GT(answer.deltas, contents[at].size() / 8) << "this is no stream";
    }
    EXPECT_EQ(ids.size(), std::size_t{count});
}

TEST(Server, RefusesWhatItCannotServe)
{
    Server server;
    ASSERT_GT(server.port(), 0);
    httplib::Client client("127.0.0.1", server.port());
    const auto post = [&](const std::string &body) {
        const httplib::Result result = client.Post("/v1/chat/completions", body, "application/json");
        return result ? std::make_pair(result->status, result->body) : std::make_pair(0, std::string());
    };
    EXPECT_EQ(post("{").first, 400);
    EXPECT_EQ(post("{\"model\": \"qwen3\", \"messages\": []}").first, 400);
    EXPECT_EQ(post(request_of("a", "qwen33").dump()).first, 404);
    EXPECT_EQ(post(std::string((8u << 20) + 1, ' ')).first, 413);
    EXPECT_NE(json::parse(post(request_of("a", "qwen33").dump()).second)["error"]["message"].get<std::string>().find(
                  "qwen3"),
              std::string::npos);
    EXPECT_EQ(read(post(request_of("").dump()).second).size(), 1u);
}

TEST(Server, RefusesWhatIsNoPort)
{
    for (const std::string port : {"", "http", "80x", "-1", "65536", "4294967296"}) {
        const int status = std::system(("timeout 10 " SERVER " '" + port + "' 2>/dev/null").c_str());
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 2) << port << ": " << status;
    }
}

} // namespace
