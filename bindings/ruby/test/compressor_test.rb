# frozen_string_literal: true

# Tests tool results: one call, its report, streams, filters and caches in Ruby, and their failures.

require_relative "helper"
require "timeout"
require "tmpdir"

class CompressorTest < Minitest::Test
  LOG = "#{"the noise\n" * 400}error: the end.\n"
  PLAIN = Array.new(200) { |n| "line #{n} of a log that no filter takes\n" }.join
  TOML = <<~'TOML'
    id = "mine"
    [[run]]
    command = ["mytool"]
    [[rule]]
    drop = ['^line \d+ of']
    [[test]]
    name = "lines go"
    kind = "pass"
    command = "mytool"
    input = """
    line 1 of a log that no filter takes
    line 2 of a log that no filter takes
    well
    """
    output = """
    [… 2 lines, 74 bytes left out]
    well
    """
    [[test]]
    name = "errors stay"
    kind = "fail"
    command = "mytool"
    input = """
    line 1 of a log that no filter takes
    line 2 of a log that no filter takes
    error: no
    """
    output = """
    [… 2 lines, 74 bytes left out]
    error: no
    """
    [[test]]
    name = "others stay"
    kind = "look-alike"
    command = "mytool"
    input = """
    a line 1 of
    """
  TOML

  # A filter that runs its block and records its arguments.
  class Filter
    attr_reader :id, :tool_ids, :seen

    def initialize(id = "host", tool_ids: [], matches: ->(*) { true }, &apply)
      @id = id
      @tool_ids = tool_ids
      @matches = matches
      @apply = apply
      @seen = []
    end

    def matches?(tool_id, input)
      @seen << [:matches, tool_id, input]
      @matches.call(tool_id, input)
    end

    def apply(text, input)
      @seen << [:apply, text, input]
      @apply.call(text)
    end
  end

  # A cache of one result.
  class Cache
    attr_reader :id, :seen

    def initialize(**fails)
      @id = :memory
      @fails = fails
      @seen = []
    end

    def observe(tool_id, input) = note(:observe, tool_id, input)

    def lookup(tool_id, input)
      note(:lookup, tool_id, input)
      @recorded
    end

    def record(tool_id, input, text, time)
      note(:record, tool_id, input)
      @recorded = [text, time]
    end

    private

    def note(what, *rest)
      @seen << [what, *rest]
      raise @fails[what] if @fails[what]
    end
  end

  def test_a_budget_in_tokens
    log = (0...5000).map { |n| "step #{n} is done\n" }.join
    run = ->(**options) { Aside::Compressor.new(budget_tokens: 600, **options).compress(log, tool_id: "bash") }
    estimated = run.call
    assert_operator estimated.text.bytesize, :<=, 3600
    seen = []
    counted = run.call(count: ->(text) { seen << text and text.bytesize / 2 })
    assert_operator counted.text.bytesize, :<=, 1201
    assert_includes seen, counted.text
    assert_operator seen.size, :<=, 8
    assert_empty counted.report.failed
    [->(_) { raise "no tokenizer" }, ->(_) { "many" }, ->(_) { -1 }].each do |wrong|
      short = run.call(count: wrong)
      assert_equal estimated.text, short.text
      assert_equal(["count"], short.report.failed.map { |failed| failed.id })
    end
    assert_raises(Aside::OptionError) { Aside::Compressor.new(budget_tokens: 511) }
    assert_raises(TypeError) { Aside::Compressor.new(budget_tokens: 600, count: 3) }
  end

  def test_a_string
    compressor = Aside::Compressor.new(switch_off: "Say so.")
    result = compressor.compress(LOG, tool_id: :bash, input: { command: "make" }, exit_code: 2)
    banner, rest = result.text.split("\n", 2)
    assert_match(/\A\[Output compressed by repeats \(4016 → \d+ chars\)\. Say so\.\]\z/, banner)
    assert_equal "the noise\n[… 399 lines as above]\nerror: the end.\n", rest
    assert_equal [Encoding::UTF_8, false, true], [result.text.encoding, result.text.frozen?, result.compressed?]
    report = result.report
    assert_equal ["bash", 4016, result.text.bytesize, ["repeats"], [], nil, false, false],
                 [report.tool_id, report.before, report.after, report.filters, report.failed, report.hit, report.cut_protected?,
                  report.unexplained?]
    passed = compressor.compress("2 passed\n", tool_id: :bash, input: { command: "make" }, exit_code: 2)
    assert_predicate passed.report, :unexplained?
    short = "short".encode("UTF-16LE")
    assert_same short, compressor.compress(short, tool_id: "bash").text
    assert_equal result.text, compressor.compress(LOG.encode("UTF-16LE"), tool_id: "bash").text
    assert_equal result.text, compressor.compress(LOG.b.freeze, tool_id: "bash").text
    invalid = "\xFF\n" * 2000
    assert_equal "\xFF\n[… 1,999 lines as above]\n", compressor.compress(invalid, tool_id: "bash").text.lines.drop(1).join
  end

  def test_parts
    image = { type: "image" }
    result = Aside::Compressor.new.compress([image, LOG, nil, "short"], tool_id: "bash")
    assert_same image, result.parts[0]
    assert_equal [nil, "short"], result.parts[2..]
    assert_equal "#{result.parts[1]}\nshort", result.text
    assert_equal 1, result.report.parts.first.part
    assert_equal "", Aside::Compressor.new.compress([], tool_id: "bash").text
    [nil, 3, :a].each { |wrong| assert_raises(TypeError) { Aside::Compressor.new.compress(wrong, tool_id: "bash") } }
  end

  def test_the_report_tiles_the_original_and_gives_back
    log = "é#{LOG}"
    report = Aside::Compressor.new.compress(["a", log], tool_id: "bash").report
    part = report.parts.first
    assert_equal [1, log.bytesize, true], [part.part, part.bytesize, part.frozen?]
    assert_equal log, part.stretches.map { |stretch| report.slice(1, log, stretch.range) }.join
    left = part.stretches.find { |stretch| stretch.change == :left_out }
    assert_equal ["repeats", "the noise\n" * 398], [left.filter, report.slice(1, log, left.range)]
    assert_nil part.stretches.first.filter
    assert_equal ["end.\n", "\xC3".b], [report.slice(1, log, log.bytesize - 5..), report.slice(1, log, ..0).b]
    assert_equal(-1014, assert_raises(Aside::OriginalError) { report.slice(1, "#{log} ", 0..1) }.status)
    assert_raises(Aside::OriginalError) { report.slice(0, "a", 0..1) }
    [log.bytesize, 0xFFFF_FFFF_FFFF_FFFF].each do |last|
      assert_equal(-1010, assert_raises(Aside::Error) { report.slice(1, log, 0..last) }.status)
    end
    assert_raises(ArgumentError) { report.slice(1, log, -3..-1) }
    report.close
    report.close
    assert_raises(Aside::ClosedError) { report.slice(1, log, 0..1) }
    assert_equal ["repeats"], report.filters
  end

  def test_what_a_report_gives_is_frozen
    compressor = Aside::Compressor.new
    stream = compressor.stream(tool_id: id = +"bash", memory: 8_192)
    stream.feed(LOG)
    stream.finish
    [compressor.compress(LOG, tool_id: id).report, stream.report].each do |report|
      assert_equal ["bash", true], [report.tool_id, report.tool_id.frozen?]
    end
    refute_predicate id, :frozen?
  end

  def test_a_budget
    text = Array.new(500) { |n| "step #{n} done\n" }.insert(250, "error: here\n").join
    result = Aside::Compressor.new(budget: 2_000).compress(text, tool_id: "bash")
    assert_operator result.text.bytesize, :<=, 2_000
    assert_includes result.text, "\nerror: here\n"
    assert_same text, Aside::Compressor.new.compress(text, tool_id: "bash").text
    [0, 1023].each { |budget| assert_raises(Aside::OptionError) { Aside::Compressor.new(budget: budget) } }
    [-1, 1.5, 1 << 64].each { |budget| assert_raises(ArgumentError) { Aside::Compressor.new(budget: budget) } }
  end

  def test_filter_files
    compressor = Aside::Compressor.new(filters: [TOML])
    inputs = [{ command: "mytool -v" }, '{"command": "mytool"}', { "command" => "mytool", exit_code: 1 }]
    inputs.each do |input|
      result = compressor.compress("#{PLAIN}well\n", tool_id: "bash", input: input, exit_code: 0)
      assert_match(/\A\[Output compressed by mine .*\]\n\[… 200 lines, [\d,]+ bytes left out\]\nwell\n\z/, result.text)
    end
    assert_same PLAIN, compressor.compress(PLAIN, tool_id: "bash", input: { command: "other" }).text
    error = assert_raises(Aside::FilterError) { Aside::Compressor.new(filters: [TOML.sub("drop", "drap")]) }
    assert_match(/line \d+.*drap/m, error.message)
  end

  def test_which_filters
    assert_same LOG, Aside::Compressor.new(built_in: false).compress(LOG, tool_id: "bash").text
    json = JSON.pretty_generate((1..300).to_a)
    assert_same json, Aside::Compressor.new.compress(json, tool_id: "bash").text
    short = Aside::Compressor.new(minify_json: true).compress(json, tool_id: "bash").text.split("\n", 2).last
    assert_equal JSON.parse(json), JSON.parse(short)
    assert_operator short.size, :<, json.size
  end

  def test_inputs
    filter = Filter.new { nil }
    compressor = Aside::Compressor.new(filters: [filter])
    { nil => nil, { a: { b: [1.5, "é"] } } => { "a" => { "b" => [1.5, "é"] } }, '{"b":1,"a":null}' => { "a" => nil, "b" => 1 },
      [1] => [1], '"text"' => "text" }.each do |input, wanted|
      filter.seen.clear
      compressor.compress(PLAIN, tool_id: "bash", input: input)
      assert_equal [[:matches, "bash", wanted], [:apply, PLAIN, wanted]], filter.seen
      assert_predicate filter.seen.last.last, :frozen?
    end
    { nil => { "exit_code" => 3 }, '{"command":"a","exit_code":1}' => { "command" => "a", "exit_code" => 3 } }.each do |input, wanted|
      compressor.compress(PLAIN, tool_id: "bash", input: input, exit_code: 3)
      assert_equal wanted, filter.seen.last.last
    end
    assert_raises(Aside::OptionError) { compressor.compress(PLAIN, tool_id: "bash", input: "make") }
    [["make", 1], [[1], 1], [{ a: "\xFF" }, nil], [Float::NAN, nil]].each do |input, code|
      assert_raises(ArgumentError) { compressor.compress(PLAIN, tool_id: "bash", input: input, exit_code: code) }
    end
    assert_raises(TypeError) { compressor.compress(PLAIN, tool_id: nil) }
    assert_raises(Aside::OptionError) { compressor.compress(PLAIN, tool_id: "\xFF") }
  end

  def test_deep_inputs
    compressor = Aside::Compressor.new
    deep = ->(depth) { %({"a":#{"[" * (depth - 1)}#{"]" * (depth - 1)}}) }
    [nil, 1].each do |exit_code|
      compressor.compress(LOG, tool_id: "bash", input: deep.call(127), exit_code: exit_code)
      assert_raises(exit_code ? ArgumentError : Aside::OptionError) do
        compressor.compress(LOG, tool_id: "bash", input: deep.call(100_000), exit_code: exit_code)
      end
    end
  end

  def test_filters_in_ruby
    first = Filter.new("first", tool_ids: %w[bash sh]) { |text| text.lines.first(20).join }
    other = Filter.new("other", tool_ids: ["web"]) { "" }
    refusing = Filter.new("refusing", matches: ->(_, input) { input["command"] == "no" }) { "" }
    longer = Filter.new("longer") { |text| text + text }
    compressor = Aside::Compressor.new(filters: [first, other, refusing, longer])
    result = compressor.compress(PLAIN, tool_id: "sh", input: { command: "yes" })
    assert_match(/\A\[Output compressed by first .*\]\n/, result.text)
    assert_equal PLAIN.lines.first(20).join, result.text.split("\n", 2).last
    assert_equal [[], [[:matches, "sh", { "command" => "yes" }]]], [other.seen, refusing.seen]
    text = first.seen.last[1]
    assert_equal [Encoding::UTF_8, false], [text.encoding, text.frozen?]
    bare = Struct.new(:id) { def apply(_text, _input) = "x".encode("UTF-16LE") }.new("bare")
    assert_equal "x", Aside::Compressor.new(filters: [bare]).compress(PLAIN, tool_id: "a").text.lines.last
    last = Aside::Compressor.new(filters: [Filter.new("bare") { raise "not asked" }, bare])
    assert_empty last.compress(PLAIN, tool_id: "a").report.failed
    assert_raises(TypeError) { Aside::Compressor.new(filters: [Object.new]) }
    assert_raises(TypeError) { Aside::Compressor.new(filters: [Filter.new(nil) { nil }]) }
    ["", "a\nb", "\xFF"].each { |id| assert_raises(Aside::OptionError) { Aside::Compressor.new(filters: [Filter.new(id) { nil }]) } }
  end

  def test_what_fails_in_a_filter_stays_in_the_report
    short = Filter.new("short") { |text| text[0, 300] }
    { -> { raise ArgumentError, "no\xFF" } => [ArgumentError, "ArgumentError: no\uFFFD"],
      -> { throw :away } => [UncaughtThrowError, /uncaught throw :away/],
      -> { Fiber.yield 1 } => [FiberError, /yielded/],
      -> { 3 } => [TypeError, /Integer/],
      -> { Aside::Dialect.find("qwen4") } => [Aside::UnknownDialectError, /qwen4/] }.each do |body, (error, reason)|
      [[Filter.new("bad") { body.call }, true], [Filter.new("bad", matches: ->(*) { body.call && raise(TypeError, "no Integer") }) { "" }, false]].each do |bad, applies|
        result = Aside::Compressor.new(filters: [bad, short]).compress(PLAIN, tool_id: "bash")
        assert_equal ["short"], result.report.filters
        failed = result.report.failed
        assert_equal ["bad"], failed.map(&:id)
        assert_kind_of error, failed.first.error
        assert_operator reason, :===, failed.first.reason
        assert_equal applies, bad.seen.any? { |what,| what == :apply }
      end
    end
    catch(:away) do
      result = Aside::Compressor.new(filters: [Filter.new { throw :away }]).compress(PLAIN, tool_id: "bash")
      assert_equal ["host"], result.report.failed.map(&:id)
    end
    thread = Thread.new do
      Aside::Compressor.new(filters: [Filter.new { Thread.exit }]).compress(PLAIN, tool_id: "bash").report.failed.first.error
    end
    assert_kind_of ThreadError, thread.value
    # A failure that the library itself detects has no exception.
    blank = Aside::Compressor.new(filters: [Filter.new { " " }]).compress(PLAIN, tool_id: "bash")
    assert_same PLAIN, blank.text
    assert(blank.report.failed.all? { |failed| failed.error.nil? })
  end

  def test_what_is_no_standard_error_is_raised_afterwards
    asked = []
    stopping = Filter.new("stopping") { raise Interrupt, "stop" }
    after = Filter.new("after") { asked << 1 and nil }
    compressor = Aside::Compressor.new(filters: [stopping, after])
    error = assert_raises(Interrupt) { compressor.compress(PLAIN, tool_id: "bash") }
    assert_equal ["stop", [1]], [error.message, asked]
    assert(error.backtrace.any? { |line| line.include?(File.basename(__FILE__)) })
    assert_raises(Interrupt) { compressor.compress(PLAIN, tool_id: "bash") }
    compressor.close
  end

  def test_what_other_threads_send_waits
    ended = false
    compressor = Aside::Compressor.new(filters: [Filter.new { sleep(0.2) && ended = true and nil }])
    assert_raises(Timeout::Error) { Timeout.timeout(0.05) { compressor.compress(PLAIN, tool_id: "bash") } }
    assert ended
    thread = Thread.new { compressor.compress(PLAIN, tool_id: "bash") && flunk }
    sleep(0.05)
    thread.kill
    thread.join
    compressor.close
    assert_predicate compressor, :closed?
  end

  def test_callbacks_may_use_the_library_but_for_their_compressor
    inner = Aside::Compressor.new
    outer = nil
    filter = Filter.new { |text| inner.compress(LOG, tool_id: "bash").text + Aside.strip(text, "qwen3")[0, 100] }
    text = Aside::Compressor.new(filters: [filter]).compress(PLAIN, tool_id: "bash").text
    assert_includes text, "[… 399 lines as above]"
    [-> { outer.compress("a", tool_id: "bash") }, -> { outer.close }].each do |body|
      outer = Aside::Compressor.new(filters: [Filter.new { body.call }])
      assert_kind_of Aside::BusyError, outer.compress(PLAIN, tool_id: "bash").report.failed.first.error
    end
    outer.close
    outer.close
    assert_raises(Aside::ClosedError) { outer.compress("a", tool_id: "bash") }
    assert_raises(Aside::ClosedError) { outer.stream(tool_id: "bash", memory: 10_000) }
    assert_raises(TypeError) { inner.dup }
  end

  def test_a_text_that_a_callback_changes
    text = PLAIN + " "
    filter = Filter.new { |given| text.bytesize.times { |at| text.setbyte(at, 120) } && given[0, 500] }
    result = Aside::Compressor.new(filters: [filter]).compress(text, tool_id: "bash")
    assert_equal PLAIN[0, 500], result.text.split("\n", 2).last
    assert_equal PLAIN[0, 500], result.report.slice(0, "#{PLAIN} ", 0...500)
  end

  def test_what_a_yielded_object_says_is_not_asked
    odd = Object.new
    def odd.to_ary = raise("odd")
    filter = Filter.new { Fiber.yield(odd) }
    assert_equal [FiberError], (Aside::Compressor.new(filters: [filter]).compress(LOG, tool_id: "bash").report.failed.map { |failed| failed.error.class })
  end

  # A Fiber that yielded in a call may be resumed after it, when memory borrowed for its reply is gone.
  def test_an_answer_that_comes_too_late
    fiber = nil
    filter = Filter.new { fiber = Fiber.current; Fiber.yield; "short" }
    cache = Class.new do
      define_method(:id) { "late" }
      define_method(:lookup) { |*| fiber = Fiber.current; Fiber.yield; ["late", Time.at(1)] }
      define_method(:record) { |*| nil }
    end.new
    [Aside::Compressor.new(filters: [filter]), Aside::Compressor.new(caches: [cache])].each do |compressor|
      wanted = Aside::Compressor.new.compress(LOG, tool_id: "bash").text
      10.times do
        result = compressor.compress(LOG, tool_id: "bash")
        assert_equal [FiberError], (result.report.failed.map { |failed| failed.error.class })
        late = fiber
        assert_equal wanted, compressor.compress(LOG, tool_id: "bash").text
        late.resume
      end
    end
  end

  def test_what_a_filter_changes_of_what_the_compressor_was_given
    sentence = +"#{"Ask the host. " * 100}This is the end of it."
    named = Filter.new { "short" }
    named.define_singleton_method(:id) { sentence.clear && "named" }
    text = Aside::Compressor.new(filters: [named], switch_off: sentence).compress(PLAIN, tool_id: "bash").text
    assert_includes text, "Ask the host. This is the end of it."
    [:clear, [:push, "x"]].each do |change|
      parts = [LOG, PLAIN]
      result = Aside::Compressor.new(filters: [Filter.new { parts.public_send(*change) && nil }]).compress(parts, tool_id: "bash")
      assert_equal 2, result.parts.size
      assert_equal PLAIN, result.parts[1]
    end
  end

  def test_caches
    [[nil, { last_run: 1 << 20 }, "last-run"], *[Cache.new].map { |cache| [cache, { caches: [cache] }, "memory"] }].each do |cache, options, id|
      compressor = Aside::Compressor.new(**options)
      ask = ->(text, now) { compressor.compress([text, :image, text], tool_id: "bash", input: { b: 1, a: 2 }, now: now) }
      assert_nil ask.call(PLAIN, Time.at(0)).report.hit
      again = ask.call(PLAIN, 9)
      assert_match(/\ASame output as last run \(1970-01-01T00:00:00Z\)/, again.text)
      assert_equal [id, [:image, nil], true], [again.report.hit, again.parts[1..], again.compressed?]
      assert_nil ask.call("#{PLAIN}more\n", 10).report.hit
      next unless cache

      assert_equal %i[observe lookup record] * 3, cache.seen.map(&:first)
      assert_equal [["bash", { "a" => 2, "b" => 1 }]], cache.seen.map { |seen| seen.drop(1) }.uniq
    end
  end

  def test_caches_that_fail
    %i[observe lookup record].each do |what|
      cache = Cache.new(what => IOError.new("no #{what}"))
      result = Aside::Compressor.new(caches: [cache]).compress(LOG, tool_id: "bash")
      assert_equal ["repeats"], result.report.filters
      assert_equal [["memory", "IOError: no #{what}", IOError]], result.report.failed.map { |failed| [failed.id, failed.reason, failed.error.class] }
    end
    assert_raises(TypeError) { Aside::Compressor.new(caches: [Filter.new { nil }]) }
  end

  def test_streams
    compressor = Aside::Compressor.new(budget: 1_500, filters: [Filter.new { |text| text[0, 200] if text.size < 5_000 }])
    [LOG, PLAIN, PLAIN * 20].each do |text|
      whole = nil
      [1, 7, 4_000, 1_000_000].each do |size|
        stream = compressor.stream(tool_id: "bash", input: { command: "make" }, memory: 6_000)
        out = (0...text.bytesize).step(size).map { |at| stream.feed(text.byteslice(at, size).freeze) }.join
        assert_nil stream.report
        out += stream.finish
        whole ||= out
        assert_equal [whole, Encoding::UTF_8, text.bytesize, out.bytesize], [out, out.encoding, stream.report.before, stream.report.after]
        assert_raises(Aside::OrderError) { stream.feed("a") }
        assert_raises(Aside::OrderError) { stream.finish }
        stream.close
        assert_raises(Aside::ClosedError) { stream.feed("a") }
      end
      assert_operator whole.bytesize, :<=, 1_500
      assert_equal compressor.compress(text, tool_id: "bash", input: { command: "make" }).text.split("\n", 2).last, whole if text == LOG
    end
    assert_raises(Aside::OptionError) { compressor.stream(tool_id: "bash", memory: 5_999) }
    assert_raises(TypeError) { compressor.stream(tool_id: "bash", memory: 6_000).feed(nil) }
  end

  # In Ruby 3.0, Fiber#alive? needs the library fiber.
  def test_callbacks_where_fibers_have_a_library_of_their_own
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "fiber.rb"), "class Fiber; alias alive? core_alive?; end")
      output, = Support.ruby(<<~RUBY, options: ["-I", folder])
        class Fiber
          alias core_alive? alive?
          undef_method :alive?
        end
        $LOADED_FEATURES.delete("fiber.so")
        require "aside"
        filter = Struct.new(:id) { def apply(*) = "short" }.new("mine")
        report = Aside::Compressor.new(filters: [filter]).compress("a line\\n" * 1_000, tool_id: "bash").report
        p report.filters, report.failed
      RUBY
      assert_equal "[\"mine\"]\n[]\n", output
    end
  end

  def test_the_exit_code_of_a_stream_comes_last
    [0, 2].each do |code|
      stream = Aside::Compressor.new.stream(tool_id: "bash", input: { command: "pytest" }, memory: 16_000)
      stream.feed("==== 3 passed in 0.1s ====\n")
      stream.exit_code = code
      stream.finish
      assert_equal code == 2, stream.report.unexplained?
      assert_raises(Aside::OrderError) { stream.exit_code = 1 }
      assert_raises(RangeError) { stream.exit_code = 2**63 }
      stream.close
      assert_raises(Aside::ClosedError) { stream.exit_code = 1 }
    end
  end

  def test_a_text_that_is_longer_than_the_memory
    text = "the same line\n" * 100_000
    result = Aside::Compressor.new(budget: 2_000, memory: 8_192).compress(text, tool_id: "bash")
    assert_operator result.text.bytesize, :<=, 2_000
    assert_empty result.report.parts
    refute_empty Aside::Compressor.new(budget: 2_000).compress(text, tool_id: "bash").report.parts
    assert_raises(ArgumentError) { Aside::Compressor.new(memory: -1) }
  end

  def test_a_frozen_stream
    stream = Aside::Compressor.new.stream(tool_id: "bash", memory: 16_000)
    stream.feed(LOG)
    stream.freeze
    assert_raises(FrozenError) { stream.finish }
    assert_raises(FrozenError) { stream.feed("more") }
  end

  def test_a_stream_without_its_compressor_and_with_filters_that_fail
    stream = nil
    filter = Filter.new { stream.feed("a") }
    compressor = Aside::Compressor.new(filters: [filter])
    stream = compressor.stream(tool_id: "bash", memory: 100_000)
    compressor.close
    assert_equal PLAIN, stream.feed(PLAIN) + stream.finish
    assert_kind_of Aside::BusyError, stream.report.failed.first.error
  end

  def test_threads
    compressor = Aside::Compressor.new(last_run: 1 << 16, filters: [Filter.new("thread") { |text| sleep(0.001) && text[0, 100] + Thread.current.name }])
    names = Array.new(4) do |n|
      Thread.new do
        Thread.current.name = "t#{n}"
        Array.new(20) { compressor.compress(PLAIN, tool_id: "tool-#{n}", input: rand).text[/t\d\z/] }.uniq
      end
    end.map(&:value)
    assert_equal [["t0"], ["t1"], ["t2"], ["t3"]], names
  end

  def test_what_goes_is_collected
    output, status = Support.ruby(<<~'RUBY')
      require "aside"
      Filter = Struct.new(:id, :compressor) { def apply(text, _input) = text[0, 100] }
      log = "all of it is kept by the report %07d\n" * 1000 % Array.new(1000) { |n| n }
      resident = Array.new(30) do
        50.times do
          filter = Filter.new("mine")
          filter.compressor = Aside::Compressor.new(filters: [filter], last_run: 1 << 20)
          filter.compressor.compress(log, tool_id: "bash")
          filter.compressor.stream(tool_id: "bash", memory: 1 << 20).feed(log)
        end
        GC.start
        File.read("/proc/self/statm").split[1].to_i * 4096
      end
      puts resident.last - resident[9]
    RUBY
    assert_predicate status, :success?
    # If not freed, caches and streams of the last twenty rounds would hold 80 MB.
    assert_operator Integer(output), :<, 20_000_000
  end

  def test_collecting_and_moving_at_every_chance
    output, = Support.ruby(<<~'RUBY')
      require "aside"
      log = Array.new(60) { |n| "line #{n} of a log that no filter takes\n" }.join
      filter = Struct.new(:id) do
        def tool_ids = ["bash"]
        def matches?(_tool_id, input) = input["command"] == "a"
        def apply(text, _input)
          GC.compact
          text[0, 100]
        end
      end
      GC.stress = true
      compressor = Aside::Compressor.new(filters: [filter.new("mine")], last_run: 10_000)
      result = compressor.compress(["tiny", log, "small"], tool_id: "bash", input: { command: "a" })
      kept = result.report.parts.first.stretches.first
      GC.stress = false
      puts result.parts[0], result.parts[1].lines.drop(1), result.parts[2], result.report.slice(1, log, kept.range)[0, 6]
    RUBY
    assert_equal "tiny\n#{PLAIN[0, 100]}\nsmall\nline 0\n", output
  end

  def test_ractors
    output, status = Support.ruby(<<~'RUBY')
      require "aside"
      log = "the noise\n" * 400
      ractors = Array.new(3) do
        Ractor.new(log) do |log|
          compressor = Aside::Compressor.new(budget: 2000)
          result = compressor.compress(log, tool_id: "bash", input: { command: "make" })
          result.report.close
          stream = compressor.stream(tool_id: "bash", memory: 8_000)
          text = stream.feed(log) + stream.finish
          stream.report.close
          stream.close
          compressor.close
          begin
            Aside::Compressor.new(filters: [Struct.new(:id) { def apply(*) = nil }.new("a")])
          rescue StandardError => e
            [result.text.lines.drop(1).join == text, text, e.class.name]
          end
        end
      end
      p ractors.map(&:take).uniq
    RUBY
    assert_predicate status, :success?, output
    assert_equal "[[true, \"the noise\\n[… 399 lines as above]\\n\", \"Ractor::IsolationError\"]]\n", output
  end
end
