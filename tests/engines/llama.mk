# Builds llama.cpp's tests/test-chat with the parser of hosts/llama.cpp, and a program that times both parsers. ggml and llama are left
# out: what only a loaded model needs is a stub that returns 0.
# make SOURCE=<llama.cpp, patched> BUILD=<objects> ASIDE=<this checkout> LIBRARY=<folder of libaside.so.1>
S := $(SOURCE)
B := $(BUILD)
FLAGS := -std=c++17 -w -DNDEBUG -I$S/common -I$S/include -I$S/ggml/include -I$S/vendor -I$S/src -I$S -I$S/tools/server -I$S/tools/mtmd -I$S/tests
# Those that the timed program spends its time in are optimised; optimising all would take an hour.
FAST := chat-peg-parser peg-parser json json-schema trie unicode
SLOW := chat-auto-parser-generator chat-auto-parser-helpers chat-diff-analyzer json-schema-to-grammar log common
JINJA := $(notdir $(basename $(wildcard $S/common/jinja/*.cpp)))
PARSERS := $(notdir $(basename $(wildcard $S/common/parsers/*.cpp)))
COMMON := $(FAST:%=$B/fast_%.o) $(SLOW:%=$B/common_%.o) $(JINJA:%=$B/jinja_%.o) $(PARSERS:%=$B/parsers_%.o) $B/chat.o $B/chat-aside.o
TESTS := $B/src_llama-grammar.o $B/src_unicode.o $B/src_unicode-data.o $B/server-chat.o $B/test-chat.o
LINK := -L$(LIBRARY) -l:libaside.so.1 -Wl,-rpath,$(LIBRARY) -lpthread
.DELETE_ON_ERROR:

all: $B/test-chat $B/parse-cost
$B/fast_%.o: $S/common/%.cpp ; g++ $(FLAGS) -O2 -c $< -o $@
$B/common_%.o: $S/common/%.cpp ; g++ $(FLAGS) -c $< -o $@
$B/jinja_%.o: $S/common/jinja/%.cpp ; g++ $(FLAGS) -c $< -o $@
$B/parsers_%.o: $S/common/parsers/%.cpp ; g++ $(FLAGS) -c $< -o $@
$B/src_%.o: $S/src/%.cpp ; g++ $(FLAGS) -c $< -o $@
$B/server-chat.o: $S/tools/server/server-chat.cpp ; g++ $(FLAGS) -c $< -o $@
$B/test-chat.o: $S/tests/test-chat.cpp ; g++ $(FLAGS) -UNDEBUG -c $< -o $@
$B/chat.o: $S/common/chat.cpp $(ASIDE)/hosts/llama.cpp/chat-aside.h
	g++ $(FLAGS) -O2 -DLLAMA_ASIDE -I$(ASIDE)/hosts/llama.cpp -c $< -o $@
$B/chat-aside.o: $(ASIDE)/hosts/llama.cpp/chat-aside.cpp $(ASIDE)/hosts/llama.cpp/chat-aside.h $(wildcard $(ASIDE)/include/*.h)
	g++ $(FLAGS) -O2 -Wall -Wextra -Werror -I$(ASIDE)/hosts/llama.cpp -I$(ASIDE)/include -c $< -o $@
$B/parse-cost.o: $(ASIDE)/tests/engines/llama_cost.cpp ; g++ $(FLAGS) -O2 -I$(ASIDE)/include -c $< -o $@
$B/stubs.s: $(COMMON) $(TESTS) $B/parse-cost.o
	for main in test-chat parse-cost; do \
		g++ $(COMMON) $(filter-out %/test-chat.o,$(TESTS)) $B/$$main.o -o $B/none $(LINK) -Wl,--no-demangle -Wl,--warn-unresolved-symbols 2>&1; \
	done | sed -n "s/.*undefined reference to .\([A-Za-z0-9_]*\)'.*/\1/p" | sort -u | grep -v '^aside_' \
		| awk 'BEGIN { print ".text" } { print ".globl " $$1 "\n" $$1 ": xor %eax,%eax; ret" } END { print ".section .note.GNU-stack" }' >$@
	rm -f $B/none
$B/test-chat: $(COMMON) $(TESTS) $B/stubs.s ; g++ -no-pie $(COMMON) $(TESTS) -x assembler $B/stubs.s -o $@ $(LINK)
$B/parse-cost: $(COMMON) $B/parse-cost.o $B/stubs.s
	g++ -no-pie $(COMMON) $(filter-out %/test-chat.o,$(TESTS)) $B/parse-cost.o -x assembler $B/stubs.s -o $@ $(LINK)
