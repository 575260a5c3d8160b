"""Defines how the option `repair` of a rewriter changes an event stream, for whole streams. `repair(stream)` returns the mended
stream; mending it again changes nothing. Limits on memory are left out. As a program, it mends the streams in its input, each
preceded by its length (four bytes, the lowest first), and writes them in the same form. tests/sse_repair.rs compares the results
with the library's."""

import json
import re
import struct
import sys

THINKING = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
FIELDS = ("data", "event", "id", "retry")
BLANKS = " \t\n\f\r"
BLOCKS = {
    False: '{"type":"text","text":""}',
    True: '{"type":"thinking","thinking":"","signature":""}',
}
KINDS = {
    **dict.fromkeys(("text", "text_delta"), False),
    **dict.fromkeys(("thinking", "redacted_thinking", "thinking_delta", "signature_delta"), True),
}


def fail(word):
    raise ValueError(word)


DECODER = json.JSONDecoder(parse_constant=fail)


def parsed(text):
    """Returns the value of a JSON text, or an error."""
    value, end = DECODER.raw_decode(text, skip(text, 0))
    return value if skip(text, end) == len(text) else fail(text)


def read(text):
    """Returns the JSON object of a text, or nothing."""
    try:
        value = parsed(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def skip(text, at):
    return re.compile("[ \t\n\r]*").match(text, at).end()


def members(text, at):
    """Returns the members of the object at a place: for each, its name, its beginning, and the beginning and the end of its
    value."""
    found, at = [], skip(text, at + 1)
    while text[at] != "}":
        name, end = DECODER.raw_decode(text, at)
        value = skip(text, skip(text, end) + 1)
        end = DECODER.raw_decode(text, value)[1]
        found.append((name, at, value, end))
        at = skip(text, end)
        at = skip(text, at + 1) if text[at] == "," else at
    return found


def member(text, at, name):
    """Returns where the value of a member begins and ends, or nothing."""
    values = [(start, end) for known, _, start, end in members(text, at) if known == name]
    return values[-1] if values else None


def values(text, at):
    """Returns where the values of the list at a place begin and end."""
    found, at = [], skip(text, at + 1)
    while text[at] != "]":
        end = DECODER.raw_decode(text, at)[1]
        found.append((at, end))
        at = skip(text, end)
        at = skip(text, at + 1) if text[at] == "," else at
    return found


def edited(text, edits, start=0, end=None):
    """Returns a part of a text with changes made in it. A change is a beginning, an end and the new text between them."""
    end = len(text) if end is None else end
    for first, last, new in sorted(edits, reverse=True):
        if start <= first and last <= end:
            text, end = text[:first] + new + text[last:], end + len(new) - (last - first)
    return text[start:end]


def says(value):
    return value is not None and value is not False and value not in ("", [], {})


def whole(value):
    return value if type(value) is int and value >= 0 else None


def field(line, name):
    """Returns the value of a line, if it has the field of this name."""
    if line == name:
        return ""
    if not line.startswith(name + ":"):
        return None
    value = line[len(name) + 1 :]
    return value[1:] if value.startswith(" ") else value


def inner(data):
    """Returns the data of a line whose field name was written twice, or with capital letters, blanks or no colon."""
    rest = re.sub(f"^(?:[{BLANKS}]*data[{BLANKS}]*:?)+", "", data, flags=re.IGNORECASE | re.ASCII)
    return rest if is_event(rest) else data


def is_event(data):
    return data.strip(BLANKS) == "[DONE]" or read(data.strip(BLANKS)) is not None


def is_error(event):
    return says(event.get("error")) or event.get("type") == "error"


def is_body(text):
    """Returns whether a text is a JSON object that is not an event of a stream."""
    event = read(text)
    if event is None:
        return False
    kind = event.get("type") if isinstance(event.get("type"), str) else ""
    is_chunk = "choices" in event and event.get("object") != "chat.completion"
    is_message = kind.startswith(("content_block_", "message_", "response.")) or kind == "ping"
    return not (is_chunk or is_message or is_error(event))


def is_bare(line):
    """Returns whether a line is the data of an event without the name of its field."""
    return line.rstrip(BLANKS) == "[DONE]" or line.startswith("[ERROR]") or read(line) is not None and not is_body(line)


def is_text(line, is_cut):
    """Returns whether a line is text and not a field. With `is_cut`, the stream breaks off in the line."""
    is_part = is_cut and (line.startswith("{") or any(name.startswith(line) for name in FIELDS))
    is_plain = ":" not in line and line not in FIELDS
    is_object = line.startswith("{") and read(line) is not None
    return (is_plain or is_object) and not is_part and line.strip(BLANKS) != "" and not is_bare(line)


def part_of(event):
    """Returns the block or the delta of an event of Messages, and whether it is thinking, if it is thinking or text."""
    part = event.get("content_block" if event["type"] == "content_block_start" else "delta")
    part = part if isinstance(part, dict) else {}
    return part, KINDS.get(part.get("type")) if isinstance(part.get("type"), str) else None


def has_text(part):
    return any(says(part.get(name)) for name in ("text", "thinking", "signature"))


class Calls:
    """The calls of a choice. A new id gets a new index. A piece without an index belongs to the open call."""

    def __init__(self):
        self.all = []

    def own(self, name, server, has_name):
        same = [call for call in self.all if server is None or call[1] == server]
        if not name:
            known = [] if server is None and has_name else same
        else:
            known = [call for call in same if call[0] == name] or ([] if has_name else same)
        if known:
            return known[-1][2]
        taken = [call[2] for call in self.all]
        own = server if server is not None and server not in taken else max(taken, default=-1) + 1
        self.all.append((name, server, own))
        return own

    def mend(self, text, start):
        """Returns the changes of the list of calls at a place."""
        edits = []
        for start, end in values(text, start) if text[start] == "[" else []:
            if text[start] != "{":
                continue
            call = parsed(text[start:end])
            if not call:
                continue
            function = member(text, start, "function")
            if function and text[function[0]] == "{":
                edits += string_of_arguments(text, function[0])
            index, function = whole(call.get("index")), call.get("function")
            has_name = isinstance(function, dict) and says(function.get("name"))
            name = text[slice(*member(text, start, "id"))] if says(call.get("id")) else ""
            own = self.own(name, index, has_name)
            if "index" not in call:
                edits.append((start + 1, start + 1, f'"index":{own},'))
            elif index is None or index != own:
                edits.append((*member(text, start, "index"), str(own)))
        return edits


def string_of_arguments(text, start):
    """Returns the change that makes a string of the arguments of the object at a place, if they are none."""
    edits = []
    for at in (member(text, start, "arguments"), member(text, start, "partial_json")):
        if at and text[at[0]] != '"':
            value = text[slice(*at)]
            inside = re.sub(r'["\\]', r"\\\g<0>", "" if value == "null" else value)
            edits.append((*at, f'"{inside}"'))
    return edits


class Message:
    """The blocks of a message in the format Messages: only one is open at a time, and their indexes count from 0."""

    def __init__(self, name=""):
        self.id = name
        # The open block and the closed blocks. Each has an index from the server's stream and an index in the mended stream.
        self.open, self.closed, self.count = None, [], 0
        self.thinks = None
        # The arguments so far of the open block, if it is a call.
        self.arguments = None
        # The waiting events of each block, in the order of the blocks: the lines before the data, and the data.
        self.waiting = {}
        # The events of a block that has only blanks so far, which is left out if another block follows.
        self.blank, self.blank_index, self.is_stopped = [], None, False


class Repair:
    def __init__(self):
        self.over, self.id, self.called, self.calls = False, None, {}, {}
        self.names, self.message = "", Message()

    # ------------------------------------------------------------------------------------------------------------ lines

    def stream(self, stream):
        text = stream.removeprefix("\ufeff")
        lines = re.split(r"\r\n|\r|\n", text)
        out, block = "", []
        for number, line in enumerate(lines):
            is_last = number + 1 == len(lines)
            block += [line] if line else []
            if not line or is_last:
                out += self.lines(block, not is_last, not is_last or not line)
                block = []
        return out + self.released()

    def lines(self, block, is_whole, has_end):
        text = "\n".join(block)
        body = text.startswith("{") and is_body(text)
        cut = None if has_end or not block else len(block) - 1
        stay = [l.startswith(":") or not self.over and (body or is_text(l, at == cut)) for at, l in enumerate(block)]
        out = "".join(line + "\n" for line, stays in zip(block, stay) if stays)
        out = self.unblank() + out + "\n" if out else ""
        block = [line for line, stays in zip(block, stay) if not stays]
        if self.over:
            return out
        names = "".join(line + "\n" for line in block if field(line, "event") is not None)
        data = []
        for line in block:
            value = field(line, "data")
            if is_bare(line):
                data.append(line)
            elif value is not None or inner(line) != line:
                data.append(inner(line if value is None else value))
        if data:
            out += self.data(data, names, is_whole)
        for line in block:
            if line.startswith("error:") and not self.over:
                out += self.error(line[len("error:") :].strip(BLANKS))
        return out

    def error(self, text):
        try:
            value = parsed(text)
            text = text if isinstance(value, dict) and "error" in value else f'{{"error":{text}}}'
        except ValueError:
            text = json.dumps({"error": {"message": text}}, ensure_ascii=False, separators=(",", ":"))
        return self.released() + f"event: error\ndata: {text}\n\n"

    def data(self, data, names, is_whole):
        joined = " ".join(data)
        if len(data) == 1 or not joined.strip(" \t") or is_event(joined):
            return self.value(joined, names, is_whole)
        if not is_whole or all(is_event(value) or not value.strip(" \t") for value in data):
            return "".join(self.value(value, names, is_whole) for value in data if is_event(value))
        return self.unblank() + names + "".join(f"data: {value}\n" for value in data) + "\n"

    def value(self, text, names, is_whole):
        text = text.strip(" \t")
        if self.over:
            return ""
        if text == "" or text.startswith(":"):
            return self.unblank() + (": " + text.lstrip(": ") if text else ":") + "\n\n"
        if text == "[DONE]":
            self.over = True
            return self.released() + "data: [DONE]\n\n"
        event = read(text)
        if event is None:
            return self.unblank() + f"{names}data: {text}\n\n" if is_whole else ""
        if not event:
            first = field(names.split("\n")[0], "event") or ""
            return self.unblank() + f": {first.strip(BLANKS)}\n\n"
        if event.get("object") == "chat.completion.chunk" or "choices" in event:
            out = self.unblank()
            return out + "".join(f"{names}data: {chunk}\n\n" for chunk in self.chunk(text, event))
        kind = event.get("type") if isinstance(event.get("type"), str) else ""
        if kind.startswith(("content_block_", "message_")):
            text = self.items(text)
            return self.message_event(text, read(text), names)
        before = self.released() if is_error(event) and self.message.waiting else self.unblank()
        if kind.startswith("response."):
            text = self.items(text)
        return before + f"{names}data: {text}\n\n"

    # ----------------------------------------------------------------------------------------------------------- chunks

    def chunk(self, text, event):
        """Returns the chunks into which a chunk is split."""
        edits = []
        if event.get("id") not in (None, False, "", 0, {}, []):
            at = member(text, 0, "id")
            self.id = self.id or text[slice(*at)]
            edits.append((*at, self.id))
        place = member(text, 0, "choices")
        if not place:
            return [edited(text, [*edits, (len(text) - 1, len(text) - 1, ',"choices":[]')])]
        if event["choices"] is None:
            return [edited(text, [*edits, (*place, "[]")])]
        if not isinstance(event["choices"], list):
            return [edited(text, edits)]
        choices = values(text, place[0])
        ends = [member(text, 0, "usage")]
        logprobs, reasons = [], []
        for number, (choice, (start, _)) in enumerate(zip(event["choices"], choices)):
            if not isinstance(choice, dict):
                continue
            index = whole(choice["index"]) if "index" in choice else number
            finish, delta = member(text, start, "finish_reason"), member(text, start, "delta")
            ends += [finish, member(text, start, "stop_reason")]
            logprobs.append(member(text, start, "logprobs"))
            if delta and text[delta[0]] == "{" and index is not None:
                edits += self.chunk_calls(text, delta[0], choice["delta"], index)
            elif delta and choice["delta"] is None:
                edits.append((*delta, "{}"))
            elif finish and not any(name in choice for name in ("delta", "message", "text")):
                end = values(text, place[0])[number][1] - 1
                edits.append((end, end, ',"delta":{}'))
            if finish and index is not None:
                reasons += self.reason(finish, choice["finish_reason"], index)
        portions = [(True, True, True)]
        if len(choices) == 1 and isinstance(event["choices"][0], dict):
            choice = event["choices"][0]
            if isinstance(choice.get("delta"), dict) and whole(choice.get("index", 0)) is not None:
                portions = self.portions(choice)
                start = member(text, choices[0][0], "delta")
        return [self.portion(text, edits, ends, logprobs, reasons, it, start if it[:2] != (True, True) else None) for it in portions]

    def portions(self, choice):
        """Returns the parts into which a chunk is split: for each, whether it has the thinking, the rest, and the end."""
        delta = choice["delta"]
        thinks = any(says(delta.get(name)) for name in THINKING)
        answers = says(delta.get("content")) and not isinstance(delta["content"], list)
        ends = says(choice.get("finish_reason")) and any(says(value) for name, value in delta.items() if name != "role")
        texts = [(True, False), (False, True)] if thinks and answers else [(True, True)]
        return [(*text, not ends and text[1]) for text in texts] + [(False, False, True)] * ends

    def portion(self, text, edits, ends, logprobs, reasons, portion, delta):
        thinking, rest, end = portion
        if delta:
            parts = []
            for name, start, _, last in members(text, delta[0]):
                if (thinking if name in THINKING or name == "role" else rest):
                    parts.append(edited(text, edits, start, last))
            edits = [edit for edit in edits if not (delta[0] <= edit[0] and edit[1] <= delta[1])]
            edits.append((*delta, "{" + ",".join(parts) + "}"))
        edits = edits + [(*at, "null") for at in ends if at and not end] + [(*at, "null") for at in logprobs if at and not rest]
        return edited(text, edits + (reasons if end else []))

    def chunk_calls(self, text, start, delta, index):
        calls, function = says(delta.get("tool_calls")), says(delta.get("function_call"))
        edits = []
        if calls or function:
            self.called[index] = self.called.get(index, False) or calls
        if calls:
            edits += self.calls.setdefault(index, Calls()).mend(text, member(text, start, "tool_calls")[0])
        if function and isinstance(delta["function_call"], dict):
            edits += string_of_arguments(text, member(text, start, "function_call")[0])
        return edits

    def reason(self, at, reason, index):
        """Returns the change of a finish reason."""
        has = self.called.get(index)
        if reason == "":
            return [(*at, "null")]
        if has is None:
            right = "stop" if reason in ("tool_calls", "function_call") else reason
        elif has:
            right = "tool_calls" if reason in ("stop", "function_call") else reason
        else:
            right = "function_call" if reason in ("stop", "tool_calls") else reason
        return [(*at, f'"{right}"')] if right != reason else []

    def items(self, text):
        """Returns an event whose items of reasoning have a summary, and whose arguments are strings."""
        places = [(0, len(text)), member(text, 0, "item"), member(text, 0, "delta")]
        response = member(text, 0, "response")
        output = response and text[response[0]] == "{" and member(text, response[0], "output")
        places += values(text, output[0]) if output and text[output[0]] == "[" else []
        edits = []
        for start, end in (place for place in places if place and text[place[0]] == "{"):
            item = parsed(text[start:end])
            edits += string_of_arguments(text, start)
            if item.get("type") == "reasoning" and item.get("summary") is None:
                at = member(text, start, "summary")
                edits.append((*at, "[]") if at else (end - 1, end - 1, ',"summary":[]'))
        return edited(text, edits)

    # ---------------------------------------------------------------------------------------------------------- Messages

    def named(self, kind):
        return f"event: {kind}\n" if self.names else ""

    def is_unfinished(self):
        """Returns whether the open block is a call with incomplete arguments."""
        if self.message.open is None or self.message.arguments is None:
            return False
        try:
            DECODER.raw_decode(self.message.arguments, skip(self.message.arguments, 0))
        except ValueError:
            return True
        return False

    def stop(self):
        """Ends the open block, and returns the event for its end."""
        if self.message.open is None:
            return ""
        self.message.closed.append(self.message.open)
        own, self.message.open = self.message.open[1], None
        return self.named("content_block_stop") + f'data: {{"type":"content_block_stop","index":{own}}}\n\n'

    def unblank(self):
        """Returns the waiting block of blanks, because an event that does not belong to it follows."""
        blank, self.message.blank = self.message.blank, []
        return "".join(self.whole_block(text, read(text), lines) for lines, text in blank)

    def released(self):
        """Returns all waiting events, because no more events of their blocks can follow."""
        out = self.unblank()
        waiting, self.message.waiting = self.message.waiting, {}
        for events in waiting.values():
            out += self.stop() if self.is_unfinished() else ""
            out += "".join(self.block(text, read(text), lines) for lines, text in events)
        return out + self.unblank()

    def message_event(self, text, event, names):
        """Returns the mended form of an event of Messages, and of the events that have waited for it."""
        self.names, message, kind = names, self.message, event["type"]
        index = whole(event.get("index"))
        if index is None:
            if kind == "message_start":
                inside = event.get("message") if isinstance(event.get("message"), dict) else {}
                name = inside.get("id") if isinstance(inside.get("id"), str) else None
                if name is not None and name == message.id:
                    return ""
                out = self.released()
                self.message = Message(name)
            elif kind in ("message_delta", "message_stop"):
                out = self.released() + self.stop()
                message.id = None if kind == "message_stop" else message.id
            else:
                out = self.unblank()
            return out + f"{names}data: {text}\n\n"
        is_of_block = kind in ("content_block_start", "content_block_delta", "content_block_stop")
        if is_of_block and self.is_unfinished() and message.open[0] != index:
            message.waiting.setdefault(index, []).append((names, text))
            return ""
        out = self.block(text, event, names)
        while not self.is_unfinished() and message.waiting:
            events = message.waiting.pop(next(iter(message.waiting)))
            out += "".join(self.block(text, read(text), lines) for lines, text in events)
        return out

    def begin(self, index, part, thinks):
        message = self.message
        message.open, message.thinks = (index, message.count), thinks
        is_call = isinstance(part.get("type"), str) and part["type"].endswith("tool_use")
        has_input = isinstance(part.get("input"), dict) and part["input"]
        message.arguments = "" if is_call and not has_input else None
        message.count += 1
        return message.open[1]

    def block(self, text, event, lines):
        """Returns the mended form of a block's event, unless the block has only blanks so far."""
        message, kind, index, part, thinks = self.message, event["type"], event["index"], *part_of(event)
        is_start, is_delta, is_stop = (kind == f"content_block_{it}" for it in ("start", "delta", "stop"))
        is_blank = thinks is False and isinstance(part.get("text"), str) and not part["text"].strip(BLANKS)
        if message.blank:
            is_open = message.blank_index == index and not message.is_stopped
            if is_stop and not is_open or is_delta and is_open and thinks and not has_text(part):
                return ""
            if is_delta and not is_open and thinks is None and part.get("partial_json") == "":
                return ""
            if is_start or is_delta and thinks is not None and not (is_open and thinks is False):
                message.blank = []
                waits = is_blank
            else:
                waits = is_stop or is_delta and is_blank
        else:
            is_open = is_delta and message.open is not None and message.open[0] == index
            waits = is_blank and (is_start or is_delta) and (not is_open or message.thinks is True and has_text(part))
        if not waits:
            return self.unblank() + self.whole_block(text, event, lines)
        out = self.stop()
        if not message.blank:
            message.blank_index, message.is_stopped = index, False
        message.is_stopped = message.is_stopped or is_stop
        message.blank.append((lines, text))
        return out

    def whole_block(self, text, event, lines):
        """Returns the mended form of a block's event."""
        message, kind, index, part, thinks = self.message, event["type"], event["index"], *part_of(event)
        is_open = message.open is not None and message.open[0] == index
        fits = thinks is None or message.thinks is None or thinks == message.thinks
        out, own = "", index
        if kind == "content_block_start":
            out = self.stop()
            own = self.begin(index, part, thinks)
        elif kind == "content_block_delta" and is_open and fits:
            own = message.open[1]
            if message.arguments is not None and isinstance(part.get("partial_json"), str):
                message.arguments += part["partial_json"]
        elif kind == "content_block_delta" and is_open and not has_text(part):
            return ""
        elif kind == "content_block_delta" and thinks is not None:
            out = self.stop()
            own = self.begin(index, {}, thinks)
            start = f'{{"type":"content_block_start","index":{own},"content_block":{BLOCKS[thinks]}}}'
            out += self.named("content_block_start") + f"data: {start}\n\n"
        elif kind == "content_block_delta":
            closed = [block[1] for block in message.closed if block[0] == index]
            if part.get("partial_json") == "":
                return ""
            own = closed[-1] if closed else index
        elif kind == "content_block_stop" and is_open:
            own = message.open[1]
            message.closed.append(message.open)
            message.open = None
        elif kind == "content_block_stop":
            return ""
        text = edited(text, [(*member(text, 0, "index"), str(own))])
        return out + f"{lines}data: {text}\n\n"


def repair(stream):
    return Repair().stream(stream.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


if __name__ == "__main__":
    data = sys.stdin.buffer.read()
    while data:
        size, data = struct.unpack("<I", data[:4])[0], data[4:]
        out, data = repair(data[:size]), data[size:]
        sys.stdout.buffer.write(struct.pack("<I", len(out)) + out)
