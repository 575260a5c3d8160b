"""Prepares llama.cpp's tests/test-chat so that a failed case does not end the run. Compares a run with llama.cpp's own parser and a
run with aside.

    llama.py prepare SOURCE     changes SOURCE/tests/test-chat.cpp
    llama.py compare OUT        reads OUT/llama-own.txt and OUT/llama-aside.txt, prints own/aside/of, writes OUT/llama-lost.txt
"""

import collections
import pathlib
import sys

FLOOR = 438

RUN = "        test_peg_parser(tester_.tmpls_.get(), [this](peg_test_case & t) { t = tc_; }, tester_.detailed_debug_);\n"
CAUGHT = """
        static int number = 0;
        std::string outcome = "pass";
        try {
            test_peg_parser(tester_.tmpls_.get(), [this](peg_test_case & t) { t = tc_; }, tester_.detailed_debug_);
            auto params = tc_.params;
            if (params.messages.empty()) params.messages = { message_user };
            const bool is_aside = common_chat_templates_apply(tester_.tmpls_.get(), params).parser.find("aside:") != std::string::npos;
            if (getenv("LLAMA_ASIDE") && !is_aside) outcome = "fail no dialect";
        } catch (const std::exception & e) { outcome = std::string("fail ") + e.what(); }
        std::string line = tester_.template_path() + " || " + tc_.input + " || " + outcome;
        for (auto & c : line) if (c == '\\n') c = '~';
        printf("CASE %d %s\\n", ++number, line.c_str());
        fflush(stdout);
"""


def prepare(source):
    path = pathlib.Path(source, "tests/test-chat.cpp")
    text = path.read_text()
    assert text.count(RUN) == 1, "tests/test-chat.cpp is of another version"
    path.write_text(text.replace(RUN, CAUGHT))


def cases(path):
    """Returns the outcome and the text of each case, by number and template."""
    found = {}
    for line in path.read_text(errors="replace").splitlines():
        if line.startswith("CASE "):
            template, text, outcome = line.split(" || ", 2)
            number, template = template.removeprefix("CASE ").split(" ", 1)
            found[f"{number} {pathlib.Path(template).name}"] = (outcome, text)
    return found


def compare(out):
    left = pathlib.Path(__file__).with_name("llama-uncounted.txt").read_text().splitlines()
    left = {line.split("\t")[0] for line in left if line and not line.startswith("#")}
    own, aside = (cases(out / f"llama-{name}.txt") for name in ("own", "aside"))
    counted = [name for name, (outcome, _) in own.items() if outcome == "pass" and name not in left]
    lost = {name: aside.get(name, ("fail not run", "")) for name in counted}
    lost = {name: case for name, case in lost.items() if case[0] != "pass"}
    (out / "llama-lost.txt").write_text("".join(f"{name}\t{text}\t{outcome}\n" for name, (outcome, text) in lost.items()))
    print(f"llama test-chat: own {len(counted)}, aside {len(counted) - len(lost)}, of {len(counted)} (lost: {out}/llama-lost.txt)")
    left_alone = sum(outcome == "fail no dialect" for outcome, _ in lost.values())
    print(f"    {left_alone} of the lost have no dialect, so that llama.cpp's own parser read them")
    templates = collections.Counter(name.split(" ", 1)[1] for name in lost)
    for template, count in templates.most_common():
        print(f"    {count} lost of {template}")
    if len(counted) - len(lost) < FLOOR:
        sys.exit(f"llama: {len(counted) - len(lost)} are fewer than {FLOOR}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare", source]:
            prepare(source)
        case ["compare", out]:
            compare(pathlib.Path(out))
        case _:
            sys.exit(__doc__)
