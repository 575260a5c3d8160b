# frozen_string_literal: true

require_relative "helper"

class RewriterTest < Minitest::Test
  EVENTS = <<~'SSE'
    data: {"id":"c1","choices":[{"index":0,"delta":{"content":"<think>\nhmé"}}]}

    data: {"id":"c1","choices":[{"index":0,"delta":{"content":"</think>\n\nYes."}}]}

    data: [DONE]

  SSE
  SPLIT = <<~'SSE'
    data: {"id":"c1","choices":[{"index":0,"delta":{"reasoning_content":"hmé"}}]}

    data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Yes."}}]}

    data: [DONE]

  SSE

  def test_cut_anywhere
    rewriter = Aside::Rewriter.new("qwen3")
    (0..EVENTS.bytesize).each do |cut|
      [Encoding::BINARY, Encoding::UTF_8].each do |encoding|
        chunks = [EVENTS.b[0...cut], EVENTS.b[cut..]].map { |chunk| chunk.force_encoding(encoding).freeze }
        assert_equal SPLIT, rewrite(rewriter, chunks)
      end
    end
  end

  def test_formats
    [:all, :chat, %i[chat ollama]].each do |formats|
      assert_equal SPLIT, rewrite(Aside::Rewriter.new("qwen3", formats: formats, repair: true, promote_empty: true), [EVENTS])
    end
    assert_equal EVENTS, rewrite(Aside::Rewriter.new("qwen3", formats: :messages, responses_as: :summary), [EVENTS])
    assert_equal EVENTS, rewrite(Aside::Rewriter.new("qwen3", formats: [:responses], merge: true), [EVENTS])
    assert_raises(ArgumentError) { Aside::Rewriter.new("qwen3", formats: :gemini) }
    assert_raises(ArgumentError) { Aside::Rewriter.new("qwen3", responses_as: :text) }
  end

  def test_comments
    chunk = "data: {\"choices\":[]}\n\n"
    assert_equal chunk, rewrite(Aside::Rewriter.new("qwen3", comments: :drop), [": a\n\n", chunk])
    ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n"
    assert_equal ping, rewrite(Aside::Rewriter.new("qwen3", comments: :chunk, formats: :messages), [": a\n\n"])
    assert_raises(ArgumentError) { Aside::Rewriter.new("qwen3", comments: :pass) }
  end

  def test_stats
    rewriter = Aside::Rewriter.new("qwen3")
    rewrite(rewriter, [EVENTS, "data: {\"candidates\":[]}\n\n"])
    rewriter.feed("data")
    stats = rewriter.stats
    assert_predicate stats, :frozen?
    wanted = { events: 4, changed: 2, added: 0, repaired: 0, too_long: 0, unread: 1, unpromoted: 0, truncated: 0,
               thinking_bytes: 4, content_bytes: 4, held: 4, split_by_server: 0, encoded: false, calls: 0,
               contradicted: 0 }
    assert_equal wanted, stats.to_h
    assert_equal [0, false], rewriter.reset.stats.to_a.uniq
    rewriter.close
    assert_raises(Aside::ClosedError) { rewriter.stats }
  end

  def test_wants
    chat = { path: "/v1/chat/completions?x", content_type: "text/event-stream; charset=utf-8" }
    wants = ->(status = 200, **more) { Aside::Rewriter.wants(status, **chat, **more) }
    assert_equal :events, wants.call
    assert_equal :events, wants.call(formats: %i[chat messages], content_encoding: "Identity")
    assert_equal :json, wants.call(content_type: "application/json")
    assert_equal :lines, wants.call(content_type: "application/x-ndjson", path: nil)
    assert_nil wants.call(404)
    assert_nil wants.call(formats: :completions)
    assert_nil wants.call(content_encoding: "gzip")
    assert_equal :json, wants.call(content_type: nil)
    assert_nil wants.call(content_type: "text/html")
    assert_nil wants.call(path: "/v1/models")
    assert_raises(ArgumentError) { wants.call(formats: :gemini) }
  end

  def test_request
    assert_equal :identity, Aside::Rewriter.request_hint("/api/chat", "POST")
    assert_nil Aside::Rewriter.request_hint("/api/chat", "GET")
    assert_nil Aside::Rewriter.request_hint("/api/chat", "POST", formats: %i[chat responses])
    assert_equal :more, Aside::Rewriter.request_model('{"a":[1],"mod')
    model = Aside::Rewriter.request_model('{"a":[1],"model":"Qwen\/Qwen3","b'.b)
    assert_equal ["Qwen/Qwen3", Encoding::UTF_8], [model, model.encoding]
    assert_nil Aside::Rewriter.request_model('{"model":7}')
    assert_nil Aside::Rewriter.request_model(%({"model":"#{"m" * 1025}"}))
  end

  def test_one_shape_is_made
    server = '{"choices":[{"message":{"thinking":"A","content":[{"type":"text","text":"Hi."}]}}]}'
    shaped = Aside::Rewriter.new("qwen3", normalise: %i[field lists]).feed(server)
    assert_equal '{"choices":[{"message":{"reasoning_content":"A","content":"Hi."}}]}', shaped
    dropped = Aside::Rewriter.new("qwen3", normalise: :all, thinking: :drop).feed(server)
    assert_equal '{"choices":[{"message":{"content":"Hi."}}]}', dropped
    text = '{"type":"message","content":[{"type":"text","text":"<think>a</think>b"}]}'
    assert_includes Aside::Rewriter.new("qwen3", label: true).feed(text), '"aside:1:'
    assert_equal [nil, :drop, "[]"], Aside::Rewriter.read_request("/v1/messages", "{}").to_a
    body = '{"thinking":{"type":"enabled"},"tools":[{"name":"f"}]}'
    assert_equal [true, :keep, '[{"name":"f"}]'], Aside::Rewriter.read_request("/v1/messages", body).to_a
    assert_equal false, Aside::Rewriter.read_request("/v1/chat/completions", '{"enable_thinking":false}').thinks
    assert_raises(ArgumentError) { Aside::Rewriter.new("qwen3", thinking: :hide) }
  end

  def test_an_event_leaves_as_soon_as_it_is_whole
    rewriter = Aside::Rewriter.new("qwen3")
    first, rest = EVENTS.split("\n\n", 2)
    assert_equal "", rewriter.feed(first)
    out = rewriter.feed("\n\n")
    assert_equal [SPLIT.split("\n\n").first + "\n\n", Encoding::UTF_8, false], [out, out.encoding, out.frozen?]
    rewriter.feed(rest)
    assert_includes rewriter.feed("data: \xFF\n\n").b, "\xFF".b
  end

  def test_options
    body = '{"choices":[{"message":{"content":"<think>\nhm\n</think>\n\nYes."}}]}'
    %i[reasoning_content reasoning thinking].product([nil, :json]) do |field, kind|
      message = JSON.parse(rewrite(Aside::Rewriter.new("qwen3", field: field, body: kind), [body]))["choices"][0]["message"]
      assert_equal({ field.to_s => "hm", "content" => "Yes." }, message)
    end
    assert_equal body, rewrite(Aside::Rewriter.new("qwen3", body: :events), [body])
    assert_equal EVENTS, rewrite(Aside::Rewriter.new("qwen3", off: true), [EVENTS])
    inside = EVENTS.sub("<think>\\n", "")
    assert_equal SPLIT, rewrite(Aside::Rewriter.new(Aside::Dialect.find("qwen3"), start: :thinking), [inside])
    [{ field: :nothing }, { body: :xml }, { start: :middle }, { max_event: -1 }].each do |options|
      assert_raises(ArgumentError) { Aside::Rewriter.new("qwen3", **options) }
    end
    assert_raises(Aside::OptionError) { Aside::Rewriter.new("qwen3", start: :header) }
    assert_raises(TypeError) { Aside::Rewriter.new("qwen3").feed(nil) }
  end

  CALLS = Aside::Dialect.load(File.read(File.join(CHECKOUT, "tests/dialects/calls-tags.toml")))

  def test_calls
    text = '{"name": "f", "arguments": {"a": 1}}'
    told = { "reasoning_content" => "hm", "content" => nil, "tool_calls" =>
             [{ "id" => "call_c1_0_0", "type" => "function", "function" => { "name" => "f", "arguments" => '{"a": 1}' } }] }
    stays = { "reasoning_content" => "hm", "content" => "<tool_call>#{text}</tool_call>" }
    body = JSON.generate(id: "c1", choices: [{ message: { content: "<think>hm<tool_call>#{text}</tool_call>" } }])
    message = ->(rewriter) { JSON.parse(rewrite(rewriter, [body[0, 40], body[40..]]))["choices"][0]["message"] }

    assert_equal told, message.call(Aside::Rewriter.new(CALLS, calls: true))
    assert_equal stays, message.call(Aside::Rewriter.new(CALLS, calls: true, tools: "[]"))
    # A region whose tool name does not arrive soon enough stays in the text.
    chunk = "data: #{JSON.generate(id: "c1", choices: [{ index: 0, delta: { content: "<tool_call>#{text}</tool_call>" } }])}\n\n"
    assert_equal chunk, rewrite(Aside::Rewriter.new(CALLS, calls: true, max_held: 4), [chunk])
    never = message.call(Aside::Rewriter.new(CALLS, calls: true, calls_in_thinking: :never))
    assert_equal({ "reasoning_content" => "hm<tool_call>#{text}</tool_call>", "content" => "" }, never)

    rewriter = Aside::Rewriter.new(CALLS, calls: true, tools: "[]")
    assert_same rewriter, rewriter.use_tools('[{"name": "f"}]')
    assert_equal [told, stays], [message.call(rewriter), message.call(rewriter)]
    assert_equal told, message.call(rewriter.use_tools(nil))
    assert_includes assert_raises(Aside::OptionError) { rewriter.use_tools("") }.message, "tools: not JSON"
    assert_raises(Aside::OptionError) { Aside::Rewriter.new(CALLS, calls: true, tools: "{}") }
    limited = Aside::Rewriter.new(CALLS, calls: true, tools: "[]", max_tools: 2)
    assert_includes assert_raises(Aside::OptionError) { limited.use_tools("[ ]") }.message, "3 bytes, more than 2"
    rewriter.feed("{")
    assert_raises(Aside::OrderError) { rewriter.use_tools("[]") }
  end

  def test_what_is_too_long_passes
    rewriter = Aside::Rewriter.new("qwen3", max_event: 20)
    assert_equal EVENTS, rewrite(rewriter, [EVENTS])
    assert_equal 2, rewriter.stats.too_long
    assert_same rewriter, rewriter.reset
    assert_equal 0, rewriter.stats.too_long
  end

  def test_a_stream_starts_where_its_request_says
    inside = EVENTS.sub("<think>\\n", "")
    rewriter = Aside::Rewriter.new("qwen3")
    prompt = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n"
    [
      -> { assert_same rewriter, rewriter.use_dialect(nil, start: :thinking) },
      -> { assert_same rewriter, rewriter.use_dialect("qwen3-thinking") },
      -> { rewriter.use_dialect(Aside::Dialect.find("qwen3"), start: :thinking) },
      -> { rewriter.use_dialect("qwen3-thinking", start: :content).use_dialect("qwen3-thinking") },
      -> { assert_equal :thinking, rewriter.start_from_prompt(prompt) }
    ].each do |set|
      set.call
      assert_equal SPLIT, rewrite(rewriter, [inside])
      assert_equal SPLIT, rewrite(rewriter, [EVENTS]) # its own start is restored
    end
    assert_equal :content, rewriter.start_from_prompt("")
    rewriter.feed("\n")
    [
      -> { rewriter.use_dialect(nil, start: :content) }, -> { rewriter.use_dialect("any") }, -> { rewriter.start_from_prompt("") }
    ].each { |late| assert_raises(Aside::OrderError, &late) }
    rewriter.reset
    assert_raises(Aside::OptionError) { rewriter.use_dialect(nil, start: :header) }
    assert_raises(Aside::OptionError) { rewriter.use_dialect("inline-think", start: :tool) }
    assert_raises(ArgumentError) { rewriter.use_dialect(nil, start: :middle) }
    assert_raises(Aside::UnknownDialectError) { rewriter.use_dialect("no such") }
    assert_raises(TypeError) { rewriter.start_from_prompt(nil) }
  end

  def test_what_is_no_text_passes
    rewriter = Aside::Rewriter.new("qwen3")
    gzip = "\x1F\x8B\x08\0".b
    refute rewriter.stats.encoded
    assert_equal gzip, rewrite(rewriter, [gzip]).b
    assert rewriter.stats.encoded
    rewrite(rewriter, [EVENTS])
    refute rewriter.stats.encoded
  end

  def test_reset_forgets
    rewriter = Aside::Rewriter.new("qwen3")
    rewriter.feed(EVENTS[0, 50])
    assert_equal SPLIT, rewrite(rewriter.reset, [EVENTS])
  end

  def test_close
    rewriter = Aside::Rewriter.new("qwen3")
    assert_raises(TypeError) { rewriter.dup }
    2.times { assert_nil rewriter.close }
    assert_predicate rewriter, :closed?
    [
      -> { rewriter.feed("a") }, -> { rewriter.finish }, -> { rewriter.reset }, -> { rewriter.stats },
      -> { rewriter.use_dialect(nil, start: nil) }, -> { rewriter.use_dialect("any") },
      -> { rewriter.start_from_prompt("") }
    ].each do |use|
      assert_raises(Aside::ClosedError, &use)
    end
  end

  private

  def rewrite(rewriter, chunks)
    chunks.map { |chunk| rewriter.feed(chunk) }.join + rewriter.finish
  end
end
