// Treats an answer like a proxy: asks whether a rewriter must read the answer, rewrites it or passes it on unchanged, and prints
// the counts.
//
//     relay DIALECT PATH CONTENT_TYPE < body
//     relay qwen3 /v1/messages text/event-stream < answer.sse
#include <aside.hpp>

#include <iostream>

int main(int argc, char **argv)
try {
    if (argc != 4) {
        std::cerr << "usage: relay DIALECT PATH CONTENT_TYPE < body\n";
        return 2;
    }
    aside::RewriterOptions options;
    aside::Exchange exchange;
    exchange.status = 200;
    exchange.path = argv[2];
    exchange.content_type = argv[3];
    if (const auto body = aside::wants(exchange))
        options.body = *body;
    else
        options.off = true; // a proxy would forward this answer without a rewriter
    aside::Rewriter rewriter(aside::Dialect::find(argv[1]), options);

    char buffer[16 * 1024];
    while (std::cin.read(buffer, sizeof buffer), std::cin.gcount() > 0)
        std::cout << rewriter.feed({buffer, static_cast<std::size_t>(std::cin.gcount())}) << std::flush;
    std::cout << rewriter.finish() << std::flush;

    const aside::Stats stats = rewriter.stats();
    std::cerr << stats.events << " events, " << stats.thinking_bytes << " bytes of thinking, " << stats.content_bytes
              << " of content\n";
    return std::cout ? 0 : 1;
} catch (const std::exception &error) {
    std::cerr << "relay: " << error.what() << '\n';
    return 1;
}
