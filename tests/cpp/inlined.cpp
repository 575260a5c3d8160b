// inlined.cmake compiles this file to assembly. A callable must not cost an extra call, so the function that the library calls back
// must contain the code of the lambda.
#include <aside.hpp>

void add_content(aside::Scanner &scanner, std::string_view chunk, std::size_t &len)
{
    scanner.feed(chunk, [&](const aside::Event &event) {
        if (event.is_text(aside::Channel::content))
            len += event.bytes.size();
    });
}
