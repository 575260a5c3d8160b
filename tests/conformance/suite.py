"""Runs the cases of README.md through drivers, and prints a table of cases and languages.

    suite.py LANGUAGE COMMAND [LANGUAGE COMMAND…]

If a case has no expected bytes, the bytes of the first language are compared with those of the others.
"""

import base64
import json
import pathlib
import shlex
import subprocess
import sys
import threading

import formats

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHANNELS = ["content", "thinking", "narration", "tool"]
# The sizes of the pieces into which a text is cut, besides its own chunks.
SIZES = [1, 7, 1 << 30]
# At most this many failures of a language are printed.
SHOWN = 5
# The languages whose objects can be closed, freed or moved from, or can end.
CLOSABLE = {"C++", "JavaScript", "Go", "Ruby", "Python"}
# The expected result of this text contradicts a rule of dialect files: an opener that is repeated before any thinking is removed.
CONTRADICTING = "<|channel><|channel>thought\n<channel|>Hello, world!\nWhat's up?"
# The causes of an end that leave a call whole.
WHOLE = {"marker", "implied"}


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def hexed(text):
    return text.hex() or "-"


def pieces(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


def cuts(chunks):
    whole = b"".join(chunks)
    return [chunks] + [pieces(whole, size) for size in SIZES]


class Request:
    """A request for the drivers. `judge` gets a driver's answer and the first driver's, and returns whether it is right."""

    def __init__(self, suite, case, what, dialect, start, rest, chunks, judge):
        self.suite, self.case, self.judge = suite, case, judge
        fields = [what, dialect, start or "-", *rest, *(hexed(chunk) for chunk in chunks)]
        self.line = " ".join(fields)


def channels_of(case):
    """Returns the texts of the channels that a case expects."""
    texts = {}
    for channel in CHANNELS:
        if case.get(channel) is not None:
            texts[channel] = case[channel].encode()
        elif case.get(f"{channel}_b64") is not None:
            texts[channel] = base64.b64decode(case[f"{channel}_b64"])
    return texts


def scans(suite, case):
    wanted = {channel: hexed(text) for channel, text in channels_of(case).items()}
    chunks = [chunk.encode() for chunk in case.get("chunks") or []] or [base64.b64decode(chunk) for chunk in case["chunks_b64"]]

    def judge(answer, _):
        got = dict(zip(CHANNELS, answer.split(" "), strict=True))
        return all(got[channel] == text for channel, text in wanted.items())

    for cut in cuts(chunks):
        yield Request(suite, case, "scan", case["dialect"], case.get("start"), [], cut, judge)


def answers(case):
    def is_right(call, wanted):
        name, arguments, is_whole = bytes.fromhex(call[0]).decode(), bytes.fromhex(call[1].removeprefix("-")), call[2] == "1"
        if name != wanted["name"] or "cause" in wanted and is_whole != (wanted["cause"] in WHOLE):
            return False
        if isinstance(wanted["arguments"], str):
            return arguments.decode() == wanted["arguments"]
        try:
            return json.loads(arguments) == wanted["arguments"]
        except ValueError:
            # Arguments of a broken call need not be JSON, so their text is not compared.
            return not is_whole and "cause" in wanted

    def judge(answer, first):
        thinking, content, *fields = answer.split(" ")
        if [thinking, content] != [hexed(case[channel].encode()) for channel in ["thinking", "content"]]:
            return False
        got = [fields[at : at + 3] for at in range(0, len(fields), 3)]
        return answer == first and len(got) == len(case["calls"]) and all(map(is_right, got, case["calls"]))

    tools = "-" if case.get("tools") is None else hexed(json.dumps(case["tools"]).encode())
    for cut in cuts([case["input"].encode()]):
        yield Request("answers", case, "answer", case["dialect"], case.get("start"), [tools], cut, judge)


def rewrites(case):
    if case["tool"] or case.get("narration"):
        return  # a rewriter without calls has no field for this text
    text = "".join(case["chunks"])
    wanted = [(case["thinking"], case["content"])]
    if text.startswith(case["thinking"]) and case.get("start") in (None, "content"):
        # The closer shows that the text before it was thinking, but a stream has sent it as content by then.
        wanted_of_streams = [*wanted, ("", case["thinking"] + case["content"])]
    else:
        wanted_of_streams = wanted
    for name, form in formats.FORMATS.items():
        for is_stream in [True, False]:
            answer = form.stream(case["chunks"]) if is_stream else form.body(text)

            def judge(answer, first, form=form, is_stream=is_stream):
                out = bytes.fromhex(answer.removeprefix("-"))
                return answer == first and formats.read(form, out, is_stream) in (wanted_of_streams if is_stream else wanted)

            about = {"about": f"{name}, {'stream' if is_stream else 'body'}: {case['about']}"}
            for size in SIZES:
                yield Request("formats", about, "rewrite", case["dialect"], case.get("start"), [], pieces(answer, size), judge)


def requests():
    for folder in [ROOT / "tests/vectors", ROOT.parent / "shared/vectors"]:
        for path in sorted(folder.glob("*.jsonl")):
            for case in lines(path):
                yield from scans("vectors", case)
    for case in lines(ROOT / "tests/field/cases.jsonl"):
        yield from scans("field", case)
    for path in sorted((ROOT / "tests/calls").glob("*.jsonl")):
        for case in lines(path):
            if case["input"] != CONTRADICTING:
                yield from answers(case)
    for case in lines(ROOT / "tests/field/cases.jsonl"):
        yield from rewrites(case)


def gone():
    """Returns the errors and messages of closed objects from the manual's table, by language."""
    _, table = (ROOT / "docs/bindings.md").read_text(encoding="utf-8").split("\n| | error | message |\n", 1)
    errors = {}
    for row in table.split("\n\n", 1)[0].splitlines()[1:]:
        what, error, message = (cell.strip() for cell in row.strip("|").split("|"))
        errors.setdefault(what.split(",")[0], []).append((error.replace("`", ""), message))
    if errors.keys() != CLOSABLE:
        sys.exit(f"docs/bindings.md has messages of {', '.join(errors)}, and not of {', '.join(sorted(CLOSABLE))}")
    return errors


def run(command, lines):
    """Returns the answer to each line."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as driver:

        def write():
            try:
                driver.stdin.writelines(line + "\n" for line in lines)
                driver.stdin.close()
            except BrokenPipeError:
                pass  # the driver has ended; the missing answers show it

        writer = threading.Thread(target=write)
        writer.start()
        answers = [line.rstrip("\n") for line in driver.stdout]
        writer.join()
    return answers + ["! no answer"] * (len(lines) - len(answers))


def is_right(request, answer, first):
    try:
        return not answer.startswith("!") and request.judge(answer, first)
    except (ValueError, KeyError, IndexError):
        return False


def main(languages):
    asked = list(requests())
    errors = gone()
    suites = list(dict.fromkeys(request.suite for request in asked))
    first, passed, failed = None, {}, False
    for language, command in languages:
        answers = run(shlex.split(command), [request.line for request in asked])
        first = first or answers
        shown = 0
        for request, answer, wanted in zip(asked, answers, first, strict=True):
            right = is_right(request, answer, wanted)
            passed[language, request.suite] = passed.get((language, request.suite), 0) + right
            if not right and shown < SHOWN:
                shown += 1
                print(f"{language}, {request.suite}: {request.case}\n  {request.line[:300]}\n  {answer[:300]}", file=sys.stderr)
            failed |= not right
        if wanted := errors.get(language.removesuffix(" without cgo")):
            [answer] = run(shlex.split(command), ["gone qwen3 -"])
            if answer != " ".join(hexed(cell.encode()) for row in wanted for cell in row):
                said = answer if answer.startswith("!") else [bytes.fromhex(field).decode() for field in answer.split(" ")]
                print(f"{language}: docs/bindings.md has {wanted}\n  {said}", file=sys.stderr)
                failed = True
    count = {suite: sum(request.suite == suite for request in asked) for suite in suites}
    rows = [["language", *(f"{suite} of {count[suite]}" for suite in suites)]]
    rows += [[language, *(str(passed[language, suite]) for suite in suites)] for language, _ in languages]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first_cell, *cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join([first_cell.strip().ljust(widths[0]), *cells]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(list(zip(sys.argv[1::2], sys.argv[2::2], strict=True))))
