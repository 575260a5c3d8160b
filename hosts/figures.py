"""Measures a host (envoy or nginx) with the rewriter inside it and without: the processor's time for each frame, and the time
from a frame's sending to its arrival. Usage: figures.py HOST FOLDER, where the folder has the files that scripts/test-hosts
installs; `scripts/test-hosts --figures` runs it. Runs with and without the rewriter alternate, and the result is the
median of each kind. Times from a busy machine can only be compared with each other."""

import asyncio
import json
import os
import statistics
import sys
import time

from start import HOSTS, wait_for

# The processor's time is measured with many streams, and the time to arrival with few, because frames of other streams
# would delay a frame.
MANY, FEW, FRAMES, RATE, ROUNDS = 100, 4, 640, 50, 3
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
BODY = b'{"stream":true}'
REQUEST = b"POST /v1/chat/completions HTTP/1.1\r\nhost: me\r\ncontent-length: %d\r\n\r\n%s" % (len(BODY), BODY)


async def answer(reader, writer):
    """Sends a stream of frames, each with the time at which it is sent."""
    await reader.readuntil(b"\r\n\r\n" + BODY)
    writer.write(HEAD)
    start = time.monotonic()
    for number in range(FRAMES):
        text = "<think>\n" if number == 0 else "\n</think>\n\n" if number == FRAMES // 2 else f"word {number}"
        delta = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, "delta": {"content": text}}]}
        event = f"data: {json.dumps({**delta, 'sent': time.monotonic()})}\n\n".encode()
        writer.write(b"%x\r\n%s\r\n" % (len(event), event))
        await asyncio.sleep(max(0, start + (number + 1) / RATE - time.monotonic()))
    writer.write(b"0\r\n\r\n")
    writer.close()


async def ask(port, number, is_split, late):
    """Reads a stream, and notes the time from sending to arrival of each frame. Frames without text are not sent alone."""
    await asyncio.sleep(number / MANY / RATE)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(REQUEST)
    times, lengths = [], {"content": 0, "reasoning_content": 0}
    late.append(times)
    await reader.readuntil(b"\r\n\r\n")
    text = b""
    while size := int(await reader.readline(), 16):
        text += (await reader.readexactly(size + 2))[:-2]
        *lines, text = text.split(b"\n")
        for line in lines:
            if line.startswith(b"data: {"):
                now = time.monotonic()
                frame = json.loads(line[6:])
                times.append(now - frame["sent"])
                for field, piece in frame["choices"][0]["delta"].items():
                    lengths[field] += len(piece)
    writer.close()
    assert len(times) > FRAMES - 5 and (lengths["reasoning_content"] > 2 * FRAMES) == is_split, (len(times), lengths)


def processor(pid):
    """Returns the seconds that a process and its children have run."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return seconds + sum(processor(int(child)) for child in file.read().split())


async def measure(name, folder):
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
    upstream = server.sockets[0].getsockname()[1]
    hosts = {kind: HOSTS[name](folder, upstream, is_plain=kind == "plain") for kind in ("plain", "aside")}
    results = {kind: [] for kind in hosts}

    async def run(kind, streams):
        late = []
        await asyncio.gather(*(ask(hosts[kind].port, number, kind == "aside", late) for number in range(streams)))
        return sorted(time for stream in late for time in stream)

    try:
        for host in hosts.values():
            wait_for(host)
        for _ in range(ROUNDS):
            for kind, host in hosts.items():
                before = processor(host.process.pid)
                await run(kind, MANY)
                used = (processor(host.process.pid) - before) / MANY / FRAMES
                times = await run(kind, FEW)
                results[kind].append([seconds * 1e6 for seconds in (used, times[len(times) // 2], times[len(times) * 99 // 100])])
    finally:
        for host in hosts.values():
            host.stop()
    print(f"{RATE} frames a second in each stream; medians of {ROUNDS} rounds")
    print("| in µs | plain | aside | |\n|---|--:|--:|---|")
    rows = [f"processor time per frame, {MANY} streams", f"a frame's time on its way, {FEW} streams, median", "the same, of 99 in 100"]
    for number, what in enumerate(rows):
        plain, aside = (statistics.median(result[number] for result in results[kind]) for kind in ("plain", "aside"))
        print(f"| {name}: {what} | {plain:.1f} | {aside:.1f} | {aside / plain:.2f} times |")


asyncio.run(measure(*sys.argv[1:]))
