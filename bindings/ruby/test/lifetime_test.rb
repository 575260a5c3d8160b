# frozen_string_literal: true

# Tests ownership and concurrency: garbage collection, threads, Ractors.

require_relative "helper"
require "yaml"

class LifetimeTest < Minitest::Test
  def test_scanners_and_dialects_are_collected
    output, = Support.ruby(<<~'RUBY')
      require "aside"
      toml = %(name = "mine"\n[[span]]\nchannel = "thinking"\nopen = ["<hm>"]\nclose = ["</hm>"]\n)
      resident = Array.new(30) do
        200.times { Aside::Scanner.new(Aside::Dialect.load(toml), collect: 1 << 20).feed("<hm>#{"a" * 20_000}") {} }
        GC.start
        File.read("/proc/self/statm").split[1].to_i * 4096
      end
      puts resident.last - resident[9]
    RUBY
    # If not freed, the thoughts of the last twenty rounds would hold 80 MB.
    assert_operator Integer(output), :<, 20_000_000
  end

  def test_copies_and_writers_are_collected
    output, = Support.ruby(<<~'RUBY')
      require "aside"
      first = Aside::Scanner.new("think", collect: 1 << 20)
      first.feed("<think>#{"a" * 20_000}") {}
      tools = %([{"name": "f", "description": "#{"a" * 20_000}"}])
      resident = Array.new(30) do
        200.times { first.dup.feed("b") {} }
        200.times { Aside::Rewriter.new("think").feed("data: #{"a" * 20_000}") }
        200.times { Aside::Answer.new("think", tools: tools).feed("a") }
        GC.start
        File.read("/proc/self/statm").split[1].to_i * 4096
      end
      puts resident.last - resident[9], first.feed("c").first.text
    RUBY
    grown, text = output.lines(chomp: true)
    assert_operator Integer(grown), :<, 20_000_000
    assert_equal "c", text
  end

  def test_a_thread_for_each_scanner
    text = "<think>a日</think>b" * 50
    totals = Array.new(8) do
      Thread.new do
        scanner = Aside::Scanner.new("think")
        20.times.map { scanner.each_delta(text.chars).sum { |_, piece| piece.size } }
      end
    end.flat_map(&:value)
    assert_equal [150], totals.uniq
  end

  def test_messages_belong_to_their_thread
    names = Array.new(8) { |n| "none-#{n}" }
    messages = names.map { |name| Thread.new { Array.new(50) { (Aside::Dialect.find(name) rescue $!.message) } } }.map(&:value)
    names.zip(messages) { |name, said| assert(said.all? { |message| message.include?("`#{name}`") }) }
  end

  def test_a_ractor_for_each_scanner
    output, status = Support.ruby(<<~'RUBY')
      require "aside"
      QWEN = Aside::Dialect.find("qwen3")
      MINE = Ractor.make_shareable(Aside::Dialect.load(%(name = "mine"\n[[span]]\nchannel = "thinking"\nopen = ["<hm>"]\nclose = ["</hm>"]\n)))
      ractors = 4.times.map do |n|
        Ractor.new(n) do |n|
          results = 50.times.map do
            scanner = Aside::Scanner.new(QWEN, collect: 1000)
            deltas = []
            scanner.each_delta(["<thi", "nk>a", "\xE6\x97", "\xA5</think>b#{n}"]) { |channel, text| deltas << [channel, text] }
            thought = scanner.take_thought.text
            second = scanner.dup
            scanner.close
            second.close
            rewriter = Aside::Rewriter.new(QWEN)
            rewriter.feed("data: 1\n\n")
            rewriter.close
            answer = Aside::Answer.new(QWEN, thinking: :drop, tools: "[]")
            answer.feed("<think>x</think>z") { |part| deltas << [part.kind, part.text] }
            answer.close
            filter = Aside::InlineThinkFilter.new
            filter.feed("<think>x</think>y") { |*pair| deltas << pair }
            filter.close
            [deltas.group_by(&:first).transform_values { |all| all.map(&:last).join }, thought, Aside.strip("<hm>a</hm>c", MINE)]
          end
          error = begin
            Aside::Dialect.find("none-#{n}")
          rescue Aside::Error => e
            e.message
          end
          GC.start
          [results.uniq, error, Aside::Dialect.names.size, Aside::Scanner.new("think").feed("<think>").to_a]
        end
      end
      ractors.each_with_index do |ractor, n|
        results, error, size, events = ractor.take
        p results unless results.size == 1 && results[0][1] == "a日" && results[0][2] == "c" && results[0][0] == { thinking: "a日x", content: "b#{n}zy" }
        p error unless error.include?("`none-#{n}`")
        p size unless size == Aside::Dialect.names.size
        p events unless events[0].kind == :open
      end
      puts "done"
    RUBY
    assert_equal "done\n", output
    assert_predicate status, :success?
  end

  def test_a_scanner_goes_to_no_other_ractor
    output, status = Support.ruby(<<~RUBY)
      require "aside"
      scanner = Aside::Scanner.new("think")
      rewriter = Aside::Rewriter.new("think")
      answer = Aside::Answer.new("think")
      [scanner, rewriter, answer].product([0, 1]) do |one, n|
        ractor = Ractor.new { Ractor.receive }
        begin
          n.zero? ? ractor.send(one) : ractor.send(one, move: true)
          puts "it went"
        rescue StandardError => e
          puts e.class
        end
        10.times { GC.start }
      end
      puts scanner.feed("still here").first.text, rewriter.feed("data: 1\\n\\n"), answer.feed("here too").first.text
    RUBY
    assert_equal "#{"TypeError\nRactor::Error\n" * 3}still here\ndata: 1\n\nhere too\n", output
    assert_predicate status, :success?
  end

  def test_a_loaded_dialect_is_not_moved_to_another_ractor
    output, status = Support.ruby(<<~'RUBY')
      require "aside"
      mine = Aside::Dialect.load(%(name = "mine"\n[[span]]\nchannel = "thinking"\nopen = ["<hm>"]\nclose = ["</hm>"]\n))
      ractor = Ractor.new { Ractor.receive }
      begin
        ractor.send(mine, move: true)
        puts "it went"
      rescue StandardError => e
        puts e.class
      end
      puts Aside.strip("<hm>a</hm>c", Ractor.make_shareable(mine))
    RUBY
    assert_equal "TypeError\nc\n", output
    assert_predicate status, :success?
  end

  def test_collecting_and_moving_at_every_chance
    output, = Support.ruby(<<~'RUBY')
      require "aside"
      scanner = Aside::Scanner.new("thought-stream", collect: 1000)
      events = []
      GC.stress = true
      ["<thinking y='z'>b\xE6", "\x97\xA5</thinking>c"].each do |chunk|
        GC.compact
        scanner.feed(chunk) { |event| events << event }
      end
      thought = scanner.take_thought
      GC.stress = false
      puts events.map(&:text).join, thought.text, thought.attributes
    RUBY
    assert_equal "<thinking y='z'>b日</thinking>c\nb日\n{\"y\"=>\"z\"}\n", output
  end

  def test_two_threads_with_one_scanner_do_not_end_the_process
    scanner = Aside::Scanner.new("think")
    errors = Array.new(4) do
      Thread.new do
        Array.new(500) { scanner.feed("<think>a</think>b<thi") {} && nil rescue $!.class }
      end
    end.flat_map(&:value).compact.uniq
    assert_empty errors - [Aside::BusyError]
  end

  # Signals interrupt at the same points as other threads, and more often.
  def test_closing_where_another_thread_feeds
    output, status = Support.ruby(<<~'RUBY')
      require "aside"
      scanner = Aside::Scanner.new("think")
      closed = offsets = fed = 0
      trap(:USR1) do
        second = Aside::Scanner.new("think") # made first, so that it does not reuse the memory of the other object
        offsets += scanner.offset
        scanner.close
        scanner = second
        closed += 1
      rescue Aside::BusyError
        nil
      end
      parent = Process.pid
      child = fork { sleep 0.0003 while Process.kill(:USR1, parent) }
      while closed < 1000
        [[:feed_text, "a"], [:feed, "b"], [:feed_deltas, "c"], [:feed, "d".b]].each do |way, chunk|
          fed += 1 if scanner.public_send(way, chunk) { |*| nil }
        rescue Aside::ClosedError
          nil
        end
      end
      Process.kill(:KILL, child)
      Process.wait(child)
      trap(:USR1, "IGNORE")
      puts fed - offsets - scanner.offset
    RUBY
    assert_predicate status, :success?, output
    assert_equal "0\n", output
  end

  # Runs a block once where a function returns, as a signal's handler or another thread may.
  def at_return_of(function, &work)
    trace = TracePoint.new(:c_return) do |point|
      next unless point.method_id == function

      trace.disable
      work.call
    end
    trace.tap(&:enable)
  end

  def test_offsets_where_something_comes_in_between
    stop = Class.new(StandardError)
    scanner = Aside::Scanner.new("think")
    [-> { scanner.feed("bc".b) {} }, -> { scanner.feed("bc") {} }, -> { scanner.feed_text("bc") }, -> { raise stop }].each do |comes_in|
      %w[a a <thi a].each do |chunk|
        trace = at_return_of(:aside_scanner_feed_text, &comes_in)
        begin
          scanner.feed_text(chunk)
        rescue stop
          nil
        end
        refute_predicate trace, :enabled?
        2.times do
          at = scanner.offset
          assert_equal at, scanner.feed("d").first.offset, chunk
        end
        at = scanner.offset
        trace = at_return_of(:aside_scanner_feed_text, &comes_in)
        begin
          assert_equal at, scanner.feed("e").first.offset, chunk
        rescue stop
          nil
        end
        refute_predicate trace, :enabled?
        2.times do |time|
          at = scanner.offset if time.zero? # this notes it in the scanner too
          assert_equal at, scanner.feed("f").first.offset, chunk
          at += 1
        end
      end
    end
  end

  def test_copying_what_another_closes
    scanner = Aside::Scanner.new("think", collect: 100).feed("<think>a") {}
    others = nil
    at_return_of(:undefine_finalizer) do
      scanner.close
      others = Array.new(3) { Aside::Scanner.new("think", collect: 100).feed("<think>another's") {} }
    end
    assert_raises(Aside::ClosedError) { scanner.dup }
    assert_equal 3, others.size
  end

  MINE = %(name = "mine"\n[[span]]\nchannel = "thinking"\nopen = ["<hm>"]\nclose = ["</hm>"]\n)

  # Closes an object during its use: where the first function or block ends, then the second, and so on to the last. No interrupt
  # may come between reading a dialect's handle and entering the library.
  def closed_everywhere
    (0..).each do |count|
      dialect = Aside::Dialect.load(MINE)
      ends = 0
      trace = TracePoint.new(:c_return, :return, :b_return) do |point|
        next if point.path == __FILE__ || %i[handle []].include?(point.method_id) || (ends += 1) <= count

        trace.disable
        dialect.close
        Array.new(3) { Aside::Dialect.load(MINE.sub("hm", "other")) }
      end
      begin
        trace.enable { yield dialect }
      rescue Aside::ClosedError
        nil
      end
      return count if ends <= count
    ensure
      trace.disable
    end
  end

  def test_closing_a_dialect_where_another_thread_uses_it
    text = "<hm>a</hm>b"
    assert_operator closed_everywhere { |dialect| assert_equal "b", Aside.strip(text, dialect) }, :>, 5
    assert_operator closed_everywhere { |dialect| assert_equal text, Aside.join("a", "b", dialect) }, :>, 5
    assert_operator closed_everywhere { |dialect| assert_equal "<\u200Bhm>", Aside.escape("<hm>", dialect) }, :>, 5
    assert_operator closed_everywhere { |dialect| assert_equal "<hm>", Aside::Scanner.new(dialect).feed(text).first.text }, :>, 5
    assert_operator closed_everywhere { |dialect| assert_equal "b", Aside::Answer.new(dialect, thinking: :drop).feed(text).last.text }, :>, 5
    assert_operator closed_everywhere { |dialect| assert_equal "data: 1\n\n", Aside::Rewriter.new(dialect).feed("data: 1\n\n") }, :>, 5
    assert_operator closed_everywhere { |dialect| assert_nil dialect.close }, :>, 2
  end

  def test_threads_that_close_a_dialect_while_others_use_it
    5.times do
      dialect = Aside::Dialect.load(MINE)
      users = Array.new(3) do
        Thread.new do
          loop { assert_equal "b", Aside.strip("<hm>a</hm>b", dialect) }
        rescue Aside::ClosedError
          nil
        end
      end
      sleep 0.001
      Array.new(2) { Thread.new { dialect.close } }.each(&:join)
      others = Array.new(3) { Aside::Dialect.load(MINE.sub("hm", "other")) }
      users.each(&:join)
      others.each(&:close)
    end
  end

  # After a fork, the thread that was inside does not exist in the child, so it never releases the object.
  def test_after_a_fork_nobody_is_inside
    scanner = Aside::Scanner.new("think")
    compressor = Aside::Compressor.new
    { -> { scanner.feed("<think>a</think>b" * 20_000) {} } => -> { scanner.reset },
      -> { compressor.compress("a line\n" * 20_000, tool_id: "bash") } => -> { compressor.close } }.each do |work, use|
      works = true
      thread = Thread.new { work.call while works }
      statuses = Array.new(5) do
        sleep 0.003
        child = fork do
          use.call
          exit!(0)
        rescue Aside::BusyError
          exit!(1)
        end
        Process.wait2(child).last.exitstatus
      end
      works = false
      thread.join
      assert_equal [0], statuses.uniq
    end
  end

  def test_what_is_not_dumped
    dialects = [Aside::Dialect.find("think"), Aside::Dialect.load(%(name = "mine"\n[[span]]\nchannel = "thinking"\nopen = ["<hm>"]\nclose = ["</hm>"]\n))]
    [*dialects, Aside::Scanner.new("think"), Aside::Answer.new("think"), Aside::Rewriter.new("think")].each do |one|
      assert_raises(TypeError) { Marshal.dump(one) }
      assert_raises(TypeError) { YAML.dump(one) }
    end
  end

  # Text returned by strip is freed even if another thread raises at that moment, as Timeout does.
  def test_texts_are_freed_where_something_is_raised
    stop = Class.new(StandardError)
    text = "a" * 1_000_000
    lose = lambda do
      at_return_of(:aside_strip) { Thread.current.raise(stop) }
      assert_raises(stop) { Aside.strip(text, "think") }
    end
    resident = Array.new(3) do
      50.times { lose.call }
      GC.start
      File.read("/proc/self/statm").split[1].to_i * 4096
    end
    assert_operator resident[2] - resident[1], :<, 25_000_000
  end

  # Raises during a call, as a signal, Thread#raise or Timeout do: where the first function or block ends, then the second, and
  # so on to the last. Each time with a new object. A sum of Integers is a traced call only where tracing is on.
  def raised_everywhere(make)
    stop = Class.new(StandardError)
    GC.start # so that no finalizer of an earlier test runs in between and takes the exception
    GC.disable
    (0..).each do |count|
      made = make.call
      ends = 0
      trace = TracePoint.new(:c_return, :return, :b_return) do |point|
        next if point.path == __FILE__ || %i[+ -].include?(point.method_id) || (ends += 1) <= count

        trace.disable
        raise stop
      end
      trace.enable { yield made }
      return count
    rescue stop
      made.close # where no thread is inside
    end
  ensure
    GC.enable
  end

  def test_what_raises_in_a_call_leaves_nobody_inside
    scanner = -> { Aside::Scanner.new("think", collect: 100).feed("a") {} }
    assert_operator raised_everywhere(scanner) { |made| made.feed_text("bc") }, :>, 3
    ["bc", "<think>b</think>"].each do |chunk|
      assert_operator raised_everywhere(scanner) { |made| made.feed(chunk) {} }, :>, 5
    end
    assert_operator raised_everywhere(scanner, &:take_thought), :>, 5
    answer = -> { Aside::Answer.new("think") }
    assert_operator raised_everywhere(answer) { |made| made.feed("a<think>b") {} }, :>, 5
    rewriter = -> { Aside::Rewriter.new("think") }
    assert_operator raised_everywhere(rewriter) { |made| made.feed("data: 1\n\n") }, :>, 5
    compressor = -> { Aside::Compressor.new }
    assert_operator raised_everywhere(compressor) { |made| made.compress("a\n", tool_id: "bash") }, :>, 5
    stream = -> { Aside::Compressor.new.stream(tool_id: "bash", memory: 4096) }
    assert_operator raised_everywhere(stream) { |made| made.feed("a\n") }, :>, 5
  end

  def test_two_threads_with_one_answer
    answer = Aside::Answer.new("think")
    texts = Array.new(2) do |n|
      Thread.new do
        Array.new(5_000) do
          answer.feed(n.to_s).map(&:text).join
        rescue Aside::BusyError
          ""
        end
      end
    end.flat_map(&:value)
    assert_equal answer.counts(:content).bytes, texts.sum(&:size)
  end

  def test_two_threads_that_feed_one_scanner
    scanner = Aside::Scanner.new("think")
    fed = Array.new(2) do |n|
      Thread.new do
        Array.new(20_000) do
          n.zero? ? scanner.feed_text("a") : scanner.feed("b") {}
        rescue Aside::BusyError
          nil
        end.compact.size
      end
    end.sum(&:value)
    assert_equal [fed, fed], [scanner.offset, scanner.feed("c").first.offset]
  end
end
