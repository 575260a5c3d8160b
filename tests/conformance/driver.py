"""The driver of Python: README.md says what it reads and writes."""

import contextlib
import sys

from libaside import Answer, AsideError, Compressor, Dialect, Rewriter, Scanner

CHANNELS = ["content", "thinking", "narration", "tool"]


def of_hex(text):
    return bytes.fromhex(text.removeprefix("-"))


def hexed(text):
    return text.hex() or "-"


def events(scanner, chunks):
    for chunk in chunks:
        yield from scanner.feed(of_hex(chunk))
    yield from scanner.finish()


def scan(dialect, start, chunks):
    texts = dict.fromkeys(CHANNELS, b"")
    for event in events(Scanner(dialect, start=start), chunks):
        if event.kind == "text":
            texts[event.channel] += event.text
        elif event.kind == "reclassify":
            other = "content" if event.channel == "thinking" else "thinking"
            texts[event.channel] += texts[other]
            texts[other] = b""
    return " ".join(map(hexed, texts.values()))


def read(dialect, start, tools, chunks):
    answer = Answer(dialect, start=start, tools=None if tools == "-" else of_hex(tools).decode())
    texts, calls = {"thinking": b"", "content": b""}, []
    parts = [part for chunk in chunks for part in answer.feed(of_hex(chunk))]
    for part in parts + answer.finish():
        if part.kind == "call":
            calls.append([part.name.encode(), b"", 0])
        elif part.kind == "arguments":
            calls[part.index][1] += part.text
        elif part.kind == "call_end":
            calls[part.index][2] = int(part.is_whole)
        elif part.kind in texts:
            texts[part.kind] += part.text
    told = (f"{hexed(name)} {hexed(arguments)} {is_whole}" for name, arguments, is_whole in calls)
    return " ".join([*map(hexed, texts.values()), *told])


def rewrite(dialect, start, chunks):
    rewriter = Rewriter(dialect, start=start)
    return hexed(b"".join(rewriter.feed(of_hex(chunk)) for chunk in chunks) + rewriter.finish())


def gone():
    """Returns the error of an ended stream. Another failure with another message precedes it."""
    stream = Compressor().stream(tool_id="bash", input="make")
    stream.finish()
    with contextlib.suppress(AsideError):
        Dialect.find("nobody")
    try:
        stream.feed("a")
    except AsideError as error:
        return f"{hexed(type(error).__name__.encode())} {hexed(str(error).encode())}"


def answer(what, dialect, start, *rest):
    start = None if start == "-" else start
    try:
        if what == "gone":
            return gone()
        if what == "scan":
            return scan(dialect, start, rest)
        return read(dialect, start, rest[0], rest[1:]) if what == "answer" else rewrite(dialect, start, rest)
    except AsideError as error:
        return f"! {error}"


for line in sys.stdin:
    print(answer(*line.split()), flush=True)
