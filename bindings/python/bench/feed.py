"""Measures one feed of a token, as str and as bytes, compared with the call of a method that does almost nothing. All times include
the loop over the text. Prints one line for each figure:

    python bench/feed.py FILE       FILE is a short workload

scripts/benchmarks runs it. The shortest of several rounds counts, and the compared methods take turns.
"""

import struct
import sys
import time

from libaside import Scanner

ROUNDS = 15


def read(path):
    """Returns the chunks of a workload, whose messages are fed one after the other."""
    with open(path, "rb") as file:
        data = file.read()
    chunks, at = [], 0
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        if size > 0:
            chunks.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    return chunks


def feed(chunks):
    feed = Scanner("inline-think").feed
    text = 0
    for chunk in chunks:
        for event in feed(chunk):
            text += len(event.text)
    return text


def call(chunks):
    pieces = []
    text = 0
    for chunk in chunks:
        pieces.append(chunk)
        text += len(chunk)
    return text


def main():
    chunks = read(sys.argv[1])
    strings = [chunk.decode() for chunk in chunks]
    ways = [("Scanner.feed of str", feed, strings), ("Scanner.feed of bytes", feed, chunks), ("empty call", call, strings)]
    best = {name: float("inf") for name, _, _ in ways}
    for _ in range(ROUNDS):
        for name, way, pieces in ways:
            start = time.perf_counter_ns()
            way(pieces)
            best[name] = min(best[name], (time.perf_counter_ns() - start) / len(pieces))
    for name, nanoseconds in best.items():
        print(f"python\t{name}\t{nanoseconds:.1f}")


if __name__ == "__main__":
    main()
