"""The formats of answers: writes a text as each API sends it, and reads thinking and content from an answer as a client does."""

import json


def event(value, name=None):
    return (f"event: {name}\n" if name else "") + f"data: {json.dumps(value)}\n\n"


class Chat:
    def stream(self, chunks):
        def chunk(delta, reason=None):
            return event({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

        return (chunk({"role": "assistant", "content": ""}) + "".join(chunk({"content": text}) for text in chunks)
                + chunk({}, "length") + "data: [DONE]\n\n").encode()

    def body(self, text):
        message = {"role": "assistant", "content": text}
        choices = [{"index": 0, "message": message, "finish_reason": "length"}]
        return json.dumps({"id": "c", "object": "chat.completion", "choices": choices}).encode()

    def parts(self, value):
        for choice in value["choices"]:
            message = choice.get("delta") or choice.get("message") or {}
            yield message.get("reasoning_content") or "", message.get("content") or ""


class Completions:
    def stream(self, chunks):
        def chunk(text, reason=None):
            return event({"id": "c", "object": "text_completion", "choices": [{"index": 0, "text": text, "finish_reason": reason}]})

        return ("".join(map(chunk, chunks)) + chunk("", "length") + "data: [DONE]\n\n").encode()

    def body(self, text):
        choices = [{"index": 0, "text": text, "finish_reason": "length"}]
        return json.dumps({"id": "c", "object": "text_completion", "choices": choices}).encode()

    def parts(self, value):
        for choice in value["choices"]:
            yield choice.get("reasoning_content") or "", choice.get("text") or ""


class Messages:
    def stream(self, chunks):
        message = {"id": "m", "type": "message", "role": "assistant", "content": [], "stop_reason": None}
        events = [{"type": "message_start", "message": message},
                  {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}]
        events += [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}} for text in chunks]
        events += [{"type": "content_block_stop", "index": 0},
                   {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 3}},
                   {"type": "message_stop"}]
        return "".join(event(value, value["type"]) for value in events).encode()

    def body(self, text):
        content = [{"type": "text", "text": text}]
        return json.dumps({"id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": "max_tokens"}).encode()

    def parts(self, value):
        blocks = [value["delta"]] if value["type"] == "content_block_delta" else value.get("content") or []
        for block in blocks:
            yield block.get("thinking") or "", block.get("text") or ""


class Responses:
    def response(self, output, status):
        return {"id": "r", "object": "response", "status": status, "output": output}

    def message(self, text):
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}

    def stream(self, chunks):
        text = "".join(chunks)
        place = {"item_id": "m", "output_index": 0, "content_index": 0}
        part = {"type": "output_text", "text": "", "annotations": []}
        events = [{"type": "response.created", "response": self.response([], "in_progress")},
                  {"type": "response.output_item.added", "output_index": 0, "item": {**self.message(""), "content": []}},
                  {"type": "response.content_part.added", **place, "part": part}]
        events += [{"type": "response.output_text.delta", **place, "delta": chunk} for chunk in chunks]
        events += [{"type": "response.output_text.done", **place, "text": text},
                   {"type": "response.content_part.done", **place, "part": {**part, "text": text}},
                   {"type": "response.output_item.done", "output_index": 0, "item": self.message(text)},
                   {"type": "response.incomplete", "response": self.response([self.message(text)], "incomplete")}]
        numbered = [{"sequence_number": number, **value} for number, value in enumerate(events)]
        return "".join(event(value, value["type"]) for value in numbered).encode()

    def body(self, text):
        return json.dumps(self.response([self.message(text)], "incomplete")).encode()

    def parts(self, value):
        kind = value.get("type")
        if kind == "response.reasoning_text.delta":
            yield value["delta"], ""
        elif kind == "response.output_text.delta":
            yield "", value["delta"]
        elif kind is None:
            for item in value["output"]:
                texts = "".join(part["text"] for part in item["content"])
                yield (texts, "") if item["type"] == "reasoning" else ("", texts)


class Ollama:
    def answer(self, text, is_done, **rest):
        return json.dumps({"model": "m", "message": {"role": "assistant", "content": text}, "done": is_done, **rest})

    def stream(self, chunks):
        answers = [self.answer(text, False) for text in chunks] + [self.answer("", True, done_reason="length")]
        return "".join(line + "\n" for line in answers).encode()

    def body(self, text):
        return self.answer(text, True, done_reason="length").encode()

    def parts(self, value):
        yield value["message"].get("thinking") or "", value["message"].get("content") or ""


FORMATS = {"chat": Chat(), "completions": Completions(), "messages": Messages(), "responses": Responses(), "ollama": Ollama()}


def read(form, answer, is_stream):
    """Returns the thinking and the content of an answer."""
    text = answer.decode()
    if not is_stream:
        values = [text]
    elif isinstance(form, Ollama):
        values = text.splitlines()
    else:
        values = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: {")]
    parts = [part for value in values for part in form.parts(json.loads(value))]
    return "".join(thinking for thinking, _ in parts), "".join(content for _, content in parts)
