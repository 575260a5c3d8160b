# frozen_string_literal: true

# Tests a host's actions other than feeding: budgets, forced closes, tokens, counts, starts after a prompt; join and escape.

require_relative "helper"

class HostTest < Minitest::Test
  SPECIAL = <<~TOML
    name = "special"
    [[span]]
    channel = "thinking"
    open = ["<think>"]
    close = ["</think>"]
    special = true
  TOML
  LATE = <<~TOML
    name = "late"
    stray_close = "reclassify"
    [[span]]
    channel = "thinking"
    open = ["<think>"]
    close = ["</think>"]
  TOML

  def test_a_start_behind_a_prompt
    prompt = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>"
    scanner = Aside::Scanner.new("qwen3")
    assert_equal :thinking, scanner.start_from_prompt(prompt)
    events = scanner.feed("\nhm\n</think>").to_a
    error = assert_raises(Aside::OrderError) { scanner.start_from_prompt(prompt) }
    assert_equal(-1008, error.status)
    events += scanner.feed("\n\nYes.").to_a + scanner.finish.to_a
    assert_equal ["hm", "Yes."], said(events)
    assert_equal ["", "hm"], said(Support.scan(scanner, ["hm"])), "the next stream is the scanner's own again"
    assert_equal :content, scanner.start_from_prompt("")
    # The prompt holds the first part of a marker.
    scanner = Aside::Scanner.new("think")
    ["ink>hm</think>".chars, ["ink>hm</think>"]].each do |chunks|
      scanner.start_from_prompt("<|im_start|>assistant\n<th")
      events = Support.scan(scanner, chunks)
      assert_equal ["hm", ""], said(events)
      assert_equal chunks.join, events.map(&:text).join
    end
    scanner.feed("a".encode("UTF-16LE").b[0, 1].force_encoding("UTF-16LE")) {}
    assert_raises(Aside::OrderError) { scanner.start_from_prompt("a") }
    assert_raises(TypeError) { scanner.start_from_prompt(nil) }
  end

  def test_budgets
    text = "<think>ééx</think>a<think>bc</think>"
    { { budget: 5 } => "(1)0(1)0", { budget: 4 } => "(1!)0(1)0",
      { budget: 1, budget_unit: :characters } => "(1!)0(1!)0",
      { budget: 4, budget_unit: :characters, budget_scope: :stream } => "(1)0(1!)0",
      { budget: 0, budget_scope: :stream } => "(1!)0(1)0", {} => "(1)0(1)0" }.each do |options, wanted|
      scanner = Aside::Scanner.new("thinking-tags", **options)
      (0..text.bytesize).each do |cut|
        events = Support.scan(scanner, [text.byteslice(0, cut), text.byteslice(cut, text.bytesize)])
        assert_equal wanted, spans(events), "#{options}, cut at #{cut}"
        assert_equal text, events.map(&:bytes).join.force_encoding("UTF-8")
      end
    end
    [{ budget: -1 }, { budget: 1.5 }, { budget: 1 << 64 }, { budget: 1, budget_unit: :words },
     { budget: 1, budget_scope: nil }, { collect: 1 << 64 }].each do |options|
      assert_raises(ArgumentError) { Aside::Scanner.new("qwen3", **options) }
    end
  end

  def test_content_that_was_thinking
    scanner = Aside::Scanner.new(Aside::Dialect.load(LATE))
    events = Support.scan(scanner, ["hm</thi", "nk>yes"])
    assert_equal %i[text reclassify framing text], events.map(&:kind)
    assert_equal [2, 2, 1, 0, 0], scanner.counts(:thinking).to_a
    assert_equal [3, 3, 0, 0, 0], scanner.counts(:content).to_a
  end

  def test_stray_closers_for_a_host_that_wants_them
    scanner = Aside::Scanner.new("qwen3", stray_close: :text)
    events = Support.scan(scanner, ["a</thi", "nk>b"])
    assert_equal "a</think>b", events.map(&:text).join
    assert_equal [:text], events.map(&:kind).uniq
    events = Support.scan(Aside::Scanner.new("qwen3", stray_close: :drop), ["a</thi", "nk>b"])
    assert_equal [[:text, "a"], [:framing, "</think>"], [:text, "b"]], events.map { |event| [event.kind, event.text] }
    rewriter = Aside::Rewriter.new("qwen3", stray_close: :text)
    chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a</think>b\"}}]}\n\n"
    [
      -> {}, -> { rewriter.use_dialect(nil, start: :content) }, -> { rewriter.use_dialect("glm-4.5") },
      -> { assert_equal :content, rewriter.start_from_prompt("<|im_start|>assistant\n<think>\n\n</think>\n\n") }
    ].each do |set|
      set.call
      assert_equal chunk, rewriter.feed(chunk) + rewriter.finish
    end
    [Aside::Scanner, Aside::Rewriter].each do |kind|
      error = assert_raises(ArgumentError) { kind.new("qwen3", stray_close: :keep) }
      assert_includes error.message, "stray_close must be one of [:dialect, :text, :drop]"
    end
    refute_includes Aside::Rewriter.new("qwen3", stray_close: :dialect).feed(chunk), "</think>"
  end

  def test_a_guessed_thinking_that_was_the_answer
    scanner = Aside::Scanner.new("qwen3-thinking", collect: 100)
    assert_equal [:thinking, true], [scanner.start, scanner.start_guessed?]
    scanner.end_reason = :ended
    events = scanner.feed("Yes.").to_a + scanner.finish.to_a
    assert_equal [[:reclassify, :content], [:close, :thinking]], events.last(2).map { |event| [event.kind, event.channel] }
    assert_equal [4, 0], [scanner.counts(:content).bytes, scanner.counts(:thinking).bytes]
    assert_nil scanner.take_thought
    refute_includes Support.scan(scanner, ["Yes."]).map(&:kind), :reclassify, "a finish forgets the reason"
    assert_raises(ArgumentError) { scanner.end_reason = :stop }
    scanner.start_from_prompt("<think>\n")
    refute_predicate scanner, :start_guessed?
    body = "{\"choices\":[{\"message\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}"
    [false, true].each do |keep|
      rewriter = Aside::Rewriter.new("qwen3-thinking", keep_guessed: keep)
      out = rewriter.feed(body) + rewriter.finish
      assert_equal !keep, out == body, out
    end
  end

  def test_calls_as_a_host_wants_them
    body = lambda do |content|
      JSON.generate(id: "c1", choices: [{ message: { content: content }, finish_reason: "stop" }])
    end
    call = '{"name":"f","arguments":{"x":1}}'
    tagged = "<tool_call>#{call}</tool_call>"
    [[{}, tagged, "f"], [{ tools: "[]", unknown_tool: :drop }, tagged, nil],
     [{ tools: "[]", unknown_tool: :tell, max_calls: 1, not_whole: :hold }, tagged, "f"],
     [{ start: :calls, implied_end: :off, repair_arguments: true }, "[#{call}]", "f"],
     [{ start_call: "g" }, '{"x":1}', "g"]].each do |options, text, name|
      rewriter = Aside::Rewriter.new("qwen3", calls: true, **options)
      choice = JSON.parse(rewriter.feed(body.call(text)) + rewriter.finish)["choices"][0]
      assert_equal [name].compact, (choice["message"]["tool_calls"] || []).map { |told| told["function"]["name"] }, options.inspect
      assert_equal [name ? "tool_calls" : "stop", name ? nil : ""], [choice["finish_reason"], choice["message"]["content"]]
    end
    assert_raises(ArgumentError) { Aside::Rewriter.new("qwen3", unknown_tool: :keep) }
  end

  def test_closing_by_force
    scanner = Aside::Scanner.new("inline-think", collect: 100)
    events = scanner.feed("<think>ab</thi").to_a
    assert_equal 5, scanner.held
    events += scanner.force_close.to_a + scanner.feed(" </think>c").to_a + scanner.finish.to_a
    assert_equal ["(1)3", "ab</thi", " c"], [spans(events), *said(events)]
    assert_equal :forced, scanner.take_thought.cause
    assert_equal [], scanner.force_close.to_a, "nothing is open: nothing happens"
    assert_same scanner, scanner.force_close {}
  end

  def test_tokens
    scanner = Aside::Scanner.new(Aside::Dialect.load(SPECIAL))
    tokens = [["a ", false], ["<th", false], ["ink>", false], ["b", false], ["<think>", true], ["", true], ["c", false]]
    [[tokens], tokens.map { |token| [token] }].each do |feeds|
      events = feeds.flat_map { |feed| scanner.feed_tokens(feed).to_a } + scanner.finish.to_a
      assert_equal ["c", "a <think>b"], said(events)
      assert_equal [10, 10, 0, 4, 0], scanner.counts(:content).to_a
      assert_equal [1, 1, 1, 1, 0], scanner.counts(:thinking).to_a
    end
    assert_same scanner, scanner.feed_tokens([]) {}
    halves = [["\xE6\x97", false], ["\xA5".b, false]]
    assert_equal "日", (scanner.feed_tokens(halves).to_a + scanner.finish.to_a).map(&:text).join
    assert_equal "é日", (scanner.feed("é".encode("UTF-16LE")).to_a + scanner.feed_tokens(halves).to_a).map(&:text).join
    [nil, [["a", 1].first(0)], [[nil, true]]].each do |wrong|
      assert_raises(TypeError, NoMethodError) { scanner.feed_tokens(wrong) {} }
    end
  end

  def test_more_tokens_than_one_call_has_events
    tokens = [["a b", false], ["<think>", true], ["<think>", true], ["", false], ["c", false], ["</think>", true]] * 100
    whole = Aside::Scanner.new(Aside::Dialect.load(SPECIAL))
    events = whole.feed_tokens(tokens).to_a + whole.finish.to_a
    single = Aside::Scanner.new(Aside::Dialect.load(SPECIAL))
    wanted = tokens.flat_map { |token| single.feed_tokens([token]).to_a } + single.finish.to_a
    assert_equal tokens.map(&:first).join, events.map(&:text).join
    assert_equal Support.merged(wanted), Support.merged(events)
    %i[content thinking].each { |channel| assert_equal single.counts(channel), whole.counts(channel) }
    assert_equal 100, whole.counts(:content).tokens
  end

  def test_tokens_of_events
    scanner = Aside::Scanner.new(Aside::Dialect.load(SPECIAL))
    tokens = [["a ", false], ["b<th", false], ["ink>", false], ["<think>", true], ["", true], ["c", false], ["d</", false],
              ["</think>", true]]
    events = scanner.feed_tokens(tokens).to_a + scanner.finish.to_a
    assert_equal [["a b<think>", 3, 0], ["<think>", 1, 3], ["cd</", 2, 4], ["</think>", 1, 6]],
                 (events.map { |event| [event.text, event.tokens, event.first_token] })
    # Takes thoughts one at a time, in a copy too, and feeds more events than one call returns.
    tokens *= 100
    single = tokens.flat_map do |token|
      scanner = scanner.dup
      scanner.feed_tokens([token]).to_a
    end
    [single + scanner.finish.to_a, scanner.feed_tokens(tokens).to_a + scanner.finish.to_a].each do |all|
      assert_equal 700, follow(all)
      assert_operator all.size, :>, 200
    end
    # If bytes are fed without tokens, in any of the possible ways, no event has tokens, and the token count of every
    # channel is 0.
    events = scanner.feed_tokens([["a", false], ["<think>", true]]).to_a + scanner.feed("b").to_a
    scanner.feed_text("c")
    scanner.feed_deltas("d") {}
    events += scanner.feed("<").to_a + scanner.feed_tokens([["e", false]]).to_a + scanner.force_close.to_a + scanner.feed("f").to_a
    assert_equal 3, follow(events)
    assert_equal([["b", 0, 2], ["<e", 1, 2], ["f", 0, 3]],
                 events.values_at(2, 3, -1).map { |event| [event.text, event.tokens, event.first_token] })
    assert_includes events[3].inspect, " tokens=1 first_token=2"
    # The next stream has no prompt.
    [-> { scanner.finish {} }, -> { scanner.reset }].each do |ending|
      scanner.feed_tokens([["a", false]]) {}
      ending.call
      ["a", "b<think>"].each { |chunk| scanner.feed(chunk) { |event| assert_equal [0, 0], [event.tokens, event.first_token] } }
      scanner.reset
    end
    event = scanner.feed("a").first
    refute_includes event.inspect, "token"
    refute_equal event, scanner.reset.feed_tokens([["a", false]]).first
  end

  def test_counts
    counts = Aside::Scanner.new("qwen3").counts(:tool)
    assert_equal [0, 0, 0, 0, 0], counts.to_a
    assert_predicate counts, :frozen?
    assert_raises(ArgumentError) { Aside::Scanner.new("qwen3").counts(:nothing) }
  end

  def test_join
    assert_equal "<think>\nhm\n</think>\n\nYes.", Aside.join("hm", "Yes.", "qwen3")
    assert_equal "hm\n</think>\n\nYes.", Aside.join("hm", "Yes.", :qwen3, start: :thinking)
    assert_equal "", Aside.join("", "", "qwen3")
    assert_equal "<think>\na<\u200B/think>\n</think>\n\nb", Aside.join("a</think>", "b", "qwen3", markers: :escape)
    odd = ["a\0\xFF", "\n\xF0\x9F"]
    events = Support.scan(Aside::Scanner.new("qwen3"), [Aside.join(*odd, "qwen3")])
    assert_equal odd.map(&:b), said(events).map(&:b)
    error = assert_raises(Aside::JoinError) { Aside.join("ab</think>", "c", "qwen3") }
    assert_match(/byte 2 of it/, error.message)
    assert_raises(ArgumentError) { Aside.join("", "", "qwen3", start: :middle) }
    assert_raises(ArgumentError) { Aside.join("", "", "qwen3", markers: nil) }
    assert_raises(TypeError) { Aside.join(nil, "", "qwen3") }
  end

  def test_escape
    { "a <think> b" => "a <\u200Bthink> b", "a <\u200Bthink> b" => "a <\u200Bthink> b", "" => "" }.each do |text, wanted|
      escaped = Aside.escape(text, "qwen3")
      assert_equal [wanted, Encoding::UTF_8, false], [escaped, escaped.encoding, escaped.frozen?]
    end
    single = Aside::Dialect.load(LATE.sub("<think>", "(").sub("</think>", ")"))
    assert_match(/\(/, assert_raises(Aside::JoinError) { Aside.escape("a", single) }.message)
  end

  private

  # Returns the number of tokens of the events; each event's tokens must begin where those of the event before end.
  def follow(events)
    events.inject(0) do |before, event|
      assert_equal before, event.first_token, event.inspect
      before + event.tokens
    end
  end

  def said(events)
    %i[thinking content].map { |channel| Support.joined(events, channel) }
  end

  # Returns the spans as text: "(" and the number of the channel for each opening, ")" and the number of the cause for each
  # end, "!" for a budget.
  def spans(events)
    events.map do |event|
      case event.kind
      when :open then "(#{%i[content thinking].index(event.channel)}"
      when :close then ")#{%i[marker implied end_of_stream forced].index(event.cause)}"
      when :budget then "!"
      end
    end.join
  end
end
