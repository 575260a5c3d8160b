# frozen_string_literal: true

# Tests that the calls of a text are sent as the same JSON however it is cut.

require_relative "helper"

class CallWriterTest < Minitest::Test
  DIALECT = Aside::Dialect.load(File.read(File.join(CHECKOUT, "tests/dialects/calls-tags.toml")))
  HEADERS = Aside::Dialect.load(File.read(File.join(CHECKOUT, "tests/dialects/calls-header.toml")))
  PARAMETERS = { properties: { a: { type: "integer" }, note: { type: "string" } } }.freeze
  TOOLS = JSON.generate([{ type: "function", function: { name: "add", parameters: PARAMETERS } }])

  # Two calls, one of an unknown tool, and a broken one.
  TEXT = <<~'TEXT'.chomp
    Hm.<tool_call><function=add><parameter=a>
    2
    </parameter><parameter=note>
    "x" </tool_call>
    </parameter></function></tool_call>
    <tool_call>{"name": "add", "id": "own", "arguments": {"a": 40, "b": "é"}}</tool_call>
    <tool_call>{"name": "rm", "arguments": {"a": 1}}</tool_call><tool_call>{"name": "add", "arguments": {"a": [1}}</tool_call>.
  TEXT

  TOLD = [
    [0, 0, "call_0", "add", '{"a":2,"note":"\"x\" </tool_call>"}', :marker, true, nil],
    [1, 1, "own", "add", '{"a": 40, "b": "é"}', :marker, true, nil],
    [3, 2, "call_2", "add", '{"a": [1', :malformed, false, nil]
  ].freeze

  def test_pieces
    scanner = Aside::Scanner.new(DIALECT, calls: true)
    writer = Aside::CallWriter.new(DIALECT, tools: TOOLS)
    [1, 7, TEXT.bytesize].each { |size| assert_equal TOLD, written(scanner, writer, pieces(TEXT, size)), size }
  end

  def test_a_name_from_a_header
    scanner = Aside::Scanner.new(HEADERS, calls: true)
    writer = Aside::CallWriter.new(HEADERS)
    stream = ' to=functions.f<|message|>{"x": 1}<|call|>'
    [1, 7, stream.bytesize].each do |size|
      assert_equal [[0, 0, "call_0", "f", '{"x": 1}', :implied, true, nil]], written(scanner, writer, pieces(stream, size))
    end
    name = Support.scan(scanner, [stream]).find { |event| event.kind == :call_name }
    assert_equal ["f", ""], [name.name, name.bytes]
  end

  def test_tool_triggers
    triggers = Aside::Dialect.find("qwen3").tool_triggers
    assert_equal 4, triggers.size
    assert_equal ["<tool_call>", '<tool_call>{"name": "', '", "arguments": ', "}</tool_call>", :json, "", "", "", "",
                  ["<tool_call>", "</tool_call>"]], triggers.first.to_a
    assert_equal [:tags, "<parameter=", ">", "\n", "\n</parameter>"], triggers[2].to_a[4..8]
    assert Ractor.shareable?(triggers.first)
    assert_empty Aside::Dialect.find("inline-think").tool_triggers
  end

  def test_policies
    cut = "<tool_call><function=add><parameter=a>2</parameter>"
    two = '<tool_call>{"name":"add","arguments":{"a":1}}</tool_call><tool_call>{"name":"rm","arguments":{"b":"C:\D"}}</tool_call>'
    implied = [[0, 0, "call_0", "add", '{"a":2}', :implied, true, nil]]
    unfinished = [[0, 0, "call_0", "add", '{"a":2', :end_of_stream, false, nil]]
    add = [0, 0, "call_0", "add", '{"a":1}', :marker, true, nil]
    [[{}, cut, :ended, implied], [{}, cut, :cut_off, unfinished], [{ implied_end: :off }, cut, :ended, unfinished],
     [{ not_whole: :hold }, cut, :cut_off, []], [{ max_calls: 1 }, two, :ended, [add]],
     [{ tools: TOOLS, unknown_tool: :tell }, two, :ended,
      [add, [1, 1, "call_1", "rm", '{"b":"C:\D"}', :malformed, false, nil]]],
     [{ repair_arguments: true }, two, :ended, [add, [1, 1, "call_1", "rm", '{"b":"C:\\\\D"}', :marker, true, nil]]]]
      .each do |options, stream, reason, told|
      scanner = Aside::Scanner.new(DIALECT, calls: true)
      scanner.end_reason = reason
      assert_equal told, written(scanner, Aside::CallWriter.new(DIALECT, **options), pieces(stream, 3)), options.inspect
    end
    assert_raises(ArgumentError) { Aside::CallWriter.new(DIALECT, not_whole: :keep) }
  end

  def test_options
    scanner = Aside::Scanner.new(DIALECT, calls: true)
    assert_empty written(scanner, Aside::CallWriter.new(DIALECT, tools: "[]"), [TEXT])
    stream = '<tool_call>{"arguments":"0123456789","name":"f"}</tool_call>' \
             '<tool_call>{"name":"f","arguments":{},"id":"late"}</tool_call>'
    writer = Aside::CallWriter.new(DIALECT, id_prefix: "", max_held: 8)
    assert_equal [[1, 0, "0", "f", "{}", :marker, true, "late"]], written(scanner, writer, pieces(stream, 3))
    { "[" => "options.tools: not JSON, or nested too deep, at line 1, column 2", "" => "options.tools: not JSON",
      "[1]" => "options.tools[0]: not a JSON object", "\xFF".b => "options.tools: not UTF-8" }.each do |tools, message|
      error = assert_raises(Aside::OptionError) { Aside::CallWriter.new(DIALECT, tools: tools) }
      assert_includes error.message, message
    end
    Aside::CallWriter.new(DIALECT, tools: "[]", max_tools: 2)
    error = assert_raises(Aside::OptionError) { Aside::CallWriter.new(DIALECT, tools: "[ ]", max_tools: 2) }
    assert_includes error.message, "3 bytes, more than 2"
    assert_raises(ArgumentError) { Aside::CallWriter.new(DIALECT, max_held: -1) }
    assert_raises(TypeError) { Aside::CallWriter.new(DIALECT, tools: []) }
  end

  def test_events
    stream = "<think>a<tool_call><function=f><parameter=k>v</parameter></function></tool_call>" \
             "<tool_call>{\"id\":\"7\",\"name\":1}</tool_call>"
    events = Support.scan(Aside::Scanner.new(DIALECT, calls: true), stream.chars)
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
      events = Support.scan(Aside::Scanner.new(DIALECT, **options), [stream])
      assert_empty events.select { |event| event.kind.start_with?("call") }
    end
    assert_raises(ArgumentError) { Aside::Scanner.new(DIALECT, calls_in_thinking: :sometimes) }
  end

  def test_deltas_are_frozen_and_say_what_they_have
    scanner = Aside::Scanner.new(DIALECT, calls: true)
    writer = Aside::CallWriter.new(DIALECT)
    deltas = scanner.feed('<tool_call>{"name":"f","arguments":{}}</tool_call>').filter_map { |event| writer.feed(event) }
    assert_equal [[true, false, false], [false, true, true]], deltas.map { |one| [one.first?, one.last?, one.whole?] }
    assert(deltas.all? { |one| Ractor.shareable?(one) && one.arguments.encoding == Encoding::UTF_8 })
    assert_equal '#<Aside::CallDelta call=0 index=0 id="call_0" name="f" arguments="{}">', deltas.first.inspect
  end

  def test_join
    calls = [{ name: :add, arguments: '{"a": 1, "n": "x"}' }, { name: "g", arguments: "{}", id: "7" }]
    text = Aside.join("hm", "Adding.", DIALECT, calls: calls)
    told = written(Aside::Scanner.new(DIALECT, calls: true), Aside::CallWriter.new(DIALECT), pieces(text, 7))
    assert_equal [[0, 0, "call_0", "add", '{"a": 1, "n": "x"}', :marker, true, nil], [1, 1, "7", "g", "{}", :marker, true, nil]], told
    assert_equal "a", Aside.join("", "a", DIALECT, calls: [])
    error = assert_raises(Aside::JoinError) { Aside.join("", "", DIALECT, calls: [calls[0], { name: "f", arguments: "{" }]) }
    assert_includes error.message, "call 1"
    assert_raises(Aside::OptionError) { Aside.join("", "", DIALECT, calls: [{ name: "f", arguments: "\xFF".b }]) }
    assert_raises(ArgumentError) { Aside.join("", "", DIALECT, calls: [{ name: "f" }]) }
  end

  def test_close
    writer = Aside::CallWriter.new("think")
    event = Aside::Scanner.new("think").feed("a").first
    assert_nil writer.feed(event)
    assert_equal "#<Aside::CallWriter think>", writer.inspect
    2.times { assert_nil writer.close }
    assert_predicate writer, :closed?
    [-> { writer.feed(event) }, -> { writer.reset }].each { |call| assert_raises(Aside::ClosedError, &call) }
    assert_raises(TypeError) { writer.dup }
  end

  private

  def pieces(text, size)
    (0...text.bytesize).step(size).map { |at| text.byteslice(at, size) }
  end

  # Returns the calls of a stream, each with its deltas joined.
  def written(scanner, writer, chunks)
    calls = Support.scan(scanner, chunks).filter_map { |event| writer.feed(event) }.slice_when { |one, _| one.last? }
    writer.reset
    calls.map do |deltas|
      assert_equal [[true] + [false] * (deltas.size - 1)], [deltas.map(&:first?)]
      last = deltas.last
      [last.call, last.index, deltas.first.id, deltas.first.name, deltas.map(&:arguments).join, last.cause, last.whole?,
       last.late_id]
    end
  end
end
