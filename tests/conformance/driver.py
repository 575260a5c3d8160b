"""The driver of Python: README.md says what it reads and writes."""

import contextlib
import sys

from libaside import AsideError, Compressor, Dialect, Rewriter, Scanner

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


def calls(dialect, start, tools, chunks):
    said = []
    tools = None if tools == "-" else of_hex(tools).decode()
    for event in events(Scanner(dialect, start=start, calls=True, tools=tools), chunks):
        for delta in event.calls:
            if delta.name is not None:
                said.append([delta.name, "", "0"])
            said[-1][1] += delta.arguments
            if delta.end and delta.end.is_whole:
                said[-1][2] = "1"
    return " ".join(f"{hexed(name.encode())} {hexed(arguments.encode())} {whole}" for name, arguments, whole in said)


def rewrite(dialect, start, chunks):
    rewriter = Rewriter(dialect, start=start)
    return hexed(b"".join(rewriter.feed(of_hex(chunk)) for chunk in chunks) + rewriter.finish())


def gone():
    """The error of a stream that has ended, after a failure with another message."""
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
        return calls(dialect, start, rest[0], rest[1:]) if what == "calls" else rewrite(dialect, start, rest)
    except AsideError as error:
        return f"! {error}"


for line in sys.stdin:
    print(answer(*line.split()), flush=True)
