# frozen_string_literal: true

# Tests that a text becomes parts, however it is cut.

require_relative "helper"

class AnswerTest < Minitest::Test
  TAGS = Aside::Dialect.load(File.read(File.join(CHECKOUT, "tests/dialects/calls-tags.toml")))
  HEADERS = Aside::Dialect.load(File.read(File.join(CHECKOUT, "tests/dialects/calls-header.toml")))
  PARAMETERS = { properties: { a: { type: "integer" }, note: { type: "string" } } }.freeze
  TOOLS = JSON.generate([{ type: "function", function: { name: "add", parameters: PARAMETERS } }])
  CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
  REPORTED = ["call_0", "f", '{"a": 1}', true].freeze

  # Two calls, one of an unknown tool, and a broken one.
  TEXT = <<~'TEXT'.chomp
    Hm.<tool_call><function=add><parameter=a>
    2
    </parameter><parameter=note>
    "x" é</tool_call>
    </parameter></function></tool_call>
    <tool_call>{"name": "add", "id": "own", "arguments": {"a": 40, "b": "é"}}</tool_call>
    <tool_call>{"name": "rm", "arguments": {"a": 1}}</tool_call><tool_call>{"name": "add", "arguments": {"a": [1}}</tool_call>
  TEXT

  def test_cut_anywhere
    answer = Aside::Answer.new(TAGS, tools: TOOLS)
    # The rest of the broken call is content.
    wanted = ["", "Hm.\n<tool_call>{\"name\": \"rm\", \"arguments\": {\"a\": 1}}</tool_call>}}",
              ["call_0", "add", '{"a":2,"note":"\"x\" é</tool_call>"}', true], ["own", "add", '{"a": 40, "b": "é"}', true],
              ["call_2", "add", '{"a": [1', false]]
    [1, 2, 7, TEXT.bytesize].each { |size| assert_equal wanted, read(answer, TEXT, size: size), size }
    assert_equal ["", "", ["call_0", "f", '{"x": 1}', true]],
                 read(Aside::Answer.new(HEADERS), ' to=functions.f<|message|>{"x": 1}<|call|>', size: 3)
  end

  def test_a_text_that_is_no_call_is_content
    span = '<tool_call>{"name": 5, "arguments": {"city": "Oslo"}}</tool_call>'
    cut = "Yes.\n<tool_call>\n{\"name\": \"f\", \"argum"
    broken = '<tool_call>{"nme": "f"}</tool_call>'
    { span => ["", span], cut => ["", cut], "#{CALL}\n#{broken}" => ["", broken, REPORTED] }.each do |text, wanted|
      [1, text.bytesize].each { |size| assert_equal wanted, read(Aside::Answer.new("qwen3"), text, size: size) }
    end
  end

  def test_options
    text = "<think>\nhm\n</think>\n\nYes.#{CALL}"
    other = CALL.sub('"f"', '"g"')
    cut = CALL[0, 44]
    guess = "The answer is 42."
    [["qwen3", {}, text, ["hm", "Yes.", REPORTED]], ["qwen3", { thinking: :drop }, text, ["", "Yes.", REPORTED]],
     ["qwen3", { thinking: :inline }, text, ["", "<think>\nhm\n</think>\n\nYes.", REPORTED]],
     ["qwen3", { tools: "[]" }, CALL, ["", CALL]], ["qwen3", { tools: TOOLS, unknown_tool: :drop }, other, ["", ""]],
     ["qwen3", { tools: TOOLS, unknown_tool: :tell, id_prefix: "x" }, CALL, ["", "", ["x0", "f", '{"a": 1}', true]]],
     ["qwen3", {}, cut, ["", "", ["call_0", "f", cut[/\{"a":.*/], false]]], ["qwen3", { not_whole: :hold }, cut, ["", cut]],
     ["qwen3", { max_calls: 1 }, CALL + other, ["", other, REPORTED]],
     ["qwen3", { start_call: "h" }, '{"x": 1}', ["", "", ["call_0", "h", '{"x": 1}', true]]],
     ["qwen3", { start: :thinking }, "hm</think>Yes.", ["hm", "Yes."]],
     ["qwen3", { repair_arguments: true }, CALL.sub("1", '"C:\D"'), ["", "", ["call_0", "f", '{"a": "C:\\\\D"}', true]]],
     ["qwen3", {}, "<think>#{guess}", [guess, ""]],
     ["qwen3", { promote_empty: true }, "<think>#{guess}", [guess, guess]],
     ["qwen3", { promote_empty: true, may_take_back: true }, "<think>#{guess}", ["", guess]],
     ["qwen3", { may_take_back: true }, "hm</think>Yes.", %w[hm Yes.]],
     ["deepseek-r1", {}, guess, [guess, guess]], ["deepseek-r1", { may_take_back: true }, guess, ["", guess]],
     ["deepseek-r1", { keep_guessed: true }, guess, [guess, ""]]].each do |dialect, options, stream, wanted|
      [1, stream.bytesize].each do |size|
        assert_equal wanted, read(Aside::Answer.new(dialect, **options), stream, size: size), [options, stream].inspect
      end
    end
    assert_equal [guess, ""], read(Aside::Answer.new("deepseek-r1"), guess, reason: :unknown)
    implied = "<tool_call><function=add><parameter=a>2</parameter>"
    assert_equal ["call_0", "add", '{"a":2}', true], read(Aside::Answer.new(TAGS, tools: TOOLS), implied)[2]
    assert_equal false, read(Aside::Answer.new(TAGS, tools: TOOLS), implied, reason: :cut_off)[2].last
    assert_equal false, read(Aside::Answer.new(TAGS, tools: TOOLS, implied_end: :off), implied)[2].last
  end

  def test_refused
    { "[" => "options.tools: not JSON, or nested too deep, at line 1, column 2", "" => "options.tools: not JSON",
      "[1]" => "options.tools[0]: not a JSON object", "\xFF".b => "options.tools: not UTF-8" }.each do |tools, message|
      assert_includes assert_raises(Aside::OptionError) { Aside::Answer.new("qwen3", tools: tools) }.message, message
    end
    answer = Aside::Answer.new("qwen3", tools: "[]", max_tools: 2)
    assert_includes assert_raises(Aside::OptionError) { answer.use_tools("[ ]") }.message, "3 bytes, more than 2"
    [{ not_whole: :keep }, { max_held: -1 }, { start: :middle }, { promote: true }].each do |options|
      assert_raises(ArgumentError) { Aside::Answer.new("qwen3", **options) }
    end
    assert_raises(Aside::OptionError) { Aside::Answer.new("qwen3", start: :header) }
    assert_raises(Aside::UnknownDialectError) { Aside::Answer.new("no such") }
    assert_raises(TypeError) { Aside::Answer.new("qwen3", tools: []) }
    [-> { answer.feed(nil) }, -> { answer.start_from_prompt(nil) }].each { |wrong| assert_raises(TypeError, &wrong) }
    [-> { answer.finish(:over) }, -> { answer.counts(:thought) }].each { |wrong| assert_raises(ArgumentError, &wrong) }
  end

  def test_parts
    parts = Aside::Answer.new("qwen3").feed("<think>hm</think>Yes.#{CALL}")
    assert_equal %i[thinking content call arguments call_end], parts.map(&:kind)
    assert(parts.all? { |part| Ractor.shareable?(part) && part.text.encoding == Encoding::UTF_8 })
    call, arguments, ending = parts.last(3)
    assert_equal [0, "call_0", "f", true, ""], [call.index, call.id, call.name, call.made?, call.text]
    assert_equal [0, '{"a": 1}', false], [arguments.index, arguments.text, arguments.whole?]
    assert_equal [0, true, false, :marker, nil], [ending.index, ending.whole?, ending.repaired?, ending.cause, ending.late_id]
    assert_equal '#<Aside::Part kind=:call index=0 id="call_0" name="f" made=true>', call.inspect
    assert_equal call, Aside::Answer.new("qwen3").feed(CALL).first
    refute_equal call, arguments
    late = Aside::Answer.new(TAGS).feed('<tool_call>{"name":"f","arguments":{},"id":"late"}</tool_call>')
    assert_equal ["call_0", "late"], [late.first.id, late.last.late_id]
    moved = Aside::Answer.new("qwen3", may_take_back: true).feed("hm</think>").find { |part| part.kind == :moved }
    assert_equal %i[content thinking], [moved.from, moved.to]
    case moved
    in { kind: :moved, to:, text: "" } then assert_equal :thinking, to
    end
  end

  def test_budget
    parts = Aside::Answer.new("qwen3", budget: 1, budget_unit: :characters).feed("<think>hm</think>")
    assert_equal [[:thinking, "h"], [:budget, ""], [:thinking, "m"]], parts.map { |part| [part.kind, part.text] }
    assert_empty(Aside::Answer.new("qwen3", budget: 2).feed("<think>hm</think>").select { |part| part.kind == :budget })
  end

  def test_strings
    answer = Aside::Answer.new("qwen3")
    parts = "é".b.chars.flat_map { |byte| answer.feed(byte) } + answer.feed("\xFF!".b) + answer.feed("é".encode("UTF-16LE"))
    assert_equal "é\u{FFFD}!é", (parts + answer.finish).map(&:text).join
    assert_equal "é\xFF!é".b, parts.map(&:bytes).join
    special = answer.feed_tokens([["<think>", true], ["hm", false], ["</think>", true]]) + answer.finish
    assert_equal [[:thinking, "hm"]], special.map { |part| [part.kind, part.text] }
  end

  def test_a_text_after_another
    answer = Aside::Answer.new("qwen3", tools: '[{"name": "f"}]')
    assert_equal :thinking, answer.start_from_prompt("<|im_start|>assistant\n<think>\n")
    assert_same answer, answer.use_tools("[]")
    assert_equal ["hm", "Yes.#{CALL}"], read(answer, "hm</think>Yes.#{CALL}")
    assert_equal [2, true], [answer.counts(:thinking).bytes, answer.counts(:thinking).frozen?]
    # The prompt and the tools applied to one text only.
    assert_equal ["", "", REPORTED], read(answer, CALL)
    assert_equal ["", "", REPORTED], read(answer.use_tools(nil), CALL)

    answer.feed("Yes.<thi") { nil }
    assert_equal 4, answer.held
    [-> { answer.use_tools("[]") }, -> { answer.start_from_prompt("") }].each { |late| assert_raises(Aside::OrderError, &late) }
    assert_equal ["<thi"], answer.flush.map(&:text)
    assert_equal ["Yes."], answer.reset.feed("Yes.").map(&:text)
    assert_equal [4, 0], [answer.counts(:content).bytes, answer.reset.counts(:content).bytes]
    answer.feed("<think>hm") { nil }
    answer.force_close { nil }
    assert_equal %i[content], answer.feed("Yes.").map(&:kind)
  end

  def test_blocks
    answer = Aside::Answer.new("qwen3")
    assert_raises(ZeroDivisionError) { answer.feed("<think>a</think>b#{CALL}") { 1 / 0 } }
    assert_equal :over, answer.feed("") { break :over }
    seen = []
    assert_same answer, answer.feed("c") { |part| seen << part.kind }
    assert_equal %i[call arguments call_end content], seen
    # A block may feed its own answer, and gets the parts of both calls.
    texts = []
    answer.feed("d") { |part| texts << part.text << (texts.size < 2 ? answer.feed("e").map(&:text) : nil) }
    assert_equal ["d", ["e"]], texts
    answer.feed("f") { break }
    answer.feed("ghi") { break }
    assert_empty answer.reset.feed("")
  end

  def test_close
    answer = Aside::Answer.new("qwen3")
    assert_equal "#<Aside::Answer qwen3>", answer.inspect
    assert_raises(TypeError) { answer.dup }
    2.times { assert_nil answer.close }
    assert_predicate answer, :closed?
    [-> { answer.feed("a") }, -> { answer.feed_tokens([]) }, -> { answer.flush }, -> { answer.force_close }, -> { answer.finish },
     -> { answer.reset }, -> { answer.held }, -> { answer.counts(:content) }, -> { answer.use_tools(nil) },
     -> { answer.start_from_prompt("") }].each { |use| assert_raises(Aside::ClosedError, &use) }
  end

  def test_join
    calls = [{ name: :add, arguments: '{"a": 1, "n": "x"}' }, { name: "g", arguments: "{}", id: "7" }]
    text = Aside.join("hm", "Adding.", TAGS, calls: calls)
    wanted = ["hm", "Adding.", ["call_0", "add", '{"a": 1, "n": "x"}', true], ["7", "g", "{}", true]]
    assert_equal wanted, read(Aside::Answer.new(TAGS), text, size: 7)
    assert_equal "a", Aside.join("", "a", TAGS, calls: [])
    error = assert_raises(Aside::JoinError) { Aside.join("", "", TAGS, calls: [calls[0], { name: "f", arguments: "{" }]) }
    assert_includes error.message, "call 1"
    assert_raises(Aside::OptionError) { Aside.join("", "", TAGS, calls: [{ name: "f", arguments: "\xFF".b }]) }
    assert_raises(ArgumentError) { Aside.join("", "", TAGS, calls: [{ name: "f" }]) }
  end

  private

  # Returns the thinking and the content of a text, and id, name and arguments of each call, with whether it is whole.
  def read(answer, text, size: text.bytesize, reason: :ended)
    texts = { thinking: +"", content: +"" }
    calls = []
    parts = (0...text.bytesize).step(size).flat_map { |at| answer.feed(text.byteslice(at, size)) } + answer.finish(reason)
    parts.each do |part|
      case part
      in { kind: :thinking | :content => kind, text: } then texts[kind] << text
      in { kind: :call, id:, name: } then calls << [id, name, +"", nil]
      in { kind: :arguments, index:, text: } then calls[index][2] << text
      in { kind: :call_end, index:, whole: } then calls[index][3] = whole
      in { kind: :moved, from:, to: }
        texts[to].prepend(texts[from])
        texts[from] = +""
      end
    end
    [*texts.values, *calls]
  end
end
