# frozen_string_literal: true

require_relative "helper"
require "socket"
require "stringio"
require "tempfile"

class ScannerTest < Minitest::Test
  TEXT = "<think>\nTwice 21, 日本 🧠.\n</think>\n\nIt is 42 é."

  def setup
    @scanner = Aside::Scanner.new("qwen3")
  end

  def test_events_of_a_stream
    events = Support.scan(@scanner, ["<thi", "nk>\nTwice 21.\n</thi", "nk>\n\nIt is 42."])
    assert_equal [[:open, :thinking, 0, "<think>"], [:framing, :thinking, 7, "\n"], [:text, :thinking, 8, "Twice 21."],
                  [:framing, :thinking, 17, "\n"], [:close, :thinking, 18, "</think>"], [:framing, :content, 26, "\n"],
                  [:framing, :content, 27, "\n"], [:text, :content, 28, "It is 42."]],
                 (events.map { |event| [event.kind, event.channel, event.offset, event.text] })
    assert_equal :marker, events[4].cause
    assert_equal [0, 0], [events[0].rule, events[0].tag]
  end

  def test_an_enumerator_without_a_block
    assert_instance_of Enumerator, @scanner.feed("")
    events = @scanner.feed("<think>a")
    assert_equal %i[open text], events.map(&:kind)
    assert_equal %i[open text], events.map(&:kind), "asked again, it says the same"
    assert_equal ["b"], @scanner.feed("b").map(&:text)
    assert_equal %i[end_of_stream], @scanner.finish.map(&:cause)
    assert_equal [], @scanner.finish.to_a
  end

  def test_with_a_block_the_scanner_comes_back
    assert_same @scanner, @scanner.feed("a") {}
    assert_same @scanner, @scanner.flush {}
    assert_same @scanner, @scanner.finish {}
    assert_same @scanner, @scanner.each_delta([]) {}
  end

  def test_what_a_block_was_not_given_comes_next
    taken = []
    error = assert_raises(RuntimeError) do
      @scanner.feed("a<think>b</think>c") do |event|
        taken << event
        raise "stop" if event.kind == :open
      end
    end
    assert_equal "stop", error.message
    assert_equal %i[text open], taken.map(&:kind)
    @scanner.feed("d") { |event| taken << event; break if event.kind == :close }
    @scanner.finish { |event| taken << event }
    assert_equal Support.merged(Support.scan(Aside::Scanner.new("qwen3"), ["a<think>b</think>cd"])), Support.merged(taken)
  end

  def test_a_block_may_feed_its_own_scanner
    text = +""
    @scanner.feed("a<think>b") do |event|
      text << event.text
      @scanner.feed("c") { |inner| text << inner.text } if event.kind == :open
    end
    assert_equal "a<think>bc", text
  end

  def test_more_events_than_one_call_holds
    text = "a<think>b</think>" * 500
    events = Support.scan(Aside::Scanner.new("think"), [text])
    assert_equal 2000, events.size
    assert_equal text, events.map(&:bytes).join
    tag = "<thinking #{(1..100).map { |n| "a#{n}='#{"v" * 600}'" }.join(" ")}/>"
    attributes = Aside::Scanner.new("thought-stream").feed(tag).select { |event| event.kind == :attribute }
    assert_equal((1..100).map { |n| ["a#{n}", "v" * 600] }, attributes.map { |event| [event.name, event.value] })
  end

  def test_deltas_from_an_enumerable
    expected = [[:thinking, "Twice 21, 日本 🧠."], [:content, "It is 42 é."]]
    [TEXT.chars, TEXT.bytes.map { |byte| [byte].pack("C") }, TEXT.each_char.lazy, [TEXT]].each do |source|
      deltas = []
      @scanner.each_delta(source) { |channel, text| deltas << [channel, text] }
      assert_equal expected, joined(deltas)
      assert(deltas.all? { |_, text| text.encoding == Encoding::UTF_8 && text.valid_encoding? && !text.empty? && !text.frozen? })
    end
  end

  def test_deltas_from_an_io
    expected = [[:thinking, "Twice 21, 日本 🧠."], [:content, "It is 42 é."]]
    assert_equal expected, joined(@scanner.each_delta(StringIO.new(TEXT)).to_a)
    reader, writer = IO.pipe
    thread = Thread.new { TEXT.each_byte { |byte| writer << byte.chr } && writer.close }
    assert_equal expected, joined(@scanner.each_delta(reader).to_a)
    thread.join
    reader, writer = UNIXSocket.pair
    writer << TEXT
    writer.close
    assert_equal expected, joined(@scanner.each_delta(reader).to_a)
    Tempfile.create("wide") do |wide|
      File.binwrite(wide.path, TEXT.encode("UTF-16LE"))
      File.open(wide.path, "rb:UTF-16LE") { |file| assert_equal expected, joined(@scanner.each_delta(file).to_a) }
    end
  end

  def test_deltas_as_they_are_asked_for
    fed = []
    source = Enumerator.new { |y| %w[a b c].each { |chunk| fed << chunk; y << chunk } }
    deltas = @scanner.each_delta(source)
    assert_equal [:content, "a"], deltas.next
    assert_equal ["a"], fed
    assert_equal [[:content, "a"]], Aside::Scanner.new("qwen3").each_delta(source).lazy.first(1)
    assert_equal %w[a b c], Aside::Scanner.new("qwen3").each_delta(source).lazy.map(&:last).to_a
    assert_equal [:content], Aside::Scanner.new("qwen3").each_delta(source).map(&:first).uniq
    both = ->(channel, text) { assert_equal [:content, "a"], [channel, text] }
    Aside::Scanner.new("qwen3").each_delta(["a"], &both)
  end

  def test_an_end_of_file_of_the_block_is_not_the_end_of_the_source
    assert_raises(EOFError) { @scanner.each_delta(StringIO.new("a")) { raise EOFError } }
  end

  # BINARY chunks never take the shortcut for plain text.
  def test_the_short_way_gives_the_same_events
    { "qwen3" => TEXT, "inline-think" => "\n<think>a < b\n日</think>c <d> é\n", "fenced-thinking" => "a `b`\n```thinking\nc\n```\nd",
      "thought-stream" => "<thinking x='1'>a &amp; b</thinking>c", "any" => "<think>a</think>b|<|c|>d\n" }.each do |dialect, text|
      scanner = Aside::Scanner.new(dialect)
      cuts = (0..text.size).map { |cut| [text[0...cut], text[cut..]] } + [text.chars, text.chars.map(&:freeze)]
      cuts.each do |chunks|
        wanted = Support.scan(scanner, chunks.map(&:b))
        assert_equal wanted, Support.scan(scanner, chunks), chunks.inspect
        assert_equal wanted, chunks.flat_map { |chunk| scanner.feed(chunk).to_a } + scanner.finish.to_a, chunks.inspect
        assert_equal deltas(wanted), scanner.each_delta(chunks).to_a, chunks.inspect
      end
    end
  end

  def test_offsets_of_the_short_way
    feed = lambda do |chunk|
      at = @scanner.offset
      event = @scanner.feed(chunk).first
      assert_equal [at, chunk], [event.offset, event.text]
      assert_equal at + chunk.bytesize, @scanner.offset
    end
    3.times do
      feed.call("é")
      feed.call("bc")
      @scanner.feed_tokens([["d", false]]) {}
      feed.call("e")
      @scanner.feed("<") {}
      @scanner.flush {}
      feed.call("f")
      @scanner.feed("g".encode("UTF-16LE")) {}
      @scanner.feed("<think>") {}
      @scanner.force_close {}
      feed.call("h")
      @scanner = @scanner.dup
      feed.call("i")
      [-> { @scanner.finish {} }, -> { @scanner.reset }].sample.call
      assert_equal 0, @scanner.offset
    end
    @scanner.start_from_prompt("<|im_start|>assistant\n")
    feed.call("a")
  end

  def test_deltas_of_a_chunk
    assert_same @scanner, @scanner.feed_deltas("a") {}
    chunk = +"b" * 100
    _, text = @scanner.feed_deltas(chunk).first
    chunk.replace("c")
    assert_equal ["b" * 100, false], [text, text.frozen?]
    seen = []
    ["a", "b".freeze, "", "c".b, "d".encode("UTF-16LE"), "<think>\n", "e\xFF"].each do |piece|
      @scanner.feed_deltas(piece) { |channel, said| seen << [channel, said, said.encoding, said.frozen?] }
    end
    assert_equal([*%w[a b c d].map { |said| [:content, said] }, [:thinking, "e\u{FFFD}"]].map { |pair| [*pair, Encoding::UTF_8, false] }, seen)
    assert_equal [], @scanner.feed_deltas("").to_a
    assert_raises(RuntimeError) { @scanner.feed_deltas("f") { raise "stop" } }
    assert_equal [[:thinking, "g"]], @scanner.feed_deltas("g").to_a
  end

  # feed_text has the result of the other feeds, or changes nothing.
  def test_feed_text
    short = ["a", "b", "\xE6", "\x97\xA5", "é", "", "c <d", "e", "<thi", "nk>\n", "f", "g", "h\xFFi", "j".b, "k",
             Class.new(String).new("l"), "m", "</think>", "\n\nn", "o", "p"].select do |chunk|
      before = [@scanner.offset, @scanner.held]
      wanted = @scanner.dup.feed(chunk).map { |event| [event.kind, event.channel, event.offset, event.bytes] }
      if (channel = @scanner.feed_text(chunk))
        assert_equal wanted, [[:text, channel, before[0], chunk.b]]
      else
        assert_equal before, [@scanner.offset, @scanner.held]
        @scanner.feed(chunk) {}
      end
      channel
    end
    assert_empty %w[b g k m p] - short
    assert_empty ["", "j".b, "l"] & short
  end

  # Pending events are reported first, and the other feeds raise the error.
  def test_feed_text_where_it_may_not
    @scanner.feed("a<think>b") { |event| break if event.kind == :text }
    assert_nil @scanner.feed_text("c")
    assert_equal ["<think>", "b", "c"], @scanner.feed("c").map(&:text)
    assert_equal :thinking, @scanner.feed_text("d")
    @scanner.feed("e".encode("UTF-16LE").b[0, 1].force_encoding("UTF-16LE")) {}
    assert_nil @scanner.feed_text("f")
    @scanner.reset.feed("g") {}
    assert_equal :content, @scanner.feed_text("h")
    [nil, 1, :a, ["a"]].each { |chunk| assert_nil @scanner.feed_text(chunk) }
    second = @scanner.dup
    @scanner.close
    assert_nil @scanner.feed_text("i")
    assert_equal :content, second.feed_text("j")
  end

  class Long < String
    def bytesize = 100_000_000
    def b = self
    def dup = self
  end

  def test_strings_that_say_they_are_longer
    text = Long.new("<think>a</think>b")
    assert_equal "<think>a</think>b", Support.scan(@scanner, [text]).map(&:text).join
    assert_equal "b", Aside.strip(text, "think")
    assert_equal "b", Aside.strip(Long.new(text.encode("UTF-16LE")), "think")
    rewriter = Aside::Rewriter.new("think")
    assert_equal "<think>a</think>b", rewriter.feed(text) + rewriter.finish
    assert_raises(Aside::UnknownDialectError) { Aside::Dialect.find(Long.new("none")) }
    single = +"<think>a</think>b"
    def single.bytesize = 100_000_000
    assert_equal "b", Aside.strip(single.freeze, "think")
  end

  # An object that is not a String is converted before the lock is taken.
  def test_a_conversion_that_never_ends
    never = Object.new
    def never.to_str = Fiber.yield
    Fiber.new { @scanner.feed(never) {} }.resume
    assert_equal ["a"], @scanner.feed("a").map(&:text)
    @scanner.close
  end

  def test_torn_characters
    TEXT.b.bytesize.times do |cut|
      [Encoding::BINARY, Encoding::UTF_8, Encoding::US_ASCII].each do |encoding|
        chunks = [TEXT.b[0...cut], TEXT.b[cut..]].map { |chunk| chunk.force_encoding(encoding).freeze }
        events = Support.scan(@scanner, chunks)
        assert(events.all? { |event| event.text.valid_encoding? && event.text.encoding == Encoding::UTF_8 })
        assert_equal TEXT, events.map(&:text).join
      end
    end
  end

  def test_other_encodings_torn_anywhere
    { "UTF-16LE" => TEXT, "UTF-16BE" => TEXT, "UTF-32LE" => TEXT, "ISO-8859-1" => "<think>\xE9".encode("UTF-8", "ISO-8859-1"),
      "Shift_JIS" => "日本<think>日本", "GB18030" => TEXT }.each do |name, text|
      wide = text.encode(name).b
      (0..wide.bytesize).each do |cut|
        chunks = [wide[0...cut], "", wide[cut..]].map { |chunk| chunk.dup.force_encoding(name) }
        assert_equal text, Support.scan(@scanner, chunks).map(&:text).join, "#{name}, cut at #{cut}"
      end
    end
  end

  # Ruby 3.1 writes past the end of some copies that it converts itself.
  def test_copies_in_wide_encodings
    %w[UTF-16LE UTF-32LE].each do |name|
      wide = (TEXT * 2).encode(name).b
      (0..wide.bytesize).each do |cut|
        chunks = [wide[0...cut], wide[cut..]].map { |chunk| chunk.force_encoding(name).dup }
        assert_equal TEXT * 2, Support.scan(Aside::Scanner.new("think"), chunks).map(&:text).join, "#{name}, cut at #{cut}"
      end
    end
  end

  def test_encodings_one_after_the_other
    chunks = ["é".encode("UTF-16LE"), "é", "\xE9".dup.force_encoding("ISO-8859-1"), "é".b, "é".encode("UTF-16BE").b[0, 1].force_encoding("UTF-16BE")]
    assert_equal "éééé\u{FFFD}", Support.scan(@scanner, chunks).map(&:text).join
    assert_raises(Encoding::ConverterNotFoundError) { @scanner.feed("a".dup.force_encoding("UTF-7")) }
    assert_equal "a", @scanner.feed("a").map(&:text).join
  end

  def test_bytes_that_are_no_utf8
    chunk = "a\xFF\xE6\x97<think>\xC0\n</think>b"
    events = @scanner.feed(chunk).to_a
    assert_equal chunk.b, events.map(&:bytes).join
    assert(events.all? { |event| event.text.valid_encoding? })
    assert_equal "a\u{FFFD}\u{FFFD}", events.first.text
    # Replacement characters do not depend on the cuts either.
    random = Random.new(7)
    300.times do
      bytes = Array.new(12) { [0x61, 0xE6, 0x97, 0xA5, 0xF0, 0x9F, 0xA7, 0xFF, 0xED, 0xA0, 0x80, 0xC3][random.rand(12)] }.pack("C*")
      whole = Support.scan(@scanner, [bytes]).map(&:text).join
      (1...bytes.bytesize).each do |cut|
        assert_equal whole, Support.scan(@scanner, [bytes[0...cut], bytes[cut..]]).map(&:text).join, "#{bytes.inspect} at #{cut}"
      end
    end
  end

  def test_events_are_frozen_values
    event = @scanner.feed("a").first
    assert event.frozen? && event.text.frozen? && event.bytes.frozen?
    assert_equal Encoding::BINARY, event.bytes.encoding
    assert Ractor.shareable?(event)
    assert_equal event, Aside::Scanner.new("think").feed("a").first
    assert_equal event.hash, Aside::Scanner.new("think").feed("a").first.hash
    refute_equal event, Aside::Scanner.new("think").feed("b").first
    said = case event
           in { kind: :text, channel: :content, text: } then text
           end
    assert_equal "a", said
  end

  def test_the_chunk_may_change_afterwards
    chunk = +"a" * 100
    event = @scanner.feed(chunk).first
    chunk.replace("b" * 100)
    assert_equal "a" * 100, event.text
  end

  def test_state
    assert_equal [0, 0], [@scanner.held, @scanner.offset]
    @scanner.feed("abc<th") {}
    assert_equal [3, 6], [@scanner.held, @scanner.offset]
    assert_operator @scanner.max_hold, :>=, 3
    assert_equal ["<th"], @scanner.flush.map(&:text)
    @scanner.feed("x<th")
    assert_same @scanner, @scanner.reset
    assert_equal [0, 0], [@scanner.held, @scanner.offset]
    assert_equal [], @scanner.finish.to_a
  end

  def test_options
    events = Support.scan(Aside::Scanner.new("inline-think", start: :thinking), ["a</think>b"])
    assert_equal [[:thinking, "a"], [:content, "b"]], events.select { |e| e.kind == :text }.map { |e| [e.channel, e.text] }
    assert_match(/start must be one of/, assert_raises(ArgumentError) { Aside::Scanner.new("qwen3", start: :middle) }.message)
    assert_raises(ArgumentError) { Aside::Scanner.new("qwen3", collect: -1) }
    assert_raises(Aside::OptionError) { Aside::Scanner.new("inline-think", start: :header) }
    assert_raises(Aside::UnknownDialectError) { Aside::Scanner.new("qwen33") }
    [nil, 1, :a, ["a"]].each { |chunk| assert_raises(TypeError) { @scanner.feed(chunk) {} } }
    [nil, "a", 1].each { |source| assert_raises(TypeError) { @scanner.each_delta(source) {} } }
  end

  def test_thoughts
    scanner = Aside::Scanner.new("thought-stream", collect: 1 << 16)
    scanner.feed("<thinking thought=\"A&amp;B\" thought_type=\"plan\" confidence=\"0.25\" x='1' x='2'/><thinking>c\xFF") {}
    thought = scanner.take_thought
    assert_equal ["A&B", "plan", 0.25, :marker, 0], [thought.text, thought.thought_type, thought.confidence, thought.cause, thought.offset]
    assert_equal({ "thought" => "A&B", "thought_type" => "plan", "confidence" => "0.25", "x" => "1" }, thought.attributes)
    assert Ractor.shareable?(thought)
    assert_nil scanner.take_thought
    scanner.finish {}
    thought = scanner.take_thought
    assert_equal ["c\u{FFFD}", "c\xFF".b, nil, nil, :end_of_stream, false],
                 [thought.text, thought.bytes, thought.thought_type, thought.confidence, thought.cause, thought.truncated?]
    assert_equal 0, scanner.counts(:thinking).lost_thoughts
    assert_nil @scanner.take_thought
    scanner.feed("<thinking>a</thinking>" * 1030) {}
    assert_equal([6, 0], %i[thinking content].map { |channel| scanner.counts(channel).lost_thoughts })
    assert_equal 1024, 1.step.find { scanner.take_thought.nil? } - 1
    assert_equal 0, scanner.reset.counts(:thinking).lost_thoughts
  end

  def test_calls
    tags, headers = %w[tags header].map { |name| Aside::Dialect.load(File.read(File.join(CHECKOUT, "tests/dialects/calls-#{name}.toml"))) }
    stream = "<think>a<tool_call><function=f><parameter=k>v</parameter></function></tool_call>" \
             "<tool_call>{\"id\":\"7\",\"name\":1}</tool_call>"
    events = Support.scan(Aside::Scanner.new(tags, calls: true), stream.chars)
    assert_equal stream, events.map(&:bytes).join
    calls = events.select { |event| event.kind.start_with?("call") }
    said = calls.map { |event| [event.kind, event.text, event.call, event.tag, event.name, event.cause] }
    assert_equal [[:call, "<function=", 0, 1, nil, nil], [:call_name, "f", nil, nil, "f", nil], [:call_key, "k", nil, nil, nil, nil],
                  [:call_value, "v", nil, nil, nil, nil], [:call_value_end, "</parameter>", nil, nil, nil, nil],
                  [:call_end, "</function>", 0, nil, nil, :marker], [:call, "{", 1, 0, nil, nil],
                  [:call_id, "7", nil, nil, nil, nil], [:call_end, "", 1, nil, nil, :malformed]], said
    assert_equal [:tool], calls.map(&:channel).uniq
    assert_equal [1, 1], calls.map(&:rule).compact

    [{}, { calls: true, calls_in_thinking: :never }].each do |options|
      events = Support.scan(Aside::Scanner.new(tags, **options), [stream])
      assert_empty events.select { |event| event.kind.start_with?("call") }
    end
    assert_raises(ArgumentError) { Aside::Scanner.new(tags, calls_in_thinking: :sometimes) }
    name = Support.scan(Aside::Scanner.new(headers, calls: true), [' to=functions.f<|message|>{"x": 1}<|call|>'])
                  .find { |event| event.kind == :call_name }
    assert_equal ["f", ""], [name.name, name.bytes]
  end

  def test_close
    @scanner.feed("a") {}
    2.times { assert_nil @scanner.close }
    assert_predicate @scanner, :closed?
    [-> { @scanner.feed("a") }, -> { @scanner.feed_deltas("a") {} }, -> { @scanner.finish }, -> { @scanner.held }, -> { @scanner.take_thought }, -> { @scanner.reset }].each do |use|
      assert_match(/closed/, assert_raises(Aside::ClosedError, &use).message)
    end
  end

  def test_copies
    %i[dup clone].each do |way|
      first = Aside::Scanner.new("inline-think", collect: 1000)
      heads = first.feed("<think>a</th").to_a
      second = first.public_send(way)
      assert_equal %w[a b], said(heads + first.feed("ink>b").to_a + first.finish.to_a)
      first.close
      GC.start
      assert_equal ["a</this", "c"], said(heads + second.feed("is</think>c").to_a + second.finish.to_a)
      assert_equal "a</this", second.take_thought.text
    end
    assert_raises(TypeError) { Marshal.dump(@scanner) }
    @scanner.close
    assert_raises(Aside::ClosedError) { @scanner.dup }
  end

  def test_what_a_block_was_not_given_comes_in_both_copies
    @scanner.feed("a<think>b</think>c") { |event| break if event.kind == :open }
    second = @scanner.dup
    assert_equal "b</think>cd", @scanner.feed("d").map(&:text).join
    assert_equal "b</think>ce", second.feed("e").map(&:text).join
  end

  def test_no_copy_in_a_chunk_that_is_transcoded
    @scanner.feed("é".encode("UTF-16LE").b[0, 1].force_encoding("UTF-16LE")) {}
    assert_match(/UTF-16LE/, assert_raises(TypeError) { @scanner.dup }.message)
    10.times { GC.start }
    assert_equal "a", @scanner.reset.feed("a").map(&:text).join, "what is left of a refused copy frees nothing"
    assert_equal "b", @scanner.dup.feed("b").map(&:text).join
  end

  private

  # Returns channel and text of each piece of text.
  def deltas(events)
    events.select { |event| event.kind == :text }.map { |event| [event.channel, event.text] }
  end

  # Returns thinking and content.
  def said(events)
    %i[thinking content].map { |channel| Support.joined(events, channel) }
  end

  def joined(deltas)
    deltas.chunk_while { |a, b| a[0] == b[0] }.map { |run| [run[0][0], run.map(&:last).join] }
  end
end

class StripTest < Minitest::Test
  def test_the_content_of_a_whole_text
    assert_equal "It is 42.", Aside.strip(" <think>Twice 21.</think>It is 42.\n", "inline-think")
    assert_equal "", Aside.strip("", :qwen3)
    assert_equal({ content: "It is 42.", thinking: "Twice 21.", narration: "", tool: "" },
                 Aside.split("<think>\nTwice 21.\n</think>\n\nIt is 42.", "qwen3"))
    assert_equal %w[b a], Aside.split("a</think>b", "deepseek-r1", start: :content).values_at(:content, :thinking)
    assert_equal "", Aside.split("", :qwen3)[:content]
    assert_equal "é", Aside.strip("<think>a</think>é".encode("UTF-16LE"), Aside::Dialect.find("think"))
    text = Aside.strip("a\xFF\0b".b, "think")
    assert_equal ["a\u{FFFD}\0b", Encoding::UTF_8, true, false], [text, text.encoding, text.valid_encoding?, text.frozen?]
    assert_raises(TypeError) { Aside.strip(nil, "think") }
    assert_raises(Aside::UnknownDialectError) { Aside.strip("a", "nothing of the kind") }
  end
end
